"""What a method or an attribute of a tensor gives."""

from __future__ import annotations

import ast

from torchlint.inference.arguments import Arguments, asked_for_grad, joined_operands
from torchlint.inference.facts import (
    ANY_DTYPE,
    UNKNOWN,
    Dtype,
    Grad,
    Kind,
    Mode,
    Place,
    Reason,
    Value,
    join,
    of_kind,
    tensor,
)
from torchlint.inference.models.devices import DTYPES, is_dtype, place_of, seems_device, seems_dtype
from torchlint.inference.models.dtypes import never_dtype, result_dtype, with_indices
from torchlint.inference.models.operations import (
    CASTS,
    FULL_REDUCTIONS,
    LEGACY_DTYPES,
    MAY_COPY,
    PAIRS,
    PAIRS_WITH_DIM,
    SEVERAL,
    UNLIKE,
    leaf,
    operations,
)
from torchlint.inference.models.tables import words

_FLAT: dict[str, object] = {
    "rank": None,
    "names": frozenset(),
    "instance": frozenset(),
    "const": None,
    "items": None,
    "member": None,
}
_VIEW_ATTRIBUTES = words("T mT H mH real imag")
_SAME_RANK = words("""
    clone detach cpu cuda to float double half long int contiguous requires_grad_ abs exp log sqrt neg clamp type
    type_as item_ data sigmoid tanh add sub mul div pow add_ sub_ mul_ div_ round floor ceil log10 log2
""")


def dtype_bits(name: str) -> Dtype:
    """Give what the elements of a dtype are, by its name."""
    word = DTYPES.get(name)
    return {"floating": Dtype.FLOATING, "integral": Dtype.INTEGRAL, "bool": Dtype.BOOL}.get(word or "", ANY_DTYPE)


def with_dtype(value: Value, name: str) -> Value:
    """Cast to a dtype by name; a cast to integers or bool leaves no gradient."""
    bits = dtype_bits(name)
    if bits & Dtype.FLOATING and (value.dtype & Dtype.FLOATING or not value.dtype):
        return value.having(dtype=bits, exact=_exact(name))
    return value.having(dtype=bits, exact=_exact(name), grad=Grad.DETACHED, why_grad=None)


def _cast(value: Value, name: str, mode: Mode) -> Value:
    """Cast by a method: without grad mode the result is the tensor itself, or new and so detached."""
    return _recast(value.having(**_FLAT), name, mode)


def _recast(value: Value, name: str, mode: Mode) -> Value:
    result = with_dtype(value, name)
    if mode & Mode.ON or value.exact == _exact(name):
        return result
    return detached(result) if value.exact else result.having(grad=result.grad | Grad.DETACHED)


def _exact(name: str) -> str:
    return CASTS.get(name, name)


def detached(value: Value) -> Value:
    """Give the value without its gradient."""
    return value.having(grad=Grad.DETACHED, why_grad=None)


def on_host(value: Value) -> Value:
    """Give the value after a copy to the host."""
    return value.having(place=Place.HOST, why_place=None)


def computed(value: Value, mode: Mode, node: ast.AST, dtype: Dtype | None = None) -> Value:
    """Give the result of arithmetic on a value: it requires grad if the input does and grad mode is on."""
    result = tensor(value.grad or Grad.DETACHED, value.place or Place.HOST, dtype or value.dtype or ANY_DTYPE)
    result = result.having(why_grad=value.why_grad, why_place=value.why_place)
    if not mode & Mode.ON or not value.dtype & Dtype.FLOATING:
        return detached(result)
    if mode & Mode.OFF:
        return result.having(grad=result.grad | Grad.DETACHED)
    return result


def attribute(value: Value, name: str, node: ast.AST) -> Value | None:
    """Give ``tensor.name``; None where it is no attribute that matters here."""
    match name:
        case "data":
            return detached(value).having(names=frozenset(), instance=frozenset(), kind=Kind.TENSOR)
        case "grad":
            return tensor(Grad.DETACHED, value.place, Dtype.FLOATING, why_place=value.why_place)
        case "shape":
            return of_kind(Kind.SIZE, member=of_kind(Kind.INTEGER))
        case "device":
            return of_kind(Kind.DEVICE, place=value.place, why_place=value.why_place)
        case "dtype":
            return of_kind(Kind.DTYPE)
        case "requires_grad" | "is_cuda" | "is_leaf" | "is_sparse":
            return of_kind(Kind.SCALAR)
        case "ndim":
            return of_kind(Kind.INTEGER)
        case "values" | "indices" | "grad_fn" | "_version" | "layout":
            return None
    if name in _VIEW_ATTRIBUTES:
        return value.having(**_FLAT)
    return None


