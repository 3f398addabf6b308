"""Whether an expression cannot require grad where it stands: all that goes into it is made of what cannot.

What a container, an attribute or another function reaches may have been written meanwhile: a live value that goes into
a tensor in place makes it live. So names count only where their function does nothing but read what they stand for.
"""

from __future__ import annotations

import ast

import libcst as cst

from torchlint.rules.api import (
    CASTS,
    PAIRS,
    PAIRS_WITH_DIM,
    Dtype,
    FileContext,
    Kind,
    Loop,
    arguments_of,
    leaf,
    operations,
    remembered,
)
from torchlint.rules.evidence.aliasing import INTEGRAL, SAME_OR_NEW_METHODS, is_read, names_within
from torchlint.rules.evidence.kept_meaning import rebinding
from torchlint.rules.evidence.local_bindings import (
    NameBinding,
    are_of_torch,
    bindings_of,
    functions_of,
    names_of,
    places_of,
    values_of,
)
from torchlint.rules.evidence.tensor_proof import is_proven, is_torch_maker
from torchlint.rules.evidence.variable_calls import NAMES

_TAKING_OVER = frozenset("from_dlpack sparse_coo_tensor from_file frombuffer as_tensor asarray full_like".split())
"""Functions and methods that may hand on what they are given, though they make tensors."""
_DROPPING = frozenset("new_zeros new_ones new_empty new_full new_tensor detach".split())
"""Methods of a tensor whose result does not require grad, whatever they are given."""
_TAKING_NO_TENSOR = SAME_OR_NEW_METHODS | frozenset(
    "view reshape expand repeat permute transpose t squeeze unsqueeze flatten narrow select size dim numel numpy item "
    "tolist clone normal_ uniform_ random_ zero_ exponential_ geometric_ cauchy_ log_normal_".split()
)
"""Methods whose arguments bring no gradient in: sizes, places, the parameters of a distribution."""
_TO_INTEGERS = frozenset(word for word, dtype in CASTS.items() if dtype.startswith(("int", "uint", "bool")))
_GIVING_NUMBERS = frozenset({"builtins.len", "builtins.int", "builtins.float", "builtins.bool", "builtins.range"})
_JOINING = frozenset({"torch.cat", "torch.stack"})
_HOLDING_NO_TENSOR = Kind.ARRAY | Kind.INTEGER | Kind.SCALAR | Kind.STRING
_LISTS = (ast.List, ast.Tuple, ast.ListComp)
_DEEPEST, _MOST = 60, 1000
"""A proof that takes more levels or steps than this is not looked for."""


@remembered
def is_never_live(node: ast.expr, context: FileContext) -> bool:
    """Whether an expression is a number or a tensor that does not require grad, beyond doubt."""
    return _Detached(context).holds(node)


