"""The repair of a write through `.data`: a `no_grad` block or `.detach()`, and how far either may be trusted."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from weakref import WeakKeyDictionary

import libcst as cst

from torchlint.diagnostics.assumptions import (
    IS_TENSOR,
    NO_LIVE_GRAPH,
    NOT_WRITTEN_LATER,
    RESULT_NOT_USED,
    SAME_METHOD,
    Decision,
    merged,
)
from torchlint.diagnostics.model import Applicability, Confidence, Edit, Fix
from torchlint.rules.api import FUNCTIONS, FileContext, Kind, Mode, parameters, remembered, semantic_children
from torchlint.rules.data.data_evidence import Evidence, tensor_evidence
from torchlint.rules.data.data_use import (
    DataUse,
    Use,
    Way,
    data_use,
    detach_edit,
    detached_owner,
    drop_edit,
    is_detaching,
)
from torchlint.rules.data.initial_values import by_init
from torchlint.rules.data.no_grad_block import Statement, neighbours, no_grad_edits, statement_of
from torchlint.rules.data.tensor_uses import ALIKE, CALLING_BACK, PARAMETER, REFORMING, RESIZING
from torchlint.rules.method_calls import call_of, method_call
from torchlint.rules.obligations import is_tensor
from torchlint.rules.repairs import in_fstring
from torchlint.rules.wording import brief

_RECKONED_WITH = Kind.TENSOR | Kind.INTEGER | Kind.SCALAR
"""What an augmented assignment takes into the tensor's memory."""
_HARMLESS_CALLS = frozenset("float int len min max abs round range tuple list sum isinstance bool".split())
_HARMLESS_BUILTINS = frozenset(f"builtins.{word}" for word in _HARMLESS_CALLS)
_HARMLESS_MODULES = ("torch.", "math.", "numpy.", "random.")
_GRADED = re.compile(
    r"torch\.(autograd\.(?!Variable$|variable\.)|func\.|utils\.(checkpoint|hooks)\.|jit\.|_functorch\.|"
    r"(is_grad_enabled|set_grad_enabled|enable_grad|no_grad|inference_mode|is_inference_mode_enabled|vmap|cond|"
    r"compile)$)"
)
"""Names of torch that ask for grad mode, turn it on or off, or call a function that they are given."""


def _assumed(node: cst.Attribute, use: DataUse, evidence: Evidence, context: FileContext) -> tuple[Decision, ...]:
    """Decide whether the write does the same without `.data`."""
    return (*_of_a_new_tensor(node, evidence, context), *_same_effect(use, context))


def _same_effect(use: DataUse, context: FileContext) -> Iterator[Decision]:
    """Decide whether what writes does the same to the tensor as to its `.data`."""
    if use.way is Way.METHOD:
        doubt = "the old code changes the temporary that `.data` makes" if use.word in REFORMING else ""
        yield SAME_METHOD.decided(None if use.word in ALIKE else doubt, f".{use.word}()")
    if isinstance(use.top, cst.AugAssign):
        plain = context.value(use.top.value).must(_RECKONED_WITH)
        operator = context.code(use.top.operator).strip()
        doubt = f"with a NumPy array, `{operator}` makes a new tensor"
        yield SAME_METHOD.decided(None if plain else doubt, operator)


def _of_a_new_tensor(node: cst.Attribute, evidence: Evidence, context: FileContext) -> Iterator[Decision]:
    """Decide whether what is written into is a tensor that no graph holds: a new one or a new module's."""
    place, code = context.python(node), brief(node.value, context)
    if not isinstance(place, ast.Attribute) or not context.has_first_value(place):
        yield is_tensor(node.value, context)
        yield NO_LIVE_GRAPH.open(code)
        return
    sure = evidence.confidence is Confidence.CERTAIN or (
        isinstance(place.value, ast.Attribute) and _is_of_torch(place.value, context)
    )
    yield IS_TENSOR.decided(None if sure else "", code)
    yield NO_LIVE_GRAPH.proven(of=code)


