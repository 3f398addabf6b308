"""Torch's behaviour on which fixes rely, each fact by its name: a torch that differs is noticed here first.

In-place methods are in ``test_inplace_methods.py``, what is taught in ``test_tutorials.py``, the simulated device in
``test_simulated.py``.
"""

# Facts are shown as they are.
# torchlint: ignore-file[TNS1, TNS2, TNS3, TNS4]

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

from torch import nn  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

GRAD = r"Can't call numpy\(\) on Tensor that requires grad. Use tensor.detach\(\).numpy\(\) instead."


def live() -> Any:
    return torch.tensor([1.0, 2.0], requires_grad=True)


# ---------------------------------------------------------------------- leaving torch
PLAIN: dict[str, Callable[[], Any]] = {
    "float32": lambda: torch.ones(2),
    "float16": lambda: torch.ones(2).half(),
    "int64": lambda: torch.ones(2).long(),
    "bool": lambda: torch.ones(2).bool(),
    "complex64": lambda: torch.ones(2, dtype=torch.complex64),
    "expanded": lambda: torch.ones(1).expand(2),
    "transposed": lambda: torch.ones(2, 3).t(),
    "frozen parameter": lambda: nn.Parameter(torch.ones(2), requires_grad=False),
}
ATTACHED: dict[str, Callable[[], Any]] = {
    "leaf": live,
    "result": lambda: live() * 2,
    "view": lambda: live()[:1],
    "parameter": lambda: nn.Parameter(torch.ones(2)),
    "loss": lambda: live().sum(),
    "complex": lambda: torch.ones(2, dtype=torch.complex64, requires_grad=True),
}
SAME: dict[str, Callable[[Any], Any]] = {
    "detach().numpy()": lambda t: t.detach().numpy(),
    "detach().cpu().numpy()": lambda t: t.detach().cpu().numpy(),
    "cpu().detach().numpy()": lambda t: t.cpu().detach().numpy(),
    "data.cpu().numpy()": lambda t: t.data.cpu().numpy(),
    "cpu().data.numpy()": lambda t: t.cpu().data.numpy(),
    "numpy(force=True)": lambda t: t.numpy(force=True),
    "np.asarray(detach())": lambda t: np.asarray(t.detach()),
}


@pytest.mark.parametrize("way", SAME.values(), ids=SAME)
@pytest.mark.parametrize("make", [*PLAIN.values(), *ATTACHED.values()], ids=[*PLAIN, *ATTACHED])
def test_every_way_to_an_array_shares_memory_on_the_host(make: Callable[[], Any], way: Callable[[Any], Any]) -> None:
    tensor = make()
    array = way(tensor)
    assert array.ctypes.data == tensor.data_ptr()
    assert array.shape == tuple(tensor.shape)
    assert array.tolist() == tensor.tolist()


@pytest.mark.parametrize("make", PLAIN.values(), ids=PLAIN)
def test_a_tensor_without_grad_converts_as_it_is(make: Callable[[], Any]) -> None:
    tensor = make()
    assert tensor.numpy().ctypes.data == tensor.cpu().numpy().ctypes.data == tensor.data_ptr()


@pytest.mark.parametrize("make", ATTACHED.values(), ids=ATTACHED)
def test_a_tensor_that_requires_grad_converts_only_where_grad_mode_is_off(make: Callable[[], Any]) -> None:
    tensor = make()
    for convert in (tensor.numpy, lambda: tensor.cpu().numpy(), lambda: np.asarray(tensor)):
        with pytest.raises(RuntimeError, match=GRAD):
            convert()
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            assert tensor.numpy().ctypes.data == tensor.data_ptr()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e4m3fn, torch.complex32])
def test_some_dtypes_have_no_array_and_force_does_not_help(dtype: Any) -> None:
    tensor = torch.ones(2).to(dtype)
    for convert in (tensor.numpy, lambda: tensor.numpy(force=True)):
        with pytest.raises(TypeError, match="Got unsupported ScalarType"):
            convert()


