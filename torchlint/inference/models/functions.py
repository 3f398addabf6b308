"""What a function of torch, NumPy, Python or another known library gives, by its full name."""

from __future__ import annotations

import sys

from torchlint.inference.arguments import Arguments, asked_for_grad
from torchlint.inference.facts import (
    ANY_DTYPE,
    ANY_PLACE,
    UNKNOWN,
    Dtype,
    Grad,
    Kind,
    Mode,
    Place,
    Reason,
    Value,
    join,
    join_all,
    of_kind,
    tensor,
)
from torchlint.inference.models.builtins import HOLDERS, builtin, held
from torchlint.inference.models.devices import DTYPES, device_value, place_of
from torchlint.inference.models.dtypes import never_dtype, result_dtype, with_indices
from torchlint.inference.models.frameworks import OTHERS
from torchlint.inference.models.operations import (
    FULL_REDUCTIONS,
    LEGACY_DTYPES,
    LOSSES,
    MAY_COPY,
    PAIRS,
    PAIRS_WITH_DIM,
    SEVERAL,
    UNLIKE,
    leaf,
    operations,
)
from torchlint.inference.models.tensors import computed, detached, dtype_bits, dtype_name, pair, unlike, with_dtype

MODES = {
    "torch.no_grad": Mode.OFF,
    "torch.inference_mode": Mode.OFF,
    "torch.enable_grad": Mode.ON,
    "torch._C._AutoDispatchBelowAutograd": Mode.OFF,
}

TRAINER = "lightning.Trainer"

_ARRAYS = frozenset(["numpy", "scipy", "cv2", "imageio", "skimage", "librosa", "soundfile", "h5py"])
_NO_TENSORS = frozenset(
    [
        "pandas",
        "PIL",
        "matplotlib",
        "sklearn",
        "requests",
        "yaml",
        "tqdm",
        "click",
        "absl",
        "argparse",
        "seaborn",
        "plotly",
        "wandb",
        "networkx",
        "nltk",
        "mock",
        "pytest",
    ]
)
_PASSING = frozenset(
    ["copy", "functools", "itertools", "collections", "random", "pickle", "contextlib", "multiprocessing", "queue"]
)
"""Modules of the standard library that hand on what they are given."""

_STANDARD = frozenset(sys.stdlib_module_names) - _PASSING

_APART = frozenset(["broadcast_tensors", "meshgrid", "atleast_1d", "atleast_2d", "atleast_3d", "hinge_embedding_loss"])
"""Functions of which not every argument has a part in the gradient of the result."""

_INTEGRAL = frozenset(["randint", "randint_like", "randperm", "tril_indices", "triu_indices"])
"""Factories of integers."""

_COMPILING = frozenset(["torch.compile", "torch.jit.script", "torch.jit.trace", "torch.jit.freeze"])
"""Functions that give the module or function itself back in another form."""

_WITH_INPLACE = frozenset(
    [
        "celu",
        "elu",
        "hardsigmoid",
        "hardswish",
        "hardtanh",
        "leaky_relu",
        "mish",
        "relu",
        "relu6",
        "selu",
        "silu",
        "threshold",
    ]
)
"""Functions that give the argument itself back only where ``inplace=True`` says so."""

_LIKE = frozenset(["zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like", "randint_like"])


def call(name: str, given: Arguments, mode: Mode) -> Value | None:
    """Give the result of calling a thing by its full name; None where nothing is known of it."""
    package, _, rest = name.partition(".")
    if package == "torch":
        return _torch(name, given, mode)
    if package == "builtins":
        return builtin(rest, given, mode)
    if package in _ARRAYS:
        return of_kind(Kind.ARRAY | Kind.SCALAR if package != "numpy" else _numpy_kind(rest, given))
    if package in OTHERS or package in _NO_TENSORS or package in _STANDARD:
        return of_kind(Kind.OTHER | Kind.ARRAY | Kind.SCALAR | Kind.STRING | Kind.SEQUENCE)
    if name in HOLDERS:
        return held(HOLDERS[name], given, mode)
    if name in ("copy.deepcopy", "copy.copy"):
        return given.find(0, "x")
    if name in ("torchvision.transforms.functional.to_tensor", "torchvision.transforms.functional.pil_to_tensor"):
        return tensor(Grad.DETACHED, Place.HOST)
    if name in ("torchvision.io.read_image", "torchvision.io.decode_image"):
        return tensor(Grad.DETACHED, Place.HOST, Dtype.INTEGRAL)
    if name.startswith(("torchaudio.compliance.", "torchaudio.functional.")):
        return computed(given.tensors(), mode, given.node)
    if name == "torchaudio.load":
        return of_kind(Kind.SEQUENCE, items=(tensor(Grad.DETACHED, Place.HOST), of_kind(Kind.INTEGER)))
    if name == TRAINER:
        return of_kind(Kind.OTHER, instance=frozenset((TRAINER,)))
    if name.startswith("torchvision.utils."):
        return computed(given.tensors(), Mode.OFF, given.node)
    return None


