"""What is presumed of a method's calls keeps ``.numpy()`` silent, and no fix rests on it."""

from __future__ import annotations

import pytest

from torchlint.config import Config
from torchlint.diagnostics.model import Confidence, Finding
from torchlint.linter.engine import check_bytes

HOOK = """\
import torch
from torch import nn
from torch.autograd import Variable


class Checker:
    @torch.no_grad()
    def run(self, batch):
        return self.update(batch)

    def update(self, batch):
        return batch


class Scaled(Checker):
    def __init__(self):
        self.weight = torch.ones(2, requires_grad=True)

    def update(self, batch):
        {line}
"""

STEP = """\
import torch
from torch.autograd import Variable


class Arm(Env):
    def step(self, action):
        if isinstance(action, torch.Tensor):
            {line}
"""

DEFAULT = """\
import torch
from torch.autograd import Variable


def scaled(x, by=1.5, limits=(0, 1)):
    {line}


class Scale:
    def __init__(self, by=1.5):
        self.by = by

    def __call__(self, x):
        return (x.detach().cpu() * self.by).numpy()
"""

SETTINGS = """\
import torch


def scaled(x, args):
    {line}
"""

COMMAND = """\
import click
import torch


@click.command()
@click.option("--by")
def scaled(by):
    x = torch.ones(2)
    {line}
"""

FROZEN = """\
import copy
import torch
from torch.autograd import Variable
from kit import load


def made(path, device):
    net = copy.deepcopy(load(path)).eval().requires_grad_(False).to(device)
    {line}
"""

LIBRARY = """\
import kornia
import numpy as np
import torch


def shown(other):
    x, array = torch.ones(2), np.ones(2)
    {line}
"""

INDEX = """\
import torch


def picked(x: torch.Tensor, at, other: torch.Tensor):
    y = x.detach().cpu()[:, at] + x.detach().cpu()[other]
    {line}
"""

HANDED = """\
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence


class Encoder(nn.Module):
    def __init__(self, made):
        super().__init__()
        self.embed = nn.Embedding(3, 4)
        self.either = nn.Embedding(3, 4)
        self.either = made
        self.project = nn.Linear(3, 4)

    def forward(self, x, given):
        {line}
"""

SAMPLES = """\
import torch
from monai.transforms import MapTransform


class Cropped(MapTransform):
    def __call__(self, data):
        found = dict(data)
        {line}
"""

REWRITTEN = """\
import torch


def shown(model, x):
    found = model.predict(x)
    for key in found:
        found[key] = found[key].detach().cpu()
    {line}


def listed(model, x):
    found = model.predict(x)
    for key, each in list(found.items()):
        found[key] = each.detach().cpu()
    return found["a"].numpy()
"""

ABSTRACT = """\
import torch


class Strategy:
    def encode(self, tokens) -> list[torch.Tensor]:
        raise NotImplementedError

    def pair(self, tokens) -> tuple[torch.Tensor, torch.Tensor]:
        raise NotImplementedError


def cached(strategy: Strategy, tokens):
    with torch.no_grad():
        x, y = strategy.encode(tokens)
        u, v = strategy.pair(tokens)
    {line}
"""

REGISTERED = """\
import torch
from mmpose.registry import TRANSFORMS


@TRANSFORMS.register_module()
class Cropped:
    def transform(self, results: dict) -> dict:
        {line}
"""

OF_MMCV = """\
import torch
from mmcv.transforms import BaseTransform


class Cropped(BaseTransform):
    def transform(self, results: dict) -> dict:
        {line}
"""

PLOTTED = """\
import torch
from torch.utils.data import Dataset


class Rows(Dataset[dict]):
    def __getitem__(self, at):
        return self._whole({"image": self.rows[at]})

    def _whole(self, sample):
        sample["label"] = torch.tensor(0)
        return sample

    def plot(self, sample: dict[str, torch.Tensor], title=None):
        {line}
"""

