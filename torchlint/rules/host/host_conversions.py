"""Calls that copy to the host, ``.numpy()`` above all: which half of the way is missing."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import libcst as cst

from torchlint.diagnostics.assumptions import IS_TENSOR, NO_GRADIENT_WANTED, NO_WRITE_WANTED, Decision
from torchlint.diagnostics.model import Confidence, Edit, Fix, Severity
from torchlint.rules.api import (
    NOT_JUDGED,
    OPEN,
    UNKNOWN,
    WRITTEN_HERE,
    WRITTEN_THERE,
    Device,
    Draft,
    FileContext,
    JudgedConversion,
    Kind,
    Value,
)
from torchlint.rules.data.data_use import detach_edit, detaching_end
from torchlint.rules.data.own_data import is_packed
from torchlint.rules.host.host_branches import host_test
from torchlint.rules.obligations import error_not_expected, is_proven, is_tensor
from torchlint.rules.wording import brief, in_a_line


def is_host_copy(call: cst.Call, context: FileContext) -> bool:
    """Whether a call is ``.cpu()`` or ``.to`` with the host for its only argument."""
    match call:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="cpu")), args=[]):
            return True
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="to")), args=[target]):
            return not target.star and is_host(target, context)
    return False


def torch_tensor(node: cst.BaseExpression, used: cst.BaseExpression, method: str, context: FileContext) -> Decision:
    """Decide whether a value is a torch tensor.

    By its facts, or by ``.detach()`` on it in a file that knows no other library. ``used`` is the call on the value, or
    one further on in the chain, ``method`` what the code calls.
    """
    if (doubt := _other_with(method, node, context)) is not None:
        return IS_TENSOR.open(brief(node, context), doubt)
    if context.value(node).is_tensor:
        return IS_TENSOR.proven(of=brief(node, context))
    if context.uses_other_frameworks:
        return IS_TENSOR.open(brief(node, context), "the file uses another framework, too")
    known = context.value(used).is_tensor
    return IS_TENSOR.decided(None if known else "", brief(node, context), "other objects have no `.detach()`")


def _other_with(method: str, node: cst.BaseExpression, context: FileContext) -> str | None:
    """Return who has a class with a method, of which a value that is not made in sight may be.

    Nothing holds a caller to an annotation or to the default of a parameter.
    """
    place = context.python(node)
    if isinstance(place, ast.expr) and is_proven(place, context):
        return None
    if context.is_defined(method):
        return f"the file has a `{method}` of its own"
    return context.other_texts.defines(method)


def is_host(argument: cst.Arg, context: FileContext) -> bool:
    """Whether an argument of ``.to`` is the host: ``"cpu"``, ``torch.device("cpu")``, or a name for one of them."""
    if argument.keyword is not None and argument.keyword.value != "device":
        return False
    if isinstance(argument.value, cst.SimpleString):
        return argument.value.evaluated_value in ("cpu", "cpu:0")
    known = context.value(argument.value)
    return known.must(Kind.DEVICE | Kind.STRING) and known.device == Device.HOST


CONVERTS = ~(Kind.OTHER | Kind.MODULE | Kind.ARRAY | Kind.DEVICE | Kind.DTYPE)
"""What a receiver may be so that ``.numpy()`` runs only if it is a tensor of torch: a list has no such method."""

_LOSS_CODE = re.compile(r"(^|_)(forward|loss|losses|criterion|objective|training_step|closure)(_|$)", re.IGNORECASE)


@dataclass(frozen=True)
class Conversion:
    """A ``.numpy()`` call that may fail: its receiver's facts, and what is missing before it."""

    call: cst.Call
    attribute: cst.Attribute
    value: Value
    detach: bool
    cpu: bool
    judged: JudgedConversion

    @property
    def missing(self) -> str:
        """What is missing, as it is written."""
        return (".detach()" if self.detach else "") + (".cpu()" if self.cpu else "")

    @property
    def code(self) -> str:
        """The code of the strongest rule that the conversion breaks: one finding a conversion."""
        if self.detach and self.judged.has_source_of_grad:
            return "TNS101"
        return "TNS102" if self.cpu and self.judged.has_source_of_device else "TNS103"


