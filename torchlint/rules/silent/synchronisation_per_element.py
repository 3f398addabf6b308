"""The elements of a tensor are read one by one: an accelerator is waited for once for each of them.

## What it does

Flags `.item()`, `int()` and `float()` of each element of one tensor that may be on an accelerator: in a comprehension
or a loop over it (`[t.item() for t in scores]`), in a loop that counts through it (`scores[i].item()`), and in
`map(int, labels)`; also where the element is converted first (`t.long().item()`). Possible is what is a tensor by its
use alone: `sizes[i].item()`, `labels.view(-1)`.

It asks for evidence that the tensor may be on an accelerator: the code moves it there, or it comes from a module that
may be moved, by what its `forward` is given or by its parameters, or from a network that its class keeps and moves
(`self.net = net.cuda()`). Silent are one number a step (`loss.item()`), a list
of separate scalars, tensors on the host (`torch.linspace(0, 1, n)`, what a data set gives, what comes after `.cpu()`),
arguments of functions of which nobody can tell where they are, and the tests that pytest runs: nobody waits for the
few elements of those.

## Why is this bad?

`.item()` copies one number to the host, and waits until the accelerator has done all that it was given so far. For a
tensor of a thousand elements the loop waits a thousand times, and nothing else can be queued meanwhile; `.tolist()`
waits once. Counted on torchlint's simulated accelerator, of fifty elements: `[each.item() for each in found]` copies
fifty times, and `found.tolist()` once. Timed on an idle NVIDIA H200 with torch 2.11:

| elements | one by one | `.tolist()` |
|---|---|---|
| 50 | 0.59 ms | 0.02 ms |
| 1,000 | 8.9 ms | 0.04 ms |
| 10,000 | 89 ms | 0.18 ms |

## Example

```python
import torch


def best(scores, device):
    found = torch.argmax(scores.to(device), -1).flatten()
    return [each.item() for each in found]
```

Use instead:

```python
import torch


def best(scores, device):
    found = torch.argmax(scores.to(device), -1).flatten()
    return found.tolist()
```

Where a loop does more than that, take the numbers before it: `for each in found.tolist():`.

## Severity

A warning: it is right, and slow by orders of magnitude on an accelerator.

```python
import torch


def numbers(x: torch.Tensor):
    return [each.item() for each in x.cuda().flatten()]  # warning
```

## Fix safety

Offered where a comprehension does nothing else. Safe where the tensor has one dimension beyond doubt; else it is
unsafe: of a tensor with more dimensions, `.tolist()` gives lists of lists, where `.item()` took rows of one element.

## References

- [torch.Tensor.tolist](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.tolist.html)
- [torch.Tensor.item](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.item.html)
- [Performance Tuning Guide](https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html): avoid unnecessary
  CPU-GPU synchronisation
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from torchlint.diagnostics.assumptions import HAS_ONE_DIMENSION
from torchlint.diagnostics.model import Confidence, Fix, Severity
from torchlint.rules.api import SCOPES, Draft, Dtype, FileContext, Loop, Rule, Triggers, remembered
from torchlint.rules.evidence.accelerator_places import Place, is_building, place_by_methods
from torchlint.rules.evidence.local_bindings import bindings_of
from torchlint.rules.evidence.primaries import is_primary
from torchlint.rules.evidence.shown_code import brief
from torchlint.rules.evidence.tensor_dimensions import has_one_dimension
from torchlint.rules.evidence.tensor_proof import is_tensor
from torchlint.rules.silent.loss_names import is_called_a_loss

_CASTS = {"int": Dtype.INTEGRAL, "float": Dtype.FLOATING}
"""Built-ins that read one element, and what ``tolist()`` must give to be the same."""
_SAME_ELEMENT = frozenset("long int float double bool half detach cpu clone round abs sigmoid exp squeeze".split())
"""Methods that give one element of one element: the host waits for that as it does for the other."""
_OF_TENSORS = frozenset("cuda to view flatten squeeze unsqueeze reshape argmax softmax sigmoid generate".split())
"""Methods that give one tensor, or of a dict of tensors, whose keys have no ``.item()``, the dict itself."""
_DEEPEST = 3
_LAST = (ast.Return, ast.Raise, ast.Break)


@dataclass(frozen=True, slots=True)
class Site:
    """An element that is read, of a tensor that a loop walks through."""

    tensor: ast.expr
    loop: ast.AST
    """The loop; of a comprehension, its clause."""
    place: Place
    is_known: bool
    """Whether it is a tensor by what is known of it, and not by what is done with it alone."""


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report the first reading of an element in a loop over a tensor."""
    call = context.python(node) if _is_reading(node) else None
    if not isinstance(call, ast.Call) or not context.works_with_torch or context.is_test:
        return
    site = _site(call, context)
    if site is None or _is_repeated(call, site, context):
        return
    code = _shown(site.tensor)
    word = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
    spelled = "map" if isinstance(site.loop, ast.Call) else f"{'.' * (word is not node.func)}{_word(call)}()"
    yield Draft(
        word,
        f"`{spelled}` waits for the accelerator once for each element of `{code}`: one `.tolist()` waits once",
        site.place.confidence(context) if site.is_known else Confidence.POSSIBLE,
        site.place.why,
        _fix(node, site, context),
    )


