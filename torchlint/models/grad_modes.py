"""What a ``with``, a decorator or a call makes of grad mode, of the default device and of the default dtype."""

from __future__ import annotations

from typing import Final

from torchlint.models.descent import constants_of
from torchlint.models.operation_sets import words
from torchlint.models.tensor_moves import dtype_of, place_of
from torchlint.semantic.graph import ATTR, CALL, GRAD, Node
from torchlint.semantic.graph import DEVICE as DEVICE_VARIABLE
from torchlint.semantic.graph import DTYPE as DTYPE_VARIABLE
from torchlint.values import abstract as a
from torchlint.values.abstract import Abstract, join, of_kind
from torchlint.values.asking import Asker, CallSite
from torchlint.values.contexts import Context
from torchlint.values.references import ConstantRef, LibraryInstanceRef, LibraryRef

GRAD_ON: Final = of_kind(a.SCALAR, frozenset({ConstantRef(True, bool)}))
GRAD_OFF: Final = of_kind(a.SCALAR, frozenset({ConstantRef(False, bool)}))
GRAD_EITHER: Final = join(GRAD_ON, GRAD_OFF)

_SWITCHES: Final = words(
    "no_grad enable_grad inference_mode set_grad_enabled _AutoDispatchBelowAutograd _set_grad_enabled"
)
"""Managers that set grad mode, by their last word; those of ``torch``, ``torch.autograd`` and their modules are one."""


def is_switch(name: str) -> bool:
    """Whether a dotted name is that of a manager that sets grad mode."""
    package, _, word = name.rpartition(".")
    return word in _SWITCHES and package.partition(".")[0] == "torch"


def mode_of(name: str, site: CallSite | None) -> Abstract:
    """Return the grad mode that a manager makes; ``site`` is the call that made it, None for a bare decorator."""
    word = name.rpartition(".")[2]
    if word in ("no_grad", "_AutoDispatchBelowAutograd"):
        return GRAD_OFF
    if word == "enable_grad":
        return GRAD_ON
    told = site.value(0, "mode") if site is not None else None
    if told is None:
        return GRAD_OFF if word == "inference_mode" else GRAD_EITHER
    known = constants_of(told)
    if known is None:
        return GRAD_EITHER
    modes = a.BOTTOM
    for each in known:  # inference_mode(False) turns grad mode on, measured
        modes = join(modes, GRAD_ON if bool(each) is (word != "inference_mode") else GRAD_OFF)
    return modes


# ---------------------------------------------------------------------- with
def entered(asker: Asker, variable: str, manager: Node, context: Context | None) -> Abstract | None:
    """Return what a ``with``, or a decorator, makes of a process variable; None where it leaves it alone.

    Only managers of torch are known here; one that the project writes is a matter of the evaluator.
    """
    if variable == DTYPE_VARIABLE:
        return None
    if manager.op == CALL:
        maker = asker.value(manager.ins[0], (), context)
        if maker.references and all(isinstance(each, LibraryRef) for each in maker.references):
            return _of_maker(variable, maker, CallSite(asker, manager, context))
    value = asker.value(manager, (), context)
    if variable == DEVICE_VARIABLE:
        return value.plain() if value.kind == a.DEVICE else None
    found: list[Abstract | None] = []
    for each in value.references:
        if isinstance(each, LibraryInstanceRef) and is_switch(each.name):
            site = CallSite(asker, each.made, each.context) if each.made is not None else None
            found.append(mode_of(each.name, site))
        elif isinstance(each, LibraryRef) and is_switch(each.name) and manager.op != CALL:
            found.append(mode_of(each.name, None))
        else:
            found.append(None)
    return _joined(found)


def _of_maker(variable: str, maker: Abstract, site: CallSite) -> Abstract | None:
    """Return what the object makes that a library's function gives, without asking for that object."""
    found: list[Abstract | None] = []
    for each in maker.references:
        if not isinstance(each, LibraryRef):
            return None
        if variable == GRAD:
            found.append(mode_of(each.name, site) if is_switch(each.name) else None)
        else:
            found.append(_device(site) if each.name == "torch.device" else None)
    return _joined(found)


def _joined(found: list[Abstract | None]) -> Abstract | None:
    """Return the join of what several managers make; one that leaves grad mode alone leaves either of both."""
    known = [each for each in found if each is not None]
    if not known:
        return None
    result = a.BOTTOM
    for each in known:
        result = join(result, each)
    if len(known) < len(found):
        return GRAD_EITHER if result.kind == a.SCALAR else result.but(device=result.device | a.SAFE)
    return result


def _device(site: CallSite) -> Abstract:
    given = site.value(0, "device") or site.value(0, "type")
    bits, origin = (a.SAFE, None) if given is None or given.must(a.NONE) else place_of(given, site.node)
    return Abstract(a.DEVICE, 0, bits, 0, 0, device_from=origin)


# ---------------------------------------------------------------------- calls
_SETTERS: Final = {
    GRAD: words("set_grad_enabled _set_grad_enabled"),
    DEVICE_VARIABLE: words("set_default_device set_default_tensor_type"),
    DTYPE_VARIABLE: words("set_default_dtype set_default_tensor_type"),
}
"""The functions that set each process variable, by their last word."""


def after_call(asker: Asker, variable: str, call: Node, context: Context | None) -> Abstract | None:
    """Return what a call makes of a process variable; None where it leaves it alone."""
    function = call.ins[0]
    if function.op == ATTR and function.data not in _SETTERS[variable]:
        return None
    site = CallSite(asker, call, context)
    found: list[Abstract | None] = []
    for each in asker.value(function, (), context).references:
        name = each.name if isinstance(each, LibraryRef) else ""
        found.append(_set_by(name.rpartition(".")[2], variable, site) if name.startswith("torch.") else None)
    return _joined(found) if variable != DTYPE_VARIABLE else next((each for each in found if each is not None), None)


def _set_by(word: str, variable: str, site: CallSite) -> Abstract | None:
    if word not in _SETTERS[variable]:
        return None
    if variable == GRAD:
        return mode_of(word, site)
    if variable == DEVICE_VARIABLE:
        return _device(site) if word == "set_default_device" else _device_of_type(site)
    given = site.value(0, "d") or site.value(0, "t")
    known = dtype_of(given) if given is not None else None
    return Abstract(a.DTYPE, 0, 0, known & a.FLOATING or a.FLOATING if known is not None else a.FLOATING, 0)


def _device_of_type(site: CallSite) -> Abstract:
    given = site.value(0, "t")
    names = [each.name for each in given.references if isinstance(each, LibraryRef)] if given is not None else []
    if given is not None:
        names += [str(each.value) for each in given.references if isinstance(each, ConstantRef)]
    bits = 0
    for each in names:
        bits |= a.SURE if ".cuda." in each else a.SAFE
    return Abstract(a.DEVICE, 0, bits or a.SAFE, 0, 0, device_from=site.node if bits & ~a.SAFE else None)
