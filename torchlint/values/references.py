"""References: which function, class, object, module, library name or constant a value may be.

They are plain tuples, so that sets of them compare quickly. Two of different sorts differ by their last field.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from torchlint.semantic.graph import ClassGraph, FunctionGraph, Node
    from torchlint.values.contexts import Context


class FunctionRef(NamedTuple):
    """A function of the project; ``context`` is where a closure was made."""

    function: FunctionGraph
    context: Context | None = None
    sort: str = "function"

    def widened(self) -> FunctionRef:
        """Return it without the context of its making."""
        return FunctionRef(self.function)


class MethodRef(NamedTuple):
    """A method of the project bound to an object or a class."""

    function: FunctionGraph
    owner: Reference
    sort: str = "method"

    def widened(self) -> MethodRef:
        """Return it with its object as an object of the class."""
        return MethodRef(self.function, self.owner.widened())


class ClassRef(NamedTuple):
    """A class of the project."""

    cls: ClassGraph
    sort: str = "class"

    def widened(self) -> ClassRef:
        """Return it."""
        return self


class InstanceRef(NamedTuple):
    """An object of a class of the project, by where it was made: the call, and the context of that call.

    ``made`` is None for any object of the class, ``self`` of a method that nobody is known to call.
    """

    cls: ClassGraph
    made: Node | None = None
    context: Context | None = None
    sort: str = "instance"

    def widened(self) -> InstanceRef:
        """Return any object of the class."""
        return InstanceRef(self.cls)


class ModuleRef(NamedTuple):
    """A module or a folder of modules of the project, by where it lies, without suffix."""

    base: str
    sort: str = "module"

    def widened(self) -> ModuleRef:
        """Return it."""
        return self


class LibraryRef(NamedTuple):
    """What a library or Python has under a dotted name: ``torch.nn.Linear``, ``builtins.len``."""

    name: str
    sort: str = "library"

    def widened(self) -> LibraryRef:
        """Return it."""
        return self


class LibraryInstanceRef(NamedTuple):
    """An object of a class of a library, by its dotted name, and the call that made it with the context of that."""

    name: str
    made: Node | None = None
    context: Context | None = None
    sort: str = "library instance"

    def widened(self) -> LibraryInstanceRef:
        """Return any object of the class."""
        return LibraryInstanceRef(self.name)


class PartialRef(NamedTuple):
    """A callable with some arguments given: the call of ``functools.partial`` that holds both, and its context."""

    made: Node
    context: Context | None = None
    sort: str = "partial"

    def widened(self) -> PartialRef:
        """Return it without its context."""
        return PartialRef(self.made)


class ConstantRef(NamedTuple):
    """A number, text or boolean; the type keeps 1 and True apart."""

    value: object
    type: type
    sort: str = "constant"

    def widened(self) -> ConstantRef:
        """Return it."""
        return self


class AnswerRef(NamedTuple):
    """What a function of a library says of the machine, by its name: ``torch.cuda.is_available``."""

    name: str
    sort: str = "constant"

    def widened(self) -> AnswerRef:
        """Return it."""
        return self


class SuperRef(NamedTuple):
    """``super()`` in a method of a class, called on one of some objects."""

    cls: ClassGraph
    owners: frozenset[Reference]
    sort: str = "super"

    def widened(self) -> SuperRef:
        """Return it with its objects as any of their classes."""
        return SuperRef(self.cls, frozenset(each.widened() for each in self.owners))


Reference = (
    FunctionRef
    | MethodRef
    | ClassRef
    | InstanceRef
    | ModuleRef
    | LibraryRef
    | LibraryInstanceRef
    | PartialRef
    | ConstantRef
    | AnswerRef
    | SuperRef
)
