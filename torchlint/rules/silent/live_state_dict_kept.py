"""The `state_dict()` of a model is kept without a copy while the model trains on.

## What it does

Flags `best = model.state_dict()`, also with `.copy()`, `dict(...)` or `OrderedDict(...)` around it, in an attribute, in
a dict, a dataclass, a tuple or appended to a list, where a way through the code leads from there over a step of an
optimizer, a function that trains the model, or another `load_state_dict`, to where what was kept is loaded, saved or
returned, also under another name, and of the models that two loops go through in the same way. A class that keeps the
weights where a comparison tells the better from the worse, as early stopping does, has others train the model
meanwhile; another file that loads what is kept counts, too. So does a class that keeps the weights, trains the model in
another method and loads them back in a third, and a module that loads its own ones. What is kept of each of several
models, `[m.state_dict() for m in models]` or the same in a dict, is looked at as that of one.

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
import os
from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS
from torchlint.diagnostics.model import Confidence, Edit, Fix, Severity
from torchlint.rules.api import Draft, FileContext, Function, Rule, Triggers, remembered
from torchlint.rules.evidence.paths import header, is_same_loop, only_left, reached_after, successors
from torchlint.rules.evidence.shown_code import first_line
from torchlint.rules.silent.better_weights import tells_the_better
from torchlint.rules.silent.kept_weights import Kept, all_kept, copies_itself, is_of_a_model, own_name, receiver
from torchlint.rules.silent.weight_changes import changes_weights, steps_in_class

_OF_SHAPE = frozenset("numel nelement shape size dtype device dim ndim element_size".split())
_NO_VALUES = frozenset("len bool print isinstance type id list set sorted hasattr".split())


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a ``state_dict()`` that is kept while its model is trained."""
    if not isinstance(node.func, cst.Attribute) or node.func.attr.value != "state_dict" or node.args:
        return
    call = context.python(node)
    found_kept = list(all_kept(call, context)) if isinstance(call, ast.Call) else []
    if not isinstance(call, ast.Call) or not found_kept or copies_itself(context.tree, context):
        return
    for kept in found_kept:
        found = _harm(kept, context)
        if found is not None and is_of_a_model(call, context):
            changed, used, is_certain = found
            level = Confidence.CERTAIN if is_certain else Confidence.LIKELY
            steps = (
                f"line {changed.lineno} changes the weights: `{first_line(changed, context)}`",
                f"line {used.lineno} uses what was kept: `{first_line(used, context)}`",
            )
        elif (loader := _loader_elsewhere(kept, call, context)) is not None:
            level = Confidence.POSSIBLE
            steps = (
                f"line {kept.statement.lineno} keeps the weights where they are better, so that training goes on",
                f"`{loader[0]}` names `{loader[1]}` and loads weights",
            )
        else:
            continue
        yield Draft(
            node.func.attr,
            f"`state_dict()` holds the weights of `{kept.model}` themselves, which change before `{kept.target}` is "
            "used: keep `copy.deepcopy(...)` of it",
            Confidence.POSSIBLE if kept.is_moved else level,
            steps,
            _fix(node, context),
        )
        return


# ---------------------------------------------------------------------- what happens to it
def _harm(kept: Kept, context: FileContext) -> tuple[ast.stmt, ast.stmt, bool] | None:
    """Return what changes the weights, what uses them later, and whether both are beyond doubt."""
    named = context.names_by_word().get(kept.target, [])
    if named and not any(isinstance(each.ctx, ast.Load) for each in named):
        return None
    scope: Function | ast.Module = context.function_around(kept.statement) or context.tree
    following = successors(scope, context)
    guards = _guards(kept.statement, context)
    loops = {each for each in context.ancestors(kept.statement) if isinstance(each, ast.For | ast.While)}

    fixed = {kept.target, *_named_in(kept.model)}

    def ends(node: ast.stmt) -> bool:
        if node is kept.statement and not kept.is_added:
            return True
        return not fixed.isdisjoint(_bound_by(node, context))

    def is_asked(node: ast.stmt) -> bool:
        if any(_is_of_values(each, kept, context) for each in _read_by(node, context).get(kept.target, ())):
            same = any(test in guards for test in _guards(node, context))
            return not (same and any(each in loops for each in context.ancestors(node)))
        return False

    def is_loaded(node: ast.stmt) -> bool:
        return any(_is_load_of(each, kept) for each in _called_by(node, context))

    def steps(node: ast.stmt) -> bool:
        return any(changes_weights(each, kept.model, scope, context) for each in _called_by(node, context))

    def loads(node: ast.stmt) -> bool:
        if not any(_loads_other(each, kept) for each in _called_by(node, context)):
            return False
        # a `try` that handles the error: what was kept may be for the case that it fails
        return not any(isinstance(each, ast.Try) and each.handlers for each in context.ancestors(node))

    found = reached_after(kept.statement, following, changes=steps, ends=ends, is_asked=is_asked)
    if found is not None:
        is_conditional = bool(guards) or is_loaded(found[1]) or not _shares_a_loop(*found, context)
        return (*found, is_loaded(found[1]) and bool(guards)) if is_conditional else None
    found = reached_after(kept.statement, following, changes=loads, ends=ends, is_asked=is_loaded)
    if found is not None:
        return *found, False
    rounds = [each for each in loops if isinstance(each, ast.For) and not fixed.isdisjoint(_bound_by(each, context))]
    if not rounds:
        return _harm_of_an_attribute(kept, context)
    found = reached_after(
        kept.statement,
        only_left(following, rounds, context),
        changes=lambda node: steps(node) or loads(node),
        ends=lambda node: not any(is_same_loop(node, each) for each in rounds) and ends(node),
        is_asked=is_loaded,
    )
    return (*found, False) if found is not None else None