def _is_of_torch(place: ast.Attribute, context: FileContext) -> bool:
    """Whether no class but torch's own gives its objects an attribute of this name, and it is one of parameters."""
    word = place.attr
    uses = (*context.attributes_by_word().get(word, ()), *context.names_by_word().get(word, ()))
    return bool(PARAMETER.search(word)) and word != "grad" and all(isinstance(each.ctx, ast.Load) for each in uses)


def may_move_into_block(node: cst.Attribute, context: FileContext) -> bool:
    """Whether a write may move under `no_grad` with its statement.

    A function that is not known may compute a gradient itself, or build a graph that somebody needs.
    """
    for above in context.ancestors(node):
        if isinstance(above, cst.BaseSmallStatement):
            return _speaks_of_the_known(above, context)
    return False


@remembered
def _speaks_of_the_known(statement: cst.BaseSmallStatement, context: FileContext) -> bool:
    """Whether nothing in a statement could care for grad mode by its words: it runs only torch, math and tensors."""
    return _read(statement).isdisjoint(_properties(context.tree, context)) and all(
        _is_harmless(call, context) for call in _calls(statement)
    )


def _read(node: cst.CSTNode) -> set[str]:
    """Return the attributes that are read anywhere in a node."""
    found = {node.attr.value} if isinstance(node, cst.Attribute) else set()
    return found.union(*map(_read, semantic_children(node)))


@remembered
def _properties(_: ast.Module, context: FileContext) -> frozenset[str]:
    """Return the decorated methods of a file's classes: a cached property would keep what it computes in the block."""
    methods = (each for each in context.nodes(ast.FunctionDef) if isinstance(context.parent(each), ast.ClassDef))
    return frozenset(each.name for each in methods if each.decorator_list) - {"data"}


def _calls(node: cst.CSTNode) -> Iterator[cst.Call]:
    if isinstance(node, cst.Call):
        yield node
    for child in semantic_children(node):
        yield from _calls(child)


def _is_harmless(call: cst.Call, context: FileContext) -> bool:
    names = context.names(call.func)
    if names:
        known = all(name.startswith(_HARMLESS_MODULES) or name in _HARMLESS_BUILTINS for name in names)
        return known and not any(map(_GRADED.match, names))
    match call.func:
        case cst.Name(value=word):
            return word in _HARMLESS_CALLS
        case cst.Attribute(value=receiver):
            return context.value(receiver).is_tensor or _is_on_data(receiver)
    return False


def _is_on_data(node: cst.BaseExpression) -> bool:
    while True:
        match node:
            case cst.Attribute(attr=cst.Name(value="data")):
                return True
            case cst.Attribute(value=inner) | cst.Subscript(value=inner) | cst.Call(func=inner):
                node = inner
            case _:
                return False


_TITLE = "Write under `torch.no_grad()`"
_SUSPENDING = (cst.Await, cst.Yield, cst.NamedExpr, cst.Lambda, cst.GeneratorExp)
_Site = tuple[cst.Attribute, DataUse, Evidence]
_UNITED = (Way.METHOD, Way.STORE, Way.AUGMENTED, Way.OUT)


def repair(node: cst.Attribute, use: DataUse, evidence: Evidence, context: FileContext) -> Fix | None:
    """Make the fix for a write through ``.data``; None where there is none to offer."""
    if in_fstring(node, context):
        return None
    if use.way is Way.INIT:
        assumed = (*_assumed(node, use, evidence, context), _result_not_used(use, context))
        return Fix("Drop `.data`", (drop_edit(node, context),), assumed)
    if use.word in RESIZING and context.value(node.value).may_require_grad:
        return None
    if use.word in CALLING_BACK and context.value(node.value).may_require_grad:
        fix = _replaced(node, evidence, context)  # torch counts no such write in either spelling, but those behind it
        is_alone = isinstance(context.parent(use.top), cst.Expr)
        return fix.assuming(NOT_WRITTEN_LATER.decided(None if is_alone else "", brief(node, context)))
    if not grad_is_off(node, context) and (written := initial_write(node, context)) is not None:
        name, calls = written
        assumed = (*_of_a_new_tensor(node, evidence, context), _result_not_used(use, context))
        return Fix(f"Use `{name}`", calls, assumed)
    statement = statement_of(node, context)
    if statement is None or not _is_direct(node, use, statement, context) or _may_resize(node, use, context):
        return _detaching(node, use, evidence, context)
    if grad_is_off(node, context):
        edits = _drop(node, use, context)
        if edits is None:
            return None
        return Fix("Drop `.data`", edits, (*_assumed(node, use, evidence, context), _result_not_used(use, context)))
    return _in_block(statement, context) or _detaching(node, use, evidence, context)


