"""What Python, arrays, modules and libraries do to values: rows of code, and what is known of an expression then."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.evaluation.evaluator import Evaluator
from torchlint.evaluation.oracles import Oracles
from torchlint.models.container_methods import gives_pairs
from torchlint.models.descent import constant, constants_of, descend, plain_attribute, truth_of
from torchlint.models.handed_calls import CALLING_WORDS
from torchlint.models.library_rows import FOREIGN, canonical
from torchlint.models.tests_of_values import kind_of_class
from torchlint.semantic.graph import TEXT_OF_PARTS
from torchlint.semantic.program import Program
from torchlint.values import abstract as a
from torchlint.values.abstract import Abstract
from torchlint.values.asking import Oracle
from torchlint.values.references import LibraryRef

KINDS = "TENSOR ARRAY SEQUENCE SIZE INTEGER SCALAR STRING NONE MODULE DEVICE DTYPE OTHER".split()
BEGIN = """
import collections, copy, functools, itertools, json, math, operator, random
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset
x = torch.ones(2, requires_grad=True)
h = torch.zeros(3)
net = nn.Linear(3, 3)
xs = [x, h]
d = {"a": x, "b": h}
"""


def facts(value: Abstract) -> str:
    """Spell a value: its kinds, and of tensors and modules whether they require grad and where they are."""
    if not value.kind:
        return "nothing"
    kinds = "anything" if value.kind == a.ANY else "|".join(w.lower() for w in KINDS if value.kind & getattr(a, w))
    if not value.kind & a.CARRIES:
        return kinds
    grad = "detached" if value.grad == a.SAFE else "live" if value.grad and not value.grad & a.SAFE else "open"
    place = "host" if value.device == a.SAFE else "accelerator" if not value.device & a.SAFE else "anywhere"
    return f"{kinds} {grad} {place}"


def known(tmp_path: Path, code: str, oracle: Oracle = Oracle.STRICT) -> list[str]:
    """Return what is known of each expression that the code hands to ``reveal``."""
    program = Program(str(tmp_path))
    file = program.add(str(tmp_path / "checked.py"), code.encode())
    evaluator: Evaluator = getattr(Oracles(program), oracle.name.lower())
    nodes = [file.node_of_call(each) for each in file.calls["reveal"]]
    return [facts(evaluator.value(node.arguments.positional[0])) for node in nodes if node is not None]


# ---------------------------------------------------------------------- Python
@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("list(xs)[0]", "tensor live host"),
        ("tuple(xs)[1]", "tensor detached host"),
        ("sorted(xs)[0]", "tensor open host"),
        ("list(zip(xs, [1, 2]))[0][1]", "integer"),
        ("[y for _, y in enumerate([h])][0]", "tensor detached host"),
        ("list(map(lambda t: t.detach(), xs))[0]", "tensor detached host"),
        ("list(filter(None, [h]))[0]", "tensor detached host"),
        ("list(reversed(xs))[0]", "tensor open host"),
        ("next(iter([h]))", "tensor detached host"),
        ("next(iter([h]), None)", "tensor|none detached host"),
        ("list(itertools.chain([h], [h]))[0]", "tensor detached host"),
        ("list(itertools.chain.from_iterable([[h]]))[0]", "tensor detached host"),
        ("list(itertools.islice(xs, 1))[0]", "tensor live host"),
        ("list(itertools.product([h], [1]))[0][0]", "tensor detached host"),
        ("list(itertools.product([h], [1]))[0][1]", "integer"),
        ("functools.reduce(lambda p, q: p + q, [h, h])", "tensor detached host"),
        ("functools.reduce(operator.mul, [x, x])", "tensor live host"),
        ("functools.partial(torch.add, x)(h)", "tensor live host"),
        ("sum([h, h])", "tensor detached host"),
        ("sum([1, 2])", "integer"),
        ("max([x, x])", "tensor live host"),
        ("max(1, 2)", "integer"),
        ("abs(x)", "tensor live host"),
        ("copy.deepcopy(h)", "tensor detached host"),
        ("getattr(x, 'data')", "tensor detached host"),
        ("operator.itemgetter('b')(d)", "tensor detached host"),
        ("operator.attrgetter('data')(x)", "tensor detached host"),
        ("random.choice([h])", "tensor detached host"),
    ],
)
def test_a_path_is_pushed_to_what_is_handed_over(tmp_path: Path, expression: str, expected: str) -> None:
    for oracle in (Oracle.PROOF, Oracle.STRICT):
        assert known(tmp_path, f"{BEGIN}reveal({expression})", oracle) == [expected]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("d['b']", "tensor detached host"),
        ("d.get('b')", "tensor|none detached host"),
        ("d.get('b', 1)", "tensor|integer detached host"),
        ("d.pop('a')", "tensor live host"),
        ("list(d.keys())[0]", "string"),
        ("list(d.values())[0]", "tensor open host"),
        ("[k for k, v in d.items()][0]", "string"),
        ("[v for k, v in {'c': h}.items()][0]", "tensor detached host"),
        ("d.copy()['b']", "tensor detached host"),
        ("dict(c=h)['c']", "tensor detached host"),
        ("dict(d)['b']", "tensor detached host"),
        ("dict(zip(['k'], [h]))['k']", "tensor detached host"),
        ("dict([('k', h)])['k']", "tensor detached host"),
        ("dict.fromkeys('ab', h)['a']", "tensor detached host"),
        ("collections.OrderedDict(d)['b']", "tensor detached host"),
        ("collections.Counter(xs)['a']", "integer"),
        ("collections.deque([h]).popleft()", "tensor detached host"),
        ("{1, 2}.union({3}).pop()", "integer"),
        ("collections.namedtuple('P', 'u v')(h, 3).u", "tensor detached host"),
        ("collections.namedtuple('P', 'u v')(h, 3)[1]", "integer"),
        ("collections.namedtuple('P', ['u'])(x)._replace(u=h).u", "tensor detached host"),
    ],
)
def test_containers_give_what_was_put_there(tmp_path: Path, expression: str, expected: str) -> None:
    assert known(tmp_path, f"{BEGIN}reveal({expression})") == [expected]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("len(xs)", "integer"),
        ("int(x)", "integer"),
        ("float(x)", "scalar"),
        ("bool(x)", "scalar"),
        ("str(x)", "string"),
        ("isinstance(x, int)", "scalar"),
        ("round(1.5)", "integer|scalar"),
        ("'a b'.split()[0]", "string"),
        ("'abc'.find('a')", "integer"),
        ("', '.join(['a'])", "string"),
        ("list(range(3))[0]", "integer"),
        ("hash(x)", "integer"),
        ("print(x)", "none"),
        ("x.shape[0]", "integer"),
    ],
)
def test_numbers_and_texts(tmp_path: Path, expression: str, expected: str) -> None:
    assert known(tmp_path, f"{BEGIN}reveal({expression})", Oracle.PROOF) == [expected]


# ---------------------------------------------------------------------- arrays and libraries
@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("np.zeros(3)", "array"),
        ("np.zeros(3).astype(int)", "array"),
        ("np.array([1]).sum()", "array|integer|scalar"),
        ("np.array([1]).tolist()", "sequence|integer|scalar"),
        ("np.where(h)[0]", "array|integer|scalar"),
        ("np.random.rand()", "scalar"),
        ("np.random.default_rng().normal(size=3)", "array|integer|scalar"),
    ],
)
def test_arrays(tmp_path: Path, expression: str, expected: str) -> None:
    assert known(tmp_path, f"{BEGIN}reveal({expression})", Oracle.PROOF) == [expected]


@pytest.mark.parametrize(
    "expression",
    ["pd.read_csv('a').values", "json.load(open('a'))['x'][0]", "pd.DataFrame(xs).iloc[0].mean()", "math.sqrt(2)"],
)
def test_nothing_of_what_holds_no_tensors_is_one(tmp_path: Path, expression: str) -> None:
    for oracle in (Oracle.PROOF, Oracle.STRICT):
        (found,) = known(tmp_path, f"{BEGIN}reveal({expression})", oracle)
        assert "tensor" not in found
        assert "anything" not in found


def test_tensors_of_other_frameworks_are_none_of_torchs(tmp_path: Path) -> None:
    code = "import tensorflow as tf, jax.numpy as jnp, paddle\nreveal(tf.zeros(3))\nreveal(tf.zeros(3).numpy())\n"
    found = known(tmp_path, f"{code}reveal(jnp.ones(3))\nreveal(paddle.zeros([2])[0])", Oracle.PROOF)
    assert all("tensor" not in each for each in found)


def test_libraries_by_their_rows(tmp_path: Path) -> None:
    code = """
