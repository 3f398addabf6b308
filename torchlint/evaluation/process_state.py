"""Variables of the process: grad mode, default device and default dtype, as nodes say them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.models import grad_modes
from torchlint.semantic.graph import (
    ATTR,
    CALL,
    DEVICE,
    DTYPE,
    EFFECT,
    EITHER,
    ENTER,
    ENTRY,
    GAMMA,
    GRAD,
    GROW,
    INDEX,
    INPLACE,
    PARAM,
    PHI,
    PI,
    SETTER,
    FunctionExit,
    FunctionGraph,
    Node,
)
from torchlint.semantic.lowering import lower
from torchlint.values import abstract as a
from torchlint.values.abstract import BOTTOM, Abstract, join
from torchlint.values.asking import OFF, ON, Oracle, Path, Presumption
from torchlint.values.contexts import Context
from torchlint.values.references import ConstantRef, FunctionRef, InstanceRef, LibraryInstanceRef, LibraryRef

if TYPE_CHECKING:
    from torchlint.evaluation.evaluator import Evaluator

_GRAD_ON: Final = a.of_kind(a.SCALAR, frozenset({ConstantRef(True, bool)}))
_GRAD_OFF: Final = a.of_kind(a.SCALAR, frozenset({ConstantRef(False, bool)}))
_BY_MODES: Final = {ON: _GRAD_ON, OFF: _GRAD_OFF, ON | OFF: join(_GRAD_ON, _GRAD_OFF).but(grad=a.OF_PARAM)}
"""Where callers decide, and no text of the function does, the variable has the evidence of a parameter."""
HOST: Final = Abstract(a.DEVICE, 0, a.SAFE, 0, 0)
_SOME_DEVICE: Final = Abstract(a.DEVICE, 0, a.SAFE | a.OF_MODE, 0, 0)
USUAL_DTYPE: Final = Abstract(a.DTYPE, 0, 0, a.FLOAT32, 0)
_SOME_DTYPE: Final = Abstract(a.DTYPE, 0, 0, a.FLOATING, 0)
_SETTERS: Final = {
    DEVICE: ("set_default_device", "set_default_tensor_type"),
    DTYPE: ("set_default_dtype", "set_default_tensor_type"),
}
_EVALUATION_STEPS: Final = frozenset({
    "validation_step", "test_step", "predict_step", "on_validation_epoch_end", "validation_epoch_end", "test_epoch_end",
})  # fmt: skip
_SETTING_WORDS: Final = (
    "set_grad_enabled", "set_default_device", "set_default_dtype", "set_default_tensor_type",
)  # fmt: skip


def modes_in(value: Abstract) -> int:
    """Return the grad modes that a value of the variable stands for, as bits."""
    modes = 0
    for each in value.references:
        if isinstance(each, ConstantRef):
            modes |= ON if each.value else OFF
    return modes or ON | OFF


def of_modes(modes: int) -> Abstract:
    """Return the value of the variable for some grad modes."""
    return _BY_MODES[modes]


def is_for_callers(ev: Evaluator, node: Node, context: Context | None) -> bool:
    """Whether callers, and no text of the function, decide on grad mode at a node."""
    return node.state is None or ev.value(node.state.grad, (), context).grad & a.OF_PARAM != 0


def is_made_here(ev: Evaluator, node: Node, context: Context | None) -> bool:
    """Whether what a call calls was made in the function that is asked about, so that who calls that has no part in it.

    In a method that was entered from there, what hangs on an object that was made there counts, too, and so do methods
    of tensors and functions of libraries: they compute nothing by parameters of their own.
    """
    if node.op != CALL:
        return True
    called = node.ins[0]
    if called.op == ATTR and ev.value(called.ins[0], (), context).kind == a.TENSOR:
        return True
    found = ev.value(called, (), context).references
    if found and all(isinstance(each, LibraryRef) for each in found):
        return True
    while called.op in (INPLACE, EFFECT, SETTER, GROW, PI, ATTR, INDEX) and called.ins:
        called = called.ins[0]
    if called.op == CALL and called.fn is node.fn:
        return True
    own, outermost = (context.of(node.fn), context) if context is not None else (None, None)
    while outermost is not None and outermost.parent is not None:
        outermost = outermost.parent
    if called.op != PARAM or own is None or own.receiver is None or outermost is None or outermost.call is None:
        return False
    asked = outermost.call.fn
    objects = own.receiver.references
    return all(isinstance(e, InstanceRef) and e.made is not None and e.made.fn is asked for e in objects)


def entry_node(function: FunctionGraph, variable: str) -> Node | None:
    """Return the node of a process variable at the beginning of a function."""
    return next((each for each in lower(function).nodes[:4] if each.op == ENTRY and each.data == variable), None)


# ---------------------------------------------------------------------- at the beginning of a function
def entry(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return a process variable as it is when a function begins."""
    variable, function = str(node.data), node.fn
    if variable == GRAD and (decorated := _by_decorators(ev, function)) is not None:
        return decorated
    if function.is_module:
        return _usual(variable)
    own = context.of(function) if context is not None else None
    if own is not None and own.call is not None and own.call.state is not None:
        return ev.value(getattr(own.call.state, variable), (), own.parent)
    if variable == GRAD:
        return _entry_mode(ev, function, own, node)
    if ev.oracle is Oracle.CALLERS and (found := _by_callers(ev, function, variable)).kind:
        return found
    if ev.program.has_text(_SETTERS[variable]):
        return _SOME_DEVICE if variable == DEVICE else _SOME_DTYPE
    return _usual(variable)


