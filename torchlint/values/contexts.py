"""Contexts: which call leads to a function, from where, and on which object."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchlint.semantic.graph import FunctionGraph, Node
    from torchlint.values.abstract import Abstract


class Context:
    """One way into a function; interned, so that two of the same content are one object.

    ``call`` and ``parent`` (the context of the function with the call) are None where the call string was cut: then
    arguments are unknown; ``receiver`` and ``modes`` are kept. ``made`` is the context in which a closure was made.
    """

    __slots__ = ("call", "depth", "function", "made", "modes", "parent", "receiver")

    def __init__(
        self,
        call: Node | None,
        function: FunctionGraph,
        parent: Context | None,
        receiver: Abstract | None,
        modes: int | None,
        made: Context | None,
        depth: int,
    ) -> None:
        """Make a context; ``modes`` are the grad modes at entry if no call tells them, ``depth`` counts the calls."""
        self.call, self.function, self.parent, self.receiver = call, function, parent, receiver
        self.modes, self.made, self.depth = modes, made, depth

    def of(self, function: FunctionGraph) -> Context | None:
        """Return the innermost context of a function on the way here; None where there is none."""
        found: Context | None = self
        while found is not None and found.function is not function:
            found = found.parent
        return found
