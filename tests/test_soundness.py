"""Torch itself as the judge: whatever a run observes must lie within what was inferred.

The cases of ``tests/fixtures/inference`` are run on the CPU (and on CUDA where there is some), each for several worlds of
arguments; ``reveal`` then records what a value really is. Beside them, random straight-line programs are made of torch's
own methods and functions. Aliases are outside of what the inference follows: the programs write in place to fresh copies.
"""

from __future__ import annotations

import ast
import contextlib
import random
import re
import sys
import typing
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from torchlint.inference.analysis import Analysis
from torchlint.inference.facts import Dtype, Grad, Kind, Mode, Place, Value, of_kind, tensor
from torchlint.inference.operations import operations
from torchlint.model import Settings
from torchlint.source import decode
from torchlint.syntax.outline import outline

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

CASES = sorted((Path(__file__).parent / "fixtures" / "inference").glob("row*.py"))
RUNNABLE = [path for path in CASES if "Not run" not in path.read_text().split('"""')[1]]

Report = Callable[[str], None]


# ---------------------------------------------------------------------- what is observed, held against what is inferred
def kind_of(thing: object) -> Kind:
    """Give the kinds under which the inference may speak of a thing."""
    for types, kind in _KINDS:
        if isinstance(thing, types):
            return kind
    return Kind.SEQUENCE if hasattr(thing, "__next__") else Kind.OTHER


_KINDS: tuple[tuple[Any, Kind], ...] = (
    (torch.Tensor, Kind.TENSOR),
    (np.ndarray, Kind.ARRAY),
    (torch.Size, Kind.SIZE),
    ((bool, float, complex), Kind.SCALAR),
    (np.generic, Kind.SCALAR | Kind.INTEGER),
    (int, Kind.INTEGER),
    ((str, bytes), Kind.STRING),
    (type(None), Kind.NONE),
    (torch.nn.Module, Kind.MODULE),
    (torch.device, Kind.DEVICE),
    (torch.dtype, Kind.DTYPE),
    ((list, dict, set, frozenset, range), Kind.SEQUENCE),
    (tuple, Kind.SEQUENCE | Kind.OTHER),  # a named tuple is spoken of as an object of its class
)


def faults(thing: object, value: Value, depth: int = 2) -> list[str]:
    """Give what is observed of a thing but was excluded."""
    if not value.kind & kind_of(thing):
        return [f"a {type(thing).__name__} is none of {value.kind!r}"]
    if isinstance(thing, torch.Tensor):
        return list(_tensor_faults(thing, value))
    found = []
    if isinstance(thing, bool | int | float | str) and value.const is not None and value.const != thing:
        found.append(f"{thing!r} is not {value.const!r}")
    if isinstance(thing, torch.nn.Module):
        found += [f"a parameter: {each}" for p in thing.parameters() for each in _place_faults(p.device, value)]
    if isinstance(thing, torch.device):
        found += _place_faults(thing, value)
    if depth and isinstance(thing, list | tuple) and not isinstance(thing, torch.Size):
        found += _member_faults(list(thing), value, depth)
    if depth and isinstance(thing, dict):
        known = dict(value.keys)
        for key, each in thing.items():
            expected = known.get(key) if isinstance(key, str) else None
            expected = expected or value.member
            found += [f"at {key!r}: {fault}" for fault in faults(each, expected, depth - 1)] if expected else []
    return found


def _tensor_faults(thing: Any, value: Value) -> Iterator[str]:
    if thing.requires_grad and not value.may_require_grad:
        yield f"it requires grad, not {value.grad!r} of {value.dtype!r}"
    if not thing.requires_grad and value.grad == Grad.ATTACHED and value.dtype == Dtype.FLOATING:
        yield "it does not require grad, not certainly attached"
    if not value.dtype & _elements(thing):
        yield f"it is of {thing.dtype}, not {value.dtype!r}"
    if value.exact is not None and str(thing.dtype) != f"torch.{value.exact}":
        yield f"it is of {thing.dtype}, not {value.exact}"
    if value.rank is not None and thing.dim() != value.rank:
        yield f"it has {thing.dim()} dimensions, not {value.rank}"
    yield from _place_faults(thing.device, value)


