"""What a method sets of ``self`` by its text, and what a walk finds: none is spared that would say something."""

from __future__ import annotations

import ast

import pytest

from tests.conftest import ROOT
from torchlint.diagnostics.model import Settings
from torchlint.texts.bindings import SetAttributes, attributes_set
from torchlint.inference.query import Analysis
from torchlint.source.text import decode
from torchlint.syntax.ast_index import index_of

CODE = sorted([*(ROOT / "tests" / "fixtures").rglob("*.py"), *(ROOT / "examples").rglob("*.py")])
BODIES = {
    "self.x = 1": ({"x"}, {"x"}),
    "self.x += 1": ({"x"}, {"x"}),
    "self.x[0] = 1": ({"x"}, {"x"}),
    "self.x[0][k] = 1": ({"x"}, {"x"}),
    "self.x.y = 1": ({"x"}, set()),
    "self.x.y[0] = 1": ({"x"}, set()),
    "self.x[0].y = 1": ({"x"}, set()),
    "self.x.append(1)": ({"x"}, {"x"}),
    "self.x.y.append(1)": ({"x"}, set()),
    "self.x.add_(1)": ({"x"}, {"x"}),
    "self.x.data = k": ({"x"}, set()),
    "self.x.y = 1\n        self.x.cuda()": ({"x"}, {"x"}),
    "self.x.y = 1\n        self.x[0].cuda()": ({"x"}, {"x"}),
    "self.x.y = 1\n        k.x = 1": ({"x"}, set()),
    "self.x.cuda()": (set(), set()),
    "self.register_buffer('x', k)": ({"x"}, {"x"}),
    "setattr(self, 'x', k)": ({"x"}, {"x"}),
    "for self.x in k: pass": ({"x"}, {"x"}),
}


@pytest.mark.parametrize("body", BODIES)
def test_what_is_set_and_what_only_in_parts(body: str) -> None:
    made = index_of(decode("some.py", f"class A:\n    def f(self, k):\n        {body}\n".encode()))
    (method,) = made.nodes(ast.FunctionDef)
    found = attributes_set(made, method)
    assert (set(found.words), found.own) == BODIES[body]


def test_a_function_without_arguments_sets_nothing() -> None:
    made = index_of(decode("some.py", b"class A:\n    @staticmethod\n    def f():\n        self.x = 1\n"))
    assert attributes_set(made, made.nodes(ast.FunctionDef)[0]) == SetAttributes()


def test_a_walk_says_nothing_of_what_changes_in_parts() -> None:
    parts = 0
    texts = [path.read_bytes() for path in CODE]
    texts += [
        f"class A:\n    def __init__(self):\n        self.x = [1]\n\n    def f(self, k):\n        {each}\n".encode()
        for each in BODIES
    ]
    for text in texts:
        made = index_of(decode("some.py", text))
        file = Analysis(made, Settings())._file
        for node in made.nodes(ast.ClassDef):
            known = file.classes.of(node)
            for word, methods in known.setters.items():
                for method in methods:
                    if (word, method) not in known.sets:
                        parts += 1
                        assert word not in file.general(method).attributes, (word, ast.unparse(method))
    assert parts
