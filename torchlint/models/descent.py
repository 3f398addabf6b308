"""What lies inside of values of which the graph says no more: constants, their truth, elements and attributes."""

from __future__ import annotations

import builtins
import re
from functools import lru_cache
from typing import Final

from torchlint.models.library_rows import MODULE_CONTAINERS, is_foreign
from torchlint.models.operation_sets import METHODS, NO_TENSOR
from torchlint.semantic.graph import TEXT_OF_PARTS, FormalParameter, Node
from torchlint.values import abstract as a
from torchlint.values.abstract import (
    A_NUMBER,
    A_SEQUENCE,
    A_TEXT,
    A_THING,
    AN_ARRAY,
    AN_INTEGER,
    BOTTOM,
    NOTHING,
    Abstract,
    join,
    of_kind,
    unknown,
)
from torchlint.values.asking import CallSite, Path, Selector
from torchlint.values.references import ConstantRef, LibraryInstanceRef, LibraryRef, Reference

BUILTINS: Final = frozenset(vars(builtins))
"""Names that Python itself binds."""
SHAPE: Final[Reference] = LibraryInstanceRef("a shape")
"""What tells a tuple of sizes from others: whatever has a ``shape`` has numbers in it."""


# ---------------------------------------------------------------------- constants
def constant(data: object) -> Abstract:
    """Return the value of a constant of the program."""
    if data is TEXT_OF_PARTS:
        return A_TEXT
    if data is None:
        return NOTHING
    return _literal(data) if isinstance(data, str | int | float | complex) else _plain(data)


@lru_cache(maxsize=4096, typed=True)
def _literal(data: str | complex) -> Abstract:
    kind = a.STRING if isinstance(data, str) else a.INTEGER if type(data) is int else a.SCALAR
    return of_kind(kind, frozenset([ConstantRef(data, type(data))]))


def _plain(data: object) -> Abstract:
    return A_TEXT if isinstance(data, bytes) else A_SEQUENCE if isinstance(data, tuple | frozenset) else A_THING


def constants_of(value: Abstract) -> frozenset[object] | None:
    """Return the constants that a value may be; None where it may be anything else."""
    if not value.references or value.kind & ~(a.NUMBER | a.STRING | a.NONE):
        return None
    found: set[object] = {None} if value.kind & a.NONE else set()
    for each in value.references:
        if not isinstance(each, ConstantRef):
            return None
        found.add(each.value)
    return frozenset(found)


def texts_of(value: Abstract) -> frozenset[str]:
    """Return the texts that a value may be; nothing where it may be another that is not known."""
    found = [each.value for each in value.references if isinstance(each, ConstantRef)]
    if value.kind != a.STRING or len(found) != len(value.references):
        return frozenset()
    return frozenset(each for each in found if isinstance(each, str))


def truth_of(value: Abstract) -> bool | None:
    """Return whether a value is true; None where both are possible."""
    if value.kind == a.NONE:
        return False
    known = constants_of(value)
    if known is not None:
        answers = {bool(each) for each in known}
        return answers.pop() if len(answers) == 1 else None
    if value.kind in (a.DEVICE, a.DTYPE):
        return True
    if value.kind == a.MODULE:
        return None if any(getattr(each, "name", "") in MODULE_CONTAINERS for each in value.references) else True
    functions = value.kind == a.OTHER and value.references and all(_is_always_true(each) for each in value.references)
    return True if functions else None


def _is_always_true(reference: object) -> bool:
    """Whether it is a function, a class or a module: what an object answers is its own affair."""
    return getattr(reference, "sort", "") in ("function", "method", "class", "module", "partial") or isinstance(
        reference, LibraryRef
    )


def answer(site: CallSite, position: int | None, word: str, usual: bool) -> bool | None:
    """Return how an argument that is asked for its truth comes out; ``usual`` where it is not given."""
    node = site.argument(position, word)
    return usual if node is None else site.asker.truth(node, site.context)


# ---------------------------------------------------------------------- paths
def descend(value: Abstract, path: Path) -> Abstract:
    """Follow a path into a value that the graph says no more of; what cannot be entered gives nothing."""
    for each in path:
        if not value.kind:
            return value
        if isinstance(each, str) and each[:1] == ".":
            value = plain_attribute(value, each[1:], None)
        else:
            value = _element(value, each)
    return value


