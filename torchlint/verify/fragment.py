"""The smallest pieces of code around a fix, before and after, made of nothing but torch, NumPy and literals."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from torchlint.diagnostics.model import Applicability, Finding, Settings
from torchlint.diagnostics.splice import splice
from torchlint.facts.value import Value
from torchlint.knowledge import any_element
from torchlint.source.text import Source
from torchlint.verify import allowed
from torchlint.verify.extract import Cutter, Hole, dotted
from torchlint.verify.reading import RefusedError, read
from torchlint.verify.slices import FixSite, NotPlacedError, assignments, exposed, expressions, in_annotation, place

_BUILDING, _LEAF = "TNS202", "TNS206"
"""Rules whose safe fixes rest on something that a fragment does not show: nothing has used the tensor yet, or it is a
leaf."""
_PROBE = "with torch.no_grad():\n    {}.mul_(1)"
"""A write that changes no value: it shows whether autograd counts writes to a tensor for another one too."""


@dataclass(frozen=True)
class Fragment:
    """Code to be run before and after: a function ``case`` of the names that have to be bound."""

    before: str
    after: str
    holes: tuple[Hole, ...]
    rows: tuple[int, int]
    grad_is_off: bool = False
    """Whether the code stands where grad mode is off."""
    written: tuple[str, str] | None = None
    """Both texts with a write to what they make behind them, where there is something to write to."""
    exposed: int | None = None
    """The row on which what they make may be written, or goes to code that is not run."""
    narrow: bool = False
    """Whether it is less than what the fix was made for, so that a difference in it proves nothing."""

    @property
    def key(self) -> tuple[object, ...]:
        """What makes two fragments the same."""
        facts = tuple((each.name, each.code, each.use, each.new, _facts(each.value)) for each in self.holes)
        return self.before, self.after, facts, self.grad_is_off, self.exposed is None, self.narrow


@dataclass(frozen=True)
class Uncut:
    """A fix around which nothing can be cut out, and why."""

    reason: str


def fragments(source: Source, finding: Finding, settings: Settings) -> tuple[Fragment, ...] | Uncut:
    """Cut out what can be run around a fix: the best first, each of the others for where the ones before never run."""
    assert finding.fix is not None
    try:
        before = read(source.path, source.raw, settings)
        after = read(source.path, splice(source, [finding]).raw, settings)
        found = place(before, after, finding.fix.edits)
    except (SyntaxError, ValueError, RecursionError):
        return Uncut("this Python cannot parse the file")
    except NotPlacedError as error:
        return Uncut(str(error))
    if all(isinstance(each, ast.Import | ast.ImportFrom) for each in found.old):
        return _imports(found)
    if in_annotation(found):
        return Uncut("an annotation does nothing at run time")
    first: list[RefusedError] = []
    made = tuple(_candidates(found, first))
    if finding.fix.applicability is Applicability.SAFE and finding.code in (_BUILDING, _LEAF):
        made = tuple(_of_leaf(each, finding.code) for each in made)
    return made or Uncut(str(first[0]) if first else "the fix spans a definition")


def _of_leaf(fragment: Fragment, code: str) -> Fragment:
    """Believe what the rule found: where `.data` goes, or what is written, is a leaf that nothing has used yet."""
    found = _on_data(fragment.before) - _on_data(fragment.after) if code == _BUILDING else _written(fragment.before)
    return replace(fragment, holes=tuple(replace(each, new=each.name in found) for each in fragment.holes))


def _written(text: str) -> set[str]:
    """Return the names at the root of what is written in place, views of them included."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.AugAssign(target=at) | ast.Assign(targets=[ast.Subscript() as at]):
                pass
            case ast.Call(func=ast.Attribute(value=at)) | ast.Assign(value=ast.Call(func=ast.Attribute(value=at))):
                pass  # ``flat = w.view(-1)``, ``flat.zero_()``
            case _:
                continue
        while isinstance(at, ast.Attribute | ast.Subscript | ast.Call):
            at = at.func if isinstance(at, ast.Call) else at.value
        found |= {at.id} if isinstance(at, ast.Name) else set()
    return found


def _on_data(text: str) -> set[str]:
    return {
        node.value.id
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and node.attr == "data" and isinstance(node.value, ast.Name)
    }


def _candidates(found: FixSite, refused: list[RefusedError]) -> Iterator[Fragment]:
    whole = not isinstance(found.old[0], ast.If | ast.For | ast.With | ast.While | ast.FunctionDef | ast.ClassDef)
    count = 0
    around = assignments(found)
    if whole or len(found.new) != len(found.old) or not any(True for _ in expressions(found)):
        for prelude in [around, []] if around else [[]]:
            try:
                yield _cut(found, prelude, None)
                count += 1
            except RefusedError as refusal:
                refused.append(refusal)
    for old, new, complete in expressions(found):
        if not complete or isinstance(old, ast.Starred):
            continue
        for prelude in [around, []] if around else [[]]:
            try:
                yield _cut(found, prelude, (old, new), narrow=count > 0)
            except RefusedError as refusal:
                refused.append(refusal)
            else:
                count += 1
                break


