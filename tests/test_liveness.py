"""What a loop reads before it binds it: nothing else needs to settle, and leaving it out changes no answer."""

from __future__ import annotations

import ast

import pytest

from tests.conftest import ROOT
from torchlint.diagnostics.model import Settings
from torchlint.inference.interpreter import statements
from torchlint.inference.program.liveness import Loop, rebound
from torchlint.inference.query import Analysis
from torchlint.source.text import decode
from torchlint.syntax.ast_index import AstIndex, index_of

CODE = sorted([*(ROOT / "tests" / "fixtures").rglob("*.py"), *(ROOT / "examples").rglob("*.py")])
BODIES = {
    "y = x": "xy",
    "y = x; z = y": "xyz",
    "z = y; y = x": "xz",
    "y = y + x": "x",
    "y += 1": "x",
    "x.y = 1; y = x": "xy",
    "y[0] = x": "x",
    "y, (z, *w) = x": "wxyz",
    "y: int = x": "xy",
    "y: int": "xy",
    "if x: y = 1\n        z = y": "xz",
    "if x: y = 1\n        else: y = 2\n        z = y": "xyz",
    "if x: y = 1\n        else: continue\n        z = y": "xyz",
    "if x: y = 1\n        else: return\n        z = y": "xyz",
    "if x: break\n        y = 1": "x",
    "y = 1\n        if x: break": "xy",
    "for y in x: z = y\n        w = z": "wxy",
    "for y in x: z = y\n        w = y": "wxz",
    "while y: y = x": "x",
    "with x as y: z = y": "xyz",
    "with x as y, y as z: z": "xyz",
    "try: y = x\n        except E: pass\n        z = y": "xz",
    "try: y = x\n        except E: y = 1\n        z = y": "xz",
    "match x:\n            case 1: y = 1\n            case _: z = y": "xz",
    "y = x; z = [y for y in x]": "xyz",
    "z = [y for y in x]; y = z": "xz",
    "y = lambda: z; z = x": "xy",
    "y = x\n        def f(): return y": "x",
    "y = x; del y": "x",
    "y = x; g()": "xy",
    "s = x; g()": "x",
    "return x\n        y = z; z = 1": "xy",
    "y = (z := x)": "xyz",
}


@pytest.mark.parametrize("body", BODIES)
def test_the_names_that_a_loop_binds_before_it_reads_them(body: str) -> None:
    text = f"def f(k):\n    def g():\n        nonlocal s\n        s = 1\n    for x in k:\n        {body}\n"
    made = index_of(decode("some.py", text.encode()))
    assert "".join(sorted(rebound(made, made.nodes(ast.For)[0]))) == BODIES[body]


def test_the_test_of_a_while_loop_is_read_first() -> None:
    made = index_of(decode("some.py", b"while x:\n    x = y = 1\n"))
    assert rebound(made, made.nodes(ast.While)[0]) == {"y"}


def test_no_answer_changes_where_all_names_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(made: AstIndex, loop: Loop) -> frozenset[str]:
        del made, loop
        return frozenset()

    texts = [path.read_bytes() for path in CODE]
    texts += [
        f"import torch\ndef f(k):\n    y = torch.ones(1)\n    for x in k:\n        {each}\n".encode() for each in BODIES
    ]
    quick = [_facts(each) for each in texts]
    monkeypatch.setattr(statements, "rebound", nothing)
    assert [_facts(each) for each in texts] == quick
    assert sum(map(len, quick)) > 10_000


def _facts(text: bytes) -> list[object]:
    """Return the facts of every expression of a text, in order."""
    made = index_of(decode("some.py", text))
    analysis = Analysis(made, Settings())
    nodes = [each for each in made.order if isinstance(each, ast.expr)]
    return [(analysis.value(each).plain()[:-1], analysis.mode(each)) for each in nodes]
