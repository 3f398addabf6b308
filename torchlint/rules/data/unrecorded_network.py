"""Whether a parameter is of a network that only runs without grad mode, so that no graph ever holds it.

Such is the target network that follows a trained one: it is made, loaded and moved, it is run under `no_grad`, and its
parameters are written in a loop. All that a file does with the network must be in sight, and what it gives must not
share memory with a parameter, or a graph outside might save it.
"""

from __future__ import annotations

import ast
import re

from torchlint.rules.api import GIVING_ITSELF, FileContext, Mode, remembered
from torchlint.rules.data.plain_network import PlainNetwork, plain_network
from torchlint.rules.data.write_through import only_read
from torchlint.rules.evidence.local_bindings import bindings_of, bound_at, names_of
from torchlint.rules.evidence.method_calls import call_of
from torchlint.rules.evidence.reached_by_text import is_reached_by_text
from torchlint.rules.evidence.tensor_uses import ALIKE

_WALKED = frozenset({"parameters", "named_parameters"})
_GIVING_ITSELF = GIVING_ITSELF - {"apply"}
_ALONE = _GIVING_ITSELF | {"zero_grad"}
"""Methods of a module after which no graph holds its parameters, if nobody takes their result."""
_PASSING_ON = frozenset({"builtins.zip", "builtins.enumerate"})
_TURNING_ON = re.compile(rb"enable_grad|set_grad|inference_mode|EnableGrad")
"""Words with which a file may turn grad mode on inside `no_grad`; `inference_mode(False)` does."""


@remembered
def is_of_unrecorded_network(node: ast.expr, context: FileContext) -> bool:
    """Whether an expression is a loop's name for the parameters of networks that no graph is recorded of."""
    bound = bindings_of(node, context) if isinstance(node, ast.Name) else []
    if not bound or context.matches(_TURNING_ON):
        return False
    return all(each.depth == 1 and _is_walk(each.value, context) for each in bound)


def _is_walk(node: ast.expr, context: FileContext) -> bool:
    """Whether an expression gives the parameters of such a network."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name() as network, attr=word), args=[], keywords=[]):
            return word in _WALKED and _is_unrecorded(network, context)
    return False


def _is_unrecorded(name: ast.Name, context: FileContext) -> bool:
    uses = _uses(name, context)
    made = _made(uses, context)
    if made is None or not isinstance(made.func, ast.Name):
        return False
    network = plain_network(made.func, context)
    return network is not None and all(_leaves_alone(each, network, context) for each in uses)


def _uses(name: ast.Name, context: FileContext) -> list[ast.Name]:
    """Return all places of a variable; nothing where somebody else may reach it."""
    scope = context.scope_that_binds(name)
    if scope is None or is_reached_by_text(context.tree, context):
        return []
    if isinstance(scope, ast.Module) and _is_taken(name.id, context):
        return []
    every = context.names_by_word().get(name.id, [])
    scopes = {each: context.scope_that_binds(each) for each in every}
    return [] if None in scopes.values() else [each for each in every if scopes[each] is scope]


def _is_taken(word: str, context: FileContext) -> bool:
    return context.other_texts.takes(word, by_star=True) is not None


def _made(uses: list[ast.Name], context: FileContext) -> ast.Call | None:
    """Return the call of a class that makes what a variable holds, where nothing else is ever bound to it."""
    stores = [each for each in uses if not isinstance(each.ctx, ast.Load)]
    above = context.parent(stores[0]) if len(stores) == 1 else None
    made = above.value if isinstance(above, ast.Assign) and above.targets == stores else None
    while isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) and made.func.attr in _GIVING_ITSELF:
        made = made.func.value
    return made if isinstance(made, ast.Call) else None


def _leaves_alone(use: ast.Name, network: PlainNetwork, context: FileContext) -> bool:
    """Whether no graph holds the parameters of a network for what is done with it at one place."""
    if isinstance(use.ctx, ast.Store):
        return True
    match above := context.parent(use):
        case ast.Call(func=function) if function is use:
            return _runs_without_grad(above, context)
        case ast.Attribute(attr=word, ctx=ast.Load()):
            call = call_of(above, context)
            if call is not None:
                return _is_method(word, call, network, context)
            return word in network.constants
    return False


def _runs_without_grad(call: ast.Call, context: FileContext) -> bool:
    """Whether a call stands under `no_grad` itself, and nothing around it is run later than where it stands."""
    around = context.function_around(call)
    if isinstance(around, ast.AsyncFunctionDef) or context.mode(call) != Mode.OFF:
        return False
    if around is not None and context.own(around, ast.Yield, ast.YieldFrom):
        return False
    for above in context.ancestors(call):
        if isinstance(above, ast.With) and any(_turns_off(each.context_expr, context) for each in above.items):
            return True
        if isinstance(above, ast.FunctionDef):
            return any(_turns_off(each, context) for each in above.decorator_list)
        if isinstance(above, ast.Lambda | ast.GeneratorExp | ast.ClassDef):
            return False
    return False


def _turns_off(node: ast.expr, context: FileContext) -> bool:
    return names_of(node.func if isinstance(node, ast.Call) else node, context) == {"torch.no_grad"}


def _is_method(word: str, call: ast.Call, network: PlainNetwork, context: FileContext) -> bool:
    if word in network.methods:
        return _runs_without_grad(call, context)
    if word in _WALKED:
        return not call.args and not call.keywords and _is_walked(call, context)
    if word == "load_state_dict":  # it copies; `assign=True` takes over what it is given
        plain = len(call.args) == 1 and not isinstance(call.args[0], ast.Starred)
        return plain and all(each.arg == "strict" for each in call.keywords)
    return word in _ALONE and isinstance(context.parent(call), ast.Expr)


def _is_walked(call: ast.Call, context: FileContext) -> bool:
    """Whether parameters are asked for by a loop alone, which looks at what is behind their `.data`."""
    walk: ast.AST = call
    above = context.parent(walk)
    while isinstance(above, ast.Call) and names_of(above.func, context) & _PASSING_ON:
        walk, above = above, context.parent(above)
    if not isinstance(above, ast.For) or above.iter is not walk:
        return False
    targets = [each for each in context.within(above.target) if isinstance(each, ast.Name)]
    names = [each for each in targets if any(one.value is call for one in bound_at(each, context))]
    return bool(names) and all(_is_only_touched(each, context) for each in names)


def _is_only_touched(name: ast.Name, context: FileContext) -> bool:
    """Whether all that the code does with a loop's parameters is to take their `.data` or to write into them."""
    uses = _uses(name, context)
    return bool(uses) and all(isinstance(each.ctx, ast.Store) or _is_touch(each, context) for each in uses)


def _is_touch(use: ast.Name, context: FileContext) -> bool:
    above = context.parent(use)
    if not isinstance(above, ast.Attribute):
        return False
    if above.attr in ("data", "requires_grad"):
        return True
    call = call_of(above, context)
    if call is None:
        return False
    if above.attr == "detach":  # a graph that saves it would see the write
        return only_read(call, context)
    is_write = above.attr in ALIKE and _runs_without_grad(call, context)
    return (is_write or above.attr == "requires_grad_") and isinstance(context.parent(call), ast.Expr)
