"""Running the table of cases: each in every ordinary world of each device, and in the rare worlds of the host."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import torch

from tools.ledger.rare_worlds import absences, rare_differences
from tools.ledger.rows import Absent, Ledger, Rare, Row
from torchlint.diagnostics.model import Applicability
from torchlint.verify import simulated
from torchlint.verify.accelerators import device_name
from torchlint.verify.cases import Case, Target, claim, repaired
from torchlint.verify.compare import Judgement, judge
from torchlint.verify.observe import Snippet
from torchlint.verify.table import UNSAFE, claiming, of_rule
from torchlint.verify.worlds import covering, devices, telling

_DEFAULT_DTYPE, _DEFAULT_DEVICE = "torch.set_default_dtype(torch.float64)", 'torch.set_default_device("cuda")'
"""Statements by which a file changes what new tensors are: rules read them, and repair other code accordingly."""


def here() -> Target:
    """Return the first two parts of the version of the torch at hand: fixes are proven as they are offered for it."""
    first, second = torch.__version__.split(".")[:2]
    return int(first), int(second)


def judged(case: Case, device: str, target: Target = None) -> Judgement:
    """Run a case in every ordinary world of a device, and as it would stand in files that change torch's defaults."""
    safe = claim(case, target) == Applicability.SAFE
    verdict = _judged(case, device, target, thin=False)
    for changed in in_changed_defaults(case, device, target) if safe else ():
        more = _judged(changed, device, target, thin=True)
        verdict = Judgement(
            verdict.worlds + more.worlds,
            verdict.ran + more.ran,
            (*verdict.refutations, *more.refutations),
            verdict.broken + more.broken,
        )
    return verdict


def _judged(case: Case, device: str, target: Target, thin: bool) -> Judgement:
    before = Snippet(case.text)
    after = Snippet(repaired(case, claim(case, target) < Applicability.SAFE, target))
    worlds = telling(device, before.given)
    return judge(before, after, covering(worlds) if thin else worlds)


def in_changed_defaults(case: Case, device: str, target: Target = None) -> tuple[Case, ...]:
    """Return the case as it would stand in a file that changes the default dtype (host) or device (accelerators).

    Such a case is left out where its rule then offers no safe fix.
    """
    imports = [node for node in ast.parse(case.text).body if isinstance(node, ast.Import | ast.ImportFrom)]
    if not any(alias.name == "torch" for node in imports if isinstance(node, ast.Import) for alias in node.names):
        return ()
    lines = case.text.splitlines(keepends=True)
    at = imports[-1].end_lineno or 0
    statement = _DEFAULT_DTYPE if device == "cpu" else _DEFAULT_DEVICE
    changed = replace(case, text="".join([*lines[:at], f"{statement}\n", *lines[at:]]))
    return (changed,) if repaired(changed, target=target) != changed.text else ()


def prove(case: Case, device: str, today: str) -> Row:
    """Judge a case on one device, and say on standard error where it claims too much."""
    verdict, claimed = judged(case, device, here()), claim(case, here())
    if claimed > verdict.allows:
        print(f"{case.title}\n    {verdict.refutations[0]}", file=sys.stderr)
    digest = case.digest_for(here())
    counted = verdict.worlds, verdict.ran, str(claimed), str(verdict.allows)
    return Row(case.code, case.title, device, device_name(device), torch.__version__, digest, *counted, today)


def cases(codes: Iterable[str]) -> tuple[Case, ...]:
    """Return every case of some rules, those of their unsafe fixes among them."""
    wanted = tuple(codes)
    return (*(case for code in wanted for case in of_rule(code)), *(case for case in UNSAFE if case.code in wanted))


def digests(targets: Iterable[Target]) -> frozenset[str]:
    """Return the digests of all examples as they are today: for some torches, for the one at hand, for no known one."""
    wanted = {None, here(), *targets}
    return frozenset(case.digest_for(target) for case in cases(claiming()) for target in wanted)


def prove_all(codes: Sequence[str] | None, only: Sequence[str] | None, today: str) -> Ledger:
    """Prove some rules (all, where None) on some devices (all present, where None), telling of it as it goes."""
    torch.set_num_threads(1)
    rows = []
    wanted = tuple(codes or claiming())
    for device in only or devices():
        for code in wanted:
            found = [prove(case, device, today) for case in cases([code])]
            rows += found
            print(f"{code} {device}: {_summed(found)}", flush=True)
    if "cpu" not in (only or devices()):
        return Ledger(tuple(rows))
    gone = absences()
    rare = tuple(_rare(cases(wanted), gone))
    print(f"{len(rare)} differences in rare worlds", flush=True)
    for world, reason in gone.items():
        print(f"not run, for this torch has no such world: {world} ({reason})", flush=True)
    return Ledger(tuple(rows), rare, tuple(_absent(gone)))


def _absent(gone: Mapping[str, str]) -> Iterator[Absent]:
    simulation = simulated.missing()
    if simulation:
        yield Absent(torch.__version__, simulated.NAME, simulation)
    yield from (Absent(torch.__version__, world, reason) for world, reason in gone.items())


def _summed(rows: Sequence[Row]) -> str:
    allowed = Counter(row.allows for row in rows)
    worlds, ran = sum(row.worlds for row in rows), sum(row.ran for row in rows)
    said = ", ".join(f"{count} {word}" for word, count in sorted(allowed.items()))
    return f"{len(rows)} examples, {said}, in {worlds} runs, of which the old text survived {ran}"


def _rare(tried: Iterable[Case], gone: Iterable[str]) -> Iterator[Rare]:
    safe = [case for case in tried if claim(case, here()) == Applicability.SAFE]
    pairs = [(Snippet(case.text), Snippet(repaired(case, target=here()))) for case in safe]
    for at, world, what, before, after in rare_differences(pairs, gone):
        yield Rare(safe[at].code, world, safe[at].title, what, before, after, torch.__version__)
