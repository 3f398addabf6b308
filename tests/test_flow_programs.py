"""Random programs, run with torch beside the forward queries: what happens is never excluded."""

from __future__ import annotations

import random
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from torchlint.evaluation.oracles import Oracles
from torchlint.flow.call_frames import CallKnowledge
from torchlint.flow.memory_roots import MemoryRoots
from torchlint.flow.memory_writes import MemoryWrites
from torchlint.flow.root_meetings import meeting
from torchlint.semantic.graph import PHI, FunctionGraph
from torchlint.semantic.lowering import lower
from torchlint.semantic.program import Program

torch: Any = pytest.importorskip("torch")

HEAD = """import copy
import functools
import torch
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass


class Box:
    def __init__(self, t, u=None):
        self.t, self.u, self.items = t, u, [t]
        self.own = torch.zeros(2, 3)

    def get(self):
        return self.t

    def put(self, t):
        self.items.append(t)

    def fill(self):
        self.t.fill_(7.5)

    @property
    def view(self):
        return self.t.view(2, 3)


class Small(Box):
    def __init__(self, t):
        super().__init__(t, t.clone())

    def get(self):
        return super().get().data


@dataclass
class Pair:
    a: object
    b: object


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.act = torch.nn.ReLU(inplace=True)

    def forward(self, x):
        return self.act(x.sub_(1))


@contextmanager
def managed(x):
    yield x


def same(x):
    return x


def keep(x, store):
    store.append(x)


def closure(x):
    def inner():
        return x

    return inner


def zero(x):
    x.zero_()


def each(xs):
    for x in xs:
        yield x.data


def again(x, n):
    return again(x.view(2, 3), n - 1) if n else x


def second(*args, **words):
    return args[1] if len(args) > 1 else words["y"]
"""
VALUES = """{v}.view(-1).view(2, 3)|{v}.T.T|{v}[0:2]|{v}.data|{v}.contiguous()|{v}.float()|{v}.squeeze()|{v}.split(2)[0]
torch.from_numpy({v}.numpy())|torch.atleast_2d({v})|copy.copy({v})|torch.nn.Parameter({v}, False)|torch.relu_({v})
same({v})|again({v}, 2)|second({v}, {w})|second({v}, y={w})|closure({v})()|(lambda q: q.data)({v})|{v} if flag else {w}
Box({v}).t|Small({v}).get()|Box({v}).view|Box({v}, {w}).u|Pair(b={v}, a={w}).b|vars(Box({v}))["t"]
list(each([{v}]))[0]|[q for q in [{v}]][0]|dict(a={v})["a"]|list(map(same, [{v}]))[0]|[*[{v}], {w}][0]
[a for a, b in zip([{v}], [{w}])][0]|[x for _, x in enumerate([{v}])][0]|sum([[q] for q in [{v}]], [])[0]
{v}.clone()|{v} + 1|torch.relu({v})|{v}[[0, 1]]|copy.deepcopy([{v}])[0]|torch.cat([{v}])|torch.zeros(2, 3)|Small({v}).u
{s}[0]|{s}[-1]|list(reversed({s}))[0]|({s} + [{w}])[-1]|{s}.pop() if len({s}) > 1 else {v}|next(iter({s}))|{s}[:][0]
{d}["a"]|{d}.get("b")|[x for _, x in {d}.items()][-1]|{{**{d}}}["a"]|dict({d}, a={w})["b"]|{d}.get("q", {w})
{o}.t|{o}.get()|{o}.view|{o}.items[-1]|{o}.own"""
CHANGES = """{v}.add_(1.5)|{v} += 1|{v}[0] = 3|torch.add({v}, 1, out={w})|zero({v})|{v}.numpy()[0] = 4|Net()({v})
zero(*[{v}])|torch.nn.init.ones_({v})|(lambda: {v}.add_(1))()|functools.partial(zero, {v})()|list(map(zero, {s}))
[zero(x) for x in {s}]|ThreadPoolExecutor(1).submit(zero, {v}).result()|{v}.T.add_(1)|closure({v})().add_(1)|{o}.fill()
zero(**dict(x={v}))|list(map({s}.append, [{v}]))
{s}[0].add_(2)|{d}["a"].sub_(1)|{o}.items[0].add_(3)|{s}.append({v})|{s}.insert(0, {v})|keep({v}, {s})|{s}[:] = [{v}]
{d}["a"] = {v}|{d}.update(b={v})|{o}.t = {v}|{o}.put({v})|setattr({o}, "t", {v})|{s}.reverse()|{s} += [{v}]
for x in {s}:§x.mul_(1.5)|for i, x in enumerate({s}):§{s}[i] = x.data|with managed({v}) as y:§y.add_(1)
def late():§{s}.append({v})£late()"""


