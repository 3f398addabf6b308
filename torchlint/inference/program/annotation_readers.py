"""Which texts read annotations at run time, and which hand a function or a class on to whoever may."""

from __future__ import annotations

import ast
import re

from torchlint.syntax.ast_index import AstIndex

_READING = re.compile(
    rb"__annotations__|\bget_type_hints\b|\bget_annotations\b|\bsignature\(|\binspect\.signature\b"
    rb"|\bimport\b[^\n]*\bsignature\b|\bget(?:full)?argspec\b|\bsingledispatch|\bdataclass\(\s*[\w.]+\s*[,)]"
    rb"|\battrs?\.\w+\(\s*[\w.]+\s*[,)]|\b(?:typeguard|beartype|pydantic|typer|jsonargparse|LightningCLI"
    rb"|multipledispatch|plum|fastapi|injector)\b"
)
"""Python's own ways to annotations, and libraries that are there to read them."""
_WORDS = (
    *(b"__annotations__", b"get_type_hints", b"get_annotations", b"signature", b"argspec", b"singledispatch"),
    *(
        b"dataclass(",
        b"attr.",
        b"attrs.",
        b"typeguard",
        b"beartype",
        b"pydantic",
        b"typer",
        b"jsonargparse",
        b"LightningCLI",
    ),
    *(b"multipledispatch", b"plum", b"fastapi", b"injector"),
)
"""One of them is in whatever that matches: a text is looked through for a word in no time."""
_TYPE_CHECKS = ("isinstance", "issubclass", "super")


def reads_annotations(text: bytes) -> bool:
    """Whether a text reads annotations of something, or brings a library that does."""
    return any(each in text for each in _WORDS) and _READING.search(text) is not None


def hands_on(index: AstIndex, word: str) -> bool:
    """Whether a text gives a function or a class of a name to somebody, and does not only call it."""
    loaded = [
        *(each for each in index.nodes(ast.Name) if each.id == word and isinstance(each.ctx, ast.Load)),
        *(each for each in index.nodes(ast.Attribute) if each.attr == word and isinstance(each.ctx, ast.Load)),
    ]
    return any(_is_given(each, index) for each in loaded) or any(
        isinstance(each.value, str) and each.value.rpartition(".")[2] == word and not _is_listed(each, index)
        for each in index.nodes(ast.Constant)
    )


def _is_given(node: ast.expr, index: AstIndex) -> bool:
    """Whether a name stands for the thing itself: not where it is called, derived from or asked for as a type."""
    above = index.parents.get(node)
    match above:
        case ast.Call(func=function) if function is node:
            return False
        case ast.Call(func=ast.Name(id=word)) if word in _TYPE_CHECKS:
            return False
        case ast.Attribute(attr=word):
            return word.startswith("__")
        case ast.ClassDef() | ast.arg() | ast.AnnAssign():
            return getattr(above, "value", None) is node
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return False
    return True


def _is_listed(node: ast.Constant, index: AstIndex) -> bool:
    """Whether a name is one of those in ``__all__``."""
    match index.parents.get(index.parents.get(node, node)):
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
    return False
