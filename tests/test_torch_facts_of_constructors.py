"""Torch's behaviour on which the fixes of legacy constructors and of `Variable` rely, each fact by its name."""

# Facts are shown as they are.
# torchlint: ignore-file[TNS3, TNS4]

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

from torch import nn  # noqa: E402

from tests.test_torch_facts import ATTACHED, PLAIN, live  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


SIZES: dict[str, tuple[Any, ...]] = {"none": (), "int": (3,), "ints": (2, 3), "Size": (torch.Size([2, 3]),)}


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_a_legacy_constructor_of_sizes_is_empty(sizes: tuple[Any, ...]) -> None:
    legacy, modern = torch.Tensor(*sizes), torch.empty(*(sizes or (0,)))
    assert (legacy.shape, legacy.dtype, legacy.device) == (modern.shape, modern.dtype, modern.device)
    assert torch.LongTensor(*sizes).dtype == torch.int64
    assert torch.ones(1).half().new(*sizes).dtype == torch.float16


DATA: dict[str, Any] = {
    "list": [1, 2],
    "tuple": (2, 3),
    "nested": [[1, 0.5], [2, 3]],
    "range": range(3),
    "empty": [],
    "bools": [True, False],
    "tensors": [torch.tensor(1.0), torch.tensor(2.0)],
}


@pytest.mark.parametrize("data", DATA.values(), ids=DATA)
def test_a_legacy_constructor_of_data_is_tensor_with_its_dtype(data: Any) -> None:
    for legacy, dtype in (
        (torch.Tensor, torch.float32),
        (torch.FloatTensor, torch.float32),
        (torch.LongTensor, torch.int64),
    ):
        if legacy is torch.LongTensor and any(isinstance(each, torch.Tensor) for each in data):
            continue
        old, new = legacy(data), torch.tensor(data, dtype=dtype)
        assert old.dtype == new.dtype == dtype
        assert torch.equal(old, new)


@pytest.mark.parametrize("data", [1.5, True, None, "a", {1: 2}, {1}], ids=repr)
def test_a_legacy_constructor_refuses_other_data(data: Any) -> None:
    with pytest.raises(TypeError):
        torch.Tensor(data)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool", "float16"])
def test_a_legacy_constructor_shares_an_array_of_its_dtype_as_as_tensor_does(dtype: str) -> None:
    array = np.ones(3, dtype=dtype)
    for make in (torch.Tensor, lambda given: torch.as_tensor(given, dtype=torch.float32)):
        assert (make(array).data_ptr() == array.ctypes.data) == (dtype == "float32")
    assert (torch.LongTensor(array).data_ptr() == array.ctypes.data) == (dtype == "int64")
    assert torch.tensor(array).data_ptr() != array.ctypes.data


def test_arrays_with_negative_strides_are_refused_alike() -> None:
    array = np.ones(3, dtype=np.float32)[::-1]
    for make in (torch.Tensor, torch.as_tensor, torch.from_numpy, torch.tensor):
        with pytest.raises(ValueError, match="negative"):
            make(array)


def test_read_only_arrays_are_shared_alike() -> None:
    array = np.ones(3, dtype=np.float32)
    array.flags.writeable = False
    for make in (torch.Tensor, torch.as_tensor, torch.from_numpy):
        assert make(array).data_ptr() == array.ctypes.data


@pytest.mark.parametrize("dtype", [torch.float64, torch.int64, torch.float32])
def test_a_legacy_constructor_of_a_tensor_is_an_alias_of_any_dtype(dtype: Any) -> None:
    source = torch.ones(2).to(dtype)
    made = torch.Tensor(source)
    assert made is not source
    assert (made.dtype, made.data_ptr()) == (dtype, source.data_ptr())
    assert torch.Tensor(live()).requires_grad
    assert torch.as_tensor(source) is source
    if dtype != torch.float32:
        with pytest.raises(TypeError, match="expected TensorOptions"):
            torch.FloatTensor(source)


