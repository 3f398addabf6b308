"""What a tensor is after a change: by a method that ends in ``_``, by a store into it, by one of its attributes."""

from __future__ import annotations

from typing import Final

from torchlint.models.combined_operands import combined
from torchlint.models.descent import descend, truth_of
from torchlint.models.operation_sets import NEVER, changes_in_place, scalar_arguments, words
from torchlint.models.rank_rules import higher, of_sizes
from torchlint.models.tensor_moves import MOVES, moved
from torchlint.semantic.graph import Node
from torchlint.values import abstract as a
from torchlint.values.abstract import Abstract, join
from torchlint.values.asking import ON, Asker, CallSite, Path
from torchlint.values.contexts import Context

_OF_ITS_OWN: Final = words("""
    zero_ normal_ uniform_ random_ exponential_ cauchy_ log_normal_ geometric_ share_memory_ resize_ resize_as_ rename_
    squeeze_ unsqueeze_ t_ transpose_ swapaxes_ swapdims_ logical_and_ logical_or_ logical_xor_ logical_not_
""")
"""Methods that bring no gradient of an argument into the tensor."""
_CHANGES_SHAPE: Final = words("t_ transpose_ swapaxes_ swapdims_ squeeze_ resize_ resize_as_ set_ as_strided_")


def after_method(site: CallSite, owner: Abstract, word: str) -> Abstract:
    """Return a tensor after one of its methods that change it, which is what the method gives, too.

    With grad mode on, an operand that requires grad brings the tensor into its graph; the tensor keeps its dtype, its
    place, and a gradient that it has.
    """
    owner = owner.but(kind=a.TENSOR)
    if word == "detach_":
        return owner.detached()
    if word == "requires_grad_":
        return _requiring(owner, site.value(0, "requires_grad"), site.node)
    if word in _CHANGES_SHAPE:
        owner = owner.but(rank=of_sizes(site, 0) if word == "resize_" else a.ANY_RANK)
    elif word == "unsqueeze_":
        owner = owner.but(rank=higher(owner.rank))
    if word in _OF_ITS_OWN or word in NEVER:
        return owner
    return _brought_in(site.asker, owner, site.operands(scalar_arguments(word), 1), site.node, site.context)


def _brought_in(
    asker: Asker, owner: Abstract, operands: list[Abstract], node: Node, context: Context | None
) -> Abstract:
    """Return a tensor into which operands were written."""
    if not owner.dtype & a.FLOATING or not operands or not asker.mode(node, context) & ON:
        return owner
    made = asker.under(combined(asker, [owner, *operands], node, context, numbers=True), node, context)
    if not made.grad & ~a.SAFE:
        return owner
    grad = made.grad | owner.grad & ~a.SAFE
    if owner.grad & ~a.SAFE and not owner.grad & a.SAFE:
        grad &= ~a.SAFE
    return owner.but(grad=grad, grad_from=owner.grad_from if owner.grad & ~a.SAFE else made.grad_from)


def _requiring(owner: Abstract, wanted: Abstract | None, at: Node) -> Abstract:
    """Return a tensor that was told whether it requires grad."""
    told = True if wanted is None else truth_of(wanted)
    if told is False or not owner.dtype & a.FLOATING:
        return owner.detached()
    if told:
        return owner.but(grad=a.SURE, grad_from=at)
    return owner.but(grad=owner.grad | a.SAFE | a.OPTION, grad_from=owner.grad_from or at)


# ---------------------------------------------------------------------- nodes of the graph
def changed(asker: Asker, before: Abstract, word: str, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return what a path leads to from an object after a method that changes it; ``node`` is of operation INPLACE.

    ``before`` is the object before. A tensor is what the method leaves; a module is moved or frozen; what is
    neither stays as it was.
    """
    source, call = node.ins
    site = CallSite(asker, call, context)
    if not before.kind & (a.TENSOR | a.MODULE):
        return asker.value(source, path, context)
    tensors = before.kind & a.TENSOR and changes_in_place(word)
    modules = before.kind & a.MODULE and (word in MOVES or word == "requires_grad_")
    if not tensors and not modules:
        return asker.value(source, path, context)
    if before.kind == a.TENSOR:
        return descend(after_method(site, before, word), path)
    is_member = bool(path) and not str(path[0]).startswith(".")
    if before.kind == a.MODULE and is_member and (member := asker.value(source, path, context)).kind == a.MODULE:
        return _module_after(site, member, word)
    after = before
    if modules:
        after = _module_after(site, before, word)
    if tensors:
        part = after_method(site, before.but(kind=a.TENSOR), word)
        after = after.but(grad=part.grad, grad_from=part.grad_from) if not modules else after
    if not path:
        return after.but(kind=before.kind, references=before.references)
    return asker.along(after, path, node, context) if before.references else descend(after, path)


def _module_after(site: CallSite, before: Abstract, word: str) -> Abstract:
    """Return a module after it was moved, or told whether its parameters require grad."""
    if word == "requires_grad_":
        wanted = site.value(0, "requires_grad")
        told = True if wanted is None else truth_of(wanted)
        if told is False:
            return before.but(grad=a.SAFE, grad_from=None)
        return before.but(grad=a.SURE if told else before.grad | a.SAFE | a.SURE, grad_from=None)
    if word in ("type_as", "type"):
        return before
    after = moved(site, before.but(kind=a.MODULE), word, ())
    return before.but(device=after.device, device_from=after.device_from)


def grown(asker: Asker, before: Abstract, member: Node, node: Node, context: Context | None) -> Abstract:
    """Return a tensor that was written into by index; ``node`` is of operation GROW, ``member`` what was written."""
    if not before.kind & a.TENSOR:
        return before
    value = asker.value(member, (), context)
    written = _brought_in(asker, before.but(kind=a.TENSOR), [value] if value.kind & a.TENSOR else [], node, context)
    return before.but(grad=written.grad, grad_from=written.grad_from)


def after_setter(_: Asker, before: Abstract, word: str, value: Abstract, node: Node) -> Abstract:
    """Return an object after one of its attributes was set; ``node`` is of operation SETTER."""
    if not before.kind & a.TENSOR:
        return before
    if word == "requires_grad":
        part = _requiring(before.but(kind=a.TENSOR), value, node)
        grad = part.grad if before.kind == a.TENSOR else part.grad | before.grad & a.SAFE
        return before.but(grad=grad, grad_from=part.grad_from)
    if word == "data" and value.kind & a.TENSOR:  # another memory; whether it requires grad stays
        after = before.but(
            device=value.device or a.SAFE,
            device_from=value.device_from,
            dtype=value.dtype or a.ANY_DTYPE,
            rank=value.rank or a.ANY_RANK,
        )
        return after if value.kind == a.TENSOR and before.kind == a.TENSOR else join(before, after)
    return before
