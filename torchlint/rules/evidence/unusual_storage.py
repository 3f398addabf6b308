"""What makes a tensor one that NumPy has no array for: a dtype, a layout or a view, shown where it is made."""

from __future__ import annotations

import ast
from collections.abc import Callable
from enum import Enum

from torchlint.rules.api import Device, FileContext, Kind, leaf, remembered
from torchlint.rules.evidence.local_bindings import values_of


class Storage(Enum):
    """How a tensor holds its numbers."""

    BFLOAT16 = "bfloat16"
    FLOAT8 = "float8"
    COMPLEX32 = "complex32"
    SPARSE = "sparse"
    MKLDNN = "mkldnn"
    QUANTISED = "quantised"
    CONJUGATE = "a conjugate view"
    NEGATIVE = "a negative view"


DTYPES = {Storage.BFLOAT16, Storage.FLOAT8, Storage.COMPLEX32}
_VIEWS = {Storage.CONJUGATE, Storage.NEGATIVE}
_LAYOUTS = {Storage.SPARSE, Storage.MKLDNN, Storage.QUANTISED}

_KEPT_BY_ALL = frozenset("detach detach_ cpu cuda requires_grad_".split())
_RESHAPING = frozenset(
    "contiguous reshape squeeze unsqueeze flatten ravel transpose permute t swapaxes movedim view_as expand".split()
)
_KEPT: dict[Storage, frozenset[str]] = {
    **dict.fromkeys(DTYPES, _KEPT_BY_ALL | _RESHAPING | {"clone"}),
    **dict.fromkeys(_VIEWS, _KEPT_BY_ALL | _RESHAPING - {"expand"}),
    **dict.fromkeys(_LAYOUTS, _KEPT_BY_ALL | {"clone"}),
    Storage.SPARSE: _KEPT_BY_ALL | frozenset("clone coalesce t float double half bfloat16".split()),
}
"""The methods that give a tensor held alike (measured on torch 2.13)."""
_COMPUTED = frozenset(
    "relu relu_ sigmoid tanh abs neg clamp clamp_ clip mean sqrt rsqrt square round floor ceil mul div add sub add_ "
    "sub_ mul_ div_ amax amin tile repeat repeat_interleave roll flip gather index_select masked_fill tril triu".split()
)
"""The methods and functions that give bfloat16 of bfloat16 and of numbers, under autocast, too."""
_LIKE = frozenset(f"torch.{each}_like" for each in "zeros ones empty full rand randn".split())
_JOINED = frozenset({"torch.stack", "torch.cat", "torch.concat", "torch.vstack", "torch.hstack"})
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_ATTRIBUTES = frozenset({"T", "mT"})
_CONJUGATING = frozenset({"conj", "adjoint"})
_CONJUGATE = frozenset({"H", "mH"})
_TO_SPARSE = frozenset("to_sparse to_sparse_coo to_sparse_csr to_sparse_csc to_sparse_bsr to_sparse_bsc".split())
_SPARSE = frozenset(f"torch.sparse_{word}_tensor" for word in ("coo", "csr", "csc", "bsr", "bsc", "compressed"))
_QUANTISING = frozenset({"torch.quantize_per_tensor", "torch.quantize_per_channel"})
_COMPLEX = frozenset(
    "torch.complex torch.polar torch.view_as_complex torch.fft.fft torch.fft.ifft torch.fft.fft2 torch.fft.ifft2 "
    "torch.fft.fftn torch.fft.ifftn torch.fft.rfft torch.fft.rfft2 torch.fft.rfftn torch.fft.ihfft".split()
)
_DEEPEST = 20
"""A way back that has more steps is not followed."""
_MOST = 8
"""Nor is a name that is bound more often: each use of it would ask for all of them."""


def of_dtype(exact: str | None) -> Storage | None:
    """Return what an exact dtype means for NumPy; None where it has the dtype too."""
    if exact is None:
        return None
    if exact.startswith("float8"):
        return Storage.FLOAT8
    return next((each for each in DTYPES if each.value == exact), None)


@remembered
def shown_storage(node: ast.expr, context: FileContext) -> Storage | None:
    """Return how a tensor is held, where the text around shows it; None for the usual, and for what is not known."""
    return _storage(node, context, 0)


def _storage(node: ast.expr, context: FileContext, depth: int) -> Storage | None:
    if depth > _DEEPEST:
        return None
    match node:
        case ast.Name():
            return _of_name(node, context, lambda value: _storage(value, context, depth + 1))
        case ast.Attribute(value=inner, attr=word) if word in _CONJUGATE and _is_complex(inner, context, depth + 1):
            return None if _storage(inner, context, depth + 1) else Storage.CONJUGATE
        case ast.Attribute(value=inner, attr="imag"):
            return Storage.NEGATIVE if _storage(inner, context, depth + 1) is Storage.CONJUGATE else None
        case ast.Attribute(value=inner, attr=word) if word in _ATTRIBUTES:
            return _unless(_storage(inner, context, depth + 1), _LAYOUTS)
        case ast.Subscript(value=inner):
            return _unless(_storage(inner, context, depth + 1), _LAYOUTS) if context.value(inner).is_tensor else None
        case ast.Call():
            return _of_call(node, context, depth)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return _if_computed(_storage(inner, context, depth + 1))
        case ast.BinOp(op=operator, left=left, right=right) if isinstance(operator, _ARITHMETIC):
            return _of_several([left, right], context, depth)
    return None


