"""Where an import of the project leads: from a module's name to its file, by the folders around the file that imports.

The answer depends on the importing file alone, never on the paths that a run was given, so that a folder, a single
file, flake8 and a hook with three files see the same.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from torchlint.source.project_root import Homes

_LIBRARIES = frozenset(["torch", "numpy", "torchvision", "torchaudio", "functorch", "scipy", "PIL", "pandas"])
"""Packages that are known by their names; a folder called so in the project says nothing about them."""

_TEST = re.compile(r"(test_.*|.*_test|conftest)\.py")


def is_test(path: str) -> bool:
    """Whether a file is one that pytest collects, by its name."""
    return bool(_TEST.fullmatch(os.path.basename(path)))


@dataclass(frozen=True)
class Location:
    """Where a file lies in its project: ``path`` is absolute; the file itself need not exist."""

    path: str
    homes: Homes = field(default_factory=Homes, compare=False, repr=False)
    """What is known of the folders around: the files of one check share it."""

    @property
    def folder(self) -> str:
        """The folder of the file."""
        return os.path.dirname(self.path)

    @cached_property
    def above_packages(self) -> str:
        """The folder that holds the outermost package around the file; its own folder where there is no package."""
        return self.homes.above_packages(self.folder)

    @cached_property
    def root(self) -> str:
        """The folder where the project begins; nothing above it is ever read."""
        return self.homes.root(self.folder)

    def holds(self, path: str) -> bool:
        """Whether a path is the project's root or lies below it."""
        return path == self.root or path.startswith(os.path.join(self.root, ""))

    @cached_property
    def search(self) -> tuple[str, ...]:
        """The folders in which absolute imports are looked for, as Python would, and a script's own folder last.

        Of a project that is a package itself the first lies above the root: only the package is looked for there.
        """
        found = [self.above_packages, self.root, os.path.join(self.root, "src")]
        folder = self.folder
        while len(folder) > len(self.root) and folder.startswith(self.root):
            found.append(folder)
            folder = os.path.dirname(folder)
        return tuple(dict.fromkeys(found))


class Imports:
    """Finds the files of modules for one importing file."""

    def __init__(self, place: Location, shape: Callable[[str], str | None]) -> None:
        """Begin; ``shape`` says what there is at a path without ``.py``, as :meth:`Homes.shape` does."""
        self._place = place
        self._shape = shape
        self._found: dict[str, str | None] = {}

    def base(self, module: str) -> str | None:
        """Return the path, without ``.py``, of a module or package of the project; None where it is none.

        Relative modules begin with dots: ``.nets`` lies beside the file, ``..`` is the package above its own.
        """
        if module not in self._found:
            self._found[module] = self._look(module)
        return self._found[module]

    def _look(self, module: str) -> str | None:
        if module.startswith("."):
            rest = module.lstrip(".")
            folder = self._place.folder
            for _ in range(len(module) - len(rest) - 1):
                folder = os.path.dirname(folder)
            base = os.path.join(folder, *rest.split(".")) if rest else folder
            return base if self._place.holds(base) and self._shape(base) else None
        first = module.partition(".")[0]
        if first in _LIBRARIES or first in sys.stdlib_module_names or not module.replace(".", "").isidentifier():
            return None
        bases = (os.path.join(folder, *module.split(".")) for folder in self._place.search)
        return next((base for base in bases if self._place.holds(base) and self._shape(base)), None)
