"""What keeps a finding the same finding, and what makes it another one."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

import pytest

from torchlint.diagnostics.model import Confidence, Finding
from torchlint.selection.fingerprints import Identity, identities
from torchlint.source.text import decode


def known(text: str, word: str = "numpy", code: str = "TNS101") -> tuple[Identity, ...]:
    """Take every occurrence of a word for a finding."""
    source = decode("a.py", text.encode())
    found, at = [], -1
    while (at := source.utf8.find(word.encode(), at + 1)) >= 0:
        found.append(Finding(code, "n", at, at + len(word.encode()), "m", Confidence.CERTAIN))
    return identities(source, found)


def prints(text: str, word: str = "numpy", code: str = "TNS101") -> list[str]:
    return [each.fingerprint for each in known(text, word, code)]


PLAIN = "def f(x):\n    return g(x.numpy(), 'a')\n"


@pytest.mark.parametrize(
    "same",
    [
        "import os\n\n\n" + PLAIN,
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("    ", "\t"),
        PLAIN.replace("'a'", '"a"'),
        PLAIN.replace("'a'", "u'''a'''"),
        PLAIN.replace("'a'", "'' 'a'"),
        PLAIN.replace("g(x.numpy(), 'a')", "(g(\n        x  # why\n        .numpy(),\n        'a',\n    ))"),
        PLAIN.replace("return", "y = 1; return"),
        PLAIN.replace("return", "h(x)\n    return"),
        "@d\n" + PLAIN,
        PLAIN.replace("(x):", "(x, *, y: int = 1) -> None:"),
        PLAIN.replace("    return", "    if x:\n        return"),
        "\ufeff" + PLAIN,
    ],
)
def test_moved_and_reformatted_code_keeps_its_fingerprint(same: str) -> None:
    assert len(prints(PLAIN)) == 1
    assert prints(same) == prints(PLAIN)


@pytest.mark.parametrize(
    "other",
    [
        PLAIN.replace("def f", "def h"),
        "class C:\n" + "".join(f"    {line}\n" for line in PLAIN.splitlines()),
        PLAIN.replace("'a'", "'b'"),
        PLAIN.replace("'a'", "b'a'"),
        PLAIN.replace("'a'", "None"),
        PLAIN.replace("x.numpy", "y.numpy"),
        PLAIN.replace("return ", "z = "),
        PLAIN.replace("g(x", "g(*x"),
    ],
)
def test_other_code_has_another(other: str) -> None:
    assert len(prints(other)) == 1
    assert prints(other) != prints(PLAIN)


def test_the_rule_has_a_part_and_the_path_has_none() -> None:
    assert prints(PLAIN, code="TNS102") != prints(PLAIN)
    source = decode("b.py", PLAIN.encode())
    at = source.utf8.index(b"numpy")
    found = Finding("TNS101", "other", at, at + 5, "other words", Confidence.POSSIBLE)
    assert [each.fingerprint for each in identities(source, [found])] == prints(PLAIN)


def test_findings_that_are_alike_are_counted_by_place() -> None:
    text = "def f(x):\n    a(x.numpy())\n    a(x.numpy())\n    a(x.numpy() + x.numpy())\n"
    first = prints(text)
    assert len(set(first)) == 4
    source = decode("a.py", text.encode())
    found = [
        Finding("TNS101", "n", each.start(), each.end(), "m", Confidence.CERTAIN) for each in re.finditer("numpy", text)
    ]
    turned = identities(source, list(reversed(found)))
    assert [each.fingerprint for each in turned] == list(reversed(first))


@pytest.mark.parametrize(
    ("text", "scopes"),
    [
        ("x.numpy()\n", [""]),
        ("class A:\n    def g(self):\n        def h():\n            x.numpy()\n", ["A.g.h"]),
        ("class A:\n    @d(x.numpy())\n    def g(self, a=x.numpy()): x.numpy()\n", ["A", "A", "A.g"]),
        ("async def f():\n    async for i in x.numpy():\n        x.numpy()\n", ["f", "f"]),
        ("class A(x.numpy()): pass\n", [""]),
        ("def f(:\n    x.numpy()\n", [""]),
    ],
)
def test_the_definition_around_a_finding_is_named(text: str, scopes: list[str]) -> None:
    assert [each.scope for each in known(text)] == scopes


@pytest.mark.parametrize(
    "head",
    [
        "if x.numpy():",
        "while x.numpy():",
        "for i in x.numpy():",
        "with x.numpy() as y:",
        "def f(a=x.numpy()):",
        "class A(x.numpy()):",
        "try:\n    pass\nexcept x.numpy():",
        "match y:\n  case 1 if x.numpy():",
        "@x.numpy()\ndef f():",
    ],
)
def test_of_a_block_only_its_head_counts(head: str) -> None:
    one, other = prints(f"{head}\n    y = 1\n"), prints(f"{head}\n    y = 2\n    z(y)\n")
    assert len(one) == 1
    assert one == other
    assert prints(f"{head.replace('x.', 'w.')}\n    y = 1\n") != one


def test_code_that_does_not_parse_goes_by_its_row() -> None:
    assert prints("def f(:\nx.numpy()\n") == prints("\ndef g(:\n  x . numpy( )\n")
    assert prints("def f(:\nx.numpy()\n") != prints("def f(:\ny.numpy()\n")
    found = Finding("TNS900", "syntax-error", 0, 0, "m", Confidence.CERTAIN)
    other = replace(found, code="TNS901")
    assert len({*identities(None, [found, other])}) == 2
    assert identities(None, []) == ()


def test_deep_code_is_no_trouble() -> None:
    assert len(set(prints("x = " + "a + " * 900 + "x.numpy()\n"))) == 1
    assert len(prints("x = " + "(" * 900 + "x.numpy()" + ")" * 900 + "\n")) == 1


def test_many_findings_in_one_file_cost_one_parse(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    real = ast.parse
    monkeypatch.setattr(ast, "parse", lambda *given: calls.append(1) or real(*given))
    assert len(set(prints("x.numpy()\n" * 2000))) == 2000
    assert calls == [1]


def test_fingerprints_are_the_same_on_every_python() -> None:
    """They are kept in files: these stand here as they came out of Python 3.10 and must never change."""
    text = (
        PLAIN
        + "def h(x):\n    y: int = f'{x.numpy()!r:>{w}} é {1e300 * 10}', {**a}, lambda a=1: (yield), '\\x7f\u0301'\n"
    )
    assert prints(text) == ["3a751b88c0ff6a46f4b0c4aea42e36be", "3237ef75058b6b6cf39464f907d23cca"]
    assert prints("def f(:\nx.numpy()\n") == ["2333d3a1c86d831be5e454def8d98412"]
