"""What a legacy constructor is given: data, a size, an array, a tensor, or something that the code does not tell."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import libcst as cst

from torchlint.rules.api import FileContext, Kind
from torchlint.rules.constructors.array_dimensions import is_no_size
from torchlint.rules.constructors.memory_reads import is_read, passed_on
from torchlint.rules.local_bindings import values_of
from torchlint.rules.wording import brief


class ArgumentKind(Enum):
    """How ``torch.Tensor(...)`` takes its arguments; the value is a word for messages."""

    EMPTY = "nothing"
    SIZE = "a size"
    DATA = "a sequence"
    ARRAY = "an array"
    MIXED = "a sequence or an array"
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
    floats: bool = False
    """A literal of numbers with a float among them: ``torch.tensor`` infers the default dtype for it by itself."""
    seems_size: bool = False
    """Of unknown kind, but its name or its arithmetic speaks for a size."""
    may_be_empty: bool = False
    """Only ``*sizes``: without elements the legacy call gives an empty tensor where ``torch.empty()`` raises."""
    doubt: str = ""
    """Why it is not proven, as a clause, where there is more to say than that."""
    by_name: bool = False
    """Nothing but its name speaks for a size: a list called ``length`` would become uninitialised memory."""


_EMPTY = Given(ArgumentKind.EMPTY, True, "nothing")
_SIZE_KINDS = Kind.INTEGER | Kind.SIZE
_ALWAYS_REFUSED = Kind.NONE | Kind.STRING | Kind.SCALAR
"""Where the call ran, the value was none of these: ``size: int | None`` was an integer, and no truth value."""
# fmt: off
FILLS = frozenset({
    "normal_", "uniform_", "fill_", "zero_", "random_", "bernoulli_", "exponential_", "copy_", "geometric_", "cauchy_",
    "log_normal_", "resize_", "resize_as_", "eye_",
})
"""Methods that overwrite all elements of a tensor."""
_RESIZES = frozenset({"resize_", "resize_as_"})
"""Methods that make no sense behind a size just given: a storage is given, or data."""
# fmt: on
_REDUCTIONS = frozenset({"sum", "prod", "max", "min", "mean", "argmax", "argmin", "count_nonzero", "std", "var"})
_STORAGE = re.compile(r"[sS]torage\d*\b")
_PARAMETERS = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})
_LITERALS: dict[type[cst.CSTNode], str] = {
    cst.List: "a list",
    cst.Tuple: "a tuple",
    cst.ListComp: "a list",
}
_REFUSED: dict[type[cst.CSTNode], str] = {
    cst.Imaginary: "a complex number",
    cst.SimpleString: "a string",
    cst.ConcatenatedString: "a string",
    cst.FormattedString: "a string",
    cst.GeneratorExp: "a generator",
    cst.Set: "a set",
    cst.SetComp: "a set",
    cst.Dict: "a dict",
    cst.DictComp: "a dict",
}


def given(node: cst.Call, positional: Sequence[cst.Arg], context: FileContext) -> Given:
    """Classify the positional arguments of a legacy constructor's call."""
    if not positional:
        return _EMPTY
    if any(each.star == "**" for each in positional):
        return _unknown(positional[0].value, context)
    if positional[0].keyword is not None and positional[0].keyword.value == "size":
        return Given(ArgumentKind.SIZE, True, "a size")
    plain = [each for each in positional if not each.star]
    if len(plain) >= 2:
        return Given(ArgumentKind.SIZE, True, "a size")
    if len(plain) == len(positional):
        return _one(node, plain[0].value, context)
    if plain:
        first = _one(node, plain[0].value, context)
        return Given(ArgumentKind.SIZE, first.proven and first.kind is ArgumentKind.SIZE, "a size")
    return _starred(positional[0].value, context)


def _starred(node: cst.BaseExpression, context: FileContext) -> Given:
    shown, is_size = f"`*{brief(node, context)}`", context.value(node).must(_SIZE_KINDS)
    if not is_size and not names_sizes(node) and not reads_as_size(node):
        return Given(ArgumentKind.UNKNOWN, False, shown)
    return Given(ArgumentKind.SIZE, is_size and _is_torch_size(node, context), shown, may_be_empty=True)


def _one(node: cst.Call, argument: cst.BaseExpression, context: FileContext) -> Given:
    found = _by_shape(argument, context) or _by_facts(argument, context)
    return found or _by_words(node, argument, context)


