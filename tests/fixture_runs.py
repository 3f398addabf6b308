"""Running the fixtures of the rules before and after their fixes: statements of modules, functions and methods."""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("numpy")

from torchlint.diagnostics.model import Settings
from torchlint.facts.value import Dtype, Kind, Value
from torchlint.knowledge import Knowledge, analyse
from torchlint.source.text import decode
from torchlint.syntax.ast_index import index_of
from torchlint.verify.compare import Refutation, judge
from torchlint.verify.observe import observe
from torchlint.verify.snippet import Snippet
from torchlint.verify.worlds import World, covering, telling

MODULE = "(module)"
ANYTHING = (
    *("tensor", "array", "module", "tensors", "numbers", "sizes", "int", "float", "bool", "text"),
    *("device", "batches", "arguments", "named tensors"),
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
    """Yield the pieces of a module that differ between two texts."""
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
    """Return a module without the statements that run when it is imported, for functions that do not need them."""
    kept = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return ast.unparse(ast.Module([node for node in ast.parse(text).body if isinstance(node, kept)], []))


# ---------------------------------------------------------------------- what the parameters take
@cache
def _analysis(path: Path, text: str) -> Knowledge:
    return analyse(index_of(decode(str(path), text.encode())), Settings())


def ways(unit: Unit) -> list[tuple[tuple[str, str], ...]]:
    """Return the ways to call a unit: a kind for each parameter, by what inference knows of it."""
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
    body: list[ast.stmt] = analysis.index.tree.body
    found: list[tuple[str, Value | None]] = []
    if owner:  # the object is made of what its class asks for
        body = next(each for each in body if isinstance(each, ast.ClassDef) and each.name == owner).body
        made = _of_function(analysis, body, "__init__") if name != "__init__" else ()
        found = [(f"self.{each}", value) for each, value in made]
    return [*found, *_of_function(analysis, body, name)]


def _of_function(analysis: Knowledge, body: list[ast.stmt], name: str) -> Iterator[tuple[str, Value | None]]:
    function = next((each for each in body if isinstance(each, ast.FunctionDef) and each.name == name), None)
    spec = function.args if function else None
    for each in [*spec.posonlyargs, *spec.args, *spec.kwonlyargs] if spec and function else []:
        loads = (node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == each.arg)  # type: ignore[arg-type]
        first = next((node for node in loads if isinstance(node.ctx, ast.Load)), None)
        if each.arg not in ("self", "cls"):
            yield each.arg, analysis.value(first) if first else None


def _kinds(value: Value) -> tuple[str, ...]:
    if value.kind.bit_count() > 4:
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


_ROUNDS = 12
_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return, ast.Assert, ast.Delete, ast.Raise)
_BLOCKS = ("body", "orelse", "finalbody")
Way = tuple[tuple[str, str], ...]


def run(unit: Unit, device: str) -> Outcome:
    """Judge a unit in every way of giving its parameters that some world accepts."""
    entry = unit.name if unit.name != MODULE else "(none)"
    pairs = [(unit.before, unit.after)]
    if unit.name != MODULE:
        pairs.append((lean(unit.before), lean(unit.after)))
    outcome = Outcome("untested", "nothing ran")
    for before, after in pairs:
        outcome = _tried(unit, before, after, entry, device)
        if outcome.verdict in ("holds", "refuted"):
            return outcome
    return outcome


def _tried(unit: Unit, before: str, after: str, entry: str, device: str) -> Outcome:
    """Run a unit in all ways in which it runs; where there is none, without the statements that raise."""
    probes = _fitting(tuple(World(device, *each) for each in _PROBES), unit)
    tried = ways(unit) if unit.name != MODULE else [()]
    running = [
        way
        for way in tried
        if any(observe(Snippet(before, entry=entry, kinds=way), each).error is None for each in probes)
    ]
    if running:
        return _judged(unit, before, after, entry, running, probes)
    errors = [str(observe(Snippet(before, entry=entry, kinds=way), probes[0]).error) for way in tried[:1]]
    repaired = any(
        observe(Snippet(after, entry=entry, kinds=way), each).error is None for way in tried for each in probes
    )
    for way in tried[:_MOST]:
        old, new, idle = surviving(before, after, entry, way, probes[0])
        if old and _pieces(ast.parse(old)).get(unit.name) != _pieces(ast.parse(new)).get(unit.name):
            is_mended = observe(Snippet(after, entry=entry, kinds=way), probes[0]).error is None
            outcome = _judged(unit, old, new, entry, [way], probes, idle if is_mended else frozenset())
            return replace(outcome, detail=outcome.detail or "without statements that raise")
    if repaired:
        return Outcome("repaired")
    return Outcome("untested", errors[0].splitlines()[0][:150])


