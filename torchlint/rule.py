"""The whole vocabulary that a rule may use: the nodes it visits, what it may ask of a file, and what it may say."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import libcst as cst

from torchlint.inference.analysis import Analysis
from torchlint.inference.facts import UNKNOWN, Mode, Reason, Value
from torchlint.inference.models.frameworks import text_imports_torch
from torchlint.inference.project_texts import ProjectView
from torchlint.model import Confidence, Edit, Fix, Settings
from torchlint.registry import BY_CODE
from torchlint.rule_metadata import RuleMetadata
from torchlint.source import Source
from torchlint.syntax.bridge import Bridge
from torchlint.syntax.definition import Definition
from torchlint.syntax.outline import Outline


@dataclass(frozen=True, slots=True)
class Draft:
    """What a rule saw: the word at fault, what is wrong with it, how sure that is, and the repair."""

    at: cst.CSTNode
    message: str
    confidence: Confidence
    why: tuple[str, ...] = ()
    fix: Fix | None = None


Check = Callable[[Any, "FileContext"], Iterator[Draft]]


@dataclass(frozen=True)
class Rule(RuleMetadata):
    """A rule as data: its metadata, and what it visits. Its module's docstring is its page."""

    visit: Mapping[type[cst.CSTNode], Check] = field(kw_only=True)


@cache
def load(code: str) -> Rule:
    """Import the rule of a code."""
    module = importlib.import_module(f"torchlint.rules.{BY_CODE[code].module}")
    rule: Rule = module.RULE
    return rule


def page(code: str) -> str:
    """Give the text of a rule's page."""
    module = importlib.import_module(f"torchlint.rules.{BY_CODE[code].module}")
    return (module.__doc__ or "").strip()


def summary(code: str) -> str:
    """Give the first line of a rule's page."""
    return page(code).split("\n", 1)[0]


class FileContext:
    """What a rule may ask about the stretch of a file that it looks at.

    Nodes are LibCST nodes of that stretch; offsets count bytes of :attr:`Source.utf8`.
    """

    def __init__(
        self, outline: Outline | None, definition: Definition, analysis: Analysis | None, settings: Settings
    ) -> None:
        self.outline = outline
        self.definition = definition
        self.analysis = analysis
        self.settings = settings
        self.source: Source = definition.source
        self._bridge = Bridge(outline, definition) if outline else None

    # ------------------------------------------------------------------ the tree
    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """Give the node above, whitespace and punctuation aside; None above the module."""
        return self.definition.parents.get(node)

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Give the nodes above, innermost first."""
        above = self.parent(node)
        while above is not None:
            yield above
            above = self.parent(above)

    def code(self, node: cst.CSTNode) -> str:
        """Give a node's text as it stands in the file, without parentheses around it."""
        return self.source.slice(*self.definition.span(node))

    def code_with_parentheses(self, node: cst.CSTNode) -> str:
        """Give a node's text as it stands in the file, with the parentheses around it."""
        return self.source.slice(*self.definition.outer_span(node))

    def row(self, node: cst.CSTNode) -> int:
        """Give the row, from 1, on which a node begins."""
        return self.source.position(self.definition.span(node)[0])[0]

    def python(self, node: cst.CSTNode) -> ast.AST | None:
        """Give the stdlib's node for a LibCST node; None where the stdlib refused the file."""
        return self._bridge.python(node) if self._bridge else None

    def spells(self, function: cst.BaseExpression, word: str) -> bool:
        """Whether a call's function may be torch's ``word`` by its spelling: cheap, before names are followed."""
        match function:
            case cst.Attribute(attr=cst.Name(value=last)):
                return last == word
            case cst.Name(value=name):
                return self.outline is not None and name in self.outline.names_of(word)
        return False

    # ------------------------------------------------------------------ facts
    def facts(self, node: cst.BaseExpression) -> Value:
        """Give what is known of an expression's value where it stands."""
        found = self.python(node)
        if self.analysis is None or not isinstance(found, ast.expr):
            return UNKNOWN
        return self.analysis.value(found)

    def names(self, node: cst.BaseExpression) -> frozenset[str]:
        """Give what an expression may be by name, imports and aliases followed: ``{"torch.FloatTensor"}``."""
        return self.facts(node).names

    @cached_property
    def works_with_torch(self) -> bool:
        """Whether an object of which nothing is known may be a tensor: the file imports torch (:class:`Analysis`)."""
        if self.analysis is None:
            return text_imports_torch(self.source.utf8)
        return self.analysis.works_with_torch

    def mode(self, node: cst.BaseExpression) -> Mode:
        """Give the grad modes in which an expression may be evaluated."""
        found = self.python(node)
        if self.analysis is None or not isinstance(found, ast.expr):
            return Mode.ON | Mode.OFF
        return self.analysis.mode(found)

    def why(self, reason: Reason | None) -> tuple[str, ...]:
        """Spell the steps of a reason, first cause first, each with its line."""
        return self.analysis.why(reason) if self.analysis is not None else ()

    @cached_property
    def other_texts(self) -> ProjectView:
        """What the project's other files say of which a fix must know."""
        return self.analysis.other_texts if self.analysis is not None else ProjectView(None, "")

    # ------------------------------------------------------------------ edits
    def insert_after(self, node: cst.CSTNode, text: str) -> Edit:
        """Insert text right behind a node and the parentheses around it."""
        end = self.definition.outer_span(node)[1]
        return Edit(end, end, text)

    def insert_before(self, node: cst.CSTNode, text: str) -> Edit:
        """Insert text right before a node and the parentheses around it."""
        start = self.definition.outer_span(node)[0]
        return Edit(start, start, text)

    def replace(self, node: cst.CSTNode, text: str) -> Edit:
        """Put text in the place of a node, parentheses around it kept."""
        return Edit(*self.definition.span(node), text)

    def delete_between(self, start: cst.CSTNode, end: cst.CSTNode) -> Edit:
        """Delete from behind one node up to the end of another, parentheses around both counted: a chain's tail."""
        return Edit(self.definition.outer_span(start)[1], self.definition.outer_span(end)[1], "")
