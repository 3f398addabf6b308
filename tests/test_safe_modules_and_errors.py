"""Projects run before and after `--fix`: modules made elsewhere, errors that are expected, copies meant to overlap."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike, fixed, printed, written

# ---------------------------------------------------------------------- TNS108
QUEUE = """
import torch


class Queue(torch.nn.Linear):
    def to(self, *args, non_blocking=False, **kwargs):
        print("queued" if non_blocking else "waits")
        return self


layer = Queue(2, 2)
layer.to("cpu", non_blocking=True)
"""


def test_a_class_with_a_way_of_its_own_to_the_host_keeps_the_argument(tmp_path: Path) -> None:
    assert check_runs_alike(tmp_path, {"main.py": QUEUE}) == {}


# ---------------------------------------------------------------------- traced code
TRACED = """
import torch


def centred(x: torch.Tensor):
    return x - {} + x.sum()


compiled = torch.jit.trace(centred, (torch.ones(3),))
for wide in (torch.arange(3.0), torch.arange(4.0)):
    try:
        print(compiled(wide))
    except RuntimeError as error:
        print(type(error))
"""


@pytest.mark.parametrize("value", ["x.data.clone().mean()", "x.new_ones(x.data.shape)", "x.data.size(0)"])
def test_what_a_trace_keeps_of_data_stays(tmp_path: Path, value: str) -> None:
    assert check_runs_alike(tmp_path, {"main.py": TRACED.format(value)}) == {}


BUILT_IN_A_TRACE = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(2))
        self.scale.data.mul_(3)

    def forward(self, x):
        return x * self.scale


print(torch.jit.trace(lambda x: Net()(x), (torch.ones(2),))(torch.ones(2)))
"""


def test_writes_that_a_trace_misses_stay(tmp_path: Path) -> None:
    assert check_runs_alike(tmp_path, {"main.py": BUILT_IN_A_TRACE}) == {}


# ---------------------------------------------------------------------- errors that are expected
EXPECTED = {
    "a wrapper that refuses": """
import torch
from torch.autograd import Variable


def wrapped(x):
    try:
        return Variable(x)
    except TypeError:
        return "no tensor"


print(wrapped([1.0]), wrapped(torch.ones(2)))
""",
    "a handler": """
import torch

weight = torch.ones(2, requires_grad=True)
try:
    print(weight.numpy())
except RuntimeError:
    print("is trained")
""",
    "a test": """
import pytest
import torch


def test_refused():
    weight = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError):
        weight.numpy()


test_refused()
""",
    "a function handed over": """
import unittest

import torch


class Cases(unittest.TestCase):
    def runTest(self):
        def convert():
            return torch.ones(2, requires_grad=True).numpy()

        self.assertRaises(RuntimeError, convert)


print(unittest.TextTestRunner(open("/dev/null", "w")).run(Cases()).wasSuccessful())
""",
    "a refused keyword": """
import torch

try:
    print(torch.Tensor([1], dtype=torch.float64))
except TypeError:
    print("no such keyword")
""",
    "an index of a number": """
import torch

loss = torch.ones(3, requires_grad=True).sum()
try:
    print(loss.data[0])
except IndexError:
    print("torch 0.4 or newer")
""",
    "a round trip": """
import torch

total = torch.ones(3, requires_grad=True).sum()
try:
    print(total.numpy().item())
except RuntimeError:
    print("is trained")
""",
}


@pytest.mark.parametrize("case", EXPECTED)
def test_an_error_that_is_expected_stays(tmp_path: Path, case: str) -> None:
    assert check_runs_alike(tmp_path, {"main.py": EXPECTED[case]}) == {}


def test_an_error_that_nothing_waits_for_is_repaired(tmp_path: Path) -> None:
    text = EXPECTED["a handler"].replace("RuntimeError", "KeyError").replace("weight.numpy", "weight.detach().numpy")
    assert check_runs_alike(tmp_path, {"main.py": text.replace(".detach()", ".data")}) == {"main.py": text}


