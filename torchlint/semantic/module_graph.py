"""One file: its text, its syntax, its functions and what others see of it, each made when somebody asks."""

from __future__ import annotations

import ast
import os
import re
from functools import cached_property
from typing import TYPE_CHECKING, Final

from torchlint.semantic.formal_parameters import AnyFunction
from torchlint.semantic.graph import EXPORT, ClassGraph, FunctionGraph, Node, Span
from torchlint.semantic.lower_statements import signs_of
from torchlint.semantic.lowering import lower, recursion_room
from torchlint.semantic.outline import Mention, Outline, WrittenCall, outline_of
from torchlint.source.bare_code import without_comments
from torchlint.syntax.ast_index import tree_of

if TYPE_CHECKING:
    from torchlint.semantic.program import Program

MOST_BYTES: Final = 2_000_000
"""A larger text is data."""
_PARSER_ROOM: Final = 2000
"""How many more frames Python's parser may presume: it counts its own in multiples of these, and has no other bound."""


class ModuleGraph:
    """A file of a program."""

    def __init__(self, path: str, text: bytes, program: Program) -> None:
        """Take the text of an absolute path; nothing is parsed yet."""
        self.path, self.text, self.program = path, text, program
        self.bit = program.bit_of(path)
        """What says that an answer rests on the text: see :attr:`Program.touched`."""
        self.stars: list[tuple[int, str]] = []
        """Star imports, as level and module; known once the body is lowered."""
        self.above_stars: set[str] = set()
        """Names that are bound above a star import, which may bind them anew."""
        self._functions: dict[ast.AST, FunctionGraph] = {}
        self._classes: dict[ast.AST, ClassGraph] = {}
        self._exports: dict[str, Node] = {}

    def __repr__(self) -> str:
        """Spell it for messages of tests."""
        return f"<module {self.path}>"

    # ------------------------------------------------------------------ text and syntax
    @cached_property
    def tree(self) -> ast.Module:
        """The syntax; an empty module where the text does not parse or is larger than anybody's code."""
        if len(self.text) > MOST_BYTES:
            return ast.Module([], [])
        try:
            with recursion_room(_PARSER_ROOM):
                return tree_of(self.path, self.text, self.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ast.Module([], [])

    @cached_property
    def bare(self) -> bytes:
        """The text with blanks in place of comments, of which no answer about other files takes notice."""
        return without_comments(self.text)

    @cached_property
    def outline(self) -> Outline:
        """Where functions, classes and calls stand."""
        return outline_of(self.tree)

    @cached_property
    def properties_set(self) -> frozenset[str]:
        """The words of properties of the file that are more than set: what is read back is not what was put there."""
        return frozenset(each.decode() for each in re.findall(rb"@(\w+)\.setter\b", self.bare))

    @cached_property
    def collating(self) -> frozenset[str]:
        """The words of all names in what the file hands over as ``collate_fn``."""
        if b"collate_fn" not in self.text:
            return frozenset()
        given = [
            each.value for each in ast.walk(self.tree) if isinstance(each, ast.keyword) and each.arg == "collate_fn"
        ]
        inner = [each for value in given for each in ast.walk(value)]
        names = [each.id for each in inner if isinstance(each, ast.Name)]
        return frozenset(names + [each.attr for each in inner if isinstance(each, ast.Attribute)])

    @cached_property
    def _lines(self) -> list[bytes]:
        return self.bare.splitlines()

    def code(self, span: Span) -> str:
        """Return the text of a span on one line, with single blanks for any white space."""
        first, last = span.lineno - 1, (span.end_lineno or span.lineno) - 1
        lines = self._lines[first : last + 1]
        if not lines:
            return ""
        if span.end_col_offset is not None:
            lines[-1] = lines[-1][: span.end_col_offset]
        lines[0] = lines[0][span.col_offset :]
        return " ".join(b" ".join(lines).decode("utf-8", "replace").split())

    @cached_property
    def is_test(self) -> bool:
        """Whether the file is named like tests."""
        name = os.path.basename(self.path)
        return name.startswith("test_") or name.endswith("_test.py") or name == "conftest.py"

    # ------------------------------------------------------------------ functions and classes
    @cached_property
    def body(self) -> FunctionGraph:
        """The module's own statements as a function; its identity is 0."""
        return FunctionGraph("<module>", self.tree, self, None, None, 0)

    @property
    def functions(self) -> list[FunctionGraph]:
        """All functions of the file by identity, the body first."""
        return [self.body, *[self.function_of(each) for each in self.outline.functions]]

    def function(self, node: AnyFunction, parent: FunctionGraph, cls: ClassGraph | None) -> FunctionGraph:
        """Return the one graph for a function's syntax, as its statement or expression makes it."""
        found = self._functions.get(node)
        if found is None:
            name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
            found = FunctionGraph(name, node, self, cls, parent, self.outline.scopes[node].identity)
            found.signs = signs_of(node)
            self._functions[node] = found
            if cls is not None:
                is_accessor = not found.signs.isdisjoint(("setter", "deleter"))
                cls.methods[f"{name}.setter" if is_accessor else name] = found
        return found

    def class_graph(self, node: ast.ClassDef, parent: FunctionGraph) -> ClassGraph:
        """Return the one graph for a class's syntax."""
        found = self._classes.get(node)
        if found is None:
            found = ClassGraph(node.name, self, parent, self.outline.scopes[node].identity, node)
            self._classes[node] = found
        return found

    def function_of(self, node: ast.AST) -> FunctionGraph:
        """Return the graph for the syntax of a function, lambda or module of the tree, once what is around is lowered.

        A function that is never defined, because its statement is never reached, has no parameters.
        """
        if node is self.tree:
            return self.body
        known = self._functions.get(node)
        if known is not None:
            return known
        scope = self.outline.scopes[node]
        parent = lower(self.function_of(scope.owner))
        known = self._functions.get(node)
        if known is not None:
            return known
        assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        cls = self.class_graph(scope.cls, self.function_of(self.outline.scopes[scope.cls].owner)) if scope.cls else None
        return self.function(node, parent, cls)

    def lower_reaching_out(self) -> None:
        """Lower the functions that bind or change what names of functions around hold, so that all of it is known."""
        for each in self.outline.reaching_out:
            lower(self.function_of(each))

    # ------------------------------------------------------------------ nodes
    def node_of(self, node: ast.expr) -> Node | None:
        """Return the node of an expression of the tree; None where it is never reached."""
        for function in self._by_line.get(node.lineno, ()):
            if _contains(function, node):
                found = lower(self.function_of(function)).by_syntax.get(node)
                if found is not None:
                    return found
        return lower(self.body).by_syntax.get(node)

    @cached_property
    def _by_line(self) -> dict[int, list[AnyFunction]]:
        """The functions that reach over each line, the innermost first."""
        found: dict[int, list[AnyFunction]] = {}
        for each in sorted(self.outline.functions, key=lambda one: (one.lineno, one.col_offset), reverse=True):
            for line in range(each.lineno, (each.end_lineno or each.lineno) + 1):
                found.setdefault(line, []).append(each)
        return found

    def node_of_call(self, call: WrittenCall) -> Node | None:
        """Return the node of a call; None where it is never reached."""
        return lower(self.function_of(call.owner)).by_syntax.get(call.node)

    def export(self, word: str) -> Node:
        """Return the node for what the module binds a name to, seen from outside."""
        found = self._exports.get(word)
        if found is None:
            found = self._exports[word] = Node(EXPORT, (), word, None, self.body, None)
        return found

    # ------------------------------------------------------------------ words
    @property
    def packages(self) -> frozenset[str]:
        """First words of absolute imports anywhere in the file."""
        return frozenset(self.outline.packages)

    @property
    def calls(self) -> dict[str, list[WrittenCall]]:
        """All calls by the last word of what is called, empty for what has none."""
        return self.outline.calls

    @property
    def mentions(self) -> dict[str, list[Mention]]:
        """Names and attributes that are read other than to call them, by last word: who has them may call."""
        return self.outline.mentions


def _contains(function: AnyFunction, node: ast.expr) -> bool:
    start, end = (function.lineno, function.col_offset), (function.end_lineno or 0, function.end_col_offset or 0)
    return start <= (node.lineno, node.col_offset) and (node.end_lineno or 0, node.end_col_offset or 0) <= end