def _elements(thing: Any) -> Dtype:
    if thing.dtype == torch.bool:
        return Dtype.BOOL
    return Dtype.FLOATING if thing.is_floating_point() or thing.is_complex() else Dtype.INTEGRAL


def _place_faults(device: Any, value: Value) -> list[str]:
    allowed = Place.UNKNOWN | (Place.HOST if device.type == "cpu" else Place.ACCELERATOR)
    return [] if value.place & allowed else [f"it is on {device}, not {value.place!r}"]


def _member_faults(things: list[object], value: Value, depth: int) -> list[str]:
    if value.items is not None:
        if len(value.items) != len(things):
            return [f"it has {len(things)} members, not {len(value.items)}"]
        pairs = list(zip(things, value.items, strict=True))
    else:
        pairs = [(thing, value.member) for thing in things] if value.member is not None else []
    return [f"[{at}]: {fault}" for at, (thing, each) in enumerate(pairs) for fault in faults(thing, each, depth - 1)]


def test_what_is_observed_can_be_refused() -> None:
    """The judge itself must be able to say no."""
    live, plain = torch.ones(2, requires_grad=True), torch.ones(2)
    detached = tensor(Grad.DETACHED, Place.HOST, Dtype.FLOATING)
    attached = tensor(Grad.ATTACHED, Place.HOST, Dtype.FLOATING)
    assert faults(plain, detached) == faults(live, attached) == []
    assert faults(live, detached)
    assert faults(plain, attached)
    assert faults(plain, detached.having(place=Place.ACCELERATOR))
    assert faults(plain, detached.having(dtype=Dtype.INTEGRAL))
    assert faults(plain, detached.having(exact="float64"))
    assert faults(plain, detached.having(rank=0))
    assert faults(plain, of_kind(Kind.ARRAY))
    assert faults([live], of_kind(Kind.SEQUENCE, items=(detached,)))
    assert faults([plain, live], of_kind(Kind.SEQUENCE, member=detached))
    assert faults({"a": live}, of_kind(Kind.SEQUENCE, member=detached))
    assert faults(torch.device("cuda"), of_kind(Kind.DEVICE, place=Place.HOST))
    assert faults(3, of_kind(Kind.INTEGER, const=4))


# ---------------------------------------------------------------------- worlds of arguments
def tensors() -> list[object]:
    torch.manual_seed(0)
    live = torch.rand(2, 2, requires_grad=True)
    floats = [live, live * 2, torch.rand(2), torch.rand(2, requires_grad=True), torch.nn.Parameter(torch.rand(2, 2))]
    return [*floats, torch.arange(4).view(2, 2), torch.rand(1, dtype=torch.float64), torch.tensor([True, False])]


def anything() -> list[object]:
    return [*tensors(), np.ones(2), [torch.ones(2)], {"a": torch.ones(2)}, 3, 0.5, "text", None]


WORLDS: dict[str, Callable[[], list[object]]] = {
    "Tensor": tensors,
    "FloatTensor": lambda: [each for each in tensors() if each.dtype == torch.float32],  # type: ignore[attr-defined]
    "LongTensor": lambda: [torch.arange(2), torch.arange(4).view(2, 2)],
    "BoolTensor": lambda: [torch.tensor([True, False])],
    "ndarray": lambda: [np.ones(2, dtype=np.float32), np.arange(2)],
    "NDArray": lambda: [np.ones(2, dtype=np.float32)],
    "Parameter": lambda: [torch.nn.Parameter(torch.ones(2))],
    "Module": lambda: [torch.nn.Linear(2, 2), torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())],
    "device": lambda: [torch.device(each) for each in devices()],
    "dtype": lambda: [torch.float32],
    "int": lambda: [0, 3],
    "float": lambda: [0.5, 3],
    "str": lambda: ["a", "b", "c"],
    "bool": lambda: [True, False],
    "None": lambda: [None],
    "Any": anything,
    "object": anything,
    "Callable": lambda: [len],
}
NAMED: dict[str, Callable[[], list[object]]] = {
    "some_tensor": tensors,
    "some_array": lambda: [np.ones(2), np.arange(2)],
    "device": lambda: list(devices()),
    "args": lambda: [SimpleNamespace(device=each) for each in devices()],
    "train_loader": lambda: [torch.utils.data.DataLoader(_pairs(), batch_size=2)],
    "test_dataset": lambda: [_pairs()],
}
HOLDERS = frozenset("list List Sequence Iterable".split())