PLOTTED_BY_A_BASE = """\
import abc
import torch
from torch.utils.data import Dataset


class Tables(Dataset[dict], abc.ABC):
    @abc.abstractmethod
    def __getitem__(self, at):
        ...

    def plot(self, sample: dict[str, torch.Tensor]):
        {line}


class Rows(Tables):
    pass


class Images(Rows):
    def __getitem__(self, at):
        return {"image": self.rows[at]}


class Others(Dataset):
    def __getitem__(self, at):
        return {"other": self.rows[at]}
"""

COLLATED = """\
import torch
from torch.utils.data import DataLoader


def gathered(samples):
    {line}


def load(rows):
    return DataLoader(rows, collate_fn=gathered)
"""

WITHOUT = {
    PLOTTED: ("(Dataset[dict])", "(list)"),
    PLOTTED_BY_A_BASE: ("(Tables)", "(Dataset)"),
    COLLATED: ("collate_fn=gathered", "sampler=gathered"),
    SAMPLES: ("(MapTransform)", "(Thing)"),
    REWRITTEN: ("found[key] = ", "if key:\n            found[key] = "),
    ABSTRACT: ("torch.no_grad()", "torch.enable_grad()"),
    REGISTERED: ("TRANSFORMS.register_module()", "MODELS.register_module()"),
    OF_MMCV: ("(BaseTransform)", "(Thing)"),
    HANDED: ("x, given):", "x, given):\n        if isinstance(given, str): return x"),
    INDEX: ("[:, at] + x.detach().cpu()[other]", "[:, 0] + at + other"),
    LIBRARY: ("x, array = torch.ones(2), np.ones(2)", "x = array = other"),
    SETTINGS: ("args", "others"),
    COMMAND: ('@click.command()\n@click.option("--by")', '@click.wrapped("--by")'),
    FROZEN: ("requires_grad_(False)", "requires_grad_(True)"),
    HOOK: ("@torch.no_grad()", "# as it is"),
    STEP: ("Env", "Machine"),
    DEFAULT: ("by=1.5, limits=(0, 1)", "by, limits"),
}
"""What makes nothing presumed of the method, by the text."""

PRESUMED = [
    (PLOTTED, 'return sample["image"].numpy(), sample["label"][0].float().numpy()'),
    (PLOTTED_BY_A_BASE, 'return sample["image"].numpy()'),
    (COLLATED, 'return [each["image"].numpy() for each in samples]'),
    (COLLATED, "images, labels = zip(*samples); return images[0].numpy()"),
    (SAMPLES, 'return found["image"].float().numpy()'),
    (REWRITTEN, "return [found[key].numpy() for key in found]"),
    (REWRITTEN, "return [each.numpy() for each in found.values()], found['a'].numpy()"),
    (ABSTRACT, "return x.cpu().numpy(), y.float().cpu().numpy()"),
    (ABSTRACT, "return u.cpu().numpy(), (v * 2).cpu().numpy()"),
    (REGISTERED, 'return (results["boxes"].widths > 2).numpy(), results["image"].numpy()'),
    (OF_MMCV, 'return results["image"].numpy()'),
    (SAMPLES, "return {key: data[key].numpy() for key in self.keys}"),
    (STEP, "return action.cpu().numpy()"),
    (STEP, "return (action * 2).cpu().numpy()"),
    (FROZEN, "return net(torch.ones(2)).cpu().numpy()"),
    (FROZEN, "return net.mapping(torch.ones(2), None)[:, :1].cpu().numpy()"),
    (LIBRARY, "return kornia.color.to_gray(x, 3).numpy()"),
    (LIBRARY, "return kornia.to_tensor(array, flag=True).numpy()"),
    (INDEX, "return at.cpu().numpy()"),
    (INDEX, "return (at + 1).cpu().numpy(), (other * 2).cpu().numpy()"),
    (INDEX, "return other.cpu().view(-1).numpy()"),
    (HANDED, "y = self.embed(given); return given.cpu().numpy()"),
    (HANDED, "return pack_padded_sequence(x, given.cpu().numpy(), batch_first=True)"),
    (HANDED, "given = given.cpu().numpy(); return nn.utils.rnn.pack_padded_sequence(x, lengths=given)"),
    (HANDED, "kept = given.cpu().numpy(); y = kept; return pack_padded_sequence(x, y)"),
    (HANDED, "y = x.gather(1, given); return given.cpu().numpy()"),
    (HANDED, "y = torch.gather(x, -1, given.unsqueeze(-1)); return given.cpu().numpy()"),
    (HANDED, "y = x.scatter_(dim=1, index=given, src=x); return given.cpu().numpy()"),
    (HANDED, "y = nn.functional.one_hot(given, 5); return given.cpu().numpy()"),
]

