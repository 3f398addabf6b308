"""Projects run before and after `--fix`: an error that a future keeps, `finally` drops or an example expects."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike

ARRAYS = "import torch\n\n\ndef to_array(x: torch.Tensor):\n    return x.numpy()\n"
HEAD = "import torch\nfrom arrays import to_array\n\nweight = torch.ones(2, requires_grad=True)\n"
POOL = "from concurrent.futures import ThreadPoolExecutor\n\nwith ThreadPoolExecutor(1) as pool:\n    print({})\n"
TASKS = """
import asyncio


async def one():
    return to_array({})


async def run():
    return await asyncio.gather(one(){})


print([type(each) for each in asyncio.run(run())])
"""
FINALLY = """
def run(function, *given):
    try:
        return function(*given)
    finally:
        {}


print(run(to_array, {}))
"""
LOOP = """
for each in range(2):
    try:
        print(to_array({}))
    finally:
        {}
"""
HANDLER = """
def run(function, *given):
    try:
        return function(*given)
    except RuntimeError:
        {}
        raise


print(run(to_array, {}))
"""
STACK = """
import contextlib

stack = contextlib.ExitStack()
with stack:
    stack.{}
    print(to_array({}))
"""
EXAMPLE = """
import doctest


def shown():
    '''
    >>> to_array({})
    {}
    '''


print(doctest.testmod().failed)
"""
RAISED = (
    "Traceback (most recent call last):\n"
    "    RuntimeError: Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
)
LAMBDA = """
shown = lambda x: to_array(x)
try:
    print(shown({}))
except {}:
    print("is trained")
"""
TABLE = LAMBDA.replace("shown = lambda x: to_array(x)", "ways = {{'a': to_array}}").replace("shown(", "ways['a'](")
THREAD = """
import threading

threading.excepthook = lambda each: print(each.exc_type)
each = threading.Thread(target={}, args=({},))
each.start()
each.join()
"""
CLASS = """
import threading

threading.excepthook = lambda each: print(each.exc_type)


class Worker({}):
    def run(self):
        to_array({})


each = Worker()
each.{}()
"""
DETACHED = "weight.detach()"
RAISING = {
    "a pool": POOL.format("list(pool.map(to_array, [weight.detach()]))"),
    "a task": TASKS.format(DETACHED, ""),
    "finally": FINALLY.format("print('done')", DETACHED),
    "a loop in finally": LOOP.format(DETACHED, "for _ in [1]:\n            continue"),
    "a handler": HANDLER.format("print('noted')", DETACHED),
    "a stack": STACK.format("enter_context(torch.no_grad())", DETACHED),
    "an example": EXAMPLE.format(DETACHED, "array([1., 1.], dtype=float32)"),
    "an example of another error": EXAMPLE.format(
        "missing", "Traceback (most recent call last):\n    NameError: name 'missing' is not defined"
    ),
    "a lambda": LAMBDA.format(DETACHED, "KeyError"),
    "a table": TABLE.format(DETACHED, "KeyError"),
    "a thread": THREAD.format("print", "to_array(weight.detach())"),
    "a class that runs": CLASS.format("object", DETACHED, "run"),
}
KEEPING = {
    "a pool": POOL.format("type(pool.submit(to_array, weight).exception())"),
    "a task": TASKS.format("weight", ", return_exceptions=True"),
    "finally": FINALLY.format("return None", "weight"),
    "finally in a loop": LOOP.format("weight", "continue"),
    "a handler": HANDLER.format("if given: return None", "weight"),
    "a stack": STACK.format("push(lambda *_: True)", "weight"),
    "a stack of contexts": STACK.format("enter_context(contextlib.suppress(RuntimeError))", "weight"),
    "an example": EXAMPLE.format("weight", RAISED),
    "a lambda": LAMBDA.format("weight", "RuntimeError"),
    "a table": TABLE.format("weight", "RuntimeError"),
    "a thread": THREAD.format("to_array", "weight"),
    "a class that runs": CLASS.format("threading.Thread", "weight", "start"),
}


@pytest.mark.parametrize("way", RAISING)
def test_an_error_that_nothing_keeps_is_repaired(tmp_path: Path, way: str) -> None:
    changed = check_runs_alike(tmp_path, {"arrays.py": ARRAYS, "main.py": HEAD + RAISING[way]}, "arrays.py")
    assert changed == {"arrays.py": ARRAYS.replace("x.numpy()", "x.detach().cpu().numpy()")}


@pytest.mark.parametrize("way", KEEPING)
def test_an_error_that_something_keeps_stays(tmp_path: Path, way: str) -> None:
    assert check_runs_alike(tmp_path, {"arrays.py": ARRAYS, "main.py": HEAD + KEEPING[way]}, "arrays.py") == {}
