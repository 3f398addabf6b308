"""The repair of a write through `.data`: a `no_grad` block or `.detach()`, and how far either may be trusted."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TypeVar

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
from torchlint.diagnostics.model import Applicability, Edit, Fix
from torchlint.rules.api import FileContext, Kind, Mode, remembered, semantic_children
from torchlint.rules.data.data_evidence import Evidence, is_tensor_by, tensor_evidence
from torchlint.rules.data.data_use import DataUse, Use, Way, data_use, drop_edit
from torchlint.rules.data.initial_values import by_init
from torchlint.rules.data.no_grad_block import Statement, neighbours, no_grad_edits, statement_of
from torchlint.rules.data.tensor_uses import ALIKE, PARAMETER, REFORMING, REFUSED
from torchlint.rules.repairs import call_of, in_fstring, method_call
from torchlint.rules.wording import brief

_RECKONED_WITH = Kind.TENSOR | Kind.INTEGER | Kind.SCALAR
"""What an augmented assignment takes into the tensor's memory."""
_KNOWN = re.compile(
    r"(math|numpy|random)\.|builtins\.(float|int|len|min|max|abs|round|range|tuple|list|sum|isinstance|bool)$|"
    r"torch\.(?!autograd\.(?!Variable$|variable\.)|func\.|utils\.(checkpoint|hooks)\.|jit\.|_functorch\.|"
    r"(is_grad_enabled|set_grad_enabled|enable_grad|no_grad|inference_mode|is_inference_mode_enabled|vmap|cond|"
    r"compile)$)"
)
"""Functions that neither ask for grad mode, nor turn it on or off, nor call a function that they are given."""
_SUSPENDING = (cst.Await, cst.Yield, cst.NamedExpr, cst.Lambda, cst.GeneratorExp)
"""What runs later, or binds a name beside the statement."""
_IN_BLOCK = "Write under `torch.no_grad()`"
_Kind = TypeVar("_Kind", bound=cst.CSTNode)
_Site = tuple[cst.Attribute, DataUse, Evidence]


def repair(node: cst.Attribute, use: DataUse, evidence: Evidence, context: FileContext) -> Fix | None:
    """Make the fix for a write through ``.data``; None where there is none to offer."""
    if in_fstring(node, context) or _is_refused(node, use, context):
        return None
    is_off = context.mode(node) == Mode.OFF
    if use.way is Way.INIT:
        return _dropping(node, use, evidence, context)
    if not is_off and (written := _initial_write(node, context)) is not None:
        name, edits = written
        return Fix(f"Use `{name}`", edits, (*_of_a_new_tensor(node, evidence, context), _result_not_used(use, context)))
    statement = statement_of(node, context)
    if statement is None or not _is_direct(use, statement, context):
        return _detaching(node, use, evidence, context)
    if is_off:
        return _dropping(node, use, evidence, context)
    return _in_block(statement, context) or _detaching(node, use, evidence, context)


def _initial_write(node: cst.Attribute, context: FileContext) -> tuple[str, tuple[Edit, ...]] | None:
    """Return how ``nn.init`` writes what a new module writes through a `.data`; None where it does not."""
    called, place = method_call(node, context), context.python(node)
    if called is None or not isinstance(place, ast.Attribute):
        return None
    is_plain = isinstance(node.value, cst.Name) and "torch.nn.Parameter" not in context.value(node.value).instance
    return None if is_plain or not context.has_first_value(place) else by_init(node.value, called[0], context)


def _is_refused(node: cst.Attribute, use: DataUse, context: FileContext) -> bool:
    """Whether torch refuses a method on the tensor itself, as it does on what requires grad."""
    return use.word in REFUSED and context.value(node.value).may_require_grad


# ---------------------------------------------------------------------- what a write rests on
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
    is_new = isinstance(place, ast.Attribute) and context.has_first_value(place)
    is_named = is_new and _is_of_torch(node.value, context)
    yield IS_TENSOR.proven(of=code) if is_named else is_tensor_by(evidence, node.value, context)
    yield NO_LIVE_GRAPH.proven(of=code) if is_new else NO_LIVE_GRAPH.open(code)


