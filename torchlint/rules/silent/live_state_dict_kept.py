"""The `state_dict()` of a model is kept without a copy while the model trains on.

## What it does

Flags `best = model.state_dict()`, also with `.copy()`, `dict(...)` or `OrderedDict(...)` around it, in an attribute, in
a dict or appended to a list, where a way through the code leads from there over a step of an optimizer, a function that
trains the model, or another `load_state_dict`, to where what was kept is loaded, saved or returned.

Silent are deep copies, `{k: v.clone() ...}`, what is saved or loaded before the model changes, the weights of another
model than the one that is trained, and a model that is built anew before it is trained.

## Why is this bad?

`state_dict()` holds the memory of the parameters, and an optimizer writes into that memory. What is called the best
weights is the last ones; loading them back does nothing. Nothing raises, and the reported score is one that the saved
weights do not reach. A shallow copy copies the names alone.

## Example

```python
import torch


def train(model, batches, evaluate):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    best, least = None, float("inf")
    for batch in batches:
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()
        loss = evaluate(model)
        if loss < least:
            least = loss
            best = model.state_dict()
    model.load_state_dict(best)
```

Use instead:

```python
import copy
import torch


def train(model, batches, evaluate):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    best, least = None, float("inf")
    for batch in batches:
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()
        loss = evaluate(model)
        if loss < least:
            least = loss
            best = copy.deepcopy(model.state_dict())
    model.load_state_dict(best)
```

## Severity

A warning: what is kept is wrong where the model trains on.

```python
import torch


def train(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    before = model.state_dict()  # warning
    for batch in batches:
        model(batch).sum().backward()
        optimizer.step()
    model.load_state_dict(before)
```

## Fix safety

Never safe: other weights are loaded or saved from now on, which is the point, and a copy takes memory.

## References

- [Saving and loading models](https://docs.pytorch.org/tutorials/beginner/saving_loading_models.html): what
  `state_dict()` gives "will keep getting updated by the subsequent training iterations"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS
from torchlint.diagnostics.model import Confidence, Edit, Fix, Severity
from torchlint.rules.api import Draft, FileContext, Function, Kind, Rule, Triggers, remembered
from torchlint.rules.evidence.paths import header, reached_after, successors
from torchlint.rules.silent.weight_changes import changes_weights

_SHALLOW = frozenset({"dict", "OrderedDict", "copy"})
"""Functions that copy a dict and not what it holds."""
_NO_VALUES = frozenset("len bool print isinstance type id list set sorted hasattr".split())


@dataclass(frozen=True, slots=True)
class _Kept:
    """What is kept, and where."""

    target: str
    """The code of the name, attribute or container."""
    model: str
    statement: ast.stmt
    is_added: bool
    """Whether a container gets one more: nothing that is kept later takes its place."""
    is_moved: bool
    """Whether the values go through ``.cpu()``, which copies what is on an accelerator."""


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a ``state_dict()`` that is kept while its model is trained."""
    if not isinstance(node.func, cst.Attribute) or node.func.attr.value != "state_dict" or node.args:
        return
    call = context.python(node)
    all_kept = list(_all_kept(call, context)) if isinstance(call, ast.Call) else []
    if not isinstance(call, ast.Call) or not all_kept or _copies_itself(context.tree, context):
        return
    if not _is_of_a_model(call, context):
        return
    for kept in all_kept:
        found = _harm(kept, context)
        if found is None:
            continue
        changed, used, is_certain = found
        level = Confidence.CERTAIN if is_certain else Confidence.LIKELY
        yield Draft(
            node.func.attr,
            f"`state_dict()` holds the weights of `{kept.model}` themselves, which change before `{kept.target}` is "
            "used: keep `copy.deepcopy(...)` of it",
            Confidence.POSSIBLE if kept.is_moved else level,
            (
                f"line {changed.lineno} changes the weights: `{_first_line(changed, context)}`",
                f"line {used.lineno} uses what was kept: `{_first_line(used, context)}`",
            ),
            _fix(node, context),
        )
        return


