"""What torch does to tensors, as the models say it: held against rows that were measured, and against torch itself."""

from __future__ import annotations

import ast
import warnings
from typing import Any

import pytest

from tests.tensor_expressions import FN, FakeAsker, node_of, told
from torchlint.models import grad_modes, inplace_changes, operation_sets
from torchlint.models.combined_operands import result_kinds
from torchlint.models.dtype_promotion import promoted, with_number
from torchlint.models.operator_results import arithmetic
from torchlint.models.rank_rules import broadcast, multiplied
from torchlint.models.tensor_moves import cast, dtype_of, place_of
from torchlint.semantic import graph as g
from torchlint.values import abstract as a
from torchlint.values.abstract import Abstract, join, of_kind, tensor, unknown
from torchlint.values.asking import OFF, ON, Oracle
from torchlint.values.references import ConstantRef

AT = g.Node(g.OPAQUE, (), None, None, FN, None)
LIVE = tensor(a.SURE, a.SAFE, a.FLOAT32, a.RANKS[2], AT)
PLAIN = tensor(a.SAFE, a.SAFE, a.FLOAT32, a.RANKS[2])
IDS = tensor(a.SAFE, a.SAFE, a.INT64, a.RANKS[2])
MASK = tensor(a.SAFE, a.SAFE, a.BOOL, a.RANKS[2])
SCALAR = tensor(a.SURE, a.SAFE, a.FLOAT32, a.RANKS[0], AT)
ON_GPU = tensor(a.SAFE, a.SURE, a.FLOAT32, a.RANKS[2], None, AT)
UNKNOWN = unknown(a.OF_PARAM, AT)
DEVICE = Abstract(a.DEVICE, 0, a.SAFE | a.OPTION, 0, 0)
NAMES = {
    "live": LIVE, "plain": PLAIN, "ids": IDS, "mask": MASK, "scalar": SCALAR, "gpu": ON_GPU, "unknown": UNKNOWN,
    "device": DEVICE, "array": a.AN_ARRAY, "size": of_kind(a.SIZE), "n": a.AN_INTEGER, "ratio": of_kind(a.SCALAR),
    "text": a.A_TEXT,
}  # fmt: skip


def said(text: str, mode: int = ON, oracle: Oracle = Oracle.STRICT, path: tuple[str | int, ...] = ()) -> Abstract:
    return told(text, NAMES, FakeAsker(mode, oracle), path)


# ---------------------------------------------------------------------- gradients
DETACHED = """
live.detach(); live.data; live.grad; live.argmax(1); live > 0; live == live; live.long(); live.bool(); live.max(1)[1]
live.max(1).indices; live.topk(3)[1]; live.sort()[1]; torch.max(live, 1)[-1]; torch.zeros(3); torch.zeros_like(live)
live.new_zeros(3); torch.tensor(live); torch.autograd.Variable(live); torch.autograd.Variable(live, volatile=True)
torch.autograd.grad(live, plain)[0]; torch.nn.Parameter(plain, requires_grad=False); torch.nn.Parameter(ids, False)
torch.from_numpy(array); live.int() / 2; live.isnan(); live.floor_divide(ids).long(); torch.where(live > 0)[0]
plain * ids; mask & mask; torch.nn.utils.clip_grad_norm_(live, 1.0); live.requires_grad_(False); torch.randint(3, (2,))
torch.zeros(3, dtype=torch.int64, requires_grad=False); plain.requires_grad_(False); torch.multinomial(live, 1)
live.view(torch.int32); torch.nn.functional.one_hot(ids); live.nonzero(); live.to(torch.long)
live.type("torch.LongTensor"); torch.detach(live); torch.Tensor.detach(live)
"""
REQUIRES = """
torch.zeros(3, requires_grad=True); plain.requires_grad_(); torch.nn.Parameter(plain); live.T; live[0]
torch.nn.parameter.Parameter(plain); torch.autograd.Variable(plain, requires_grad=True)
torch.autograd.Variable(plain, True); torch.tensor(1.0, requires_grad=True)
torch.autograd.functional.jacobian(plain, live, create_graph=True); torch.nn.init.normal_(live)
live.view(3); live.cpu(); live.float(); live.unsqueeze(0); torch.as_tensor(live); torch.Tensor(live)
"""
COMPUTED = """
live * 2; live + plain; torch.relu(live); torch.nn.functional.softmax(live, 1); live.max(1)[0]; live.clone()
live.half(); torch.cat([live, plain]); torch.stack((plain, live)); live.sum(); live.mean(0); live.where(mask, plain)
torch.where(mask, live, 0.0)
live[mask]; live[ids]; live.exp(); torch.nn.functional.cross_entropy(live, ids); live @ live; -live; live.double()
torch.linalg.norm(live); torch.Tensor.mul(live, 2); live.gather(1, ids); torch.nn.utils.rnn.pad_sequence([live, plain])
"""


