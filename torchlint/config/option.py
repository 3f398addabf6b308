"""One option: what is known of it beside its name and its type, as an entry of the table in ``options.py``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from torchlint.config import values
from torchlint.config.values import ValueKind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CHECK = ("check",)


@dataclass(frozen=True, slots=True)
class Option:
    """What is known of an option but its name and its type.

    ``help`` is what each command that takes the option says of it; no word hides it. ``doc`` is what the documentation
    says in Markdown, where that is more. ``in_files`` tells whether configuration files may hold it, ``per_file``
    whether those of one run may differ in it, ``in_cache_key`` whether a result for a file rests on it, and
    ``in_environment`` whether a variable may say it.
    """

    kind: ValueKind
    help: Mapping[str, str]
    group: str = ""
    metavar: str = ""
    """What help calls the value, where the kind does not say it."""
    flags: tuple[str, ...] = ()
    """Its flags, where they are not just its name."""
    default: object = None
    shown_default: str = ""
    doc: str = ""
    example: str = ""
    """A value in TOML."""
    positional: str = ""
    """How many there are, in argparse's words, where it is given by its position."""
    in_files: bool = False
    per_file: bool = False
    in_cache_key: bool = False
    in_environment: bool = False


def option(
    kind: ValueKind,
    text: str | Mapping[str, str],
    commands: tuple[str, ...] = _CHECK,
    *,
    per_file: bool = False,
    in_cache_key: bool | None = None,
    **more: Any,
) -> Any:
    """Make an option of configuration files and flags; unset, it is None, so that a layer below may say it.

    One that holds for single files is part of the cache's key unless it is said that results do not rest on it.
    """
    key = per_file if in_cache_key is None else in_cache_key
    entry = Option(kind, _by_command(text, commands), in_files=True, per_file=per_file, in_cache_key=key, **more)
    return field(default=None, metadata={"option": entry})


def flag(kind: ValueKind, text: str | Mapping[str, str], commands: tuple[str, ...] = _CHECK, **more: Any) -> Any:
    """Make an option of the command line alone."""
    entry = Option(kind, _by_command(text, commands), **more)
    default = False if kind is values.SWITCH else entry.default
    return field(default=default, metadata={"option": entry})


def _by_command(text: str | Mapping[str, str], commands: tuple[str, ...]) -> Mapping[str, str]:
    return dict.fromkeys(commands, text) if isinstance(text, str) else text
