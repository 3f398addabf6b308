"""Inference across files: the projects in ``tests/fixtures/projects``.

They hold ``reveal`` comments as the cases of one file do (see ``test_inference.py``); torch runs them here too, with
``src`` and the script's own folder on the path, as their users would.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from tests.expected_differences import hold
from tests.observed import Rows, faults, lacks_accelerator, quiet
from tests.observed import revealed as rows_of
from tests.projects import analysed
from tests.test_inference import Revealed, disagreements, spelled
from torchlint.config import Config
from torchlint.facts.value import Grad, Mode
from torchlint.knowledge import Knowledge
from torchlint.linter.engine import check_bytes

PROJECTS = Path(__file__).parent / "fixtures" / "projects"
FILES = sorted(path for path in PROJECTS.rglob("*.py") if "reveal(" in path.read_text())


@cache
def of_project(path: Path) -> Knowledge:
    return analysed(path)


@cache
def revealed(path: Path) -> tuple[Revealed, ...]:
    rows = path.read_text().splitlines()
    nodes = rows_of(of_project(path).index.tree)
    comments = {row: rows[row - 1].partition("  # ")[2].partition("; presumed: ")[0] for row in sorted(nodes)}
    return tuple(Revealed(path, row, nodes[row], comment) for row, comment in comments.items())


def presumed(path: Path) -> Iterator[Revealed]:
    """Yield the rows with what is presumed of them: the same as is known where nothing else is said."""
    rows = path.read_text().splitlines()
    for each in revealed(path):
        yield replace(each, expected=rows[each.row - 1].partition("; presumed: ")[2] or each.expected)


ALL = [each for path in FILES for each in revealed(path)]


@pytest.mark.parametrize("case", ALL, ids=str)
def test_what_a_careful_reader_knows(case: Revealed) -> None:
    value = of_project(case.path).value(case.node)
    wrong = disagreements(value, case.expected)
    hold(str(case), wrong, f"{ast.unparse(case.node)}  # {case.expected}\nis {spelled(value)}")


PRESUMED = [each for path in FILES if "; presumed: " in path.read_text() for each in presumed(path)]


@pytest.mark.parametrize("case", PRESUMED, ids=str)
def test_what_is_presumed_of_calls(case: Revealed) -> None:
    value = of_project(case.path).presuming.value(case.node)
    hold(f"{case} presumed", disagreements(value, case.expected), spelled(value))


def test_there_are_enough_cases() -> None:
    assert len(ALL) >= 90


# ---------------------------------------------------------------------- torch runs them
@contextmanager
def imported_from(*folders: Path) -> Iterator[None]:
    """Import from these folders, and leave neither them nor what was imported behind."""
    before, known = sys.path[:], set(sys.modules)
    sys.path[:0] = map(str, folders)
    try:
        yield
    finally:
        sys.path[:] = before
        for name in set(sys.modules) - known:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(PROJECTS)):
                del sys.modules[name]


def module_of(path: Path) -> tuple[str, str]:
    """Return the name of a module and its package as Python would."""
    if path.parent.name == "scripts":
        return path.stem, ""
    parts = path.relative_to(path.parents[[each.name for each in path.parents].index("src")]).with_suffix("").parts
    return ".".join(parts), ".".join(parts[:-1])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_a_run_shows_lies_within_what_was_inferred(path: Path) -> None:
    torch = pytest.importorskip("torch")
    expressions = {each.row: each.node for each in revealed(path)}
    seen: set[int] = set()
    wrong: list[str] = []

    def reveal(thing: object, row: int) -> object:
        seen.add(row)
        value = of_project(path).value(expressions[row])
        if not torch.is_grad_enabled() and of_project(path).mode(expressions[row]) == Mode.ON:
            value = value.having(grad=value.grad | Grad.DETACHED)  # a body is read as if called with grad mode on
        presumed = of_project(path).presuming.value(expressions[row])
        if not torch.is_grad_enabled():
            presumed = presumed.having(grad=presumed.grad | Grad.DETACHED)
        found = [each for known in (value, presumed) for each in faults(thing, known)]
        wrong.extend(f"{row} {ast.unparse(expressions[row])}: {each}" for each in found)
        return thing

    name, package = module_of(path)
    names: dict[str, object] = {"reveal": reveal, "__name__": name, "__package__": package, "__file__": str(path)}
    tree = ast.parse(path.read_text())
    with (
        imported_from(path.parent, PROJECTS / "mixed" / "src")
        if package == ""
        else imported_from(PROJECTS / "mixed" / "src")
    ):
        exec(compile(Rows().visit(tree), str(path), "exec"), names)
        for function in tree.body:
            if isinstance(function, ast.FunctionDef) and not function.name.startswith("_") and not function.args.args:
                with quiet():
                    _run(names[function.name])
    assert not wrong, "\n".join(wrong)
    accelerated = {row for row, node in expressions.items() if "cuda" in ast.unparse(node)}
    missing = set(expressions) - seen - accelerated - NOT_REACHED.get(path.stem, set())
    assert not missing, f"never reached: {sorted(missing)}"


def _run(case: object) -> None:
    try:
        case()  # type: ignore[operator]
    except Exception as error:  # the last row of a case may need an accelerator
        if not lacks_accelerator(error):
            raise


NOT_REACHED = {"stars": {21, 25, 29}, "conditional": {57}}
"""Rows that raise ``NameError`` when run, as they should, or whose library is nowhere installed."""


@pytest.mark.parametrize("name", ["#588.py", "a#b~c@1.py", "b@2.d.py"])
def test_a_files_name_may_hold_any_sign(tmp_path: Path, name: str) -> None:
    (tmp_path / "pyproject.toml").touch()
    text = (
        "import functools\n\nimport torch\n\n\ndef kept(function):\n    @functools.wraps(function)\n"
        "    def inner(x):\n        return function(x)\n\n    return inner\n\n\n@kept\ndef doubled(x):\n"
        "    return x * 2\n\n\na = doubled(torch.ones(2, requires_grad=True)).numpy()\n"
        "b = doubled(torch.ones(2)).numpy()\n"
    )
    results = []
    for path in (tmp_path / "plain.py", tmp_path / name):
        path.write_text(text)
        results.append(check_bytes(str(path), text.encode(), Config()))
        path.unlink()
    plain, found = ([(each.code, each.start, each.confidence) for each in result.findings] for result in results)
    assert results[1].troubles == ()
    assert plain == found
    assert [code for code, _, _ in found] == ["TNS101"]
