"""What a function of the file does with a `.data` that it is given: small projects before and after `--fix`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike, torch

HEAD = "import torch\n\nw = torch.ones(2, requires_grad=True)\nv = torch.ones(2, requires_grad=True)\nkept = []\n\n"


def _program(body: str, call: str = "look(x.data)", given: str = "t", first: str = "") -> str:
    return (
        f"{HEAD}{first}def look({given}):\n{body}\n\ndef run(x):\n    x = torch.exp(x)\n    loss = (x * x).sum()\n"
        f"    a = {call}\n    loss.backward()\n    return w.grad, a\n\n\n"
    )


PRINTED = "print(run(w))\n"
READ = "    return t.sum().item()\n"
SAFE = {
    "it reads": _program(READ),
    "it reads what a keyword gives": _program("    return t.sum().item() * k\n", "look(k=2, t=x.data)", "t, k"),
    "it reads by another name": _program("    s = t.view(-1)\n    return s.sum().item()\n"),
    "it hands it on to a reader": _program("    return deep(t)\n", first="def deep(t):\n" + READ + "\n\n"),
}
OPEN = {
    "it writes": _program("    t.zero_()\n"),
    "it writes by another name": _program("    s = t.view(-1)\n    s.zero_()\n"),
    "it writes an element": _program("    t[0] = 0\n"),
    "it adds in place": _program("    t += 1\n"),
    "it returns it": _program("    return t\n", "look(x.data).zero_()"),
    "it keeps it": _program("    kept.append(t)\n", "look(x.data) or kept[0].zero_()"),
    "it keeps it in a global name": _program("    global z\n    z = t\n", "look(x.data) or z.zero_()"),
    "it hands it on": _program("    deep(t)\n", first="def deep(t):\n    t.zero_()\n\n\n"),
    "a function inside writes": _program("    def inner():\n        t.zero_()\n\n    inner()\n"),
    "by a star": _program("    t[0].zero_()\n", given="*t"),
    "as the second argument": _program("    s.zero_()\n", "look(1, x.data)", "t, s=None"),
    "it writes when it calls itself": _program(
        "    if n:\n        return look(t, n - 1)\n    t.zero_()\n", "look(x.data, 1)", "t, n"
    ),
    "a decorator writes": _program(READ, first="def wrap(f):\n    return lambda t: t.zero_()\n\n\n@wrap\n"),
    "the name is rebound": _program(READ) + "def zero(t):\n    t.zero_()\n\n\nlook = zero\n",
    "it yields it": _program("    yield t\n", "next(look(x.data)).zero_()"),
    "a graph saves it": _program("    return (t * v).sum()\n").replace(
        "    return w.grad, a\n",
        "    with torch.no_grad():\n        x.zero_()\n    a.backward()\n    return v.grad\n",
    ),
}


@pytest.mark.parametrize("name", SAFE)
def test_what_a_function_only_reads_is_repaired(name: str, tmp_path: Path) -> None:
    assert "x.detach()" in check_runs_alike(tmp_path, {"main.py": SAFE[name] + PRINTED})["main.py"]


@pytest.mark.parametrize("name", OPEN)
def test_what_a_function_may_write_into_is_left(name: str, tmp_path: Path) -> None:
    assert not check_runs_alike(tmp_path, {"main.py": OPEN[name] + PRINTED})


MODULE = "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
MODULE += "        super().__init__()\n        self.layer = nn.Linear(2, 2)\n\n"
MODULE += "    def forward(self, x):\n        return self.layer(x)\n\n\n"
PARAMETERS = "torch.manual_seed(0)\n{0}net = Net().to('cpu')\nfor name, value in net.named_parameters():\n"
PARAMETERS += "    print(name, value.data.cpu().numpy().shape)\n"


def test_parameters_of_a_module_that_was_moved_are_tensors(tmp_path: Path) -> None:
    main = MODULE + PARAMETERS.format("for name, value in {'a': 1}.items():\n    print(name, value)\n")
    assert "value.detach().cpu()" in check_runs_alike(tmp_path, {"main.py": main})["main.py"]


@pytest.mark.parametrize(
    "method",
    [
        "    def to(self, device):\n        return Other()\n",
        "    def named_parameters(self):\n        return [('a', Own())]\n",
        "    def parameters(self):\n        return [Own()]\n\n    named_parameters = lambda self: [('a', Own())]\n",
    ],
)
def test_a_module_with_such_a_method_of_its_own_may_give_anything(method: str, tmp_path: Path) -> None:
    own = "class Own:\n    data = torch.ones(2)\n\n\nclass Other:\n    def named_parameters(self):\n"
    own += "        return [('a', Own())]\n\n\n"
    main = MODULE.replace("    def forward", f"{method}\n    def forward").replace("class Net", f"{own}class Net")
    assert not check_runs_alike(tmp_path, {"main.py": main + PARAMETERS.format("")})


OWN = "class Own:\n    data = torch.ones(2)\n\n\n"
WALKS = {
    "named_parameters": ("name, value", "    def named_parameters(self):\n        return [('a', Own())]\n\n"),
    "parameters": ("value", "    def parameters(self):\n        return [Own()]\n\n"),
}


@pytest.mark.parametrize("word", WALKS)
@pytest.mark.parametrize("moved", ["", ".to('cpu')", ".to('cpu').eval()"])
def test_parameters_of_a_module_of_another_file(word: str, moved: str, tmp_path: Path) -> None:
    target, method = WALKS[word]
    main = f"import torch\n\nfrom lib import Net\n\ntorch.manual_seed(0)\nnet = Net(){moved}\n"
    main += f"for {target} in net.{word}():\n    print(value.data.sum())\n"
    assert "value.detach().sum()" in check_runs_alike(tmp_path, {"main.py": main, "lib.py": MODULE})["main.py"]
    lib = MODULE.replace("class Net", f"{OWN}class Net").replace("    def forward", f"{method}    def forward")
    assert not check_runs_alike(tmp_path, {"main.py": main, "lib.py": lib}, "main.py")


def _forgetting(write: str, after: str = "", first: str = "") -> str:
    """A program in which a rate that requires grad is multiplied with a value, which then is overwritten."""
    return (
        f"{HEAD}from torch import nn\n\n\nclass Box:\n    def __init__(self):\n        self.kept = torch.zeros(1, 2)\n"
        "        self.weight = self\n\n    def __repr__(self):\n        return str(self.kept)\n\n"
        "    @property\n    def data(self):\n        return self.kept\n\n"
        "    @data.setter\n    def data(self, value):\n        self.kept = value\n\n\n"
        f"def run(x, rate):\n    x = torch.exp(x)\n{first}    m = nn.Linear(2, 1)\n    {write}\n    a = m.weight\n"
        f"    with torch.no_grad():\n        x.zero_()\n{after}    return w.grad, v.grad, a\n\n\nprint(run(w, v))\n"
    )


FORGOTTEN = {
    "it is copied": _forgetting("m.weight.data.copy_(rate * x.data)"),
    "it is added up and copied": _forgetting("m.weight.data.copy_(2 + -(rate * x.data) / (rate - 0.5))"),
    "it is added in place": _forgetting("m.weight.data.add_(rate * x.data)"),
}
REMEMBERED = {
    "the result has a name": _forgetting("b = m.weight.data.copy_(rate * x.data)", "    b.sum().backward()\n"),
    "the result is kept": _forgetting(
        "kept.append(m.weight.data.copy_(rate * x.data))", "    kept[0].sum().backward()\n"
    ),
    "the values have a name": _forgetting(
        "m.weight.data.copy_(b)", "    b.sum().backward()\n", "    b = rate * x.data\n"
    ),
    "the values are named on the way": _forgetting(
        "m.weight.data.copy_((b := rate * x.data) + 1)", "    b.sum().backward()\n"
    ),
    "a function keeps them": _forgetting(
        "m.weight.data.copy_(kept.append(rate * x.data) or rate)", "    kept[0].sum().backward()\n"
    ),
    "its `data` is no tensor's": _forgetting(
        "m = Box(); m.weight.data.copy_(rate * x.data)", "    m.kept.sum().backward()\n"
    ),
    "its `data` keeps what it is given": _forgetting(
        "m = Box()\n    m.weight.data = rate * x.data", "    m.kept.sum().backward()\n"
    ),
    "a sum of the module keeps it": _forgetting(
        "m.weight.copy_(rate * x.data)", "    m.weight.sum().backward()\n", "    nn.Linear = Made\n"
    ).replace(
        "def run", "class Made:\n    def __init__(self, *_):\n        self.weight = torch.zeros(1, 2)\n\n\ndef run"
    ),
}


@pytest.mark.parametrize("name", FORGOTTEN)
def test_a_value_in_a_graph_that_ends_with_its_statement_is_repaired(name: str, tmp_path: Path) -> None:
    assert "rate * x.detach())" in check_runs_alike(tmp_path, {"main.py": FORGOTTEN[name]})["main.py"]


@pytest.mark.parametrize("name", REMEMBERED)
def test_a_value_in_a_graph_that_is_kept_is_left_alone(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.nn, "Linear", torch.nn.Linear)  # a program rebinds it
    text = check_runs_alike(tmp_path, {"main.py": REMEMBERED[name]}).get("main.py", REMEMBERED[name])
    assert "x.data" in text
