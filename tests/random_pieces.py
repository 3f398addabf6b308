"""What random projects are made of: values, ways from where a value is made to where it is used, writes, and uses.

In a text ``$`` is the number of its piece, ``S`` the value, ``V`` the expression at fault, ``R`` its result. A line
``~alias`` is the place of writes through an alias, a line ``@one|other`` that of the use.
"""

from __future__ import annotations

from dataclasses import dataclass

PRELUDE = {
    "net": "net = nn.Linear(3, 3)",
    "x": "x = torch.ones(2, 3)",
    "w": "w = torch.ones(3, requires_grad=True)",
    "device": 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")',
    "kept": "kept = []",
    "array": "array = np.ones((2, 3), dtype=np.float32)",
    "packed": "packed = nn.utils.rnn.pack_sequence([net(x), net(x)[:1]])",
    "Store": "class Store:\n    t = None",
    "Pair": "class Pair(NamedTuple):\n    first: torch.Tensor\n    second: int = 1",
    "Record": "@dataclass\nclass Record:\n    t: torch.Tensor\n    size: int = 2",
    "Tagged": "class Tagged(torch.Tensor):\n    pass",
    "Box": (
        "class Box:\n    def __init__(self, data):\n        self.data = data\n\n"
        "    def detach(self):\n        return self\n\n    clone = cpu = contiguous = detach\n\n"
        "    def numpy(self):\n        return np.zeros(2)\n\n    def to(self, *args, **more):\n        return self\n\n"
        "    def new(self, *args):\n        return args\n\n    def type(self, kind):\n        return str(kind)\n\n"
        "    def sum(self):\n        return self.data.sum()\n\n    def size(self, at=0):\n        return 2\n\n"
        "    def float(self):\n        return 2.0"
    ),
    "handed": "@contextlib.contextmanager\ndef handed(t):\n    yield t",
    "same": "def same(t):\n    return t",
    "doubled": "def doubled(t):\n    return t * 2",
    "first": "def first(*ts, **more):\n    return ts[0] if ts else more['t']",
    "each_of": "def each_of(ts):\n    for t in ts:\n        yield t",
    "fill": "def fill(t):\n    t.add_(net(x).sum())",
    "clear": "def clear(t):\n    t.data.zero_()",
    "half": "def half(t: torch.Tensor) -> torch.Tensor:\n    return t.mul_(0.5)",
    "sizes": "sizes = (2, 3)",
    "numbers": "numbers = [1, 2, 3]",
    "rows": "def rows():\n    return [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]",
    "count": "count = 4",
}
"""What texts may use by name; each stands in the file that uses it, or is imported from another one."""

IMPORTS = {
    "torch": "import torch",
    "nn": "from torch import nn",
    "F": "import torch.nn.functional as F",
    "np": "import numpy as np",
    "copy": "import copy",
    "itertools": "import itertools",
    "functools": "import functools",
    "contextlib": "import contextlib",
    "collections": "import collections",
    "types": "import types",
    "importlib": "import importlib",
    "NamedTuple": "from typing import NamedTuple",
    "Optional": "from typing import Optional",
    "dataclass": "from dataclasses import dataclass",
    "pickle": "import pickle",
    "unittest": "import unittest",
}
VARIABLES = {
    "from torch.autograd import Variable": "Variable",
    "from torch.autograd.variable import Variable": "Variable",
    "from torch.autograd import Variable as V_": "V_",
    "from torch import autograd": "autograd.Variable",
    "import torch.autograd as ag": "ag.Variable",
    "try:\n    from torch.autograd import Variable\nexcept ImportError:\n    Variable = None": "Variable",
}
"""Ways to import ``Variable``, and how it is called then."""

