"""How the program ends: at once, with all that it said written, unless somebody waits for the interpreter's own end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

MANY = 3_000


Done = subprocess.CompletedProcess[str]


def ended(tmp_path: Path, before: str, *arguments: str, flags: tuple[str, ...] = ()) -> Done:
    """Run the program in a process in which something is to happen at the interpreter's end."""
    code = (
        "import atexit, os, sys\n"
        "from torchlint.__main__ import run\n"
        "atexit.register(os.write, 2, b'the interpreter ended')\n"
        f"{before}\n"
        f"sys.argv[1:] = {list(arguments)!r}\n"
        "run()\n"
    )
    command = [sys.executable, *flags, "-c", code]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


def test_all_that_is_said_is_written_before_the_process_ends(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\n" + "torch.zeros(1).data\n" * MANY)
    done = ended(tmp_path, "", "a.py", "none.py", "--output-format", "concise", "--no-cache")
    assert done.returncode == 2
    assert [line.split(" ", 1)[0] for line in done.stdout.splitlines()[:MANY]] == [
        f"a.py:{row}:16:" for row in range(2, MANY + 2)
    ]
    assert done.stderr == "torchlint: error: none.py: no such file or folder\n"


@pytest.mark.parametrize(("text", "status"), [("x = 1\n", 0), ("import torch\ntorch.zeros(1).data\n", 1)])
def test_its_status_is_that_of_the_run(tmp_path: Path, text: str, status: int) -> None:
    (tmp_path / "a.py").write_text(text)
    done = ended(tmp_path, "", "a.py", "--no-cache")
    assert (done.returncode, done.stderr) == (status, "")


@pytest.mark.parametrize(
    ("watch", "flags"),
    [
        ("sys.settrace(lambda *_: None)", ()),
        ("sys.setprofile(lambda *_: None)", ()),
        pytest.param(
            "sys.monitoring.use_tool_id(sys.monitoring.COVERAGE_ID, 'coverage')",
            (),
            marks=pytest.mark.skipif(sys.version_info < (3, 12), reason="Python 3.12 brought it"),
        ),
        ("", ("-i",)),
    ],
)
def test_who_watches_the_run_sees_the_interpreter_end(tmp_path: Path, watch: str, flags: tuple[str, ...]) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    done = ended(tmp_path, watch, "a.py", "--no-cache", flags=flags)
    assert done.stdout == "All checks passed!\n"
    assert done.stderr.endswith("the interpreter ended")


def test_a_closed_stream_keeps_no_status_back(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    assert ended(tmp_path, "sys.stderr = None", "a.py", "-q", "--no-cache").returncode == 0
    assert ended(tmp_path, "os.close(2)", "none.py", "--no-cache").returncode == 2
