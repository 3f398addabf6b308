"""What a legacy constructor is given: data, a size, an array, a tensor, or something that the code does not tell."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import libcst as cst

from torchlint.rules.api import FileContext, Kind, Value
from torchlint.rules.evidence.accepted_sizes import PARAMETERS, is_accepted_size, refuses_integer_tensors
from torchlint.rules.evidence.argument_evidence import (
    Shape,
    bound_once,
    has_parts,
    is_checked,
    is_parameter,
    makes_storage,
    may_hold_storage,
    names_storage,
    rests_on_annotation,
    shape_by_use,
)
from torchlint.rules.evidence.argument_forms import kind_by_form
from torchlint.rules.evidence.array_dimensions import has_dimensions
from torchlint.rules.evidence.array_elements import holds_no_integers
from torchlint.rules.evidence.legacy_types import tensor_type
from torchlint.rules.evidence.memory_reads import is_read_at_once, is_read_by_name
from torchlint.rules.evidence.shown_code import brief


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
    may_raise: bool = False
    """One integer, and where it is a tensor, the legacy call or what is done with its result raises."""
    doubt: str = ""
    """Why it is not proven, as a clause, where there is more to say than that."""
    because: str = ""
    """What speaks for the kind without proving it, as a clause."""
    by_name: bool = False
    """Nothing but its name speaks for a size: a list called ``length`` would become uninitialised memory."""


EMPTY_STORAGE = "an empty storage"
_READ = "is read before anything is written to it, as no size is"
_EMPTY = Given(ArgumentKind.EMPTY, True, "nothing")
_SIZE_KINDS = Kind.INTEGER | Kind.SIZE
_ALWAYS_REFUSED = Kind.NONE | Kind.STRING
"""Where the call ran, the value was none of these: ``size: int | None`` was an integer."""
# fmt: off
FILLS = frozenset({
    "normal_", "uniform_", "fill_", "zero_", "random_", "bernoulli_", "exponential_", "copy_", "geometric_", "cauchy_",
    "log_normal_", "resize_", "resize_as_", "eye_",
})
"""Methods that overwrite all elements of a tensor."""
_RESIZES = frozenset({"resize_", "resize_as_"})
"""Methods that make no sense behind a size just given: a storage is given, or data."""
# fmt: on
_SEQUENCE_MAKERS = frozenset({"list", "tuple", "range", "sorted"})
_FITTED = frozenset(
    "classes_ coef_ cluster_centers_ components_ dual_coef_ explained_variance_ feature_importances_ labels_ "
    "singular_values_ support_vectors_".split()
)
"""Attributes of fitted scikit-learn estimators that are arrays with dimensions."""
_REDUCTIONS = frozenset({"sum", "prod", "max", "min", "mean", "argmax", "argmin", "count_nonzero", "std", "var"})
_REFUSED_MAKERS = frozenset(
    {"float", "bool", "str", "complex", "map", "filter", "zip", "set", "dict", "frozenset", "iter"}
)
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
    facts = context.value(node)
    shown = f"`*{brief(node, context)}`"
    if facts.must(Kind.SEQUENCE) and not facts.claimed and _are_sizes(facts.items or ()):
        return Given(ArgumentKind.SIZE, True, shown)
    if facts.must(_SIZE_KINDS) or _calls_size(node) or names_sizes(node):
        return Given(
            ArgumentKind.SIZE, facts.must(_SIZE_KINDS) and _is_torch_size(node, context), shown, may_be_empty=True
        )
    return Given(ArgumentKind.UNKNOWN, False, shown)


def _are_sizes(items: Sequence[Value]) -> bool:
    """Whether a call that is handed these values one by one takes them for a size, as it does wherever it has two."""
    return len(items) > 1 or (len(items) == 1 and items[0].must(Kind.INTEGER) and not items[0].claimed)


def _one(node: cst.Call, argument: cst.BaseExpression, context: FileContext) -> Given:
    found = _by_shape(argument, context) or _by_facts(argument, context)
    if found is not None and not found.doubt:
        return found
    return _by_acceptance(node, argument, context) or found or _by_words(node, argument, context)


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
        case cst.Call(func=cst.Name(value=word)) if not word.endswith("Storage"):
            return _by_builtin(node, context)
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="tolist")), args=[]):
            return None if context.value(node).must(Kind.SEQUENCE) else Given(ArgumentKind.DATA, False, "a list")
        case cst.Call(func=function) if context.names(function) == {"torch.Size"}:
            return Given(ArgumentKind.SIZE, True, f"`{brief(node, context)}`")
    return _by_storage(node, context) or _by_product(node, context) or _by_shape_of(node, context)


def _by_storage(node: cst.BaseExpression, context: FileContext) -> Given | None:
    """``torch.FloatStorage(...)``, ``torch.ByteStorage.from_buffer(...)``, ``x.storage()``, and names of them."""
    found = context.python(node)
    if not isinstance(found, ast.expr):
        return None
    if isinstance(found, ast.Name) and may_hold_storage(found, context):
        return Given(ArgumentKind.STORAGE, makes_storage(_bound(found, context)), f"the storage `{found.id}`")
    if not makes_storage(found):
        return None
    empty = isinstance(found, ast.Call) and not (found.args or found.keywords) and names_storage(found.func)
    return Given(ArgumentKind.STORAGE, True, EMPTY_STORAGE if empty else "a storage")


def _bound(node: ast.expr, context: FileContext) -> ast.expr:
    """Return what a name is bound to, where it is bound once; other expressions as they are."""
    if not isinstance(node, ast.Name):
        return node
    return bound_once(node, context) or node


def _by_shape_of(node: cst.BaseExpression, context: FileContext) -> Given | None:
    """``a.shape`` and a slice of it: data where ``a`` is an array, a size where it is a tensor, else one of both."""
    found = context.python(node)
    match _bound(found, context) if isinstance(found, ast.expr) else None:
        case ast.Attribute(value=owner, attr="shape"):
            pass
        case ast.Subscript(value=ast.Attribute(value=owner, attr="shape"), slice=ast.Slice()):
            pass
        case _:
            return None
    if _is_owner_of_new(owner, node, context):
        return None
    known = context.value(owner)
    if known.must(Kind.TENSOR):
        return None
    if known.must(Kind.ARRAY):
        return Given(ArgumentKind.DATA, False, f"`{brief(node, context)}`, the shape of an array,")
    return _unknown(node, context)


def _is_owner_of_new(owner: ast.expr, node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether a shape is that of the object whose ``new`` is called with it: ``x.new(x.shape)``, which arrays lack."""
    for above in context.ancestors(node):
        match above:
            case cst.Call(func=cst.Attribute(value=receiver, attr=cst.Name(value="new"))):
                return context.code(receiver) == ast.unparse(owner)
    return False


