"""Nothing is a tensor in a file that neither imports torch nor receives one from a file that does."""

from __future__ import annotations

import json
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike
from tests.projects import written
from torchlint.config import Config
from torchlint.diagnostics.model import Applicability, Finding
from torchlint.diagnostics.registry import RULES
from torchlint.linter.engine import check_bytes

EVERY = replace(Config(), select=tuple(each.code for each in RULES))

USES = '''
class Layer(base.Module):
    """Uses no torch."""

    def f(self, x, net, model):
        """Give arrays.

        Args:
            x (Tensor): what is shown.
        """
        a, b = x.clamp(0, 1).numpy(), x.detach().numpy()
        c, d = self(x).numpy(), model(x).numpy()
        e = [float(each.detach().numpy()) for each in net.parameters()]
        f, g = x.cpu().detach(), x.to("cpu", non_blocking=True)
        h, i, j = x.new(2).zero_(), x.type("torch.FloatTensor"), x.grad.data
        k, l = model(x).data, [p.data for p in net.parameters()]
        if hasattr(x, "detach"):
            m = x.numpy()
        x.weight.data.fill_(0)
        net.cuda()
        n = net(x).numpy()
        o = x.max(1)[0].numpy()
        p = [each.numpy() for each in x.split(2)]
'''
"""What is said of a tensor in a file that works with torch, and is not to be where another library may be meant."""


def found(text: str, path: Path | str = "/nowhere/a.py") -> list[Finding]:
    result = check_bytes(str(path), text.encode(), EVERY)
    assert result.troubles == ()
    return list(result.findings)


# ---------------------------------------------------------------------- what is silent
@pytest.mark.parametrize(
    "head",
    [
        "import sonnet as base",
        "import tensorflow as base",
        "from paddle import nn as base",
        "import paddle.fluid as base",
        "from flax import linen as base",
        "import numpy as base",
        '"""Does without torch what torch does."""\nimport base',
        "from base import *",
        "import torchlint as base",
        "# import torch\nimport base",
        "import jittor as torch\nimport base",
        "import base\nfrom base import is_torch_available",
    ],
)
def test_a_file_without_torch_is_silent(head: str) -> None:
    assert found(f"{head}\n{USES}") == []


def test_a_text_that_does_not_parse_is_silent_without_torch() -> None:
    broken = 'print "x"\na = x.detach().numpy()\nb = x.cpu().detach()\n'
    assert [each.code for each in found(broken) if each.code != "TNS900"] == []


# ---------------------------------------------------------------------- what counts as an import of torch
@pytest.mark.parametrize(
    "head",
    [
        "import torch",
        "import os, torch.nn as nn",
        "from torch.nn import functional as F",
        "def g():\n    import torch",
        "try:\n    import torch\nexcept ImportError:\n    torch = None",
        'import importlib\n\ntorch = importlib.import_module("torch")',
        'import pytest\n\ntorch = pytest.importorskip("torch", minversion="2.0")',
        'nn = __import__("torch.nn")',
        "import pytorch_lightning as pl",
        "from torchvision import models",
        "import timm",
        "from compat import torch",
    ],
)
def test_an_import_of_torch_counts_wherever_it_stands(head: str) -> None:
    assert [each.code for each in found(f"{head}\n\n\ndef f(x):\n    return x.clamp(0, 1).numpy()\n")] == ["TNS103"]


def test_a_notebook_s_cells_count_together(tmp_path: Path) -> None:
    blank = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    sources = ("import torch", "def f(x):\n    return x.clamp(0, 1).numpy()")
    cells = [{**blank, "source": [each]} for each in sources]
    notebook = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    assert [each.code for each in found(notebook, tmp_path / "a.ipynb")] == ["TNS103"]


def test_torch_and_another_library_in_one_file_are_told_apart_as_before() -> None:
    text = "import tensorflow as tf\nimport torch\n\n\ndef f(x, tf_x):\n    return x.numpy(), tf_x.numpy()\n"
    assert [each.code for each in found(text)] == ["TNS103"]


# ---------------------------------------------------------------------- what is received
MODEL = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return self.fc(x)


def start():
    return torch.ones(2, requires_grad=True)
"""


def test_a_value_that_is_known_to_come_from_torch_is_received(tmp_path: Path) -> None:
    folder = written(tmp_path, {"pkg/__init__.py": "", "pkg/model.py": MODEL})
    text = "from .model import Net, start\n\nnet = Net()\n\n\ndef f(x):\n    y = start()\n"
    text += "    return net(x).numpy(), y.numpy(), y.data, y.new(2), x.clamp(0, 1).numpy(), x.data, x.new(2).zero_()\n"
    assert [each.code for each in found(text, folder / "pkg" / "use.py")] == ["TNS101", "TNS101", "TNS201", "TNS306"]


def test_a_star_that_brings_torch_counts_as_its_import(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/torch_imports.py": "import torch\nfrom torch import nn\nfrom .round import *\n",
        "pkg/core.py": "from .torch_imports import *\n",
        "pkg/round.py": "from .core import *\n",
        "pkg/plain.py": "import numpy as np\n",
    }
    folder = written(tmp_path, files)
    text = "from .core import *\n\n\ndef f(x):\n    return x.clamp(0, 1).numpy()\n"
    assert [each.code for each in found(text, folder / "pkg" / "use.py")] == ["TNS103"]
    assert found(text.replace(".core", ".plain"), folder / "pkg" / "use.py") == []


# ---------------------------------------------------------------------- run before and after
def test_code_of_other_libraries_is_left_as_it_runs(tmp_path: Path) -> None:
    field = """
        '''Fields of numbers: what torch does, without torch.'''

        import numpy as np


        class Field:
            def __init__(self, numbers):
                self.numbers = np.asarray(numbers)

            def clamp(self, low, high):
                return Field(self.numbers.clip(low, high))

            def numpy(self):
                return self.numbers
    """
    report = """
        '''Shows fields; torch is not needed.'''


        def shown(field):
            return field.clamp(0, 1).numpy().tolist()
    """
    main = """
        import torch
        from field import Field
        from report import shown

        print(torch.ones(1).item(), shown(Field([-1.0, 0.5, 2.0])))
    """
    files = {"field.py": field, "report.py": report, "main.py": main}
    check_runs_alike(tmp_path, {name: textwrap.dedent(text).lstrip() for name, text in files.items()})


# ---------------------------------------------------------------------- outputs of networks
def test_the_fix_of_an_output_says_that_it_may_be_no_tensor() -> None:
    text = "import torch\n\n\ndef f(net, x):\n    output = net(x)\n"
    text += "    b = output.data\n    return b, output.data.item(), output.data.shape\n"
    fixes = [each.fix for each in found(text)]
    assert len(fixes) == 3
    for fix in fixes:
        assert fix is not None
        assert fix.applicability is Applicability.UNSAFE
        assert "; assumes that `output` is a tensor of torch" in fix.title


def test_outputs_are_not_spoken_of_where_torch_is_not_imported() -> None:
    assert found("def f(net, x):\n    out = net(x)\n    return out.data\n") == []
