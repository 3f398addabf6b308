"""The repair of a legacy constructor: ``torch.tensor``, ``torch.as_tensor``, ``torch.empty`` or a sparse one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import libcst as cst

from torchlint.diagnostics.assumptions import (
    ARRAY_HAS_DIMENSIONS,
    AUTHOR_MEANT_THIS,
    DEVICE_IS_KNOWN,
    IS_DATA,
    IS_SIZE,
    SIZE_IS_GIVEN,
    WARNING_IS_WELCOME,
    Decision,
)
from torchlint.diagnostics.model import Confidence, Edit, Fix
from torchlint.rules.api import Draft, FileContext, Kind
from torchlint.rules.constructors.conditional_types import conditional_device
from torchlint.rules.constructors.constructor_argument import ArgumentKind
from torchlint.rules.constructors.legacy_calls import (
    KEYWORD,
    MODERN_KEYWORDS,
    Construction,
    construction,
    message,
    reasons,
)
from torchlint.rules.constructors.legacy_types import DTYPES, kept_below, name_node, spelled_like, type_aliases
from torchlint.rules.obligations import (
    Spoken,
    data_not_traced,
    defaults,
    defaults_unchanged,
    error_not_expected,
    size_not_traced,
    spoken,
)
from torchlint.rules.repairs import Spelled, in_fstring
from torchlint.rules.wording import import_step

_FUNCTION = {
    ArgumentKind.EMPTY: "empty",
    ArgumentKind.SIZE: "empty",
    ArgumentKind.DATA: "tensor",
    ArgumentKind.INVALID: "tensor",
    ArgumentKind.ARRAY: "as_tensor",
    ArgumentKind.MIXED: "as_tensor",
    ArgumentKind.UNKNOWN: "as_tensor",
}

_MAKING = frozenset({"empty", "zeros", "ones"})
"""Functions that take a size."""


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
    fix = _modern(call, context)
    if fix is None or not _may_be_either(call):
        return fix
    as_size = not _is_size(call)
    given = replace(call.given, kind=ArgumentKind.UNKNOWN, by_name=False, seems_size=as_size)
    return replace(fix, otherwise=_modern(replace(call, given=given, filling=None), context))


def _may_be_either(call: Construction) -> bool:
    return call.given.seems_size or call.given.by_name or call.given.kind is ArgumentKind.UNKNOWN


def _is_size(call: Construction) -> bool:
    return call.given.seems_size or call.given.kind is ArgumentKind.SIZE


def _modern(call: Construction, context: FileContext) -> Fix | None:
    if in_fstring(call.node, context):
        return None
    if call.given.kind is ArgumentKind.TENSOR:
        return _tensor_itself(call, context)
    if call.given.kind is ArgumentKind.INVALID and not _is_number(call):
        return None
    function = function_for(call)
    spelled, keywords = spelled_like(call.node.func, function, context), _keywords(call, function, context)
    if spelled is None or keywords is None:
        return None
    (callee, imports), (suffix, more) = spelled, keywords
    filled = (call.filling.edit,) if call.filling is not None else ()
    edits = (context.replace(call.node.func, callee), *_insertions(call, suffix, context), *imports, *more, *filled)
    action = f"Use `{callee}(...{suffix})`{_alternative(call, context)}"
    return Fix(action, tuple(dict.fromkeys(edits)), tuple(_assumed(call, context)))


def _never_ran(call: Construction) -> bool:
    """Whether a call has a keyword that every legacy constructor refuses."""
    return bool(call.words & MODERN_KEYWORDS)


def _may_raise(call: Construction) -> bool:
    """Whether the legacy call raises where the modern one does not, or raises something else."""
    refused = call.code == KEYWORD or call.given.kind is ArgumentKind.INVALID
    return refused or call.type.device != "cpu"


def function_for(call: Construction) -> str:
    """Return the function of torch that stands in for the constructor."""
    function = "empty" if call.given.seems_size else _FUNCTION.get(call.given.kind, "as_tensor")
    if function == "empty" and call.filling is not None:
        return call.filling.word
    # as_tensor knows no requires_grad; where such a keyword was given the call never ran, so no memory was shared
    return "tensor" if function == "as_tensor" and call.words & MODERN_KEYWORDS else function


def _is_number(call: Construction) -> bool:
    return call.given.floats or call.given.what in ("`True`", "`False`", "a `float`", "a `bool`")


def _keywords(call: Construction, function: str, context: FileContext) -> Spelled | None:
    """Spell what the modern function must be told to do what the legacy one did by itself."""
    text, imports = "", tuple[Edit, ...]()
    name = _dtype(call, function, context)
    if name is not None:
        spelled = spelled_like(call.node.func, name, context)
        if spelled is None:
            return None
        dtype, imports = spelled
        text = f", dtype={dtype}{'()' if name == 'get_default_dtype' else ''}"
    device = _device(call, function, context)
    return (f"{text}, device={device}" if device else text), imports


def _dtype(call: Construction, function: str, context: FileContext) -> str | None:
    if "dtype" in call.words:
        return None
    if not call.type.plain:
        return call.type.dtype
    if _follows_dtype(call, function):
        return None
    return "get_default_dtype" if _said(call, function, context).dtype else "float32"


def _follows_dtype(call: Construction, function: str) -> bool:
    """Whether the modern function takes the default dtype by itself, as the legacy one did."""
    return function in _MAKING or call.given.floats


def _said(call: Construction, function: str, context: FileContext) -> Spoken:
    """Decide what the repair has to say of torch's defaults."""
    if _never_ran(call):  # and so follows no default: what the file itself says may be meant
        known = defaults(context)
        return Spoken(known.device and not known.tensor_type, known.dtype, ())
    if not call.type.plain and call.type.device is None:
        found = conditional_device(call.node.func, context)
        if found is not None and found.follows_defaults:  # in one of two cases, so nothing can be written for both
            return Spoken(False, False, defaults_unchanged(context, dtype=True))
    says_device = "device" in call.words or call.type.device != "cpu"
    follows = "both calls follow it" if _follows_dtype(call, function) or "dtype" in call.words else ""
    return spoken(context, call.type.plain, says_device, follows)


