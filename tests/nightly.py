"""What the gate leaves to the nightly run: what is slow and rests on torch or on a platform, and shares of large lists.

``NIGHTLY=1`` in the environment leaves nothing out. What was left out is counted at the end of a run, by reason.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

import pytest

ROOT = Path(__file__).resolve().parents[1]
RUNS = os.environ.get("NIGHTLY") == "1"
"""Whether this run leaves nothing out."""
LEFT = "left to the nightly run: "
Parameter = TypeVar("Parameter")


def only(reason: str) -> pytest.MarkDecorator:
    """Return a mark that leaves a test to the nightly run."""
    return pytest.mark.skipif(not RUNS, reason=f"{LEFT}{reason}")


def in_turn(parameters: Iterable[Parameter], shares: int, name: str) -> list[Parameter | object]:
    """Return the parameters of a test, with a mark on all that do not belong to the share that is run this time.

    ``name`` says what they are. Each change of the program brings another share, and none is empty.
    """
    every = list(parameters)
    chosen = set(sorted(map(_key, every), key=_turn)[: max(1, len(every) // shares)])
    mark = only(f"{name}: this run is for 1 of {shares}")
    return [each if RUNS or _key(each) in chosen else _marked(each, mark) for each in every]


def is_turn_of(key: str, shares: int) -> bool:
    """Whether a thing belongs to the share of this run: to another one with each change of the program."""
    return RUNS or int(_turn(key), 16) % shares == 0


def _turn(key: str) -> str:
    return short(tree() + key)


def short(text: str) -> str:
    """Return a short digest of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def of_files(paths: Sequence[Path]) -> str:
    """Return a digest of files of this repository, by their paths in it and their bytes."""
    whole = hashlib.sha256()
    for path in paths:
        whole.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return whole.hexdigest()


@cache
def tree() -> str:
    """Return a digest of the program."""
    return of_files(sorted((ROOT / "torchlint").rglob("*.py")))


def counted(reports: Iterable[pytest.TestReport]) -> Counter[str]:
    """Return how much was left out, by reason: skipped tests, and what a test says it left out itself."""
    found: Counter[str] = Counter()
    for report in reports:
        if report.skipped and isinstance(report.longrepr, tuple) and LEFT in report.longrepr[2]:
            found[report.longrepr[2].partition(LEFT)[2]] += 1
        if report.when == "call":
            found.update({key.removeprefix(LEFT): count for key, count in report.user_properties if LEFT in key})
    return +found


def _key(parameter: object) -> str:
    return str(parameter.relative_to(ROOT)) if isinstance(parameter, Path) else str(parameter)


def _marked(parameter: object, mark: pytest.MarkDecorator) -> object:
    return pytest.param(*parameter if isinstance(parameter, tuple) else (parameter,), marks=mark)
