"""Whether an expression makes a tensor object that nothing else refers to."""

from __future__ import annotations

import ast

from torchlint.rules.api import FileContext, Kind, Value
from torchlint.rules.local_bindings import are_of_torch

COMPUTING_ANEW = frozenset(
    "sum mean prod std var norm exp log sqrt rsqrt square reciprocal abs sign neg sin cos round floor ceil trunc clamp "
    "pow add sub mul div fmod remainder lerp maximum minimum matmul mm bmm mv dot outer addmm cross cumsum cumprod "
    "eq ne gt ge lt le argmax argmin sigmoid tanh softmax log_softmax tril triu diag flip roll gather index_select "
    "masked_fill masked_select clone".split()
)
"""Methods, also functions of ``torch``, whose result is a new object and no view: measured on torch 2.13."""

_NEW_METHODS = COMPUTING_ANEW | frozenset("detach new new_tensor new_empty new_full new_ones new_zeros repeat".split())
"""Methods whose result is a new object and no view."""

SAME_OR_NEW_METHODS = frozenset(
    "cuda cpu to float double half bfloat16 long int short char byte bool type type_as contiguous pin_memory".split()
)
"""Methods whose result is the receiver itself or a new object, never a view."""

_NEW_FUNCTIONS = COMPUTING_ANEW | frozenset(
    "arange empty empty_like eye full full_like linspace logspace ones ones_like rand rand_like randn randn_like "
    "randint randint_like randperm zeros zeros_like tensor from_numpy normal bernoulli multinomial poisson cat "
    "stack Variable".split()
)
"""Functions of ``torch`` whose result is a new object and no view."""

_TAKING_OVER = frozenset({"as_tensor", "asarray"})
"""Functions that make a new object of all that is no tensor, over an array's memory."""

_COPIED = Kind.ARRAY | Kind.SEQUENCE | Kind.INTEGER | Kind.SCALAR
INTEGRAL = frozenset(f"{kind}Tensor" for kind in ("Long", "Int", "Short", "Char", "Byte", "Bool"))


def held_alone(node: ast.expr, context: FileContext) -> bool:
    """Whether an expression makes a tensor object that nothing else refers to, and that is no view."""
    match node:
        case ast.Attribute(value=receiver, attr="data"):
            return _value(receiver, context).is_tensor
        case ast.Call(func=function):
            return _call_makes_new(node, function, context)
        case ast.BinOp() | ast.Compare() | ast.UnaryOp(op=ast.USub() | ast.Invert()):
            return _value(node, context).is_tensor
    return False


def _call_makes_new(call: ast.Call, function: ast.expr, context: FileContext) -> bool:
    names = _value(function, context).names
    if are_of_torch(names):
        return all(_is_maker(name, call, context) for name in names)
    if not isinstance(function, ast.Attribute) or not _value(function.value, context).is_tensor:
        return False
    if function.attr in SAME_OR_NEW_METHODS or (function.attr.endswith("_") and not function.attr.startswith("_")):
        return held_alone(function.value, context)
    if function.attr == "new" and len(call.args) == 1:
        return False
    return function.attr in _NEW_METHODS


def _is_maker(name: str, call: ast.Call, context: FileContext) -> bool:
    owner, _, word = name.rpartition(".")
    if any(each.arg in (None, "out") for each in call.keywords):  # **options may say requires_grad=True
        return False
    if owner in ("torch", "torch.cuda") and word.endswith("Tensor"):
        # of a tensor a legacy constructor makes a view, with its graph; integers can have none, and two are sizes
        given = [each for each in call.args if not isinstance(each, ast.Starred)]
        return word in INTEGRAL or len(given) > 1 or not any(_value(each, context).may(Kind.TENSOR) for each in given)
    if owner == "torch" and word in _TAKING_OVER:
        return bool(call.args) and _value(call.args[0], context).must(_COPIED)
    return owner in ("torch", "torch.autograd") and word in _NEW_FUNCTIONS


def _value(node: ast.expr, context: FileContext) -> Value:
    return context.value(node)