import torchvision, torchaudio, gymnasium as gym
from torchvision import transforms
from transformers import AutoModel
from accelerate import Accelerator
reveal(torchvision.io.read_image("a"))
reveal(torchaudio.load("a")[0])
reveal(torchaudio.load("a")[1])
reveal(transforms.ToTensor()(3))
reveal(AutoModel.from_pretrained("a"))
reveal(AutoModel.from_pretrained("a", device_map="auto"))
reveal(Accelerator().prepare(AutoModel.from_pretrained("a"), 3)[1])
observation, _ = gym.make("a").reset()
reveal(observation)
"""
    assert known(tmp_path, code) == [
        "tensor detached host", "tensor detached host", "integer", "tensor detached host", "module live host",
        "module live anywhere", "integer", "array|sequence",
    ]  # fmt: skip


# ---------------------------------------------------------------------- modules
@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("net(h)", "tensor live host"),
        ("nn.ReLU()(h)", "tensor detached host"),
        ("nn.Dropout()(h)", "tensor detached host"),
        ("nn.ReLU()(net(h))", "tensor live host"),
        ("nn.MSELoss()(net(h), h)", "tensor live host"),
        ("nn.BatchNorm1d(3)(h)", "tensor live host"),
        ("nn.BatchNorm1d(3, affine=False)(h)", "tensor detached host"),
        ("nn.InstanceNorm1d(3)(h)", "tensor detached host"),
        ("nn.LayerNorm(3, elementwise_affine=False)(h)", "tensor detached host"),
        ("nn.Sequential(nn.ReLU(), nn.Tanh())(h)", "tensor detached host"),
        ("nn.Sequential(nn.ReLU(), nn.Linear(2, 3))(h)", "tensor live host"),
        ("nn.LSTM(2, 3)(h)[1]", "sequence"),
        ("nn.LSTM(2, 3)(h)[1][0]", "tensor live host"),
        ("nn.GRU(2, 3)(h)[1]", "tensor live host"),
        ("nn.MultiheadAttention(2, 1)(h, h, h)[1]", "tensor live host"),
        ("nn.MultiheadAttention(2, 1)(h, h, h, need_weights=False)[1]", "none"),
        ("nn.MaxPool1d(2, return_indices=True)(x)[1]", "tensor detached host"),
        ("nn.utils.rnn.pad_packed_sequence(nn.GRU(2, 3)(nn.utils.rnn.pack_sequence([h]))[0])[0]", "tensor live host"),
        ("net.weight", "tensor live host"),
        ("net.cuda().weight", "tensor live accelerator"),
        ("net.in_features", "integer"),
        ("nn.Linear(2, 3, bias=False).bias", "none"),
        ("nn.Linear(2, 3).requires_grad_(False)(h)", "tensor detached host"),
        ("nn.Linear(2, 3).requires_grad_(False).weight", "tensor detached host"),
        ("next(net.parameters())", "tensor live host"),
        ("[p for _, p in net.named_parameters()][0]", "tensor live host"),
        ("net.state_dict()['weight']", "tensor detached host"),
        ("net.state_dict(keep_vars=True)['weight']", "tensor live host"),
        ("net.to('cuda').state_dict()['weight']", "tensor detached accelerator"),
        ("nn.BatchNorm1d(3).running_mean", "tensor detached host"),
        ("nn.DataParallel(net)(h)", "tensor live host"),
        ("nn.DataParallel(net).module.weight", "tensor live host"),
        ("torch.compile(net)(h)", "tensor live host"),
        ("torch.jit.script(net)(h)", "tensor live host"),
        ("torch.utils.checkpoint.checkpoint(net, h)", "tensor live host"),
        ("torch.vmap(net)(h)", "tensor live host"),
        ("torch.optim.SGD(net.parameters()).param_groups[0]['params'][0]", "tensor live host"),
        ("torch.optim.SGD([{'params': [x]}]).param_groups[0]['params'][0]", "tensor live host"),
        ("torch.optim.LBFGS([x]).step(lambda: x * 2)", "tensor|none live host"),
        ("torch.distributions.Normal(net(h), 1.0).sample()", "tensor detached host"),
        ("torch.distributions.Normal(net(h), 1.0).rsample()", "tensor live host"),
        ("torch.distributions.Normal(net(h), 1.0).mean", "tensor live host"),
        ("torch.distributions.Categorical(logits=h).log_prob(h)", "tensor detached host"),
    ],
)
def test_modules(tmp_path: Path, expression: str, expected: str) -> None:
    for oracle in (Oracle.PROOF, Oracle.STRICT):
        assert known(tmp_path, f"{BEGIN}reveal({expression})", oracle) == [expected]


@pytest.mark.parametrize(
    ("made", "part"),
    [
        ("m = nn.ModuleList([nn.Linear(2, 2)])", "m[0]"),
        ("m = nn.ModuleList()\nm.append(nn.Linear(2, 2))", "m[0]"),
        ("m = nn.ModuleList()\nm.extend([nn.Linear(2, 2)])", "m[0]"),
        ("m = nn.ModuleList()\nm += [nn.Linear(2, 2)]", "m[0]"),
        ("m = nn.ModuleList([nn.Linear(2, 2)])", "[e for e in m][0]"),
        ("m = nn.ModuleDict({'a': nn.Linear(2, 2)})", "m['a']"),
        ("m = nn.ModuleDict({'a': nn.Linear(2, 2)})", "[e for _, e in m.items()][0]"),
        ("m = nn.Sequential(nn.Linear(2, 2))", "m[0]"),
        ("m = nn.Sequential(nn.Linear(2, 2)).eval()", "m[0]"),
        ("m = nn.Sequential(collections.OrderedDict([('a', nn.Linear(2, 2))]))", "m.a"),
    ],
)
def test_modules_that_hold_others_are_containers(tmp_path: Path, made: str, part: str) -> None:
    code = f"{BEGIN}{made}\nreveal({part})\nreveal({part}(h))\nreveal({part}.weight)"
    assert known(tmp_path, code) == ["module live host", "tensor live host", "tensor live host"]


def test_a_layer_that_is_given_what_is_on_the_host_is_there(tmp_path: Path) -> None:
    code = (
        f"{BEGIN}device = torch.device(input())\nmoved = nn.Linear(2, 2).to(device)\nreveal(moved(h))\nreveal(moved(y))"
    )
    assert known(tmp_path, code) == ["tensor live host", "tensor live anywhere"]


# ---------------------------------------------------------------------- data
DATA = """
class Samples(Dataset):
    def __getitem__(self, index):
        return torch.zeros(3), 1, {"k": np.zeros(3)}, "name"
