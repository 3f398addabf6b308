"""Throws inputs at torchlint until the time is over, and keeps each that breaks a promise.

    python -m benchmarks.fuzz --corpus FOLDER --into FOLDER --minutes 10
    python -m benchmarks.fuzz --corpus FOLDER --into FOLDER --kind damage --seed 1234

The inputs of a kind follow from the numbers 0, 1, 2...; where a run ended the next one goes on (``state.json``). Each
is judged in a process that may die of it. ``--seed`` makes one input again and says what is wrong with it. The kind
``grammar`` needs hypothesmith. The exit status is 1 where a promise was broken.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from benchmarks.fuzz.kinds import KINDS, Case, Corpus, case, corpus
from benchmarks.fuzz.watchdog import Hung, limit

SECONDS = 20.0
"""What one input may take, six checks and six fixes of it."""
BATCH = 25.0
"""Seconds after which a process gives way to the next: leaks and caches must not pile up."""


def main(arguments: Sequence[str]) -> int:
    """Run, and give the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("--corpus", type=Path, action="append", default=[], help="a folder of real code")
    parser.add_argument("--into", type=Path, required=True, help="where the state and the found inputs are kept")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--kind", choices=KINDS, action="append", help="only this kind; may be repeated")
    parser.add_argument("--seed", type=int, help="one input of one kind")
    parser.add_argument("--batch", type=float, help=argparse.SUPPRESS)
    flags = parser.parse_args(arguments)
    flags.into.mkdir(parents=True, exist_ok=True)
    kinds = flags.kind or list(KINDS)
    if flags.seed is not None:
        wrong = judged(kinds[0], case(kinds[0], flags.seed, corpus(flags.corpus)))
        print("\n".join(wrong) or "all promises hold")
        return int(bool(wrong))
    if flags.batch:
        return batch(kinds[0], flags.into, corpus(flags.corpus), flags.batch)
    return drive(kinds, arguments, flags.into, flags.minutes)


def drive(kinds: Sequence[str], arguments: Sequence[str], into: Path, minutes: float) -> int:
    """Start one process after another, kind by kind, and book what they die of."""
    end, found = time.monotonic() + minutes * 60, len(_kept(into))
    turn = 0
    while time.monotonic() < end:
        kind = kinds[turn % len(kinds)]
        turn += 1
        left = min(BATCH, end - time.monotonic())
        words = [*_without_kinds(arguments), "--kind", kind, "--batch", str(max(left, 1.0))]
        done = subprocess.run([sys.executable, "-m", "benchmarks.fuzz", *words], capture_output=True, check=False)
        if done.returncode:
            state = _state(into)
            seed = state.get(kind, 0)
            trace = done.stderr.decode(errors="replace")[-3000:]
            _keep(into, kind, seed, {}, [f"the process died, {done.returncode}: {trace}"])
            _write(into, {**state, kind: seed + 1})
    print(json.dumps(_state(into)), f"{len(_kept(into))} inputs kept")
    return int(len(_kept(into)) > found)


def batch(kind: str, into: Path, real: Corpus, seconds: float) -> int:
    """Judge inputs of one kind for some seconds."""
    end = time.monotonic() + seconds
    state = _state(into)
    while time.monotonic() < end:
        seed = state.get(kind, 0)
        given = case(kind, seed, real)
        begun = time.process_time()
        wrong = judged(kind, given)
        state = {**state, kind: seed + 1, "seconds": state.get("seconds", 0) + time.process_time() - begun}
        if wrong:
            _keep(into, kind, seed, given, wrong)
        _write(into, state)
    return 0


def judged(kind: str, given: Case) -> list[str]:
    """Return what is wrong; a crash and a hang are, too."""
    try:
        with limit(SECONDS):
            return KINDS[kind].judge(given)
    except Hung:
        return [f"hang: {traceback.format_exc()[-1500:]}"]
    except Exception:  # noqa: BLE001  # this is what is looked for
        return [f"crash: {traceback.format_exc()[-1500:]}"]


def _keep(into: Path, kind: str, seed: int, given: Case, wrong: Sequence[str]) -> None:
    place = into / f"{kind}-{seed}"
    place.mkdir(exist_ok=True)
    for name, raw in given.items():
        (place / name.replace("/", "__")).write_bytes(raw)
    (place / "WRONG").write_text("\n".join(wrong), encoding="utf-8", errors="backslashreplace")


def _kept(into: Path) -> list[Path]:
    return sorted(into.glob("*/WRONG"))


def _state(into: Path) -> dict[str, int]:
    try:
        found: dict[str, int] = json.loads((into / "state.json").read_text())
    except FileNotFoundError:
        return {}
    return found


def _write(into: Path, state: dict[str, float]) -> None:
    beside = into / "state.json.new"
    beside.write_text(json.dumps(state))
    os.replace(beside, into / "state.json")


def _without_kinds(arguments: Sequence[str]) -> list[str]:
    kept, words = [], iter(arguments)
    for word in words:
        if word == "--kind":
            next(words)
        else:
            kept.append(word)
    return kept


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
