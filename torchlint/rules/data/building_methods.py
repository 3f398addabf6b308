"""Which methods of a class run while an object is built, and what they ask of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from torchlint.rules.api import (
    FUNCTIONS,
    FileContext,
    Function,
    arguments_of,
    first_parameter,
    methods_of,
    positional_parameters,
    remembered,
)
from torchlint.rules.evidence.called_definitions import Definitions, Frame

_LISTING = frozenset(
    "modules children parameters buffers named_modules named_children named_parameters named_buffers apply".split()
)
_LISTED_BY = _LISTING | {"_named_members"}
"""Methods of a module that rest on each other."""
_ANSWERING = frozenset({"__new__", "__setattr__", "__getattr__", "__getattribute__", "register_parameter"})
"""Methods that run whatever is set or asked."""

_BRINGING = frozenset({"__init__"})
"""What of a class beside may put parts into the object while it is built."""


@remembered
def lineage(owner: ast.ClassDef, context: FileContext) -> tuple[ast.ClassDef, ...]:
    """Return a class and those of the file that it derives from."""
    definitions, found = Definitions(context), [owner]
    for one in found:  # which grows meanwhile
        above = (definitions.class_here(base) for base in one.bases)
        found += [each for each in above if each is not None and each not in found]
    return tuple(found)


@remembered
def building_methods(function: Function, context: FileContext) -> tuple[Function, ...]:
    """Return the methods that run while an object is built: the given one, and all that constructors mention."""
    owner = context.parent(function)
    line = lineage(owner, context) if isinstance(owner, ast.ClassDef) else ()
    own = [each for one in line for each in methods_of(one)]
    found = [function, *(each for each in own if each.name == "__init__" and each is not function)]
    for method in found:  # which grows meanwhile
        words = {each.attr for each in context.inside(method, ast.Attribute)}
        found += [each for each in own if each.name in words and each not in found]
    return tuple(found)


def own_name(method: Function) -> str:
    """Return what a method calls its object."""
    return first_parameter(method) or ""


def given_module(function: Function) -> str:
    """Return the first parameter of a function, the object of a method left out."""
    given = (each.arg for each in positional_parameters(function))
    return next((each for each in given if each not in ("self", "cls")), "")


def applied_to_parts(
    call: ast.Call, around: Function, methods: Mapping[str, Function], context: FileContext
) -> Iterator[tuple[Function, str]]:
    """Yield the functions of the file that ``net.apply(start)`` runs, each with its name for a part of the module."""
    for each in arguments_of(call):
        match each:
            case ast.Lambda(args=ast.arguments(args=[first, *_])):
                yield around, first.arg
            case ast.Attribute(value=ast.Name(id=this), attr=word) if this == own_name(around) and word in methods:
                yield methods[word], given_module(methods[word])
            case _ if (here := Definitions(context).function(each, Frame(around))) is not None:
                yield here[0], given_module(here[0])


def is_of_another_class(node: ast.Attribute, owner: ast.ClassDef, context: FileContext) -> bool:
    """Whether ``self.start`` in a constructor is the method that its own class defines, and not the given class's.

    Of a class that derives from both, whose objects may answer with either, ``redefined`` speaks.
    """
    method = context.function_around(node)
    other = context.parent(method) if method is not None else None
    if not isinstance(method, FUNCTIONS) or method.name != "__init__" or not isinstance(other, ast.ClassDef):
        return False
    is_own = isinstance(node.value, ast.Name) and node.value.id == own_name(method)
    defined = any(isinstance(each, FUNCTIONS) and each.name == node.attr for each in other.body)
    return is_own and defined and other is not owner


@remembered
def redefined(function: Function, context: FileContext) -> str | None:
    """Return who has a class below that answers in its own way what is asked of an object while it is built.

    A method that it has for the constructor's may give a module that is in use; so may one that the class itself is
    given from outside: ``Net.build = shared``. Where the parts are listed, so may the constructor of a class beside:
    ``super().__init__()`` runs it, and what it puts into the object is among them.
    """
    owner = context.parent(function)
    if not isinstance(owner, ast.ClassDef):
        return None
    words = {word for method in building_methods(function, context) for word in _asked(method, context)}
    lists = not words.isdisjoint(_LISTING)
    words |= _ANSWERING | (_LISTED_BY if lists else set())
    for each in lineage(owner, context):
        if (who := _changed(each.name, words, context)) is not None:
            return who
    return None


def _changed(name: str, words: set[str], context: FileContext) -> str | None:
    """Return who may give a class of the file one of some attributes from outside its body."""
    for use in context.names_by_word().get(name, ()):
        match context.parent(use):
            case ast.Attribute(attr=word, ctx=ast.Store() | ast.Del()) if word in words:
                return f"this file sets `{name}.{word}`"
            case ast.Call(func=ast.Name(id="setattr"), args=[first, key, *_]) if first is use:
                if not isinstance(key, ast.Constant) or key.value in words:
                    return f"this file sets attributes of `{name}`"
    return None


def _asked(method: Function, context: FileContext) -> set[str]:
    """Return what a method asks its object for; where it hands the object on, that may be any of its parts."""
    own, found = own_name(method), set[str]()
    for use in context.inside(method, ast.Name):
        if use.id == own:
            match context.parent(use):
                case ast.Attribute(attr=word):
                    found.add(word)
                case ast.Call(func=ast.Name(id="super") | ast.Attribute(attr="__init__")):
                    pass
                case ast.Call(args=given) if use in given:
                    found |= _LISTING
    return found
