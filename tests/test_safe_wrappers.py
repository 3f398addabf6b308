"""Projects with `Variable(...)` run before and after `--fix`: dropped arguments, other names of a tensor, `None`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike, fixed, written

HEAD = "import torch\nfrom torch.autograd import Variable\n\n"

# ---------------------------------------------------------------------- arguments that are dropped
TRAIN = (
    "\n\ndef train(x, options):\n    w = torch.ones(2, requires_grad=True)\n"
    "    loss = (w * Variable(x, volatile={})).sum()\n    loss.backward()\n    return w.grad\n"
    "\n\nOPTIONS = {{'test': False}}\nprint(train(torch.ones(2), OPTIONS), OPTIONS)\n"
)
CUT = "\n\ndef cut(x, options):\n    return Variable(x, requires_grad=not {}).detach()\n"
CUT += "\n\nOPTIONS = {{'test': False}}\nprint(cut(torch.ones(2), OPTIONS), OPTIONS)\n"


@pytest.mark.parametrize("code", [TRAIN, CUT], ids=["volatile", "requires_grad"])
def test_an_argument_that_only_asks_is_dropped(tmp_path: Path, code: str) -> None:
    changed = check_runs_alike(tmp_path, {"main.py": HEAD + code.format("options['test']")})
    assert "Variable(" not in changed["main.py"]


@pytest.mark.parametrize("code", [TRAIN, CUT], ids=["volatile", "requires_grad"])
@pytest.mark.parametrize("flag", ["options.pop('test')", "(options.clear() or False)", "bool(options.pop('test'))"])
def test_an_argument_that_does_something_stays(tmp_path: Path, code: str, flag: str) -> None:
    assert check_runs_alike(tmp_path, {"main.py": HEAD + code.format(flag)}) == {}


# ---------------------------------------------------------------------- statements that are removed
REWRAPPED = "\n\ndef f():\n{}    x = Variable(x)\n    x.requires_grad_()\n    return {}\n\n\nprint(f())\n"


def test_a_statement_that_rewraps_what_was_only_read_goes(tmp_path: Path) -> None:
    made = "    x = torch.zeros(2)\n    print(x.sum(), x.shape)\n    y = x + 1\n"
    changed = check_runs_alike(tmp_path, {"main.py": HEAD + REWRAPPED.format(made, "y.requires_grad")})
    assert "x = x" not in changed["main.py"]
    assert "Variable" not in changed["main.py"]


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
    "a bias": "fc = nn.Linear(2, 2)\nprint(Variable(fc.bias).numel())\n",
    "statistics": "bn = nn.BatchNorm1d(2)\nprint(Variable(bn.running_mean).numel())\n",
    "a bias that is asked for": (
        "def size(m):\n    return Variable(m.bias).numel() if m.bias is not None else 0\n"
        "\n\nprint(size(nn.Linear(2, 2)))\n"
    ),
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
    "a message": 'print("no Variable is needed")\n',
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
PLAIN = "def attempt(f, x):\n    return f(x)\n"
TAKING = "def attempt(f, x):\n    try:\n        return f(x)\n    except {}:\n        return 'bad'\n"

CALLS = {
    "an object": WRAP + "from tools import attempt\n\nprint(attempt(Wrap(), torch.ones(3)))\n",
    "a module": NET + "from tools import attempt\n\nnet = Net()\nprint(attempt(net, torch.ones(3)))\n",
}


@pytest.mark.parametrize("main", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("tools", [PLAIN, TAKING.format("KeyError")], ids=["no handler", "another handler"])
def test_an_object_is_handed_to_who_takes_no_error(tmp_path: Path, main: str, tools: str) -> None:
    changed = check_runs_alike(tmp_path, {"main.py": main, "tools.py": tools})
    assert "Variable(" not in changed["main.py"]


def test_what_is_done_to_an_object_elsewhere_is_no_call_of_it(tmp_path: Path) -> None:
    main = NET + "net = Net()\ntry:\n    net.eval()\nexcept TypeError:\n    pass\nprint(net(torch.ones(3)))\n"
    assert "Variable(" not in check_runs_alike(tmp_path, {"main.py": main})["main.py"]


def test_a_registry_of_which_nobody_takes_errors_is_unwrapped(tmp_path: Path) -> None:
    main = "import nets\nimport torch\n\nprint([each(torch.ones(2)) for each in nets.COMMANDS.values()])\n"
    changed = check_runs_alike(tmp_path, {"main.py": main, "nets.py": COMMANDS})
    assert "Variable(" not in changed["nets.py"]


WRAPPED = """import torch
from torch.autograd import Variable