def collate(samples):
    return torch.stack([each[0] for each in samples])
"""


@pytest.mark.parametrize(
    ("loader", "part", "expected"),
    [
        ("DataLoader(Samples())", "batch[0]", "tensor detached host"),
        ("DataLoader(Samples())", "batch[1]", "tensor detached host"),
        ("DataLoader(Samples())", "batch[2]['k']", "tensor detached host"),
        ("DataLoader(Subset(Samples(), [0]))", "batch[0]", "tensor detached host"),
        ("DataLoader(Samples(), collate_fn=collate)", "batch", "tensor detached host"),
        ("DataLoader(TensorDataset(h, h))", "batch[0]", "tensor detached host"),
        ("[Samples()[0]]", "batch[0]", "tensor detached host"),
    ],
)
def test_what_loaders_give(tmp_path: Path, loader: str, part: str, expected: str) -> None:
    assert known(tmp_path, f"{BEGIN}{DATA}for batch in {loader}:\n    reveal({part})") == [expected]


def test_a_loader_of_an_unknown_data_set_is_presumed_and_not_proven(tmp_path: Path) -> None:
    code = f"{BEGIN}import torchvision\nfor batch in DataLoader(torchvision.datasets.MNIST('a')):\n    reveal(batch[0])"
    assert known(tmp_path, code) == ["tensor|sequence|string|other detached host"]
    assert known(tmp_path, code, Oracle.PROOF) == ["tensor|sequence|string|other open anywhere"]


# ---------------------------------------------------------------------- parameters
ANNOTATED = """
from __future__ import annotations
import numpy as np, torch, tensorflow as tf
from typing import *
from torch import Tensor, nn
from jaxtyping import Float, Int
Batch = Dict[str, Tensor]
class Net(nn.Module):
    def forward(self, x): return x
