"""Names: what imports bind, and the one spelling under which a thing of torch is known here."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator
from functools import lru_cache

from torchlint.facts.value import Kind, Value, of_kind
from torchlint.syntax.ast_index import AstIndex
from torchlint.syntax.places import root_of_place

BUILTINS = frozenset(dir(builtins))

CHANGING = frozenset(["append", "appendleft", "add", "insert", "extend", "update", "setdefault"])
"""Methods that put something into what a name or an attribute holds."""

_CANONICAL = {
    "torch.autograd.variable.Variable": "torch.autograd.Variable",
    "torch.nn.parameter.Parameter": "torch.nn.Parameter",
    "torch.nn.modules.module.Module": "torch.nn.Module",
    "torch.nn.modules.Module": "torch.nn.Module",
    "torch.tensor.Tensor": "torch.Tensor",
    "torch._tensor.Tensor": "torch.Tensor",
    "torch.autograd.no_grad": "torch.no_grad",
    "torch.autograd.enable_grad": "torch.enable_grad",
    "torch.autograd.set_grad_enabled": "torch.set_grad_enabled",
    "torch.autograd.inference_mode": "torch.inference_mode",
    "torch.utils.data.dataloader.DataLoader": "torch.utils.data.DataLoader",
}

_PREFIXES = (
    ("torch.nn.modules.", "torch.nn."),
    ("torch.nn.utils.clip_grad.", "torch.nn.utils."),
    ("torch.autograd.grad_mode.", "torch."),
    ("pytorch_lightning.", "lightning."),
    ("lightning.pytorch.", "lightning."),
)


def canonical(name: str) -> str:
    """Return the one spelling of a dotted name: ``torch.autograd.variable.Variable`` is ``torch.autograd.Variable``."""
    if name in _CANONICAL:
        return _CANONICAL[name]
    for prefix, short in _PREFIXES:
        if name.startswith(prefix):
            rest = name[len(prefix) :]
            if short == "torch.nn.":  # torch.nn.modules.linear.Linear
                return short + rest.rpartition(".")[2] if rest else name
            return short + rest
    return name


@lru_cache(maxsize=4096)
def named(name: str) -> Value:
    """Return the value of something imported."""
    return of_kind(Kind.OTHER, names=frozenset((canonical(name),)))


def import_bindings(
    statement: ast.Import | ast.ImportFrom, known: Callable[[str], str | None] = lambda _: None
) -> Iterator[tuple[str, Value]]:
    """Yield each name that an import statement binds and what it stands for.

    ``known`` gives the project's own name of a module, None for others. Relative modules that are not found keep their
    dots: ``from .nets import Net`` binds ``.nets.Net``.
    """
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            module = alias.name if alias.asname else alias.name.partition(".")[0]
            yield alias.asname or module, named(known(module) or module)
        return
    module = spelled(statement)
    own = known(module)
    for alias in statement.names:
        if alias.name != "*":
            joint = "" if module.endswith(".") or not module else "."
            yield alias.asname or alias.name, named(f"{own}.{alias.name}" if own else f"{module}{joint}{alias.name}")


def spelled(statement: ast.ImportFrom) -> str:
    """Return the module of ``from module import ...`` with its leading dots."""
    return "." * statement.level + (statement.module or "")


def imported_modules(index: AstIndex) -> Iterator[str]:
    """Yield the modules that a file may import: of ``from a import b`` both ``a`` and ``a.b``."""
    for plain in index.nodes(ast.Import):
        yield from (alias.name for alias in plain.names)
    for node in index.nodes(ast.ImportFrom):
        module = spelled(node)
        yield module
        joint = "" if module.endswith(".") or not module else "."
        yield from (f"{module}{joint}{alias.name}" for alias in node.names)


def star_imports(index: AstIndex, _: ast.Module) -> tuple[ast.ImportFrom, ...]:
    """Return the import statements of a file that take everything from a module."""
    return tuple(node for node in index.nodes(ast.ImportFrom) if node.names[0].name == "*")


def path_of(node: ast.expr) -> str | None:
    """Spell a place that flow can follow: ``x``, ``self.net``, ``batch['image']``, ``out[0]``; None for others."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = node.value
        root = inner.id if isinstance(inner, ast.Name) else path_of(inner)
        return f"{root}.{node.attr}" if root else None
    match node:
        case ast.Subscript(value=base, slice=ast.Constant(value=str() | int() as key)) if not isinstance(key, bool):
            root = path_of(base)
            return f"{root}[{key!r}]" if root else None
        case ast.Starred(value=inner):
            return path_of(inner)
    return None


CHANGES = (ast.Call, ast.Subscript, ast.Attribute)
"""The types of the nodes that may change a value in place."""

_WRITING = {ast.Subscript: (ast.Store, ast.Del), ast.Attribute: (ast.Store,)}


def is_in_place(method: str) -> bool:
    """Whether a method writes into its object by its name, as torch's do: ``add_``, but not ``__add__``."""
    return method.endswith("_") and not method.endswith("__")


def changed_in_place(node: ast.AST) -> ast.Name | None:
    """Return the name whose value a node changes, if it does: ``x`` for ``x.y[0] = z`` and for ``x.add_(y)``."""
    if isinstance(node, ast.Call):
        if not isinstance(node.func, ast.Attribute):
            return None
        word = node.func.attr
        if word not in CHANGING and not is_in_place(word):
            return None
        inner = node.func.value
    elif isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, _WRITING[type(node)]):
        inner = node.value
    else:
        return None
    root = root_of_place(inner)
    return root if isinstance(root, ast.Name) else None
