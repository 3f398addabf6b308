"""Whether the code shows that a tensor has a dimension, or that it has none: ``x[0]`` of one without raises."""

from __future__ import annotations

import ast

from torchlint.rules.api import FULL_REDUCTIONS, LOSSES, FileContext, leaf
from torchlint.rules.evidence.aliasing import SAME_OR_NEW_METHODS
from torchlint.rules.evidence.local_bindings import are_of_torch, bindings_of, values_of
from torchlint.rules.evidence.object_attributes import attribute_values
from torchlint.rules.evidence.tensor_proof import is_proven
from torchlint.rules.evidence.tensor_uses import PARAMETER

_SIZED = frozenset("zeros ones empty rand randn Tensor FloatTensor DoubleTensor LongTensor IntTensor".split())
"""Functions of ``torch`` whose arguments are sizes, or data in a list."""
_DIMENSIONAL = frozenset("cat stack arange linspace logspace eye randperm".split())
"""Functions whose result has a dimension, whatever they are given."""
_GIVING_DIMENSIONS = frozenset("flatten ravel unsqueeze repeat nonzero".split())
_PLAIN_OPTIONS = frozenset({"weight", "ignore_index", "pos_weight", "label_smoothing", "input", "target"})
"""Keywords of losses, and of the functions that compute them, that leave the reduction as it is."""
_DEEPEST = 6


def has_a_dimension(node: ast.expr, context: FileContext, depth: int = _DEEPEST) -> bool:
    """Whether a tensor has a dimension; False where the code does not tell."""
    if depth == 0:
        return False
    match node:
        case ast.Name():
            values = values_of(node, context)
            return bool(values) and _all(values, context, depth)
        case ast.BinOp(left=left, right=right):
            return has_a_dimension(left, context, depth - 1) or has_a_dimension(right, context, depth - 1)
        case ast.UnaryOp(operand=inner) | ast.Attribute(value=inner, attr="data" | "grad" | "T"):
            return has_a_dimension(inner, context, depth - 1)
        case ast.Attribute(value=layer, attr=word):
            return bool(PARAMETER.search(word)) and are_of_torch(context.value(layer).instance)
        case ast.Call():
            return _call(node, context, depth)
    return False


def _all(values: list[ast.expr], context: FileContext, depth: int) -> bool:
    return all(has_a_dimension(each, context, depth - 1) for each in values)


def _call(call: ast.Call, context: FileContext, depth: int) -> bool:
    names = context.qualified_names(call.func)
    words = {leaf(name) for name in names}
    if are_of_torch(names):
        if words <= _DIMENSIONAL:
            return True
        if words <= _SIZED | {"tensor", "Parameter", "full"} and call.args:
            return _is_size_or_data(call, words, context, depth)
        return False
    match call.func:
        case ast.Attribute(attr=word) if word in _GIVING_DIMENSIONS:
            return True
        case ast.Attribute(attr="view" | "reshape"):
            return bool(call.args) and all(isinstance(each, ast.Constant | ast.UnaryOp) for each in call.args)
        case ast.Attribute(value=inner, attr=word) if word in SAME_OR_NEW_METHODS | {"detach", "clone"}:
            return has_a_dimension(inner, context, depth - 1)
    return False


def _is_size_or_data(call: ast.Call, words: set[str], context: FileContext, depth: int) -> bool:
    first = call.args[0]
    if isinstance(first, ast.List | ast.Tuple | ast.ListComp):
        return not isinstance(first, ast.List | ast.Tuple) or bool(first.elts)
    if words == {"Parameter"}:
        return has_a_dimension(first, context, depth - 1)
    sizes = [] if words & {"tensor", "full"} else call.args
    return len(sizes) > 1 or (len(sizes) == 1 and isinstance(first, ast.Constant))


# ---------------------------------------------------------------------- tensors with one
_FLAT = frozenset({"flatten", "ravel"})


