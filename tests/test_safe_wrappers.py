"""Projects with `Variable(...)` run before and after `--fix`: dropped arguments, other names of a tensor, `None`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike, fixed, written

HEAD = "import torch\nfrom torch.autograd import Variable\n\n"

# ---------------------------------------------------------------------- arguments that are dropped
TRAIN = (
    "\n\ndef train(options):\n    w, x = torch.ones(2, requires_grad=True), torch.ones(2)\n"
    "    loss = (w * Variable(x, volatile={})).sum()\n    loss.backward()\n    return w.grad\n"
    "\n\nOPTIONS = {{'test': False}}\nprint(train(OPTIONS), OPTIONS)\n"
)
CUT = "\n\ndef cut(options):\n    x = torch.ones(2)\n    return Variable(x, requires_grad=not {}).detach()\n"
CUT += "\n\nOPTIONS = {{'test': False}}\nprint(cut(OPTIONS), OPTIONS)\n"


def test_a_flag_that_only_asks_is_dropped(tmp_path: Path) -> None:
    changed = check_runs_alike(tmp_path, {"main.py": HEAD + TRAIN.format("options['test']")})
    assert "Variable(" not in changed["main.py"]


@pytest.mark.parametrize("code", [TRAIN, CUT], ids=["volatile", "requires_grad"])
@pytest.mark.parametrize("flag", ["options.pop('test')", "(options.clear() or False)", "bool(options.pop('test'))"])
def test_an_argument_that_does_something_stays(tmp_path: Path, code: str, flag: str) -> None:
    assert check_runs_alike(tmp_path, {"main.py": HEAD + code.format(flag)}) == {}


# ---------------------------------------------------------------------- statements that are removed
REWRAPPED = "\n\ndef f():\n{}    x = Variable(x)\n    x.requires_grad_()\n    return {}\n\n\nprint(f())\n"


HELD = {
    "another name": ("    x = torch.zeros(2)\n    y = x\n", "y.requires_grad"),
    "another name in the same line": ("    x = torch.zeros(2)\n    y = x; ", "y.requires_grad"),
    "a pair": ("    x = torch.zeros(2)\n    y, n = x, 1\n", "y.requires_grad"),
    "a view": ("    x = torch.zeros(2)\n    y = x.view(-1)\n", "(y.requires_grad, y._base is x)"),
    "all names": ("    x = torch.zeros(2)\n    names = locals()\n", "names['x'].requires_grad"),
}


@pytest.mark.parametrize(("made", "told"), HELD.values(), ids=HELD)
def test_a_tensor_that_has_another_name_is_not_mixed_up_with_it(tmp_path: Path, made: str, told: str) -> None:
    code = REWRAPPED.format(made, told).replace(";     x", "; x")
    assert "x = x.detach()" in check_runs_alike(tmp_path, {"main.py": HEAD + code})["main.py"]


def test_a_tensor_of_an_earlier_round_is_another_object(tmp_path: Path) -> None:
    code = (
        "\n\ndef f():\n    kept = []\n    for i in range(3):\n        if not i:\n            x = torch.zeros(2)\n"
        "        x = Variable(x)\n        kept.append(x)\n    return len({id(each) for each in kept})\n\n\nprint(f())\n"
    )
    assert "x = x.detach()" in check_runs_alike(tmp_path, {"main.py": HEAD + code})["main.py"]


# ---------------------------------------------------------------------- parts that may be missing
LAYERS = "from torch import nn\n\n"
PRESENT = {
    "a weight": "fc = nn.Linear(2, 2, bias=False)\nprint(Variable(fc.weight).numel())\n",
    "what is computed of a bias": "fc = nn.Linear(2, 2)\nprint(Variable(fc.bias * 2).numel())\n",
}


@pytest.mark.parametrize("code", PRESENT.values(), ids=PRESENT)
def test_a_part_that_a_layer_has_is_unwrapped(tmp_path: Path, code: str) -> None:
    changed = check_runs_alike(tmp_path, {"main.py": HEAD + LAYERS + code})
    assert "Variable(" not in changed["main.py"]


MISSING = {
    "a bias": "fc = nn.Linear(2, 2, bias=False)\nprint(Variable(fc.bias).numel())\n",
    "a bias of any layer": (
        "def size(m):\n    return Variable(m.bias).numel()\n\n\nprint(size(nn.Conv2d(2, 2, 1, bias=False)))\n"
    ),
    "statistics": (
        "class Stats(nn.Module):\n    def __init__(self, track):\n        super().__init__()\n"
        "        self.bn = nn.BatchNorm1d(2, track_running_stats=track)\n\n"
        "    def mean(self):\n        return Variable(self.bn.running_mean)\n\n\nprint(Stats(False).mean().numel())\n"
    ),
    "an inherited part": (
        "class Norm(nn.BatchNorm1d):\n    def mean(self):\n        return Variable(self.running_mean)\n"
        "\n\nprint(Norm(2, track_running_stats=False).mean().numel())\n"
    ),
    "weights of attention": (
        "attend = nn.MultiheadAttention(4, 2)\nx = torch.ones(1, 1, 4)\n"
        "out, weights = attend(x, x, x, need_weights=False)\nprint(Variable(weights).numel())\n"
    ),
    "gradients of inputs": (
        "def hook(module, given, taken):\n    print([Variable(each).numel() for each in given])\n\n\n"
        "fc = nn.Linear(2, 2)\nfc.register_full_backward_hook(hook)\nfc(torch.ones(1, 2)).sum().backward()\n"
    ),
    "what a shorter list lacks": (
        "from itertools import zip_longest\n\nfor x, y in zip_longest([torch.ones(1)], []):\n"
        "    print(Variable(y).numel())\n"
    ),
}


@pytest.mark.parametrize("code", MISSING.values(), ids=MISSING)
def test_a_part_that_may_be_missing_stays_wrapped(tmp_path: Path, code: str) -> None:
    assert check_runs_alike(tmp_path, {"main.py": HEAD + LAYERS + code}) == {}


def test_a_layer_of_another_file_may_have_no_weight(tmp_path: Path) -> None:
    files = {
        "nets.py": HEAD + "\ndef size(m):\n    return Variable(m.weight).numel()\n",
        "main.py": "import nets\nfrom torch import nn\n\nprint(nets.size(nn.BatchNorm1d(2, affine=False)))\n",
    }
    assert check_runs_alike(tmp_path, files) == {}


# ---------------------------------------------------------------------- code in strings
TOLD = {
    "a docstring": 'def f():\n    """Variable(x) was needed once."""\n\n\nf()\n',
}
RUN = {
    "timeit": (
        "from timeit import timeit\n\nx = torch.ones(2)\n"
        'print(timeit("Variable(x)", setup="from __main__ import Variable, x", number=1) > 0)\n'
    ),
    "a part of code": 'from nets import run\n\nrun("from __main__ import Variable; print(Variable)")\n',
    "code that is put together": (
        "import cProfile\n\nx = torch.ones(2)\nresult = {}\n"
        'cProfile.runctx("result[0] = Variable(%s)" % "x", globals(), locals())\nprint(result)\n'
    ),
}
RUNNING = "import sys\n\n\ndef run(text):\n    sys.modules['builtins'].exec(text, {})\n"


@pytest.mark.parametrize("code", TOLD.values(), ids=TOLD)
def test_an_import_that_is_only_told_of_goes(tmp_path: Path, code: str) -> None:
    assert "import Variable" not in check_runs_alike(tmp_path, {"main.py": HEAD + code})["main.py"]


@pytest.mark.parametrize("code", RUN.values(), ids=RUN)
def test_an_import_that_code_in_a_string_uses_stays(tmp_path: Path, code: str) -> None:
    assert "main.py" not in fixed(written(tmp_path, {"main.py": HEAD + code, "nets.py": RUNNING}))


# ---------------------------------------------------------------------- who takes the error of what is no tensor
WRAP = HEAD + "\nclass Wrap:\n    def __call__(self, x):\n        return Variable(x).numel()\n\n\n"
NET = HEAD + "\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return Variable(x).sum()\n\n\n"
COMMANDS = (
    "from torch.autograd import Variable\n\nCOMMANDS = {}\n\n\ndef command(f):\n"
    "    COMMANDS[f.__name__] = f\n    return f\n"
    "\n\n@command\ndef wrap(x):\n    return Variable(x).numel()\n"
)
TAKING = "def attempt(f, x):\n    try:\n        return f(x)\n    except {}:\n        return 'bad'\n"


WRAPPED = """import torch
from torch.autograd import Variable


