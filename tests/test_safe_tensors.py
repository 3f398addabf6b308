"""What `--fix` takes for a tensor, and for one without a gradient: small projects that are run before and after.

Each of them is ordinary code in which something that looks like a plain tensor is none, or has come to carry a graph.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from tests.before_and_after import check_runs_alike, text_fixed

HEAD = """\
import torch
from torch import nn
from torch.autograd import Variable

net = nn.Linear(3, 3)
x = torch.ones(3)


def show(result):
    print(type(result).__name__, getattr(result, "requires_grad", None), result)


"""

GRADIENTS = {
    "a loop over a list": """\
        ts = [torch.zeros(3), torch.zeros(3)]
        for t in ts:
            t.add_(net(x))
        return Variable(torch.cat(ts))
        """,
    "enumerate": """\
        ts = [torch.zeros(3), torch.zeros(3)]
        for i, t in enumerate(ts):
            t.add_(net(x) * i)
        return Variable(torch.stack(ts))
        """,
    "zip": """\
        ts = [torch.zeros(3), torch.zeros(3)]
        for t, k in zip(ts, (1, 2)):
            t.add_(net(x) * k)
        return Variable(torch.cat(ts))
        """,
    "a tuple of names": """\
        a, b = torch.zeros(3), torch.zeros(3)
        for t in (a, b):
            t.add_(net(x))
        return Variable(a + b)
        """,
    "a second name": """\
        ts = [torch.zeros(3), torch.zeros(3)]
        t = ts[0]
        t.add_(net(x))
        return Variable(torch.cat(ts))
        """,
    "a second name for a tensor": """\
        a = torch.zeros(3)
        t = a
        t += net(x)
        return Variable(a * 2)
        """,
    "a comprehension": """\
        ts = [torch.zeros(3), torch.zeros(3)]
        [t.add_(net(x)) for t in ts]
        return Variable(torch.cat(ts))
        """,
    "map": """\
        ts = [torch.zeros(3), torch.zeros(3)]
        list(map(lambda t: t.add_(net(x)), ts))
        return Variable(torch.cat(ts))
        """,
    "a function": """\
        def fill(tensors):
            for each in tensors:
                each.add_(net(x))

        ts = [torch.zeros(3), torch.zeros(3)]
        fill(ts)
        return Variable(torch.cat(ts))
        """,
    "a function in the same expression": """\
        def fill(tensor):
            return tensor.add_(net(x))

        a = torch.zeros(3)
        return Variable(torch.cat([fill(a), a]))
        """,
    "an attribute": """\
        class Store:
            pass

        store = Store()
        a = torch.zeros(3)
        store.a = a
        store.a.add_(net(x))
        return Variable(a + 1)
        """,
    "the sum of elements": """\
        ts = [torch.zeros(3), torch.zeros(3)]
        for t in ts:
            t.add_(net(x))
        return Variable(ts[0] + ts[1])
        """,
    "a view": """\
        a = torch.zeros(2, 3)
        row = a[0]
        row.add_(net(x))
        return Variable(a * 1)
        """,
    "the rows of a matrix": """\
        a = torch.zeros(2, 3)
        for row in a.unbind():
            break
        for row in a:
            row.data.add_(1)
        a[0] = net(x)
        return Variable(a.clone())
        """,
    "out": """\
        ts = [torch.zeros(3), torch.zeros(3)]
        for t in ts:
            t.copy_(net(x))
        with torch.no_grad():
            other = torch.zeros(3)
            torch.add(x, x, out=other)
        return Variable(torch.cat([ts[0], other]))
        """,
    "a dictionary": """\
        ts = {"a": torch.zeros(3)}
        for t in ts.values():
            t.add_(net(x))
        return Variable(ts["a"] * 2)
        """,
    "append": """\
        ts = [torch.zeros(3)]
        ts.append(net(x))
        return Variable(torch.cat(ts))
        """,
    "a closure": """\
        a = torch.zeros(3)

        def step():
            a.add_(net(x))

        step()
        return Variable(a + 1)
        """,
    "a default argument": """\
        a = torch.zeros(3)

        def step(t=a):
            t.add_(net(x))

        step()
        return Variable(a + 1)
        """,
    "a later round of a loop": """\
        a = torch.zeros(3)
        for _ in range(2):
            b = Variable(a + 1)
            a += net(x)
        return b
        """,
    "the name that was wrapped": """\
        a = torch.zeros(3)
        b = Variable(a)
        a += net(x)
        return b * 2
        """,
    "a scale that is a parameter": """\
        def scaled(scale: float):
            return Variable(torch.ones(3) * scale)

        return scaled(net.weight[0, 0])
        """,
    "a legacy constructor": """\
        def made(data):
            return Variable(torch.FloatTensor(data))

        return made(net.weight)
        """,
    "a packed sequence": """\
        packed = nn.utils.rnn.pack_sequence([net(x).view(1, 3)])

        def cut(sequence):
            return Variable(sequence.data), Variable(sequence.data, requires_grad=True).is_leaf

        return cut(packed)[0]
        """,
    "an own detach": """\
        class Pair:
            def __init__(self, value):
                self.value = value

            def detach(self):
                return self.value

        def cut(pair):
            return Variable(pair.detach())

        return cut(Pair(net(x)))
        """,
}


@pytest.mark.parametrize("body", GRADIENTS.values(), ids=GRADIENTS)
def test_no_fix_gives_back_a_gradient(tmp_path: Path, body: str) -> None:
    program = f"{HEAD}def run():\n{_indented(body)}\n\nshow(run())\n"
    check_runs_alike(tmp_path, {"main.py": program})


CALLED = f"{HEAD}import numpy as np\n\n\n"
"""Who calls a function stands in another file, so that the function's own text is all that its fixes go by."""

