"""What the inference says, held against what a careful reader knows: the cases in ``tests/fixtures/inference``.

Every file there is a row of the design, its ``no_alarm_`` cases first. A case calls ``reveal(expression)``, and the
comment on the row of that word says what is known of the expression, axis by axis, parted by commas, choices by ``|``:

* kind: ``tensor``, ``array``, ``sequence``, ``size``, ``integer``, ``scalar``, ``string``, ``none``, ``module``,
  ``device``, ``dtype``, ``other``: exactly these; or ``tensor?``: a tensor among other things; or ``not tensor``;
* grad: ``detached``, ``attached``, ``detached | attached`` (the code speaks for either), or ``unknown grad`` (nothing
  excludes that it requires grad, nothing speaks for it);
* place: ``host``, ``accelerator``, ``host | accelerator``, or ``unknown place``, likewise;
* where it matters the elements, ``floating``, ``integral``, ``bool`` or an exact dtype (``float32``), and ``0-dim``.

What may be a tensor or a module names its grad and its place, a device its place, and nothing else does. ``.grad`` is
spoken of as it is after a backward pass. The file ``test_soundness.py`` runs the same cases with torch.
"""

from __future__ import annotations

import ast
import random
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeGuard

import pytest

from tests.expected_differences import MOST_UNSAFE, UNSAFE, headings, hold
from tests.known_values import of_kind, tensor
from torchlint.diagnostics.model import Settings
from torchlint.facts.value import Device, Dtype, Grad, Kind, Value
from torchlint.knowledge import Knowledge, analyse
from torchlint.source.text import decode
from torchlint.syntax.ast_index import index_of
from torchlint.texts.device_names import is_settings
from torchlint.values.abstract import DTYPE_NAMES

CASES = sorted((Path(__file__).parent / "fixtures" / "inference").glob("row*.py"))

KINDS = {str(kind.name).lower(): kind for kind in Kind}
ELEMENTS = {str(dtype.name).lower(): dtype for dtype in Dtype}
GRADS = frozenset({"detached", "attached", "unknown grad"})
PLACES = frozenset({"host", "accelerator", "unknown place"})


@dataclass(frozen=True)
class Revealed:
    """One call of ``reveal``: the file, the row, the expression and what is expected of it."""

    path: Path
    row: int
    node: ast.expr
    expected: str

    def __str__(self) -> str:
        return f"{self.path.stem}:{self.row}"


@cache
def analysed(path: Path) -> Knowledge:
    return analyse(index_of(decode(str(path), path.read_bytes())), Settings())


@cache
def revealed(path: Path) -> tuple[Revealed, ...]:
    analysis = analysed(path)
    rows = path.read_text().splitlines()
    found = []
    for node in ast.walk(analysis.index.tree):
        match node:
            case ast.Call(func=ast.Name(id="reveal"), args=[inner]):
                _, _, expected = rows[node.lineno - 1].partition("  # ")
                found.append(Revealed(path, node.lineno, inner, expected))
    return tuple(sorted(found, key=lambda each: each.row))


ALL = [each for path in CASES for each in revealed(path)]


def axes(expected: str) -> dict[str, frozenset[str]]:
    """Read a comment; a word that belongs to no axis, or an axis out of its order, is an error."""
    read: dict[str, frozenset[str]] = {}
    order = ["kind", "grad", "place", "dtype", "rank"]
    for part in expected.split(","):
        words = frozenset(word.strip() for word in part.split("|"))
        axis = next((each for each, vocabulary in VOCABULARY.items() if words <= vocabulary), None)
        assert axis is not None, f"not understood: {part.strip()!r}"
        assert not read or order.index(axis) > max(order.index(each) for each in read), f"out of order: {expected!r}"
        read[axis] = words
    assert "kind" in read, f"the kind is missing: {expected!r}"
    both = {"grad", "place"}
    needed = {"tensor": both, "tensor?": both, "module": both, "device": {"place"}}
    wanted = set().union(*(needed.get(word, set()) for word in read["kind"]))
    assert read.keys() & {"grad", "place"} == wanted, f"grad and place are for tensors and modules: {expected!r}"
    return read


VOCABULARY = {
    "kind": frozenset({*KINDS, "tensor?", "not tensor"}),
    "grad": GRADS,
    "place": PLACES,
    "dtype": frozenset({*ELEMENTS, *DTYPE_NAMES}),
    "rank": frozenset({"0-dim"}),
}


def kind_agrees(value: Value, words: frozenset[str]) -> bool:
    if words == {"tensor?"}:
        return value.may(Kind.TENSOR) and not value.is_tensor
    if words == {"not tensor"}:
        return bool(value.kind) and not value.may(Kind.TENSOR)
    wanted = Kind(0)
    for word in words:
        wanted |= KINDS[word]
    return value.kind == wanted


def grad_words(value: Value) -> frozenset[str]:
    if not value.may(Kind.MODULE) and not value.may_require_grad:
        return frozenset({"detached"})
    if value.grad & Grad.ATTACHED:
        return frozenset({"attached"} if value.grad == Grad.ATTACHED else {"attached", "detached"})
    return frozenset({"unknown grad" if value.grad & Grad.UNKNOWN else "detached"})


