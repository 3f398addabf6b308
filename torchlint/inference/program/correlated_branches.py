"""Tests that come out the same: one under a name, and the same one elsewhere in the function."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from torchlint.inference.program.bindings import BINDING, Loop, bound, declared, naming, own
from torchlint.inference.program.imports import CHANGES, changed_in_place, path_of
from torchlint.syntax.ast_index import AstIndex, Function, children
from torchlint.syntax.signatures import defaults_of, parameters, plain_parameters


@dataclass(frozen=True)
class NamedTest:
    """A test that a name is bound to, and the line up to which what it tests is not bound again; None for all."""

    test: ast.expr
    line: int
    until: int | None

    def holds_at(self, line: int) -> bool:
        """Whether the name still tells on a line how the test would come out there."""
        return self.line < line and (self.until is None or line < self.until)


def named_tests(index: AstIndex, body: Function | ast.Module) -> dict[str, NamedTest]:
    """Return the names of a function that are bound once, to a test of names, and how long it holds.

    It ends where what is tested is bound again, written into or has an attribute set. Nothing holds where that is in a
    loop, or where the test stands in a branch of a loop: the next round would see the test of the round before.
    """
    if all(_named(each) is None for each in own(index, body, ast.Assign)):
        return {}
    stores: Counter[str] = Counter()
    changed: dict[str, list[tuple[int, bool]]] = {}
    assignments: dict[str, tuple[ast.Assign, bool]] = {}
    for node, in_loop, in_branch in _own(body):
        names = list(naming(node))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            names.append(node.id)
        stores.update(names)
        if (name := changed_in_place(node)) is not None:
            names.append(name.id)
        for word in names:
            changed.setdefault(word, []).append((getattr(node, "lineno", 0), in_loop))
        if not in_branch and isinstance(node, ast.Assign) and (bound_to := _named(node)) is not None:
            assignments[bound_to] = node, in_loop
    found = {}
    for word, (node, in_loop) in assignments.items():
        later = [
            (line, looped)
            for each in _words(node.value)
            for line, looped in changed.get(each, ())
            if line >= node.lineno
        ]
        if stores[word] == 1 and not (later and (in_loop or any(looped for _, looped in later))):
            found[word] = NamedTest(node.value, node.lineno, min((line for line, _ in later), default=None))
    return found


def _own(body: Function | ast.Module) -> Iterator[tuple[ast.AST, bool, bool]]:
    """Yield the nodes of a function, inner functions left out; whether each is in a loop, and in a branch of one."""
    stack: list[tuple[ast.AST, bool, bool]] = [(each, False, False) for each in body.body]
    while stack:
        node, loop, branch = stack.pop()
        yield node, loop, branch
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            branch = branch or (loop and isinstance(node, ast.If | ast.Try | ast.Match))
            loop = loop or isinstance(node, Loop)
            stack.extend((each, loop, branch) for each in children(node))


def is_predicate(node: ast.expr) -> bool:
    """Whether an expression asks something, and what it gives is no more than the answer."""
    match node:
        case ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.Call(func=ast.Name(id="isinstance" | "hasattr")) | ast.Call(func=ast.Attribute(attr="is_tensor")):
            return True
    return False


def _named(node: ast.AST) -> str | None:
    """Return the name that a statement binds to a test."""
    match node:
        case ast.Assign(targets=[ast.Name(id=word), *_], value=value) if _is_test(value):
            return word
    return None


def _is_test(node: ast.expr) -> bool:
    if is_predicate(node):
        return True
    match node:
        case ast.BoolOp():
            return True
        case ast.Attribute(attr="is_cuda" | "requires_grad" | "device"):
            return True
        case ast.Attribute(value=ast.Attribute(attr="device"), attr="type"):
            return True
    return False


def _words(node: ast.expr) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


Assumed = frozenset[tuple[str, bool]]
"""Names of truth values, and which value each is taken to have at the tests that :func:`settled` gives."""


WantedReturn = tuple[int, bool]
"""Those returns of a function that may give a tuple with a certain truth value at a certain place.

