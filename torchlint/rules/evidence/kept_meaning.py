"""Whether the names and attributes on which a value rests are bound by nothing but what is in sight."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

import libcst as cst

from torchlint.diagnostics.assumptions import NAME_IS_KEPT, Decision
from torchlint.rules.api import FileContext, Kind, leaf
from torchlint.rules.evidence.local_bindings import bindings_of, names_of
from torchlint.rules.evidence.object_attributes import attribute_values, sets_out_of_sight
from torchlint.rules.evidence.reached_by_text import may_be_bound_by_text

_MOST = 60
"""So many expressions are followed back; what lies behind them is another question."""
_PROJECTS, _BUILTINS = "here.", "builtins."
_MOCKED = rb"(?:open|print|input|__import__|exit|quit|help|breakpoint)\b"
"""What tests put something else in the place of; no proof rests on these."""
_CHANGES_PYTHON = re.compile(
    rb"\bbuiltins\.(?!%(m)s)\w+\s*=(?!=)|[\"']builtins\.(?!%(m)s)\w+[\"']"
    rb"|\b(?:setattr|object)\(\s*builtins\s*,\s*(?![\"']%(m)s)|\bvars\(builtins\)|\bbuiltins\.__dict__"
    % {b"m": _MOCKED}
)
"""How a text rebinds functions of Python's own."""
_HOOKS = frozenset({"register_forward_hook", "register_module_forward_hook"})


def keeps_its_meaning(function: cst.BaseExpression, context: FileContext) -> Decision:
    """Decide whether what is called still is what this file binds its name to: no other file rebinds that.

    Of a name that stands for a whole module (``torch``) this is not asked.
    """
    root = function
    while isinstance(root, cst.Attribute | cst.Subscript):
        root = root.value
    if words := _taken_from_the_project(function, context):
        return NAME_IS_KEPT.decided(None, words[0])
    if not isinstance(root, cst.Name) or root is not function:
        return NAME_IS_KEPT.proven("it is taken from its module where it is used", context.code(function))
    return NAME_IS_KEPT.decided(_name_is_bound_anew(root.value, context), root.value)


def _taken_from_the_project(function: cst.BaseExpression, context: FileContext) -> list[str]:
    """Return the names by which a thing of torch is taken from a module that is not torch's; none for other names.

    They are those of the module: of `from lib import Variable as V` it is `Variable`, and `V` here.
    """
    match function:
        case cst.Attribute(value=owner, attr=cst.Name(value=word)):
            is_own = isinstance(owner, cst.Name) and owner.value in ("self", "cls")
            names = context.names(owner)
            return [] if is_own or (names and all(_is_torchs(each) for each in names)) else [word]
        case cst.Name(value=word):
            bound = [each for each in context.nodes(ast.ImportFrom) if _names_taken(each, word)]
            from_torch = all(each.level == 0 and _is_torchs(each.module or "") for each in bound)
            if from_torch and (bound or word in context.stores(context.tree)):
                return []
            return list(dict.fromkeys([*(name for each in bound for name in _names_taken(each, word)), word]))
    return []


def _is_torchs(module: str) -> bool:
    return f"{module}.".startswith("torch.")


def _names_taken(node: ast.ImportFrom, word: str) -> list[str]:
    """Return the names of the module that an import binds to a word."""
    return [each.name for each in node.names if (each.asname or each.name) == word]


def callable_is_kept(function: cst.BaseExpression, word: str, context: FileContext) -> tuple[Decision, ...]:
    """Decide whether what is called stays torch's ``word``: by the name it is called by, and in torch itself."""
    named = (keeps_its_meaning(function, context), means_the_same((function,), context))
    return (*named, torchs_own_is_kept((word,), context))


def torchs_own_is_kept(_: Iterable[str], __: FileContext) -> Decision:
    """Decide whether nobody rebinds something of torch's own: ``torch.tensor = logged``."""
    return NAME_IS_KEPT.proven("nobody rebinds it in torch")


def means_the_same(nodes: Iterable[cst.BaseExpression], context: FileContext) -> Decision:
    """Decide whether what some expressions rest on is bound by nothing that is not in sight.

    A name of the module may be rebound by another file, an attribute of an object by whoever holds the object, and
    by a class below its own.
    """
    found = (context.python(each) for each in nodes)
    doubt = rebinding([each for each in found if isinstance(each, ast.expr)], context)
    return NAME_IS_KEPT.open(*doubt) if doubt else NAME_IS_KEPT.proven("nothing rebinds what it rests on")


def rebinding(nodes: Iterable[ast.expr], context: FileContext) -> tuple[str, str] | None:
    """Return a name or an attribute on which some expressions rest and who may rebind it; None for nobody."""
    roots = _Roots(context)
    for node in nodes:
        roots.follow(node)
    return next(((word, doubt) for word, doubt in roots.doubts() if doubt is not None), None)


def _name_is_bound_anew(word: str, context: FileContext) -> str | None:
    """Return who may rebind a name of this module, other than by writing it here."""
    if may_be_bound_by_text(context.tree, context):
        return f"this file may bind `{word}` by its text"
    return None


