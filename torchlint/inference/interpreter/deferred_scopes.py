"""What lambdas and generators know of the names around them: what these are once they are run.

``batches = (torch.Tensor(size) for _ in range(n))`` asks for ``size`` when somebody goes through ``batches``: the
function around may have rebound it by then, and so may the next round of a loop.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.facts.value import UNKNOWN, Mode
from torchlint.inference.interpreter.closures import widened
from torchlint.inference.program.bindings import BINDING, Loop, bound_otherwise, declared, loaded, naming, own, written
from torchlint.inference.program.run_later import is_deferred
from torchlint.syntax.ast_index import AstIndex, Function

if TYPE_CHECKING:
    from torchlint.inference.interpreter.environment import Env
    from torchlint.inference.interpreter.file_scope import File

PutOff = ast.Lambda | ast.GeneratorExp


def scope_of(node: ast.expr, env: Env, mode: Mode, file: File) -> Env:
    """Begin the scope of a comprehension or a lambda; in what is run later, names may be something else by then."""
    inner, index = env.inner_scope(mode), file.index
    if not isinstance(node, PutOff) or file.project.presuming:
        return inner
    if not is_deferred(node, index.parents.get, index.told(bound_otherwise, index.tree)):
        return inner
    rebound, changed = index.told(_changing, node)
    for word in index.told(loaded, node):
        value = inner.find(word)
        if word in rebound:
            inner.assign(word, UNKNOWN)
        elif value is not None:  # of its parts nothing is kept, which anybody may set
            inner.assign(word, widened(value) if word in changed else value)
    return inner


def _changing(index: AstIndex, node: PutOff) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names that are rebound behind a lambda or a generator, or in a loop around it, and changed ones."""
    start, around = index.start(node), index.owner(node) or index.tree
    for above in index.ancestors(node):
        if isinstance(above, Function):
            break
        if isinstance(above, Loop):
            start = index.start(above)
    inside = set(index.within(node))
    later = [each for each in index.told(written, around) if each not in inside and index.start(each) >= start]
    rebound = {each.id for each in later if isinstance(each.ctx, ast.Store)}
    rebound.update(_named(index, around, start), index.told(declared, index.tree))
    return frozenset(rebound), frozenset(each.id for each in later)


def _named(index: AstIndex, around: ast.AST, start: int) -> Iterator[str]:
    """Yield the names that statements without a node for them bind from an offset on: ``import x``, ``def x``."""
    for each in own(index, around, *BINDING):
        if index.start(each) >= start:  # type: ignore[arg-type]
            yield from naming(each)
