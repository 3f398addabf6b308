"""What a legacy constructor is given: data, a size, an array, a tensor, or something that the code does not tell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import libcst as cst

from torchlint.rules.api import FileContext, Kind, Value, one_line
from torchlint.rules.constructors.array_dimensions import is_no_size, may_be_one_number
from torchlint.rules.repairs import method_call
from torchlint.rules.wording import brief


class ArgumentKind(Enum):
    """How ``torch.Tensor(...)`` takes its arguments; the value is a word for messages."""

    EMPTY = "nothing"
    SIZE = "a size"
    DATA = "a sequence"
    SHAPE = "a sequence of sizes"
    """Taken as data, and written as a shape is: ``(x.shape[0], 1, 1, 1)``."""
    ARRAY = "an array"
    TENSOR = "a tensor"
    INVALID = "a value that it always refuses"
    STORAGE = "a storage"
    UNKNOWN = "a value of unknown kind"


@dataclass(frozen=True, slots=True)
class Given:
    """What a call is given, and whether the code proves it."""

    kind: ArgumentKind
    proven: bool
    what: str
    """The argument for a message: ``a list``, ```sizes```."""
    may_be_empty: bool = False
    """Only ``*sizes``: without elements the legacy call gives an empty tensor where ``torch.empty()`` raises."""
    doubt: str = ""
    """Why it is not proven, as a clause, where there is more to say than that."""

    @property
    def named(self) -> str:
        """The argument without its kind, for a message that has to be short."""
        return self.what.rpartition(", a")[0] if self.what.endswith(",") else self.what

    @property
    def is_size(self) -> bool:
        """Whether it is taken for a size, so that the memory is left as it is."""
        return self.kind in (ArgumentKind.SIZE, ArgumentKind.EMPTY)

    @property
    def may_be_either(self) -> bool:
        """Whether only the author can tell if a size or data is meant."""
        return self.kind in (ArgumentKind.SHAPE, ArgumentKind.UNKNOWN)

    @property
    def reads_as_size(self) -> bool:
        """Whether it is taken for a size first: it is one, or nothing but its name says that it is."""
        return self.is_size or (self.kind is ArgumentKind.UNKNOWN and bool(_ONE_SIZE.search(self.what.strip("`"))))


_SIZES = Kind.INTEGER | Kind.SIZE
_ALWAYS_REFUSED = Kind.NONE | Kind.STRING | Kind.SCALAR
"""Where the call ran, the value was none of these: ``size: int | None`` was an integer, and no truth value."""
_STORAGE = re.compile(r"[sS]torage\d*\b")
_ONE_SIZE = re.compile(r"(?:\b|_)(?:n|size|dim|len|length|width|features|channels|classes|units|heads)$")
_LENGTH = cst.Name("len")
_FILLS = frozenset(
    "normal_ uniform_ fill_ zero_ random_ bernoulli_ exponential_ copy_ geometric_ cauchy_ log_normal_ eye_".split()
)
"""Methods that overwrite all elements of a tensor: nobody calls one on data that was just given."""


def given(node: cst.Call, positional: Sequence[cst.Arg], context: FileContext) -> Given:
    """Classify the positional arguments of a legacy constructor's call."""
    if not positional:
        return Given(ArgumentKind.EMPTY, True, "nothing")
    first, plain = positional[0], [each.value for each in positional if not each.star]
    if any(each.star == "**" for each in positional):
        return Given(ArgumentKind.UNKNOWN, False, f"`{brief(first.value, context)}`")
    if len(plain) > 1 or (first.keyword is not None and first.keyword.value == "size"):
        return Given(ArgumentKind.SIZE, True, "a size")
    if not plain:
        return _spread(first.value, context)
    found = _one(node, plain[0], context)
    if len(positional) == 1:
        return found
    return Given(ArgumentKind.SIZE, found.proven and found.kind is ArgumentKind.SIZE, "a size")


def _spread(node: cst.BaseExpression, context: FileContext) -> Given:
    """Read ``*sizes``, which may hold none."""
    value, shown = context.value(node), f"`*{brief(node, context)}`"
    if value.must(_SIZES) or measures(node):
        is_proven = value.must(_SIZES) and (not value.claimed or _asks_a_tensor(node, context))
        return Given(ArgumentKind.SIZE, is_proven, shown, may_be_empty=True)
    return Given(ArgumentKind.UNKNOWN, False, shown)