def _if_computed(found: Storage | None) -> Storage | None:
    """Return how a result is held: of the dtypes that NumPy lacks, torch computes with bfloat16 as with any."""
    return found if found is Storage.BFLOAT16 else None


def _of_several(parts: list[ast.expr], context: FileContext, depth: int) -> Storage | None:
    """Return how the result of several operands is held: numbers take no part, a tensor of another dtype does."""
    tensors = [each for each in parts if not _is_number(each, context)]
    found = {_storage(each, context, depth + 1) for each in tensors}
    return _if_computed(found.pop()) if len(found) == 1 else None


def _is_number(node: ast.expr, context: FileContext) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float)
    return context.value(node).must(Kind.INTEGER)


def _of_name(name: ast.Name, context: FileContext, ask: Callable[[ast.expr], Storage | None]) -> Storage | None:
    """Return what is true of all that a name may stand for."""
    values = values_of(name, context) if len(_places(name, context)) <= _MOST else []
    found = {ask(each) for each in values}
    return found.pop() if len(found) == 1 else None


def _places(name: ast.Name, context: FileContext) -> list[ast.Name]:
    scope = context.scope_that_binds(name)
    return context.stores(scope).get(name.id, []) if scope is not None else []


def _unless(found: Storage | None, excluded: set[Storage]) -> Storage | None:
    return None if found in excluded else found


def _of_call(node: ast.Call, context: FileContext, depth: int) -> Storage | None:
    names = context.names(node.func)
    if names and names <= _SPARSE:
        return Storage.SPARSE
    if names and names <= _QUANTISING:
        return Storage.QUANTISED
    if names == {"torch.conj"} and node.args:
        return _conjugated(node.args[0], context, depth)
    if names and (found := _of_function(node, names, context, depth)) is not None:
        return found
    if context.value(node).is_tensor and (made := _told_dtype(node, context)) is not None:
        return made
    match node.func:
        case ast.Attribute(value=inner, attr=word) if not names or context.value(inner).is_tensor:
            return _of_method(node, inner, word, context, depth)
    return None


def _of_function(node: ast.Call, names: frozenset[str], context: FileContext, depth: int) -> Storage | None:
    """Return how what a function of torch makes of tensors is held."""
    if not node.args or any(each.arg in ("dtype", "out", None) for each in node.keywords):
        return None
    first = node.args[0]
    if names <= _LIKE:
        return _if_computed(_storage(first, context, depth + 1))
    if names <= _JOINED:
        return _of_several(first.elts, context, depth) if isinstance(first, ast.List | ast.Tuple) else None
    if all(each.startswith("torch.") and leaf(each) in _COMPUTED for each in names):
        return _of_several([*node.args[:2]], context, depth)
    return None


def _of_method(node: ast.Call, inner: ast.expr, word: str, context: FileContext, depth: int) -> Storage | None:
    if not context.value(inner).is_tensor:
        return None
    if word in _CONJUGATING and not node.args:
        return _conjugated(inner, context, depth)
    if word in _TO_SPARSE:
        return Storage.SPARSE
    if word == "to_mkldnn":
        return Storage.MKLDNN
    before = _storage(inner, context, depth + 1)
    if before is None:
        return None
    if word in _COMPUTED and not any(each.arg in ("dtype", "out", None) for each in node.keywords):
        return _of_several([inner, *node.args[:1]], context, depth)
    if word in ("cpu", "cuda", "to") and before in _VIEWS and context.value(inner).device != Device.HOST:
        return None  # a copy from one device to another is no view
    kept = word in _KEPT[before] or (word == "to" and (before is Storage.SPARSE or _moves_alone(node, context)))
    return before if kept else None


def _conjugated(inner: ast.expr, context: FileContext, depth: int) -> Storage | None:
    """Return what a conjugate is held as: of a conjugate or of real numbers there is no view."""
    if _storage(inner, context, depth + 1) is not None or not _is_complex(inner, context, depth + 1):
        return None
    return Storage.CONJUGATE


def _is_complex(node: ast.expr, context: FileContext, depth: int) -> bool:
    if depth > _DEEPEST:
        return False
    value = context.value(node)
    if value.is_tensor and value.exact in ("complex64", "complex128"):
        return True
    match node:
        case ast.Name():
            values = values_of(node, context) if len(_places(node, context)) <= _MOST else []
            return bool(values) and all(_is_complex(each, context, depth + 1) for each in values)
        case ast.Call(func=function):
            names = context.names(function)
            return bool(names) and names <= _COMPLEX
        case ast.Subscript(value=inner):
            return _is_complex(inner, context, depth + 1)
    return False


def _told_dtype(node: ast.Call, context: FileContext) -> Storage | None:
    """Return the dtype that a call itself says its result has: ``.bfloat16()``, ``.to(torch.bfloat16)``, ``dtype=``."""
    if isinstance(node.func, ast.Attribute) and node.func.attr == "bfloat16":
        return Storage.BFLOAT16
    given = [*node.args, *(each.value for each in node.keywords if each.arg == "dtype")]
    dtypes = [each for each in given if context.value(each).must(Kind.DTYPE)]
    found = {of_dtype(leaf(name)) for each in dtypes for name in context.names(each)}
    return found.pop() if len(found) == 1 else None


def _moves_alone(node: ast.Call, context: FileContext) -> bool:
    """Whether what ``.to`` is given is a device, so that the dtype stays."""
    given = [*node.args, *(each.value for each in node.keywords if each.arg not in ("non_blocking", "copy"))]
    return all(context.value(each).must(Kind.DEVICE | Kind.STRING) for each in given)
