"""What one file may ask of the other texts of its project."""

from __future__ import annotations

import os
import re

from torchlint.syntax.ast_index import AstIndex
from torchlint.texts.name_takers import import_words
from torchlint.texts.project_texts import (
    BELOW,
    DEFINES,
    SPELLS,
    SUBCLASSES,
    SURELY,
    TAKES,
    TRACES,
    Question,
    ask,
)
from torchlint.texts.tensor_classes import below, classes_in
from torchlint.texts.word_index import module_word


class ProjectView:
    """What one file may ask of the other texts of its project; ``asked`` keeps the questions with their answers."""

    def __init__(self, root: str | None, own: str, index: AstIndex) -> None:
        """Begin; ``root`` is None for a text that lies nowhere: it is a project of its own."""
        self._root = root
        self._own = own
        self._index = index
        self.asked: dict[Question, str | None] = {}

    def sets(self, *kinds: str) -> str | None:
        """Return who sets one of torch's defaults elsewhere: ``DTYPE``, ``DEVICE``, ``TENSOR_TYPE``."""
        return next((found for each in kinds if (found := self._ask(each)) is not None), None)

    @property
    def traces(self) -> str | None:
        """Who traces or scripts code elsewhere, and imports this module."""
        return self._ask(TRACES)

    @property
    def subclasses_tensors(self) -> str | None:
        """Which class below ``Tensor`` this file defines or names, or has from a file that defines it."""
        if own := below("Tensor", classes_in(self._index.source.utf8)):
            return f"this file defines `{own[0]}`, a subclass of `Tensor`"
        if self._root is None:
            return None
        for line in (self._ask(SUBCLASSES) or "").splitlines():
            shown, _, name = line.rpartition(" ")
            text = self._index.source.utf8
            words = {module_word(shown).encode()} & import_words(text)
            if words or re.search(rb"\b%b\b" % re.escape(name.encode()), text):
                return f"`{name}` of `{shown}` is a subclass of `Tensor`"
        return None

    def takes(self, name: str) -> str | None:
        """Return who takes a name from this module; an import of all names takes it, too."""
        return self._ask(TAKES, name)

    def defines(self, method: str) -> str | None:
        """Return who defines a method of a name in another file."""
        return self._ask(DEFINES, method)

    def imports_from_here(self, name: str) -> str | None:
        """Return who imports a name from this module, so that it fails where the name is gone."""
        return self._ask(SURELY, name)

    def spelling(self, word: str, pattern: str = "") -> list[str] | None:
        """Return the paths of the project's files that hold a word, and in whose text a pattern is found.

        None where there are too many files to tell.
        """
        if self._root is None:
            return []
        found = (self._ask(SPELLS, word, pattern) or "").splitlines()
        if any(not each.startswith(BELOW) for each in found):
            return None
        return [os.path.join(self._root, *each.removeprefix(BELOW).split("/")) for each in found]

    def _ask(self, what: str, *more: str) -> str | None:
        if self._root is None:
            return None
        question = (what, self._root, self._own, *more)
        if question not in self.asked:
            self.asked[question] = ask(question)
        return self.asked[question]
