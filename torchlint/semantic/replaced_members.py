"""A loop over the keys of a dict that puts something else under each of them: nothing is left of what was there."""

from __future__ import annotations

import ast

from torchlint.semantic.graph import EACH, GROW
from torchlint.semantic.lower_targets import change, current, is_changeable
from torchlint.semantic.lowering_state import Lowering


def tell_replaced(st: Lowering, loop: ast.For | ast.AsyncFor) -> None:
    """Give a dict the members that a loop over its keys leaves, where each way through the body replaces one."""
    holder = _holder(loop.iter)
    key = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) and loop.target.elts else loop.target
    if not is_changeable(holder) or not isinstance(key, ast.Name) or not st.live:
        return
    wanted = f"{ast.unparse(holder)}[{key.id}]"
    puts = [
        each
        for each in loop.body
        if isinstance(each, ast.Assign) and any(ast.unparse(target) == wanted for target in each.targets)
    ]
    if len(puts) == 1 and puts[0].value in st.by_syntax and not _is_disturbed(loop, holder, key.id):
        change(st, holder, st.node(GROW, (current(st, holder), st.by_syntax[puts[0].value]), EACH, loop.target))


def _holder(iterated: ast.expr) -> ast.expr:
    """Return the dict whose keys a loop goes over: ``d`` of ``d``, ``d.keys()`` and ``list(d.items())``."""
    if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name) and iterated.func.id in ("list", "tuple"):
        iterated = iterated.args[0] if len(iterated.args) == 1 else iterated
    if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Attribute) and not iterated.args:
        return iterated.func.value if iterated.func.attr in ("keys", "items") else iterated
    return iterated


def _is_disturbed(loop: ast.For | ast.AsyncFor, holder: ast.expr, key: str) -> bool:
    """Whether the body may be left early, binds the key or the dict anew, or puts something else into the dict."""
    spelled, changes = ast.unparse(holder), 0
    for node in (each for statement in loop.body for each in ast.walk(statement)):
        if isinstance(node, ast.Break | ast.Continue | ast.Return | ast.Try):
            return True
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == spelled:
            changes += 1
        elif _is_bound(node) and ast.unparse(node) in (key, spelled):
            return True
    return changes != 1


def _is_bound(node: ast.AST) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store)
