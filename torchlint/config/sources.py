"""What one source says of the options: a table of TOML, ``--config``, an environment variable."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence

from torchlint.config.options import IN_FILES, OPTIONS, Options
from torchlint.config.selectors import nearest
from torchlint.config.values import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Document = Mapping[str, object]
_Configured = tuple[str | None, tuple[Options, ...]]
EXTEND = "extend"
"""The key that names another configuration file, relative to the one that it stands in."""

_SETTING = re.compile(r"""\s*[\w-]+(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*\s*=""")
"""How a setting begins, and no path but one that is written without its folder: ``./a=b.toml`` is a file."""


def parse_toml(text: str) -> Document:
    """Read a document.

    :raises ValueError: where it is no TOML.
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    document: Document = tomllib.loads(text)
    return document


def from_table(table: Document, place: str = "at the top level") -> Options:
    """Read a table; ``place`` tells the user where its keys belong.

    :raises OptionError: naming the key.
    """
    readers = {name.replace("_", "-"): OPTIONS[name].kind.from_toml for name in IN_FILES}
    read: dict[str, Any] = {}
    for key, value in table.items():
        reader = readers.get(key)
        if reader is None and key == "lint" and isinstance(value, dict):
            raise OptionError(f"`lint`: torchlint has no such table: put its keys {place}")
        if reader is None:
            raise OptionError(f"unknown key `{key}`{nearest(key, readers)}")
        try:
            read[key.replace("-", "_")] = reader(value)
        except OptionError as error:
            raise OptionError(f"`{key}`: {error}") from None
    return Options(**read)


def from_config(given: Sequence[str] | None, source: str = "argument --config") -> _Configured:
    """Return the file that ``--config`` names, and what it sets beside.

    :raises OptionError: where it names two files, or a setting cannot be used.
    """
    named = [each for each in given or () if not _SETTING.match(each)]
    if len(named) > 1:
        raise OptionError(f"{source}: only one file can be used: leave out {named[0]} or {named[1]}")
    try:
        return next(iter(named), None), tuple(_setting(each) for each in given or () if each not in named)
    except OptionError as error:
        raise OptionError(f"{source}: {error}") from None


def _setting(text: str) -> Options:
    try:
        table = parse_toml(text)
    except (ValueError, RecursionError) as error:
        key, _, value = (each.strip() for each in text.partition("="))
        quoted = re.sub(r"[^][{}=,\s]+(?: +[^][{}=,\s]+)*", r'"\g<0>"', value.replace('"', ""))
        hint = f": quote strings, as in '{key} = {quoted}'" * (quoted != value)
        raise OptionError(f"`{key}`: no valid TOML: {error}{hint}") from None
    if EXTEND in table:
        raise OptionError("`extend`: only a file can extend another: use --config FILE")
    return from_table(table)


def variable(name: str) -> str:
    """Return the environment variable of an option."""
    return f"TORCHLINT_{name.upper()}"


def from_command_line(given: Mapping[str, Any], variables: Mapping[str, str]) -> Options:
    """Return what flags say, and for what neither they nor ``--config`` say, what variables say, by options' names.

    :raises OptionError: naming the flag or the variable.
    """
    named, settings = from_config(given.get("config"))
    if given.get("isolated") and named is not None:
        raise OptionError("--isolated and --config FILE cannot be used together")
    said: dict[str, Any] = {name: tuple(each) if isinstance(each, list) else each for name, each in given.items()}
    for name, text in variables.items():
        is_set = name in IN_FILES and any(getattr(each, name) is not None for each in settings)
        if name not in given and not is_set and not (name == "config" and given.get("isolated")):
            said[name] = _from_variable(name, text)
    return Options(**said)


def _from_variable(name: str, text: str) -> object:
    if name == "config" and (path := from_config([text], variable(name))[0]) and not os.path.exists(path):
        raise OptionError(f"{variable(name)}: {path}: no such file")
    try:
        value = OPTIONS[name].kind.from_text(text)
    except OptionError as error:
        raise OptionError(f"{variable(name)}: {error}") from None
    return tuple(value) if isinstance(value, list) else value
