"""Which stretches of a file are looked at: those that hold a candidate, and no more than these."""

from __future__ import annotations

import pytest

from torchlint.source import Source, decode
from torchlint.syntax.outline import outline
from torchlint.syntax.stretches import stretches

DATA = frozenset({"data"})


def read(text: str | bytes) -> Source:
    return decode("some.py", text.encode() if isinstance(text, str) else text)


def found(text: str, words: frozenset[str] = DATA) -> list[str]:
    source = read(text)
    return [source.slice(each.start, each.end) for each in stretches(outline(source), words)]


def test_no_candidate_no_stretch() -> None:
    assert found("import torch\n\ndef f(x):\n    return x.detach()\n") == []


def test_only_the_function_that_holds_the_candidate() -> None:
    text = "def f(x):\n    return x\n\n\ndef g(x):\n    return x.data\n\n\ndef h(x):\n    return x\n"
    assert found(text) == ["def g(x):\n    return x.data\n"]


def test_a_method_alone_and_as_it_stands() -> None:
    text = "class A:\n    def f(self):\n        return 1\n\n    def g(self, x):\n        return x.data\n"
    assert found(text) == ["    def g(self, x):\n        return x.data\n"]


def test_a_method_of_a_nested_class() -> None:
    text = "class A:\n    class B:\n        def f(self, x):\n            return x.data\n"
    assert found(text) == ["        def f(self, x):\n            return x.data\n"]


def test_a_local_class_belongs_to_its_function() -> None:
    text = "def f(x):\n    class A:\n        y = x.data\n    return A\n"
    assert found(text) == [text]


def test_decorators_belong_to_the_function() -> None:
    text = "@first\n@second(\n    1,\n)\ndef f(x):\n    return x.data\n"
    assert found(text) == [text]


def test_a_run_of_statements_from_the_first_candidate_to_the_last() -> None:
    text = "a = 1\nb = x.data\nc = 2\nd = y.data\ne = 3\n"
    assert found(text) == ["b = x.data\nc = 2\nd = y.data\n"]


def test_a_run_ends_at_a_definition() -> None:
    text = "b = x.data\n\n\ndef f():\n    pass\n\n\nd = y.data\n"
    assert found(text) == ["b = x.data\n", "d = y.data\n"]


def test_several_statements_on_one_line_are_one_stretch() -> None:
    assert found("a = 1; b = x.data; c = 2\nd = 3\n") == ["a = 1; b = x.data; c = 2\n"]


def test_a_candidate_in_a_default_a_base_and_a_decorator() -> None:
    assert found("def f(a=x.data):\n    pass\n") == ["def f(a=x.data):\n    pass\n"]
    assert found("@x.data\ndef f():\n    pass\n") == ["@x.data\ndef f():\n    pass\n"]
    assert found("class A(x.data):\n    y = 1\n") == ["class A(x.data):\n    y = 1\n"]


def test_no_newline_at_the_end() -> None:
    assert found("def f(x):\n    return x.data") == ["def f(x):\n    return x.data"]


def test_statements_that_share_a_line_with_a_definition() -> None:
    pieces = found("class A: y = x.data; z = 1\nw = 2\n")
    assert pieces == ["class A: y = x.data; z = 1\n"]


def test_torch_utils_data_is_a_package() -> None:
    assert found("import torch.utils.data\nloader = torch.utils.data.DataLoader(x)\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "from torch import Tensor as T\n\n\ndef f():\n    return T([1])\n",
        "import torch\nT = torch.Tensor\n\n\ndef f():\n    return T([1])\n",
        "import torch\nT = torch.FloatTensor if cpu else torch.cuda.FloatTensor\n\n\ndef f():\n    return T([1])\n",
        "import torch\n\n\nclass A:\n    def __init__(self):\n        self.T = torch.Tensor\n\n"
        "    def f(self):\n        return self.T([1])\n",
        "import torch\nT: type = torch.Tensor\n\n\ndef f():\n    return T([1])\n",
    ],
    ids=["import alias", "assignment", "conditional alias", "attribute", "annotated assignment"],
)
def test_other_names_of_a_word_count(text: str) -> None:
    pieces = found(text, frozenset({"Tensor", "FloatTensor"}))
    assert any("T([1])" in piece for piece in pieces)
