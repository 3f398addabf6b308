"""What Python's own functions and its standard library give; what goes through containers is in ``iterations``."""

from __future__ import annotations

from typing import Final

from torchlint.models.container_methods import of_row
from torchlint.models.descent import BUILTINS, constants_of, descend, texts_of
from torchlint.models.handed_calls import call_with
from torchlint.models.iterations import (
    ITERATIONS,
    Transfer,
    alike,
    element_at,
    first_argument,
    results_of_handed,
    spread_elements,
    value_of,
)
from torchlint.models.library_objects import made_tuple
from torchlint.models.tensor_results import arithmetic
from torchlint.models.unknown_results import unknown_call
from torchlint.semantic.graph import CallArguments, FunctionGraph
from torchlint.values import abstract as a
from torchlint.values.abstract import (
    A_SEQUENCE,
    A_THING,
    AN_INTEGER,
    BOTTOM,
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

_TORCH: Final = frozenset({LibraryRef("torch")})
"""What has dtypes and functions under its words."""
_SCALAR: Final = of_kind(a.SCALAR)


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


# ---------------------------------------------------------------------- what is computed
def _summed(site: CallSite, path: Path) -> Abstract:
    """``sum(xs, start)``."""
    source = first_argument(site)
    if source is None:
        return unknown_call(site, path)
    start = site.value(1, "start")
    if start is not None and start.kind == a.SEQUENCE:
        if path:
            return element_at(site, source, path)
        return of_kind(a.SEQUENCE | element_at(site, source, ()).kind & a.SIZE)  # a size is what a tuple and it make
    each = element_at(site, source, ())
    if start is None and each.dtype & a.BOOL:  # it begins with the number 0
        each = each.but(dtype=each.dtype & ~a.BOOL | a.INT64)
    values = [each.plain(), *([start.plain()] if start is not None else [])]
    if not each.kind:
        return descend(start.plain() if start is not None else AN_INTEGER, path)
    made = arithmetic(site.asker, values if len(values) > 1 else [each.plain()] * 2, "+", site.node, site.context)
    return descend(site.asker.under(made, site.node, site.context), path)


def _extreme(site: CallSite, path: Path) -> Abstract:
    """``max(xs)`` and ``max(a, b)``: one of them, as it is."""
    given = site.given
    if len(given.positional) == 1 and not given.starred:
        value = element_at(site, given.positional[0], path)
    else:
        value = BOTTOM
        for position, each in enumerate(given.positional):
            inner = (ANY_ELEMENT, *path) if position in given.starred else path
            value = join(value, site.asker.value(each, inner, site.context))
    default = site.value(None, "default", path)
    value = join(value, default) if default is not None else value
    return value.plain() if value.kind & a.NUMBER else value


def _computed(site: CallSite, path: Path) -> Abstract:
    """``abs``, ``round``, ``pow``: of numbers a number, of a tensor one like it."""
    operands = [each.plain() for each in site.operands()]
    if not operands:
        return unknown_call(site, path)
    if all(each.must(a.NUMBER) for each in operands):
        return descend(of_kind(join_all(operands).kind | (a.INTEGER if site.word == "round" else 0)), path)
    made = arithmetic(site.asker, operands, "**" if len(operands) > 1 else "+", site.node, site.context)
    return descend(site.asker.under(made, site.node, site.context), path)


def _converted(kind: int) -> Transfer:
    """``int(x)``, ``float(x)``, ``bool(x)``: a number whatever is given; of a constant the constant."""

    def convert(site: CallSite, path: Path) -> Abstract:
        value = site.value(0)
        known = constants_of(value) if value is not None and value.must(kind) else None
        return descend(value if known and value is not None else of_kind(kind), path)

    return convert


def _by_operator(symbol: str) -> Transfer:
    def transfer(site: CallSite, path: Path) -> Abstract:
        values = [site.asker.value(each, (), site.context) for each in site.given.positional]
        made = arithmetic(site.asker, values, symbol, site.node, site.context)
        return descend(site.asker.under(made, site.node, site.context), path)

    return transfer


# ---------------------------------------------------------------------- objects and functions
def _passed(position: int, word: str | None = None) -> Transfer:
    """Return the transfer of a function that gives an argument back."""

    def passed(site: CallSite, path: Path) -> Abstract:
        return site.value(position, word, path) or unknown_call(site, path)

    return passed


def _decorator(name: str) -> Transfer:
    """Return the transfer of what is called with a function, or with options before that."""

    def decorate(site: CallSite, path: Path) -> Abstract:
        value = site.value(0, None, path)
        is_function = value is not None and any(each.sort in _CALLABLE_SORTS for each in value.references)
        if is_function and value is not None:
            return value
        return descend(of_kind(a.OTHER, frozenset([LibraryInstanceRef(name, site.node, site.context)])), path)

    return decorate


_CALLABLE_SORTS = frozenset(["function", "method", "class", "partial", "library", "library instance", "instance"])


def _object(name: str) -> Transfer:
    """Return the transfer of a class of which it is known later what its objects do."""

    def make(site: CallSite, path: Path) -> Abstract:
        return descend(of_kind(a.OTHER, frozenset([LibraryInstanceRef(name, site.node, site.context)])), path)

    return make


def _partial(site: CallSite, path: Path) -> Abstract:
    if not site.given.positional:
        return unknown_call(site, path)
    return descend(of_kind(a.OTHER, frozenset([PartialRef(site.node, site.context)])), path)


def _attribute(site: CallSite, path: Path) -> Abstract:
    """``getattr(x, "word", default)``."""
    asker, context = site.asker, site.context
    owner, words = site.value(0), site.value(1)
    if owner is None or words is None:
        return unknown(a.OF_ATTR, site.node)
    texts = texts_of(words)
    if not texts and owner.references == _TORCH:
        return descend(Abstract(a.DTYPE | a.OTHER, 0, 0, a.ANY_DTYPE, 0), path)
    if not texts:
        return descend(unknown(a.OF_ATTR, site.node), path)
    found = join_all(asker.attribute_of(owner, each, path, site.node, context) for each in sorted(texts))
    default = site.value(2, None, path)
    if default is None:
        return found
    if any(isinstance(each, LibraryRef) for each in owner.references):  # which may, or may not, have it
        found = join(found, descend(unknown(a.OF_ATTR, site.node), path))
    return join(found, default)


def _type(site: CallSite, path: Path) -> Abstract:
    value = site.value(0)
    if value is None or len(site.given.positional) != 1:
        return A_THING
    classes: set[Reference] = {ClassRef(each.cls) for each in value.references if isinstance(each, InstanceRef)}
    classes |= {LibraryRef(each.name) for each in value.references if isinstance(each, LibraryInstanceRef)}
    is_told = len(classes) == len(value.references) and value.kind & ~(a.TENSOR | a.SEQUENCE) == value.kind
    return descend(of_kind(a.OTHER, frozenset(classes) if is_told else frozenset()), path)


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
        return A_SEQUENCE if not path else spread_elements(site, path[1:])
    return of_row(tuple(value_of(site, each) for each in site.given.positional), path)


def _run_in_thread(site: CallSite, path: Path) -> Abstract:
    """``asyncio.to_thread(f, x)``: what the function gives."""
    found = results_of_handed(site, "asyncio.to_thread", path)
    return join_all(found) if found else unknown_call(site, path)


def _replaced(site: CallSite, path: Path) -> Abstract:
    """``dataclasses.replace(x, word=value)``."""
    if path and isinstance(path[0], str) and (new := site.given.keywords.get(path[0][1:])) is not None:
        return site.asker.value(new, path[1:], site.context)
    own = site.value(0, None, path)
    if own is None:
        return unknown_call(site, path)
    return made_tuple(site, own.kind) if not path else own


def _field(site: CallSite, path: Path) -> Abstract:
    """``dataclasses.field(default_factory=f)``."""
    factory = site.argument(None, "default_factory")
    if factory is not None:
        asker, context = site.asker, site.context
        call = call_with(site, factory, CallArguments())
        return asker.call_of(asker.value(factory, (), context), call, path, context)
    return site.value(None, "default", path) or unknown(a.OF_ATTR, site.node)


def _copied(site: CallSite, path: Path) -> Abstract:
    return site.value(0, "x", path) or site.value(0, "obj", path) or unknown_call(site, path)


# ---------------------------------------------------------------------- tables
_PASSING: Final = """
    typing.assert_type property staticmethod classmethod asyncio.run asyncio.wait_for asyncio.shield asyncio.create_task
    asyncio.ensure_future functools.singledispatch functools.cache functools.cached_property weakref.proxy
    contextlib.closing joblib.delayed
"""
_DECORATING: Final = "functools.lru_cache functools.wraps functools.total_ordering"
_REMEMBERED: Final = """
    operator.itemgetter operator.attrgetter operator.methodcaller collections.namedtuple multiprocessing.Pool
    concurrent.futures.ThreadPoolExecutor concurrent.futures.ProcessPoolExecutor multiprocessing.pool.ThreadPool
    multiprocessing.pool.Pool types.SimpleNamespace argparse.Namespace
"""
_OPERATORS: Final = {
    "add": "+", "iadd": "+", "sub": "-", "mul": "*", "imul": "*", "truediv": "/", "floordiv": "//", "mod": "%",
    "matmul": "@", "pow": "**", "neg": "-", "and_": "&", "or_": "|", "xor": "^",
}  # fmt: skip
_TRANSFERS: Final[dict[str, Transfer]] = {
    **ITERATIONS,
    **alike("abs round pow", _computed),
    **alike("max min", _extreme),
    **alike("copy.copy copy.deepcopy", _copied),
    **alike("functools.partial functools.partialmethod", _partial),
    **alike(_PASSING, _passed(0)),
    **{each: _decorator(each) for each in _DECORATING.split()},
    **{each: _object(each) for each in _REMEMBERED.split()},
    **{f"operator.{word}": _by_operator(symbol) for word, symbol in _OPERATORS.items()},
    "open": lambda _, path: descend(of_kind(a.OTHER, frozenset([LibraryInstanceRef("io")])), path),
    "sum": _summed,
    "int": _converted(a.INTEGER),
    "float": _converted(a.SCALAR),
    "bool": _converted(a.SCALAR),
    "typing.cast": _passed(1, "val"),
    "asyncio.to_thread": _run_in_thread,
    "asyncio.gather": _gathered,
    "getattr": _attribute,
    "type": _type,
    "super": _super,
    "dataclasses.replace": _replaced,
    "dataclasses.field": _field,
}
"""Functions that give what depends on what they are given, by full names; Python's own without ``builtins.``."""

_KINDS: Final = {
    "len id hash ord random.randint random.randrange random.getrandbits operator.index operator.countOf": a.INTEGER,
    "complex isinstance hasattr callable issubclass any all random.random random.uniform random.gauss": a.SCALAR,
    "str repr format chr input ascii bytes bytearray bin hex oct": a.STRING,
    "print setattr delattr exec random.seed random.shuffle random.setstate gc.collect heapq.heappush": a.NONE,
    "slice object memoryview typing.TypeVar typing.NewType contextlib.nullcontext contextlib.suppress": a.OTHER,
    "itertools.count vars locals globals dir dataclasses.asdict dataclasses.astuple dataclasses.fields": a.SEQUENCE,
    "divmod": a.SEQUENCE | a.NUMBER,
}
_RESULTS: Final = {name: of_kind(kind) for names, kind in _KINDS.items() for name in names.split()}
"""What functions give that is the same whatever they are given."""
