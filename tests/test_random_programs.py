"""Random straight-line programs of torch's own operations: what is observed must lie within what was inferred.

The inference does not follow aliases: the programs write in place to fresh copies.
"""

from __future__ import annotations

import ast
import contextlib
import random
import re
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.observed import elements, faults, quiet, revealed
from torchlint.diagnostics.model import Settings
from torchlint.facts.value import Dtype
from torchlint.knowledge import analyse
from torchlint.models.operation_sets import FUNCTIONS, METHODS, NO_TENSOR
from torchlint.source.text import decode
from torchlint.syntax.ast_index import index_of

torch = pytest.importorskip("torch")

_LEFT_OUT = re.compile(
    r"^_|cuda|xpu|mtia|hpu|ipu|vulkan|metal|mkldnn|sparse|storage|quant|set_|resize|apply_|map_|share|pin_memory"
    r"|backward|grad|hook|^module_load|as_subclass|rename|align|names|refine|coalesce|^to_|compile|seed|^is_|dlpack|file"
    r"|record_stream|^cpu$|^data_ptr|empty|^new$|^numpy$|multiprocessing|fft|_copy$|dequantize|slice_inverse|hash|geqrf"
    r"|rnn|lstm|gru|^Tensor$|ormqr|unsafe|resolve|fbgemm|jagged|nested|segment|miopen|cudnn|batch_norm_|sym_|prepare|dtype"
)
"""Operations that need other devices or layouts, change more than their argument, or leave memory uninitialised."""

_START = (
    "torch.full((2, 2), 0.5)",
    "torch.full((2, 2), 0.5, requires_grad=True)",
    "torch.nn.Parameter(torch.full((2, 2), 0.5))",
    "torch.ones(2, 2, dtype=torch.int64)",
    "torch.tensor([[0.25, 0.5], [0.75, 1.0]], dtype=torch.float64, requires_grad=True)",
)
_ONE = (
    "{a}[0]", "{a}[:1]", "{a}[..., 0]", "{a}.view(-1)", "{a}.reshape(-1)", "{a}.max(0)[0]", "{a}.max(0)[1]",
    "{a}.sum(0)", "{a}.mean(dim=0)", "{a}.topk(1)[0]", "{a}.topk(1)[1]", "{a}.sort()[1]", "torch.max({a}, 0)[1]",
    "{a}.data", "{a}.T", "{a}.unsqueeze(0)", "{a}.expand(2, 2)", "{a}.softmax(-1)", "{a}.to(torch.float64)",
    "{a}.to(torch.int64)", "{a} * 2", "{a} + 0.5", "-{a}", "{a} > 0", "{a} / 2", "{a} // 1", "2 - {a}",
    "{a}.clone().requires_grad_(False)", "+{a}", "{a}.detach().clone().requires_grad_()", "torch.zeros_like({a})",
    "torch.tensor({a})", "torch.as_tensor({a})", "{a}.new_zeros(2)", "torch.nn.Parameter({a})",
    "torch.nn.functional.relu({a})", "torch.nn.Linear(2, 2)({a})", "torch.nn.functional.dropout({a}, training=False)",
    "torch.nn.Identity()({a})", "torch.nn.Flatten(0)({a})", "torch.nn.ReLU()({a})", "[each for each in {a}][0]",
    "list({a})[0]", "{a}.split(1)[0]", "torch.chunk({a}, 2)[0]", "{a}.type(torch.float32)", "{a}.unbind()[0]",
    "torch.sum({a})", "{a}.cpu()", "abs({a})", "sum({a})", "torch.Tensor({a})", "{a}.clamp(0, 1)", "{a} ** 2",
    "{a}.norm()", "torch.autograd.Variable({a})", "{a}.var()",
)  # fmt: skip
_TWO = (
    "{a} + {b}", "{a} * {b}", "{a} @ {b}", "{a} - {b}", "{a} / {b}", "{a} > {b}", "{a} == {b}",
    "torch.cat([{a}, {b}])", "torch.stack([{a}, {b}])", "torch.where({a} > 0, {a}, {b})",
    "torch.where({b} > 0, {a}, 0)", "{a}.to({b})", "{a}.type_as({b})", "{a}.masked_fill({b} > 0, 0)",
    "torch.max({a}, {b})", "{a}[{b}.argmax()]", "{a}.expand_as({b})", "torch.nn.functional.mse_loss({a}, {b})",
    "torch.nn.functional.linear({a}, {b})", "{a} if {b}.requires_grad else {b}",
    "torch.broadcast_tensors({a}, {b})[0]", "torch.einsum('ij,jk->ik', {a}, {b})", "({a}, {b})[1]", "[{a}, {b}][0]",
    "sum([{a}, {b}])", "torch.nn.MSELoss()({a}, {b})", "torch.add({a}, {b}, alpha=2)", "(lambda x: x * {b})({a})",
)  # fmt: skip
_WRITES = (
    "{c}[0] = {b}[0]", "{c} += {b}", "{c} *= {b}", "{c}.copy_({b})", "{c}.zero_()", "{c}[0] += 1", "{c}.add_({b})",
    "{c}.detach_()",
)  # fmt: skip