def predicted() -> Value:
    """Give what Lightning's ``trainer.predict`` gives: what each step returned, without grad and on the host."""
    return of_kind(Kind.SEQUENCE, member=UNKNOWN.having(grad=Grad.DETACHED, place=Place.HOST))


def _numpy_kind(rest: str, given: Arguments) -> Kind:
    if leaf(rest) in ("shape", "ndim", "size"):
        return Kind.SEQUENCE | Kind.INTEGER
    if rest.startswith("random.") and not given.every():
        return Kind.SCALAR
    if leaf(rest) in ("array", "asarray", "zeros", "ones", "empty", "arange", "linspace", "stack", "concatenate"):
        return Kind.ARRAY
    if leaf(rest) in ("array_split", "split", "meshgrid", "where", "nonzero", "unique"):
        return Kind.ARRAY | Kind.SEQUENCE
    return Kind.ARRAY | Kind.SCALAR


# ---------------------------------------------------------------------- torch
def _torch(name: str, given: Arguments, mode: Mode) -> Value | None:
    word = leaf(name)
    if word.endswith("Storage"):
        return of_kind(Kind.OTHER)
    if name == "torch.device":
        return device_value(given.find(0, "device", "type"), given.node)
    if name in MODES or name in ("torch.set_grad_enabled", "torch.autocast", "torch.cuda.amp.autocast"):
        return of_kind(Kind.OTHER, instance=frozenset((name,)), items=tuple(given.every()))
    if name in ("torch.autograd.Variable", "torch.Variable"):
        return _variable(given)
    if word in LEGACY_DTYPES or name in ("torch.Tensor", "torch.cuda.Tensor"):
        return _legacy(name, word, given)
    if name == "torch.nn.Parameter":
        return _parameter(given)
    if name in _ALIASES:
        return _alias(name, given)
    if name in operations().factories or (word in _LIKE and name.startswith("torch.")):
        return _factory(word, given)
    return _function(name, word, given, mode)


def _variable(given: Arguments) -> Value:
    source = given.find(0, "data") or UNKNOWN
    result = detached(source).having(kind=Kind.TENSOR, names=frozenset(), instance=frozenset())
    return asked_for_grad(result, given, given.find(1, "requires_grad"))


def _legacy(name: str, word: str, given: Arguments) -> Value:
    place = Place.ACCELERATOR if ".cuda." in name else Place.HOST
    why = Reason("{code} makes it on an accelerator", given.node) if place & Place.ACCELERATOR else None
    exact = LEGACY_DTYPES.get(word)
    made = tensor(Grad.DETACHED, place, dtype_bits(exact or "float32"), exact=exact, why_place=why)
    source = given.find(0, "data")
    if source is None or not source.may(Kind.TENSOR) or len(given.positional) > 1 or given.starred:
        return made
    alias = source.having(kind=Kind.TENSOR, names=frozenset(), instance=frozenset())  # it keeps the graph
    if exact is not None:  # a typed constructor refuses a tensor of another dtype or on another device
        grad = alias.grad if made.dtype & Dtype.FLOATING else Grad.DETACHED
        alias = alias.having(place=place, why_place=why, dtype=made.dtype, exact=exact, grad=grad)
    return alias if source.is_tensor else join(alias, made)


def _parameter(given: Arguments) -> Value:
    source = given.find(0, "data") or tensor(Grad.DETACHED, Place.HOST)
    place = source.place or Place.HOST
    made = tensor(
        Grad.DETACHED, place, Dtype.FLOATING, why_place=source.why_place, instance=frozenset({"torch.nn.Parameter"})
    )
    wanted = given.find(1, "requires_grad")
    if wanted is not None:
        return asked_for_grad(made, given, wanted)
    return made.having(grad=Grad.ATTACHED, why_grad=Reason("{code} is a parameter", given.node))