def _by_product(node: cst.BaseExpression, context: FileContext) -> Given | None:
    """``np.prod(shape)`` is a number, and where the legacy call took it a size; with an axis it may be an array."""
    found = context.python(node)
    bound = _bound(found, context) if isinstance(found, ast.expr) else None
    if not isinstance(bound, ast.Call) or not isinstance(bound.func, ast.Attribute):
        return None
    known = context.value(bound)
    if bound.func.attr not in _REDUCTIONS or known.may(Kind.TENSOR) or not known.may(Kind.ARRAY):
        return None
    if any(each.arg != "dtype" for each in bound.keywords):
        return None
    if context.value(bound.func).names == {"numpy.prod"} and len(bound.args) == 1:
        return Given(ArgumentKind.SIZE, False, f"`{brief(node, context)}`")
    return _unknown(node, context)


def _by_builtin(node: cst.Call, context: FileContext) -> Given | None:
    names = context.names(node.func)
    word = next(iter(names)).removeprefix("builtins.") if len(names) == 1 else ""
    if word in _SEQUENCE_MAKERS:
        return Given(ArgumentKind.DATA, True, f"a {word.replace('sorted', 'list')}")
    if word in _REFUSED_MAKERS:
        return Given(ArgumentKind.INVALID, True, f"a `{word}`", floats=word == "float")
    return None


