"""Projects in which a safe fix is known to change what they do: the smallest that were found, and why.

Those in ``KNOWN`` are expected to fail; when one no longer does, it moves to ``MENDED``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_ERROR = "import torch\n\nw = torch.ones(3, requires_grad=True)\n\n\ndef made():\n    return w.numpy()\n"
_CAUGHT = "try:\n    r = {}\nexcept RuntimeError:\n    r = 'refused'\n"
_HANDLED = "an error that a caller expects is looked for by the name of the function that raises, in the same text"
_TAKEN = "who may take a name from a module is looked for by a list of spellings, and this is none of them"
_BOUND = "another file may rebind a name of the module, and then it means something else"
_ANNOTATED = "nothing holds a caller to the annotation of a parameter"
_LATER = "who may call an initialiser is looked for by a list of spellings, and this is none of them"
_NETS = "import torch\nfrom torch import nn\n\n\n"
_SPARE = "import torch\nfrom torch.autograd import Variable\n\nx = torch.ones(2)\n"
_START = (
    _NETS + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.scale = nn.Parameter(torch.ones(3))\n        self.reset_parameters()\n\n"
    "    def reset_parameters(self):\n        self.scale.data.fill_(2)\n\n"
    "    def forward(self, t):\n        return self.scale * self.scale * t\n"
)


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
    Known("TNS401", r"a Variable that another file binds; a name that is taken: from lib import Variable as", _BOUND,
          "import torch\n\nimport lib as part\n\npart.Variable = abs\nfrom lib import Variable as V\n\n"
          "r = V(-torch.ones(2))\n",
          "from torch.autograd import Variable\n"),
    Known("TNS401", r"a trace of return t \+ Variable", "a trace records no detaching for `Variable`",
          "import torch\n\nimport lib\n\ntraced = torch.jit.trace(lib.traced, (torch.ones(2),))\n"
          "x = torch.ones(2, requires_grad=True)\ntraced(x).sum().backward()\nr = x.grad\n",
          "from torch.autograd import Variable\n\n\ndef traced(t):\n    return t + Variable(t).sum()\n"),
    Known("TNS308", r"TNS308 R = torch\.tensor\(V\.data\)", "one fix removes a bracket that another breaks a line at",
          "import torch\n\n\ndef run():\n"
          "    r = torch.tensor(torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).data)\n    return r\n\n\nr = run()\n"),
    Known("TNS401", "a Variable in the namespace of a module", _BOUND,
          "import torch\n\nimport lib\n\nvars(lib)['Vari' + 'able'] = abs\nr = lib.Variable(-torch.ones(2))\n",
          "from torch.autograd import Variable\n"),
    Known("TNS401", "a Variable that is bound before it is taken", _BOUND,
          "import torch\n\nimport lib\n\nsetattr(lib, 'Vari' + 'able', abs)\nfrom lib import Variable\n\n"
          "r = Variable(-torch.ones(2))\n",
          "from torch.autograd import Variable\n"),
    Known("TNS401", "a Variable that the file binds in a module", _BOUND,
          "import torch\n\nimport lib\n\nlib.Variable = abs\nmods = [lib]\nr = mods[0].Variable(-torch.ones(2))\n",
          "from torch.autograd import Variable\n"),
    Known("TNS403", "a name of torch", "an import that runs later, or perhaps not at all, gives no name for torch",
          "import torch\nfrom torch.autograd import Variable\n\nx = torch.ones(2, 3)\n\n\ndef f(t, torch):\n"
          "    return isinstance(t, Variable), torch\n\n\nr = f(x, 1)\ntry:\n    import torch as maybe\n"
          "except ImportError:\n    pass\n"),
    Known("TNS304", r"a trace of return t \+ torch\.FloatTensor",
          "a trace warns of `torch.tensor`, and of `torch.FloatTensor` it does not",
          "import torch\n\nimport lib\n\ntraced = torch.jit.trace(lib.traced, (torch.ones(2),))\n",
          "import torch\n\n\ndef traced(t):\n    return t + torch.FloatTensor([1.0])\n"),
    Known("TNS401", "None by way of vars", "an attribute may be set to None by way of `vars`",
          "import torch\nfrom torch.autograd import Variable\n\n\nclass Store:\n    def __init__(self):\n"
          "        self.t = torch.ones(2)\n\n\nstore = Store()\nvars(store).update(t={}.get('t'))\n"
          "r = Variable(store.t).detach()\n"),
    Known("TNS401", "None by a partial", "a call that is given a function and None may hand it over",
          "import functools\n\nfrom lib import run\n\nr = functools.partial(run, {}.get('t'))()\n",
          "from torch.autograd import Variable\n\n\ndef run(t):\n    return Variable(t).detach()\n"),
    Known("TNS401", "None for an attribute from outside", "another file may set an attribute to None",
          "import lib\n\nlib.store.t = {}.get('t')\nr = lib.run()\n",
          "import torch\nfrom torch.autograd import Variable\n\n\nclass Store:\n    def __init__(self):\n"
          "        self.t = torch.ones(2)\n\n\nstore = Store()\n\n\ndef run():\n"
          "    return Variable(store.t).detach()\n"),
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
    Known("TNS304", "a constructor that another file binds", _BOUND,
          "import torch\n\nimport lib\n\nlib.Kind = torch.DoubleTensor\nr = lib.made()\n",
          "import torch\n\nKind = torch.FloatTensor\n\n\ndef made():\n    return Kind([1, 2])\n"),
    Known("TNS401", "None from another file", "a caller may hand over None, of which `Variable` makes an empty tensor",
          "from lib import run\n\nr = run({}.get('t'))\n",
          "from torch.autograd import Variable\n\n\ndef run(t):\n    ts = [t]\n    return Variable(ts[0]).detach()\n"),
    Known("TNS401", "None for a forward", "a caller may hand over None, of which `Variable` makes an empty tensor",
          "from lib import Net\n\nnet = Net()\nr = net({}.get('t'))\n",
          "from torch import nn\nfrom torch.autograd import Variable\n\n\nclass Net(nn.Module):\n"
          "    def forward(self, t):\n        return Variable(t).detach()\n"),
    Known("TNS101", "an error that is expected", _HANDLED,
          "from lib import made as other\n\n" + _CAUGHT.format("other()"), _ERROR),
    Known("TNS101", "an error through two functions", _HANDLED,
          _ERROR + "\n\ndef outer():\n    return made()\n\n\n" + _CAUGHT.format("outer()")),
    Known("TNS101", "an error that a function handles", _HANDLED,
          _ERROR + "\n\ndef attempt(f):\n    try:\n        return f()\n    except Exception:\n        return "
                   "'refused'\n"
          "\n\nr = attempt(made)\n"),
    Known("TNS101", "an error in a decorator", _HANDLED,
          "import torch\n\nw = torch.ones(3, requires_grad=True)\n\n\ndef safely(f):\n    def inner():\n        try:\n"
          "            return f()\n        except RuntimeError:\n            return 'refused'\n\n    return inner\n\n\n"
          "@safely\ndef made():\n    return w.numpy()\n\n\nr = made()\n"),
    Known("TNS101", "an error in a test", _HANDLED,
          "import unittest\n\nfrom lib import made as other\n\n\nclass Cases(unittest.TestCase):\n"
          "    def runTest(self):\n        with self.assertRaises(RuntimeError):\n            other()\n\n\n"
          "r = unittest.TextTestRunner(open('/dev/null', 'w')).run(Cases()).wasSuccessful()\n", _ERROR),
    Known("TNS101", "an error that ends a loop", "a class of one's own may swallow errors by what its "
                                                 "`__exit__` returns",
          "import torch\n\nw = torch.ones(3, requires_grad=True)\n\n\nclass Leave:\n    def __enter__(self):\n"
          "        pass\n\n    def __exit__(self, *error):\n        return True\n\n\nr = 'refused'\nwith Leave():\n"
          "    r = w.numpy()\n"),
    Known("TNS204", "an error of a number", _HANDLED,
          "import lib\n\ntry:\n    r = getattr(lib, 'made')()\nexcept IndexError:\n    r = 'refused'\n",
          _ERROR.replace("w.numpy()", "w.sum().data[0]")),
    Known("TNS305", "an error that is suppressed", _HANDLED,
          "import contextlib\n\nimport lib\n\nr = 'refused'\nwith contextlib.suppress(TypeError):\n"
          "    r = getattr(lib, 'made')()\n",
          "import torch\n\n\ndef made():\n    return torch.Tensor([1], dtype=torch.float64)\n"),
    Known("TNS202", "a late initialiser by its name", _LATER,
          "import torch\n\nfrom lib import Net\n\nn = Net()\nloss = n(torch.ones(3)).sum()\n"
          "getattr(n, 'reset' + '_parameters')()\nloss.backward()\n", _START),
    Known("TNS202", "a function that is applied late", _LATER,
          "import torch\n\nfrom lib import *\n\nn = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))\n"
          "loss = n(torch.ones(2, 3)).sum()\nn.apply(start)\nloss.backward()\n",
          _NETS + "def start(m):\n    if type(m) == nn.Linear:\n        m.weight.data.fill_(0.5)\n\n\ndef built():\n"
          "    made = nn.Sequential(nn.Linear(3, 3))\n    made.apply(start)\n    return made\n"),
    Known("TNS404", "a name that is taken: .*functools.partial", _TAKEN,
          "import functools\n\nimport torch\n\nimport lib as part\n\n"
          "r = functools.partial(getattr, part)('Vari' + 'able')(torch.ones(2))\n", _SPARE),
    Known("TNS404", "a name that is taken: .*eval", _TAKEN,
          "import torch\n\nimport lib as part\n\nr = eval('part.Variable')(torch.ones(2))\n", _SPARE),
    Known("TNS107", r".*R\.numpy\(\)\[0\] = 7", "`.numpy()[0]` that is written is no read, and the fix does not parse",
          "import torch\n\n\ndef written():\n    r = torch.ones(3).sum()\n    r.numpy()[0] = 7\n"),
)  # fmt: skip
"""Projects in which a safe fix did change what they do, and which run alike since."""


def explains(pieces: Iterable[str]) -> bool:
    """Whether a difference that some pieces show is a known one; by which rule's fix it came is told by chance."""
    names = [*pieces]
    return any(re.match(known.piece, each, re.DOTALL) for known in KNOWN for each in names)