_ALIASES = frozenset(["torch.as_tensor", "torch.asarray", "torch.from_numpy", "torch.from_dlpack"])


def _alias(name: str, given: Arguments) -> Value:
    source = given.find(0, "data", "obj", "ndarray")
    result = tensor(Grad.DETACHED, Place.HOST)
    if source is not None and source.may(Kind.TENSOR) and name != "torch.from_numpy":
        result = source.having(kind=Kind.TENSOR)
        if not source.is_tensor:
            result = join(result, tensor(Grad.DETACHED, Place.HOST))
    return _placed_and_cast(result, given)


def _placed_and_cast(value: Value, given: Arguments) -> Value:
    dtype = given.keywords.get("dtype")
    if dtype is not None:
        name = dtype_name(dtype)
        value = with_dtype(value, name) if name else value.having(dtype=ANY_DTYPE, exact=None)
    device = given.keywords.get("device")
    if device is not None:
        place, why = place_of(device, given.node)
        value = value.having(place=place, why_place=why)
    return value


def _factory(word: str, given: Arguments) -> Value:
    dtype = Dtype.INTEGRAL if word in _INTEGRAL else None
    result = tensor(Grad.DETACHED, Place.HOST, dtype or _factory_dtype(word, given))
    if word.endswith("_like"):
        source = given.find(0, "input") or UNKNOWN
        result = tensor(
            Grad.DETACHED, source.place or Place.HOST, source.dtype or ANY_DTYPE, why_place=source.why_place
        )
    if (
        word in ("tensor", "scalar_tensor")
        and given.positional
        and given.positional[0].must(Kind.SCALAR | Kind.INTEGER)
    ):
        result = result.having(rank=0)
    return asked_for_grad(_placed_and_cast(result, given), given, given.keywords.get("requires_grad"))


def _factory_dtype(word: str, given: Arguments) -> Dtype:
    if word in ("tensor", "arange", "full"):
        values = given.positional[:1] if word != "full" else given.positional[1:2]
        return join_all(_scalars(each) for each in values).dtype or ANY_DTYPE
    return Dtype.FLOATING


def _scalars(value: Value) -> Value:
    """Give the dtype that ``torch.tensor`` would take from Python data, as a tensor's."""
    if value.must(Kind.SEQUENCE) and (value.items is not None or value.member is not None):
        return _scalars(value.element())
    if isinstance(value.const, bool):
        return tensor(dtype=Dtype.BOOL)
    if value.must(Kind.INTEGER):
        return tensor(dtype=Dtype.INTEGRAL)
    if isinstance(value.const, float):
        return tensor(dtype=Dtype.FLOATING)
    return tensor(dtype=ANY_DTYPE)


def _function(name: str, word: str, given: Arguments, mode: Mode) -> Value | None:
    table = operations()
    if name in table.no_tensor:
        return of_kind(table.no_tensor[name])
    if name in _COMPILING:
        return given.find(0, "model", "obj", "func", "mod")
    if name == "torch.detach":
        return detached(given.tensors()).having(kind=Kind.TENSOR, names=frozenset(), instance=frozenset())
    if name == "torch.is_grad_enabled" or name.startswith(("torch.cuda.is_", "torch.backends.")):
        return of_kind(Kind.SCALAR)
    if name in ("torch.cuda.device_count", "torch.cuda.current_device", "torch.get_num_threads"):
        return of_kind(Kind.INTEGER)
    if name == "torch.nn.utils.clip_grad_norm_":
        return tensor(Grad.DETACHED, given.tensors().place or ANY_PLACE, rank=0)
    if name.startswith(("torch.cuda.get_rng_state", "torch.random.get_rng_state")):
        state = tensor(Grad.DETACHED, Place.HOST, Dtype.INTEGRAL)
        return of_kind(Kind.SEQUENCE, member=state) if name.endswith("_all") else state
    if name in ("torch.load", "torch.jit.load", "torch.hub.load"):
        return _loaded(given)
    if name in ("torch.nn.utils.rnn.pack_padded_sequence", "torch.nn.utils.rnn.pack_sequence"):
        return of_kind(Kind.OTHER, instance=frozenset({"torch.nn.utils.rnn.PackedSequence"}))
    if name == "torch.nn.utils.rnn.pad_packed_sequence":
        lengths = tensor(Grad.DETACHED, Place.HOST, Dtype.INTEGRAL)
        return of_kind(Kind.SEQUENCE, items=(tensor(), lengths))
    if name == "torch.autograd.grad":
        grad = Grad.UNKNOWN | Grad.DETACHED if "create_graph" in given.keywords else Grad.DETACHED
        return of_kind(Kind.SEQUENCE, member=tensor(grad, given.tensors().place or Place.HOST))
    if not table.knows(name) and not name.startswith(("torch.nn.functional.", "torch.nn.utils.rnn.", "torch.fft.")):
        return None
    return _operation(name, word, given, mode)


