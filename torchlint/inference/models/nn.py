"""What is known of ``nn.Module`` objects and other objects of torch's own classes: made, moved, called, asked."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from functools import lru_cache

from torchlint.facts.value import (
    ABSENT,
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
from torchlint.inference.lattice import any_element, join_all
from torchlint.inference.models import libraries
from torchlint.inference.models.call_arguments import Arguments, reduces, stated_reduction
from torchlint.inference.models.data_parallel import WRAPPING, wrapped, wrapper
from torchlint.inference.models.devices import place_of
from torchlint.inference.models.operations import leaf
from torchlint.inference.models.tables import Call, Effect, functions, words
from torchlint.inference.models.tensors import computed, detached, to

_CLASSES = """
torch.nn.* torchvision.models.* torchaudio.transforms.*                -> module
torch.nn.*Loss                                                         -> loss
torch.nn.Sequential                                                    -> sequential
torch.nn.DataParallel torch.nn.parallel.*DataParallel                  -> wrapper
torch.nn.ModuleList torch.nn.ModuleDict                                -> module_holder
torch.nn.ParameterList torch.nn.ParameterDict                          -> parameter_holder
torch.optim.* torch.quasirandom.* torch.utils.tensorboard.*            -> plain_object
torch.cuda.* torch.multiprocessing.*                                   -> plain_object
torch.distributions.*                                                  -> distribution_object
torch.utils.data.* torchvision.datasets.*                              -> source_of_batches
torch.utils.data.TensorDataset torch.utils.data.dataset.TensorDataset  -> source_of_rows
"""
"""What calling a class makes, by its full name."""

_FORWARD = """
Identity Dropout Dropout[0-9]d AlphaDropout FeatureAlphaDropout Flatten            -> passed
ReLU ReLU6 LeakyReLU ELU CELU SELU GELU SiLU GLU Mish Sigmoid LogSigmoid Tanh      -> pure
Hardtanh Hardsigmoid Hardswish Threshold Softplus Softsign                         -> pure
Softmax Softmax2d Softmin LogSoftmax                                               -> pure
*Pool *Pool[0-9]d *Pooling *Pooling[0-9]d *Pad[0-9]d Upsample* PixelShuffle        -> pure
Fold Unfold Unflatten ChannelShuffle CosineSimilarity PairwiseDistance *Loss       -> pure
MultiheadAttention                                                                 -> attention
"""
"""What calling a module does, by the last word of its class; others have parameters that take part."""

WITHOUT_PARAMETERS = ("torchaudio.transforms.",)
"""Where libraries keep modules that have buffers and no parameters."""

MAYBE_FROZEN = Grad(Grad.DETACHED | Grad.UNKNOWN)
"""What a module is whose parameters may have been asked not to require grad."""
SOME_LIVE = Grad(Grad.ATTACHED | Grad.UNKNOWN)
"""What is asked of a module where some of its parameters go on requiring grad, or may come to."""

_RECURRENT = words("LSTM GRU RNN")
NUMBERS = words(
    "in_features out_features in_channels out_channels num_embeddings embedding_dim num_features num_layers "
    "hidden_size input_size num_heads embed_dim groups"
)
"""Attributes of torch's modules that are plain numbers: what has one is no tensor, and no output of a module."""

_METHODS = """
parameters                                                             -> parameter_list
named_parameters                                                       -> named_parameters
buffers                                                                -> buffers
named_buffers                                                          -> named_buffers
state_dict                                                             -> state
get_parameter                                                          -> given_parameter
get_buffer                                                             -> given_buffer
get_submodule                                                          -> submodule
modules children                                                       -> modules
named_modules named_children                                           -> named_modules
cpu                                                                    -> on_host
cuda xpu                                                               -> on_accelerator
to                                                                     -> moved
requires_grad_                                                         -> asked_for_grad
float half double bfloat16 train eval apply                            -> itself
zero_grad load_state_dict register_buffer register_parameter add_module -> none|other
"""

GIVING_ITSELF = words("to cuda xpu cpu float half double bfloat16 train eval requires_grad_ apply")
"""Methods of modules that give the module itself."""

_ATTRIBUTES = """
weight bias weight_* bias_* -> parameter
running_mean running_var    -> statistic
training                    -> scalar
"""