def rows(text: str) -> list[str]:
    return [each.strip() for each in text.replace("\n", ";").split(";") if each.strip()]


@pytest.mark.parametrize("text", rows(DETACHED))
def test_what_never_requires_grad(text: str) -> None:
    for oracle in (Oracle.STRICT, Oracle.PROOF):
        found = said(text, ON, oracle)
        assert found.kind & a.TENSOR
        assert not found.may_require_grad


@pytest.mark.parametrize("text", rows(REQUIRES))
def test_what_requires_grad_whatever_the_mode(text: str) -> None:
    for mode in (ON, OFF):
        found = said(text, mode)
        assert (found.grad, found.dtype & a.FLOATING != 0) == (a.SURE, True)
        assert found.grad_from is not None


@pytest.mark.parametrize("text", rows(COMPUTED))
def test_what_requires_grad_only_with_grad_mode(text: str) -> None:
    assert said(text, ON).grad & a.SURE
    assert not said(text, OFF).may_require_grad


def test_an_unknown_operand_beside_a_tensor_is_a_number_as_likely() -> None:
    assert said("plain * unknown").grad == a.SAFE
    assert said("plain * unknown", oracle=Oracle.PROOF).grad == a.SAFE | a.OF_PARAM
    assert said("torch.relu(unknown)").grad & a.OF_PARAM
    assert said("torch.matmul(plain, unknown)").grad & a.OF_PARAM  # which takes no numbers
    own = NAMES | {"unknown": Abstract(a.ANY, a.SAFE | a.MODULE_OUT, a.SAFE)}
    assert told("plain * unknown", own, FakeAsker()).grad == a.SAFE | a.MODULE_OUT


def test_a_move_copies_only_what_is_elsewhere() -> None:
    there = NAMES | {"moved": tensor(a.SURE, a.SURE, a.FLOAT32)}
    off = FakeAsker(OFF)
    assert told("moved.cpu()", there, off).grad == a.SAFE
    assert told("moved.cuda()", there, off).grad == a.SAFE | a.SURE
    assert told("live.cuda()", there, off).grad == a.SAFE
    assert told("live.to(device)", there, off).grad == a.SAFE | a.SURE
    assert told("live.float()", there, off).grad == a.SURE
    assert told("live.double()", there, off).grad == a.SAFE


def test_create_graph_keeps_a_graph() -> None:
    assert said("torch.autograd.grad(live, plain, create_graph=True)[0]").grad == a.SAFE | a.SURE
    assert said("torch.autograd.grad(live, plain, create_graph=unknown)[0]").grad == a.SAFE | a.OPTION


