"""What the stdlib's parser sees in a file: its tree, and the stretches of text that hold a candidate for a rule."""

from __future__ import annotations

import ast
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import Any, Literal, TypeVar, cast

from torchlint.source import Source

DEEPEST = 1_000
"""Nodes nested deeper than this are not looked at: LibCST prints by recursion and would overflow the stack."""

Node = TypeVar("Node", bound=ast.AST)
Told = TypeVar("Told")

Function = ast.FunctionDef | ast.AsyncFunctionDef

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

_BLOCKS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Stretch:
    """Whole lines of a file that parse on their own: a function, or a run of statements between functions.

    ``start`` and ``end`` are offsets into :attr:`Source.utf8`; ``statements`` are the stdlib's nodes for it, empty
    where the stretch is a whole file that the stdlib's parser refuses.
    """

    start: int
    end: int
    statements: tuple[ast.stmt, ...]


@dataclass
class Outline:
    """The stdlib's tree of a file, with the identifiers that import or assignment made of the words asked for."""

    source: Source
    tree: ast.Module
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)
    by_type: dict[type[ast.AST], list[ast.AST]] = field(default_factory=lambda: defaultdict(list))
    order: list[ast.AST] = field(default_factory=list)
    """All nodes but contexts and operators, each followed by those inside it."""
    depths: list[int] = field(default_factory=list)
    """How deep each of them lies."""
    _told: dict[tuple[object, ast.AST], Any] = field(default_factory=dict)
    _owners: dict[ast.AST, Function | None] = field(default_factory=dict)

    def nodes(self, kind: type[Node]) -> list[Node]:
        """Give all nodes of one type: a rule's question about the whole file must not walk it again."""
        return cast(list[Node], self.by_type[kind])

    def within(self, node: ast.AST) -> list[ast.AST]:
        """Give a node and all nodes inside it, as ``ast.walk`` does in another order: they need not be looked for."""
        first = self._index[node]
        depth, last = self.depths[first], first + 1
        while last < len(self.depths) and self.depths[last] > depth:
            last += 1
        return self.order[first:last]

    def outside_of(self, node: ast.AST, kinds: tuple[type[ast.AST], ...]) -> Iterator[ast.AST]:
        """Give the nodes inside a node but those inside another one of some types, which is given itself."""
        at = self._index[node]
        around, hidden = self.depths[at], DEEPEST + 1
        for below in range(at + 1, len(self.depths)):
            depth = self.depths[below]
            if depth <= around:
                return
            if depth > hidden:
                continue
            found = self.order[below]
            hidden = depth if isinstance(found, kinds) else DEEPEST + 1
            yield found

    @cached_property
    def _index(self) -> dict[ast.AST, int]:
        return {node: at for at, node in enumerate(self.order)}

    def told(self, tell: Callable[[Outline, Node], Told], node: Node) -> Told:
        """Give what the text alone tells of a node: it is found out once, and kept as long as the tree is."""
        key = (tell, node)
        if key not in self._told:
            self._told[key] = tell(self, node)
        return cast(Told, self._told[key])

    def names_of(self, word: str) -> frozenset[str]:
        """Give the names that ``from ... import`` binds to a word: ``{"T"}`` for ``from torch import Tensor as T``."""
        imports = self.nodes(ast.ImportFrom)
        return frozenset(each.asname or word for node in imports for each in node.names if each.name == word)

    def start(self, node: ast.expr | ast.stmt) -> int:
        """Give the offset at which a node begins, parentheses around it not counted."""
        return self.source.offset(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt) -> int:
        """Give the offset behind a node's last byte, parentheses around it not counted."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.source.offset(node.end_lineno, node.end_col_offset)

    def first_row(self, statement: ast.stmt) -> int:
        """Give the row on which a statement begins, the decorators of a function or a class counted."""
        decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
        return min([statement.lineno, *(each.lineno for each in decorators)])

    def text(self, statement: ast.stmt) -> bytes:
        """Give a statement's text from its first row on, decorators included."""
        return self.source.utf8[self.source.line_starts[self.first_row(statement) - 1] : self.end(statement)]

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """Give the nodes around a node, innermost first; the module is last."""
        while (above := self.parents.get(node)) is not None:
            yield above
            node = above

    def owner(self, node: ast.AST) -> Function | None:
        """Give the function around a node."""
        climbed: list[ast.AST] = []
        owner: Function | None = None
        at: ast.AST | None = node
        while at is not None:
            if at in self._owners:
                owner = self._owners[at]
                break
            climbed.append(at)
            at = self.parents.get(at)
            if isinstance(at, _FUNCTIONS):
                owner = at
                break
        self._owners.update(dict.fromkeys(climbed, owner))
        return owner

    def whole(self) -> Stretch:
        """Give the file as one stretch."""
        return Stretch(0, len(self.source.utf8), tuple(self.tree.body))


