"""What GitHub's runner does with the action: its scripts are taken out of ``action.yml`` and run by bash, offline."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.installing import ROOT, once

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = ACTION["runs"]["steps"]
BASH = shutil.which("bash")


@dataclass(frozen=True)
class Run:
    """What a run of the action left behind."""

    status: int
    log: str
    outputs: dict[str, str]
    uploaded: dict[str, str] | None
    """What was handed to the step that uploads; None where it was passed over."""


class Runner:
    """A runner with one checked-out repository: what GitHub's runner does with a composite action."""

    def __init__(self, folder: Path, shared: Path, offline: dict[str, str], built: Path) -> None:
        self.workspace, self.temporary = folder / "work space", folder / "temp orary"
        self.workspace.mkdir()
        self.temporary.mkdir()
        self.shared, self.built, self.offline, self.action = shared, built, offline, ROOT

    def write(self, **files: str) -> None:
        for name, text in files.items():
            path = self.workspace / name.replace("__", "/").replace("_py", ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def run(self, **inputs: str) -> Run:
        given = {name: str(each.get("default", "")) for name, each in ACTION["inputs"].items()}
        given |= {"version": str(self.built)} | {name.replace("_", "-"): value for name, value in inputs.items()}
        known, log, status, uploaded = {"inputs": given, "steps": {}}, "", 0, None
        for step in STEPS:
            if not _wanted(step, known):
                continue
            if "uses" in step:
                uploaded = {key: _filled(value, known) for key, value in step["with"].items()}
                continue
            if step.get("id") == "install" and given["version"] == str(self.built):
                known["steps"]["install"] = {"outputs": self._installed(step, known)}
                continue
            done, outputs = self.step(step, known, self.temporary)
            known["steps"][step.get("id", "")] = {"outputs": outputs}
            log += done.stdout + done.stderr
            status = done.returncode
            if status:
                break
        values = {name: _filled(each["value"], known) for name, each in ACTION["outputs"].items()}
        return Run(status, log, values, uploaded)

    def _installed(self, step: dict[str, Any], known: dict[str, Any]) -> dict[str, str]:
        """Install this tree's wheel once in a session; return what the step said then."""

        def install(folder: Path) -> None:
            done, outputs = self.step(step, known, folder)
            assert done.returncode == 0, done.stdout + done.stderr
            (folder / "outputs.json").write_text(json.dumps(outputs), encoding="utf-8")

        folder = once(self.shared / "temp orary", install)
        outputs: dict[str, str] = json.loads((folder / "outputs.json").read_text(encoding="utf-8"))
        return outputs

    def step(self, step: dict[str, Any], known: dict[str, Any], temporary: Path) -> tuple[Any, dict[str, str]]:
        assert step["shell"] == "bash"
        script, outputs = temporary / "script.sh", temporary / "outputs"
        script.write_text(step["run"], encoding="utf-8")
        outputs.write_text("", encoding="utf-8")
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PIP_", "GITHUB_"))}
        done = subprocess.run(
            [str(BASH), "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.workspace / _filled(step.get("working-directory", "."), known),
            env={
                **kept,
                **self.offline,
                "PATH": f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}",
                "GITHUB_OUTPUT": str(outputs),
                "GITHUB_WORKSPACE": str(self.workspace),
                "GITHUB_ACTION_PATH": str(self.action),
                "RUNNER_TEMP": str(temporary),
                **{key: _filled(value, known) for key, value in step.get("env", {}).items()},
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        written = [line.partition("=") for line in outputs.read_text(encoding="utf-8").splitlines()]
        return done, {key: value for key, _, value in written}


def _filled(text: str, known: dict[str, Any]) -> str:
    """Evaluate the expressions of the two forms that the action uses."""

    def value(found: re.Match[str]) -> str:
        match found[1].split("."):
            case ["inputs", name]:
                return str(known["inputs"][name])
            case ["steps", step, "outputs", name]:
                return str(known["steps"].get(step, {}).get("outputs", {}).get(name, ""))
        raise AssertionError(found[0])

    return re.sub(r"\$\{\{ ([a-z.-]+) \}\}", value, text)


def _wanted(step: dict[str, Any], known: dict[str, Any]) -> bool:
    if "if" not in step:
        return True
    found = re.fullmatch(r"\$\{\{ ([a-z.-]+) != '' \}\}", step["if"])
    assert found, step["if"]
    return _filled(f"${{{{ {found[1]} }}}}", known) != ""
