"""The page of each rule, read from its module without importing it, and so without importing LibCST."""

from __future__ import annotations

import ast
from importlib.resources import files

from torchlint.catalogue import Entry

_OWN = {
    "syntax-error": (
        "The file is no Python that torchlint can read.\n\n"
        "It is reported with its place, whatever is selected, because a file that was not understood was not checked.\n"
        "The other files of the run are checked all the same. To leave such files out, name them in `exclude`."
    ),
}


def page(entry: Entry) -> str:
    """Give the page as the rule's docstring has it."""
    own = _OWN.get(entry.name)
    if own is not None:
        return own
    file = files("torchlint") / "rules" / f"{entry.module}.py"
    text = ast.get_docstring(ast.parse(file.read_bytes())) if file.is_file() else None
    return text or "This rule has no page yet."


def summary(entry: Entry) -> str:
    """Give the first line of the page."""
    return page(entry).splitlines()[0]
