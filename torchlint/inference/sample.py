"""What the project's own callers hand to a function: a sample of what it is called with.

It decides how sure a finding is, and never whether a fix is safe: other projects may call the function too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from torchlint.facts.callers import Asked, CallerEvidence, CallSite, EvidenceLevel
from torchlint.facts.value import Device, Grad, Kind, Mode, Value
from torchlint.inference.models import nn
from torchlint.inference.program.module_files import is_of_tests
from torchlint.inference.project_calls import CALLED_AS_OBJECT, Hierarchy, SampledFile, calls_in, module_words
from torchlint.source import files
from torchlint.source.notebook import SUFFIX
from torchlint.syntax.ast_index import FUNCTIONS, Function
from torchlint.syntax.signatures import first_parameter, is_static, unpacks, written_argument

_MOST_CALLS = 20
"""Of a function that is called more often nothing is told."""
_MOST_LOOKS = 60
"""So many calls are looked at for the sake of one file."""
_DEEPEST = 6
"""Callers of callers are asked this far up."""
_BY_ATTRIBUTE = rb"\.(?:[\s\\]|#[^\r\n]*[\r\n])*%(word)b\b"
"""A word behind a dot, and what may stand between."""
_BY_IMPORT = (
    rb"\bimport\b(?:[^\r\n;()#\\]|\\\r?\n)*\b%(word)b\b"
    rb"|\bimport[\s\\]*\((?:[^)#]|#[^\r\n]*(?:[\r\n]|\Z))*\b%(word)b\b"
    rb"|\b(?:%(stems)b)\b"
)
"""A word among those of an import, or the name of the module that it stands in."""


@dataclass(frozen=True)
class SampledCall(CallSite):
    """A call, and what is known about the file in which it stands."""

    analysis: SampledFile


@dataclass(frozen=True)
class _Calls:
    """The calls of a function in the project."""

    sites: tuple[SampledCall, ...] = ()
    handed_on: bool = False
    """Whether it is handed on somewhere, so that others may call it, too."""

    @property
    def deciding(self) -> tuple[SampledCall, ...]:
        """The calls that are surely its own, if there are such: what others may hand over tells nothing beside them."""
        return tuple(each for each in self.sites if each.is_sure) or self.sites


class Sample:
    """The calls of functions, wherever in the project they stand; tests are left out: they make up what they give."""

    def __init__(self, analysis: SampledFile, beside: Sample | None = None) -> None:
        """Begin with the file that is checked; ``beside``: another sample, whose knowledge of files is shared."""
        self._own = analysis
        self._analyses: dict[str, SampledFile | None] = {analysis.path or "": analysis}
        if beside is not None:
            self._analyses = beside._analyses  # noqa: SLF001  # of its own class
        self._calls: dict[ast.AST, _Calls] = {}
        self._without_grad: dict[tuple[ast.AST, int], bool] = {}
        self._left = _MOST_LOOKS

    def brought(self, argument: ast.arg, asked_for: Asked, home: SampledFile | None = None) -> CallerEvidence:
        """Return what the calls bring of a fault by an argument; ``home`` is its file, where that is another one."""
        home = home or self._own
        given, source = EvidenceLevel.NOTHING, None
        waiting, seen = [(home, argument, 0)], {argument}
        while waiting:
            analysis, asked, depth = waiting.pop(0)
            calls = self._calls_with(analysis, asked)
            if not calls.sites or depth > _DEEPEST:
                given = max(given, EvidenceLevel.UNKNOWN)
                continue
            for site in calls.sites:
                found = self._brought_by(site, asked, asked_for, depth)
                if found is EvidenceLevel.SOURCE:
                    given, source = found, source or site
                elif site not in calls.deciding:
                    continue
                elif isinstance(found, EvidenceLevel):
                    given = max(given, found)
                elif found not in seen:
                    seen.add(found)
                    waiting.append((site.analysis, found, depth + 1))
        calls = self._calls_with(home, argument)
        is_all = home.presuming.is_program and not calls.handed_on
        return CallerEvidence(given, len(calls.deciding), source, is_all, calls.handed_on)

    def calls_elsewhere(self, function: Function, home: SampledFile) -> tuple[SampledCall, ...]:
        """Return the calls of a function of a file in other files, where no other function can be meant."""
        sites = (each for each in self._calls_of(home, function).sites if each.analysis.path != home.path)
        return tuple(each for each in sites if each.analysis.means(each.call.func, home.path, function))

    def is_without_grad(self, node: ast.expr) -> bool:
        """Whether a place is reached in grad mode from no call in the project."""
        return self._is_without_grad(self._own, node, 0)

    @property
    def reads(self) -> dict[str, str | None]:
        """What the sample rests on: see :attr:`SampledFile.reads`."""
        found: dict[str, str | None] = {}
        for analysis in self._analyses.values():
            if analysis is not None and analysis is not self._own:
                found |= analysis.reads
        return found

    @property
    def asked(self) -> dict[tuple[str, ...], str | None]:
        """The questions about all texts of the project: see :attr:`SampledFile.asked`."""
        found: dict[tuple[str, ...], str | None] = {}
        for analysis in self._analyses.values():
            if analysis is not None and analysis is not self._own:
                found |= analysis.asked
        return found

    def close(self) -> None:
        """Let go of the other files."""
        for analysis in self._analyses.values():
            if analysis is not None and analysis is not self._own:
                analysis.close()
        self._analyses.clear()
        self._calls.clear()

    # ------------------------------------------------------------------ what is given
    def _calls_with(self, analysis: SampledFile, argument: ast.arg) -> _Calls:
        """Return the calls that may hand something over for an argument; none where that cannot be told."""
        function = analysis.index.parents.get(analysis.index.parents[argument])
        if not isinstance(function, FUNCTIONS) or argument in (function.args.vararg, function.args.kwarg):
            return _Calls()
        return self._calls_of(analysis, function)

    def _brought_by(
        self, site: SampledCall, argument: ast.arg, asked_for: Asked, depth: int
    ) -> EvidenceLevel | ast.arg:
        """Return what one call brings of a fault by an argument, or by which argument of its own it came there."""
        call, presuming = site.call, site.analysis.presuming
        node = handed_to(call, site.function, argument)
        if node is None:  # its default, which is no live tensor, or what is unpacked: that is not followed
            return EvidenceLevel.UNKNOWN if unpacks(call) else EvidenceLevel.NOTHING
        value = presuming.value(node)
        if not _may_bring(value, asked_for):
            return EvidenceLevel.NOTHING
        if asked_for is not Asked.ACCELERATOR and self._is_without_grad(site.analysis, call, depth):
            return EvidenceLevel.NOTHING
        why = value.why_device if asked_for is Asked.ACCELERATOR else value.why_grad
        if _brings(value, asked_for):
            return EvidenceLevel.SOURCE
        start = why.start if why is not None else None
        is_own = isinstance(start, ast.arg) and start in presuming.index.parents
        return start if is_own and isinstance(start, ast.arg) else EvidenceLevel.UNKNOWN

    def _is_without_grad(self, analysis: SampledFile, node: ast.expr, depth: int) -> bool:
        if not analysis.presuming.mode(node) & Mode.ON:
            return True
        function = analysis.index.owner(node)
        if depth >= _DEEPEST or not isinstance(function, FUNCTIONS):
            return False
        if (function, depth) not in self._without_grad:
            calls = self._calls_of(analysis, function)
            inner = (self._is_without_grad(each.analysis, each.call, depth + 1) for each in calls.sites)
            self._without_grad[function, depth] = bool(calls.sites) and not calls.handed_on and all(inner)
        return self._without_grad[function, depth]

    # ------------------------------------------------------------------ who calls
    def _calls_of(self, analysis: SampledFile, function: Function) -> _Calls:
        """Return the calls of a function in the project; none where they are too many, or cannot be told."""
        if function not in self._calls:
            self._calls[function] = _Calls()  # while they are looked for
            found = self._look(analysis, function)
            self._left -= len(found.sites)
            self._calls[function] = found if self._left >= 0 else _Calls()
        return self._calls[function]

    def _look(self, analysis: SampledFile, function: Function) -> _Calls:
        owner = analysis.index.parents.get(function)
        own_class = owner if isinstance(owner, ast.ClassDef) else None
        if own_class is None and owner is not analysis.index.tree:
            return _Calls()
        word = function.name
        if own_class is not None and (word == "__init__" or word in CALLED_AS_OBJECT):
            word = own_class.name
        elif word.startswith("__"):
            return _Calls()
        paths = analysis.other_texts.spelling(word)
        if paths is None:
            return _Calls()
        found: list[SampledCall] = []
        handed_on, looked_at = False, 0
        is_method = own_class is not None and word == function.name
        hierarchy = Hierarchy(analysis, own_class)
        pattern = _BY_ATTRIBUTE if is_method else _BY_IMPORT
        stems = b"|".join(re.escape(each.encode()) for each in sorted(module_words(analysis)))
        call = re.compile(pattern % {b"word": word.encode(), b"stems": stems})
        for other in (analysis, *self._others(analysis, paths, call)):
            calls = list(calls_in(other, analysis, function, hierarchy))
            handed_on |= None in calls
            known = [each for each in calls if each is not None]
            looked_at += len(known)
            if looked_at > _MOST_CALLS:
                return _Calls()
            found += [
                SampledCall(each, function, not is_method or hierarchy.calls(other, each), other)
                for each in known
                if not is_method or not hierarchy.is_of_another(other, each)
            ]
        return _Calls(tuple(found), handed_on)

    def _others(self, analysis: SampledFile, paths: list[str], call: re.Pattern[bytes]) -> Iterator[SampledFile]:
        """Yield what is known of other files than the one of a function, tests left out.

        Before a file is parsed, its text is asked whether it may call the function at all. Nobody imports a program:
        others know its objects by what it hands to those that it imports itself.
        """
        is_program = analysis.presuming.is_program
        for path in paths:
            if path == analysis.path or is_of_tests(path) or (is_program and not analysis.imports(path)):
                continue
            if not _may_hold(path, call):
                continue
            if path not in self._analyses:
                self._analyses[path] = self._own.of_file(path)
            found = self._analyses[path]
            if found is not None and found.path != analysis.path:
                yield found


def _may_hold(path: str, call: re.Pattern[bytes]) -> bool:
    """Whether a file may hold a call by its text; that of a notebook is spelled as JSON."""
    try:
        return path.endswith(SUFFIX) or call.search(files.read(path)) is not None
    except OSError:
        return True


def _may_bring(value: Value, asked_for: Asked) -> bool:
    """Whether a value may be what is asked for."""
    if asked_for is Asked.NETWORK:
        return value.may(Kind.MODULE | Kind.OTHER) and value.grad != Grad.DETACHED
    return value.may_require_grad if asked_for is Asked.GRADIENT else value.may_be_on_accelerator


def _brings(value: Value, asked_for: Asked) -> bool:
    """Whether a value is seen to be what is asked for, by more than a name."""
    if asked_for is Asked.NETWORK:
        return value.must(Kind.MODULE) and value.grad == Grad.ATTACHED and nn.may_have_parameters(value)
    why = value.why_device if asked_for is Asked.ACCELERATOR else value.why_grad
    is_live = bool(value.device & Device.ACCELERATOR) if asked_for is Asked.ACCELERATOR else value.grad == Grad.ATTACHED
    return is_live and why is not None and not any(step.named for step in why.chain())


def handed_to(call: ast.Call, function: Function, argument: ast.arg) -> ast.expr | None:
    """Return what a call hands over for an argument; None where it leaves it to its default."""
    first = first_parameter(function)
    is_bound = first in ("self", "cls") and not is_static(function)
    if is_bound and argument.arg == first:
        return _object_of(call, function)
    return written_argument(call, function, argument.arg, is_bound)


def _object_of(call: ast.Call, function: Function) -> ast.expr:
    """Return the object whose method a call runs: ``net`` of ``net.size()`` and of ``net(x)``."""
    match call.func:
        case ast.Attribute(value=owner, attr=word) if word == function.name:
            return owner
    return call.func
