"""An abstract value: sets of possibilities on flat axes, each possibility with where it comes from.

The bits of ``grad`` and ``device`` are evidence: what could bring the fault, and how directly. A join is a union, so
the grade of a finding is one table over these bits.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlint.semantic.graph import Node
    from torchlint.values.references import Reference

# ---------------------------------------------------------------------- kinds
TENSOR: Final = 1
ARRAY: Final = 2
SEQUENCE: Final = 4
"""Python data that holds other values: a list, tuple, dict, set, range, generator.

What it holds is not kept here: a path asks the graph."""
SIZE: Final = 8
INTEGER: Final = 16
SCALAR: Final = 32
"""Any other number of Python or NumPy: float, bool, complex."""
STRING: Final = 64
NONE: Final = 128
MODULE: Final = 256
DEVICE: Final = 512
DTYPE: Final = 1024
OTHER: Final = 2048
"""Known to be something else: a class, a function, an object of a class that is none of the above."""
ANY: Final = 4095
NUMBER: Final = INTEGER | SCALAR
CARRIES: Final = TENSOR | MODULE
"""What has a gradient and a place itself."""

# ---------------------------------------------------------------------- evidence, the strongest first
SAFE: Final = 1
"""Detached; on the host."""
SURE: Final = 2
"""A leaf that requires grad; moved to an accelerator by the code's own words."""
MODULE_OUT: Final = 4
"""Computed by a module that is known to have parameters; where a known module may have been moved to."""
OPTION: Final = 8
"""Computed by what is named like a model; moved to a device that is chosen at run time."""
OF_MODE: Final = 16
"""A module's output where callers decide on grad mode."""
OF_MODEL: Final = 32
"""The output of a model that is a parameter."""
OF_PARAM: Final = 64
"""A parameter of a function decides."""
OF_CALL: Final = 128
"""An unknown function decides."""
OF_CLASS: Final = 256
"""An attribute that other methods, or who holds the object, leave open."""
OF_ATTR: Final = 512
"""An attribute, a global, or an element of which nothing is known."""
ALL_EVIDENCE: Final = 1023
ATTACHED: Final = SURE | MODULE_OUT | OPTION | OF_MODE | OF_MODEL
"""Evidence by which something requires grad."""

# ---------------------------------------------------------------------- dtypes
FLOAT16, BFLOAT16, FLOAT32, FLOAT64, COMPLEX64, COMPLEX128, OTHER_FLOAT = (1 << n for n in range(7))
UINT8, INT8, INT16, INT32, INT64, OTHER_INTEGER, BOOL = (1 << n for n in range(7, 14))
FLOATING: Final = 127
"""Floating and complex: these can carry a gradient."""
INTEGRAL: Final = 127 << 6 & ~127
"""Integers, without bool."""
ANY_DTYPE: Final = (1 << 14) - 1
DTYPE_NAMES: Final = {
    "float16": FLOAT16, "half": FLOAT16, "bfloat16": BFLOAT16, "float32": FLOAT32, "float": FLOAT32, "float64": FLOAT64,
    "double": FLOAT64, "complex64": COMPLEX64, "cfloat": COMPLEX64, "complex128": COMPLEX128, "cdouble": COMPLEX128,
    "complex32": OTHER_FLOAT, "chalf": OTHER_FLOAT, "uint8": UINT8, "int8": INT8, "int16": INT16, "short": INT16,
    "int32": INT32, "int": INT32, "int64": INT64, "long": INT64, "bool": BOOL,
}  # fmt: skip
"""The bit of each dtype by its name in torch."""
EXACT: Final = {bit: name for name, bit in reversed(DTYPE_NAMES.items())} | {OTHER_FLOAT: "float8 or complex32"}
"""The full name of a dtype by its bit."""

# ---------------------------------------------------------------------- numbers of dimensions
RANKS: Final = (1, 2, 4, 8, 16, 32)
"""The bits of 0, 1, 2, 3, 4 and more than 4 dimensions."""
ANY_RANK: Final = 63

NO_REFERENCES: Final[frozenset[Reference]] = frozenset()
MOST_REFERENCES: Final = 12
"""More than these lose the context of their making, so that a fixpoint is reached."""


