"""Branches that no torch of today takes: their tests ask for a version before 1.0, whose code nobody runs any more."""

from __future__ import annotations

import ast
import operator
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torchlint.syntax.ast_index import AstIndex

_VERSIONS = (
    *(f"1.{minor}.{minor % 3}{'+cu117' if minor % 2 else ''}" for minor in range(14)),
    *(f"2.{minor}.{minor % 2}{'+cu128' if minor % 3 else ''}" for minor in range(14)),
    "2.5.0a0+b465a58",
    "2.9.0.dev20250801+cu128",
    "3.0.0",
)
"""The versions since 1.0 and one to come, with and without a build: a test on which all agree is decided."""

_VERSION = "torch.__version__"
_PARSERS = frozenset({"LooseVersion", "StrictVersion", "Version", "parse", "parse_version"})
_METHODS = frozenset("split rsplit partition rpartition startswith strip rstrip lstrip replace".split())
_BUILT_IN: dict[str, Callable[[Any], Any]] = {
    "int": int,
    "float": float,
    "str": str,
    "tuple": tuple,
    "list": list,
    "len": len,
    "bool": bool,
}
COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], object]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
"""What the operators that compare two values compute."""
_COMPARISONS = COMPARISONS | {
    ast.In: lambda one, other: one in other,
    ast.NotIn: lambda one, other: one not in other,
}
_DEEPEST, _MOST_STEPS = 40, 400
"""A test that takes more is not followed: each name may stand for a sum of others, and so on."""


class _UnknownError(Exception):
    """An expression says something that does not follow from torch's version."""


@dataclass(frozen=True, order=True)
class _Release:
    """What a parser of versions makes of one: it is compared with its like alone."""

    release: tuple[int, ...]

    @staticmethod
    def of(text: str) -> _Release:
        found = re.match(r"\d+(?:\.\d+)*", text)
        if found is None:
            raise _UnknownError
        numbers = tuple(map(int, found[0].split(".")))
        return _Release((*numbers, *(0,) * (4 - len(numbers))))


class _TorchVersion(str):
    """The value of ``torch.__version__``: a string, which torch has compared as a version since 1.10."""

    __slots__ = ()

    @property
    def is_version(self) -> bool:
        """Whether this torch compares it as a version, and not as a string."""
        return _Release.of(self).release >= (1, 10)


def _alike(one: Any, other: Any, is_part: bool) -> tuple[Any, Any]:
    """Return what is compared where torch's version itself is; ``is_part``: one is looked for in the other."""
    if is_part:
        if isinstance(one, _TorchVersion) and not isinstance(other, str):
            return _Release.of(one), [_Release.of(each) for each in other]
    elif any(isinstance(each, _TorchVersion) and each.is_version for each in (one, other)):
        if isinstance(one, str) and isinstance(other, str):
            return _Release.of(one), _Release.of(other)
        if isinstance(one, tuple) or isinstance(other, tuple):
            raise _UnknownError
    return one, other


def never_run(index: AstIndex, _: ast.Module) -> tuple[tuple[int, int], ...]:
    """Return where the branches begin and end that a file keeps for a torch before 1.0."""
    if b"__version__" not in index.source.utf8:
        return ()
    dead: list[ast.expr | ast.stmt] = []
    names = _named_once(index)
    for node in index.nodes(ast.If):
        if (holds := _decided(node.test, names)) is not None:
            dead += node.orelse if holds else node.body
    for choice in index.nodes(ast.IfExp):
        if (holds := _decided(choice.test, names)) is not None:
            dead.append(choice.orelse if holds else choice.body)
    return tuple((index.start(each), index.end(each)) for each in dead)


def _named_once(index: AstIndex) -> dict[str, ast.expr]:
    """Return what the names of a file stand for that one plain assignment binds and nothing else."""
    times = Counter(each.id for each in index.nodes(ast.Name) if not isinstance(each.ctx, ast.Load))
    times.update(each.arg for each in index.nodes(ast.arg))
    times.update(each.name for each in index.nodes(ast.FunctionDef))
    times.update(each.name for each in index.nodes(ast.ClassDef))
    times.update((each.asname or each.name).partition(".")[0] for each in index.nodes(ast.alias))
    found: dict[str, ast.expr] = {}
    for node in index.nodes(ast.Assign):
        match node.targets:
            case [ast.Name(id=word)]:
                found[word] = node.value
            case [ast.Tuple(elts=parts) | ast.List(elts=parts)]:
                names = ((place, part.id) for place, part in enumerate(parts) if isinstance(part, ast.Name))
                found |= {word: ast.Subscript(node.value, ast.Constant(at), ast.Load()) for at, word in names}
    return {word: value for word, value in found.items() if times[word] == 1}


