"""Random programs of functions and classes: what is observed anywhere in them must lie within what was inferred.

Helpers call each other, write into their arguments, keep state in closures, in attributes and in the module, are
decorated and run under context managers. The inference does not follow aliases: what is written into has no other name.
A program may end with an exception: what was seen until then counts.
"""

from __future__ import annotations

import ast
import contextlib
import random
import re
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.observed import Rows, faults, quiet, revealed
from torchlint.diagnostics.model import Settings
from torchlint.facts.value import Grad, Mode
from torchlint.knowledge import analyse
from torchlint.source.text import decode
from torchlint.syntax.ast_index import index_of

torch = pytest.importorskip("torch")

_PRELUDE = """\
import contextlib
import functools

import torch

w = torch.ones(2, 2, requires_grad=True)
z = torch.zeros(2, 2)
_state = torch.zeros(2, 2)
_buffer = torch.zeros(2, 2)
_seen = [torch.zeros(2, 2)]


def _evaluated(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        with torch.no_grad():
            return function(*args, **kwargs)

    return wrapper


def _logged(function):
    def wrapper(*args, **kwargs):
        result = function(*args, **kwargs)
        return result

    return wrapper


def _detaching(function):
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs).detach()

    return wrapper


def _scaling(factor):
    def decorate(function):
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs) * factor

        return wrapper

    return decorate


@contextlib.contextmanager
def _off():
    with torch.no_grad():
        yield


@contextlib.contextmanager
def _on():
    with torch.enable_grad():
        yield


@contextlib.contextmanager
def _perhaps(flag):
    with torch.set_grad_enabled(flag):
        yield


"""
_DECORATORS = (
    "@_evaluated", "@_logged", "@_detaching", "@_scaling(w)", "@_scaling(2)", "@torch.no_grad()", "@_off()",
    "@torch.enable_grad()",
)  # fmt: skip
_CONTEXTS = ("_off()", "_on()", "torch.no_grad()", "_perhaps(False)", "_perhaps(flag)", "torch.enable_grad()")
_MADE = (
    "{a} * 2", "{a} + {b}", "{a} * {b}", "{a}.detach().clone()", "{a}.clone()", "torch.zeros_like({a})", "{a}.sin()",
    "{a} @ {b}", "torch.stack([{a}, {b}]).sum(0)", "{a}.detach() + {b}", "-{a}", "torch.where({a} > 0, {a}, {b})",
    "{a} if flag else {b}", "{a} if {b}.requires_grad else {b}", "(lambda x: x * {b})({a})", "{a}.detach() * 1",
    "[{a}, {b}][0] * 1", "{{'k': {a}}}['k'] + 0", "sum([{a}, {b}])", "torch.ones(2, 2)", "{a}.float()",
    "({a}.detach() if {a}.requires_grad else {a})", "max([{a}, {b}], key=lambda x: x.sum().item())",
)  # fmt: skip


