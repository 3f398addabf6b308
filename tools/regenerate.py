"""Writes all that follows from the rules: ``python tools/regenerate.py``, after a rule or one of its examples changed.

First what ``docs/generate.py`` writes; then, where torch is installed, the rows of the ledger for the rules with an
example that this torch has not run as it is now; then the pages again, which show these rows. What an older torch has
not run is named on the rule's page.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("docs/generate.py",)
LEDGER = ("-m", "tools.ledger", "--write", "--codes")


def main(arguments: list[str]) -> int:
    """Write everything; return 1 where a rule claims more than was proven, else 0."""
    parser = argparse.ArgumentParser(prog="python tools/regenerate.py", description=main.__doc__)
    parser.add_argument("--pages", action="store_true", help="prove nothing: leave the ledger as it is")
    options = parser.parse_args(arguments)
    _run(*PAGES)
    codes = [] if options.pages else unproven()
    status = _run(*LEDGER, *codes) if codes else 0
    _run(*PAGES)
    return status


def unproven() -> list[str]:
    """Return the rules of which the ledger misses an example for the torch at hand, or holds one that is gone."""
    if find_spec("torch") is None:
        print("torch is not installed: the ledger stays as it is")
        return []
    from tools.ledger.rows import read, series
    from torchlint.diagnostics.registry import RULES
    from torchlint.verify.table import UNSAFE, of_rule

    major, minor = (int(part) for part in version("torch").split(".")[:2])
    rows = [row for row in read().rows if row.kind == "cpu" and series(row) == (major, minor)]
    held = {(row.code, row.digest) for row in rows}
    cases = [*(case for rule in RULES if rule.words for case in of_rule(rule.code)), *UNSAFE]
    return sorted({code for code, _ in held ^ {(case.code, case.digest_for((major, minor))) for case in cases}})


def _run(*command: str) -> int:
    status = subprocess.run([sys.executable, *command], cwd=ROOT, check=False).returncode
    if status and command == PAGES:
        sys.exit(status)
    return status


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main(sys.argv[1:]))
