"""``.gitignore`` files, with the verdicts of earlier runs and without."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from torchlint.cache.shelf import Shelf
from torchlint.cache.verdicts import Verdicts
from torchlint.ignores import Ignores

CLOCK = 1_700_000_000_000_000_000
PATTERNS = b"\xef\xbb\xbf*.pyc\n/build/\n!keep.py\nsub/*.py\r\n**/deep/**\n\xff*.py\n[\n# no pattern\n"
WORDS = ["a.py", "keep.py", "build", "sub", "deep", "x.pyc", "\udcffodd.py", "a b.py"]


def verdicts(folder: Path) -> Verdicts:
    return Verdicts(Shelf(str(folder), lambda: CLOCK))


def paths(number: int) -> list[tuple[str, bool]]:
    chance = random.Random(number)
    return [("/".join(chance.choices(WORDS, k=chance.randint(1, 4))), chance.random() < 0.5) for _ in range(60)]


@pytest.mark.parametrize("number", range(5))
def test_what_is_remembered_is_what_is_said(tmp_path: Path, number: int) -> None:
    def asked(known: Verdicts | None) -> list[bool | None]:
        each = Ignores("/top", PATTERNS, known)
        return [each.verdict(os.path.join("/top", path), folder) for path, folder in paths(number)]

    said = asked(None)
    assert {True, False, None} >= set(said)
    assert len(set(said)) > 1
    first = verdicts(tmp_path / "cache")
    assert asked(first) == said
    first.write()
    second = verdicts(tmp_path / "cache")
    second.of = _forbidding(second)  # type: ignore[method-assign]
    assert asked(second) == said


def _forbidding(known: Verdicts) -> object:
    of = Verdicts.of

    def ask() -> bool | None:
        raise AssertionError("it is known")

    return lambda patterns, path, _: of(known, patterns, path, ask)


def test_other_patterns_are_asked_anew(tmp_path: Path) -> None:
    for patterns, expected in ((b"a.py\n", True), (b"b.py\n", None), (b"a.py\n!a.py\n", False), (b"a.py\n", True)):
        known = verdicts(tmp_path / "cache")
        assert Ignores("/top", patterns, known).verdict("/top/a.py", folder=False) is expected
        known.write()


def test_what_is_no_verdict_is_not_believed(tmp_path: Path) -> None:
    known = verdicts(tmp_path / "cache")
    assert known.of("a.py", "a.py", lambda: True) is True
    known.write()
    shelf = Shelf(str(tmp_path / "cache"), lambda: CLOCK)
    key = known._key("a.py")
    assert shelf.take(key) == {"a.py": True}
    for odd in ([], {"a.py": 3}, {"a.py": "no"}, None, 7):
        shelf.put(key, odd)
        assert verdicts(tmp_path / "cache").of("a.py", "a.py", lambda: None) is None


def test_two_runs_at_once_keep_what_both_found(tmp_path: Path) -> None:
    one, other = verdicts(tmp_path / "cache"), verdicts(tmp_path / "cache")
    one.of("p", "a.py", lambda: True)
    other.of("p", "b.py", lambda: False)
    one.write()
    other.write()
    third = verdicts(tmp_path / "cache")
    assert [third.of("p", each, lambda: None) for each in ("a.py", "b.py", "c.py")] == [True, False, None]


def test_the_library_is_imported_only_for_what_is_new(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("left*.py\n")
    (tmp_path / "a.py").write_text("print(1)\n")
    (tmp_path / "left.py").write_text("import torch\nx = torch.ones(1, requires_grad=True).numpy()\n")
    text = "import sys\nfrom torchlint.cli import main\nprint(main(), 'pathspec' in sys.modules)\n"

    def run(*flags: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", text, "-q", *flags],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert not done.stderr
        return done.stdout.split()[-2:]

    assert [run(), run(), run("--no-cache")] == [["0", "True"], ["0", "False"], ["0", "True"]]
    (tmp_path / "left2.py").write_text("print(2)\n")
    assert [run(), run()] == [["0", "True"], ["0", "False"]]
    (tmp_path / ".gitignore").write_text("other.py\n")
    assert run() == ["1", "True"]