@dataclass
class Writer:
    """Writes a program; ``functions`` and ``classes`` are what later lines may use."""

    chance: random.Random
    lines: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    fillers: list[str] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)
    count: int = 0

    def name(self, start: str) -> str:
        self.count += 1
        return f"{start}{self.count}"

    def made(self, names: list[str]) -> str:
        """Write an expression of some names, or a call of a function."""
        a, b = self.chance.choice(names), self.chance.choice(names)
        if self.functions and self.chance.random() < 0.4:
            function = self.chance.choice(self.functions)
            form = self.chance.choice(
                ["{f}({a}, {b})", "{f}({a})", "{f}({a}, y={b})", "{f}(*[{a}, {b}])", "{f}(x={a})"]
            )
            return form.format(f=function, a=a, b=b)
        return self.chance.choice(_MADE).format(a=a, b=b)

    def body(self, names: list[str], blank: str, steps: int) -> list[str]:
        """Write some statements; give the names that are bound behind them."""
        names = list(names)
        for _ in range(steps):
            self.step(names, blank)
        return names

    def step(self, names: list[str], blank: str) -> None:
        new, kind = self.name("v"), self.chance.random()
        if kind < 0.45:
            self.bind(new, self.made(names), names, blank)
        elif kind < 0.6:
            self.lines += [f"{blank}with {self.chance.choice(_CONTEXTS)}:", f"{blank}    pass"]
            names[:] = self.body(names, blank + "    ", self.chance.randint(1, 2))
        elif kind < 0.7:
            self.bind(new, self.made(names), names, blank)
            self.lines.append(f"{blank}if flag:")
            self.lines.append(f"{blank}    {new} = {self.made(names)}")
            self.reveal(new, blank)
        elif kind < 0.78:
            self.bind(new, self.made(names), names, blank)
            self.lines.append(f"{blank}for _ in range(2):")
            self.lines.append(f"{blank}    {new} = {self.made(names)}")
            self.reveal(new, blank)
        elif kind < 0.9:
            self.filled(new, names, blank)
        elif self.classes:
            self.used(names, blank)

    def bind(self, new: str, expression: str, names: list[str], blank: str) -> None:
        self.lines.append(f"{blank}{new} = {expression}")
        names.append(new)
        self.reveal(new, blank)

    def reveal(self, expression: str, blank: str) -> None:
        self.lines.append(f"{blank}reveal({expression})")

    def filled(self, new: str, names: list[str], blank: str) -> None:
        """Let a function write into a fresh tensor or list."""
        a, b = self.chance.choice(names), self.chance.choice(names)
        filler = self.chance.choice(["_fill", "_add", *self.fillers])
        self.lines.append(f"{blank}{new} = {a}.clone()")
        self.lines.append(f"{blank}{filler}({new}, {b})")
        self.reveal(new, blank)
        other = self.name("xs")
        self.lines.append(f"{blank}{other} = [{a}]")
        self.lines.append(f"{blank}_collect({other}, {b})")
        self.reveal(f"{other}[-1]", blank)

    def used(self, names: list[str], blank: str) -> None:
        """Make an object and call some of its methods."""
        thing = self.name("o")
        a, b = self.chance.choice(names), self.chance.choice(names)
        self.lines.append(f"{blank}{thing} = {self.chance.choice(self.classes)}({a}, kept={b})")
        for _ in range(self.chance.randint(1, 4)):
            a = self.chance.choice(names)
            calls = (f"set({a})", f"step({a})", f"put({a})", f"add({a})", "again()", f"static({a})", "copy()")
            self.lines.append(f"{blank}{self.name('r')} = {thing}.{self.chance.choice(calls)}")
            self.reveal(f"r{self.count}", blank)
            attribute = self.chance.choice(["x", "kept", "other", "shown", "items[-1]", "get()"])
            self.reveal(f"{thing}.{attribute}", blank)

    # ------------------------------------------------------------------ definitions
    def function(self) -> None:
        name = self.chance.choice(["_h", "h"]) + str(len(self.functions))
        if self.chance.random() < 0.3:
            self.lines.append(self.chance.choice(_DECORATORS))
        default = self.chance.choice(["z", "w", "torch.zeros(2, 2)"])
        self.lines.append(f"def {name}(x, y={default}, flag=False, depth=1):")
        self.reveal("x", "    ")
        self.reveal("y", "    ")
        names = self.body(["x", "y"], "    ", self.chance.randint(0, 3))
        self.ending(name, names)
        self.functions.append(name)

    def ending(self, name: str, names: list[str]) -> None:
        """Write the last statements of a function: a closure, state outside, recursion, a result."""
        kind = self.chance.random()
        made = self.made(names)
        if kind < 0.2:
            self.lines += [
                "    def inner(q):",
                f"        nonlocal {names[-1]}",
                f"        {names[-1]} = q * {names[0]}",
            ]
            self.lines += ["        reveal(q)", "        return q", f"    inner({made})"]
            self.reveal(names[-1], "    ")
        elif kind < 0.3:
            self.lines += ["    global _state", f"    _state = {made}", "    reveal(_state)"]
        elif kind < 0.4:
            self.lines += [f"    _seen.append({made})", "    reveal(_seen[-1])"]
        elif kind < 0.5:
            self.lines += ["    with torch.no_grad():", f"        _buffer.copy_({made})", "    reveal(_buffer)"]
        elif kind < 0.6:
            self.lines += ["    def late():", "        return held", f"    held = {made}", "    reveal(late())"]
            self.lines += [f"    held = {self.made(names)}", "    reveal(late())"]
        if kind > 0.85:
            self.lines += [
                "    if depth > 0:",
                f"        return {name}({self.chance.choice(names)}, x, flag, depth - 1)",
            ]
        self.lines += [f"    return {self.chance.choice(names)}", "", ""]

    def filler(self) -> None:
        name = f"_filler{len(self.fillers)}"
        write = self.chance.choice(["x[0] = y[0]", "x.add_(y)", "x += y", "x.copy_(y)", "_fill(x, y)", "x.mul_(y)"])
        self.lines.append(f"def {name}(x, y, flag=True):")
        if self.chance.random() < 0.3:
            self.lines.append(f"    y = {self.made(['y', 'w'])}")
        context = self.chance.choice(["if flag:", "with torch.no_grad():", "for _ in range(1):", "if not flag:"])
        self.lines += [f"    {context}", f"        {write}"]
        if self.chance.random() < 0.3:
            self.lines.append("    x = x.clone()")
        self.lines += ["    reveal(x)", "", ""]
        self.fillers.append(name)

    def constructor(self, other: str) -> None:
        self.lines.append("    def __init__(self, x, kept=z):")
        first = self.chance.choice(["self.x = x", "self.x = x * 1", "self.x = torch.zeros(2, 2)", "self.x = z"])
        again = self.chance.choice(["", "self.x = self.x.detach()", "self.x = self.x * w", "x = x * w; self.x = x"])
        self.lines += [f"        {each}" for each in (first, again, "self.kept = kept", "flag = False") if each]
        self.lines += [f"        self.other = {other}", "        self.table = torch.zeros(2, 2)"]
        self.lines += ["        self.items = [self.x]", ""]

    def object(self) -> None:
        """Write a class; one that derives from another sets no attributes: what a subclass sets is not seen."""
        name = f"{self.chance.choice(['Thing', '_Thing'])}{len(self.classes)}"
        bases = self.chance.choice([f"({each})" for each in self.classes] or [""])
        names = ["self.x", "self.kept", "v"]
        made = [self.made(names) for _ in range(4)]
        other = self.made(["x", "kept", "w", "z"])
        self.lines += [f"class {name}{bases}:"]
        if not bases:
            self.constructor(other)
        deco = f"    {self.chance.choice(_DECORATORS)}" if self.chance.random() < 0.3 else ""
        methods = (
            ["    def set(self, v, flag=True):", f"        self.x = {made[0]}", "        reveal(self.x)"],
            [
                *filter(None, [deco]),
                "    def step(self, v, flag=False):",
                "        reveal(self.x)",
                f"        y = {made[1]}",
                "        reveal(y)",
                "        self.x = y",
                "        return y",
            ],
            ["    def put(self, v):", "        self.table[0] = v[0]", "        reveal(self.table)"],
            ["    def add(self, v):", "        self.items.append(v)", "        reveal(self.items[-1])"],
            [
                "    def again(self, flag=True):",
                "        v = self.get()",
                "        reveal(v)",
                f"        self.kept = {made[2]}",
                "        return self.kept",
            ],
            ["    @property", "    def shown(self):", "        flag, v = True, self.kept", f"        return {made[3]}"],
            ["    @staticmethod", "    def static(v):", "        reveal(v)", "        return v * 2"],
            ["    def get(self):", "        return self.x"],
            [
                "    def copy(self):",
                "        self.other = self.x",
                "        reveal(self.other)",
                "        return self.other",
            ],
        )
        plain = [each for each in methods if not re.search(r"self\.(x|kept|other) =", "".join(each))]
        chosen = plain if bases else methods
        for method in chosen:
            self.lines += [*method, ""]
        self.lines.append("")
        self.classes.append(name)


