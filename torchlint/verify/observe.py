"""Running a piece of code in a world, and writing down everything that can be observed of it."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import io
import random
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from torchlint.verify.observables import Writer, default_device, elements, fills_memory, reset_default_device, spelled
from torchlint.verify.snippet import ENTRY, FILE, RESULT, Snippet, values
from torchlint.verify.worlds import ALONE, HOSTED, LIVE, Inputs, NoSuchWorldError, World, entering, on

__all__ = ["ENTRY", "RESULT", "Observation", "Snippet", "Stage", "observe", "watch"]


@dataclass(frozen=True)
class Observation:
    """What a run left behind: plain values by the name of what was observed, such as ``"a.dtype"``."""

    facts: Mapping[str, object]
    error: str | None = None
    """The class and the text of the exception that ended the code, None where it ran."""
    warnings: tuple[str, ...] = ()
    line: int | None = None
    """The line of the text, from 1, at which it raised."""
    is_there: bool = True
    """Whether there were values to run it with; where not, ``error`` says why."""

    @property
    def hindrance(self) -> str:
        """Why nothing is asked of the new text where this is the old one's run; empty where it ran."""
        if self.error is None:
            return ""
        return f"the old code raises {self.error}" if self.is_there else f"no such values here: {self.error}"


@dataclass(frozen=True)
class Stage:
    """Where a snippet is run: with which values, within what, and whether a live graph stands around it."""

    inputs: Callable[[], Inputs]
    around: Callable[[Callable[[dict[str, Any]], None], dict[str, Any]], None] | None = None
    """Calls what it is given with the values by name, within a transformation."""
    within: Callable[[], contextlib.AbstractContextManager[Any]] = contextlib.nullcontext
    """The grad mode."""
    live: bool = True
    compiled: bool = False


def observe(snippet: Snippet, world: World) -> Observation:
    """Run the code once, on fresh inputs, and write down what it did."""
    stage = Stage(lambda: snippet.inputs(world), within=lambda: entering(world), live=world.graph == LIVE)
    with on(world.device):
        there = torch.cuda.is_initialized()
        seen = watch(snippet, stage)
        # What is the first to reach CUDA in a process brings its stream of random numbers about, seeded at random.
        return seen if torch.cuda.is_initialized() == there else watch(snippet, stage)


def warm(devices: Iterable[str]) -> None:
    """Have torch do here what it does at first use: imports, for which there is no folder behind the walls.

    Nothing that has a gradient: autograd's threads do not survive a fork, and a process that forks must start none.
    Real accelerators are passed over for the same reason.
    """
    with contextlib.suppress(ImportError):  # torch wants it for the first backward, and it takes half a second
        importlib.import_module("torch.fx.experimental.symbolic_shapes")
    snippet = Snippet("def case(t):\n    return t.data.sum()")
    for device in (each for each in devices if each in HOSTED):
        observe(snippet, World(device, "frozen parameter", "no_grad", "float32", "matrix", ALONE))


class BrokenEngineError(Exception):
    """Autograd does not work in this process: what was seen in it would prove nothing."""


def _require_engine(error: BaseException) -> None:
    """Raise BrokenEngineError where torch refuses for what was done before in this process, not for the code."""
    if any(each in str(error) for each in _ENGINE_REFUSES):
        raise BrokenEngineError(str(error).partition(". ")[0]) from error


_ENGINE_REFUSES = "fork-based multiprocessing", "device_ready_queues_"
"""Words of torch's where backward ran before a fork, and where it ran before a device was known to torch."""


def watch(snippet: Snippet, stage: Stage) -> Observation:
    """Run the code once on a stage, and write down what it did."""
    with _settled(), contextlib.redirect_stdout(io.StringIO()) as printed, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        _seed()
        try:
            inputs = stage.inputs()
        except NoSuchWorldError as error:
            return Observation({}, str(error), is_there=False)
        with _asking():
            live = _live_graph(inputs) if stage.live else None
        del said[:]
        facts: dict[str, object] = {}
        heard: list[str] = []
        writer = Writer(inputs)

        def go(names: dict[str, Any]) -> None:
            results = _run(snippet, stage, names)
            heard.extend(_texts(said))
            facts.update(_surroundings(printed.getvalue()))
            reset_default_device()  # what follows is asked where values are
            with _asking():
                facts.update(writer.write(results))

        try:
            (stage.around or _directly)(go, inputs.names)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever the code raises is an observation: pytest's, an exit
            _require_engine(error)
            return Observation({}, spelled(error), _texts(said), _line(error))
        facts |= _random_states()  # outside of any transformation: there every tensor is one of its own
        with _asking():
            facts |= _gradients(live, writer)
    return Observation(facts, None, tuple(heard))


def _asking() -> contextlib.AbstractContextManager[Any]:
    """Ask tensors themselves: what intercepts calls of torch, such as the simulated device's spelling, has no part."""
    context: contextlib.AbstractContextManager[Any] = torch._C.DisableTorchFunction()  # noqa: SLF001
    return context


def _line(error: BaseException) -> int | None:
    """Return the last line of the snippet's own text on the way to an exception."""
    rows = [row for frame, row in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == FILE]
    return rows[-1] if rows else None


def _directly(go: Callable[[dict[str, Any]], None], names: dict[str, Any]) -> None:
    go(names)


