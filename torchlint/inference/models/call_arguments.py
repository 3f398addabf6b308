"""The values given to a call, by position and by keyword."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from enum import IntEnum

from torchlint.facts.value import UNKNOWN, Device, Dtype, Grad, Kind, Reason, Value
from torchlint.inference.lattice import join_all
from torchlint.syntax.signatures import parameters, positional_parameters


class SetsAttribute(IntEnum):
    """Whether a method sets an attribute of its object; the surest last."""

    PERHAPS = 0
    """On some ways to its end: else the attribute stays what it was."""
    FIRST = 1
    """In a constructor: there was no such attribute before, but for what stands above `super().__init__()`."""
    ALWAYS = 2
    """On each way to its end."""


@dataclass(frozen=True)
class Arguments:
    """What a call is given, and the call itself for reasons."""

    node: ast.AST
    positional: tuple[Value, ...] = ()
    keywords: dict[str, Value] = field(default_factory=dict)
    starred: bool = False
    """Whether ``*`` or ``**`` may give more."""
    spread: tuple[Value, ...] = ()
    """What ``*`` and ``**`` are applied to where it is not known one by one."""
    dropped: bool = False
    """Whether nobody takes the result: only what the call changes matters."""
    changes: list[tuple[ast.expr, Value]] = field(default_factory=list, compare=False)
    """What a function of the project did to its arguments, for the caller to carry out."""
    shared: list[tuple[ast.FunctionDef | ast.AsyncFunctionDef, str, Value]] = field(default_factory=list, compare=False)
    """What it, a function of the same file, did to names from around it."""
    asked: list[tuple[ast.expr, Grad]] = field(default_factory=list, compare=False)
    """What it asked of the parameters of its arguments."""
    attributes: list[tuple[ast.expr, str, Value, SetsAttribute]] = field(default_factory=list, compare=False)
    """What a method set attributes of its object to, and how sure that is."""

    def find(self, index: int, *names: str) -> Value | None:
        """Return an argument by its position or one of its names; None where it is not given."""
        for name in names:
            if name in self.keywords:
                return self.keywords[name]
        return self.positional[index] if 0 <= index < len(self.positional) else None

    def bound_to(self, node: ast.Lambda) -> dict[str, Value]:
        """Return what the parameters of a lambda are; nothing is known of those that are left to their defaults."""
        found = dict.fromkeys(parameters(node), UNKNOWN)
        for index, argument in enumerate(positional_parameters(node)):
            found[argument.arg] = self.find(index, argument.arg) or UNKNOWN
        for argument in node.args.kwonlyargs:
            found[argument.arg] = self.keywords.get(argument.arg, UNKNOWN)
        return found

    def joined_since(self, start: int, methods: int) -> None:
        """Join what each of some methods, of which one is called, set attributes to."""
        found, self.attributes[start:] = self.attributes[start:], []
        by_place: dict[tuple[int, str], list[tuple[ast.expr, str, Value, SetsAttribute]]] = {}
        for each in found:
            by_place.setdefault((id(each[0]), each[1]), []).append(each)
        for (_, word), entries in by_place.items():
            setting = min(each[3] for each in entries) if len(entries) == methods else SetsAttribute.PERHAPS
            self.attributes.append((entries[0][0], word, join_all(each[2] for each in entries), setting))

    def every(self) -> list[Value]:
        """Return all arguments."""
        return [*self.positional, *self.keywords.values()]

    def tensors(self) -> Value:
        """Return the join of all arguments that may be tensors or hold some."""
        return join_all(self._tensors())

    def operands(self) -> Value:
        """Return the join of all tensors as an operation sees them: one that requires grad is enough for its result."""
        return joined_operands(self._tensors())

    def _tensors(self) -> list[Value]:
        return [inner for value in (*self.every(), *self.spread) for inner in _tensors_in(value)]

    def apart_from(self, scalars: frozenset[str], end: int, first: int = 0) -> Arguments:
        """Leave out what an operation takes for numbers: it is no tensor, whatever is known of it.

        ``scalars`` holds positions and keywords, from ``end`` on there are no others; ``first`` is the first position.
        """
        positional = tuple(
            value
            for at, value in enumerate(self.positional, first)
            if value.is_tensor or (at < end and str(at) not in scalars)
        )
        keywords = {word: value for word, value in self.keywords.items() if value.is_tensor or word not in scalars}
        return Arguments(self.node, positional, keywords, self.starred, self.spread)

    def says(self, name: str) -> object:
        """Return a keyword's constant value; None where it is absent or no constant."""
        value = self.keywords.get(name)
        return value.const if value else None

    def shifted(self) -> Arguments:
        """Drop the first positional argument."""
        return replace(self, positional=self.positional[1:], spread=(), changes=[], shared=[], asked=[], attributes=[])


def joined_operands(values: list[Value]) -> Value:
    """Join the inputs of an operation: its result is floating and requires grad where one of them does beyond doubt."""
    joined = join_all(values)
    if any(value.is_tensor and value.grad == Grad.ATTACHED and value.dtype == Dtype.FLOATING for value in values):
        joined = joined.having(grad=Grad.ATTACHED, dtype=Dtype.FLOATING)
    if any(value.is_tensor and value.device == Device.ACCELERATOR for value in values):
        joined = joined.having(device=Device.ACCELERATOR)
    others = [value for value in values if not value.is_tensor]
    if len(others) == len(values) or not all(value.vague for value in others):
        return joined
    if joined.may_require_grad and not any(value.is_tensor and value.may_require_grad for value in values):
        joined = joined.having(why_grad=as_plain_operand("carries no gradient", joined.why_grad))
    if joined.may_be_on_accelerator and not any(value.is_tensor and value.may_be_on_accelerator for value in values):
        joined = joined.having(why_device=as_plain_operand("is on the host", joined.why_device))
    return joined


def as_plain_operand(known: str, reason: Reason | None) -> Reason:
    """Say that what nothing is known of, perhaps a number, is only computed with."""
    return Reason(f"it is computed with beside a tensor that {known}", None, reason, weak=True, aside=True)


def _tensors_in(value: Value, depth: int = 3) -> list[Value]:
    if value.must(Kind.SEQUENCE) and depth:
        inner = value.items if value.items is not None else (value.member,) if value.member else ()
        return [found for each in inner for found in _tensors_in(each, depth - 1)]
    return [value] if value.may(Kind.TENSOR) else []


def asked_for_grad(value: Value, given: Arguments, wanted: Value | None) -> Value:
    """Return a value that is made with ``requires_grad=wanted``; where that is not known, it may require grad."""
    if wanted is None or wanted.const is False:
        return value
    why = Reason("{code} asks for requires_grad", given.node)
    if wanted.const is True:
        return value.having(grad=Grad.ATTACHED, why_grad=why)
    return value.having(grad=value.grad | Grad.UNKNOWN, why_grad=why)


def stated_reduction(given: Arguments) -> Value | None:
    """Return how a loss is told to reduce; None where it is told nothing and so takes the mean."""
    if given.starred or given.spread or given.keywords.keys() & {"reduce", "size_average"}:
        return UNKNOWN
    return given.keywords.get("reduction")


def reduces(said: Value | None) -> bool:
    """Whether a loss gives one number, by what is said of its ``reduction``; None where nothing is."""
    return said is None or said.const in ("mean", "sum")
