"""Runs the fixes proposed for the development corpus, and writes down how many were proven, refuted or not testable.

    nice python benchmarks/proofs.py             run `torchlint verify` over each release of benchmarks/corpus.txt
    python benchmarks/proofs.py --report         write the counts into docs/verify.md

What came of a release is kept as JSON below --results, so that a run which is ended goes on where it was; --again
forgets it. Only fragments made of torch, numpy and literals are run, each in a process of its own. The exit status of
--report is 1 where a safe fix is refuted.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from benchmarks.corpus import cache, fetch, listed  # noqa: E402
from torchlint.verify.verdicts import OUTCOMES  # noqa: E402

PAGE = ROOT / "docs" / "verify.md"
BLOCK = re.compile(r"(<!-- corpus: written by benchmarks/proofs.py -->\n).*?(<!-- corpus: end -->)", re.DOTALL)
SECONDS = "300"
Fix = dict[str, Any]


def main(arguments: Sequence[str]) -> int:
    """Run what has not been run, or report; give the exit status."""
    parser = argparse.ArgumentParser(description="Run torchlint's fixes for a fixed set of published packages.")
    parser.add_argument("--into", type=Path, default=cache(), help="where the releases lie (default: %(default)s)")
    parser.add_argument(
        "--results", type=Path, default=cache() / "proofs", help="what was found (default: %(default)s)"
    )
    parser.add_argument("--again", action="store_true", help="run releases again that were run before")
    parser.add_argument("--only", help="the name of one release")
    parser.add_argument("--report", action="store_true", help="run nothing, write the counts into docs/verify.md")
    flags = parser.parse_args(arguments)
    if flags.report:
        return report(flags.results)
    flags.results.mkdir(parents=True, exist_ok=True)
    for release in listed():
        kept = flags.results / f"{release}.json"
        if flags.only in (None, release.partition("==")[0]) and (flags.again or not kept.exists()):
            fetch(release, flags.into)
            kept.write_text(verified(release, flags.into), encoding="utf-8")
            print(f"{release}: {json.loads(kept.read_text(encoding='utf-8'))['counts']}", flush=True)
    return 0


def verified(release: str, into: Path) -> str:
    """Run the fixes of a release and give the JSON of it.

    :raises SystemExit: where the run itself failed.
    """
    words = ["verify", "--isolated", "--jobs", "1", "--time-limit", SECONDS, "--output-format", "json", release]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "torchlint", *words]
    ran = subprocess.run(command, cwd=into, env=environment, check=False, capture_output=True, text=True)  # noqa: S603
    if ran.returncode not in (0, 1):
        raise SystemExit(f"{release}: {ran.stderr.strip()}")
    return ran.stdout


# ---------------------------------------------------------------------- the page
def report(results: Path) -> int:
    """Write the counts into the page, and name every safe fix that is refuted; give the exit status."""
    documents = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(results.glob("*.json"))}
    if not documents:
        raise SystemExit(f"{results}: nothing was run yet")
    fixes = [fix for document in documents.values() for fix in document["fixes"]]
    lines = [*_head(documents, fixes), *_counts(fixes), *_reasons(fixes), *_differences(fixes), ""]
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(BLOCK.sub(lambda found: f"{found[1]}{chr(10).join(lines)}{found[2]}", text), encoding="utf-8")
    refuted = [fix for fix in fixes if (fix["applicability"], fix["verdict"]) == ("safe", "refuted")]
    for fix in refuted:
        print(f"{fix['filename']}:{fix['location']['row']}: {fix['code']} {fix['differences'][0]}", file=sys.stderr)
    return int(bool(refuted))


def _head(documents: dict[str, Any], fixes: list[Fix]) -> Iterator[str]:
    today = datetime.datetime.now(tz=datetime.timezone.utc).date().isoformat()
    torch = ", ".join(sorted({each["torch"] for each in documents.values()}))
    devices = ", ".join(sorted({name for each in documents.values() for name in each["devices"]}))
    left = [each for each in listed() if each not in documents]
    yield ""
    yield f"On {today} with torch {torch} on {devices}: {len(fixes)} fixes proposed for {len(documents)} releases of"
    yield "`benchmarks/corpus.txt`, the unsafe ones included."
    if left:
        yield f"Not run: {', '.join(left)}."
    yield ""


def _counts(fixes: list[Fix]) -> Iterator[str]:
    yield f"| rule | fix | {' | '.join(OUTCOMES)} |"
    yield f"|---|---|{'---|' * len(OUTCOMES)}"
    counted = Counter((fix["code"], fix["applicability"], fix["verdict"]) for fix in fixes)
    for code, claim in sorted({key[:2] for key in counted}):
        yield f"| {code} | {claim} | " + " | ".join(str(counted[code, claim, each]) for each in OUTCOMES) + " |"
    whole = Counter((fix["applicability"], fix["verdict"]) for fix in fixes)
    for claim in ("safe", "unsafe"):
        yield f"| all | {claim} | " + " | ".join(str(whole[claim, each]) for each in OUTCOMES) + " |"
    yield ""


def _reasons(fixes: list[Fix]) -> Iterator[str]:
    yield "| not testable, because | safe | unsafe |"
    yield "|---|---|---|"
    yield from _by_claim((_plain(fix["reason"]), fix) for fix in fixes if fix["verdict"] == "not testable")


def _differences(fixes: list[Fix]) -> Iterator[str]:
    yield "| refuted, first seen in | safe | unsafe |"
    yield "|---|---|---|"
    refuted = (fix for fix in fixes if fix["verdict"] == "refuted")
    yield from _by_claim((_observable(fix["differences"][0]["observable"]), fix) for fix in refuted)


def _by_claim(found: Iterable[tuple[str, Fix]]) -> Iterator[str]:
    counted = Counter((word, fix["applicability"]) for word, fix in found)
    words = Counter[str]()
    for (word, _), count in counted.items():
        words[word] += count
    for word, _ in sorted(words.items(), key=lambda each: (-each[1], each[0])):
        yield f"| {word} | {counted[word, 'safe']} | {counted[word, 'unsafe']} |"
    yield ""


def _plain(reason: str) -> str:
    """Return a reason without what is different in each place."""
    head = re.sub(r"^(the old code ran in no world): .*", r"\1", reason)
    return re.sub(r"`[^`]*`", "`...`", re.sub(r" \(row \w+\)", "", head)).replace("|", "\\|")


def _observable(name: str) -> str:
    """Return what was observed without the names of the code."""
    return name.rpartition(": ")[2]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
