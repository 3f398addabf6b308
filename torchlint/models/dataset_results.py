"""What data sets and data loaders of torch give: samples and batches, on the host and without a gradient."""

from __future__ import annotations

from typing import Final

from torchlint.models.container_methods import Member, of_row
from torchlint.models.descent import descend
from torchlint.models.handed_calls import handed_calls, sample_of
from torchlint.semantic.graph import Node
from torchlint.syntax.places import leaf
from torchlint.values import abstract as a
from torchlint.values.abstract import A_SEQUENCE, AN_INTEGER, BOTTOM, Abstract, join, join_all, of_kind, tensor, unknown
from torchlint.values.asking import ANY_ELEMENT, Asker, CallSite, Path, Presumption
from torchlint.values.contexts import Context
from torchlint.values.references import InstanceRef, LibraryInstanceRef

BATCH: Final = Abstract(a.ANY & ~(a.MODULE | a.DEVICE | a.DTYPE), a.SAFE, a.SAFE)
"""What a loader gives where nothing is known of its data set: tensors on the host, or containers of them."""
DATA: Final = "torch.utils.data."
_LOADERS: Final = frozenset(
    {f"{DATA}DataLoader", "torch_geometric.loader.DataLoader", "torch_geometric.data.DataLoader"}
)
_SAME_SAMPLES: Final = frozenset({"Subset", "ConcatDataset", "ChainDataset", "random_split"})


def holds_data(name: str) -> bool:
    """Whether a dotted name is a class of data sets or loaders, or a function that makes them."""
    return name.startswith((DATA, "torchvision.datasets.", "torchaudio.datasets.")) or name in _LOADERS


def presumed_batch(asker: Asker, at: Node, path: Path) -> Abstract:
    """Return a batch of which nothing is known."""
    return descend(BATCH if asker.presumes(Presumption.LOADER) else unknown(a.OF_CALL, at), path)


def data_call(site: CallSite, name: str, path: Path) -> Abstract:
    """Return a data set or a loader, or what a path leads to from what it gives."""
    word = leaf(name)
    if word == "random_split":
        if not path:
            return A_SEQUENCE
        inner = of_kind(a.OTHER, frozenset([LibraryInstanceRef(f"{DATA}Subset", site.node, site.context)]))
        return inner if len(path) == 1 else sample(site.asker, name, site, path[2:], site.node)
    if word in ("default_collate", "default_convert"):
        return presumed_batch(site.asker, site.node, path)
    if word == "get_worker_info":
        return of_kind(a.OTHER)
    if path and (isinstance(path[0], int) or path[0] == ANY_ELEMENT):
        return sample(site.asker, name, site, path[1:], site.node)
    own = LibraryInstanceRef(name, site.node, site.context)
    made = of_kind(a.OTHER, frozenset([own]))
    return site.asker.along(made, path, site.node, site.context) if path else made


def sample(asker: Asker, name: str, maker: CallSite | None, path: Path, at: Node) -> Abstract:
    """Return what a path leads to from a sample of a data set, or from a batch of a loader."""
    word = leaf(name)
    if "Sampler" in word:
        return descend(AN_INTEGER, path)
    if maker is None:
        return presumed_batch(asker, at, path)
    if name in _LOADERS:
        return _batch(maker, path)
    if word == "TensorDataset":
        given = maker.given
        if given.starred:
            return A_SEQUENCE if not path else descend(tensor(), path[1:])
        return of_row(tuple(_row(maker, each) for each in given.positional), path)
    if word in _SAME_SAMPLES:
        inner = maker.argument(0, "dataset") or maker.argument(0, "datasets")
        if inner is not None:
            step = (ANY_ELEMENT, ANY_ELEMENT) if word in ("ConcatDataset", "ChainDataset") else (ANY_ELEMENT,)
            return _of_dataset(maker, inner, step, path)
    return presumed_batch(asker, at, path)


def _row(maker: CallSite, node: Node) -> Member:
    return lambda rest: maker.asker.value(node, (ANY_ELEMENT, *rest), maker.context)


