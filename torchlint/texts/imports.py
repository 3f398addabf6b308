"""Names: what imports bind, and the one spelling under which a thing of torch is known here."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import lru_cache

from torchlint.facts.value import Kind, Value, of_kind
from torchlint.syntax.ast_index import AstIndex

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
