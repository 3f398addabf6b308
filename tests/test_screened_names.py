"""What is told of a name without a walk of its function: never that it is no tensor where inference knows one."""

from __future__ import annotations

import ast

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from torchlint.model import Settings
from torchlint.screening.arguments import is_untold
from torchlint.screening.plain_data import is_plain_data
from torchlint.screening.sight import Sight
from torchlint.source import decode
from torchlint.syntax.outline import outline

HEAD = "import torch\nimport numpy as np\nfrom typing import Optional\n\n\n"


def seen(text: str) -> Sight:
    return Sight(outline(decode("some.py", text.encode())), Settings(), "/nowhere/some.py")


def asked(sight: Sight) -> list[ast.expr]:
    """Give the first arguments of the calls of ``f``."""
    return [each.args[0] for each in sight.outline.nodes(ast.Call) if ast.unparse(each.func) == "f"]


# ---------------------------------------------------------------------- by the scope that binds it
@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("X = [1]\nf(X)\n", True),
        ("X = [1]\ng = lambda: f(X)\n", True),
        ("X = [1]\ng = lambda X: f(X)\n", False),
        ("X = [1]\n\n\ndef g(X):\n    f(X)\n", False),
        ("X = [1]\n\n\ndef g():\n    from m import X\n\n    return lambda: f(X)\n", False),
        ("from m import *\nf(X)\n", False),
        ("X = [1]\nX = f(X)\nX = g()\n", True),
        ("X = [1]; X = f(X)\n", True),
        ("X = f(X)\n", False),
        ("X = [1]\nX, y = f(X), g()\n", False),
        ("X = [1]\nwhile a:\n    f(X)\n    X = g()\n", False),
        ("X = [1]\n\n\ndef h():\n    f(X)\n\n\nX = g()\n", False),
        ("def h():\n    X = [1]\n    k = lambda: f(X)\n    X = g()\n    return k\n", False),
        ("def h(n: int):\n    f(n)\n\n\nh(torch.ones(2))\n", True),
        ("def _h(n: int):\n    f(n)\n\n\n_h(torch.ones(2))\n", False),
        ("def h(n: int):\n    if torch.is_tensor(n):\n        f(n)\n", False),
        ("def h(n: int):\n    if n.shape or len(n) or n[0]:\n        f(n)\n", True),
        # a new binding in any case
        ("def h(n):\n    n = [1]\n    f(n)\n", True),
        ("def h(n):\n    if a:\n        n = [1]\n    f(n)\n", False),
        ("def h(n):\n    if a:\n        n = [1]\n        f(n)\n", True),
        ("def h(n):\n    n = [1]\n    if a:\n        n = g()\n    f(n)\n", False),
        ("def h(n):\n    n = [1]\n    if a:\n        n = g()\n        n = (1,)\n        f(n)\n", True),
        ("def h():\n    while a:\n        x = [1]\n        x = f(x)\n", True),
        ("def h():\n    x = [1]\n    while a:\n        x = f(x)\n", False),
        (
            "def h():\n    while a:\n        x = [1]\n        for _ in a:\n            f(x)\n            x = g()\n",
            False,
        ),
        ("def h():\n    try:\n        x = g()\n        x = [1]\n    except A:\n        f(x)\n", False),
        ("def h():\n    x = [1]\n    del x\n    f(x)\n", False),
        ("def h():\n    x = [1]\n    x += f(x)\n", True),
        # loops and comprehensions over what is spelled out
        ("for x in (1, [2], torch.Size([])):\n    f(x)\n", True),
        ("for x in (1, g()):\n    f(x)\n", False),
        ("for x in range(3):\n    f(x)\n", True),
        ("def range(n):\n    return g(n)\n\n\nfor x in range(3):\n    f(x)\n", False),
        ("for x in y:\n    f(x)\n", False),
        ("for x, y in ([1], [2]):\n    f(x)\n", False),
        ("[f(x) for x in [1, 2]]\n", True),
        ("x = [1]\n[f(x) for x in y]\n", False),
        ("x = g()\n[f(x) for x in [1, 2]]\n", True),
        ("x = [1]\n[x for x in f(x)]\n", True),
        ("x = [1]\n[x for x in y if f(x)]\n", False),
        ("x = [1]\n[[f(x) for z in y] for x in y]\n", False),
        ("x = [1]\n[y for x in y for z in f(x)]\n", False),
        ("x = [1]\n{f(x): z for x in y}\n", False),
        ("def h(x):\n    x = [1]\n    g([x for x in y])\n    f(x)\n", True),
        # NumPy's data as Python's
        ("x = np.zeros(3).tolist()\nf(x)\n", True),
        ("x = g(3).tolist()\nf(x)\n", False),
        ("x = np.zeros(3).detach()\nf(x)\n", False),
    ],
)
def test_a_name_is_plain_data_where_the_scope_that_binds_it_says_so(text: str, plain: bool) -> None:
    sight = seen(f"import numpy as np\nimport torch\n\n{text}")
    (node,) = asked(sight)
    assert is_plain_data(node, sight) is plain