def _is_reading(node: cst.Call) -> bool:
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="item")), args=[]):
            return True
        case cst.Call(func=cst.Name(value="int" | "float"), args=[cst.Arg(value=cst.Name() | cst.Subscript())]):
            return True
        case cst.Call(
            func=cst.Name(value="int" | "float"),
            args=[cst.Arg(value=cst.Call(func=cst.Attribute(attr=cst.Name(value=word)), args=[]))],
        ):
            return word in _SAME_ELEMENT
        case cst.Call(func=cst.Name(value="map"), args=[cst.Arg(value=cst.Name(value="int" | "float")), _]):
            return True
    return False


def _read(call: ast.Call) -> ast.expr | None:
    """Return the element that a call reads, before it is converted: ``t`` of ``t.long().item()``."""
    match call:
        case ast.Call(func=ast.Attribute(value=read, attr="item"), args=[], keywords=[]):
            return _unconverted(read)
        case ast.Call(func=ast.Name(id="int" | "float"), args=[read], keywords=[]):
            return _unconverted(read)
    return None


def _unconverted(read: ast.expr) -> ast.expr:
    while True:
        match read:
            case ast.Call(func=ast.Attribute(value=inner, attr=word), args=[], keywords=[]) if word in _SAME_ELEMENT:
                read = inner
            case ast.Attribute(value=inner, attr="data"):
                read = inner
            case _:
                return read


def _word(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)


@remembered
def _site(call: ast.Call, context: FileContext) -> Site | None:
    """Return what is wrong with a call; None for nothing."""
    read = _read(call)
    if isinstance(call.func, ast.Name) and not context.names(call.func) <= {f"builtins.{call.func.id}"}:
        return None
    found: tuple[ast.expr, ast.AST] | None = None
    match read:
        case ast.Name():
            found = _walked(read, context)
        case ast.Subscript(value=tensor, slice=index):
            found = _counted(tensor, index, context)
        case None if len(call.args) == 2:
            found = call.args[1], call
    place = place_by_methods(found[0], context) if found is not None else None
    if found is None or place is None:
        return None
    is_known = context.value(found[0]).is_tensor
    if not is_known and not _is_used_as_tensor(call, read, found[0], context):
        return None
    if is_building(call, context) or _happens_once(call, found[1], context):
        return None
    return Site(*found, place, is_known)


def _is_used_as_tensor(call: ast.Call, read: ast.expr | None, whole: ast.expr, context: FileContext) -> bool:
    """Whether what is done with a value, of which only the place is known, is done with tensors alone.

    A list of separate scalars has an ``.item()`` for each of its elements, too, and a module may give one.
    """
    if _is_shown_as_tensor(whole, context, _DEEPEST):
        return True
    if not isinstance(read, ast.Subscript):
        return False
    is_item = isinstance(call.func, ast.Attribute) and not is_called_a_loss(whole)
    return is_item or isinstance(read.slice, ast.Tuple)


