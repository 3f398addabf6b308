"""Plausible wrong fixes, rule by rule: what is changed in the fix that torchlint makes, and what then has to differ."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import indent

from torchlint.verify.cases import Case, repaired
from torchlint.verify.table import of_rule

HEAD = "import numpy as np\nimport torch\nfrom torch import nn\nfrom torch.autograd import Variable\n"


@dataclass(frozen=True)
class Mutant:
    """A fix that went wrong: in what torchlint makes of one of a rule's examples, ``right`` became ``wrong``."""

    code: str
    body: str
    """The example, by the lines of its function."""
    fault: str
    right: str
    wrong: str
    observable: str
    device: str = "cpu"

    @property
    def case(self) -> Case:
        endings = tuple(
            f":\n{indent(shown + self.body, '    ')}\n" for shown in ("", "assert isinstance(t, torch.Tensor)\n")
        )
        (found,) = (each for each in of_rule(self.code) if each.text.endswith(endings))
        return found

    @property
    def texts(self) -> tuple[str, str, str]:
        """The old text, the right one and the wrong one."""
        right = repaired(self.case)
        assert self.right in right, right
        return self.case.text, right, right.replace(self.right, self.wrong)


@dataclass(frozen=True)
class Rewriting:
    """A fix that torchlint does not make, for code in which the temptation is."""

    code: str
    fault: str
    before: str
    after: str
    observable: str
    given: str = "t"
    imports: bool = True
    """Whether the new text still imports ``Variable``."""
    device: str = "cpu"

    @property
    def texts(self) -> tuple[str, str]:
        head = HEAD if self.imports else HEAD.replace("from torch.autograd import Variable\n", "")
        return self._whole(HEAD, self.before), self._whole(head, self.after)

    def _whole(self, head: str, body: str) -> str:
        return f"{head}\n\ndef case({self.given}):\n{indent(body, '    ')}\n"


