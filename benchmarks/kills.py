"""Kills `torchlint --fix` with signal 9 at random moments, and looks at every file after each.

    python benchmarks/kills.py --into FOLDER --files 1000 --kills 200

Half of the kills fall anywhere in the run, the others while files are being written. After each, every file must hold
its old bytes or its new ones, with its mode and its owner; links must lead where they led, and what they lead to
outside of the tree must be untouched; the other name of a file with two (a hard link) must hold the old bytes. When
nearly all files are repaired, and now and then before, a run is left alone: behind it every file must be new, and no
temporary file may be left. Then the tree is made anew. The exit status is 1 where any of that does not hold.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from torchlint.config import assemble  # noqa: E402
from torchlint.config.options import Options  # noqa: E402
from torchlint.linter.engine import fix_bytes  # noqa: E402
from torchlint.source.files import TEMPORARY  # noqa: E402

_MODES = (0o644, 0o600, 0o755, 0o664, 0o640)
_OTHER = 12345
"""An owner who is not the one that runs; only the superuser can make such files."""


@dataclass(frozen=True)
class File:
    """What one file held, what it will hold, and what it was like."""

    old: bytes
    new: bytes
    mode: int
    owner: tuple[int, int]


def text(number: int) -> bytes:
    """Return a file in which there is something to repair."""
    lines = [f"# {number} {'é' * (number % 7)}", "import torch", "", "w = torch.ones(3, requires_grad=True)"]
    lines += ["print(w.numpy())"] * (1 + number % 3) + ["# padding " + "x" * 50] * (number % 40)
    return ("\r\n" if number % 5 == 0 else "\n").join([*lines, ""]).encode()


class Tree:
    """A tree of files with links in it and out of it."""

    def __init__(self, top: Path, count: int) -> None:
        self.top, self.outside = top / "tree", top / "outside"
        shutil.rmtree(top, ignore_errors=True)
        self.outside.mkdir(parents=True)
        self.tree_files = {self.top / f"p{at % 10}" / f"m{at}.py": self._file(at) for at in range(count)}
        for path, file in self.tree_files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.old)
            path.chmod(file.mode)
            if file.owner[0] == _OTHER:
                os.chown(path, *file.owner)
        (self.outside / "out.py").write_bytes(text(0))
        (self.top / "out.py").symlink_to(self.outside / "out.py")
        (self.top / "in.py").symlink_to("p0/m0.py")
        self.twice = self.top / "p1" / "m1.py"
        os.link(self.twice, self.top / "p1" / "second name")

    @staticmethod
    def _file(at: int) -> File:
        old = text(at)
        owner = (_OTHER, _OTHER) if os.geteuid() == 0 and at % 4 == 0 else (os.geteuid(), os.getegid())
        new = fix_bytes("m.py", old, assemble([Options()])).raw
        assert new != old
        return File(old, new, _MODES[at % len(_MODES)], owner)

    def wrong(self, complete: bool = False) -> Iterator[str]:
        """Say what is not as it must be, after a kill or after a complete run."""
        for path, file in self.tree_files.items():
            status, raw = path.lstat(), path.read_bytes()
            if raw not in ((file.new,) if complete else (file.old, file.new)):
                yield f"{path.name}: {len(raw)} bytes that are neither the old nor the new ones"
            if (stat.S_IMODE(status.st_mode), (status.st_uid, status.st_gid)) != (file.mode, file.owner):
                yield f"{path.name}: mode {status.st_mode:o} of {status.st_uid}, not {file.mode:o} of {file.owner[0]}"
        if os.readlink(self.top / "in.py") != "p0/m0.py" or os.readlink(self.top / "out.py") != str(
            self.outside / "out.py"
        ):
            yield "a link leads elsewhere"
        if (self.outside / "out.py").read_bytes() != text(0) or os.listdir(self.outside) != ["out.py"]:
            yield "a file outside of the tree was touched"
        if (self.top / "p1" / "second name").read_bytes() != self.tree_files[self.twice].old:
            yield "the second name of a file holds other bytes"
        strange = set(self.names()) - self.expected()
        if complete and strange:
            yield f"left behind: {sorted(strange)}"
        if any(not Path(each).name.startswith(TEMPORARY) for each in strange):
            yield f"strange files: {sorted(strange)}"

    def names(self) -> Iterator[str]:
        """Return the paths of all that lies in the tree."""
        return (str(path) for path in self.top.rglob("*") if path.is_symlink() or not path.is_dir())

    def expected(self) -> set[str]:
        """Return the paths of what belongs there."""
        others = ("in.py", "out.py", "p1/second name")
        return {str(path) for path in self.tree_files} | {str(self.top / each) for each in others}

    def left(self) -> int:
        """Count the temporary files."""
        return sum(Path(each).name.startswith(TEMPORARY) for each in self.names())

    def done(self) -> int:
        """Count the files that hold their new bytes."""
        return sum(path.read_bytes() == file.new for path, file in self.tree_files.items())


@dataclass
class Tally:
    """What came of the kills."""

    kills: int = 0
    between: int = 0
    """Kills after which some files were old and some new."""
    left: int = 0
    """Kills that left a temporary file."""
    complete: int = 0
    """Runs that were left alone."""


def fix(tree: Tree, jobs: int) -> subprocess.Popen[bytes]:
    """Start the repair of a tree."""
    words = ["-m", "torchlint", "--fix", "--isolated", "--no-cache", "-q", "--jobs", str(jobs), str(tree.top)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.Popen(  # noqa: S603  # the program itself
        [sys.executable, *words],
        cwd=tree.top,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def kill_often(top: Path, count: int, kills: int, chance: random.Random) -> tuple[Tally, list[str]]:
    """Kill runs over a tree; give what came of it, and what is wrong."""
    tally, wrong = Tally(), []
    tree = Tree(top, count)
    whole, writing = _measured(tree)
    tree = Tree(top, count)
    while tally.kills < kills and not wrong:
        before = tree.done()
        running = fix(tree, chance.choice((1, 2)))
        if tally.kills % 2:
            time.sleep(chance.uniform(0, whole))
        else:
            _until_written(tree, running)
            time.sleep(chance.uniform(0, max(0.02, writing * (count - before) / count)))
        tally.kills += running.poll() is None
        os.killpg(running.pid, signal.SIGKILL) if running.poll() is None else None
        running.communicate()
        wrong += tree.wrong()
        done = tree.done()
        tally.between += before < done < count
        tally.left += tree.left() > 0
        print(f"\r{tally}", end="", file=sys.stderr, flush=True)
        if done > 0.9 * count or chance.random() < 0.02:
            last = fix(tree, 1)
            said = last.communicate()[0]
            tally.complete += 1
            # 1: the link out of the tree is reported and not followed
            wrong += [*tree.wrong(complete=True), *([said.decode()] * (last.returncode != 1))]
            tree = Tree(top, count)
    return tally, wrong


def _measured(tree: Tree) -> tuple[float, float]:
    """Return the seconds that a run takes, and those in which it writes."""
    begun = time.monotonic()
    running = fix(tree, 1)
    _until_written(tree, running)
    first = time.monotonic()
    running.communicate()
    return time.monotonic() - begun, time.monotonic() - first


def _until_written(tree: Tree, running: subprocess.Popen[bytes]) -> None:
    """Wait until the first folder changes."""
    folders = [each for each in tree.top.iterdir() if each.is_dir()]
    before = [each.stat().st_mtime_ns for each in folders]
    while running.poll() is None and [each.stat().st_mtime_ns for each in folders] == before:
        time.sleep(0.002)


def main(arguments: Sequence[str]) -> int:
    """Run, print the tally, and give the exit status."""
    parser = argparse.ArgumentParser(description="Kill torchlint --fix at random moments.")
    parser.add_argument("--into", type=Path, required=True, help="a folder that does not exist yet")
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    flags = parser.parse_args(arguments)
    if flags.into.exists():
        parser.error(f"{flags.into} exists already: give another folder, this one is removed at the end")
    begun = time.monotonic()
    tally, wrong = kill_often(flags.into, flags.files, flags.kills, random.Random(flags.seed))  # noqa: S311
    shutil.rmtree(flags.into)
    print(f"{tally} in {time.monotonic() - begun:.0f} s")
    print("\n".join(wrong) or "every file was old or new each time, and nothing was left behind a complete run")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