def place_words(value: Value) -> frozenset[str]:
    if value.device & Device.ACCELERATOR:
        return frozenset({"accelerator"} if value.device == Device.ACCELERATOR else {"accelerator", "host"})
    return frozenset({"unknown place" if value.device & Device.UNKNOWN else "host"})


def dtype_agrees(value: Value, words: frozenset[str]) -> bool:
    if words <= ELEMENTS.keys():
        wanted = Dtype(0)
        for word in words:
            wanted |= ELEMENTS[word]
        return value.dtype == wanted
    return {value.exact} == words


def disagreements(value: Value, expected: str) -> list[str]:
    """Return the axes on which a value is not what is expected."""
    read = axes(expected)
    agrees = {
        "kind": lambda words: kind_agrees(value, words),
        "grad": lambda words: grad_words(value) == words,
        "place": lambda words: place_words(value) == words,
        "dtype": lambda words: dtype_agrees(value, words),
        "rank": lambda words: value.rank == 0,
    }
    return [axis for axis, words in read.items() if not agrees[axis](words)]


def spelled(value: Value) -> str:
    shown = f"{value.kind!r}, {value.grad!r}, {value.device!r}, {value.dtype!r}, {value.exact}"
    return shown + f", rank {value.rank}, names {set(value.names)}, instance {set(value.instance)}"


# ---------------------------------------------------------------------- the cases
@pytest.mark.parametrize("word", ["args", "hps", "self_configs", "CONFIGURATION"])
def test_what_holds_settings_is_known_by_its_name(word: str) -> None:
    assert is_settings(word)
    assert not is_settings(f"{word}_loss")


@pytest.mark.parametrize("case", ALL, ids=str)
def test_what_a_careful_reader_knows(case: Revealed) -> None:
    value = analysed(case.path).value(case.node)
    wrong = disagreements(value, case.expected)
    hold(str(case), wrong, f"{ast.unparse(case.node)}  # {case.expected}\nis {spelled(value)}")


def test_what_is_listed_as_different_is_a_case_and_hardly_ever_unsafe() -> None:
    cases = {each.stem for each in (Path(__file__).parent / "fixtures").rglob("*.py")}
    assert {each.partition(":")[0] for each in headings()} <= cases
    assert sum(each.startswith(UNSAFE) for each in headings().values()) <= MOST_UNSAFE


def test_there_are_cases_for_every_row_of_the_design() -> None:
    rows = {path.stem[:5] for path in CASES}
    assert rows >= {f"row{number:02}" for number in range(1, 12)}
    assert len(ALL) >= 600


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_the_cases_without_an_alarm_come_first(path: Path) -> None:
    functions = [each.name for each in ast.parse(path.read_text()).body if isinstance(each, ast.FunctionDef)]
    cases = [name for name in functions if not name.startswith("_")]
    assert cases
    if any(name.startswith("no_alarm_") for name in cases):
        assert cases[0].startswith("no_alarm_")


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_the_answer_does_not_depend_on_what_was_asked_before(path: Path) -> None:
    expected = {each.row: spelled(analysed(path).value(each.node)) for each in revealed(path)}
    for seed in range(3):
        analysis = analyse(index_of(decode(str(path), path.read_bytes())), Settings())
        nodes = [node for node in ast.walk(analysis.index.tree) if _is_reveal(node)]
        order = sorted(nodes, key=lambda node: -node.lineno) if seed == 0 else nodes
        if seed:
            random.Random(seed).shuffle(order)
        found = {node.lineno: spelled(analysis.value(node.args[0])) for node in order}
        assert found == expected


def _is_reveal(node: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "reveal"


# ---------------------------------------------------------------------- the checker itself can say no
DETACHED_ON_THE_HOST = tensor(Grad.DETACHED, Device.HOST, Dtype.FLOATING)


@pytest.mark.parametrize(
    ("expected", "wrong"),
    [
        ("tensor, detached, host", []),
        ("tensor, detached, host, floating", []),
        ("tensor, attached, host", ["grad"]),
        ("tensor, detached | attached, host", ["grad"]),
        ("tensor, unknown grad, host", ["grad"]),
        ("tensor, detached, accelerator", ["place"]),
        ("tensor, detached, host | accelerator", ["place"]),
        ("tensor, detached, unknown place", ["place"]),
        ("tensor, detached, host, integral", ["dtype"]),
        ("tensor, detached, host, float32", ["dtype"]),
        ("tensor, detached, host, 0-dim", ["rank"]),
        ("tensor?, detached, host", ["kind"]),
        ("tensor | none, detached, host", ["kind"]),
        ("not tensor", ["kind"]),
        ("array", ["kind"]),
    ],
)
def test_a_wrong_expectation_is_noticed(expected: str, wrong: list[str]) -> None:
    assert disagreements(DETACHED_ON_THE_HOST, expected) == wrong


@pytest.mark.parametrize(
    "text", ["", "tensor", "tensor, host", "tensor, host, detached", "tensor, detached, hsot", "array, detached, host"]
)
def test_a_malformed_expectation_is_an_error(text: str) -> None:
    with pytest.raises(AssertionError):
        axes(text)


def test_an_integral_tensor_is_detached_whatever_else_is_said() -> None:
    assert grad_words(tensor(Grad.ATTACHED, Device.HOST, Dtype.INTEGRAL)) == {"detached"}
    assert not disagreements(of_kind(Kind.ARRAY), "array")