def conversion(node: cst.Call, context: FileContext) -> Conversion | None:
    """Read a call of ``.numpy()``; None for another call, where no tensor is asked, or where it is proven to work."""
    match node:
        case cst.Call(func=cst.Attribute(value=receiver, attr=cst.Name(value="numpy")) as attribute, args=args):
            pass
        case _:
            return None
    if any(not _is_force_false(arg) for arg in args):
        return None
    value = context.value(receiver)
    if not _may_be_torch(node, receiver, value, context):
        return None
    judged = context.judged(receiver, node) or NOT_JUDGED
    detach, cpu = judged.of_grad is not None, judged.of_device is not None
    words = set(_chain_words(receiver))
    if context.settings.strict:
        detach |= "detach" not in words
        cpu |= "cpu" not in words and not _to_cpu(receiver)
    elif value == UNKNOWN:  # an annotation, an `except`, syntax newer than this Python's: all that is known are words
        detach &= not words & {"detach", "data"}
        cpu &= "cpu" not in words and not _to_cpu(receiver)
    if not detach and not cpu:
        return None
    return Conversion(node, attribute, value, detach, cpu, judged)


def _is_force_false(arg: cst.Arg) -> bool:
    match arg:
        case cst.Arg(keyword=cst.Name(value="force"), value=cst.Name(value="False")):
            return True
    return False


def _chain_words(node: cst.BaseExpression) -> Iterator[str]:
    """Yield the attributes of a chain, outermost first: ``cpu``, ``detach`` for ``x.detach().cpu()``."""
    while True:
        match node:
            case cst.Call(func=cst.Attribute() as inner):
                node = inner
            case cst.Attribute(value=inner_value, attr=cst.Name(value=word)):
                yield word
                node = inner_value
            case _:
                return


def _to_cpu(node: cst.BaseExpression) -> bool:
    match node:
        case cst.Call(
            func=cst.Attribute(attr=cst.Name(value="to")), args=[cst.Arg(value=cst.SimpleString(value=text))]
        ):
            return text.strip("\"'") == "cpu"
        case cst.Call(func=cst.Attribute(value=inner)):
            return _to_cpu(inner)
    return False


def _may_be_torch(call: cst.Call, receiver: cst.BaseExpression, value: Value, context: FileContext) -> bool:
    """Whether the receiver of ``.numpy()`` may be a torch tensor: an unknown one only in code that works with torch."""
    if not context.is_parsed:
        return context.works_with_torch
    place = context.python(receiver)
    if not isinstance(place, ast.expr) or not value.may(Kind.TENSOR):
        return False
    if value.must(CONVERTS) and (context.works_with_torch or not value.claimed):
        return True
    match context.parent(call):
        case cst.Attribute(attr=cst.Name(value="decode")):  # the bytes of a TensorFlow string
            return False
    return context.may_be_torch(place)


# ---------------------------------------------------------------------- what is said
def drafts(code: str, message: Callable[[Conversion, FileContext], str]) -> Callable[..., Iterator[Draft]]:
    """Make the check of one of the three rules: it speaks where its code is the strongest."""

    def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
        found = conversion(node, context)
        if found is not None and found.code == code:
            sure, told = graded(found, context)
            why = (*found.judged.why, *told)
            if not why:
                row = context.row(found.attribute)
                receiver = brief(found.attribute.value, context)
                why = (f"nothing is known of `{receiver}`: it was not followed further, line {row}",)
            yield Draft(
                found.attribute.attr,
                message(found, context),
                sure,
                why,
                repair(found, context),
                _severity(found, sure),
            )

    return check


def _severity(found: Conversion, sure: Confidence) -> Severity:
    """Judge what happens: nothing as the code stands, where a look at it shows that it runs.

    So it does where the copy to the host is written and nothing requires grad: who thought of devices has run the line,
    and a tensor that requires grad fails on every machine. And so it does where all calls in the project hand over what
    converts. Of 62 findings of the first kind in current releases 6 were worth a change, of 10 of the second none, so
    a gate is not to stop at them.
    """
    if sure is Confidence.CERTAIN:
        return Severity.ERROR
    is_unknown = found.code == "TNS103" and not found.cpu
    runs = found.judged.is_met_by_none or (is_unknown and sure <= Confidence.POSSIBLE)
    return Severity.LEGACY if runs else Severity.WARNING


