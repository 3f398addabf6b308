"""Makes the table of operations by calling them, or compares it with what the installed torch does.

    python tools/operations_table --write                 measure everything, write the table
    python tools/operations_table --check                 measure everything, compare; exit status 1 on a difference
    python tools/operations_table --sample 120 --seed 1   the same for some operations: all that give several results
                                                          of which some never require grad, and others by lot

``--only`` names operations instead, ``--table`` another file. All of it takes some minutes, a sample some seconds.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

import torch  # noqa: E402

from tools.operations_table import distributions  # noqa: E402
from tools.operations_table.isolation import measured  # noqa: E402
from tools.operations_table.names import Operation, Unusable, everything  # noqa: E402
from tools.operations_table.record import prepare  # noqa: E402
from tools.operations_table.scalars import scalars  # noqa: E402
from tools.operations_table.table import Entries, differences, entries, missing, read, table, text  # noqa: E402

TABLE = ROOT / "torchlint" / "models" / "operations.json"


def main(arguments: Sequence[str]) -> int:
    """Measure, then write or compare; give the exit status: 1 on a difference, 2 where nothing could be compared."""
    flags = _flags().parse_args(arguments)
    try:
        return _run(flags)
    except Unusable as error:
        print(error, file=sys.stderr)
        return 2


def _run(flags: argparse.Namespace) -> int:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)  # a process that has started threads cannot be forked safely
    operations = everything()
    if flags.write:
        whole = table(_measured(operations, flags.jobs), _version(), _further())
        flags.table.write_text(text(whole), encoding="utf-8")
        print(f"{flags.table}: {whole['tried']} operations of torch {whole['torch']}")
        return 0
    whole = read(flags.table)
    if whole.get("torch") != _version():
        raise Unusable(f"{flags.table}: of torch {whole.get('torch')}, the installed one is {_version()}; --write anew")
    chosen = _chosen(operations, whole, flags)
    found = list(_differences(whole, operations, chosen, flags))
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{len(chosen)} operations measured, {len(found)} differences from {flags.table}")
    return 1 if found else 0


def _differences(
    whole: Mapping[str, Any], operations: Sequence[Operation], chosen: Sequence[Operation], flags: argparse.Namespace
) -> Iterator[str]:
    yield from missing(whole, (each.name for each in operations))
    yield from differences(whole, _measured(chosen, flags.jobs))
    for name, said in _further().items() if flags.check else ():
        if said != whole.get(name):
            yield f"{name}: other than the table says"


def _further() -> dict[str, object]:
    """Return what is told of torch without calling each operation."""
    return {"distributions": distributions.measure(), "scalars": scalars({each.word for each in everything()})}


def _flags() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="operations_table", description="Make or check the table of what torch's operations do to grad."
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true", help="measure everything and write the table")
    what.add_argument("--check", action="store_true", help="measure everything and compare; 1 on a difference")
    what.add_argument("--sample", type=int, metavar="N", help="measure N operations and compare")
    what.add_argument("--only", nargs="+", metavar="NAME", help="measure these and compare")
    parser.add_argument("--seed", type=int, default=0, help="which sample (default: %(default)s)")
    parser.add_argument("--table", type=Path, default=TABLE, metavar="FILE", help="another table than the package's")
    parser.add_argument(
        "--jobs", type=int, default=min(2, os.cpu_count() or 1), help="processes (default: %(default)s)"
    )
    return parser


def _version() -> str:
    """Return the installed torch's release, without what tells one build of it from another."""
    return str(torch.__version__).partition("+")[0]


def _chosen(operations: Sequence[Operation], whole: Mapping[str, Any], flags: argparse.Namespace) -> list[Operation]:
    if flags.only:
        by_name = {each.name: each for each in operations}
        unknown = [name for name in flags.only if name not in by_name]
        if unknown:
            raise Unusable(f"no operation of torch {_version()}: {', '.join(unknown)}")
        return [by_name[name] for name in flags.only]
    if flags.sample is None:
        return list(operations)
    always = {*whole["partial_methods"], *whole["partial_functions"]}
    others = [each for each in operations if each.name not in always]
    count = max(0, min(len(others), flags.sample - len(always)))
    drawn = random.Random(flags.seed).sample(others, count)
    return [each for each in operations if each.name in always or each in drawn]


def _measured(operations: Sequence[Operation], jobs: int) -> dict[str, Entries]:
    prepare()
    return {record.name: entries(record) for record in measured(operations, jobs, _Progress(len(operations)))}


class _Progress:
    """One line on the terminal; nothing where standard error is none."""

    def __init__(self, total: int) -> None:
        self._total = total

    def __call__(self, done: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{done} of {self._total}", end="\n" if done == self._total else "", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
