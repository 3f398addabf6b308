"""Modules that a text gets hold of otherwise than by an import statement, and those that it hands to somebody."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.syntax.ast_index import AstIndex

ANY_MODULE = "*"
"""In the place of a module's name: one whose name is put together."""

NAMED_BY_TEXT = rb"\b(?:%b)\s*=[^=\n]*(?:import_module|__import__|\bmodules\[)"
"""A line that binds one of some words to such a module."""

_IMPORTING = frozenset({"import_module", "__import__"})
_READING = frozenset(
    "getattr hasattr setattr delattr vars dir id repr str type print isinstance issubclass callable len hash help "
    "reload getmembers getsource getsourcefile getfile getdoc ismodule signature object".split()
)
"""What is handed a module and sets nothing in it that is not told where it stands."""


def module_of(node: ast.expr) -> str | None:
    """Return the module that an expression gets by its text: `lib` of ``sys.modules["nets.lib"]``; None for others."""
    match node:
        case ast.Call(func=ast.Name(id=word) | ast.Attribute(attr=word), args=[name, *_]) if word in _IMPORTING:
            return _told(name)
        case ast.Subscript(value=ast.Name(id="modules") | ast.Attribute(attr="modules"), slice=name):
            return _told(name) if not isinstance(name, ast.Name) or name.id != "__name__" else None
    return None


def _told(name: ast.expr) -> str:
    if isinstance(name, ast.Constant) and isinstance(name.value, str):
        return name.value.rpartition(".")[2]
    return ANY_MODULE


def bound_by_text(index: AstIndex) -> Iterator[tuple[str, str]]:
    """Yield each name that is bound to a module which is got by its text, and the module."""
    bound = [(target, each.value) for each in index.nodes(ast.Assign) for target in each.targets]
    for target, value in (*bound, *((each.target, each.value) for each in index.nodes(ast.NamedExpr))):
        if isinstance(target, ast.Name) and (module := module_of(value)) is not None:
            yield target.id, module


def is_given_away(node: ast.AST, index: AstIndex) -> bool:
    """Whether something that stands for a module is handed to a function that may set attributes of it, or is kept."""
    above = index.parents.get(node)
    if isinstance(above, ast.keyword):
        node, above = above, index.parents.get(above)
    match above:
        case ast.Call(func=ast.Name(id=word) | ast.Attribute(attr=word)):
            return above.func is not node and word not in _READING
        case ast.Assign(value=value) | ast.Return(value=value) | ast.NamedExpr(value=value):
            return value is node
        case ast.Tuple() | ast.List() | ast.Dict() | ast.Call():
            return True
    return False
