"""What the equality of old and new code may rest on, each named once: a fix is safe where all of its are proven."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

ASSUMPTIONS: dict[str, str] = {
    "is-torch-tensor": (
        "The value is a torch tensor, and not an array, `None`, a tensor of another framework, or an object of your "
        "own with methods of the same names."
    ),
    "only-read": (
        "The result is only read afterwards: nothing writes through it into memory that it shares, or no longer "
        "shares, and nobody uses the result of a call that now returns another object."
    ),
    "no-live-graph": (
        "No graph built before the write still waits for its `backward`: the hidden write silently makes the gradient "
        "wrong, the visible one makes `backward` raise."
    ),
    "carries-no-gradient": "The value does not require grad, so there is nothing to detach.",
    "argument-is-data": (
        "The argument is what the fix takes it for, data or a size: a legacy constructor takes an integer as a size, "
        "takes a sequence as data, and makes an empty tensor without an argument."
    ),
    "is-scalar": (
        "The tensor converts to a Python number: it has no dimensions (or one, if a list of numbers is made) and no "
        "complex values."
    ),
    "default-dtype-unchanged": (
        "Nothing in the project sets a default dtype: `torch.Tensor` follows it, and an explicit dtype does not."
    ),
    "default-device-unchanged": (
        "Nothing in the project sets or enters a default device, and the code means the current GPU: one of the two "
        "calls follows these, the other does not."
    ),
    "not-traced": (
        "No tracer records the code: a trace stores `.data`, and the size given to `torch.Tensor`, as constants, and "
        "lets gradients pass `Variable(x)`."
    ),
    "name-not-imported-elsewhere": "No other file takes the name from this module.",
    "no-own-method": (
        "The method is torch's: a class of your own, or a subclass of `torch.Tensor`, may have a method of the same "
        "name that does something else."
    ),
    "no-gradient-wanted": (
        "Nobody needs a gradient through the value: the error of the old code may be the only sign that it gets lost, "
        "and code may ask the old graph for one."
    ),
    "error-not-expected": (
        "Nobody expects an error or a warning that only one of the two versions gives: in a handler, in "
        "`pytest.raises`, or in a test marked as expected to fail."
    ),
    "author-meant-this": (
        "The fix does what you meant: the code has several readings that do different things, or something else has "
        "to be decided first."
    ),
}
"""The meaning of each by its name, in the order in which they are explained."""


@dataclass(frozen=True, slots=True)
class Assumption:
    """One thing that a fix may rest on; several claims may go by one name.

    ``claim`` is a clause about the code at hand, ``{}`` in it stands for an expression; ``proof`` says how the code
    shows it, where a rule says no more.
    """

    name: str
    claim: str
    proof: str
    is_choice: bool = False
    """Where nothing speaks for it, only the author can tell: then the fix is shown and never applied."""

    def decided(self, doubt: str | None, of: str = "", because: str = "") -> Decision:
        """Return the assumption as proven, or as open where there is a doubt.

        :param doubt: why it is not proven, as a clause; empty where there is no more to say than that; None for proven
        :param of: the code of the expression that it is about
        :param because: why it is proven, as a clause
        """
        if doubt is None:
            return Decision(self, True, because or self.proof, self.claim.format(of))
        return Decision(self, False, doubt, self.claim.format(of))

    def open(self, of: str = "", doubt: str = "", is_likely: bool = False) -> Decision:
        """Return the assumption as open; ``is_likely`` says that the code speaks for it without proving it."""
        return Decision(self, False, doubt, self.claim.format(of), is_likely)

    def proven(self, because: str = "", of: str = "") -> Decision:
        """Return the assumption as proven."""
        return self.decided(None, of, because)


@dataclass(frozen=True, slots=True)
class Decision:
    """An assumption for one fix: proven or open, and why."""

    assumption: Assumption
    is_proven: bool
    why: str
    """A clause; empty for an open assumption of which nothing more is known."""
    claim: str
    """The assumption in the words of the code at hand: "`x` is a tensor of torch"."""
    is_likely: bool = False

    @property
    def name(self) -> str:
        """The assumption's name."""
        return self.assumption.name

    @property
    def status(self) -> str:
        """``proven`` or ``open``."""
        return "proven" if self.is_proven else "open"

    @property
    def reason(self) -> str:
        """Why it is proven or open, as a clause."""
        return self.why or "the code does not show it"

    @property
    def leaves_a_choice(self) -> bool:
        """Whether only the author can tell whether it holds."""
        return not self.is_proven and self.assumption.is_choice and not self.is_likely


def merged(decisions: Iterable[Decision]) -> tuple[Decision, ...]:
    """Return each assumption once, by the first decision that leaves it open, else by the first.

    Different claims by one name stay apart, so that each that is open is told.
    """
    found: dict[Assumption, Decision] = {}
    for each in decisions:
        if each.assumption not in found or (found[each.assumption].is_proven and not each.is_proven):
            found[each.assumption] = each
    return tuple(found.values())


