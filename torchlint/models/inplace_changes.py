"""What a tensor is after a change: by a method that ends in ``_``, by a store into it, by one of its attributes."""

from __future__ import annotations

from typing import Final

from torchlint.models.combined_operands import combined
from torchlint.models.descent import descend, truth_of
from torchlint.models.operation_sets import NEVER, changes_in_place, scalar_arguments, words
from torchlint.models.rank_rules import higher, of_sizes
from torchlint.models.tensor_moves import MOVES, moved
from torchlint.semantic.graph import Node
from torchlint.values.abstract import (
    ANY_DTYPE,
    ANY_RANK,
    FLOATING,
    MODULE,
    NO_REFERENCES,
    OPTION,
    SAFE,
    SURE,
    TENSOR,
    Abstract,
    join,
)
from torchlint.values.asking import ON, Asker, CallSite, Path
from torchlint.values.contexts import Context

_OF_ITS_OWN: Final = words("""
    zero_ normal_ uniform_ random_ bernoulli_ exponential_ cauchy_ log_normal_ geometric_ zero_grad_ share_memory_
    eq_ ne_ lt_ le_ gt_ ge_ greater_ less_ greater_equal_ less_equal_ not_equal_ logical_and_ logical_or_ logical_xor_
    logical_not_ sign_ resize_ resize_as_ retain_grad_ rename_ squeeze_ unsqueeze_ t_ transpose_ swapaxes_ swapdims_
""")
"""Methods that bring no gradient of an argument into the tensor."""
_CHANGES_SHAPE: Final = words("t_ transpose_ swapaxes_ swapdims_ squeeze_ resize_ resize_as_ set_ as_strided_")


def after_method(site: CallSite, owner: Abstract, word: str) -> Abstract:
    """Return a tensor after one of its methods that change it, which is what the method gives, too.

    With grad mode on, an operand that requires grad brings the tensor into its graph; the tensor keeps its dtype, its
    place, and a gradient that it has.
    """
    owner = owner.but(kind=TENSOR, references=NO_REFERENCES)
    if word == "detach_":
        return owner.detached()
    if word == "requires_grad_":
        return _requiring(owner, site.value(0, "requires_grad"), site.node)
    if word in _CHANGES_SHAPE:
        owner = owner.but(rank=of_sizes(site, 0) if word == "resize_" else ANY_RANK)
    elif word == "unsqueeze_":
        owner = owner.but(rank=higher(owner.rank))
    if word in _OF_ITS_OWN or word in NEVER:
        return owner
    return _brought_in(site.asker, owner, site.operands(scalar_arguments(word), 1), site.node, site.context)


def _brought_in(
    asker: Asker, owner: Abstract, operands: list[Abstract], node: Node, context: Context | None
) -> Abstract:
    """Return a tensor into which operands were written."""
    if not owner.dtype & FLOATING or not operands or not asker.mode(node, context) & ON:
        return owner
    made = asker.under(combined(asker, [owner, *operands], node, context, numbers=True), node, context)
    if not made.grad & ~SAFE:
        return owner
    grad = made.grad | owner.grad & ~SAFE
    if owner.grad & ~SAFE and not owner.grad & SAFE:
        grad &= ~SAFE
    return owner.but(grad=grad, grad_from=owner.grad_from if owner.grad & ~SAFE else made.grad_from)


def _requiring(owner: Abstract, wanted: Abstract | None, at: Node) -> Abstract:
    """Return a tensor that was told whether it requires grad."""
    told = True if wanted is None else truth_of(wanted)
    if told is False or not owner.dtype & FLOATING:
        return owner.detached()
    if told:
        return owner.but(grad=SURE, grad_from=at)
    return owner.but(grad=owner.grad | SAFE | OPTION, grad_from=owner.grad_from or at)


# ---------------------------------------------------------------------- nodes of the graph
def changed(asker: Asker, before: Abstract, word: str, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return what a path leads to from an object after a method that changes it; ``node`` is of operation INPLACE.

    ``before`` is the object before. A tensor is what the method leaves; a module is moved or frozen; what is
    neither stays as it was.
    """
    source, call = node.ins
    site = CallSite(asker, call, context)
    if not before.kind & (TENSOR | MODULE):
        return asker.value(source, path, context)
    tensors = before.kind & TENSOR and changes_in_place(word)
    modules = before.kind & MODULE and (word in MOVES or word == "requires_grad_")
    if not tensors and not modules:
        return asker.value(source, path, context)
    if before.kind == TENSOR:
        return descend(after_method(site, before, word), path)
    after = before
    if modules:
        after = _module_after(site, before, word)
    if tensors:
        part = after_method(site, before.but(kind=TENSOR), word)
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
            return before.but(grad=SAFE, grad_from=None)
        return before.but(grad=0 if told else before.grad | SAFE, grad_from=None)
    if word in ("type_as", "type"):
        return before
    after = moved(site, before.but(kind=MODULE), word, ())
    return before.but(device=after.device, device_from=after.device_from)


def grown(asker: Asker, before: Abstract, member: Node, node: Node, context: Context | None) -> Abstract:
    """Return a tensor that was written into by index; ``node`` is of operation GROW, ``member`` what was written."""
    if not before.kind & TENSOR:
        return before
    value = asker.value(member, (), context)
    written = _brought_in(asker, before.but(kind=TENSOR), [value] if value.kind & TENSOR else [], node, context)
    return before.but(grad=written.grad, grad_from=written.grad_from)


def after_setter(_: Asker, before: Abstract, word: str, value: Abstract, node: Node) -> Abstract:
    """Return an object after one of its attributes was set; ``node`` is of operation SETTER."""
    if not before.kind & TENSOR:
        return before
    if word == "requires_grad":
        part = _requiring(before.but(kind=TENSOR), value, node)
        grad = part.grad if before.kind == TENSOR else part.grad | before.grad & SAFE
        return before.but(grad=grad, grad_from=part.grad_from)
    if word == "data" and value.kind & TENSOR:  # another memory; whether it requires grad stays
        after = before.but(
            device=value.device or SAFE,
            device_from=value.device_from,
            dtype=value.dtype or ANY_DTYPE,
            rank=value.rank or ANY_RANK,
        )
        return after if value.kind == TENSOR and before.kind == TENSOR else join(before, after)
    return before
