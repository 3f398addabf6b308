"""What the text of a function or module binds: its own names, what is written into, and attributes set on ``self``."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass

from torchlint.syntax.ast_index import FUNCTIONS, AstIndex, Function, Node
from torchlint.syntax.signatures import first_parameter, parameters
from torchlint.texts.imports import (
    BUILTINS,
    CHANGES,
    CHANGING,
    changed_in_place,
    import_bindings,
    is_in_place,
    path_of,
)

SCOPES = (*FUNCTIONS, ast.Lambda, ast.ClassDef)
Loop = ast.For | ast.AsyncFor | ast.While
_NAMING = (*FUNCTIONS, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping)
BINDING = (ast.Import, ast.ImportFrom, *_NAMING)


def own(index: AstIndex, owner: ast.AST, *kinds: type[Node]) -> list[Node]:
    """Return the nodes of some types in a function or module, those of functions inside it left out."""
    return index.inside(owner, *kinds, but=SCOPES)


def written(index: AstIndex, owner: ast.AST) -> tuple[ast.Name, ...]:
    """Return names that a function binds or writes into, and those that functions inside it do so to as their own."""
    elsewhere = {word for each in index.inside(owner, ast.Nonlocal) for word in each.names}
    found = [each for each in own(index, owner, ast.Name) if isinstance(each.ctx, ast.Store)]
    if elsewhere:
        stores = (each for each in index.inside(owner, ast.Name) if isinstance(each.ctx, ast.Store))
        found += (each for each in stores if each.id in elsewhere)
    changed = map(changed_in_place, index.inside(owner, *CHANGES))
    return (*found, *filter(None, changed))


def may_change(index: AstIndex, function: Function) -> frozenset[str]:
    """Return the arguments that a function may change in place: by writing into them or handing them on."""
    return frozenset(
        each.id
        for each in index.inside(function, ast.Name)
        if each.id in parameters(function) and _is_handed(index, each)
    )


def _is_handed(index: AstIndex, name: ast.Name) -> bool:
    """Whether something is written into what a name stands for, or a call is given it or a part of it."""
    part: ast.AST = name
    while not isinstance(getattr(part, "ctx", None), ast.Store | ast.Del):
        above = index.parents.get(part)
        if isinstance(above, ast.Call):
            return not (isinstance(above.func, ast.Name) and above.func.id in BUILTINS)
        is_part = isinstance(above, ast.Attribute | ast.Starred | ast.keyword | ast.Tuple | ast.List)
        if not is_part and not (isinstance(above, ast.Subscript) and above.value is part):
            return False
        assert above is not None
        part = above
    return True


def bound(index: AstIndex, owner: ast.AST) -> dict[str, list[ast.Name]]:
    """Return the places where a function or module binds or deletes its names, by name."""
    found: dict[str, list[ast.Name]] = {}
    for each in own(index, owner, ast.Name):
        if not isinstance(each.ctx, ast.Load):
            found.setdefault(each.id, []).append(each)
    return found


def naming(node: ast.AST) -> list[str]:
    """Return what a node binds without a node for the name: ``import x``, ``def x``, ``except E as x``, ``case x``."""
    if not isinstance(node, BINDING):
        return []
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [word for word, _ in import_bindings(node)]
    word = getattr(node, "rest" if isinstance(node, ast.MatchMapping) else "name", None)
    return [word] if word else []


def local(index: AstIndex, function: Function) -> frozenset[str]:
    """Return the names that are a function's own."""
    names = {each.id for each in own(index, function, ast.Name) if isinstance(each.ctx, ast.Store)}
    names |= parameters(function)
    return frozenset(names - declared(index, function, SCOPES))


def declared(index: AstIndex, owner: ast.AST, but: tuple[type[ast.AST], ...] = ()) -> frozenset[str]:
    """Return the names that ``nonlocal`` and ``global`` take from elsewhere inside a function or module.

    Those inside one of the types in ``but`` do not count.
    """
    found: list[ast.Nonlocal | ast.Global] = [
        *index.inside(owner, ast.Nonlocal, but=but),
        *index.inside(owner, ast.Global, but=but),
    ]
    return frozenset(word for each in found for word in each.names)


def binds_by_text(index: AstIndex, tree: ast.Module) -> bool:
    """Whether a module binds names that it does not write: ``exec(settings)``, ``globals()[key] = value``."""
    for call in own(index, tree, ast.Call):
        match call.func, index.parents.get(call):
            case ast.Name(id="exec"), _:
                return True
            case ast.Name(id="globals" | "vars"), ast.Subscript(ctx=ast.Store()) | ast.Attribute(attr="update"):
                return True
    return False