def wrapped(x):
    return Variable(x)


for each in ([1.0], 3, torch.ones(2)):
    try:
        print(wrapped(each))
    HANDLER
        print("no tensor")
"""


@pytest.mark.parametrize("handler", ["except Exception:", "except:", "except BaseException:"])
def test_a_handler_that_takes_all_errors_does_not_keep_the_wrapper(tmp_path: Path, handler: str) -> None:
    changed = check_runs_alike(tmp_path, {"main.py": WRAPPED.replace("HANDLER", handler)})
    assert "x.detach()" in changed["main.py"]


def test_a_handler_of_other_errors_does_not_matter(tmp_path: Path) -> None:
    code = WRAPPED.replace("HANDLER", "except (RuntimeError, ValueError):").replace("[1.0], 3, ", "")
    assert "x.detach()" in check_runs_alike(tmp_path, {"main.py": code})["main.py"]


LOADING = """
import torch
from torch.autograd import Variable


def load():
    return torch.ones(2)


def mask():
    return Variable(load())
"""
BOUND_ANEW = {
    "an attribute": "import lib\nlib.load = lambda: None\nprint(lib.mask().shape)\n",
    "a patch": "import lib\nfrom unittest.mock import patch\npatch('lib.load', print).start()\nprint(lib.mask())\n",
    "another function": "import lib\ndef fake():\n    pass\nlib.load = fake\nprint(lib.mask().shape)\n",
}


@pytest.mark.parametrize("way", BOUND_ANEW)
def test_a_function_that_is_bound_anew_may_give_none(tmp_path: Path, way: str) -> None:
    assert "lib.py" not in check_runs_alike(tmp_path, {"lib.py": LOADING, "main.py": BOUND_ANEW[way]})


@pytest.mark.parametrize(
    "main", ["import lib\nprint(lib.mask())\n", "import lib\nlib.other = None\nprint(lib.mask())\n"]
)
def test_a_function_that_nobody_binds_anew_gives_its_tensor(tmp_path: Path, main: str) -> None:
    assert "load().detach()" in check_runs_alike(tmp_path, {"lib.py": LOADING, "main.py": main})["lib.py"]


MASK = """
import torch
from torch.autograd import Variable

MASK = torch.ones(2)


def mask():
    return Variable(MASK)
"""


@pytest.mark.parametrize("setting", ["lib.MASK = None", "one = lib\none.MASK = None", "setattr(lib, 'MASK', None)"])
@pytest.mark.parametrize("got", ["import lib", "import importlib\nlib = importlib.import_module('lib')"])
def test_a_name_of_the_module_may_be_set_to_none_elsewhere(tmp_path: Path, setting: str, got: str) -> None:
    main = f"{got}\n{setting}\nprint(lib.mask())\n"
    assert "lib.py" not in check_runs_alike(tmp_path, {"lib.py": MASK, "main.py": main})


@pytest.mark.parametrize("setting", ["lib.MASK = lib.torch.zeros(2)", "lib.OTHER = None", "self = lib"])
def test_a_name_of_the_module_that_is_set_to_a_tensor_is_one(tmp_path: Path, setting: str) -> None:
    main = f"import lib\n{setting}\nprint(lib.mask())\n"
    assert "MASK.detach()" in check_runs_alike(tmp_path, {"lib.py": MASK, "main.py": main})["lib.py"]


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


def test_a_chosen_type_that_another_file_binds_anew_stays_detached(tmp_path: Path) -> None:
    live = "def live(*size):\n    return torch.ones(*size, requires_grad=True) * 2\n\n\nlib.Tensor = live\n"
    check_runs_alike(tmp_path, {"lib.py": CHOSEN, "main.py": "import torch\n\nimport lib\n\n\n" + live + SHOWN})
