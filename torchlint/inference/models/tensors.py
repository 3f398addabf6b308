"""What a method or an attribute of a tensor gives."""

from __future__ import annotations

import ast

from torchlint.facts.value import (
    ABSENT,
    ANY_DTYPE,
    UNKNOWN,
    Device,
    Dtype,
    Grad,
    Kind,
    Mode,
    Reason,
    Value,
    of_kind,
    tensor,
)
from torchlint.inference.lattice import join, join_all
from torchlint.inference.models.call_arguments import Arguments, as_plain_operand, asked_for_grad, joined_operands
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
    scalar_arguments,
)
from torchlint.inference.models.tables import Call, functions, words
from torchlint.inference.program.imports import is_in_place

_METHODS = """
detach detach_                                         -> cut_off
cpu                                                    -> on_host
cuda                                                   -> on_accelerator
to                                                     -> to
type                                                   -> type
type_as                                                -> type_as
numpy                                                  -> array
tolist                                                 -> nested_list
size                                                   -> size
requires_grad_                                         -> requiring_grad
new new_zeros new_ones new_empty new_full new_tensor   -> new
view                                                   -> view
clone                                                  -> clone
backward retain_grad                                   -> none
"""
"""Methods of which more is known than what ``operations.json`` says."""

_ATTRIBUTES = """
data                                       -> cut_off
grad                                       -> gradient
shape                                      -> size of integer
ndim                                       -> integer
device                                     -> device
dtype                                      -> dtype
requires_grad is_cuda is_leaf is_sparse    -> scalar
T mT H mH real imag                        -> part
"""

_FLAT: dict[str, object] = {
    "rank": None,
    "names": frozenset(),
    "instance": frozenset(),
    "const": None,
    "items": None,
    "member": None,
}

_SAME_RANK = words("""
    clone detach cpu cuda to float double half long int contiguous requires_grad_ abs exp log sqrt neg clamp type
    type_as item_ data sigmoid tanh add sub mul div pow add_ sub_ mul_ div_ round floor ceil log10 log2
""")


def dtype_bits(name: str) -> Dtype:
    """Return what the elements of a dtype are, by its name."""
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
    """Return the value without its gradient."""
    return value.having(grad=Grad.DETACHED, why_grad=None)


def on_host(value: Value) -> Value:
    """Return the value after a copy to the host."""
    return value.having(device=Device.HOST, why_device=None)


def computed(value: Value, mode: Mode) -> Value:
    """Return the result of arithmetic on a value: it requires grad if the input does and grad mode is on."""
    result = tensor(value.grad or Grad.DETACHED, value.device or Device.HOST, value.dtype or ANY_DTYPE)
    result = result.having(why_grad=value.why_grad, why_device=value.why_device)
    if not mode & Mode.ON or not value.dtype & Dtype.FLOATING:
        return detached(result)
    if mode & Mode.OFF:
        return result.having(grad=result.grad | Grad.DETACHED)
    return result


def attribute(value: Value, name: str, node: ast.AST) -> Value | None:
    """Return ``tensor.name``; None where it is no attribute that matters here."""
    effect = _ATTRIBUTE_TABLE.find(name)
    return effect(Call(name, Arguments(node), Mode.ON, value)) if effect is not None else None


def method(value: Value, name: str, given: Arguments, mode: Mode) -> Value | None:
    """Return the result of ``tensor.name(...)``; None where the method is not known."""
    table, call = operations(), Call(name, given, mode, value)
    if (effect := _METHOD_TABLE.find(name)) is not None:
        return effect(call)
    if name in CASTS:
        return _with_rank(_cast(value, CASTS[name], mode), call)
    if name in table.no_tensor:
        return _no_tensor(table.no_tensor[name])
    if changes_in_place(name):
        written = given.apart_from(*scalar_arguments(name), first=1)
        return value if _is_logic(name) else in_place(value, written, mode)
    return _operation(call) if name in table.methods else None


def changes_in_place(name: str) -> bool:
    """Whether a method's name says that it changes the tensor: ``add_``, but not ``__add__``."""
    return is_in_place(name) and (name[:-1] in operations().methods or name in ("zero_", "fill_", "copy_"))


def _is_logic(name: str) -> bool:
    """Whether an in-place method writes truth values or bits, which carry no gradient in."""
    return name in operations().never or name.startswith("logical_")


def _no_tensor(kind: Kind) -> Value:
    return of_kind(kind, member=of_kind(Kind.INTEGER) if kind & Kind.SIZE else None)


# ---------------------------------------------------------------------- operations as they were measured
def _operation(call: Call) -> Value:
    table = operations()
    if call.name in table.never:
        return _without_grad(call)
    if call.name in table.keeps_grad:
        return _handed_on(call)
    result = computed(_inputs(call), call.mode)
    result = result.having(dtype=result_dtype(call.name, result.dtype))
    dtype = call.given.keywords.get("dtype")
    if dtype is not None and (cast := dtype_name(dtype)):
        result = with_dtype(result, cast)
    return _shaped(call, result)