def bound_later(index: AstIndex, function: Function) -> frozenset[str]:
    """Return the names that a function loads and the one around it binds or changes after it was defined."""
    start, owner = function.lineno, function
    for above in index.ancestors(function):
        if isinstance(above, FUNCTIONS):
            owner = above
            break
        if isinstance(above, Loop):
            start = min(start, above.lineno)
    changes, inside = index.told(_written_by_word, owner), set(index.within(function))
    names = (each for word in index.told(loaded, function) for each in changes.get(word, ()))
    return frozenset(each.id for each in names if each not in inside and each.lineno >= start)


def _written_by_word(index: AstIndex, owner: Function) -> dict[str, list[ast.Name]]:
    found: dict[str, list[ast.Name]] = {}
    for each in index.told(written, owner):
        found.setdefault(each.id, []).append(each)
    return found


def inner(index: AstIndex, owner: Function) -> tuple[Function, ...]:
    """Return the functions inside a function."""
    return tuple(index.inside(owner, *FUNCTIONS))


def loaded(index: AstIndex, node: ast.AST) -> frozenset[str]:
    """Return the names that stand anywhere inside a node."""
    return frozenset(each.id for each in index.inside(node, ast.Name))


def binder(index: AstIndex, function: Function | None, word: str) -> Function | None:
    """Return the function whose own a name is, as a function sees it; None for a name of the module."""
    while function is not None and word not in index.told(local, function):
        function = index.owner(function)
    return function


def lines_of(statement: ast.stmt) -> int:
    """Return how many lines are walked with a statement: bodies of functions are walked for themselves."""
    return (statement.end_lineno or statement.lineno) - statement.lineno + 1


# ---------------------------------------------------------------------- of a whole file
def holders(index: AstIndex, _: ast.Module) -> frozenset[Function]:
    """Return the functions that have functions inside them."""
    return frozenset(owner for each in index.functions if (owner := index.owner(each)) is not None)


def shared(index: AstIndex, _: ast.Module) -> dict[Function, frozenset[str]]:
    """Return the names that functions declare to be those of the functions or the module around them, by function."""
    found: dict[Function, set[str]] = {}
    nodes: list[ast.Nonlocal | ast.Global] = [*index.nodes(ast.Nonlocal), *index.nodes(ast.Global)]
    for node in nodes:
        if (owner := index.owner(node)) is not None:
            found.setdefault(owner, set()).update(node.names)
    return {owner: frozenset(words) for owner, words in found.items()}


def spelled(index: AstIndex, _: ast.Module) -> tuple[dict[str, list[ast.Attribute]], dict[str, list[ast.Name]]]:
    """Return the attributes and the names of a file by their words."""
    attributes: dict[str, list[ast.Attribute]] = {}
    names: dict[str, list[ast.Name]] = {}
    for attribute in index.nodes(ast.Attribute):
        attributes.setdefault(attribute.attr, []).append(attribute)
    for name in index.nodes(ast.Name):
        names.setdefault(name.id, []).append(name)
    return attributes, names


def changed_by_functions(index: AstIndex, tree: ast.Module) -> frozenset[str]:
    """Return the module's names into whose values some function writes."""
    found = set()
    for node in (*index.told(_parts_written, tree), *index.nodes(ast.Call)):
        name = changed_in_place(node)
        function = index.owner(name) if name is not None else None
        if name is not None and function is not None and binder(index, function, name.id) is None:
            found.add(name.id)
    return frozenset(found)


def _unloaded(index: AstIndex, _: ast.Module) -> list[ast.Name]:
    """Return the places where a file binds or deletes names."""
    return [each for each in index.nodes(ast.Name) if not isinstance(each.ctx, ast.Load)]


def _parts_written(index: AstIndex, _: ast.Module) -> list[ast.Subscript | ast.Attribute]:
    """Return the places where a file binds or deletes parts of something."""
    parts: list[ast.Subscript | ast.Attribute] = [*index.nodes(ast.Subscript), *index.nodes(ast.Attribute)]
    return [each for each in parts if not isinstance(each.ctx, ast.Load)]


def bound_again(index: AstIndex, tree: ast.Module) -> frozenset[str]:
    """Return the module's names that are bound again after a function that loads them."""
    stores = [each for each in index.told(_unloaded, tree) if isinstance(each.ctx, ast.Store)]
    stored = Counter(each.id for each in stores)
    outside = [each for each in stores if stored[each.id] > 1 and index.owner(each) is None]
    again = {word for word, times in Counter(each.id for each in outside).items() if times > 1}
    if not again:
        return frozenset()
    last = {each.id: each.lineno for each in sorted(outside, key=lambda each: each.lineno)}
    loading = (each for each in index.nodes(ast.Name) if each.id in again)
    owners = ((each.id, index.owner(each)) for each in loading)
    return frozenset(word for word, function in owners if function is not None and last[word] > function.lineno)