def _usual(variable: str) -> Abstract:
    return {GRAD: _GRAD_ON, DEVICE: HOST, DTYPE: USUAL_DTYPE}[variable]


def _entry_mode(ev: Evaluator, function: FunctionGraph, own: Context | None, node: Node) -> Abstract:
    if own is not None and own.modes is not None:
        return of_modes(own.modes)
    if function.cls is not None:
        family = ev.family(function.cls)
        if function.name in ("forward", "backward", "setup_context") and family.derives_from("autograd.Function"):
            return _GRAD_OFF
        if function.name in _EVALUATION_STEPS and family.is_module and ev.presumes(Presumption.EVALUATION):
            return _GRAD_OFF
    if function.is_lambda and function.parent is not None:
        outer = entry_node(function.parent, GRAD)
        if outer is not None:
            return ev.value(outer, (), own.made if own is not None else None)
    if ev.oracle is Oracle.CALLERS and (found := _by_callers(ev, function, GRAD)).kind:
        return found
    return of_modes(ON if ev.oracle is Oracle.CLAIMED else ON | OFF)


def _by_callers(ev: Evaluator, function: FunctionGraph, variable: str) -> Abstract:
    value = BOTTOM
    sites, is_all = ev.known_callers(function)
    if sites and not is_all:
        value = of_modes(ON | OFF) if variable == GRAD else BOTTOM
    for site in sites:
        if site.call.state is not None:
            value = join(value, ev.value(getattr(site.call.state, variable)))
    return value


def _by_decorators(ev: Evaluator, function: FunctionGraph) -> Abstract | None:
    """Return the grad mode that a decorator enters a function with: one of torch, or one that uses it."""
    if function.is_async:  # the decorator is done when the coroutine is made
        return None
    for each in function.decorators:
        found = _entered(ev, GRAD, each, None) or _by_project(ev, each, function)
        if found is not None:
            return found
    return None


def _by_project(ev: Evaluator, decorator: Node, function: FunctionGraph) -> Abstract | None:
    """Return the grad mode in which a decorator of the project runs a function.

    It gives what a manager of torch makes of the function, or a wrapper that calls it somewhere.
    """
    for reference in ev.value(decorator).references:
        if not isinstance(reference, FunctionRef):
            continue
        inner = ev.enter(None, reference.function, None, None, reference.context)
        for each in lower(reference.function).returns:
            if each.value.op == CALL and (found := grad_modes.entered(ev, GRAD, each.value.ins[0], inner)) is not None:
                return found
    wrappers = ev.value(function.decorated).references if function.decorated is not None else ()
    for reference in wrappers:
        if isinstance(reference, FunctionRef) and reference.function is not function:
            inner = ev.enter(None, reference.function, None, None, reference.context)
            for call in lower(reference.function).calls:
                if call.state is not None and any(e.function is function for e in ev.callees(call, inner)):
                    if call.state.grad.op == ENTRY:  # it leaves the mode of whoever calls it
                        return None
                    return ev.value(call.state.grad, (), inner)
    return None


