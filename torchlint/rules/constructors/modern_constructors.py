"""The repair of a legacy constructor: ``torch.tensor``, ``torch.as_tensor``, ``torch.empty``, and their keywords."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import libcst as cst

from torchlint.diagnostics.assumptions import (
    ARRAY_HAS_DIMENSIONS,
    AUTHOR_MEANT_THIS,
    DEFAULT_DEVICE,
    DEFAULT_DTYPE,
    DEVICE_IS_KNOWN,
    IS_DATA,
    IS_SIZE,
    SIZE_IS_GIVEN,
    Decision,
)
from torchlint.diagnostics.model import Edit, Fix
from torchlint.rules.api import Draft, FileContext
from torchlint.rules.constructors.constructor_argument import ArgumentKind, Given
from torchlint.rules.constructors.legacy_calls import (
    KEYWORD,
    MODERN_KEYWORDS,
    Construction,
    construction,
    message,
    reasons,
)
from torchlint.rules.constructors.legacy_types import kept_below, spelled_like
from torchlint.rules.obligations import (
    data_not_traced,
    default_dtype_unchanged,
    error_not_expected,
    size_not_traced,
    stays_on_the_cpu,
)
from torchlint.rules.repairs import in_fstring

_MAKING = frozenset({"empty", "zeros"})
"""Functions that take a size."""
_BY_TENSOR = frozenset({ArgumentKind.DATA, ArgumentKind.SHAPE})
"""What ``torch.tensor`` copies; ``torch.as_tensor`` shares memory where the legacy call may have."""


def drafts(code: str) -> Callable[[cst.Call, FileContext], Iterator[Draft]]:
    """Make the check of a rule about legacy constructors: it speaks of the calls that are its own."""

    def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
        call = construction(node, context, code)
        if call is not None:
            said, steps = message(call), reasons(call, context)
            yield Draft(call.at, said, call.confidence, steps, modern(call, context), call.severity)

    return check


def modern(call: Construction, context: FileContext) -> Fix | None:
    """Build the repair of a legacy constructor's call; None where none can be written.

    Of an argument that may be a size or data it is the likelier one, and has the other one beside it.
    """
    if in_fstring(call.node, context):
        return None
    if call.given.kind is ArgumentKind.TENSOR:
        return _tensor_itself(call, context)
    if call.given.kind is ArgumentKind.INVALID or (call.type.dtype is None and not call.type.plain):
        return None
    data = function_for(call)
    first, second = ("empty", data) if call.given.may_be_either and call.given.reads_as_size else (data, "empty")
    fix = _fix(call, first, context)
    if fix is None or not call.given.may_be_either:
        return fix
    return replace(fix, otherwise=_fix(call, second, context))


def function_for(call: Construction) -> str:
    """Return the function of torch that stands in for the constructor."""
    if call.given.is_size:
        return "zeros" if call.zeroing is not None else "empty"
    # as_tensor knows no requires_grad; where such a keyword was given the call never ran, so no memory was shared
    return "tensor" if call.given.kind in _BY_TENSOR or call.words & MODERN_KEYWORDS else "as_tensor"


def _fix(call: Construction, function: str, context: FileContext) -> Fix | None:
    dtype = _dtype(call, function, context)
    spelled = spelled_like(call.node.func, function, context)
    named = spelled_like(call.node.func, dtype, context) if dtype else ("", ())
    if spelled is None or named is None:
        return None
    (callee, imports), (said, more) = spelled, named
    suffix = f", dtype={said}{'()' if dtype == 'get_default_dtype' else ''}" if said else ""
    device = _device(call, context)
    suffix += f", device={device}" if device else ""
    edits = [context.replace(call.node.func, callee), *_insertions(call, suffix, context), *imports, *more]
    if call.zeroing is not None:
        edits.append(Edit(context.outer_span(call.node)[1], context.span(call.zeroing)[1], ""))
    action = f"Use `{callee}(...{suffix})`{_alternative(call, function, device)}"
    return Fix(action, tuple(dict.fromkeys(edits)), tuple(_assumed(call, function, context)))


def _dtype(call: Construction, function: str, context: FileContext) -> str:
    """Name what the modern function must be told, to make of its argument what the legacy one made by its name."""
    if "dtype" in call.words:
        return ""
    if not call.type.plain:
        return call.type.dtype or ""
    if function in _MAKING:
        return ""
    return "float32" if default_dtype_unchanged(context).is_proven else "get_default_dtype"


def _device(call: Construction, context: FileContext) -> str:
    """Spell the device that the modern function must be told; which one is for the author to say, is ``device``."""
    if "device" in call.words:
        return ""
    if call.type.device != "cpu":
        return '"cuda"' if call.type.device else "device"
    return '"cpu"' if stays_on_the_cpu(context, call.type.plain)[0] else ""


def _insertions(call: Construction, suffix: str, context: FileContext) -> tuple[Edit, ...]:
    if call.given.kind is not ArgumentKind.EMPTY:
        return (context.insert_after(call.positional[-1].value, suffix),) if suffix else ()
    if call.node.args:
        return (context.insert_before(call.node.args[0], f"0{suffix}, "),)
    end = context.span(call.node)[1] - 1
    return (Edit(end, end, f"0{suffix}"),)


def _alternative(call: Construction, function: str, device: str) -> str:
    """Return what else may be meant, for the title."""
    if device == "device":
        return " and say on which device"
    if not call.given.may_be_either:
        return ""
    if function == "empty":
        return f" if {call.given.what} is a size, `torch.{function_for(call)}` if it holds values"
    return f" if {call.given.what} holds values, `torch.empty` if it is a size"


def _assumed(call: Construction, function: str, context: FileContext) -> Iterator[Decision]:
    """Decide what the repair rests on."""
    given = call.given
    yield kind_decided(given, function in _MAKING)
    for each in (call.node.func, *(one.value for one in call.positional if len(call.positional) == 1)):
        yield from kept_below(each, context)
    if _device(call, context) == "device":
        yield DEVICE_IS_KNOWN.open()
    if given.may_be_empty:
        yield SIZE_IS_GIVEN.open(given.what)
    if given.kind is ArgumentKind.ARRAY and not given.proven:
        yield ARRAY_HAS_DIMENSIONS.open(given.what)
    yield from _defaults_decided(call, function, context)
    if function in _MAKING:
        yield from size_not_traced(call.node, call.positional, context)
    elif not call.type.plain:
        yield data_not_traced(call.node, context)
    if call.code == KEYWORD or call.type.device != "cpu":
        yield error_not_expected(call.node, context)  # it raises where the modern one does not, or something else


def kind_decided(given: Given, as_size: bool) -> Decision:
    """Decide whether an argument is the size, or the data, that the new call takes it for."""
    assumption = IS_SIZE if as_size else IS_DATA
    if given.may_be_either:
        return assumption.open(given.what)
    if given.proven:
        return assumption.proven(of=given.what)
    if given.kind is ArgumentKind.ARRAY and not given.doubt:  # its kind is known, its dimensions are not
        return assumption.proven("it is an array", given.what)
    return assumption.open(given.what, given.doubt, is_likely=True)


def _defaults_decided(call: Construction, function: str, context: FileContext) -> Iterator[Decision]:
    """Decide whether torch's defaults make the same difference to both calls."""
    if "device" in call.words or call.type.device != "cpu":
        yield DEFAULT_DEVICE.proven("the device is written")
    else:
        yield stays_on_the_cpu(context, call.type.plain)[1]
    if call.type.plain and not _dtype(call, function, context):
        yield DEFAULT_DTYPE.proven("both calls follow it")
    elif call.type.plain:
        kept = default_dtype_unchanged(context)
        yield kept if kept.is_proven else DEFAULT_DTYPE.proven("the code asks for it")


def _tensor_itself(call: Construction, context: FileContext) -> Fix | None:
    """Show the tensor itself: the legacy call gave an alias of it, and what was meant is for the author to say."""
    if call.keywords or len(call.positional) != 1:
        return None
    argument = context.code_with_parentheses(call.positional[0].value)
    action = f"Use `{argument}` itself, `.to(...)` for a dtype, or `.detach().clone()` for a copy"
    return Fix(action, (context.replace(call.node, argument),), (AUTHOR_MEANT_THIS.open(),))
