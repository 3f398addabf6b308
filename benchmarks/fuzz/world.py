"""Runs of the whole program in a folder of their own: with the cache and without, twice, under any configuration."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from unittest import mock

from torchlint.cli import main

Said = tuple[int, bytes, bytes]
Files = Mapping[str, bytes]


@contextlib.contextmanager
def folder(files: Files) -> Iterator[Path]:
    """Yield a folder with these files as the current one, and remove it afterwards."""
    before = os.getcwd()
    made = Path(tempfile.mkdtemp(prefix="fuzz-"))
    try:
        for name, raw in files.items():
            (made / name).parent.mkdir(parents=True, exist_ok=True)
            (made / name).write_bytes(raw)
        os.chdir(made)
        with mock.patch.dict(os.environ, {"TORCHLINT_CACHE_DIR": f"{made}.cache", "NO_COLOR": "1"}):
            yield made
    finally:
        os.chdir(before)
        shutil.rmtree(made, ignore_errors=True)
        shutil.rmtree(f"{made}.cache", ignore_errors=True)


def said(arguments: Sequence[str]) -> Said:
    """Run the program in this process; give its exit status and what it wrote."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    given = io.TextIOWrapper(io.BytesIO(b"import torch\nx.data.numpy()\n"))
    with mock.patch.multiple(sys, stdout=out, stderr=err, stdin=given):
        try:
            status = main(arguments)
        except SystemExit as left:  # argparse leaves so
            status = left.code if isinstance(left.code, int) else -1
        out.flush()
        err.flush()
    return status, out.buffer.getvalue(), err.buffer.getvalue()  # type: ignore[attr-defined]  # a BytesIO


def cold_and_warm(files: Files) -> list[str]:
    """Return what differs between a run without the cache, a first run with it and a second one."""
    words = ["--isolated", "--select=ALL", "--output-format=json", "--jobs=1", "."]
    with folder(files):
        plain, filling, warm = (said([*more, *words]) for more in (["--no-cache"], [], []))
    wrong = ["the run that fills the cache says something else"] * (filling != plain)
    wrong += ["the run with the cache says something else"] * (warm != plain)
    return wrong + [f"exit status {plain[0]}: {plain[2].decode()}"] * (plain[0] not in (0, 1))


def configured(files: Files, arguments: Sequence[str]) -> list[str]:
    """Run twice under a configuration; a run may fail only with a reason, and says the same again."""
    with folder(files):
        first = said(arguments)
        wrong = _faults(first)
        writes = {"--fix", "--fix-only", "--add-noqa", "--add-noqa=why", "--write-baseline", "--output-file=out.txt"}
        keys = b"".join(each for name, each in files.items() if name.endswith(".toml"))
        if not writes & set(arguments) and b"fix" not in keys and b"cache-dir" not in keys and "-v" not in arguments:
            wrong += ["two runs differ"] * (said(arguments) != first)
    return wrong


def _faults(run: Said) -> list[str]:
    status, _, err = run
    wrong = [f"exit status {status}"] * (status not in (0, 1, 2))
    wrong += ["it failed without a word"] * (status == 2 and not err)
    return wrong + [err.decode()] * (b"Traceback" in err or b"internal fault" in err or b"please report" in err)
