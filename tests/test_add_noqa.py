"""`--add-noqa` through the real program: what is written where, and that torchlint, flake8 and ruff honour it."""

from __future__ import annotations

import ast
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import HEAVY

Program = Callable[..., Any]
ROOT = Path(__file__).parents[1]
HEAD = "import torch\n\nw = torch.ones(3, requires_grad=True)\n"

PLACES = {
    "a plain line": ("a = w.numpy()", "a = w.numpy()  # noqa: TNS101"),
    "trailing blanks": ("a = w.numpy()  \t", "a = w.numpy()  # noqa: TNS101"),
    "two of one rule": ("a = w.numpy(), w.numpy()", "a = w.numpy(), w.numpy()  # noqa: TNS101"),
    "two rules": (
        "a = w.numpy(), torch.Tensor([1])",
        "a = w.numpy(), torch.Tensor([1])  # noqa: TNS101, TNS301",
    ),
    "a comment": ("a = w.numpy()  # why", "a = w.numpy()  # why  # noqa: TNS101"),
    "a type comment": ("a = w.numpy()  # type: ignore", "a = w.numpy()  # type: ignore  # noqa: TNS101"),
    "other codes": ("a = w.numpy()  # noqa: E501", "a = w.numpy()  # noqa: E501, TNS101"),
    "other codes and words": ("a = w.numpy()  # noqa: E501,W291 why", "a = w.numpy()  # noqa: E501,W291, TNS101 why"),
    "a spelling that flake8 does not know": (
        "a = w.numpy()  #noqa: E501",
        "a = w.numpy()  #noqa: E501  # noqa: TNS101",
    ),
    "own codes": (
        "a = w.numpy()  # torchlint: ignore[TNS2] why",
        "a = w.numpy()  # torchlint: ignore[TNS2] why  # noqa: TNS101",
    ),
    "backslashes": ("a = 1 + \\\n    w.numpy() + \\\n    1", "a = 1 + \\\n    w.numpy() + \\\n    1  # noqa: TNS101"),
    "inside brackets": (
        "a = print(\n    w.numpy(),\n    1,\n)",
        "a = print(\n    w.numpy(),  # noqa: TNS101\n    1,\n)",
    ),
    "a call over lines": (
        "a = torch.add(\n    w,\n    1,\n).numpy()",
        "a = torch.add(\n    w,\n    1,\n).numpy()  # noqa: TNS101",
    ),
    "before a string over lines": (
        'a = w.numpy(), """\n# noqa is text here\n"""',
        'a = w.numpy(), """\n# noqa is text here\n"""  # torchlint: ignore[TNS101]',
    ),
    "between strings over lines": (
        'a = print(\n    """\n""", w.numpy(), """\n""",\n    w.numpy(),\n)',
        'a = print(\n    """\n""", w.numpy(), """\n""",  # noqa: TNS101\n    w.numpy(),  # noqa: TNS101\n)',
    ),
    "inside an f-string": (
        'a = f"""\n{w.numpy()}\n"""',
        'a = f"""\n{w.numpy()}\n"""  # noqa: TNS101',
    ),
    "a header": ("if w.numpy():\n    a = 1", "if w.numpy():  # noqa: TNS101\n    a = 1"),
    "statements on one line": ("a = w.numpy(); b = 1", "a = w.numpy(); b = 1  # noqa: TNS101"),
    "hash in a string": ('a = w.numpy(), "# not one"', 'a = w.numpy(), "# not one"  # noqa: TNS101'),
    "noqa in a string": (
        'a = w.numpy(), "# noqa: E501"',
        'a = w.numpy(), "# noqa: E501"  # torchlint: ignore[TNS101]',
    ),
    "accents": ("é = '漢🔥', w.numpy()  # ü", "é = '漢🔥', w.numpy()  # ü  # noqa: TNS101"),
}


def add(program: Program, *arguments: str, **keywords: Any) -> Any:
    return program("--isolated", "--output-format", "concise", *arguments, **keywords)


