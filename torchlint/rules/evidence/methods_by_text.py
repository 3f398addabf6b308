"""Which methods a file may take from an object, or from its class, without writing them as attributes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.rules.api import FileContext, remembered
from torchlint.rules.evidence.called_definitions import Definitions

_ANY_NAME = "*"
_ASKING = frozenset({"attrgetter", "methodcaller"})
_ANSWERING = frozenset({"__getattr__", "__getattribute__"})
_RUNNING = frozenset({"eval", "exec"})
_WORD = re.compile(r"\w+")


def may_be_taken_by_text(method: str, context: FileContext) -> bool:
    """Whether a file may reach a method by its text: ``getattr(net, "reset")``, ``vars(Net)``, ``eval(code)``."""
    return not _words(context.tree, context).isdisjoint({method, _ANY_NAME})


@remembered
def _words(_: ast.Module, context: FileContext) -> frozenset[str]:
    """Return the words that may be taken as methods; `*` where a name is built at run time."""
    found = {word for each in context.nodes(ast.MatchClass) for word in each.kwd_attrs}
    if any(_gives_all(each, context) for each in context.attributes_by_word().get("__dict__", ())):
        found.add(_ANY_NAME)
    for call in context.nodes(ast.Call):
        found.update(_taken(call, context))
    return frozenset(found)


def _gives_all(space: ast.Attribute, context: FileContext) -> bool:
    """Whether ``net.__dict__`` is asked for what is not told, or is that of a class, which holds its methods."""
    return isinstance(context.parent(space), ast.Subscript) or _is_class(space.value, context)


def _taken(call: ast.Call, context: FileContext) -> Iterator[str]:
    """Yield the words that a call may take from an object."""
    match call:
        case ast.Call(func=ast.Name(id="getattr"), args=[ast.Name(id=word), _, *_]) if (
            word not in context.bound_otherwise
        ):
            pass  # something of a module that is imported
        case ast.Call(func=ast.Name(id="getattr"), args=[_, key, *_]):
            yield from _told(key)
        case ast.Call(func=ast.Name(id=word) | ast.Attribute(attr=word), args=keys) if word in _ASKING:
            for each in keys if word == "attrgetter" else keys[:1]:
                yield from _told(each)
        case ast.Call(func=ast.Attribute(attr=word), args=[*_, key]) if word in _ANSWERING:
            if not _hands_on(call, context):
                yield from _told(key)
        case ast.Call(func=ast.Name(id=word), args=[code, *_]) if word in _RUNNING:
            yield from _words_of(code, context)
        case ast.Call(func=ast.Name(id="vars"), args=[owner]):
            if _is_class(owner, context):
                yield _ANY_NAME
        case ast.Call(func=ast.Name(id="getmembers") | ast.Attribute(attr="getmembers"), args=[owner, *_]):
            if not _is_module(owner, context):
                yield _ANY_NAME


def _told(key: ast.expr) -> list[str]:
    """Return the words of a dotted name that is written out: ``"net.reset"``."""
    return key.value.split(".") if isinstance(key, ast.Constant) and isinstance(key.value, str) else [_ANY_NAME]


def _hands_on(call: ast.Call, context: FileContext) -> bool:
    """Whether an object is asked for what it is asked for itself: ``super().__getattr__(name)``."""
    around = context.function_around(call)
    return around is not None and around.name in _ANSWERING


def _words_of(code: ast.expr, context: FileContext) -> Iterator[str]:
    """Yield the words of code that is run: where it is not written out, those of all texts of the file."""
    is_told = isinstance(code, ast.Constant)
    for each in [code] if is_told else context.nodes(ast.Constant):
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and len(each.value) < _LONGEST:
            yield from _WORD.findall(each.value)


_LONGEST = 500
"""Longer texts are prose."""


def _is_class(node: ast.expr, context: FileContext) -> bool:
    """Whether an expression is a class, whose namespace holds its methods: ``vars(Net)``, ``type(net).__dict__``."""
    match node:
        case ast.Name(id=word):
            return word == "cls" or Definitions(context).class_here(node) is not None
        case ast.Call(func=ast.Name(id="type")) | ast.Attribute(attr="__class__"):
            return True
    return False


def _is_module(node: ast.expr, context: FileContext) -> bool:
    """Whether an expression is a module, as far as its form tells: ``sys.modules[__name__]``, an import."""
    return isinstance(node, ast.Subscript) or (isinstance(node, ast.Name) and node.id not in context.bound_otherwise)