BESIDE_A_TENSOR = [
    (SETTINGS, "return (x.detach().cpu() * args.by).numpy()"),
    (SETTINGS, "return (x.detach().cpu() * args.TEST.BY).numpy()"),
    (COMMAND, "return (x * by).numpy()"),
    (DEFAULT, "return (x.detach().cpu() * by).numpy()"),
    (DEFAULT, "return x.detach().cpu().clamp_(*limits).numpy()"),
    (DEFAULT, "return ((x.detach().cpu() - limits[0]) / limits[1]).numpy()"),
]
"""Operands of which nothing is known, beside a tensor that works."""

LINES = [
    *((HOOK, line) for line in (
        "return Variable(torch.ones(2), volatile=True)",
        "return Variable(batch * self.weight)",
        "made = torch.zeros(2) * self.weight; return Variable(made)",
        "made = torch.zeros(2) * self.weight; return made.data",
        "made = torch.zeros(2) * self.weight; made.data.zero_(); return made",
        "self.weight.data.zero_()",
        "self.weight.data += 1",
        "nn.init.zeros_(self.weight.data)",
        "return torch.tensor(torch.zeros(2) * self.weight)",
    )),
    *((STEP, line) for line in (
        "return Variable(action)",
        "made = action * 2; return Variable(made)",
        "return Variable(action, volatile=True)",
        "return action.data",
        "action.data.clamp_(0, 1)",
        "action.data += 1",
        "return torch.tensor(action)",
    )),
    *((SETTINGS, line) for line in (
        "return torch.Tensor(args.by), torch.tensor(args.by).data",
        "made = torch.zeros(2) * args.by; return made.data, torch.tensor(made)",
    )),
    *((INDEX, line) for line in (
        "return Variable(at), torch.tensor(other), other.data",
        "made = other * 2; made.data.zero_(); return torch.tensor(made)",
    )),
    *((LIBRARY, line) for line in (
        "made = kornia.to_gray(torch.tensor(other)); return torch.tensor(made.detach()), made.detach().data",
    )),
    *((COMMAND, line) for line in (
        "return torch.Tensor(by)",
        "made = x * by; made.data.zero_(); return torch.tensor(made)",
    )),
    *((FROZEN, line) for line in (
        "return Variable(net.mapping(torch.ones(2)))",
        "made = net.mapping(torch.ones(2)); made.data.zero_(); return made.data",
    )),
    *((PLOTTED, line) for line in (
        'return sample["image"].data, torch.tensor(sample["label"])',
        'sample["image"].data.zero_(); return torch.Tensor(sample["label"])',
    )),
    *((COLLATED, line) for line in (
        "return samples[0].data, torch.tensor(samples[0]), torch.Tensor(samples)",
    )),
    *((DEFAULT, line) for line in (
        "return torch.Tensor(by)",
        "return torch.FloatTensor(limits[0])",
        "return Variable(by)",
        "return torch.tensor(x).new_zeros(2).data + by",
        "if torch.is_tensor(by):\n        return Variable(by), by.data",
        "made = torch.zeros(2) * by; return Variable(made), made.data",
    )),
]  # fmt: skip