class Abstract:
    """What is known of a value; nobody changes one.

    ``grad``, ``device``, ``dtype`` and ``rank`` speak of the tensors (and modules) among the possibilities, and are 0
    where there are none; ``references`` say which function, class, object or constant the others are, as far as it is
    known.
    """

    __slots__ = ("device", "device_from", "dtype", "grad", "grad_from", "kind", "rank", "references")

    def __init__(
        self,
        kind: int,
        grad: int = 0,
        device: int = 0,
        dtype: int = ANY_DTYPE,
        rank: int = ANY_RANK,
        references: frozenset[Reference] = NO_REFERENCES,
        grad_from: Node | None = None,
        device_from: Node | None = None,
    ) -> None:
        """Make a value; ``grad_from`` and ``device_from`` are the nodes at which the strongest evidence begins."""
        self.kind, self.grad, self.device, self.dtype, self.rank = kind, grad, device, dtype, rank
        self.references, self.grad_from, self.device_from = references, grad_from, device_from

    def key(self) -> tuple[object, ...]:
        """Return what makes two values the same: where they come from does not."""
        return self.kind, self.grad, self.device, self.dtype, self.rank, self.references

    def __repr__(self) -> str:
        """Spell it for messages of tests."""
        facts = " ".join(f"{word}={getattr(self, word):b}" for word in _FIELDS[:5])
        return f"Abstract({facts} {set(self.references) or ''})"

    def but(self, **changes: Any) -> Abstract:  # the fields differ in type
        """Return this value with some fields replaced."""
        return Abstract(*(changes[word] if word in changes else getattr(self, word) for word in _FIELDS))

    # ------------------------------------------------------------------ questions
    def must(self, kind: int) -> bool:
        """Whether the value is of one of these kinds beyond doubt."""
        return self.kind != 0 and not self.kind & ~kind

    def may(self, kind: int) -> bool:
        """Whether the value may be of one of these kinds."""
        return self.kind & kind != 0

    @property
    def may_require_grad(self) -> bool:
        """Whether a tensor here may require grad: an integral one cannot."""
        return self.grad & ~SAFE != 0 and self.dtype & FLOATING != 0

    @property
    def is_attached(self) -> bool:
        """Whether something says that a tensor here requires grad: not only that nothing is known of it."""
        return self.grad & ATTACHED != 0 and self.dtype & FLOATING != 0

    @property
    def may_be_on_accelerator(self) -> bool:
        """Whether a tensor here may be on an accelerator."""
        return self.device & ~SAFE != 0

    @property
    def has_dimensions(self) -> bool:
        """Whether a tensor here has at least one dimension."""
        return self.rank & RANKS[0] == 0

    # ------------------------------------------------------------------ related values
    def detached(self) -> Abstract:
        """Return the value without a gradient."""
        return self if self.grad <= SAFE else self.but(grad=SAFE, grad_from=None)

    def on_host(self) -> Abstract:
        """Return the value on the host."""
        return self if self.device <= SAFE else self.but(device=SAFE, device_from=None)

    def plain(self) -> Abstract:
        """Return the value without its references."""
        return self.but(references=NO_REFERENCES) if self.references else self


_FIELDS: Final = ("kind", "grad", "device", "dtype", "rank", "references", "grad_from", "device_from")
"""In the order in which they are given to the constructor."""

BOTTOM: Final = Abstract(0, dtype=0, rank=0)
"""No possibility at all: what is never reached, and only that."""
NOTHING: Final = Abstract(NONE, dtype=0, rank=0)
AN_INTEGER: Final = Abstract(INTEGER, dtype=0, rank=0)
A_NUMBER: Final = Abstract(NUMBER, dtype=0, rank=0)
A_TEXT: Final = Abstract(STRING, dtype=0, rank=0)
A_SEQUENCE: Final = Abstract(SEQUENCE, dtype=0, rank=0)
AN_ARRAY: Final = Abstract(ARRAY, dtype=0, rank=0)
A_THING: Final = Abstract(OTHER, dtype=0, rank=0)


def of_kind(kind: int, references: frozenset[Reference] = NO_REFERENCES) -> Abstract:
    """Make a value that is no tensor."""
    return Abstract(kind, 0, 0, 0, 0, references)


def unknown(evidence: int, at: Node | None = None) -> Abstract:
    """Make a value of which nothing is known; the evidence says what decides, the node where that is."""
    return Abstract(ANY, SAFE | evidence, SAFE | evidence, ANY_DTYPE, ANY_RANK, NO_REFERENCES, at, at)


def tensor(
    grad: int = SAFE,
    device: int = SAFE,
    dtype: int = ANY_DTYPE,
    rank: int = ANY_RANK,
    grad_from: Node | None = None,
    device_from: Node | None = None,
) -> Abstract:
    """Make a tensor."""
    return Abstract(TENSOR, grad, device, dtype, rank, NO_REFERENCES, grad_from, device_from)


def strongest(evidence: int) -> int:
    """Return the strongest bit of evidence but SAFE; 0 for none."""
    evidence &= ~SAFE
    return evidence & -evidence


def _stronger(mine: int, origin: Node | None, theirs: int, other: Node | None) -> Node | None:
    if origin is None or other is None:
        return origin or other
    one, two = strongest(mine), strongest(theirs)
    return origin if one and (not two or one <= two) else other


def _without_partner(value: Abstract, other: Abstract) -> frozenset[Reference]:
    """Return the references of a value; of constants none where the other side is a number or text of any content."""
    if not value.references or not other.kind & (NUMBER | STRING):
        return value.references
    if any(each.sort == "constant" for each in other.references):
        return value.references
    return frozenset(each for each in value.references if each.sort != "constant")


def join(one: Abstract, two: Abstract) -> Abstract:
    """Return what is known where either may stand."""
    if one is two or not two.kind:
        return one
    if not one.kind:
        return two
    references = one.references
    if two.references is not references:
        references = _without_partner(one, two) | _without_partner(two, one)
        if len(references) > MOST_REFERENCES:
            references = frozenset(each.widened() for each in references)
    return Abstract(
        one.kind | two.kind,
        one.grad | two.grad,
        one.device | two.device,
        one.dtype | two.dtype,
        one.rank | two.rank,
        references,
        _stronger(one.grad, one.grad_from, two.grad, two.grad_from),
        _stronger(one.device, one.device_from, two.device, two.device_from),
    )


def join_all(values: Iterable[Abstract]) -> Abstract:
    """Return what is known where any of the values may stand."""
    return reduce(join, values, BOTTOM)
