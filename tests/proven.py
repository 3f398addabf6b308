"""Which proofs the gate runs: those whose texts or whose proof has changed, and an eighth of the others in turn.

``tests/fixtures/proven.txt`` lists digests of what held when all of it was run last: the texts before and after a fix,
the kind of device, the release of torch and the code that proves. ``python -m tests.proven`` runs all and writes the
list anew; ``PROOFS=all`` in the environment runs all and writes nothing.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "tests" / "fixtures" / "proven.txt"
PROVING = ("tests/test_proof_cases.py", "tests/test_fixture_fixes.py")
SHARES = 8
PROVEN = "proven before, with these texts, this proof and this torch: `PROOFS=all` runs it"
ALL = os.environ.get("PROOFS") == "all"


def is_due(name: str, *texts: str) -> bool:
    """Whether a proof is to be run now: ``texts`` are all that it rests on beside the code that proves."""
    known = digest(name, *texts)
    if "PROOFS_RECORD" in os.environ:  # by all processes that run tests: one short line is written at once
        with Path(os.environ["PROOFS_RECORD"]).open("a", encoding="utf-8") as stream:
            stream.write(f"{known}\n")
    return ALL or known not in _recorded() or _turn(known) == 0


def digest(name: str, *texts: str) -> str:
    """Return a short name for one proof."""
    return _short("\0".join((name, _prover(), *texts)))


def in_turn(paths: Sequence[Path], shares: int) -> list[Path]:
    """Return a share of some files, another one with each change of the program; all of them with ``PROOFS=all``."""
    return [each for each in paths if ALL or int(_short(f"{_tree()}{each.relative_to(ROOT)}"), 16) % shares == 0]


def turn() -> str:
    """Return a short name of the tree, by which the eighth is chosen."""
    return _tree()[:12]


@cache
def _recorded() -> frozenset[str]:
    return frozenset(LIST.read_text(encoding="utf-8").split()) if LIST.exists() else frozenset()


def _turn(known: str) -> int:
    return int(_short(_tree() + known), 16) % SHARES


@cache
def _tree() -> str:
    """Return a digest of the program: with each change of it another eighth is run."""
    return _of_files(sorted((ROOT / "torchlint").rglob("*.py")))


@cache
def _prover() -> str:
    """Return a digest of the code that proves and of torch."""
    from importlib.metadata import version

    names = ["tests/fixture_runs.py", *PROVING]
    files = [*sorted((ROOT / "torchlint" / "proof").rglob("*.py")), *(ROOT / name for name in names)]
    return f"{version('torch')} {version('numpy')} {_of_files(files)}"


def _of_files(paths: list[Path]) -> str:
    whole = hashlib.sha256()
    for path in paths:
        whole.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return whole.hexdigest()


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def main() -> int:
    """Run all proofs, and write down what held."""
    with TemporaryDirectory() as folder:
        seen = Path(folder, "seen")
        command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", *PROVING]
        environment = {**os.environ, "PROOFS": "all", "PROOFS_RECORD": str(seen)}
        done = subprocess.run(command, cwd=ROOT, env=environment, check=False)
        if done.returncode == 0:
            lines = sorted(set(seen.read_text(encoding="utf-8").split()))
            LIST.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return done.returncode


if __name__ == "__main__":
    raise SystemExit(main())