def _first_line(node: ast.stmt, context: FileContext) -> str:
    return context.source.slice(*context.span(node)).partition("\n")[0]


# ---------------------------------------------------------------------- what is kept
def _is_of_a_model(call: ast.Call, context: FileContext) -> bool:
    """Whether the receiver is a module by what is known, or else is used as one in the file."""
    model = _receiver(call)
    value = context.value(model)
    if value.must(Kind.MODULE):
        return True
    if not value.may(Kind.MODULE) or not isinstance(model, ast.Name | ast.Attribute):
        return False
    return ast.unparse(model) in _models(context.tree, context)


@remembered
def _models(_: ast.Module, context: FileContext) -> frozenset[str]:
    """Return the code of what is used as a module: it is called with parameters about, or switched to training."""
    found = set()
    for word in ("parameters", "named_parameters", "train", "eval", "load_state_dict", "modules"):
        uses = context.attributes_by_word().get(word, [])
        called = (each for each in uses if isinstance(context.parent(each), ast.Call))
        found |= {ast.unparse(each.value) for each in called}
    optimizers = {ast.unparse(each.value) for each in context.attributes_by_word().get("zero_grad", [])}
    steps = {ast.unparse(each.value) for each in context.attributes_by_word().get("step", [])}
    return frozenset(found - (optimizers & steps) - steps)


@remembered
def _copies_itself(tree: ast.Module, context: FileContext) -> bool:
    """Whether a class of the file has a ``state_dict`` that copies the weights."""
    for each in context.inside(tree, ast.FunctionDef):
        if each.name == "state_dict" and any(one.attr == "clone" for one in context.inside(each, ast.Attribute)):
            return True
        if each.name == "state_dict" and "deepcopy" in {
            *(one.id for one in context.inside(each, ast.Name)),
            *(one.attr for one in context.inside(each, ast.Attribute)),
        }:
            return True
    return False


def _receiver(call: ast.Call) -> ast.expr:
    return call.func.value if isinstance(call.func, ast.Attribute) else call


def _all_kept(call: ast.Call, context: FileContext) -> Iterator[_Kept]:
    """Yield where the weights are kept, also by those who call a function that returns them."""
    model = _receiver(call)
    kept = _kept(call, ast.unparse(model), context)
    if kept is not None:
        yield kept
        return
    outer, _ = _wrapped(call, context)
    function = context.function_around(call)
    if not isinstance(context.parent(outer), ast.Return) or not isinstance(function, ast.FunctionDef):
        return
    names = [each.arg for each in function.args.args]
    given = names.index(model.id) if isinstance(model, ast.Name) and model.id in names else None
    for use in context.names_by_word().get(function.name, []):
        caller = context.parent(use)
        if given is None or not isinstance(caller, ast.Call) or caller.func is not use or len(caller.args) <= given:
            continue
        kept = _kept(caller, ast.unparse(caller.args[given]), context)
        if kept is not None:
            yield kept


def _wrapped(call: ast.expr, context: FileContext) -> tuple[ast.expr, bool]:
    """Return what holds the same tensors around a call, and whether they go through ``.cpu()``."""
    node, is_moved = call, False
    while True:
        above = context.parent(node)
        match above:
            case ast.Call(func=ast.Name(id=word) | ast.Attribute(attr=word), args=[one]) if one is node:
                if word not in _SHALLOW or any(each.endswith("deepcopy") for each in context.names(above.func)):
                    return node, is_moved
                node = above
            case ast.Attribute(attr="copy" | "items"):
                outer = context.parent(above)
                if not isinstance(outer, ast.Call) or outer.func is not above:
                    return node, is_moved
                node = outer
            case ast.comprehension(iter=source, target=ast.Tuple(elts=[_, ast.Name(id=word)])) if source is node:
                outer = context.parent(above)
                if not isinstance(outer, ast.DictComp) or len(outer.generators) != 1:
                    return node, is_moved
                chain = _is_passed_on(outer.value, word)
                if chain is None:
                    return node, is_moved
                node, is_moved = outer, is_moved or chain
            case ast.Dict(values=values) | ast.Tuple(elts=values) | ast.List(elts=values) if any(
                each is node for each in values
            ):
                assert isinstance(above, ast.expr)
                node = above
            case ast.IfExp(test=test) if test is not node:
                node = above
            case _:
                return node, is_moved


