"""Whether a detached view of a tensor is only read: neither written through nor kept where that may still happen.

`x.data` and `x.detach()` differ in one thing: what is written through the first is hidden from autograd's version
counter. So they are alike as long as nobody writes through the value and no graph saves it.
"""

from __future__ import annotations

import ast
from collections import defaultdict

from torchlint.rules.api import (
    FUNCTIONS,
    FileContext,
    Kind,
    Mode,
    Value,
    arguments_of,
    children,
    operations,
    remembered,
)
from torchlint.rules.data.data_use import FORM_ATTRIBUTES, FORM_FUNCTIONS, FORM_METHODS, VIEW_ATTRIBUTES
from torchlint.rules.data.forgotten_graph import graph_ends_in_statement
from torchlint.rules.data.new_objects import PLAIN, is_bare
from torchlint.rules.data.other_operands import adds_numbers, is_indexed, keeps_nothing
from torchlint.rules.data.read_by_numpy import is_read_by_numpy
from torchlint.rules.evidence.called_definitions import bind, definition
from torchlint.rules.evidence.method_calls import call_of
from torchlint.rules.evidence.tensor_proof import is_detached, is_proven

_READERS = frozenset("print float int bool len str repr isinstance type id hash range round all any complex".split())
_NUMBERS = frozenset("item tolist numpy __array__ storage untyped_storage type".split())
"""Methods whose result has no version counter: what is written through an array is hidden either way."""

_ALIASING = frozenset(
    "detach cuda xpu to type type_as double half bfloat16 long int short char byte bool cdouble chalf data values "
    "indices unflatten unsafe_chunk unsafe_split unsafe_split_with_sizes index alias view_as_real "
    "view_as_complex".split()
)
"""Methods, besides those known to keep grad, whose result may share the receiver's memory: ``.long()`` of an index."""

_ALIASING_FUNCTIONS = frozenset(
    f"torch.{word}"
    for word in (
        "alpha_dropout dropout feature_alpha_dropout feature_dropout detach from_dlpack unflatten unsafe_chunk "
        "unsafe_split as_tensor asarray view_as_real view_as_complex"
    ).split()
)
_TAKING_OVER = frozenset({"new", "set_", "as_subclass", "module_load"})
"""Methods that give their argument's memory another owner."""

_OF_AUTOGRAD = frozenset({"requires_grad", "is_leaf", "grad_fn", "grad"})
"""Attributes that `.data` and `.detach()` both leave blank."""

_SAVING_NOTHING = frozenset("add add_ sub sub_ copy_ eq ne lt le gt ge view_as expand_as type_as".split())
"""Methods whose derivative needs none of their operands, so that no graph keeps the value."""

_SAVING_NO_FUNCTION = frozenset({"torch.cat", "torch.stack", "torch.add", "torch.sub", "torch.equal", "torch.allclose"})
_VIEWS_OF_NUMPY = frozenset(
    f"numpy.{word}"
    for word in (
        "array_split diff dsplit hsplit matrix_transpose permute_dims real reshape rollaxis split squeeze swapaxes "
        "transpose trim_zeros vsplit"
    ).split()
)
"""Functions of NumPy that ask the tensor itself and hand out a tensor over its memory (measured on NumPy 2.4)."""

_SAVING = "torchvision.utils.save_image"
"""Copies what it changes (read in torchvision 0.11); `make_grid` may hand out what it was given."""

_INPLACE_AT = {
    **dict.fromkeys("hardsigmoid hardswish mish relu relu6 selu silu".split(), 1),
    **dict.fromkeys("celu elu leaky_relu".split(), 2),
    **dict.fromkeys("alpha_dropout dropout dropout1d dropout2d dropout3d feature_alpha_dropout".split(), 3),
    **dict.fromkeys("hardtanh threshold".split(), 3),
    "rrelu": 4,
}
"""The place of the argument ``inplace`` in functions of ``torch.nn.functional``."""

