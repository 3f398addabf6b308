"""The settings on the editors' page: each is taken from the page and must start a server that answers."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from torchlint.config.options import PRESETS
from torchlint.diagnostics.model import Confidence, Severity
from torchlint.version import VERSION

from . import nightly
from .editor import ROOT, Editor

pytest.importorskip("pygls", reason="pygls is not installed")
tomllib = pytest.importorskip("tomllib" if sys.version_info >= (3, 11) else "tomli")

PAGE = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    return str(found)


def quoted(text: str) -> list[str]:
    return re.findall(r'"([^"]+)"', text)


def in_neovim() -> list[str]:
    found = re.search(
        r'vim\.lsp\.config\("torchlint", \{\n +cmd = \{([^}]*)\},\n +filetypes = \{ "python" \}', block("lua")
    )
    assert found
    assert 'vim.lsp.enable("torchlint")' in block("lua")
    return quoted(found[1])


def in_helix() -> list[str]:
    settings = tomllib.loads(block("toml"))
    (language,) = settings["language"]
    assert language["name"] == "python"
    assert "torchlint" in language["language-servers"]
    server = settings["language-server"]["torchlint"]
    return [server["command"], *server["args"]]


def in_emacs() -> list[str]:
    text = block("elisp")
    assert text.count("(") == text.count(")")
    found = re.search(r"'\(\(python-mode python-ts-mode\) \. \(([^)]*)\)\)", text)
    assert found
    return quoted(found[1])


@pytest.mark.parametrize("command", [in_neovim, in_helix, in_emacs])
def test_the_command_of_the_page_starts_the_server(command, tmp_path: Path) -> None:
    program, *arguments = command()
    scripts = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'\n{program} = "torchlint.__main__:run"\n' in scripts
    editor = Editor(tmp_path, sys.executable, "-m", "torchlint", *arguments)
    try:
        editor.start()
        uri = (tmp_path / "a.py").as_uri()
        editor.open(uri, "import torch\n\nx = torch.Tensor(3)\n")
        assert [each["code"] for each in editor.diagnostics(uri)] == ["TNS302"]
        assert editor.end() == 0
    finally:
        editor.kill()


def words(levels: type[Severity] | type[Confidence]) -> list[str]:
    return [each.name.lower() for each in sorted(levels, reverse=True)]


EXTENSION = json.loads((ROOT / "editors" / "vscode" / "package.json").read_text(encoding="utf-8"))


def test_the_settings_of_the_extension_are_what_the_server_takes() -> None:
    settings = EXTENSION["contributes"]["configuration"]["properties"]
    for key, flag in (("preset", PRESETS), ("minSeverity", words(Severity)), ("minConfidence", words(Confidence))):
        assert settings[f"torchlint.{key}"]["enum"] == ["", *flag]
    assert EXTENSION["version"] == VERSION
    named = set(re.findall(r"`(torchlint\.\w+)`", PAGE))
    assert named
    assert named - {"torchlint.toml", "torchlint.vsix"} <= set(settings)
    shown = (ROOT / "editors" / "vscode" / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([\w.]+)`", shown, re.MULTILINE)) == set(settings)
    assert block("json").split() == shown.split("```json")[1].split("```")[0].split()


@nightly.only("building the extension for VS Code")
def test_the_extension_works_with_this_server(tmp_path: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    folder = tmp_path / "vscode"
    shutil.copytree(ROOT / "editors" / "vscode", folder, ignore=shutil.ignore_patterns("node_modules", "dist"))
    program = tmp_path / "programs" / "torchlint"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m torchlint "$@"\n')
    program.chmod(0o755)
    path = os.pathsep.join([str(program.parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    for command in (["ci"], ["test"], ["run", "package"]):
        done = subprocess.run([npm, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(folder / "torchlint.vsix") as packed:
        assert {"extension/dist/extension.js", "extension/package.json"} <= set(packed.namelist())


def test_the_kinds_and_flags_of_the_page_exist(tmp_path: Path) -> None:
    from torchlint.cli.arguments import parser_of

    flags = {flag for action in parser_of("server")._actions for flag in action.option_strings}
    table = PAGE[PAGE.index("## Flags") :]
    assert set(re.findall(r"--?[a-z][a-z-]*", " ".join(re.findall(r"`([^`]+)`", table)))) <= flags
    editor = Editor(tmp_path)
    try:
        offered = editor.start()["capabilities"]["codeActionProvider"]["codeActionKinds"]
        assert set(re.findall(r"(?:notebook\.)?source\.fixAll\.[a-z]+", PAGE)) <= set(offered)
        assert editor.end() == 0
    finally:
        editor.kill()
