"""Which table answers: for a call of a library's function, a method, an attribute or an object of a library."""

from __future__ import annotations

from typing import Final

from torchlint.models import module_calls, torch_functions
from torchlint.models.array_results import GENERATOR, array_call, array_method, generator_method
from torchlint.models.combined_operands import combined
from torchlint.models.container_methods import CONTAINER_METHODS, CONTAINER_READS, container_method, text_method
from torchlint.models.dataset_results import data_attribute, data_method, holds_data
from torchlint.models.descent import descend, plain_attribute
from torchlint.models.distribution_results import distribution_part, is_distribution
from torchlint.models.library_objects import (
    bound_elsewhere,
    made_tuple,
    python_object_attribute,
    python_object_call,
    python_object_method,
)
from torchlint.models.library_results import (
    library_function,
    library_instance_attribute,
    library_instance_call,
    library_method,
)
from torchlint.models.library_rows import ARRAY_LIBRARIES, MADE_TUPLE, canonical, package_of
from torchlint.models.module_results import (
    MODULE_METHODS,
    ONLY_OF_MODULES,
    PACKED,
    module_attribute,
    module_method,
)
from torchlint.models.operation_sets import CASTS, METHODS
from torchlint.models.optimizer_results import is_optimizer, optimizer_attribute, optimizer_method
from torchlint.models.python_builtins import python_call
from torchlint.models.tensor_moves import dtype_named, moved
from torchlint.models.tensor_results import tensor_attribute, tensor_method, torch_function
from torchlint.models.torch_objects import torch_object_call
from torchlint.models.unknown_results import library_result, unknown_call
from torchlint.semantic.graph import Node
from torchlint.syntax.places import leaf
from torchlint.values import abstract as a
from torchlint.values.abstract import A_NUMBER, A_TEXT, AN_INTEGER, BOTTOM, Abstract, join, of_kind
from torchlint.values.asking import Asker, CallSite, Path, Presumption
from torchlint.values.contexts import Context
from torchlint.values.references import LibraryInstanceRef, LibraryRef, Reference

network_call = module_calls.network_call
_PYTHON: Final = frozenset(
    """
    builtins collections itertools functools copy typing operator random dataclasses asyncio concurrent multiprocessing
    heapq weakref contextlib types gc tqdm rich more_itertools alive_progress progressbar joblib argparse
    """.split()
)
"""Packages of Python, and such as only pass on what they are given."""
_CLASSES_OF_PYTHON: Final = tuple(
    f"builtins.{each}." for each in "str bytes list dict set tuple float int frozenset".split()
)


# ---------------------------------------------------------------------- calls of functions and classes
def library_call(site: CallSite, name: str, path: Path) -> Abstract:
    """Return what a function or a class of a library or of Python gives along a path, by its full name."""
    name = canonical(name)
    if name.startswith("torch.multiprocessing.") and leaf(name)[:1].isupper():
        name = name.removeprefix("torch.")
    package = package_of(name)
    found: Abstract | None = None
    if package in _PYTHON:
        found = python_call(site, name, path)
        if found is None and name.startswith(_CLASSES_OF_PYTHON) and (bound := bound_elsewhere(site, name)) is not None:
            owner = bound.asker.value(site.given.positional[0], (), site.context)
            found = method_call(bound, owner, leaf(name), path)
    elif package == "torch":
        return _torch_call(site, name, path)
    elif package in ARRAY_LIBRARIES:
        return array_call(site, name, path)
    if found is None:
        found = library_function(site, name, path)
    return found if found is not None else library_result(site, name, path)


def _torch_call(site: CallSite, name: str, path: Path) -> Abstract:
    found = torch_object_call(site, name, path) if torch_functions.row(name) is None else None
    return found if found is not None else _with_fields(site, torch_function(site, name, path), path)


def _with_fields(site: CallSite, made: Abstract, path: Path) -> Abstract:
    """Return what an operation gives; several results, ``values`` and ``indices``, remember the call that gave them."""
    if path or not made.kind & a.SEQUENCE or made.references:
        return made
    return made.but(references=frozenset([LibraryInstanceRef(MADE_TUPLE, site.node, site.context)]))


