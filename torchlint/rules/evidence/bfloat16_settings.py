"""Whether a dtype that code writes is bfloat16 or may be: by its name, by a choice, or by a setting compared with it.

``torch.bfloat16 if is_supported else torch.float16`` may be bfloat16, and so may ``self.dtype`` where the class asks
whether it is. A dtype of which the code says nothing is none of these.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from torchlint.rules.api import FileContext, defaults_of, handed_to, leaves, plain_parameters, remembered
from torchlint.rules.evidence.calls_in_sight import calls_of
from torchlint.rules.evidence.local_bindings import values_of
from torchlint.rules.evidence.object_attributes import attribute_values
from torchlint.rules.evidence.own_results import returned

_BFLOAT16 = "torch.bfloat16"
_DEEPEST = 6
_MOST_CALLS = 8
"""A function that is called more often is not asked what it is given."""


@dataclass(frozen=True, slots=True)
class ShownBFloat16:
    """A dtype that is bfloat16, or may be, and where the code says so."""

    is_sure: bool
    at: ast.expr

    @property
    def line(self) -> int:
        """The line that names bfloat16."""
        return self.at.lineno


def shown_bfloat16(dtype: ast.expr | None, context: FileContext) -> ShownBFloat16 | None:
    """Return what shows that a dtype is or may be bfloat16; None where nothing does, or where a test excludes it."""
    return None if dtype is None else _shown(dtype, context, 0)


def _shown(node: ast.expr, context: FileContext, depth: int) -> ShownBFloat16 | None:
    if depth > _DEEPEST:
        return None
    match node:
        case _ if _is_spelled(node, context):
            return ShownBFloat16(is_sure=True, at=node)
        case ast.IfExp(test=test, body=one, orelse=other):
            asked_for = ast.unparse(test)
            chosen = [each for each in (one, other) if ast.unparse(each) not in asked_for]
            return _perhaps(_of_choices(chosen, context, depth))
        case ast.BoolOp(values=values):
            return _of_choices(values, context, depth)
        case ast.Subscript(value=table) | ast.Call(func=ast.Attribute(value=table, attr="get")):
            return _perhaps(_of_choices(_members(table, context), context, depth))
        case ast.Name():
            found = _of_choices(values_of(node, context), context, depth)
            return found or _of_parameter(node, context, depth) or _compared_with_it(node, context)
        case ast.Attribute():
            found = _of_choices(attribute_values(node, context), context, depth)
            found = found or _perhaps(_of_choices(_options(node.attr, context), context, depth))
            return found or _compared_with_it(node, context)
        case ast.Call(func=ast.Name(id="getattr"), args=[_, word, *_]):
            return _shown(word, context, depth + 1)
        case ast.Call():
            return _of_choices(returned(node, context) or (), context, depth)
    return None


def _is_spelled(node: ast.expr, context: FileContext) -> bool:
    """Whether an expression is bfloat16 by its own text: torch's, or the word that libraries and `getattr` take."""
    if isinstance(node, ast.Constant):
        return node.value == "bfloat16"
    return isinstance(node, ast.Attribute) and context.names(node) == {_BFLOAT16}


def _of_choices(values: Iterable[ast.expr], context: FileContext, depth: int) -> ShownBFloat16 | None:
    """Return what is shown of one of several values: sure where it is of all."""
    each = [_shown(value, context, depth + 1) for value in values]
    known = [one for one in each if one is not None]
    if not known:
        return None
    return known[0] if len(known) == len(each) and all(one.is_sure for one in known) else _perhaps(known[0])


def _perhaps(found: ShownBFloat16 | None) -> ShownBFloat16 | None:
    return found and ShownBFloat16(is_sure=False, at=found.at)


def _members(table: ast.expr, context: FileContext) -> list[ast.expr]:
    """Return the values of a dictionary that is spelled out, where it stands or where its name is bound."""
    spelled = values_of(table, context) if isinstance(table, ast.Name) else [table]
    return [value for each in spelled if isinstance(each, ast.Dict) for value in each.values]


def _options(word: str, context: FileContext) -> list[ast.expr]:
    """Return the choices and the default of an option of the command line, by the attribute that holds it."""
    return _command_line(context.tree, context).get(word, [])


