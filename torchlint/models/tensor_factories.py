"""How torch makes tensors: where a new one is, of what dtype and rank, and whether it requires grad."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from torchlint.models.combined_operands import combined, sorts_of
from torchlint.models.descent import constants_of, descend, truth_of
from torchlint.models.dtype_promotion import promoted
from torchlint.models.operation_sets import (
    FACTORIES,
    FOLLOWS_DEFAULT_DEVICE,
    LEGACY_DTYPES,
    scalar_arguments,
    words,
)
from torchlint.models.rank_rules import higher, of_sizes
from torchlint.models.tensor_moves import cast, place_by_name, place_of, placed, told_dtype
from torchlint.semantic.graph import SEQUENCE as SEQUENCE_NODE
from torchlint.semantic.graph import Node
from torchlint.values import abstract as a
from torchlint.values.abstract import Abstract, join, tensor
from torchlint.values.asking import ANY_ELEMENT, CallSite, Path, Presumption
from torchlint.values.references import LibraryInstanceRef

PARAMETER: Final = "torch.nn.Parameter"
_SPARSE: Final = words("""
    torch.sparse_coo_tensor torch.sparse_csr_tensor torch.sparse_csc_tensor torch.sparse_bsr_tensor
    torch.sparse_bsc_tensor torch.sparse_compressed_tensor
