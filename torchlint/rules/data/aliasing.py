"""Methods that may give their own receiver."""

from __future__ import annotations

SAME_OR_NEW_METHODS = frozenset(
    "cuda cpu to float double half bfloat16 long int short char byte bool type type_as contiguous pin_memory".split()
)
"""Methods whose result is the receiver itself or a new object, never a view."""
