"""Projects in which a safe fix is known to change what they do: the smallest that were found, and why.

Those in ``KNOWN`` are expected to fail; when one no longer does, it moves to ``MENDED``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_BOUND = "another file may rebind a name of the module, and then it means something else"
_ANNOTATED = "nothing holds a caller to the annotation of a parameter"
_SPARE = "import torch\nfrom torch.autograd import Variable\n\nx = torch.ones(2)\n"


@dataclass(frozen=True)
class Known:
    """A difference that is known: the rule, the pieces that show it, the reason, and the smallest project."""

    code: str
    piece: str
    """What the names of the random pieces that lead to it begin with, as a regular expression."""
    reason: str
    main: str
    lib: str = ""

    @property
    def name(self) -> str:
        return re.sub(r"\W+", " ", f"{self.code} {self.piece}").strip()

    @property
    def files(self) -> dict[str, str]:
        return {"main.py": self.main, **({"lib.py": self.lib} if self.lib else {})}


KNOWN: tuple[Known, ...] = ()

MENDED: tuple[Known, ...] = (
    Known("TNS304", r"a trace of return t \+ torch\.FloatTensor", "a trace warns of `torch.tensor` alone",
          "import torch\n\nimport lib\n\nr = torch.jit.trace(lib.traced, (torch.ones(2),))\n",
          "import torch\n\n\ndef traced(t):\n    return t + torch.FloatTensor([1.0])\n"),
    Known("TNS401", "a cached value", "a function may keep the tensor that it gives, and others write into it",
          "import torch\nfrom torch.autograd import Variable\n\nimport lib\n\n"
          "lib.made(2).add_(torch.ones(2, requires_grad=True))\nr = Variable(lib.made(2) + 1)\n",
          "import functools\n\nimport torch\n\n\n@functools.lru_cache(maxsize=None)\ndef made(n):\n"
          "    return torch.zeros(n)\n"),
    Known("TNS401", r".*copy_\(V\)\); plain; to; list\(map", "a second name of a tensor is written by a function",
          "import torch\nfrom torch.autograd import Variable\n\nw = torch.ones(2, requires_grad=True)\n\n\n"
          "def run():\n    a = torch.ones(2)\n    b = a.to('cpu')\n    list(map(lambda t: t.mul_(w), [b]))\n"
          "    return Variable(a * 1)\n\n\nr = run()\n"),
    Known("TNS404", "a name that is taken: .*hasattr", "`hasattr` takes a name, too",
          "import lib\n\nr = hasattr(lib, 'Variable')\n",
          "from torch.autograd import Variable\n\n\ndef own():\n    pass\n"),
    Known("TNS401", r"a trace of return t \+ Variable", "a trace records no detaching for `Variable`",
          "import torch\n\nimport lib\n\ntraced = torch.jit.trace(lib.traced, (torch.ones(2),))\n"
          "x = torch.ones(2, requires_grad=True)\ntraced(x).sum().backward()\nr = x.grad\n",
          "from torch.autograd import Variable\n\n\ndef traced(t):\n    return t + Variable(t).sum()\n"),
    Known("TNS401", r".*packed", "the orders of a packed sequence are None, which has no `detach`",
          "import torch\nfrom torch import nn\nfrom torch.autograd import Variable\n\n"
          "packed = nn.utils.rnn.pack_sequence([torch.ones(2), torch.ones(1)])\n"
          "r = [Variable(each) for each in packed]\n"),
    Known("TNS206", r".*a loader", "what a loader gives out is computed: a batch of leaves is none",
          "import torch\n\nw = torch.ones(2, 3, requires_grad=True)\n"
          "for batch in torch.utils.data.DataLoader(list(w), batch_size=2):\n    batch.masked_fill_(batch > 0, 2)\n"
          "    batch.sum().backward()\nr = w.grad\n"),
    Known("TNS201", r".*a named tuple", "an object may hold a tensor that others hold, too",
          "import torch\nfrom typing import NamedTuple\n\n\nclass Pair(NamedTuple):\n    one: int = 1\n\n\n"
          "def same(t):\n    return t\n\n\npair = Pair(same(torch.zeros(2)))\nr = pair[0].data.to('cpu')\n"
          "alike = r is pair[0]\n"),
    Known("TNS308", r".*view", "a write through a view puts the tensor that owns the memory on a graph",
          "import torch\n\nw = torch.ones(2, requires_grad=True)\n\n\ndef run():\n    a = torch.zeros(1, 2)\n"
          "    a.t().add_(w.sum())\n    b = torch.zeros(1, 2)\n    fill(b.t())\n"
          "    return torch.tensor(a.clone()), b.t().data * 2\n\n\ndef fill(t):\n    t.add_(w.sum())\n\n\nr = run()\n"),
    Known("TNS308", r"TNS308 R = torch\.tensor\(V\.data\)", "one fix removes a bracket that another breaks a line at",
          "import torch\n\n\ndef run():\n"
          "    r = torch.tensor(torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).data)\n    return r\n\n\nr = run()\n"),
    Known("TNS403", "a name of torch", "an import that runs later, or perhaps not at all, gives no name for torch",
          "import torch\nfrom torch.autograd import Variable\n\nx = torch.ones(2, 3)\n\n\ndef f(t, torch):\n"
          "    return isinstance(t, Variable), torch\n\n\nr = f(x, 1)\ntry:\n    import torch as maybe\n"
          "except ImportError:\n    pass\n"),
    Known("TNS401", "None by a partial", "a call that is given a function and None may hand it over",
          "import functools\n\nfrom lib import run\n\nr = functools.partial(run, {}.get('t'))()\n",
          "from torch.autograd import Variable\n\n\ndef run(t):\n    return Variable(t).detach()\n"),
    Known("TNS306", r"TNS306.*; box; .*of_a_parameter", _ANNOTATED,
          "import torch\n\n\nclass Box:\n    def new(self, *args):\n        pass\n\n\ndef run(t: torch.Tensor):\n"
          "    return t.new([1, 2])\n\n\nr = run(Box())\n"),
    Known("TNS307", r"TNS307.*; box; .*of_a_parameter", _ANNOTATED,
          "import torch\n\n\nclass Box:\n    def to(self, *args):\n        pass\n\n    def type(self, kind):\n"
          "        return str(kind)\n\n\ndef run(t: torch.Tensor):\n    return t.type(torch.ByteTensor)\n\n\n"
          "r = run(Box())\n"),
    Known("TNS401", "None by default of getattr", "a call that is given None may give it",
          "from lib import Net\n\nnet = Net()\nr = net(getattr(net, 'missing', None))\n",
          "from torch import nn\nfrom torch.autograd import Variable\n\n\nclass Net(nn.Module):\n"
          "    def forward(self, t):\n        return Variable(t).detach()\n"),
    Known("TNS401", "a Variable that another file binds", _BOUND,
          "import torch\n\nimport lib\n\nlib.Variable = abs\nr = lib.wrapped(-torch.ones(2))\n",
          _SPARE + "\n\ndef wrapped(t):\n    return Variable(t)\n"),
    Known("TNS401", "None from another file", "a caller may hand over None, of which `Variable` makes an empty tensor",
          "from lib import run\n\nr = run({}.get('t'))\n",
          "from torch.autograd import Variable\n\n\ndef run(t):\n    ts = [t]\n    return Variable(ts[0]).detach()\n"),
    Known("TNS401", "None for a forward", "a caller may hand over None, of which `Variable` makes an empty tensor",
          "from lib import Net\n\nnet = Net()\nr = net({}.get('t'))\n",
          "from torch import nn\nfrom torch.autograd import Variable\n\n\nclass Net(nn.Module):\n"
          "    def forward(self, t):\n        return Variable(t).detach()\n"),
    Known("TNS107", r".*R\.numpy\(\)\[0\] = 7", "`.numpy()[0]` that is written is no read, and the fix does not parse",
          "import torch\n\n\ndef written():\n    r = torch.ones(3).sum()\n    r.numpy()[0] = 7\n"),
)  # fmt: skip
"""Projects in which a safe fix did change what they do, and which run alike since."""


def explains(pieces: Iterable[str]) -> bool:
    """Whether a difference that some pieces show is a known one; by which rule's fix it came is told by chance."""
    names = [*pieces]
    return any(re.match(known.piece, each, re.DOTALL) for known in KNOWN for each in names)
