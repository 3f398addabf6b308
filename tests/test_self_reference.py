"""Values that are made of themselves: each question about one comes to an end, and the file is checked."""

from __future__ import annotations

from textwrap import indent

import pytest

from torchlint import check

HEAD = "import numpy as np\nimport torch\nfrom torch import nn\nfrom torch.autograd import Variable\n\n\n"

STARTS = (
    "nn.MSELoss()",
    "nn.Sequential(nn.Linear(3, 3))",
    "torch.ones(3, requires_grad=True).sum()",
    "[torch.ones(3)]",
)

TURNS = (
    "{a} = {a}",
    "{a} = {a}.cuda()",
    "{a} = {b}.eval()\n{b} = {a}.to('cpu')",
    "{a}, {b} = {b}, {a}",
    "{a} = {b}\n{b} = {a}",
    "{a} = {b} if flag else {a}\n{b} = {a} if flag else {b}",
    "{a} = nn.Sequential({b})\n{b} = nn.Sequential({a})",
    "{a} = nn.DataParallel({b})\n{b} = {a}.module",
    "{a} = {b}[0]\n{b} = [{a}]",
    "{a} = {b} + {a}\n{b} = {a} * {b}",
    "{a} = {b}.detach().cpu()\n{b} = {a}",
    "{a} = Variable({b})\n{b} = {a}.data",
    "{a} = {b}.numpy()\n{b} = torch.from_numpy({a})",
    "{a} = {a}({b})\n{b} = {b}({a})",
)

USES = """\
{a}({b}).data[0]
{a}({b}).numpy()
{a}.numpy()
{a}.data.add_(1)
{a}.data.copy_({b})
{a}.data = {b}
{a}.item()
float({a})
np.asarray({a})
torch.Tensor({a})
torch.FloatTensor({a}).cuda()
Variable({a})
{a}.new({b})
{a}.weight.data.fill_(0)
{a}.backward()
for each in {a}.parameters(): each.data.zero_()
for each in {a}.parameters(): each.data /= 2
kept = {a}.state_dict()
torch.cat([torch.zeros(3), {a}({b})])
"""


def in_a_function(turn: str, start: str) -> str:
    """Return a program that binds two names in a loop."""
    turn, uses = turn.format(a="p", b="q"), USES.format(a="p", b="q")
    begin = f"def run(flag, steps):\n    p = {start}\n    q = {start}\n    for _ in range(steps):\n"
    return HEAD + begin + indent(turn + "\n" + uses, " " * 8)


def in_an_object(turn: str, start: str) -> str:
    """Return a program that binds two attributes in a constructor."""
    turn, uses = turn.format(a="self.p", b="self.q"), USES.format(a="self.p", b="self.q")
    begin = f"class Trainer:\n    def __init__(self, flag):\n        self.p = {start}\n        self.q = {start}\n"
    return (
        HEAD
        + begin
        + indent(f"if flag:\n{indent(turn, '    ')}\n", " " * 8)
        + "\n    def run(self):\n"
        + indent(uses, " " * 8)
    )


@pytest.mark.parametrize("program", [in_a_function, in_an_object])
@pytest.mark.parametrize("turn", TURNS)
def test_a_value_that_is_made_of_itself(program, turn):
    for start in STARTS:
        source = program(turn, start)
        assert "TNS900" not in {finding.code for finding in check(source).findings}, source


def test_a_module_that_is_moved_onto_itself_gives_what_it_gave_before():
    source = HEAD + (
        "class Trainer:\n"
        "    def __init__(self):\n"
        "        self.loss = nn.MSELoss()\n"
        "        self.loss = self.loss.cuda()\n\n"
        "    def run(self, output, target):\n"
        "        loss = self.loss(output, target)\n"
        "        return loss.data[0]\n"
    )
    found = [finding for finding in check(source).findings if finding.code != "TNS404"]  # the import that nobody uses
    assert [(finding.code, finding.confidence.name) for finding in found] == [("TNS204", "CERTAIN")]


@pytest.mark.parametrize("name", ["p", "self.p"])
def test_many_turns_cost_no_more_than_some(name):
    turns = "".join(f"{name} = {name}.cuda()\n{name} = {name}.eval()\n" for _ in range(30))
    turns += "".join(f"{name} = {name}\n" for _ in range(30))
    method = f"def __init__(self):\n    {name} = nn.Sequential(nn.Linear(3, 3))\n" + indent(turns, "    ")
    uses = indent(USES.format(a=name, b=name), "    ")
    source = HEAD + "class Trainer:\n" + indent(method + uses + "\ndef run(self):\n" + uses, "    ")
    assert "TNS900" not in {finding.code for finding in check(source).findings}
