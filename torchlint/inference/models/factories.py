"""How torch makes tensors: factories, constructors, and what hands on a tensor or an array as one."""

from __future__ import annotations

from torchlint.facts.value import ANY_DTYPE, UNKNOWN, Device, Dtype, Grad, Kind, Reason, Value, tensor
from torchlint.inference.lattice import any_element, join, join_all
from torchlint.inference.models.call_arguments import Arguments, asked_for_grad
from torchlint.inference.models.devices import place_of
from torchlint.inference.models.operations import LEGACY_DTYPES, operations
from torchlint.inference.models.tables import Call, words
from torchlint.inference.models.tensors import detached, dtype_bits, dtype_name, with_dtype

_ALWAYS_ON_HOST = words("torch.from_numpy torch.get_rng_state torch.from_dlpack")
"""Factories that do not ask for the default device."""


def follows_default_device(name: str, given: Arguments) -> bool:
    """Whether a call makes a tensor on the default device."""
    return name in operations().factories and name not in _ALWAYS_ON_HOST and "device" not in given.keywords


def variable(call: Call) -> Value:
    """Return ``Variable(data)``: the tensor without its graph."""
    given = call.given
    source = given.find(0, "data") or UNKNOWN
    result = detached(source).having(kind=Kind.TENSOR, names=frozenset(), instance=frozenset())
    return asked_for_grad(result, given, given.find(1, "requires_grad"))


def legacy_constructor(call: Call) -> Value:
    """Return ``torch.FloatTensor(...)`` and its like: of sizes, of data, or another tensor's alias."""
    given = call.given
    place = Device.ACCELERATOR if ".cuda." in call.name else Device.HOST
    why = Reason("{code} makes it on an accelerator", given.node) if place & Device.ACCELERATOR else None
    exact = LEGACY_DTYPES.get(call.word)
    made = tensor(Grad.DETACHED, place, dtype_bits(exact or "float32"), exact=exact, why_device=why)
    source = given.find(0, "data")
    if source is None or not source.may(Kind.TENSOR) or len(given.positional) > 1 or given.starred:
        return made
    alias = source.having(kind=Kind.TENSOR, names=frozenset(), instance=frozenset())  # it keeps the graph
    if exact is not None:  # a typed constructor refuses a tensor of another dtype or on another device
        grad = alias.grad if made.dtype & Dtype.FLOATING else Grad.DETACHED
        alias = alias.having(device=place, why_device=why, dtype=made.dtype, exact=exact, grad=grad)
    return alias if source.is_tensor else join(alias, made)


def parameter(call: Call) -> Value:
    """Return ``nn.Parameter(data)``: a leaf that requires grad unless it is told not to."""
    given = call.given
    source = given.find(0, "data") or tensor(Grad.DETACHED, Device.HOST)
    place = source.device or Device.HOST
    made = tensor(
        Grad.DETACHED, place, Dtype.FLOATING, why_device=source.why_device, instance=frozenset({"torch.nn.Parameter"})
    )
    wanted = given.find(1, "requires_grad")
    if wanted is not None:
        return asked_for_grad(made, given, wanted)
    return made.having(grad=Grad.ATTACHED, why_grad=Reason("{code} is a parameter", given.node, of_module=True))


def from_array(call: Call) -> Value:
    """Return a tensor that shares an array's memory."""
    return _placed_and_cast(tensor(Grad.DETACHED, Device.HOST), call.given)


def alias(call: Call) -> Value:
    """Return ``torch.as_tensor(x)``: the tensor itself where it is one, or a new one of an array or of data."""
    source = call.given.find(0, "data", "obj", "ndarray")
    result = tensor(Grad.DETACHED, Device.HOST)
    if source is not None and source.may(Kind.TENSOR):
        itself = source.having(kind=Kind.TENSOR)
        result = itself if source.is_tensor else join(itself, result)
    return _placed_and_cast(result, call.given)


def _placed_and_cast(value: Value, given: Arguments) -> Value:
    dtype = given.keywords.get("dtype")
    if dtype is not None:
        name = dtype_name(dtype)
        value = with_dtype(value, name) if name else value.having(dtype=ANY_DTYPE, exact=None)
    device = given.keywords.get("device")
    if device is not None:
        place, why = place_of(device, given.node)
        value = value.having(device=place, why_device=why)
    return value


def floats(call: Call) -> Value:
    """Return what ``torch.zeros`` and most factories make: on the host unless they are told otherwise."""
    return _made(Dtype.FLOATING, call)


def integers(call: Call) -> Value:
    """Return what ``torch.randint`` and its like make."""
    return _made(Dtype.INTEGRAL, call)


def of_data(call: Call) -> Value:
    """Return ``torch.tensor(data)``."""
    return _with_rank(_made(_dtype_of(call.given.positional[:1]), call), call)


def of_number(call: Call) -> Value:
    """Return ``torch.scalar_tensor(number)``."""
    return _with_rank(floats(call), call)


def of_bounds(call: Call) -> Value:
    """Return ``torch.arange(start, ...)``."""
    return _made(_dtype_of(call.given.positional[:1]), call)


def filled(call: Call) -> Value:
    """Return ``torch.full(size, value)``."""
    return _made(_dtype_of(call.given.positional[1:2]), call)


def factory_like(call: Call) -> Value:
    """Return what ``torch.zeros_like`` and its like make: with the dtype of another tensor, where that is."""
    source = call.given.find(0, "input") or UNKNOWN
    place, dtype = source.device or Device.HOST, source.dtype or ANY_DTYPE
    return _as_asked(tensor(Grad.DETACHED, place, dtype, why_device=source.why_device), call.given)


def _made(dtype: Dtype, call: Call) -> Value:
    return _as_asked(tensor(Grad.DETACHED, Device.HOST, dtype), call.given)


def _as_asked(made: Value, given: Arguments) -> Value:
    return asked_for_grad(_placed_and_cast(made, given), given, given.keywords.get("requires_grad"))


def _with_rank(made: Value, call: Call) -> Value:
    """Return a tensor of what is given first, which has no dimension where that is a number."""
    first = call.given.positional[:1]
    return made.having(rank=0) if first and first[0].must(Kind.SCALAR | Kind.INTEGER) else made


def _dtype_of(data: tuple[Value, ...]) -> Dtype:
    return join_all(map(_scalars, data)).dtype or ANY_DTYPE


def _scalars(value: Value) -> Value:
    """Return the dtype that ``torch.tensor`` would take from Python data, as a tensor's."""
    if value.must(Kind.SEQUENCE) and (value.items is not None or value.member is not None):
        return _scalars(any_element(value))
    if isinstance(value.const, bool):
        return tensor(dtype=Dtype.BOOL)
    if value.must(Kind.INTEGER):
        return tensor(dtype=Dtype.INTEGRAL)
    if isinstance(value.const, float):
        return tensor(dtype=Dtype.FLOATING)
    return tensor(dtype=ANY_DTYPE)
