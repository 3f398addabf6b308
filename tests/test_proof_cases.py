"""Every safe claim, run: the old and the new text of each case in every ordinary world of this machine.

CUDA worlds are tried where there is CUDA. The ledger beside the proof holds what was proven elsewhere.
"""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numpy")

from torchlint.catalogue import CATALOGUE  # noqa: E402
from torchlint.config import Config  # noqa: E402
from torchlint.engine import check_bytes  # noqa: E402
from torchlint.model import Applicability  # noqa: E402
from torchlint.proof.cases import Case, digest, repaired  # noqa: E402
from torchlint.proof.judge import judge  # noqa: E402
from torchlint.proof.ledger import HOLDS, read  # noqa: E402
from torchlint.proof.observe import Snippet  # noqa: E402
from torchlint.proof.table import CLAIMING, SAFE, UNSAFE, of_rule  # noqa: E402
from torchlint.proof.worlds import devices, telling  # noqa: E402

DEVICES = [
    "cpu",
    pytest.param("cuda", marks=[pytest.mark.cuda, pytest.mark.skipif("cuda" not in devices(), reason="no CUDA")]),
]

NEVER_RAN = {"TNS305": "dtype=", "TNS204": ".data[0]", "TNS107": ".numpy()[0]"}
"""Claims about code that raises in every world: what such a case of the rule holds."""


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def test_every_rule_with_a_safe_fix_has_cases() -> None:
    drafts_only = {"TNS203", "TNS303"}
    assert set(CLAIMING) == {entry.code for entry in CATALOGUE if entry.words} - drafts_only
    assert len(set(SAFE)) == len(SAFE)


@pytest.mark.parametrize("code", CLAIMING)
def test_torchlint_claims_that_each_case_is_safe(code: str) -> None:
    for case in of_rule(code):
        result = check_bytes("case.py", case.text.encode(), Config(select=(code,)))
        assert result.findings, case.title
        assert result.troubles == ()
        assert [each.fix and each.fix.applicability for each in result.findings] == (
            [Applicability.SAFE] * len(result.findings)
        ), case.title
        assert repaired(case) != case.text, case.title


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("code", CLAIMING)
def test_a_safe_fix_holds_in_every_ordinary_world(code: str, device: str) -> None:
    refuted = []
    for case in of_rule(code):
        before = Snippet(case.text)
        verdict = judge(before, Snippet(repaired(case)), telling(device, before.given))
        refuted += [f"{case.title} {each}" for each in verdict.refutations[:3]]
        needs_cuda = "cuda" in case.text and device == "cpu"
        raises = code in NEVER_RAN and NEVER_RAN[code] in case.text
        assert verdict.ran or needs_cuda or raises, f"the old text never ran: {case.title}"
    assert refuted == []


@pytest.mark.parametrize("case", UNSAFE, ids=lambda case: case.title)
def test_an_unsafe_fix_differs_in_some_world(case: Case) -> None:
    before, after = Snippet(case.text), Snippet(repaired(case, unsafe=True))
    assert repaired(case) == case.text != after.text
    assert judge(before, after, telling("cpu", before.given)).refutations


# ---------------------------------------------------------------------- the ledger
@pytest.mark.parametrize("code", CLAIMING)
def test_the_ledger_holds_the_present_claims(code: str) -> None:
    rows = [row for row in read() if (row.code, row.device) == (code, "cpu")]
    assert [(row.digest, row.verdict) for row in rows] == [(digest(of_rule(code)), HOLDS)], (
        "the cases or the fixes changed: run `python -m torchlint.proof.ledger --write`"
    )


def test_what_was_proven_on_accelerators(record_property: pytest.RecordProperty) -> None:
    rows = [row for row in read() if row.device != "cpu"]
    stale = [row.code for row in rows if row.digest != digest(of_rule(row.code))]
    record_property("proven on", sorted({f"{row.device}, torch {row.torch}" for row in rows}))
    record_property("proven for older cases", stale)
    assert all(row.verdict == HOLDS for row in rows)
