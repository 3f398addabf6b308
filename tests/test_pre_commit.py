"""The pre-commit hooks, installed and run by the real pre-commit from a clone of this repository's files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.notebooks import code, notebook

pytest.importorskip("pre_commit", reason="pre-commit is not installed")

ROOT = Path(__file__).parents[1]
SHIPPED = ("torchlint", "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml")
HIT = "import torch\n\n\ndef f():\n    w = torch.ones(3, requires_grad=True)\n    return w.numpy()\n"
UNREACHABLE = ("No matching distribution found", "Could not find a version", "Failed to establish a new connection")


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with what is shipped, as pre-commit clones it."""
    folder = tmp_path_factory.mktemp("hooks")
    for name in SHIPPED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder / name)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "hooks")
    return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit keeps its environments, shared so that each is installed once."""
    return tmp_path_factory.mktemp("home")


def run_hook(hook: str, hooks: Path, home: Path, project: Path) -> subprocess.CompletedProcess[str]:
    if not (project / ".git").exists():
        git(project, "init", "-q")
    git(project, "add", "-A")
    done = subprocess.run(
        [sys.executable, "-m", "pre_commit", "try-repo", str(hooks), hook, "--all-files", "--color", "never"],
        cwd=project,
        capture_output=True,
        text=True,
        env={**os.environ, "PRE_COMMIT_HOME": str(home)},
        check=False,
        timeout=600,
    )
    if any(sign in done.stdout + done.stderr for sign in UNREACHABLE):
        pytest.skip("no package index can be reached, so pre-commit cannot install the hook")
    return done


@pytest.mark.slow
def test_the_hook_reports_and_the_fixing_hook_repairs(hooks: Path, home: Path, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(HIT)
    (tmp_path / "b.txt").write_text("w.numpy()\n")
    before = notebook(code("import torch\nw = torch.ones(3, requires_grad=True)"), code("%time w.numpy()"))
    (tmp_path / "n.ipynb").write_bytes(before)
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "c.py").write_text(HIT)

    done = run_hook("torchlint", hooks, home, tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "- hook id: torchlint\n- exit code: 1\n" in done.stdout
    assert "a.py:6:14 numpy-on-grad-tensor (certain)" in done.stdout
    assert "n.ipynb:cell 2:1:9 numpy-on-grad-tensor (certain)" in done.stdout
    assert "c.py" not in done.stdout

    done = run_hook("torchlint-fix", hooks, home, tmp_path)
    assert done.returncode == 1
    assert "- files were modified by this hook" in done.stdout
    assert (tmp_path / "a.py").read_text() == HIT.replace("w.numpy()", "w.detach().numpy()")
    assert (tmp_path / "n.ipynb").read_bytes() == before.replace(b"w.numpy()", b"w.detach().numpy()")
    assert (tmp_path / "build" / "c.py").read_text() == HIT

    for hook in ("torchlint", "torchlint-fix"):
        assert run_hook(hook, hooks, home, tmp_path).returncode == 0
