"""Where an attribute of an object is read by whoever has made it: ``self.graph.adjacency``, ``graph.adjacency``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.rules.api import FileContext
from torchlint.rules.silent.calls_in_sight import calls_of
from torchlint.rules.silent.object_attributes import attribute_values


def reads_of_objects(target: ast.Attribute, context: FileContext) -> Iterator[tuple[FileContext, ast.Attribute]]:
    """Yield where an attribute that a constructor sets is read of the objects that are surely its own, with the file.

    Those are what a call of the class binds to a name, or to an attribute of ``self`` that nothing else binds, and what
    is handed to nobody, who might move what it keeps.
    """
    function = context.function_around(target)
    if not isinstance(function, ast.FunctionDef) or function.name != "__init__":
        return
    for file, call in calls_of(function, context):
        above = file.parent(call)
        if not isinstance(above, ast.Assign) or len(above.targets) != 1 or above.value is not call:
            continue
        held = above.targets[0]
        reads = [each for each in file.attributes_by_word().get(target.attr, []) if _is_of(each.value, held, file)]
        if all(isinstance(each.ctx, ast.Load) for each in reads) and not _is_handed_on(held, file):
            yield from ((file, each) for each in reads)


def _is_handed_on(held: ast.expr, context: FileContext) -> bool:
    """Whether an object is given to a function, or gets another name."""
    uses: list[ast.Name] | list[ast.Attribute] = []
    if isinstance(held, ast.Name):
        uses = context.names_by_word().get(held.id, [])
    elif isinstance(held, ast.Attribute):
        uses = context.attributes_by_word().get(held.attr, [])
    loads = (each for each in uses if isinstance(each.ctx, ast.Load) and _is_of(each, held, context))
    return any(not isinstance(context.parent(each), ast.Attribute) for each in loads)


def _is_of(owner: ast.expr, held: ast.expr, context: FileContext) -> bool:
    """Whether an expression is the object that a name, or an attribute of ``self``, is bound to once."""
    match owner, held:
        case ast.Name(), ast.Name():
            return context.reaching(owner) == [held]
        case ast.Attribute(value=ast.Name(id="self")), ast.Attribute(value=ast.Name(id="self")):
            made = context.parent(held)
            is_only = isinstance(made, ast.Assign) and attribute_values(owner, context) == [made.value]
            return owner.attr == held.attr and is_only
    return False