class RandomProgram:
    """A function of three tensors, as text."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.tensors = ["v0", "v1", "v2"]
        self.lines = [
            self.fill("s = [{v}, {w}]"),
            self.fill("d = {{'a': {v}, 'b': {w}}}"),
            self.fill(self.random.choice(["o = Box({v})", "o = Small({v})", "o = Box(t={v}, u={w})"])),
        ]
        values, changes = ("|".join(text.splitlines()).split("|") for text in (VALUES, CHANGES))
        for number in range(self.random.randint(3, 8)):
            if self.random.random() < 0.6:
                self.lines.append(f"t{number} = " + self.fill(self.random.choice(values)))
                self.tensors.append(f"t{number}")
            else:
                text = self.fill(self.random.choice(changes))
                self.lines.append(text.replace("§", "\n        ").replace("£", "\n    "))

    def fill(self, text: str) -> str:
        one, two = self.random.choice(self.tensors), self.random.choice(self.tensors)
        return text.format(v=one, w=two, s="s", d="d", o="o")

    def text(self, after: str = "") -> str:
        lines = [re.sub(r"^(t\d) = .*", rf"\g<0>{after}", line, flags=re.DOTALL) for line in self.lines]
        return HEAD + "\n\ndef f(v0, v1, v2, flag):\n    " + "\n    ".join(lines) + "\n"

    def run(self) -> dict[str, SimpleNamespace]:
        """Run it; tell of each tensor that is named where its memory is, and whether it changed later."""
        seen: dict[str, SimpleNamespace] = {}

        def note(name: str, value: Any) -> None:
            seen[name] = SimpleNamespace(value=value, copy=value.detach().clone())

        space: dict[str, Any] = {"note": note}
        exec(self.text(r"; note('\1', \1)"), space)
        torch.manual_seed(0)
        space["f"](*(torch.randn(2, 3) for _ in range(3)), self.random.random() < 0.5)
        for each in seen.values():
            each.memory = each.value.untyped_storage().data_ptr()
            each.is_changed = not torch.equal(each.value.detach(), each.copy)
        return seen


@pytest.mark.parametrize("oracle", ["strict", "proof"])
@pytest.mark.parametrize("start", range(0, 80, 20))
def test_what_happens_is_never_excluded(tmp_path: Path, start: int, oracle: str) -> None:
    for seed in range(start, start + 20):
        made = RandomProgram(seed)
        try:
            seen = made.run()
        except (RuntimeError, IndexError):  # such as memory that overlaps itself
            continue
        program = Program(str(tmp_path))
        module = program.add(str(tmp_path / f"p{seed}.py"), made.text().encode())
        lower(module.body)
        [function] = [each for each in module.functions if each.name == "f"]
        _compare(made, CallKnowledge(getattr(Oracles(program), oracle)), lower(function), seen)


def _compare(
    made: RandomProgram, knowledge: CallKnowledge, function: FunctionGraph, seen: dict[str, SimpleNamespace]
) -> None:
    nodes = {name: next(each for each in function.definitions[name] if each.op != PHI) for name in seen}
    memory = MemoryRoots(knowledge)
    written = MemoryWrites(knowledge, memory).written_by(function) or ()
    roots = {name: memory.roots(node) for name, node in nodes.items()}
    for name, each in seen.items():
        for other, value in seen.items():
            if other != name and each.memory == value.memory:
                assert not meeting(roots[name], roots[other]).is_no, (made.lines, name, other)
        if each.is_changed:
            assert not all(meeting(roots[name], one.roots).is_no for one in written), (made.lines, name)
