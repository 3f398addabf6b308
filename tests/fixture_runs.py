"""Running the fixtures of the rules before and after their fixes: statements of modules, functions and methods."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("numpy")

from torchlint.inference.analysis import Analysis
from torchlint.inference.facts import Dtype, Kind, Value
from torchlint.model import Settings
from torchlint.proof.judge import Refutation, judge
from torchlint.proof.observe import observe
from torchlint.proof.snippet import Snippet
from torchlint.proof.worlds import World, covering, telling
from torchlint.source import decode
from torchlint.syntax.outline import outline

MODULE = "(module)"
ANYTHING = tuple("tensor array module tensors numbers sizes int float bool text device batches arguments".split()) + (
    "named tensors",
)
"""What a parameter takes in turn of which nothing is known."""
_MOST = 24
"""Ways to give the parameters of one function that are tried; beyond, one parameter varies at a time."""
_THOROUGH = 2
"""Ways of these that are run in worlds of every pair of traits; the others are run in a few."""
_BY_KIND: dict[Kind, tuple[str, ...]] = {
    Kind.TENSOR: ("tensor",),
    Kind.ARRAY: ("array",),
    Kind.SIZE: ("sizes",),
    Kind.INTEGER: ("int",),
    Kind.SCALAR: ("float", "bool", "no bool"),
    Kind.STRING: ("text",),
    Kind.NONE: ("none",),
    Kind.MODULE: ("module",),
    Kind.DEVICE: ("device",),
    Kind.DTYPE: ("dtype",),
}


@dataclass(frozen=True)
class Unit:
    """One piece of a fixture that a fix changes."""

    path: Path
    name: str
    """A function, ``Class.method``, or :data:`MODULE` for the statements outside."""
    before: str
    after: str

    @property
    def label(self) -> str:
        return f"{self.path.parent.name}/{self.path.stem} {self.name}"


@dataclass(frozen=True)
class Outcome:
    """What became of a unit on one device."""

    verdict: str
    """``holds``, ``repaired`` (the old text never ran, the new one does), ``refuted`` or ``untested``."""
    detail: str = ""
    worlds: int = 0
    refutations: tuple[Refutation, ...] = ()
    breaks: bool = False
    """Whether the new text raises wherever the old one ran."""


# ---------------------------------------------------------------------- pieces
def units(path: Path, before: str, after: str) -> Iterator[Unit]:
    """Give the pieces of a module that differ between two texts."""
    old, new = _pieces(ast.parse(before)), _pieces(ast.parse(after))
    for name, dumped in old.items():
        if name in new and new[name] != dumped:
            yield Unit(path, name, before, after)


def _pieces(tree: ast.Module) -> dict[str, str]:
    found = {MODULE: ""}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found[node.name] = ast.dump(node)
        elif isinstance(node, ast.ClassDef):
            methods = [each for each in node.body if isinstance(each, ast.FunctionDef)]
            found |= {f"{node.name}.{each.name}": ast.dump(each) for each in methods}
            rest = [each for each in node.body if each not in methods]
            found[MODULE] += "".join(map(ast.dump, rest))
        elif not isinstance(node, ast.Import | ast.ImportFrom):
            found[MODULE] += ast.dump(node)
    return found


def lean(text: str) -> str:
    """Give a module without the statements that run when it is imported, for functions that do not need them."""
    kept = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return ast.unparse(ast.Module([node for node in ast.parse(text).body if isinstance(node, kept)], []))


# ---------------------------------------------------------------------- what the parameters take
@cache
def _analysis(path: Path, text: str) -> Analysis:
    return Analysis(outline(decode(str(path), text.encode())), Settings())


def ways(unit: Unit) -> list[tuple[tuple[str, str], ...]]:
    """Give the ways to call a unit: a kind for each parameter, by what inference knows of it."""
    asked = _parameters(unit)
    choices = [_kinds(value) if value else ANYTHING for _, value in asked]
    names = [name for name, _ in asked]
    count = 1
    for each in choices:
        count *= len(each)
    if count <= _MOST:
        return [tuple(zip(names, kinds, strict=True)) for kinds in product(*choices)]
    first = [each[0] for each in choices]
    turns = [[*first[:at], kind, *first[at + 1 :]] for at, each in enumerate(choices) for kind in each]
    same = [[kind if kind in each else each[0] for each in choices] for kind in ANYTHING]
    return [tuple(zip(names, kinds, strict=True)) for kinds in dict.fromkeys(map(tuple, [*turns, *same]))]


def _parameters(unit: Unit) -> list[tuple[str, Value | None]]:
    analysis = _analysis(unit.path, unit.before)
    owner, _, name = unit.name.rpartition(".")
    body: list[ast.stmt] = analysis.outline.tree.body
    found: list[tuple[str, Value | None]] = []
    if owner:  # the object is made of what its class asks for
        body = next(each for each in body if isinstance(each, ast.ClassDef) and each.name == owner).body
        made = _of_function(analysis, body, "__init__") if name != "__init__" else ()
        found = [(f"self.{each}", value) for each, value in made]
    return [*found, *_of_function(analysis, body, name)]


def _of_function(analysis: Analysis, body: list[ast.stmt], name: str) -> Iterator[tuple[str, Value | None]]:
    function = next((each for each in body if isinstance(each, ast.FunctionDef) and each.name == name), None)
    spec = function.args if function else None
    for each in [*spec.posonlyargs, *spec.args, *spec.kwonlyargs] if spec and function else []:
        loads = (node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == each.arg)  # type: ignore[arg-type]
        first = next((node for node in loads if isinstance(node.ctx, ast.Load)), None)
        if each.arg not in ("self", "cls"):
            yield each.arg, analysis.value(first) if first else None


def _kinds(value: Value) -> tuple[str, ...]:
    if bin(value.kind).count("1") > 4:
        return ANYTHING
    found: list[str] = []
    for kind in Kind:
        if value.kind & kind == Kind.SEQUENCE:
            inner = value.member
            found += (
                ["tensors", "named tensors"] if inner and inner.must(Kind.TENSOR) else ["numbers", "tensors", "arrays"]
            )
        elif value.kind & kind:
            found += _BY_KIND.get(kind, ("arguments", "batches", "rows", "function"))
    return tuple(found)


@cache
def _covering(device: str, asked: tuple[str, ...]) -> tuple[World, ...]:
    return covering(telling(device, asked))


def _fitting(worlds: tuple[World, ...], unit: Unit) -> tuple[World, ...]:
    """Leave the worlds whose tensors are of a dtype that the parameters may have."""
    dtype = Dtype(0)
    for _, value in _parameters(unit) if unit.name != MODULE else ():
        dtype |= value.dtype if value and value.must(Kind.TENSOR) else Dtype.FLOATING | Dtype.INTEGRAL | Dtype.BOOL
    if not dtype:
        return worlds
    of = {"int64": Dtype.INTEGRAL, "bool": Dtype.BOOL}
    return tuple(each for each in worlds if of.get(each.dtype, Dtype.FLOATING) & dtype)


# ---------------------------------------------------------------------- runs
_PROBES = (
    ("detached", "grad", "float32", "matrix"),
    ("leaf", "grad", "float32", "matrix"),
    ("detached", "grad", "int64", "vector"),
    ("leaf", "no_grad", "float32", "matrix"),
    ("detached", "grad", "float32", "one element"),
    ("detached", "grad", "float32", "transposed"),
)


def run(unit: Unit, device: str) -> Outcome:
    """Judge a unit in every way of giving its parameters that some world accepts."""
    if unit.name == MODULE:
        before, after = surviving(unit, device)
        return _tried(unit, before, after, device)
    outcome = _tried(unit, unit.before, unit.after, device)
    if outcome.verdict == "untested":
        return _tried(unit, lean(unit.before), lean(unit.after), device)
    return outcome


def surviving(unit: Unit, device: str) -> tuple[str, str]:
    """Give both texts of a module without the statements whose old form raises, and what they would have made."""
    old, new = _statements(unit.before), _statements(unit.after)
    if len(old) != len(new):
        return unit.before, unit.after
    kept: list[int] = []
    for at in range(len(old)):
        tried = "\n".join(ast.unparse(old[each]) for each in [*kept, at])
        if observe(Snippet(_imports(unit.before) + tried, "(none)"), World(device, *_PROBES[0])).error is None:
            kept.append(at)
    if all(ast.dump(old[at]) == ast.dump(new[at]) for at in kept):
        return unit.before, unit.after
    return tuple(
        _imports(text) + "\n".join(ast.unparse(each[at]) for at in kept)
        for text, each in ((unit.before, old), (unit.after, new))  # type: ignore[return-value]
    )


def _statements(text: str) -> list[ast.stmt]:
    return [node for node in ast.parse(text).body if not isinstance(node, ast.Import | ast.ImportFrom)]


def _imports(text: str) -> str:
    found = [node for node in ast.parse(text).body if isinstance(node, ast.Import | ast.ImportFrom)]
    return "".join(f"{ast.unparse(each)}\n" for each in found)


def _tried(unit: Unit, before: str, after: str, device: str) -> Outcome:
    entry = unit.name if unit.name != MODULE else "(none)"
    probes = _fitting(tuple(World(device, *each) for each in _PROBES), unit)
    error, ran, repaired, broken, worlds, thorough = "no world fits", 0, False, 0, 0, 0
    refutations: list[Refutation] = []
    for kinds in ways(unit) if unit.name != MODULE else [()]:
        old, new = Snippet(before, entry, kinds), Snippet(after, entry, kinds)
        errors = [observe(old, probe).error for probe in probes]
        if all(errors):
            error = str(errors[0])
            repaired = repaired or any(observe(new, probe).error is None for probe in probes)
            continue
        thorough += 1
        worlds_here = probes if thorough > _THOROUGH else _fitting(_covering(device, old.asked), unit)
        verdict = judge(old, new, worlds_here)
        ran, broken, worlds = ran + verdict.ran, broken + verdict.broken, worlds + verdict.worlds
        refutations += verdict.refutations
    if refutations:
        return Outcome("refuted", str(refutations[0]), worlds, tuple(refutations), broken == ran)
    if ran:
        return Outcome("holds", worlds=worlds)
    return Outcome("repaired") if repaired else Outcome("untested", error.splitlines()[0][:150])
