"""Answers about a node or a text, kept as its file is looked at: neighbouring findings ask the same questions."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import TypeVar
from weakref import WeakKeyDictionary

from torchlint.rule import FileContext

Node = TypeVar("Node")
Answer = TypeVar("Answer")


def remembered(question: Callable[[Node, FileContext], Answer]) -> Callable[[Node, FileContext], Answer]:
    """Ask a pure question about a node only once for each file."""
    known: WeakKeyDictionary[FileContext, dict[Node, Answer]] = WeakKeyDictionary()

    @functools.wraps(question)
    def ask(node: Node, context: FileContext) -> Answer:
        answers = known.setdefault(context, {})
        if node not in answers:
            answers[node] = question(node, context)
        return answers[node]

    return ask


@functools.lru_cache(maxsize=32)
def says(pattern: re.Pattern[bytes], text: bytes) -> bool:
    """Whether a file's text holds a pattern anywhere."""
    return pattern.search(text) is not None
