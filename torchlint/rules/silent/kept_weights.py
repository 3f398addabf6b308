"""Where the weights that ``state_dict()`` gives are kept, uncopied."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from torchlint.rules.api import FileContext, Function, Kind, remembered
from torchlint.rules.evidence.local_bindings import bindings_of
from torchlint.rules.evidence.used_modules import used_as_modules

_SHALLOW = frozenset({"dict", "OrderedDict", "copy"})
"""Functions that copy a dict and not what it holds."""
_INNER = frozenset({"module", "_orig_mod"})
"""Under what wrappers of modules hold the module: ``DistributedDataParallel(...).module``."""
_UNWRAPPING = frozenset({"unwrap_model", "extract_model_from_parallel", "de_parallel"})
"""Functions of libraries that give the module inside of such wrappers."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept, and where."""

    target: str
    """The code of the name, attribute or container."""
    model: str
    statement: ast.stmt
    is_added: bool
    """Whether a container gets one more: nothing that is kept later takes its place."""
    is_moved: bool
    """Whether the values go through ``.cpu()``, which copies what is on an accelerator."""
    key: str | int | None = None
    """Under which key, at which place or in which field the target holds them; None where it is they, or not known."""


def is_of_a_model(call: ast.Call, context: FileContext) -> bool:
    """Whether the receiver is a module by what is known, or else is used as one in the file."""
    model = receiver(call)
    value = context.value(model)
    if value.must(Kind.MODULE):
        return True
    if not value.may(Kind.MODULE | Kind.NONE) or not _leads(model) or _is_set_to_another(model, context):
        return False
    codes: set[str | None] = {ast.unparse(model)}
    while isinstance(model, ast.Attribute) and model.attr in _INNER:
        model = model.value
    function = context.function_around(call)
    codes |= {ast.unparse(model), own_name(ast.unparse(model), function, context) if function is not None else None}
    return not codes.isdisjoint(used_as_modules(context.tree, context)) or _is_called(model, context)


def own_name(model: str, function: Function, context: FileContext) -> str | None:
    """Return the attribute of the object that a model is: itself, or the one that the method sets to it."""
    if model == "self" or model.startswith("self."):
        return model
    for each in context.inside(function, ast.Assign):
        pairs = [(each.targets[0], each.value)]
        match each:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                pairs = list(zip(targets, values, strict=False))
        for target, value in pairs:
            if isinstance(target, ast.Attribute) and ast.unparse(value) == model:
                return ast.unparse(target)
    return None


def _is_called(model: ast.expr, context: FileContext) -> bool:
    """Whether a name is called as a function: what has a state and is called is a module, no optimizer or scaler."""
    uses = context.names_by_word().get(model.id, []) if isinstance(model, ast.Name) else []
    return any(isinstance(call := context.parent(each), ast.Call) and call.func is each for each in uses)


def _is_set_to_another(model: ast.expr, context: FileContext) -> bool:
    """Whether an attribute is set to what is no module somewhere, such as a loader, which has a state, too."""
    if not isinstance(model, ast.Attribute):
        return False
    written = ast.unparse(model)
    alike = (each for each in context.attributes_by_word().get(model.attr, []) if ast.unparse(each) == written)
    bound = (
        above.value for each in alike if isinstance(above := context.parent(each), ast.Assign) and each in above.targets
    )
    known = (context.value(each) for each in bound)
    guessed = (each for each in known if each.why_grad is None or not each.why_grad.weak)
    return any(each.kind and not each.may(Kind.MODULE | Kind.NONE) for each in guessed)


def _leads(model: ast.expr) -> bool:
    """Whether the same code leads to the same object: names, attributes, and what stands at a named place."""
    match model:
        case ast.Name():
            return True
        case ast.Attribute(value=inner) | ast.Subscript(value=inner, slice=ast.Name() | ast.Constant()):
            return _leads(inner)
    return False


@remembered
def copies_itself(tree: ast.Module, context: FileContext) -> bool:
    """Whether a class of the file has a ``state_dict`` that copies the weights."""
    for each in context.inside(tree, ast.FunctionDef):
        if each.name == "state_dict" and any(one.attr == "clone" for one in context.inside(each, ast.Attribute)):
            return True
        if each.name == "state_dict" and "deepcopy" in {
            *(one.id for one in context.inside(each, ast.Name)),
            *(one.attr for one in context.inside(each, ast.Attribute)),
        }:
            return True
    return False


