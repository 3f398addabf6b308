"""``.gitignore`` files are read as git reads them."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.conftest import Program
from torchlint.discovery.ignore_files import Ignores

PATTERNS = b"\xef\xbb\xbf*.pyc\n/build/\n!keep.py\nsub/*.py\r\n**/deep/**\n\xff*.py\n[\n# no pattern\n"
WORDS = ["a.py", "keep.py", "build", "sub", "deep", "x.pyc", "\udcffodd.py", "a b.py"]


@pytest.mark.parametrize(
    ("path", "folder", "expected"),
    [
        ("a.pyc", False, True),
        ("sub/a.pyc", False, True),
        ("build", True, True),
        ("build", False, None),
        ("sub/build", True, None),
        ("sub/a.py", False, True),
        ("a.py", False, None),
        ("keep.py", False, False),
        ("deep/keep.py", False, True),
        ("\udcffodd.py", False, True),
        ("[", False, None),
    ],
)
def test_patterns_mean_what_they_mean_to_git(path: str, folder: bool, expected: bool | None) -> None:
    assert Ignores("/top", PATTERNS).verdict(os.path.join("/top", path), folder) is expected


@pytest.mark.parametrize("number", range(5))
def test_a_pattern_that_means_nothing_takes_nothing_from_the_others(number: int) -> None:
    chance = random.Random(number)
    paths = ["/".join(chance.choices(WORDS, k=chance.randint(1, 4))) for _ in range(60)]
    broken, whole = Ignores("/top", PATTERNS), Ignores("/top", PATTERNS.replace(b"[\n", b""))
    for path in paths:
        for folder in (True, False):
            assert broken.verdict(f"/top/{path}", folder) is whole.verdict(f"/top/{path}", folder)


def test_changed_patterns_count_at_once(tmp_path: Path, in_process: Program) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "left.py").write_text("import torch\nx = torch.ones(1, requires_grad=True).numpy()\n")
    said = []
    for patterns in ("left*.py\n", "left*.py\n", "other.py\n", "left*.py\n!left.py\n", "left.py\n"):
        (tmp_path / ".gitignore").write_text(patterns)
        said.append(in_process(".").status)
    assert said == [0, 0, 1, 1, 0]
