"""Keyword arguments behind an argument of several lines stand on lines of their own, as black has them."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from torchlint.diagnostics.bracket_rows import CLOSING, Rows
from torchlint.source.text import Edit, Source


def may_be_stacked(source: Source, edit: Edit) -> bool:
    """Whether an edit adds keyword arguments at the end of a line; told without reading the file's tokens."""
    if edit.start != edit.end or not edit.text.startswith(", "):
        return False
    row, rest = _row_and_rest(source, edit)
    below = source.line(row + 1) if row < len(source.line_starts) else ""
    return rest in ("", ",") and below.lstrip()[:1] in tuple(CLOSING)


def stacked(source: Source, rows: Rows, edit: Edit, all_edits: Iterable[Edit]) -> Edit:
    """Return an edit that puts each keyword on a line of its own; the same one where nothing else stands so.

    That is where the bracket opens at the end of a line and closes at the beginning of another, and what stands in it
    takes several lines or ends with a comma::

        torch.as_tensor(
            np.concatenate(
                parts
            ),
            dtype=torch.float32,
        )
    """
    words = _keywords(edit.text)
    row, rest = _row_and_rest(source, edit)
    closing = rows.continued.get(row + 1)
    if not words or closing is None or source.slice(closing.first, closing.first + 1) not in tuple(CLOSING):
        return edit
    if any(each.end >= edit.start and each.start <= closing.first for each in all_edits if each is not edit):
        return edit  # what another one writes there is not known here
    bracket = closing.inside
    opened, _ = source.position(bracket.at)
    first = rows.continued.get(opened + 1)
    if first is None or first.inside is not bracket or source.slice(bracket.at + 1, source.line_starts[opened]).strip():
        return edit
    if row == opened + 1 and not rest:
        return edit  # black keeps arguments that fit on one line there
    line = source.line(opened + 1)
    lead = line[: len(line) - len(line.lstrip())]
    written = "".join(f",{source.newline}{lead}{word}" for word in words)
    return Edit(edit.start, edit.end, written if rest else f"{written},")


def _row_and_rest(source: Source, edit: Edit) -> tuple[int, str]:
    """Return the line that an insertion stands on, and what follows it there."""
    row, _ = source.position(edit.start)
    end = source.line_starts[row - 1] + len(source.line(row).encode())
    return row, source.slice(edit.start, end).strip()


def _keywords(text: str) -> list[str]:
    """Return the keyword arguments in ``, dtype=torch.int64, device="cpu"``; none where it is something else."""
    code = f"f(_{text})"
    try:
        call = ast.parse(code, mode="eval").body
    except SyntaxError:
        return []
    if not isinstance(call, ast.Call) or len(call.args) != 1 or "\n" in text or not text.isascii():
        return []
    return [code[each.value.col_offset - len(f"{each.arg}=") : each.value.end_col_offset] for each in call.keywords]
