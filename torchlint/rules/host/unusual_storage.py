"""What makes a tensor one that NumPy has no array for: a dtype, or a layout or a view that is made in sight."""

from __future__ import annotations

import ast
from enum import Enum

from torchlint.rules.api import Device, FileContext, Kind, leaf, remembered
from torchlint.rules.local_bindings import values_of


class Storage(Enum):
    """How a tensor holds its numbers."""

    BFLOAT16 = "bfloat16"
    FLOAT8 = "float8"
    COMPLEX32 = "complex32"
    SPARSE = "sparse"
    QUANTISED = "quantised"
    CONJUGATE = "a conjugate view"


DTYPES = {Storage.BFLOAT16, Storage.FLOAT8, Storage.COMPLEX32}

_KEEPING = frozenset("detach detach_ cpu cuda requires_grad_ clone coalesce".split())
"""The methods that give a tensor held alike, but for a clone, which resolves a view (measured on torch 2.13)."""
_CONJUGATING = frozenset({"conj", "adjoint"})
_TO_SPARSE = frozenset("to_sparse to_sparse_coo to_sparse_csr to_sparse_csc to_sparse_bsr to_sparse_bsc".split())
_SPARSE = frozenset(f"torch.sparse_{word}_tensor" for word in ("coo", "csr", "csc", "bsr", "bsc", "compressed"))
_QUANTISING = frozenset({"torch.quantize_per_tensor", "torch.quantize_per_channel"})
_COMPLEX = frozenset(
    "torch.complex torch.polar torch.view_as_complex torch.fft.fft torch.fft.ifft torch.fft.fft2 torch.fft.ifft2 "
    "torch.fft.fftn torch.fft.ifftn torch.fft.rfft torch.fft.rfft2 torch.fft.rfftn torch.fft.ihfft".split()
)


@remembered
def shown_storage(node: ast.expr, context: FileContext) -> Storage | None:
    """Return how a tensor is held, by its dtype or where it is made; None for the usual, and for what is not known."""
    if context.value(node).exact == "bfloat16":
        return Storage.BFLOAT16
    node = _made(node, context)
    if not isinstance(node, ast.Call):
        return None
    names = context.names(node.func)
    if names and names <= _SPARSE:
        return Storage.SPARSE
    if names and names <= _QUANTISING:
        return Storage.QUANTISED
    if names == {"torch.conj"} and node.args:
        return _conjugated(node.args[0], context)
    if (told := _told_dtype(node, context)) is not None:
        return told
    match node.func:
        case ast.Attribute(value=inner, attr=word) if context.value(inner).is_tensor:
            return _of_method(node, inner, word, context)
    return None


def _made(node: ast.expr, context: FileContext) -> ast.expr:
    """Return what makes a tensor: the only thing that a name is bound to."""
    values = values_of(node, context) if isinstance(node, ast.Name) else []
    return values[0] if len(values) == 1 else node


def _of_method(node: ast.Call, inner: ast.expr, word: str, context: FileContext) -> Storage | None:
    if word in _CONJUGATING and not node.args:
        return _conjugated(inner, context)
    if word in _TO_SPARSE:
        return Storage.SPARSE
    before = shown_storage(inner, context) if word in _KEEPING else None
    if before is Storage.CONJUGATE and (word == "clone" or context.value(inner).device != Device.HOST):
        return None  # a copy, and so is what comes from another device
    return before


def _conjugated(inner: ast.expr, context: FileContext) -> Storage | None:
    """Return what a conjugate is held as: of a conjugate or of real numbers there is no view."""
    made = _made(inner, context)
    is_complex = isinstance(made, ast.Call) and bool(context.names(made.func) & _COMPLEX)
    return Storage.CONJUGATE if is_complex or context.value(inner).exact in ("complex64", "complex128") else None


def _told_dtype(node: ast.Call, context: FileContext) -> Storage | None:
    """Return the dtype that a call itself says its result has: ``.to(torch.float8_e4m3fn)``, ``dtype=``."""
    given = [*node.args, *(each.value for each in node.keywords if each.arg == "dtype")]
    words = {leaf(name) for each in given if context.value(each).must(Kind.DTYPE) for name in context.names(each)}
    if words == {"complex32"}:
        return Storage.COMPLEX32
    return Storage.FLOAT8 if words and all(each.startswith("float8") for each in words) else None