@cache
def unary() -> tuple[str, ...]:
    """Return the calls of one tensor that torch accepts, from the table that the inference uses."""
    calls = [f"{{a}}.{name}()" for name in sorted(METHODS | NO_TENSOR.keys()) if "." not in name]
    calls += [f"{name}({{a}})" for name in sorted(FUNCTIONS) if name.count(".") == 1 or ".functional." in name]
    return tuple(call for call in calls if _usable(call) and not _in_place(call) and _accepted(call))


@cache
def binary() -> tuple[str, ...]:
    """Return the calls of two tensors that torch accepts."""
    calls = [f"{{a}}.{name}({{b}})" for name in sorted(METHODS) if "." not in name]
    calls += [f"{name}({{a}}, {{b}})" for name in sorted(FUNCTIONS) if name.count(".") == 1]
    return tuple(call for call in calls if _usable(call) and not _in_place(call) and _accepted(call))


@cache
def in_place() -> tuple[str, ...]:
    """Return the calls that write into a tensor."""
    methods = [name for name in sorted(METHODS) if name.endswith("_") and _usable(f"{{a}}.{name}()")]
    calls = [call.replace("NAME", name) for name in methods for call in ("{a}.NAME()", "{a}.NAME({b})")]
    return tuple(call.replace("{a}", "{c}") for call in calls if _accepted(call))


def _usable(call: str) -> bool:
    name = call.partition("(")[0].rpartition(".")[2]
    return not _LEFT_OUT.search(name)


def _in_place(call: str) -> bool:
    return call.partition("(")[0].endswith("_")


def _accepted(call: str) -> bool:
    names = {"torch": torch, "x": torch.full((2, 2), 0.5), "y": torch.full((2, 2), 0.5)}
    with quiet():
        try:
            eval(call.format(a="x", b="y", c="x"), names)
        except Exception:  # noqa: BLE001  # it wants other arguments
            return False
    return True


@dataclass
class Program:
    """A program that is written and run line by line; a line that torch refuses is left out."""

    names: dict[str, Any] = field(default_factory=lambda: {"torch": torch})
    lines: list[str] = field(default_factory=lambda: ["import torch"])
    observed: dict[int, object] = field(default_factory=dict)

    def add(self, line: str, blank: str) -> bool:
        try:
            exec(line, self.names)
        except Exception:  # noqa: BLE001  # torch refuses it
            return False
        self.lines.append(blank + line)
        return True

    def bind(self, expression: str, blank: str) -> None:
        name = f"v{len(self.lines)}"
        if self.add(f"{name} = {expression}", blank):
            self.keep(name, blank)

    def keep(self, name: str, blank: str) -> None:
        """Look at a name here: what it is now, not what is made of it later."""
        thing = self.names[name]
        if isinstance(thing, torch.Tensor) and thing.requires_grad and elements(thing) != Dtype.FLOATING:
            del self.names[name]  # integers marked by a comparison in place: torch itself calls it an error elsewhere
            return
        self.lines.append(f"{blank}reveal({name})")
        self.observed[len(self.lines)] = thing.detach().requires_grad_(thing.requires_grad) if _plain(thing) else thing
        if not _plain(thing):
            del self.names[name]

    @property
    def tensors(self) -> list[str]:
        return [name for name, thing in self.names.items() if isinstance(thing, torch.Tensor)]


def _plain(thing: object) -> bool:
    """Whether a thing may be used further: a tensor that is not large."""
    return isinstance(thing, torch.Tensor) and thing.numel() < 1000


def written(chance: random.Random) -> Program:
    """Write a program of some lines, some of them under ``no_grad``."""
    program = Program()
    for start in chance.sample(_START, 2):
        program.bind(start, "")
    for _ in range(chance.randint(2, 4)):
        off = chance.random() < 0.4
        if off:
            program.lines.append("with torch.no_grad():")
            program.lines.append("    pass")
        with torch.no_grad() if off else contextlib.nullcontext():
            for _ in range(chance.randint(1, 4)):
                _step(program, chance, "    " if off else "")
    for name in program.tensors:
        program.keep(name, "")
    return program


def _step(program: Program, chance: random.Random, blank: str) -> None:
    a, b = chance.choice(program.tensors), chance.choice(program.tensors)
    form = chance.choice([_ONE, _TWO, unary(), binary(), _WRITES, in_place()])
    if form not in (_WRITES, in_place()):
        program.bind(chance.choice(form).format(a=a, b=b), blank)
        return
    copy = f"v{len(program.lines)}"
    if program.add(f"{copy} = {a}.clone()", blank):
        program.add(chance.choice(form).format(b=b, c=copy), blank)
        program.keep(copy, blank)


@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.integers(min_value=0, max_value=2**32))
def test_random_programs_lie_within_what_was_inferred(seed: int) -> None:
    with quiet():
        torch.manual_seed(0)
        program = written(random.Random(seed))
    text = "\n".join(program.lines) + "\n"
    analysis = analyse(index_of(decode("program.py", text.encode())), Settings())
    expressions = revealed(analysis.index.tree)
    wrong = [
        f"line {row}: {ast.unparse(expressions[row])}: {each}"
        for row, thing in program.observed.items()
        for each in faults(thing, analysis.value(expressions[row]))
    ]
    assert not wrong, "\n".join(wrong) + "\n" + text


def test_the_random_programs_use_torchs_own_operations() -> None:
    assert len(unary()) > 200
    assert len(binary()) > 100
    assert len(in_place()) > 50