def _by_shape(node: cst.BaseExpression, context: FileContext) -> Given | None:
    """Read the text alone."""
    if (word := _LITERALS.get(type(node))) is not None:
        return Given(ArgumentKind.DATA, True, word, floats=_holds_a_float(node))
    if (word := _REFUSED.get(type(node))) is not None:
        return Given(ArgumentKind.INVALID, True, word)
    match node:
        case cst.Integer():
            return Given(ArgumentKind.SIZE, True, "a size")
        case cst.Name(value="True" | "False" | "None" as word):
            return Given(ArgumentKind.INVALID, True, f"`{word}`")
        case cst.Float() | cst.UnaryOperation(operator=cst.Minus(), expression=cst.Float()):
            return Given(ArgumentKind.INVALID, True, "a float", floats=True)
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="tolist")), args=[]):
            return None if context.value(node).must(Kind.SEQUENCE) else Given(ArgumentKind.DATA, False, "a list")
        case cst.Call(func=function) if context.names(function) == {"torch.Size"}:
            return Given(ArgumentKind.SIZE, True, f"`{brief(node, context)}`")
    return _by_storage(node, context) or (_unknown(node, context) if _may_be_one_number(node, context) else None)


def _may_be_one_number(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether NumPy reduces what it is given without saying an axis: ``np.prod(shape)``, ``scores.argmax()``."""
    found = context.python(node)
    values = values_of(found, context) if isinstance(found, ast.Name) else [found]
    calls = [each for each in values if isinstance(each, ast.Call) and not each.keywords]
    words = {each.func.attr for each in calls if isinstance(each.func, ast.Attribute)}
    return bool(words) and len(calls) == len(values) and words <= _REDUCTIONS and context.value(node).may(Kind.ARRAY)


def _by_storage(node: cst.BaseExpression, context: FileContext) -> Given | None:
    """Read ``torch.FloatStorage(...)``, ``x.storage()._new_shared(n)``, and names of them, by their spelling."""
    found = context.python(node)
    bound = values_of(found, context) if isinstance(found, ast.Name) else []
    spelled = (context.code(node), *map(ast.unparse, bound))
    if not any(map(_STORAGE.search, spelled)) or not context.value(node).may(Kind.OTHER):
        return None
    return Given(ArgumentKind.STORAGE, True, "a storage")


def _by_facts(node: cst.BaseExpression, context: FileContext) -> Given | None:
    """Ask the inference."""
    facts = context.value(node)
    facts = facts.having(kind=facts.kind & ~_ALWAYS_REFUSED)
    if not facts.kind:
        return None
    shown = f"`{brief(node, context)}`"
    if facts.must(_SIZE_KINDS):
        doubt = "" if _asks_a_tensor(node, context) else facts.claimed
        proven = not doubt and (facts.must(Kind.INTEGER) or _is_torch_size(node, context))
        return Given(ArgumentKind.SIZE, proven, shown, doubt=doubt)
    if facts.must(Kind.SEQUENCE):
        return _sequence(node, shown, facts.claimed, context)
    if facts.must(Kind.ARRAY | Kind.INTEGER) and facts.may(Kind.ARRAY):
        return Given(ArgumentKind.ARRAY, _is_data(node, context), f"{shown}, an array,")
    if facts.must(Kind.ARRAY | Kind.INTEGER | Kind.SEQUENCE) and facts.may(Kind.ARRAY):
        return Given(ArgumentKind.MIXED, _is_data(node, context), shown)
    if facts.must(Kind.TENSOR):
        return Given(ArgumentKind.TENSOR, True, f"{shown}, a tensor,")
    return None


def _sequence(node: cst.BaseExpression, shown: str, claimed: str, context: FileContext) -> Given:
    """Read a sequence that is no literal; ``hidden_size: tuple[int]`` is more often an integer with a wrong annotation.

    What callers hand over may be an array in spite of its annotation: ``as_tensor`` does the same for both.
    """
    local = isinstance(node, cst.Name) and not _is_of_caller(node, context)
    if not local and names_size(node):
        return Given(ArgumentKind.UNKNOWN, False, shown, seems_size=True)
    what = f"{shown}, a sequence,"
    if claimed:
        return Given(ArgumentKind.MIXED, False, what, doubt=claimed)
    made_here = local or isinstance(node, cst.BinaryOperation | cst.Call)
    return Given(ArgumentKind.DATA if made_here else ArgumentKind.MIXED, True, what)


def _is_of_caller(node: cst.Name, context: FileContext) -> bool:
    """Whether a name may be a parameter: callers decide what it is."""
    found = context.python(node)
    return isinstance(found, ast.Name) and any(isinstance(each, ast.arg) for each in context.reaching(found))


def _asks_a_tensor(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether something is asked for its size as only tensors are, if it is one as far as is known: ``x.size(0)``."""
    match node:
        case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value="size"))):
            return context.value(inner).is_tensor
    return False


