"""Memory that nothing has written yet is computed with.

## What it does

Flags `total = torch.empty(n)`, `torch.empty_like(x)`, `x.new_empty(n)` and legacy `torch.Tensor(n, m)`, also moved,
cast or wrapped, `torch.empty(n).cuda()`, where the first that happens to `total` is that it is added to (`total += x`,
`total[i] += x`, `total.index_add_(0, at, x)`) or computed with (`total * 2`, `total.sum()`), and where they are
operands themselves: `torch.where(mask, x, torch.empty_like(x))`.

Flags `self.w = nn.Parameter(torch.empty(n))` and `nn.Parameter(torch.Tensor(n, m))` in a module that computes with
`self.w` and derives from `nn.Module`, maybe by way of other classes of the project, where nothing in the project writes
to it: no `nn.init`, no `.data`, no loop over `parameters()`, no function that is given it. What another class writes to
an attribute of its own says nothing. It is possible only where other files import the module or a checkpoint may be
loaded, and silent where weights are loaded and nothing trains.

Silent is all else: what is filled, written by `copy_` or `out=`, stored into, joined with others, given to another
function or to `nn.init`, asked for its shape, returned, on the `meta` device, or has no elements.

## Why is this bad?

`torch.empty` gives whatever lies in memory. In a fresh process that is often zeros, so that it works in a test, and
later on it is the numbers of tensors that were freed, NaN among them. Nothing raises.

## Example

```python
import torch


def total(batches):
    found = torch.empty(3)
    for batch in batches:
        found += batch
    return found
```

Use instead:

```python
import torch


def total(batches):
    found = torch.zeros(3)
    for batch in batches:
        found += batch
    return found
```

## Severity

A warning: the numbers depend on what was in the memory before.

```python
import torch


def total(batches, n: int):
    found = torch.empty(n)  # warning
    for batch in batches:
        found += batch
    return found
```

## Fix safety

Never safe: the numbers change, from chance to zeros. Zeros are what a sum begins with; a product begins with ones.
A parameter gets no fix: which numbers a weight begins with is for you to say, and zeros may keep it from learning.

## References

- [torch.empty](https://docs.pytorch.org/docs/stable/generated/torch.empty.html): "filled with uninitialized data"
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS
from torchlint.diagnostics.model import Confidence, Fix, Severity
from torchlint.rules.api import (
    PASSED,
    RECEIVES,
    RETURNED,
    STORED,
    TENSOR_METHODS,
    AstIndex,
    Draft,
    FileContext,
    FlowSpecification,
    Kind,
    NodePattern,
    Rule,
    Triggers,
    word_of,
)
from torchlint.rules.constructors.constructor_argument import ArgumentKind, given
from torchlint.rules.constructors.legacy_types import name_node, type_of
from torchlint.rules.repairs import call_of, method_call
from torchlint.rules.wording import brief, first_line

_ZEROS: Final = {"empty": "zeros", "empty_like": "zeros_like", "new_empty": "new_zeros"}
_LEGACY: Final = tuple(f"{kind}Tensor" for kind in ("", *"Float Double Half BFloat16 Long Int Short Char Byte".split()))
_NO_MEMORY: Final = re.compile(r"\b0\b|['\"]meta['\"]|\bout\s*=|\*\*")
"""Tensors without elements or memory, and such as are given theirs."""
_PARAMETERS: Final = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})
_WRAPPERS: Final = frozenset({"torch.autograd.Variable", "torch.autograd.variable.Variable"})
_PASSING: Final = frozenset(
    "contiguous cpu cuda expand expand_as flatten permute repeat reshape squeeze t to transpose unsqueeze view view_as "
    "bfloat16 clone detach double float half int long pin_memory requires_grad_ type".split()
)
"""Methods that give the same numbers elsewhere, in another form, or as another type."""
_COMPUTING: Final = frozenset(
    "abs add addmm argmax argmin bmm clamp cos cumsum div dot einsum exp log logsumexp matmul max maximum mean min "
    "minimum mm mul norm pow prod relu sigmoid sin softmax sqrt std sub sum tanh var where".split()
)
"""Functions and methods whose result depends on all numbers that they are given."""
_ADDING: Final = frozenset(
    "add_ sub_ mul_ div_ addmm_ addcmul_ addcdiv_ index_add_ scatter_add_ lerp_ index_add scatter_add".split()
)
"""Methods that compute with the numbers that a tensor has, and write the result there or into a new one."""
_FUNCTIONS: Final = frozenset(
    f"torch.{place}{word}" for place in ("", "nn.functional.", "linalg.") for word in _COMPUTING
)
_INPLACE: Final = frozenset(word for word in TENSOR_METHODS if word.endswith("_")) - {"requires_grad_"}
_READ_BY_METHODS: Final = FlowSpecification(
    sinks=(
        NodePattern(ops=frozenset({"operation"})),
        NodePattern(functions=(*sorted(_FUNCTIONS), "torch.nn.functional.*", "torch.cat", "torch.stack")),
        NodePattern(methods=_COMPUTING | {"repeat", "expand"}, at=RECEIVES),
    ),
    vetoes=(
        NodePattern(functions=("torch.nn.init.*",)),
        NodePattern(methods=_INPLACE, at=RECEIVES),
        NodePattern(ops=frozenset({"grow", "spread"}), at=frozenset({0})),
        NodePattern(ops=frozenset({"setter"}), words=frozenset({"data"}), at=frozenset({0})),
    ),
    ways_out=frozenset({PASSED, RETURNED, STORED}),
    through_objects=True,
)
"""What becomes of a parameter that an object keeps: who computes with it, and whoever else has it may write to it."""


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report memory that is computed with before anything is written to it."""
    at, word = name_node(node.func), _maker(node, context)
    if at is None or not word:
        return
    made = _passed_on(node, context)
    place, above = context.python(made), _call_around(made, context)
    if not isinstance(place, ast.expr) or _NO_MEMORY.search(context.code(made)):
        return
    if above is not None and context.names(above.func) & _PARAMETERS:
        yield from _parameter(above, place, context)
        return
    used = context.first_use(place)
    if used is None or not _is_read(used, context):
        return
    begun, fix = _ZEROS.get(word, "torch.zeros"), None
    if isinstance(node.func, cst.Attribute) and word in _ZEROS:
        decided = AUTHOR_MEANT_THIS.open(doubt="the numbers begin with zeros from now on", is_likely=True)
        fix = Fix(f"Begin with `{begun}`", (context.replace(at, begun),), (decided,))
    yield Draft(
        at,
        f"`{_name_of(made, context)}` is uninitialised memory when it is computed with: begin with `{begun}`",
        Confidence.LIKELY,
        (_read_at(used, context),),
        fix,
    )


