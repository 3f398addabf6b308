"""What functions of NumPy, of Python's standard library and of other known libraries give."""

from __future__ import annotations

import re
import sys

from torchlint.facts.value import (
    ANY_DEVICE,
    ANY_DTYPE,
    UNKNOWN,
    Device,
    Dtype,
    Grad,
    Kind,
    Mode,
    Reason,
    Value,
    of_kind,
    tensor,
)
from torchlint.inference.lattice import join_all
from torchlint.inference.models.call_arguments import Arguments
from torchlint.inference.models.containers import part
from torchlint.inference.models.devices import device_value
from torchlint.inference.models.operations import leaf
from torchlint.inference.models.tables import Call, Effect, constant, functions, words
from torchlint.inference.models.tensors import computed, detached, dtype_name, with_dtype
from torchlint.inference.program.frameworks import OTHERS
from torchlint.inference.program.imports import named

TRAINER = "lightning.Trainer"
_PREDICTOR, _ENCODER = "library.predictor", "library.encoder"
_PREDICTORS = frozenset({_PREDICTOR, _ENCODER})
"""What runs a network of its own without a graph, as instances: called or by a method, or by a method alone."""
_PREDICTING = words("__call__ predict track")
_ENCODING = words("encode encode_query encode_document")
_LOADED_FROM = frozenset({"transformers", "diffusers", "timm"})
LOADING = frozenset({"from_pretrained", "from_config", "create_model"})
"""Functions of libraries that make a model on the host, unless they are told of another place."""
_TORCH_MODEL = re.compile(r"(?!TF|Flax)[A-Z]\w*(Model|(Model)?For[A-Z]\w+)")
"""Names of classes of transformers and diffusers whose objects are modules of torch."""
_PLACING = words("""
    device device_map load_in_8bit load_in_4bit quantization_config tp_plan tp_size device_mesh distributed_config
""")
"""Arguments with which a model is loaded to some other place than the host."""
_MOVED = words("to cpu cuda half float eval fuse load")
"""Methods of predictors and of what they find that give the object itself, or a copy in another place."""
_FOUND = "library.found"
"""What a predictor finds, and parts of it that are no tensors yet, as instances; the member is like their tensors."""
_PARTS = words("boxes masks keypoints obb probs pred_boxes proposal_boxes")
_GYMNASIUM, _GYM = "gymnasium.vector.VectorEnv", "gym.vector.VectorEnv"
_TRANSFORMS = "torchvision.transforms."
_CHANGING_DTYPE = words("convert_image_dtype to_dtype ConvertImageDtype ToDtype")
_CUTTING = words("five_crop ten_crop FiveCrop TenCrop")
_HOLDING = words("Compose Lambda RandomApply RandomChoice RandomOrder")
_WITHOUT_TENSOR = words("""
    to_pil_image ToPILImage get_dimensions get_size get_image_size get_num_channels get_image_num_channels
    get_num_frames
""")
"""Transforms of torchvision whose result is not like the image that they are given (read in torchvision 0.29)."""
_ENVIRONMENTS = frozenset({_GYMNASIUM, _GYM})
"""Several environments at once, as instances: they give arrays, of which each row is of one."""

