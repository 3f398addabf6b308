"""Which texts may change torch's defaults: legacy constructors and those that replace them follow them differently.

Read by their words alone: a default is global, so where the call stands in the project does not matter. What cannot be
told counts as set; but a name that a program is given from outside, as that of a dtype is, counts as no setter's.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from torchlint.inference.program.device_makers import enters_own, imported
from torchlint.inference.program.entered_contexts import Contexts, Elsewhere
from torchlint.inference.program.library_defaults import sets_dtype, sets_dtype_and_device
from torchlint.syntax.ast_index import AstIndex

DTYPE, DEVICE, TENSOR_TYPE = "default dtype", "default device", "default tensor type"
EVERY_DEFAULT = frozenset({DTYPE, DEVICE, TENSOR_TYPE})

_NAMED = re.compile(r"set_default_(dtype|device|tensor_type)\b|set_default_(?![a-zA-Z0-9])")
_NAMED_AT_ALL = re.compile(rb"set_default_(?:dtype|device|tensor_type|\W)")
_KINDS = {"dtype": DTYPE, "device": DEVICE, "tensor_type": TENSOR_TYPE}
_WITH = re.compile(rb"^[^\S\n]*(?:async[^\S\n]+)?with\b([^\n#]*)", re.MULTILINE)
_OPEN_CONTEXT = re.compile(rb"[^\n]*device|[^\n]*\)[.\[]|[^\S\n]*\(?[^\S\n]*(?:[\w.\[\]'\"]+[^\S\n]*(?:[,:]|as\b)|$)")
"""What behind a ``with`` may be a device: something with that word, a name, or a part of what a call gives."""
_DECORATOR = re.compile(rb"^[^\S\n]*@[^\n]*device", re.MULTILINE)
_TORCH = re.compile(rb"\bimport\s+torch\s+as\s+(\w+)")
_IMPORTED_BY_CALL = re.compile(rb"\b(\w+)\s*=[^\n=]*(?:import_module|__import__|modules)\s*[(\[]\s*[\"']torch[\"']")
"""The name that a text gives to torch's own module where it imports it by a call."""
_BUILT = rb"getattr\(\s*(?:%b)\s*,\s*(?![\"'][^\"'{}]*[\"']\s*[,)])|\b(?:%b)\.__dict__|\bvars\(\s*(?:%b)\s*\)"
"""Things of torch whose name is not written out, with torch's names in the place of each ``%b``."""
_SETTER = "set_default_"
_SETTERS = tuple(f"{_SETTER}{each}" for each in _KINDS)
_SETTING = (ast.With, ast.AsyncWith, ast.Call, ast.Attribute, ast.FunctionDef, ast.AsyncFunctionDef, ast.Constant)
"""Nodes that may enter a context, or take a setter from torch; the parts of a string need not stand together."""
_NAMING = (ast.Name, ast.alias)
"""Further nodes that name a setter, as it is spelled."""


@dataclass(frozen=True)
class Setters:
    """Which of torch's defaults a text may set: some of :data:`EVERY_DEFAULT`."""

    defaults: frozenset[str]
    entered: frozenset[Elsewhere] = frozenset()
    """What other texts must tell so that nothing else that it enters is a device."""


def setters(text: bytes, parse: Callable[[], AstIndex | None]) -> Setters:
    """Return which of torch's defaults a text may set.

    ``parse`` gives the text's tree, None where there is none; it is called only for text that needs it.
    """
    found = frozenset({DTYPE, DEVICE}) if sets_dtype_and_device(text, parse) else frozenset[str]()
    found |= {DTYPE} if sets_dtype(text, parse) else frozenset[str]()
    if not (b"set_default_" in text and _NAMED_AT_ALL.search(text)) and not _speaks_of_contexts(text):
        return Setters(found)
    index = parse()
    if index is None:
        return Setters(found | EVERY_DEFAULT)
    file, kinds = _File(index), (*_SETTING, *(_NAMING if _SETTER.encode() in text else ()))
    set_here = {each for kind in kinds for node in index.nodes(kind) for each in file.sets(node)}
    return Setters(found | set_here, frozenset(file.entered))


def defaults_set(
    text: bytes, index: AstIndex | None, enters_device: Callable[[frozenset[Elsewhere]], bool]
) -> frozenset[str]:
    """Return which of torch's defaults a file may set; ``enters_device`` asks other texts what theirs give to enter."""
    found, own = setters(text, lambda: index), enters_own(text, lambda: index)
    return found.defaults | ({DEVICE} if own or enters_device(found.entered) else set())


def _speaks_of_contexts(text: bytes) -> bool:
    if b"torch" not in text:
        return False
    if b"__enter__" in text or b"enter_context(" in text or (b"device" in text and _DECORATOR.search(text)):
        return True
    return any(_OPEN_CONTEXT.match(each) for each in _WITH.findall(text)) or _builds_names(text)


def _builds_names(text: bytes) -> bool:
    if not any(each in text for each in (b"getattr(", b"__dict__", b"vars(")):
        return False
    names = b"|".join([b"torch", *_TORCH.findall(text), *_IMPORTED_BY_CALL.findall(text)])
    return re.search(_BUILT % (names, names, names), text) is not None


