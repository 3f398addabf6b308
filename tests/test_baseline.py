"""The baseline through the real program: known findings are counted, new ones fail, those that went away are told."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import HEAVY

Program = Callable[..., Any]
HEADER = '{"torchlint-baseline": 1}'
FILE = "known.jsonl"
OLD = """\
import torch


class Net:
    def read(self):
        w = torch.ones(3, requires_grad=True)
        a = w.numpy()
        return a, w.numpy()


def step(p: torch.Tensor):
    p.data.zero_()
"""


def concise(program: Program, *arguments: str, **keywords: Any) -> Any:
    return program("--isolated", "--output-format", "concise", "--baseline", FILE, *arguments, **keywords)


def places(done: Any) -> list[str]:
    return [" ".join(line.split(" ")[:2]) for line in done.stdout.splitlines()[:-1]]


@pytest.fixture
def old(tmp_path: Path, torchlint: Program) -> Path:
    """A folder with old code whose three findings are known."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "net.py").write_text(OLD)
    done = concise(torchlint, "--write-baseline")
    assert (done.status, done.stdout) == (0, "All checks passed! 3 known.\n")
    assert done.stderr == f"{FILE} holds 3 known findings: 3 added, 0 gone.\n"
    return tmp_path


def entries(folder: Path) -> list[dict[str, str]]:
    header, *lines = (folder / FILE).read_text(encoding="ascii").splitlines()
    assert header == HEADER
    return [json.loads(line) for line in lines]


def test_the_file_has_one_finding_a_line_sorted_and_nothing_that_moves(old: Path) -> None:
    (old / "a b.py").write_text("import torch\ntorch.ones(1, requires_grad=True).numpy()\n")
    found = entries(old)
    assert [(each["path"], each["scope"], each["code"], each["confidence"]) for each in found] == [
        ("src/net.py", "Net.read", "TNS101", "certain"),
        ("src/net.py", "Net.read", "TNS101", "certain"),
        ("src/net.py", "step", "TNS202", "certain"),
    ]
    assert all(list(each) == ["path", "scope", "code", "confidence", "fingerprint"] for each in found)
    assert len({each["fingerprint"] for each in found}) == 3
    lines = (old / FILE).read_text().splitlines()[1:]
    assert lines == sorted(lines, key=lambda line: list(json.loads(line).values()))


def test_known_findings_are_counted_and_new_ones_fail(old: Path, torchlint: Program) -> None:
    done = concise(torchlint)
    assert (done.status, done.stdout, done.stderr) == (0, "All checks passed! 3 known.\n", "")
    assert torchlint("--isolated", "-q").status == 1
    (old / "src" / "net.py").write_text(OLD + "    p.data.add_(1)\n")
    done = concise(torchlint)
    assert done.status == 1
    assert places(done) == ["src/net.py:13:7: TNS202"]
    assert done.stdout.splitlines()[-1] == "Found 1 legacy: 1 with --unsafe-fixes. 3 known."
    report = json.loads(concise(torchlint, "--output-format", "json").stdout)
    assert [(each["code"], each["location"]["row"]) for each in report] == [("TNS202", 13)]


@pytest.mark.parametrize(
    "text",
    [
        "# moved\n\n\n" + OLD,
        OLD.replace("\n", "\r\n"),
        OLD.replace("a = w.numpy()", "a = (\n            w  # why\n            .numpy()\n        )"),
        OLD.replace("    p.data.zero_()", "    p  . data . zero_( )  # why"),
        OLD.replace("    def read", "    def other(self):\n        return 1\n\n    def read"),
        "\n".join([*OLD.splitlines()[:2], *OLD.splitlines()[9:], *OLD.splitlines()[2:9], ""]),
    ],
    ids=["moved down", "newlines", "reformatted", "blanks", "a method before", "reordered"],
)
def test_findings_are_known_after_they_moved_or_were_reformatted(text: str, old: Path, torchlint: Program) -> None:
    (old / "src" / "net.py").write_text(text, newline="")
    done = concise(torchlint)
    assert (done.status, done.stdout, done.stderr) == (0, "All checks passed! 3 known.\n", "")


