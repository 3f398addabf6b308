"""Projects run before and after ``--fix`` in this process, and everything that can be seen of their values.

A program needs no code that looks at it: when it has ended, the names of its modules are looked at from outside.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import itertools
import json
import os
import random
import re
import runpy
import shutil
import signal
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from tests.before_and_after import fixed, written
from torchlint.cli import main
from torchlint.knowledge import look_again
from torchlint.verify import simulated
from torchlint.verify.observe import repeatable
from torchlint.verify.simulated import beneath

FLAGS = ("--extend-select", "TNS104")
"""Rules that are off otherwise."""
_DEPTH = 4
_SECONDS = 3.0
_REFUSED = (RuntimeError, TypeError, ValueError, NotImplementedError, IndexError, AttributeError)


@dataclass
class Seen:
    """What could be seen of one run."""

    printed: str
    error: str = ""
    """The class of what ended the program; its text is the implementation's own."""
    facts: dict[str, object] = field(default_factory=dict)
    gradients: list[tuple[str, object]] = field(default_factory=list)
    """What each way back through a graph that was left gave, in turn; a text is the error that it raised."""
    warnings: frozenset[str] = frozenset()


def difference(before: Seen, after: Seen) -> str | None:
    """Say in what the second run differs from the first; None where all that the first one did is kept."""
    if before.error:
        kept = after.printed.startswith(before.printed)
        return None if kept else f"printed before the error: {before.printed!r} -> {after.printed!r}"
    if after.error:
        return f"raises {after.error}"
    said = [_without_class(each.printed, before.printed + after.printed) for each in (before, after)]
    if said[0] != said[1]:
        pairs = itertools.zip_longest(*(each.splitlines() for each in said))
        old, new = next((each for each in pairs if each[0] != each[1]), ("", ""))
        return f"printed: {old} -> {new}"
    for name in dict.fromkeys([*before.facts, *after.facts]):
        old, new = before.facts.get(name), after.facts.get(name)
        if old != new:
            return f"{name}: {old} -> {new}"
    for (name, old), (_, new) in zip(before.gradients, after.gradients, strict=True):
        if isinstance(old, str):  # a graph that was gone: from here on nothing was promised
            break
        if old != new:
            return f"{name}: {old} -> {new}"
    if new_ones := after.warnings - before.warnings:
        return f"warns: {sorted(new_ones)}"
    return None


def watched(folder: Path, program: str = "main.py") -> Seen:
    """Run a program of a project in this process and look at what is left of it."""
    out, known, path = io.StringIO(), set(sys.modules), list(sys.path)
    modes = torch._C._len_torch_function_stack()
    torch.default_generator.manual_seed(0)
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(0)
    random.seed(0)
    np.random.seed(0)
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode, bytecode = True, sys.dont_write_bytecode
    said: list[warnings.WarningMessage] = []
    try:
        with contextlib.redirect_stdout(out), warnings.catch_warnings(record=True) as said, _limited():
            warnings.simplefilter("always")
            names = runpy.run_path(str(folder / program), run_name="__main__")
    except Exception as error:  # noqa: BLE001 - an error is what a user sees, too
        return Seen(_plain(out.getvalue()), type(error).__name__)
    else:
        modules = {"": names, **{f"{name}.": vars(module) for name, module in _own(folder, known)}}
        return Looker().look(modules, _plain(out.getvalue()), said, modes)
    finally:
        sys.path[:] = path
        sys.dont_write_bytecode = bytecode
        for name, _ in [*_own(folder, known)]:
            del sys.modules[name]
        _reset(modes)


def _without_function(message: str) -> str:
    """Take the function's name out of what a trace says of every call that makes a constant."""
    return re.sub(r"^torch\.\w+ results", "results", message)


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """Raise TimeoutError where a program goes on and on: a smaller one may have lost what ends its loop."""

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, _SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _plain(printed: str) -> str:
    """Return a text in which a tensor of a class of its own, which is a rare world, looks like any other.

    Nor does it tell at which address an object lay.
    """
    return re.sub(r"\s+", " ", re.sub(r"\bTagged\(", "tensor(", _without_address(printed)))


def _without_address(text: str) -> str:
    return re.sub(r" at 0x[0-9a-f]+", " at ...", text)


def _without_class(printed: str, both: str) -> str:
    """Return a text that names no step of a graph where one names an alias: printing an own class makes one."""
    return re.sub(r"grad_fn=<\w+>", "grad_fn=<...>", printed) if "=<AliasBackward0>" in both else printed


def _own(folder: Path, known: set[str]) -> Iterator[tuple[str, types.ModuleType]]:
    for name in sorted(set(sys.modules) - known):
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(folder)):
            yield name, sys.modules[name]


_INIT = dict(vars(torch.nn.init))


