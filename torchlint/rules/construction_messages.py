"""What the findings on legacy constructors say: what the call does, and what to write instead."""

from __future__ import annotations

from torchlint.model import Confidence
from torchlint.rule import FileContext
from torchlint.rules.constructions import Construction
from torchlint.rules.given_data import EMPTY_STORAGE, ArgumentKind
from torchlint.rules.torch_defaults import defaults


def message(call: Construction) -> str:
    """Say in one line what a legacy constructor does with its arguments, and the remedy."""
    name, what = call.type.shown, call.given.what
    match call.given.kind:
        case ArgumentKind.EMPTY:
            return f"{name} without arguments makes an empty tensor: use `torch.empty(0)`"
        case ArgumentKind.SIZE:
            return f"{name} {_taken(call)}: use `torch.empty`"
        case ArgumentKind.DATA if "a tuple" in what:
            return f"{name} takes a tuple as data, not as a size: use `torch.tensor` or, for a size, `torch.empty`"
        case ArgumentKind.DATA:
            return f"{name} {_made(call)} {what} whatever it holds: use `torch.tensor` and say the dtype"
        case ArgumentKind.ARRAY:
            return f"{name} shares or copies {what} depending on its dtype: use `torch.as_tensor` and say the dtype"
        case ArgumentKind.MIXED:
            return f"{name} copies {what} or shares its memory: use `torch.as_tensor` and say the dtype"
        case ArgumentKind.TENSOR:
            return f"{name} makes an alias of {what} and converts nothing: use the tensor itself, or `.to(dtype)`"
        case ArgumentKind.STORAGE:
            if what == EMPTY_STORAGE:
                return f"{name} of {what} makes an empty tensor: use `torch.empty(0)` and say the dtype"
            return f"{name} shares the memory of {what}: use `torch.frombuffer`, or `.set_` of an empty tensor"
        case ArgumentKind.INVALID:
            return f"{name} always raises `TypeError` for {what}: use `torch.tensor`"
    return (
        f"{name} takes {what} as a size if it is an integer and as data if it is a sequence: "
        "use `torch.empty` or `torch.as_tensor`"
    )


def _taken(call: Construction) -> str:
    if "`" not in call.given.what:
        return "given a size leaves its memory uninitialised"
    if call.given.proven:
        return f"takes {call.given.what} as a size and leaves its memory uninitialised"
    return f"may take {call.given.what} as a size and leave its memory uninitialised"


def _made(call: Construction) -> str:
    if call.type.plain:
        return "makes the default float dtype of"
    return f"makes {call.type.dtype or 'the dtype of its name'} of"


def why(call: Construction, context: FileContext) -> tuple[str, ...]:
    """Give the steps behind a finding."""
    steps = []
    if call.confidence is Confidence.LIKELY and call.given.kind is ArgumentKind.SIZE:
        steps.append(f"the name or the use of {call.given.what} speaks for a size; nothing proves it")
    if call.given.kind is ArgumentKind.UNKNOWN:
        steps.append(f"nothing in the code tells what {call.given.what} is")
    if call.type.device is None:
        steps.append(f"the name stands for {call.type.shown}, so the device depends on the run")
    known = defaults(context)
    if known.dtype and call.type.plain:
        steps.append("`torch.Tensor` follows the default dtype, which this file changes")
    if known.device:
        steps.append("legacy constructors ignore the default device that this file sets; the modern ones follow it")
    return tuple(steps)
