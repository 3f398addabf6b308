"""What calling a module gives: layers of torch one by one, modules that hold others, and networks by their name."""

from __future__ import annotations

from torchlint.models.combined_operands import combined
from torchlint.models.descent import answer, descend
from torchlint.models.library_rows import MODULE_CONTAINERS
from torchlint.models.module_results import PACKED, PASSING, PLAIN, WRAPPING, has_parameters, is_live
from torchlint.models.unknown_results import unknown_call
from torchlint.syntax.places import leaf
from torchlint.values import abstract as a
from torchlint.values.abstract import A_SEQUENCE, NOTHING, Abstract, join, join_all, tensor
from torchlint.values.asking import ANY_ELEMENT, CallSite, Path, Presumption
from torchlint.values.references import InstanceRef, LibraryInstanceRef

_RECURRENT = frozenset("LSTM GRU RNN".split())
_ATTENTION = "MultiheadAttention"
_MOVED = a.SURE | a.MODULE_OUT | a.OPTION


# ---------------------------------------------------------------------- calling
def output(site: CallSite, owner: Abstract, operands: list[Abstract], has_live: bool = True) -> Abstract:
    """Return the tensor that a module computes from its operands.

    What is given what is on the host, and may be there, is there: the operands of a layer meet on one device.
    """
    given = combined(site.asker, operands, site.node, site.context, numbers=True)
    grad, grad_from = given.grad or a.SAFE, given.grad_from
    if has_live and is_live(owner):
        bits = owner.grad & ~(a.SAFE | a.SURE)
        bits = bits & ~a.OF_PARAM | (a.OF_MODEL if bits & a.OF_PARAM else 0)
        own = bits if bits and not owner.grad & a.SURE else a.MODULE_OUT
        grad = own | (grad if owner.grad & a.SAFE else 0)
        grad_from = site.node
    there = (owner.device or a.SAFE) & (a.ALL_EVIDENCE if has_live else ~a.SAFE)  # no parameters are nowhere
    device, origin = (given.device or a.SAFE) | there, given.device_from or owner.device_from
    places = given.device or a.SAFE, owner.device
    if has_live and a.SAFE in places and all(each & a.SAFE for each in places):
        device, origin = a.SAFE, None
    made = Abstract(a.TENSOR, grad, device, a.FLOATING, a.ANY_RANK, a.NO_REFERENCES, grad_from, origin)
    return site.asker.under(made, site.node, site.context)


def layer_call(site: CallSite, owner: Abstract, reference: LibraryInstanceRef, path: Path) -> Abstract:
    """Return what calling a module of torch's own gives."""
    name, word = reference.name, leaf(reference.name)
    maker = CallSite(site.asker, reference.made, reference.context) if reference.made is not None else None
    if name in WRAPPING:
        inner = maker.value(0, "module") if maker is not None else None
        if inner is None or not inner.kind:
            return network_call(site, path, owner)
        placed = inner.but(
            device=inner.device | owner.device & ~a.SAFE, device_from=inner.device_from or owner.device_from
        )
        given = site.asker.call_of(placed, site.node, path, site.context)
        if given.kind & a.TENSOR:  # what a forward is handed is moved to where the module is
            given = given.but(
                device=given.device | placed.device & ~a.SAFE, device_from=given.device_from or placed.device_from
            )
        return given.but(rank=a.ANY_RANK) if word == "DataParallel" else given  # numbers of several devices in a row
    if name == "torch.nn.Module" or name in MODULE_CONTAINERS - {"torch.nn.Sequential"}:
        return network_call(site, path, owner)
    packed = _packed_operand(site)
    operands = [packed] if packed is not None else [each for each in site.operands() if each.kind & a.TENSOR]
    live = has_parameters(name, maker)
    if word in PASSING:
        passed = site.value(0, "input", path)
        if passed is None:
            return unknown_call(site, path)
        return passed.but(rank=a.ANY_RANK) if word == "Flatten" and passed.kind & a.TENSOR else passed
    result = output(site, owner, operands, live)
    if word in PLAIN and operands:
        result = result.but(dtype=join_all(operands).dtype or a.FLOATING)
    return _in_form(site, result, word, maker, packed is not None, path)


def _packed_operand(site: CallSite) -> Abstract | None:
    """Return the tensor inside of a packed sequence that a call is handed; None where it is handed none."""
    first = site.value(0)
    if first is None or not any(getattr(each, "name", "") == PACKED for each in first.references):
        return None
    return first.but(kind=a.TENSOR, references=a.NO_REFERENCES)


