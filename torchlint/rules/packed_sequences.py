"""Which names of a function hold packed sequences, whose ``data`` is a field that may require grad."""

from __future__ import annotations

import ast
from bisect import bisect_left

import libcst as cst

from torchlint.rule import FileContext, Value, remembered

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def is_packed(receiver: cst.BaseExpression, known: Value, context: FileContext) -> bool:
    """Whether an object is a packed sequence: made as one here, or what a layer gives for one."""
    if any("PackedSequence" in name for name in known.instance):
        return True
    place = context.python(receiver)
    if isinstance(place, ast.Name):
        around = next((each for each in context.ancestors(place) if isinstance(each, _FUNCTIONS)), None)
        rows, packed = _changes(context.tree if around is None else around, context)
        return place.id in packed[bisect_left(rows, place.lineno)]
    return isinstance(place, ast.Call) and _is_packing(place)


@remembered
def _changes(around: ast.AST, context: FileContext) -> tuple[list[int], list[frozenset[str]]]:
    """Give the rows after which other names hold packed sequences; the names above the first row, then from each on.

    A function is read from top to bottom.
    """
    rows: list[int] = []
    packed = [frozenset[str]()]
    for assignment in sorted(context.inside(around, ast.Assign), key=lambda node: node.lineno):
        names = {each.id for target in assignment.targets for each in _first(target)}
        before = packed[-1]
        after = before | names if _gives_packed(assignment.value, before) else before - names
        if after != before:
            rows.append(assignment.lineno)
            packed.append(after)
    return rows, packed


def _first(target: ast.expr) -> list[ast.Name]:
    """Give the name that a recurrent layer's output is bound to: ``output, hidden = layer(packed)``."""
    if isinstance(target, ast.Tuple) and target.elts:
        target = target.elts[0]
    return [target] if isinstance(target, ast.Name) else []


def _gives_packed(value: ast.expr, packed: frozenset[str]) -> bool:
    match value:
        case ast.Name(id=word):
            return word in packed
        case ast.Call(func=function, args=[first, *_]):
            if _is_packing(value):
                return True
            unpacks = ast.unparse(function).rpartition(".")[2].startswith(("pad", "unpack", "len"))
            return not unpacks and _gives_packed(first, packed)
    return False


def _is_packing(call: ast.Call) -> bool:
    name = ast.unparse(call.func)
    return name == "pack" or name.rpartition(".")[2].startswith(("pack_", "PackedSequence"))
