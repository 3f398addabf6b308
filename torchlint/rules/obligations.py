"""What the equality of old and new code may rest on: each obligation is discharged by one question."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

import libcst as cst

from torchlint.diagnostics.assumptions import (
    DEFAULT_DEVICE,
    DEFAULT_DTYPE,
    ERROR_NOT_EXPECTED,
    IS_TENSOR,
    NOT_TRACED,
    Decision,
)
from torchlint.rules.api import DEVICE, DTYPE, TENSOR_MAKERS, TENSOR_TYPE, FileContext, Kind, traces, word_of
from torchlint.rules.wording import brief


# ---------------------------------------------------------------------- is-torch-tensor, is-scalar
def is_tensor(node: cst.BaseExpression, context: FileContext) -> Decision:
    """Decide whether an expression is a tensor, or `None`, which the old code refuses as the new one does."""
    return IS_TENSOR.decided(None if is_proven(node, context) else context.value(node).claimed, brief(node, context))


def is_tensor_if_taken(node: cst.BaseExpression, context: FileContext) -> Decision:
    """Decide whether an expression is a tensor where `Variable` takes it: that refuses all else but `None`."""
    known = context.value(node)
    proven = known.may(Kind.TENSOR) and not known.may(Kind.NONE) and not known.claimed
    return IS_TENSOR.decided(None if proven else known.claimed, brief(node, context))


def is_proven(node: cst.CSTNode | ast.expr, context: FileContext) -> bool:
    """Whether an expression is a tensor, or `None`, by more than a claim."""
    known = context.value(node)
    return known.may(Kind.TENSOR) and known.must(Kind.TENSOR | Kind.NONE) and not known.claimed


def has_no_dimension(node: cst.CSTNode | ast.expr, context: FileContext) -> bool:
    """Whether a tensor has no dimensions, by more than a claim: a full reduction, a loss, what is computed of these."""
    value = context.value(node)
    return value.rank == 0 and not value.claimed


# ---------------------------------------------------------------------- no class below Tensor
_NONE_ABOUT = "the old call takes nothing else, and no file of the project works with a subclass of `Tensor`"


def of_no_subclass(node: cst.BaseExpression, context: FileContext) -> Decision:
    """Decide whether a tensor is of torch's own class: unknown only where the project has a class below it.

    `Variable(x)` and `torch.tensor(x)` make a plain tensor of an object of a subclass (measured on torch 2.13).
    """
    if _is_made_anew(node, context):
        return IS_TENSOR.proven("torch makes it here, and of its own class", brief(node, context))
    found = context.other_texts.subclasses_tensors
    doubt = f"{found}, and the new code keeps its class" if found else None
    return IS_TENSOR.decided(doubt, brief(node, context), _NONE_ABOUT)


def _is_made_anew(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether a call makes a tensor, and is not handed one whose class it takes over, as ``zeros_like`` does."""
    names = context.names(node.func) if isinstance(node, cst.Call) else frozenset[str]()
    return bool(names) and names <= TENSOR_MAKERS and not any(each.endswith("_like") for each in names)


# ---------------------------------------------------------------------- error-not-expected
_HANDLES = re.compile(rb"^\s*except\b|raises|Raises|suppress", re.MULTILINE)
_EXPECTS = re.compile(r"raises|suppress|xfail|expected_?failure", re.IGNORECASE)
_EVERY = frozenset({"Exception", "BaseException"})
_OTHERS = frozenset(
    "ArithmeticError AssertionError EOFError FileExistsError FileNotFoundError GeneratorExit IOError ImportError "
    "KeyError KeyboardInterrupt MemoryError ModuleNotFoundError NameError NotImplementedError OSError OverflowError "
    "PermissionError RecursionError StopIteration SystemExit TimeoutError UnicodeDecodeError ZeroDivisionError".split()
)
"""Built-in classes of errors that no conversion of a tensor raises: their handlers expect something else."""


def error_not_expected(node: cst.CSTNode, context: FileContext) -> Decision:
    """Decide whether nothing around a node, in the same function, expects the error that it raises."""
    if not context.is_parsed:
        return ERROR_NOT_EXPECTED.decided("an error may be expected here" if context.matches(_HANDLES) else None)
    places = (context.python(each) for each in (node, *context.ancestors(node)))
    place = next((each for each in places if each is not None), context.tree)
    expected = _is_expected(place, context)
    return ERROR_NOT_EXPECTED.decided("the code around may expect the error" if expected else None)


def _is_expected(place: ast.AST, context: FileContext) -> bool:
    below = place
    for above in context.ancestors(place):
        match above:
            case ast.Try(body=body, handlers=handlers) if below in body:
                if any(_takes(each.type) for each in handlers):
                    return True
            case ast.With(items=items) | ast.AsyncWith(items=items):
                if any(_expects(each.context_expr) for each in items):
                    return True
            case ast.Call() if below is not above.func and _expects(above):  # assertRaises(E, lambda: x.numpy())
                return True
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                if any(_EXPECTS.search(ast.unparse(each)) for each in above.decorator_list):
                    return True
                outer = context.function_around(above)  # which may call it under `pytest.raises`
                uses = context.names_by_word().get(above.name, ()) if outer is not None else ()
                own = (each for each in uses if context.function_around(each) is outer)
                return any(_is_expected(each, context) for each in own)
        below = above
    return False


