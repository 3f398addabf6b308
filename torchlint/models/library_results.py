"""What functions and objects of other libraries give: torchvision, torchaudio, transformers, gymnasium and the like."""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final

from torchlint.models.combined_operands import combined
from torchlint.models.dataset_results import presumed_batch
from torchlint.models.descent import DESCRIBING, descend
from torchlint.models.library_rows import FOREIGN, package_of
from torchlint.models.module_results import module_of
from torchlint.models.tensor_moves import place_of
from torchlint.models.unknown_results import unknown_call
from torchlint.syntax.places import leaf
from torchlint.values import abstract as a
from torchlint.values.abstract import A_SEQUENCE, A_THING, AN_INTEGER, Abstract, join, join_all, of_kind, tensor
from torchlint.values.asking import ANY_ELEMENT, CallSite, Path, Presumption
from torchlint.values.references import ClassRef, FunctionRef, LibraryInstanceRef

_Transfer = Callable[[CallSite, str, Path], Abstract]
TRANSFORMS: Final = "torchvision.transforms."
_TORCH_MODEL = re.compile(r"(?!TF|Flax)[A-Z]\w*(Model|(Model)?For[A-Z]\w+|Transformer\w*|AutoencoderKL|UNet\w*)")
"""Names of classes of transformers and diffusers whose objects are modules of torch."""
_LOADING = frozenset({"from_pretrained", "from_config", "create_model", "from_single_file"})
_PLACING = frozenset("device device_map load_in_8bit load_in_4bit quantization_config tp_plan device_mesh".split())
"""Arguments with which a model is loaded to some other place than the host."""
_WITHOUT_TENSOR = frozenset(
    "to_pil_image ToPILImage get_dimensions get_size get_image_size get_num_channels get_image_num_channels".split()
)
_HOLDING = frozenset("Compose Lambda RandomApply RandomChoice RandomOrder".split())
"""Transforms that call others, or any function."""
_CUTTING = frozenset("five_crop ten_crop FiveCrop TenCrop".split())


def library_function(site: CallSite, name: str, path: Path) -> Abstract | None:
    """Return what a function or class of a library gives, by its full name; None where nothing is known of it."""
    row = _row(name)
    if row is not None:
        return row(site, name, path)
    package = package_of(name)
    if package in FOREIGN:
        return foreign(name)
    return None


@lru_cache(maxsize=4096)
def _row(name: str) -> _Transfer | None:
    if name in _ROWS:
        return _ROWS[name]
    found = [pattern for pattern in _PATTERNS if fnmatchcase(name, pattern)]
    return _ROWS[max(found, key=len)] if found else None


def foreign(name: str) -> Abstract:
    """Return what a library gives that has no tensors of torch: neither it nor any part of it is one."""
    own = frozenset([LibraryInstanceRef(package_of(name))])
    return of_kind(a.OTHER | a.ARRAY | a.NUMBER | a.STRING | a.SEQUENCE | a.NONE, own)


# ---------------------------------------------------------------------- modules
def _loaded(site: CallSite, name: str, path: Path) -> Abstract:
    """Return a module that a library loads: on the host, unless the call says something of its place."""
    made = name.rpartition(".")[0] if leaf(name) in _LOADING else name
    if leaf(name) != "create_model" and not _TORCH_MODEL.fullmatch(leaf(made)):
        return _of_transformers(site, name, path)
    is_placed = bool(site.given.spread) or not _PLACING.isdisjoint(site.given.keywords)
    device = a.SAFE | a.OPTION if is_placed else a.SAFE
    return descend(module_of(made, site, a.SURE, device, site.node if is_placed else None), path)


def _of_transformers(site: CallSite, name: str, path: Path) -> Abstract:
    """Return what the rest of such libraries gives: tokenizers, schedulers, pipelines, by their class."""
    own = name.rpartition(".")[0] if leaf(name) in _LOADING else name
    if leaf(own)[:1].isupper() or leaf(name) == "pipeline":
        return descend(of_kind(a.OTHER, frozenset([LibraryInstanceRef(own, site.node, site.context)])), path)
    return unknown_call(site, path)


def _vision_model(site: CallSite, name: str, path: Path) -> Abstract:
    if "Weights" in name or leaf(name).startswith("list_"):
        return unknown_call(site, path)
    return site.asker.along(module_of(name, site, a.SURE, a.SAFE), path, site.node, site.context)


# ---------------------------------------------------------------------- pictures and sound
def _object(site: CallSite, name: str, path: Path) -> Abstract:
    return descend(of_kind(a.OTHER, frozenset([LibraryInstanceRef(name, site.node, site.context)])), path)


