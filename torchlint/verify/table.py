"""The table of cases: for each rule, code that its fixes change, and that is run in every ordinary world."""

from __future__ import annotations

from functools import cache
from textwrap import dedent, indent

from torchlint.diagnostics.registry import RULES
from torchlint.verify.cases import Case, page_example, repaired

_TENSOR = "t: torch.Tensor"
_SHOWN = "assert isinstance(t, torch.Tensor)\n"
"""What an example begins with whose fix is safe only where the code itself shows a tensor: annotations do not."""
_HEAD = "import numpy as np\nimport torch\nfrom torch import nn\n"
_VARIABLE = "from torch.autograd import Variable\n"


def _case(code: str, body: str, given: str = _TENSOR, before: str = "") -> Case:
    lines = indent(dedent(body).strip(), "    ")
    wrapper = _VARIABLE if "Variable" in f"{body}{given}" or code == "TNS404" else ""
    between = f"\n\n{dedent(before).strip()}\n" if before else ""
    return Case(code, f"{_HEAD}{wrapper}{between}\n\ndef case({given}):\n{lines}\n")


def _cases(code: str, *bodies: str, given: str = _TENSOR) -> tuple[Case, ...]:
    return tuple(_case(code, body, given) for body in bodies)


def _shown(code: str, *bodies: str) -> tuple[Case, ...]:
    """Make the cases of a rule whose safe fixes need a tensor beyond doubt."""
    return _cases(code, *(f"{_SHOWN}{body}" for body in bodies))


_MODULE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
        self.norm = nn.BatchNorm1d(2)
        self.scale = nn.Parameter(torch.ones(3))
        self.fc.weight.data.normal_(0, 0.02)
        self.fc.bias.data.zero_()
        self.norm.weight.data.uniform_().mul_(2)
        self.norm.bias.data[0] = 0.5
        self.scale.data += 1
        self.scale.data[1:].view(-1).fill_(3)
        nn.init.constant_(self.norm.bias.data[1:], -2.0)
        nn.init.normal_(self.scale.data)
        if self.fc.bias is not None: self.fc.bias.data.copy_(torch.ones(2))
        self.norm.weight.data.neg_(); self.width = 2
        self.reset_parameters()

    def reset_parameters(self):
        for m in self.modules():
            if isinstance(m, nn.Linear):
                m.weight.data.uniform_(-1, 1)
                if m.bias is not None:
                    m.bias.data.fill_(0.25)
"""
_RESET = """
class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3))

    def reset_parameters(self):
        self.w.data.zero_()
"""
_APPLIED = """
def start(m):
    if isinstance(m, nn.Linear):
        nn.init.xavier_uniform_(m.weight.data)
        m.bias.data.clamp_(-0.1, 0.1)


