"""Where a module that is built takes over a part that is in use: projects run before and after `--fix`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike
from tests.module_programs import cases, project

MADE_ANEW = cases("""
# case: numbers are drawn and computed
import math
import random
import numpy as np
class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = random.choice([width])
        self.fc = nn.Linear(2, self.width)
        self.w = nn.Parameter(torch.from_numpy(np.random.normal(0, 1 / np.sqrt(width), (2, 2))))
        self.fc.weight.data.fill_(random.choice([0.5]) / math.sqrt(width))
        self.w.data.mul_(0.5)

print(Net(2).fc(x))
# case: a deep copy
class Net(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.body = nn.ModuleList([copy.deepcopy(layer) for _ in range(2)])
        for m in self.body:
            m.weight.data.fill_(0.5)

import copy
print(Net(nn.Linear(2, 2)).body[0](x))
""")
HANDED_OUT = cases("""
# case: a member of a list is chosen
import random
LAYER
        self.fc = random.choice(other)
        self.fc.weight.data.mul_(0.5)
IN_LIST
# case: members of a list are drawn
import random
LAYER
        self.body = nn.ModuleList(random.sample(other, 1))
        for m in self.body:
            m.weight.data.mul_(0.5)
IN_LIST
# case: a member is drawn by NumPy
import numpy as np
LAYER
        self.body = nn.ModuleList(np.random.permutation(other).tolist())
        for m in self.body:
            m.weight.data.mul_(0.5)
IN_LIST
# case: what a base class lists
LAYER
        self.body = other[0]
        self.kept = nn.ModuleList(super().children())
        self.kept[1].weight.data.mul_(0.5)
IN_LIST
""")
PUT_IN = cases("""
# case: a name of its own is given what was made for it
LAYER
        fc = nn.Linear(2, 2)
        setattr(fc, "weight", nn.Parameter(torch.ones(2, 2)))
        self.add_module("body", fc)
        self.body.weight.data.mul_(0.5)

print(Net().body(x))
# case: a function that only initialises is applied first
LAYER
        self.apply(start)
        self.fc.weight.data.mul_(0.5)

def start(m):
    if isinstance(m, nn.Linear):
        nn.init.constant_(m.weight, 0.5)

print(Net().fc(x))
""")
PUT_IN_OF_OTHERS = cases("""
# case: a state is taken over
LAYER
        self.load_state_dict({"fc." + name: p for name, p in other.named_parameters()}, strict=False, assign=True)
        self.fc.weight.data.mul_(0.5)
IN_USE
# case: a state is taken over by a part
LAYER
        self.fc.load_state_dict(dict(other.named_parameters()), True, True)
        self.fc.weight.data.mul_(0.5)
IN_USE
# case: a part is made of another's state
class Part(nn.Module):
    def __init__(self, other):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.load_state_dict({"fc." + name: p for name, p in other.named_parameters()}, assign=True)

class Net(nn.Module):
    def __init__(self, other):
        super().__init__()
        self.part = Part(other)
        self.part.fc.weight.data.mul_(0.5)
IN_USE
# case: a loop sets a part of a part
LAYER
        for m in self.children():
            setattr(m, "weight", other.weight)
        self.fc.weight.data.mul_(0.5)
IN_USE
# case: a name of its own is given a part
LAYER
        fc = nn.Linear(2, 2)
        setattr(fc, "weight", other.weight)
        self.fc = fc
        self.fc.weight.data.mul_(0.5)
IN_USE
# case: a name of its own has a part registered
LAYER
        fc = nn.Linear(2, 2)
        fc.register_parameter("weight", other.weight)
        self.fc = fc
        self.fc.weight.data.mul_(0.5)
IN_USE
# case: a name of its own takes all parameters
LAYER
        fc = nn.Linear(2, 2)
        fc._parameters.update(other._parameters)
        self.fc = fc
        self.fc.weight.data.mul_(0.5)
IN_USE
# case: a name of its own joins all parameters
LAYER
        fc = nn.Linear(2, 2)
        fc._parameters |= other._parameters
        self.fc = fc
        self.fc.weight.data.mul_(0.5)
IN_USE
# case: a function is applied
LAYER
        self.apply(lambda m: setattr(m, "weight", other.weight) if isinstance(m, nn.Linear) else None)
        self.fc.weight.data.mul_(0.5)
IN_USE
# case: a function of the constructor is applied
LAYER
        def tie(m):
            if isinstance(m, nn.Linear):
                m.weight = other.weight
        self.apply(tie)
        self.fc.weight.data.mul_(0.5)
IN_USE
# case: a method is applied
LAYER
        self.other = [other]
        self.apply(self.tie)
        self.fc.weight.data.mul_(0.5)

    def tie(self, m):
        if isinstance(m, nn.Linear):
            m.weight = self.other[0].weight
IN_USE
# case: a part of a part is exchanged
LAYER
        self.body = nn.Sequential(nn.Linear(2, 2))
        self.set_submodule("body.0", other)
        self.body[0].weight.data.mul_(0.5)
IN_USE
# case: a part is found by its name
LAYER
        self.get_submodule("fc").weight = other.weight
        self.fc.weight.data.mul_(0.5)
IN_USE
# case: a part is found by a call
LAYER
        next(self.children()).weight = other.weight
        self.fc.weight.data.mul_(0.5)
IN_USE
# case: the base class adds a part
LAYER
        super().add_module("fc", other)
        self.fc.weight.data.mul_(0.5)
IN_USE
# case: a layer's own parameter is registered by its base class
class Net(nn.Linear):
    def __init__(self, other):
        super().__init__(2, 2)
        super().register_parameter("weight", other.weight)
        self.weight.data.mul_(0.5)
IN_USE
# case: a part is registered by keywords
class Net(nn.Linear):
    def __init__(self, other):
        super().__init__(2, 2)
        self.register_parameter(param=other.weight, name="weight")
        self.weight.data.mul_(0.5)
IN_USE
# case: all parts are exchanged
LAYER
        self._modules = dict(fc=other)
        self.fc.weight.data.mul_(0.5)
IN_USE
# case: a list grows
class Net(nn.Sequential):
    def __init__(self, other):
        super().__init__()
        self.append(other)
        for m in self.modules():
            if isinstance(m, nn.Linear):
                m.weight.data.mul_(0.5)
IN_USE
# case: a function sets a part where it is called
LAYER
        tie = lambda: setattr(self, "fc", other)
        self.fc = nn.Linear(2, 2)
        tie()
        self.fc.weight.data.mul_(0.5)
IN_USE
""")

MADE_BY_ITS_OWN = cases("""
# case: a function whose name others use, too
MAKERS
LAYER
        self.body = make()
        self.body.weight.data.mul_(0.5)

def show(make):
    return make + 1

class Others:
    def make(self):
        return show(1)

print(Net().body(x), Others().make())
# case: a function of the constructor
LAYER
        def make():
            return nn.Linear(2, 2)
        self.body = make()
        self.body.weight.data.mul_(0.5)

print(Net().body(x))
""")
MADE_BY_OTHERS = cases("""
# case: a function is a parameter
MAKERS
class Net(nn.Module):
    def __init__(self, make=make):
        super().__init__()
        self.fc = make()
        self.fc.weight.data.mul_(0.5)
IN_CALL
# case: a function is bound by the constructor
MAKERS
LAYER
        for make in [lambda: other]:
            self.fc = make()
        self.fc.weight.data.mul_(0.5)
IN_USE
# case: a function is defined again
MAKERS
if x.requires_grad:
    def make():
        return KEPT
NET_MADE
IN_KEPT
# case: a function remembers
import functools
MAKERS
make = functools.lru_cache(None)(make)
NET_MADE
loss = Net().fc(x).pow(2).sum()
Net()
loss.backward()
print(x.grad)
# case: a function is rebound by another function
MAKERS
NET_MADE
def share():
    global make
    make = lambda: KEPT

share()
IN_KEPT
# case: an import comes after a function
MAKERS
from makers import *
NET_MADE
IN_KEPT
# file: makers.py
KEPT = nn.Linear(2, 2)
def make():
    return KEPT
# case: a class is rebound
MAKERS
Layer = lambda rows, columns: KEPT
NET_CLASS
IN_KEPT
# case: another file rebinds a class
import nets
from nets import KEPT, Net
nets.Layer = lambda rows, columns: KEPT
IN_KEPT
# file: nets.py
MAKERS
NET_CLASS
""")
GIVES_ITS_OWN = cases("""
# case: parts of parts of the file's own classes
class Block(nn.Module):
    expansion = 2

    def __init__(self):
        super().__init__()
        self.out = nn.Linear(2, 2)

    @property
    def width(self):
        return self.out.in_features

class Blocks(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Block(), Block()])

    def __getitem__(self, place):
        return self.layers[place]

    def __iter__(self):
        return iter(self.layers)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = Blocks()
        self.blocks[0].out.weight.data.mul_(0.5)
        for block in self.blocks:
            block.out.bias.data.mul_(0.5)

    @property
    def out(self):
        return self.blocks[1].out

