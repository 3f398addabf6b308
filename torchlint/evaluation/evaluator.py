"""The evaluator: the value of a node along a path, in a context, found on demand, under one oracle.

A path is pushed down the graph to what was put there, so no container is ever built. Cycles are solved by iteration
over the strongly connected part alone: an active key gives its present approximation, its head iterates until nothing
changes, and what lies inside is kept apart until then.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from torchlint.evaluation import call_graph, call_results, decided_tests, instance_attributes, process_state, transfer
from torchlint.evaluation.network_names import seems_network
from torchlint.models import descent
from torchlint.semantic.graph import (
    AFTER,
    CONST,
    EFFECT,
    GROW,
    INPLACE,
    OPERATION,
    PI,
    SETTER,
    SPREAD,
    ClassGraph,
    FunctionGraph,
    Guards,
    Node,
)
from torchlint.values.abstract import (
    BOTTOM,
    CARRIES,
    MODULE_OUT,
    OF_CALL,
    OF_MODE,
    OPTION,
    SAFE,
    SURE,
    Abstract,
    join,
    unknown,
)
from torchlint.values.asking import ANY_ELEMENT, OFF, ON, Oracle, Path, Presumption
from torchlint.values.contexts import Context

if TYPE_CHECKING:
    from torchlint.evaluation.call_graph import Callee, CallerSite
    from torchlint.evaluation.class_families import ClassFamily
    from torchlint.evaluation.oracles import Oracles

LONGEST_CALL_STRING: Final = 3
LONGEST_PATH: Final = 5
MOST_STEPS: Final = 20_000
"""Values computed for one question; a question that needs more has no answer."""
_MOST_ACTIVE: Final = 1_500
"""Values that wait for each other: deeper than code that people write."""
_MOST_ROUNDS: Final = 24
"""More than the height of what a loop of ordinary code climbs; the last rounds drop references."""
_LONGEST_CHAIN: Final = 40
_CHAINED: Final = frozenset({EFFECT, INPLACE, GROW, SPREAD, SETTER, PI, AFTER, OPERATION})
"""Operations on what stands before them: a chain of these is evaluated from its beginning, not by recursion."""
_INFINITE: Final = 1 << 60
_CLAIMED: Final = frozenset({Presumption.ANNOTATION, Presumption.KEPT, Presumption.ONE_ACCELERATOR, Presumption.METHOD})

Key = tuple[Node, Path, Context | None]


class _Active:
    """A value that is being computed."""

    __slots__ = ("begun", "head", "index", "is_read", "present")

    def __init__(self, index: int, present: Abstract, begun: int) -> None:
        self.index, self.begun = index, begun
        """``begun``: the steps that the question had taken before."""
        self.present = present
        """The approximation that those get who ask for it meanwhile."""
        self.is_read = False
        """Whether somebody did, in this round."""
        self.head: _Active | None = None
        """Once it is computed: the value of the lowest index on which it rests, which still changes."""

    def head_index(self) -> int:
        """Return the lowest index among the values that are still being computed and on which this one rests."""
        found = self
        while found.head is not None:
            found = found.head
        while self.head is not None and self.head is not found:  # what was left since is passed over the next time
            self.head, self = found, self.head  # noqa: PLW0642
        return found.index


class BudgetError(Exception):
    """A question needs more steps than it is given; nothing partial is kept."""


class Question:
    """A block in which something is asked; a question that needs more than its budget ends it.

    Questions within a question share its budget, and end with it.
    """

    def __init__(self, *evaluators: Evaluator) -> None:
        """Take whom the block asks."""
        self._evaluators = evaluators
        self._limit = sys.getrecursionlimit()
        self._is_inner = False

    def __enter__(self) -> None:
        """Begin with nothing spent."""
        self._is_inner = self._evaluators[0].is_asked
        for each in () if self._is_inner else self._evaluators:
            each.is_asked, each.steps = True, 0
        sys.setrecursionlimit(max(self._limit, 30_000))

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> bool:
        """Let go of what was begun where the budget ended; other exceptions pass."""
        sys.setrecursionlimit(self._limit)
        for each in () if self._is_inner else self._evaluators:
            each.is_asked = False
        is_given_up = kind is not None and issubclass(kind, BudgetError | RecursionError)
        if kind is not None and issubclass(kind, RecursionError):
            for each in self._evaluators:
                each.remember_depth()
        if kind is not None:
            self._evaluators[0].oracles.forget_partial()
        return is_given_up and not self._is_inner


class Evaluator:
    """What one oracle knows of a program; an :class:`torchlint.values.asking.Asker`."""

    def __init__(self, oracle: Oracle, oracles: Oracles) -> None:
        """Begin; what the oracles share is kept by ``oracles``."""
        self.oracle, self.oracles, self.program = oracle, oracles, oracles.program
        self.steps = 0
        self.is_asked = False
        """Whether a question is being answered."""
        self._done: dict[Key, tuple[Abstract, int]] = {}
        """Values, each with the bits of what it rests on: see :attr:`Program.touched`."""
        self._active: dict[Key, _Active] = {}
        self._partial: dict[Key, tuple[Abstract, _Active]] = {}
        """Values that rest on one that is being computed."""
        self._stack: list[_Active] = []
        """The values that are being computed, by index."""
        self._approximations: dict[Key, Abstract] = {}
        """What these were in the round before."""
        self._has_changed = False
        """Whether somebody was given an approximation, in this round, that was not yet the value."""
        self._trail: list[Key] = []
        self._low = _INFINITE
        self._too_deep: dict[Key, int] = {}
        """Values that led too deep once, by how many waited for them: where as many do, or more, they will again.

        0 for those that took a good part of the budget when it ended.
        """

    # ------------------------------------------------------------------ questions from outside
    def ask(self, node: Node, path: Path = (), context: Context | None = None) -> Abstract | None:
        """Return the value that a path leads to from a node; None where the budget of a question does not reach."""
        with self.question():
            return self.value(node, path, context)
        return None

    def question(self) -> Question:
        """Ask something within the budget of one question; what exceeds it ends the block silently."""
        return Question(self)

    def forget(self, bit: int) -> None:
        """Let go of the values that rest on something: see :attr:`Program.touched`."""
        self._done = {key: found for key, found in self._done.items() if not found[1] & bit}
        self._too_deep.clear()

    def remember_depth(self) -> None:
        """Keep how many values waited for each of those that are being computed, which lead too deep."""
        for each, active in self._active.items():
            self._too_deep[each] = min(active.index, self._too_deep.get(each, _INFINITE))

    def forget_partial(self) -> None:
        """Let go of what was being computed when a question was given up."""
        self._active.clear()
        self._partial.clear()
        self._stack.clear()
        self._approximations.clear()
        self._has_changed = False
        self._trail.clear()
        self._low = _INFINITE

    # ------------------------------------------------------------------ fixpoint
    def value(self, node: Node, path: Path = (), context: Context | None = None) -> Abstract:
        """Return what is known of what a path leads to from a node, in a context.

        :raises BudgetError: where the question has taken too many steps.
        """
        if node.op == CONST:
            found = descent.constant(node.data)
            return descent.descend(found, path) if path else found
        key = (node, path, context)
        done = self._done.get(key)
        if done is not None:
            self.program.touched |= done[1]
            return done[0]
        active = self._active.get(key)
        if active is not None:
            self._low = min(self._low, active.index)
            active.is_read = True
            return active.present
        partial = self._partial.get(key)
        if partial is not None:
            self._low = min(self._low, partial[1].head_index())
            return partial[0]
        if len(path) > LONGEST_PATH:
            return unknown(OF_CALL, node)
        if node.op in _CHAINED:
            self._evaluate_chain(node, path, context)
        return self._compute(key)

    @property
    def is_waiting(self) -> bool:
        """Whether something that was just asked for rests on a value that is being computed: it may still grow."""
        return self._low < _INFINITE

    def _evaluate_chain(self, node: Node, path: Path, context: Context | None) -> None:
        chain, below = [], node.ins[0]
        while below.op in _CHAINED and (key := (below, path, context)) not in self._done:
            if key in self._active or key in self._partial:
                break
            chain.append(below)
            below = below.ins[0]
        if len(chain) > _LONGEST_CHAIN:
            for each in reversed(chain):
                self.value(each, path, context)

    def _compute(self, key: Key) -> Abstract:
        """Compute a value, again until nothing changes where it rests on itself."""
        node, path, context = key
        index = len(self._active)
        if self.steps > MOST_STEPS:
            spent = (each for each, active in self._active.items() if self.steps - active.begun > MOST_STEPS // 4)
            self._too_deep.update(dict.fromkeys(spent, 0))
            raise BudgetError
        if index > _MOST_ACTIVE or index >= self._too_deep.get(key, _INFINITE):
            self.remember_depth()
            raise BudgetError
        outer, mark, program = self._low, len(self._trail), self.program
        touched_before, program.touched = program.touched, node.fn.file.bit
        entry = self._active[key] = _Active(index, self._approximations.get(key, BOTTOM), self.steps)
        self._stack.append(entry)
        has_changed, rounds = self._has_changed, 0
        while True:
            self.steps += 1
            self._low, self._has_changed, entry.is_read = _INFINITE, False, False
            value = join(entry.present, transfer.TRANSFER[node.op](self, node, path, context))
            low = self._low
            if entry.is_read and value.key() != entry.present.key():
                self._has_changed = True
            if low != index or not self._has_changed:
                break
            rounds += 1
            entry.present = value.plain() if rounds > _MOST_ROUNDS else value
            for each in self._trail[mark:]:
                self._approximations[each] = self._partial.pop(each)[0]
            del self._trail[mark:]
        if low < index:  # it rests on what still changes, and so does all that rests on it
            entry.head = self._stack[low]
            self._partial[key] = value, entry
            self._trail.append(key)
            self._has_changed |= has_changed
        else:
            for each in self._trail[mark:]:
                self._done[each] = self._partial.pop(each)[0], program.touched
                self._approximations.pop(each, None)
            del self._trail[mark:]
            self._done[key] = value, program.touched
            self._has_changed, low = has_changed, _INFINITE
        del self._active[key], self._stack[index]
        self._low = min(outer, low)
        program.touched |= touched_before
        return value

    def join_of(self, nodes: Iterable[Node], path: Path, context: Context | None) -> Abstract:
        """Return the join of several nodes."""
        value = BOTTOM
        for each in nodes:
            value = join(value, self.value(each, path, context))
        return value

    # ------------------------------------------------------------------ presumptions
    def presumes(self, presumption: Presumption) -> bool:
        """Whether a presumption holds: none does under PROOF."""
        if self.oracle is Oracle.CLAIMED:
            return presumption in _CLAIMED
        return self.oracle is not Oracle.PROOF

    # ------------------------------------------------------------------ contexts and calls
    def enter(
        self,
        call: Node | None,
        function: FunctionGraph,
        context: Context | None,
        receiver: Abstract | None,
        made: Context | None = None,
        *,
        is_part: bool = False,
    ) -> Context:
        """Return the context of a function that a call leads to.

        A call string that is too long, or would hold a function twice, forgets arguments; never object and grad mode.
        ``is_part`` says that the call is a part of what the caller does, as ``super().__init__`` is: it counts nothing.
        """
        modes = None
        self.program.touched |= function.file.bit
        if is_part and context is not None:
            return self.oracles.context(call, function, context, receiver, None, made, context.depth)
        if context is not None and (context.depth >= LONGEST_CALL_STRING or context.of(function) is not None):
            modes = self.mode(call, context) if call is not None else context.modes
            call = context = None
        depth = 1 + (context.depth if context is not None else 0)
        return self.oracles.context(call, function, context, receiver, modes, made, depth)

    def returned(self, function: FunctionGraph, path: Path, context: Context | None) -> Abstract:
        """Return what a function gives along a path, in a context."""
        return call_results.returned(self, function, path, context)

    def call_of(self, target: Abstract, node: Node, path: Path, context: Context | None) -> Abstract:
        """Return what calling a value with the arguments of a call gives."""
        return call_results.call_of(self, target, node, path, context)

    def returned_by_method(
        self, owner: Abstract, word: str, node: Node, path: Path, context: Context | None
    ) -> Abstract | None:
        """Return what a method of the project's objects among a value gives; None where it has none."""
        return call_results.returned_by_method(self, owner, word, node, path, context)

    def callees(self, call: Node, context: Context | None = None) -> tuple[Callee, ...]:
        """Return the functions of the project that a call may run."""
        return call_graph.callees(self, call, context)

    def callers(self, function: FunctionGraph) -> tuple[CallerSite, ...]:
        """Return the calls of a function in the project; none where they cannot all be known."""
        return call_graph.callers(self, function)

    def known_callers(self, function: FunctionGraph) -> tuple[tuple[CallerSite, ...], bool]:
        """Return the calls of a function in the project that are known, and whether these are all."""
        return call_graph.known_callers(self, function)

    # ------------------------------------------------------------------ tests and the process
    def truth(self, node: Node, context: Context | None) -> bool | None:
        """Return how a test comes out; None where both are possible."""
        return decided_tests.truth(self, node, context)

    def feasible(self, guards: Guards, context: Context | None) -> bool:
        """Whether tests on the way may all come out as they must."""
        return all(self.truth(test, context) in (None, wanted) for test, wanted in guards)

    def mode(self, node: Node, context: Context | None) -> int:
        """Return the grad modes in which a node may be computed, as bits."""
        if node.state is None:
            return ON | OFF
        return process_state.modes_in(self.value(node.state.grad, (), context))

    def under(self, value: Abstract, node: Node, context: Context | None) -> Abstract:
        """Return a computed value as grad mode at a node leaves it."""
        if value.grad <= SAFE or not value.kind & CARRIES:
            return value
        mode = self.mode(node, context)
        if mode == ON:
            return value
        if mode == OFF:
            return value.detached()
        if not self.presumes(Presumption.GRAD_MODE):
            return value.but(grad=value.grad | SAFE)
        if not process_state.is_for_callers(self, node, context):
            return value.but(grad=value.grad & ~(SURE | MODULE_OUT | OPTION) | OF_MODE | SAFE)
        if value.grad & (MODULE_OUT | OPTION) and not process_state.is_made_here(self, node, context):
            return value.but(grad=value.grad & ~(MODULE_OUT | OPTION) | OF_MODE | SAFE)
        return value

    def default_device(self, node: Node, context: Context | None) -> Abstract:
        """Return where a factory at a node makes a tensor that is told nothing."""
        if node.state is None:
            return process_state.HOST
        return self.value(node.state.device, (), context)

    def default_dtype(self, node: Node, context: Context | None) -> int:
        """Return the floating dtypes of a factory at a node that is told nothing, as bits."""
        return (
            process_state.USUAL_DTYPE.dtype if node.state is None else self.value(node.state.dtype, (), context).dtype
        )

    # ------------------------------------------------------------------ objects
    def elements(self, node: Node, path: Path, context: Context | None) -> Abstract:
        """Return what a path leads to from what iterating over a node gives."""
        return transfer.elements(self, node, path, context)

    def attribute_of(self, owner: Abstract, word: str, path: Path, at: Node, context: Context | None) -> Abstract:
        """Return an attribute of a value, and what a path leads to from there."""
        return instance_attributes.attribute_of(self, owner, word, path, at, context)

    def along(self, value: Abstract, path: Path, at: Node, context: Context | None) -> Abstract:
        """Follow a path from a value that is no node: into its objects, else by what is known of its kind."""
        if not path:
            return value
        step = path[0]
        if isinstance(step, str) and step[:1] == "." and value.references:
            return self.attribute_of(value, step[1:], path[1:], at, context)
        if step == ANY_ELEMENT and (found := self.returned_by_method(value, "__iter__", at, path, context)) is not None:
            return found
        return descent.descend(value, path)

    def family(self, cls: ClassGraph) -> ClassFamily:
        """Return a class with its bases."""
        return self.oracles.family(cls)

    def object_of(self, cls: ClassGraph) -> Abstract:
        """Return any object of a class of the project."""
        return instance_attributes.any_object(self, cls)

    # ------------------------------------------------------------------ the graph
    def derived(self, key: tuple[object, ...], make: Callable[[], Node]) -> Node:
        """Return a node that no text has: one for each key, which begins with a node."""
        return self.oracles.derived(key, make)

    def seems_network(self, call: Node) -> bool:
        """Whether what a call calls, or the object of its method, is named or used like a network."""
        return seems_network(call, self.oracles.networks_of)
