"""The one door to what is known: the value of an expression and the grad mode at it, inferred on demand."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.inference import frameworks
from torchlint.inference.facts import UNKNOWN, Mode, Value
from torchlint.inference.scope import File
from torchlint.model import Settings
from torchlint.syntax.outline import Outline


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
        return frameworks.packages(self.outline)

    @cached_property
    def uses_torch(self) -> bool:
        """Whether the file shows that it works with torch."""
        return frameworks.works_with_torch(self.outline, self.packages)

    @property
    def uses_other_frameworks(self) -> bool:
        """Whether the file imports a library whose objects have a tensor's words too."""
        return bool(self.packages & frameworks.OTHERS)

    def may_be_torch(self, node: ast.expr) -> bool:
        """Whether an expression of unknown kind may be a torch tensor, by what the file and the words around it say."""
        if not self.uses_torch:
            return False
        return not frameworks.speaks_of_another(self.outline, node, self.uses_other_frameworks)