def has_one_dimension(node: ast.expr, context: FileContext, depth: int = _DEEPEST) -> bool:
    """Whether a tensor has one dimension beyond doubt: it was flattened, and at most copied, moved or cast since."""
    if depth == 0:
        return False
    match node:
        case ast.Name():
            values = values_of(node, context)
            return bool(values) and all(has_one_dimension(each, context, depth - 1) for each in values)
        case ast.UnaryOp(operand=inner) | ast.Attribute(value=inner, attr="data"):
            return has_one_dimension(inner, context, depth - 1)
        case ast.Call(func=ast.Attribute(value=inner, attr=word), args=given, keywords=[]):
            if not context.value(inner).is_tensor:
                return False
            if word in _FLAT and not given:
                return True
            if word in ("view", "reshape"):
                return len(given) == 1 and ast.unparse(given[0]) in ("-1", "(-1,)")
            return word in SAME_OR_NEW_METHODS | {"detach", "clone"} and has_one_dimension(inner, context, depth - 1)
    return False


# ---------------------------------------------------------------------- tensors without
def has_no_dimension(node: ast.expr, context: FileContext, depth: int = _DEEPEST) -> bool:
    """Whether a tensor has no dimensions beyond doubt: a full reduction, a loss, and what is computed of these."""
    if depth == 0:
        return False
    match node:
        case ast.Name():
            bound = bindings_of(node, context)
            return bool(bound) and all(
                (has_no_dimension(each.value, context, depth - 1) or (each.is_augmented and _is_number(each.value)))
                and not each.depth
                for each in bound
            )
        case ast.BinOp(left=left, right=right):
            sides = (left, right)
            numbers = [_is_number(each) for each in sides]
            plain = [has_no_dimension(each, context, depth - 1) for each in sides]
            return any(plain) and all(one or other for one, other in zip(numbers, plain, strict=True))
        case ast.UnaryOp(operand=inner) | ast.Attribute(value=inner, attr="data"):
            return has_no_dimension(inner, context, depth - 1)
        case ast.Call(func=function, args=given, keywords=keywords):
            spread = any(isinstance(each, ast.Starred) for each in given)
            return not spread and _gives_a_number(function, len(given), {each.arg for each in keywords}, context)
    return False


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def _gives_a_number(function: ast.expr, given: int, keywords: set[str | None], context: FileContext) -> bool:
    """Whether a function reduces all that it is given to one number, as it is called."""
    names = context.qualified_names(function)
    if names:
        if all(name.startswith("torch.nn.functional.") and leaf(name) in LOSSES for name in names):
            return given <= 2 and keywords <= _PLAIN_OPTIONS
        return given == 1 and not keywords and all(_reduces(name) for name in names)
    match function:
        case ast.Attribute(value=receiver, attr=word) if word in FULL_REDUCTIONS:
            return not given and not keywords and is_proven(receiver, context)
    return _is_plain_loss(function, context)


def _reduces(name: str) -> bool:
    owner, _, word = name.rpartition(".")
    return owner == "torch" and word in FULL_REDUCTIONS


def _is_plain_loss(function: ast.expr, context: FileContext) -> bool:
    """Whether what is called is a loss of torch that was made without saying how it reduces."""
    made: list[ast.expr] = []
    match function:
        case ast.Name():
            made = [each.value if not each.depth else function for each in bindings_of(function, context)]
        case ast.Attribute():
            made = attribute_values(function, context)
        case ast.Call():
            made = [function]
    return bool(made) and all(_makes_a_plain_loss(each, context) for each in made)


def _makes_a_plain_loss(node: ast.expr, context: FileContext) -> bool:
    match node:
        case ast.Call(func=function, args=[], keywords=keywords):
            names = context.qualified_names(function)
            are_losses = all(name.startswith("torch.nn.") and name.endswith("Loss") for name in names)
            return bool(names) and are_losses and {each.arg for each in keywords} <= _PLAIN_OPTIONS
    return False
