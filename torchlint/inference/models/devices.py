"""Where a device argument puts a tensor: on the host, on an accelerator, or on what nobody can say."""

from __future__ import annotations

import ast
import re

from torchlint.facts.value import Device, Kind, Reason, Value, of_kind
from torchlint.syntax.signatures import arguments_of

_OF_CUDA = ("cuda", "hip")
_OTHERS = ("mps", "xpu", "xla", "npu", "hpu", "privateuseone", "ipu", "vulkan", "mtia", "mlu", "musa")
_ACCELERATORS = (*_OF_CUDA, *_OTHERS)

_DEVICE_WORD = re.compile(r"(^|_)(dev|device|devices|gpu|gpus|cuda|gpu_ids?|rank)\d*$", re.IGNORECASE)
_DTYPE_WORD = re.compile(r"(^|_)(dtype|type|float_type|precision|dt)\d*$", re.IGNORECASE)
_SPEAKING = (b"cuda", b".to(", b"device", b"gpu", b"accelerat", b"lightning", b"mps", b"xpu")
_SPEAKING_CLEARLY = re.compile(
    rb"cuda|device|gpu|accelerat|lightning|\b(?:mps|xpu)\b"
    rb"|\.to\((?!\s*(?:dtype\s*=\s*)?(?:[\w.]+\.)?(?:dtype|bfloat16|float\d*|double|half|u?int\d*|long|short|bool)\s*\))"
)
"""Words of devices, and moves that are not to a dtype alone."""
_COMMENT = re.compile(rb"^[^\S\n]*#[^\n]*|^((?:[^\n]*['\"])?[^'\"\n#]*)#[^'\"\n]*$", re.MULTILINE)
"""A comment, and what stands before it: behind a ``#`` inside of a string there is a quote."""

_NAMING_OTHERS = re.compile(rf"(?<![a-z])(?:{'|'.join(_OTHERS)})(?![a-z])".encode(), re.IGNORECASE)

SETTINGS = "args?|opts?|options?|cfg|conf|configs?|configuration|settings|hparams|hps|flags"
"""Words for what holds a program's settings and nothing else, as a pattern."""
_SETTINGS = re.compile(rf"(^|_)({SETTINGS})$", re.IGNORECASE)

SETTINGS_WORD = re.compile(rf"(^|_)({SETTINGS}|params|self|cls|trainer|runner)$", re.IGNORECASE)
"""Names of what holds a program's settings: their ``device`` is a choice, not a tensor's."""

DTYPES = {
    **dict.fromkeys(
        ["float16", "float32", "float64", "bfloat16", "half", "float", "double", "cfloat", "cdouble", "chalf"],
        "floating",
    ),
    **dict.fromkeys(["complex32", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2"], "floating"),
    **dict.fromkeys(
        ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "short", "int", "long"], "integral"
    ),
    "bool": "bool",
}
"""The dtypes of torch by their attribute's name, and what their elements are."""


def string(text: str) -> Value:
    """Return the value of a string constant; one that names a device knows its place."""
    return of_kind(Kind.STRING, const=text, device=place_named(text))


def place_named(text: str) -> Device:
    """Return the place that a device string names; no place for other strings."""
    kind = text.partition(":")[0]
    if kind == "cpu":
        return Device.HOST
    if kind in _ACCELERATORS:
        return Device.ACCELERATOR
    return Device.HOST | Device.ACCELERATOR if kind == "auto" else Device(0)


def says_accelerator(text: bytes) -> bool:
    """Whether a text speaks of a device at all, comments left out: a licence names the Lightning team."""
    lowered = text.lower()  # and a plain search: seven times faster than a pattern that leaves case open
    if not any(word in lowered for word in _SPEAKING):
        return False
    return _SPEAKING_CLEARLY.search(_COMMENT.sub(rb"\1", lowered)) is not None


def names_other_accelerators(text: bytes) -> bool:
    """Whether a text names an accelerator that is there without CUDA."""
    return _NAMING_OTHERS.search(text) is not None


def is_dtype(value: Value) -> bool:
    """Whether an argument is a dtype beyond doubt."""
    return value.must(Kind.DTYPE)


def is_settings(word: str) -> bool:
    """Whether a name is one of a record of settings, whose fields are numbers and texts."""
    return _SETTINGS.search(word) is not None


def seems_device(node: ast.AST | None) -> bool:
    """Whether an expression's name says that it is a device."""
    return bool(_DEVICE_WORD.search(last_word_of_name(node)))


def seems_dtype(node: ast.AST | None) -> bool:
    """Whether an expression's name says that it is a dtype."""
    return bool(_DTYPE_WORD.search(last_word_of_name(node)))


def last_word_of_name(node: ast.AST | None) -> str:
    """Return the last identifier of an expression: ``device`` for ``self.args.device``, ``get_device`` for its call."""
    match node:
        case ast.Name(id=word) | ast.Attribute(attr=word):
            return word
        case ast.Subscript(slice=ast.Constant(value=str(word))):
            return word
        case ast.Subscript(value=inner) | ast.Call(func=inner):
            return last_word_of_name(inner)
    return ""


def place_of(device: Value, node: ast.AST) -> tuple[Device, Reason | None]:
    """Return the place that a device argument means; what is not known to be the host may be an accelerator."""
    if device.must(Kind.NONE):
        return Device.HOST, None
    if device.must(Kind.INTEGER):
        return Device.ACCELERATOR, Reason("{code} puts it on an accelerator", node)
    if device.must(Kind.STRING | Kind.DEVICE | Kind.NONE) and device.device & (Device.HOST | Device.ACCELERATOR):
        place = device.device | (Device.HOST if device.may(Kind.NONE) else Device(0))
        if place & Device.ACCELERATOR:
            said = "puts it on an accelerator" if place == Device.ACCELERATOR else "may put it on an accelerator"
            return place, Reason("{code} " + said, node, device.why_device, weak=device.device != Device.ACCELERATOR)
        if place & Device.UNKNOWN:
            return place, device.why_device
        return place, None
    named = _is_named_as_host(node)
    why = Reason("{code} may put it on an accelerator", node, weak=True, named=named, unknown_device=True)
    return Device.HOST | Device.ACCELERATOR, why


def _is_named_as_host(node: ast.AST) -> bool:
    """Whether one of a call's arguments bears the host's name: ``x.to(backend.cpu())``, ``device=self.cpu``."""
    if not isinstance(node, ast.Call):
        return False
    return any(place_named(last_word_of_name(each)) == Device.HOST for each in arguments_of(node))


def device_value(argument: Value | None, node: ast.AST) -> Value:
    """Return the value of ``torch.device(argument)``."""
    if argument is None:
        return of_kind(Kind.DEVICE, device=Device.HOST | Device.ACCELERATOR)
    place, why = place_of(argument, node)
    return of_kind(Kind.DEVICE, device=place, why_device=why)
