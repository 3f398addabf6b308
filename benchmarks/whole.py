"""Compares findings with those of the full way: every rule looks at every file, parsed whole and without screens.

    python benchmarks/whole.py FOLDER...

Names every file whose findings, reasons and fixes differ, and counts them. Nothing is written, nothing is run. The exit
status is 1 where a file cannot be checked one way.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from torchlint import engine  # noqa: E402
from torchlint.config import Config  # noqa: E402
from torchlint.model import FileResult  # noqa: E402
from torchlint.registry import RULES  # noqa: E402
from torchlint.rule_metadata import RuleMetadata  # noqa: E402
from torchlint.syntax.outline import Outline  # noqa: E402
from torchlint.syntax.stretches import Stretch, stretches, whole  # noqa: E402

EVERYTHING = Config(select=("ALL",))


def main(arguments: Sequence[str]) -> int:
    """Go through the folders and give the exit status."""
    parser = argparse.ArgumentParser(description="Compare the two ways to parse a file.")
    parser.add_argument("folder", type=Path, nargs="+")
    files = findings = troubles = 0
    different: list[Path] = []
    for path in sorted(path for folder in parser.parse_args(arguments).folder for path in folder.rglob("*.py")):
        found, full = both_ways(path)
        files += 1
        findings += len(full.findings)
        troubles += bool(found.troubles or full.troubles)
        if found.findings != full.findings:
            different.append(path)
            print(f"{path}: {len(set(found.findings) ^ set(full.findings))} findings differ", flush=True)
    print(f"{files} files, {findings} findings, {len(different)} files differ, {troubles} were not checked")
    return int(bool(troubles))


def both_ways(path: Path) -> tuple[FileResult, FileResult]:
    """Give what is found in a file by its functions, and as a whole."""
    raw = path.read_bytes()
    found = engine.check_bytes(str(path), raw, EVERYTHING)
    with mock.patch.multiple(engine, stretches=_whole, triggered=_all):
        return found, engine.check_bytes(str(path), raw, EVERYTHING)


def _all(codes: frozenset[str], text: bytes) -> list[RuleMetadata]:
    """Give the rules that have a word anywhere in a text, in whatever part of a word."""
    return [each for each in RULES if each.code in codes and any(word.encode() in text for word in each.words)]


def _whole(made: Outline, words: frozenset[str], called: frozenset[str], counts: object) -> list[Stretch]:
    del counts
    return [whole(made)] if stretches(made, words, called) else []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