def test_a_renamed_file_keeps_its_known_findings_and_a_copy_has_new_ones(old: Path, torchlint: Program) -> None:
    (old / "lib").mkdir()
    os.rename(old / "src" / "net.py", old / "lib" / "model.py")
    done = concise(torchlint)
    assert (done.status, done.stdout, done.stderr) == (0, "All checks passed! 3 known.\n", "")
    assert concise(torchlint, "--write-baseline").stderr == f"{FILE} holds 3 known findings: 3 added, 3 gone.\n"
    assert {each["path"] for each in entries(old)} == {"lib/model.py"}
    shutil.copy(old / "lib" / "model.py", old / "twin.py")
    assert places(concise(torchlint)) == ["twin.py:7:15: TNS101", "twin.py:8:21: TNS101", "twin.py:12:7: TNS202"]


def test_a_changed_statement_or_another_function_is_new(old: Path, torchlint: Program) -> None:
    (old / "src" / "net.py").write_text(OLD.replace("p.data.zero_()", "p.data.fill_(0)"))
    assert places(concise(torchlint)) == ["src/net.py:12:7: TNS202"]
    (old / "src" / "net.py").write_text(OLD.replace("def step", "def leap"))
    assert places(concise(torchlint)) == ["src/net.py:12:7: TNS202"]


def test_of_equal_findings_as_many_are_known_as_there_were(old: Path, torchlint: Program) -> None:
    (old / "src" / "net.py").write_text(OLD.replace("a = w.numpy()\n", "a = w.numpy()\n        a = w.numpy()\n"))
    assert places(concise(torchlint)) == ["src/net.py:8:15: TNS101"]


def test_what_went_away_is_told_and_taken_out(old: Path, torchlint: Program) -> None:
    (old / "src" / "net.py").write_text(OLD.replace("p.data.zero_()", "p.zero_()").replace("a = w.numpy()", "a = 1"))
    done = concise(torchlint)
    told = f"2 baseline entries no longer match ({FILE}; -v lists them); remove them with --prune-baseline"
    assert (done.status, done.stdout) == (0, "All checks passed! 1 known.\n")
    assert done.stderr == f"torchlint: info: {told}\n"
    assert concise(torchlint, "-q").stderr == ""
    listed = concise(torchlint, "-v").stderr.splitlines()
    assert listed[-2:] == [
        "torchlint: info: gone: src/net.py: TNS101 in `Net.read`",
        "torchlint: info: gone: src/net.py: TNS202 in `step`",
    ]
    assert concise(torchlint, "--write-baseline").stderr == f"{FILE} holds 1 known finding: 0 added, 2 gone.\n"
    assert [each["code"] for each in entries(old)] == ["TNS101"]
    done = concise(torchlint)
    assert (done.stdout, done.stderr) == ("All checks passed! 1 known.\n", "")


def test_a_run_judges_only_what_it_looked_at(old: Path, torchlint: Program) -> None:
    (old / "other.py").write_text("x = 1\n")
    before = (old / FILE).read_bytes()
    for arguments in (
        ["other.py"], ["--select", "TNS3"], ["--min-confidence", "certain", "other.py"],
        ["src", "--per-file-ignores", "net.py:TNS1,net.py:TNS2"],
    ):  # fmt: skip
        done = concise(torchlint, *arguments)
        assert (done.status, done.stderr) == (0, "")
        wrote = concise(torchlint, *arguments, "--write-baseline")
        assert wrote.stderr == f"{FILE} holds 3 known findings: 0 added, 0 gone.\n"
        assert (old / FILE).read_bytes() == before
    text = OLD.replace("def step(p: torch.Tensor):\n    p.data.zero_()\n", "")
    (old / "src" / "net.py").write_text(text + "def step(:\n")
    done = concise(torchlint)
    assert places(done) == ["src/net.py:11:10: TNS900"]
    assert done.stderr == ""
    os.unlink(old / "src" / "net.py")
    assert concise(torchlint, "other.py").stderr == ""
    assert "torchlint: info: 3 baseline entries " in concise(torchlint, "src").stderr


def test_an_excluded_file_has_no_known_findings_any_more(old: Path, torchlint: Program) -> None:
    wrote = concise(torchlint, "--extend-exclude", "net.py", "--write-baseline")
    assert wrote.stderr.splitlines()[-1] == f"{FILE} holds 0 known findings: 0 added, 3 gone."
    assert (old / FILE).read_text() == HEADER + "\n"