def _transform(site: CallSite, name: str, path: Path) -> Abstract:
    if leaf(name)[:1].islower():
        return _image(site, leaf(name), path)
    return _object(site, name, path)


def _image_function(site: CallSite, name: str, path: Path) -> Abstract:
    return _image(site, leaf(name), path)


def _image(site: CallSite, word: str, path: Path) -> Abstract:
    """Return what a transform makes of an image: of a tensor one with its gradient, where it is.

    What is not known to be a tensor is a picture of a data set, or an array: what is made of it is on the host.
    """
    if word in _WITHOUT_TENSOR:
        return descend(of_kind(a.OTHER | a.SEQUENCE | a.NUMBER), path)
    if word in _HOLDING and not site.asker.presumes(Presumption.LOADER):
        return unknown_call(site, path)
    if word in _CUTTING:
        return A_SEQUENCE if not path else _image(site, "crop", path[1:])
    image = site.value(0)
    if image is None or not image.kind & a.TENSOR or image.kind == a.ANY:
        if site.asker.presumes(Presumption.LOADER) or image is None or not image.kind & a.TENSOR:
            kind = a.TENSOR if word in _MAKING_TENSORS else a.TENSOR | a.OTHER | a.ARRAY
            return descend(Abstract(kind, a.SAFE, a.SAFE), path)
        return unknown_call(site, path)
    made = image.but(kind=a.TENSOR, rank=a.ANY_RANK, dtype=a.ANY_DTYPE, references=a.NO_REFERENCES)
    return descend(site.asker.under(made, site.node, site.context), path)


_MAKING_TENSORS = frozenset(
    "ToTensor PILToTensor to_tensor pil_to_tensor ConvertImageDtype Normalize normalize".split()
)


def _host_tensor(_: CallSite, __: str, path: Path) -> Abstract:
    return descend(tensor(), path)


def _host_picture(_: CallSite, __: str, path: Path) -> Abstract:
    return descend(tensor(dtype=a.UINT8), path)


def _waveform(_: CallSite, __: str, path: Path) -> Abstract:
    if not path:
        return A_SEQUENCE
    if path[0] == ANY_ELEMENT:
        return descend(join(tensor(), AN_INTEGER), path[1:])
    return descend(tensor() if path[0] == 0 else AN_INTEGER, path[1:])


def _drawn(site: CallSite, _: str, path: Path) -> Abstract:
    return descend(_combined(site).detached(), path)


def _computed(site: CallSite, name: str, path: Path) -> Abstract:
    """Return what a function computes of tensors: one with their gradients.

    What is handed no tensor, or a module or function that may bring a gradient of its own, may give anything.
    """
    operands = site.operands()
    is_brought = any(_brings_its_own(each) for each in operands)
    if is_brought or leaf(name)[:1].isupper() or not any(each.kind & (a.TENSOR | a.ARRAY) for each in operands):
        return unknown_call(site, path)
    return descend(site.asker.under(_combined(site), site.node, site.context), path)


def _brings_its_own(operand: Abstract) -> bool:
    is_live = operand.kind == a.MODULE and operand.grad != a.SAFE
    return is_live or any(isinstance(each, FunctionRef | ClassRef) for each in operand.references)


def _combined(site: CallSite) -> Abstract:
    operands = [each.plain() for each in site.operands() if each.kind & a.TENSOR]
    made = combined(site.asker, operands, site.node, site.context, numbers=True)
    return made.but(rank=a.ANY_RANK, dtype=a.ANY_DTYPE)


# ---------------------------------------------------------------------- training
def _prepared(site: CallSite, _: str, path: Path) -> Abstract:
    """``accelerator.prepare(model, optimizer)``: its arguments, which go to where the accelerator is."""
    given = site.given.positional
    if len(given) == 1 and not site.given.starred:
        return _placed_by_run(site, site.asker.value(given[0], path, site.context))
    if not path:
        return A_SEQUENCE
    if isinstance(path[0], int) and -len(given) <= path[0] < len(given) and not site.given.starred:
        return _placed_by_run(site, site.asker.value(given[path[0]], path[1:], site.context))
    inner = [site.asker.value(each, path[1:], site.context) for each in given]
    return _placed_by_run(site, join_all(inner))


def _placed_by_run(site: CallSite, value: Abstract) -> Abstract:
    return value.but(device=a.SAFE | a.OPTION, device_from=site.node) if value.kind == a.MODULE else value


def _environments(_: CallSite, name: str, __: Path) -> Abstract:
    return of_kind(a.OTHER, frozenset([LibraryInstanceRef(name if "Vec" in name else "gymnasium.Env")]))