COPIES = {
    "argmax of an array": ("return torch.tensor(value.argmax(-1))", "np.ones((2, 3))"),
    "argmax, then a method": ("return torch.tensor(value.argmax(-1).reshape(-1))", "np.ones((2, 3))"),
    "the parts of a picture": ("return [torch.tensor(each) for each in value.split(3)]", "Other()"),
    "a part by its place": ("parts = value.split(3)\nreturn torch.tensor(parts[0])", "Other()"),
    "max with an axis": ("return torch.tensor(value.max(1))", "np.ones((2, 3))"),
    "the first of max": ("return torch.tensor(value.max(1)[0])", "np.ones((2, 3))"),
    "mode": ("usual, _ = value.mode()\nreturn torch.tensor(usual)", "Other()"),
    "clone": ("return torch.tensor(value.clone())", "Other()"),
    "detach": ("return torch.tensor(value.detach())", "Other()"),
    "data": ("return torch.tensor(value.data)", "Other()"),
    "arithmetic": ("return torch.tensor(value.detach() + 1)", "Other()"),
    "a conditional": ("return torch.tensor(value.detach() if value is not None else torch.ones(2))", "Other()"),
    "a loop": ("for each in [torch.ones(2), value.clone()]:\n    show(torch.tensor(each))", "Other()"),
}


@pytest.mark.parametrize(("body", "given"), COPIES.values(), ids=COPIES)
def test_no_fix_takes_what_has_a_tensors_method_for_a_tensor(tmp_path: Path, body: str, given: str) -> None:
    own = f"{HEAD}def run(value):\n{_indented(body)}\n"
    other = """
class Other:
    data = 3.0

    def split(self, width):
        return [1.0, 2.0]

    def mode(self):
        return [3.0, 4.0], 1

    def clone(self):
        return [5.0]

    def detach(self):
        return 6.0


"""
    main = f"{CALLED}from lib import run\n{other}show(run({given}))\n"
    check_runs_alike(tmp_path, {"lib.py": own, "main.py": main}, "lib.py")


