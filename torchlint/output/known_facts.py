"""What is known of every expression on a line, in words: the answer to "why is this found?" and "why is it not?"."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.facts.value import Device, Grad, Kind, Mode, Value
from torchlint.output.screen import Screen, code
from torchlint.source.shortening import one_line

if TYPE_CHECKING:
    from torchlint.knowledge import Knowledge

_LONGEST = 60
"""Characters of an expression's code that are shown."""

_MODES = {Mode(0): "unknown", Mode.ON: "on", Mode.OFF: "off", Mode.ON | Mode.OFF: "on or off"}


def render(analysis: Knowledge, row: int, screen: Screen) -> Iterator[str]:
    """Yield the lines about one row of a file, outer expressions before the inner ones they are made of."""
    index = analysis.index
    wanted = [each for each in index.parents if isinstance(each, ast.expr) and each.lineno == row]
    wanted = [each for each in wanted if _tells(each, analysis)]
    cell, (within, _) = index.source.cell(row), index.source.address(index.source.line_starts[row - 1])
    place = f"{index.source.path}:{'' if cell is None else f'cell {cell}:'}{within}"
    yield screen.paint(place, "bold") + f"  {code(index.source.original.line(row).strip())}"
    if not wanted:
        yield "  no expression begins on this line"
        return
    wanted.sort(key=lambda each: (each.col_offset, -_last(each), -(each.end_col_offset or 0)))
    modes = [analysis.mode(each) for each in wanted if not isinstance(getattr(each, "ctx", None), ast.Store)]
    if modes:
        yield f"  grad mode: {_MODES[modes[0]]}"
    width = min(max(len(_code(each)) for each in wanted), _LONGEST)
    shown = set()
    for node in wanted:
        line = f"  {_code(node):<{width}}  {words(analysis.value(node))}"
        if line not in shown:
            yield line
            told = [*_steps(analysis, node), *_silences(analysis, node)]
            yield from (f"  {'':<{width}}    {each}" for each in told if each not in shown)
            shown.update([line, *told])


@dataclass(frozen=True, slots=True)
class KnownExpression:
    """What is known of one expression: its span as offsets, its code, its value in words, why, and the grad mode."""

    start: int
    end: int
    code: str
    value: str
    why: tuple[str, ...]
    mode: str


def known_at(analysis: Knowledge, offset: int) -> list[KnownExpression]:
    """Say what is known of the innermost expression around an offset, and before it of what its method is called on.

    The list is empty where nothing that stands there tells anything.
    """
    index = analysis.index
    around = [
        (index.end(node) - index.start(node), index.start(node), node)
        for node in index.parents
        if isinstance(node, ast.expr) and index.start(node) <= offset <= index.end(node) and _tells(node, analysis)
        # Before Python 3.12 the places of what stands in f-strings are not exact.
        if not any(isinstance(each, ast.JoinedStr) for each in index.ancestors(node))
    ]
    if not around:
        return []
    node = min(around, key=lambda each: each[:2])[2]
    told = [node]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and offset <= index.end(node.func):
        told.insert(0, node.func.value)
    return [_known(analysis, each) for each in told]


def _known(analysis: Knowledge, node: ast.expr) -> KnownExpression:
    value, mode = analysis.value(node), _MODES[analysis.mode(node)]
    start, end = analysis.index.start(node), analysis.index.end(node)
    return KnownExpression(start, end, _code(node), words(value), tuple(_steps(analysis, node)), mode)


def _steps(analysis: Knowledge, node: ast.expr) -> list[str]:
    """Return the reasons of a value, where it may be a tensor and they matter."""
    value = analysis.value(node)
    axes = (("grad", value.why_grad, value.may_require_grad), ("place", value.why_device, value.may_be_on_accelerator))
    found = [(axis, reason) for axis, reason, matters in axes if matters and _carries(value)]
    cited = analysis.index.source.cited
    return [f"{axis}: {cited(step)}" for axis, reason in found for step in analysis.why(reason)]


def _silences(analysis: Knowledge, node: ast.expr) -> Iterator[str]:
    """Say why a conversion is not reported although something is not excluded: what is presumed of it."""
    match analysis.index.parents.get(node):
        case ast.Attribute(attr="numpy") as method if isinstance(call := analysis.index.parents.get(method), ast.Call):
            if call.func is not method:
                return
        case _:
            return
    value = analysis.value(node)
    presumed = value if analysis.settings.strict else analysis.presuming.value(node)
    if value.may_require_grad and not presumed.may_require_grad:
        yield "grad: presumed not to be required, as such code is mostly called: not reported"
    if value.may_be_on_accelerator and not presumed.may_be_on_accelerator:
        yield "place: presumed to be the host, as such code is mostly called: not reported"
    is_open = value.may_require_grad or value.may_be_on_accelerator
    if is_open and value.may(Kind.OTHER | Kind.MODULE | Kind.ARRAY) and not analysis.may_be_torch(node):
        known = (
            "the code around it speaks of another library's values" if analysis.works_with_torch else "no torch here"
        )
        yield f"kind: {known}: not reported"


def words(value: Value) -> str:
    """Spell a value: its kinds, then grad, place, elements and rank of the tensors among them."""
    if not value.kind:
        return "never reached"
    told = ["anything" if value.unknown else " | ".join(_names(value.kind))]
    if _carries(value):
        told.append(_grad(value))
        told.append(_place(value))
    elif value.device and not value.unknown:
        told.append(_place(value))
    if value.exact:
        told.append(value.exact)
    if value.rank == 0:
        told.append("0-dim")
    if value.const is not None:
        told.append(repr(value.const))
    meant = sorted(each.rpartition(".")[2].partition("@")[0] for each in (*value.names, *value.instance))
    if meant and not value.unknown:
        told.append(f"`{'` or `'.join(meant)}`")
    return ", ".join(told)


def _carries(value: Value) -> bool:
    return value.may(Kind.TENSOR | Kind.MODULE)


def _grad(value: Value) -> str:
    if not value.may_require_grad and not value.may(Kind.MODULE):
        return "detached"
    if value.grad & Grad.ATTACHED:
        return "requires grad" if value.grad == Grad.ATTACHED else "may require grad"
    return "not proven detached" if value.grad & Grad.UNKNOWN else "detached"


def _place(value: Value) -> str:
    if value.device & Device.ACCELERATOR:
        return "on a GPU" if value.device == Device.ACCELERATOR else "may be on a GPU"
    if value.device & Device.UNKNOWN:
        return "not proven on the host"
    return "on the host"


def _names(kind: Kind) -> list[str]:
    return [str(each.name).lower() for each in Kind if each & kind]


def _code(node: ast.expr) -> str:
    return one_line(ast.unparse(node), _LONGEST)


def _last(node: ast.expr) -> int:
    return node.end_lineno or node.lineno


def _tells(node: ast.expr, analysis: Knowledge) -> bool:
    """Whether a node is worth a line: constants, and methods that are only called, are not."""
    if isinstance(node, ast.Constant | ast.Slice | ast.FormattedValue | ast.JoinedStr):
        return False
    above = analysis.index.parents.get(node)
    called = isinstance(above, ast.Call) and above.func is node and isinstance(node, ast.Attribute)
    return not called or bool(analysis.value(node).names)