def _is_passed_on(value: ast.expr, word: str) -> bool | None:
    """Whether a value of the comprehension goes through ``.cpu()``; None where it is copied or something else."""
    match value:
        case ast.Name(id=name) if name == word:
            return False
        case ast.Attribute(value=inner, attr="data"):
            return _is_passed_on(inner, word)
        case ast.Call(func=ast.Attribute(value=inner, attr="detach"), args=[]):
            return _is_passed_on(inner, word)
        case ast.Call(func=ast.Attribute(value=inner, attr="cpu"), args=[]):
            return None if _is_passed_on(inner, word) is None else True
    return None


def _kept(call: ast.expr, model: str, context: FileContext) -> _Kept | None:
    outer, is_moved = _wrapped(call, context)
    if isinstance(outer, ast.Call) and isinstance(outer.func, ast.Attribute) and outer.func.attr == "items":
        return None
    above = context.parent(outer)
    match above:
        case ast.Assign(targets=[target]) | ast.AnnAssign(target=target):
            if isinstance(target, ast.Tuple) and isinstance(outer, ast.Tuple) and len(target.elts) == len(outer.elts):
                at = next((at for at, each in enumerate(outer.elts) if call in context.within(each)), 0)
                target = target.elts[at]
            if isinstance(target, ast.Name | ast.Attribute):
                return _Kept(ast.unparse(target), model, above, False, is_moved)
            if isinstance(target, ast.Subscript):
                return _Kept(ast.unparse(target.value), model, above, True, is_moved)
        case ast.Call(func=ast.Attribute(value=holder, attr="append"), args=[one]) if one is outer:
            statement = context.parent(above)
            if isinstance(statement, ast.Expr):
                return _Kept(ast.unparse(holder), model, statement, True, is_moved)
    return None


# ---------------------------------------------------------------------- what happens to it
def _harm(kept: _Kept, context: FileContext) -> tuple[ast.stmt, ast.stmt, bool] | None:
    """Return what changes the weights, what uses them later, and whether both are beyond doubt."""
    scope: Function | ast.Module = context.function_around(kept.statement) or context.tree
    following = successors(scope, context)
    guards = _guards(kept.statement, context)
    loops = {each for each in context.ancestors(kept.statement) if isinstance(each, ast.For | ast.While)}

    def ends(node: ast.stmt) -> bool:
        if node is kept.statement and not kept.is_added:
            return True
        return any(
            _is_bound(each, word, context) for each in header(node) for word in _prefixes(kept.target, kept.model)
        )

    def is_asked(node: ast.stmt) -> bool:
        if any(_uses(each, kept, context) for each in header(node)):
            same = any(test in guards for test in _guards(node, context))
            return not (same and any(each in loops for each in context.ancestors(node)))
        return False

    def is_loaded(node: ast.stmt) -> bool:
        return any(_is_load_of(each, kept) for part in header(node) for each in context.inside(part, ast.Call))

    def steps(node: ast.stmt) -> bool:
        return any(
            changes_weights(each, kept.model, scope, context) for part in header(node) for each in _calls(part, context)
        )

    def loads(node: ast.stmt) -> bool:
        if any(isinstance(each, ast.Try) and each.handlers for each in context.ancestors(node)):
            return False  # what was kept may be for the case that it fails
        calls = (each for part in header(node) for each in _calls(part, context))
        return any(_loads_other(each, kept) for each in calls)

    found = reached_after(kept.statement, following, changes=steps, ends=ends, is_asked=is_asked)
    if found is not None:
        is_conditional = bool(guards) or is_loaded(found[1]) or not _shares_a_loop(*found, context)
        return (*found, is_loaded(found[1]) and bool(guards)) if is_conditional else None
    found = reached_after(kept.statement, following, changes=loads, ends=ends, is_asked=is_loaded)
    if found is not None:
        return *found, False
    return _harm_of_an_attribute(kept, guards, context)