_FUNCTIONS = """
tqdm.tqdm tqdm.auto.tqdm tqdm.notebook.tqdm tqdm.autonotebook.tqdm tqdm.trange tqdm.tqdm_notebook  -> same_items
rich.progress.track itertools.cycle itertools.islice                                               -> same_items
asyncio.run asyncio.wait_for asyncio.shield asyncio.create_task asyncio.ensure_future              -> awaited
typing.cast typing_extensions.cast                                                                 -> said_to_be
asyncio.gather                                                                                     -> gathered
copy.deepcopy copy.copy                                                                            -> copied
functools.partial                                                                                  -> partial
pytest.importorskip importlib.import_module                                                        -> imported

transformers.* diffusers.* timm.create_model timm.models.create_model                              -> loaded_module
torchvision.transforms.functional.to_tensor torchvision.transforms.functional.pil_to_tensor        -> host_tensor
torchvision.transforms.*                                                                           -> transform
torchvision.transforms.Compose torchvision.transforms.v2.Compose                                   -> composed
torchvision.transforms.Lambda torchvision.transforms.v2.Lambda                                     -> composed
torchvision.transforms.functional.* torchvision.transforms.v2.functional.*                         -> transformed_image
torchvision.io.read_image torchvision.io.decode_image                                              -> host_image
torchvision.utils.*                                                                                -> drawn
torchvision.ops.[a-z]* torchvision.ops.boxes.[a-z]*                                                -> transformed
sentence_transformers.util.*cos_sim sentence_transformers.util.*dot_score                          -> transformed
torchaudio.load                                                                                    -> waveform
torchaudio.compliance.*                                                                            -> features
torchaudio.functional.*                                                                            -> transformed
lightning.Trainer                                                                                  -> trainer
ultralytics.YOLO* ultralytics.RTDETR ultralytics.*SAM ultralytics.NAS                              -> predictor
detectron2.engine.DefaultPredictor detectron2.engine.defaults.DefaultPredictor                     -> predictor
sentence_transformers.SentenceTransformer                                                          -> encoder
gymnasium.vector.SyncVectorEnv gymnasium.vector.AsyncVectorEnv                                     -> environments
gym.vector.SyncVectorEnv gym.vector.AsyncVectorEnv                                                 -> old_environments
"""

_NUMPY = """
shape ndim size                                                  -> sequence|integer
array asarray zeros ones empty arange linspace stack concatenate -> array
array_split split meshgrid where nonzero                         -> array|sequence
unique                                                           -> uniques
load                                                             -> loaded
"""
"""NumPy's functions by their last word; others give an array or a number."""

_ARRAYS = words("scipy cv2 imageio skimage librosa soundfile h5py")
"""Libraries that work on NumPy's arrays."""

_NO_TENSORS = words("""
    pandas PIL matplotlib sklearn requests yaml tqdm click absl argparse seaborn plotly wandb networkx nltk mock pytest
""")

_PASSING = words("""
    copy functools itertools collections random pickle contextlib multiprocessing queue asyncio concurrent operator
    dataclasses types typing threading weakref heapq contextvars gc
""")
"""Modules of the standard library that hand on what they are given."""

_NUMBERS = constant("array|scalar")
_OBJECTS = words("object builtins.object numpy.object_ numpy.object")
_ANYTHING_ELSE = constant("other|array|scalar|string|sequence")
_FOREIGN = OTHERS | _NO_TENSORS | (frozenset(sys.stdlib_module_names) - _PASSING)

CONSTANTS = words("numpy.pi math.pi numpy.inf math.inf numpy.nan math.nan math.e numpy.e")
"""Numbers by their full names."""


def effect(name: str) -> Effect | None:
    """Return what a library's function does; None where nothing is known of it."""
    package = name.partition(".")[0]
    if (known := _TABLE.find(name)) is not None:
        return known
    if package == "numpy":
        return _of_numpy
    if package in _ARRAYS:
        return _NUMBERS
    return _ANYTHING_ELSE if package in _FOREIGN else None


def array_attribute(word: str) -> Value:
    """Return an attribute of a NumPy array."""
    known = word in ("T", "real", "imag", "flat")
    return of_kind(Kind.ARRAY if known else Kind.OTHER | Kind.SEQUENCE | Kind.INTEGER)


def array_method(word: str) -> Value:
    """Return the result of a method of a NumPy array or number."""
    if word == "item":  # an array of objects may hold anything
        return of_kind(Kind.SCALAR | Kind.INTEGER | Kind.OTHER)
    if word == "tolist":  # of a number of NumPy it is a number
        return of_kind(Kind.SEQUENCE | Kind.SCALAR | Kind.INTEGER)
    return of_kind(Kind.ARRAY | Kind.SCALAR)


def attribute(owner: Value, word: str) -> Value | None:
    """Return an attribute of an object of a library; None where it is not known."""
    if owner.instance != {_FOUND}:
        return None
    return owner if word in _PARTS else owner.member


