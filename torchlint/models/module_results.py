"""What modules of torch are: made, called, asked for their parameters, moved; and the modules that hold others.

A module's ``grad`` is SURE where its parameters are as they were made, SAFE where they were frozen; 0 counts as SURE.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from torchlint.models.container_methods import CONTAINER_READS, container_method
from torchlint.models.descent import answer, descend
from torchlint.models.library_rows import MODULE_CONTAINERS
from torchlint.models.tensor_moves import moved, place_of
from torchlint.semantic.graph import Node
from torchlint.syntax.places import leaf
from torchlint.values import abstract as a
from torchlint.values.abstract import (
    A_SEQUENCE,
    A_TEXT,
    AN_INTEGER,
    BOTTOM,
    NOTHING,
    Abstract,
    join,
    join_all,
    of_kind,
    tensor,
    unknown,
)
from torchlint.values.asking import ANY_ELEMENT, Asker, CallSite, Path
from torchlint.values.contexts import Context
from torchlint.values.references import LibraryInstanceRef, Reference

PARAMETER: Final = LibraryInstanceRef("torch.nn.Parameter")
PACKED: Final = "torch.nn.utils.rnn.PackedSequence"
WRAPPING: Final = frozenset(
    {"torch.nn.DataParallel", "torch.nn.parallel.DistributedDataParallel", "torch.nn.parallel.DataParallel"}
)
"""Modules that only run another one, which they keep as ``module`` (torch/nn/parallel of torch 2.13)."""

PASSING = frozenset("Identity Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout Flatten".split())
"""Layers that may give their operand itself, or a view of it."""
PLAIN = frozenset(
    """
    ReLU ReLU6 LeakyReLU ELU CELU SELU GELU SiLU GLU Mish Sigmoid LogSigmoid Tanh Hardtanh Hardsigmoid Hardswish
    Threshold Softplus Softsign Softshrink Hardshrink Tanhshrink RReLU Softmax Softmax2d Softmin LogSoftmax Upsample
    UpsamplingNearest2d UpsamplingBilinear2d PixelShuffle PixelUnshuffle ChannelShuffle Fold Unfold Unflatten
    CosineSimilarity PairwiseDistance LocalResponseNorm CrossMapLRN2d
    """.split()
)
"""Layers without parameters."""
_PLAIN_ENDINGS = ("Pool1d", "Pool2d", "Pool3d", "Pad1d", "Pad2d", "Pad3d", "Loss")
INTEGER_ATTRIBUTES: Final = frozenset(
    """
    in_features out_features in_channels out_channels num_embeddings embedding_dim num_features num_layers hidden_size
    input_size num_heads embed_dim groups num_parameters padding_idx normalized_shape d_model nhead head_dim
    """.split()
)
"""Attributes of torch's modules that are plain numbers."""


def is_live(module: Abstract) -> bool:
    """Whether parameters of a module may require grad."""
    return not module.grad or module.grad & ~a.SAFE != 0


# ---------------------------------------------------------------------- making
def module_made(site: CallSite, name: str, path: Path) -> Abstract:
    """Return a module of torch, or what a path leads to from one: members by position, key or name."""
    if name in MODULE_CONTAINERS and path and (found := _member(site, name, path)) is not None:
        return found
    device, origin = a.SAFE, None
    wanted = site.value(None, "device")
    if wanted is not None and wanted.kind != a.NONE:
        device, origin = place_of(wanted, site.node)
    grad = a.SURE if has_parameters(name, site) else a.SAFE
    if name in WRAPPING:
        inner = site.value(0, "module")
        if inner is not None and inner.kind & a.MODULE:
            grad, device, origin = inner.grad or a.SURE, inner.device or a.SAFE, inner.device_from
    made = module_of(name, site, grad, device or a.SAFE, origin)
    return site.asker.along(made, path, site.node, site.context) if path else made


def module_of(name: str, site: CallSite, grad: int, device: int, origin: Node | None = None) -> Abstract:
    """Return a module of a library's class that a call makes."""
    own: frozenset[Reference] = frozenset([LibraryInstanceRef(name, site.node, site.context)])
    return Abstract(a.MODULE, grad, device, 0, 0, own, None, origin)


