"""Rows, columns and edits between editor and linter: every unit of columns, newline and mark, and edits in ranges."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="pygls is not installed")

from hypothesis import given
from hypothesis import strategies as st
from lsprotocol.types import Position, Range

from torchlint.server.editor_text import Text, differences
from torchlint.source.text import decode, encoded

from .editor import ABLE, ROOT, Editor, Message, applied

ENCODINGS = ("utf-8", "utf-16", "utf-32")
WIDTHS = {"utf-8": 4, "utf-16": 2, "utf-32": 1}
TEXTS = st.text("ab é\u2028\x0c𝒳\r\n", max_size=40)
MARKED = st.builds("".join, st.tuples(st.sampled_from(["", "\ufeff"]), TEXTS))


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    made = Editor(tmp_path)
    yield made
    made.kill()


def able(encoding: str) -> Message:
    return {**ABLE, "general": {"positionEncodings": [encoding]}}


# ---------------------------------------------------------------------- through the server
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "bom"])
def test_columns_are_counted_as_agreed(encoding: str, newline: str, mark: str, editor: Editor) -> None:
    said = editor.start(able(encoding))
    assert said["capabilities"]["positionEncoding"] == encoding
    text = mark + newline.join(
        ["import torch; 𝒳 = torch.Tensor(3)", 's = "𝒳é\u2028"; 𝒳 = torch.ones(1, requires_grad=True).numpy()', ""]
    )
    uri = (editor.folder / "a.py").as_uri()
    editor.open(uri, text)
    width = WIDTHS[encoding]
    first, second = editor.diagnostics(uri, 1)
    begin = len("import torch;  = torch.") + width + (3 if encoding == "utf-8" else 1) * bool(mark)
    assert first["range"] == {"start": {"line": 0, "character": begin}, "end": {"line": 0, "character": begin + 6}}
    accent, separator = (2, 3) if encoding == "utf-8" else (1, 1)
    begin = len('s = ""; ') + 2 * width + accent + separator + len(" = torch.ones(1, requires_grad=True).")
    assert second["range"] == {"start": {"line": 1, "character": begin}, "end": {"line": 1, "character": begin + 5}}
    assert editor.hover(uri, 1, begin + 1)["contents"]["value"].split("\n\n---\n\n")[1].startswith("### TNS101")
    fix, silence, fix_all = (editor.resolved(each) for each in editor.actions(uri, 1, begin))
    wanted = {
        fix["title"]: text.replace(".numpy()", ".detach().numpy()"),
        silence["title"]: text.replace(".numpy()", ".numpy()  # noqa: TNS101"),
        fix_all["title"]: text.replace(".numpy()", ".detach().numpy()").replace("Tensor(3)", "empty(3)"),
    }
    for action in (fix, silence, fix_all):
        (change,) = action["edit"]["documentChanges"]
        assert applied(text, change["edits"], encoding) == wanted[action["title"]]


def test_without_a_word_columns_are_utf_16(editor: Editor) -> None:
    assert editor.start({})["capabilities"]["positionEncoding"] == "utf-16"


def test_a_coding_line_is_heeded_as_on_disk(editor: Editor) -> None:
    editor.start()
    text = '# -*- coding: latin-1 -*-\nimport torch\ns = "é"; x = torch.Tensor(3)\n'
    path = editor.folder / "a.py"
    path.write_bytes(text.encode("latin-1"))
    editor.open(path.as_uri(), text)
    (found,) = editor.diagnostics(path.as_uri(), 1)
    assert found["range"]["start"] == {"line": 2, "character": 19}
    (action,) = editor.actions(path.as_uri(), 0, 0, ["source.fixAll"])
    (change,) = editor.resolved(action)["edit"]["documentChanges"]
    edited = applied(text, change["edits"])
    subprocess.run(
        [sys.executable, "-m", "torchlint", "--fix", "--quiet", "a.py"],
        cwd=editor.folder,
        env={"PYTHONPATH": str(ROOT)},
        check=True,
        timeout=120,
    )
    assert edited.encode("latin-1") == path.read_bytes()


def test_a_character_that_the_coding_lacks_moves_nothing(editor: Editor) -> None:
    editor.start()
    uri = (editor.folder / "a.py").as_uri()
    text = '# coding: ascii\nimport torch\ns = "𝒳"; x = torch.Tensor(3)\n'
    editor.open(uri, text)
    found = editor.diagnostics(uri, 1)
    assert [(each["code"], each["range"]["start"]) for each in found] == [("TNS302", {"line": 2, "character": 20})]


def test_edits_in_ranges_give_the_text_that_the_editor_has(editor: Editor) -> None:
    editor.start()
    uri = (editor.folder / "a.py").as_uri()
    text = "import torch\r\n\x0cx = '𝒳\x0c'\r\n\r\nprint(x)"
    editor.open(uri, text)
    assert editor.diagnostics(uri, 1) == []

    def place(line: int, start: int, end_line: int, end: int) -> Message:
        return {"start": {"line": line, "character": start}, "end": {"line": end_line, "character": end}}

    steps = [
        (place(3, 6, 3, 7), "torch.Tensor(3)"),  # print(torch.Tensor(3))
        (place(2, 0, 2, 0), "y = torch.Tensor(4)"),
        (place(1, 5, 1, 10), '"𝒳"; z = torch.Tensor(5)'),  # behind a form feed and over a pair of UTF-16 units
        (place(3, 99, 9, 9), "\r\nw = torch.Tensor(6)\r\n"),  # behind the end
        (place(0, 12, 1, 1), "\n"),  # a newline and a form feed
    ]
    for version, (where, new) in enumerate(steps, start=2):
        text = Text(text).replaced(Range(Position(**where["start"]), Position(**where["end"])), new).text
        editor.change(uri, version, {"range": where, "text": new})
    assert text == (
        'import torch\nx = "𝒳"; z = torch.Tensor(5)\r\ny = torch.Tensor(4)\r\nprint(torch.Tensor(3))\r\n'
        "w = torch.Tensor(6)\r\n"
    )
    found = [each["range"]["start"] for each in editor.diagnostics(uri, 6)]
    assert found == [
        {"line": 1, "character": 20},
        {"line": 2, "character": 10},
        {"line": 3, "character": 12},
        {"line": 4, "character": 10},
    ]


def test_several_edits_of_one_notice_are_made_one_after_another(editor: Editor) -> None:
    editor.start()
    uri = (editor.folder / "a.py").as_uri()
    editor.open(uri, "")
    one = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
    two = {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 0}}
    editor.change(uri, 2, {"range": one, "text": "import torch\n"}, {"range": two, "text": "x = torch.Tensor(3)"})
    assert [each["code"] for each in editor.diagnostics(uri, 2)] == ["TNS302"]


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("abc", "abc", []),
        ("", "ab", [(0, 0, 0, 2)]),
        ("ab", "", [(0, 2, 0, 0)]),
        ("a_b_c", "a_X_c", [(2, 3, 2, 3)]),
        ("a1b2c", "aXbYc", [(1, 2, 1, 2), (3, 4, 3, 4)]),
        ("__a_", "_a__", [(1, 2, 1, 1), (3, 3, 2, 3)]),
        ("import x a b".split(" "), "import a c b".split(" "), [(1, 2, 1, 1), (3, 3, 2, 3)]),
    ],
)  # fmt: skip
def test_only_rows_that_differ_are_touched(old: str, new: str, found: list[tuple[int, int, int, int]]) -> None:
    assert list(differences(list(old), list(new))) == found


# ---------------------------------------------------------------------- any text
@given(TEXTS, TEXTS, st.sampled_from(ENCODINGS))
def test_edits_make_the_wanted_text(one: str, other: str, encoding: str) -> None:
    found = [
        {
            "range": {
                "start": {"line": each.range.start.line, "character": each.range.start.character},
                "end": {"line": each.range.end.line, "character": each.range.end.character},
            },
            "newText": each.new_text,
        }
        for each in Text(one, encoding).edits(other)
    ]
    assert applied(one, found, encoding) == other


@given(MARKED, st.sampled_from(ENCODINGS), st.data())
def test_a_place_leads_there_and_back(text: str, encoding: str, data: st.DataObject) -> None:
    made, source = Text(text, encoding), decode("a.py", encoded(text))
    offset = len(source.text[: data.draw(st.integers(0, len(source.text)))].encode())
    row, column = source.position(offset)
    place = made.position(row, column)
    if source.line(row)[column - 1 :] or offset == len(source.utf8):  # not between `\r` and `\n`
        assert made.address(place) == (row, column)
    assert place.line == row - 1


@given(MARKED, st.sampled_from(ENCODINGS), st.integers(0, 9), st.integers(0, 60))
def test_a_place_behind_a_row_is_its_end(text: str, encoding: str, line: int, character: int) -> None:
    made = Text(text, encoding)
    row, column = made.address(Position(line, character))
    again = made.position(row, column)
    assert (again.line, again.character) <= (max(line, again.line), max(character, again.character))
    assert made.address(again) == (row, column)