def _judged(
    unit: Unit,
    before: str,
    after: str,
    entry: str,
    running: list[Way],
    probes: tuple[World, ...],
    idle: frozenset[str] = frozenset(),
) -> Outcome:
    """Judge a unit in the ways in which it runs; what lies in names that nobody sees (``idle``) makes no difference."""
    ran, broken, worlds = 0, 0, 0
    refutations: list[Refutation] = []
    for at, way in enumerate(running):
        old, new = Snippet(before, entry=entry, kinds=way), Snippet(after, entry=entry, kinds=way)
        chosen = probes if at >= _THOROUGH else _fitting(_covering(probes[0].device, old.asked), unit)
        verdict = judge(old, new, chosen)
        ran, broken, worlds = ran + verdict.ran, broken + verdict.broken, worlds + verdict.worlds
        refutations += (each for each in verdict.refutations if re.split(r"\W", each.observable)[0] not in idle)
    if refutations:
        return Outcome("refuted", str(refutations[0]), worlds, tuple(refutations), broken == ran)
    return Outcome("holds", worlds=worlds)


# ---------------------------------------------------------------------- what is left without the statements that raise
def surviving(before: str, after: str, entry: str, way: Way, world: World) -> tuple[str, str, frozenset[str]]:
    """Take from both texts the statements at which the old one raises, until it runs; empty where it does not.

    Empty, too, where the new text reads more of what those statements bound than the old one does. With them come the
    names that they alone read: where the fix is what keeps them from raising, nobody sees those in the old text.
    """
    old, new = ast.parse(before), ast.parse(after)
    bound: set[str] = set()
    for _ in range(_ROUNDS):
        text = ast.unparse(old)
        seen = observe(Snippet(text, entry=entry, kinds=way), world)
        if seen.error is None:
            if bound & (_read(new, entry) - _read(old, entry)):
                break
            return text, ast.unparse(new), _idle(old, entry, bound)
        place = _place(ast.parse(text), seen.line)
        if place is None or not ((dropped := _drop(old, place)) and _drop(new, place)):
            break
        bound |= {each.id for each in ast.walk(dropped) if isinstance(each, ast.Name)}
    return "", "", frozenset()


def _idle(tree: ast.Module, entry: str, bound: set[str]) -> frozenset[str]:
    """Return the names that only statements which were taken out read, maybe by way of each other."""
    unit = _unit(tree, entry)
    binding = {each: name for each in ast.walk(unit) if (name := _bound_by(each)) is not None}
    inside = {one: name for each, name in binding.items() for one in ast.walk(each)}
    reads = [each for each in ast.walk(unit) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)]
    idle = set(bound)
    for _ in binding:
        idle |= {each.id for each in reads if inside.get(each) in idle}
    for _ in binding:
        idle -= {each.id for each in reads if inside.get(each) not in idle}
    return frozenset(idle & set(binding.values()))


def _bound_by(node: ast.AST) -> str | None:
    """Return the only name that a statement binds."""
    match node:
        case ast.Assign(targets=[ast.Name(id=word)]) | ast.AugAssign(target=ast.Name(id=word)):
            return word
    return None


def _unit(tree: ast.Module, entry: str) -> ast.AST:
    """Return the function or the method that is run; the module where that is all of it."""
    node: ast.AST = tree
    for word in entry.split("."):
        below = (each for each in getattr(node, "body", []) if isinstance(each, ast.FunctionDef | ast.ClassDef))
        node = next((each for each in below if each.name == word), node)
    return node


def _read(tree: ast.Module, entry: str) -> set[str]:
    names = (each for each in ast.walk(_unit(tree, entry)) if isinstance(each, ast.Name))
    return {each.id for each in names if isinstance(each.ctx, ast.Load)}


def _place(tree: ast.Module, line: int | None) -> tuple[tuple[str, int], ...] | None:
    """Return the way to the simple statement on a line: fields and positions, imports at the top not counted."""
    found: tuple[tuple[str, int], ...] = ()
    node: ast.AST = tree
    while line is not None:
        inner = [
            (field, at, each)
            for field in _BLOCKS
            for at, each in enumerate(_countable(node, field))
            if each.lineno <= line <= (each.end_lineno or each.lineno)
        ]
        if not inner:
            return None
        field, at, node = inner[0]
        found = (*found, (field, at))
        if isinstance(node, _SIMPLE):
            return found
    return None


