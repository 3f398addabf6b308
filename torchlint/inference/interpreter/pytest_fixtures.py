"""What pytest hands to a test: the values of ``parametrize``, and what fixtures return or yield."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.facts.value import UNKNOWN, Value
from torchlint.inference.lattice import join_all
from torchlint.inference.models.containers import part
from torchlint.inference.models.devices import last_word_of_name, says_accelerator
from torchlint.syntax.ast_index import AstIndex, Function
from torchlint.syntax.signatures import decorators_of

if TYPE_CHECKING:
    from torchlint.inference.interpreter.file_scope import File

_FIXTURES = frozenset({"fixture", "yield_fixture"})


def handed(file: File, function: Function, word: str) -> Value | None:
    """Return what pytest hands to a test or a fixture under a name; None where that is not known."""
    if not file.is_tested_by_pytest:
        return None
    found = _parametrized(file, function, word)
    return found if found is not None else _from_fixture(file, function, word)


def _parametrized(file: File, function: Function, word: str) -> Value | None:
    """Return the join of the values that ``@pytest.mark.parametrize("word", [...])`` lists."""
    above = file.index.parents.get(function)
    decorators = [*function.decorator_list, *(above.decorator_list if isinstance(above, ast.ClassDef) else ())]
    for each in decorators:
        if not isinstance(each, ast.Call) or last_word_of_name(each.func) != "parametrize" or len(each.args) < 2:
            continue
        words = _words(each.args[0])
        if word not in words:
            continue
        listed = file.outside(function, each.args[1])
        rows = listed.items if listed.items is not None else (part(listed),)
        return join_all(_column(row, words, word) for row in rows) if rows else None
    return None


def _words(node: ast.expr) -> list[str]:
    match node:
        case ast.Constant(value=str(text)):
            return [each.strip() for each in text.split(",") if each.strip()]
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return [each.value for each in elements if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return []


def _column(row: Value, words: list[str], word: str) -> Value:
    if len(words) == 1:
        return row
    if row.items is not None and len(row.items) == len(words):
        return row.items[words.index(word)]
    return part(row) if row.member is not None else UNKNOWN


def speaks_of_accelerators(file: File, node: ast.AST) -> bool:
    """Whether a test file speaks of a device, the tests left out in which a node does not stand."""
    index = file.index
    if not file.mentions_accelerators:
        return False
    rest, tests = index.told(_speaking, index.tree)
    return rest or not tests.isdisjoint(index.ancestors(node))


def _speaking(index: AstIndex, _: ast.Module) -> tuple[bool, frozenset[ast.AST]]:
    """Return whether what is no test speaks of a device, and give the tests that do."""
    functions = [each for each in index.nodes(ast.FunctionDef) if each.name.startswith("test")]
    at, rest = 0, []
    for each in functions:
        rest.append(index.source.utf8[at : index.source.line_starts[index.first_row(each) - 1]])
        at = max(at, index.end(each))
    said = says_accelerator(b"".join((*rest, index.source.utf8[at:])))
    return said, frozenset(each for each in functions if says_accelerator(index.text(each)))


# ---------------------------------------------------------------------- fixtures
def _from_fixture(file: File, function: Function, word: str) -> Value | None:
    if not function.name.startswith("test") and not _is_fixture(function):
        return None
    for home, body in _places(file, function):
        for statement in body:
            if isinstance(statement, ast.FunctionDef) and statement.name == word and _is_fixture(statement):
                if statement is function or home.is_running(statement):
                    return None
                flow = home.general(statement)
                given = join_all(flow.yielded) if flow.yielded else flow.returned
                return given if given.kind else None
    return None


def _is_fixture(function: Function) -> bool:
    return any(last_word_of_name(each) in _FIXTURES for each in decorators_of(function))


def _places(file: File, function: Function) -> Iterator[tuple[File, list[ast.stmt]]]:
    """Yield the places in which pytest looks for a fixture, nearest first."""
    above = file.index.parents.get(function)
    if isinstance(above, ast.ClassDef):
        yield file, above.body
    yield file, file.index.tree.body
    if file.place is None:
        return
    folder = file.place.folder
    while folder.startswith(file.place.root):
        other = file.project.file(os.path.join(folder, "conftest"))
        if other is not None and other is not file:
            yield other, other.index.tree.body
        if folder == file.place.root:
            return
        folder = os.path.dirname(folder)