def _by_facts(node: cst.BaseExpression, context: FileContext) -> Given | None:
    """Ask the inference."""
    facts = context.value(node)
    facts = facts.having(kind=facts.kind & ~_ALWAYS_REFUSED)
    if not facts.kind:
        return None
    shown = f"`{brief(node, context)}`"
    if facts.must(_SIZE_KINDS):
        proven = not facts.claimed and (facts.must(Kind.INTEGER) or _is_torch_size(node, context))
        return Given(ArgumentKind.SIZE, proven, shown, doubt=facts.claimed)
    if facts.must(Kind.SEQUENCE):
        return _sequence(node, shown, facts.claimed, context)
    if facts.must(Kind.ARRAY | Kind.SCALAR) and facts.may(Kind.ARRAY):
        return Given(ArgumentKind.ARRAY, _is_data(node, context), f"{shown}, an array,")
    if facts.must(Kind.ARRAY | Kind.SCALAR | Kind.SEQUENCE) and facts.may(Kind.ARRAY):
        return Given(ArgumentKind.MIXED, _is_data(node, context), shown)
    if facts.must(Kind.TENSOR):
        return Given(ArgumentKind.TENSOR, True, f"{shown}, a tensor,")
    return None


def _by_acceptance(node: cst.Call, argument: cst.BaseExpression, context: FileContext) -> Given | None:
    """Ask what took the value before: one integer is a size, but for a tensor, of which the call gives an alias."""
    place = context.python(argument)
    if not isinstance(place, ast.expr) or not is_accepted_size(place, context):
        return None
    kind = tensor_type(context.names(node.func))
    known, shown = context.value(argument), f"`{brief(argument, context)}`"
    refused = refuses_integer_tensors(node, kind.dtype if kind is not None else None, context)
    is_proven = refused or not (known.may(Kind.TENSOR) or known.claimed)
    return Given(ArgumentKind.SIZE, is_proven, shown, may_raise=refused, doubt=known.claimed)


def _sequence(node: cst.BaseExpression, shown: str, claimed: str, context: FileContext) -> Given:
    """Read a sequence that is no literal; ``hidden_size: tuple[int]`` is more often an integer with a wrong annotation.

    What callers hand over may be an array in spite of its annotation: ``as_tensor`` does the same for both.
    """
    local = isinstance(node, cst.Name) and not is_parameter(node, context)
    if not local and names_size(node):
        return Given(ArgumentKind.UNKNOWN, False, shown, seems_size=True)
    what = f"{shown}, a sequence,"
    if claimed:
        return Given(ArgumentKind.MIXED, False, what, doubt=claimed)
    made_here = local or isinstance(node, cst.BinaryOperation)
    return Given(ArgumentKind.DATA if made_here else ArgumentKind.MIXED, True, what)


def _is_torch_size(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether a size is a ``torch.Size`` beyond doubt: a tuple is data, and so is an array's shape."""
    match node:
        case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value="size"))):
            return context.value(inner).is_tensor
        case cst.Attribute(value=inner, attr=cst.Name(value="shape")):
            return not rests_on_annotation(inner, context)
    return not rests_on_annotation(node, context)


def _is_data(node: cst.BaseExpression, context: FileContext) -> bool:
    """Return whether an array is no size: it has dimensions, or holds no integers."""
    found = context.python(node)
    return isinstance(found, ast.expr) and (has_dimensions(found, context) or holds_no_integers(found, context))


def _by_words(node: cst.Call, argument: cst.BaseExpression, context: FileContext) -> Given:
    """Read names, and what is done with the result."""
    match argument:
        case cst.BinaryOperation(left=cst.List(), operator=cst.Multiply()):
            return Given(ArgumentKind.DATA, False, "a list")
        case cst.BinaryOperation(left=cst.List()) | cst.BinaryOperation(right=cst.List()):
            return Given(ArgumentKind.MIXED, False, f"`{brief(argument, context)}`")
    by_guard = _by_guard(argument, context)
    if by_guard is not None:
        return by_guard
    shown, by_form = f"`{brief(argument, context)}`", _by_form(argument, context)
    if by_form is not None:
        return by_form
    place = context.python(argument)  # what libraries give, such as settings, is an `OTHER` that may be a number
    plain = not isinstance(place, ast.expr) or not has_parts(place, context)
    plain = plain and context.value(argument).may(Kind.INTEGER | Kind.OTHER)
    fresh = _is_filled_at_once(node, context) or _is_parameter(node, context)
    if plain and (reads_as_size(argument) or _is_filled_at_once(node, context)):
        by_name = names_size(argument) and not fresh
        return Given(ArgumentKind.SIZE, False, shown, by_name=by_name)
    by_use = _by_use(argument, context)
    if by_use is not None:
        return by_use
    made = context.python(node)
    if isinstance(made, ast.expr) and (is_read_at_once(made, context) or is_read_by_name(made, context)):
        return Given(ArgumentKind.MIXED, False, shown, because=f"what is made of {shown} {_READ}")
    whole = isinstance(argument, cst.BinaryOperation) and holds_integers_only(argument)
    return Given(ArgumentKind.UNKNOWN, False, shown, seems_size=whole)