PLAIN = "plain"
"""Tensors of torch's own class: what each rule speaks of."""
SOURCES: dict[str, tuple[str, ...]] = {
    PLAIN: (
        "torch.zeros(2, 3)", "torch.ones(2, 3)", "torch.rand(2, 3)", "torch.arange(6.0).view(2, 3)",
        "torch.full((2, 3), 0.5)", "torch.zeros(2, 3, dtype=torch.float64)", "torch.ones(2, 3, requires_grad=True)",
        "torch.arange(6).view(2, 3)", "(torch.ones(2, 3) > 0)", "torch.zeros(1, 3).expand(2, 3)",
        "torch.ones(3, 2).t()", "torch.from_numpy(array)", "torch.as_tensor(array)", "torch.empty(2, 3).fill_(2)",
        "torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])", "net(x)", "net(x)", "net(x).relu()", "net.weight", "w",
        "F.softmax(net(x), dim=1)", "net(x).detach()", "net(x).data", "w * 2", "nn.Parameter(torch.ones(2, 3))",
        "torch.cat([net(x), x])", "torch.stack([torch.zeros(3), torch.ones(3)])", "x", "x * 2", "x.clone()",
        "torch.zeros(2, 3).to(device)", "net.to(device)(x.to(device))", "torch.ones(2, 3, device=device)",
        "x.cuda() if torch.cuda.is_available() else x", "copy.deepcopy(net).weight", "net.state_dict()['weight']",
        "torch.zeros_like(net(x))", "net(x).max(1)[0]", "torch.max(net(x), 1)[0]", "net(x).split(1)[0]",
        "net(x).unbind()[0]", "nn.Dropout(0.5)(net(x))", "torch.zeros(2, 3).requires_grad_()", "net(x)[0]",
        "nn.utils.rnn.pad_sequence([net(x), x])[0]", "torch.ones(2, 3, dtype=torch.complex64)", "doubled(x)",
        "doubled(net(x))", "same(torch.zeros(2, 3))", "half(torch.ones(2, 3))", "torch.from_numpy(array).float()",
        "torch.randn(2, 3).clamp_(0, 1)", "next(net.parameters())", "list(net.parameters())[0]", "net.bias",
        "torch.where(x > 0, x, net(x))", "torch.no_grad()(net)(x)", "torch.eye(3)", "torch.ones(2, 3).half()",
        "torch.linspace(0, 1, 3)", "torch.zeros(2, 0)", "torch.cumsum(torch.ones(2, 3), 0)", "torch.topk(x, 1)[0]",
    ),
    "array": ("array", "np.zeros((2, 3))", "np.arange(6).reshape(2, 3)", "array.argmax(-1)", "array.astype(int)",
              "np.float32(3)", "np.array(3)", "array[0]", "array.T", "x.numpy()"),
    "list": ("[1, 2, 3]", "[0.5, 1.5]", "[[1, 2], [3, 4]]", "(1, 2)", "numbers", "rows()", "[x.sum().item(), 2.0]",
             "[True, False]", "list(range(3))", "[n * 2 for n in numbers]", "[np.float32(1), 2]", "range(3)",
             "[x.sum(), x.mean()]", "[]", "[float(n) for n in numbers]", "rows()[0]", "[array[0], array[1]]"),
    "size": ("3", "2, 3", "count", "count, 2", "x.size(0)", "x.size()", "len(numbers)", "*sizes", "x.shape[0], 2",
             "x.shape", "torch.Size([2, 3])", "sizes[0], sizes[1]", "count * 2", "int(x.sum())", "", "0"),
    "none": ("None", "{}.get('t')", "net.weight.grad", "getattr(net, 'missing', None)"),
    "box": ("Box(net(x))", "Box(3.0)", "Box(x)", "Box(array)"),
    "packed": ("packed",),
    "tagged": ("torch.ones(2, 3).as_subclass(Tagged)", "net(x).as_subclass(Tagged)"),
    "pair": ("Pair(net(x))", "torch.max(net(x), 1)", "(net(x), x)"),
    "number": ("2.0", "x.sum().item()", "3"),
}  # fmt: skip

