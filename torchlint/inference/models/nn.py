"""What is known of ``nn.Module`` objects and other objects of torch's own classes: made, moved, called, asked."""

from __future__ import annotations

import re
from functools import lru_cache

from torchlint.inference.arguments import Arguments
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
    of_kind,
    tensor,
)
from torchlint.inference.models.devices import place_of
from torchlint.inference.models.operations import LEGACY_DTYPES, leaf
from torchlint.inference.models.tables import words
from torchlint.inference.models.tensors import computed, detached, to

_WITHOUT_PARAMETERS = re.compile(
    r"(ReLU6?|LeakyReLU|ELU|CELU|SELU|GELU|Sigmoid|Tanh|Softmax(2d|in)?|LogSoftmax|Softplus|Softsign|Hardtanh|SiLU|Mish"
    r"|\w*Pool(ing)?\d?d?|\w*Pad\dd|ZeroPad2d|Upsample\w*|PixelShuffle|Fold|Unfold|\w*Loss|CosineSimilarity|LogSigmoid"
    r"|PairwiseDistance|Threshold|Hardsigmoid|Hardswish|GLU|ChannelShuffle|Unflatten)$"
)
_PASSING = re.compile(r"(Identity|Dropout\dd|Dropout|AlphaDropout|FeatureAlphaDropout|Flatten)$")
_RECURRENT = words("LSTM GRU RNN")

MODEL_WORD = re.compile(
    r"(^|_)(model|net|network|encoder|decoder|critic|actor|policy|generator|discriminator|classifier|backbone|"
    r"netg|netd|module|resnet\d*|bert|gan|vae|autoencoder|qnet|unet|embedder|detector|segmentor|learner|rnn|lstm|cnn|mlp|"
    r"embedding|embeddings|fc\d*|conv\d*|linear\d*|layer\d*|head|transformer|criterion|loss_fn|loss_func|loss_function)$",
    re.IGNORECASE,
)
_LOADER_WORD = re.compile(
    r"(^|_)(data_?)?(loader|dataloader|dataset|loaders|dl|trainset|testset|data_iter|train_iter|test_iter)\d*$",
    re.IGNORECASE,
)
_PLAIN_OBJECTS = (
    "torch.optim.",
    "torch.quasirandom.",
    "torch.utils.tensorboard.",
    "torch.cuda.",
    "torch.multiprocessing.",
)


@lru_cache(maxsize=4096)
def names_a_loader(word: str) -> bool:
    """Whether a word names a data set, or what gives its samples in batches."""
    return _LOADER_WORD.search(word) is not None


def made(name: str, given: Arguments) -> Value | None:
    """Give the object that calling one of torch's classes makes; None for other names."""
    word = leaf(name)
    if word.endswith("Tensor"):
        return None
    if word in LEGACY_DTYPES or (not word[:1].isupper() and not name.startswith("torchvision.models.")):
        return None
    if name.startswith("torch.nn.") and name != "torch.nn.Parameter" and ".functional." not in name:
        return _module(name, given)
    if name.startswith("torchvision.models."):
        return _module(name, given)
    if name.startswith(_PLAIN_OBJECTS):
        return of_kind(Kind.OTHER, instance=frozenset((name,)))
    if name.startswith("torch.distributions."):
        return of_kind(Kind.OTHER, instance=frozenset((name,)), member=given.operands())
    if name == "torch.utils.data.DataLoader":
        return of_kind(Kind.OTHER, instance=frozenset((name,)), member=host_batch())
    if name.startswith("torch.utils.data."):
        return of_kind(Kind.OTHER, instance=frozenset((name,)), member=_dataset_member(name, given))
    if name.startswith(("torchvision.transforms.", "torchvision.datasets.")):
        member = host_batch() if ".datasets." in name else None
        return of_kind(Kind.OTHER, instance=frozenset((name,)), member=member)
    return None


