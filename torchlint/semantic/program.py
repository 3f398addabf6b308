"""The files of a program: where modules lie, and which texts hold a word, each read when somebody asks."""

from __future__ import annotations

import ast
import hashlib
import os
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final, NamedTuple

from torchlint.semantic.module_graph import MOST_BYTES, ModuleGraph
from torchlint.texts.source_files import modules

_FOREIGN: Final = frozenset(("torch", "numpy"))
"""Never the program's own, even beside a folder of that name."""


class Rests(NamedTuple):
    """One thing that answers rest on."""

    kind: str
    """FILE: the text of a file; MODULE: what is where a module was looked for; WORD: which texts hold a word."""
    text: str
    """A path; a path without suffix; a word."""


FILE: Final = "file"
MODULE: Final = "module"
WORD: Final = "word"


class Program:
    """All files under a folder.

    Whoever answers a question sets :attr:`touched` to 0 before; afterwards its bits say what the answer rests on.
    """

    def __init__(self, root: str, *, is_alone: bool = False) -> None:
        """Take the folder of the project, empty for files of none; nothing is listed or read yet.

        ``is_alone``: of a text that lies nowhere, which imports from there, but of which no file there knows.
        """
        self.root = os.path.abspath(root) if root else ""
        self._is_alone = is_alone or not root
        self.touched = 0
        """The bits of what was read and looked for, also by answers that were known before."""
        self._rests: list[Rests] = []
        self._bits: dict[Rests, int] = {}
        self._looked: dict[str, bool] = {}
        self._unreadable: set[str] = set()
        self._modules: dict[str, ModuleGraph | None] = {}
        self._bases: dict[tuple[str, int, str], tuple[str | None, int]] = {}
        self._texts: dict[str, bytes] = {}
        self._added: set[str] = set()
        self._holders: dict[str, list[str]] = {}
        self._stamps: dict[str, tuple[int, ...]] = {}
        """Of the files that were read: what changes when they do."""

    # ------------------------------------------------------------------ what answers rest on
    def touch(self, kind: str, text: str) -> int:
        """Tell that the answer rests on something; return its bit."""
        rests = Rests(kind, text)
        bit = self._bits.get(rests)
        if bit is None:
            bit = self._bits[rests] = 1 << len(self._rests)
            self._rests.append(rests)
        self.touched |= bit
        return bit

    def bit_of(self, path: str) -> int:
        """Return the bit of a file, without telling anything."""
        before = self.touched
        bit = self.touch(FILE, path)
        self.touched = before
        return bit

    def rests_on(self, touched: int) -> Iterator[Rests]:
        """Yield what some bits stand for."""
        while touched:
            lowest = touched & -touched
            yield self._rests[lowest.bit_length() - 1]
            touched ^= lowest

    # ------------------------------------------------------------------ files
    def add(self, path: str, text: bytes, tree: ast.Module | None = None) -> ModuleGraph:
        """Take the text of a file from memory, with its syntax where it was parsed, in place of what lies on disk."""
        path = os.path.abspath(path)
        self._note(path, text)
        self._added.add(path)
        self._holders.clear()
        made = self._modules[path] = ModuleGraph(path, text, self)
        if tree is not None:
            made.tree = tree
        return made

    def known(self, path: str) -> ModuleGraph | None:
        """Return a file that was looked at before; None for others."""
        return self._modules.get(os.path.abspath(path))

    def file(self, path: str) -> ModuleGraph | None:
        """Return the file at a path; None where there is none."""
        if path not in self._modules:
            found = self._looked_for(path) and os.path.isfile(path)
            self._modules[path] = ModuleGraph(path, self._text(path), self) if found else None
        return self._modules[path]

    def _text(self, path: str) -> bytes:
        """Return a file's bytes; empty where it cannot be read or is larger than anybody's code."""
        found = self._texts.get(path)
        if found is None:
            try:
                with open(path, "rb") as stream:
                    found = stream.read(MOST_BYTES + 1)
            except OSError:
                self._note(path, b"")
                self._unreadable.add(path)
                return b""
            self._note(path, found if len(found) <= MOST_BYTES else b"")
            found = self._texts[path]
        return found

    def _note(self, path: str, text: bytes) -> None:
        self._texts[path] = text
        self._stamps[path] = _stamp(path)
        self._unreadable.discard(path)

    def digest(self, path: str) -> str | None:
        """Return the SHA-256 of a text that was read; None for one that could not be."""
        text = self._texts.get(path)
        return None if text is None or path in self._unreadable else hashlib.sha256(text).hexdigest()

    def changed(self) -> list[str] | None:
        """Return the files that were read and are others now; None where there are others than there were.

        Each is read anew when it is asked for.
        """
        if any(os.path.exists(path) is not found for path, found in self._looked.items() if path not in self._added):
            return None
        if "_listed" in vars(self) and self._list() != self._listed:
            return None
        found = [path for path, stamp in self._stamps.items() if _stamp(path) != stamp]
        changed = []
        for path in found:
            before = self._texts.pop(path)
            if self._text(path) != before:
                changed.append(path)
                self._modules.pop(path, None)
                self._added.discard(path)
        if changed:
            self._holders.clear()
        return changed

    def _looked_for(self, path: str) -> bool:
        found = self._looked.get(path)
        if found is None:
            found = self._looked[path] = path in self._added or os.path.exists(path)
        return found

    # ------------------------------------------------------------------ modules
    def at(self, base: str) -> ModuleGraph | None:
        """Return the module whose file is ``base/__init__.py`` or ``base.py``."""
        self.touch(MODULE, base)
        return self.file(os.path.join(base, "__init__.py")) or self.file(base + ".py")

    def exists(self, base: str) -> bool:
        """Whether there is a module, or a folder of modules: a namespace package."""
        return self.at(base) is not None or self._has_modules(base)

    def _has_modules(self, base: str) -> bool:
        """Whether a folder holds modules, or folders that do, two levels deep."""
        found = self._looked.get(base)
        if found is None:
            found = self._looked[base] = _holds_modules(base, 2)
        return found

    def base_of(self, file: ModuleGraph, level: int, module: str) -> str | None:
        """Return where a module that a file imports lies, without suffix; None for what is not the program's."""
        key = (os.path.dirname(file.path), level, module)
        if key not in self._bases:
            before, self.touched = self.touched, 0
            self._bases[key] = self._find(*key), self.touched
            self.touched |= before
        base, touched = self._bases[key]
        self.touched |= touched
        return base

    def _find(self, folder: str, level: int, module: str) -> str | None:
        words = module.split(".") if module else []
        if level:
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            base = os.path.join(folder, *words)
            return base if self._is_inside(base) and self.exists(base) else None
        if not words or words[0] in _FOREIGN:
            return None
        top = folder
        while self._is_inside(top) and self._looked_for(os.path.join(top, "__init__.py")):
            top = os.path.dirname(top)
        laid_out = [os.path.join(self.root, each) for each in ("src", "lib")]
        for start in dict.fromkeys((top, folder, self.root, *laid_out, os.path.dirname(top))):
            if self._is_inside(start) and self.exists(base := os.path.join(start, *words)):
                return base
        self.touch(WORD, "")
        # a folder that a script puts on the path: the one place in the program where such a module lies
        places = self._by_first_word.get(words[0], ())
        found = [base for each in places if self.exists(base := os.path.join(each, *words))]
        return found[0] if len(found) == 1 else None

    def _is_inside(self, path: str) -> bool:
        return bool(self.root) and (path == self.root or path.startswith(self.root.rstrip(os.sep) + os.sep))

    @cached_property
    def _by_first_word(self) -> dict[str, list[str]]:
        """Folders by the modules and packages that lie in them."""
        found: dict[str, list[str]] = {}
        for path in self.paths():
            folder, name = os.path.split(path)
            if name == "__init__.py":
                folder, name = os.path.split(folder)
            found.setdefault(name.removesuffix(".py"), []).append(folder)
        return found

    # ------------------------------------------------------------------ all files
    @cached_property
    def _listed(self) -> list[str]:
        return self._list()

    def _list(self) -> list[str]:
        return [] if self._is_alone else modules(self.root)

    def listed(self, paths: Iterable[str]) -> list[str]:
        """Return those of some paths that lie on disk as modules: a notebook, or a text that lies nowhere, does not."""
        known = set(self._listed)
        return [path for path in paths if path in known]

    def paths(self) -> list[str]:
        """List the Python files of the program, those from memory too."""
        return [*self._listed, *sorted(self._added.difference(self._listed))]

    def files_with(self, word: str) -> list[ModuleGraph]:
        """Return the files whose text holds a word."""
        return [file for path in self.holding(word) if (file := self.file(path)) is not None]

    def has_text(self, words: Iterable[str]) -> frozenset[str]:
        """Return which of some words stand in any file of the program."""
        return frozenset(word for word in words if self.holding(word))

    def holding(self, word: str) -> list[str]:
        """Return the paths of the files whose bytes hold a word, in order; each word is looked for once."""
        self.touch(WORD, word)
        if word not in self._holders:
            sought = word.encode()
            self._holders[word] = [path for path in self.paths() if sought in self._text(path)]
        return self._holders[word]


def _stamp(path: str) -> tuple[int, ...]:
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return status.st_size, status.st_mtime_ns, status.st_ino


def _holds_modules(folder: str, depth: int) -> bool:
    try:
        with os.scandir(folder) as entries:
            inner = sorted(entries, key=lambda each: each.name)
    except OSError:
        return False
    if any(each.name.endswith(".py") for each in inner):
        return True
    return depth > 1 and any(
        each.is_dir(follow_symlinks=False) and not each.name.startswith(".") and _holds_modules(each.path, depth - 1)
        for each in inner
    )