def test_the_default_dtype_is_followed_by_tensor_and_not_by_float_tensor() -> None:
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.Tensor([1]).dtype == torch.Tensor(2).dtype == torch.float64
        assert torch.FloatTensor([1]).dtype == torch.float32
        assert torch.tensor([1]).dtype == torch.int64
    finally:
        torch.set_default_dtype(torch.float32)


def test_the_default_device_is_ignored_by_legacy_constructors() -> None:
    with torch.device("meta"):
        legacy = torch.Tensor([1.0]), torch.FloatTensor(2), torch.from_numpy(np.ones(2))
        modern = torch.tensor([1.0]), torch.empty(2), torch.as_tensor(np.ones(2))
        said = torch.tensor([1.0], device="cpu")
    assert {each.device.type for each in (*legacy, said)} == {"cpu"}
    assert {each.device.type for each in modern} == {"meta"}


def test_keywords_of_legacy_constructors() -> None:
    for keywords in ({"dtype": torch.float64}, {"requires_grad": True}):
        with pytest.raises(TypeError):
            torch.Tensor([1], **keywords)
    with pytest.raises(RuntimeError, match="legacy constructor expects device type: cpu"):
        torch.Tensor([1], device="meta")
    assert torch.Tensor([1], device="cpu").device.type == "cpu"


def test_new_takes_dtype_and_place_from_its_tensor() -> None:
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    assert torch.equal(x.new([1, 2]), x.new_tensor([1, 2]))
    assert x.new(2, 3).shape == x.new_empty(2, 3).shape
    assert (x.new([1]).dtype, x.new([1]).requires_grad) == (torch.float64, False)
    same = torch.ones(2, dtype=torch.float64)
    assert x.new(same).data_ptr() == same.data_ptr()
    with pytest.raises(TypeError):
        x.new(torch.ones(2))


def test_a_legacy_type_means_dtype_and_host() -> None:
    x = live()
    assert x.type(torch.DoubleTensor).dtype == torch.float64
    assert x.type(torch.DoubleTensor).requires_grad
    assert x.type("torch.LongTensor").dtype == torch.int64
    assert x.type(torch.Tensor).dtype == torch.float32
    assert x.type(torch.float64).dtype == torch.float64


def test_a_tensor_of_a_tensor_is_a_detached_copy() -> None:
    for source in (live(), live() * 2, torch.ones(2, 3).t()):
        with pytest.warns(UserWarning, match="copy construct"):
            made = torch.tensor(source)
        other = source.detach().clone()
        assert torch.equal(made, other)
        assert (made.stride(), made.requires_grad) == (other.stride(), False)
        assert made.data_ptr() != source.data_ptr()


# ---------------------------------------------------------------------- Variable
@pytest.mark.parametrize("make", [*PLAIN.values(), *ATTACHED.values()], ids=[*PLAIN, *ATTACHED])
def test_a_variable_is_what_detach_gives(make: Callable[[], Any]) -> None:
    tensor = make()
    for made in (torch.autograd.Variable(tensor), torch.autograd.Variable(tensor, requires_grad=False)):
        assert made is not tensor
        assert type(made) is torch.Tensor
        assert (made.requires_grad, made.grad_fn) == (False, None)
        assert made.data_ptr() == tensor.data_ptr()
        made.copy_(made.clone()) if tensor.is_contiguous() else None
        assert made._version == tensor._version


def test_a_variable_that_requires_grad_is_a_new_leaf() -> None:
    tensor = torch.ones(2)
    made = torch.autograd.Variable(tensor, requires_grad=True)
    (made * 2).sum().backward()
    assert made.grad.tolist() == [2, 2]
    assert not tensor.requires_grad
    assert tensor.grad is None
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            assert torch.autograd.Variable(torch.ones(1), requires_grad=True).requires_grad
    with pytest.raises(RuntimeError, match="floating point"):
        torch.autograd.Variable(torch.ones(2).long(), requires_grad=True)


