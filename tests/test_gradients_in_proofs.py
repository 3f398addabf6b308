"""Gradients are compared in every process in which fixes are run, or it is said that they cannot be."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("numpy")

from torchlint.verify import simulated

ROOT = Path(__file__).parents[1]
HEAD = """
import torch

torch.set_num_threads(1)
from torchlint.verify import sandbox
from torchlint.verify.observe import Snippet, observe, warm
from torchlint.verify.worlds import World, devices

BACK = Snippet("def case(t):\\n    (t * 2).sum().backward()\\n    return t * 3")


def work():
    seen = [observe(BACK, World(each, "leaf", "grad", "float32", "matrix")) for each in ("cpu", "simulated")]
    return [
        (each.error, *(each.facts.get(f"backward through the {what}") for what in ("results", "live graph")))
        for each in seen
    ]


"""
ALL_WENT_BACK = "[(None, 'ran', 'ran'), (None, 'ran', 'ran')]"
pytestmark = pytest.mark.skipif(simulated.missing() is not None, reason=str(simulated.missing()))


def printed(lines: str) -> str:
    """Return what a fresh process prints: whether autograd's threads run is decided once in the life of a process."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "ignore", "-c", HEAD + lines]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


def test_code_in_a_walled_process_goes_back_through_its_graphs() -> None:
    lines = "warm(devices())\nprint(next(sandbox.each([(0, work)], 100))[1])"
    assert printed(lines) == ALL_WENT_BACK


def test_a_device_that_torch_learns_of_after_a_backward_on_the_host_goes_back_too() -> None:
    assert printed("torch.ones(1, requires_grad=True).sum().backward()\nprint(work())") == ALL_WENT_BACK


def test_a_process_in_which_autograd_cannot_work_proves_nothing() -> None:
    lines = """
devices()
torch.ones(1, requires_grad=True).sum().backward()
print(next(sandbox.each([(0, work)], 100))[1].reason)
"""
    reason = "Unable to handle autograd's threading in combination with fork-based multiprocessing"
    assert printed(lines) == f"stopped: BrokenEngineError: {reason}"