ANNOTATED = {
    "the elements of a list": "def run(values: list[torch.Tensor]):\n    return [torch.tensor(v) for v in values]\n",
    "an element of a list": "def run(values: list[torch.Tensor]):\n    return torch.tensor(values[0])\n",
    "a parameter": "def run(values: torch.Tensor):\n    return torch.tensor(values)\n",
    "what a parameter is bound to": "def run(values: torch.Tensor):\n    v = values\n    return torch.tensor(v)\n",
    "a result": "def of(v) -> torch.Tensor:\n    return v\n\n\ndef run(values):\n    return torch.tensor(of(values))\n",
    "an attribute": """\
class Batch:
    def __init__(self, size: torch.Tensor):
        self.size = size

    def total(self):
        return torch.tensor(self.size)


def run(values):
    return Batch(values).total()
""",
    "a field": """\
from dataclasses import dataclass


@dataclass
class Batch:
    size: torch.Tensor

    def total(self):
        return torch.tensor(self.size)


def run(values):
    return Batch(values).total()
""",
}


@pytest.mark.parametrize("own", ANNOTATED.values(), ids=ANNOTATED)
def test_no_fix_takes_an_annotation_at_its_word(tmp_path: Path, own: str) -> None:
    files = {"lib.py": HEAD + own, "main.py": f"{CALLED}from lib import run\n\nshow(run([1, 2]))\n"}
    check_runs_alike(tmp_path, files, "lib.py")


ABSENT = {
    "a default": "def run(x=None):\n    return Variable(x)\n",
    "a default beside an annotation": "def run(x: torch.Tensor = None):\n    return Variable(x)\n",
    "a call": "def wrapped(x):\n    return Variable(x)\n\n\ndef run():\n    return wrapped(None)\n",
    "a second name": "def run(x=None):\n    y = x\n    return Variable(y)\n",
    "a conditional": "def run(x=None):\n    return Variable(x if x is None else x + 1)\n",
    "an assignment": "def run(y=0):\n    x = None\n    if y:\n        x = y\n    return Variable(x)\n",
    "an attribute": """\
class Memory:
    def __init__(self):
        self.state = None

    def begin(self, state):
        self.state = state

    def read(self):
        return Variable(self.state)


def run():
    return Memory().read()
""",
    "an attribute from a default": """\
class Memory:
    def __init__(self, state=None):
        self.state = state

    def read(self):
        return Variable(self.state)


def run():
    return Memory().read()
""",
    "a gradient": "def run(p=net.weight):\n    return Variable(p.grad)\n",
    "a dictionary": "def run(found={}):\n    return Variable(found.get('x'))\n",
    "an attribute by its name": "def run(found=net):\n    return Variable(getattr(found, 'x', None))\n",
    "a member": "def run(n=2):\n    xs = [None] * n\n    return Variable(xs[0])\n",
    "a loop": "def run(y=0):\n    for each in (None, y):\n        return Variable(each)\n",
    "with a gradient": "def run(x=None):\n    return Variable(x, requires_grad=True)\n",
    "detached behind": "def run(x=None):\n    return Variable(x).detach()\n",
}


RECORD = """\
from dataclasses import dataclass
from typing import NamedTuple


@dataclass
class Record:
    t: torch.Tensor
"""
ABSENT_FIELDS = {
    "handed on": "def run(x=net.weight):\n    found = Record(x)\n    return Variable(found.t)\n",
    "by its name": "def run(x=net.weight):\n    found = Record(t=x)\n    return Variable(found.t)\n",
    "of a tuple": "class Pair(NamedTuple):\n    t: torch.Tensor\n    u: torch.Tensor\n\n\n"
    "def run(x=net.weight):\n    return Variable(Pair(net.bias, x).u)\n",
    "of a base": "@dataclass\nclass More(Record):\n    u: torch.Tensor\n\n\n"
    "def run(x=net.weight):\n    return Variable(More(net.bias, x).u), Variable(More(x, net.bias).t)\n",
    "by default": "@dataclass\nclass Two:\n    t: torch.Tensor = None\n\n\n"
    "def run(x=net.weight):\n    return Variable(Two().t)\n",
}


@pytest.mark.parametrize("own", ABSENT_FIELDS.values(), ids=ABSENT_FIELDS)
def test_no_fix_calls_a_method_of_a_field_that_is_none(tmp_path: Path, own: str) -> None:
    files = {"lib.py": f"{HEAD}{RECORD}\n\n{own}", "main.py": f"{CALLED}from lib import run\n\nshow(run(None))\n"}
    check_runs_alike(tmp_path, files, "lib.py")