def graded(found: Conversion, context: FileContext) -> tuple[Confidence, tuple[str, ...]]:
    """Return how sure the fault is, with the steps that this adds to the reason.

    On the host's side of code that tells the host from an accelerator the gradient alone counts.
    """
    judged = found.judged
    if context.settings.strict or (context.uses_other_frameworks and not judged.is_tensor):
        return min(Confidence.POSSIBLE, judged.confidence), ()
    place = context.python(found.call)
    if judged.confidence is Confidence.CERTAIN or not found.cpu or not isinstance(place, ast.Call):
        return judged.confidence, ()
    test = host_test(place, context)
    if test is None:
        return judged.confidence, ()
    told = f"`{in_a_line(test)}` tells the host from an accelerator, line {test.lineno}"
    return judged.of_grad or Confidence.UNPROVEN, (told,)


def missing_calls(found: Conversion) -> str:
    """Name what is missing, for a message."""
    return {
        (True, True): "`.detach()` and `.cpu()` are",
        (True, False): "`.detach()` is",
        (False, True): "`.cpu()` is",
    }[found.detach, found.cpu] + " missing"


def computes_loss(node: cst.CSTNode, context: FileContext) -> bool:
    """Whether a conversion stands where a gradient may be wanted: in a ``forward`` or the computation of a loss."""
    for above in context.ancestors(node):
        if isinstance(above, cst.FunctionDef):
            return bool(_LOSS_CODE.search(above.name.value))
    return False


def repair(found: Conversion, context: FileContext) -> Fix:
    """Insert what is missing, ``.detach()`` before an existing ``.cpu()``."""
    return _repair(found, context).assuming(*_assumed(found, context), error_not_expected(found.call, context))


def _assumed(found: Conversion, context: FileContext) -> Iterator[Decision]:
    receiver = brief(found.attribute.value, context)
    doubt = _other_with("numpy", found.attribute.value, context)
    if doubt is None and not found.value.must(CONVERTS):
        doubt = ""
    yield IS_TENSOR.decided(doubt, receiver, "nothing else that it may be has a `.numpy()`")
    if found.detach:
        wanted = computes_loss(found.call, context)
        shown = "a loss is computed here: the error may be the only sign of a lost gradient"
        yield NO_GRADIENT_WANTED.decided(shown if wanted else None, receiver)
    if found.cpu:
        place = context.python(found.call)
        told = context.is_only_read(place) if isinstance(place, ast.Call) else OPEN
        where = f"line {told.at.lineno}" if isinstance(told.at, ast.expr) else "code in another file"
        doubt = f"{where} may write into it" if told.reason in (WRITTEN_HERE, WRITTEN_THERE) else None
        yield NO_WRITE_WANTED.decided(doubt, receiver)


def _repair(found: Conversion, context: FileContext) -> Fix:
    if context.settings.forces and not found.call.args:
        end = context.span(found.call)[1]
        return Fix("Write `.numpy(force=True)`", (Edit(end - 1, end - 1, "force=True"),))
    if found.detach and (data := _data_behind(found.attribute.value, context)) is not None:
        return _in_place_of_data(data, found, context)
    title = f"Insert `{found.missing}` before `.numpy()`"
    return Fix(title, (context.insert_after(_anchor(found), found.missing),))


def _data_behind(receiver: cst.BaseExpression, context: FileContext) -> cst.Attribute | None:
    """Return the `.data` of a tensor that detaches the chain already, so that only its spelling is asked for.

    Where the `data` itself may require grad it is the attribute of some other object, which has no `detach`.
    """
    end = detaching_end(receiver)
    if not isinstance(end, cst.Attribute) or context.value(end).may_require_grad:
        return None
    return None if is_packed(context.value(end.value)) else end


def _in_place_of_data(data: cst.Attribute, found: Conversion, context: FileContext) -> Fix:
    edits = [detach_edit(data, context)]
    if found.cpu:
        edits.append(context.insert_after(found.attribute.value, ".cpu()"))
    return Fix("Replace `.data` with `.detach()`", tuple(edits), (is_tensor(data.value, context),))


def _anchor(found: Conversion) -> cst.BaseExpression:
    """Return the expression behind which the missing half goes."""
    receiver = found.attribute.value
    if found.missing == ".detach()":
        match receiver:
            case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value="cpu")), args=[]):
                return inner
            case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value="to"))) if _to_cpu(receiver):
                return inner
    return receiver
