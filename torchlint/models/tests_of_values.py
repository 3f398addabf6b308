"""What is known of a value where a test of it came out in one way, and which kinds a class stands for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from torchlint.models.container_methods import CONTAINER_METHODS
from torchlint.models.library_rows import FOREIGN, canonical, package_of
from torchlint.models.module_results import MODULE_METHODS, PACKED
from torchlint.models.operation_sets import METHODS
from torchlint.models.tensor_moves import dtype_named, dtype_of
from torchlint.semantic.graph import SEQUENCE as DISPLAY
from torchlint.semantic.graph import Narrowing, Node
from torchlint.syntax.places import leaf
from torchlint.values import abstract as a
from torchlint.values.abstract import BOTTOM, NOTHING, Abstract, of_kind
from torchlint.values.asking import ANY_ELEMENT, Asker, Path
from torchlint.values.contexts import Context
from torchlint.values.references import ClassRef, ConstantRef, LibraryInstanceRef, LibraryRef, Reference

_BUILTIN_KINDS: Final = {
    "list": (a.SEQUENCE, False), "tuple": (a.SEQUENCE | a.SIZE, False), "dict": (a.SEQUENCE, False),
    "set": (a.SEQUENCE, False),
    "frozenset": (a.SEQUENCE, False), "range": (a.SEQUENCE, False), "int": (a.INTEGER | a.SCALAR, False),
    "float": (a.SCALAR, False), "bool": (a.SCALAR, False), "complex": (a.SCALAR, False), "str": (a.STRING, False),
    "bytes": (a.STRING, False), "slice": (a.OTHER, False), "type": (a.OTHER, False),
}  # fmt: skip
_OF_SUBCLASSES: Final[dict[frozenset[Reference], int]] = {
    frozenset({LibraryRef("builtins.tuple")}): a.SIZE,
    frozenset({LibraryRef("builtins.int")}): a.SCALAR,
}
"""What is of a class by inheritance alone: ``type(x) is int`` holds of no truth value."""
_OF_TORCH: Final = {
    "torch.device": (a.DEVICE, True), "torch.dtype": (a.DTYPE, True), "torch.Size": (a.SIZE, True),
    "torch.Tensor": (a.TENSOR, True), "torch.autograd.Variable": (a.TENSOR, True),
    "torch.nn.Parameter": (a.TENSOR, False),
    "torch.nn.Module": (a.MODULE, True), PACKED: (a.OTHER, False),
}  # fmt: skip
_CONTAINERS: Final = frozenset(
    """
    Sequence MutableSequence Iterable Iterator Mapping MutableMapping Collection Set Container Sized List Tuple Dict
    OrderedDict defaultdict deque Counter Generator UserDict UserList
    """.split()
)


def kind_of_class(reference: Reference) -> tuple[int, bool]:
    """Return the kinds that a class's objects have, 0 where that is not known, and whether all of these are its own."""
    if isinstance(reference, ClassRef):
        return a.OTHER | a.MODULE | a.SEQUENCE, False
    if not isinstance(reference, LibraryRef):
        return 0, False
    name = canonical(reference.name)
    word, package = leaf(name), package_of(name)
    if package == "builtins":
        return _BUILTIN_KINDS.get(word, (0, False))
    if package == "torch":
        return _of_torch(name, word)
    if package == "numpy":
        return (a.ARRAY, True) if word == "ndarray" else (a.NUMBER, False)
    if package in ("collections", "typing"):
        if word in ("Iterable", "Collection", "Sized", "Container"):
            return a.SEQUENCE | a.SIZE | a.STRING | a.TENSOR | a.ARRAY | a.OTHER | a.MODULE, False
        return (
            (a.SEQUENCE | a.SIZE, False)
            if word in _CONTAINERS
            else (a.OTHER, False)
            if word == "Callable"
            else (0, False)
        )
    if name in ("numbers.Number", "numbers.Real"):
        return a.NUMBER, True
    return (
        (a.NUMBER, False)
        if package == "numbers"
        else (a.OTHER | a.SEQUENCE, False)
        if package in FOREIGN
        else (0, False)
    )


