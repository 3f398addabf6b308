"""The way of a value from a source to a sink, as a rule is told it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class FlowPlace:
    """Where something happens to a value."""

    node: ast.AST
    """Of the syntax; of another file where there is a path."""
    path: str = ""
    """The other file, as it is spelled for the user."""
    known: Any = None
    """What the place is to those who told it."""

    @property
    def row(self) -> int:
        """The row of its file, from 1."""
        return getattr(self.node, "lineno", 0)


@dataclass(frozen=True, slots=True)
class KnownPath:
    """One way of a value from a source to a sink."""

    is_sure: bool
    """Whether nothing on it is unknown."""
    source: FlowPlace
    sink: FlowPlace
    change: FlowPlace | None
    """Where it became what the specification calls changed."""
    written: FlowPlace | None
    """Where the memory of the source is written in the meantime, if that was required."""
    way_out: str
    """How it left the function, where that is the sink; else empty."""
    beside: tuple[FlowPlace, ...] = ()
    """What it meets at the sink, if that was asked for."""
