"""Whether a text is Python, as the standard library's parser sees it."""

from __future__ import annotations

import ast
import warnings


def is_python(code: str) -> bool:
    """Whether Python reads some code."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in the user's strings are not ours to report
            ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
