"""The kinds of values that options take, and how each is read from TOML and from the text behind a flag."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from torchlint.config.selectors import ALL, UnknownSelector, codes_meant, nearest
from torchlint.diagnostics.assumptions import ASSUMPTIONS
from torchlint.diagnostics.model import Confidence, Severity
from torchlint.diagnostics.registry import BY_CODE, BY_NAME

Patterns = tuple[tuple[str, tuple[str, ...]], ...]


class OptionError(argparse.ArgumentTypeError):
    """A key that does not exist or a value of the wrong kind; the text says which and what to write."""


@dataclass(frozen=True, slots=True)
class ValueKind:
    """How values are written: in a configuration file, where it may hold them, behind a flag and in a variable.

    Where ``many`` is true, a flag may be given several times, and each adds to those before. A shell offers ``words``
    or files.
    """

    from_toml: Callable[[object], object] | None = None
    from_text: Callable[[str], object] = str
    metavar: str = ""
    """What help and pages call the value."""
    title: str = ""
    """What the pages say the type is."""
    schema: Mapping[str, object] = field(default_factory=dict, hash=False)
    """What a file may hold, as a JSON schema."""
    many: bool = False
    words: tuple[str, ...] = ()
    is_file: bool = False
    optional: bool = False
    """Whether the flag may stand alone, which says the empty text."""


# ---------------------------------------------------------------------- from TOML
def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise OptionError(f"expected true or false, got {_shown(value)}")
    return value


def _file_name(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise OptionError(f"expected the name of a file, got {_shown(value)}")
    return value


def _version(text: object) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)\.(\d+)", text) if isinstance(text, str) else None
    if found is None:
        raise OptionError(f'expected a version such as "1.13", got {_shown(text)}')
    return int(found[1]), int(found[2])


def _shard(text: object) -> tuple[int, int]:
    found = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", text) if isinstance(text, str) else None
    if found is None or int(found[1]) > int(found[2]):
        raise OptionError(f"expected a part such as 2/4, got {_shown(text)}")
    return int(found[1]), int(found[2])


def _one_of(choices: tuple[str, ...]) -> Callable[[object], str]:
    def read(value: object) -> str:
        if isinstance(value, str) and value in choices:
            return value
        near = nearest(value, choices) if isinstance(value, str) else ""
        raise OptionError(f"expected one of {', '.join(choices)}, got {_shown(value)}{near}")

    return read


def _selectors(value: object) -> tuple[str, ...]:
    found = _texts(value)
    try:
        for selector in found:
            codes_meant(selector)
    except UnknownSelector as error:
        raise OptionError(str(error)) from None
    return found


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise OptionError(f"expected a list of strings, got {_shown(value)}")
    return tuple(value)


def _patterns(value: object) -> Patterns:
    if not isinstance(value, dict):
        raise OptionError(f"expected a table of lists, got {_shown(value)}")
    found = []
    for pattern, codes in value.items():
        try:
            found.append((pattern, _selectors(codes)))
        except OptionError as error:
            raise OptionError(f"`{pattern}`: {error}") from None
    return tuple(found)


def _size(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise OptionError(f"expected a number of bytes, or 0 for no limit, got {_shown(value)}")
    return value


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


# ---------------------------------------------------------------------- from the text behind a flag or in a variable
def _switched(text: str) -> bool:
    folded = text.strip().lower()
    if folded not in ("true", "1", "false", "0"):
        raise OptionError(f"expected true or false, got {_shown(text)}")
    return folded in ("true", "1")


def _split(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


def _split_selectors(text: str) -> tuple[str, ...]:
    return _selectors(_split(text))


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
def choice(*words: str, metavar: str = "") -> ValueKind:
    """Return the kind of an option that takes one of a few words."""
    title = ", ".join(f'`"{each}"`' for each in words)
    return ValueKind(_one_of(words), _one_of(words), metavar, title, {"enum": words}, words=words)


def level_of(levels: type[Confidence] | type[Severity]) -> ValueKind:
    """Return the kind of an option that takes a level by its name, the highest first where all are told."""
    names: dict[str, Confidence | Severity] = {str(each): each for each in [*levels][::-1]}
    kind = choice(*names, metavar="LEVEL")

    def read(text: object) -> Confidence | Severity:
        return names[_one_of(kind.words)(text)]

    return replace(kind, from_toml=read, from_text=read)


_SELECTORS = {"type": "array", "items": {"$ref": "#/definitions/selector"}}
_PATH = {"type": "string", "minLength": 1}

SWITCH = ValueKind(_boolean, _switched, title="boolean", schema={"type": "boolean"})
RULES = ValueKind(
    _selectors,
    _split_selectors,
    "RULES",
    "list of rule selectors",
    _SELECTORS,
    many=True,
    words=(*BY_CODE, *BY_NAME, ALL),
)
SELECTED_RULES = replace(RULES, from_text=_split_some_selectors)
GLOBS = ValueKind(_texts, _split, "GLOBS", "list of globs", {"type": "array", "items": {"type": "string"}}, many=True)
RULES_BY_GLOB = ValueKind(
    _patterns,
    _split_patterns,
    "GLOB:RULE,...",
    "table from globs to lists of rule selectors",
    {"type": "object", "additionalProperties": _SELECTORS},
    many=True,
)
CONFIDENCE = level_of(Confidence)
SEVERITY = level_of(Severity)
VERSION = ValueKind(
    _version, _version, "X.Y", 'version, such as `"1.13"`', {"type": "string", "pattern": r"^\d+\.\d+$"}
)
FILE = ValueKind(_file_name, str, "FILE", "path of a file", _PATH, is_file=True)
FOLDER = ValueKind(_file_name, str, "DIR", "path of a folder", _PATH)
SETTINGS = ValueKind(from_text=lambda text: [text], metavar="CONFIG", many=True, is_file=True)
TEXT = ValueKind()
OPTIONAL_TEXT = ValueKind(optional=True)
EXPLAINED = ValueKind(words=(*BY_CODE, *BY_NAME, *ASSUMPTIONS))
SHARD = ValueKind(from_text=_shard, metavar="I/N")
SECONDS = ValueKind(from_text=_seconds, metavar="SECONDS")
SIZE = ValueKind(
    _size,
    lambda text: _size(int(text) if text.isdecimal() else text),
    "BYTES",
    "number of bytes",
    {"type": "integer", "minimum": 0},
)
COUNT = ValueKind(from_text=_count, metavar="N")