def method(receiver: Value, word: str, given: Arguments) -> Value | None:
    """Return the result of a method of an object of a library, ``__call__`` among them; None where it is not known."""
    if receiver.instance == {TRAINER}:
        return _predicted() if word == "predict" else None
    if receiver.instance == {_FOUND}:
        return _of_found(receiver, word, given)
    if receiver.instance <= _PREDICTORS:
        return _of_predictor(receiver, word, given)
    if receiver.instance <= _ENVIRONMENTS:
        return _of_environments(receiver.instance, word)
    if word == "generate" and all(name.startswith("transformers.") for name in receiver.instance):
        return UNKNOWN.having(grad=Grad.DETACHED, device=receiver.device, why_device=receiver.why_device)
    return None


def _predicted() -> Value:
    """Return what Lightning's ``trainer.predict`` gives: what each step returned, without grad and on the host."""
    return of_kind(Kind.SEQUENCE, member=UNKNOWN.having(grad=Grad.DETACHED, device=Device.HOST))


def _of_predictor(predictor: Value, word: str, given: Arguments) -> Value | None:
    """Return what a method of a predictor gives: several results, or one with several names.

    A predictor looks for a GPU itself, unless it is told to stay.
    """
    on_host, encodes = _asks_for_host(word, given), predictor.instance == {_ENCODER}
    if word in _MOVED:
        return predictor.having(device=Device.HOST) if on_host else predictor
    if word not in (_ENCODING if encodes else _PREDICTING):
        return None
    like_its_tensors = UNKNOWN.having(grad=Grad.DETACHED, device=Device.HOST)
    if not on_host and predictor.device != Device.HOST:
        why = Reason("{code} runs on a GPU where there is one", given.node, weak=True)
        like_its_tensors = like_its_tensors.having(device=Device.HOST | Device.ACCELERATOR, why_device=why)
    if encodes:
        gives_arrays = not given.spread and not given.keywords.keys() & {"convert_to_tensor", "convert_to_numpy"}
        return of_kind(Kind.ARRAY | Kind.SEQUENCE) if gives_arrays else like_its_tensors
    return of_kind(Kind.SEQUENCE, member=of_kind(Kind.OTHER, instance=frozenset((_FOUND,)), member=like_its_tensors))


def _of_found(found: Value, word: str, given: Arguments) -> Value | None:
    if word == "numpy":
        return of_kind(Kind.OTHER | Kind.ARRAY)
    if word not in _MOVED or found.member is None:
        return None
    return found.having(member=found.member.having(device=Device.HOST)) if _asks_for_host(word, given) else found


def _asks_for_host(word: str, given: Arguments) -> bool:
    """Whether a call says that what it gives is to be on the host: ``cpu()``, ``to("cpu")``, ``device="cpu"``."""
    told = given.find(0, "device") if word == "to" else given.keywords.get("device")
    return word == "cpu" or (told is not None and device_value(told, given.node).device == Device.HOST)


def _of_environments(instance: frozenset[str], word: str) -> Value | None:
    """Return what a method of several environments gives; None for methods that are not known.

    What is seen is an array of what each environment gives, or a tuple or dict of such: the environments make these
    arrays themselves. So are rewards and whether episodes ended. The old package has two forms of ``reset``.
    """
    seen, array, said = of_kind(Kind.ARRAY | Kind.SEQUENCE), of_kind(Kind.ARRAY), of_kind(Kind.SEQUENCE | Kind.OTHER)
    if word == "step":
        parts = (seen, array, array, array, said)
        return of_kind(Kind.SEQUENCE, items=parts if instance == {_GYMNASIUM} else None, member=seen)
    if word == "reset" and instance == {_GYMNASIUM}:
        return of_kind(Kind.SEQUENCE, items=(seen, said))
    return seen if word == "reset" else None


def _environments(_: Call) -> Value:
    return of_kind(Kind.OTHER, instance=frozenset((_GYMNASIUM,)))


def _old_environments(_: Call) -> Value:
    return of_kind(Kind.OTHER, instance=frozenset((_GYM,)))


