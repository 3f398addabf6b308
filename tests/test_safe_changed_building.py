"""Projects run before and after `--fix`: code of another file that runs while a module is built may use its parts."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest

from tests.before_and_after import check_runs_alike

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.scale = nn.Parameter(torch.ones(2))
        self.fc.weight.data.fill_(3)
        self.scale.data.fill_(3)
"""
MAIN = """\
import around
import nets

net = nets.Net()
around.graphs[0].backward()
print([None if each.grad is None else each.grad.sum() for each in net.parameters()])
"""
SEES = "def sees(p):\n    if p is not None:\n        graphs.append((p * p).sum())\n"
HEAD = f"import functools\nfrom unittest import mock\n\nfrom torch import nn\n\ngraphs = []\n\n\n{SEES}\n\n"

AROUND = {
    "a hook for parameters": """\
        def hook(module, name, parameter):
            sees(parameter)

        nn.modules.module.register_module_parameter_registration_hook(hook)
        """,
    "a hook for modules": """\
        from torch.nn.modules.module import register_module_module_registration_hook

        register_module_module_registration_hook(lambda module, name, part: sees(part.weight))
        """,
    "a constructor": """\
        start = nn.Linear.__init__

        def watched(self, *sizes, **more):
            start(self, *sizes, **more)
            sees(self.weight)

        nn.Linear.__init__ = watched
        """,
    "a constructor of a class that is handed over": """\
        def watch(kind):
            start = kind.reset_parameters

            def watched(self):
                start(self)
                sees(self.weight)

            kind.reset_parameters = watched

        watch(nn.Linear)
        """,
    "what registers parameters": """\
        register = nn.Module.register_parameter

        def watched(self, name, parameter):
            register(self, name, parameter)
            sees(parameter)

        setattr(nn.Module, "register_parameter", watched)
        """,
    "what sets attributes": """\
        def watched(self, name, value, start=nn.Module.__setattr__):
            start(self, name, value)
            if isinstance(value, nn.Parameter):
                sees(value)

        mock.patch(
            "torch.nn.Module.__setattr__", watched
        ).start()
        """,
    "the class of parameters": """\
        class Watched(nn.Parameter):
            def __new__(cls, *given, **more):
                made = super().__new__(nn.Parameter, *given, **more)
                sees(made)
                return made

        setattr(nn, "Parameter", Watched)
        """,
}


@pytest.fixture(autouse=True)
def modules_are_torchs(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a program changes in torch is put back behind it."""
    from torch import nn

    monkeypatch.setattr(nn, "Parameter", nn.Parameter)
    for kind, word in (
        (nn.Module, "__setattr__"),
        (nn.Module, "register_parameter"),
        (nn.Linear, "__init__"),
        (nn.Linear, "reset_parameters"),
    ):
        monkeypatch.setattr(kind, word, getattr(kind, word))
    for hooks in ("_global_parameter_registration_hooks", "_global_module_registration_hooks"):
        monkeypatch.setattr(nn.modules.module, hooks, {})


@pytest.mark.parametrize("around", AROUND.values(), ids=AROUND)
def test_what_runs_while_a_module_is_built_may_use_its_parts(around: str, tmp_path: Path) -> None:
    files = {"main.py": MAIN, "around.py": HEAD + dedent(around), "nets.py": NET}
    assert not check_runs_alike(tmp_path, files)


def test_so_may_what_the_same_file_brings(tmp_path: Path) -> None:
    program = f"{HEAD}{dedent(AROUND['a hook for parameters'])}\n\n{NET}\n\n{MAIN}".replace("import around\n", "")
    files = {"main.py": program.replace("import nets\n", "").replace("nets.", "").replace("around.", "")}
    assert not check_runs_alike(tmp_path, files)


KEPT = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        if not hasattr(self, "_modules"):
            super().__init__()
        if not hasattr(self, "scale"):
            self.scale = nn.Parameter(torch.ones(2))
        self.scale.data.fill_(3)
"""


@pytest.mark.parametrize("again", ["net.__init__()", "nets.Net.__init__(net)", "[net][0].__init__()"])
def test_a_constructor_that_another_file_calls_once_more(again: str, tmp_path: Path) -> None:
    main = f"import nets\n\nnet = nets.Net()\nloss = (net.scale * net.scale).sum()\n{again}\n"
    assert not check_runs_alike(
        tmp_path, {"main.py": main + "loss.backward()\nprint(net.scale.grad)\n", "nets.py": KEPT}
    )


PLAIN = {
    "nothing": "pass",
    "a base": "class Other(nn.Module):\n    def __init__(self):\n        super(Other, self).__init__()",
    "a base by its name": (
        "class Other(nn.Module):\n    def __init__(self):\n        nn.Module.__init__(\n            self\n        )"
    ),
    "a question": "if hasattr(nn.Linear, 'reset_parameters'):\n    print(nn.Linear.__init__ == nn.Module.__init__)",
    "another hook": "nn.Linear(2, 2).register_forward_hook(lambda *given: None)",
    "a method of its own": (
        "class Other(nn.Linear):\n    def reset_parameters(self):\n        nn.init.ones_(self.weight)"
    ),
}


@pytest.mark.parametrize("around", PLAIN.values(), ids=PLAIN)
def test_what_changes_nothing_of_how_modules_are_built(around: str, tmp_path: Path) -> None:
    main = "import around\nimport nets\n\nprint(*nets.Net().parameters())\n"
    files = {"main.py": main, "around.py": HEAD + around + "\n", "nets.py": NET}
    changed = check_runs_alike(tmp_path, files)
    assert (
        indent("nn.init.constant_(self.fc.weight, 3)\nnn.init.constant_(self.scale, 3)\n", 8 * " ")
        in changed["nets.py"]
    )


PATCHED = {
    "several": 'with mock.patch.multiple("torch.nn.init", normal_=skip):\n',
    "several of a module": "with mock.patch.multiple(torch.nn.init, normal_=skip):\n",
    "a namespace": 'with mock.patch.dict("torch.nn.init.__dict__", normal_=skip):\n',
}


@pytest.mark.parametrize("patch", PATCHED.values(), ids=PATCHED)
def test_a_function_of_init_that_another_file_rebinds_writes_no_first_values(patch: str, tmp_path: Path) -> None:
    head = (
        "from unittest import mock\n\nimport nets\nimport torch\n\n\ndef skip(tensor, *more):\n    return tensor\n\n\n"
    )
    main = f"{head}{patch}    print(*nets.Net().parameters())\n"
    changed = check_runs_alike(tmp_path, {"main.py": main, "nets.py": NET.replace("fill_(3)", "normal_(0, 3)")})
    assert "init.normal_" not in changed.get("nets.py", "")
