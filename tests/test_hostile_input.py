"""Input made to do harm: it is named, it exits as it must, the rest is checked, and nothing of it is ever run."""

from __future__ import annotations

import codecs
import json
import os
import subprocess
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from tests.conftest import HEAVY, ROOT, Program
from tests.nightly import in_turn
from torchlint.config import Config
from torchlint.linter.engine import fix_bytes

HIT = "import torch\n\nw = torch.ones(3, requires_grad=True)\nprint(w.numpy())\n"
CONCISE = ("--isolated", "--no-cache", "-q", "--output-format", "concise", "--select", "ALL")


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """The file beside that must be checked whatever happens."""
    file = tmp_path / "good.py"
    file.write_text(HIT)
    return file


def bounded(folder: Path, *arguments: str, megabytes: int = 4096) -> subprocess.CompletedProcess[str]:
    """Run the program with bounded memory, so that a bomb ends it and not the machine."""
    program = (
        "import resource, sys\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({megabytes << 20},) * 2)\n"
        "from torchlint.cli import main\nsys.exit(main(sys.argv[1:]))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip


# ---------------------------------------------------------------------- nesting and length
DEEP: dict[str, Callable[[int], str]] = {
    "attributes": lambda n: "x" + ".data" * n,
    "calls": lambda n: "x" + ".numpy()" * n,
    "subscripts": lambda n: "x.data" + "[0]" * n,
    "sums": lambda n: "x.data" + " + x.data" * n,
    "powers": lambda n: "x.data" + " ** x.data" * n,
    "comparisons": lambda n: "x.data" + " < x.data" * n,
    "lists": lambda n: "[" * n + "x.data" + "]" * n,
    "sets": lambda n: "{" * n + "x.data" + "}" * n,
    "arguments": lambda n: "f(" * n + "x.data.numpy()" + ")" * n,
    "lambdas": lambda n: "lambda: " * n + "x.data",
    "conditions": lambda n: "x.data if y else " * n + "x.data.numpy()",
    "negations": lambda n: "not " * n + "x.data",
    "awaits": lambda n: "async def f():\n    " + "await " * min(n, 1) + "x.data" + ".numpy()" * n,
    "targets": lambda n: "x.data = " * n + "x.data",
    "strings": lambda n: "'a' " * n + "; x.data.numpy()",
    "branches": lambda n: "if x.data: pass\n" + "elif x.data: pass\n" * n,
    "decorators": lambda n: "@x.data\n" * n + "def f(): return x.data.numpy()",
    "functions": lambda n: "".join(" " * at + f"def f{at}():\n" for at in range(min(n, 98))) + " " * 98 + "x.data",
    "classes": lambda n: "".join(" " * at + f"class C{at}:\n" for at in range(min(n, 98))) + " " * 98 + "x.data",
    "blocks": lambda n: "".join(" " * at + "with torch.no_grad():\n" for at in range(19)) + " " * 19 + "x.data.numpy()",
    "loops": lambda n: "".join(" " * at + f"for i{at} in x.data:\n" for at in range(19)) + " " * 19 + "x = x.data",
    "comprehensions": lambda n: "[x.data " + "for a in x.data " * n + "]",
    "fstrings": lambda n: "f'{" * 2 + "x.data" + "}'" * 2 + "; f'" + "{x.data}" * n + "'",
    "aliases": lambda n: "".join(f"x{at + 1} = x{at}.data\n" for at in range(n)),
    "chain": lambda n: "".join(f"def f{at}(x): return f{at + 1}(x.data)\n" for at in range(n)) + "f0(x).numpy()",
    "inheritance": lambda n: "class C0: pass\n" + "".join(f"class C{at + 1}(C{at}): pass\n" for at in range(n))
    + f"C{n}().data.numpy()",
}  # fmt: skip


_FOLLOWED = ("chain", "inheritance")
"""Forms that inference follows step by step: longer ones take their time."""


@pytest.mark.parametrize("form", in_turn(DEEP, 3, "forms of nesting"))
def test_nesting_ends_no_run(form: str, tmp_path: Path, good: Path) -> None:
    """Where the form can be parsed it is checked; where not that is a finding; the other file is checked anyway."""
    for size in (100, 200 if form in _FOLLOWED else 1000):
        (tmp_path / f"deep{size}.py").write_text(f"import torch\n{DEEP[form](size)}\n")
    done = bounded(tmp_path, *CONCISE)
    assert (done.returncode, done.stderr) == (1, "")
    assert f"{good.name}:4:9: TNS101 " in done.stdout
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    fixed = bounded(tmp_path, *CONCISE, "--fix", "--unsafe-fixes")
    assert (fixed.returncode in (0, 1), fixed.stderr) == (True, "")
    assert "w.detach().numpy()" in good.read_text()
    for path in tmp_path.iterdir():
        if f"{path.name}:" in done.stdout and "TNS900" in done.stdout.split(f"{path.name}:")[1].splitlines()[0]:
            assert path.read_bytes() == before[path.name]


GIANT = {
    "elements": "x = [" + "1, " * 10_000 + "w.numpy()]",
    "text": "x = '" + "a" * 1_000_000 + "'; w.numpy()",
    "digits": "x = 1" + "0" * 300_000 + "; w.numpy()",
    "comment": "# " + "é" * 700_000 + "\nw.numpy()",
    "blanks": "x = 0" + " " * 1_000_000 + "+ w.numpy()",
    "findings": "w.numpy()" + "; w.numpy()" * 500,
}


@pytest.mark.parametrize("name", in_turn(GIANT, 3, "giant lines"))
def test_a_giant_line_is_checked_and_shown_in_part(name: str, tmp_path: Path) -> None:
    line = GIANT[name]
    (tmp_path / "long.py").write_text(
        f"import torch\n\nw = torch.ones(3, requires_grad=True)\n{line}\n", encoding="utf-8"
    )
    options = "--isolated", "--no-cache", "-q", "--min-confidence", "unproven"
    done = bounded(tmp_path, *options)
    assert (done.returncode, done.stderr) == (1, "")
    # Python reads no number of so many digits, so nothing is known of `w`; LibCST does.
    name = "numpy-on-unproven-tensor" if "0000" in line else "numpy-on-grad-tensor"
    assert done.stdout.count(f" {name} ") == line.count("w.numpy()")
    assert len(done.stdout) < 400 + 1_200 * line.count("w.numpy()")
    assert bounded(tmp_path, *options, "--fix").returncode in (0, 1)
    if "0000" not in line:
        assert (tmp_path / "long.py").read_text(encoding="utf-8").endswith(line.replace("w.", "w.detach().") + "\n")


# ---------------------------------------------------------------------- encodings
TEXT_ENCODINGS = (
    "latin-1", "iso-8859-15", "cp1252", "cp437", "koi8-r", "mac-roman", "shift_jis", "euc_jp", "big5", "gbk", "gb18030",
    "euc_kr", "johab", "utf-8", "utf-8-sig", "ascii", "cp932", "tis-620", "iso2022_jp", "hz", "utf-7",
)  # fmt: skip
NO_ENCODINGS = (
    "rot13", "hex", "base64", "zlib", "bz2", "undefined", "mbcs", "oem", "idna", "punycode", "unicode_escape",
    "raw_unicode_escape", "utf-16", "utf-32", "utf_16_le", "charmap", "no.such-codec", "..", "-", "x" * 500,
)  # fmt: skip


@pytest.mark.parametrize("encoding", TEXT_ENCODINGS)
def test_a_fix_keeps_the_encoding(encoding: str) -> None:
    text = f"# coding: {encoding}\n{HIT}# " + {"ascii": "plain"}.get(encoding, "")
    for sample in ("é", "ж", "日本語", "한국", "ก"):
        try:
            text += sample if codecs.decode(sample.encode(encoding), encoding) == sample else ""
        except UnicodeError:
            continue
    raw = text.encode(encoding)
    done = fix_bytes("a.py", raw, Config())
    assert [each.code for each in done.fixed] == ["TNS101"]
    assert done.raw == raw.replace(b"w.numpy()", b"w.detach().numpy()")
    assert done.raw.decode(encoding) == text.replace("w.numpy()", "w.detach().numpy()")


@pytest.mark.parametrize("encoding", NO_ENCODINGS)
def test_an_encoding_that_is_none_for_source_harms_nothing(
    encoding: str, tmp_path: Path, good: Path, in_process: Program
) -> None:
    raw = f"# coding: {encoding}\n{HIT}".encode()
    (tmp_path / "odd.py").write_bytes(raw)
    done = in_process(*CONCISE, "--fix")
    assert (done.status in (0, 1), done.stderr) == (True, "")
    assert "w.detach().numpy()" in good.read_text()
    left = (tmp_path / "odd.py").read_bytes()
    assert left in (raw, raw.replace(b"w.numpy", b"w.detach().numpy"))
    assert ("odd.py:" in done.stdout) == (left == raw)


# ---------------------------------------------------------------------- what is no file
LOOKED_FOR = (".gitignore", "torchlint.toml", "pyproject.toml", "nets.py", "sub/__init__.py", ".git/info/exclude")
NO_FILES = ("pipe", "endless device", "folder", "loop", "broken link", "socket")


@pytest.mark.parametrize(("name", "kind"), in_turn(product(LOOKED_FOR, NO_FILES), 3, "places where no file is"))
def test_what_is_no_file_where_one_is_looked_for_keeps_no_run_waiting(
    name: str, kind: str, tmp_path: Path, good: Path
) -> None:
    used = "print(thing().numpy(), other.numpy())\n\n\ndef told(t):\n    return t.numpy()\n"
    good.write_text("from nets import thing\nfrom sub import other\n" + HIT + used)
    place = tmp_path / name
    place.parent.mkdir(parents=True, exist_ok=True)
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "endless device":
        place.symlink_to("/dev/zero")
    elif kind == "folder":
        place.mkdir()
    elif kind == "loop":
        place.symlink_to(place.name)
    elif kind == "broken link":
        place.symlink_to("nowhere")
    else:
        bind(place)
    for flags in ((), ("--fix",)):
        done = bounded(tmp_path, "--no-cache", "-q", "--output-format", "concise", *flags)
        unreadable = kind in ("loop", "broken link") and name.endswith(".py")
        assert done.returncode == (2 if unreadable else 1), done.stderr
        assert ("TNS101" in done.stdout) == (not flags)
    assert "w.detach().numpy()" in good.read_text()
    assert place.is_symlink() or not place.is_file()


def bind(place: Path) -> None:
    import socket

    listening = socket.socket(socket.AF_UNIX)
    before = os.getcwd()
    os.chdir(place.parent)  # the name of a socket may not be long
    try:
        listening.bind(place.name)
    finally:
        os.chdir(before)
        listening.close()


@pytest.mark.parametrize("kind", ["pipe", "folder", "itself", "device"])
@pytest.mark.parametrize("how", ["--config", "--baseline", "baseline", "cache-dir", "--show-facts"])
def test_a_configuration_that_is_no_file_or_names_itself(how: str, kind: str, tmp_path: Path, good: Path) -> None:
    if how == "--baseline" and kind == "pipe":
        pytest.skip("a pipe that is given by hand is waited for: `--baseline <(git show main:known.jsonl)`")
    odd = tmp_path / "odd"
    if kind == "pipe":
        os.mkfifo(odd)
    elif kind == "folder":
        odd.mkdir()
        (odd / "mine.txt").write_text("mine")
    elif kind == "device":
        odd.symlink_to("/dev/zero")
    meant = "torchlint.toml" if kind == "itself" else "odd"
    text = f'{how} = "{meant}"\n' if not how.startswith("--") else "strict = false\n"
    (tmp_path / "torchlint.toml").write_text(text)
    flags = [how, f"{meant}:1" if how == "--show-facts" else meant] if how.startswith("--") else []
    done = bounded(tmp_path, "-q", "good.py", *flags, megabytes=1024)
    if how == "cache-dir":  # works without
        assert (done.returncode, done.stderr) == (1, "")
        assert "TNS101" in done.stdout
    elif (how, kind) == ("--config", "itself"):
        assert done.returncode == 1
    elif (how, kind) == ("--show-facts", "itself"):  # a file like any other, and what it says can be read as Python
        assert done.returncode == 0
    else:
        assert done.returncode == 2
        assert done.stderr.startswith("torchlint: error: ")
        assert meant in done.stderr
        assert "Traceback" not in done.stderr
    assert (tmp_path / "torchlint.toml").read_text() == text
    assert not (tmp_path / "odd").is_dir() or [path.name for path in odd.iterdir()] == ["mine.txt"]


# ---------------------------------------------------------------------- notebooks
def test_a_notebook_of_a_hundred_megabytes_is_read_within_bounds(tmp_path: Path) -> None:
    """Its outputs are stepped over: they must not become objects of Python."""
    picture = "A" * 10_000_000
    code = {"cell_type": "code", "metadata": {}, "execution_count": 1, "source": HIT.splitlines(keepends=True)}
    numbers = [0.5] * 250_000
    outputs = [{"output_type": "display_data", "metadata": {}, "data": {"image/png": picture, "x": numbers}}] * 9
    file = tmp_path / "big.ipynb"
    with file.open("w") as stream:
        json.dump({"cells": [{**code, "outputs": outputs}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, stream)
    assert file.stat().st_size > 95_000_000
    before = file.read_bytes()
    done = bounded(tmp_path, "--isolated", "--no-cache", "-q", "--output-format", "concise", "--fix", megabytes=2048)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert file.read_bytes() == before.replace(b"print(w.numpy())", b"print(w.detach().numpy())")


@pytest.mark.parametrize(
    "raw",
    [
        b"[" * 3_000_000,
        b'{"cells": ' * 300_000,
        b'{"cells": [' + b'{"source": ' * 200_000,
        b'{"metadata": ' + b"[" * 200_000 + b"]" * 200_000 + b', "cells": []}',
        b'{"cells": [{"cell_type": "code", "source": ' + b"[" * 100_000 + b'"x"' + b"]" * 100_000 + b"}]}",
        b'{"cells": [], "cells": [], "nbformat": ' + b"9" * 1_000_000 + b"}",
        b'{"nbformat": 4, "cells": [' + b'{"cell_type": "code", "source": []},' * 100_000 + b"{}]}",
    ],
    ids=["lists", "objects", "cells", "metadata", "sources", "digits", "many"],
)
def test_nested_json_is_refused_or_read_and_ends_nothing(raw: bytes, tmp_path: Path, good: Path) -> None:
    (tmp_path / "bomb.ipynb").write_bytes(raw)
    done = bounded(tmp_path, *CONCISE, "--fix", megabytes=2048)
    assert (done.returncode in (0, 1), done.stderr) == (True, "")
    assert "w.detach().numpy()" in good.read_text()
    assert (tmp_path / "bomb.ipynb").read_bytes() == raw


@pytest.mark.parametrize("text", ["x = " + "[" * 200_000, "[a" + ".a" * 20_000 + "]", "x = " + "{a=" * 50_000])
def test_nested_toml_is_an_error_of_the_configuration(text: str, tmp_path: Path, good: Path) -> None:
    (tmp_path / "torchlint.toml").write_text(text)
    done = bounded(tmp_path, "-q", "--no-cache", megabytes=2048)
    assert done.returncode == 2
    assert done.stderr.startswith(f"torchlint: error: {tmp_path / 'torchlint.toml'}: ")
    assert "Traceback" not in done.stderr
    assert len(done.stderr) < 2_000


# ---------------------------------------------------------------------- injected faults
@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("fix", [(), ("--fix",)])
def test_a_crashing_rule_and_a_killed_process_cost_their_files_only(
    jobs: str, fix: tuple[str, ...], tmp_path: Path
) -> None:
    """With real processes, a rule that raises in one file, and a signal 9 to the process that works on another."""
    for number in range(12):
        (tmp_path / f"m{number:02}.py").write_text(HIT + HEAVY * 4)
    (tmp_path / "crash.py").write_text(f"# CRASH\n{HIT}{HEAVY * 4}")
    if jobs == "2":
        (tmp_path / "die.py").write_text(f"# DIE\n{HIT}{HEAVY * 4}")
    program = (
        "import dataclasses, os, signal, sys\n"
        "from torchlint.linter import rule_modules\nfrom torchlint.cli import main\n"
        "real = rule_modules.load\n"
        "def load(code):\n"
        "    loaded = real(code)\n"
        "    def visit(check):\n"
        "        def spoilt(node, context):\n"
        "            if b'# DIE' in context.source.raw: os.kill(os.getpid(), signal.SIGKILL)\n"
        "            if b'# CRASH' in context.source.raw: raise RuntimeError('on purpose')\n"
        "            return check(node, context)\n"
        "        return spoilt\n"
        "    return dataclasses.replace(loaded, visit={kind: visit(check) for kind, check in loaded.visit.items()})\n"
        "rule_modules.load = load\nsys.exit(main(sys.argv[1:]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *CONCISE[:-2], "--jobs", jobs, *fix],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=240,
        check=False,
    )  # fmt: skip
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert any(line.startswith("torchlint: error: crash.py: rule TNS101") and "on purpose" in line for line in lines)
    died = "torchlint: error: die.py: the process that checked it died (out of memory?): exclude the file or report it"
    assert (died in lines) == (jobs == "2")
    assert {line.split(": ")[2] for line in lines} == {"crash.py", *(["die.py"] if jobs == "2" else [])}
    found = [line.split(":")[0] for line in done.stdout.splitlines() if "TNS101" in line]
    assert found == ([] if fix else [f"m{number:02}.py" for number in range(12)])
    repaired = [path.name for path in sorted(tmp_path.glob("m*.py")) if "w.detach().numpy()" in path.read_text()]
    assert repaired == ([f"m{number:02}.py" for number in range(12)] if fix else [])


# ---------------------------------------------------------------------- nothing is run
def test_nothing_of_the_linted_code_is_imported_or_run(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    touch = f"open({str(marker)!r}, 'a').write(__name__ + chr(10))\n"
    names = (
        "sitecustomize", "usercustomize", "conftest", "torch", "numpy", "libcst", "json", "ast", "re", "rich",
        "tokenize", "pathspec", "setup", "typing_extensions", "__init__", "__main__", "torchlint_plugin", "concurrent",
        "signal",
    )  # fmt: skip
    for name in names:
        (tmp_path / f"{name}.py").write_text(touch + HIT)
    (tmp_path / "mine.py").write_text(
        "# coding: mine\n# torchlint: ignore[{touch}]\nimport torch, setup, conftest\n"
        f"@setup.f\ndef f(x: {touch.strip()}):\n"
        f"    return x.numpy()  # noqa: {touch}"
    )
    (tmp_path / "use.py").write_text(f"import setup\nfrom torch import *\nx = eval({touch.strip()!r})\n" + HIT)
    (tmp_path / "hook.pth").write_text(f"import os; {touch}")
    (tmp_path / "pyproject.toml").write_text('[build-system]\nbuild-backend = "setup"\nbackend-path = ["."]\n')
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    # As the installed program starts: without the current folder in the path.
    start = "import sys; sys.path.pop(0); from torchlint.cli import main; sys.exit(main())"
    for flags in ((), ("--fix",), ("--diff",), ("--add-noqa",), ("--statistics",), ("--show-facts", "use.py:4")):
        done = subprocess.run(
            [sys.executable, "-c", start, "--jobs", "2", *flags],
            cwd=tmp_path, env={**environment, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=240,
            check=False,
        )  # fmt: skip
        assert done.returncode in (0, 1), done.stderr
        assert not marker.exists(), marker.read_text()