def _shares_a_loop(changed: ast.stmt, used: ast.stmt, context: FileContext) -> bool:
    """Whether a loop runs both: what was kept before it may be meant to follow the weights."""
    loops = {each for each in context.ancestors(changed) if isinstance(each, ast.For | ast.While)}
    return any(each in loops for each in context.ancestors(used))


@remembered
def _guards(node: ast.stmt, context: FileContext) -> frozenset[str]:
    """Return the tests on which it depends whether a statement runs."""
    return frozenset(ast.unparse(each.test) for each in context.ancestors(node) if isinstance(each, ast.If))


def _named_in(model: str) -> Iterator[str]:
    """Yield what must keep its meaning for a model to be the same one: all that leads to it, such as an index."""
    for each in ast.walk(ast.parse(model)):
        if isinstance(each, ast.Name | ast.Attribute):
            yield ast.unparse(each)


@remembered
def _bound_by(node: ast.stmt, context: FileContext) -> frozenset[str]:
    """Return the code of the names and attributes that a statement binds to another object."""
    found = set()
    for each in _references(node, context):
        if isinstance(each.ctx, ast.Store | ast.Del):
            code, statement = ast.unparse(each), context.parent(each)
            if not isinstance(statement, ast.Assign) or not _is_itself(statement.value, code):
                found.add(code)
    return frozenset(found)


@remembered
def _read_by(node: ast.stmt, context: FileContext) -> dict[str, list[ast.Name | ast.Attribute]]:
    """Return the names and attributes that a statement reads, by their code."""
    found: dict[str, list[ast.Name | ast.Attribute]] = {}
    for each in _references(node, context):
        if isinstance(each.ctx, ast.Load):
            found.setdefault(ast.unparse(each), []).append(each)
    return found


def _is_itself(value: ast.expr, code: str) -> bool:
    """Whether a value is the model that the name stands for: ``model = model.to(device)``, ``model = train(model)``."""
    match value:
        case ast.Call(func=ast.Attribute(value=inner, attr="to" | "cuda" | "cpu" | "train" | "eval")):
            return ast.unparse(inner) == code
    return False


def _references(node: ast.stmt, context: FileContext) -> list[ast.Name | ast.Attribute]:
    parts = list(header(node))
    names = [one for each in parts for one in context.inside(each, ast.Name)]
    attributes = [one for each in parts for one in context.inside(each, ast.Attribute)]
    itself = [each for each in parts if isinstance(each, ast.Name | ast.Attribute)]
    return [*itself, *names, *attributes]


def _is_of_values(node: ast.expr, kept: Kept, context: FileContext) -> bool:
    above = context.parent(node)
    match above:
        case ast.Attribute(attr="items" | "values"):
            return not _is_measured(above, context)
        case ast.Attribute(attr=word):
            return word == kept.key or word in ("copy", "pop", "get")
        case ast.Subscript(slice=ast.Constant(value=key)) if not kept.is_added and kept.key not in (None, key):
            return False
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


