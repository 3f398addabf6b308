"""What of a text counts for other files: its code, not its comments and empty lines."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from torchlint.source.bare_code import code_digest, without_comments

CODE = b"import torch\n\n\ndef f(x):\n    '''Say.\n\n    # more\n    '''\n    return x['#'], f\"{x['a#']:{x}}\"\n"


@pytest.mark.parametrize(
    "text",
    [
        b"# a\n" + CODE,
        CODE + b"\n\n# a 'quote",
        CODE.replace(b"\n\n\n", b"  # torch\n"),
        CODE.replace(b"    return", b"\n  # a\n    return"),
        CODE.replace(b"):\n", b"):  \t\n"),
        b"\n".join(each + b"  # c" if each.startswith((b"import", b"def")) else each for each in CODE.split(b"\n")),
    ],
)
def test_comments_and_empty_lines_change_nothing(text: bytes) -> None:
    assert code_digest(text) == code_digest(CODE)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b"x = '#a'", b"x = '#b'"),
        (b"x = '''\n#a\n'''", b"x = '''\n#b\n'''"),
        (b"x = 'a\\\n#a'", b"x = 'a\\\n#b'"),
        (b"x = '''\n\n'''", b"x = '''\n'''"),
        (b"if x:\n  y\n  z", b"if x:\n  y\nz"),
        (b"x = []  # type: list[int]", b"x = []  # type: list[str]"),
        (b"# coding: latin-1\nx = 1", b"# coding: utf-8\nx = 1"),
        (b"# \xff\nx = 1", b"# \nx = 1"),
        (b"# \0\nx = 1", b"# \nx = 1"),
        (b"x = 1 + \\\n2", b"x = 1 + \\\n\n2"),
        (b"x = 1 + \\\n2", b"x = 1 + \\ \n2"),
        (b'x = f"{d["#"]} {y}"', b'x = f"{d["#"]} {z}"'),
        (b'x = f"{\'}"#\'} {y}"', b'x = f"{\'}"#\'} {z}"'),
        (b'x = rf"""{d["""#"""]} {y}"""', b'x = rf"""{d["""#"""]} {z}"""'),
        (b"x = 'a\n# b\ny = 'c'", b"x = 'a\n# b\ny = 'd'"),
    ],
)
def test_code_counts(one: bytes, other: bytes) -> None:
    assert code_digest(one) != code_digest(other)


def test_a_line_is_in_its_place_or_not() -> None:
    shifted = CODE.replace(b"def", b"# c\ndef")
    assert code_digest(shifted, [1]) == code_digest(CODE, [1])
    assert code_digest(shifted, [4]) != code_digest(CODE, [4])
    assert code_digest(CODE, [3]) != code_digest(CODE, [4])
    taken = CODE.replace(b"\n\n\ndef f(x):", b"\n\ndef f(x):\n# c")
    assert code_digest(taken, [4]) != code_digest(CODE, [4])
    assert code_digest(taken, [9]) == code_digest(CODE, [9])


def test_only_comments_become_blanks() -> None:
    for path in sorted(Path(__file__).parents[1].glob("t*/**/*.py")):
        text = path.read_bytes()
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            continue
        assert ast.dump(ast.parse(without_comments(text)), include_attributes=True) == ast.dump(
            tree, include_attributes=True
        )