def _loaded(given: Arguments) -> Value:
    where = given.find(1, "map_location")
    if where is None:
        return UNKNOWN
    place, why = place_of(where, given.node)
    return UNKNOWN.having(place=place, why_place=why)


def _operation(name: str, word: str, given: Arguments, mode: Mode) -> Value:
    table = operations()
    inputs = given.operands() if word not in _APART and "scatter" not in word else given.tensors()
    if word == "where" and not all(each.is_tensor for each in given.shifted().every()):
        inputs = inputs.having(dtype=ANY_DTYPE)
    if name in table.never:
        result = tensor(Grad.DETACHED, inputs.place or Place.HOST, never_dtype(name), why_place=inputs.why_place)
        return result.having(rank=0) if word in FULL_REDUCTIONS and len(given.every()) == 1 else result
    if name in table.keeps_grad and _hands_on(word, given):
        result = inputs.having(kind=Kind.TENSOR, names=frozenset(), instance=frozenset(), rank=None, const=None)
        if word in MAY_COPY and mode & Mode.OFF:
            result = result.having(grad=result.grad | Grad.DETACHED)
        if word.startswith("view_as"):
            result = result.having(exact=None)
    else:
        result = computed(inputs, mode, given.node)
        result = result.having(dtype=result_dtype(word, result.dtype))
    if (dtype_given := given.keywords.get("dtype")) is not None and (cast := dtype_name(dtype_given)):
        result = with_dtype(result, cast)
    if word in PAIRS or (word in PAIRS_WITH_DIM and len(given.every()) > 1 and not _elementwise(given)):
        return pair(result, table.partial.get(name, ()))
    if (asked := with_indices(result, given)) is not None:
        return asked
    if word.startswith("atleast_"):
        return of_kind(Kind.SEQUENCE, member=result) if len(given.positional) > 1 else result
    if word in UNLIKE:
        return of_kind(Kind.SEQUENCE, member=unlike(result))
    if word == "where" and len(given.every()) == 1:
        return of_kind(Kind.SEQUENCE, member=detached(result).having(dtype=Dtype.INTEGRAL, exact=None))
    if word in SEVERAL:
        return of_kind(Kind.SEQUENCE, member=result)
    if word in LOSSES and ".functional." in name:
        return result.having(rank=None if given.keywords.keys() & {"reduction", "reduce", "size_average"} else 0)
    if word in FULL_REDUCTIONS and len(given.every()) == 1:
        return result.having(rank=0)
    return result


def _hands_on(word: str, given: Arguments) -> bool:
    """Whether a function that can give its argument itself back, or a view of it, does so here."""
    if word in _WITH_INPLACE:
        return "inplace" in given.keywords
    if word in ("einsum", "tensordot", "cartesian_prod"):
        return sum(each.may(Kind.TENSOR) for each in given.every()) < 2
    if "dropout" not in word:
        return True
    training = given.find(2, "training")
    return training.const is not True if training is not None else "alpha" in word  # the default of those is False


def _elementwise(given: Arguments) -> bool:
    """``torch.max(a, b)`` of two tensors is a tensor; ``torch.max(a, 1)`` is a pair."""
    return len(given.positional) > 1 and given.positional[1].may(Kind.TENSOR) and not given.positional[1].unknown


def attribute(name: str) -> Value | None:
    """Give what a dotted name of torch stands for where it is no function: a dtype, a constant."""
    if name.startswith("torch.") and name.count(".") == 1 and leaf(name) in DTYPES:
        return of_kind(Kind.DTYPE, names=frozenset((name,)))
    if name in ("numpy.pi", "math.pi", "numpy.inf", "math.inf", "numpy.nan", "math.nan", "math.e", "numpy.e"):
        return of_kind(Kind.SCALAR)
    return None
