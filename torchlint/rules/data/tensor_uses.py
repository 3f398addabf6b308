"""What a function asks of an expression: what only tensors have, in-place methods among it, or what none has."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from dataclasses import dataclass

from torchlint.rules.api import TENSOR_METHODS, FileContext, remembered
from torchlint.rules.repairs import call_of

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
    detach backward unsqueeze unsqueeze_ data_ptr is_contiguous contiguous detach_ new new_zeros new_ones new_tensor
    new_empty new_full type_as scatter scatter_ scatter_add_ index_select masked_fill masked_fill_ masked_select narrow
    addmm bmm baddbmm expand_as view_as topk logsumexp log_softmax permute numel nelement softmax cuda cpu unbind mm
    mv t
    """.split()
)
"""Methods that little else than a tensor has."""

PARAMETER = re.compile(
    r"^(weight|bias|grad)$|_(weight|bias|grad)$|^(weight|bias)_(ih|hh|g|v|orig|hr)(_l\d.*)?$|^running_(mean|var)$"
)
"""Attributes that hold a tensor by torch's own naming: ``layer.weight``, ``p.grad``, ``lstm.weight_hh_l0``."""

_FORM = frozenset("shape dtype device is_cuda ndim layout is_sparse T mT H mH real imag data grad is_leaf".split())
_OF_TENSORS = TENSOR_METHODS | _FORM | GRADED - {"values"}
"""Attributes and methods that tensors have."""


@dataclass(frozen=True, slots=True)
class Questions:
    """The expressions of a function that are asked for something, by their code."""

    beyond_doubt: dict[str, list[ast.expr]]
    """They have a gradient, are written in place, themselves or their `data`, or measured by ``x.size(0)``."""
    by_method: dict[str, list[ast.expr]]
    """They, or their `data`, have a method called that little else than a tensor has; a record may hold a tensor."""
    differentiated: dict[str, list[ast.expr]]
    """They have `backward` called, which only a tensor of one element answers."""
    of_others: dict[str, list[ast.expr]]
    """They are asked for what no tensor has, or told from one by their class."""


def asks(kind: str, place: ast.expr, context: FileContext) -> bool:
    """Whether the function around, or the class of ``self``, asks an expression such a question, of the same value."""
    code = _dotted(place)
    around: ast.AST = context.function_around(place) or context.tree
    if code.startswith("self."):
        around = context.nearest(place, ast.ClassDef) or around
    found: list[ast.expr] = getattr(_questions(around, context), kind).get(code, [])
    if not found or not isinstance(place, ast.Name):
        return bool(found)
    bound = {id(each) for each in context.reaching(place)}
    others = (each for name in found if isinstance(name, ast.Name) for each in context.reaching(name))
    return not bound or any(id(each) in bound for each in others)


@remembered
def _questions(around: ast.AST, context: FileContext) -> Questions:
    found: dict[str, dict[str, list[ast.expr]]] = defaultdict(dict)
    for node in context.inside(around, ast.Attribute):
        is_data = isinstance(node.value, ast.Attribute) and node.value.attr == "data"
        owner = node.value.value if is_data and isinstance(node.value, ast.Attribute) else node.value
        kind = _kind_of(node, is_data, context)
        for each in (kind, "differentiated" if node.attr == "backward" else ""):
            if each and (code := _dotted(owner)):
                found[each].setdefault(code, []).append(owner)
    for call in context.inside(around, ast.Call):
        match call:
            case ast.Call(func=ast.Name(id="isinstance"), args=[given, kinds]) if _tells_other(kinds):
                found["of_others"].setdefault(_dotted(given), []).append(given)
    return Questions(*(found[each] for each in ("beyond_doubt", "by_method", "differentiated", "of_others")))


def _kind_of(node: ast.Attribute, is_data: bool, context: FileContext) -> str:
    call = call_of(node, context)
    is_called = call is not None
    is_measured = node.attr == "size" and call is not None and bool(call.args)
    if (node.attr in ALIKE and is_called) or (not is_data and (node.attr in GRADED or is_measured)):
        return "beyond_doubt"
    if node.attr in TENSOR_ONLY and is_called:
        return "by_method"
    return "of_others" if node.attr not in _OF_TENSORS else ""


_PLAIN = re.compile(r"Tensor|Variable|Parameter\b|^(int|float|bool|list|tuple|dict|str|ndarray)$")


def _tells_other(kinds: ast.expr) -> bool:
    """Whether a test names a class that is neither a tensor's nor one without `data`."""
    names = [each for each in ast.walk(kinds) if isinstance(each, ast.Name | ast.Attribute)]
    return not any(_PLAIN.search(each.id if isinstance(each, ast.Name) else each.attr) for each in names)


def _dotted(node: ast.expr) -> str:
    """Return a name, a dotted name or an element of one as it is spelled; nothing for other expressions."""
    match node:
        case ast.Name(id=word):
            return word
        case ast.Attribute(value=inner) | ast.Subscript(value=inner) if _dotted(inner):
            return ast.unparse(node)
    return ""
