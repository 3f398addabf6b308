"""What a function does with a name that only tensors put up with, in-place methods among it."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import libcst as cst

from torchlint.rules.api import (
    TENSOR_MAKERS,
    TORCH_FUNCTIONS,
    FileContext,
    children,
    leaf,
    parameters,
    remembered,
    root_of_place,
    word_of,
)

ALIKE = frozenset(
    "abs_ absolute_ acos_ acosh_ add_ addcdiv_ addcmul_ addmm_ addr_ arccos_ arccosh_ arcsin_ arcsinh_ arctan2_ "
    "arctan_ arctanh_ asin_ asinh_ atan2_ atan_ atanh_ bernoulli_ bitwise_and_ bitwise_left_shift_ bitwise_not_ "
    "bitwise_or_ bitwise_right_shift_ bitwise_xor_ cauchy_ ceil_ clamp_ clamp_max_ clamp_min_ clip_ conj_physical_ "
    "copy_ copysign_ cos_ cosh_ cumprod_ cumsum_ deg2rad_ digamma_ div_ divide_ eq_ erf_ erfc_ erfinv_ exp2_ exp_ "
    "expm1_ exponential_ fill_ fill_diagonal_ fix_ floor_ floor_divide_ fmod_ frac_ gcd_ ge_ geometric_ greater_ "
    "greater_equal_ gt_ heaviside_ hypot_ i0_ igamma_ igammac_ index_add_ index_copy_ index_fill_ index_put_ lcm_ "
    "ldexp_ le_ lerp_ less_ less_equal_ lgamma_ log10_ log1p_ log2_ log_ log_normal_ logical_and_ logical_not_ "
    "logical_or_ logical_xor_ logit_ lt_ masked_fill_ masked_scatter_ mul_ multiply_ mvlgamma_ nan_to_num_ ne_ neg_ "
    "negative_ nextafter_ normal_ not_equal_ polygamma_ pow_ put_ rad2deg_ random_ reciprocal_ relu_ remainder_ "
    "renorm_ round_ rsqrt_ scatter_ scatter_add_ scatter_reduce_ sgn_ sigmoid_ sign_ sin_ sinc_ sinh_ sqrt_ square_ "
    "sub_ subtract_ tan_ tanh_ tril_ triu_ true_divide_ trunc_ uniform_ xlogy_ zero_".split()
)
"""The methods that do the same to ``x`` in both spellings; what they return differs for all of them."""

REFORMING = frozenset(
    "as_strided_ set_ squeeze_ swapaxes_ swapdims_ t_ transpose_ unsqueeze_ resize_ resize_as_ resize_as_sparse_ "
    "sparse_resize_ sparse_resize_and_clear_".split()
)
"""Methods that change shape, strides or storage: on ``x.data`` they change the new object only, ``x`` keeps its own."""

RESIZING = frozenset({"resize_", "resize_as_"})
"""Of these, the ones that torch refuses on a tensor that requires grad."""

CALLING_BACK = frozenset({"apply_", "map_", "map2_"})
"""Methods that torch refuses on a tensor that requires grad, also under ``no_grad``."""


GRADED = frozenset({"grad", "requires_grad", "requires_grad_", "backward", "retain_grad", "grad_fn", "volatile"})
"""Attributes and methods that only tensors have: the name that is asked for one is a tensor."""

TENSOR_ONLY = frozenset(
    """
    detach requires_grad_ backward unsqueeze unsqueeze_ data_ptr is_contiguous contiguous retain_grad detach_ new_zeros
    new_ones new_tensor new_empty new_full type_as scatter scatter_ scatter_add_ index_select masked_fill masked_fill_
    masked_select narrow addmm bmm baddbmm normal_ uniform_ fill_ zero_ copy_ add_ sub_ mul_ div_ clamp_ addcmul_
    addcdiv_ expand_as view_as topk logsumexp log_softmax sigmoid_ tanh_ permute numel nelement squeeze_ bernoulli_
    random_ exponential_ softmax is_cuda cuda unbind mm log_ exp_ sqrt_ pow_ transpose_ resize_ resize_as_ index_fill_
    index_add_ index_copy_ lerp_ floor_ ceil_ round_ trunc_ sign_ abs_ neg_ relu_ t_ addr_ cauchy_ log_normal_
    geometric_ renorm_ tril_ triu_
    """.split()
)
"""Methods that little else than a tensor has."""

MAKERS = frozenset({"new", "new_zeros", "new_ones", "new_empty", "new_full", "new_tensor"})
"""Methods that make a tensor like another one."""

PARAMETER = re.compile(
    r"^(weight|bias|grad)$|_(weight|bias|grad)$|^(weight|bias)_(ih|hh|g|v|orig|hr)(_l\d.*)?$|^running_(mean|var)$"
)
"""Attributes that hold a tensor by torch's own naming: ``layer.weight``, ``p.grad``, ``lstm.weight_hh_l0``."""

