"""What the classes of one text bind: by their bodies, and by what their methods set on their object."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from torchlint.inference.program.device_makers import imported
from torchlint.inference.program.spelled_calls import text_of
from torchlint.syntax.ast_index import AstIndex
from torchlint.syntax.blocks import blocks_of
from torchlint.syntax.places import elements_of

_OWN = frozenset({"self", "cls"})
_REGISTERING = frozenset({"register_buffer", "register_parameter", "register_module", "add_module"})
_ANSWERING = frozenset({"__setattr__", "__getattribute__"})
ANY = frozenset({"*"})
"""In the place of a word: any attribute."""


@dataclass(frozen=True, slots=True)
class ClassWords:
    """One class: what it is called, what its bases are called where they are defined, and the words that it binds."""

    name: str
    bases: frozenset[str]
    words: frozenset[str]
    defined: frozenset[str]
    """What its body alone binds: what its objects have before anything is set on them."""
    binds_any: bool
    """Whether it binds attributes by names that are not written there, and so any."""

    def binds(self, word: str) -> bool:
        """Whether an attribute of an object may be bound by this class."""
        return self.binds_any or word in self.words


def class_words(index: AstIndex) -> tuple[ClassWords, ...]:
    """Read all classes of a text, those that ``type(name, bases, body)`` makes and other names of one among them."""
    classes, aliases = index.nodes(ast.ClassDef), list(_assigned_aliases(index))
    stored = Counter(each.id for each in index.nodes(ast.Name) if isinstance(each.ctx, ast.Store))
    stored.update(each.arg for each in index.nodes(ast.arg))
    stored.subtract(name for name, _ in aliases)
    bound = {name for name, count in stored.items() if count > 0}
    meanings = dict.fromkeys(bound - {each.name for each in classes}, "*") | dict(imported(index))
    made = (_made(each, meanings) for each in index.nodes(ast.Call))
    return (
        *(_read(each, meanings, index) for each in classes),
        *(each for each in made if each is not None),
        *(_alias(name, base) for name, base in (*aliases, *_imported_aliases(index))),
    )


def _assigned_aliases(index: AstIndex) -> Iterator[tuple[str, str]]:
    """Yield each name that is another one for what may be a class, with the last word of that: ``Base = nets.Net``."""
    for node in index.nodes(ast.Assign):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=base) | ast.Attribute(attr=base)):
                if _may_be_class(name) and _may_be_class(base):
                    yield name, base


def _imported_aliases(index: AstIndex) -> Iterator[tuple[str, str]]:
    """Yield likewise what ``from nets import Net as Base`` binds, which other files may take from here."""
    for node in index.nodes(ast.ImportFrom):
        for each in node.names:
            if each.asname and each.asname != each.name and _may_be_class(each.asname) and _may_be_class(each.name):
                yield each.asname, each.name


def _may_be_class(name: str) -> bool:
    return name.lstrip("_")[:1].isupper()


def _alias(name: str, base: str) -> ClassWords:
    """Return another name of a class as one below it that binds nothing."""
    return ClassWords(name, frozenset({base}), frozenset(), frozenset(), binds_any=False)


def _made(call: ast.Call, meanings: dict[str, str]) -> ClassWords | None:
    match call:
        case ast.Call(func=ast.Name(id="type"), args=[name, bases, body]):
            above = elements_of(bases)
            keys = body.keys if isinstance(body, ast.Dict) else [None]
            found = {text_of(each) if each is not None else None for each in keys}
            words = frozenset(each for each in found if each is not None)
            defined = words | (ANY if None in found else frozenset())
            known = frozenset(_last_word(each, meanings) for each in above)
            return ClassWords(text_of(name) or "*", known, words, defined, None in found)
    return None


def _read(node: ast.ClassDef, meanings: dict[str, str], index: AstIndex) -> ClassWords:
    defined = frozenset(_of_body(node.body))
    found = set(defined)
    for each in index.inside(node, ast.Attribute, ast.Call):
        found.update(_of_object(each))
    bases = frozenset(_last_word(each, meanings) for each in node.bases)
    words = frozenset(each for each in found if each is not None)
    return ClassWords(node.name, bases, words, words & defined | (ANY if None in defined else set()), None in found)


def _of_body(body: Iterable[ast.stmt]) -> Iterator[str | None]:
    for statement in body:
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield None if name in _ANSWERING else name
            case ast.Assign(targets=targets):
                yield from (each.id for one in targets for each in ast.walk(one) if isinstance(each, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
                yield name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                words = (each.asname or each.name.partition(".")[0] for each in names)
                yield from (None if word == "*" else word for word in words)
            case ast.If() | ast.Try() | ast.With() | ast.For() | ast.While():
                yield from _of_block(statement)


def _of_block(block: ast.If | ast.Try | ast.With | ast.For | ast.While) -> Iterator[str | None]:
    """Yield what a class binds in a block of its body, and what the block itself binds."""
    targets = [each.optional_vars for each in block.items if each.optional_vars] if isinstance(block, ast.With) else []
    targets += [block.target] if isinstance(block, ast.For) else []
    yield from (each.id for one in targets for each in ast.walk(one) if isinstance(each, ast.Name))
    handlers = block.handlers if isinstance(block, ast.Try) else []
    for body in (*blocks_of(block), *(each.body for each in handlers)):
        yield from _of_body(body)


def _of_object(node: ast.AST) -> Iterator[str | None]:
    """Yield what a part of a class sets on its object; None for any attribute."""
    match node:
        case ast.Attribute(value=ast.Name(id=owner), attr=word, ctx=ast.Store() | ast.Del()) if owner in _OWN:
            yield word
        case ast.Attribute(value=ast.Name(id=owner), attr="__dict__") if owner in _OWN:
            yield None
        case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id=owner), key, *_]) if owner in _OWN:
            yield text_of(key)
        case ast.Call(func=ast.Name(id="vars"), args=[ast.Name(id=owner)]) if owner in _OWN:
            yield None
        case ast.Call(func=ast.Attribute(attr=word), args=[key, *_]) if word in _REGISTERING:
            yield text_of(key)


def _last_word(base: ast.expr, meanings: dict[str, str]) -> str:
    """Return the last word of what a base stands for: ``Net`` of ``nets.Net[int]``, and of what it is imported as.

    A base that is computed, or handed to a function that makes a class, may be any class: `*`.
    """
    match base:
        case ast.Subscript(value=inner):
            return _last_word(inner, meanings)
        case ast.Attribute(attr=word):
            return word
        case ast.Name(id=word):
            return meanings.get(word, word).rpartition(".")[2]
    return "*"
