"""How a conversion came by its doubt: what the value is made of decides how sure a finding is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from torchlint.diagnostics.model import Confidence
from torchlint.rules.api import (
    FUNCTIONS,
    Asked,
    CallerEvidence,
    Device,
    EvidenceLevel,
    FileContext,
    Grad,
    Kind,
    Mode,
    Reason,
    arguments_of,
    last_word_of_name,
)
from torchlint.rules.evidence.shown_code import in_a_line


@dataclass(frozen=True)
class Doubts:
    """The missing halves of a conversion with the reasons why they may be needed, None where nothing is known."""

    grad: bool
    device: bool
    why_grad: Reason | None
    why_device: Reason | None

    def reasons(self) -> list[tuple[Reason | None, bool]]:
        """Return the reason of each half that is missing, and whether that half is the gradient."""
        return [(self.why_grad, True)] * self.grad + [(self.why_device, False)] * self.device


@dataclass(frozen=True)
class Grade:
    """How sure it is that one of the missing halves is needed, and what the project's calls say of it."""

    confidence: Confidence
    steps: tuple[str, ...] = ()
    is_met_by_none: bool = False
    """Whether all calls of the function in the project hand over what converts."""


def grade(doubts: Doubts, call: cst.Call, context: FileContext) -> Grade:
    """Grade a conversion where no source of the fault is known in the function itself.

    `LIKELY` is what a call in the project hands over, to the function or to the method that kept it for this one; so is
    a gradient where a call hands over the network that the function calls. `POSSIBLE` is what an argument
    of the function, or a call in it, brings to the place directly: whoever calls it with a live tensor, or one on an
    accelerator, meets the error. All else is `UNPROVEN`: a value that was
    not followed further, an operand beside a tensor that is known, what another method left in an attribute, a
    gradient where all calls in the project are made without grad mode, and one that only a function could bring of
    which nothing is known: a gradient takes a module, a parameter or a request.

    So is what the calls in a program hand over that is harmless or of which nothing is known: it is run and not
    imported, so they are all.

    That all calls hand over what is harmless is told, and makes the finding no hazard; it changes no confidence, for
    others may call the function.
    """
    if context.settings.strict:
        return Grade(Confidence.POSSIBLE)
    place = context.python(call)
    if not isinstance(place, ast.expr):
        return Grade(Confidence.UNPROVEN)
    if (around := next(_brought_around(doubts, place, context), None)) is not None:
        return _likely(around, context)
    if (run := next(_runs_before_hooks(doubts, place, context), None)) is not None:
        named = any(step.named for step in _steps(context.value(run).why_grad))
        told = f"`{in_a_line(run)}` runs a module with grad mode on, line {run.lineno}"
        return Grade(Confidence.POSSIBLE if named else Confidence.LIKELY, (told,))
    direct = [
        (each, is_grad)
        for each, is_grad in doubts.reasons()
        if each is not None and _is_direct(each, place, context) and not _is_given_up(each, is_grad, doubts, context)
    ]
    if all(is_grad and context.is_called_without_grad(place) for _, is_grad in direct):
        return Grade(Confidence.UNPROVEN)
    brought = [_brought(each, is_grad, context) for each, is_grad in direct]
    for each in brought:
        if each is not None and each.source is not None:
            return _likely(each, context)
    known = [each for each in brought if each is not None and each.calls]
    if len(known) < len(brought) or not known:
        return Grade(Confidence.POSSIBLE)
    calls = f"the project's {known[0].calls} calls bring" if known[0].calls > 1 else "the project's only call brings"
    is_harmless, is_all = all(each.given is EvidenceLevel.NOTHING for each in known), all(each.is_all for each in known)
    if is_harmless and not is_all:
        told = f"{calls} nothing of the kind: only other callers would meet the error"
        return Grade(Confidence.POSSIBLE, (told,), is_met_by_none=True)
    if is_all:
        what = "nothing of the kind" if is_harmless else "what nothing is known of"
        told = f"{calls} {what}, and a program has no other callers"
        return Grade(Confidence.UNPROVEN, (told,), is_met_by_none=is_harmless)
    return Grade(Confidence.POSSIBLE)


def _brought(reason: Reason, is_grad: bool, context: FileContext) -> CallerEvidence | None:
    start = reason.start
    if not isinstance(start, ast.arg) or not context.holds(start):
        return None
    return context.brought_by_calls(start, Asked.GRADIENT if is_grad else Asked.ACCELERATOR)


def _likely(brought: CallerEvidence, context: FileContext) -> Grade:
    told = f"{context.spelled_place(brought.source)} hands it over" if brought.source is not None else ""
    return Grade(Confidence.LIKELY, (told,))


def _brought_around(doubts: Doubts, place: ast.expr, context: FileContext) -> Iterator[CallerEvidence]:
    """Yield what calls hand over that comes to the place by a way around: kept by the object, or as a network."""
    for reason, is_grad in doubts.reasons():
        if reason is None or any(step.aside for step in reason.chain()):
            continue
        if is_grad and context.is_called_without_grad(place):
            continue
        if isinstance(start := reason.start, ast.Call):
            brought = _brought_network(start, context) if is_grad else None
        else:
            brought = None if _is_direct(reason, place, context) else _brought(reason, is_grad, context)
        if brought is not None and brought.source is not None and brought.source.is_sure:
            yield brought


