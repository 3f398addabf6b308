"""A file is parsed once, whoever asks first: the check of it, or that of a file that imports it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from torchlint.config import Config
from torchlint.linter.engine import check_bytes
from torchlint.syntax import ast_index
from torchlint.syntax.ast_index import tree_of

NETS = b"import torch\n\n\ndef made():\n    return torch.ones(2, requires_grad=True)\n\n\na = made().numpy()\n"
TRAIN = b"from nets import made\n\nx = made()\ny = x.numpy()\n"


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return the texts that are parsed, as they are."""
    texts: list[bytes] = []

    def parse(code: str | bytes) -> ast.Module:
        texts.append(code if isinstance(code, bytes) else code.encode())
        return ast.parse(code)

    monkeypatch.setattr(ast_index, "_parse", parse)
    return texts


def test_a_tree_is_that_of_a_path_and_its_bytes() -> None:
    made = tree_of("/a.py", b"x = 1\n", "x = 1\n")
    assert tree_of("/a.py", b"x = 1\n", b"x = 1\n") is made
    assert tree_of("/a.py", b"x = 2\n", "x = 2\n") is not made
    assert tree_of("/b.py", b"x = 1\n", "x = 1\n") is not made


def test_a_checked_file_is_not_parsed_again_for_another(parsed: list[bytes], tmp_path: Path) -> None:
    (tmp_path / "nets.py").write_bytes(NETS)
    config = Config(cwd=str(tmp_path))
    nets, train = check_bytes("nets.py", NETS, config), check_bytes("train.py", TRAIN, config)
    assert parsed == [NETS, TRAIN]
    assert [each.code for each in (*nets.findings, *train.findings)] == ["TNS101", "TNS101"]
    assert (nets.source and nets.source.path, train.source and train.source.path) == ("nets.py", "train.py")


def test_a_file_that_was_read_for_another_is_not_parsed_again(parsed: list[bytes], tmp_path: Path) -> None:
    (tmp_path / "nets.py").write_bytes(NETS)
    config = Config(cwd=str(tmp_path))
    check_bytes("train.py", TRAIN, config)
    first, again = check_bytes("nets.py", NETS, config), check_bytes("nets.py", NETS, config)
    other = check_bytes("nets.py", NETS + b"b = 1\n", config)
    assert parsed == [TRAIN, NETS, NETS + b"b = 1\n"]
    assert first.findings == again.findings == other.findings
    assert [each.code for each in again.findings] == ["TNS101"]