def test_conjugated_and_negated_views_convert_by_force_alone() -> None:
    made = torch.tensor([1 + 2j])
    for view, bit in ((made.conj(), "conjugate"), (made.conj().imag, "negative")):
        with pytest.raises(RuntimeError, match=f"{bit} bit set"):
            view.detach().cpu().numpy()
        assert view.numpy(force=True).tolist() == view.tolist()


@pytest.mark.parametrize("layout", ["to_sparse", "to_sparse_csr", "to_mkldnn"])
def test_other_layouts_do_not_convert(layout: str) -> None:
    with pytest.raises((TypeError, RuntimeError, NotImplementedError)):
        getattr(torch.ones(2, 2), layout)().detach().cpu().numpy()


def test_numbers_need_no_detach() -> None:
    loss = live().sum()
    assert [loss.item(), loss.tolist(), int(loss), bool(loss), f"{loss:.1f}"] == [3.0, 3.0, 3, True, "3.0"]
    assert loss.item() == loss.detach().cpu().numpy().item() == float(loss.detach().numpy())


def test_a_number_is_not_an_array_element() -> None:
    tenth = torch.tensor(0.1)
    assert tenth.item() != 0.1
    assert tenth.numpy() == 0.1
    assert type(tenth.item()) is float
    assert type(torch.tensor([0.1]).numpy()[0]) is np.float32


def test_an_empty_tensor_has_no_number_and_several_elements_have_none() -> None:
    for tensor in (torch.ones(0), torch.ones(2)):
        with pytest.raises(RuntimeError, match="cannot be converted to Scalar"):
            tensor.item()


@pytest.mark.parametrize("name", ["float", "cpu", "contiguous"])
def test_a_conversion_that_changes_nothing_gives_the_same_object(name: str) -> None:
    tensor = live()
    with torch.no_grad():
        assert getattr(tensor, name)() is tensor
    assert tensor.to("cpu") is tensor
    assert tensor.type(torch.FloatTensor) is tensor


