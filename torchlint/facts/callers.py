"""What the calls of a function in the project show of its arguments: how sure a finding is, never whether a fix is."""

from __future__ import annotations

import ast
from dataclasses import dataclass


@dataclass(frozen=True)
class KnownCall:
    """A call of a function of the project, in this file or in another one."""

    call: ast.Call


@dataclass(frozen=True)
class CallerEvidence:
    """What the calls of a function show of an argument: whether it may be on an accelerator."""

    is_excluded: bool = False
    """Whether there are calls, and none of them hands over what may be there."""
    source: KnownCall | None = None
    """The call that hands over what is there."""
