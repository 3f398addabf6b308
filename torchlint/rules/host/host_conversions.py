"""A tensor that becomes an array of the host: which half of the way is missing before, and what writes it.

``.numpy()`` asks for it, and so do functions of NumPy that are handed a tensor: what is said and written is the same.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Final

import libcst as cst

from torchlint.diagnostics.assumptions import IS_TENSOR, NO_GRADIENT_WANTED, NO_WRITE_WANTED, Decision
from torchlint.diagnostics.model import Edit, Fix
from torchlint.rules.api import WRITTEN_HERE, WRITTEN_THERE, Device, FileContext, JudgedConversion, Kind
from torchlint.rules.obligations import error_not_expected, is_proven
from torchlint.rules.repairs import is_primary
from torchlint.rules.wording import brief

_LOSS_CODE: Final = re.compile(
    r"(^|_)(forward|loss|losses|criterion|objective|training_step|closure)(_|$)", re.IGNORECASE
)
_NOT_TORCH: Final = Kind.OTHER | Kind.MODULE | Kind.ARRAY | Kind.DEVICE | Kind.DTYPE


@dataclass(frozen=True)
class Conversion:
    """A value that a call makes an array of, how it was judged, and what is missing before."""

    at: cst.BaseExpression
    """The call that converts."""
    converted: cst.BaseExpression
    judged: JudgedConversion
    detach: bool
    cpu: bool

    @property
    def missing(self) -> str:
        """What is missing, as it is written."""
        return (".detach()" if self.detach else "") + (".cpu()" if self.cpu else "")


# ---------------------------------------------------------------------- what is said
def not_excluded(found: Conversion) -> str:
    """Name what a tensor may be that would not become an array: it may require grad or be on an accelerator."""
    return {
        (True, True): "may require grad or be on a GPU",
        (True, False): "may require grad",
        (False, True): "may be on a GPU",
    }[found.detach, found.cpu]


def computes_loss(node: cst.CSTNode, context: FileContext) -> bool:
    """Whether a conversion stands where a gradient may be wanted: in a ``forward`` or the computation of a loss."""
    for above in context.ancestors(node):
        if isinstance(above, cst.FunctionDef):
            return bool(_LOSS_CODE.search(above.name.value))
    return False


# ---------------------------------------------------------------------- what is written
def repair(found: Conversion, known: Decision, context: FileContext, then: str = "") -> Fix:
    """Insert what is missing, ``.detach()`` before an existing ``.cpu()``, and ``then`` behind it: ``.numpy()``.

    ``known`` says whether the value is a tensor: how that is proven depends on what converts it.
    """
    anchor = found.converted
    if found.missing == ".detach()" and isinstance(anchor, cst.Call) and is_host_copy(anchor, context):
        edits = [*called_on(cst.ensure_type(anchor.func, cst.Attribute).value, ".detach()", context)]
        edits += [context.insert_after(anchor, then)] if then else []
    else:
        edits = [*called_on(anchor, found.missing + then, context)]
    return Fix(f"Insert `{found.missing}{then}`", tuple(edits), (known, *_unspoiled(found, context)))


def called_on(node: cst.BaseExpression, methods: str, context: FileContext) -> tuple[Edit, ...]:
    """Write calls of methods behind an expression, in parentheses where it needs them."""
    start, end = context.span(node)
    if is_primary(node) or (start, end) != context.outer_span(node):
        return (context.insert_after(node, methods),)
    return Edit(start, start, "("), Edit(end, end, f"){methods}")


def _unspoiled(found: Conversion, context: FileContext) -> list[Decision]:
    """Decide what the calls that are missing may spoil: a gradient, what is written into the array, an error."""
    decided: list[Decision] = []
    name = brief(found.converted, context)
    if found.detach:
        wanted = computes_loss(found.at, context)
        doubt = "a loss is computed here: the error may be the only sign of a lost gradient"
        decided.append(NO_GRADIENT_WANTED.decided(doubt if wanted else None, name))
    if found.cpu:
        decided.append(NO_WRITE_WANTED.decided(_written(found, context), name))
    return [*decided, error_not_expected(found.at, context)]


def _written(found: Conversion, context: FileContext) -> str | None:
    """Say who may write into the array, which shares its memory with the tensor on the host alone."""
    told = context.is_only_read(found.at)
    if told.reason not in (WRITTEN_HERE, WRITTEN_THERE):
        return None
    where = f"line {told.at.lineno}" if isinstance(told.at, ast.expr) else "code in another file"
    return f"{where} may write into it"


def has_method_of_torch(
    node: cst.BaseExpression, method: str, context: FileContext, chain: cst.BaseExpression | None = None
) -> Decision:
    """Decide whether a value is a torch tensor by a method that is called on it, which few other things have.

    Or by the ``chain`` of methods on it, as no other object has a ``.detach()``. Nothing holds a caller to an
    annotation or to the default of a parameter.
    """
    value, place = context.value(node), context.python(node)
    doubt = None if value.may(Kind.TENSOR) and not value.may(_NOT_TORCH) else ""
    if chain is not None and context.value(chain).is_tensor and not context.uses_other_frameworks:
        doubt = None
    if not isinstance(place, ast.expr) or not is_proven(place, context):
        if context.is_defined(method):
            doubt = f"the file has a `{method}` of its own"
        else:
            doubt = context.other_texts.defines(method) or doubt
    return IS_TENSOR.decided(doubt, brief(node, context), f"nothing else that it may be has a `.{method}()`")


# ---------------------------------------------------------------------- copies that are written already
def is_host_copy(call: cst.Call, context: FileContext) -> bool:
    """Whether a call is ``.cpu()`` or ``.to`` with the host for its only argument."""
    match call:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="cpu")), args=[]):
            return True
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="to")), args=[target]):
            return not target.star and is_host(target, context)
    return False


def is_host(argument: cst.Arg, context: FileContext) -> bool:
    """Whether an argument of ``.to`` is the host: ``"cpu"``, ``torch.device("cpu")``, or a name for one of them."""
    if argument.keyword is not None and argument.keyword.value != "device":
        return False
    if isinstance(argument.value, cst.SimpleString):
        return argument.value.evaluated_value in ("cpu", "cpu:0")
    known = context.value(argument.value)
    return known.must(Kind.DEVICE | Kind.STRING) and known.device == Device.HOST