VIEWS: dict[str, Callable[[Any], Any]] = {
    "p[...]": lambda p: p[...],
    "p[0]": lambda p: p[0],
    "view": lambda p: p.view(-1),
    "reshape": lambda p: p.reshape(1, 2),
    "t()": lambda p: p.t(),
    "expand": lambda p: p.expand(2, 2),
    "squeeze": lambda p: p.squeeze(),
    "split": lambda p: p.split(1)[0],
    "unbind": lambda p: p.unbind()[0],
    "iteration": lambda p: next(iter(p)),
    "torch.Tensor(p)": torch.Tensor,
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_view_made_in_no_grad_still_requires_grad(view: Callable[[Any], Any]) -> None:
    p = live()
    with torch.no_grad():
        made = view(p)
        made.numpy()
    assert made.requires_grad
    assert made.grad_fn is None
    with pytest.raises(RuntimeError, match=GRAD):
        made.numpy()


COMPUTED: dict[str, Callable[[Any], Any]] = {
    "p + 1": lambda p: p + 1,
    "clone": lambda p: p.clone(),
    "double": lambda p: p.double(),
    "p[[0]]": lambda p: p[[0]],
    "stack": lambda p: torch.stack([p, p]),
    "sum": lambda p: p.sum(),
}


@pytest.mark.parametrize("compute", COMPUTED.values(), ids=COMPUTED)
def test_what_is_computed_in_no_grad_does_not_require_grad(compute: Callable[[Any], Any]) -> None:
    with torch.no_grad():
        made = compute(live())
    assert not made.requires_grad


def test_a_factory_result_takes_grad_from_what_is_written_into_it() -> None:
    for write in (lambda a, p: a.__setitem__(0, p[0]), lambda a, p: a.add_(p), lambda a, p: a.copy_(p)):
        made = torch.zeros(2)
        write(made, live())
        assert made.requires_grad


def test_a_gradient_requires_grad_only_where_the_graph_is_kept() -> None:
    for create in (False, True):
        p = live()
        (p * p).sum().backward(create_graph=create)
        assert p.grad.requires_grad == create


# ---------------------------------------------------------------------- .data and .detach()
@pytest.mark.parametrize("make", ATTACHED.values(), ids=ATTACHED)
def test_data_and_detach_give_the_same_value(make: Callable[[], Any]) -> None:
    tensor = make()
    for made in (tensor.data, tensor.detach()):
        assert type(made) is torch.Tensor
        assert not made.requires_grad
        assert made.grad_fn is None
        assert made.data_ptr() == tensor.data_ptr()
        assert made.stride() == tensor.stride()


@pytest.mark.parametrize(
    ("write", "counted"),
    [
        (lambda x: x.data.zero_(), 0),
        (lambda x: x.detach().zero_(), 1),
        (lambda x: x.numpy(force=True).fill(0), 0),
    ],
    ids=["data", "detach", "array"],
)
def test_writes_are_counted_through_detach_and_not_through_data(write: Callable[[Any], Any], counted: int) -> None:
    x = live()
    write(x)
    assert x.tolist() == [0, 0]
    assert x._version == counted


def test_data_of_a_sparse_tensor_is_written_in_vain() -> None:
    for reach in (lambda x: x.data, lambda x: x.detach()):
        x = torch.eye(2).to_sparse()
        reach(x).zero_()
        assert x.to_dense().sum() == 2


def test_detach_keeps_what_data_keeps_of_a_subclass() -> None:
    class Mine(torch.Tensor):
        pass

    made = torch.ones(2).as_subclass(Mine)
    assert type(made.data) is type(made.detach()) is Mine
    assert type(torch.autograd.Variable(made)) is torch.Tensor


def test_an_uninitialised_parameter_has_data_and_no_detach() -> None:
    p = nn.UninitializedParameter()
    assert p.data.shape == (0,)
    with pytest.raises(ValueError, match="uninitialized"):
        p.detach()


def test_rebinding_data_aliases_and_copying_does_not() -> None:
    p, y = nn.Parameter(torch.zeros(2)), torch.ones(2)
    before = id(p), p._version
    p.data = y
    assert (id(p), p._version) == before
    assert p.data_ptr() == y.data_ptr()
    q = nn.Parameter(torch.zeros(2, dtype=torch.float64))
    with torch.no_grad():
        q.copy_(y)
    assert (q.dtype, q._version) == (torch.float64, 1)
    assert q.data_ptr() != y.data_ptr()
    wide = nn.Parameter(torch.zeros(2))
    wide.data = torch.ones(3, dtype=torch.float64)
    assert (wide.shape, wide.dtype) == ((3,), torch.float64)


@pytest.mark.parametrize(
    ("by_data", "otherwise"),
    [
        (lambda w: w.data.normal_(0, 0.02), lambda w: nn.init.normal_(w, 0, 0.02)),
        (lambda w: w.data.uniform_(-1, 1), lambda w: nn.init.uniform_(w, -1, 1)),
        (lambda w: nn.init.xavier_uniform_(w.data), nn.init.xavier_uniform_),
        (lambda w: nn.init.orthogonal_(w.data), nn.init.orthogonal_),
        (lambda w: w.data.exponential_(), lambda w: w.detach().exponential_()),
    ],
)
def test_initialisation_draws_the_same_numbers(by_data: Callable[[Any], Any], otherwise: Callable[[Any], Any]) -> None:
    found = []
    for write in (by_data, otherwise):
        torch.manual_seed(0)
        w = nn.Parameter(torch.empty(3, 3))
        write(w)
        found.append(w.detach().clone())
    assert torch.equal(*found)


def test_metadata_is_the_same_with_and_without_data() -> None:
    x = live()
    for ask in (
        lambda t: (t.size(), t.shape, t.dtype, t.device, t.dim(), t.numel(), len(t), t.is_cuda, t.type(), t.stride()),
        lambda t: (t.new(2, 3).requires_grad, t.new_zeros(2).requires_grad, torch.ones_like(t).requires_grad),
    ):
        assert ask(x) == ask(x.data)


# ---------------------------------------------------------------------- constructors
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
