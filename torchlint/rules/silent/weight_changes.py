"""Which calls change the weights of a model: the step of an optimizer, and functions that train."""

from __future__ import annotations

import ast
import re

from torchlint.rules.api import FileContext, remembered
from torchlint.rules.silent.kept_weights import each_of

_TRAINING = re.compile(r"(^|_)(train|fit|finetune)(_|$)")
_LEARNING = re.compile(r"(^|_)(learn|optimi[sz]e)(_|$)")
"""Methods by which the owner of a model trains it, as agents do."""
_LOOPS = (ast.For, ast.ListComp, ast.DictComp, ast.GeneratorExp)
_DEEPEST = 3
"""Functions that are called are followed this far to a step of an optimizer."""


def changes_weights(call: ast.Call, model: str, scope: ast.AST, context: FileContext) -> bool:
    """Whether a call changes the weights of the model: an optimizer's step, or a function that trains it."""
    key = (changes_weights, (call, model, scope))
    return context.answer(key, lambda: _changes_weights(call, model, scope, context))


def _changes_weights(call: ast.Call, model: str, scope: ast.AST, context: FileContext) -> bool:
    match call.func:
        case ast.Attribute(value=receiver, attr="step") if len(call.args) <= 1:
            stepped = call.args[0] if call.args else receiver
            codes = (ast.unparse(stepped), _all_of(stepped, context))
            return any(_is_optimizer_of(each, model, scope, context) for each in codes)
        case ast.Attribute(value=receiver, attr=word):
            owner = ast.unparse(receiver)
            if owner == model and word in ("train", "eval"):
                return False
            is_owner = model.startswith(f"{owner}.")
            if not (is_owner or owner == model or _is_given(call, model)):
                return False
            if is_owner and owner != "self" and _LEARNING.search(word):
                return True
        case ast.Name(id=word):
            if not _is_given(call, model):
                return False
        case _:
            return False
    known = _functions(context.tree, context).get(word, [])
    if not known and word == "train" and not call.args and not call.keywords:
        return False  # that of a module, which only switches to training
    if known:
        return any(_steps_inside(each, context) for each in known)
    return bool(_TRAINING.search(word)) and not word.startswith(("load", "is_", "get_", "log", "build", "make"))


def steps_in_class(owner: ast.ClassDef, model: str, context: FileContext) -> ast.FunctionDef | None:
    """Return a method of a class that makes a step of an optimizer of its model, by itself or by others of its file."""
    methods = (each for each in owner.body if isinstance(each, ast.FunctionDef))
    uses = (each for each in methods if any(ast.unparse(one) == model for one in context.inside(each, ast.Attribute)))
    return next((each for each in uses if _steps_inside(each, context)), None)


def _is_given(call: ast.Call, model: str) -> bool:
    return any(ast.unparse(each) == model for each in (*call.args, *(one.value for one in call.keywords)))


@remembered
def _functions(tree: ast.Module, context: FileContext) -> dict[str, list[ast.FunctionDef]]:
    found: dict[str, list[ast.FunctionDef]] = {}
    for each in context.inside(tree, ast.FunctionDef):
        found.setdefault(each.name, []).append(each)
    return found


@remembered
def _steps_inside(function: ast.FunctionDef, context: FileContext) -> bool:
    """Whether a function makes a step of an optimizer, itself or by functions of its file."""
    seen, front = {function}, [function]
    for _ in range(_DEEPEST):
        words: list[str] = []
        for each in front:
            for call in context.inside(each, ast.Call):
                match call.func:
                    case ast.Attribute(value=receiver, attr="step") if len(call.args) <= 1:
                        stepped = ast.unparse(call.args[0] if call.args else receiver)
                        if stepped in _optimizers(context.tree, context):
                            return True
                    case ast.Attribute(value=ast.Name(id="self"), attr=word) | ast.Name(id=word):
                        words.append(word)
        known = _functions(context.tree, context)
        front = [one for word in dict.fromkeys(words) for one in known.get(word, []) if one not in seen]
        seen.update(front)
    return False


@remembered
def _optimizers(tree: ast.Module, context: FileContext) -> dict[str, frozenset[str]]:
    """Return the code of what is an optimizer in the file, and the models whose parameters it is given, if any."""
    cleared = (each for each in context.inside(tree, ast.Attribute) if each.attr == "zero_grad")
    found: dict[str, set[str]] = {ast.unparse(each.value): set() for each in cleared}
    for each in context.attributes_by_word().get("parameters", []):
        for above in context.ancestors(each):
            if isinstance(above, ast.stmt):
                if isinstance(above, ast.Assign):
                    for target in above.targets:
                        models = {ast.unparse(each.value), _all_of(each.value, context)}
                        found.setdefault(ast.unparse(target), set()).update(models)
                break
    for made in context.inside(tree, ast.Assign):
        for models in _given_parameters(made, found):
            for target in made.targets:
                found.setdefault(ast.unparse(target), set()).update(models)
    return {code: frozenset(models) for code, models in found.items()}


def _all_of(node: ast.expr, context: FileContext) -> str:
    """Return the code of that of whose objects a loop's name or an element is one; of any other expression its own."""
    if isinstance(node, ast.Subscript):
        return ast.unparse(node.value)
    if isinstance(node, ast.Name):
        for above in context.ancestors(node):
            if isinstance(above, _LOOPS) and each_of(node.id, above) != node.id:
                return each_of(node.id, above)
    return ast.unparse(node)


def _given_parameters(made: ast.Assign, known: dict[str, set[str]]) -> list[set[str]]:
    """Return the models of which a call is given the parameters by a name: ``Adam(weights, lr=0.1)``."""
    match made.value:
        case ast.Call(args=[ast.Name() | ast.Attribute() as given, *_]):
            return [known[code]] if (code := ast.unparse(given)) in known else []
    return []


def _is_optimizer_of(code: str, model: str, scope: ast.AST, context: FileContext) -> bool:
    """Whether a step of an optimizer changes a model: it was given its parameters, or they are used side by side."""
    known = _optimizers(context.tree, context)
    if code not in known:
        return False
    trained = known[code]
    if trained:
        return any(each == model or each.startswith(f"{model}.") or model.startswith(f"{each}.") for each in trained)
    return any(ast.unparse(call.func) in (model, f"{model}.train") for call in context.inside(scope, ast.Call))