def _is_shown_as_tensor(node: ast.expr, context: FileContext, depth: int) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr=word), keywords=keywords):
            return word in _OF_TENSORS or any(each.arg == "dim" for each in keywords)
        case ast.Subscript(slice=ast.Tuple()):
            return True
        case ast.Subscript(value=inner):
            return _is_shown_as_tensor(inner, context, depth)
        case ast.Name() if depth:
            bound = bindings_of(node, context)
            shown = (each.depth == 0 and _is_shown_as_tensor(each.value, context, depth - 1) for each in bound)
            return bool(bound) and all(shown)
    return False


def _walked(name: ast.Name, context: FileContext) -> tuple[ast.expr, ast.AST] | None:
    """Return what a name is an element of, and the loop that walks over it."""
    loop = _loop_of(name, context)
    if not isinstance(loop, ast.For | ast.comprehension):
        return None
    source = _element_of(name.id, loop.target, loop.iter, context)
    return (source, loop) if source is not None else None


def _element_of(word: str, target: ast.expr, source: ast.expr, context: FileContext) -> ast.expr | None:
    """Return what a name in a loop's target takes the elements of, ``enumerate`` and ``zip`` seen through."""
    match target, source:
        case ast.Name(id=found), _:
            return source if found == word else None
        case ast.Tuple(elts=[_, inner]), ast.Call(func=ast.Name(id="enumerate") as function, args=[walked, *_]):
            is_builtin = context.names(function) == {"builtins.enumerate"}
            return _element_of(word, inner, walked, context) if is_builtin else None
        case ast.Tuple(elts=targets), ast.Call(func=ast.Name(id="zip") as function, args=sources):
            if context.names(function) != {"builtins.zip"} or len(targets) != len(sources):
                return None
            pairs = zip(targets, sources, strict=True)
            walked_over = (_element_of(word, *each, context) for each in pairs)
            return next((each for each in walked_over if each is not None), None)
    return None


def _counted(tensor: ast.expr, index: ast.expr, context: FileContext) -> tuple[ast.expr, ast.AST] | None:
    """Return the tensor of ``x[i]``, and the loop that ``i`` counts; the tensor must stay the same in it."""
    names = (each for each in context.within(index) if isinstance(each, ast.Name))
    loop = next((each for each in (_loop_of(name, context) for name in names) if each is not None), None)
    if loop is None:
        return None
    root = tensor
    while isinstance(root, ast.Attribute | ast.Subscript):
        root = root.value
    body = context.parent(loop) if isinstance(loop, ast.comprehension) else loop
    if not isinstance(root, ast.Name) or body is None or any(_stores(each, root.id) for each in context.within(body)):
        return None
    return tensor, loop


def _stores(node: ast.AST, word: str) -> bool:
    return isinstance(node, ast.Name) and node.id == word and isinstance(node.ctx, ast.Store)


def _loop_of(name: ast.Name, context: FileContext) -> ast.AST | None:
    """Return the innermost loop around a name that gives it its value."""
    below: ast.AST = name
    for above in context.ancestors(name):
        clauses: list[ast.comprehension] = getattr(above, "generators", [])
        for each in reversed(clauses):
            if below is not each and _binds(each.target, name.id, context):
                return each
        if isinstance(above, ast.For) and below is not above.iter and _binds(above.target, name.id, context):
            return None if _is_bound_before(name, above, context) else above
        if isinstance(above, SCOPES):
            return None
        below = above
    return None


def _binds(target: ast.expr, word: str, context: FileContext) -> bool:
    return any(isinstance(each, ast.Name) and each.id == word for each in context.within(target))


def _is_bound_before(name: ast.Name, loop: ast.For, context: FileContext) -> bool:
    """Whether the loop's body binds a name again before it is read: ``i = int(i)`` binds it behind that."""
    around = set(context.ancestors(name))
    for each in context.inside(loop, ast.Name):
        if each.id != name.id or not isinstance(each.ctx, ast.Store) or each in context.within(loop.target):
            continue
        if each.lineno <= name.lineno and context.parent(each) not in around:
            return True
    return False


