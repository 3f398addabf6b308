"""What all the trials of one operation say together."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice
from typing import Any

import torch

from tools.operations_table import arguments, particular, samples
from tools.operations_table.names import Operation
from tools.operations_table.trial import BOOL, INTEGRAL, Call, Refused, Seen, attempt, settings_kept

MOST_VARIED = 12
"""How many of the calls that torch accepts are tried again with every keyword."""
MOST_MISTYPED, MOST_REFUSED, MOST_ACCEPTED = 2, 8, 8
"""After so many refusals for their types, other refusals, or results, calls of a form are not made any more."""

MOST_OF_A_MESSAGE = 2000

_OF_GRAD = re.compile(r"grad|derivative|differentia|leaf|autograd|no_grad", re.IGNORECASE)
"""What a message says when less grad may help."""


@dataclass
class Record:
    """What was seen of one operation: plain, to be sent between processes."""

    name: str
    accepted: int = 0
    """Calls that torch accepted."""
    live: int = 0
    """Those in which an argument required grad."""
    refuses_grad: bool = False
    """Whether calls worked without grad, and no call worked with it."""
    floating: bool = False
    """Whether torch accepted floating elements in any call."""
    takes_tensor: bool = False
    kinds: set[str] = field(default_factory=set)
    """What results are that are no tensors."""
    bare: bool = False
    """Whether a result was a tensor itself."""
    lengths: set[int] = field(default_factory=set)
    """The lengths of results that are sequences of tensors."""
    alive: set[int] = field(default_factory=set)
    """The places of results that required grad; of a bare tensor -1."""
    dead: set[int] = field(default_factory=set)
    """The places of results that did not, in calls in which an argument required grad."""
    elements: set[str] = field(default_factory=set)
    """The elements of results of calls in which an argument required grad."""
    from_integers: set[str] = field(default_factory=set)
    """The elements of results of calls in which no argument was of floating elements."""
    kept: bool = False
    """Whether a result required grad under ``no_grad``, without ``inplace=True``."""
    kept_inplace: bool = False
    cut: bool = False
    """Whether a floating result did not require grad there, without ``inplace=True``."""
    shares: bool = False
    written: set[str] = field(default_factory=set)
    written_inplace: bool = False
    """Whether ``inplace=True`` writes into an argument."""
    takes_out: bool = False
    factory: set[str] = field(default_factory=set)
    """Of calls without tensors: ``plain``, ``requires_grad`` and ``device`` where those keywords act, ``default``."""
    changes_settings: bool = False
    reasons: Counter[str] = field(default_factory=Counter)
    """Why torch refused calls."""

    def add(self, seen: Seen, cast: bool) -> None:
        """Take in what a call showed; ``cast`` says that the call named a dtype."""
        self.accepted += 1
        self.reasons.clear()
        self.live += seen.live
        self.floating |= seen.floating
        self.takes_tensor |= bool(seen.tensors_in)
        self.kinds |= seen.kinds
        self.bare |= seen.sole
        if seen.results and not seen.sole:
            self.lengths.add(len(seen.results))
        for at, place in enumerate(seen.results):
            self._place(-1 if seen.sole else at, place, seen)
            if not cast:
                self._elements(place, seen)

    def _place(self, at: int, place: Any, seen: Seen) -> None:
        if any(each.requires_grad for each in place):
            self.alive.add(at)
        elif seen.live and place:
            self.dead.add(at)

    def _elements(self, place: Any, seen: Seen) -> None:
        if seen.live:
            self.elements |= {each.elements for each in place}
        elif seen.integral:
            self.from_integers |= {each.elements for each in place}


def measure(operation: Operation, skipped: frozenset[int], at: Any) -> Record:
    """Try one operation with everything; ``at`` is told the number of each call before it is made.

    Calls whose number is in ``skipped`` are not made: an earlier process died of them.
    """
    record, function = Record(operation.name), operation.function()
    worked: list[tuple[Call, str]] = []
    calls = list(candidates(operation))
    forms = Forms()
    with settings_kept() as changed:
        for number, call in enumerate(_and_varied(calls, worked)):
            at(number)
            if number in skipped or forms.settled(call) or record.changes_settings:
                continue
            grad = _try(record, function, call, forms)
            if grad is not None:
                forms.accept(call)
                if number < len(calls):
                    worked.append((call, grad))
                record.changes_settings = changed()
        record.refuses_grad = record.floating and not record.live
    if not record.changes_settings:
        _without_tensors(record, function, [call for call, _ in worked])
        _out(record, function, worked)
    return record


@dataclass
class Forms:
    """Which forms of calls need not be made any more, because others like them told enough."""

    _mistyped: Counter[Any] = field(default_factory=Counter)
    _refused: Counter[Any] = field(default_factory=Counter)
    _accepted: Counter[Any] = field(default_factory=Counter)
    _typed: set[Any] = field(default_factory=set)

    def accept(self, call: Call) -> None:
        """Count a call that torch accepted."""
        self._accepted[call.form] += 1
        self._typed.add(call.types)

    def refuse(self, call: Call, message: str) -> None:
        """Count a call that torch refused."""
        self._refused[call.form] += 1
        self._mistyped[call.types] += message.startswith("TypeError")

    def settled(self, call: Call) -> bool:
        """Whether this call would tell nothing new."""
        if call.types not in self._typed and self._mistyped[call.types] >= MOST_MISTYPED:
            return True
        accepted = self._accepted[call.form]
        return accepted >= MOST_ACCEPTED or (not accepted and self._refused[call.form] >= MOST_REFUSED)


def candidates(operation: Operation) -> Iterator[Call]:
    """Return the calls to try: those made for the operation, those of torch's tests, those for all alike."""
    return chain(particular.of(operation), samples.of(operation), arguments.for_all(operation.is_method))