def _module(name: str, given: Arguments) -> Value:
    place, why = Place.HOST, None
    if (device := given.keywords.get("device")) is not None:
        place, why = place_of(device, given.node)
    contents = tuple(given.positional) if name == "torch.nn.Sequential" and not given.starred else None
    member = None
    if name in ("torch.nn.ModuleList", "torch.nn.ModuleDict") and given.positional:
        member = given.positional[0].element()
    return Value(
        Kind.MODULE,
        Grad.ATTACHED,
        place,
        Dtype(0),
        why_place=why,
        instance=frozenset((name,)),
        items=contents,
        member=member,
    )


def _dataset_member(name: str, given: Arguments) -> Value:
    if leaf(name) == "TensorDataset":
        return of_kind(Kind.SEQUENCE, items=given.positional)
    return host_batch()


def host_batch() -> Value:
    """Give what a DataLoader yields: tensors on the host, or containers of them."""
    return Value(
        Kind.TENSOR | Kind.SEQUENCE | Kind.STRING | Kind.OTHER | Kind.ARRAY,
        Grad.DETACHED,
        Place.HOST,
        member=Value(Kind.TENSOR | Kind.SEQUENCE | Kind.OTHER | Kind.ARRAY | Kind.STRING, Grad.DETACHED, Place.HOST),
    )


def parameters(module: Value, reason: Reason | None = None) -> Value:
    """Give one parameter of a module."""
    grad = module.grad if module.grad & Grad.DETACHED and module.must(Kind.MODULE) else Grad.ATTACHED
    place = module.place if module.must(Kind.MODULE) else ANY_PLACE
    return tensor(
        grad,
        place or ANY_PLACE,
        Dtype.FLOATING,
        instance=frozenset({"torch.nn.Parameter"}),
        why_grad=reason or Reason("it is a parameter of a module", weak=not module.instance),
        why_place=module.why_place,
    )


def method(module: Value, name: str, given: Arguments, mode: Mode) -> Value | None:
    """Give the result of ``module.name(...)`` for what every ``nn.Module`` has; None for other names."""
    one = parameters(module, Reason("{code} gives parameters", given.node))
    buffer = detached(one).having(instance=frozenset(), dtype=ANY_DTYPE)
    match name:
        case "parameters":
            return of_kind(Kind.SEQUENCE, member=one)
        case "named_parameters":
            return _pairs(one)
        case "buffers":
            return of_kind(Kind.SEQUENCE, member=buffer)
        case "named_buffers":
            return _pairs(buffer)
        case "state_dict":
            kept = one if given.says("keep_vars") is True else buffer
            return of_kind(Kind.SEQUENCE, member=kept)
        case "cuda" | "to" | "cpu" | "float" | "half" | "double" | "train" | "eval" | "apply" | "requires_grad_":
            return moved(module, name, given, mode)
        case "modules" | "children":
            return of_kind(Kind.SEQUENCE, member=Value(Kind.MODULE, Grad.ATTACHED, module.place or ANY_PLACE))
        case "named_modules" | "named_children":
            return _pairs(Value(Kind.MODULE, Grad.ATTACHED, module.place or ANY_PLACE))
        case "zero_grad" | "load_state_dict" | "register_buffer" | "register_parameter" | "add_module":
            return of_kind(Kind.NONE | Kind.OTHER)
    return None


def _pairs(value: Value) -> Value:
    return of_kind(Kind.SEQUENCE, member=of_kind(Kind.SEQUENCE, items=(of_kind(Kind.STRING), value)))


def moved(module: Value, name: str, given: Arguments, mode: Mode) -> Value:
    """Give a module after ``.to``, ``.cuda`` and their like, which change it in place and hand it back."""
    match name:
        case "cpu":
            return module.having(place=Place.HOST, why_place=None)
        case "cuda":
            why = Reason("{code} moves it to an accelerator", given.node)
            return module.having(place=Place.ACCELERATOR, why_place=why)
        case "to":
            after = to(module.having(dtype=Dtype.FLOATING), given, mode)
            return module.having(place=after.place, why_place=after.why_place)
        case "requires_grad_":
            wanted = given.find(0, "requires_grad")
            if wanted is None or wanted.const is True:
                return module.having(grad=Grad.ATTACHED)
            return module.having(grad=Grad.DETACHED if wanted.const is False else Grad.DETACHED | Grad.UNKNOWN)
    return module


