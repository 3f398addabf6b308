"""What is left to the nightly run is a share, is marked as left out, and is counted by reason."""

from __future__ import annotations

import pytest

from tests import nightly, proven


def left(parameters: list[object]) -> list[object]:
    return [each for each in parameters if isinstance(each, type(pytest.param()))]


def test_a_share_is_run_and_the_others_are_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nightly, "RUNS", False)
    chosen = nightly.in_turn(range(100), 4, "numbers")
    assert len(chosen) == 100
    assert len(left(chosen)) == 75
    assert len(left(nightly.in_turn(["a", "b"], 4, "letters"))) == 1, "no share is empty"
    monkeypatch.setattr(nightly, "RUNS", True)
    assert nightly.in_turn(range(100), 4, "numbers") == list(range(100))


def test_another_program_brings_another_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nightly, "RUNS", False)
    shares = []
    for digest in ("one", "two"):
        monkeypatch.setattr(nightly, "tree", lambda digest=digest: digest)
        shares.append([each for each in nightly.in_turn(range(100), 4, "numbers") if isinstance(each, int)])
    assert shares[0] != shares[1]


def test_what_was_never_proven_is_due_and_a_share_of_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    def due(*recorded: str) -> int:
        monkeypatch.setattr(proven, "_recorded", lambda: frozenset(recorded))
        return sum(proven.is_due("proof", str(each)) for each in range(400))

    monkeypatch.delenv("PROOFS_RECORD", raising=False)
    monkeypatch.setattr(nightly, "RUNS", False)
    monkeypatch.setattr(proven, "_prover", lambda: "prover")
    monkeypatch.setattr(proven, "_releases", lambda: ("2.13", "2.0"))
    all_of_them = [proven.digest("proof", str(each)) for each in range(400)]
    assert due() == due("prover") == 400
    assert 5 < due("prover", *all_of_them) < 60, "a sixteenth, and each time another"
    assert 25 < due("another prover", *all_of_them) < 80, "an eighth: the code that proves has changed"
    assert due("prover", *all_of_them[:300]) >= 100
    monkeypatch.setattr(nightly, "RUNS", True)
    assert due("prover", *all_of_them) == 400


def test_what_was_left_out_is_counted_by_reason() -> None:
    skipped = pytest.TestReport(
        "a.py::b", ("a.py", 1, "b"), {}, "skipped", ("a.py", 1, f"Skipped: {nightly.LEFT}slow"), "setup"
    )
    other = pytest.TestReport("a.py::c", ("a.py", 2, "c"), {}, "skipped", ("a.py", 2, "Skipped: no GPU"), "setup")
    ran = pytest.TestReport(
        "a.py::d", ("a.py", 3, "d"), {}, "passed", None, "call", user_properties=[(f"{nightly.LEFT}proofs", 3)]
    )
    assert nightly.counted([skipped, skipped, other, ran]) == {"slow": 2, "proofs": 3}
