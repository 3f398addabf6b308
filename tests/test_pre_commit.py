"""The pre-commit hooks, installed and run by the real pre-commit from the published repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.installing import ADDRESS, TAG
from tests.notebooks import code, notebook
from tests.shells import Said, Shell

pytest.importorskip("pre_commit", reason="pre-commit is not installed")

HIT = "import torch\n\n\ndef f():\n    w = torch.ones(3, requires_grad=True)\n    return w.numpy()\n"
CONFIG = f"""\
repos:
  - repo: {ADDRESS}
    rev: {TAG}
    hooks: [{{id: torchlint}}, {{id: torchlint-fix}}]
"""


@pytest.fixture
def shell(tmp_path: Path, hooks: dict[str, str]) -> Shell:
    """A terminal at the top of a project that asks for both hooks."""
    shell = Shell(tmp_path / "project", **hooks)
    (shell.folder / ".pre-commit-config.yaml").write_text(CONFIG)
    shell.git("init", "-q")
    return shell


def run_hook(hook: str, shell: Shell) -> Said:
    shell.git("add", "-A")
    return shell.run(f"python -m pre_commit run {hook} --all-files --color never")


def test_the_hook_reports_and_the_fixing_hook_repairs(shell: Shell) -> None:
    project = shell.folder
    (project / "a.py").write_text(HIT)
    (project / "b.txt").write_text("w.numpy()\n")
    before = notebook(code("import torch\nw = torch.ones(3, requires_grad=True)"), code("%time w.numpy()"))
    (project / "n.ipynb").write_bytes(before)
    (project / "build").mkdir()
    (project / "build" / "c.py").write_text(HIT)

    done = run_hook("torchlint", shell)
    assert done.status == 1, done.text
    assert "- hook id: torchlint\n- exit code: 1\n" in done.text
    assert "a.py:6:14 numpy-on-grad-tensor (error, certain)" in done.text
    assert "n.ipynb:cell 2:1:9 numpy-on-grad-tensor (error, certain)" in done.text
    assert "c.py" not in done.text

    done = run_hook("torchlint-fix", shell)
    assert done.status == 1
    assert "- files were modified by this hook" in done.text
    assert (project / "a.py").read_text() == HIT.replace("w.numpy()", "w.detach().numpy()")
    assert (project / "n.ipynb").read_bytes() == before.replace(b"w.numpy()", b"w.detach().numpy()")
    assert (project / "build" / "c.py").read_text() == HIT

    for hook in ("torchlint", "torchlint-fix"):
        assert run_hook(hook, shell).status == 0