# ---------------------------------------------------------------------- places
@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("torch.zeros(3)", a.SAFE),
        ("torch.zeros(3, device='cpu')", a.SAFE),
        ("torch.zeros(3, device='meta')", a.SAFE),
        ("torch.zeros(3, device='cuda:0')", a.SURE),
        ("torch.zeros(3, device=device)", a.SAFE | a.OPTION),
        ("torch.zeros(3, device=None)", a.SAFE),
        ("torch.zeros(3, device=torch.device('cuda', 0))", a.SURE),
        ("torch.zeros(3, device=torch.device(device))", a.SAFE | a.OPTION),
        ("torch.zeros(3, device=gpu.device)", a.SURE),
        ("torch.zeros(3, device=0)", a.SURE),
        ("torch.zeros_like(gpu)", a.SURE),
        ("torch.zeros_like(gpu, device='cpu')", a.SAFE),
        ("gpu.new_zeros(3)", a.SURE),
        ("torch.tensor(gpu)", a.SURE),
        ("torch.tensor([gpu])", a.SAFE),
        ("torch.from_numpy(array)", a.SAFE),
        ("torch.cuda.FloatTensor(3)", a.SURE),
        ("torch.FloatTensor(3)", a.SAFE),
        ("plain.cuda()", a.SURE),
        ("plain.xpu()", a.SURE),
        ("gpu.cpu()", a.SAFE),
        ("gpu.to('cpu')", a.SAFE),
        ("gpu.to(torch.device('cpu'))", a.SAFE),
        ("gpu.to(device='cpu', dtype=torch.float64)", a.SAFE),
        ("plain.to('cuda', torch.half)", a.SURE),
        ("plain.to(gpu)", a.SURE),
        ("gpu.to(torch.float64)", a.SURE),
        ("gpu.to(dtype=torch.float64)", a.SURE),
        ("plain.to(device)", a.SAFE | a.OPTION),
        ("plain.to(unknown)", a.SAFE | a.OPTION),
        ("plain.to(text)", a.SAFE | a.OPTION),
        ("plain.to('cuda', non_blocking=True)", a.SURE),
        ("plain.type('torch.cuda.FloatTensor')", a.SURE),
        ("gpu.type(torch.FloatTensor)", a.SAFE),
        ("gpu.type(torch.float64)", a.SURE),
        ("plain.type_as(gpu)", a.SURE),
        ("gpu * 2", a.SURE),
        ("gpu + plain", a.SURE),
        ("scalar * plain", a.SAFE),
        ("torch.cat([gpu, gpu])", a.SURE),
        ("gpu[mask]", a.SURE),
        ("gpu.pin_memory()", a.SURE),
        ("torch.load('x', map_location='cpu')", a.SAFE),
        ("torch.load('x')", a.SAFE | a.OF_CALL),
        ("torch.cuda.get_rng_state()", a.SAFE),
        ("torch.nn.Parameter(gpu)", a.SURE),
        ("torch.autograd.Variable(gpu)", a.SURE),
        ("torch.autograd.grad(plain, gpu)[0]", a.SURE),
    ],
)  # fmt: skip
def test_where_a_tensor_is(text: str, place: int) -> None:
    found = said(text)
    assert found.device == place
    assert (found.device_from is not None) == bool(place & ~a.SAFE)


def test_factories_follow_the_default_device() -> None:
    there = FakeAsker(device=a.SURE)
    followed = {
        text: told(text, NAMES, there).device for text in ("torch.zeros(3)", "torch.tensor(1)", "torch.rand(2)")
    }
    assert set(followed.values()) == {a.SURE}
    for text in ("torch.from_numpy(array)", "torch.zeros_like(plain)", "torch.FloatTensor(3)", "plain.new_zeros(3)"):
        assert told(text, NAMES, there).device == a.SAFE


def test_a_tensor_without_dimensions_brings_no_place_beside_others() -> None:
    possible = NAMES | {"zero": tensor(a.SAFE, a.SAFE | a.OPTION, a.FLOAT32, a.RANKS[0])}
    assert told("plain * zero", possible, FakeAsker()).device == a.SAFE


@pytest.mark.parametrize(
    ("value", "bits"),
    [
        (of_kind(a.STRING, frozenset({ConstantRef("cuda", str), ConstantRef("cpu", str)})), a.SAFE | a.SURE),
        (of_kind(a.STRING, frozenset({ConstantRef("auto", str)})), a.SAFE | a.OPTION),
        (a.A_TEXT, a.SAFE | a.OPTION),
        (a.AN_INTEGER, a.SURE),
        (a.NOTHING, a.SAFE),
        (UNKNOWN, a.SAFE | a.OPTION),
        (DEVICE, a.SAFE | a.OPTION),
    ],
)
def test_what_a_device_means(value: Abstract, bits: int) -> None:
    assert place_of(value, AT)[0] == bits


