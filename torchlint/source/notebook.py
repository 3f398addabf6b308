"""Notebooks: where their code stands in the JSON, as one module's text, and how edits of that text come back."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from torchlint.source.notebook_module import Notebook
    from torchlint.source.text import Source

SUFFIX = ".ipynb"
"""How the names of notebooks end."""


def as_notebook(source: Source) -> Notebook | None:
    """Return a source that is a notebook as one; None for any other, without importing what reads notebooks."""
    if not source.path.endswith(SUFFIX):
        return None
    from torchlint.source.notebook_module import Notebook

    return source if isinstance(source, Notebook) else None