def _is_measured(values: ast.Attribute, context: FileContext) -> bool:
    """Whether only the sizes of weights are taken: ``sum(v.numel() for v in state.values())``."""
    clause = context.parent(context.parent(values) or values)
    made = context.parent(clause) if isinstance(clause, ast.comprehension) else None
    if made is None or not isinstance(clause, ast.comprehension):
        return False
    words = {each.id for each in context.within(clause.target) if isinstance(each, ast.Name)}
    uses = [each for each in context.inside(made, ast.Name) if each.id in words and isinstance(each.ctx, ast.Load)]
    above = [context.parent(each) for each in uses]
    return bool(uses) and all(isinstance(each, ast.Attribute) and each.attr in _OF_SHAPE for each in above)


@remembered
def _called_by(node: ast.stmt, context: FileContext) -> list[ast.Call]:
    """Return the calls of a statement; of a compound one those of its header."""
    parts = list(header(node))
    itself = [each for each in parts if isinstance(each, ast.Call)]
    return [*itself, *(one for each in parts for one in context.inside(each, ast.Call))]


def _is_load_of(call: ast.Call, kept: Kept) -> bool:
    match call:
        case ast.Call(func=ast.Attribute(value=model, attr="load_state_dict"), args=[given, *_]):
            return ast.unparse(model) == kept.model and kept.target in ast.unparse(given)
    return False


def _loads_other(call: ast.Call, kept: Kept) -> bool:
    """Whether the model is given other weights, in the memory of those that were kept."""
    match call:
        case ast.Call(func=ast.Attribute(value=model, attr="load_state_dict"), args=[given, *_], keywords=more):
            if any(each.arg == "assign" for each in more) or ast.unparse(model) != kept.model:
                return False
            return kept.target not in ast.unparse(given)
    return False


# ---------------------------------------------------------------------- attributes that outlive a method
def _is_the_best(kept: Kept, context: FileContext) -> bool:
    """Whether a method keeps it only where a comparison tells the better from the worse: early stopping, callbacks."""
    function = context.function_around(kept.statement)
    if not kept.target.startswith("self.") or not isinstance(function, ast.FunctionDef) or function.name == "__init__":
        return False
    guards = _guards(kept.statement, context)
    if f"{kept.target} is None" in guards:
        return False  # it is kept where nothing is yet, whatever those who call compare
    for use in context.attributes_by_word().get(function.name, []):
        caller = next((each for each in context.ancestors(use) if isinstance(each, ast.stmt)), None)
        if caller is not None and ast.unparse(use.value) == "self":
            guards |= _guards(caller, context)
    above = (each for each in context.ancestors(kept.statement) if isinstance(each, ast.If))
    others = (one for each in above for part in each.orelse for one in context.within(part))
    guards |= frozenset(ast.unparse(each.test) for each in others if isinstance(each, ast.If))
    return any(tells_the_better(each, context) for each in guards)


def _harm_of_an_attribute(kept: Kept, context: FileContext) -> tuple[ast.stmt, ast.stmt, bool] | None:
    """Return a use of what a method keeps only sometimes and a later call uses, or what its class trains meanwhile."""
    if not _is_the_best(kept, context):
        return _harm_of_a_start(kept, context)
    word = kept.target.rpartition(".")[2]
    for use in context.attributes_by_word().get(word, []):
        if not isinstance(use.ctx, ast.Load) or not _leads_to_loading(use, context):
            continue
        statement = next(each for each in context.ancestors(use) if isinstance(each, ast.stmt))
        block = context.parent(kept.statement)
        if block is None or statement not in context.within(block) or _is_in_other_branch(statement, kept, context):
            return kept.statement, statement, False
    return None


def _harm_of_a_start(kept: Kept, context: FileContext) -> tuple[ast.stmt, ast.stmt, bool] | None:
    """Return the method that trains the model of an object, and the one that loads what another kept of it back."""
    function = context.function_around(kept.statement)
    owner = context.parent(function) if function is not None else None
    model = own_name(kept.model, function, context) if function is not None else None
    if not isinstance(owner, ast.ClassDef) or model is None or not kept.target.startswith("self."):
        return None
    trained = steps_in_class(owner, model, context)
    if trained is None and isinstance(function, ast.FunctionDef) and _is_own_state(kept, owner, context):
        trained = function
    for use in context.attributes_by_word().get(kept.target.rpartition(".")[2], []):
        call = context.parent(use)
        if not isinstance(call, ast.Call) or owner not in context.ancestors(use):
            continue
        if context.function_around(use) not in (function, trained) and _is_load_of(call, replace(kept, model=model)):
            statement = next(each for each in context.ancestors(use) if isinstance(each, ast.stmt))
            return (trained, statement, False) if trained is not None else None
    return None