def found(text: str, line: str, presuming: bool = True) -> tuple[Finding, ...]:
    code = text.replace("{line}", line)
    raw = (code if presuming else code.replace(*WITHOUT[text])).encode()
    result = check_bytes("a.py", raw, Config(select=("ALL",), min_confidence=Confidence.UNPROVEN))
    assert result.troubles == ()
    return result.findings


@pytest.mark.parametrize(("text", "line"), PRESUMED)
def test_a_conversion_is_silent_where_it_works_as_the_method_is_called(text: str, line: str) -> None:
    assert not [each for each in found(text, line) if "require" in each.message]
    assert [each for each in found(text, line, presuming=False) if "require" in each.message]


@pytest.mark.parametrize(("text", "line"), BESIDE_A_TENSOR)
@pytest.mark.parametrize("presuming", [True, False])
def test_an_unknown_operand_beside_a_tensor_is_a_number_as_likely(text: str, line: str, presuming: bool) -> None:
    assert not [each for each in found(text, line, presuming) if "require" in each.message]


def test_a_method_that_is_called_without_grad_where_the_class_above_calls_it_is_left_in_doubt() -> None:
    line = "return (batch * self.weight).numpy()"
    told = [each for each in found(HOOK, line) if each.code == "TNS101"]
    assert [each.confidence for each in told] == [Confidence.UNPROVEN]
    told = [each for each in found(HOOK, line, presuming=False) if each.code == "TNS101"]
    assert [each.confidence for each in told] == [Confidence.LIKELY]


@pytest.mark.parametrize(
    "loop",
    [
        "for key in found:\n        break\n        found[key] = found[key].detach().cpu()",
        "for key in found:\n        if key: continue\n        found[key] = found[key].detach().cpu()",
        "for key in found:\n        found[key] = found[key].detach().cpu()\n        found['a'] = model(x)",
        "for key in found:\n        found = model.predict(key)\n        found[key] = found[key].detach().cpu()",
        "for at in range(len(found)):\n        found[at] = found[at].detach().cpu()",
        "for key in found.keys():\n        other[key] = found[key].detach().cpu()",
    ],
)
def test_a_loop_that_may_leave_a_member_as_it_was_says_nothing_of_it(loop: str) -> None:
    code = f"import torch\n\n\ndef shown(model, x, other, found):\n    {loop}\n    return found['b'].numpy()\n"
    result = check_bytes("a.py", code.encode(), Config(min_confidence=Confidence.UNPROVEN))
    assert [each.code for each in result.findings if "require" in each.message]


def test_a_reason_that_is_presumed_away_is_not_told() -> None:
    line = 'return (results["boxes"].widths > self.least).numpy()'
    (told,) = [each for each in found(REGISTERED, line) if each.code == "TNS103"]
    assert told.confidence is Confidence.UNPROVEN
    assert "is an argument" not in told.why[0]
    (other,) = [each for each in found(REGISTERED, line, presuming=False) if each.code == "TNS103"]
    assert other.confidence is Confidence.POSSIBLE
    assert "`results` is an argument of" in other.why[0]


@pytest.mark.parametrize("call", ["kornia.made(2)(x)", "kornia.Gray(x)", "kornia.to_gray(other)", "kornia.f()"])
def test_little_is_presumed_of_a_library(call: str) -> None:
    """What makes a module, is a class or is given what nobody knows may give what requires grad."""
    assert [each.code for each in found(LIBRARY, f"return {call}.cpu().numpy()")] == ["TNS103"]


@pytest.mark.parametrize(
    ("given", "codes"),
    [
        ("array", []),
        ("torch.nn.Linear(2, 2).requires_grad_(False)", []),
        ("torch.nn.Linear(2, 2)", ["TNS103"]),
        ("lambda each: each * 2", ["TNS103"]),
        ("shown", ["TNS103"]),
    ],
)
def test_a_module_or_a_function_may_bring_a_graph_to_a_library(given: str, codes: list[str]) -> None:
    assert [
        each.code for each in found(LIBRARY, f"return kornia.to_gray({given}, torch.ones(2)).cpu().numpy()")
    ] == codes