_TAKES_ANYTHING = frozenset(
    "tensor as_tensor asarray from_numpy frombuffer scalar_tensor stack cat concat concatenate hstack vstack dstack "
    "column_stack row_stack block_diag is_tensor is_storage load save compile result_type can_cast einsum "
    "cartesian_prod combinations meshgrid broadcast_tensors atleast_1d atleast_2d atleast_3d where lstm gru fork wait "
    "normal cond fftfreq rfftfreq".split()
)
"""Functions of torch whose first argument may be an array, a list or anything else."""

_WRAPPERS = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch.autograd.Variable"})
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_RECEIVERS = (ast.Name, ast.Attribute, ast.Subscript)


@dataclass(frozen=True, slots=True)
class TensorUses:
    """What one function, or a module outside its functions, uses as tensors; the keys are the code of expressions."""

    beyond_doubt: dict[str, int]
    """What has a gradient, is written in place, is measured by ``x.size(0)`` or given to a function of torch, and the
    first row on which it is."""
    by_method: dict[str, int]
    """What has a method called that little else than a tensor has, and the first row on which it has."""
    fields: frozenset[str]
    """What has a ``data`` that is used as a tensor: most likely a tensor too, or else a record of one."""
    unwrapped: dict[str, int]
    """Names that are bound to their own ``data``, and the row: what comes later speaks of another object."""

    def speak_for(self, code: str, records: bool) -> bool:
        """Whether an expression is used as a tensor; ``records`` where objects with tensors as ``data`` are about."""
        until = self.unwrapped.get(code)
        found = [self.beyond_doubt] if records else [self.beyond_doubt, self.by_method]
        if any(code in each and (until is None or each[code] <= until) for each in found):
            return True
        return not records and code in self.fields


def is_used(node: cst.BaseExpression, context: FileContext, records: bool) -> bool:
    """Whether the function around uses an expression as a tensor; ``records`` as in :meth:`TensorUses.speak_for`."""
    place = context.python(node)
    if not isinstance(place, _RECEIVERS):
        return False
    uses = uses_around(place, context)
    return uses is not None and uses.speak_for(ast.unparse(place), records)


def uses_around(place: ast.expr, context: FileContext) -> TensorUses | None:
    """Return what the function around an expression, or else the module, uses as tensors.

    None where nothing is known.
    """
    word = word_of(root_of_place(place))
    for above in context.ancestors(place):
        if isinstance(above, _SCOPES) or (isinstance(above, ast.Lambda) and word in parameters(above)):
            return _uses(above, context)
    return _uses(context.tree, context)


@remembered
def _uses(around: ast.AST, context: FileContext) -> TensorUses:
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for what, value in _all_evidence(around, context):
        code = ast.unparse(value)
        found[what][code] = min(value.lineno, found[what].get(code, value.lineno))
    return TensorUses(
        found["beyond doubt"],
        found["by method"],
        frozenset(found["field"]),
        found["unwrapped"],
    )