def test_no_fix_calls_a_method_of_a_field_that_another_file_leaves_out(tmp_path: Path) -> None:
    own = f"{HEAD}{RECORD}\n\ndef run(found: Record):\n    return Variable(found.t)\n"
    main = f"{CALLED}from lib import Record, run\n\nshow(run(Record(None)))\n"
    check_runs_alike(tmp_path, {"lib.py": own, "main.py": main}, "lib.py")


@pytest.mark.parametrize("own", ABSENT.values(), ids=ABSENT)
def test_no_fix_calls_a_method_of_none(tmp_path: Path, own: str) -> None:
    files = {"lib.py": HEAD + own, "main.py": f"{CALLED}from lib import run\n\nshow(run())\n"}
    check_runs_alike(tmp_path, files, "lib.py")


@pytest.mark.parametrize(
    "body",
    [
        "if x is not None:\n    return Variable(x)",
        "if x is None:\n    x = torch.ones(2)\nreturn Variable(x)",
        "if x is None:\n    return 0\nreturn Variable(x)",
        "return Variable(x) if x is not None else 0",
    ],
)
def test_a_test_for_none_keeps_the_fix_safe(body: str) -> None:
    program = f"{HEAD}def run(x=None):\n{_indented(body)}"
    assert "x.detach()" in text_fixed(program, "TNS401")


OWN_CLASS = """\
class Box:
    def __init__(self, data=None):
        self.data = data

    def detach(self):
        print("detached")
        return self

    def cpu(self):
        print("copied")
        return self

    def numpy(self):
        return np.ones(2)


"""
CONVERTED = (
    "value.numpy().tolist()", "value.detach().cpu().numpy().tolist()", "next(iter([value])).numpy().tolist()",
    "value.cpu().detach() is value", "[each.numpy() for each in [value, x]]", "float(value.detach().numpy().sum())",
)  # fmt: skip


@pytest.mark.parametrize("given", ["value", "value: torch.Tensor", "value: 'torch.Tensor'", "value=net.weight"])
@pytest.mark.parametrize("beside", [True, False], ids=["in the file", "in another file"])
def test_no_conversion_takes_a_class_of_the_project_for_a_tensor(tmp_path: Path, given: str, beside: bool) -> None:
    lines = "".join(f"    show({each})\n" for each in CONVERTED)
    lib = f"{CALLED}{OWN_CLASS if beside else ''}def run({given}):\n{lines}"
    main = f"{CALLED}{'from lib import Box' if beside else OWN_CLASS}\nfrom lib import run\n\nrun(Box())\n"
    check_runs_alike(tmp_path, {"lib.py": lib, "main.py": main}, "lib.py")


def test_no_conversion_takes_the_data_of_an_own_object_for_a_tensors(tmp_path: Path) -> None:
    own = "class Kept:\n    def __init__(self, data):\n        self.data = data\n\n\n"
    lib = f"{CALLED}def run(value: torch.Tensor):\n    show(value.data.cpu().numpy().tolist())\n"
    main = f"{CALLED}{own}from lib import run\n\nrun(Kept(x))\n"
    check_runs_alike(tmp_path, {"lib.py": lib, "main.py": main}, "lib.py")


def test_what_is_made_in_sight_is_converted_beside_an_own_class() -> None:
    program = f"{CALLED}{OWN_CLASS}def run():\n    return torch.ones(2).detach().cpu().numpy().tolist()\n"
    assert "return torch.ones(2).tolist()\n" in text_fixed(program, "TNS107")


def test_another_class_says_nothing_of_the_attributes_of_a_tensor() -> None:
    own = "class Node:\n    def __init__(self):\n        self.data = None\n\n\n"
    program = f"{HEAD}{own}def run():\n    y = net(x)\n    return Variable(y.data)\n"
    assert "return y.data\n" in text_fixed(program, "TNS401")


OBJECTS = {
    "read": "return value.data.sum()",
    "read through a method": "return value.clone().data.sum(), print(value.detach().data)",
    "a number": "return value.data.item(), float(value.data), int(value.clone().data)",
    "a size": "return value.data.size(0), value.clone().data.shape, len(value.data)",
    "a write": "value.data.fill_(2)\nvalue.clone().data.zero_()\nreturn value.data",
    "copied": "return torch.tensor(value.data), Variable(value.data), Variable(value.detach())",
}


