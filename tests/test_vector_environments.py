"""What several environments at once give is data: arrays with a row for each of them, or tuples or dicts of such.

The classes stand in for Gymnasium's, which gave the same kinds for all its spaces (measured on Gymnasium 1.4).
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.before_and_after import check_runs_alike

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")


class Environments:
    """Gives two rows of what is asked for."""

    seen: Any = np.ones((2, 3), dtype=np.float32)

    def reset(self, seed: int = 0) -> tuple[Any, dict[str, Any]]:
        return self.seen, {}

    def step(self, actions: Any) -> tuple[Any, ...]:
        return self.seen, np.ones(2), np.array([True, False]), np.array([False, False]), {}


class Torched(Environments):
    """Stands for a wrapper that gives tensors."""

    seen = torch.ones(2, 3, dtype=torch.float64)

    def __init__(self, _: Any) -> None:
        pass


class One:
    """Stands for one environment, which may give an integer."""

    def reset(self) -> tuple[Any, dict[str, Any]]:
        return 3, {}


@pytest.fixture(autouse=True)
def gymnasium(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module, vector = ModuleType("gymnasium"), ModuleType("gymnasium.vector")
    vector.SyncVectorEnv = lambda _: Environments()  # type: ignore[attr-defined]
    module.vector, module.make, module.Torched = vector, lambda _: One(), Torched  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "gymnasium", module)
    monkeypatch.setitem(sys.modules, "gymnasium.vector", vector)
    return module


HEAD = "import gymnasium as gym\nimport numpy as np\nimport torch\n\nenvs = gym.vector.SyncVectorEnv([])\n"
SHOWN = "print(x.dtype, x.shape)\n"
STEPS = (
    HEAD + "obs, _ = envs.reset(seed=1)\nx = torch.Tensor(obs)\nfor _ in range(2):\n"
    "    obs, reward, ended, cut, _ = envs.step(x.argmax(-1).numpy())\n    done = np.logical_or(ended, cut)\n"
    "    x, done = torch.Tensor(obs), torch.Tensor(done)\n    print(done, torch.Tensor(reward))\n" + SHOWN
)
SEEN = {
    "floats": np.ones((2, 3), dtype=np.float32),
    "integers": np.array([3, 4]),
    "parts": (np.array([[3, 4]]), np.array([[1, 2]])),
}


@pytest.mark.parametrize("seen", SEEN.values(), ids=SEEN)
def test_what_is_seen_and_done_runs_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seen: Any) -> None:
    monkeypatch.setattr(Environments, "seen", seen)
    check_runs_alike(tmp_path, {"main.py": STEPS})


OTHERS = {
    "one environment": HEAD + "obs, _ = gym.make('x').reset()\nx = torch.Tensor(obs)\n" + SHOWN,
    "a wrapper": HEAD + "envs = gym.Torched(envs)\nobs, _ = envs.reset()\nx = torch.Tensor(obs)\n" + SHOWN,
    "perhaps a wrapper": (
        HEAD + "if not hasattr(envs, 'x'):\n    envs = gym.Torched(envs)\nobs, _ = envs.reset()\n"
        "x = torch.Tensor(obs)\n" + SHOWN
    ),
    "a row": HEAD + "obs, _ = envs.reset()\nx = torch.LongTensor(np.argmax(obs[0]) + 2)\n" + SHOWN,
}


@pytest.mark.parametrize("main", OTHERS.values(), ids=OTHERS)
def test_what_others_give_stays_open(tmp_path: Path, main: str) -> None:
    assert check_runs_alike(tmp_path, {"main.py": main}) == {}


def test_two_rows_of_the_old_package_are_no_pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gym", sys.modules["gymnasium"])
    monkeypatch.setattr(Environments, "reset", lambda _: np.array([3, 4]))
    main = HEAD.replace("import gymnasium as gym", "import gym") + "x, y = envs.reset()\nx = torch.Tensor(x)\n" + SHOWN
    assert check_runs_alike(tmp_path, {"main.py": main}) == {}