def library_object_call(site: CallSite, owner: Abstract, reference: LibraryInstanceRef, path: Path) -> Abstract:
    """Return what calling an object of a library gives: a layer, a transform, what ``itemgetter`` made."""
    name = canonical(reference.name)
    reference = reference if name == reference.name else reference._replace(name=name)
    found = python_object_call(site, reference, path)
    if found is None and name.startswith("torch.nn.") and owner.kind & a.MODULE:
        found = module_calls.layer_call(site, owner, reference, path)
    if found is None and name.startswith(_GIVING_THE_FUNCTION):
        found = site.value(0, None, path)
    if found is None and name.startswith(_LIKE_THE_FUNCTION) and reference.made is not None:
        target = CallSite(site.asker, reference.made, reference.context).value(0, "func")
        found = (
            site.asker.call_of(target, site.node, path, site.context).but(rank=a.ANY_RANK)
            if target is not None and target.kind
            else None
        )
    if found is None and name.startswith(("torch.func.", "functorch.")) and site.asker.presumes(Presumption.KEPT):
        found = custom_function_call(site, path)  # a derivative is as its operands are
    if found is None:
        found = library_instance_call(site, owner, reference, path)
    if found is None and owner.kind & a.MODULE:
        found = _loaded_network(site, owner, path)
    return found if found is not None else unknown_call(site, path)


_GIVING_THE_FUNCTION = (
    "torch.no_grad",
    "torch.enable_grad",
    "torch.inference_mode",
    "torch.autocast",
    "torch.cuda.amp.",
)
"""Context managers that decorate: called with a function, they give one that does the same."""
_LIKE_THE_FUNCTION = ("torch.vmap", "torch.func.vmap", "functorch.vmap")


def _loaded_network(site: CallSite, owner: Abstract, path: Path) -> Abstract:
    """Return what a module gives that a library made: of some form, with a gradient unless it is frozen."""
    if not site.asker.presumes(Presumption.NETWORK):
        return unknown_call(site, path)
    operands = [each for each in site.operands() if each.kind & a.TENSOR]
    made = module_calls.output(site, owner, operands)
    return descend(made.but(kind=a.ANY & ~(a.MODULE | a.NONE), dtype=a.ANY_DTYPE), path)


def custom_function_call(site: CallSite, path: Path) -> Abstract:
    """Return what ``apply`` of a function gives that has its own backward: with the gradients of its operands."""
    operands = [each for each in site.operands() if each.kind & a.TENSOR]
    if not operands:
        return unknown_call(site, path)
    made = combined(site.asker, operands, site.node, site.context, numbers=True)
    kind = a.TENSOR if site.asker.presumes(Presumption.USAGE) else a.TENSOR | a.SEQUENCE
    made = made.but(kind=kind, dtype=a.ANY_DTYPE, rank=a.ANY_RANK)
    return descend(site.asker.under(made, site.node, site.context), path)


# ---------------------------------------------------------------------- methods
def method_call(site: CallSite, owner: Abstract, word: str, path: Path) -> Abstract:
    """Return what a method gives along a path; objects of the project's classes have been asked before."""
    value, answered = BOTTOM, 0
    for reference in owner.references:
        found = _of_reference(site, owner, reference, word, path)
        if found is not None:
            value = join(value, found)
            answered |= owner.kind & (a.OTHER | a.MODULE) or owner.kind
    rest = owner.kind & ~answered
    if answered and owner.kind & a.OTHER and all(package_of(getattr(e, "name", "")) for e in owner.references):
        rest = 0 if owner.kind != a.ANY else rest
    if not rest:
        return value if value.kind or answered else unknown_call(site, path)
    return join(value, _by_kind(site, owner if rest == owner.kind else owner.but(kind=rest), word, path))


def _of_reference(site: CallSite, owner: Abstract, reference: Reference, word: str, path: Path) -> Abstract | None:
    if isinstance(reference, LibraryRef):
        return library_call(site, f"{reference.name}.{word}", path)
    if isinstance(reference, LibraryInstanceRef):
        return _of_instance(site, owner, reference, word, path)
    return None


def _of_instance(
    site: CallSite, owner: Abstract, reference: LibraryInstanceRef, word: str, path: Path
) -> Abstract | None:
    name = canonical(reference.name)
    if name == "torch.nn.Parameter":
        return None
    if is_distribution(name):
        return distribution_part(site.asker, reference, word, path, site.node, site.context)
    if is_optimizer(name):
        return optimizer_method(site, reference, word, path)
    if holds_data(name):
        return data_method(site, reference, word, path)
    if name == GENERATOR:
        return generator_method(word, path)
    if package_of(name) in ARRAY_LIBRARIES:
        return array_method(word, path)
    if name == PACKED:
        return descend(owner, path) if word in CASTS or word in ("to", "cuda", "cpu") else None
    found = python_object_method(site, reference, word, path)
    if found is None:
        found = library_method(site, owner, reference, word, path)
    if found is None and owner.kind == a.MODULE and word == "forward":
        return library_object_call(site, owner, reference, path)
    if found is None and owner.kind == a.MODULE and word not in MODULE_METHODS | CONTAINER_READS:
        return module_calls.network_call(site, path, owner)
    return found


