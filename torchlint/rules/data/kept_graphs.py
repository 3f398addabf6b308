"""Whether what builds a module keeps a graph over its tensors: then a later write in it is no write into a new one."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torchlint.rules.api import FileContext, Function, Grad, Mode, operations, remembered
from torchlint.rules.evidence.local_bindings import bindings_of

_FORGETTING = ("torch.", "builtins.", "math.", "numpy.")
"""Libraries whose functions keep nothing that they are given; what the project's own ones do is not followed."""
_GOING_BACK = frozenset({"torch.autograd.grad", "torch.autograd.backward"})
_LEAVES = frozenset({"torch.nn.Parameter", "torch.autograd.Variable"})
_DEEPEST = 5
"""Names and containers are followed to what they hold this far."""


@remembered
def keeps_a_graph(function: Function, context: FileContext) -> bool:
    """Whether the class of a method keeps, while it is built, what was computed with tensors that require grad."""
    methods = _building(function, context)
    if any(_goes_back(each, context) for method in methods for each in context.inside(method, ast.Call)):
        return True
    return any(_is_of_a_graph(kept, context) for each in methods for kept in _kept(each, context))


def _goes_back(call: ast.Call, context: FileContext) -> bool:
    """Whether a call asks a graph for gradients at once."""
    is_method = isinstance(call.func, ast.Attribute) and call.func.attr == "backward"
    return is_method or bool(context.names(call.func) & _GOING_BACK)


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
        names = context.qualified_names(call.func)
        if not names or not all(each.startswith(_FORGETTING) for each in names) or "builtins.setattr" in names:
            yield from (*call.args, *(each.value for each in call.keywords))


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
