"""Whether it makes no difference to a statement that it runs under ``torch.no_grad()``.

Code of the project that runs there would record no graph: what a generator, an object of its own or a function that is
handed over computes. So all that the statement calls, iterates over and reckons with must be known.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable

from torchlint.rules.api import LEGACY_DTYPES, FileContext, Kind, arguments_of, leaf, operations
from torchlint.rules.data.other_operands import operator_methods
from torchlint.rules.evidence.local_bindings import bindings_of
from torchlint.rules.evidence.tensor_proof import is_proven
from torchlint.rules.evidence.tensor_uses import CALLING_BACK

_PLAIN = ~(Kind.MODULE | Kind.OTHER)
_OF_NUMBERS = _PLAIN & ~Kind.SEQUENCE
"""What Python, torch and NumPy make, and of these what is no list and no generator."""
_GRADED = re.compile(
    r"torch\.(autograd\.(?!Variable$|variable\.)|func\.|utils\.(checkpoint|hooks)\.|jit\.|_functorch\.|"
    r"(is_grad_enabled|set_grad_enabled|enable_grad|no_grad|inference_mode|is_inference_mode_enabled|vmap|cond|"
    r"compile)$)"
)
"""Names of torch that ask for grad mode, turn it on or off, or call a function that they are given."""
_STATE = frozenset("requires_grad grad_fn is_leaf retains_grad output_nr".split())
_GRADED_METHODS = _STATE | CALLING_BACK | {"backward", "register_hook", "retain_grad", "requires_grad_", "is_inference"}
"""Attributes and methods of tensors that tell of a graph or need one, or call a function that they are given."""

_NUMBER = ("__float__", "__index__", "__int__", "__trunc__", "__floor__", "__ceil__")
_ELEMENT = ("__len__", "__getitem__", "__iter__", "__array__", "__dlpack__", *_NUMBER)
_TRUTH = ("__bool__", "__len__")
_BUILTINS: dict[str, tuple[str, ...]] = {
    "float": _NUMBER,
    "int": _NUMBER,
    "len": ("__len__",),
    "abs": ("__abs__",),
    "round": ("__round__",),
    "bool": _TRUTH,
    "range": _NUMBER,
    "isinstance": ("__instancecheck__",),
    "hasattr": ("__getattr__", "__getattribute__"),
    "min": ("__lt__", "__gt__"),
    "max": ("__lt__", "__gt__"),
    "sum": ("__add__", "__radd__"),
    "list": (),
    "tuple": (),
}
"""The built-in functions that may stand in a moved statement, and the methods that they call of what they are given."""
_ITERATING = frozenset("min max sum list tuple".split())
_ITERATING_OF_MATH = frozenset("prod fsum dist sumprod".split())
_TAKING_DATA = re.compile(
    r"torch\.(tensor|as_tensor|asarray|frombuffer|from_dlpack|Size|sparse_\w+)$|torch\.nn\.utils\."
)
"""Functions of torch that look into what they are given, whatever sort of sequence it is."""
_TAKING_FUNCTIONS = frozenset(
    "vectorize apply_along_axis apply_over_axes fromfunction frompyfunc piecewise fromiter fromregex".split()
)
_LISTS = frozenset(f"builtins.{word}" for word in "list tuple set frozenset dict sorted range str".split())
_HANDING_ON = frozenset(f"builtins.{word}" for word in "zip enumerate reversed iter".split())
_DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp, ast.Constant)
_UNARY: dict[type[ast.unaryop], tuple[str, ...]] = {
    ast.USub: ("__neg__",),
    ast.UAdd: ("__pos__",),
    ast.Invert: ("__invert__",),
    ast.Not: _TRUTH,
}
Question = Callable[[ast.expr], bool]
_MOST = 30
"""Expressions that are followed back for one question."""


def asks_for_grad_mode(names: frozenset[str]) -> bool:
    """Whether something of torch works in another way under ``no_grad``, or calls a function that it is given."""
    return any(_GRADED.match(each) for each in names)


def is_function_of_torch(name: str) -> bool:
    """Whether a function or class of torch's calls nothing that it is given, and cares for no grad mode."""
    if _GRADED.match(name):
        return False
    table = operations()
    known = name in table.functions or name in table.factories or name.startswith("torch.nn.init.")
    return known or leaf(name) in {*LEGACY_DTYPES, "Tensor", "Size", "Parameter", "Variable", "device"}


def runs_known_code(node: ast.AST, sites: Iterable[ast.AST], context: FileContext) -> bool:
    """Whether all that some code runs is torch's, NumPy's and Python's own.

    ``sites`` are the `.data` in it that are known to be those of tensors.
    """
    code = _Code(frozenset(sites), context)
    return all(code.is_known(each) for each in context.within(node))


