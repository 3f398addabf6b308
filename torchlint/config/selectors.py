"""Which rule codes a selector means: a code, a prefix of codes, a rule's name, or ``ALL``."""

from __future__ import annotations

from collections.abc import Iterable

from torchlint.diagnostics.registry import BY_CODE, BY_NAME

ALL = "ALL"
EVERY_CODE: frozenset[str] = frozenset(BY_CODE)
DEFAULT_CODES: frozenset[str] = frozenset(code for code, entry in BY_CODE.items() if entry.default)

_FAMILY = "TNS"


class UnknownSelector(ValueError):
    """A selector that means no rule; the text says which and names the nearest spelling."""


def codes_of(selector: str) -> frozenset[str]:
    """Return the codes that a selector means, an empty set where it means none."""
    folded = selector.strip().upper()
    if folded == ALL:
        return EVERY_CODE
    if folded in BY_CODE:
        return frozenset((folded,))
    named = BY_NAME.get(selector.strip().lower())
    if named is not None:
        return frozenset((named.code,))
    if _is_prefix(folded):
        return frozenset(code for code in BY_CODE if code.startswith(folded))
    return frozenset()


def codes_meant(selector: str) -> frozenset[str]:
    """Return the codes that a selector means.

    :raises UnknownSelector: where it means none.
    """
    found = codes_of(selector)
    if not found:
        raise UnknownSelector(f"unknown rule `{selector}`{suggestion(selector)}")
    return found


def suggestion(selector: str, others: Iterable[str] = ()) -> str:
    """Return which rule, or which of other words, may be meant by one that means none, else what families there are.

    A code that is spelled like one is meant for one of its family; more than a slip apart, no code resembles another.
    """
    folded = selector.strip().upper()
    codes = [code for code in BY_CODE if not _is_prefix(folded) or code.startswith(folded[: len("TNS0")])]
    families = ", ".join(sorted({code[: len("TNS0")] for code in BY_CODE}))
    near = nearest(folded, codes, 0.8) or nearest(selector, (*BY_NAME, ALL, *others))
    return near or f": the families are {families}; `torchlint rules` lists all rules"


def selection(
    start: frozenset[str], select: Iterable[str] | None, extend: Iterable[str], ignore: Iterable[str]
) -> frozenset[str]:
    """Lay one layer of selectors over the codes that the layers below selected.

    ``select`` starts anew where it is given. The more specific selector wins, as in ruff: ``TNS101`` over ``TNS1``
    over ``ALL``; between equals, ignoring wins.

    :raises UnknownSelector: where a selector means no rule.
    """
    chosen = set(start if select is None else ())
    ranked = [(_rank(each), False, each) for each in (*(select or ()), *extend)]
    ranked += [(_rank(each), True, each) for each in ignore]
    for _, ignored, selector in sorted(ranked):
        if ignored:
            chosen -= codes_meant(selector)
        else:
            chosen |= codes_meant(selector)
    return frozenset(chosen)


def nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return ``"; did you mean `x`?"`` for the known word that is spelled most like this one, or nothing."""
    import difflib  # here: only mistakes need it

    spelled = {each.lower(): each for each in known}
    close = difflib.get_close_matches(word.lower(), spelled, n=5, cutoff=cutoff)
    alike = difflib.SequenceMatcher(b=word.lower())

    def likeness(other: str) -> tuple[float, int]:
        """Of words that are as close, the one that begins alike is meant: `TNS101`, not `TNS311`, by `TNS1o1`."""
        alike.set_seq1(other)
        pairs = enumerate(zip(other, word.lower(), strict=False))
        return alike.ratio(), next((at for at, (one, two) in pairs if one != two), len(other))

    close.sort(key=likeness, reverse=True)
    return f"; did you mean `{spelled[close[0]]}`?" if close else ""


def _rank(selector: str) -> int:
    folded = selector.strip().upper()
    if folded == ALL:
        return 0
    return len(folded) if _is_prefix(folded) else len("TNS000")


def _is_prefix(folded: str) -> bool:
    return folded == _FAMILY or (folded.startswith(_FAMILY) and folded[len(_FAMILY) :].isdecimal())