""")
"""Functions that make a tensor of values."""
_INTEGERS: Final = words("torch.randint torch.randperm torch.tril_indices torch.triu_indices")
_OF_SIZES: Final = words("torch.zeros torch.ones torch.empty torch.rand torch.randn")
_RANKS: Final = {
    **dict.fromkeys(words("torch.arange torch.linspace torch.logspace torch.range torch.randperm"), a.RANKS[1]),
    **dict.fromkeys(words("torch.eye torch.tril_indices torch.triu_indices"), a.RANKS[2]),
    "torch.scalar_tensor": a.RANKS[0],
}  # fmt: skip
_LEGACY: Final = frozenset(LEGACY_DTYPES) | {"Tensor"}
_DEEPEST: Final = 4
"""Lists are followed as deep as paths allow."""


def factory(site: CallSite, name: str, path: Path) -> Abstract | None:
    """Return what a path leads to in what a factory of torch makes; None if the name is that of none."""
    made = _made(site, name)
    return None if made is None else descend(made, path)


def _made(site: CallSite, name: str) -> Abstract | None:
    row = _ROWS.get(name)
    if row is not None:
        return row(site)
    module, _, word = name.rpartition(".")
    if word in _LEGACY and module.partition(".")[0] == "torch":
        return _legacy(site, name, word)
    if name in _SPARSE:
        return _sparse(site, word)
    if name in FACTORIES:
        return _like(site) if word.endswith("_like") else _fresh(site, name)
    return None


# ---------------------------------------------------------------------- plain factories
def _fresh(site: CallSite, name: str) -> Abstract:
    """Return a tensor of which place, dtype and gradient are as the call asks, else as the process has them."""
    default = site.asker.default_dtype(site.node, site.context)
    rank = of_sizes(site, 0) if name in _OF_SIZES else _RANKS.get(name, a.ANY_RANK)
    dtype = a.INT64 if name in _INTEGERS else default
    if name == "torch.full":
        dtype, rank = _dtype_of_number(site, site.value(1, "fill_value")), of_sizes(site, 0, last=1)
    elif name in ("torch.arange", "torch.range"):
        bounds = [
            _dtype_of_number(site, site.asker.value(each, (), site.context)) for each in site.given.positional[:3]
        ]
        bounds += [
            _dtype_of_number(site, site.value(None, word))
            for word in ("start", "end", "step")
            if word in site.given.keywords
        ]
        dtype = _widest(bounds, default) if name == "torch.arange" else default
    elif name == "torch.get_rng_state":
        dtype, rank = a.UINT8, a.RANKS[1]
    elif name in ("torch.from_file", "torch.frombuffer"):
        dtype = a.ANY_DTYPE
    return _as_asked(site, tensor(a.SAFE, a.SAFE, dtype, rank), name in FOLLOWS_DEFAULT_DEVICE)


def _widest(dtypes: list[int], default: int) -> int:
    """Return the dtype of a range of such bounds: floating as soon as one is."""
    result = a.INT64 if all(each & ~a.FLOATING for each in dtypes) else 0
    return result | (default if any(each & a.FLOATING for each in dtypes) or not dtypes else 0)


def _as_asked(site: CallSite, made: Abstract, follows_default: bool) -> Abstract:
    """Return a new tensor with the dtype, the place and the gradient that the call asks for."""
    dtype = site.value(None, "dtype")
    if dtype is not None:
        made = cast(made, told_dtype(dtype, made.dtype))
    device = site.value(None, "device")
    if follows_default and (device is None or device.kind & a.NONE):
        usual = site.asker.default_device(site.node, site.context)
        made = placed(made, (usual.device or a.SAFE, usual.device_from))
    if device is not None and not device.must(a.NONE):
        bits, origin = place_by_name(
            place_of(device.but(kind=device.kind & ~a.NONE), site.node), site.argument(None, "device")
        )
        if device.kind & a.NONE:
            bits, origin = bits | made.device, origin or made.device_from
        made = placed(made, (bits, origin))
    elif site.given.spread and not site.asker.presumes(Presumption.USAGE):
        made = placed(made, (made.device | a.OPTION, site.node)).but(
            dtype=a.ANY_DTYPE, grad=made.grad | a.OPTION, grad_from=site.node
        )
    return _asked_for_grad(site, made, site.value(None, "requires_grad"))


def _asked_for_grad(site: CallSite, made: Abstract, asked: Abstract | None) -> Abstract:
    if asked is None or not made.dtype & a.FLOATING:
        return made
    told = truth_of(asked)
    if told is None:
        return made.but(grad=made.grad | a.SAFE | a.OPTION, grad_from=site.node)
    return made.but(grad=a.SURE, grad_from=site.node) if told else made


def _sparse(site: CallSite, word: str) -> Abstract:
    """Return a sparse tensor of values, which takes their gradient over."""
    values = [each for each in site.operands(scalar_arguments(word)) if each.kind & a.TENSOR]
    made = site.asker.under(combined(site.asker, values, site.node, site.context, False), site.node, site.context)
    return _as_asked(site, made.but(dtype=a.ANY_DTYPE, grad=made.grad | a.SAFE, rank=a.ANY_RANK), not values)


def _like(site: CallSite) -> Abstract:
    """Return what ``torch.zeros_like`` and its like make: where another tensor is, with its dtype."""
    source = site.value(0, "input")
    if source is None or not source.kind & a.TENSOR:
        return _as_asked(site, tensor(), False)
    made = tensor(a.SAFE, source.device or a.SAFE, source.dtype, source.rank, None, source.device_from)
    return _as_asked(site, made, False)


def made_by_method(site: CallSite, owner: Abstract, word: str, path: Path) -> Abstract:
    """Return what ``owner.new_zeros(...)`` and its like make: where the owner is, with its dtype."""
    rank = of_sizes(site, 0) if word in ("new_zeros", "new_ones", "new_empty") else a.ANY_RANK
    if word == "new_full":
        rank = of_sizes(site, 0, last=1)
    if word == "new_tensor":
        rank = _data(site)[1]
    made = _as_asked(site, tensor(a.SAFE, owner.device or a.SAFE, owner.dtype, rank, None, owner.device_from), False)
    source = site.value(0) if word == "new" and len(site.given.positional) == 1 else None
    if source is not None and source.kind & a.TENSOR:  # an alias, with its graph
        made = join(made, source.but(kind=a.TENSOR).plain())
    return descend(made, path)


# ---------------------------------------------------------------------- of data
def _of_data(site: CallSite) -> Abstract:
    """Return ``torch.tensor(data)``: a copy; one of a tensor is where that is."""
    dtype, rank = _data(site)
    source = site.value(0, "data")
    if source is not None and source.kind == a.TENSOR:
        return _as_asked(site, tensor(a.SAFE, source.device or a.SAFE, dtype, rank, None, source.device_from), False)
    made = _as_asked(site, tensor(a.SAFE, a.SAFE, dtype, rank), True)
    if source is not None and source.kind & a.TENSOR and "device" not in site.given.keywords:
        made = placed(made, (made.device | source.device, source.device_from or made.device_from))
    return made


def _data(site: CallSite) -> tuple[int, int]:
    """Return the dtypes and ranks of a tensor that is made of the first argument."""
    node = site.argument(0, "data")
    if node is None:
        node = site.argument(None, "obj")
    if node is None:
        return a.ANY_DTYPE, a.ANY_RANK
    dtype, rank = _elements(site, node, (), 0)
    return dtype or site.asker.default_dtype(site.node, site.context), rank


def _elements(site: CallSite, node: Node, path: Path, depth: int) -> tuple[int, int]:
    """Return the dtypes and ranks of data: numbers, lists of data, tensors, arrays."""
    if node.op == SEQUENCE_NODE and not path and depth < _DEEPEST:
        found = [_elements(site, each, (), depth + 1) for each in node.ins]
        dtype = 0
        for each, _ in found:
            dtype = promoted(dtype, each, 1, 1) if dtype else each
        return dtype, higher(found[0][1]) if found else a.RANKS[1]
    value = site.asker.value(node, path, site.context)
    if value.must(a.SEQUENCE) and len(path) < _DEEPEST:
        dtype, rank = _elements(site, node, (*path, ANY_ELEMENT), depth + 1)
        return dtype, higher(rank) if dtype else a.ANY_RANK
    if value.must(a.SIZE):
        return a.INT64, a.RANKS[1]
    if value.must(a.TENSOR):
        return value.dtype, value.rank
    if value.must(a.NUMBER):
        return _dtype_of_number(site, value), a.RANKS[0]
    return (a.ANY_DTYPE, a.ANY_RANK) if value.kind else (0, a.ANY_RANK)


def _dtype_of_number(site: CallSite, value: Abstract | None) -> int:
    """Return the dtypes that torch gives a number; one of NumPy has a dtype of its own."""
    default = site.asker.default_dtype(site.node, site.context)
    if value is None:
        return a.ANY_DTYPE
    if not value.must(a.NUMBER):
        return a.ANY_DTYPE if value.kind != a.TENSOR else value.dtype
    is_proof, is_constant = not site.asker.presumes(Presumption.USAGE), constants_of(value) is not None
    sorts = sorts_of(value, site.asker)
    result = sorts & (a.INT64 | a.BOOL)
    if value.kind & a.INTEGER and is_proof and not is_constant:
        result |= a.INTEGRAL
    if value.kind & a.SCALAR and sorts & a.FLOAT32:
        result |= default if is_constant else default | a.FLOAT64
    if is_proof and not is_constant and value.kind & a.SCALAR:
        result |= a.FLOATING
    return result | (a.COMPLEX64 if sorts & a.COMPLEX64 else 0)


def _alias(site: CallSite) -> Abstract:
    """Return ``torch.as_tensor(x)``: the tensor itself where it is one, else a new one of an array or of data."""
    source = site.value(0, "data")
    if source is None:
        source = site.value(None, "obj")
    dtype, rank = _data(site)
    made = _as_asked(site, tensor(a.SAFE, a.SAFE, dtype, rank), True)
    if source is None or not source.kind & a.TENSOR:
        return made
    itself = _as_asked(site, source.but(kind=a.TENSOR).plain(), False)
    if "dtype" in site.given.keywords or "device" in site.given.keywords:  # a copy, where it differs
        itself = join(itself, site.asker.under(itself, site.node, site.context))
    return itself if source.kind == a.TENSOR else join(itself, made)


def _shared(site: CallSite) -> Abstract:
    """Return a tensor that shares an array's memory, on the host."""
    return _as_asked(site, tensor(), False)


