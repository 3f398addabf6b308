"""What is known of one value: its kind, grad, device and dtype, each a set of possibilities, and the reasons."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from enum import IntFlag

    from typing_extensions import dataclass_transform

    Bits = IntFlag
    _Class = TypeVar("_Class")

    @dataclass_transform(frozen_default=True, eq_default=False)
    def frozen(cls: type[_Class]) -> type[_Class]:
        """Make a dataclass whose objects nobody changes: the type checker sees to it."""
        return cls

else:
    # A dataclass that guards itself at run time takes several times as long to make, and a check makes a million.
    frozen = dataclass(slots=True, eq=False)

    class _Named(type):
        def __iter__(cls) -> Iterator[Bits]:
            return iter(cls.members.values())

    class Bits(int, metaclass=_Named):
        """Declared and spelled like ``enum.IntFlag``; results of operators are integers without a name.

        Walks of functions join and compare these sets all the time: with ``IntFlag`` a fifth of a check went there.
        """

        def __init_subclass__(cls) -> None:
            cls.members = {word: cls(bit) for word, bit in vars(cls).items() if word.isupper()}
            for word, bit in cls.members.items():
                bit.name = word
                setattr(cls, word, bit)


class Kind(Bits):
    """What sort of thing a value is."""

    TENSOR = 1
    ARRAY = 2
    """A NumPy array."""
    SEQUENCE = 4
    """A list, tuple, range, dict, set, generator: Python data that holds other values."""
    SIZE = 8
    """A ``torch.Size``."""
    INTEGER = 16
    SCALAR = 32
    """Any other Python or NumPy scalar: float, bool, complex."""
    STRING = 64
    NONE = 128
    MODULE = 256
    """An ``nn.Module`` object."""
    DEVICE = 512
    DTYPE = 1024
    OTHER = 2048
    """Known to be something else: a class, a function, an object of a class that is none of the above."""


ANY: Final = Kind(4095)
OWN: Final = "here."
"""How the names of the project's own functions and classes begin: ``here.package.module.word``."""


class Grad(Bits):
    """Whether a tensor requires grad."""

    DETACHED = 1
    UNKNOWN = 2
    ATTACHED = 4


class Device(Bits):
    """Where a tensor's memory is."""

    HOST = 1
    UNKNOWN = 2
    ACCELERATOR = 4
    """On a device that is, or by the code's own words may be, an accelerator."""


class Dtype(Bits):
    """What a tensor's elements are, as far as it matters here; integral and bool tensors never require grad."""

    FLOATING = 1
    INTEGRAL = 2
    BOOL = 4


class Mode(Bits):
    """Grad mode at a point of the program."""

    ON = 1
    OFF = 2


ANY_GRAD: Final = Grad.DETACHED | Grad.UNKNOWN
ANY_DEVICE: Final = Device.HOST | Device.UNKNOWN
ANY_DTYPE: Final = Dtype.FLOATING | Dtype.INTEGRAL | Dtype.BOOL


@dataclass(frozen=True, slots=True)
class Reason:
    """One step of an explanation: what happened at a node, after what.

    ``text`` may hold ``{code}``, which stands for the node's source.
    """

    text: str
    node: ast.AST | None = None
    after: Reason | None = None
    weak: bool = False
    """Whether this step rests on a name or on another function's text, not on this function's own."""

    def chain(self) -> Iterator[Reason]:
        """Yield the steps, first cause first."""
        steps = []
        step: Reason | None = self
        while step is not None:
            steps.append(step)
            step = step.after
        yield from reversed(steps)

    @property
    def start(self) -> ast.AST | None:
        """Where it begins: the node of the first cause that has one."""
        return next((step.node for step in self.chain() if step.node is not None), None)


@frozen
class Value:
    """What is known of an expression's value; nobody changes one.

    ``kind`` alone says nothing of the other axes; ``grad``, ``device`` and ``dtype`` speak of the tensors among the
    possibilities (or of those inside a container: :func:`torchlint.knowledge.any_element`).
    """

    kind: Kind = ANY
    grad: Grad = ANY_GRAD
    device: Device = ANY_DEVICE
    dtype: Dtype = ANY_DTYPE
    exact: str | None = None
    """The exact dtype as ``"float32"`` where known."""
    rank: int | None = None
    """The number of dimensions where known; 0 for a loss or another full reduction."""
    has_dimensions: bool = False
    """Whether a tensor has at least one, however many."""
    names: frozenset[str] = frozenset()
    """What this may be by name: ``torch.FloatTensor``, ``numpy.asarray``, ``here.module.function``."""
    instance: frozenset[str] = frozenset()
    """The names of the classes this may be an object of."""
    const: object = None
    """The constant's value, for strings, numbers and booleans; None where it is not one."""
    items: tuple[Value, ...] | None = None
    """The members of a tuple or list of known length, in order."""
    member: Value | None = None
    """The join of all members of a container of unknown length."""
    keys: tuple[tuple[str, Value], ...] = ()
    """The members of a dict by constant key, or the fields of a named tuple."""
    node: ast.AST | None = None
    """For a lambda or a local function: where it is defined."""
    why_grad: Reason | None = None
    why_device: Reason | None = None
    claimed: str = ""
    """Why the kind is only claimed, as a clause: an annotation says it, or a test that leaves more open."""

    # ------------------------------------------------------------------ questions
    def must(self, kind: Kind) -> bool:
        """Whether the value is of one of these kinds beyond doubt."""
        return bool(self.kind) and not self.kind & ~kind

    def may(self, kind: Kind) -> bool:
        """Whether the value may be of one of these kinds."""
        return bool(self.kind & kind)

    @property
    def unknown(self) -> bool:
        """Whether nothing at all is known of the kind."""
        return self.kind == ANY

    @property
    def may_require_grad(self) -> bool:
        """Whether a tensor here may require grad: an integral tensor cannot."""
        return bool(self.grad & (Grad.UNKNOWN | Grad.ATTACHED)) and bool(self.dtype & Dtype.FLOATING)

    @property
    def may_be_on_accelerator(self) -> bool:
        """Whether a tensor here may be on an accelerator."""
        return bool(self.device & (Device.UNKNOWN | Device.ACCELERATOR))

    @property
    def is_tensor(self) -> bool:
        """Whether this is a torch tensor beyond doubt."""
        return self.must(Kind.TENSOR)

    def having(self, **changes: object) -> Value:
        """Return this value with some facts replaced."""
        facts = dict(zip(_FACTS, _all_facts(self), strict=True))
        facts.update(changes)
        return Value(**facts)

    def plain(self) -> tuple[object, ...]:
        """Return the facts that can be compared, parts and reasons aside."""
        return self.kind, self.grad, self.device, self.dtype, self.exact, self.rank, self.names


_FACTS: Final = tuple(Value.__annotations__)
_all_facts: Final = attrgetter(*_FACTS)
"""Three times as quick as ``dataclasses.replace``, for what is done at every second expression."""


UNKNOWN: Final = Value()
"""Nothing is known: it may be a tensor, it may require grad, it may be on an accelerator."""

NOTHING: Final = Value(Kind(0), Grad(0), Device(0), Dtype(0))
"""No possibility at all: the value of code that is never reached."""