def _is_torch_size(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether a size is a ``torch.Size`` beyond doubt: a tuple is data, and so is an array's shape."""
    match node:
        case cst.Attribute(value=inner, attr=cst.Name(value="shape")):
            return context.value(inner).is_tensor and not context.value(inner).claimed
    return _asks_a_tensor(node, context) or not context.value(node).claimed


def _is_data(node: cst.BaseExpression, context: FileContext) -> bool:
    """Return whether an array is no size: it has dimensions, or holds floats."""
    found = context.python(node)
    return isinstance(found, ast.expr) and is_no_size(found, context)


def _by_words(node: cst.Call, argument: cst.BaseExpression, context: FileContext) -> Given:
    """Read names, and what is done with the result."""
    shown, plain = f"`{brief(argument, context)}`", context.value(argument).may(Kind.INTEGER | Kind.OTHER)
    fresh = _is_filled_at_once(node, context) or _is_parameter(node, context)
    if plain and (reads_as_size(argument) or _is_filled_at_once(node, context)):
        return Given(ArgumentKind.SIZE, False, shown, by_name=names_size(argument) and not fresh)
    made = context.python(node)
    if isinstance(made, ast.expr) and is_read(
        context.parent(passed_on(made, context)), context
    ):  # as no uninitialised memory is
        return Given(ArgumentKind.MIXED, False, shown)
    return _unknown(argument, context)


def _unknown(node: cst.BaseExpression, context: FileContext) -> Given:
    return Given(ArgumentKind.UNKNOWN, False, f"`{brief(node, context)}`")


def _is_parameter(node: cst.Call, context: FileContext) -> bool:
    """``nn.Parameter(torch.Tensor(size))``: values are given to a parameter by other ways."""
    above = context.parent(node)
    made = context.parent(above) if isinstance(above, cst.Arg) else None
    return isinstance(made, cst.Call) and context.names(made.func) <= _PARAMETERS and bool(context.names(made.func))


def _is_filled_at_once(node: cst.Call, context: FileContext) -> bool:
    """``torch.Tensor(x).normal_()``: nobody overwrites data that was just given."""
    above = context.parent(node)
    if not isinstance(above, cst.Attribute) or above.attr.value not in FILLS - _RESIZES:
        return False
    return isinstance(context.parent(above), cst.Call)


def _holds_a_float(node: cst.BaseExpression) -> bool:
    """Whether a literal is made of numbers alone, a float among them."""
    numbers = list(_numbers(node))
    return cst.Float in numbers and not set(numbers) - {cst.Float, cst.Integer}


def _numbers(node: cst.BaseExpression) -> list[type[cst.CSTNode]]:
    match node:
        case cst.List(elements=elements) | cst.Tuple(elements=elements):
            found: list[type[cst.CSTNode]] = []
            for each in elements:
                found += _numbers(each.value) if isinstance(each, cst.Element) else [type(each)]
            return found
        case cst.UnaryOperation(operator=cst.Minus() | cst.Plus(), expression=inner):
            return _numbers(inner)
    return [type(node)]


_SIZE_WORDS = re.compile(
    r"n|n(?:b|um|dim)?_\w+|d_(?:model|ff|inner|head|embed|proj|k|v)|"
    r"(?:in|out|input|output|hidden)_(?:features|channels|classes|units)|(?:\w*_)?(?:width|height|heads)|"
    r"(?:\w*_|[nxyzh]|in|out|max|min|seq|sequence|word|batch|vocab|hidden|input|output|feature|state|action|latent|"
    r"embed|emb|embedding|kernel|buffer|model)?(?:dim|size|len|length|numel)",
    re.IGNORECASE,
)
"""Words for one number. Plurals such as ``lengths`` and ``sizes`` are as often data, and are not here."""
_SIZES = re.compile(r"(?:\w*_)?(?:sizes?|sz|shapes?|dims?)", re.IGNORECASE)


def names_sizes(node: cst.BaseExpression) -> bool:
    """Whether a name or an attribute is called as sequences of sizes are, or one size."""
    return _matches(node, _SIZES)


def names_size(node: cst.BaseExpression) -> bool:
    """Whether a name or an attribute is called as one size is; ``image.size`` may be a tuple."""
    match node:
        case cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value="size")) if owner != "self":
            return False
    return _matches(node, _SIZE_WORDS)


def _matches(node: cst.BaseExpression, pattern: re.Pattern[str]) -> bool:
    match node:
        case cst.Name(value=word) | cst.Attribute(attr=cst.Name(value=word)):
            return bool(pattern.fullmatch(word))
    return False


def reads_as_size(node: cst.BaseExpression) -> bool:
    """Whether an expression is one number by its words: a size, an element of a shape, their sums and products."""
    match node:
        case cst.BinaryOperation(left=left, operator=operator, right=right) if not isinstance(operator, cst.Divide):
            sides = [each for each in (left, right) if not isinstance(each, cst.Integer)]
            return bool(sides) and all(reads_as_size(each) for each in sides)
        case cst.Subscript(
            value=cst.Attribute(attr=cst.Name(value="shape")), slice=[cst.SubscriptElement(slice=cst.Index())]
        ):
            return True
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="numel" | "nelement" | "size"))):
            return True
    return names_size(node)
