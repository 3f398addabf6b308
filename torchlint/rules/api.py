"""The whole vocabulary of rules.

They import it, :mod:`torchlint.diagnostics.model`, :mod:`torchlint.diagnostics.assumptions`, and each other's modules.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, TypeVar, overload

import libcst as cst

from torchlint.diagnostics.model import Applicability, Confidence, Edit, Settings
from torchlint.diagnostics.rule_metadata import Triggers
from torchlint.facts.conversions import NOT_JUDGED, UNREAD, JudgedConversion
from torchlint.facts.flow import OPEN, WRITTEN_HERE, WRITTEN_THERE, FlowFact
from torchlint.facts.flow_specifications import (
    RECEIVES,
    RETURNED,
    FlowSpecification,
    FlowValue,
    NodePattern,
)
from torchlint.facts.known_paths import FlowPlace, KnownPath
from torchlint.facts.value import OWN, UNKNOWN, Device, Dtype, Grad, Kind, Mode, Reason, Value
from torchlint.knowledge import Knowledge, any_element
from torchlint.models.operation_sets import FUNCTIONS as TORCH_FUNCTIONS
from torchlint.models.operation_sets import LEGACY_DTYPES, TENSOR_MAKERS
from torchlint.models.operation_sets import METHODS as TENSOR_METHODS
from torchlint.rules.drafts import Draft, Rule
from torchlint.source.shortening import one_line
from torchlint.source.text import Source
from torchlint.syntax.ast_index import FUNCTIONS, Function, Node
from torchlint.syntax.blocks import block_with, earlier_in_block, leaves
from torchlint.syntax.cst import Bridge, Definition, semantic_children
from torchlint.syntax.places import elements_of, leaf, root_of_place, word_of
from torchlint.syntax.signatures import (
    positional_parameters,
)
from torchlint.texts import binders, bindings
from torchlint.texts.bindings import SCOPES
from torchlint.texts.default_setters import DEVICE, DTYPE, TENSOR_TYPE, defaults_set
from torchlint.texts.device_names import (
    SETTINGS,
    last_word_of_name,
    names_other_accelerators,
)
from torchlint.texts.project_view import ProjectView
from torchlint.texts.run_later import runs_later
from torchlint.texts.tracers import traces

Subject = TypeVar("Subject")
Answer = TypeVar("Answer")
Answers = dict[tuple[object, object], Any]
"""What was answered to the questions marked as :func:`remembered`, by question and node."""

_NO_WORDS: frozenset[str] = frozenset()

Expression = cst.CSTNode | ast.AST | None
"""What may be asked for its value: nothing is known of what is no expression of the file."""


class FileContext:
    """What a rule may ask of a file, and of the region of it that LibCST has read.

    There are two trees. Rules visit LibCST's nodes (``cst``), which exist for the region alone and say exactly which
    bytes to replace. Python's own nodes (``ast``) exist for the whole file; :meth:`python` leads there. What can be
    asked of a node of either tree has one name. Offsets count bytes of :attr:`Source.utf8`.

    A file that the running Python cannot parse has no ``ast`` nodes and no known values (:attr:`is_parsed`).
    """

    def __init__(
        self,
        definition: Definition,
        analysis: Knowledge,
        answers: Answers,
        standing: Mapping[tuple[int, int], Applicability] = MappingProxyType({}),
    ) -> None:
        """Begin; ``answers`` are those of the file so far, ``standing`` what :meth:`trust` says of statements."""
        self.source: Source = definition.source
        self.settings: Settings = analysis.settings
        self._definition = definition
        self._analysis = analysis
        self._index = analysis.index
        self._bridge = Bridge(analysis.index, definition)
        self._answers = answers
        self._standing = standing

    # ------------------------------------------------------------------ nodes of either tree
    @overload
    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None: ...
    @overload
    def parent(self, node: ast.AST) -> ast.AST | None: ...
    def parent(self, node: cst.CSTNode | ast.AST) -> cst.CSTNode | ast.AST | None:
        """Return the node above, whitespace and punctuation aside; None above the module."""
        return self._index.parents.get(node) if isinstance(node, ast.AST) else self._definition.parents.get(node)

    @overload
    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]: ...
    @overload
    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]: ...
    def ancestors(self, node: cst.CSTNode | ast.AST) -> Iterator[cst.CSTNode] | Iterator[ast.AST]:
        """Yield the nodes above, innermost first."""
        return self._index.ancestors(node) if isinstance(node, ast.AST) else self._definition.ancestors(node)

    def nearest(self, node: ast.AST, *kinds: type[Node]) -> Node | None:
        """Return the innermost node of some types around one of Python's own nodes; None where there is none."""
        return self._index.nearest(node, *kinds)

    def span(self, node: cst.CSTNode | ast.expr | ast.stmt) -> tuple[int, int]:
        """Return where a node begins and ends, parentheses around it not counted."""
        if isinstance(node, ast.AST):
            return self._index.start(node), self._index.end(node)
        return self._definition.span(node)

    def trust(self, statement: cst.CSTNode) -> Applicability:
        """Return how far the repair of a statement may go, which another one must not go beyond that rewrites it, too.

        It is known where the statement is repaired as a whole or not at all, for what else stands in it.
        """
        at = self.span(statement)[0]
        return next((trust for (start, end), trust in self._standing.items() if start <= at < end), Applicability.SAFE)

    # ------------------------------------------------------------------ LibCST's tree, of the region
    def outer_span(self, node: cst.CSTNode) -> tuple[int, int]:
        """Return where a node begins and ends with the parentheses around it."""
        return self._definition.outer_span(node)

    def code(self, node: cst.CSTNode) -> str:
        """Return a node's text as it stands in the file, without parentheses around it."""
        return self.source.slice(*self.span(node))

    def code_with_parentheses(self, node: cst.CSTNode) -> str:
        """Return a node's text as it stands in the file, with the parentheses around it."""
        return self.source.slice(*self.outer_span(node))

    def row(self, node: cst.CSTNode) -> int:
        """Return the row, from 1, on which a node begins."""
        return self.source.position(self.span(node)[0])[0]

    @property
    def module(self) -> cst.Module:
        """The region as LibCST's module."""
        return self._definition.module

    # ------------------------------------------------------------------ Python's own tree, of the file
    @property
    def is_parsed(self) -> bool:
        """Whether Python's own parser reads the file; else there are words alone to judge by."""
        return self._analysis.is_parsed

    def python(self, node: cst.CSTNode) -> ast.AST | None:
        """Return Python's own node for LibCST's; None where there is none."""
        return self._bridge.python(node)

    @property
    def tree(self) -> ast.Module:
        """The file."""
        return self._index.tree

    def nodes(self, kind: type[Node]) -> list[Node]:
        """Return the file's nodes of a type."""
        return self._index.nodes(kind)

    @property
    def imports(self) -> list[ast.Import | ast.ImportFrom]:
        """The file's import statements, ``import x`` before ``from x import y``."""
        return self._index.imports

    def holds(self, node: ast.AST) -> bool:
        """Whether a node is one of this file's."""
        return node in self._index.parents

    def within(self, node: ast.AST) -> list[ast.AST]:
        """Return a node and all nodes inside it, each followed by those inside it."""
        return self._index.within(node)

    def inside(self, node: ast.AST, *kinds: type[Node]) -> list[Node]:
        """Return the nodes of some types inside a node, in the order of the text."""
        return self._index.inside(node, *kinds)

    def own(self, scope: ast.AST, *kinds: type[Node]) -> list[Node]:
        """Return the nodes of some types in a function or module, those of functions and classes inside it left out."""
        return bindings.own(self._index, scope, *kinds)

    # ------------------------------------------------------------------ names and scopes
    def function_around(self, node: ast.AST) -> Function | None:
        """Return the function around a node; None for code of the module."""
        return self._index.owner(node)

    def scope_that_binds(self, name: ast.Name) -> Function | ast.Module | None:
        """Return the scope whose assignments bind a name; None where something else may bind it."""
        return binders.binder(name, self._index)

    def reaching(self, name: ast.Name) -> list[ast.Name | ast.arg]:
        """Return where a name may have been bound to what it is; nothing where that is not known."""
        scope = self.scope_that_binds(name)
        return binders.reaching(name, scope, self._index) if scope is not None else []

    def stores(self, scope: Function | ast.Module) -> dict[str, list[ast.Name]]:
        """Return where a function or module binds or deletes its names, by name."""
        return self._index.told(bindings.bound, scope)

    def attributes_by_word(self) -> dict[str, list[ast.Attribute]]:
        """Return the file's attributes by their words."""
        return self._index.told(bindings.spelled, self.tree)[0]

    def names_by_word(self) -> dict[str, list[ast.Name]]:
        """Return where names stand in the file, by name."""
        return self._index.told(bindings.spelled, self.tree)[1]

    @property
    def bound_otherwise(self) -> frozenset[str]:
        """The names that something else than an import binds, anywhere in the file."""
        return self._index.told(bindings.bound_otherwise, self.tree)

    def spells(self, function: cst.BaseExpression, *words: str) -> bool:
        """Whether a call's function may be one of torch's words by its spelling: cheap, before names are followed."""
        match function:
            case cst.Attribute(attr=cst.Name(value=last)):
                return last in words
            case cst.Name(value=name):
                return not self._index.imported.get(name, _NO_WORDS).isdisjoint(words)
        return False

    # ------------------------------------------------------------------ values
    def value(self, node: Expression) -> Value:
        """Return what is known of an expression's value where it stands."""
        found = self._expression(node)
        return self._analysis.value(found) if found is not None else UNKNOWN

    def definition(self, node: ast.Name) -> ast.AST | None:
        """Return the one expression, argument or import of the file that gives a name its value; None for several."""
        return self._analysis.definition(node)

    def first_use(self, node: ast.expr) -> ast.AST | None:
        """Return where an expression's value goes first, by whatever name; None where that is not known."""
        return self._analysis.first_use(node)

    def presumed_value(self, node: Expression) -> Value:
        """Return what is known if functions are called as most are: a reason to be silent, never one for a fix."""
        found = self._expression(node)
        return self._analysis.presuming.value(found) if found is not None else UNKNOWN

    def names(self, node: Expression) -> frozenset[str]:
        """Return what an expression may be by name, imports and aliases followed: ``{"torch.FloatTensor"}``."""
        found = self._expression(node)
        return frozenset() if found is None else self._analysis.names_of(found) or self._analysis.value(found).names

    def qualified_names(self, node: ast.expr) -> frozenset[str]:
        """Return what a dotted name of a library or a built-in means by imports alone; nothing for others."""
        return self._analysis.names_of(node)

    def paths_from(self, specification: FlowSpecification, node: Expression) -> tuple[KnownPath, ...]:
        """Return the ways of an expression's value to what a specification calls sinks, one for each sink."""
        found = self._expression(node)
        return self._analysis.paths_from(specification, found) if found is not None else ()

    def paths_in(self, specification: FlowSpecification, function: Function | ast.Module) -> tuple[KnownPath, ...]:
        """Return the ways of a specification that begin in a function, or in the code of the module."""
        return self.answer((specification, function), lambda: self._analysis.paths_in(specification, function))

    def mode(self, node: Expression) -> Mode:
        """Return the grad modes in which an expression may be evaluated."""
        found = self._expression(node)
        return self._analysis.mode(found) if found is not None else Mode.ON | Mode.OFF

    def called(self, call: ast.Call) -> ast.FunctionDef | None:
        """Return the function of the file that a call runs, where it can be but one."""
        return self._analysis.called(call)

    def judged(self, converted: Expression, at: Expression, depth: int = 0) -> JudgedConversion | None:
        """Judge what is converted to the host at an expression; None where that is never reached, or proven to work.

        ``depth``: it is not the value, but what is so many containers below it.
        """
        if not self.is_parsed:
            return UNREAD
        node, place = self._expression(converted), self._expression(at)
        return None if node is None or place is None else self._analysis.judged(node, place, depth)

    def placed(self, what: Expression | FlowPlace) -> JudgedConversion | None:
        """Judge where a value, or what a path meets, may be; None where nothing says that it is on an accelerator."""
        found = what if isinstance(what, FlowPlace) else self._expression(what)
        judged = self._analysis.placed(found) if found is not None else None
        is_told = judged is not None and judged.is_placed and judged.of_device not in (None, Confidence.UNPROVEN)
        return judged if is_told else None

    def why(self, reason: Reason | None) -> tuple[str, ...]:
        """Spell the steps of a reason, first cause first, each with its line."""
        return self._analysis.why(reason)

    def _expression(self, node: Expression) -> ast.expr | None:
        found = node if node is None or isinstance(node, ast.AST) else self.python(node)
        return found if isinstance(found, ast.expr) else None

    def leaves_trace(self, node: Expression) -> FlowFact:
        """Return whether a detached view is written through, kept by others, or saved by a graph."""
        found = self._expression(node)
        return self._analysis.leaves_trace(found) if found is not None else OPEN

    def is_only_read(self, node: Expression) -> FlowFact:
        """Return whether nothing is written through a value, by its function or by who gets it."""
        found = self._expression(node)
        return self._analysis.is_only_read(found) if found is not None else OPEN

    def has_first_value(self, node: ast.Attribute) -> bool:
        """Whether the tensor of an attribute is proven to be new where it stands, so that no graph holds it."""
        is_later = runs_later(node, self.parent, self.bound_otherwise)
        return not is_later and self.answer(("first value", node), lambda: self._analysis.has_first_value(node))

    def is_refused(self, write: cst.CSTNode) -> bool:
        """Whether a call, or what a statement assigns to, is proven to write into a leaf while grad mode is on."""
        found = self._expression(write)
        above = self.parent(found) if found is not None else None
        places = [found, above if isinstance(above, ast.AugAssign) and above.target is found else None]
        return any(each is not None and self._analysis.is_refused(each) for each in places)

    # ------------------------------------------------------------------ the file and its project
    @property
    def works_with_torch(self) -> bool:
        """Whether an object of which nothing is known may be a tensor: the file imports torch."""
        return self._analysis.works_with_torch

    @property
    def uses_other_frameworks(self) -> bool:
        """Whether the file imports a library whose objects have a tensor's words too, or may do so."""
        return self._analysis.uses_other_frameworks

    @property
    def imported_packages(self) -> frozenset[str]:
        """The packages that the file imports from, by their first word."""
        return self._analysis.packages

    @property
    def is_test(self) -> bool:
        """Whether pytest runs the file: what is in it has worked on the machine of whoever ran it last."""
        return self._analysis.is_test

    def may_be_torch(self, node: Expression) -> bool:
        """Whether an expression of unknown kind may be a torch tensor, by what the file and the words around it say."""
        found = self._expression(node)
        return found is not None and self._analysis.may_be_torch(found)

    @property
    def defaults_set(self) -> frozenset[str]:
        """Which of torch's defaults the file sets: ``DTYPE``, ``DEVICE``, ``TENSOR_TYPE``."""
        return self.answer((defaults_set, None), lambda: defaults_set(self.source.utf8))

    @property
    def other_texts(self) -> ProjectView:
        """What the project's other files say of which a fix must know."""
        return self._analysis.other_texts

    def is_defined(self, word: str) -> bool:
        """Whether the file defines a function of a name, or a class of it binds the name in its body."""
        if any(each.name == word for each in self._index.functions):
            return True
        stores = (each for each in self.names_by_word().get(word, ()) if isinstance(each.ctx, ast.Store))
        return any(isinstance(self.nearest(each, *FUNCTIONS, ast.ClassDef), ast.ClassDef) for each in stores)

    def matches(self, pattern: re.Pattern[bytes]) -> bool:
        """Whether a pattern is found anywhere in the file's text."""
        return self.answer((pattern, None), lambda: pattern.search(self.source.utf8) is not None)

    def answer(self, key: tuple[object, object], find: Callable[[], Answer]) -> Answer:
        """Return the answer to a question about a node, found once for all regions of the file."""
        if key not in self._answers:
            self._answers[key] = find()
        found: Answer = self._answers[key]
        return found

    # ------------------------------------------------------------------ edits
    def insert_after(self, node: cst.CSTNode, text: str) -> Edit:
        """Insert text right behind a node and the parentheses around it."""
        end = self.outer_span(node)[1]
        return Edit(end, end, text)

    def insert_before(self, node: cst.CSTNode, text: str) -> Edit:
        """Insert text right before a node and the parentheses around it."""
        start = self.outer_span(node)[0]
        return Edit(start, start, text)

    def replace(self, node: cst.CSTNode, text: str) -> Edit:
        """Put text in the place of a node, parentheses around it kept."""
        return Edit(*self.span(node), text)

    def delete_between(self, start: cst.CSTNode, end: cst.CSTNode) -> Edit:
        """Delete from behind one node up to the end of another, parentheses around both counted: a chain's tail."""
        return Edit(self.outer_span(start)[1], self.outer_span(end)[1], "")