class _File:
    """What one file's names stand for, as far as contexts and torch's own module go."""

    def __init__(self, index: AstIndex) -> None:
        self._index = index
        by_call = (each.decode() for each in _IMPORTED_BY_CALL.findall(index.source.utf8))
        self._modules = {**dict(imported(index)), **dict.fromkeys(by_call, "torch")}
        self._contexts = Contexts(index)
        self.entered: set[Elsewhere] = set()
        """What other texts must tell of what the nodes that were asked for enter."""

    @cached_property
    def _holds_fragments(self) -> bool:
        """Whether a string of the file may be what a setter's name begins with."""
        texts = (each.value for each in self._index.nodes(ast.Constant) if isinstance(each.value, str))
        return any(len(each) > 1 and _SETTER.startswith(each) for each in texts)

    def sets(self, node: ast.AST) -> frozenset[str]:
        """Return which defaults a node may set."""
        match node:
            case ast.With(items=items) | ast.AsyncWith(items=items):
                return self._entered(each.context_expr for each in items)
            case ast.Call(func=ast.Attribute(attr="enter_context"), args=[context, *_]):
                return self._entered([context])
            case ast.Attribute(value=ast.Call(func=ast.Name(id="type"), args=[context]), attr="__enter__"):
                return self._entered([context])
            case ast.Attribute(value=context, attr="__enter__"):
                is_asked = isinstance(self._index.parents.get(node), ast.Attribute)  # of a mock, what it gives
                return frozenset() if is_asked else self._entered([context])
            case ast.FunctionDef(decorator_list=several) | ast.AsyncFunctionDef(decorator_list=several):
                return self._entered(each for each in several if isinstance(each, ast.Call))
            case ast.Attribute(attr=word) | ast.Name(id=word) | ast.alias(name=word) if _SETTER in word:
                return _named(word)
            case ast.Constant(value=str(word)) if _SETTER in word:
                prose = isinstance(self._index.parents.get(node), ast.Expr)
                return frozenset() if prose else _named(word)
        return EVERY_DEFAULT if self.builds_a_name(node) else frozenset()

    def _entered(self, contexts: Iterable[ast.expr]) -> frozenset[str]:
        found = [self._contexts.of(each) for each in contexts]
        self.entered.update(*(each for each in found if each is not None))
        return frozenset({DEVICE}) if None in found else frozenset()

    # ------------------------------------------------------------------ names built at run time
    def builds_a_name(self, node: ast.AST) -> bool:
        """Whether an expression takes something from torch whose name is not written out and may be a setter's."""
        match node:
            case ast.Call(func=ast.Name(id="getattr"), args=[module, key, *_]) if self._is_torch(module):
                if self._is_called_for_its_effect(node):
                    return not isinstance(key, ast.Constant)
                if not _holds_text(key) and not self._holds_fragments:
                    return False
                may_name = _may_begin_as_setter(key) and _may_end_as_setter(key)
                return may_name and not self._is_taken_for_a_value(node)
            case ast.Call(func=ast.Name(id="vars"), args=[module]) | ast.Attribute(value=module, attr="__dict__"):
                return self._is_torch(module) and not self._is_asked_by_name(node)
        return False

    def _is_called_for_its_effect(self, node: ast.AST) -> bool:
        """Whether a statement calls what an expression gives, and nobody takes the result: setters have none."""
        call = self._index.call_of(node)
        return call is not None and isinstance(self._index.parents.get(call), ast.Expr)

    def _is_asked_by_name(self, node: ast.AST) -> bool:
        """Whether a dictionary is asked for a name that is written out: that is found by its words."""
        above = self._index.parents.get(node)
        match above, above and self._index.parents.get(above):
            case ast.Subscript(slice=ast.Constant()), _:
                return True
            case ast.Attribute(attr="get"), ast.Call(args=[ast.Constant(), *_]) as call:
                return call.func is above
            case ast.Compare(left=ast.Constant(), ops=[ast.In() | ast.NotIn()]), _:
                return True
        return False

    def _is_torch(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and self._modules.get(node.id) == "torch"

    def _is_taken_for_a_value(self, node: ast.AST) -> bool:
        """Whether what is taken goes where a dtype goes: a setter would be of no use there."""
        match self._index.parents.get(node):
            case ast.keyword(arg=str(word)):
                return "dtype" in word
            case ast.Assign(targets=[ast.Name(id=word) | ast.Attribute(attr=word)]):
                return "dtype" in word
            case ast.Assign(targets=[ast.Subscript(slice=ast.Constant(value=str(word)))]):
                return "dtype" in word
            case ast.Compare() | ast.FormattedValue() | ast.Attribute():
                return True
            case ast.Call(func=ast.Attribute(attr="to" | "type" | "astype") as function):
                return function is not node
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass" | "str" | "repr")):
                return True
        return False


_TAKING = frozenset("get pop replace removeprefix removesuffix split rsplit partition strip lower upper".split())
"""Methods that are given no part of the string that they give."""


def _holds_text(key: ast.expr) -> bool:
    """Whether an expression for a name has parts of it in its own words; what it is looked up by is none."""
    match key:
        case ast.Constant():
            return True
        case ast.Subscript(value=inner) | ast.Attribute(value=inner):
            return _holds_text(inner)
        case ast.Call(func=ast.Attribute(value=inner, attr=word)) if word in _TAKING:
            return _holds_text(inner)
    return any(_holds_text(each) for each in ast.iter_child_nodes(key) if isinstance(each, ast.expr))


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


def _may_end_as_setter(key: ast.expr) -> bool:
    """Whether a string that is built may be the name of a setter, by what it ends with."""
    match key:
        case (
            ast.JoinedStr(values=[*_, ast.Constant(value=str(text))])
            | ast.BinOp(op=ast.Add(), right=ast.Constant(value=str(text)))
        ):
            return any(each.endswith(text) or text.endswith(each) for each in _SETTERS)
    return True


def _named(text: str) -> frozenset[str]:
    """Return which setters a word or a string names; one that is cut off may become any."""
    found: set[str] = set()
    for match in _NAMED.finditer(text):
        found |= {_KINDS[match[1]]} if match[1] else EVERY_DEFAULT
    return frozenset(found)
