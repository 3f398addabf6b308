"""The texts of a project by their words: each is read once in a process, and again where its stamp has changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, TypeVar

from torchlint.source import files
from torchlint.syntax.ast_index import AstIndex
from torchlint.texts.source_files import code_in, python_files, read_whole, tree_in

Answer = TypeVar("Answer")

_NO_WORD = bytes(each for each in range(128) if not (chr(each).isalnum() or chr(each) == "_"))
_TO_SPACES = bytes.maketrans(_NO_WORD, b" " * len(_NO_WORD))
_SPELLED: dict[bytes, bytes] = {}
"""Each word once, however many texts hold it."""


class ProjectFile:
    """A Python file of a project; of a notebook the cells are told of."""

    def __init__(self, path: str, shown: str, stamp: tuple[int, ...]) -> None:
        self.path = path
        self.shown = shown
        """The path below the project's root."""
        self.stamp = stamp
        self._told: dict[Callable[[ProjectFile], Any], Any] = {}

    @cached_property
    def words(self) -> frozenset[bytes]:
        """All words of the text."""
        return frozenset(_SPELLED.setdefault(each, each) for each in set(self.text.translate(_TO_SPACES).split()))

    @property
    def text(self) -> bytes:
        """The code as it is; it is not kept."""
        return code_in(self.path)

    @property
    def tree(self) -> AstIndex | None:
        """The tree of the code, read anew; None where it does not parse."""
        return tree_in(self.path, read_whole(self.path) or b"")

    def told(self, question: Callable[[ProjectFile], Answer]) -> Answer:
        """Return what a question finds in the text, which is asked once."""
        if question not in self._told:
            self._told[question] = question(self)
        found: Answer = self._told[question]
        return found


class WordIndex:
    """The files below one root."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._files: dict[str, ProjectFile] = {}
        self.is_stale = True
        self.is_too_large = False
        """Whether there are more files than are looked at."""

    def refresh(self) -> None:
        """See which files there are, and which have changed, where they may have."""
        if not self.is_stale:
            return
        paths = python_files(self.root)
        self.is_stale, self.is_too_large = False, paths is None
        self._files = {path: self._file(path, files.stamp(path)) for path in sorted(paths or ())}

    def holding(self, *words: str) -> list[ProjectFile]:
        """Return the files that hold all of some words, by path."""
        wanted = {each.encode() for each in words}
        return [each for each in self._files.values() if wanted <= each.words]

    def holding_any(self, words: Iterable[str]) -> list[ProjectFile]:
        """Return the files that hold one of some words, by path."""
        wanted = {each.encode() for each in words}
        return [each for each in self._files.values() if not wanted.isdisjoint(each.words)]

    def _file(self, path: str, stamp: tuple[int, ...]) -> ProjectFile:
        known = self._files.get(path)
        if known is not None and known.stamp == stamp:
            return known
        return ProjectFile(path, os.path.relpath(path, self.root).replace(os.sep, "/"), stamp)


def module_word(path: str) -> str:
    """Return the last word of the name by which a file is imported: that of its package for ``__init__.py``."""
    folder, name = os.path.split(path)
    stem = os.path.splitext(name)[0]
    return os.path.basename(folder) if stem == "__init__" else stem