# ---------------------------------------------------------------------- of old
def _legacy(site: CallSite, name: str, word: str) -> Abstract:
    """Return ``torch.FloatTensor(...)`` and its like: of sizes, of data, or another tensor's alias."""
    default = site.asker.default_dtype(site.node, site.context)
    dtype = a.DTYPE_NAMES[LEGACY_DTYPES[word]] if word in LEGACY_DTYPES else default
    place = (a.SURE, site.node) if name.count(".") > 1 and ".sparse." not in name else (a.SAFE, None)
    made = placed(tensor(a.SAFE, a.SAFE, dtype), place)
    if word == "Tensor" and place[0] == a.SAFE:  # of the default type, which may be one of an accelerator
        usual = site.asker.default_device(site.node, site.context)
        if usual.device & ~a.SAFE:
            made = placed(made, (usual.device | a.SAFE, usual.device_from))
    device = site.value(None, "device")
    if device is not None and not device.must(a.NONE):
        made = placed(made, place_of(device, site.node))
    source = site.value(0, "data")
    if source is None or len(site.given.positional) > 1:
        return made.but(rank=of_sizes(site, 0) if site.given.positional else a.RANKS[1])
    if not source.kind & a.TENSOR:
        rank = a.RANKS[1] if source.must(a.INTEGER) else _data(site)[1] if source.must(a.SEQUENCE) else a.ANY_RANK
        return made.but(rank=rank)
    alias = source.but(kind=a.TENSOR).plain()  # it keeps its graph
    if word in LEGACY_DTYPES:  # a typed one refuses a tensor of another dtype or in another place
        alias = placed(cast(alias, dtype), place)
    return alias if source.kind == a.TENSOR else join(alias, made)


