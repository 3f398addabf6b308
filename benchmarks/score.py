"""Scores torchlint against places of published code that were read by hand: what is found, and what is flagged wrongly.

    python benchmarks/score.py                          fetch what is missing, score, and print the table
    python benchmarks/score.py --split silent --clones FOLDER
                                                        one set alone; FOLDER holds git directories as owner+name
    python benchmarks/score.py --min-confidence unproven --show flagged
                                                        with everything that is known, and each false alarm
    python benchmarks/score.py --levels                 how often each confidence was right
    python benchmarks/score.py --labels FILE            other labels of the same form

The labels in ``benchmarks/labels.jsonl`` are pointers without the code. docs/labels.md says how each set was read.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

import corpus  # noqa: E402
from labelled import Site, labelled, scored  # noqa: E402

from torchlint.config import Config  # noqa: E402
from torchlint.diagnostics.model import Applicability, Confidence, Finding  # noqa: E402

LABELS = Path(__file__).with_name("labels.jsonl")
QUESTIONS = ("found", "flagged", "kinds", "fixes")
_NUMPY = ("TNS101", "TNS102", "TNS103")
_PREFIXES = {"numpy": _NUMPY, "data": ("TNS2",), "ctor": ("TNS30",), "variable": ("TNS4",)}
_CODES = {"read": "TNS201", "inplace": "TNS202", "rebind": "TNS203", "index0": "TNS204", "meta": "TNS205"}
_ARGUMENTS = {"sizes": "size", "size-object": "size", "empty": "size", "tensor": "tensor", "unknown": "unknown"}


@dataclass(frozen=True)
class Verdict:
    """One question about one site, and how it is answered.

    To ``found`` (a true place) and ``kinds`` and ``fixes`` (what is said there, and whether the fix is safe where a
    reader calls one safe) yes is right; to ``flagged`` (a safe place) no is.
    """

    question: str
    answer: bool
    site: Site

    @property
    def is_right(self) -> bool:
        """Whether torchlint and the label agree."""
        return self.answer is not (self.question == "flagged")


def main(arguments: Sequence[str]) -> int:
    """Score and print; give the exit status."""
    parser = argparse.ArgumentParser(description="Score torchlint against labelled places.")
    parser.add_argument("--labels", type=Path, default=LABELS, help="a file, or a folder with a sites.jsonl")
    parser.add_argument("--split", action="append", default=[], help="score one set of the labels; may be repeated")
    parser.add_argument("--into", type=Path, default=corpus.cache(), help="where the sources lie")
    parser.add_argument("--clones", type=Path, help="where git directories lie as owner+name, for what is missing")
    parser.add_argument("--min-confidence", choices=[str(each) for each in Confidence], help="what counts as found")
    parser.add_argument("--any-caller", action="store_true", help="take the verdict that counts any realistic caller")
    parser.add_argument("--show", choices=(*QUESTIONS, "all"), help="list the places on which they disagree")
    parser.add_argument("--levels", action="store_true", help="print how often each confidence was right")
    flags = parser.parse_args(arguments)
    level = Confidence.UNPROVEN if flags.levels else Config().min_confidence
    if flags.min_confidence:
        level = next(each for each in Confidence if str(each) == flags.min_confidence)
    labels = labelled(flags.labels, flags.split)
    sites = list(scored(labels, flags.into, flags.clones, Config(min_confidence=level)))
    if flags.levels:
        print(levels(sites, flags.any_caller))
        return 0
    verdicts = [verdict for site in sites for verdict in judged(site, flags.any_caller)]
    for verdict in verdicts:
        if flags.show in (verdict.question, "all") and not verdict.is_right:
            print(shown(verdict))
    print(table(verdicts))
    return 0


# ---------------------------------------------------------------------- judging
def judged(site: Site, any_caller: bool = False) -> Iterator[Verdict]:
    """Hold what torchlint found against the label."""
    finding = _finding(site)
    if not _is_true(site, any_caller):
        yield Verdict("flagged", finding is not None, site)
        return
    yield Verdict("found", finding is not None, site)
    if finding is not None and site.kind in ("numpy", "data", "ctor"):
        yield Verdict("kinds", _is_of_the_kind(finding, site), site)
    if site.label.get("safe_auto"):
        yield Verdict("fixes", bool(finding and finding.fix and _is_safe(finding)), site)


def _finding(site: Site) -> Finding | None:
    if site.label.get("form") == "import":
        return site.found("TNS404")
    return site.found(*_PREFIXES.get(site.kind, (site.kind,)))


def _is_true(site: Site, any_caller: bool) -> bool:
    """Whether something is to be said of the place."""
    verdict = str(site.label["verdict"])
    if any_caller:
        verdict = str(site.label.get("verdict_any", verdict))
    if site.label.get("form") == "import":
        return verdict.startswith("torch-") and not site.label["used"]
    return verdict in ("error", "latent", "true") or verdict.startswith("torch-")


def _is_safe(finding: Finding) -> bool:
    return finding.fix is not None and finding.fix.applicability is Applicability.SAFE


def _is_of_the_kind(finding: Finding, site: Site) -> bool:
    """Whether what is missing is named, the use is right, or the argument's kind is told and right."""
    match site.kind:
        case "numpy":
            said = {word for word in ("detach", "cpu") if f"`.{word}()`" in finding.message.partition(";")[0]}
            needs = str(site.label["needs"])
            return said >= ({"detach", "cpu"} if needs == "both" else {needs} - {"none"})
        case "data":
            return finding.code == _CODES[str(site.label["use"])]
        case "ctor":
            return _argument(finding) == _ARGUMENTS.get(str(site.label["arg"]), "data")
    raise AssertionError(site.kind)


