"""Functions and classes of torch that make, wrap or hand on objects other than tensors, by their full names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from torchlint.models.dataset_results import data_call, holds_data
from torchlint.models.descent import descend, truth_of
from torchlint.models.distribution_results import distribution_made, is_distribution, parameters_of
from torchlint.models.library_objects import handed_results
from torchlint.models.library_rows import leaf
from torchlint.models.module_results import PACKED, module_made, module_of
from torchlint.models.optimizer_results import is_optimizer, optimizer_made
from torchlint.models.unknown_results import unknown_call
from torchlint.values.abstract import (
    A_SEQUENCE,
    AN_INTEGER,
    ANY_RANK,
    FLOATING,
    INT64,
    NONE,
    NOTHING,
    NUMBER,
    OF_CALL,
    OPTION,
    OTHER,
    RANKS,
    SAFE,
    SCALAR,
    SEQUENCE,
    STRING,
    SURE,
    TENSOR,
    UINT8,
    Abstract,
    join_all,
    of_kind,
    tensor,
)
from torchlint.values.asking import ANY_ELEMENT, CallSite, Path
from torchlint.values.references import LibraryInstanceRef

_Transfer = Callable[[CallSite, str, Path], Abstract]
_PLAIN: Final = of_kind(OTHER | NUMBER | STRING | NONE | SEQUENCE)


def torch_object_call(site: CallSite, name: str, path: Path) -> Abstract | None:
    """Return what a function or class of torch gives that computes no tensor; None for those that do."""
    if (transfer := _TRANSFERS.get(name)) is not None:
        return transfer(site, name, path)
    word = leaf(name)
    is_class = word[:1].isupper()
    if holds_data(name):
        return data_call(site, name, path)
    if is_distribution(name):
        return distribution_made(site, name, path)
    if name.startswith("torch.nn.utils."):
        return _of_module_utilities(site, name, path)
    if name.startswith("torch.nn.") and is_class and not word.endswith(("Parameter", "Buffer")):
        return module_made(site, name, path)
    if is_optimizer(name) and is_class:
        return optimizer_made(site, name, path)
    if name.startswith(("torch.nn.init.", "torch.jit.", "torch.ao.quantization.", "torch.quantization.")):
        return _first(site, name, path)
    if name.startswith(("torch.func.", "functorch.")):
        return _object(site, name, path)
    return descend(_PLAIN, path) if name.startswith(_WITHOUT_TENSORS) and not word.endswith("Tensor") else None


_WITHOUT_TENSORS = (
    "torch.cuda.", "torch.backends.", "torch.distributed.", "torch.optim.", "torch.utils.", "torch.version.", "torch.mps.",
    "torch.xpu.", "torch.profiler.", "torch.autograd.profiler.", "torch.onnx.", "torch.multiprocessing.", "torch.amp.",
)  # fmt: skip
"""Parts of torch whose functions give flags, numbers, texts and objects."""


# ---------------------------------------------------------------------- handed on
def _first(site: CallSite, _: str, path: Path) -> Abstract:
    given = site.value(0, None, path)
    if given is None:
        for word in ("model", "obj", "func", "mod", "module", "tensor"):
            given = given or site.value(None, word, path)
    if given is not None:
        return given
    return _object(site, "torch.compile", path)  # a decorator with options


def _object(site: CallSite, name: str, path: Path) -> Abstract:
    return descend(of_kind(OTHER, frozenset([LibraryInstanceRef(name, site.node, site.context)])), path)


def _run(site: CallSite, name: str, path: Path) -> Abstract:
    found = handed_results(site, name, path)
    return found if found is not None else unknown_call(site, path)


def _called_with(site: CallSite, _: str, path: Path) -> Abstract:
    """``functional_call(module, parameters, args)``: a module that is lent other parameters."""
    module = site.value(0, "module")
    if module is None:
        return unknown_call(site, path)
    return site.asker.call_of(module, site.node, path, site.context)


def _loaded_module(site: CallSite, name: str, path: Path) -> Abstract:
    return descend(module_of(name, site, SURE, SAFE | OPTION, site.node), path)


def _of_module_utilities(site: CallSite, name: str, path: Path) -> Abstract | None:
    """Return what ``torch.nn.utils`` gives: norms, packed sequences, or the module that is handed over."""
    word = leaf(name)
    if word in ("clip_grad_norm_", "clip_grad_norm", "get_total_norm"):
        given = join_all(site.operands())
        place = given.device or SAFE
        return descend(tensor(SAFE, place, FLOATING, RANKS[0], None, given.device_from), path)
    if word in ("clip_grad_value_", "vector_to_parameters", "clip_grads_with_norm_"):
        return NOTHING
    if word in ("pack_padded_sequence", "pack_sequence"):
        return _packed(site, path)
    if word == "pad_packed_sequence":
        return _unpacked(site, path)
    if name.startswith("torch.nn.utils.rnn."):
        return None
    if word == "parameters_to_vector":
        given = join_all(site.operands())
        return descend(tensor(given.grad or SURE, given.device or SAFE, FLOATING, RANKS[1], site.node), path)
    return _first(site, name, path)


def _packed(site: CallSite, path: Path) -> Abstract:
    if path[:1] == (".data",) and site.given.positional:
        given = site.value(0, "input")
        if given is not None and given.kind & SEQUENCE and not given.kind & TENSOR:
            given = site.value(0, "input", (ANY_ELEMENT,))
        if given is not None:
            return descend(
                given.but(kind=TENSOR if given.kind & TENSOR else given.kind, rank=ANY_RANK).plain(), path[1:]
            )
    return _object(site, PACKED, path)


def _unpacked(site: CallSite, path: Path) -> Abstract:
    """``pad_packed_sequence(packed)``: the tensor, and the lengths on the host."""
    if not path:
        return A_SEQUENCE
    lengths = tensor(SAFE, SAFE, INT64, RANKS[1])
    if path[0] == 1:
        return descend(lengths, path[1:])
    inner = site.value(0, "sequence", (".data",))
    value = inner if inner is not None else tensor(SAFE | OF_CALL, SAFE | OF_CALL, grad_from=site.node)
    return descend(value, path[1:])


def _divergence(site: CallSite, _: str, path: Path) -> Abstract:
    found = []
    for each in (site.value(0, "p"), site.value(1, "q")):
        for reference in each.references if each is not None else ():
            if isinstance(reference, LibraryInstanceRef):
                found.append(parameters_of(site.asker, reference))
    made = (
        join_all(found) if found else tensor(SAFE | OF_CALL, SAFE | OF_CALL, FLOATING, ANY_RANK, site.node, site.node)
    )
    return descend(site.asker.under(made, site.node, site.context), path)


def _differentiated(site: CallSite, _: str, path: Path) -> Abstract:
    """``jacobian(f, inputs)``: tensors where the inputs are; with a graph only where it is asked for."""
    asked = site.value(None, "create_graph")
    live = asked is not None and truth_of(asked) is not False
    inputs = site.value(1, "inputs")
    if inputs is not None and inputs.kind & SEQUENCE and not inputs.kind & TENSOR:
        inputs = site.value(1, "inputs", (ANY_ELEMENT,))
    device, origin = (inputs.device or SAFE, inputs.device_from) if inputs is not None else (SAFE, None)
    grad = SAFE if not live else SURE if truth_of(asked or NOTHING) else SAFE | OPTION
    made = tensor(grad, device, FLOATING, ANY_RANK, site.node if live else None, origin)
    if leaf(site.given.spelled) in ("vjp", "jvp"):
        return A_SEQUENCE if not path else descend(made, path[1:])
    inner = (
        path[1:] if path and inputs is not None and site.argument(1, "inputs") is not None and _is_tuple(site) else path
    )
    return A_SEQUENCE if _is_tuple(site) and not path else descend(made, inner)


def _is_tuple(site: CallSite) -> bool:
    node = site.argument(1, "inputs")
    return node is not None and node.op == "sequence"


def _random_state(_: CallSite, name: str, path: Path) -> Abstract:
    made = tensor(SAFE, SAFE, UINT8, RANKS[1])
    if name.endswith("_all"):
        return A_SEQUENCE if not path else descend(made, path[1:])
    return descend(made, path)


def _flag(_: CallSite, __: str, path: Path) -> Abstract:
    return descend(of_kind(SCALAR), path)


def _integer(_: CallSite, __: str, path: Path) -> Abstract:
    return descend(AN_INTEGER, path)


def _nothing(_: CallSite, __: str, ___: Path) -> Abstract:
    return NOTHING


def _alike(names: str, transfer: _Transfer) -> dict[str, _Transfer]:
    return dict.fromkeys(names.split(), transfer)


_TRANSFERS: Final[dict[str, _Transfer]] = {
    **_alike("torch.compile torch.jit.script torch.jit.trace torch.jit.freeze torch.nn.SyncBatchNorm.convert_sync_batchnorm "
             "torch.fx.symbolic_trace torch.compiler.disable torch._dynamo.disable torch.distributed.fsdp.FullyShardedDataParallel "
             "torch.jit.script_method torch.cuda.make_graphed_callables torch.optim.swa_utils.AveragedModel", _first),
    **_alike("torch.hub.load torch.jit.load torch.hub.load_state_dict_from_url torch.fx.GraphModule", _loaded_module),
    **_alike("torch.utils.checkpoint.checkpoint", _run),
    **_alike("torch.no_grad torch.enable_grad torch.inference_mode torch.autocast torch.cuda.amp.autocast torch.amp.autocast "
             "torch.autograd.set_detect_anomaly torch.autograd.detect_anomaly torch.vmap torch.func.vmap functorch.vmap "
             "torch.nn.Parameter.as_subclass torch.Generator torch.cuda.Stream torch.cuda.Event", _object),
    **_alike("torch.func.functional_call torch.nn.utils.stateless.functional_call", _called_with),
    **_alike("torch.autograd.functional.jacobian torch.autograd.functional.hessian torch.autograd.functional.vjp "
             "torch.autograd.functional.jvp torch.autograd.functional.hvp", _differentiated),
    **_alike("torch.distributions.kl_divergence torch.distributions.kl.kl_divergence", _divergence),
    **_alike("torch.cuda.get_rng_state torch.random.get_rng_state torch.get_rng_state torch.cuda.get_rng_state_all", _random_state),
    **_alike("torch.cuda.is_available torch.cuda.is_initialized torch.is_grad_enabled torch.is_inference_mode_enabled "
             "torch.backends.mps.is_available torch.cuda.is_bf16_supported torch.distributed.is_initialized "
             "torch.distributed.is_available torch.is_tensor torch.jit.is_scripting torch.jit.is_tracing", _flag),
    **_alike("torch.cuda.device_count torch.cuda.current_device torch.get_num_threads torch.distributed.get_rank "
             "torch.distributed.get_world_size torch.cuda.memory_allocated torch.cuda.max_memory_allocated "
             "torch.initial_seed torch.seed", _integer),
    **_alike("torch.save torch.set_num_threads torch.set_printoptions torch.use_deterministic_algorithms torch.cuda.empty_cache "
             "torch.cuda.synchronize torch.cuda.set_device torch.cuda.manual_seed_all torch.cuda.manual_seed "
             "torch.autograd.backward torch.multiprocessing.set_start_method torch.set_rng_state", _nothing),
    "torch.manual_seed": lambda site, name, path: _object(site, "torch.Generator", path),
}  # fmt: skip
