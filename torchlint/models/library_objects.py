"""What objects of Python's standard library give: getters, named tuples, executors and what they promise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from torchlint.models.container_methods import of_row, selector_of
from torchlint.models.descent import descend, texts_of
from torchlint.models.handed_calls import handed_calls
from torchlint.models.library_rows import MADE_TUPLE
from torchlint.models.unknown_results import unknown_call
from torchlint.semantic.graph import ATTR, CALL, CallArguments, Node
from torchlint.values.abstract import (
    A_SEQUENCE,
    A_TEXT,
    BOTTOM,
    NOTHING,
    OF_ATTR,
    OTHER,
    SCALAR,
    SEQUENCE,
    Abstract,
    join,
    join_all,
    of_kind,
    unknown,
)
from torchlint.values.asking import ANY_ELEMENT, Asker, CallSite, Path
from torchlint.values.contexts import Context
from torchlint.values.references import LibraryInstanceRef

FUTURE: Final = "concurrent.futures.Future"
_POOLS: Final = frozenset(
    f"{module}.{word}"
    for module, word in (
        ("concurrent.futures", "ThreadPoolExecutor"),
        ("concurrent.futures", "ProcessPoolExecutor"),
        ("multiprocessing", "Pool"),
        ("multiprocessing.pool", "ThreadPool"),
        ("multiprocessing.pool", "Pool"),
    )
)
_PROMISING: Final = frozenset("submit apply_async map_async starmap_async".split())
_ONE_BY_ONE: Final = frozenset("map imap imap_unordered starmap".split())


def handed_results(site: CallSite, word: str, path: Path) -> Abstract | None:
    """Return what the calls give that a call makes of what it is handed; None where it makes none."""
    asker, context = site.asker, site.context
    found = [
        asker.call_of(asker.value(each.function, (), context), each.call, path, context)
        for each in handed_calls(site, word)
    ]
    return join_all(found) if found else None


# ---------------------------------------------------------------------- called
def python_object_call(site: CallSite, reference: LibraryInstanceRef, path: Path) -> Abstract | None:
    """Return what calling an object of the standard library gives; None where that is not known."""
    made = reference.made
    if made is None:
        return None
    maker = CallSite(site.asker, made, reference.context)
    match reference.name:
        case "operator.itemgetter":
            return _got(site, maker, path)
        case "operator.attrgetter":
            return _attribute_got(site, maker, path)
        case "operator.methodcaller":
            return unknown_call(site, path)
        case "functools.wraps" | "functools.lru_cache" | "functools.total_ordering" | "torch.compile" | "numba.jit":
            return site.value(0, None, path)
        case "collections.namedtuple":
            return _named_tuple(site, maker, path)
    return None


def _got(site: CallSite, maker: CallSite, path: Path) -> Abstract | None:
    """``itemgetter(key)(x)``."""
    keys = maker.given.positional
    if len(keys) == 1:
        return site.value(0, None, (selector_of(maker.asker, keys[0], maker.context), *path))
    return A_SEQUENCE if not path else site.value(0, None, (ANY_ELEMENT, *path[1:]))


def _attribute_got(site: CallSite, maker: CallSite, path: Path) -> Abstract | None:
    words = [texts_of(maker.asker.value(each, (), maker.context)) for each in maker.given.positional]
    owner = site.value(0)
    if owner is None or len(words) != 1:
        return None
    asker, found = site.asker, BOTTOM
    for word in words[0]:
        first, *rest = word.split(".")
        inner = (*(f".{each}" for each in rest), *path)
        found = join(found, asker.attribute_of(owner, first, inner, site.node, site.context))
    return found if found.kind else None


# ---------------------------------------------------------------------- named tuples
def made_tuple(site: CallSite, kind: int = SEQUENCE | OTHER) -> Abstract:
    """Return an object whose attributes are what a path of a word leads to from the call that made it."""
    return of_kind(kind, frozenset([LibraryInstanceRef(MADE_TUPLE, site.node, site.context)]))


def _named_tuple(site: CallSite, maker: CallSite, path: Path) -> Abstract:
    """Return the tuple that calling a class of ``collections.namedtuple`` makes."""
    fields = _fields(maker)
    if not path or fields is None:
        own = frozenset([LibraryInstanceRef(MADE_TUPLE, site.node, site.context)])
        return of_kind(SEQUENCE, own) if not path else unknown(OF_ATTR, site.node)
    step = path[0]
    if isinstance(step, str) and step[:1] == ".":
        return _field(site, fields, step[1:], path[1:])
    return of_row(tuple(_field_of(site, fields, word) for word in fields), path)


def _field_of(site: CallSite, fields: list[str], word: str) -> Callable[[Path], Abstract]:
    return lambda rest: _field(site, fields, word, rest)


def _field(site: CallSite, fields: list[str], word: str, path: Path) -> Abstract:
    if word not in fields:
        return unknown(OF_ATTR, site.node)
    given = site.value(fields.index(word), word, path)
    return given if given is not None else unknown(OF_ATTR, site.node)


def _fields(maker: CallSite) -> list[str] | None:
    """Return the names of the fields: a text of words, or a list of texts; None where they are not known."""
    node = maker.argument(1, "field_names")
    if node is None:
        return None
    texts = texts_of(maker.asker.value(node, (), maker.context))
    if len(texts) == 1:
        return next(iter(texts)).replace(",", " ").split()
    words = [texts_of(maker.asker.value(each, (), maker.context)) for each in node.ins if node.op == "sequence"]
    return [next(iter(each)) for each in words] if words and all(len(each) == 1 for each in words) else None


# ---------------------------------------------------------------------- methods and attributes
def python_object_method(site: CallSite, reference: LibraryInstanceRef, word: str, path: Path) -> Abstract | None:
    """Return what a method of an object of the standard library gives; None where that is not known."""
    if reference.name in _POOLS:
        return _of_pool(site, word, path)
    if reference.name == FUTURE and reference.made is not None:
        return _of_future(CallSite(site.asker, reference.made, reference.context), word, path)
    return None


def _of_pool(site: CallSite, word: str, path: Path) -> Abstract | None:
    """Return what an executor gives: what the function gives, for each, or the promise of it."""
    if word in _PROMISING:
        return descend(of_kind(OTHER, frozenset([LibraryInstanceRef(FUTURE, site.node, site.context)])), path)
    if word in _ONE_BY_ONE:
        return A_SEQUENCE if not path else handed_results(site, word, path[1:])
    if word in ("shutdown", "close", "join", "terminate"):
        return NOTHING
    return handed_results(site, "apply_async", path) if word == "apply" else None


def _of_future(maker: CallSite, word: str, path: Path) -> Abstract | None:
    if word in ("result", "get"):
        several = maker.word in ("map_async", "starmap_async")
        if several and not path:
            return A_SEQUENCE
        return handed_results(maker, maker.word, path[1:] if several else path)
    if word in ("done", "cancel", "cancelled", "running", "ready", "successful"):
        return of_kind(SCALAR)
    return NOTHING if word in ("add_done_callback", "wait") else None


def python_object_attribute(
    asker: Asker, reference: LibraryInstanceRef, word: str, path: Path, at: Node, context: Context | None
) -> Abstract | None:
    """Return an attribute of an object of the standard library; None where that is not known."""
    if reference.made is None:
        return None
    site = CallSite(asker, reference.made, reference.context)
    if reference.name == MADE_TUPLE:
        return asker.value(reference.made, (f".{word}", *path), reference.context) if word[:1] != "_" else A_TEXT
    if reference.name in ("types.SimpleNamespace", "argparse.Namespace"):
        del at, context
        return site.value(None, word, path)
    return None


def bound_elsewhere(site: CallSite, name: str) -> CallSite | None:
    """Return a call through a class, ``torch.Tensor.add(x, y)``, as the method of its first argument; None without."""
    given = site.given
    if not given.positional or 0 in given.starred:
        return None
    owner = given.positional[0]
    at, word = site.node, name.rpartition(".")[2]
    method = site.asker.derived((at, "method"), lambda: Node(ATTR, (owner,), word, at.at, at.fn, at.state))
    rest = CallArguments(
        given.positional[1:], given.keywords, frozenset(each - 1 for each in given.starred), given.spread, given.spelled
    )
    call = site.asker.derived((at, "through its class"), lambda: Node(CALL, (method,), rest, at.at, at.fn, at.state))
    return CallSite(site.asker, call, site.context)
