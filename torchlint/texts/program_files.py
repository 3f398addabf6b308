"""Whether a file is a program: whether it does something when it is run or read, and whether it lies in a package."""

from __future__ import annotations

import ast
import os

from torchlint.syntax.ast_index import FUNCTIONS
from torchlint.syntax.places import root_of_name, word_of


def is_guarded(tree: ast.Module) -> bool:
    """Whether a module does something only where it is run: it has a ``__main__`` guard."""
    return any(
        isinstance(each, ast.If) and "__main__" in ast.dump(each.test) and "__name__" in ast.dump(each.test)
        for each in tree.body
    )


def is_in_package(path: str) -> bool:
    """Whether a file lies beside an ``__init__.py``."""
    return os.path.isfile(os.path.join(os.path.dirname(path), "__init__.py"))


def runs_itself(tree: ast.Module) -> bool:
    """Whether a module runs what it defines when it is read: ``main()``, ``print(train(args))``, ``net(x).backward()``.

    What is only kept, as in ``LIMITS = limits()``, and what decorates is done by modules that others import, too.
    """
    own = {each.name for each in tree.body if isinstance(each, (*FUNCTIONS, ast.ClassDef))}
    run: list[ast.stmt] = []
    waiting = [*tree.body]
    while waiting:
        match waiting.pop():
            case ast.Expr() | ast.For() | ast.While() as statement:
                run.append(statement)
            case ast.If() | ast.With() | ast.Try() as block:
                waiting += (each for each in ast.iter_child_nodes(block) if isinstance(each, ast.stmt))
            case ast.Assign(targets=[ast.Name(id=word)], value=ast.Call(func=ast.Name(id=made))) if made in own:
                own.add(word)
    calls = (node for each in run for node in ast.walk(each) if isinstance(node, ast.Call))
    return any(word_of(root_of_name(each.func)) in own for each in calls)
