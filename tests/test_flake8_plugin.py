"""The flake8 plugin, run by the real flake8: same codes and places, its options, its comments, its selection."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import entry_points
from itertools import product
from pathlib import Path

import pytest

from tests.nightly import in_turn

pytest.importorskip("flake8", reason="flake8 is not installed")

ROOT = Path(__file__).parents[1]
CODE = """\
import torch


def f():
    é = torch.ones(3, requires_grad=True)
    return é.numpy()
"""
HIT = "a.py:6:14: TNS101"


def _installed() -> bool:
    return any(each.name == "TNS" for each in entry_points(group="flake8.extension"))


def flake8(folder: Path, *arguments: str, config: str = "", stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
    plugins = f"[flake8:local-plugins]\nextension =\n  TNS = torchlint.flake8_plugin:Plugin\npaths = {ROOT}\n"
    (folder / ".flake8").write_text(f"[flake8]\n{config}\n" + ("" if _installed() else plugins))
    done = subprocess.run(
        [sys.executable, "-m", "flake8", "--jobs", "1", *arguments],
        cwd=folder,
        input=stdin,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
        timeout=300,
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def torchlint(folder: Path, *arguments: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", "torchlint", "--isolated", "--output-format", "json", *arguments],
        cwd=folder,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
        timeout=300,
    )
    rows = json.loads(done.stdout)
    return [f"{e['filename']}:{e['location']['row']}:{e['location']['column']}: {e['code']}" for e in rows]


def places(done: subprocess.CompletedProcess[str]) -> list[str]:
    assert done.stderr == ""
    return [" ".join(line.split(" ")[:2]).removeprefix("./") for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("newline", "encoding"),
    in_turn(product(("\n", "\r\n"), ("utf-8", "utf-8-sig", "latin-1")), 3, "encodings in flake8"),
)
def test_codes_and_places_are_those_of_the_command_line(newline: str, encoding: str, tmp_path: Path) -> None:
    head = f"# coding: {encoding}\n" if encoding == "latin-1" else "#\n"
    (tmp_path / "a.py").write_bytes((head + CODE).replace("\n", newline).encode(encoding))
    assert places(flake8(tmp_path, "--select", "TNS")) == ["a.py:7:14: TNS101"] == torchlint(tmp_path, "a.py")


def test_the_plugin_is_on_by_default(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(CODE, encoding="utf-8")
    assert places(flake8(tmp_path)) == [HIT]


def test_standard_input_is_read_from_flake8(tmp_path: Path) -> None:
    done = flake8(tmp_path, "-", "--stdin-display-name", "a.py", stdin=CODE.encode())
    assert places(done) == [HIT]


def test_flake8_applies_noqa_and_the_plugin_its_own_comments(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    for comment, found in (
        ("# noqa", []),
        ("# noqa: TNS101", []),
        ("# noqa: E501", [HIT]),
        ("# torchlint: ignore[TNS101]", []),
        ("# torchlint: ignore[TNS2]", [HIT, "a.py:6:43: TNS901"]),
    ):
        file.write_text(CODE.replace("é.numpy()", f"é.numpy()  {comment}"), encoding="utf-8")
        assert places(flake8(tmp_path)) == found, comment
    file.write_text(CODE.replace("é.numpy()", "é.numpy()  # noqa"), encoding="utf-8")
    assert places(flake8(tmp_path, "--disable-noqa")) == [HIT]


def test_flake8_selects(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(CODE, encoding="utf-8")
    assert places(flake8(tmp_path, "--extend-ignore", "TNS1")) == []
    assert places(flake8(tmp_path, config="per-file-ignores = a.py:TNS101")) == []


def test_rules_that_are_off_by_default_are_off_until_selected(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\n\nx = torch.ones(3).cpu().detach()\n")
    assert places(flake8(tmp_path)) == []
    assert places(flake8(tmp_path, "--select", "TNS104")) == torchlint(tmp_path, "--select", "TNS104", "a.py") != []


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("torchlint-min-confidence = likly", 'torchlint-min-confidence: expected one of certain, likely, possible, '
         'unproven, got "likly"; did you mean `likely`?'),
        ("torchlint-target-torch = two", 'torchlint-target-torch: expected a version such as "1.13", got "two"'),
        ("torchlint-numpy-style = x", 'torchlint-numpy-style: expected one of chain, force, got "x"'),
    ],
)  # fmt: skip
def test_a_wrong_option_is_named(config: str, message: str, tmp_path: Path) -> None:
    done = flake8(tmp_path, config=config)
    assert done.returncode == 1
    assert done.stdout == f"There was a critical error during execution of Flake8:\n{message}\n"


def test_options_are_read_from_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\n\n\ndef f(x: torch.Tensor):\n    return x.numpy()\n")
    assert places(flake8(tmp_path)) == ["a.py:5:14: TNS103"]
    assert places(flake8(tmp_path, config="torchlint-min-confidence = certain")) == []
    text = "import torch\n\nx = torch.ones(3).numpy()\n"
    (tmp_path / "a.py").write_text(text)
    assert places(flake8(tmp_path)) == []
    assert places(flake8(tmp_path, config="torchlint-strict = true")) == torchlint(tmp_path, "--strict", "a.py") != []


def test_a_fault_is_reported_and_flake8_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from torchlint.flake8_plugin import Plugin
    from torchlint.linter import engine

    def crash(*_: object) -> None:
        raise RuntimeError("on\npurpose")

    monkeypatch.setattr(engine, "check_bytes", crash)
    (row,) = Plugin(None, "a.py", ["x = 1\n"]).run()  # type: ignore[arg-type]
    assert row == (1, 0, "TNS999 torchlint could not check this file: RuntimeError: on purpose", Plugin)


def test_a_syntax_error_is_left_to_flake8(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f(:\n")
    assert [each.split()[1] for each in places(flake8(tmp_path))] == ["E999"]


def test_suppressions_are_judged_as_flake8_reads_them(tmp_path: Path) -> None:
    head = "import torch\nw = torch.ones(3, requires_grad=True)\n"
    body = "a = 1  # noqa: TNS101\nb = w.numpy()  # noqa: TNS101\nc = 1  # torchlint: ignore[TNS2]\nd = 1  # noqa\n"
    body += "e = print(\n    1,  # noqa: TNS101\n    w.numpy(),\n)\nf = 1  # noqa: E501, TNS104\n"
    body += "g = print(\n    '''\n''', w.numpy(), '''\n''',  # noqa: TNS101\n)\n"
    (tmp_path / "a.py").write_text(head + body)
    unused = ["a.py:3:16: TNS901", "a.py:5:28: TNS901", "a.py:8:17: TNS901", "a.py:9:7: TNS101"]
    assert places(flake8(tmp_path, "--select", "TNS")) == unused == torchlint(tmp_path, "a.py")
    assert places(flake8(tmp_path, "--select", "TNS", config="torchlint-min-confidence = certain")) == unused
    assert places(flake8(tmp_path, "--select", "TNS1")) == ["a.py:9:7: TNS101"]
    assert places(flake8(tmp_path, "--select", "TNS1", "--disable-noqa")) == [
        "a.py:4:7: TNS101",
        "a.py:9:7: TNS101",
        "a.py:14:8: TNS101",
    ]


def test_the_entry_point_is_declared() -> None:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["flake8.extension"]
    assert declared == {"TNS": "torchlint.flake8_plugin:Plugin"}
