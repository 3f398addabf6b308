"""Lines that a fix makes too long are broken in the bracket that grew, and where there is none they stay."""

from __future__ import annotations

import pytest

from tests.test_layout import spliced
from torchlint.config import Config
from torchlint.diagnostics.layout import Layout
from torchlint.diagnostics.model import Edit, Settings
from torchlint.diagnostics.splice import apart
from torchlint.linter.engine import fix_bytes
from torchlint.source.text import decode

LIMIT = 40


def broken(text: str, *edits: Edit, limit: int | None = LIMIT) -> str:
    source = decode("a.py", text.encode())
    laid = Layout(source, limit).of(edits)
    assert apart(laid)
    return spliced(source.utf8, laid).decode()


def longer(text: str, limit: int | None = LIMIT) -> str:
    """Return a text in which `.data` is replaced by a longer word."""
    at = text.encode().index(b".data")
    return broken(text, Edit(at, at + 5, ".detach()"), limit=limit)


@pytest.mark.parametrize(
    "text",
    [
        "x = f(a.data, bbbbbbbbbbbbbbbbbb)\n",
        "x = aaaaaaaaaaaaaaaaaaaaaaaaaaaaa.data\n",
        "x = f(a.data, bbbbbbbbbbbbbbbb)  # a note\n",
        "x = f(a.data, bbbbbbbbbbbbbbbbbbbbb, cccccccccccccccccc, dd)\n",
        "x = f(a.data, bbbbbbbbbbbbbbb).ccccccccccccccccccccccccccccccccc\n",
        "x = aaaaaaaaaaaaaaaaaaaaaaaa[b.data, cc]\n",
        "x = f(a.data, bbbbbbbbbbbbbbbbb, '''\n''')\n",
        "x = f(a.data, bbbbbbbbbbbbbbbb).g(ccc,\n  d)\n",
        "x = aaaaaaaaaaaaaaaaa.data.bbbb(cccccc)\n",
        "x = f'{f(a.data, bbbbbbbbbbbbbbbbbbbb)}'\n",
        "x = f(a.data, bbbbbbbbbbbbbbbbbbbbbb)\r",
        "x = f(a.data, bbbbbbbbbbbbbbbbbbbbbbb\n",
    ],
    ids=[
        "fits", "no bracket", "comment", "long before", "tail", "index", "string", "open behind", "chain", "f-string",
        "bare return", "no Python",
    ],
)  # fmt: skip
def test_lines_that_are_not_broken(text: str) -> None:
    assert longer(text) == text.replace(".data", ".detach()")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = f(a.data, bbbbbbbbbbbbbbbbbbbbbbb)\n", "x = f(\n    a.detach(), bbbbbbbbbbbbbbbbbbbbbbb\n)\n"),
        ("x = f(a.data, bbbbbbbbbbbbbbbbbbbbbb)\r\n", "x = f(\n    a.detach(), bbbbbbbbbbbbbbbbbbbbbb\n)\r\n"),
        ("if x:\n  y = f( g(a.data), bbbbbbbbbbbbbbbb )\n",
         "if x:\n  y = f(\n    g(a.detach()), bbbbbbbbbbbbbbbb\n  )\n"),
        ("if x:\n\ty = f(g(a.data), bbbbbbbbbbbbbb)\n", "if x:\n\ty = f(g(a.detach()), bbbbbbbbbbbbbb)\n"),
        ("if x:\n\ty = f(a.data, bbbbbbbbbbbbbbbbbbbbb)\n",
         "if x:\n\ty = f(\n\t\ta.detach(), bbbbbbbbbbbbbbbbbbbbb\n\t)\n"),
        ("x = f([a.data for a in bbbbbbbbbbbbb])\n", "x = f(\n    [a.detach() for a in bbbbbbbbbbbbb]\n)\n"),
        ("f(aaa,\n  bbbbbb(a.data, cccccccccccccccccccc),\n  d)\n",
         "f(aaa,\n  bbbbbb(\n      a.detach(), cccccccccccccccccccc\n  ),\n  d)\n"),
    ],
    ids=[
        "call", "crlf", "two blanks", "tabs that fit", "tabs", "outermost", "within a bracket",
    ],
)  # fmt: skip
def test_lines_that_grow_too_long_are_broken_in_the_bracket_that_grew(text: str, expected: str) -> None:
    assert longer(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("xx = f(a.data, bbbbbbbb, cccccc)\n", "xx = f(\n    a.W,\n    bbbbbbbb,\n    cccccc,\n)\n"),
        ("xx = f(a.data, *bbbb, c=(d, e),)\n", "xx = f(\n    a.W,\n    *bbbb,\n    c=(d, e),\n)\n"),
        ("xxxxxxxx = f(g(a.data, bb))\n", "xxxxxxxx = f(\n    g(a.W, bb)\n)\n"),
        ("xx = f(ggggg(a.data, bbbbbbbb))\n", "xx = f(\n    ggggg(\n        a.W, bbbbbbbb\n    )\n)\n"),
        ("xx = f(a.data, b).c(dddd, 1).ee\n", "xx = f(\n    a.W, b\n).c(dddd, 1).ee\n"),
        ("xx = f(a.data, b).c(dddd, 1) + 3\n", "xx = f(a.W, b).c(dddd, 1) + 3\n"),
        ("xxx = f(lambda b, c: a.data)\n", "xxx = f(\n    lambda b, c: a.W\n)\n"),
        ("xxxxxx = f(lambda b, c: a.data, ddddddd)\n", "xxxxxx = f(lambda b, c: a.W, ddddddd)\n"),
        ("xxxxxxx = [a.data for a in b]\n", "xxxxxxx = [\n    a.W for a in b\n]\n"),
        ("xxxx = [a.data for a, bbbb in cccccccc]\n", "xxxx = [a.W for a, bbbb in cccccccc]\n"),
    ],
    ids=[
        "each part", "comma behind the last", "one part that fits", "one part that does not", "chain", "more behind",
        "lambda", "long lambda", "comprehension", "long comprehension",
    ],
)  # fmt: skip
def test_parts_that_do_not_fit_on_one_line(text: str, expected: str) -> None:
    word = ".detached_and_then_cloned()"
    at = text.index(".data")
    assert broken(text, Edit(at, at + 5, word), limit=48) == expected.replace(".W", word)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = f(\n    a, g(b.data, bbbbbbbbbbbbbbbbb), c\n)\n",
         "x = f(\n    a,\n    g(b.detach(), bbbbbbbbbbbbbbbbb),\n    c,\n)\n"),
        ("x = f(\n    a, g(b.data, bbbbbbbbbbbbbbbbb), c,\n)\n",
         "x = f(\n    a,\n    g(b.detach(), bbbbbbbbbbbbbbbbb),\n    c,\n)\n"),
        ("x = [\r\n\ta.data, b(bbbbbbbbbbbbbbbbbbbbbbbbbbb)\r\n]\r\n",
         "x = [\r\n\ta.detach(),\n\tb(bbbbbbbbbbbbbbbbbbbbbbbbbbb),\r\n]\r\n"),
        ("x = f(a,\n    b, g(b.data, bbbbbbbbbbbbbbbbb), c\n)\n",
         "x = f(a,\n    b, g(b.detach(), bbbbbbbbbbbbbbbbb), c\n)\n"),
        ("x = f(\n    a.data, g(bbbbbbbbbbbbbbbbbb), ccc)\n",
         "x = f(\n    a.detach(), g(bbbbbbbbbbbbbbbbbb), ccc)\n"),
        ("x = [\n    f(b.data, bbbb) for b in cccccccccccc\n]\n",
         "x = [\n    f(b.detach(), bbbb) for b in cccccccccccc\n]\n"),
        ("x = f(\n    a, g(b.data, bbbbbbbbbbbbbbbbbbbbbb)\n)\n",
         "x = f(\n    a, g(\n        b.detach(),\n        bbbbbbbbbbbbbbbbbbbbbb,\n    )\n)\n"),
    ],
    ids=["a row of its own", "a last comma", "crlf", "not all", "an end behind", "one part", "a part too long"],
)  # fmt: skip
def test_a_row_that_holds_all_of_a_bracket_is_broken_between_its_parts(text: str, expected: str) -> None:
    assert longer(text) == expected


