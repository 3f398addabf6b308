"""Whether an object is what calling a network gave: its output, or a part, a view or another tensor made of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

from torchlint.model import Confidence
from torchlint.rule import FileContext, Kind, last_word, operations, remembered
from torchlint.rules.data_use import FORM_ATTRIBUTES, FORM_METHODS, VIEW_ATTRIBUTES

_OUTPUT = Kind.TENSOR | Kind.SEQUENCE | Kind.OTHER
"""What inference says of the result of a call that reads as one of a network, and of nothing else."""
_HELD = VIEW_ATTRIBUTES | frozenset({"data", "grad", "is_leaf", "requires_grad"})
"""Attributes that tensors have beside those of their form."""
_OTHER_MEANING = re.compile(
    r"(generator|module|learner|policy|actor|detector|segmentor|head|encoder|decoder|embedder|transformer|layer\d*)$",
    re.IGNORECASE,
)
"""How the names end under which programs call other things than networks too."""
_DEEPEST = 4
"""Names are followed to what they are bound to this far."""


def network_output(receiver: ast.expr, context: FileContext) -> Confidence | None:
    """Say how sure it is that an expression comes from calling a network; None where nothing shows that."""
    if _is_asked_for_more(_root(receiver), context):
        return None
    calls = list(_sources(receiver, context, _DEEPEST))
    judged = [_called(each, context) if isinstance(each, ast.Call) else None for each in calls]
    sure = [each for each in judged if each is not None]
    return min(sure) if sure and len(sure) == len(judged) else None


def _sources(node: ast.expr, context: FileContext, depth: int) -> Iterator[ast.expr | None]:
    """Give what an expression is made of, by all ways that lead to it; None for a way that is not followed."""
    root = _root(node)
    if isinstance(root, ast.Call):
        yield root
        return
    scope = context.scope_that_binds(root) if isinstance(root, ast.Name) else None
    if not isinstance(root, ast.Name) or scope is None or depth == 0:
        yield None
        return
    for place in context.reaching(root):
        value = _bound_to(place, context) if isinstance(place, ast.Name) else None
        if value is None:
            yield None
        elif value is not place:
            yield from _sources(value, context, depth - 1)


def _root(node: ast.expr) -> ast.expr:
    """Give the object behind subscripts, views and methods of tensors: ``out`` of ``out[0].view(-1)``.

    Another attribute of an unknown output may be a record with a ``data`` of its own.
    """
    while True:
        match node:
            case ast.Subscript(value=inner, slice=index) if not isinstance(index, ast.Constant) or _is_number(index):
                node = inner
            case ast.Call(func=ast.Attribute(value=inner, attr=word)) if word in operations().methods:
                node = inner
            case ast.Attribute(value=inner, attr=word) if word in VIEW_ATTRIBUTES:
                node = inner
            case _:
                return node


def _is_number(index: ast.Constant) -> bool:
    return isinstance(index.value, int)


def _bound_to(place: ast.Name, context: FileContext) -> ast.expr | None:
    """Give what a name is assigned or unpacked from, and the name itself where it is only changed in place."""
    above = context.parent(place)
    while isinstance(above, ast.Tuple | ast.List):
        above = context.parent(above)
    match above:
        case ast.Assign(value=value) | ast.NamedExpr(value=value):
            return value
        case ast.AnnAssign(value=ast.expr() as value):
            return value
        case ast.AugAssign():
            return place
    return None


def _is_asked_for_more(node: ast.expr, context: FileContext) -> bool:
    """Whether the function around asks a name for something that no tensor has: ``world.shutdown()``."""
    if not isinstance(node, ast.Name):
        return False
    around = context.function_around(node) or context.tree
    return node.id in _asked_for_more(around, context)


@remembered
def _asked_for_more(around: ast.AST, context: FileContext) -> frozenset[str]:
    """Return the names that a function or module asks for something that no tensor has."""
    objects = (each.value for each in context.inside(around, ast.Attribute) if not is_tensor_word(each.attr))
    return frozenset(each.id for each in objects if isinstance(each, ast.Name))


def is_tensor_word(word: str) -> bool:
    """Whether tensors have an attribute or method, and records and containers hardly do."""
    return word in _tensor_words()


@cache
def _tensor_words() -> frozenset[str]:
    return (operations().methods | FORM_ATTRIBUTES | FORM_METHODS | _HELD) - {"values"}


def _called(call: ast.Call, context: FileContext) -> Confidence | None:
    """Say how sure it is that a call is one of a network: by what is called, or by its name.

    A name that means other things too must be given a tensor.
    """
    called, given = context.value(call.func), context.value(call)
    if not given.may(Kind.TENSOR) or given.instance:
        return None
    if called.must(Kind.MODULE):
        return Confidence.LIKELY if called.instance else Confidence.POSSIBLE
    if given.kind != _OUTPUT:
        return None
    doubtful = _OTHER_MEANING.search(last_word(call.func))
    return None if doubtful and not any(context.value(each).is_tensor for each in call.args) else Confidence.POSSIBLE