"""


@pytest.mark.parametrize(
    ("annotation", "part", "expected"),
    [
        ("Tensor", "p", "tensor open anywhere"),
        ('"torch.Tensor"', "p", "tensor open anywhere"),
        ("torch.LongTensor", "p", "tensor detached anywhere"),
        ("Optional[Tensor]", "p", "tensor|none open anywhere"),
        ("Tensor | None", "p", "tensor|none open anywhere"),
        ("Union[int, str]", "p", "integer|string"),
        ("List[Tensor]", "p", "sequence"),
        ("List[Tensor]", "p[0]", "tensor open anywhere"),
        ("Iterable[int]", "[e for e in p][0]", "integer"),
        ("Tuple[Tensor, int]", "p[1]", "integer"),
        ("tuple[Tensor, ...]", "p[3]", "tensor open anywhere"),
        ("dict[str, Tensor]", "p['a']", "tensor open anywhere"),
        ("Batch", "p['a']", "tensor open anywhere"),
        ("np.ndarray", "p", "array"),
        ("Float[Tensor, 'b c']", "p", "tensor open anywhere"),
        ("Int[Tensor, '...']", "p", "tensor detached anywhere"),
        ("Annotated[Tensor, 3]", "p", "tensor open anywhere"),
        ("Callable[[int], int]", "p", "other"),
        ("Literal['a', 'b']", "p", "string"),
        ("torch.device", "p", "device"),
        ("torch.Size", "p", "size"),
        ("nn.Module", "p", "module open anywhere"),
        ("nn.Linear", "p.weight", "tensor open anywhere"),
        ("Net", "p", "module live anywhere"),
        ("tf.Tensor", "p.numpy()", "array|sequence|integer|scalar|string|none|other"),
        ("Any", "p", "anything open anywhere"),
        ("float", "p", "integer|scalar"),
    ],
)
def test_annotations(tmp_path: Path, annotation: str, part: str, expected: str) -> None:
    code = f"{ANNOTATED}def f(p: {annotation}):\n    reveal({part})"
    assert known(tmp_path, code) == [expected]
    assert known(tmp_path, code, Oracle.PROOF)[0].startswith("anything")


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("def f(p=3):", "integer|scalar"),
        ("def f(p='cpu'):", "string"),
        ("def f(p=-1.0):", "integer|scalar"),
        ("def f(p=None):", "anything open anywhere"),
        ("def f(*p):", "sequence"),
        ("def f(**p):", "sequence"),
        (
            "def collate_fn(p):",
            "tensor|array|sequence|size|integer|scalar|string|none|device|dtype|other detached host",
        ),
        ("class D:\n  def __getitem__(self, p):", "array|sequence|integer|string|other"),
        ("class L:\n  def training_step(self, b, p):", "integer"),
    ],
)
def test_parameters_by_default_and_convention(tmp_path: Path, header: str, expected: str) -> None:
    assert known(tmp_path, f"{header}\n    reveal(p)") == [expected]


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ("Args:\n        p (torch.Tensor): the input", "tensor open anywhere"),
        ("p : torch.LongTensor\n        the ids", "tensor detached anywhere"),
        (":type p: numpy.ndarray", "array"),
        (":param torch.Tensor p: it", "tensor open anywhere"),
        ("Args:\n        p (list of Tensor): several", "anything open anywhere"),
        ("Args:\n        p (tf.Tensor): of another framework", "anything open anywhere"),
    ],
)
def test_docstrings(tmp_path: Path, docstring: str, expected: str) -> None:
    code = f'def f(p):\n    """What it does.\n\n    {docstring}\n    """\n    reveal(p)'
    assert known(tmp_path, code) == [expected]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("y[p]", "anything detached anywhere"),
        ("y[..., p]", "anything detached anywhere"),
        ("y.gather(1, p)", "anything detached anywhere"),
        ("torch.gather(y, 1, p)", "anything detached anywhere"),
        ("y.index_select(dim=0, index=p)", "anything detached anywhere"),
        ("~p", "anything detached anywhere"),
        ("range(p)", "integer|scalar"),
        ("math.ceil(p)", "integer|scalar"),
        ("y[p] if isinstance(p, torch.Tensor) else p", "anything open anywhere"),
        ("p[0]", "anything open anywhere"),
    ],
)
def test_what_a_parameter_is_used_for_says_what_it_is(tmp_path: Path, statement: str, expected: str) -> None:
    code = f"import math, torch\ndef f(y, p):\n    reveal(p)\n    {statement}"
    assert known(tmp_path, code) == [expected]
    assert known(tmp_path, code, Oracle.PROOF) == ["anything open anywhere"]


def test_a_test_wins_over_an_annotation(tmp_path: Path) -> None:
    code = f"{ANNOTATED}def f(p: List[int]):\n    if torch.is_tensor(p):\n        reveal(p)\n    reveal(p)"
    assert known(tmp_path, code) == ["tensor open anywhere", "tensor|sequence open anywhere"]


@pytest.mark.parametrize(
    ("test", "if_true", "if_false"),
    [
        ("isinstance(p, torch.Tensor)", "tensor open anywhere", None),
        ("torch.is_tensor(p)", "tensor open anywhere", None),
        ("isinstance(p, np.ndarray)", "array", None),
        ("isinstance(p, (list, tuple))", "sequence|size", "anything open anywhere"),
        ("isinstance(p, str)", "string", "anything open anywhere"),
        ("isinstance(p, Net)", "module open anywhere", "anything open anywhere"),
        ("p is None", "none", None),
        ("p.requires_grad", "anything live anywhere", "anything detached anywhere"),
        ("p.is_cuda", "anything open accelerator", "anything open host"),
    ],
)
def test_narrowing(tmp_path: Path, test: str, if_true: str, if_false: str | None) -> None:
    code = f"{ANNOTATED}def f(p):\n    if {test}:\n        reveal(p)\n    else:\n        reveal(p)"
    for oracle in (Oracle.PROOF, Oracle.STRICT):
        found = known(tmp_path, code, oracle)
        assert found[0] == if_true
        assert found[1] == if_false if if_false else if_true.split(maxsplit=1)[0] not in found[1].split()[0].split("|")


def test_methods_of_what_is_not_known_say_what_it_is_but_in_a_proof(tmp_path: Path) -> None:
    code = "def f(p):\n    reveal(p.detach())\n    reveal(p.cpu().numpy())\n    reveal(p.item())\n    reveal(p.foo())"
    assert known(tmp_path, code) == ["tensor detached anywhere", "array", "integer|scalar", "anything open anywhere"]
    assert known(tmp_path, code, Oracle.PROOF) == ["anything open anywhere"] * 4


# ---------------------------------------------------------------------- who calls what it is handed
@pytest.mark.parametrize(
    "statement",
    [
        "concurrent.futures.ThreadPoolExecutor().submit(helper, h)",
        "threading.Thread(target=helper, args=(h,)).start()",
        "list(map(helper, [h]))",
        "multiprocessing.Pool().apply_async(helper, (h,))",
        "list(itertools.starmap(helper, [(h,)]))",
        "sorted([h], key=helper)",
        "torch.utils.checkpoint.checkpoint(helper, h)",
    ],
)
def test_a_function_that_is_handed_over_is_called(tmp_path: Path, statement: str) -> None:
    imports = "import concurrent.futures, multiprocessing, threading\n"
    code = f"{BEGIN}{imports}def helper(p):\n    reveal(p)\n    return p\n{statement}"
    assert known(tmp_path, code, Oracle.CALLERS) == ["tensor detached host"]


def test_what_executors_give(tmp_path: Path) -> None:
    code = f"""{BEGIN}
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor() as pool:
    reveal(pool.submit(lambda t: t * 2, h).result())
    reveal([e for e in pool.map(lambda t: t * 2, [x])][0])
