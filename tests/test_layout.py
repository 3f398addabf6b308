"""What is aligned with a bracket's content moves along with it, and nothing else does."""

from __future__ import annotations

import io
import tokenize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchlint.config import Config
from torchlint.diagnostics.layout import Layout
from torchlint.diagnostics.model import Edit
from torchlint.diagnostics.splice import apart
from torchlint.linter.engine import fix_bytes
from torchlint.source.text import decode


def laid_out(text: str, *changes: tuple[str, str]) -> str:
    """Return a text in which words that it has once are replaced, as a fix would be laid out."""
    source = decode("a.py", text.encode())
    edits = []
    for old, new in changes:
        assert source.utf8.count(old.encode()) == 1
        at = source.utf8.index(old.encode())
        edits.append(Edit(at, at + len(old.encode()), new))
    laid = Layout(source).of(tuple(edits))
    assert apart(laid)
    assert set(edits) <= set(laid)
    return spliced(source.utf8, laid).decode()


def spliced(raw: bytes, edits: tuple[Edit, ...]) -> bytes:
    for each in sorted(edits, key=lambda edit: edit.start, reverse=True):
        raw = raw[: each.start] + each.text.encode() + raw[each.end :]
    return raw


@pytest.mark.parametrize(
    "text",
    [
        "x = old(1, 2)\n",
        "x = old(\n    1,\n    2,\n)\n",
        "x = old(  # note\n        1)\n",
        "x = old(1,\n    2)\n",
        "x = (\n    old(\n        1\n    )\n)\n",
        "x = old(1,\n           2)\n",
        'x = old(1, """\n        a""")\n',
        "x = old(1) + \\\n    2\n",
        "x = old(1)\ny = (1,\n     2)\n",
        "\tx = old(1,\n                2)\n",
        "x = old(1,\n\t2)\n",
        "x = old(1,\n",
    ],
    ids=[
        "one row", "hanging", "hanging behind a comment", "less", "below a bracket", "more", "string", "backslash",
        "another statement", "blanks below tabs", "tabs below blanks", "no Python",
    ],
)  # fmt: skip
def test_what_is_not_aligned_stays(text: str) -> None:
    assert laid_out(text, ("old", "older")) == text.replace("old", "older")


@pytest.mark.parametrize(
    "text",
    [
        "x = old(1,\n>2)\n",
        "x = old([[1],\n> [2]])\n",
        "x = old(1,\n>f(2,\n>  3))\n",
        "x = old(1,\n>f(\n>    2\n>))\n",
        "x = old(1,\n># note\n>2\n>)\n",
        "x = old(1,\r\n>2)\r\n",
        "\tx = old(1,\n\t>2)\n",
        "é = old('é',\n>f(é,\n>  2))\n",
        'x = old(1,\n>"""\n        a""",\n>2)\n',
    ],
    ids=["plain", "lists", "two brackets", "hanging in aligned", "comment", "crlf", "tabs", "wide", "string"],
)
def test_what_is_aligned_moves_along(text: str) -> None:
    short = text.replace(">", " " * len("x = old("))
    long = text.replace(">", " " * len("x = longer(")).replace("old", "longer")
    assert laid_out(short, ("old", "longer")) == long
    assert laid_out(long, ("longer", "old")) == short


def test_a_closing_bracket_below_its_own_moves_along() -> None:
    assert laid_out("x = old(1\n       )\n", ("old", "longer")) == "x = longer(1\n          )\n"


def test_edits_on_several_rows_add_up() -> None:
    text = "x = old(a.data,\n        b.size(c,\n               d))\n"
    expected = "x = new_one(a,\n            b.detach().size(c,\n                            d))\n"
    assert laid_out(text, ("old", "new_one"), (".data", ""), ("b.size", "b.detach().size")) == expected


def test_a_removed_wrapper_takes_its_alignment_along() -> None:
    text = "x = Variable(torch.cat([a,\n                        b]))\n"
    assert laid_out(text, ("Variable(", ""), ("]))", "])")) == "x = torch.cat([a,\n               b])\n"


BUILT = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3))
        self.w.data.clamp_(-1.0,
                           1.0)
"""


def test_a_row_in_a_block_moves_with_the_block_and_with_its_bracket() -> None:
    done = fix_bytes("/alone/a.py", BUILT.encode(), Config()).raw.decode()
    block = "        with torch.no_grad():\n            self.w.clamp_(-1.0,\n                          1.0)\n"
    assert done.endswith(block)
    tabs = (
        BUILT.replace("        self.w.data", "\t\tself.w.data")
        .replace("    def", "\tdef")
        .replace("        s", "\t\ts")
    )
    tabs = tabs.replace(" " * 27 + "1.0", "\t\t" + " " * 19 + "1.0")
    done = fix_bytes("/alone/a.py", tabs.encode(), Config()).raw.decode()
    assert done.endswith("\t\t\tself.w.clamp_(-1.0,\n\t\t\t" + " " * 14 + "1.0)\n")


BRACKETS = ["f(", "(", "[", "{", ")", "]", "}"]
BLANKS = ["\n", "\n  ", "\n      ", "\n\t", "\r\n   ", "\f", "\\\n", "if x:\n    "]
PARTS = st.sampled_from([*BRACKETS, *BLANKS, "a", "bb", ", ", "é", "# c\n", "'''", "' '", ";", " = "])


@given(st.lists(PARTS, max_size=30), st.data())
def test_only_the_blanks_before_rows_change(parts: list[str], data: st.DataObject) -> None:
    source = decode("a.py", "".join(parts).encode())
    places = st.integers(0, len(source.text))
    ends = sorted(data.draw(st.lists(places, max_size=6)))
    starts = [len(source.text[:at].encode()) for at in ends]
    words = st.sampled_from(["", "w", "long", "with x:\n    "])
    pairs = zip(starts[::2], starts[1::2], strict=False)
    edits = tuple(Edit(start, end, data.draw(words)) for start, end in pairs)
    if not apart(edits):
        return
    limit = data.draw(st.sampled_from([4, 8, 12, 100]))
    whole = spliced(source.utf8, Layout(source, limit).of(edits)).decode()
    assert words_of(whole) == words_of(spliced(source.utf8, edits).decode())
    laid = Layout(source, 1000).of(edits)
    assert apart(laid)
    assert set(edits) <= set(laid)
    for each in set(laid) - set(edits):
        assert each.text.strip(" ") == source.slice(each.start, each.end).strip(" ") == ""
    plain, moved = spliced(source.utf8, edits).decode(), spliced(source.utf8, laid).decode()
    assert [*map(str.lstrip, plain.splitlines())] == [*map(str.lstrip, moved.splitlines())]
    assert words_of(plain) == words_of(moved)


def words_of(text: str) -> list[str] | None:
    try:
        found = tokenize.generate_tokens(io.StringIO(text, newline="").readline)
        return [each.string for each in found if each.type not in (tokenize.INDENT, tokenize.DEDENT, tokenize.NL)]
    except (tokenize.TokenError, SyntaxError):
        return None
