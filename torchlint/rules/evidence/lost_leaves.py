"""Where something is made of a leaf, a parameter or a tensor that asks for its gradient, and kept in its place.

Only leaves are trained: a module registers a `Parameter` alone, and an optimizer refuses what was computed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from torchlint.rules.api import FileContext, Function, Kind, Mode
from torchlint.rules.evidence.called_definitions import bind
from torchlint.rules.evidence.calls_in_sight import called_in_sight, calls_of
from torchlint.rules.evidence.leaf_changes import CASTS, MOVES, does_nothing, is_sure

_REMAKING = frozenset(
    "unsqueeze squeeze view reshape flatten expand repeat transpose permute t clone mul div add sub pow exp log sqrt "
    "abs neg sigmoid tanh softmax clamp".split()
)
"""Methods that give another tensor of a leaf, whatever that holds."""
_DEEPEST = 3
"""How many names and functions may stand between a leaf and what keeps it."""
_JOINING = frozenset({"builtins.list", "builtins.tuple", "itertools.chain"})
"""Functions that make one sequence of the tensors that an optimizer is given."""


@dataclass(frozen=True, slots=True)
class LostLeaf:
    """What makes another tensor of a leaf, how sure that is, and what keeps that tensor."""

    step: ast.expr
    """The call or the arithmetic."""
    method: str | None
    is_sure: bool
    kept: ast.expr
    is_given_to_optimizer: bool
    file: FileContext
    """The file of what keeps it."""


@dataclass(frozen=True, slots=True)
class _Walk:
    """A leaf, what it is made of, and whether a module would register it."""

    data: ast.expr
    is_parameter: bool
    context: FileContext

    def follow(
        self, node: ast.expr, step: LostLeaf | None, depth: int, caller: ast.Call | None = None
    ) -> Iterator[LostLeaf]:
        """Yield where what a leaf has become is kept; ``caller`` handed it to the function that is looked at."""
        above = self.context.parent(node)
        match above:
            case ast.Attribute(attr=method) if isinstance(call := self.context.parent(above), ast.Call):
                if call.func is above:
                    yield from self._called(call, method, step, depth, caller)
            case ast.BinOp():
                yield from self.follow(above, step or self._step(above, None, sure=True), depth, caller)
            case ast.Assign(targets=[ast.Name() as name], value=value) if value is node and depth:
                yield from self._named(name, step, depth - 1, caller)
            case ast.Return() if depth:
                for file, each in [(self.context, caller)] if caller is not None else self._calls(above):
                    if file is self.context or step is not None:
                        yield from replace(self, context=file).follow(each, step, depth - 1)
            case ast.Call() if depth and (argument := self._argument(node, above)) is not None:
                yield from self._handed(*argument, above, step, depth - 1)
            case ast.Assign(targets=[ast.Attribute() as target], value=value) if value is node and step is not None:
                yield from self._kept(target, step)
            case ast.List() | ast.Tuple() | ast.Dict() | ast.Call() | ast.keyword() if step is not None:
                if self._is_of_optimizer(node):
                    yield replace(step, kept=node, is_given_to_optimizer=True, file=self.context)

    def _called(
        self, call: ast.Call, method: str, step: LostLeaf | None, depth: int, caller: ast.Call | None
    ) -> Iterator[LostLeaf]:
        if method in MOVES or method in CASTS:
            if method == "type" and not call.args:
                return
            if step is None and not does_nothing(call, method, self.data, self.context):
                step = self._step(call, method, sure=is_sure(method, self.data, self.context))
        elif method in _REMAKING:
            step = step or self._step(call, method, sure=True)
        elif method != "requires_grad_":
            return
        yield from self.follow(call, step, depth, caller)

    def _step(self, node: ast.expr, method: str | None, *, sure: bool) -> LostLeaf | None:
        """Return a step that makes another tensor; where nothing is recorded, it makes another leaf."""
        if self.context.mode(node) == Mode.OFF:
            return None
        return LostLeaf(node, method, sure, node, False, self.context)

    def _calls(self, returning: ast.stmt) -> Iterator[tuple[FileContext, ast.Call]]:
        """Yield the calls by which the project asks a function for what it returns, each with its file."""
        function = self.context.function_around(returning)
        if isinstance(function, ast.FunctionDef) and not function.decorator_list:
            yield from calls_of(function, self.context)

    def _argument(self, node: ast.expr, call: ast.Call) -> tuple[Function, str] | None:
        """Return the function of the file that a leaf is handed to, and the name that it has there."""
        function = called_in_sight(call, self.context) if call.func is not node else None
        if function is None:
            return None
        is_method = isinstance(self.context.parent(function), ast.ClassDef)
        names = (word for word, each in bind(call, function, method=is_method).items() if each is node)
        word = next(names, None)
        return (function, word) if word is not None else None

    def _handed(
        self, function: Function, word: str, call: ast.Call, step: LostLeaf | None, depth: int
    ) -> Iterator[LostLeaf]:
        """Yield where a function keeps what it is handed, or whoever is given what it returns of that."""
        names = [each for each in self.context.own(function, ast.Name) if each.id == word]
        if all(isinstance(each.ctx, ast.Load) for each in names):
            for each in names:
                yield from self.follow(each, step, depth, call)

    def _named(self, name: ast.Name, step: LostLeaf | None, depth: int, caller: ast.Call | None) -> Iterator[LostLeaf]:
        """Yield where what a name stands for is kept."""
        reached = self._uses(name)
        for use, _ in reached:
            others = [places for each, places in reached if each is not use and not self._is_initialised(each)]
            is_alone = step is not None or all(len(places) > 1 for places in others)
            for each in self.follow(use, step, depth, caller):
                if each.is_given_to_optimizer or is_alone:
                    yield each

    def _is_initialised(self, use: ast.Name) -> bool:
        """Whether a use only writes the first numbers of a parameter: ``nn.init.xavier_normal_(weight)``."""
        call = self.context.parent(use)
        names = self.context.names(call.func) if isinstance(call, ast.Call) else frozenset()
        return bool(names) and all(each.startswith("torch.nn.init.") for each in names)

    def _uses(self, name: ast.Name) -> list[tuple[ast.Name, list[ast.Name | ast.arg]]]:
        """Return where a name may stand for what it is bound to at one place, each with all such places."""
        context = self.context
        around = context.function_around(name)
        loads = (each for each in context.names_by_word().get(name.id, []) if isinstance(each.ctx, ast.Load))
        near = (each for each in loads if context.function_around(each) is around)
        return [(each, places) for each in near if name in (places := context.reaching(each))]

    def _kept(self, target: ast.Attribute, step: LostLeaf) -> Iterator[LostLeaf]:
        """Yield what keeps a tensor in an attribute: a module, or an object that gives it to an optimizer."""
        if self.context.value(target.value).must(Kind.MODULE):
            if self.is_parameter:
                yield replace(step, kept=target, file=self.context)
        else:
            same = self._same_attribute(target)
            is_only = [each for each in same if isinstance(each.ctx, ast.Store)] == [target]
            given = (
                each for each in same if is_only and isinstance(each.ctx, ast.Load) and self._is_of_optimizer(each)
            )
            yield from (replace(step, kept=each, is_given_to_optimizer=True, file=self.context) for each in given)

    def _same_attribute(self, target: ast.Attribute) -> list[ast.Attribute]:
        """Return where the methods of a class have the same words for an attribute."""
        context = self.context
        owner = context.nearest(target, ast.ClassDef)
        named = (each for each in context.attributes_by_word()[target.attr] if owner in list(context.ancestors(each)))
        return [each for each in named if ast.unparse(each) == ast.unparse(target)] if owner is not None else []

    def _is_of_optimizer(self, node: ast.expr, is_list: bool = False) -> bool:
        """Whether an expression is one of the tensors that an optimizer is made for, or is a list that holds one."""
        below: ast.AST = node
        for above in self.context.ancestors(node):
            match above:
                case ast.Call(func=function, args=given):
                    names = self.context.names(function)
                    if names and all(each.startswith("torch.optim.") for each in names):
                        return (is_list or below is not node) and (below in given[:1] or isinstance(below, ast.keyword))
                    if not names or not names <= _JOINING:
                        return False
                    below = above
                case ast.List() | ast.Tuple() | ast.Dict() | ast.Starred() | ast.BinOp(op=ast.Add()):
                    below = above
                case ast.keyword(arg="params") if is_list or below is not node:
                    below = above
                case ast.Assign(targets=[ast.Name() as name]) if not is_list and below is not node:
                    return any(self._is_of_optimizer(each, is_list=True) for each, _ in self._uses(name))
                case _:
                    return False
        return False


def lost_leaf(leaf: ast.expr, data: ast.expr, context: FileContext, *, is_parameter: bool) -> LostLeaf | None:
    """Return what makes another tensor of a leaf that is kept in its place; None where nothing does."""
    return next(_Walk(data, is_parameter, context).follow(leaf, None, _DEEPEST), None)