def remembered(question: Callable[[Subject, FileContext], Answer]) -> Callable[[Subject, FileContext], Answer]:
    """Ask a pure question about a node only once for each file: neighbouring findings ask the same."""

    @functools.wraps(question)
    def ask(node: Subject, context: FileContext) -> Answer:
        return context.answer((question, node), lambda: question(node, context))

    return ask


__all__ = [
    "DEVICE", "DTYPE", "FUNCTIONS", "LEGACY_DTYPES", "NOT_JUDGED", "OWN", "RECEIVES", "RETURNED", "SCOPES",
    "SETTINGS", "TENSOR_MAKERS", "TENSOR_METHODS", "TENSOR_TYPE", "TORCH_FUNCTIONS", "UNKNOWN", "WRITTEN_HERE",
    "WRITTEN_THERE", "Device", "Draft", "Dtype", "FileContext", "FlowPlace", "FlowSpecification", "FlowValue",
    "Function", "Grad", "JudgedConversion", "Kind", "KnownPath", "Mode", "NodePattern", "Rule", "Triggers", "Value",
    "any_element", "block_with", "earlier_in_block", "elements_of", "last_word_of_name", "leaf", "leaves",
    "names_other_accelerators", "one_line", "positional_parameters", "remembered", "root_of_place",
    "semantic_children", "traces", "word_of",
]  # fmt: skip
