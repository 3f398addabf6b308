"""Where a file sets another default device: by call, or by ``with torch.device(...):``."""

from __future__ import annotations

import ast

from torchlint.facts.value import Device
from torchlint.inference.models.devices import last_word_of_name, place_named
from torchlint.inference.program.default_setters import imported, makes_device
from torchlint.syntax.ast_index import AstIndex

_SETS_TYPE = "set_default_tensor_type"
_SETS_DEFAULT_DEVICE = frozenset({"set_default_device", _SETS_TYPE})


def may_be_changed(index: AstIndex, before: ast.AST) -> bool:
    """Whether a file may have set another default device when a place is reached.

    What the module itself does above all of these has been done before.
    """
    changes = index.told(_changes, index.tree)
    last = _last_line_run_before(before, index) if changes else None
    return bool(changes) if last is None else any(each.lineno <= last for each in changes)


def _changes(index: AstIndex, _: ast.Module) -> tuple[ast.expr, ...]:
    setters = (node for node in index.nodes(ast.Attribute) if node.attr in _SETS_DEFAULT_DEVICE)
    changes: list[ast.expr] = [each for each in setters if not _sets_the_host(each, index.parents.get(each))]
    contexts = (item.context_expr for node in index.nodes(ast.With) for item in node.items)
    entered = [each for each in contexts if isinstance(each, ast.Call) and last_word_of_name(each) == "device"]
    modules = dict(imported(index)) if entered else {}
    return (*changes, *(each for each in entered if makes_device(each.func, modules)))


def _last_line_run_before(node: ast.AST, index: AstIndex) -> int | None:
    """Return the last line that may have been run before code of the module: in a loop, all of that.

    None in a function, which runs whenever it is called.
    """
    last = 0
    above: ast.AST | None = node
    while isinstance(above, ast.expr | ast.stmt | ast.comprehension | ast.keyword):
        if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.GeneratorExp):
            return None
        if not last or isinstance(above, ast.For | ast.AsyncFor | ast.While):
            last = getattr(above, "end_lineno", None) or 0
        above = index.parents.get(above)
    return last if isinstance(above, ast.Module) else None


def _sets_the_host(setter: ast.Attribute, call: ast.AST | None) -> bool:
    """Whether the host is made the default, as ``torch.set_default_tensor_type(torch.DoubleTensor)`` does."""
    of_type = setter.attr == _SETS_TYPE
    match call:
        case ast.Call(func=function, args=[ast.Constant(value=str(text))], keywords=[]) if function is setter:
            return text.count(".") == 1 if of_type else place_named(text) == Device.HOST
        case ast.Call(func=function, args=[ast.Attribute(value=ast.Name(id=package), attr=word)], keywords=[]):
            return of_type and function is setter and package != "cuda" and word.endswith("Tensor")
    return False