def initial_write(node: cst.Attribute, context: FileContext) -> tuple[str, tuple[Edit, ...]] | None:
    """Return how ``nn.init`` writes what a new module writes through a `.data`; None where it does not."""
    called, place = method_call(node, context), context.python(node)
    if called is None or not isinstance(place, ast.Attribute):
        return None
    is_plain = isinstance(node.value, cst.Name) and "torch.nn.Parameter" not in context.value(node.value).instance
    if is_plain or not context.has_first_value(place):
        return None
    return by_init(node.value, called[0], context)


def _result_not_used(use: DataUse, context: FileContext) -> Decision:
    """Decide whether nobody sees the result, which is the tensor itself now: a cell shows what its last line gives."""
    if use.way in (Way.STORE, Way.AUGMENTED):
        return RESULT_NOT_USED.proven()
    is_seen = not is_unused(use.top, context) or context.source.shows(context.span(use.top)[0])
    return RESULT_NOT_USED.decided("" if is_seen else None)


def _detaching(node: cst.Attribute, use: DataUse, evidence: Evidence, context: FileContext) -> Fix | None:
    """Where no block can be made, writing through ``.detach()`` at least is counted; None where it is no better."""
    fix = _replaced(node, evidence, context)
    if use.way is Way.AUGMENTED:  # `x.detach() += v` is no Python
        edits = _as_method(node, use, context, "" if is_detaching(node.value, context) else ".detach()")
        return replace(fix, edits=edits).assuming(*_same_effect(use, context)) if edits is not None else None
    kept = use.way is not Way.STORE and not is_unused(use.top, context)
    if use.word in REFORMING and not kept:  # `x.detach().resize_(n)` leaves `x` as it is, too
        return None
    return fix.assuming(NOT_WRITTEN_LATER.decided("" if kept else None, brief(node, context)))


def _replaced(node: cst.Attribute, evidence: Evidence, context: FileContext) -> Fix:
    """Write through ``.detach()``, or through what is detached before ``.data`` already."""
    assumed = tuple(_of_a_new_tensor(node, evidence, context))
    owner = detached_owner(node.value, context)
    if owner is None:
        return Fix("Replace `.data` with `.detach()`", (detach_edit(node, context),), assumed)
    return Fix("Drop `.data` behind `.detach()`", (drop_edit(node, context),), (*assumed, is_tensor(owner, context)))


def _in_block(statement: cst.SimpleStatementLine, context: FileContext) -> Fix | None:
    """All neighbours that are repaired as far share the block, and each of them reports the same edits."""
    trust = _trusted(statement, context)
    if trust is None:
        return None
    stays = context.trust(statement.body[0]) is Applicability.DISPLAY
    runs = _runs.setdefault(context, {})
    if statement not in runs:
        run = neighbours(
            statement,
            lambda other: other is statement or (not stays and _trusted(other, context) == trust),
            context,
        )
        for at in range(0, len(run), _LONGEST_BLOCK):
            part = tuple(run[at : at + _LONGEST_BLOCK])
            runs.update((line, part) for each in part for line in _lines(each))
    edits = _block(runs[statement], context)
    if edits is None:
        return None
    return Fix(_TITLE, edits, _assumed_of(runs[statement], context))


def moves_into_block(call: cst.Call, context: FileContext) -> bool:
    """Whether the repair of a write by a method moves its statement under ``torch.no_grad()``."""
    statement = statement_of(call, context)
    if statement is None or not any(use.top is call for _, use, _ in _sites(statement, context)):
        return False
    return _in_block(statement, context) is not None


_LONGEST_BLOCK = 50
"""Statements in one block at most: each of their findings carries the edits of all."""

_runs: WeakKeyDictionary[FileContext, dict[cst.SimpleStatementLine, tuple[Statement, ...]]] = WeakKeyDictionary()
"""The statements that share a block, by each of them."""