def _one(node: cst.Call, argument: cst.BaseExpression, context: FileContext) -> Given:
    value, code = context.value(argument), context.code(argument)
    shown = f"`{brief(argument, context)}`"
    match argument:
        case cst.List() | cst.Tuple() | cst.ListComp():
            return _literal(argument, context)
        case cst.Integer():
            return Given(ArgumentKind.SIZE, True, "a size")
        case cst.Float() | cst.UnaryOperation(expression=cst.Float()) | cst.Imaginary() | cst.BaseString():
            return Given(ArgumentKind.INVALID, True, shown)
        case cst.Name(value="True" | "False" | "None") | cst.GeneratorExp() | cst.BaseSet() | cst.BaseDict():
            return Given(ArgumentKind.INVALID, True, shown)
    if value.may(Kind.OTHER) and (_is_storage(value) or _STORAGE.search(code)):
        return Given(ArgumentKind.STORAGE, True, "a storage")
    value = value.having(kind=value.kind & ~_ALWAYS_REFUSED)
    if value.must(_SIZES):
        doubt = "" if _asks_a_tensor(argument, context) else value.claimed
        return Given(ArgumentKind.SIZE, not doubt, shown, doubt=doubt)
    if value.must(Kind.TENSOR):
        return Given(ArgumentKind.TENSOR, True, f"{shown}, a tensor,")
    if value.claimed and _ONE_SIZE.search(code):  # `hidden_size: tuple[int]` is most often an integer
        return Given(ArgumentKind.UNKNOWN, False, shown)
    if value.must(Kind.SEQUENCE):  # what others hand over may be an array in spite of all: so it is taken for one
        is_made_here = not value.claimed and isinstance(argument, cst.Name | cst.Call | cst.BinaryOperation)
        kind = ArgumentKind.DATA if is_made_here else ArgumentKind.ARRAY
        return Given(kind, not value.claimed, f"{shown}, a sequence,", doubt=value.claimed)
    if value.may(Kind.ARRAY) and value.must(Kind.ARRAY | Kind.INTEGER | Kind.SEQUENCE):
        found = context.python(argument)
        if not value.may(Kind.INTEGER) or not may_be_one_number(found):
            what = shown if value.may(Kind.SEQUENCE) else f"{shown}, an array,"
            return Given(ArgumentKind.ARRAY, is_no_size(found, context), what)
    is_filled_later = is_overwritten(node, context) or (_ONE_SIZE.search(code) and _is_in_parameter(node, context))
    if value.may(Kind.INTEGER | Kind.OTHER) and (is_filled_later or measures(argument)):
        return Given(ArgumentKind.SIZE, False, shown)
    return Given(ArgumentKind.UNKNOWN, False, shown)


def _is_in_parameter(node: cst.Call, context: FileContext) -> bool:
    """Whether a parameter is made of the result: ``nn.Parameter(torch.Tensor(out_features))``."""
    above = context.parent(node)
    made = context.parent(above) if isinstance(above, cst.Arg) else None
    return isinstance(made, cst.Call) and context.spells(made.func, "Parameter")


def _is_storage(value: Value) -> bool:
    """Whether a value is an object without a name, as what a tensor gives is, or one of torch's storages."""
    is_of_torch = all(each.startswith("torch.") and each.endswith("Storage") for each in value.instance)
    return value.must(Kind.OTHER | Kind.NONE) and not value.names and is_of_torch


def _literal(node: cst.List | cst.Tuple | cst.ListComp, context: FileContext) -> Given:
    """Read a list or a tuple that is written out; one of sizes may be meant as a shape."""
    what = "a tuple" if isinstance(node, cst.Tuple) else "a list"
    if not isinstance(node, cst.ListComp) and _is_of_sizes(node, context):
        return Given(ArgumentKind.SHAPE, True, f"`{one_line(context.code_with_parentheses(node), 40)}`")
    return Given(ArgumentKind.DATA, True, what)


def _is_of_sizes(node: cst.List | cst.Tuple, context: FileContext) -> bool:
    """Whether several integers stand there, one of them a size of something; lists of sizes alone are mostly data."""
    members = [each.value for each in node.elements]
    sizes = [each for each in members if not isinstance(each, cst.Integer)]
    if len(members) < 2 or not sizes or (len(sizes) == len(members) and isinstance(node, cst.List)):
        return False
    return all(context.value(each).must(Kind.INTEGER) for each in members) and any(
        measures(each) or (isinstance(each, cst.Call) and each.func.deep_equals(_LENGTH)) for each in sizes
    )


def measures(node: cst.BaseExpression) -> bool:
    """Whether an expression asks something for its size: ``x.shape[0]``, ``x.size(1)``, ``x.size()``."""
    match node:
        case cst.Subscript(value=cst.Attribute(attr=cst.Name(value="shape"))):
            return True
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="size"))):
            return True
    return False


def _asks_a_tensor(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether something is asked for its size as only tensors are, if it is one as far as is known: ``x.size(0)``."""
    match node:
        case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value="size"))):
            return context.value(inner).is_tensor
    return False


def is_overwritten(node: cst.Call, context: FileContext) -> bool:
    """Whether all elements of a new tensor are written right behind the call: ``torch.Tensor(x).normal_()``."""
    above = context.parent(node)
    return (
        isinstance(above, cst.Attribute) and above.attr.value in _FILLS and isinstance(context.parent(above), cst.Call)
    )


def zeroing(node: cst.Call, context: FileContext) -> cst.Call | None:
    """Return the ``.zero_()`` right behind a call that makes new memory; None where there is none."""
    called = method_call(node, context)
    if called is None or called[1] != "zero_" or called[0].args:
        return None
    is_plain = "#" not in context.source.slice(context.outer_span(node)[1], context.span(called[0])[1])
    return called[0] if is_plain else None
