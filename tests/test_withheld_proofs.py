"""Inputs of proofs that were taken out: the same is found as with them, and no fix goes further than with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.before_and_after import written
from tests.nightly import in_turn
from torchlint.config import Config
from torchlint.diagnostics.model import Applicability
from torchlint.linter.engine import check_bytes

FOLDER = Path(__file__).parent / "fixtures" / "withheld"
CASES = [(path.stem, line) for path in sorted(FOLDER.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()]
BY_NUMBER = [f"{number} {name}" for number, (name, _) in enumerate(CASES)]
FARTHEST = {None: -1, **{str(each): each.value for each in Applicability}}


@pytest.mark.parametrize("case", in_turn(BY_NUMBER, 12, "inputs of withheld proofs"))
def test_no_more_is_claimed_than_with_the_proof(tmp_path: Path, case: str) -> None:
    entry: dict[str, Any] = json.loads(CASES[int(case.partition(" ")[0])][1])
    written(tmp_path, entry["files"])
    path = tmp_path / entry["file"]
    result = check_bytes(str(path), path.read_bytes(), Config())
    assert result.source is not None
    found = {
        (each.code, *result.source.position(each.start)): each.fix.applicability if each.fix else -1
        for each in result.findings
    }
    recorded = {(each["code"], each["line"], each["column"]): FARTHEST[each["fix"]] for each in entry["findings"]}
    assert found.keys() == recorded.keys()
    assert {place for place, trust in found.items() if trust > recorded[place]} == set()