def called(module: Value, given: Arguments, mode: Mode) -> Value:
    """Give the result of calling a module."""
    kinds = {leaf(each) for each in module.instance}
    if kinds == {"Sequential"} and module.items:
        return _through(module, given, mode)
    if kinds and all(_PASSING.match(kind) for kind in kinds):
        copied = Grad.DETACHED if "Flatten" in kinds and mode & Mode.OFF else Grad(0)
        passed = given.tensors()
        return passed.having(rank=None, grad=passed.grad | copied)
    if kinds and all(_WITHOUT_PARAMETERS.match(kind) for kind in kinds):
        result = computed(given.operands(), mode, given.node)
        return result.having(rank=0) if all(kind.endswith("Loss") for kind in kinds) else result
    result = _output(module, given, mode)
    own = all(each.startswith("torch.nn.") for each in module.instance) and bool(kinds)
    if kinds == {"MultiheadAttention"}:
        return of_kind(Kind.SEQUENCE, items=(result, result))
    if own and kinds & _RECURRENT:
        state = of_kind(Kind.SEQUENCE, items=(result, result)) if kinds == {"LSTM"} else result
        if len(kinds) > 1:
            state = result.having(kind=Kind.TENSOR | Kind.SEQUENCE, member=result)
        return of_kind(Kind.SEQUENCE, items=(result, state))
    if own:
        return result
    return result.having(kind=Kind.TENSOR | Kind.SEQUENCE | (Kind(0) if kinds else Kind.OTHER))


def _through(module: Value, given: Arguments, mode: Mode) -> Value:
    """Give what comes out of the last of a ``Sequential``'s modules."""
    value = given.tensors()
    for each in module.items or ():
        if not each.must(Kind.MODULE):
            return _output(module, given, mode)
        placed = each.having(place=module.place, why_place=module.why_place)
        value = called(placed, Arguments(given.node, (value,)), mode)
    return value


def _output(module: Value, given: Arguments, mode: Mode) -> Value:
    place = module.place or ANY_PLACE
    result = tensor(Grad.DETACHED, place, Dtype.FLOATING, why_place=_output_place(module, given))
    if not mode & Mode.ON:
        return result.having(dtype=Dtype.FLOATING | Dtype.INTEGRAL)
    inputs = given.tensors()
    if module.grad == Grad.DETACHED and not inputs.may_require_grad:
        return result
    local = bool(module.instance)
    why = Reason("{code} is the output of a module with parameters", given.node, weak=not local)
    grad = Grad.ATTACHED
    if module.grad & Grad.DETACHED and inputs.grad != Grad.ATTACHED:
        grad = module.grad | inputs.grad
    return result.having(grad=grad | (Grad.DETACHED if mode & Mode.OFF else Grad(0)), why_grad=why)


def _output_place(module: Value, given: Arguments) -> Reason | None:
    if module.place & Place.ACCELERATOR:
        return Reason("{code} is computed where the module is", given.node, module.why_place, weak=True)
    return module.why_place


def distribution(value: Value, name: str, given: Arguments, mode: Mode) -> Value | None:
    """Give the result of a method or attribute of a ``torch.distributions`` object."""
    inner = value.member or UNKNOWN
    if name in ("sample", "sample_n"):
        return tensor(Grad.DETACHED, inner.place or Place.HOST, why_place=inner.why_place)
    if name in ("rsample", "log_prob", "cdf", "icdf"):
        return computed(inner, mode, given.node)
    if name in ("entropy", "mean", "stddev", "variance", "probs", "logits"):  # one of the arguments may not count
        result = computed(inner, mode, given.node)
        return result.having(grad=result.grad | Grad.DETACHED)
    return None