def _happens_once(call: ast.Call, loop: ast.AST, context: FileContext) -> bool:
    """Whether the loop is left behind the reading, or an error is told with it."""
    below: ast.AST = call
    end = context.parent(loop) if isinstance(loop, ast.comprehension) else loop
    for above in context.ancestors(call):
        if below is end:
            return False
        if isinstance(above, ast.Raise | ast.Assert | Loop) and above is not loop:
            return isinstance(above, ast.Raise | ast.Assert)
        for block in (getattr(above, word, None) for word in ("body", "orelse")):
            if isinstance(block, list) and below in block and isinstance(block[-1], _LAST):
                return True
        below = above
    return False


def _is_repeated(call: ast.Call, site: Site, context: FileContext) -> bool:
    """Whether the loop reads an element of the same tensor above this one."""
    around = context.parent(site.loop) if isinstance(site.loop, ast.comprehension) else site.loop
    code = ast.unparse(site.tensor)
    for each in context.inside(around, ast.Call) if around is not None else ():
        if (each.lineno, each.col_offset) >= (call.lineno, call.col_offset) or each is call:
            continue
        if _read(each) is None or (other := _site(each, context)) is None:
            continue
        if other.loop is site.loop and ast.unparse(other.tensor) == code:
            return True
    return False


def _shown(tensor: ast.expr) -> str:
    code = " ".join(ast.unparse(tensor).split())
    return code if len(code) <= 40 else "..."


# ---------------------------------------------------------------------- the repair
def _fix(node: cst.Call, site: Site, context: FileContext) -> Fix | None:
    """Put one ``tolist()`` in the place of a comprehension that does nothing else, and of ``list(map(int, x))``."""
    call = context.python(node)
    is_plain = isinstance(call, ast.Call) and not isinstance(_argument(call), ast.Call | ast.Attribute)
    found = _whole(node, site, context) if is_plain else None
    if found is None:
        return None
    whole, tensor, casts = found
    value = context.value(tensor)
    same = all(value.dtype == _CASTS[each] and value.exact not in _COMPLEX for each in casts)
    if not same or "#" in context.code(whole) or "\n" in context.code(whole):
        return None
    code = context.code_with_parentheses(tensor)
    if not is_primary(tensor) and not tensor.lpar:
        code = f"({code})"
    one = HAS_ONE_DIMENSION.decided(None if has_one_dimension(site.tensor, context) else "", brief(tensor, context))
    return Fix(
        "Take all of them at once", (context.replace(whole, f"{code}.tolist()"),), (one, is_tensor(tensor, context))
    )


def _argument(call: ast.Call) -> ast.expr | None:
    """Return what is written as the element; of ``map`` nothing."""
    if isinstance(call.func, ast.Attribute):
        return call.func.value
    return call.args[0] if len(call.args) == 1 else None


_COMPLEX = frozenset({"complex32", "complex64", "complex128"})


def _whole(
    node: cst.Call, site: Site, context: FileContext
) -> tuple[cst.BaseExpression, cst.BaseExpression, list[str]] | None:
    """Return what reads all elements and does nothing else, the tensor, and the built-ins around each."""
    casts = []
    if isinstance(node.func, cst.Name):
        casts.append(cst.ensure_type(node.args[0].value, cst.Name).value if len(node.args) > 1 else node.func.value)
    above: cst.CSTNode = node
    while True:
        below, above = above, context.parent(above) or above
        match above:
            case cst.Arg(keyword=None, star=""):
                continue
            case cst.Call(func=cst.Name(value="int" | "float" as word), args=[_]) if len(node.args) < 2:
                casts.append(word)
            case cst.Call(func=cst.Name(value="list"), args=[_]) if len(node.args) == 2:
                return above, node.args[1].value, casts
            case cst.ListComp(elt=elt, for_in=clause) if elt is below:
                is_plain = isinstance(clause.target, cst.Name) and not clause.ifs and clause.inner_for_in is None
                is_walked = is_plain and context.python(clause.iter) is site.tensor
                return (above, clause.iter, casts) if is_walked else None
            case _:
                return None


RULE = Rule(
    "TNS504",
    "synchronisation-per-element",
    Triggers(methods=("item",), builtins=("int", "float", "map")),
    assumes=("is-torch-tensor", "is-scalar"),
    severity=Severity.WARNING,
    visit={cst.Call: check},
)
