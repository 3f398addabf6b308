"""Which ``reveal`` cases the engine answers otherwise than a careful reader: the list, and how it is held strictly.

The list names cases by file and row (``row01_chain:120``), those of presumptions with ``presumed`` behind, each under a
heading that says why it is accepted. A case that is not listed must agree, and one that is listed must not: the list
can only shrink.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

LIST = Path(__file__).parent / "fixtures" / "inference" / "differences.txt"
UNSAFE = "said to be safe, is not"
"""The heading of what is excluded although it can happen: at most a handful, each with its reason in the line."""
MOST_UNSAFE = 5


@cache
def headings() -> dict[str, str]:
    """Return the listed cases with the headings under which they stand."""
    found: dict[str, str] = {}
    heading = ""
    for row in LIST.read_text().splitlines():
        if row.startswith("# "):
            heading = row[2:]
        elif row.strip():
            case = row.partition("  # ")[0].strip()
            assert heading, f"no heading above {case}"
            assert case not in found, f"listed twice: {case}"
            found[case] = heading
    return found


def hold(case: str, wrong: list[str], message: str) -> None:
    """Fail where a case differs and is not listed, or is listed and agrees; stop where it differs as listed."""
    if case not in headings():
        assert not wrong, message
    elif wrong:
        pytest.xfail(headings()[case])
    else:
        pytest.fail(f"{case} agrees: take it out of {LIST.name}")
