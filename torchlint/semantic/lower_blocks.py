"""Statements with bodies that may run often, break off, or run under a manager: loops, ``try``, ``with``, ``match``."""

from __future__ import annotations

import ast

from torchlint.semantic.bound_names import (
    DEEPEST_SPELLING,
    Bindings,
    bind,
    is_own,
    join,
    join_states,
    lookup,
    merge,
    read_dotted,
    resume,
    shared_with,
    unnarrowed,
)
from torchlint.semantic.branch_tests import narrow
from torchlint.semantic.changed_names import LoopChanges, changed_names
from torchlint.semantic.effect_words import INERT_MANAGERS, MODES, SUPPRESSING
from torchlint.semantic.graph import DEVICE, ELEMENT, ENTER, GRAD, OPAQUE, PHI, WITHIN, Node, ProcessState
from torchlint.semantic.lower_calls import callee_words, is_library
from torchlint.semantic.lower_parameters import tell_members, tell_parameters
from torchlint.semantic.lower_patterns import is_irrefutable, lower_pattern
from torchlint.semantic.lower_targets import assign, is_fixed
from torchlint.semantic.lowering_state import STATEMENTS, Attempt, Frame, Lowering
from torchlint.semantic.replaced_members import tell_replaced


# ---------------------------------------------------------------------- loops
def _loop(st: Lowering, node: ast.While | ast.For | ast.AsyncFor) -> None:
    iterated = None if isinstance(node, ast.While) else st.expr(node.iter)
    first = len(st.nodes)
    heads, process = _heads(st, changed_names(st, node), node)
    frame, guards = Frame(is_loop=True), st.guards
    always = False
    if isinstance(node, ast.While):
        test = st.expr(node.test)
        always = isinstance(node.test, ast.Constant) and bool(node.test.value)
        after = st.env.fork()
        st.guards = (*guards, (test, True))
        narrow(st, node.test, True)
    else:
        assert iterated is not None
        after = st.env.fork()
        if isinstance(node, ast.AsyncFor):
            resume(st, st.node(OPAQUE, (), "sent", node.target))
        assign(st, node.target, st.node(ELEMENT, (iterated,), None, node.target))
    st.frames.append(frame)
    st.block(node.body)
    st.frames.pop()
    st.guards = guards
    ends = [each for each in (st.taken(), *frame.continues) if each is not None]
    for word, head in heads.items():
        _close(st, word, head, ends)
    if process is not None:
        for head, word in ((process.grad, "grad"), (process.device, "device"), (process.dtype, "dtype")):
            arrived = dict.fromkeys(getattr(each.state, word) for each in ends)
            head.ins = (*head.ins, *[each for each in arrived if each is not head])
    st.fn.loops.append((first, len(st.nodes)))
    st.enter(None if always else after)
    if not isinstance(node, ast.While):
        tell_parameters(st, node, first)
        tell_members(st, node, first)
        tell_replaced(st, node)
    if isinstance(node, ast.While) and not always:
        narrow(st, node.test, False)
    if node.orelse and st.live:
        st.block(node.orelse)
    join(st, (st.taken(), *frame.breaks))


def _heads(st: Lowering, changes: LoopChanges, node: ast.stmt) -> tuple[dict[str, Node], ProcessState | None]:
    """Bind all that the body binds or changes to a node that joins what comes from before and from behind."""
    heads: dict[str, Node] = {}
    plain = [word for word in (*changes.bound, *changes.changed) if "." not in word]
    written = dict.fromkeys(word for word in (*changes.changed, *changes.augmented) if "." not in word)
    plain += [other for word in written for other in shared_with(st, word)]
    for word in dict.fromkeys(plain):
        before = st.env.names.get(word)
        if word in st.outside:
            st.env.forget_name(word)
            continue
        if word not in changes.bound:
            if is_fixed(st, word):
                continue
            before = before if before is not None else lookup(st, word, node)
        elif before is None and not is_own(st, word) and st.cls is None:
            st.fn.definitions.setdefault(word, [])
        heads[word] = st.node(PHI, (before,) if before is not None else (), None, node)
        if is_own(st, word):
            (st.fn.definitions if st.cls is None else st.cls.attributes)[word].append(heads[word])
        st.env.set_name(word, heads[word])
        st.env.drop_under(word)
    for spelled in dict.fromkeys((*changes.bound, *changes.changed)):
        root = spelled.partition(".")[0]
        if root != spelled and root not in heads and spelled.count(".") <= DEEPEST_SPELLING:
            heads[spelled] = st.node(PHI, (read_dotted(st, spelled, node),), None, node)
            st.env.drop_under(spelled)
            st.env.set_attribute(spelled, heads[spelled])
    if not changes.process:
        return heads, None
    state = st.env.state
    st.env.state = ProcessState(
        *[st.node(PHI, (each,), None, node) for each in (state.grad, state.device, state.dtype)]
    )
    return heads, st.env.state


