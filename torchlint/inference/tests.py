"""Names that stand for a test: ``on_host = x.device.type == "cpu"`` and later ``if on_host:``."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from torchlint.inference.lexical import Loop, naming, own
from torchlint.inference.names import changed_in_place
from torchlint.syntax.outline import Function, Outline, children


def named_tests(outline: Outline, body: Function | ast.Module) -> dict[str, ast.Assign]:
    """Give the names of a function that are bound once, to a test of names that are not bound again after it.

    Neither may what is tested be written into or have an attribute set, nor may the test stand in a branch of a loop:
    the next round would see the test of the round before.
    """
    if all(_named(each) is None for each in own(outline, body, ast.Assign)):
        return {}
    stores: Counter[str] = Counter()
    last: dict[str, int] = {}
    assignments: dict[str, ast.Assign] = {}
    for node, in_loop in _own(body):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            stores[node.id] += 1
            last[node.id] = max(last.get(node.id, 0), node.lineno)
        elif (name := changed_in_place(node)) is not None:
            last[name.id] = max(last.get(name.id, 0), name.lineno)
        for word in naming(node):
            stores[word] += 1
            last[word] = max(last.get(word, 0), getattr(node, "lineno", 0))
        if not in_loop and isinstance(node, ast.Assign) and (test := _named(node)) is not None:
            assignments[test] = node
    return {
        word: node
        for word, node in assignments.items()
        if stores[word] == 1 and all(last.get(each, 0) < node.lineno for each in _words(node.value))
    }


def _own(body: Function | ast.Module) -> Iterator[tuple[ast.AST, bool]]:
    """Give the nodes of a function, inner functions left out, and whether each is in a branch of a loop."""
    stack: list[tuple[ast.AST, bool, bool]] = [(each, False, False) for each in body.body]
    while stack:
        node, loop, branch = stack.pop()
        yield node, branch
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            branch = branch or (loop and isinstance(node, ast.If | ast.Try | ast.Match))
            loop = loop or isinstance(node, Loop)
            stack.extend((each, loop, branch) for each in children(node))


def is_predicate(node: ast.expr) -> bool:
    """Whether an expression asks something, and what it gives is no more than the answer."""
    match node:
        case ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.Call(func=ast.Name(id="isinstance" | "hasattr")) | ast.Call(func=ast.Attribute(attr="is_tensor")):
            return True
    return False


def _named(node: ast.AST) -> str | None:
    """Give the name that a statement binds to a test."""
    match node:
        case ast.Assign(targets=[ast.Name(id=word), *_], value=value) if _is_test(value):
            return word
    return None


def _is_test(node: ast.expr) -> bool:
    if is_predicate(node):
        return True
    match node:
        case ast.BoolOp():
            return True
        case ast.Attribute(attr="is_cuda" | "requires_grad" | "device"):
            return True
        case ast.Attribute(value=ast.Attribute(attr="device"), attr="type"):
            return True
    return False


def _words(node: ast.expr) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
