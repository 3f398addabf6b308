"""What one statement has of a kind is repaired as a whole or not at all, in whatever way a part of it is held back."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from torchlint.config import Config, assemble
from torchlint.config.options import Options
from torchlint.diagnostics.changed_lines import Changed
from torchlint.diagnostics.model import Applicability, Confidence
from torchlint.linter.engine import check_bytes, fix_bytes
from torchlint.linter.siblings import KINDS, Statements, joined, kindred
from torchlint.source.text import Source, decode

HEAD = "import torch\nfrom torch import nn\n\n\n"
WRAPPING = "import torch\nfrom torch.autograd import Variable\n\n"
READ = HEAD + "def f(size):\n    x, y = torch.ones(3), torch.zeros(size)\n    return x.data.size(), y.data.size()\n"
MODULE = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3))
        self.v = nn.Parameter(torch.ones(3))
        self.w.data.sin_()
        self.v.data.sin_()
        self.w.data.abs_()
"""


def fixed(text: str, config: Config | None = None, changed: Changed | None = None) -> str:
    done = fix_bytes("/alone/a.py", text.encode(), config or Config(), changed)
    assert done.remaining.troubles == ()
    again = fix_bytes("/alone/a.py", done.raw, config or Config(), done.changed)
    assert again.fixed == ()
    return done.raw.decode()


def trusted(text: str, config: Config | None = None) -> list[str]:
    found = check_bytes("/alone/a.py", text.encode(), config or Config()).findings
    return [f"{each.code} {each.fix.applicability if each.fix else 'none'}" for each in found]


def titles(text: str, config: Config | None = None) -> str:
    found = check_bytes("/alone/a.py", text.encode(), config or Config()).findings
    return "\n".join(each.fix.title for each in found if each.fix)


# ---------------------------------------------------------------------- what is said once
HALVED = HEAD + "def f(w: nn.Parameter, v: nn.Parameter):\n    {}\n"


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("w.data = w.data * 2", ["TNS203"]),
        ("w.data = torch.where(w.data > 0, w.data, v.data)", ["TNS203", "TNS201"]),
        ("w.data = v.data.clone()", ["TNS203", "TNS201"]),
        ("w.data = w.data[0]  # noqa: TNS203", ["TNS201"]),
        ("w.data = (\n        w.data * 2)", ["TNS203", "TNS201"]),
        ("w.data = g(lambda: w.data)", ["TNS203", "TNS201"]),
    ],
)
def test_what_the_rebinding_of_a_tensor_says_is_not_said_of_its_reading(line: str, codes: list[str]) -> None:
    assert [each.partition(" ")[0] for each in trusted(HALVED.format(line))] == codes


def test_a_reading_is_told_where_the_rebinding_is_not_selected() -> None:
    text = HALVED.format("w.data = w.data * 2")
    assert [each.partition(" ")[0] for each in trusted(text, Config(select=("TNS201",)))] == ["TNS201"]


# ---------------------------------------------------------------------- nothing in the way
@pytest.mark.parametrize(
    "text",
    [
        READ,
        WRAPPING + "x, y = Variable(torch.ones(3)), Variable(torch.zeros(3))\n",
        HEAD + "def f(t: torch.Tensor, u: torch.Tensor):\n    return [t.numpy(), u.numpy()]\n",
    ],
)
def test_siblings_that_are_all_safe_are_repaired(text: str) -> None:
    assert [each.partition(" ")[2] for each in trusted(text)][-2:] == ["safe", "safe"]
    assert "siblings" not in titles(text)
    assert fixed(text).count(".data") == fixed(text).count("Variable(") == 0


@pytest.mark.parametrize(
    "line",
    [
        "a = torch.ones(2).data.size(); b = v.data  # noqa: TNS201",
        "a = torch.ones(2).data.size(); v.data = b",
        "a = torch.ones(2).data.size(), torch.autograd.Variable(v, volatile=True)",
        "a = torch.ones(2).data.size(), torch.Tensor(v)",
    ],
)
def test_another_statement_of_the_line_and_another_kind_do_not_wait(line: str) -> None:
    text = f"{HEAD}def f(v: torch.Tensor, b: torch.Tensor):\n    {line}\n"
    assert "torch.ones(2).size()" in fixed(text, Config(select=("TNS205", "TNS4", "TNS3")))


def test_the_header_of_a_compound_statement_is_one_and_its_body_another() -> None:
    body = "def f(size):\n    x = torch.ones(size)\n    for i in range(x.data.size(0)):\n        x.data = x.data[i:]\n"
    assert "range(x.size(0))" in fixed(HEAD + body)


