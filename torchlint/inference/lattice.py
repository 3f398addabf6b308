"""The lattice: how values that may stand at one place are joined, and what is taken from one."""

from __future__ import annotations

from collections.abc import Iterable

from torchlint.facts.value import ABSENT, NOTHING, UNKNOWN, Device, Grad, Kind, Mode, Reason, Value


def any_element(value: Value) -> Value:
    """Return the join of what iterating over or indexing into a value may give."""
    if value.items is not None:
        return join_all(value.items) if value.items else UNKNOWN
    return value.member if value.member is not None else UNKNOWN


def without_cuda(value: Value) -> Value:
    """Return a value where there is no CUDA in the process."""
    if not value.may(Kind.TENSOR | Kind.MODULE | Kind.SEQUENCE | Kind.OTHER):
        return value
    device = value.device
    if device & ~Device.HOST:
        device = Device(device & Device.HOST | Device.WITHOUT_CUDA)
    if value.has_parts:
        return value.with_parts(without_cuda, device=device, why_device=None)
    return value if device == value.device else value.having(device=device, why_device=None)


def join(one: Value, other: Value, depth: int = 4) -> Value:
    """Return what is known where either value may stand."""
    if one is other or not other.kind:
        return one
    if not one.kind:
        return other
    if depth == 0:
        return UNKNOWN
    ours, theirs = one.kind & Kind.TENSOR, other.kind & Kind.TENSOR
    return Value(
        kind=one.kind | other.kind,
        grad=one.grad | other.grad,
        device=one.device | other.device,
        dtype=one.dtype | other.dtype,
        # facts of tensors alone survive a join with something that is no tensor
        exact=other.exact if not ours else one.exact if not theirs or one.exact == other.exact else None,
        rank=other.rank if not ours else one.rank if not theirs or one.rank == other.rank else None,
        names=_joined_names(one, other),
        instance=one.instance | other.instance,
        const=one.const if one.const == other.const and type(one.const) is type(other.const) else None,
        items=_joined_items(one, other, depth),
        member=_joined_member(one, other, depth),
        keys=_joined_keys(one, other, depth) if one.keys and other.keys else (),
        self_value=_joined_owners(one.self_value, other.self_value, depth),
        node=one.node if one.node is other.node else None,
        why_grad=stronger_reason(one.grad, one.why_grad, other.grad, other.why_grad),
        why_device=stronger_reason(one.device, one.why_device, other.device, other.why_device),
        claimed=one.claimed or other.claimed,
        tells_cuda=one.tells_cuda and other.tells_cuda,
    )


def _joined_names(one: Value, other: Value) -> frozenset[str]:
    """Return the names of either value; none where one may be called and has no name, such as a `lambda`."""
    if any(not each.names and each.may(Kind.OTHER | Kind.MODULE) for each in (one, other)):
        return frozenset()
    return one.names | other.names


def _joined_owners(one: Value | None, other: Value | None, depth: int) -> Value | None:
    """Return the object that one of two methods may be bound to: which of them runs tells which it is."""
    return join(one, other, depth - 1) if one is not None and other is not None else one or other


def stronger_reason(mine: int, reason: Reason | None, theirs: int, other: Reason | None) -> Reason | None:
    """Keep the reason of the stronger evidence; ``mine`` and ``theirs`` are bit sets in which evidence is highest."""
    if reason is None or other is None:
        return reason or other
    return other if theirs & 4 and not mine & 4 else reason


def _joined_items(one: Value, other: Value, depth: int) -> tuple[Value, ...] | None:
    if one.items is None or other.items is None or len(one.items) != len(other.items):
        return None
    return tuple(join(a, b, depth - 1) for a, b in zip(one.items, other.items, strict=True))


def _joined_member(one: Value, other: Value, depth: int) -> Value | None:
    mine, theirs = _members(one), _members(other)
    if mine is None or theirs is None:
        return None if one.may(Kind.SEQUENCE) and other.may(Kind.SEQUENCE) else mine or theirs
    return join(mine, theirs, depth - 1)


def _members(value: Value) -> Value | None:
    if value.member is not None:
        return value.member
    return join_all(value.items) if value.items is not None else None


def _joined_keys(one: Value, other: Value, depth: int) -> tuple[tuple[str, Value], ...]:
    theirs = dict(other.keys)
    return tuple((key, join(mine, theirs[key], depth - 1)) for key, mine in one.keys if key in theirs)


def annotated(value: Value) -> Value:
    """Return a value of which an annotation says what kind it is, and of what kind all that it holds."""
    return claimed_throughout(value, "callers may break the annotation")


def claimed_throughout(value: Value, why: str) -> Value:
    """Return a value whose kind is only claimed, and so is that of all that it holds; ``why`` is a clause."""
    if value.vague and value.member is None:
        return value
    return value.with_parts(lambda each: claimed_throughout(each, why), claimed=value.claimed or why)


def claimed_like(base: Value, result: Value) -> Value:
    """Return what was taken from a value: claimed where the value is."""
    if base.claimed in ("", ABSENT) or result.claimed or result.vague:
        return result
    return result.having(claimed=base.claimed)


def join_all(values: Iterable[Value]) -> Value:
    """Return what is known where any of the values may stand."""
    joined = NOTHING
    for value in values:
        joined = join(joined, value)
    return joined


def with_facts_throughout(value: Value, **facts: object) -> Value:
    """Return a value of which some facts hold, as they do of all that it holds: it has no graph, it is on the host."""
    member, items = value.member, value.items
    return value.having(
        **facts,
        member=member if member is None else with_facts_throughout(member, **facts),
        items=items if items is None else tuple(with_facts_throughout(each, **facts) for each in items),
    )


def made_under(mode: Mode, value: Value, presuming: bool = False) -> Value:
    """Return what code that is not known returns: where it runs with grad mode off, nothing that requires grad.

    That it holds nothing of the kind either is presumed: a list may be one of parameters.
    """
    if mode & Mode.ON:
        return value
    if presuming:
        value = with_facts_throughout(value, grad=Grad.DETACHED)
    return value.having(grad=Grad.DETACHED) if value.may(Kind.TENSOR) else value
