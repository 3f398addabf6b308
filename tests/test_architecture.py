"""The house as docs/architecture.md draws it: arrows downward, small rooms, rules that are complete and pure."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest

from torchlint.registry import BY_CODE, RULES
from torchlint.rule import load
from torchlint.rule_metadata import RuleMetadata

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "torchlint"
MODULES = sorted(PACKAGE.rglob("*.py"))
DOORS = frozenset({"__init__", "__main__"})
"""Names that stand for a package or a program and belong to no layer."""

MOST_LINES, LONGEST_FUNCTION = 400, 60


def label(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def layers() -> dict[str, int]:
    """Read the table: ``{"model": 0, "syntax/": 1, ...}``."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d) \| ([^|]*) \|", text, re.MULTILINE)
    return {room: int(layer) for layer, rooms in rows for room in re.findall(r"`([a-z0-9_/]+)`", rooms)}


def room(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return parts[0] if len(parts) == 1 else f"{parts[0]}/"


def imports(path: Path, only_at_the_top: bool = False) -> Iterator[Path]:
    """Give the package's own modules that a module imports, those for the type checker alone left out."""
    for node in _statements(tree(path), only_at_the_top):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            found = _module(name) or _module(name.rpartition(".")[0])
            if found and found != path:
                yield found


def _statements(node: ast.AST, only_at_the_top: bool) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        if only_at_the_top and isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        yield child
        yield from _statements(child, only_at_the_top)


def _module(name: str) -> Path | None:
    if name.partition(".")[0] != "torchlint":
        return None
    base = ROOT.joinpath(*name.split("."))
    return next((each for each in (base.with_suffix(".py"), base / "__init__.py") if each.exists()), None)


# ---------------------------------------------------------------------- arrows
def test_every_module_has_a_layer_and_every_named_room_exists() -> None:
    rooms = {room(path) for path in MODULES if path.stem not in DOORS or path.parent != PACKAGE}
    assert rooms == set(layers())


@pytest.mark.parametrize("path", [path for path in MODULES if room(path) not in DOORS], ids=label)
def test_arrows_point_downward(path: Path) -> None:
    table = layers()
    upward = [
        label(other) for other in imports(path) if room(other) not in DOORS and table[room(other)] > table[room(path)]
    ]
    assert upward == []


def test_no_module_imports_itself_by_way_of_others() -> None:
    arrows = {path: set(imports(path, only_at_the_top=True)) for path in MODULES}
    settled: set[Path] = set()
    while True:
        ready = {path for path, others in arrows.items() if path not in settled and others <= settled}
        if not ready:
            break
        settled |= ready
    assert [label(path) for path in MODULES if path not in settled] == []


@pytest.mark.parametrize("path", MODULES, ids=label)
def test_torch_and_numpy_are_imported_by_the_proof_only(path: Path) -> None:
    named = {
        name.partition(".")[0]
        for node in ast.walk(tree(path))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom) and not node.level
            else []
        )
    }
    assert room(path) == "proof/" or not named & {"torch", "numpy"}


MODELS = sorted((PACKAGE / "inference" / "models").glob("*.py"))
BELOW_MODELS = {"facts", "arguments", "names", "lexical"}
"""What the tables of torch's functions may rest on: the lattice, and what a text alone tells."""


@pytest.mark.parametrize("path", MODELS, ids=label)
def test_what_torch_does_is_known_without_the_interpreter(path: Path) -> None:
    named = {
        name
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ImportFrom) and node.module
        for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
    }
    inference = {name for name in named if re.match(r"torchlint\.inference\.(?!models\b)", name)}
    assert {name.split(".")[2] for name in inference} <= BELOW_MODELS


# ---------------------------------------------------------------------- what a run loads
def loaded(program: str, tmp_path: Path) -> set[str]:
    code = f"import sys\n{program}\nprint('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return set(done.stdout.splitlines())


RUN = "from torchlint.cli import main\ntry:\n    main({!r})\nexcept SystemExit:\n    pass"


def test_linting_does_not_load_torch_or_numpy(tmp_path: Path) -> None:
    (tmp_path / "some.py").write_text(
        "import torch\n\n\ndef f(net, x):\n    return net(x.data).numpy(), torch.Tensor(2)\n"
    )
    found = loaded(RUN.format(["some.py", "--fix", "--unsafe-fixes", "--select", "ALL"]), tmp_path)
    assert "libcst" in found
    assert not found & {"torch", "numpy"}
    assert ".detach()" in (tmp_path / "some.py").read_text()


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["rules"], ["explain", "TNS101"], ["plain.py"]])
def test_what_needs_no_tree_does_not_load_libcst(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "plain.py").write_text("import os\n\n\ndef f():\n    return os.getcwd()\n")
    found = loaded(RUN.format(arguments), tmp_path)
    assert "torchlint.cli" in found
    assert not found & {"libcst", "torch", "numpy", "rich"}