def _read_at(place: ast.AST, context: FileContext) -> str:
    line = next(each for each in (place, *context.ancestors(place)) if isinstance(each, ast.stmt))
    return f"line {line.lineno} reads it: `{first_line(line, context)}`"


def _maker(node: cst.BaseExpression, context: FileContext) -> str:
    """Name the function that makes memory in which nothing is written; empty for others, and for given values."""
    if not isinstance(node, cst.Call) or not node.args:
        return ""
    at = name_node(node.func)
    if at is not None and context.spells(node.func, "empty", "empty_like"):
        return next((each for each in _ZEROS if context.names(node.func) == {f"torch.{each}"}), "")
    if at is not None and at.value == "new_empty":
        return "new_empty" if isinstance(node.func, cst.Attribute) and context.value(node).is_tensor else ""
    if type_of(node.func, context) is None:
        return ""
    found = given(node, [each for each in node.args if each.keyword is None or each.keyword.value == "size"], context)
    return "Tensor" if found.kind is ArgumentKind.SIZE and not found.by_name else ""


def _passed_on(node: cst.BaseExpression, context: FileContext) -> cst.BaseExpression:
    """Return the outermost expression that holds the numbers of a new tensor: moved, cast, wrapped or reshaped."""
    while True:
        called, around = method_call(node, context), _call_around(node, context)
        if called is not None and called[1] in _PASSING:
            node = called[0]
        elif around is not None and context.names(around.func) & _WRAPPERS:
            node = around
        else:
            return node


def _call_around(node: cst.BaseExpression, context: FileContext) -> cst.Call | None:
    """Return the call that an expression is an argument of."""
    above = context.parent(node)
    around = context.parent(above) if isinstance(above, cst.Arg) else None
    return around if isinstance(around, cst.Call) else None


def _is_read(place: ast.AST, context: FileContext) -> bool:
    """Whether a place that a tensor goes into takes its numbers: it is added to, an operand, or computed with."""
    match place:
        case ast.AugAssign() | ast.UnaryOp(op=ast.USub()):
            return True
        case ast.BinOp():
            return context.value(place).may(Kind.TENSOR)
        case ast.Subscript():
            outer = context.parent(place)
            return isinstance(outer, ast.AugAssign) and outer.target is place
        case ast.Call(func=function, keywords=keywords) if all(each.arg != "out" for each in keywords):
            return bool(names := context.names(function)) and names <= _FUNCTIONS
        case ast.Attribute(attr=word):
            return word in _COMPUTING | _ADDING and call_of(place, context) is not None
    return False


