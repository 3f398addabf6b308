"""What objects of ``torch.distributions`` give: samples without a gradient, the rest with that of what made them."""

from __future__ import annotations

from typing import Final

from torchlint.models.descent import descend
from torchlint.models.operation_sets import DISTRIBUTIONS
from torchlint.semantic.graph import Node
from torchlint.syntax.places import leaf
from torchlint.values import abstract as a
from torchlint.values.abstract import A_THING, Abstract, join_all, of_kind, tensor, unknown
from torchlint.values.asking import Asker, CallSite, Path
from torchlint.values.contexts import Context
from torchlint.values.references import LibraryInstanceRef

_NEVER: Final = frozenset("sample sample_n enumerate_support".split())
_LIVE: Final = frozenset("rsample log_prob entropy mean stddev variance probs logits cdf icdf mode loc scale".split())


def is_distribution(name: str) -> bool:
    """Whether a dotted name is a class of distributions."""
    return name.startswith("torch.distributions.") and leaf(name)[:1].isupper()


def distribution_made(site: CallSite, name: str, path: Path) -> Abstract:
    """Return a distribution."""
    own = LibraryInstanceRef(f"torch.distributions.{leaf(name)}", site.node, site.context)
    return descend(of_kind(a.OTHER, frozenset([own])), path)


def distribution_part(
    asker: Asker, reference: LibraryInstanceRef, word: str, path: Path, at: Node, context: Context | None
) -> Abstract:
    """Return what a method or an attribute of a distribution gives, by what the distribution was made of."""
    row = DISTRIBUTIONS.get(leaf(reference.name), {})
    if reference.made is None:
        made = tensor(a.SAFE | a.OF_CALL, a.SAFE | a.OF_CALL, a.FLOATING, grad_from=at, device_from=at)
    else:
        made = parameters_of(asker, reference).but(rank=a.ANY_RANK)  # samples have more dimensions, or fewer
    if word in row.get("never", ()) or word in _NEVER:
        return descend(made.detached().but(dtype=a.FLOATING | a.INTEGRAL), path)
    if word in row.get("live", ()) or word in _LIVE:
        return descend(asker.under(made, at, context), path)
    if word in ("batch_shape", "event_shape"):
        return descend(of_kind(a.SIZE), path)
    if word == "expand":
        return descend(of_kind(a.OTHER, frozenset([reference])), path)
    return descend(A_THING if word in row.get("other", ()) else unknown(a.OF_CALL, at), path)


def parameters_of(asker: Asker, reference: LibraryInstanceRef) -> Abstract:
    """Return the join of the tensors that a distribution was made of, those of distributions inside it too."""
    if reference.made is None:
        return tensor()
    found: list[Abstract] = []
    for each in CallSite(asker, reference.made, reference.context).operands():
        if each.kind & a.TENSOR:
            found.append(each.but(kind=a.TENSOR, references=a.NO_REFERENCES))
        inner = (one for one in each.references if isinstance(one, LibraryInstanceRef) and is_distribution(one.name))
        found += [parameters_of(asker, one) for one in inner if one.made is not reference.made]
    return join_all(found).but(dtype=a.FLOATING) if found else tensor(dtype=a.FLOATING)
