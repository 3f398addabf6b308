"""The ledger: it holds today's examples and no others, no rule claims more than it, and it says how old it is."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, datetime, timezone
from pathlib import Path

import pytest

from torchlint.model import Applicability
from torchlint.proof import ledger
from torchlint.proof.cases import Case
from torchlint.proof.ledger import Ledger, Rare, Row
from torchlint.proof.table import CLAIMING, SAFE, UNSAFE, of_rule

HOSTED = ("cpu", "simulated")
EXAMPLES = [*(case for code in CLAIMING for case in of_rule(code)), *UNSAFE]
WRITE = "run `python -m torchlint.proof.ledger --write`"
ROW = Row("TNS101", "TNS101 a", "cpu", "cpu", "2.13.0", "aa", 3, 2, "safe", "safe", "2026-01-01")
RARE = Rare("TNS101", "vmap", "TNS101 a", "exception", "", "x", "2.13.0")


def claimed(case: Case) -> Applicability:
    return Applicability.UNSAFE if case in UNSAFE else Applicability.SAFE


# ---------------------------------------------------------------------- the ledger that comes with the source
@pytest.mark.parametrize("kind", HOSTED)
def test_each_example_has_a_row_as_it_is_today(kind: str) -> None:
    rows = {row.digest for row in ledger.read().rows if row.kind == kind}
    examples = {case.digest for case in EXAMPLES}
    assert [case.title for case in EXAMPLES if case.digest not in rows] == [], f"an example changed: {WRITE}"
    assert rows <= examples, f"an example is gone: {WRITE}"


def test_no_rule_claims_more_than_its_ledger() -> None:
    allowed = {row.digest: Applicability[row.allows.upper()] for row in ledger.read().rows if row.kind in HOSTED}
    assert [case.title for case in EXAMPLES if claimed(case) > allowed.get(case.digest, Applicability.DISPLAY)] == []
    for row in ledger.read().rows:
        assert Applicability[row.claims.upper()] <= Applicability[row.allows.upper()], row.example


def test_every_safe_case_is_an_example() -> None:
    assert set(SAFE) <= set(EXAMPLES)


def test_how_old_the_rows_of_real_accelerators_are_is_said(record_property: pytest.RecordProperty) -> None:
    rows = ledger.read().rows
    said = ledger.age(rows, datetime.now(timezone.utc).date())
    record_property("accelerators", said)
    real = [row for row in rows if row.kind not in HOSTED]
    assert said == "no row of a real accelerator yet: CUDA was only simulated" or (
        real and said.startswith(str(len(real)))
    )


def test_differences_in_rare_worlds_are_listed_for_rules_that_exist() -> None:
    rare = ledger.read().rare
    assert {each.code for each in rare} <= set(CLAIMING)
    assert ("TNS401", "subclass") in {(each.code, each.world) for each in rare}


# ---------------------------------------------------------------------- as a file
def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    assert ledger.read(path) == Ledger()
    whole = Ledger((ROW, replace(ROW, device="A100", kind="cuda")), (RARE,))
    ledger.write(whole, path)
    assert ledger.read(path) == whole
    assert set(json.loads(path.read_text())) == {"rows", "rare"}
    assert len(path.read_text().splitlines()) == 7


def test_a_row_takes_the_place_of_the_one_for_the_same_example_device_and_torch() -> None:
    old = Ledger((ROW, replace(ROW, torch="1.13.1", date="2025-01-01")), (RARE,))
    new = Ledger((replace(ROW, ran=1, date="2026-02-02"),), (replace(RARE, world="meta"),))
    merged = ledger.merged(old, new, {"aa"})
    assert set(merged.rows) == {new.rows[0], old.rows[1]}
    assert merged.rare == new.rare


def test_a_row_keeps_its_date_while_nothing_changes() -> None:
    again = replace(ROW, date="2026-02-02")
    assert ledger.merged(Ledger((ROW,)), Ledger((again,)), {"aa"}).rows == (ROW,)


def test_rows_of_gone_examples_go_but_those_of_real_devices_stay() -> None:
    real = replace(ROW, kind="cuda", device="A100")
    assert ledger.merged(Ledger((ROW, real)), Ledger(), {"bb"}).rows == (real,)


def test_the_age_of_real_rows_is_counted_from_the_oldest() -> None:
    rows = [replace(ROW, kind="cuda", device="A100", date=day) for day in ("2026-01-11", "2026-01-01")]
    assert ledger.age(rows, date(2026, 1, 31)) == (
        "2 rows of real accelerators (A100 with torch 2.13.0), the oldest of 2026-01-01: 30 days ago"
    )
    assert ledger.age([ROW], date(2026, 1, 31)) == "no row of a real accelerator yet: CUDA was only simulated"
