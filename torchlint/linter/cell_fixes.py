"""What a fix may do to a notebook's cell: stay within it, and not change what the cell shows when it is run."""

from __future__ import annotations

from torchlint.diagnostics.assumptions import CELL_SHOWS_NOTHING
from torchlint.diagnostics.model import Edit, Fix
from torchlint.source.cell_outputs import shown_rows
from torchlint.source.notebook import as_notebook
from torchlint.source.text import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from torchlint.source.notebook_module import Notebook


def fitted(fix: Fix, source: Source) -> Fix | None:
    """Return the fix as it may be offered; None where its edits reach over a cell's end or into a magic."""
    notebook = as_notebook(source)
    if notebook is None:
        return fix
    from torchlint.source.notebook_edits import allows

    if not allows(notebook, fix.edits):
        return None
    if _changes_what_is_shown(fix, notebook):
        return fix.assuming(CELL_SHOWS_NOTHING.open())
    return fix.assuming(CELL_SHOWS_NOTHING.proven())


def _changes_what_is_shown(fix: Fix, notebook: Notebook) -> bool:
    touched: dict[int, list[Edit]] = {}
    for edit in fix.edits:
        touched.setdefault(notebook.index(edit.start), []).append(edit)
    return any(_shows(notebook, index, ()) != _shows(notebook, index, edits) for index, edits in touched.items())


def _shows(notebook: Notebook, index: int, edits: list[Edit] | tuple[()]) -> bool:
    """Whether a cell ends with an expression whose value is shown: no `;` behind it."""
    base = notebook.starts[index]
    code = f"{notebook.parts[index].text}\n".encode()
    parts, last = [], 0
    for edit in sorted(edits, key=lambda each: (each.start, each.end)):
        parts += [code[last : edit.start - base], edit.text.encode()]
        last = edit.end - base
    return shown_rows(b"".join([*parts, code[last:]])) is not None
