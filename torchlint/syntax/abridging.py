"""A stretch's text without the statements that no rule will speak of: LibCST takes its time for all that it reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from torchlint.syntax.outline import Outline
from torchlint.syntax.stretches import Stretch

Cut = tuple[int, int]
"""Where bytes can go: offsets into :attr:`Source.utf8`."""


def abridged(made: Outline, stretch: Stretch) -> str:
    """Give a stretch's text with a number and a comment, as long as they were, in place of statements that can go.

    Those stay that hold a candidate, the heads of all around them, and the simple statement right before one, which a
    rule may ask about. What stays is where it was, to the byte.
    """
    text, pieces, at = made.source.utf8, [], stretch.start
    for start, end in cuts(made, stretch):
        pieces += [text[at:start], b"0", b"#" * (end - start - 1)]
        at = end
    return b"".join([*pieces, text[at : stretch.end]]).decode()


def cuts(made: Outline, stretch: Stretch) -> list[Cut]:
    """Find what can go, in the order of the text: runs of statements that share no line with what stays."""
    found: list[Cut] = []
    if stretch.kept:
        around = {above for each in stretch.kept for above in made.ancestors(each)}
        _look_through(made, stretch.statements, around | stretch.kept, found)
    return found


def _look_through(made: Outline, block: Sequence[ast.stmt], needed: set[ast.AST], found: list[Cut]) -> None:
    run: list[ast.stmt] = []
    for statement, following in zip(block, (*block[1:], None), strict=True):
        inner = _blocks(statement)
        if statement in needed or _is_elif(made, statement) or (following in needed and not inner):
            found += _cut(made, run, statement)
            run = []
            for each in inner:
                _look_through(made, each, needed, found)
        else:
            run.append(statement)
    found += _cut(made, run, None)


def _cut(made: Outline, run: list[ast.stmt], following: ast.stmt | None) -> Iterator[Cut]:
    while run and following is not None and run[-1].end_lineno == made.first_row(following):  # `a; b`
        following = run.pop()
    own = next((at for at, each in enumerate(run) if _begins_its_line(made, each)), None)
    if own is not None:
        yield _begin(made, run[own]), made.end(run[-1])


def _begins_its_line(made: Outline, statement: ast.stmt) -> bool:
    begin = _begin(made, statement)
    return begin == made.start(statement) or made.source.utf8[begin : begin + 1] == b"@"


def _begin(made: Outline, statement: ast.stmt) -> int:
    """Give the offset of the first word on the row where a statement begins, its decorators counted."""
    text = made.text(statement)
    return made.end(statement) - len(text.lstrip(b" \t\f"))


def _blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    """Give the blocks right inside a statement, in the order of the text; none where it is a simple one."""
    branches = [each.body for name in ("handlers", "cases") for each in getattr(statement, name, ())]
    body, *others = (getattr(statement, name, []) for name in ("body", "orelse", "finalbody"))
    return [block for block in (body, *branches, *others) if block]


def _is_elif(made: Outline, statement: ast.stmt) -> bool:
    """Whether a statement is part of the one before it, though the tree says that it stands inside that one."""
    start = made.start(statement)
    return isinstance(statement, ast.If) and made.source.utf8[start : start + 4] == b"elif"
