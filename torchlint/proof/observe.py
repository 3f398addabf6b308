"""Running a piece of code in a world, and writing down everything that can be observed of it."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import io
import operator
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
import torch
from torch import nn

from torchlint.proof.worlds import Inputs, World, entering, make_inputs, on

ENTRY = "case"
"""The function that is called, where the code defines one: its parameters name what it is given."""
RESULT = "the result"
"""The name under which the returned value is observed, beside those of the local variables."""

_LOCALS = "__locals__"
_DEPTH = 4


@dataclass(frozen=True)
class Snippet:
    """A module's text, ready to run: as it stands, or by way of the function :data:`ENTRY`."""

    text: str

    @cached_property
    def given(self) -> tuple[str, ...]:
        """The names that the code asks for."""
        entry = self._entry(ast.parse(self.text))
        return tuple(each.arg for each in entry.args.args) if entry else ()

    @cached_property
    def code(self) -> CodeType:
        """The compiled text, in which the function also hands out its local variables."""
        tree = ast.parse(self.text)
        entry = self._entry(tree)
        if entry:
            _Returns(entry).visit(entry)
            entry.body.append(_handing_out(ast.Constant(None)))
        return compile(ast.fix_missing_locations(tree), "<case>", "exec")

    @cached_property
    def calls(self) -> bool:
        """Whether the code is a function to be called."""
        return self._entry(ast.parse(self.text)) is not None

    @staticmethod
    def _entry(tree: ast.Module) -> ast.FunctionDef | None:
        return next((each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == ENTRY), None)


class _Returns(ast.NodeTransformer):
    """Makes each ``return x`` of one function give its local variables too."""

    def __init__(self, entry: ast.FunctionDef) -> None:
        self.entry = entry

    def visit_Return(self, node: ast.Return) -> ast.AST:
        return _handing_out(node.value or ast.Constant(None))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self.generic_visit(node) if node is self.entry else node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node


def _handing_out(value: ast.expr) -> ast.Return:
    call = ast.Call(ast.Name("locals", ast.Load()), [], [])
    return ast.Return(ast.Tuple([value, call], ast.Load()))


@dataclass(frozen=True)
class Observation:
    """What a run left behind: plain values by the name of what was observed, such as ``"a.dtype"``."""

    facts: Mapping[str, object]
    error: str | None = None
    """The class and the text of the exception that ended the code, None where it ran."""
    warnings: tuple[str, ...] = ()


def observe(snippet: Snippet, world: World) -> Observation:
    """Run the code once, on fresh inputs, and write down what it did."""
    with (
        on(world.device),
        _settled(),
        contextlib.redirect_stdout(io.StringIO()) as printed,
        warnings.catch_warnings(record=True) as said,
    ):
        warnings.simplefilter("always")
        _seed()
        inputs = make_inputs(world, snippet.given)
        live = _live_graph(inputs)
        del said[:]
        try:
            results = _run(snippet, world, inputs)
        except Exception as error:  # noqa: BLE001 - whatever the code raises is an observation
            return Observation({}, _spelled(error), _texts(said))
        heard = _texts(said)
        writer = _Writer(inputs)
        facts = writer.write(results)
        facts |= _surroundings(printed.getvalue())
        facts |= _gradients(live, writer, inputs)
    return Observation(facts, None, heard)


def _run(snippet: Snippet, world: World, inputs: Inputs) -> dict[str, Any]:
    space: dict[str, Any] = {"__name__": "case"}
    if not snippet.calls:
        with entering(world):
            exec(snippet.code, space)  # noqa: S102 - the proof runs its own cases
        return _values(space)
    exec(snippet.code, space)  # noqa: S102
    with entering(world):
        result, local = space[ENTRY](**inputs.names)
    return {RESULT: result, **_values(local)}


def _values(space: Mapping[str, Any]) -> dict[str, Any]:
    passed_over = (ModuleType, FunctionType, type)
    return {
        name: value
        for name, value in space.items()
        if not name.startswith("__") and not isinstance(value, passed_over) and name != _LOCALS
    }