def _in_form(
    site: CallSite, result: Abstract, word: str, maker: CallSite | None, is_packed: bool, path: Path
) -> Abstract:
    if word in _RECURRENT:
        return _recurrent(site, result, word, is_packed, path)
    if word in (_ATTENTION, "LSTMCell", "AdaptiveLogSoftmaxWithLoss"):
        if not path:
            return A_SEQUENCE
        if word == _ATTENTION and path[0] == 1 and answer(site, None, "need_weights", usual=True) is False:
            return NOTHING
        return descend(result, path[1:])
    if word.endswith("Loss"):
        return descend(result.but(rank=_loss_rank(maker)), path)
    if word == "Sequential":
        return _of_last(site, result, maker, path)
    if maker is not None and answer(maker, None, "return_indices", usual=False) is not False:
        if not path:
            return A_SEQUENCE
        return descend(result.detached().but(dtype=a.INT64) if path[0] == 1 else result, path[1:])
    return descend(result, path)


def _recurrent(site: CallSite, result: Abstract, word: str, is_packed: bool, path: Path) -> Abstract:
    """Return the output of a recurrent layer and its state, which of an LSTM is a pair."""
    if not path:
        return A_SEQUENCE
    if path[0] == 0 and is_packed:
        own = LibraryInstanceRef(PACKED, site.node, site.context)
        return site.asker.along(
            result.but(kind=a.OTHER, references=frozenset([own])), path[1:], site.node, site.context
        )
    if word == "LSTM" and path[0] == 1:
        return A_SEQUENCE if len(path) == 1 else descend(result, path[2:])
    if path[0] == ANY_ELEMENT and word == "LSTM":
        return join(result, A_SEQUENCE) if len(path) == 1 else descend(result, path[1:])
    return descend(result, path[1:])


def _loss_rank(maker: CallSite | None) -> int:
    said = maker.value(None, "reduction") if maker is not None else None
    if maker is None or (said is not None and not said.references):
        return a.ANY_RANK
    if said is None:
        return (
            a.RANKS[0] if not any(word in maker.given.keywords for word in ("reduce", "size_average")) else a.ANY_RANK
        )
    words = {getattr(each, "value", None) for each in said.references}
    return a.RANKS[0] if words <= {"mean", "sum", "batchmean"} else a.ANY_RANK


def _of_last(site: CallSite, result: Abstract, maker: CallSite | None, path: Path) -> Abstract:
    """Return what a ``Sequential`` gives: a tensor where its last member is a layer of torch's."""
    last = maker.given.positional[-1] if maker is not None and maker.given.positional else None
    references = maker.asker.value(last, (), maker.context).references if maker is not None and last is not None else ()
    if maker is not None and _holds_own(maker):  # which may have no parameters
        result = result.but(grad=result.grad | a.SAFE)
    inner = next(iter(references)) if len(references) == 1 else None
    if isinstance(inner, LibraryInstanceRef) and inner.made is not None and inner.name == "torch.nn.Sequential":
        return _of_last(site, result, CallSite(site.asker, inner.made, inner.context), path)
    words = [
        leaf(each.name) for each in references if isinstance(each, LibraryInstanceRef) and "torch.nn." in each.name
    ]
    if words and len(words) == len(references) and not any(each in _RECURRENT or each == _ATTENTION for each in words):
        return descend(result, path)
    is_strict = site.asker.presumes(Presumption.NETWORK)
    kind = a.TENSOR | a.SEQUENCE | a.OTHER if is_strict else a.ANY & ~a.MODULE
    return descend(result.but(kind=kind, dtype=a.ANY_DTYPE), path)


def _holds_own(maker: CallSite) -> bool:
    """Whether a module that holds others is given one of a class of the project."""
    members = [maker.asker.value(each, (), maker.context) for each in maker.given.positional]
    return any(isinstance(each, InstanceRef) for member in members for each in member.references)


def network_call(site: CallSite, path: Path, owner: Abstract) -> Abstract:
    """Return what an unknown module gives, or what is named like one."""
    if not site.asker.presumes(Presumption.NETWORK):
        return unknown_call(site, path)
    operands = [each for each in site.operands() if each.kind & a.TENSOR]
    is_on_host = operands and all(each.kind == a.TENSOR and each.device == a.SAFE for each in operands)
    place = tensor(device=a.SAFE if is_on_host else a.SAFE | a.OF_MODEL, device_from=None if is_on_host else site.node)
    for each in (*operands, owner):
        bits = each.device & (a.ALL_EVIDENCE if each.kind == a.TENSOR else _MOVED)
        place = join(place, tensor(device=bits, device_from=each.device_from if bits & ~a.SAFE else None))
    bit = a.OF_MODEL if owner.grad & a.OF_PARAM else a.OPTION
    if owner.kind & a.MODULE and not owner.kind & ~(a.MODULE | a.TENSOR) and owner.grad == a.SAFE:
        bit = join_all(operands).grad or a.SAFE
    made = Abstract(
        a.ANY & ~(a.MODULE | a.NONE),
        bit,
        place.device,
        a.ANY_DTYPE,
        a.ANY_RANK,
        a.NO_REFERENCES,
        site.node,
        place.device_from,
    )
    return descend(site.asker.under(made, site.node, site.context), path)
