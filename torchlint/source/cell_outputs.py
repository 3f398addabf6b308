"""What a notebook's cell shows when it is run: the value of the expression that it ends with."""

from __future__ import annotations

import ast
import re
import warnings

_LINE_END = re.compile(rb"\r\n|\r|\n")


def shown_rows(code: bytes) -> range | None:
    """Return the rows of the expression that a cell's code shows, the first counted 1; None where a `;` stands behind.

    Also None for code that does not parse or ends with another statement.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if not body or not isinstance(body[-1], ast.Expr):
        return None
    final = body[-1]
    row = _LINE_END.split(code)[(final.end_lineno or 1) - 1]
    if row[final.end_col_offset or 0 :].lstrip().startswith(b";"):
        return None
    return range(final.lineno, (final.end_lineno or final.lineno) + 1)
