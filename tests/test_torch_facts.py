"""Torch's behaviour on which fixes rely, each fact by its name: a torch that differs is noticed here first.

What concerns ``.data`` is in ``test_torch_facts_of_data.py``, constructors and ``Variable`` are in
``test_torch_facts_of_constructors.py``, in-place methods in ``test_inplace_methods.py``, what is taught in
``test_tutorials.py``, the simulated device in ``test_simulated.py``.
"""

# Facts are shown as they are.
# torchlint: ignore-file[TNS1, TNS3]

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
    "data.cpu().numpy()": lambda t: t.data.cpu().numpy(),  # noqa: TNS201 - what is measured
    "cpu().data.numpy()": lambda t: t.cpu().data.numpy(),  # noqa: TNS201 - what is measured
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
