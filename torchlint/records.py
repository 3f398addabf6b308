"""Records for the modules that every run imports: frozen dataclasses without the cost of the module of that name.

The standard library's ``dataclasses`` imports ``inspect`` and compiles half a dozen functions for each class, which
takes longer than all the rest of a run that finds nothing to do. So what stands on the way of such a run takes
``record`` and ``replace`` from here, and so does what most runs over one file import, as far as it needs no ``field``;
the rest takes the originals. A type checker sees the originals, and the originals take these records for their own
(``fields``, ``asdict``, ``replace``, a dataclass derived from one).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter

TYPE_CHECKING = False
"""As good as `typing`'s to a type checker; that module too is left alone where every run imports."""

Body = dict[str, object]


def _record(*, frozen: bool, slots: bool = False) -> Callable[[type], type]:
    """Make a class a dataclass; a default stands for itself, there is no ``field`` here."""
    assert frozen

    def made(kind: type) -> type:
        names = tuple(kind.__annotations__)
        defaults = {name: value for name, value in vars(kind).items() if name in names}
        body = {**vars(kind), "__qualname__": kind.__qualname__, **_methods(names, defaults)}
        for name in ("__dict__", "__weakref__"):
            body.pop(name, None)
        if slots:
            body = {name: value for name, value in body.items() if name not in defaults}
            body.update(__slots__=names, __getstate__=_state, __setstate__=_take_state)
        return type(kind)(kind.__name__, kind.__bases__, body)

    return made


def _replace(one: object, /, **changes: object) -> object:
    """Give a record with some of its values exchanged."""
    names: tuple[str, ...] = one.__match_args__  # type: ignore[attr-defined]  # every record has it
    return type(one)(**{**{name: getattr(one, name) for name in names}, **changes})


def _methods(names: tuple[str, ...], defaults: Mapping[str, object]) -> Body:
    pick = attrgetter(*names)  # of one name it gives the value alone, which is as good

    def same(one: object, other: object) -> object:
        return pick(one) == pick(other) if other.__class__ is one.__class__ else NotImplemented

    def hashed(one: object) -> int:
        return hash(pick(one))

    def shown(one: object) -> str:
        return f"{one.__class__.__qualname__}({', '.join(f'{name}={getattr(one, name)!r}' for name in names)})"

    return {
        "__init__": _Awaited(_initializer, defaults),
        "__eq__": same,
        "__hash__": hashed,
        "__repr__": shown,
        "__setattr__": _refuse_to_set,
        "__delattr__": _refuse_to_delete,
        "__match_args__": names,
        "__replace__": _replace,
        "__dataclass_fields__": _Awaited(_original, defaults),
        "__dataclass_params__": _Awaited(_original, defaults),
    }


class _Awaited:
    """An attribute of a class that is made when it is first looked for: most runs make records of few kinds."""

    def __init__(
        self, make: Callable[[type, str, Mapping[str, object]], object], defaults: Mapping[str, object]
    ) -> None:
        self._make, self._defaults = make, defaults

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner, self._name = owner, name

    def __get__(self, one: object, kind: type) -> object:
        setattr(self._owner, self._name, self._make(self._owner, self._name, self._defaults))
        return getattr(kind if one is None else one, self._name)


def _initializer(owner: type, name: str, defaults: Mapping[str, object]) -> object:
    """Compile the one function that is called for each record made."""
    names: tuple[str, ...] = owner.__match_args__  # type: ignore[attr-defined]  # every record has it
    given = ", ".join(f"{each}=_defaults[{each!r}]" if each in defaults else each for each in names)
    lines = "".join(f"    _set(self, {each!r}, {each})\n" for each in names)
    scope: Body = {"_defaults": defaults, "_set": object.__setattr__}
    exec(f"def {name}(self, {given}):\n{lines}", scope)  # noqa: S102  # made of the names of a class's fields
    made = scope[name]
    made.__qualname__ = f"{owner.__qualname__}.{name}"  # type: ignore[attr-defined]  # it is a function
    return made


def _original(owner: type, name: str, defaults: Mapping[str, object]) -> object:
    """Give what ``dataclasses`` would keep with a class of its own, for its functions and for classes derived."""
    from dataclasses import dataclass

    body = {"__annotations__": owner.__annotations__, "__module__": owner.__module__, **defaults}
    found: object = getattr(dataclass(frozen=True)(type(owner.__name__, (), body)), name)
    return found


def _state(one: object) -> list[object]:
    return [getattr(one, name) for name in one.__match_args__]  # type: ignore[attr-defined]  # every record has it


def _take_state(one: object, state: list[object]) -> None:
    for name, value in zip(one.__match_args__, state, strict=True):  # type: ignore[attr-defined]  # as above
        object.__setattr__(one, name, value)


def _refuse_to_set(one: object, name: str, value: object) -> None:
    from dataclasses import FrozenInstanceError

    del one, value
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(one: object, name: str) -> None:
    from dataclasses import FrozenInstanceError

    del one
    raise FrozenInstanceError(f"cannot delete field {name!r}")


if TYPE_CHECKING:
    from dataclasses import dataclass as record
    from dataclasses import replace
else:
    record, replace = _record, _replace

__all__ = ["record", "replace"]