def _of_torch(name: str, word: str) -> tuple[int, bool]:
    if name in _OF_TORCH:
        return _OF_TORCH[name]
    if word.endswith("Tensor") and dtype_named(word) is not None:
        return a.TENSOR, False
    return (a.MODULE, False) if name.startswith("torch.nn.") and word[:1].isupper() else (a.OTHER, False)


def kinds_of(asker: Asker, node: Node, context: Context | None) -> tuple[int, bool]:
    """Return the kinds that a class, or a tuple of classes, stands for, and whether all of each kind are meant.

    0 where it is not known.
    """
    mask, whole = 0, True
    for each in node.ins if node.op == DISPLAY else (node,):
        references = asker.value(each, (), context).references
        if not references:
            return 0, False
        for reference in references:
            kind, is_whole = kind_of_class(reference)
            if isinstance(reference, ClassRef):
                own = asker.object_of(reference.cls).kind
                kind = own if own in (a.MODULE, a.OTHER) else own | a.SEQUENCE | a.TENSOR  # it may derive from these
            if not kind:
                return 0, False
            mask |= kind
            whole &= is_whole
    return mask, whole


# ---------------------------------------------------------------------- narrowing
def narrow(
    asker: Asker,
    value: Abstract,
    narrowing: Narrowing,
    path: Path,
    context: Context | None,
    whole: Callable[[], Abstract],
) -> Abstract:
    """Return what a path leads to from something where a test of it came out in one way.

    :param value: what the path leads to without the test
    :param whole: gives the value that was tested
    """
    if not value.kind:
        return value
    if path:
        return _inside(asker, value, narrowing, path, context, whole)
    sort, positive = narrowing.sort, narrowing.positive
    if sort == "none":
        if positive:
            return NOTHING if value.kind & a.NONE else BOTTOM
        return _of_kinds(value, value.kind & ~a.NONE)
    if sort == "truth":
        return _true(value) if positive else value
    if sort in ("isinstance", "type", "tensor"):
        return _of_class(asker, value, narrowing, context)
    if sort == "equals":
        return _equal(asker, value, narrowing, context)
    if sort == "dtype" and narrowing.node is not None:
        dtype = dtype_of(asker.value(narrowing.node, (), context))
        return value if dtype is None else (value if dtype & a.FLOATING else value.detached()).but(dtype=dtype)
    if sort.startswith("hasattr "):
        return _with_attribute(value, sort.removeprefix("hasattr "), positive)
    return _state(value, sort, positive)


def _of_kinds(value: Abstract, kind: int) -> Abstract:
    """Return a value of which some kinds are left; what speaks of tensors goes with them."""
    if kind == value.kind:
        return value
    if not kind:
        return BOTTOM
    if value.kind == a.ANY and not kind & a.TENSOR and kind != a.MODULE:
        return of_kind(kind)
    if kind & (a.TENSOR | a.MODULE | a.DEVICE | a.DTYPE | a.OTHER | a.SEQUENCE):
        return value.but(kind=kind)
    return of_kind(kind, frozenset(each for each in value.references if isinstance(each, ConstantRef)))


def _true(value: Abstract) -> Abstract:
    left = _of_kinds(value, value.kind & ~a.NONE)
    false = {each for each in left.references if isinstance(each, ConstantRef) and not each.value}
    if not false:
        return left
    if false == left.references and left.must(a.NUMBER | a.STRING):
        return BOTTOM
    return left.but(references=left.references - false)


def _state(value: Abstract, sort: str, positive: bool) -> Abstract:
    if sort == "requires_grad":
        if not positive:
            return value.detached()
        return value.but(grad=value.grad & ~a.SAFE) if value.grad & ~a.SAFE else value
    if sort in ("is_cuda", "host"):
        is_on_host = positive is (sort == "host")
        if is_on_host:
            return value.on_host()
        return value.but(device=value.device & ~a.SAFE) if value.device & ~a.SAFE else value
    return value