def method(value: Value, name: str, given: Arguments, mode: Mode) -> Value | None:
    """Give the result of ``tensor.name(...)``; None where the method is not known."""
    table, node = operations(), given.node
    if name in _SPECIAL:
        return _SPECIAL[name](value, given, mode)
    if name in CASTS:
        return _with_rank(_cast(value, CASTS[name], mode), value, name)
    if name in table.no_tensor:
        kind = table.no_tensor[name]
        if name == "size" and given.every():
            return of_kind(Kind.INTEGER)
        if name == "tolist":
            number = Kind.SCALAR | Kind.INTEGER
            return of_kind(kind, member=of_kind(number | Kind.SEQUENCE, member=of_kind(number | Kind.SEQUENCE)))
        return of_kind(kind, member=of_kind(Kind.INTEGER) if kind & Kind.SIZE else None)
    if name.endswith("_") and not name.endswith("__") and name[:-1] in table.methods | {"zero", "fill", "copy"}:
        return in_place(value, given, mode) if not _is_logic(name) else value
    if name not in table.methods:
        return None
    return _ordinary(value, name, given, mode, node)


def _is_logic(name: str) -> bool:
    """Whether an in-place method writes truth values or bits, which carry no gradient in."""
    return name in operations().never or name.startswith("logical_")


def _ordinary(value: Value, name: str, given: Arguments, mode: Mode, node: ast.AST) -> Value:
    table = operations()
    if name in table.never:
        result = tensor(Grad.DETACHED, value.place, never_dtype(name), why_place=value.why_place)
        return result.having(rank=0) if name in FULL_REDUCTIONS and not given.every() else result
    if name in table.keeps_grad:
        result = value.having(**_FLAT, kind=Kind.TENSOR)
        if name in MAY_COPY and mode & Mode.OFF:
            result = result.having(grad=result.grad | Grad.DETACHED)
        return of_kind(Kind.SEQUENCE, member=result) if name in SEVERAL else result
    if "scatter" in name:  # the first tensor's dtype decides whether a gradient is kept
        result = computed(join(value, given.tensors()), mode, node)
    else:
        result = computed(joined_operands([value, given.operands()]) if given.every() else value, mode, node)
    result = result.having(dtype=result_dtype(name, result.dtype))
    if _casts(given):
        result = with_dtype(result, _casts(given) or "")
    if name in PAIRS or (name in PAIRS_WITH_DIM and _has_dim(given)):
        return pair(result, table.partial.get(name, ()))
    if (asked := with_indices(result, given)) is not None:
        return asked
    if name in SEVERAL:
        return of_kind(Kind.SEQUENCE, member=result)
    if name in UNLIKE:
        return of_kind(Kind.SEQUENCE, member=unlike(result))
    if name in FULL_REDUCTIONS and (not given.every() or name in ("dot", "vdot", "dist")):
        return result.having(rank=0)
    return result if given.tensors().kind else _with_rank(result, value, name)


def _casts(given: Arguments) -> str | None:
    dtype = given.keywords.get("dtype")
    return dtype_name(dtype) if dtype else None


def dtype_name(value: Value) -> str | None:
    """Give a dtype's name, as ``"float32"``; None where it is not one or not known."""
    if is_dtype(value) and len(value.names) == 1:
        return leaf(next(iter(value.names)))
    return None


def _has_dim(given: Arguments) -> bool:
    return any(not each.may(Kind.TENSOR) or each.unknown for each in given.positional) or bool(
        given.keywords.keys() & {"dim", "axis"} or given.starred
    )


def _with_rank(result: Value, source: Value, name: str) -> Value:
    return result.having(rank=source.rank) if source.rank is not None and name in _SAME_RANK else result


def unlike(result: Value) -> Value:
    """Give one of several results of which some never require grad."""
    return result.having(grad=result.grad | Grad.DETACHED, dtype=ANY_DTYPE, exact=None)


def pair(result: Value, never: tuple[int, ...], length: int = 2) -> Value:
    """Give a tuple of results, some of which never require grad."""
    index = tensor(Grad.DETACHED, result.place, Dtype.INTEGRAL, why_place=result.why_place)
    items = tuple(index if at in never else result for at in range(length))
    fields = (("values", items[0]), ("indices", items[1])) if len(items) == 2 else ()
    return of_kind(Kind.SEQUENCE, items=items, keys=fields)


def in_place(value: Value, given: Arguments, mode: Mode) -> Value:
    """Give the tensor after an in-place operation: it requires grad once something that does was written into it."""
    written = given.operands()
    if not written.kind or not written.may_require_grad or not mode & Mode.ON or not value.dtype & Dtype.FLOATING:
        return value.having(rank=value.rank)
    if written.is_tensor and written.grad == Grad.ATTACHED and mode == Mode.ON:
        return value.having(grad=Grad.ATTACHED, why_grad=written.why_grad or value.why_grad)
    return value.having(grad=value.grad | written.grad & ~Grad.DETACHED, why_grad=written.why_grad or value.why_grad)


# ---------------------------------------------------------------------- methods with a meaning of their own
def _detach(value: Value, given: Arguments, mode: Mode) -> Value:
    return detached(value).having(kind=Kind.TENSOR, instance=frozenset(), names=frozenset())


