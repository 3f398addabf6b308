"""What is presumed of calls that nobody sees, for they may be others: enough to stay silent, never for a fix."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.facts.value import ANY, UNKNOWN, Device, Grad, Kind, Mode, Value
from torchlint.inference.interpreter.class_texts import Class
from torchlint.inference.interpreter.project import MARK
from torchlint.inference.models import functions
from torchlint.inference.models.call_arguments import Arguments
from torchlint.inference.models.devices import is_settings, last_word_of_name
from torchlint.inference.models.grad_mode import LIGHTNING_EVALUATION, TURNING_OFF, WORDS
from torchlint.inference.models.operations import LEGACY_DTYPES, leaf
from torchlint.inference.program.bindings import spelled
from torchlint.syntax.ast_index import Function
from torchlint.syntax.places import is_called_self, is_super_call
from torchlint.syntax.signatures import parameters

if TYPE_CHECKING:
    from torchlint.inference.interpreter.file_scope import File

_OTHERWISE = re.compile("|".join(map(re.escape, (*(WORDS - TURNING_OFF), "is_grad_enabled"))).encode())
"""What a method has in its text whose grad mode is not told by the decorators and blocks around a call."""

NO_TENSOR = UNKNOWN.having(kind=ANY & ~Kind.TENSOR)
"""What is anything but a tensor."""

_COMMAND = frozenset(["option", "argument", "command"])
"""Decorators of click's and typer's."""

_STEPPING = frozenset(["step", "step_async"])
_ACTIONS = frozenset(["action", "actions"])


def of_library(name: str, given: Arguments) -> Value | None:
    """Return what a library's function makes of tensors without a graph, or of arrays; None for other calls.

    What is given nothing of the kind may make a module, and a class does. A module or a function that it is given may
    bring a graph: ``gradient_penalty(critic, images)``.
    """
    if not is_library_function(name):
        return None
    every, operands = given.every(), given.operands()
    if any(map(_may_bring_a_graph, every)):
        return None
    if operands.is_tensor and not operands.may_require_grad:
        return UNKNOWN.having(grad=Grad.DETACHED, device=operands.device)
    if (
        given.starred
        or any(each.may(Kind.TENSOR) for each in every)
        or not any(each.must(Kind.ARRAY) for each in every)
    ):
        return None
    return UNKNOWN.having(grad=Grad.DETACHED, device=Device.HOST)


def is_library_function(name: str) -> bool:
    """Whether a name is one of a library's functions: they are written in small letters, and are no objects."""
    return not name.startswith((MARK, "builtins.")) and leaf(name).islower()


def _may_bring_a_graph(value: Value) -> bool:
    """Whether a value is a module with parameters that require grad, or a function of the project."""
    if value.must(Kind.MODULE):
        return value.grad != Grad.DETACHED
    return isinstance(value.node, ast.Lambda) or any(name.startswith(MARK) for name in value.names)


def of_constructor(name: str, given: Arguments, mode: Mode) -> Value | None:
    """Return what ``torch.FloatTensor(x)`` makes of an ``x`` that nothing shows to be a tensor: it is given data."""
    source = given.find(0, "data")
    if source is None or not name.startswith("torch.") or leaf(name) not in (*LEGACY_DTYPES, "Tensor"):
        return None
    if source.is_tensor or not source.may(Kind.TENSOR) or source.grad & Grad.ATTACHED or given.starred:
        return None
    data = Arguments(given.node, (NO_TENSOR, *given.positional[1:]), given.keywords)
    return functions.call(name, data, mode)


def is_setting(attribute: ast.expr) -> bool:
    """Whether an expression is one of a program's settings by its name: ``args.scale``, ``self.cfg.TEST.NMS``."""
    while isinstance(attribute, ast.Attribute):
        attribute = attribute.value
        if isinstance(attribute, ast.Name | ast.Attribute) and is_settings(last_word_of_name(attribute)):
            return True
    return False


def is_command(function: Function) -> bool:
    """Whether a command line calls a function: ``@click.option(...)``."""
    words = {last_word_of_name(each) for each in function.decorator_list if isinstance(each, ast.Call)}
    return bool(words & _COMMAND)


def is_plain(default: ast.expr) -> bool:
    """Whether an argument's default is a number or some of them: such arguments are seldom given tensors.

    A text may be a device, and callers give others.
    """
    match default:
        case ast.Constant(value=value):
            return isinstance(value, int | float)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
            return True
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return bool(elements) and all(map(is_plain, elements))
    return False


def without_graph(file: File, function: Function) -> frozenset[str]:
    """Return the arguments that have no graph.

    The action that an environment is stepped with was drawn; a trainer hands what a model gave in evaluation to hooks.
    """
    owner = file.index.parents.get(function)
    if not isinstance(owner, ast.ClassDef):
        return frozenset()
    if function.name in LIGHTNING_EVALUATION and file.classes.of(owner).is_lightning:
        return frozenset(parameters(function))
    if function.name not in _STEPPING:
        return frozenset()
    bases = (last_word_of_name(each) for each in owner.bases)
    return parameters(function) & _ACTIONS if any(each.endswith(("Env", "Wrapper")) for each in bases) else frozenset()


def hook_mode(file: File, method: Function) -> Mode | None:
    """Return the grad mode in which base classes call a method; None where none does, or where somebody else may.

    A validator's ``__call__`` under ``inference_mode`` calls ``self.update_metrics(...)``, which its subclasses define.
    """
    owner = file.index.parents.get(method)
    if not isinstance(owner, ast.ClassDef) or method.name.startswith("__"):
        return None
    known = file.classes.of(owner)
    if not known.above or _is_called_by_others(file, method.name):
        return None
    joined, from_above = Mode(0), False
    for each in known.line():
        for call in _calls(each, method.name):
            mode = _mode_at(each, call)
            if mode is None or mode & Mode.ON:
                return None
            joined, from_above = joined | mode, from_above or each is not known
    return joined if from_above else None


def _is_called_by_others(file: File, word: str) -> bool:
    """Whether a method is asked for of anything but ``self`` or ``super()`` in its own file."""
    holders = [each.value for each in _asked_for(file, word)]
    return not all(is_called_self(each) or is_super_call(each) for each in holders)


def _calls(known: Class, word: str) -> Iterator[ast.Call]:
    """Yield the calls ``self.word(...)`` in a class's own body."""
    index = known.home.index
    for each in _asked_for(known.home, word):
        call = index.call_of(each)
        if call is not None and isinstance(each.value, ast.Name):
            around = (above for above in index.ancestors(each) if isinstance(above, ast.ClassDef))
            if each.value.id == "self" and known.node in around:
                yield call


def _asked_for(file: File, word: str) -> list[ast.Attribute]:
    return file.index.told(spelled, file.index.tree)[0].get(word, [])


def _mode_at(known: Class, call: ast.Call) -> Mode | None:
    """Return the grad mode at a call in a class, by the decorators and blocks around it; None where these do not tell.

    The function is not walked for it: often it is the walk of this very function that asks.
    """
    home, index = known.home, known.home.index
    around = home.owner(call)
    if around is None or _OTHERWISE.search(index.text(around)):
        return None
    mode = home.wrappers.mode_above(around, range(len(around.decorator_list)), Mode.ON)
    blocks = [each for each in index.ancestors(call) if isinstance(each, ast.With) and home.owner(each) is around]
    contexts = [item.context_expr for each in reversed(blocks) for item in each.items]
    for context in contexts:
        if last_word_of_name(context) in TURNING_OFF:
            mode = home.entered(home.outside(around, context), None, mode)
    return mode
