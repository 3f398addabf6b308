"""What a test needs beside Python and this package, read off the code that it reaches: it is marked by that.

A test reaches its own function, the fixtures that it asks for, and every name of its module, or of a module of tests
beside it, that these use. What is reached of ``SOURCES`` is needed; so is what the module skips itself without.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = {"subprocess": "process", "multiprocessing": "process", "torch": "torch"}
"""The need that the use of a module tells of."""
CONFTEST = Path(__file__).with_name("conftest.py")
Place = tuple[Path, str]
"""A name at the top of a module of tests."""


@cache
def needs(path: Path, function: str, fixtures: tuple[str, ...]) -> frozenset[str]:
    """Return the needs of one test: some of ``process`` and ``torch``."""
    starts = [*((path, each) for each in (function, "pytestmark", *fixtures)), *((CONFTEST, each) for each in fixtures)]
    found, seen = set(_demanded(path)), set(starts)
    while starts:
        at, name = starts.pop()
        for used in _uses(at).get(name, ()):
            if isinstance(used, str):
                found.add(used)
            elif used not in seen:
                seen.add(used)
                starts.append(used)
    return frozenset(found)


@cache
def _demanded(path: Path) -> frozenset[str]:
    """Return the needs without which a module skips all of its tests."""
    statements = [each for each in _tree(path).body if not isinstance(each, ast.FunctionDef | ast.ClassDef)]
    return frozenset(need for each in statements for need in _skipped_without(each))


@cache
def _uses(path: Path) -> dict[str, set[Place | str]]:
    """Return what each name at the top of a module leads to: needs, and other names."""
    found: defaultdict[str, set[Place | str]] = defaultdict(set)
    for statement in _tree(path).body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            for name, target in _imports(statement):
                found[name].add(target)
            continue
        reached = {*_within(path, statement)}
        for name in _bound(statement):
            found[name] |= reached
    return dict(found)


def _within(path: Path, statement: ast.stmt) -> Iterator[Place | str]:
    yield from _skipped_without(statement)
    for node in ast.walk(statement):
        if isinstance(node, ast.Name):
            yield path, node.id
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (target for _, target in _imports(node))


def _imports(statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, Place | str]]:
    """Return the names that an import binds, each with the need or the place in a module of tests it leads to."""
    for alias in statement.names:
        whole = f"{statement.module}.{alias.name}" if isinstance(statement, ast.ImportFrom) else alias.name
        name = alias.asname or alias.name.partition(".")[0]
        if need := SOURCES.get(whole.partition(".")[0]):
            yield name, need
        elif whole.startswith("tests."):
            yield from ((name, place) for place in _places(whole))


def _places(whole: str) -> Iterable[Place]:
    """Return what a dotted name below ``tests`` may lead to: one name of a module, or all of a module."""
    parts = whole.split(".")
    module, beside = (ROOT.joinpath(*each).with_suffix(".py") for each in (parts, parts[:-1]))
    return [(module, name) for name in _uses(module)] if module.exists() else [(beside, parts[-1])]


def _bound(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    else:
        yield from (each.id for each in ast.walk(statement) if isinstance(each, ast.Name))


def _skipped_without(statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        match node:
            case ast.Call(func=ast.Attribute(attr="importorskip"), args=[ast.Constant(value=str(name)), *_]):
                if name in SOURCES:
                    yield SOURCES[name]


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))
