"""A legacy constructor's call: its type, what it is given, the rule it belongs to, and what that rule says."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from torchlint.diagnostics.model import Confidence, Severity
from torchlint.rules.api import FileContext, Triggers
from torchlint.rules.constructors.constructor_argument import ArgumentKind, Given, given, zeroing
from torchlint.rules.constructors.legacy_types import TensorType, name_node, type_of
from torchlint.rules.wording import brief, value_step

FROM_DATA = "TNS301"
FROM_SIZE = "TNS302"
AMBIGUOUS = "TNS303"
TYPED = "TNS304"
KEYWORD = "TNS305"

TRIGGERS = Triggers(
    functions=(
        *("Tensor", "FloatTensor", "DoubleTensor", "HalfTensor", "BFloat16Tensor", "LongTensor", "IntTensor"),
        *("ShortTensor", "CharTensor", "ByteTensor", "BoolTensor"),
    )
)
"""Of all rules about legacy constructors."""

_PLAIN_ONLY = frozenset({FROM_DATA, FROM_SIZE, AMBIGUOUS})
_TYPED_ONLY = frozenset({TYPED})

MODERN_KEYWORDS = frozenset({"dtype", "requires_grad", "pin_memory", "layout"})
"""Keywords of ``torch.tensor`` and ``torch.empty`` that every legacy constructor refuses with a TypeError."""
_LEGACY_KEYWORDS = frozenset({"device", "data", "size"})


@dataclass(frozen=True, slots=True)
class Construction:
    """One call of a legacy constructor; ``code`` is the one rule that speaks about it."""

    node: cst.Call
    at: cst.Name
    """The constructor's name."""
    type: TensorType
    given: Given
    positional: tuple[cst.Arg, ...]
    """What it is given, also by the keywords ``data=`` and ``size=``."""
    keywords: tuple[tuple[str, cst.Arg], ...]
    code: str
    zeroing: cst.Call | None = None
    """What fills at once the memory that a size asks for."""

    @property
    def confidence(self) -> Confidence:
        """How sure the reading of the arguments is."""
        if self.given.kind is ArgumentKind.UNKNOWN:
            return Confidence.POSSIBLE
        return Confidence.CERTAIN if self.given.proven else Confidence.LIKELY

    @property
    def severity(self) -> Severity:
        """What the call does: some arguments are refused always."""
        return Severity.ERROR if self.given.kind is ArgumentKind.INVALID else Severity.LEGACY

    @property
    def words(self) -> frozenset[str]:
        """The keywords that the call is given."""
        return frozenset(word for word, _ in self.keywords)


def construction(node: cst.Call, context: FileContext, code: str) -> Construction | None:
    """Read a call; None where it constructs no tensor the legacy way, or where another rule than ``code`` speaks."""
    at = name_node(node.func)
    kind = type_of(node.func, context)
    if at is None or kind is None or code in (_TYPED_ONLY if kind.plain else _PLAIN_ONLY):
        return None
    keywords = tuple((each.keyword.value, each) for each in node.args if each.keyword)
    named = tuple(each for word, each in keywords if word in ("data", "size"))
    positional = (*(each for each in node.args if not each.keyword), *named)
    found = given(node, positional, context)
    owner = _owner(kind, found, keywords)
    if owner != code:
        return None
    zeroed = zeroing(node, context) if found.kind is ArgumentKind.SIZE and owner != KEYWORD else None
    return Construction(node, at, kind, found, positional, keywords, code, zeroed)


def _owner(kind: TensorType, found: Given, keywords: tuple[tuple[str, cst.Arg], ...]) -> str | None:
    words = {word for word, _ in keywords}
    if words - MODERN_KEYWORDS - _LEGACY_KEYWORDS or found.kind is ArgumentKind.STORAGE:
        return None
    if words & MODERN_KEYWORDS or any(word == "device" and _refused(kind, each.value) for word, each in keywords):
        return KEYWORD
    if not kind.plain:
        return TYPED
    if found.is_size:
        return FROM_SIZE
    return AMBIGUOUS if found.kind is ArgumentKind.UNKNOWN else FROM_DATA


def _refused(kind: TensorType, device: cst.BaseExpression) -> bool:
    """Whether a legacy constructor may refuse the device: a CPU type takes the CPU, a CUDA type takes CUDA devices."""
    match device:
        case cst.Name(value="None"):
            return False
        case (cst.SimpleString() as word) | cst.Call(args=[cst.Arg(value=cst.SimpleString() as word)]):
            return kind.device is not None and not str(word.evaluated_value).startswith(kind.device)
    return kind.device != "cuda"


_SAID = {
    ArgumentKind.EMPTY: "without arguments makes an empty tensor: use `torch.empty(0)`",
    ArgumentKind.SIZE: "with a size is uninitialised memory: use `torch.empty`",
    ArgumentKind.SHAPE: "takes {what} as data, not as a shape: use `torch.empty` or `torch.tensor`",
    ArgumentKind.DATA: "casts {what} to {dtype}: use `torch.tensor` with a dtype",
    ArgumentKind.ARRAY: "may share memory with {what}: use `torch.as_tensor` with a dtype",
    ArgumentKind.TENSOR: "aliases {what} and converts nothing: use it directly, or `.to(dtype)`",
    ArgumentKind.INVALID: "always raises `TypeError` for {what}: use `torch.tensor`",
    ArgumentKind.UNKNOWN: "takes {what} as a size or as data: use `torch.empty` or `torch.as_tensor`",
}
_ZEROED = "is filled with zeros at once: use `torch.zeros`"
_SEEMS_A_SIZE = "seems to take {what} as a size: use `torch.empty`"
_A_TUPLE = "takes a tuple as data, not as a size: use `torch.tensor` or `torch.empty`"


def message(call: Construction) -> str:
    """Say in one line what a legacy constructor does with its arguments, and the remedy."""
    what, said = call.given.named, _SAID[call.given.kind]
    if call.zeroing is not None:
        said = _ZEROED
    elif what == "a tuple":
        said = _A_TUPLE
    elif call.given.kind is ArgumentKind.SIZE and not call.given.proven and what != "a size":
        said = _SEEMS_A_SIZE
    dtype = "the default dtype" if call.type.plain else call.type.dtype or "the dtype of its name"
    return f"{call.type.shown} {said.format(what=what, dtype=dtype)}"


def reasons(call: Construction, context: FileContext) -> tuple[str, ...]:
    """Return the steps behind a finding."""
    found = call.given
    if found.doubt:
        code, _, kind = found.what.rstrip(",").partition(", ")
        step = f"that {code} is {kind or found.kind.value} rests on a claim: {found.doubt}"
    elif found.kind is ArgumentKind.SIZE and not found.proven:
        step = f"the use of {found.what} suggests a size; nothing proves it"
    elif found.kind is ArgumentKind.UNKNOWN:
        step = f"nothing in the code tells what {found.what} is"
    elif len(call.positional) != 1:
        step = "it is given more than one size" if call.positional else "it is called without a size or data"
    elif found.what.startswith("`"):
        step = value_step(call.positional[0].value, found.kind.value, context)
    else:
        argument = call.positional[0].value
        step = f"it is given {found.what}: `{brief(argument, context)}`, line {context.row(argument)}"
    if call.type.device is None:
        return step, f"the name stands for {call.type.shown}, so the device depends on the run"
    return (step,)
