"""Whether what is in a tensor's memory is computed with, and what holds the numbers of a new one."""

from __future__ import annotations

import ast

from torchlint.rules.api import FileContext, Kind

_COMPUTING_WORDS = frozenset(
    "abs add addmm argmax argmin bmm clamp cos cumsum div dot einsum exp log logsumexp matmul max maximum mean min "
    "minimum mm mul norm pow prod relu sigmoid sin softmax sqrt std sub sum tanh var where".split()
)
"""Functions and methods whose result depends on all numbers that they are given."""
_ADDING_WORDS = frozenset(
    "add_ sub_ mul_ div_ addmm_ addcmul_ addcdiv_ index_add_ scatter_add_ lerp_ index_add scatter_add".split()
)
"""Methods that compute with the numbers that a tensor has, and write the result there or into a new one."""
_PLACES = ("torch.", "torch.nn.functional.", "torch.linalg.")
_COMPUTING = frozenset(place + word for place in _PLACES for word in _COMPUTING_WORDS)
_PASSING_ON = frozenset(
    "contiguous cpu cuda expand expand_as flatten permute repeat reshape squeeze t to transpose unsqueeze view "
    "view_as".split()
)
"""Methods that give the same numbers elsewhere or in another form."""
_COPYING = frozenset("bfloat16 clone detach double float half int long pin_memory requires_grad_ type".split())
"""Methods that give the numbers of a tensor as another type, or to another object."""
_WRAPPERS = frozenset({"torch.autograd.Variable", "torch.autograd.variable.Variable"})


def is_read(place: ast.AST | None, context: FileContext) -> bool:
    """Whether a place that a tensor goes into takes its numbers: it is added to, an operand, or computed with."""
    match place:
        case ast.AugAssign() | ast.UnaryOp(op=ast.USub()):
            return True
        case ast.BinOp():
            return context.value(place).may(Kind.TENSOR)
        case ast.Subscript():
            outer = context.parent(place)
            return isinstance(outer, ast.AugAssign) and outer.target is place
        case ast.Call(func=function, keywords=keywords) if all(each.arg != "out" for each in keywords):
            return bool(names := context.names(function)) and names <= _COMPUTING
        case ast.Attribute(attr=word) if word in _COMPUTING_WORDS or word in _ADDING_WORDS:
            outer = context.parent(place)
            return isinstance(outer, ast.Call) and outer.func is place
    return False


def passed_on(made: ast.expr, context: FileContext) -> ast.expr:
    """Return the outermost expression that holds the numbers of a new tensor: moved, cast, wrapped or reshaped."""
    while True:
        match above := context.parent(made):
            case ast.Attribute(attr=word) if word in _PASSING_ON or word in _COPYING:
                outer = context.parent(above)
                if not isinstance(outer, ast.Call) or outer.func is not above:
                    return made
                made = outer
            case ast.Call(func=function, args=[first, *_]) if first is made:
                if not (names := context.names(function)) or not names <= _WRAPPERS:
                    return made
                made = above
            case _:
                return made
