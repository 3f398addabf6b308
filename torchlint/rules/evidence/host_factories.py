"""What makes a tensor on the host where no device is said, and whether what it makes has dimensions."""

from __future__ import annotations

import ast

from torchlint.rules.api import FileContext, Kind, leaf
from torchlint.rules.evidence.finding_reasons import in_a_line

FACTORIES = tuple("zeros ones full empty rand randn randint randperm arange linspace logspace eye tensor".split())


def is_factory(call: ast.Call, context: FileContext) -> bool:
    """Whether a call makes a tensor on the host because no device is said."""
    names = context.qualified_names(call.func)  # a function is walked for nothing where a method has the word
    if not names or not names <= {f"torch.{each}" for each in FACTORIES}:
        return False
    if any(each.arg in ("device", "out", None) for each in call.keywords):
        return False
    return not any(isinstance(each, ast.Starred) for each in call.args)


def copies(call: ast.Call, context: FileContext) -> bool:
    """Whether what is made may be a copy of a tensor, and where that is."""
    return leaf(in_a_line(call.func)) == "tensor" and bool(call.args) and context.value(call.args[0]).may(Kind.TENSOR)


def has_dimensions(call: ast.Call, word: str) -> bool:
    """Whether what a factory makes has dimensions, by what it is given: a size or a list."""
    named = {each.arg: each.value for each in call.keywords}
    first = call.args[0] if call.args else None
    if word == "tensor":  # of a name nobody knows: a number gives a tensor without dimensions
        return isinstance(named.get("data", first), ast.List | ast.Tuple | ast.ListComp)
    if word in ("arange", "linspace", "logspace", "eye", "randperm"):
        return True
    sizes = named.get("size", call.args[-1] if word == "randint" and call.args else first)
    if isinstance(sizes, ast.List | ast.Tuple):
        return bool(sizes.elts)
    return sizes is not None
