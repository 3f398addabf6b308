"""What each sort of plain statement does to the bindings: assignments, definitions, imports, ways that leave."""

from __future__ import annotations

import ast

from torchlint.semantic import graph as g
from torchlint.semantic.bound_names import bind, dotted, join, owner_of_nonlocal, tell_others
from torchlint.semantic.branch_tests import narrow
from torchlint.semantic.formal_parameters import annotation, declare
from torchlint.semantic.graph import ClassGraph, MemoryWrite, Node, ProcessState
from torchlint.semantic.lower_calls import after_call, callee_words, changes_process
from torchlint.semantic.lower_expressions import OPERATORS
from torchlint.semantic.lower_targets import assign, current
from torchlint.semantic.lowering_state import STATEMENTS, Lowering

SIGNS = frozenset(
    "property staticmethod classmethod wraps contextmanager asynccontextmanager abstractmethod overload setter "
    "getter cached_property deleter lru_cache cache no_grad inference_mode enable_grad set_grad_enabled override final "
    "fixture dataclass parametrize script ignore unused export total_ordering runtime_checkable singledispatch "
    "rank_zero_only skip skipIf skipUnless skipif xfail usefixtures".split()
)
"""Last words of decorators that say something of a function and leave it what it is for who calls it."""

LEAVING = frozenset(("sys.exit", "os._exit", "os.abort", "exit", "quit", "pytest.skip", "pytest.fail"))
"""Functions that never return."""


def _expression(st: Lowering, node: ast.Expr) -> None:
    call = node.value.value if isinstance(node.value, ast.Await) else node.value
    outer, st.statement = st.statement, call
    made = st.expr(node.value)
    st.statement = outer
    if isinstance(call, ast.Call) and dotted(call.func) in LEAVING:
        st.enter(None)
    elif isinstance(call, ast.Call) and changes_process(st, call, callee_words(call)[1]):
        after_call(st, made)


def _run_later(st: Lowering, node: ast.expr) -> Node:
    """Lower what is kept: a generator or a ``map`` in a ``with`` runs in the mode of who goes through it."""
    state = st.env.state
    is_lazy = isinstance(node, ast.GeneratorExp) or (isinstance(node, ast.Call) and dotted(node.func) == "map")
    if not is_lazy or state.grad.op != g.WITHIN:
        return st.expr(node)
    st.env.state = ProcessState(st.node(g.OPAQUE, (state.grad,), None, node), state.device, state.dtype)
    value = st.expr(node)
    st.env.state = state
    return value


def _assignment(st: Lowering, node: ast.Assign) -> None:
    value = _run_later(st, node.value)
    for target in node.targets:
        assign(st, target, value)


def _annotated(st: Lowering, node: ast.AnnAssign) -> None:
    if node.value is not None:
        assign(st, node.target, st.expr(node.value))
    said = annotation(st, node.annotation)
    if st.cls is not None and isinstance(node.target, ast.Name):
        st.cls.annotations[node.target.id] = said


def _augmented(st: Lowering, node: ast.AugAssign) -> None:
    before = current(st, node.target)
    operand = st.expr(node.value)
    st.fn.writes.append(MemoryWrite(before, operand, node, len(st.nodes)))
    after = st.node(g.OPERATION, (before, operand), OPERATORS[type(node.op)] + "=", node)
    assign(st, node.target, after)
    if operand.op != g.CONST and isinstance(node.target, ast.Name):  # a tensor is written, a number is another one
        tell_others(st, before, st.node(g.PHI, (before, after), None, node))


def _leave(st: Lowering, node: ast.Break | ast.Continue) -> None:
    for frame in reversed(st.frames):
        if frame.is_loop:
            (frame.breaks if isinstance(node, ast.Break) else frame.continues).append(st.env)
            break
        frame.leaving.append(st.env)
    st.enter(None)


def _return(st: Lowering, node: ast.Return) -> None:
    if all(each.is_loop for each in st.frames):  # nothing runs behind it that could bind a name anew
        st.used_up = node.value
    value = _run_later(st, node.value) if node.value is not None else st.node(g.CONST, (), None, node)
    st.used_up = None
    st.exits.append((value, st.guards, st.env, len(st.nodes), node))
    for frame in st.frames:
        frame.leaving.append(st.env)
    st.enter(None)


def _raise(st: Lowering, node: ast.Raise) -> None:
    for each in (node.exc, node.cause):
        if each is not None:
            st.expr(each)
    st.enter(None)


def _if(st: Lowering, node: ast.If) -> None:
    """Lower an ``if`` with all its ``elif``, of which a text may have a thousand."""
    guards, ways = st.guards, []
    while True:
        test = st.expr(node.test)
        before, outer = st.env, st.guards
        st.env, st.guards = before.fork(), (*outer, (test, True))
        narrow(st, node.test, True)
        st.block(node.body)
        ways.append((st.taken(), test))
        st.enter(before)
        st.guards = (*outer, (test, False))
        narrow(st, node.test, False)
        if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
            node = node.orelse[0]
            continue
        st.block(node.orelse)
        break
    last = st.live
    for then, test in reversed(ways):
        join(st, (then, st.taken()), test)
    # what follows an early exit runs only where the tests said otherwise
    live = [at for at, (then, _) in enumerate(ways) if then is not None]
    first = live[0] if live else len(ways)
    after = [(test, False) for _, test in ways[:first]] if live or last else []
    if live and len(live) == 1 and not last:
        after.append((ways[first][1], True))
    st.guards = (*guards, *after)