# ---------------------------------------------------------------------- what a constructor is given
GIVEN = {
    "a test in one expression": """
import torch


def made(n):
    return torch.Tensor(n) if not isinstance(n, int) else torch.zeros(n)


print(made([1, 2]), made(3))
""",
    "a test and a return": """
import torch


def made(size):
    if isinstance(size, int):
        return torch.zeros(size)
    return torch.Tensor(size)


print(made([1, 2]), made(3))
""",
    "the shape of an array": """
import numpy as np
import torch

image = np.zeros((4, 6, 3))


def extent(image):
    return torch.Tensor(image.shape[1::-1]), torch.Tensor(image.shape), torch.Tensor(image.shape).fill_(1)


print(extent(image))
""",
    "a product": """
import numpy as np
import torch


def made(shape):
    count = np.prod(shape)
    return torch.Tensor(count).fill_(1), torch.Tensor(np.prod(shape)).fill_(2)


print(made((2, 3)))
""",
    "lengths": """
import torch


def made(seq_len):
    return torch.Tensor(seq_len) / max(seq_len)


def scaled(word_len):
    for each in word_len:
        print(each)
    return torch.Tensor(word_len)


print(made([1, 2]), scaled([1, 2]))
""",
    "a storage": """
import torch


def joined(elem: torch.Tensor, batch, storage):
    return torch.stack(batch, 0, out=elem.new(storage).resize_(2, 2))


batch = [torch.ones(2), torch.zeros(2)]
print(joined(batch[0], batch, batch[0].untyped_storage()._new_shared(16)))
""",
}


@pytest.mark.parametrize("case", GIVEN)
def test_what_a_constructor_is_given_is_read_from_tests_uses_and_owners(tmp_path: Path, case: str) -> None:
    written(tmp_path, {"main.py": GIVEN[case]})
    before = printed(tmp_path)
    fixed(tmp_path, flags=["--unsafe-fixes"])
    assert printed(tmp_path) == before


# ---------------------------------------------------------------------- modules that are made elsewhere
LIVE = """
import copy

import torch
from torch import nn

BACKBONE = nn.Linear(2, 2)
KNOWN = {{}}


def get_backbone() -> nn.Linear:
    return KNOWN.setdefault("net", BACKBONE)


class Holder(nn.Module):
    def __init__(self, net, **more):
        super().__init__()
        self.net = net


class Net({base}):
{body}

    def forward(self, x):
        return x


torch.manual_seed(1)
with torch.no_grad():
    BACKBONE.weight.copy_(torch.ones(2, 2))
total = BACKBONE(BACKBONE(torch.ones(1, 2))).sum()
Net({given})
total.backward()
print(BACKBONE.weight.grad)
"""
ALL = """
        for m in self.modules():
            if isinstance(m, nn.Linear):
                m.weight.data.zero_()"""
EACH = """
        for p in self.parameters():
            p.data.zero_()"""
KEEP = """

    def keep(self, given):
        self.net = given"""
GIVEN_MODULES = {
    "a list": ("layers", "self.layers = nn.ModuleList(layers)" + ALL, "[BACKBONE]"),
    "stars": ("*layers", "self.net = nn.Sequential(*layers)" + EACH, "BACKBONE"),
    "a keyword with stars": ("**named", "self.named = nn.ModuleDict(dict(**named))" + ALL, "a=BACKBONE"),
    "add_module": ("given", "self.add_module('net', given)" + ALL, "BACKBONE"),
    "setattr": ("given", "setattr(self, 'net', given)" + ALL, "BACKBONE"),
    "_modules": ("given", "self._modules['net'] = given" + ALL, "BACKBONE"),
    "__dict__": ("given", "self.__dict__['_modules'].update(a=given)" + ALL, "BACKBONE"),
    "a parameter": ("given", "self.register_parameter('w', given)" + EACH, "BACKBONE.weight"),
    "append": ("given", "self.net = nn.ModuleList()\n        self.net.append(given)" + ALL, "BACKBONE"),
    "extend": ("given", "self.net = nn.ModuleList([nn.ReLU()])\n        self.net.extend(given)" + ALL, "[BACKBONE]"),
    "a tuple": ("given", "self.net, self.width = given, 2" + ALL, "BACKBONE"),
    "a tied weight": ("given", "self.fc = nn.Linear(2, 2)\n        self.fc.weight = given.weight" + ALL, "BACKBONE"),
    "a global": ("", "self.net = BACKBONE" + ALL, ""),
    "a function": ("", "self.net = get_backbone()" + ALL, ""),
    "a shallow copy": ("given", "self.net = copy.copy(given)" + ALL, "BACKBONE"),
    "an own class": ("given", "self.net = Holder(given)" + ALL, "BACKBONE"),
    "a method": ("given", "self.keep(given)" + ALL + KEEP, "BACKBONE"),
    "an annotation": ("given: nn.Linear", "self.net = given\n        self.net.weight.data.zero_()", "BACKBONE"),
    "a walk": ("layers: list[nn.Linear]", "self.net = layers\n        self.net[0].weight.data.zero_()", "[BACKBONE]"),
}  # fmt: skip