# ---------------------------------------------------------------------- dtypes and dimensions
@pytest.mark.parametrize(
    ("text", "dtype", "rank"),
    [
        ("torch.tensor(1)", a.INT64, 0),
        ("torch.tensor([1, 2])", a.INT64, 1),
        ("torch.tensor([[1, 2.0]])", a.FLOAT32, 2),
        ("torch.tensor([True])", a.BOOL, 1),
        ("torch.tensor([plain, plain])", a.FLOAT32, 3),
        ("torch.arange(3)", a.INT64, 1),
        ("torch.arange(0, 1, 0.1)", a.FLOAT32, 1),
        ("torch.full((2, 3), 1)", a.INT64, 2),
        ("torch.zeros(2, 3)", a.FLOAT32, 2),
        ("torch.zeros((2, 3, 4))", a.FLOAT32, 3),
        ("torch.zeros(n)", a.FLOAT32, 1),
        ("torch.ones(2, dtype=torch.long)", a.INT64, 1),
        ("torch.ones(2, dtype=float)", a.FLOAT64, 1),
        ("torch.randint(3, (2,))", a.INT64, None),
        ("torch.LongTensor(3)", a.INT64, 1),
        ("torch.FloatTensor(2, 3)", a.FLOAT32, 2),
        ("plain.double()", a.FLOAT64, 2),
        ("ids / 2", a.FLOAT32, 2),
        ("ids // 2", a.INT64, 2),
        ("ids * 2.0", a.FLOAT32, 2),
        ("ids + scalar", a.FLOAT32, 2),
        ("mask.sum()", a.INT64, 0),
        ("mask * 2", a.INT64, 2),
        ("live < 1", a.BOOL, 2),
        ("live.argmax()", a.INT64, 0),
        ("live.argmax(-1)", a.INT64, 1),
        ("live.sum()", a.FLOAT32, 0),
        ("live.sum(0)", a.FLOAT32, 1),
        ("live.sum(0, keepdim=True)", a.FLOAT32, 2),
        ("live.max(0)[0]", a.FLOAT32, 1),
        ("live.unsqueeze(0)", a.FLOAT32, 3),
        ("live.view(-1)", a.FLOAT32, 1),
        ("live.reshape(2, 3, 4)", a.FLOAT32, 3),
        ("live[0]", a.FLOAT32, 1),
        ("live[0, 1]", a.FLOAT32, 0),
        ("live[None]", a.FLOAT32, 3),
        ("live @ live", a.FLOAT32, 2),
        ("live.matmul(live[0])", a.FLOAT32, 1),
        ("torch.stack([live, live])", a.FLOAT32, 3),
        ("torch.nn.functional.mse_loss(live, plain)", a.FLOAT32, 0),
        ("torch.nn.functional.mse_loss(live, plain, reduction='none')", a.FLOAT32, None),
        ("torch.nn.functional.embedding(ids, plain)", a.FLOAT32, None),
        ("live.softmax(1, torch.float64)", a.FLOAT64, 2),
        ("torch.where(mask, 1, 0)", a.INT64, 2),
    ],
)  # fmt: skip
def test_dtype_and_dimensions(text: str, dtype: int, rank: int | None) -> None:
    found = said(text)
    assert found.dtype == dtype
    assert found.rank == (a.ANY_RANK if rank is None else a.RANKS[rank])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("live.shape", a.SIZE), ("live.size()", a.SIZE), ("live.size(0)", a.INTEGER), ("live.item()", a.SCALAR),
        ("ids.sum().item()", a.INTEGER), ("live.tolist()", a.SEQUENCE), ("live.detach().numpy()", a.ARRAY),
        ("live.max(1)", a.SEQUENCE), ("live.max()", a.TENSOR), ("torch.max(live, plain)", a.TENSOR),
        ("live.split(2)", a.SEQUENCE), ("live.type()", a.STRING), ("live.dim()", a.INTEGER),
        ("live.grad", a.TENSOR | a.NONE),
        ("torch.is_tensor(live)", a.SCALAR), ("torch.cuda.is_available()", a.SCALAR), ("live.requires_grad", a.SCALAR),
        ("torch.device('cpu')", a.DEVICE), ("live.device", a.DEVICE), ("live.dtype", a.DTYPE),
        ("live == None", a.SCALAR),
        ("n * 2", a.INTEGER), ("n / 2", a.NUMBER), ("text % live", a.STRING), ("array * ratio", a.ARRAY | a.SCALAR),
        ("live.unique(return_counts=True)", a.SEQUENCE), ("live.unique()", a.TENSOR), ("array * live", a.TENSOR),
        ("live.backward()", a.NONE), ("unknown * live", a.TENSOR), ("torch.cuda.device_count()", a.INTEGER),
    ],
)  # fmt: skip
def test_kinds(text: str, kind: int) -> None:
    assert said(text).kind in (kind, a.SCALAR if text == "n / 2" else kind)


