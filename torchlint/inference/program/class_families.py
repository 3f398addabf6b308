"""Which classes may answer in the place of a given one: those below it, and what stands beside it in their bases.

An object of ``class Child(Mixin, Net)`` looks an attribute up in the mixin, too, before or after ours: so all that the
mixin derives from counts as well, in whatever file it is defined. Classes are told apart by their names alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from torchlint.inference.program.class_words import ANY, ClassWords, class_words
from torchlint.inference.program.word_index import WordIndex
from torchlint.syntax.ast_index import AstIndex

_UNTOLD = ClassWords("*", frozenset(), frozenset(), ANY, binds_any=True)
"""A base that is computed, beside one of the family."""


@dataclass
class ClassFamily:
    """The names of a class and of those below it, and of what stands beside them; they grow with each text."""

    below: set[str]
    beside: set[str] = field(default_factory=set)

    @property
    def size(self) -> int:
        """How many names are known: as long as it grows, texts may have more of it than they had."""
        return len(self.below) + len(self.beside)

    def members(self, classes: Iterable[ClassWords]) -> Iterator[ClassWords]:
        """Yield those of one text's classes that belong to it, after taking up what these derive from."""
        every, size = list(classes), -1
        while size < self.size:
            size = self.size
            for each in every:
                self._take(each)
        yield from (each for each in every if self._is_below(each) or each.name in self.beside)
        if self.beside & ANY:
            yield _UNTOLD

    def is_beside(self, member: ClassWords) -> bool:
        """Whether a class shares no more with ours than a class below."""
        return member.name not in self.below

    def _take(self, each: ClassWords) -> None:
        if self._is_below(each):
            self.below.add(each.name)
        elif each.name not in self.beside:
            return
        above = each.bases - self.below
        self.beside |= above if above < each.bases else above - ANY  # a computed base alone is ours

    def _is_below(self, each: ClassWords) -> bool:
        return not each.bases.isdisjoint(self.below | ANY)

    # ------------------------------------------------------------------ what is asked of it
    def binder(self, classes: Iterable[ClassWords], word: str) -> ClassWords | None:
        """Return one of a text's classes in the family that rebinds an attribute."""
        return next((each for each in self.members(classes) if each.binds(word)), None)

    def definer(
        self, classes: Iterable[ClassWords], words: frozenset[str], words_beside: frozenset[str]
    ) -> tuple[ClassWords, str] | None:
        """Return one of a text's classes in the family whose body defines one of some words, and the word.

        ``words_beside`` count only for what stands beside.
        """
        for each in self.members(classes):
            asked = words | ANY | (words_beside if self.is_beside(each) else frozenset())
            if found := sorted(each.defined & asked):
                return each, found[0]
        return None


class FamilyTexts:
    """The classes of a project's texts, each text read once."""

    def __init__(self, words: WordIndex, tree_at: Callable[[str], AstIndex | None]) -> None:
        """Begin; ``tree_at`` gives the tree of a file, or None where it cannot be read."""
        self._words, self._tree_at = words, tree_at
        self._classes: dict[str, tuple[ClassWords, ...]] = {}

    def holding(self, family: ClassFamily) -> Iterator[tuple[str, tuple[ClassWords, ...]]]:
        """Yield the paths of texts that may have classes of a family, with all their classes.

        While one of them makes the family grow, all are gone through once more.
        """
        size = -1
        while size < family.size:
            size = family.size
            texts = set(self._words.holding(map(str.encode, family.below)))
            texts.update(text for each in family.beside for text in self._words.naming(each))
            for path, digest in sorted(texts):
                yield path, self._classes_of(path, digest)

    def _classes_of(self, path: str, digest: str) -> tuple[ClassWords, ...]:
        if digest not in self._classes:
            index = self._tree_at(path)
            self._classes[digest] = class_words(index) if index is not None else ()
        return self._classes[digest]
