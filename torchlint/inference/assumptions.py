"""What a test around a node says of the rest of its function: the same test elsewhere came out the same way.

``if on_host: x = x.cpu()`` and later ``if on_host: x.numpy()``: where the second block is entered, the first one was.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.inference.lexical import BINDING, Loop, bound, declared, naming, own
from torchlint.inference.names import CHANGES, changed_in_place
from torchlint.inference.tests import is_predicate
from torchlint.syntax.outline import Function, Outline, parameters

Assumed = frozenset[tuple[str, bool]]
"""Names of truth values, and which value each is taken to have at the tests that :func:`settled` gives."""


_Test = ast.If | ast.IfExp


def assumed_at(outline: Outline, node: ast.AST) -> Assumed:
    """Give the names whose value the tests around a node say, as far as other tests of its function ask for it too."""
    function = outline.owner(node)
    if function is None:
        return frozenset()
    found: dict[str, bool] = {}
    below = node
    for above in outline.ancestors(node):
        if above is function:
            break
        if isinstance(above, _Test) and below is not above.test:
            word, holds = asked(above.test)
            tests = outline.told(settled, function).get(word, frozenset()) if word else frozenset()
            if above in tests and len(tests) > 1:
                found.setdefault(word, holds is (below is above.body or _is_in(below, above.body)))
        below = above
    return frozenset(found.items())


def outcome(outline: Outline, node: _Test, assumed: Assumed) -> bool | None:
    """Tell whether a test holds under assumptions; None where they say nothing of it."""
    word, holds = asked(node.test)
    value = dict(assumed).get(word)
    function = outline.owner(node)
    if value is None or function is None or node not in outline.told(settled, function).get(word, ()):
        return None
    return value is holds


def asked(test: ast.expr) -> tuple[str, bool]:
    """Give the name that a test asks for, and the value at which it holds; no name for other tests."""
    match test:
        case ast.Name(id=word):
            return word, True
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=word)):
            return word, False
    return "", True


def settled(outline: Outline, function: Function) -> dict[str, frozenset[_Test]]:
    """Give the tests of each truth value of a function behind which it is not bound again."""
    tests: dict[str, list[_Test]] = {}
    stores = outline.told(bound, function)
    unclear = set(parameters(function) - _truth_values_given(function))
    branches: list[_Test] = [*own(outline, function, ast.If), *own(outline, function, ast.IfExp)]
    for test in branches:
        tests.setdefault(asked(test.test)[0], []).append(test)
    unclear.update(each.id for each in map(changed_in_place, own(outline, function, *CHANGES)) if each is not None)
    unclear.update(word for each in own(outline, function, *BINDING) for word in naming(each))
    unclear |= declared(outline, function)
    return {
        word: frozenset(_behind(outline, tests[word], stores.get(word, [])))
        for word in (tests.keys() & (stores.keys() | parameters(function))) - unclear
        if all(_is_truth_value(outline, each) for each in stores.get(word, ()))
    }


def _truth_values_given(function: Function) -> set[str]:
    """Give the parameters that are truth values, by their annotation or their default."""
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    defaults = [*([None] * (len(positional) - len(args.defaults))), *args.defaults, *args.kw_defaults]
    return {
        each.arg
        for each, default in zip([*positional, *args.kwonlyargs], defaults, strict=True)
        if (isinstance(each.annotation, ast.Name) and each.annotation.id == "bool")
        or (isinstance(default, ast.Constant) and isinstance(default.value, bool))
    }


def _is_truth_value(outline: Outline, name: ast.Name) -> bool:
    """Whether a name is bound to a test or to one of the two constants: nothing can change what that is."""
    statement = outline.parents.get(name)
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
        return False
    match statement.value:
        case ast.Constant(value=bool()) | ast.Call(func=ast.Name(id="callable" | "bool")):
            return True
        case ast.Call(func=ast.Attribute(attr="is_available" | "is_grad_enabled")):
            return True
    return is_predicate(statement.value)


def _behind(outline: Outline, tests: list[_Test], stores: list[ast.Name]) -> Iterator[_Test]:
    """Give the tests after which a name is not bound: neither further down nor in the next round of a loop."""
    last = max((each.lineno for each in stores), default=0)
    loops = {above for each in stores for above in outline.ancestors(each) if isinstance(above, Loop)}
    for test in tests:
        if test.lineno > last and not (loops and any(above in loops for above in outline.ancestors(test))):
            yield test


def _is_in(node: ast.AST, body: object) -> bool:
    return isinstance(body, list) and any(each is node for each in body)