def _samples(site: CallSite, _: str, path: Path) -> Abstract:
    return presumed_batch(site.asker, site.node, path)


_ROWS: Final[dict[str, _Transfer]] = {
    "transformers.*": _loaded, "diffusers.*": _loaded, "peft.*": _loaded, "timm.create_model": _loaded,
    "timm.models.create_model": _loaded, "open_clip.create_model": _loaded, "torchvision.models.*": _vision_model,
    f"{TRANSFORMS}*": _transform, "torchvision.transforms.functional.*": _image_function,
    "torchvision.transforms.v2.functional.*": _image_function,
    "torchvision.transforms.functional.to_tensor": _host_tensor, "torchvision.io.read_image": _host_picture,
    "torchvision.io.decode_image": _host_picture, "torchvision.io.decode_jpeg": _host_picture,
    "torchvision.utils.*": _drawn, "torchvision.ops.[a-z]*": _computed, "torchaudio.load": _waveform,
    "torchaudio.functional.*": _computed, "torchaudio.compliance.*": _computed, "kornia.*": _computed,
    "torchaudio.transforms.*": _vision_model, "torchmetrics.functional.*": _computed,
    "torch_geometric.utils.*": _computed, "torch_geometric.nn.global_*": _computed, "torch_scatter.*": _computed,
    "torch_geometric.nn.[A-Z]*": _vision_model, "torch_geometric.datasets.*": _samples,
    "sentence_transformers.util.*": _computed, "einops.rearrange": _computed, "einops.reduce": _computed,
    "einops.repeat": _computed, "einops.einsum": _computed, "einops.layers.torch.*": _vision_model,
    "accelerate.Accelerator": _object, "lightning.Trainer": _object, "lightning.LightningModule": _vision_model,
    "torchmetrics.[A-Z]*": _object, "gymnasium.make": _environments, "gym.make": _environments,
    "gymnasium.vector.*": _environments, "gym.vector.*": _environments, "gymnasium.wrappers.*": _environments,
    "pettingzoo.*": _environments, "ultralytics.*": _object, "detectron2.engine.*": _object,
    "sentence_transformers.SentenceTransformer": _object, "segment_anything.*": _object,
    "albumentations.[A-Z]*": _object, "contextlib.ExitStack": _object, "contextlib.AsyncExitStack": _object,
}  # fmt: skip
"""By full names and patterns; of several patterns the longest holds."""
_PATTERNS: Final = [each for each in _ROWS if "*" in each]


# ---------------------------------------------------------------------- objects
def library_instance_call(
    site: CallSite, owner: Abstract, reference: LibraryInstanceRef, path: Path
) -> Abstract | None:
    """Return what calling an object of a library gives; None where that is not known."""
    name = reference.name
    if name.startswith(TRANSFORMS):
        return _image(site, leaf(name), path)
    if name.startswith(("torchaudio.transforms.", "einops.layers.")):
        return _computed(site, name, path)
    if name.startswith("diffusers.") and not owner.kind & a.MODULE:  # a pipeline runs without grad
        return _without_grad(site, path)
    if name.startswith("transformers.") and not owner.kind & a.MODULE:
        return _tokens(site, path)
    if name.startswith(("ultralytics.", "detectron2.")):
        return _predicted(site, owner, path)
    if name.startswith("torchmetrics."):
        return _drawn(site, name, path)
    if name.startswith("albumentations."):
        return presumed_batch(site.asker, site.node, path)
    if package_of(name) in FOREIGN or name.startswith(("gymnasium", "gym")):
        return foreign(name)
    return None


def _without_grad(site: CallSite, path: Path) -> Abstract:
    if not site.asker.presumes(Presumption.KEPT):
        return unknown_call(site, path)
    made = Abstract(
        a.ANY & ~a.MODULE, a.SAFE, a.SAFE | a.OPTION, a.ANY_DTYPE, a.ANY_RANK, a.NO_REFERENCES, None, site.node
    )
    return descend(made, path)


def _predicted(site: CallSite, owner: Abstract, path: Path) -> Abstract:
    """Return what a predictor gives: records of tensors without a gradient, where it was told to compute."""
    told = site.value(None, "device")
    bits, origin = place_of(told, site.node) if told is not None else (owner.device, owner.device_from)
    made = _without_grad(site, path)
    if len(path) < 2 and site.asker.presumes(Presumption.KEPT):
        made = made.but(kind=a.OTHER | a.SEQUENCE)
    return made.but(device=bits, device_from=origin) if made.device & a.OPTION and bits else made