``array, was_tensor = to_array(x)``, and what is asked for stands in a branch of ``if was_tensor:``.
"""


_Test = ast.If | ast.IfExp


def assumed_at(index: AstIndex, node: ast.AST) -> Assumed:
    """Return names whose value the tests around a node say, as far as other tests of its function ask for it too."""
    function = index.owner(node)
    if function is None:
        return frozenset()
    telling = index.told(_telling, function)
    if not telling:
        return frozenset()
    found: dict[str, bool] = {}
    below = node
    for above in index.ancestors(node):
        if above is function:
            break
        if above in telling and isinstance(above, _Test) and below is not above.test:
            word, holds = telling[above]
            found.setdefault(word, holds is (below is above.body or _is_in(below, above.body)))
        below = above
    return frozenset(found.items())


def _telling(index: AstIndex, function: Function) -> dict[ast.AST, tuple[str, bool]]:
    """Return the tests from whose outcome that of other tests of a function follows, with what :func:`asked` says."""
    flags = {flag for flag, _ in index.told(deciding, function).values()}
    found: dict[ast.AST, tuple[str, bool]] = {
        test: (word, asked(index, test.test)[1])
        for word, tests in index.told(settled, function).items()
        if len(tests) > 1 or word in flags or _HOST in word
        for test in tests
    }
    for tests in index.told(_of_unpacked, function).values():
        found.update((test, asked(index, test.test)) for test in tests)
    return found


def _of_unpacked(index: AstIndex, function: Function) -> dict[str, frozenset[_Test]]:
    """Return the tests of each name that stays a part of what a call gives, behind the last call that binds it."""
    unpacked = index.told(_unpacked_flags, function)
    if not unpacked:
        return {}
    tests: dict[str, list[_Test]] = {}
    branches: list[_Test] = [*own(index, function, ast.If), *own(index, function, ast.IfExp)]
    for test in branches:
        tests.setdefault(asked(index, test.test)[0], []).append(test)
    return {word: frozenset(_behind(index, tests[word], [unpacked[word]])) for word in unpacked.keys() & tests.keys()}


def _unpacked_flags(index: AstIndex, function: Function) -> dict[str, ast.Name]:
    """Return the names that are bound to parts of what calls give alone, and where each of them is bound at last.

    A name that is bound several times, `x, was_array = ...` and `y, was_array = ...`, is bound by the function's own
    statements, one after the other.
    """
    stores = index.told(bound, function)
    parts: dict[str, list[ast.Assign]] = {}
    for assignment in own(index, function, ast.Assign):
        if isinstance(assignment.value, ast.Call) and isinstance(assignment.targets[0], ast.Tuple):
            for each in assignment.targets[0].elts:
                if isinstance(each, ast.Name):
                    parts.setdefault(each.id, []).append(assignment)
    other = {*parameters(function), *declared(index, function)}
    other.update(word for each in own(index, function, *BINDING) if parts for word in naming(each))
    return {
        word: max(stores[word], key=lambda each: each.lineno)
        for word, binding in parts.items()
        if word not in other
        and len(stores[word]) == len(binding)
        and (len(binding) == 1 or all(index.parents.get(each) is function for each in binding))
    }


def wanted_return(index: AstIndex, call: ast.Call, assumed: Assumed) -> WantedReturn | None:
    """Return at which place of the tuple that a call gives a truth value is known, and which; None if at none."""
    assignment = index.parents.get(call) if assumed else None
    if not isinstance(assignment, ast.Assign) or not isinstance(assignment.targets[0], ast.Tuple):
        return None
    function = index.owner(call)
    if function is None:
        return None
    known, last = dict(assumed), index.told(_unpacked_flags, function)
    for at, target in enumerate(assignment.targets[0].elts):
        if isinstance(target, ast.Starred):
            return None
        if isinstance(target, ast.Name) and target.id in known and last.get(target.id) is target:
            return at, known[target.id]
    return None


def outcome(index: AstIndex, node: _Test, assumed: Assumed) -> bool | None:
    """Return whether a test holds under assumptions; None where they say nothing of it."""
    function = index.owner(node)
    if function is None:
        return None
    known = dict(assumed)
    flag, set_to = index.told(deciding, function).get(node, ("", True))
    if flag in known:
        return known[flag] is set_to
    word, holds = asked(index, node.test)
    value = known.get(word)
    if value is None or node not in index.told(settled, function).get(word, ()):
        return None
    return value is holds


def asked(index: AstIndex, test: ast.expr) -> tuple[str, bool]:
    """Return what a test asks for, a name or whether a place is the host, and the value at which it holds.

    Nothing for other tests.
    """
    match test:
        case ast.Name(id=word):
            return word, True
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=word)):
            return word, False
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() as how], comparators=[right]):
            if (place := _place(left)) is not None and names_the_host(index, right):
                return f"{place}{_HOST}{ast.unparse(left)} == {ast.unparse(right)}", isinstance(how, ast.Eq)
    return "", True


_HOST = " on the host: "
"""What parts the path of a place from the test that asks whether it is the host."""


def _place(node: ast.expr) -> str | None:
    """Return the path of the place that is compared: ``device`` in ``device``, ``device.type`` and ``str(device)``."""
    match node:
        case ast.Attribute(value=inner, attr="type") | ast.Call(func=ast.Name(id="str"), args=[inner]):
            return path_of(inner)
    return path_of(node)


def names_the_host(index: AstIndex, node: ast.expr) -> bool:
    """Whether an expression is the host's name or device, or a constant of the module that is bound to one of them."""
    match node:
        case ast.Constant(value="cpu"):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr="device"), args=[ast.Constant(value="cpu")]):
            return True
        case ast.Name(id=word):
            return word in index.told(_hosts, index.tree) and index.owner(node) is not None
    return False


