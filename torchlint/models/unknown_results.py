"""What a call gives of which nothing is known, and what one may presume of it from what it is handed."""

from __future__ import annotations

from torchlint.models.descent import descend
from torchlint.values import abstract as a
from torchlint.values.abstract import Abstract, join_all, unknown
from torchlint.values.asking import CallSite, Path, Presumption


def unknown_call(site: CallSite, path: Path, owners: tuple[Abstract, ...] = ()) -> Abstract:
    """Return what a function gives of which nothing is known; ``owners`` are objects whose method it is.

    Presumed is that a method of something without a gradient on the host gives the like.
    """
    return _result(site, path, _like_owners(owners))


def library_result(site: CallSite, name: str, path: Path) -> Abstract:
    """Return what a library's function gives of which nothing is known, by its full name.

    Presumed is that what is handed plain tensors gives no gradient that they do not have.
    """
    return _result(site, path, _like_given(site) if name.rpartition(".")[2].islower() else None)


def _result(site: CallSite, path: Path, like: Abstract | None) -> Abstract:
    if not site.asker.presumes(Presumption.KEPT):  # it may give what was computed long before, whatever the grad mode
        return descend(unknown(a.OF_CALL, site.node), path)
    computed = like if like is not None else unknown(a.OF_CALL, site.node)
    return descend(site.asker.under(computed, site.node, site.context), path)


def _like_owners(owners: tuple[Abstract, ...]) -> Abstract | None:
    """Return what a method of detached tensors on the host gives; None where the object says no more."""
    owner = join_all(owners)
    if owner.grad == a.SAFE and owner.device == a.SAFE and owner.kind & a.TENSOR:
        return Abstract(a.ANY, a.SAFE, a.SAFE)
    return None


def _like_given(site: CallSite) -> Abstract | None:
    """Return what a function gives as far as what it is handed says so; None where that says nothing."""
    operands = [each for each in site.operands() if each.kind & (a.CARRIES | a.ARRAY)]
    if not operands or site.given.spread:
        return None
    known = [each for each in operands if each.kind in (a.TENSOR, a.ARRAY)]
    joined = join_all(operands)
    if len(known) == len(operands) and joined.grad in (0, a.SAFE):
        return anything_like(joined).but(grad=a.SAFE, grad_from=None)
    if all(each.kind & a.TENSOR and each.grad & a.OF_PARAM for each in operands):
        return anything_like(joined)
    return None


def anything_like(value: Abstract) -> Abstract:
    """Return a value of any kind with the evidence of another."""
    return Abstract(
        a.ANY,
        value.grad or a.SAFE,
        value.device or a.SAFE,
        a.ANY_DTYPE,
        a.ANY_RANK,
        a.NO_REFERENCES,
        value.grad_from,
        value.device_from,
    )
