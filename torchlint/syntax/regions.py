"""The regions of a file that hold a candidate for a rule: what LibCST is given to read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchlint.diagnostics.rule_metadata import Triggers
from torchlint.syntax.ast_index import AstIndex
from torchlint.syntax.places import root_of_name

_BLOCKS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Region:
    """Whole lines of a file that parse on their own: a function, or a run of statements between functions.

    ``start`` and ``end`` are offsets into :attr:`Source.utf8`; ``statements`` are the stdlib's nodes for it, empty
    where the region is a whole file that the stdlib's parser refuses.
    """

    start: int
    end: int
    statements: tuple[ast.stmt, ...]


def whole(made: AstIndex) -> Region:
    """Return a file as one region."""
    return Region(0, len(made.source.utf8), tuple(made.tree.body))


def candidate_regions(
    made: AstIndex,
    words: frozenset[str],
    called: frozenset[str] = frozenset(),
    builtins: frozenset[str] = frozenset(),
    of_packages: tuple[Triggers, ...] = (),
) -> list[Region]:
    """Find the regions that hold a candidate: one of the words as a name, an attribute, a keyword or an import.

    Words in ``called`` count only as the function of a call, those in ``builtins`` moreover not behind a dot and not
    with a literal; those of ``of_packages`` where an import of their packages says so. Names that stand for a word
    count too: ``from torch import Tensor as T``, ``T = torch.Tensor if c else ...``.
    """
    aliases = _aliases(made, words)
    only_called = called | (aliases if words & aliases <= called else frozenset[str]())
    bearing = [
        node for node in _bearing(made, words | aliases) if _word(node) not in builtins or _takes_no_literal(made, node)
    ]
    marked = {_home(made, node) for node in bearing if _word(node) not in only_called or made.call_of(node) is not None}
    marked |= {_home(made, node) for triggers in of_packages for node in _of_packages(made, triggers)}
    return [_region(made, run) for run in _runs(made, made.tree.body, marked)] if marked else []


def _of_packages(made: AstIndex, triggers: Triggers) -> Iterator[ast.AST]:
    """Yield the calls of functions that an import takes from some packages, and of methods in a file that has one.

    Where something of theirs is called, operators and stores may meet what it gives.
    """
    names = set(_imported_from(made, frozenset(triggers.packages)))
    functions, methods = frozenset(triggers.functions), frozenset(triggers.methods)
    owners: set[ast.AST | None] = set()
    for call in made.nodes(ast.Call) if names else ():
        word, root = _word(call.func), root_of_name(call.func)
        if isinstance(root, ast.Name) and root.id in names:
            owners.add(made.owner(call))
            if word in functions or root is call.func:
                yield call
        elif word in methods:
            yield call
    yield from (each for each in made.nodes(ast.BinOp) if made.owner(each) in owners)
    for each in made.nodes(ast.Assign):
        if isinstance(each.targets[0], ast.Subscript) and made.owner(each) in owners:
            yield each


def _imported_from(made: AstIndex, packages: frozenset[str]) -> Iterator[str]:
    """Yield the names that imports bind to some packages, or to what is in them."""
    for node in made.imports:
        for alias in node.names:
            module = (node.module or "") if isinstance(node, ast.ImportFrom) else alias.name
            if module.partition(".")[0] in packages:
                yield alias.asname or alias.name.partition(".")[0]


def _bearing(made: AstIndex, words: frozenset[str]) -> list[ast.AST]:
    """Return the nodes that bear one of some words."""
    found = [
        *[each for each in made.nodes(ast.Attribute) if each.attr in words],
        *[each for each in made.nodes(ast.Name) if each.id in words],
        *[each for each in made.nodes(ast.keyword) if each.arg in words],
        *[each for each in made.nodes(ast.alias) if _word(each) in words],
    ]
    return [each for each in found if not _is_package_path(each)]


def _word(node: ast.AST) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.keyword):
        return node.arg
    return node.name.rpartition(".")[2] if isinstance(node, ast.alias) else None


def _takes_no_literal(made: AstIndex, node: ast.AST) -> bool:
    """Whether a built-in is called with something else than a string or a number."""
    above = made.parents.get(node)
    if not isinstance(node, ast.Name) or not isinstance(above, ast.Call):
        return False
    given = [each.operand if isinstance(each, ast.UnaryOp) else each for each in above.args]
    return not all(isinstance(each, ast.Constant) for each in given)


def _is_package_path(node: ast.AST) -> bool:
    """``torch.utils.data`` is a package, not a tensor's attribute."""
    match node:
        case ast.Attribute(attr="data", value=ast.Attribute(attr="utils")):
            return True
        case ast.alias():
            return _word(node) == "data"
    return False


