"""What a check found out is let go when it ends: next to nothing waits for the interpreter's search for garbage."""

from __future__ import annotations

import gc
from pathlib import Path

from tests.conftest import ROOT
from torchlint.config import Config
from torchlint.linter.engine import check_bytes
from torchlint.source.text import decode
from torchlint.syntax.ast_index import index_of

CODE = sorted([*(ROOT / "tests" / "fixtures").rglob("*.py"), *(ROOT / "examples").rglob("*.py")])[::3]


def _left(path: Path) -> int:
    """Count the objects that a check leaves in circles."""
    gc.collect()
    check_bytes(str(path), path.read_bytes(), Config())
    return gc.collect()


def test_checks_leave_next_to_nothing_in_circles() -> None:
    left = nodes = 0
    gc.collect()
    gc.disable()
    try:
        for path in CODE:
            check_bytes(str(path), path.read_bytes(), Config())  # what is made once for all checks
            gc.collect()
            gc.freeze()  # what is kept for good is not looked through for each file
            left += _left(path)
            nodes += len(index_of(decode(str(path), path.read_bytes())).order)
    finally:
        gc.enable()
    assert nodes > 8_000
    assert left < nodes / 30
