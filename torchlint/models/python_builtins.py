"""What Python's own functions and its standard library give: a path is pushed to the argument, no container is built."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from torchlint.models.container_methods import KEYS, gives_pairs, in_any_order, of_row, rows
from torchlint.models.descent import BUILTINS, constants_of, descend, texts_of
from torchlint.models.handed_calls import call_with, handed_calls
from torchlint.models.tensor_results import arithmetic
from torchlint.models.unknown_results import unknown_call
from torchlint.semantic.graph import CallArguments, FunctionGraph, Node
from torchlint.values.abstract import (
    A_SEQUENCE,
    A_THING,
    AN_INTEGER,
    ARRAY,
    BOTTOM,
    INTEGER,
    NONE,
    NOTHING,
    NUMBER,
    OF_ATTR,
    OTHER,
    SCALAR,
    SEQUENCE,
    STRING,
    TENSOR,
    Abstract,
    join,
    join_all,
    of_kind,
    unknown,
)
from torchlint.values.asking import ANY_ELEMENT, CallSite, Path
from torchlint.values.references import (
    ClassRef,
    InstanceRef,
    LibraryInstanceRef,
    LibraryRef,
    PartialRef,
    Reference,
    SuperRef,
)

_Transfer = Callable[[CallSite, Path], Abstract]
_FLAG: Final = of_kind(SCALAR)
_SCALAR: Final = of_kind(SCALAR)


def python_call(site: CallSite, name: str, path: Path) -> Abstract | None:
    """Return what a function or class of Python's gives, by its full name; None where nothing is known of it."""
    name = name.removeprefix("builtins.")
    if (transfer := _TRANSFERS.get(name)) is not None:
        return transfer(site, path)
    known = _RESULTS.get(name)
    if known is None and name.startswith("random."):
        known = _SCALAR
    if known is None and name in BUILTINS and name[:1].isupper():  # an exception
        known = A_THING
    return descend(known, path) if known is not None else None


# ---------------------------------------------------------------------- containers made of others
def _first(site: CallSite) -> Node | None:
    given = site.given
    return given.positional[0] if given.positional and 0 not in given.starred else None


def _spread(site: CallSite, path: Path) -> Abstract:
    """Return what a path leads to from an element of any argument, those that are spread included."""
    found = BOTTOM
    for position, each in enumerate(site.given.positional):
        inner = (ANY_ELEMENT, *path) if position in site.given.starred else path
        found = join(found, site.asker.elements(each, inner, site.context))
    return found


def _elements_alike(site: CallSite, path: Path) -> Abstract:
    """``list(xs)``: the same members at the same places."""
    source = _first(site)
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


def _elements_in_any_order(site: CallSite, path: Path) -> Abstract:
    return _elements_alike(site, in_any_order(path))


def _iterator(site: CallSite, path: Path) -> Abstract:
    source = _first(site)
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
    source = _first(site)
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
    source = _first(site)
    if source is None:
        return A_SEQUENCE if not path else unknown(OF_ATTR, site.node)
    return rows((lambda rest: descend(AN_INTEGER, rest), lambda rest: _element(site, source, rest)), path)


def _element(site: CallSite, source: Node, path: Path) -> Abstract:
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
        return _element(site, source, (path[0], *path[2:]))
    return _spread(site, path[2:])


def _member_of(site: CallSite, source: Node) -> Callable[[Path], Abstract]:
    return lambda rest: _element(site, source, rest)


def _value_of(site: CallSite, node: Node) -> Callable[[Path], Abstract]:
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


def _reduced(site: CallSite, path: Path) -> Abstract:
    """``reduce(f, xs, initial)``: what ``f`` gives, or the only one there is."""
    sources = site.given.positional[1:]
    value = join_all(results_of_handed(site, "functools.reduce", path))
    if len(sources) > 1:
        return join(value, site.asker.value(sources[1], path, site.context))
    return join(value, _element(site, sources[0], path)) if sources else unknown_call(site, path)


def _filtered(site: CallSite, path: Path) -> Abstract:
    if not path or len(site.given.positional) < 2:
        return A_SEQUENCE
    return _element(site, site.given.positional[1], path[1:])


def _next(site: CallSite, path: Path) -> Abstract:
    source = _first(site)
    if source is None:
        return unknown_call(site, path)
    value = _element(site, source, path)
    default = site.value(1, "default", path)
    return join(value, default) if default is not None else value


def _chained(site: CallSite, path: Path) -> Abstract:
    return A_SEQUENCE if not path else _spread(site, path[1:])


def _chained_from(site: CallSite, path: Path) -> Abstract:
    source = _first(site)
    if not path or source is None:
        return A_SEQUENCE
    return _element(site, source, (ANY_ELEMENT, *path[1:]))