# ---------------------------------------------------------------------- by the tests around it
@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("if not torch.is_tensor(x):\n    f(x)\n", True),
        ("if torch.is_tensor(x):\n    f(x)\n", False),
        ("if torch.is_tensor(x):\n    pass\nelse:\n    f(x)\n", True),
        ("if torch.is_tensor(x):\n    pass\nelif a:\n    f(x)\n", True),
        ("if not torch.is_tensor(x):\n    pass\nelse:\n    f(x)\n", False),
        ("if a and not isinstance(x, torch.Tensor):\n    g()\n    f(x)\n", True),
        ("if x is not None and not isinstance(x, torch.Tensor):\n    f(x)\n", True),
        ("if x and not isinstance(x, torch.Tensor):\n    f(x)\n", True),
        ("if isinstance(x, list) and hasattr(x, 'detach'):\n    f(x)\n", False),
        ("if a or not isinstance(x, torch.Tensor):\n    f(x)\n", False),
        ("if isinstance(x, torch.Tensor) or a:\n    pass\nelse:\n    f(x)\n", True),
        ("if not isinstance(x, (np.ndarray, torch.Tensor)):\n    f(x)\n", True),
        ("if isinstance(x, (list, torch.Tensor)):\n    f(x)\n", False),
        ("if isinstance(x, (int, float)):\n    f(x)\n", True),
        ("if not isinstance(x, (int, float)):\n    f(x)\n", False),
        ("if isinstance(x, list):\n    assert len(x) == 2\n    if x[0]:\n        f(x)\n", True),
        ("if isinstance(x, list):\n    x = g()\n    f(x)\n", False),
        ("if isinstance(x, list):\n    x = f(x)\n", True),
        ("if isinstance(x, list):\n    from m import x\n    f(x)\n", False),
        ("if isinstance(x, list):\n    try:\n        g()\n    except A as x:\n        f(x)\n", False),
        ("if isinstance(x, list):\n    if (x := g()):\n        f(x)\n", False),
        ("if isinstance(x, list):\n    with g() as x:\n        f(x)\n", False),
        ("if isinstance(x, list):\n    if hasattr(x, 'detach'):\n        f(x)\n", False),
        ("if isinstance(x, list):\n    while a:\n        f(x)\n        x = g()\n", False),
        ("if isinstance(x, list):\n    g(lambda x: f(x))\n", False),
        ("y = f(x) if isinstance(x, list) else x\n", True),
        ("y = x if isinstance(x, torch.Tensor) else f(x)\n", True),
        ("y = f(x) if isinstance(x, torch.Tensor) else x\n", False),
        ("y = [f(x) if isinstance(x, list) else x for x in z]\n", True),
        ("if isinstance(x, list):\n    y = f(x) if torch.is_tensor(x) else 1\n", False),
        ("y = [f(x) for x in z] if isinstance(x, list) else x\n", False),
        ("if isinstance(f(x), list):\n    pass\n", False),
        ("isinstance = g\nif isinstance(x, list):\n    f(x)\n", False),
    ],
)
@pytest.mark.parametrize("argument", ["x", "x: torch.Tensor"])
def test_a_test_says_that_a_name_is_no_tensor(text: str, plain: bool, argument: str) -> None:
    body = "".join(f"    {line}\n" for line in text.splitlines())
    sight = seen(f"{HEAD}def h({argument}, z):\n{body}")
    (node,) = asked(sight)
    assert is_plain_data(node, sight) is plain
    if plain:
        assert not sight.value(node).is_tensor


# ---------------------------------------------------------------------- arguments of which nothing is said
@pytest.mark.parametrize(
    ("text", "untold"),
    [
        ("def h(x):\n    f(x)\n", True),
        ("def h(x=None, *, y):\n    f(y)\n", True),
        ("def h(x: Optional[torch.Tensor]):\n    f(x)\n", True),
        ("def h(x: torch.Tensor):\n    f(x)\n", False),
        ("def h(x: 'torch.Tensor'):\n    f(x)\n", False),
        ("def h(x):  # type: (torch.Tensor) -> None\n    f(x)\n", False),
        ("def h(\n    x,  # type: torch.Tensor\n):\n    f(x)\n", False),
        ("def h(x):\n    '''Do.\n\n    :param torch.Tensor x: it\n    '''\n    f(x)\n", False),
        ("def h(x):\n    if x is None:\n        x = 1\n    f(x)\n", False),
        ("def h(x):\n    assert isinstance(x, torch.Tensor)\n    f(x)\n", False),
        ("def h(x):\n    y = x and f(x)\n", False),
        ("def h(x):\n    y = [x for _ in z if torch.is_tensor(x)]\n    f(x)\n", False),
        ("def h(x):\n    ok = torch.is_tensor(x)\n    if ok:\n        f(x)\n", False),
        ("def h(x):\n    match x:\n        case torch.Tensor():\n            f(x)\n", False),
        ("def h(x):\n    x = torch.ones(2)\n    f(x)\n", False),
        ("def h(x):\n    f(x)\n    x = torch.ones(2)\n", True),
        ("def h(x):\n    while a:\n        f(x)\n        x = torch.ones(2)\n", False),
        ("def h(x):\n    with a as x:\n        f(x)\n", False),
        ("def h(x):\n    import x\n    f(x)\n", False),
        ("def h(x):\n    return [f(x) for x in y]\n", False),
        ("def h(*x):\n    f(x)\n", True),
        ("def _h(x):\n    f(x)\n\n\n_h(torch.ones(2))\n", False),
        ("class C(torch.Tensor):\n    def h(x):\n        f(x)\n", False),
        ("class C:\n    def h(self, x):\n        f(x)\n", True),
        ("y = 1\nf(y)\n", False),
    ],
)
def test_an_argument_is_untold(text: str, untold: bool) -> None:
    sight = seen(HEAD + text)
    (node,) = asked(sight)
    assert is_untold(node, sight) is untold
    if untold:
        assert not sight.value(node).is_tensor