def flake8(folder: Path) -> str:
    (folder / ".flake8").write_text("[flake8]\nselect = TNS\n")
    done = subprocess.run(
        [sys.executable, "-m", "flake8", "--jobs", "1", "."], cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_where_comments_go_and_who_honours_them(newline: str, tmp_path: Path, torchlint: Program) -> None:
    for number, (before, _) in enumerate(PLACES.values()):
        (tmp_path / f"m{number}.py").write_text((HEAD + before + "\n").replace("\n", newline), newline="")
    done = add(torchlint, "--add-noqa")
    assert done.status == (1 if "TNS901" in done.stdout else 0)
    assert {line.split()[1] for line in done.stdout.splitlines()[:-1]} == {"TNS901"}  # `ignore[TNS2]` was idle before
    total = sum(len(ast.parse(HEAD + before).body) > 0 for before, _ in PLACES.values())
    assert done.stderr == f"Silenced {total + 3} findings in {total} files.\n"
    for number, (name, (before, after)) in enumerate(PLACES.items()):
        raw = (tmp_path / f"m{number}.py").read_bytes().decode()
        assert raw == (HEAD + after + "\n").replace("\n", newline), name
        assert ast.dump(ast.parse(raw)) == ast.dump(ast.parse(HEAD + before))
    again = add(torchlint, "--add-noqa")
    assert (again.stderr, again.stdout) == ("Nothing to silence.\n", done.stdout)
    left = [line.split()[1] for line in flake8(tmp_path).splitlines()]
    assert left == ["TNS901"]


def test_ruff_takes_them_for_external_codes(tmp_path: Path, torchlint: Program) -> None:
    pytest.importorskip("ruff", reason="ruff is not installed")
    text = (
        HEAD
        + "a = w.numpy(), w.numpy(), w.numpy(), w.numpy(), w.numpy(), w.numpy(), w.numpy(), w.numpy()  # noqa: E501\n"
    )
    (tmp_path / "a.py").write_text(text)
    add(torchlint, "--add-noqa")
    assert (tmp_path / "a.py").read_text() == text.replace("E501", "E501, TNS101")
    (tmp_path / "ruff.toml").write_text('lint.select = ["E501", "RUF100"]\nlint.external = ["TNS"]\n')
    done = subprocess.run([sys.executable, "-m", "ruff", "check", "--no-cache", "."], cwd=tmp_path, check=False)
    assert done.returncode == 0


def test_with_a_reason_torchlints_own_comment_is_written(tmp_path: Path, torchlint: Program) -> None:
    text = HEAD + "a = w.numpy()  # noqa: E501\nb = w.numpy(), torch.Tensor([1])\n"
    (tmp_path / "a.py").write_text(text)
    done = add(torchlint, "--add-noqa=old code, see #12 — é", "a.py")
    assert (done.status, done.stdout, done.stderr) == (0, "All checks passed!\n", "Silenced 3 findings in 1 file.\n")
    comment = "  # torchlint: ignore[{}] old code, see #12 — é\n"
    assert (tmp_path / "a.py").read_text() == HEAD + (
        "a = w.numpy()  # noqa: E501" + comment.format("TNS101")
        + "b = w.numpy(), torch.Tensor([1])" + comment.format("TNS101, TNS301")
    )  # fmt: skip
    assert flake8(tmp_path) == ""
    assert add(torchlint).status == 0


def test_a_path_behind_the_flag_is_no_reason(tmp_path: Path, torchlint: Program) -> None:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(HEAD + "a = w.numpy()\n")
    assert add(torchlint, "--add-noqa", "a.py").stderr == "Silenced 1 finding in 1 file.\n"
    assert (tmp_path / "b.py").read_text() == HEAD + "a = w.numpy()\n"


@pytest.mark.parametrize(
    ("encoding", "head"), [("utf-8-sig", ""), ("latin-1", "# coding: latin-1\n"), ("cp1252", "# coding: cp1252\n")]
)
def test_encodings_marks_modes_and_a_missing_newline_are_kept(
    encoding: str, head: str, tmp_path: Path, torchlint: Program
) -> None:
    file = tmp_path / "a.py"
    file.write_bytes((head + HEAD + "é = 1\r\nb = w.numpy(), 'ü'").encode(encoding))
    file.chmod(0o640)
    add(torchlint, "--add-noqa=ö")
    expected = head + HEAD + "é = 1\r\nb = w.numpy(), 'ü'  # torchlint: ignore[TNS101] ö"
    assert file.read_bytes() == expected.encode(encoding)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_reason_that_the_encoding_lacks_leaves_the_file_alone(tmp_path: Path, torchlint: Program) -> None:
    raw = ("# coding: latin-1\n" + HEAD + "a = w.numpy()\n").encode("latin-1")
    (tmp_path / "a.py").write_bytes(raw)
    (tmp_path / "b.py").write_text(HEAD + "a = w.numpy()\n")
    done = add(torchlint, "--add-noqa=漢")
    assert done.status == 2
    assert "torchlint: error: a.py: no suppression was added: iso8859-1 has no `漢`\n" in done.stderr
    assert (tmp_path / "a.py").read_bytes() == raw
    assert (tmp_path / "b.py").read_text().endswith("[TNS101] 漢\n")


def test_what_cannot_be_silenced_stays_and_is_reported(tmp_path: Path, torchlint: Program) -> None:
    (tmp_path / "a.py").write_text("def f(:\n")
    (tmp_path / "b.py").write_text(HEAD + "a = 1  # noqa: TNS101\n")
    done = add(torchlint, "--add-noqa")
    assert (done.status, done.stderr) == (1, "Nothing to silence.\n")
    assert [line.split()[1] for line in done.stdout.splitlines()[:-1]] == ["TNS900", "TNS901"]
    assert (tmp_path / "a.py").read_text() == "def f(:\n"


def test_a_read_only_file_is_left_alone_and_named(tmp_path: Path, torchlint: Program) -> None:
    file = tmp_path / "a.py"
    file.write_text(HEAD + "a = w.numpy()\n")
    file.chmod(0o444)
    done = add(torchlint, "--add-noqa")
    assert done.status == 2
    assert done.stderr == "Nothing to silence.\ntorchlint: error: a.py: read-only, so no suppression was added\n"


def test_standard_input_comes_back_with_its_comments(torchlint: Program) -> None:
    done = add(torchlint, "--add-noqa", "-", stdin=(HEAD + "a = w.numpy()\n").encode())
    assert (done.status, done.stdout) == (0, HEAD + "a = w.numpy()  # noqa: TNS101\n")
    assert done.stderr == "Silenced 1 finding in 1 file.\nAll checks passed!\n"


def test_only_what_counts_is_silenced(tmp_path: Path, torchlint: Program) -> None:
    (tmp_path / "a.py").write_text(HEAD + "a = w.numpy()\n")
    torchlint("--isolated", "--baseline", "k.jsonl", "--write-baseline")
    (tmp_path / "a.py").write_text(HEAD + "a = w.numpy()\nb = w.numpy()\nc = torch.Tensor([1])\n")
    done = add(torchlint, "--baseline", "k.jsonl", "--add-noqa", "--select", "TNS1")
    assert (done.status, done.stdout) == (0, "All checks passed! 1 known.\n")
    expected = HEAD + "a = w.numpy()\nb = w.numpy()  # noqa: TNS101\nc = torch.Tensor([1])\n"
    assert (tmp_path / "a.py").read_text() == expected


def test_only_changed_lines_are_silenced(tmp_path: Path, torchlint: Program) -> None:
    (tmp_path / "a.py").write_text(HEAD + "a = w.numpy()\n")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
        subprocess.run([*git, *command], cwd=tmp_path, check=True)
    (tmp_path / "a.py").write_text(HEAD + "a = w.numpy()\nb = w.numpy()\n")
    assert add(torchlint, "--diff-base", "HEAD", "--add-noqa").status == 0
    assert (tmp_path / "a.py").read_text() == HEAD + "a = w.numpy()\nb = w.numpy()  # noqa: TNS101\n"


def test_many_files_in_a_pool(tmp_path: Path, program: Program) -> None:
    for number in range(20):
        (tmp_path / f"m{number}.py").write_text(HEAD + "a = w.numpy()\n" + HEAVY)
    done = add(program, "--add-noqa", "--jobs", "2")
    assert done.stderr == "Silenced 20 findings in 20 files.\n"
    assert json.loads(program("--isolated", "--output-format", "json").stdout) == []


def test_the_example_project_is_silent_afterwards_for_torchlint_and_flake8(tmp_path: Path, torchlint: Program) -> None:
    before = {}
    for path in sorted((ROOT / "examples" / "legacy_training").glob("*.py")):
        (tmp_path / path.name).write_bytes(path.read_bytes())
        before[path.name] = ast.dump(ast.parse(path.read_bytes()))
    done = add(torchlint, "--add-noqa")
    assert (done.status, done.stdout) == (0, "All checks passed!\n")
    assert (add(torchlint).status, flake8(tmp_path)) == (0, "")
    assert {path.name: ast.dump(ast.parse(path.read_bytes())) for path in tmp_path.glob("*.py")} == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--add-noqa", "--fix"], "--add-noqa and --fix cannot be used together"),
        (["--add-noqa", "--diff"], "--add-noqa and --diff cannot be used together"),
        (["--add-noqa=a\nb"], "--add-noqa: the reason must be one line of printable text"),
    ],
)
def test_what_makes_no_sense_is_2(arguments: list[str], message: str, torchlint: Program) -> None:
    done = torchlint(*arguments)
    assert (done.status, done.stderr) == (2, f"torchlint: error: {message}\n")
