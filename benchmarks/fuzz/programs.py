"""Programs from a grammar of Python's forms, with torch's words in them far more often than in real code."""

from __future__ import annotations

from random import Random

_NAMES = "x y loss w out self model batch np torch T data numpy Variable Tensor FT".split()
_HEADS = (
    "import torch\n", "import torch as T\nfrom torch.autograd import Variable\n", "from torch import *\n",
    "import numpy as np, torch\nfrom torch import Tensor, FloatTensor as FT\n", "import torch.autograd as A\n",
    "", "# -*- coding: latin-1 -*-\nimport torch  # \xe9\n",
    "#!/usr/bin/python\nfrom __future__ import annotations\nimport torch\n",
)  # fmt: skip
_ATOMS = (
    "torch.ones(3, requires_grad=True)", "torch.rand(2, 2).cuda()", "torch.Tensor([1.0, 2])", "torch.Tensor(3, 4)",
    "torch.FloatTensor({a})", "torch.cuda.LongTensor(2)", "Variable({a}, volatile=True)", "Variable({a})",
    "torch.autograd.Variable({a}, requires_grad=True)", "{n}", "{n}.data", "{n}.grad.data", "{n}.weight.data",
    "{a}.numpy()", "{a}.cpu().detach().numpy()", "{a}.data.cpu().numpy()[0]", "{a}.data[0]", "{a}.item()",
    "{a}.to('cpu', non_blocking=True)", "float({a}.data)", "{a}.new({b})", "{a}.type(torch.FloatTensor)",
    "{a}.data.size()", "torch.tensor({a})", "isinstance({a}, Variable)", "({a})", "[{a}, {b}]", "{{{a}: {b}}}",
    "(lambda {n}: {a})", "({a} if {b} else {c})", "f'{{{a}}}'", "f\"{{{n}.data!r:>{{{b}}}}}\"", "'\\N{{DASH}}' 'é'",
    "[{a} for {n} in {b} if {c}]", "({n} := {a})", "{a}\\\n    .data", "(\n    {a}\n    # why\n    .numpy()  # so\n)",
    "({a}\n.\ndata\n)", "{a}  .  data", "{a}.numpy  ( )", "np.asarray({a})", "{a} @ {b}", "-{a} ** {b}", "*{a},",
    "'''\n  {n}.data\n'''", "b'\\xff'", "0x_f", "1_0.0e-3j", "...", "{a}[..., ::2, {b}]", "await {a}", "(yield {a})",
    "torch.set_default_tensor_type(torch.DoubleTensor)", "{a}.data.normal_(0, 1)", "print({a}.data, {b}.numpy())",
)  # fmt: skip
_SIMPLE = (
    "{n} = {a}", "{n}: {a} = {b}", "{n}.data = {a}", "{n}.data += {a}", "{n}.data[{a}] = {b}", "{a}", "del {n}.data",
    "{n}.data.copy_({a})", "return {a}", "assert {a}, {b}", "{n}, *{n}.data = {a}", "pass", "global {n}", "raise {a}",
    "{n}.weight.data.fill_({a}); {n}.bias.data.zero_()", "import torch as {n}", "from torch import {n} as {n}", "yield",
    "{a}  # noqa", "{a}  # noqa: TNS101, E501", "{a}  # torchlint: ignore[TNS2]", "nonlocal {n}", "{n} @= {a}",
    "type {n}[{n}] = {a}", "print {a}", "{n} = {n} = {a}",
)  # fmt: skip
_COMPOUND = (
    "if {a}:", "while {a}:", "for {n} in {a}:", "with torch.no_grad():", "with {a} as {n}, {b}:", "try:",
    "def {n}(self, {n}={a}, *args: {b}, **kw) -> {c}:", "async def {n}():", "class {n}(torch.nn.Module):", "class {n}:",
    "@torch.no_grad()\ndef forward(self, x):", "@{a}\nclass {n}({b}, metaclass={c}):", "match {a}:\n    case {n}.data:",
    "def __init__(self):", "def reset_parameters(self):", "async with {a}:", "def f[T: {a}](x: T):",
)  # fmt: skip
_TAILS = {"try:": ("except Exception as e:", "finally:", "except* {a}:"), "if": ("else:", "elif {a}:")}
_INDENTS = ("    ", "\t", "  ", " \t")
_GAPS = ("", "", "", "\n", "\n\n", "# note\n", "\x0c\n", "   \n", "# noqa\n")


def program(chance: Random) -> bytes:
    """Return a file's bytes; most of them parse, and some on purpose do not."""
    head = chance.choice(_HEADS)
    text = head + "".join(_statement(chance, "", 0) for _ in range(chance.randint(1, 8)))
    newline = chance.choice(("\n", "\n", "\n", "\r\n", "\r"))
    raw = text.replace("\n", newline).encode("latin-1" if "latin-1" in head else "utf-8", "replace")
    mark = b"\xef\xbb\xbf" if chance.random() < 0.05 else b""
    return mark + (raw if chance.random() < 0.9 else raw.rstrip())


def _statement(chance: Random, indent: str, depth: int) -> str:
    gap = chance.choice(_GAPS)
    if depth < 4 and chance.random() < 0.35:
        return gap + _compound(chance, indent, depth)
    return gap + _written(chance, chance.choice(_SIMPLE), indent)


def _compound(chance: Random, indent: str, depth: int) -> str:
    form = chance.choice(_COMPOUND)
    text = _written(chance, form, indent) + _body(chance, indent + "    " * form.startswith("match"), depth)
    for key, tails in _TAILS.items():
        if form.startswith(key) and (key == "try:" or chance.random() < 0.4):
            text += _written(chance, chance.choice(tails), indent) + _body(chance, indent, depth)
    return text


def _body(chance: Random, indent: str, depth: int) -> str:
    deeper = indent + chance.choice(_INDENTS if chance.random() < 0.1 else _INDENTS[:1])
    return "".join(_statement(chance, deeper, depth + 1) for _ in range(chance.randint(1, 3)))


def _written(chance: Random, form: str, indent: str) -> str:
    lines = _filled(chance, form, 0).split("\n")
    # What an expression brings of its own lines stands as it is: it lies within brackets or behind a backslash.
    own = form.count("\n") + 1
    return "".join(f"{indent if at < own else ''}{line}\n" for at, line in enumerate(lines))


def _filled(chance: Random, form: str, depth: int) -> str:
    parts = {key: _expression(chance, depth) for key in "abc" if f"{{{key}}}" in form}
    return form.format(n=chance.choice(_NAMES), **parts)


def _expression(chance: Random, depth: int) -> str:
    if depth > 3 or chance.random() < 0.3:
        return chance.choice(_NAMES)
    return _filled(chance, chance.choice(_ATOMS), depth + 1)
