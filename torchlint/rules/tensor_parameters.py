"""Which parameters of a function are tensors because of who calls it: a module's ``forward``, and hooks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import libcst as cst

from torchlint.rule import FileContext, Kind, parameters, remembered

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp)
_HOOKED = re.compile(r"(grad_?)?(inputs?|inp|outputs?|out|grads?)")
"""The parameters of hooks that are tensors, or tuples of them."""


_MODULE_HOOKS = frozenset({"register_forward_hook", "register_backward_hook", "register_full_backward_hook"})
_TAKING_TENSORS = frozenset({"Module", "LightningModule", "Function"})
"""Bases of classes whose ``forward`` is given tensors."""


def is_given_tensor(node: cst.Attribute, context: FileContext) -> bool:
    """Whether an attribute is asked of a parameter that is a tensor, or of a member of a tuple of tensors."""
    place = context.python(node.value)
    if place is None:
        return False
    member = isinstance(place, ast.Subscript) and isinstance(place.slice, ast.Constant)
    root = place.value if isinstance(place, ast.Subscript) and member else place
    if not isinstance(root, ast.Name):
        return False
    word = _iterated(root, context) or root.id
    around = next(_functions_with(word, root, context), None)
    if isinstance(around, ast.FunctionDef):
        plain = not member and word == root.id
        return (plain and _is_forward(around, word, context)) or _is_hook(around, word, context)
    return False


def _iterated(name: ast.Name, context: FileContext) -> str | None:
    """Give the name over which a comprehension that binds a name goes."""
    for above in context.ancestors(name):
        if isinstance(above, _COMPREHENSIONS):
            for each in above.generators:
                match each:
                    case ast.comprehension(target=ast.Name(id=bound), iter=ast.Name(id=word)) if bound == name.id:
                        return word
        elif isinstance(above, ast.stmt):
            return None
    return None


def _functions_with(word: str, name: ast.Name, context: FileContext) -> Iterator[ast.AST]:
    """Give the functions around a name that have a parameter of this name, innermost first."""
    for above in context.ancestors(name):
        if isinstance(above, _FUNCTIONS) and word in parameters(above):
            yield above


def _is_forward(function: ast.FunctionDef, word: str, context: FileContext) -> bool:
    """Whether a function is the ``forward`` of a module, and the parameter one that holds a tensor."""
    given = function.args.args
    if function.name != "forward" or len(given) < 2 or given[0].arg == word:
        return False
    parameter = next((each for each in given if each.arg == word), None)
    if parameter is None or (parameter.annotation is not None and "Tensor" not in ast.unparse(parameter.annotation)):
        return False
    return _is_module(function, context)


def _is_module(method: ast.FunctionDef, context: FileContext) -> bool:
    """Whether a method belongs to a module or to a function of autograd: by what ``self`` is, or by the bases."""
    above = context.parent(method)
    if not isinstance(above, ast.ClassDef):
        return False
    if any(ast.unparse(base).rpartition(".")[2] in _TAKING_TENSORS for base in above.bases):
        return True
    first = method.args.args[0].arg
    own = next((each for each in ast.walk(method) if isinstance(each, ast.Name) and each.id == first), None)
    return own is not None and context.value(own).must(Kind.MODULE)


def _is_hook(function: ast.FunctionDef, word: str, context: FileContext) -> bool:
    """Whether a function is a hook by its name or by where the file hands it, and the parameter not the module."""
    if "hook" in function.name and _HOOKED.fullmatch(word):
        return True
    given = [each.arg for each in function.args.args if each.arg not in ("self", "cls")]
    kinds = _handed_over(context.tree, context).get(function.name, frozenset())
    return bool(kinds) and word in given[1 if "module" in kinds else 0 :]


@remembered
def _handed_over(_: ast.Module, context: FileContext) -> dict[str, frozenset[str]]:
    """Give the functions that a file registers as hooks, and whether on a ``"tensor"`` or a ``"module"``."""
    found: dict[str, frozenset[str]] = {}
    for node in context.nodes(ast.Call):
        match node:
            case ast.Call(func=ast.Attribute(attr=word), args=[ast.Name(id=name) | ast.Attribute(attr=name), *_]):
                if word == "register_hook":
                    found[name] = found.get(name, frozenset()) | {"tensor"}
                elif word in _MODULE_HOOKS:
                    found[name] = found.get(name, frozenset()) | {"module"}
    return found