"""
    assert known(tmp_path, code) == ["tensor detached host", "tensor live host"]


# ---------------------------------------------------------------------- small facts
def test_constants_and_their_truth() -> None:
    assert [truth_of(constant(each)) for each in (0, 1, "", "a", None, False)] == [
        False,
        True,
        False,
        True,
        False,
        False,
    ]
    assert truth_of(constant(TEXT_OF_PARTS)) is None
    assert constants_of(a.join(constant(1), constant(None))) == frozenset((1, None))
    assert (constant(True).kind, constant(1).kind) == (a.SCALAR, a.INTEGER)


def test_what_cannot_be_entered_gives_nothing() -> None:
    assert descend(a.AN_INTEGER, (0,)) is a.BOTTOM
    assert descend(a.A_TEXT, (0,)) == a.A_TEXT
    assert descend(a.of_kind(a.SIZE), (0,)).kind == a.INTEGER
    assert descend(a.tensor(rank=4), (0,)).rank == 2
    assert descend(a.unknown(a.OF_PARAM), ("=a",)).grad == a.SAFE | a.OF_PARAM


def test_attributes_of_a_tensor() -> None:
    live = a.tensor(a.SURE, a.SURE, a.FLOAT32)
    assert plain_attribute(live, "data", None).grad == a.SAFE
    assert plain_attribute(live, "grad", None).kind == a.TENSOR | a.NONE
    assert plain_attribute(live, "device", None).device == a.SURE
    assert plain_attribute(live, "dtype", None).dtype == a.FLOAT32
    assert plain_attribute(live, "shape", None).kind == a.SIZE
    assert plain_attribute(live, "ndim", None).kind == a.INTEGER
    assert truth_of(plain_attribute(a.tensor(), "is_cuda", None)) is False
    assert truth_of(plain_attribute(a.tensor(), "requires_grad", None)) is False
    assert truth_of(plain_attribute(live, "requires_grad", None)) is None


def test_one_spelling_for_each_name() -> None:
    assert canonical("torch.nn.modules.linear.Linear") == "torch.nn.Linear"
    assert canonical("torch.autograd.variable.Variable") == "torch.autograd.Variable"
    assert canonical("pytorch_lightning.Trainer") == "lightning.Trainer"
    assert canonical("torch.autograd.no_grad") == "torch.no_grad"
    assert "torch" not in FOREIGN


def test_kinds_of_classes() -> None:
    assert kind_of_class(LibraryRef("torch.Tensor")) == (a.TENSOR, True)
    assert kind_of_class(LibraryRef("numpy.ndarray")) == (a.ARRAY, True)
    assert kind_of_class(LibraryRef("builtins.list")) == (a.SEQUENCE, False)
    assert kind_of_class(LibraryRef("somewhere.Thing")) == (0, False)


def test_the_words_of_calls_that_call_what_they_are_handed() -> None:
    assert {"submit", "map", "Thread", "partial", "register_hook", "DataLoader", "checkpoint"} <= CALLING_WORDS
    assert callable(gives_pairs)
