"""On which side of a test there is no accelerator, so that all tensors are on the host there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from torchlint.semantic.graph import EITHER, TRUTH, Guards, Node
from torchlint.values.abstract import Abstract
from torchlint.values.asking import Presumption
from torchlint.values.contexts import Context
from torchlint.values.references import AnswerRef

if TYPE_CHECKING:
    from torchlint.evaluation.evaluator import Evaluator

_ASKING: Final = "is_available"
_ASKED: Final = frozenset({AnswerRef(f"torch.cuda.{_ASKING}")})
_OTHERS: Final = re.compile(rb"(?<![a-z])(?:mps|xpu|npu|hpu|tpu|xla|mlu|musa|ipu)(?![a-z])", re.IGNORECASE)
"""Accelerators that are there without CUDA."""


def on_side(ev: Evaluator, value: Abstract, guards: Guards, context: Context | None) -> Abstract:
    """Return a value as it is where tests came out so: on the host where one says that there is no other place."""
    if not value.may_be_on_accelerator or not guards or not ev.presumes(Presumption.ONE_ACCELERATOR):
        return value
    if not ev.program.has_text((_ASKING,)):  # else each test on a long way is looked at for nothing
        return value
    return value.on_host() if any(_says_host(ev, *each, context) for each in guards) else value


def _says_host(ev: Evaluator, test: Node, answer: bool, context: Context | None) -> bool:
    if test.op == TRUTH and test.data == "not":
        return _says_host(ev, test.ins[0], not answer, context)
    if test.op == EITHER:
        says = any if (test.data == "and") is answer else all
        return says(_says_host(ev, each, answer, context) for each in test.ins)
    if answer or ev.value(test, (), context).references != _ASKED:
        return False
    return _OTHERS.search(test.fn.file.bare) is None
