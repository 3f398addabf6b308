"""Rare worlds: each is what its name says, differences are found, and a run that ends its process is reported."""

from __future__ import annotations

import os
import signal
import time

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numpy")

from tools.ledger.rare_worlds import (  # noqa: E402
    RARE,
    Died,
    compared,
    each_isolated,
    observe_rare,
    rare_differences,
)
from torchlint.verify.snippet import Snippet  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
NAMES = """bfloat16, float8_e4m3fn, complex32, sparse COO, sparse CSR, quantised, conjugated view, negated view,
subclass, wrapper subclass, DTensor, uninitialised parameter, forward AD, inference tensor, view made in no_grad,
one of several views, zero tensor, meta, fake tensor, vmap, func.grad, torch.compile"""
HEAD = "import torch\nfrom torch.autograd import Variable\n\n\ndef case(t):\n    "


def test_every_rare_world_that_is_promised_is_there() -> None:
    promised = {" ".join(name.split()) for name in NAMES.split(",")}
    assert {each.name for each in RARE} == promised | {"nested, strided", "nested, jagged"}
    assert len({each.name for each in RARE}) == len(RARE)


@pytest.mark.parametrize("name", [each.name for each in RARE if each.name not in ("DTensor", "torch.compile")])
def test_a_rare_tensor_is_made_and_observed(name: str) -> None:
    seen = observe_rare(Snippet(f"{HEAD}return type(t).__name__\n"), name)
    assert seen.error is None, seen.error


@pytest.mark.parametrize(
    ("name", "before", "after", "observable"),
    [
        ("subclass", "a = Variable(t)", "a = t.detach()", "a: class"),
        ("vmap", "a = t.detach()", "a = t.data", "exception"),
        ("uninitialised parameter", "a = t.data", "a = t.detach()", "exception"),
        ("sparse COO", "with torch.no_grad():\n        t.zero_()", "t.data.zero_()", "t: elements"),
        ("inference tensor", "t.data.add_(1)", "with torch.no_grad():\n        t.add_(1)", "exception"),
        ("conjugated view", "a = t.numpy(force=True)", "a = t.detach().cpu().numpy()", "exception"),
        (
            "torch.compile",
            "if isinstance(t, Variable):\n        return t + 1\n    return t + 2",
            "if isinstance(t, torch.Tensor):\n        return t + 1\n    return t + 2",
            "the result: elements",
        ),
    ],
)
def test_a_known_difference_is_found(name: str, before: str, after: str, observable: str) -> None:
    found = compared((0, Snippet(f"{HEAD}{before}\n"), Snippet(f"{HEAD}{after}\n"), name))
    assert found is not None
    assert found[0] == observable


def test_what_is_equal_shows_no_difference() -> None:
    pairs = [(Snippet(f"{HEAD}return t.clone()\n"), Snippet(f"{HEAD}return t.clone()\n"))]
    assert [each for each in rare_differences(pairs) if each[2] != "the world itself"] == []


# ---------------------------------------------------------------------- a process of its own
def act(what: str) -> str:
    if what == "killed":
        os.kill(os.getpid(), signal.SIGABRT)
    if what == "slow":
        time.sleep(600)
    return what


def test_a_run_that_ends_its_process_is_reported_and_the_others_go_on() -> None:
    found = list(each_isolated(act, ["one", "killed", "two", "slow", "three"], 2.0))
    assert found == [
        ("one", "one"),
        ("killed", Died("ended by signal 6")),
        ("two", "two"),
        ("slow", Died("took longer than 2 s")),
        ("three", "three"),
    ]