def _by_form(node: cst.BaseExpression, context: FileContext) -> Given | None:
    """Read how an argument is written, and what a parameter's default is."""
    place = context.python(node)
    found = kind_by_form(place, context) if isinstance(place, ast.expr) else None
    if found is None:
        return None
    kind = ArgumentKind.SIZE if found[0] is Kind.INTEGER else ArgumentKind.MIXED
    return Given(kind, False, f"`{brief(node, context)}`", because=found[1])


def _by_guard(node: cst.BaseExpression, context: FileContext) -> Given | None:
    """Read what ``isinstance`` leaves of a value that the function tests: no integer, or neither sequence nor array."""
    place, facts = context.python(node), context.value(node)
    if not isinstance(place, ast.expr) or not is_checked(place, context):
        return None
    shown = f"`{brief(node, context)}`"
    data = facts.may(Kind.SEQUENCE | Kind.ARRAY)
    if facts.may(Kind.INTEGER) is data:
        return _unknown(node, context)
    return Given(ArgumentKind.MIXED if data else ArgumentKind.SIZE, False, shown)


def _by_use(node: cst.BaseExpression, context: FileContext) -> Given | None:
    """Read what the function around does with a value of unknown kind; shapes and sizes have a length too."""
    place, shown = context.python(node), f"`{brief(node, context)}`"
    if not isinstance(place, ast.expr) or not context.value(node).unknown or names_sizes(node):
        return None
    if isinstance(node, cst.Attribute) and node.attr.value in _FITTED and b"sklearn" in context.source.utf8:
        return Given(ArgumentKind.ARRAY, False, f"{shown}, an array,")
    match shape_by_use(place, context):
        case Shape.LIST:
            return Given(ArgumentKind.DATA, False, shown)
        case Shape.ARRAY:
            return Given(ArgumentKind.ARRAY, False, f"{shown}, an array,")
        case Shape.TENSOR:
            return Given(ArgumentKind.TENSOR, False, f"{shown}, a tensor,")
        case Shape.SIZED:
            return Given(ArgumentKind.MIXED, False, shown)
    return None


def _unknown(node: cst.BaseExpression, context: FileContext) -> Given:
    return Given(ArgumentKind.UNKNOWN, False, f"`{brief(node, context)}`")


def _calls_size(node: cst.BaseExpression) -> bool:
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="size")), args=[]):
            return True
    return False


def _is_parameter(node: cst.Call, context: FileContext) -> bool:
    """``nn.Parameter(torch.Tensor(size))``: values are given to a parameter by other ways."""
    above = context.parent(node)
    made = context.parent(above) if isinstance(above, cst.Arg) else None
    return isinstance(made, cst.Call) and context.names(made.func) <= PARAMETERS and bool(context.names(made.func))


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
        case cst.IfExp(body=one, orelse=other):
            sides = [each for each in (one, other) if not isinstance(each, cst.Integer)]
            return bool(sides) and all(reads_as_size(each) for each in sides)
        case cst.Subscript(
            value=cst.Attribute(attr=cst.Name(value="shape")), slice=[cst.SubscriptElement(slice=cst.Index())]
        ):
            return True
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="numel" | "nelement" | "size"))):
            return True
    return names_size(node)


def holds_integers_only(node: cst.BaseExpression) -> bool:
    """Whether some arithmetic holds an integer and divides nothing: ``2 * positions - 1``."""
    match node:
        case cst.BinaryOperation(left=left, operator=cst.Add() | cst.Subtract() | cst.Multiply(), right=right):
            return any(holds_integers_only(each) for each in (left, right))
    return isinstance(node, cst.Integer)