# ---------------------------------------------------------------------- held against inference
WORDS = st.sampled_from(["x", "y"])
TESTS = st.recursive(
    st.one_of(
        st.builds("isinstance({}, {})".format, WORDS, st.sampled_from(["torch.Tensor", "list", "(int, torch.Tensor)"])),
        st.builds("torch.is_tensor({})".format, WORDS),
        st.builds("hasattr({}, 'detach')".format, WORDS),
        st.builds("{} is None".format, WORDS),
        st.sampled_from(["x", "y", "a", "len(x)", "y.shape"]),
    ),
    lambda inner: st.one_of(
        st.builds("not ({})".format, inner),
        st.builds("({}) {} ({})".format, inner, st.sampled_from(["and", "or"]), inner),
    ),
    max_leaves=3,
)
OPERANDS = st.sampled_from(["torch.ones(2)", "1.0", "x", "y", "g()"])
"""No list: what torch refuses is a tensor to inference, and none by its spelling."""
VALUES = st.recursive(
    st.sampled_from(["torch.ones(2)", "[1]", "1.0", "x", "y", "f(x)", "f(y)", "g()", "np.ones(2).tolist()", "None"]),
    lambda inner: st.one_of(
        st.builds("({} if {} else {})".format, inner, TESTS, inner),
        st.builds("({} * {})".format, OPERANDS, OPERANDS),
        st.builds("[{} for {} in {}]".format, inner, WORDS, inner),
        st.builds("({}, {})".format, inner, inner),
        st.builds("({} and {})".format, TESTS, inner),
    ),
    max_leaves=4,
)


def block(statements: list[list[str]]) -> list[str]:
    return [f"    {line}" for each in statements for line in each]


def compound(inner: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[str]]:
    blocks = st.lists(inner, min_size=1, max_size=3).map(block)
    return st.one_of(
        st.builds(lambda test, body: [f"if {test}:", *body], TESTS, blocks),
        st.builds(lambda test, body, other: [f"if {test}:", *body, "else:", *other], TESTS, blocks, blocks),
        st.builds(lambda word, value, body: [f"for {word} in {value}:", *body], WORDS, VALUES, blocks),
        st.builds(lambda test, body: [f"while {test}:", *body], TESTS, blocks),
        st.builds(lambda body, other: ["try:", *body, "except A:", *other], blocks, blocks),
        st.builds(lambda word, body: [f"with a as {word}:", *body], WORDS, blocks),
        st.builds(lambda body: ["def inner(x, y):", *body], blocks),
        st.builds(lambda test: ["def inner():", f"    return f(x) if {test} else f(y)"], TESTS),
    )


STATEMENTS = st.recursive(
    st.one_of(
        st.builds("{} = {}".format, WORDS, VALUES).map(lambda line: [line]),
        st.builds("{} += {}".format, WORDS, VALUES).map(lambda line: [line]),
        st.builds("x, y = {}, {}".format, VALUES, VALUES).map(lambda line: [line]),
        st.builds("f({})".format, WORDS).map(lambda line: [line]),
        st.builds("ok = {}".format, TESTS).map(lambda line: [line]),
        st.sampled_from([["assert torch.is_tensor(x)"], ["del y"], ["x.cuda()"], ["x[0] = y"], ["if ok:", "    f(x)"]]),
    ),
    compound,
    max_leaves=6,
)
ANNOTATIONS = st.sampled_from(["", ": torch.Tensor", ": Optional[torch.Tensor]", ": float", ": list", " = None"])


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(["h", "_h"]),
    ANNOTATIONS,
    st.sampled_from(["", ", y: list = ()", ", *, y=1"]),
    st.lists(STATEMENTS, min_size=1, max_size=5).map(block),
)
def test_nothing_told_without_a_walk_is_a_tensor_to_inference(name: str, x: str, y: str, body: list[str]) -> None:
    text = "\n".join([f"{HEAD}def {name}(x{x}{y}):", *body, "    return f(x)", "", "", f"{name}(torch.ones(2))", ""])
    sight = seen(text)
    for node in asked(sight):
        if is_plain_data(node, sight) or is_untold(node, sight):
            event("told without a walk")
            assert not sight.value(node).is_tensor, (ast.unparse(node), node.lineno)