print(Net().out(x))
""")
ANSWERED_BY_OTHERS = cases("""
# case: a class is given a method
BASE
class Net(Base):
    pass

Base.build = lambda self: SHARED
IN_BASE
# case: a class is given a method by its name
BASE
class Net(Base):
    pass

setattr(Base, "build", lambda self: SHARED)
IN_BASE
# case: another file gives a class a method
import base
from base import SHARED
base.Base.build = lambda self: SHARED
class Net(base.Base):
    pass
IN_BASE
# file: base.py
BASE
# case: a class is made by a call
BASE
Net = type("Net", (Base,), {"build": lambda self: SHARED})
IN_BASE
# case: a class is made by a call with what is not written there
BASE
Net = type("Net", (Base,), dict(build=lambda self: SHARED))
IN_BASE
# case: a function makes a class below what it is given
BASE
def shared(base):
    class Shared(base):
        def build(self):
            return SHARED
    return Shared

Net = shared(Base)
IN_BASE
# case: a class below what is computed
BASE
class Net([Base][0]):
    def build(self):
        return SHARED
IN_BASE
# case: a class below one of another name
BASE
First = Base if x.requires_grad else nn.Module
class Net(First):
    def build(self):
        return SHARED
IN_BASE
""")

SAFE = MADE_ANEW | PUT_IN | MADE_BY_ITS_OWN | GIVES_ITS_OWN
OPEN = HANDED_OUT | PUT_IN_OF_OTHERS | MADE_BY_OTHERS | ANSWERED_BY_OTHERS


@pytest.mark.parametrize("name", SAFE)
def test_a_write_into_a_part_that_was_made_there_is_repaired(name: str, tmp_path: Path) -> None:
    assert "main.py" in check_runs_alike(tmp_path, project(SAFE[name]))


@pytest.mark.parametrize("name", OPEN)
def test_a_write_into_a_part_of_others_is_left(name: str, tmp_path: Path) -> None:
    assert not check_runs_alike(tmp_path, project(OPEN[name]))