def told(decisions: tuple[Decision, ...]) -> str:
    """Return what is open, as the end of a title: "assumes that ..."; nothing where all is proven.

    A doubt that several share is told once, behind the last of them.
    """
    claims: dict[str, dict[str, None]] = {}
    for each in decisions:
        if not each.is_proven:
            claims.setdefault(each.why, {})[each.claim] = None
    clauses: list[str] = []
    for why, shared in claims.items():
        clauses += shared
        clauses[-1] += f" ({why})" if why else ""
    if not clauses:
        return ""
    *before, last = clauses
    return f"assumes that {', that '.join(before)}, and that {last}" if before else f"assumes that {last}"


IS_TENSOR = Assumption("is-torch-tensor", "`{}` is a tensor of torch", "the code shows how it is made")
NOT_WRITTEN_LATER = Assumption("only-read", "nothing writes through `{}` later", "it is only read")
RESULT_NOT_USED = Assumption("only-read", "nobody uses the result of the call", "it is a statement of its own")
NO_WRITE_WANTED = Assumption(
    "only-read", "no write into the array is meant for `{}`", "nothing in sight writes into the array"
)
MEMORY_NOT_SHARED = Assumption("only-read", "{} and the tensor need not share memory", "the legacy call copied, too")
NO_LIVE_GRAPH = Assumption(
    "no-live-graph",
    "no later `backward` needs the old values of `{}`",
    "the module is being built, so nothing was computed with it yet",
)
NO_GRADIENT_CARRIED = Assumption(
    "carries-no-gradient", "`{}` is detached already", "all that it is made of is shown to be detached"
)
IS_DATA = Assumption("argument-is-data", "{} holds values and is no size", "the code shows what it is", is_choice=True)
IS_SIZE = Assumption("argument-is-data", "{} is a size", "the code shows what it is", is_choice=True)
SIZE_IS_GIVEN = Assumption("argument-is-data", "{} is not empty", "at least one size is written")
ARRAY_HAS_DIMENSIONS = Assumption("argument-is-data", "{} has dimensions", "the code shows its shape")
HAS_NO_DIMENSIONS = Assumption("is-scalar", "`{}` has no dimensions", "it comes from a full reduction")
HAS_ONE_DIMENSION = Assumption("is-scalar", "`{}` has one dimension", "the code shows how it is made")
DEFAULT_DTYPE = Assumption(
    "default-dtype-unchanged", "the default dtype stays as it is", "no file of the project sets another"
)
DEFAULT_DEVICE = Assumption(
    "default-device-unchanged", "the default device stays the CPU", "no file of the project sets another"
)
ON_CURRENT_GPU = Assumption(
    "default-device-unchanged", "`{}` is on no other GPU than the current one", "it is on the host"
)
NOT_TRACED = Assumption(
    "not-traced", "the code is not traced or scripted", "no file of the project traces or scripts code"
)
NAME_NOT_TAKEN = Assumption(
    "name-not-imported-elsewhere", "other files do without `{}` from this module", "no file of the project takes it"
)
NO_OWN_METHOD = Assumption("no-own-method", "the method of `{}` is torch's own", "it is a tensor of torch")
NO_GRADIENT_WANTED = Assumption(
    "no-gradient-wanted", "no gradient is wanted through `{}`", "the code computes no loss here"
)
NO_GRAPH_NEEDED = Assumption(
    "no-gradient-wanted",
    "nobody needs the graph of what the function gives",
    "grad mode is off already, or the flag says no",
)
ERROR_NOT_EXPECTED = Assumption(
    "error-not-expected",
    "nobody relies on the error of the old code",
    "no handler and no test that expects errors is around",
)
SAME_METHOD = Assumption(
    "author-meant-this",
    "`{}` is meant to act on the tensor itself",
    "the method was measured to do the same in both spellings",
)
DEVICE_IS_KNOWN = Assumption(
    "author-meant-this", "`device` is the device that is meant", "the type's name says it", is_choice=True
)
FLAG_IS_BOOL = Assumption("author-meant-this", "`{}` is `True` or `False`", "it is written out")
MAY_WAIT = Assumption(
    "author-meant-this", "no work is meant to run while the copy is under way", "the result is read at once"
)
CELL_SHOWS_NOTHING = Assumption("author-meant-this", "nobody needs what the cell shows", "the cell shows the same")
SIBLINGS_ARE_REPAIRED = Assumption(
    "author-meant-this",
    "its siblings are repaired with it",
    "each of them has a fix that is applied with it",
    is_choice=True,
)
AUTHOR_MEANT_THIS = Assumption(
    "author-meant-this", "this is what was meant", "there is no other reading", is_choice=True
)

BY_CLAIM: dict[str, Assumption] = {
    each.claim: each for each in tuple(globals().values()) if isinstance(each, Assumption)
}
"""All of them, by what tells them apart."""
