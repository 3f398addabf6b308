"""Functions of torch of which more is known than was measured: devices, loading, gradients, initialisers, sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from torchlint.models.combined_operands import combined
from torchlint.models.descent import descend, truth_of
from torchlint.models.grad_modes import is_switch
from torchlint.models.operation_sets import words
from torchlint.models.tensor_moves import device_value, place_of
from torchlint.values import abstract as a
from torchlint.values.abstract import NOTHING, Abstract, join, of_kind, tensor, unknown
from torchlint.values.asking import ANY_ELEMENT, CallSite, Path, Presumption
from torchlint.values.references import AnswerRef, LibraryInstanceRef

Row = Callable[[CallSite, Path], Abstract]
PACKED: Final = "torch.nn.utils.rnn.PackedSequence"


def row(name: str) -> Row | None:
    """Return what a function of torch does, by its full name; None where there is no row for it."""
    found = _ROWS.get(name)
    if found is not None:
        return found
    if is_switch(name):
        return lambda site, path: descend(_manager(name, site), path)
    if name in _GIVES:
        return lambda _, path: descend(_GIVES[name], path)
    return _first_argument if name.startswith("torch.nn.init.") else None


def _first_argument(site: CallSite, path: Path) -> Abstract:
    """Return the argument itself: initialisers fill it, ``weight_norm`` and ``jit.script`` hand it on."""
    for word in ("tensor", "module", "obj", "model", "func", "fn"):
        node = site.argument(0, word)
        if node is not None:
            return site.asker.value(node, path, site.context)
    return descend(unknown(a.OF_CALL, site.node), path)


def _manager(name: str, site: CallSite) -> Abstract:
    """Return a manager of grad mode, which remembers the call that made it."""
    return of_kind(a.OTHER, frozenset({LibraryInstanceRef(name, site.node, site.context)}))


def _device(site: CallSite, path: Path) -> Abstract:
    return descend(device_value(site), path)


def _default_device(site: CallSite, path: Path) -> Abstract:
    return descend(site.asker.default_device(site.node, site.context), path)


def _default_dtype(site: CallSite, path: Path) -> Abstract:
    return descend(Abstract(a.DTYPE, 0, 0, site.asker.default_dtype(site.node, site.context), 0), path)


def _random_states(_: CallSite, path: Path) -> Abstract:
    return descend(_RANDOM_STATE, path[1:]) if path else a.A_SEQUENCE


_RANDOM_STATE: Final = tensor(a.SAFE, a.SAFE, a.UINT8, a.RANKS[1])


def _loaded(site: CallSite, path: Path) -> Abstract:
    """Return what was saved: where ``map_location`` says, else where it was; states have no gradient."""
    where = site.value(1, "map_location")
    bits, origin = a.SAFE | a.OF_CALL, site.node
    if where is not None and not where.kind & (a.OTHER | a.NONE):
        bits, chosen = place_of(where, site.node)
        origin = chosen or site.node
    is_proof = not site.asker.presumes(Presumption.USAGE)  # a parameter may have been saved
    held = Abstract(a.ANY, a.SAFE | a.OF_CALL if is_proof else a.SAFE, bits, grad_from=site.node if is_proof else None)
    return descend(held.but(device_from=origin) if bits & ~a.SAFE else held, path)


def _restored(site: CallSite, path: Path) -> Abstract:
    where = site.value(1, "location")
    bits, origin = place_of(where, site.node) if where is not None else (a.SAFE | a.OPTION, site.node)
    return descend(tensor(a.SAFE, bits, device_from=origin), path)


# ---------------------------------------------------------------------- gradients
def _held_by(site: CallSite, position: int, word: str) -> Abstract:
    """Return the tensors that an argument is or holds."""
    node = site.argument(position, word)
    if node is None:
        return tensor()
    value = site.asker.value(node, (), site.context)
    if value.kind & a.TENSOR and value.kind != a.ANY:
        return value
    return join(value, site.asker.value(node, (ANY_ELEMENT,), site.context))


def _gradients(site: CallSite, path: Path) -> Abstract:
    """Return the gradients of ``torch.autograd.grad``: where the inputs are, with a graph where it is asked for."""
    if not path:
        return a.A_SEQUENCE
    inputs, outputs = _held_by(site, 1, "inputs"), _held_by(site, 0, "outputs")
    asked = site.value(4, "create_graph")
    told = False if asked is None else truth_of(asked)
    grad = a.SAFE
    if told is not False:
        live = outputs.grad & (a.SURE | a.MODULE_OUT | a.OPTION | a.OF_MODE | a.OF_MODEL) or a.OPTION
        grad = a.SAFE | (live if told else a.OPTION)
    origin = site.node if grad & ~a.SAFE else None
    made = tensor(grad, inputs.device or a.SAFE, a.FLOATING, grad_from=origin, device_from=inputs.device_from)
    allowed = site.value(5, "allow_unused")
    return descend(join(made, a.NOTHING) if allowed is not None and truth_of(allowed) is not False else made, path[1:])


def _derivatives(site: CallSite, path: Path) -> Abstract:
    """Return ``torch.autograd.functional.jacobian(func, inputs)`` and its like, one or several."""
    inputs = _held_by(site, 1, "inputs")
    asked = site.value(None, "create_graph")
    told = False if asked is None else truth_of(asked)
    grad = a.SAFE if told is False else a.SAFE | a.OPTION if told is None else a.SURE
    origin = site.node if grad & ~a.SAFE else None
    made = tensor(grad, inputs.device or a.SAFE, a.FLOATING, grad_from=origin, device_from=inputs.device_from)
    return descend(made if inputs.kind == a.TENSOR else made.but(kind=a.ANY), path)


def _pair_of_derivatives(site: CallSite, path: Path) -> Abstract:
    """Return ``torch.autograd.functional.vjp(func, inputs)`` and its like: the output and the product."""
    return _derivatives(site, path[1:]) if path else a.A_SEQUENCE


# ---------------------------------------------------------------------- torch.nn.utils
def _norm_of_gradients(site: CallSite, path: Path) -> Abstract:
    parameters = _held_by(site, 0, "parameters")
    made = tensor(
        a.SAFE, parameters.device or a.SAFE | a.OF_CLASS, a.FLOATING, a.RANKS[0], None, parameters.device_from
    )
    return descend(made, path)


def _vector_of_parameters(site: CallSite, path: Path) -> Abstract:
    parameters = _held_by(site, 0, "parameters")
    made = (
        combined(site.asker, [parameters], site.node, site.context, False) if parameters.kind & a.TENSOR else tensor()
    )
    return descend(site.asker.under(made, site.node, site.context).but(rank=a.RANKS[1]), path)


def _first_tensor(site: CallSite) -> Abstract:
    """Return what is computed of the first argument, a tensor or some in a list."""
    operands = [each for each in site.operands() if each.kind & a.TENSOR]
    made = combined(site.asker, operands[:1], site.node, site.context, False)
    return site.asker.under(made, site.node, site.context).but(rank=a.ANY_RANK)


_LENGTHS: Final = tensor(a.SAFE, a.SAFE, a.INT64, a.RANKS[1])


def _padded_sequence(site: CallSite, path: Path) -> Abstract:
    return descend(_first_tensor(site), path)


def _packed_sequence(site: CallSite, path: Path) -> Abstract:
    """Return a packed sequence, whose data requires grad as what was packed does; lengths are on the host."""
    made = _first_tensor(site)
    if not path:
        return made.but(kind=a.OTHER, references=frozenset({LibraryInstanceRef(PACKED, site.node, site.context)}))
    if path[0] in (".batch_sizes", 1):
        return descend(_LENGTHS, path[1:])
    is_data = path[0] in (".data", 0)  # of a named tuple whose last two members, the orders, may be None
    return descend(made if is_data else join(join(made, _LENGTHS), NOTHING), path[1:])


def _unpacked_sequence(site: CallSite, path: Path) -> Abstract:
    """Return a padded tensor and the lengths; a packed sequence has the evidence of its data."""
    if not path:
        return a.A_SEQUENCE
    source = site.value(0, "sequence")
    if source is None or not source.grad | source.device:
        source = unknown(a.OF_CALL, site.node)
    padded = tensor(source.grad, source.device, grad_from=source.grad_from, device_from=source.device_from)
    padded = site.asker.under(padded, site.node, site.context)
    chosen = _LENGTHS if path[0] == 1 else padded if path[0] == 0 else join(padded, _LENGTHS)
    return descend(chosen, path[1:])


_FUNCTIONAL: Final = "torch.autograd.functional."
_ROWS: Final[dict[str, Row]] = {
    "torch.device": _device,
    "torch.get_default_device": _default_device,
    "torch.get_default_dtype": _default_dtype,
    "torch.cuda.get_rng_state_all": _random_states,
    "torch.load": _loaded,
    "torch.serialization.default_restore_location": _restored,
    "torch.autograd.grad": _gradients,
    _FUNCTIONAL + "jacobian": _derivatives,
    _FUNCTIONAL + "hessian": _derivatives,
    **{_FUNCTIONAL + word: _pair_of_derivatives for word in ("vjp", "jvp", "vhp", "hvp")},
    "torch.nn.utils.clip_grad_norm_": _norm_of_gradients,
    "torch.nn.utils.clip_grad_norm": _norm_of_gradients,
    "torch.nn.utils.get_total_norm": _norm_of_gradients,
    "torch.nn.utils.parameters_to_vector": _vector_of_parameters,
    **dict.fromkeys(
        words("""
            torch.nn.utils.weight_norm torch.nn.utils.spectral_norm torch.nn.utils.parametrizations.weight_norm
            torch.nn.utils.parametrizations.spectral_norm torch.nn.utils.remove_weight_norm torch.compile
            torch.nn.utils.parametrizations.orthogonal torch.jit.script torch.jit.trace torch.jit.freeze
            torch.jit.ignore
            torch.jit.export torch.nn.utils.remove_spectral_norm torch.jit.unused torch.jit.optimize_for_inference
            torch.compiler.disable torch._dynamo.disable torch.nn.utils.fusion.fuse_conv_bn_eval
        """),
        _first_argument,
    ),
    "torch.nn.utils.rnn.pad_sequence": _padded_sequence,
    "torch.nn.utils.rnn.unpad_sequence": _padded_sequence,
    "torch.nn.utils.rnn.pack_padded_sequence": _packed_sequence,
    "torch.nn.utils.rnn.pack_sequence": _packed_sequence,
    "torch.nn.utils.rnn.pad_packed_sequence": _unpacked_sequence,
}
_GIVES: Final[dict[str, Abstract]] = {
    **dict.fromkeys(
        words("""
            torch.is_grad_enabled torch.cuda.is_bf16_supported torch.cuda.is_initialized
            torch.backends.mps.is_available torch.backends.mps.is_built torch.backends.cudnn.is_available
            torch.xpu.is_available torch.mps.is_available torch.distributed.is_available torch.jit.is_scripting
            torch.accelerator.is_available torch.distributed.is_initialized torch.jit.is_tracing torch.npu.is_available
            torch.compiler.is_compiling torch.backends.cuda.is_built
        """),
        of_kind(a.SCALAR),
    ),
    "torch.cuda.is_available": of_kind(a.SCALAR, frozenset({AnswerRef("torch.cuda.is_available")})),
    **dict.fromkeys(
        words("""
            torch.cuda.device_count torch.cuda.current_device torch.distributed.get_rank
            torch.distributed.get_world_size
            torch.cuda.memory_allocated torch.cuda.max_memory_allocated torch.cuda.memory_reserved torch.seed
            torch.cuda.max_memory_reserved torch.mps.current_allocated_memory torch.xpu.device_count
        """),
        a.AN_INTEGER,
    ),
    **dict.fromkeys(
        words("""
            torch.cuda.set_device torch.cuda.synchronize torch.cuda.empty_cache torch.cuda.manual_seed torch.save
            torch.cuda.manual_seed_all torch.set_default_device torch.set_default_dtype torch.set_default_tensor_type
            torch.set_printoptions torch.set_num_threads torch.use_deterministic_algorithms torch.set_rng_state
            torch.autograd.backward torch.cuda.reset_peak_memory_stats torch.set_float32_matmul_precision
            torch.distributed.barrier torch.distributed.init_process_group torch.distributed.destroy_process_group
            torch.nn.utils.clip_grad_value_ torch.nn.utils.vector_to_parameters torch.cuda.set_rng_state
        """),
        a.NOTHING,
    ),
    **dict.fromkeys(words("torch.manual_seed torch.random.manual_seed torch.Generator"), a.A_THING),
    **dict.fromkeys(words("torch.cuda.get_rng_state torch.random.get_rng_state"), _RANDOM_STATE),
    "torch.accelerator.current_accelerator": Abstract(a.DEVICE | a.NONE, 0, a.SURE, 0, 0),
}
"""Functions that give one thing whatever they are given."""
