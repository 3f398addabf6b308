"""How the patterns of ``exclude`` and ``per-file-ignores`` match: by name, or by path below the project's root."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable

_SPECIAL = frozenset("*?[]{}")
_PART = r"\*\*/|\*\*?|\?|\[!?\]?[^\]]*\]|\{[^{}]*\}|."


def matches(path: str, patterns: Iterable[str], root: str) -> bool:
    """Return whether one of the patterns means this absolute path.

    As in ruff, a pattern is held against the last part of the path and, anchored at ``root``, against all of it;
    ``*`` crosses folders, ``{a,b}`` gives choices.
    """
    posix = path.replace(os.sep, "/")
    name = posix.rsplit("/", 1)[-1]
    anchor = root.replace(os.sep, "/").rstrip("/")
    literal, others = _parted(tuple(patterns), anchor)
    if name in literal or posix in literal:
        return True
    compiled = (_compiled(each, anchor) for each in others)
    return any(last.fullmatch(name) or whole.fullmatch(posix) for last, whole in compiled)


@functools.lru_cache(maxsize=256)
def _parted(patterns: tuple[str, ...], anchor: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """Part patterns into the names and paths that the plain ones mean, and those that have to be compiled.

    The usual ones are plain: to compile them takes longer than a run that has nothing to do.
    """
    plain = [_plain(each) for each in patterns if _SPECIAL.isdisjoint(each)]
    meant = {*plain, *(each if _anchored(each) else f"{anchor}/{each}" for each in plain)}
    return frozenset(meant), tuple(each for each in patterns if not _SPECIAL.isdisjoint(each))


@functools.lru_cache(maxsize=4096)
def _compiled(pattern: str, anchor: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what the last part of a path, and what all of it, is held against."""
    plain = _plain(pattern)
    whole = _translated(plain) if _anchored(plain) else f"{re.escape(anchor)}/{_translated(plain)}"
    return re.compile(_translated(plain), re.DOTALL), re.compile(whole, re.DOTALL)


def _anchored(plain: str) -> bool:
    """Return whether a pattern says where it starts: at the root, or on Windows at a drive or a share."""
    return plain.startswith("/") or bool(os.path.splitdrive(plain)[0])


def _plain(pattern: str) -> str:
    return pattern.replace(os.sep, "/").rstrip("/").removeprefix("./")


def _translated(pattern: str) -> str:
    return "".join(_token(each.group()) for each in re.finditer(_PART, pattern, re.DOTALL))


def _token(part: str) -> str:
    if part == "**/":
        return "(?:.*/)?"
    if part in ("*", "**"):
        return ".*"
    if part == "?":
        return "[^/]"
    if part.startswith("{") and len(part) > 1:
        return "(?:" + "|".join(_translated(each) for each in part[1:-1].split(",")) + ")"
    if part.startswith("[") and len(part) > 1:
        return _bracket(part[1:-1])
    return re.escape(part)


def _bracket(inside: str) -> str:
    negated = inside.startswith("!")
    body = re.sub(r"([\\\[\]^&~|])", r"\\\1", inside[negated:])
    choice = f"[{'^' if negated else ''}{body}]"
    try:
        re.compile(choice)
    except re.error:
        return re.escape(f"[{inside}]")
    return choice
