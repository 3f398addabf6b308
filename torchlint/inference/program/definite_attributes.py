"""What a method leaves in its object: what it sets on every way to its end, and who else may change that."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from torchlint.inference.program.bindings import own
from torchlint.inference.program.imports import path_of
from torchlint.syntax.ast_index import AstIndex, Function
from torchlint.syntax.signatures import first_parameter

_HANDING_ON = frozenset(
    {"no_grad", "inference_mode", "enable_grad", "set_grad_enabled", "autocast", "device", "record_function", "open"}
)
"""Context managers that end no error, by their last word."""
_TELLING = frozenset({"getattr", "hasattr", "isinstance", "len", "type", "id", "str", "repr", "print", "bool"})


def definitely_set(index: AstIndex, method: Function) -> frozenset[str]:
    """Return the attributes of a method's first argument that it has set whenever it returns.

    None of a generator, whose body runs later, and none of what is deleted somewhere.
    """
    first = first_parameter(method)
    if first is None or own(index, method, ast.Yield, ast.YieldFrom) or isinstance(method, ast.AsyncFunctionDef):
        return frozenset()
    ways = _Ways(first)
    at_end = ways.through(method.body, frozenset())
    ends = [*ways.returned, *([at_end] if at_end is not None else [])]
    deleted = {each.attr for each in index.inside(method, ast.Attribute) if isinstance(each.ctx, ast.Del)}
    return frozenset.intersection(*ends) - deleted if ends else frozenset()


def used_bare(index: AstIndex, function: Function) -> frozenset[str]:
    """Return the names and paths that a function hands on, keeps or gives another name, and those used in inner ones.

    An object among them may be changed where nobody looks. What only tells of an object, ``getattr(self.net, "k")``,
    hands on nothing.
    """
    found = set()
    loads: list[ast.Name | ast.Attribute] = [*index.inside(function, ast.Name), *index.inside(function, ast.Attribute)]
    for each in loads:
        path, above = path_of(each), index.parents[each]
        if path is None or not isinstance(each.ctx, ast.Load):
            continue
        is_part = isinstance(above, ast.Attribute)
        if (not is_part and not _only_tells(above)) or (index.owner(each) is not function and is_part):
            found.add(path)
    return frozenset(found)


def _only_tells(call: ast.AST) -> bool:
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in _TELLING


class _Ways:
    """Follows the statements of a method and collects what is set at each of its ends."""

    def __init__(self, word: str) -> None:
        self._word = word
        self.returned: list[frozenset[str]] = []
        """What is set at each `return`."""

    def through(self, body: Iterable[ast.stmt], known: frozenset[str]) -> frozenset[str] | None:
        """Return what is set behind some statements; None where they are never left that way."""
        for statement in body:
            after = self._behind(statement, known)
            if after is None:
                return None
            known = after
        return known

    def _behind(self, statement: ast.stmt, known: frozenset[str]) -> frozenset[str] | None:
        """Return what is set behind a statement; None where nothing is run behind it."""
        match statement:
            case ast.Return():
                self.returned.append(known)
                return None
            case ast.Raise() | ast.Break() | ast.Continue():
                return None
            case ast.Assign(targets=targets):
                return known | {word for each in targets for word in self._set(each)}
            case ast.AnnAssign(target=target, value=ast.expr()) | ast.AugAssign(target=target):
                return known | set(self._set(target))
            case ast.If(body=body, orelse=orelse):
                return _either(self.through(body, known), self.through(orelse, known))
            case ast.With(items=items, body=body) if all(_ends_nothing(each.context_expr) for each in items):
                return self.through(body, known)
            case ast.With(body=body):  # it may take an error, and go on behind the block
                self.through(body, known)
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
                tried = self.through([*body, *orelse], known)
                for each in handlers:  # it may begin anywhere in what was tried
                    tried = _either(tried, self.through(each.body, known))
                return self.through(final, tried) if tried is not None else None
            case ast.For(body=body, orelse=orelse) | ast.While(body=body, orelse=orelse):
                self.through(body, known)
                self.through(orelse, known)
            case ast.Match(cases=cases):
                for case in cases:
                    self.through(case.body, known)
        return known

    def _set(self, target: ast.expr) -> Iterable[str]:
        match target:
            case ast.Attribute(value=ast.Name(id=word), attr=attribute) if word == self._word:
                yield attribute
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for each in parts:
                    yield from self._set(each)


def _ends_nothing(context: ast.expr) -> bool:
    """Whether a context manager is known to hand on all errors of its block."""
    function = context.func if isinstance(context, ast.Call) else context
    return (path_of(function) or "").rpartition(".")[2] in _HANDING_ON


def _either(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    if one is None or other is None:
        return one if other is None else other
    return one & other
