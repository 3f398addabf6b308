"""What calling a function gives, by its full name: torch's own here, those of others in their tables."""

from __future__ import annotations

import ast

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
from torchlint.inference.lattice import any_element
from torchlint.inference.models import builtins, factories, grad_mode, libraries, nn
from torchlint.inference.models.call_arguments import Arguments, reduces, stated_reduction
from torchlint.inference.models.devices import DTYPES, device_value, place_of
from torchlint.inference.models.distributions import distribution
from torchlint.inference.models.dtypes import never_dtype, result_dtype, with_indices
from torchlint.inference.models.operations import (
    FULL_REDUCTIONS,
    LOSSES,
    MAY_COPY,
    PAIRS,
    PAIRS_WITH_DIM,
    SEVERAL,
    UNLIKE,
    leaf,
    operations,
    scalar_arguments,
)
from torchlint.inference.models.tables import Call, Effect, functions, words
from torchlint.inference.models.tensors import computed, detached, dtype_name, pair, unlike, with_dtype

_FUNCTIONS = """
torch.device                                                              -> device
torch.cuda.is_available                                                   -> availability
torch.is_grad_enabled torch.cuda.is_* torch.backends.*                    -> scalar
torch.cuda.device_count torch.cuda.current_device torch.get_num_threads   -> integer

torch.Tensor torch.cuda.Tensor *.FloatTensor *.DoubleTensor *.HalfTensor  -> legacy_constructor
*.BFloat16Tensor *.LongTensor *.IntTensor *.ShortTensor *.CharTensor      -> legacy_constructor
*.ByteTensor *.BoolTensor                                                 -> legacy_constructor
*Storage                                                                  -> other
torch.autograd.Variable torch.Variable                                    -> variable
torch.nn.Parameter                                                        -> parameter
torch.from_numpy                                                          -> from_array
torch.as_tensor torch.asarray torch.from_dlpack                           -> alias
torch.tensor                                                              -> of_data
torch.scalar_tensor                                                       -> of_number
torch.arange                                                              -> of_bounds
torch.full                                                                -> filled
torch.randint torch.randperm torch.tril_indices torch.triu_indices        -> integers
torch.empty_like torch.full_like torch.ones_like torch.zeros_like         -> factory_like
torch.rand_like torch.randn_like torch.randint_like                       -> factory_like
torch.cuda.get_rng_state torch.random.get_rng_state                       -> rng_state
torch.cuda.get_rng_state_all                                              -> rng_states

torch.vmap torch.func.vmap functorch.vmap                                 -> mapped
torch.func.functional_call torch.nn.utils.stateless.functional_call       -> called_with
torch.serialization.default_restore_location                              -> restored
torch.compile torch.jit.script torch.jit.trace torch.jit.freeze           -> same_module
torch.load torch.jit.load torch.hub.load                                  -> loaded
torch.detach                                                              -> cut_off
torch.autograd.grad                                                       -> gradients
torch.nn.utils.clip_grad_norm_                                            -> total_norm
torch.nn.utils.rnn.pack_padded_sequence torch.nn.utils.rnn.pack_sequence  -> packed
torch.nn.utils.rnn.pad_packed_sequence                                    -> padded
"""
"""Functions of torch of which more is known than what ``operations.json`` says."""

_OPERATIONS = ("torch.nn.functional.", "torch.nn.utils.rnn.", "torch.fft.")
"""Modules of torch that hold operations on tensors, measured or not."""

_APART = words("broadcast_tensors meshgrid atleast_1d atleast_2d atleast_3d hinge_embedding_loss")
"""Functions of which not every argument has a part in the gradient of the result."""

WITH_INPLACE = words("celu elu hardsigmoid hardswish hardtanh leaky_relu mish relu relu6 selu silu threshold")
"""Functions that give the argument itself back only where ``inplace=True`` says so."""


def call(name: str, given: Arguments, mode: Mode) -> Value | None:
    """Return the result of calling a thing by its full name; None where nothing is known of it."""
    if (made := nn.made(name, given)) is not None:
        return made
    asked = Call(name, given, mode)
    if (context := grad_mode.context(asked)) is not None:
        return context
    effect = _PACKAGES.get(name.partition(".")[0], libraries.effect)(name)
    return effect(asked) if effect is not None else None


def of_instance(base: Value, word: str, node: ast.AST) -> Value | None:
    """Return an attribute of an object of a library's class; None for other objects."""
    if any(name.startswith("torch.distributions.") for name in base.instance):
        return distribution(base, word, Arguments(node), Mode.ON) or UNKNOWN
    return libraries.attribute(base, word)


def attribute(name: str) -> Value | None:
    """Return what a dotted name stands for where it is no function: a dtype, a constant."""
    if name.startswith("torch.") and name.count(".") == 1 and leaf(name) in DTYPES:
        return of_kind(Kind.DTYPE, names=frozenset((name,)))
    return of_kind(Kind.SCALAR) if name in libraries.CONSTANTS else None


