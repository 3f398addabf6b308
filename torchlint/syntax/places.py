"""Where a dotted name and a place begin, to the left of all attributes and members, and how a name ends."""

from __future__ import annotations

import ast


def root_of_name(name: ast.expr) -> ast.expr:
    """Return what a dotted name begins with: ``torch`` of ``torch.nn.Linear``, ``f()`` of ``f().x``."""
    while isinstance(name, ast.Attribute):
        name = name.value
    return name


def root_of_place(place: ast.expr) -> ast.expr:
    """Return what a place is a part of: ``x`` of ``x.y[0].z``, ``f()`` of ``f()[0]``."""
    while isinstance(place, ast.Attribute | ast.Subscript):
        place = place.value
    return place


def word_of(node: ast.AST) -> str:
    """Return the last word of a dotted name: ``Linear`` of ``nn.Linear``; nothing for another expression."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def elements_of(node: ast.expr) -> list[ast.expr]:
    """Return the elements of a tuple that is written out, or what else an expression is as the only one."""
    return node.elts if isinstance(node, ast.Tuple) else [node]


def leaf(name: str) -> str:
    """Return the last word of a dotted name."""
    return name.rpartition(".")[2]
