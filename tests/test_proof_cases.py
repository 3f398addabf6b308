"""Every claim, run: the old and new text of each case in every ordinary world of the host and the simulated device.

``pytest -m cuda`` runs the same on a real GPU. The ledger beside the proof holds what was proven, where and when.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numpy")

from tests.proven import PROVEN, is_due  # noqa: E402
from tools.ledger.proving import cases, in_changed_defaults, judged  # noqa: E402
from torchlint.config import Config  # noqa: E402
from torchlint.diagnostics.model import Applicability, Confidence  # noqa: E402
from torchlint.diagnostics.registry import RULES  # noqa: E402
from torchlint.linter.engine import check_bytes  # noqa: E402
from torchlint.verify import simulated, table  # noqa: E402
from torchlint.verify.cases import Case, claim, repaired  # noqa: E402
from torchlint.verify.table import SAFE, UNSAFE, claiming, of_rule  # noqa: E402

NO_SIMULATION = pytest.mark.skipif(simulated.missing() is not None, reason=str(simulated.missing()))
NO_CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device: run `pytest -m cuda` where one is")
DEVICES = [
    "cpu",
    pytest.param("simulated", marks=NO_SIMULATION),
    pytest.param("cuda", marks=[pytest.mark.cuda, NO_CUDA]),
]

NEVER_RAN = {
    "TNS105": ("np.",),
    "TNS106": (".to_sparse()", ".conj()"),
    "TNS107": (".numpy()[0]",),
    "TNS204": (".data[0]",),
    "TNS206": ("weight",),
    "TNS305": ("dtype=",),
}
"""Claims about code that raises in every world: what such a case of the rule holds."""


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def test_every_rule_with_a_safe_fix_has_cases() -> None:
    never_safe = {"TNS108", "TNS203", "TNS303", "TNS309", "TNS311", "TNS501", "TNS502", "TNS503"}
    assert set(claiming()) == {entry.code for entry in RULES if entry.words} - never_safe
    assert len(set(SAFE)) == len(SAFE)
    assert len({case.digest for case in cases(claiming())}) == len(cases(claiming()))


def test_a_safe_fix_on_a_rules_page_is_enough_to_be_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "SAFE", ())
    shown = {entry.code for entry in RULES if entry.words and table.of_rule(entry.code)}
    assert "TNS401" in shown
    assert set(claiming.__wrapped__()) == shown
    monkeypatch.setattr(table, "page_example", lambda code: SAFE[0])
    assert "TNS203" in claiming.__wrapped__()


@pytest.mark.parametrize("code", claiming())
def test_torchlint_claims_that_each_case_is_safe(code: str) -> None:
    for case in of_rule(code):
        config = Config(select=(code,), min_confidence=Confidence.UNPROVEN)
        result = check_bytes("<case>", case.text.encode(), config)
        assert result.findings, case.title
        assert result.troubles == ()
        assert [each.fix and each.fix.applicability for each in result.findings] == (
            [Applicability.SAFE] * len(result.findings)
        ), case.title
        assert repaired(case) != case.text, case.title


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("code", claiming())
def test_a_safe_fix_holds_in_every_ordinary_world(
    code: str, device: str, record_property: Callable[[str, object], None]
) -> None:
    refuted, left = [], 0
    for case in of_rule(code):
        if not is_due(f"case {device}", case.code, case.text, repaired(case)):
            left += 1
            continue
        verdict = judged(case, device)
        refuted += [f"{case.title} {each}" for each in verdict.refutations[:3]]
        assert verdict.allows == (Applicability.UNSAFE if verdict.refutations else Applicability.SAFE)
        raises = code in NEVER_RAN and any(each in case.text for each in NEVER_RAN[code])
        refused = _needs_another(case, device)
        assert verdict.ran or raises or refused, f"the old text never ran: {case.title}"
    record_property(PROVEN, left)
    assert refuted == []


def _needs_another(case: Case, device: str) -> bool:
    """Whether a case's old text can run on some other kind of device only."""
    if device == "cpu":
        return "cuda" in case.text
    made_on_host = case.code == "TNS101" or ".numpy()" in case.text or "device" in case.text
    return made_on_host or "cuda" in case.text


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("case", UNSAFE, ids=lambda case: case.title)
def test_an_unsafe_fix_differs_in_some_world_and_runs_in_some(case: Case, device: str) -> None:
    assert claim(case) == Applicability.UNSAFE
    assert repaired(case, unsafe=True) != case.text
    if not is_due(f"unsafe case {device}", case.code, case.text, repaired(case, unsafe=True)):
        pytest.skip(PROVEN)
    assert judged(case, device).allows == Applicability.UNSAFE


def test_a_file_that_changes_the_defaults_gets_a_safe_fix_that_says_them() -> None:
    case = next(each for each in SAFE if each.code == "TNS301" and "[1, 2, 3]" in each.text)
    setters = {"torch.set_default_dtype(torch.float64)": "dtype=torch.get_default_dtype()"}
    for statement, spelled in {**setters, 'torch.set_default_device("cuda")': 'device="cpu"'}.items():
        changed = replace(case, text=f"{case.text}\n{statement}\n")
        assert claim(changed) is Applicability.SAFE
        assert spelled in repaired(changed)
        assert spelled not in repaired(case)
    for device in ("cpu", "cuda"):  # so that the proof runs them, too
        assert in_changed_defaults(case, device)