WRONG: dict[tuple[str, str], list[tuple[str, ...]]] = {
    ("TNS101", "w = torch.ones(3, requires_grad=True)\na = w.numpy()"): [
        ("a copy", ".detach()", ".detach().clone()", "a: shares memory with"),
        ("detaching in place", ".detach()", ".detach_()", "w: requires_grad"),
        ("switching grad off", ".detach()", ".requires_grad_(False)", "w: requires_grad"),
        ("a list", ".detach().numpy()", ".tolist()", "a: class"),
    ],
    ("TNS102", "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\na = t.to(device).numpy()"): [
        ("a copy", ".cpu()", ".cpu().clone()", "a: shares memory with"),
        ("in place", ".detach()", ".detach_()", "input t: requires_grad"),
        ("another dtype", ".cpu()", ".cpu().float()", "a: dtype"),
        ("the accelerator", ".cpu()", ".cuda()", "exception"),
    ],
    ("TNS103", "a = t.cpu().numpy()\na[...] = 0\nreturn a"): [
        ("a copy", ".detach()", ".detach().clone()", "input t: elements"),
    ],
    ("TNS103", "a = t.numpy()"): [
        ("in place", ".detach()", ".detach_()", "input t: is_leaf"),
        ("a new array", "t.detach().cpu().numpy()", "np.array(t.detach().cpu())", "a: shares memory with"),
        ("another dtype", ".cpu()", ".cpu().float()", "a: dtype"),
    ],
    ("TNS104", "a = t.cpu().detach()"): [
        ("no detach", ".detach()", "", "a: requires_grad"),
        ("in place", ".detach()", ".detach_()", "input t: requires_grad"),
        ("a copy", ".cpu()", ".cpu().clone()", "a: shares memory with"),
        ("no move", ".cpu()", "", "a: device", "simulated"),
    ],
    ("TNS107", "a = t.detach().numpy().item()"): [
        ("a list", "t.item()", "t.tolist()", "a: value"),
        ("a float", "t.item()", "float(t)", "a: value"),
        ("an index", "t.item()", "t[0].item()", "exception"),
    ],
    ("TNS107", "a = float(t.detach().cpu().numpy())"): [
        ("no float", "float(t.item())", "t.item()", "a: value"),
    ],
    ("TNS201", "a = t.data.clone()"): [
        ("dropping .data", ".detach()", "", "a: requires_grad"),
    ],
    ("TNS201", "kept = t.data\na = kept.sum()"): [
        ("dropping .data of a name", ".detach()", "", "a: grad_fn"),
        ("in place", ".detach()", ".detach_()", "input t: requires_grad"),
        ("a new tensor", "t.detach()", "torch.tensor(t)", "kept: shares memory with"),
    ],
    ("TNS201", "a = t.data.cpu().numpy()\na[...] = 0"): [
        ("a copy", ".detach()", ".detach().clone()", "input t: elements"),
    ],
    ("TNS202", "net = Net()\nreturn net"): [
        ("no no_grad", "with torch.no_grad():", "if True:", "exception"),
        ("a copy", "self.norm.bias[0] = 0.5", "self.norm.bias.clone()[0] = 0.5", "the result[norm.bias]: elements"),
        (
            "another numbers",
            "nn.init.uniform_(m.weight, -1, 1)",
            "nn.init.uniform_(m.weight)",
            "the result[fc.weight]: elements",
        ),
        (
            "a rebinding",
            "self.scale.add_(1)",
            "self.scale = nn.Parameter(self.scale.double() + 1)",
            "the result[scale]: dtype",
        ),
    ],
    ("TNS204", "a = t.data.item()"): [
        ("no number", "t.item()", "t.detach()", "a: value"),
        ("a float", "t.item()", "float(t)", "a: value"),
        ("an index", "t.item()", "t[0].item()", "exception"),
    ],
    ("TNS205", "a = t.data.size(), t.data.shape, t.data.dtype, t.data.device, t.data.is_cuda"): [
        ("another type of size", "t.size()", "tuple(t.shape)", "a[0]: value"),
        ("a word for a dtype", "t.dtype", "t.type()", "a[2]: value"),
    ],
    ("TNS205", "a = torch.zeros_like(t.data), torch.ones_like(t.data, dtype=torch.bool)"): [
        ("zeros of a shape", "torch.zeros_like(t)", "torch.zeros(t.shape)", "a[0]: dtype"),
        ("other strides", "torch.zeros_like(t)", "t.new_zeros(t.shape)", "a[0]: stride"),
    ],
    ("TNS301", "a = torch.Tensor([1, 2, 3])"): [
        ("no dtype", ", dtype=torch.float32", "", "a: dtype"),
        ("a double", "float32", "float64", "a: dtype"),
    ],
    ("TNS301", "x = np.atleast_1d(array).astype(np.float32)\na = torch.Tensor(np.atleast_1d(x))\na += 1\nreturn x"): [
        ("a copy of an array", "as_tensor", "tensor", "the result: elements"),
    ],
    ("TNS301", "return torch.Tensor(np.atleast_1d(array))"): [
        ("the array's dtype", ", dtype=torch.float32", "", "the result: dtype"),
    ],
    ("TNS302", "a = torch.Tensor(t.size(0), 3)"): [
        ("zeros", "torch.empty", "torch.zeros", "a: elements"),
    ],
    ("TNS302", "a = torch.Tensor(t.size())"): [
        ("the tensor's dtype", "torch.empty(t.size())", "torch.empty_like(t)", "a: dtype"),
    ],
    ("TNS302", "assert isinstance(n, int)\na = torch.Tensor(n)"): [
        ("a value for a size", "torch.empty(n)", "torch.tensor(n)", "a: shape"),
    ],
    ("TNS302", "a = torch.Tensor()"): [
        ("one element for none", "torch.empty(0)", "torch.empty(())", "a: shape"),
    ],
    ("TNS304", "a = torch.FloatTensor([0, 2, 1])"): [
        ("no dtype", ", dtype=torch.float32", "", "a: dtype"),
    ],
    ("TNS304", "a = torch.ShortTensor([0, 2, 1])"): [
        ("another width", "int16", "int32", "a: dtype"),
    ],
    ("TNS304", "x = np.atleast_1d(array).astype(np.int64)\na = torch.LongTensor(np.atleast_1d(x))\na += 1\nreturn x"): [
        ("a copy of an array", "as_tensor", "tensor", "the result: elements"),
    ],
    ("TNS304", "a = torch.LongTensor(2, 3)\nb = torch.LongTensor()"): [
        ("no dtype of a size", "torch.empty(2, 3, dtype=torch.int64)", "torch.empty(2, 3)", "a: dtype"),
    ],
    ("TNS305", "a = torch.Tensor([1, 2], device=t.device)"): [
        ("no dtype", "dtype=torch.float32, ", "", "a: dtype"),
    ],
    ("TNS305", "a = torch.Tensor(2, 3, device=t.device)"): [
        ("zeros", "torch.empty", "torch.zeros", "a: elements"),
    ],
    ("TNS305", "a = torch.Tensor(np.atleast_1d(array), device=t.device)"): [
        ("a copy of an array", "as_tensor", "tensor", "a: shares memory with"),
    ],
    ("TNS306", "a = t.new(t.size())"): [
        ("zeros", "new_empty", "new_zeros", "a: elements"),
        ("other strides", "t.new_empty(t.size())", "torch.empty_like(t)", "a: stride"),
    ],
    ("TNS306", "a = t.new([1, 2, 3])"): [
        ("torch's own dtype", "t.new_tensor", "torch.tensor", "a: dtype"),
    ],
    ("TNS307", "a = t.type(torch.DoubleTensor)"): [
        ("another dtype", "float64", "float32", "a: dtype"),
        ("a copy", "float64)", "float64, copy=True)", "a: shares memory with"),
        ("a detached one", "t.to", "t.detach().to", "a: requires_grad"),
        ("the device kept", '"cpu", ', "", "a: device", "simulated"),
    ],
    ("TNS308", "y = t * 1\nreturn torch.tensor(y)"): [
        ("no copy", ".clone()", "", "y: shares memory with"),
        ("a graph", ".detach()", "", "the result: requires_grad"),
        ("as_tensor", "y.detach().clone()", "torch.as_tensor(y)", "the result: is_leaf"),
    ],
    ("TNS308", "y = t.detach()\nreturn torch.tensor(y, dtype=torch.float64)"): [
        ("no copy where the dtype agrees", ", copy=True", "", "the result: shares memory with"),
    ],
    ("TNS310", "torch.set_default_tensor_type('torch.HalfTensor')\na = torch.zeros(2), torch.arange(3.0)"): [
        ("another dtype", "float16", "bfloat16", "default dtype"),
        ("nothing", "torch.set_default_dtype(torch.float16)", "pass", "a[0]: dtype"),
        (
            "a device as well",
            "torch.set_default_dtype(torch.float16)",
            "torch.set_default_dtype(torch.float16)\n    torch.set_default_device('meta')",
            "default device",
        ),
    ],
    ("TNS401", "a = Variable(t)"): [
        ("dropping Variable", ".detach()", "", "a: requires_grad"),
    ],
    ("TNS401", "x = t.detach()\nv = Variable(x)\nv += 1\nreturn x"): [
        ("a copy", ".detach()\n    v = x.detach()", ".detach()\n    v = x.clone()", "the result: elements"),
    ],
    ("TNS401", "a = Variable(t, requires_grad=True)\nreturn (a * 2).sum()"): [
        ("a gradient in the wrong place", ".detach()", "", "input t: requires_grad"),
        ("no gradient", ".requires_grad_(True)", "", "a: requires_grad"),
        ("a leaf of its own", ".detach()", ".detach().clone()", "a: shares memory with"),
    ],
    ("TNS402", "a = Variable(t, volatile=False, requires_grad=True)"): [
        ("no gradient", ", requires_grad=True", "", "a: requires_grad"),
    ],
    ("TNS402", "a = Variable(t, volatile=False)"): [
        ("dropping Variable", "Variable(t)", "t", "a: requires_grad"),
    ],
    (
        "TNS402",
        "a = Variable(t, volatile=True)\nloss = Variable(torch.ones(3), requires_grad=True).sum()\nloss.backward()",
    ): [
        (
            "no_grad around training",
            "    loss = Variable(torch.ones(3), requires_grad=True).sum()",
            "    with torch.no_grad():\n        loss = Variable(torch.ones(3), requires_grad=True).sum()",
            "exception",
        ),
    ],
    ("TNS403", "a = isinstance(t, Variable), isinstance(n, Variable), isinstance(array, (list, Variable))"): [
        ("the very class", "isinstance(t, torch.Tensor)", "type(t) is torch.Tensor", "a[0]: value"),
        ("a parameter", "isinstance(t, torch.Tensor)", "isinstance(t, nn.Parameter)", "a[0]: value"),
        ("one with a gradient", "isinstance(t, torch.Tensor)", "t.requires_grad", "a[0]: value"),
    ],
}
"""By rule and by the lines of the example: the fault, what is replaced by what, and what then differs."""
MUTANTS = tuple(Mutant(*each, *wrong) for each, found in WRONG.items() for wrong in found)