def _function(st: Lowering, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    decorators = [(st.expr(each), _last_word(each)) for each in node.decorator_list]
    fn = declare(st, node, st.cls)
    fn.decorators = tuple([each for each, _ in decorators])
    value = st.node(g.FUNCTION, (), fn, node)
    for decorator, word in reversed(decorators):
        if word not in SIGNS:
            value = fn.decorated = st.node(g.DECORATED, (decorator, value), None, decorator.at)
    bind(st, node.name, value)


def _last_word(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def signs_of(node: ast.AST) -> frozenset[str]:
    """Return the last words of the decorators of a definition."""
    return frozenset(map(_last_word, getattr(node, "decorator_list", ())))


def _class(st: Lowering, node: ast.ClassDef) -> None:
    decorators = [(st.expr(each), _last_word(each)) for each in node.decorator_list]
    cls = st.fn.file.class_graph(node, st.fn)
    cls.bases = tuple([st.expr(each) for each in node.bases])
    cls.keywords = {each.arg: st.expr(each.value) for each in node.keywords if each.arg is not None}
    cls.decorators = tuple([each for each, _ in decorators])
    _class_body(st, node, cls)
    value: Node = st.node(g.CLASS, (), cls, node)
    for decorator, word in reversed(decorators):
        if word not in SIGNS:
            value = st.node(g.DECORATED, (decorator, value), None, decorator.at)
    bind(st, node.name, value)


def _class_body(st: Lowering, node: ast.ClassDef, cls: ClassGraph) -> None:
    """Lower the body of a class, whose names are attributes of it, seen by no function inside."""
    env, outer, outside, around = st.env, st.cls, st.outside, st.around
    is_outermost = st.fn.parent is None and st.outer_names is None
    if is_outermost:
        st.outer_names = env.names
    st.env, st.cls, st.outside = env.fork(), cls, {}
    if around is None:
        st.around = env.names
    else:
        st.env.names = around
    st.block(node.body)
    st.enter(env)
    st.cls, st.outside, st.around = outer, outside, around
    if is_outermost:
        st.outer_names = None


def _import(st: Lowering, node: ast.Import) -> None:
    for alias in node.names:
        module = alias.name if alias.asname else alias.name.partition(".")[0]
        bind(st, alias.asname or module, st.node(g.IMPORT, (), (0, module, None), node))


def _import_from(st: Lowering, node: ast.ImportFrom) -> None:
    level, module = node.level, node.module or ""
    for alias in node.names:
        if alias.name != "*":
            bind(st, alias.asname or alias.name, st.node(g.IMPORT, (), (level, module, alias.name), node))
        elif st.fn.is_module:
            st.fn.file.stars.append((level, module))
            above = {word for word in st.env.names if not word.startswith("_")}
            st.fn.file.above_stars |= above
            st.shared = st.shared | above


def _global(st: Lowering, node: ast.Global) -> None:
    if not st.fn.is_module:
        for word in node.names:
            st.outside[word] = st.fn.file.body
            st.env.forget_name(word)


def _nonlocal(st: Lowering, node: ast.Nonlocal) -> None:
    for word in node.names:
        owner = owner_of_nonlocal(st.fn, word)
        if owner is not None:
            st.outside[word] = owner
            st.env.forget_name(word)


def _delete(st: Lowering, node: ast.Delete) -> None:
    for target in node.targets:
        _delete_target(st, target)


def _delete_target(st: Lowering, target: ast.expr) -> None:
    if isinstance(target, ast.Tuple | ast.List):
        for each in target.elts:
            _delete_target(st, each)
    elif isinstance(target, ast.Name):
        st.by_syntax[target] = current(st, target)
        bind(st, target.id, st.node(g.UNDEFINED, (), None, target))
    elif isinstance(target, ast.Attribute):
        st.expr(target)
        spelled = dotted(target)
        if spelled is not None:
            st.env.drop(spelled)
    else:
        st.expr(target)


def _assert(st: Lowering, node: ast.Assert) -> None:
    test = st.expr(node.test)
    if node.msg is not None:
        st.expr(node.msg)
    narrow(st, node.test, True)
    st.guards = (*st.guards, (test, True))


def _type_alias(st: Lowering, node: ast.AST) -> None:
    name, value = node.name, node.value  # type: ignore[attr-defined]
    assign(st, name, annotation(st, value))


STATEMENTS.update({
    ast.Expr: _expression, ast.Assign: _assignment, ast.AnnAssign: _annotated, ast.AugAssign: _augmented, ast.If: _if,
    ast.Break: _leave, ast.Continue: _leave, ast.Return: _return, ast.Raise: _raise, ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function, ast.ClassDef: _class, ast.Import: _import, ast.ImportFrom: _import_from,
    ast.Global: _global, ast.Nonlocal: _nonlocal, ast.Delete: _delete, ast.Assert: _assert,
})  # fmt: skip
if hasattr(ast, "TypeAlias"):  # from Python 3.12 on
    STATEMENTS[ast.TypeAlias] = _type_alias
