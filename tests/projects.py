"""Projects that tests write, and how a file of one is held against its ``reveal`` comments."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.observed import revealed as rows_of
from tests.test_inference import disagreements, spelled
from torchlint.diagnostics.model import Settings
from torchlint.knowledge import Knowledge, analyse
from torchlint.source.text import decode
from torchlint.syntax.ast_index import index_of


def analysed(path: Path) -> Knowledge:
    return analyse(index_of(decode(str(path), path.read_bytes())), Settings(), str(path))


def written(folder: Path, files: dict[str, str | bytes]) -> Path:
    """Write a project; its root is marked, so that nothing above is looked at."""
    (folder / "pyproject.toml").write_text('[project]\nname = "p"\n')
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def check_reveals(path: Path) -> Knowledge:
    """Hold a file's ``reveal`` comments against what is inferred; give the analysis for more questions."""
    analysis = analysed(path)
    rows = path.read_text().splitlines()
    found = rows_of(analysis.index.tree)
    assert found
    for row, node in found.items():
        expected = rows[row - 1].partition("  # ")[2]
        value = analysis.value(node)
        assert not disagreements(value, expected), f"{row} {ast.unparse(node)}  # {expected}\nis {spelled(value)}"
    return analysis