def outline(source: Source) -> Outline:
    """Parse a file with the stdlib's parser, and find its nodes by type, and what stands around each.

    :raises SyntaxError: where that parser refuses the text.
    :raises RecursionError: where the text is nested too deeply for it, or too deeply to be looked at.
    :raises MemoryError: likewise.
    """
    tree = parse(source)
    made = Outline(source, tree)
    parents, by_type, order, depths = made.parents, made.by_type, made.order, made.depths

    def note(node: ast.AST, depth: int, parts: _Parts, again: Callable[..., None]) -> None:
        # Once for each node of each file: seconds of a run. It is handed itself, for a function that names itself is a
        # circle, and the whole tree would wait for the next search for garbage.
        by_type[node.__class__].append(node)
        order.append(node)
        depths.append(depth)
        depth += 1
        if depth > DEEPEST:
            raise RecursionError
        for value in parts(node):
            for child in value if value.__class__ is list else (value,):
                inner = _PARTS[child.__class__]
                if inner:
                    parents[child] = node
                    again(child, depth, inner, again)
                elif inner is None:
                    parents[child] = node
                    by_type[child.__class__].append(child)
                    order.append(child)
                    depths.append(depth)

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 10 * DEEPEST))
    try:
        note(tree, 0, _PARTS[ast.Module] or _nothing, note)
    finally:
        sys.setrecursionlimit(limit)
    return made


def parse(source: Source) -> ast.Module:
    """Parse a file with the stdlib's parser.

    :raises SyntaxError: where that parser refuses the text.
    :raises RecursionError: where the text is nested too deeply for it.
    :raises MemoryError: likewise.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes in the user's strings are not ours to report
        return _parse(source.text)


def children(node: ast.AST) -> list[ast.AST]:
    """Give the nodes right below a node, contexts and operators left out: they say nothing of their own."""
    parts = _PARTS[node.__class__] or _nothing
    found: list[ast.AST] = []
    for value in parts(node):
        found += value if value.__class__ is list else (value,)
    return [each for each in found if isinstance(each, ast.AST)]


_PLAIN = frozenset({"ctx", "op", "ops", "id", "attr", "arg", "level", "module", "asname", "type_comment", "kind"})

_Parts = Callable[[ast.AST], tuple[Any, ...]]


class _PartsByType(dict[type[object], _Parts | Literal[False] | None]):
    """What gives the fields of a node that may hold nodes; None where none of them does, False for what is no node."""

    def __missing__(self, kind: type[object]) -> _Parts | Literal[False] | None:
        self[kind] = _parts_of(kind) if issubclass(kind, ast.AST) else False
        return self[kind]


def _parts_of(kind: type[ast.AST]) -> _Parts | None:
    names = [] if kind is ast.Constant else [each for each in kind._fields if each not in _PLAIN]
    if len(names) != 1:
        return attrgetter(*names) if names else None
    (name,) = names
    return lambda node: (getattr(node, name),)


def _nothing(_: ast.AST) -> tuple[Any, ...]:
    return ()


_PARTS = _PartsByType()


def parameters(function: Function | ast.Lambda) -> frozenset[str]:
    """Give the names of a function's parameters, those with stars too."""
    given = function.args
    starred = [each for each in (given.vararg, given.kwarg) if each is not None]
    return frozenset(each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs, *starred))


def _parse(text: str) -> ast.Module:
    if "# type:" in text:
        try:
            return ast.parse(text, type_comments=True)
        except SyntaxError:  # a type comment where none is expected, or no Python at all
            pass
    return ast.parse(text)