# ---------------------------------------------------------------------- with
def within(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return a process variable inside of a ``with``."""
    before, manager = node.ins
    found = _entered(ev, str(node.data), manager, context)
    return ev.value(before, path, context) if found is None else found


def _entered(ev: Evaluator, variable: str, manager: Node, context: Context | None) -> Abstract | None:
    """Return what a context manager makes of a process variable; None where it leaves it alone."""
    if manager.op in (GAMMA, PHI, EITHER):
        return _entered_either(ev, variable, manager, context)
    found = grad_modes.entered(ev, variable, manager, context) or _entered_object(ev, variable, manager, context)
    if found is not None or manager.op != CALL:
        return found
    for callee in ev.callees(manager, context):
        inner = ev.enter(callee.call, callee.function, context, callee.receiver, callee.made)
        function = lower(callee.function)
        if "contextmanager" in function.signs or "asynccontextmanager" in function.signs:
            starts = [getattr(each.state, variable) for each in function.yields]
            if any(each.op != ENTRY for each in starts):
                return ev.join_of(starts, (), inner)
    return None


def _entered_object(ev: Evaluator, variable: str, manager: Node, context: Context | None) -> Abstract | None:
    """Return what an object of the project, or a stack that was filled elsewhere, makes of a process variable."""
    owner, found = ev.value(manager, (), context), BOTTOM
    for reference in owner.references:
        if isinstance(reference, LibraryInstanceRef) and reference.name.endswith("ExitStack"):
            made = reference.made
            if variable == GRAD and made is not None and made.fn is not manager.fn and _fills_stack(made.fn):
                found = join(found, grad_modes.GRAD_EITHER)
        if not isinstance(reference, InstanceRef):
            continue
        starts = ev.family(reference.cls).method("__enter__")
        if starts is None:
            names = filter(grad_modes.is_switch, ev.family(reference.cls).libraries if variable == GRAD else ())
            found = join(found, next((grad_modes.mode_of(each, None) for each in names), BOTTOM))
            continue
        inner = ev.enter(None, starts, None, owner.but(references=frozenset({reference})))
        for each in exits_of(lower(starts)):
            found = join(found, ev.value(getattr(each.state, variable), (), inner))
        if all(getattr(each.state, variable).op == ENTRY for each in exits_of(starts)):
            return None
    return found if found.kind else None


def _fills_stack(function: FunctionGraph) -> bool:
    return any(each.arguments.spelled.endswith(".enter_context") for each in lower(function).calls)


def _entered_either(ev: Evaluator, variable: str, manager: Node, context: Context | None) -> Abstract | None:
    if manager.op == GAMMA:
        assert isinstance(manager.data, Node)
        truth = ev.truth(manager.data, context)
        if truth is not None:
            return _entered(ev, variable, manager.ins[0 if truth else 1], context)
    found = [_entered(ev, variable, each, context) for each in manager.ins]
    known = [each for each in found if each is not None]
    if not known:
        return None
    value = BOTTOM
    for each in known:
        value = join(value, each)
    return value if len(known) == len(found) else join(value, _usual(variable))


# ---------------------------------------------------------------------- after a call
def after(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return a process variable after a call."""
    before, call = node.ins
    variable = str(node.data)
    if call.op != CALL:  # the function was resumed; torch's own decorators see to the mode
        is_kept = ev.presumes(Presumption.GRAD_MODE) or _by_decorators(ev, node.fn) is not None
        return ev.value(before, path, context) if is_kept else of_modes(ON | OFF)
    found = grad_modes.after_call(ev, variable, call, context) or _by_hand(ev, variable, call, context)
    if found is not None:
        return found
    value = ev.value(before, path, context)
    if not ev.program.has_text(_SETTING_WORDS):
        return value
    left = BOTTOM
    for callee in ev.callees(call, context):
        function = lower(callee.function)
        states = {id(state): state for each in exits_of(function) if (state := each.state)}
        if all(getattr(state, variable).op == ENTRY for state in states.values()):
            continue
        inner = ev.enter(callee.call, callee.function, context, callee.receiver, callee.made)
        for state in states.values():
            left = join(left, ev.value(getattr(state, variable), (), inner))
    return left if left.kind else value


def _by_hand(ev: Evaluator, variable: str, call: Node, context: Context | None) -> Abstract | None:
    """Return a process variable after ``guard.__enter__()``, ``guard.__exit__()``, ``stack.enter_context(guard)``."""
    function = call.ins[0]
    if function.op != ATTR:
        return None
    owner = function.ins[0]
    if function.data == "__enter__":
        return _entered(ev, variable, owner, context)
    if function.data == "__exit__" and _entered(ev, variable, owner, context) is not None:
        start = entry_node(call.fn, variable)
        return ev.value(start, (), context) if start is not None else _usual(variable)
    while owner.op in (EFFECT, PI):
        owner = owner.ins[0]
    given = call.arguments.positional
    if function.data == "enter_context" and owner.op == ENTER and given:  # until its own `with` ends
        return _entered(ev, variable, given[0], context)
    return None


def exits_of(function: FunctionGraph) -> list[FunctionExit]:
    """Return where a function may leave: its returns, and its end."""
    return [*function.returns, *([function.end] if function.end is not None else [])]
