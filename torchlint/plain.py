"""Whether a file gives no rule anything to look at, told without the engine, whose import takes longer than that."""

from __future__ import annotations

import warnings

from torchlint.config import Config
from torchlint.notebook import SUFFIX
from torchlint.source import SourceError, decode
from torchlint.triggers import speaking

try:
    # What :mod:`symtable` calls, without its import: it takes a third less time than to make a tree for nobody.
    from _symtable import symtable as _parse  # type: ignore[import-not-found]
except ImportError:  # not in every Python

    def _parse(text: str, path: str, mode: str, /) -> object:
        return compile(text, path, mode, 0x400)  # ``ast.PyCF_ONLY_AST``, without the import of ``ast``


_OF_SUPPRESSIONS = (b"tns", b"torchlint:")
"""In small letters, what a comment holds that may be found at fault itself."""

_ACCEPTED: set[str] = set()
_MOST_ACCEPTED = 10_000
"""A server's process lives for days."""


def is_plain(path: str, raw: bytes, config: Config) -> bool:
    """Tell whether the engine would find nothing at all: no finding, no suppressed one, nothing that went wrong.

    False where that takes the engine to tell, as it does for notebooks and for text that does not parse.
    """
    if path.endswith(SUFFIX):
        return False
    try:
        source = decode(path, raw)
    except SourceError:
        return False
    if speaking(config.codes(path), source.utf8):
        return False
    lowered = source.utf8.lower()
    return not any(word in lowered for word in _OF_SUPPRESSIONS) and (_is_accepted(raw) or _parses(source.text))


def accept(digest: str) -> None:
    """Take notice that Python reads the bytes of a SHA-256 digest: another file was looked at that imports this one."""
    if len(_ACCEPTED) > _MOST_ACCEPTED:
        _ACCEPTED.clear()
    _ACCEPTED.add(digest)


def _is_accepted(raw: bytes) -> bool:
    if not _ACCEPTED:
        return False
    from hashlib import sha256  # here: whoever accepted one has imported it

    return sha256(raw).hexdigest() in _ACCEPTED


def _parses(text: str) -> bool:
    """Whether Python reads a text; False also for a few that only its compiler refuses: the engine tells these."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in the user's strings are not ours to report
            _parse(text, "<unknown>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
