"""Which names the body of a loop binds or changes, read from its syntax alone, before it is lowered."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from torchlint.semantic.bound_names import VIEWING, dotted
from torchlint.semantic.effect_words import GROWING, MOVING, PROCESS_SETTERS, SETTERS, SPREADING, STORING
from torchlint.semantic.lower_calls import callee_words, changes_process, is_in_place, is_inert
from torchlint.semantic.lowering_state import Lowering

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_LEAVES = frozenset((ast.Constant, ast.Load, ast.Store, ast.Del, ast.Pass, ast.Break, ast.Continue, ast.Lambda))


@dataclass(slots=True)
class LoopChanges:
    """Names and dotted names in the order in which they were found."""

    bound: dict[str, None] = field(default_factory=dict)
    """Those that are bound to something else."""
    changed: dict[str, None] = field(default_factory=dict)
    """Those whose object may be changed."""
    parts: dict[str, list[ast.expr]] = field(default_factory=dict)
    """What names are bound to that may share memory with another name: views, elements, aliases."""
    augmented: dict[str, None] = field(default_factory=dict)
    """Names of which ``+=`` may have written the memory."""
    process: bool = False
    """Whether a variable of the process may be set."""


def changed_names(st: Lowering, loop: ast.For | ast.AsyncFor | ast.While) -> LoopChanges:
    """Return what a loop binds or changes; of loops inside it is read once."""
    known = st.changes.get(loop)
    if isinstance(known, LoopChanges):
        return known
    found = LoopChanges()
    stack: list[ast.AST] = [*loop.body]
    if isinstance(loop, ast.While):
        stack.append(loop.test)
    else:
        _bind_target(found, loop.target)
    found.process |= isinstance(loop, ast.AsyncFor)
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind in _LEAVES or (kind is ast.Name and isinstance(node.ctx, ast.Load)):  # type: ignore[attr-defined]
            continue
        if isinstance(node, _LOOPS):
            inner = changed_names(st, node)
            found.bound.update(inner.bound)
            found.changed.update(inner.changed)
            found.process |= inner.process
            found.augmented.update(inner.augmented)
            for word, parts in inner.parts.items():
                found.parts.setdefault(word, []).extend(parts)
            stack += node.orelse
            if not isinstance(node, ast.While):
                stack.append(node.iter)
                if isinstance(node.iter, ast.Call) and callee_words(node.iter)[1] in ("parameters", "named_parameters"):
                    _change(found, node.iter)  # behind a loop that freezes them the module is another
            continue
        _note(st, found, node)
        _push(stack, node)
    _change_wholes(found)
    st.changes[loop] = found
    return found


def _change_wholes(found: LoopChanges) -> None:
    """Note what is changed by another name: ``row = buffer[i]``, then ``row.copy_(x)``."""
    todo = [*found.changed, *found.augmented]
    while todo:
        for part in found.parts.pop(todo.pop(), ()):
            before = set(found.changed)
            _change(found, part)
            todo += [each for each in found.changed if each not in before]


def _push(stack: list[ast.AST], node: ast.AST) -> None:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        stack += node.decorator_list
        return
    if isinstance(node, ast.comprehension):
        stack += [node.iter, *node.ifs]
        return
    for value in vars(node).values():
        if type(value) is list:
            stack += [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST):
            stack.append(value)


def _note(st: Lowering, found: LoopChanges, node: ast.AST) -> None:
    if isinstance(node, ast.Call):
        _note_call(st, found, node)
    elif isinstance(node, ast.Yield | ast.YieldFrom | ast.Await):
        found.process = True  # who resumes the function may have set one
    elif isinstance(node, ast.Name):
        found.bound[node.id] = None
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name) and (whole := _whole(node.value)) is not None:
                found.parts.setdefault(target.id, []).append(whole)
    elif isinstance(node, ast.AugAssign):
        if isinstance(node.target, ast.Name) and not isinstance(node.value, ast.Constant):
            found.augmented[node.target.id] = None
    elif isinstance(node, ast.Attribute | ast.Subscript):
        if not isinstance(node.ctx, ast.Load):
            _bind_target(found, node)
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        found.bound[node.name] = None
    elif isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            found.bound[alias.asname or alias.name.partition(".")[0]] = None
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        found.bound[node.name] = None
    elif isinstance(node, ast.MatchMapping) and node.rest:
        found.bound[node.rest] = None
    elif isinstance(node, ast.Expr):
        call = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(call, ast.Call):
            word = callee_words(call)[1]
            found.process |= changes_process(st, call, word)
            if word in MOVING or word == "add":
                _change(found, call)


def _whole(node: ast.expr) -> ast.expr | None:
    """Return what a value may share its memory with; None where it is an object of its own."""
    while isinstance(node, ast.Call) and callee_words(node)[1] in VIEWING:
        if callee_words(node)[0] == "torch" and node.args:
            node = node.args[0]
        elif isinstance(node.func, ast.Attribute):
            node = node.func.value
        else:
            return None
    return node if isinstance(node, ast.Name | ast.Subscript) else None


def _bind_target(found: LoopChanges, node: ast.expr) -> None:
    """Note a target: an attribute may change its object, an element changes its container."""
    if isinstance(node, ast.Name):
        found.bound[node.id] = None
    elif isinstance(node, ast.Attribute):
        spelled = dotted(node)
        if spelled is not None:
            found.bound[spelled] = None
        if node.attr in SETTERS:
            _change(found, node.value)
    elif isinstance(node, ast.Subscript | ast.Starred):
        _change(found, node.value)
    elif isinstance(node, ast.Tuple | ast.List):
        for each in node.elts:
            _bind_target(found, each)


def _change(found: LoopChanges, node: ast.expr) -> None:
    """Note the variable whose object, or what that holds, an expression gives."""
    while True:
        if isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func.value  # ``d.setdefault(k, []).append(v)``, ``net.half().cuda()``
        elif isinstance(node, ast.Attribute) and node.attr in SETTERS:
            _keep(found, node)
            node = node.value
        else:
            break
    _keep(found, node)


def _keep(found: LoopChanges, node: ast.expr) -> None:
    if isinstance(node, ast.NamedExpr):
        node = node.target
    spelled = dotted(node)
    if spelled is not None:
        found.changed[spelled] = None


def _note_call(st: Lowering, found: LoopChanges, node: ast.Call) -> None:
    word = callee_words(node)[1]
    found.process |= word in PROCESS_SETTERS
    receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
    arguments = [*node.args, *[each.value for each in node.keywords]]
    if word in STORING:
        named = next((str(each.value) for each in node.args if isinstance(each, ast.Constant)), "*")
        for each in [receiver, *node.args[:1]]:
            if each is not None and (spelled := dotted(each)) is not None:
                found.bound[f"{spelled}.{named}"] = None
                if named in SETTERS:
                    found.changed[spelled] = None
        return
    if receiver is not None and (word in SPREADING or word in GROWING or word == "setdefault" or is_in_place(word)):
        _change(found, receiver)
        if not _may_be_plain_call(node, word):
            return
    if is_in_place(word) or not is_inert(st, node):
        for each in [receiver, *arguments]:
            if each is not None and isinstance(each, ast.Name | ast.Attribute | ast.Subscript):
                _change(found, each)
    for keyword in node.keywords:
        if keyword.arg in ("out", "inplace"):
            for each in arguments:
                if not isinstance(each, ast.Constant):
                    _change_members(found, each)


def _change_members(found: LoopChanges, node: ast.expr) -> None:
    for each in node.elts if isinstance(node, ast.Tuple | ast.List) else [node]:
        _change(found, each)


def _may_be_plain_call(node: ast.Call, word: str) -> bool:
    """Whether a method of a growing word may be lowered as any other call, by how much it is handed."""
    if is_in_place(word):
        return True  # of a module of functions: ``init.normal_(x)``
    return word in GROWING and (word == "add" or len(node.args) != (2 if word == "insert" else 1))
