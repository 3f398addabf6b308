"""The values given to a call, by position and by keyword."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from torchlint.inference.facts import Kind, Value, join_all


@dataclass(frozen=True)
class Arguments:
    """What a call is given, and the call itself for reasons."""

    node: ast.AST
    positional: tuple[Value, ...] = ()
    keywords: dict[str, Value] = field(default_factory=dict)
    starred: bool = False
    """Whether ``*`` or ``**`` may give more."""

    def find(self, index: int, *names: str) -> Value | None:
        """Give an argument by its position or one of its names; None where it is not given."""
        for name in names:
            if name in self.keywords:
                return self.keywords[name]
        return self.positional[index] if 0 <= index < len(self.positional) else None

    def every(self) -> list[Value]:
        """Give all arguments."""
        return [*self.positional, *self.keywords.values()]

    def tensors(self) -> Value:
        """Give the join of all arguments that may be tensors or hold some."""
        return join_all(inner for value in self.every() for inner in _tensors_in(value))

    def says(self, name: str) -> object:
        """Give a keyword's constant value; None where it is absent or no constant."""
        value = self.keywords.get(name)
        return value.const if value else None

    def shifted(self) -> Arguments:
        """Drop the first positional argument."""
        return Arguments(self.node, self.positional[1:], self.keywords, self.starred)


def _tensors_in(value: Value, depth: int = 3) -> list[Value]:
    if value.must(Kind.SEQUENCE) and depth:
        inner = value.items if value.items is not None else (value.member,) if value.member else ()
        return [found for each in inner for found in _tensors_in(each, depth - 1)]
    return [value] if value.may(Kind.TENSOR) else []
