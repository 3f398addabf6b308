"""The rare worlds, of which no claim speaks: what differs there is listed with the world's name, never passed over."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Any, TypeVar

import torch

from torchlint.verify.compare import differences, shown
from torchlint.verify.observables import spelled
from torchlint.verify.observe import Observation, Snippet, Stage, watch
from torchlint.verify.worlds import Inputs

_START = 60.0
"""Seconds that a process may take to import what it needs, before its first answer."""
_SECONDS = 60.0
Item = TypeVar("Item")
Result = TypeVar("Result")

Around = Callable[[Callable[[dict[str, Any]], None], dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class RareWorld:
    """A tensor that few programs meet, or a transformation under which few run."""

    name: str
    make: Callable[[], Any]
    """Gives the tensor; raises where this torch has none of the kind."""
    around: Around | None = None
    """Runs the code within a transformation."""


def _floats(rows: int = 2) -> Any:
    return torch.arange(3.0 * rows).reshape(rows, 3) / 4


def _wrapped() -> Any:
    from torch.testing._internal.two_tensor import TwoTensor

    return TwoTensor(_floats(), _floats())


def _distributed() -> Any:
    from torch import distributed
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Shard, distribute_tensor

    if not distributed.is_initialized():
        distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    return distribute_tensor(_floats(), init_device_mesh("cpu", (1,)), [Shard(0)])


class Labelled(torch.Tensor):  # type: ignore[misc]  # torch is not read
    """A subclass that adds nothing."""


def _in_inference_mode() -> Any:
    with torch.inference_mode():
        return _floats() * 1


def _view_made_in_no_grad() -> Any:
    whole = _floats().requires_grad_() * 1
    with torch.no_grad():
        return whole[:1]


def _fake() -> Any:
    from torch._subclasses.fake_tensor import FakeTensorMode

    return FakeTensorMode().from_tensor(_floats())


def _dual(go: Callable[[dict[str, Any]], None], names: dict[str, Any]) -> None:
    from torch.autograd import forward_ad

    with forward_ad.dual_level():
        t = forward_ad.make_dual(names["t"], torch.ones(2, 3))
        go({**names, "t": t})


def _vmap(go: Callable[[dict[str, Any]], None], names: dict[str, Any]) -> None:
    def inner(t: Any) -> Any:
        go({**names, "t": t})
        return t.clone()

    torch.func.vmap(inner)(names["t"])


def _grad(go: Callable[[dict[str, Any]], None], names: dict[str, Any]) -> None:
    def inner(t: Any) -> Any:
        go({**names, "t": t})
        return t.sum()

    torch.func.grad(inner)(names["t"])


COMPILED = "torch.compile"
RARE: tuple[RareWorld, ...] = (
    RareWorld("bfloat16", lambda: _floats().bfloat16().requires_grad_()),
    RareWorld("float8_e4m3fn", lambda: _floats().to(torch.float8_e4m3fn)),
    RareWorld("complex32", lambda: torch.complex(_floats(), _floats()).to(torch.complex32)),
    RareWorld("sparse COO", lambda: _floats().to_sparse().requires_grad_()),
    RareWorld("sparse CSR", lambda: _floats().to_sparse_csr()),
    RareWorld("quantised", lambda: torch.quantize_per_tensor(_floats(), 0.25, 0, torch.qint8)),
    RareWorld("conjugated view", lambda: torch.complex(_floats(), _floats()).requires_grad_().conj()),
    RareWorld("negated view", lambda: torch.complex(_floats(), _floats()).conj().imag),
    RareWorld("nested, strided", lambda: torch.nested.nested_tensor([_floats(), _floats(1)])),
    RareWorld(
        "nested, jagged", lambda: torch.nested.nested_tensor([_floats(), _floats(1)], layout=torch.jagged).detach()
    ),
    RareWorld("subclass", lambda: _floats().requires_grad_().as_subclass(Labelled)),
    RareWorld("wrapper subclass", _wrapped),
    RareWorld("DTensor", _distributed),
    RareWorld("uninitialised parameter", lambda: torch.nn.UninitializedParameter()),  # noqa: PLW0108 - made late
    RareWorld("forward AD", _floats, _dual),
    RareWorld("inference tensor", _in_inference_mode),
    RareWorld("view made in no_grad", _view_made_in_no_grad),
    RareWorld("one of several views", lambda: (_floats().requires_grad_() * 1).unbind()[0]),
    RareWorld("zero tensor", lambda: torch._efficientzerotensor(2, 3)),  # noqa: SLF001 - torch's only name for it
    RareWorld("meta", lambda: torch.empty(2, 3, device="meta", requires_grad=True)),
    RareWorld("fake tensor", _fake),
    RareWorld("vmap", lambda: _floats(4), _vmap),
    RareWorld("func.grad", _floats, _grad),
    RareWorld(COMPILED, lambda: _floats().requires_grad_()),
)
_BY_NAME = {each.name: each for each in RARE}


def observe_rare(snippet: Snippet, name: str) -> Observation:
    """Run a snippet that asks for a tensor ``t`` in a rare world, in this process.

    Raises whatever torch raises where it has no such tensor.
    """
    world = _BY_NAME[name]
    compiled = name == COMPILED
    snippet = replace(snippet, hands_out=False) if compiled else snippet
    return watch(snippet, Stage(lambda: Inputs({"t": world.make()}), world.around, compiled=compiled))


def absences() -> dict[str, str]:
    """Return the rare worlds that this torch does not have, by name, each with what torch says of it.

    Each is tried in a process of its own with code that does nothing.
    """
    names = [each.name for each in RARE]
    came = each_isolated(_missing, names, _SECONDS)
    found = ((name, said.reason if isinstance(said, Died) else said) for name, said in came)
    return {name: reason for name, reason in found if reason is not None}


def _missing(name: str) -> str | None:
    try:
        error = observe_rare(Snippet("def case(t):\n    pass\n"), name).error
    except Exception as refusal:  # noqa: BLE001 - in whatever way torch says that it has no such tensor
        error = spelled(refusal)
    return error and shown(error)


def rare_differences(
    pairs: Sequence[tuple[Snippet, Snippet]], gone: Iterable[str] = ()
) -> Iterator[tuple[int, str, str, str, str]]:
    """Yield the rare worlds in which a new text does something else; those that are ``gone`` are left out.

    For each: at which place the pair of texts stands, the world's name, the first observable and both values. The runs
    take place in a process of their own: some of these tensors can end it. Texts that ask for more than one tensor
    ``t`` are passed over.
    """
    left_out = frozenset(gone)
    items = [
        (at, before, after, world.name)
        for at, (before, after) in enumerate(pairs)
        if before.given == ("t",)
        for world in RARE
        if world.name not in left_out
    ]
    for (at, _, _, name), result in each_isolated(compared, items, _SECONDS):
        if isinstance(result, Died):
            yield at, name, "the process", "", result.reason
        elif result is not None:
            yield (at, name, *result)


def compared(item: tuple[int, Snippet, Snippet, str]) -> tuple[str, str, str] | None:
    """Return the first difference of two texts in one rare world: the observable and both values, shortened."""
    _, before, after, name = item
    try:
        old, again, new = observe_rare(before, name), observe_rare(before, name), observe_rare(after, name)
    except Exception as error:  # noqa: BLE001 - such a tensor may refuse in any way to be looked at
        return "the world itself", "", f"not observed: {type(error).__name__}"
    loose = {what for what, *_ in differences(old, again)}  # memory that nobody wrote, symbols with a running number
    found = [each for each in differences(old, new) if each[0] not in loose]
    return (found[0][0], shown(found[0][1]), shown(found[0][2])) if found else None


# ---------------------------------------------------------------------- a process of its own
@dataclass(frozen=True, slots=True)
class Died:
    """The process ended while it worked on an item: killed by a signal, or for taking too long."""

    reason: str


def each_isolated(
    function: Callable[[Item], Result], items: Sequence[Item], seconds: float
) -> Iterator[tuple[Item, Result | Died]]:
    """Yield each item with what the function makes of it; a process that dies is replaced for the items left.

    The function and the items must be picklable. ``seconds`` is the longest that one item may take, the start of the
    process not counted.
    """
    context = multiprocessing.get_context("spawn")  # a fork would inherit threads that torch cannot go on with
    at = 0
    while at < len(items):
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, function, items[at:]), daemon=True)
        process.start()
        theirs.close()
        try:
            for result in _received(ours, process, seconds):
                yield items[at], result
                at += 1
                if at == len(items):
                    break
        finally:
            process.kill()
            process.join()
            ours.close()


def _received(connection: Connection, process: Any, seconds: float) -> Iterator[Any]:
    limit = seconds + _START
    while True:
        try:
            if not connection.poll(limit):
                yield Died(f"took longer than {seconds:g} s")
                return
            yield connection.recv()
        except (EOFError, ConnectionResetError):
            process.join()
            yield Died(f"ended by signal {-process.exitcode}" if process.exitcode < 0 else "ended")
            return
        limit = seconds


def _serve(connection: Connection, function: Callable[[Any], Any], items: Sequence[Any]) -> None:
    for item in items:
        connection.send(function(item))
