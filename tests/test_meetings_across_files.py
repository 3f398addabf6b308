"""Tensors that one file makes on the host, and that meet one of an accelerator in another, or are handed to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.config import Config
from torchlint.linter.engine import check_bytes

TABLE = "import torch\n\ndef table(size):\n    return torch.arange(size)\n"
NETWORK = """
from torch import nn
from made import {imported}

class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.kept = {kept}
{more}
    def forward(self, x):
        h = self.fc(x)
        return {meets}
"""
MIXIN = """
import torch
from torch import nn

class Drawing(nn.Module):
    def noise(self, n):
        return torch.randn(n, 3)
"""
BELOW = """
from torch import nn
from made import Drawing

class Below(Drawing):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return self.fc(x) + self.noise(x.size(0))
"""
GRID = "import torch\n\nclass Grid:\n    def rows(self, n):\n        return torch.arange(n)\n"
EYE = "import torch\n\ndef regular(cov):\n    return cov + torch.eye(3)\n"
RATIOS = "import torch\n\ndef _blank(x):\n    return torch.zeros(3) + x\n\ndef ratios(x):\n    return _blank(x)\n"
SCHEDULE = """
import torch

class Schedule:
    def __init__(self):
        self.alphas = torch.linspace(0, 1, 9)

    def taken(self, t):
        return self.alphas[t]
"""
TRAIN = """
import torch
from made import Schedule

def train(device):
    schedule = Schedule()
{}
    return schedule.taken(torch.zeros(3, device=device, dtype=torch.long))
"""
BODY = """
import torch
from torch import nn

class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def width(self):
        return self.fc(torch.zeros(1, 3)).shape[1]
"""
HEAD = """
from torch import nn
from made import Body

class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = Body()
        self.fc = nn.Linear(self.body.width(), 2)

    def size(self):
        return {size}
"""

BATCH = """
import torch

def weighed(batch):
    near, far = batch["near"], batch["far"]
    return {}

def both(pair):
    points, others = pair
    return {} * torch.ones(3)
"""
LOADED = """
import torch
from made import both, weighed

def loaded(device):
    return {"near": torch.rand(3).to(device), "far": torch.rand(3)}

def moved(device):
    return torch.rand(3).to(device), torch.rand(3)

def run(device):
    return weighed(loaded(device)), both(moved(device))
"""
BOXES = """
import torch

class Boxes:
    def __init__(self, images, boxes):
        self.boxes = boxes
        gains = [torch.tensor([each.width, each.height]) for each in images]
        self.scaled = [box[:, :2] / gain for box, gain in zip(self.boxes, gains)]
"""
DETECTOR = """
from torch import nn
from made import Boxes

class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)

    def forward(self, images, x):
        return Boxes(images, [each[None]{} for each in self.fc(x)])
"""
GRAPH = """
import torch

class Graph:
    def __init__(self, joints):
        self.adjacency = torch.eye(joints)
"""
PERIMETER = """
import torch

def bound(points, dim):
    rows = torch.empty(dim, dim)
    for at in range(dim):
        rows[at] = torch.ones(dim)
    return points @ rows[0].unsqueeze(0).T
"""
CALLER = """
from made import bound
from others import split

def evaluated(points):
    return bound(split(points)["far"], 2)