_ONE_BY_ONE: Final = a.TENSOR | a.NONE | a.ARRAY | a.SEQUENCE | a.NUMBER | a.STRING | a.SIZE
"""Kinds whose methods are known, so that what a mixture gives is what each gives."""


def _by_kind(site: CallSite, owner: Abstract, word: str, path: Path) -> Abstract:
    kind = owner.kind
    if kind == a.ANY or (kind & a.TENSOR and kind & ~_ONE_BY_ONE) or (kind & a.OTHER and word == "numpy"):
        return _of_unknown(site, owner, word, path)
    value, is_known = BOTTOM, kind == a.NONE
    for part in (a.TENSOR, a.ARRAY, a.SEQUENCE | a.SIZE, a.STRING, a.MODULE, a.NUMBER, a.DEVICE | a.DTYPE):
        if not kind & part:
            continue
        found = _of_one_kind(site, owner.but(kind=kind & part), part, word, path)
        if found is not None:
            value, is_known = join(value, found), True
    if kind & a.OTHER and word in _OF_NAMED_TUPLES and (found := container_method(site, owner, word, path)) is not None:
        return join(value, found if path else made_tuple(site))
    if kind & a.OTHER or not is_known:
        return join(value, unknown_call(site, path, (owner,)))
    return value


_OF_NAMED_TUPLES: Final = frozenset({"_replace", "_asdict"})


def _of_one_kind(site: CallSite, owner: Abstract, part: int, word: str, path: Path) -> Abstract | None:
    if part == a.TENSOR:
        return _with_fields(site, tensor_method(site, owner, word, path), path)
    if part == a.ARRAY:
        return array_method(word, path)
    if part == a.SEQUENCE | a.SIZE:
        return container_method(site, owner, word, path)
    if part == a.STRING:
        return text_method(site, owner, word, path)
    if part == a.MODULE:
        return module_method(site, owner, word, path)
    if part == a.NUMBER:
        return descend(_OF_NUMBERS.get(word, A_NUMBER), path)
    return A_NUMBER if word.startswith("is_") else None


_OF_NUMBERS: Final = {
    "bit_length": AN_INTEGER, "is_integer": of_kind(a.SCALAR), "hex": A_TEXT, "item": A_NUMBER,
    "as_integer_ratio": of_kind(a.SEQUENCE), "to_bytes": A_TEXT, "tolist": A_NUMBER,
}  # fmt: skip


# ---------------------------------------------------------------------- methods of what is not known
_DISTINCT: Final = frozenset(
    """
    detach requires_grad_ unsqueeze unsqueeze_ squeeze contiguous permute view view_as expand expand_as masked_fill
    masked_select index_select type_as new_zeros new_ones new_tensor new_full argmax argmin topk softmax log_softmax
    clamp gather numel long sigmoid matmul bmm mm t chunk unbind narrow
    """.split()
)
"""Methods by which code says that something is a tensor."""
_MOVES: Final = frozenset("cpu cuda to type xpu npu mps".split()) | frozenset(CASTS)
_OF_TEXTS: Final = frozenset("format join strip lower upper decode".split())
_GIVING_ITSELF: Final = frozenset("eval train share_memory".split())
_GIVING_NUMBERS: Final = frozenset("item data_ptr dim numel nelement get_device".split())
_NO_CARRIER: Final = a.TENSOR | a.ARRAY | a.SEQUENCE | a.OTHER | a.MODULE


def _of_unknown(site: CallSite, owner: Abstract, word: str, path: Path) -> Abstract:
    """Return what a method gives of something that may be anything: its word says what it is, but in a proof."""
    if not site.asker.presumes(Presumption.METHOD):
        return unknown_call(site, path, (owner,))
    like = Abstract(
        a.ANY, owner.grad or a.SAFE, owner.device or a.SAFE, references=frozenset(), grad_from=owner.grad_from
    )
    like = like.but(device_from=owner.device_from)
    if word in CONTAINER_READS and site.receiver is not None:
        if word == "values" and not path:
            return like
        if word == "copy" and not path:
            return of_kind(a.SEQUENCE | a.ARRAY | a.OTHER)
        return container_method(site, owner, word, path) or unknown_call(site, path, (owner,))
    if word == "numpy":
        return descend(of_kind(a.ARRAY), path)
    if word in _GIVING_NUMBERS:
        return of_kind(a.NUMBER) if not path else A_NUMBER
    if word == "tolist":
        return of_kind(a.NUMBER | a.SEQUENCE)
    if word in _OF_TEXTS:
        return A_TEXT
    if word == "size":
        return AN_INTEGER if site.given.positional else of_kind(a.SIZE | a.SEQUENCE | a.NUMBER)
    if word in _MOVES:
        return moved(site, owner.but(kind=owner.kind & _NO_CARRIER), word, path)
    if word in _GIVING_ITSELF:
        return descend(owner, path)
    if word in ONLY_OF_MODULES:
        found = module_method(site, owner.but(kind=a.MODULE, grad=0), word, path)
        return found if found is not None else unknown_call(site, path, (owner,))
    if word == "requires_grad_" and owner.kind & a.MODULE:  # of a tensor, or of a module, which it freezes
        module = module_method(site, owner.but(kind=a.MODULE, grad=0), word, path) or BOTTOM
        return join(module, tensor_method(site, owner.but(kind=a.TENSOR).plain(), word, path))
    if word in METHODS or word in _DISTINCT:
        return _as_tensor(site, owner, word, path)
    if word in ("sample", "sample_n"):
        return descend(like.detached(), path)
    if word in CONTAINER_METHODS and owner.kind != a.ANY:
        return container_method(site, owner, word, path) or unknown_call(site, path, (owner,))
    return unknown_call(site, path, (owner,))


