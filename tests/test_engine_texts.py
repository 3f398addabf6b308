"""Texts that are hard to read: no Python, newer Python, code nested deeply."""

from __future__ import annotations

import codecs
import subprocess
import sys
from collections.abc import Iterator

import libcst as cst
import pytest

from tests.plain_rules import Install, crashing, fixing, installer, said
from torchlint.config import Config
from torchlint.diagnostics.model import Applicability, Confidence
from torchlint.linter.engine import check_bytes, fix_bytes
from torchlint.rules.api import Draft, FileContext


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> Install:
    return installer(monkeypatch)


# ---------------------------------------------------------------------- text that is no Python
@pytest.mark.parametrize(
    ("raw", "row", "column", "words"),
    [
        (b"a = 1\nb = = 2\n", 2, 5, "invalid syntax"),
        (b"b = a.cuda(async=1)\n", 1, 12, "invalid syntax: `async` is a keyword since Python 3.7, and torch says"),
        (b"async == 2\n", 1, 7, "invalid syntax"),
        ("é漢 = 1\né漢 = = 2\n".encode(), 2, 6, "invalid syntax"),
        (codecs.BOM_UTF8 + b"b = = 2\n", 1, 5, "invalid syntax"),
        (b"# coding: latin-1\n\xe9\xe9 = = 2\n", 2, 6, "invalid syntax"),
        (b"a = 1\r\nb = = 2\r\n", 2, 5, "invalid syntax"),
        (b"if a:\nb = w.data\n", 2, 1, "indented block"),
        (b"def f():\n    x = 1\n  y = 2\n", 3, 8, "unindent"),
        (b"a = '''\n", 1, 5, "unterminated"),
        (b"a = (1,\n", 1, 5, "was never closed"),
        (b"print 'x', w.data\n", 1, 1, "print"),
        (b"a = 1\nb = '\0'\n", 2, 6, "NUL"),
        (b"a = 1\nb = '\xff'\n", 2, 6, ""),
        (b"a = 1\nb = 2\nc = '\xc3\xa9' + '\xff'\n", 3, 12, "utf-8"),
        (b"# coding: no-such-codec\n", 1, 1, "no-such-codec"),
        (b"# coding: rot13\nk = w.data\n", 1, 1, "no encoding"),
    ],
    ids=[
        "two signs", "old argument", "comparison", "wide", "mark", "latin-1", "crlf", "indent", "unindent", "string",
        "parenthesis", "python 2", "nul", "bad byte", "bad byte later", "unknown codec", "no text codec",
    ],
)  # fmt: skip
def test_syntax_errors_are_findings_with_a_place(rules: Install, raw: bytes, row: int, column: int, words: str) -> None:
    config = rules(TNS201=fixing("detach()"))
    result = check_bytes("some.py", raw, config)
    assert said(result) == [("TNS900", row, column)]
    assert words in result.findings[0].message
    assert result.findings[0].confidence is Confidence.CERTAIN
    assert result.troubles == ()
    outcome = fix_bytes("some.py", raw, config)
    assert (outcome.raw, outcome.fixed) == (raw, ())


def test_syntax_errors_are_found_in_files_without_trigger_words() -> None:
    assert said(check_bytes("some.py", b"b = = 2\n", Config())) == [("TNS900", 1, 5)]


def test_a_syntax_error_cannot_be_silenced() -> None:
    config = Config(select=("TNS101",), per_file_ignores=(("*", ("ALL",)),))
    assert said(check_bytes("some.py", b"b = = 2  # noqa\n", config)) == [("TNS900", 1, 5)]


def test_code_newer_than_the_running_python_is_checked_all_the_same(rules: Install) -> None:
    config = rules(TNS201=fixing("detach()"))
    text = b"type Pair[T] = tuple[T, T]\n\n\ndef first[T](pair: Pair[T]) -> T:\n    return pair.data[0]\n"
    assert said(check_bytes("some.py", text, config)) == [("TNS201", 5, 17)]
    assert fix_bytes("some.py", text, config).raw == text.replace(b".data", b".detach()")


