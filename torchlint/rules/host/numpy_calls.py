"""Calls of ``.numpy()``, of which three rules speak: which of them is the strongest, how sure it is, and how severe."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

import libcst as cst

from torchlint.diagnostics.model import Confidence, Edit, Fix, Severity
from torchlint.rules.api import NOT_JUDGED, UNKNOWN, Draft, FileContext, Kind
from torchlint.rules.host.host_branches import host_branch
from torchlint.rules.host.host_conversions import Conversion, has_method_of_torch, repair
from torchlint.rules.wording import brief

_HAVING_NO_NUMPY: Final = ~(Kind.OTHER | Kind.MODULE | Kind.ARRAY | Kind.DEVICE | Kind.DTYPE)
"""What a receiver may be so that ``.numpy()`` runs only if it is a tensor of torch: a list has no such method."""
_DETACHED: Final = re.compile(r"\.(detach\(|data\b)")
_COPIED: Final = re.compile(r"\.(cpu\(|to\([\"']cpu[\"']\))")


def drafts(code: str, message: Callable[[Conversion, FileContext], str]) -> Callable[..., Iterator[Draft]]:
    """Make the check of one of the three rules: it speaks where its code is the strongest."""

    def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
        found = numpy_call(node, context)
        if found is None or _strongest(found) != code:
            return
        sure, told = _graded(found, context)
        nothing = f"nothing is known of `{brief(found.converted, context)}`: it was not followed further"
        yield Draft(
            cst.ensure_type(node.func, cst.Attribute).attr,
            message(found, context),
            sure,
            (*found.judged.why, *told) or (f"{nothing}, line {context.row(node.func)}",),
            _repair(found, node, context),
            _severity(found, sure),
        )

    return check


def numpy_call(node: cst.Call, context: FileContext) -> Conversion | None:
    """Read a call of ``.numpy()``; None for another call, where no tensor is asked, or where it is proven to work."""
    match node:
        case cst.Call(func=cst.Attribute(value=receiver, attr=cst.Name(value="numpy")), args=[]):
            pass
        case _:
            return None
    if not _may_be_torch(node, receiver, context):
        return None
    judged = context.judged(receiver, node) or NOT_JUDGED
    detach, cpu = judged.of_grad is not None, judged.of_device is not None
    chain = context.code(receiver)
    if context.settings.strict:
        detach |= not _DETACHED.search(chain)
        cpu |= not _COPIED.search(chain)
    elif context.value(receiver) == UNKNOWN:  # an annotation, newer syntax than this Python's: words are all there is
        detach &= not _DETACHED.search(chain)
        cpu &= not _COPIED.search(chain)
    return Conversion(node, receiver, judged, detach, cpu) if detach or cpu else None


def _may_be_torch(call: cst.Call, receiver: cst.BaseExpression, context: FileContext) -> bool:
    """Whether the receiver of ``.numpy()`` may be a torch tensor: an unknown one only in code that works with torch."""
    if not context.is_parsed:
        return context.works_with_torch
    value = context.value(receiver)
    if value.may(Kind.TENSOR) and value.must(_HAVING_NO_NUMPY) and (context.works_with_torch or not value.claimed):
        return True
    match context.parent(call):
        case cst.Attribute(attr=cst.Name(value="decode")):  # the bytes of a TensorFlow string
            return False
    return value.may(Kind.TENSOR) and context.may_be_torch(receiver)


def _strongest(found: Conversion) -> str:
    """Return the code of the strongest rule that a conversion breaks: one finding a conversion."""
    if found.detach and found.judged.has_source_of_grad:
        return "TNS101"
    return "TNS102" if found.cpu and found.judged.has_source_of_device else "TNS103"


def _graded(found: Conversion, context: FileContext) -> tuple[Confidence, tuple[str, ...]]:
    """Return how sure the fault is, with the step that this adds to the reason.

    On the host's side of code that tells the host from an accelerator the gradient alone counts.
    """
    judged = found.judged
    if context.settings.strict or (context.uses_other_frameworks and not judged.is_tensor):
        return min(Confidence.POSSIBLE, judged.confidence), ()
    if judged.confidence is Confidence.CERTAIN or not found.cpu:
        return judged.confidence, ()
    told = host_branch(cst.ensure_type(found.at, cst.Call), context)
    return (judged.confidence, ()) if told is None else (judged.of_grad or Confidence.UNPROVEN, (told,))


def _severity(found: Conversion, sure: Confidence) -> Severity:
    """Judge what happens: nothing as the code stands, where a look at it shows that it runs.

    So it does where the copy to the host is written and nothing requires grad: who thought of devices has run the line,
    and a tensor that requires grad fails on every machine. And so it does where all calls in the project hand over what
    converts. Of 62 findings of the first kind in current releases 6 were worth a change, of 10 of the second none, so
    a gate is not to stop at them.
    """
    if sure is Confidence.CERTAIN:
        return Severity.ERROR
    is_unknown = _strongest(found) == "TNS103" and not found.cpu
    runs = found.judged.is_met_by_none or (is_unknown and sure <= Confidence.POSSIBLE)
    return Severity.LEGACY if runs else Severity.WARNING


def _repair(found: Conversion, node: cst.Call, context: FileContext) -> Fix:
    fix = repair(found, has_method_of_torch(found.converted, "numpy", context), context)
    if context.settings.forces:
        end = context.span(node)[1]
        return replace(fix, action="Write `.numpy(force=True)`", edits=(Edit(end - 1, end - 1, "force=True"),))
    return replace(fix, action=f"{fix.action} before `.numpy()`")
