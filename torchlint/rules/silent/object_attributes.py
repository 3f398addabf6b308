"""What the attributes of a file's own objects are bound to."""

from __future__ import annotations

import ast

from torchlint.rules.api import (
    GRAD_MODES,
    FileContext,
    Function,
    decorators_of,
    first_parameter,
    remembered,
)
from torchlint.rules.local_bindings import names_of

_REGISTERING = frozenset({"register_buffer", "register_parameter"})
_OPEN_BASES = frozenset({"torch.nn.Module", "torch.autograd.Function", "builtins.object"})
"""Classes that give their objects no attribute by an ordinary name."""


@remembered
def attribute_values(node: ast.Attribute, context: FileContext) -> list[ast.expr]:
    """Return all that ``self.word`` is bound to in a file; nothing where something else may bind it.

    Its class and those below it must be the file's own, so that no constructor in another file takes part.
    """
    return _values(node, context, augments=False)


@remembered
def values_in_place(node: ast.Attribute, context: FileContext) -> list[ast.expr]:
    """Return all that ``self.word`` is bound to, as :func:`attribute_values`, but for what is computed in place.

    ``self.total += x`` leaves a tensor where it is.
    """
    return _values(node, context, augments=True)


def _values(node: ast.Attribute, context: FileContext, augments: bool) -> list[ast.expr]:
    around = _class_around(node, context)
    if around is None or not _is_in_sight(around, context, frozenset()):
        return []
    if node.attr in _declared(context.tree, context) or _sets_by_any_name(context.tree, context):
        return []
    registered = _registered(context.tree, context).get(node.attr, ())
    found = [value for target, value in registered if not _is_of_another(target, around, context)]
    for each in _stores_of(node.attr, around, context):
        match context.parent(each):
            case ast.Assign(value=value, targets=targets) if each in targets:
                found.append(value)
            case ast.AnnAssign(value=ast.expr() as value):
                found.append(value)
            case ast.AugAssign() if augments:
                continue
            case _:
                return []
    return found


def _stores_of(word: str, own: ast.ClassDef, context: FileContext) -> list[ast.Attribute]:
    """Return where an attribute is set that may be one of a class's objects, in the order of the text."""
    by_class = _stores(context.tree, context).get(word, {})
    if own.name in _bases(context.tree, context):
        owners = [*by_class]
    else:
        owners = [own, *_shared(context.tree, context).get(word, ())]
    found = [each for owner in dict.fromkeys(owners) for each in by_class.get(owner, ())]
    return sorted(found, key=lambda each: (each.lineno, each.col_offset))


@remembered
def _stores(_: ast.Module, context: FileContext) -> dict[str, dict[ast.ClassDef | None, list[ast.Attribute]]]:
    """Return where the attributes of a file are set, by their words and by the class on whose object that is."""
    found: dict[str, dict[ast.ClassDef | None, list[ast.Attribute]]] = {}
    for word, uses in context.attributes_by_word().items():
        for each in uses:
            if not isinstance(each.ctx, ast.Load):
                found.setdefault(word, {}).setdefault(_class_around(each, context), []).append(each)
    return found


@remembered
def _shared(tree: ast.Module, context: FileContext) -> dict[str, list[ast.ClassDef | None]]:
    """Return for each attribute the classes that others derive from, or None, on whose objects it is set."""
    bases = _bases(tree, context)
    return {
        word: [each for each in by_class if each is None or each.name in bases]
        for word, by_class in _stores(tree, context).items()
    }


def declares_any(words: frozenset[str], context: FileContext) -> bool:
    """Whether the body of a class in the file binds one of some words: has such a method, field or property."""
    return not words.isdisjoint(_declared(context.tree, context))


