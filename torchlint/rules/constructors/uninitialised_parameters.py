"""A parameter that is made of uninitialised memory, that nothing initialises, and that is computed with."""

from __future__ import annotations

import ast
import re

import libcst as cst

from torchlint.diagnostics.model import Confidence
from torchlint.rules.api import AstIndex, FileContext, Kind, is_called_self, leaf, remembered
from torchlint.rules.constructors.constructor_argument import ArgumentKind, given

_KINDS = ("", "Float", "Double", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte")
_SIZED = frozenset(f"torch.{place}{kind}Tensor" for place in ("", "cuda.") for kind in _KINDS)
_MOVES = frozenset("to cuda cpu float double half bfloat16 requires_grad_".split())
_OF_SHAPE = frozenset(
    "shape size dim ndim numel nelement device dtype requires_grad grad is_cuda layout names element_size data_ptr "
    "register_hook retain_grad stride storage is_contiguous requires_grad_".split()
)
_SET_BELOW = r"(?s)\bclass\s+\w+\s*\([^)]*\b%s\b[^)]*\):.*\bself\.%s\s*=(?!=)"
"""A class below that sets an attribute anew."""
_LOADERS = ("load_state_dict", "from_pretrained", "load_from_checkpoint", "safetensors")
_TRAINING = ("backward", "training_step")
_BY_TEXT = frozenset({"setattr", "getattr", "vars", "delattr"})
_PLAIN_CALLS = frozenset({"super", "isinstance", "type", "print", "id", "repr", "len", "hasattr"})


def read_without_initialisation(node: cst.Call, context: FileContext) -> tuple[str, ast.stmt, Confidence] | None:
    """Return the attribute of a parameter that nothing initialises, a statement that reads it, and how sure that is."""
    call = context.python(node)
    if not isinstance(call, ast.Call) or not _is_of_new_memory(node, context):
        return None
    kept = _kept(call, context)
    if kept is None:
        return None
    word, owner = kept
    if _is_filled_here(owner, context) or context.is_test:
        return None
    read = _read(word, call, owner, context)
    if read is None:
        return None
    others = context.other_texts
    lineage = frozenset(body.name for _, body in context.module_lineage(owner))
    below = _SET_BELOW % (re.escape(owner.name), re.escape(word))
    if others.spelling(owner.name, below) or others.initialises(word, lineage):
        return None
    loaded = any(each in context.attributes_by_word() or others.spelling(each) != [] for each in _LOADERS)
    is_trained = not context.attributes_by_word().keys().isdisjoint(_TRAINING)
    is_trained = is_trained or any(others.spelling(each) != [] for each in _TRAINING)
    if loaded and not is_trained:
        return None  # the weights are those of a checkpoint
    is_in_sight = not loaded and (is_trained or others.importer is None) and not others.tests_initialise(word)
    return word, read, Confidence.LIKELY if is_in_sight else Confidence.POSSIBLE


def is_of_sizes(node: cst.Call, context: FileContext) -> bool:
    """Whether a legacy constructor is called with sizes, so that nothing is written to its memory."""
    names = context.names(node.func)
    if len(names) != 1 or not names <= _SIZED or not node.args:
        return False
    sized = [each for each in node.args if each.keyword is None or each.keyword.value == "size"]
    found = given(node, sized, context)
    return bool(sized) and found.kind is ArgumentKind.SIZE and not found.by_name


def _is_of_new_memory(node: cst.Call, context: FileContext) -> bool:
    """Whether a parameter is made of memory that nothing is written to."""
    return bool(node.args) and node.args[0].keyword is None and _is_uninitialised(node.args[0].value, context)


def _is_uninitialised(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether memory is made that may have elements and that nothing is written to."""
    match node:
        case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value=word))) if word in _MOVES:
            return _is_uninitialised(inner, context)
        case cst.Call(args=[_, *_]):
            call = context.python(node)
            if context.names(node.func) != {"torch.empty"} and not is_of_sizes(node, context):
                return False
            if not isinstance(call, ast.Call) or any(each.arg in ("out", None) for each in call.keywords):
                return False
            constants = (each.value for each in ast.walk(call) if isinstance(each, ast.Constant))
            return not any(each == "meta" or (each == 0 and each is not False) for each in constants)
    return False


def _kept(call: ast.Call, context: FileContext) -> tuple[str, ast.ClassDef] | None:
    """Return the attribute in which ``__init__`` of a module keeps a parameter, and its class."""
    node: ast.expr = call
    while True:
        above = context.parent(node)
        match above:
            case ast.Attribute(attr=word) if word in _MOVES and isinstance(outer := context.parent(above), ast.Call):
                node = outer
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=word)], value=value):
                function = context.function_around(call)
                owner = context.parent(function) if function is not None else None
                if (
                    value is not node
                    or not isinstance(owner, ast.ClassDef)
                    or not isinstance(function, ast.FunctionDef)
                ):
                    return None
                return (word, owner) if function.name == "__init__" and _is_module(owner, context) else None
            case _:
                return None


def _is_module(owner: ast.ClassDef, context: FileContext) -> bool:
    """Whether a class is a module by ``nn.Module`` alone: all else that it derives from stands in the project."""
    return bool(context.module_lineage(owner))


@remembered
def _is_filled_here(owner: ast.ClassDef, context: FileContext) -> bool:
    """Whether something of the file, or of a base, may write to a module's parameters not by their attributes."""
    attributes = context.attributes_by_word()
    if any(context.value(each.value).may(Kind.MODULE) for each in attributes.get("apply", [])):
        return True
    lineage = context.module_lineage(owner)
    return any(_gives_itself_away(each, index) for index, body in lineage for each in index.inside(body, ast.Name))


def _gives_itself_away(node: ast.Name, index: AstIndex) -> bool:
    """Whether the object is handed to a function, or its attributes are named by texts."""
    above = index.parents.get(node)
    if node.id in _BY_TEXT:
        return True
    if node.id != "self":
        return False
    match above:
        case ast.Call(func=function) if function is not node:
            word = leaf(ast.unparse(function))
            return word not in _PLAIN_CALLS and word not in ("__init__", "save")
        case ast.keyword() | ast.Assign() | ast.List() | ast.Tuple() | ast.Starred():
            return True
    return False


def _read(word: str, made: ast.Call, owner: ast.ClassDef, context: FileContext) -> ast.stmt | None:
    """Return a statement that computes with the attribute; None where there is none, or another one binds it."""
    mentions = [each for each in context.attributes_by_word().get(word, []) if is_called_self(each.value)]
    own = [each for each in mentions if owner in context.ancestors(each)]
    if sum(not isinstance(each.ctx, ast.Load) for each in own) > 1 or context.nearest(made, ast.For, ast.While):
        return None
    for each in own:
        function = context.function_around(each)
        if isinstance(function, ast.FunctionDef) and function.name != "__init__" and _is_computed_with(each, context):
            return next(above for above in context.ancestors(each) if isinstance(above, ast.stmt))
    return None


def _is_computed_with(node: ast.AST, context: FileContext) -> bool:
    """Whether the numbers of an attribute are taken, and not its shape alone."""
    while True:
        above = context.parent(node)
        match above:
            case ast.Attribute(attr=word):
                if word in _OF_SHAPE:
                    return False
                node = above
            case ast.Call(func=function) if function is not node:
                return leaf(ast.unparse(function)) not in _PLAIN_CALLS
            case ast.Subscript() | ast.Call() | ast.List() | ast.Tuple() | ast.keyword():
                node = above
            case _:
                return isinstance(above, ast.BinOp | ast.UnaryOp) or isinstance(node, ast.Call)
