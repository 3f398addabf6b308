"""``collections.namedtuple``: the class that it makes, and the tuples that calling the class makes."""

from __future__ import annotations

from torchlint.facts.value import UNKNOWN, Kind, Value, of_kind
from torchlint.inference.lattice import any_element
from torchlint.inference.models.call_arguments import Arguments
from torchlint.inference.models.tables import Call

NAMED_TUPLE = "collections.namedtuple"


def namedtuple(call: Call) -> Value | None:
    """Return a class of tuples: its keys are the fields in their order, which are counted, for a join may mix two."""
    fields = _fields(call.given.find(1, "field_names"))
    if fields is None or call.given.starred or "rename" in call.given.keywords:
        return None
    keys = tuple((word, UNKNOWN) for word in fields)
    return of_kind(Kind.OTHER, instance=frozenset((NAMED_TUPLE,)), keys=keys, const=len(keys))


def _fields(given: Value | None) -> list[str] | None:
    """Return the names of the fields: a string of words, or a list of strings; None where they are not known."""
    if given is None:
        return None
    if isinstance(given.const, str):
        return given.const.replace(",", " ").split()
    if given.items is None:
        return None
    words = [each.const for each in given.items if isinstance(each.const, str)]
    return words if len(words) == len(given.items) else None


def filled(made: Value, given: Arguments) -> Value | None:
    """Return the tuple that a call of such a class makes; None where its places are not known.

    A field that the call leaves out has a default.
    """
    fields = [word for word, _ in made.keys]
    named = {**dict(zip(fields, given.positional, strict=False)), **given.keywords}
    if made.const != len(fields) or given.starred or len(given.positional) > len(fields) or named.keys() - set(fields):
        return None
    keys = tuple((word, named.get(word, UNKNOWN)) for word in fields)
    return of_kind(Kind.SEQUENCE, items=tuple(each for _, each in keys), keys=keys)


def with_fields(receiver: Value, given: Arguments) -> Value | None:
    """Return a named tuple after ``_replace``; None where its fields or what replaces them are not known."""
    if not receiver.keys or given.starred or given.positional or given.keywords.keys() - dict(receiver.keys).keys():
        return None
    keys = tuple((word, given.keywords.get(word, each)) for word, each in receiver.keys)
    items = tuple(each for _, each in keys) if receiver.items is not None else None
    return receiver.having(keys=keys, items=items)


def replaced(call: Call) -> Value:
    """Return ``named._replace(field=value)``."""
    return with_fields(call.receiver, call.given) or UNKNOWN


def as_dictionary(call: Call) -> Value:
    """Return ``named._asdict()``."""
    fields = call.receiver
    return fields.having(items=None, member=any_element(fields)) if fields.keys else UNKNOWN
