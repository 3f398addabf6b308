"""One project, many ways to ask: a folder, one file, standard input, flake8, a hook with three files, another folder.

What is known of a file depends on the file and its project alone, so all of them must say the same.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

FILES = {
    "pyproject.toml": '[project]\nname = "p"\nversion = "0"\n',
    "src/kit/__init__.py": "from .agents import Agent\nfrom .tools import *\n",
    "src/kit/tools.py": """\
import torch

__all__ = ["clean", "live"]


def clean(x):
    return x.detach().cpu()


def live(x):
    return x * torch.ones(3, requires_grad=True)
""",
    "src/kit/agents.py": """\
import torch

from . import wrap


class Agent:
    def __init__(self, device="cuda"):
        self.device = torch.device(device)
        self.net = torch.nn.Linear(3, 3)

    def moved(self, x):
        return x.to(self.device)

    @wrap.evaluated
    def act(self, x):
        return self.net(x)

    def value(self, x):
        return self.net(x).numpy()
""",
    "src/kit/wrap.py": """\
import torch


def evaluated(function):
    def wrapper(*args, **kwargs):
        with torch.no_grad():
            return function(*args, **kwargs)

    return wrapper
""",
    "src/app/main.py": """\
import torch
from kit import Agent, clean, live

from .own import Own


def use(x):
    w = torch.ones(3, requires_grad=True)
    a = clean(w).numpy()
    b = live(torch.zeros(3)).numpy()
    c = Agent().moved(torch.zeros(3)).numpy()
    d = Agent().act(torch.zeros(3)).numpy()
    e = Own().history.numpy()
    f = Own().value(x)
    return a, b, c, d, e, f, x.numpy()
""",
    "src/app/own.py": """\
import torch
from kit.agents import Agent


class Own(Agent):
    def __init__(self):
        super().__init__()
        self.history = torch.zeros(3)

    def step(self, x):
        self.history = self.net(x)
        return self.history.numpy()
