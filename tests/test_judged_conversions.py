"""How sure a conversion to the host fails, and which half of the way it needs, text by text."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from torchlint.diagnostics.model import Confidence
from torchlint.evaluation.judged_conversions import judge_value
from torchlint.evaluation.oracles import Oracles
from torchlint.semantic.program import Program

HEAD = "import contextlib\nimport torch\nfrom torch import nn\n\n"


def judged(folder: Path, code: str) -> list[str]:
    """Return what is said of each ``.numpy()`` of a text: the level of each half that it needs, or ``works``."""
    program = Program(str(folder))
    file = program.add(str(folder / "a.py"), (HEAD + code).encode())
    oracles, said = Oracles(program), []
    for written in file.calls["numpy"]:
        node = file.node_of_call(written)
        assert node is not None
        assert isinstance(written.node, ast.Call)
        found = judge_value(oracles, node.ins[0].ins[0], node, str)
        halves = {"detach": found.of_grad, "cpu": found.of_device} if found is not None else {}
        words = [f"{half} {level.name.lower()}" for half, level in halves.items() if isinstance(level, Confidence)]
        said.append(", ".join(words) or "works")
    return said


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("net = nn.Linear(2, 2)\nnet(torch.ones(2)).numpy()", "detach certain"),
        ("def f(x):\n    return x.numpy()", "detach possible, cpu possible"),
        ("def f(x):\n    return x.cpu().numpy()", "detach unproven"),
        ("def f(x):\n    return x.numpy()\nf(torch.ones(2))", "detach unproven, cpu unproven"),
        ("def f(x):\n    return x.numpy()\nf(nn.Linear(2, 2)(torch.ones(2)))", "detach likely, cpu unproven"),
        ("def f(net, flag):\n    net = nn.Linear(2, 2)\n    with torch.set_grad_enabled(flag):\n"
         "        y = net(torch.ones(2))\n    return y.numpy()", "detach possible"),
        ("w = torch.ones(2, requires_grad=True)\ncheck(lambda: w.numpy())", "detach certain"),
    ],
)  # fmt: skip
def test_a_level_is_what_the_evidence_allows(tmp_path: Path, code: str, said: str) -> None:
    assert judged(tmp_path, code) == [said]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def f(x):\n    x = x.detach().cuda()\n    if torch.cuda.is_available():\n        x = x.cpu()\n"
         "    return x.numpy()", "works"),
        ("USE = torch.cuda.is_available()\ndef f(x):\n    x = x.detach().cuda()\n    if not USE:\n"
         "        return x.numpy()", "works"),
        ("def f(x):\n    x = x.detach().cuda()\n    if torch.cuda.is_available() and x.dim():\n        x = x.cpu()\n"
         "    return x.numpy()", "cpu likely"),
        ("OTHER = 'mps'\ndef f(x):\n    x = x.detach().cuda()\n    if torch.cuda.is_available():\n        x = x.cpu()\n"
         "    return x.numpy()", "cpu likely"),
    ],
)  # fmt: skip
def test_where_there_is_no_accelerator_tensors_are_on_the_host(tmp_path: Path, code: str, said: str) -> None:
    assert judged(tmp_path, code) == [said]


OFF = (
    "class Off:\n    def __enter__(self):\n        torch.set_grad_enabled(False)\n"
    "    def __exit__(self, *error):\n        torch.set_grad_enabled(True)\nnet = nn.Linear(2, 2)\n"
)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("with Off():\n    y = net(torch.ones(2))\ny.numpy()", "works"),
        ("with Off():\n    pass\nnet(torch.ones(2)).numpy()", "detach certain"),
        ("with contextlib.ExitStack() as stack:\n    stack.enter_context(torch.no_grad())\n"
         "    y = net(torch.ones(2))\ny.numpy()", "works"),
        ("with contextlib.ExitStack() as stack:\n    stack.enter_context(torch.no_grad())\n"
         "net(torch.ones(2)).numpy()", "detach certain"),
        ("with torch.no_grad():\n    ys = (net(x) for x in torch.ones(3, 2))\n[y.numpy() for y in ys]",
         "detach possible"),
        ("with torch.no_grad():\n    ys = (net(x) for x in torch.ones(3, 2))\n    [y.numpy() for y in ys]", "works"),
    ],
)  # fmt: skip
def test_grad_mode_is_what_contexts_make_of_it(tmp_path: Path, code: str, said: str) -> None:
    assert judged(tmp_path, OFF + code) == [said]


FREEZING = (
    "def freeze(nets):\n    for net in nets:\n        for p in net.parameters():\n            p.requires_grad = False\n"
    "def stop(net):\n    for p in net.parameters():\n        p.requires_grad_(False)\n    return net\n"
    "class Two(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = nn.Linear(2, 2)\n"
    "    def forward(self, x):\n        return self.a(x)\n"
)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("one = nn.Linear(2, 2)\nfreeze([one])\none(torch.ones(2)).numpy()", "works"),
        ("one, two = nn.Linear(2, 2), nn.Linear(2, 2)\nfor each in (one, two):\n    each.requires_grad_(False)\n"
         "two(torch.ones(2)).numpy()", "works"),
        ("net = stop(Two())\nnet(torch.ones(2)).numpy()", "works"),
        ("net = Two()\nstop(net)\nnet.a = nn.Linear(2, 2)\nnet(torch.ones(2)).numpy()", "detach likely"),
        ("net = Two().requires_grad_(False)\nnet.a.weight.requires_grad = True\nnet(torch.ones(2)).numpy()",
         "detach likely"),
    ],
)  # fmt: skip
def test_frozen_modules_give_no_gradient_but_by_new_parts(tmp_path: Path, code: str, said: str) -> None:
    assert judged(tmp_path, FREEZING + code) == [said]


def test_what_a_hook_collects_requires_grad_where_whoever_runs_the_module_lets_it(tmp_path: Path) -> None:
    code = (
        "kept = {}\ndef keeping(name):\n    def hook(module, inputs, output):\n        kept[name] = output\n"
        "    return hook\nnet = nn.Linear(2, 2)\nnet.register_forward_hook(keeping('a'))\n"
        "def f(x):\n    net(x)\n    return kept['a'].cpu().numpy()\n"
    )
    assert judged(tmp_path, code) == ["detach possible"]


def test_a_buffer_moves_with_its_module_and_a_plain_tensor_does_not(tmp_path: Path) -> None:
    code = (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.register_buffer('mean', torch.zeros(2))\n        self.grid = torch.zeros(2)\n"
        "net = Net().cuda()\nnet.mean.numpy()\nnet.grid.numpy()\n"
    )
    assert judged(tmp_path, code) == ["cpu certain", "works"]