def _of_class(asker: Asker, value: Abstract, narrowing: Narrowing, context: Context | None) -> Abstract:
    node = narrowing.node
    if narrowing.sort == "tensor":
        mask, whole = a.TENSOR, True
    elif node is None:
        return value
    else:
        mask, whole = kinds_of(asker, node, context)
    if narrowing.sort == "type" and node is not None:
        mask &= ~_OF_SUBCLASSES.get(asker.value(node, (), context).references, 0)
    if not mask:
        return value
    if not narrowing.positive:
        return _of_kinds(value, value.kind & ~mask) if whole and narrowing.sort != "type" else value
    kind = value.kind & mask
    if not kind:
        return BOTTOM
    left = _of_kinds(value, kind)
    if value.references or node is None or not kind & (a.OTHER | a.MODULE):
        return left
    return _object_asked_for(asker, left, node, context)


def _object_asked_for(asker: Asker, left: Abstract, node: Node, context: Context | None) -> Abstract:
    """Return something unknown that is of a class that was asked for: an object of that."""
    references: set[Reference] = set()
    for each in node.ins if node.op == DISPLAY else (node,):
        for reference in asker.value(each, (), context).references:
            if isinstance(reference, ClassRef):
                references |= asker.object_of(reference.cls).references
            elif isinstance(reference, LibraryRef) and canonical(reference.name) not in _OF_TORCH:
                references.add(LibraryInstanceRef(canonical(reference.name)))
    if left.kind == a.SEQUENCE or any(
        isinstance(each, LibraryInstanceRef) and "." not in each.name for each in references
    ):
        return left
    builtin = any(isinstance(each, LibraryInstanceRef) and each.name.startswith("builtins.") for each in references)
    return left if builtin else left.but(references=frozenset(references))


def _equal(asker: Asker, value: Abstract, narrowing: Narrowing, context: Context | None) -> Abstract:
    node = narrowing.node
    if node is None:
        return value
    asked = asker.value(node, (), context)
    if len(asked.references) != 1 or not isinstance(next(iter(asked.references)), ConstantRef):
        return value
    if narrowing.positive:
        return asked if asked.kind == a.STRING and value.must(a.STRING | a.NONE) else value
    left = value.references - asked.references
    if left == value.references:
        return value
    return value.but(references=left) if left else BOTTOM if value.kind == asked.kind else value.but(references=left)


_HAVE: Final = (
    (METHODS | frozenset("shape dtype device data grad requires_grad is_cuda ndim size".split()), a.TENSOR),
    (MODULE_METHODS | frozenset({"weight", "bias", "forward", "training"}), a.MODULE),
    (frozenset("shape dtype ndim size astype tolist item copy".split()), a.ARRAY),
    (CONTAINER_METHODS, a.SEQUENCE | a.SIZE),
)
"""Words by the kinds that have them."""


def _with_attribute(value: Abstract, word: str, positive: bool) -> Abstract:
    having = 0
    for words, kind in _HAVE:
        if word in words:
            having |= kind
    if word.startswith("__"):
        return value
    if not positive:
        return _of_kinds(value, value.kind & ~(having & a.TENSOR))
    if not having & a.TENSOR:
        return value
    left = value.kind & (having | a.OTHER | a.STRING)
    return _of_kinds(value, left) if left else value


def _inside(
    asker: Asker,
    value: Abstract,
    narrowing: Narrowing,
    path: Path,
    context: Context | None,
    whole: Callable[[], Abstract],
) -> Abstract:
    """Return a part of something where a test of the whole came out in one way."""
    sort, positive = narrowing.sort, narrowing.positive
    if sort == "elements" and path == (ANY_ELEMENT,) and narrowing.node is not None:
        mask, _ = kinds_of(asker, narrowing.node, context)
        return _of_kinds(value, value.kind & mask or value.kind) if mask and positive else value
    if sort in ("none", "truth", "isinstance", "tensor", "type"):
        own = whole()
        if own.kind and not narrow(asker, own, narrowing, (), context, whole).kind:
            return BOTTOM
    if sort in ("requires_grad", "is_cuda", "host") and value.kind & a.TENSOR and not _leaves(path):
        return _state(value, sort, positive) if not (sort == "requires_grad" and positive) else value
    return value


def _leaves(path: Path) -> bool:
    """Whether a path leads to attributes, of which a test of the whole says nothing."""
    return any(isinstance(each, str) and each[:1] == "." for each in path)
