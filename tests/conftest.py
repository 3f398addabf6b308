"""How tests run the program, what marks they bear, and what a run says at its end.

A test is marked by what it needs, read off the code that it reaches (:mod:`tests.needs`): its own function, the
fixtures that it asks for, and every name of its module or of a module of tests beside it that these use. It is marked

- ``process`` where that leads to ``subprocess`` or ``multiprocessing``: it starts a program, a server or a pool;
- ``torch`` where that leads to ``torch``, or where it or its module skips itself without torch.

Tests that start programs are a twentieth of all and take half of the time: where all tests are run, a third of them
takes its turn, another one with each change of the program. Those that are named, as in
``pytest tests/test_server.py``, are all run. No test needs a package index. What a run leaves to the nightly one
(:mod:`tests.nightly`) is counted at its end.
"""

from __future__ import annotations

import gc
import io
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import installing, nightly
from tests.forked import Forked
from tests.needs import needs

if TYPE_CHECKING:
    from tests import action

ROOT = Path(__file__).parents[1]
HEAVY = f"#{'-' * 8_000}\n"
"""A comment at the end of a file, so that a few files are enough for a pool of processes."""
PATIENCE = 300.0
STAND_IN = Path(__file__).parent / "fixtures" / "stand_in.py"

SHARES = 3
"""Of the tests that start programs one in so many is run at a time, where all tests are run."""
_WHOLE = "TORCHLINT_RUNS_ALL_TESTS"
_LEFT_OUT = ("NO_COLOR", "FORCE_COLOR", "PRE_COMMIT")


@dataclass(frozen=True)
class Ran:
    """What a process left behind."""

    status: int
    raw: bytes
    stderr: str

    @property
    def stdout(self) -> str:
        return self.raw.decode()


Program = Callable[..., Ran]


def _environment(cache: str, given: Mapping[str, str]) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key not in _LEFT_OUT}
    return {
        **kept,
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TORCHLINT_CACHE_DIR": cache,
        **given,
    }


def _runner(folder: Path, *command: str) -> Program:
    def run(*arguments: str, stdin: bytes = b"", **environment: str) -> Ran:
        done = subprocess.run(
            [sys.executable, *command, *arguments],
            cwd=folder,
            input=stdin,
            capture_output=True,
            # Beside the folder, not in it: tests list what is there. The stand-in has other rules of the same version.
            env=_environment(f"{folder}.cache{len(command)}", environment),
            check=False,
            timeout=PATIENCE,
        )
        return Ran(done.returncode, done.stdout, done.stderr.decode())

    return run


@pytest.fixture(scope="session", autouse=True)
def _elsewhere(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tests begin in an empty folder, so that ``a.py`` is of a project of its own and not of this large one."""
    os.chdir(tmp_path_factory.mktemp("elsewhere"))


@pytest.fixture
def torchlint(request: pytest.FixtureRequest) -> Program:
    """The real program in the test's own folder: a call of its ``main``, and in the nightly run a process."""
    wanted: Program = request.getfixturevalue("program" if nightly.RUNS else "in_process")
    return wanted


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """The real program in a process of its own, started in the test's own folder."""
    return _runner(tmp_path, "-m", "torchlint")


@pytest.fixture
def forked(tmp_path: Path, program: Program) -> Program:
    """The real program in a process of its own, forked from one that has imported torch; without that at night."""

    def run(*arguments: str, stdin: bytes = b"", **environment: str) -> Ran:
        process = Forked(tmp_path, arguments, _environment(f"{tmp_path}.cache2", environment))
        out, err = process.communicate(stdin)
        return Ran(process.wait(PATIENCE), out, err.decode())

    return program if nightly.RUNS else run


@pytest.fixture
def stand_in(tmp_path: Path) -> Program:
    """The program with three plain rules in place of the real ones."""
    return _runner(tmp_path, str(STAND_IN))


@pytest.fixture
def in_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Program:
    """The real program in this process, in the test's own folder, with exact streams: ten times as quick."""
    from torchlint.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TORCHLINT_CACHE_DIR", f"{tmp_path}.cache2")
    for name in _LEFT_OUT:
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str, stdin: bytes = b"", **environment: str) -> Ran:
        capfdbinary.readouterr()
        with monkeypatch.context() as during:
            during.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
            for name, value in environment.items():
                during.setenv(name, value)
            status = main(arguments)
        out, err = capfdbinary.readouterr()
        return Ran(status, out, err.decode())

    return run


# ---------------------------------------------------------------------- made once by all processes that run tests
@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The folder for what is made once in a session."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "shared"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def built(shared: Path) -> Path:
    """This tree's wheel."""
    (wheel,) = installing.once(shared / "wheel", installing.wheel).glob("*.whl")
    return wheel


@pytest.fixture(scope="session")
def offline(shared: Path, built: Path) -> dict[str, str]:
    """An environment in which pip finds this tree's wheel and all that it needs, without an index."""
    return installing.without_index(installing.once(shared / "shelf", installing.shelf), built.parent)


@pytest.fixture(scope="session")
def hooks(shared: Path, offline: dict[str, str]) -> dict[str, str]:
    """An environment in which pre-commit finds the published repository, and installs its hooks once."""
    published = installing.once(shared / "published", installing.publish)
    return {**offline, **installing.served_by(published), "PRE_COMMIT_HOME": str(shared / "hooks")}


@pytest.fixture
def runner(tmp_path: Path, shared: Path, offline: dict[str, str], built: Path) -> action.Runner:
    """A runner of GitHub's, with an empty repository checked out."""
    from tests import action

    return action.Runner(tmp_path, shared, offline, built)


# ---------------------------------------------------------------------- what pytest calls
def pytest_configure(config: pytest.Config) -> None:
    """Tell the processes that run tests whether all tests are run, or those that somebody named."""
    if not hasattr(config, "workerinput"):
        is_named = config.args_source is pytest.Config.ArgsSource.ARGS
        os.environ[_WHOLE] = str(int(not (is_named or config.option.keyword or config.option.markexpr)))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test by what it needs; where all are run, a third of those that start programs takes its turn."""
    for item in items:
        if not isinstance(item, pytest.Function):
            continue
        for need in needs(item.path, item.originalname, tuple(item.fixturenames)):
            item.add_marker(need)
            if need == "process" and os.environ[_WHOLE] == "1" and not nightly.is_turn_of(item.nodeid, SHARES):
                item.add_marker(nightly.only(f"tests that start programs: this run is for 1 of {SHARES}"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was left to the nightly run."""
    reports = [each for kind in ("passed", "failed", "skipped") for each in terminalreporter.stats.get(kind, ())]
    left = nightly.counted(reports)
    terminalreporter.write_line(f"left to the nightly run (the digest of torchlint/ is {nightly.tree()[:12]}):")
    for reason, count in sorted(left.items(), key=lambda each: (-each[1], each[0])):
        terminalreporter.write_line(f"{count:6} {reason}")
    if not left:
        terminalreporter.write_line("     - nothing")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Keep the thousands of tests and what they import out of every later search for garbage."""
    del session
    gc.collect()
    gc.freeze()
