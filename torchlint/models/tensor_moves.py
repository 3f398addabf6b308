"""Where ``.to``, ``.cuda``, ``.type`` and casts leave a tensor or a module, and what a device or a dtype means."""

from __future__ import annotations

from typing import Final

from torchlint.models.descent import descend
from torchlint.models.operation_sets import ACCELERATORS, CASTS, LEGACY_DTYPES, words
from torchlint.semantic.graph import ATTR, CALL, FREE, GLOBAL, INDEX, FormalParameter, Node
from torchlint.values import abstract as a
from torchlint.values.abstract import Abstract, join
from torchlint.values.asking import CallSite, Path, Presumption
from torchlint.values.references import ConstantRef, LibraryRef

ACCELERATOR_METHODS: Final = words("cuda xpu npu mps hpu ipu mlu musa mtia")
MOVES: Final = frozenset(CASTS) | ACCELERATOR_METHODS | words("cpu to type type_as")
"""Methods that move or cast, and give the tensor itself where nothing is to be done."""

Place = tuple[int, Node | None]
"""Evidence of a place, and the node where it begins."""


# ---------------------------------------------------------------------- devices
def place_named(text: str) -> int:
    """Return the place that a device's text means, as evidence: ``cpu``, ``cuda:0``; 0 for a text that names none."""
    word = text.partition(":")[0]
    if word in ("cpu", "meta"):
        return a.SAFE
    if word in ACCELERATORS:
        return a.SURE
    return a.SAFE | a.OPTION if word == "auto" else 0


def place_of(value: Abstract, at: Node | None) -> Place:
    """Return where a device value is, as evidence, and the node where that begins: ``at``, or where it was chosen."""
    bits, origin = 0, at
    if value.kind & ~(a.DEVICE | a.NUMBER | a.STRING | a.NONE) or not value.kind:
        return a.SAFE | a.OPTION, at
    if value.kind & a.DEVICE:
        bits |= value.device or a.SAFE | a.OPTION
        origin = value.device_from or at
    if value.kind & a.INTEGER:  # the number of an accelerator
        bits |= a.SURE if value.kind == a.INTEGER else a.OPTION
    if value.kind & a.STRING:
        named = [
            place_named(str(each.value))
            for each in value.references
            if isinstance(each, ConstantRef) and each.type is str
        ]
        for each in named or [a.SAFE | a.OPTION]:
            bits |= each or a.SAFE | a.OPTION
    if value.kind & a.NONE:
        bits |= a.SAFE
    bits = bits or a.SAFE | a.OPTION
    return bits, origin if bits & ~a.SAFE else None


def place_by_name(place: Place, node: Node | None) -> Place:
    """Return a place that is given as an argument: what bears the host's name may be it, as it seems."""
    bits, origin = place
    is_named = node is not None and bits & a.OPTION and written_as(node) == "cpu"
    return (bits & ~a.OPTION | a.OF_MODE if is_named else bits), origin


def placed(value: Abstract, place: Place) -> Abstract:
    """Return a value that was put to a place."""
    bits, origin = place
    return value.but(device=bits, device_from=origin if bits & ~a.SAFE else None)


# ---------------------------------------------------------------------- dtypes
_OF_PYTHON: Final = {"builtins.float": a.FLOAT64, "builtins.int": a.INT64, "builtins.bool": a.BOOL}
_FURTHER: Final = {
    **dict.fromkeys(words("uint16 uint32 uint64 qint8 quint8 qint32"), a.OTHER_INTEGER),
    **dict.fromkeys(words("float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz complex32"), a.OTHER_FLOAT),
}  # fmt: skip


def dtype_named(name: str) -> int | None:
    """Return the bit of a dtype by its dotted name: ``torch.long``, ``torch.FloatTensor``; None for other names."""
    word = name.rpartition(".")[2]
    word = LEGACY_DTYPES.get(word, word)
    if name in _OF_PYTHON:
        return _OF_PYTHON[name]
    return a.DTYPE_NAMES.get(word, _FURTHER.get(word)) if not name.startswith("builtins.") else None