def _all_evidence(around: ast.AST, context: FileContext) -> Iterator[tuple[str, ast.expr]]:
    """Yield the evidence in a scope: with that of the functions in it, but for their own parameters.

    A module or class shares no names with its functions.
    """
    closed = isinstance(around, ast.Module | ast.ClassDef)
    stack = children(around)
    while stack:
        node = stack.pop()
        if isinstance(node, _SCOPES if closed else ast.ClassDef):
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            own = parameters(node)
            yield from (each for each in _all_evidence(node, context) if word_of(root_of_place(each[1])) not in own)
            continue
        yield from (each for each in _evidence(node, context) if isinstance(each[1], _RECEIVERS))
        stack += children(node)


def _evidence(node: ast.AST, context: FileContext) -> Iterator[tuple[str, ast.expr]]:
    """Yield each expression for which a node speaks, and how."""
    match node:
        case ast.Attribute(value=value, attr=word) if word in GRADED or word in ALIKE:
            yield "beyond doubt", _without_data(value) if word in ALIKE else value
        case ast.Call(func=ast.Attribute(value=value, attr="size"), args=[ast.Constant(value=int()) | ast.UnaryOp()]):
            yield "field" if _is_data(value) else "beyond doubt", _without_data(value)
        case ast.Call(func=ast.Attribute(value=value, attr=word)) if word in TENSOR_ONLY or word in MAKERS:
            yield "field" if _is_data(value) else "by method", _without_data(value)
        case ast.Assign(targets=[ast.Name() as target], value=value) if _is_data(value):
            if ast.unparse(_without_data(value)) == target.id:
                yield "unwrapped", target
        case ast.Assign(targets=[ast.Name() as target], value=value) if _is_parameter(value):
            yield "by method", target
    if isinstance(node, ast.Call) and (given := _asked_for(node, context)) is not None:
        yield "field" if _is_data(given) else "beyond doubt", _without_data(given)
    match node:
        case ast.Call(func=ast.Attribute(value=written, attr="copy_"), args=[ast.Attribute(attr="data") as given, *_]):
            if _is_data(written):  # `p.data.copy_(q.data)`: what is written is a tensor, and so is what is read alike
                yield "beyond doubt", given.value


def _asked_for(call: ast.Call, context: FileContext) -> ast.expr | None:
    """Return the argument of a call that must be a tensor, or none."""
    match call:
        case ast.Call(func=ast.Attribute(attr="register_buffer"), args=[_, given, *_]):
            return given
        case ast.Call(func=function, args=[given, *_]) if asks_for_a_tensor(function, context):
            return given
    return None


def _is_parameter(value: ast.expr) -> bool:
    """Whether an expression takes a parameter from a layer: ``layer.weight``, ``getattr(layer, "weight")``."""
    match value:
        case ast.Attribute(attr=word):
            return bool(PARAMETER.search(word))
        case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(word)), *_]):
            return bool(PARAMETER.search(word))
    return False


def _without_data(value: ast.expr) -> ast.expr:
    return value.value if isinstance(value, ast.Attribute) and value.attr == "data" else value


def _is_data(value: ast.expr) -> bool:
    return isinstance(value, ast.Attribute) and value.attr == "data"


def asks_for_a_tensor(function: ast.expr, context: FileContext) -> bool:
    """Whether a function is one of torch's that takes nothing but a tensor as its first argument."""
    match function:
        case ast.Attribute(attr=word) | ast.Name(id=word) if word in _taking_tensors():
            names = context.value(function).names
            return bool(names) and names <= TORCH_FUNCTIONS | _WRAPPERS
    return False


@cache
def _taking_tensors() -> frozenset[str]:
    """Return the last words of torch's functions that take nothing but a tensor as their first argument."""
    makers = {name for name in TENSOR_MAKERS if not name.endswith("_like")}
    return frozenset(leaf(name) for name in TORCH_FUNCTIONS - makers) - _TAKES_ANYTHING | {"Parameter", "Variable"}
