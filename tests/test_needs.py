"""The marks of tests: what a test reaches is found through fixtures, helpers and other modules, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.needs import needs

MODULE = """
import subprocess
import pytest
from tests.shells import Shell
from tests.blocks import of

RUN = subprocess.run
TEXT = "import torch"


def helper():
    return RUN(["true"])


@pytest.fixture
def shell(tmp_path):
    return Shell(tmp_path)


def test_starts():
    helper()


def test_asks(shell):
    pass


def test_reads():
    assert of(TEXT)


def test_computes():
    torch = pytest.importorskip("torch")


def test_both():
    import torch
    subprocess.run([])
"""


@pytest.mark.parametrize(
    ("function", "fixtures", "found"),
    [
        ("test_starts", (), {"process"}),
        ("test_asks", ("shell", "tmp_path"), {"process"}),
        ("test_reads", (), set()),
        ("test_computes", (), {"torch"}),
        ("test_both", (), {"process", "torch"}),
        ("test_reads", ("program",), {"process"}),
        ("test_reads", ("in_process",), set()),
    ],
)
def test_a_need_is_what_is_reached(function: str, fixtures: tuple[str, ...], found: set[str], tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(MODULE)
    assert needs(tmp_path / "test_it.py", function, fixtures) == found


def test_a_module_that_skips_itself_needs_it_for_all(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        'import pytest\n\npytest.importorskip("torch")\n\n\ndef test_it():\n    pass\n'
    )
    assert needs(tmp_path / "test_it.py", "test_it", ()) == {"torch"}
