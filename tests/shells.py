"""Running what a page prints for a shell, in a folder of its own, and comparing it with what the page shows."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.blocks import ROOT, Block

_KEPT_OUT = ("NO_COLOR", "FORCE_COLOR", "PRE_COMMIT", "PYTHON", "GIT_", "PIP_", "TOX_", "NOX_", "GITHUB_", "COLUMNS")


@dataclass(frozen=True)
class Said:
    """What a command did: both streams together, as a terminal shows them."""

    status: int
    text: str


class Shell:
    """Bash in a folder, with ``torchlint`` and ``python`` of this tree on its path."""

    def __init__(self, folder: Path, tree: Path = ROOT, **environment: str) -> None:
        self.folder, programs = folder, folder.parent / f"{folder.name} programs"
        self.folder.mkdir(parents=True, exist_ok=True)
        programs.mkdir(exist_ok=True)
        for name, words in (("torchlint", [sys.executable, "-m", "torchlint"]), ("python", [sys.executable])):
            (programs / name).write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
            (programs / name).chmod(0o755)
        kept = {key: value for key, value in os.environ.items() if not key.startswith(_KEPT_OUT)}
        path = [str(programs), str(Path(sys.executable).parent), os.environ["PATH"]]
        self.environment = {
            **kept,
            "PATH": os.pathsep.join(path),
            "PYTHONPATH": str(tree),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": str(programs),
            "GIT_CONFIG_NOSYSTEM": "1",
            **environment,
        }

    def run(self, command: str, seconds: float = 300) -> Said:
        """Run one command line as bash does, unset variables and failing pipes counted as errors."""
        done = subprocess.run(
            ["bash", "-uo", "pipefail", "-c", command],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=seconds,
        )
        return Said(done.returncode, done.stdout)

    def write(self, block: Block) -> list[Path]:
        """Write a block into the files that its mark names."""
        written = [self.folder / name for name in block.marked("file").split(" and ") if name]
        for path in written:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        return written

    def git(self, *words: str) -> None:
        """Run git with a name and an address to commit by."""
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
        done = self.run(shlex.join(["git", *identity, *words]))
        assert done.status == 0, done.text

    def replay(self, block: Block) -> list[Said]:
        """Run the commands of a block, each behind its ``$``, and hold what they print to what is shown.

        A line of three dots stands for any lines.
        """
        said = []
        for command, shown in prompts(block):
            done = self.run(command)
            assert matches(shown, done.text), f"{block}: $ {command}\n{done.text}"
            said.append(done)
        return said


def prompts(block: Block) -> Iterator[tuple[str, str]]:
    """Yield each command of a block with the lines shown below it."""
    parts = re.split(r"^\$ (.*)\n", block.text, flags=re.MULTILINE)
    assert parts[0] == "", f"{block}: output before the first command"
    yield from zip(parts[1::2], parts[2::2], strict=True)


def matches(shown: str, printed: str) -> bool:
    """Whether a text is the one that is shown, where a line of three dots stands for any lines."""
    pattern = "".join("(?:.*\n)*?" if line == "...\n" else re.escape(line) for line in shown.splitlines(keepends=True))
    return re.fullmatch(pattern, printed) is not None


def commands(block: Block) -> list[str]:
    """Return the command lines of a block without prompts, comments at their end left out."""
    lines = [re.sub(r"\s+# .*$", "", line) for line in block.text.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]