def prepare() -> None:
    """Make once what every operation needs, before the processes part."""
    next(samples.of(Operation("torch.add")))
    for each in arguments.for_all(method=False):
        _ = each.form, each.types
    arguments.keywords()


def _and_varied(calls: list[Call], worked: list[tuple[Call, str]]) -> Iterator[Call]:
    yield from calls
    chosen = worked[:: max(1, len(worked) // MOST_VARIED)]
    for keywords in arguments.keywords():
        for call, _ in islice(chosen, MOST_VARIED):
            if not keywords.keys() <= call.keywords.keys():
                yield call.adding(**keywords)


def _try(record: Record, function: Any, call: Call, forms: Forms) -> str | None:
    """Make a call with as much grad as torch accepts; give which arguments required it, None where none works."""
    for grad in ("all", "given", "none"):
        try:
            seen = attempt(function, call, grad)
        except Refused as refused:
            message = str(refused)[:MOST_OF_A_MESSAGE]
            if not record.accepted and not message.startswith("TypeError"):
                record.reasons[reason(message)] += 1
            if not message.startswith("TypeError") and _OF_GRAD.search(message):
                continue
            forms.refuse(call, message)
            return None
        record.add(seen, sets_elements(call))
        inplace = asks_inplace(function, call)
        record.written_inplace |= inplace and bool(seen.written)
        if not inplace:
            record.written |= seen.written
        _under_no_grad(record, function, call, grad, inplace)
        return grad
    return None


def _under_no_grad(record: Record, function: Any, call: Call, grad: str, inplace: bool) -> None:
    try:
        seen = attempt(function, call, "all", mode=False)
    except Refused:
        try:
            seen = attempt(function, call, grad, mode=False)
        except Refused:
            return
    if inplace:
        record.kept_inplace |= seen.kept
    else:
        record.kept |= seen.kept
        record.cut |= seen.cut
        record.shares |= seen.shares


def sets_elements(call: Call) -> bool:
    """Whether a call names a dtype or gives a fraction, which may decide the elements of the result."""
    given = [*call.arguments, *call.keywords.values()]
    return any(isinstance(each, torch.dtype | float | complex) for each in given)


def asks_inplace(function: Any, call: Call) -> bool:
    """Whether a call says ``inplace=True``, by keyword or by position."""
    if "inplace" in call.keywords:
        return bool(call.keywords["inplace"])
    words = _parameters(function)
    return "inplace" in words and bool(dict(zip(words, call.arguments, strict=False)).get("inplace", False))


@lru_cache(maxsize=2)
def _parameters(function: Any) -> tuple[str, ...]:
    try:
        return tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # a built-in function does not say
        return ()


def _without_tensors(record: Record, function: Any, calls: list[Call]) -> None:
    """Find out whether the operation makes tensors of no tensor, and which keywords act on those."""
    for call in calls:
        asked = {
            "plain": call,
            "requires_grad": call.adding(requires_grad=True),
            "device": call.adding(device="meta"),
        }
        for word, wanted in asked.items():
            try:
                seen = attempt(function, wanted, "all")
            except Refused:
                continue
            if seen.sole and _holds(word, seen):
                record.factory.add(word)
        if "plain" in record.factory and "default" not in record.factory and _follows_default(function, call):
            record.factory.add("default")


def _holds(word: str, seen: Seen) -> bool:
    result = seen.results[0][0]
    return {"plain": not seen.tensors_in, "requires_grad": result.requires_grad, "device": result.device == "meta"}[
        word
    ]


def _follows_default(function: Any, call: Call) -> bool:
    before = torch.get_default_device()
    torch.set_default_device("meta")
    try:
        seen = attempt(function, call, "all")
    except Refused:
        return False
    finally:
        torch.set_default_device(before if before.type != "cpu" else None)
    return seen.sole and not seen.tensors_in and seen.results[0][0].device == "meta"


def _out(record: Record, function: Any, worked: list[tuple[Call, str]]) -> None:
    """Find out whether ``out=`` is written into."""
    for call, _ in worked[:40]:
        try:
            plain = attempt(function, call, "none")
            if not plain.sole:
                continue
            seen = attempt(function, call.adding(out=_empty(plain)), "none")
        except Refused:
            continue
        if seen.shares or "out" in seen.written:
            record.takes_out = True
            return


def _empty(seen: Seen) -> Any:
    dtypes = {INTEGRAL: torch.int64, BOOL: torch.bool}
    return torch.empty(0, dtype=dtypes.get(seen.results[0][0].elements, torch.float32))


NOT_FOUND = "arguments that were not found"
_REASONS = {
    "another device or build": (
        r"[Nn]ot compiled with|not linked with|CUDA|cuda|CUDNN|cudnn|MIOpen|miopen|XPU|xpu|HPU|MTIA|mtia|IPU|Metal"
        r"|Vulkan|vulkan|XLA|MAIA|PrivateUse1|accelerator|FBGEMM"
    ),
    "removed from torch": r"deprecated .*(removed|and is now)|is now removed|was removed|has been removed",
    "nested tensors": r"nested|jagged|NestedTensor",
}


def reason(message: str) -> str:
    """Return the class of a refusal."""
    if available := re.search(r"only available for these backends: \[([^\]]*)", message):
        # the list names every device behind "Autograd", too
        on_host = re.search(r"(?<!\w)(Quantized|Sparse|SparseCsr|Mkldnn)?CPU\b", available[1])
        return NOT_FOUND if on_host else "another device or build"
    found = (word for word, pattern in _REASONS.items() if re.search(pattern, message))
    return next(found, NOT_FOUND)
