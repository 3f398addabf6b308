"""A difference that an open assumption announces is told as such; any other refutes, whatever is open."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numpy")

from torchlint.config import Config  # noqa: E402
from torchlint.diagnostics import assumptions as named  # noqa: E402
from torchlint.diagnostics.assumptions import ASSUMPTIONS, Decision, merged  # noqa: E402
from torchlint.diagnostics.model import Applicability, Settings  # noqa: E402
from torchlint.linter.engine import check_bytes  # noqa: E402
from torchlint.verify.announced import ANNOUNCED, USUAL, announcing  # noqa: E402
from torchlint.verify.compare import mended  # noqa: E402
from torchlint.verify.fragment import Uncut, fragments  # noqa: E402
from torchlint.verify.snippet import Snippet  # noqa: E402
from torchlint.verify.trial import Trial  # noqa: E402
from torchlint.verify.verdicts import (  # noqa: E402
    DIFFERS_AS_ANNOUNCED,
    NOT_TESTABLE,
    PROVEN,
    REFUTED,
    REPAIRED,
    Verdict,
)
from torchlint.verify.worlds import World  # noqa: E402

HEAD = "import numpy as np\nimport torch\nfrom torch import nn\nimport mine\n"


@dataclass(frozen=True)
class Example:
    """Code whose fix leaves something open."""

    body: str
    announced: tuple[str, ...]
    """The assumptions that announce what differs."""
    right: str
    """Part of the new code."""
    wrong: tuple[str, ...]
    """What a wrong repair has in its place."""
    select: str
    more: tuple[Decision, ...] = ()
    """What is open beside, by files that are not here."""


EXAMPLES = {
    "a write": Example(
        "def f(p: torch.Tensor):\n    p.data.mul_(2)\n",
        ("no-live-graph",),
        "p.mul_(2)",
        ("p.mul_(3)", "p.mul_(2).requires_grad_()", "torch.mul(p, 2)", "p.data = p * 2"),
        "TNS202",
    ),
    "a write through a name": Example(
        "def f(x: torch.Tensor):\n    kept = x.data\n    kept.mul_(2)\n",
        ("only-read",),
        "x.detach()",
        ("x.detach().clone()", "x", "x.detach().requires_grad_()"),
        "TNS201",
    ),
    "a dtype": Example(
        "def f():\n    return torch.Tensor([1, 2])\n",
        ("default-dtype-unchanged",),
        "dtype=torch.float32",
        ("dtype=torch.float64", "dtype=torch.float32, requires_grad=True"),
        "TNS301",
        (named.DEFAULT_DTYPE.open(doubt="`a.py` may set it"),),
    ),
    "a device": Example(
        "def f():\n    return torch.Tensor(2, 3)\n",
        ("default-device-unchanged",),
        "torch.empty(2, 3)",
        ("torch.zeros(2, 3)", "torch.empty(3, 2)", "torch.empty(2, 3, dtype=torch.float64)"),
        "TNS302",
        (named.DEFAULT_DEVICE.open(doubt="`a.py` may set it"),),
    ),
    "a shape of nothing": Example(
        "def f(x: torch.Tensor):\n    return torch.Tensor(*x.shape[1:])\n",
        ("argument-is-data",),
        "torch.empty(*x.shape[1:])",
        ("torch.empty(x.shape[1:])", "torch.empty(*x.shape)", "torch.empty(*x.shape[1:], 'a')"),
        "TNS302",
    ),
    "values in place of a size": Example(
        "def f(n_units):\n    return torch.Tensor(n_units).fill_(1)\n",
        ("argument-is-data",),
        "torch.empty(n_units).fill_(1)",
        ("torch.empty(n_units + 1).fill_(1)", "torch.tensor(n_units).fill_(1)"),
        "TNS302",
    ),
    "a number": Example(
        "def f(loss: torch.Tensor):\n    return loss.data[0]\n",
        ("is-scalar",),
        "loss.item()",
        ("loss.item() + 1", "loss[0]", "loss.sum().item()", "loss.numpy()"),
        "TNS204",
    ),
    "an array": Example(
        "def f(x: torch.Tensor, rows: np.ndarray):\n    return x.new(rows)\n",
        ("only-read",),
        "x.new_tensor(rows)",
        ("x.new_tensor(rows[:1])", "x.new_tensor(rows, dtype=torch.float64)"),
        "TNS306",
    ),
    "an array without dimensions": Example(
        "def f(rows):\n    a = np.asarray(rows)\n    return torch.LongTensor(a)\n",
        ("argument-is-data",),
        "dtype=torch.int64",
        ("dtype=torch.int32",),
        "TNS304",
    ),
}


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No other file sets a default."""
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.chdir(tmp_path)


