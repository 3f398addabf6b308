"""A smoke run over the environment's own packages: no crash, no trouble, and no finding where torch is not used.

By default a fixed sample of files is looked at; ``TORCHLINT_FULL=1`` takes them all.
"""

from __future__ import annotations

import hashlib
import os
import sysconfig
from pathlib import Path

from tests import nightly
from torchlint.config import Config
from torchlint.linter.engine import check_bytes, fix_bytes

SAMPLE = 400
LARGEST = 200_000
EVERYTHING = Config(select=("ALL",), unsafe_fixes=True)


def files() -> list[Path]:
    """Return all files, or the sample.

    By the hash of the path, so that it stays the same while the environment does.
    """
    base = Path(sysconfig.get_path("purelib"))
    every = (path for path in base.rglob("*.py") if path.is_file() and "torchlint" not in path.parts)
    if os.environ.get("TORCHLINT_FULL") == "1":
        return sorted(every)
    small = [path for path in every if path.stat().st_size < LARGEST]
    small.sort(key=lambda path: hashlib.sha256(str(path.relative_to(base)).encode()).digest())
    return sorted(small[:SAMPLE])


@nightly.only("files of installed packages")
def test_no_crash_and_no_false_alarm_over_installed_packages() -> None:
    looked_at = files()
    assert len(looked_at) >= 100
    problems = []
    for path in looked_at:
        raw = path.read_bytes()
        result = check_bytes(str(path), raw, EVERYTHING)
        problems += [f"{path}: {trouble.message}" for trouble in result.troubles]
        found = {each.code for each in result.findings} - {"TNS900"}
        if found and b"torch" not in raw:
            problems.append(f"{path}: {sorted(found)} in a file that does not know torch")
        if found:
            outcome = fix_bytes(str(path), raw, EVERYTHING)
            problems += [f"{path}: {trouble.message}" for trouble in outcome.remaining.troubles]
            problems += [
                f"{path}: {each.code} fixed only in a second run"
                for each in fix_bytes(str(path), outcome.raw, EVERYTHING).fixed
            ]
    assert problems == []
