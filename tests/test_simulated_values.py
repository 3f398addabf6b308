"""Values on the simulated accelerator: conversions, memory, autograd and training are those of a CUDA device."""

# torchlint: ignore-file[TNS1, TNS2]

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

from torch import nn  # noqa: E402

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


def test_conversions_that_need_no_array() -> None:
    g = host(2).cuda().requires_grad_()
    assert g.tolist() == [0, 1]
    assert float(g.sum()) == g.sum().item() == 1
    assert f"{g.sum():.1f}" == "1.0"
    assert bool((g >= 0).all())
    assert "device='cuda:0'" in repr(g)


def test_a_copy_to_the_host_is_a_copy_and_force_makes_one() -> None:
    g = host(2).cuda()
    for array in (g.cpu().numpy(), g.detach().cpu().numpy(), g.numpy(force=True), g.data.cpu().numpy()):
        array[:] = 9
    assert g.tolist() == [0, 1]


def test_a_copy_to_the_host_is_recorded_in_the_graph_unless_detached_first() -> None:
    g = host(2).cuda().requires_grad_()
    assert type(g.cpu().grad_fn).__name__ == "ToCopyBackward0"
    assert g.detach().cpu().grad_fn is None
    assert g.cpu().detach().grad_fn is None


def test_views_share_memory_and_versions_and_data_counts_alone() -> None:
    g = host(4).cuda()
    view, alias, data = g[1:], g.detach(), g.data
    view.zero_()
    assert g.tolist() == alias.tolist() == data.tolist() == [0, 0, 0, 0]
    assert (g._version, view._version, alias._version, data._version) == (1, 1, 1, 0)
    assert alias.data_ptr() == g.data_ptr() == data.data_ptr()
    assert view.data_ptr() == g.data_ptr() + 4
    assert g.cpu().data_ptr() != g.data_ptr()


def test_layouts_survive_the_way_there_and_back() -> None:
    for laid in (host(2, 3).t(), host(1, 3).expand(2, 3), host(4)[1:], host(0, 3), host(3)[::2], torch.tensor(2.0)):
        there = laid.cuda()
        assert there.shape == laid.shape
        assert there.tolist() == there.cpu().tolist() == laid.tolist()
        assert there.stride() == laid.to("meta").stride()


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16", "int64", "uint8", "bool", "complex64"])
def test_values_of_each_dtype_survive(dtype: str) -> None:
    made = torch.tensor([0, 1, 1]).to(getattr(torch, dtype))
    assert made.cuda().dtype == made.dtype
    assert torch.equal(made.cuda().cpu(), made)


def test_conjugated_and_negated_views() -> None:
    made = torch.complex(host(2), host(2) + 1)
    g = made.cuda()
    assert g.conj().is_conj()
    assert torch.equal(g.conj().cpu().resolve_conj(), made.conj().resolve_conj())
    assert torch.equal(g.conj().imag.cpu().resolve_neg(), made.conj().imag.resolve_neg())
    assert torch.equal((g.conj() * 2).cpu(), made.conj() * 2)


def test_the_parts_of_complex_tensors_are_views_in_every_mode() -> None:
    g = torch.complex(host(2), host(2) + 1).cuda()
    for mode in (torch.enable_grad, torch.no_grad, torch.inference_mode):
        with mode():
            assert g.real.tolist() == [0, 1]
            assert g.imag.data_ptr() == g.data_ptr() + 4
            assert "0.+1.j" in repr(g)
            assert torch.view_as_complex(torch.view_as_real(g)).tolist() == g.tolist()


def test_gradients_arrive_on_either_side() -> None:
    leaf = host(3).requires_grad_()
    (leaf.cuda() * 2).sum().backward()
    assert leaf.grad.device.type == "cpu"
    assert leaf.grad.tolist() == [2, 2, 2]
    there = host(3).cuda().requires_grad_()
    (there.cpu() * there.cpu()).sum().backward()
    assert there.grad.is_cuda
    assert there.grad.tolist() == [0, 2, 4]


