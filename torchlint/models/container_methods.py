"""What the methods of lists, dicts, sets, deques and texts give: a path is pushed on to what they belong to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from torchlint.models.descent import constant, constants_of, descend
from torchlint.models.library_rows import MADE_TUPLE
from torchlint.semantic.graph import CALL, COMPREHENSION, DICT, GROW, PHI, PI, SPREAD, Node
from torchlint.semantic.graph import SEQUENCE as DISPLAY
from torchlint.values import abstract as a
from torchlint.values.abstract import (
    A_SEQUENCE,
    A_TEXT,
    AN_INTEGER,
    BOTTOM,
    NOTHING,
    Abstract,
    join,
    join_all,
    of_kind,
    unknown,
)
from torchlint.values.asking import ANY_ELEMENT, Asker, CallSite, Path, Selector
from torchlint.values.contexts import Context
from torchlint.values.references import LibraryInstanceRef

KEYS: Final = of_kind(a.STRING | a.NUMBER | a.OTHER | a.SEQUENCE | a.NONE)
"""What a dict is keyed by: tensors and modules can be keys, and are not."""
_FLAG: Final = of_kind(a.SCALAR)

_NOTHING_METHODS = """
    append extend insert update clear sort reverse remove add appendleft extendleft discard move_to_end rotate subtract
    intersection_update difference_update symmetric_difference_update put put_nowait close __setitem__ __delitem__
""".split()
_MERGING_METHODS = "union intersection difference symmetric_difference __add__ __or__ __and__ __sub__ __mul__".split()


Member = Callable[[Path], Abstract]
"""A member of a tuple: what a path leads to from it."""


def selector_of(asker: Asker, node: Node, context: Context | None) -> Selector:
    """Return the step into a container that an index or a key stands for: of a constant its own, else any."""
    known = constants_of(asker.value(node, (), context))
    if known is None or len(known) != 1:
        return ANY_ELEMENT
    key = next(iter(known))
    if isinstance(key, int) and not isinstance(key, bool):
        return key
    return f"={key}" if isinstance(key, str) else ANY_ELEMENT


def in_any_order(path: Path) -> Path:
    """Return a path into a container whose members may have changed their places."""
    return (ANY_ELEMENT, *path[1:]) if path and isinstance(path[0], int) else path


def of_row(row: tuple[Member, ...], path: Path) -> Abstract:
    """Follow a path into a tuple of known members."""
    if not path:
        return A_SEQUENCE
    at, rest = path[0], path[1:]
    if isinstance(at, int):
        return row[at](rest) if -len(row) <= at < len(row) else BOTTOM
    return join_all(each(rest) for each in row) if at == ANY_ELEMENT else descend(A_SEQUENCE, path)


def rows(row: tuple[Member, ...], path: Path) -> Abstract:
    """Follow a path into a container of tuples of known members."""
    if not path:
        return A_SEQUENCE
    return of_row(row, path[1:]) if path[0] == ANY_ELEMENT or isinstance(path[0], int) else descend(A_SEQUENCE, path)


def gives_pairs(node: Node, depth: int = 6) -> bool:
    """Whether a node is a container of pairs by its form, of which ``dict`` takes the second as values."""
    if node.op in (PHI, PI, GROW, SPREAD) and node.ins and depth:
        return gives_pairs(node.ins[0], depth - 1)
    if node.op == CALL:
        spelled = node.arguments.spelled.rpartition(".")[2] or str(node.ins[0].data)
        if spelled in ("sorted", "list", "filter", "reversed", "tuple") and node.arguments.positional and depth:
            return any(gives_pairs(each, depth - 1) for each in node.arguments.positional)
        return spelled in ("zip", "enumerate", "items", "map", "named_parameters", "named_modules", "named_buffers")
    return node.op == DISPLAY or (node.op == COMPREHENSION and node.data != "dict")


# ---------------------------------------------------------------------- methods
def container_method(site: CallSite, owner: Abstract, word: str, path: Path) -> Abstract | None:
    """Return what a method of Python's containers gives; None for words that they have not."""
    del owner
    source = site.receiver
    if source is None:
        return None
    method = _METHODS.get(word)
    if method is not None:
        return method(site, source, path)
    known = _RESULTS.get(word)
    return descend(known, path) if known is not None else None


def _into(site: CallSite, source: Node, path: Path) -> Abstract:
    return site.asker.value(source, path, site.context)


def _items(site: CallSite, source: Node, path: Path) -> Abstract:
    return rows(
        (lambda rest: descend(keys_of(source), rest), lambda rest: _into(site, source, (ANY_ELEMENT, *rest))), path
    )


def keys_of(source: Node) -> Abstract:
    """Return what a dict is keyed by, as far as it is written as one."""
    written = source.data if source.op == DICT else None
    if isinstance(written, tuple) and written and all(isinstance(each, str | int) for each in written):
        return join_all(map(constant, written)).plain()
    return KEYS


def _values(site: CallSite, source: Node, path: Path) -> Abstract:
    if not path:
        return A_SEQUENCE
    return _into(site, source, (ANY_ELEMENT, *path[1:]))


def _keys(_: CallSite, source: Node, path: Path) -> Abstract:
    return A_SEQUENCE if not path else descend(keys_of(source), path[1:])


