"""Projects run before and after `--fix`: what a trace keeps as a constant, and what it follows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike

TRACED = """
import torch


def widened(x):
    y = torch.relu(x)
    return {} + y.sum()


traced = torch.jit.trace(widened, torch.ones(2))
print(traced(torch.ones(3)))
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("torch.Tensor(3, 2).zero_()", "torch.zeros(3, 2)"),
        ("torch.LongTensor(3).fill_(5)", "torch.empty(3, dtype=torch.int64).fill_(5)"),
        ("y.new(3, 2).fill_(1)", "y.new_empty(3, 2).fill_(1)"),
    ],
)
def test_a_trace_keeps_a_size_that_is_written(tmp_path: Path, old: str, new: str) -> None:
    changed = check_runs_alike(tmp_path, {"main.py": TRACED.format(old)})
    assert changed == {"main.py": TRACED.format(new)}


@pytest.mark.parametrize(
    "value",
    [
        "torch.Tensor(y.size(0), 2).zero_()",
        "torch.Tensor(y.shape).zero_()",
        "torch.Tensor(y.numel() * 2).zero_()",
        "torch.LongTensor(y.size(0)).zero_()",
        "y.new(y.size(0), 2).zero_()",
        "y.new(y.shape).fill_(1)",
    ],
)
def test_a_size_that_a_trace_would_follow_stays(tmp_path: Path, value: str) -> None:
    assert check_runs_alike(tmp_path, {"main.py": TRACED.format(value)}) == {}


def test_a_size_is_repaired_where_nothing_is_traced(tmp_path: Path) -> None:
    text = TRACED.replace("torch.jit.trace(widened, torch.ones(2))", "widened")
    changed = check_runs_alike(tmp_path, {"main.py": text.format("torch.Tensor(y.size(0), 2).zero_()")})
    assert changed == {"main.py": text.format("torch.zeros(y.size(0), 2)")}


WAYS = {
    "the module under a name": ("import torch.jit as tj", "tj.trace(widened, torch.ones(2))"),
    "the module from torch under a name": (
        "from torch import (\n    nn,\n    jit as j,\n)",
        "j.trace(widened, torch.ones(2))",
    ),
    "the module as a value": ("j = torch.jit", "j.trace(widened, torch.ones(2))"),
    "the module handed on": ("import functools", "getattr(torch.jit, 'tr' + 'ace')(widened, torch.ones(2))"),
    "the function under a name": ("from torch.jit import trace as t", "t(widened, torch.ones(2))"),
    "torch under a name": ("import torch as T", "T.jit.trace(widened, torch.ones(2))"),
}
GROWING = "torch.Tensor(y.size(0), 2).zero_()"


@pytest.mark.parametrize("way", WAYS)
def test_a_tracer_may_go_by_another_name(tmp_path: Path, way: str) -> None:
    imported, call = WAYS[way]
    text = TRACED.replace("import torch\n", f"import torch\n{imported}\n", 1)
    text = text.replace("torch.jit.trace(widened, torch.ones(2))", call).format(GROWING)
    assert check_runs_alike(tmp_path, {"main.py": text}) == {}


RECORDED = {
    "a graph for TensorBoard": "writer.add_graph(net, x)",
    "an exported program": "torch.export.export(net, (x,))",
    "a program exported by name": "from torch import nn, export; export.export(net, (x,))",
    "a graph of Lightning's logger": "TensorBoardLogger('logs', log_graph=True)",
    "ONNX of Lightning": "net.to_onnx('net.onnx')",
    "counted operations": "FlopCountAnalysis(net, x).total()",
    "a graph of operations": "make_fx(net)(x)",
    "ONNX by its own module": "torch.onnx.utils.export(net, x, 'net.onnx')",
    "OpenVINO": "convert_model(net, example_input=x)",
    "Neuron": "torch.neuron.trace(net, x)",
}
OTHERS = {
    "a graph of Matplotlib": "plot.add_subplot(net)",
    "a test for tracing": "torch.jit.is_tracing()",
    "an imported table": "import export as tables",
    "exported pictures": "tables.export(x)",
    "a comment": "pass  # torch.jit, as others do",
    "a layer": "net.hiddenlayer(x)",
}
USE = "\n\ndef use(net, x, writer):\n    {}\n\n\nprint(widened(torch.ones(3)))\n"


@pytest.mark.parametrize("record", RECORDED)
def test_other_ways_to_record_count(tmp_path: Path, record: str) -> None:
    text = TRACED.partition("\n\n\ntraced")[0].format(GROWING) + USE.format(RECORDED[record])
    assert check_runs_alike(tmp_path, {"main.py": text}) == {}


@pytest.mark.parametrize("other", OTHERS)
def test_what_records_nothing_does_not_count(tmp_path: Path, other: str) -> None:
    text = TRACED.partition("\n\n\ntraced")[0].format(GROWING) + USE.format(OTHERS[other])
    assert list(check_runs_alike(tmp_path, {"main.py": text})) == ["main.py"]


@pytest.mark.parametrize(
    ("handed", "taken", "is_repaired"),
    [("*", "widened", False), ("widened, kept", "widened", False), ("widened", "*", False), ("widened", "own", True)],
)
def test_a_package_hands_on_what_is_traced(tmp_path: Path, handed: str, taken: str, is_repaired: bool) -> None:
    inner = "import torch\n\nkept = 1\n\n\ndef widened(x):\n    return torch.Tensor(x.size(0), 2).zero_() + x.sum()\n"
    main = f"import torch\nfrom nets import {taken}\n\ntorch.jit.trace(torch.relu, torch.ones(2))\n"
    files = {"main.py": main, "nets/__init__.py": f"from .inner import {handed}\n\nown = 1\n", "nets/inner.py": inner}
    assert bool(check_runs_alike(tmp_path, files)) is is_repaired
