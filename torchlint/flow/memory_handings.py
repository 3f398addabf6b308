"""What a call of torch, NumPy or Python gives back of what it is handed: its memory, its members, or nothing.

For torch the column ``shares_memory`` of ``operations.json`` says it, which was measured by calling everything.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from torchlint.flow.call_frames import CallKnowledge
from torchlint.models.operation_sets import KEEPS_GRAD_SOMETIMES, METHODS, SHARES_MEMORY, TAKES_INPLACE
from torchlint.semantic.graph import ATTR, CALL, RECEIVER, Mark, Node
from torchlint.values.abstract import ANY, ARRAY, MODULE, NUMBER, SEQUENCE, SIZE, STRING, TENSOR
from torchlint.values.asking import ANY_ELEMENT, Path, Presumption, Selector
from torchlint.values.references import ClassRef, LibraryInstanceRef, LibraryRef

FRESH: Final = "fresh"
"""A value of its own."""
VIEW: Final = "view"
"""The argument itself, a view of it, or a part of the module that it is."""
ALIKE: Final = "alike"
"""A container of its own with the same members under the same keys."""
MEMBERS: Final = "members"
"""A container with the same members under any keys."""
NUMBERED: Final = "numbered"
"""Pairs of which the second is a member."""
ZIPPED: Final = "zipped"
"""Tuples with a member of each argument."""
MEMBER: Final = "member"
"""A member."""
HOLDER: Final = "holder"
"""An object that holds what it is given."""
UNFAMILIAR: Final = "unfamiliar"
"""Anything: nothing is known of what is called."""


ANY_DEPTH: Final = "**"
"""A step of a path of these queries: the value itself, and all that lies in it."""


class Handing(NamedTuple):
    """What becomes of some of the arguments of a call."""

    sort: str
    sources: tuple[Node, ...] = ()


def handed_over(call: Node) -> Iterator[tuple[int | str | Mark, Node]]:
    """Yield what a call is given, each with its position, its keyword, RECEIVER, or ``**``."""
    given = call.arguments
    if call.ins[0].op == ATTR:
        yield RECEIVER, call.ins[0].ins[0]
    yield from enumerate(given.positional)
    yield from given.keywords.items()
    for each in given.spread:
        yield "**", each


def step_of(key: object) -> Selector:
    """Return the step that a key of INDEX, GROW or ITEM stands for: any item where it is no number or text."""
    if type(key) is int:
        return key
    return f"={key}" if isinstance(key, str) else ANY_ELEMENT


# ---------------------------------------------------------------------- what is not measured
_NUMPY_VIEWS: Final = frozenset(
    "asarray asanyarray ascontiguousarray asfortranarray atleast_1d atleast_2d atleast_3d reshape squeeze transpose "
    "swapaxes moveaxis rollaxis expand_dims ravel broadcast_to broadcast_arrays split array_split hsplit vsplit dsplit "
    "frombuffer flip fliplr flipud rot90 diagonal real imag require nan_to_num copyto".split()
)
"""Functions of NumPy whose result may lie in the memory of their first argument (documented as views)."""
ARRAY_VIEWS: Final = frozenset(
    "reshape view ravel squeeze transpose swapaxes diagonal astype T mT flat real imag data base numpy".split()
)
"""The same for methods and attributes of arrays, and ``numpy``, whose result is no tensor and so not in the column."""
_ON_OTHERS: Final = frozenset(
    "cuda xpu values indices coalesce to_sparse to_sparse_coo to_sparse_csr to_sparse_csc".split()
)
"""Methods that share memory on accelerators or in other layouts, where nothing was measured."""
_SHARING: Final = ARRAY_VIEWS | SHARES_MEMORY | _ON_OTHERS
_MODULE_PARTS: Final = frozenset(
    "parameters named_parameters buffers named_buffers children named_children modules named_modules "
    "get_parameter get_buffer get_submodule to cuda cpu xpu ipu type float double half bfloat16 train eval "
    "requires_grad_ apply share_memory to_empty".split()
)
"""Methods of modules that give the module itself or parts of it."""
_OF_SEQUENCES: Final = {
    "values": MEMBERS, "items": NUMBERED, "copy": ALIKE, "get": MEMBER, "pop": MEMBER, "popleft": MEMBER,
    "popitem": MEMBER, "setdefault": MEMBER, "__getitem__": MEMBER, "keys": FRESH, "union": ALIKE, "most_common": FRESH,
}  # fmt: skip
_OF_PYTHON: Final = {
    **dict.fromkeys(
        "builtins.list builtins.tuple builtins.iter builtins.dict "
        "collections.deque collections.OrderedDict collections.defaultdict "
        "tqdm.tqdm tqdm.auto.tqdm tqdm.notebook.tqdm".split(),
        ALIKE,
    ),
    **dict.fromkeys(
        "builtins.set builtins.frozenset builtins.sorted builtins.reversed builtins.filter builtins.map itertools.tee "
        "itertools.islice itertools.cycle itertools.chain itertools.chain.from_iterable".split(),
        MEMBERS,
    ),
    "builtins.enumerate": NUMBERED,
    "builtins.zip": ZIPPED,
    "itertools.zip_longest": ZIPPED,
    **dict.fromkeys("builtins.next builtins.min builtins.max random.choice".split(), MEMBER),
    **dict.fromkeys("functools.partial types.SimpleNamespace builtins.sum".split(), HOLDER),
    **dict.fromkeys(
        "torch.Tensor torch.nn.Parameter torch.nn.parameter.Parameter torch.nn.Buffer torch.autograd.Variable "
        "torch.autograd.variable.Variable torch.func.functional_call torch.utils.dlpack.from_dlpack copy.copy "
        "builtins.getattr builtins.vars "
        "torch.Tensor.as_subclass".split(),
        VIEW,
    ),
}
"""Functions and classes, those of torch that could not be measured among them."""
_HOLDERS: Final = (
    "torch.optim.", "torch.utils.data.", "torch.distributions.", "torch.nn.Sequential", "torch.nn.Module",
    "torch.nn.Parameter", "torch.nn.DataParallel", "torch.nn.parallel.", "torch.nn.utils.rnn.",
)  # fmt: skip
"""Beginnings of the names of classes whose objects keep what they are made with."""
_SELF_CONTAINED: Final = frozenset(
    "torch numpy math builtins random time os sys itertools functools collections copy json re logging operator "
    "string warnings pathlib argparse datetime typing dataclasses types tqdm".split()
)
"""Modules whose functions keep nothing and hand nothing on, but those of which a table says so."""
_ARGUMENT_LAYERS: Final = frozenset({"identity", "flatten", "unflatten"})


# ---------------------------------------------------------------------- calls
def everything_handed(call: Node) -> tuple[Node, ...]:
    """Return all that an unknown function may get hold of: arguments, its object, and what a callable was made with."""
    made = [call.ins[0]] if call.ins[0].op == CALL else []
    return tuple(dict.fromkeys([*made, *(each for _, each in handed_over(call))]))


def handings(knowledge: CallKnowledge, call: Node) -> Iterator[Handing]:
    """Yield what becomes of the arguments of a call that runs no function of the project as far as it is known."""
    target = knowledge.value(call.ins[0])
    names = sorted(each.name for each in target.references if isinstance(each, LibraryRef))
    layers = [
        each.name for each in target.references if isinstance(each, LibraryInstanceRef) and each.name[:9] == "torch.nn."
    ]
    if any(isinstance(each, ClassRef) for each in target.references):
        yield Handing(HOLDER, tuple(call.arguments.all()))
    elif names:
        for name in names:
            yield _of_function(call, name)
            if _OF_PYTHON.get(name) == ALIKE:
                yield Handing(HOLDER, (*call.arguments.keywords.values(), *call.arguments.spread))
    elif layers:
        for name in layers:
            yield _of_layer(call, name)
    elif call.ins[0].op == ATTR:
        yield from _of_method(knowledge, call, str(call.ins[0].data), call.ins[0].ins[0])
    elif target.must(MODULE) and knowledge.evaluator.presumes(Presumption.KEPT):
        yield Handing(FRESH)
    else:
        yield Handing(UNFAMILIAR, everything_handed(call))


def _of_function(call: Node, name: str) -> Handing:
    given, last = call.arguments, name.rpartition(".")[2]
    first = given.positional[:1]
    if "out" in given.keywords:
        return Handing(VIEW, (given.keywords["out"],))
    if name == "torch.Tensor" and len(given.positional) > 1:
        return Handing(FRESH)
    if name in _OF_PYTHON:
        sort = _OF_PYTHON[name]
        return Handing(sort, given.positional if sort in (ALIKE, MEMBERS, NUMBERED) else tuple(given.all()))
    if name.startswith(_HOLDERS):
        return Handing(HOLDER, tuple(given.all()))
    if name.startswith("torch."):
        is_inplace = last.endswith("_") or ("inplace" in given.keywords and name in TAKES_INPLACE)
        return Handing(VIEW, tuple(given.all())) if name in SHARES_MEMORY or is_inplace else Handing(FRESH)
    if name.startswith("numpy."):
        return Handing(VIEW, first) if last in _NUMPY_VIEWS else Handing(FRESH)
    if name.partition(".")[0] in _SELF_CONTAINED:
        return Handing(FRESH)
    return Handing(UNFAMILIAR, everything_handed(call))


@lru_cache(maxsize=1)
def _layers_on_memory() -> frozenset[str]:
    """Return the layers, in small letters, whose function may hand on its argument or write into it."""
    found = TAKES_INPLACE | SHARES_MEMORY
    return frozenset(each.rpartition(".")[2].replace("_", "") for each in found) | _ARGUMENT_LAYERS


def may_be_inplace(layer: str) -> bool:
    """Whether a layer, by its dotted name, may be told to write into what it is given."""
    return layer.startswith("torch.nn.") and layer.rpartition(".")[2].lower() in _layers_on_memory()


def _of_layer(call: Node, name: str) -> Handing:
    last = name.rpartition(".")[2].lower()
    is_container = last in ("sequential", "module", "dataparallel", "distributeddataparallel")
    return Handing(VIEW if is_container or last in _layers_on_memory() else FRESH, tuple(call.arguments.all()))


def _of_method(knowledge: CallKnowledge, call: Node, word: str, owner: Node) -> Iterator[Handing]:
    value, given = knowledge.value(owner), call.arguments
    is_known = False
    if value.may(TENSOR | ARRAY):
        if (word.endswith("_") and not word.startswith("_")) or word in _SHARING:
            is_known = True
            yield Handing(VIEW if not value.must(ARRAY) or word in ARRAY_VIEWS else FRESH, (owner,))
            if word in KEEPS_GRAD_SOMETIMES and word != "view":  # ``view(dtype)`` has no graph, the same memory
                yield Handing(FRESH)
        elif word in METHODS or value.must(TENSOR | ARRAY):
            is_known = True
            yield Handing(FRESH)
    if value.may(SEQUENCE) and (word in _OF_SEQUENCES or value.must(SEQUENCE)):
        is_known = True
        sort = _OF_SEQUENCES.get(word, FRESH)
        yield Handing(sort, (owner,))
        if word in ("get", "setdefault", "pop"):
            for each in given.positional[1:]:
                yield Handing(VIEW, (each,))
    if value.may(MODULE) and word == "state_dict":
        is_known = True
        yield Handing(HOLDER, (owner,))
    elif value.may(MODULE) and word in _MODULE_PARTS and value.kind != ANY:
        is_known = True
        yield Handing(VIEW, (owner,))
    if not is_known:
        is_plain = value.must(NUMBER | STRING | SIZE)
        yield Handing(FRESH) if is_plain else Handing(UNFAMILIAR, (owner, *given.all()))


# ---------------------------------------------------------------------- what the sorts mean
def path_back(sort: str, path: Path, position: int) -> Path | None:
    """Return what a path from the result of a call leads through in its argument; None where it leads to none."""
    if sort in (VIEW, UNFAMILIAR):
        return (ANY_DEPTH,)
    if sort == MEMBER:
        return (ANY_ELEMENT, *path)
    if not path:
        return None
    if sort == ALIKE:
        return path
    if sort == HOLDER:
        return (ANY_DEPTH,)
    if sort == MEMBERS:
        return (ANY_ELEMENT, *path[1:])
    wanted = 1 if sort == NUMBERED else position
    if sort not in (NUMBERED, ZIPPED) or (len(path) > 1 and isinstance(path[1], int) and path[1] != wanted):
        return None
    is_step = path[1:2] in ((wanted,), (ANY_ELEMENT,))  # else the pairs were made to something else on the way
    return (ANY_ELEMENT, *path[2:]) if is_step else (ANY_ELEMENT, ANY_DEPTH)


def inside(path: Path) -> Path:
    """Return what a path asks of a member of the container at which it starts."""
    return path if path[:1] == (ANY_DEPTH,) else path[1:]


def depth_forward(sort: str, held: int) -> int | None:
    """Return how deep in the result of a call what lies that deep in its argument lies; None where it is not in it."""
    if sort in (VIEW, UNFAMILIAR):
        return held
    if sort in (ALIKE, MEMBERS):
        return max(held, 1)
    if sort == MEMBER:
        return max(held - 1, 0)
    if sort == HOLDER:
        return held + 1
    return max(held, 1) + 1 if sort in (NUMBERED, ZIPPED) else None