def _inputs(call: Call) -> Value:
    if "scatter" in call.name:  # the first tensor's dtype decides whether a gradient is kept
        return join(call.receiver, call.given.tensors())
    given = call.given.apart_from(*scalar_arguments(call.name), first=1)
    return joined_operands([call.receiver, given.operands()]) if given.every() or given.spread else call.receiver


def _without_grad(call: Call) -> Value:
    place, why = call.receiver.device, call.receiver.why_device
    result = tensor(Grad.DETACHED, place, never_dtype(call.name), why_device=why)
    return result.having(rank=0) if call.name in FULL_REDUCTIONS and not call.given.every() else result


def _handed_on(call: Call) -> Value:
    """Return the tensor itself, or a view of it."""
    result = call.receiver.having(**_FLAT, kind=Kind.TENSOR)
    if call.name in MAY_COPY and call.mode & Mode.OFF:
        result = result.having(grad=result.grad | Grad.DETACHED)
    return of_kind(Kind.SEQUENCE, member=result) if call.name in SEVERAL else result


def _shaped(call: Call, result: Value) -> Value:
    """Return a result in the form in which a method gives it: one tensor, a pair, any number of them."""
    name, given = call.name, call.given
    if name in PAIRS or (name in PAIRS_WITH_DIM and _has_dim(given)):
        return pair(result, operations().partial.get(name, ()))
    if (asked := with_indices(result, given)) is not None:
        return asked
    if name in SEVERAL:
        return of_kind(Kind.SEQUENCE, member=result)
    if name in UNLIKE:
        return of_kind(Kind.SEQUENCE, member=unlike(result))
    if name in _ALWAYS_FULL or (name in FULL_REDUCTIONS and not given.every()):
        return result.having(rank=0)
    return result if given.tensors().kind else _with_rank(result, call)


_ALWAYS_FULL = words("dot vdot dist")
"""Reductions of two tensors."""


def _has_dim(given: Arguments) -> bool:
    if given.starred or given.keywords.keys() & {"dim", "axis"}:
        return True
    return any(not each.may(Kind.TENSOR) or each.unknown for each in given.positional)


def _with_rank(result: Value, call: Call) -> Value:
    rank = call.receiver.rank
    return result.having(rank=rank) if rank is not None and call.name in _SAME_RANK else result


def dtype_name(value: Value) -> str | None:
    """Return a dtype's name, as ``"float32"``; None where it is not one or not known."""
    if is_dtype(value) and len(value.names) == 1:
        return leaf(next(iter(value.names)))
    return None


def unlike(result: Value) -> Value:
    """Return one of several results of which some never require grad."""
    return result.having(grad=result.grad | Grad.DETACHED, dtype=ANY_DTYPE, exact=None)


def pair(result: Value, never: tuple[int, ...], length: int = 2) -> Value:
    """Return a tuple of results, some of which never require grad."""
    index = tensor(Grad.DETACHED, result.device, Dtype.INTEGRAL, why_device=result.why_device)
    items = tuple(index if at in never else result for at in range(length))
    fields = (("values", items[0]), ("indices", items[1])) if len(items) == 2 else ()
    return of_kind(Kind.SEQUENCE, items=items, keys=fields)


def in_place(value: Value, given: Arguments, mode: Mode) -> Value:
    """Return the tensor after an in-place operation: it requires grad once something that does was written into it."""
    written = given.operands()
    if not written.kind or not written.may_require_grad or not mode & Mode.ON or not value.dtype & Dtype.FLOATING:
        return value.having(rank=value.rank)
    if written.vague:  # perhaps a number
        why = value.why_grad if value.may_require_grad else as_plain_operand("carries no gradient", written.why_grad)
        written = written.having(why_grad=why)
    if written.is_tensor and written.grad == Grad.ATTACHED and mode == Mode.ON:
        return value.having(grad=Grad.ATTACHED, why_grad=written.why_grad or value.why_grad)
    return value.having(grad=value.grad | written.grad & ~Grad.DETACHED, why_grad=written.why_grad or value.why_grad)


# ---------------------------------------------------------------------- with a meaning of their own
def _cut_off(call: Call) -> Value:
    return detached(call.receiver).having(kind=Kind.TENSOR, instance=frozenset(), names=frozenset())


def _gradient(call: Call) -> Value:
    device, why = call.receiver.device, call.receiver.why_device
    return tensor(Grad.DETACHED, device, Dtype.FLOATING, why_device=why, claimed=ABSENT)


def _device(call: Call) -> Value:
    return of_kind(Kind.DEVICE, device=call.receiver.device, why_device=call.receiver.why_device)


def _part(call: Call) -> Value:
    return call.receiver.having(**_FLAT)


def _on_host(call: Call) -> Value:
    return on_host(call.receiver)


def _on_accelerator(call: Call) -> Value:
    why = Reason("{code} puts it on an accelerator", call.given.node)
    return call.receiver.having(device=Device.ACCELERATOR, why_device=why)