def devices() -> list[str]:
    return ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]


def _pairs() -> object:
    return torch.utils.data.TensorDataset(torch.zeros(4, 2), torch.zeros(4))


def worlds(argument: ast.arg, names: dict[str, object], folder: Path) -> list[object]:
    """Give the values that an argument takes in turn."""
    if argument.arg == "path":
        torch.save({"weight": torch.ones(2)}, folder / "state.pt")
        return [str(folder / "state.pt")]
    if argument.annotation is not None:
        return _annotated(argument.annotation, names)
    return NAMED.get(argument.arg, anything)()


def _annotated(node: ast.expr, names: dict[str, object]) -> list[object]:
    match node:
        case ast.Constant(value=str(text)):
            return _annotated(ast.parse(text, mode="eval").body, names)
        case ast.Constant(value=None):
            return [None]
        case ast.BinOp(left=one, right=other):
            return [*_annotated(one, names), *_annotated(other, names)]
        case ast.Subscript(value=base, slice=inner):
            return _generic(_word(base), inner.elts if isinstance(inner, ast.Tuple) else [inner], names)
    if (known := WORLDS.get(_word(node))) is not None:
        return known()
    fields = typing.get_type_hints(names[_word(node)], names)  # a named tuple of the case's own
    return [names[_word(node)](**{word: WORLDS[kind.__name__]()[0] for word, kind in fields.items()})]  # type: ignore[operator]


def _generic(word: str, parts: list[ast.expr], names: dict[str, object]) -> list[object]:
    if word == "NDArray":
        return WORLDS[word]()
    inner = [_annotated(part, names) for part in parts if not _is_ellipsis(part)]
    if word == "Optional":
        return [*inner[0], None]
    if word == "Union":
        return [each for part in inner for each in part]
    if word in ("dict", "Dict"):
        return [{"a": each, "x": each} for each in inner[1]]
    if word in ("tuple", "Tuple") and len(inner) == len(parts):
        return [tuple(part[at % len(part)] for part in inner) for at in range(max(map(len, inner)))]
    assert word in {*HOLDERS, "tuple", "Tuple"}, word
    make = tuple if word in ("tuple", "Tuple") else list
    return [make((each, each)) for each in inner[0]]


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def _word(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]


def calls(function: ast.FunctionDef, names: dict[str, object], folder: Path) -> Iterator[tuple[list[object], dict[str, object]]]:
    """Give the arguments of each run of a case: every value of every argument stands in one of them."""
    given = [worlds(each, names, folder) for each in function.args.args]
    for at in range(max(map(len, given), default=1)):
        fresh = [worlds(each, names, folder) for each in function.args.args]
        keywords: dict[str, object] = {"a": torch.ones(2)} if function.args.kwarg else {}
        rest = [torch.ones(2)] if function.args.vararg else []
        yield [each[(at + shift) % len(each)] for shift, each in enumerate(fresh)] + rest, keywords


# ---------------------------------------------------------------------- the cases are run
@dataclass
class Ran:
    """What running a file of cases gave."""

    observed: set[int] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


class _Rows(ast.NodeTransformer):
    """Hand ``reveal`` its row."""

    def visit_Call(self, node: ast.Call) -> ast.Call:  # noqa: N802
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "reveal":
            node.args.append(ast.copy_location(ast.Constant(node.lineno), node))
        return node


