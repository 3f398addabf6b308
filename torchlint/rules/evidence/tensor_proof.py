"""Whether an expression is a tensor of torch, or a module, beyond doubt: shown where it is made, not guessed."""

from __future__ import annotations

import ast

import libcst as cst

from torchlint.diagnostics.assumptions import IS_TENSOR, Decision
from torchlint.rules.api import GIVING_ITSELF, UNLIKE, FileContext, Kind, Value, leaf, operations, remembered
from torchlint.rules.evidence.given_to_torch import was_given_to_torch
from torchlint.rules.evidence.kept_meaning import rebinding
from torchlint.rules.evidence.local_bindings import bindings_of, functions_of, is_instance, names_of, values_of
from torchlint.rules.evidence.object_attributes import attribute_values, is_own_groups
from torchlint.rules.evidence.own_results import forwarded, returned
from torchlint.rules.evidence.shown_code import brief
from torchlint.rules.evidence.tensor_uses import PARAMETER
from torchlint.rules.evidence.torch_layers import COMPUTING, is_layer, layer_gives_a_tensor


def is_module(node: ast.expr, context: FileContext) -> bool:
    """Whether an expression is a module beyond doubt, whose ``parameters()`` are those of ``nn.Module``."""
    if any(each.name in ("parameters", "buffers") for each in context.nodes(ast.FunctionDef)):
        return False
    if not context.value(node).must(Kind.MODULE):
        return False
    own = context.value_of_self(node)
    return (own is not None and own.must(Kind.MODULE)) or _is_constructed(node, context)


def _is_constructed(node: ast.expr, context: FileContext, asked: set[ast.expr] | None = None) -> bool:
    """Whether all that an expression may be is made by calling a class of modules, as far as its text shows.

    ``asked`` holds what was asked already: all must hold, and a module that is made of itself is what its other
    bindings make.
    """
    asked = set() if asked is None else asked
    if node in asked:
        return True
    asked.add(node)
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr=word)) if word in GIVING_ITSELF:
            return context.value(node).must(Kind.MODULE) and _is_constructed(inner, context, asked)
        case ast.Call(func=function):
            names, made = context.value(function).names, context.value(node)
            return made.must(Kind.MODULE) and bool(names) and names == made.instance
        case ast.Name():
            bound = bindings_of(node, context)
            return bool(bound) and all(
                isinstance(each.value, ast.Call) and not each.depth and _is_constructed(each.value, context, asked)
                for each in bound
            )
        case ast.Attribute():
            values = attribute_values(node, context)
            calls = [each for each in values if isinstance(each, ast.Call) and _is_constructed(each, context, asked)]
            return bool(values) and len(calls) == len(values)
    return False


_CLASSES = frozenset({"torch.Tensor", "torch.nn.Parameter", "torch.autograd.Variable"})
_OF_TENSORS = frozenset({"data", "grad", "T", "mT", "H", "mH", "real", "imag"})
"""Attributes of a tensor that are tensors again."""
_NUMBERS = Kind.INTEGER | Kind.SCALAR | Kind.TENSOR | Kind.NONE
_WALKED = frozenset({"parameters", "buffers", "named_parameters", "named_buffers"})
_PADDING = frozenset({"torch.nn.utils.rnn.pad_sequence", "torch.nn.utils.rnn.pad_packed_sequence"})
_ASKING_FOR_MORE = frozenset({"return_indices", "return_inverse", "return_counts", "as_tuple", "need_weights"})
_MOST_ARGUMENTS = {"unique": 1, "adaptive_max_pool": 2, "fractional_max_pool": 2, "max_pool": 6}
"""How many arguments functions may be given before one of these flags: by how their name begins."""
_OF_SEVERAL_SORTS = UNLIKE | frozenset(
    "atleast_1d atleast_2d atleast_3d gradient cholesky_ex inv_ex ldl_factor ldl_factor_ex lu_factor_ex solve_ex "
    "native_batch_norm native_group_norm native_layer_norm multi_head_attention_forward split_with_sizes_copy "
    "unbind_copy unravel_index unsafe_chunk unsafe_split unsafe_split_with_sizes lstm gru rnn_tanh rnn_relu".split()
)
"""Functions that may give a tuple where inference says no more than that tensors come out (measured on torch 2.13)."""
_DEEPEST, _MOST, _FEW = 60, 1000, 40
"""A proof that takes more levels or steps than this is not looked for; a short one takes no more than a few."""


def is_tensor(node: cst.BaseExpression, context: FileContext) -> Decision:
    """Decide whether an expression is a tensor: proven only where it is one beyond doubt."""
    place = context.python(node)
    proven = isinstance(place, ast.expr) and is_proven(place, context)
    doubt = rebinding([place], context) if proven and isinstance(place, ast.expr) else None
    return IS_TENSOR.decided((doubt and doubt[1]) if proven else "", brief(node, context))