def _product(site: CallSite, path: Path) -> Abstract:
    repeated = "repeat" in site.given.keywords
    if repeated or site.given.starred:
        return A_SEQUENCE if len(path) < 2 else _spread(site, path[2:])
    return rows(tuple(_member_of(site, each) for each in site.given.positional), path)


def _tuples_of(site: CallSite, path: Path) -> Abstract:
    """``combinations(xs, 2)``, ``pairwise(xs)``, ``batched(xs, 3)``, ``tee(xs)``: tuples of members."""
    source = _first(site)
    return A_SEQUENCE if len(path) < 2 or source is None else _element(site, source, path[2:])


def _grouped(site: CallSite, path: Path) -> Abstract:
    source = _first(site)
    if source is None:
        return A_SEQUENCE
    return rows((lambda rest: descend(KEYS, rest), lambda rest: _members(site, source, rest)), path)


def _members(site: CallSite, source: Node, path: Path) -> Abstract:
    return A_SEQUENCE if not path else _element(site, source, path[1:])


def _repeated(site: CallSite, path: Path) -> Abstract:
    return A_SEQUENCE if not path else site.value(0, "object", path[1:]) or unknown(OF_ATTR, site.node)


def _chosen(site: CallSite, path: Path) -> Abstract:
    source = _first(site)
    return _element(site, source, path) if source is not None else unknown_call(site, path)


def _range(_: CallSite, path: Path) -> Abstract:
    return A_SEQUENCE if not path else descend(AN_INTEGER, path[1:])


# ---------------------------------------------------------------------- what is computed
def _summed(site: CallSite, path: Path) -> Abstract:
    """``sum(xs, start)``."""
    source = _first(site)
    if source is None:
        return unknown_call(site, path)
    start = site.value(1, "start")
    if start is not None and start.kind == SEQUENCE:
        return A_SEQUENCE if not path else _element(site, source, path)
    each = _element(site, source, ())
    values = [each.plain(), *([start.plain()] if start is not None else [])]
    if not each.kind:
        return descend(start.plain() if start is not None else AN_INTEGER, path)
    made = arithmetic(site.asker, values if len(values) > 1 else [each.plain()] * 2, "+", site.node, site.context)
    return descend(site.asker.under(made, site.node, site.context), path)


def _extreme(site: CallSite, path: Path) -> Abstract:
    """``max(xs)`` and ``max(a, b)``: one of them, as it is."""
    given = site.given
    if len(given.positional) == 1 and not given.starred:
        value = _element(site, given.positional[0], path)
    else:
        value = BOTTOM
        for position, each in enumerate(given.positional):
            inner = (ANY_ELEMENT, *path) if position in given.starred else path
            value = join(value, site.asker.value(each, inner, site.context))
    default = site.value(None, "default", path)
    value = join(value, default) if default is not None else value
    return value.plain() if value.kind & NUMBER else value


def _computed(site: CallSite, path: Path) -> Abstract:
    """``abs``, ``round``, ``pow``: of numbers a number, of a tensor one like it."""
    operands = [each.plain() for each in site.operands()]
    if not operands:
        return unknown_call(site, path)
    if all(each.must(NUMBER) for each in operands):
        return descend(of_kind(join_all(operands).kind | (INTEGER if site.word == "round" else 0)), path)
    made = arithmetic(site.asker, operands, "**" if len(operands) > 1 else "+", site.node, site.context)
    return descend(site.asker.under(made, site.node, site.context), path)


def _converted(kind: int) -> _Transfer:
    """``int(x)``, ``float(x)``, ``bool(x)``: a number whatever is given; of a constant the constant."""

    def convert(site: CallSite, path: Path) -> Abstract:
        value = site.value(0)
        known = constants_of(value) if value is not None and value.must(kind) else None
        return descend(value if known and value is not None else of_kind(kind), path)

    return convert


def _by_operator(symbol: str) -> _Transfer:
    def transfer(site: CallSite, path: Path) -> Abstract:
        values = [site.asker.value(each, (), site.context) for each in site.given.positional]
        made = arithmetic(site.asker, values, symbol, site.node, site.context)
        return descend(site.asker.under(made, site.node, site.context), path)

    return transfer


# ---------------------------------------------------------------------- objects and functions
def _passed(position: int, word: str | None = None) -> _Transfer:
    """Return the transfer of a function that gives an argument back."""

    def passed(site: CallSite, path: Path) -> Abstract:
        return site.value(position, word, path) or unknown_call(site, path)

    return passed


def _decorator(name: str) -> _Transfer:
    """Return the transfer of what is called with a function, or with options before that."""

    def decorate(site: CallSite, path: Path) -> Abstract:
        value = site.value(0, None, path)
        is_function = value is not None and any(each.sort in _CALLABLE_SORTS for each in value.references)
        if is_function and value is not None:
            return value
        return descend(of_kind(OTHER, frozenset([LibraryInstanceRef(name, site.node, site.context)])), path)

    return decorate


