"""Whole pieces of random projects: what depends on classes, on other files, or on settings of the whole process.

``lib.`` before a name stands for the way in which a program takes it from the other file. A comment ``#!TNS404`` marks
a line on which the safe fix of that rule is allowed.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Whole:
    """A piece for the program and one for the file beside it."""

    name: str
    main: str
    lib: str = ""
    voids: tuple[str, ...] = ()
    """Beginnings of codes of which nothing is known to be allowed in a project with this piece."""


LEGACY = ("TNS30", "TNS31")
_MODULE = (
    "class Net$(nn.Module):\n    def __init__(self{given}):\n        super().__init__()\n        {body}\n\n"
    "    def forward(self, t):\n        return {out}\n"
)
_OWN = "self.fc = nn.Linear(3, 3)\n        self.scale = nn.Parameter(torch.ones(3))"
_RUN = "n$ = lib.Net$()\nloss$ = n$(x).sum()\nloss$.backward()"
_ALL = (
    "for m in self.modules():\n            if isinstance(m, nn.Linear):\n                m.weight.data.fill_(0.5){mark}"
)
_EACH = "for p in self.parameters():\n            p.data.fill_(0.5){mark}"
_KNOWN = "  #!TNS202"


def _module(body: str, given: str = "", out: str = "self.fc(t) * self.scale") -> str:
    return _MODULE.format(body=body, given=given, out=out)


def _own(line: str) -> str:
    return _module(f"{_OWN}\n        {line}")


WHOLES: tuple[Whole, ...] = (
    # ------------------------------------------------------------------ modules
    *(Whole(f"a module's own start, {number}", _RUN, _own(line)) for number, line in enumerate((
        f"self.fc.weight.data.normal_(0, 0.02){_KNOWN}", f"self.scale.data.fill_(2){_KNOWN}",
        f"self.fc.bias.data.zero_(){_KNOWN}", _ALL.format(mark=_KNOWN), _EACH.format(mark=_KNOWN),
        f"nn.init.constant_(self.fc.weight.data, 0.5){_KNOWN}", "self.fc.weight.data = torch.ones(3, 3)",
        f"self.fc.weight.data.uniform_(-0.1, 0.1).clamp_(0, 1){_KNOWN}", "self.fc.weight.data[0] = 2",
        "self.fc.weight.data *= 2", "w.data.mul_(2)", "self.scale.data = self.scale.data * 2",
        "self.state_dict()['fc.weight'].data.zero_()", "self.fc.weight.data.copy_(net.weight.data)",
        "self.tied = net.weight\n        self.tied.data.zero_()", "self.register_buffer('t', w * 1)\n"
        "        self.t.data.zero_()", "self.inner = copy.copy(net)\n        self.inner.weight.data.zero_()",
        "self.inner = copy.deepcopy(net)\n        self.inner.weight.data.zero_()",
    ))),
    *(Whole(f"a module that is given one: {body}", f"shared$ = nn.Linear(3, 3)\nbefore$ = shared$(shared$(x)).sum()\n"
            f"n$ = lib.Net$({take})\nloss$ = n$(x).sum()\nbefore$.backward()", _module(body, given, "t"))
      for body, given, take in (
        (f"self.inner = inner\n        {_ALL.format(mark='')}", ", inner", "shared$"),
        (f"self.inner = inner or nn.Linear(3, 3)\n        {_ALL.format(mark='')}", ", inner=None", "shared$"),
        (f"self.inners = nn.ModuleList(inners)\n        {_ALL.format(mark='')}", ", inners", "[shared$]"),
        (f"self.inner = nn.Sequential(*inners)\n        {_EACH.format(mark='')}", ", *inners", "shared$"),
        (f"self.inner = nn.Sequential(nn.ReLU(), inner)\n        {_ALL.format(mark='')}", ", inner", "shared$"),
        (f"self.add_module('inner', inner)\n        {_EACH.format(mark='')}", ", inner", "shared$"),
        (f"self.inner = nn.Linear(3, 3)\n        self.inner.weight = inner.weight\n        {_ALL.format(mark='')}",
         ", inner", "shared$"),
        (f"self.inner = nn.utils.spectral_norm(inner)\n        {_EACH.format(mark='')}", ", inner", "shared$"),
        (f"for name, each in named.items():\n            setattr(self, name, each)\n        {_ALL.format(mark='')}",
         ", **named", "one=shared$"),
        ("self.__dict__.update(inner=inner)\n        self.inner.weight.data.zero_()", ", inner", "shared$"),
        (f"self.inner = {{'a': inner}}['a']\n        {_EACH.format(mark='')}", ", inner", "shared$"),
        (f"self.inner = functools.reduce(lambda a, b: b, [inner, inner])\n        {_EACH.format(mark='')}", ", inner",
         "shared$"),
        (f"self.inner = make()\n        {_ALL.format(mark='')}", ", make", "lambda: shared$"),
        (f"self.inner = nn.ModuleDict({{'a': inner}})['a']\n        {_ALL.format(mark='')}", ", inner", "shared$"),
    )),
    Whole("a function that is applied", "n$ = lib.built$()\nloss$ = n$(x).sum()\nloss$.backward()",
          "def start$(m):\n    if isinstance(m, nn.Linear):\n        m.weight.data.fill_(0.5)  #!TNS202\n"
          "        m.bias.data.zero_()\n\n\ndef built$():\n    made = nn.Sequential(nn.Linear(3, 3))\n"
          "    made.apply(start$)\n    return made"),
    Whole("a derived class", "n$ = lib.Child$()\nn$(x).sum().backward()",
          _own("self.start()\n\n    def start(self):\n        self.fc.weight.data.fill_(1)") + "\n\n"
          "class Child$(Net$):\n    def start(self):\n        self.early = self.fc(x).sum()\n        super().start()\n"
          "        self.early.backward()"),
    Whole("a derived class in the program", "class Child$(lib.Net$):\n    def __init__(self):\n"
          "        super().__init__()\n        self.fc.weight.data.zero_()\n\nn$ = Child$()\nn$(x).sum().backward()",
          _module(_OWN)),
    # ------------------------------------------------------------------ training
    Whole("a step by hand", "(net(x) ** 2).sum().backward()\nfor p$ in net.parameters():\n"
          "    p$.data.add_(p$.grad.data, alpha=-0.1)\n    p$.grad.data.zero_()"),
    Whole("a step between", "loss$ = (net(net(x)) ** 2).sum()\nfor p$ in net.parameters():\n    p$.data.mul_(0.9)\n"
          "loss$.backward()"),
    Whole("a target network", "target$ = copy.deepcopy(net)\nfor a$, b$ in zip(target$.parameters(), "
                              "net.parameters()):\n"
          "    a$.data.copy_(a$.data * 0.9 + b$.data * 0.1)"),
    Whole("a running loss", "total$ = 0\nfor _ in range(2):\n    loss$ = F.mse_loss(net(x), x)\n    loss$.backward()\n"
          "    total$ += loss$.data.item()  #!TNS204\n    print(loss$.data)"),
    Whole("a hidden state", "def repackage$(h):\n    if isinstance(h, torch.Tensor):\n"
          "        return Variable(h.data)\n    return tuple(repackage$(v) for v in h)\n\n"
          "lstm$ = nn.LSTM(3, 2)\nout$, state$ = lstm$(x.view(2, 1, 3))\nstate$ = repackage$(state$)\n"
          "out$, state$ = lstm$(x.view(2, 1, 3), state$)\nout$.sum().backward()"),
    Whole("a hidden state by type", "def repackage$(h):\n    if type(h) == Variable:\n        return Variable(h.data)\n"
          "    elif isinstance(h, Variable):\n        return h.detach()\n    return [repackage$(v) for v in h]\n\n"
          "r$ = repackage$([net(x), (net(x),)])"),
    Whole("an accuracy", "def accuracy$(output, target):\n    _, predicted = torch.max(output.data, 1)\n"
          "    return (predicted == target.data).sum().item()\n\nr$ = accuracy$(net(x), torch.tensor([0, 1]))"),
    Whole("a loader of pairs", "pairs$ = [(net(x)[0], torch.tensor(n)) for n in (0, 1)]\n"
          "for image$, label$ in torch.utils.data.DataLoader(pairs$, collate_fn=lambda each: each[0]):\n"
          "    image$, label$ = Variable(image$), Variable(label$)\n    kept.append(image$)\n    kept.append(label$)"),
    Whole("a function of autograd", "y$ = lib.Scaled$.apply(net(x), 2.0)\ny$.sum().backward()",
          "class Scaled$(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, t, by):\n"
          "        ctx.save_for_backward(t)\n        ctx.by = by\n        return t.data * by\n\n    @staticmethod\n"
          "    def backward(ctx, grad):\n        t, = ctx.saved_tensors\n"
          "        return Variable(grad.data * ctx.by) + t.data.sum() * 0, None"),
    Whole("an optimizer", "params$ = [torch.ones(3, requires_grad=True)]\nsgd$ = torch.optim.SGD(params$, lr=0.1)\n"
          "for _ in range(2):\n    loss$ = (params$[0] ** 2).sum()\n    sgd$.zero_grad()\n    loss$.backward()\n"
          "    for p$ in params$:\n        p$.grad.data.clamp_(-1, 1)\n    sgd$.step()\n    "
          "kept.append(params$[0].data)"),
    Whole("a history of clones", "p$ = nn.Parameter(torch.ones(3))\nfor _ in range(2):\n    "
                                 "kept.append(p$.data.clone())"
          "  #!TNS201\n    kept.append(p$.data)\n    with torch.no_grad():\n        p$.add_(1)"),
    # ------------------------------------------------------------------ hooks
    Whole("a hook of a tensor", "t$ = torch.ones(3, requires_grad=True)\ny$ = t$ * 2\n"
          "y$.register_hook(lambda grad: kept.append(grad.data.clone()))\ny$.register_hook(lambda g: Variable(g) * 3)\n"
          "y$.sum().backward()"),
    Whole("a hook of a module", "seen$ = []\ndef look$(module, given, out):\n    seen$.append(out.data)\n"
          "    seen$.append(out.data.cpu().numpy())\n    return out * 2\n\nhook$ = net.register_forward_hook(look$)\n"
          "r$ = net(x)\nhook$.remove()\nr$.sum().backward()"),
    Whole("a hook that writes", "def write$(module, given, out):\n    out.data.mul_(2)\n\n"
          "hook$ = net.register_forward_hook(write$)\nr$ = net(x).sigmoid()\nhook$.remove()\nr$.sum().backward()"),
    # ------------------------------------------------------------------ defaults
    Whole("a default dtype", "torch.set_default_dtype(torch.float64)", voids=("TNS3",)),
    Whole("a default dtype in the other file", "same(1)", "torch.set_default_dtype(torch.float64)", ("TNS3",)),
    # what a built text names is not looked into: "names are used as names, not reached through text"
    Whole("a default dtype by text", "getattr(torch, 'set_default_dtype')(torch.float64)", voids=("TNS3",)),
    Whole("a default dtype from a dict", "vars(torch)['set_default_dtype'](torch.float64)", voids=("TNS3",)),
    Whole("a default dtype by an alias", "from torch import set_default_dtype as choose$\nchoose$(torch.float64)",
          voids=("TNS3",)),
    Whole("a default dtype for a while", "torch.set_default_dtype(torch.float64)\nt$ = torch.Tensor([1, 2])\n"
          "torch.set_default_dtype(torch.float32)\nu$ = torch.Tensor([1])", voids=("TNS3",)),
    Whole("a default tensor type", "torch.set_default_tensor_type(torch.DoubleTensor)", voids=("TNS3",)),
    Whole("a default tensor type by text", "torch.set_default_tensor_type('torch.DoubleTensor')\nt$ = "
                                           "torch.Tensor([1])",
          voids=("TNS3",)),
    Whole("a default device", "torch.set_default_device(device)\nt$ = torch.FloatTensor([1])\n"
          "torch.set_default_device('cpu')", voids=("TNS3",)),
    Whole("a device around a call", "with torch.device('meta'):\n    r$ = lib.made$()",
          "def made$():\n    return torch.Tensor([1, 2]), torch.FloatTensor(2), torch.LongTensor(2, 3)", ("TNS3",)),
    Whole("a device around a module", "with contextlib.ExitStack() as stack$:\n"
          "    stack$.enter_context(torch.device('meta'))\n    n$ = lib.Net$()",
          _module("self.w = nn.Parameter(torch.Tensor(2, 3))", out="t"), ("TNS3",)),
    # ------------------------------------------------------------------ names that others take
    Whole("an import that nobody uses", "r$ = lib.spare$()",
          "from torch.autograd import Variable as Spare$  #!TNS404\n\n\ndef spare$():\n    return torch.ones(2)"),
    # "names are used as names, not reached through text": what `import_module('lib')` gives is not looked into
    *(Whole(f"a name that is taken: {use}", use, "from torch.autograd import Variable", ("TNS404",)) for use in (
        "from lib import Variable as Taken$\nr$ = Taken$(x)", "import lib as l$\nr$ = l$.Variable(x)",
        "import lib as l$\nr$ = getattr(l$, 'Variable')(x)", "from lib import *\nr$ = Variable(x)",
        "import lib as l$\nr$ = hasattr(l$, 'Variable')",
    )),
    Whole("a list of names", "from lib import *\nr$ = made$()",
          "from torch.autograd import Variable\n\n__all__ = ['made$', 'Variable']\n\n\ndef made$():\n    return x",
          ("TNS404",)),
    # ------------------------------------------------------------------ traces, handlers, dispatch
    *(Whole(f"a trace of {body}", "traced$ = torch.jit.trace(lib.traced$, (x,))\nr$ = traced$(x + 2)",
            f"def traced$(t):\n    {body}", ("TNS2",)) for body in (
        "return t - t.data.mean()", "return t * t.data.size(0)", "s = t.data\n    return t + s.clone().sum()",
        "return t.new_ones(t.data.shape) + t", "return t + Variable(t).sum()", "return t.type(torch.DoubleTensor) + 1",
        "return t + t.new([1.0])", "return t + torch.Tensor([1.0])", "return t + t.sum().data.item()",
        "return t + torch.tensor(t.sum())", "return t + torch.FloatTensor([1.0])",
        "return t + t.cpu().detach()", "return t.new(2, 3).fill_(1) + t",
        "return t + torch.zeros_like(t.data)", "return t + float(t.sum().data)",
    )),
    Whole("a traced module", "traced$ = torch.jit.trace(lib.Net$(), (x,))\nr$ = traced$(x + 2)",
          _module(_OWN, out="self.fc(t) * t.data.mean()"), ("TNS2",)),
    *(Whole(f"a refusal of Variable that is expected: {given}",
            f"try:\n    r$ = lib.wrapped$({given})\nexcept TypeError:\n    r$ = 'refused'",
            "def wrapped$(t):\n    return Variable(t)") for given in ("array", "[1.0]", "Box(x)", "x")),
    Whole("an error in finally", "r$ = []\ntry:\n    try:\n        r$.append(w.numpy())\n    finally:\n"
          "        r$.append(1)\nexcept RuntimeError:\n    r$.append(2)"),
    Whole("an annotation", "def f$(t: Variable):  #!TNS403\n    return t\n\nr$ = f$(x)"),
    Whole("a name of torch", "def f$(t, torch):\n    return isinstance(t, Variable), torch\n\nr$ = f$(x, 1)"),
    Whole("an optional torch", "try:\n    import torch as maybe$\nexcept ImportError:\n    maybe$ = None\n\n"
          "def f$(t):\n    return maybe$.Tensor([1, 2]) if maybe$ is not None else t\n\nr$ = f$(x)", voids=("TNS3",)),
    Whole("a pickle", "r$ = pickle.loads(pickle.dumps((torch.Tensor([1, 2]), Variable(x), x.data)))"),
    Whole("inference mode", "with torch.inference_mode():\n    t$ = torch.ones(3)\n    u$ = Variable(t$)\n    "
                            "v$ = t$.data.sum()\n"
          "    t$.data.add_(1)"),
    Whole("a frozen layer", "n$ = nn.Linear(3, 3)\nfor p$ in n$.parameters():\n    p$.requires_grad = False\n"
          "    p$.data.fill_(1)\nr$ = n$(x).numpy()"),
    Whole("a list of weights", "weights$ = [p.data.numpy() for p in net.parameters()]\nweights$[0][0] = 7"),
    # ------------------------------------------------------------------ names that mean something else
    Whole("a Variable of one's own", "from lib import Variable\nr$ = Variable(x), isinstance(x, Variable)",
          "class Variable:\n    def __init__(self, t):\n        self.t = t"),
    Whole("a Variable that is rebound", "from torch.autograd import Variable\nif len(numbers) > 5:\n"
          "    Variable = doubled\nr$ = Variable(x)"),
    Whole("a constructor that is rebound", "Tensor$ = torch.Tensor\nr$ = Tensor$([1, 2]), Tensor$(2, 3).fill_(1)"),
    Whole("a constructor as a value", "r$ = list(map(torch.FloatTensor, [[1], [2]]))\ns$ = isinstance(x, "
                                      "torch.FloatTensor)\n"
          "u$ = {'f': torch.FloatTensor}['f']([1])\nv$ = type(x) is torch.Tensor"),
    Whole("a property data", "class Held$:\n    @property\n    def data(self):\n        return net(x)\n\nheld$ "
                             "= Held$()\n"
          "r$ = held$.data.sum()\ns$ = Variable(held$.data)\nu$ = held$.data.view(-1)"),
    Whole("a field data", "@dataclass\nclass Batch$:\n    data: torch.Tensor\n\nbatch$ = Batch$(net(x))\n"
          "r$ = batch$.data.sum()\ns$ = Variable(batch$.data)\nbatch$.data.mul_(2)\nu$ = batch$.data.size(0)"),
    Whole("a field data of a parameter", "@dataclass\nclass Batch$:\n    data: torch.Tensor\n\ndef f$(batch: "
                                         "torch.Tensor):\n"
          "    return batch.data.sum(), batch.data.shape, Variable(batch.data), torch.tensor(batch.data[0])\n\n"
          "r$ = f$(Batch$(net(x)))"),
    Whole("an own to", "class Moved$(nn.Linear):\n    def to(self, *args, non_blocking=False):\n"
          "        print('late' if non_blocking else 'now')\n        return self\n\n"
          "    def type(self, kind):\n        return str(kind)\n\nr$ = Moved$(3, 3).to('cpu', non_blocking=True)\n"
          "s$ = Moved$(3, 3).type(torch.FloatTensor)"),
    Whole("an own new", "class Shop$:\n    def new(self, *args):\n        return args\n\ndef f$(shop):\n"
          "    return shop.new(2, 3), shop.new([1, 2])\n\nr$ = f$(Shop$()), f$(x)[1]"),
    Whole("a module of types", "n$ = nn.Linear(3, 3)\nn$.register_buffer('count', torch.arange(3))\n"
          "r$ = n$.type(torch.DoubleTensor)\ns$ = n$.count.type(torch.FloatTensor)"),
    Whole("a method that says torch", "class Backend$:\n    torch = np\n\n    def made(self, torch=np):\n"
          "        return torch.array([1, 2]), isinstance(x, Variable)\n\nr$ = Backend$().made()"),
    Whole("a list of batches", "def batches$():\n    hidden = torch.zeros(2, 3)\n    for _ in range(2):\n"
          "        hidden = net(Variable(hidden))\n        yield hidden\n\nr$ = list(batches$())\n"
          "r$[-1].sum().backward()"),
    Whole("a state that is carried", "class Agent$:\n    def __init__(self):\n        self.state = "
                                     "torch.zeros(2, 3)\n\n"
          "    def step(self):\n        self.state = net(self.state)\n        return self.state\n\n"
          "    def reset(self):\n        self.state = Variable(self.state)\n        return self.state.data\n\n"
          "agent$ = Agent$()\nr$ = agent$.step(), agent$.reset(), agent$.step()\nr$[2].sum().backward()"),
    Whole("a memory that is written", "memory$ = torch.zeros(3, 3)\nfor at$ in range(3):\n    memory$[at$] = "
                                      "net(x)[0]\n"
          "r$ = Variable(memory$)\ns$ = Variable(memory$[0])\nu$ = memory$.data.sum()\nv$ = Variable(memory$.clone())"),
    Whole("a default that is shared", "def f$(t, seen=torch.zeros(3)):\n    out = Variable(seen)\n    seen += t\n"
          "    return out\n\nr$ = f$(w), f$(w)"),
    Whole("a cached value", "@functools.lru_cache(maxsize=None)\ndef made$(n):\n    return torch.zeros(n)\n\n"
          "made$(3).add_(w)\nr$ = Variable(made$(3))\ns$ = Variable(made$(3) + 1)"),
    Whole("a table of tensors", "table$ = {n: torch.zeros(3) for n in range(2)}\n"
          "for n$ in table$:\n    table$[n$] += w\nr$ = Variable(torch.stack(list(table$.values())))\n"
          "s$ = [Variable(t) for t in table$.values()]"),
    Whole("a nested container", "tree$ = {'a': [torch.zeros(3), (torch.ones(3),)]}\ntree$['a'][1][0].mul_(w)\n"
          "r$ = Variable(tree$['a'][1][0])\ns$ = Variable(torch.cat([tree$['a'][0], *tree$['a'][1]]))"),
    Whole("an object that is written by a method", "class Sum$:\n    def __init__(self):\n        self.total = "
                                                   "torch.zeros(3)\n\n"
          "    def add(self, t):\n        self.total += t\n        return self\n\n    def get(self):\n"
          "        return Variable(self.total), Variable(self.total * 2)\n\nr$ = Sum$().add(w).get()"),
    Whole("a thread of writes", "t$ = torch.zeros(3)\ndef later$():\n    t$.add_(w)\n\ncalls$ = [later$]\n"
          "for call$ in calls$:\n    call$()\nr$ = Variable(t$ * 1)"),
    Whole("an iterator of its own", "class Each$:\n    def __init__(self, t):\n        self.t = t\n\n"
          "    def __getitem__(self, at):\n        if at > 1:\n            raise IndexError\n        return "
          "self.t[at]\n\n"
          "    def __len__(self):\n        return 2\n\nr$ = [Variable(t) for t in Each$(net(x))]\n"
          "s$ = [t.data.sum() for t in Each$(net(x))]\nu$ = [torch.tensor(t) for t in Each$(array)]"),
    Whole("an await", "import asyncio\n\nasync def f$(t):\n    await asyncio.sleep(0)\n"
          "    return Variable(t), t.data.sum(), torch.Tensor([1])\n\nr$ = asyncio.run(f$(net(x)))"),
    Whole("a guard of kinds", "def f$(t):\n    if isinstance(t, np.ndarray):\n        t = torch.Tensor(t)\n"
          "    elif isinstance(t, (list, tuple)):\n        t = torch.FloatTensor(t)\n    return Variable(t)\n\n"
          "r$ = f$(array), f$([1, 2]), f$((1, 2)), f$(x), f$(net(x))"),
    Whole("a kind by its attribute", "def f$(t):\n    if hasattr(t, 'numpy'):\n        return t.numpy()\n    "
                                     "return t\n\n"
          "r$ = f$(x), f$(2), f$(Box(x))"),
    Whole("sums of several kinds", "r$ = sum(Variable(t) for t in (x, x * 2))\ns$ = sum([t.data for t in net(x)])\n"
          "u$ = torch.tensor(sum(t.sum() for t in (x, x)))\nv$ = torch.tensor(max(1, 2)), torch.tensor(max(x[0]))"),
    Whole("gradients that are written", "(net(x) ** 2).sum().backward()\nfor p$ in net.parameters():\n"
          "    p$.grad.data.mul_(0.5)\n    p$.grad.data.add_(p$.data)\n    kept.append(Variable(p$.grad))\n"
          "    kept.append(p$.grad.data.norm())\n    p$.grad = None"),
    Whole("a double backward", "g$, = torch.autograd.grad((w ** 3).sum(), w, create_graph=True)\nr$ = "
                               "Variable(g$), g$.data.sum()\n"
          "g$.sum().backward()"),
    Whole("weights that are tied", "a$, b$ = nn.Linear(3, 3), nn.Linear(3, 3)\nb$.weight = a$.weight\n"
          "a$.weight.data.normal_()\nb$.bias.data = a$.bias.data\nb$.bias.data.zero_()\nr$ = b$(a$(x))"),
    Whole("a parameter that is made anew", "n$ = nn.Linear(3, 3)\nn$.weight = nn.Parameter(n$.weight.data.clone())\n"
          "n$.bias = nn.Parameter(torch.Tensor(3).zero_())\nr$ = n$(x)\nr$.sum().backward()"),
    Whole("a shape of an array", "r$ = torch.Tensor(array.shape), torch.Tensor(array.shape[1:])"),
    Whole("two kinds", "def f$(n):\n    return torch.Tensor(n)\n\nr$ = f$([1, 2]), f$(2).fill_(1)"),
    Whole("a size or a list", "def f$(size):\n    if isinstance(size, int):\n        return torch.zeros(size)\n"
          "    return torch.Tensor(size)\n\nr$ = f$(2), f$([1, 2])"),
    Whole("shared memory", "t$ = torch.Tensor(array)\nu$ = torch.FloatTensor(array)\nt$[0] = 9"),
    Whole("a copy to the host", "out$ = net.to(device)(x.to(device))\nr$ = out$.to('cpu', non_blocking=True)\n"
          "s$ = out$.detach().cpu().numpy()"),
    Whole("typed by device", "dtype$ = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor\n"
          "r$ = torch.ones(2).type(dtype$)\ns$ = dtype$([1, 2])\nu$ = Variable(torch.ones(2).type(dtype$))"),
)  # fmt: skip
