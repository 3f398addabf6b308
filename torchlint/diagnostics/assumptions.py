"""What the equality of old and new code may rest on, each named once: a fix is safe where all of its are proven."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Assumption:
    """One thing that a fix may rest on.

    ``claim`` is a clause about the code at hand, ``{}`` in it stands for an expression; ``proof`` says how the code
    shows it, where a rule says no more; ``sentence`` explains it on pages.
    """

    name: str
    claim: str
    proof: str
    sentence: str
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
    """Return each assumption once, by the first decision that leaves it open, else by the first."""
    found: dict[str, Decision] = {}
    for each in decisions:
        if each.name not in found or (found[each.name].is_proven and not each.is_proven):
            found[each.name] = each
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


IS_TENSOR = Assumption(
    "is-torch-tensor",
    "`{}` is a tensor of torch",
    "the code shows how it is made",
    "The value is a tensor of torch: no array, no tensor of another framework, no object of your own whose methods "
    "have the same names.",
)
NOT_WRITTEN_LATER = Assumption(
    "not-written-through-later",
    "nothing writes through `{}` later",
    "it is only read",
    "Nothing writes into the memory of the value later on: autograd sees writes through `.detach()`, and none "
    "through `.data`.",
)
NO_LIVE_GRAPH = Assumption(
    "no-live-graph",
    "no later `backward` needs the old values of `{}`",
    "the module is being built, so nothing was computed with it yet",
    "No graph that was built before the write still waits for its `backward`: the hidden write makes the gradient "
    "wrong in silence, the visible one makes `backward` raise.",
)
SAME_METHOD = Assumption(
    "same-effect-without-data",
    "`{}` is meant to act on the tensor itself",
    "the method was measured to do the same in both spellings",
    "The method does the same to the tensor as to its `.data`: most in-place methods do, those that change a shape or "
    "exchange the memory do not.",
)
RESULT_NOT_USED = Assumption(
    "result-not-used",
    "nobody uses the result of the call",
    "it is a statement of its own",
    "Nobody uses the result of the call: with `.data` it is a detached value, without `.data` the tensor itself.",
)
NO_GRADIENT_WANTED = Assumption(
    "no-gradient-wanted",
    "no gradient is wanted through `{}`",
    "the code computes no loss here",
    "Nobody wants a gradient through the value: the error may be the only sign that one gets lost.",
)
NO_WRITE_WANTED = Assumption(
    "no-write-wanted",
    "no write into the array is meant for `{}`",
    "nothing in sight writes into the array",
    "Nobody writes into the array so that the tensor changes: from an accelerator it is a copy, so the error may be "
    "the only sign that the write gets lost.",
)
NO_GRADIENT_CARRIED = Assumption(
    "value-carries-no-gradient",
    "`{}` is detached already",
    "all that it is made of is shown to be detached",
    "The value does not require grad, so that nothing has to be cut off.",
)
ERROR_NOT_EXPECTED = Assumption(
    "error-not-expected",
    "nobody relies on the error of the old code",
    "no handler and no test that expects errors is around",
    "Nothing in the same function waits for the error that the old code raises and the new code does not: a handler, "
    "`pytest.raises`, a mark of a test that fails.",
)
NOT_TRACED = Assumption(
    "not-traced",
    "the code is not traced or scripted",
    "neither this file nor one that imports it traces or scripts code",
    "No tracer records the code: a trace keeps what `.data` gives as a constant, and follows `.detach()`; it keeps the "
    "size that `torch.Tensor` is given, and follows that of `torch.empty`; it lets gradients pass `Variable(x)`.",
)
DEFAULT_DTYPE = Assumption(
    "default-dtype-unchanged",
    "the default dtype stays as it is",
    "no file of the project sets another",
    "Nothing in the project sets a default dtype: `torch.Tensor` follows it, and a dtype that is written does not.",
)
DEFAULT_DEVICE = Assumption(
    "default-device-unchanged",
    "the default device stays the CPU",
    "no file of the project sets another",
    "Nothing in the project sets a default device or builds under `with torch.device(...)`: one of the two calls "
    "follows it, the other does not.",
)
NAME_NOT_TAKEN = Assumption(
    "name-not-imported-elsewhere",
    "nothing else takes `{}` from this module",
    "no file of the project takes it",
    "No other file takes the name from this module, and no string and no `globals()` reaches it.",
)
IS_DATA = Assumption(
    "argument-is-data",
    "{} holds values and is no size",
    "the code shows what it is",
    "The argument holds values. Were it an integer, the legacy call would make that many uninitialised elements.",
    is_choice=True,
)
IS_SIZE = Assumption(
    "argument-is-size",
    "{} is a size",
    "the code shows what it is",
    "The argument is a size. Were it a sequence, the legacy call would take its elements as data.",
    is_choice=True,
)
SIZE_IS_GIVEN = Assumption(
    "size-is-given",
    "{} is not empty",
    "at least one size is written",
    "There is at least one size: without any the legacy call gives an empty tensor, and the new one raises.",
)
ARRAY_HAS_DIMENSIONS = Assumption(
    "array-has-dimensions",
    "{} has dimensions",
    "the code shows its shape",
    "The array has dimensions: the legacy call takes an integer array without any as a size.",
)
MEMORY_NOT_SHARED = Assumption(
    "memory-not-shared",
    "{} and the tensor need not share memory",
    "the legacy call copied, too",
    "Nobody relies on the memory that the legacy call may share with an array: the new one copies.",
)
DEVICE_IS_KNOWN = Assumption(
    "device-is-known",
    "`device` is the device that is meant",
    "the type's name says it",
    "The name stands for a type on the CPU or on an accelerator, depending on the run: which device is meant has to be "
    "written.",
    is_choice=True,
)
ON_CURRENT_GPU = Assumption(
    "on-the-current-gpu",
    "`{}` is on no other GPU than the current one",
    "it is on the host",
    "The tensor is on no other GPU than the current one: the old call leaves it there, and the new one moves it.",
)
HAS_NO_DIMENSIONS = Assumption(
    "has-no-dimensions",
    "`{}` has no dimensions",
    "it comes from a full reduction",
    "The tensor has no dimensions, so that the old code raised: of a tensor with one dimension `[0]` is a tensor, no "
    "number.",
)
HAS_ONE_DIMENSION = Assumption(
    "has-one-dimension",
    "`{}` has one dimension",
    "the code shows how it is made",
    "The tensor has one dimension, so that its elements are numbers: of more dimensions `.tolist()` gives lists of "
    "lists.",
)
IS_REAL = Assumption(
    "is-real",
    "`{}` holds no complex numbers",
    "its dtype is known",
    "The tensor is not complex: `float(x)` takes a complex tensor without imaginary part, and no complex number.",
)
FLAG_IS_BOOL = Assumption(
    "flag-is-bool",
    "`{}` is `True` or `False`",
    "it is written out",
    "The flag is a `bool`: `requires_grad=1` works, `requires_grad_(1)` raises.",
)
NO_GRAPH_NEEDED = Assumption(
    "no-graph-needed",
    "nobody needs the graph of what the function gives",
    "grad mode is off already, or the flag says no",
    "Nobody calls `backward` on what the function gives: under `no_grad` it has no graph.",
)
MAY_WAIT = Assumption(
    "copy-may-wait",
    "no work is meant to run while the copy is under way",
    "the result is read at once",
    "The copy need not overlap with other work: without `non_blocking=True` the call waits for it.",
)
NO_OWN_METHOD = Assumption(
    "no-own-method",
    "the method of `{}` is torch's own",
    "it is a tensor of torch",
    "The method is torch's: a class of your own may have one of the same name that takes other arguments.",
)
NO_LEGACY_DEVICE = Assumption(
    "no-legacy-constructor-follows",
    "no legacy constructor is meant to follow the default device",
    "there is none",
    "No legacy constructor relies on the default tensor type: they ignore the default device.",
)
WARNING_IS_WELCOME = Assumption(
    "warnings-may-differ",
    "nobody minds that torch warns of unchecked indices",
    "torch gives none",
    "Nobody minds that torch warns of something else than before.",
)
CELL_SHOWS_NOTHING = Assumption(
    "cell-output-not-read",
    "nobody needs what the cell shows",
    "the cell shows the same",
    "Nobody needs what a notebook's cell shows: after the fix its last line gives another value, or none.",
)
SIBLINGS_ARE_REPAIRED = Assumption(
    "siblings-are-repaired",
    "its siblings are repaired with it",
    "each of them has a fix that is applied with it",
    "What else the statement has of the same kind, such as another `.data`, is repaired with it: half a migration is "
    "none.",
    is_choice=True,
)
AUTHOR_MEANT_THIS = Assumption(
    "author-meant-this",
    "this is what was meant",
    "there is no other reading",
    "This repair is the one that was meant: there are several, and they do different things.",
    is_choice=True,
)

ASSUMPTIONS: dict[str, Assumption] = {
    each.name: each for each in tuple(globals().values()) if isinstance(each, Assumption)
}
"""All of them by name, in the order in which they are explained."""