def test_a_write_between_forward_and_backward_is_seen_or_not_as_on_the_host() -> None:
    def gradient(write: Callable[[Any], Any]) -> list[float]:
        x, w = (host(2) + 2).cuda().requires_grad_(), (host(2) + 4).cuda().requires_grad_()
        h = x * 1
        y = (h * w).sum()
        write(h)
        y.backward()
        found: list[float] = w.grad.tolist()
        return found

    assert gradient(lambda h: None) == [2, 3]
    assert gradient(lambda h: h.data.zero_()) == [0, 0]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        gradient(lambda h: h.detach().zero_())


def test_inference_tensors() -> None:
    with torch.inference_mode():
        made = host(2).cuda() * 2
    assert made.is_inference()
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        made.add_(1)


def test_the_device_has_random_numbers_of_its_own() -> None:
    torch.manual_seed(3)
    torch.cuda.manual_seed_all(5)
    before = torch.get_rng_state()
    first = torch.rand(4, device="cuda")
    assert torch.equal(torch.get_rng_state(), before)
    torch.cuda.manual_seed_all(5)
    assert torch.equal(torch.rand(4, device="cuda").cpu(), first.cpu())
    state = torch.cuda.get_rng_state()
    torch.rand(4)
    assert torch.equal(torch.cuda.get_rng_state(), state)


def test_an_out_argument_is_written_and_takes_the_shape() -> None:
    right, wrong = torch.zeros(2, device="cuda"), torch.zeros(0, device="cuda")
    alias = right.view(2)
    assert torch.add(host(2).cuda(), 1, out=right) is right
    assert alias.tolist() == [1, 2]
    assert torch.add(host(2).cuda(), 1, out=wrong).tolist() == wrong.tolist() == [1, 2]


def test_a_deep_copy_keeps_what_shares_memory_together() -> None:
    base = host(4).cuda()
    one, other = copy.deepcopy([base, base[1:]])
    one.zero_()
    assert other.tolist() == [0, 0, 0]
    assert base.tolist() == [0, 1, 2, 3]
    weight = copy.deepcopy(nn.Linear(2, 2).cuda()).weight
    assert isinstance(weight, nn.Parameter)
    assert weight.is_cuda


class Conv(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(64, 1))

    def forward(self, x: Any) -> Any:
        return self.layers(x.reshape(-1, 1, 6, 6))


class Recurrent(nn.Module):
    def __init__(self, kind: Any) -> None:
        super().__init__()
        self.cells, self.last = kind(6, 4, batch_first=True), nn.Linear(4, 1)

    def forward(self, x: Any) -> Any:
        return self.last(self.cells(x)[0][:, -1])


class Attending(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer, self.last = nn.TransformerEncoderLayer(6, 2, 8, dropout=0.0, batch_first=True), nn.Linear(6, 1)

    def forward(self, x: Any) -> Any:
        return self.last(self.layer(x).mean(1))


MODELS: dict[str, Callable[[], Any]] = {
    "perceptron": lambda: nn.Sequential(nn.Flatten(), nn.Linear(36, 8), nn.Tanh(), nn.Linear(8, 1)),
    "convolution": Conv,
    "LSTM": lambda: Recurrent(nn.LSTM),
    "GRU": lambda: Recurrent(nn.GRU),
    "transformer": Attending,
}


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.Adam], ids=["SGD", "Adam"])
@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_training_gives_the_losses_of_the_host(make: Callable[[], Any], optimizer: Any) -> None:
    def losses(place: str) -> list[float]:
        torch.manual_seed(0)
        model, x, y = make().to(place), torch.randn(4, 6, 6).to(place), torch.randn(4, 1).to(place)
        steps, found = optimizer(model.parameters(), lr=0.05), []
        for _ in range(4):
            steps.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            steps.step()
            found.append(loss.item())
        assert all(isinstance(each, nn.Parameter) for each in model.parameters())
        assert {each.device.type for each in model.parameters()} == {place}
        return found

    assert losses("cuda") == pytest.approx(losses("cpu"), rel=1e-4)