@remembered
def _command_line(_: ast.Module, context: FileContext) -> dict[str, list[ast.expr]]:
    """Return what a file says of the options that it gives `argparse`: ``choices=`` and ``default=``."""
    found: dict[str, list[ast.expr]] = {}
    for each in context.attributes_by_word().get("add_argument", ()):
        call = context.parent(each)
        if not isinstance(call, ast.Call) or call.func is not each:
            continue
        flags = [one.value for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        told = [one.value for one in call.keywords if one.arg in ("choices", "default")]
        for flag in flags:
            values = found.setdefault(flag.lstrip("-").replace("-", "_"), [])
            for value in told:
                values += value.elts if isinstance(value, ast.List | ast.Tuple | ast.Set) else [value]
    return found


def _of_parameter(name: ast.Name, context: FileContext, depth: int) -> ShownBFloat16 | None:
    """Return what the default of a parameter shows, or what a call hands over for it."""
    function = context.function_around(name)
    if not isinstance(function, ast.FunctionDef) or context.scope_that_binds(name) is not function:
        return None
    parameter = next((each for each in plain_parameters(function) if each.arg == name.id), None)
    if parameter is None or context.stores(function).get(name.id):
        return None
    default = defaults_of(function).get(parameter)
    found = _shown(default, context, depth + 1) if default is not None else None
    calls = list(calls_of(function, context))
    for file, call in calls if len(calls) <= _MOST_CALLS else ():
        given = handed_to(call, function, parameter)
        found = found or (_shown(given, file, depth + 1) if given is not None else None)
    return _perhaps(found)


# ---------------------------------------------------------------------- tests
def _compared_with_it(node: ast.Name | ast.Attribute, context: FileContext) -> ShownBFloat16 | None:
    """Return the test that asks whether a setting is bfloat16, unless what follows a test is left to the others."""
    code = ast.unparse(node)
    owner = context.nearest(node, ast.ClassDef) if code.startswith("self.") else None
    scope = owner or context.function_around(node) or context.tree
    tests = _tests(scope, context).get(code, [])
    if not tests or any(_excludes(each, code, context) for each in tests):
        return None
    return ShownBFloat16(is_sure=False, at=tests[0])


@remembered
def _tests(scope: ast.AST, context: FileContext) -> dict[str, list[ast.Compare]]:
    """Return the comparisons with bfloat16 of a scope by the code of what they compare."""
    found: dict[str, list[ast.Compare]] = {}
    whole = context.inside(scope, ast.Compare) if isinstance(scope, ast.ClassDef) else context.own(scope, ast.Compare)
    for each in whole:
        if any(_names_bfloat16(other, context) for other in each.comparators):
            found.setdefault(ast.unparse(each.left), []).append(each)
    return found


def _names_bfloat16(node: ast.expr, context: FileContext) -> bool:
    members = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    return any(_is_spelled(each, context) for each in members)


def _excludes(test: ast.Compare, code: str, context: FileContext) -> bool:
    """Whether code goes on without bfloat16 behind a test: it is refused, returned from, or replaced."""
    for above in context.ancestors(test):
        match above:
            case ast.Assert():
                return True
            case ast.If(test=whole, body=body) if test in ast.walk(whole):
                return leaves(body) or any(_replaces(each, code) for each in body)
            case ast.stmt():
                return False
    return False


def _replaces(statement: ast.stmt, code: str) -> bool:
    return isinstance(statement, ast.Assign) and any(ast.unparse(each) == code for each in statement.targets)


def is_tested(dtype: ast.expr, at: ast.AST, context: FileContext) -> bool:
    """Whether code asks for a setting before it comes to a place, or around it: what it is there is not known."""
    code = ast.unparse(dtype)
    around = [each.test for each in context.ancestors(at) if isinstance(each, ast.If | ast.IfExp | ast.While)]
    scope = context.function_around(at) or context.tree
    before = [each.test for each in context.own(scope, ast.If) if leaves(each.body)]
    before += (each.test for each in context.own(scope, ast.Assert))
    return any(code in ast.unparse(test) for test in around + before)
