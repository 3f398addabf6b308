"""Whether a write gives a new object its first values, so that no graph can hold what it writes.

Four idioms show that: the write stands in ``__init__``, in ``reset_parameters`` or a method that only these call, or in
a function that the file gives to ``.apply`` of what is new and to nothing else; in each also in a loop over the
object's own modules or parameters. What is written must belong to the object and be made there, and nothing in these
methods may have computed with it. So is what a straight line of code makes right before.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable

from torchlint.rules.api import (
    GIVING_ITSELF,
    FileContext,
    Function,
    Kind,
    Loop,
    Mode,
    earlier_in_block,
    first_parameter,
    parameters,
    plain_parameters,
    remembered,
    root_of_place,
    runs_later,
)
from torchlint.rules.data.data_use import FORM_ATTRIBUTES, FORM_METHODS
from torchlint.rules.data.new_objects import ANY, NewObjects, building_methods, is_bare, is_in_sight, is_layer, lineage
from torchlint.rules.evidence.called_definitions import definition
from torchlint.rules.evidence.local_bindings import bindings_of
from torchlint.rules.evidence.method_calls import call_of
from torchlint.rules.evidence.object_attributes import settings
from torchlint.rules.evidence.tensor_uses import ALIKE, PARAMETER

_LISTING = frozenset(
    "modules children parameters buffers named_modules named_children named_parameters named_buffers".split()
)
_QUIET_METHODS = (
    (GIVING_ITSELF - {"apply"})
    | FORM_METHODS
    | ALIKE
    | _LISTING
    | frozenset(
        "apply add_module register_buffer register_parameter append extend insert keys "
        "values items flatten_parameters reset_parameters".split()
    )
)
"""Methods of modules, their containers and tensors that record no graph."""
_LOOKING = frozenset(
    "print len isinstance hasattr getattr setattr type id list tuple zip enumerate super str repr iter next".split()
)
"""Built-in functions that only look at what they are given, or hand it on."""
_QUIET_ATTRIBUTES = FORM_ATTRIBUTES | {"data", "grad", "requires_grad", "is_leaf"}
_FORM = FORM_ATTRIBUTES | FORM_METHODS


@remembered
def is_being_built(place: ast.expr, context: FileContext) -> bool:
    """Whether the tensor that an expression gives is new, and nothing has computed with it yet."""
    if _is_made_there(place, context):
        return True
    function = context.function_around(place)
    if function is None or not is_bare(function, context) or _runs_later(place, context):
        return False
    given = plain_parameters(function)[1 if isinstance(context.parent(function), ast.ClassDef) else 0 :]
    if not given or not _parts(place, given[0].arg, context) or not _is_applied(function, context):
        return False
    if NewObjects(context).takes_over(function):
        return False
    return not _computes(function, place, frozenset({ANY}), given[0].arg, context)


def _is_made_there(place: ast.expr, context: FileContext) -> bool:
    """Whether code makes an object right before, or a constructor or what belongs to it makes a part of its own."""
    if _runs_later(place, context):
        return False
    if (made := _made_before(place, context)) is not None:
        return NewObjects(context).is_new(made) and not _computes_when_made(made, context)
    function = context.function_around(place)
    owner = context.parent(function) if function is not None else None
    if function is None or not isinstance(owner, ast.ClassDef) or not is_bare(function, context):
        return False
    own = first_parameter(function)
    is_initialiser = function.name in _initialisers(context.tree, context)
    return is_initialiser and own is not None and _is_new_part(place, owner, function, own, context)


def _runs_later(node: ast.AST, context: FileContext) -> bool:
    return runs_later(node, context.parent, context.bound_otherwise)


def _is_new_part(place: ast.expr, owner: ast.ClassDef, around: Function, own: str, context: FileContext) -> bool:
    """Whether a part of the object is made by the methods that build it, and none of them computes with it before."""
    methods, words = building_methods(owner, context), _parts(place, own, context)
    methods += [around] if around not in methods else []
    if not words or (ANY in words and not is_in_sight(owner, context)):
        return False
    if not all(
        NewObjects(context).are_new(owner, each, methods) or _is_torchs(each, owner, methods, context) for each in words
    ):
        return False
    return not any(
        _computes(each, place if each is around else None, words, name, context)
        for each in methods
        if (name := first_parameter(each)) is not None
    )


def _computes_when_made(made: ast.Call, context: FileContext) -> bool:
    """Whether the constructor of a class of the file may keep what it computes with the parts of its object."""
    owner = definition(made.func, context) if isinstance(made.func, ast.Name) else None
    methods = building_methods(owner, context) if isinstance(owner, ast.ClassDef) else []
    return any(
        _computes(each, None, frozenset({ANY}), name, context)
        for each in methods
        if (name := first_parameter(each)) is not None
    )


def _is_torchs(word: str, owner: ast.ClassDef, methods: list[Function], context: FileContext) -> bool:
    """Whether an attribute is a parameter that a layer of torch makes, from which a class derives."""
    sets = any(each.word in (word, None) for method in methods for each in settings(method, context))
    bases = [name for each in lineage(owner, context) for base in each.bases for name in context.names(base)]
    return not sets and bool(PARAMETER.search(word)) and any(map(is_layer, bases))


def _parts(node: ast.expr, own: str, context: FileContext, left: int = 8) -> frozenset[str]:
    """Return the attributes of an object of which an expression may be a part; nothing where it may be another's."""
    several: list[ast.expr] = []
    match node:
        case ast.Name(id=word) if word == own:
            return frozenset({ANY})
        case ast.Attribute(attr=word) if word in _FORM or word.startswith("__"):
            return frozenset()
        case ast.Attribute(value=ast.Name(id=first), attr=word) if first == own:
            return frozenset({ANY if word in _LISTING else word})
        case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Call(func=ast.Attribute() as inner):
            several = [inner]
        case ast.Name():
            several = [each.value for each in bindings_of(node, context)]
        case ast.List(elts=several) | ast.Tuple(elts=several):
            pass
    found = [_parts(each, own, context, left - 1) for each in several] if left else []
    return frozenset().union(*found) if found and all(found) else frozenset()


