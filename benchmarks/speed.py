"""Measures what torchlint costs, as ratios within one run, and writes the tables of docs/cost.md.

    python benchmarks/speed.py                  print the tables
    python benchmarks/speed.py --write          put them into docs/cost.md, between the markers
    python benchmarks/speed.py --torchfix PATH  compare with TorchFix too: the command in an environment of its own

The code is that of the development corpus (``python benchmarks/corpus.py`` fetches it). What is compared is measured in
turns, each time in a process of its own, and the least processor time counts, because other work on the machine can
only add to it.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import islice
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from benchmarks.corpus import cache  # noqa: E402
from torchlint.config import Config  # noqa: E402
from torchlint.diagnostics.registry import RULES  # noqa: E402
from torchlint.linter.engine import check_bytes  # noqa: E402
from torchlint.version import VERSION  # noqa: E402

PAGE = ROOT / "docs" / "cost.md"
MARKED = re.compile(r"(<!-- cost: written by benchmarks/speed.py -->\n).*?(<!-- cost: end -->)", re.DOTALL)
WORDS = tuple(sorted({word.encode() for entry in RULES if entry.default for word in entry.words}))
TORCHLINT = (sys.executable, "-m", "torchlint")
BARE = """
import sys, libcst
for path in sys.stdin.read().split(chr(0)):
    try:
        libcst.parse_module(open(path, "rb").read())
    except Exception:
        pass
