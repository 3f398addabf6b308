"""The kinds of values that options take, and how each is read from TOML and from the text behind a flag."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from torchlint.config.selectors import ALL, UnknownSelector, codes_meant, nearest
from torchlint.diagnostics.assumptions import ASSUMPTIONS
from torchlint.diagnostics.model import Confidence, Severity
from torchlint.diagnostics.registry import BY_CODE, BY_NAME

Patterns = tuple[tuple[str, tuple[str, ...]], ...]


class OptionError(ValueError):
    """A key that does not exist or a value of the wrong kind; the text says which and what to write."""


@dataclass(frozen=True, slots=True)
class ValueKind:
    """How values are written: in a configuration file, where it may hold them, and behind a flag that is no switch.

    Where ``many`` is true, a flag may be given several times, and each adds to those before. A shell offers ``words``
    or files.
    """

    from_toml: Callable[[object], object] | None = None
    from_text: Callable[[str], object] | None = None
    many: bool = False
    words: tuple[str, ...] = ()
    is_file: bool = False
    optional: bool = False
    """Whether the flag may stand alone, which says the empty text."""


# ---------------------------------------------------------------------- from TOML
def boolean(value: object) -> bool:
    """Read ``true`` or ``false``.

    :raises OptionError: where it is neither.
    """
    if not isinstance(value, bool):
        raise OptionError(f"expected true or false, got {_shown(value)}")
    return value


def file_name(value: object) -> str:
    """Read the name of a file.

    :raises OptionError: where it is no text, or an empty one.
    """
    if not isinstance(value, str) or not value:
        raise OptionError(f"expected the name of a file, got {_shown(value)}")
    return value


def version(text: object) -> tuple[int, int]:
    """Read ``"1.13"``.

    :raises OptionError: where it is no such text.
    """
    found = re.fullmatch(r"(\d+)\.(\d+)", text) if isinstance(text, str) else None
    if found is None:
        raise OptionError(f'expected a version such as "1.13", got {_shown(text)}')
    return int(found[1]), int(found[2])


def shard(text: object) -> tuple[int, int]:
    """Read ``"2/4"``, the second of four parts.

    :raises OptionError: where it is no such text.
    """
    found = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", text) if isinstance(text, str) else None
    if found is None or int(found[1]) > int(found[2]):
        raise OptionError(f"expected a part such as 2/4, got {_shown(text)}")
    return int(found[1]), int(found[2])


def level_of(levels: type[Confidence] | type[Severity]) -> Callable[[object], Confidence | Severity]:
    """Return the reader of an option that takes a level by its name, the highest first where all are told."""
    names: dict[str, Confidence | Severity] = {str(each): each for each in [*levels][::-1]}
    read = one_of(tuple(names))
    return lambda text: names[read(text)]


def one_of(choices: tuple[str, ...]) -> Callable[[object], str]:
    """Return the reader of an option that takes one of a few words."""

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


def patterns(value: object) -> Patterns:
    """Read a table from globs to lists of rule selectors.

    :raises OptionError: where it is none.
    """
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


# ---------------------------------------------------------------------- from the text behind a flag
def _split(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


def _split_selectors(text: str) -> tuple[str, ...]:
    return selectors(_split(text))


def _split_some_selectors(text: str) -> tuple[str, ...]:
    """Read what a flag selects: nothing at all is a variable that is not set, and a gate that never shuts."""
    found = _split_selectors(text)
    if not found:
        raise OptionError("expected rules, got nothing: leave the flag out for the default")
    return found


def _split_patterns(text: str) -> Patterns:
    pairs = []
    for each in _split(text):
        pattern, colon, selector = each.rpartition(":")
        if not (pattern and colon):
            raise OptionError(f"expected `GLOB:RULE`, got `{each}`")
        pairs.append((pattern, _split_selectors(selector)))
    return tuple(pairs)


def _seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found <= 86_400:
        raise OptionError(f"expected a number of seconds above 0, got `{text}`")
    return found


def size(value: object) -> int:
    """Read a number of bytes.

    :raises OptionError: where it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise OptionError(f"expected a number of bytes, or 0 for no limit, got {_shown(value)}")
    return value


def _size(text: str) -> int:
    return size(int(text) if text.isdecimal() else text)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise OptionError(f"expected a number from 1, got `{text}`")
    return int(text)


# ---------------------------------------------------------------------- to text
def text_of(value: object) -> str:
    """Return a value as people read it."""
    if value is None or value == ():
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, tuple):
        return str(value)
    if isinstance(value[0], int):
        return ".".join(map(str, value))
    if isinstance(value[0], tuple):
        return "; ".join(f"{pattern}: {', '.join(codes)}" for pattern, codes in value)
    return ", ".join(value)


# ---------------------------------------------------------------------- the kinds
def choice(*words: str) -> ValueKind:
    """Return the kind of an option that takes one of a few words."""
    return ValueKind(one_of(words), one_of(words), words=words)


SWITCH = ValueKind(boolean)
RULES = ValueKind(selectors, _split_selectors, many=True, words=(*BY_CODE, *BY_NAME, ALL))
SELECTED_RULES = ValueKind(selectors, _split_some_selectors, many=True, words=RULES.words)
GLOBS = ValueKind(texts, _split, many=True)
RULES_BY_GLOB = ValueKind(patterns, _split_patterns, many=True)
CONFIDENCE = ValueKind(level_of(Confidence), level_of(Confidence))
SEVERITY = ValueKind(level_of(Severity), level_of(Severity))
VERSION = ValueKind(version, version)
FILE = ValueKind(file_name, str, is_file=True)
FOLDER = ValueKind(file_name, str)
TEXT = ValueKind(from_text=str)
OPTIONAL_TEXT = ValueKind(from_text=str, optional=True)
EXPLAINED = ValueKind(from_text=str, words=(*BY_CODE, *BY_NAME, *ASSUMPTIONS))
SHARD = ValueKind(from_text=shard)
SECONDS = ValueKind(from_text=_seconds)
SIZE = ValueKind(size, _size)
COUNT = ValueKind(from_text=_count)
