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
        "The file is not Python that torchlint can parse.\n\n"
        "It is always reported, whatever is selected, because the file was not checked. Other files, and other cells\n"
        "of a notebook, are checked. To skip such files, list them in `exclude`."
    ),
    "file-too-large": (
        "The file holds so much code that it was skipped.\n\n"
        "Files of this size are data, or were made by a program. `max-file-size` sets the limit in bytes of code:\n"
        "1,000,000 by default, 0 for none. Of a notebook only the cells of code count, not their outputs.\n"
        "The finding never changes the exit status. To leave the file out without a word, name it in `exclude`."
    ),
    "unused-suppression": """\
A comment silences a rule that reports nothing there.

## What it does
Reports codes in `# noqa: ...`, `# torchlint: ignore[...]`, `ignore-file[...]` and `disable[...]` whose rule reports
nothing on the lines that they cover, codes that appear twice, an `enable` that ends nothing, and comments in places
where they have no effect.

Codes of other tools, and a `# noqa` without codes, are never reported or changed. A code counts as unused only if its
rule is on for the file; a prefix or a bare `# torchlint: ignore` is judged by all rules that it covers. A comment that
silences a finding below `--min-confidence` counts as used.

## Why is this bad?
An outdated suppression claims that something is wrong, and hides the next real problem.

## Example
```python
array = torch.ones(3).numpy()  # noqa: E261, TNS101
```

Use instead:
```python
array = torch.ones(3).numpy()  # noqa: E261
```

## Fix safety
Safe: the fix removes exactly the codes that silence nothing, and the whole comment if nothing else is left. Text after
the codes stays as a plain comment. Suppressions are checked after all other fixes, so the same run removes those that a
fix has made unnecessary. To keep one, name this rule in it: `# noqa: TNS101, TNS901`.
""",
    "unknown-code-in-suppression": """\
A comment silences a rule that does not exist.

## What it does
Reports codes that begin with `TNS` in `# noqa: ...`, and any word in `# torchlint: ignore[...]` and similar comments,
that is not a rule's code, a prefix of codes or a rule's name. Also reports brackets that are not closed.

Codes of other tools are never reported or changed.

## Why is this bad?
The comment silences nothing: the code is misspelled, or the rule was removed.

## Example
```python
array = loss.numpy()  # torchlint: ignore[TNS101, TNS999x]
```

Use instead:
```python
array = loss.numpy()  # torchlint: ignore[TNS101]
```

## Fix safety
Safe: the fix removes exactly the unknown words, and the whole comment if nothing else is left. If a word is misspelled,
correct it instead; the message suggests the nearest spelling.
""",
    "unknown-directive": """\
A comment begins with `torchlint:` but is not a known directive.

## What it does
Reports comments that begin with `torchlint:`, followed by anything but `ignore`, `ignore-file`, `disable` or `enable`.

## Why is this bad?
The comment silences nothing, but looks as if it did: a mistake such as `# torchlint: noqa` goes unnoticed.

## Example
```python
array = loss.numpy()  # torchlint: noqa
```

Use instead:
```python
array = loss.numpy()  # torchlint: ignore[TNS101]
```

## Fix safety
There is no fix: the message suggests the directive that was most likely meant.
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
    told = "\n".join((f"\n{_ASSUMED}\n\nSafe if all of these that apply are proven:\n", *lines, ""))
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
