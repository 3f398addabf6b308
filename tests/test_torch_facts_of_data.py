"""Torch's behaviour on which the fixes of `.data` rely, each fact by its name."""

# Facts are shown as they are.
# torchlint: ignore-file[TNS2, TNS4]

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

from torch import nn  # noqa: E402

from tests.test_torch_facts import ATTACHED, live  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


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
