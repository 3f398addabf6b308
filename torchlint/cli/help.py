"""The first help: what a newcomer needs, with examples, on one screen."""

from __future__ import annotations

from torchlint.cli.arguments import usage

_TEXT = """\
Find the places where PyTorch code converts tensors unsafely, say why, and
repair them. Code is read, never run. PATH is a file or a folder (default: .);
`-` reads standard input.

examples:
  torchlint                           report what is wrong below this folder
  torchlint --diff src                show the repairs, write nothing
  torchlint --fix src                 repair what is safe, report what remains
  torchlint explain TNS101            say what a rule means and why
  torchlint --select TNS1,data-read   look for some rules only
  torchlint --statistics              say where to begin

the flags that matter most:
  --fix, --diff                  repair, or show the repairs as a patch
  --unsafe-fixes                 repair also where something may come to differ
  --select, --ignore RULES       codes, prefixes, names or ALL, with commas
  --min-confidence LEVEL         certain, likely, possible (default) or unproven
  --baseline FILE                findings listed in FILE are known, not failed
  --write-baseline               list what is found now in that file
  --diff-base REV                only lines changed since a git revision
  --add-noqa[=REASON]            append a suppression to every flagged line
  --output-format FORMAT         full, concise, json, github and others
  -q, -v                         say less, say more

Exit status: 0 nothing left to report, 1 findings, 2 the run itself failed.
`torchlint check --help` lists every flag.
"""


def text() -> str:
    """Return the help."""
    return f"usage: {usage()}\n\n{_TEXT}"