def never_requires_grad_here(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether an expression is a tensor that does not require grad, beyond doubt."""
    place = context.python(node)
    known = context.value(node)
    if not isinstance(place, ast.expr) or not known.is_tensor or known.may_require_grad:
        return False
    return is_proven(place, context) and is_never_live(place, context) and rebinding((place,), context) is None


class _Detached:
    """One question: names that lead back to themselves are what their other bindings are."""

    def __init__(self, context: FileContext) -> None:
        self._context = context
        self._asked: list[ast.AST] = []
        self._steps = 0

    def holds(self, node: ast.expr) -> bool:
        self._steps += 1
        if node in self._asked:
            return True
        if len(self._asked) > _DEEPEST or self._steps > _MOST:
            return False
        self._asked.append(node)
        answer = self._is_made_of_such(node)
        self._asked.pop()
        return answer

    def _is_made_of_such(self, node: ast.expr) -> bool:
        match node:
            case ast.Constant():
                return True
            case ast.Compare():
                return is_proven(node, self._context)
            case ast.UnaryOp(operand=inner) | ast.Subscript(value=inner):
                return self.holds(inner)
            case ast.BinOp(left=left, right=right) | ast.IfExp(body=left, orelse=right):
                return self.holds(left) and self.holds(right)
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                return all(self.holds(each) for each in elements)
            case ast.Attribute(value=inner, attr=word):
                return self._attribute(inner, word)
            case ast.Call():
                return self._call(node)
            case ast.Name():
                return self._name(node)
        return False

    def _attribute(self, inner: ast.expr, word: str) -> bool:
        if word in ("data", "shape", "ndim"):
            return is_proven(inner, self._context)
        return word in ("T", "mT", "H", "mH", "real", "imag", "values", "indices") and self.holds(inner)

    # ------------------------------------------------------------------ calls
    def _call(self, call: ast.Call) -> bool:
        if any(_may_ask_for_gradient(each) for each in call.keywords):
            return False
        names = functions_of(call.func, self._context)
        if names:
            return all(self._function(name, call) for name in names)
        match call.func:
            case ast.Attribute(value=receiver, attr=word):
                return self._method(receiver, word, call)
        return False

    def _function(self, name: str, call: ast.Call) -> bool:
        table, word = operations(), leaf(name)
        if name in NAMES or name in _GIVING_NUMBERS or name.startswith(("math.", "numpy.")):
            return True
        if not is_torch_maker(frozenset((name,))):
            return False
        if word in INTEGRAL or name in table.never or (name in table.factories and word not in _TAKING_OVER):
            return True
        if word.endswith("Tensor"):  # of a tensor it makes a view; of a list a copy
            data = call.args[:1] if len(call.args) == 1 else []
            return all(self._is_copied(each) or self.holds(each) for each in data)
        return self._are_given(call)

    def _is_copied(self, data: ast.expr) -> bool:
        """Whether a legacy constructor copies what it is given element by element: it is spelled as a list."""
        if isinstance(data, ast.Name):
            values = values_of(data, self._context)
            are_lists = bool(values) and all(isinstance(each, _LISTS) for each in values)
            return are_lists and rebinding((data,), self._context) is None
        return isinstance(data, _LISTS)

    def _method(self, receiver: ast.expr, word: str, call: ast.Call) -> bool:
        table = operations()
        if not is_proven(receiver, self._context):
            return False
        if word in _DROPPING or word in table.never or word in table.no_tensor or word in _TO_INTEGERS:
            return True
        if word == "new" and len(call.args) != 1:  # of one argument, a tensor, it makes an alias with its graph
            return True
        if not self.holds(receiver) or word == "requires_grad_":
            return False
        if word in _TAKING_NO_TENSOR:
            return True
        return (word in table.methods or word.removesuffix("_") in table.methods) and self._are_given(call)

    def _are_given(self, call: ast.Call) -> bool:
        """Whether no argument of a call can bring a gradient in."""
        return all(self._is_given(each) for each in arguments_of(call))

    def _is_given(self, node: ast.expr) -> bool:
        names = self._names(node)
        return are_of_torch(names) or self.holds(node)

    # ------------------------------------------------------------------ names
    def _name(self, name: ast.Name) -> bool:
        bound = bindings_of(name, self._context)
        if bound and all(isinstance(each.value, ast.Constant) and not each.depth for each in bound):
            return True
        if not bound or not all(map(self._binds_such, bound)):
            return False
        if self._context.value(name).must(_HOLDING_NO_TENSOR):
            return True
        if not is_proven(name, self._context):
            return False
        if any(self._is_shared(each) for each in places_of(name, self._context)):
            return False
        counts = not self._context.value(name).dtype & Dtype.FLOATING
        return counts or self._is_only_read(name)  # into whole numbers no gradient can be written

    def _is_shared(self, place: ast.Name | ast.arg) -> bool:
        """Whether an assignment gives the same object to something else, which may write into it: ``a = b = ...``."""
        above = self._context.parent(place)
        return isinstance(above, ast.NamedExpr) or (isinstance(above, ast.Assign) and len(above.targets) > 1)

    def _binds_such(self, binding: NameBinding) -> bool:
        match binding.value:
            case _ if binding.depth == 0:
                return self.holds(binding.value)
            case ast.Call(func=ast.Attribute(attr=word)) if binding.depth == 1 and word in PAIRS | PAIRS_WITH_DIM:
                return self.holds(binding.value)
            case ast.Call(func=function) if binding.depth == 1:
                return self._names(function) == {"builtins.range"}
        return False  # what else may hold the elements of a container

    def _is_only_read(self, name: ast.Name) -> bool:
        """Whether nothing that may run before a name's use does more with the same object than to read it."""
        scope = self._context.scope_that_binds(name)
        if scope is None or (isinstance(scope, ast.Module) and self._context.function_around(name) is not None):
            return False
        here = set(places_of(name, self._context))
        return all(
            self._reads(use)
            for use in names_within(name.id, scope, self._context)
            if isinstance(use.ctx, ast.Load)
            and use is not name
            and self._may_run_before(use, name)
            and here & set(places_of(use, self._context))
        )

    def _reads(self, use: ast.Name) -> bool:
        match self._context.parent(use):
            case ast.Call(func=function, args=[first, *_]) if first is use and self._names(function):
                if self._names(function) <= NAMES:  # makes an alias that is apart from the graph
                    return True
            case ast.List() | ast.Tuple() as several:
                match self._context.parent(several):
                    case ast.Call(func=function, args=[first, *_]) if first is several and self._names(function):
                        return self._names(function) <= _JOINING
        return is_read(use, self._context)

    def _may_run_before(self, use: ast.Name, name: ast.Name) -> bool:
        """Whether a use of a name may be run before what a name at another place is a part of."""
        context = self._context
        around = list(context.ancestors(name))
        whole: ast.expr = name
        for each in around:  # the whole expression, whose other parts may be evaluated first
            if isinstance(each, ast.stmt):
                break
            whole = each if isinstance(each, ast.expr) else whole
        if (
            context.function_around(use) is not context.function_around(name)
            or context.span(use)[0] < context.span(whole)[1]
        ):
            return True
        return any(isinstance(each, Loop) and each in around for each in context.ancestors(use))

    def _names(self, node: ast.expr) -> frozenset[str]:
        return names_of(node, self._context)


def _may_ask_for_gradient(keyword: ast.keyword) -> bool:
    match keyword:
        case ast.keyword(arg="requires_grad", value=ast.Constant(value=False)):
            return False
    return keyword.arg in (None, "requires_grad", "out")