def dtype_of(value: Abstract) -> int | None:
    """Return which dtypes a value stands for, as bits; None where it is not known to be one."""
    found = value.dtype if value.kind & a.DTYPE else 0
    others = a.NONE if value.references else a.NONE | a.OTHER  # nothing else that a call takes for a dtype
    if not value.kind & ~(a.DTYPE | others):
        return found or None
    names = [each.name for each in value.references if isinstance(each, LibraryRef)]
    names += [each.value for each in value.references if isinstance(each, ConstantRef) and isinstance(each.value, str)]
    if not names or len(names) != len(value.references) or value.kind & (a.TENSOR | a.MODULE | a.NUMBER):
        return None
    for each in names:
        known = dtype_named(each)
        if known is None:
            return None
        found |= known
    return found


def cast(value: Abstract, dtype: int) -> Abstract:
    """Return a tensor with other dtypes; one that has no floating dtype, or had none, has no gradient."""
    if not dtype & a.FLOATING or not value.dtype & a.FLOATING:
        return value.detached().but(dtype=dtype)
    if (dtype & ~a.FLOATING or value.dtype & ~a.FLOATING) and value.grad:
        return value.but(dtype=dtype, grad=value.grad | a.SAFE)
    return value.but(dtype=dtype)


def told_dtype(given: Abstract | None, usual: int) -> int:
    """Return the dtypes of a result that is told a dtype, or nothing; ``usual`` are those without."""
    if given is None or given.must(a.NONE):
        return usual
    known = dtype_of(given)
    return (a.ANY_DTYPE if known is None else known) | (usual if given.kind & a.NONE else 0)


def _exact(dtype: int) -> bool:
    return dtype & (dtype - 1) == 0


def _recast(site: CallSite, value: Abstract, dtype: int) -> Abstract:
    """Return a tensor cast by a method, which gives the tensor itself where it has the dtype already."""
    if value.kind != a.TENSOR or not value.grad & ~a.SAFE:
        return cast(value, dtype) if value.kind & a.TENSOR else value
    after = cast(value, dtype)
    if _exact(dtype) and value.dtype == dtype:
        return after
    copied = site.asker.under(after, site.node, site.context)
    is_usual = not _exact(dtype) or dtype & site.asker.default_dtype(site.node, site.context)
    may_stay = is_usual or not site.asker.presumes(Presumption.USAGE)
    return join(after, copied) if dtype & value.dtype and may_stay else copied


# ---------------------------------------------------------------------- moves
def moved(site: CallSite, owner: Abstract, word: str, path: Path) -> Abstract:
    """Return what ``.to(...)``, ``.cpu()``, ``.cuda()``, ``.type(...)`` or a cast gives of a tensor or a module."""
    if word in CASTS:
        result = _recast(site, owner.plain() if owner.kind == a.TENSOR else owner, a.DTYPE_NAMES[CASTS[word]])
    elif word == "cpu":
        result = _copied(site, owner, (a.SAFE, None))
    elif word in ACCELERATOR_METHODS:
        result = _copied(site, owner, (a.SURE, site.node))
    elif word == "type":
        result = _typed(site, owner)
    elif word == "type_as":
        other = site.value(0, "other")
        result = owner if other is None else _like(site, owner, other)
    else:
        result = _to(site, owner)
    return descend(result.plain() if result.kind == a.TENSOR else result, path)


def _copied(site: CallSite, owner: Abstract, place: Place) -> Abstract:
    """Return what is put to a place: the tensor itself where it is there already, else a copy under grad mode."""
    result = placed(owner, place)
    if owner.kind != a.TENSOR or not owner.grad & ~a.SAFE or place[0] == owner.device == a.SAFE:
        return result
    copied = site.asker.under(result, site.node, site.context)
    stays = place[0] & owner.device & a.SAFE or (place[0] & ~a.SAFE and owner.device & ~a.SAFE)
    return join(result, copied) if stays else copied


def _like(site: CallSite, owner: Abstract, other: Abstract) -> Abstract:
    """Return a tensor that is put where another one is, with its dtype."""
    if not other.kind & a.TENSOR:
        return owner
    result = _recast(site, owner, other.dtype) if owner.kind == a.TENSOR else owner
    return placed(result, (other.device or a.SAFE, other.device_from))


