"""What optimizers of torch hold and give: the parameters that they were made with, their state, a closure's loss."""

from __future__ import annotations

from typing import Final

from torchlint.models.descent import descend
from torchlint.models.library_objects import handed_results
from torchlint.values import abstract as a
from torchlint.values.abstract import A_SEQUENCE, NOTHING, Abstract, join, of_kind, tensor
from torchlint.values.asking import ANY_ELEMENT, Asker, CallSite, Path
from torchlint.values.references import LibraryInstanceRef

_SETTINGS: Final = of_kind(a.NUMBER | a.SEQUENCE | a.NONE | a.STRING)


def is_optimizer(name: str) -> bool:
    """Whether a dotted name is a class of optimizers."""
    return name.startswith("torch.optim.") and not name.startswith("torch.optim.lr_scheduler.")


def parameters_given(asker: Asker, reference: LibraryInstanceRef, path: Path) -> Abstract:
    """Return what a path leads to from one of the parameters that an optimizer was made with, in groups or not."""
    if reference.made is None:
        return descend(tensor(a.SAFE | a.SURE, a.SAFE | a.OF_CLASS), path)
    site = CallSite(asker, reference.made, reference.context)
    given = site.argument(0, "params")
    if given is None:
        return descend(Abstract(a.ANY & ~a.MODULE, a.SAFE, a.SAFE), path)
    each = asker.elements(given, (), reference.context)
    plain = asker.elements(given, path, reference.context)
    if not each.kind & a.SEQUENCE:
        return plain
    grouped = asker.elements(given, ("=params", ANY_ELEMENT, *path), reference.context)
    return grouped if each.kind == a.SEQUENCE else join(plain, grouped)


def optimizer_attribute(asker: Asker, reference: LibraryInstanceRef, word: str, path: Path) -> Abstract | None:
    """Return an attribute of an optimizer; None for words that are not known."""
    if word == "param_groups":
        if len(path) < 2:
            return A_SEQUENCE
        if path[1] == "=params":
            return A_SEQUENCE if len(path) == 2 else parameters_given(asker, reference, path[3:])
        return _SETTINGS if path[1] != ANY_ELEMENT else join(_SETTINGS, A_SEQUENCE)
    if word == "state":
        return A_SEQUENCE if len(path) < 2 else descend(_state(asker, reference), path[2:])
    return A_SEQUENCE if word == "defaults" and not path else None


def _state(asker: Asker, reference: LibraryInstanceRef) -> Abstract:
    """Return what an optimizer keeps of a parameter: tensors without a gradient where the parameter is, and numbers."""
    one = parameters_given(asker, reference, ())
    return tensor(a.SAFE, one.device or a.SAFE, device_from=one.device_from).but(kind=a.TENSOR | a.NUMBER | a.NONE)


def optimizer_method(site: CallSite, reference: LibraryInstanceRef, word: str, path: Path) -> Abstract | None:
    """Return what a method of an optimizer gives; None for words that are not known."""
    if word == "step":
        found = handed_results(site, word, path)
        return join(found, NOTHING) if found is not None else NOTHING
    if word == "state_dict":
        if not path:
            return A_SEQUENCE
        one = parameters_given(site.asker, reference, ())
        return descend(Abstract(a.ANY & ~a.MODULE, a.SAFE, one.device or a.SAFE, device_from=one.device_from), path[1:])
    return NOTHING if word in ("zero_grad", "load_state_dict", "add_param_group", "share_memory") else None


def optimizer_made(site: CallSite, name: str, path: Path) -> Abstract:
    """Return an optimizer."""
    own = LibraryInstanceRef(name, site.node, site.context)
    made = of_kind(a.OTHER, frozenset([own]))
    return site.asker.along(made, path, site.node, site.context) if path else made
