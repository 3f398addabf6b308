"""Whether torch or Python took a value for one number before: what made a tensor's size is no sequence.

Measured on torch 2.13 and held by ``tests/test_accepted_sizes.py``: what ``torch.zeros(n, m)``, ``nn.Linear(n, m)`` and
``range(n)`` take is an integer, NumPy's too, or an integer array or tensor of one element. Of all these
``torch.Tensor(n)`` makes a tensor of that size, but for tensors, of which it gives an alias.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import islice

import libcst as cst

from torchlint.rules.api import FUNCTIONS, FileContext, Kind, earlier_in_block
from torchlint.rules.evidence.legacy_types import tensor_type
from torchlint.rules.evidence.local_bindings import names_of
from torchlint.rules.evidence.method_calls import call_of

_FACTORIES = frozenset(f"torch.{word}" for word in ("empty", "zeros", "ones", "rand", "randn"))
"""Functions that take a size as several numbers."""
_LAYERS = frozenset(
    f"torch.nn.{word}"
    for word in (
        "Linear Bilinear Embedding Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LSTM GRU RNN "
        "LSTMCell GRUCell RNNCell"
    ).split()
)
"""Modules whose first two arguments are one number each."""
_NUMBERS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv)
"""Arithmetic that gives an integer of integers, and of others none that is taken for a size."""
_CLOSED = (ast.Lambda, ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)
FLOATING_TYPES = frozenset({"float16", "float32", "float64", "bfloat16"})
_DRAWS_FLOATS = frozenset({"normal_", "uniform_", "exponential_", "cauchy_", "log_normal_"})
"""Methods that integer tensors refuse."""


def is_accepted_size(node: ast.expr, context: FileContext) -> bool:
    """Whether an expression is one integer wherever its place is reached, perhaps as an array or a tensor."""
    match node:
        case ast.IfExp(body=one, orelse=other):
            return is_accepted_size(one, context) and is_accepted_size(other, context)
        case ast.BinOp(left=left, op=operator, right=right) if isinstance(operator, _NUMBERS):
            return is_accepted_size(left, context) and is_accepted_size(right, context)
        case ast.Name():
            return _is_integer(node, context) or _was_taken(node, context)
    return _is_integer(node, context)


def _is_integer(node: ast.expr, context: FileContext) -> bool:
    known = context.value(node)
    return known.must(Kind.INTEGER) and not known.claimed


def refuses_integer_tensors(node: cst.Call, dtype: str | None, context: FileContext) -> bool:
    """Whether a legacy call, or what is done with its result at once, raises where it is given a tensor of integers."""
    if dtype in FLOATING_TYPES:
        return True
    match context.parent(node):
        case cst.Attribute(attr=cst.Name(value=word)) as method:
            return word in _DRAWS_FLOATS and call_of(method, context) is not None
        case cst.Arg(keyword=None, star="") as argument:
            made = context.parent(argument)
            if not isinstance(made, cst.Call) or len(made.args) != 1:
                return False
            return bool(found := context.names(made.func)) and found <= PARAMETERS
    return False


PARAMETERS = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})


_FARTHEST = 200
"""Expressions before a place that are looked at."""


def _was_taken(name: ast.Name, context: FileContext) -> bool:
    """Whether a name was taken for a number before, on every way to its place and without being rebound."""
    places = context.reaching(name)
    if context.function_around(name) is None or len(places) != 1:
        return False
    (place,) = places
    row = (place.lineno, place.col_offset)
    for before in islice(_before(name, context), _FARTHEST):
        for each in _numbers_taken(before, context):
            if each.id == name.id and (each.lineno, each.col_offset) > row and context.reaching(each) == places:
                return True
    return False


def _before(node: ast.AST, context: FileContext) -> Iterator[ast.expr]:
    """Yield what is evaluated in a function before a node on every way to it, outermost expressions only."""
    below: ast.AST = node
    for above in context.ancestors(node):
        if isinstance(below, ast.stmt):
            yield from _headed(above, below)
            for earlier in earlier_in_block(below, above):
                yield from _headed(earlier)
        if isinstance(above, (*FUNCTIONS, *_CLOSED, ast.ClassDef)):
            return
        below = above


def _headed(statement: ast.AST, inside: ast.AST | None = None) -> Iterator[ast.expr]:
    """Yield what a statement always evaluates, and before the statement that stands in it where there is one."""
    match statement:
        case ast.If(test=value) | ast.While(test=value) | ast.For(iter=value):
            yield value
        case ast.Assign(value=value) | ast.Expr(value=value) | ast.AugAssign(value=value) if inside is None:
            yield value
        case ast.AnnAssign(value=ast.expr() as value) if inside is None:
            yield value


def _numbers_taken(node: ast.expr, context: FileContext) -> Iterator[ast.Name]:
    """Yield the names that an expression's own calls take for numbers, whatever comes out of its tests."""
    match node:
        case ast.Call(args=arguments, keywords=keywords):
            if not any(isinstance(each, ast.Starred) for each in arguments):
                for each in _sizes(node, context):
                    if (name := _factor(each)) is not None:
                        yield name
            for part in (node.func, *arguments, *(each.value for each in keywords)):
                yield from _numbers_taken(part, context)
        case ast.IfExp(test=first) | ast.BoolOp(values=[first, *_]):
            yield from _numbers_taken(first, context)
        case _ if not isinstance(node, _CLOSED):
            for inner in ast.iter_child_nodes(node):
                if isinstance(inner, ast.expr):
                    yield from _numbers_taken(inner, context)


def _sizes(call: ast.Call, context: FileContext) -> Sequence[ast.expr]:
    """Return the arguments of a call that have to be one number each."""
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__")):
            return call.args[:2] if _bases(call, context) <= _LAYERS and _bases(call, context) else ()
    names = names_of(call.func, context)
    if names == {"builtins.range"}:
        return call.args
    if names and names <= _LAYERS:
        return call.args[:2]
    if len(call.args) >= 2 and names and (names <= _FACTORIES or tensor_type(names) is not None):
        return call.args
    return ()


def _bases(call: ast.Call, context: FileContext) -> frozenset[str]:
    """Return the base class of the class around a call, where it has one alone."""
    around = context.nearest(call, ast.ClassDef)
    if around is None or len(around.bases) != 1 or around.keywords:
        return frozenset()
    return names_of(around.bases[0], context)


def _factor(node: ast.expr) -> ast.Name | None:
    """Return the name of which arithmetic with literals makes one integer: it is one itself."""
    match node:
        case ast.Name():
            return node
        case (
            ast.BinOp(left=inner, op=operator, right=ast.Constant(value=int()))
            | ast.BinOp(left=ast.Constant(value=int()), op=operator, right=inner)
        ) if isinstance(operator, _NUMBERS):
            return _factor(inner)
    return None