_WRITING_FUNCTIONS = frozenset(
    f"torch.{word}"
    for word in (
        "batch_norm batch_norm_gather_stats batch_norm_gather_stats_with_counts batch_norm_update_stats "
        "cudnn_batch_norm embedding_bag fused_moving_avg_obs_fake_quant instance_norm miopen_batch_norm "
        "native_batch_norm nn.functional.batch_norm nn.functional.embedding nn.functional.embedding_bag "
        "nn.functional.instance_norm quantized_batch_norm"
    ).split()
)
"""Functions that may write into an argument: running means and variances, rows that ``max_norm`` shortens."""

_NUMBER = Kind.INTEGER | Kind.SCALAR
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def only_read(node: ast.expr, context: FileContext) -> bool:
    """Whether the value of an expression is only read, as far as the function's own text shows."""
    return _Reader(context).reads(node)


class _Reader:
    def __init__(self, context: FileContext) -> None:
        self._context = context
        self._asked: set[tuple[ast.AST, str]] = set()

    def reads(self, node: ast.expr) -> bool:
        """Whether what stands around an expression only reads its value."""
        match above := self._context.parent(node):
            case ast.Attribute():
                return self._attribute(above)
            case ast.Subscript(value=value):
                if value is node:
                    return isinstance(above.ctx, ast.Load) and self.reads(above)
                return self._index(above)
            case ast.Slice():
                return self._bound_of_slice(above)
            case ast.BinOp():
                return self._operator(node, above)
            case ast.UnaryOp(op=ast.UAdd()):  # the tensor itself
                return self.reads(above)
            case ast.Compare():
                return self._compared(node, above)
            case ast.UnaryOp() | ast.Expr() | ast.FormattedValue() | ast.Assert():
                return True
            case ast.If() | ast.While():
                return True
            case ast.IfExp(test=test):
                return test is node or self.reads(above)
            case ast.BoolOp():
                return self.reads(above)
            case ast.keyword(arg=word):
                call = self._context.parent(above)
                return word not in (None, "out") and isinstance(call, ast.Call) and self._argument(node, call)
            case ast.Call():
                return self._argument(node, above)
            case ast.Tuple() | ast.List():
                return self._member(node, above)
            case ast.Assign() | ast.AnnAssign() | ast.NamedExpr():
                return self._bound(above)
            case ast.AugAssign(op=op, target=target):
                saves_nothing = isinstance(op, ast.Add | ast.Sub) or self._is_quiet(target)
                return saves_nothing and adds_numbers(target, self._context)
            case ast.For(iter=iterable, target=ast.Name(id=word)):
                return iterable is node and self._name(word, above)
        return False

    # ------------------------------------------------------------------ what is done with it
    def _attribute(self, above: ast.Attribute) -> bool:
        call = call_of(above, self._context)
        if call is None:
            if not isinstance(above.ctx, ast.Load):
                return False
            return above.attr in FORM_ATTRIBUTES | _OF_AUTOGRAD or (above.attr in VIEW_ATTRIBUTES and self.reads(above))
        word, table = above.attr, operations()
        if word in _NUMBERS or word in FORM_METHODS:
            return word != "type" or not call.args or self.reads(call)
        if word.endswith("_") or word not in table.methods:
            return False
        if word in table.keeps_grad or word in _ALIASING:
            return self.reads(call)
        gives = table.no_tensor.get(word)
        if gives is not None and not gives & ~_NUMBER:  # `x.data.allclose(y)`: a number keeps no graph
            return True
        return self._are_quiet(call, call.func)

    def _operator(self, node: ast.expr, above: ast.BinOp) -> bool:
        other = above.right if above.left is node else above.left
        if isinstance(above.op, ast.Mod) and isinstance(above.left, ast.Constant):  # "%f" % x
            return True
        is_saved = not (isinstance(above.op, ast.Add | ast.Sub) or self._is_quiet(other))
        if is_saved and not graph_ends_in_statement(above, self._context):
            return False
        return keeps_nothing(other, above.op, self._context)

    def _compared(self, node: ast.expr, above: ast.Compare) -> bool:
        """Whether the neighbours in a comparison keep nothing of a value: `h in seen`, `a < h <= b`."""
        sides = [above.left, *above.comparators]
        pairs = zip(sides, sides[1:], above.ops, strict=False)
        beside = [(right if left is node else left, op) for left, right, op in pairs if node in (left, right)]
        return all(keeps_nothing(other, op, self._context) for other, op in beside)

    def _index(self, above: ast.Subscript) -> bool:
        """Whether an index is only read: no graph saves it, and what is indexed does not keep it.

        `y[index] = v` saves it where `y` or `v` requires grad.
        """
        base = above.value
        if not isinstance(above.ctx, ast.Store):
            return self._is_quiet(base) and is_indexed(base, self._context)
        match self._context.parent(above):
            case ast.Assign(value=value) | ast.AugAssign(value=value):
                return is_indexed(base, self._context) and self._is_quiet(base) and self._is_quiet(value)
        return False

    def _bound_of_slice(self, above: ast.Slice) -> bool:
        """Whether a slice is one of a tensor or an array: they take the bounds as numbers."""
        outer = self._context.parent(above)
        if isinstance(outer, ast.Tuple):
            outer = self._context.parent(outer)
        return isinstance(outer, ast.Subscript) and is_indexed(outer.value, self._context)

    def _argument(self, node: ast.expr, call: ast.Call) -> bool:
        """Whether a call only reads one of its arguments."""
        own = definition(call.func, self._context) if isinstance(call.func, ast.Name) else None
        if isinstance(own, ast.FunctionDef) and is_bare(own, self._context):
            return self._parameter(node, call, own)
        names = self._value(call.func).names
        if (
            isinstance(call.func, ast.Name)
            and call.func.id in _READERS
            and not names - {call.func.id, f"builtins.{call.func.id}"}
        ):
            return True
        if names:
            return all(self._torch_or_numpy(name, node, call) for name in names)
        match call.func:
            case ast.Attribute(value=ast.Constant(value=str()), attr="format"):
                return True
            case ast.Attribute(value=receiver, attr=word) if (
                self._value(receiver).is_tensor and word in operations().methods
            ):
                if word in _TAKING_OVER:
                    return False
                return word in _SAVING_NOTHING or (self._is_quiet(receiver) and self._are_quiet(call, node))
        return False

    def _parameter(self, node: ast.expr, call: ast.Call, function: ast.FunctionDef) -> bool:
        """Whether a function of the file only reads what it is given here."""
        given = [word for word, each in bind(call, function, method=False).items() if each is node]
        return len(given) == 1 and self._name(given[0], function.body[0])

    def _torch_or_numpy(self, name: str, node: ast.expr, call: ast.Call) -> bool:
        """Whether a function of a library, by its full name, only reads an argument."""
        if name == _SAVING:
            return True
        if name in _VIEWS_OF_NUMPY:
            return self.reads(call)
        if name.startswith("numpy."):
            return is_read_by_numpy(name, node, call)
        if name in ("copy.deepcopy", "copy.copy"):
            return name != "copy.copy"
        if name in FORM_FUNCTIONS or name in _SAVING_NO_FUNCTION:
            return True
        table = operations()
        if name not in table.functions or name.endswith("_") or name in _WRITING_FUNCTIONS or _is_inplace(name, call):
            return False
        if not self._are_quiet(call, node):  # a graph may save it, whether the result is a view or not
            return False
        is_view = name in table.keeps_grad or name in _ALIASING_FUNCTIONS or "dropout" in name
        return not is_view or self.reads(call)

    def _member(self, node: ast.expr, above: ast.Tuple | ast.List) -> bool:
        match outer := self._context.parent(above):
            case ast.Call(func=function) if names := self._value(function).names:
                return names <= {"torch.cat", "torch.stack"}
            case ast.BinOp(op=ast.Mod(), left=ast.Constant(value=str())) | ast.FormattedValue():
                return True
            case ast.Subscript(slice=index) if index is above:
                return self._index(outer)
            case ast.Assign(targets=[ast.Tuple(elts=targets)]) if len(targets) == len(above.elts):
                target = targets[above.elts.index(node)]
                return isinstance(target, ast.Name) and self._name(target.id, outer)
        return False

    # ------------------------------------------------------------------ names that it is bound to
    def _bound(self, above: ast.Assign | ast.AnnAssign | ast.NamedExpr) -> bool:
        targets = above.targets if isinstance(above, ast.Assign) else [above.target]
        if isinstance(above, ast.NamedExpr) and not self.reads(above):
            return False
        return all(self._target(target, above) for target in targets)

    def _target(self, target: ast.expr, above: ast.AST) -> bool:
        match target:
            case ast.Name(id=word):
                return self._name(word, above)
            case ast.Subscript(value=base):  # into a tensor or an array it is copied, into a list it is kept
                return self._value(base).must(Kind.TENSOR | Kind.ARRAY)
            case ast.Attribute(value=owner, attr="data"):  # shares memory, keeps its own version counter
                return is_proven(owner, self._context)
        return False

    def _name(self, word: str, above: ast.AST) -> bool:
        """Whether every use of the name in its scope only reads; a name seen from elsewhere is not followed."""
        scope = self._context.nearest(above, *_NESTED, ast.Module)
        if isinstance(scope, ast.Module) and self._context.other_texts.takes(word, by_star=True):
            return False
        if not isinstance(scope, (*FUNCTIONS, ast.Module)):
            return False
        if (scope, word) in self._asked:
            return True
        self._asked.add((scope, word))
        return all(self._use(use) for use in _uses(scope, self._context).get(word, ()))

    def _use(self, use: ast.AST | None) -> bool:
        match use:
            case ast.Name(ctx=ast.Load()):
                return self.reads(use)
            case ast.Name(ctx=ast.Store()):
                return not isinstance(self._context.parent(use), ast.AugAssign)
        return isinstance(use, ast.Name)

    # ------------------------------------------------------------------ what stands beside it
    def _are_quiet(self, call: ast.Call, but: ast.expr) -> bool:
        """Whether no graph is recorded by a call: none of its other arguments may require grad."""
        others = arguments_of(call)
        return not any(each.arg == "out" for each in call.keywords) and all(
            each is but or self._is_quiet(each) for each in others
        )

    def _is_quiet(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Constant):
            return True
        if isinstance(node, ast.UnaryOp):
            return self._is_quiet(node.operand)
        if isinstance(node, ast.Tuple | ast.List):
            return all(self._is_quiet(each) for each in node.elts)
        if isinstance(node, ast.Slice):
            return all(self._is_quiet(each) for each in (node.lower, node.upper, node.step) if each is not None)
        if self._context.mode(node) == Mode.OFF:
            return True
        known = self._value(node)
        return is_detached(node, self._context) or (bool(known.kind) and known.must(PLAIN) and not known.claimed)

    def _value(self, node: ast.expr) -> Value:
        return self._context.value(node)


