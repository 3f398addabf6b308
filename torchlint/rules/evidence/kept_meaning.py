"""Whether the names and attributes on which a value rests are bound by nothing but what is in sight."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

import libcst as cst

from torchlint.diagnostics.assumptions import NAME_IS_KEPT, Decision
from torchlint.rules.api import FileContext
from torchlint.rules.evidence.local_bindings import bindings_of
from torchlint.rules.evidence.object_attributes import attribute_values
from torchlint.rules.evidence.reached_by_text import may_be_bound_by_text

_MOST = 60
"""So many expressions are followed back; what lies behind them is another question."""
_PROJECTS = "here."


def keeps_its_meaning(function: cst.BaseExpression, context: FileContext) -> Decision:
    """Decide whether what is called still is what this file binds its name to: no other file binds that anew.

    Of a name that stands for a whole module (``torch``) this is not asked.
    """
    root = function
    while isinstance(root, cst.Attribute | cst.Subscript):
        root = root.value
    if (word := _taken_from_the_project(function, context)) is not None:
        return NAME_IS_KEPT.decided(context.other_texts.binds_in_modules(word), word)
    if not isinstance(root, cst.Name) or root is not function:
        return NAME_IS_KEPT.proven("it is taken from its module where it is used", context.code(function))
    return NAME_IS_KEPT.decided(_rebinding(root.value, context), root.value)


def _taken_from_the_project(function: cst.BaseExpression, context: FileContext) -> str | None:
    """Return the name by which a thing of torch is taken from a module that is not torch's; None for other names."""
    match function:
        case cst.Attribute(value=owner, attr=cst.Name(value=word)):
            is_own = isinstance(owner, cst.Name) and owner.value in ("self", "cls")
            names = context.names(owner)
            return None if is_own or (names and all(_is_torchs(each) for each in names)) else word
        case cst.Name(value=word):
            bound = [each for each in context.nodes(ast.ImportFrom) if _binds_name(each, word)]
            from_torch = all(each.level == 0 and _is_torchs(each.module or "") for each in bound)
            return None if from_torch and (bound or word in context.stores(context.tree)) else word
    return None


def _is_torchs(module: str) -> bool:
    return f"{module}.".startswith("torch.")


def _binds_name(node: ast.ImportFrom, word: str) -> bool:
    return any((each.asname or each.name) == word for each in node.names)


def torchs_own_is_kept(words: Iterable[str], context: FileContext) -> Decision:
    """Decide whether nobody binds something of torch's own anew: ``torch.tensor = logged``."""
    for word in words:
        if (doubt := context.other_texts.binds_in_torch(word)) is not None:
            return NAME_IS_KEPT.open(word, doubt)
    return NAME_IS_KEPT.proven("nobody binds it anew in torch")


def means_the_same(nodes: Iterable[cst.BaseExpression], context: FileContext) -> Decision:
    """Decide whether what some expressions rest on is bound by nothing that is not in sight.

    A name of the module may be bound anew by another file, an attribute of an object by whoever holds the object, and
    by a class below its own.
    """
    roots = _Roots(context)
    for node in nodes:
        found = context.python(node)
        if isinstance(found, ast.expr):
            roots.follow(found)
    for word, doubt in roots.doubts():
        if doubt is not None:
            return NAME_IS_KEPT.open(word, doubt)
    return NAME_IS_KEPT.proven("nothing binds anew what it rests on")


def _rebinding(word: str, context: FileContext) -> str | None:
    """Return who may bind a name of this module anew, other than by writing it here."""
    if may_be_bound_by_text(context.tree, context):
        return f"this file may bind `{word}` by its text"
    return context.other_texts.binds(word)


class _Roots:
    """The names of the module and the attributes of objects that are met on the way back from some expressions."""

    def __init__(self, context: FileContext) -> None:
        self._context = context
        self._seen: set[ast.expr] = set()
        self._names: dict[str, None] = {}
        self._attributes: dict[tuple[str, str], None] = {}
        self._of_modules: dict[str, None] = {}

    def follow(self, node: ast.expr) -> None:
        """Take what an expression is made of, and what that is bound to."""
        if node in self._seen or len(self._seen) >= _MOST:
            return
        self._seen.add(node)
        for each in self._context.within(node):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
                self._name(each)
            elif isinstance(each, ast.Attribute):
                self._attribute(each)

    def _name(self, node: ast.Name) -> None:
        context = self._context
        scope = context.scope_that_binds(node)
        if isinstance(scope, ast.Module):
            self._names[node.id] = None
        for bound in bindings_of(node, context) if scope is not None else ():
            self.follow(bound.value)
        if scope is not None or isinstance(context.parent(node), ast.Attribute):
            return
        if any(each.startswith(_PROJECTS) for each in context.qualified_names(node)) or self._is_defined(node.id):
            self._names[node.id] = None

    def _is_defined(self, word: str) -> bool:
        """Whether the module defines a function or a class of a name."""
        kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        return any(isinstance(each, kinds) and each.name == word for each in self._context.tree.body)

    def _attribute(self, node: ast.Attribute) -> None:
        context = self._context
        own = context.value_of_self(node.value)
        owners = own if own is not None else context.value(node.value)
        for name in (*owners.instance, *(each for each in owners.names if "@" in each)):
            self._attributes[_class_name(name), node.attr] = None
        if any(each.startswith(_PROJECTS) for each in context.qualified_names(node)):
            self._of_modules[node.attr] = None
        for value in attribute_values(node, context) if own is not None else ():
            self.follow(value)

    def doubts(self) -> Iterator[tuple[str, str | None]]:
        """Yield each name and attribute with who may bind it anew; None for nobody."""
        others = self._context.other_texts
        for word in self._names:
            yield word, _rebinding(word, self._context)
        for word in self._of_modules:
            yield word, others.binds_in_modules(word)
        for owner, word in self._attributes:
            if owner:
                yield word, others.overrides(owner, word) or others.binds_in_modules(word)


def _class_name(name: str) -> str:
    """Return ``Net`` of ``here.nets.Net@12``, and nothing for a class that is none of the project's."""
    return name.partition("@")[0].rpartition(".")[2] if name.startswith(_PROJECTS) else ""
