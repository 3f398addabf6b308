"""Whether what is in a tensor's memory is computed with: where it is mentioned, or right where it is made."""

from __future__ import annotations

import ast

from torchlint.rules.api import FileContext

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
    "contiguous cpu cuda expand flatten permute repeat reshape squeeze t to transpose unsqueeze view".split()
)
"""Methods that give the same numbers elsewhere or in another form."""


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


def is_read_at_once(made: ast.expr, context: FileContext) -> bool:
    """Whether a new tensor is computed with or stored in rows where it is made, moved and reshaped at most.

    ``x * torch.FloatTensor(stds).cuda()``, ``torch.Tensor(scores).log()``, ``rows[at][:] = torch.Tensor(row)``.
    """
    above = context.parent(made)
    match above:
        case ast.Assign(targets=[ast.Subscript(slice=parts)]):
            return any(
                isinstance(each, ast.Slice) for each in (parts.elts if isinstance(parts, ast.Tuple) else [parts])
            )
        case ast.Attribute(attr=word) if word in _PASSING_ON:
            outer = context.parent(above)
            return isinstance(outer, ast.Call) and outer.func is above and is_read_at_once(outer, context)
    return is_read(made, context)