def trial(example: Example, wrong: str = "") -> Verdict:
    """Run the fix of an example, or a wrong one in its place."""
    result = check_bytes("user.py", (HEAD + textwrap.dedent(example.body)).encode(), Config(select=(example.select,)))
    (finding,) = result.findings
    assert result.source is not None
    assert finding.fix is not None
    decisions = merged((*example.more, *finding.fix.assumptions))
    made = fragments(result.source, finding, Settings())
    assert not isinstance(made, Uncut)
    assert example.right in made[0].after
    if wrong:
        made = (replace(made[0], after=made[0].after.replace(example.right, wrong), written=None),)
    return Trial(made, finding.fix.applicability is Applicability.SAFE and not example.more, decisions, ("cpu",))()


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_is_announced_is_told_so(name: str) -> None:
    example = EXAMPLES[name]
    verdict = trial(example)
    assert verdict.outcome == DIFFERS_AS_ANNOUNCED, verdict.differences
    assert tuple(each for each, _ in verdict.announced) == example.announced
    assert all(each.announced_by in example.announced for each in verdict.differences)
    assert verdict.is_accepted


@pytest.mark.parametrize(("name", "wrong"), [(name, wrong) for name, it in EXAMPLES.items() for wrong in it.wrong])
def test_what_is_not_announced_refutes(name: str, wrong: str) -> None:
    verdict = trial(EXAMPLES[name], wrong)
    assert verdict.outcome in (REFUTED, NOT_TESTABLE)
    assert not verdict.is_accepted
    assert verdict.differences[0].announced_by == "" or verdict.differing == verdict.ran


def test_without_the_assumption_the_same_difference_refutes() -> None:
    example = EXAMPLES["a write"]
    result = check_bytes("user.py", (HEAD + example.body).encode(), Config(select=("TNS202",)))
    (finding,) = result.findings
    assert result.source is not None
    made = fragments(result.source, finding, Settings())
    assert not isinstance(made, Uncut)
    assert Trial(made, False, (), ("cpu",))().outcome == REFUTED
    proven = tuple(each.assumption.proven() for each in finding.fix.assumptions)  # type: ignore[union-attr]
    assert Trial(made, False, proven, ("cpu",))().outcome == REFUTED


def test_a_default_that_a_fix_asks_for_is_proven() -> None:
    body = "torch.set_default_dtype(torch.float64)\n\n\ndef f():\n    return torch.Tensor([1, 2])\n"
    verdict = trial(Example(body, (), "get_default_dtype()", (), "TNS301"))
    assert (verdict.outcome, verdict.ran) == (PROVEN, 3)  # the grad modes: the fix asks for the default itself


def test_of_the_kinds_that_a_name_may_have_only_those_excuse_that_break_the_assumption() -> None:
    world = World("cpu", "leaf", "grad", "float32", "matrix")
    seen = [("exception", None, "TypeError: empty() missing 1 required positional arguments")]
    tensor = (named.IS_TENSOR.open("x"),)
    refused = [("exception", None, "AttributeError: no attribute")]
    assert announcing(refused, tensor, world, {"x": "none None"}) == (named.IS_TENSOR,)
    assert announcing(refused, tensor, world, {"x": "tensor"}) == (None,)
    assert announcing(refused, tensor, world, {"xs": "none None"}) == (None,)
    of_size = (named.IS_SIZE.open("`*shape`", is_likely=True),)
    assert announcing(seen, of_size, world, {"shape": "list [2, 3]"}) == (None,)
    assert announcing(seen, of_size, world, {"shape": "array"}) == (None,)
    assert announcing(seen, (named.IS_SIZE.open("`n`"),), world, {"n": "array"}, USUAL) == (named.IS_SIZE,)


ALWAYS_RAISES = Example(
    "def f(w: torch.Tensor):\n    w.requires_grad_()\n    return w.sum().data[0]\n", (), ".item()", (), "TNS204"
)


def test_code_that_always_raised_is_repaired_where_the_new_code_runs() -> None:
    verdict = trial(ALWAYS_RAISES)
    assert (verdict.outcome, verdict.ran, verdict.is_accepted) == (REPAIRED, 0, True)
    assert verdict.repaired > 0
    assert re.fullmatch(
        rf"the old code raises in all \d+ worlds; the new code runs in {verdict.repaired} of them", verdict.reason
    )


def test_a_repair_is_never_called_a_proof() -> None:
    assert trial(ALWAYS_RAISES, ".item() + 1").outcome == REPAIRED
    verdict = trial(ALWAYS_RAISES, ".item()[0]")
    assert (verdict.outcome, verdict.is_accepted) == (NOT_TESTABLE, False)
    assert verdict.reason.startswith("the old code raises in every world: IndexError")


def test_a_device_that_is_not_here_is_nothing_to_repair() -> None:
    old, new = (
        Snippet("def case():\n    raise AssertionError('Torch not compiled with CUDA enabled')"),
        Snippet("a = 1"),
    )
    world = World("cpu", "leaf", "grad", "float32", "matrix")
    assert mended(old, new, [world]) == (0, 0)
    assert mended(Snippet("def case():\n    raise ValueError"), new, [world]) == (1, 1)


def test_the_table_speaks_of_what_there_is() -> None:
    assert {each.name for each in ANNOUNCED} <= set(ASSUMPTIONS)
    assert all(each.signs and each.effect for each in ANNOUNCED.values())
