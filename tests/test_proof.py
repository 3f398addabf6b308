"""The harness itself: it sees the differences that matter, names them with their world, and passes what is equal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, fields
from itertools import combinations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numpy")

from torchlint.diagnostics.model import Applicability  # noqa: E402
from torchlint.verify.compare import Judgement, differences, judge  # noqa: E402
from torchlint.verify.observe import Observation, Snippet, observe  # noqa: E402
from torchlint.verify.worlds import (  # noqa: E402
    ARRAYS,
    DTYPES,
    KINDS,
    LAYOUTS,
    LIVE,
    MODES,
    STATES,
    Pairs,
    World,
    covering,
    make_inputs,
    ordinary,
    telling,
)

HEAD = "import numpy as np\nimport torch\nfrom torch import nn\nfrom torch.autograd import Variable\n"
LEAF = World("cpu", "leaf", "grad", "float32", "matrix")


def snippet(body: str, given: str) -> Snippet:
    return Snippet(f"{HEAD}\n\ndef case({given}):\n" + "".join(f"    {line}\n" for line in body.splitlines()))


def tried(before: str, after: str, given: str = "t") -> Judgement:
    return judge(snippet(before, given), snippet(after, given), telling("cpu", given.split(", ") if given else ()))


def observables(verdict: Judgement) -> set[str]:
    return {each.observable for each in verdict.refutations}


# ---------------------------------------------------------------------- worlds
def test_each_trait_of_a_world_occurs_and_no_world_twice() -> None:
    worlds = ordinary("cpu")
    assert len(set(worlds)) == len(worlds)
    for trait, values in (("state", STATES), ("mode", MODES), ("dtype", DTYPES), ("layout", LAYOUTS)):
        assert {getattr(each, trait) for each in worlds} == set(values)


@pytest.mark.parametrize("world", [each for each in ordinary("cpu") if each.mode == "grad"], ids=str)
def test_a_world_is_what_it_says(world: World) -> None:
    inputs = make_inputs(world, ["t"])
    t = inputs.names["t"]
    attached = world.state not in ("detached", "frozen parameter") and world.dtype not in ("int64", "bool")
    assert str(t.dtype) == f"torch.{world.dtype}"
    assert t.device.type == "cpu"
    assert t.requires_grad == attached
    assert isinstance(t, torch.nn.Parameter) == world.state.endswith("parameter")
    assert (t.grad_fn is not None) == (world.state in ("result", "view of a leaf") and attached)
    assert t.is_contiguous() == (world.layout not in ("transposed", "expanded", "sliced"))
    if world.state == "view of a leaf" and attached:
        assert t._base is inputs.roots["root"]


def test_worlds_that_do_not_differ_for_a_piece_of_code_are_left_out() -> None:
    assert len(telling("cpu", ["t", "array"])) == len(ordinary("cpu"))
    assert {each.array for each in telling("cpu", ["t"])} == {"writeable"}
    assert telling("cpu", ["tensor"]) == telling("cpu", ["t"])
    assert len(telling("cpu", ["model", "n"])) == len(MODES)
    assert len(telling("cpu", ["array"])) < len(ordinary("cpu")) / 2


def pairs(worlds: Iterable[World]) -> set[frozenset[tuple[str, str]]]:
    traits = [[(each.name, getattr(world, each.name)) for each in fields(world)] for world in worlds]
    return {frozenset(pair) for found in traits for pair in combinations(found, 2)}


def test_two_traits_that_met_where_code_raised_meet_again_where_it_runs() -> None:
    whole = ordinary("cpu")
    running = {each for each in whole if each.dtype == "float32" and each.layout == "sliced" and each.mode == "grad"}
    choice, chosen = Pairs(), []
    for world in choice.choice(whole):
        choice.unmet = world not in running
        chosen.append(world)
    assert pairs(running & set(chosen)) == pairs(running)
    assert len(set(chosen)) == len(chosen)


def test_traits_that_have_met_are_not_brought_together_again() -> None:
    choice, whole = Pairs(), ordinary("cpu")
    first, again = list(choice.choice(whole, ["tensor"])), list(choice.choice(whole, ["tensor"]))
    assert len(again) == 0 < len(first)
    beside = list(choice.choice(whole, ["array"]))
    assert pairs(beside) < pairs(whole), "what is given is new, and meets each trait once"
    assert {(name, value) for world in beside for name, value in asdict(world).items()} == {
        (name, value) for world in whole for name, value in asdict(world).items()
    }


def test_a_covering_choice_keeps_each_two_traits_that_occur_together() -> None:
    whole, chosen = ordinary("cpu"), covering(ordinary("cpu"))
    assert set(chosen) <= set(whole)
    assert len(chosen) < len(whole) / 3
    assert pairs(chosen) == pairs(whole)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_arrays_lie_as_their_world_says(layout: str) -> None:
    worlds = [World("cpu", "detached", "grad", "float32", layout, array=each) for each in ARRAYS]
    plain, fixed, turned = (make_inputs(each, ["array"]).names["array"] for each in worlds)
    assert (plain.flags.writeable, fixed.flags.writeable) == (True, False)
    assert turned.shape == plain.shape == fixed.shape
    if plain.size > 1 and plain.shape[0] > 1 and plain.strides[0]:
        assert turned.strides[0] == -plain.strides[0]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_value_can_be_given(kind: str) -> None:
    inputs = make_inputs(LEAF, ["x", "y"], {"x": kind, "y": "tensor"})
    assert set(inputs.names) == {"x", "y"}
    assert inputs.names["y"].requires_grad


def test_a_method_is_run_on_an_object_of_its_class() -> None:
    text = (
        "class A:\n    def __init__(self, w):\n        self.w = w\n\n"
        "    def g(self, x, times=2):\n        kept = self.w * x\n        return kept * times\n"
    )
    method = Snippet(text, entry="A.g", kinds=(("self.w", "tensor"), ("x", "float")))
    assert method.given == ("self.w", "x")
    facts = observe(method, LEAF).facts
    assert facts["kept: requires_grad"] is True
    maker = Snippet(text, entry="A.__init__", kinds=(("w", "int"),))
    assert maker.given == ("w",)
    assert observe(maker, LEAF).error is None


def test_an_error_names_its_line() -> None:
    assert observe(Snippet("def case(t):\n    a = 1\n    return t.nothing\n"), LEAF).line == 3


def test_without_a_live_graph_a_write_is_not_refused_later() -> None:
    before, after = snippet("t.data.mul_(2)", "t"), snippet("with torch.no_grad():\n    t.mul_(2)", "t")
    refuted = {
        each.world.graph for each in judge(before, after, ordinary("cpu")).refutations if "live" in each.observable
    }
    assert refuted == {LIVE}


def test_what_may_be_claimed_follows_from_the_worlds() -> None:
    for after, allowed in (("a = t.detach()", "SAFE"), ("a = t", "UNSAFE"), ("a = t.nothing()", "DISPLAY")):
        assert judge(snippet("a = t.data", "t"), snippet(after, "t"), ordinary("cpu")).allows == Applicability[allowed]


# ---------------------------------------------------------------------- what is observed
def test_results_inputs_and_surroundings_are_observed() -> None:
    facts = observe(snippet("a = t.detach()\nb = [torch.rand(2), 'x']\nprint(1)\nreturn a", "t"), LEAF).facts
    assert facts["a: shares memory with"] == ("t", "the result")
    assert facts["the result is an input"] == ("",)
    assert facts["the result: requires_grad"] is False
    assert facts["b: class"] == ("list", 2)
    assert facts["b[1]: value"] == ("str", "'x'")
    assert facts["printed"] == "1\n"
    assert facts["backward through the live graph"] == "ran"
    assert facts["input t: writes counted"] == 0


def test_an_exception_and_a_warning_are_observed_with_their_text() -> None:
    assert observe(snippet("return t.numpy()", "t"), LEAF).error == (
        "RuntimeError: Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
    )
    (said,) = observe(snippet("a = torch.tensor(t)", "t"), LEAF).warnings
    assert said.startswith("UserWarning: To copy construct from a tensor")


def test_a_run_leaves_no_global_setting_behind() -> None:
    state = torch.get_default_dtype(), torch.is_grad_enabled(), torch.are_deterministic_algorithms_enabled()
    seen = observe(snippet("torch.set_default_dtype(torch.float64)\ntorch.set_grad_enabled(False)", ""), LEAF)
    assert seen.facts["default dtype"] == "torch.float64"
    assert seen.facts["grad mode"] == (False, False)
    assert (torch.get_default_dtype(), torch.is_grad_enabled(), torch.are_deterministic_algorithms_enabled()) == state


def test_nothing_is_asked_where_the_old_text_raised() -> None:
    assert differences(Observation({}, "TypeError: no"), Observation({}, "ValueError: no")) == ()
    assert differences(Observation({}), Observation({}, "ValueError: no")) == (("exception", None, "ValueError: no"),)


def test_a_warning_may_go_but_none_may_come() -> None:
    quiet, loud = Observation({}), Observation({}, None, ("UserWarning: x",))
    assert differences(loud, quiet) == ()
    assert differences(quiet, loud) == (("warnings", (), ("UserWarning: x",)),)


def test_a_refutation_names_the_world_the_observable_and_both_values() -> None:
    verdict = judge(snippet("a = t.data", "t"), snippet("a = t", "t"), [LEAF])
    said = [str(each) for each in verdict.refutations]
    assert "[cpu, leaf, grad, float32, matrix] a: requires_grad: False -> True" in said


def test_other_random_numbers_are_seen() -> None:
    assert "random state" in observables(tried("a = torch.rand(3)", "a = torch.randn(3)", ""))


RIGHT = [
    ("a = t.data.sum()", "a = t.detach().sum()"),
    ("a = torch.tensor(t)", "a = t.detach().clone()"),
    ("return Variable(t)", "return t.detach()"),
    ("a = t.numpy()", "a = t.detach().cpu().numpy()"),
]


@pytest.mark.parametrize(("before", "after"), RIGHT)
def test_what_is_equal_holds(before: str, after: str) -> None:
    verdict = tried(before, after)
    assert [str(each) for each in verdict.refutations] == []
    assert verdict.ran > len(ordinary("cpu")) / 3
