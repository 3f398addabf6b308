"""Scores torchlint against sites of published code that were read by hand: false alarms, missed alarms, right kinds.

    python benchmarks/score.py                   fetch what is missing, score, and print the table
    python benchmarks/score.py --write           also write it to docs/labels.md
    python benchmarks/score.py --show tuning     list each site on which torchlint and the label disagree
    python benchmarks/score.py --labels FOLDER --clones FOLDER --show unsafe
                                                 score other labels, and list the fixes that a reader calls safe

The labels in ``benchmarks/labels/`` are pointers without the code: release, path, line, and the column (in bytes, from
0) of the word at fault. Each was read in the context of its whole project before torchlint was run on it. A third of
the files, chosen by the digest of their names, is held out: tuning looks at the other two thirds only.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

import corpus  # noqa: E402
from labelled import FAMILIES, OF_A_RULE, PARTS, Site, scored  # noqa: E402

from torchlint.config import Config  # noqa: E402
from torchlint.diagnostics.model import Applicability, Confidence, Finding  # noqa: E402

LABELS = Path(__file__).with_name("labels")
PAGE = ROOT / "docs" / "labels.md"
MEASURED = "## Safe fixes"
"""The heading of what is measured with other labels, and kept when the page is written."""

DATA_CODES = {"read": "TNS201", "mutation": "TNS202", "rebinding": "TNS203", "scalar": "TNS204", "metadata": "TNS205"}


@dataclass(frozen=True)
class Verdict:
    """One question about one site: what is counted, whether torchlint is right, and the site."""

    question: str
    right: bool
    site: Site


def main(arguments: Sequence[str]) -> int:
    """Score and print; give the exit status."""
    parser = argparse.ArgumentParser(description="Score torchlint against labelled sites.")
    parser.add_argument("--labels", type=Path, default=LABELS, help="the folder of the labels (default: %(default)s)")
    parser.add_argument("--into", type=Path, default=corpus.cache(), help="where the sources lie")
    parser.add_argument("--clones", type=Path, help="where git directories lie as owner+name, for what is missing")
    parser.add_argument("--show", choices=(*PARTS, "unsafe"), help="list the sites on which they disagree")
    parser.add_argument("--any-caller", action="store_true", help="take the verdict that counts any realistic caller")
    parser.add_argument("--levels", action="store_true", help="print how often each confidence was right")
    parser.add_argument("--write", action="store_true", help="write docs/labels.md")
    flags = parser.parse_args(arguments)
    if flags.levels:
        config = Config(min_confidence=Confidence.UNPROVEN)
        print(levels(scored(flags.labels, flags.into, flags.clones, config), flags.any_caller))
        return 0
    sites = list(scored(flags.labels, flags.into, flags.clones))
    verdicts = [verdict for site in sites for verdict in judged(site)]
    for verdict in verdicts if flags.show else ():
        asked = verdict.question.startswith(_SAFE) if flags.show == "unsafe" else verdict.site.part == flags.show
        if asked and not verdict.right:
            print(shown(verdict))
    text = table(verdicts)
    print(text, "", by_project(verdicts), sep="\n")
    if any(site.label.get("safe_auto") for site in sites):
        print("", causes(verdicts), sep="\n")
    if flags.write:
        kept = PAGE.read_text(encoding="utf-8").partition(MEASURED)[2]
        PAGE.write_text(page(sites, text) + (f"\n{MEASURED}{kept}" if kept else ""), encoding="utf-8")
    return 0


# ---------------------------------------------------------------------- judging
def judged(site: Site) -> Iterator[Verdict]:
    """Hold what torchlint found against the label."""
    for question, right in _JUDGES[site.family](site):
        yield Verdict(question, right, site)
    if site.label.get("safe_auto"):
        yield Verdict(f"{_SAFE} {site.family}", _is_safe(site), site)


_SAFE = "a safe fix where a reader calls one safe:"


def _is_safe(site: Site) -> bool:
    finding = site.found(_PREFIXES[site.family])
    return finding is not None and finding.fix is not None and finding.fix.applicability is Applicability.SAFE


_PREFIXES = {"numpy": "TNS1", "data": "TNS2", "constructors": "TNS30", "variable": "TNS4"}


def _numpy(site: Site) -> Iterator[tuple[str, bool]]:
    finding = site.found("TNS101") or site.found("TNS102") or site.found("TNS103")
    verdict = site.label["verdict"]
    if verdict in ("safe", "not-torch"):
        yield f".numpy() {verdict}: silent", finding is None
        return
    yield f".numpy() {verdict}: found", finding is not None
    if finding is not None:
        said = {word for word in ("detach", "cpu") if f"`.{word}()`" in finding.message.partition(";")[0]}
        yield ".numpy() found: the missing half is named", said >= set(_words(site.label["missing"]))


def _data(site: Site) -> Iterator[tuple[str, bool]]:
    finding = site.found("TNS2")
    if site.label["torch"] is not True:
        yield ".data of something else: silent", finding is None
        return
    yield ".data of a tensor: found", finding is not None
    if finding is not None:
        yield ".data found: the use is right", finding.code == DATA_CODES[str(site.label["use"])]


def _constructor(site: Site) -> Iterator[tuple[str, bool]]:
    finding = site.found("TNS30")
    if site.label["torch"] is not True:
        yield "constructor of something else: silent", finding is None
        return
    yield "constructor: found", finding is not None
    if finding is not None:
        yield (
            "constructor found: the argument's kind is right or declared unknown",
            _kind(finding)
            in (
                "unknown",
                site.label["argument"],
            ),
        )
        yield "constructor found: the argument's kind is told", _kind(finding) != "unknown"


def _kind(finding: Finding) -> str:
    """Read from the message what the tool takes the argument for."""
    text = finding.message
    if "if it is an integer and as data if" in text:
        return "unknown"
    if "takes a tuple as data" in text:
        return "data"
    if any(
        each in text for each in ("its memory uninit", "its memory to be filled", "without arguments", "`torch.empty`")
    ):
        return "size"
    return "tensor" if "an alias of" in text or "`torch.sparse_coo_tensor`" in text else "data"


def _variable(site: Site) -> Iterator[tuple[str, bool]]:
    finding = site.found("TNS4")
    if site.label["torch"] is not True:
        yield "Variable of another library: silent", finding is None
    elif site.label["form"] == "call":
        yield "Variable(...): found", finding is not None
    elif site.label["used"]:
        yield "import of Variable in use: kept", site.found("TNS404") is None
    else:
        yield "import of Variable without use: found", site.found("TNS404") is not None


def _words(value: object) -> Iterable[str]:
    return value if isinstance(value, list) else ()


def _rule(site: Site) -> Iterator[tuple[str, bool]]:
    code = site.label["code"]
    if site.label["label"] == "true":
        yield f"{code} true: found", bool(site.findings)
    else:
        yield f"{code} look-alike: silent", not site.findings


_JUDGES: dict[str, Callable[[Site], Iterator[tuple[str, bool]]]] = {
    "numpy": _numpy,
    "data": _data,
    "constructors": _constructor,
    "variable": _variable,
    OF_A_RULE: _rule,
}


# ---------------------------------------------------------------------- showing
def shown(verdict: Verdict) -> str:
    """Spell one disagreement."""
    label = verdict.site.label
    place = f"{label['release']}/{label['path']}:{label['line']}:{label.get('column', '')}".rstrip(":")
    said = "; ".join(f"{each.code} {each.confidence}: {each.message}" for each in verdict.site.findings) or "silence"
    read = f"{label['evidence']} ({label['scope']})"
    open_ = "" if verdict.site.family == OF_A_RULE else f"\n  open: {_cause(verdict.site)}"
    return f"{verdict.question}\n  {place}\n  label: {read}\n  torchlint: {said}{open_}"


def table(verdicts: list[Verdict]) -> str:
    """Return a Markdown table: for each question how often torchlint is right, in both parts."""
    counts: Counter[tuple[str, str, bool]] = Counter((v.question, v.site.part, v.right) for v in verdicts)
    lines = ["| question | tuning part | held-out third |", "|---|---|---|"]
    for question in sorted({each.question for each in verdicts}):
        cells = [_share(counts[question, part, True], counts[question, part, False]) for part in PARTS]
        lines.append(f"| {question} | {' | '.join(cells)} |")
    return "\n".join(lines)


def by_project(verdicts: list[Verdict]) -> str:
    """Return a Markdown table: for each project and question how often torchlint is right."""
    counts: Counter[tuple[str, str, bool]] = Counter((v.site.project, v.question, v.right) for v in verdicts)
    lines = ["| project | question | right |", "|---|---|---|"]
    for project, question in sorted({(each.site.project, each.question) for each in verdicts}):
        right, wrong = counts[project, question, True], counts[project, question, False]
        lines.append(f"| {project} | {question} | {_share(right, wrong)} |")
    return "\n".join(lines)


def levels(sites: Iterable[Site], any_caller: bool = False) -> str:
    """Return a Markdown table: for each confidence of a `.numpy()` finding how many were true, with 95 % intervals.

    Below it what is found and what is flagged wrongly by default, and with all levels.
    """
    true: Counter[str] = Counter()
    false: Counter[str] = Counter()
    for site in (each for each in sites if each.family == "numpy"):
        finding = site.found("TNS101") or site.found("TNS102") or site.found("TNS103")
        level = "silent" if finding is None else str(finding.confidence)
        verdict = site.label["verdict_any" if any_caller else "verdict"]
        (true if verdict in ("error", "latent") else false)[level] += 1
    lines = ["| confidence | true | share, with its interval |", "|---|---|---|"]
    for each in sorted(Confidence, reverse=True):
        right, wrong = true[str(each)], false[str(each)]
        low, high = _interval(right, right + wrong)
        interval = f"{_percent(right, right + wrong)} ({100 * low:.0f} to {100 * high:.0f} %)" if right + wrong else ""
        lines.append(f"| `{each}` | {right} of {right + wrong} | {interval} |")
    for words, hidden in (("by default", ("silent", "unproven")), ("at `unproven`", ("silent",))):
        found = true.total() - sum(true[each] for each in hidden)
        flagged = false.total() - sum(false[each] for each in hidden)
        lines.append(f"| found {words} | {found} of {true.total()} | {_percent(found, true.total())} |")
        lines.append(f"| safe, flagged {words} | {flagged} of {false.total()} | {_percent(flagged, false.total())} |")
    return "\n".join(lines)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else ""


def _interval(part: int, whole: int) -> tuple[float, float]:
    """Return Wilson's interval of a share, at 95 %."""
    if not whole:
        return 0.0, 1.0
    z, share = 1.96, part / whole
    middle, spread = share + z * z / (2 * whole), z * sqrt(share * (1 - share) / whole + z * z / (4 * whole * whole))
    return max(0.0, (middle - spread) / (1 + z * z / whole)), (middle + spread) / (1 + z * z / whole)


