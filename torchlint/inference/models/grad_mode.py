"""Grad mode: what a ``with`` block, a decorator or a bare call makes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from torchlint.facts.value import Kind, Mode, Value, of_kind
from torchlint.inference.models.operations import leaf
from torchlint.inference.models.tables import Call, Table, words

_SWITCHES = """
torch.no_grad torch._C._AutoDispatchBelowAutograd  -> off
torch.enable_grad                                  -> on
torch.inference_mode                               -> off unless false
torch.set_grad_enabled torch._C._set_grad_enabled  -> as told, at once
torch.autocast torch.cuda.amp.autocast             -> unchanged
contextlib.nullcontext contextlib.suppress         -> unchanged
"""
"""Context managers of torch, which are decorators too, and of Python that stand in their place.

Another one needs a row here and nothing else. ``at once`` says that the mode changes
where the object is made: a call on its own is enough.
"""

LIGHTNING_EVALUATION = words(
    "validation_step test_step predict_step validation_epoch_end test_epoch_end validation_end test_end"
    " on_validation_epoch_end on_validation_batch_end on_test_epoch_end on_test_batch_end on_predict_epoch_end"
    " on_predict_batch_end write_on_batch_end write_on_epoch_end"
)
"""Hooks of modules and callbacks that Lightning's trainer calls with grad mode off."""

AUTOGRAD_FUNCTION = words("forward backward setup_context")
"""Methods of a ``torch.autograd.Function`` that autograd calls with grad mode off."""

_EITHER = Mode.ON | Mode.OFF


def _off(given: tuple[Value, ...], outside: Mode) -> Mode:
    return Mode.OFF


def _on(given: tuple[Value, ...], outside: Mode) -> Mode:
    return Mode.ON


def _off_unless_false(given: tuple[Value, ...], outside: Mode) -> Mode:
    told = given[0].const if given else True
    if not isinstance(told, bool):
        return _EITHER
    return Mode.OFF if told else outside


def _as_told(given: tuple[Value, ...], outside: Mode) -> Mode:
    told = given[0].const if given else None
    if not isinstance(told, bool):
        return _EITHER
    return Mode.ON if told else Mode.OFF


def _unchanged(given: tuple[Value, ...], outside: Mode) -> Mode:
    return outside


@dataclass(frozen=True)
class Switch:
    """What a context manager makes of grad mode."""

    inside: Callable[[tuple[Value, ...], Mode], Mode]
    """The mode inside its block, for what it is given and the mode outside."""
    at_once: bool = False

    @property
    def turns_off(self) -> bool:
        """Whether it is there to turn grad mode off."""
        return self.inside in (_off, _off_unless_false)


_EFFECTS = {
    "off": _off,
    "on": _on,
    "off unless false": _off_unless_false,
    "as told": _as_told,
    "unchanged": _unchanged,
}


def _switch(word: str) -> Switch | None:
    effect, _, when = word.partition(", ")
    return Switch(_EFFECTS[effect], bool(when)) if effect in _EFFECTS and when in ("", "at once") else None


_TABLE = Table(_SWITCHES, _switch).by_name()
_CHANGING = {name: switch for name, switch in _TABLE.items() if switch.inside is not _unchanged}

GRAD_MODES = frozenset(_CHANGING)
"""The context managers that make another mode than there is around them."""

GRAD_MODE_DECORATORS = frozenset(name for name, switch in _CHANGING.items() if not switch.at_once)
"""The grad modes that change nothing before the function that they decorate is called."""

WORDS = frozenset(map(leaf, GRAD_MODES))
"""The names of grad modes as code spells them, without what they are taken from."""

TURNING_OFF = frozenset(leaf(name) for name, switch in _CHANGING.items() if switch.turns_off)

AT_ONCE = frozenset(leaf(name) for name, switch in _CHANGING.items() if switch.at_once)
"""The names of grad modes whose bare call changes the mode."""


def context(call: Call) -> Value | None:
    """Return the context manager that a call makes; None where the function makes none."""
    if call.name not in _TABLE:
        return None
    return of_kind(Kind.OTHER, instance=frozenset((call.name,)), items=tuple(call.given.every()))


def after(call: Call) -> Mode:
    """Return the mode behind a statement that is nothing but a call."""
    switch = _TABLE.get(call.name)
    return switch.inside(tuple(call.given.every()), call.mode) if switch and switch.at_once else call.mode


def entered(context: Value, mode: Mode, own: Mapping[str, Mode] = MappingProxyType({})) -> Mode:
    """Return the mode inside ``with context:``; other contexts change nothing.

    ``own`` holds what the project's own classes of contexts make of it, by their names.
    """
    if not context.instance:
        return mode
    inside = Mode(0) if context.must(Kind.OTHER) else mode  # something else may have been made instead
    for name in context.instance:
        switch = _TABLE.get(name)
        inside |= own.get(name, mode) if switch is None else switch.inside(context.items or (), mode)
    return inside


def decorated(decorator: Value, mode: Mode) -> Mode:
    """Return the mode in a function's body: ``@torch.no_grad()`` and ``@torch.no_grad`` both turn it off."""
    if decorator.instance:
        return entered(decorator, mode)
    inside = Mode(0)
    for name in decorator.names & GRAD_MODES:
        inside |= _TABLE[name].inside((), mode)
    return inside or mode


def switches(value: Value) -> bool:
    """Whether a value is one of the context managers that change the mode, or makes one."""
    return not GRAD_MODES.isdisjoint(value.instance | value.names)