_FILLERS = """\
def _fill(x, y):
    x[0] = y[0]


def _add(x, y):
    x += y


def _collect(xs, x):
    xs.append(x)


"""


def written(chance: random.Random) -> str:
    """Write a program: definitions, then a main function or lines of the module that use them."""
    program = Writer(chance, [*_PRELUDE.splitlines(), *_FILLERS.splitlines()])
    for _ in range(chance.randint(2, 5)):
        chance.choice([program.function, program.function, program.filler, program.object])()
    if chance.random() < 0.5:
        program.lines.append("def main(flag=False):")
        program.body(["w", "z"], "    ", 6)
        program.lines += ["", "", "main()", "main(True)"]
    else:
        program.lines.append("flag = bool(torch.ones(1).item())")
        program.body(["w", "z"], "", 6)
    return "\n".join(program.lines) + "\n"


def wrong_in(text: str, ask: list[int] | None = None) -> tuple[list[str], int]:
    """Run a program and hold what it shows against what is inferred; give what was wrong, and how much was seen."""
    analysis = analyse(index_of(decode("program.py", text.encode())), Settings())
    expressions = revealed(analysis.index.tree)
    wrong: dict[str, None] = {}
    seen: set[int] = set()

    def reveal(thing: object, row: int) -> object:
        seen.add(row)
        value = analysis.value(expressions[row])
        if not torch.is_grad_enabled() and analysis.mode(expressions[row]) == Mode.ON:
            value = value.having(grad=value.grad | Grad.DETACHED)  # a body is read as if called with grad mode on
        for each in faults(thing, value):
            if "not certainly attached" not in each:
                wrong[f"line {row}: {ast.unparse(expressions[row])}: {each}"] = None
        return thing

    code = compile(Rows().visit(ast.parse(text)), "program.py", "exec")
    with quiet(), contextlib.suppress(Exception):
        exec(code, {"reveal": reveal, "__name__": "__main__"})
    return list(wrong), len(seen)


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.integers(min_value=0, max_value=2**32))
def test_random_functions_lie_within_what_was_inferred(seed: int) -> None:
    torch.manual_seed(0)
    text = written(random.Random(seed))
    wrong, _ = wrong_in(text)
    assert not wrong, "\n".join(wrong) + "\n" + text


def test_the_random_programs_show_enough() -> None:
    seen = sum(wrong_in(written(random.Random(seed)))[1] for seed in range(20))
    assert seen > 200
