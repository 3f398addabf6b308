"""Whether a function that initialises a module only looks at it and writes: what it computes may be kept by a graph."""

from __future__ import annotations

import ast

from torchlint.rules.api import FileContext, Function, Mode, remembered

_NUMBERS = frozenset(
    "in_features out_features in_channels out_channels kernel_size stride padding dilation groups num_features "
    "num_embeddings embedding_dim hidden_size input_size num_layers eps padding_idx training shape ndim dtype device "
    "data __class__ __name__".split()
)
"""Attributes of a layer or a tensor that no graph reaches."""
_LISTING = frozenset(
    "modules children parameters buffers named_modules named_children named_parameters named_buffers items values "
    "keys".split()
)
"""Methods that hand out the parts."""
_MEASURING = frozenset("size dim numel nelement detach".split())
_PASSING = frozenset(
    f"builtins.{word}" for word in "getattr list tuple enumerate zip reversed sorted iter next max min sum abs".split()
)
"""Functions whose result may be what they are given, or computed of it."""
_ASKING = frozenset(f"builtins.{word}" for word in "isinstance hasattr type len print id str repr int float".split())
_ENDS = (ast.Compare, ast.Expr, ast.If, ast.While, ast.Assert, ast.FormattedValue, ast.Return)


@remembered
def computes_with_its_argument(function: Function, context: FileContext) -> bool:
    """Whether a function runs the module that it is given first, computes with its tensors, or hands them on."""
    given = [*function.args.posonlyargs, *function.args.args]
    given = [each for each in given if each.arg not in ("self", "cls")]
    return not given or _Uses(function, context).compute(given[0].arg)


class _Uses:
    """Follows a parameter, and the names that are bound to its parts, through a function."""

    def __init__(self, function: Function, context: FileContext) -> None:
        self._context = context
        self._names = [each for each in context.inside(function, ast.Name) if isinstance(each.ctx, ast.Load)]
        self._followed: list[str] = []

    def compute(self, word: str) -> bool:
        """Whether something is computed with what a name holds."""
        self._followed = [word]
        uses = (each for name in self._followed for each in self._names if each.id == name)  # which grows meanwhile
        return not all(self._is_plain(each) for each in uses)

    def _is_plain(self, use: ast.expr) -> bool:
        """Whether nothing is computed with an expression; names that it is bound to are followed."""
        node = use
        while True:
            match above := self._context.parent(node):
                case ast.Attribute(attr=word):
                    if word in _NUMBERS:
                        return True
                    node = above
                case ast.Subscript(value=value) if value is not node:
                    return True
                case ast.Subscript():
                    node = above
                case ast.Call():
                    end = self._call(node, above)
                    if end is not None:
                        return end
                    node = above
                case ast.keyword():
                    call = self._context.parent(above)
                    return isinstance(call, ast.Call) and self._call(node, call) is True
                case ast.Tuple() | ast.List() | ast.Starred() | ast.BoolOp() | ast.IfExp() | ast.NamedExpr():
                    if isinstance(above, ast.NamedExpr):
                        self._follow(above.target)
                    node = above
                case _:
                    return self._ends(node, above)

    def _call(self, node: ast.expr, call: ast.Call) -> bool | None:
        """Whether a call computes nothing with an expression; None where its result is the matter."""
        if call.func is node:
            word = node.attr if isinstance(node, ast.Attribute) else ""
            if word in _LISTING:
                return None
            return word in _MEASURING or self._is_quiet(call)
        names = self._context.names(call.func)
        if names and names <= _PASSING:
            return None
        plain = bool(names) and all(
            each in _ASKING or each.startswith(("torch.nn.init.", "math.", "numpy.")) for each in names
        )
        return plain or self._is_quiet(call)

    def _ends(self, node: ast.expr, above: ast.AST | None) -> bool:
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            return False  # the module gets something that may be in use
        match above:
            case ast.Assign(targets=targets):
                return all(self._follow(each) for each in targets)
            case ast.AnnAssign(target=target) | ast.For(target=target) | ast.comprehension(target=target):
                return self._follow(target)
            case ast.UnaryOp(op=ast.Not()):
                return True
        return isinstance(above, _ENDS) or self._is_quiet(node)

    def _follow(self, target: ast.expr) -> bool:
        for each in ast.walk(target):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store) and each.id not in self._followed:
                self._followed.append(each.id)
        return True

    def _is_quiet(self, node: ast.expr) -> bool:
        return self._context.mode(node) == Mode.OFF
