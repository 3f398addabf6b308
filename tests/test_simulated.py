"""The simulated accelerator behaves as a CUDA device does: what it is faithful in, row by row, and what it is not."""

# torchlint: ignore-file[TNS1, TNS2, TNS3, TNS4]

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

from torch import nn  # noqa: E402
from torch.autograd import Variable  # noqa: E402

from torchlint.verify import simulated  # noqa: E402

pytestmark = [
    pytest.mark.skipif(simulated.missing() is not None, reason=str(simulated.missing())),
    pytest.mark.filterwarnings("ignore"),
]

CUDA = torch.device("cuda", 0)
NO_NUMPY = "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."


@pytest.fixture(autouse=True)
def device() -> Iterator[None]:
    with simulated.simulated():
        yield


def host(*shape: int) -> Any:
    return torch.arange(float(np.prod(shape))).reshape(shape)


# ---------------------------------------------------------------------- every spelling leads to the device
SPELLINGS: dict[str, Callable[[], Any]] = {
    "x.cuda()": lambda: host(2).cuda(),
    "x.cuda(0)": lambda: host(2).cuda(0),
    "x.cuda(device)": lambda: host(2).cuda(CUDA),
    "x.cuda(non_blocking=True)": lambda: host(2).cuda(non_blocking=True),
    "x.to('cuda')": lambda: host(2).to("cuda"),
    "x.to('cuda:0')": lambda: host(2).to("cuda:0"),
    "x.to(device)": lambda: host(2).to(torch.device("cuda")),
    "x.to(device, dtype)": lambda: host(2).to(torch.device("cuda"), torch.float64),
    "x.to(device=device)": lambda: host(2).to(device=torch.device("cuda")),
    "x.to(other)": lambda: host(2).to(torch.zeros(1, device="cuda")),
    "x.type_as(other)": lambda: host(2).type_as(torch.zeros(1, device="cuda")),
    "x.type(torch.cuda.FloatTensor)": lambda: host(2).type(torch.cuda.FloatTensor),
    "x.type('torch.cuda.LongTensor')": lambda: host(2).type("torch.cuda.LongTensor"),
    "torch.zeros": lambda: torch.zeros(2, device="cuda"),
    "torch.empty": lambda: torch.empty(2, device=CUDA),
    "torch.rand": lambda: torch.rand(2, device="cuda"),
    "torch.arange": lambda: torch.arange(3, device="cuda"),
    "torch.full": lambda: torch.full((2,), 3.0, device="cuda"),
    "torch.tensor": lambda: torch.tensor([1.0], device="cuda"),
    "torch.as_tensor": lambda: torch.as_tensor(np.ones(2), device="cuda"),
    "torch.zeros_like": lambda: torch.zeros_like(host(2).cuda()),
    "x.new": lambda: host(2).cuda().new(2, 3),
    "x.new of a list": lambda: host(2).cuda().new([1, 2]),
    "x.new_tensor": lambda: host(2).new_tensor([1.0], device="cuda"),
    "x.new_empty": lambda: host(2).cuda().new_empty(2),
    "torch.cuda.FloatTensor of data": lambda: torch.cuda.FloatTensor([1, 2]),
    "torch.cuda.LongTensor of a size": lambda: torch.cuda.LongTensor(2, 3),
    "torch.Tensor of a device tensor": lambda: torch.Tensor(host(2).cuda()),
    "nn.Parameter": lambda: nn.Parameter(host(2).cuda()),
    "Variable": lambda: Variable(host(2).cuda()),
    "x.data": lambda: host(2).cuda().data,
    "a view": lambda: host(2, 3).cuda().t()[0],
    "module.cuda()": lambda: nn.Linear(2, 2).cuda().weight,
    "module.to('cuda')": lambda: nn.Linear(2, 2).to("cuda").weight,
    "module.to(device)": lambda: nn.Linear(2, 2).to(torch.device("cuda")).weight,
    "a module's factory": lambda: nn.Linear(2, 2, device="cuda").weight,
    "a buffer": lambda: nn.BatchNorm1d(2).cuda().running_mean,
    "a module's result": lambda: nn.Linear(2, 2).cuda()(host(1, 2).cuda()),
    "a deep copy": lambda: copy.deepcopy(host(2).cuda()),
    "what a device tensor's device says": lambda: torch.ones(1, device=host(2).cuda().device),
}


@pytest.mark.parametrize("make", SPELLINGS.values(), ids=SPELLINGS)
def test_a_spelling_leads_to_the_device(make: Callable[[], Any]) -> None:
    made = make()
    assert made.device == CUDA
    assert made.device.type == "cuda"
    assert str(made.device) == "cuda:0"
    assert made.is_cuda
    assert made.get_device() == 0
    assert made.cpu().device.type == "cpu"
    assert not made.cpu().is_cuda


def test_by_default_values_are_on_the_host() -> None:
    for made in (torch.zeros(2), torch.Tensor([1.0]), torch.from_numpy(np.ones(2)), nn.Linear(1, 1).weight):
        assert made.device.type == "cpu"
        assert not made.is_cuda
        assert made.get_device() == -1


def test_a_default_device_is_followed_by_new_factories_and_not_by_legacy_ones() -> None:
    torch.set_default_device("cuda")
    try:
        assert [each.device for each in (torch.zeros(1), torch.tensor([1.0]), torch.as_tensor(np.ones(1)))] == [
            CUDA
        ] * 3
        assert {torch.Tensor([1.0]).device.type, torch.FloatTensor(2).device.type} == {"cpu"}
        assert torch.from_numpy(np.ones(1)).device.type == "cpu"
        assert torch.get_default_device() == CUDA
    finally:
        torch.set_default_device(None)
    with torch.device("cuda"):
        assert torch.zeros(1).is_cuda
        assert not torch.Tensor([1.0]).is_cuda
    assert not torch.zeros(1).is_cuda


