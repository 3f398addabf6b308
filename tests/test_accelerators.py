"""What proofs do where a real accelerator is: what is asked of it, and what would break it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numpy")

from torchlint.verify import accelerators, simulated, worlds  # noqa: E402
from torchlint.verify.compare import judge, mended  # noqa: E402
from torchlint.verify.observe import Snippet, observe  # noqa: E402
from torchlint.verify.worlds import World, ordinary  # noqa: E402

NO_CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device: run `pytest -m cuda` where one is")
CASE = "import torch\n\n\ndef case(t):\n"
MATRIX = World("meta", "detached", "grad", "float32", "matrix")


@pytest.fixture
def with_cuda(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    simulated.missing.cache_clear()
    yield
    simulated.missing.cache_clear()


@pytest.mark.usefixtures("with_cuda")
def test_nothing_is_simulated_beside_a_real_accelerator() -> None:
    assert "cuda" in accelerators.present()
    assert worlds.devices() == ("cpu", *accelerators.present())
    assert simulated.missing() == f"a real accelerator is here: {', '.join(accelerators.present())}"
    with pytest.raises(RuntimeError, match="a real accelerator is here"), simulated.simulated():
        pass


@pytest.mark.usefixtures("with_cuda")
def test_a_gpu_that_a_fork_has_lost_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where no NVML is: then torch starts CUDA to tell whether it is there, and children cannot use it."""

    def zeros(*_: object, device: str) -> None:
        said = "re-initialize CUDA in forked subprocess" if device == "cuda" else "not there"
        raise RuntimeError(f"Cannot {said}")

    monkeypatch.setattr(torch, "zeros", zeros)
    accelerators.wake(["cpu"])
    with pytest.raises(RuntimeError, match="cuda cannot be used here: NVML does not answer; run on `--device cpu`"):
        accelerators.wake(["cpu", "cuda"])


@pytest.mark.parametrize(
    "reads", ["t[torch.tensor([9])]", "t.gather(0, torch.full((1, 1), 9, device=t.device))", "torch.bernoulli(t + 9)"]
)
def test_what_raises_on_the_host_is_not_run_where_it_would_break_the_device(reads: str) -> None:
    """A device without values takes any index: here, as on CUDA, only the host sees the error."""
    text = Snippet(f"{CASE}    return {reads}.shape")
    assert observe(text, MATRIX).error is None
    verdict = judge(text, text, [MATRIX])
    assert (verdict.worlds, verdict.ran) == (1, 0)
    assert verdict.passed_over == ((f"the old code raises {observe(text, World('cpu', *_rest(MATRIX))).error}", 1),)


def test_what_the_host_refuses_for_want_of_a_device_is_run_on_the_device() -> None:
    text = Snippet("def case(t):\n    assert t.is_meta, 'wants a device'\n    return t.shape")
    assert judge(text, text, [MATRIX]).ran == 1


def test_a_repair_is_not_tried_where_the_old_code_would_break_the_device() -> None:
    before, after = (Snippet(f"{CASE}    return {text}") for text in ("t[torch.tensor([9])]", "t[:1]"))
    assert mended(before, after, [MATRIX]) == (1, 1)


@pytest.mark.cuda
@NO_CUDA
def test_code_that_is_the_first_to_reach_cuda_is_seen_to_do_what_it_does_later() -> None:
    text = (
        "from torchlint.verify.observe import Snippet, observe\nfrom torchlint.verify.worlds import World\n"
        "import torch\nassert not torch.cuda.is_initialized()\n"
        "for device in 'cuda', 'cpu':\n"
        "    world = World(device, 'leaf', 'grad', 'float32', 'matrix')\n"
        "    one, other = (observe(Snippet('def case(t):\\n    return t.cuda() + 1'), world) for _ in range(2))\n"
        "    assert one.error is None and one.facts == other.facts\n"
    )
    subprocess.run([sys.executable, "-c", text], check=True)


@pytest.mark.cuda
@NO_CUDA
def test_code_that_sends_all_new_tensors_to_cuda_does_so_for_itself_alone() -> None:
    text = Snippet(f"{CASE}    torch.set_default_tensor_type(torch.cuda.HalfTensor)\n    return torch.ones(2)")
    seen = observe(text, World("cuda", *_rest(MATRIX)))
    assert seen.error is None
    assert (torch.ones(2).device.type, torch.ones(2).dtype) == ("cpu", torch.float32)


@pytest.mark.cuda
@NO_CUDA
def test_an_index_beyond_the_end_leaves_cuda_alive() -> None:
    text = Snippet(f"{CASE}    return t[torch.tensor([9], device=t.device)]")
    verdict = judge(text, text, ordinary("cuda")[:24])
    assert (verdict.worlds, verdict.ran) == (24, 0)
    assert torch.ones(2, device="cuda").sum().item() == 2


def _rest(world: World) -> tuple[str, ...]:
    return world.state, world.mode, world.dtype, world.layout