def _decided(test: ast.expr, names: dict[str, ast.expr]) -> bool | None:
    """Return whether a test holds with every torch since 1.0; None where that differs or does not follow."""
    if not any(isinstance(each, ast.Attribute | ast.Name) for each in ast.walk(test)):
        return None
    answers = (_Reading(version, names).truth(test) for version in _VERSIONS)
    first = next(answers)
    return first if first is not None and all(each is first for each in answers) else None


class _Reading:
    """An expression as it is with one version of torch."""

    def __init__(self, version: str, names: dict[str, ast.expr]) -> None:
        self._version = version
        self._names = names
        self._steps = 0
        self._depth = 0
        self._asks_version = False

    def truth(self, test: ast.expr) -> bool | None:
        """Return whether a test holds; None where that is not known, or does not depend on torch's version."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                held = self.truth(inner)
                return None if held is None else not held
            case ast.BoolOp(op=joined, values=parts):
                ends = isinstance(joined, ast.Or)  # one part that is so decides
                found = [self.truth(each) for each in parts]
                return ends if ends in found else None if None in found else not ends
        self._asks_version = False
        try:
            held = bool(self._value(test))
        except (_UnknownError, ValueError, TypeError, IndexError, KeyError, AttributeError, OverflowError):
            return None
        return held if self._asks_version else None

    def _value(self, node: ast.expr) -> Any:
        self._depth += 1
        self._steps += 1
        try:
            if self._depth > _DEEPEST or self._steps > _MOST_STEPS:
                raise _UnknownError
            return self._read(node)
        finally:
            self._depth -= 1

    def _read(self, node: ast.expr) -> Any:
        """Return what an expression is under the release of torch that is asked about.

        :raises _UnknownError: where that is not known.
        """
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Attribute() if ast.unparse(node) in (_VERSION, "torch.version.__version__"):
                self._asks_version = True
                return _TorchVersion(self._version)
            case ast.Attribute(value=inner, attr="major" | "minor" | "micro" | "release" | "version" as word):
                release = self._value(inner)
                if not isinstance(release, _Release):
                    raise _UnknownError
                place = {"major": 0, "minor": 1, "micro": 2}.get(word)
                return release.release if place is None else release.release[place]
            case ast.Name(id=word) if word in self._names:
                return self._value(self._names[word])
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                made = [self._value(each) for each in parts]
                return tuple(made) if isinstance(node, ast.Tuple) else made
            case ast.Subscript(value=inner, slice=ast.Slice(lower=first, upper=last, step=None)):
                ends = [self._value(each) if each is not None else None for each in (first, last)]
                return self._value(inner)[slice(*ends)]
            case ast.Subscript(value=inner, slice=at):
                return self._value(inner)[self._value(at)]
            case ast.Compare(left=left, ops=asked, comparators=others):
                return self._compared(left, asked, others)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._value(left) + self._value(right)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                one, other = self._value(left), self._value(right)
                if not isinstance(one, int | float) or not isinstance(other, int | float):
                    raise _UnknownError
                return one * other
            case ast.Call(func=function, args=given, keywords=[]):
                return self._called(function, given)
            case ast.ListComp(elt=made, generators=[one]) | ast.GeneratorExp(elt=made, generators=[one]):
                if isinstance(one.target, ast.Name) and not one.ifs and not one.is_async:
                    return [self._with(one.target.id, each, made) for each in self._value(one.iter)]
        raise _UnknownError

    def _compared(self, left: ast.expr, asked: list[ast.cmpop], others: list[ast.expr]) -> bool:
        sides = [self._value(each) for each in (left, *others)]
        for before, how, after in zip(sides, asked, sides[1:], strict=False):
            is_part = isinstance(how, ast.In | ast.NotIn)
            one, other = _alike(before, after, is_part)
            are_alike = is_part or isinstance(one, _Release) is isinstance(other, _Release)
            if type(how) not in _COMPARISONS or not are_alike:
                raise _UnknownError
            if not _COMPARISONS[type(how)](one, other):
                return False
        return True

    def _called(self, function: ast.expr, given: list[ast.expr]) -> Any:
        match function, given:
            case ast.Name(id="map"), [ast.Name(id=word), each] if word in _BUILT_IN:
                return [_BUILT_IN[word](one) for one in self._value(each)]
            case ast.Name(id=word), [each] if word in _BUILT_IN:
                return _BUILT_IN[word](self._value(each))
            case ast.Attribute(value=inner, attr=word), _ if word in _METHODS:
                text = self._value(inner)
                if not isinstance(text, str):
                    raise _UnknownError
                return getattr(text, word)(*map(self._value, given))
            case ast.Name(id=word) | ast.Attribute(attr=word), [each] if word in _PARSERS:
                text = self._value(each)
                return _Release.of(text) if isinstance(text, str) else text
        raise _UnknownError

    def _with(self, word: str, each: Any, made: ast.expr) -> Any:
        """Return what an expression is where a name stands for a value."""
        names, self._names = self._names, {**self._names, word: ast.Constant(each)}
        try:
            return self._value(made)
        finally:
            self._names = names