def _typed(site: CallSite, owner: Abstract) -> Abstract:
    wanted = site.value(0, "dtype")
    if wanted is None:
        return a.A_TEXT
    names = [each.name for each in wanted.references if isinstance(each, LibraryRef)]
    names += [each.value for each in wanted.references if isinstance(each, ConstantRef) and isinstance(each.value, str)]
    known = dtype_of(wanted)
    legacy = [each for each in names if each.endswith("Tensor")]
    if legacy and known is None and all(each in ("torch.Tensor", "torch.cuda.Tensor") for each in legacy):
        known = site.asker.default_dtype(site.node, site.context)
    result = _recast(site, owner, a.ANY_DTYPE if known is None else known)
    if legacy:
        bits = 0
        for each in legacy:
            bits |= a.SURE if place_named(each.split(".")[-2] if each.count(".") > 1 else "cpu") == a.SURE else a.SAFE
        return placed(result, (bits, site.node))
    if known is None and not wanted.must(a.DTYPE):
        return placed(result, (result.device | a.SAFE | a.OPTION, result.device_from or site.node))
    return result


_TO_WORDS: Final = ("device", "dtype", "other", "tensor")


def _to(site: CallSite, owner: Abstract) -> Abstract:
    """Return ``owner.to(...)``: of its arguments one may be a device, one a dtype, one a tensor to be like."""
    value = owner
    keywords = site.given.keywords
    given = [*site.given.positional[:2], *(keywords[word] for word in _TO_WORDS if word in keywords)]
    if site.given.starred or site.given.spread:
        return _to_unknown(site, value)
    for node in given:
        each = site.asker.value(node, (), site.context)
        if each.kind == a.TENSOR:
            value = _like(site, value, each)
            continue
        as_dtype, as_device = node is keywords.get("dtype"), node is keywords.get("device")
        is_dtype = as_dtype or each.must(a.DTYPE) or (dtype_of(each) is not None and each.kind & ~a.STRING)
        if not as_device and is_dtype:
            value = _cast_to(site, value, each)
        elif as_device or not each.must(a.NONE | a.SCALAR):
            by_name = site.asker.presumes(Presumption.USAGE) and not seems_dtype(node)
            value = _put(site, value, each, node, as_device or by_name)
    return value


def _cast_to(site: CallSite, value: Abstract, given: Abstract) -> Abstract:
    if given.must(a.NONE):
        return value
    return _recast(site, value, told_dtype(given, value.dtype))


def _put(site: CallSite, value: Abstract, given: Abstract, node: Node, is_device: bool) -> Abstract:
    """Return a value that was put to a device; an argument of which nothing is known may be a dtype as well."""
    if given.must(a.NONE):
        return value
    is_unknown = given.kind == a.ANY or not given.kind & ~(a.TENSOR | a.NONE)
    if is_unknown and not is_device:
        is_dtype = site.asker.presumes(Presumption.USAGE)
        return _recast(site, value, a.ANY_DTYPE) if is_dtype else _to_unknown(site, value)
    bits, origin = place_by_name(place_of(given, site.node), node)
    if given.kind & a.NONE and not is_unknown:
        bits, origin = bits | value.device, origin or value.device_from
    return _copied(site, value, (bits, origin))


def _to_unknown(site: CallSite, value: Abstract) -> Abstract:
    """Return what ``.to`` gives of arguments of which nothing is known."""
    result = _recast(site, value, a.ANY_DTYPE)
    return placed(result, (result.device | a.SAFE | a.OPTION, result.device_from or site.node))


_DTYPE_WORDS: Final = words("dtype type float_type precision dt")


def written_as(node: Node) -> str:
    """Return the last word by which a node names what it stands for; nothing for one that has no name."""
    if isinstance(node.data, FormalParameter):
        return node.data.word
    if node.op == CALL:
        return node.arguments.spelled.rpartition(".")[2]
    data = node.data[1] if node.op == FREE and isinstance(node.data, tuple) else node.data
    return data if node.op in (ATTR, GLOBAL, FREE, INDEX) and isinstance(data, str) else ""


def seems_dtype(node: Node) -> bool:
    """Whether an argument is written like a dtype: ``self.dtype``, ``weight_dtype``."""
    word = written_as(node)
    return word.rpartition("_")[2] in _DTYPE_WORDS or word in a.DTYPE_NAMES


# ---------------------------------------------------------------------- devices as values
def device_value(site: CallSite) -> Abstract:
    """Return ``torch.device(...)``: a device, with the place that its argument means."""
    node = site.argument(0, "device") or site.argument(0, "type")
    bits, origin = (
        place_of(site.asker.value(node, (), site.context), site.node)
        if node is not None
        else (a.SAFE | a.OPTION, site.node)
    )
    return Abstract(a.DEVICE, 0, bits, 0, 0, device_from=origin)
