"""What ``--show-facts`` says of a conversion that is silent although something is not excluded."""

from __future__ import annotations

import pytest

from torchlint.diagnostics.model import Settings
from torchlint.knowledge import analyse
from torchlint.output.known_facts import render
from torchlint.output.screen import Screen
from torchlint.source.text import decode
from torchlint.syntax.ast_index import index_of

PACKED = """\
import torch
from torch import nn


def packed(x: torch.Tensor, sizes: torch.Tensor):
    sizes = sizes.cpu().numpy()
    return nn.utils.rnn.pack_padded_sequence(x, sizes)
"""
OF_ANOTHER = """\
import tensorflow as tf
import torch


def shown(tf_output):
    return tf_output.numpy()
"""
PLAIN = """\
import torch


def plain(x: torch.Tensor):
    return x.cpu().numpy()
"""
SILENT = "not reported"


def told(text: str, row: int, **settings: bool) -> list[str]:
    analysis = analyse(index_of(decode("a.py", text.encode())), Settings(**settings))  # type: ignore[arg-type]
    return [line.strip() for line in render(analysis, row, Screen()) if SILENT in line]


@pytest.mark.parametrize(
    ("text", "row", "said"),
    [
        (PACKED, 6, ["grad: presumed not to be required, as such code is mostly called: not reported"]),
        (OF_ANOTHER, 6, ["kind: the code around it speaks of another library's values: not reported"]),
        (PLAIN, 5, []),
    ],
    ids=["presumed", "another library", "reported"],
)
def test_a_silence_has_its_reason(text: str, row: int, said: list[str]) -> None:
    assert told(text, row) == said


def test_strict_settings_presume_nothing() -> None:
    assert told(PACKED, 6, strict=True) == []