def _reset(modes: int) -> None:
    """Put the settings of the process back, and leave contexts of devices that were entered and not left.

    A program that puts a function of its own into ``nn.init`` may end with an error before it takes it out again.
    """
    vars(torch.nn.init).update(_INIT)
    torch.set_default_dtype(torch.float32)
    torch.set_default_device(None)
    while torch._C._len_torch_function_stack() > modes:
        torch._C._pop_torch_function_stack()
        torch.utils._device.CURRENT_DEVICE = None
    torch.set_grad_enabled(True)


class Looker:
    """Writes down values, who shares memory with whom, and what comes of a way back through their graphs."""

    def __init__(self) -> None:
        self.facts: dict[str, object] = {}
        self.tensors: dict[str, torch.Tensor] = {}
        self.memory: list[tuple[str, int, int]] = []
        self.objects: dict[int, str] = {}
        self.modules: set[str] = set()
        """The project's own ones: of other objects, such as a hook's handle, the inside is nobody's business."""

    def look(self, modules: Mapping[str, Mapping[str, Any]], printed: str, said: Sequence[Any], modes: int) -> Seen:
        around = str(torch.get_default_dtype()), str(torch.get_default_device()), torch.is_grad_enabled()
        self.facts["around"] = around
        self.facts["random state"] = hashlib.sha256(torch.get_rng_state().numpy().tobytes()).hexdigest()[:8]
        _reset(modes)
        self.modules = {*modules}
        for module, names in modules.items():
            for name in sorted(names):
                if not name.startswith("__"):
                    self._value(module + name, names[name], _DEPTH)
        gradients = [*self._gradients()]
        heard = frozenset(f"{each.category.__name__}: {_without_function(str(each.message))[:70]}" for each in said)
        return Seen(printed, "", self.facts, gradients, heard)

    def _value(self, name: str, value: Any, depth: int) -> None:
        if isinstance(value, types.ModuleType | types.FunctionType | types.BuiltinFunctionType | type) or not depth:
            return
        if isinstance(value, int | float | complex | str | bytes | np.generic | torch.Size) or value is None:
            self.facts[name] = (type(value).__name__, _without_address(repr(value)))
            return
        if isinstance(value, torch.Tensor | np.ndarray | list | tuple | dict | nn.Module):
            self.facts[f"{name} is"] = self.objects.setdefault(id(value), name)
            if self.objects[id(value)] != name:
                return
        if isinstance(value, torch.Tensor):
            self._tensor(name, value)
        elif isinstance(value, np.ndarray):
            shown = (value.dtype.str, value.shape, value.strides, value.flags.writeable, repr(value.tolist()))
            self.facts[name] = (type(value).__name__, *shown)
            self._share(name, value.ctypes.data, value.nbytes)
        else:
            self.facts[name] = type(value).__name__
            for key, each in self._members(value):
                self._value(f"{name}{key}", each, depth - 1)

    def _members(self, value: Any) -> Iterator[tuple[str, Any]]:
        if isinstance(value, nn.Module):
            yield from ((f".{name}", each) for name, each in value.named_parameters())
            yield from ((f".{name}", each) for name, each in value.named_buffers())
        if isinstance(value, dict):
            yield from ((f"[{key!r}]", each) for key, each in value.items() if isinstance(key, str | int))
        elif isinstance(value, list | tuple):
            yield from ((f"[{at}]", each) for at, each in enumerate(value))
        elif type(value).__module__ in {"__main__", "types"} | {each.rstrip(".") for each in self.modules}:
            yield from ((f".{name}", each) for name, each in vars(value).items() if not name.startswith("_"))

    def _tensor(self, name: str, tensor: torch.Tensor) -> None:
        kind = nn.Parameter if isinstance(tensor, nn.Parameter) else torch.Tensor  # classes of its own are a rare world
        self.facts[name] = (kind.__name__, *(_asked(each, tensor) for each in _KIND), _elements(tensor))
        self.tensors[name] = tensor
        with contextlib.suppress(*_REFUSED):
            memory = beneath(tensor).untyped_storage()
            self._share(name, memory.data_ptr(), memory.nbytes())
        if _is_leaf(tensor):
            self.facts[f"{name}.grad"] = None if tensor.grad is None else _elements(tensor.grad)

    def _share(self, name: str, start: int, length: int) -> None:
        if not start or not length:
            return
        first = next((each for each, low, high in self.memory if low < start + length and start < high), name)
        self.facts[f"{name} in the memory of"] = first
        self.memory.append((name, start, start + length))

    def _gradients(self) -> Iterator[tuple[str, object]]:
        leaves = {name: each for name, each in self.tensors.items() if _is_leaf(each)}
        for name, tensor in [*self.tensors.items()]:
            if _asked(lambda each: each.grad_fn is None, tensor) is True:
                continue
            try:
                tensor.backward(torch.ones_like(tensor), retain_graph=True)
            except _REFUSED as error:
                yield f"backward of {name}", type(error).__name__
            else:
                found = {leaf: None if each.grad is None else _elements(each.grad) for leaf, each in leaves.items()}
                yield f"gradients after backward of {name}", found


