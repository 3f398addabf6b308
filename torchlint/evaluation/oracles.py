"""The four oracles of a program, and what they share: contexts, derived nodes, class families."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from torchlint.evaluation.class_families import ClassFamily
from torchlint.evaluation.evaluator import Evaluator
from torchlint.evaluation.network_names import networks_of
from torchlint.values.asking import Oracle
from torchlint.values.contexts import Context

if TYPE_CHECKING:
    from torchlint.evaluation.call_graph import CallerSite
    from torchlint.semantic.graph import ClassGraph, FunctionGraph, Node
    from torchlint.semantic.program import Program
    from torchlint.values.abstract import Abstract


class Oracles:
    """The evaluators of one program; each is made when it is asked."""

    def __init__(self, program: Program) -> None:
        """Begin with nothing known."""
        self.program = program
        self._contexts: dict[tuple[object, ...], Context] = {}
        self._derived: dict[tuple[object, ...], Node] = {}
        self._families: dict[ClassGraph, ClassFamily] = {}
        self._networks: dict[FunctionGraph, frozenset[str]] = {}
        self.callers_found: dict[FunctionGraph, tuple[tuple[CallerSite, ...], bool, int]] = {}
        """The answers of the call graph, by function, with the bits of what they rest on."""

    @cached_property
    def proof(self) -> Evaluator:
        """What is possible: only this makes a fix safe."""
        return Evaluator(Oracle.PROOF, self)

    @cached_property
    def strict(self) -> Evaluator:
        """What is possible where code is what it says it is."""
        return Evaluator(Oracle.STRICT, self)

    @cached_property
    def callers(self) -> Evaluator:
        """What the project's own calls bring."""
        return Evaluator(Oracle.CALLERS, self)

    @cached_property
    def claimed(self) -> Evaluator:
        """What is possible where values are of the kinds that annotations claim."""
        return Evaluator(Oracle.CLAIMED, self)

    def forget(self, path: str) -> None:
        """Let go of all that rests on the text of a file."""
        bit = self.program.bit_of(path)
        for each in ("proof", "claimed", "strict", "callers"):
            if each in vars(self):
                vars(self)[each].forget(bit)
        self.callers_found = {key: found for key, found in self.callers_found.items() if not found[1] & bit}
        self._families = {cls: found for cls, found in self._families.items() if not found.rests_on(bit)}
        self._networks.clear()
        self._derived = {key: found for key, found in self._derived.items() if not found.fn.file.bit & bit}

    def forget_partial(self) -> None:
        """Let go of what was being computed when a question was given up."""
        for each in ("proof", "claimed", "strict", "callers"):
            if each in vars(self):
                vars(self)[each].forget_partial()

    def context(
        self,
        call: Node | None,
        function: FunctionGraph,
        parent: Context | None,
        receiver: Abstract | None,
        modes: int | None,
        made: Context | None,
        depth: int,
    ) -> Context:
        """Return the one context of a content; ``depth`` is how many calls count towards a call string."""
        key = (call, function, parent, receiver.key() if receiver is not None else None, modes, made, depth)
        found = self._contexts.get(key)
        if found is None:
            found = self._contexts[key] = Context(call, function, parent, receiver, modes, made, depth)
        return found

    def derived(self, key: tuple[object, ...], make: Callable[[], Node]) -> Node:
        """Return the one node of a key."""
        found = self._derived.get(key)
        if found is None:
            found = self._derived[key] = make()
        return found

    def family(self, cls: ClassGraph) -> ClassFamily:
        """Return a class with its bases."""
        found = self._families.get(cls)
        if found is None:
            found = self._families[cls] = ClassFamily(self.strict, cls)
        return found

    def networks_of(self, function: FunctionGraph) -> frozenset[str]:
        """Return the names of which a function asks what only networks have, such as parameters."""
        found = self._networks.get(function)
        if found is None:
            found = self._networks[function] = networks_of(function)
        return found