@pytest.mark.parametrize("data", [[1.0], 3.0, np.ones(2), "a"], ids=["list", "float", "array", "text"])
def test_a_variable_of_no_tensor_is_refused(data: Any) -> None:
    with pytest.raises(TypeError, match="Variable data has to be a tensor"):
        torch.autograd.Variable(data)
    assert torch.autograd.Variable(None).shape == (0,)


def test_volatile_warns_and_does_nothing() -> None:
    with pytest.warns(UserWarning, match="volatile was removed"):
        made = torch.autograd.Variable(torch.ones(2), volatile=True)
    assert not made.requires_grad
    with pytest.raises(ValueError, match="can't be volatile and require_grad"):
        torch.autograd.Variable(torch.ones(2), requires_grad=True, volatile=True)


def test_every_tensor_is_a_variable_and_none_is_of_that_type() -> None:
    assert isinstance(torch.ones(1), torch.autograd.Variable)
    assert isinstance(nn.Parameter(torch.ones(1)), torch.autograd.Variable)
    assert not isinstance(np.ones(1), torch.autograd.Variable)
    assert type(torch.autograd.Variable(torch.ones(1))) is not torch.autograd.Variable


def test_batches_keep_the_graph_of_their_dataset() -> None:
    """A loader may give tensors that require grad: Variable(x) around its batches is not always for nothing."""
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(4, 2, requires_grad=True) * 2))
    assert next(iter(loader))[0].requires_grad


@pytest.mark.parametrize("join", [operator.mul, operator.add, operator.sub, operator.matmul, operator.truediv])
@pytest.mark.parametrize("sequence", [[0, 1], (0, 1), "ab"], ids=["list", "tuple", "string"])
@pytest.mark.parametrize("tensor", [torch.ones(2), torch.tensor(3), torch.tensor(True)], ids=["1d", "int", "bool"])
def test_a_sequence_of_python_and_a_tensor_make_no_tensor(
    join: Callable[[object, object], object], sequence: object, tensor: torch.Tensor
) -> None:
    """``[0] * n``: torch refuses the sequence, and Python repeats it where the tensor may count."""
    for one, other in ((sequence, tensor), (tensor, sequence)):
        try:
            made = join(one, other)
        except TypeError:
            continue
        assert isinstance(made, type(sequence))


NO_CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device: run `pytest -m cuda` where one is")
SUCCESSORS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "size": (lambda: torch.Tensor(2, 3).zero_(), lambda: torch.zeros(2, 3)),
    "nothing": (torch.Tensor, lambda: torch.empty(0)),
    "floats": (lambda: torch.Tensor([0.5]), lambda: torch.tensor([0.5])),
    "integers": (lambda: torch.Tensor([1]), lambda: torch.tensor([1], dtype=torch.get_default_dtype())),
    "array": (
        lambda: torch.Tensor(np.ones(2)),
        lambda: torch.as_tensor(np.ones(2), dtype=torch.get_default_dtype()),
    ),
}


@pytest.mark.parametrize(
    "kind", ["torch.DoubleTensor", pytest.param("torch.cuda.HalfTensor", marks=[pytest.mark.cuda, NO_CUDA])]
)
@pytest.mark.parametrize(("legacy", "modern"), SUCCESSORS.values(), ids=SUCCESSORS)
def test_a_default_tensor_type_moves_both_calls(
    kind: str, legacy: Callable[[], Any], modern: Callable[[], Any]
) -> None:
    torch.set_default_tensor_type(kind)
    try:
        old, new = legacy(), modern()
        assert (old.dtype, old.device, old.tolist()) == (new.dtype, new.device, new.tolist())
        assert old.is_cuda == ("cuda" in kind)
    finally:
        torch.set_default_tensor_type("torch.FloatTensor")
