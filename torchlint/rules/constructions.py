"""A legacy constructor's call: which type it names, what it is given, and which rule it belongs to."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from torchlint.model import Confidence
from torchlint.rule import FileContext, Triggers
from torchlint.rules.given_data import ArgumentKind, Given, given
from torchlint.rules.tensor_types import TensorType, name_node, type_of

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
_DATA = frozenset(
    {
        ArgumentKind.DATA,
        ArgumentKind.ARRAY,
        ArgumentKind.MIXED,
        ArgumentKind.TENSOR,
        ArgumentKind.INVALID,
        ArgumentKind.STORAGE,
    }
)


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

    @property
    def confidence(self) -> Confidence:
        """How sure the reading of the arguments is."""
        if self.given.kind is ArgumentKind.UNKNOWN:
            return Confidence.POSSIBLE
        return Confidence.CERTAIN if self.given.proven else Confidence.LIKELY

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
    return Construction(node, at, kind, found, positional, keywords, code)


def _owner(kind: TensorType, found: Given, keywords: tuple[tuple[str, cst.Arg], ...]) -> str | None:
    words = {word for word, _ in keywords}
    if words - MODERN_KEYWORDS - _LEGACY_KEYWORDS:
        return None
    if words & MODERN_KEYWORDS or any(word == "device" and _refused(kind, each.value) for word, each in keywords):
        return KEYWORD
    if not kind.plain:
        return TYPED
    if found.kind in _DATA:
        return FROM_DATA
    return FROM_SIZE if found.kind in (ArgumentKind.SIZE, ArgumentKind.EMPTY) else AMBIGUOUS


def _refused(kind: TensorType, device: cst.BaseExpression) -> bool:
    """Whether a legacy constructor may refuse the device: a CPU type takes the CPU, a CUDA type takes CUDA devices."""
    match device:
        case cst.Name(value="None"):
            return False
        case cst.SimpleString() | cst.Call(args=[cst.Arg(value=cst.SimpleString())]):
            word = device if isinstance(device, cst.SimpleString) else device.args[0].value
            text = str(cst.ensure_type(word, cst.SimpleString).evaluated_value)
            return kind.device is not None and not text.startswith(kind.device)
    return kind.device != "cuda"