def _device(call: Construction, function: str, context: FileContext) -> str | None:
    if "device" in call.words:
        return None
    if call.type.device is None:
        found = conditional_device(call.node.func, context)
        return found.code if found is not None else "device"
    if call.type.device == "cuda":
        return '"cuda"'
    return '"cpu"' if _said(call, function, context).cpu else None


def _insertions(call: Construction, suffix: str, context: FileContext) -> tuple[Edit, ...]:
    if call.given.kind is not ArgumentKind.EMPTY:
        return (context.insert_after(call.positional[-1].value, suffix),) if suffix else ()
    if call.node.args:
        return (context.insert_before(call.node.args[0], f"0{suffix}, "),)
    end = context.span(call.node)[1] - 1
    return (Edit(end, end, f"0{suffix}"),)


def _assumed(call: Construction, context: FileContext) -> Iterator[Decision]:
    """Decide what the repair rests on."""
    yield _kind_decided(call, _never_ran(call))
    for each in (call.node.func, *(one.value for one in call.positional if len(call.positional) == 1)):
        yield from kept_below(each, context)
    if _device_is_open(call, context) or (call.type.dtype is None and not call.type.plain):
        yield DEVICE_IS_KNOWN.open()
    if call.given.may_be_empty:
        yield SIZE_IS_GIVEN.open(call.given.what)
    if call.given.kind is ArgumentKind.ARRAY and not call.given.proven:
        yield ARRAY_HAS_DIMENSIONS.open(call.given.what)
    yield from _said(call, function_for(call), context).decisions
    if function_for(call) in _MAKING:
        yield from size_not_traced(call.node, call.positional, context)
    elif not call.type.plain and not _never_ran(call):
        yield data_not_traced(call.node, context)
    if _may_raise(call):
        yield error_not_expected(call.node, context)