def _cpu(value: Value, given: Arguments, mode: Mode) -> Value:
    return on_host(value)


def _cuda(value: Value, given: Arguments, mode: Mode) -> Value:
    why = Reason("{code} puts it on an accelerator", given.node)
    return value.having(place=Place.ACCELERATOR, why_place=why)


def to(value: Value, given: Arguments, mode: Mode) -> Value:
    """Give ``value.to(...)``: its dtype, its place, or both change."""
    dtype = given.keywords.get("dtype")
    device = given.keywords.get("device")
    for node, argument in zip(getattr(given.node, "args", []), given.positional, strict=False):
        if is_dtype(argument):
            dtype = argument
        elif argument.is_tensor:
            return _like(value, argument, mode)
        elif argument.must(Kind.SCALAR):
            continue  # non_blocking, copy
        elif argument.unknown and not argument.names and seems_dtype(node) and not seems_device(node):
            continue
        elif device is None:
            device = argument
    if dtype is not None and (name := dtype_name(dtype)):
        value = _recast(value, name, mode)
    if device is None:
        return value
    place, why = place_of(device, given.node)
    return value.having(place=place, why_place=why)


def _like(value: Value, other: Value, mode: Mode) -> Value:
    """Give a tensor with another one's dtype, where that one is."""
    result = value.having(place=other.place or value.place, why_place=other.why_place)
    result = result.having(dtype=other.dtype or ANY_DTYPE, exact=other.exact, kind=value.kind)
    if not other.dtype & Dtype.FLOATING or not value.dtype & Dtype.FLOATING:
        return detached(result)
    new = other.exact is None or other.exact != value.exact
    return result if mode == Mode.ON or not new else result.having(grad=result.grad | Grad.DETACHED)


def _type(value: Value, given: Arguments, mode: Mode) -> Value:
    wanted = given.find(0, "dtype")
    if wanted is None:
        return of_kind(Kind.STRING)
    names = wanted.names or frozenset((wanted.const,) if isinstance(wanted.const, str) else ())
    results = [_typed(value, name, mode) for name in sorted(names)]
    if not results:
        return value.having(place=value.place | Place.UNKNOWN, dtype=ANY_DTYPE, exact=None)
    joined = results[0]
    for each in results[1:]:
        joined = join(joined, each)
    return joined


def _typed(value: Value, name: str, mode: Mode) -> Value:
    word = leaf(name)
    if word in LEGACY_DTYPES or word == "Tensor":
        place = Place.ACCELERATOR if ".cuda." in name else Place.HOST
        return _recast(value, LEGACY_DTYPES.get(word, "float32"), mode).having(place=place)
    return _recast(value, word, mode) if word in DTYPES else value


def _type_as(value: Value, given: Arguments, mode: Mode) -> Value:
    return _like(value, given.find(0, "other") or UNKNOWN, mode)


def _numpy(value: Value, given: Arguments, mode: Mode) -> Value:
    return of_kind(Kind.ARRAY)


def _requires_grad_(value: Value, given: Arguments, mode: Mode) -> Value:
    wanted = given.find(0, "requires_grad")
    if wanted is not None and wanted.const is False:
        return detached(value)
    why = Reason("{code} makes it require grad", given.node)
    if wanted is not None and wanted.const is not True:
        return value.having(grad=value.grad | Grad.UNKNOWN, why_grad=value.why_grad or why)
    return value.having(grad=Grad.ATTACHED, why_grad=why, kind=Kind.TENSOR)


def _new(value: Value, given: Arguments, mode: Mode) -> Value:
    result = tensor(Grad.DETACHED, value.place, value.dtype, exact=value.exact, why_place=value.why_place)
    if (device := given.keywords.get("device")) is not None:
        place, why = place_of(device, given.node)
        result = result.having(place=place, why_place=why)
    return asked_for_grad(result, given, given.keywords.get("requires_grad"))


def _view(value: Value, given: Arguments, mode: Mode) -> Value:
    result = value.having(**_FLAT, kind=Kind.TENSOR)
    first = given.find(0, "dtype")
    return detached(result) if first is not None and is_dtype(first) else result


def _clone(value: Value, given: Arguments, mode: Mode) -> Value:
    return computed(value, mode, given.node).having(rank=value.rank, exact=value.exact)


def _nothing(value: Value, given: Arguments, mode: Mode) -> Value:
    return of_kind(Kind.NONE)


_SPECIAL = {
    "detach": _detach,
    "detach_": _detach,
    "cpu": _cpu,
    "cuda": _cuda,
    "to": to,
    "type": _type,
    "type_as": _type_as,
    "numpy": _numpy,
    "requires_grad_": _requires_grad_,
    "new": _new,
    "new_zeros": _new,
    "new_ones": _new,
    "new_empty": _new,
    "new_full": _new,
    "new_tensor": _new,
    "view": _view,
    "clone": _clone,
    "backward": _nothing,
    "retain_grad": _nothing,
}