_CALLABLE_SORTS = frozenset(["function", "method", "class", "partial", "library", "library instance", "instance"])


def _object(name: str) -> _Transfer:
    """Return the transfer of a class of which it is known later what its objects do."""

    def make(site: CallSite, path: Path) -> Abstract:
        return descend(of_kind(OTHER, frozenset([LibraryInstanceRef(name, site.node, site.context)])), path)

    return make


def _partial(site: CallSite, path: Path) -> Abstract:
    if not site.given.positional:
        return unknown_call(site, path)
    return descend(of_kind(OTHER, frozenset([PartialRef(site.node, site.context)])), path)


def _attribute(site: CallSite, path: Path) -> Abstract:
    """``getattr(x, "word", default)``."""
    asker, context = site.asker, site.context
    owner, words = site.value(0), site.value(1)
    if owner is None or words is None:
        return unknown(OF_ATTR, site.node)
    texts = texts_of(words)
    if not texts:
        return descend(unknown(OF_ATTR, site.node), path)
    found = join_all(asker.attribute_of(owner, each, path, site.node, context) for each in sorted(texts))
    default = site.value(2, None, path)
    return join(found, default) if default is not None else found


def _type(site: CallSite, path: Path) -> Abstract:
    value = site.value(0)
    if value is None or len(site.given.positional) != 1:
        return A_THING
    classes: set[Reference] = {ClassRef(each.cls) for each in value.references if isinstance(each, InstanceRef)}
    classes |= {LibraryRef(each.name) for each in value.references if isinstance(each, LibraryInstanceRef)}
    is_told = len(classes) == len(value.references) and value.kind & ~(TENSOR | SEQUENCE) == value.kind
    return descend(of_kind(OTHER, frozenset(classes) if is_told else frozenset()), path)


def _super(site: CallSite, path: Path) -> Abstract:
    """``super()``: the first parameter of the method around, seen from its class; ``super(Class, self)``."""
    function: FunctionGraph | None = site.node.fn
    while function is not None and (function.cls is None or function.is_lambda):
        function = function.parent
    if function is None or function.cls is None:
        return unknown_call(site, path)
    cls = function.cls
    asked = site.value(0)
    if asked is not None:
        cls = next((each.cls for each in asked.references if isinstance(each, ClassRef)), cls)
    given = site.argument(1)
    own = given or next((function.params[each.word] for each in function.parameters if each.position == 0), None)
    receiver = site.asker.value(own, (), site.context) if own is not None else A_THING
    found = receiver.but(references=frozenset([SuperRef(cls, receiver.references)]))
    return site.asker.along(found, path, site.node, site.context)


def _gathered(site: CallSite, path: Path) -> Abstract:
    """``asyncio.gather(a(), b())``: what each gives, in their order."""
    if site.given.starred:
        return A_SEQUENCE if not path else _spread(site, path[1:])
    return of_row(tuple(_value_of(site, each) for each in site.given.positional), path)


def _run_by(name: str) -> _Transfer:
    """Return the transfer of a function that gives what the function gives that it is handed."""

    def run(site: CallSite, path: Path) -> Abstract:
        found = results_of_handed(site, name, path)
        return join_all(found) if found else unknown_call(site, path)

    return run


def _replaced(site: CallSite, path: Path) -> Abstract:
    """``dataclasses.replace(x, word=value)``."""
    if path and isinstance(path[0], str) and (new := site.given.keywords.get(path[0][1:])) is not None:
        return site.asker.value(new, path[1:], site.context)
    return site.value(0, None, path) or unknown_call(site, path)


def _field(site: CallSite, path: Path) -> Abstract:
    """``dataclasses.field(default_factory=f)``."""
    factory = site.argument(None, "default_factory")
    if factory is not None:
        asker, context = site.asker, site.context
        call = call_with(site, factory, CallArguments())
        return asker.call_of(asker.value(factory, (), context), call, path, context)
    return site.value(None, "default", path) or unknown(OF_ATTR, site.node)


def _copied(site: CallSite, path: Path) -> Abstract:
    return site.value(0, "x", path) or site.value(0, "obj", path) or unknown_call(site, path)


# ---------------------------------------------------------------------- tables
def _alike(names: str, transfer: _Transfer) -> dict[str, _Transfer]:
    return dict.fromkeys(names.split(), transfer)


