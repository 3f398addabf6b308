"""What the files of one check share: the other files that it reads, the definitions by name, and the budget."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

from torchlint.facts.value import Kind, Value, of_kind
from torchlint.inference.interpreter.fixpoint import Rounds
from torchlint.inference.program.module_files import Location, file_of, seen_from
from torchlint.source import files
from torchlint.source.text import SourceError, decode
from torchlint.syntax.ast_index import AST_CACHE, AstIndex, Function, index_of

if TYPE_CHECKING:
    from torchlint.inference.interpreter.file_scope import File

MOST_FILES = 200
"""Other files read for one that is checked; what more it imports is not followed."""

MOST_LINES = 6_000
"""Lines walked of the file that is checked; what else it calls there is not known."""

MOST_LINES_ABROAD = 2_500
"""Lines walked of other files for the sake of one."""

MOST_FOREIGN_LINES = 1_200
"""Lines of other files walked for one call that leads there; what else it calls is not followed further."""

MOST_DEPTH = 6
"""Calls are followed this deep."""

_MOST_BYTES = 500_000
"""A larger file is generated or data; it is not read for the sake of another."""

MARK = "here."
"""How the names of the project's own things begin: ``here.package.module.word``, or ``...word@row`` once found."""


@dataclass
class Effort:
    """What following a call took: an answer is good wherever as much may be taken."""

    walked: dict[int, int] = field(default_factory=dict)
    """How many lines of other files were walked, by what they were walked for."""
    height: int = 0
    """How many calls deep it led."""
    shallow: bool = False
    """Whether calls were not followed because they were too deep."""
    short: bool = False
    """Whether something was not followed because the lines were used up."""

    def take(self, inner: Effort, again: bool = True) -> None:
        """Add the effort for a call inside; ``again``: it shared the budget of the call at hand."""
        self.walked |= inner.walked
        self.height = max(self.height, inner.height + 1)
        self.shallow |= inner.shallow
        self.short |= inner.short and again

    @property
    def is_cut(self) -> bool:
        """Whether the answer rests on where the budget ended."""
        return self.shallow or self.short