def _of_numpy(call: Call) -> Value | None:
    known = _NUMPY_TABLE.find(call.word)
    if call.name.startswith("numpy.random.") and not call.given.every():
        return of_kind(Kind.SCALAR)
    made = known(call) if known is not None else of_kind(Kind.ARRAY | Kind.SCALAR)
    dtype = call.given.keywords.get("dtype")
    holds_objects = dtype is not None and bool(dtype.names & _OBJECTS)
    return made.having(member=UNKNOWN) if made is not None and holds_objects and made.may(Kind.ARRAY) else made


def _uniques(call: Call) -> Value:
    """Return what ``np.unique`` gives: one array, or several where it is told to."""
    told = {word: each.const for word, each in call.given.keywords.items() if word.startswith("return_")}
    several = [each for each in told.values() if each is not False]
    if any(each is not True for each in several) or len(call.given.positional) > 1 or call.given.starred:
        return of_kind(Kind.ARRAY | Kind.SEQUENCE)
    array = of_kind(Kind.ARRAY)
    return of_kind(Kind.SEQUENCE, items=(array,) * (1 + len(several))) if several else array


def _loaded(call: Call) -> Value:
    """Return what ``np.load`` gives, or a file of several; where pickles are allowed it may hold anything."""
    allowed = call.given.find(2, "allow_pickle")
    plain = allowed is None or allowed.const is False
    return of_kind(Kind.ARRAY | Kind.SCALAR, member=None if plain and not call.given.starred else UNKNOWN)


def _same_items(call: Call) -> Value:
    first = call.given.find(0, "iterable")
    return first if first is not None else UNKNOWN


def _awaited(call: Call) -> Value | None:
    return call.given.positional[0] if call.given.positional else None


def _said_to_be(call: Call) -> Value | None:
    return call.given.find(1, "val")


def _gathered(call: Call) -> Value:
    """Return what several coroutines give, in their order; an exception may stand in the place of each."""
    spread, each = call.given.spread, call.given.positional
    if spread:
        return of_kind(Kind.SEQUENCE, member=join_all([*each, *map(part, spread)]))
    return of_kind(Kind.SEQUENCE, items=each)


def _copied(call: Call) -> Value | None:
    return call.given.find(0, "x")


PARTIAL = "functools.partial"


def _partial(call: Call) -> Value | None:
    """Return the function with its arguments, which are counted: those of one of several partials are not known."""
    given = call.given
    if given.starred or not given.positional:
        return None
    if len(given.every()) == 1:
        return given.positional[0]
    return of_kind(
        Kind.OTHER,
        instance=frozenset((PARTIAL,)),
        items=(*given.positional, *given.keywords.values()),
        keys=tuple(given.keywords.items()),
        const=len(given.positional) - 1,
    )


def _imported(call: Call) -> Value:
    module = call.given.positional[0].const if call.given.positional else None
    return named(module) if isinstance(module, str) else UNKNOWN


def _host_tensor(_: Call) -> Value:
    return tensor(Grad.DETACHED, Device.HOST)


def _host_image(_: Call) -> Value:
    return tensor(Grad.DETACHED, Device.HOST, Dtype.INTEGRAL)


def _transformed(call: Call) -> Value:
    return computed(call.given.operands(), call.mode)


def _transform(call: Call) -> Value:
    made, dtype = of_kind(Kind.OTHER, instance=frozenset((call.name,))), call.given.find(0, "dtype")
    return made.having(keys=(("dtype", dtype),)) if call.word in _CHANGING_DTYPE and dtype is not None else made


def _composed(call: Call) -> Value:
    """Return a transform that calls others, or a function, one after the other."""
    held = call.given.find(0, "transforms", "lambd")
    parts = held.items if held is not None and held.must(Kind.SEQUENCE) else (held,) if call.word == "Lambda" else None
    return _transform(call).having(items=parts if parts is None or None not in parts else None)


def is_transform(value: Value) -> bool:
    """Whether calling an object transforms an image as torchvision does: it has no parameters of its own."""
    return bool(value.instance) and all(name.startswith(_TRANSFORMS) for name in value.instance)