def _element(value: Abstract, selector: Selector) -> Abstract:
    """Return an element: of a tensor it has its place and gradient, of what is not known the same evidence."""
    kind = value.kind
    if value.references and kind & (a.OTHER | a.SEQUENCE) and all(map(is_foreign, value.references)):
        return value
    if SHAPE in value.references and kind & a.SEQUENCE and len(value.references) == 1:
        return AN_INTEGER
    result = BOTTOM
    if kind & (a.SEQUENCE | a.OTHER):
        result = part_of_unknown(value, None)
        if kind == a.ANY:
            return result
    if kind & a.TENSOR:
        rank = lowered_rank(value.rank) if isinstance(selector, int) else a.ANY_RANK
        result = join(result, value.but(kind=a.TENSOR, rank=rank, references=a.NO_REFERENCES))
    if kind & a.MODULE:
        result = join(
            result, Abstract(a.MODULE, value.grad, value.device, 0, 0, a.NO_REFERENCES, None, value.device_from)
        )
    if kind & a.ARRAY:
        result = join(result, of_kind(a.ARRAY | a.NUMBER))
    if kind & a.SIZE:
        result = join(result, AN_INTEGER)
    return join(result, A_TEXT) if kind & a.STRING else result


def lowered_rank(rank: int) -> int:
    """Return the numbers of dimensions of a tensor that is indexed with a number."""
    return rank >> 1 | rank & 32


def part_of_unknown(owner: Abstract, at: Node | None) -> Abstract:
    """Return a part of something unknown: it is as unknown, for the same reason."""
    if not owner.kind & (a.TENSOR | a.OTHER) or not owner.grad | owner.device:
        return unknown(a.OF_ATTR, at)
    return Abstract(
        a.ANY,
        owner.grad or a.SAFE,
        owner.device or a.SAFE,
        a.ANY_DTYPE,
        a.ANY_RANK,
        a.NO_REFERENCES,
        owner.grad_from,
        owner.device_from,
    )


# ---------------------------------------------------------------------- attributes
_A_SHAPE: Final = of_kind(a.SIZE | a.SEQUENCE, frozenset([SHAPE]))
_PLAIN_ATTRIBUTES: Final = {
    "ndim": AN_INTEGER, "itemsize": AN_INTEGER, "nbytes": AN_INTEGER, "requires_grad": of_kind(a.SCALAR),
    "is_cuda": of_kind(a.SCALAR),
    "is_leaf": of_kind(a.SCALAR), "is_sparse": of_kind(a.SCALAR), "is_quantized": of_kind(a.SCALAR),
    "training": of_kind(a.SCALAR), "__name__": A_TEXT, "__doc__": of_kind(a.STRING | a.NONE), "__module__": A_TEXT,
    "__class__": A_THING, "__dict__": A_SEQUENCE, "__qualname__": A_TEXT, "__file__": A_TEXT,
}  # fmt: skip
"""Attributes that are of one kind whatever has them."""
_OF_ARRAYS: Final = {
    "T": AN_ARRAY, "real": of_kind(a.ARRAY | a.NUMBER), "imag": of_kind(a.ARRAY | a.NUMBER), "flat": AN_ARRAY,
    "shape": of_kind(a.SEQUENCE, frozenset([SHAPE])), "size": AN_INTEGER,
    "dtype": A_THING, "data": A_THING, "device": Abstract(a.DEVICE, 0, a.SAFE, 0, 0),
}  # fmt: skip
_THE_TENSOR: Final = frozenset("T mT H mH real imag values logits loss".split())
"""Attributes of a tensor, or of the named pair that a reduction gives, with the gradient of the tensor."""
_WITHOUT_PARTS: Final = a.NUMBER | a.STRING | a.NONE | a.DTYPE | a.SIZE