def test_several_findings_at_one_word_are_one() -> None:
    text = HEAD + "total = torch.ones(3, requires_grad=True).sum()\nprint(total.numpy().item())\n"
    every, one = Config(unsafe_fixes=True), Config(select=("TNS107",), unsafe_fixes=True)
    assert fixed(text, every) == fixed(text, one) == text.replace(".numpy()", "")


# ---------------------------------------------------------------------- what is in the way
@pytest.mark.parametrize(
    ("config", "comment", "why"),
    [
        (Config(), "  # noqa: TNS201", "`TNS201` beside it is suppressed"),
        (Config(), "  # torchlint: ignore[TNS201]", "`TNS201` beside it is suppressed"),
        (Config(select=("TNS205",)), "", "`TNS201` beside it is not selected"),
        (Config(ignore=("TNS201",)), "", "`TNS201` beside it is not selected"),
        (Config(per_file_ignores=(("*.py", ("TNS201",)),)), "", "`TNS201` beside it is not selected"),
        (Config(min_confidence=Confidence.CERTAIN), "", "`TNS201` beside it is below `min-confidence`"),
        (Config(repaired=frozenset({"TNS205"})), "", "`TNS201` beside it is not to be fixed by this project's"),
    ],
)
def test_a_sibling_that_stays_holds_the_others_back(config: Config, comment: str, why: str) -> None:
    text = (
        f"{HEAD}def f(scores):\n    x = torch.ones(2)\n    return x.data.size(), torch.relu(scores.data)  # {comment}\n"
    )
    text = text.replace("  #   #", "  #").replace("  # \n", "\n")
    assert why in titles(text, config)
    assert "TNS205 display" in trusted(text, config)
    for unsafe in (False, True):
        assert fixed(text, replace(config, unsafe_fixes=unsafe)) == text


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("v.weight.data = x.data", "`TNS203` beside it leaves a choice"),
        ("return torch.Tensor([1.0]), torch.Tensor(v)", "`TNS30[13]` beside it leaves a choice"),
    ],
)
def test_a_choice_and_a_finding_without_a_fix_hold_the_others_back(line: str, why: str) -> None:
    text = f"{HEAD}def f(v):\n    x = torch.ones(3)\n    {line}\n"
    assert re.search(why, titles(text))
    assert fixed(text, Config(unsafe_fixes=True)) == text


def test_an_unsafe_sibling_makes_the_others_unsafe_and_they_go_together() -> None:
    text = HEAD + "def f(p: torch.Tensor):\n    p.data.add_(torch.ones(3).data)\n"
    assert trusted(text) == ["TNS202 unsafe", "TNS201 unsafe"]
    assert "(the fix of `TNS202` beside it is unsafe)" in titles(text)
    assert fixed(text) == text
    assert fixed(text, Config(unsafe_fixes=True)).count(".data") == 0


def test_what_a_team_trusts_is_trusted_in_siblings_too() -> None:
    text = HEAD + "def f(p: torch.Tensor):\n    p.data.add_(torch.ones(3).data)\n"
    safe = assemble([Options(extend_safe_fixes=("TNS202",))])
    assert trusted(text, safe) == ["TNS202 safe", "TNS201 safe"]
    assert fixed(text, safe).count(".data") == 0
    other = assemble([Options(extend_safe_fixes=("TNS201",))])
    assert trusted(text, other) == ["TNS202 unsafe", "TNS201 unsafe"]
    text = READ.replace("y.data.size()", "y.data.sum()")
    unsafe = assemble([Options(extend_unsafe_fixes=("TNS205",))])
    assert trusted(text) == ["TNS205 safe", "TNS201 safe"]
    assert trusted(text, unsafe) == ["TNS205 unsafe", "TNS201 unsafe"]


# ---------------------------------------------------------------------- blocks
BLOCK = "        with torch.no_grad():\n            "


@pytest.mark.parametrize("comment", ["  # noqa: TNS202", "  # noqa"])
def test_a_suppressed_neighbour_stays_out_of_a_block(comment: str) -> None:
    text = MODULE.replace("self.v.data.sin_()", f"self.v.data.sin_(){comment}")
    apart = text.replace("        self.w.data.", f"{BLOCK}self.w.")
    assert fixed(text) == apart
    assert fixed(MODULE).count("no_grad") == 1


