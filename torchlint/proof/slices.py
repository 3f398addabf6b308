"""What lies around the changed statements: the assignments that they rest on, and the later uses of what they make."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.proof import allowed
from torchlint.proof.placing import Place
from torchlint.proof.reading import Reading

_MOST = 8
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FRESH = frozenset(
    "item tolist clone sum mean std var norm sign sqrt abs exp log max min any all size dim numel argmax argmin long "
    "float double half int nonzero eq ne lt gt le ge add sub mul div matmul mm shape dtype device ndim".split()
)
"""Methods and attributes whose result lies in memory of its own or is no tensor."""


def assignments(place: Place) -> list[ast.stmt]:
    """Give the assignments before the changed statements that give their names a value, in order.

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


def _home(reading: Reading, node: ast.AST) -> ast.AST:
    return next(
        (each for each in reading.outline.ancestors(node) if isinstance(each, _FUNCTIONS)), reading.outline.tree
    )


def _loaded(nodes: tuple[ast.stmt, ...]) -> Iterator[str]:
    for node in nodes:
        yield from (each.id for each in ast.walk(node) if isinstance(each, ast.Name))


def _definition(reading: Reading, home: ast.AST, word: str, users: tuple[ast.stmt, ...]) -> ast.Assign | None:
    inside = {each for user in users for each in ast.walk(user)}
    made = [each for each in _bindings(home, word) if each not in inside]
    if len(made) != 1 or not isinstance(made[0], ast.Name):
        return None
    statement = reading.outline.parents.get(made[0])
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


def _always_before(reading: Reading, one: ast.stmt, other: ast.stmt) -> bool:
    """Whether every way to the second statement leads through the first, and no loop leads back to it from between."""
    above = reading.outline.parents[one]
    around = [other, *reading.outline.ancestors(other)]
    if above not in around:
        return False
    holder = around[around.index(above) - 1]
    block = next((b for b in (getattr(above, name, []) for name in ("body", "orelse", "finalbody")) if one in b), [])
    return holder in block and not any(isinstance(each, _LOOPS) for each in around[: around.index(above)])


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
def exposed(place: Place, widest: ast.expr | None) -> int | None:
    """Give the row on which what the fix makes may be written, or handed to code that is not run; None for neither.

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


def _kept(reading: Reading, target: ast.expr, statement: ast.stmt) -> int | None:
    if isinstance(target, ast.Subscript):
        return None  # its elements were copied
    if not isinstance(target, ast.Name):
        return statement.lineno
    home = _home(reading, statement)
    for each in ast.walk(home):
        if isinstance(each, ast.Name) and each.id == target.id and each is not target:
            if isinstance(each.ctx, ast.Load) and (row := _flows(reading, each)) is not None:
                return row
            if isinstance(reading.outline.parents.get(each), ast.AugAssign):
                return each.lineno
    return None


def _flows(reading: Reading, node: ast.expr) -> int | None:
    """Follow a value outward to where it is copied, written or handed on."""
    row = node.lineno
    below: ast.AST = node
    for above in reading.outline.ancestors(node):
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