# ---------------------------------------------------------------------- which functions initialise
@remembered
def _initialisers(_: ast.Module, context: FileContext) -> frozenset[str]:
    """Return the names of the methods that initialise: constructors, ``reset_parameters``, and what only these call."""
    methods = [each for each in context.nodes(ast.FunctionDef) if isinstance(context.parent(each), ast.ClassDef)]
    found, before = {"__init__"}, 0
    while len(found) > before:
        before = len(found)
        for name in {each.name for each in methods} - found:
            uses = context.attributes_by_word().get(name, [])
            if name in context.names_by_word():  # another name for it: `reset = reset_parameters`
                continue
            if (uses or name == "reset_parameters") and all(
                _is_called_by(found | {name}, each, context) for each in uses
            ):
                found.add(name)
    return frozenset(found)


def _is_called_by(initialisers: set[str], use: ast.Attribute, context: FileContext) -> bool:
    around = context.function_around(use)
    if around is None or call_of(use, context) is None or _runs_later(use, context):
        return False
    return around.name in initialisers and isinstance(context.parent(around), ast.ClassDef)


@remembered
def _is_applied(function: Function, context: FileContext) -> bool:
    """Whether all that the file does with a function is to apply it to what is new, or to call it with that."""
    uses: Iterable[ast.expr] = context.names_by_word().get(function.name, ())
    if isinstance(context.parent(function), ast.ClassDef):
        uses = context.attributes_by_word().get(function.name, ())
    targets = [_target(each, context) for each in uses if context.function_around(each) is not function]
    return bool(targets) and all(each is not None and _is_new(each, context) for each in targets)


def _target(use: ast.expr, context: FileContext) -> ast.expr | None:
    """Return the object that a function is applied to where it is named: ``net`` of ``net.apply(start)``."""
    match context.parent(use):
        case ast.Call(func=ast.Attribute(value=target, attr="apply"), args=[given]) if given is use:
            return target
        case ast.Call(func=function, args=[target, *_]) if function is use:
            return target
    return None


def _is_new(node: ast.expr, context: FileContext) -> bool:
    return _is_made_there(node, context) or (isinstance(node, ast.Call) and NewObjects(context).is_new(node))