def plain_attribute(owner: Abstract, word: str, at: Node | None) -> Abstract:
    """Return an attribute of a tensor, an array, or of what is not known; ``at`` is the node to name as a reason."""
    kind = owner.kind
    if not kind:
        return BOTTOM
    if (known := _PLAIN_ATTRIBUTES.get(word)) is not None and (kind != a.TENSOR or word not in _TOLD):
        return known
    is_of_others = (
        bool(owner.references) and kind & (a.OTHER | a.SEQUENCE) != 0 and all(map(is_foreign, owner.references))
    )
    if is_of_others and word not in DESCRIBING:
        return owner
    result = BOTTOM
    rest = kind & ~(a.TENSOR | a.ARRAY | a.NONE)
    if kind & a.TENSOR:
        result = _of_tensor(owner, word, at)
    if kind & a.ARRAY and (not rest or word in _OF_ARRAYS):
        result = join(result, _OF_ARRAYS.get(word, of_kind(a.OTHER | a.SEQUENCE | a.INTEGER)))
    if not rest:
        return result
    if not rest & ~_WITHOUT_PARTS:
        return join(result, _OF_PLAIN.get(word, A_THING))
    if word == "shape":
        return _A_SHAPE
    if word == "size":
        return _A_SHAPE.but(kind=a.SIZE | a.SEQUENCE | a.INTEGER | a.OTHER)
    if word == "device":  # a setting is chosen at run time
        place = owner.device or a.SAFE | (a.OPTION if is_of_others else a.OF_ATTR)
        if kind == a.ANY and at is not None and at.ins and _SETTINGS.search(_written(at.ins[0])):
            return Abstract(a.DEVICE, 0, a.SAFE | a.OPTION, 0, 0, device_from=at)
        return join(result, Abstract(a.DEVICE, 0, place, 0, 0, device_from=owner.device_from or at))
    if word == "data" and kind & a.TENSOR:
        return join(result, part_of_unknown(owner, at).detached())
    if word == "dtype":
        return join(result, Abstract(a.DTYPE | a.OTHER, 0, 0, a.ANY_DTYPE, 0))
    return join(result, part_of_unknown(owner, at))


_SETTINGS: Final = re.compile(
    r"(^|_)(args?|opts?|options?|cfg|conf|configs?|configuration|settings|hparams|hps|flags|params|trainer|runner)$",
    re.IGNORECASE,
)
"""Names of what holds a program's settings: its device is a choice, not where a tensor is."""


def _written(node: Node) -> str:
    return node.data.word if isinstance(node.data, FormalParameter) else str(node.data)


DESCRIBING: Final = frozenset("shape size dtype device".split())
"""Attributes that mean the same whatever has them."""
_OF_PLAIN: Final = {"real": A_NUMBER, "imag": A_NUMBER, "numerator": AN_INTEGER, "denominator": AN_INTEGER}


_TOLD: Final = frozenset({"is_cuda", "requires_grad"})
"""Attributes that are known where the gradient and the place are."""
_METHODS_OF_NUMBERS: Final = frozenset(
    "dim numel item tolist data_ptr size stride get_device nelement element_size".split()
)
"""What gives a number when it is called, and is a method before."""


def gradient_of(owner: Abstract, at: Node | None) -> Abstract:
    """Return ``owner.grad``: without a graph, unless the function of a node asks for ``create_graph``."""
    has_graph = at is not None and any("create_graph" in each.arguments.keywords for each in at.fn.calls)
    return join(join(owner.detached(), owner) if has_graph else owner.detached(), NOTHING)


def _of_tensor(owner: Abstract, word: str, at: Node | None) -> Abstract:
    """Return an attribute of a tensor, by the words that all versions of torch have."""
    if word == "shape":
        return of_kind(a.SIZE)
    if word == "device":
        return Abstract(a.DEVICE, 0, owner.device, 0, 0, a.NO_REFERENCES, None, owner.device_from)
    if word == "dtype":
        return Abstract(a.DTYPE, 0, 0, owner.dtype, 0)
    if word in _TOLD:
        return constant(False) if (owner.device if word == "is_cuda" else owner.grad) == a.SAFE else of_kind(a.SCALAR)
    live = owner.but(kind=a.TENSOR, references=a.NO_REFERENCES)
    if word in _THE_TENSOR:
        return live
    if word in ("data", "grad"):
        return live.detached() if word == "data" else gradient_of(live, at)
    if word == "indices":
        return live.detached().but(dtype=a.INT64)
    if word in NO_TENSOR and word not in _METHODS_OF_NUMBERS:
        return of_kind(NO_TENSOR[word])
    return A_THING if word in METHODS or word == "size" else unknown(a.OF_ATTR, at)