HEAVY = {"typing", "pathlib", "tempfile", "importlib.metadata", "pathspec"}
"""What takes longer to import than looking at a small file."""


@pytest.mark.parametrize("arguments", [["plain.py"], ["."], ["--no-cache", "plain.py"], ["--fix", "plain.py"]])
def test_a_run_that_finds_nothing_to_do_loads_little(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "plain.py").write_text("import os\n\n\ndef f():\n    return os.getcwd()\n")
    unavoidable = loaded("import argparse, contextlib, importlib.machinery, json", tmp_path)
    for _ in ("cold", "warm"):
        found = loaded(RUN.format(arguments), tmp_path) - unavoidable
        assert not found & HEAVY
        assert not {
            each
            for each in found
            if re.match(r"torchlint\.((engine|inference|rules?)\b|syntax\.(?!prefilter)|notebook\.)", each)
        }


# ---------------------------------------------------------------------- rooms
@pytest.mark.parametrize("path", MODULES, ids=label)
def test_a_module_says_what_it_knows_and_is_small(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) < MOST_LINES
    docstring = ast.get_docstring(tree(path))
    assert docstring
    assert re.search(r"[.?:]$", docstring.splitlines()[0] if "\n\n" in docstring else docstring)
    assert not re.search(r"util|helper|common|^base$|misc", path.stem)


@pytest.mark.parametrize("path", MODULES, ids=label)
def test_functions_are_short(path: Path) -> None:
    long = [
        node.name
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno + 1 >= LONGEST_FUNCTION
    ]
    assert long == []


@pytest.mark.parametrize("path", MODULES, ids=label)
def test_functions_say_their_types(path: Path) -> None:
    silent = [
        node.name
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is None
    ]
    assert silent == []


def test_only_one_room_changes_text_and_one_writes_files() -> None:
    writers = {
        label(path)
        for path in MODULES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("os.replace", "os.rename", "tempfile.mkstemp", "_opened")
    }
    assert writers == {"files.py"}


# ---------------------------------------------------------------------- rules
REAL = [entry for entry in RULES if entry.words]


@pytest.mark.parametrize("entry", REAL, ids=lambda entry: entry.code)
def test_a_rule_is_complete(entry: RuleMetadata) -> None:
    assert load(entry.code).code == entry.code
    assert [getattr(load(entry.code), each.name) for each in fields(entry)] == [
        getattr(entry, each.name) for each in fields(entry)
    ]
    assert load(entry.code).visit
    assert (ROOT / "docs" / "rules" / f"{entry.code}.md").is_file()
    fixtures = ROOT / "tests" / "fixtures" / "rules" / entry.code
    assert list(fixtures.glob("silent*.py"))
    assert [path for path in fixtures.glob("*.py") if not path.name.startswith("silent")]


def test_every_rule_module_is_in_the_registry_under_its_own_name() -> None:
    made = {
        path.stem
        for path in (PACKAGE / "rules").glob("*.py")
        for node in tree(path).body
        if (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "RULE")
        or (isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "RULE")
    }  # fmt: skip
    assert made == {entry.module for entry in REAL}


def test_codes_and_names_are_unique_and_in_order() -> None:
    codes = [entry.code for entry in RULES]
    assert codes == sorted(set(codes))
    assert len({entry.name for entry in RULES}) == len(codes) == len(BY_CODE)
    assert all(re.fullmatch(r"TNS\d{3}", code) for code in codes)


@pytest.mark.parametrize("path", sorted((PACKAGE / "rules").glob("*.py")), ids=label)
def test_rules_only_say_what_they_see(path: Path) -> None:
    others = {label(other) for other in imports(path)}
    assert {each for each in others if not each.startswith("rules/")} <= {"model.py", "rule/__init__.py"}
    reached = {  # ruff holds the rest of the package to the same
        ast.unparse(node)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and ast.unparse(node.value).endswith("context")
    }
    assert reached == set()
    calls = {ast.unparse(node.func) for node in ast.walk(tree(path)) if isinstance(node, ast.Call)}
    assert not calls & {"print", "open", "exec", "eval", "__import__", "setattr"}
    remembered = [ast.unparse(node) for node in ast.walk(tree(path)) if isinstance(node, ast.Global | ast.Nonlocal)]
    assert remembered == []


# ---------------------------------------------------------------------- the repository
def test_python_versions_agree() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert 'requires-python = ">=3.10"' in text
    assert "Python 3.10 or newer" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_gate_is_executable_and_its_steps_stand() -> None:
    gate = ROOT / ".ci" / "run"
    assert gate.stat().st_mode & 0o111
    text = gate.read_text(encoding="utf-8")
    assert "set -euo pipefail" in text
    for step in (
        "command: tests",
        '/ruff" check',
        '/ruff" format --check',
        'mypy" --strict',
        "generate.py --check",
        "--strict --site",
    ):
        assert step in text
    assert re.search(r'/torchlint" \.$', text, re.MULTILINE)
