"""What a call is in the graph, and what it may change: its object, its arguments, the process."""

from __future__ import annotations

import ast

from torchlint.semantic import graph as g
from torchlint.semantic.bound_names import bind_attribute, bound, dotted, unnarrowed
from torchlint.semantic.effect_words import (
    BUILTINS,
    GROWING,
    INERT,
    LIBRARIES,
    MOVING,
    PROCESS_SETTERS,
    SPREADING,
    STORING,
    USING_UP,
)
from torchlint.semantic.graph import AttributeStore, CallArguments, MemoryWrite, Node, ProcessState
from torchlint.semantic.lower_targets import (
    change,
    container_of,
    current,
    is_changeable,
    is_fixed,
    store_attribute,
)
from torchlint.semantic.lowering_state import EXPRESSIONS, Lowering

_HANDING_ON = frozenset(("train", "eval", "requires_grad_"))
"""Methods of modules that give the module itself."""
_OF_OBJECTS = frozenset(("train", "eval", "step", "__init__"))
"""Methods that change their object and leave the process as it is."""
_IMPORTING = {"import_module": "importlib", "importorskip": "pytest"}
"""Functions that give the module whose name they are given, each with its package."""


def _call(st: Lowering, node: ast.Call) -> Node:
    if (module := _imported_module(st, node)) is not None:
        return st.node(g.IMPORT, (), (0, module, None), node)
    function = _function(st, node.func)
    positional, keywords, starred, spread = [], {}, set(), []
    is_using_up = callee_words(node)[1] in USING_UP
    for position, each in enumerate(node.args):
        if isinstance(each, ast.Starred):
            starred.add(position)
        st.used_up = each.value if isinstance(each, ast.Starred) else each if is_using_up else None
        positional.append(st.expr(each))
    st.used_up = None
    for keyword in node.keywords:
        value = st.expr(keyword.value)
        if keyword.arg is None:
            spread.append(value)
        else:
            keywords[keyword.arg] = value
    given = CallArguments(tuple(positional), keywords, frozenset(starred), tuple(spread), dotted(node.func) or "")
    made = st.node(g.CALL, (function,), given, node)
    fn = st.fn
    fn.calls.append(made)
    if st.guards:
        fn.guards[made] = st.guards
    if st.caught:
        fn.handlers[made] = st.caught
    if fn.parent is None and (names := st.taken_snapshot()) is not None:
        fn.snapshots[made] = names
    _apply_changes(st, node, made)
    return made


def _imported_module(st: Lowering, node: ast.Call) -> str | None:
    """Return the module that a call imports; None for a name within a package, and for other calls."""
    root, word = callee_words(node)
    match node.args[:1]:
        case [ast.Constant(value=str(module))] if word in _IMPORTING and not module.startswith("."):
            return module if _imports(st, root, frozenset({_IMPORTING[word]})) else None
    return None


def _function(st: Lowering, node: ast.expr) -> Node:
    """Lower what is called: an attribute stays one, so that a method knows its object, unless another was put there."""
    if not isinstance(node, ast.Attribute):
        return st.expr(node)
    if st.env.attributes:
        spelled = dotted(node)
        found = bound(st, spelled) if spelled is not None and "." in spelled else None
        if found is not None and unnarrowed(found).op != g.ATTR:
            st.expr(node.value)
            st.by_syntax[node] = found
            return found
    made = st.by_syntax.get(node)
    if made is None or made.op != g.ATTR:
        made = st.node(g.ATTR, (st.expr(node.value),), node.attr, node)
        st.by_syntax[node] = made
    return made


# ---------------------------------------------------------------------- what a call is by its words
def callee_words(node: ast.Call) -> tuple[str, str]:
    """Return the first and the last word of what is called; the first is empty where it is no dotted name."""
    func = node.func
    if isinstance(func, ast.Name):
        return func.id, func.id
    if not isinstance(func, ast.Attribute):
        return "", ""
    inner: ast.expr = func
    while isinstance(inner, ast.Attribute):
        inner = inner.value
    return inner.id if isinstance(inner, ast.Name) else "", func.attr


def is_in_place(word: str) -> bool:
    """Whether a method is named like those that change their tensor."""
    return word.endswith("_") and not word.endswith("__") and word != "_"


def is_library(st: Lowering, root: str) -> bool:
    """Whether a name is imported from a package whose functions change nothing unless they say so."""
    return _imports(st, root, LIBRARIES)


def _imports(st: Lowering, root: str, packages: frozenset[str] | None) -> bool:
    found = st.env.names.get(root)
    if found is not None:
        return _is_import(found, packages)
    return any(_is_import(each, packages) for each in st.fn.file.body.definitions.get(root, ()))