def bound_otherwise(index: AstIndex, tree: ast.Module) -> frozenset[str]:
    """Return the names that something else than an import binds, anywhere in the file."""
    found = {each.id for each in index.told(_unloaded, tree)}
    found |= {each.arg for each in index.nodes(ast.arg)}
    for kind in _NAMING:
        found.update(word for each in index.nodes(kind) for word in naming(each))
    return frozenset(found)


def imported(index: AstIndex, _: ast.Module) -> frozenset[str]:
    """Return the names that imports bind, anywhere in the file."""
    return frozenset(word for node in index.imports for word, _ in import_bindings(node))


def never_bound(index: AstIndex, tree: ast.Module) -> frozenset[str]:
    """Return the built-in names that nothing in the file binds; none where a star may bind anything."""
    bound_here = index.told(imported, tree) | index.told(bound_otherwise, tree)
    stars = any(each.name == "*" for node in index.nodes(ast.ImportFrom) for each in node.names)
    return frozenset() if stars else BUILTINS - bound_here


def imported_only(index: AstIndex, tree: ast.Module) -> frozenset[str]:
    """Return the names that imports of the module bind to one thing and nothing else binds, anywhere in the file."""
    meanings: dict[str, set[frozenset[str]]] = {}
    for word, value in (each for node in index.imports for each in import_bindings(node)):
        meanings.setdefault(word, set()).add(value.names)
    other = set(index.told(bound_otherwise, tree))
    parts = (each for each in index.told(_parts_written, tree) if not _sets_a_switch(each))
    other |= {name.id for each in parts if (name := changed_in_place(each)) is not None}
    placed = {word for node in index.imports if index.parents[node] is tree for word, _ in import_bindings(node)}
    return frozenset(word for word in placed - other if len(meanings[word]) == 1)


def _sets_a_switch(node: ast.Subscript | ast.Attribute) -> bool:
    """Whether a node sets a switch such as ``torch.backends.cudnn.benchmark``: nothing that code calls is rebound."""
    path = path_of(node)
    return path is not None and path.split(".")[1:2] == ["backends"]


@dataclass(frozen=True)
class SetAttributes:
    """The attributes of ``self`` that a method sets or changes."""

    words: tuple[str, ...] = ()
    own: frozenset[str] = frozenset()
    """Those that are set, filled or moved themselves, and not only in parts."""
    loose: tuple[str, ...] = ()
    """Those that ``setattr`` sets."""


def attributes_set(index: AstIndex, method: Function) -> SetAttributes:
    """Return the attributes of ``self`` that a method sets or changes."""
    owner = first_parameter(method)
    if owner is None:
        return SetAttributes()
    words: list[str] = []
    loose: list[str] = []
    own: set[str | None] = set()
    places: list[ast.Attribute | ast.Subscript] = [
        *index.inside(method, ast.Attribute),
        *index.inside(method, ast.Subscript),
    ]
    for place in places:
        if isinstance(place.ctx, ast.Store):
            words += _parts_of(place, owner)
            own.add(_whole(place, owner))
    for call in index.inside(method, ast.Call):
        match call:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=found), attr=attr), args=[ast.Constant(value=str(word)), *_]
            ):
                if found == owner and attr in ("register_buffer", "register_parameter", "add_module"):
                    words.append(word)
                    own.add(word)
            case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id=found), ast.Constant(value=str(word)), _]):
                if found == owner:
                    loose.append(word)
            case ast.Call(func=ast.Attribute(value=ast.Attribute() | ast.Subscript() as holder, attr=attr)):
                own.add(_whole(holder, owner))  # `self.net.cuda()` counts where the method changes `self.net` otherwise
                if attr in CHANGING or is_in_place(attr):
                    words += _parts_of(holder, owner)
    return SetAttributes((*words, *loose), frozenset({*words, *loose} & {*own, *loose}), tuple(loose))


def setting_inside(index: AstIndex, method: Function) -> tuple[Function, ...]:
    """Return the functions inside a method that may set attributes of its ``self`` or change what these hold."""
    word = first_parameter(method)
    if word is None:
        return ()
    mine = (each for each in inner(index, method) if binder(index, each, word) is method)
    return tuple(each for each in mine if word in {name.id for name in written(index, each)})


def _whole(node: ast.expr, owner: str) -> str | None:
    """Return the attribute of ``owner`` that a place is or is a member of.

    ``x`` for ``self.x[0]``, not ``self.x.y``.
    """
    while isinstance(node, ast.Subscript):
        node = node.value
    match node:
        case ast.Attribute(value=ast.Name(id=found), attr=word) if found == owner:
            return word
    return None


def _parts_of(node: ast.expr, owner: str) -> list[str]:
    """Return the attribute of ``owner`` in which a place lies, as a list of one: ``x`` for ``self.x[0].y``."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return [node.attr] if node.value.id == owner else []
        node = node.value
    return []
