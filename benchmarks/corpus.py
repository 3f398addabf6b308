"""Fetches the development corpus, published releases that use torch, and runs torchlint over all of it.

    python benchmarks/corpus.py                  download and unpack what is missing
    python benchmarks/corpus.py --report         then check and fix everything, and write docs/corpus.md

The releases are listed in ``benchmarks/corpus.txt`` and unpacked outside the repository. torchlint runs nothing of
them; pip may run the set-up script of a source release to read its metadata. The exit status is 1 where a promise is
broken: a crash, a file that no longer parses, a second run that fixes something, a file without findings that changed.
"""

from __future__ import annotations

import argparse
import datetime
import multiprocessing
import os
import subprocess
import sys
import tarfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from torchlint.config import Config  # noqa: E402
from torchlint.diagnostics.model import Confidence, Finding  # noqa: E402
from torchlint.diagnostics.registry import RULES  # noqa: E402
from torchlint.linter.engine import check_bytes, fix_bytes  # noqa: E402
from torchlint.version import VERSION  # noqa: E402

LIST = Path(__file__).with_name("corpus.txt")
PAGE = ROOT / "docs" / "corpus.md"
JOBS = 2
SUFFIXES = (".py", ".pyi")


def main(arguments: Sequence[str]) -> int:
    """Fetch, and report if asked; give the exit status."""
    parser = argparse.ArgumentParser(description="Run torchlint over a fixed set of published packages.")
    parser.add_argument("--into", type=Path, default=cache(), help="where the releases lie (default: %(default)s)")
    parser.add_argument("--report", action="store_true", help="run torchlint over them and write docs/corpus.md")
    parser.add_argument("--only", help="the name of one release, for a quick look; no page is written")
    flags = parser.parse_args(arguments)
    releases = [each for each in listed() if flags.only in (None, each.partition("==")[0])]
    if ROOT in flags.into.resolve().parents:
        parser.error("--into must lie outside the repository")
    for release in releases:
        fetch(release, flags.into)
    if not flags.report:
        return 0
    tallies = [tally(release, flags.into) for release in releases]
    text = page(tallies)
    if flags.only is None:
        PAGE.write_text(text, encoding="utf-8")
    print(text)
    broken = [problem for each in tallies for problem in each.broken]
    print(*broken, sep="\n", file=sys.stderr)
    return 1 if broken else 0


def listed() -> list[str]:
    """Return the releases of the corpus as ``name==version``."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def cache() -> Path:
    """Return the folder in which releases are kept between runs."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "torchlint-corpus"


# ---------------------------------------------------------------------- fetching
def fetch(release: str, into: Path) -> Path:
    """Download and unpack a release unless it is there already; give its folder.

    The folder appears only when it is complete.
    """
    folder = into / release
    if folder.is_dir():
        return folder
    archives = into / "archives" / release
    archives.mkdir(parents=True, exist_ok=True)
    if not list(archives.iterdir()):
        print(f"downloading {release}", file=sys.stderr)
        _download(release, archives)
    (archive,) = archives.iterdir()
    partial = into / f"{release}.partial"
    partial.mkdir(exist_ok=True)
    unpack(archive, partial)
    partial.rename(folder)
    return folder


def _download(release: str, into: Path) -> None:
    """Prefer a wheel, which needs nothing to be run; of a source release, only the archive is kept."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(into)]
    wheel = subprocess.run([*pip, "--only-binary", ":all:", release], check=False, capture_output=True)  # noqa: S603
    if wheel.returncode != 0:
        # old set-up scripts may fail when pip asks them for metadata: the archive is there by then or is not
        subprocess.run([*pip, "--no-build-isolation", "--no-binary", ":all:", release], check=False)  # noqa: S603
    if not list(into.iterdir()):
        raise SystemExit(f"{release}: no archive could be downloaded")


def unpack(archive: Path, into: Path) -> None:
    """Write the Python files of a wheel or source release below a folder, and nothing outside it."""
    for name, raw in _members(archive):
        path = PurePosixPath(name.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or not path.name.endswith(SUFFIXES):
            continue
        target = into.joinpath(*path.parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(raw)


def _members(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the plain files of an archive; links and devices are left out."""
    if archive.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(archive) as bundle:
            for each in bundle.infolist():
                if not each.is_dir() and each.filename.endswith(SUFFIXES):
                    yield each.filename, bundle.read(each)
        return
    with tarfile.open(archive) as tar:
        for member in tar:
            stream = tar.extractfile(member) if member.isfile() and member.name.endswith(SUFFIXES) else None
            if stream is not None:
                yield member.name, stream.read()