_KIND: tuple[Callable[[torch.Tensor], object], ...] = (
    lambda each: (str(each.dtype), tuple(each.shape), str(each.device), each.requires_grad, each.is_inference()),
    lambda each: (each.is_leaf, each.grad_fn is None),
    lambda each: (each.stride(), each.storage_offset()),
)


def _asked(ask: Callable[[torch.Tensor], object], tensor: torch.Tensor) -> object:
    try:
        return ask(tensor)
    except _REFUSED as error:
        return type(error).__name__


def _is_leaf(tensor: torch.Tensor) -> bool:
    return _asked(lambda each: each.is_leaf and each.requires_grad, tensor) is True


def _elements(tensor: torch.Tensor) -> str:
    if tensor.is_meta:
        return "meta"
    try:
        with torch.no_grad():
            plain = tensor.detach().as_subclass(torch.Tensor).cpu()
            return repr(plain.tolist()) if plain.numel() < 100 else hashlib.sha256(plain.numpy()).hexdigest()
    except _REFUSED as error:
        return type(error).__name__


# ---------------------------------------------------------------------- before and after
@dataclass(frozen=True)
class Difference:
    """A way of running a project in which it does something else after ``--fix``."""

    files: dict[str, str]
    paths: tuple[str, ...]
    device: str
    what: str
    changed: dict[str, str]


@dataclass
class Comparison:
    """What came of a project."""

    reported: list[tuple[str, int, str, bool]] = field(default_factory=list)
    ran: bool = False
    """Whether it ran without an error in some world before."""
    error: str = ""
    difference: Difference | None = None

    @property
    def fixes(self) -> list[str]:
        """The code of each safe fix that is offered."""
        return [code for _, _, code, safe in self.reported if safe]


class Comparing:
    """Runs projects in one folder, which each of them has for itself."""

    def __init__(self, folder: Path, flags: Sequence[str] = FLAGS) -> None:
        self.folder, self.flags = folder, tuple(flags)
        self.devices = ("cpu",) if simulated.missing() else ("cpu", simulated.NAME)

    def compare(self, files: dict[str, str], alone: Sequence[str] = ()) -> Comparison:
        """Compare the whole folder's fixes, and those of each file of ``alone`` without the others."""
        self._write(files)
        found = Comparison(self.reported())
        before: dict[str, Seen] = {}
        tried: list[dict[str, str]] = []
        for paths in [(), *((each,) for each in alone if each in files)]:
            if not found.fixes:
                break
            self._write(files)
            try:
                with contextlib.redirect_stderr(io.StringIO()) as complaint:
                    changed = fixed(self.folder, *paths, flags=self.flags)
            except AssertionError:
                found.difference = Difference(files, paths, "cpu", complaint.getvalue().strip(), {})
                continue
            if changed and changed not in tried:
                tried.append(changed)
                for device in self._worlds(files):
                    if device not in before:
                        self._write(files)
                        before[device] = self._run(device)
                    self._write({**files, **changed})
                    what = difference(before[device], self._run(device))
                    if what and not found.difference:
                        found.difference = Difference(files, paths, device, what, changed)
        if not before:
            self._write(files)
            before["cpu"] = self._run("cpu")
        found.ran = any(not each.error for each in before.values())
        found.error = next(iter(before.values())).error
        return found

    def seen(self, files: dict[str, str], device: str = "cpu") -> Seen:
        """Run a project as it stands."""
        self._write(files)
        return self._run(device)

    def reported(self) -> list[tuple[str, int, str, bool]]:
        """Return file, row and code of what is found in the folder as it stands, and whether the fix is a safe one."""
        out, home = io.StringIO(), os.getcwd()
        os.chdir(self.folder)
        try:
            with contextlib.redirect_stdout(out):
                main(["--no-cache", "--jobs", "1", "--isolated", "--output-format", "json", *self.flags, "."])
        finally:
            os.chdir(home)
        return [
            (
                each["filename"].removeprefix(f"{self.folder}/"),
                each["location"]["row"],
                each["code"],
                bool(each["fix"]) and each["fix"]["applicability"] == "safe",
            )
            for each in json.loads(out.getvalue())
        ]

    def _worlds(self, files: Mapping[str, str]) -> Sequence[str]:
        """Return the devices that may make a difference: a program that speaks of none has one world."""
        return self.devices if any("cuda" in each for each in files.values()) else self.devices[:1]

    def _run(self, device: str) -> Seen:
        with repeatable():
            if device == "cpu":
                return watched(self.folder)
            with simulated.simulated():
                return watched(self.folder)

    def _write(self, files: dict[str, str]) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        written(self.folder, files)
        look_again()
