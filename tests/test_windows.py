"""Paths and newlines of Windows, told by Python's own `ntpath` on any system: what needs Windows itself is not here."""

from __future__ import annotations

import json
import ntpath
import os
from types import ModuleType

import pytest

from torchlint.config import Config, globs
from torchlint.linter.engine import check_bytes, fix_bytes
from torchlint.output import github, gitlab, renderer, sarif
from torchlint.output.report import Report
from torchlint.output.screen import Screen
from torchlint.selection import known_findings

HIT = b"import torch\r\n\r\nw = torch.ones(3, requires_grad=True)\r\nprint(\r\n    w.numpy(),\r\n)\r\n"


class Windows:
    """The module `os` as Windows has it, as far as paths go."""

    sep, altsep, name, path = "\\", "/", "nt", ntpath

    def __getattr__(self, name: str) -> object:
        return getattr(os, name)


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (globs, sarif, known_findings, github, gitlab):
        assert isinstance(module, ModuleType)
        monkeypatch.setattr(module, "os", Windows())
    globs._parted.cache_clear()
    globs._compiled.cache_clear()


@pytest.fixture(autouse=True)
def forgotten() -> object:
    yield None
    globs._parted.cache_clear()
    globs._compiled.cache_clear()


ROOT = "C:\\code\\my project"
MATCHES = [
    ("a.py", "a.py", True),
    ("sub\\a.py", "a.py", True),
    ("sub\\a.py", "sub/a.py", True),
    ("sub\\a.py", "sub\\a.py", True),
    ("sub\\a.py", ".\\sub", False),  # a folder's files are left out with the folder
    ("sub", "sub\\", True),
    ("sub\\deep\\a.py", "sub\\*.py", True),
    ("sub\\deep\\a.py", "**\\deep\\*.py", True),
    ("sub\\a.py", "*.{py,pyi}", True),
    ("sub\\a.py", "other\\*.py", False),
    ("sub\\a.py", "C:\\code\\my project\\sub\\a.py", True),
    ("sub\\a.py", "C:/code/my project/sub/*.py", True),
    ("sub\\a.py", "C:\\code\\*\\sub\\a.py", True),
    ("sub\\a.py", "D:\\code\\my project\\sub\\*.py", False),
]


@pytest.mark.usefixtures("windows")
@pytest.mark.parametrize(("path", "pattern", "wanted"), MATCHES)
def test_patterns_match_with_either_slash_and_with_drives(path: str, pattern: str, wanted: bool) -> None:
    assert globs.matches(ntpath.join(ROOT, path), [pattern], ROOT) is wanted


@pytest.mark.usefixtures("windows")
def test_patterns_match_below_a_share() -> None:
    root = "\\\\server\\share\\code"
    assert globs.matches(root + "\\a.py", ["\\\\server\\share\\code\\*.py"], root)
    assert not globs.matches(root + "\\a.py", ["\\\\server\\other\\code\\*.py"], root)


@pytest.mark.usefixtures("windows")
@pytest.mark.parametrize(
    ("path", "address"),
    [
        ("a b.py", "a%20b.py"),
        ("sub\\é.py", "sub/%C3%A9.py"),
        ("C:\\code\\a.py", "file:///C:/code/a.py"),
        ("\\\\server\\share\\a b.py", "file://server/share/a%20b.py"),
    ],
)
def test_addresses(path: str, address: str) -> None:
    assert sarif.uri(path) == address


@pytest.mark.usefixtures("windows")
def test_names_in_a_baseline() -> None:
    assert known_findings.path_from("C:\\code", "C:\\code\\sub\\a.py") == "sub/a.py"
    assert known_findings.path_from("C:\\code", "D:\\else\\a.py") == "D:/else/a.py"


@pytest.mark.usefixtures("windows")
def test_reports_for_a_forge_name_files_as_git_does() -> None:
    report = Report(results=(check_bytes("sub\\a.py", HIT, Config()),), fixed=(), unsafe_fixes=False, troubles=())
    (line,) = renderer("github")(report, Screen())
    assert "file=sub/a.py," in line
    (issue,) = json.loads("\n".join(renderer("gitlab")(report, Screen())))
    assert issue["location"]["path"] == "sub/a.py"


def test_carriage_returns_stay_and_inserted_rows_have_them() -> None:
    done = fix_bytes("a.py", HIT, Config())
    assert done.raw == HIT.replace(b"w.numpy", b"w.detach().numpy")
    (found,) = check_bytes("a.py", HIT, Config()).findings
    source = check_bytes("a.py", HIT, Config()).source
    assert source is not None
    assert (source.position(found.start), source.line(5)) == ((5, 7), "    w.numpy(),")
    block = b"import torch\r\n\r\nclass N(torch.nn.Module):\r\n    def __init__(self):\r\n"
    block += b"        super().__init__()\r\n        self.a = torch.nn.Linear(1, 1)\r\n"
    block += b"        self.a.weight.data.mul_(\r\n            2)\r\n"
    fixed = fix_bytes("b.py", block, Config(unsafe_fixes=True)).raw
    assert fixed != block
    assert fixed.count(b"\n") == fixed.count(b"\r\n") > block.count(b"\r\n")


@pytest.mark.parametrize("newline", ["\r\n", "\n"])
def test_ignores_written_on_windows_are_read(newline: str, tmp_path: object, in_process: object) -> None:
    from pathlib import Path

    folder = Path(str(tmp_path))
    (folder / ".git").mkdir()
    raw = newline.join(["# made", "gen.py", "sub/", ""]).encode()
    (folder / ".gitignore").write_bytes(b"\xef\xbb\xbf" + raw.replace(b"# made" + newline.encode(), b""))
    for name in ("gen.py", "kept.py", "sub/a.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(HIT)
    done = in_process("--show-files")  # type: ignore[operator]
    assert done.stdout == "kept.py\n"


def test_a_configuration_with_carriage_returns_and_backslashes(tmp_path: object, in_process: object) -> None:
    from pathlib import Path

    folder = Path(str(tmp_path))
    (folder / "torchlint.toml").write_bytes(b"exclude = ['gen.py']\r\nselect = [\r\n  'TNS1',\r\n]\r\n")
    for name in ("gen.py", "kept.py"):
        (folder / name).write_bytes(HIT)
    done = in_process("-q", "--no-cache", "--output-format", "concise")  # type: ignore[operator]
    assert done.stdout.startswith("kept.py:5:7: TNS101 ")
    assert len(done.stdout.splitlines()) == 1
