"""Where a text asks parameters to require grad, or not to, and what it goes through to reach them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchlint.inference.program.bindings import loaded, own
from torchlint.inference.program.imports import path_of
from torchlint.syntax.ast_index import AstIndex, Function
from torchlint.syntax.places import word_of
from torchlint.syntax.signatures import first_parameter

ASKING = "requires_grad_"
"""The method of tensors and modules that asks."""
_FLAG = "requires_grad"
_NAMED = frozenset({"named_parameters", "named_modules", "named_children", "items"})
"""Methods that give what they go through behind a name."""


@dataclass(frozen=True)
class LoopName:
    """A name of a loop's or a comprehension's target, which stands for one thing after the other."""

    name: str
    source: ast.expr
    """What gives these things."""
    is_all: bool
    """Whether the loop surely goes through all of them."""
    others: frozenset[str] = frozenset()
    """The names that stand beside it, for a key or a number: a test of them picks some."""


def changes_requires_grad(index: AstIndex, node: ast.AST) -> bool:
    """Whether a text asks something to require grad, or not to: ``p.requires_grad = False``."""
    return any(
        each.attr == ASKING or (each.attr == _FLAG and isinstance(each.ctx, ast.Store))
        for each in index.inside(node, ast.Attribute)
    )


def loop_names(target: ast.expr, source: ast.expr, is_all: bool = True) -> Iterator[LoopName]:
    """Yield the names of a loop's or a comprehension's target, each with what it goes through."""
    match target, source:
        case ast.Name(id=word), _:
            yield LoopName(word, source, is_all)
        case ast.Tuple(elts=[ast.Name(id=at), each]), ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]):
            for one in loop_names(each, inner, is_all):
                yield LoopName(one.name, one.source, one.is_all, one.others | {at})
        case ast.Tuple(elts=parts), ast.Call(func=ast.Name(id="zip"), args=args) if len(parts) == len(args):
            for part, inner in zip(parts, args, strict=True):
                yield from loop_names(part, inner, is_all=False)
        case ast.Tuple(elts=[ast.Name(id=key), ast.Name(id=word)]), _ if _gives_names(source):
            yield LoopName(word, source, is_all, frozenset({key}))
        case ast.Tuple(elts=parts), _:
            yield from (LoopName(each.id, source, False) for each in parts if isinstance(each, ast.Name))


def _gives_names(source: ast.expr) -> bool:
    match source:
        case ast.Call(func=ast.Attribute(attr=word)):
            return word in _NAMED
        case ast.Call(func=ast.Name(id="list" | "tuple" | "sorted" | "reversed" | "iter"), args=[inner]):
            return _gives_names(inner)
    return False


def skips_some(index: AstIndex, loop: ast.For | ast.AsyncFor, each: LoopName) -> bool:
    """Whether a loop takes some of what it goes through: it ends before the last, or looks at their names."""
    if index.inside(loop, ast.Break):
        return True
    return any(not each.others.isdisjoint(index.told(loaded, statement)) for statement in loop.body)


def rebinds(index: AstIndex, loop: ast.For | ast.AsyncFor, word: str) -> bool:
    """Whether a loop's own name is bound to something else in its body."""
    return any(
        isinstance(each.ctx, ast.Store) and each.id == word
        for statement in loop.body
        for each in index.inside(statement, ast.Name)
    )


def assigned_values(index: AstIndex, owner: ast.AST) -> dict[str, list[ast.expr]]:
    """Return the expressions that a function or a module assigns to each of its names."""
    found: dict[str, list[ast.expr]] = {}
    for each in own(index, owner, ast.Assign):
        for target in each.targets:
            for word, value in _assigned(target, each.value):
                found.setdefault(word, []).append(value)
    others: list[ast.AnnAssign | ast.NamedExpr] = [
        *own(index, owner, ast.AnnAssign),
        *own(index, owner, ast.NamedExpr),
    ]
    for other in others:
        if isinstance(other.target, ast.Name) and other.value is not None:
            found.setdefault(other.target.id, []).append(other.value)
    return found


_APART = frozenset({"deepcopy", "copy", "state_dict"})
"""The last words of functions that give nothing that shares a module with what they are given."""


def derived_names(index: AstIndex, owner: ast.AST) -> dict[str, tuple[str, ...]]:
    """Return the names to which a function or a module assigns something that may hold what a name stands for."""
    found: dict[str, dict[str, None]] = {}
    for word, values in index.told(assigned_values, owner).items():
        for value in values:
            if isinstance(value, ast.Call) and word_of(value.func) in _APART:
                continue
            for used in index.told(loaded, value) | ({value.id} if isinstance(value, ast.Name) else set()):
                found.setdefault(used, {})[word] = None
    return {word: tuple(others) for word, others in found.items()}


def may_unfreeze(index: AstIndex, method: Function) -> bool:
    """Whether a method may ask all parameters of its object, or of what that holds, to require grad."""
    first = first_parameter(method)
    if first is None or not index.told(changes_requires_grad, method):
        return False
    takes_all = any(
        isinstance(each.value, ast.Name) and each.value.id == first and each.attr in _OF_ALL
        for each in index.inside(method, ast.Attribute)
    )
    return takes_all and not all(_asks_for_none(index, each) for each in index.inside(method, ast.Attribute))


_OF_ALL = frozenset({"parameters", "named_parameters", "modules", "named_modules", "children", "named_children"}) | {
    ASKING,
    "apply",
}


def _asks_for_none(index: AstIndex, node: ast.Attribute) -> bool:
    """Whether an attribute does not ask for grad: ``p.requires_grad = False``, and all other words."""
    match index.parents.get(node):
        case ast.Assign(value=ast.Constant(value=False)):
            return True
        case ast.Call(args=[ast.Constant(value=False)]):
            return True
    return not (node.attr == ASKING or (node.attr == _FLAG and isinstance(node.ctx, ast.Store)))


def frozen_attributes(index: AstIndex, node: ast.AST) -> frozenset[str]:
    """Return the attributes whose parameters a text asks not to require grad, spelled as ``self.net``."""
    found = set()
    for each in index.inside(node, ast.Attribute):
        if each.attr in (ASKING, _FLAG) and _is_told_no(index, each):
            path = path_of(_source_of(index, each.value))
            found |= {path} if path is not None and "." in path else set()
    return frozenset(found)


def _is_told_no(index: AstIndex, node: ast.Attribute) -> bool:
    match index.parents.get(node):
        case ast.Assign(targets=[target], value=ast.Constant(value=False)):
            return target is node
        case ast.Call(func=function, args=[ast.Constant(value=False)]):
            return function is node
    return False


def _source_of(index: AstIndex, asked: ast.expr) -> ast.expr:
    """Return the module that what is asked is, or of which a loop gives the parameters."""
    above = index.parents.get(asked)
    while isinstance(asked, ast.Name) and above is not None:
        if isinstance(above, ast.For):
            words = loop_names(above.target, above.iter)
            asked = next((each.source for each in words if each.name == asked.id), asked)
        above = index.parents.get(above)
    match asked:
        case ast.Call(func=ast.Attribute(value=owner, attr=word)) if word in _OF_ALL:
            return owner
    return asked


def _assigned(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    match target, value:
        case ast.Name(id=word), _:
            yield word, value
        case ast.Tuple(elts=parts), ast.Tuple(elts=values) if len(parts) == len(values):
            for part, each in zip(parts, values, strict=True):
                yield from _assigned(part, each)
        case ast.Tuple(elts=parts), _:
            for part in parts:
                yield from _assigned(part, value)