def test_suppressing_one_of_two_equal_findings_keeps_the_other_known(tmp_path: Path, torchlint: Program) -> None:
    line = "torch.ones(1, requires_grad=True).numpy()"
    (tmp_path / "a.py").write_text(f"import torch\n{line}\n{line}\n")
    concise(torchlint, "--write-baseline")
    (tmp_path / "a.py").write_text(f"import torch\n{line}  # noqa: TNS101\n{line}\n")
    done = concise(torchlint)
    assert (done.status, done.stdout) == (0, "All checks passed! 1 known.\n")
    assert "1 baseline entry no longer" in done.stderr


def test_paths_start_from_the_files_own_folder(old: Path, torchlint: Program) -> None:
    done = torchlint("--isolated", "--baseline", f"{old}/{FILE}", f"{old}/src")
    assert (done.status, done.stdout) == (0, "All checks passed! 3 known.\n")
    (old / "ci").mkdir()
    done = torchlint("--isolated", "--baseline", "ci/known.jsonl", "--write-baseline")
    assert done.status == 0
    assert "../src/net.py" in (old / "ci" / "known.jsonl").read_text()
    assert torchlint("--isolated", "--baseline", "ci/known.jsonl").status == 0


def test_the_configuration_names_the_file_from_its_own_folder(old: Path, torchlint: Program) -> None:
    (old / "pyproject.toml").write_text(f'[tool.torchlint]\nbaseline = "{FILE}"\n')
    assert torchlint().stdout == "All checks passed! 3 known.\n"
    assert torchlint("--no-baseline").status == 1
    (old / "src" / "net.py").write_text("x = 1\n")
    assert torchlint("--write-baseline").stderr == f"{FILE} holds 0 known findings: 0 added, 3 gone.\n"
    assert f"baseline = {FILE}  # {old / 'pyproject.toml'}\n" in torchlint("--show-settings").stdout


def test_standard_input_by_its_name(old: Path, torchlint: Program) -> None:
    done = concise(torchlint, "-", "--stdin-filename", "src/net.py", stdin=OLD.encode())
    assert (done.status, done.stdout, done.stderr) == (0, "All checks passed! 3 known.\n", "")


def test_fixing_repairs_known_findings_too(old: Path, torchlint: Program) -> None:
    done = concise(torchlint, "--fix")
    assert done.status == 0
    assert done.stdout == "Fixed 2 findings, nothing is left. 1 known.\n"
    assert "w.detach().numpy()" in (old / "src" / "net.py").read_text()
    assert "2 baseline entries no longer" in done.stderr


def test_odd_names_survive(tmp_path: Path, torchlint: Program) -> None:
    name = os.fsdecode(b'a "b\n\xff.py')
    (tmp_path / name).write_text("import torch\ntorch.ones(1, requires_grad=True).numpy()\n")
    assert concise(torchlint, "--write-baseline").status == 0
    assert concise(torchlint).stdout == "All checks passed! 1 known.\n"
    assert len((tmp_path / FILE).read_text().splitlines()) == 2


def test_a_pool_knows_the_same(tmp_path: Path, program: Program) -> None:
    for number in range(20):
        (tmp_path / f"m{number}.py").write_text("import torch\ntorch.ones(1, requires_grad=True).numpy()\n" + HEAVY)
    concise(program, "--write-baseline", "--jobs", "2")
    done = concise(program, "--jobs", "2", "--no-cache")
    assert (done.status, done.stdout) == (0, "All checks passed! 20 known.\n")