def _class_around(node: ast.Attribute, context: FileContext) -> ast.ClassDef | None:
    """Return the class of the method whose first parameter an attribute is asked of."""
    if not isinstance(node.value, ast.Name):
        return None
    function = context.function_around(node)
    above = context.parent(function) if function is not None else None
    if function is None or not isinstance(above, ast.ClassDef) or _changes_its_arguments(function, context):
        return None
    if node.value.id in _stored(context.tree, context):
        return None
    return above if first_parameter(function) == node.value.id else None


def _changes_its_arguments(function: Function, context: FileContext) -> bool:
    """Whether a decorator that is not torch's own may give a method another first argument."""
    calls = decorators_of(function)
    return not all((names := names_of(each, context)) and names <= GRAD_MODES for each in calls)


def _is_of_another(target: ast.Attribute, own: ast.ClassDef, context: FileContext) -> bool:
    """Whether an attribute is set on the object of a class that has nothing to do with another one."""
    other = _class_around(target, context)
    if other is None or other is own:
        return False
    return _bases(context.tree, context).isdisjoint({own.name, other.name})


@remembered
def _bases(_: ast.Module, context: FileContext) -> frozenset[str]:
    """Return the code of all that the classes of a file derive from."""
    return frozenset(ast.unparse(base) for each in context.nodes(ast.ClassDef) for base in each.bases)


@remembered
def _classes(_: ast.Module, context: FileContext) -> dict[str, ast.ClassDef]:
    return {each.name: each for each in context.nodes(ast.ClassDef)}


def _is_in_sight(own: ast.ClassDef, context: FileContext, seen: frozenset[str]) -> bool:
    """Whether all bases of a class are torch's plain ones or classes of this file whose bases are such."""
    if own.keywords or own.decorator_list:
        return False
    classes = _classes(context.tree, context)
    for base in own.bases:
        names = names_of(base, context)
        if names and names <= _OPEN_BASES:
            continue
        above = classes.get(base.id) if isinstance(base, ast.Name) and base.id not in seen else None
        if above is None or not _is_in_sight(above, context, seen | {own.name}):
            return False
    return True


@remembered
def _stored(_: ast.Module, context: FileContext) -> frozenset[str]:
    """Return the names that the file binds by an assignment or the like, anywhere."""
    return frozenset(each.id for each in context.nodes(ast.Name) if isinstance(each.ctx, ast.Store))


@remembered
def _declared(_: ast.Module, context: FileContext) -> frozenset[str]:
    """Return the names that the bodies of classes bind: fields, properties, methods."""
    found: set[str] = set()
    for each in context.nodes(ast.ClassDef):
        for statement in each.body:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found.add(statement.name)
            elif not isinstance(statement, ast.Expr):
                found.update(one.id for one in context.inside(statement, ast.Name) if isinstance(one.ctx, ast.Store))
    return frozenset(found)


@remembered
def _registered(_: ast.Module, context: FileContext) -> dict[str, list[tuple[ast.Attribute, ast.expr]]]:
    """Return what buffers and parameters are registered as, by name, with what registers them."""
    found: dict[str, list[tuple[ast.Attribute, ast.expr]]] = {}
    for node in context.nodes(ast.Call):
        match node:
            case ast.Call(func=ast.Attribute() as function, args=[ast.Constant(value=str(name)), value, *_]):
                if function.attr in _REGISTERING:
                    found.setdefault(name, []).append((function, value))
    return found


@remembered
def _sets_by_any_name(_: ast.Module, context: FileContext) -> bool:
    """Whether a file sets attributes by names that are not written there, or in other ways than an assignment."""
    for node in context.nodes(ast.Call):
        match node:
            case ast.Call(func=ast.Name(id="setattr" | "vars")):
                return True
            case ast.Call(func=ast.Attribute(attr="__setattr__")):
                return True
            case ast.Call(func=ast.Attribute(attr=word), args=[first, *_]):
                if word in _REGISTERING and not isinstance(first, ast.Constant):
                    return True
    words = context.attributes_by_word()
    return "__dict__" in words or any(
        each.name in ("__setattr__", "__getattr__", "__getattribute__") for each in context.nodes(ast.FunctionDef)
    )
