"""The first help: what a newcomer needs, with examples, on one screen."""

from __future__ import annotations

from torchlint.cli.arguments import usage

_TEXT = """\
Find the places where PyTorch code converts tensors unsafely, say why, and
repair them. Code is read, never run. PATH is a file or a folder (default: .);
`-` reads standard input.

examples:
  torchlint                           report findings below this folder
  torchlint --diff src                show the repairs, write nothing
  torchlint --fix src                 repair what is safe, report what remains
  torchlint explain TNS101            explain a rule
  torchlint --select TNS1,data-read   use only some rules
  torchlint --statistics              count findings, to see where to begin

the flags that matter most:
  --fix, --diff                  repair, or show the repairs as a patch
  --unsafe-fixes                 include fixes that may change behaviour
  --select, --ignore RULES       comma-separated codes, prefixes, names or ALL
  --min-confidence LEVEL         certain, likely, possible (default) or unproven
  --baseline FILE                do not fail on the findings listed in FILE
  --write-baseline               write the current findings to that file
  --diff-base REV                report only lines changed since a git revision
  --add-noqa[=REASON]            append a suppression to every flagged line
  --output-format FORMAT         full, concise, json, github and others
  --config 'KEY = VALUE'         override one setting of the configuration
  -q, -v                         print less, print more

Exit status: 0 nothing left to report, 1 findings, 2 the run itself failed.
`torchlint check --help` lists every flag.
"""


def text() -> str:
    """Return the help."""
    return f"usage: {usage()}\n\n{_TEXT}"