def receiver(call: ast.Call) -> ast.expr:
    """Return the object whose method a call runs; of what is unwrapped that which is."""
    match call.func:
        case ast.Attribute(value=ast.Call(func=ast.Attribute(attr=word) | ast.Name(id=word), args=[inner, *_])) if (
            word in _UNWRAPPING
        ):
            return inner
        case ast.Attribute(value=owner):
            return owner
    return call


def all_kept(call: ast.Call, context: FileContext) -> Iterator[Kept]:
    """Yield where the weights are kept, also by those who call a function that returns them."""
    model = receiver(call)
    kept = _kept(call, ast.unparse(model), context)
    if kept is not None:
        yield kept
        yield from _other_names(kept, call, context)
        return
    outer, _, _ = _wrapped(call, context)
    every = context.parent(outer)
    if isinstance(every, ast.ListComp | ast.DictComp) and _element(every) is outer and isinstance(model, ast.Name):
        several = _kept(every, each_of(model.id, every), context)
        if several is not None:
            yield several
        return
    function = context.function_around(call)
    if not isinstance(context.parent(outer), ast.Return) or not isinstance(function, ast.FunctionDef):
        return
    names = [each.arg for each in function.args.args]
    given = names.index(model.id) if isinstance(model, ast.Name) and model.id in names else None
    for use in context.names_by_word().get(function.name, []):
        caller = context.parent(use)
        if given is None or not isinstance(caller, ast.Call) or caller.func is not use or len(caller.args) <= given:
            continue
        kept = _kept(caller, ast.unparse(caller.args[given]), context)
        if kept is not None:
            yield kept


def _other_names(kept: Kept, call: ast.Call, context: FileContext) -> Iterator[Kept]:
    """Yield what else keeps the same weights: ``first = weights``."""
    for use in context.names_by_word().get(kept.target, []):
        above = context.parent(use)
        match above:
            case ast.Assign(targets=[ast.Name() | ast.Attribute() as target], value=value) if value is use:
                if any(call in context.within(each.value) for each in bindings_of(use, context)):
                    yield replace(kept, target=ast.unparse(target), statement=above)


def _element(node: ast.ListComp | ast.DictComp) -> ast.expr:
    return node.elt if isinstance(node, ast.ListComp) else node.value


def each_of(word: str, node: ast.For | ast.ListComp | ast.DictComp | ast.GeneratorExp) -> str:
    """Return the code of what a loop takes a name's objects of; the name where it does not.

    ``zip``, ``enumerate`` and the ``values()`` and ``items()`` of a dict are seen through.

    What happens to each of them happens to all: ``[net.state_dict() for net in nets]``.
    """
    clauses: list[ast.For | ast.comprehension] = [node] if isinstance(node, ast.For) else [*node.generators]
    for each in clauses:
        match each.target, each.iter:
            case ast.Name(id=bound), ast.Call(func=ast.Attribute(value=source, attr="values"), args=[]) if (
                bound == word
            ):
                return ast.unparse(source)
            case ast.Name(id=bound), source if bound == word:
                return ast.unparse(source)
            case ast.Tuple(elts=[_, ast.Name(id=bound)]), ast.Call(
                func=ast.Attribute(value=source, attr="items"), args=[]
            ) if bound == word:
                return ast.unparse(source)
            case ast.Tuple(elts=[_, ast.Name(id=bound)]), ast.Call(
                func=ast.Name(id="enumerate"), args=[source, *_]
            ) if bound == word:
                return ast.unparse(source)
            case ast.Tuple(elts=targets), ast.Call(func=ast.Name(id="zip"), args=sources):
                pairs = zip(targets, sources, strict=False)
                found = [one for target, one in pairs if isinstance(target, ast.Name) and target.id == word]
                if found:
                    return ast.unparse(found[0])
    return word


def _wrapped(
    call: ast.expr, context: FileContext, within: ast.expr | None = None
) -> tuple[ast.expr, bool, str | int | None]:
    """Return what holds the same tensors around a call, whether they go through ``.cpu()``, and their key in it.

    ``within``: no further than that.
    """
    node, is_moved, key = call, False, None
    while node is not within and (found := _holder(node, context)) is not None:
        node, is_moved = found.node, is_moved or found.is_moved
        key = found.key if found.key is not None else key
    return node, is_moved, key


@dataclass(frozen=True, slots=True)
class _Holder:
    """What is right around an expression and holds the same tensors."""

    node: ast.expr
    key: str | int | None = None
    is_moved: bool = False