def test_promotion_is_torch_s() -> None:
    torch = pytest.importorskip("torch")
    bits = {getattr(torch, name): bit for bit, name in a.EXACT.items() if hasattr(torch, name)}
    ones = {dtype: (torch.ones(2).to(dtype), torch.ones(()).to(dtype)) for dtype in bits}
    for one, (large, zero) in ones.items():
        for two, (other, _) in ones.items():
            assert promoted(bits[one], bits[two], a.RANKS[1], a.RANKS[1]) & bits[torch.promote_types(one, two)]
            assert promoted(bits[one], bits[two], a.RANKS[0], a.RANKS[1]) == bits.get(
                torch.result_type(zero, other), a.OTHER_FLOAT
            )
        for number, sort in ((True, a.BOOL), (1, a.INT64), (1.0, a.FLOAT32), (1j, a.COMPLEX64)):
            expected = bits.get(torch.result_type(large, number), a.OTHER_FLOAT)
            assert with_number(bits[one], sort, a.FLOAT32) == expected


def test_sets_of_ranks() -> None:
    assert broadcast(a.RANKS[0] | a.RANKS[2], a.RANKS[1]) == a.RANKS[1] | a.RANKS[2]
    assert multiplied(a.RANKS[1], a.RANKS[1]) == a.RANKS[0]
    assert multiplied(a.RANKS[3], a.RANKS[2]) == a.RANKS[3]


def test_operators_on_kinds() -> None:
    assert result_kinds(a.ANY, a.TENSOR, "+") & a.TENSOR
    assert result_kinds(a.SEQUENCE, a.INTEGER, "*") == a.SEQUENCE
    assert result_kinds(a.NONE, a.INTEGER, "+") == 0
    assert all(result_kinds(a.ANY, one, "*") & result_kinds(two, one, "*") == result_kinds(two, one, "*")
               for one in (a.TENSOR, a.INTEGER) for two in (a.STRING, a.TENSOR, a.SIZE))  # fmt: skip


def test_casts() -> None:
    assert cast(LIVE, a.INT64).grad == a.SAFE
    assert cast(cast(LIVE, a.INT64), a.FLOAT32).grad == a.SAFE
    assert cast(LIVE, a.FLOAT64).grad == a.SURE
    assert dtype_of(of_kind(a.STRING, frozenset({ConstantRef("torch.LongTensor", str)}))) == a.INT64
    assert dtype_of(UNKNOWN) is None


# ---------------------------------------------------------------------- changes
def changed(word: str, arguments: str, before: Abstract = PLAIN, mode: int = ON) -> Abstract:
    call = node_of(ast.parse(f"x.{word}({arguments})", mode="eval").body, NAMES | {"x": before})
    node = g.Node(g.INPLACE, (call.ins[0].ins[0], call), word, None, FN, None)
    return inplace_changes.changed(FakeAsker(mode), before, word, node, (), None)


