"""What one source of configuration says: every option, its type, and how a value from TOML or a flag is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torchlint.model import Confidence
from torchlint.selectors import UnknownSelector, codes_meant, nearest

FORMATS_FOR_PEOPLE = ("full", "concise")
OUTPUT_FORMATS = (*FORMATS_FOR_PEOPLE, "json", "json-lines", "sarif", "github", "gitlab", "junit", "rdjson", "html")
NUMPY_STYLES = ("chain", "force")

Patterns = tuple[tuple[str, tuple[str, ...]], ...]


class OptionError(ValueError):
    """A key that does not exist or a value of the wrong kind; the text says which and what to write."""


@dataclass(frozen=True, slots=True)
class Options:
    """One layer of options; None where the layer says nothing."""

    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] | None = None
    extend_ignore: tuple[str, ...] | None = None
    fixable: tuple[str, ...] | None = None
    unfixable: tuple[str, ...] | None = None
    per_file_ignores: Patterns | None = None
    min_confidence: Confidence | None = None
    target_torch: tuple[int, int] | None = None
    numpy_style: str | None = None
    strict: bool | None = None
    exclude: tuple[str, ...] | None = None
    extend_exclude: tuple[str, ...] | None = None
    force_exclude: bool | None = None
    respect_gitignore: bool | None = None
    fix: bool | None = None
    fix_only: bool | None = None
    unsafe_fixes: bool | None = None
    show_fixes: bool | None = None
    output_format: str | None = None
    baseline: str | None = None
    cache_dir: str | None = None


def version(text: object) -> tuple[int, int]:
    """Read ``"1.13"``.

    :raises OptionError: where it is no such text.
    """
    found = re.fullmatch(r"(\d+)\.(\d+)", text) if isinstance(text, str) else None
    if found is None:
        raise OptionError(f'expected a version such as "1.13", got {_shown(text)}')
    return int(found[1]), int(found[2])


def confidence(text: object) -> Confidence:
    """Read a confidence by name.

    :raises OptionError: where it is none.
    """
    names = {str(each): each for each in reversed(Confidence)}
    return names[one_of(tuple(names))(text)]


def one_of(choices: tuple[str, ...]) -> Callable[[object], str]:
    """Give the reader of an option that takes one of a few words."""

    def read(value: object) -> str:
        if isinstance(value, str) and value in choices:
            return value
        near = nearest(value, choices) if isinstance(value, str) else ""
        raise OptionError(f"expected one of {', '.join(choices)}, got {_shown(value)}{near}")

    return read


def selectors(value: object) -> tuple[str, ...]:
    """Read a list of rule selectors.

    :raises OptionError: where it is no list of texts or a selector means no rule.
    """
    found = texts(value)
    try:
        for selector in found:
            codes_meant(selector)
    except UnknownSelector as error:
        raise OptionError(str(error)) from None
    return found


def texts(value: object) -> tuple[str, ...]:
    """Read a list of texts.

    :raises OptionError: where it is none.
    """
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise OptionError(f"expected a list of strings, got {_shown(value)}")
    return tuple(value)


def from_table(table: Mapping[str, object]) -> Options:
    """Read a table of a configuration file.

    :raises OptionError: naming the key.
    """
    read: dict[str, object] = {}
    for key, value in table.items():
        reader = _READERS.get(key)
        if reader is None:
            raise OptionError(f"unknown key `{key}`{nearest(key, _READERS)}")
        try:
            read[key.replace("-", "_")] = reader(value)
        except OptionError as error:
            raise OptionError(f"`{key}`: {error}") from None
    return Options(**read)  # type: ignore[arg-type]  # each reader gives its field's type; test_config holds them to it


def _switch(value: object) -> bool:
    if not isinstance(value, bool):
        raise OptionError(f"expected true or false, got {_shown(value)}")
    return value


def _name(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise OptionError(f"expected the name of a file, got {_shown(value)}")
    return value


def _patterns(value: object) -> Patterns:
    if not isinstance(value, dict):
        raise OptionError(f"expected a table of lists, got {_shown(value)}")
    found = []
    for pattern, codes in value.items():
        try:
            found.append((pattern, selectors(codes)))
        except OptionError as error:
            raise OptionError(f"`{pattern}`: {error}") from None
    return tuple(found)


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


_BY_FIELD: dict[str, Callable[[object], object]] = {
    "per_file_ignores": _patterns,
    "min_confidence": confidence,
    "target_torch": version,
    "numpy_style": one_of(NUMPY_STYLES),
    "output_format": one_of(OUTPUT_FORMATS),
    "baseline": _name,
    "cache_dir": _name,
    "exclude": texts,
    "extend_exclude": texts,
    **dict.fromkeys(("select", "ignore", "extend_select", "extend_ignore", "fixable", "unfixable"), selectors),
}
_READERS = {name.replace("_", "-"): _BY_FIELD.get(name, _switch) for name in Options.__slots__}