# ---------------------------------------------------------------------- what was made right before
def _made_before(place: ast.expr, context: FileContext) -> ast.Call | None:
    """Return the call that a name is bound to above, where nothing but writes and moves is done with it since."""
    root, here = root_of_place(place), context.nearest(place, ast.stmt)
    function = context.function_around(place)
    if not isinstance(root, ast.Name) or (function is not None and root.id in parameters(function)):
        return None
    beside = [each for each in context.inside(here, ast.Name) if each.id == root.id] if here else []
    if not all(each is root or _is_quiet(each, context, is_alias_quiet=False) for each in beside):
        return None
    held: dict[ast.AST, list[ast.Name]] = defaultdict(list)
    for each in context.names_by_word().get(root.id, ()):
        for around in context.ancestors(each):
            held[around].append(each)
    while here is not None and not isinstance(here, Loop | Function | ast.ClassDef):
        above = context.parent(here)
        for before in reversed(earlier_in_block(here, above) if above is not None else []):
            names = held.get(before, [])
            match before:
                case ast.Assign(targets=[ast.Name(id=word)], value=ast.Call() as made) if word == root.id:
                    return made
            if not all(isinstance(each.ctx, ast.Load) and _is_quiet(each, context, False) for each in names):
                return None
        here = above if isinstance(above, ast.stmt) else None
    return None


# ---------------------------------------------------------------------- what computes
def _end_of(write: ast.expr, method: Function, context: FileContext) -> int:
    """Return where the statement of a write ends, or the outermost loop around it, which runs the rest once more."""
    around = [each for each in context.ancestors(write) if isinstance(each, ast.stmt) and each is not method]
    inside = around[: around.index(method)] if method in around else around
    loops = [each for each in inside if isinstance(each, Loop)]
    return context.span(loops[-1] if loops else inside[0])[1]


def _computes(method: Function, until: ast.expr | None, words: frozenset[str], own: str, context: FileContext) -> bool:
    """Whether a graph is recorded in a method with a part that is written, and before the write if one is told."""
    recording = context.answer((_recording, (method, own)), lambda: _recording(method, own, context))
    end = _end_of(until, method, context) if until is not None and recording else None
    return any(
        (end is None or start < end) and (ANY in words or ANY in parts or not words.isdisjoint(parts))
        for start, parts in recording
    )


def _recording(method: Function, own: str, context: FileContext) -> list[tuple[int, frozenset[str]]]:
    """Return where a method computes with parts of its object, and with which."""
    uses = (each for each in context.inside(method, ast.Name) if isinstance(each.ctx, ast.Load))
    found = ((each, _parts(_path(each, context), own, context)) for each in uses)
    return [(context.span(each)[0], parts) for each, parts in found if parts and not _is_quiet(each, context)]


def _path(name: ast.Name, context: FileContext) -> ast.expr:
    node: ast.expr = name
    while isinstance(above := context.parent(node), ast.Attribute | ast.Subscript) and above.value is node:
        node = above
    return node


def _is_quiet(name: ast.expr, context: FileContext, is_alias_quiet: bool = True) -> bool:
    """Whether nothing is computed with what a name holds at one place: it is asked for its form, moved or passed on."""
    node = name
    while isinstance(above := context.parent(node), ast.Attribute | ast.Subscript) and above.value is node:
        if isinstance(above, ast.Attribute) and (above.attr in _QUIET_ATTRIBUTES or above.attr.startswith("__")):
            return True
        node = above
    if context.mode(name) == Mode.OFF:
        return True
    outer: ast.AST = node
    while isinstance(above := context.parent(outer), ast.keyword | ast.List | ast.Tuple | ast.Starred | ast.IfExp):
        outer = above
    match above:
        case ast.Call(func=ast.Attribute(value=owner, attr=word) as function) if function is node:
            is_method = (
                owner is name
                and word != "forward"
                and any(each.name == word for each in context.nodes(ast.FunctionDef))
            )
            return word in _QUIET_METHODS or is_method
        case ast.Call(func=function):
            return function is not node and _keeps(function, context)
        case ast.BinOp() | ast.AugAssign() | ast.UnaryOp(op=ast.USub()):
            return not (context.value(node).must(Kind.TENSOR) or PARAMETER.search(getattr(node, "attr", "")))
        case ast.Assign(targets=[target], value=value) if value is node:
            is_view = isinstance(target, ast.Tuple) or (
                isinstance(node, ast.Subscript) and context.value(node.value).must(Kind.TENSOR)
            )
            return is_alias_quiet and not is_view
    return True


def _keeps(function: ast.expr, context: FileContext) -> bool:
    """Whether a function only looks at what it is given, keeps it as a part, or initialises it."""
    if isinstance(function, ast.Attribute) and function.attr in _QUIET_METHODS | {"__init__"}:
        return True
    names = context.names(function)
    return bool(names) and all(
        each.startswith("torch.nn.init.")
        or each.removeprefix("builtins.") in _LOOKING
        or (each.startswith("torch.nn.") and each.rpartition(".")[2][:1].isupper())
        for each in names
    )