net = nn.Sequential(nn.Linear(3, 2), nn.ReLU())
net.apply(start)
"""

_NUMPY = (
    *_cases(
        "TNS101",
        "a = t.requires_grad_().numpy()",
        "w = torch.ones(3, requires_grad=True)\na = w.numpy()",
        "y = t * torch.ones(3, requires_grad=True)\nreturn y.numpy()",
        "w = torch.ones(3, requires_grad=True) * 2\nreturn w.view(-1).cpu().numpy()",
    ),
    *_cases(
        "TNS102",
        "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\na = t.to(device).numpy()",
        "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\nreturn t.detach().to(device).numpy()",
        "device = 'cuda' if torch.cuda.is_available() else 'cpu'\na = torch.ones(3, device=device).numpy()",
        "a = t.cuda().numpy()",
    ),
    *_cases(
        "TNS103",
        "a = t.numpy()",
        "return t.numpy(), (t + 1).numpy()",
        "a = t.cpu().numpy()",
        "a = t.detach().numpy()",
        "return t[..., None].numpy().copy()",
        "a = t.cpu().numpy()\na[...] = 0\nreturn a",
        "with torch.no_grad():\n    return t.numpy()",
    ),
    *_cases(
        "TNS104",
        "a = t.cpu().detach()",
        "a = t.to('cpu').detach().numpy()",
        "return (t * 2).to(device='cpu').detach()",
        "return t.to(torch.device('cpu')).detach().add_(1)",
    ),
    *_cases(
        "TNS107",
        "a = t.detach().cpu().numpy().tolist()",
        "a = float(t.detach().cpu().numpy())",
        "a = int(t.detach().cpu().numpy())",
        "a = t.detach().numpy().item()",
        "a = t.numpy(force=True).item()",
        "a = t.detach().cpu().numpy().item()",
        "a = t.numpy().tolist()",
        "a = t.sum().detach().cpu().numpy()[0]",
        "a = float(t.float().mean().detach().numpy()) + 1",
        "a = int((t != 0).sum().cpu().numpy())",
        "a = t.long().numpy().tolist(), t.bool().numpy().tolist()",
    ),
    *_shown("TNS107", "a = t.data.numpy().item()"),
)

_DATA = (
    *_shown(
        "TNS201",
        "a = t.data.cpu().numpy()",
        "a = t.data.cpu().numpy()\na[...] = 0",
        "a = t.data.clone()",
        "a = t.data.tolist()",
        "kept = t.data\na = kept.sum()",
        "a = (t.data > 0).all()",
        "a = t.data.norm(2)",
        "return t.data.max(-1)",
        "a = t + t.data",
        "a = 0.5 * t.data",
        "return torch.cat([t.data, t.data])",
        "print(t.data, f'{t.data}', '%s' % t.data)",
        "a = t.data.detach().clone()",
        "with torch.no_grad():\n    a = t.data.abs().mean()\nreturn a",
        "return t.data.cpu().numpy().max(), t.data.view(-1).sum()",
        "out = t * 2\n_, best = out.data.max(-1)\nhits = (best == best.data).sum()\nreturn hits",
    ),
    _case("TNS202", "net = Net()\nreturn net", "", _MODULE),
    _case("TNS202", "net = Net()\nreturn net.fc(torch.ones(4, 3)).sum()", "", _MODULE),
    Case("TNS202", _HEAD + _APPLIED),
    *_shown(
        "TNS204",
        "a = t.data.item()",
        "a = t.sum().data[0]",
        "return nn.functional.mse_loss(t, t * 2).data[0]",
        "a = t[0].data.item()",
        "a = t.double().data.item()",
    ),
    *_shown(
        "TNS205",
        "a = t.data.size(), t.data.shape, t.data.dtype, t.data.device, t.data.is_cuda",
        "a = t.data.dim(), t.data.numel(), t.data.type(), len(t.data), t.data.ndim, t.data.nelement()",
        "a = t.data.size(0), t.data.shape[-1], f'{t.data.shape} rows'",
        "a = torch.zeros_like(t.data), torch.ones_like(t.data, dtype=torch.bool)",
        "return torch.full_like(t.data, 2), torch.empty_like(t.data)",
        "return torch.rand_like(t.data), torch.randn_like(t.data)",
        "a = t.data.new(2, 3).zero_()\nb = t.data.new([1, 2]), t.data.new()",
        "return t.data.new_zeros(2), t.data.new_ones(3), t.data.new_tensor([1]), t.data.new_full((2,), 1)",
        "return t.data.new_empty(2), t.data.new_ones(t.data.shape)",
        "a = t.data.stride(), t.data.is_contiguous(), t.data.element_size(), t.data.get_device()",
        "a = t.data.is_floating_point(), t.data.is_complex(), t.data.is_sparse, t.data.layout",
        "a = t.data.storage_offset(), t.data.data_ptr() == t.data_ptr()",
    ),
)

_SEQUENCES = (
    "[1, 2, 3]",
    "[0.5, 1.5]",
    "[[1, 0.5], [-2, 3]]",
    "[]",
    "(2, 3)",
    "range(4)",
    "[n * n for n in range(3)]",
    "[True, False]",
)
_TYPED = "FloatTensor DoubleTensor HalfTensor LongTensor IntTensor ShortTensor CharTensor ByteTensor BoolTensor".split()
_FROM_DATA = (
    *_cases("TNS301", *(f"a = torch.Tensor({each})" for each in _SEQUENCES), given=""),
    *_cases("TNS301", "assert isinstance(numbers, list)\na = torch.Tensor(numbers)", given="numbers: list[int]"),
    *_cases(
        "TNS301",
        "return torch.Tensor(np.atleast_1d(array))",
        "x = np.atleast_1d(array).astype(np.float32)\na = torch.Tensor(np.atleast_1d(x))\na += 1\nreturn x",
        given="array: np.ndarray",
    ),
    *_cases("TNS301", "return torch.Tensor([t.sum(), t.sum()])", "return torch.Tensor([t.sum().item(), 2])"),
    *_cases("TNS302", "assert isinstance(n, int)\na = torch.Tensor(n)", given="n: int"),
    *_cases("TNS302", "return torch.Tensor(n, 2).zero_()", "a = torch.Tensor()", given="n: int"),
    *_cases(
        "TNS302",
        "a = torch.Tensor(t.size())",
        "a = torch.Tensor(t.size(0), 3)",
        "return nn.Parameter(torch.Tensor(2, 3))",
    ),
    *_shown(
        "TNS302",
        "y = t.reshape(-1)\na = torch.Tensor(y.size()), torch.Tensor(y.shape)",
        "y = t * 1\nreturn torch.Tensor(y.shape), torch.Tensor(len(y), 2)",
    ),
)
_TYPES = (
    *_cases("TNS304", *(f"a = torch.{each}([0, 2, 1])" for each in _TYPED), given=""),
    *_cases("TNS304", *(f"a = torch.{each}(2, 3)\nb = torch.{each}()" for each in _TYPED), given=""),
    *_cases("TNS304", *(f"a = torch.{each}(np.atleast_1d(array))" for each in _TYPED), given="array: np.ndarray"),
    *_cases(
        "TNS304",
        "x = np.atleast_1d(array).astype(np.int64)\na = torch.LongTensor(np.atleast_1d(x))\na += 1\nreturn x",
        given="array: np.ndarray",
    ),
    *_cases(
        "TNS304",
        "assert isinstance(numbers, list)\nreturn torch.FloatTensor(numbers), torch.LongTensor(numbers)",
        given="numbers: list[int]",
    ),
    *_cases(
        "TNS304",
        "assert isinstance(n, int)\nreturn torch.FloatTensor(n, 3).zero_(), torch.LongTensor(n)",
        given="n: int",
    ),
    *_cases("TNS304", "a = torch.FloatTensor(t.size())", "a = torch.LongTensor(t.shape[-1])"),
    *_cases(
        "TNS304",
        "a = torch.cuda.FloatTensor([1, 2])",
        "a = torch.cuda.LongTensor(2, 3).zero_()",
        "return torch.cuda.ByteTensor([1]), torch.cuda.HalfTensor(2)",
        given="",
    ),
    *_cases(
        "TNS305",
        "a = torch.Tensor([1, 2], dtype=torch.float64)",
        "a = torch.Tensor([1, 2], device=t.device)",
        "a = torch.Tensor(2, 3, device=t.device)",
        "device = t.device\na = torch.LongTensor([1, 2, 3], device=device)",
        "device = t.device\na = torch.FloatTensor(2, 3, device=device)",
        "return torch.DoubleTensor((1, 2), device=t.device)",
    ),
    *_cases("TNS305", "a = torch.Tensor(np.atleast_1d(array), device=t.device)", given=f"{_TENSOR}, array: np.ndarray"),
    *_shown(
        "TNS306",
        "a = t.new(2, 3).zero_()",
        "a = t.new(2, 3), t.new(3)",
        "a = t.new()",
        "a = t.new(t.size())",
        "a = t.new(t.size(0), 2)",
        "y = t * 1\na = y.new(y.shape), y.new(y.size())",
        *(f"a = t.new({each})" for each in _SEQUENCES),
    ),
    *_shown(
        "TNS307",
        *(f"a = t.type(torch.{each})" for each in _TYPED),
        "a = t.type('torch.DoubleTensor')",
        "a = t.type(torch.Tensor)",
        "return t.type(torch.FloatTensor) * 2",
        "x = t.cpu()\na = x.type(torch.FloatTensor), x.type('torch.LongTensor')",
    ),
    *_shown(
        "TNS308",
        *(
            f"y = {each}\nreturn torch.tensor(y{keywords})"
            for each in ("t * 1", "t.view_as(t)", "t.detach()")
            for keywords in (
                "",
                ", dtype=torch.float64",
                ", requires_grad=True",
                ", dtype=torch.float32, device='cpu'",
                ", device=t.device",
            )
        ),
        "y = t * 1\nreturn torch.tensor(y[0]), torch.tensor(-y).sum()",
    ),
    *_cases(
        "TNS310",
        "torch.set_default_tensor_type(torch.DoubleTensor)\n"
        "a = torch.zeros(2), torch.Tensor(2).zero_(), torch.tensor([1.0])",
        "torch.set_default_tensor_type('torch.HalfTensor')\na = torch.zeros(2), torch.arange(3.0)",
        given="",
    ),
)

_WRAPPERS = (
    *_shown(
        "TNS401",
        "a = Variable(t)",
        "return Variable(t)",
        "v = Variable(t)\nreturn v * 2",
        "v = Variable(t)\na = v.sum().item()",
        "x = t.detach()\nv = Variable(x)\nreturn v.sum()",
        "x = t.detach().clone()\nv = Variable(x)\nreturn v",
        "x = t.detach()\nv = Variable(x)\nv.requires_grad_()\nreturn (v * 2).sum()",
        "x = t.detach()\nv = Variable(x)\nv += 1\nreturn x",
        "t = Variable(t)\nreturn t * 2",
        "a = Variable(t, requires_grad=True)\nreturn (a * 2).sum()",
        "a = Variable(t + 1, requires_grad=True)",
        "a = Variable(t.long()), Variable(t != 0)",
        "return [Variable(each) for each in t]",
    ),
    *_shown("TNS401", "a = Variable(t.data, requires_grad=True)"),
    *_cases(
        "TNS401",
        "a = Variable(torch.zeros(3))",
        "a = Variable(torch.ones(2), requires_grad=True)",
        "a = Variable(torch.rand(3) > 0.5).float()",
        "a = Variable(torch.randn(2, 3).double(), requires_grad=True)",
        "a = Variable(torch.tensor([1.0, 2.0]), True)",
        "a = Variable(torch.zeros(3), requires_grad=False)",
        "a = Variable(torch.ones(2) + torch.ones(2)) * 2",
        given="",
    ),
    *_cases(
        "TNS402",
        "a = Variable(t, volatile=False)",
        "a = Variable(t, volatile=False, requires_grad=True)",
        "with torch.no_grad():\n    a = Variable(t, volatile=True)\nreturn a * 2",
        "a = Variable(t, volatile=True)\nloss = Variable(torch.ones(3), requires_grad=True).sum()\nloss.backward()",
    ),
    *_cases(
        "TNS403",
        "a = isinstance(t, Variable), isinstance(n, Variable), isinstance(array, (list, Variable))",
        "a = isinstance(t, (torch.Tensor, Variable)), isinstance(None, Variable)",
        "x: Variable = t\nif not isinstance(x, (tuple, torch.Tensor, Variable)):\n    raise TypeError\nreturn x",
        given="t: torch.Tensor, n, array",
    ),
    *_cases("TNS403", "if isinstance(t, Variable):\n    return t * 2\nreturn None", given="t: Variable"),
    *_cases("TNS404", "a = t * 2", "return t.sum()"),
)

SAFE: tuple[Case, ...] = (*_NUMPY, *_DATA, *_FROM_DATA, *_TYPES, *_WRAPPERS)
"""Cases that the rule's safe fixes change: the new text must do what the old one did in every ordinary world."""

