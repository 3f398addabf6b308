"""Which rules a text may concern, by their words and where these stand, and what is passed over without the engine."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ROOT
from torchlint.config import Config
from torchlint.config.selectors import EVERY_CODE
from torchlint.diagnostics.model import FileResult
from torchlint.diagnostics.registry import RULES
from torchlint.diagnostics.rule_metadata import RuleMetadata
from torchlint.linter.engine import check_bytes
from torchlint.source.text import decode
from torchlint.syntax.ast_index import index_of
from torchlint.syntax.prefilter import is_plain, triggered
from torchlint.syntax.regions import _is_package_path, candidate_regions

CODES = frozenset(entry.code for entry in RULES if entry.words)


def codes(text: str) -> set[str]:
    return {entry.code for entry in triggered(CODES, text.encode())}


@pytest.mark.parametrize(
    "text",
    [
        "import numpy_like as np\nfrom torch.utils import data_dir\n",
        "data = database.read(new_data, data=1)\n",
        "print(type(x), dtype(x), newline, x.new_zeros(1), numpy(x), new(3))\n",
        "def f(x: torch.Tensor, y: Optional[torch.Tensor] = None) -> torch.Tensor:\n    return {'Tensor': y}\n",
        "x.type, x.new, x.numpy, x.detach, y\n",
        "variable = volatile_ + Variables\n",
        "x.metadata, x.data_, x.adata, mydata.x\n",
        "tensors(1), tensor_like(2), x.to_tensor(3)\n",
        "x.float()\ny = float('inf') + float( -1) + complex(2)\nz: float = 2\n",
        "numpy(x)\n  # no dot\ndata = 1\n'the end. ' + data\n",
        "import torch.utils.data\nfrom torch.utils.data import DataLoader\ntorch.utils.data.DataLoader(x)\n",
        "# to a tensor\n'''Gives a torch.Tensor\n\nor a FloatTensor\n'''\ndef f(x: torch.Tensor) -> Tensor:\n    x\n",
        "g = torch.tensor\nisinstance(x, Tensor)\nassert isinstance(x, (int, Tensor))\n",
        "from library.data import x\nfrom .. data  import y\n",
    ],
)
def test_words_that_stand_where_they_do_not_matter(text: str) -> None:
    assert codes(text) == set()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("y = x.data\nimport z", "TNS201"),
        ("y = x.data; import z", "TNS201"),
        ("return tensor(x)", "TNS308"),
        ("total += float(loss)", "TNS109"),
        ("y = complex (\n    x)", "TNS109"),
        ("x = not  tensor (y)", "TNS308"),
        ("x = 1if tensor(y) else 2", "TNS308"),
        ("match tensor(x):", "TNS308"),
        ("x = y or\\\n  tensor(z)", "TNS308"),
        ("is_a = '' if b else\ttensor(x)", "TNS308"),
        ("import a\ntensor(x)", "TNS308"),
        ("from torch import ones, tensor as t", "TNS308"),
        ("from torch import (\n  ones,  # why\n  # and so\n  tensor as t)", "TNS308"),
        ("from torch import tensor \\\n as t", "TNS308"),
        ("x.numpy()", "TNS103"),
        ("x . numpy ()", "TNS103"),
        ("(x.\n  numpy\n  ())", "TNS103"),
        ("(x. # why\n  numpy())", "TNS103"),
        ("x.\\\n  numpy()", "TNS103"),
        ("(x.numpy)()", "TNS103"),
        ("(x.numpy # why\n)()", "TNS103"),
        ("x.data", "TNS201"),
        ("(x\n  .data)", "TNS201"),
        ("x.data.data_", "TNS201"),
        (f"(x.{' ' * 3000}data)", "TNS201"),
        (f"(x. # {'why' * 300}\n data)", "TNS201"),
        ("x.data = data = 1", "TNS201"),
        ("x.new(2)", "TNS306"),
        ("x.type(y)", "TNS307"),
        ("torch.tensor(x)", "TNS308"),
        ("from torch import tensor as t", "TNS308"),
        ("tensor(x)", "TNS308"),
        ("tensor(1 * x)", "TNS308"),
        ("tensor(1e-3 * x)", "TNS308"),
        ("tensor([1] * x)", "TNS308"),
        ("tensor([x][0])", "TNS308"),
        ("tensor((x))", "TNS308"),
        ("tensor(-x)", "TNS308"),
        ("tensor(data=x)", "TNS308"),
        ("tensor(*[x])", "TNS308"),
        ("tensor([1]), tensor(x)", "TNS308"),
        ("tensor([1", "TNS308"),
        ("tensor(1 if c else x)", "TNS308"),
        ("torch.Tensor(2)", "TNS301"),
        ("(torch.Tensor)(2)", "TNS301"),
        ("from torch import Tensor as T", "TNS301"),
        ("from torch import (Tensor as T)", "TNS301"),
        ("from torch import a, tensor \\\n  as t", "TNS308"),
        ("T = torch.FloatTensor", "TNS301"),
        ("T = torch.FloatTensor; y = 1", "TNS301"),
        ("T = torch.FloatTensor  # as ever", "TNS301"),
        ("T = torch.cuda.FloatTensor if c else torch.FloatTensor\r\n", "TNS301"),
        ("T = (torch.cuda.FloatTensor if c\n     else torch.FloatTensor)\n", "TNS301"),
        ("T = (torch.FloatTensor)", "TNS301"),
        ("x = (Tensor\n  # why\n  (3))", "TNS301"),
        ("T = (  # why\n    torch.FloatTensor\n    if c\n    else torch.cuda.FloatTensor\n)", "TNS301"),
        ("T = (\n    torch. \\\n  FloatTensor\n    if c\n    else None)", "TNS301"),
        ("x.utils.data.y; utils.data", "TNS201"),
        (f"tensor{' ' * 3000}(x)", "TNS308"),
        (f"(tensor  # {'why' * 500}\n)(x)", "TNS308"),
        ("(tensor\n" + "  # why\n" * 500 + ")(x)", "TNS308"),
        ("x.to(y, non_blocking=True)", "TNS108"),
        ("f(volatile=True)", "TNS402"),
        ("from torch.autograd import Variable", "TNS404"),
        ("x.detach()", "TNS104"),
    ],
)
def test_words_that_stand_where_they_matter(text: str, code: str) -> None:
    assert code in codes(text)


GAPS = st.sampled_from(["", " ", "\t", "\n", "\\\n", "  # why\n", "\n# why\n  # not\n", "\f", "\r\n"])


@pytest.mark.parametrize(
    ("entry", "word"),
    [(entry, word) for entry in RULES for word in sorted(entry.words)],
    ids=lambda each: getattr(each, "code", each),
)
def test_each_word_speaks_for_its_rule_alone_and_among_all(entry: RuleMetadata, word: str) -> None:
    text = f"y = f({word}=x)" if word in entry.triggers.names else f"y = a.{word}(x)"
    if word in entry.triggers.builtins:
        text = f"y = {word}(x)"
    if entry.triggers.packages:
        text = f"import {entry.triggers.packages[0]}, torch\n{text}"
    assert entry in triggered(frozenset([entry.code]), text.encode())
    assert entry.code in codes(f"import torch\nx = torch.Tensor\n{text}\n")
    assert entry.code not in codes(f"y = f(some_{word}, {word}_, {word}ish)")


@given(GAPS, GAPS, GAPS, st.sampled_from(["numpy", "new", "type"]))
def test_no_layout_hides_a_call(one: str, two: str, three: str, word: str) -> None:
    text = f"(x{one}.{two}{word}{three}(y))\n"
    (call,) = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    assert isinstance(call.func, ast.Attribute)
    assert codes(text)


@given(GAPS, GAPS, st.sampled_from(["tensor", "torch.tensor", "Tensor", "torch.cuda.FloatTensor"]))
def test_no_layout_hides_the_call_of_a_name(one: str, two: str, word: str) -> None:
    text = f"((({word}){one}){two}(y))\n"
    ast.parse(text)
    assert codes(text)


@given(GAPS, GAPS, st.sampled_from(["tensor", "FloatTensor"]), st.sampled_from(["", "a, "]))
def test_no_layout_hides_an_import(one: str, two: str, word: str, other: str) -> None:
    text = f"from torch import ({other}{one}{word} {two}as t)\n"
    ast.parse(text)
    assert codes(text)


@given(GAPS, GAPS, GAPS, GAPS, st.sampled_from(["(a.FloatTensor)", "(1)"]))
def test_no_layout_hides_another_name(one: str, two: str, three: str, four: str, other: str) -> None:
    text = f"T = ({one}torch{two}.FloatTensor{three} if c else{four} {other})\n"
    ast.parse(text)
    assert codes(text)


@pytest.mark.parametrize("path", sorted((ROOT / "tests" / "fixtures").rglob("*.py")), ids=lambda path: path.name)
def test_a_rule_is_silent_where_no_node_bears_one_of_its_words(path: Path) -> None:
    """What the index calls a candidate of a rule, the text must have called one before."""
    try:
        made = index_of(decode(path.name, path.read_bytes()))
    except SyntaxError:
        pytest.skip("no Python")
    spoken = codes(made.source.text)
    nodes = list(ast.walk(made.tree))
    behind_dots = {node.attr for node in nodes if isinstance(node, ast.Attribute) and not _is_package_path(node)}
    called = {node.func.attr for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)}
    for entry in RULES:
        if entry.code in CODES - spoken:
            triggers = entry.triggers
            if triggers.packages:
                nothing = frozenset[str]()
                says_tensor = "torch" in made.source.text or "ensor" in made.source.text
                assert not says_tensor or not candidate_regions(made, nothing, nothing, nothing, (triggers,))
                continue
            assert not behind_dots & {*triggers.attributes}, entry.code
            assert not called & {*triggers.methods}, entry.code
            words, functions = frozenset((*triggers.names, *triggers.functions)), frozenset(triggers.functions)
            assert not candidate_regions(made, words, functions), entry.code


@given(GAPS, GAPS)
def test_no_layout_hides_an_attribute(one: str, two: str) -> None:
    text = f"(x{one}.{two}data)\n"
    ast.parse(text)
    assert "TNS201" in codes(text)


@pytest.mark.parametrize("text", ["tensor([" * 20_000, "tensor(" + "[" * 100_000, "tensor([" + "[1]" * 50_000])
def test_what_is_never_closed_takes_no_time(text: str) -> None:
    assert codes(text)


@pytest.mark.parametrize(
    "text", ["# a tensor\n" * 5_000, "tensor\n" * 20_000, "tensor)" * 20_000 + "\n", "Tensor." * 20_000]
)
def test_what_is_never_called_takes_no_time(text: str) -> None:
    codes(text)


# ---------------------------------------------------------------------- whole files
EVERY = Config(select=tuple(sorted(EVERY_CODE)))


def files() -> Iterator[Path]:
    for folder in ("torchlint", "tests", "tools", "benchmarks"):
        yield from sorted((ROOT / folder).rglob("*.py"))


def found(raw: bytes, config: Config = EVERY, path: str = "some.py") -> tuple[object, ...]:
    result = check_bytes(path, raw, config)
    return (result.findings, result.suppressed, result.troubles, result.reads, result.passed_over)


NOTHING = found(b"")


def test_nothing_is_found_in_what_is_passed_over() -> None:
    passed = [path for path in files() if is_plain(path.name, path.read_bytes(), Config())]
    assert ROOT / "torchlint" / "version.py" in passed
    wrong = [path for path in passed if found(path.read_bytes(), Config(), path.name) != NOTHING]
    assert wrong == []


@pytest.mark.parametrize(
    "text",
    [
        "def f(:\n",
        "x = '\0'\n",
        "# coding: no-such\n",
        "x = b'\xe9'\n",
        "x.numpy()\n",
        "# noqa: TNS101\n",
        "# NOQA: tns101\n",
        "# TorchLint: disable\n",
        "x = " + "(" * 250 + ")" * 250 + "\n",
        "x = " + "-" * 100_000 + "1\n",
    ],
)
def test_the_engine_is_asked_where_it_may_have_something_to_say(text: str) -> None:
    assert not is_plain("some.py", text.encode("latin-1"), Config())


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("x = 1\n", "utf-8"),
        ("", "utf-8"),
        ("x = 1  # noqa\n", "utf-8"),
        ("x = '\\d'\n", "utf-8"),
        ("\ufeffx = 1\r\ny = 2\r", "utf-8"),
        ("# coding: latin-1\nx = 'é'\n", "latin-1"),
        ("x = 1  # fmt: skip\n", "utf-8"),
        ("\f\nx = 1\n", "utf-8"),
        ("def f(x):\n    global x\n", "utf-8"),
        ("nonlocal x\n", "utf-8"),
    ],
)
def test_what_holds_no_word_is_passed_over(text: str, encoding: str, recwarn: pytest.WarningsRecorder) -> None:
    raw = text.encode(encoding)
    assert is_plain("some.py", raw, EVERY)
    assert found(raw) == NOTHING
    assert not recwarn.list


def test_words_count_as_rules_are_selected() -> None:
    raw = b"x = old.data\n"
    assert is_plain("some.py", raw, Config(select=("TNS101",)))
    assert not is_plain("some.py", raw, Config(select=("TNS201",)))
    assert not is_plain("some.py", b"x = net.detach()\n", EVERY)
    assert is_plain("some.py", b"x = net.detach()\n", Config())


def test_a_notebook_is_never_passed_over() -> None:
    raw = b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
    assert not is_plain("some.ipynb", raw, Config())
    assert isinstance(check_bytes("some.ipynb", raw, Config()), FileResult)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python knows the statement")
def test_code_newer_than_this_python_is_left_to_the_engine() -> None:
    assert not is_plain("some.py", b"type X = int\n", Config())
