"""Whose attribute it is that a text writes to: that of a class of its own, or of a layer of torch's."""

from __future__ import annotations

import ast

from torchlint.syntax.ast_index import AstIndex
from torchlint.syntax.places import elements_of, is_called_self

_CONTAINERS = frozenset({"Module", "Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"})
"""Classes of ``torch.nn`` that others derive their modules from, or that hold those."""
_TORCH_NN = frozenset({"nn", "torch.nn"})


def own_class(node: ast.Attribute, index: AstIndex) -> ast.ClassDef | None:
    """Return the class whose method writes to an attribute of ``self`` which that class binds itself."""
    if not is_called_self(node.value):
        return None
    owner = index.nearest(node, ast.ClassDef)
    return owner if owner is not None and node.attr in index.told(_bound, owner) else None


def is_of_a_layer(node: ast.Attribute, index: AstIndex) -> bool:
    """Whether an attribute is one of torch's own layer: ``m.weight`` where ``m`` is an ``nn.Linear``."""
    match node.value:
        case ast.Name(id=word):
            return _is_told_by_test(node, word, index)
        case ast.Attribute(value=inner, attr=word) if is_called_self(inner):
            owner = index.nearest(node, ast.ClassDef)
            made = index.told(_bound, owner).get(word) if owner is not None else None
            return bool(made) and all(isinstance(each, ast.Call) and _is_layer(each.func) for each in made or ())
    return False


def _is_told_by_test(node: ast.AST, word: str, index: AstIndex) -> bool:
    """Whether ``isinstance`` says on the way to a place that a name is a layer of torch's."""
    below = node
    for above in index.ancestors(node):
        match above:
            case ast.If(test=test, body=body) if below in body and _tests_for_layers(test, word):
                return True
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                return False
        below = above
    return False


def _tests_for_layers(test: ast.expr, word: str) -> bool:
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            return any(_tests_for_layers(each, word) for each in values)
        case ast.BoolOp(op=ast.Or(), values=values):
            return all(_tests_for_layers(each, word) for each in values)
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=tested), kinds]) if tested == word:
            return all(_is_layer(each) for each in elements_of(kinds))
    return False


def _is_layer(node: ast.expr) -> bool:
    match node:
        case ast.Attribute(value=ast.Name() | ast.Attribute() as place, attr=word):
            return ast.unparse(place) in _TORCH_NN and word[:1].isupper() and word not in _CONTAINERS
    return False


def _bound(index: AstIndex, owner: ast.ClassDef) -> dict[str, list[ast.expr | None]]:
    """Return what a class's methods give attributes of ``self``, by their words; None where a part of that is given."""
    found: dict[str, list[ast.expr | None]] = {}
    for each in index.inside(owner, ast.Attribute):
        if isinstance(each.ctx, ast.Store) and is_called_self(each.value):
            above = index.parents.get(each)
            found.setdefault(each.attr, []).append(above.value if isinstance(above, ast.Assign) else None)
    return found