@remembered
def _block(run: tuple[Statement, ...], context: FileContext) -> tuple[Edit, ...] | None:
    block = no_grad_edits(run, context)
    if block is None:
        return None
    lines = [line for each in run for line in _lines(each)]
    drops = [
        edit for line in lines for node, use, _ in _sites(line, context) for edit in _drop(node, use, context) or ()
    ]
    return tuple(sorted({*block, *drops}, key=lambda edit: (edit.start, edit.end)))


@remembered
def _assumed_of(run: tuple[Statement, ...], context: FileContext) -> tuple[Decision, ...]:
    """Return what a block rests on: each assumption once, by the first write for which it is open."""
    sites = (site for each in run for line in _lines(each) for site in _sites(line, context))
    return merged(decision for site in sites for decision in _assumed(*site, context))


@remembered
def _trusted(line: cst.SimpleStatementLine, context: FileContext) -> tuple[bool, Applicability] | None:
    """Whether moving the line into a block is safe, and how far it may go; None where it does not belong into one."""
    sites = _sites(line, context)
    if not sites or not all(_drop(node, use, context) for node, use, _ in sites):
        return None
    if not may_move_into_block(sites[0][0], context):
        return None
    is_safe = all(decision.is_proven for site in sites for decision in _assumed(*site, context))
    return is_safe, context.trust(line.body[0])


def _lines(node: cst.CSTNode) -> Iterator[cst.SimpleStatementLine]:
    if isinstance(node, cst.SimpleStatementLine):
        yield node
    elif isinstance(node, cst.If | cst.Else | cst.IndentedBlock):
        for child in semantic_children(node):
            yield from _lines(child)


@remembered
def _sites(line: cst.SimpleStatementLine, context: FileContext) -> tuple[_Site, ...]:
    """Return the writes in a line that a block around it takes care of."""
    return tuple(_find_sites(line, context))


def _find_sites(line: cst.SimpleStatementLine, context: FileContext) -> Iterator[_Site]:
    for node in _attributes(line):
        use = data_use(node, context)
        if use is None or use.use is not Use.MUTATION or use.way not in _UNITED or use.word in CALLING_BACK:
            continue
        if not _is_direct(node, use, line, context) or grad_is_off(node, context):
            continue
        if initial_write(node, context) is not None:
            continue
        if (use.word in RESIZING and context.value(node.value).may_require_grad) or _may_resize(node, use, context):
            continue
        evidence = tensor_evidence(node, context)
        if evidence is not None:
            yield node, use, evidence


def _attributes(node: cst.CSTNode) -> Iterator[cst.Attribute]:
    if isinstance(node, cst.Attribute) and node.attr.value == "data":
        yield node
    for child in semantic_children(node):
        yield from _attributes(child)


def _is_direct(node: cst.Attribute, use: DataUse, line: cst.SimpleStatementLine, context: FileContext) -> bool:
    """Whether the write is what the statement is for: nobody uses its result, and nothing in it runs later."""
    if any(_holds(each, _SUSPENDING) for each in line.body) or _is_in_comprehension(node, line, context):
        return False
    small = line.body[0]
    if use.way is Way.AUGMENTED:
        return small is use.top
    if use.way is Way.STORE:  # beside `p.data[0]`, a name would be bound to what was computed without grad
        return isinstance(small, cst.AugAssign) or (
            isinstance(small, cst.Assign) and len(small.targets) == 1 and small.targets[0].target is use.top
        )
    return isinstance(small, cst.Expr) and is_unused(use.top, context)


def is_unused(top: cst.CSTNode, context: FileContext) -> bool:
    """Whether an expression's result goes nowhere but into further in-place methods."""
    current = top
    while True:
        above = context.parent(current)
        if isinstance(above, cst.Expr):
            return True
        if not isinstance(above, cst.Attribute) or above.attr.value not in ALIKE:
            return False
        call = call_of(above, context)
        if call is None:
            return False
        current = call


def _is_in_comprehension(node: cst.CSTNode, line: cst.CSTNode, context: FileContext) -> bool:
    for above in context.ancestors(node):
        if above is line:
            return False
        if isinstance(above, cst.BaseComp):
            return True
    return False


