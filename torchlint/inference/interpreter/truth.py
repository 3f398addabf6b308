"""Whether a test is decided by what is known: a branch that cannot be taken leaves nothing behind it.

Only what a name of the function itself is bound to decides, and what a tensor is: names of the module are switches for
whoever runs it, and attributes of objects are set from elsewhere.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torchlint.facts.value import Device, Dtype, Grad, Kind, Value
from torchlint.inference.interpreter.environment import Env
from torchlint.inference.models.builtins import STRING_METHODS
from torchlint.inference.models.devices import place_named
from torchlint.inference.models.operations import leaf
from torchlint.inference.models.tensors import dtype_bits
from torchlint.syntax.places import elements_of

_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], object]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
"""What the operators that compare two values compute."""
_NUMBERS = Kind.INTEGER | Kind.SCALAR
_TYPES: dict[str, Kind] = {
    "torch.Tensor": Kind.TENSOR,
    "torch.Size": Kind.SIZE,
    "torch.device": Kind.DEVICE,
    "torch.dtype": Kind.DTYPE,
    "torch.nn.Module": Kind.MODULE,
    "numpy.ndarray": Kind.ARRAY,
    "builtins.str": Kind.STRING,
    **{f"builtins.{word}": Kind.SEQUENCE | Kind.SIZE for word in ("list", "tuple", "dict", "set")},
    **{f"builtins.{word}": _NUMBERS for word in ("int", "float", "bool", "complex")},
    "numbers.Number": _NUMBERS,
}
"""Classes, and the kinds of all that may be an object of them."""

_ONE_CLASS = frozenset({"torch.Tensor", "torch.nn.Module", "numpy.ndarray"})
"""Classes of which everything of a kind is an object."""

_TENSORS_HAVE = frozenset(["detach", "cpu", "requires_grad", "grad_fn", "is_cuda", "backward", "numpy"])
_BARE = Kind.ARRAY | Kind.SEQUENCE | _NUMBERS | Kind.STRING | Kind.NONE
"""Kinds whose objects have none of a tensor's words that are asked for."""


