"""What each assumption of a fix announces: what may differ where the assumption does not hold, and how that shows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

import torch

from torchlint.diagnostics import assumptions as named
from torchlint.diagnostics.assumptions import Assumption, Decision
from torchlint.verify.readable import Seen, is_only_element
from torchlint.verify.worlds import LAYOUTS, World, torch_device


@dataclass(frozen=True, slots=True)
class Sign:
    """One observable that may differ: patterns for its name and for both values, where they matter."""

    observable: str
    before: str = ".*"
    after: str = ".*"
    beside: str = ""
    """An observable that differs in the same world, for what only follows from that."""
    grows: bool = False
    """Whether it is a number that may only grow."""
    is_number: bool = False
    """Whether a tensor becomes a number, which has to be its only element."""


@dataclass(frozen=True, slots=True)
class Announcement:
    """What a user has been told may differ, as long as an assumption is open."""

    effect: str
    """What then happens, as a clause."""
    signs: tuple[Sign, ...]
    traits: frozenset[str] = frozenset()
    """Traits of the worlds in which the assumption does not hold; any world where there are none."""
    kinds: str = ""
    """A pattern for what the name that it is about stands for where it does not hold; anything where empty.

    A star stands before what is spread over several arguments.
    """
    default: str = ""
    """The default of torch that another setting of makes the assumption not hold: ``dtype`` or ``device``."""

    @property
    def is_confined(self) -> bool:
        """Whether there are worlds in which the assumption holds, and in which the new code has to do the same."""
        return bool(self.traits or self.kinds or self.default)


_REFUSED = r"RuntimeError: .*modified by an inplace operation.*"
_COUNTED = (
    Sign("input .*: writes counted", grows=True),
    Sign("backward through the .*", "ran", _REFUSED),
    Sign(".*: gradient by (results|all)", beside="backward through the .*"),
    Sign("exception", "None", _REFUSED),
)
_MADE = (
    Sign(r"(?!input |grad mode|default |random |printed|warnings|backward ).*"),
    Sign("input .*: shares memory with"),
    Sign("backward through the results"),
)
"""Whatever the code makes may be another, or it raises; what it was given is left as it was."""
_ABSENT = r"\(not there\)"
_GRADIENT_GONE = (
    Sign(".*: requires_grad", "True", "False"),
    Sign(".*: is_leaf", "False", "True"),
    Sign(".*: grad_fn", "True", "False"),
    Sign("backward through the results", ".*", _ABSENT),
    Sign(".*: gradient by (results|all)", beside=".*: requires_grad"),
)
_GRADIENT_BACK = (
    Sign(".*: requires_grad", "False", "True"),
    Sign(".*: is_leaf", "True", "False"),
    Sign(".*: grad_fn", "False", "True"),
    Sign("backward through the results", _ABSENT),
    Sign(".*: gradient by (results|all)", beside=".*: requires_grad"),
)
_ITSELF = (Sign("the result is an input"), Sign(".*: class", "Tensor", "Parameter"))
_NO_SUCH_METHOD = (Sign("exception", "None", "(AttributeError|TypeError|ValueError): .*"),)
_NO_SIZE = r"(missing .*\"size\"|received an invalid combination of arguments - got \((\w+=[^)]*)?\))"
"""What torch says to a call without sizes; it says so to no other."""
_WITH_DIMENSIONS = frozenset(LAYOUTS) - {"scalar"}
_OF_OTHER_DEVICE = (
    Sign(r"(?!input |grad mode|default |random |printed|warnings).*"),
    Sign("input .*: shares memory with"),
)

ANNOUNCED: Mapping[Assumption, Announcement] = {
    named.NO_LIVE_GRAPH: Announcement("the write becomes visible to autograd", _COUNTED),
    named.NOT_WRITTEN_LATER: Announcement("a write through the value becomes visible to autograd", _COUNTED),
    named.SAME_METHOD: Announcement(
        "the method acts on the tensor itself",
        (
            *_COUNTED,
            Sign(".*: (shape|stride|offset|shares memory with)"),
            Sign(".*: elements", beside=".*: (shape|stride|offset|shares memory with)"),
            Sign("exception", "None", "RuntimeError: .*"),
        ),
    ),
    named.RESULT_NOT_USED: Announcement("the call gives the tensor itself", (*_GRADIENT_BACK, *_ITSELF)),
    named.NO_GRADIENT_CARRIED: Announcement("a gradient flows through the value", (*_GRADIENT_BACK, *_ITSELF)),
    named.NO_GRAPH_NEEDED: Announcement(
        "what the function gives has no graph", _GRADIENT_GONE, traits=frozenset({"grad"})
    ),
    named.DEFAULT_DTYPE: Announcement(
        "the dtype stays as it is written where another default dtype is set",
        (Sign(r"(?!input ).*: (dtype|stride|elements|value|gradient by .*)"), Sign("exception", "None", ".*dtype.*")),
        default="dtype",
    ),
    named.DEFAULT_DEVICE: Announcement(
        "the tensor is made on the default device where another one is set", _OF_OTHER_DEVICE, default="device"
    ),
    named.IS_TENSOR: Announcement("what is no tensor of torch is refused", _NO_SUCH_METHOD, kinds="(?!tensor).*"),
    named.NO_OWN_METHOD: Announcement(
        "an object with a method of its own is refused", _NO_SUCH_METHOD, kinds="(?!tensor).*"
    ),
    named.FLAG_IS_BOOL: Announcement("a flag that is no `bool` is refused", _NO_SUCH_METHOD, kinds="(?!flag).*"),
    named.IS_SIZE: Announcement("what holds values is taken for a size", _MADE, kinds=r"(?!int|sizes|tensors|\*).*"),
    named.IS_DATA: Announcement("a size is taken for values", _MADE, kinds="int.*|sizes"),
    named.SIZE_IS_GIVEN: Announcement(
        "the call without any size raises",
        (Sign("exception", "None", rf"TypeError: (new_)?(empty|zeros)\(\) {_NO_SIZE}.*"),),
    ),
    named.ARRAY_HAS_DIMENSIONS: Announcement(
        "an integer array without dimensions is one value", _MADE, traits=frozenset({"scalar"}), kinds="array|int.*"
    ),
    named.MEMORY_NOT_SHARED: Announcement(
        "the new tensor has memory of its own",
        (Sign(".*: shares memory with", r"\(.+\)"), Sign("(?!input ).*: (stride|offset)")),
    ),
    named.HAS_NO_DIMENSIONS: Announcement(
        "a tensor with dimensions gives its only element as a number, or is refused",
        (
            Sign(r"(?!input ).*: (?!value|class|elements).*", after=_ABSENT, beside=".*: value"),
            Sign(".*: (value|class|elements)", is_number=True),
            Sign(".*: shares memory with", beside=".*: value"),
            Sign("exception", "None", "(RuntimeError|ValueError): .*(converted to|only one element).*"),
        ),
        traits=_WITH_DIMENSIONS,
    ),
}
"""By assumption. Those that are missing announce nothing that runs of a fragment can show, as who imports a name."""


# ---------------------------------------------------------------------- worlds in which a default is another
@dataclass(frozen=True, slots=True)
class ChangedDefault:
    """Another default of torch than its own, set before the code runs."""

    assumption: str = ""
    line: str = ""
    said: str = ""

    def text(self, text: str) -> str:
        """Return a fragment that sets the default first."""
        head, _, body = text.partition("\n")
        return f"{head}\n    {self.line}\n{body}" if self.line else text


USUAL = ChangedDefault()


def settings(decisions: Iterable[Decision], device: str) -> Iterator[ChangedDefault]:
    """Yield the defaults under which a fix has to be run too: those of which it assumes that nobody sets them."""
    for each in decisions:
        default = ANNOUNCED[each.assumption].default if each.assumption in ANNOUNCED else ""
        if default == "dtype":
            yield ChangedDefault(each.name, "torch.set_default_dtype(torch.float64)", "default dtype float64")
        elif default == "device" and hasattr(torch, "set_default_device"):
            other = "meta" if device == "cpu" else torch_device(device)
            yield ChangedDefault(each.name, f"torch.set_default_device({other!r})", f"default device {other}")


# ---------------------------------------------------------------------- telling them from others
def announcing(
    found: Sequence[Seen],
    decisions: Iterable[Decision],
    world: World,
    given: Mapping[str, str],
    setting: ChangedDefault = USUAL,
) -> tuple[Assumption | None, ...]:
    """Return for each difference that was seen in one world the open assumption that announces it, or None.

    ``given`` says for the code that each free name stands for what it was in that world.
    """
    doubted = [
        (each.assumption, ANNOUNCED[each.assumption])
        for each in decisions
        if each.assumption in ANNOUNCED and _fails(each, world, given, setting)
    ]
    return tuple(
        next((meant for meant, it in doubted if any(_shows(sign, each, found) for sign in it.signs)), None)
        for each in found
    )


def _fails(decision: Decision, world: World, given: Mapping[str, str], setting: ChangedDefault) -> bool:
    """Whether an assumption may fail to hold in a world."""
    it = ANNOUNCED[decision.assumption]
    if it.default and setting.assumption != decision.name:
        return False
    if it.traits and not it.traits & {getattr(world, each.name) for each in fields(world)}:
        return False
    if not it.kinds:
        return True
    spoken = " ".join(re.findall("`(.*?)`", decision.claim))
    about = [(re.search(rf"(?<![\w.])(\*?){re.escape(code)}(?!\w)", spoken), kind) for code, kind in given.items()]
    if it.traits and not any(each for each, _ in about):  # it is about what the code computes of the names
        about = [(re.match("()", ""), kind) for _, kind in about]
    return any(re.fullmatch(it.kinds, f"{each[1]}{kind}") for each, kind in about if each)


def _shows(sign: Sign, seen: Seen, found: Sequence[Seen]) -> bool:
    what, before, after = seen
    return bool(
        re.fullmatch(sign.observable, what)
        and re.fullmatch(sign.before, str(before), re.DOTALL)
        and re.fullmatch(sign.after, str(after), re.DOTALL)
        and (not sign.beside or any(re.fullmatch(sign.beside, each) for each, *_ in found))
        and (not sign.grows or (isinstance(before, int) and isinstance(after, int) and before < after))
        and (not sign.is_number or is_only_element(what.rpartition(": ")[0], found))
    )