def test_a_row_that_grows_at_its_end_is_broken_between_its_parts() -> None:
    text = "x = f(\n    aaaa, g([[1, 2, 3], [4, 5, 6]])\n)\n"
    at = text.index(")")
    expected = "x = f(\n    aaaa,\n    g([[1, 2, 3], [4, 5, 6]], dtype=d),\n)\n"
    assert broken(text, Edit(at, at, ", dtype=d")) == expected


def test_an_argument_that_is_added_and_a_name_that_grows_are_broken_around() -> None:
    edits = Edit(10, 16, "tensor"), Edit(36, 36, ", dtype=float")
    laid = broken("x = torch.Tensor([1.0, 2.0, 3.0], [4])\n"[:-2] + ")\n", *edits)
    assert laid.startswith("x = torch.tensor(\n    [1.0")
    assert laid.endswith("\n)\n")


def test_a_line_that_moves_into_a_block_is_broken_at_its_last_bracket() -> None:
    text = "if x:\n    aaaaaaaaaa(b).cccccccccc(ddd, eee)\n"
    block = "if x:\n    with g():\n        aaaaaaaaaa(b).cccccccccc(\n            ddd, eee\n        )\n"
    assert broken(text, Edit(6, 6, "    with g():\n    ")) == block


@pytest.mark.parametrize(("width", "rows"), [(60, 3), (79, 3), (80, 3), (81, 1), (130, 1)])
def test_without_a_limit_the_longest_line_of_code_is_one(width: int, rows: int) -> None:
    other = f"{'y' * (width - 4)} = 1\n# {'note ' * 40}\nz = '''\n{'text ' * 40}\n'''\n"
    laid = longer(f"{other}x = f(a.data, {'b' * 62})\n", limit=None)
    assert len(laid.removeprefix(other).splitlines()) == rows


