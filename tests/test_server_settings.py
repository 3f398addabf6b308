"""The language server wants of a text what the command line wants of the file: configuration, flags, folders."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from .editor import ABLE, TEXT, Editor, codes

pytest.importorskip("pygls", reason="pygls is not installed")


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    made = Editor(tmp_path)
    yield made
    made.kill()


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