# ---------------------------------------------------------------------- running
@dataclass
class Tally:
    """What torchlint found and did in one release, or in one file of it."""

    release: str
    files: int = 0
    lines: int = 0
    seconds: float = 0.0
    found: Counter[str] = field(default_factory=Counter)
    confidence: Counter[str] = field(default_factory=Counter)
    safe: int = 0
    unsafe: int = 0
    unparsed: int = 0
    broken: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Add another tally's numbers to this one's."""
        for name in ("files", "lines", "seconds", "safe", "unsafe", "unparsed"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.found += other.found
        self.confidence += other.confidence
        self.broken += other.broken


def tally(release: str, into: Path) -> Tally:
    """Check and fix every file of a release, two at a time."""
    folder = into / release
    paths = sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES and path.is_file())
    total = Tally(release)
    with multiprocessing.Pool(JOBS) as pool:
        for one in pool.imap_unordered(_examine, ((str(path), release) for path in paths), chunksize=8):
            total.add(one)
    total.broken.sort()
    print(
        f"{release}: {total.files} files, {total.found.total()} findings, {len(total.broken)} broken", file=sys.stderr
    )
    return total


def _examine(job: tuple[str, str]) -> Tally:
    path, release = job
    try:
        return examine(path, Path(path).read_bytes(), release)
    except Exception as error:  # noqa: BLE001  # a crash is what this looks for: it is counted, and the rest goes on
        return Tally(release, files=1, broken=[f"{path}: crash: {type(error).__name__}: {error}"])


def examine(path: str, raw: bytes, release: str = "") -> Tally:
    """Hold one file's bytes to the promises: no crash, fixes parse, a second run is silent, the rest is kept."""
    start = time.process_time()
    result = check_bytes(path, raw, Config())
    one = Tally(release, files=1, lines=raw.count(b"\n"), seconds=time.process_time() - start)
    one.found.update(each.code for each in result.findings)
    one.confidence.update(str(each.confidence) for each in result.findings if each.code != "TNS900")
    one.unparsed = one.found.pop("TNS900", 0)
    one.broken += [f"{path}: {trouble.message}" for trouble in result.troubles]
    for unsafe_fixes in (False, True):
        config = Config(unsafe_fixes=unsafe_fixes)
        outcome = fix_bytes(path, raw, config)
        one.broken += [f"{path}: {problem}" for problem in _problems(path, raw, outcome.raw, outcome.fixed, config)]
        if unsafe_fixes:
            one.unsafe = len(outcome.fixed) - one.safe
        else:
            one.safe = len(outcome.fixed)
    return one


def _problems(path: str, before: bytes, after: bytes, fixed: tuple[Finding, ...], config: Config) -> Iterator[str]:
    which = "--fix --unsafe-fixes" if config.unsafe_fixes else "--fix"
    if not fixed:
        if after != before:
            yield f"{which} changed a file in which it fixed nothing"
        return
    again = fix_bytes(path, after, config)
    if any(each.code == "TNS900" for each in again.remaining.findings):
        yield f"{which} left code that does not parse"
    if again.fixed or again.raw != after:
        yield f"{which} fixes {', '.join(sorted({each.code for each in again.fixed}))} only in a second run"


# ---------------------------------------------------------------------- the page
def page(tallies: Iterable[Tally]) -> str:
    """Return docs/corpus.md."""
    each = list(tallies)
    total = Tally("all")
    for one in each:
        total.add(replace(one, found=one.found.copy(), confidence=one.confidence.copy()))
    return "\n".join(
        [*_head(total, len(each)), *_by_release([*each, total]), *_by_rule(each, total), *_tail(total), ""]
    )


def _head(total: Tally, releases: int) -> Iterator[str]:
    today = datetime.datetime.now(tz=datetime.timezone.utc).date().isoformat()
    python = ".".join(str(part) for part in sys.version_info[:3])
    yield "# Real code"
    yield ""
    yield f"<!-- Written by benchmarks/corpus.py --report on {today}. -->"
    yield ""
    yield f"torchlint {VERSION} over {releases} releases from PyPI, on {today}, with Python {python} and"
    yield f"LibCST {version('libcst')}: {total.files} files, {total.lines} lines, checked in {total.seconds:.0f} s of"
    yield "processor time. `benchmarks/corpus.txt` lists the releases. Old ones were chosen for their old code."
    yield ""


def _by_release(rows: Iterable[Tally]) -> Iterator[str]:
    columns = "release | files | findings | certain | likely | possible | fixed | more, unsafe | unparsed"
    yield f"| {columns} |"
    yield "|" + "---|" * len(columns.split("|"))
    for row in rows:
        levels = (row.confidence[str(level)] for level in reversed(Confidence))
        numbers = (row.files, row.found.total(), *levels, row.safe, row.unsafe, row.unparsed)
        yield f"| {row.release} | {' | '.join(map(str, numbers))} |"
    yield ""
    yield '"Fixed" counts the findings that `--fix` repairs, "more, unsafe" those that `--unsafe-fixes` repairs too.'
    yield "One fix may lead to another, so the columns need not add up. Unparsed files are not Python 3 (`TNS900`)."
    yield ""


def _by_rule(rows: Sequence[Tally], total: Tally) -> Iterator[str]:
    yield "| rule | name | findings | in releases |"
    yield "|---|---|---|---|"
    for entry in RULES:
        if entry.words and entry.default:
            spread = sum(1 for row in rows if row.found[entry.code])
            yield f"| [{entry.code}](rules/{entry.code}.md) | {entry.name} | {total.found[entry.code]} | {spread} |"
    yield ""


def _tail(total: Tally) -> Iterator[str]:
    yield "torchlint crashed on no file. Every file parses after `--fix` and after `--fix --unsafe-fixes`, and a second"
    yield "run fixes nothing more. A file without findings keeps every byte."
    if total.broken:
        yield ""
        yield f"**Broken in {len(total.broken)} places:**"
        yield ""
        # relative to nothing: the folder is the reader's own
        yield from (
            f"- `{PurePosixPath(line.partition(': ')[0]).name}`: {line.partition(': ')[2]}" for line in total.broken
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