WRAPPED = """\
import numpy as np
import torch
from torch.autograd import Variable
from torch.cuda import FloatTensor as Tensor


def made(rows, columns):
    return Variable(Tensor(np.ones((rows, columns))), requires_grad=False)
"""
UNWRAPPED = """\
    return torch.as_tensor(
        np.ones((rows, columns)), dtype=torch.float32, device="cuda"
    )
"""


@pytest.mark.parametrize("limit", [80, 110])
def test_a_line_that_several_fixes_make_too_long_is_broken(limit: int) -> None:
    config = Config(select=("TNS304", "TNS401"), unsafe_fixes=True, settings=Settings(line_length=limit))
    after = fix_bytes("<example>", WRAPPED.encode(), config).raw.decode()
    joined = UNWRAPPED.replace("(\n        ", "(").replace("\n    )", ")")
    assert after.endswith(UNWRAPPED if limit == 80 else joined)


TWO = """\
import torch


def encode(text):
    length = [len(each) for each in text]
    words = [ord(each) for each in text]
    if text:
        return ({}torch.IntTensor(words), torch.IntTensor(length))
"""


@pytest.mark.parametrize("first", ["", "0, "])
def test_fixes_that_break_the_same_bracket_break_it_once(first: str) -> None:
    text = TWO.format(first)
    outcome = fix_bytes("<example>", text.encode(), Config(settings=Settings(line_length=79), unsafe_fixes=True))
    assert outcome.raw.decode().splitlines()[7:] == [
        "        return (",
        *(["            0,"] if first else []),
        "            torch.tensor(words, dtype=torch.int32),",
        "            torch.tensor(length, dtype=torch.int32),",
        "        )",
    ]


def test_fixes_of_two_statements_are_broken_apart() -> None:
    text = "import torch\n\nfirst = [torch.LongTensor([1, 2, 3])]\nsecond = [torch.LongTensor([1, 2, 3])]\n"
    outcome = fix_bytes("<example>", text.encode(), Config(settings=Settings(line_length=50)))
    assert outcome.raw.decode() == (
        "import torch\n\nfirst = [\n    torch.tensor([1, 2, 3], dtype=torch.int64)\n]\n"
        "second = [\n    torch.tensor([1, 2, 3], dtype=torch.int64)\n]\n"
    )
