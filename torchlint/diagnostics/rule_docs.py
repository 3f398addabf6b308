"""The page of each rule, read from its module without importing it, and so without importing LibCST."""

from __future__ import annotations

import ast
from importlib.resources import files
from textwrap import fill

from torchlint.diagnostics.assumptions import ASSUMPTIONS, BY_CLAIM, told
from torchlint.diagnostics.registry import RULES
from torchlint.diagnostics.rule_metadata import RuleMetadata

_OWN = {
    "syntax-error": (
        "The file is no Python that torchlint can read.\n\n"
        "It is reported with its place, whatever is selected, because a file that was not understood was not checked.\n"
        "The other files of the run are checked all the same, and so are the other cells of a notebook.\n"
        "To leave such files out, name them in `exclude`."
    ),
    "file-too-large": (
        "The file holds so much code that it was skipped.\n\n"
        "Files of this size are data, or were made by a program. `max-file-size` sets the limit in bytes of code:\n"
        "1,000,000 by default, 0 for none. Of a notebook only the cells of code count, not their outputs.\n"
        "The finding never changes the exit status. To leave the file out without a word, name it in `exclude`."
    ),
    "unused-suppression": """\
A comment silences a rule that finds nothing there.

## What it does
Reports codes in `# noqa: ...`, `# torchlint: ignore[...]`, `ignore-file[...]` and `disable[...]` whose rule finds
nothing on the lines they reach, codes that are named twice, an `enable` that ends nothing, and comments that stand
where they do not count.

Codes of other tools are never judged and never touched, and neither is a `# noqa` without codes. A code is judged only
if its rule is on for the file; a prefix or a bare `# torchlint: ignore` is judged by all rules that it stands for.
`--min-confidence` has no say: a comment that silences a weak finding is in use.

## Why is this bad?
A suppression that has outlived its fault says that something is wrong where nothing is, and will hide the next one.

## Example
```python
array = torch.ones(3).numpy()  # noqa: E261, TNS101
```

Use instead:
```python
array = torch.ones(3).numpy()  # noqa: E261
```

## Fix safety
Safe: it takes away exactly the codes that silence nothing, and the whole comment where nothing else is left. Words
behind them stay as a plain comment. Suppressions are looked at when nothing else is left to fix, so that those that a
fix has made idle go in the same run. To keep one, name this rule in it: `# noqa: TNS101, TNS901`.
""",
    "unknown-code-in-suppression": """\
A comment silences a rule that does not exist.

## What it does
Reports codes that begin with `TNS` in `# noqa: ...`, and any word in `# torchlint: ignore[...]` and its kin, that are
neither a rule's code, nor a prefix of codes, nor a rule's name; and brackets that are not closed.

Codes of other tools are never reported and never touched.

## Why is this bad?
The comment silences nothing: it is misspelled, or the rule is gone.

## Example
```python
array = loss.numpy()  # torchlint: ignore[TNS101, TNS999x]
```

Use instead:
```python
array = loss.numpy()  # torchlint: ignore[TNS101]
```

## Fix safety
Safe: it takes away exactly the unknown words, and the whole comment where nothing else is left. Where a word is a slip
of the pen, correct it instead; the message names the nearest spelling.
""",
    "unknown-directive": """\
A comment speaks to torchlint in words that it does not know.

## What it does
Reports comments that begin with `torchlint:` and go on with none of `ignore`, `ignore-file`, `disable` and `enable`.

## Why is this bad?
The comment silences nothing, and looks as if it did: `# torchlint: noqa` is a slip that nobody notices until the fault
that it was to silence turns up in a review.

## Example
```python
array = loss.numpy()  # torchlint: noqa
```

Use instead:
```python
array = loss.numpy()  # torchlint: ignore[TNS101]
```

## Fix safety
There is no fix: the message names the order that was most likely meant.
""",
}


_ASSUMED = "### What the fix assumes"
_BEHIND = "\n## References"


def page(entry: RuleMetadata) -> str:
    """Return the page: the rule's docstring, and what its fixes may rest on at the end of "Fix safety"."""
    text = _written(entry)
    if not entry.assumes:
        return text
    listed = (f"- `{name}`: {ASSUMPTIONS[name]}" for name in entry.assumes)
    lines = (fill(each, 118, subsequent_indent="  ", break_on_hyphens=False) for each in listed)
    told = "\n".join((f"\n{_ASSUMED}\n\nSafe where all of these that matter to the code are proven:\n", *lines, ""))
    head, references, tail = text.partition(_BEHIND)
    return f"{head.rstrip()}\n{told}{references}{tail}"


def _written(entry: RuleMetadata) -> str:
    own = _OWN.get(entry.name)
    if own is not None:
        return own
    file = files("torchlint") / "rules" / f"{entry.module.replace('.', '/')}.py"
    text = ast.get_docstring(ast.parse(file.read_bytes())) if file.is_file() else None
    return text or "This rule has no page yet."


def assumption_page(name: str, link: str) -> str:
    """Return what an assumption says, how it stands in messages, and which rules rest on it.

    :param link: where the site says more of it
    """
    rules = [f"- {entry.code} {entry.name}" for entry in RULES if name in entry.assumes]
    claims = [each for each in BY_CLAIM.values() if each.name == name]
    is_choice = any(each.is_choice for each in claims)
    shown = "unsafe, or only shown where nothing speaks for one reading" if is_choice else "unsafe"
    return "\n".join(
        (
            fill(ASSUMPTIONS[name], 118, break_on_hyphens=False),
            "",
            "In messages:",
            "",
            *(f"- {told((each.open('x'),))}" for each in claims),
            "",
            f"Where it is not proven, a fix is {shown}. Rules with fixes that rest on it:",
            "",
            *rules,
            "",
            f"An example: {link}",
        )
    )


def summary(entry: RuleMetadata) -> str:
    """Return the first line of the page."""
    return page(entry).splitlines()[0]
