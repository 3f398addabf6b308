"""Where a dotted name and a place begin: what stands to the left of all attributes and members."""

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
