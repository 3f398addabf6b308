"""What is known of a value that is to be an array or a number of the host: what is missing, how sure, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from torchlint.diagnostics.model import Confidence


@dataclass(frozen=True, slots=True)
class JudgedConversion:
    """What may be missing before a conversion to the host."""

    of_grad: Confidence | None
    """How sure it is that the value requires grad; None where it does not."""
    of_device: Confidence | None
    """How sure it is that the value is on an accelerator; None where it is not."""
    has_source_of_grad: bool
    """Whether something is known that brings a gradient: a leaf, a module, what is named like one."""
    has_source_of_device: bool
    is_tensor: bool
    """Whether the value is a tensor beyond doubt, as far as the code says what it is, or all its callers do."""
    why: tuple[str, ...]
    is_met_by_none: bool
    """Whether the project calls the function, and all calls hand over what converts."""
    is_placed: bool = False
    """Whether the code or its callers say that the value may be elsewhere: moved, or where a module is."""

    @property
    def confidence(self) -> Confidence:
        """How sure it is that the conversion fails; possible where the letter alone is asked for."""
        known = [each for each in (self.of_grad, self.of_device) if each is not None]
        return max(known) if known else Confidence.POSSIBLE


NOT_JUDGED: Final = JudgedConversion(None, None, False, False, False, (), False)
"""A conversion of which nothing is known, or that is proven to work and reported by its letter alone."""

UNREAD: Final = JudgedConversion(Confidence.UNPROVEN, Confidence.UNPROVEN, False, False, False, (), False)
"""A conversion in code that is newer than the running Python: nothing excludes that both halves are missing."""