def _close(st: Lowering, word: str, head: Node, ends: list[Bindings]) -> None:
    """Add to the head of a loop what a name is at the ends of its body."""
    arrived: dict[Node, None] = {}
    for end in ends:
        if "." in word:
            st.enter(end)
            value: Node | None = read_dotted(st, word, head.at)
        else:
            value = end.names.get(word)
        if value is not None and unnarrowed(value) is not head:
            arrived[value] = None
    head.ins = (*head.ins, *[each for each in arrived if each not in head.ins])


# ---------------------------------------------------------------------- try
def _try(st: Lowering, node: ast.Try) -> None:
    closing = Attempt(st.env.fork()) if node.finalbody else None
    frame = Frame()
    if closing is not None:
        st.attempts.append(closing)
        st.frames.append(frame)
    _try_handlers(st, node)
    if closing is not None:
        st.attempts.pop()
        st.frames.pop()
        _finally(st, node.finalbody, closing, frame)


def _try_handlers(st: Lowering, node: ast.Try) -> None:
    caught: list[Node | None] = []
    for handler in node.handlers:
        if handler.type is None:
            caught.append(None)
            continue
        value = st.expr(handler.type)
        caught += [st.expr(each) for each in handler.type.elts] if isinstance(handler.type, ast.Tuple) else [value]
    attempt, outer = Attempt(st.env.fork()), st.caught
    st.caught = (*caught, *outer)
    st.attempts.append(attempt)
    st.block(node.body)
    st.attempts.pop()
    st.caught = outer
    if st.live:
        st.block(node.orelse)
    if not node.handlers:
        return
    ends = [st.taken()]
    thrown = _thrown(st, attempt)
    for handler in node.handlers:
        st.enter(thrown.fork())
        if handler.name:
            bind(st, handler.name, st.node(OPAQUE, (), "exception", handler))
        st.block(handler.body)
        if handler.name and st.live:
            st.env.forget_name(handler.name)
        ends.append(st.taken())
    join(st, ends)


def _thrown(st: Lowering, attempt: Attempt) -> Bindings:
    """Return the join of all states of a body."""
    env = attempt.before
    live = st.live
    st.env = env
    for spelled, values in attempt.written.items():
        if "." in spelled:
            env.drop(spelled)
            continue
        before = env.names.get(spelled)
        env.set_name(spelled, merge(st, [before, *values] if before is not None else values))
        env.drop_under(spelled)
    if attempt.states:
        env.state = join_states(st, [env.state, *attempt.states], None)
    st.live = live
    return env


def _finally(st: Lowering, body: list[ast.stmt], closing: Attempt, frame: Frame) -> None:
    """Lower a ``finally`` once, for the join of all ways through it; each way then goes on with what it changes."""
    normal = st.taken()
    thrown = _thrown(st, closing)
    join(st, (normal, thrown, *frame.leaving))
    before = st.env.fork()
    st.block(body)
    after = st.taken()
    if after is None:
        return
    for way in (normal, *frame.leaving):
        if way is not None:
            _pass_through(way, before, after)
    st.enter(normal)


def _pass_through(way: Bindings, before: Bindings, after: Bindings) -> None:
    for word, value in after.names.items():
        seen = before.names.get(word)
        if seen is not value and (seen is None or unnarrowed(value) is not unnarrowed(seen)):
            way.set_name(word, value)
            way.drop_under(word)
    for spelled in set(way.attributes) & set(before.attributes):
        if after.attributes.get(spelled) is not before.attributes[spelled]:
            way.drop(spelled)
    for spelled, value in after.attributes.items():
        if before.attributes.get(spelled) is not value:
            way.set_attribute(spelled, value)
    one, two, own = before.state, after.state, way.state
    if one is not two:
        way.state = ProcessState(
            own.grad if one.grad is two.grad else two.grad,
            own.device if one.device is two.device else two.device,
            own.dtype if one.dtype is two.dtype else two.dtype,
        )


