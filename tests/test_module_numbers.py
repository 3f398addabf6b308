"""What inference takes for numbers are numbers in torch's own modules."""

from __future__ import annotations

import pytest

from torchlint.inference.models.nn import NUMBERS

torch = pytest.importorskip("torch")


def test_the_counts_of_layers_are_numbers() -> None:
    nn = torch.nn
    modules = (
        nn.Linear(2, 3),
        nn.Conv2d(2, 2, 1),
        nn.Embedding(3, 2),
        nn.BatchNorm1d(2),
        nn.LSTM(2, 3),
        nn.MultiheadAttention(4, 2),
    )
    found = {word: [getattr(each, word) for each in modules if hasattr(each, word)] for word in NUMBERS}
    assert all(found.values())
    assert {type(value) for values in found.values() for value in values} == {int}
    assert not any(hasattr(torch.ones(2), word) for word in NUMBERS)