def _wrapped(x):
    try:
        return Variable(x)
    HANDLER
        return "no tensor"


for each in (GIVEN):
    print(_wrapped(each))
"""
MIXED = "[1.0], 3, torch.ones(2)"


@pytest.mark.parametrize("handler", ["except TypeError:", "except Exception:", "except:"])
def test_a_handler_around_it_keeps_the_wrapper_of_what_may_be_no_tensor(tmp_path: Path, handler: str) -> None:
    code = WRAPPED.replace("HANDLER", handler).replace("GIVEN", MIXED)
    assert check_runs_alike(tmp_path, {"main.py": code}) == {}


def test_a_handler_around_it_does_not_matter_where_it_is_a_tensor(tmp_path: Path) -> None:
    code = WRAPPED.replace("HANDLER", "except TypeError:").replace("GIVEN", MIXED)
    changed = check_runs_alike(tmp_path, {"main.py": code.replace("Variable(x)", "Variable(torch.ones(2))")})
    assert "return torch.ones(2)\n" in changed["main.py"]


# ---------------------------------------------------------------------- types that a test chooses
CHOSEN = """\
import torch
from torch.autograd import Variable

cuda = torch.cuda.is_available()
Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor


def made(n):
    return Variable(Tensor(n, 1).fill_(1.0), requires_grad=False)
"""
SHOWN = "print(lib.made(2).requires_grad, lib.made(2))\n"


def test_what_a_chosen_type_makes_needs_no_detach(tmp_path: Path) -> None:
    changed = check_runs_alike(tmp_path, {"lib.py": CHOSEN, "main.py": "import lib\n\n" + SHOWN})
    assert "detach" not in changed["lib.py"]
