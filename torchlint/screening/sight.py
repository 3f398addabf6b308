"""What a screen may ask of a file: its tree, and what is known of its expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from torchlint.model import Settings
from torchlint.source import Source
from torchlint.syntax.outline import Outline

if TYPE_CHECKING:
    from torchlint.inference.analysis import Analysis
    from torchlint.inference.facts import Value


class Sight:
    """One file as screens see it; inference is imported with the first question about a value."""

    def __init__(self, outline: Outline, settings: Settings, path: str) -> None:
        """Begin; ``path`` is the absolute path of the file."""
        self.outline = outline
        self.settings = settings
        self._path = path

    @cached_property
    def analysis(self) -> Analysis:
        """What is known of the file: the rules go on with the same."""
        from torchlint.inference.analysis import Analysis

        return Analysis(self.outline, self.settings, self._path)

    @property
    def reads(self) -> dict[str, str | None]:
        """What the answers given so far rest on beside the file itself (:attr:`Analysis.reads`)."""
        return self.analysis.reads if "analysis" in vars(self) else {}

    @property
    def asked(self) -> dict[tuple[str, ...], str | None]:
        """What the rules asked about all texts of the project (:attr:`Analysis.asked`)."""
        return self.analysis.asked if "analysis" in vars(self) else {}

    def close(self) -> None:
        """Let go of what is known of the file: see :meth:`Analysis.close`."""
        if "analysis" in vars(self):
            self.analysis.close()

    @property
    def source(self) -> Source:
        """The text."""
        return self.outline.source

    @cached_property
    def may_hold_tensors(self) -> bool:
        """Whether a tensor may be met in the file at all (:attr:`Analysis.may_hold_tensors`)."""
        from torchlint.inference.models.frameworks import imports_torch

        return imports_torch(self.outline) or self.analysis.may_hold_tensors

    def value(self, node: ast.expr) -> Value:
        """Give what is known of an expression's value where it stands."""
        return self.analysis.value(node)

    def called(self, node: ast.AST) -> ast.Call | None:
        """Give the call of which a node is the function."""
        above = self.outline.parents.get(node)
        return above if isinstance(above, ast.Call) and above.func is node else None


Screen = Callable[[ast.AST, Sight], bool]
"""Tells of a node that bears one of a rule's words whether the rule may speak about it: in doubt it may."""