def _is_of_torch(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether an attribute is named as parameters are, and no class of the file gives its objects another one."""
    word = node.attr.value if isinstance(node, cst.Attribute) else "grad"
    uses = (*context.attributes_by_word().get(word, ()), *context.names_by_word().get(word, ()))
    return bool(PARAMETER.search(word)) and word != "grad" and all(isinstance(each.ctx, ast.Load) for each in uses)


def _result_not_used(use: DataUse, context: FileContext) -> Decision:
    """Decide whether nobody sees the result, which is the tensor itself now: a cell shows what its last line gives."""
    if use.way in (Way.STORE, Way.AUGMENTED):
        return RESULT_NOT_USED.proven()
    is_seen = not _is_unused(use.top, context) or context.source.shows(context.span(use.top)[0])
    return RESULT_NOT_USED.decided("" if is_seen else None)


def _is_unused(top: cst.CSTNode, context: FileContext) -> bool:
    """Whether an expression's result goes nowhere but into further in-place methods."""
    above = context.parent(top)
    if isinstance(above, cst.Attribute) and above.attr.value in ALIKE:
        call = call_of(above, context)
        return call is not None and _is_unused(call, context)
    return isinstance(above, cst.Expr)


# ---------------------------------------------------------------------- one write by itself
def _dropping(node: cst.Attribute, use: DataUse, evidence: Evidence, context: FileContext) -> Fix | None:
    edits = _drop(node, use, context)
    assumed = (*_assumed(node, use, evidence, context), _result_not_used(use, context))
    return Fix("Drop `.data`", edits, assumed) if edits is not None else None


def _detaching(node: cst.Attribute, use: DataUse, evidence: Evidence, context: FileContext) -> Fix | None:
    """Where no block can be made, writing through ``.detach()`` at least is counted; None where it is no better."""
    kept = use.way is not Way.STORE and not _is_unused(use.top, context)
    if use.way is Way.AUGMENTED or (use.word in REFORMING and not kept):
        return None  # `x.detach() += v` is no Python, and `x.detach().resize_(n)` leaves `x` as it is, too
    assumed = tuple(_of_a_new_tensor(node, evidence, context))
    fix = Fix("Replace `.data` with `.detach()`", (context.replace(node.attr, "detach()"),), assumed)
    return fix.assuming(NOT_WRITTEN_LATER.decided("" if kept else None, brief(node, context)))


def _drop(node: cst.Attribute, use: DataUse, context: FileContext) -> tuple[Edit, ...] | None:
    return _as_method(node, use, context) if use.way is Way.AUGMENTED else (drop_edit(node, context),)


_METHODS: dict[type[cst.BaseAugOp], str] = {
    cst.AddAssign: "add_",
    cst.SubtractAssign: "sub_",
    cst.MultiplyAssign: "mul_",
    cst.DivideAssign: "div_",
    cst.PowerAssign: "pow_",
}


def _as_method(node: cst.Attribute, use: DataUse, context: FileContext) -> tuple[Edit, ...] | None:
    """``m.w.data += v`` becomes ``m.w.add_(v)``: ``m.w += v`` would also assign a property, or a tuple's member."""
    statement = use.top
    assert isinstance(statement, cst.AugAssign)
    method, value = _METHODS.get(type(statement.operator)), statement.value
    start, end = context.outer_span(node.value)[1], context.outer_span(value)[0]
    if method is None or "#" in context.source.slice(start, end) or isinstance(value, cst.Tuple | cst.GeneratorExp):
        return None
    if value.lpar:  # its brackets become those of the call
        return (Edit(start, end, f".{method}"),)
    return Edit(start, end, f".{method}("), context.insert_after(value, ")")


# ---------------------------------------------------------------------- statements in a block
def _in_block(statement: Statement, context: FileContext) -> Fix | None:
    """All neighbours that are repaired as far share the block, and each of them reports the same edits."""
    trust = _trusted(statement, context)
    if trust is None:
        return None
    stays = trust[1] is Applicability.DISPLAY
    run = neighbours(statement, lambda other: not stays and _trusted(other, context) == trust, context)
    return _block(run, context)


@remembered
def _block(run: tuple[Statement, ...], context: FileContext) -> Fix | None:
    block = no_grad_edits(run, context)
    if block is None:
        return None
    sites = [site for line in run if (site := _site(line, context)) is not None]
    drops = [edit for node, use, _ in sites for edit in _drop(node, use, context) or ()]
    edits = tuple(sorted({*block, *drops}, key=lambda edit: (edit.start, edit.end)))
    return Fix(_IN_BLOCK, edits, merged(decision for site in sites for decision in _assumed(*site, context)))


@remembered
def _trusted(line: Statement, context: FileContext) -> tuple[bool, Applicability] | None:
    """Whether moving the line into a block is safe, and how far it may go; None where it does not belong into one."""
    site = _site(line, context)
    if site is None or not _drop(*site[:2], context):
        return None
    if not all(_is_harmless(each, context) for each in _within(line, cst.Call)):
        return None
    return all(decision.is_proven for decision in _assumed(*site, context)), context.trust(line.body[0])


@remembered
def _site(line: Statement, context: FileContext) -> _Site | None:
    """Return the write that a line is for, where a block around it takes care of that."""
    for node in _within(line, cst.Attribute):
        use = data_use(node, context)
        if use is None or use.use is not Use.MUTATION or not _is_direct(use, line, context):
            continue
        is_off = context.mode(node) == Mode.OFF
        if is_off or _is_refused(node, use, context) or _initial_write(node, context) is not None:
            return None
        evidence = tensor_evidence(node, context)
        return None if evidence is None else (node, use, evidence)
    return None


def _is_direct(use: DataUse, line: Statement, context: FileContext) -> bool:
    """Whether the write is what the statement is for: nobody uses its result, and nothing in it runs later."""
    small = line.body[0]
    if any(_within(line, each) for each in _SUSPENDING):
        return False
    match use.way:
        case Way.AUGMENTED:
            return small is use.top
        case Way.STORE:  # beside `p.data[0]`, a name would be bound to what was computed without grad
            is_alone = isinstance(small, cst.Assign) and len(small.targets) == 1 and small.targets[0].target is use.top
            return is_alone or isinstance(small, cst.AugAssign)
        case Way.METHOD:
            return isinstance(small, cst.Expr) and _is_unused(use.top, context)
    return False  # `out=` may be given a tensor of another size: without `.data` torch resizes the tensor itself


def _within(node: cst.CSTNode, kind: type[_Kind]) -> list[_Kind]:
    found = [node] if isinstance(node, kind) else []
    return found + [each for child in semantic_children(node) for each in _within(child, kind)]


def _is_harmless(call: cst.Call, context: FileContext) -> bool:
    """Whether a call could not care for grad mode: it runs only torch, NumPy, Python, and methods of tensors."""
    names = context.names(call.func)
    if names or not isinstance(call.func, cst.Attribute):
        return bool(names) and all(map(_KNOWN.match, names))
    receiver = call.func.value
    return context.value(receiver).is_tensor or any(
        each.attr.value == "data" for each in _within(receiver, cst.Attribute)
    )
