"""Tests under a name: ``was_array = isinstance(x, np.ndarray)``, and what is in a branch of ``if was_array:``."""

from __future__ import annotations

import ast
from collections import Counter

from torchlint.inference.program.bindings import BINDING, Loop, naming, own
from torchlint.inference.program.imports import CHANGES, changed_in_place
from torchlint.syntax.ast_index import AstIndex, Function

_ALWAYS_RUN = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module | ast.With | Loop


def named_tests(index: AstIndex, body: Function | ast.Module) -> dict[str, tuple[ast.Assign, float]]:
    """Return the names that a function binds once, to what, and up to which line that would come out the same.

    It ends where something in it is bound again or written into, or where a loop that does so begins.
    """
    times: Counter[str] = Counter()
    changes: dict[str, list[ast.AST]] = {}
    bound: list[tuple[str, ast.AST]] = [
        *((each.id, each) for each in own(index, body, ast.Name) if not isinstance(each.ctx, ast.Load)),
        *((word, each) for each in own(index, body, *BINDING) for word in naming(each)),
    ]
    times.update(word for word, _ in bound)
    written = filter(None, map(changed_in_place, own(index, body, *CHANGES)))
    for word, node in (*bound, *((each.id, each) for each in written)):
        changes.setdefault(word, []).append(node)
    found: dict[str, tuple[ast.Assign, float]] = {}
    for node in own(index, body, ast.Assign):
        match node.targets:
            case [ast.Name(id=word)] if times[word] == 1 and isinstance(index.parents[node], _ALWAYS_RUN):
                words = {each.id for each in ast.walk(node.value) if isinstance(each, ast.Name)}
                later = [each for one in words for each in changes.get(one, ()) if _line(each) >= node.lineno]
                if not (later and any(isinstance(each, Loop) for each in index.ancestors(node))):
                    found[word] = node, min((_begins(index, each) for each in later), default=float("inf"))
    return found


def _begins(index: AstIndex, node: ast.AST) -> int:
    return min((each.lineno for each in index.ancestors(node) if isinstance(each, Loop)), default=_line(node))


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)
