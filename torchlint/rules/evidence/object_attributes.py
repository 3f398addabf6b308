"""What the attributes of a file's own objects are bound to, and what the methods of a class set on ``self``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchlint.rules.api import (
    GRAD_MODES,
    FileContext,
    Function,
    arguments_of,
    decorators_of,
    first_parameter,
    remembered,
)
from torchlint.rules.evidence.local_bindings import names_of

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


_SETTERS = frozenset("__setattr__ __setstate__ __set__".split())
_ADDING = frozenset("append extend insert update setdefault __setitem__".split())
_NAMED = frozenset("add_module register_module register_parameter register_buffer set_submodule __setattr__".split())
"""Methods of a module that are given a name and what to keep under it."""
_STORES = frozenset({"", "_modules", "_parameters", "_buffers", "__dict__", "get_submodule", "get_parameter"})
"""Attributes of a module, and the module itself where it is a list, that give parts by any name."""
_ASKING = frozenset("super isinstance issubclass hasattr getattr id type print len repr str hash".split())
"""Functions that are handed an object and put nothing into it."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One way in which an attribute comes by what it holds."""

    at: ast.AST
    word: str | None
    """The attribute; None where it may be any."""
    value: ast.expr | None
    """What is put there; None where the code does not tell."""
    whole: bool = True
    """Whether the attribute itself is set; else something is put into what it holds."""


@remembered
def settings(function: Function, context: FileContext) -> tuple[Setting, ...]:
    """Return what a method puts into its object, in the order of the text."""
    first = first_parameter(function)
    return tuple(_found(context, function, first)) if first is not None else ()


def _found(context: FileContext, function: Function, self: str) -> Iterator[Setting]:
    for node in context.within(function):
        yield from put_into(self, node)
        match node:
            case ast.Call() if _hands_over(node, self):
                yield Setting(node, None, None)
            case ast.Attribute(value=ast.Name(id=owner), attr="__dict__") if owner == self:
                yield Setting(node, None, None)


def put_into(self: str, node: ast.AST) -> Iterator[Setting]:
    """Yield what a node puts into the object of a name by itself; where it hands the object over, nothing is told."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _assigned(target, value, self, node)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield from _assigned(target, value, self, node)
        case ast.AugAssign(target=ast.Attribute() | ast.Subscript() as target, value=value):
            yield from _part(path_word(target, self, empty=""), value, node)
        case ast.For(target=target) | ast.AsyncFor(target=target) | ast.withitem(optional_vars=ast.expr() as target):
            yield from _assigned(target, None, self, node)
        case ast.Call():
            yield from _called(node, self)


def _assigned(target: ast.expr, value: ast.expr | None, self: str, at: ast.AST) -> Iterator[Setting]:
    match target:
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            values: list[ast.expr | None] = [None] * len(targets)
            if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(targets):
                values = list(value.elts)
            for each, part in zip(targets, values, strict=True):
                yield from _assigned(each, part, self, at)
        case ast.Starred(value=inner):
            yield from _assigned(inner, None, self, at)
        case ast.Attribute(value=ast.Name(id=owner), attr=word) if owner == self and word not in _STORES:
            yield Setting(at, word, value)
        case ast.Attribute() | ast.Subscript():
            yield from _part(path_word(target, self, empty=""), value, at)


def _part(held: str | None, value: ast.expr | None, at: ast.AST) -> Iterator[Setting]:
    """Yield that something is put into what an attribute holds, or into the object by any name; nothing for None."""
    if held is not None:
        yield Setting(at, None if held in _STORES else held, value, whole=False)


def _called(node: ast.Call, self: str) -> Iterator[Setting]:
    arguments = arguments_of(node)
    match node.func:
        case ast.Attribute(value=inner, attr=word) if word in _NAMED and _is_object(inner, self):
            yield from _named(node, node.args)
        case ast.Attribute(value=inner, attr=word) if word in _NAMED | _ADDING or takes_over(node):
            held = "" if _is_object(inner, self) else path_word(inner, self, empty="")
            for each in arguments:
                yield from _part(held, each, node)
        case ast.Name(id="setattr") if node.args and _is_object(node.args[0], self):
            yield from _named(node, node.args[1:])
        case ast.Name(id="setattr") if node.args:
            yield from _part(path_word(node.args[0], self, empty=""), arguments[-1], node)


def _is_object(node: ast.expr, self: str) -> bool:
    """Whether an expression is the object of a name, also as its base classes see it: ``super()``."""
    match node:
        case ast.Name(id=word):
            return word == self
        case ast.Call(func=ast.Name(id="super"), args=[]):
            return self == "self"
        case ast.Call(func=ast.Name(id="super"), args=[_, ast.Name(id=word)]):
            return word == self
    return False


def takes_over(call: ast.Call) -> bool:
    """Whether a call of ``load_state_dict`` makes the tensors that it is given parts of the module: ``assign=True``."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "load_state_dict":
        return False
    copied = [each.value for each in call.keywords if each.arg in ("assign", None)]
    copied += call.args[_BEFORE_ASSIGN:] + [each for each in call.args if isinstance(each, ast.Starred)]
    return not all(isinstance(each, ast.Constant) and not each.value for each in copied)


_BEFORE_ASSIGN = 2
"""Arguments of ``load_state_dict`` before ``assign``."""


def _hands_over(node: ast.Call, self: str) -> bool:
    """Whether an object is handed to what may put anything into it.

    What a base class is given is looked at with the base class.
    """
    match node.func:
        case ast.Name(id=word) if word in _ASKING or word == "setattr":
            return False
        case ast.Attribute(attr="__init__"):
            return False
    arguments = arguments_of(node)
    return any(isinstance(each, ast.Name) and each.id == self for each in arguments)


def _named(node: ast.Call, given: list[ast.expr]) -> Iterator[Setting]:
    """Yield what a call puts into an object by a name, ``n.0`` among them: that of a part of a part."""
    others = {each.arg: each.value for each in node.keywords}
    name = given[0] if given else others.pop("name", others.pop("target", None))
    word = name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else None
    first, dot, _ = word.partition(".") if word is not None else (None, "", "")
    values: list[ast.expr | None] = [*given[1:], *others.values()]
    yield from (Setting(node, first, each, whole=not dot) for each in values or [None])


def path_word(node: ast.expr, source: str | None, empty: str | None = None) -> str | None:
    """Return ``net`` of ``self.net[0].weight``; ``empty`` for the name alone, None where the path starts elsewhere."""
    word = empty
    while True:
        match node:
            case ast.Attribute(value=inner, attr=attribute):
                node, word = inner, attribute
            case ast.Subscript(value=inner) | ast.Call(func=inner):
                node, word = inner, empty
            case ast.Name(id=name):
                return word if name == source else None
            case _:
                return None
