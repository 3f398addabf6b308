"""The kinds of input: each makes one from a seed, and says which promises are broken on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from benchmarks.fuzz import configurations, damage, notebooks, programs, properties, world

Case = dict[str, bytes]
"""Files by name; in a case of a configuration the command line is one of them."""

_LARGEST = 60_000
_COMMAND = "command line"


@dataclass(frozen=True)
class Corpus:
    """Real files below some folders, in a fixed order."""

    paths: tuple[Path, ...]

    def pick(self, chance: Random) -> bytes:
        """Return the bytes of one file."""
        return chance.choice(self.paths).read_bytes() if self.paths else b"import torch\nx.data.numpy()\n"


def corpus(folders: Sequence[Path]) -> Corpus:
    """Collect the files below some folders, those first in which a rule may have something to say."""
    every = sorted(path for each in folders for path in each.rglob("*.py") if 0 < path.stat().st_size < _LARGEST)
    torches = [path for path in every if b"torch" in path.read_bytes()]
    return Corpus(tuple(torches or every))


def _program(chance: Random, real: Corpus) -> Case:
    del real
    return {"a.py": programs.program(chance)}


def _damage(chance: Random, real: Corpus) -> Case:
    return {"a.py": damage.damaged(chance, real.pick(chance), real.pick(chance))}


def _notebook(chance: Random, real: Corpus) -> Case:
    texts = [programs.program(chance).decode("utf-8", "replace") for _ in range(3)]
    texts += [real.pick(chance).decode("utf-8", "replace")]
    return {"a.ipynb": notebooks.notebook(chance, texts)}


def _configuration(chance: Random, real: Corpus) -> Case:
    name, raw = configurations.configuration(chance)
    words = "\0".join(configurations.flags(chance)).encode()
    given = {"a.py": programs.program(chance), "folder/b.ipynb": _notebook(chance, real)["a.ipynb"]}
    return {**given, name: raw, _COMMAND: words}


def _together(chance: Random, real: Corpus) -> Case:
    """Make some files that may import each other."""
    case = {f"{name}.py": _damage(chance, real)["a.py"] for name in "cd"}
    heads = b"from b import *\nimport c\nfrom d import x\n"
    mine = {"a.py": heads + programs.program(chance), "b.py": programs.program(chance)}
    return {**case, **mine, "e.ipynb": _notebook(chance, real)["a.ipynb"]}


def _grammar(chance: Random, real: Corpus) -> Case:
    """Take one of Hypothesmith's modules, with the words that rules look for put into it."""
    del real
    text = chance.choice(_modules(chance.randrange(10**6)))
    raw = text.encode("utf-8", "replace")
    for _ in range(chance.randint(0, 3)):
        raw = damage.words(chance, raw, b"")
    return {"a.py": b"import torch\n" + raw}


@cache
def _modules(seed: int) -> tuple[str, ...]:
    import hypothesmith
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as seeded

    found: list[str] = []

    @seeded(seed)
    @settings(
        max_examples=12, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )
    @given(hypothesmith.from_node(auto_target=False))
    def collect(text: str) -> None:
        found.append(text)

    collect()
    return tuple(found)


def _bytes_hold(case: Case) -> list[str]:
    return [said for name, raw in case.items() for said in properties.broken(name, raw)]


def _configuration_holds(case: Case) -> list[str]:
    words = [each for each in case[_COMMAND].decode().split("\0") if each]
    return world.configured({name: raw for name, raw in case.items() if name != _COMMAND}, words)


@dataclass(frozen=True)
class Kind:
    """How one kind of input is made and judged."""

    make: Callable[[Random, Corpus], Case]
    judge: Callable[[Case], list[str]]


KINDS = {
    "programs": Kind(_program, _bytes_hold),
    "damage": Kind(_damage, _bytes_hold),
    "notebooks": Kind(_notebook, _bytes_hold),
    "grammar": Kind(_grammar, _bytes_hold),
    "configurations": Kind(_configuration, _configuration_holds),
    "together": Kind(_together, world.cold_and_warm),
}


def case(name: str, seed: int, real: Corpus) -> Case:
    """Make the input of a kind and a seed: always the same over the same corpus."""
    return KINDS[name].make(Random(f"{name} {seed}"), real)