WRITES = (
    "A.add_(net(x).sum())", "A += net(x).sum()", "A[0] = net(x).sum()", "A.copy_(net(x).sum())", "A.mul_(2)",
    "A.zero_()", "torch.add(A, 1, out=A)", "A.requires_grad_()", "A.data.add_(1)", "A.detach_()", "fill(A)",
    "nn.init.ones_(A)", "list(map(fill, [A]))", "[fill(each) for each in (A,)]", "A.fill_(net(x).sum())",
    "A.requires_grad = True", "A.clamp_(0, 1)", "A.data.copy_(x.sum())", "A.data = A.data * 2", "A *= w.sum()",
    "clear(A)", "A.__iadd__(net(x).sum())", "getattr(A, 'add_')(net(x).sum())", "torch.Tensor.add_(A, net(x).sum())",
    "setattr(A, 'requires_grad', True)", "with torch.no_grad():\n    A.add_(1)", "functools.partial(fill, A)()",
    "A.numpy()[0] = 5", "A.detach().add_(1)", "A.view(-1)[0] = w.sum()", "A[A > 0] = w.sum()", "(lambda t: fill(t))(A)",
    "for part$ in A:\n    fill(part$)", "part$ = A[:1]\nfill(part$)", "fill(A.t())", "fill(t=A)", "half(A)",
    "torch._foreach_add_([A], 1.0)", "A.index_fill_(0, torch.tensor([0]), 2)", "A.masked_fill_(A > 0, 2)",
)  # fmt: skip

WRITES_OF_LISTS = ("A[0] = 7", "A.append(5)", "A[:] = [1, 2]", "A.reverse()", "A += [4]")

