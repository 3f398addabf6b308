"""`--diff-base` through the real program and real git: only findings on lines changed since a revision."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Program = Callable[..., Any]
Git = Callable[..., str]
HEAD = "import torch\n\nw = torch.ones(3, requires_grad=True)\n"
HIT = "a = w.numpy()\n"


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """The real git in the test's own folder, which is made a repository."""

    def run(*arguments: str, cwd: Path = tmp_path) -> str:
        own = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        own += ["-c", "protocol.file.allow=always"]
        done = subprocess.run(["git", *own, *arguments], cwd=cwd, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("init", "-q", "-b", "main")
    return run


def commit(git: Git) -> None:
    git("add", "-A")
    git("commit", "-q", "--allow-empty", "-m", "x")


def places(done: Any) -> list[str]:
    assert done.stderr == ""
    return [" ".join(line.split(" TNS")[:1]).removesuffix(":") for line in done.stdout.splitlines()[:-1]]


def since(program: Program, revision: str, *arguments: str) -> list[str]:
    return places(program("--isolated", "--output-format", "concise", "--diff-base", revision, *arguments))


def test_only_changed_lines_count(tmp_path: Path, git: Git, torchlint: Program) -> None:
    file = tmp_path / "a.py"
    file.write_text(HEAD + HIT + "x = 1\n" + HIT)
    (tmp_path / "old.py").write_text(HEAD + HIT)
    commit(git)
    assert since(torchlint, "HEAD") == []
    file.write_text(HEAD + HIT + "x = 2\n" + HIT + "b = w.numpy()\n")
    assert since(torchlint, "HEAD") == ["a.py:7:7"]
    git("add", "-A")
    assert since(torchlint, "HEAD") == ["a.py:7:7"]
    commit(git)
    assert since(torchlint, "HEAD") == []
    assert since(torchlint, "HEAD~1") == ["a.py:7:7"]
    done = torchlint("--isolated", "--diff-base", "HEAD~1")
    assert done.status == 1
    done = torchlint("--isolated", "--diff-base", "HEAD")
    assert (done.status, done.stdout, done.stderr) == (0, "All checks passed!\n", "")


def test_files_that_did_not_change_are_not_read(tmp_path: Path, git: Git) -> None:
    for name in ("old.py", "new.py"):
        (tmp_path / name).write_text(HEAD)
    commit(git)
    (tmp_path / "new.py").write_text("import torch\n\nx = torch.relu(2)\n")  # a fix would ask what the others say
    code = (
        "import sys\nopened = set()\n"
        "sys.addaudithook(lambda event, args: event == 'open' and opened.add(str(args[0])))\n"
        "from torchlint.cli import main\nmain(['--isolated', '--diff-base', 'HEAD', '--jobs', '1', '--no-cache'])\n"
        "print(sorted(each for each in opened if each.endswith(('/old.py', '/new.py'))))\n"
    )
    root = str(Path(__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env={**os.environ, "PYTHONPATH": root}, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == str([str((tmp_path / "new.py").resolve())])


def test_the_fork_point_counts_as_in_a_pull_request(tmp_path: Path, git: Git, torchlint: Program) -> None:
    (tmp_path / "a.py").write_text(HEAD)
    commit(git)
    git("switch", "-q", "-c", "feature")
    (tmp_path / "a.py").write_text(HEAD + HIT)
    commit(git)
    git("switch", "-q", "main")
    (tmp_path / "b.py").write_text(HEAD + HIT)
    commit(git)
    git("switch", "-q", "feature")
    assert since(torchlint, "main") == ["a.py:4:7"]
    git("merge", "-q", "--no-edit", "main")
    assert since(torchlint, "main") == ["a.py:4:7"]


def test_a_renamed_file_has_only_its_edits_changed(tmp_path: Path, git: Git, torchlint: Program) -> None:
    (tmp_path / "a.py").write_text(HEAD + HIT * 8)
    commit(git)
    git("mv", "a.py", "b.py")
    assert since(torchlint, "HEAD") == []
    (tmp_path / "b.py").write_text(HEAD + "b = w.numpy()\n" + HIT * 8)
    git("add", "-A")
    assert since(torchlint, "HEAD") == ["b.py:4:7"]


def test_new_files_count_as_a_whole_ignored_ones_not_at_all(tmp_path: Path, git: Git, torchlint: Program) -> None:
    (tmp_path / ".gitignore").write_text("ignored.py\n")
    commit(git)
    for name in ("untracked.py", "added.py", "ignored.py", "intended.py"):
        (tmp_path / name).write_text(HEAD + HIT)
    git("add", "added.py")
    git("add", "--intent-to-add", "intended.py")
    expected = ["added.py:4:7", "intended.py:4:7", "untracked.py:4:7"]
    assert since(torchlint, "HEAD") == expected
    assert since(torchlint, "HEAD", "ignored.py", "added.py") == ["added.py:4:7"]


def test_a_line_beside_a_deleted_one_has_not_changed(tmp_path: Path, git: Git, torchlint: Program) -> None:
    file = tmp_path / "a.py"
    file.write_text(HEAD + "x = 1\n" + HIT + "y = 1\n" + HIT)
    commit(git)
    file.write_text(HEAD + HIT + HIT)
    assert since(torchlint, "HEAD") == []
    file.unlink()
    (tmp_path / "b.py").write_text("x = 1\n")
    assert since(torchlint, "HEAD") == []


def test_a_statement_counts_where_any_of_its_lines_changed(tmp_path: Path, git: Git, torchlint: Program) -> None:
    file = tmp_path / "a.py"
    file.write_text(HEAD + "a = torch.add(\n    w,\n    1,\n).numpy()\nif w.numpy():\n    x = 1\n")
    commit(git)
    file.write_text(HEAD + "a = torch.add(\n    w,\n    2,\n).numpy()\nif w.numpy():\n    x = 2\n")
    assert since(torchlint, "HEAD") == ["a.py:7:3"]


def test_a_missing_last_newline_and_lines_like_headers(tmp_path: Path, git: Git, torchlint: Program) -> None:
    file = tmp_path / "a.py"
    file.write_text(HEAD + "'''\n-- a/x\n++ b/y.py\n@@ -1 +1 @@\n'''\nx = 1")
    commit(git)
    text = HEAD + "'''\n++ b/z.py\n@@ -1,9 +1,9 @@\n-- a/x\ndiff --git a/q b/q\n'''\n" + HIT + "y = 1\n" + HIT.rstrip()
    file.write_text(text)
    (tmp_path / "b.py").write_text(HEAD + HIT)
    assert since(torchlint, "HEAD") == ["a.py:10:7", "a.py:12:7", "b.py:4:7"]


@pytest.mark.parametrize("name", ["a b.py", 'quote".py', "tab\t.py", "line\nbreak.py", "back\\slash.py", "é 漢.py",
                                  "b/b.py", " lead.py", "\x01\x7f.py", "-dash.py"])  # fmt: skip
@pytest.mark.parametrize("tracked", [True, False])
def test_odd_paths(name: str, tracked: bool, tmp_path: Path, git: Git, torchlint: Program) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    if tracked:
        file.write_text(HEAD + HIT)
    commit(git)
    file.write_text(HEAD + HIT + HIT)
    done = torchlint("--isolated", "--output-format", "json", "--diff-base", "HEAD")
    rows = [line.split(":")[1].strip(" ,") for line in done.stdout.splitlines() if '"noqa_row"' in line]
    assert rows == (["5"] if tracked else ["4", "5"])


def test_a_name_that_is_no_utf8(tmp_path: Path, git: Git, torchlint: Program) -> None:
    commit(git)
    (tmp_path / os.fsdecode(b"\xff\xfe.py")).write_text(HEAD + HIT)
    git("add", "-A")
    assert torchlint("--isolated", "--diff-base", "HEAD").status == 1


@pytest.mark.parametrize(
    "setting",
    ["diff.noprefix=true", "diff.mnemonicPrefix=true", "diff.interHunkContext=9", "diff.context=9", "color.ui=always",
     "diff.renames=false", "core.quotePath=true", "diff.relative=true", "core.autocrlf=false",
     "diff.external=false", "diff.submodule=log"],
)  # fmt: skip
def test_the_users_settings_of_git_change_nothing(setting: str, tmp_path: Path, git: Git, torchlint: Program) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "é.py").write_text(HEAD + HIT * 3)
    commit(git)
    git("config", *setting.split("="))
    git("mv", "sub/é.py", "sub/ü.py")
    (tmp_path / "sub" / "ü.py").write_text(HEAD + HIT + "b = w.numpy()\n" + HIT * 2)
    done = torchlint("--isolated", "--output-format", "concise", "--diff-base", "HEAD", "sub")
    assert places(done) == ["sub/ü.py:5:7"]


def test_the_environment_of_a_hook_is_no_hindrance(tmp_path: Path, git: Git, torchlint: Program) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.py").write_text(HEAD)
    commit(git)
    (tmp_path / "sub" / "a.py").write_text(HEAD + HIT)
    done = torchlint(
        "--isolated", "--output-format", "concise", "--diff-base", "HEAD", "sub", GIT_DIR=".git", GIT_INDEX_FILE="none",
        GIT_DIFF_OPTS="-u9",
    )  # fmt: skip
    assert places(done) == ["sub/a.py:4:7"]


def test_a_submodule_is_a_repository_of_its_own(tmp_path: Path, git: Git, torchlint: Program) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git("init", "-q", "-b", "main", cwd=other)
    (other / "lib.py").write_text(HEAD)
    git("add", "-A", cwd=other)
    git("commit", "-qm", "x", cwd=other)
    top = tmp_path / "top"
    top.mkdir()
    git("init", "-q", "-b", "main", cwd=top)
    git("submodule", "--quiet", "add", str(other), "lib", cwd=top)
    (top / "a.py").write_text(HEAD)
    git("add", "-A", cwd=top)
    git("commit", "-qm", "x", cwd=top)
    for name in ("a.py", "lib/lib.py"):
        (top / name).write_text(HEAD + HIT)
    assert since(torchlint, "HEAD", "top") == ["top/a.py:4:7"]
    assert since(torchlint, "HEAD", "top/lib") == ["top/lib/lib.py:4:7"]
    assert since(torchlint, "HEAD", "top/lib", "top/a.py") == ["top/a.py:4:7", "top/lib/lib.py:4:7"]


def test_it_works_from_a_folder_below_a_link_and_outside(tmp_path: Path, git: Git, torchlint: Program) -> None:
    commit(git)
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.py").write_text(HEAD + HIT)
    os.symlink(tmp_path / "real", tmp_path / "linked")
    assert since(torchlint, "HEAD", "linked") == ["linked/a.py:4:7"]
    assert since(torchlint, "HEAD", str(tmp_path / "real")) == ["real/a.py:4:7"]


def test_a_file_that_does_not_parse_counts_once_it_is_touched(tmp_path: Path, git: Git, torchlint: Program) -> None:
    (tmp_path / "a.py").write_text("x = 1\ndef f(:\n")
    commit(git)
    assert since(torchlint, "HEAD") == []
    (tmp_path / "a.py").write_text("x = 2\ndef f(:\n")
    assert since(torchlint, "HEAD") == ["a.py:2:7"]


def test_rows_that_end_with_a_bare_return_are_not_gits(tmp_path: Path, git: Git, torchlint: Program) -> None:
    (tmp_path / "a.py").write_bytes((HEAD + HIT).replace("\n", "\r").encode())
    commit(git)
    (tmp_path / "a.py").write_bytes((HEAD + HIT + "x = 1\n").replace("\n", "\r").encode())
    assert since(torchlint, "HEAD") == ["a.py:4:7"]


# ---------------------------------------------------------------------- with other flags
def test_only_changed_lines_are_repaired(tmp_path: Path, git: Git, torchlint: Program) -> None:
    file = tmp_path / "a.py"
    file.write_text(HEAD + HIT + "x = 1\n")
    commit(git)
    text = HEAD + HIT + "x = 1\nb = w.numpy()\nc = torch.Tensor([1, 2]).data.size()\n"
    file.write_text(text)
    done = torchlint("--isolated", "--output-format", "concise", "--diff-base", "HEAD", "--diff")
    assert "-a = w" not in done.stdout
    done = torchlint("--isolated", "--output-format", "concise", "--diff-base", "HEAD", "--fix")
    assert done.status == 0, done.stdout
    head, tail = file.read_text().split("x = 1\n")
    assert head == HEAD + HIT
    assert tail.splitlines()[0] == "b = w.detach().numpy()"
    assert ".data" not in tail
    assert since(torchlint, "HEAD") == []
    assert torchlint("--isolated", "-q").status == 1


def test_a_repair_that_adds_rows_keeps_account_of_them(tmp_path: Path, git: Git, torchlint: Program) -> None:
    old = "import torch\nimport torch.nn as nn\n\n\nclass A(nn.Module):\n    def __init__(self):\n"
    old += "        super().__init__()\n        self.w = nn.Parameter(torch.empty(3))\n"
    file = tmp_path / "a.py"
    file.write_text(old + "\n    def f(self):\n        return self.w.numpy()\n")
    commit(git)
    new = "        self.w.data.mul_(2)\n        self.w.data.clamp_(min=0)\n"
    file.write_text(old + new + "\n    def f(self):\n        return self.w.numpy()\n\n    def g(self):\n"
                    "        return self.w.numpy()\n")  # fmt: skip
    done = torchlint("--isolated", "--output-format", "concise", "--diff-base", "HEAD", "--fix")
    assert file.read_text() == (
        old + "        with torch.no_grad():\n            self.w.mul_(2)\n            self.w.clamp_(min=0)\n"
        "\n    def f(self):\n        return self.w.numpy()\n"
        "\n    def g(self):\n        return self.w.detach().cpu().numpy()\n"
    )
    assert (done.status, done.stdout) == (0, "Fixed 3 findings, nothing is left.\n")


def test_with_a_baseline_both_count(tmp_path: Path, git: Git, torchlint: Program) -> None:
    file = tmp_path / "a.py"
    file.write_text(HEAD + HIT + "x = 1\n")
    torchlint("--isolated", "--baseline", "k.jsonl", "--write-baseline")
    commit(git)
    file.write_text(HEAD + "x = 1\n" + HIT + "b = w.numpy()\n")
    done = torchlint("--isolated", "--output-format", "concise", "--diff-base", "HEAD", "--baseline", "k.jsonl")
    assert places(done) == ["a.py:6:7"]
    assert done.stdout.splitlines()[-1] == "Found 1 hazard (1 fixable): fix with --fix. 1 known."


def test_show_files_lists_what_changed(tmp_path: Path, git: Git, torchlint: Program) -> None:
    (tmp_path / "a.py").write_text(HEAD)
    commit(git)
    (tmp_path / "b.py").write_text(HEAD)
    assert torchlint("--diff-base", "HEAD", "--show-files").stdout == "b.py\n"


# ---------------------------------------------------------------------- what cannot be done
def test_no_repository_no_revision_no_common_commit(tmp_path: Path, torchlint: Program) -> None:
    done = torchlint("--diff-base", "main", GIT_CEILING_DIRECTORIES=str(tmp_path.parent))
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr.startswith(
        f"torchlint: error: --diff-base: `{tmp_path}` is in no git repository that can be read: "
    )


@pytest.mark.parametrize("revision", ["nope", "", "-x", "--help", "HEAD:a.py", "HEAD^{tree}"])
def test_an_unknown_revision_is_2(revision: str, tmp_path: Path, git: Git, torchlint: Program) -> None:
    (tmp_path / "a.py").write_text(HEAD)
    commit(git)
    done = torchlint(f"--diff-base={revision}")
    message = (
        f"--diff-base: unknown revision `{revision}` in {tmp_path}: fetch it first, or name a branch, a tag or a commit"
    )
    assert (done.status, done.stdout, done.stderr) == (2, "", f"torchlint: error: {message}\n")


def test_histories_without_a_common_commit_are_2(tmp_path: Path, git: Git, torchlint: Program) -> None:
    commit(git)
    git("switch", "-q", "--orphan", "other")
    (tmp_path / "a.py").write_text(HEAD)
    commit(git)
    done = torchlint("--diff-base", "main")
    assert done.status == 2
    assert "`main` and HEAD have no common commit" in done.stderr
    assert "`fetch-depth: 0`" in done.stderr


def test_standard_input_and_a_missing_git_are_2(tmp_path: Path, git: Git, torchlint: Program) -> None:
    commit(git)
    done = torchlint("--diff-base", "HEAD", "-")
    assert done.stderr == "torchlint: error: --diff-base and standard input cannot be used together\n"
    done = torchlint("--diff-base", "HEAD", PATH=str(tmp_path))
    assert (done.status, done.stdout) == (2, "")
    assert "git cannot be run: No such file or directory" in done.stderr