def _takes(kind: ast.expr | None) -> bool:
    """Whether a handler takes an error that conversions raise."""
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    names = {each.id if isinstance(each, ast.Name) else "" for each in kinds} if kind is not None else set(_EVERY)
    return not names <= _OTHERS


def _expects(context: ast.expr) -> bool:
    """Whether a call expects an error: ``pytest.raises(RuntimeError)``, ``suppress(TypeError)``."""
    if not isinstance(context, ast.Call) or _EXPECTS.search(word_of(context.func)) is None:
        return False
    return _takes(context.args[0] if context.args else None)


# ---------------------------------------------------------------------- torch's defaults
_HERE = "this file sets the default device"


def device_setter(context: FileContext) -> str | None:
    """Say who sets a default device: legacy constructors stay on the CPU, modern ones follow it."""
    return _HERE if DEVICE in context.defaults_set else context.other_texts.sets(DEVICE)


def type_setter(context: FileContext) -> str | None:
    """Say who sets a CUDA default tensor type: ``torch.Tensor`` and the modern constructors follow it alike."""
    is_here = TENSOR_TYPE in context.defaults_set and b"cuda" in context.source.utf8
    return _HERE if is_here else context.other_texts.sets(TENSOR_TYPE)


def default_device_unchanged(context: FileContext) -> Decision:
    """Decide whether nothing in the project sets a default device, or a default tensor type that has one."""
    return DEFAULT_DEVICE.decided(device_setter(context) or type_setter(context))


def default_dtype_unchanged(context: FileContext) -> Decision:
    """Decide whether nothing in the project sets a default dtype."""
    here = "this file sets the default dtype" if context.defaults_set & {DTYPE, TENSOR_TYPE} else None
    return DEFAULT_DTYPE.decided(here or context.other_texts.sets(DTYPE, TENSOR_TYPE))


def stays_on_the_cpu(context: FileContext, plain: bool) -> tuple[bool, Decision]:
    """Say whether a legacy constructor's successor has to be told the CPU, and what leaving that open rests on.

    Legacy constructors ignore a default device, which the modern ones follow. A default tensor type moves both, but
    of the legacy ones ``torch.Tensor`` alone: ``plain`` says whether it is that.
    """
    device, kind = device_setter(context), type_setter(context)
    if plain and kind:
        followed = DEFAULT_DEVICE.proven("both calls follow the default tensor type")
        return False, DEFAULT_DEVICE.open(doubt=kind) if device else followed
    is_told = bool(device or kind)
    return is_told, DEFAULT_DEVICE.proven("the device is written" if is_told else "")


# ---------------------------------------------------------------------- not-traced
def not_traced(context: FileContext, doubt: str = "a trace makes `.data` a constant") -> Decision:
    """Decide whether neither the file traces, scripts or compiles code, nor one that imports it.

    Who is handed to a tracer is not followed.
    """
    if traces(context.source.utf8):
        return NOT_TRACED.open(doubt=f"this file traces or compiles code, and {doubt}")
    elsewhere = context.other_texts.traces
    return NOT_TRACED.decided(f"{elsewhere}, and {doubt}" if elsewhere else None)


def not_traced_here(context: FileContext) -> Decision:
    """Decide as :func:`not_traced` does, by this file alone: what builds a module is hardly ever traced elsewhere."""
    is_traced = traces(context.source.utf8)
    doubt = "this file traces or compiles code, and a trace misses writes through `.data`"
    return NOT_TRACED.decided(doubt if is_traced else None)


def size_not_traced(node: cst.CSTNode, sizes: Iterable[cst.Arg], context: FileContext) -> Iterator[Decision]:
    """Decide whether no trace runs a call whose size may be that of a tensor; of written sizes nothing is asked.

    A trace keeps the size that ``torch.Tensor`` and ``x.new`` are given, and follows that of ``torch.empty`` and
    ``x.new_zeros``; of sizes that are constants it keeps the same of both (measured on torch 2.13).
    """
    if not all(context.value(each.value).const is not None for each in sizes):
        doubt = "a trace keeps the size of the old call and follows that of the new one"
        yield _not_traced_at(node, context, doubt)


def data_not_traced(node: cst.CSTNode, context: FileContext) -> Decision:
    """Decide whether no trace runs a typed constructor: it warns of ``torch.tensor`` alone (measured on torch 2.13)."""
    return _not_traced_at(node, context, "a trace warns of the new call")


def detach_not_traced(node: cst.CSTNode, context: FileContext) -> Decision:
    """Decide whether no trace runs a call of `Variable`: it records no detaching there (measured on torch 2.13)."""
    return _not_traced_at(node, context, "a trace lets gradients pass the old call")


def _not_traced_at(node: cst.CSTNode, context: FileContext, doubt: str) -> Decision:
    """Decide whether no trace runs a node; what is outside of functions, or builds an object, runs before tracing."""
    function = next((each for each in context.ancestors(node) if isinstance(each, cst.FunctionDef | cst.Lambda)), None)
    if function is None or (isinstance(function, cst.FunctionDef) and function.name.value == "__init__"):
        return NOT_TRACED.proven("it runs before something is traced")
    return not_traced(context, doubt)
