"""Copies of tensors of the device that torch would make by asking the device's memory itself."""

from __future__ import annotations

import copy
from typing import Any

import torch

from torchlint.proof.simulated.memory import lift, lower, on_device

_deepcopy = torch.Tensor.__deepcopy__


def copied_deep(tensor: Any, memo: dict[int, Any]) -> Any:
    """Copy a tensor as ``copy.deepcopy`` does: tensors that share memory still do in the copy."""
    if not on_device(tensor):
        return _deepcopy(tensor, memo)
    if id(tensor) in memo:
        return memo[id(tensor)]
    if not tensor.is_leaf:
        return _deepcopy(tensor, memo)  # raises, in torch's own words
    with torch.no_grad():
        made = lift(copy.deepcopy(lower(tensor.detach()), memo))
        if isinstance(tensor, torch.nn.Parameter):
            made = torch.nn.Parameter(made, tensor.requires_grad)
        made.requires_grad_(tensor.requires_grad)
        made.grad = copy.deepcopy(tensor.grad, memo)
    made.__dict__ = copy.deepcopy(tensor.__dict__, memo)
    memo[id(tensor)] = made
    return made


def typed_names(kind: Any) -> Any:
    """Give the dtype of ``torch.cuda.FloatTensor``, class or name; None for a kind of another place."""
    name = kind if isinstance(kind, str) else f"{getattr(kind, '__module__', '')}.{getattr(kind, '__name__', '')}"
    home, _, word = name.rpartition(".")
    if not (word.endswith("Tensor") and (home == "torch.cuda" or type(kind).__name__ == "Typed")):
        return None
    return getattr(torch, word).dtype
