"""The oldest torch a project supports, read from the dependencies in its ``pyproject.toml``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

Version = tuple[int, int]

_LOWER_BOUNDS = (">=", ">", "~=", "==", "===")


def declares_project(document: Mapping[str, object]) -> bool:
    """Return whether a ``pyproject.toml`` describes a project and not only tools."""
    return "project" in document or bool(_table(_table(document, "tool"), "poetry"))


def oldest_torch(document: Mapping[str, object]) -> Version | None:
    """Return the lower bound on torch as (major, minor): required dependencies first, else the optional ones.

    None where torch is not named or has no lower bound. A requirement that cannot be read is passed over.
    """
    required = list(_required(document))
    bounds = [_lowest(each) for each in required or _optional(document)]
    return None if None in bounds else min((each for each in bounds if each), default=None)


def _required(document: Mapping[str, object]) -> Iterator[SpecifierSet]:
    yield from _torch_bounds(_table(document, "project").get("dependencies"))
    yield from _poetry_bounds(_table(_poetry(document), "dependencies"))


def _optional(document: Mapping[str, object]) -> Iterator[SpecifierSet]:
    for extra in _table(_table(document, "project"), "optional-dependencies").values():
        yield from _torch_bounds(extra)
    for group in _table(_poetry(document), "group").values():
        if isinstance(group, dict):
            yield from _poetry_bounds(_table(group, "dependencies"))


def _poetry(document: Mapping[str, object]) -> Mapping[str, object]:
    return _table(_table(document, "tool"), "poetry")


def _torch_bounds(requirements: object) -> Iterator[SpecifierSet]:
    for text in requirements if isinstance(requirements, list) else ():
        if not isinstance(text, str) or "torch" not in text.lower():
            continue  # so that few projects pay for the import
        from packaging.requirements import InvalidRequirement, Requirement

        try:
            found = Requirement(text.partition(";")[0])
        except InvalidRequirement:
            continue
        if found.name.lower() == "torch" and found.url is None:
            yield found.specifier


def _poetry_bounds(table: Mapping[str, object]) -> Iterator[SpecifierSet]:
    wanted = table.get("torch")
    for each in wanted if isinstance(wanted, list) else [wanted]:
        version = each.get("version") if isinstance(each, dict) else each
        if isinstance(version, str):
            yield from (_poetry_specifier(part) for part in version.split("||"))


def _poetry_specifier(text: str) -> SpecifierSet:
    """Read what Poetry calls a constraint: ``^1.13``, ``~2.0``, ``1.13.1`` or ``*`` beside the usual bounds."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    bounds = [each.strip() for each in text.split(",")]
    try:
        return SpecifierSet(",".join(_standard(each) for each in bounds if each and each != "*"))
    except InvalidSpecifier:
        return SpecifierSet()


def _standard(bound: str) -> str:
    """Write one bound as PEP 440 does; how far up ``^`` and ``~`` reach does not matter here."""
    if bound[0] == "^" or (bound[0] == "~" and not bound.startswith("~=")):
        return f">={bound[1:].strip()}"
    return f"=={bound}" if bound[0].isdigit() else bound


def _lowest(bounds: SpecifierSet) -> Version | None:
    """Return the highest of the lower bounds in ``>=1.13,<3``."""
    from packaging.version import InvalidVersion
    from packaging.version import Version as Release

    lower = []
    for each in bounds:
        try:
            release = Release(each.version.removesuffix(".*")) if each.operator in _LOWER_BOUNDS else None
        except InvalidVersion:  # `===` takes any text
            continue
        if release is not None:
            lower.append((release.major, release.minor))
    return max(lower, default=None)


def _table(document: Mapping[str, object], key: str) -> Mapping[str, object]:
    value = document.get(key)
    return value if isinstance(value, dict) else {}
