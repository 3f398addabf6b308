"""What a function asks of an expression: what only tensors have, in-place methods among it, or what none has."""

from __future__ import annotations

import ast
import re
from collections import defaultdict

from torchlint.rules.api import TENSOR_METHODS, FileContext, remembered
from torchlint.rules.repairs import call_of

REFORMING = frozenset(
    "as_strided_ set_ squeeze_ swapaxes_ swapdims_ t_ transpose_ unsqueeze_ resize_ resize_as_ resize_as_sparse_ "
    "sparse_resize_ sparse_resize_and_clear_".split()
)
"""Methods that change shape, strides or storage: on ``x.data`` they change the new object only, ``x`` keeps its own."""

CALLING_BACK = frozenset({"apply_", "map_", "map2_"})
"""Methods that call a function of Python for each element."""

REFUSED = CALLING_BACK | {"resize_", "resize_as_"}
"""Methods that torch refuses on a tensor that requires grad, also under ``no_grad``."""

NOT_WRITING = frozenset({"requires_grad_", "detach_", "share_memory_", "rename_", "retain_"})
"""Methods that end in an underscore and yet leave the elements alone: on ``.data`` they touch the new object only."""

_OTHERS = frozenset({"addbmm_", "addmv_", "baddbmm_", "float_power_", "index_reduce_"})
"""Methods that differ in one spelling, or were not measured."""
_IN_PLACE = frozenset(word for word in TENSOR_METHODS if word.endswith("_") and not word.startswith("_"))
ALIKE = _IN_PLACE - REFORMING - CALLING_BACK - NOT_WRITING - _OTHERS
"""The methods that do the same to ``x`` in both spellings; what they return differs for all of them."""

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
_CALLED_ON_TENSORS = ALIKE | TENSOR_ONLY

PARAMETER = re.compile(
    r"^(weight|bias|grad)$|_(weight|bias|grad)$|^(weight|bias)_(ih|hh|g|v|orig|hr)(_l\d.*)?$|^running_(mean|var)$"
)
"""Attributes that hold a tensor by torch's own naming: ``layer.weight``, ``p.grad``, ``lstm.weight_hh_l0``."""


def asked_as_tensor(place: ast.expr, context: FileContext) -> bool | None:
    """Whether the function around, or the class of ``self``, asks an expression of the same value what tensors have.

    False where it asks what no tensor has, or tells the class; None where it asks neither.
    """
    around: ast.AST = context.function_around(place) or context.tree
    if _dotted(place).startswith("self."):
        around = context.nearest(place, ast.ClassDef) or around
    answers = [told for each, told in _asked(around, context).get(_dotted(place), ()) if _is_same(place, each, context)]
    return all(answers) if answers else None


def _is_same(place: ast.expr, other: ast.expr, context: FileContext) -> bool:
    """Whether an expression of the same spelling may have the same value: a name is bound where the other one is."""
    if not isinstance(place, ast.Name) or not isinstance(other, ast.Name):
        return True
    bound, others = context.reaching(place), context.reaching(other)
    return not bound or any(each is one for each in bound for one in others)


@remembered
def _asked(around: ast.AST, context: FileContext) -> dict[str, list[tuple[ast.expr, bool]]]:
    """Return the expressions of a function that are asked for something by their code, and whether a tensor has it."""
    found: dict[str, list[tuple[ast.expr, bool]]] = defaultdict(list)
    for node in context.inside(around, ast.Attribute):
        is_data = isinstance(node.value, ast.Attribute) and node.value.attr == "data"
        owner = node.value.value if is_data and isinstance(node.value, ast.Attribute) else node.value
        call = call_of(node, context)
        is_measured = node.attr == "size" and call is not None and bool(call.args)
        is_called = call is not None and node.attr in _CALLED_ON_TENSORS
        is_of_tensors = is_called or (not is_data and (is_measured or node.attr in GRADED))
        if is_of_tensors or node.attr not in TENSOR_METHODS:
            found[_dotted(owner)].append((owner, is_of_tensors))
    for call in context.inside(around, ast.Call):
        match call:
            case ast.Call(func=ast.Name(id="isinstance"), args=[given, kinds]) if _tells_other(kinds):
                found[_dotted(given)].append((given, False))
    found.pop("", None)  # what has no name cannot be told from others
    return found


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