def _is_inplace(name: str, call: ast.Call) -> bool:
    """Whether a function may write its result into its first argument: by ``inplace=True``, or in its place."""
    at = _INPLACE_AT.get(name.removeprefix("torch.nn.functional."))
    said = [each.value for each in call.keywords if each.arg in ("inplace", None)]
    if at is not None:
        said += [*call.args[at : at + 1], *(each for each in call.args[: at + 1] if isinstance(each, ast.Starred))]
    return any(not (isinstance(each, ast.Constant) and each.value is False) for each in said)


@remembered
def _uses(
    scope: ast.FunctionDef | ast.AsyncFunctionDef | ast.Module, _: FileContext
) -> dict[str, list[ast.AST | None]]:
    """Return the uses of each name in a function.

    None for one in a nested scope or where it is declared elsewhere's.
    """
    found: dict[str, list[ast.AST | None]] = defaultdict(list)
    stack: list[tuple[ast.AST, bool]] = [(each, False) for each in scope.body]
    while stack:
        node, nested = stack.pop()
        if isinstance(node, ast.Name):
            found[node.id].append(None if nested else node)
        if isinstance(node, ast.Global | ast.Nonlocal):
            for word in node.names:
                found[word].append(None)
        inside = nested or isinstance(node, _NESTED)
        stack.extend((child, inside) for child in children(node))
    return dict(found)
