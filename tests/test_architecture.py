"""The house as docs/architecture.md draws it: arrows downward, small rooms, rules that are complete and pure."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, replace
from functools import cache
from pathlib import Path

import pytest

from torchlint.diagnostics.registry import BY_CODE, RULES
from torchlint.diagnostics.rule_metadata import RuleMetadata
from torchlint.linter.rule_modules import load

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "torchlint"
MODULES = sorted(PACKAGE.rglob("*.py"))
DOORS = frozenset({"", "__main__", "flake8_plugin"})
"""Rooms that are doors to the program: they stand above all others."""
NESTED = {"rules"}
"""Packages whose own packages and modules are rooms."""

ENGINE = ("texts", "semantic", "values", "models", "evaluation", "flow", "answers")
ASKED_BESIDE_THE_DOOR = {
    "models/operation_sets.py",
    *(f"texts/{name}.py" for name in ("binders", "bindings", "default_setters", "device_names")),
    *(f"texts/{name}.py" for name in ("project_view", "run_later", "tracers")),
}
"""What the vocabulary of rules takes from the engine itself: the list may only become shorter."""

MOST_LINES, LONGEST_FUNCTION = 500, 60


def label(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def order() -> list[str]:
    """Return the rooms as the table of docs/architecture.md lists them, the lowest first."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    return re.findall(r"^\| `([a-z0-9_.]+)` \|", text, re.MULTILINE)


def room(path: Path) -> str:
    """Return the package that a module belongs to, or the module where it is a room of its own."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    return ".".join(parts[: 2 if parts and parts[0] in NESTED else 1])


@cache
def imports(path: Path) -> frozenset[Path]:
    """Return the package's own modules that a module imports: at the top, in functions and for the type checker."""
    return frozenset(_imports(path))


def _imports(path: Path) -> Iterator[Path]:
    for node in ast.walk(tree(path)):
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


def _module(name: str) -> Path | None:
    if name.partition(".")[0] != "torchlint":
        return None
    base = ROOT.joinpath(*name.split("."))
    return next((each for each in (base.with_suffix(".py"), base / "__init__.py") if each.exists()), None)


# ---------------------------------------------------------------------- weight
def test_a_package_keeps_to_its_budget_of_lines() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    budgets = {
        name: int(most.replace(",", ""))
        for name, most in re.findall(r"^\| ([a-z]+) \| ([\d,]+) \|$", text, re.MULTILINE)
    }
    weights = Counter(dict.fromkeys(budgets, 0))
    for path in MODULES:
        package, *inside = path.relative_to(PACKAGE).parts
        if inside:
            weights[package] += path.read_text(encoding="utf-8").count("\n")
    assert set(weights) == set(budgets), "every package has a budget"
    assert {name: weight for name, weight in weights.items() if weight > budgets[name]} == {}


# ---------------------------------------------------------------------- arrows
def test_every_module_has_a_room_in_the_table_and_every_room_exists() -> None:
    assert sorted(order()) == sorted({room(path) for path in MODULES} - DOORS - NESTED)


@pytest.mark.parametrize("path", [path for path in MODULES if room(path) not in DOORS | NESTED], ids=label)
def test_a_module_imports_only_what_stands_above_it_in_the_table(path: Path) -> None:
    own = order().index(room(path))
    others = {other: room(other) for other in imports(path)}
    assert {label(other) for other, name in others.items() if name in DOORS or order().index(name) > own} == set()


def test_what_is_known_is_asked_for_at_one_door() -> None:
    inside = [path for path in MODULES if any(path.is_relative_to(PACKAGE / each) for each in ENGINE)]
    others = {
        label(path): {label(other) for other in imports(path) if other in inside}
        for path in MODULES
        if path not in inside and label(path) != "knowledge.py"
    }
    assert {name: found for name, found in others.items() if found} == {"rules/api.py": ASKED_BESIDE_THE_DOOR}


def test_packages_form_no_circle() -> None:
    """The table above is an order; this asks the imports alone, whatever the table says."""
    arrows: dict[str, set[str]] = {room(path): set() for path in MODULES}
    for path in MODULES:
        arrows[room(path)] |= {room(other) for other in imports(path)} - {room(path)}
    settled: set[str] = set()
    while ready := {name for name, others in arrows.items() if name not in settled and others <= settled}:
        settled |= ready
    assert sorted(set(arrows) - settled) == []


def test_no_name_of_a_module_means_two_things() -> None:
    counted = Counter(path.stem for path in MODULES if not path.stem.startswith("__"))
    assert [name for name, count in counted.items() if count > 1] == []


def test_no_name_of_a_public_class_means_two_things() -> None:
    counted = Counter(
        node.name
        for path in MODULES
        for node in tree(path).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, count in counted.items() if count > 1] == []


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
    assert room(path).startswith("verify") or not named & {"torch", "numpy"}


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


def test_linting_does_not_load_torch_or_numpy_or_rich(tmp_path: Path) -> None:
    (tmp_path / "some.py").write_text(
        "import torch\n\n\ndef f(net, x):\n    return net(x.data).numpy(), torch.Tensor(2)\n"
    )
    found = loaded(RUN.format(["some.py", "--fix", "--unsafe-fixes", "--select", "ALL"]), tmp_path)
    assert "libcst" in found
    assert not found & {"torch", "numpy", "rich"}
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
            if re.match(
                r"torchlint\.((linter\.engine|facts|texts|semantic|values|models|evaluation|flow|answers|knowledge|rules)\b|syntax\.(?!prefilter)|source\.notebook_)",
                each,
            )
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
    assert writers == {"source/files.py"}


# ---------------------------------------------------------------------- rules
REAL = [entry for entry in RULES if entry.words]


@pytest.mark.parametrize("entry", REAL, ids=lambda entry: entry.code)
def test_a_rule_is_complete(entry: RuleMetadata) -> None:
    assert load(entry.code).code == entry.code
    told = replace(load(entry.code), family=entry.family)  # the registry alone knows in which package a rule stands
    assert [getattr(told, each.name) for each in fields(entry)] == [getattr(entry, each.name) for each in fields(entry)]
    assert load(entry.code).visit
    assert (ROOT / "docs" / "rules" / f"{entry.code}.md").is_file()
    fixtures = ROOT / "tests" / "fixtures" / "rules" / entry.code
    assert list(fixtures.glob("silent*.py"))
    assert [path for path in fixtures.glob("*.py") if not path.name.startswith("silent")]


def test_every_rule_module_is_in_the_registry_under_its_own_name() -> None:
    made = {
        f"{path.parent.name}.{path.stem}"
        for path in (PACKAGE / "rules").glob("*/*.py")
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


@pytest.mark.parametrize("path", sorted((PACKAGE / "rules").glob("*/*.py")), ids=label)
def test_rules_only_say_what_they_see(path: Path) -> None:
    others = {label(other) for other in imports(path)}
    assert {each for each in others if not each.startswith("rules/")} <= {
        "diagnostics/assumptions.py",
        "diagnostics/model.py",
    }
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
