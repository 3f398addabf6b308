"""What goes wrong around the language server: crashing rules, endless checks, wrong configurations and flags."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from .editor import ROOT, TEXT, Editor, codes

pytest.importorskip("pygls", reason="pygls is not installed")


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    made = Editor(tmp_path)
    yield made
    made.kill()


def test_a_crashing_rule_is_told_once_and_the_others_go_on(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent("""\
        import dataclasses, sys
        from torchlint import cli
        from torchlint.linter import rule_modules

        real = rule_modules.load

        def load(code):
            if code != "TNS101":
                return real(code)
            def crash(node, context):
                raise RuntimeError("on purpose")
            return dataclasses.replace(real(code), visit={kind: crash for kind in real(code).visit})

        rule_modules.load = load
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
        "import sys, threading\nfrom torchlint import cli\nfrom torchlint.linter import engine\n\n\n"
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
        (["--isolated", "--config", "a.toml"], "--isolated and --config FILE cannot be used together"),
        (["--select", "data-reed"], "argument --select: unknown rule `data-reed`; did you mean `data-read`?"),
    ],
)
def test_wrong_flags_are_answered_before_it_begins(
    arguments: list[str], message: str, torchlint: Callable[..., Any]
) -> None:
    done = torchlint("server", *arguments)
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr.startswith(f"torchlint: error: {message.partition(';')[0]}")


def test_without_the_library_it_says_what_to_install(tmp_path: Path, program: Callable[..., Any]) -> None:
    (tmp_path / "pygls.py").write_text("raise ImportError\n")
    done = program("server")
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr == 'torchlint: error: the server needs pygls: pip install "pygls>=2.1,<3"\n'


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
