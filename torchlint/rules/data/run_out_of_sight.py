"""Whether code between two places may run what a variable holds without writing its name: functions see it, too."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from torchlint.rules.api import FUNCTIONS, GIVING_ITSELF, FileContext, Kind, operations, remembered
from torchlint.rules.evidence.called_definitions import Definitions, Frame
from torchlint.rules.evidence.reached_by_text import is_reached_by_text

_DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
_LATER = (*_DEFINITIONS, ast.Lambda, ast.GeneratorExp)
"""What is run later than where it stands, and sees the names around it."""
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)
_SHARING: tuple[type[ast.Global] | type[ast.Nonlocal], ...] = (ast.Global, ast.Nonlocal)
_SUSPENDING = (ast.Await, ast.Yield, ast.YieldFrom)

_QUIET_TORCH = re.compile(
    r"torch\.(nn\.init\.|nn\.(modules\.\w+\.)?[A-Z]|optim\.|cuda\.|backends\.|utils\.data\.|"
    r"(manual_seed|device|load|set_default_\w+)$)"
)
"""Names of torch that call nothing of the file."""
_QUIET_BUILTINS = frozenset(
    f"builtins.{word}"
    for word in "print len range isinstance hasattr type id str int float bool repr max min abs round open list tuple "
    "dict set zip enumerate super".split()
)
_LIBRARIES = re.compile(
    r"(numpy|math|random|os|sys|time|datetime|json|argparse|logging|warnings|copy|collections|pathlib|torchvision)\."
)
QUIET_METHODS = GIVING_ITSELF - {"apply"} | {"zero_grad"}
"""Methods of a module that compute nothing with it and give the module itself, or nothing."""


def may_be_run(word: str, nodes: Iterable[ast.AST], place: ast.AST, context: FileContext) -> bool:
    """Whether code may run what a name holds without naming it: by a function that sees the name, too.

    ``place`` is where the name is bound. A name that nothing else sees is run by nobody; for another one all calls
    must be of what is known to call nothing of the file.
    """
    uses = _uses_in_scopes_inside(word, place, context)
    if not uses and not _is_reached_otherwise(word, place, context):
        return False
    # what is done by the name itself has been looked at
    runners = _runners(uses, context) - {word}
    return not all(_is_quiet(each, word, runners, context) for each in nodes)


def _is_reached_otherwise(word: str, place: ast.AST, context: FileContext) -> bool:
    """Whether code elsewhere may find the name, or a function of the file by another way than to write it."""
    shared = (name for kind in _SHARING for each in context.nodes(kind) for name in each.names)
    if word in shared or is_reached_by_text(context.tree, context):
        return True
    return context.function_around(place) is None and context.other_texts.takes(word, by_star=True) is not None


def _uses_in_scopes_inside(word: str, place: ast.AST, context: FileContext) -> list[ast.Name]:
    """Return where functions and the like inside the scope of a name read it."""
    function = context.function_around(place)
    uses = (each for each in context.names_by_word().get(word, ()) if isinstance(each.ctx, ast.Load))
    return [each for each in uses if _is_inside(each, function, context)]


def _is_inside(use: ast.Name, function: ast.AST | None, context: FileContext) -> bool:
    inner = context.nearest(use, *_LATER)
    if inner is None or inner is function or (function is not None and function not in context.ancestors(inner)):
        return False
    scope = context.scope_that_binds(use)
    return scope is None or scope is (function or context.tree)


def _is_quiet(node: ast.AST, word: str, runners: frozenset[str], context: FileContext) -> bool:
    """Whether code calls nothing that may run what the name holds."""
    if isinstance(node, FUNCTIONS):
        return not node.decorator_list
    if context.inside(node, *_SUSPENDING):
        return False
    return runners.isdisjoint(_words(node, context)) and all(
        _is_harmless(each, word, context) for each in context.inside(node, ast.Call)
    )


def _is_harmless(call: ast.Call, word: str, context: FileContext) -> bool:
    """Whether a call runs no function that may see the name."""
    names = context.names(call.func)
    if names:
        return all(_is_of_a_library(each) for each in names) or _makes_an_object(call, context)
    match call.func:
        case ast.Attribute(value=ast.Name(id=module), attr="apply"):
            return _is_applied(call, module, word, context)
        case ast.Attribute(value=receiver, attr=method):
            return method in QUIET_METHODS or _is_on_data(call.func) or context.value(receiver).is_tensor
    return _makes_an_object(call, context) or _is_initialiser(call, word)


def _is_of_a_library(name: str) -> bool:
    if name in _QUIET_BUILTINS or name in operations().functions or name in operations().factories:
        return True
    return bool(_QUIET_TORCH.match(name) or _LIBRARIES.match(name))


def _is_on_data(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        if node.attr == "data":
            return True
        node = node.value
    return False


def _makes_an_object(call: ast.Call, context: FileContext) -> bool:
    """Whether a call makes an object of a class of the file; what it runs is told by the words in the class."""
    owner = Definitions(context).class_here(call.func)
    return owner is not None and not owner.decorator_list and not owner.keywords


def _is_applied(call: ast.Call, module: str, word: str, context: FileContext) -> bool:
    """Whether ``net.apply(f)`` runs no function that may see the name: another module is given one of the file's own.

    What that one runs is told by the words in it, as with a class.
    """
    if module == word:
        return True
    match call:
        case ast.Call(func=ast.Attribute(value=receiver), args=[ast.Name() as applied], keywords=[]):
            here = Definitions(context).function(applied, Frame(context.function_around(call) or context.tree))
            return here is not None and context.value(receiver).must(Kind.MODULE)
    return False


def _is_initialiser(call: ast.Call, word: str) -> bool:
    """Whether a call of a function of the file is given the module itself: ``init(net)``."""
    match call:
        case ast.Call(func=ast.Name(), args=[ast.Name(id=first), *_]):
            return first == word
    return False


# ---------------------------------------------------------------------- the words that lead to the name
def _runners(uses: list[ast.Name], context: FileContext) -> frozenset[str]:
    """Return the words of a file by which something may be run that stands in a scope of its own.

    A function with one of the given names in it, a class with such a method, a variable that was given one of them, and
    so on.
    """
    leading = _leading_words(context.tree, context)
    pending = [word for each in uses for word in _around(each, context)]
    found = set(pending)
    while pending:
        new = leading.get(pending.pop(), set()) - found
        found |= new
        pending += new
    return frozenset(found)


@remembered
def _leading_words(_: ast.Module, context: FileContext) -> dict[str, set[str]]:
    """Return for each word of a file those that lead to it: of definitions around it, and beside it in statements."""
    found: dict[str, set[str]] = defaultdict(set)
    names = ((each.id, each) for each in context.nodes(ast.Name) if isinstance(each.ctx, ast.Load))
    for word, node in (*names, *((each.attr, each) for each in context.nodes(ast.Attribute))):
        found[word].update(_around(node, context))
    return found


def _around(node: ast.AST, context: FileContext) -> Iterator[str]:
    """Yield the names of the definitions around a node, and of what the statement around it binds or puts it into."""
    for above in context.ancestors(node):
        if isinstance(above, _DEFINITIONS):
            yield above.name
            for decorator in above.decorator_list:
                yield from _words(decorator, context)
        elif isinstance(above, _SIMPLE):
            yield from _receivers(above, context)
        elif isinstance(above, ast.For):
            yield from _stored(above.target, context)
        elif isinstance(above, ast.withitem) and above.optional_vars is not None:
            yield from _stored(above.optional_vars, context)


def _receivers(statement: ast.stmt, context: FileContext) -> Iterator[str]:
    yield from _stored(statement, context)
    for call in context.inside(statement, ast.Call):
        if isinstance(call.func, ast.Attribute) and not context.qualified_names(call.func):
            yield from _path_words(call.func.value, context)


def _stored(node: ast.AST, context: FileContext) -> Iterator[str]:
    for each in context.inside(node, ast.Name):
        if isinstance(each.ctx, ast.Store):
            yield each.id
    targets: list[ast.Attribute | ast.Subscript] = [
        *context.inside(node, ast.Attribute),
        *context.inside(node, ast.Subscript),
    ]
    for target in targets:
        if isinstance(target.ctx, ast.Store):
            yield from _path_words(target, context)


def _path_words(node: ast.expr, context: FileContext) -> Iterator[str]:
    """Yield the words of the objects that a path leads through: of `self` and `kept` for ``self.kept[key]``."""
    while True:
        match node:
            case ast.Attribute(value=inner, attr=word):
                yield word
                node = inner
            case ast.Subscript(value=inner) | ast.Call(func=inner):
                node = inner
            case _:
                yield from _words(node, context)
                return


def _words(node: ast.AST, context: FileContext) -> Iterator[str]:
    yield from (each.id for each in context.inside(node, ast.Name))
    yield from (each.attr for each in context.inside(node, ast.Attribute))