def _as_tensor(site: CallSite, owner: Abstract, word: str, path: Path) -> Abstract:
    """Return what a method gives that tensors have: a tensor where only they have it, else something like it."""
    own = owner.but(kind=a.TENSOR).plain()
    value = _with_fields(site, tensor_method(site, own, word, path), path)
    if word in _DISTINCT or not value.kind & a.TENSOR:
        return value
    if path and site.given.positional and not tensor_method(site, own, word, ()).kind & a.TENSOR:  # `x.max(1)[1]`
        return value
    return value.but(kind=a.ANY & ~(a.NONE | a.MODULE), dtype=a.ANY_DTYPE)


# ---------------------------------------------------------------------- attributes
_NUMBERS: Final = frozenset(
    f"{module}.{word}"
    for module in ("numpy", "math", "torch", "cmath")
    for word in "pi inf nan e euler_gamma tau".split()
) | {"sys.maxsize", "numpy.Inf", "numpy.NaN"}
_TEXTS: Final = frozenset("torch.__version__ numpy.__version__ sys.platform os.sep os.name torch.version.cuda".split())


def library_attribute(
    asker: Asker, owner: Abstract, reference: Reference, word: str, path: Path, at: Node, context: Context | None
) -> Abstract:
    """Return an attribute of a library, of one of its classes or objects, and what a path leads to from it."""
    if isinstance(reference, LibraryRef):
        return asker.along(named(f"{reference.name}.{word}"), path, at, context)
    if not isinstance(reference, LibraryInstanceRef):
        return descend(plain_attribute(owner, word, at), path)
    name = canonical(reference.name)
    if name == "torch.nn.Parameter":
        return descend(tensor_attribute(owner.but(kind=a.TENSOR), word, at), path)
    found: Abstract | None = None
    if is_distribution(name):
        return distribution_part(asker, reference, word, path, at, context)
    if is_optimizer(name):
        found = optimizer_attribute(asker, reference, word, path)
    elif holds_data(name):
        return data_attribute(asker, reference, word, path, at, context)
    elif name == PACKED:
        found = _of_packed(owner, word, path)
    elif owner.kind == a.MODULE:
        return module_attribute(asker, owner, reference, word, path, at, context)
    if found is None:
        found = python_object_attribute(asker, reference, word, path, at, context)
    if found is None and (known := library_instance_attribute(reference, word)) is not None:
        found = descend(known, path)
    return found if found is not None else descend(plain_attribute(owner, word, at), path)


def named(name: str) -> Abstract:
    """Return what a dotted name of a library stands for: a dtype, a number, a text, else a function or class."""
    name = canonical(name)
    own: frozenset[Reference] = frozenset([LibraryRef(name)])
    word = leaf(name)
    if name == f"torch.{word}" and not word.endswith("Tensor") and (dtype := dtype_named(name)) is not None:
        return Abstract(a.DTYPE, 0, 0, dtype, 0, own)
    if name in _NUMBERS:
        return of_kind(a.SCALAR)
    if name in _TEXTS:
        return A_TEXT
    return of_kind(a.OTHER, own)


def _of_packed(owner: Abstract, word: str, path: Path) -> Abstract | None:
    """Return a part of a packed sequence: its data has the gradient of what was packed."""
    if word == "data":
        return descend(owner.but(kind=a.TENSOR, references=frozenset()), path)
    return Abstract(a.TENSOR, a.SAFE, a.SAFE) if word in ("batch_sizes", "sorted_indices", "unsorted_indices") else None