def _binds_in_python(word: str, context: FileContext) -> str | None:
    """Return who may rebind a function of Python's own: ``builtins.list = other``, ``patch("builtins.list")``."""
    if context.matches(_CHANGES_PYTHON):
        return f"this file may rebind `{word}`"
    return None


class _Roots:
    """What may be rebound on the way back from some expressions: names, attributes of objects, functions of torch."""

    def __init__(self, context: FileContext) -> None:
        self._context = context
        self._seen: set[ast.AST] = set()
        self._names: dict[str, None] = {}
        self._attributes: dict[tuple[str, str], None] = {}
        self._of_modules: dict[str, None] = {}
        self._of_torch: dict[str, None] = {}
        self._of_cells: dict[str, None] = {}
        self._of_python: dict[str, None] = {}
        self._calls_module = False
        """Whether a module is called: what comes out is what ``forward`` and the hooks make of it."""

    def follow(self, node: ast.AST) -> None:
        """Take what an expression is made of, and what that is bound to."""
        if node in self._seen or len(self._seen) >= _MOST:
            return
        self._seen.add(node)
        match node:
            case ast.Call(func=function, args=args, keywords=keywords):
                self._call(function, [*args, *(each.value for each in keywords)])
            case ast.Name(ctx=ast.Load()):
                self._name(node)
            case ast.Attribute(value=owner):
                self._attribute(node)
                self.follow(owner)
            case _:
                for each in ast.iter_child_nodes(node):
                    self.follow(each)

    def _call(self, function: ast.expr, given: list[ast.expr]) -> None:
        """Take what is called; what it is given matters to a function of the project alone."""
        names = self._context.qualified_names(function)
        self._of_python.update(dict.fromkeys(leaf(each) for each in names if each.startswith(_BUILTINS)))
        if names and not any(each.startswith(_PROJECTS) for each in names):
            self._of_torch.update(dict.fromkeys(leaf(each) for each in names if _is_torchs(each)))
            return
        self.follow(function)
        if self._is_module(function):
            self._calls_module = True
        elif any("@" in each for each in self._context.value(function).names):
            for each in given:
                self.follow(each)

    def _is_module(self, function: ast.expr) -> bool:
        known = self._context.value(function)
        return bool(known.kind) and known.must(Kind.MODULE)

    def _name(self, node: ast.Name) -> None:
        context = self._context
        scope = context.scope_that_binds(node)
        if isinstance(scope, ast.Module):
            self._names[node.id] = None
        elif scope is not None and scope is not context.function_around(node):
            self._of_cells[node.id] = None
        for bound in bindings_of(node, context) if scope is not None else ():
            self.follow(bound.value)
        if scope is not None or isinstance(context.parent(node), ast.Attribute):
            return
        names = context.qualified_names(node)
        if any(each.startswith(_PROJECTS) for each in names) or self._is_defined(node.id):
            self._names[node.id] = None
        elif not names:  # a value that an import takes from another module, which may rebind it before
            taken = (_names_taken(each, node.id) for each in context.nodes(ast.ImportFrom))
            self._of_modules.update(dict.fromkeys(word for words in taken for word in words))

    def _is_defined(self, word: str) -> bool:
        """Whether the module defines a function or a class of a name."""
        kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        return any(isinstance(each, kinds) and each.name == word for each in self._context.tree.body)

    def _attribute(self, node: ast.Attribute) -> None:
        context = self._context
        own = context.value_of_self(node.value)
        values = attribute_values(node, context) if own is not None else []
        if any(_is_parameter(each, context) for each in values):
            return  # a module refuses anything else by its name
        owners = own if own is not None else context.value(node.value)
        for name in (*owners.instance, *(each for each in owners.names if "@" in each)):
            self._attributes[_class_name(name), node.attr] = None
        named = (*context.qualified_names(node), *context.qualified_names(node.value))
        if any(each.startswith(_PROJECTS) for each in named):
            self._of_modules[node.attr] = None
        for value in values:
            self.follow(value)

    def doubts(self) -> Iterator[tuple[str, str | None]]:
        """Yield each name and attribute with who may rebind it; None for nobody."""
        for word in self._names:
            yield word, _name_is_bound_anew(word, self._context)
        for word in self._of_python:
            yield word, _binds_in_python(word, self._context)
        if self._calls_module:
            yield "forward", self._hooks()
        unseen = sets_out_of_sight(self._context.tree, self._context)
        for owner, word in self._attributes:
            if owner and unseen:
                yield word, f"this file may set `{word}` in another way than by an assignment"

    def _hooks(self) -> str | None:
        """Return who may register a hook that gives something else than the module does."""
        if _HOOKS & self._context.attributes_by_word().keys():
            return "this file registers forward hooks"
        return None


def _is_parameter(value: ast.expr, context: FileContext) -> bool:
    return isinstance(value, ast.Call) and names_of(value.func, context) == {"torch.nn.Parameter"}


def _class_name(name: str) -> str:
    """Return ``Net`` of ``here.nets.Net@12``, and nothing for a class that is none of the project's."""
    return name.rpartition("@")[0].rpartition(".")[2] if name.startswith(_PROJECTS) else ""
