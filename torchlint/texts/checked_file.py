"""What texts tell of the file that is checked: where it lies, what it works with, and what is around it."""

from __future__ import annotations

import ast
import os
from functools import cached_property
from typing import TYPE_CHECKING

from torchlint.source.notebook import SUFFIX
from torchlint.source.project_root import Homes
from torchlint.syntax.ast_index import AstIndex
from torchlint.texts import frameworks
from torchlint.texts.device_names import says_accelerator
from torchlint.texts.imports import imported_modules
from torchlint.texts.module_files import Imports, Location, is_test
from torchlint.texts.program_files import is_guarded, is_in_package, runs_itself
from torchlint.texts.project_view import ProjectView

if TYPE_CHECKING:
    from torchlint.diagnostics.model import Settings
    from torchlint.texts.project_texts import Question


class CheckedFile:
    """One file as its text and the folders around it show it."""

    def __init__(self, index: AstIndex, settings: Settings, path: str | None = None) -> None:
        """Begin; ``path`` is the absolute path of the file, None for a text that lies nowhere."""
        self.index = index
        self.settings = settings
        self.place = Location(os.path.normpath(path)) if path is not None else None
        self._shapes: dict[str, str | None] = {}
        self._imports = Imports(self.place, self.shape) if self.place is not None else None

    @property
    def is_parsed(self) -> bool:
        """Whether the standard library's parser reads the file: else nothing is known of its values."""
        return True

    @property
    def path(self) -> str | None:
        """The absolute path of the file; None where it lies nowhere."""
        return self.place.path if self.place is not None else None

    def path_from_here(self, path: str) -> str:
        """Return the path of another file of the project, spelled as this one's is."""
        assert self.place is not None
        beside = os.path.relpath(path, self.place.folder)
        return os.path.normpath(os.path.join(os.path.dirname(self.index.source.path), beside))

    # ------------------------------------------------------------------ what answers rest on
    def shape(self, base: str) -> str | None:
        """Say what there is at the path of a module without ``.py``: see :meth:`Homes.shape`."""
        if base not in self._shapes:
            homes = self.place.homes if self.place is not None else Homes()
            self._shapes[base] = homes.shape(base)
        return self._shapes[base]

    @property
    def reads(self) -> dict[str, str | None]:
        """What was read beside the file itself, and what is where modules were looked for."""
        return dict(sorted(self._shapes.items()))

    @property
    def asked(self) -> dict[Question, str | None]:
        """The questions about all texts of the project that were asked so far, with the answers."""
        return dict(self.other_texts.asked) if "other_texts" in vars(self) else {}

    @cached_property
    def other_texts(self) -> ProjectView:
        """What the project's other files say of which a fix must know."""
        if self.place is None or self.lies_nowhere:
            return ProjectView(None, "", self.index)
        return ProjectView(self.place.root, self.place.path, self.index)

    @property
    def lies_nowhere(self) -> bool:
        """Whether the text is no file of a project: ``<source>``, ``<stdin>``."""
        return self.place is None or os.path.basename(self.place.path).startswith("<")

    # ------------------------------------------------------------------ what it works with
    @cached_property
    def packages(self) -> frozenset[str]:
        """The packages that the file imports from, by their first word."""
        return frameworks.packages(self.index)

    @property
    def works_with_torch(self) -> bool:
        """Whether an object of which nothing is known may be a tensor here: the file imports torch."""
        return frameworks.imports_torch(self.index)

    @cached_property
    def may_hold_tensors(self) -> bool:
        """Whether a tensor may be met at all: here, or from another file of the project, or from pytest."""
        return self.works_with_torch or self.is_test or self._imports_from_project

    @property
    def _imports_from_project(self) -> bool:
        if self._imports is None:
            return False
        return any(self._imports.base(module) is not None for module in imported_modules(self.index))

    @property
    def uses_other_frameworks(self) -> bool:
        """Whether the file imports a library whose objects have a tensor's words too."""
        return bool(self.packages & frameworks.OTHERS)

    @property
    def is_test(self) -> bool:
        """Whether pytest runs the file: what is in it has worked on the machine of whoever ran it last."""
        return is_test(self.path if self.path is not None else self.index.source.path)

    @cached_property
    def is_program(self) -> bool:
        """Whether the file is run and not imported: a notebook, or a script that lies in no package."""
        if self.index.source.path.endswith(SUFFIX):
            return True
        if self.place is not None:  # what the folder says rests on this
            self.shape(os.path.join(os.path.dirname(self.place.path), "__init__"))
        path = self.place.path if self.place is not None else self.index.source.path
        is_script = is_guarded(self.index.tree) or runs_itself(self.index.tree)
        return is_script and not is_in_package(path)

    @cached_property
    def speaks_of_accelerators(self) -> bool:
        """Whether the file speaks of a device at all."""
        return says_accelerator(self.index.source.utf8)

    def may_be_torch(self, node: ast.expr) -> bool:
        """Whether an expression of unknown kind may be a torch tensor, by what the file and the words around it say."""
        if not self.works_with_torch:
            return False
        return not frameworks.speaks_of_another(self.index, node, self.uses_other_frameworks)