@remembered
def is_proven(node: ast.expr, context: FileContext) -> bool:
    """Whether an expression is a tensor, or `None`, beyond doubt."""
    return _Proof(context).holds(node)


@remembered
def is_proven_shortly(node: ast.expr, context: FileContext) -> bool:
    """Whether a short proof shows that an expression is a tensor, or `None`, beyond doubt."""
    return _Proof(context, _FEW).holds(node)


def is_tensor_class(names: frozenset[str]) -> bool:
    """Whether a class known by these names is one whose objects are tensors."""
    return bool(names) and all(name in _CLASSES or _is_legacy_type(name) for name in names)


def is_torch_maker(names: frozenset[str]) -> bool:
    """Whether a function known by these names is torch's, and takes part in computing."""
    table = operations()
    known = table.functions | table.factories | _PADDING | _CLASSES
    return bool(names) and all(name in known or _is_legacy_type(name) for name in names)


def _is_legacy_type(name: str) -> bool:
    owner, _, word = name.rpartition(".")
    return owner in ("torch", "torch.cuda", "torch.sparse", "torch.cuda.sparse") and word.endswith("Tensor")


def _may_give_several(call: ast.Call) -> bool:
    """Whether a call may give a tuple where inference takes it for a tensor: by a flag whose value is not in sight."""
    if any(isinstance(each, ast.Starred) for each in call.args):
        return True
    flags = [each for each in call.keywords if each.arg is None or each.arg in _ASKING_FOR_MORE]
    if any(not (isinstance(each.value, ast.Constant) and each.value.value is False) for each in flags):
        return True
    word = (
        call.func.attr
        if isinstance(call.func, ast.Attribute)
        else call.func.id
        if isinstance(call.func, ast.Name)
        else ""
    )
    return len(call.args) > next((most for start, most in _MOST_ARGUMENTS.items() if word.startswith(start)), 100)


