"""What the value-flow graph says of a file, behind the door of :mod:`torchlint.knowledge`.

A value is told as the rules know it: what is possible where nothing is presumed, with the kind that annotations and
names claim. Members and reasons are looked for when somebody asks.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Concatenate, Final, ParamSpec, TypeVar

from torchlint.answers.flow_answers import told_path
from torchlint.answers.graph_values import GraphValue, computed_at, names_in
from torchlint.answers.kept_programs import oracles_of
from torchlint.evaluation import reasons
from torchlint.evaluation.judged_conversions import judge_value
from torchlint.evaluation.oracles import Oracles
from torchlint.facts.conversions import JudgedConversion
from torchlint.facts.flow import OPEN, FlowFact
from torchlint.facts.known_paths import FlowPlace
from torchlint.facts.value import NOTHING, UNKNOWN, Mode, Reason, Value
from torchlint.flow.answers import FlowAnswer
from torchlint.flow.first_uses import first_use
from torchlint.flow.forward_queries import ForwardQueries
from torchlint.flow.node_patterns import before_changes, is_same_code
from torchlint.semantic.graph import (
    ATTR,
    EFFECT,
    ENTER,
    GAMMA,
    GLOBAL,
    GROW,
    INPLACE,
    PHI,
    PI,
    SETTER,
    FunctionGraph,
    Node,
)
from torchlint.semantic.lowering import lower
from torchlint.semantic.program import FILE, MODULE, WORD, Program, Rests
from torchlint.texts.checked_file import CheckedFile
from torchlint.texts.project_texts import HOLDS, Question, holding
from torchlint.values import abstract as a
from torchlint.values.asking import Path
from torchlint.values.references import LibraryRef

if TYPE_CHECKING:
    from torchlint.diagnostics.model import Settings
    from torchlint.facts.flow_specifications import FlowSpecification
    from torchlint.facts.known_paths import KnownPath
    from torchlint.semantic.module_graph import ModuleGraph
    from torchlint.syntax.ast_index import AstIndex, Function
    from torchlint.values.contexts import Context

_FREEZING: Final = re.compile(
    rb"requires_grad_\((?!\s*(True)?\s*\))|\.requires_grad\s*=(?!\s*True\b|=)|['\"]requires_grad['\"]"
)
_CHANGES: Final = frozenset({INPLACE, GROW, EFFECT, SETTER})
_Parameters = ParamSpec("_Parameters")
_Answer = TypeVar("_Answer")


def _noted(
    method: Callable[Concatenate[GraphKnowledge, _Parameters], _Answer],
) -> Callable[Concatenate[GraphKnowledge, _Parameters], _Answer]:
    """Have a question tell what its answer rests on."""

    @functools.wraps(method)
    def ask(self: GraphKnowledge, /, *args: _Parameters.args, **named: _Parameters.kwargs) -> _Answer:
        program = self._graph[0].program
        before, program.touched = program.touched, 0
        try:
            return method(self, *args, **named)
        finally:
            self._touched |= program.touched
            program.touched |= before

    return ask


def _versions(node: Node) -> list[Node]:
    """Return a value as it was before anything was done to it, and the other readings of an attribute."""
    made = before_changes(node)
    return [each for each in lower(made.fn).nodes if each is made or (each.op == ATTR and is_same_code(each, made))]


def _syntax(node: Node | None) -> ast.AST | None:
    place: object = node.at if node is not None else None
    return place if isinstance(place, ast.AST) else None


class GraphKnowledge(CheckedFile):
    """What is known of one file by the graph, and by its text."""

    def __init__(
        self, index: AstIndex, settings: Settings, path: str | None = None, *, is_presuming: bool = False
    ) -> None:
        """Begin; ``is_presuming`` is said of what :attr:`presuming` gives."""
        super().__init__(index, settings, path)
        self._is_presuming = is_presuming
        self._touched = 0
        """The bits of what the answers so far rest on."""
        self._values: dict[tuple[Node, Path], Value] = {}
        self._elsewhere: dict[ast.AST, str] = {}
        """The paths of the other files in which nodes of reasons stand."""

    @cached_property
    def _graph(self) -> tuple[Oracles, ModuleGraph]:
        text = self.index.source.utf8
        path = self.path or "<source>.py"
        place = self.place
        if place is None or self.lies_nowhere:
            oracles = Oracles(Program(place.root if place is not None else "", is_alone=True))
        else:
            oracles = oracles_of(place.root)
        known = oracles.program.known(path)
        if known is not None and (known.text != text or known.tree is not self.index.tree):
            oracles.forget(path)
            known = None
        if known is None:
            known = oracles.program.add(path, text, self.index.tree)
        return oracles, known

    def _node(self, node: ast.expr) -> Node | None:
        return self._graph[1].node_of(node)

    @cached_property
    def may_freeze(self) -> bool:
        """Whether the file asks parameters for no gradients: a module may be frozen by another name than its own."""
        return _FREEZING.search(self._graph[1].bare) is not None

    @cached_property
    def presuming(self) -> GraphKnowledge:
        """What is known if functions are called as most are."""
        made = GraphKnowledge(self.index, self.settings, self.path, is_presuming=True)
        vars(made)["_graph"] = self._graph  # the same oracles
        return made

    # ------------------------------------------------------------------ what the answers rest on
    def _rests_on(self) -> Iterator[Rests]:
        if self._touched:
            yield from self._graph[0].program.rests_on(self._touched)
        if "presuming" in vars(self):
            yield from self.presuming._rests_on()  # noqa: SLF001  # of its own class

    @property
    def reads(self) -> dict[str, str | None]:
        """What was read beside the file itself, and what is where modules were looked for."""
        found = super().reads
        for kind, text in self._rests_on():
            if kind == FILE and text != self.path:
                found[text] = self._graph[0].program.digest(text)
            elif kind == MODULE:
                found[text] = self.shape(text)
        return found

    @property
    def asked(self) -> dict[Question, str | None]:
        """The questions about all texts of the project that were asked so far, with the answers."""
        words = [text for kind, text in self._rests_on() if kind == WORD]
        place = self.place
        if not words or place is None:
            return super().asked
        asked = [(HOLDS, place.root, place.path, each) for each in words]
        program = self._graph[0].program
        answers: dict[Question, str | None] = {
            each: holding(place.root, program.listed(program.holding(each[3]))) for each in asked
        }
        return {**super().asked, **answers}

    def close(self) -> None:
        """Let go of all that is known: nothing can be asked any more."""
        if "presuming" in vars(self):
            self.presuming.close()
        vars(self).clear()

    @cached_property
    def works_with_torch(self) -> bool:
        """Whether the file imports torch, or all names of a file of the project that does."""
        oracles, file = self._graph
        lower(file.body)
        waiting = [file]
        for each in waiting:
            if any(package in ("torch", "functorch") for package in each.packages):
                return True
            for level, module in lower(each.body).file.stars:
                base = oracles.program.base_of(each, level, module)
                other = oracles.program.at(base) if base is not None else None
                if other is not None and other not in waiting:
                    waiting.append(other)
        return super().works_with_torch

    def why(self, reason: Reason | None) -> tuple[str, ...]:
        """Spell the steps of a reason, first cause first, each with its line and, from another file, its path."""
        return tuple(map(self._spelled_reason, reason.chain())) if reason is not None else ()

    def _spelled_reason(self, step: Reason) -> str:
        if step.node is None:
            return step.text
        path = f"{self._elsewhere[step.node]} " if step.node in self._elsewhere else ""
        return f"{step.text}, {path}line {getattr(step.node, 'lineno', 0)}"

    # ------------------------------------------------------------------ values
    def value(self, node: ast.expr) -> Value:
        """Return what is known of an expression's value where it stands."""
        found = self._node(node)
        return self.told(found, ()) if found is not None else NOTHING

    @_noted
    def definition(self, node: ast.Name) -> ast.AST | None:
        """Return the one expression, argument or import of the file that gives a name its value; None for several."""
        found = self._node(node) if node.id not in self._graph[1].above_stars else None
        while found is not None and found.op in (*_CHANGES, PI, GLOBAL):
            bound = found.ins[:1]
            if found.op == GLOBAL:
                defined = lower(found.fn.file.body).definitions.get(str(found.data), ())
                bound = tuple(each for each in defined if each.op not in _CHANGES)
            found = bound[0] if len(bound) == 1 else None
        place = _syntax(found)
        is_chosen = isinstance(place, ast.IfExp) and self._node(place) is found
        return place if found is not None and (is_chosen or found.op not in (PHI, GAMMA, ENTER)) else None

    @_noted
    def first_use(self, node: ast.expr) -> ast.AST | None:
        """Return where an expression's value goes first, by whatever name; None where that is not known."""
        found = self._node(node)
        return _syntax(first_use(found)) if found is not None else None

    @_noted
    def told(self, node: Node, path: Path) -> Value:
        """Return what is known of what a path leads to from a node."""
        key = (node, path)
        if key not in self._values:
            oracles = self._graph[0]
            said = (oracles.strict if self._is_presuming else oracles.claimed).ask(node, path)
            proof = said if self._is_presuming else oracles.proof.ask(node, path)
            if said is None or proof is None or not said.kind:  # code that stands there has run somewhere
                self._values[key] = UNKNOWN
            else:
                self._values[key] = GraphValue(self, node, path, proof, said)
        return self._values[key]

    @_noted
    def names_of(self, node: ast.expr) -> frozenset[str]:
        """Return what a dotted name of a library or a built-in means; nothing for other expressions."""
        if not isinstance(node, ast.Name | ast.Attribute):
            return frozenset()
        found = self._node(node)
        value = self._graph[0].proof.ask(found) if found is not None else None
        is_named = value is not None and all(isinstance(each, LibraryRef) for each in value.references)
        return names_in(value) if value is not None and is_named else frozenset()

    @_noted
    def mode(self, node: ast.expr) -> Mode:
        """Return the grad modes in which an expression may be evaluated."""
        found = computed_at(node, self.index, self._node)
        evaluator = self._graph[0].strict if self._is_presuming else self._graph[0].claimed
        with evaluator.question():
            return Mode(evaluator.mode(found, None)) if found is not None else Mode.ON | Mode.OFF
        return Mode.ON | Mode.OFF

    # ------------------------------------------------------------------ what becomes of a value
    @cached_property
    def _flow(self) -> ForwardQueries:
        oracles = self._graph[0]
        return ForwardQueries(oracles.proof, oracles.claimed)

    @cached_property
    def _paths(self) -> ForwardQueries:
        return ForwardQueries(self._graph[0].strict)

    def _fact(self, found: FlowAnswer) -> FlowFact:
        is_here = found.node is not None and found.node.fn.file is self._graph[1]
        return FlowFact(found.answer, _syntax(found.node) if is_here else None, found.reason)

    def _is_taken(self, word: str) -> bool:
        return self.other_texts.takes(word) is not None

    @_noted
    def leaves_trace(self, node: ast.expr) -> FlowFact:
        """Return whether a detached view is written through, kept by others, or saved by a graph."""
        found = self._node(node)
        return self._fact(self._flow.leaves_trace(found, self._is_taken)) if found is not None else OPEN

    @_noted
    def is_only_read(self, node: ast.expr) -> FlowFact:
        """Return whether nothing is written through a value, by its function or by who gets it."""
        found = self._node(node)
        return self._fact(self._flow.is_only_read(found)) if found is not None else OPEN

    @_noted
    def has_first_value(self, node: ast.Attribute) -> bool:
        """Whether the tensor of an attribute is proven to be new where it stands, so that no graph holds it."""
        owner, place, takes = self._node(node.value), computed_at(node, self.index, self._node), self._is_taken
        last_row = getattr(self.index.nearest(node, ast.stmt), "end_lineno", 0)
        return owner is not None and place is not None and self._flow.has_first_value(owner, place, last_row, takes)

    @_noted
    def is_refused(self, write: ast.expr | ast.stmt) -> bool:
        """Whether a call, store or augmented assignment is proven to write into a leaf, which torch refuses."""
        file, owner = self._graph[1], self.index.owner(write)
        fn = lower(file.function_of(owner) if owner is not None else file.body)
        return any(self._flow.is_refused(each, fn) for each in fn.writes if each.place is write)

    @_noted
    def paths_from(self, specification: FlowSpecification, node: ast.expr) -> tuple[KnownPath, ...]:
        """Return the ways of an expression's value to what a specification calls sinks, one for each sink."""
        found = self._node(node)
        starts = () if found is None else _versions(found) if specification.of_all_versions else (found,)
        paths = (path for start in starts for path in self._paths.paths_from(specification, start))
        return tuple(told_path(each, self._graph[1], self.path_from_here) for each in paths)

    @_noted
    def paths_in(self, specification: FlowSpecification, function: Function | ast.Module) -> tuple[KnownPath, ...]:
        """Return the ways of a specification that begin in a function, or in the code of the module."""
        file = self._graph[1]
        found = file.body if isinstance(function, ast.Module) else file.function_of(function)
        paths = self._paths.paths(specification, found)
        return tuple(told_path(each, file, self.path_from_here) for each in paths)

    # ------------------------------------------------------------------ callers
    @_noted
    def called(self, call: ast.Call) -> ast.FunctionDef | None:
        """Return the function of the file that a call runs, where it can be but one."""
        node, strict = self._node(call), self._graph[0].strict
        found: set[FunctionGraph] = set()
        with strict.question():
            found = {each.function for each in strict.callees(node) if each.call is node} if node is not None else found
        function = lower(found.pop()) if len(found) == 1 else None
        is_here = function is not None and function.file is self._graph[1] and function.decorated is None
        found_here = function.tree if function is not None and is_here else None
        return found_here if isinstance(found_here, ast.FunctionDef) else None

    # ------------------------------------------------------------------ reasons
    @_noted
    def judged(self, converted: ast.expr, at: ast.expr, depth: int = 0) -> JudgedConversion | None:
        """Judge what is converted to the host at an expression; None where that is never reached, or proven to work.

        ``depth``: it is not the value, but what is so many containers below it.
        """
        node, place = self._node(converted), self._node(at)
        return self._judged(node, place, depth=depth) if node is not None and place is not None else None

    @_noted
    def placed(self, what: ast.expr | FlowPlace) -> JudgedConversion | None:
        """Judge where a value may be; of what a path leads to by the calls that it leads through."""
        if isinstance(what, FlowPlace):
            node, place, context = what.known
            return self._judged(node, place, context, is_device_alone=True)
        found = self._node(what)
        return self._judged(found, found, is_device_alone=True) if found is not None else None

    def _judged(
        self, node: Node, place: Node, context: Context | None = None, *, is_device_alone: bool = False, depth: int = 0
    ) -> JudgedConversion | None:
        is_of_host = self.is_program and not self.speaks_of_accelerators
        told = self._spelled_step
        return judge_value(
            self._graph[0],
            node,
            place,
            told,
            context,
            is_of_host=is_of_host,
            is_device_alone=is_device_alone,
            depth=depth,
        )

    def _spelled_step(self, step: reasons.ReasonStep) -> str:
        """Spell a step of a judgement with its line and, from another file, its path."""
        node = step.node
        if node is None or node.at is None:
            return step.text
        path = "" if node.fn.file is self._graph[1] else self.path_from_here(node.fn.file.path) + " "
        return f"{step.text}, {path}line {node.at.lineno}"

    @_noted
    def reason(self, node: Node, axis: str) -> Reason | None:
        """Return the steps from where the evidence of an axis begins to a node."""
        strict = self._graph[0].strict
        found: Reason | None = None
        with strict.question():
            for each, context in reasons.chain(strict, node, axis):
                value = strict.value(each, (), context)
                evidence = a.strongest(value.grad if axis == reasons.GRAD else value.device)
                at, home = _syntax(each), each.fn.file
                if at is not None and home is not self._graph[1] and self.place is not None:
                    self._elsewhere[at] = self.path_from_here(home.path)
                found = Reason(
                    reasons.told(each, axis, evidence, is_first=found is None),
                    at,
                    found,
                    weak=each.fn is not node.fn,
                )
        return found