@pytest.mark.parametrize("form", GIVEN_MODULES)
def test_a_module_that_is_made_elsewhere_keeps_its_graph(tmp_path: Path, form: str) -> None:
    parameters, body, given = GIVEN_MODULES[form]
    head = f"    def __init__(self, {parameters}):\n        super().__init__()\n        "
    assert check_runs_alike(tmp_path, {"main.py": LIVE.format(base="nn.Module", body=head + body, given=given)}) == {}


OTHER_BASES = {
    "a container": ("nn.Sequential", "*layers", "super().__init__(*layers)", "BACKBONE"),
    "a class of the file": ("Holder", "given", "super().__init__(given)", "BACKBONE"),
    "a class above that": ("nn.ModuleList", "layers", "nn.ModuleList.__init__(self, layers)", "[BACKBONE]"),
}


@pytest.mark.parametrize("form", OTHER_BASES)
def test_a_base_class_keeps_what_it_is_given(tmp_path: Path, form: str) -> None:
    base, parameters, call, given = OTHER_BASES[form]
    body = f"    def __init__(self, {parameters}):\n        {call}{ALL}"
    assert check_runs_alike(tmp_path, {"main.py": LIVE.format(base=base, body=body, given=given)}) == {}


def test_a_module_at_class_level_is_shared(tmp_path: Path) -> None:
    start = "    def __init__(self):\n        super().__init__()\n        self.shared.weight.data.zero_()"
    body = f"    shared = BACKBONE\n\n{start}"
    assert check_runs_alike(tmp_path, {"main.py": LIVE.format(base="nn.Module", body=body, given="")}) == {}


def test_a_function_is_applied_to_what_was_made_before(tmp_path: Path) -> None:
    applied = "def start(m):\n    if isinstance(m, nn.Linear):\n        m.weight.data.zero_()\n\n\n"
    text = LIVE.format(base="nn.Module", body="    pass", given="")
    text = text.replace("Net()\n", "net = nn.Sequential(BACKBONE, nn.ReLU())\nnet.apply(start)\n")
    text = text.replace("class Net", f"{applied}class Net")
    assert check_runs_alike(tmp_path, {"main.py": text}) == {}


def test_what_the_module_made_itself_is_repaired(tmp_path: Path) -> None:
    body = "    def __init__(self, width):\n        super().__init__()\n        self.fc = nn.Linear(width, 2)" + ALL
    changed = check_runs_alike(tmp_path, {"main.py": LIVE.format(base="nn.Module", body=body, given="2")})
    assert "nn.init.zeros_(m.weight)" in changed["main.py"]


KEEPING = """
import torch


class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.x = torch.nn.Parameter(torch.ones(2))
        self.kept = []
        {}
        self.x.data.zero_()

    def noted(self, _):
        self.kept.append((self.x * self.x).sum())


net = Scale()
sum(net.kept).backward()
print(net.x.grad)
"""


@pytest.mark.parametrize(
    "line",
    [
        "self.kept.append((self.x * self.x).sum())",
        "square = self.x**2; self.kept = [square.sum()]",
        "self.kept = [torch.exp(self.x).sum()]",
        "self.noted(1)",
        "list(map(self.noted, [1]))",
        "squares = [(self.x * self.x).sum()]; self.kept += squares",
    ],
)
def test_a_module_that_keeps_a_graph_is_written_into_on_request_only(tmp_path: Path, line: str) -> None:
    assert check_runs_alike(tmp_path, {"main.py": KEEPING.format(line)}) == {}
