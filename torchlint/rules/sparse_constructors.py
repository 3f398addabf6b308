"""Legacy constructors of sparse tensors, ``torch.sparse.FloatTensor(i, v, size)``, and their repair."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from torchlint.model import Applicability, Confidence, Fix
from torchlint.rule import Draft, FileContext, Kind
from torchlint.rules.modern_constructors import in_fstring
from torchlint.rules.spelling import Spelled, torch_name
from torchlint.rules.tensor_types import DTYPES, name_node, type_aliases
from torchlint.rules.torch_defaults import defaults

_NAME = re.compile(rf"torch\.(?P<cuda>cuda\.)?sparse\.(?P<dtype>{'|'.join(DTYPES)})Tensor")
_CAVEAT = "; torch may warn that it does not check the indices, as it did not before"
"""Measured on torch 2.13: one warning for each process, in the place of that on the legacy constructor."""


def sparse_construction(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a call of a legacy sparse constructor.

    Given indices and values it does the same as ``torch.sparse_coo_tensor``: measured on torch 2.13 for values, dtype
    (that of the values, whatever the name says), sharing of memory, gradient and coalescing.
    """
    at = name_node(node.func)
    if at is None:
        return
    if not at.value.endswith("Tensor") and at.value not in type_aliases(context):
        return
    names = [_NAME.fullmatch(name) for name in context.names(node.func)]
    found = [each for each in names if each is not None]
    if not found or len(found) != len(names):
        return
    shown = " or ".join(sorted(f"`{each[0]}`" for each in found))
    message = f"{shown} is a legacy constructor of sparse tensors: use `torch.sparse_coo_tensor`"
    one = found[0] if len(found) == 1 else None
    yield Draft(at, message, Confidence.CERTAIN, fix=_fix(node, one, context) if one is not None else None)


def _fix(node: cst.Call, name: re.Match[str], context: FileContext) -> Fix | None:
    arguments = [each.value for each in node.args]
    if not arguments or any(each.star or each.keyword for each in node.args) or in_fstring(node, context):
        return None
    kinds = [context.value(each) for each in arguments]
    if all(each.must(Kind.INTEGER) for each in kinds):
        return _of_size(node, name, context)
    if not 2 <= len(arguments) <= 3 or any(each.must(Kind.INTEGER | Kind.NONE) for each in kinds):
        return None
    spelled = _spelled(node, context)
    if spelled is None:
        return None
    callee, imports = spelled
    device = ', device="cpu"' if _follows_default(name, context) else ""
    edits = (context.replace(node.func, callee), *imports)
    if device:
        edits = (*edits, context.insert_after(arguments[-1], device))
    return Fix(f"Use `{callee}(...{device})`{_CAVEAT}", edits, Applicability.UNSAFE)


def _of_size(node: cst.Call, name: re.Match[str], context: FileContext) -> Fix | None:
    """``torch.sparse.FloatTensor(2, 3)`` is a sparse tensor of this size without elements."""
    spelled, kind = _spelled(node, context), torch_name(context, DTYPES[name["dtype"]], node.func)
    if spelled is None or kind is None:
        return None
    (callee, imports), (dtype, more) = spelled, kind
    where = ', device="cuda"' if name["cuda"] else ', device="cpu"' if _follows_default(name, context) else ""
    edits = (
        context.replace(node.func, callee),
        context.insert_before(node.args[0].value, "("),
        context.insert_after(node.args[-1].value, f"{',' if len(node.args) == 1 else ''}), dtype={dtype}{where}"),
        *imports,
        *more,
    )
    title = f"Use `{callee}(size, dtype={dtype}{where})`{_CAVEAT}"
    return Fix(title, tuple(dict.fromkeys(edits)), Applicability.UNSAFE)


def _follows_default(name: re.Match[str], context: FileContext) -> bool:
    """Whether a default device, which legacy constructors ignore, would move what the modern function makes."""
    known = defaults(context)
    return not name["cuda"] and bool(known.device or known.tensor_type)


def _spelled(node: cst.Call, context: FileContext) -> Spelled | None:
    """Spell the function the way ``torch`` is spelled in the call: ``th.sparse.FloatTensor`` gives ``th``."""
    base = node.func.value if isinstance(node.func, cst.Attribute) else None
    while isinstance(base, cst.Attribute) and base.attr.value in ("sparse", "cuda"):
        base = base.value
    if isinstance(base, cst.Name) and context.names(base) == {"torch"}:
        return f"{base.value}.sparse_coo_tensor", ()
    return torch_name(context, "sparse_coo_tensor", node.func)
