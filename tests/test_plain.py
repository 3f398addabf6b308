"""What is passed over without the engine is what the engine has nothing to say about."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from torchlint import plain
from torchlint.config import Config
from torchlint.engine import check_bytes
from torchlint.model import FileResult
from torchlint.plain import is_plain
from torchlint.selectors import EVERY_CODE

EVERY = Config(select=tuple(sorted(EVERY_CODE)))


def files() -> Iterator[Path]:
    for folder in ("torchlint", "tests", "tools", "benchmarks"):
        yield from sorted((ROOT / folder).rglob("*.py"))


def found(raw: bytes, config: Config = EVERY, path: str = "some.py") -> tuple[object, ...]:
    result = check_bytes(path, raw, config)
    return (result.findings, result.suppressed, result.troubles, result.reads, result.passed_over)


NOTHING = found(b"")


def test_nothing_is_found_in_what_is_passed_over() -> None:
    passed = [path for path in files() if is_plain(path.name, path.read_bytes(), Config())]
    assert ROOT / "torchlint" / "version.py" in passed
    wrong = [path for path in passed if found(path.read_bytes(), Config(), path.name) != NOTHING]
    assert wrong == []


@pytest.mark.parametrize(
    "text",
    [
        "def f(:\n",
        "x = '\0'\n",
        "# coding: no-such\n",
        "x = b'\xe9'\n",
        "x.numpy()\n",
        "# noqa: TNS101\n",
        "# NOQA: tns101\n",
        "# TorchLint: disable\n",
        "x = " + "(" * 250 + ")" * 250 + "\n",
        "x = " + "-" * 100_000 + "1\n",
    ],
)
def test_the_engine_is_asked_where_it_may_have_something_to_say(text: str) -> None:
    assert not is_plain("some.py", text.encode("latin-1"), Config())


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("x = 1\n", "utf-8"),
        ("", "utf-8"),
        ("x = 1  # noqa\n", "utf-8"),
        ("x = '\\d'\n", "utf-8"),
        ("\ufeffx = 1\r\ny = 2\r", "utf-8"),
        ("# coding: latin-1\nx = 'é'\n", "latin-1"),
        ("x = 1  # fmt: skip\n", "utf-8"),
        ("\f\nx = 1\n", "utf-8"),
    ],
)
def test_what_holds_no_word_is_passed_over(text: str, encoding: str, recwarn: pytest.WarningsRecorder) -> None:
    raw = text.encode(encoding)
    assert is_plain("some.py", raw, EVERY)
    assert found(raw) == NOTHING
    assert not recwarn.list


@pytest.mark.parametrize("text", ["def f(x):\n    global x\n", "nonlocal x\n", "def f(x, x): pass\n"])
def test_what_only_the_compiler_refuses_is_left_to_the_engine(text: str) -> None:
    assert not is_plain("some.py", text.encode(), EVERY)
    assert found(text.encode()) == NOTHING


def test_what_was_read_for_another_file_is_not_parsed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(plain, "_parse", lambda text, *_: asked.append(text))
    monkeypatch.setattr(plain, "_ACCEPTED", set())
    helper, broken = b"def made():\n    return 1\n", b"def made(:\n"
    (tmp_path / "helper.py").write_bytes(helper)
    (tmp_path / "broken.py").write_bytes(broken)
    code = b"from helper import made\nfrom broken import made as other\nmade().numpy()\nother().numpy()\n"
    assert len(check_bytes(str(tmp_path / "a.py"), code, EVERY).reads) >= 2
    assert all(is_plain(str(tmp_path / "b.py"), each, EVERY) for each in (helper, helper + b"x = 1\n", broken))
    assert asked == [(helper + b"x = 1\n").decode(), broken.decode()]


def test_what_was_accepted_is_not_remembered_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain, "_ACCEPTED", set())
    monkeypatch.setattr(plain, "_MOST_ACCEPTED", 3)
    for each in "abcdef":
        plain.accept(each)
    assert sorted(plain._ACCEPTED) == ["e", "f"]


def test_a_python_without_symtable_makes_a_tree() -> None:
    program = (
        "import sys\nsys.modules['_symtable'] = None\nfrom torchlint.config import Config\n"
        "from torchlint.plain import is_plain\n"
        "print([is_plain('some.py', text, Config()) for text in (b'x = 1', b'def f(:', b'x.numpy()')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "[True, False, False]\n"


def test_words_count_as_rules_are_selected() -> None:
    raw = b"x = old.data\n"
    assert is_plain("some.py", raw, Config(select=("TNS101",)))
    assert not is_plain("some.py", raw, Config(select=("TNS201",)))
    assert not is_plain("some.py", b"x = net.detach()\n", Config(select=("TNS104",)))
    assert is_plain("some.py", b"x = net.detach()\n", Config(select=("TNS101",)))


def test_a_notebook_is_never_passed_over() -> None:
    raw = b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
    assert not is_plain("some.ipynb", raw, Config())
    assert isinstance(check_bytes("some.ipynb", raw, Config()), FileResult)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python knows the statement")
def test_code_newer_than_this_python_is_left_to_the_engine() -> None:
    assert not is_plain("some.py", b"type X = int\n", Config())
