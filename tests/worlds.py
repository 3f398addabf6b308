"""The values that the arguments of a case take in turn when it is run."""

from __future__ import annotations

import ast
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")


def tensors() -> list[object]:
    torch.manual_seed(0)
    live = torch.rand(2, 2, requires_grad=True)
    floats = [live, live * 2, torch.rand(2), torch.rand(2, requires_grad=True), torch.nn.Parameter(torch.rand(2, 2))]
    return [*floats, torch.arange(4).view(2, 2), torch.rand(1, dtype=torch.float64), torch.tensor([True, False])]


def anything() -> list[object]:
    return [*tensors(), np.ones(2), [torch.ones(2)], {"a": torch.ones(2)}, 3, 0.5, "text", None]


def distributions() -> list[object]:
    normal = torch.distributions.Normal
    return [normal(torch.zeros(2), 1.0), normal(torch.zeros(2, requires_grad=True), 1.0)]


WORLDS: dict[str, Callable[[], list[object]]] = {
    "Tensor": tensors,
    "FloatTensor": lambda: [each for each in tensors() if each.dtype == torch.float32],  # type: ignore[attr-defined]
    "LongTensor": lambda: [torch.arange(2), torch.arange(4).view(2, 2)],
    "BoolTensor": lambda: [torch.tensor([True, False])],
    "ndarray": lambda: [np.ones(2, dtype=np.float32), np.arange(2)],
    "NDArray": lambda: [np.ones(2, dtype=np.float32)],
    "Parameter": lambda: [torch.nn.Parameter(torch.ones(2))],
    "Module": lambda: [torch.nn.Linear(2, 2), torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())],
    "Distribution": distributions,
    "Normal": distributions,
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
    """Return the values that an argument takes in turn."""
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
    own: Any = names[_word(node)]  # a named tuple of the case's own
    fields = typing.get_type_hints(own, names)
    return [own(**{word: WORLDS[kind.__name__]()[0] for word, kind in fields.items()})]


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


def calls(
    function: ast.FunctionDef, names: dict[str, object], folder: Path
) -> Iterator[tuple[list[object], dict[str, object]]]:
    """Yield the arguments of each run of a case: every value of every argument stands in one of them."""
    given = [worlds(each, names, folder) for each in function.args.args]
    for at in range(max(map(len, given), default=1)):
        fresh = [worlds(each, names, folder) for each in function.args.args]
        keywords: dict[str, object] = {"a": torch.ones(2)} if function.args.kwarg else {}
        rest = [torch.ones(2)] if function.args.vararg else []
        yield [each[(at + shift) % len(each)] for shift, each in enumerate(fresh)] + rest, keywords
