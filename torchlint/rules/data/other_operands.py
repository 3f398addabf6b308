"""Whether what stands beside a value in an operator keeps nothing of it: a tensor, a number or an array.

An object of another class may keep what it is added to, compared with or looked up by, and write into it later.
"""

from __future__ import annotations

import ast

from torchlint.rules.api import FileContext, Kind, remembered
from torchlint.rules.evidence.local_bindings import bindings_of
from torchlint.rules.evidence.object_attributes import attribute_values
from torchlint.rules.evidence.tensor_proof import is_proven

_NUMBERS = Kind.INTEGER | Kind.SCALAR | Kind.NONE
_COUNTED = Kind.TENSOR | Kind.ARRAY | _NUMBERS
_OF_PYTHON = _COUNTED | Kind.SEQUENCE | Kind.SIZE | Kind.STRING | Kind.DEVICE | Kind.DTYPE
"""What Python, torch and NumPy make: none of it keeps the other side of an operator."""
_INDEXED = Kind.TENSOR | Kind.ARRAY

_ANSWERING = frozenset(
    f"__{reflected}{word}__"
    for reflected in ("", "r", "i")
    for word in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
) | frozenset(f"__{word}__" for word in "eq ne lt gt le ge contains iter getitem torch_function".split())
"""The methods by which a class answers operators."""


def keeps_nothing(other: ast.expr, operator: ast.operator | ast.cmpop, context: FileContext) -> bool:
    """Whether the other side of an operator keeps nothing of a tensor beside it.

    Of what is no tensor beyond doubt it is believed where no class of the file answers operators.
    """
    if isinstance(operator, ast.Is | ast.IsNot) or isinstance(other, ast.Constant):
        return True
    known = context.value(other)
    if known.must(_OF_PYTHON & ~Kind.TENSOR):
        return True
    if not known.must(_OF_PYTHON) and (not (known.unknown or known.vague) or known.instance or known.names):
        return False
    return not _answers_operators(context.tree, context) or (known.must(_OF_PYTHON) and is_proven(other, context))


def adds_numbers(target: ast.expr, context: FileContext) -> bool:
    """Whether an augmented assignment reckons with its target: `rows += value` keeps in a list what it is given.

    What a name or an attribute holds after the first `+=` of a tensor says nothing of what it began with.
    """
    if not context.value(target).must(_COUNTED):
        return False
    match target:
        case ast.Subscript(value=base):
            return is_indexed(base, context)
        case ast.Name():
            bound = bindings_of(target, context)
            began = [each.value for each in bound if not each.is_augmented]
            return all(not each.depth for each in bound) and _are_counted(began, context)
        case ast.Attribute(attr="data"):
            return True
        case ast.Attribute():
            return _are_counted(attribute_values(target, context), context)
    return False


def _are_counted(values: list[ast.expr], context: FileContext) -> bool:
    plain = _COUNTED & ~Kind.TENSOR
    return bool(values) and all(context.value(each).must(plain) or is_proven(each, context) for each in values)


def is_indexed(base: ast.expr, context: FileContext) -> bool:
    """Whether what is indexed is a tensor or an array: an object of another class may keep the index, and a dict."""
    return context.value(base).must(_INDEXED)


@remembered
def _answers_operators(_: ast.Module, context: FileContext) -> bool:
    """Whether a class of the file answers operators in its own way."""
    return any(each.name in _ANSWERING for each in context.nodes(ast.FunctionDef))