def _name_of(made: cst.BaseExpression, context: FileContext) -> str:
    """Return the name that memory gets, or else its code."""
    match context.parent(made):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]):
            return name
    return brief(made, context)


# ---------------------------------------------------------------------- parameters
_LOADERS: Final = ("load_state_dict", "from_pretrained", "load_from_checkpoint", "safetensors")
_TRAINING: Final = ("backward", "training_step")
_SET_BELOW: Final = r"(?s)\bclass\s+\w+\s*\([^)]*\b%s\b[^)]*\):.*\bself\.%s\s*=(?!=)"
"""A class below that sets an attribute anew."""


def _parameter(node: cst.Call, memory: ast.expr, context: FileContext) -> Iterator[Draft]:
    """Report a parameter of a module that nothing in the project writes to and that other methods compute with."""
    at, word = name_node(node.func), _attribute_of(_passed_on(node, context), context)
    begun, owner = context.function_around(memory), context.nearest(memory, ast.ClassDef)
    if at is None or not word or owner is None or not isinstance(begun, ast.FunctionDef) or context.is_test:
        return
    if begun.name != "__init__" or context.parent(begun) is not owner:
        return
    paths, own = context.paths_from(_READ_BY_METHODS, memory), (context.row(node), memory.lineno)
    reads = [each.sink.node for each in paths if not each.way_out and context.holds(each.sink.node)]
    if not reads or any(each.way_out and each.sink.row not in own for each in paths):
        return
    is_loaded = _is_spelled(_LOADERS, context)
    if _may_initialise(word, owner, context) or (is_loaded and not _is_spelled(_TRAINING, context)):
        return  # the weights are those of a checkpoint
    is_in_sight = context.other_texts.importer is None and not is_loaded
    yield Draft(
        at,
        f"nothing initialises `self.{word}`, a parameter of uninitialised memory: `nn.init` it",
        Confidence.LIKELY if is_in_sight else Confidence.POSSIBLE,
        (_read_at(reads[0], context),),
    )


def _is_spelled(words: tuple[str, ...], context: FileContext) -> bool:
    """Whether a file of the project names one of these attributes, or there are too many files to tell."""
    here, others = context.attributes_by_word(), context.other_texts
    return any(each in here or others.spelling(each) != [] for each in words)


def _attribute_of(made: cst.BaseExpression, context: FileContext) -> str:
    """Return the attribute of ``self`` that is set to an expression; empty where none is."""
    match context.parent(made):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute(value=cst.Name("self"), attr=cst.Name(word)))]):
            return word
    return ""


def _may_initialise(word: str, owner: ast.ClassDef, context: FileContext) -> bool:
    """Whether something in the project may write to an attribute of a module, or its class is not seen in full."""
    lineage, others = context.module_lineage(owner), context.other_texts
    attributes = context.attributes_by_word()
    stores = [each for each in attributes[word] if isinstance(each.ctx, ast.Store) and owner in context.ancestors(each)]
    if not lineage or len(stores) != 1:
        return True
    if any(context.value(each.value).may(Kind.MODULE) for each in attributes.get("apply", ())):
        return True
    if any(index.told(_hands_itself_on, body) for index, body in lineage):
        return True
    below = _SET_BELOW % (re.escape(owner.name), re.escape(word))
    names = frozenset(body.name for _, body in lineage)
    is_written = others.initialises(word, names) or others.tests_initialise(word)
    return bool(is_written or others.spelling(owner.name, below))


def _hands_itself_on(index: AstIndex, body: ast.ClassDef) -> bool:
    """Whether an object is given to something that may go through its parameters: ``start(self)``."""
    for name in index.inside(body, ast.Name):
        above = index.parents.get(name) if name.id == "self" else None
        if isinstance(above, ast.keyword | ast.List | ast.Tuple):
            return True
        if isinstance(above, ast.Call) and above.func is not name and word_of(above.func) != "super":
            return True
    return False


RULE = Rule(
    "TNS309",
    "uninitialised-memory-read",
    Triggers(methods=("new_empty",), functions=("empty", "empty_like", *_LEGACY)),
    assumes=("author-meant-this",),
    severity=Severity.WARNING,
    visit={cst.Call: check},
)
