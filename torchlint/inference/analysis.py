"""The one door to what is known: the value of an expression and the grad mode at it, inferred on demand."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.inference.facts import UNKNOWN, Mode, Value
from torchlint.inference.library import OTHER_FRAMEWORKS
from torchlint.inference.scope import File
from torchlint.model import Settings
from torchlint.syntax.outline import Outline

_TORCH = ("torch", "lightning", "pytorch_lightning", "ignite", "kornia", "timm", "fastai", "pyro", "gpytorch", "botorch")


class Analysis:
    """What is known about one file; functions are looked at when one of their expressions is asked for."""

    def __init__(self, outline: Outline, settings: Settings) -> None:
        self.outline = outline
        self.settings = settings
        self._file = File(outline)

    def value(self, node: ast.expr) -> Value:
        """Give what is known of an expression's value where it stands."""
        return self._file.flow_of(node).values.get(node, UNKNOWN)

    def mode(self, node: ast.expr) -> Mode:
        """Give the grad modes in which an expression may be evaluated."""
        return self._file.flow_of(node).modes.get(node, Mode.ON | Mode.OFF)

    @cached_property
    def packages(self) -> frozenset[str]:
        """The packages that the file imports from, by their first word."""
        found: set[str] = set()
        for node in self.outline.parents:
            match node:
                case ast.Import(names=names):
                    found.update(alias.name.partition(".")[0] for alias in names)
                case ast.ImportFrom(module=str(module), level=0):
                    found.add(module.partition(".")[0])
        return frozenset(found)

    @property
    def uses_torch(self) -> bool:
        """Whether the file shows that it works with torch: an import, or torch's name in a string or comment."""
        return any(each.startswith(_TORCH) for each in self.packages) or b"torch" in self.outline.source.utf8

    @property
    def uses_other_frameworks(self) -> bool:
        """Whether the file imports a library whose objects have a tensor's words too."""
        return bool(self.packages & OTHER_FRAMEWORKS)
