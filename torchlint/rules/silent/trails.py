"""What is known of a tensor of the host on its way, and of the place where it meets another one."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace

from torchlint.rules.api import FileContext
from torchlint.rules.silent.accelerator_places import Place


@dataclass(frozen=True, slots=True)
class Meeting:
    """Where a host tensor meets another one: the node that raises, the other tensor, and why that may be elsewhere."""

    at: ast.expr | ast.stmt
    other: ast.expr
    place: Place
    context: FileContext
    """The file in which that is."""
    is_direct: bool
    """Whether the factory's result goes there and nowhere else."""
    kept_as: str | None = None
    """The attribute of a module that has kept the host tensor since the module was made."""
    is_contained: bool = False
    """Whether that attribute is a list or a dictionary which holds it."""


@dataclass(frozen=True, slots=True)
class Entered:
    """A call that hands a host tensor to a function: what that is given beside it is what this call gives."""

    function: ast.FunctionDef
    call: ast.Call
    context: FileContext
    """The file of the call."""
    outer: Entered | None = None
    """The call by which the tensor came into the function where this call stands."""


@dataclass(frozen=True, slots=True)
class Trail:
    """What is known of a host tensor on its way."""

    is_direct: bool
    """Whether nothing else has it."""
    dimensions: int
    """How many dimensions it has at least: without any it may meet tensors of any device."""
    is_on_a_path: bool = False
    """Whether what stands there is the host tensor on some paths only: it was bound on a branch, or before a loop."""
    is_building: bool = False
    """Whether the object that the tensor is made for is just being made: all of a module is on the host yet."""
    kept_as: str | None = None
    """The attribute of a module that keeps the tensor; None for other objects."""
    held_in: tuple[ast.expr, ast.expr] | None = None
    """The list or the dictionary that is followed, and what it holds: the tensor is a member of what stands there."""
    is_contained: bool = False
    """Whether the attribute keeps a list or a dictionary of which the tensor is a member."""
    at: int | None = None
    """Its place in the tuple that is followed, where it is a part of one."""
    entered: Entered | None = None
    """The call by which it came into the function at hand as an argument."""
    is_computed: bool = False
    """Whether it was computed with what nothing is known of: that raised, or the result is on the host, too."""
    followed: set[ast.Name | ast.Attribute | ast.Return | ast.arg] = field(default_factory=set)
    """The names and the statements that it was followed through: each of them once."""

    def having(self, dimensions: int) -> Trail:
        """Return the same with so many dimensions at least, if that is more than is known."""
        return replace(self, dimensions=max(self.dimensions, dimensions))
