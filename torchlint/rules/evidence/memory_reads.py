"""Whether what is in a tensor's memory is computed with: where it is mentioned, or right where it is made."""

from __future__ import annotations

import ast
from collections.abc import Callable

from torchlint.rules.api import FileContext, Function, remembered
from torchlint.rules.evidence.paths import header, reached_after, successors

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


def is_read(node: ast.expr, context: FileContext) -> bool:
    """Whether a mention takes the numbers: it is added to, is an operand, or is given to what computes with it."""
    above = context.parent(node)
    match above:
        case ast.AugAssign(target=target, value=value):
            return target is node or value is node
        case ast.Subscript(value=value) if value is node:
            outer = context.parent(above)
            return isinstance(outer, ast.AugAssign) and outer.target is above
        case ast.BinOp(left=left, op=op):
            return left is node or not isinstance(op, ast.Mod)
        case ast.UnaryOp(op=ast.USub()):
            return True
        case ast.Call(func=function, args=given) if any(each is node for each in given):
            return bool(names := context.names(function)) and names <= _COMPUTING
        case ast.Attribute(attr=word) if word in _COMPUTING_WORDS or word in _ADDING_WORDS:
            outer = context.parent(above)
            return isinstance(outer, ast.Call) and outer.func is above
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


def first_read(
    made: ast.stmt,
    name: str,
    scope: Function | ast.Module,
    reads: Callable[[ast.expr], bool],
    context: FileContext,
) -> ast.stmt | None:
    """Return a statement that reads a name where nothing else has been done with it since a statement bound it."""
    first_in = _first_mentions(scope, context).get(name, {})

    def is_asked(node: ast.stmt) -> bool:
        if node not in first_in:
            return False
        own = [each for part in header(node) for each in context.inside(part, ast.Name) if each.id == name]
        return any(map(reads, own)) and all(_is_target(each, context) or reads(each) for each in own)

    def ends(node: ast.stmt) -> bool:
        return node in first_in and not reads(first_in[node])

    following = successors(scope, context)
    direct = [each for each in following.get(made, []) if is_asked(each)]
    if direct:
        return direct[0]
    if any(ends(each) for each in following.get(made, [])):
        return None
    found = reached_after(made, following, changes=lambda _: True, ends=ends, is_asked=is_asked)
    return found[1] if found is not None else None


@remembered
def _first_mentions(scope: Function | ast.Module, context: FileContext) -> dict[str, dict[ast.AST, ast.Name]]:
    """Return for each name of a scope where it is spoken of first inside a node: what a statement binds comes last.

    A function's own names are others; what a function inside shares with the scope, nobody knows the order of.
    """
    found: dict[str, dict[ast.AST, ast.Name]] = {}
    shared = set()
    mentions = [each for each in context.inside(scope, ast.Name) if (context.scope_that_binds(each) or scope) is scope]
    for each in sorted(mentions, key=lambda each: (_is_target(each, context), context.span(each))):
        if (context.function_around(each) or context.tree) is not scope:
            shared.add(each.id)
        first_in = found.setdefault(each.id, {})
        for above in context.ancestors(each):
            first_in.setdefault(above, each)
    return {name: first_in for name, first_in in found.items() if name not in shared}


def _is_target(node: ast.Name, context: FileContext) -> bool:
    """Whether an assignment binds the name, which it does when its value is there."""
    above = context.parent(node)
    return isinstance(above, ast.Assign) and above.value is not node
