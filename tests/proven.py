"""Which proofs the gate runs: those whose texts have changed, and a sixteenth of the others in turn.

``tests/fixtures/proven.txt`` lists digests of what held when all of it was run last: the texts before and after a fix,
the kind of device and the release of torch; and, as a line of its own, the code that proves. Where that has changed
since, an eighth of the others is run and not a sixteenth. ``python -m tests.proven`` runs all and writes the list anew;
``python -m tests.proven --new`` runs what a gate would, and adds what held to the list; ``NIGHTLY=1`` in the
environment runs all and writes nothing.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests import nightly
from tests.nightly import ROOT

LIST = ROOT / "tests" / "fixtures" / "proven.txt"
PROVING = ("tests/test_proof_cases.py", "tests/test_fixture_fixes.py")
SHARES = 16
SHARES_OF_ANOTHER_PROVER = 8
PROVEN = f"{nightly.LEFT}proven before, with these texts, this proof and this torch"


def is_due(name: str, *texts: str) -> bool:
    """Whether a proof is to be run now: ``texts`` are all that it rests on beside torch and the code that proves."""
    known = digest(name, *texts)
    if "PROOFS_RECORD" in os.environ:  # by all processes that run tests: one short line is written at once
        with Path(os.environ["PROOFS_RECORD"]).open("a", encoding="utf-8") as stream:
            stream.write(f"{known}\n")
    shares = SHARES if _prover() in _recorded() else SHARES_OF_ANOTHER_PROVER
    return known not in _recorded() or nightly.is_turn_of(f"{_prover()}{known}", shares)


def digest(name: str, *texts: str) -> str:
    """Return a short name for one proof."""
    return nightly.short("\0".join((name, *_releases(), *texts)))


@cache
def _recorded() -> frozenset[str]:
    return frozenset(LIST.read_text(encoding="utf-8").split()) if LIST.exists() else frozenset()


@cache
def _releases() -> tuple[str, ...]:
    from importlib.metadata import version

    return version("torch"), version("numpy")


@cache
def _prover() -> str:
    """Return a digest of the code that proves."""
    names = ["tests/fixture_runs.py", "tools/ledger/proving.py", *PROVING]
    files = [*sorted((ROOT / "torchlint" / "verify").rglob("*.py")), *(ROOT / name for name in names)]
    return nightly.of_files(files)


def main(arguments: list[str]) -> int:
    """Run all proofs, or those that a gate would, and write down what held."""
    import subprocess

    is_all = "--new" not in arguments
    with TemporaryDirectory() as folder:
        seen = Path(folder, "seen")
        command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", *PROVING]
        environment = {**os.environ, "PROOFS_RECORD": str(seen), **({"NIGHTLY": "1"} if is_all else {})}
        done = subprocess.run(command, cwd=ROOT, env=environment, check=False)
        if done.returncode == 0:
            prover, *known = LIST.read_text(encoding="utf-8").split()
            held = {*seen.read_text(encoding="utf-8").split(), *([] if is_all else known)}
            lines = [_prover() if is_all else prover, *sorted(held)]  # others were held by the code of that time
            LIST.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return done.returncode


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
