"""Where a file's project begins and what is where its modules are looked for: what imports rest on, without reading."""

from __future__ import annotations

import os

_MARKS = (".git", ".hg", "pyproject.toml", "setup.py", "setup.cfg")
"""A folder that holds one of these is where a project begins."""

_CHECKOUT = (".git", ".hg")
"""Those that say so of a package, too. In a greater project a package may have settings or extensions of its own."""

_MOST_LEVELS = 12
"""A project is looked for this many folders up."""


class Homes:
    """Looks around files; nothing is looked for twice, so one serves no longer than a check or a look at the cache."""

    def __init__(self) -> None:
        self._packages: dict[str, bool] = {}
        self._marked: dict[str, frozenset[str]] = {}
        self._shapes: dict[str, str | None] = {}

    def above_packages(self, folder: str) -> str:
        """Return the folder that holds the outermost package around a folder's files.

        The folder itself if it is none.
        """
        outermost = self._outermost(folder)
        return os.path.dirname(outermost) if self._is_package(outermost) else outermost

    def root(self, folder: str) -> str:
        """Return the folder where the project of a folder's files begins; nothing higher is ever read.

        It lies at :meth:`above_packages` or above, but for a checkout that is a package itself.
        """
        outermost = self._outermost(folder)
        is_package = self._is_package(outermost)
        if is_package and not self._marks(outermost).isdisjoint(_CHECKOUT):
            return outermost
        top = folder = os.path.dirname(outermost) if is_package else outermost
        for _ in range(_MOST_LEVELS):
            if self._marks(folder):
                return folder
            above = os.path.dirname(folder)
            if above == folder:
                break
            folder = above
        return outermost if self._marks(outermost) else top

    def _outermost(self, folder: str) -> str:
        """Return the outermost package around a folder's files; the folder itself where there is none."""
        for _ in range(_MOST_LEVELS):
            above = os.path.dirname(folder)
            if above == folder or not self._is_package(folder) or not self._is_package(above):
                break
            folder = above
        return folder

    def shape(self, base: str) -> str | None:
        """Say what there is of a module, by its path without ``.py``: all that the way of an import rests on.

        One or more of ``folder``, ``package`` (with its ``__init__.py``) and ``module``; None where there is nothing.
        """
        if base not in self._shapes:
            found = ["folder"] if os.path.isdir(base) else []
            if found and self._is_package(base):
                found.append("package")
            if os.path.isfile(base + ".py"):
                found.append("module")
            self._shapes[base] = " ".join(found) or None
        return self._shapes[base]

    def _is_package(self, folder: str) -> bool:
        if folder not in self._packages:
            self._packages[folder] = os.path.isfile(os.path.join(folder, "__init__.py"))
        return self._packages[folder]

    def _marks(self, folder: str) -> frozenset[str]:
        if folder not in self._marked:
            self._marked[folder] = _marks_of(folder)
        return self._marked[folder]


def is_marked(folder: str) -> bool:
    """Whether something in a folder says that a project begins there."""
    return bool(_marks_of(folder))


def _marks_of(folder: str) -> frozenset[str]:
    return frozenset(mark for mark in _MARKS if os.path.exists(os.path.join(folder, mark)))