@pytest.mark.parametrize("annotation", ["", ": torch.Tensor", ": nn.Parameter"])
@pytest.mark.parametrize("body", OBJECTS.values(), ids=OBJECTS)
def test_data_of_an_own_object_stays(tmp_path: Path, body: str, annotation: str) -> None:
    own = f"{HEAD}def run(value{annotation}):\n{_indented(body)}\n"
    main = f"""{CALLED}from lib import run


class Box:
    def __init__(self):
        self.data = net(torch.ones(3))[:1]

    def detach(self):
        return self

    clone = detach


with torch.no_grad():
    show(run(Box()))
"""
    check_runs_alike(tmp_path, {"lib.py": own, "main.py": main}, "lib.py")
    assert _body(own) in (tmp_path / "lib.py").read_text()


def test_a_packed_sequence_keeps_its_gradient_cut(tmp_path: Path) -> None:
    own = f"{HEAD}def run(packed):\n    return Variable(packed.data), Variable(packed.data, requires_grad=True)\n"
    main = f"{CALLED}from lib import run\n\nshow(run(nn.utils.rnn.pack_sequence([net(x).view(1, 3)])))\n"
    check_runs_alike(tmp_path, {"lib.py": own, "main.py": main}, "lib.py")


def test_a_write_through_data_of_an_own_object_stays(tmp_path: Path) -> None:
    own = f"""{HEAD}class Net(nn.Module):
    def __init__(self, scale: nn.Parameter):
        super().__init__()
        self.scale = scale
        self.scale.data.fill_(2)
"""
    main = f"""{CALLED}from lib import Net


class Scale:
    data = torch.zeros(3)


show(Net(Scale()).scale.data)
"""
    check_runs_alike(tmp_path, {"lib.py": own, "main.py": main}, "lib.py")
    assert _body(own) in (tmp_path / "lib.py").read_text()


KEPT = {
    "torch.tensor(torch.ones(3) * 2)": "(torch.ones(3) * 2).clone()",
    "torch.tensor(torch.ones(3).max(0)[0])": "torch.ones(3).max(0)[0].clone()",
    "[torch.tensor(each) for each in torch.ones(4).split(2)]": "[each.detach().clone() for each in",
    "torch.tensor(net(torch.ones(3)))": "net(torch.ones(3)).detach().clone()",
    "torch.tensor(net.weight)": "net.weight.detach().clone()",
    "[torch.tensor(p) for p in net.parameters()]": "[p.detach().clone() for p in net.parameters()]",
    "torch.tensor(x) if isinstance(x, torch.Tensor) else 0": "x.detach().clone() if",
    "Variable(torch.cat([torch.zeros(3), torch.ones(3)]))": "= torch.cat([torch.zeros(3), torch.ones(3)])",
    "Variable(torch.zeros(3).fill_(2).cuda())": "= torch.zeros(3).fill_(2).cuda()",
    "Variable(torch.rand(3).max(0)[1])": "= torch.rand(3).max(0)[1]",
    "Variable(net.weight.data)": "= net.weight.data",
    "Variable(torch.from_numpy(np.ones(3)).float())": "= torch.from_numpy(np.ones(3)).float()",
}


@pytest.mark.parametrize(("code", "wanted"), KEPT.items(), ids=list(KEPT))
def test_what_is_shown_stays_safe(code: str, wanted: str) -> None:
    head = "import numpy as np\nimport torch\nfrom torch import nn\nfrom torch.autograd import Variable\n\n"
    program = f"{head}net = nn.Linear(3, 3)\n\n\ndef run(x):\n    y = {code}\n    return y\n"
    assert wanted in text_fixed(program, "TNS308", "TNS401")


def _body(program: str) -> str:
    """Return what a program says below its head."""
    return program[len(HEAD) :]


def _indented(body: str) -> str:
    return "".join(f"    {line}\n" if line else "\n" for line in dedent(body).splitlines())
