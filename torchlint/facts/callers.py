"""What the calls of a function in the project show of its arguments: how sure a finding is, never whether a fix is."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import Enum, IntEnum

from torchlint.syntax.ast_index import Function


class Asked(Enum):
    """What the calls of a function are asked for, which may be handed over for an argument."""

    GRADIENT = "a tensor that requires grad"
    ACCELERATOR = "a tensor on an accelerator"
    NETWORK = "a module whose output requires grad"


class EvidenceLevel(IntEnum):
    """How much the calls of a function in the project speak for a fault, the strongest last."""

    NOTHING = 0
    """There are calls, and none of them brings it."""
    UNKNOWN = 1
    """A call may bring it; nobody calls the function, or it is handed on: others decide."""
    SOURCE = 2
    """A call brings it."""


@dataclass(frozen=True)
class KnownCall:
    """A call of a function of the project, in this file or in another one."""

    call: ast.Call
    function: Function
    """The function that is called."""
    is_sure: bool
    """Whether it calls this function: of a method of some object another class may have one of the same name."""


@dataclass(frozen=True)
class CallerEvidence:
    """What the calls of a function show of an argument."""

    given: EvidenceLevel
    calls: int = 0
    """How many there are."""
    source: KnownCall | None = None
    """The call that brings the fault."""
    is_all: bool = False
    """Whether there are no others: the function is one of a program, which is run and not imported."""
    is_handed_on: bool = False
    """Whether the function is handed on somewhere: what is made of it may be called in its place."""
