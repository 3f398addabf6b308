"""What the standard library's parser sees in a file: its tree, and nodes by type and place."""

from __future__ import annotations

import ast
import sys
import warnings
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import Any, Literal, TypeVar
from weakref import WeakValueDictionary

from torchlint.source.text import Source

DEEPEST = 1_000
"""Nodes nested deeper than this are not looked at: LibCST prints by recursion and would overflow the stack."""

Node = TypeVar("Node", bound=ast.AST)
Told = TypeVar("Told")

Function = ast.FunctionDef | ast.AsyncFunctionDef

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
"""The types of a :data:`Function`, for what takes types one by one."""


@dataclass
class AstIndex:
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
    _kinds: dict[type[ast.AST], list[int]] = field(default_factory=dict)
    _ends: dict[int, int] = field(default_factory=dict)
    _left: dict[tuple[ast.AST, tuple[type[ast.AST], ...]], list[tuple[int, int]]] = field(default_factory=dict)

    def nodes(self, kind: type[Node]) -> list[Node]:
        """Return all nodes of one type: a rule's question about the whole file must not walk it again."""
        found: list[Any] = self.by_type[kind]
        return found

    @cached_property
    def imports(self) -> list[ast.Import | ast.ImportFrom]:
        """All import statements, ``import x`` before ``from x import y``."""
        return [*self.nodes(ast.Import), *self.nodes(ast.ImportFrom)]

    @cached_property
    def functions(self) -> list[Function]:
        """All definitions of functions, the asynchronous ones last."""
        return [*self.nodes(ast.FunctionDef), *self.nodes(ast.AsyncFunctionDef)]

    def within(self, node: ast.AST) -> list[ast.AST]:
        """Return a node and all nodes inside it, as ``ast.walk`` does in another order: they need not be looked for."""
        at = self._index[node]
        return self.order[at : self._end(at)]

    def inside(self, node: ast.AST, *kinds: type[Node], but: tuple[type[ast.AST], ...] = ()) -> list[Node]:
        """Return the nodes of some types inside a node in the order of the text, itself not counted.

        Those inside one of the types in ``but`` are left out; that one itself is given. No other node is looked at.
        """
        found: list[int] = []
        for first, last in self._ranges(node, but):
            for places in map(self._places, kinds):
                found += places[bisect_left(places, first) : bisect_left(places, last)]
        order: list[Any] = self.order
        return [order[at] for at in sorted(found)]

    def _ranges(self, node: ast.AST, but: tuple[type[ast.AST], ...]) -> list[tuple[int, int]]:
        """Return where the nodes inside a node stand in :attr:`order`, those in nodes of some types left out."""
        at = self._index[node]
        first, last = at + 1, self._end(at)
        if not but:
            return [(first, last)]
        if (node, but) not in self._left:
            left = self._left[node, but] = []
            while first < last:
                hiding = min([last - 1, *(each for kind in but for each in self._next(kind, first))])
                left.append((first, hiding + 1))
                first = self._end(hiding)
        return self._left[node, but]

    def _next(self, kind: type[ast.AST], at: int) -> list[int]:
        """Return where the first node of a type stands that is not before a place, if there is one."""
        places = self._places(kind)
        first = bisect_left(places, at)
        return places[first : first + 1]

    def _places(self, kind: type[ast.AST]) -> list[int]:
        """Return where the nodes of a type stand in :attr:`order`."""
        if kind not in self._kinds:
            self._kinds[kind] = [self._index[each] for each in self.by_type[kind]]
        return self._kinds[kind]

    def _end(self, at: int) -> int:
        """Return the place in :attr:`order` behind the last node inside the one at a place."""
        if at not in self._ends:
            depths = self.depths
            depth, last = depths[at], len(depths)
            self._ends[at] = next((end for end in range(at + 1, last) if depths[end] <= depth), last)
        return self._ends[at]

    @cached_property
    def _index(self) -> dict[ast.AST, int]:
        return {node: at for at, node in enumerate(self.order)}

    def told(self, tell: Callable[[AstIndex, Node], Told], node: Node) -> Told:
        """Return what the text alone tells of a node: it is found out once, and kept as long as the tree is."""
        key = (tell, node)
        if key not in self._told:
            self._told[key] = tell(self, node)
        found: Told = self._told[key]
        return found

    @cached_property
    def imported(self) -> dict[str, set[str]]:
        """The words that each name stands for by ``from ... import``: ``T`` for ``Tensor``."""
        found: dict[str, set[str]] = {}
        for each in (alias for node in self.nodes(ast.ImportFrom) for alias in node.names):
            found.setdefault(each.asname or each.name, set()).add(each.name)
        return found

    def start(self, node: ast.expr | ast.stmt) -> int:
        """Return the offset at which a node begins, parentheses around it not counted."""
        return self.source.offset(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt) -> int:
        """Return the offset behind a node's last byte, parentheses around it not counted."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.source.offset(node.end_lineno, node.end_col_offset)

    def first_row(self, statement: ast.stmt) -> int:
        """Return the row on which a statement begins, the decorators of a function or a class counted."""
        decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
        return min([statement.lineno, *(each.lineno for each in decorators)])

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the nodes around a node, innermost first; the module is last."""
        while (above := self.parents.get(node)) is not None:
            yield above
            node = above

    def nearest(self, node: ast.AST, *kinds: type[Node]) -> Node | None:
        """Return the innermost node of some types around a node; None where there is none."""
        return next((each for each in self.ancestors(node) if isinstance(each, kinds)), None)

    def call_of(self, node: ast.AST) -> ast.Call | None:
        """Return the call whose function a node is; None where it is not called."""
        above = self.parents.get(node)
        return above if isinstance(above, ast.Call) and above.func is node else None

    def owner(self, node: ast.AST) -> Function | None:
        """Return the function around a node."""
        climbed: list[ast.AST] = []
        owner: Function | None = None
        at: ast.AST | None = node
        while at is not None:
            if at in self._owners:
                owner = self._owners[at]
                break
            climbed.append(at)
            at = self.parents.get(at)
            if isinstance(at, FUNCTIONS):
                owner = at
                break
        self._owners.update(dict.fromkeys(climbed, owner))
        return owner


