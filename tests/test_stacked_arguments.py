"""Keywords that a fix adds behind an argument of several lines stand on lines of their own, and nowhere else."""

from __future__ import annotations

import ast

import pytest

from torchlint.config import Config
from torchlint.diagnostics.layout import Layout
from torchlint.diagnostics.model import Edit
from torchlint.linter.engine import fix_bytes
from torchlint.source.text import decode

HEAD = "import torch\n\n\ndef f(a, g):\n"


def fixed(body: str, head: str = HEAD) -> str:
    raw = (head + body).encode()
    after = fix_bytes("a.py", raw, Config()).raw.decode()
    ast.parse(after)
    assert fix_bytes("a.py", after.encode(), Config()).raw == after.encode()
    assert after.startswith(head)
    return after[len(head) :]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "    return torch.Tensor(\n        [\n            1,\n        ]\n    )\n",
            "    return torch.tensor(\n        [\n            1,\n        ],\n        dtype=torch.float32,\n    )\n",
        ),
        (
            "    return torch.Tensor(\n        [1, 2],\n    )\n",
            "    return torch.tensor(\n        [1, 2],\n        dtype=torch.float32,\n    )\n",
        ),
        (
            "    return torch.cuda.LongTensor(\n        [[1, 2],\n         [3, 4]]\n    )\n",
            "    return torch.tensor(\n        [[1, 2],\n         [3, 4]],\n        dtype=torch.int64,\n"
            '        device="cuda",\n    )\n',
        ),
        (
            "    return g(torch.Tensor(\n        [\n            1,\n        ]\n    ), [\n        a,\n    ])\n",
            "    return g(torch.tensor(\n        [\n            1,\n        ],\n        dtype=torch.float32,\n"
            "    ), [\n"
            "        a,\n    ])\n",
        ),
    ],
)
def test_they_stand_on_lines_of_their_own(before: str, after: str) -> None:
    assert fixed(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "    return torch.Tensor([\n        1,\n    ])\n",
            "    return torch.tensor([\n        1,\n    ], dtype=torch.float32)\n",
        ),
        (
            "    return torch.Tensor(\n        [1]\n    )\n",
            "    return torch.tensor(\n        [1], dtype=torch.float32\n    )\n",
        ),
        (
            "    return torch.Tensor(\n        [\n            1,\n        ]  # why\n    )\n",
            "    return torch.tensor(\n        [\n            1,\n        ], dtype=torch.float32  # why\n    )\n",
        ),
        (
            "    return torch.Tensor([\n        1,\n    ]\n    )\n",
            "    return torch.tensor([\n        1,\n    ], dtype=torch.float32\n    )\n",
        ),
        (
            "    return torch.Tensor(\n        [\n            1,\n        ])\n",
            "    return torch.tensor(\n        [\n            1,\n        ], dtype=torch.float32)\n",
        ),
    ],
)
def test_elsewhere_they_follow_on_the_same_line(before: str, after: str) -> None:
    assert fixed(before) == after


def test_newlines_and_tabs_are_those_of_the_file() -> None:
    head = "import torch\r\n"
    assert fixed("x = torch.Tensor(\r\n\t[\r\n\t\t1,\r\n\t]\r\n)\r\n", head) == (
        "x = torch.tensor(\r\n\t[\r\n\t\t1,\r\n\t],\r\n\tdtype=torch.float32,\r\n)\r\n"
    )


TEXT = "x = f(\n    [\n        1,\n    ]\n)\n"
AT = TEXT.index("]") + 1


@pytest.mark.parametrize("beside", [Edit(AT, AT, ", b=2"), Edit(AT, AT + 1, "\n"), Edit(AT - 1, AT, "]")])
def test_two_edits_at_one_place_stay_as_they_are(beside: Edit) -> None:
    edits = (Edit(AT, AT, ", a=1"), beside)
    assert Layout(decode("a.py", TEXT.encode())).of(edits) == edits


@pytest.mark.parametrize("written", [", 1", ", *a", ", a=(1", ", a=1) + f(b=2", ", a='ä'", ", a=1,\nb=2"])
def test_what_is_no_list_of_keywords_stays_as_it_is(written: str) -> None:
    edits = (Edit(AT, AT, written),)
    assert Layout(decode("a.py", TEXT.encode())).of(edits) == edits


def test_a_keyword_whose_value_holds_a_comma_is_one() -> None:
    (edit,) = Layout(decode("a.py", TEXT.encode())).of((Edit(AT, AT, ', a=g(1, "x, y"), b=2'),))
    assert edit.text == ',\n    a=g(1, "x, y"),\n    b=2,'