def _run(snippet: Snippet, stage: Stage, names: Mapping[str, Any]) -> dict[str, Any]:
    space = snippet.space()
    if not snippet.calls:
        with stage.within():
            exec(snippet.code, space)  # noqa: S102 - the proof runs its own cases
        return values(space)
    exec(snippet.code, space)  # noqa: S102
    if stage.compiled:
        space[snippet.entry] = torch.compile(space[snippet.entry], backend="eager")
    with stage.within():
        return snippet.call(space, names)


@contextlib.contextmanager
def repeatable() -> Iterator[None]:
    """Make torch warn every time and fill memory that nobody wrote; around many runs this is quicker than in each."""
    before = _strictness()
    fills_memory()
    _set_strictness(_STRICT)
    try:
        yield
    finally:
        _set_strictness(before)


_STRICT = True, True, True


def _strictness() -> tuple[bool, bool, bool]:
    """Say whether torch warns always, is deterministic, and only warns where it cannot be."""
    return (
        torch.is_warn_always_enabled(),
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
    )


def _set_strictness(wanted: tuple[bool, bool, bool]) -> None:
    if _strictness() != wanted:
        always, strict, only = wanted
        torch.set_warn_always(always)
        torch._C._set_deterministic_algorithms(strict, warn_only=only)  # noqa: SLF001 - torch's own would import its compiler


@contextlib.contextmanager
def _settled() -> Iterator[None]:
    """Make torch repeatable, and put global settings back."""
    dtype = torch.get_default_dtype()
    try:
        with repeatable(), torch.enable_grad():
            yield
    finally:
        torch.set_default_dtype(dtype)
        reset_default_device()


def _seed() -> None:
    """Seed what is there: ``torch.manual_seed`` would keep a stack trace for each kind of device that is not."""
    torch.default_generator.manual_seed(0)
    random.seed(0)
    np.random.seed(0)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(0)


def _texts(said: list[warnings.WarningMessage]) -> tuple[str, ...]:
    return tuple(f"{each.category.__name__}: {each.message}" for each in said)


# ---------------------------------------------------------------------- what lies around the results
def _surroundings(printed: str) -> dict[str, object]:
    return {
        "default dtype": str(torch.get_default_dtype()),
        "default device": _default_device(),
        "grad mode": (torch.is_grad_enabled(), torch.is_inference_mode_enabled()),
        "printed": printed,
    }


def _random_states() -> dict[str, object]:
    state = [torch.get_rng_state(), *(torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else ())]
    return {
        "random state of Python and NumPy": _own_random_state(),
        "random state": hashlib.sha256(b"".join(each.numpy().tobytes() for each in state)).hexdigest()[:12],
    }


def _default_device() -> str:
    try:
        return default_device()
    except (RuntimeError, AssertionError) as error:  # the device that was asked for is not there
        return spelled(error)


def _own_random_state() -> tuple[float, ...]:
    """Return what comes next of each stream of numbers, and of the normal ones kept for later: that tells its place."""
    return random.gauss(0, 1), random.random(), np.random.standard_normal(), np.random.random_sample()  # noqa: S311


def _live_graph(inputs: Inputs) -> list[Any] | None:
    """Make something of the inputs that needs their values when its gradient is taken."""
    attached = [each for each in inputs.tensors.values() if each.requires_grad]
    try:
        return [each * each for each in attached] if attached else None
    except (RuntimeError, TypeError, ValueError):  # a rare tensor that knows no product
        return None


def _total(tensors: list[Any]) -> Any:
    return sum((each.real if each.is_complex() else each).sum().double().cpu() for each in tensors)


def _ones(tensors: list[Any]) -> list[Any] | None:
    """Return the gradients of the sum of tensors; None where there is a rare one whose sum says more than its shape."""
    try:
        if all(
            type(each) in _PLAIN and each.layout == torch.strided and not (each.is_nested or each.is_meta)
            for each in tensors
        ):
            one = {(each.dtype, each.device): each for each in tensors}
            one = {key: each.new_ones(()) for key, each in one.items()}
            return [one[each.dtype, each.device].expand(each.shape) for each in tensors]
    except RuntimeError:  # a quantised one, or one within a transformation
        pass
    return None


_PLAIN = torch.Tensor, torch.nn.Parameter


def _gradients(live: list[Any] | None, writer: Writer) -> dict[str, object]:
    """Take the gradient of what the code made, then of what was there before it, and see where both arrive."""
    attached = [each for each in writer.tensors.values() if each.requires_grad and not each.is_inference()]
    facts: dict[str, object] = {}
    if attached:
        facts["backward through the results"] = _backward(attached)
        facts |= _arrived("gradient by the results", writer)
    if live is not None:
        facts["backward through the live graph"] = _backward(live)
        facts |= _arrived("gradient by all", writer)
    return facts


def _backward(goals: list[Any]) -> str:
    """Take the gradient of the sum of all elements. That of ordinary tensors is known without adding them up."""
    try:
        ones = _ones(goals)
        if ones is None:
            _total(goals).backward(retain_graph=True)
        else:
            torch.autograd.backward(goals, ones, retain_graph=True)
    except Exception as error:  # noqa: BLE001 - whatever torch refuses is an observation
        _require_engine(error)
        return spelled(error)
    return "ran"


def _arrived(what: str, writer: Writer) -> dict[str, object]:
    known = writer.tensors | writer.given
    grads = {name: each.grad for name, each in known.items() if each.requires_grad and _is_leaf(each)}
    return {f"{name}: {what}": elements(grad) for name, grad in grads.items() if grad is not None}


def _is_leaf(tensor: Any) -> bool:
    try:
        return bool(tensor.is_leaf)
    except RuntimeError:  # a view whose base was written may refuse to say
        return False