def stretches(
    made: Outline,
    words: frozenset[str],
    called: frozenset[str] = frozenset(),
    counts: Callable[[ast.AST, str], bool] | None = None,
) -> list[Stretch]:
    """Find the stretches that hold a candidate: one of the words as a name, an attribute, a keyword or an import.

    Words in ``called`` count only as the function of a call. Names that stand for a word count too:
    ``from torch import Tensor as T``, ``T = torch.Tensor if c else ...``. ``counts`` tells of a node and its word
    whether it is a candidate; it is not asked about a stretch that has one.
    """
    aliases = _aliases(made, words)
    wanted = words | aliases
    only_called = called | (aliases if words & aliases <= called else frozenset[str]())
    marked: set[ast.AST] = set()
    for kind in (ast.Attribute, ast.Name, ast.keyword, ast.alias):
        for node in made.nodes(kind):
            word = _word(node)
            if word not in wanted or word is None or _is_package_path(node):
                continue
            if word in only_called and not _is_called(made, node):
                continue
            home = _home(made, node)
            if home not in marked and (counts is None or counts(node, word)):
                marked.add(home)
    return list(_runs(made, made.tree.body, marked)) if marked else []


def _word(node: ast.AST) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.keyword):
        return node.arg
    return node.name.rpartition(".")[2] if isinstance(node, ast.alias) else None


def _is_called(made: Outline, node: ast.AST) -> bool:
    above = made.parents.get(node)
    return isinstance(above, ast.Call) and above.func is node


def _is_package_path(node: ast.AST) -> bool:
    """``torch.utils.data`` is a package, not a tensor's attribute."""
    match node:
        case ast.Attribute(attr="data", value=ast.Attribute(attr="utils")):
            return True
        case ast.alias():
            return _word(node) == "data"
    return False


def _aliases(made: Outline, words: frozenset[str]) -> frozenset[str]:
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


def _home(made: Outline, node: ast.AST) -> ast.AST:
    """Climb to the statement that is a stretch of its own or part of a run: not inside a function."""
    home = node
    for above in made.ancestors(node):
        if isinstance(above, ast.ClassDef | ast.Module) and isinstance(home, ast.stmt):
            owner = next(made.ancestors(above), None) if isinstance(above, ast.ClassDef) else None
            if owner is None or all(isinstance(each, ast.ClassDef | ast.Module) for each in made.ancestors(above)):
                return home
        home = above if isinstance(above, ast.stmt) else home
    return home


def _runs(made: Outline, body: list[ast.stmt], marked: set[ast.AST]) -> Iterator[Stretch]:
    run: list[ast.stmt] = []
    for statement in body:
        if isinstance(statement, _BLOCKS):
            yield from _trimmed(made, run, marked)
            run = []
            if statement in marked:
                yield _stretch(made, [statement])
            elif isinstance(statement, ast.ClassDef):
                yield from _runs(made, statement.body, marked)
        else:
            if run and made.source.cell(run[-1].lineno) != made.source.cell(statement.lineno):
                yield from _trimmed(made, run, marked)
                run = []
            run.append(statement)
    yield from _trimmed(made, run, marked)


def _trimmed(made: Outline, run: list[ast.stmt], marked: set[ast.AST]) -> Iterator[Stretch]:
    at = [index for index, statement in enumerate(run) if statement in marked]
    if not at:
        return
    first, last = at[0], at[-1]
    while first and run[first - 1].end_lineno == run[first].lineno:  # `a = 1; b = 2`
        first -= 1
    while last + 1 < len(run) and run[last + 1].lineno == run[last].end_lineno:
        last += 1
    yield _stretch(made, run[first : last + 1])


def _stretch(made: Outline, statements: list[ast.stmt]) -> Stretch:
    source = made.source
    first, last = statements[0], statements[-1]
    assert last.end_lineno is not None
    end = source.line_starts[last.end_lineno] if last.end_lineno < len(source.line_starts) else len(source.utf8)
    return Stretch(source.line_starts[made.first_row(first) - 1], end, tuple(statements))
