"""What torch itself says to `.numpy()` on the tensors that TNS106 reports, and on those that it repairs or leaves."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest
import torch

RAISING = {
    "x.bfloat16()": ".float()",
    "x.to(torch.bfloat16).detach().cpu().clone().contiguous()": ".float()",
    "x.to(torch.bfloat16)[0].reshape(-1).squeeze().flatten().T": ".float()",
    "x.to(torch.float8_e4m3fn)": ".float()",
    "z.to(torch.complex32)": ".cfloat()",
    "x.to_sparse()": ".to_dense()",
    "x.to_sparse().detach().cpu().float().clone().t().coalesce()": ".to_dense()",
    "x.to_sparse_csr()": ".to_dense()",
    "x.to_mkldnn()": ".to_dense()",
    "torch.sparse_coo_tensor(torch.zeros(2, 1, dtype=torch.long), torch.ones(1), (2, 2))": ".to_dense()",
    "torch.quantize_per_tensor(x, 0.1, 0, torch.quint8).detach().cpu()": ".dequantize()",
    "z.conj()": ".resolve_conj()",
    "z.conj().detach().cpu().contiguous().reshape(-1).squeeze()": ".resolve_conj()",
    "z.mH[0]": ".resolve_conj()",
    "z.adjoint()": ".resolve_conj()",
    "torch.conj(z).T": ".resolve_conj()",
    "z.conj().imag": ".resolve_neg()",
}
WORKING = (
    "x.conj()",
    "x.mH",
    "z.conj().conj()",
    "z.conj().real",
    "z.conj().clone()",
    "z.conj() * 2",
    "z.conj().to(torch.complex128)",
    "z.imag",
    "x.bfloat16() * x",
    "x.bfloat16() > 0",
    "x.bfloat16().view(torch.int16)",
    "x.to_sparse().values()",
    "x.to_sparse().sum()",
    "torch.sparse.mm(x.to_sparse(), x)",
    "torch.quantize_per_tensor(x, 0.1, 0, torch.quint8).int_repr()",
)


def made(expression: str) -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = torch.ones(2, 2)
        names = {"torch": torch, "x": x, "z": torch.complex(x, x)}
        tensor: torch.Tensor = eval(expression, names)
    return tensor


@pytest.mark.parametrize("expression", RAISING)
def test_numpy_refuses_what_is_reported_and_takes_what_is_repaired(expression: str) -> None:
    views = RAISING[expression].startswith(".resolve")
    with pytest.raises(RuntimeError if views else TypeError, match=r"unsupported|can't convert|Can't call numpy"):
        made(expression).numpy()
    array = made(f"{expression}{RAISING[expression]}").numpy()
    assert array.ravel().tolist() == made(f"({expression}){RAISING[expression]}").flatten().tolist()
    if views:
        assert (made(expression).numpy(force=True) == array).all()


@pytest.mark.parametrize("expression", WORKING)
def test_numpy_takes_what_is_left_alone(expression: str) -> None:
    made(expression).numpy()


@pytest.mark.parametrize("enter", [lambda: torch.autocast("cpu"), lambda: torch.amp.autocast("cpu")])
def test_autocast_of_the_cpu_computes_in_bfloat16_unless_told_otherwise(enter: Callable[[], torch.autocast]) -> None:
    layer = torch.nn.Linear(2, 2)
    with torch.no_grad(), enter():
        y = layer(torch.ones(1, 2))
        loss = torch.nn.functional.mse_loss(y, y)
    with pytest.raises(TypeError, match="BFloat16"):
        y.numpy()
    with pytest.raises(TypeError, match="BFloat16"):
        y.relu().numpy()
    assert loss.numpy().dtype == "float32"