"""


def network(meets: str, imported: str = "table", kept: str = "3", more: str = "") -> str:
    return NETWORK.format(imported=imported, kept=kept, meets=meets, more=more)


FOUND = {
    "the result of a function": (TABLE, network("h + table(3)")),
    "under a name": (TABLE, network("h + table(3)").replace("import table", "import table as table")),
    "by the name of its module": (TABLE, network("h + made.table(3)").replace("from made import table", "import made")),
    "in a name of its own": (TABLE, network("h").replace("return h", "shift = table(3)\n        return h + shift")),
    "a method of a base": (MIXIN, BELOW),
    "a method of an object": (GRID, network("h + self.kept.rows(3)", "Grid", "Grid()")),
    "what a module hands over": (EYE, network("regular(h)", "regular")),
    "what is handed on": (RATIOS, network("ratios(h)", "ratios")),
    "what an object keeps": (SCHEDULE, TRAIN.format("")),
    "what is asked for later, too": (BODY, HEAD.format(size="self.body.width()")),
    "a value of a dictionary": (BATCH.format("near * torch.linspace(0, 1, 3)", "others"), LOADED),
    "a part of a tuple": (BATCH.format("far * torch.linspace(0, 1, 3)", "points"), LOADED),
    "what a constructor is given": (BOXES, DETECTOR.format("")),
}
SILENT = {
    "what is moved there": (TABLE, network("h + table(3).to(h.device)")),
    "an index": (TABLE, network("h[:, table(3)]")),
    "what is made in a constructor": (TABLE, network("h", kept="table(3) * 2")),
    "a function of another module": (TABLE, network("h + table(3)").replace("from made import", "from others import")),
    "what another class has": (GRID, network("h + self.kept.rows(3)", "Grid", "Other()")),
    "what a host tensor is handed to": (EYE, network("regular(h.cpu())", "regular")),
    "what somebody else moves": (SCHEDULE, TRAIN.format("    schedule.alphas = schedule.alphas.to(device)")),
    "what is asked for in constructors": (BODY, HEAD.format(size="self.fc.in_features")),
    "what stands beside it": (BATCH.format("far * torch.linspace(0, 1, 3)", "others"), LOADED),
    "what a constructor is given on the host": (BOXES, DETECTOR.format(".cpu()")),
    "a part of a module that is moved": (GRAPH, network("h @ self.kept.adjacency.to(h)", "Graph", "Graph(3)")),
    "a part that another function may move": (
        GRAPH,
        network("h @ self.kept.adjacency", "Graph", "Graph(3)", "    def place(self):\n        placed(self.kept, 3)\n"),
    ),
    "a part that may be another": (
        GRAPH,
        network("h @ self.kept.adjacency", "Graph", "Graph(3)", "    def set(self, kept):\n        self.kept = kept\n"),
    ),
}

SPLIT = (
    "import torch\n\ndef split(device):\n    return {'far': torch.rand(3, 2).to(device), 'near': torch.rand(3, 2)}\n"
)


OTHERS = "from elsewhere import table\n"


def steps(folder: Path, made: str, other: str, others: str = OTHERS) -> list[tuple[str, ...]]:
    (folder / "pyproject.toml").touch()
    (folder / "nets").mkdir()
    (folder / "made.py").write_text(made)
    (folder / "others.py").write_text(others)
    (folder / "user.py").write_text(other)
    result = check_bytes("made.py", made.encode(), Config(cwd=str(folder), select=("TNS505",)))
    return [each.why for each in result.findings]


@pytest.mark.parametrize("case", FOUND)
def test_a_meeting_in_another_file_is_found(tmp_path: Path, case: str) -> None:
    assert len(steps(tmp_path, *FOUND[case])) == 1


@pytest.mark.parametrize("case", SILENT)
def test_a_look_alike_in_another_file_is_silent(tmp_path: Path, case: str) -> None:
    assert steps(tmp_path, *SILENT[case]) == []


def test_a_function_is_asked_whose_callers_speak_of_no_device(tmp_path: Path) -> None:
    assert len(steps(tmp_path, PERIMETER, CALLER, SPLIT)) == 1


def test_the_steps_name_the_other_file(tmp_path: Path) -> None:
    (found,) = steps(tmp_path, *FOUND["the result of a function"])
    assert found == (
        "`x` is an argument of `Network.forward`, so it may be on a GPU, user.py line 11",
        "`self.fc(x)` returns it, user.py line 12",
        "`h + table(3)` is where they meet, user.py line 13",
    )
