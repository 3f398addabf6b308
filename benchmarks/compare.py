"""Compares what two checkouts of torchlint find: findings, reasons and fixes as JSON, byte by byte.

    python benchmarks/compare.py OLD NEW FOLDER...

Run it over the corpus (``benchmarks/corpus.py``) after a change that is to change nothing. Every rule is selected. The
exit status is 1 where anything differs, and names the folders.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

PROGRAM = "from torchlint.__main__ import run; run()"
ARGUMENTS = ("--no-cache", "--isolated", "--exit-zero", "--select", "ALL", "--output-format", "json", "--jobs", "1")


def main(arguments: Sequence[str]) -> int:
    """Compare, and return the exit status."""
    parser = argparse.ArgumentParser(description="Compare what two checkouts of torchlint find.")
    parser.add_argument("old", type=Path, help="a checkout")
    parser.add_argument("new", type=Path, help="another one")
    parser.add_argument("folders", type=Path, nargs="+", help="code to check, each folder by itself")
    given = parser.parse_args(arguments)
    differing = [each for each in given.folders if said(given.old, each) != said(given.new, each)]
    for folder in differing:
        print(f"{folder}: differs")
    print(f"{len(given.folders) - len(differing)} of {len(given.folders)} folders give the same bytes")
    return 1 if differing else 0


def said(checkout: Path, folder: Path) -> tuple[bytes, bytes]:
    """Return what a checkout prints about a folder, on standard output and standard error."""
    done = subprocess.run(  # noqa: S603 - two checkouts that the caller names
        [sys.executable, "-c", PROGRAM, str(folder.resolve()), *ARGUMENTS],
        env={"PYTHONPATH": str(checkout.resolve()), "PATH": ""},
        cwd="/",
        capture_output=True,
        check=False,
    )
    return done.stdout, done.stderr


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
