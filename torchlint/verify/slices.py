"""Where a fix works in a file: the statements it changes, what they rest on, and the later uses of what they make."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchlint.diagnostics.model import Edit
from torchlint.syntax.blocks import block_with
from torchlint.verify import allowed
from torchlint.verify.reading import FileText, Step, children, follow


class NotPlacedError(Exception):
    """The fix cannot be found again in the new text; the text says why."""


@dataclass(frozen=True)
class FixSite:
    """The statements that a fix changes, in the old and in the new text."""

    before: FileText
    after: FileText
    edits: tuple[Edit, ...]
    """Without those that only add an import or move lines to the right."""
    old: tuple[ast.stmt, ...]
    new: tuple[ast.stmt, ...]

    @property
    def rows(self) -> tuple[int, int]:
        """The first and the last row of the old statements."""
        return self.old[0].lineno, self.old[-1].end_lineno or self.old[-1].lineno


def place(before: FileText, after: FileText, edits: tuple[Edit, ...]) -> FixSite:
    """Find the statements that a fix changes.

    :raises NotPlacedError: where there are none, or the new text has none in their place.
    """
    core = tuple(each for each in edits if not _adds_import(each)) or edits
    low, high = min(each.start for each in core), max(each.end for each in core)
    utf8 = before.index.source.utf8
    while high < len(utf8) and utf8[high : high + 1] in (b" ", b"\t"):
        high += 1
    old_block, new_block = before.index.tree.body, after.index.tree.body
    added = sum(each.text.count("import ") for each in edits if each not in core)
    while True:
        at = [i for i, each in enumerate(old_block) if _start(before, each) <= high and before.index.end(each) >= low]
        if not at:
            raise NotPlacedError("the fix changes no statement")
        first, last = at[0], at[-1]
        inner = _inner(before, old_block[first], low, high) if first == last else None
        behind = len(old_block) - last - 1
        new = new_block[first + (added if new_block is after.index.tree.body else 0) : len(new_block) - behind]
        if inner is None:
            return FixSite(before, after, core, tuple(old_block[first : last + 1]), tuple(new))
        step, old_block = inner
        found = follow(new[0], step[:-1]) if len(new) == 1 and len(step) > 1 else new[0] if len(new) == 1 else None
        new_block = getattr(found, step[-1][0], None) or []


def _adds_import(edit: Edit) -> bool:
    try:
        found = ast.parse(edit.text).body
    except SyntaxError:
        return False
    return (
        edit.start == edit.end and bool(found) and all(isinstance(each, ast.Import | ast.ImportFrom) for each in found)
    )


def _start(reading: FileText, node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min([reading.index.start(node), *(reading.index.start(each) for each in decorators)])


def _inner(reading: FileText, node: ast.stmt, low: int, high: int) -> tuple[tuple[Step, ...], list[ast.stmt]] | None:
    """Return the block inside a statement in which the whole fix lies, and the steps that lead to it."""
    for steps, block in _blocks(node):
        start, end = _start(reading, block[0]), reading.index.end(block[-1])
        row = reading.index.source.line_starts[reading.index.source.position(start)[0] - 1]
        begin = row if not reading.index.source.utf8[row:start].strip() else start
        if begin <= low and high <= max(end, start):
            return steps, block
    return None


def _blocks(node: ast.AST) -> Iterator[tuple[tuple[Step, ...], list[ast.stmt]]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
            yield ((name, None),), block
    for name in ("handlers", "cases"):
        for at, each in enumerate(getattr(node, name, ())):
            yield ((name, at), ("body", None)), each.body


def expressions(found: FixSite) -> Iterator[tuple[ast.expr, ast.expr, bool]]:
    """Yield the expressions that hold the whole fix, widest first, each with its new form.

    The third is whether an expression is whole: not merely the beginning of a chain of attributes and calls.
    """
    if len(found.old) != 1 or len(found.new) != 1:
        return
    node: ast.AST = found.old[0]
    steps: list[Step] = []
    chain: list[tuple[ast.expr, tuple[Step, ...], bool]] = []
    while True:
        inner = next((each for each in children(node) if _around(found, each[1])), None)
        if inner is None:
            break
        step, below = inner
        steps.append(step)
        if isinstance(below, ast.expr):
            begins = isinstance(node, ast.Attribute | ast.Subscript | ast.Call) and step[0] in ("value", "func")
            chain.append((below, tuple(steps), not begins))
        node = below
    for each, way, whole in chain:
        new = follow(found.new[0], way)
        if isinstance(new, ast.expr):
            yield each, new, whole


def _around(found: FixSite, node: ast.AST) -> bool:
    if isinstance(node, ast.expr):
        return found.before.encloses(node, found.edits)
    if isinstance(node, ast.keyword | ast.comprehension | ast.withitem):
        return any(_around(found, each) for _, each in children(node))
    return False


def in_annotation(found: FixSite) -> bool:
    """Whether the fix changes nothing but an annotation, which does nothing at run time."""
    for node in ast.walk(found.old[0]):
        annotation = node.annotation if isinstance(node, ast.arg | ast.AnnAssign) else getattr(node, "returns", None)
        if isinstance(annotation, ast.expr):
            start, end = found.before.index.start(annotation), found.before.index.end(annotation)
            if all(start <= each.start and each.end <= end for each in found.edits):
                return True
    return False


_MOST = 8
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FRESH = frozenset(
    "item tolist clone sum mean std var norm sign sqrt abs exp log max min any all size dim numel argmax argmin long "
    "float double half int nonzero eq ne lt gt le ge add sub mul div matmul mm shape dtype device ndim".split()
)
"""Methods and attributes whose result lies in memory of its own or is no tensor."""


def assignments(place: FixSite) -> list[ast.stmt]:
    """Return the assignments before the changed statements that give their names a value, in order.

    A name counts only where one assignment gives it its value, whatever way the program came, and nothing is done
    with the name between there and here.
    """
    reading = place.before
    home = _home(reading, place.old[0])
    found: dict[str, ast.Assign] = {}
    wanted = list(_loaded(place.old))
    while wanted and len(found) < _MOST:
        word = wanted.pop()
        if word not in found and (made := _definition(reading, home, word, place.old)) is not None:
            found[word] = made
            wanted += _loaded((made,))
    kept = [each for each in found.values() if _untouched(home, each, [*found.values(), *place.old])]
    return sorted(kept, key=lambda each: each.lineno)


def _home(reading: FileText, node: ast.AST) -> ast.AST:
    return reading.index.nearest(node, *_FUNCTIONS) or reading.index.tree


def _loaded(nodes: tuple[ast.stmt, ...]) -> Iterator[str]:
    for node in nodes:
        yield from (each.id for each in ast.walk(node) if isinstance(each, ast.Name))


def _definition(reading: FileText, home: ast.AST, word: str, users: tuple[ast.stmt, ...]) -> ast.Assign | None:
    inside = {each for user in users for each in ast.walk(user)}
    made = [each for each in _bindings(home, word) if each not in inside]
    if len(made) != 1 or not isinstance(made[0], ast.Name):
        return None
    statement = reading.index.parents.get(made[0])
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or statement.lineno >= users[0].lineno:
        return None
    if _home(reading, statement) is not home or not _always_before(reading, statement, users[0]):
        return None
    return statement


def _bindings(home: ast.AST, word: str) -> Iterator[ast.AST]:
    for node in ast.walk(home):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) if name == word:
                yield node
            case ast.arg(arg=name) | ast.alias(asname=name) | ast.alias(name=name, asname=None) if name == word:
                yield node
            case ast.ExceptHandler(name=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name) if name == word:
                yield node
            case ast.Global(names=names) | ast.Nonlocal(names=names) if word in names:
                yield node


def _always_before(reading: FileText, one: ast.stmt, other: ast.stmt) -> bool:
    """Whether every way to the second statement leads through the first, and no loop leads back to it from between."""
    above = reading.index.parents[one]
    around = [other, *reading.index.ancestors(other)]
    if above not in around:
        return False
    holder = around[around.index(above) - 1]
    return holder in block_with(one, above) and not any(
        isinstance(each, _LOOPS) for each in around[: around.index(above)]
    )


def _untouched(home: ast.AST, made: ast.Assign, users: list[ast.stmt]) -> bool:
    """Whether nothing but its users speaks of an assigned name before the last of them."""
    (target,) = made.targets
    assert isinstance(target, ast.Name)
    inside = {each for user in users for each in ast.walk(user)}
    last = max(each.lineno for each in users)
    return not any(
        isinstance(each, ast.Name) and each.id == target.id and each not in inside and each.lineno <= last
        for each in ast.walk(home)
    )


# ---------------------------------------------------------------------- later uses
def exposed(place: FixSite, widest: ast.expr | None) -> int | None:
    """Return the row on which what the fix makes may be written, or handed to code that is not run; None for neither.

    ``widest`` is the expression that was cut out, None where whole statements were.
    """
    reading = place.before
    if widest is not None:
        return _flows(reading, widest)
    for statement in place.old:
        row = _flows(reading, statement.value) if isinstance(statement, ast.Return) and statement.value else None
        if row is not None:
            return row
        for target in statement.targets if isinstance(statement, ast.Assign) else ():
            row = _kept(reading, target, statement)
            if row is not None:
                return row
    return None


def _kept(reading: FileText, target: ast.expr, statement: ast.stmt) -> int | None:
    if isinstance(target, ast.Subscript):
        return None  # its elements were copied
    if not isinstance(target, ast.Name):
        return statement.lineno
    home = _home(reading, statement)
    for each in ast.walk(home):
        if isinstance(each, ast.Name) and each.id == target.id and each is not target:
            if isinstance(each.ctx, ast.Load) and (row := _flows(reading, each)) is not None:
                return row
            if isinstance(reading.index.parents.get(each), ast.AugAssign):
                return each.lineno
    return None


def _flows(reading: FileText, node: ast.expr) -> int | None:
    """Follow a value outward to where it is copied, written or handed on."""
    row = node.lineno
    below: ast.AST = node
    for above in reading.index.ancestors(node):
        match above:
            case ast.Attribute(attr=word):
                if word in _FRESH:
                    return None
                if word.endswith("_") and not word.startswith("__"):
                    return row
            case ast.Call(func=function) if function is not below:
                names = reading.value(function).names
                if not names or not all(map(allowed.callable_name, names)) or any(name.endswith("_") for name in names):
                    return row
                if any(name.startswith("builtins.") for name in names):
                    return None
            case ast.Call() | ast.keyword() | ast.Starred() | ast.IfExp():
                pass
            case ast.Subscript(ctx=ast.Store(), value=written) | ast.AugAssign(target=written) if written is below:
                return row
            case ast.Subscript():
                pass
            case ast.BinOp() | ast.Compare() | ast.UnaryOp() | ast.BoolOp() | ast.JoinedStr():
                return None
            case ast.Assign(targets=[ast.Subscript()]) | ast.Expr() | ast.Assert() | ast.AugAssign():
                return None
            case ast.If() | ast.While() | ast.For():
                return row if isinstance(above, ast.For) else None
            case _:
                return row
        below = above
    return row
