"""What one file may ask of the other texts of its project, and who may take or change what it binds."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Collection, Iterable
from functools import cached_property

from torchlint.inference.program.annotation_readers import hands_on, reads_annotations
from torchlint.inference.program.callers import Callee
from torchlint.inference.program.changed_building import changes_building
from torchlint.inference.program.class_families import ClassFamily
from torchlint.inference.program.class_words import ANY, ClassWords, class_words
from torchlint.inference.program.entered_contexts import Elsewhere
from torchlint.inference.program.initialised_parameters import Written, written_parameters
from torchlint.inference.program.module_files import is_test
from torchlint.inference.program.outside_uses import Uses
from torchlint.inference.program.project_texts import (
    ANYWHERE,
    BEGINS_AGAIN,
    BINDS,
    BINDS_INIT,
    BUILDS,
    CALLS,
    CALLS_JOINED,
    DEFINES,
    DEFINES_BELOW,
    ENTERS,
    HANDLES,
    HANDS_ON,
    HERE,
    IMPORTS,
    INITIALISES,
    INSIDE,
    MAKES_ERRORS,
    OVERRIDES,
    READS_ANNOTATIONS,
    RECORDS,
    SPELLS,
    STARS,
    SUBCLASSES,
    SURELY,
    TAKES,
    TELLS_ERRORS,
    TESTS,
    TORCH,
    TRACES,
    WATCHES,
    Question,
    ask,
)
from torchlint.inference.program.signals import Signal
from torchlint.inference.program.source_files import read_whole
from torchlint.inference.program.text_patterns import subclasses_tensors
from torchlint.syntax.ast_index import AstIndex

_DIGEST = re.compile(r"[0-9a-f]{64} ")
_NOT_IMPORTED = re.compile(r"setup\.py|.*\.ipynb")


class ProjectView:
    """What one file may ask of the other texts of its project; ``asked`` keeps the questions with their answers."""

    def __init__(self, root: str | None, own: str, above_packages: str = "", index: AstIndex | None = None) -> None:
        """Begin; ``root`` is None for a text that lies nowhere: it is a project of its own.

        ``above_packages`` is the folder that holds the outermost package around the file, ``index`` the file itself.
        """
        self._root = root
        self._index = index
        self._own = own
        self._above_packages = above_packages
        self.asked: dict[Question, str | None] = {}

    @property
    def exports(self) -> str | None:
        """Why other projects may take names from this module: it belongs to a package, and no word says it is private.

        Whether the file is in a package is part of what is known of its folder, so this is no question.
        """
        if self._root is None:
            return None
        *packages, module = os.path.relpath(self._own, self._above_packages).split(os.sep)
        if not packages or is_test(module) or _NOT_IMPORTED.fullmatch(module):
            return None
        if any(each.startswith("_") for each in (*packages, module)):
            return None
        return "the module is part of a package, and other projects may take it from here"

    def sets(self, *kinds: str) -> str | None:
        """Return who may set one of torch's defaults elsewhere: some of :data:`EVERY_DEFAULT`."""
        return next((found for each in kinds if (found := self._ask(each)) is not None), None)

    def enters_device(self, entered: Iterable[Elsewhere]) -> bool:
        """Whether something that this file enters may be a device, as far as the project tells."""
        return any(self._root is None or self._ask(ENTERS, each.kind, each.word) for each in sorted(entered))

    @property
    def records(self) -> str | None:
        """Who records traces elsewhere in the project."""
        return self._ask(RECORDS)

    @property
    def traces(self) -> str | None:
        """Who traces or scripts modules elsewhere in the project, so that a function here may be among them."""
        return self._ask(TRACES)

    @property
    def subclasses_tensors(self) -> str | None:
        """Who works with a subclass of ``Tensor``, this file included."""
        own = self._index
        if own is not None and subclasses_tensors(own.source.utf8):
            return "this file works with a subclass of `Tensor`"
        return self._ask(SUBCLASSES)

    @property
    def binds_init(self) -> str | None:
        """Who rebinds functions of ``nn.init`` elsewhere in the project."""
        return self._ask(BINDS_INIT)

    @property
    def rebuilds(self) -> str | None:
        """Who changes how modules are built, this file included, or elsewhere calls a constructor once more."""
        own = self._index
        if own is not None and changes_building(own.source.utf8):
            return "this file changes how modules are built"
        return self._ask(BUILDS) or self._ask(BEGINS_AGAIN)

    @property
    def makes_errors(self) -> str | None:
        """Who makes errors of warnings elsewhere in the project, or in the options of its tests."""
        return self._ask(MAKES_ERRORS)

    def takes_signal(self, callee: Callee, signal: Signal) -> str | None:
        """Return who calls a function, at first or second hand, where its error or warning is expected."""
        kind = f"{'async ' * callee.is_async}{'method' if callee.is_method else 'function'}"
        asked = HANDLES if signal.is_error else WATCHES
        asked = TELLS_ERRORS if signal.is_answered_alike else asked
        return self._ask(asked, callee.name, kind, *sorted(callee.decorators))

    def reads_annotations(self, *words: str) -> str | None:
        """Return who may read annotations of functions and classes of some names, this file included."""
        own = self._index
        is_read = own is not None and reads_annotations(own.source.utf8)
        reader = "this file reads annotations" if is_read else self._ask(READS_ANNOTATIONS)
        if reader is None or (own is not None and any(hands_on(own, word) for word in words)):
            return reader
        return self._ask(HANDS_ON, *words)

    def initialises(self, word: str, lineage: Collection[str]) -> str | None:
        """Return who may write to a parameter in an attribute of a name, this file included and tests left out.

        ``lineage``: the names of the class that keeps it and of its bases.
        """
        if self._index is not None and self._index.told(_written, self._index.tree).may_hold(word, lineage):
            return f"this file may initialise `{word}`"
        return self._ask(INITIALISES, word, "", *sorted(lineage))

    def tests_initialise(self, word: str) -> str | None:
        """Return which test may write to a parameter in an attribute of a name."""
        return self._ask(INITIALISES, word, TESTS)

    def binds(self, name: str) -> str | None:
        """Return who may rebind a name of this module, so that it means something else."""
        return self._ask(BINDS, name, HERE)

    def binds_in_modules(self, name: str) -> str | None:
        """Return who may rebind a name in any module of the project, this file included."""
        if self._uses is not None and self._uses.taken(name, frozenset(), runs=False).binds:
            return f"this file may rebind `{name}`"
        return self._ask(BINDS, name, ANYWHERE)

    def binds_in_torch(self, name: str) -> str | None:
        """Return who may rebind a name of torch's own, as `torch.tensor = ...` does, this file included."""
        taken = self._uses.taken(name, frozenset(), runs=False) if self._uses is not None else None
        if taken is not None and (taken.in_torch or taken.has_mode):
            return f"this file may rebind torch's `{name}`"
        return self._ask(BINDS, name, TORCH)

    def overrides(self, class_name: str, word: str) -> str | None:
        """Return who may rebind an attribute of a class's objects: the class by any name, or one of its family."""
        family, own = ClassFamily({class_name}), self._own_classes
        if any(each.binds_any for each in own if each.name == class_name):
            return f"`{class_name}` sets attributes by names that are not written"
        if (binder := family.binder(own, word)) is not None:
            return f"`{binder.name}` may rebind `{word}`"
        return self._ask(OVERRIDES, word, *_spelled(family.below, family.beside))

    def defines_below(self, class_name: str, words: frozenset[str], words_beside: frozenset[str]) -> str | None:
        """Return who has a class below one, by any name, whose body defines one of some words anew.

        So may a class that stands beside it among the bases of one below; ``words_beside`` count for those alone.
        """
        family = ClassFamily({class_name})
        if (found := family.definer(self._own_classes, words, words_beside)) is not None:
            return f"`{found[0].name}` has a `{found[1]}` of its own"
        return self._ask(DEFINES_BELOW, *_spelled(words, words_beside, family.below, family.beside))

    @property
    def _own_classes(self) -> tuple[ClassWords, ...]:
        return self._index.told(_classes, self._index.tree) if self._index is not None else ()

    def changes(self, name: str) -> str | None:
        """Return who may set an attribute of what a name of this module stands for, such as a method of a class."""
        return self._ask(BINDS, name, INSIDE)

    @cached_property
    def _uses(self) -> Uses | None:
        return Uses(self._index) if self._index is not None else None

    def defines(self, method: str) -> str | None:
        """Return who defines a class that may have a method of a name."""
        return self._ask(DEFINES, method, "called")

    def computes(self, word: str) -> str | None:
        """Return who defines a class that may run code where an attribute of a name is read: a property."""
        return self._ask(DEFINES, word, "read")

    def says_tensor(self, word: str) -> str | None:
        """Return who defines a class that says of an attribute of a name that it is a tensor."""
        return self._ask(DEFINES, word, "tensor")

    def calls(self, name: str, is_method: bool) -> str | None:
        """Return who may call a function or a method of a name that is defined here."""
        return self._ask(CALLS, name, "method" if is_method else "function")

    def calls_method(self, class_name: str, name: str) -> str | None:
        """Return who may call a method of a class of this file from elsewhere.

        A base in another file, or a class beside this one, may call its own method of the name: that is ours then.
        """
        if (caller := self.calls(name, is_method=True)) is not None:
            return caller
        family, own = ClassFamily({class_name}), self._own_classes
        family.beside.update(base for each in own if each.name == class_name for base in each.bases - ANY)
        list(family.members(own))  # which makes it grow; what this file itself calls is in sight
        joined = self._ask(CALLS_JOINED, *_spelled((name,), family.below, family.beside))
        return f"{joined}, and may call it" if joined is not None else None

    def takes(self, name: str, by_star: bool) -> str | None:
        """Return who may take a name from this module; ``by_star``: an import of all names takes it, too."""
        return self._ask(TAKES, name, "yes" if by_star else "no")

    def imports_from_here(self, name: str) -> str | None:
        """Return who imports a name from this module, so that it fails where the name is gone."""
        return self._ask(TAKES, name, SURELY)

    def takes_by_star(self, name: str) -> str | None:
        """Return who imports all names from this module, and so one that is added to it."""
        return self._ask(STARS, name)

    def spelling(self, word: str) -> list[str] | None:
        """Return the paths of the project's files that hold a word; None where there are too many files to tell."""
        if self._root is None:
            return []
        found = (self._ask(SPELLS, word) or "").splitlines()
        if any(not _DIGEST.match(each) for each in found):
            return None
        return [os.path.join(self._root, *each.split(" ", 1)[1].split("/")) for each in found]

    @property
    def importer(self) -> str | None:
        """Who may import this module elsewhere in the project."""
        return self._ask(IMPORTS)

    def matching(self, word: str, pattern: re.Pattern[bytes]) -> list[str]:
        """Return the paths of the project's files that hold a word, and whose bytes a pattern is found in."""
        return [each for each in self.spelling(word) or [] if pattern.search(read_whole(each) or b"")]

    def _ask(self, what: str, *more: str) -> str | None:
        if self._root is None:
            return None
        question = (what, self._root, self._own, *more)
        if question not in self.asked:
            self.asked[question] = ask(question)
        return self.asked[question]


def _spelled(*groups: Collection[str]) -> list[str]:
    """Return groups of words as parts of a question."""
    return [" ".join(sorted(each)) for each in groups]


def _classes(index: AstIndex, _: ast.Module) -> tuple[ClassWords, ...]:
    return class_words(index)


def _written(index: AstIndex, _: ast.Module) -> Written:
    return written_parameters(index)