def _taken(site: CallSite, source: Node, path: Path) -> Abstract:
    """Return what ``get``, ``pop`` and ``setdefault`` give: what is under the key, or what is given in its place."""
    key, word = site.argument(0, "key"), site.word
    selector = ANY_ELEMENT if key is None else selector_of(site.asker, key, site.context)
    value = _into(site, source, (selector, *path))
    if not value.kind and selector != ANY_ELEMENT:
        value = _into(site, source, (ANY_ELEMENT, *path))
    default = site.value(1, "default", path)
    if default is not None:
        return join(value, default)
    if word in ("get", "setdefault") and not path:
        return join(value, NOTHING)
    return value if value.kind or word == "get" else unknown(a.OF_ATTR, site.node)


def _first(site: CallSite, source: Node, path: Path) -> Abstract:
    return _into(site, source, (ANY_ELEMENT, *path))


def _pair(site: CallSite, source: Node, path: Path) -> Abstract:
    return of_row(
        (lambda rest: descend(keys_of(source), rest), lambda rest: _into(site, source, (ANY_ELEMENT, *rest))), path
    )


def _itself(site: CallSite, source: Node, path: Path) -> Abstract:
    return A_SEQUENCE if not path else _into(site, source, path)


def _merged(site: CallSite, source: Node, path: Path) -> Abstract:
    """Return a container of the members of several."""
    if not path:
        return A_SEQUENCE
    inner = in_any_order(path)
    every = (source, *site.given.positional)
    return join_all(site.asker.value(each, inner, site.context) for each in every)


def _most_common(_: CallSite, __: Node, path: Path) -> Abstract:
    return rows((lambda rest: descend(KEYS, rest), lambda rest: descend(AN_INTEGER, rest)), path)


def _replaced(site: CallSite, source: Node, path: Path) -> Abstract:
    """Return a named tuple after ``_replace``: what is named by keyword, else what it had."""
    if path and isinstance(path[0], str) and (new := site.given.keywords.get(path[0][1:])) is not None:
        return site.asker.value(new, path[1:], site.context)
    value = _into(site, source, path)
    if path:
        spread = (site.asker.value(each, (ANY_ELEMENT, *path[1:]), site.context) for each in site.given.spread)
        value = join(value, join_all(spread))
    if not path:
        own = frozenset([LibraryInstanceRef(MADE_TUPLE, site.node, site.context)])
        return value.but(references=own) if value.kind == a.SEQUENCE and value.references else value
    if isinstance(path[0], int) or path[0] == ANY_ELEMENT:
        news = site.given.keywords.values()
        return join(value, join_all(site.asker.value(each, path[1:], site.context) for each in news))
    return value


def _as_dictionary(site: CallSite, source: Node, path: Path) -> Abstract:
    if path and isinstance(path[0], str) and path[0][:1] == "=":
        return _into(site, source, (f".{path[0][1:]}", *path[1:]))
    return A_SEQUENCE if not path else _into(site, source, path)


_METHODS: Final[dict[str, Callable[[CallSite, Node, Path], Abstract]]] = {
    "items": _items, "values": _values, "keys": _keys, "most_common": _most_common, "popitem": _pair,
    "get": _taken, "pop": _taken, "setdefault": _taken, "__getitem__": _taken,
    "popleft": _first, "get_nowait": _first, "__next__": _first, "send": _first,
    "copy": _itself, "__copy__": _itself, "__iter__": _itself, "elements": _itself, "__deepcopy__": _itself,
    "_replace": _replaced, "_asdict": _as_dictionary, **dict.fromkeys(_MERGING_METHODS, _merged),
}  # fmt: skip
CONTAINER_READS: Final = frozenset("items keys values get pop popleft setdefault popitem copy".split())
"""Methods that give what a container holds, or a part of it."""
_RESULTS: Final = {
    **dict.fromkeys(_NOTHING_METHODS, NOTHING),
    **dict.fromkeys(("index", "count", "__len__", "numel", "total", "qsize"), AN_INTEGER),
    **dict.fromkeys(("isdisjoint", "issubset", "issuperset", "__contains__", "empty", "full", "__eq__"), _FLAG),
}
CONTAINER_METHODS: Final = frozenset(_METHODS) | frozenset(_RESULTS)


# ---------------------------------------------------------------------- texts
_FOLDED = frozenset("lower upper casefold strip lstrip rstrip removeprefix removesuffix startswith endswith".split())
"""Methods of a text that are worked out where all is known: what comes of them does not grow."""
_TEXTS_IN_A_LIST = frozenset("split rsplit splitlines partition rpartition".split())
_NUMBERS_OF_TEXTS = frozenset("find rfind index rindex count __len__".split())


def text_method(site: CallSite, owner: Abstract, word: str, path: Path) -> Abstract:
    """Return what a method of a text or of bytes gives."""
    if word in _TEXTS_IN_A_LIST:
        return A_SEQUENCE if not path else descend(A_TEXT, path[1:])
    if word in _NUMBERS_OF_TEXTS:
        return descend(AN_INTEGER, path)
    if word in _FOLDED and (folded := _folded(site, owner, word)) is not None:
        return descend(folded, path)
    return descend(_FLAG if word.startswith(("is", "startswith", "endswith", "__contains__")) else A_TEXT, path)


def _folded(site: CallSite, owner: Abstract, word: str) -> Abstract | None:
    given = [constants_of(site.asker.value(each, (), site.context)) for each in site.given.positional]
    texts = constants_of(owner)
    if not texts or site.given.keywords or site.given.starred or any(each is None or len(each) != 1 for each in given):
        return None
    arguments = [next(iter(each)) for each in given if each]
    results: list[object] = []
    for text in texts:
        if not isinstance(text, str):
            return None
        try:
            results.append(getattr(text, word)(*arguments))
        except TypeError:  # too many arguments, or too few
            return None
    return join_all(map(constant, results))