def transformed_by(transform: Value, given: Arguments, mode: Mode) -> Value:
    """Return what a transform of torchvision makes of an image: of a tensor one with its graph, where it is.

    What is not known to be a tensor is a picture of a data set, or an array: what is made of it is on the host. So is,
    as far as anyone can say here, what others that a transform holds make of it.
    """
    names = ((name, leaf(name)) for name in sorted(transform.instance))
    dtype = dict(transform.keys).get("dtype")
    made = (None if word in _HOLDING else _image(Call(name, given, mode), dtype) for name, word in names)
    on_host = tensor(Grad.DETACHED, Device.HOST).having(kind=Kind.TENSOR | Kind.OTHER)
    return join_all(each if each is not None else on_host for each in made)


def _transformed_image(call: Call) -> Value | None:
    return _image(call, call.given.find(1, "dtype"))


def _image(call: Call, dtype: Value | None) -> Value | None:
    """Return what a transform makes of a tensor; None where it is not known to be given one.

    ``dtype`` is what some convert to, as pictures are drawn: integers have no graph.
    """
    if call.word in _WITHOUT_TENSOR:
        return of_kind(Kind.OTHER | Kind.SEQUENCE | Kind.INTEGER)
    images = call.given.positional or tuple(call.given.keywords.values())
    if not images or not images[0].is_tensor or call.given.starred:
        return None
    image = computed(images[0], call.mode)
    if call.word in _CHANGING_DTYPE:
        name = dtype_name(dtype) if dtype is not None else "float32"
        image = with_dtype(image, name) if name is not None else detached(image).having(dtype=ANY_DTYPE)
    return of_kind(Kind.SEQUENCE, member=image) if call.word in _CUTTING else image


def _features(call: Call) -> Value:
    """Return what is made of one waveform; the other arguments are numbers."""
    waveform = call.given.find(0, "waveform")
    return UNKNOWN if waveform is None else computed(waveform, call.mode)


def _drawn(call: Call) -> Value:
    return computed(call.given.tensors(), Mode.OFF)


def _waveform(call: Call) -> Value:
    return of_kind(Kind.SEQUENCE, items=(_host_tensor(call), of_kind(Kind.INTEGER)))


def _loaded_module(call: Call) -> Value | None:
    """Return a module of a library: on the host, unless the call says something of its place; None for others."""
    made = call.name.rpartition(".")[0] if call.word in LOADING else call.name
    if call.word != "create_model" and not _TORCH_MODEL.fullmatch(leaf(made)):
        return None
    place = Device.HOST if loads_on_host(call.given) else ANY_DEVICE
    return Value(Kind.MODULE, Grad.ATTACHED, place, Dtype(0), instance=frozenset((made,)))


def loads_on_host(given: Arguments) -> bool:
    """Whether a call that loads a model leaves it on the host."""
    return not given.starred and not given.spread and not given.keywords.keys() & _PLACING


def is_loaded(module: Value) -> bool:
    """Whether a module is known to be one that a library loads, of which no text tells more."""
    return any(name.partition(".")[0] in _LOADED_FROM for name in module.instance)


def _trainer(_: Call) -> Value:
    return of_kind(Kind.OTHER, instance=frozenset((TRAINER,)))


def _predictor(call: Call) -> Value:
    return _looking_for_a_gpu(_PREDICTOR, call)


def _encoder(call: Call) -> Value:
    return _looking_for_a_gpu(_ENCODER, call)


def _looking_for_a_gpu(instance: str, call: Call) -> Value:
    made = of_kind(Kind.OTHER, instance=frozenset((instance,)))
    return made.having(device=Device.HOST) if _asks_for_host(call.word, call.given) else made


_NUMPY_TABLE = functions(_NUMPY, [_uniques, _loaded])
_TABLE = functions(
    _FUNCTIONS,
    [
        *(_same_items, _awaited, _said_to_be, _gathered, _copied, _partial, _imported, _host_tensor, _host_image),
        *(_drawn, _waveform, _features, _transformed, _trainer, _predictor, _encoder, _environments, _old_environments),
        *(_loaded_module, _transform, _composed, _transformed_image),
    ],
)