def test_an_operand_brings_a_tensor_into_its_graph() -> None:
    for word, arguments in (("add_", "live"), ("copy_", "live"), ("mul_", "live"), ("index_add_", "0, ids, live")):
        assert changed(word, arguments).grad == a.SURE
        assert changed(word, arguments, mode=OFF).grad == a.SAFE
    assert changed("add_", "unknown").grad == a.SAFE
    assert changed("add_", "live", IDS).grad == a.SAFE
    assert changed("zero_", "", LIVE).grad == a.SURE
    assert changed("detach_", "", LIVE).grad == a.SAFE
    assert changed("requires_grad_", "").grad == a.SURE
    assert changed("requires_grad_", "unknown").grad == a.SAFE | a.OPTION


def test_a_module_is_moved_and_frozen() -> None:
    module = Abstract(a.MODULE, 0, a.SAFE, 0, 0)
    assert changed("cuda", "", module).device == a.SURE
    assert changed("requires_grad_", "False", module).grad == a.SAFE
    assert changed("to", "device", module).device == a.SAFE | a.OPTION
    assert changed("cuda", "", PLAIN).device == a.SAFE  # a tensor's gives another tensor


def test_stores_and_attributes() -> None:
    live = node_of(ast.parse("live", mode="eval").body, NAMES)
    assert inplace_changes.grown(FakeAsker(), PLAIN, live, AT, None).grad == a.SURE
    assert inplace_changes.grown(FakeAsker(OFF), PLAIN, live, AT, None).grad == a.SAFE

    def after(word: str, value: Abstract, before: Abstract = PLAIN) -> Abstract:
        return inplace_changes.after_setter(FakeAsker(), before, word, value, AT)

    true = of_kind(a.SCALAR, frozenset({ConstantRef(True, bool)}))
    assert after("requires_grad", true).grad == a.SURE
    assert after("requires_grad", of_kind(a.SCALAR)).grad == a.SAFE | a.OPTION
    assert after("data", ON_GPU, LIVE).grad == a.SURE
    assert after("data", ON_GPU, LIVE).device == a.SURE


def test_augmented_assignment_keeps_what_the_tensor_is() -> None:
    asker, off = FakeAsker(), FakeAsker(OFF)
    assert arithmetic(asker, [PLAIN, LIVE], "+=", AT, None).grad == a.SURE
    assert arithmetic(off, [PLAIN, LIVE], "+=", AT, None).grad == a.SAFE
    assert arithmetic(off, [LIVE, PLAIN], "-=", AT, None).grad == a.SURE
    assert arithmetic(off, [a.A_NUMBER, LIVE], "+=", AT, None).grad == a.SAFE
    assert arithmetic(asker, [PLAIN, tensor(a.SAFE, a.SAFE, a.FLOAT64)], "*=", AT, None).dtype == a.FLOAT32


# ---------------------------------------------------------------------- process variables
@pytest.mark.parametrize(
    ("text", "modes"),
    [
        ("torch.no_grad()", {False}), ("torch.autograd.no_grad()", {False}), ("torch.enable_grad()", {True}),
        ("torch.inference_mode()", {False}), ("torch.inference_mode(False)", {True}), ("torch.no_grad", {False}),
        ("torch.set_grad_enabled(False)", {False}), ("torch.set_grad_enabled(ratio)", {True, False}),
        ("torch.inference_mode(mode=ratio)", {True, False}), ("torch.autocast('cuda')", None),
        ("torch.cuda.device(0)", None), ("torch.device('cuda')", None), ("unknown", None),
    ],
)  # fmt: skip
def test_grad_modes_of_managers(text: str, modes: set[bool] | None) -> None:
    node = node_of(ast.parse(text, mode="eval").body, NAMES)
    found = grad_modes.entered(FakeAsker(), g.GRAD, node, None)
    assert (found and {each.value for each in found.references if isinstance(each, ConstantRef)}) == modes


