"""Whether an expression gives a storage: the memory below a tensor, which legacy constructors take without a copy."""

from __future__ import annotations

import ast
import re

from torchlint.rule import FileContext, Kind
from torchlint.rules.array_ranks import scope_of

_OF_TENSORS = frozenset({"storage", "untyped_storage", "_typed_storage", "_storage"})
"""Methods of tensors that give their storage."""
_NO_STORAGE = frozenset({"size", "nbytes", "tolist", "data_ptr", "element_size", "get_device", "type", "numpy"})
"""Methods of storages that give something else; the others give the storage or a new one."""
_OTHERS = Kind.INTEGER | Kind.SIZE | Kind.SEQUENCE | Kind.ARRAY | Kind.TENSOR
_WORD = re.compile(r"(?:\w*_)?storage\d*", re.IGNORECASE)


def makes_storage(node: ast.expr | None) -> bool:
    """Whether an expression is a call that gives a storage by its spelling."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="from_buffer" | "from_file")):
            return names_storage(owner)
        case ast.Call(func=ast.Attribute(attr=word), args=[], keywords=[]) if word in _OF_TENSORS:
            return True
        case ast.Call(func=ast.Attribute(attr="_new_shared" | "_new_using_filename_cpu" | "_new_using_fd_cpu")):
            return True
        case ast.Call(func=ast.Attribute(value=inner, attr=word)) if word not in _NO_STORAGE and makes_storage(inner):
            return True
        case ast.Call(func=function):
            return names_storage(function)
    return False


def names_storage(node: ast.expr) -> bool:
    """Whether an expression names a class of storages: ``torch.FloatStorage``."""
    match node:
        case ast.Attribute(attr=word) | ast.Name(id=word):
            return word.endswith("Storage")
    return False


def may_hold_storage(name: ast.Name, context: FileContext) -> bool:
    """Whether a name is bound to a storage somewhere in its scope, or is called one and nothing says otherwise."""
    if any(makes_storage(each) for each in _values(name, context)):
        return True
    known = context.value(name).must(_OTHERS)
    return bool(_WORD.fullmatch(name.id)) and not known


def _values(name: ast.Name, context: FileContext) -> list[ast.expr]:
    """Give what assignments in a name's scope bind it to."""
    scope = scope_of(name, context)
    if scope is None:
        return []
    return [
        each.value
        for each in context.own(scope, ast.Assign)
        if any(isinstance(target, ast.Name) and target.id == name.id for target in each.targets)
    ]
