"""What is said of fixes for real code: the page agrees with itself, and the script counts what it is given."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "benchmarks" / "proofs.py"
PAGE = ROOT / "docs" / "verify.md"
EMPTY = "<!-- corpus: written by benchmarks/proofs.py -->\nold\n<!-- corpus: end -->\n"


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    spec = importlib.util.spec_from_file_location("proofs", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "page.md").write_text(EMPTY)
    monkeypatch.setattr(module, "PAGE", tmp_path / "page.md")
    return module


def fix(claim: str, verdict: str, **more: object) -> dict[str, object]:
    return {
        "filename": "a.py", "location": {"row": 3}, "code": "TNS201", "applicability": claim, "verdict": verdict,
        "reason": None, "differences": [], **more,
    }  # fmt: skip


def results(folder: Path, *fixes: dict[str, object]) -> Path:
    document = {"torch": "2.13.0", "devices": ["cpu"], "fixes": fixes}
    (folder / "captum==0.4.0.json").write_text(json.dumps(document))
    return folder


def test_verdicts_are_counted_by_rule_claim_and_reason(script: ModuleType, tmp_path: Path) -> None:
    found = results(
        tmp_path,
        fix("safe", "proven"),
        fix("safe", "not testable", reason="`self.net` is not on the list"),
        fix("unsafe", "not testable", reason="`other.net` is not on the list"),
        fix("unsafe", "refuted", differences=[{"observable": "input x: writes counted"}]),
    )
    assert script.main(["--results", str(found), "--report"]) == 0
    text = (tmp_path / "page.md").read_text()
    assert "with torch 2.13.0 on cpu: 4 fixes proposed for 1 releases" in text
    assert "| TNS201 | safe | 1 | 0 | 0 | 0 | 1 |\n| TNS201 | unsafe | 0 | 0 | 0 | 1 | 1 |\n" in text
    assert "| `...` is not on the list | 1 | 1 |" in text
    assert "| writes counted | 0 | 1 |" in text
    assert "old" not in text
    assert "Not run: advertorch" not in text.split("Not run: ")[0]


def test_a_refuted_safe_fix_is_named_and_fails_the_run(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refuted = fix("safe", "refuted", differences=[{"observable": "a: dtype"}])
    assert script.main(["--results", str(results(tmp_path, refuted)), "--report"]) == 1
    assert capsys.readouterr().err.startswith("a.py:3: TNS201 ")


def test_without_results_one_line_says_so(script: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    with pytest.raises(SystemExit, match="nothing was run yet"):
        script.main(["--results", str(tmp_path / "none"), "--report"])


def test_the_page_tells_of_three_hundred_fixes_and_of_no_safe_one_that_is_refuted() -> None:
    block = re.search(
        r"<!-- corpus: written by benchmarks/proofs.py -->\n(.*)<!-- corpus: end -->", PAGE.read_text(), re.DOTALL
    )
    assert block
    said = re.search(r"(\d+) fixes proposed for", block[1])
    assert said
    total = {claim: [int(each) for each in rest.split(" | ")] for claim, rest in TOTALS.findall(block[1])}
    assert sum(map(sum, total.values())) == int(said[1]) >= 300
    assert total["safe"][1] == 0


TOTALS = re.compile(r"^\| all \| (safe|unsafe) \| (\d+ \| \d+ \| \d+) \|$", re.MULTILINE)