def _of_dataset(maker: CallSite, dataset: Node, step: Path, path: Path) -> Abstract:
    """Return what a path leads to from a sample of the data set of a node."""
    asker, context = maker.asker, maker.context
    value = asker.value(dataset, (), context)
    if any(isinstance(each, InstanceRef) for each in value.references):
        call = sample_of(maker, dataset)
        found = asker.returned_by_method(value, "__getitem__", call, path, context)
        if found is None:
            found = asker.returned_by_method(value, "__iter__", dataset, (ANY_ELEMENT, *path), context)
        if found is not None:
            return found
    if (value.kind & (a.SEQUENCE | a.TENSOR) and value.kind != a.ANY) or any(
        isinstance(each, LibraryInstanceRef) for each in value.references
    ):
        return asker.value(dataset, (*step, *path), context)
    return presumed_batch(asker, maker.node, path)


def _batch(maker: CallSite, path: Path) -> Abstract:
    """Return what a path leads to from a batch: what the collate function gives, else a sample with one rank more."""
    asker, context = maker.asker, maker.context
    dataset = maker.argument(0, "dataset")
    if maker.argument(7, "collate_fn") is not None:
        found = join_all(
            asker.call_of(asker.value(each.function, (), context), each.call, path, context)
            for each in handed_calls(maker, f"{DATA}DataLoader")
        )
        return collated(asker, found, maker.node) if found.kind else presumed_batch(asker, maker.node, path)
    if dataset is None:
        return presumed_batch(asker, maker.node, path)
    size = maker.value(1, "batch_size")
    is_default = size is None or not size.kind & a.NONE
    return collated(asker, _of_dataset(maker, dataset, (ANY_ELEMENT,), path), maker.node, is_default=is_default)


_STACKED: Final = a.ARRAY | a.NUMBER
_COLLATED: Final = a.TENSOR | a.SEQUENCE | a.STRING | a.OTHER
"""What torch's own collate function gives; it refuses `None` and all that is no tensor, number, text or container."""


def collated(asker: Asker, value: Abstract, at: Node, *, is_default: bool = False) -> Abstract:
    """Return what becomes of samples in a batch: arrays and numbers become tensors.

    Presumed is that nothing is on an accelerator or requires grad but what is shown to do so.
    """
    kind = value.kind
    if is_default and kind:
        value = join(value.plain(), tensor()) if kind & _STACKED else value
        kind = value.kind & _COLLATED | (a.SEQUENCE if kind & a.SIZE else 0)
        value = value.but(kind=kind)
    made = BOTTOM
    if kind & a.TENSOR:
        shown = asker.presumes(Presumption.LOADER)
        grad = value.grad & (a.SAFE | a.SURE) or a.SAFE if shown else value.grad
        device = value.device & (a.SAFE | a.SURE) or a.SAFE if shown else value.device
        made = value.but(grad=grad, device=device, rank=a.ANY_RANK if is_default else value.rank)
        kind &= ~a.TENSOR
    if kind and not made.kind:
        return value
    del at
    return join(made, of_kind(kind)) if kind else made


def data_attribute(
    asker: Asker, reference: LibraryInstanceRef, word: str, path: Path, at: Node, context: Context | None
) -> Abstract:
    """Return an attribute of a data set or a loader of torch."""
    del context
    maker = CallSite(asker, reference.made, reference.context) if reference.made is not None else None
    if (
        word in ("dataset", "datasets", "indices", "sampler", "batch_sampler", "batch_size", "tensors")
        and maker is not None
    ):
        found = maker.value(0 if word.startswith("dataset") else None, word, path)
        if found is not None:
            return found
    if word in ("batch_size", "num_workers"):
        return descend(AN_INTEGER, path)
    return presumed_batch(asker, at, path)


def data_method(site: CallSite, reference: LibraryInstanceRef, word: str, path: Path) -> Abstract | None:
    """Return what a method of a data set or a loader gives; None for words that are not known."""
    maker = CallSite(site.asker, reference.made, reference.context) if reference.made is not None else None
    if word in ("__getitem__", "__next__"):
        return sample(site.asker, reference.name, maker, path, site.node)
    if word == "__iter__":
        return A_SEQUENCE if not path else sample(site.asker, reference.name, maker, path[1:], site.node)
    return AN_INTEGER if word == "__len__" else None
