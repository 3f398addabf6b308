"""Patterns of ``match``: what they bind, and what they say of the subject."""

from __future__ import annotations

import ast
import builtins
from typing import cast

from torchlint.semantic.bound_names import bind, join
from torchlint.semantic.branch_tests import narrow_place
from torchlint.semantic.graph import ANYKEY, ATTR, CONST, INDEX, ITEM, OPAQUE, PI, Narrowing, Node, Span
from torchlint.semantic.lower_targets import key_of
from torchlint.semantic.lowering_state import Lowering


def is_irrefutable(pattern: ast.pattern) -> bool:
    """Whether a pattern fits everything."""
    if isinstance(pattern, ast.MatchOr):
        return is_irrefutable(pattern.patterns[-1])
    return isinstance(pattern, ast.MatchAs) and (pattern.pattern is None or is_irrefutable(pattern.pattern))


def lower_pattern(st: Lowering, pattern: ast.pattern, value: Node, place: ast.expr | None) -> None:
    """Bind what a pattern captures of a value; ``place`` is the variable that holds the value, if one does."""
    if isinstance(pattern, ast.MatchAs):
        if pattern.pattern is not None:
            value = _narrowed(st, pattern.pattern, value, place)
            lower_pattern(st, pattern.pattern, value, place)
        if pattern.name is not None:
            bind(st, pattern.name, value)
    elif isinstance(pattern, ast.MatchOr):
        before, ends = st.env, []
        for each in pattern.patterns:
            st.env = before.fork()
            lower_pattern(st, each, value, place)
            ends.append(st.env)
        join(st, ends)
    elif isinstance(pattern, ast.MatchSequence):
        _lower_sequence(st, pattern, value)
    elif isinstance(pattern, ast.MatchMapping):
        for key, each in zip(pattern.keys, pattern.patterns, strict=True):
            index, word = st.expr(key), key_of(key)
            ins = (value, index) if word is ANYKEY else (value,)
            lower_pattern(st, each, st.node(INDEX, ins, word, _at(each)), None)
        if pattern.rest is not None:
            bind(st, pattern.rest, value)
    else:
        value = _narrowed(st, pattern, value, place)
        if isinstance(pattern, ast.MatchClass):
            _lower_class(st, pattern, value)


def _lower_sequence(st: Lowering, pattern: ast.MatchSequence, value: Node) -> None:
    starred = [at for at, each in enumerate(pattern.patterns) if isinstance(each, ast.MatchStar)]
    for position, each in enumerate(pattern.patterns):
        if isinstance(each, ast.MatchStar):
            if each.name is not None:
                bind(st, each.name, st.node(ITEM, (value,), None, _at(each)))
            continue
        place = position if not starred or position < starred[0] else position - len(pattern.patterns)
        lower_pattern(st, each, st.node(ITEM, (value,), place, _at(each)), None)


def _lower_class(st: Lowering, pattern: ast.MatchClass, value: Node) -> None:
    is_builtin = isinstance(pattern.cls, ast.Name) and hasattr(builtins, pattern.cls.id)
    for each in pattern.patterns:  # of a type of Python the object itself, else what ``__match_args__`` says
        lower_pattern(st, each, value if is_builtin else st.node(OPAQUE, (), None, _at(each)), None)
    for word, each in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
        lower_pattern(st, each, st.node(ATTR, (value,), word, _at(each)), None)


def _narrowed(st: Lowering, pattern: ast.pattern, value: Node, place: ast.expr | None) -> Node:
    """Return a value as a pattern that is a class or constant leaves it."""
    if isinstance(pattern, ast.MatchClass):
        narrowing = Narrowing("isinstance", True, st.expr(pattern.cls))
    elif isinstance(pattern, ast.MatchSingleton):
        constant = st.node(CONST, (), pattern.value, _at(pattern))
        narrowing = Narrowing("none", True) if pattern.value is None else Narrowing("equals", True, constant)
    elif isinstance(pattern, ast.MatchValue) and (made := st.expr(pattern.value)).op == CONST:
        narrowing = Narrowing("equals", True, made)
    else:
        return value
    variable = narrow_place(st, place, narrowing, _at(pattern)) if place is not None else None
    return variable if variable is not None else st.node(PI, (value,), narrowing, _at(pattern))


def _at(pattern: ast.pattern) -> Span:
    return cast(Span, pattern)  # its ends are never None, which the protocol of expressions allows