def _variable(site: CallSite) -> Abstract:
    """Return ``Variable(data)``: the tensor without its graph, unless it is asked for grad."""
    source = site.value(0, "data")
    made = tensor()
    if source is not None and source.kind & a.TENSOR:
        made = tensor(a.SAFE, source.device or a.SAFE, source.dtype, source.rank, None, source.device_from)
    return _asked_for_grad(site, made, site.value(1, "requires_grad"))


def _parameter(site: CallSite) -> Abstract:
    """Return ``nn.Parameter(data)``: a leaf that requires grad unless it is told not to."""
    source = site.value(0, "data")
    made = tensor(a.SAFE, a.SAFE, a.FLOATING)
    if source is not None and source.kind & a.TENSOR:
        made = tensor(
            a.SAFE,
            source.device or a.SAFE,
            source.dtype & a.FLOATING or source.dtype,
            source.rank,
            None,
            source.device_from,
        )
    asked = site.value(1, "requires_grad")
    made = made.but(grad=a.SURE, grad_from=site.node) if asked is None else _asked_for_grad(site, made, asked)
    return made.but(references=frozenset({LibraryInstanceRef(PARAMETER, site.node, site.context)}))


def _buffer(site: CallSite) -> Abstract:
    source = site.value(0, "data")
    return source.but(kind=a.TENSOR).plain() if source is not None and source.kind & a.TENSOR else tensor()


_ROWS: Final[dict[str, Callable[[CallSite], Abstract]]] = {
    "torch.tensor": _of_data,
    **dict.fromkeys(words("torch.as_tensor torch.asarray"), _alias),
    **dict.fromkeys(words("torch.from_numpy torch.from_dlpack torch.utils.dlpack.from_dlpack"), _shared),
    **dict.fromkeys(words("torch.autograd.Variable torch.Variable torch.autograd.variable.Variable"), _variable),
    **dict.fromkeys((PARAMETER, "torch.nn.parameter.Parameter", "torch.nn.UninitializedParameter"), _parameter),
    **dict.fromkeys(words("torch.nn.Buffer torch.nn.parameter.Buffer"), _buffer),
}  # fmt: skip
