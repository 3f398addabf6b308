"""What ``from module import *`` binds: the names of other files of the project, and those of torch."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from torchlint.inference.facts import Value
from torchlint.inference.models.frameworks import imports_torch
from torchlint.inference.models.operations import operations
from torchlint.inference.names import named, star_modules

if TYPE_CHECKING:
    from torchlint.inference.scope import File

_CONVENTIONAL = {
    "torch": "torch",
    "nn": "torch.nn",
    "F": "torch.nn.functional",
    "optim": "torch.optim",
    "np": "numpy",
    "Variable": "torch.autograd.Variable",
}
"""What names mean that only ``from somewhere import *`` can bind, in a file that works with torch."""

_MOST_FILES = 8
"""Files from which stars take from each other are followed this far."""


class Stars:
    """The star imports of one file, and what the file itself hands out to those of others."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._modules = file.outline.told(star_modules, file.outline.tree)
        self._asking: set[str] = set()

    def find(self, word: str) -> Value | None:
        """Give what a name is that only ``import *`` can have bound; None where that is not known."""
        if not self._modules or word in self._asking:
            return None  # files that import everything from each other
        self._asking.add(word)
        try:
            return self._found(word)
        finally:
            self._asking.discard(word)

    def _found(self, word: str) -> Value | None:
        for module in reversed(self._modules):
            base = self._file.base(module)
            if base is not None:
                file = self._file.project.file(base)
                found = file.exported(word) if file is not None and file.stars.hands_out(word) else None
                if found is not None:
                    return found
            full = f"{module}.{word}"
            if module.startswith("torch") and (full in operations().functions or word[:1].isupper()):
                return named(full)
        return named(_CONVENTIONAL[word]) if word in _CONVENTIONAL and self._file.works_with_torch else None

    def bring_torch(self) -> bool:
        """Whether a star takes torch's names from a file of the project: ``from .torch_imports import *``."""
        files, seen = [self._file], {self._file}
        for file in files:
            for each in file.stars.files():
                if imports_torch(each.outline):
                    return True
                if each not in seen and len(seen) < _MOST_FILES:
                    seen.add(each)
                    files.append(each)
        return False

    def files(self) -> Iterator[File]:
        """Give the files of the project that the stars take everything from."""
        for module in self._modules:
            base = self._file.base(module)
            file = self._file.project.file(base) if base is not None else None
            if file is not None:
                yield file

    def hands_out(self, word: str) -> bool:
        """Whether ``from this_file import *`` binds a name."""
        listed = self._listed
        return word in listed if listed is not None else not word.startswith("_")

    @cached_property
    def _listed(self) -> frozenset[str] | None:
        """The names in ``__all__``, where it is one literal list; None where it is not or is absent."""
        if b"__all__" not in self._file.outline.source.utf8:
            return None
        found = [
            node.value
            for node in self._file.outline.tree.body
            if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and "__all__" in ast.dump(node)
        ]
        if len(found) != 1 or not isinstance(found[0], ast.List | ast.Tuple):
            return None
        words = (each.value for each in found[0].elts if isinstance(each, ast.Constant))
        return frozenset(word for word in words if isinstance(word, str))
