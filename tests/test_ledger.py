"""The ledger: it holds today's examples and no others, no rule claims more than it, and it says how old it is."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from datetime import date, datetime, timezone
from pathlib import Path

import pytest

from tools.ledger import rows as ledger
from tools.ledger.rows import Absent, Ledger, Rare, Row
from torchlint.diagnostics.model import Applicability
from torchlint.verify.cases import claim
from torchlint.verify.table import SAFE, UNSAFE, claiming, of_rule

HOSTED = ("cpu", "simulated")
EXAMPLES = [*(case for code in claiming() for case in of_rule(code)), *UNSAFE]
OLDER = [("cpu", (1, 13)), ("cpu", (2, 6))]
"""What else the ledger holds: a recorded run with each of these. Examples that are new or changed since have no row
there, and the rule's page says how many."""
TODAY = [("cpu", (2, 13)), ("simulated", (2, 13))]
"""What every example is run with."""
RUN = [*OLDER, *TODAY]
WRITE = "run `python tools/regenerate.py`"
ROW = Row("TNS101", "TNS101 a", "cpu", "cpu", "2.13.0", "aa", 3, 2, "safe", "safe", "2026-01-01")
RARE = Rare("TNS101", "vmap", "TNS101 a", "exception", "", "x", "2.13.0")


# ---------------------------------------------------------------------- the ledger that comes with the source
def rows_of(kind: str, target: tuple[int, int]) -> dict[str, Row]:
    return {row.digest: row for row in ledger.read().rows if row.kind == kind and ledger.series(row) == target}


@pytest.mark.parametrize(("kind", "target"), RUN, ids=str)
def test_each_example_has_a_row_as_it_is_today(kind: str, target: tuple[int, int]) -> None:
    rows = rows_of(kind, target)
    examples = {case.digest_for(target): case.title for case in EXAMPLES}
    missing = [title for digest, title in examples.items() if digest not in rows]
    assert missing == [] or (kind, target) in OLDER, f"an example changed: {WRITE}"
    assert rows.keys() <= examples.keys(), f"an example is gone: {WRITE}"


@pytest.mark.parametrize(("kind", "target"), OLDER, ids=str)
def test_examples_that_an_older_torch_has_not_run_are_counted_on_the_page(kind: str, target: tuple[int, int]) -> None:
    rows = rows_of(kind, target)
    missing = Counter(case.code for case in EXAMPLES if case.digest_for(target) not in rows)
    for code in claiming():
        page = (Path(__file__).parents[1] / "docs" / "rules" / f"{code}.md").read_text(encoding="utf-8")
        said = re.search(rf"Not run yet: .*?(\d+) of \d+ on torch {target[0]}\.{target[1]}", page)
        assert (int(said[1]) if said else 0) == missing[code], code


@pytest.mark.parametrize(("kind", "target"), RUN, ids=str)
def test_no_rule_claims_more_than_its_ledger_for_a_torch(kind: str, target: tuple[int, int]) -> None:
    rows = rows_of(kind, target)
    for case in EXAMPLES:
        row = rows.get(case.digest_for(target))
        if row is None and (kind, target) in OLDER:
            continue
        assert row is not None, case.title
        assert row.claims == str(claim(case, target)), case.title
        assert claim(case, target) <= Applicability[row.allows.upper()], case.title


def test_where_no_torch_is_known_nothing_is_claimed_that_fails_on_one_of_them() -> None:
    rows = ledger.read().rows
    for case in EXAMPLES:
        allowed = [Applicability[row.allows.upper()] for row in rows if row.digest == case.digest]
        assert len(allowed) >= len(TODAY), case.title
        assert claim(case) <= min(allowed), case.title


def test_all_that_was_run_is_of_these_torches_and_what_could_not_be_is_named() -> None:
    found = ledger.read()
    hosted = {(row.kind, ledger.series(row)) for row in found.rows if row.kind in HOSTED}
    assert hosted == set(RUN)
    absent = {(ledger.series(each), each.world) for each in found.absent}
    assert {series for series, world in absent if world == "simulated"} == {(1, 13), (2, 6)}
    assert {world for series, world in absent if series == (2, 13)} == set()
    assert ((1, 13), "float8_e4m3fn") in absent
    assert all(each.reason for each in found.absent)


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
    assert {each.code for each in rare} <= set(claiming())
    assert ("TNS401", "subclass") in {(each.code, each.world) for each in rare}


# ---------------------------------------------------------------------- as a file
def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    assert ledger.read(path) == Ledger()
    whole = Ledger((ROW, replace(ROW, device="A100", kind="cuda")), (RARE,), (Absent("1.13.1", "vmap", "no `func`"),))
    ledger.write(whole, path)
    assert ledger.read(path) == whole
    assert set(json.loads(path.read_text())) == {"rows", "rare", "absent"}
    assert len(path.read_text().splitlines()) == 10


def test_a_row_takes_the_place_of_the_one_for_the_same_example_device_and_torch() -> None:
    old = Ledger((ROW, replace(ROW, torch="1.13.1", date="2025-01-01")), (RARE,))
    new = Ledger((replace(ROW, ran=1, date="2026-02-02"),), (replace(RARE, world="meta"),))
    merged = ledger.merged(old, new, {"aa"})
    assert set(merged.rows) == {new.rows[0], old.rows[1]}
    assert merged.rare == new.rare


def test_what_is_known_of_rare_worlds_stays_until_the_same_torch_runs_again() -> None:
    gone = Absent("2.13.0", "vmap", "no")
    old = Ledger((ROW,), (RARE,), (gone,))
    older = Ledger((replace(ROW, torch="1.13.1"),), (replace(RARE, torch="1.13.1"),), (replace(gone, torch="1.13.1"),))
    both = ledger.merged(old, older, {"aa"})
    assert (set(both.rare), set(both.absent)) == ({RARE, *older.rare}, {gone, *older.absent})
    assert ledger.merged(both, Ledger((replace(ROW, kind="simulated"),)), {"aa"}).rare == both.rare
    again = ledger.merged(both, Ledger((ROW,)), {"aa"})
    assert (again.rare, again.absent) == (older.rare, older.absent)


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