def test_default_devices_and_dtypes() -> None:
    def entered(text: str) -> Abstract | None:
        return grad_modes.entered(FakeAsker(), g.DEVICE, node_of(ast.parse(text, mode="eval").body, NAMES), None)

    def after(variable: str, text: str) -> Abstract | None:
        return grad_modes.after_call(FakeAsker(), variable, node_of(ast.parse(text, mode="eval").body, NAMES), None)

    assert entered("torch.cuda.device(0)") is None
    for found, place in (
        (entered("torch.device('cuda')"), a.SURE),
        (entered("device"), a.SAFE | a.OPTION),
        (after(g.DEVICE, "torch.set_default_device('cuda')"), a.SURE),
        (after(g.DEVICE, "torch.set_default_tensor_type('torch.cuda.FloatTensor')"), a.SURE),
    ):
        assert found is not None
        assert (found.kind, found.device) == (a.DEVICE, place)
    for text in ("torch.set_default_dtype(torch.float64)", "torch.set_default_tensor_type(torch.DoubleTensor)"):
        told_dtype = after(g.DTYPE, text)
        assert told_dtype is not None
        assert told_dtype.dtype == a.FLOAT64
    off = after(g.GRAD, "torch.set_grad_enabled(False)")
    assert off is not None
    assert off.key() == grad_modes.GRAD_OFF.key()
    assert after(g.GRAD, "torch.relu(plain)") is None


# ---------------------------------------------------------------------- beside torch itself
ARGUMENTS = ("", "1", "0, True", "f", "i", "z", "2.0", "1, k", "b, 1.0", "dim=1", "3, 3")


def test_what_torch_does_lies_within_what_is_said() -> None:
    """Run every method with a few arguments, with grad mode on and off, and look at what comes out."""
    torch: Any = pytest.importorskip("torch")
    bits = {getattr(torch, name): bit for bit, name in a.EXACT.items() if hasattr(torch, name)}
    torch.manual_seed(0)
    values = {
        "f": torch.rand(3, 3, requires_grad=True), "i": torch.randint(0, 3, (3, 3)), "b": torch.rand(3, 3) > 0.5,
        "z": torch.tensor(0.5), "k": torch.randint(0, 3, (3, 3)), "h": torch.rand(3).half(),
    }  # fmt: skip
    names = {
        word: tensor(a.SURE if each.requires_grad else a.SAFE, a.SAFE, bits[each.dtype], a.RANKS[each.dim()])
        for word, each in values.items()
    }
    seen, wrong = 0, []
    methods = sorted(word for word in operation_sets.METHODS if not word.startswith("__") and not word.endswith("_"))
    texts = [f"{x}.{word}({given})" for word in methods if word not in _LEFT_OUT for x in "fi" for given in ARGUMENTS]
    for text in texts:
        for mode in (ON, OFF):
            try:
                with torch.set_grad_enabled(mode == ON), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    observed = eval(text, {"torch": torch, **values})
            except Exception:  # noqa: BLE001 - whatever a method may raise on odd arguments
                continue  # torch takes no such arguments
            if not isinstance(observed, torch.Tensor):
                continue
            seen += 1
            found = told(text, names, FakeAsker(mode, Oracle.PROOF))
            holds = found.kind & a.TENSOR and found.dtype & bits.get(observed.dtype, a.OTHER_FLOAT | a.OTHER_INTEGER)
            holds = holds and found.rank & a.RANKS[min(observed.dim(), 5)]
            if not (holds and (found.may_require_grad if observed.requires_grad else found.grad & a.SAFE)):
                wrong.append((text, mode, found))
    assert not wrong, wrong
    assert seen > 2_000


_LEFT_OUT = "slice_inverse module_load index map2 resize share_memory retain_grad backward to cuda xpu ipu mtia".split()
"""What changes its argument, needs a device, or takes a number for a device."""


def test_columns_are_read() -> None:
    assert operation_sets.scalar_arguments("flip") >= {"1", "2", "dims"}
    assert "view" in operation_sets.SHARES_MEMORY
    assert operation_sets.PARTIAL["topk"] == (1,)
    assert operation_sets.NO_TENSOR["size"] == a.SIZE | a.INTEGER
    assert operation_sets.WRITES["torch.nn.functional.batch_norm"] == ("1", "2")
    assert join(PLAIN, LIVE).grad == a.SAFE | a.SURE