class Project:
    """One check's view of the project around a file; ``place`` is None where the file lies nowhere.

    ``presuming``: functions are taken to be called as most are (:mod:`torchlint.inference.interpreter.heuristics`).
    """

    def __init__(self, place: Location | None, presuming: bool = False) -> None:
        self.place = place
        self.presuming = presuming
        self.is_imported: Callable[[], bool] = lambda: True
        """Tells whether another file of the project imports the one that is checked, where somebody knows."""
        self.definitions: dict[str, tuple[File, ast.AST]] = {}
        """Functions and classes by the name under which values carry them, with the file that they stand in."""
        self.running: list[ast.AST] = []
        """The functions that are being walked at this moment, outermost first."""
        self.walking: list[ast.AST] = []
        """The functions that are being walked for all calls at this moment."""
        self.rounds = Rounds()
        self.depth = 0
        """How many calls of functions are being followed at this moment."""
        self.nested = 0
        """How many functions are being walked for all calls, one because of the other."""
        self._spent = 0
        """Lines of the file that is checked that were walked so far: functions and modules, for calls and all calls."""
        self._spent_abroad = 0
        """Lines of other files that were walked so far."""
        self.foreign: dict[int, int] = {}
        """Those of them that stand in other files, since a call led out of the file that is checked.

        What is met again counts once, for its result is there.
        """
        self.abroad = False
        """Whether a call that leads out of the file that is checked is being followed at this moment."""
        self.effort = Effort()
        """What the walk at hand has taken so far."""
        self.reads: dict[str, str | None] = {}
        """The digest of each other file that was read, by its path; None where it could not be."""
        self._shapes: dict[str, str | None] = {}
        self._files: dict[str, File | None] = {}
        self._by_base: dict[str, File | None] = {}
        self._bases: dict[str, str] = {}
        self._following: set[str] = set()

    # ------------------------------------------------------------------ the budget
    def is_own(self, file: File) -> bool:
        """Whether a file is the one that is checked."""
        return self.place is None or file.place is self.place

    def has_lines(self, file: File) -> bool:
        """Whether anything more of a file is walked at all."""
        return self._spent <= MOST_LINES if self.is_own(file) else self._spent_abroad <= MOST_LINES_ABROAD

    def affords(self, file: File) -> bool:
        """Whether the budget allows another walk of something in a file; where it does not, the walk at hand is cut."""
        if self.has_lines(file) and (self.is_own(file) or sum(self.foreign.values()) <= MOST_FOREIGN_LINES):
            return True
        self.effort.short = True
        return False

    def spend(self, file: File, lines: int, walk: object) -> None:
        """Take the lines of a walk from the budget."""
        if self.is_own(file):
            self._spent += lines
        else:
            self._spent_abroad += lines
            self.foreign[hash(walk)] = self.effort.walked[hash(walk)] = lines

    def may_use(self, effort: Effort) -> bool:
        """Whether an answer that took some effort would be found here too; then the effort is taken from the budget.

        So the budget ends at the same place whether the answer was there already or not.
        """
        if self.depth + effort.height > MOST_DEPTH or not self.may_add(effort):
            return False
        self.effort.take(effort)
        return True

    def may_add(self, effort: Effort) -> bool:
        """Take the lines of an effort from the budget, if it allows that."""
        if self.abroad:
            together = self.foreign | effort.walked
            if sum(together.values()) > MOST_FOREIGN_LINES:
                return False
            self.foreign = together
        self.effort.walked |= effort.walked
        return True

    @contextmanager
    def collecting(self) -> Iterator[Effort]:
        """Tell apart what the walks that follow take from the budget at hand."""
        outer, self.effort = self.effort, Effort()
        try:
            yield self.effort
        finally:
            outer.walked |= self.effort.walked
            outer.short |= self.effort.short
            self.effort = outer

    @contextmanager
    def apart(self, file: File) -> Iterator[Effort]:
        """Walk what is kept for whoever asks: with a budget of its own, so that it does not matter who asked first."""
        before = self.foreign, self.abroad, self.effort
        self.foreign, self.abroad, self.effort = {}, not self.is_own(file), Effort()
        try:
            yield self.effort
        finally:
            self.foreign, self.abroad, self.effort = before

    @contextmanager
    def following(self, file: File) -> Iterator[Effort]:
        """Follow a call into a file: each that leads out of the file that is checked has the whole budget."""
        outer, foreign, abroad = self.effort, self.foreign, self.abroad
        leaves = not abroad and not self.is_own(file)
        self.effort = Effort()
        if leaves:
            self.foreign, self.abroad = {}, True
        try:
            yield self.effort
        finally:
            outer.take(self.effort, again=not leaves)
            self.effort = outer
            if leaves:
                self.foreign, self.abroad = foreign, abroad

    @contextmanager
    def general(self, file: File, function: ast.AST) -> Iterator[Effort]:
        """Walk a function for all calls: that follows calls as deep again, but not without end."""
        depth = self.depth
        self.running.append(function)
        self.walking.append(function)
        self.nested += 1
        if self.nested <= MOST_DEPTH:
            self.depth = 0
        try:
            with self.apart(file) as effort:
                yield effort
        finally:
            self.nested -= 1
            self.depth = depth
            self.walking.pop()
            self.running.pop()

    @contextmanager
    def call(self, function: Function | ast.Lambda, deeper: bool = True) -> Iterator[None]:
        """Walk a function for one call; what a decorator puts around a function is no deeper than the function."""
        self.running.append(function)
        self.depth += deeper
        try:
            yield
        finally:
            self.depth -= deeper
            self.running.pop()

    def begin(self, file: File) -> None:
        """Take the file that is checked as one of the project: imports that lead back to it find its unsaved text."""
        self._files[self.place.path if self.place is not None else ""] = file

    def close(self) -> None:
        """Let go of all that was found, so that it does not wait for the next search for garbage."""
        for file in list(self.files()):
            file.close()
        vars(self).clear()

    def files(self) -> Iterator[File]:
        """Yield all files that were looked at, the one that is checked first."""
        yield from (file for file in self._files.values() if file is not None)

    def dependencies(self) -> dict[str, str | None]:
        """Return the digests of the files that were read by path, and what is there where modules were looked for."""
        return {**dict(sorted(self._shapes.items())), **self.reads}

    # ------------------------------------------------------------------ names
    def named(self, base: str) -> str:
        """Return the name of a module by its path without ``.py``."""
        assert self.place is not None
        relative = seen_from(self.place.root, base)
        name = MARK + relative.replace(os.sep, ".") if relative != "." else MARK.rstrip(".")
        self._bases[name] = base
        return name

    def find(self, name: str) -> Value | None:
        """Return what ``here.module.word`` is; None where the project does not say, and for a module.

        Where a package binds the name of its own module to something else (``from .Image import Image``), that counts.
        """
        if name in self._following:
            return None
        self._following.add(name)
        try:
            return self._found(name)
        finally:
            self._following.discard(name)

    def _found(self, name: str) -> Value | None:
        """Return what a full name of the project stands for: what a module exports, or a module of that name."""
        above, _, word = name.rpartition(".")
        base = self._bases.get(above)
        if base is None:
            return None
        file = self.file(base)
        found = file.exported(word) if file is not None else None
        if found is not None and name not in found.names:
            return found
        if name in self._bases:
            return None
        below = os.path.join(base, word)
        return of_kind(Kind.OTHER, names=frozenset((self.named(below),))) if self.shape(below) else None

    # ------------------------------------------------------------------ files
    def shape(self, base: str) -> str | None:
        """Say what is at a path without ``.py`` (:meth:`Homes.shape`), and take notice that findings rest on it."""
        assert self.place is not None
        self._shapes[base] = self.place.homes.shape(base)
        return self._shapes[base]

    def file(self, base: str) -> File | None:
        """Return the file of a module by its path without ``.py``; None where there is none or it cannot be read."""
        if base not in self._by_base:
            path = file_of(base, self.shape(base))
            if path is not None and path not in self._files:
                self._files[path] = self._read(path)
            self._by_base[base] = self._files[path] if path is not None else None
        return self._by_base[base]

    def _read(self, path: str) -> File | None:
        """Read and parse a file of the project, and note that results rest on it; None where that fails."""
        from torchlint.inference.interpreter.file_scope import File

        assert self.place is not None
        if len(self._files) > MOST_FILES:
            return None
        made = _parsed(path)
        if made is None:
            self.reads[path] = None
            return None
        self.reads[path] = sha256(made.source.raw).hexdigest()
        return File(made, self, Location(path, self.place.homes))


def _parsed(path: str) -> AstIndex | None:
    """Read and parse a file; None where that cannot be done."""
    try:
        raw = files.read(path, _MOST_BYTES + 1)
        if len(raw) > _MOST_BYTES:
            return None
        known = AST_CACHE.find(path, raw)
        if known is None:
            known = index_of(decode(path, raw))
            AST_CACHE.keep(path, known)
    except (OSError, SourceError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return known
