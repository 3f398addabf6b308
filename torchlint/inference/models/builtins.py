"""What Python's own functions, containers and literals give."""

from __future__ import annotations

from functools import lru_cache

from torchlint.facts.value import NOTHING, UNKNOWN, Kind, Value, of_kind
from torchlint.inference.lattice import any_element, join, join_all
from torchlint.inference.models.call_arguments import Arguments, joined_operands
from torchlint.inference.models.containers import part
from torchlint.inference.models.devices import string
from torchlint.inference.models.dtypes import result_dtype
from torchlint.inference.models.named_tuples import namedtuple
from torchlint.inference.models.tables import Call, Effect, functions
from torchlint.inference.models.tensors import computed

_FUNCTIONS = """
len int id hash ord                                             -> integer
float bool complex isinstance hasattr callable issubclass any all -> scalar
str repr format chr input ascii                                 -> string
print setattr delattr exec                                      -> none
slice open object memoryview type vars dir                      -> other|sequence
range                                                           -> sequence of integer
iter                                                            -> itself
list tuple collections.UserList                                 -> same_items
dict collections.OrderedDict collections.UserDict               -> dictionary
sorted reversed set frozenset collections.deque                 -> other_order
filter                                                          -> filtered
enumerate                                                       -> enumerated
zip                                                             -> zipped
next                                                            -> one_item
abs round                                                       -> arithmetic
divmod                                                          -> other|sequence
pow                                                             -> power
sum                                                             -> total
max min                                                         -> extreme
collections.defaultdict                                         -> defaultdict
collections.namedtuple                                          -> namedtuple
"""
"""Python's own functions, without ``builtins.``, and the containers of ``collections``."""


def effect(name: str) -> Effect | None:
    """Return what a function or a container of Python does; None where nothing is known of it."""
    package, _, rest = name.partition(".")
    if package == "builtins":
        return _TABLE.find(rest)
    return _TABLE.find(name) if package == "collections" else None


def _itself(call: Call) -> Value:
    first = call.given.find(0, "iterable")
    return first if first is not None else UNKNOWN


def _same_items(call: Call) -> Value:
    source = call.given.find(0)
    if source is None:
        return of_kind(Kind.SEQUENCE, items=())
    if source.items is not None:
        return of_kind(Kind.SEQUENCE, items=source.items)
    return of_kind(Kind.SEQUENCE, member=part(source))


def _other_order(call: Call) -> Value:
    return _some_of(call.given.find(0))


def _filtered(call: Call) -> Value:
    return _some_of(call.given.find(1))


def _some_of(source: Value | None) -> Value:
    if source is None or source.items == ():
        return of_kind(Kind.SEQUENCE, items=())
    return of_kind(Kind.SEQUENCE, member=part(source))


def _dictionary(call: Call) -> Value:
    """Return the dictionary of another one, or of pairs, and of keywords."""
    given = call.given
    keys = tuple(given.keywords.items())
    if given.starred or len(given.positional) > 1:
        return of_kind(Kind.SEQUENCE, keys=keys)
    source = given.find(0)
    if source is None:
        return of_kind(Kind.SEQUENCE, keys=keys, member=join_all(value for _, value in keys)) if keys else _EMPTY
    if source.items == () and not keys:
        return _EMPTY
    known = dict(source.keys or _constant_keys(source)) | dict(keys)
    held = NOTHING if source.items == () else _values_of(source)
    return of_kind(Kind.SEQUENCE, keys=tuple(known.items()), member=join(held, join_all(value for _, value in keys)))


_EMPTY = of_kind(Kind.SEQUENCE, items=())


def _values_of(source: Value) -> Value:
    """Return the join of what a dictionary holds that is made of a dictionary or of pairs: a pair may be either."""
    held = part(source)
    if source.keys or not held.may(Kind.SEQUENCE) or (held.items is not None and len(held.items) != 2):
        return held
    if held.items is not None and (source.items is not None or held.items[0].must(Kind.STRING)):
        return held.items[1]
    return join(held, part(held) if held.items is None else held.items[1])


def _constant_keys(source: Value) -> tuple[tuple[str, Value], ...]:
    """Return the members of a dictionary made of pairs, where all are known with their keys."""
    pairs = [each.items for each in source.items or ()]
    known = tuple(
        (pair[0].const, pair[1])
        for pair in pairs
        if pair is not None and len(pair) == 2 and isinstance(pair[0].const, str)
    )
    return known if len(known) == len(pairs) else ()


def _defaultdict(call: Call) -> Value:
    factory = call.given.find(0, "default_factory")
    if factory is None or len(call.given.every()) > 1:
        return UNKNOWN
    made = factory.member if factory.node is not None else None
    for name in factory.names:
        known = _TABLE.find(name.removeprefix("builtins."))
        made = known(Call(name, Arguments(call.given.node), call.mode)) if known is not None else None
    return of_kind(Kind.SEQUENCE, member=made)