WAYS: dict[str, str] = {
    "itself": "@S",
    "a name": "v$ = S\n~v$\n@v$",
    "a name at once": "v$ = S\n@v$",
    "a second name": "a$ = S\nv$ = a$\n~v$\n@a$|v$ * 1",
    "two names": "a$ = v$ = S\n~v$\n@a$",
    "a loop": (
        "ts$ = [S, torch.zeros(2, 3)]\nfor t$ in ts$:\n    ~t$\n"
        "@ts$[0]|torch.cat(ts$)|ts$[0] + ts$[1]|torch.stack(ts$)|sum(ts$)"
    ),
    "a use in a loop": "for t$ in [S, x.clone()]:\n    ~t$\n    @t$",
    "a later round": "a$ = S\nfor _ in range(2):\n    @a$|a$ + 1\n    ~a$",
    "enumerate": "ts$ = [S]\nfor at$, t$ in enumerate(ts$):\n    ~t$\n@ts$[0]|torch.cat(ts$)",
    "zip": "ts$ = [S]\nfor t$, k$ in zip(ts$, (1,)):\n    ~t$\n@ts$[0]|torch.cat(ts$)",
    "reversed": "ts$ = [S]\nfor t$ in reversed(ts$):\n    ~t$\n@ts$[0]|torch.stack(ts$)",
    "pop": "ts$ = [S]\nwhile ts$:\n    v$ = ts$.pop()\n    ~v$\n@v$",
    "a tuple": "a$, b$ = S, torch.zeros(2, 3)\nfor t$ in (a$, b$):\n    ~t$\n@a$|a$ + b$|torch.cat([a$, b$])",
    "a swap": "a$, b$ = S, x.clone()\na$, b$ = b$, a$\n~b$\n@b$|a$",
    "a star": "v$, *rest$ = S, 1, 2\n~v$\n@v$",
    "an attribute": "store$ = Store()\nstore$.t = S\nv$ = store$.t\n~v$\n@store$.t",
    "an attribute written": "store$ = Store()\nv$ = S\nstore$.t = v$\n~store$.t\n@v$|v$ + 1",
    "a class attribute": "Store.t = S\nv$ = Store.t\n~v$\n@Store.t",
    "a namespace": "space$ = types.SimpleNamespace(t=S)\n~space$.t\n@space$.t",
    "a named tuple": "pair$ = Pair(S)\n~pair$.first\n@pair$.first|pair$[0]",
    "a record": "record$ = Record(S)\n~record$.t\n@record$.t",
    "a dict": "d$ = {'t': S}\nfor t$ in d$.values():\n    ~t$\n@d$['t']|d$['t'] * 2",
    "items": "d$ = dict(t=S)\nfor _, t$ in d$.items():\n    ~t$\n@d$.get('t')",
    "setdefault": "d$ = {}\nv$ = d$.setdefault('t', S)\n~v$\n@d$['t']|v$ + 1",
    "append": "ts$ = []\nts$.append(S)\n~ts$[0]\n@torch.cat(ts$)|ts$[-1]|torch.stack(ts$)",
    "extend": "ts$ = [x.clone()]\nts$ += [S]\n~ts$[1]\n@torch.cat(ts$)|ts$[-1]",
    "a deque": "ts$ = collections.deque([S], maxlen=2)\n~ts$[0]\n@ts$[0]|torch.cat(list(ts$))|ts$.popleft()",
    "a closure": "a$ = S\ndef step$():\n    ~a$\n    return a$\nstep$()\n@a$|a$ + 1|step$()",
    "a default argument": "a$ = S\ndef step$(t=a$):\n    ~t\n    return t\nstep$()\n@a$|a$ * 1|step$()",
    "a lambda": "get$ = lambda t=S: t\nv$ = get$()\n~v$\n@get$()",
    "a row": "a$ = S\nrow$ = a$[0]\n~row$\n@a$|a$ * 1|row$",
    "a flat view": "a$ = S\nflat$ = a$.view(-1)\n~flat$\n@a$|a$.clone()",
    "rows": "a$ = S\nfor row$ in a$:\n    ~row$\n@a$|a$.clone()",
    "unbind": "a$ = S\nfor row$ in a$.unbind():\n    ~row$\n@a$ * 1|a$",
    "chunks": "a$ = S\nleft$, right$ = a$.chunk(2)\n~left$\n@a$ + 0|left$",
    "transposed": "a$ = S\nv$ = a$.t()\n~v$\n@a$|v$ + 1",
    "a slice": "a$ = S\nv$ = a$[:, 1:]\n~v$\n@a$ + 1|a$",
    "unsqueezed": "a$ = S\nv$ = a$.unsqueeze(0)\n~v$\n@a$|v$",
    "reshaped": "a$ = S\nv$ = a$.reshape(3, 2)\n~v$\n@a$|a$ - 1",
    "detached": "a$ = S\nv$ = a$.detach()\n~v$\n@a$|v$|a$ * 1",
    "its data": "a$ = S\nv$ = a$.data\n~v$\n@a$|v$|a$ * 1",
    "an array": "a$ = S\nshared$ = a$.numpy()\nv$ = torch.from_numpy(shared$)\n~v$\n@a$|v$",
    "contiguous": "a$ = S\nv$ = a$.contiguous()\n~v$\n@a$|a$ + 1",
    "float": "a$ = S\nv$ = a$.float()\n~v$\n@a$|a$ + 1",
    "to": "a$ = S\nv$ = a$.to(device)\n~v$\n@a$|a$ + 1",
    "a function": "v$ = same(S)\n~v$\n@v$",
    "a function's alias": "a$ = S\nv$ = same(a$)\n~v$\n@a$|a$ + 1",
    "a generator": "a$ = S\nfor t$ in each_of([a$]):\n    ~t$\n@a$|a$ + 1",
    "map": "ts$ = [S]\nfor t$ in map(same, ts$):\n    ~t$\n@ts$[0]|torch.cat(ts$)",
    "filter": "ts$ = [S]\nfor t$ in filter(torch.is_tensor, ts$):\n    ~t$\n@ts$[0]|torch.cat(ts$)",
    "partial": "get$ = functools.partial(first, S)\nv$ = get$()\n~v$\n@get$()",
    "stars": "v$ = first(*[S])\n~v$\n@v$",
    "a keyword": "v$ = first(t=S)\n~v$\n@v$",
    "chain": "ts$ = [S]\nfor t$ in itertools.chain(ts$, []):\n    ~t$\n@ts$[0]|torch.stack(ts$)",
    "a shallow copy": "ts$ = [S]\nothers$ = copy.copy(ts$)\n~others$[0]\n@ts$[0]|torch.cat(ts$)",
    "list of": "ts$ = [S]\nothers$ = list(ts$)\n~others$[0]\n@torch.cat(ts$)|ts$[0]",
    "a comprehension": "ts$ = [t for t in (S, x.clone())]\n~ts$[0]\n@ts$[0]|torch.cat(ts$)",
    "repeated": "ts$ = [S] * 2\n~ts$[0]\n@ts$[1]|torch.cat(ts$)|ts$[0] + ts$[1]",
    "a conditional": "v$ = S if x.sum() > 0 else None\n~v$\n@v$",
    "a walrus": "if (v$ := S) is not None:\n    ~v$\n    @v$",
    "a test": "v$ = S\nif isinstance(v$, torch.Tensor):\n    ~v$\n    @v$",
    "with": "with handed(S) as v$:\n    ~v$\n    @v$",
    "a match": "match S:\n    case v$:\n        ~v$\n        @v$",
    "try": "try:\n    v$ = S\n    ~v$\nfinally:\n    pass\n@v$",
    "a buffer": "m$ = nn.Module()\nm$.register_buffer('t', S)\n~m$.t\n@m$.t|m$.state_dict()['t']|list(m$.buffers())[0]",
    "a layer's weight": "m$ = nn.Linear(3, 3)\n~m$.weight\n@m$.weight|next(m$.parameters())|m$.weight * 1",
    "setattr": "store$ = Store()\nsetattr(store$, 't', S)\n~getattr(store$, 't')\n@store$.t",
    "vars": "store$ = Store()\nvars(store$).update(t=S)\n~store$.t\n@store$.t",
    "next": "v$ = next(iter([S]))\n~v$\n@v$",
    "a loader": "for v$ in torch.utils.data.DataLoader([t for t in S], batch_size=2):\n    ~v$\n    @v$",
    "deleted": "a$ = S\nv$ = a$\ndel a$\n~v$\n@v$",
    "no_grad": "with torch.no_grad():\n    v$ = S\n    ~v$\n@v$|v$ + 1",
    "set_grad_enabled": "torch.set_grad_enabled(False)\nv$ = S\n~v$\n@v$\ntorch.set_grad_enabled(True)",
    "branches": "v$ = torch.zeros(2, 3)\nif len(numbers) > 2:\n    v$ = S\n~v$\n@v$",
    "a default of None": "v$ = None\nif count:\n    v$ = S\n~v$\n@v$",
    "accumulated": "v$ = 0\nfor _ in range(2):\n    v$ = v$ + S\n~v$\n@v$",
    "accumulated in place": "v$ = torch.zeros(2, 3)\nfor _ in range(2):\n    v$ += S\n~v$\n@v$",
    "a buffer that is filled": "v$ = torch.zeros(2, 2, 3)\nfor at$ in range(2):\n    v$[at$] = S\n~v$\n@v$|v$[0]",
    "stacked by hand": "v$ = x.new_zeros(2, 3)\nv$[0] = S[0]\n~v$\n@v$|v$ * 2",
    "out": "v$ = torch.zeros(2, 3)\nwith torch.no_grad():\n    torch.add(S, 1, out=v$)\n~v$\n@v$",
}  # fmt: skip
PLAIN_WAYS = ("itself", "a name at once")
"""Ways in which nothing can happen to a value before it is used."""