def test_a_neighbour_whose_sibling_stays_stays_out_of_a_block() -> None:
    text = MODULE.replace("self.v.data.sin_()", "self.v.data.copy_(self.w.data)  # noqa: TNS201")
    assert (
        fixed(text) == fixed(text, Config(unsafe_fixes=True)) == text.replace("        self.w.data.", f"{BLOCK}self.w.")
    )
    assert trusted(text) == ["TNS202 safe", "TNS202 display", "TNS202 safe"]


def test_a_neighbour_whose_sibling_is_unsafe_has_an_unsafe_block() -> None:
    text = MODULE.replace("__init__(self)", "__init__(self, u: torch.Tensor)")
    text = text.replace("self.v.data.sin_()", "self.v.data.copy_(u.data)")
    assert fixed(text) == text.replace("        self.w.data.", f"{BLOCK}self.w.")
    assert fixed(text, Config(unsafe_fixes=True)).count(".data") == 0


def test_what_a_write_in_a_block_is_given_is_detached() -> None:
    text = MODULE.replace("self.v.data.sin_()", "self.v.data.copy_(self.w.data * 2)")
    outcome = fixed(text)
    assert "        with torch.no_grad():\n            self.v.copy_(self.w.detach() * 2)\n" in outcome
    assert ".data" not in outcome
    read = text.replace("self.v.data.copy_(self.w.data * 2)", "self.v.data.copy_(self.w.data.abs())")
    assert "            self.v.copy_(self.w.detach().abs())\n" in fixed(read)


def test_a_block_holds_changed_rows_only() -> None:
    row = MODULE[: MODULE.index("self.w.data.sin_")].count("\n") + 1
    outcome = fixed(MODULE, changed=Changed(((row, row),)))
    assert outcome == MODULE.replace("        self.w.data.sin_", f"{BLOCK}self.w.sin_")


# ---------------------------------------------------------------------- in rounds and by hand
def test_what_is_not_approved_holds_its_siblings_back() -> None:
    done = fix_bytes("/alone/a.py", READ.encode(), Config(), approve=lambda _, found, __: found[:1])
    assert done.raw == READ.encode()


def test_a_finding_repaired_by_hand_takes_its_siblings_along() -> None:
    result = check_bytes("/alone/a.py", READ.encode(), Config())
    assert result.source is not None
    one, other = result.findings
    both = joined(result.source, one, result.findings)
    assert one.fix is not None
    assert other.fix is not None
    assert both.fix is not None
    assert both.fix.edits == (*one.fix.edits, *other.fix.edits)
    assert both.fix.applicability is Applicability.SAFE
    assert joined(result.source, one, [one]) == one


# ---------------------------------------------------------------------- words
def test_kinds_are_rules_of_a_family_that_look_at_the_same_words() -> None:
    assert {KINDS[f"TNS20{at}"] for at in range(1, 6)} == {"TNS201"}
    assert {KINDS[f"TNS30{at}"] for at in range(1, 6)} == {"TNS301"}
    assert {KINDS[f"TNS40{at}"] for at in range(1, 5)} == {"TNS401"}
    assert {KINDS[each] for each in ("TNS101", "TNS102", "TNS103", "TNS106", "TNS107")} == {"TNS101"}
    assert {each: KINDS[each] for each in KINDS if KINDS[each] == each} == {
        each: each for each in ("TNS101", "TNS104", "TNS105", "TNS108", "TNS109", "TNS201", "TNS206", "TNS301",
                                "TNS306", "TNS307", "TNS308", "TNS309", "TNS310", "TNS311", "TNS401", "TNS501",
                                "TNS502", "TNS503", "TNS504", "TNS505")
    }  # fmt: skip
    assert kindred(["TNS205", "TNS900"]) == {f"TNS20{at}" for at in range(1, 6)}


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("", []),
        ("# note\n", []),
        ("a\nb\n", [0, 2]),
        ("a; b\r\nc", [0, 3, 6]),
        ("f(a,\n  b)\n\n\fc\n", [0, 12]),
        ("if a:\n\tb = '''\n;\n'''\n", [0, 7]),
        ("é = {'x;': 1}; y\n", [0, 16]),
        ("a\n(", [0, 2]),
    ],
)
def test_where_statements_begin(text: str, starts: list[int]) -> None:
    source: Source = decode("a.py", text.encode())
    found = Statements(source)
    last = found.number(len(text.encode()))
    assert [found.span(at)[0] for at in range(1, last + 1)] == starts