def _kind_decided(call: Construction, never_ran: bool) -> Decision:
    given = call.given
    if given.kind is ArgumentKind.INVALID:  # a number: what was meant is for the author to say where the call ran
        return IS_DATA.proven(of=given.what) if never_ran else AUTHOR_MEANT_THIS.open(doubt="the call always raises")
    is_size = _is_size(call) or given.kind is ArgumentKind.EMPTY
    assumption = IS_SIZE if is_size else IS_DATA
    if given.proven or (never_ran and given.doubt):  # what is claimed is what was meant
        return assumption.proven(of=given.what)
    if given.kind is ArgumentKind.ARRAY:  # its kind is known, its dimensions are not
        return assumption.proven("it is an array", given.what)
    is_likely = given.kind is not ArgumentKind.UNKNOWN and not given.by_name
    return assumption.open(given.what, given.doubt, is_likely=never_ran or is_likely)


def _device_is_open(call: Construction, context: FileContext) -> bool:
    """Whether the name stands for a CPU and a CUDA type, and nothing says which device is meant."""
    if call.type.device is not None or "device" in call.words:
        return False
    return conditional_device(call.node.func, context) is None


def _alternative(call: Construction, context: FileContext) -> str:
    """Return what else may be meant, for the title."""
    if _device_is_open(call, context):
        return " and say on which device"
    if call.given.seems_size or call.given.by_name:
        return f" if {call.given.what} is a size, `torch.as_tensor` if it holds values"
    if call.given.kind is ArgumentKind.UNKNOWN:
        return f" if {call.given.what} holds values, `torch.empty` if it is a size"
    return ""


def _tensor_itself(call: Construction, context: FileContext) -> Fix | None:
    """Show the tensor itself: the legacy call gave an alias of it, and what was meant is for the author to say."""
    if call.keywords or len(call.positional) != 1:
        return None
    argument = context.code_with_parentheses(call.positional[0].value)
    action = f"Use `{argument}` itself, `.to(...)` for a dtype, or `.detach().clone()` for a copy"
    return Fix(action, (context.replace(call.node, argument),), (AUTHOR_MEANT_THIS.open(),))


_NAME = re.compile(rf"torch\.(?P<cuda>cuda\.)?sparse\.(?P<dtype>{'|'.join(DTYPES)})Tensor")


def sparse_construction(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a call of a legacy sparse constructor.

    Given indices and values it does the same as ``torch.sparse_coo_tensor``: measured on torch 2.13 for values, dtype
    (that of the values, whatever the name says), sharing of memory, gradient and coalescing.
    """
    at = name_node(node.func)
    if at is None:
        return
    if not at.value.endswith("Tensor") and at.value not in type_aliases(context):
        return
    names = [_NAME.fullmatch(name) for name in context.names(node.func)]
    found = [each for each in names if each is not None]
    if not found or len(found) != len(names):
        return
    shown = " or ".join(sorted(f"`{each[0]}`" for each in found))
    message = f"{shown} is a legacy constructor of sparse tensors: use `torch.sparse_coo_tensor`"
    one = found[0] if len(found) == 1 else None
    fix = _fix(node, one, context) if one is not None else None
    yield Draft(at, message, Confidence.CERTAIN, (import_step(node.func, context),), fix)


def _fix(node: cst.Call, name: re.Match[str], context: FileContext) -> Fix | None:
    arguments = [each.value for each in node.args]
    if not arguments or any(each.star or each.keyword for each in node.args) or in_fstring(node, context):
        return None
    kinds = [context.value(each) for each in arguments]
    if not 2 <= len(arguments) <= 3 or any(each.must(Kind.INTEGER | Kind.NONE) for each in kinds):
        return None
    spelled = spelled_like(node.func, "sparse_coo_tensor", context)
    if spelled is None:
        return None
    callee, imports = spelled
    known = defaults(context)
    follows = not name["cuda"] and (known.device or known.tensor_type)  # a default device, which the old call ignores
    device = ', device="cpu"' if follows else ""
    edits = (context.replace(node.func, callee), *imports, context.insert_after(arguments[-1], device))
    # measured on torch 2.13: one warning for each process, in the place of that on the legacy constructor
    assumed = (WARNING_IS_WELCOME.open(), *defaults_unchanged(context, dtype=False))
    return Fix(f"Use `{callee}(...{device})`", edits if device else edits[:-1], assumed)
