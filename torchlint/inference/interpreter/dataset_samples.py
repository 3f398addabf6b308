"""Arguments that are samples of a data set: on the host and without a graph, as its workers make them.

This is presumed of calls that nobody sees: enough to stay silent, never for a fix.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.facts.value import UNKNOWN, Device, Grad, Value
from torchlint.inference.interpreter.class_texts import Class
from torchlint.inference.lattice import with_facts_throughout
from torchlint.inference.models.devices import last_word_of_name
from torchlint.syntax.ast_index import AstIndex, Function
from torchlint.syntax.places import is_called_self
from torchlint.syntax.signatures import decorators_of, parameters

if TYPE_CHECKING:
    from torchlint.inference.interpreter.file_scope import File

_TRANSFORMS = re.compile(
    r"(monai\.transforms|torchvision\.transforms|torchio|albumentations|mmcv\.transforms|mm\w+\.datasets\.(transforms|pipelines))\."
)
"""Where libraries keep their transforms of samples."""
_REGISTRIES = frozenset(["TRANSFORMS", "PIPELINES"])
"""In which OpenMMLab's projects register theirs: ``@TRANSFORMS.register_module()``."""
_TRANSFORMING = frozenset(["__call__", "apply", "apply_transform", "transform"])
_COLLATING = re.compile("collat", re.IGNORECASE)
"""Torch's own word for what makes a batch of samples, in a loader's worker."""
_GIVING = frozenset(["__getitem__", "__getitems__", "__iter__"])
"""Methods by which a data set gives its samples."""


def as_sample(file: File, function: Function, word: str, value: Value) -> Value:
    """Return an argument's value with what is known of it if it is a sample of a data set, or some samples."""
    if word in _samples(file, function):
        return with_facts_throughout(value, grad=Grad.DETACHED, device=Device.HOST)
    keys = _keys_of_samples(file, function)
    if not keys:
        return value
    held = with_facts_throughout(value.member or UNKNOWN, grad=Grad.DETACHED, device=Device.HOST)
    return value.having(keys=tuple((key, held) for key in sorted(keys)))


def _samples(file: File, function: Function) -> frozenset[str]:
    """Return the arguments that are samples as a whole: of a library's transforms, and of what makes batches."""
    owner = file.index.parents.get(function)
    if isinstance(owner, ast.ClassDef) and function.name in _TRANSFORMING and _is_transform(file, owner):
        return frozenset(parameters(function))
    name = owner.name if isinstance(owner, ast.ClassDef) and function.name == "__call__" else function.name
    if _COLLATING.search(name) or name in file.index.told(_handed_to_loaders, file.index.tree):
        return frozenset(parameters(function))
    return frozenset()


def _is_transform(file: File, owner: ast.ClassDef) -> bool:
    """Whether a class is a transform of samples: by a base of a library, or by where it is registered."""
    registering = decorators_of(owner)
    if any(_registers_transform(each) for each in registering):
        return True
    return any(_TRANSFORMS.match(base) for each in file.classes.of(owner).line() for base in each.bases)


def _registers_transform(decorator: ast.expr) -> bool:
    match decorator:
        case ast.Attribute(value=registry, attr="register_module"):
            return last_word_of_name(registry) in _REGISTRIES
    return False


def _handed_to_loaders(index: AstIndex, tree: ast.Module) -> frozenset[str]:
    """Return the names of the functions, and of the classes whose objects, a file hands over as ``collate_fn``."""
    handed = (each.value for each in index.inside(tree, ast.keyword) if each.arg == "collate_fn")
    return frozenset(last_word_of_name(part) for each in handed for part in _called(each))


def _called(node: ast.expr) -> Iterator[ast.expr]:
    """Yield what is called in the end where something is: a function, that of a ``partial``, or that of a lambda."""
    match node:
        case ast.Lambda(body=ast.Call(func=function)):
            yield function
        case ast.Call(func=function, args=args):
            yield function
            yield from args[:1]
        case _:
            yield node


def _keys_of_samples(file: File, function: Function) -> frozenset[str]:
    """Return the keys of a data set's own samples, which a method of it, such as ``plot(sample)``, may be handed.

    So are those of the classes of the file that derive from it: a base class leaves it to them to make samples.
    """
    owner = file.index.parents.get(function)
    if not isinstance(owner, ast.ClassDef) or function.name.startswith("__"):
        return frozenset()
    known = file.classes.of(owner)
    if not known.is_dataset:
        return frozenset()
    kin = [known, *(file.classes.of(each) for each in file.index.told(_heirs, owner))]
    line = list(dict.fromkeys(part for each in kin for part in each.line()))
    giving = _GIVING | {word for each in line for word in each.home.index.told(_helpers, each.node)}
    return frozenset(key for each in line for key in _keys(each, giving - {function.name}))


def _heirs(index: AstIndex, node: ast.ClassDef) -> tuple[ast.ClassDef, ...]:
    """Return the classes of a file that derive from one, by the names of their bases."""
    below, found = {node.name}, []
    (*_, module) = index.ancestors(node)
    for each in index.inside(module, ast.ClassDef):
        bases = (base.value if isinstance(base, ast.Subscript) else base for base in each.bases)
        if any(last_word_of_name(base) in below for base in bases):
            below.add(each.name)
            found.append(each)
    return tuple(found)


def _helpers(index: AstIndex, node: ast.ClassDef) -> frozenset[str]:
    """Return the methods that those which give samples call."""
    methods = [each for each in node.body if isinstance(each, ast.FunctionDef) and each.name in _GIVING]
    calls = (call.func for each in methods for call in index.inside(each, ast.Call))
    return frozenset(each.attr for each in calls if isinstance(each, ast.Attribute) and is_called_self(each.value))


def _keys(known: Class, giving: frozenset[str]) -> Iterator[str]:
    told = known.home.index.told(_keys_by_method, known.node)
    return (key for word in sorted(giving & told.keys()) for key in told[word])


def _keys_by_method(index: AstIndex, node: ast.ClassDef) -> dict[str, frozenset[str]]:
    """Return for each method of a class the keys of the dictionaries that it writes."""
    methods = [each for each in node.body if isinstance(each, ast.FunctionDef)]
    return {each.name: frozenset(_keys_written(index, each)) for each in methods}


def _keys_written(index: AstIndex, method: ast.FunctionDef) -> Iterator[str]:
    for node in index.inside(method, ast.Dict, ast.Subscript, ast.Call):
        match node:
            case ast.Dict(keys=keys):
                yield from (
                    each.value for each in keys if isinstance(each, ast.Constant) and isinstance(each.value, str)
                )
            case ast.Subscript(slice=ast.Constant(value=str(key)), ctx=ast.Store()):
                yield key
            case ast.Call(func=ast.Name(id="dict"), keywords=keywords):
                yield from (each.arg for each in keywords if each.arg is not None)
