"""No order changes a finding: of a file's definitions, of what stands around them, of the rules, of the questions."""

from __future__ import annotations

import ast
import random
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.projects import written
from torchlint.config import Config
from torchlint.diagnostics.model import Confidence, Settings
from torchlint.knowledge import analyse
from torchlint.linter.engine import check_bytes
from torchlint.source.text import decode
from torchlint.syntax.ast_index import index_of

FIXTURES = Path(__file__).parent / "fixtures" / "rules"
EVERYTHING = Config(min_confidence=Confidence.UNPROVEN)

UNRELATED = """\
def unrelated_{0}(path, net):
    with open(path) as stream:
        rows = [line.split() for line in stream]
    table = {{row[0]: net(row) for row in rows}}
    return [table[key] for key in sorted(table)]
"""


def findings(text: str, config: Config = EVERYTHING, path: str = "<example>") -> Counter[tuple[object, ...]]:
    """Return what is found with the statements at which it stands, without numbers of lines."""
    result = check_bytes(path, text.encode(), config)
    assert result.source is not None
    lines = text.splitlines()
    found: Counter[tuple[object, ...]] = Counter()
    for each in result.findings:
        row, _ = result.source.position(each.start)
        why = tuple(re.sub(r"\bline \d+", "line", str(step)) for step in each.why)
        found[each.code, each.confidence, re.sub(r"\bline \d+", "line", each.message), why, lines[row - 1]] += 1
    return found


# ---------------------------------------------------------------------- a file's definitions
def blocks(text: str) -> tuple[list[str], list[int]] | None:
    """Return the statements of a module and which of them may change places; None where fewer than three may."""
    tree, lines = ast.parse(text), text.splitlines(keepends=True)
    names = Counter(each.name for each in tree.body if isinstance(each, ast.FunctionDef))
    used = {
        name.id
        for each in tree.body
        if not isinstance(each, ast.FunctionDef | ast.ClassDef)
        for name in ast.walk(each)
        if isinstance(name, ast.Name)
    }
    parts, movable, start = [], [], 0
    for at, node in enumerate(tree.body):
        end = node.end_lineno or node.lineno
        parts.append("".join(lines[start:end]))
        start = end
        if isinstance(node, ast.FunctionDef) and not node.decorator_list and names[node.name] == 1:
            plain = not (node.args.defaults or node.args.kw_defaults)
            if plain and node.name not in used:
                movable.append(at)
    parts.append("".join(lines[start:]))
    return (parts, movable) if len(movable) > 2 else None


def shuffled(text: str, seed: int) -> str:
    parts, movable = blocks(text) or ([], [])
    order = list(movable)
    random.Random(seed).shuffle(order)
    moved = list(parts)
    for at, source in zip(movable, order, strict=True):
        moved[at] = "\n\n" + parts[source].strip("\n") + "\n"
    return "".join(moved)


def with_unrelated_code(text: str) -> str:
    parts, movable = blocks(text) or ([], [])
    for number, at in enumerate(movable):
        parts[at] = "\n\n" + UNRELATED.format(number) + "\n\n" + parts[at].lstrip("\n")
    return "".join(parts)


PATHS = [path for path in sorted(FIXTURES.glob("TNS[12]*/*.py")) if blocks(path.read_text()) is not None]


def test_there_are_files_to_shuffle() -> None:
    assert len(PATHS) >= 20
    assert sum(sum(findings(path.read_text()).values()) for path in PATHS) >= 100


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_where_a_function_stands_does_not_matter(path: Path) -> None:
    text = path.read_text()
    expected = findings(text)
    for seed in range(2):
        assert findings(shuffled(text, seed)) == expected
    assert findings(with_unrelated_code(text)) == expected


@pytest.mark.parametrize("code", ["TNS101", "TNS102", "TNS103"])
@pytest.mark.parametrize("path", PATHS[::8], ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_which_other_rules_run_does_not_matter(path: Path, code: str) -> None:
    text = path.read_text()
    alone = findings(text, Config(select=(code,), min_confidence=Confidence.UNPROVEN))
    assert alone == Counter({each: count for each, count in findings(text).items() if each[0] == code})


SWITCH = "\n\ndef set_up():\n    torch.backends.cudnn.benchmark = True\n"


@pytest.mark.parametrize("name", ["TNS109/numbers", "TNS201/detached", "TNS201/read_only"])
def test_a_switch_of_a_backend_rebinds_nothing(name: str) -> None:
    text = (FIXTURES / f"{name}.py").read_text()
    before, after = (
        Counter((each.code, each.confidence, each.start, each.fix and each.fix.applicability) for each in found)
        for found in (check_bytes("<example>", code.encode(), EVERYTHING).findings for code in (text, text + SWITCH))
    )
    assert before == after


# ---------------------------------------------------------------------- in a project
NEEDED = 60
"""So many files there are to read, more than were read once: the first questions used them up."""


def project() -> dict[str, str | bytes]:
    """Return a project whose main file needs something of many others, and of each something of one more."""
    files: dict[str, str | bytes] = {
        f"part{at}.py": f"from deep{at} import made\n\n\ndef value():\n    return made()\n" for at in range(NEEDED)
    }
    for at in range(NEEDED):
        kind = ("torch.zeros(2)", "torch.ones(2, requires_grad=True)", 'torch.zeros(2, device="cuda")')[at % 3]
        files[f"deep{at}.py"] = f"import torch\n\n\ndef made():\n    return {kind}\n"
    imports = "".join(f"from part{at} import value as value{at}\n" for at in range(NEEDED))
    functions = "".join(f"\n\ndef shown{at}():\n    return value{at}().numpy()\n" for at in range(NEEDED))
    return {**files, "main.py": f"import torch\n{imports}{functions}"}


def test_the_order_of_the_questions_does_not_matter(tmp_path: Path) -> None:
    written(tmp_path, project())
    path = tmp_path / "main.py"

    def answers(seed: int) -> dict[int, tuple[int, int, int]]:
        analysis = analyse(index_of(decode(str(path), path.read_bytes())), Settings(), str(path))
        asked = [
            each.func.value
            for each in ast.walk(analysis.index.tree)
            if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute)
        ]
        random.Random(seed).shuffle(asked)
        values = {each.lineno: analysis.value(each) for each in asked}
        return {row: (value.kind, value.grad, value.device) for row, value in sorted(values.items())}

    first = answers(0)
    assert len(set(first.values())) == 3
    assert all(answers(seed) == first for seed in (1, 2))


def test_where_a_function_of_a_project_stands_does_not_matter(tmp_path: Path) -> None:
    written(tmp_path, project())
    path = str(tmp_path / "main.py")
    text = (tmp_path / "main.py").read_text()
    expected = findings(text, path=path)
    assert sum(expected.values()) == NEEDED * 2 // 3
    assert findings(shuffled(text, 1), path=path) == expected
