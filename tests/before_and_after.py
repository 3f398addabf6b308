"""Small projects that are run before and after `--fix`: what the user sees must stay as it was."""

from __future__ import annotations

import contextlib
import io
import os
import runpy
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

import pytest

from torchlint.cli import main
from torchlint.config import Config
from torchlint.linter.engine import fix_bytes

torch = pytest.importorskip("torch")


def written(folder: Path, files: dict[str, str]) -> Path:
    """Write a project whose root is marked, so that nothing above it counts."""
    (folder / ".git").mkdir(exist_ok=True)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def printed(folder: Path, program: str = "main.py") -> str:
    """Run a program of a project in this process; return what it prints, and the error that ends it."""
    out = io.StringIO()
    known, path = set(sys.modules), list(sys.path)
    dtype = torch.get_default_dtype()
    torch.manual_seed(0)
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode, bytecode = True, sys.dont_write_bytecode
    try:
        with contextlib.redirect_stdout(out), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            runpy.run_path(str(folder / program), run_name="__main__")
    except Exception as error:  # noqa: BLE001 - an error is what a user sees, too
        out.write(f"{type(error).__name__}: {error}")
    finally:
        sys.path[:] = path
        sys.dont_write_bytecode = bytecode
        for name in set(sys.modules) - known:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(folder)):
                del sys.modules[name]
        torch.set_default_dtype(dtype)
        torch.set_default_device(None)
        torch.set_grad_enabled(True)
    return out.getvalue()


def fixed(folder: Path, *paths: str, flags: Sequence[str] = ()) -> dict[str, str]:
    """Run ``--fix`` over a project, or over some of its files alone; return the files that it changed."""
    before = {path: path.read_text(encoding="utf-8") for path in folder.rglob("*") if path.suffix in (".py", ".ipynb")}
    home = os.getcwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            status = main(["--fix", "--no-cache", "--jobs", "1", "--isolated", *flags, *(paths or (".",))])
    finally:
        os.chdir(home)
    assert status in (0, 1)
    now = {path: path.read_text(encoding="utf-8") for path in before}
    return {str(path.relative_to(folder)): text for path, text in now.items() if text != before[path]}


def check_runs_alike(folder: Path, files: dict[str, str], *paths: str, program: str = "main.py") -> dict[str, str]:
    """Hold a project to print the same before and after ``--fix``; return the files that were changed."""
    written(folder, files)
    before = printed(folder, program)
    changed = fixed(folder, *paths)
    assert printed(folder, program) == before
    return changed


def text_fixed(program: str, *codes: str, unsafe: bool = False) -> str:
    """Return the text of a program after the fixes of some rules."""
    outcome = fix_bytes("<example>", program.encode(), Config(select=codes, unsafe_fixes=unsafe))
    assert outcome.remaining.troubles == ()
    return outcome.raw.decode()
