"""What the texts of a project do with names of others, each text read once for all names that are asked of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from torchlint.inference.program.outside_uses import Taken, Uses, names_taken, uses_of
from torchlint.inference.program.source_files import read_whole, text_and_tree
from torchlint.inference.program.use_signs import Signs, may_bind

MayTake = Callable[[bytes, str, Signs], bool]
"""Tells by a text's bytes whether something may hold of a name there."""


class NameTakers:
    """What is known of texts, by their digests; a text whose digest is None cannot be read."""

    def __init__(self) -> None:
        self._signs: dict[str, Signs] = {}
        self._may: dict[tuple[str, str, MayTake], bool] = {}
        self._taken: dict[tuple[str, str], Taken] = {}
        self._uses: dict[str, Uses | frozenset[str] | None] = {}

    def taken(self, path: str, digest: str | None, name: str, is_named: bool, may: MayTake | None = None) -> Taken:
        """Return from which modules a text takes a name, and in which it binds it.

        Most texts do not hold the name: what their bytes say of all names alike is all there is to know of them.

        :param is_named: whether the text holds the name as a word
        :param may: tells of what alone is asked that a text cannot do it, before it is parsed
        """
        if digest is None:
            return Taken(from_any=True)
        signs = self._signs_of(path, digest)
        if not (is_named or (signs.sets if may is not None else signs.runs or signs.reaches)):
            return Taken(by_star=signs.stars)
        if may is not None and not self._may_take(may, path, digest, name):
            return Taken()
        if (digest, name) not in self._taken:
            raw = read_whole(path)
            if raw is None:
                return Taken(from_any=True)
            self._taken[digest, name] = names_taken(raw, name, signs, partial(self._uses_of, path, raw, digest))
        return self._taken[digest, name]

    def binds_somewhere(self, path: str, digest: str | None, name: str, is_named: bool) -> bool:
        """Whether a text binds a name in an object of which it does not tell what it is."""
        if digest is None:
            return True
        signs = self._signs_of(path, digest)
        raw = read_whole(path) if is_named or signs.sets else b""
        if not raw or not may_bind(raw, name, signs):
            return raw is None
        found = self._uses_of(path, raw, digest)
        return found.binds_somewhere(name) if isinstance(found, Uses) else found is not None and name in found

    def _may_take(self, may: MayTake, path: str, digest: str, name: str) -> bool:
        if (digest, name, may) not in self._may:
            raw = read_whole(path)
            self._may[digest, name, may] = raw is None or may(raw, name, self._signs_of(path, digest))
        return self._may[digest, name, may]

    def _signs_of(self, path: str, digest: str) -> Signs:
        if digest not in self._signs:
            self._signs[digest] = Signs.of(read_whole(path) or b"")
        return self._signs[digest]

    def _uses_of(self, path: str, raw: bytes, digest: str) -> Uses | frozenset[str] | None:
        if digest not in self._uses:
            self._uses[digest] = uses_of(text_and_tree(path, raw))
        return self._uses[digest]
