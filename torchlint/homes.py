"""Where a file's project begins and what is where its modules are looked for: what imports rest on, without reading."""

from __future__ import annotations

import os

_MARKS = (".git", ".hg", "pyproject.toml", "setup.py", "setup.cfg")
"""A folder that holds one of these is where a project begins."""

_MOST_LEVELS = 12
"""A project is looked for this many folders up."""


def above_packages(folder: str) -> str:
    """Give the folder that holds the outermost package around a folder's files; the folder itself if it is none."""
    for _ in range(_MOST_LEVELS):
        above = os.path.dirname(folder)
        if above == folder or not os.path.isfile(os.path.join(folder, "__init__.py")):
            break
        folder = above
    return folder


def root(top: str) -> str:
    """Give the folder where the project begins, at :func:`above_packages` or above it; nothing higher is ever read."""
    folder = top
    for _ in range(_MOST_LEVELS):
        if any(os.path.exists(os.path.join(folder, mark)) for mark in _MARKS):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            break
        folder = above
    return top


def shape(base: str) -> str | None:
    """Say what there is of a module, by its path without ``.py``: all that the way of an import rests on.

    One or more of ``folder``, ``package`` (with its ``__init__.py``) and ``module``; None where there is nothing.
    """
    found = ["folder"] if os.path.isdir(base) else []
    if found and os.path.isfile(os.path.join(base, "__init__.py")):
        found.append("package")
    if os.path.isfile(base + ".py"):
        found.append("module")
    return " ".join(found) or None
