"""An answer of a forward query: yes, no, or perhaps, with the node that decides and a word for why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from torchlint.facts.flow import NO, PERHAPS, YES
from torchlint.semantic.graph import OPS, Node

_STRENGTH: Final = (NO, PERHAPS, YES)


@dataclass(frozen=True, slots=True)
class FlowAnswer:
    """What a query found."""

    answer: str
    """YES, NO or PERHAPS."""
    node: Node | None = None
    """What decides: where it happens, or what nothing is known of; None where nothing happens."""
    reason: str = ""
    """One of the words that the query documents."""

    @property
    def is_no(self) -> bool:
        """Whether it is excluded."""
        return self.answer == NO


NEVER: Final = FlowAnswer(NO)
"""Nothing that is asked about happens."""


def strongest(answers: Iterable[FlowAnswer]) -> FlowAnswer:
    """Return the first yes, else the first perhaps, else no."""
    found = NEVER
    for each in answers:
        if each.answer == YES:
            return each
        if _STRENGTH.index(each.answer) > _STRENGTH.index(found.answer):
            found = each
    return found


class IncompleteTableError(TypeError):
    """A table leaves out an operation of the graph, or has a row for what is none."""


def by_operation(name: str, rows: Mapping[tuple[str, ...], Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """Return a table with a row for each operation of the graph.

    :raises IncompleteTableError: where an operation has no row or two, or a row stands for none.
    """
    words = [word for each in rows for word in each]
    if sorted(words) != sorted(OPS):
        raise IncompleteTableError(f"{name}: {sorted(set(OPS) ^ set(words)) or 'a row twice'}")
    return {word: row for each, row in rows.items() for word in each}