def _member(site: CallSite, name: str, path: Path) -> Abstract | None:
    """Return what a module holds that holds others; None where a path leads elsewhere."""
    step = path[0]
    if isinstance(step, str) and step[:1] == ".":
        if step[1:] in ("weight", "bias", "training", "module"):
            return None
        step = int(step[1:]) if step[1:].isdigit() else f"={step[1:]}"
    asker, context, given = site.asker, site.context, site.given
    inner = (step, *path[1:])
    if name == "torch.nn.Sequential":
        only = given.positional[0] if len(given.positional) == 1 and not given.starred else None
        if only is not None and asker.value(only, (), context).kind & a.SEQUENCE:
            return asker.value(only, inner, context)
        return _of_arguments(site, inner)
    held = site.argument(0)
    if held is None:
        return BOTTOM
    value = asker.value(held, inner, context)
    if "Parameter" not in name or len(path) > 1:
        return value
    if not value.kind & a.TENSOR:
        return value
    if not any(isinstance(each, LibraryInstanceRef) and each.name == PARAMETER.name for each in value.references):
        return as_parameter(value, site.node)
    return value if isinstance(step, int) else value.but(grad=value.grad | a.SURE)  # others may become parameters here


def _of_arguments(site: CallSite, path: Path) -> Abstract | None:
    given, step = site.given, path[0]
    if given.starred:
        found = BOTTOM
        for position, each in enumerate(given.positional):
            inner = (ANY_ELEMENT, *path[1:]) if position in given.starred else path[1:]
            found = join(found, site.asker.value(each, inner, site.context))
        return found
    if isinstance(step, int):
        if -len(given.positional) <= step < len(given.positional):
            return site.asker.value(given.positional[step], path[1:], site.context)
        return BOTTOM
    if step == ANY_ELEMENT:
        return join_all(site.asker.value(each, path[1:], site.context) for each in given.positional)
    return None


def as_parameter(value: Abstract, at: Node) -> Abstract:
    """Return a tensor as a parameter, which requires grad."""
    return Abstract(
        value.kind,
        a.SURE,
        value.device or a.SAFE,
        a.FLOATING,
        value.rank,
        frozenset([PARAMETER]),
        at,
        value.device_from,
    )


# ---------------------------------------------------------------------- parameters
def has_parameters(name: str, maker: CallSite | None, depth: int = 4) -> bool:
    """Whether a module of a class may have parameters, as it was made."""
    word = leaf(name)
    if name.startswith("torchaudio.transforms.") or word in PASSING | PLAIN or word.endswith(_PLAIN_ENDINGS):
        return word == "AdaptiveLogSoftmaxWithLoss"
    if maker is None:
        return True
    if "Norm" in word:
        usual = not word.startswith(("InstanceNorm", "LazyInstanceNorm"))
        told = [answer(maker, None, each, usual=usual) for each in ("affine", "elementwise_affine")]
        return told != [False, False] if usual is False else False not in told
    if name == "torch.nn.Sequential" and depth:
        return _some_have_parameters(maker, depth)
    return True


def _some_have_parameters(maker: CallSite, depth: int) -> bool:
    if maker.given.starred:
        return True
    members = [maker.asker.value(each, (), maker.context) for each in maker.given.positional]
    return any(_may_have_parameters(each, maker.asker, depth - 1) for each in members)


def _may_have_parameters(member: Abstract, asker: Asker, depth: int) -> bool:
    if not member.references or not member.must(a.MODULE):
        return not member.must(a.OTHER) or not member.references
    for each in member.references:
        if not isinstance(each, LibraryInstanceRef):
            return True
        if has_parameters(
            each.name, CallSite(asker, each.made, each.context) if each.made is not None else None, depth
        ):
            return True
    return False


def parameter_of(module: Abstract, at: Node) -> Abstract:
    """Return one parameter of a module: where the module is."""
    live = is_live(module)
    grad = (a.SURE if live else 0) | (module.grad & a.SAFE) or a.SAFE
    device = module.device or a.SAFE
    return Abstract(
        a.TENSOR, grad, device, a.FLOATING, a.ANY_RANK, frozenset([PARAMETER]), at if live else None, module.device_from
    )