@contextlib.contextmanager
def _settled() -> Iterator[None]:
    """Make torch repeatable: warnings every time, memory that nobody wrote filled, and global settings put back."""
    dtype, always = torch.get_default_dtype(), torch.is_warn_always_enabled()
    strict = torch.are_deterministic_algorithms_enabled()
    torch.set_warn_always(True)
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        with torch.enable_grad():
            yield
    finally:
        torch.set_default_dtype(dtype)
        torch.set_default_device(None)
        torch.use_deterministic_algorithms(strict)
        torch.set_warn_always(always)


def _seed() -> None:
    """Seed what is there: ``torch.manual_seed`` would keep a stack trace for each kind of device that is not."""
    torch.default_generator.manual_seed(0)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(0)


def _spelled(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _texts(said: list[warnings.WarningMessage]) -> tuple[str, ...]:
    return tuple(f"{each.category.__name__}: {each.message}" for each in said)


# ---------------------------------------------------------------------- what lies around the results
def _surroundings(printed: str) -> dict[str, object]:
    state = [torch.get_rng_state(), *(torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else ())]
    return {
        "random state": hashlib.sha256(b"".join(each.numpy().tobytes() for each in state)).hexdigest()[:12],
        "default dtype": str(torch.get_default_dtype()),
        "default device": str(torch.get_default_device()),
        "grad mode": (torch.is_grad_enabled(), torch.is_inference_mode_enabled()),
        "printed": printed,
    }


def _live_graph(inputs: Inputs) -> Any:
    """Make something of the inputs that needs their values when its gradient is taken."""
    attached = [each for each in inputs.tensors.values() if each.requires_grad]
    return _total([each * each for each in attached]) if attached else None


def _total(tensors: list[Any]) -> Any:
    return sum((each.real if each.is_complex() else each).sum().double().cpu() for each in tensors)


def _gradients(live: Any, writer: _Writer, inputs: Inputs) -> dict[str, object]:
    """Take the gradient of what the code made, then of what was there before it, and see where both arrive."""
    attached = [each for each in writer.tensors.values() if each.requires_grad and not each.is_inference()]
    facts: dict[str, object] = {}
    if attached:
        facts["backward through the results"] = _backward(lambda: _total(attached))
        facts |= _arrived("gradient by the results", writer, inputs)
    if live is not None:
        facts["backward through the live graph"] = _backward(lambda: live)
        facts |= _arrived("gradient by all", writer, inputs)
    return facts


def _backward(goal: Callable[[], Any]) -> str:
    try:
        goal().backward(retain_graph=True)
    except Exception as error:  # noqa: BLE001 - whatever torch refuses is an observation
        return _spelled(error)
    return "ran"


def _arrived(what: str, writer: _Writer, inputs: Inputs) -> dict[str, object]:
    known = writer.tensors | inputs.tensors
    grads = {name: each.grad for name, each in known.items() if each.requires_grad and _is_leaf(each)}
    return {f"{name}: {what}": _elements(grad) for name, grad in grads.items() if grad is not None}


def _is_leaf(tensor: Any) -> bool:
    try:
        return bool(tensor.is_leaf)
    except RuntimeError:  # a view whose base was written may refuse to say
        return False


# ---------------------------------------------------------------------- values as plain facts
@dataclass
class _Writer:
    """Writes down results, and remembers the tensors among them."""

    inputs: Inputs
    tensors: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, object] = field(default_factory=dict)

    def write(self, results: Mapping[str, Any]) -> dict[str, object]:
        """Write down what the code made and what became of its inputs."""
        for name, value in results.items():
            self._value(name, value, _DEPTH)
            if name == RESULT:
                self.facts[f"{name} is an input"] = self._same(value)
        for name, tensor in self.inputs.tensors.items():
            self._tensor(f"input {name}", tensor)
            self._ask(f"input {name}", "writes counted", lambda each: each._version, tensor)  # noqa: SLF001
        for name, value in self.inputs.names.items():
            if isinstance(value, np.ndarray):
                self._array(f"input {name}", value)
        return self.facts

    def _same(self, value: Any) -> tuple[object, ...]:
        parts = value if isinstance(value, tuple | list) else [value]
        known = [*self.inputs.tensors.items(), *self.inputs.names.items()]
        return tuple(next((name for name, each in known if each is part), "") for part in parts)

    def _value(self, name: str, value: Any, depth: int) -> None:
        if isinstance(value, torch.Tensor):
            self._tensor(name, value)
            self.tensors[name] = value
        elif isinstance(value, np.ndarray):
            self._array(name, value)
        elif isinstance(value, nn.Module):
            self.facts[f"{name}: class"] = type(value).__name__
            self._members(name, {**dict(value.named_parameters()), **dict(value.named_buffers())}, depth)
        elif isinstance(value, torch.Size) or not isinstance(value, list | tuple | dict):
            self.facts[f"{name}: value"] = _plain(value)
        else:
            members = value if isinstance(value, dict) else dict(enumerate(value))
            self.facts[f"{name}: class"] = (type(value).__name__, len(value))
            self._members(name, members, depth)

    def _members(self, name: str, members: Mapping[Any, Any], depth: int) -> None:
        for key, each in members.items() if depth else ():
            self._value(f"{name}[{key}]", each, depth - 1)

    def _tensor(self, name: str, tensor: Any) -> None:
        questions = _TENSOR_FACTS | {
            "shares memory with": lambda each: self._sharing(each.untyped_storage().data_ptr(), 1)
        }
        for what, ask in questions.items():
            self._ask(name, what, ask, tensor)

    def _ask(self, name: str, what: str, ask: Callable[[Any], object], tensor: Any) -> None:
        try:
            self.facts[f"{name}: {what}"] = ask(tensor)
        except (RuntimeError, TypeError) as error:  # a view whose base was written, a sparse tensor refuse to say
            self.facts[f"{name}: {what}"] = _spelled(error)

    def _array(self, name: str, array: Any) -> None:
        self.facts |= {
            f"{name}: class": type(array).__name__,
            f"{name}: dtype": str(array.dtype),
            f"{name}: shape": array.shape,
            f"{name}: stride": array.strides,
            f"{name}: writeable": array.flags.writeable,
            f"{name}: elements": array.tobytes(),
            f"{name}: shares memory with": self._sharing(array.ctypes.data if array.size else 0, array.itemsize),
        }

    def _sharing(self, at: int, length: int) -> tuple[str, ...]:
        """Give the inputs, and the results written down before, in whose memory an address lies."""
        if not at:
            return ()
        found = []
        for name, each in (self.inputs.tensors | self.tensors).items():
            if each.layout != torch.strided:
                continue
            storage = each.untyped_storage()
            if storage.data_ptr() <= at < storage.data_ptr() + storage.nbytes():
                found.append(name)
        for name, each in self.inputs.names.items():
            if isinstance(each, np.ndarray) and each.size:
                low, reach = each.ctypes.data, sum(map(operator.mul, each.strides, (n - 1 for n in each.shape)))
                found += [name] if low < at + length and at < low + reach + each.itemsize else []
        return tuple(found)


def _elements(tensor: Any) -> object:
    host = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
    return str(tensor.dtype), tuple(tensor.shape), host.reshape(-1).view(torch.uint8).numpy().tobytes()


_TENSOR_FACTS: dict[str, Callable[[Any], object]] = {
    "class": lambda tensor: type(tensor).__name__,
    "dtype": lambda tensor: str(tensor.dtype),
    "shape": lambda tensor: tuple(tensor.shape),
    "stride": lambda tensor: tensor.stride(),
    "offset": lambda tensor: tensor.storage_offset(),
    "device": lambda tensor: str(tensor.device),
    "requires_grad": lambda tensor: tensor.requires_grad,
    "is_leaf": lambda tensor: tensor.is_leaf,
    "grad_fn": lambda tensor: tensor.grad_fn is not None,
    "is_inference": lambda tensor: tensor.is_inference(),
    "elements": _elements,
}


def _plain(value: Any) -> tuple[str, str]:
    plain = value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic | torch.Size)
    plain = plain or isinstance(value, torch.dtype | torch.device | torch.layout)
    return type(value).__name__, repr(value) if plain else ""