def _torch(name: str) -> Effect | None:
    """Return what one of torch's functions does: by its row, or as it was measured."""
    measured = operations()
    if (effect := _TABLE.find(name)) is not None:
        return effect
    if name in measured.factories:
        return factories.floats
    if name in measured.no_tensor:
        return lambda call: of_kind(measured.no_tensor[call.name])
    return _operation if measured.knows(name) or name.startswith(_OPERATIONS) else None


# ---------------------------------------------------------------------- functions with a meaning of their own
def _device(call: Call) -> Value:
    return device_value(call.given.find(0, "device", "type"), call.given.node)


def _availability(_: Call) -> Value:
    return of_kind(Kind.SCALAR, tells_cuda=True)


def _same_module(call: Call) -> Value | None:
    return call.given.find(0, "model", "obj", "func", "mod")


def _cut_off(call: Call) -> Value:
    return detached(call.given.tensors()).having(kind=Kind.TENSOR, names=frozenset(), instance=frozenset())


def _total_norm(call: Call) -> Value:
    return tensor(Grad.DETACHED, call.given.tensors().device or ANY_DEVICE, rank=0)


def _rng_state(_: Call) -> Value:
    return tensor(Grad.DETACHED, Device.HOST, Dtype.INTEGRAL)


def _rng_states(call: Call) -> Value:
    return of_kind(Kind.SEQUENCE, member=_rng_state(call))


def _loaded(call: Call) -> Value:
    where = call.given.find(1, "map_location")
    if where is None:
        return UNKNOWN
    place, why = place_of(where, call.given.node)
    return UNKNOWN.having(device=place, why_device=why)


MAPPED = "torch.vmap"


def _mapped(call: Call) -> Value:
    return of_kind(Kind.OTHER, instance=frozenset((MAPPED,)), items=call.given.positional[:1])


def _called_with(call: Call) -> Value | None:
    """Return the output of a module that is lent other parameters, or some of them."""
    module, lent, inputs = (call.given.find(at, name) for at, name in enumerate(_LENDING))
    if module is None or lent is None or not module.must(Kind.MODULE):
        return None
    held = any_element(lent) if lent.may(Kind.SEQUENCE) else UNKNOWN
    own = Grad.UNKNOWN if held.grad == Grad.DETACHED else Grad.ATTACHED  # most lend all of them
    grad = held.grad | (own if module.grad & Grad.ATTACHED else Grad(0))
    module = module.having(grad=grad, device=held.device or module.device, why_device=held.why_device)
    given = UNKNOWN if inputs is None else inputs
    one_by_one = given.items if given.items is not None else (given,)
    return nn.called(module, Arguments(call.given.node, one_by_one), call.mode)


_LENDING = ("module", "parameter_and_buffer_dicts", "args")


def _restored(call: Call) -> Value:
    place, why = place_of(call.given.find(1, "location") or UNKNOWN, call.given.node)
    return tensor(Grad.DETACHED, place, why_device=why)


def _packed(_: Call) -> Value:
    return of_kind(Kind.OTHER, instance=frozenset({"torch.nn.utils.rnn.PackedSequence"}))


def _padded(_: Call) -> Value:
    lengths = tensor(Grad.DETACHED, Device.HOST, Dtype.INTEGRAL)
    return of_kind(Kind.SEQUENCE, items=(tensor(), lengths))


def _gradients(call: Call) -> Value:
    """Return the gradients of ``torch.autograd.grad``: where its inputs are, with a graph only if it is asked for."""
    keeps = call.given.find(4, "create_graph")
    inputs = call.given.find(1, "inputs") or UNKNOWN
    place = inputs if inputs.is_tensor else any_element(inputs)  # a gradient is where that is which it belongs to
    made = tensor(Grad.DETACHED, place.device or Device.HOST).having(why_device=place.why_device)
    outputs = call.given.find(0, "outputs") or UNKNOWN
    live = outputs if outputs.is_tensor else any_element(outputs)
    if keeps is not None and keeps.const is True and live.grad & Grad.ATTACHED:  # not that of a sum: it is constant
        why = Reason("{code} keeps a graph of the gradient itself", call.given.node, live.why_grad)
        made = made.having(grad=Grad.ATTACHED | Grad.DETACHED, why_grad=why)
    elif keeps is not None and keeps.const is not False:
        why = Reason("{code} may keep a graph of the gradient itself", call.given.node)
        made = made.having(grad=Grad.UNKNOWN | Grad.DETACHED, why_grad=why)
    return of_kind(Kind.SEQUENCE, member=made)


# ---------------------------------------------------------------------- operations as they were measured
def _operation(call: Call) -> Value:
    inputs = _inputs(call)
    if call.name in operations().never:
        return _without_grad(call, inputs)
    result = _handed_on(call, inputs) if _hands_on(call) else _computed(call, inputs)
    dtype = call.given.keywords.get("dtype")
    if dtype is not None and (cast := dtype_name(dtype)):
        result = with_dtype(result, cast)
    return _shaped(call, result)


