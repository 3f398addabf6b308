"""Which rules a text may concern: by their words, where these matter, before anything is parsed."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ROOT
from torchlint.catalogue import CATALOGUE, Entry
from torchlint.source import decode
from torchlint.syntax.outline import outline
from torchlint.syntax.stretches import stretches
from torchlint.triggers import speaking

LITERALS = (ast.Constant, ast.List, ast.ListComp, ast.UnaryOp)
CODES = frozenset(entry.code for entry in CATALOGUE if entry.words)


def codes(text: str) -> set[str]:
    return {entry.code for entry in speaking(CODES, text.encode())}


@pytest.mark.parametrize(
    "text",
    [
        "import numpy as np\nfrom torch.utils import data_dir\n",
        "data = database.read(new_data, data=1)\n",
        "print(type(x), dtype(x), newline, x.new_zeros(1), numpy(x), new(3))\n",
        "def f(x: torch.Tensor, y: Optional[torch.Tensor] = None) -> torch.Tensor:\n    return {'Tensor': y}\n",
        "x.type, x.new, x.numpy, x.detach, y\n",
        "variable = volatile_ + Variables\n",
        "x.metadata, x.data_, x.adata, mydata.x\n",
        "tensors(1), tensor_like(2), x.to_tensor(3)\n",
        "tensor(1), tensor(-1.5, dtype=d), torch.tensor ( 1e-3 ), tensor(True), tensor(1_0)\n",
        "tensor([x, y]), (torch.tensor)([[1, 2], [x[0], 3]], device=d), tensor([]), tensor(\n    [1,\n     2],\n)\n",
        "tensor([x for x in y if x]), tensor([1, 'a', x.y])\n",
        "numpy(x)\n  # no dot\ndata = 1\n'the end. ' + data\n",
        "import torch.utils.data\nfrom torch.utils.data import DataLoader\ntorch.utils.data.DataLoader(x)\n",
        "# to a tensor\n'''Gives a torch.Tensor\n\nor a FloatTensor\n'''\ndef f(x: torch.Tensor) -> Tensor:\n    x\n",
        "f = tensor([1]); g = torch.tensor\nisinstance(x, Tensor)\nassert isinstance(x, (int, Tensor))\n",
        "tensor([[[[[[1], [2]]]]]])",
        '"""Takes a tensor as input, as many tensor(s) as a tensor (of any size).\n\n  tensor as input\n"""\n',
        "x = 1  # the tensor(x) and a Tensor (y)\n",
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
    [(entry, word) for entry in CATALOGUE for word in sorted(entry.words)],
    ids=lambda each: getattr(each, "code", each),
)
def test_each_word_speaks_for_its_rule_alone_and_among_all(entry: Entry, word: str) -> None:
    text = f"y = a.{word}(x)" if entry.called or entry.attribute else f"y = f({word}=x)"
    assert entry in speaking(frozenset([entry.code]), text.encode())
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
    """What the outline calls a candidate of a rule, the text must have called one before."""
    try:
        made = outline(decode(path.name, path.read_bytes()))
    except SyntaxError:
        pytest.skip("no Python")
    spoken = codes(made.source.text)
    for entry in CATALOGUE:
        if entry.code in CODES - spoken:

            def counts(node: ast.AST, _: str, entry: Entry = entry) -> bool:
                above = made.parents.get(node)
                literal = isinstance(above, ast.Call) and above.args[:1] and isinstance(above.args[0], LITERALS)
                return not (entry.unless_literal and literal) and (
                    isinstance(node, ast.Attribute) or not entry.attribute
                )

            called = entry.words if entry.called else frozenset[str]()
            assert not stretches(made, entry.words, called, counts), entry.code


@given(GAPS, GAPS)
def test_no_layout_hides_an_attribute(one: str, two: str) -> None:
    text = f"(x{one}.{two}data)\n"
    ast.parse(text)
    assert "TNS201" in codes(text)


PIECES = st.lists(
    st.sampled_from(["[", "]", "(", ")", "x", ",", "1", "-", "*", "2.5", "e3", " ", "\n", "for x in y", "."])
)


@given(PIECES)
def test_only_literals_are_passed_over(pieces: list[str]) -> None:
    text = f"tensor({''.join(pieces)})\n"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (statement,) = ast.parse(text).body
    except (SyntaxError, ValueError):
        return
    if codes(text):
        return
    assert isinstance(statement, ast.Expr)
    assert isinstance(statement.value, ast.Call)
    first = statement.value.args[0]
    while isinstance(first, ast.Attribute):  # `2.5.e3`: no attribute of a number is a tensor
        first = first.value
    assert isinstance(first, LITERALS)


@pytest.mark.parametrize("text", ["tensor([" * 20_000, "tensor(" + "[" * 100_000, "tensor([" + "[1]" * 50_000])
def test_what_is_never_closed_takes_no_time(text: str) -> None:
    assert codes(text)


@pytest.mark.parametrize(
    "text", ["# a tensor\n" * 5_000, "tensor\n" * 20_000, "tensor)" * 20_000 + "\n", "Tensor." * 20_000]
)
def test_what_is_never_called_takes_no_time(text: str) -> None:
    codes(text)