def test_the_namespace_answers() -> None:
    assert torch.cuda.is_available()
    assert torch.cuda.device_count() == 1
    assert torch.device("cuda" if torch.cuda.is_available() else "cpu").type == "cuda"
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        pass


def test_legacy_types_are_asked_for_as_classes_and_names() -> None:
    made = host(2).cuda()
    assert made.type() == "torch.cuda.FloatTensor"
    assert isinstance(made, torch.cuda.FloatTensor)
    assert not isinstance(made, torch.cuda.LongTensor | torch.FloatTensor)
    assert not isinstance(host(2), torch.cuda.FloatTensor)
    assert made.type(torch.FloatTensor).device.type == "cpu"
    assert made.type(torch.float64).is_cuda


# ---------------------------------------------------------------------- refusals, in torch's own words
REFUSED: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "numpy": (lambda g: g.numpy(), TypeError, NO_NUMPY),
    "numpy of a tensor that requires grad": (lambda g: g.requires_grad_().numpy(), TypeError, NO_NUMPY),
    "detach().numpy()": (lambda g: g.detach().numpy(), TypeError, NO_NUMPY),
    "np.asarray": (np.asarray, TypeError, NO_NUMPY),
    "np.array": (np.array, TypeError, NO_NUMPY),
    "cpu().numpy() of a tensor that requires grad": (
        lambda g: g.requires_grad_().cpu().numpy(),
        RuntimeError,
        "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
    ),
    "host + device": (
        lambda g: host(2, 2) + g,
        RuntimeError,
        "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
    ),
    "device + host": (
        lambda g: g + host(2, 2),
        RuntimeError,
        "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
    ),
    "device += host": (
        lambda g: g.add_(host(2, 2)),
        RuntimeError,
        "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
    ),
    "mm": (
        lambda g: g @ host(2, 2),
        RuntimeError,
        "Expected all tensors to be on the same device, but got mat2 is on cpu, different from other tensors on cuda:0 "
        "(when checking argument in method wrapper_CUDA_mm)",
    ),
    "a module on the host": (
        nn.Linear(2, 2),
        RuntimeError,
        "Expected all tensors to be on the same device, but got mat1 is on cuda:0, different from other tensors on cpu "
        "(when checking argument in method wrapper_CUDA_addmm)",
    ),
    "cat": (
        lambda g: torch.cat([g, host(2, 2)]),
        RuntimeError,
        "Expected all tensors to be on the same device, but got tensors is on cpu, different from other tensors on "
        "cuda:0 (when checking argument in method wrapper_CUDA_cat)",
    ),
    "a device index on the host": (lambda g: host(2, 2)[g.long()[0]], RuntimeError, "indices should be either on "),
    "another device": (lambda g: g.to("cuda:1"), RuntimeError, "invalid device ordinal"),
    "a rebinding to the host": (lambda g: setattr(g, "data", host(2, 2)), RuntimeError, "incompatible tensor type"),
    "in-place on a leaf": (lambda g: g.requires_grad_().add_(1), RuntimeError, "a leaf Variable that requires grad"),
    "a legacy host constructor": (torch.FloatTensor, TypeError, "expected TensorOptions(dtype=float"),
    "an element of a tensor without dimensions": (lambda g: g.sum()[0], IndexError, "invalid index of a 0-dim tensor"),
}


@pytest.mark.parametrize(("call", "kind", "text"), REFUSED.values(), ids=REFUSED)
def test_a_refusal_is_torchs_own(call: Callable[[Any], Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as raised:
        call(host(2, 2).cuda())
    assert text in str(raised.value)
    assert "gpu" not in str(raised.value) or kind is TypeError  # a legacy constructor knows no other name


def test_what_a_device_takes_from_the_host() -> None:
    g = host(2, 2).cuda()
    assert (g + torch.tensor(1.0)).tolist() == [[1, 2], [3, 4]]
    assert g[torch.tensor([1])].tolist() == [[2, 3]]
    assert g[torch.tensor([[True, False], [False, True]])].tolist() == [0, 3]
    g[0] = host(2) + 7
    assert g.tolist() == [[7, 8], [2, 3]]
    g.copy_(torch.zeros(2, 2))
    assert g.sum().item() == 0


# ---------------------------------------------------------------------- what it is not: listed on docs/simulated.md
def test_not_faithful_there_is_no_sparse_layout() -> None:
    with pytest.raises((NotImplementedError, RuntimeError)):
        host(2, 2).to_sparse().cuda()


def test_not_faithful_a_copy_that_does_not_block_is_complete_and_not_pinned() -> None:
    copied = host(2).cuda().to("cpu", non_blocking=True)
    assert copied.tolist() == [0, 1]
    assert not copied.is_pinned()


def test_not_faithful_another_thread_does_not_know_the_spelling() -> None:
    found: list[BaseException] = []

    def elsewhere() -> None:
        try:
            torch.zeros(1, device="cuda")
        except (RuntimeError, AssertionError) as error:
            found.append(error)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert len(found) == 1


def test_not_faithful_the_device_is_no_default_tensor_type() -> None:
    with pytest.raises(NotImplementedError):
        torch.set_default_tensor_type("torch.cuda.FloatTensor")


def test_not_faithful_a_resized_view_leaves_the_memory_of_its_base() -> None:
    g = host(2).cuda()
    alias = g.detach()
    alias.resize_(5)
    assert alias.shape == (5,)
    assert alias.data_ptr() != g.data_ptr()
