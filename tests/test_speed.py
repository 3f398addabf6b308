"""The measurements of docs/cost.md run from one command, and the page is theirs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

PAGE = ROOT / "docs" / "cost.md"
SPEED = ROOT / "benchmarks" / "speed.py"


def test_the_ratios_are_measured_over_any_folder_of_code(tmp_path: Path) -> None:
    release = tmp_path / "some==1.0"
    release.mkdir()
    (release / "hit.py").write_text("import torch\n\nw = torch.ones(3, requires_grad=True)\nprint(w.numpy())\n")
    (release / "plain.py").write_text("import os\n")
    command = [sys.executable, str(SPEED), "--corpus", str(tmp_path), "--repeat", "1", "--only", "ratios"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Over 2 files of the corpus, 1 of them with a word that a rule looks for:" in done.stdout
    rows = re.findall(
        r"^\| ([^|]+) \| \d+ ms \| [^|]+: \d+ ms \| [\d.e+]+ \| at most [\d.]+ \|$", done.stdout, re.MULTILINE
    )
    assert [row for row in rows if row != "warm, wall time"] == [
        "cold, one process", "warm", "nothing to do", "nothing to do, no cache",
        "nothing to do, `.gitignore`, `pyproject.toml`", "one changed file, 0 KiB",
        "one changed file with findings, 0 KiB",
    ]  # fmt: skip


def test_a_corpus_that_is_not_there_is_named(tmp_path: Path) -> None:
    command = [sys.executable, str(SPEED), "--corpus", str(tmp_path), "--only", "ratios"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert done.stderr == f"{tmp_path}: no code there: run `python benchmarks/corpus.py` first\n"


def test_the_page_holds_both_tables() -> None:
    found = re.search(
        r"<!-- cost: written by benchmarks/speed.py -->\n(.*)<!-- cost: end -->", PAGE.read_text(), re.DOTALL
    )
    assert found
    for kind in ("cold, one process", "warm", "nothing to do", "files", "findings in one file", "blocks in each other"):
        assert f"\n| {kind} |" in found[1]
