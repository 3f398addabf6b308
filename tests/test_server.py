"""The language server, by a real client: from the first word to the last, and what is told of open texts meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .editor import RULES, TEXT, Editor, codes, span

pytest.importorskip("pygls", reason="pygls is not installed")


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    made = Editor(tmp_path)
    yield made
    made.kill()


# ---------------------------------------------------------------------- beginning and end
def test_it_begins_says_what_it_can_and_ends(editor: Editor) -> None:
    said = editor.start()
    assert said["serverInfo"]["name"] == "torchlint"
    able = said["capabilities"]
    assert able["textDocumentSync"] == {"openClose": True, "change": 2, "save": True}
    assert able["hoverProvider"] is True
    assert able["codeActionProvider"] == {
        "codeActionKinds": ["quickfix", "source.fixAll.torchlint", "notebook.source.fixAll.torchlint"],
        "resolveProvider": True,
    }
    assert able["notebookDocumentSync"]["notebookSelector"] == [{"cells": [{"language": "python"}]}]
    assert editor.end() == 0
    assert editor.stderr == b""


def test_an_editor_that_goes_away_without_a_word_ends_it_too(editor: Editor) -> None:
    editor.start()
    assert editor.hang_up() == 1


def test_an_exit_without_shutdown_is_told_by_the_status(editor: Editor) -> None:
    editor.start()
    editor.notify("exit")
    assert editor.gone() == 1


def test_messages_that_make_no_sense_are_answered_and_the_server_lives_on(editor: Editor) -> None:
    place = {"textDocument": {"uri": "file:///a.py"}, "position": {"line": 0, "character": 0}}
    assert editor.refused("textDocument/hover", place)["code"] == -32002
    editor.start()
    assert editor.refused("initialize", {"processId": None, "rootUri": None, "capabilities": {}})["code"] == -32600
    editor.raw(b"{this is no JSON")
    assert editor.message().startswith("torchlint: a message of the editor could not be read and was passed over: ")
    assert editor.refused("torchlint/none", {})["code"] == -32601
    assert editor.refused("textDocument/hover", {"position": "nowhere"})["code"] == -32602
    assert editor.message().startswith("torchlint: a message of the editor could not be read and was passed over: ")
    editor.change("file:///never-opened.py", 2, {"text": "x = 1\n"})
    assert editor.message() == (
        "torchlint: a notice of the editor could not be heeded: "
        "ValueError: file:///never-opened.py was changed but not opened: close it and open it again"
    )
    editor.notify("textDocument/didClose", {"textDocument": {"uri": "file:///never-opened.py"}})
    assert editor.refused("codeAction/resolve", {"title": "of another server"})["code"] == -32602
    uri = (editor.folder / "a.py").as_uri()
    editor.open(uri, TEXT)
    assert codes(editor.diagnostics(uri)) == [("TNS101", 5), ("TNS302", 6)]
    editor.request("shutdown")
    assert editor.refused("textDocument/hover", place)["code"] == -32600
    editor.notify("exit")
    assert editor.gone() == 0


def test_a_cancelled_question_is_answered_as_cancelled_and_the_check_goes_on(editor: Editor) -> None:
    editor.start()
    uri = (editor.folder / "a.py").as_uri()
    editor.open(uri, TEXT)
    place = {"textDocument": {"uri": uri}, "position": {"line": 4, "character": 7}}
    number = editor.ask("textDocument/hover", place)
    editor.notify("$/cancelRequest", {"id": number})
    assert editor.answer(number)["error"]["code"] == -32800
    assert codes(editor.diagnostics(uri)) == [("TNS101", 5), ("TNS302", 6)]


# ---------------------------------------------------------------------- diagnostics
def test_an_unsaved_text_gets_its_diagnostics_in_full(editor: Editor) -> None:
    editor.start()
    uri = (editor.folder / "never_saved.py").as_uri()
    editor.open(uri, TEXT)
    assert editor.diagnostics(uri, 1) == [
        {
            "range": span(4, 6, 11),
            "message": "`.numpy()` on a tensor that requires grad: add `.detach()`",
            "severity": 1,
            "code": "TNS101",
            "codeDescription": {"href": f"{RULES}/TNS101/"},
            "source": "torchlint",
            "relatedInformation": [
                {
                    "location": {"uri": uri, "range": span(3, 0, 22)},
                    "message": "`net(torch.ones(2))` is the output of a module with parameters, line 4",
                }
            ],
        },
        {
            "range": span(5, 10, 16),
            "message": "`torch.Tensor` with a size is uninitialised memory: use `torch.empty`",
            "severity": 4,
            "code": "TNS302",
            "codeDescription": {"href": f"{RULES}/TNS302/"},
            "source": "torchlint",
            "tags": [2],
            "relatedInformation": [
                {
                    "location": {"uri": uri, "range": span(5, 0, 19)},
                    "message": "it is given a size: `3`, line 6",
                }
            ],
        },
    ]
    editor.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert editor.diagnostics(uri) == []


def test_severity_is_shown_and_tags_the_family(editor: Editor) -> None:
    editor.start()
    uri = "untitled:Untitled-1"
    editor.open(
        uri,
        "import torch\nfrom torch.autograd import Variable\n\n\ndef f(net: torch.nn.Module, x: torch.Tensor):\n"
        "    y = x.numpy()\n    z = net(x).numpy()\n    return y, z, torch.tensor(x)  # noqa: TNS101\n",
    )
    found = {(each["code"], each["range"]["start"]["line"]): each for each in editor.diagnostics(uri, 1)}
    told = {key: (each["severity"], each.get("tags")) for key, each in found.items()}
    assert told == {
        ("TNS404", 1): (4, [1]),
        ("TNS103", 5): (2, None),
        ("TNS101", 6): (2, None),
        ("TNS308", 7): (told["TNS308", 7][0], None),
        ("TNS901", 7): (2, [1]),
    }


def test_reasons_lead_into_other_files(editor: Editor) -> None:
    (editor.folder / "nets.py").write_text(
        "import torch\n\n\ndef made():\n    return torch.ones(2, requires_grad=True)\n"
    )
    editor.start()
    uri = (editor.folder / "a.py").as_uri()
    editor.open(uri, "from nets import made\n\nprint(made().numpy())\n")
    (found,) = editor.diagnostics(uri)
    places = [each["location"] for each in found["relatedInformation"]]
    assert {"uri": (editor.folder / "nets.py").as_uri(), "range": span(4, 4, 44)} in places


def test_an_editor_that_shows_no_related_places_reads_the_reasons_in_the_message(editor: Editor) -> None:
    editor.start({})
    uri = (editor.folder / "a.py").as_uri()
    editor.open(uri, TEXT)
    found = editor.diagnostics(uri)[0]
    assert found["message"].splitlines() == [
        "`.numpy()` on a tensor that requires grad: add `.detach()`",
        "why: `net(torch.ones(2))` is the output of a module with parameters, line 4",
    ]
    assert "relatedInformation" not in found


def test_code_that_does_not_parse_is_a_diagnostic(editor: Editor) -> None:
    editor.start()
    uri = (editor.folder / "a.py").as_uri()
    editor.open(uri, "import torch\nx = (\n")
    assert codes(editor.diagnostics(uri)) == [("TNS900", 2)]
    told = editor.hover(uri, 1, 4)["contents"]["value"]
    assert told.startswith("### TNS900 syntax-error (error, certain)")
    assert told.endswith("\n\nNo fix.\n\nhttps://torchlint.readthedocs.io/rules/TNS900/")
    assert editor.actions(uri, 1, 4) == []


def test_only_the_newest_text_is_told_and_none_is_checked_twice(editor: Editor) -> None:
    editor.start()
    uri = (editor.folder / "a.py").as_uri()
    editor.open(uri, TEXT)
    editor.diagnostics(uri, 1)
    for version in range(2, 30):
        editor.change(uri, version, {"text": TEXT + "c = 1\n" * version})
    editor.change(uri, 30, {"text": "import torch\nb = torch.Tensor(3)\n"})
    assert codes(editor.diagnostics(uri)) == [("TNS302", 2)]
    editor.told.clear()
    editor.change(uri, 31, {"text": "import torch\nb = torch.Tensor(3)\n"})
    assert codes(editor.diagnostics(uri, 31)) == [("TNS302", 2)]
    for _ in range(3):
        assert editor.hover(uri, 1, 12) is not None
    editor.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    assert editor.hover(uri, 1, 12) is not None
    assert [each["method"] for each in editor.told] == []


def test_several_documents_are_told_apart(editor: Editor) -> None:
    editor.start()
    uris = [(editor.folder / f"{name}.py").as_uri() for name in "abc"]
    for number, uri in enumerate(uris, start=1):
        editor.open(uri, "import torch\n" + "b = torch.Tensor(3)\n" * number)
    found = {}
    while len(found) < 3:
        params = editor.until(lambda each: each["method"] == "textDocument/publishDiagnostics")["params"]
        found[params["uri"]] = len(params["diagnostics"])
    assert found == {uri: number for number, uri in enumerate(uris, start=1)}


def test_texts_of_other_languages_are_left_alone(editor: Editor) -> None:
    editor.start()
    uri = (editor.folder / "pyproject.toml").as_uri()
    editor.open(uri, "x = (", language="toml")
    assert editor.diagnostics(uri, 1) == []
    editor.change(uri, 2, {"text": "y = ("})
    assert editor.diagnostics(uri, 2) == []
    plain = (editor.folder / "script").as_uri()
    editor.open(plain, "x = (")
    assert codes(editor.diagnostics(plain)) == [("TNS900", 1)]
    stub = (editor.folder / "a.pyi").as_uri()
    editor.open(stub, "x = (", language="plaintext")
    assert codes(editor.diagnostics(stub)) == [("TNS900", 1)]


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5_000 + ")" * 5_000,
        "x = a" + ".b" * 9_000,
        "x = " + "-" * 20_000 + "1",
        "import torch\nx = torch" + ".Tensor(3)" * 3_000,
        "x = 1\n\0\n",
        "x = '\ud800'\n",
    ],
    ids=["brackets", "attributes", "signs", "calls", "nul", "surrogate"],
)
def test_a_text_that_no_parser_likes_does_not_end_the_server(text: str, editor: Editor) -> None:
    editor.start()
    uri = (editor.folder / "a.py").as_uri()
    editor.open(uri, text)
    assert [code for code, _ in codes(editor.diagnostics(uri, 1))] in ([], ["TNS900"])
    editor.change(uri, 2, {"text": TEXT})
    assert codes(editor.diagnostics(uri, 2)) == [("TNS101", 5), ("TNS302", 6)]
    assert editor.end() == 0
