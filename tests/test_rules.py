"""Every rule's fixtures: what must stay silent, what must be found and where, and the exact text after the fixes.

``tests/fixtures/rules/TNS201/`` holds ``silent*.py``, in which the rule says nothing, and other ``*.py`` files, in
which a comment on a finding's row says what is expected there: ``# TNS201@9 certain safe`` (column, confidence, and
applicability or ``none``), several parted by ``;``. Beside ``NAME.py``, ``NAME.safe.txt`` is its text after ``--fix``
and ``NAME.unsafe.txt`` after ``--fix --unsafe-fixes``; a missing one says that the text stays as it is.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from torchlint.config import Config
from torchlint.diagnostics.model import Confidence, FileResult, Finding
from torchlint.diagnostics.registry import RULES
from torchlint.linter.engine import check_bytes, fix_bytes

FIXTURES = Path(__file__).parent / "fixtures" / "rules"
EXPECTED = re.compile(r"(TNS\d{3})@(\d+) (certain|likely|possible|unproven) (safe|unsafe|display|none)")

SILENT = sorted(FIXTURES.glob("*/silent*.py"))
FLAGGED = sorted(path for path in FIXTURES.glob("*/*.py") if not path.name.startswith("silent"))


def only(path: Path, **changes: object) -> Config:
    return replace(Config(min_confidence=Confidence.UNPROVEN, select=(path.parent.name,)), **changes)  # type: ignore[arg-type]


def alone(path: Path) -> str:
    """Return a path at which a fixture is a project of its own: its neighbours are other people's code."""
    return f"/alone/{path.parent.name}/{path.name}"


def label(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def said(result: FileResult, finding: Finding) -> tuple[int, str]:
    assert result.source is not None
    row, column = result.source.position(finding.start)
    applicability = str(finding.fix.applicability) if finding.fix else "none"
    return row, f"{finding.code}@{column} {finding.confidence} {applicability}"


def expected(text: str) -> list[tuple[int, str]]:
    rows = enumerate(text.splitlines(), 1)
    return [(row, match.group()) for row, line in rows for match in EXPECTED.finditer(line.rpartition("# ")[2])]


@pytest.mark.parametrize("entry", [e for e in RULES if e.words], ids=lambda e: e.code)
def test_every_rule_has_silent_and_flagged_fixtures(entry) -> None:  # type: ignore[no-untyped-def]
    assert list((FIXTURES / entry.code).glob("silent*.py"))
    assert [path for path in FLAGGED if path.parent.name == entry.code]


@pytest.mark.parametrize("path", SILENT, ids=label)
def test_silent(path: Path) -> None:
    result = check_bytes(alone(path), path.read_bytes(), only(path))
    assert [said(result, each) for each in result.findings] == []
    assert result.troubles == ()


@pytest.mark.parametrize("path", FLAGGED, ids=label)
def test_findings_and_their_places(path: Path) -> None:
    result = check_bytes(alone(path), path.read_bytes(), only(path))
    assert sorted(said(result, each) for each in result.findings) == sorted(expected(path.read_text()))
    assert [said(result, each) for each in result.findings if not each.why or not all(each.why)] == []
    assert result.troubles == ()


@pytest.mark.parametrize("path", FLAGGED, ids=label)
def test_what_is_said_stands_in_one_line(path: Path) -> None:
    for each in check_bytes(alone(path), path.read_bytes(), only(path)).findings:
        texts = (each.message, *each.why, *([each.fix.title] if each.fix else ()))
        assert [text for text in texts if not text.isprintable()] == []


@pytest.mark.parametrize("path", FLAGGED, ids=label)
def test_detach_is_advised_where_the_fix_writes_it(path: Path) -> None:
    for each in check_bytes(alone(path), path.read_bytes(), only(path)).findings:
        if each.fix is not None and each.message.endswith("with `.detach()`"):
            assert any("detach" in edit.text for edit in each.fix.edits)


@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
@pytest.mark.parametrize("path", FLAGGED, ids=label)
def test_exact_text_after_the_fixes(path: Path, unsafe: bool) -> None:
    config = only(path, unsafe_fixes=unsafe)
    outcome = fix_bytes(alone(path), path.read_bytes(), config)
    beside = path.with_suffix(".unsafe.txt" if unsafe else ".safe.txt")
    wanted = beside if beside.exists() else path
    assert outcome.raw.decode() == wanted.read_text()
    assert outcome.remaining.troubles == ()


@pytest.mark.parametrize("path", FLAGGED, ids=label)
def test_a_second_run_fixes_nothing_more(path: Path) -> None:
    config = only(path, unsafe_fixes=True)
    once = fix_bytes(alone(path), path.read_bytes(), config).raw
    assert fix_bytes(alone(path), once, config).fixed == ()