def _hosts(index: AstIndex, tree: ast.Module) -> frozenset[str]:
    """Return the names of a module that are bound once in the file, to the host."""
    stores = Counter(each.id for each in index.nodes(ast.Name) if isinstance(each.ctx, ast.Store))
    arguments = {each.arg for each in index.nodes(ast.arg)}
    found = set()
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=word)], value=value) if stores[word] == 1 and word not in arguments:
                if not isinstance(value, ast.Name) and names_the_host(index, value):
                    found.add(word)
    return frozenset(found)


def on_host(assumed: Assumed) -> dict[str, bool]:
    """Return the places that are taken to be the host; True for those that are its name, ``"cpu"``."""
    words = [word for word, holds in assumed if holds and _HOST in word]
    parts = ((word.partition(_HOST)[0], word) for word in words)
    return {place: word == f"{place}{_HOST}{place} == 'cpu'" for place, word in parts}


def cases(index: AstIndex, node: ast.AST, assumed: Assumed) -> tuple[Assumed, ...]:
    """Return the two cases that a test of a device makes of a whole function; none where it has no such test.

    ``x.to(device)``, and later ``if device != "cpu": x = x.cpu()``: either it is moved back or it was never moved.
    """
    function = index.owner(node)
    if function is None:
        return ()
    known = {word for word, _ in assumed}
    words = sorted(each for each in index.told(settled, function) if _HOST in each and each not in known)
    return tuple(assumed | {(words[0], holds)} for holds in (True, False)) if words else ()


def settled(index: AstIndex, function: Function) -> dict[str, frozenset[_Test]]:
    """Return the tests of each truth value of a function behind which it is not bound again."""
    tests: dict[str, list[_Test]] = {}
    stores = index.told(bound, function)
    unclear: set[str] = set()
    branches: list[_Test] = [*own(index, function, ast.If), *own(index, function, ast.IfExp)]
    for test in branches:
        tests.setdefault(asked(index, test.test)[0], []).append(test)
    unclear.update(each.id for each in map(changed_in_place, own(index, function, *CHANGES)) if each is not None)
    unclear.update(word for each in own(index, function, *BINDING) for word in naming(each))
    unclear |= declared(index, function)
    places = {
        word: frozenset(found)
        for word, found in tests.items()
        if _HOST in word and _stays(index, function, word.partition(_HOST)[0], unclear)
    }
    unclear |= parameters(function) - _truth_values_given(function)
    return places | {
        word: frozenset(_behind(index, tests[word], stores.get(word, [])))
        for word in (tests.keys() & (stores.keys() | parameters(function))) - unclear
        if all(_is_truth_value(index, each) for each in stores.get(word, ()))
    }


