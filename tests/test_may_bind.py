"""Which files are not parsed for the question who rebinds a name: their bytes must show that they cannot."""

from __future__ import annotations

import pytest

from torchlint.inference.program.outside_uses import names_taken, uses_of
from torchlint.inference.program.source_files import text_and_tree
from torchlint.inference.program.use_signs import Signs, may_bind, may_change

BINDING = [
    "a.w = 1",
    "x.a.w: int = 3",
    "a.w += 1",
    "a.w **= 2",
    "a.w //= 2",
    "a.w <<= 1",
    "a.w, b = f()",
    "b, a.w = f()",
    "[a.w, b] = f()",
    "(a.w, b) = 1, 2",
    "(a.w,\n b) = 1, 2",
    "a . w = 1",
    "a.\\\nw = 1",
    "a[0].w = 1",
    "x = a.w = 3",
    "for a.w in x: pass",
    "for i, a.w in x: pass",
    "with f() as a.w: pass",
    "with f() as (a.w, b): pass",
    "del a.w",
    "patch('m.w')",
    "setattr(a, 'w', 1)",
    "setattr(a, name, 1)",
    "patch.object(a, 'w')",
    "vars(a)['w'] = 1",
    "a.__dict__['w'] = 1",
    "myself.w = 1",
]
READING = [
    "x = a.w",
    "a.w == 1",
    "f(a.w, b=1)",
    "for p in a.w: pass",
    "a.w.b = 1",
    "def f(self):\n    self.w = 1",
    "a.ww = 1",
    "w = 1",
    "if a.w <= 1: pass",
    "x = {a.w: 1}",
    "@a.w\ndef f(): pass",
]
CHANGING = [
    "m.w.forward = f",
    "m.w.forward, b = f, g",
    "from m import w as v\nv.forward = f",
    "import m.w as v\nv.forward = f",
    "del m.w.forward",
    "for m.w.forward in x: pass",
    "(m.w.forward,\n b) = f, g",
    "setattr(m.w, 'forward', f)",
    "patch('m.w.forward')",
]


@pytest.mark.parametrize("text", BINDING)
def test_a_file_that_binds_a_name_is_looked_at(text: str) -> None:
    raw = f"import a\n{text}\n".encode()
    assert may_bind(raw, "w", Signs.of(raw))


@pytest.mark.parametrize("text", READING)
def test_a_file_that_only_reads_a_name_is_not_looked_at(text: str) -> None:
    raw = f"import a\n{text}\n".encode()
    assert not may_bind(raw, "w", Signs.of(raw))


@pytest.mark.parametrize("text", CHANGING)
def test_a_file_that_sets_an_attribute_of_what_a_name_stands_for_is_looked_at(text: str) -> None:
    raw = f"import m\n{text}\n".encode()
    assert may_change(raw, "w", Signs.of(raw))


@pytest.mark.parametrize("text", READING)
def test_what_is_not_looked_at_binds_nothing_by_its_tree(text: str) -> None:
    raw = f"import a\n{text}\n".encode()
    taken = names_taken(raw, "w", Signs.of(raw), lambda: uses_of(text_and_tree("a.py", raw)))
    assert "a" not in taken.binds
    assert not taken.in_torch