_NETWORK = (
    r"model|net|network|encoder|decoder|critic|actor|policy|generator|discriminator|classifier|backbone|netg|netd|"
    r"module|resnet\d*|bert|gan|vae|autoencoder|unet|detector|segmentor|learner|transformer"
)
MODEL_WORD = re.compile(
    rf"(^|_)({_NETWORK}|qnet|embedder|rnn|lstm|cnn|mlp|embedding|embeddings|fc\d*|conv\d*|linear\d*|layer\d*|head|"
    r"criterion|loss_fn|loss_func|loss_function)$",
    re.IGNORECASE,
)
MAKER_WORD = re.compile(
    rf"^_?(build|create|make|load|init|initiali[sz]e|define|construct|instantiate|restore|setup|new|get)_(\w+_)?({_NETWORK})$",
    re.IGNORECASE,
)
"""Names of functions that make a network; what it computes does not come from them."""
_LOADER_WORD = re.compile(
    r"(^|_)(data_?)?(loader|dataloader|dataset|loaders|dl|trainset|testset|data_iter|train_iter|test_iter)\d*$",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def names_a_loader(word: str) -> bool:
    """Whether a word names a data set, or what gives its samples in batches."""
    return _LOADER_WORD.search(word) is not None


# ---------------------------------------------------------------------- making
def made(name: str, given: Arguments) -> Value | None:
    """Return the object that calling one of torch's classes makes; None for other names."""
    is_class = leaf(name)[:1].isupper() or name.startswith("torchvision.models.")
    if not is_class or name.endswith(("Tensor", "Parameter")) or name.startswith("torch.nn.functional."):
        return None
    effect = _CLASS_TABLE.find(name)
    return effect(Call(name, given, Mode.ON)) if effect is not None else None


def _module(call: Call) -> Value:
    place, why = Device.HOST, None
    if (device := call.given.keywords.get("device")) is not None:
        place, why = place_of(device, call.given.node)
    return Value(Kind.MODULE, Grad.ATTACHED, place, Dtype(0), why_device=why, instance=frozenset((call.name,)))


def _loss(call: Call) -> Value:
    """Return a loss, with how it reduces where that is said."""
    said = stated_reduction(call.given)
    return _module(call) if said is None else _module(call).having(keys=(("reduction", said),))


def _sequential(call: Call) -> Value:
    return _module(call).having(items=None if call.given.starred else tuple(call.given.positional))


def _module_holder(call: Call) -> Value:
    held = call.given.positional[:1]
    return _module(call).having(member=any_element(held[0]) if held else None)


def _parameter_holder(call: Call) -> Value:
    """Return a list of parameters; plain tensors become parameters that require grad."""
    held = call.given.find(0, "values", "parameters")
    if held is None or not held.must(Kind.SEQUENCE):
        return _module(call)
    items = tuple(map(_as_parameter, held.items)) if held.items is not None else None
    member = _as_parameter(any_element(held)) if items is None else None
    placed = join_all(items) if items is not None else member or UNKNOWN
    place, why = (placed.device, placed.why_device) if placed.is_tensor else (Device.HOST, None)
    return _module(call).having(items=items, member=member, device=place, why_device=why)


def _as_parameter(value: Value) -> Value:
    if not value.is_tensor:
        return value
    made = value.having(instance=frozenset({"torch.nn.Parameter"}), rank=None, names=frozenset())
    if "torch.nn.Parameter" in value.instance:
        return made
    return made.having(grad=Grad.ATTACHED, why_grad=Reason("it is a parameter of a module", of_module=True))


def _plain_object(call: Call) -> Value:
    return of_kind(Kind.OTHER, instance=frozenset((call.name,)))


def _distribution_object(call: Call) -> Value:
    return _plain_object(call).having(member=call.given.operands())


def _source_of_batches(call: Call) -> Value:
    return _plain_object(call).having(member=host_batch())


def _source_of_rows(call: Call) -> Value:
    return _plain_object(call).having(member=of_kind(Kind.SEQUENCE, items=call.given.positional))


_OF_BATCHES = Kind.TENSOR | Kind.SEQUENCE | Kind.STRING | Kind.OTHER | Kind.ARRAY


def host_batch() -> Value:
    """Return what a DataLoader yields: tensors on the host, or containers of them."""
    return Value(_OF_BATCHES, Grad.DETACHED, Device.HOST, member=Value(_OF_BATCHES, Grad.DETACHED, Device.HOST))


def batch_of(value: Value, depth: int = 4) -> Value:
    """Return what a DataLoader yields of what its data set, or the function that makes batches, gives.

    Nothing is presumed to be on an accelerator or to require grad, but what is shown to be so.
    """
    if not depth or (value.unknown and value.items is None and value.member is None):
        plain = host_batch()
        return plain.having(**_shown(value)) if value.kind else plain
    facts = {"kind": value.kind | _OF_BATCHES, **_shown(value), "rank": None, "const": None}
    return value.with_parts(lambda each: batch_of(each, depth - 1), **facts)


def _shown(value: Value) -> dict[str, object]:
    grad, device = value.grad & Grad.ATTACHED, value.device & Device.ACCELERATOR
    return {
        "grad": grad | (value.grad & Grad.DETACHED) or Grad.DETACHED,
        "device": device if value.is_tensor and value.device == Device.ACCELERATOR else device | Device.HOST,
        "dtype": value.dtype or ANY_DTYPE,
    }


# ---------------------------------------------------------------------- what a module has
def parameters(module: Value, reason: Reason | None = None) -> Value:
    """Return one parameter of a module."""
    grad = module.grad if module.grad & Grad.DETACHED and module.must(Kind.MODULE) else Grad.ATTACHED
    place = module.device if module.must(Kind.MODULE) else ANY_DEVICE
    return tensor(
        grad,
        place or ANY_DEVICE,
        Dtype.FLOATING,
        instance=frozenset({"torch.nn.Parameter"}),
        why_grad=reason or Reason("it is a parameter of a module", weak=not module.instance, of_module=True),
        why_device=module.why_device,
    )


def attribute(module: Value, name: str, node: ast.AST) -> Value | None:
    """Return ``module.name`` for what modules of torch have; None for other names."""
    if name == "module" and (inner := wrapped(module)) is not None:
        return inner
    effect = _ATTRIBUTE_TABLE.find(name)
    return effect(Call(name, Arguments(node), Mode.ON, module)) if effect is not None else None


def method(module: Value, name: str, given: Arguments, mode: Mode) -> Value | None:
    """Return ``module.name(...)`` for what every ``nn.Module`` has; None for other names."""
    effect = _METHOD_TABLE.find(name)
    return effect(Call(name, given, mode, module)) if effect is not None else None


def _parameter(call: Call) -> Value:
    part, is_norm = parameters(call.receiver), any("Norm" in each for each in call.receiver.instance)
    return part if call.name.startswith("weight") and not is_norm else part.having(claimed=ABSENT)


def _statistic(call: Call) -> Value:
    return detached(_parameter(call))


def _given_parameter(call: Call) -> Value:
    return parameters(call.receiver, Reason("{code} gives parameters", call.given.node, of_module=True))


def _given_buffer(call: Call) -> Value:
    return detached(_given_parameter(call)).having(instance=frozenset(), dtype=ANY_DTYPE)


def _submodule(call: Call) -> Value:
    return Value(Kind.MODULE, parameters(call.receiver).grad, call.receiver.device or ANY_DEVICE)


def _parameter_list(call: Call) -> Value:
    return of_kind(Kind.SEQUENCE, member=_given_parameter(call))


def _named_parameters(call: Call) -> Value:
    return _named(_given_parameter(call))


def _buffers(call: Call) -> Value:
    return of_kind(Kind.SEQUENCE, member=_given_buffer(call))


def _named_buffers(call: Call) -> Value:
    return _named(_given_buffer(call))


def _state(call: Call) -> Value:
    return _parameter_list(call) if call.given.says("keep_vars") is True else _buffers(call)


def _modules(call: Call) -> Value:
    return of_kind(Kind.SEQUENCE, member=_submodule(call))


def _named_modules(call: Call) -> Value:
    return _named(_submodule(call))


def _named(value: Value) -> Value:
    return of_kind(Kind.SEQUENCE, member=of_kind(Kind.SEQUENCE, items=(of_kind(Kind.STRING), value)))


def is_part(value: Value) -> bool:
    """Whether a value, set as an attribute of a module, is surely a part of it that may have a gradient."""
    return value.must(Kind.MODULE) or "torch.nn.Parameter" in value.instance


def may_have_parameters(value: Value) -> bool:
    """Whether what a module is given may bring parameters with it: no ``nn.ReLU()`` does, and nothing but a module."""
    if not value.may(Kind.MODULE):
        return is_part(value)
    return not value.instance or any(_FORWARD_TABLE.find(leaf(each)) not in (_passed, _pure) for each in value.instance)


def is_torchs(module: Value) -> bool:
    """Whether a module is of torch's own classes alone."""
    return bool(module.instance) and all(each.startswith("torch.nn.") for each in module.instance)


def holds_in_order(module: Value) -> bool:
    """Whether a module is one of torch's own that hold their parts one after the other."""
    return bool(_kinds(module)) and _kinds(module) <= {"Sequential", "ModuleList"}


# ---------------------------------------------------------------------- methods that change a module in place
def _itself(call: Call) -> Value:
    return call.receiver


def _on_host(call: Call) -> Value:
    return call.receiver.having(device=Device.HOST, why_device=None)


def _on_accelerator(call: Call) -> Value:
    why = Reason("{code} moves it to an accelerator", call.given.node)
    return call.receiver.having(device=Device.ACCELERATOR, why_device=why)


def _moved(call: Call) -> Value:
    after = to(replace(call, receiver=call.receiver.having(dtype=Dtype.FLOATING)))
    return call.receiver.having(device=after.device, why_device=after.why_device)


def _asked_for_grad(call: Call) -> Value:
    wanted = call.given.find(0, "requires_grad")
    if wanted is None or wanted.const is True:
        return asked_for_grad(call.receiver, Grad.ATTACHED)
    return asked_for_grad(call.receiver, Grad.DETACHED if wanted.const is False else MAYBE_FROZEN)


def after_asking(value: Value, grad: Grad) -> Grad:
    """Return whether a module or a parameter may require grad after it was asked."""
    live = Grad.ATTACHED if is_torchs(value) or value.is_tensor else SOME_LIVE
    return (value.grad | live if grad == SOME_LIVE else live) if grad & Grad.ATTACHED else grad


def asked_for_grad(module: Value, grad: Grad) -> Value:
    """Return a module after all of its parameters, and those of what it holds, were asked to require grad or not to."""

    def asked(held: Value) -> Value:
        return asked_for_grad(held, grad) if held.must(Kind.MODULE) else held

    items, member = module.items, module.member
    return module.having(
        grad=after_asking(module, grad),
        items=items if items is None else tuple(map(asked, items)),
        member=member if member is None else asked(member),
    )


# ---------------------------------------------------------------------- calling
def called(module: Value, given: Arguments, mode: Mode) -> Value:
    """Return the result of calling a module."""
    kinds = _kinds(module)
    call = Call("forward", given, mode, module)
    if module.instance and all(each.startswith(WITHOUT_PARAMETERS) for each in module.instance):
        return _pure(call)
    if not kinds:
        return _with_parameters(call)
    alike: dict[Effect, set[str]] = {}
    for each in sorted(module.instance):
        alike.setdefault(_FORWARD_TABLE.find(leaf(each)) or _with_parameters, set()).add(each)
    some = ((effect, module.having(instance=frozenset(names))) for effect, names in alike.items())
    return join_all(effect(replace(call, receiver=each)) or UNKNOWN for effect, each in some)


def run_in_turn(module: Value) -> tuple[Value, ...]:
    """Return what a ``Sequential`` calls, each where that is; nothing of other modules, or if a part is not known."""
    parts = module.items if _kinds(module) == {"Sequential"} else None
    if not parts or not all(each.must(Kind.MODULE) or libraries.is_transform(each) for each in parts):
        return ()
    where = {"device": module.device, "why_device": module.why_device}
    return tuple(each.having(**where) if each.must(Kind.MODULE) else each for each in parts)


def placed(result: Value, module: Value, given: Arguments) -> Value:
    """Put what a module's ``forward`` returns where the module or its input was moved, if nothing shows where it is."""
    if not result.device & Device.UNKNOWN or result.device & Device.ACCELERATOR:
        return result
    device, why = _output_place(module, given.tensors(), given.node)
    if not device & Device.ACCELERATOR:
        return result
    return result.having(device=result.device | Device.ACCELERATOR, why_device=why)


def _kinds(module: Value) -> set[str]:
    return {leaf(each) for each in module.instance}


def _passed(call: Call) -> Value:
    copied = Grad.DETACHED if "Flatten" in _kinds(call.receiver) and call.mode & Mode.OFF else Grad(0)
    passed = call.given.tensors()
    return passed.having(rank=None, grad=passed.grad | copied)


def _pure(call: Call) -> Value:
    """Return what a module without parameters computes."""
    result = computed(call.given.operands(), call.mode)
    is_loss = all(kind.endswith("Loss") for kind in _kinds(call.receiver))
    return result.having(rank=0) if is_loss and reduces(dict(call.receiver.keys).get("reduction")) else result


def _attention(call: Call) -> Value:
    result, is_asked = _output(call), call.given.says("need_weights") in (None, True)
    return of_kind(Kind.SEQUENCE, items=(result, result if is_asked else result.having(claimed=ABSENT)))


def _with_parameters(call: Call) -> Value:
    result, kinds = _output(call), _kinds(call.receiver)
    if not is_torchs(call.receiver) or call.receiver.instance & WRAPPING:
        return result.having(kind=Kind.TENSOR | Kind.SEQUENCE | (Kind(0) if kinds else Kind.OTHER))
    return _recurrent(result, kinds) if kinds & _RECURRENT else result


def _recurrent(result: Value, kinds: set[str]) -> Value:
    """Return the output of a recurrent module and its state, which of an LSTM is a pair."""
    state = of_kind(Kind.SEQUENCE, items=(result, result)) if kinds == {"LSTM"} else result
    if len(kinds) > 1:
        state = result.having(kind=Kind.TENSOR | Kind.SEQUENCE, member=result)
    return of_kind(Kind.SEQUENCE, items=(result, state))


def _output(call: Call) -> Value:
    module, inputs = call.receiver, call.given.tensors()
    device, why_device = _output_place(module, inputs, call.given.node)
    result = tensor(Grad.DETACHED, device, Dtype.FLOATING, why_device=why_device)
    if not call.mode & Mode.ON:
        return result.having(dtype=Dtype.FLOATING | Dtype.INTEGRAL)
    if module.grad == Grad.DETACHED and not inputs.may_require_grad:
        return result
    named = not module.instance
    text = "{code} is the output of a module with parameters" + (", by its name" if named else "")
    weak = named or libraries.is_loaded(module)
    is_open = bool(module.grad & Grad.DETACHED) and inputs.grad != Grad.ATTACHED
    grad = module.grad | inputs.grad if is_open else Grad.ATTACHED
    why = Reason(text, call.given.node, weak=weak, named=named, of_module=True, perhaps_frozen=is_open)
    return result.having(grad=grad | (Grad.DETACHED if call.mode & Mode.OFF else Grad(0)), why_grad=why)


def _output_place(module: Value, inputs: Value, node: ast.AST) -> tuple[Device, Reason | None]:
    """Return where a module's output is: where the module is, and its inputs are or they could not meet.

    A module that is given what is on the host is there itself, as most are written, or moves what it is given.
    """
    device = module.device or ANY_DEVICE
    if inputs.is_tensor and inputs.device == Device.HOST and device & Device.HOST and device != Device.HOST:
        return device, Reason("{code} is given what is on the host", node, module.why_device, weak=True, aside=True)
    if module.device & Device.ACCELERATOR:
        return device, Reason("{code} is computed where the module is", node, module.why_device, weak=True)
    if inputs.device & Device.ACCELERATOR:
        why = Reason("{code} is computed where its input is", node, inputs.why_device, weak=True)
        return device | Device.ACCELERATOR, why
    if device == Device.HOST:
        return device, module.why_device
    return device, module.why_device or Reason("nothing shows that {code} is on the host", node)


_CLASS_TABLE = functions(
    _CLASSES,
    [
        *(_module, _loss, _sequential, wrapper, _module_holder, _parameter_holder, _plain_object),
        *(_distribution_object, _source_of_batches, _source_of_rows),
    ],
)
_FORWARD_TABLE = functions(_FORWARD, [_passed, _pure, _attention])
_METHOD_TABLE = functions(
    _METHODS,
    [
        *(_parameter_list, _named_parameters, _buffers, _named_buffers, _state, _modules, _named_modules),
        *(_itself, _on_host, _on_accelerator, _moved, _asked_for_grad, _given_parameter, _given_buffer, _submodule),
    ],
)
_ATTRIBUTE_TABLE = functions(_ATTRIBUTES, [_parameter, _statistic])
