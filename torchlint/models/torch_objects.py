"""Functions and classes of torch that make, wrap or hand on objects other than tensors, by their full names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from torchlint.models.dataset_results import data_call, holds_data
from torchlint.models.descent import answer, descend
from torchlint.models.distribution_results import distribution_made, is_distribution, parameters_of
from torchlint.models.library_objects import handed_results
from torchlint.models.module_results import module_made, module_of
from torchlint.models.optimizer_results import is_optimizer, optimizer_made
from torchlint.models.unknown_results import unknown_call
from torchlint.syntax.places import leaf
from torchlint.values import abstract as a
from torchlint.values.abstract import Abstract, join_all, of_kind, tensor
from torchlint.values.asking import ANY_ELEMENT, CallSite, Path, Presumption
from torchlint.values.references import LibraryInstanceRef

_Transfer = Callable[[CallSite, str, Path], Abstract]
_PLAIN: Final = of_kind(a.OTHER | a.NUMBER | a.STRING | a.NONE | a.SEQUENCE)


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
    if name.startswith("torch.nn.") and is_class and not word.endswith(("Parameter", "Buffer")):
        return module_made(site, name, path)
    if is_optimizer(name) and is_class:
        return optimizer_made(site, name, path)
    if name.startswith(_HANDING_ON) and not name.startswith("torch.nn.utils.rnn."):
        return _first(site, name, path)
    if name.startswith(("torch.func.", "functorch.")):
        return _object(site, name, path)
    return descend(_PLAIN, path) if name.startswith(_WITHOUT_TENSORS) and not word.endswith("Tensor") else None


_HANDING_ON: Final = ("torch.nn.utils.", "torch.jit.", "torch.ao.quantization.", "torch.quantization.")
_WITHOUT_TENSORS: Final = (
    "torch.cuda.", "torch.backends.", "torch.distributed.", "torch.optim.", "torch.utils.", "torch.version.",
    "torch.mps.", "torch.xpu.", "torch.profiler.", "torch.autograd.profiler.", "torch.onnx.", "torch.amp.",
    "torch.multiprocessing.",
)  # fmt: skip
"""Parts of torch whose functions give flags, numbers, texts and objects."""


def _first(site: CallSite, name: str, path: Path) -> Abstract:
    """Return the argument itself: what wraps a module, or compiles a function, is called like it."""
    for word in ("model", "module", "obj", "func", "mod", "tensor"):
        given = site.value(0, word, path)
        if given is not None:
            return given
    return _object(site, name, path)


def _object(site: CallSite, name: str, path: Path) -> Abstract:
    return descend(of_kind(a.OTHER, frozenset([LibraryInstanceRef(name, site.node, site.context)])), path)


def _run(site: CallSite, name: str, path: Path) -> Abstract:
    found = handed_results(site, name, path)
    return found if found is not None else unknown_call(site, path)


def _called_with(site: CallSite, _: str, path: Path) -> Abstract:
    """``functional_call(module, parameters, args)``: a module that is lent other parameters."""
    module = site.value(0, "module")
    if module is None or not module.kind:
        return unknown_call(site, path)
    lent = site.value(1, "parameter_and_buffer_dicts", (ANY_ELEMENT,))
    if lent is not None and lent.kind == a.TENSOR and lent.grad == a.SAFE:
        is_all = site.asker.presumes(Presumption.USAGE)
        module = module.but(grad=a.SAFE, grad_from=None) if is_all else module.but(grad=module.grad | a.SAFE)
    return site.asker.call_of(module, site.node, path, site.context)


def _loaded_module(site: CallSite, name: str, path: Path) -> Abstract:
    return descend(module_of(name, site, a.SURE, a.SAFE | a.OPTION, site.node), path)


def _pretrained(site: CallSite, name: str, path: Path) -> Abstract:
    """``nn.Embedding.from_pretrained(weights)``: frozen, unless it is told otherwise."""
    told = answer(site, 1, "freeze", usual=True)
    grad = a.SAFE if told else a.SURE if told is False else a.SAFE | a.SURE
    weights = site.value(0, "embeddings")
    place = (weights.device if weights is not None else 0) or a.SAFE
    made = module_of(name.removesuffix(".from_pretrained"), site, grad, place)
    return site.asker.along(made, path, site.node, site.context) if path else made


def _divergence(site: CallSite, _: str, path: Path) -> Abstract:
    """``kl_divergence(p, q)``: with the gradients of what both were made of."""
    found = [
        parameters_of(site.asker, reference)
        for each in (site.value(0, "p"), site.value(1, "q"))
        if each is not None
        for reference in each.references
        if isinstance(reference, LibraryInstanceRef)
    ]
    open_ = tensor(a.SAFE | a.OF_CALL, a.SAFE | a.OF_CALL, a.FLOATING, a.ANY_RANK, site.node, site.node)
    return descend(site.asker.under(join_all(found) if found else open_, site.node, site.context), path)


def _alike(names: str, transfer: _Transfer) -> dict[str, _Transfer]:
    return dict.fromkeys(names.split(), transfer)


_WRAPPING: Final = """
    torch.nn.SyncBatchNorm.convert_sync_batchnorm torch.fx.symbolic_trace torch.cuda.make_graphed_callables
    torch.distributed.fsdp.FullyShardedDataParallel torch.optim.swa_utils.AveragedModel torch.jit.script_method
"""
_OBJECTS: Final = """
    torch.no_grad torch.enable_grad torch.inference_mode torch.autocast torch.cuda.amp.autocast torch.amp.autocast
    torch.autograd.set_detect_anomaly torch.autograd.detect_anomaly torch.vmap torch.func.vmap functorch.vmap
    torch.cuda.Stream torch.cuda.Event torch.FloatStorage torch.DoubleStorage torch.HalfStorage torch.LongStorage
    torch.IntStorage torch.ShortStorage torch.ByteStorage torch.BoolStorage torch.TypedStorage torch.UntypedStorage
"""
_TRANSFERS: Final[dict[str, _Transfer]] = {
    **_alike(_WRAPPING, _first),
    **_alike(_OBJECTS, _object),
    **_alike("torch.hub.load torch.jit.load torch.fx.GraphModule", _loaded_module),
    **_alike("torch.nn.Embedding.from_pretrained torch.nn.EmbeddingBag.from_pretrained", _pretrained),
    **_alike("torch.utils.checkpoint.checkpoint", _run),
    **_alike("torch.func.functional_call torch.nn.utils.stateless.functional_call", _called_with),
    **_alike("torch.distributions.kl_divergence torch.distributions.kl.kl_divergence", _divergence),
}
