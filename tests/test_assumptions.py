"""What fixes rest on: each thing is named once, a rule names its own, and trust follows from them alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.assumed import used
from tests.nightly import ROOT
from torchlint.config import Config
from torchlint.diagnostics.assumptions import (
    ASSUMPTIONS,
    AUTHOR_MEANT_THIS,
    BY_CLAIM,
    CELL_SHOWS_NOTHING,
    IS_SIZE,
    IS_TENSOR,
    NOT_TRACED,
    NOT_WRITTEN_LATER,
    RESULT_NOT_USED,
    SIBLINGS_ARE_REPAIRED,
    Decision,
    merged,
    told,
)
from torchlint.diagnostics.model import Applicability, Fix
from torchlint.diagnostics.registry import BY_CODE, BY_NAME, RULES
from torchlint.linter.engine import check_bytes

OF_THE_ENGINE = frozenset({CELL_SHOWS_NOTHING, SIBLINGS_ARE_REPAIRED})
"""What no rule can tell: the engine decides it for all of them."""
OPEN, PROVEN = IS_TENSOR.open("x"), NOT_TRACED.proven()


@pytest.mark.parametrize(
    ("decisions", "expected"),
    [
        ((), Applicability.SAFE),
        ((PROVEN,), Applicability.SAFE),
        ((PROVEN, OPEN), Applicability.UNSAFE),
        ((IS_SIZE.open("`n`"),), Applicability.DISPLAY),
        ((IS_SIZE.open("`n`"), OPEN), Applicability.DISPLAY),
        ((IS_SIZE.open("`n`", is_likely=True),), Applicability.UNSAFE),
        ((IS_SIZE.proven(of="`n`"),), Applicability.SAFE),
        ((AUTHOR_MEANT_THIS.open(),), Applicability.DISPLAY),
    ],
)
def test_trust_follows_from_what_is_open(decisions: tuple[Decision, ...], expected: Applicability) -> None:
    assert Fix("Do it", (), decisions).applicability is expected


def test_a_title_ends_with_what_is_open_and_why() -> None:
    fix = Fix("Do it", (), (PROVEN, OPEN, NOT_TRACED.open(doubt="`a.py` traces code"), OPEN))
    assert fix.title == (
        "Do it; assumes that `x` is a tensor of torch, and that the code is not traced or scripted (`a.py` traces code)"
    )
    assert Fix("Do it", (), (PROVEN,)).title == "Do it"


def test_a_doubt_that_several_share_is_told_once() -> None:
    doubt = "the project has too many files to look through"
    shared = (AUTHOR_MEANT_THIS.open("x", doubt), OPEN, NOT_TRACED.open(doubt=doubt))
    meant, tensor, traced = (each.claim for each in shared)
    assert told(shared) == f"assumes that {meant}, that {traced} ({doubt}), and that {tensor}"
    assert told(shared[::2]) == f"assumes that {meant}, and that {traced} ({doubt})"


def test_of_several_decisions_on_one_assumption_the_open_one_counts() -> None:
    other = IS_TENSOR.proven(of="y")
    assert merged([other, PROVEN, OPEN, IS_TENSOR.open("z")]) == (OPEN, PROVEN)
    assert merged([other, IS_TENSOR.proven(of="z")]) == (other,)


@pytest.mark.parametrize("name", ASSUMPTIONS)
def test_no_name_means_a_rule_too(name: str) -> None:
    assert name not in BY_NAME


def test_different_claims_by_one_name_stay_apart() -> None:
    written, used_later = NOT_WRITTEN_LATER.open("x"), RESULT_NOT_USED.open()
    assert written.name == used_later.name
    assert merged([written, used_later, NOT_WRITTEN_LATER.open("y")]) == (written, used_later)


@pytest.mark.parametrize("claim", BY_CLAIM)
def test_a_claim_is_short_and_belongs_to_a_name(claim: str) -> None:
    assert len(told((BY_CLAIM[claim].open("x"),))) <= 80
    assert BY_CLAIM[claim].name in ASSUMPTIONS


@pytest.mark.parametrize("code", [entry.code for entry in RULES])
def test_a_rule_names_what_its_fixes_rest_on(code: str) -> None:
    assert {each.name for each in set(used(code)) - OF_THE_ENGINE} == set(BY_CODE[code].assumes)
    assert len(set(BY_CODE[code].assumes)) == len(BY_CODE[code].assumes)


def test_every_assumption_belongs_to_a_rule() -> None:
    assert set(ASSUMPTIONS) == {name for entry in RULES for name in entry.assumes}


@pytest.mark.parametrize("name", ASSUMPTIONS)
def test_the_page_explains_each(name: str) -> None:
    text = Path(ROOT, "docs", "fix-safety.md").read_text(encoding="utf-8")
    found = re.search(rf"^### {name}\n\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL)
    assert found is not None
    assert " ".join(found[1].split()) == ASSUMPTIONS[name]


def test_a_tensor_is_one_though_its_dimensions_are_unknown() -> None:
    program = "import torch\n\n\ndef read(x):\n    loss = torch.relu(x)\n    return loss.data[0]\n"
    (finding,) = check_bytes("<example>", program.encode(), Config(select=("TNS204",))).findings
    assert finding.fix is not None
    assert [each.name for each in finding.fix.assumptions if not each.is_proven] == ["is-scalar"]