def index_of(source: Source, parsed: ast.Module | None = None) -> AstIndex:
    """Parse a file with the stdlib's parser, and find its nodes by type, and what stands around each.

    ``parsed`` is the tree of a file that was parsed before.

    :raises SyntaxError: where that parser refuses the text.
    :raises RecursionError: where the text is nested too deeply for it, or too deeply to be looked at.
    :raises MemoryError: likewise.
    """
    tree = parse(source) if parsed is None else parsed
    made = AstIndex(source, tree)
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


def empty(source: Source) -> AstIndex:
    """Return the index of a file of which the stdlib's parser sees nothing."""
    tree = ast.Module(body=[], type_ignores=[])
    return AstIndex(source, tree, by_type=defaultdict(list, {ast.Module: [tree]}), order=[tree], depths=[0])


def parse(source: Source) -> ast.Module:
    """Parse a file with the stdlib's parser.

    :raises SyntaxError: where that parser refuses the text.
    :raises RecursionError: where the text is nested too deeply for it.
    :raises MemoryError: likewise.
    """
    return tree_of(source.path, source.utf8, source.text)


def children(node: ast.AST) -> list[ast.AST]:
    """Return the nodes right below a node, contexts and operators left out: they say nothing of their own."""
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


def _parse(text: str | bytes) -> ast.Module:
    if (b"# type:" if isinstance(text, bytes) else "# type:") in text:  # type: ignore[operator]  # both or neither
        try:
            return ast.parse(text, type_comments=True)
        except SyntaxError:  # a type comment where none is expected, or no Python at all
            pass
    return ast.parse(text)


_TREES: WeakValueDictionary[tuple[str, bytes], ast.Module] = WeakValueDictionary()
"""The trees that somebody holds, by the absolute path and the bytes of their files: nobody parses one twice."""


def tree_of(path: str, text: bytes, code: str | bytes) -> ast.Module:
    """Return the tree of a file with an absolute path: the one that is held, or a new one made of its code.

    :raises SyntaxError: where the parser refuses the text.
    :raises RecursionError: where the text is nested too deeply for it.
    :raises MemoryError: likewise.
    """
    made = _TREES.get((path, text))
    if made is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in the user's strings are not ours to report
            made = _TREES[path, text] = _parse(code)
    return made
