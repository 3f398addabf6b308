"""Fixes that remove whole statements, and how the Variable rules and their neighbours work together."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from torchlint.config import Config
from torchlint.linter.engine import check_bytes, fix_bytes


def fixed(code: str, *select: str, unsafe: bool = False) -> str:
    config = Config(select=select, unsafe_fixes=unsafe)
    outcome = fix_bytes("<example>", dedent(code).encode(), config)
    assert outcome.remaining.troubles == ()
    return outcome.raw.decode()


def test_batches_of_an_unknown_dataset_may_hold_a_graph() -> None:
    before = """\
        from torch.autograd import Variable
        from torch.utils.data import DataLoader


        def train(net, dataset):
            for image, label in DataLoader(dataset):
                image, label = Variable(image), Variable(label)
                yield net(image), label
        """
    assert "        image, label = image.detach(), label.detach()\n" in fixed(before, "TNS401")


def test_the_only_statement_of_a_block_stays() -> None:
    before = """\
        import torch
        from torch.autograd import Variable


        def train(flag):
            image = torch.zeros(3)
            if flag:
                image = Variable(image)
        """
    assert "image = image.detach()" in fixed(before, "TNS401")


def test_the_lines_of_a_call_close_up() -> None:
    before = """\
        import torch
        from torch.autograd import Variable

        weight = Variable(
            torch.full(
                (2, 3),
                0.5,
            ),
            requires_grad=True,
        )
        total = 2 * Variable(
            weight
            + 1,
        )
        """
    after = """\
        import torch

        weight = torch.full(
                (2, 3),
                0.5,
            ).requires_grad_(True)
        total = 2 * (weight
            + 1).detach()
        """
    assert fixed(before, "TNS401") == dedent(after)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_an_import_goes_with_its_row(newline: str) -> None:
    before = newline.join(["import torch", "from torch.autograd import Variable", "", "x = torch.zeros(3)", ""])
    after = newline.join(["import torch", "", "x = torch.zeros(3)", ""])
    assert fix_bytes("<example>", before.encode(), Config(select=("TNS404",))).raw.decode() == after


def test_the_import_stays_while_a_wrapper_is_left() -> None:
    before = """\
        from torch.autograd import Variable

        a = Variable([1.0])
        b = map(Variable, [a])
        """
    assert fixed(before, "TNS401", "TNS404") == dedent(before)


def test_one_finding_for_a_volatile_call() -> None:
    code = "from torch.autograd import Variable\ny = Variable(x, volatile=True)\n"
    found = check_bytes("<example>", code.encode(), Config(select=("TNS4",))).findings
    assert [each.code for each in found] == ["TNS402"]


def test_volatile_wrapper_and_import_go_together() -> None:
    before = """\
        import torch
        from torch.autograd import Variable


        def evaluate(net, batch):
            net.eval()
            return net(Variable(batch, volatile=True))
        """
    after = """\
        import torch


        @torch.no_grad()
        def evaluate(net, batch):
            net.eval()
            return net(batch.detach())
        """
    assert fixed(before, "TNS4", unsafe=True) == dedent(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("float(loss.numpy())", "loss.item()"),
        ("loss.numpy().item()", "loss.item()"),
        ("loss.cpu().detach().numpy().item()", "loss.item()"),
        ("(x * 2).numpy().tolist()", "(x * 2).tolist()"),
        ("loss.data.cpu().numpy()[0]", "loss.item()"),
    ],
)
def test_a_missing_half_and_a_detour_end_in_the_direct_call(before: str, after: str) -> None:
    made = (
        "import torch\nx = torch.ones(3, requires_grad=True)\nloss = torch.nn.functional.mse_loss(x, torch.ones(3))\n"
    )
    assert fixed(f"{made}y = {before}\n", "ALL") == f"{made}y = {after}\n"


def test_an_import_that_another_file_needs_stays(tmp_path: Path) -> None:
    wrapping = "from torch.autograd import Variable\n\n\ndef wrapped(x):\n    return Variable(x)\n"
    for name in ("nets.py", "parts.py"):
        (tmp_path / name).write_text(wrapping)
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "main.py").write_text("from nets import Variable, wrapped\nfrom parts import wrapped as other\n")
    config = Config(unsafe_fixes=True)
    paths = [tmp_path / name for name in ("nets.py", "parts.py")]
    outcomes = [fix_bytes(str(each), each.read_bytes(), config) for each in paths]
    assert [b"import Variable" in each.raw for each in outcomes] == [True, False]
    assert outcomes[0].remaining.findings == ()
