"""What the objects of ``torch.distributions`` give."""

from __future__ import annotations

from torchlint.facts.value import UNKNOWN, Device, Grad, Mode, Value, tensor
from torchlint.inference.models.call_arguments import Arguments
from torchlint.inference.models.tables import Call, functions
from torchlint.inference.models.tensors import computed

_GIVEN = """
sample sample_n                             -> drawn
rsample log_prob cdf icdf                   -> of_parameters
entropy mean stddev variance probs logits   -> of_some_parameters
"""
"""Methods and attributes, by their names."""


def distribution(value: Value, name: str, given: Arguments, mode: Mode) -> Value | None:
    """Return the result of a method or attribute of a ``torch.distributions`` object; None for other names."""
    effect = _TABLE.find(name)
    return effect(Call(name, given, mode, value.member or UNKNOWN)) if effect is not None else None


def _drawn(call: Call) -> Value:
    inner = call.receiver
    return tensor(Grad.DETACHED, inner.device or Device.HOST, why_device=inner.why_device)


def _of_parameters(call: Call) -> Value:
    return computed(call.receiver, call.mode)


def _of_some_parameters(call: Call) -> Value:
    result = _of_parameters(call)
    return result.having(grad=result.grad | Grad.DETACHED)


_TABLE = functions(_GIVEN, [_drawn, _of_parameters, _of_some_parameters])
