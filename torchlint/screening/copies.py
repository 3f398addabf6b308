"""Copies with ``non_blocking=True``: whether one may go to the host."""

from __future__ import annotations

import ast

from torchlint.screening.sight import Sight

_COPYING = frozenset({"to", "_to", "cpu", "copy_"})
"""``_to`` is what holders of tensors build their own ``to`` and ``cpu`` on."""


def may_go_to_the_host(node: ast.AST, sight: Sight) -> bool:
    """Screen for the rule about copies to the host."""
    match node, sight.outline.parents.get(node):
        case ast.keyword(value=ast.Constant(value=True)), ast.Call(func=ast.Attribute(attr=word)):
            return word in _COPYING
    return False
