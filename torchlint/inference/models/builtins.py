"""What Python's own functions, containers and literals give."""

from __future__ import annotations

from functools import lru_cache

from torchlint.inference.arguments import Arguments, joined_operands
from torchlint.inference.facts import UNKNOWN, Kind, Mode, Value, join_all, of_kind
from torchlint.inference.models.containers import part
from torchlint.inference.models.devices import string
from torchlint.inference.models.dtypes import result_dtype
from torchlint.inference.models.tensors import computed

HOLDERS = {"collections.OrderedDict": "dict", "collections.deque": "set", "collections.defaultdict": "defaultdict"}


def held(word: str, given: Arguments, mode: Mode) -> Value | None:
    """Give a container of ``collections``."""
    if word != "defaultdict":
        return builtin(word, given, mode)
    factory = given.find(0, "default_factory")
    if factory is None or len(given.every()) > 1:
        return UNKNOWN
    made = factory.member if factory.node is not None else None
    for name in factory.names:
        made = builtin(name.removeprefix("builtins."), Arguments(given.node), mode)
    return of_kind(Kind.SEQUENCE, member=made)


def builtin(word: str, given: Arguments, mode: Mode) -> Value | None:
    """Give the result of calling one of Python's own functions; None where nothing is known of it."""
    first = given.find(0)
    if word in ("len", "int", "id", "hash", "ord"):
        return of_kind(Kind.INTEGER)
    if word in ("float", "bool", "complex", "isinstance", "hasattr", "callable", "issubclass", "any", "all"):
        return of_kind(Kind.SCALAR)
    if word in ("str", "repr", "format", "chr", "input", "ascii"):
        return of_kind(Kind.STRING)
    if word == "range":
        return of_kind(Kind.SEQUENCE, member=of_kind(Kind.INTEGER))
    if word in ("list", "tuple", "iter"):
        return of_kind(Kind.SEQUENCE).having(**_contents(first))
    if word in ("sorted", "reversed", "set", "frozenset", "filter"):
        source = given.find(1) if word == "filter" else first
        if source is None or source.items == ():
            return of_kind(Kind.SEQUENCE, items=())
        return of_kind(Kind.SEQUENCE, member=part(source))
    if word == "dict":
        keys = tuple(given.keywords.items())
        return of_kind(Kind.SEQUENCE, keys=keys, member=join_all(value for _, value in keys) if keys else None)
    if word == "enumerate":
        member = of_kind(Kind.SEQUENCE, items=(of_kind(Kind.INTEGER), part(first) if first else UNKNOWN))
        return of_kind(Kind.SEQUENCE, member=member)
    if word == "zip":
        return _zipped(given)
    if word == "next":
        return part(first) if first else None
    if word in ("sum", "max", "min", "abs", "round", "pow", "divmod"):
        return _reduced(word, given, mode)
    if word in ("slice", "open", "object", "memoryview", "type", "vars", "dir"):
        return of_kind(Kind.OTHER | Kind.SEQUENCE)
    return of_kind(Kind.NONE) if word in ("print", "setattr", "delattr", "exec") else None


def _contents(source: Value | None) -> dict[str, object]:
    if source is None:
        return {"items": ()}
    if source.items is not None:
        return {"items": source.items}
    return {"member": part(source)}


def _zipped(given: Arguments) -> Value:
    """Give the tuples of ``zip(a, b)``, or of ``zip(*pairs)``."""
    if not given.starred:
        rows = [each.items for each in given.positional if each.items is not None]
        if rows and len(rows) == len(given.positional) and len({len(row) for row in rows}) == 1:
            runs = zip(*rows, strict=True)
            return of_kind(Kind.SEQUENCE, items=tuple(of_kind(Kind.SEQUENCE, items=run) for run in runs))
        each_of = tuple(part(each) for each in given.positional)
        return of_kind(Kind.SEQUENCE, member=of_kind(Kind.SEQUENCE, items=each_of))
    inner = [part(each) for each in given.spread]
    if len(inner) == 1 and inner[0].items is not None:
        return of_kind(Kind.SEQUENCE, items=tuple(of_kind(Kind.SEQUENCE, member=each) for each in inner[0].items))
    return of_kind(Kind.SEQUENCE, member=of_kind(Kind.SEQUENCE, member=join_all(part(each) for each in inner)))


def _reduced(word: str, given: Arguments, mode: Mode) -> Value:
    inputs = list(given.positional)  # the keywords are `key`, `default` and `start`
    if len(inputs) == 1 and word in ("sum", "max", "min"):
        inputs = [inputs[0].element()] if not inputs[0].must(Kind.TENSOR) else inputs
    joined = joined_operands(inputs) if word in ("sum", "pow") else join_all(inputs)
    if word in ("max", "min") and joined.must(Kind.TENSOR):  # one of them, as it is
        return joined.having(rank=None, names=frozenset(), instance=frozenset())
    if joined.must(Kind.TENSOR):
        result = computed(joined, mode, given.node)
        return result.having(dtype=result_dtype(word, result.dtype)) if word == "sum" else result
    if not joined.may(Kind.TENSOR):
        return joined.having(const=None, items=None)
    return joined.having(names=frozenset(), instance=frozenset(), const=None)


@lru_cache(maxsize=4096, typed=True)
def literal(constant: str | bytes | complex | None) -> Value:
    """Give the value of a literal."""
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