UNSAFE: tuple[Case, ...] = (
    _case("TNS201", "kept = t.data\nkept.mul_(2)\nreturn kept"),
    *_cases(
        "TNS201",
        "kept = +t.data\nkept.mul_(2)",
        "kept = np.squeeze(t.data)\nkept.mul_(2)",
        "a = nn.functional.relu(t.data, inplace=True)",
        "a = nn.functional.leaky_relu(t.data, 0.1, True)",
        "a = nn.functional.embedding(torch.tensor([0], device=t.device), t.data, max_norm=0.1)",
    ),
    _case("TNS202", "t.data.mul_(2)"),
    _case("TNS202", "t.data[...] = 0"),
    _case(
        "TNS202", "gate = Gate()\nout = (gate.w * gate.w).sum()\ngate.reset_parameters()\nout.backward()", "", _RESET
    ),
    _case("TNS204", "loss = t\na = loss.data[0]"),
)
"""Cases of fixes that claim less, and for which some ordinary world shows why."""


def of_rule(code: str) -> tuple[Case, ...]:
    """Return a rule's cases for its safe fixes, the example on its page among them."""
    example = page_example(code)
    return (*((example,) if repaired(example) != example.text else ()), *(case for case in SAFE if case.code == code))


@cache
def claiming() -> tuple[str, ...]:
    """Return the rules with fixes that claim to be safe: those with such a case here or on their page."""
    return tuple(entry.code for entry in RULES if entry.words and of_rule(entry.code))
