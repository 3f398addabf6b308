"""Questions to all texts of a project, the same for every run.

A question names the project's root and the file that asks, so that a folder, one file and a hook with three files get
the same answer. An answer is a clause for the user, such as "`tests/conftest.py` sets a default dtype", or None where
no file stands in the way. Who keeps a result keeps its questions with it, and asks them again: the result holds while
the answers are the same. Nothing is read before the first question; :func:`look_again` has files read anew.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable

from torchlint.texts.default_setters import DEVICE, DTYPE, TENSOR_TYPE, setter
from torchlint.texts.name_takers import sure_takers, takers
from torchlint.texts.source_files import modules, read_whole
from torchlint.texts.tensor_classes import tensor_classes
from torchlint.texts.tracers import tracer
from torchlint.texts.word_index import WordIndex

Question = tuple[str, ...]
"""What is asked, the root of the project, the path of the file that asks, and what else the question needs."""

TRACES, TAKES, SUBCLASSES, SPELLS, SURELY = "tracing", "name", "subclasses", "word", "surely"
BELOW = "./"
"""How a path below the root begins in an answer."""
DEFINES, HOLDS = "method", "holding"


def ask(question: Question) -> str | None:
    """Answer a question from the texts as they are, or were when this process looked at them last."""
    what, root, own, *more = question
    words = _PROJECTS.setdefault(root, WordIndex(root))
    if what == HOLDS:
        return _holders(words, own, *more)
    words.refresh()
    return "the project has too many files to look through" if words.is_too_large else _FLAGS[what](words, own, *more)


def _spelling(words: WordIndex, _: str, word: str, pattern: str = "") -> str:
    """Return the files that hold a word, and in whose text a pattern is found, one on a line."""
    found = (each for each in words.holding(word) if not pattern or re.search(pattern.encode(), each.text))
    return "\n".join(f"{BELOW}{each.shown}" for each in found)


def _holders(words: WordIndex, _: str, word: str) -> str:
    """Return the modules whose bytes hold a word, one on a line; all modules for an empty one."""
    sought = word.encode()
    return holding(words.root, (path for path in modules(words.root) if sought in (read_whole(path) or b"")))


def holding(root: str, paths: Iterable[str]) -> str:
    """Spell the answer to the question which modules hold a word."""
    return "\n".join(os.path.relpath(path, root).replace(os.sep, "/") for path in paths)


def _definer(words: WordIndex, own: str, method: str) -> str | None:
    """Return who defines a method of a name, so that another object than a tensor may have it."""
    spelled = f"def {method}(".encode()
    found = (each for each in words.holding(method, "class", "def") if each.path != own and spelled in each.text)
    return next((f"`{each.shown}` has a `{method}` of its own" for each in found), None)


def look_again() -> None:
    """Have files read anew when the next question is asked: they may have changed."""
    for words in _PROJECTS.values():
        words.is_stale = True


def still_answered(asked: Iterable[tuple[Question, str | None]]) -> bool:
    """Whether all questions have the answers that they had."""
    return all(ask(question) == answer for question, answer in asked)


_PROJECTS: dict[str, WordIndex] = {}
_FLAGS: dict[str, Callable[..., str | None]] = {
    DTYPE: lambda words, own: setter(words, own, DTYPE),
    DEVICE: lambda words, own: setter(words, own, DEVICE),
    TENSOR_TYPE: lambda words, own: setter(words, own, TENSOR_TYPE),
    TRACES: tracer,
    TAKES: takers,
    SURELY: sure_takers,
    SUBCLASSES: tensor_classes,
    SPELLS: _spelling,
    DEFINES: _definer,
}
