"""What is made by going through others: lists, dicts, ``zip``, ``map``, ``itertools``; a path goes to the argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from torchlint.models.container_methods import KEYS, gives_pairs, in_any_order, rows
from torchlint.models.descent import descend
from torchlint.models.handed_calls import handed_calls
from torchlint.models.unknown_results import unknown_call
from torchlint.semantic.graph import Node
from torchlint.values.abstract import (
    A_SEQUENCE,
    AN_INTEGER,
    ARRAY,
    BOTTOM,
    NOTHING,
    OF_ATTR,
    TENSOR,
    Abstract,
    join,
    join_all,
    unknown,
)
from torchlint.values.asking import ANY_ELEMENT, CallSite, Path

Transfer = Callable[[CallSite, Path], Abstract]


def first_argument(site: CallSite) -> Node | None:
    """Return the first argument by position; None where there is none, or an iterable is spread there."""
    given = site.given
    return given.positional[0] if given.positional and 0 not in given.starred else None


def spread_elements(site: CallSite, path: Path) -> Abstract:
    """Return what a path leads to from an element of any argument, those that are spread included."""
    found = BOTTOM
    for position, each in enumerate(site.given.positional):
        inner = (ANY_ELEMENT, *path) if position in site.given.starred else path
        found = join(found, site.asker.elements(each, inner, site.context))
    return found


def _elements_alike(site: CallSite, path: Path) -> Abstract:
    """``list(xs)``: the same members at the same places."""
    source = first_argument(site)
    if not path:
        return A_SEQUENCE
    if source is None:
        return BOTTOM if not site.given.positional else unknown(OF_ATTR, site.node)
    if path[0] == ANY_ELEMENT:
        return site.asker.elements(source, path[1:], site.context)
    value = site.asker.value(source, path, site.context)
    if not value.kind and isinstance(path[0], int):
        return site.asker.elements(source, path[1:], site.context)
    return value


def elements_in_any_order(site: CallSite, path: Path) -> Abstract:
    """Return the members of an argument, which may have changed their places."""
    return _elements_alike(site, in_any_order(path))


def _iterator(site: CallSite, path: Path) -> Abstract:
    source = first_argument(site)
    if source is None or path:
        return _elements_alike(site, path)
    flat = site.asker.value(source, (), site.context)
    return flat if flat.references and not flat.kind & (TENSOR | ARRAY) else A_SEQUENCE


def _dict(site: CallSite, path: Path) -> Abstract:
    """``dict(pairs, word=value)``: of pairs the second, of another dict what it holds."""
    if not path:
        return A_SEQUENCE
    step = path[0]
    word = step[1:] if isinstance(step, str) and step[:1] == "=" else None
    if word is not None and word in site.given.keywords:
        return site.asker.value(site.given.keywords[word], path[1:], site.context)
    value = BOTTOM
    if step == ANY_ELEMENT:
        value = join_all(site.asker.value(each, path[1:], site.context) for each in site.given.keywords.values())
    source = first_argument(site)
    if source is not None and gives_pairs(source):
        value = join(value, site.asker.elements(source, (1, *path[1:]), site.context))
    elif source is not None:
        value = join(value, site.asker.value(source, path, site.context))
    return join(value, join_all(site.asker.value(each, path, site.context) for each in site.given.spread))


def _dict_from_keys(site: CallSite, path: Path) -> Abstract:
    return A_SEQUENCE if not path else site.value(1, "value", path[1:]) or NOTHING


def _defaultdict(site: CallSite, path: Path) -> Abstract:
    """``defaultdict(f)``: what calling ``f`` gives, and what a dict that comes along holds."""
    if not path:
        return A_SEQUENCE
    made = join_all(results_of_handed(site, "collections.defaultdict", path[1:]))
    given = site.value(1, None, path)
    return join(made, given) if given is not None else made


def results_of_handed(site: CallSite, name: str, path: Path) -> list[Abstract]:
    """Return what the calls give that a call makes of what it is handed."""
    asker, context = site.asker, site.context
    return [
        asker.call_of(asker.value(each.function, (), context), each.call, path, context)
        for each in handed_calls(site, name)
    ]


def _counter(_: CallSite, path: Path) -> Abstract:
    return A_SEQUENCE if not path else descend(AN_INTEGER, path[1:])


def _enumerated(site: CallSite, path: Path) -> Abstract:
    source = first_argument(site)
    if source is None:
        return A_SEQUENCE if not path else unknown(OF_ATTR, site.node)
    return rows((lambda rest: descend(AN_INTEGER, rest), lambda rest: element_at(site, source, rest)), path)


def element_at(site: CallSite, source: Node, path: Path) -> Abstract:
    """Return what a path leads to from an element of a node."""
    return site.asker.elements(source, path, site.context)


def _zipped(site: CallSite, path: Path) -> Abstract:
    """``zip(xs, ys)``, and ``zip(*rows)``, which transposes."""
    given = site.given
    if not given.starred:
        return rows(tuple(_member_of(site, each) for each in given.positional), path)
    if len(path) < 2:
        return A_SEQUENCE
    source = given.positional[0]
    if len(given.positional) == 1 and isinstance(path[0], int):  # the first of `zip(*pairs)` are all first members
        return element_at(site, source, (path[0], *path[2:]))
    return spread_elements(site, path[2:])


def _member_of(site: CallSite, source: Node) -> Callable[[Path], Abstract]:
    return lambda rest: element_at(site, source, rest)


def value_of(site: CallSite, node: Node) -> Callable[[Path], Abstract]:
    """Return the member of a tuple that is a node's value."""
    return lambda rest: site.asker.value(node, rest, site.context)


def _zipped_longest(site: CallSite, path: Path) -> Abstract:
    value = _zipped(site, path)
    return join(value, site.value(None, "fillvalue", path[2:]) or NOTHING) if len(path) == 2 else value


