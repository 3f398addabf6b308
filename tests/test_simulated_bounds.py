"""Where the simulated accelerator begins and ends: nothing of it is left in a process, and its absence is said."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numpy")

from torchlint.verify import accelerators, simulated  # noqa: E402
from torchlint.verify.simulated import memory  # noqa: E402

NEEDED = pytest.mark.skipif(simulated.missing() is not None, reason=str(simulated.missing()))
NAMES = ("is_available", "device_count", "FloatTensor", "Stream", "get_rng_state", "synchronize")


@NEEDED
def test_nothing_is_left_after_the_block() -> None:
    before = [getattr(torch.cuda, name, None) for name in NAMES], torch.Tensor.device, torch.nn.Module.to
    with simulated.simulated(), simulated.simulated():
        assert torch.zeros(2).cuda().is_cuda
        assert memory._owners
    assert not memory._owners
    after = [getattr(torch.cuda, name, None) for name in NAMES], torch.Tensor.device, torch.nn.Module.to
    assert after == before
    assert "device" not in vars(torch.Tensor)
    assert str(torch.zeros(1).device) == "cpu"


@NEEDED
def test_an_error_ends_the_block_as_well() -> None:
    with pytest.raises(ValueError, match="out"), simulated.simulated():
        raise ValueError("out")
    assert "device" not in vars(torch.Tensor)
    assert not torch.zeros(1).is_cuda


@NEEDED
def test_what_an_error_leaves_in_torch_is_put_back() -> None:
    before = torch._C._dispatch_tls_local_include_set(), torch._C._dispatch_tls_local_exclude_set()
    with simulated.simulated():
        torch._C._dispatch_tls_set_dispatch_key_excluded(torch._C.DispatchKey.AutogradOther, True)
    assert (torch._C._dispatch_tls_local_include_set(), torch._C._dispatch_tls_local_exclude_set()) == before


def test_a_torch_without_the_backend_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accelerators, "present", lambda: ())
    monkeypatch.delattr(torch.utils.backend_registration, "_setup_privateuseone_for_python_backend", raising=False)
    simulated.missing.cache_clear()
    try:
        reason = simulated.missing()
        assert reason is not None
        assert torch.__version__ in reason
        assert "backend" in reason
        with pytest.raises(RuntimeError, match="backend"), simulated.simulated():
            pass
    finally:
        simulated.missing.cache_clear()