def to(call: Call) -> Value:
    """Return ``value.to(...)``: its dtype, its place, or both change."""
    value, given = call.receiver, call.given
    dtype, device = given.keywords.get("dtype"), given.keywords.get("device")
    for node, argument in zip(getattr(given.node, "args", []), given.positional, strict=False):
        if argument.is_tensor:
            return _like(value, argument, call.mode)
        if is_dtype(argument):
            dtype = argument
            continue
        if device is None and _may_be_device(argument, node):
            device = argument
        if argument.unknown and not seems_device(node):
            dtype = argument
    if dtype is not None and (name := dtype_name(dtype)):
        value = _recast(value, name, call.mode)
    elif dtype is not None and not dtype.must(Kind.NONE):
        grad = value.grad | Grad.DETACHED if value.grad else value.grad  # it may be one of integers
        value = value.having(grad=grad, dtype=ANY_DTYPE, exact=None)
    return value if device is None else _placed(value, device, call)


def _may_be_device(argument: Value, node: ast.AST) -> bool:
    if argument.must(Kind.SCALAR):
        return False  # non_blocking, copy
    match node:
        case ast.Call(func=ast.Name(id="getattr"), args=[ast.Name(id="torch"), name, *_]):
            return seems_device(name)  # what torch itself has under a name, and `.to` takes, are dtypes
    return not argument.unknown or bool(argument.names) or not seems_dtype(node) or seems_device(node)


def _placed(value: Value, device: Value, call: Call) -> Value:
    place, why = place_of(device, call.given.node)
    return value.having(device=place, why_device=why)


def _like(value: Value, other: Value, mode: Mode) -> Value:
    """Return a tensor with another one's dtype, where that one is."""
    result = value.having(device=other.device or value.device, why_device=other.why_device)
    result = result.having(dtype=other.dtype or ANY_DTYPE, exact=other.exact, kind=value.kind)
    if not other.dtype & Dtype.FLOATING or not value.dtype & Dtype.FLOATING:
        return detached(result)
    new = other.exact is None or other.exact != value.exact
    return result if mode == Mode.ON or not new else result.having(grad=result.grad | Grad.DETACHED)


def _type(call: Call) -> Value:
    wanted, value = call.given.find(0, "dtype"), call.receiver
    if wanted is None:
        return of_kind(Kind.STRING)
    names = wanted.names or frozenset((wanted.const,) if isinstance(wanted.const, str) else ())
    if not names:
        return value.having(device=value.device | Device.UNKNOWN, dtype=ANY_DTYPE, exact=None)
    return join_all(_typed(value, name, call.mode) for name in sorted(names))


def _typed(value: Value, name: str, mode: Mode) -> Value:
    word = leaf(name)
    if word in LEGACY_DTYPES or word == "Tensor":
        place = Device.ACCELERATOR if ".cuda." in name else Device.HOST
        return _recast(value, LEGACY_DTYPES.get(word, "float32"), mode).having(device=place)
    return _recast(value, word, mode) if word in DTYPES else value


def _type_as(call: Call) -> Value:
    return _like(call.receiver, call.given.find(0, "other") or UNKNOWN, call.mode)


def _nested_list(_: Call) -> Value:
    number = Kind.SCALAR | Kind.INTEGER
    rows = of_kind(number | Kind.SEQUENCE, member=of_kind(number | Kind.SEQUENCE))
    return of_kind(operations().no_tensor["tolist"], member=rows)


def _size(call: Call) -> Value:
    return of_kind(Kind.INTEGER) if call.given.every() else _no_tensor(operations().no_tensor["size"])


def _requiring_grad(call: Call) -> Value:
    wanted, value = call.given.find(0, "requires_grad"), call.receiver
    if wanted is not None and wanted.const is False:
        return detached(value)
    why = Reason("{code} makes it require grad", call.given.node)
    if wanted is not None and wanted.const is not True:
        return value.having(grad=value.grad | Grad.UNKNOWN, why_grad=value.why_grad or why)
    return value.having(grad=Grad.ATTACHED, why_grad=why, kind=Kind.TENSOR)


def _new(call: Call) -> Value:
    value, keywords = call.receiver, call.given.keywords
    result = tensor(Grad.DETACHED, value.device, value.dtype, exact=value.exact, why_device=value.why_device)
    if (device := keywords.get("device")) is not None:
        result = _placed(result, device, call)
    return asked_for_grad(result, call.given, keywords.get("requires_grad"))


def _view(call: Call) -> Value:
    result = call.receiver.having(**_FLAT, kind=Kind.TENSOR)
    first = call.given.find(0, "dtype")
    if first is None or not is_dtype(first):
        return result
    name = dtype_name(first)
    return detached(with_dtype(result, name) if name else result.having(dtype=ANY_DTYPE, exact=None))


def _clone(call: Call) -> Value:
    value = call.receiver
    return computed(value, call.mode).having(rank=value.rank, exact=value.exact)


_METHOD_TABLE = functions(
    _METHODS,
    [
        *(_cut_off, _on_host, _on_accelerator, to, _type, _type_as, _nested_list, _size, _requiring_grad, _new),
        *(_view, _clone),
    ],
)
_ATTRIBUTE_TABLE = functions(_ATTRIBUTES, [_cut_off, _gradient, _device, _part])
