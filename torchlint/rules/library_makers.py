"""What functions and classes of torch and Python keep of their arguments in what they give back."""

from __future__ import annotations

import ast

from torchlint.rule import LEGACY_DTYPES, leaf, operations
from torchlint.rules.number_evidence import names_layer

_COPYING = frozenset({"copy.deepcopy", "torch.tensor", "torch.from_numpy"})
"""Functions whose result is new, whatever they are given."""
_NUMBERS = frozenset(
    f"builtins.{word}" for word in "len int float str bool range round abs isinstance hasattr id repr ord type".split()
)
"""Functions that give a number or a text, whatever they are given."""
_LIBRARIES = frozenset({"torch", "torchvision", "builtins", "collections"})
"""Packages whose functions give what is new, or what they were given."""
_UNTOLD = frozenset(f"builtins.{word}" for word in ("eval", "exec", "getattr", "globals", "locals", "vars", "next"))
"""Functions that give what somebody else keeps."""
_PURE = ("math.", "numpy.", "random.")


def kept_arguments(names: frozenset[str], node: ast.Call) -> tuple[ast.expr, ...] | None:
    """Give the arguments that may live on in what a call gives, the function known by name.

    None where nothing is known of the function: it may hand out what it keeps somewhere.
    """
    given = (*node.args, *(each.value for each in node.keywords))
    if names_layer(names):
        return tuple(each.value for each in node.keywords if each.arg and "weight" in each.arg)
    if names <= _COPYING or all(each in _NUMBERS or each.startswith(_PURE) for each in names):
        return ()
    if all(each in operations().factories for each in names):
        return tuple(each.value for each in node.keywords if each.arg == "out")
    if all(leaf(each) in LEGACY_DTYPES or leaf(each) == "Tensor" for each in names):
        copied = len(node.args) > 1 or all(isinstance(each, ast.List | ast.Tuple) for each in given)
        return () if copied else given
    if "copy.copy" in names or names & _UNTOLD or not all(each.partition(".")[0] in _LIBRARIES for each in names):
        return None
    return given
