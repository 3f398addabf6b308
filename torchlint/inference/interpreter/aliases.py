"""What a write in place does to the other names of a tensor's memory: views, members of lists, the whole of a part."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from torchlint.facts.value import Dtype, Grad, Kind, Reason, Value, of_kind
from torchlint.inference.interpreter.environment import Env
from torchlint.inference.interpreter.shared_memory import linking, links, sources
from torchlint.inference.program.imports import path_of

if TYPE_CHECKING:
    from torchlint.inference.interpreter.statements import Flow

LINKS = ".&"
"""What follows a path to spell the paths that it shares memory with: they are forgotten where it is rebound."""

_DEEPEST = 3


class Aliases:
    """The places of one walk that share memory."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        index, body = flow.file.index, flow.body
        owner = (index.owner(body[0]) or index.tree) if body else None
        self._linking = index.told(linking, owner) if owner is not None else frozenset[ast.stmt]()

    def link(self, statement: ast.stmt, env: Env) -> None:
        """Note what a statement that was carried out made share memory."""
        if statement not in self._linking:
            return
        for link in links(statement):
            target = self._place(link.target)
            for each in sources(link.source, self._copies) if target is not None else ():
                source = self._place(each)
                if target is not None and source is not None and source != target:
                    _join(target, source, env)
                    _join(source, target, env)

    def _copies(self, node: ast.Subscript) -> bool:
        """Whether an index takes single elements out of a tensor: they are copied."""
        index = self._flow.values.get(node.slice)
        return index is not None and index.must(Kind.TENSOR | Kind.ARRAY | Kind.SEQUENCE)

    def _place(self, node: ast.expr) -> str | None:
        """Return the path of what an expression is a part of: the tensor, or the member or attribute itself."""
        while isinstance(node, ast.Subscript):
            base = self._flow.values.get(node.value)
            if path_of(node) is not None and (base is None or not base.may(Kind.TENSOR)):
                break
            node = node.value
        return path_of(node)

    def write(self, path: str, written: Value, env: Env) -> None:
        """Let all that shares memory with a path that was written into come to require grad as it did."""
        if not self._linking or not written.may_require_grad:
            return
        seen = {path}
        waiting = [path, *_wholes(path)]
        while waiting:
            here = waiting.pop()
            for there in _linked(here, env):
                if there not in seen and here in _linked(there, env):
                    seen.add(there)
                    waiting += [there, *_wholes(there)]
                    self._reach(there, written, env)

    def _reach(self, path: str, written: Value, env: Env) -> None:
        node = _expression(path)
        before = self._flow.evaluate(node, env)
        after = _gaining(before, written.grad & ~Grad.DETACHED, written.why_grad)
        self._flow.calls.become(node, after, env)
        for part, value in env.about(frozenset((path,))).items():
            if part != path and not part.endswith(LINKS):
                env.refine(part, _gaining(value, written.grad & ~Grad.DETACHED, written.why_grad))


def _linked(path: str, env: Env) -> frozenset[str]:
    found = env.find(path + LINKS)
    return found.names if found is not None else frozenset()


def _join(path: str, other: str, env: Env) -> None:
    names = _linked(path, env) | {other}
    env.refine(path + LINKS, of_kind(Kind.OTHER, names=names))


def _wholes(path: str) -> Iterator[str]:
    """Yield what a member is a part of: ``x`` for ``x[0]``."""
    while path.endswith("]"):
        path = path[: path.rindex("[")]
        yield path


def _gaining(value: Value, grad: int, why: Reason | None, depth: int = _DEEPEST) -> Value:
    """Return a value whose tensors may have come to require grad."""
    if value.has_parts:
        return value.with_parts(lambda each: _gaining(each, grad, why, depth - 1)) if depth else value
    if not value.may(Kind.TENSOR) or not value.dtype & Dtype.FLOATING or not grad & ~value.grad:
        return value
    return value.having(grad=value.grad | grad, why_grad=value.why_grad or why)


@lru_cache(maxsize=1024)
def _expression(path: str) -> ast.expr:
    return ast.parse(path, mode="eval").body