""",
    "src/app/plain.py": "import torch\n\n\ndef f(x: torch.Tensor):\n    return x.numpy()\n",
}
EXPECTED = {
    "agents.py": [("TNS101", 19)],
    "main.py": [("TNS101", 10), ("TNS102", 11), ("TNS101", 13), ("TNS103", 15)],
    "own.py": [("TNS101", 12)],
    "plain.py": [("TNS103", 5)],
}


def written(folder: Path) -> Path:
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


Found = dict[str, list[tuple[object, ...]]]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("same") / "project")


@pytest.fixture(scope="module")
def whole(project: Path) -> Found:
    """What a run over the folder says."""
    return torchlint(project, ".")


def run(folder: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        input=stdin,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
        timeout=300,
    )
    assert done.returncode in (0, 1), done.stderr.decode()
    assert not done.stderr, done.stderr.decode()
    return done.stdout


def torchlint(folder: Path, *arguments: str, stdin: bytes = b"") -> Found:
    """Return all that is said of each file, whatever its path is called by."""
    rows = json.loads(run(folder, "-m", "torchlint", "--output-format", "json", *arguments, stdin=stdin))
    found: Found = {}
    for row in rows:
        place = (row["location"]["row"], row["location"]["column"])
        why = tuple(re.sub(r"\S*[/\\]", "", step) for step in row["why"])
        fix = json.dumps(row["fix"])
        said = (row["code"], *place, row["message"], row["confidence"], why, fix)
        found.setdefault(Path(row["filename"]).name, []).append(said)
    return found


def short(found: Found) -> dict[str, list[tuple[object, ...]]]:
    return {name: [(said[0], said[1]) for said in rows] for name, rows in found.items()}


def test_what_a_folder_run_finds(whole: Found) -> None:
    assert short(whole) == EXPECTED


def test_the_steps_from_other_files_are_named(whole: Found) -> None:
    found = {(name, said[1]): " ".join(map(str, said[5])) for name, rows in whole.items() for said in rows}
    assert "tools.py line 11" in found["main.py", 10]
    assert "agents.py line 8" in found["main.py", 11] or "agents.py line 7" in found["main.py", 11]
    assert "own.py line 11" in found["main.py", 13]


def test_one_file_alone_gives_the_same(project: Path, whole: Found) -> None:
    for name in FILES:
        if Path(name).name in {*EXPECTED, "tools.py"}:
            assert torchlint(project, name).get(Path(name).name, []) == whole.get(Path(name).name, []), name


def test_standard_input_gives_the_same(project: Path, whole: Found) -> None:
    for name, text in FILES.items():
        if Path(name).name in {*EXPECTED, "tools.py"}:
            alone = torchlint(project, "--stdin-filename", name, "-", stdin=text.encode())
            assert alone.get(Path(name).name, []) == whole.get(Path(name).name, []), name


def test_standard_input_that_is_not_saved_yet_is_what_counts(project: Path) -> None:
    text = FILES["src/app/own.py"].replace("self.net(x)", "self.net(x).detach().cpu()")
    assert torchlint(project, "--stdin-filename", "src/app/own.py", "-", stdin=text.encode()) == {}


def test_a_hook_that_passes_three_files_gives_the_same(project: Path, whole: Found) -> None:
    names = ["src/app/own.py", "src/kit/agents.py", "src/app/main.py"]
    expected = {name: rows for name, rows in whole.items() if name != "plain.py"}
    assert torchlint(project, *names) == expected
    assert torchlint(project, *reversed(names)) == expected
    assert torchlint(project, "--force-exclude", *names) == expected


def test_several_processes_give_the_same(project: Path, whole: Found) -> None:
    assert torchlint(project, "--jobs", "2") == torchlint(project, "--jobs", "1") == whole


def test_another_current_folder_gives_the_same(project: Path, whole: Found) -> None:
    assert torchlint(project.parent, "project") == whole
    assert torchlint(project / "src" / "app", "../..") == whole
    assert torchlint(project / "src" / "kit", str(project)) == whole
    assert torchlint(project / "src" / "app") == {name: whole[name] for name in ("main.py", "own.py", "plain.py")}
    assert torchlint(project.parent, "project/src/app/main.py") == {"main.py": whole["main.py"]}


def test_flake8_gives_the_same_places(project: Path, whole: Found) -> None:
    pytest.importorskip("flake8", reason="flake8 is not installed")
    plugins = f"[flake8:local-plugins]\nextension =\n  TNS = torchlint.flake8_plugin:Plugin\npaths = {ROOT}\n"
    (project / ".flake8").write_text("[flake8]\nselect = TNS\n" + ("" if _installed() else plugins))
    expected = {(name, said[1], said[2], said[0]) for name, rows in whole.items() for said in rows}
    assert _flake8(project, ".") == expected
    alone = {place for place in expected if place[0] == "main.py"}
    assert _flake8(project, "src/app/main.py") == alone
    text = FILES["src/app/main.py"].encode()
    assert _flake8(project, "--stdin-display-name", "src/app/main.py", "-", stdin=text) == alone


def _flake8(folder: Path, *arguments: str, stdin: bytes = b"") -> set[tuple[str, int, int, str]]:
    out = run(folder, "-m", "flake8", "--jobs", "1", *arguments, stdin=stdin).decode()
    rows = [re.match(r"(.*):(\d+):(\d+): (\w+)", line) for line in out.splitlines()]
    return {(Path(row[1]).name, int(row[2]), int(row[3]), row[4]) for row in rows if row is not None}


def _installed() -> bool:
    from importlib.metadata import entry_points

    return any(each.name == "TNS" for each in entry_points(group="flake8.extension"))


def test_a_change_in_another_file_changes_the_result(tmp_path: Path) -> None:
    project = written(tmp_path)
    before = torchlint(project, "src/app/main.py")["main.py"]
    tools = project / "src" / "kit" / "tools.py"
    tools.write_text(tools.read_text().replace("requires_grad=True", "dtype=torch.float64"))
    after = torchlint(project, "src/app/main.py")["main.py"]
    assert [said[:2] for said in before] != [said[:2] for said in after]
    assert ("TNS101", 10) not in [said[:2] for said in after]
