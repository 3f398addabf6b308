"""The oldest torch a project supports, read from the dependencies in its ``pyproject.toml``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

Version = tuple[int, int]

_REQUIREMENT = r"\s*torch(?![\w.-])\s*(?:\[[^\]]*\])?\s*(?P<bounds>[^;@]*)(?:;.*)?"
_BOUND = r"\s*(?P<sign>>=|===?|~=|\^|~|>|)\s*v?(?P<major>\d+)(?:\.(?P<minor>\d+))?[\w.*+!-]*\s*"


def declares_project(document: Mapping[str, object]) -> bool:
    """Tell whether a ``pyproject.toml`` describes a project and not only tools."""
    return "project" in document or bool(_table(_table(document, "tool"), "poetry"))


def oldest_torch(document: Mapping[str, object]) -> Version | None:
    """Give the lower bound on torch as (major, minor): required dependencies first, else the optional ones.

    None where torch is not named or has no lower bound.
    """
    required = list(_required(document))
    bounds = [_lowest(each) for each in required or _optional(document)]
    return None if None in bounds else min((each for each in bounds if each), default=None)


def _required(document: Mapping[str, object]) -> Iterator[str]:
    yield from _torch_bounds(_table(document, "project").get("dependencies"))
    yield from _poetry_bounds(_table(_poetry(document), "dependencies"))


def _optional(document: Mapping[str, object]) -> Iterator[str]:
    for extra in _table(_table(document, "project"), "optional-dependencies").values():
        yield from _torch_bounds(extra)
    for group in _table(_poetry(document), "group").values():
        if isinstance(group, dict):
            yield from _poetry_bounds(_table(group, "dependencies"))


def _poetry(document: Mapping[str, object]) -> Mapping[str, object]:
    return _table(_table(document, "tool"), "poetry")


def _torch_bounds(requirements: object) -> Iterator[str]:
    for requirement in requirements if isinstance(requirements, list) else ():
        if not isinstance(requirement, str) or "torch" not in requirement.lower():  # before a pattern is compiled
            continue
        found = re.fullmatch(_REQUIREMENT, requirement, re.IGNORECASE | re.DOTALL)
        if found:
            yield found["bounds"].strip(" ()")


def _poetry_bounds(table: Mapping[str, object]) -> Iterator[str]:
    wanted = table.get("torch")
    for each in wanted if isinstance(wanted, list) else [wanted]:
        version = each.get("version") if isinstance(each, dict) else each
        if isinstance(version, str):
            yield from version.split("||")


def _lowest(bounds: str) -> Version | None:
    """Give the highest of the lower bounds in ``>=1.13,<3``."""
    found = [re.fullmatch(_BOUND, each) for each in bounds.split(",")]
    lower = [(int(each["major"]), int(each["minor"] or 0)) for each in found if each]
    return max(lower, default=None)


def _table(document: Mapping[str, object], key: str) -> Mapping[str, object]:
    value = document.get(key)
    return value if isinstance(value, dict) else {}
