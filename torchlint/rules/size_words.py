"""Which names and expressions speak for one number that is a size, and which for a sequence of sizes."""

from __future__ import annotations

import re

import libcst as cst

_SIZE = re.compile(
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
    return _matches(node, _SIZE)


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


def holds_integers_only(node: cst.BaseExpression) -> bool:
    """Whether some arithmetic holds an integer and divides nothing: ``2 * positions - 1``."""
    match node:
        case cst.BinaryOperation(left=left, operator=cst.Add() | cst.Subtract() | cst.Multiply(), right=right):
            return any(holds_integers_only(each) for each in (left, right))
    return isinstance(node, cst.Integer)
