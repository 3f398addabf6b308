"""A call with room: deep calls inside it do not ask the system for memory, and nothing else about it changes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from torchlint import engine
from torchlint.frames import roomy

ASKING = """
import resource
from torchlint.frames import roomy

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def leaf(n):
    return n

def deep(n):
    if n:
        deep(n - 1)
    for _ in range(100):
        leaf(n)  # at some depth the next frame lies in a new chunk

def asked():
    deep(900)
    before = faults()
    deep(900)
    return faults() - before

print(asked(), roomy(lambda: asked())())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="page faults are counted as Linux counts them")
@pytest.mark.skipif(sys.version_info < (3, 11), reason="frames lie in chunks from Python 3.11 on")
def test_deep_calls_ask_for_no_memory() -> None:
    said = subprocess.run([sys.executable, "-c", ASKING], capture_output=True, text=True, check=True).stdout
    without, with_room = map(int, said.split())
    assert with_room < 50 < without


def test_it_is_the_same_function_that_gives_the_same_and_raises_the_same() -> None:
    def divided(a: int, b: int = 2, *, c: int = 0) -> float:
        """Text."""
        return a / b + c

    made = roomy(divided)
    assert made is divided
    assert (made.__name__, made.__doc__, made(3, c=1)) == ("divided", "Text.", 2.5)
    with pytest.raises(ZeroDivisionError) as raised:
        made(1, 0)
    assert raised.traceback[-1].name == "divided"
    assert raised.traceback[-1].locals == {"a": 1, "b": 0, "c": 0}


@pytest.mark.skipif(sys.version_info < (3, 11), reason="frames lie in chunks from Python 3.11 on")
def test_checks_have_room() -> None:
    assert engine._check.__code__.co_stacksize > 100_000
