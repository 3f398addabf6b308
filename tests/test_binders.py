"""Which scope binds a name, and which of its assignments may reach the place where it stands."""

from __future__ import annotations

import ast

import pytest

from torchlint.source.text import decode
from torchlint.syntax.ast_index import index_of
from torchlint.texts.binders import binder, reaching

CASES = [
    ("X = [1]\nf(X)\n", [1]),
    ("X = [1]\ng = lambda: f(X)\n", [1]),
    ("X = [1]\ng = lambda X: f(X)\n", None),
    ("X = [1]\n\n\ndef g(X):\n    f(X)\n", [4]),
    ("X = [1]\n\n\ndef g():\n    from m import X\n\n    return lambda: f(X)\n", None),
    ("from m import X\nf(X)\n", None),
    ("class A:\n    X = [1]\n    f(X)\n", None),
    ("X = [1]\n\n\ndef h():\n    global X\n    f(X)\n", None),
    ("X = [1]\nX = f(X)\nX = g()\n", [1]),
    ("X = [1]; X = f(X)\n", [1]),
    ("X = f(X)\n", []),
    ("X = [1]\nX, y = f(X), g()\n", [1]),
    ("X = [1]\nwhile a:\n    f(X)\n    X = g()\n", [1, 4]),
    ("X = [1]\n\n\ndef h():\n    f(X)\n\n\nX = g()\n", [1, 8]),
    ("def h():\n    X = [1]\n    k = lambda: f(X)\n    X = g()\n    return k\n", [2, 4]),
    ("def h(n):\n    n = [1]\n    f(n)\n", [2]),
    ("def h(n):\n    if a:\n        n = [1]\n    f(n)\n", [1, 3]),
    ("def h(n):\n    if a:\n        n = [1]\n        f(n)\n", [3]),
    ("def h(n):\n    n = [1]\n    if a:\n        n = g()\n    f(n)\n", [2, 4]),
    ("def h(n):\n    n = [1]\n    if a:\n        n = g()\n        n = (1,)\n        f(n)\n", [5]),
    ("def h():\n    while a:\n        x = [1]\n        x = f(x)\n", [3]),
    ("def h():\n    x = [1]\n    while a:\n        x = f(x)\n", [2, 4]),
    ("def h():\n    while a:\n        x = [1]\n        for _ in a:\n            f(x)\n            x = g()\n", [3, 6]),
    ("def h():\n    try:\n        x = g()\n        x = [1]\n    except A:\n        f(x)\n", [3, 4]),
    ("def h():\n    x = [1]\n    del x\n    f(x)\n", [2, 3]),
    ("def h():\n    x = [1]\n    x += f(x)\n", [2]),
    ("def h(*x):\n    f(x)\n", [1]),
    ("def h(x):\n    with a as x:\n        f(x)\n", [1, 2]),
    ("def h(x):\n    import x\n    f(x)\n", None),
    ("for x in (1, g()):\n    f(x)\n", [1]),
    ("x = [1]\nfor x in y:\n    f(x)\n", [2]),
    ("x = [1]\nfor x in y:\n    f(x)\n    x = g()\n", [2]),
    ("x = [1]\nfor x in y:\n    x = g()\n    f(x)\n", [3]),
    ("x = [1]\nfor i, x in y:\n    while a:\n        f(x)\n        x = g()\n", [2, 5]),
    ("x = [1]\nfor x in y:\n    pass\nelse:\n    f(x)\n", [1, 2]),
    ("x = [1]\nfor x in f(x):\n    x = g()\n", [1, 2, 3]),
    ("x = [1]\nfor x in y:\n    g(x)\nf(x)\n", [1, 2]),
    ("[f(x) for x in [1, 2]]\n", [1]),
    ("x = [1]\n[f(x) for x in y]\n", [2]),
    ("x = [1]\n[x for x in f(x)]\n", [1]),
    ("x = [1]\n[x for x in y if f(x)]\n", [2]),
    ("x = [1]\n[[f(x) for z in y] for x in y]\n", [2]),
    ("x = [1]\n[y for x in y for z in f(x)]\n", [2]),
    ("x = [1]\n{f(x): z for x in y}\n", [2]),
    ("def h(x):\n    x = [1]\n    g([x for x in y])\n    f(x)\n", [2]),
]
"""Code that gives a name to ``f``, and the rows that may have bound it; None where something else may bind it."""


@pytest.mark.parametrize(("text", "rows"), CASES)
def test_a_name_may_come_from_these_rows(text: str, rows: list[int] | None) -> None:
    made = index_of(decode("some.py", text.encode()))
    (node,) = [each.args[0] for each in made.nodes(ast.Call) if ast.unparse(each.func) == "f"]
    assert isinstance(node, ast.Name)
    scope = binder(node, made)
    assert (None if scope is None else [each.lineno for each in reaching(node, scope, made)]) == rows
