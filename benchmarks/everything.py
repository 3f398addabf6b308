"""Runs torchlint over all code at hand: check, fix in memory, check again, compile; nothing is written, nothing is run.

    python benchmarks/everything.py                      the standard library and the packages of this environment
    python benchmarks/everything.py FOLDER...            these folders instead

A line a folder: how many files, how many with findings, how many were repaired. The exit status is 1 where a promise
is broken: a crash, a hang, a finding in a file that does not know torch, a second run that fixes something, a repaired
file that does not compile though it did before.
"""

from __future__ import annotations

import argparse
import sys
import sysconfig
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from benchmarks.fuzz.watchdog import Hung, limit  # noqa: E402
from torchlint.config import Config  # noqa: E402
from torchlint.linter.engine import check_bytes, fix_bytes  # noqa: E402

EVERYTHING = Config(select=("ALL",), unsafe_fixes=True)
SECONDS = 120.0
"""What one file may take; some of the standard library's tests are made to be hard to parse."""


@dataclass
class Tally:
    """What came of one folder."""

    files: int = 0
    unparsed: int = 0
    found: int = 0
    """Files with findings other than that they do not parse."""
    findings: int = 0
    fixes: int = 0
    repaired: int = 0
    compiled: int = 0
    """Repaired files that compile; the others did not before, either."""
    wrong: list[str] = field(default_factory=list)


def main(arguments: Sequence[str]) -> int:
    """Go through the folders and give the exit status."""
    parser = argparse.ArgumentParser(description="Check and fix everything, in memory.")
    parser.add_argument("folder", type=Path, nargs="*")
    flags = parser.parse_args(arguments)
    paths = sysconfig.get_paths()
    folders = flags.folder or [Path(paths["stdlib"]), Path(paths["purelib"])]
    print("| folder | files | unparsed | with findings | findings | fixes | repaired | still compile | s |")
    print("|---|---|---|---|---|---|---|---|---|")
    wrong: list[str] = []
    for folder in folders:
        begun = time.process_time()
        done = tally(folder)
        wrong += done.wrong
        row = (done.files, done.unparsed, done.found, done.findings, done.fixes, done.repaired, done.compiled)
        shown = " | ".join(map(str, row))
        print(*(f"\n{said}" for said in done.wrong), end="\n" * bool(done.wrong), file=sys.stderr)
        print(f"| {folder.name} | {shown} | {time.process_time() - begun:.0f} |", flush=True)
    print(f"{len(wrong)} promises were broken")
    return int(bool(wrong))


def tally(folder: Path) -> Tally:
    """Go through one folder; in the standard library's the packages that are installed into it are left out."""
    done = Tally()
    for path in sorted(folder.rglob("*.py")):
        if path.is_file() and not {"site-packages", "torchlint"} & set(path.relative_to(folder).parts):
            raw = path.read_bytes()
            done.files += 1
            try:
                with limit(SECONDS):
                    done.wrong += [f"{path}: {said}" for said in _judged(path, raw, done)]
            except Hung as hung:
                done.wrong.append(f"{path}: {hung}")
            except Exception as error:  # noqa: BLE001  # this is what is looked for
                done.wrong.append(f"{path}: {type(error).__name__}: {error}")
    return done


def _judged(path: Path, raw: bytes, done: Tally) -> Iterator[str]:
    result = check_bytes(str(path), raw, EVERYTHING)
    yield from (each.message for each in result.troubles)
    codes = [each.code for each in result.findings]
    done.unparsed += "TNS900" in codes
    codes = [code for code in codes if code != "TNS900"]
    if not codes:
        return
    done.found += 1
    done.findings += len(codes)
    if b"torch" not in raw:
        yield f"{sorted(set(codes))} in a file that does not know torch"
    outcome = fix_bytes(str(path), raw, EVERYTHING)
    yield from (each.message for each in outcome.remaining.troubles)
    done.fixes += len(outcome.fixed)
    if outcome.raw == raw:
        return
    done.repaired += 1
    again = fix_bytes(str(path), outcome.raw, EVERYTHING)
    if again.raw != outcome.raw:
        yield f"a second run fixes {sorted({each.code for each in again.fixed})}"
    if _compiles(outcome.raw):
        done.compiled += 1
    elif _compiles(raw):
        yield "compiled before and does not now"


def _compiles(raw: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(raw, "repaired", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
