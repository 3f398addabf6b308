"""Names that stand for a test: ``on_host = x.device.type == "cpu"`` and later ``if on_host:``."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from torchlint.inference.binding import Function


def named_tests(body: Function | ast.Module) -> dict[str, ast.Assign]:
    """Give the names of a function that are bound once, to a test of other names that are not bound again after it."""
    stores: Counter[str] = Counter()
    last: dict[str, int] = {}
    assignments: dict[str, ast.Assign] = {}
    for node in _own(body):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            stores[node.id] += 1
            last[node.id] = max(last.get(node.id, 0), node.lineno)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and _is_test(node.value):
            assignments[node.targets[0].id] = node
    return {
        word: node
        for word, node in assignments.items()
        if stores[word] == 1 and all(last.get(each, 0) < node.lineno for each in _words(node.value))
    }


def _own(body: Function | ast.Module) -> Iterator[ast.AST]:
    """Give the nodes of a function, those of functions inside it left out."""
    stack: list[ast.AST] = list(body.body)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            stack.extend(ast.iter_child_nodes(node))


def _is_test(node: ast.expr) -> bool:
    match node:
        case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.Call(func=ast.Name(id="isinstance" | "hasattr")) | ast.Call(func=ast.Attribute(attr="is_tensor")):
            return True
        case ast.Attribute(attr="is_cuda" | "requires_grad" | "device"):
            return True
        case ast.Attribute(value=ast.Attribute(attr="device"), attr="type"):
            return True
    return False


def _words(node: ast.expr) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