# ---------------------------------------------------------------------- attributes
def module_attribute(
    asker: Asker,
    owner: Abstract,
    reference: LibraryInstanceRef,
    word: str,
    path: Path,
    at: Node,
    context: Context | None,
) -> Abstract:
    """Return an attribute of a module of a library."""
    name = reference.name
    maker = CallSite(asker, reference.made, reference.context) if reference.made is not None else None
    if word == "module" and name in WRAPPING and maker is not None:
        inner = maker.value(0, "module", path)
        return inner if inner is not None else descend(unknown(a.OF_ATTR, at), path)
    if name in MODULE_CONTAINERS and maker is not None and (word.isdigit() or word not in _KNOWN_ATTRIBUTES):
        found = _member(maker, name, (f".{word}", *path))
        if found is not None and found.kind:
            return found
    if (known := _plain_module_attribute(owner, word, name, at, maker)) is not None:
        return asker.along(known, path, at, context)
    place = owner.device or a.SAFE | a.OF_ATTR
    part = Abstract(
        a.ANY, a.SAFE | a.OF_ATTR, place, a.ANY_DTYPE, a.ANY_RANK, a.NO_REFERENCES, at, owner.device_from or at
    )
    return descend(part, path)


_KNOWN_ATTRIBUTES = frozenset("weight bias training running_mean running_var device dtype".split())


_ASKED_FOR = {
    "weight": ("affine", "elementwise_affine"), "bias": ("affine", "elementwise_affine", "bias"),
    "running_mean": ("track_running_stats",), "running_var": ("track_running_stats",),
    "num_batches_tracked": ("track_running_stats",),
}  # fmt: skip
"""The arguments without which a layer has none of a part."""
_NORMALISING = ("Norm", "Norm1d", "Norm2d", "Norm3d")


def _if_asked_for(found: Abstract, word: str, name: str, maker: CallSite | None) -> Abstract:
    """Return a part of a layer, or `None` where the layer may have been told to do without it."""
    asked = _ASKED_FOR.get(word, ())
    if maker is None:
        has_choice = word == "bias" or (asked and leaf(name).endswith(_NORMALISING))
        return join(found, NOTHING) if has_choice else found
    is_usual = not leaf(name).startswith(("InstanceNorm", "LazyInstanceNorm"))
    answers = [answer(maker, None, each, usual=each == "bias" or is_usual) for each in asked]
    if False in answers:
        return NOTHING
    return join(found, NOTHING) if None in answers else found


def _plain_module_attribute(owner: Abstract, word: str, name: str, at: Node, maker: CallSite | None) -> Abstract | None:
    if word.startswith(("weight", "bias")):
        found = parameter_of(owner, at).but(rank=a.ANY_RANK & ~a.RANKS[0])
    elif word in ("running_mean", "running_var"):
        found = tensor(a.SAFE, owner.device or a.SAFE, a.FLOATING, a.RANKS[1], None, owner.device_from)
    elif word == "num_batches_tracked":
        found = tensor(a.SAFE, owner.device or a.SAFE, a.INT64, a.RANKS[0], None, owner.device_from)
    else:
        found = None
    if found is not None:
        return _if_asked_for(found, word, name, maker)
    if word == "training":
        return of_kind(a.SCALAR)
    return AN_INTEGER if word in INTEGER_ATTRIBUTES else None


# ---------------------------------------------------------------------- methods
_Method = Callable[[CallSite, Abstract, Path], Abstract]
_MOVING = frozenset("to cuda cpu xpu npu mps float half double bfloat16 type to_empty".split())
ITSELF: Final = _MOVING | frozenset("train eval requires_grad_ apply share_memory".split())
"""Methods of modules that give the module itself."""


def module_method(site: CallSite, owner: Abstract, word: str, path: Path) -> Abstract | None:
    """Return what a method gives that all modules have; None for other words."""
    if word in ITSELF:
        return _itself(site, owner, word, path)
    if word in _GIVING_NOTHING:
        return NOTHING
    if word in CONTAINER_READS and site.receiver is not None:
        return container_method(site, owner, word, path)
    method = _METHODS.get(word)
    return method(site, owner, path) if method is not None else None