def _is_import(node: Node, packages: frozenset[str] | None) -> bool:
    if node.op != g.IMPORT:
        return False
    if packages is None:
        return True
    level, module = node.data[:2]  # type: ignore[index]
    return level == 0 and module.partition(".")[0] in packages


def is_inert(st: Lowering, node: ast.Call) -> bool:
    """Whether a call is known, by its words alone, to change neither arguments nor object nor process."""
    root, word = callee_words(node)
    if isinstance(node.func, ast.Name):
        if word in BUILTINS and word not in st.env.names and word not in st.fn.file.body.definitions:
            return True
        return is_library(st, word) and not is_in_place(word)
    if root and is_library(st, root):
        return not is_in_place(word) and word != "vector_to_parameters"
    if word in STORING:
        return True
    return word in INERT and not (root == "self" and st.fn.cls is not None and word in st.fn.cls.methods)


# ---------------------------------------------------------------------- what it changes
def _apply_changes(st: Lowering, node: ast.Call, made: Node) -> None:
    root, word = callee_words(node)
    given = made.arguments
    if word in PROCESS_SETTERS:
        after_call(st, made, PROCESS_SETTERS[word])
    if "out" in given.keywords:
        written = next(each.value for each in node.keywords if each.arg == "out")
        for each in written.elts if isinstance(written, ast.Tuple | ast.List) else [written]:
            _written(st, each, made, node, "out")
    if word in STORING:
        _store_by_word(st, node, word)
    elif isinstance(node.func, ast.Attribute) and not (root and _imports(st, root, None)):
        if not _change_receiver(st, node, node.func, made, word) and not is_inert(st, node):
            _leave_effects(st, node, made, node.func.value)
    elif _fills_first(st, node, root, word):
        _written(st, node.args[0], made, node, 0)
    elif not is_inert(st, node):
        _leave_effects(st, node, made, None)
        if made.ins[0].op == g.FUNCTION and st.env.attributes:  # one that is written here may set `self.x`
            st.env.forget_attributes()


def _fills_first(st: Lowering, node: ast.Call, root: str, word: str) -> bool:
    """Whether a function writes its first argument: ``init.zeros_(x)``, ``relu(x, inplace=True)``."""
    if not node.args or isinstance(node.args[0], ast.Starred):
        return False
    if is_in_place(word):
        return is_library(st, root)
    given = next((each.value for each in node.keywords if each.arg == "inplace"), None)
    return isinstance(given, ast.Constant) and given.value is True


def _written(st: Lowering, argument: ast.expr, made: Node, node: ast.Call, place: object) -> None:
    """Note an argument whose memory the call fills."""
    before = current(st, argument)
    st.fn.writes.append(MemoryWrite(before, made, node, len(st.nodes)))
    if is_changeable(argument):
        change(st, argument, st.node(g.EFFECT, (before, made), place, node))


def _store_by_word(st: Lowering, node: ast.Call, word: str) -> None:
    """Lower ``setattr(x, "word", v)``, ``x.register_buffer("word", v)`` and the like as assignments."""
    arguments: list[ast.expr] = list(node.args)
    if isinstance(node.func, ast.Attribute) and callee_words(node)[0] not in ("object", "type"):
        owner = node.func.value
    elif arguments:
        owner = arguments.pop(0)
    else:
        return
    by_keyword = {each.arg: each.value for each in node.keywords}
    name = arguments[0] if arguments else by_keyword.get("name")
    values = [by_keyword[each] for each in STORING[word] if each in by_keyword]
    value = arguments[1] if len(arguments) > 1 else values[0] if values else None
    if name is None or value is None or isinstance(name, ast.Starred):
        return
    if isinstance(name, ast.Constant) and isinstance(name.value, str):
        store_attribute(st, owner, name.value, st.expr(value), node, is_part=word == "register_buffer")
    else:
        st.fn.stores.append(AttributeStore(current(st, owner), "*", st.expr(value), st.guards, len(st.nodes)))


def _change_receiver(st: Lowering, node: ast.Call, func: ast.Attribute, made: Node, word: str) -> bool:
    """Change the object of a method that does it in a way that its word tells; return whether it is one."""
    owner, given = func.value, made.arguments
    is_statement = st.statement is node
    if is_in_place(word):
        if is_statement and not is_changeable(owner) and word in _HANDING_ON:
            _move(st, node, made)
        before = current(st, owner)
        value = given.positional[0] if given.positional else None
        st.fn.writes.append(MemoryWrite(before, value, node, len(st.nodes)))
        if is_changeable(owner):
            change(st, owner, st.node(g.INPLACE, (before, made), word, node))
        return True
    if word in MOVING or (word in _HANDING_ON and is_statement):
        if is_statement:
            _move(st, node, made)
        return word in MOVING or not is_changeable(owner)
    if word in GROWING:
        return _grow(st, node, owner, given, word, is_statement)
    if word in SPREADING and (given.positional or given.spread or given.keywords) and is_changeable(owner):
        after = current(st, owner)
        for each in (*given.positional[:1], *given.spread):
            after = st.node(g.SPREAD, (after, each), None, node)
        if word == "update" and not given.positional:
            for key, value in given.keywords.items():
                after = st.node(g.GROW, (after, value), key, node)
        change(st, owner, after)
        return True
    if container_of(node) is not None:
        if len(node.args) > 1:
            change(st, node, given.positional[1])
        return True
    return False