def revealed(tree: ast.Module) -> dict[int, ast.expr]:
    """Give the expressions that are revealed, by row."""
    found = {}
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="reveal"), args=[inner]):
                assert node.lineno not in found, "one reveal a row"
                found[node.lineno] = inner
    return found


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Leave nothing behind: neither warnings nor a grad mode."""
    with warnings.catch_warnings(), torch.enable_grad(), contextlib.redirect_stdout(None):
        warnings.simplefilter("ignore")
        yield


def lacks_accelerator(error: Exception) -> bool:
    return bool(re.search(r"CUDA|NVIDIA|xpu|XPU|not compiled|not available|not linked", str(error)))


@cache
def ran(path: Path, folder: Path) -> Ran:
    """Run every case of a file in all its worlds."""
    text = path.read_text()
    analysis = Analysis(outline(decode(str(path), text.encode())), Settings())
    expressions = revealed(analysis.outline.tree)
    result = Ran()

    def reveal(thing: object, row: int) -> object:
        result.observed.add(row)
        value = analysis.value(expressions[row])
        if not torch.is_grad_enabled() and analysis.mode(expressions[row]) == Mode.ON:
            value = value.having(grad=value.grad | Grad.DETACHED)  # a body is read as if called with grad mode on
        found = faults(thing, value)
        result.wrong.extend(f"{path.stem}:{row} {ast.unparse(expressions[row])}: {each}" for each in found)
        return thing

    code = compile(_Rows().visit(ast.parse(text)), str(path), "exec")
    names: dict[str, object] = {"reveal": reveal, "__name__": f"cases_{path.stem}"}
    sys.modules[str(names["__name__"])] = SimpleNamespace(__dict__=names)  # type: ignore[assignment]
    with quiet():
        exec(code, names)
    for function in ast.parse(text).body:
        if isinstance(function, ast.FunctionDef) and not function.name.startswith("_"):
            _run(function, names, folder, result)
    return result


def _run(function: ast.FunctionDef, names: dict[str, object], folder: Path, result: Ran) -> None:
    errors = []
    runs = 0
    for positional, keywords in calls(function, names, folder):
        runs += 1
        torch.manual_seed(0)
        try:
            with quiet():
                names[function.name](*positional, **keywords)  # type: ignore[operator]
        except Exception as error:  # a world in which the case is not at home
            errors.append(error)
    if len(errors) == runs and not any(map(lacks_accelerator, errors)):
        result.failed.append(f"{function.name}: {errors[-1]!r}")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("states")


@pytest.mark.parametrize("path", RUNNABLE, ids=lambda path: path.stem)
def test_the_cases_run(path: Path, folder: Path) -> None:
    assert ran(path, folder).failed == []


@pytest.mark.parametrize("path", RUNNABLE, ids=lambda path: path.stem)
def test_what_the_cases_show_lies_within_what_was_inferred(path: Path, folder: Path) -> None:
    assert sorted(set(ran(path, folder).wrong)) == []


def test_most_of_what_is_revealed_is_observed(folder: Path) -> None:
    rows = sum(len(revealed(ast.parse(path.read_text()))) for path in RUNNABLE)
    observed = sum(len(ran(path, folder).observed) for path in RUNNABLE)
    assert observed >= 0.9 * rows


# ---------------------------------------------------------------------- random programs
_LEFT_OUT = re.compile(
    r"^_|cuda|xpu|mtia|hpu|ipu|vulkan|metal|mkldnn|sparse|storage|quant|set_|resize|apply_|map_|share|pin_memory|backward"
    r"|grad|hook|^module_load|as_subclass|rename|align|names|refine|coalesce|^to_|compile|seed|^is_|dlpack|file"
    r"|record_stream|^cpu$|^data_ptr|empty|^new$|^numpy$|multiprocessing|fft|_copy$|dequantize|slice_inverse|hash|geqrf|rnn"
    r"|lstm|gru|^Tensor$|ormqr|unsafe|resolve|fbgemm|jagged|nested|segment|miopen|cudnn|batch_norm_|sym_|prepare|dtype"
)
"""Operations that need other devices or layouts, change more than their argument, or leave memory uninitialised."""

_START = (
    "torch.full((2, 2), 0.5)",
    "torch.full((2, 2), 0.5, requires_grad=True)",
    "torch.nn.Parameter(torch.full((2, 2), 0.5))",
    "torch.ones(2, 2, dtype=torch.int64)",
    "torch.tensor([[0.25, 0.5], [0.75, 1.0]], dtype=torch.float64, requires_grad=True)",
)
_ONE = (
    "{a}[0]", "{a}[:1]", "{a}[..., 0]", "{a}.view(-1)", "{a}.reshape(-1)", "{a}.max(0)[0]", "{a}.max(0)[1]", "{a}.sum(0)",
    "{a}.mean(dim=0)", "{a}.topk(1)[0]", "{a}.topk(1)[1]", "{a}.sort()[1]", "torch.max({a}, 0)[1]", "{a}.data", "{a}.T",
    "{a}.unsqueeze(0)", "{a}.expand(2, 2)", "{a}.softmax(-1)", "{a}.to(torch.float64)", "{a}.to(torch.int64)", "{a} * 2",
    "{a} + 0.5", "-{a}", "{a} > 0", "{a} / 2", "{a} // 1", "2 - {a}", "{a}.clone().requires_grad_(False)", "+{a}",
    "{a}.detach().clone().requires_grad_()", "torch.zeros_like({a})", "torch.tensor({a})", "torch.as_tensor({a})",
    "{a}.new_zeros(2)", "torch.nn.Parameter({a})", "torch.nn.functional.relu({a})", "torch.nn.Linear(2, 2)({a})",
    "torch.nn.functional.dropout({a}, training=False)", "torch.nn.Identity()({a})", "torch.nn.Flatten(0)({a})",
    "torch.nn.ReLU()({a})", "[each for each in {a}][0]", "list({a})[0]", "{a}.split(1)[0]", "torch.chunk({a}, 2)[0]",
    "{a}.type(torch.float32)", "{a}.unbind()[0]", "torch.sum({a})", "{a}.cpu()", "abs({a})", "sum({a})",
    "torch.Tensor({a})", "{a}.clamp(0, 1)", "{a} ** 2", "{a}.norm()", "torch.autograd.Variable({a})", "{a}.var()",
)  # fmt: skip
_TWO = (
    "{a} + {b}", "{a} * {b}", "{a} @ {b}", "{a} - {b}", "{a} / {b}", "{a} > {b}", "{a} == {b}", "torch.cat([{a}, {b}])",
    "torch.stack([{a}, {b}])", "torch.where({a} > 0, {a}, {b})", "torch.where({b} > 0, {a}, 0)", "{a}.to({b})",
    "{a}.type_as({b})", "{a}.masked_fill({b} > 0, 0)", "torch.max({a}, {b})", "{a}[{b}.argmax()]", "{a}.expand_as({b})",
    "torch.nn.functional.mse_loss({a}, {b})", "torch.nn.functional.linear({a}, {b})", "{a} if {b}.requires_grad else {b}",
    "torch.broadcast_tensors({a}, {b})[0]", "torch.einsum('ij,jk->ik', {a}, {b})", "({a}, {b})[1]", "[{a}, {b}][0]",
    "sum([{a}, {b}])", "torch.nn.MSELoss()({a}, {b})", "torch.add({a}, {b}, alpha=2)", "(lambda x: x * {b})({a})",
)  # fmt: skip
_WRITES = (
    "{c}[0] = {b}[0]", "{c} += {b}", "{c} *= {b}", "{c}.copy_({b})", "{c}.zero_()", "{c}[0] += 1", "{c}.add_({b})", "{c}.detach_()",
)  # fmt: skip


@cache
def unary() -> tuple[str, ...]:
    """Give the calls of one tensor that torch accepts, from the table that the inference uses."""
    table = operations()
    calls = [f"{{a}}.{name}()" for name in sorted(table.methods | table.no_tensor.keys()) if "." not in name]
    calls += [f"{name}({{a}})" for name in sorted(table.functions) if name.count(".") == 1 or ".functional." in name]
    return tuple(call for call in calls if _usable(call) and not _in_place(call) and _accepted(call))


@cache
def binary() -> tuple[str, ...]:
    """Give the calls of two tensors that torch accepts."""
    table = operations()
    calls = [f"{{a}}.{name}({{b}})" for name in sorted(table.methods) if "." not in name]
    calls += [f"{name}({{a}}, {{b}})" for name in sorted(table.functions) if name.count(".") == 1]
    return tuple(call for call in calls if _usable(call) and not _in_place(call) and _accepted(call))


@cache
def in_place() -> tuple[str, ...]:
    """Give the calls that write into a tensor."""
    methods = [name for name in sorted(operations().methods) if name.endswith("_") and _usable(f"{{a}}.{name}()")]
    calls = [call.replace("NAME", name) for name in methods for call in ("{a}.NAME()", "{a}.NAME({b})")]
    return tuple(call.replace("{a}", "{c}") for call in calls if _accepted(call))


def _usable(call: str) -> bool:
    name = call.partition("(")[0].rpartition(".")[2]
    return not _LEFT_OUT.search(name)


def _in_place(call: str) -> bool:
    return call.partition("(")[0].endswith("_")


def _accepted(call: str) -> bool:
    with quiet():
        try:
            eval(call.format(a="x", b="y"), {"torch": torch, "x": torch.full((2, 2), 0.5), "y": torch.full((2, 2), 0.5)})
        except Exception:  # it wants other arguments
            return False
    return True


@dataclass
class Program:
    """A program that is written and run line by line; a line that torch refuses is left out."""

    names: dict[str, Any] = field(default_factory=lambda: {"torch": torch})
    lines: list[str] = field(default_factory=lambda: ["import torch"])
    observed: dict[int, object] = field(default_factory=dict)

    def add(self, line: str, blank: str) -> bool:
        try:
            exec(line, self.names)
        except Exception:  # torch refuses it
            return False
        self.lines.append(blank + line)
        return True

    def bind(self, expression: str, blank: str) -> None:
        name = f"v{len(self.lines)}"
        if self.add(f"{name} = {expression}", blank):
            self.keep(name, blank)

    def keep(self, name: str, blank: str) -> None:
        """Look at a name here: what it is now, not what is made of it later."""
        thing = self.names[name]
        if isinstance(thing, torch.Tensor) and thing.requires_grad and not thing.is_floating_point() | thing.is_complex():
            del self.names[name]  # integers marked by a comparison in place: torch itself calls it an error elsewhere
            return
        self.lines.append(f"{blank}reveal({name})")
        self.observed[len(self.lines)] = thing.detach().requires_grad_(thing.requires_grad) if _plain(thing) else thing
        if not _plain(thing):
            del self.names[name]

    @property
    def tensors(self) -> list[str]:
        return [name for name, thing in self.names.items() if isinstance(thing, torch.Tensor)]


def _plain(thing: object) -> bool:
    return isinstance(thing, torch.Tensor) and thing.numel() < 1000 and (thing.is_floating_point() or not thing.requires_grad)


def written(chance: random.Random) -> Program:
    """Write a program of some lines, some of them under ``no_grad``."""
    program = Program()
    for start in chance.sample(_START, 2):
        program.bind(start, "")
    for _ in range(chance.randint(2, 4)):
        off = chance.random() < 0.4
        if off:
            program.lines.append("with torch.no_grad():")
            program.lines.append("    pass")
        with torch.no_grad() if off else contextlib.nullcontext():
            for _ in range(chance.randint(1, 4)):
                _step(program, chance, "    " if off else "")
    for name in program.tensors:
        program.keep(name, "")
    return program


def _step(program: Program, chance: random.Random, blank: str) -> None:
    a, b = chance.choice(program.tensors), chance.choice(program.tensors)
    form = chance.choice([_ONE, _TWO, unary(), binary(), _WRITES, in_place()])
    if form not in (_WRITES, in_place()):
        program.bind(chance.choice(form).format(a=a, b=b), blank)
        return
    copy = f"v{len(program.lines)}"
    if program.add(f"{copy} = {a}.clone()", blank):
        program.add(chance.choice(form).format(b=b, c=copy), blank)
        program.keep(copy, blank)


@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.integers(min_value=0, max_value=2**32))
def test_random_programs_lie_within_what_was_inferred(seed: int) -> None:
    with quiet():
        torch.manual_seed(0)
        program = written(random.Random(seed))
    text = "\n".join(program.lines) + "\n"
    analysis = Analysis(outline(decode("program.py", text.encode())), Settings())
    expressions = revealed(analysis.outline.tree)
    wrong = [
        f"line {row}: {ast.unparse(expressions[row])}: {each}"
        for row, thing in program.observed.items()
        for each in faults(thing, analysis.value(expressions[row]))
    ]
    assert not wrong, "\n".join(wrong) + "\n" + text


def test_the_random_programs_use_torchs_own_operations() -> None:
    assert len(unary()) > 200
    assert len(binary()) > 100
    assert len(in_place()) > 50
