"""Branches for a torch before 1.0: nobody runs them, so nothing is said of what is in them."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from torchlint import check
from torchlint.cli import main

HEAD = """\
import torch
from packaging import version
from packaging.version import parse, Version
from distutils.version import LooseVersion

number = torch.__version__
major, minor = torch.__version__.split(".")[:2]
release = tuple(int(x) for x in torch.__version__.split(".")[:2])
IS_NEW = LooseVersion(torch.__version__) >= LooseVersion("0.4.0")


def step(model, x, is_fast):
    loss = model(x).sum()
"""

OLD = (
    "torch.__version__ < '0.4'",
    "torch.__version__.startswith('0.3')",
    "not torch.__version__ >= '0.4.0'",
    "torch.__version__[:3] == '0.3'",
    "torch.__version__[0] == '0'",
    "torch.__version__ in ('0.3.0', '0.3.1')",
    "'0.4.1' > torch.__version__",
    "int(torch.__version__.split('.')[0]) < 1",
    "float(torch.__version__[:3]) < 0.4",
    "int(number[0]) == 0 and int(number[2]) < 4",
    "int(number[0]) == 0 and is_fast",
    "int(major) == 0",
    "(int(major), int(minor)) < (0, 4)",
    "release < (0, 4)",
    "list(map(int, torch.__version__.split('.')[:2])) < [0, 4]",
    "LooseVersion(torch.__version__) < LooseVersion('0.4')",
    "version.parse(torch.__version__) < version.parse('0.4.1')",
    "Version(torch.__version__) <= Version('0.4.1')",
    "parse(torch.__version__).release < (0, 4)",
    "parse(torch.__version__).major < 1",
    "not IS_NEW",
)

OPEN = (
    "torch.__version__ < '2.7'",
    "torch.__version__ < '2.14'",
    "str(torch.__version__) < '2.6'",
    "torch.__version__ < (2, 7)",
    "torch.__version__ < '3'",
    "torch.__version__ in ('2.0', '2.1')",
    "'dev' in torch.__version__",
    "'cu' not in torch.__version__",
    "torch.__version__[0] == '1'",
    "torch.__version__[:3] < '2.9'",
    "torch.__version__ < '1.5'",
    "torch.__version__ < '2.0'",
    "int(torch.__version__.split('.')[1]) < 4",  # true for 1.0 to 1.3, 2.0 to 2.3
    "int(minor) < 4",
    "Version(torch.__version__) < Version('1.0.1')",
    "int(number[0]) == 0 or is_fast",
    "is_fast",
    "x.__version__ < '0.4'",
    "unknown(torch.__version__) < unknown('0.4')",
    "LooseVersion(x) < LooseVersion('0.4')",
    "major == 0 or is_fast",
    "'0' < '1'",
    "torch.__version__ < x",
)


def codes(branch: str) -> set[str]:
    return {each.code for each in check(HEAD + indent(branch, "    ")).findings if each.code == "TNS204"}


@pytest.mark.parametrize("test", OLD)
def test_nothing_is_said_of_a_branch_that_is_never_taken(test: str) -> None:
    assert codes(f"if {test}:\n    return loss.data[0]\nreturn loss.item()\n") == set()
    assert codes(f"if not ({test}):\n    return loss.item()\nelse:\n    return loss.data[0]\n") == set()
    assert codes(f"return loss.data[0] if {test} else loss.item()\n") == set()


@pytest.mark.parametrize("test", OLD)
def test_the_other_branch_counts(test: str) -> None:
    assert codes(f"if {test}:\n    pass\nelse:\n    return loss.data[0]\n") == {"TNS204"}
    assert codes(f"return loss.item() if {test} else loss.data[0]\n") == {"TNS204"}


@pytest.mark.parametrize("test", OPEN)
def test_a_branch_that_some_version_takes_counts(test: str) -> None:
    assert codes(f"if {test}:\n    return loss.data[0]\nreturn loss.item()\n") == {"TNS204"}


def test_a_name_that_is_bound_twice_says_nothing() -> None:
    again = "number = x.version\nif number < '0.4':\n    return loss.data[0]\n"
    assert codes(again) == {"TNS204"}


def test_elif_and_what_is_nested() -> None:
    chain = (
        "if is_fast:\n    pass\nelif torch.__version__ < '0.4':\n    with torch.enable_grad():\n"
        "        return loss.data[0]\nelse:\n    return loss.data[0]\n"
    )
    lines = [each.start for each in check(HEAD + indent(chain, "    ")).findings if each.code == "TNS204"]
    assert len(lines) == 1


def test_names_that_stand_for_each_other_come_to_an_end() -> None:
    doubled = "".join(f"a{k} = a{k + 1} + a{k + 1}\n" for k in range(60))
    circle = "a60 = torch.__version__ + b\nb = b + a60\n"
    assert codes(f"{doubled}{circle}if a0 < '0.4':\n    return loss.data[0]\n") == {"TNS204"}


def test_show_facts_tells_why_nothing_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "step.py"
    path.write_text("import torch\n\nloss = torch.ones(1)\nif torch.__version__ < '0.4':\n    print(loss.data[0])\n")
    assert main(["check", "--isolated", "--show-facts", f"{path}:5"]) == 0
    assert "no torch since 1.0 runs this" in capsys.readouterr().out
    assert main(["check", "--isolated", "--show-facts", f"{path}:3"]) == 0
    assert "no torch since 1.0" not in capsys.readouterr().out
