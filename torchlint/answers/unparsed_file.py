"""What is known of a file that the standard library's parser refuses: what its words say."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from torchlint.answers.graph_knowledge import GraphKnowledge
from torchlint.syntax.ast_index import empty
from torchlint.texts.frameworks import text_imports_torch

if TYPE_CHECKING:
    from torchlint.diagnostics.model import Settings
    from torchlint.source.text import Source


class UnparsedFile(GraphKnowledge):
    """A file that the standard library's parser refuses: its words alone say what it works with."""

    def __init__(self, source: Source, settings: Settings) -> None:
        """Begin, with an empty tree in the place of the file's."""
        super().__init__(empty(source), settings)

    @property
    def is_parsed(self) -> bool:
        """Whether the standard library's parser reads the file: never."""
        return False

    @cached_property
    def works_with_torch(self) -> bool:
        """Whether the text imports torch."""
        return text_imports_torch(self.index.source.utf8)

    @property
    def uses_other_frameworks(self) -> bool:
        """Whether it does is not told by words: it may."""
        return True

    @property
    def is_test(self) -> bool:
        """Nor is whether pytest runs the file: so it does not count as one."""
        return False
