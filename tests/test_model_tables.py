"""The tables of what functions do: a row is all that a function needs, and one that means nothing is an error."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from torchlint.facts.value import UNKNOWN, Kind, Mode, Value
from torchlint.inference.lattice import any_element
from torchlint.inference.models import grad_mode
from torchlint.inference.models.call_arguments import Arguments
from torchlint.inference.models.tables import Call, Table, TableError, functions, words

ROOT = Path(__file__).parents[1]


def first(call: Call) -> Value | None:
    return call.given.find(0)


def called(name: str, *given: Value) -> Call:
    return Call(name, Arguments(ast.parse("f()").body[0], given), Mode.ON)


# ---------------------------------------------------------------------- reading
def test_the_whole_name_comes_before_patterns_and_the_longest_of_these_first() -> None:
    table = Table("a.b -> 1\na.* -> 2\na.b.* -> 3\n*Loss -> 4\nPool[12]d -> 5", int)
    asked = ("a.b", "a.c", "a.b.c", "b.a", "NLLLoss", "Pool2d", "Pool3d")
    assert [table.find(name) for name in asked] == [1, 2, 3, None, 4, 5, None]


def test_a_word_is_an_effect_or_kinds_of_values() -> None:
    table = functions("f -> first\ng -> sequence of integer|scalar", [first])
    effect, constant = table.find("f"), table.find("g")
    assert effect is not None
    assert constant is not None
    assert effect(called("f", UNKNOWN)) is UNKNOWN
    given = constant(called("g"))
    assert given is not None
    assert (given.kind, any_element(given).kind) == (Kind.SEQUENCE, Kind.INTEGER | Kind.SCALAR)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("f -> frist\ng -> first", "no effect is called 'frist': f -> frist"),
        ("f -> integer of\ng -> first", "no effect is called 'integer of': f -> integer of"),
        ("f -> integr of scalar\ng -> first", "no effect is called 'integr of scalar'"),
        ("f -> first\ng f -> integer", "'f' has a row already: g f -> integer"),
        ("f.* -> first\nf.* -> first", "'f.*' has a row already"),
        ("f first", "a row reads `name name -> effect`: f first"),
        ("-> first", "a row reads `name name -> effect`: -> first"),
        ("f ->", "a row reads `name name -> effect`: f ->"),
        ("f -> integer", "no row asks for first"),
    ],
)
def test_a_row_that_means_nothing_is_named(text: str, message: str) -> None:
    with pytest.raises(TableError) as raised:
        functions(text, [first])
    assert message in str(raised.value)


def test_a_pattern_is_refused_where_names_are_needed() -> None:
    with pytest.raises(TableError, match=r"not a pattern: a\.\*"):
        Table("a.b -> 1\na.* -> 2", int).by_name()
    assert Table("a.b -> 1", int).by_name() == {"a.b": 1}


def test_a_word_that_stands_twice_in_a_list_is_named() -> None:
    with pytest.raises(TableError, match="sum stands twice"):
        words("sum mean sum")


# ---------------------------------------------------------------------- one row is enough
PROGRAM = """import torch
import toolkit

weight = torch.ones(2, requires_grad=True)


def block():
    with toolkit.frozen():
        x = weight * 2
    return x.numpy()


@toolkit.frozen()
def called():
    return (weight * 3).numpy()


@toolkit.frozen
def bare():
    return (weight * 4).numpy()


def wrapped(function):
    def inner():
        with toolkit.frozen():
            return function()

    return inner


@wrapped
def through():
    return (weight * 5).numpy()


def statement():
    toolkit.frozen()
    return (weight * 6).numpy()


def elsewhere():
    toolkit.frozen()


def behind():
    elsewhere()
    return (weight * 7).numpy()


def made(path):
    return toolkit.drawing(path).unsqueeze(0).numpy()
"""


def reported(folder: Path, row: str, module: str = "grad_mode", table: str = "_SWITCHES") -> set[str]:
    """Return the functions in which ``.numpy()`` is reported by a torchlint whose table has one row more."""
    shutil.copytree(ROOT / "torchlint", folder / "torchlint")
    path = folder / "torchlint" / "inference" / "models" / f"{module}.py"
    text, start = path.read_text(encoding="utf-8"), f'{table} = """\n'
    assert start in text
    path.write_text(text.replace(start, start + row), encoding="utf-8")
    (folder / "checked.py").write_text(PROGRAM, encoding="utf-8")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "torchlint",
            "check",
            "checked.py",
            "--isolated",
            "--no-cache",
            "--output-format=json",
            "--min-confidence",
            "unproven",
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode in (0, 1), done.stderr
    rows = [finding["location"]["row"] for finding in json.loads(done.stdout)]
    made = [each for each in ast.parse(PROGRAM).body if isinstance(each, ast.FunctionDef)]
    return {each.name for each in made for row in rows if each.lineno <= row <= (each.end_lineno or 0)}


ASKING = {"block", "called", "bare", "through", "statement", "behind", "made"}
"""The functions of the program that ask for an array."""


def test_without_a_row_a_context_manager_changes_nothing(tmp_path: Path) -> None:
    assert reported(tmp_path, "") == ASKING


def test_one_row_makes_a_context_manager_known_as_a_block_and_as_a_decorator(tmp_path: Path) -> None:
    assert reported(tmp_path, "toolkit.frozen -> off\n") == {"statement", "behind", "made"}


def test_one_row_makes_a_bare_call_known_too(tmp_path: Path) -> None:
    assert reported(tmp_path, "toolkit.frozen -> off, at once\n") == {"made"}


def test_one_row_makes_a_function_known(tmp_path: Path) -> None:
    assert reported(tmp_path, "toolkit.drawing -> host_tensor\n", "libraries", "_FUNCTIONS") == ASKING - {"made"}


def test_a_row_that_means_nothing_stops_the_program(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"no effect is called 'of': toolkit\.frozen -> of"):
        reported(tmp_path, "toolkit.frozen -> of\n")


def test_the_names_and_words_of_switches_come_from_the_table() -> None:
    assert {
        "torch.no_grad",
        "torch.inference_mode",
        "torch.enable_grad",
        "torch.set_grad_enabled",
    } < grad_mode.GRAD_MODES
    assert "torch.autocast" not in grad_mode.GRAD_MODES
    assert {"set_grad_enabled", "_set_grad_enabled"} == grad_mode.AT_ONCE
    assert {"no_grad", "inference_mode"} < grad_mode.TURNING_OFF
    assert not grad_mode.TURNING_OFF & {"enable_grad", "set_grad_enabled"}