def _shares_a_loop(changed: ast.stmt, used: ast.stmt, context: FileContext) -> bool:
    """Whether a loop runs both: what was kept before it may be meant to follow the weights."""
    loops = {each for each in context.ancestors(changed) if isinstance(each, ast.For | ast.While)}
    return any(each in loops for each in context.ancestors(used))


def _guards(node: ast.stmt, context: FileContext) -> frozenset[str]:
    """Return the tests on which it depends whether a statement runs."""
    return frozenset(ast.unparse(each.test) for each in context.ancestors(node) if isinstance(each, ast.If))


def _prefixes(target: str, model: str) -> tuple[str, ...]:
    """Return what must keep its meaning: the target, and the model with all that leads to it."""
    parts = model.split(".")
    return (target, *(".".join(parts[:at]) for at in range(1, len(parts) + 1)))


def _is_bound(node: ast.AST, code: str, context: FileContext) -> bool:
    """Whether a part of a statement binds a name or attribute to another object."""
    for each in _references(node, context):
        if isinstance(each.ctx, ast.Store | ast.Del) and ast.unparse(each) == code:
            statement = context.parent(each)
            if isinstance(statement, ast.Assign) and _is_itself(statement.value, code):
                continue
            return True
    return False


def _is_itself(value: ast.expr, code: str) -> bool:
    """Whether a value is the model that the name stands for: ``model = model.to(device)``, ``model = train(model)``."""
    match value:
        case ast.Call(func=ast.Attribute(value=inner, attr="to" | "cuda" | "cpu" | "train" | "eval")):
            return ast.unparse(inner) == code
    return False


def _uses(node: ast.AST, kept: _Kept, context: FileContext) -> bool:
    """Whether a part of a statement uses the values that were kept."""
    return any(
        isinstance(each.ctx, ast.Load) and ast.unparse(each) == kept.target and _is_of_values(each, kept, context)
        for each in _references(node, context)
    )


def _references(node: ast.AST, context: FileContext) -> list[ast.Name | ast.Attribute]:
    return [*context.inside(node, ast.Name), *context.inside(node, ast.Attribute)]


def _is_of_values(node: ast.expr, kept: _Kept, context: FileContext) -> bool:
    above = context.parent(node)
    match above:
        case ast.Attribute(attr=word):
            return word in ("items", "values", "copy", "pop", "get")
        case ast.Subscript(ctx=ast.Load()):
            outer = context.parent(above)
            return not kept.is_added or not isinstance(outer, ast.BinOp | ast.Compare)
        case ast.Call(func=ast.Name(id=word) | ast.Attribute(attr=word)):
            return word not in _NO_VALUES and above.func is not node
        case ast.keyword() | ast.Return() | ast.Dict():
            return True
        case ast.Tuple():
            return isinstance(context.parent(above), ast.Return | ast.Call)
        case ast.Assign():
            return True
    return False


def _calls(part: ast.AST, context: FileContext) -> list[ast.Call]:
    return context.inside(part, ast.Call)


def _is_load_of(call: ast.Call, kept: _Kept) -> bool:
    match call:
        case ast.Call(func=ast.Attribute(value=model, attr="load_state_dict"), args=[given, *_]):
            return ast.unparse(model) == kept.model and kept.target in ast.unparse(given)
    return False


def _loads_other(call: ast.Call, kept: _Kept) -> bool:
    """Whether the model is given other weights, in the memory of those that were kept."""
    match call:
        case ast.Call(func=ast.Attribute(value=model, attr="load_state_dict"), args=[given, *_], keywords=more):
            if any(each.arg == "assign" for each in more) or ast.unparse(model) != kept.model:
                return False
            return kept.target not in ast.unparse(given)
    return False


