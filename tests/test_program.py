"""Where a program finds its modules, what it reads for that, and what it says of it afterwards."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from torchlint.semantic import graph as g
from torchlint.semantic.lowering import lower
from torchlint.semantic.module_graph import MOST_BYTES, ModuleGraph
from torchlint.semantic.program import MODULE, Program, Rests


def write(root: Path, *paths: str, **texts: str) -> Program:
    """Write files, empty ones by path and others by name, and return the program of them."""
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("")
    for name, text in texts.items():
        (root / f"{name}.py").write_text(text)
    return Program(str(root))


def found(program: Program, importer: str, level: int, module: str) -> str | None:
    """Return where a module that is imported lies, from the root on."""
    file = program.file(os.path.join(program.root, importer))
    assert file is not None
    base = program.base_of(file, level, module)
    return os.path.relpath(base, program.root) if base is not None else None


@pytest.mark.parametrize(
    ("paths", "level", "module", "expected"),
    [
        (["p/__init__.py", "p/a.py", "p/b.py"], 1, "b", "p/b"),
        (["p/__init__.py", "p/a.py"], 1, "", "p"),
        (["p/__init__.py", "p/q/__init__.py", "p/a.py"], 0, "p.q", "p/q"),
        (["p/__init__.py", "p/a.py", "b.py"], 2, "b", "b"),
        (["p/__init__.py", "p/a.py", "b.py"], 0, "b", "b"),
        (["p/a.py", "p/b.py"], 0, "b", "p/b"),
        (["p/a.py", "space/inner/c.py"], 0, "space.inner.c", "space/inner/c"),
        (["p/a.py", "space/inner/c.py"], 0, "space", "space"),
        (["p/a.py", "src/q/__init__.py"], 0, "q", "src/q"),
        (["p/a.py", "tools/q/__init__.py", "tools/q/r.py"], 0, "q.r", "tools/q/r"),
        (["p/a.py", "tools/q.py", "more/q.py"], 0, "q", None),
        (["p/a.py", "torch/__init__.py"], 0, "torch", None),
        (["p/a.py"], 5, "b", None),
        (["p/a.py"], 0, "b", None),
        (["p/a.py", "b/data.txt"], 0, "b", None),
    ],
)
def test_modules_are_found_where_python_would(
    tmp_path: Path, paths: list[str], level: int, module: str, expected: str | None
) -> None:
    assert found(write(tmp_path, *paths), "p/a.py", level, module) == expected


def test_what_an_answer_rests_on_is_told_each_time(tmp_path: Path) -> None:
    program = write(tmp_path, a="import b\nimport c", b="x = 1")
    told = []
    for _ in ("found", "known before"):
        program.touched = 0
        assert found(program, "a.py", 0, "b") == "b"
        assert found(program, "a.py", 0, "c") is None
        told.append(set(program.rests_on(program.touched)))
    assert told[0] == told[1]
    assert {Rests(MODULE, str(tmp_path / "b")), Rests(MODULE, str(tmp_path / "c"))} <= told[0]
    assert program.digest(str(tmp_path / "b.py")) == hashlib.sha256(b"x = 1").hexdigest()


def test_a_text_from_memory_stands_in_place_of_the_file(tmp_path: Path) -> None:
    program = write(tmp_path, a="import b", b="x = 1")
    added = program.add(str(tmp_path / "b.py"), b"x = 2")
    new = program.add(str(tmp_path / "c.py"), b"y = 3")
    assert program.at(str(tmp_path / "b")) is added
    assert program.at(str(tmp_path / "c")) is new
    assert program.files_with("y = 3") == [new]
    assert program.files_with("x = 1") == []
    assert [os.path.basename(each) for each in program.paths()] == ["a.py", "b.py", "c.py"]


def test_words_are_searched_for_in_all_texts_at_once(tmp_path: Path) -> None:
    program = write(tmp_path, a="set_default_device('cuda')", b="jit.trace(f)")
    assert program.has_text(["set_default_device", "jit.trace", "vmap"]) == {"set_default_device", "jit.trace"}
    [file] = program.files_with("jit")
    assert file.path == str(tmp_path / "b.py")


def test_circles_of_imports_and_links_are_harmless(tmp_path: Path) -> None:
    program = write(tmp_path, "p/__init__.py", a="from b import *", b="from a import *\nx = 1")
    (tmp_path / "p" / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "self.py").symlink_to(tmp_path / "self.py")
    for path in program.paths():
        file = program.file(path)
        if file is not None:
            lower(file.body)
    file = program.file(str(tmp_path / "a.py"))
    assert file is not None
    assert file.stars == [(0, "b")]
    assert program.file(str(tmp_path / "self.py")) is None


@pytest.mark.parametrize("text", [b"x = (", b"\xff\xfe", b"x = 1\0", b"x" * (MOST_BYTES + 1)], ids=range(4))
def test_what_is_no_program_text_is_an_empty_module(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "a.py").write_bytes(text)
    file = Program(str(tmp_path)).file(str(tmp_path / "a.py"))
    assert file is not None
    assert file.tree.body == []
    assert lower(file.body).returns == []


def test_what_cannot_be_read_is_an_empty_module(tmp_path: Path) -> None:
    (tmp_path / "a.py").mkdir()
    (tmp_path / "b.py").write_text("x = 1")
    (tmp_path / "b.py").chmod(0)
    program = Program(str(tmp_path))
    assert program.file(str(tmp_path / "a.py")) is None
    file = program.file(str(tmp_path / "b.py"))
    assert file is not None
    assert file.tree.body == [] or os.geteuid() == 0


# ---------------------------------------------------------------------- one module
def module(text: str) -> ModuleGraph:
    return Program("/nowhere").add("/nowhere/test_m.py", text.encode())


def test_an_export_is_one_node() -> None:
    file = module("x = 1")
    assert file.export("x") is file.export("x")
    assert (file.export("x").op, file.export("x").data, file.export("x").fn) == (g.EXPORT, "x", file.body)


def test_functions_are_numbered_by_the_text_alone() -> None:
    file = module(
        "f = lambda: 1\ndef a(x=lambda: 2):\n    def b(): pass\n    return\n    def dead(): pass\n"
        "class C:\n    def c(self): pass"
    )
    assert [each.name for each in file.functions] == ["<module>", "<lambda>", "a", "<lambda>", "b", "dead", "c"]
    assert [each.identity for each in file.functions] == list(range(7))
    assert file.functions[-1].qualified == "C.c"
    fresh = module(file.text.decode())
    dead = fresh.outline.functions[4]
    assert fresh.function_of(dead).identity == 5
    assert not fresh.function_of(dead).params


def test_calls_and_mentions_are_found_by_their_last_word() -> None:
    file = module(
        "def f():\n    a.g(h, len(k), *w, key=b.m)\n    x.n[0] = p + q\n    return r\n@d\nclass C(B): z: T = s"
    )
    [call] = file.calls["g"]
    node = file.node_of_call(call)
    assert node is not None
    assert node.op == g.CALL
    [mention] = file.mentions["h"]
    assert file.node_of(mention.node) is node
    assert file.function_of(mention.owner).name == "f"
    assert sorted(file.mentions) == ["d", "h", "m", "r", "s", "w"]


def test_a_file_tells_of_itself() -> None:
    file = module(
        "import torch.nn\nfrom numpy import x\nfrom . import y\ndef f():\n    import os.path as p\n    g(1,\n      é)"
    )
    assert file.packages == {"torch", "numpy", "os"}
    assert file.is_test
    [call] = file.calls["g"]
    assert file.code(call.node) == "g(1, é)"