"""
_TELLING = 0.03
"""Seconds below which a time is mostly chance."""
HIT = "import torch\n\n\ndef f{0}(x):\n    w = torch.ones(3, requires_grad=True)\n    return w.numpy(), x\n"


def main(arguments: Sequence[str]) -> int:
    """Measure and print, or write the page; give the exit status."""
    parser = argparse.ArgumentParser(description="Measure what torchlint costs.")
    parser.add_argument("--corpus", type=Path, default=cache(), help="folders with code (default: %(default)s)")
    parser.add_argument("--files", type=int, default=1000, help="how many files to take (default: %(default)s)")
    parser.add_argument("--repeat", type=int, default=5, help="how often to measure (default: %(default)s)")
    parser.add_argument("--only", choices=("ratios", "growth"), help="one of the tables; no page is written")
    parser.add_argument("--write", action="store_true", help="write docs/cost.md")
    parser.add_argument("--torchfix", metavar="PATH", help="TorchFix's command, to compare with (it takes minutes)")
    flags = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as place:
        bench = Bench(Path(place), flags.repeat)
        lines = list(head())
        if flags.only != "growth":
            lines += ratios(bench, flags.corpus, flags.files, flags.torchfix)
        if flags.only != "ratios":
            lines += growth(bench)
    text = "\n".join(lines) + "\n"
    print(text)
    if flags.write and not flags.only:
        PAGE.write_text(MARKED.sub(lambda found: f"{found[1]}\n{text}\n{found[2]}", PAGE.read_text()), encoding="utf-8")
    return 0


# ---------------------------------------------------------------------- measuring
@dataclass(frozen=True)
class Cost:
    """What a process took: processor and wall time in seconds, and the most memory of it or a child of it, in MiB."""

    cpu: float
    wall: float
    memory: float


@dataclass(frozen=True)
class Bench:
    """Where things are measured, and how often."""

    place: Path
    repeat: int

    def once(self, command: Sequence[str], cwd: Path, text: str = "", **environment: str) -> Cost:
        """Run a command to its end."""
        # Compiled code is kept, as it is where a program was installed: else each run would compile all of it again.
        left_out = ("PRE_COMMIT", "FORCE_COLOR", "PYTHONDONTWRITEBYTECODE")
        inherited = {key: value for key, value in os.environ.items() if key not in left_out}
        inherited["PYTHONPYCACHEPREFIX"] = str(self.place / "compiled")
        begin = time.perf_counter()
        with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as given:
            given.write(text.encode())
            given.seek(0)
            process = subprocess.Popen(  # noqa: S603  # torchlint, ruff and Python itself
                command, cwd=cwd, stdin=given, stdout=said, stderr=said,
                env={**inherited, "PYTHONPATH": str(ROOT), **environment},
            )  # fmt: skip
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            wall = time.perf_counter() - begin
            if process.returncode not in (0, 1):
                said.seek(0)
                raise SystemExit(f"{' '.join(command[:6])}: exit status {process.returncode}\n{said.read().decode()}")
        scale = 1024 * 1024 if sys.platform == "darwin" else 1024
        return Cost(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / scale)

    def least(self, *runs: Callable[[], Cost]) -> list[Cost]:
        """Measure in turns, and give the least of each."""
        costs = [[run() for run in runs] for _ in range(self.repeat)]
        return [
            Cost(min(each.cpu for each in one), min(each.wall for each in one), min(each.memory for each in one))
            for one in zip(*costs, strict=True)
        ]


def head() -> Iterator[str]:
    """Yield the lines that say what was measured, and with what."""
    versions = f"Python {platform.python_version()}, LibCST {version('libcst')}"
    yield f"torchlint {VERSION}, {versions}, {platform.system()} on {platform.machine()}, {os.cpu_count()} processors."
    yield ""


# ---------------------------------------------------------------------- ratios
@dataclass(frozen=True)
class Row:
    """One comparison: two costs, their ratio, and what it may be."""

    what: str
    ours: float
    against: str
    theirs: float
    limit: str

    def __str__(self) -> str:
        ratio = f"{self.ours / self.theirs:.3g}" if self.theirs else "-"
        sides = f"{self.ours * 1000:.0f} ms | {self.against}: {self.theirs * 1000:.0f} ms"
        return f"| {self.what} | {sides} | {ratio} | {self.limit} |"


def ratios(bench: Bench, corpus: Path, count: int, torchfix: str | None = None) -> Iterator[str]:
    """Yield the table of ratios over files of the corpus."""
    tree = bench.place / "corpus"
    files = copied(corpus, tree, count)
    if not files:
        raise SystemExit(f"{corpus}: no code there: run `python benchmarks/corpus.py` first")
    triggered = [path for path in files if any(word in path.read_bytes() for word in WORDS)]
    yield f"Over {len(files)} files of the corpus, {len(triggered)} of them with a word that a rule looks for:"
    yield ""
    yield "| run | time | against | ratio | wanted |"
    yield "|---|---|---|---|---|"
    for row in (*over_corpus(bench, tree, triggered, torchfix), *small(bench, triggered)):
        yield str(row)
    yield ""


def copied(corpus: Path, tree: Path, count: int) -> list[Path]:
    """Copy whole releases until there are enough files, so that imports lead where they should."""
    made: list[Path] = []
    for release in sorted(path for path in corpus.iterdir() if path.is_dir() and path.name != "archives"):
        for path in sorted(release.rglob("*.py")):
            if len(made) < count and path.is_file():
                target = tree / path.relative_to(corpus)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
                made.append(target)
    return made


def over_corpus(bench: Bench, tree: Path, triggered: Sequence[Path], torchfix: str | None) -> Iterator[Row]:
    """Compare cold and warm runs with LibCST's bare parse, with each other, and with ruff."""
    kept, listed = str(bench.place / "kept"), "\0".join(map(str, triggered))
    command = (*TORCHLINT, ".", "--isolated", "-q", "--output-format", "concise", "--jobs", "1")

    def cold() -> Cost:
        return bench.once((*command, "--no-cache"), tree)

    def bare() -> Cost:
        return bench.once((sys.executable, "-c", BARE), tree, listed)

    def warm() -> Cost:
        return bench.once((*command, "--cache-dir", kept), tree)

    def peer() -> Cost:
        return bench.once((torchfix or "", "--select", "ALL", "."), tree, PYTHONPATH="")

    few = Bench(bench.place, min(bench.repeat, 4))  # the first run compiles torchlint and LibCST
    first, parse = few.least(cold, bare)
    warm()
    time.sleep(2.5)  # so that no file is too young to be told by its times
    warm()
    ruff = shutil.which("ruff", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    checking = (ruff or "", "check", "--isolated", "-q", "--output-format", "concise", ".")
    yield Row("cold, one process", first.cpu, "LibCST parses those with a word", parse.cpu, "at most 0.8")
    if torchfix is not None:  # it takes minutes, in which the machine may become another: so both run in turns
        ours, theirs = Bench(bench.place, min(bench.repeat, 3)).least(cold, peer)
        yield Row("cold, in turns with it", ours.cpu, "TorchFix, all processes", theirs.cpu, "at most 0.033")
    if ruff is None:
        (second,) = bench.least(warm)
    else:
        bench.once(checking, tree)
        second, other = bench.least(warm, lambda: bench.once(checking, tree))
    yield Row("warm", second.cpu, "cold", first.cpu, "at most 0.05")
    if ruff is not None:
        yield Row("warm, wall time", second.wall, "ruff, warm, wall time", other.wall, "at most 3")


def small(bench: Bench, triggered: Sequence[Path]) -> Iterator[Row]:
    """Compare runs that have nothing to do, or one file, with what they cannot do without."""
    folder = bench.place / "one"
    folder.mkdir()
    (folder / "plain.py").write_text("import os\n\n\ndef f():\n    return os.getcwd()\n")
    command = (*TORCHLINT, "--isolated")
    repository = bench.place / "repository"
    shutil.copytree(folder, repository)
    (repository / ".git").mkdir()
    (repository / ".gitignore").write_text("*.pyc\n__pycache__/\n/build/\n")
    (repository / "pyproject.toml").write_text('[project]\nname = "p"\n\n[tool.torchlint]\nselect = ["TNS"]\n')
    libraries = (sys.executable, "-c", "import argparse, json, pathlib")
    for _ in range(2):  # times that are too young are not trusted
        bench.once((*command, "plain.py"), folder)
        bench.once(TORCHLINT, repository)
        time.sleep(2.5)
    often = Bench(bench.place, 4 * bench.repeat)  # hundredths of a second: chance is large among them
    idle, fresh, inside, least = often.least(
        lambda: bench.once((*command, "plain.py"), folder),
        lambda: bench.once((*command, "--no-cache", "plain.py"), folder),
        lambda: bench.once(TORCHLINT, repository),
        lambda: bench.once(libraries, folder),
    )
    against = "`import argparse, json, pathlib`"
    yield Row("nothing to do", idle.cpu, against, least.cpu, "at most 3")
    yield Row("nothing to do, no cache", fresh.cpu, against, least.cpu, "at most 3")
    yield Row("nothing to do, `.gitignore`, `pyproject.toml`", inside.cpu, against, least.cpu, "at most 3")
    by_size = sorted(triggered, key=lambda path: path.stat().st_size)
    by_distance = sorted(range(len(by_size)), key=lambda at: abs(at - len(by_size) // 2))
    nearest = (by_size[at] for at in by_distance)
    faulty = (path for path in nearest if check_bytes(str(path), path.read_bytes(), Config()).findings)
    chosen = [(path, "one changed file") for path in by_size[len(by_size) // 2 :][:1]]
    chosen += [(path, "one changed file with findings") for path in islice(faulty, 1)]
    for path, what in chosen:
        changed, parse = bench.least(
            lambda path=path: hook(bench, path),  # type: ignore[misc]
            lambda path=path: bench.once((sys.executable, "-c", BARE), folder, str(path)),  # type: ignore[misc]
        )
        size = f"{path.stat().st_size / 1024:.0f} KiB"
        yield Row(f"{what}, {size}", changed.cpu, "import LibCST and parse it", parse.cpu, "at most 1.5")


def hook(bench: Bench, path: Path) -> Cost:
    """Change a file and check it as pre-commit does."""
    with path.open("ab") as stream:
        stream.write(b"\n")
    command = (*TORCHLINT, "--isolated", "--force-exclude", str(path))
    return bench.once(command, path.parent, PRE_COMMIT="1")


# ---------------------------------------------------------------------- growth
def growth(bench: Bench) -> Iterator[str]:
    """Yield the table of what ten and a hundred times as much costs."""
    kinds: dict[str, tuple[tuple[int, ...], Callable[[Path, int], None]]] = {
        "files": ((200, 2000, 20000), many_files),
        "findings in one file": ((50, 500, 5000), many_findings),
        "statements in one function": ((50, 500, 5000), long_function),
        "blocks in each other": ((1, 9, 90), deep_blocks),
    }
    few = Bench(bench.place, min(bench.repeat, 3))
    folder = bench.place / "empty"
    folder.mkdir()
    (folder / "hit.py").write_text(HIT.format(0))
    command = (*TORCHLINT, ".", "--isolated", "--no-cache", "-q", "--output-format", "concise")
    (start,) = few.least(lambda: few.once((*command, "--jobs", "1"), folder))
    yield f"What more costs, without start-up ({start.cpu:.2f} s, {start.memory:.0f} MiB); ten times as much is linear:"
    yield ""
    yield "| what | how much | processor time | times the row above | memory at most |"
    yield "|---|---|---|---|---|"
    for kind, (sizes, make) in kinds.items():
        before = 0.0
        for size in sizes:
            tree = bench.place / f"{kind} {size}"
            tree.mkdir()
            make(tree, size)
            (cost,) = few.least(lambda tree=tree: few.once((*command, "--jobs", "1"), tree))  # type: ignore[misc]
            spent = max(cost.cpu - start.cpu, 0.0)
            times = f"{spent / before:.1f}" if before >= _TELLING else "-"
            yield f"| {kind} | {size} | {spent:.2f} s | {times} | {cost.memory:.0f} MiB |"
            before = spent
    tree = bench.place / f"files {kinds['files'][0][-1]}"
    (spread,) = few.least(lambda: few.once((*command, "--jobs", "2"), tree))
    yield ""
    yield f"With two processes the same {kinds['files'][0][-1]} files take at most {spread.memory:.0f} MiB in each."
    yield ""


def many_files(tree: Path, count: int) -> None:
    """Make files alike."""
    for at in range(count):
        folder = tree / f"p{at // 50}"
        folder.mkdir(exist_ok=True)
        (folder / f"m{at}.py").write_text(HIT.format(at))


def many_findings(tree: Path, count: int) -> None:
    """Make one file with a function for each finding."""
    functions = "\n\n".join(HIT.format(at).partition("\n\n\n")[2] for at in range(count))
    (tree / "many.py").write_text(f"import torch\n\n\n{functions}")


def long_function(tree: Path, count: int) -> None:
    """Make one function with a finding on every tenth of its rows."""
    rows = [f"    a{at} = w.numpy()" if at % 10 == 0 else f"    w = w + {at}" for at in range(count)]
    body = "\n".join(["    w = torch.ones(3, requires_grad=True)", *rows])
    (tree / "long.py").write_text(f"import torch\n\n\ndef f():\n{body}\n    return w\n")


def deep_blocks(tree: Path, depth: int) -> None:
    """Make loops in each other, with a conversion in the innermost."""
    rows = [f"{'    ' * (at + 1)}for a{at} in range(2):" for at in range(depth)]
    inside = f"{'    ' * (depth + 1)}w = w + 1\n{'    ' * (depth + 1)}print(w.numpy())"
    top = "import torch\n\n\ndef f():\n    w = torch.ones(3, requires_grad=True)\n"
    (tree / "deep.py").write_text(top + "\n".join([*rows, inside]) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