# ---------------------------------------------------------------------- attributes that outlive a method
def _harm_of_an_attribute(
    kept: _Kept, guards: frozenset[str], context: FileContext
) -> tuple[ast.stmt, ast.stmt, bool] | None:
    """Return a use of what a method keeps only sometimes and a later call uses: early stopping, callbacks."""
    function = context.function_around(kept.statement)
    if not kept.target.startswith("self.") or not isinstance(function, ast.FunctionDef):
        return None
    for use in context.attributes_by_word().get(function.name, []):
        caller = next((each for each in context.ancestors(use) if isinstance(each, ast.stmt)), None)
        if caller is not None and ast.unparse(use.value) == "self":
            guards |= _guards(caller, context)
    above = (each for each in context.ancestors(kept.statement) if isinstance(each, ast.If))
    others = (one for each in above for part in each.orelse for one in context.within(part))
    guards |= frozenset(ast.unparse(each.test) for each in others if isinstance(each, ast.If))
    if function.name == "__init__" or not any(_compares(each) for each in guards):
        return None
    word = kept.target.rpartition(".")[2]
    for use in context.attributes_by_word().get(word, []):
        if not isinstance(use.ctx, ast.Load):
            continue
        call = context.parent(use)
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        if call.func.attr != "load_state_dict" or use not in call.args:
            continue
        statement = next(each for each in context.ancestors(use) if isinstance(each, ast.stmt))
        block = context.parent(kept.statement)
        if block is None or statement not in context.within(block) or _is_in_other_branch(statement, kept, context):
            return kept.statement, statement, False
    return None


def _is_in_other_branch(statement: ast.stmt, kept: _Kept, context: FileContext) -> bool:
    """Whether a statement stands in the ``else`` of the test under which the weights are kept."""
    above = context.parent(kept.statement)
    return isinstance(above, ast.If) and any(statement in context.within(each) for each in above.orelse)


def _compares(test: str) -> bool:
    """Whether a test tells the better from the worse."""
    return any(isinstance(each, ast.Lt | ast.Gt | ast.LtE | ast.GtE) for each in ast.walk(ast.parse(test)))


# ---------------------------------------------------------------------- the repair
def _fix(node: cst.Call, context: FileContext) -> Fix | None:
    """Copy the weights by the file's own import of ``copy``, or by one that is added."""
    imports = [each for each in context.tree.body if isinstance(each, ast.Import | ast.ImportFrom)]
    spelled: str | None = None
    edits: tuple[Edit, ...] = ()
    for each in imports:
        for alias in each.names:
            if isinstance(each, ast.Import) and alias.name == "copy":
                spelled = f"{alias.asname or 'copy'}.deepcopy"
            elif isinstance(each, ast.ImportFrom) and each.module == "copy" and alias.name == "deepcopy":
                spelled = alias.asname or "deepcopy"
    if spelled is None:
        plain = [each for each in imports if not (isinstance(each, ast.ImportFrom) and each.module == "__future__")]
        if not plain or "copy" in context.bound_otherwise or context.source.cell(1) is not None:
            return None
        start = context.span(plain[0])[0]
        if start not in context.source.line_starts:
            return None
        spelled, edits = "copy.deepcopy", (Edit(start, start, "import copy\n"),)
    if spelled.partition(".")[0] in context.bound_otherwise:
        return None
    doubt = "other weights are kept from now on"
    wrapped = (context.insert_before(node, f"{spelled}("), context.insert_after(node, ")"))
    decided = AUTHOR_MEANT_THIS.open(doubt=doubt, is_likely=True)
    return Fix("Copy the weights that are kept", (*edits, *wrapped), (decided,))


RULE = Rule(
    "TNS501",
    "live-state-dict-kept",
    Triggers(methods=("state_dict",)),
    assumes=("author-meant-this",),
    severity=Severity.WARNING,
    visit={cst.Call: check},
)
