"""Which texts of a project hold a word, and which define a function or class of a name."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from torchlint.inference.program.source_files import code_in

_WORD = re.compile(rb"[\w\x80-\xff]+")
_DEFINITION = re.compile(rb"\b(?:def|class)[ \t\\\r\n]+([\w\x80-\xff]+)")
_NAMING = re.compile(rb"\b(?:class|as)[ \t\\\r\n]+([\w\x80-\xff]+)|^[ \t]*([\w\x80-\xff]+)[ \t]*=(?!=)", re.MULTILINE)


class WordIndex:
    """The words of texts, each text with its path and digest read once; of a notebook those of its cells."""

    def __init__(self) -> None:
        self._texts: list[tuple[str, str]] = []
        self._words: dict[str, tuple[bytes, ...]] = {}
        self._spelled: dict[bytes, bytes] = {}
        """Each word once, however many texts hold it."""
        self._places: dict[bytes, list[int]] | None = None
        """Where the texts that hold a word stand in the list of them."""
        self._defined: dict[str, frozenset[str]] = {}
        self._named: dict[str, frozenset[str]] = {}
        self._names: frozenset[str] | None = None

    def renew(self, texts: Iterable[tuple[str, str]]) -> None:
        """Take these for the texts of the project, which are read when the first word is asked for."""
        self._texts = list(texts)
        self._places = self._names = None

    def holding(self, words: Iterable[bytes]) -> list[tuple[str, str]]:
        """Return the texts that hold one of some words, each by its path and digest, by path."""
        if self._places is None:
            self._places = defaultdict(list)
            for at, text in enumerate(self._texts):
                for word in self._words_of(*text):
                    self._places[word].append(at)
        found = {at for word in words for at in self._places.get(word, ())}
        return [self._texts[at] for at in sorted(found)]

    def defining(self, name: str) -> list[tuple[str, str]]:
        """Return the texts that define a function or class of a name, likewise."""
        return [each for each in self.holding((name.encode(),)) if name in self._defined_in(*each)]

    def naming(self, name: str) -> list[tuple[str, str]]:
        """Return the texts that define a class of a name, or give the name to one."""
        return [each for each in self.holding((name.encode(),)) if name in self._named_in(*each)]

    @property
    def defined(self) -> frozenset[str]:
        """The names of the functions and classes of all texts."""
        if self._names is None:
            self._names = frozenset[str]().union(*(self._defined_in(*each) for each in self._texts))
        return self._names

    def _words_of(self, path: str, digest: str) -> tuple[bytes, ...]:
        if digest not in self._words:
            known = self._spelled
            self._words[digest] = tuple(known.setdefault(each, each) for each in set(_WORD.findall(code_in(path))))
        return self._words[digest]

    def _defined_in(self, path: str, digest: str) -> frozenset[str]:
        if digest not in self._defined:
            found = _DEFINITION.findall(code_in(path))
            self._defined[digest] = frozenset(each.decode("utf-8", "replace") for each in found)
        return self._defined[digest]

    def _named_in(self, path: str, digest: str) -> frozenset[str]:
        if digest not in self._named:
            found = {b"".join(each) for each in _NAMING.findall(code_in(path))}
            self._named[digest] = frozenset(each.decode("utf-8", "replace") for each in found)
        return self._named[digest]
