"""Notebooks as tests write them: cells of code and text, as Jupyter stores them."""

from __future__ import annotations

import json
from typing import Any

Cell = dict[str, Any]

PYTHON = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python", "version": "3.11.4"},
}


def code(source: str | list[str], **more: Any) -> Cell:
    """Make a cell of code; text becomes a list of lines, as Jupyter writes it."""
    lines = source.splitlines(keepends=True) if isinstance(source, str) else source
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": lines, **more}


def text(source: str, kind: str = "markdown") -> Cell:
    """Make a cell that holds no code."""
    return {"cell_type": kind, "metadata": {}, "source": source.splitlines(keepends=True)}


def document(*cells: Cell, **more: Any) -> dict[str, Any]:
    """Make a notebook of format 4 as an object."""
    return {"cells": list(cells), "metadata": PYTHON, "nbformat": 4, "nbformat_minor": 4, **more}


def notebook(*cells: Cell, **more: Any) -> bytes:
    """Make a notebook of format 4 as Jupyter stores it."""
    return (json.dumps(document(*cells, **more), indent=1, ensure_ascii=False) + "\n").encode()


def old_notebook(*sources: str) -> bytes:
    """Make a notebook of format 3, with all cells on one worksheet."""
    cells = [
        {"cell_type": "code", "collapsed": False, "input": each.splitlines(keepends=True), "language": "python"}
        for each in sources
    ]
    made = {"metadata": {"name": ""}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": cells}]}
    return (json.dumps(made, indent=1) + "\n").encode()


def sources(raw: bytes) -> list[str]:
    """Return the source of every cell of a notebook of format 4, in order."""
    return ["".join(cell["source"]) for cell in json.loads(raw.decode("utf-8-sig"))["cells"]]