@pytest.mark.parametrize("line", ["return args.weight.numpy()", "return x.to(args.device).detach().numpy()"])
def test_settings_say_nothing_of_a_tensor_among_them_nor_of_a_device(line: str) -> None:
    assert [each.code[:5] for each in found(SETTINGS, line)] == ["TNS10"]


@pytest.mark.parametrize("default", ['"cpu"', '"cuda"', "0", "None"])
def test_a_device_is_no_less_open_for_its_default(default: str) -> None:
    text = f"import torch\n\n\ndef f(x, device={default}):\n    return x.detach().to(device).numpy()\n"
    assert [each.code for each in found(text, "")] == ["TNS102"]


def test_what_a_constructor_is_given_by_default_is_presumed_of_its_attribute() -> None:
    text = DEFAULT.replace("{line}", "pass")
    assert [each.code for each in found(text, "")] == ["TNS404"]
    text = text.replace("(x.detach().cpu() * self.by).numpy()", "torch.as_tensor(self.by).numpy()")
    assert [each.code for each in found(text, "")] == ["TNS404"]
    assert [each.code for each in found(text.replace("self, by=1.5", "self, by"), "")] == ["TNS404", "TNS103"]


@pytest.mark.parametrize(("text", "line"), LINES)
def test_no_fix_is_chosen_by_what_is_presumed(text: str, line: str) -> None:
    def told(presuming: bool) -> list[tuple[object, ...]]:
        return [
            (
                each.code,
                each.message.replace("others", "args"),
                each.fix and (each.fix.applicability, [edit.text for edit in each.fix.edits]),
            )
            for each in found(text, line, presuming)
        ]

    assert told(presuming=True)
    assert told(presuming=True) == told(presuming=False)


@pytest.mark.parametrize(
    "line",
    [
        "return (at * x).cpu().numpy()",
        "at = x\n    return at.cpu().numpy()",
        "if isinstance(at, str):\n        return y\n    return at.cpu().numpy()",
    ],
)
def test_an_index_that_may_be_something_else_may_require_grad(line: str) -> None:
    assert [each.code for each in found(INDEX, line)] == ["TNS103"]


@pytest.mark.parametrize(
    "line",
    [
        "y = self.project(given); return given.cpu().numpy()",
        "y = self.either(given); return given.cpu().numpy()",
        "y = self.embed(given.long()); return given.cpu().numpy()",
        "y = self.embed(given.clamp(0, 1)); return given.cpu().numpy()",
        "y = x.gather(given, 1); return given.cpu().numpy()",
        "y = x.scatter(1, x.argmax(1), given); return given.cpu().numpy()",
        "kept = given.cpu().numpy(); kept = [1]; return pack_padded_sequence(x, kept)",
        "kept, y = given.cpu().numpy(), 1; return pack_padded_sequence(x, kept[:y])",
        "y = x.gather(1, given); given = x; return given.cpu().numpy()",
        "given = given.round(); y = x.gather(1, given); return given.cpu().numpy()",
    ],
)
def test_what_is_handed_over_where_torch_takes_floats_may_require_grad(line: str) -> None:
    assert "TNS103" in [each.code for each in found(HANDED, line)]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (PLOTTED, 'return sample["prediction"].numpy()'),
        (PLOTTED, "return title.numpy()"),
        (PLOTTED_BY_A_BASE, 'return sample["other"].numpy()'),
    ],
)
def test_what_no_sample_holds_is_not_presumed(text: str, line: str) -> None:
    assert [each.code for each in found(text, line)] == ["TNS103"]


@pytest.mark.parametrize("handed", ["lambda rows: gathered(rows)", "partial(gathered)", "tools.gathered"])
def test_however_a_function_is_handed_to_a_loader(handed: str) -> None:
    text = COLLATED.replace("collate_fn=gathered", f"collate_fn={handed}")
    assert not check_bytes("made.py", text.replace("{line}", "return samples[0].numpy()").encode(), Config()).findings