def _one_item(call: Call) -> Value | None:
    """Return what ``next(source, default)`` gives."""
    source, default = call.given.find(0), call.given.find(1)
    if source is None:
        return None
    return part(source) if default is None else join(part(source), default)


def _enumerated(call: Call) -> Value:
    source = call.given.find(0)
    member = of_kind(Kind.SEQUENCE, items=(of_kind(Kind.INTEGER), UNKNOWN if source is None else part(source)))
    return of_kind(Kind.SEQUENCE, member=member)


def _zipped(call: Call) -> Value:
    """Return the tuples of ``zip(a, b)``, or of ``zip(*pairs)``."""
    return _transposed(call.given) if call.given.starred else _zipped_one_by_one(call.given.positional)


def _zipped_one_by_one(sources: tuple[Value, ...]) -> Value:
    rows = [each.items for each in sources if each.items is not None]
    if rows and len(rows) == len(sources) and len({len(row) for row in rows}) == 1:
        runs = zip(*rows, strict=True)
        return of_kind(Kind.SEQUENCE, items=tuple(of_kind(Kind.SEQUENCE, items=run) for run in runs))
    return of_kind(Kind.SEQUENCE, member=of_kind(Kind.SEQUENCE, items=tuple(map(part, sources))))


def _transposed(given: Arguments) -> Value:
    inner = [part(each) for each in given.spread]
    if len(inner) == 1 and inner[0].items is not None:
        return of_kind(Kind.SEQUENCE, items=tuple(of_kind(Kind.SEQUENCE, member=each) for each in inner[0].items))
    return of_kind(Kind.SEQUENCE, member=of_kind(Kind.SEQUENCE, member=join_all(part(each) for each in inner)))


def _arithmetic(call: Call) -> Value:
    return _computed(call, join_all(call.given.positional))


def _power(call: Call) -> Value:
    return _computed(call, joined_operands(list(call.given.positional)))


def _total(call: Call) -> Value:
    start = call.given.find(1, "start")
    result = _computed(call, joined_operands([*_summands(call, 1), *([start] if start is not None else [])]))
    return result.having(dtype=result_dtype("sum", result.dtype)) if result.is_tensor else result


def _extreme(call: Call) -> Value:
    default = call.given.keywords.get("default")
    joined = join_all([*_summands(call), *([default] if default is not None else [])])
    if joined.must(Kind.TENSOR):  # one of them, as it is
        return joined.having(rank=None, names=frozenset(), instance=frozenset())
    return _computed(call, joined)


def _summands(call: Call, most: int | None = None) -> list[Value]:
    """Return what ``sum``, ``max`` and ``min`` go through, of the first arguments alone where a number says so."""
    inputs = list(call.given.positional[:most])
    return [any_element(inputs[0])] if len(inputs) == 1 and not inputs[0].must(Kind.TENSOR) else inputs


def _computed(call: Call, joined: Value) -> Value:
    if joined.must(Kind.TENSOR):
        return computed(joined, call.mode)
    if not joined.may(Kind.TENSOR):
        return joined.having(const=None, items=None)
    return joined.having(names=frozenset(), instance=frozenset(), const=None)


_TABLE = functions(
    _FUNCTIONS,
    [
        *(_itself, _same_items, _other_order, _filtered, _dictionary, _defaultdict, _one_item, _enumerated, _zipped),
        *(_arithmetic, _power, _total, _extreme, namedtuple),
    ],
)


STRING_METHODS = frozenset(
    "lower upper casefold strip lstrip rstrip removeprefix removesuffix startswith endswith".split()
)
"""Methods of a string that are worked out where all is known: what comes of them does not grow."""


def string_method(receiver: Value, word: str, given: Arguments) -> Value | None:
    """Return what a method of a known string gives for known strings; None for others."""
    arguments = [each.const for each in given.positional]
    if word not in STRING_METHODS or not isinstance(receiver.const, str) or given.starred or given.keywords:
        return None
    if not receiver.must(Kind.STRING) or not all(isinstance(each, str) for each in arguments):
        return None
    try:
        return literal(getattr(receiver.const, word)(*arguments))
    except TypeError:  # too many arguments, or too few
        return None


@lru_cache(maxsize=4096, typed=True)
def literal(constant: str | bytes | complex | None) -> Value:
    """Return the value of a literal."""
    match constant:
        case None:
            return of_kind(Kind.NONE)
        case bool():
            return of_kind(Kind.SCALAR, const=constant)
        case int():
            return of_kind(Kind.INTEGER, const=constant)
        case float() | complex():
            return of_kind(Kind.SCALAR, const=constant)
        case str():
            return string(constant)
    return of_kind(Kind.STRING if isinstance(constant, bytes) else Kind.OTHER)
