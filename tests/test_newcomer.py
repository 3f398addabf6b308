"""The way "From nothing to a green gate", followed command by command in an old repository.

pip, git, pre-commit and its hook, and the GitHub Action's scripts are real. The project's own address on GitHub
leads to a clone of this tree, and packages come from those that are installed here, so no network is asked.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.action import Runner
from tests.blocks import ROOT, Block, of
from tests.installing import TAG
from tests.shells import Shell, commands

pytest.importorskip("pre_commit", reason="pre-commit is not installed")

PAGE = [each for each in of("docs/first-gate.md") if each.mark.partition(":")[0] in ("step", "append", "write")]
CLEAN = "import torch\n\n\ndef zeros(size):\n    return torch.zeros(size)\n"
BAD = f"{CLEAN}\n\ndef shown():\n    w = torch.ones(3, requires_grad=True)\n    return w.numpy()\n"


@pytest.fixture
def shell(tmp_path: Path, hooks: dict[str, str]) -> Shell:
    """A newcomer's terminal, in an environment of its own, at the top of an old repository."""
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True, timeout=120)
    shell = Shell(
        tmp_path / "old",
        PATH=f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}",
        PYTHONPATH="",
        **{f"GIT_{who}_{what}": "t@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        **hooks,
    )
    shutil.copytree(ROOT / "examples" / "legacy_training", shell.folder / "training")
    (shell.folder / "pyproject.toml").write_text('[project]\nname = "old"\nversion = "1"\n')
    shell.git("init", "-qb", "main")
    shell.git("add", "-A")
    shell.git("commit", "-qm", "six years of work")
    return shell


def follow(shell: Shell, block: Block) -> str:
    """Do what a block says, every command to success; give what was printed."""
    where, _, name = block.mark.partition(": ")
    if where == "step":
        said = ""
        for line in commands(block):
            done = shell.run(line)
            assert done.status == 0, f"{block}: {line}\n{done.text}"
            said += done.text
        return said
    path = shell.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    before = f"{path.read_text()}\n" if where == "append" else ""
    path.write_text(before + block.text)
    return ""


def test_the_way_has_six_steps_and_writes_three_files() -> None:
    assert [each.mark for each in PAGE] == [
        "step: 1",
        "step: 2",
        "step: 3",
        "append: pyproject.toml",
        "write: .pre-commit-config.yaml",
        "write: .github/workflows/torchlint.yml",
        "step: 6",
    ]
    assert set(re.findall(r"rev: (\S+)", "".join(each.text for each in PAGE))) == {TAG}


def test_a_newcomer_gets_from_nothing_to_a_green_gate_and_a_new_fault_turns_it_red(
    shell: Shell, runner: Runner
) -> None:
    first, *rest, last = (follow(shell, each) for each in PAGE)
    assert "Where to begin" in first
    assert "Found 3 hazards (2 fixable), 14 legacy (8 fixable): fix with --fix" in first
    known = (shell.folder / "torchlint-baseline.jsonl").read_text().splitlines()[1:]
    assert 0 < len(known) < 17
    assert re.search(r"^torchlint\.+Passed$", last, re.MULTILINE), last
    assert shell.run("git status --porcelain").text == ""
    assert rest

    assert job(shell, runner) == (0, [])

    (shell.folder / "training" / "show.py").write_text(BAD)
    done = shell.run("git add -A && git commit -m 'show it'")
    assert done.status == 1, done.text
    assert "training/show.py:10:14 numpy-on-grad-tensor (error, certain)" in done.text
    assert shell.run("git log --oneline | wc -l").text.strip() == "2"
    assert shell.run("torchlint .").status == 1
    status, annotated = job(shell, runner)
    assert (status, len(annotated)) == (1, 1)
    assert "file=training/show.py,line=10" in annotated[0]

    (shell.folder / "training" / "show.py").write_text(BAD.replace("w.numpy()", "w.detach().numpy()"))
    done = shell.run("git add -A && git commit -m 'show it'")
    assert done.status == 0, done.text
    assert job(shell, runner) == (0, [])


def job(shell: Shell, action: Runner) -> tuple[int, list[str]]:
    """Run the steps of the workflow that was written, on a checkout of the repository; give status and annotations."""
    workflow = yaml.safe_load((shell.folder / ".github" / "workflows" / "torchlint.yml").read_text())
    checkout, check = workflow["jobs"]["torchlint"]["steps"]
    assert checkout["uses"].startswith("actions/checkout@")
    assert re.fullmatch(r"torchlint/torchlint@v\d+\.\d+\.\d+", check["uses"])
    shutil.rmtree(action.workspace)
    shutil.copytree(shell.folder, action.workspace)
    done = action.run(**check.get("with", {}))
    return done.status, [line for line in done.log.splitlines() if line.startswith("::")]