def _holds(node: cst.CSTNode, kinds: tuple[type[cst.CSTNode], ...]) -> bool:
    return isinstance(node, kinds) or any(_holds(child, kinds) for child in semantic_children(node))


def _may_resize(node: cst.Attribute, use: DataUse, context: FileContext) -> bool:
    """Whether ``out=`` may be given a tensor of another size: without `.data` torch resizes the tensor itself.

    A function reckons in place that is given the same tensor and numbers: ``torch.clamp(w.data, 0, 1, out=w.data)``.
    """
    call = use.top
    if use.way is not Way.OUT or not isinstance(call, cst.Call):
        return False
    names, first = context.names(call.func), call.args[0]
    if not names or not all(name.startswith("torch.") and f"{name.rpartition('.')[2]}_" in ALIKE for name in names):
        return True
    same = first.keyword is None and context.code(first.value) in (context.code(node), context.code(node.value))
    others = (each.value for each in call.args[1:] if each.value is not node)
    return not same or not all(context.value(each).must(Kind.INTEGER | Kind.SCALAR) for each in others)


# ---------------------------------------------------------------------- taking `.data` away
_METHODS: dict[type[cst.BaseAugOp], str] = {
    cst.AddAssign: "add_",
    cst.SubtractAssign: "sub_",
    cst.MultiplyAssign: "mul_",
    cst.DivideAssign: "div_",
    cst.FloorDivideAssign: "floor_divide_",
    cst.PowerAssign: "pow_",
    cst.ModuloAssign: "remainder_",
    cst.BitAndAssign: "bitwise_and_",
    cst.BitOrAssign: "bitwise_or_",
    cst.BitXorAssign: "bitwise_xor_",
}


def _drop(node: cst.Attribute, use: DataUse, context: FileContext) -> tuple[Edit, ...] | None:
    if use.way is not Way.AUGMENTED or _may_be_rebound(node.value, context):
        return (drop_edit(node, context),)
    return _as_method(node, use, context)


def _may_be_rebound(receiver: cst.BaseExpression, context: FileContext) -> bool:
    """Whether ``x += v`` does what ``x.data += v`` did: it also assigns, so that ``x`` has to be a local name.

    An attribute may be a property, one of a parametrized module among them: assigning runs its setter.
    """
    name = context.python(receiver)
    return isinstance(receiver, cst.Name) and isinstance(name, ast.Name) and _is_local(name, context)


def _is_local(name: ast.Name, context: FileContext) -> bool:
    for above in context.ancestors(name):
        if isinstance(above, ast.ClassDef | ast.Lambda):
            return False
        if isinstance(above, FUNCTIONS):
            return name.id in parameters(above) or any(
                isinstance(each, ast.Name) and each.id == name.id and isinstance(each.ctx, ast.Store)
                for each in ast.walk(above)
            )
    return True


def _as_method(node: cst.Attribute, use: DataUse, context: FileContext, before: str = "") -> tuple[Edit, ...] | None:
    """``m.w.data += v`` becomes ``m.w.add_(v)``: a property or a tuple's member may refuse to be assigned.

    What is written ``before`` the method goes in with it.
    """
    statement = use.top
    assert isinstance(statement, cst.AugAssign)
    method, value = _METHODS.get(type(statement.operator)), statement.value
    start, end = context.outer_span(node.value)[1], context.outer_span(value)[0]
    if method is None or "#" in context.source.slice(start, end) or (isinstance(value, cst.Tuple) and not value.lpar):
        return None
    if value.lpar and not isinstance(value, cst.Tuple | cst.GeneratorExp):  # its brackets become those of the call
        return (Edit(start, end, f"{before}.{method}"),)
    return Edit(start, end, f"{before}.{method}("), context.insert_after(value, ")")


def grad_is_off(node: cst.Attribute, context: FileContext) -> bool:
    """Whether nothing is recorded where an expression stands."""
    if context.is_parsed:
        return context.mode(node) == Mode.OFF
    for above in context.ancestors(node):  # without facts, by the words of the block around
        if isinstance(above, cst.FunctionDef):
            return False
        if isinstance(above, cst.With) and any("no_grad" in context.code(each.item) for each in above.items):
            return True
    return False
