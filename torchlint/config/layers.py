"""What holds for a file: the options of all sources, laid over each other."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace

from torchlint.config.globs import matches
from torchlint.config.options import DEFAULT_EXCLUDE, DEFAULTS, IN_FILES, MAX_FILE_SIZE, WORKED_IN, Options
from torchlint.config.selectors import DEFAULT_CODES, EVERY_CODE, codes_meant, selection
from torchlint.config.values import Patterns
from torchlint.diagnostics.model import Applicability, Confidence, FileResult, Finding, Settings, Severity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SYNTAX_ERROR = "TNS900"
"""Reported whatever is selected: a file that was not understood must not pass in silence."""
FILE_TOO_LARGE = "TNS904"
"""Reported whatever is selected, for the same reason; it never changes the exit status."""

_ALWAYS_SHOWN = "TNS9"


@dataclass(frozen=True)
class Config:
    """What holds for one file, and for the run where it is the configuration of the current folder."""

    settings: Settings = field(default_factory=Settings)
    min_confidence: Confidence = Confidence.POSSIBLE
    min_severity: Severity = Severity.LEGACY
    preset: str = "all"
    unsafe_fixes: bool = False
    select: tuple[str, ...] | None = None
    """The selectors of the rules that are on; None for those that are on by default."""
    ignore: tuple[str, ...] = ()
    repaired: frozenset[str] = EVERY_CODE
    """The codes whose fixes may be applied."""
    trusted: frozenset[str] = frozenset()
    """The codes whose unsafe fixes count as safe."""
    distrusted: frozenset[str] = frozenset()
    """The codes whose safe fixes count as unsafe."""
    per_file_ignores: Patterns = ()
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    max_file_size: int = MAX_FILE_SIZE
    """So many bytes of code are looked at in a file, at most; 0 for any number."""
    root: str = ""
    """The absolute folder of the configuration file, which anchors its patterns."""
    cwd: str = ""
    """The absolute folder that relative paths start from."""
    path: str | None = None
    """The configuration file, None where there is none."""
    run: Options = DEFAULTS
    """All sources laid over each other, with what they say of rules and excluded files put together.

    What only the command line says is not there: a run's paths would go with every file to every process.
    """

    def codes(self, path: str) -> frozenset[str]:
        """Return the rule codes that are on for a file: those selected, less its per-file ignores."""
        chosen = _selected(self.select, self.ignore) | {SYNTAX_ERROR}
        if not self.per_file_ignores:
            return chosen
        absolute = self._absolute(path)
        for pattern, ignored in self.per_file_ignores:
            negated = pattern.startswith("!")
            if matches(absolute, [pattern[negated:]], self.root or self.cwd) != negated:
                chosen = chosen.difference(*(codes_meant(each) for each in ignored))
        return chosen | {SYNTAX_ERROR}

    def cache_key(self) -> tuple[object, ...]:
        """Return all that a result for a file of a folder rests on, beside the files and the program.

        It is asked of :attr:`run`, so of a configuration that :func:`assemble` has made.
        """
        entries = {each.name: each.metadata["option"] for each in fields(self.run)}
        rests_on = tuple(getattr(self.run, name) for name, entry in entries.items() if entry.in_cache_key)
        return (*rests_on, self.root, self.cwd) if self.per_file_ignores else rests_on

    def fixable(self, code: str) -> bool:
        """Return whether fixes of this rule may be applied."""
        return code in self.repaired

    def shows(self, finding: Finding) -> bool:
        """Whether a finding is shown, by the severity asked for and the preset; torchlint's own always are.

        It is asked last: suppressions and the baseline know of the others, too, so that none of these looks unused.
        """
        if finding.code.startswith(_ALWAYS_SHOWN):
            return True
        if finding.severity < self.min_severity:
            return False
        if self.preset == "modernize":
            fix = finding.fix
            least = Applicability.UNSAFE if self.unsafe_fixes else Applicability.SAFE
            return finding.severity is Severity.LEGACY and fix is not None and fix.applicability >= least
        return self.preset == "all" or finding.severity > Severity.LEGACY

    def shown(self, result: FileResult) -> FileResult:
        """Return a result without the findings that are not shown."""
        if all(map(self.shows, result.findings)):
            return result
        return replace(result, findings=tuple(filter(self.shows, result.findings)))

    def overruled(self, finding: Finding) -> Finding:
        """Return a finding with its fix as far to be trusted as the configuration says of its rule."""
        fix = finding.fix
        if fix is not None and finding.code in self.trusted and fix.applicability is Applicability.UNSAFE:
            return replace(finding, fix=replace(fix, overruled=Applicability.SAFE))
        if fix is not None and finding.code in self.distrusted and fix.applicability is Applicability.SAFE:
            return replace(finding, fix=replace(fix, overruled=Applicability.UNSAFE))
        return finding

    def excludes(self, path: str) -> bool:
        """Return whether ``exclude`` or ``extend-exclude`` names this file or folder itself."""
        return matches(self._absolute(path), self.exclude, self.root or self.cwd)

    def _absolute(self, path: str) -> str:
        return os.path.normpath(os.path.join(self.cwd, path))


def assemble(layers: Iterable[Options], root: str = "", cwd: str = "", path: str | None = None) -> Config:
    """Lay options over each other, the strongest last.

    :raises UnknownSelector: where a selector means no rule.
    """
    run = merged([DEFAULTS, *layers])
    return Config(
        settings=Settings(run.strict or False, run.numpy_style or "chain", run.target_torch),
        min_confidence=Confidence.POSSIBLE if run.min_confidence is None else run.min_confidence,
        min_severity=run.min_severity or Severity.LEGACY,
        preset=run.preset or "all",
        unsafe_fixes=run.unsafe_fixes or False,
        select=run.select,
        repaired=frozenset(run.fixable or ()),
        trusted=frozenset(run.extend_safe_fixes or ()),
        distrusted=frozenset(run.extend_unsafe_fixes or ()),
        per_file_ignores=run.per_file_ignores or (),
        exclude=run.exclude or (),
        max_file_size=MAX_FILE_SIZE if run.max_file_size is None else run.max_file_size,
        root=root,
        cwd=cwd,
        path=path,
        run=run,
    )


def merged(layers: list[Options]) -> Options:
    """Lay what files may hold over each other, the strongest last; what adds to options is put together with them.

    :raises UnknownSelector: where a selector means no rule.
    """
    selected, repaired = DEFAULT_CODES, EVERY_CODE
    trusted, distrusted = frozenset[str](), frozenset[str]()
    for layer in layers:
        ignored = (*(layer.ignore or ()), *(layer.extend_ignore or ()))
        selected = selection(selected, layer.select, layer.extend_select or (), ignored)
        repaired = selection(repaired, layer.fixable, (), layer.unfixable or ())
        safe, unsafe = layer.extend_safe_fixes or (), layer.extend_unsafe_fixes or ()
        trusted = selection(trusted, None, safe, unsafe)
        distrusted = distrusted.union(*map(codes_meant, unsafe)) - trusted
    strongest: dict[str, Any] = {name: _strongest(layers, name) for name in IN_FILES}
    extended = (each.extend_exclude or () for each in layers)
    together = {
        "select": tuple(sorted(selected)),
        "fixable": tuple(sorted(repaired)),
        "extend_safe_fixes": tuple(sorted(trusted)),
        "extend_unsafe_fixes": tuple(sorted(distrusted)),
        "exclude": sum(extended, strongest["exclude"]),
    }
    return Options(**{**strongest, **dict.fromkeys(WORKED_IN, ()), **together})


@functools.lru_cache(maxsize=64)
def _selected(select: tuple[str, ...] | None, ignore: tuple[str, ...]) -> frozenset[str]:
    return selection(DEFAULT_CODES, select, (), ignore)


def _strongest(layers: list[Options], name: str) -> object:
    values = (getattr(layer, name) for layer in reversed(layers))
    return next((value for value in values if value is not None), None)