# ---------------------------------------------------------------------- bad input
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f"{FILE}:1: no baseline of torchlint: the first line must be `{HEADER}`"),
        ("[]\n", f"{FILE}:1: no baseline of torchlint: the first line must be `{HEADER}`"),
        (HEADER + '\n{"path": 1}\n', f"{FILE}:2: no known finding (a JSON object with path, scope, code, confidence, "
         "fingerprint): restore the line, or delete the file and run --write-baseline"),
        (HEADER + "\n[[[\n", f"{FILE}:2: no known finding (a JSON object with path, scope, code, confidence, "
         "fingerprint): restore the line, or delete the file and run --write-baseline"),
        (HEADER + "\n<<<<<<< ours\n=======\n>>>>>>> theirs\n", f"{FILE}:2: an unresolved merge conflict: keep the "
         "lines of both sides, take out the marks, then run --write-baseline"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("flags", [[], ["--write-baseline"]])
def test_a_broken_file_is_2_and_left_alone(
    text: str, message: str, flags: list[str], tmp_path: Path, torchlint: Program
) -> None:
    (tmp_path / FILE).write_text(text)
    done = concise(torchlint, *flags)
    assert (done.status, done.stdout, done.stderr) == (2, "", f"torchlint: error: {message}\n")
    assert (tmp_path / FILE).read_text() == text


def test_a_file_that_is_no_text_or_missing_or_a_folder_is_2(tmp_path: Path, torchlint: Program) -> None:
    missing = f"{FILE}: no such baseline: make it with --write-baseline"
    assert concise(torchlint).stderr == f"torchlint: error: {missing}\n"
    (tmp_path / FILE).write_bytes(b"\xff")
    assert concise(torchlint).stderr == f"torchlint: error: {FILE}: no baseline: byte 0 is not UTF-8\n"
    os.unlink(tmp_path / FILE)
    (tmp_path / FILE).mkdir()
    done = concise(torchlint, "--write-baseline")
    assert (done.status, done.stderr) == (
        2, f"torchlint: error: {FILE}: is a folder: give the name of a file in it\n"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--write-baseline"], "--write-baseline: say which file, for example --baseline torchlint-baseline.jsonl"),
        (["--baseline", FILE, "--no-baseline"], "--baseline and --no-baseline cannot be used together"),
        (["--baseline", FILE, "--write-baseline", "--diff"], "--write-baseline and --diff cannot be used together"),
        (["--baseline", FILE, "--write-baseline", "--diff-base", "x"],
         "--write-baseline and --diff-base cannot be used together"),
        (["--baseline", FILE, "--write-baseline", "-"], "--write-baseline and standard input cannot be used together"),
        (["--baseline", FILE, "-"], "--baseline needs --stdin-filename to know the findings of standard input"),
    ],
)  # fmt: skip
def test_flags_that_contradict_each_other(arguments: list[str], message: str, torchlint: Program) -> None:
    done = torchlint(*arguments)
    assert (done.status, done.stdout, done.stderr) == (2, "", f"torchlint: error: {message}\n")


# ---------------------------------------------------------------------- merging
def test_two_branches_that_each_add_a_finding_merge_or_conflict_in_few_lines(old: Path, torchlint: Program) -> None:
    def git(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", *arguments]
        return subprocess.run(command, cwd=old, capture_output=True, text=True, check=False)

    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-qm", "old")
    for branch, name in (("one", "src/a.py"), ("two", "src/z.py")):
        git("switch", "-q", "-c", branch, "main")
        (old / name).write_text("import torch\ntorch.ones(1, requires_grad=True).numpy()\n")
        concise(torchlint, "--write-baseline")
        git("add", "-A")
        git("commit", "-qm", branch)
    done = git("merge", "-q", "one")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [each["path"] for each in entries(old)] == ["src/a.py", *["src/net.py"] * 3, "src/z.py"]
    assert concise(torchlint).stdout == "All checks passed! 5 known.\n"


def test_both_sides_of_a_conflict_may_be_kept(old: Path, torchlint: Program) -> None:
    header, *lines = (old / FILE).read_text().splitlines()
    (old / FILE).write_text("\n".join([header, *reversed(lines), *lines, header, ""]))
    assert concise(torchlint).stdout == "All checks passed! 3 known.\n"
    concise(torchlint, "--write-baseline")
    assert concise(torchlint, "--write-baseline").stderr == f"{FILE} holds 3 known findings: 0 added, 0 gone.\n"


def test_a_baseline_that_the_configuration_names_holds_back_what_was_there(tmp_path: Path, torchlint: Program) -> None:
    (tmp_path / "net.py").write_text(OLD)
    assert torchlint(".").status == 1
    assert torchlint("--baseline", "torchlint-baseline.jsonl", "--write-baseline", ".").status == 0
    (tmp_path / "pyproject.toml").write_text('[tool.torchlint]\nbaseline = "torchlint-baseline.jsonl"\n')
    assert torchlint(".").stdout == "All checks passed! 3 known.\n"
    (tmp_path / "new.py").write_text("import torch\ntorch.ones(1, requires_grad=True).numpy()\n")
    assert torchlint(".").status == 1
