"""Programs that build modules: the pieces that they share, and the projects that are made of them."""

from __future__ import annotations

HEAD = "import torch\nfrom torch import nn\n\nx = torch.ones(1, 2, requires_grad=True)\n"
NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return self.fc(x)


def start(m):
    if isinstance(m, nn.Linear):
        m.weight.data.fill_(0.5)


def show():
    return net(x).pow(2).sum()

"""


def cases(text: str) -> dict[str, str]:
    """Return programs by what they are about: each begins behind a line `# case: ...`."""
    parts = (each.partition("\n") for each in text.split("# case: ")[1:])
    return {name: code for name, _, code in parts}


BUILT = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
PARAMETER = BUILT + "        self.w = nn.Parameter(torch.ones(2))\n"
LAYER = BUILT.replace("self)", "self, other=None)", 1) + "        self.fc = nn.Linear(2, 2)\n"
IN_USE = """
other = nn.Linear(2, 2)
loss = other(x).pow(2).sum()
Net(other)
loss.backward()
print(x.grad)
"""
IN_LIST = IN_USE.replace("Net(other)", "Net([other])")
MAKERS = """
KEPT = nn.Linear(2, 2)
def make():
    return nn.Linear(2, 2)

class Layer(nn.Linear):
    pass
"""
NET_MADE = BUILT + "        self.fc = make()\n        self.fc.weight.data.mul_(0.5)\n"
NET_CLASS = NET_MADE.replace("make()", "Layer(2, 2)")
IN_KEPT = "loss = KEPT(x).pow(2).sum()\nNet()\nloss.backward()\nprint(x.grad)\n"
PART = "class Part(nn.Module):\n    def __init__(self):\n        super().__init__()\n\n"
OF_PART = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()
        self.part.shared.weight.data.mul_(0.5)

"""
OF_PART += IN_KEPT
IN_CALL = IN_KEPT.replace("Net()", "Net(lambda: KEPT)")
BASE = """
SHARED = nn.Linear(2, 2)
class Base(nn.Module):
    layer = nn.Linear

    def __init__(self):
        super().__init__()
        self.body = self.build()
        for m in self.modules():
            if isinstance(m, nn.Linear):
                m.weight.data.fill_(0.5)

    def build(self):
        return self.layer(2, 2)

"""
IN_BASE = """
loss = SHARED(x).pow(2).sum()
net = Net()
loss.backward()
print(x.grad)
"""

COPIED = """
class Net(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.fc = copy.deepcopy(layer)
        self.fc.weight.data.mul_(0.5)

other = Shared(2, 2)
loss = other(x).pow(2).sum()
Net(other)
loss.backward()
print(x.grad)
"""


def project(code: str) -> dict[str, str]:
    """Return the files of a project: the program, and others that begin behind `# file: name`."""
    names, texts = ["main.py"], [""]
    pieces = {"NET": NET, "BUILT": BUILT, "PARAMETER": PARAMETER, "LAYER": LAYER, "IN_USE": IN_USE, "IN_LIST": IN_LIST}
    pieces |= {"BASE": BASE, "IN_BASE": IN_BASE, "MAKERS": MAKERS, "NET_MADE": NET_MADE, "NET_CLASS": NET_CLASS}
    pieces |= {"IN_KEPT": IN_KEPT, "IN_CALL": IN_CALL, "PART": PART, "OF_PART": OF_PART, "COPIED": COPIED}
    for word, text in pieces.items():
        code = f"\n{code}".replace(f"\n{word}\n", f"\n{text}")[1:]
    for line in code.splitlines(keepends=True):
        if line.startswith("# file: "):
            names.append(line.split()[-1])
            texts.append("")
        else:
            texts[-1] += line
    return {name: HEAD + text for name, text in zip(names, texts, strict=True)}