def _holder(node: ast.expr, context: FileContext) -> _Holder | None:
    above = context.parent(node)
    match above:
        case ast.Call(func=ast.Name(id=word) | ast.Attribute(attr=word), args=[one]) if (
            one is node and word in _SHALLOW
        ):
            return None if any(each.endswith("deepcopy") for each in context.names(above.func)) else _Holder(above)
        case ast.Call(func=function, args=args) if function is not node:
            names = _fields(function, context)
            at = next((at for at, each in enumerate(args) if each is node), len(names))
            return _Holder(above, names[at]) if at < len(names) else None
        case ast.keyword(arg=str() as word):
            outer = context.parent(above)
            if not isinstance(outer, ast.Call) or not _is_record(outer.func, context):
                return None
            return _Holder(outer, word)
        case ast.Attribute(attr="copy" | "items"):
            outer = context.parent(above)
            return _Holder(outer) if isinstance(outer, ast.Call) and outer.func is above else None
        case ast.comprehension(iter=source, target=ast.Tuple(elts=[_, ast.Name(id=word)])) if source is node:
            outer = context.parent(above)
            if not isinstance(outer, ast.DictComp) or len(outer.generators) != 1:
                return None
            chain = _is_passed_on(outer.value, word)
            return None if chain is None else _Holder(outer, is_moved=chain)
        case ast.Dict(keys=keys, values=values) if any(each is node for each in values):
            key = next(key for key, each in zip(keys, values, strict=True) if each is node)
            return _Holder(above, key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None)
        case ast.Tuple(elts=values) | ast.List(elts=values) if any(each is node for each in values):
            assert isinstance(above, ast.Tuple | ast.List)
            return _Holder(above, next(at for at, each in enumerate(values) if each is node))
        case ast.IfExp(test=test) if test is not node:
            return _Holder(above)
    return None


def _is_record(function: ast.expr, context: FileContext) -> bool:
    return context.names(function) == {"builtins.dict"} or bool(_fields(function, context))


def _fields(function: ast.expr, context: FileContext) -> list[str]:
    """Return the fields of a dataclass or a named tuple of this file, which hold what it is given."""
    if not isinstance(function, ast.Name):
        return []
    classes = (each for each in context.nodes(ast.ClassDef) if each.name == function.id)
    return next((_fields_of(each) for each in classes), [])


def _fields_of(owner: ast.ClassDef) -> list[str]:
    marks = [ast.unparse(each).partition("(")[0].rpartition(".")[2] for each in (*owner.decorator_list, *owner.bases)]
    if not {"dataclass", "NamedTuple"} & set(marks):
        return []
    return [
        each.target.id for each in owner.body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    ]


def _is_passed_on(value: ast.expr, word: str) -> bool | None:
    """Whether a value of the comprehension goes through ``.cpu()``; None where it is copied or something else."""
    match value:
        case ast.Name(id=name) if name == word:
            return False
        case ast.Attribute(value=inner, attr="data"):
            return _is_passed_on(inner, word)
        case ast.Call(func=ast.Attribute(value=inner, attr="detach"), args=[]):
            return _is_passed_on(inner, word)
        case ast.Call(func=ast.Attribute(value=inner, attr="cpu"), args=[]):
            return None if _is_passed_on(inner, word) is None else True
    return None


def _kept(call: ast.expr, model: str, context: FileContext) -> Kept | None:
    outer, is_moved, key = _wrapped(call, context)
    if isinstance(outer, ast.Call) and isinstance(outer.func, ast.Attribute) and outer.func.attr == "items":
        return None
    above = context.parent(outer)
    match above:
        case ast.Assign(targets=[target]) | ast.AnnAssign(target=target):
            if isinstance(target, ast.Tuple) and isinstance(outer, ast.Tuple) and len(target.elts) == len(outer.elts):
                at = next((at for at, each in enumerate(outer.elts) if call in context.within(each)), 0)
                target, (_, _, key) = target.elts[at], _wrapped(call, context, outer.elts[at])
            if isinstance(target, ast.Name | ast.Attribute):
                return Kept(ast.unparse(target), model, above, False, is_moved, key)
            if isinstance(target, ast.Subscript):
                return Kept(ast.unparse(target.value), model, above, True, is_moved)
        case ast.Call(func=ast.Attribute(value=holder, attr="append"), args=[one]) if one is outer:
            statement = context.parent(above)
            if isinstance(statement, ast.Expr):
                return Kept(ast.unparse(holder), model, statement, True, is_moved)
    return None