def _cut(
    found: FixSite, prelude: list[ast.stmt], narrowed: tuple[ast.expr, ast.expr] | None, narrow: bool = False
) -> Fragment:
    old = Cutter(found.before, found.edits)
    lead = old.statements(prelude)
    for each in lead:
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.Name) and each.value.id in _names(old.holes):
            raise RefusedError("an assignment depends on code that is not run")
    bound = dict(old.bound)
    one = _body(old, narrowed[0] if narrowed else found.old)
    new = Cutter(found.after, (), dict(old.holes))
    new.bound, new.holes = bound, {code: hole for code, hole in old.holes.items() if hole.name in _used(lead)}
    other = _body(new, narrowed[1] if narrowed else found.new)
    texts = tuple(_text([*lead, *each], old.holes) for each in (one, other))
    target = _result(one) if len(one) == len(other) == 1 else None
    probes = (
        [
            _text([*lead, *_kept(each, target), *ast.parse(_PROBE.format(target)).body], old.holes)
            for each in (one, other)
        ]
        if target
        else []
    )
    return Fragment(
        before=texts[0],
        after=texts[1],
        holes=tuple(old.holes.values()),
        rows=found.rows,
        grad_is_off=_grad_is_off(found),
        written=(probes[0], probes[1]) if probes else None,
        exposed=exposed(found, narrowed[0] if narrowed else None),
        narrow=narrow,
    )


def _body(cutter: Cutter, node: ast.expr | tuple[ast.stmt, ...]) -> list[ast.stmt]:
    return [ast.Return(cutter.expression(node))] if isinstance(node, ast.expr) else cutter.statements(node)


def _names(holes: dict[str, Hole]) -> set[str]:
    return {each.name for each in holes.values()}


def _used(nodes: list[ast.stmt]) -> set[str]:
    return {each.id for node in nodes for each in ast.walk(node) if isinstance(each, ast.Name)}


def _text(body: list[ast.stmt], holes: dict[str, Hole]) -> str:
    given = ast.arguments([], [ast.arg(each.name) for each in holes.values()], None, [], [], None, [])
    case = ast.FunctionDef("case", given, body or [ast.Pass()], [], lineno=1)
    return ast.unparse(ast.fix_missing_locations(ast.Module([case], [])))


def _result(body: list[ast.stmt]) -> str | None:
    match body:
        case [ast.Return(value=ast.expr())]:
            return "made"
        case [ast.Assign(targets=[ast.Name(id=word)])]:
            return word
    return None


def _kept(body: list[ast.stmt], target: str | None) -> list[ast.stmt]:
    (statement,) = body
    if isinstance(statement, ast.Return) and statement.value is not None and target:
        return [ast.Assign([ast.Name(target, ast.Store())], statement.value, lineno=1)]
    return body


def _grad_is_off(found: FixSite) -> bool:
    inside = next((each for each in ast.walk(found.old[0]) if isinstance(each, ast.expr)), None)
    return inside is not None and found.before.grad_is_off(inside)


def _facts(value: Value) -> tuple[object, ...]:
    """Return what of a name's value decides which values it is given."""
    *facts, _ = value.plain()
    inner = any_element(value)
    return *facts, sorted(value.names), sorted(value.instance), value.items is None, inner.kind


def _imports(found: FixSite) -> tuple[Fragment, ...] | Uncut:
    """Cut out an import that goes: what it named must be on the list, and nothing may speak of it any more."""
    gone = {each.asname or each.name: each for each in _aliases(found.old)}
    for each in _aliases(found.new):
        gone.pop(each.asname or each.name, None)
    spoken = {each.id for each in ast.walk(found.after.index.tree) if isinstance(each, ast.Name)}
    if gone.keys() & spoken:
        return Uncut(f"`{min(gone.keys() & spoken)}` is still used")
    made: list[ast.stmt] = []
    for statement in found.old:
        module = f"{statement.module}." if isinstance(statement, ast.ImportFrom) else ""
        for alias in getattr(statement, "names", ()):
            name = f"{module}{alias.name}".replace("torch.autograd.variable.", "torch.autograd.")
            if (alias.asname or alias.name) in gone:
                if not allowed.callable_name(name):
                    return Uncut(f"`{name}` is not on the list")
                made.append(ast.Assign([ast.Name("imported", ast.Store())], dotted(name), lineno=1))
    return (Fragment(_text(made, {}), _text([], {}), (), found.rows),)


def _aliases(statements: tuple[ast.stmt, ...]) -> list[ast.alias]:
    return [alias for each in statements if isinstance(each, ast.Import | ast.ImportFrom) for alias in each.names]
