"""Mutation of the fixes: a harness that refutes nothing proves nothing, so wrong fixes of every rule are refuted."""

from __future__ import annotations

from collections import Counter

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numpy")

from tests.wrong_fixes import FEWER, MUTANTS, REWRITINGS, Mutant, Rewriting  # noqa: E402
from torchlint.diagnostics.registry import RULES  # noqa: E402
from torchlint.verify import simulated  # noqa: E402
from torchlint.verify.compare import judge, pairwise  # noqa: E402
from torchlint.verify.snippet import Snippet  # noqa: E402
from torchlint.verify.worlds import Pairs, World, telling  # noqa: E402


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def require(device: str, text: str) -> None:
    if device == simulated.NAME and simulated.missing():
        pytest.skip(str(simulated.missing()))
    if device == "cpu" and "cuda" in text and torch.cuda.is_available():
        pytest.skip("asks for CUDA, which is here")


def witness(texts: tuple[str, str], observable: str, device: str) -> World | None:
    """Return the first ordinary world in which the old text runs and the new one differs in an observable."""
    require(device, texts[0])
    old, new = map(Snippet, texts)
    for world in telling(device, old.given):
        if observable in {each.observable for each in judge(old, new, [world]).refutations}:
            return world
    return None


def name(wrong: Mutant | Rewriting) -> str:
    return f"{wrong.code} {wrong.fault}"


@pytest.mark.parametrize("wrong", [*MUTANTS, *REWRITINGS], ids=name)
def test_a_pairwise_choice_of_worlds_refutes_it_too(wrong: Mutant | Rewriting) -> None:
    before, *_, after = wrong.texts
    require(wrong.device, before)
    old, new = Snippet(before), Snippet(after)
    tried = list(pairwise(old, new, telling(wrong.device, old.given), Pairs()))
    assert wrong.observable in {what for run in tried for what, *_ in run.differences}


@pytest.mark.parametrize("mutant", MUTANTS, ids=name)
def test_a_fix_that_went_wrong_is_refuted(mutant: Mutant) -> None:
    before, right, wrong = mutant.texts
    assert wrong != right
    world = witness((before, wrong), mutant.observable, mutant.device)
    assert world is not None
    assert judge(Snippet(before), Snippet(right), [world]).holds, "the right fix holds where the wrong one does not"


@pytest.mark.parametrize("rewriting", REWRITINGS, ids=name)
def test_a_tempting_rewriting_is_refuted(rewriting: Rewriting) -> None:
    assert witness(rewriting.texts, rewriting.observable, rewriting.device) is not None


def test_each_rule_has_three_wrong_fixes_that_are_refuted() -> None:
    counted = Counter(each.code for each in (*MUTANTS, *REWRITINGS))
    assert {*counted, *FEWER} <= {rule.code for rule in RULES}
    assert {code: count for code, count in counted.items() if count < 3 and code not in FEWER} == {}
    assert not set(FEWER) & {code for code, count in counted.items() if count >= 3}
    assert all(FEWER.values())
    assert len({name(each) for each in (*MUTANTS, *REWRITINGS)}) == len(MUTANTS) + len(REWRITINGS)


def test_every_rule_has_wrong_fixes() -> None:
    lacking = sorted({rule.code for rule in RULES} - {*FEWER, *(each.code for each in (*MUTANTS, *REWRITINGS))})
    if lacking:  # whoever adds a rule is told, and not kept from it
        pytest.skip(f"no wrong fixes yet of {', '.join(lacking)}: three in tests/wrong_fixes.py show that worlds tell")
