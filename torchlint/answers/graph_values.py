"""How a value of the graph is told as the rules know values: kinds, gradient, place and dtype, names and classes."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from torchlint.evaluation import reasons
from torchlint.facts.value import OWN, Device, Dtype, Grad, Kind, Reason, Value
from torchlint.models.tensor_moves import place_of
from torchlint.semantic.graph import PARAM, PI, SEQUENCE, FormalParameter, Node
from torchlint.syntax.ast_index import AstIndex
from torchlint.values import abstract as a
from torchlint.values.asking import ANY_ELEMENT, Path
from torchlint.values.references import (
    ClassRef,
    ConstantRef,
    FunctionRef,
    InstanceRef,
    LibraryInstanceRef,
    LibraryRef,
    MethodRef,
    Reference,
)

if TYPE_CHECKING:
    from torchlint.answers.graph_knowledge import GraphKnowledge
    from torchlint.semantic.module_graph import ModuleGraph
    from torchlint.values.abstract import Abstract

ON_ACCELERATOR: Final = a.SURE | a.MODULE_OUT | a.OPTION
"""Evidence by which something is on an accelerator."""
_MOST_ITEMS: Final = 12
_CLAIMED: Final = "an annotation or a name says so"
_ANNOTATED: Final = "callers may break the annotation"


class GraphValue(Value):
    """A value whose members and reasons are looked for when they are asked for."""

    __slots__ = ("_home", "_node", "_path")

    def __init__(self, home: GraphKnowledge, node: Node, path: Path, proof: Abstract, said: Abstract) -> None:
        """Tell what is said of what a path leads to from a node, and what of it is beyond doubt."""
        put = object.__setattr__  # the type checker keeps others from changing a value
        self._home, self._node, self._path = home, node, path
        put(self, "kind", Kind(said.kind))
        flag = a.SCALAR if said.kind & a.INTEGER else 0  # a truth value is an integer, whatever is claimed
        put(self, "claimed", _claim(node) if proof.kind & ~said.kind & ~flag else "")
        sure = said if self.claimed else proof
        if said.grad <= a.SAFE:
            said = said.but(grad=said.grad | sure.grad)
        elif said.grad & a.MODULE_OUT and home.may_freeze:
            said = said.but(grad=said.grad | a.SAFE)
        put(self, "grad", _grad(said))
        put(self, "device", _device(said))
        put(self, "dtype", _dtype(sure.dtype if self.kind & (Kind.TENSOR | Kind.SEQUENCE) else 0))
        is_tensor = sure.kind == a.TENSOR
        put(self, "exact", a.EXACT.get(sure.dtype) if is_tensor else None)
        put(self, "rank", a.RANKS.index(sure.rank) if is_tensor and sure.rank in a.RANKS[:5] else None)
        put(self, "has_dimensions", is_tensor and not sure.rank & a.RANKS[0])
        put(self, "names", names_in(proof))
        put(self, "instance", frozenset(name for each in said.references if (name := _class_name(each))))
        constants = [each for each in proof.references if isinstance(each, ConstantRef)]
        put(self, "const", constants[0].value if len(constants) == len(proof.references) == 1 else None)
        put(self, "node", next((e.function.tree for e in said.references if isinstance(e, FunctionRef)), None))

    @property
    def items(self) -> tuple[Value, ...] | None:
        """The members of a tuple or list of known length, in order."""
        node = self._node
        while node.op == PI:
            node = node.ins[0]
        if self._path or node.op != SEQUENCE or len(node.ins) > _MOST_ITEMS:
            return None
        return tuple(self._home.told(node, (place,)) for place in range(len(node.ins)))

    @property
    def member(self) -> Value | None:
        """The join of all members of a container."""
        if not self.kind & Kind.SEQUENCE or len(self._path) > 2:
            return None
        return self._home.told(self._node, (*self._path, ANY_ELEMENT))

    @property
    def keys(self) -> tuple[tuple[str, Value], ...]:
        """The members of a dict by constant key."""
        node = self._node
        if self._path or node.op != "dict":
            return ()
        keys = node.data if isinstance(node.data, tuple) else ()
        return tuple((each, self._home.told(node, (f"={each}",))) for each in keys if isinstance(each, str))

    @property
    def why_grad(self) -> Reason | None:
        """Why it may require grad."""
        return self._home.reason(self._node, reasons.GRAD) if not self._path else None

    @property
    def why_device(self) -> Reason | None:
        """Why it may be on an accelerator."""
        return self._home.reason(self._node, reasons.DEVICE) if not self._path else None


def _claim(node: Node) -> str:
    """Say as a clause what a kind rests on that is not proven."""
    while node.op == PI:
        node = node.ins[0]
    is_annotated = node.op == PARAM and isinstance(node.data, FormalParameter) and node.data.annotation is not None
    return _ANNOTATED if is_annotated else _CLAIMED


def _grad(said: Abstract) -> Grad:
    if not said.kind & (a.CARRIES | a.SEQUENCE | a.OTHER):
        return Grad(0)
    evidence = said.grad
    found = Grad.ATTACHED if evidence & a.ATTACHED else 0
    found |= Grad.UNKNOWN if evidence & ~a.ATTACHED & ~a.SAFE else 0
    return Grad(found | (Grad.DETACHED if evidence & a.SAFE else 0))


def _device(said: Abstract) -> Device:
    is_text = said.must(a.STRING) and any(isinstance(each, ConstantRef) for each in said.references)
    evidence = place_of(said, None)[0] if is_text else said.device
    found = Device.ACCELERATOR if evidence & ON_ACCELERATOR else 0
    found |= Device.UNKNOWN if evidence & ~ON_ACCELERATOR & ~a.SAFE else 0
    return Device(found | (Device.HOST if evidence & a.SAFE else 0))


def _dtype(bits: int) -> Dtype:
    found = Dtype.FLOATING if bits & a.FLOATING else 0
    found |= Dtype.INTEGRAL if bits & a.INTEGRAL else 0
    return Dtype(found | (Dtype.BOOL if bits & a.BOOL else 0))


def names_in(value: Abstract) -> frozenset[str]:
    """Return the names of all that a value may be but `None`; nothing where it may be something without one."""
    kind, names = value.kind & ~a.NONE, frozenset(map(_name, value.references))
    return names if kind & (kind - 1) == 0 and "" not in names else frozenset()


def _name(reference: Reference) -> str:
    match reference:
        case LibraryRef(name):
            return name
        case FunctionRef(function) | MethodRef(function):
            return _own_name(function.file, function.qualified)
        case ClassRef(cls):
            return _own_name(cls.file, cls.name)
    return ""


def _own_name(file: ModuleGraph, word: str) -> str:
    """Name a thing of the project by its file: ``here.package.module.word``."""
    place = file.path.removeprefix(file.program.root).removesuffix(".py").strip("/\\")
    return f"{OWN}{place.replace(os.sep, '.')}.{word}"


def _class_name(reference: Reference) -> str:
    match reference:
        case LibraryInstanceRef(name):
            return name.replace("torch.nn.parameter.", "torch.nn.")
        case InstanceRef(cls):
            return _own_name(cls.file, cls.name)
    return ""


def computed_at(node: ast.expr, index: AstIndex, node_of: Callable[[ast.expr], Node | None]) -> Node | None:
    """Return a node that is computed where an expression stands: what a name is bound to was computed before."""
    at: ast.AST | None = node
    while at is not None and not isinstance(at, ast.stmt | ast.Lambda):
        found = node_of(at) if isinstance(at, ast.expr) else None
        place: object = found.at if found is not None else None
        above = index.parents.get(at)
        if place is at or (place is above and isinstance(above, ast.AugAssign)):
            return found
        at = above
    return None
