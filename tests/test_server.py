"""The language server, by a real client: from the first word to the last, and what is told of open texts meanwhile."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from .editor import ABLE, ROOT, Editor, Message

pytest.importorskip("pygls", reason="pygls is not installed: pip install torchlint[lsp]")

TEXT = """\
import torch

net = torch.nn.Linear(2, 2)
x = net(torch.ones(2))
a = x.numpy()
b = torch.Tensor(3)
"""
RULES = "https://torchlint.readthedocs.io/rules"


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    made = Editor(tmp_path)
    yield made
    made.kill()


def codes(diagnostics: list[Message]) -> list[tuple[str, int]]:
    return [(each["code"], each["range"]["start"]["line"] + 1) for each in diagnostics]


def span(line: int, start: int, end: int) -> Message:
    return {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}


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
            "message": "`.numpy()` on a tensor that requires grad: `.detach()` is missing",
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
            "message": "`torch.Tensor` given a size leaves its memory uninitialised: use `torch.empty`",
            "severity": 1,
            "code": "TNS302",
            "codeDescription": {"href": f"{RULES}/TNS302/"},
            "source": "torchlint",
            "tags": [2],
        },
    ]
    editor.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert editor.diagnostics(uri) == []


def test_severity_follows_confidence_and_tags_the_family(editor: Editor) -> None:
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
        ("TNS404", 1): (1, [1]),
        ("TNS103", 5): (3, None),
        ("TNS101", 6): (2, None),
        ("TNS308", 7): (told["TNS308", 7][0], None),
        ("TNS901", 7): (1, [1]),
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
        "`.numpy()` on a tensor that requires grad: `.detach()` is missing",
        "why: `net(torch.ones(2))` is the output of a module with parameters, line 4",
    ]
    assert "relatedInformation" not in found


def test_code_that_does_not_parse_is_a_diagnostic(editor: Editor) -> None:
    editor.start()
    uri = (editor.folder / "a.py").as_uri()
    editor.open(uri, "import torch\nx = (\n")
    assert codes(editor.diagnostics(uri)) == [("TNS900", 2)]
    assert editor.hover(uri, 1, 4)["contents"]["value"].startswith("### TNS900 syntax-error (certain)")
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


# ---------------------------------------------------------------------- as the command line has it
SETTINGS = {
    "select": '[tool.torchlint]\nselect = ["TNS302"]\n',
    "ignores": '[tool.torchlint.per-file-ignores]\n"below/*" = ["TNS302"]\n',
    "confidence": '[tool.torchlint]\nmin-confidence = "likely"\n',
    "exclude": '[tool.torchlint]\nextend-exclude = ["below"]\n',
    "style": '[tool.torchlint]\nnumpy-style = "force"\n',
}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_configuration_holds_as_on_the_command_line(
    name: str, tmp_path: Path, editor: Editor, torchlint: Callable[..., Any]
) -> None:
    folder = tmp_path / "below" / "more"
    folder.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text(SETTINGS[name])
    text = TEXT + "\n\ndef f(x: torch.Tensor):\n    return x.numpy(), torch.Tensor(2)  # noqa: TNS302\n"
    (folder / "a.py").write_text(text)
    run = json.loads(torchlint("--output-format", "json").stdout)
    expected = [(each["code"], each["location"]["row"]) for each in run]
    editor.start()
    uri = (folder / "a.py").as_uri()
    editor.open(uri, text)
    assert codes(editor.diagnostics(uri, 1)) == expected
    titles = [each["title"] for each in editor.actions(uri, 4, 7)]
    wanted = [each["fix"]["message"] for each in run if each["location"]["row"] == 5 and each["fix"]]
    assert [each for each in titles if not each.startswith(("Silence", "Fix all"))] == wanted


@pytest.mark.parametrize("way", ["gitignore", "usual", "baseline"])
def test_what_a_run_in_the_folder_leaves_out_is_left_out(
    way: str, tmp_path: Path, editor: Editor, torchlint: Callable[..., Any]
) -> None:
    folder = tmp_path / ("build" if way == "usual" else "plain")
    folder.mkdir()
    (folder / "a.py").write_text(TEXT)
    if way == "gitignore":
        subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
        (tmp_path / ".gitignore").write_text("plain/\n")
    elif way == "baseline":
        (tmp_path / "torchlint.toml").write_text('baseline = "known.jsonl"\n')
        assert torchlint("--write-baseline").status == 0
    assert torchlint("--quiet").stdout == ""
    editor.start()
    uri = (folder / "a.py").as_uri()
    editor.open(uri, TEXT)
    assert editor.diagnostics(uri, 1) == []
    assert editor.actions(uri, 4, 7) == []


def test_flags_hold_over_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.torchlint]\nselect = ["TNS302"]\n')
    for flags, expected in {
        ("--select", "TNS101"): ["TNS101"],
        ("--isolated", "--ignore", "TNS302"): ["TNS101"],
        ("--isolated", "--stdio"): ["TNS101", "TNS302"],
    }.items():
        editor = Editor(tmp_path, sys.executable, "-m", "torchlint", "server", *flags)
        editor.start()
        uri = (tmp_path / "a.py").as_uri()
        editor.open(uri, TEXT)
        assert [code for code, _ in codes(editor.diagnostics(uri))] == expected
        assert editor.end() == 0


@pytest.mark.parametrize("watching", [True, False], ids=["watched", "polled"])
def test_a_changed_configuration_is_heeded_at_once(watching: bool, editor: Editor) -> None:
    settings = editor.folder / "pyproject.toml"
    able = {**ABLE, "workspace": {**ABLE["workspace"], "didChangeWatchedFiles": {"dynamicRegistration": watching}}}
    editor.start(able)
    uri = (editor.folder / "a.py").as_uri()
    editor.open(uri, TEXT)
    assert codes(editor.diagnostics(uri, 1)) == [("TNS101", 5), ("TNS302", 6)]
    asked = [each for each in editor.told if each["method"] == "client/registerCapability"]
    assert bool(asked) is False or watching

    def saved(text: str) -> None:
        settings.write_text(text)
        if watching:
            change = {"uri": settings.as_uri(), "type": 2}
            editor.notify("workspace/didChangeWatchedFiles", {"changes": [change]})

    saved('[tool.torchlint]\nselect = ["TNS302"]\n')
    assert codes(editor.diagnostics(uri, 1)) == [("TNS302", 6)]
    saved('[tool.torchlint]\nselct = ["TNS302"]\n')
    assert editor.message() == f"torchlint: {settings}: unknown key `selct`; did you mean `select`?"
    assert editor.hover(uri, 4, 7) is None
    saved('[tool.torchlint]\nselect = ["TNS101"]\n')
    assert codes(editor.diagnostics(uri, 1)) == [("TNS101", 5)]
    settings.unlink()
    if watching:
        editor.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": settings.as_uri(), "type": 3}]})
    assert codes(editor.diagnostics(uri, 1)) == [("TNS101", 5), ("TNS302", 6)]


def test_a_saved_file_is_seen_by_those_that_import_it(editor: Editor) -> None:
    nets = editor.folder / "nets.py"
    nets.write_text("import torch\n\n\ndef made():\n    return torch.ones(2)\n")
    editor.start()
    uri = (editor.folder / "a.py").as_uri()
    editor.open(uri, "from nets import made\n\nprint(made().numpy())\n")
    assert editor.diagnostics(uri) == []
    nets.write_text("import torch\n\n\ndef made():\n    return torch.ones(2, requires_grad=True)\n")
    editor.notify("textDocument/didSave", {"textDocument": {"uri": nets.as_uri()}})
    assert codes(editor.diagnostics(uri)) == [("TNS101", 3)]


def test_folders_that_come_later_bring_their_configuration(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    other = tmp_path / "two" / "build"
    other.mkdir(parents=True)
    editor = Editor(tmp_path / "one")
    editor.start()
    uri = (other / "a.py").as_uri()
    editor.open(uri, TEXT)
    assert len(editor.diagnostics(uri)) == 2  # named, as it were: no folder around it is open
    folder = {"uri": (tmp_path / "two").as_uri(), "name": "two"}
    editor.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [folder], "removed": []}})
    assert editor.diagnostics(uri) == []  # a walk through `two` does not go into `build`
    assert editor.end() == 0


# ---------------------------------------------------------------------- what goes wrong
def test_a_crashing_rule_is_told_once_and_the_others_go_on(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent("""\
        import sys
        from types import MappingProxyType
        from torchlint import cli, rule

        real = rule.load

        def load(code):
            if code != "TNS101":
                return real(code)
            def crash(node, context):
                raise RuntimeError("on purpose")
            return rule.Rule(code, {kind: crash for kind in real(code).visit})

        rule.load = load
        sys.exit(cli.main())
        """)
    )
    editor = Editor(tmp_path, sys.executable, str(program), "server")
    editor.start()
    uri = (tmp_path / "a.py").as_uri()
    editor.open(uri, TEXT)
    assert codes(editor.diagnostics(uri, 1)) == [("TNS302", 6)]
    assert editor.message() == (
        "torchlint: a.py: rule TNS101 (numpy-on-grad-tensor) failed here, please report it: RuntimeError: on purpose"
    )
    editor.change(uri, 2, {"text": TEXT + "c = torch.Tensor(3)\n"})
    assert codes(editor.diagnostics(uri, 2)) == [("TNS302", 6), ("TNS302", 7)]
    assert editor.hover(uri, 0, 0) is None
    assert [each["method"] for each in editor.told] == []
    assert editor.end() == 0


def test_a_check_without_end_holds_up_neither_answers_nor_the_end(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, threading\nfrom torchlint import cli, engine\n\n\n"
        "def check_bytes(*given):\n    print('checking', file=sys.stderr, flush=True)\n"
        "    threading.Event().wait()\n\n\n"
        "engine.check_bytes = check_bytes\nsys.exit(cli.main())\n"
    )
    editor = Editor(tmp_path, sys.executable, str(program), "server")
    editor.start()
    uri = (tmp_path / "a.py").as_uri()
    editor.open(uri, TEXT)
    place = {"textDocument": {"uri": uri}, "position": {"line": 4, "character": 7}}
    asked = [editor.ask("textDocument/hover", place) for _ in range(3)]
    for version in range(2, 9):
        editor.change(uri, version, {"text": TEXT * version})
    assert editor.refused("torchlint/none", {})["code"] == -32601
    editor.notify("$/cancelRequest", {"id": asked[0]})
    assert editor.answer(asked[0])["error"]["code"] == -32800
    editor.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert editor.diagnostics(uri) == []
    assert editor.end() == 0
    assert editor.stderr == b"checking\n"


def test_a_configuration_that_is_wrong_is_told_once_for_all_documents(editor: Editor) -> None:
    settings = editor.folder / "pyproject.toml"
    settings.write_text("[tool.torchlint\n")
    editor.start()
    uris = [(editor.folder / name).as_uri() for name in ("a.py", "b.py", "c.py")]
    for uri in uris:
        editor.open(uri, TEXT)
    said = editor.message()
    assert said.startswith(f"torchlint: {settings}: no valid TOML: ")
    for uri in uris:
        assert editor.hover(uri, 4, 7) is None
    assert [each["method"] for each in editor.told if each["method"] == "window/showMessage"] == []
    editor.change(uris[0], 2, {"text": TEXT * 2})
    assert editor.diagnostics(uris[0], 2) == []
    assert [each["method"] for each in editor.told if each["method"] == "window/showMessage"] == []


def test_a_baseline_that_is_missing_is_told_and_nothing_is_hidden(editor: Editor) -> None:
    (editor.folder / "torchlint.toml").write_text('baseline = "known.jsonl"\n')
    editor.start()
    uri = (editor.folder / "a.py").as_uri()
    editor.open(uri, TEXT)
    assert len(editor.diagnostics(uri)) == 2
    known = editor.folder / "known.jsonl"
    assert editor.message() == f"torchlint: a.py: {known}: no such baseline: make it with --write-baseline"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--port", "80"], "unknown flag `--port`; did you mean `--color`?"),
        (["--isolated", "--config", "a.toml"], "--isolated and --config cannot be used together"),
        (["--select", "data-reed"], "argument --select: unknown rule `data-reed`; did you mean `data-read`?"),
    ],
)
def test_wrong_flags_are_answered_before_it_begins(
    arguments: list[str], message: str, torchlint: Callable[..., Any]
) -> None:
    done = torchlint("server", *arguments)
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr.startswith(f"torchlint: error: {message.partition(';')[0]}")


def test_without_the_library_it_says_what_to_install(tmp_path: Path, torchlint: Callable[..., Any]) -> None:
    (tmp_path / "pygls.py").write_text("raise ImportError\n")
    done = torchlint("server")
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr == 'torchlint: error: the server needs a package: pip install "torchlint[lsp]"\n'


def test_nothing_but_the_server_loads_its_library_and_the_server_no_torch(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(TEXT)
    code = "import sys\nfrom torchlint.cli import main\nmain({!r})\nprint('\\n'.join(sys.modules), file=sys.stderr)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for arguments in (["--help"], ["server", "--help"], ["a.py"]):
        done = subprocess.run(
            [sys.executable, "-c", code.format(arguments)],
            cwd=tmp_path,
            env=environment,
            check=False,
            capture_output=True,
            text=True,
        )
        assert not {"pygls", "lsprotocol", "asyncio"} & set(done.stderr.split())
    editor = Editor(tmp_path, sys.executable, "-c", code.format(["server"]))
    editor.start()
    uri = (tmp_path / "a.py").as_uri()
    editor.open(uri, TEXT)
    assert len(editor.diagnostics(uri)) == 2
    assert editor.end() == 0
    loaded = set(editor.stderr.decode().split())
    assert {"pygls", "libcst"} <= loaded
    assert not {"torch", "numpy"} & loaded