_TRANSFERS: Final[dict[str, _Transfer]] = {
    **_alike("list tuple collections.UserList itertools.islice tqdm.tqdm tqdm.auto.tqdm tqdm.notebook.tqdm tqdm.tqdm_notebook "
             "tqdm.autonotebook.tqdm rich.progress.track tqdm.rich.tqdm alive_progress.alive_it progressbar.progressbar "
             "itertools.cycle collections.deque", _elements_alike),
    **_alike("sorted reversed set frozenset", _elements_in_any_order),
    **_alike("iter aiter", _iterator),
    **_alike("dict collections.OrderedDict collections.UserDict types.MappingProxyType collections.ChainMap", _dict),
    **_alike("dict.fromkeys collections.OrderedDict.fromkeys", _dict_from_keys),
    "collections.defaultdict": _defaultdict, "collections.Counter": _counter, "enumerate": _enumerated,
    "zip": _zipped, "itertools.zip_longest": _zipped_longest, "map": _mapped, "itertools.starmap": _run_by("itertools.starmap"),
    **_alike("filter itertools.filterfalse itertools.takewhile itertools.dropwhile", _filtered),
    **_alike("next anext", _next), "itertools.chain": _chained, "itertools.chain.from_iterable": _chained_from,
    "itertools.product": _product,
    **_alike("itertools.combinations itertools.permutations itertools.combinations_with_replacement itertools.pairwise "
             "itertools.batched itertools.tee more_itertools.chunked", _tuples_of),
    "itertools.groupby": _grouped, "itertools.repeat": _repeated, "itertools.accumulate": _elements_in_any_order,
    "itertools.compress": _elements_in_any_order, "functools.reduce": _reduced, "range": _range, "tqdm.trange": _range,
    "tqdm.auto.trange": _range, "sum": _summed, "max": _extreme, "min": _extreme, **_alike("abs round pow", _computed),
    "int": _converted(INTEGER), "float": _converted(SCALAR), "bool": _converted(SCALAR),
    **_alike("copy.copy copy.deepcopy", _copied), **_alike("typing.cast", _passed(1, "val")),
    **_alike("typing.assert_type property staticmethod classmethod asyncio.run asyncio.wait_for asyncio.shield "
             "asyncio.create_task asyncio.ensure_future functools.singledispatch functools.cache weakref.proxy "
             "contextlib.closing joblib.delayed functools.cached_property torch.jit.unused", _passed(0)),
    **_alike("asyncio.to_thread", _run_by("asyncio.to_thread")), "asyncio.gather": _gathered,
    **{each: _decorator(each) for each in ("functools.lru_cache", "functools.wraps", "functools.total_ordering")},
    **{each: _object(each) for each in (
        "operator.itemgetter", "operator.attrgetter", "operator.methodcaller", "collections.namedtuple",
        "concurrent.futures.ThreadPoolExecutor", "concurrent.futures.ProcessPoolExecutor", "multiprocessing.Pool",
        "multiprocessing.pool.ThreadPool", "multiprocessing.pool.Pool", "types.SimpleNamespace", "argparse.Namespace")},
    "functools.partial": _partial, "functools.partialmethod": _partial, "getattr": _attribute, "type": _type,
    "super": _super, "dataclasses.replace": _replaced, "dataclasses.field": _field,
    **_alike("random.choice", _chosen), **_alike("random.sample random.choices", _elements_in_any_order),
    **{f"operator.{word}": _by_operator(symbol) for word, symbol in {
        "add": "+", "iadd": "+", "sub": "-", "mul": "*", "imul": "*", "truediv": "/", "floordiv": "//", "mod": "%",
        "matmul": "@", "pow": "**", "neg": "-", "and_": "&", "or_": "|", "xor": "^"}.items()},
}  # fmt: skip
"""Functions that give what depends on what they are given, by full names; Python's own without ``builtins.``."""


def _kinds(names: str, kind: int) -> dict[str, Abstract]:
    return dict.fromkeys(names.split(), of_kind(kind))


_RESULTS: Final = {
    **_kinds("len id hash ord random.randint random.randrange random.getrandbits operator.index operator.countOf", INTEGER),
    **_kinds("complex isinstance hasattr callable issubclass any all random.random random.uniform random.gauss", SCALAR),
    **_kinds("str repr format chr input ascii bytes bytearray bin hex oct", STRING),
    **_kinds("print setattr delattr exec random.seed random.shuffle random.setstate gc.collect heapq.heappush", NONE),
    **_kinds("slice object memoryview dir open property NotImplemented typing.TypeVar typing.NewType", OTHER),
    **_kinds("itertools.count", SEQUENCE), "divmod": of_kind(SEQUENCE | NUMBER), "vars": A_SEQUENCE,
    "locals": A_SEQUENCE, "globals": A_SEQUENCE, "dataclasses.asdict": A_SEQUENCE, "dataclasses.astuple": A_SEQUENCE,
}  # fmt: skip
"""What functions give that is the same whatever they are given."""
