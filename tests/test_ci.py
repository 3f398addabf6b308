"""The recipes of ``docs/ci.md``, run for real: tox, nox, the scripts of GitLab's and GitHub's jobs, the exit status."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from tests.action import ACTION, Runner
from tests.blocks import ROOT, Block, of
from tests.documents import read
from tests.installing import ADDRESS
from tests.nightly import in_turn
from tests.shells import Shell, commands

PAGE = of("docs/ci.md")
BAD = "import torch\n\nw = torch.ones(3, requires_grad=True)\nprint(w.numpy())\n"
GOOD = BAD.replace("w.numpy()", "w.detach().numpy()")
WORKFLOWS = [each for each in PAGE if each.marked("workflow")]


def fileof(name: str) -> Block:
    (found,) = (each for each in PAGE if each.marked("file") == name)
    return found


# ---------------------------------------------------------------------- tox and nox
@pytest.mark.parametrize(
    ("tool", "file"), in_turn([("tox", "tox.ini"), ("nox", "noxfile.py")], 2, "sessions of tox and nox")
)
def test_the_session_reports_and_passes(tool: str, file: str, tmp_path: Path, hooks: dict[str, str]) -> None:
    if find_spec(tool) is None:
        pytest.skip(f"{tool} is not installed")
    shell = Shell(tmp_path / "project", NO_COLOR="1", **hooks)
    shell.git("config", "--global", hooks["GIT_CONFIG_KEY_0"], ADDRESS)  # tox hands on HOME, and no variable of git's
    shell.write(fileof(file))
    (shell.folder / "a.py").write_text(BAD)
    (command,) = (line for each in PAGE for line in commands(each) if line.startswith(f"{tool} "))
    line = f"python -m {command}"
    done = shell.run(line)
    assert done.status == 1, done.text
    assert "a.py:4:9 numpy-on-grad-tensor (error, certain)" in done.text
    (shell.folder / "a.py").write_text(GOOD)
    again = shell.run(line)
    assert again.status == 0, again.text
    (shell.folder / "a.py").write_text(BAD)
    others = shell.run(f"{line} -- --select TNS2 .")
    assert others.status == 0, others.text


# ---------------------------------------------------------------------- GitLab
def test_the_job_for_gitlab_leaves_its_report_and_fails(tmp_path: Path) -> None:
    (block,) = (each for each in PAGE if each.marked("pipeline"))
    ((_, job),) = yaml.safe_load(block.text).items()
    install, check = job["script"]
    assert install == f"pip install {ADDRESS}/archive/refs/heads/main.zip"  # the image has no git
    report = job["artifacts"]["reports"]["codequality"]
    assert job["artifacts"]["when"] == "always"
    shell = Shell(tmp_path / "project")
    (shell.folder / "a.py").write_text(BAD)
    assert shell.run(check).status == 1
    (issue,) = read("gitlab", (shell.folder / report).read_bytes())
    assert (issue["check_name"], issue["location"]["path"], issue["location"]["lines"]["begin"]) == (
        "TNS101",
        "a.py",
        4,
    )
    (shell.folder / "a.py").write_text(GOOD)
    assert shell.run(check).status == 0
    assert read("gitlab", (shell.folder / report).read_bytes()) == []


# ---------------------------------------------------------------------- GitHub
@pytest.mark.parametrize("block", WORKFLOWS, ids=str)
def test_a_workflow_uses_what_there_is(block: Block) -> None:
    (job,) = yaml.safe_load(block.text)["jobs"].values()
    for step in job["steps"]:
        if step.get("uses", "").startswith("torchlint/"):
            assert set(step.get("with", {})) <= set(ACTION["inputs"])
    assert set(re.findall(r"steps\.torchlint\.outputs\.([a-z-]+)", block.text)) <= set(ACTION["outputs"])
    sarif = any(str(step.get("with", {}).get("sarif")).lower() == "true" for step in job["steps"])
    rights = yaml.safe_load(block.text)["permissions"]
    assert rights == {"contents": "read", **({"security-events": "write"} if sarif else {})}


@pytest.mark.parametrize("block", [each for each in WORKFLOWS if "uses: torchlint/" in each.text], ids=str)
def test_the_action_runs_as_a_workflow_asks(block: Block, tmp_path: Path, runner: Runner) -> None:
    (job,) = yaml.safe_load(block.text)["jobs"].values()
    (step,) = (each for each in job["steps"] if each.get("uses", "").startswith("torchlint/"))
    shell = Shell(runner.workspace)
    (shell.folder / "src").mkdir()
    (shell.folder / "src" / "old.py").write_text(BAD)
    shell.git("init", "-qb", "main")
    shell.git("add", "-A")
    shell.git("commit", "-qm", "old")
    shell.git("update-ref", "refs/remotes/origin/main", "HEAD")
    (shell.folder / "src" / "new.py").write_text(BAD)
    done = runner.run(**{key: _text(value) for key, value in step.get("with", {}).items()})
    assert (done.status, done.outputs["exit-status"]) == (1, "1"), done.log
    changed = "--diff-base" in str(step)
    assert re.findall("file=([^,]*)", done.log) == ["src/new.py", *([] if changed else ["src/old.py"])]
    assert (done.uploaded is not None) == ("sarif" in str(step))


def _text(value: object) -> str:
    """Return a value as GitHub hands it to an action."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def test_the_job_without_the_action_annotates(tmp_path: Path) -> None:
    (block,) = (each for each in WORKFLOWS if "uses: torchlint/" not in each.text)
    (job,) = yaml.safe_load(block.text)["jobs"].values()
    install, check = (step["run"] for step in job["steps"] if "run" in step)
    assert install == f"pip install git+{ADDRESS}"
    shell = Shell(tmp_path / "project")
    (shell.folder / "a.py").write_text(BAD)
    done = shell.run(check)
    assert done.status == 1
    assert done.text.startswith("::error title=torchlint (TNS101),file=a.py,line=4,")
    assert len(done.text.splitlines()) == 1


# ---------------------------------------------------------------------- exit status
def test_the_exit_status_is_what_the_table_says(tmp_path: Path) -> None:
    shell = Shell(tmp_path / "project")
    bad, good = shell.folder / "bad.py", shell.folder / "good.py"
    bad.write_text(BAD)
    good.write_text(GOOD)
    expected = {
        "good.py": 0,
        "bad.py": 1,
        "--diff bad.py": 1,
        "--diff good.py": 0,
        "--exit-zero bad.py": 0,
        "--exit-zero --statistics .": 0,
        "--exit-zero missing.py": 2,
        "--exit-zero --select TNS999 bad.py": 2,
        "--no-such-flag": 2,
        "--config missing.toml bad.py": 2,
        "--fix --exit-non-zero-on-fix bad.py": 1,
        "bad.py good.py": 0,  # it was fixed by the one before
    }
    assert {each: shell.run(f"torchlint {each}").status for each in expected} == expected
    page = (ROOT / "docs" / "usage.md").read_text(encoding="utf-8")
    assert [int(found) for found in re.findall(r"^\| (\d) \|", page, re.MULTILINE)] == [0, 1, 2]
