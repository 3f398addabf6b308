"""What the oracles promise: each says no less possible than the one below it, in whatever order they are asked."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from torchlint.evaluation.evaluator import Evaluator
from torchlint.evaluation.oracles import Oracles
from torchlint.semantic.graph import OPERATION, FunctionGraph, Node
from torchlint.semantic.lowering import lower
from torchlint.semantic.module_graph import ModuleGraph
from torchlint.semantic.program import Program
from torchlint.values.abstract import TENSOR, Abstract
from torchlint.values.asking import Oracle

FIXTURES = Path(__file__).parent / "fixtures"
FILES = sorted((FIXTURES / "rules").rglob("*.py"))
STRIDE = 4
"""Every so many of the fixtures are asked of everything in them; the nightly run asks all."""


def functions(file: ModuleGraph) -> Iterator[FunctionGraph]:
    waiting = [file.body]
    while waiting:
        function = lower(waiting.pop())
        yield function
        waiting += function.bodies


def nodes(file: ModuleGraph) -> list[Node]:
    return [node for function in functions(file) for node in function.nodes]


def opened(path: Path) -> tuple[Oracles, ModuleGraph]:
    program = Program(str(path.parent))
    return Oracles(program), program.add(str(path), path.read_bytes())


def lacks(wide: Abstract, narrow: Abstract) -> str:
    """Say in which way a value is more than another one that should contain it; nothing where it is not."""
    if narrow.kind & ~wide.kind:
        return "kind"
    if narrow.may_require_grad and not wide.may_require_grad:
        return "grad"
    if narrow.may_be_on_accelerator and not wide.may_be_on_accelerator:
        return "device"
    return "dtype" if narrow.dtype & ~wide.dtype else ""


def has_doubtful_operand(oracles: Oracles, node: Node) -> bool:
    """Whether an operand is a number as likely as a tensor, until a call shows that it is one."""
    given = [oracles.strict.ask(each) for each in node.ins] if node.op == OPERATION else []
    return any(each is not None and each.kind & TENSOR and each.kind != TENSOR for each in given)


@pytest.mark.parametrize("path", FILES[::STRIDE], ids=lambda each: f"{each.parent.name}-{each.stem}")
def test_what_callers_bring_is_possible_and_what_is_strictly_possible_too(path: Path) -> None:
    oracles, file = opened(path)
    asked = (oracles.proof, oracles.claimed, oracles.strict, oracles.callers)
    wrong = []
    for node in nodes(file):
        told = [(each.oracle, each.ask(node)) for each in asked]
        for (above, wide), (below, narrow) in itertools.pairwise(told):
            assert wide is not None
            assert narrow is not None
            axis = lacks(wide, narrow)
            if axis and not (below is Oracle.CALLERS and has_doubtful_operand(oracles, node)):
                wrong.append(f"{above.name}, {below.name}: {axis} of {node}")
    assert wrong == []


def answers(evaluator: Evaluator, asked: list[Node]) -> dict[tuple[int, int], object]:
    found = {}
    for node in asked:
        value = evaluator.ask(node)
        found[node.fn.identity, node.index] = value.kind, value.grad, value.device, value.dtype  # type: ignore[union-attr]
    return found


@pytest.mark.parametrize("path", FILES[5::STRIDE], ids=lambda each: f"{each.parent.name}-{each.stem}")
def test_the_order_of_questions_changes_nothing(path: Path) -> None:
    told = []
    for seed in range(3):
        oracles, file = opened(path)
        asked = nodes(file)
        random.Random(seed).shuffle(asked)
        told.append(answers(oracles.strict, asked))
    assert told[0] == told[1] == told[2]