def _aliases(made: AstIndex, words: frozenset[str]) -> frozenset[str]:
    found: set[str] = set()
    for imported in made.nodes(ast.ImportFrom):
        found.update(each.asname for each in imported.names if each.asname and each.name in words)
    for assigned in made.nodes(ast.Assign):
        if _names_a_type(assigned.value, words):
            found.update(word for target in assigned.targets if (word := _word(target)))
    for annotated in made.nodes(ast.AnnAssign):
        if annotated.value is not None and _names_a_type(annotated.value, words):
            found.update(word for word in (_word(annotated.target),) if word)
    return frozenset(found)


def _names_a_type(value: ast.expr, words: frozenset[str]) -> bool:
    """``torch.FloatTensor``, ``FloatTensor if cpu else torch.cuda.FloatTensor``: a class, not a call of it."""
    match value:
        case ast.IfExp(body=one, orelse=other):
            return _names_a_type(one, words) or _names_a_type(other, words)
        case ast.Attribute(attr=word) | ast.Name(id=word):
            return word[:1].isupper() and word in words
    return False


def _home(made: AstIndex, node: ast.AST) -> ast.AST:
    """Climb to the statement that is a region of its own or part of a run: not inside a function."""
    home = node
    for above in made.ancestors(node):
        if isinstance(above, ast.ClassDef | ast.Module) and isinstance(home, ast.stmt):
            owner = next(made.ancestors(above), None) if isinstance(above, ast.ClassDef) else None
            if owner is None or all(isinstance(each, ast.ClassDef | ast.Module) for each in made.ancestors(above)):
                return home
        home = above if isinstance(above, ast.stmt) else home
    return home


def _runs(made: AstIndex, body: list[ast.stmt], marked: set[ast.AST]) -> Iterator[list[ast.stmt]]:
    run: list[ast.stmt] = []
    for statement in body:
        if isinstance(statement, _BLOCKS):
            yield from _trimmed(run, marked)
            run = []
            if statement in marked:
                yield [statement]
            elif isinstance(statement, ast.ClassDef):
                yield from _runs(made, statement.body, marked)
        else:
            if run and made.source.cell(run[-1].lineno) != made.source.cell(statement.lineno):
                yield from _trimmed(run, marked)
                run = []
            run.append(statement)
    yield from _trimmed(run, marked)


def _trimmed(run: list[ast.stmt], marked: set[ast.AST]) -> Iterator[list[ast.stmt]]:
    at = [index for index, statement in enumerate(run) if statement in marked]
    if not at:
        return
    first, last = at[0], at[-1]
    while first and run[first - 1].end_lineno == run[first].lineno:  # `a = 1; b = 2`
        first -= 1
    while last + 1 < len(run) and run[last + 1].lineno == run[last].end_lineno:
        last += 1
    yield run[first : last + 1]


def _region(made: AstIndex, statements: list[ast.stmt]) -> Region:
    source = made.source
    first, last = statements[0], statements[-1]
    assert last.end_lineno is not None
    end = source.line_starts[last.end_lineno] if last.end_lineno < len(source.line_starts) else len(source.utf8)
    return Region(source.line_starts[made.first_row(first) - 1], end, tuple(statements))
