"""What torch itself says of the conversions that TNS109 reports, and of those that it is silent about."""

from __future__ import annotations

import cmath
import math
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from tests.before_and_after import check_runs_alike

NAMES = {"torch": torch, "math": math, "cmath": cmath}


@pytest.fixture(autouse=True)
def every_warning() -> Iterator[None]:
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(before)


def warned(expression: str, grad_mode: bool = True) -> bool:
    t = torch.tensor(2.0, requires_grad=True) * 1.5
    with warnings.catch_warnings(record=True) as caught, torch.set_grad_enabled(grad_mode):
        warnings.simplefilter("always")
        eval(expression, NAMES, {"t": t, "a": t, "b": t})
    return any("requires_grad=True to a scalar" in str(each.message) for each in caught)


REPORTED = (
    "float(t)",
    "complex(t)",
    "math.sqrt(t)",
    "math.floor(t)",
    "math.pow(2, t)",
    "cmath.sqrt(t)",
    "'%.2f' % t",
    "'%d %g' % (1, t)",
    "torch.tensor([t])",
    "torch.tensor([[1.0, t]])",
    "torch.tensor([a, b])",
)
SILENT = (
    "int(t)",
    "bool(t)",
    "'%d %s' % (t, t)",
    "f'{t:.2f}'",
    "'{:.2f}'.format(t)",
    "t.item()",
    "t.tolist()",
    "math.prod([a, b])",
    "torch.stack([a, b])",
    "float(t.detach())",
    "'%.2f' % t.item()",
    "math.sqrt(t.detach())",
    "torch.tensor([t.detach()])",
)


@pytest.mark.parametrize("expression", REPORTED)
def test_torch_warns_of_what_is_reported_while_grad_mode_is_on(expression: str) -> None:
    assert warned(expression)
    assert not warned(expression, grad_mode=False)


@pytest.mark.parametrize("expression", SILENT)
def test_torch_is_silent_about_the_rest_and_about_what_is_repaired(expression: str) -> None:
    assert not warned(expression)


def test_a_tensor_made_of_a_list_is_a_constant_and_a_stack_is_not() -> None:
    a = torch.tensor(2.0, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not torch.tensor([a, a]).requires_grad  # torchlint: ignore[TNS109] - the fault itself is shown
    torch.stack([a, a]).sum().backward()
    assert a.grad == 2


def test_backward_without_an_argument_refuses_complex_numbers() -> None:
    z = torch.tensor(1 + 0j, requires_grad=True)
    assert isinstance(z.item(), complex)
    assert float(z.detach()) == 1.0
    with pytest.raises(RuntimeError, match="real"):
        (z * 2).backward()


REAL = {
    "behind it": "loss.backward()\n    return float(loss)",
    "in each round": (
        "for _ in 'ab':\n        loss = torch.sum(z)\n        loss.backward()\n        c = float(loss)\n    return c"
    ),
}
COMPLEX = {
    "on one way or another": (
        "if c:\n        loss.backward()\n    else:\n        torch.autograd.backward(loss)\n    return float(loss)"
    ),
    "on one way": "if c:\n        loss.backward()\n    return float(loss)",
    "in a loop": "for _ in range(c):\n        loss.backward()\n    return float(loss)",
    "afterwards": "found = float(loss)\n    if c:\n        loss.backward()\n    return found",
    "in a choice": "c and loss.backward()\n    return float(loss)",
    "with its error taken": (
        "try:\n        loss.backward()\n    except RuntimeError:\n        pass\n    return float(loss)"
    ),
    "with its error gone": "with suppress(RuntimeError):\n        loss.backward()\n    return float(loss)",
}
DIFFERENTIATING = """\
from contextlib import suppress

import torch


def f(z, c):
    loss = torch.fft.fft(z).sum(){real}
    {body}


print(repr(f(torch.ones(1, requires_grad=True), 0)))
"""


@pytest.mark.parametrize("body", REAL.values(), ids=REAL)
def test_what_was_differentiated_is_real(tmp_path: Path, body: str) -> None:
    changed = check_runs_alike(tmp_path, {"main.py": DIFFERENTIATING.format(body=body, real=".real")})
    assert "loss.item()" in changed["main.py"]


@pytest.mark.parametrize("body", COMPLEX.values(), ids=COMPLEX)
def test_what_may_not_have_been_differentiated_stays_a_float(tmp_path: Path, body: str) -> None:
    changed = check_runs_alike(tmp_path, {"main.py": DIFFERENTIATING.format(body=body, real="")})
    assert "float(loss.detach())" in changed["main.py"]
