"""Who calls what it is handed: executors, ``map``, threads, hooks, collate functions; each as a call of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from torchlint.models.library_rows import canonical
from torchlint.semantic.graph import (
    ATTR,
    CALL,
    COMPREHENSION,
    CONST,
    ELEMENT,
    OPAQUE,
    CallArguments,
    Node,
    ProcessState,
)
from torchlint.syntax.places import leaf
from torchlint.values.asking import CallSite


@dataclass(frozen=True, slots=True, eq=False)
class HandedCall:
    """A call that a library makes of what it is handed."""

    function: Node
    call: Node


_Make = Callable[[CallSite, Node, int], CallArguments]


# ---------------------------------------------------------------------- nodes that no text has
def made_node(site: CallSite, key: tuple[object, ...], op: str, ins: tuple[Node, ...], data: object) -> Node:
    """Return a node that a library makes where a call stands, the same one for one key."""
    whole = (site.node, *key)
    at = site.node
    return site.asker.derived(whole, lambda: Node(op, ins, data, at.at, at.fn, at.state))


def element_of(site: CallSite, source: Node) -> Node:
    """Return the node of what iterating over another gives."""
    return made_node(site, ("element of", source), ELEMENT, (source,), None)


def nothing_known(site: CallSite) -> Node:
    """Return a node of which nothing is known."""
    return made_node(site, ("nothing known",), OPAQUE, (), None)


def some_number(site: CallSite) -> Node:
    """Return a node of an integer that is not known: ``ndim`` is one whatever has it."""
    return made_node(site, ("number",), ATTR, (nothing_known(site),), "ndim")


def call_with(site: CallSite, function: Node, given: CallArguments) -> Node:
    """Return the call of a function that another call makes."""
    return made_node(site, ("handed", function), CALL, (function,), given)


# ---------------------------------------------------------------------- what the function is given
def _rest(site: CallSite, function: Node, position: int) -> CallArguments:
    """``submit(f, *args, **kwargs)``."""
    given, first = site.given, position + 1
    starred = frozenset(at - first for at in given.starred if at >= first)
    keywords = {word: each for word, each in given.keywords.items() if each is not function}
    return CallArguments(given.positional[first:], keywords, starred, given.spread)


def _elements(site: CallSite, _: Node, position: int) -> CallArguments:
    """``map(f, xs, ys)``, ``dataset.map(f)``."""
    sources = site.given.positional[position + 1 :]
    if not sources and site.receiver is not None:
        sources = (site.receiver,)
    return CallArguments(tuple(element_of(site, each) for each in sources))


def _each_of_first(site: CallSite, _: Node, __: int) -> CallArguments:
    """``sorted(xs, key=f)``."""
    given = site.given.positional
    return CallArguments((element_of(site, given[0]),) if given else (nothing_known(site),))


def _each_of_receiver(site: CallSite, _: Node, __: int) -> CallArguments:
    """``xs.sort(key=f)``."""
    source = site.receiver
    return CallArguments((element_of(site, source) if source is not None else nothing_known(site),))


def _spread_element(site: CallSite, _: Node, position: int) -> CallArguments:
    """``starmap(f, rows)``."""
    rows = site.given.positional[position + 1 :]
    return CallArguments((element_of(site, rows[0]),), {}, frozenset({0})) if rows else CallArguments()


def _tuple_given(site: CallSite, _: Node, position: int) -> CallArguments:
    """``Thread(target=f, args=(a, b), kwargs={})``, ``apply_async(f, (a, b), {})``."""
    by_position = position >= 0
    tuple_ = site.argument(position + 1 if by_position else None, "args")
    keywords = site.argument(position + 2 if by_position else None, "kwargs") or site.argument(None, "kwds")
    positional = (tuple_,) if tuple_ is not None else ()
    return CallArguments(
        positional, {}, frozenset({0} if positional else ()), (keywords,) if keywords is not None else ()
    )


def _spawned(site: CallSite, function: Node, position: int) -> CallArguments:
    """``spawn(f, args=(a,), nprocs=4)``: the number of the process comes first."""
    given = _tuple_given(site, function, position)
    number = some_number(site)
    return CallArguments((number, *given.positional), given.keywords, frozenset(at + 1 for at in given.starred))


def _accumulator(site: CallSite, _: Node, position: int) -> CallArguments:
    """``reduce(f, xs, initial)``."""
    rest = site.given.positional[position + 1 :]
    if not rest:
        return CallArguments()
    each = element_of(site, rest[0])
    return CallArguments((rest[1] if len(rest) > 1 else each, each))


def _module_hook(site: CallSite, _: Node, __: int) -> CallArguments:
    """``net.register_forward_hook(f)``: the module, its inputs, its output."""
    module = site.receiver
    if module is None:
        return CallArguments()
    inputs, at = nothing_known(site), site.node
    state = at.state and ProcessState(inputs, at.state.device, at.state.dtype)  # who runs it decides on grad mode
    given = CallArguments((inputs,), {}, frozenset({0}))
    output = site.asker.derived((at, "output"), lambda: Node(CALL, (module,), given, at.at, at.fn, state))
    return CallArguments((module, inputs, output))


def _module_and_unknown(site: CallSite, _: Node, __: int) -> CallArguments:
    module, other = site.receiver, nothing_known(site)
    return CallArguments((module if module is not None else other, other, other))


def _gradient(site: CallSite, _: Node, __: int) -> CallArguments:
    """``t.register_hook(f)``."""
    source = site.receiver
    return CallArguments((made_node(site, ("gradient",), ATTR, (source,), "grad"),) if source is not None else ())


def _samples(site: CallSite, _: Node, __: int) -> CallArguments:
    """``DataLoader(dataset, collate_fn=f)``: a list of samples."""
    dataset = site.argument(0, "dataset")
    if dataset is None:
        return CallArguments((nothing_known(site),))
    return CallArguments((made_node(site, ("samples",), COMPREHENSION, (sample_of(site, dataset),), "list"),))


def sample_of(site: CallSite, dataset: Node) -> Node:
    """Return the node of a sample: the call of ``__getitem__`` with a number."""
    method = made_node(site, ("getter", dataset), ATTR, (dataset,), "__getitem__")
    number = some_number(site)
    return made_node(site, ("sample", dataset), CALL, (method,), CallArguments((number,)))


def _nothing(_: CallSite, __: Node, ___: int) -> CallArguments:
    return CallArguments()


def _unknown(site: CallSite, _: Node, __: int) -> CallArguments:
    return CallArguments((nothing_known(site),), {}, frozenset({0}))


def _inputs(site: CallSite, _: Node, position: int) -> CallArguments:
    """``jacobian(f, inputs)``: one tensor, or a tuple of them."""
    inputs = site.argument(position + 1, "inputs") or nothing_known(site)
    is_tuple = inputs.op == "sequence"
    return CallArguments(inputs.ins if is_tuple else (inputs,))


def _receiver(site: CallSite, _: Node, __: int) -> CallArguments:
    return CallArguments((site.receiver,) if site.receiver is not None else (nothing_known(site),))


# ---------------------------------------------------------------------- the table
@dataclass(frozen=True, slots=True)
class _Row:
    """Where the function stands, by position and keyword, and what it is given."""

    position: int | None
    keyword: str | None
    make: _Make


_ROWS: Final[dict[str, _Row]] = {
    "submit": _Row(0, "fn", _rest), "to_thread": _Row(0, "func", _rest), "call_soon": _Row(0, "callback", _rest),
    "run_in_executor": _Row(1, "func", _rest), "checkpoint": _Row(0, "function", _rest),
    "run_in_threadpool": _Row(0, "func", _rest),
    "call_soon_threadsafe": _Row(0, "callback", _rest), "call_later": _Row(1, "callback", _rest),
    "map": _Row(0, "func", _elements), "imap": _Row(0, "func", _elements),
    "imap_unordered": _Row(0, "func", _elements), "map_async": _Row(0, "func", _elements),
    "thread_map": _Row(0, "fn", _elements), "process_map": _Row(0, "fn", _elements),
    "filter": _Row(0, "function", _elements), "starmap": _Row(0, "func", _spread_element),
    "starmap_async": _Row(0, "func", _spread_element), "apply_async": _Row(0, "func", _tuple_given),
    "Thread": _Row(1, "target", _tuple_given), "Process": _Row(1, "target", _tuple_given),
    "Timer": _Row(1, "function", _tuple_given), "start_new_thread": _Row(0, "function", _tuple_given),
    "spawn": _Row(0, "fn", _spawned), "start_processes": _Row(0, "fn", _spawned),
    "reduce": _Row(0, "function", _accumulator), "accumulate": _Row(1, "func", _accumulator),
    "sorted": _Row(None, "key", _each_of_first), "max": _Row(None, "key", _each_of_first),
    "min": _Row(None, "key", _each_of_first), "sort": _Row(None, "key", _each_of_receiver),
    "groupby": _Row(1, "key", _each_of_first), "takewhile": _Row(0, "predicate", _elements),
    "dropwhile": _Row(0, "predicate", _elements), "filterfalse": _Row(0, "predicate", _elements),
    "DataLoader": _Row(7, "collate_fn", _samples), "defaultdict": _Row(0, "default_factory", _nothing),
    "register_forward_hook": _Row(0, "hook", _module_hook), "register_hook": _Row(0, "hook", _gradient),
    "register_forward_pre_hook": _Row(0, "hook", _module_and_unknown),
    "register_full_backward_hook": _Row(0, "hook", _module_and_unknown),
    "register_backward_hook": _Row(0, "hook", _module_and_unknown),
    "register_post_accumulate_grad_hook": _Row(0, "hook", _receiver),
    "step": _Row(0, "closure", _nothing), "add_done_callback": _Row(0, "fn", _unknown),
    "jacobian": _Row(0, "func", _inputs), "hessian": _Row(0, "func", _inputs), "vjp": _Row(0, "func", _inputs),
    "jvp": _Row(0, "func", _inputs), "gradcheck": _Row(0, "func", _inputs), "gradgradcheck": _Row(0, "func", _inputs),
    "vectorize": _Row(0, "pyfunc", _unknown), "apply_along_axis": _Row(0, "func1d", _unknown),
    "tree_map": _Row(0, "func", _elements),
    "apply": _Row(0, "fn", _unknown),
    "Lambda": _Row(0, "lambd", _unknown), "LambdaLR": _Row(1, "lr_lambda", _unknown),
}  # fmt: skip
"""By the last word of a function or method: who calls it alike is called alike."""

CALLING_WORDS: Final = frozenset(_ROWS) | frozenset("partial vmap grad jacrev jacfwd delayed wraps".split())
"""Last words of the calls that call what they are handed: a function whose name is mentioned there may be called."""


def handed_calls(site: CallSite, name: str) -> list[HandedCall]:
    """Return the calls that a library's function or method makes of what a call hands over.

    :param name: the dotted name of what is called, or the word of a method whose object is not known
    """
    row = _ROWS.get(leaf(canonical(name)))
    return [] if row is None else list(_handed(site, row))


def _handed(site: CallSite, row: _Row) -> Iterator[HandedCall]:
    if row.keyword is not None and row.keyword in site.given.keywords:
        function, position = site.given.keywords[row.keyword], -1
    else:
        found = site.argument(row.position)
        if found is None or row.position is None:
            return
        function, position = found, row.position
    if function.op == CONST:
        return
    yield HandedCall(function, call_with(site, function, row.make(site, function, position)))
