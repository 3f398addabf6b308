"""What a parameter is of which no call is known: by its annotation, its default, and what frameworks hand over."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from torchlint.models.descent import descend
from torchlint.models.docstring_types import described
from torchlint.models.library_rows import canonical
from torchlint.models.parameter_uses import AS_COUNT, AS_INDEX, ASKED, handed_alone, uses_of
from torchlint.models.stated_types import stated
from torchlint.models.tests_of_values import kinds_of
from torchlint.semantic.graph import (
    CALL,
    CONST,
    GLOBAL,
    OPERATION,
    PI,
    ClassGraph,
    FormalParameter,
    FunctionGraph,
    Narrowing,
    Node,
)
from torchlint.semantic.graph import SEQUENCE as DISPLAY
from torchlint.syntax.places import leaf
from torchlint.values import abstract as a
from torchlint.values.abstract import A_NUMBER, A_SEQUENCE, A_TEXT, AN_INTEGER, Abstract, join, of_kind, unknown
from torchlint.values.asking import Asker, Path, Presumption
from torchlint.values.references import ClassRef, LibraryInstanceRef, LibraryRef

_MOST_BASES: Final = 4
"""So far up the classes of the project are followed."""
_OPEN: Final = a.SAFE | a.OF_PARAM


def presumed_parameter(
    asker: Asker, node: Node, parameter: FormalParameter, function: FunctionGraph, path: Path
) -> Abstract:
    """Return what a path leads to from a parameter of which no call is known; ``node`` is its own."""
    if parameter.sort and not path:
        return A_SEQUENCE
    inner = path[1:] if parameter.sort else path
    used = _uses(asker, node, function) if not path and asker.presumes(Presumption.CONVENTION) else 0
    is_sample = asker.presumes(Presumption.LOADER) and _is_of_sample(asker, node, function, inner)
    if asker.presumes(Presumption.ANNOTATION) and (said := _by_annotation(asker, node, parameter, inner)) is not None:
        if said.grad & a.OF_PARAM and is_sample:
            return said.but(grad=a.SAFE, device=a.SAFE, grad_from=None, device_from=None)
        said = _where_module_is(asker, function, said)
        return _as_index(said) if used & AS_INDEX and said.must(a.TENSOR | a.NONE) else said
    if asker.presumes(Presumption.DEFAULT) and not parameter.sort:
        kind = _kind_of_default(parameter.default)
        if kind is not None:
            return _widened_by_tests(asker, node, kind) if not inner else descend(kind, inner)
    if asker.presumes(Presumption.CONVENTION) and (handed := _by_convention(asker, parameter, function)) is not None:
        return descend(handed, inner)
    if is_sample:
        return descend(_SAMPLES, inner)
    value = descend(_where_module_is(asker, function, unknown(_evidence(asker, function), node)), inner)
    if used & ASKED:
        return value
    return A_NUMBER if used & AS_COUNT else _as_index(value) if used & AS_INDEX else value


def _uses(asker: Asker, node: Node, function: FunctionGraph) -> int:
    """Return how a function uses a parameter: as an index, too, where a layer looks rows up by it."""
    used = uses_of(function).get(node, 0)
    for call in handed_alone(function).get(node, ()):
        layer = asker.value(call.ins[0])
        names = [leaf(each.name) for each in layer.references if isinstance(each, LibraryInstanceRef)]
        if layer.kind == a.MODULE and names and len(names) == len(layer.references) and set(names) <= _LOOKING_UP:
            used |= AS_INDEX
    return used


_LOOKING_UP: Final = frozenset({"Embedding", "EmbeddingBag"})


def _where_module_is(asker: Asker, function: FunctionGraph, value: Abstract) -> Abstract:
    """Return what is known of an argument of ``forward``, which comes where its module is."""
    cls = function.cls if function.name.lstrip("_").startswith("forward") else None
    is_given = cls is not None and value.device & a.OF_PARAM and asker.object_of(cls).must(a.MODULE)
    return value.but(device=value.device | a.OF_CLASS) if is_given else value


def _as_index(value: Abstract) -> Abstract:
    """Return what takes parts of something: a tensor of integers or booleans, if it is one."""
    return value.detached().but(dtype=value.dtype & (a.INTEGRAL | a.BOOL) or a.INTEGRAL | a.BOOL)


def _evidence(asker: Asker, function: FunctionGraph) -> int:
    """Return who decides: of a lambda, and of a test whose fixtures make its arguments, nobody who calls it."""
    is_inner = function.is_lambda or function.file.is_test
    return a.OF_ATTR if is_inner and asker.presumes(Presumption.CONVENTION) else a.OF_PARAM


# ---------------------------------------------------------------------- annotations
def _by_annotation(asker: Asker, node: Node, parameter: FormalParameter, path: Path) -> Abstract | None:
    said = stated(asker, parameter.annotation, path)
    if parameter.annotation is None and not path:
        said = described(node.fn, parameter.word)
    if said is None or not said.kind:
        return said if said is None or path else None
    if not path:
        said = _widened_by_tests(asker, node, said)
    if said.kind & a.CARRIES or said.device & a.OF_PARAM or said.grad & a.OF_PARAM:
        return said.but(grad_from=node if said.grad & ~a.SAFE else None, device_from=node)
    return said


def _widened_by_tests(asker: Asker, node: Node, said: Abstract) -> Abstract:
    """Return what is said of a parameter, and what the function itself asks whether it is: the test wins."""
    asked = 0
    for each in node.fn.nodes:
        test = each.data
        if each.op != PI or not isinstance(test, Narrowing) or _source(each) is not node:
            continue
        if test.sort == "tensor":
            asked |= a.TENSOR
        elif test.sort == "isinstance" and test.node is not None:
            asked |= kinds_of(asker, test.node, None)[0]
    if asked & a.TENSOR and not said.kind & a.TENSOR:
        return join(said, Abstract(a.TENSOR, _OPEN, _OPEN, a.ANY_DTYPE, a.ANY_RANK, a.NO_REFERENCES, node, node))
    return said


def _source(node: Node) -> Node:
    while node.op == PI:
        node = node.ins[0]
    return node


# ---------------------------------------------------------------------- defaults
def _kind_of_default(default: Node | None) -> Abstract | None:
    """Return the kind of a default that is a number or a text, or a tuple of numbers; None for others."""
    if default is None:
        return None
    if default.op == OPERATION and len(default.ins) == 1:
        return _kind_of_default(default.ins[0])
    if default.op == DISPLAY:
        inner = [_kind_of_default(each) for each in default.ins]
        return A_SEQUENCE if inner and all(each is not None and each.must(a.NUMBER) for each in inner) else None
    if default.op != CONST:
        return None
    if isinstance(default.data, bool):
        return of_kind(a.SCALAR)
    if isinstance(default.data, int | float | complex):
        return A_NUMBER
    return A_TEXT if isinstance(default.data, str) else None


# ---------------------------------------------------------------------- conventions
_SAMPLES: Final = Abstract(a.ANY & ~a.MODULE, a.SAFE, a.SAFE)
"""Samples of a data set: made on the host, without a gradient."""
_MOVED_BATCH: Final = Abstract(a.ANY & ~a.MODULE, a.SAFE, a.SAFE | a.OPTION)
"""A batch that a trainer has moved to where the model is."""
_INDEX: Final = of_kind(a.INTEGER | a.SEQUENCE | a.STRING | a.OTHER | a.ARRAY)
_STEPS: Final = frozenset("training_step validation_step test_step predict_step".split())
_COLLATING: Final = re.compile("collat", re.IGNORECASE)
_TRANSFORMING: Final = frozenset("__call__ apply apply_transform transform".split())
_TRANSFORM_BASES: Final = re.compile(
    r"(monai\.transforms|torchvision\.(transforms|datasets)|torchio|albumentations|mm\w+)\."
)


def _by_convention(asker: Asker, parameter: FormalParameter, function: FunctionGraph) -> Abstract | None:
    """Return what a framework hands over to a method or a function that it calls; None for other parameters."""
    if (
        function.name in function.file.collating
        or _COLLATING.search(function.name)
        or (function.cls is not None and function.name == "__call__" and _COLLATING.search(function.cls.name))
    ):
        return _SAMPLES
    if function.cls is None:
        return None
    if function.name in ("__getitem__", "__delitem__") and parameter.position == 1:
        return _INDEX
    if function.name in _STEPS and parameter.position:
        return _MOVED_BATCH if parameter.position == 1 else AN_INTEGER
    if function.name in _TRANSFORMING and (
        _derives(asker, function, lambda name: bool(_TRANSFORM_BASES.match(name))) or _is_registered(function.cls)
    ):
        return _SAMPLES
    if function.name in ("step", "step_async") and parameter.word in ("action", "actions"):
        return of_kind(a.ARRAY | a.NUMBER) if _derives(asker, function, _is_environment) else None
    return None


def _is_registered(cls: ClassGraph) -> bool:
    """Whether a class is entered in a registry of transforms: ``@TRANSFORMS.register_module()``."""
    spelled = [each.arguments.spelled for each in cls.decorators if each.op == CALL]
    return any(each.endswith(("TRANSFORMS.register_module", "PIPELINES.register_module")) for each in spelled)


def _is_of_sample(asker: Asker, node: Node, function: FunctionGraph, path: Path) -> bool:
    """Whether a path leads from an argument of a data set's method to what the set's own samples hold there."""
    cls, step = function.cls, path[0] if path else None
    if cls is None or not isinstance(step, str) or step[:1] != "=" or function.name == "__getitem__":
        return False
    if not _derives(asker, function, lambda name: leaf(name).endswith("Dataset")):
        return False
    found = asker.returned_by_method(asker.object_of(cls), "__getitem__", node, path[:1], None)
    return found is not None and found.kind != 0 and found.grad & a.OF_CALL == 0


def _is_environment(name: str) -> bool:
    return leaf(name).endswith(("Env", "Wrapper"))


def _derives(asker: Asker, function: FunctionGraph, wanted: Callable[[str], bool]) -> bool:
    """Whether a base of a method's class, or one of its bases in the project, is a library's class of some kind."""
    classes = [function.cls] if function.cls is not None else []
    for _ in range(_MOST_BASES):
        above = [each for cls in classes for base in cls.bases for each in asker.value(base, (), None).references]
        names = [canonical(each.name) for each in above if isinstance(each, LibraryRef)]
        names += [str(base.data) for cls in classes for base in cls.bases if base.op == GLOBAL]
        if any(map(wanted, names)):
            return True
        classes = [each.cls for each in above if isinstance(each, ClassRef)]
    return False