@dataclass(frozen=True)
class Use:
    """A candidate of a rule; a line that ends in a colon and an indented one belong together."""

    code: str
    text: str
    kind: str = PLAIN
    """The values that the rule speaks of; others come too."""
    known: bool = True
    """Whether the safe fix is allowed wherever the value is a plain tensor, or what ``kind`` says."""


def _uses(code: str, texts: str, kind: str = PLAIN, known: bool = True) -> list[Use]:
    return [Use(code, each.strip(), kind, known) for each in texts.strip().splitlines()]


USES: tuple[Use, ...] = (
    *_uses("TNS103", "R = V.numpy()\nR = V.cpu().numpy()\nR = V.detach().numpy()\nR = np.asarray(V.numpy())\n"
                     "R = V.sum().numpy()\nR = V.mean(0).numpy()\nR = V.clone().numpy()\nR = V.view(-1).numpy()"),
    *_uses("TNS104", "R = V.cpu().detach()\nR = V.cpu().detach().numpy()\nR = V.sum().cpu().detach()"),
    *_uses("TNS105", "R = np.asarray(V)\nR = np.asarray(V.sum())\nR = np.median(V)\nR = np.array(V.mean(0))\n"
                     "R = np.sqrt(V.abs())", known=False),
    *_uses("TNS106", "R = V.detach().to(torch.bfloat16).cpu().numpy()\n"
                     "R = V.detach().cpu().to_sparse().numpy()", known=False),
    *_uses("TNS107", "R = float(V.sum().detach().cpu().numpy())\nR = V.numpy().tolist()\n"
                     "R = V.sum().detach().cpu().numpy().item()\nR = V.detach().cpu().numpy().tolist()\n"
                     "R = int(V.sum().detach().numpy())\nR = V.data.cpu().numpy().tolist()\n"
                     "R = float(V.mean().data.numpy())"),
    *_uses("TNS108", "R = V.to('cpu', non_blocking=True)\nR = V.to('cpu', non_blocking=True).sum()", known=False),
    *_uses("TNS109", "R = float(V.sum())\nR = float(V.float().mean())\nR = float(w.sum())\n"
                     "R = float(w.square().sum()) + float(w[0])", known=False),
    *_uses("TNS201", "R = V.data.sum()\nR = V.data.cpu().numpy()\nR = V.data.clone()\nR = V.data.tolist()\n"
                     "R = (V.data > 0).sum()\nR = V.data.cpu().numpy().copy()\nR = str(V.data)\nprint(V.data)\n"
                     "R = V.data.max(0)[0].tolist()\nR = V.data.norm() if V.is_floating_point() else 0\n"
                     "R = V.data.mean().item() if V.is_floating_point() else 0\nR = torch.sum(V.data).item()"),
    *_uses("TNS201", "R = V.data\nR = V.data * 2\nR = V.data[0]\nR = V.data * w\nR = V.data.view(-1)\n"
                     "R = torch.stack([V.data, V.data])\nR = V.data.unsqueeze(0)\nkept.append(V.data)\n"
                     "R = [each.data for each in [V]]\nR = V.data.requires_grad_()\nR = V.data if count else None\n"
                     "R = V.data @ w\nR = same(V.data)\nR = V.data.to(device)\nR = V.data.float()\n"
                     "R = V.detach().data\nR = V.clone().data\nR = {'t': V.data}\nR = V.sum().data", known=False),
    *_uses("TNS202", "V.data.zero_()\nV.data.mul_(0.5)\nV.data += 1\nV.data[0] = 1\nnn.init.ones_(V.data)\n"
                     "V.data.copy_(x.sum())\nR = V.data.fill_(2)\nV.data.clamp_(0, 1)\nV.data.sub_(0.1 * V.data)\n"
                     "V.data.add_(1).mul_(2)\nV.detach().data.zero_()\nV.data[:, 0].fill_(3)\ntorch.add(V, 1, "
                     "out=V.data)",
           known=False),
    *_uses("TNS203", "V.data = torch.zeros(2, 3)\nV.data = V.data.clone()\nV.data = V.data * 2", known=False),
    *_uses("TNS204", "R = V.sum().data.item()\nR = V.float().sum().data.item()\nR = V.max().data.item()"),
    *_uses("TNS204", "R = float(V.sum().data)\nR = int(V.float().sum().data)\nR = V.sum().data[0]\n"
                     "R = V.view(-1).data[0]\nR = V.data[0].item() if V.dim() == 1 else 0\nR = float(V[0, 0].data)\n"
                     "R = V.mean().data.tolist()", known=False),
    *_uses("TNS205", "R = V.data.size(0)\nR = V.data.shape\nR = torch.zeros_like(V.data)\nR = V.data.new_ones(3)\n"
                     "R = V.data.dtype\nR = V.data.is_cuda\nR = V.data.dim()\nR = len(V.data)\nR = V.data.size()\n"
                     "R = V.data.new_zeros(2, 3)\nR = V.data.type()\nR = V.data.device\nR = V.data.numel()"),
    *_uses("TNS301", "R = torch.Tensor(V)\nR = torch.Tensor(V) * 2\nR = torch.Tensor(V).to(device)\n"
                     "R = torch.Tensor(list(V))\nR = torch.Tensor([V, V])", "list", known=False),
    *_uses("TNS301", "R = torch.Tensor([1, 2, 3])\nR = torch.Tensor([0.5, 1.5])\nR = torch.Tensor([[1, 2], [3, 4]])\n"
                     "R = torch.Tensor([count, 2])\nR = torch.Tensor((1, 2))\nR = torch.Tensor([1, 2]).cuda() "
                     "if torch.cuda.is_available() else torch.Tensor([1, 2])\nR = torch.Tensor([n for n in numbers])\n"
                     "R = torch.Tensor(numbers)\nR = torch.Tensor(rows())\nR = torch.Tensor(array)", "list"),
    *_uses("TNS302", "R = torch.Tensor(V)\nR = torch.Tensor(V).fill_(1)\nR = nn.Parameter(torch.Tensor(V))\n"
                     "R = torch.Tensor(V).zero_()\nR = torch.Tensor(V).uniform_(0, 1)", "size", known=False),
    *_uses("TNS302", "R = torch.Tensor(2, 3)\nR = torch.Tensor(4)\nR = torch.Tensor(count, 2).zero_()\n"
                     "R = nn.Parameter(torch.Tensor(count))\nR = torch.Tensor(x.size()).fill_(2)\nR = torch.Tensor()\n"
                     "R = torch.Tensor(x.size(0), 1)", "size"),
    *_uses("TNS304", "R = torch.FloatTensor(V)\nR = torch.LongTensor(V)\nR = torch.DoubleTensor(V)\n"
                     "R = torch.ByteTensor(V)\nR = (torch.cuda.FloatTensor if torch.cuda.is_available() else "
                     "torch.FloatTensor)(V)\nR = torch.LongTensor([V])", "list", known=False),
    *_uses("TNS304", "R = torch.LongTensor([0, 2, 1])\nR = torch.FloatTensor(4, 3).zero_()\nR = "
                     "torch.LongTensor(numbers)\n"
                     "R = torch.FloatTensor(array)\nR = torch.IntTensor(2).fill_(1)\nR = torch.FloatTensor([0.5])\n"
                     "R = torch.DoubleTensor(rows())\nR = torch.LongTensor(list(range(3)))", "list"),
    *_uses("TNS304", "R = torch.cuda.FloatTensor(2).fill_(1) if torch.cuda.is_available() else 0\n"
                     "R = torch.cuda.LongTensor([1, 2]) if torch.cuda.is_available() else 0", "list"),
    *_uses("TNS305", "R = torch.FloatTensor([1, 2], device='cpu')\nR = torch.Tensor([1, 2], device='cpu')", "list"),
    *_uses("TNS306", "R = V.new(2, 3).zero_()\nR = V.new([1, 2])\nR = V.new(V.size()).fill_(1)\nR = V.new(3).fill_(0)\n"
                     "R = V.new()\nR = V.new([[1, 2], [0, 1]])"),
    *_uses("TNS306", "R = V.new(numbers)\nR = V.new(count).zero_()\nR = V.new(*sizes).zero_()\nR = V.new(rows())\n"
                     "R = V.new(array)\nR = V.new(V)\nR = V.data.new(2).fill_(1)\nR = V.new(array.shape)\n"
                     "R = V.new((2, 3))\nR = V.new(2, count).normal_()", known=False),
    *_uses("TNS307", "R = V.type(torch.FloatTensor)\nR = V.type(torch.LongTensor)\nR = V.type('torch.DoubleTensor')\n"
                     "R = V.type(torch.ByteTensor)\nR = (V > 0).type(torch.FloatTensor)\nR = V.type(torch.IntTensor)"),
    *_uses("TNS307", "R = V.type(torch.cuda.FloatTensor) if torch.cuda.is_available() else V\n"
                     "R = V.type(torch.Tensor)\nR = V.type(torch.cuda.FloatTensor if V.is_cuda else "
                     "torch.FloatTensor)\n"
                     "R = V.type(x.type())\nR = V.type(torch.float64)\nR = V.type('torch.FloatTensor').cuda() "
                     "if torch.cuda.is_available() else V", known=False),
    *_uses("TNS308", "R = torch.tensor(V)\nR = torch.tensor(V, dtype=torch.float64)\nR = torch.tensor(V).sum()\n"
                     "R = torch.tensor(V.clone())\nR = torch.tensor(V.sum())\nR = torch.tensor(V, device='cpu')\n"
                     "R = torch.tensor(V.detach())"),
    *_uses("TNS308", "R = torch.tensor(V.argmax(-1))\nR = torch.tensor(V[0])\nR = torch.tensor([V[0], V[1]])\n"
                     "R = torch.tensor(V.float(), requires_grad=True)\nR = torch.tensor(V.data)\n"
                     "R = torch.tensor(V.max())\nR = torch.tensor(V.shape)\nR = torch.tensor(V, device=device)",
           known=False),
    *_uses("TNS311", "R = torch.load('kept.pt') if not numbers else V", known=False),
    Use("TNS309", "R = torch.empty(4, dtype=torch.int64)\nR *= 0", known=False),
    Use("TNS501", "state$ = net.state_dict()\nnet.load_state_dict({n: t * 2 for n, t in net.state_dict().items()})\n"
                  "net.load_state_dict(state$)\nR = state$['weight'] + V", known=False),
    Use("TNS503", "R = V.detach().float().sum()\nR.requires_grad_()\nR.backward()", known=False),
    Use("TNS503", "R = torch.tensor(V.float().mean(), requires_grad=True)\nR.backward()", known=False),
    *_uses("TNS502", "net.scale = nn.Parameter(V.float()).double()\n"
                     "net.scale = nn.Parameter(V.detach().float()).to(device)",
           known=False),
    *_uses("TNS401", "R = Variable(V)\nR = Variable(V).detach()\nR = Variable(V + 1)\nR = Variable(V).sum()\n"
                     "R = Variable(V * 2, requires_grad=False)\nR = Variable(V.clone())\nR = net(Variable(V).float())\n"
                     "R = Variable(V).data.sum()\nR = Variable(V.data)\nR = Variable(V.float(), requires_grad=True)\n"
                     "R = (Variable(V) * w).sum()\nkept.append(Variable(V))\nR = Variable(Variable(V))\n"
                     "R = Variable(V.detach())"),
    *_uses("TNS401", "R = Variable(torch.cat([V, V]))\nR = Variable(torch.stack([V, x]))\nR = Variable(V[0])\n"
                     "R = [Variable(each) for each in V]\nR = Variable(V.float(), requires_grad=V.requires_grad)\n"
                     "R = Variable(torch.from_numpy(array))\nR = Variable(torch.zeros(2, 3))\nR = "
                     "Variable(V.max(0)[0])\n"
                     "R = Variable(torch.Tensor([1, 2]))\nR = Variable(torch.zeros(2, 3), requires_grad=True)\n"
                     "R = Variable(V.view(-1))\nR = Variable(same(V))\nR = tuple(map(Variable, [V]))\n"
                     "R = Variable(torch.zeros(2, 3).copy_(V))\nR = Variable(V.new_zeros(2))\nR = "
                     "Variable(doubled(V))\n"
                     "R = Variable(V.to(device))\nR = Variable(V if count else x)\nR = Variable(torch.LongTensor([1]))",
           known=False),
    *_uses("TNS402", "R = Variable(V, volatile=False)", known=False),
    *_uses("TNS402", "R = Variable(V, volatile=True)\nR = net(Variable(V.float(), volatile=True))", known=False),
    *_uses("TNS403", "R = isinstance(V, Variable)\nR = V if isinstance(V, Variable) else Variable(V)\n"
                     "R = isinstance(V, (Variable, nn.Parameter))"),
    *_uses("TNS403", "R = type(V) is Variable\nR = type(V) == Variable\nR = issubclass(type(V), "
                     "Variable)", known=False),
    *_uses("TNS504", "R = [each.item() for each in V.to(device).flatten()]\nR = [float(each) for each in "
                     "V.float().cuda()] if torch.cuda.is_available() else []", known=False),
    *_uses("TNS505", "R = torch.relu(V.to(device)) + torch.ones(3)\nR = torch.cat([V.to(device), torch.zeros(1, 3)])",
           known=False),
)  # fmt: skip

AFTER = (
    "R.add_(1)", "R *= 2", "R[0] = 5", "kept.append(R)", "print(R)", "print(isinstance(R, "
    "torch.Tensor))", "R.requires_grad_()",
    "y$ = R * w\nR.add_(1)\ny$.sum().backward()", "y$ = R * w\ny$.sum().backward()", "(R * w).sum().backward()",
    "with torch.no_grad():\n    R.add_(1)", "y$ = w * w\ny$.sum().backward()", "R.sum().backward()",
    "y$ = (w * w).sum()\nw.data.add_(1)\ny$.backward()", "y$ = (net(x) ** 2).sum()\nnet.weight.data.mul_(2)\n"
                                                         "y$.backward()",
    "y$ = R.sum()\nR.zero_()", "q$ = R\nq$ += 1", "kept[:] = [R]", "R = R + 1", "R.numpy()[0] = 7", "half(R)",
)  # fmt: skip
"""What may follow a use."""