# ---------------------------------------------------------------------- with
def _with(st: Lowering, node: ast.With | ast.AsyncWith) -> None:
    """Lower a ``with``, behind which grad mode and default device are as before, on ways that leave as well."""
    saved, frame, restores = st.env.state, Frame(), False
    attempt = None
    for item in node.items:
        written = item.context_expr
        manager = st.expr(written)
        if item.optional_vars is not None:
            assign(st, item.optional_vars, st.node(ENTER, (manager,), None, written))
        if _is_active(st, written):
            restores = True
            state = st.env.state
            grad = st.node(WITHIN, (state.grad, manager), GRAD, written)
            device = st.node(WITHIN, (state.device, manager), DEVICE, written)
            st.env.state = ProcessState(grad, device, state.dtype)
        if isinstance(written, ast.Call) and _may_suppress(st, callee_words(written)[1]):
            attempt = Attempt(st.env.fork())
    if attempt is not None:
        st.attempts.append(attempt)
    st.frames.append(frame)
    st.block(node.body)
    st.frames.pop()
    if attempt is not None:
        st.attempts.pop()
        join(st, (st.taken(), _thrown(st, attempt)))
    if restores:
        for way in {id(each): each for each in (st.taken(), *frame.leaving) if each is not None}.values():
            way.state = ProcessState(saved.grad, saved.device, way.state.dtype)


_EXITS = ("__exit__", "__aexit__")


def _may_suppress(st: Lowering, word: str) -> bool:
    """Whether the text goes on behind a manager whose block an exception left, by what the file says of it."""
    if word in SUPPRESSING:
        return True
    for each, scope in st.fn.file.outline.scopes.items():
        if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if scope.cls is not None and scope.cls.name == word and each.name in _EXITS and _gives_truth(each):
            return True
        if scope.cls is None and each.name == word and any(map(_catches, ast.walk(each))):
            return True
    return False


def _gives_truth(function: ast.AST) -> bool:
    """Whether ``__exit__`` may give back what ends an exception."""
    given = [each.value for each in ast.walk(function) if isinstance(each, ast.Return)]
    return any(each is not None and not (isinstance(each, ast.Constant) and not each.value) for each in given)


def _catches(node: ast.AST) -> bool:
    """Whether a generator catches what an exception at its ``yield`` brings."""
    has_handler = isinstance(node, ast.Try) and bool(node.handlers)
    return has_handler and any(isinstance(each, ast.Yield) for each in ast.walk(node))


def _is_active(st: Lowering, written: ast.expr) -> bool:
    """Whether a context manager may set grad mode or the default device, as far as words tell."""
    call = written if isinstance(written, ast.Call) else ast.Call(written, [], [])
    root, word = callee_words(call)
    if word in MODES:
        return True
    return word not in INERT_MANAGERS and not (root and isinstance(written, ast.Call) and is_library(st, root))


# ---------------------------------------------------------------------- match
def _match(st: Lowering, node: ast.Match) -> None:
    subject = st.expr(node.subject)
    guards, rest = st.guards, st.env
    ends: list[Bindings | None] = []
    for case in node.cases:
        st.enter(rest.fork())
        st.guards = guards
        lower_pattern(st, case.pattern, subject, node.subject)
        if case.guard is not None:
            test = st.expr(case.guard)
            st.guards = (*guards, (test, True))
            narrow(st, case.guard, True)
        st.block(case.body)
        ends.append(st.taken())
        if case.guard is None and is_irrefutable(case.pattern):
            break
    else:
        ends.append(rest.fork())
    st.guards = guards
    join(st, ends)


STATEMENTS.update({
    ast.For: _loop, ast.AsyncFor: _loop, ast.While: _loop, ast.Try: _try, ast.With: _with, ast.AsyncWith: _with,
    ast.Match: _match,
})  # fmt: skip
if hasattr(ast, "TryStar"):  # from Python 3.11 on
    STATEMENTS[ast.TryStar] = _try