def _runs_before_hooks(doubts: Doubts, place: ast.expr, context: FileContext) -> Iterator[ast.Call]:
    """Yield the calls around a conversion that run a module in grad mode, where a hook kept what a module gave."""
    if not doubts.grad or context.is_called_without_grad(place):
        return
    first = next((step for step in _steps(doubts.why_grad) if step.node is not None), None)
    if first is None or not first.of_module or not isinstance(first.node, ast.arg):
        return
    for call in context.own(context.function_around(place) or context.tree, ast.Call):
        value = context.value(call)
        runs = context.value(call.func).must(Kind.MODULE) or any(step.named for step in _steps(value.why_grad))
        if runs and value.grad & Grad.ATTACHED and not context.is_called_without_grad(call):
            yield call


def _steps(reason: Reason | None) -> Iterator[Reason]:
    return reason.chain() if reason is not None else iter(())


def _brought_network(call: ast.Call, context: FileContext) -> CallerEvidence | None:
    """Return what the project's calls bring as the function that is called: an argument, or what an object kept."""
    if not context.holds(call) or not context.mode(call) & Mode.ON or not _is_asked_for_itself(call, context):
        return None
    called = context.value(call.func)
    start = called.why_grad.start if called.why_grad is not None and called.may(Kind.MODULE) else None
    if not isinstance(start, ast.arg) or not context.holds(start):
        return None
    brought = context.brought_by_calls(start, Asked.NETWORK)
    return None if brought.is_handed_on else brought


_LEAVING_CALLS = frozenset(["staticmethod", "classmethod", "property", "abstractmethod", "override"])


def _is_asked_for_itself(call: ast.Call, context: FileContext) -> bool:
    """Whether a call is one of an argument or of what the object kept, as it was given: nothing there freezes it.

    Nor may a decorator of the function around it turn grad mode off.
    """
    function = context.function_around(call)
    words = {last_word_of_name(each) for each in function.decorator_list} if function is not None else set()
    scope: ast.AST | None = function
    match call.func:
        case ast.Name():
            pass
        case ast.Attribute(value=ast.Name(id="self")):
            scope = context.nearest(call, ast.ClassDef)
        case _:
            return False
    if scope is None or not words <= _LEAVING_CALLS:
        return False
    return not any(each.attr.startswith("requires_grad") for each in context.inside(scope, ast.Attribute))


def _is_given_up(reason: Reason, is_grad: bool, doubts: Doubts, context: FileContext) -> bool:
    """Whether a doubt begins at the result of a function of which nothing is known.

    What such a function gives may be on an accelerator where its arguments are, and where something shows that it
    computes with a graph: grad mode is off, or a `.detach()` is written around. A cast to integers shows nothing.
    """
    start = reason.start
    if not isinstance(start, ast.Call) or _asks_module(start, context):
        return False
    if is_grad or (doubts.grad and doubts.why_grad is not None and doubts.why_grad.start is start):
        return True
    return not _shows_graph(start, context) and not _is_given_accelerator(start, context)


def _is_given_accelerator(call: ast.Call, context: FileContext) -> bool:
    """Whether a call is given an accelerator, or something on one: what it gives may be there, too."""
    given = arguments_of(call)
    return any(context.value(each).device & Device.ACCELERATOR for each in given)


def _shows_graph(call: ast.Call, context: FileContext) -> bool:
    """Whether somebody thought of the graph that the result of a call may have."""
    if not context.mode(call) & Mode.ON:
        return True
    scope = context.function_around(call) or context.tree
    return any(each.attr == "detach" for each in context.inside(scope, ast.Attribute))


_OF_MODULES = frozenset(
    ["eval", "train", "parameters", "named_parameters", "state_dict", "load_state_dict", "zero_grad"]
)
"""Methods that modules have, and little else."""


def _asks_module(call: ast.Call, context: FileContext) -> bool:
    """Whether a call is one of a module's methods, or of a part's, by what the functions around do with the module.

    What the object itself holds, `self.network`, is judged by all methods of its class.
    """
    owners = set(_owners(call.func))
    held = {each for each in owners if each.startswith("self.")}
    for above in context.ancestors(call):
        asked = owners if isinstance(above, FUNCTIONS) else held if isinstance(above, ast.ClassDef) else ()
        if asked and any(_shown_module(each.func) in asked for each in context.inside(above, ast.Call)):
            return True
    return False


def _owners(function: ast.expr) -> Iterator[str]:
    """Yield what a method is asked of and what that is a part of, innermost first: `self.net.head`, `self.net`."""
    while isinstance(function, ast.Attribute):
        function = function.value
        yield ast.unparse(function)


def _shown_module(function: ast.expr) -> str:
    """Return what a call shows to be a module, if it is none of a function: what is called, or asked for parameters."""
    if isinstance(function, ast.Attribute) and function.attr in _OF_MODULES:
        function = function.value
    return ast.unparse(function)


def _is_direct(reason: Reason, place: ast.AST, context: FileContext) -> bool:
    """Whether a reason begins at an argument or a call of a function around the place, and nothing stood between."""
    start = reason.start
    if start is None or not context.holds(start):
        return False
    is_own_part = isinstance(start, ast.arg) and start.arg == "self"  # where a module is, its parts are
    if any(step.aside or (_is_held(step) and not is_own_part) for step in reason.chain()):
        return False
    around = {None, *(each for each in context.ancestors(place))}
    return context.function_around(start) in around


def _is_held(step: Reason) -> bool:
    """Whether a step says that an attribute of the object held the value meanwhile."""
    return step.node is None and step.text.startswith("`self.")


def nothing_known(receiver: str, row: int) -> str:
    """Return the step of a finding whose value was not followed: there is none else to tell."""
    return f"nothing is known of `{receiver}`: it was not followed further, line {row}"
