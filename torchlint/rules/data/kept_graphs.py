"""Whether what builds a module keeps a graph over its tensors: then a later write in it is no write into a new one."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torchlint.rules.api import FileContext, Function, Grad, Mode, operations, remembered
from torchlint.rules.evidence.local_bindings import bindings_of

_KEEPING = frozenset("append add insert setdefault register_buffer setattr".split())
"""Calls that keep what they are given."""
_LEAVES = frozenset({"torch.nn.Parameter", "torch.autograd.Variable"})
_DEEPEST = 5
"""Names and containers are followed to what they hold this far."""


@remembered
def keeps_a_graph(function: Function, context: FileContext) -> bool:
    """Whether the class of a method keeps, while it is built, what was computed with tensors that require grad."""
    return any(_is_of_a_graph(kept, context) for each in _building(function, context) for kept in _kept(each, context))


def _building(function: Function, context: FileContext) -> list[Function]:
    """Return the methods that run while an object is built: the given one, and all that the constructor mentions."""
    owner = context.parent(function)
    body = owner.body if isinstance(owner, ast.ClassDef) else []
    known = {each.name: each for each in body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}
    found = [function, *(each for name, each in known.items() if name == "__init__")]
    for method in found:  # grows meanwhile
        words = (each.attr for each in context.inside(method, ast.Attribute))
        found += [known[word] for word in dict.fromkeys(words) if word in known and known[word] not in found]
    return found


def _kept(method: Function, context: FileContext) -> Iterator[ast.expr]:
    """Yield what a method puts into attributes and containers, where it outlives the method."""
    for each in context.inside(method, ast.Assign):
        if any(isinstance(one, ast.Attribute | ast.Subscript) for one in each.targets):
            yield each.value
    for more in context.inside(method, ast.AugAssign):
        if isinstance(more.target, ast.Attribute | ast.Subscript):
            yield more.value
    for declared in context.inside(method, ast.AnnAssign):
        if declared.value is not None and isinstance(declared.target, ast.Attribute | ast.Subscript):
            yield declared.value
    for call in context.inside(method, ast.Call):
        match call.func:
            case ast.Attribute(attr=word) | ast.Name(id=word) if word in _KEEPING:
                yield from call.args


def _is_of_a_graph(node: ast.expr, context: FileContext, depth: int = _DEEPEST) -> bool:
    """Whether an expression computes what requires grad: neither a leaf that is made nor another name of one."""
    parts: Iterable[ast.expr] = ()
    match node:
        case ast.Call(func=ast.Attribute(attr=word)) if word.endswith("_"):
            return False
        case ast.Call(func=function) if _makes_leaves(context.names(function)):
            return False
        case ast.Call() | ast.BinOp() | ast.UnaryOp():
            known = context.value(node)
            return known.is_tensor and bool(known.grad & Grad.ATTACHED) and bool(context.mode(node) & Mode.ON)
        case ast.Name():
            parts = (each.value for each in bindings_of(node, context))
        case ast.List(elts=held) | ast.Tuple(elts=held) | ast.Set(elts=held) | ast.Dict(values=held):
            parts = held
        case ast.IfExp(body=one, orelse=other):
            parts = (one, other)
        case ast.ListComp(elt=part) | ast.GeneratorExp(elt=part) | ast.DictComp(value=part):
            parts = (part,)
    return depth > 0 and any(_is_of_a_graph(each, context, depth - 1) for each in parts)


def _makes_leaves(names: frozenset[str]) -> bool:
    """Whether a function known by these names makes tensors that no recorded operation made."""
    return bool(names) and names <= operations().factories | _LEAVES