class _Proof:
    """One question: names that lead back to themselves are what their other bindings are."""

    def __init__(self, context: FileContext, most: int = _MOST) -> None:
        self._context = context
        self._asked: list[tuple[ast.AST, int]] = []
        self._makers: list[tuple[ast.AST, int]] = []
        """What makes the modules that are being asked about."""
        self._steps = 0
        self._most = most

    def holds(self, node: ast.expr, depth: int = 0, is_held: bool = False) -> bool:
        """Whether an expression is a tensor, or what it holds ``depth`` levels down are tensors.

        ``is_held`` says that a name holds it: into a list more may have been put meanwhile.
        """
        self._steps += 1
        if (node, depth) in self._asked:
            return True
        if len(self._asked) > _DEEPEST or self._steps > self._most:
            return False
        if depth == 0 and isinstance(node, ast.Name) and was_given_to_torch(node, self._context):
            return True
        if depth == 0 and not self._is_taken_for_one(node):
            return False
        self._asked.append((node, depth))
        answer = self._is_made(node, depth, is_held)
        self._asked.pop()
        return answer

    def _is_taken_for_one(self, node: ast.expr) -> bool:
        known = self._value(node)
        return bool(known.kind) and known.must(Kind.TENSOR | Kind.NONE)

    def _is_made(self, node: ast.expr, depth: int, is_held: bool) -> bool:
        """Whether an expression is a tensor by how it is written, or holds nothing else ``depth`` members deep."""
        match node:
            case ast.Constant(value=None):
                return True
            case ast.Name():
                return self._name(node, depth)
            case ast.Call():
                return self._call(node, depth)
            case ast.Subscript(value=group, slice=ast.Constant(value="params")) if depth == 1:
                return self._is_of_an_optimizer(group)
            case ast.Subscript(value=inner, slice=index):
                below = depth if isinstance(index, ast.Slice) else depth + 1
                return self.holds(inner) or self.holds(inner, below, is_held)
            case ast.Attribute():
                return self._attribute(node, depth)
            case ast.IfExp(body=one, orelse=other):
                return self.holds(one, depth, is_held) and self.holds(other, depth, is_held)
            case ast.NamedExpr(value=value):
                return self.holds(value, depth, is_held)
            case ast.List(elts=elements) | ast.Tuple(elts=elements) if depth and not (
                is_held and isinstance(node, ast.List)
            ):
                return all(self.holds(each, depth - 1) for each in elements)
            case ast.ListComp(elt=element) | ast.GeneratorExp(elt=element) if depth and not is_held:
                return self.holds(element, depth - 1)
        return self._arithmetic(node)

    def _arithmetic(self, node: ast.expr) -> bool:
        """Whether an operator is a tensor's own: between a tensor and a number or a tensor no other can answer."""
        match node:
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert(), operand=inner):
                return self.holds(inner)
            case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
                sides = ((left, right), (right, left))
                return any(self.holds(one) and self._is_number_or_tensor(other) for one, other in sides)
        return False

    def _is_number_or_tensor(self, node: ast.expr) -> bool:
        known = self._value(node)
        return bool(known.kind) and known.must(_NUMBERS)

    def _name(self, node: ast.Name, depth: int) -> bool:
        if is_instance(node, is_tensor_class, self._context):
            return True
        bound = bindings_of(node, self._context)
        if not bound or all(each.is_augmented for each in bound):
            return False
        return all(
            self._is_number_or_tensor(each.value)
            if each.is_augmented
            else self.holds(each.value, each.depth + depth, is_held=each.depth == 0 or isinstance(each.value, ast.Name))
            for each in bound
        )

    def _call(self, node: ast.Call, depth: int) -> bool:
        """Whether a call gives a tensor, or what holds nothing else ``depth`` members deep."""
        names = functions_of(node.func, self._context)
        if names == {"builtins.next"} and len(node.args) == 1:
            return self.holds(node.args[0], depth + 1)
        if names and names <= operations().factories:
            return not depth or self._gives_tensors_within(node, depth)
        match node.func:
            case ast.Attribute(value=receiver, attr=word) if word in _WALKED and depth == 1 and not names:
                return is_module(receiver, self._context)
        if depth and not self._gives_tensors_within(node, depth):
            return False
        if _may_give_several(node):
            return False
        if names:
            return is_torch_maker(names) and not any(leaf(name) in _OF_SEVERAL_SORTS for name in names)
        match node.func:
            case ast.Attribute(value=receiver, attr=word):
                if word not in _OF_SEVERAL_SORTS and self.holds(receiver):
                    return True
        own = returned(node.func, self._context)
        if own is not None:
            return self._all_hold(own, depth)
        return (depth == 0 and layer_gives_a_tensor(node.func, self._context)) or self._network(node.func, depth)

    def _all_hold(self, results: list[ast.expr], depth: int) -> bool:
        return bool(results) and all(self.holds(each, depth) for each in results)

    def _network(self, function: ast.expr, depth: int) -> bool:
        """Whether what is called was made as a module of the file, or as layers in a row, that give tensors."""
        match function:
            case ast.Name():
                made = values_of(function, self._context)
            case ast.Attribute():
                made = attribute_values(function, self._context)
            case _:
                return False
        return bool(made) and all(self._gives(each, depth) for each in made)

    def _gives(self, made: ast.expr, depth: int) -> bool:
        """Whether the module that an expression makes gives tensors when it is called.

        One that is made of itself (``self.net = self.net.cuda()``) gives what it gave before.
        """
        self._steps += 1
        if not isinstance(made, ast.Call) or len(self._makers) > _DEEPEST or self._steps > self._most:
            return False
        if (made, depth) in self._makers:
            return True
        self._makers.append((made, depth))
        answer = self._is_giving(made, depth)
        self._makers.pop()
        return answer

    def _is_giving(self, made: ast.Call, depth: int) -> bool:
        match made.func:
            case ast.Attribute(value=inner, attr=word) if word in GIVING_ITSELF:
                return self._gives(inner, depth) if isinstance(inner, ast.Call) else self._network(inner, depth)
        names = names_of(made.func, self._context)
        if names == {"torch.nn.Sequential"}:  # its last member gives what it gives
            return bool(made.args) and not isinstance(made.args[-1], ast.Starred) and self._gives(made.args[-1], depth)
        if names:
            return depth == 0 and names <= COMPUTING
        results = forwarded(made.func, self._context)
        return results is not None and self._all_hold(results, depth)

    def _gives_tensors_within(self, node: ast.Call, depth: int) -> bool:
        """Whether what a call gives holds nothing but tensors so many levels down, if it is torch's own."""
        known = self._value(node)
        for _ in range(depth):
            if known.is_tensor:
                break
            if not known.kind or not known.must(Kind.SEQUENCE):
                return False
            known = known.element()
        return bool(known.kind) and known.must(Kind.TENSOR | Kind.NONE)

    def _is_of_an_optimizer(self, group: ast.expr) -> bool:
        """Whether an expression is one of an optimizer's groups: it refuses parameters that are no tensors."""
        bound = bindings_of(group, self._context) if isinstance(group, ast.Name) else []
        return bool(bound) and all(
            each.depth == 1 and isinstance(each.value, ast.Attribute) and is_own_groups(each.value, self._context)
            for each in bound
        )

    def _attribute(self, node: ast.Attribute, depth: int) -> bool:
        if node.attr in _OF_TENSORS and self.holds(node.value):
            return True
        if node.attr in ("values", "indices") and isinstance(node.value, ast.Call) and self.holds(node.value, 1):
            return True
        if PARAMETER.search(node.attr) and node.attr != "grad" and is_layer(node.value, self._context):
            return True
        values = attribute_values(node, self._context)
        return bool(values) and all(self.holds(each, depth, is_held=True) for each in values)

    def _value(self, node: ast.expr) -> Value:
        return self._context.value(node)
