"""Which texts may change torch's defaults: legacy constructors and those that replace them follow them differently.

Read by their words alone: a default is global, so where the call stands in the project does not matter. What cannot be
told counts as set.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from torchlint.inference.frameworks import OTHERS

DTYPE, DEVICE, TENSOR_TYPE = "dtype", "device", "tensor type"
EVERY_DEFAULT = frozenset({DTYPE, DEVICE, TENSOR_TYPE})

_NAMED = re.compile(rb"set_default_(dtype|device|tensor_type)?")
_KINDS = {b"dtype": DTYPE, b"device": DEVICE, b"tensor_type": TENSOR_TYPE}
_LIBRARIES = re.compile(rb"\b(?:init_empty_weights|init_on_device|DeviceContext|init_module|zero\.Init)\b")
"""Contexts of libraries in which modules are made on another device, and by some with another dtype."""
_MAYBE = re.compile(
    rb"^[^\S\n]*(?:async[^\S\n]+)?with\b(?:[^\n#]*device|[^\S\n]*\(?[^\S\n]*(?:[\w.\[\]'\"]+[^\S\n]*(?:[,:]|as\b)|$))"
    rb"|\benter_context\(|\b__enter__\b|^[^\S\n]*@[^\n]*device|\bgetattr\(|\b__dict__\b|\bvars\(",
    re.MULTILINE,
)
"""Text for which the tree is worth its time: contexts that may be a device, names built at run time."""
_ONE_DEVICE = frozenset({"cuda", "xpu", "npu", "mps", "hpu", "mtia", "musa"})
"""``torch.cuda.device(1)`` says which GPU is meant, and leaves the default device alone."""
_SETTER = "set_default_"


def defaults_set(text: bytes, parse: Callable[[], ast.Module | None]) -> frozenset[str]:
    """Return which of torch's defaults a text may set: some of :data:`EVERY_DEFAULT`.

    ``parse`` gives the text's tree, None where there is none; it is called only for text that needs it.
    """
    found: set[str] = set()
    for match in _NAMED.finditer(text):
        found |= {_KINDS[match[1]]} if match[1] else EVERY_DEFAULT
    if _LIBRARIES.search(text):
        found |= {DTYPE, DEVICE}
    if b"torch" in text and _MAYBE.search(text) and (tree := parse()) is not None:
        found |= _by_tree(tree)
    return frozenset(found)


def _by_tree(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    file = _File(tree)
    for node in ast.walk(tree):
        match node:
            case ast.With(items=items) | ast.AsyncWith(items=items):
                entered = [each.context_expr for each in items]
            case ast.Call(func=ast.Attribute(attr="enter_context"), args=[context, *_]):
                entered = [context]
            case ast.Attribute(value=context, attr="__enter__"):
                entered = [context]
            case ast.FunctionDef(decorator_list=several) | ast.AsyncFunctionDef(decorator_list=several):
                entered = [each for each in several if isinstance(each, ast.Call)]
            case _:
                entered = []
                if file.builds_a_name(node):
                    found |= EVERY_DEFAULT
        if any(file.may_be_device(each) for each in entered):
            found.add(DEVICE)
    return found


class _File:
    """What one file's names stand for, as far as contexts and torch's own module go."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        self._modules = dict(_imported(tree))

    # ------------------------------------------------------------------ devices as contexts
    def may_be_device(self, node: ast.expr) -> bool:
        """Whether an expression that a ``with`` enters may be a ``torch.device``."""
        match node:
            case ast.Call(func=function):
                return self._makes_device(function)
            case ast.Name(id=word) | ast.Attribute(attr=word):
                values = list(self._bound_to(word))
                return not values or any(value is None or self._may_hold_device(value) for value in values)
            case ast.IfExp(body=one, orelse=other):
                return self.may_be_device(one) or self.may_be_device(other)
            case ast.BoolOp(values=several):
                return any(self.may_be_device(each) for each in several)
            case ast.NamedExpr(value=value):
                return self.may_be_device(value)
        return True

    def _makes_device(self, function: ast.expr) -> bool:
        words = _dotted(function)
        if not words or "device" not in words[-1].lower():
            return False
        above = self._modules.get(words[0], words[0]).split(".") + words[1:-1]
        return above[0] not in OTHERS and above[-1] not in _ONE_DEVICE

    def _may_hold_device(self, value: ast.expr) -> bool:
        match value:
            case ast.Constant():
                return False
            case ast.Call(func=ast.Name() | ast.Attribute() as function):
                return self._makes_device(function)
            case ast.IfExp(body=one, orelse=other):
                return self._may_hold_device(one) or self._may_hold_device(other)
        return True

    def _bound_to(self, word: str) -> Iterator[ast.expr | None]:
        """Yield what a name or an attribute of that name is bound to in the file; None for what is not told."""
        for node in ast.walk(self._tree):
            match node:
                case ast.Assign(targets=targets, value=value):
                    yield from (value if _names(each, word) else None for each in targets if _holds(each, word))
                case ast.AnnAssign(target=target, value=ast.expr() as value) if _names(target, word):
                    yield value
                case ast.NamedExpr(target=target, value=value) if _names(target, word):
                    yield value
                case ast.withitem(context_expr=value, optional_vars=ast.expr() as target) if _names(target, word):
                    yield value
                case ast.arg(arg=name) | ast.alias(asname=name) if name == word:
                    yield None
                case ast.For(target=target) | ast.comprehension(target=target) if _holds(target, word):
                    yield None

    # ------------------------------------------------------------------ names built at run time
    def builds_a_name(self, node: ast.AST) -> bool:
        """Whether an expression takes something from torch whose name is not written out and may be a setter's."""
        match node:
            case ast.Call(func=ast.Name(id="getattr"), args=[module, key, *_]) if self._is_torch(module):
                return _may_begin_as_setter(key) and not self._is_taken_for_a_value(node)
            case ast.Call(func=ast.Name(id="vars"), args=[module]) | ast.Attribute(value=module, attr="__dict__"):
                return self._is_torch(module)
        return False

    def _is_torch(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and self._modules.get(node.id) == "torch"

    def _is_taken_for_a_value(self, node: ast.AST) -> bool:
        """Whether what is taken goes where a dtype goes: a setter would be of no use there."""
        match self._parents.get(node):
            case ast.keyword(arg=str(word)):
                return "dtype" in word
            case ast.Assign(targets=[ast.Name(id=word) | ast.Attribute(attr=word)]):
                return "dtype" in word
            case ast.Compare() | ast.FormattedValue() | ast.Attribute():
                return True
            case ast.Call(func=ast.Attribute(attr="to" | "type" | "astype") as function):
                return function is not node
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass" | "str" | "repr")):
                return True
        return False


def _may_begin_as_setter(key: ast.expr) -> bool:
    """Whether a string that is built may be the name of a setter, by what it begins with."""
    match key:
        case ast.Constant():  # a name that is written out is found by its words
            return False
        case (
            ast.JoinedStr(values=[ast.Constant(value=str(text)), *_])
            | ast.BinOp(left=ast.Constant(value=str(text)))
            | ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format"))
        ):
            start = text.partition("%")[0].partition("{")[0]
            return _SETTER.startswith(start) or start.startswith(_SETTER)
        case ast.IfExp(body=one, orelse=other):
            return _may_begin_as_setter(one) or _may_begin_as_setter(other)
    return True


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield each name that an import binds, with the dotted name of what it stands for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield (alias.asname, alias.name) if alias.asname else (alias.name.partition(".")[0],) * 2
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module or ''}.{alias.name}"


def _dotted(node: ast.expr) -> list[str]:
    words: list[str] = []
    while isinstance(node, ast.Attribute):
        words.append(node.attr)
        node = node.value
    return [*([node.id] if isinstance(node, ast.Name) else [""] * bool(words)), *reversed(words)]


def _names(target: ast.expr, word: str) -> bool:
    match target:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name == word
    return False


def _holds(target: ast.expr, word: str) -> bool:
    return any(_names(each, word) for each in ast.walk(target) if isinstance(each, ast.expr))
