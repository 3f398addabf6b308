"""What lists, dicts and other holders of values give back, and what they hold after a change."""

from __future__ import annotations

import ast

from torchlint.facts.value import ANY, UNKNOWN, Device, Grad, Kind, Mode, Value, of_kind
from torchlint.inference.lattice import any_element, claimed_like, join, join_all, stronger_reason
from torchlint.inference.models import named_tuples
from torchlint.inference.models.call_arguments import Arguments
from torchlint.inference.models.tables import Call, functions

_METHODS = """
items                                                                               -> pairs
values __iter__                                                                     -> members
copy                                                                                -> copied
keys                                                                                -> keys
pop popleft get setdefault popitem                                                  -> taken
index count                                                                         -> integer
_replace                                                                            -> replaced
_asdict                                                                             -> as_dictionary
append extend insert update clear sort reverse remove add appendleft                -> none
"""

_GROWING = {"append": 0, "add": 0, "appendleft": 0, "insert": 1, "extend": 0, "update": 0, "setdefault": 1}
"""Methods that put something in, and the place of that among their arguments."""

_GIVING_PARTS = {"append": 0, "insert": 1, "extend": 0, "update": 0, "add_module": 1, "register_module": 1} | {
    "register_parameter": 1
}
"""Methods that give a module a part, and the place of that among their arguments."""

FOREIGN = Kind.OTHER | Kind.ARRAY | Kind.SCALAR | Kind.STRING | Kind.SEQUENCE
"""What objects of libraries other than torch give."""


_REGISTERED = frozenset({"torch.nn.Parameter", "buffer"})


def part(value: Value) -> Value:
    """Return what iterating over a value, or taking one of its parts, may give."""
    if value.items or value.member is not None:
        return _part(value)  # which is said or shown of the members themselves
    return claimed_like(value, _part(value))


def _part(value: Value) -> Value:
    """Return an element of a value: a member, a row of a tensor or of an array, a letter of a text."""
    if not value.kind:
        return value
    if value.must(Kind.MODULE) and (value.items or value.member is not None):
        return moved_with(value, any_element(value))
    if value.items is not None or value.member is not None:
        return any_element(value) if value.items != () else UNKNOWN
    if value.must(Kind.TENSOR):
        return value.having(rank=None, names=frozenset(), instance=frozenset(), const=None)
    if value.must(Kind.ARRAY | Kind.SCALAR) and value.may(Kind.ARRAY):  # numbers have no parts
        return of_kind(Kind.ARRAY | Kind.SCALAR)
    if value.must(Kind.SIZE):
        return of_kind(Kind.INTEGER)
    if value.must(Kind.STRING):
        return of_kind(Kind.STRING)
    if value.may(Kind.TENSOR):
        kind = value.kind if not value.may(Kind.OTHER | Kind.MODULE) else ANY
        return Value(kind, value.grad, value.device, value.dtype, why_grad=value.why_grad, why_device=value.why_device)
    if value.may(Kind.OTHER) and value.must(FOREIGN) and not value.names and not value.instance:
        return of_kind(FOREIGN)
    return UNKNOWN


def is_moved_along(held: Value) -> bool:
    """Whether a module moves with itself what it holds: a module, a parameter or a buffer."""
    return held.must(Kind.MODULE) or bool(held.instance & _REGISTERED)


def moved_with(holder: Value, held: Value) -> Value:
    """Return what a module holds, as an attribute or as an element, where that is: it is moved with the module."""
    if not holder.must(Kind.MODULE) or not is_moved_along(held):
        return held
    place = holder.device if held.device == Device.HOST else held.device | holder.device
    why = stronger_reason(holder.device, holder.why_device, held.device, held.why_device)
    return held.having(device=place, why_device=why)


def element(base: Value, where: ast.expr, index: Value) -> Value:
    """Return ``base[where]``."""
    if isinstance(where, ast.Slice):
        return _sliced(base)
    at = index.const
    if base.items is not None and type(at) is int and -len(base.items) <= at < len(base.items):
        return moved_with(base, base.items[at])
    if isinstance(index.const, str):
        for key, value in base.keys:
            if key == index.const:
                return moved_with(base, value)
        if base.keys and base.must(Kind.SEQUENCE) and base.member is None:
            return UNKNOWN
    if base.must(Kind.SIZE):
        return base.member or of_kind(Kind.INTEGER, claimed=base.claimed)
    return part(base)


def _sliced(base: Value) -> Value:
    if base.must(Kind.SEQUENCE | Kind.SIZE):
        if base.must(Kind.SIZE):
            return base
        return of_kind(base.kind, member=any_element(base), claimed=base.claimed)
    if base.must(Kind.STRING):
        return of_kind(Kind.STRING, claimed=base.claimed)
    if base.items is not None or base.member is not None:
        return base.having(items=None, member=any_element(base), rank=None)
    return part(base).having(kind=base.kind) if base.may(Kind.TENSOR) else part(base)


def method(base: Value, name: str, given: Arguments) -> Value | None:
    """Return the result of a method of a list, dict, set or other Python container; None for other names."""
    effect = _METHOD_TABLE.find(name)
    return effect(Call(name, given, Mode.ON, base)) if effect is not None else None


def _held(base: Value) -> Value:
    return any_element(base) if base.items != () else UNKNOWN


