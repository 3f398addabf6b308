"""Configuration files that earlier runs read: the same document, kept by its text, and only what JSON gives back."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conftest import ROOT, Program
from torchlint.cache.documents import Documents
from torchlint.config import CACHE as NAME
from torchlint.config import ConfigError, Finder
from torchlint.config.files import parse_toml
from torchlint.config.options import Options

PLAIN = '[project]\nname = "p"\ndependencies = ["torch>=1.13"]\n\n[tool.torchlint]\nselect = ["TNS1"]\nstrict = true\n'
HIT = "import torch\n\n\ndef f(x):\n    return torch.ones(3, requires_grad=True).numpy()\n"


def documents(folder: str | None = None) -> Documents:
    return Documents(lambda: 1_700_000_000_000_000_000, folder)


def refusing(text: str) -> Mapping[str, object]:
    raise AssertionError(text)


def test_a_document_is_read_once_for_its_text(tmp_path: Path) -> None:
    path = str(tmp_path / "pyproject.toml")
    first = documents()
    said = first.of(path, PLAIN, parse_toml)
    first.write(str(tmp_path / NAME))
    assert documents().of(path, PLAIN, refusing) == said == parse_toml(PLAIN)
    assert documents().of(path, f"{PLAIN}ignore = []\n", parse_toml) != said


def test_a_document_is_kept_in_the_cache_of_the_run_and_nowhere_else(tmp_path: Path) -> None:
    first = documents()
    first.of(str(tmp_path / "pyproject.toml"), PLAIN, parse_toml)
    first.write(str(tmp_path / "elsewhere"))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_a_flag_names_holds_documents_of_all_places(tmp_path: Path) -> None:
    kept = str(tmp_path / "kept")
    first = documents(kept)
    first.of("/one/pyproject.toml", PLAIN, parse_toml)
    first.write(kept)
    assert documents(kept).of("/other/pyproject.toml", PLAIN, refusing) == parse_toml(PLAIN)


@pytest.mark.parametrize(
    "text",
    [
        "when = 2026-11-22\n",
        "[tool.x]\nlist = [1, [07:30:00]]\n",
        f"{'.'.join('a' * 60)} = 1\n",
        f"x = {'[' * 60}{']' * 60}\n",
        f"x = '{'long' * 60_000}'\n",
    ],
)
def test_what_json_does_not_give_back_is_read_each_time(tmp_path: Path, text: str) -> None:
    path = str(tmp_path / "pyproject.toml")
    for _ in range(2):
        each = documents()
        assert each.of(path, text, parse_toml) == parse_toml(text)
        each.write(str(tmp_path / NAME))
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_read_is_said_each_time(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.torchlint\n")
    for _ in range(2):
        each = documents()
        with pytest.raises(ConfigError, match="no valid TOML"):
            Finder(Options(), str(tmp_path), known=each.of).of_folder(str(tmp_path))
        each.write(str(tmp_path / NAME))


@pytest.mark.parametrize("damage", [b"", b"no cache", b"torchlint cache 1 0\n[]"])
def test_a_damaged_entry_is_passed_over(tmp_path: Path, damage: bytes) -> None:
    first = documents()
    first.of(str(tmp_path / "pyproject.toml"), PLAIN, parse_toml)
    first.write(str(tmp_path / NAME))
    for path in (tmp_path / NAME).glob("*.cache"):
        path.write_bytes(damage)
    assert documents().of(str(tmp_path / "pyproject.toml"), PLAIN, parse_toml) == parse_toml(PLAIN)


# ---------------------------------------------------------------------- in a run
def test_a_changed_configuration_counts_at_once(tmp_path: Path, in_process: Program) -> None:
    (tmp_path / "hit.py").write_text(HIT)
    config = tmp_path / "pyproject.toml"
    outcomes = []
    for select in ("TNS1", "TNS1", "TNS2", "TNS1"):
        config.write_text(f'[tool.torchlint]\nselect = ["{select}"]\n')
        outcomes.append(in_process(".").status)
    config.write_text('[tool.torchlint]\nselect = ["TNS9999"]\n')
    outcomes.append(in_process(".").status)
    assert outcomes == [1, 1, 0, 1, 2]


def test_the_second_run_reads_no_toml(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PLAIN)
    (tmp_path / "plain.py").write_text("import os\n")
    program = "import sys\nfrom torchlint.cli import main\nmain([])\nprint({'tomllib', 'tomli'} & sys.modules.keys())"
    said = [
        subprocess.run(
            [sys.executable, "-c", program], cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True,
            text=True, check=True, timeout=60,
        ).stdout.splitlines()[-1]
        for _ in range(2)
    ]  # fmt: skip
    assert said[0] != said[1] == "set()"