def causes(verdicts: list[Verdict]) -> str:
    """Return a Markdown table: what keeps fixes from being safe where a reader calls one safe."""
    found: Counter[tuple[str, str, str]] = Counter()
    for verdict in verdicts:
        if verdict.question.startswith(_SAFE) and not verdict.right:
            use = str(verdict.site.label.get("use") or verdict.site.label.get("arg") or "")
            found[verdict.site.family, use, _cause(verdict.site)] += 1
    lines = ["| family | use | open | sites |", "|---|---|---|---|"]
    lines += [f"| {family} | {use} | {cause} | {count} |" for (family, use, cause), count in found.most_common()]
    return "\n".join(lines)


def _cause(site: Site) -> str:
    finding = site.found(_PREFIXES[site.family])
    if finding is None:
        return "no finding"
    if finding.fix is None:
        return f"{finding.code}: no fix"
    names = dict.fromkeys(each.name for each in finding.fix.assumptions if not each.is_proven)
    return f"{finding.code}: {', '.join(names)}"


def _share(right: int, wrong: int) -> str:
    total = right + wrong
    return f"{right} of {total} ({100 * right / total:.1f} %)" if total else "none"


_HELD_OUT = (
    "were held out while the inference was tuned. Their code was never looked at; the labels' reasons were read once, "
    "on 2026-11-21, when the held-out third stood at 52 of 68 safe conversions silent. Two facts were added for what "
    "they name and for the like in the tuning part, Lightning's predictions and the actions of environments, so that "
    "third is a little kinder than code not seen before."
)


def page(sites: list[Site], text: str) -> str:
    """Return the page that records the scores."""
    parts = Counter(site.part for site in sites)
    families = Counter(site.family for site in sites)
    return (
        "# Scores on labelled code\n\n"
        f"{len(sites)} sites of {len({site.label['release'] for site in sites})} published releases, each read by hand "
        "in its project before torchlint was run on it: "
        + ", ".join(f"{families[each]} {each}" for each in FAMILIES)
        + f". {parts['held out']} of them, in a third of the files, {_HELD_OUT}"
        "\n\nWritten by `python benchmarks/score.py --write`; the labels are in `benchmarks/labels/`.\n\n" + text + "\n"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
