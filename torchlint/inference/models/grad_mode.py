"""Grad mode: what a ``with`` block, a decorator or a bare call makes of it."""

from __future__ import annotations

from torchlint.inference.facts import Mode, Value
from torchlint.inference.models.functions import MODES

LIGHTNING_EVALUATION = frozenset(
    [
        "validation_step",
        "test_step",
        "predict_step",
        "validation_epoch_end",
        "test_epoch_end",
        "on_validation_epoch_end",
        "on_test_epoch_end",
        "on_validation_batch_end",
        "on_test_batch_end",
        "validation_end",
        "test_end",
    ]
)
"""Hooks that Lightning's trainer calls with grad mode off."""


def entered(context: Value, mode: Mode) -> Mode:
    """Give the grad mode inside ``with context:``; other contexts change nothing."""
    if not context.instance:
        return mode
    inside = Mode(0)
    for name in context.instance:
        inside |= _one(name, context, mode)
    return inside


def _one(name: str, context: Value, mode: Mode) -> Mode:
    if name in MODES:
        wanted = context.items[0].const if context.items else None
        if name == "torch.inference_mode" and context.items:
            return mode if wanted is False else Mode.OFF if wanted is True else Mode.ON | Mode.OFF
        return MODES[name]
    if name == "torch.set_grad_enabled":
        wanted = context.items[0].const if context.items else None
        if isinstance(wanted, bool):
            return Mode.ON if wanted else Mode.OFF
        return Mode.ON | Mode.OFF
    return mode


def decorated(decorators: list[Value], mode: Mode) -> Mode:
    """Give the grad mode in a function's body: ``@torch.no_grad()`` and ``@torch.no_grad`` both turn it off."""
    for decorator in decorators:
        named = decorator.names & (MODES.keys() | {"torch.set_grad_enabled"})
        if decorator.instance:
            mode = entered(decorator, mode)
        elif named:
            mode = MODES.get(next(iter(named)), mode)
    return mode