def _is_own_state(kept: Kept, owner: ast.ClassDef, context: FileContext) -> bool:
    """Whether a module keeps its own weights: loading them into itself does nothing, whoever trains it."""
    rebound = context.attributes_by_word().get("data", [])
    is_rebound = any(not isinstance(each.ctx, ast.Load) for each in rebound)
    return kept.model == "self" and bool(context.module_lineage(owner)) and not is_rebound


def _leads_to_loading(use: ast.Attribute, context: FileContext) -> bool:
    """Whether what an attribute holds is loaded or saved, or returned to whoever does that."""
    value: ast.expr = use
    while isinstance(above := context.parent(value), ast.Subscript) and above.value is value:
        value = above
    call = context.parent(value)
    match call:
        case ast.Call(func=ast.Attribute(attr="load_state_dict"), args=[first, *_]):
            return first is value
        case ast.Call(args=[first, *_]):
            return first is use and context.names(call.func) == {"torch.save"}
    return isinstance(call, ast.Return)


def _loader_elsewhere(kept: Kept, call: ast.Call, context: FileContext) -> tuple[str, str] | None:
    """Return another file that loads the weights of an argument which this one only keeps or hands out.

    With it comes the name by which it asks for them: that of the attribute, or of what returns it.
    """
    function, model, word = context.function_around(call), receiver(call), kept.target.rpartition(".")[2]
    if not isinstance(function, ast.FunctionDef) or not _is_held_by_others(model, function):
        return None
    if not _is_the_best(kept, context):
        return None
    words = {word}
    for use in context.attributes_by_word().get(word, []):
        if isinstance(use.ctx, ast.Load) and not _is_looked_at(use, context):
            giver = context.function_around(use)
            if not isinstance(context.parent(use), ast.Return) or not isinstance(giver, ast.FunctionDef):
                return None
            words.add(giver.name)
    for each in sorted(words):
        for path in context.other_texts.spelling(each, rf"load_state_dict\([^()]*\.{each}\b") or ():
            return os.path.basename(path), each
    return None


def _is_held_by_others(model: ast.expr, function: ast.FunctionDef) -> bool:
    """Whether a model is an argument or in an attribute of the object: whoever has it may train and load it."""
    match model:
        case ast.Name(id=word):
            return word in {each.arg for each in function.args.args}
        case ast.Attribute(value=ast.Name(id="self")):
            return True
    return False


def _is_looked_at(use: ast.Attribute, context: FileContext) -> bool:
    """Whether what is kept is only compared with ``None``, or saved where it is kept."""
    call = context.parent(use)
    return isinstance(call, ast.Compare) or (isinstance(call, ast.Call) and context.names(call.func) == {"torch.save"})


def _is_in_other_branch(statement: ast.stmt, kept: Kept, context: FileContext) -> bool:
    """Whether a statement stands in the ``else`` of the test under which the weights are kept."""
    above = context.parent(kept.statement)
    return isinstance(above, ast.If) and any(statement in context.within(each) for each in above.orelse)


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
        start = _start_of_code(context)
        if start is None or "copy" in context.bound_otherwise or context.source.cell(1) is not None:
            return None
        blank = "" if imports else "\n\n"
        spelled, edits = "copy.deepcopy", (Edit(start, start, f"import copy\n{blank}"),)
    if spelled.partition(".")[0] in context.bound_otherwise:
        return None
    doubt = "other weights are kept from now on"
    wrapped = (context.insert_before(node, f"{spelled}("), context.insert_after(node, ")"))
    decided = AUTHOR_MEANT_THIS.open(doubt=doubt, is_likely=True)
    return Fix("Copy the weights that are kept", (*edits, *wrapped), (decided,))


def _start_of_code(context: FileContext) -> int | None:
    """Return where an import may be added: behind the docstring and what is imported from the future."""
    for each in context.tree.body:
        is_text = isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
        if is_text or (isinstance(each, ast.ImportFrom) and each.module == "__future__"):
            continue
        decorators = each.decorator_list if isinstance(each, ast.ClassDef | ast.FunctionDef) else []
        start = context.span(each)[0]
        return start if start in context.source.line_starts and not decorators else None
    return None


RULE = Rule(
    "TNS501",
    "live-state-dict-kept",
    Triggers(methods=("state_dict",)),
    assumes=("author-meant-this",),
    severity=Severity.WARNING,
    visit={cst.Call: check},
)
