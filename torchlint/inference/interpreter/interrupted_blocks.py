"""Blocks that may end at any point, with what their names had come to: a `try`, and a context that takes errors."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.facts.value import NOTHING, Value
from torchlint.inference.interpreter.environment import Env
from torchlint.inference.lattice import join_all
from torchlint.inference.models.devices import last_word_of_name

if TYPE_CHECKING:
    from torchlint.inference.interpreter.file_scope import File

_TAKING_ERRORS = frozenset({"suppress", "raises", "assertRaises", "assertRaisesRegex"})
"""What is called to make a context that takes the errors of its block."""

_EXIT = "__exit__"


def at_early_end(body: list[ast.stmt], values: dict[ast.expr, Value], before: Env, file: File) -> Env:
    """Return what names are where a block ends early: what they were before, or what it binds them to at any point."""
    halfway = before.layer()
    bound: dict[str, list[Value]] = {}
    for statement in body:
        for each in file.index.inside(statement, ast.Name):
            if isinstance(each.ctx, ast.Store) and each in values:
                bound.setdefault(each.id, []).append(values[each])
    for word, found in bound.items():
        halfway.assign(word, join_all([before.find(word) or NOTHING, *found]))
    return halfway


def may_take_errors(context: Value, made: ast.expr, file: File) -> bool:
    """Whether a context may take the errors of its block, so that what stands below it runs all the same."""
    if isinstance(made, ast.Call) and last_word_of_name(made.func) in _TAKING_ERRORS:
        return True
    for name in context.instance:
        home, node = file.project.definitions.get(name, (file, None))
        found = home.classes.of(node).method(_EXIT) if isinstance(node, ast.ClassDef) else None
        if found is not None and any(map(_gives_truth, found[0].index.inside(found[1], ast.Return))):
            return True
    return False


def _gives_truth(node: ast.Return) -> bool:
    return node.value is not None and not (isinstance(node.value, ast.Constant) and not node.value.value)
