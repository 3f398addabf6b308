"""The one door to what is known of programs: it opens a file, says what may be asked, and asks again what was asked."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from torchlint.diagnostics.model import Settings
    from torchlint.facts.conversions import JudgedConversion
    from torchlint.facts.flow import FlowFact
    from torchlint.facts.flow_specifications import FlowSpecification
    from torchlint.facts.known_paths import FlowPlace, KnownPath
    from torchlint.facts.value import Mode, Reason, Value
    from torchlint.source.text import Source
    from torchlint.syntax.ast_index import AstIndex, Function
    from torchlint.texts.project_texts import Question
    from torchlint.texts.project_view import ProjectView


class Knowledge(Protocol):
    """What may be asked of one file; nothing is looked at before it is asked for, and all of it lasts until the end."""

    index: AstIndex
    settings: Settings

    # ------------------------------------------------------------------ values
    @property
    def is_parsed(self) -> bool:
        """Whether the standard library's parser reads the file: else nothing is known of its values."""

    @property
    def presuming(self) -> Knowledge:
        """What is known if functions are called as most are: a reason to stay silent. A fix must not rest on it."""

    def value(self, node: ast.expr) -> Value:
        """Return what is known of an expression's value where it stands."""

    def definition(self, node: ast.Name) -> ast.AST | None:
        """Return the one expression, argument or import of the file that gives a name its value; None for several."""

    def first_use(self, node: ast.expr) -> ast.AST | None:
        """Return where an expression's value goes first, by whatever name; None where that is not known."""

    def mode(self, node: ast.expr) -> Mode:
        """Return the grad modes in which an expression may be evaluated."""

    def why(self, reason: Reason | None) -> tuple[str, ...]:
        """Spell the steps of a reason, first cause first, each with its line and, from another file, its path."""

    def names_of(self, node: ast.expr) -> frozenset[str]:
        """Return what a dotted name of a library or a built-in means by imports alone; nothing for others."""

    # ------------------------------------------------------------------ what becomes of a value
    def leaves_trace(self, node: ast.expr) -> FlowFact:
        """Return whether a detached view is written through, kept by others, or saved by a graph."""

    def is_only_read(self, node: ast.expr) -> FlowFact:
        """Return whether nothing is written through a value, by its function or by who gets it."""

    def has_first_value(self, node: ast.Attribute) -> bool:
        """Whether the tensor of an attribute is proven to be new where it stands, so that no graph holds it."""

    def is_refused(self, write: ast.expr | ast.stmt) -> bool:
        """Whether a call, store or augmented assignment is proven to write into a leaf, which torch refuses."""

    def paths_from(self, specification: FlowSpecification, node: ast.expr) -> tuple[KnownPath, ...]:
        """Return the ways of an expression's value to what a specification calls sinks, one for each sink."""

    def paths_in(self, specification: FlowSpecification, function: Function | ast.Module) -> tuple[KnownPath, ...]:
        """Return the ways of a specification that begin in a function, or in the code of the module."""

    # ------------------------------------------------------------------ the project's own calls
    def called(self, call: ast.Call) -> ast.FunctionDef | None:
        """Return the function of the file that a call runs, where it can be but one."""

    # ------------------------------------------------------------------ what the file works with
    @property
    def packages(self) -> frozenset[str]:
        """The packages that the file imports from, by their first word."""

    @property
    def works_with_torch(self) -> bool:
        """Whether an object of which nothing is known may be a tensor: the file imports torch."""

    @property
    def may_hold_tensors(self) -> bool:
        """Whether a tensor may be met at all: here, or from another file of the project, or from pytest."""

    @property
    def uses_other_frameworks(self) -> bool:
        """Whether the file imports a library whose objects have a tensor's words too, or may do so."""

    @property
    def is_test(self) -> bool:
        """Whether pytest runs the file: what is in it has worked on the machine of whoever ran it last."""

    def judged(self, converted: ast.expr, at: ast.expr, depth: int = 0) -> JudgedConversion | None:
        """Judge what is converted to the host at an expression; None where that is never reached, or proven to work.

        ``depth``: it is not the value, but what is so many containers below it.
        """

    def placed(self, what: ast.expr | FlowPlace) -> JudgedConversion | None:
        """Judge where a value may be; of what a path leads to by the calls that it leads through."""

    def may_be_torch(self, node: ast.expr) -> bool:
        """Whether an expression of unknown kind may be a torch tensor, by what the file and the words around it say."""

    # ------------------------------------------------------------------ what the answers rest on
    @property
    def other_texts(self) -> ProjectView:
        """What the project's other files say of which a fix must know."""

    @property
    def reads(self) -> dict[str, str | None]:
        """What was read beside the file itself: :attr:`FileResult.reads`."""

    @property
    def asked(self) -> dict[Question, str | None]:
        """The questions about all texts of the project that were asked so far, with the answers."""

    def close(self) -> None:
        """Let go of all that is known: nothing can be asked any more."""


# ---------------------------------------------------------------------- one file; who only asks again loads no engine
def analyse(index: AstIndex, settings: Settings, path: str | None = None) -> Knowledge:
    """Begin what is known of a file; with its absolute path, other files of its project are read on demand."""
    from torchlint.answers.graph_knowledge import GraphKnowledge

    return GraphKnowledge(index, settings, path)


def analyse_unparsed(source: Source, settings: Settings) -> Knowledge:
    """Begin what is known of a file that the standard library's parser refuses."""
    from torchlint.answers.unparsed_file import UnparsedFile

    return UnparsedFile(source, settings)


def any_element(value: Value) -> Value:
    """Return what iterating over or indexing into a value may give."""
    from torchlint.facts.value import UNKNOWN

    return value.member or UNKNOWN


# ---------------------------------------------------------------------- all texts of a project
def ask(question: Question) -> str | None:
    """Answer a question about all texts of a project as they are, or were when this process looked at them last."""
    from torchlint.texts import project_texts

    return project_texts.ask(question)


def still_answered(asked: Iterable[tuple[Question, str | None]]) -> bool:
    """Whether all questions have the answers that they had."""
    from torchlint.texts import project_texts

    return project_texts.still_answered(asked)


def look_again() -> None:
    """Have files read anew when the next question is asked: they may have changed."""
    for name in ("torchlint.texts.project_texts", "torchlint.answers.kept_programs"):
        asked = sys.modules.get(name)  # who has not loaded it has not read a file
        if asked is not None:
            asked.look_again()


def python_files(root: str) -> list[str] | None:
    """Return the paths of the Python files of a project; None where they are too many."""
    from torchlint.texts import source_files

    return source_files.python_files(root)