def _stays(index: AstIndex, function: Function, place: str, unclear: set[str]) -> bool:
    """Whether a place is the same all through a function: an argument, an attribute, or a name that is bound once."""
    root, dot, _ = place.partition(".")
    stores = index.told(bound, function).get(root, [])
    if "[" in place or not (root in parameters(function) or stores) or root in declared(index, function):
        return False
    if dot:
        attributes = (each for each in own(index, function, ast.Attribute) if isinstance(each.ctx, ast.Store))
        return not stores and not any(path_of(each) in (place, root) for each in attributes)
    if root in unclear:
        return False
    if root in parameters(function):
        return not stores
    return len(stores) == 1 and _is_bound_plainly(index, function, stores[0])


def _is_bound_plainly(index: AstIndex, function: Function, name: ast.Name) -> bool:
    """Whether a name is bound by a statement of a function's own body, outside of loops and branches."""
    statement = index.parents.get(name)
    return isinstance(statement, ast.Assign | ast.AnnAssign) and index.parents.get(statement) is function


def deciding(index: AstIndex, function: Function) -> dict[ast.AST, tuple[str, bool]]:
    """Return the tests that decide a flag, with the value that it has where they hold.

    ``was_array = False``, and in the branch of ``if isinstance(x, np.ndarray):`` alone ``was_array = True``.
    """
    found: dict[ast.AST, tuple[str, bool]] = {}
    for word, stores in index.told(bound, function).items():
        if len(stores) != 2 or word in parameters(function):
            continue
        values = [_flag_of(index, each) for each in stores]
        first, second = (index.parents[each] for each in stores)
        test = index.parents.get(second)
        if None in values or values[0] == values[1] or not isinstance(test, ast.If):
            continue
        before = index.parents.get(first) is function or _is_in(first, test.body)
        if before and index.parents.get(test) is function:
            found[test] = (word, bool(values[1]) is _is_in(second, test.body))
    return found


def _flag_of(index: AstIndex, name: ast.Name) -> bool | None:
    """Return the constant that a name is bound to; None where it is bound otherwise."""
    match index.parents.get(name):
        case (
            ast.Assign(value=ast.Constant(value=bool() as value))
            | ast.AnnAssign(value=ast.Constant(value=bool() as value))
        ):
            return value
    return None


def _truth_values_given(function: Function) -> set[str]:
    """Return the parameters that are truth values, by their annotation or their default."""
    defaults = defaults_of(function)
    return {
        each.arg
        for each in plain_parameters(function)
        if (isinstance(each.annotation, ast.Name) and each.annotation.id == "bool")
        or (isinstance(default := defaults.get(each), ast.Constant) and isinstance(default.value, bool))
    }


def _is_truth_value(index: AstIndex, name: ast.Name) -> bool:
    """Whether a name is bound to a test or to one of the two constants: nothing can change what that is."""
    statement = index.parents.get(name)
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
        return False
    match statement.value:
        case ast.Constant(value=bool()) | ast.Call(func=ast.Name(id="callable" | "bool")):
            return True
        case ast.Call(func=ast.Attribute(attr="is_available" | "is_grad_enabled")):
            return True
    return is_predicate(statement.value)


def _behind(index: AstIndex, tests: list[_Test], stores: list[ast.Name]) -> Iterator[_Test]:
    """Yield the tests after which a name is not bound: neither further down nor in the next round of a loop."""
    last = max((each.lineno for each in stores), default=0)
    loops = {above for each in stores for above in index.ancestors(each) if isinstance(above, Loop)}
    for test in tests:
        if test.lineno > last and not (loops and any(above in loops for above in index.ancestors(test))):
            yield test


def _is_in(node: ast.AST, body: object) -> bool:
    return isinstance(body, list) and any(each is node for each in body)