def is_known_test(test: ast.AST | None, context: FileContext) -> bool:
    """Whether all that a test runs is known, the question among it whether it holds."""
    if not isinstance(test, ast.expr):
        return False
    return runs_known_code(test, (), context) and _Code(frozenset(), context).is_plain_truth(test)


class _Code:
    """What is asked of the parts of one statement."""

    def __init__(self, sites: frozenset[ast.AST], context: FileContext) -> None:
        self._sites = sites
        self._context = context
        self._left = _MOST
        self._asked: set[ast.AST] = set()

    def is_known(self, node: ast.AST) -> bool:
        """Whether what a node itself does is known; its parts are asked on their own."""
        match node:
            case ast.Call():
                return self._is_known_call(node)
            case ast.Attribute(value=owner, attr=word, ctx=ast.Load()):
                return self._is_plain_read(node, owner, word)
            case ast.comprehension(iter=source) | ast.Starred(value=source) | ast.keyword(arg=None, value=source):
                return self._gives_items(source)
            case ast.Await() | ast.Yield() | ast.YieldFrom() | ast.Lambda() | ast.NamedExpr() | ast.GeneratorExp():
                return False
        return self._is_known_operator(node)

    def is_plain_truth(self, test: ast.expr) -> bool:
        """Whether it is told by Python, torch or NumPy whether a test holds."""
        return self._none_answers((test,), _TRUTH)

    def _is_known_operator(self, node: ast.AST) -> bool:
        match node:
            case ast.BinOp(left=left, op=op, right=right) | ast.AugAssign(target=left, op=op, value=right):
                return self._none_answers((left, right), operator_methods(op))
            case ast.Compare(left=left, ops=ops, comparators=others):
                words = (word for each in ops for word in operator_methods(each))
                return self._none_answers((left, *others), tuple(words))
            case ast.UnaryOp(op=op, operand=inner):
                return self._none_answers((inner,), _UNARY[type(op)])
            case ast.BoolOp(values=values):
                return self._none_answers(values, _TRUTH)
            case ast.IfExp(test=test):
                return self._none_answers((test,), _TRUTH)
            case ast.FormattedValue(value=value):
                return self._none_answers((value,), ("__format__", "__str__", "__repr__"))
        return True

    def _none_answers(self, nodes: Iterable[ast.expr], words: tuple[str, ...]) -> bool:
        """Whether none of some values answers by a method of the project's own."""
        return all(self._is_plain(each) for each in nodes) or not self._are_defined(words)

    def _are_defined(self, words: tuple[str, ...]) -> bool:
        return any(map(self._context.is_defined, words))

    # ------------------------------------------------------------------ values
    def _is_plain(self, node: ast.expr) -> bool:
        """Whether a value is one of Python's, torch's or NumPy's own sorts."""
        match node:
            case ast.JoinedStr() | ast.GeneratorExp():
                return True
            case ast.BinOp(left=left, right=right):
                return self._is_plain(left) and self._is_plain(right)
            case ast.UnaryOp(operand=inner):
                return self._is_plain(inner)
            case ast.Compare(left=left, ops=ops, comparators=others):
                told = all(isinstance(each, ast.Is | ast.IsNot | ast.In | ast.NotIn) for each in ops)
                return told or (self._is_plain(left) and all(map(self._is_plain, others)))
            case ast.BoolOp(values=values):
                return all(map(self._is_plain, values))
            case ast.Call(func=function) if self._is_of_math(function):
                return True
        return isinstance(node, _DISPLAYS) or self._is_of(node, _PLAIN) or self._are_bound(node, self._is_plain)

    def _is_of_math(self, function: ast.expr) -> bool:
        names = self._context.names(function)
        return bool(names) and all(each.startswith("math.") for each in names)

    def _is_of(self, node: ast.expr, kind: Kind) -> bool:
        """Whether a value is of one of some kinds, shown and not only claimed by an annotation."""
        if node in self._sites:
            return True
        known = self._context.value(node)
        if not known.must(kind):
            return False
        return not known.claimed or (known.must(Kind.TENSOR | Kind.NONE) and is_proven(node, self._context))

    def _are_bound(self, node: ast.expr, asked: Question) -> bool:
        """Whether something holds of all that a name is bound to."""
        if not isinstance(node, ast.Name) or self._left <= 0 or node in self._asked:
            return False
        self._left -= 1
        self._asked.add(node)
        bound = bindings_of(node, self._context)
        found = bool(bound) and all(not each.depth and asked(each.value) for each in bound)
        self._asked.discard(node)
        return found

    def _gives_items(self, node: ast.expr) -> bool:
        """Whether what is iterated over runs no code of the project's for it: a list does not, a generator may."""
        if isinstance(node, _DISPLAYS) or self._is_of(node, _OF_NUMBERS):
            return True
        match node:
            case ast.Call():
                return self._call_gives_items(node)
            case ast.IfExp(body=one, orelse=other):
                return self._gives_items(one) and self._gives_items(other)
            case ast.BinOp(left=left, right=right):
                return self._gives_items(left) and self._is_plain(right)
            case ast.Subscript(value=inner, slice=ast.Slice()):
                return self._gives_items(inner)
        return self._are_bound(node, self._gives_items)

    def _call_gives_items(self, call: ast.Call) -> bool:
        names = self._context.names(call.func)
        if names:
            if names <= _HANDING_ON:
                return all(self._gives_items(each) for each in call.args)
            return names <= _LISTS or all(each.startswith("torch.") and is_function_of_torch(each) for each in names)
        match call.func:
            case ast.Attribute(value=receiver, attr="items" | "keys" | "values"):
                return self._gives_items(receiver)
            case ast.Attribute(value=receiver, attr=word):
                return self._is_of(receiver, _OF_NUMBERS) or (word == "copy" and self._gives_items(receiver))
        return False

    def _is_data(self, node: ast.expr) -> bool:
        """Whether torch and NumPy run nothing of the project's to make a tensor or an array of a value."""
        match node:
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                return all(self._is_data(each) for each in elements)
            case ast.Starred():
                return self._gives_items(node.value) and not self._are_defined(_ELEMENT)
            case ast.ListComp(elt=element):
                return self._is_data(element)
        if self._is_of(node, _OF_NUMBERS):
            return True
        return (self._is_plain(node) or self._gives_items(node)) and self._holds_data(node)

    def _holds_data(self, node: ast.expr) -> bool:
        """Whether a list holds data all the way down, or no class of the project may be asked for some."""
        known = self._context.value(node)
        if not known.may(Kind.SEQUENCE):
            return True
        return self._gives_items(node) and (known.element().must(_OF_NUMBERS) or not self._are_defined(_ELEMENT))

    # ------------------------------------------------------------------ attributes and calls
    def _is_plain_read(self, node: ast.Attribute, owner: ast.expr, word: str) -> bool:
        """Whether an attribute is read without code of the project's; all but `data` is asked for elsewhere."""
        if word in _STATE:  # of a result, it tells whether that was recorded
            return not self._context.inside(owner, ast.Call, ast.BinOp, ast.UnaryOp)
        if word != "data" or node in self._sites or self._is_of(owner, Kind.TENSOR):
            return True
        return not self._context.is_defined(word)

    def _is_known_call(self, call: ast.Call) -> bool:
        names = self._context.names(call.func)
        if names:
            return all(self._is_known_function(each, call) for each in names)
        match call.func:
            case ast.Attribute(value=receiver, attr=word):
                return self._is_known_method(receiver, word, call)
        return False

    def _is_known_function(self, name: str, call: ast.Call) -> bool:
        given = arguments_of(call)
        package, _, word = name.partition(".")
        match package:
            case "builtins":
                return self._is_known_builtin(word, call)
            case "math":
                lists = word in _ITERATING_OF_MATH
                return self._none_answers(given, _NUMBER) and (not lists or all(map(self._gives_items, given)))
            case "numpy" | "random":
                return leaf(name) not in _TAKING_FUNCTIONS and all(self._is_data(each) for each in given)
            case "torch":
                return is_function_of_torch(name) and (
                    not _takes_data(name) or all(self._is_data(each) for each in given)
                )
        return False

    def _is_known_builtin(self, word: str, call: ast.Call) -> bool:
        if word not in _BUILTINS or any(each.arg not in ("default", "start") for each in call.keywords):
            return False
        words = _BUILTINS[word]
        if word in _ITERATING and len(call.args) == 1:
            (source,) = call.args
            return self._gives_items(source) and (self._is_data(source) or not self._are_defined(words))
        return self._none_answers(call.args, words)

    def _is_known_method(self, receiver: ast.expr, word: str, call: ast.Call) -> bool:
        """Whether a method is one of a tensor, an array, a list or a text.

        Of what is not known it is believed where no class of the project has a method of that name.
        """
        if word in _GRADED_METHODS or any(each.arg == "key" for each in call.keywords):
            return False
        if word in ("new", "new_tensor") and not all(self._is_data(each) for each in call.args):
            return False
        if self._is_plain(receiver):
            return True
        return word in operations().methods and not self._are_defined((word,))


def _takes_data(name: str) -> bool:
    return bool(_TAKING_DATA.match(name)) or leaf(name) in LEGACY_DTYPES or leaf(name) == "Tensor"
