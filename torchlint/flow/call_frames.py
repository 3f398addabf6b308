"""Which call a function was entered through, on a walk that goes into callees and back out again."""

from __future__ import annotations

from typing import Final

from torchlint.evaluation.call_graph import Callee, argument_of
from torchlint.evaluation.evaluator import Evaluator
from torchlint.semantic.graph import ATTR, CallArguments, FormalParameter, FunctionGraph, Node
from torchlint.values.abstract import OF_CALL, Abstract, unknown
from torchlint.values.asking import OFF, ON, Path
from torchlint.values.contexts import Context

_DEEPEST: Final = 4
"""Calls that a walk follows into each other; one that leads further is like one of an unknown function."""


class CallFrame:
    """One call on the way, or a look into what a method of an object stored; there is one object for each content."""

    __slots__ = ("call", "callee", "depth", "function", "outer", "owner")

    def __init__(
        self, callee: Callee | None, function: FunctionGraph, call: Node, owner: Node | None, outer: CallFrame | None
    ) -> None:
        """Enter a function; ``call`` is the node that is written, ``owner`` the object that its first parameter is.

        ``callee`` is None where no call is known, only the object.
        """
        self.callee, self.function, self.call, self.owner, self.outer = callee, function, call, owner, outer
        self.depth: int = 1 + (outer.depth if outer is not None else 0)

    def of(self, function: FunctionGraph) -> CallFrame | None:
        """Return the innermost frame of a function; None where it was not entered through a call on this way."""
        found: CallFrame | None = self
        while found is not None and found.function is not function:
            found = found.outer
        return found

    def began_in(self, function: FunctionGraph) -> bool:
        """Whether the way began in a function, which was not entered through a call then."""
        frame = self
        while frame.outer is not None:
            frame = frame.outer
        return frame.call.fn is function

    @property
    def first_call(self) -> Node | None:
        """The call by which the way left the function in which it began; None where no call is on it."""
        found: Node | None = None
        frame: CallFrame | None = self
        while frame is not None:
            found = frame.call if frame.callee is not None else found
            frame = frame.outer
        return found

    def argument(self, formal: FormalParameter) -> Node | None:
        """Return what the call hands over for a parameter: a node of the function with the call."""
        is_object = formal.position == 0 and not formal.sort
        if self.owner is not None and is_object:
            return self.owner
        if self.callee is None:
            return None
        called = self.callee.call.ins[0]
        if is_object and self.callee.receiver is not None:
            is_method = called.op == ATTR and called.data == self.function.name
            return called.ins[0] if is_method else called  # else an object is called
        return argument_of(self.callee, formal)

    def collected(self, formal: FormalParameter) -> list[Node]:
        """Return all that a parameter may be made of where no single argument is written for it."""
        given = self.callee.call.arguments if self.callee is not None else CallArguments()
        return list(given.all()) if formal.sort or given.starred or given.spread else []


class CallKnowledge:
    """What the walks ask of an evaluator, remembered; a question that exceeds its budget is answered by the unknown."""

    def __init__(self, evaluator: Evaluator) -> None:
        """Ask one oracle."""
        self.evaluator = evaluator
        self._callees: dict[Node, tuple[Callee, ...]] = {}
        self._frames: dict[tuple[Node, object, CallFrame | None], CallFrame] = {}

    def value(self, node: Node, path: Path = (), frame: CallFrame | None = None) -> Abstract:
        """Return the value of a node, wherever it is reached from, or through a call."""
        return self.evaluator.ask(node, path, self.context(frame)) or unknown(OF_CALL, node)

    def context(self, frame: CallFrame | None) -> Context | None:
        """Return the context of a function that was entered through a call."""
        if frame is None or frame.callee is None:
            return None
        outer = self.context(frame.outer)
        found = [each for each in self.evaluator.callees(frame.call, outer) if each.function is frame.function]
        callee = found[0] if found else frame.callee
        return self.evaluator.enter(callee.call, callee.function, outer, callee.receiver, callee.made)

    def callees(self, call: Node) -> tuple[Callee, ...]:
        """Return the functions of the project that a call may run."""
        if call not in self._callees:
            self._callees[call] = ()
            with self.evaluator.question():
                found = self.evaluator.callees(call)  # from sets: put in an order that is the same each time
                self._callees[call] = tuple(sorted(found, key=lambda e: (e.function.file.path, e.function.identity)))
        return self._callees[call]

    def callers(self, function: FunctionGraph) -> list[Node]:
        """Return the calls of the project that run a function, as far as all can be known."""
        found: list[Node] = []
        with self.evaluator.question():
            found += [each.call for each in self.evaluator.callers(function)]
        return found

    def mode(self, node: Node) -> int:
        """Return the grad modes in which a node may be computed; both where that takes too long."""
        found = [ON | OFF]
        with self.evaluator.question():
            found.append(self.evaluator.mode(node, None))
        return found[-1]

    def enter(self, callee: Callee, call: Node, outer: CallFrame | None) -> CallFrame | None:
        """Return the frame of a callee; None where the way is too long, or was in the function already."""
        owner = call if callee.is_constructor else None
        return self._frame((call, callee, outer), callee, callee.function, owner)

    def inside(self, method: FunctionGraph, owner: Node, outer: CallFrame | None) -> CallFrame | None:
        """Return the frame in which a method stored something in an object; None as for :meth:`enter`."""
        return self._frame((owner, method, outer), None, method, owner)

    def _frame(
        self,
        key: tuple[Node, object, CallFrame | None],
        callee: Callee | None,
        function: FunctionGraph,
        owner: Node | None,
    ) -> CallFrame | None:
        call, _, outer = key
        if outer is not None and (outer.depth >= _DEEPEST or outer.of(function) is not None):
            return None
        if key not in self._frames:
            self._frames[key] = CallFrame(callee, function, call, owner, outer)
        return self._frames[key]