def _grow(st: Lowering, node: ast.Call, owner: ast.expr, given: CallArguments, word: str, is_statement: bool) -> bool:
    count = 2 if word == "insert" else 1
    if len(given.positional) < count or given.starred or not is_changeable(owner):
        return False
    if len(given.positional) > count and word not in ("put", "put_nowait"):
        return False
    if word == "add" and not is_statement:  # of a tensor it makes another
        return False
    member = given.positional[count - 1]
    before = current(st, owner)
    if word in ("insert", "appendleft"):
        after = st.node(g.GROW, (before, member), g.ANYKEY, node)
    else:
        after = st.node(g.GROW, (before, member), g.APPEND, node)
    change(st, owner, after)
    return True


def _move(st: Lowering, node: ast.Call, made: Node) -> None:
    """Lower ``net.cuda()``, or ``net.half().to(device)``, as a statement: modules are moved in place."""
    moves: list[tuple[Node, str]] = []
    inner: ast.expr = node
    while isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
        is_told_already = is_changeable(inner.func.value)  # where the chain begins
        if inner.func.attr in MOVING or (inner.func.attr == "requires_grad_" and not is_told_already):
            moves.append((st.expr(inner) if inner is not node else made, inner.func.attr))
        elif inner.func.attr not in _HANDING_ON:
            break
        inner = inner.func.value
    if moves and is_changeable(inner):
        after = current(st, inner)
        for call, word in reversed(moves):
            after = st.node(g.INPLACE, (after, call), word, node)
        change(st, inner, after)


def _leave_effects(st: Lowering, node: ast.Call, made: Node, receiver: ast.expr | None) -> None:
    """Variables that the callee was handed, or whose method it is, may have been changed by it."""
    spelled = dotted(receiver) if receiver is not None else None
    places: list[tuple[object, ast.expr]] = [*enumerate(node.args), *[(each.arg, each.value) for each in node.keywords]]
    for place, argument in places:
        if place is not None and isinstance(argument, ast.Name | ast.Attribute):
            _leave_effect(st, argument, dotted(argument), made, node, place, spelled)
        elif place is not None and isinstance(argument, ast.List | ast.Tuple):
            for at, each in enumerate(argument.elts):
                if isinstance(each, ast.Name | ast.Attribute):
                    _leave_effect(st, each, dotted(each), made, node, (place, at), spelled)
    if receiver is not None and spelled is not None:
        _leave_effect(st, receiver, spelled, made, node, g.RECEIVER, None)
    for word in st.outside:
        st.env.forget_name(word)


def _leave_effect(
    st: Lowering, variable: ast.expr, spelled: str | None, made: Node, node: ast.Call, place: object, owner: str | None
) -> None:
    if spelled is None or spelled == owner or (owner is not None and spelled.startswith(owner + ".")):
        return  # what hangs on the object of the method is read from it anew
    root = spelled.partition(".")[0]
    if is_fixed(st, root) or _imports(st, root, None):
        return
    before = current(st, variable)
    after = st.node(g.EFFECT, (before, made), place, node)
    if "." in spelled:
        bind_attribute(st, spelled, after)
    else:
        change(st, variable, after)


def after_call(st: Lowering, made: Node, variables: tuple[str, ...] = g.PROCESS_VARIABLES) -> None:
    """Bind the variables of the process to what a call may leave them."""
    before = st.env.state
    nodes = {g.GRAD: before.grad, g.DEVICE: before.device, g.DTYPE: before.dtype}
    for each in variables:
        nodes[each] = st.node(g.AFTER, (nodes[each], made), each, made.at)
    st.env.state = ProcessState(nodes[g.GRAD], nodes[g.DEVICE], nodes[g.DTYPE])
    st.writes += 1
    for attempt in st.attempts:
        attempt.states.append(st.env.state)


def changes_process(st: Lowering, node: ast.Call, word: str) -> bool:
    """Whether a call that is a statement may set a variable of the process in a way that its word does not tell."""
    told = word in GROWING or word in SPREADING or word in MOVING or is_in_place(word) or word in PROCESS_SETTERS
    return not told and word not in _OF_OBJECTS and not is_inert(st, node)


EXPRESSIONS[ast.Call] = _call
