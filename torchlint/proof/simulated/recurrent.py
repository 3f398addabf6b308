"""The cells of recurrent networks: torch asks every device but the host for cells that do all in one step."""

from __future__ import annotations

from typing import Any

import torch

from torchlint.proof.simulated.memory import lift, lower


def _hosts(*tensors: Any) -> list[Any]:
    return [None if each is None else lower(each) for each in tensors]


def _plus(gates: Any, bias: Any) -> Any:
    return gates if bias is None else gates + bias


def lstm(inputs: Any, hidden: Any, cell: Any, input_bias: Any = None, hidden_bias: Any = None) -> tuple[Any, ...]:
    """Give the new hidden state, the new cell state and the four gates, which the way back needs."""
    inputs, hidden, cell, input_bias, hidden_bias = _hosts(inputs, hidden, cell, input_bias, hidden_bias)
    parts = (_plus(inputs, input_bias) + _plus(hidden, hidden_bias)).chunk(4, 1)
    take, forget, out = parts[0].sigmoid(), parts[1].sigmoid(), parts[3].sigmoid()
    new = parts[2].tanh()
    state = forget * cell + take * new
    return lift(out * state.tanh()), lift(state), lift(torch.cat([take, forget, new, out], 1))


def lstm_back(hidden: Any, state: Any, old: Any, cell: Any, gates: Any, has_bias: bool) -> tuple[Any, ...]:
    """Give the gradients of the gates, of the old cell state and of the bias."""
    hidden, state, old, cell, gates = _hosts(hidden, state, old, cell, gates)
    take, forget, new, out = gates.chunk(4, 1)
    bent = cell.tanh()
    hidden = torch.zeros_like(cell) if hidden is None else hidden
    inner = hidden * out * (1 - bent * bent) + (0 if state is None else state)
    by_gate = [
        inner * new * take * (1 - take),
        inner * old * forget * (1 - forget),
        inner * take * (1 - new * new),
        hidden * bent * out * (1 - out),
    ]
    whole = torch.cat(by_gate, 1)
    return lift(whole), lift(inner * forget), lift(whole.sum(0)) if has_bias else None


def gru(inputs: Any, hidden: Any, state: Any, input_bias: Any = None, hidden_bias: Any = None) -> tuple[Any, Any]:
    """Give the new hidden state and what the way back needs."""
    inputs, hidden, state, input_bias, hidden_bias = _hosts(inputs, hidden, state, input_bias, hidden_bias)
    own, past = _plus(inputs, input_bias).chunk(3, 1), _plus(hidden, hidden_bias).chunk(3, 1)
    reset, keep = (own[0] + past[0]).sigmoid(), (own[1] + past[1]).sigmoid()
    new = (own[2] + reset * past[2]).tanh()
    return lift(new + keep * (state - new)), lift(torch.cat([reset, keep, new, state, past[2]], 1))


def gru_back(hidden: Any, kept: Any, has_bias: bool) -> tuple[Any, ...]:
    """Give the gradients of both sides' gates, of the old state and of both biases."""
    hidden, kept = _hosts(hidden, kept)
    reset, keep, new, state, past = kept.chunk(5, 1)
    by_keep = hidden * (state - new) * keep * (1 - keep)
    by_new = hidden * (1 - keep) * (1 - new * new)
    by_reset = by_new * past * reset * (1 - reset)
    own, other = torch.cat([by_reset, by_keep, by_new], 1), torch.cat([by_reset, by_keep, by_new * reset], 1)
    biases = (lift(own.sum(0)), lift(other.sum(0))) if has_bias else (None, None)
    return lift(own), lift(other), lift(hidden * keep), *biases


CELLS: dict[str, Any] = {
    "_thnn_fused_lstm_cell": lstm,
    "_thnn_fused_lstm_cell_backward_impl": lstm_back,
    "_thnn_fused_gru_cell": gru,
    "_thnn_fused_gru_cell_backward": gru_back,
}