def _countable(node: ast.AST, field: str) -> list[ast.stmt]:
    body = getattr(node, field, [])
    return [each for each in body if isinstance(each, ast.stmt) and not isinstance(each, ast.Import | ast.ImportFrom)]


def _drop(tree: ast.Module, place: tuple[tuple[str, int], ...]) -> ast.stmt | None:
    """Put ``pass`` in the place of a statement, and return it; None where there is none."""
    node: ast.AST = tree
    for field, at in place[:-1]:
        inner = _countable(node, field)
        if at >= len(inner):
            return None
        node = inner[at]
    field, at = place[-1]
    inner = _countable(node, field)
    if at >= len(inner):
        return None
    body = getattr(node, field)
    body[next(index for index, each in enumerate(body) if each is inner[at])] = ast.Pass()
    return inner[at]


# ------------------------------------------------------------------ what was not tested, and what differs, is listed
RULES = Path(__file__).parent / "fixtures" / "rules"
UNTESTED = RULES / "untested.txt"
UNSAFE = RULES / "unsafe.txt"
"""What the unsafe fixes do, piece by piece: where they differ first, and in what."""
HOSTED = ("cpu", "simulated")


def repaired_fixtures() -> list[Path]:
    """Return the fixtures that safe fixes change."""
    return sorted(path for path in RULES.glob("*/*.py") if path.with_suffix(".safe.txt").exists())


def outcomes(path: Path, device: str) -> dict[str, Outcome]:
    """Return what became of each changed piece of a fixture."""
    after = path.with_suffix(".safe.txt").read_text()
    return {unit.label: run(unit, device) for unit in units(path, path.read_text(), after)}


def unsafe_fixtures() -> list[Path]:
    """Return the fixtures of whose code unsafe fixes change something."""
    found = (path for path in RULES.glob("*/*.py") if path.with_suffix(".unsafe.txt").exists())
    return sorted(path for path in found if next(_changed_by_unsafe(path), None))


def unsafe_outcomes(path: Path, device: str) -> dict[str, Outcome]:
    """Return what became of each piece that unsafe fixes change, after the safe ones did their part."""
    return {unit.label: run(unit, device) for unit in _changed_by_unsafe(path)}


def _changed_by_unsafe(path: Path) -> Iterator[Unit]:
    safe, unsafe = path.with_suffix(".safe.txt"), path.with_suffix(".unsafe.txt")
    before = (safe if safe.exists() else path).read_text()
    yield from units(path, before, unsafe.read_text())


def stated(found: dict[str, Outcome], device: str) -> list[str]:
    """Return a line for each piece that unsafe fixes change.

    What became of it, and of which kind the differences are.
    """
    return [f"{device}: {label}: {_stated(each)}" for label, each in found.items()]


def _stated(outcome: Outcome) -> str:
    if outcome.verdict != "refuted":
        return f"{outcome.verdict}: {outcome.detail}".removesuffix(": ")
    kinds = sorted({each.observable.rpartition(": ")[2] for each in outcome.refutations})
    raises = "; it raises wherever the old text ran" if outcome.breaks else ""
    return f"differs in [{outcome.refutations[0].world}] and others: {', '.join(kinds)}{raises}"


def untested(found: dict[str, Outcome], device: str) -> list[str]:
    """Return a line for each piece that could not be run, with the reason."""
    return [f"{device}: {label}: {each.detail}" for label, each in found.items() if each.verdict == "untested"]


def main(stems: list[str]) -> None:
    """Write the lists of what could not be run and of what unsafe fixes do, of all fixtures or of some: ``in_use``."""
    every = (repaired_fixtures(), unsafe_fixtures())
    safe, unsafe = ([path for path in paths if not stems or path.stem in stems] for paths in every)
    rewrite(
        UNSAFE, {path: [line for at in HOSTED for line in stated(unsafe_outcomes(path, at), at)] for path in unsafe}
    )
    rewrite(UNTESTED, {path: [line for at in HOSTED for line in untested(outcomes(path, at), at)] for path in safe})


def rewrite(place: Path, new: dict[Path, list[str]]) -> None:
    """Put new lines in the place of those of some fixtures; the others keep theirs, and all stand by name."""
    known: dict[str, list[str]] = defaultdict(list)
    for line in place.read_text(encoding="utf-8").splitlines():
        known[line.split()[1]].append(line)
    known.update({f"{path.parent.name}/{path.stem}": lines for path, lines in new.items()})
    place.write_text("".join(f"{line}\n" for name in sorted(known) for line in known[name]), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
