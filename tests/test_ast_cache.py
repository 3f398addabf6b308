"""AstCache of files read lately: found by path and bytes, dropped when there are too many, used again for a check."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.config import Config
from torchlint.linter import engine
from torchlint.linter.engine import check_bytes
from torchlint.source.text import Source, decode
from torchlint.syntax import ast_index
from torchlint.syntax.ast_index import AstCache, AstIndex, index_of

NETS = b"import torch\n\n\ndef made():\n    return torch.ones(2, requires_grad=True)\n\n\na = made().numpy()\n"
TRAIN = b"from nets import made\n\nx = made()\ny = x.numpy()\n"


def _made(raw: bytes) -> AstIndex:
    return index_of(decode("a.py", raw))


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the files that are parsed to be checked, as they are."""
    names: list[str] = []

    def parse(source: Source) -> AstIndex:
        names.append(Path(source.path).name)
        return index_of(source)

    monkeypatch.setattr(ast_index, "index_of", parse)
    return names


def test_a_tree_is_found_by_path_and_bytes() -> None:
    kept, made = AstCache(), _made(b"x = 1\n")
    kept.keep("/a.py", made)
    assert kept.find("/a.py", b"x = 1\n") is made
    assert kept.find("/a.py", b"x = 2\n") is None
    assert kept.find("/b.py", b"x = 1\n") is None


def test_those_used_last_are_kept_longest_and_the_last_one_always() -> None:
    kept = AstCache(most=20)
    for name in "abc":
        kept.keep(name, _made(b"x = 1234\n"))
        kept.find("a", b"x = 1234\n")
    assert [name for name in "abc" if kept.find(name, b"x = 1234\n")] == ["a", "c"]
    kept.keep("d", _made(b"x = 1" + b"0" * 99))
    assert list(kept._asked_for._kept) == ["d"]
    kept.keep("e", _made(b"x = 1\n"))
    kept.keep("e", _made(b"x = 2\n"))
    assert (list(kept._asked_for._kept), kept._asked_for._size) == (["e"], 6)


def test_trees_of_checked_files_are_kept_apart_until_another_file_asks() -> None:
    kept, texts = AstCache(most_checked=20), {name: decode(name, b"x = 1234\n") for name in "abc"}
    for name, source in texts.items():
        kept.of(name, source)
    assert list(kept._checked._kept) == ["b", "c"]
    made = kept.find("b", texts["b"].raw)
    assert made is not None
    assert kept.of("b", decode("b", texts["b"].raw)).tree is made.tree
    assert (list(kept._checked._kept), list(kept._asked_for._kept)) == (["c"], ["b"])
    assert (kept._checked._size, kept._asked_for._size) == (9, 9)


def test_trees_that_nobody_asks_for_are_let_go_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ast_index, "_MOST_CHECKS", 3)
    kept, raw = AstCache(), b"x = 1\n"
    for name in "ab":
        kept.keep(name, _made(raw))
    for number in range(4):
        kept.of(f"c{number}", decode("c", b"%d\n" % number))
        kept.find("b", raw)
    assert (list(kept._asked_for._kept), list(kept._checked._kept)) == (["b"], ["c0", "c1", "c2", "c3"])
    kept.of("c4", decode("c", b"4\n"))
    assert (kept._asked_for._size, list(kept._checked._kept)) == (6, ["c1", "c2", "c3", "c4"])


def test_a_text_in_an_editor_and_the_one_on_disk_do_not_drive_each_other_out() -> None:
    kept, disk = AstCache(), _made(b"x = 1\n")
    kept.keep("a", disk)
    edited = kept.of("a", decode("a", b"x = 2\n"))
    assert kept.find("a", b"x = 1\n") is disk
    assert kept._checked.find("a", b"x = 2\n") is edited


def test_a_checked_file_is_not_parsed_again_for_another(
    parsed: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ast_index.AST_CACHE, "_asked_for", ast_index._BoundedCache(1_000))
    monkeypatch.setattr(ast_index.AST_CACHE, "_checked", ast_index._BoundedCache(1_000))
    (tmp_path / "nets.py").write_bytes(NETS)
    config = Config(cwd=str(tmp_path))
    nets, train = check_bytes("nets.py", NETS, config), check_bytes("train.py", TRAIN, config)
    assert parsed == ["nets.py", "train.py"]
    assert [each.code for each in (*nets.findings, *train.findings)] == ["TNS101", "TNS101"]
    assert (nets.source and nets.source.path, train.source and train.source.path) == ("nets.py", "train.py")


def test_a_file_that_was_read_for_another_is_not_parsed_again(
    parsed: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ast_index.AST_CACHE, "_asked_for", ast_index._BoundedCache(1_000))
    monkeypatch.setattr(ast_index.AST_CACHE, "_checked", ast_index._BoundedCache(0))
    (tmp_path / "nets.py").write_bytes(NETS)
    config = Config(cwd=str(tmp_path))
    alone = check_bytes("nets.py", NETS, config)
    check_bytes("train.py", TRAIN, config)
    again = check_bytes("nets.py", NETS, config)
    other = check_bytes("nets.py", NETS + b"b = 1\n", config)
    assert parsed == ["nets.py", "train.py", "nets.py"]
    assert alone.findings == again.findings == other.findings
    assert again.source is not None
    assert again.source.path == "nets.py"
    assert [each.code for each in again.findings] == ["TNS101"]
    assert engine.AST_CACHE is ast_index.AST_CACHE