def _argument(finding: Finding) -> str:
    """Read from the message what the tool takes the argument for."""
    text = finding.message
    if "if it is an integer and as data if" in text:
        return "not told"
    if " as data, not as a s" in text:
        return "data"
    if any(each in text for each in ("memory uninit", "memory to be filled", "without arguments", "`torch.empty`")):
        return "size"
    return "tensor" if "an alias of" in text or "`torch.sparse_coo_tensor`" in text else "data"


# ---------------------------------------------------------------------- showing
def shown(verdict: Verdict) -> str:
    """Spell one disagreement."""
    label = verdict.site.label
    project = label.get("release") or f"{label['repository']}@{label['commit']}"
    place = f"{project}/{label['path']}:{label['line']}:{label.get('column', '')}".rstrip(":")
    said = "; ".join(f"{each.code} {each.confidence}: {each.message}" for each in verdict.site.findings) or "silence"
    lines = [f"{verdict.question}: {place}", f"  label: {label['verdict']}: {label.get('note', '')}"]
    lines.append(f"  torchlint: {said}")
    if verdict.question == "fixes":
        lines.append(f"  open: {_open(verdict.site)}")
    return "\n".join(lines)


def _open(site: Site) -> str:
    finding = _finding(site)
    if finding is None or finding.fix is None:
        return "no fix"
    return ", ".join(dict.fromkeys(each.claim for each in finding.fix.assumptions if not each.is_proven))


def table(verdicts: Iterable[Verdict]) -> str:
    """Return a Markdown table: for each split and kind what is found, flagged wrongly, named rightly and safe."""
    counts: dict[tuple[str, str, str], Counter[bool]] = defaultdict(Counter)
    for each in verdicts:
        counts[each.site.split, each.site.kind, each.question][each.answer] += 1
    lines = ["| split | kind | found | safe, flagged | kinds | safe fixes |", "|---|---|---|---|---|---|"]
    for split, kind in sorted({(split, kind) for split, kind, _ in counts}):
        cells = " | ".join(_share(counts[split, kind, question]) for question in QUESTIONS)
        lines.append(f"| {split} | {kind} | {cells} |")
    return "\n".join(lines)


def _share(counts: Counter[bool]) -> str:
    return f"{counts[True]} of {counts.total()} ({_percent(counts[True], counts.total())})" if counts else ""


def levels(sites: Iterable[Site], any_caller: bool) -> str:
    """Return a Markdown table: for each split how many `.numpy()` findings of each confidence were true."""
    counts: dict[str, dict[str, Counter[bool]]] = defaultdict(lambda: defaultdict(Counter))
    for site in (each for each in sites if each.kind == "numpy"):
        finding = site.found(*_NUMPY)
        level = "silent" if finding is None else str(finding.confidence)
        counts[site.split][level][_is_true(site, any_caller)] += 1
    lines = ["| split | confidence | true | share, with its interval |", "|---|---|---|---|"]
    for split, by_level in counts.items():
        for each in sorted(Confidence, reverse=True):
            right, of = by_level[str(each)][True], by_level[str(each)].total()
            lines.append(f"| {split} | `{each}` | {right} of {of} | {_interval(right, of)} |")
        for words, hidden in (("by default", ("silent", "unproven")), ("at `unproven`", ("silent",))):
            for said, is_true in (("found", True), ("safe, flagged", False)):
                of = sum(each[is_true] for each in by_level.values())
                part = of - sum(by_level[each][is_true] for each in hidden)
                lines.append(f"| {split} | {said} {words} | {part} of {of} | {_percent(part, of)} |")
    return "\n".join(lines)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else ""


def _interval(part: int, whole: int) -> str:
    """Return a share with Wilson's interval at 95 %."""
    if not whole:
        return ""
    z, share = 1.96, part / whole
    middle, spread = share + z * z / (2 * whole), z * sqrt(share * (1 - share) / whole + z * z / (4 * whole * whole))
    low, high = max(0.0, (middle - spread) / (1 + z * z / whole)), (middle + spread) / (1 + z * z / whole)
    return f"{_percent(part, whole)} ({100 * low:.0f} to {100 * high:.0f} %)"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