NEWER = (
    b"import torch\nfrom torch.autograd import Variable\n\n\ndef f[T](x: T, net) -> T:\n"
    b"    y = Variable(torch.FloatTensor([1]), volatile=True)\n    y.data.add_(1)\n"
    b"    w = x.new(2).type(torch.Tensor).to('cpu', non_blocking=True)\n"
    b"    isinstance(x, Variable)\n"
    b"    try:\n        loss = net(w).cpu().detach().numpy().item(), loss.data[0]\n"
    b"    except ValueError:\n        pass\n"
    b"    with torch.no_grad():\n        w.weight.data.fill_(1)\n"
    b"    return net(w).numpy(), net(w).data.cpu().numpy(), torch.tensor(y), y.data.shape\n"
)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python reads it")
def test_real_rules_judge_newer_code_by_its_words_alone() -> None:
    result = check_bytes("some.py", NEWER, Config(select=("ALL",), min_confidence=Confidence.UNPROVEN))
    assert result.troubles == ()
    assert said(result) == [
        ("TNS104", 11, 23),
        ("TNS103", 16, 19),
    ]
    assert {each.fix.applicability for each in result.findings if each.fix} == {Applicability.UNSAFE}
    assert {each.confidence for each in result.findings} == {
        Confidence.LIKELY,
        Confidence.UNPROVEN,
    }


# ---------------------------------------------------------------------- deep code
@pytest.mark.parametrize(
    "text",
    [
        "y = " + "(" * 5000 + "w.data" + ")" * 5000 + "\n",
        "y = " + "[" * 5000 + "]" * 5000 + "\nz = w.data\n",
        "y = " + "f(" * 1000 + "w.data" + ")" * 1000 + "\n",
    ],
    ids=["parentheses", "lists", "calls"],
)
def test_code_nested_too_deeply_is_a_syntax_error(rules: Install, text: str) -> None:
    result = check_bytes("some.py", text.encode(), rules(TNS201=fixing("detach()")))
    assert [code for code, _, _ in said(result)] == ["TNS900"]
    assert "nested" in result.findings[0].message
    assert result.troubles == ()


DEEP = 600 if sys.version_info[:2] == (3, 12) else 900
"""Python 3.12 has a limit of its own where C and Python call each other by turns."""


def test_a_recursion_that_does_not_end_is_code_nested_too_deeply(rules: Install) -> None:
    def endless(node: cst.Attribute, context: FileContext) -> Iterator[Draft]:
        return endless(node, context)

    result = check_bytes("some.py", b"a.data\n", rules(TNS201=endless))
    assert [code for code, _, _ in said(result)] == ["TNS900"]
    assert "nested too deeply" in result.findings[0].message
    assert result.troubles == ()


@pytest.mark.parametrize(
    "text",
    [
        "y = w.data" + " + 1" * DEEP + "\n",
        "y = w" + ".a" * DEEP + ".data\n",
        "y = w" + ".a()" * (DEEP * 4 // 9) + ".data\n",
        "y = " + "not " * DEEP + "w.data\n",
        "if a:\n    pass\n" + "elif b:\n    pass\n" * 500 + "else:\n    w.data\n",
        "".join("    " * depth + "if a:\n" for depth in range(90)) + "    " * 90 + "w.data\n",
    ],
    ids=["sum", "attributes", "calls", "not", "elif", "if"],
)
def test_deep_code_that_python_accepts_is_checked(rules: Install, text: str) -> None:
    config = rules(TNS201=fixing("detach()"))
    result = check_bytes("some.py", text.encode(), config)
    assert [code for code, _, _ in said(result)] == ["TNS201"]
    assert fix_bytes("some.py", text.encode(), config).raw == text.replace(".data", ".detach()").encode()


@pytest.mark.parametrize("link", [".a()", " + 1", "[0]", ".a"])
def test_a_chain_of_thousands_does_not_end_the_process(link: str) -> None:
    program = (
        "from torchlint.config import Config; from torchlint.linter.engine import check_bytes\n"
        f"result = check_bytes('some.py', ('y = x' + {link!r} * 5000 + '\\nz = w.detach().cpu()\\n').encode(),"
        " Config(select=('TNS104',)))\n"
        "print(result.troubles, [each.code for each in result.findings])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() in ("() []", "() ['TNS900']")


def test_the_recursion_limit_is_put_back(rules: Install) -> None:
    before = sys.getrecursionlimit()
    check_bytes("some.py", b"a.data\n", rules(TNS201=crashing))
    assert sys.getrecursionlimit() == before
