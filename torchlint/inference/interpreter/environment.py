"""What is known of names at a point of the program: layers, so that a branch costs only what it changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from torchlint.facts.value import Mode, Value
from torchlint.inference.lattice import join, without_cuda


class Env:
    """The values of paths (``x``, ``self.net``, ``batch['image']``) and the grad mode at one point.

    A branch works on a layer over the environment before it; only changed paths are joined afterwards.
    """

    __slots__ = ("_changed", "_gone", "_parts", "_under", "dead", "is_class_body", "mode", "without_cuda")

    def __init__(self, under: Env | None = None, mode: Mode = Mode.ON) -> None:
        self._under = under
        self._changed: dict[str, Value] = {}
        self._gone: set[str] = set()
        self._parts: dict[str, set[str]] = {}
        """The paths of attributes and members in this layer, by each path that they are a part of."""
        self.mode: Mode = under.mode if under else mode
        self.without_cuda: bool = under.without_cuda if under else False
        """Whether this point is reached only where there is no CUDA: no tensor is there."""
        self.dead = False
        """Whether this point is never reached: behind ``return``, ``raise``, ``break`` or ``continue``."""
        self.is_class_body = False
        """Whether the names of this layer are those of a class: functions and comprehensions in it do not see them."""

    def layer(self) -> Env:
        """Begin a branch."""
        return Env(self)

    def over(self, base: Env) -> Env:
        """Return the changes of this branch as a layer over another environment of the same names."""
        over = Env(base)
        over._take(self)
        over.dead = self.dead
        return over

    def inner_scope(self, mode: Mode | None = None) -> Env:
        """Begin the scope of a function or a comprehension that stands here; in it, grad mode may be another one."""
        env: Env | None = self
        seen = self
        while env is not None:
            if env.is_class_body and env._under is not None:
                seen = env._under
            env = env._under
        inner = Env(seen)
        inner.mode, inner.without_cuda = self.mode if mode is None else mode, self.without_cuda
        return inner

    def find(self, path: str) -> Value | None:
        """Return the value of a path; None where nothing was assigned to it here."""
        env: Env | None = self
        above = _above(path)
        while env is not None:
            if path in env._changed:
                return without_cuda(env._changed[path]) if self.without_cuda else env._changed[path]
            gone = env._gone
            if gone and (path in gone or (above and not gone.isdisjoint(above))):  # it, or what holds it, was rebound
                return None
            env = env._under
        return None

    def assign(self, path: str, value: Value) -> None:
        """Bind a path; what was known of the parts of its old value is forgotten."""
        self.forget_parts(path)
        self._set(path, value)

    def refine(self, path: str, value: Value) -> None:
        """Say more of a path's value; what is known of its parts stays."""
        self._set(path, value)

    def _set(self, path: str, value: Value) -> None:
        if path not in self._changed:
            for above in _above(path):
                self._parts.setdefault(above, set()).add(path)
        self._changed[path] = value

    def forget_parts(self, path: str) -> None:
        """Forget what is known of ``path.attribute`` and ``path[key]``."""
        for known in self._parts.pop(path, ()):
            self._changed.pop(known, None)
        self._gone.add(path)

    def remove(self, path: str) -> None:
        """Unbind a path."""
        self.forget_parts(path)
        self._changed.pop(path, None)

    def changes(self) -> Iterator[tuple[str, Value]]:
        """Yield what this layer changed."""
        yield from self._changed.items()

    def about(self, words: frozenset[str]) -> dict[str, Value]:
        """Return all that is known of some names and of their parts, a whole before its parts."""
        paths = set(words)
        env: Env | None = self
        while env is not None:
            paths.update(part for word in env._parts.keys() & words for part in env._parts[word])
            env = env._under
        known = ((path, self.find(path)) for path in sorted(paths))
        return {path: value for path, value in known if value is not None}

    def merge(self, branches: Iterable[Env]) -> None:
        """Continue behind branches that began here: each is a layer over this environment."""
        alive = [branch for branch in branches if not branch.dead]
        if not alive:
            self.dead = True
            return
        if len(alive) == 1:
            self._take(alive[0])
            return
        paths = {path: None for branch in alive for path in branch._changed}
        merged = {path: _joined(path, alive) for path in paths}
        for gone in {path for branch in alive for path in branch._gone}:
            self.forget_parts(gone)
        for path, value in merged.items():
            if value is not None:
                self._set(path, value)
        self.mode = joined_modes(alive)
        self.without_cuda = all(branch.without_cuda for branch in alive)

    def _take(self, branch: Env) -> None:
        for gone in branch._gone:
            self.forget_parts(gone)
        for path, value in branch._changed.items():
            self._set(path, value)
        self.mode, self.without_cuda = branch.mode, branch.without_cuda


@lru_cache(maxsize=4096)
def _above(path: str) -> tuple[str, ...]:
    """Return the paths that a path is a part of: ``a`` and ``a.b`` for ``a.b[0]``."""
    if path.isidentifier():
        return ()
    return tuple(path[:at] for at, letter in enumerate(path) if letter in ".[")


def _joined(path: str, branches: list[Env]) -> Value | None:
    """Join a path's values; one that a branch leaves unbound is what the others say, else the name is an error."""
    values = [branch.find(path) for branch in branches]
    known = [value for value in values if value is not None]
    if not known:
        return None
    if len(known) < len(values) and ("." in path or "[" in path):
        return None  # an attribute may have been set elsewhere
    joined = known[0]
    for value in known[1:]:
        joined = join(joined, value)
    return joined


def joined_modes(branches: Iterable[Env]) -> Mode:
    """Return the grad modes that branches leave behind."""
    joined = Mode(0)
    for branch in branches:
        joined |= branch.mode
    return joined


def lifted(branch: Env, base: Env) -> Env:
    """Return a branch that was begun some layers above ``base`` as one layer over ``base``."""
    layers: list[Env] = []
    env: Env | None = branch
    while env is not None and env is not base:
        layers.append(env)
        env = env._under
    flat = Env(base)
    for layer in reversed(layers):
        flat._take(layer)
    flat.mode, flat.dead, flat.without_cuda = branch.mode, branch.dead, branch.without_cuda
    return flat
