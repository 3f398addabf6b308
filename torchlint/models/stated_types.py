"""What annotations say of a value, and of what a path leads to from it; nothing where they leave it open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from torchlint.models.descent import constant, descend
from torchlint.models.library_results import foreign
from torchlint.models.library_rows import FOREIGN, canonical, package_of
from torchlint.models.tensor_moves import dtype_named
from torchlint.semantic.graph import ATTR, CALL, CONST, EXPORT, GLOBAL, INDEX, OPERATION, Mark, Node
from torchlint.semantic.graph import SEQUENCE as DISPLAY
from torchlint.syntax.places import leaf
from torchlint.values import abstract as a
from torchlint.values.abstract import A_SEQUENCE, A_THING, BOTTOM, NOTHING, Abstract, join, join_all, of_kind
from torchlint.values.asking import ANY_ELEMENT, Asker, Path
from torchlint.values.references import ClassRef, LibraryInstanceRef, LibraryRef, Reference

_DEEPEST: Final = 6
_SAID: Final = a.SAFE | a.OF_PARAM
_ONE_ARGUMENT: Final = frozenset(
    """
    List list Sequence Iterable Iterator Set set Generator deque Deque FrozenSet frozenset Collection MutableSequence
    AsyncIterator AsyncIterable AsyncGenerator Reversible KeysView ValuesView
    """.split()
)
_KEYED: Final = frozenset(
    "Dict dict Mapping MutableMapping OrderedDict defaultdict DefaultDict Counter ChainMap ItemsView".split()
)
_WRAPPERS: Final = frozenset(
    "Annotated Final ClassVar Required NotRequired ReadOnly InitVar Awaitable Coroutine ContextManager".split()
)
_JAXTYPING: Final = {
    "Float": a.FLOATING, "Int": a.INTEGRAL, "Integer": a.INTEGRAL, "UInt": a.INTEGRAL,
    "UInt8": a.INTEGRAL, "Int64": a.INTEGRAL,
    "Int32": a.INTEGRAL, "Bool": a.BOOL, "Float32": a.FLOATING, "Float16": a.FLOATING, "BFloat16": a.FLOATING,
    "Complex": a.FLOATING, "Inexact": a.FLOATING, "Num": a.ANY_DTYPE, "Shaped": a.ANY_DTYPE,
    "Real": a.ANY_DTYPE, "Key": a.INTEGRAL,
}  # fmt: skip
_BUILTIN: Final = {
    "int": of_kind(a.INTEGER), "float": of_kind(a.NUMBER), "bool": of_kind(a.SCALAR), "complex": of_kind(a.NUMBER),
    "str": of_kind(a.STRING), "bytes": of_kind(a.STRING), "type": A_THING, "slice": A_THING,
    "range": A_SEQUENCE,
}  # fmt: skip
_OF_TORCH: Final = {
    "torch.device": Abstract(a.DEVICE, 0, a.SAFE | a.OPTION, 0, 0),
    "torch.dtype": Abstract(a.DTYPE, 0, 0, a.ANY_DTYPE, 0),
    "torch.Size": of_kind(a.SIZE), "torch.Generator": A_THING,
    "torch.Tensor": Abstract(a.TENSOR, _SAID, _SAID), "torch.autograd.Variable": Abstract(a.TENSOR, _SAID, _SAID),
    "torch.nn.Parameter": Abstract(
        a.TENSOR, a.SURE, _SAID, a.FLOATING, a.ANY_RANK, frozenset({LibraryInstanceRef("torch.nn.Parameter")})),
    "torch.nn.Module": Abstract(a.MODULE, _SAID, _SAID, 0, 0),
}  # fmt: skip
_FALLBACK: Final = {
    "Tensor": "torch.Tensor", "ndarray": "numpy.ndarray", "NDArray": "numpy.ndarray", "ArrayLike": "numpy.ndarray",
    "Module": "torch.nn.Module", "FloatTensor": "torch.FloatTensor", "LongTensor": "torch.LongTensor",
    "BoolTensor": "torch.BoolTensor", "IntTensor": "torch.IntTensor", "DataLoader": "torch.utils.data.DataLoader",
    "Variable": "torch.autograd.Variable", **{
        word: f"typing.{word}" for word in (
            *_ONE_ARGUMENT, *_KEYED, *_WRAPPERS, "Optional", "Union", "Tuple", "Callable", "Any", "Literal", "Type")},
}  # fmt: skip
"""What well-known words mean where nothing in the project says where they come from."""


def stated(asker: Asker, annotation: Node | None, path: Path, depth: int = _DEEPEST) -> Abstract | None:
    """Return what an annotation says of what a path leads to; None where it says nothing.

    Tensors come with the evidence of a parameter; who asks says at which node.
    """
    if annotation is None or not depth:
        return None
    if annotation.op == CONST:
        return (NOTHING if not path else BOTTOM) if annotation.data is None else None
    if annotation.op == OPERATION and annotation.data == "|":
        return _union(asker, annotation.ins, path, depth)
    if annotation.op == INDEX:
        return _generic(asker, annotation, path, depth)
    if annotation.op == CALL:
        return None
    references = asker.value(annotation, (), None).references
    for reference in references or _by_word(annotation):
        said = _class(asker, reference, path, annotation)
        if said is not None:
            return said
    if not references and (meant := _alias(annotation)) is not None:
        return stated(asker, meant, path, depth - 1)
    return None


def _by_word(annotation: Node) -> frozenset[Reference]:
    name = _FALLBACK.get(str(annotation.data)) if annotation.op in (ATTR, GLOBAL, EXPORT) else None
    return frozenset([LibraryRef(name)]) if name is not None else a.NO_REFERENCES


def _alias(annotation: Node) -> Node | None:
    """Return what a name of the module stands for: ``Batch = Dict[str, Tensor]``."""
    if annotation.op not in (GLOBAL, EXPORT):
        return None
    found = annotation.fn.file.body.definitions.get(str(annotation.data), [])
    return found[0] if len(found) == 1 and found[0].op in (INDEX, OPERATION) else None


def _union(asker: Asker, parts: tuple[Node, ...], path: Path, depth: int) -> Abstract | None:
    found = [stated(asker, each, path, depth - 1) for each in parts]
    return join_all(each for each in found if each is not None) if None not in found else None


# ---------------------------------------------------------------------- forms with brackets
def _generic(asker: Asker, annotation: Node, path: Path, depth: int) -> Abstract | None:
    base = annotation.ins[0]
    inner = annotation.ins[1] if len(annotation.ins) > 1 else None
    parts = inner.ins if inner is not None and inner.op == DISPLAY else (inner,) if inner is not None else ()
    for name in _names(asker, base):
        if name.startswith("jaxtyping.") or (leaf(name) in _JAXTYPING and package_of(name) != "builtins"):
            return _jaxtyped(asker, leaf(name), parts, path, depth)
        said = _by_form(asker, leaf(name), parts, annotation, path, depth)
        if said is not None:
            return said
    return stated(asker, base, path, depth - 1) if not _is_form(asker, base) else None


def _names(asker: Asker, base: Node) -> Iterator[str]:
    references = asker.value(base, (), None).references or _by_word(base)
    for each in references:
        if isinstance(each, LibraryRef):
            yield canonical(each.name)


def _is_form(asker: Asker, base: Node) -> bool:
    return any(package_of(each) in ("typing", "collections", "builtins") for each in _names(asker, base))


def _by_form(
    asker: Asker, word: str, parts: tuple[Node, ...], annotation: Node, path: Path, depth: int
) -> Abstract | None:
    if word in ("Optional", "Union"):
        found = _union(asker, parts, path, depth)
        return join(found, NOTHING) if found is not None and word == "Optional" and not path else found
    if word in _WRAPPERS:
        return stated(asker, parts[-1 if word == "Coroutine" else 0], path, depth - 1) if parts else None
    if word == "Literal":
        asked = [each.data for each in parts if each.op == CONST]
        if not isinstance(annotation.data, Mark) and isinstance(annotation.data, str | int) and not asked:
            asked = [annotation.data]
        return descend(join_all(map(constant, asked)), path) if asked else None
    if word in _ONE_ARGUMENT:
        return A_SEQUENCE if not path else stated(asker, parts[0], path[1:], depth - 1) if parts else None
    if word in _KEYED:
        return A_SEQUENCE if not path else stated(asker, parts[-1], path[1:], depth - 1) if parts else None
    if word in ("Tuple", "tuple"):
        return A_SEQUENCE if not path else _in_tuple(asker, parts, path, depth)
    if word in ("NDArray", "ndarray"):
        return descend(of_kind(a.ARRAY), path)
    return A_THING if word in ("Callable", "Type", "type") and not path else None


def _in_tuple(asker: Asker, parts: tuple[Node, ...], path: Path, depth: int) -> Abstract | None:
    step, open_ended = path[0], len(parts) == 2 and parts[1].op == CONST and parts[1].data is Ellipsis
    if open_ended:
        return stated(asker, parts[0], path[1:], depth - 1)
    if isinstance(step, int):
        return stated(asker, parts[step], path[1:], depth - 1) if -len(parts) <= step < len(parts) else BOTTOM
    return _union(asker, tuple(parts), path[1:], depth) if step == ANY_ELEMENT else None


def _jaxtyped(asker: Asker, word: str, parts: tuple[Node, ...], path: Path, depth: int) -> Abstract | None:
    """``Float[Tensor, "batch dim"]``: the dtype, and as many dimensions as there are words."""
    if not parts:
        return None
    said = stated(asker, parts[0], (), depth - 1)
    if said is None or not said.kind & a.TENSOR:
        return descend(said, path) if said is not None else None
    dtype = _JAXTYPING.get(word, a.ANY_DTYPE)
    shape = parts[1].data if len(parts) > 1 else None
    rank = said.rank
    if isinstance(shape, str) and not any(mark in shape for mark in ("...", "*", "#", "?")):
        rank = a.RANKS[min(len(shape.split()), len(a.RANKS) - 1)]
    whole = said.but(dtype=dtype, rank=rank)
    if not dtype & a.FLOATING:
        whole = whole.detached()
    return descend(whole, path)


# ---------------------------------------------------------------------- classes
def _class(asker: Asker, reference: Reference, path: Path, annotation: Node) -> Abstract | None:
    if isinstance(reference, ClassRef):
        made = asker.object_of(reference.cls)
        if made.kind == a.MODULE:
            made = made.but(device=made.device | _SAID)
        return asker.along(made, path, annotation, None)
    if not isinstance(reference, LibraryRef):
        return None
    name = canonical(reference.name)
    said = _library_class(name)
    if said is None or not path:
        return said
    if said.kind == a.SEQUENCE:
        return None
    return asker.along(said, path, annotation, None) if said.references else descend(said, path)


def _library_class(name: str) -> Abstract | None:
    """Return an object of a class of a library; None where it may be anything."""
    if name in _OF_TORCH:
        return _OF_TORCH[name]
    word, package = leaf(name), package_of(name)
    own: frozenset[Reference] = frozenset([LibraryInstanceRef(name)])
    if package == "builtins" and word in _BUILTIN:
        return _BUILTIN[word]
    if package in ("builtins", "typing", "collections"):
        if word in _ONE_ARGUMENT or word in _KEYED or word in ("tuple", "Tuple"):
            return A_SEQUENCE
        return A_THING if word in ("Callable", "Type") else of_kind(a.STRING) if word in ("Text", "AnyStr") else None
    if package == "torch":
        return _torch_class(name, word, own)
    if package == "numpy":
        if word in ("ndarray", "NDArray", "ArrayLike"):
            return of_kind(a.ARRAY)
        return of_kind(a.NUMBER) if word[:1].islower() else of_kind(a.OTHER, own)
    if package == "lightning":
        return Abstract(a.MODULE, _SAID, _SAID, 0, 0) if word == "LightningModule" else of_kind(a.OTHER, own)
    if package in FOREIGN:
        return foreign(name).but(kind=a.OTHER)
    return None


def _torch_class(name: str, word: str, own: frozenset[Reference]) -> Abstract | None:
    if word.endswith("Tensor") and (dtype := dtype_named(word)) is not None:
        return Abstract(a.TENSOR, _SAID if dtype & a.FLOATING else a.SAFE, _SAID, dtype)
    if name == "torch.nn.utils.rnn.PackedSequence" or name.startswith(("torch.optim.", "torch.distributions.")):
        return of_kind(a.OTHER, own)
    if name.startswith("torch.nn.") and word[:1].isupper():
        return Abstract(a.MODULE, _SAID, _SAID, 0, 0, own)
    if name.startswith("torch.utils.data."):
        return of_kind(a.OTHER, own)
    return of_kind(a.OTHER, own) if name.startswith(("torch.cuda.", "torch.utils.tensorboard.")) else None