def _mapped(site: CallSite, path: Path) -> Abstract:
    """``map(f, xs)``: what ``f`` gives of each."""
    if not path:
        return A_SEQUENCE
    found = results_of_handed(site, "builtins.map", path[1:])
    return join_all(found) if found else unknown(OF_ATTR, site.node)


def _star_mapped(site: CallSite, path: Path) -> Abstract:
    """``starmap(f, rows)``."""
    if not path:
        return A_SEQUENCE
    found = results_of_handed(site, "itertools.starmap", path[1:])
    return join_all(found) if found else unknown(OF_ATTR, site.node)


def _reduced(site: CallSite, path: Path) -> Abstract:
    """``reduce(f, xs, initial)``: what ``f`` gives, or the only one there is."""
    sources = site.given.positional[1:]
    value = join_all(results_of_handed(site, "functools.reduce", path))
    if len(sources) > 1:
        return join(value, site.asker.value(sources[1], path, site.context))
    return join(value, element_at(site, sources[0], path)) if sources else unknown_call(site, path)


def _filtered(site: CallSite, path: Path) -> Abstract:
    if not path or len(site.given.positional) < 2:
        return A_SEQUENCE
    return element_at(site, site.given.positional[1], path[1:])


def _next(site: CallSite, path: Path) -> Abstract:
    source = first_argument(site)
    if source is None:
        return unknown_call(site, path)
    value = element_at(site, source, path)
    default = site.value(1, "default", path)
    return join(value, default) if default is not None else value


def _chained(site: CallSite, path: Path) -> Abstract:
    return A_SEQUENCE if not path else spread_elements(site, path[1:])


def _chained_from(site: CallSite, path: Path) -> Abstract:
    source = first_argument(site)
    if not path or source is None:
        return A_SEQUENCE
    return element_at(site, source, (ANY_ELEMENT, *path[1:]))


def _product(site: CallSite, path: Path) -> Abstract:
    repeated = "repeat" in site.given.keywords
    if repeated or site.given.starred:
        return A_SEQUENCE if len(path) < 2 else spread_elements(site, path[2:])
    return rows(tuple(_member_of(site, each) for each in site.given.positional), path)


def _tuples_of(site: CallSite, path: Path) -> Abstract:
    """``combinations(xs, 2)``, ``pairwise(xs)``, ``batched(xs, 3)``, ``tee(xs)``: tuples of members."""
    source = first_argument(site)
    return A_SEQUENCE if len(path) < 2 or source is None else element_at(site, source, path[2:])


def _grouped(site: CallSite, path: Path) -> Abstract:
    source = first_argument(site)
    if source is None:
        return A_SEQUENCE
    return rows((lambda rest: descend(KEYS, rest), lambda rest: _members(site, source, rest)), path)


def _members(site: CallSite, source: Node, path: Path) -> Abstract:
    return A_SEQUENCE if not path else element_at(site, source, path[1:])


def _repeated(site: CallSite, path: Path) -> Abstract:
    return A_SEQUENCE if not path else site.value(0, "object", path[1:]) or unknown(OF_ATTR, site.node)


def _chosen(site: CallSite, path: Path) -> Abstract:
    source = first_argument(site)
    return element_at(site, source, path) if source is not None else unknown_call(site, path)


def _range(_: CallSite, path: Path) -> Abstract:
    return A_SEQUENCE if not path else descend(AN_INTEGER, path[1:])


# ---------------------------------------------------------------------- the table
def alike(names: str, transfer: Transfer) -> dict[str, Transfer]:
    """Return a row for each of some names."""
    return dict.fromkeys(names.split(), transfer)


_KEEPING_PLACES: Final = """
    list tuple collections.UserList collections.deque itertools.islice itertools.cycle tqdm.tqdm tqdm.auto.tqdm
    tqdm.notebook.tqdm tqdm.tqdm_notebook tqdm.autonotebook.tqdm tqdm.rich.tqdm rich.progress.track
    alive_progress.alive_it progressbar.progressbar
"""
_IN_ANY_ORDER: Final = """
    sorted reversed set frozenset itertools.accumulate itertools.compress random.sample random.choices
"""
_TUPLES: Final = """
    itertools.combinations itertools.permutations itertools.combinations_with_replacement itertools.pairwise
    itertools.batched itertools.tee more_itertools.chunked
"""
_DICTS: Final = "dict collections.OrderedDict collections.UserDict types.MappingProxyType collections.ChainMap"
ITERATIONS: Final[dict[str, Transfer]] = {
    **alike(_KEEPING_PLACES, _elements_alike),
    **alike(_IN_ANY_ORDER, elements_in_any_order),
    **alike(_TUPLES, _tuples_of),
    **alike(_DICTS, _dict),
    **alike("iter aiter", _iterator),
    **alike("next anext", _next),
    **alike("range tqdm.trange tqdm.auto.trange tqdm.notebook.trange", _range),
    **alike("dict.fromkeys collections.OrderedDict.fromkeys", _dict_from_keys),
    **alike("filter itertools.filterfalse itertools.takewhile itertools.dropwhile", _filtered),
    "collections.defaultdict": _defaultdict,
    "collections.Counter": _counter,
    "enumerate": _enumerated,
    "zip": _zipped,
    "itertools.zip_longest": _zipped_longest,
    "map": _mapped,
    "itertools.starmap": _star_mapped,
    "itertools.chain": _chained,
    "itertools.chain.from_iterable": _chained_from,
    "itertools.product": _product,
    "itertools.groupby": _grouped,
    "itertools.repeat": _repeated,
    "functools.reduce": _reduced,
    "random.choice": _chosen,
}
"""By full names; Python's own without ``builtins.``."""
