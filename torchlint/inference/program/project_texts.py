"""One look at the texts of a project: what its other files say of which a fix must know, the same for every run.

A question names the project's root and the file that asks, so that a folder, one file and a hook with three files get
the same answer. An answer is a clause for the user, such as "`tests/conftest.py` sets a default dtype", or None where
no file stands in the way. Who keeps a result keeps its questions with it, and asks them again: the result holds while
the answers are the same.

A look is kept in the process, facts by the digest of each text; :func:`look_again` has files read anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from hashlib import sha256

from torchlint.inference.program.annotation_readers import hands_on
from torchlint.inference.program.callers import EVERY_NAME, Callee, CallIndex, Texts, call_index, is_expected
from torchlint.inference.program.class_families import ClassFamily, FamilyTexts
from torchlint.inference.program.default_setters import DEVICE
from torchlint.inference.program.device_makers import entered
from torchlint.inference.program.entered_contexts import ContextsElsewhere, Elsewhere
from torchlint.inference.program.initialised_parameters import EVERYTHING, LISTING, Written, written_parameters
from torchlint.inference.program.module_files import is_of_tests
from torchlint.inference.program.name_takers import MayTake, NameTakers
from torchlint.inference.program.outside_uses import MODES, Taken
from torchlint.inference.program.reached_modules import ANY_MODULE
from torchlint.inference.program.signals import ERROR, REFUSAL, WARNING, Signal
from torchlint.inference.program.source_files import code_in, python_files, read_whole, tree_in
from torchlint.inference.program.tensor_fields import says_tensor
from torchlint.inference.program.text_facts import UNREADABLE, Facts, facts_of
from torchlint.inference.program.text_patterns import defines, imports, longest_word
from torchlint.inference.program.use_signs import may_bind, may_change
from torchlint.inference.program.warning_filters import file_with_errors
from torchlint.inference.program.word_index import WordIndex
from torchlint.source import files
from torchlint.syntax.ast_index import AstIndex

Question = tuple[str, ...]
"""What is asked, the root of the project, the path of the file that asks, and what else the question needs."""

TRACES, TAKES, BINDS, CALLS, HANDLES = "tracing", "name", "binding", "call", "handler"
SPELLS, DEFINES, BINDS_INIT, RECORDS, OVERRIDES = "word", "method", "initialisers", "recording", "attribute"
WATCHES, MAKES_ERRORS, TELLS_ERRORS = "watcher", "warning filter", "handler of one error"
STARS, READS_ANNOTATIONS, HANDS_ON, INITIALISES = "star", "annotations", "given", "parameter"
TESTS, ENTERS, SUBCLASSES, SURELY = "tests", "entered", "subclass of tensors", "surely"
BUILDS, BEGINS_AGAIN = "building", "constructor"
DEFINES_BELOW, IMPORTS, CALLS_JOINED = "definition", "import", "method of a class joined to this one"

HERE, ANYWHERE, INSIDE, TORCH = "here", "anywhere", "inside", "torch"
"""Where a name is rebound: in the module that asks, in any, as an attribute of what it stands for, or in torch."""

_SIGNALS = {HANDLES: ERROR, WATCHES: WARNING, TELLS_ERRORS: REFUSAL}


_OF_A_TEXT: dict[str, tuple[Callable[[Facts], bool], str]] = {
    READS_ANNOTATIONS: (lambda each: each.reads_annotations, "reads annotations"),
    BINDS_INIT: (lambda each: each.binds_init, "rebinds functions of `nn.init`"),
    RECORDS: (lambda each: each.records, "records traces"),
    TRACES: (lambda each: each.traces, "traces or scripts code"),
    SUBCLASSES: (lambda each: each.subclasses_tensors, "works with a subclass of `Tensor`"),
    BUILDS: (lambda each: each.changes_building, "changes how modules are built"),
    BEGINS_AGAIN: (lambda each: each.begins_again, "may call a constructor on an object that is there"),
}
"""What is asked of one text after the other, and the clause about the first of which it holds."""


def ask(question: Question) -> str | None:
    """Answer a question from the texts as they are, or were when this process looked at them last."""
    what, root, own, *more = question
    look = _LOOKS.get(root)
    if look is None:
        look = _LOOKS[root] = _Look(root)
    look.refresh()
    if look.is_too_large:
        return "the project has too many files to look through"
    if what in _OF_A_TEXT:
        return look.first(own, *_OF_A_TEXT[what])
    if what in _OF_A_PATH:
        find, clause = _OF_A_PATH[what]
        path = find(look, own, *more)
        return f"`{path}` {clause.format(*more)}" if path is not None else None
    if what == TAKES:
        name, how = more
        if (taker := look.taker(own, name, is_sure=how == SURELY)) is not None:
            return f"`{taker}` {'imports' if how == SURELY else 'may take'} `{name}` from here"
        return ask((STARS, root, own, name)) if how == "yes" else None
    if what in (OVERRIDES, DEFINES_BELOW, CALLS_JOINED):
        return _in_family(look, own, what, *more)
    if what == SPELLS:
        return look.spelling(*more)
    if what in _SIGNALS:
        name, kind, *decorators = more
        callee = Callee(name, kind.endswith("method"), frozenset(decorators), kind.startswith("async"))
        return look.handler(own, callee, _SIGNALS[what])
    if what == ENTERS:
        return None if look.is_no_device(Elsewhere(*more)) else f"`{more[1]}` may be a device"
    if what == MAKES_ERRORS:
        option = file_with_errors(root)
        clause = "may make errors of warnings"
        return f"`{option}` {clause}" if option else look.first(own, lambda each: each.makes_errors, clause)
    clause = f"may set the {what}"
    found = look.first(own, lambda each: what in each.sets.defaults, clause)
    if found is None and what == DEVICE and (path := look.enters_device()) is not None:
        return f"`{path}` {clause}"
    return found


def _in_family(look: _Look, own: str, what: str, *more: str) -> str | None:
    """Answer who has a class below or beside some that rebinds a word, or whose body defines one of some words."""
    *words, below, beside = more
    family = ClassFamily(set(below.split()), set(beside.split()))
    if what == OVERRIDES:
        return look.overrider(family, words[0])
    if what == CALLS_JOINED:
        return look.definer_below(family, frozenset(), frozenset(words), but=own)
    return look.definer_below(family, frozenset(words[0].split()), frozenset(words[1].split()))


def look_again() -> None:
    """Have files read anew when the next question is asked: they may have changed."""
    for look in _LOOKS.values():
        look.is_stale = True


class _Look:
    """The texts below one root."""

    def __init__(self, root: str) -> None:
        self._root = root
        self.is_stale = True
        self.is_too_large = False
        """Whether there are more files than are looked at."""
        self._digests: dict[str, str | None] = {}
        self._stamps: dict[str, tuple[int, ...]] = {}
        self._facts: dict[str, Facts] = {}
        self._takers = NameTakers()
        self._callers: dict[tuple[str, str, bool], CallIndex | None] = {}
        self._asked = frozenset[str]()
        """The functions and classes of which these tell."""
        self._words = WordIndex()
        self._importing: dict[tuple[str, str], bool] = {}
        self._patching: dict[str, list[str]] = {}
        self._defining: dict[tuple[str, str, str], bool] = {}
        self._calling: dict[tuple[str, str], list[tuple[str, CallIndex]]] = {}
        self._families = FamilyTexts(self._words, _tree_at)
        self._entered: dict[str, frozenset[str]] = {}
        self._written: dict[str, Written] = {}
        self._contexts: ContextsElsewhere | None = None

    def first(self, own: str, says: Callable[[Facts], bool], clause: str) -> str | None:
        """Return the clause about the first file, by path, of which something holds; the one that asks is left out."""
        for path, digest in self._digests.items():
            if path != own and says(UNREADABLE if digest is None else self._facts[digest]):
                return f"`{self._shown(path)}` {clause}"
        return None

    def enters_device(self) -> str | None:
        """Return the first file that enters what may be a device by another text, or what none tells of."""
        names = self._device_makers
        for path, digest in self._digests.items():
            if digest and not all(map(self.is_no_device, self._facts[digest].sets.entered)):
                return self._shown(path)
        spelled = {name.encode() for name in names}
        for path, digest in self._words.holding(spelled) if names else ():
            if digest not in self._entered:
                self._entered[digest] = entered(code_in(path))
            if not names.isdisjoint(self._entered[digest]):
                return self._shown(path)
        return None

    @property
    def _device_makers(self) -> set[str]:
        """The functions and names of all texts that give or hold a device."""
        return {name for each in self._digests.values() if each for name in self._facts[each].makes_devices}

    def is_no_device(self, asked: Elsewhere) -> bool:
        """Whether no device is entered, as far as one word goes."""
        if self._contexts is None:
            self._contexts = ContextsElsewhere(self._words, self._device_makers, _tree_at)
        return self._contexts.tells(asked)

    def taker(self, own: str, name: str, is_sure: bool) -> str | None:
        """Return the path, as it is shown, of the first file that may take a name from a module, or surely does."""
        module = _module(own)
        if is_sure:
            return self._first_that(own, name, lambda each: module in each.imported)
        return self._first_that(own, name, lambda each: each.from_any or module in each.by_name)

    def binder(self, own: str, name: str, where: str = HERE) -> str | None:
        """Return the path, as it is shown, of the first other file that may rebind a name of a module."""
        module = _module(own)
        if where == INSIDE:
            return self._first_that(own, name, lambda each: each.is_changed, may_change)
        if where == TORCH:
            changing = (*self._patchers(name), *self._with_modes(name))
            return next((self._shown(path) for path in changing if path != own), None)
        if where == ANYWHERE:
            return self._first_that(own, name, lambda each: bool(each.binds), may_bind)
        found = self._first_that(own, name, lambda each: not each.binds.isdisjoint({module, ANY_MODULE}), may_bind)
        return found or self._binder_of_given(own, module, name)

    def _patchers(self, name: str) -> list[str]:
        """Return the paths of the files that may rebind a name of torch's own: asked once, whoever asks."""
        if name not in self._patching:
            self._patching[name] = list(self._those_that(name, lambda each: each.in_torch, may_bind))
        return self._patching[name]

    def _with_modes(self, name: str) -> Iterator[str]:
        """Yield the files with a mode under which torch does something else; a test's acts in tests alone."""
        for path, digest in self._words.holding(each.encode() for each in MODES):
            is_test = is_of_tests(self._shown(path))
            if not is_test and self._takers.taken(path, digest, name, False, may_bind).has_mode:
                yield path

    def _binder_of_given(self, own: str, module: str, name: str) -> str | None:
        """Return the path of a file that may bind a name in whatever it is given, where somebody gives it a module."""
        if self._first_that(own, module, lambda each: module in each.gives_away) is None:
            return None
        named = {path for path, _ in self._words.holding((name.encode(),))}
        for path, digest in self._digests.items():
            if self._takers.binds_somewhere(path, digest, name, path in named):
                return self._shown(path)
        return None

    def overrider(self, family: ClassFamily, word: str) -> str | None:
        """Return the clause about the first file with a class of a family that may rebind a word."""
        for path, classes in self._families.holding(family):
            if (found := family.binder(classes, word)) is not None:
                place = "joined to this one" if family.is_beside(found) else "below"
                return f"`{self._shown(path)}` has a class {place} that may rebind `{word}`"
        return None

    def definer_below(
        self, family: ClassFamily, words: frozenset[str], words_beside: frozenset[str], but: str = ""
    ) -> str | None:
        """Return the clause about the first file, but one, with a class of a family that defines one of some words."""
        for path, classes in self._families.holding(family):
            if (found := family.definer(classes, words, words_beside)) is not None and path != but:
                place = "joined to this one" if family.is_beside(found[0]) else "below"
                return f"`{self._shown(path)}` has a class {place} with a `{found[1]}` of its own"
        return None

    def caller(self, own: str, name: str, kind: str) -> str | None:
        """Return the path, as it is shown, of the first file that may call a function or method of this name.

        A function of a module is called where it is taken from there: another file may have one of the same name.
        """
        module = _module(own)
        if kind == "method":
            return self._first_that(own, name, lambda each: each.is_asked or each.from_base or module in each.by_name)
        if module.startswith("__"):
            return self._first_that(own, name, lambda each: each.is_called or module in each.by_name)
        return self._first_that(
            own, name, lambda each: each.from_any or each.is_built or module in each.by_name | each.by_star
        )

    def star(self, own: str, name: str) -> str | None:
        """Return the path, as it is shown, of the first file that imports all names from a module."""
        module = _module(own)
        return self._first_that(own, name, lambda each: module in each.by_star)

    def _first_that(
        self, own: str, name: str, takes: Callable[[Taken], bool], may: MayTake | None = None
    ) -> str | None:
        """Return the first other file of which something holds; ``may`` tells by its bytes that it cannot."""
        return next(map(self._shown, self._those_that(name, takes, may, but=own)), None)

    def _those_that(
        self, name: str, takes: Callable[[Taken], bool], may: MayTake | None, but: str | None = None
    ) -> Iterator[str]:
        """Yield the files of which something holds, one left out."""
        named = {path for path, _ in self._words.holding((name.encode(),))}
        for path, digest in self._digests.items():
            if path != but and takes(self._takers.taken(path, digest, name, path in named, may)):
                yield path

    def importer(self, own: str) -> str | None:
        """Return the path, as it is shown, of the first other file that may import a module, or run its file."""
        word = _module(own)
        for path, digest in self._words.holding((longest_word(word),)):
            if (digest, word) not in self._importing:
                self._importing[digest, word] = imports(read_whole(path) or b"", word)
            if path != own and self._importing[digest, word]:
                return self._shown(path)
        return None

    def giver(self, own: str, *words: str) -> str | None:
        """Return the path, as it is shown, of the first file that hands on a function or class of one of some names."""
        for path, _ in self._words.holding(map(str.encode, words)):
            index = _tree_at(path) if path != own else None
            if index is not None and any(hands_on(index, word) for word in words):
                return self._shown(path)
        return None

    def handler(self, own: str, callee: Callee, signal: Signal) -> str | None:
        """Return who may expect an error or a warning of a function of a file, there or elsewhere."""
        texts = Texts(partial(self._callers_with, signal), partial(self._definers, signal))
        return is_expected((callee,), signal, texts, self._shown(own))

    def definer(self, own: str, word: str, use: str) -> str | None:
        """Return the path, as it is shown, of the first file in which a class may have a method of a name.

        ``use``: it is called, an attribute that is read, or one that is said to be a tensor.
        """
        for path, digest in self._words.holding((word.encode(),)):
            if path == own:
                continue
            key = digest, word, use
            if key not in self._defining:
                text = read_whole(path) or b""
                self._defining[key] = (
                    says_tensor(path, text, word) if use == "tensor" else defines(text, word, use == "read")
                )
            if self._defining[key]:
                return self._shown(path)
        return None

    def initialiser(self, own: str, word: str, kind: str, *lineage: str) -> str | None:
        """Return the path, as it is shown, of the first other file that may write to a parameter of a name.

        ``kind``: among tests (``"tests"``), or among all other files.
        """
        words = {word.encode(), *map(str.encode, LISTING)}
        for path, digest in self._words.holding(words):
            if path == own or (kind == TESTS) is not is_of_tests(self._shown(path)):
                continue
            if digest not in self._written:
                index = _tree_at(path)
                self._written[digest] = written_parameters(index) if index is not None else EVERYTHING
            if self._written[digest].may_hold(word, lineage):
                return self._shown(path)
        return None

    def spelling(self, word: str) -> str:
        """Return the paths of the texts that hold a word, each with its digest, one on a line."""
        found = self._words.holding((word.encode(),))
        return "\n".join(f"{digest} {self._shown(path)}" for path, digest in found)

    def _callers_with(self, signal: Signal, word: str) -> list[tuple[str, CallIndex]]:
        """Return what the texts that hold a word say of calls, with the paths as they are shown."""
        known = self._calling.get((signal.key, word))
        if known is None:
            known = self._calling[signal.key, word] = []
            is_defined = word in self._words.defined
            for path, digest in self._words.holding((word.encode(),)):
                found = self._callers_in(path, digest, signal, is_defined)
                if found is not None:
                    known.append((self._shown(path), found))
        return known

    def _definers(self, signal: Signal, word: str) -> Iterator[CallIndex]:
        """Yield what the texts say of calls that define a function or class of a name."""
        for path, digest in self._words.defining(word):
            found = self._callers_in(path, digest, signal)
            if found is not None:
                yield found

    def _callers_in(self, path: str, digest: str, signal: Signal, is_defined: bool = True) -> CallIndex | None:
        """Return what a text says of calls: of functions that the project defines, or of all that it names."""
        if self._asked is not self._words.defined:
            self._asked = self._words.defined
            self._callers.clear()
        key = signal.key, digest, is_defined
        if key not in self._callers:
            index = _tree_at(path)
            asked = self._asked if is_defined else EVERY_NAME
            self._callers[key] = call_index(index, signal, asked) if index is not None else None
        return self._callers[key]

    # ------------------------------------------------------------------ reading
    def refresh(self) -> None:
        """Read what has changed since the texts were looked at last, where they may have."""
        if not self.is_stale:
            return
        self.is_stale = False
        self._calling.clear()
        self._patching.clear()
        self._contexts = None
        known, self._digests = self._digests, {}
        paths = python_files(self._root)
        self.is_too_large = paths is None
        for path in sorted(paths or ()):
            stamp = files.stamp(path)
            unchanged = path in known and self._stamps.get(path) == stamp
            self._digests[path] = known[path] if unchanged else self._look_at(path)
            self._stamps[path] = stamp
        self._words.renew((path, digest) for path, digest in self._digests.items() if digest is not None)

    def _look_at(self, path: str) -> str | None:
        raw = read_whole(path)
        if raw is None:
            return None
        digest = sha256(raw).hexdigest()
        if digest not in self._facts:
            self._facts[digest] = facts_of(path, raw)
        return digest

    def _shown(self, path: str) -> str:
        return os.path.relpath(path, self._root).replace(os.sep, "/")


_LOOKS: dict[str, _Look] = {}

_OF_A_PATH: dict[str, tuple[Callable[..., str | None], str]] = {
    HANDS_ON: (_Look.giver, "hands on what has the annotation"),
    STARS: (_Look.star, "imports all names from here"),
    IMPORTS: (_Look.importer, "imports this module"),
    BINDS: (_Look.binder, "may rebind `{}`"),
    CALLS: (_Look.caller, "may call `{}`"),
    DEFINES: (_Look.definer, "has a `{}` of its own"),
    INITIALISES: (_Look.initialiser, "may initialise `{}`"),
}
"""What finds the first file that does something, and the clause about it; ``{}`` is the name that is asked about."""


def _tree_at(path: str) -> AstIndex | None:
    return tree_in(path, read_whole(path) or b"")


def _module(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]


def still_answered(asked: Iterable[tuple[Question, str | None]]) -> bool:
    """Whether all questions have the answers that they had."""
    return all(ask(question) == answer for question, answer in asked)