def _itself(site: CallSite, owner: Abstract, word: str, path: Path) -> Abstract:
    """Return a module after a method that gives it back, or what a path leads to from there, which moves along."""
    if word in _MOVING:
        after = moved(site, owner, word, ())
    elif word == "requires_grad_":
        told = answer(site, 0, "requires_grad", usual=True)
        after = owner.but(grad=a.SURE if told else a.SAFE if told is False else a.SURE | a.SAFE)
    else:
        after = owner
    if not path:
        return after
    source = site.receiver
    if source is None:
        return site.asker.along(after, path, site.node, site.context)
    inner = site.asker.value(source, path, site.context)
    if not inner.kind & a.CARRIES:
        return inner
    moved_along = {"device": after.device, "device_from": after.device_from} if word in _MOVING else {}
    asked = {"grad": after.grad} if word == "requires_grad_" else {}
    return inner.but(**moved_along, **asked)


_GIVING_NOTHING = frozenset("zero_grad register_buffer register_parameter add_module register_module compile".split())


def _several(part: Callable[[CallSite, Abstract], Abstract]) -> _Method:
    def several(site: CallSite, owner: Abstract, path: Path) -> Abstract:
        return A_SEQUENCE if not path else descend(part(site, owner), path[1:])

    return several


def _named(part: Callable[[CallSite, Abstract], Abstract]) -> _Method:
    def named(site: CallSite, owner: Abstract, path: Path) -> Abstract:
        if len(path) < 2:
            return A_SEQUENCE
        if path[1] == 0:
            return descend(A_TEXT, path[2:])
        value = descend(part(site, owner), path[2:])
        return value if path[1] == 1 else join(value, A_TEXT)

    return named


def _one(part: Callable[[CallSite, Abstract], Abstract]) -> _Method:
    return lambda site, owner, path: descend(part(site, owner), path)


def _parameter(site: CallSite, owner: Abstract) -> Abstract:
    return parameter_of(owner, site.node)


def _buffer(site: CallSite, owner: Abstract) -> Abstract:
    return parameter_of(owner, site.node).detached().but(dtype=a.ANY_DTYPE, references=a.NO_REFERENCES)


def _entry(site: CallSite, owner: Abstract) -> Abstract:
    is_plain = answer(site, None, "keep_vars", usual=False) is False
    return _buffer(site, owner) if is_plain else _parameter(site, owner)


def _inner_module(_: CallSite, owner: Abstract) -> Abstract:
    return Abstract(a.MODULE, owner.grad, owner.device or a.SAFE, 0, 0, a.NO_REFERENCES, None, owner.device_from)


def _children(site: CallSite, owner: Abstract, path: Path) -> Abstract:
    """``children()``: of what holds others its members."""
    if not path:
        return A_SEQUENCE
    names = [each.name for each in owner.references if isinstance(each, LibraryInstanceRef)]
    if site.receiver is not None and names and all(each in MODULE_CONTAINERS for each in names):
        return site.asker.value(site.receiver, path, site.context)
    return descend(_inner_module(site, owner), path[1:])


def _loaded(_: CallSite, __: Abstract, path: Path) -> Abstract:
    return of_kind(a.SEQUENCE | a.OTHER) if not path else A_TEXT


_METHODS: Final[dict[str, _Method]] = {
    "parameters": _several(_parameter), "named_parameters": _named(_parameter), "buffers": _several(_buffer),
    "named_buffers": _named(_buffer), "state_dict": _several(_entry), "modules": _several(_inner_module),
    "children": _children, "named_modules": _named(_inner_module), "named_children": _named(_inner_module),
    "get_parameter": _one(_parameter), "get_buffer": _one(_buffer), "get_submodule": _one(_inner_module),
    "load_state_dict": _loaded,
}  # fmt: skip
MODULE_METHODS: Final = ITSELF | _GIVING_NOTHING | frozenset(_METHODS)
ONLY_OF_MODULES: Final = frozenset(_METHODS) - {"modules", "children"}
"""Methods by which code says that something is a module."""