def _inputs(call: Call) -> Value:
    """Return the join of the tensors that an operation is given."""
    if call.word in _APART or "scatter" in call.word:
        return call.given.tensors()
    inputs = call.given.apart_from(*scalar_arguments(call.word)).operands()
    if call.word == "where" and not all(each.is_tensor for each in call.given.shifted().every()):
        return inputs.having(dtype=ANY_DTYPE)
    return inputs


def _without_grad(call: Call, inputs: Value) -> Value:
    result = tensor(Grad.DETACHED, inputs.device or Device.HOST, never_dtype(call.name), why_device=inputs.why_device)
    return _reduced(call, result) if call.word in FULL_REDUCTIONS else result


def _hands_on(call: Call) -> bool:
    """Whether an operation gives its argument itself back, or a view of it."""
    if call.name not in operations().keeps_grad:
        return False
    if call.word in WITH_INPLACE:
        return "inplace" in call.given.keywords
    if call.word in ("einsum", "tensordot", "cartesian_prod"):
        return sum(each.may(Kind.TENSOR) for each in call.given.every()) < 2
    return "dropout" not in call.word or not _drops_out(call)


def _drops_out(call: Call) -> bool:
    training = call.given.find(2, "training")
    return training.const is True if training is not None else "alpha" not in call.word  # these are off by default


def _handed_on(call: Call, inputs: Value) -> Value:
    result = inputs.having(kind=Kind.TENSOR, names=frozenset(), instance=frozenset(), rank=None, const=None)
    if call.word in MAY_COPY and call.mode & Mode.OFF:
        result = result.having(grad=result.grad | Grad.DETACHED)
    return result.having(exact=None) if call.word.startswith("view_as") else result


def _computed(call: Call, inputs: Value) -> Value:
    result = computed(inputs, call.mode)
    return result.having(dtype=result_dtype(call.word, result.dtype))


# ---------------------------------------------------------------------- the form of an operation's result
def _shaped(call: Call, result: Value) -> Value:
    """Return a result in the form in which an operation gives it: one tensor, a pair, any number of them."""
    if call.word in PAIRS or (call.word in PAIRS_WITH_DIM and _has_dim(call)):
        return pair(result, operations().partial.get(call.name, ()))
    if (asked := with_indices(result, call.given)) is not None:
        return asked
    form = _FORMS.get(call.word)
    return form(call, result) if form is not None else result


def _has_dim(call: Call) -> bool:
    """``torch.max(a, b)`` of two tensors is a tensor; ``torch.max(a, 1)`` is a pair."""
    second = call.given.positional[1:2]
    elementwise = bool(second) and second[0].may(Kind.TENSOR) and not second[0].unknown
    return len(call.given.every()) > 1 and not elementwise


def _several(_: Call, result: Value) -> Value:
    return of_kind(Kind.SEQUENCE, member=result)


def _unlike(_: Call, result: Value) -> Value:
    return of_kind(Kind.SEQUENCE, member=unlike(result))


def _one_or_several(call: Call, result: Value) -> Value:
    return _several(call, result) if len(call.given.positional) > 1 else result


def _chosen(call: Call, result: Value) -> Value:
    """Return ``torch.where(condition)``, the indices, or ``torch.where(condition, a, b)``."""
    if len(call.given.every()) != 1:
        return result
    return of_kind(Kind.SEQUENCE, member=detached(result).having(dtype=Dtype.INTEGRAL, exact=None))


def _reduced(call: Call, result: Value) -> Value:
    return result.having(rank=0) if len(call.given.every()) == 1 else result


def _loss(call: Call, result: Value) -> Value:
    if ".functional." not in call.name:
        return result
    return result.having(rank=0 if reduces(stated_reduction(call.given)) else None)


_FORMS = {
    **dict.fromkeys(UNLIKE, _unlike),
    **dict.fromkeys(SEVERAL, _several),
    **dict.fromkeys(LOSSES, _loss),
    **dict.fromkeys(FULL_REDUCTIONS, _reduced),
    **dict.fromkeys(("atleast_1d", "atleast_2d", "atleast_3d"), _one_or_several),
    "where": _chosen,
}

_PACKAGES = {"torch": _torch, "builtins": builtins.effect, "collections": builtins.effect}
"""Where it is looked up what a package's functions do; for others among the libraries."""

_TABLE = functions(
    _FUNCTIONS,
    [
        *(_device, _availability, _same_module, _cut_off, _total_norm, _rng_state, _rng_states, _loaded, _restored),
        *(_mapped, _packed, _padded, _gradients, _called_with),
        *(factories.legacy_constructor, factories.variable, factories.parameter, factories.from_array),
        *(factories.alias, factories.of_data, factories.of_number, factories.of_bounds, factories.filled),
        *(factories.integers, factories.factory_like),
    ],
)