@dataclass(frozen=True)
class Truth:
    """Decides tests that were evaluated already; ``values`` holds what was found."""

    values: dict[ast.expr, Value]
    is_open: Callable[[str, Env], bool]
    """Tells of a name whether something else than the walk so far may decide what it is."""

    def of(self, test: ast.expr, env: Env) -> bool | None:
        """Return whether a test holds; None where that is not known."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                held = self.of(inner, env)
                return None if held is None else not held
            case ast.BoolOp(op=ast.And(), values=parts):
                return self._all([self.of(part, env) for part in parts], True)
            case ast.BoolOp(op=ast.Or(), values=parts):
                return self._all([self.of(part, env) for part in parts], False)
            case ast.Compare(left=left, ops=[asked], comparators=[right]):
                return self._compared(left, asked, right, env)
            case ast.Attribute(value=subject, attr=word):
                return self._flag(self._known(subject), word)
            case ast.Call():
                return self._call(test, env)
            case ast.NamedExpr(value=inner):
                return self.of(inner, env)
            case ast.Name() | ast.IfExp():
                return truth(self._bound(test, env))
        return None

    @staticmethod
    def _all(parts: list[bool | None], wanted: bool) -> bool | None:
        """Return the truth of ``and`` (``wanted`` is True) or ``or`` of some parts."""
        if any(part is (not wanted) for part in parts):
            return not wanted
        return None if None in parts else wanted

    def _known(self, node: ast.expr) -> Value | None:
        value = self.values.get(node)
        return value if value is not None and value.kind else None

    def _bound(self, node: ast.expr, env: Env) -> Value | None:
        """Return what is known of an expression that only names of the function itself are in; None for any other."""
        match node:
            case ast.Constant():
                return self._known(node)
            case ast.Name(id=word) if env.find(word) is not None and not self.is_open(word, env):
                return self._known(node)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
                return self._known(node)
            case ast.Tuple(elts=parts) | ast.List(elts=parts) if all(isinstance(each, ast.Constant) for each in parts):
                return self._known(node)
            case ast.IfExp(body=one, orelse=other) if self._bound(one, env) and self._bound(other, env):
                return self._known(node)
            case ast.Call(func=ast.Attribute(value=subject, attr=word), args=parts) if word in STRING_METHODS:
                if self._bound(subject, env) and all(self._bound(each, env) for each in parts):
                    return self._known(node)
        return None

    # ------------------------------------------------------------------ forms of tests
    def _compared(self, left: ast.expr, asked: ast.cmpop, right: ast.expr, env: Env) -> bool | None:
        """Return whether a comparison holds; None where that is not known."""
        if isinstance(asked, ast.Is | ast.IsNot | ast.Eq | ast.NotEq):
            same = self._same(left, right, isinstance(asked, ast.Is | ast.IsNot), env)
            if same is not None:
                return same is isinstance(asked, ast.Is | ast.Eq)
        one, other = self._bound(left, env), self._bound(right, env)
        if one is None or other is None or one.const is None:
            return None
        if isinstance(asked, ast.In | ast.NotIn) and other.items is not None and other.must(Kind.SEQUENCE):
            if any(each.const is None for each in other.items):
                return None
            return (one.const in [each.const for each in other.items]) is isinstance(asked, ast.In)
        if isinstance(asked, ast.In | ast.NotIn) and isinstance(one.const, str) and isinstance(other.const, str):
            return (one.const in other.const) is isinstance(asked, ast.In)
        compare = _COMPARISONS.get(type(asked))
        if compare is None or other.const is None:
            return None
        try:
            return bool(compare(one.const, other.const))
        except TypeError:
            return None

    def _same(self, left: ast.expr, right: ast.expr, by_identity: bool, env: Env) -> bool | None:
        """Return whether two things are the same as far as that follows from what they are and not from constants."""
        if isinstance(right, ast.Constant) and right.value is None:
            value = self._bound(left, env)
            if value is None or not value.may(Kind.NONE):
                return None if value is None or (value.must(Kind.ARRAY | Kind.TENSOR) and not by_identity) else False
            return True if value.must(Kind.NONE) else None
        if isinstance(right, ast.Constant) and isinstance(right.value, bool):
            held = self.of(left, env) if self._is_flag(left) else None
            if held is None and (value := self._bound(left, env)) is not None and isinstance(value.const, bool):
                held = value.const
            return None if held is None else held is right.value
        match left:
            case ast.Attribute(value=subject, attr="dtype"):
                return _same_dtype(self._known(subject), self._known(right))
            case ast.Attribute(value=ast.Attribute(value=subject, attr="device"), attr="type"):
                return self._same_place(self._known(subject), right)
            case ast.Attribute(value=subject, attr="device"):
                return self._same_place(self._known(subject), right, may_differ_by_number=True)
        return None

    @staticmethod
    def _is_flag(node: ast.expr) -> bool:
        return isinstance(node, ast.Attribute | ast.Call | ast.Compare)

    def _same_place(self, subject: Value | None, right: ast.expr, may_differ_by_number: bool = False) -> bool | None:
        """Return whether a tensor is where a text or a device says: only the host is one place beyond doubt."""
        wanted = self._known(right)
        if subject is None or wanted is None or not subject.is_tensor or subject.device != Device.HOST:
            return None
        named = place_named(wanted.const) if isinstance(wanted.const, str) else wanted.device
        if named == Device.ACCELERATOR:
            return False
        if named == Device.HOST and (not may_differ_by_number or wanted.must(Kind.DEVICE)):
            return True
        return None

    @staticmethod
    def _flag(subject: Value | None, word: str) -> bool | None:
        if subject is None or not subject.is_tensor:
            return None
        if word in ("is_cuda", "is_mps", "is_xpu", "is_cpu") and subject.device == Device.HOST:
            return word == "is_cpu"
        if word == "requires_grad" and (subject.grad == Grad.DETACHED or not subject.dtype & Dtype.FLOATING):
            return False
        return None

    def _call(self, test: ast.Call, env: Env) -> bool | None:
        """Return whether a call that tests something holds; None where that is not known, and for other calls."""
        names = self.values[test.func].names if test.func in self.values else frozenset()
        if names == {"builtins.isinstance"} and len(test.args) == 2:
            return self._is_instance(self._bound(test.args[0], env), test.args[1])
        if names == {"torch.is_tensor"} and len(test.args) == 1:
            return _is_of(self._bound(test.args[0], env), {"torch.Tensor"})
        if names == {"builtins.hasattr"} and len(test.args) == 2:
            value, word = self._bound(test.args[0], env), getattr(test.args[1], "value", None)
            if value is not None and word in _TENSORS_HAVE:
                return True if value.is_tensor else False if value.must(_BARE) else None
        match test.func:
            case ast.Attribute(value=subject, attr="is_floating_point") if not test.args:
                value = self._known(subject)
                if value is not None and value.is_tensor and not value.dtype & Dtype.FLOATING:
                    return False
            case ast.Attribute(attr=word) if word in STRING_METHODS:
                return truth(self._bound(test, env))
        return None

    def _is_instance(self, value: Value | None, wanted: ast.expr) -> bool | None:
        types = elements_of(wanted)
        found = [self._known(each) for each in types]
        if any(each is None or len(each.names) != 1 for each in found):
            return None
        return _is_of(value, {next(iter(each.names)) for each in found if each is not None})


def _is_of(value: Value | None, types: set[str]) -> bool | None:
    """Return whether a value is an object of one of some classes, given by name."""
    if value is None or not types <= _TYPES.keys():
        return None
    may = sure = Kind(0)
    for name in types:
        may |= _TYPES[name]
        sure |= _TYPES[name] if name in _ONE_CLASS else Kind(0)
    if sure and value.must(sure):
        return True
    return False if not value.may(may | Kind.OTHER) else None


def _same_dtype(tensor: Value | None, wanted: Value | None) -> bool | None:
    """Return whether a tensor is of a dtype."""
    if tensor is None or wanted is None or not tensor.is_tensor or not wanted.must(Kind.DTYPE):
        return None
    if len(wanted.names) != 1:
        return None
    name = leaf(next(iter(wanted.names)))
    if tensor.exact is not None and name[-1:].isdigit() and tensor.exact[-1:].isdigit():
        return tensor.exact == name
    return None if tensor.dtype & dtype_bits(name) else False


def truth(value: Value | None) -> bool | None:
    """Return a value's truth; None where that is not known."""
    if value is None:
        return None
    if value.must(Kind.NONE):
        return False
    return bool(value.const) if value.const is not None and not value.may(Kind.TENSOR | Kind.NONE) else None