REWRITINGS = (
    Rewriting(
        "TNS108",
        "no dtype",
        "a = t.to('cpu', torch.float64, non_blocking=True)",
        "a = t.to('cpu')",
        "a: dtype",
    ),
    Rewriting(
        "TNS108",
        "a copy",
        "a = t.to('cpu', non_blocking=True)",
        "a = t.to('cpu', copy=True)",
        "a: shares memory with",
    ),
    Rewriting(
        "TNS108",
        "a detached one",
        "a = t.to('cpu', non_blocking=True)",
        "a = t.detach().to('cpu')",
        "a: requires_grad",
    ),
    Rewriting(
        "TNS108",
        "no copy",
        "return t.to(device='cpu', non_blocking=True, copy=True)",
        "return t.to(device='cpu')",
        "the result: shares memory with",
    ),
    Rewriting(
        "TNS201",
        "writing through .detach()",
        "kept = t.data\nkept.mul_(2)",
        "kept = t.detach()\nkept.mul_(2)",
        "backward through the live graph",
    ),
    Rewriting(
        "TNS202",
        "writing under no_grad while a graph is live",
        "t.data.mul_(2)",
        "with torch.no_grad():\n    t.mul_(2)",
        "backward through the live graph",
    ),
    Rewriting("TNS202", "writing without no_grad", "t.data.clamp_(0)", "t.clamp_(0)", "exception"),
    Rewriting(
        "TNS203",
        "copying for rebinding",
        "p = nn.Parameter(torch.zeros(3))\nx = torch.ones(3)\np.data = x\nreturn p, x",
        "p = nn.Parameter(torch.zeros(3))\nx = torch.ones(3)\nwith torch.no_grad():\n    p.copy_(x)\nreturn p, x",
        "x: shares memory with",
        "",
    ),
    Rewriting(
        "TNS203",
        "copying another dtype",
        "p = nn.Parameter(torch.zeros(3))\np.data = torch.ones(3).double()\nreturn p",
        "p = nn.Parameter(torch.zeros(3))\nwith torch.no_grad():\n    p.copy_(torch.ones(3).double())\nreturn p",
        "the result: dtype",
        "",
    ),
    Rewriting(
        "TNS203",
        "a new parameter",
        "p = nn.Parameter(torch.zeros(3))\nkept = p\np.data = torch.ones(3)\nreturn kept",
        "p = nn.Parameter(torch.zeros(3))\nkept = p\np = nn.Parameter(torch.ones(3))\nreturn kept",
        "the result: elements",
        "",
    ),
    Rewriting("TNS204", "a number without its type", "a = float(t.data)", "a = t.item()", "a: value"),
    Rewriting(
        "TNS302",
        "no size at all",
        "sizes = list(t.shape)\na = torch.Tensor(*sizes)",
        "sizes = list(t.shape)\na = torch.empty(*sizes)",
        "exception",
    ),
    Rewriting("TNS303", "data for a size", "a = torch.Tensor(n)", "a = torch.tensor(n)", "a: shape", "n"),
    Rewriting(
        "TNS303", "a size for data", "a = torch.Tensor(numbers)", "a = torch.empty(numbers)", "a: shape", "numbers"
    ),
    Rewriting(
        "TNS303",
        "a copy of an array",
        "a = torch.Tensor(np.atleast_1d(array))",
        "a = torch.tensor(np.atleast_1d(array)).float()",
        "a: shares memory with",
        "array",
    ),
    Rewriting(
        "TNS306",
        "new_tensor for an array",
        "a = t.new(array)",
        "a = t.new_tensor(array)",
        "a: shares memory with",
        "t, array",
    ),
    Rewriting("TNS107", "an element for a number", "a = t.detach().numpy()[0]", "a = t[0].item()", "a: value"),
    Rewriting(
        "TNS401",
        "the argument itself",
        "x = t.detach()\nreturn x, Variable(x)",
        "x = t.detach()\nreturn t.detach(), t",
        "the result is an input",
    ),
    Rewriting(
        "TNS404", "an import that is called", "return Variable(t)", "return Variable(t)", "exception", imports=False
    ),
    Rewriting(
        "TNS404",
        "an import that an inner function calls",
        "def inner():\n    return Variable(t)\nreturn inner()",
        "def inner():\n    return Variable(t)\nreturn inner()",
        "exception",
        imports=False,
    ),
    Rewriting(
        "TNS404",
        "an import that is found by name",
        "return globals()['Variable'](t)",
        "return globals()['Variable'](t)",
        "exception",
        imports=False,
    ),
)

FEWER = {
    "TNS900": "it says that a file does not parse, and changes nothing",
    "TNS901": "its fix changes a comment, which does nothing at run time",
    "TNS902": "it speaks of a comment, which does nothing at run time",
    "TNS903": "it speaks of a comment, which does nothing at run time",
}
"""Rules for which no three wrong fixes can be run, and why."""
