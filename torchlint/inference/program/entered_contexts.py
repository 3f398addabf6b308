"""What a ``with`` enters, as one text tells it: something that is no ``torch.device``, or what other texts must tell.

Inside ``with device:`` that device is the default. So an entered object of which nothing is known may set it: a
parameter, an attribute, an element. Here is told what cannot be one. A device has the attributes ``type`` and
``index``, is neither called nor indexed, and no class derives from its own (seen on torch 2.13). A call gives none
unless a function of that name, anywhere in the project, makes or keeps one
(:mod:`torchlint.inference.program.device_makers`).
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from torchlint.inference.program.device_makers import dotted, imported, makes_device, speaks_of_devices
from torchlint.inference.program.word_index import WordIndex
from torchlint.syntax.ast_index import AstIndex
from torchlint.syntax.places import elements_of, word_of

CLASS, CALL, NAME = "class", "call", "name"
"""A word is that of a class; no function of this name makes a device; nothing of this name is bound to one."""


@dataclass(frozen=True, order=True)
class Elsewhere:
    """What the texts of the whole project must tell of a word so that what is entered is no device."""

    kind: str
    word: str


Entered = frozenset[Elsewhere] | None
"""None where a device may be entered, else what must hold elsewhere so that none is."""

_NO_DEVICE: frozenset[Elsewhere] = frozenset()
_OF_DEVICES = frozenset({"type", "index", "__enter__", "__exit__", "__class__", "__str__", "__repr__"})
_GENERAL = frozenset({"typing", "typing_extensions", "contextlib", "collections", "types", "abc", "builtins"})
"""Modules of the standard library whose names in an annotation may stand for a device."""
_PLAIN_CLASSES = frozenset({"bool", "int", "float", "str", "bytes"})
_HOLDERS = frozenset({"dict", "list", "defaultdict", "OrderedDict", "deque"})
_READING = frozenset({"get", "pop", "keys", "values", "items", "clear", "copy", "index", "count", "popleft", "popitem"})
_PASSING_ON = _READING | frozenset(
    "zip enumerate reversed sorted list tuple set iter map filter next dict chain cycle islice product repeat".split()
)
"""Functions and methods that give what they are given, or what they are called on holds."""
_BRANCHES = (
    *(ast.If, ast.IfExp, ast.BoolOp, ast.Try, ast.While, ast.For, ast.Match, ast.With, ast.Lambda),
    *(ast.comprehension, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
"""What may run a part of itself for some objects only, later, or let an error of it pass."""


@dataclass(frozen=True, slots=True)
class _Binding:
    """A node that binds a word, and what to, where that is written out."""

    node: ast.AST
    value: ast.expr | None
    is_attribute: bool = False


class Contexts:
    """What the blocks of one file enter."""

    def __init__(self, index: AstIndex) -> None:
        self._index = index
        self._modules = dict(imported(index))
        self._uses: dict[ast.AST, dict[str, list[ast.expr]]] = {}

    def of(self, node: ast.expr) -> Entered:
        """Return what is known of an expression that a block enters; of a call its words alone are asked."""
        if isinstance(node, ast.Call):
            return None if makes_device(node.func, self._modules) else _NO_DEVICE
        return self._told(node, frozenset())

    def bound_to(self, word: str) -> Iterator[Entered]:
        """Yield what an attribute, or a name of the module or of a class, is bound to, wherever one is bound."""
        for each in self._bindings(word):
            if each.is_attribute or self._is_outside_of_functions(each):
                yield self._of_binding(each, frozenset({word}))

    def _told(self, node: ast.expr | None, seen: frozenset[str]) -> Entered:
        """Return what is known of a value; ``seen`` are the words on the way, which say nothing new."""
        match node:
            case ast.Constant():
                return _NO_DEVICE
            case ast.Call(func=ast.Name() | ast.Attribute() as function):
                word = dotted(function)[-1]
                return None if makes_device(function, self._modules) else frozenset({Elsewhere(CALL, word)})
            case ast.Name(id="self"):
                return _NO_DEVICE
            case ast.Attribute(attr=word) if seen and speaks_of_devices(word):  # `x.device` of whatever x
                return None
            case ast.Name() | ast.Attribute():
                return self._of_name(node, seen)
            case ast.Subscript(value=ast.Name() | ast.Attribute() as holder):
                return self._of_elements(holder, seen)
            case ast.IfExp(body=one, orelse=other):
                return _every(self._told(each, seen) for each in (one, other))
            case ast.BoolOp(values=several):
                return _every(self._told(each, seen) for each in several)
            case ast.NamedExpr(value=value):
                return self._told(value, seen)
        return None

    # ------------------------------------------------------------------ names
    def _of_name(self, node: ast.Name | ast.Attribute, seen: frozenset[str]) -> Entered:
        word = word_of(node)
        if word in seen or self._is_used_otherwise(node):
            return _NO_DEVICE
        if found := self._bindings_of(node):
            return self._all_told(found, seen | {word})
        if isinstance(node, ast.Name) or speaks_of_devices(word):
            return None
        return frozenset({Elsewhere(NAME, word)})

    def _all_told(self, found: Iterable[_Binding], seen: frozenset[str]) -> Entered:
        return _every(self._of_binding(each, seen) for each in found)

    def _of_binding(self, binding: _Binding, seen: frozenset[str]) -> Entered:
        """Return whether a device may be entered by what a binding gives a name."""
        match binding.node:
            case ast.arg(annotation=annotation):
                return self._of_annotation(annotation)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):  # a property gives what it returns
                return frozenset({Elsewhere(CALL, name)})
            case ast.ClassDef():
                return _NO_DEVICE
            case ast.alias() as alias:
                return self._of_import(alias)
            case ast.AnnAssign(annotation=annotation, value=value) if self._is_in_class(binding) or value is None:
                # a field is set by whoever makes the object
                return _every([self._of_annotation(annotation), *([self._told(value, seen)] if value else [])])
            case ast.For() | ast.comprehension() if _called(binding.value) in _PASSING_ON:
                return None
        return self._told(binding.value, seen)

    def _of_import(self, alias: ast.alias) -> Entered:
        if isinstance(self._index.parents.get(alias), ast.Import):
            return _NO_DEVICE
        if speaks_of_devices(alias.name) or alias.name == "*":
            return None
        word = alias.asname or alias.name
        is_of_torch = self._modules[word].split(".")[0] == "torch" and word not in self._relative
        return _NO_DEVICE if is_of_torch else frozenset({Elsewhere(NAME, alias.name)})

    def _bindings_of(self, node: ast.Name | ast.Attribute) -> list[_Binding]:
        """Return what binds an attribute; what binds a name in its function, or else anywhere in the file."""
        found = self._bindings(word_of(node))
        if isinstance(node, ast.Attribute):
            return [each for each in found if each.is_attribute or self._is_in_class(each)]
        found = [each for each in found if not each.is_attribute]
        function = self._index.owner(node)
        return [each for each in found if function and self._index.owner(each.node) is function] or found

    def _bindings(self, word: str) -> list[_Binding]:
        return self._all_bindings.get(word, [])

    @cached_property
    def _all_bindings(self) -> dict[str, list[_Binding]]:
        found: dict[str, list[_Binding]] = {}
        for node in self._index.order:
            for word, each in _bound_by(node):
                found.setdefault(word, []).append(each)
        return found

    def _is_outside_of_functions(self, binding: _Binding) -> bool:
        node = binding.node
        return self._index.owner(node) is None and not isinstance(node, ast.arg | ast.comprehension)

    def _is_in_class(self, binding: _Binding) -> bool:
        around = self._index.ancestors(binding.node)
        return self._is_outside_of_functions(binding) and any(isinstance(each, ast.ClassDef) for each in around)

    # ------------------------------------------------------------------ how it is used
    def _is_used_otherwise(self, node: ast.Name | ast.Attribute) -> bool:
        """Whether the same object, wherever it is entered, is also used as no device can be."""
        around = self._index.owner(node) or self._index.tree
        uses: list[ast.expr] = []
        if isinstance(node, ast.Attribute) or len(self._bindings_of(node)) == 1:
            uses += self._uses_in(around).get(ast.unparse(node), [])
        item = self._index.parents.get(node)
        if isinstance(item, ast.withitem) and isinstance(item.optional_vars, ast.Name):
            inside = self._uses_in(around).get(item.optional_vars.id, [])
            block = self._index.parents[item]
            uses += [each for each in inside if block in self._index.ancestors(each)]
        return any(self._is_run_with(each, node) for each in uses)

    def _uses_in(self, around: ast.AST) -> dict[str, list[ast.expr]]:
        """Return the names and attributes of a function or the file, by their code, where they are no device."""
        if around not in self._uses:
            found = self._uses[around] = {}
            known: list[ast.expr] = [*self._index.inside(around, ast.Name), *self._index.inside(around, ast.Attribute)]
            for each in filter(self._is_no_use_of_device, known):
                found.setdefault(ast.unparse(each), []).append(each)
        return self._uses[around]

    def _is_no_use_of_device(self, node: ast.expr) -> bool:
        match self._index.parents.get(node):
            case ast.Attribute(attr=word):
                return word not in _OF_DEVICES
            case ast.Call(func=function):
                return function is node
            case ast.Subscript(value=value):
                return value is node
        return False

    def _is_run_with(self, use: ast.AST, node: ast.AST) -> bool:
        """Whether a use is in the same function, and in no branch in which the entering of a block is not, too."""
        if self._index.owner(use) is not self._index.owner(node):
            return False
        around = set(self._index.ancestors(node))
        return all(each in around for each in self._index.ancestors(use) if isinstance(each, _BRANCHES))

    # ------------------------------------------------------------------ annotations and containers
    def _of_annotation(self, node: ast.expr | None) -> Entered:
        """Return whether a device may be entered by what an annotation describes."""
        match node:
            case ast.Constant(value=None):
                return _NO_DEVICE
            case ast.Constant(value=str(text)):
                try:
                    return self._of_annotation(ast.parse(text, mode="eval").body)
                except (SyntaxError, ValueError, RecursionError, MemoryError):
                    return None
            case ast.BinOp(left=one, op=ast.BitOr(), right=other):
                return _every(self._of_annotation(each) for each in (one, other))
            case ast.Subscript(value=ast.Name() | ast.Attribute() as outer, slice=inner):
                if dotted(outer)[-1] not in ("Optional", "Union"):
                    return self._of_annotation(outer)
                several = elements_of(inner)
                return _every(self._of_annotation(each) for each in several)
            case ast.Name() | ast.Attribute() if (words := dotted(node))[0] and not speaks_of_devices(words[-1]):
                return self._of_class(words)
        return None

    def _of_class(self, words: list[str]) -> Entered:
        """Return what an object of a class is, by the dotted name of the class."""
        if len(words) == 1 and (words[0] in _PLAIN_CLASSES or self._defines_class(words[0])):
            return _NO_DEVICE
        module = self._modules.get(words[0])
        if module is None:
            return None
        top = "" if words[0] in self._relative else module.partition(".")[0]
        word = module.rpartition(".")[2] if len(words) == 1 else words[-1]
        if top in _GENERAL or speaks_of_devices(word):
            return None
        if top == "torch" or top in sys.stdlib_module_names:
            return _NO_DEVICE
        return frozenset({Elsewhere(CLASS, word)})

    @cached_property
    def _relative(self) -> frozenset[str]:
        """The names that come from modules beside this one, whatever these are called."""
        imports = [each for each in self._index.nodes(ast.ImportFrom) if each.level]
        return frozenset(alias.asname or alias.name for each in imports for alias in each.names)

    def _defines_class(self, word: str) -> bool:
        found = self._bindings(word)
        return bool(found) and all(isinstance(each.node, ast.ClassDef) for each in found)

    def _of_elements(self, holder: ast.Name | ast.Attribute, seen: frozenset[str]) -> Entered:
        """Return what the elements of a container are, by all that is put into it."""
        word = word_of(holder)
        found = self._bindings_of(holder)
        if word in seen or not found:
            return _NO_DEVICE if word in seen else None
        seen |= {word}
        return _every((*(self._of_parts(each, seen) for each in found), *self._put_into(holder, seen)))

    def _of_parts(self, binding: _Binding, seen: frozenset[str]) -> Entered:
        if not isinstance(binding.node, ast.Assign | ast.AnnAssign | ast.NamedExpr):
            return None
        match binding.value:
            case ast.Dict(values=several) | ast.List(elts=several) | ast.Tuple(elts=several):
                return _every(self._told(each, seen) for each in several)
            case ast.Call(func=ast.Name(id=word) | ast.Attribute(attr=word), args=given) as call if word in _HOLDERS:
                is_empty = not call.keywords and (not given or (word == "defaultdict" and len(given) == 1))
                return _NO_DEVICE if is_empty else None
            case ast.Call() as call if _called(call) not in _PASSING_ON:
                return self._told(call, seen)
        return None

    def _put_into(self, holder: ast.Name | ast.Attribute, seen: frozenset[str]) -> Iterator[Entered]:
        """Yield what is put into a container where it is used; None where it is handed on."""
        kind, word = type(holder), word_of(holder)
        for node in self._index.nodes(kind):
            if word_of(node) != word or not isinstance(node.ctx, ast.Load):
                continue
            above = self._index.parents.get(node)
            match above, above and self._index.parents.get(above):
                case ast.Subscript(ctx=ast.Store()), ast.Assign(targets=[_], value=value):
                    yield self._told(value, seen)
                case ast.Subscript(value=value, ctx=ast.Load() | ast.Del()), _ if value is node:
                    continue
                case ast.Attribute(attr="append"), ast.Call(args=[value]):
                    yield self._told(value, seen)
                case ast.Attribute(attr=method), ast.Call() if method in _READING:
                    continue
                case ((ast.Compare() | ast.For() | ast.comprehension() | ast.If()), _):
                    continue
                case ast.Call(func=ast.Name(id="len")), _:
                    continue
                case _:
                    yield None


class ContextsElsewhere:
    """What all texts of a project tell of the words that stand for what is entered."""

    def __init__(self, words: WordIndex, makers: Collection[str], tree: Callable[[str], AstIndex | None]) -> None:
        """Begin; ``makers`` give or hold a device, by their names, and ``tree`` parses the file at a path."""
        self._words = words
        self._makers = makers
        self._tree = tree
        self._known: dict[Elsewhere, Entered] = {}
        self._contexts: dict[str, Contexts | None] = {}

    def tells(self, asked: Elsewhere) -> bool:
        """Whether no device is entered, as far as one word goes, and the words that it leads to."""
        left, met = [asked], {asked}
        while left:
            needed = self._needed(left.pop())
            if needed is None:
                return False
            left += needed - met
            met |= needed
        return True

    def _needed(self, asked: Elsewhere) -> Entered:
        """Return what must hold elsewhere so that a word stands for no device."""
        if asked not in self._known:
            self._known[asked] = self._find(asked)
        return self._known[asked]

    def _find(self, asked: Elsewhere) -> Entered:
        if asked.kind == CALL:
            return None if asked.word in self._makers else _NO_DEVICE
        if asked.kind == CLASS:
            defining = self._words.defining(asked.word)
            return _NO_DEVICE if any(asked.word in self._classes_in(path) for path, _ in defining) else None
        texts = self._words.holding((asked.word.encode(),))
        found = [each for path, _ in texts for each in self._bound_in(path, asked.word)]
        return _every(found) if found else None

    def _classes_in(self, path: str) -> frozenset[str]:
        index = self._tree(path)
        return frozenset(each.name for each in index.nodes(ast.ClassDef)) if index is not None else frozenset()

    def _bound_in(self, path: str, word: str) -> Iterator[Entered]:
        if path not in self._contexts:
            index = self._tree(path)
            self._contexts[path] = Contexts(index) if index is not None else None
        known = self._contexts[path]
        yield from known.bound_to(word) if known is not None else (None,)


def _bound_by(node: ast.AST) -> Iterator[tuple[str, _Binding]]:
    """Yield each word that a node binds itself."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for each in targets:
                yield from _in_target(each, node, value)
        case (
            ast.AnnAssign(target=target, value=value)
            | ast.NamedExpr(target=target, value=value)
            | ast.withitem(context_expr=value, optional_vars=ast.expr() as target)
        ):
            yield from _in_target(target, node, value)
        case ast.For(target=target, iter=given) | ast.comprehension(target=target, iter=given):
            yield from _in_target(target, node, given if isinstance(given, ast.Call) else None)
        case ast.arg(arg=word) | ast.alias(asname=str(word)) | ast.alias(name=word):
            yield word, _Binding(node, None)
        case ast.FunctionDef(name=word) | ast.AsyncFunctionDef(name=word) | ast.ClassDef(name=word):
            yield word, _Binding(node, None)


def _in_target(target: ast.expr, node: ast.AST, value: ast.expr | None) -> Iterator[tuple[str, _Binding]]:
    match target:
        case ast.Name(id=word):
            yield word, _Binding(node, value)
        case ast.Attribute(attr=word):
            yield word, _Binding(node, value, is_attribute=True)
        case ast.Tuple(elts=several) | ast.List(elts=several):
            for each in several:  # one after the other from what a call gives
                yield from _in_target(each, node, value if isinstance(value, ast.Call) else None)
        case ast.Starred(value=inner):
            yield from _in_target(inner, node, None)


def _called(node: ast.expr | None) -> str:
    """Return the last word of what is called; nothing for another expression."""
    words = dotted(node.func) if isinstance(node, ast.Call) else []
    return words[-1] if words else ""


def _every(found: Iterable[Entered]) -> Entered:
    """Return what must hold so that none of several is a device."""
    together: set[Elsewhere] = set()
    for each in found:
        if each is None:
            return None
        together |= each
    return frozenset(together)
