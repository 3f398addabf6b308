"""Notebooks in an editor: cells of code are one module, and everything is told and done cell by cell."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from .editor import ROOT, Editor, Message, applied

pytest.importorskip("pygls", reason="pygls is not installed")

CELLS = [
    ("code", "import torch\n%matplotlib inline"),
    ("markdown", "# x.numpy()"),
    ("code", "net = torch.nn.Linear(2, 2)\nx = net(torch.ones(2))"),
    ("code", "!ls\n  \nb = torch.Tensor(3)\na = x.numpy()"),
]


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    made = Editor(tmp_path)
    yield made
    made.kill()


def cell(notebook: str, number: int) -> str:
    return f"{notebook.replace('file:', 'vscode-notebook-cell:')}#W{number}"


def item(uri: str, text: str, version: int = 1, language: str = "python") -> Message:
    return {"uri": uri, "languageId": language, "version": version, "text": text}


def open_notebook(editor: Editor, uri: str, cells: Sequence[tuple[str, str]]) -> None:
    kinds = {"code": 2, "sql": 2, "markdown": 1}
    languages = {"code": "python", "sql": "sql"}
    every = [(cell(uri, number), kind, text) for number, (kind, text) in enumerate(cells)]
    editor.notify(
        "notebookDocument/didOpen",
        {
            "notebookDocument": {
                "uri": uri,
                "notebookType": "jupyter-notebook",
                "version": 1,
                "cells": [{"kind": kinds[kind], "document": each} for each, kind, _ in every],
            },
            "cellTextDocuments": [
                item(each, text, language=languages[kind]) for each, kind, text in every if kind in languages
            ],
        },
    )


def change_notebook(editor: Editor, uri: str, version: int, cells: Message) -> None:
    editor.notify(
        "notebookDocument/didChange",
        {"notebookDocument": {"uri": uri, "version": version}, "change": {"cells": cells}},
    )


def told(editor: Editor, uris: Sequence[str]) -> dict[str, list[tuple[str, int, int]]]:
    """Wait for the diagnostics of each cell."""
    found = {}
    for uri in uris:
        diagnostics = editor.diagnostics(uri)
        starts = [(each["code"], each["range"]["start"]) for each in diagnostics]
        found[uri] = [(code, start["line"], start["character"]) for code, start in starts]
    return found


def test_cells_are_one_module_and_each_gets_its_own_diagnostics(editor: Editor) -> None:
    editor.start()
    uri = (editor.folder / "a.ipynb").as_uri()
    open_notebook(editor, uri, CELLS)
    first, third, fourth = (cell(uri, number) for number in (0, 2, 3))
    assert editor.diagnostics(first, 1) == []
    assert editor.diagnostics(third, 1) == []
    constructor, numpy = editor.diagnostics(fourth, 1)
    assert constructor["range"]["start"] == {"line": 2, "character": 10}
    assert numpy["range"]["start"] == {"line": 3, "character": 6}
    assert numpy["relatedInformation"] == [
        {
            "location": {
                "uri": third,
                "range": {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 22}},
            },
            "message": "`net(torch.ones(2))` is the output of a module with parameters, cell 3, line 2",
        }
    ]
    assert editor.hover(fourth, 3, 4)["contents"]["value"].startswith("`x`: tensor, requires grad, on the host\n")
    assert editor.hover(fourth, 0, 1) is None  # a command of the shell
    editor.notify(
        "notebookDocument/didClose",
        {"notebookDocument": {"uri": uri}, "cellTextDocuments": [{"uri": each} for each in (first, third, fourth)]},
    )
    assert told(editor, [first, third, fourth]) == {first: [], third: [], fourth: []}


def test_repairs_are_those_of_the_command_line_cell_by_cell(editor: Editor) -> None:
    cells = [*CELLS, ("code", "  c = torch.Tensor(5)\n  d = x.numpy()")]  # IPython runs what is indented as a whole
    path = editor.folder / "a.ipynb"
    path.write_text(
        json.dumps(
            {
                "nbformat": 4,
                "nbformat_minor": 5,
                "metadata": {},
                "cells": [{"cell_type": kind, "source": text} for kind, text in cells],
            }
        )
    )
    editor.start()
    open_notebook(editor, path.as_uri(), cells)
    fourth, fifth = cell(path.as_uri(), 3), cell(path.as_uri(), 4)
    fix, silence, fix_all = (editor.resolved(each) for each in editor.actions(fourth, 3, 7))
    (change,) = fix["edit"]["documentChanges"]
    assert change["textDocument"] == {"uri": fourth, "version": 1}
    assert applied(cells[3][1], change["edits"]) == cells[3][1].replace("x.numpy()", "x.detach().numpy()")
    (change,) = silence["edit"]["documentChanges"]
    assert applied(cells[3][1], change["edits"]) == cells[3][1] + "  # noqa: TNS101"
    texts = {change["textDocument"]["uri"]: change["edits"] for change in fix_all["edit"]["documentChanges"]}
    edited = {uri: applied(cells[number][1], texts[uri]) for uri, number in ((fourth, 3), (fifth, 4))}
    assert set(texts) == {fourth, fifth}
    subprocess.run(
        [sys.executable, "-m", "torchlint", "--fix", "--quiet", "a.ipynb"],
        cwd=editor.folder,
        env={"PYTHONPATH": str(ROOT)},
        check=True,
        timeout=120,
    )
    written = [each["source"] for each in json.loads(path.read_text())["cells"]]
    assert [edited[fourth], edited[fifth]] == written[3:]
    assert edited[fifth] == "  c = torch.empty(5)\n  d = x.detach().numpy()"


def test_cells_come_go_and_change(editor: Editor) -> None:
    editor.start()
    uri = (editor.folder / "a.ipynb").as_uri()
    open_notebook(editor, uri, CELLS)
    first, third, fourth, new = (cell(uri, number) for number in (0, 2, 3, 9))
    told(editor, [first, third, fourth])
    where = {"start": {"line": 1, "character": 22}, "end": {"line": 1, "character": 22}}
    text = {"document": {"uri": third, "version": 2}, "changes": [{"range": where, "text": ".detach()"}]}
    change_notebook(editor, uri, 2, {"textContent": [text]})
    assert told(editor, [third, fourth]) == {third: [], fourth: [("TNS302", 2, 10)]}
    array = {"start": 1, "deleteCount": 1, "cells": [{"kind": 2, "document": new}]}
    structure = {"array": array, "didOpen": [item(new, "x = torch.Tensor(2)")], "didClose": []}
    change_notebook(editor, uri, 3, {"structure": structure})
    old = [("TNS302", 2, 10)]
    assert told(editor, [first, new, third, fourth]) == {first: [], new: [("TNS302", 0, 10)], third: [], fourth: old}
    array = {"start": 1, "deleteCount": 1, "cells": []}
    change_notebook(editor, uri, 4, {"structure": {"array": array, "didOpen": [], "didClose": [{"uri": new}]}})
    assert told(editor, [new, first, third, fourth]) == {new: [], first: [], third: [], fourth: old}
    change_notebook(editor, uri, 5, {"data": [{"kind": 1, "document": fourth}]})
    assert editor.diagnostics(fourth) == []


def test_a_cell_that_does_not_parse_hides_no_other_and_other_languages_are_left_alone(editor: Editor) -> None:
    editor.start()
    uri = "untitled:Untitled-1.ipynb"
    kinds = [("code", "import torch"), ("sql", "SELECT ("), ("code", "x = ("), ("code", "b = torch.Tensor(3)")]
    open_notebook(editor, uri, kinds)
    first, third, fourth = (cell(uri, number) for number in (0, 2, 3))
    assert told(editor, [first, third, fourth]) == {first: [], third: [("TNS900", 0, 4)], fourth: [("TNS302", 0, 10)]}
    assert cell(uri, 1) not in [each["params"].get("uri") for each in editor.told]


def test_a_notebook_that_is_open_as_text_is_told_and_repaired_in_its_json(editor: Editor) -> None:
    path = editor.folder / "a.ipynb"
    text = json.dumps(
        {
            "cells": [{"cell_type": "code", "source": ["import torch\n", 's = "𝒳"; b = torch.Tensor(3)']}],
            "metadata": {},
            "nbformat": 4,
            "nbformat_minor": 5,
        },
        ensure_ascii=False,
        indent=1,
    )
    path.write_text(text, encoding="utf-8")
    editor.start()
    editor.open(path.as_uri(), text, language="json")
    (found,) = editor.diagnostics(path.as_uri(), 1)
    row = next(at for at, line in enumerate(text.splitlines()) if "Tensor" in line)
    line = text.splitlines()[row]
    assert found["range"]["start"] == {"line": row, "character": line.index("Tensor") + 1}
    fix, *_ = (editor.resolved(each) for each in editor.actions(path.as_uri(), row, line.index("Tensor") + 2))
    (change,) = fix["edit"]["documentChanges"]
    assert applied(text, change["edits"]) == text.replace("Tensor(3)", "empty(3)")