def _tokens(site: CallSite, path: Path) -> Abstract:
    """Return what a tokenizer or a processor gives: tensors on the host if ``return_tensors`` asks for them."""
    if not site.asker.presumes(Presumption.KEPT):
        return unknown_call(site, path)
    asked = bool(site.given.spread) or "return_tensors" in site.given.keywords
    if not asked:
        return descend(of_kind(a.OTHER | a.SEQUENCE | a.NUMBER | a.STRING), path)
    wanted = site.value(None, "device")
    place, origin = place_of(wanted, site.node) if wanted is not None and wanted.kind != a.NONE else (a.SAFE, None)
    return descend(Abstract(a.ANY & ~a.MODULE, a.SAFE, place, device_from=origin), path)


def library_method(
    site: CallSite, owner: Abstract, reference: LibraryInstanceRef, word: str, path: Path
) -> Abstract | None:
    """Return what a method of an object of a library gives; None where that is not known."""
    name = reference.name
    if name.startswith(_SIMULATED):
        return _of_environment(name, word, path)
    if package_of(name) in FOREIGN:
        return foreign(name)
    if name == "accelerate.Accelerator":
        return _of_accelerator(site, word, path)
    if name == "lightning.Trainer" and word == "predict":
        return A_SEQUENCE if not path else descend(Abstract(a.ANY, a.SAFE, a.SAFE), path[1:])
    if (
        word in ("generate", "sample")
        and owner.kind == a.MODULE
        and package_of(name) in ("transformers", "diffusers", "peft")
    ):
        if not site.asker.presumes(Presumption.NETWORK):
            return unknown_call(site, path)
        made = Abstract(a.ANY & ~a.MODULE, a.SAFE, owner.device or a.SAFE, device_from=owner.device_from)
        return descend(made, path)
    if name.startswith("transformers.") and not owner.kind & a.MODULE:
        return _tokens(site, path) if word in ("encode", "batch_encode_plus", "encode_plus", "pad") else None
    if name.startswith("sentence_transformers.") and word.startswith("encode"):
        if site.given.spread or site.given.keywords.keys() & {"convert_to_tensor", "convert_to_numpy"}:
            return _without_grad(site, path)
        return descend(of_kind(a.ARRAY | a.SEQUENCE), path)
    if name.startswith(("ultralytics.", "detectron2.")) and word in ("predict", "track", "val"):
        return _predicted(site, owner, path)
    if name.startswith("torchmetrics.") and word in ("compute", "update", "forward"):
        return _without_grad(site, path)
    return None


_SIMULATED: Final = ("gymnasium", "gym", "pettingzoo")


def _of_environment(name: str, word: str, path: Path) -> Abstract:
    """Return what a method of an environment gives: arrays, or tuples and dicts of them, and numbers."""
    seen, said = foreign(name).but(kind=a.ARRAY | a.SEQUENCE), foreign(name)
    if word == "sample":
        return descend(foreign(name).but(kind=a.ARRAY | a.NUMBER | a.SEQUENCE), path)
    if word == "reset" and "Vec" in name and not path:
        return foreign(name).but(kind=a.ARRAY | a.SEQUENCE)
    if word not in ("reset", "step"):
        return said
    if not path:
        return foreign(name).but(kind=a.SEQUENCE if word == "step" else a.SEQUENCE | a.ARRAY)
    if path[0] == 0:
        return seen if len(path) == 1 else descend(foreign(name).but(kind=a.ARRAY | a.NUMBER | a.SEQUENCE), path[1:])
    return of_kind(a.ARRAY | a.NUMBER) if word == "step" and path[0] in (1, 2, 3) else said


def _of_accelerator(site: CallSite, word: str, path: Path) -> Abstract | None:
    if word in ("prepare", "prepare_model"):
        return _prepared(site, word, path)
    if word in ("unwrap_model", "gather", "gather_for_metrics", "pad_across_processes", "reduce"):
        return site.value(0, None, path)
    return of_kind(a.NONE | a.OTHER) if word in ("backward", "wait_for_everyone", "print", "accumulate") else None


def library_instance_attribute(reference: LibraryInstanceRef, word: str) -> Abstract | None:
    """Return an attribute of an object of a library; None where that is not known."""
    name = reference.name
    if package_of(name) in FOREIGN:
        return None if word in DESCRIBING else foreign(name)
    if name == "accelerate.Accelerator" and word == "device":
        return Abstract(a.DEVICE, 0, a.SAFE | a.OPTION, 0, 0)
    return A_THING if name.startswith("transformers.") and word in ("tokenizer", "image_processor") else None
