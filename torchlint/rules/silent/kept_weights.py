"""Where the weights that ``state_dict()`` gives are kept, uncopied."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchlint.rules.api import FileContext, Kind, remembered

_SHALLOW = frozenset({"dict", "OrderedDict", "copy"})
"""Functions that copy a dict and not what it holds."""


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


def is_of_a_model(call: ast.Call, context: FileContext) -> bool:
    """Whether the receiver is a module by what is known, or else is used as one in the file."""
    model = receiver(call)
    value = context.value(model)
    if value.must(Kind.MODULE):
        return True
    if not value.may(Kind.MODULE) or not _leads(model) or _is_set_to_another(model, context):
        return False
    return ast.unparse(model) in _models(context.tree, context)


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
    return any(each.kind and not each.may(Kind.MODULE | Kind.NONE) for each in known)


def _leads(model: ast.expr) -> bool:
    """Whether the same code leads to the same object: names, attributes, and what stands at a named place."""
    match model:
        case ast.Name():
            return True
        case ast.Attribute(value=inner) | ast.Subscript(value=inner, slice=ast.Name() | ast.Constant()):
            return _leads(inner)
    return False


@remembered
def _models(_: ast.Module, context: FileContext) -> frozenset[str]:
    """Return the code of what is used as a module: it is called with parameters about, or switched to training."""
    found = set()
    for word in ("parameters", "named_parameters", "train", "eval", "load_state_dict", "modules"):
        uses = context.attributes_by_word().get(word, [])
        called = (each for each in uses if isinstance(context.parent(each), ast.Call))
        found |= {ast.unparse(each.value) for each in called}
    optimizers = {ast.unparse(each.value) for each in context.attributes_by_word().get("zero_grad", [])}
    steps = {ast.unparse(each.value) for each in context.attributes_by_word().get("step", [])}
    return frozenset(found - (optimizers & steps) - steps)


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
    """Return the object whose method a call runs."""
    return call.func.value if isinstance(call.func, ast.Attribute) else call


def all_kept(call: ast.Call, context: FileContext) -> Iterator[Kept]:
    """Yield where the weights are kept, also by those who call a function that returns them."""
    model = receiver(call)
    kept = _kept(call, ast.unparse(model), context)
    if kept is not None:
        yield kept
        return
    outer, _ = _wrapped(call, context)
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


def _wrapped(call: ast.expr, context: FileContext) -> tuple[ast.expr, bool]:
    """Return what holds the same tensors around a call, and whether they go through ``.cpu()``."""
    node, is_moved = call, False
    while True:
        above = context.parent(node)
        match above:
            case ast.Call(func=ast.Name(id=word) | ast.Attribute(attr=word), args=[one]) if one is node:
                if word not in _SHALLOW or any(each.endswith("deepcopy") for each in context.names(above.func)):
                    return node, is_moved
                node = above
            case ast.Attribute(attr="copy" | "items"):
                outer = context.parent(above)
                if not isinstance(outer, ast.Call) or outer.func is not above:
                    return node, is_moved
                node = outer
            case ast.comprehension(iter=source, target=ast.Tuple(elts=[_, ast.Name(id=word)])) if source is node:
                outer = context.parent(above)
                if not isinstance(outer, ast.DictComp) or len(outer.generators) != 1:
                    return node, is_moved
                chain = _is_passed_on(outer.value, word)
                if chain is None:
                    return node, is_moved
                node, is_moved = outer, is_moved or chain
            case ast.Dict(values=values) | ast.Tuple(elts=values) | ast.List(elts=values) if any(
                each is node for each in values
            ):
                assert isinstance(above, ast.expr)
                node = above
            case ast.IfExp(test=test) if test is not node:
                node = above
            case _:
                return node, is_moved


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
    outer, is_moved = _wrapped(call, context)
    if isinstance(outer, ast.Call) and isinstance(outer.func, ast.Attribute) and outer.func.attr == "items":
        return None
    above = context.parent(outer)
    match above:
        case ast.Assign(targets=[target]) | ast.AnnAssign(target=target):
            if isinstance(target, ast.Tuple) and isinstance(outer, ast.Tuple) and len(target.elts) == len(outer.elts):
                at = next((at for at, each in enumerate(outer.elts) if call in context.within(each)), 0)
                target = target.elts[at]
            if isinstance(target, ast.Name | ast.Attribute):
                return Kept(ast.unparse(target), model, above, False, is_moved)
            if isinstance(target, ast.Subscript):
                return Kept(ast.unparse(target.value), model, above, True, is_moved)
        case ast.Call(func=ast.Attribute(value=holder, attr="append"), args=[one]) if one is outer:
            statement = context.parent(above)
            if isinstance(statement, ast.Expr):
                return Kept(ast.unparse(holder), model, statement, True, is_moved)
    return None
