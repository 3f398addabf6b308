"""What a method sets of ``self`` by its text."""

from __future__ import annotations

import ast

import pytest

from torchlint.source.text import decode
from torchlint.syntax.ast_index import index_of
from torchlint.texts.bindings import SetAttributes, attributes_set

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