def _pairs(call: Call) -> Value:
    return of_kind(Kind.SEQUENCE, member=of_kind(Kind.SEQUENCE, items=(_key(), _held(call.receiver))))


def _members(call: Call) -> Value:
    return of_kind(Kind.SEQUENCE, member=_held(call.receiver))


def _copied(call: Call) -> Value:
    return call.receiver.having(items=None, member=_held(call.receiver))


def _keys(_: Call) -> Value:
    return of_kind(Kind.SEQUENCE, member=_key())


def _key() -> Value:
    return of_kind(Kind.STRING | Kind.INTEGER | Kind.SCALAR | Kind.OTHER)


def _taken(call: Call) -> Value:
    wanted = call.given.find(0, "key")
    for key, value in call.receiver.keys:
        if wanted is not None and wanted.const == key:
            return value
    held, default = _held(call.receiver), call.given.find(1, "default")
    return held if default is None or default.must(Kind.NONE) else join(held, default)


def grown(base: Value, name: str, given: Arguments) -> Value | None:
    """Return a container after a method that puts something into it; None for other methods."""
    if name == "update" and base.keys:
        return _updated(base, given)
    if (new := added(name, given)) is None:
        return None
    return holding(base, new, given.find(0, "key") if name == "setdefault" else None)


def added(name: str, given: Arguments) -> Value | None:
    """Return what a method puts into a container; None for other methods."""
    if name not in _GROWING or not given.positional[_GROWING[name] :]:
        return None
    new = given.positional[_GROWING[name]]
    return part(new) if name in ("extend", "update") else new


def _updated(base: Value, given: Arguments) -> Value:
    """Return a dictionary after ``update``: what is not told key by key may have replaced any value."""
    new = given.positional[0] if given.positional else None
    told = {**dict(new.keys if new is not None else ()), **given.keywords}
    keys = {key: join(value, told[key]) if key in told else value for key, value in base.keys}
    after = holding(base, join_all([part(new)] if new is not None else given.keywords.values()))
    if given.starred or (new is not None and (not new.keys or part(new).vague)):
        keys = {key: value.having(claimed=value.claimed or _REPLACED) for key, value in keys.items()}
    return after.having(keys=tuple({**told, **keys}.items()))


_REPLACED = "`update` may have put another thing there"


def grown_module(module: Value, name: str, given: Arguments) -> Value | None:
    """Return a module after a method that puts a part into it; None for other methods."""
    if name not in _GIVING_PARTS or not given.positional[_GIVING_PARTS[name] :]:
        return None
    new = given.positional[_GIVING_PARTS[name]]
    word = given.positional[0].const if name in ("add_module", "register_module") else "" if name == "append" else None
    if isinstance(word, str) and not word.isdigit() and module.items is not None:
        return module.having(items=(*module.items, new))
    return holding(module, part(new) if new.must(Kind.SEQUENCE) else new)


def holding(base: Value, new: Value, index: Value | None = None) -> Value:
    """Return a container after something was put into it, at an index where that is given."""
    if base.items is not None:
        held: Value | None = join_all(base.items)
    else:
        held = base.member
    if held is None:
        return base  # nothing is known of what else it holds
    at = index.const if index is not None else None
    keys = tuple((key, join(value, new) if at in (None, key) else value) for key, value in base.keys)
    return base.having(items=None, member=join(held, new), keys=keys)


def lengthened(before: Value, added: Value) -> Value:
    """Return a list or a tuple after ``+=``: an array and a ``torch.Size`` make their own kind of it, as with ``+``."""
    after = holding(before, part(added))
    if added.vague:
        return after.having(claimed=after.claimed or "`+=` of an array makes an array of it")
    kind = after.kind | (added.kind & (Kind.ARRAY | Kind.SIZE))
    return after.having(kind=kind, claimed=after.claimed or added.claimed)


def replaced(base: Value, where: ast.expr, new: Value) -> tuple[Value, ...] | None:
    """Return the items of a container after ``base[where] = new``; None where they are not known one by one."""
    match where:
        case ast.Constant(value=int() as at) if base.items is not None and 0 <= at < len(base.items):
            return (*base.items[:at], new, *base.items[at + 1 :])
    return None


def unpacked(value: Value, targets: list[ast.expr]) -> list[Value]:
    """Return the values that unpacking hands to each of some targets."""
    starred = any(isinstance(each, ast.Starred) for each in targets)
    if value.items is not None and len(value.items) == len(targets) and not starred:
        return list(value.items)
    if value.items is not None and starred:
        return _unpacked_star(value.items, targets)
    each = part(value)
    if value.member is not None or not (value.may(Kind.TENSOR) and value.may(Kind.SEQUENCE)):
        return [each for _ in targets]
    rest = each.having(grad=each.grad | Grad.DETACHED)  # a module may hand on what it was given beside its output
    return [each if at == 0 else rest for at in range(len(targets))]


def _unpacked_star(items: tuple[Value, ...], targets: list[ast.expr]) -> list[Value]:
    at = next(index for index, each in enumerate(targets) if isinstance(each, ast.Starred))
    after = len(targets) - at - 1
    middle = items[at : len(items) - after]
    return [*items[:at], join_all(middle) if middle else UNKNOWN, *items[len(items) - after :]][: len(targets)]


_METHOD_TABLE = functions(
    _METHODS, [_pairs, _members, _copied, _keys, _taken, named_tuples.replaced, named_tuples.as_dictionary]
)
