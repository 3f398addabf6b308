"""What is known of a conversion to the host: which halves of it are missing, how sure that is, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from torchlint.diagnostics.model import Confidence


@dataclass(frozen=True, slots=True)
class JudgedConversion:
    """What may be missing before a conversion."""

    detach: bool
    cpu: bool
    has_source_of_grad: bool
    """Whether something is known that brings a gradient: a leaf, a module, what is named like one."""
    has_source_of_device: bool
    is_tensor: bool
    """Whether the value is a tensor beyond doubt, as far as the code says what it is."""
    confidence: Confidence
    why: tuple[str, ...]
    is_met_by_none: bool
    """Whether the project calls the function, and all calls hand over what converts."""


NOT_JUDGED: Final = JudgedConversion(False, False, False, False, False, Confidence.POSSIBLE, (), False)
"""A conversion that is reported by its letter alone."""
