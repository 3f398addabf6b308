"""Which limit of a project lines are broken at: the nearest file that tells one."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.config import Finder
from torchlint.config.options import Options
from torchlint.linter.engine import fix_bytes


def limit(folder: Path, flags: Options | None = None) -> int | None:
    return Finder(flags or Options(), str(folder)).of_folder(str(folder)).settings.line_length


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("pyproject.toml", "[project]\nname = 'a'\n", None),
        ("pyproject.toml", "[tool.ruff]\nline-length = true\n", None),
        ("pyproject.toml", "[tool]\nruff = 3\n", None),
        ("setup.cfg", "[flake8]\nmax-line-length = long\n", None),
        ("setup.cfg", "[metadata]\nmax-line-length = 99\n", None),
        ("tox.ini", "[flake8]\nignore = E501\n", None),
        ("setup.cfg", "[flake8]\nmax-line-length = 1\n", None),
        ("ruff.toml", "line-length = 101  # wide\n", 101),
        ("pyproject.toml", "[tool.ruff]\nline-length = 102\n", 102),
        ("pyproject.toml", "[tool.black]\nline-length = 103\n", 103),
        ("pyproject.toml", "[tool.black]\nline-length = 88\n[tool.ruff]\nline-length = 104\n", 104),
        (".flake8", "[flake8]\nexclude = a\nmax-line-length=105\n", 105),
        ("setup.cfg", "[metadata]\nname = a\n\n[pycodestyle]\r\nmax_line_length = 106\r\n[b]\n", 106),
        ("tox.ini", "[tox]\n[flake8]\nmax-line-length: 107\n", 107),
    ],
)
def test_who_tells_it(tmp_path: Path, name: str, text: str, expected: int | None) -> None:
    (tmp_path / name).write_text(text)
    assert limit(tmp_path) == expected


def test_the_nearest_file_tells_it(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "setup.cfg").write_text("[flake8]\nmax-line-length = 100\n")
    assert limit(inner) == 100
    (tmp_path / "a" / "tox.ini").write_text("[flake8]\nmax-line-length = 90\n")
    assert limit(inner) == 90
    assert limit(inner, Options(isolated=True)) is None


def test_a_line_is_broken_at_the_limit_and_results_of_two_limits_differ(tmp_path: Path) -> None:
    text = b"import torch\n\nx = torch.Tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])\n"
    keys = set()
    for width, rows in ((60, 5), (100, 3)):
        (tmp_path / "setup.cfg").write_text(f"[flake8]\nmax-line-length = {width}\n")
        config = Finder(Options(), str(tmp_path)).of_folder(str(tmp_path))
        wide = fix_bytes(str(tmp_path / "a.py"), text.replace(b"Tensor(", b"LongTensor("), config).raw
        assert len(wide.splitlines()) == rows
        keys.add(config.cache_key())
    assert len(keys) == 2
