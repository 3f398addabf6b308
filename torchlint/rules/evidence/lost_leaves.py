"""Where something is made of a leaf, a parameter or a tensor that asks for its gradient, and kept in its place.

Only leaves are trained: a module registers a `Parameter` alone, and an optimizer refuses what was computed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchlint.rules.api import FileContext, Kind, Mode
from torchlint.rules.evidence.leaf_changes import CASTS, MOVES, does_nothing, is_sure

_REMAKING = frozenset(
    "unsqueeze squeeze view reshape flatten expand repeat transpose permute t clone mul div add sub pow exp log sqrt "
    "abs neg sigmoid tanh softmax clamp".split()
)
"""Methods that give another tensor of a leaf, whatever that holds."""
_DEEPEST = 3
"""How many names may stand between a leaf and what keeps it."""


@dataclass(frozen=True, slots=True)
class LostLeaf:
    """What makes another tensor of a leaf, how sure that is, and what keeps that tensor."""

    step: ast.expr
    """The call or the arithmetic."""
    method: str | None
    is_sure: bool
    kept: ast.expr
    is_given_to_optimizer: bool


@dataclass(frozen=True, slots=True)
class _Walk:
    """A leaf, what it is made of, and whether a module would register it."""

    data: ast.expr
    is_parameter: bool
    context: FileContext

    def follow(self, node: ast.expr, step: LostLeaf | None, depth: int) -> Iterator[LostLeaf]:
        """Yield where what a leaf has become is kept."""
        above = self.context.parent(node)
        match above:
            case ast.Attribute(attr=method) if isinstance(call := self.context.parent(above), ast.Call):
                if call.func is above:
                    yield from self._called(call, method, step, depth)
            case ast.BinOp():
                yield from self.follow(above, step or self._step(above, None, sure=True), depth)
            case ast.Assign(targets=[ast.Name() as name], value=value) if value is node and depth:
                yield from self._named(name, step, depth - 1)
            case ast.Assign(targets=[ast.Attribute() as target], value=value) if value is node and step is not None:
                yield from self._kept(target, step)
            case ast.List() | ast.Tuple() | ast.Dict() | ast.Call() | ast.keyword() if step is not None:
                if self._is_of_optimizer(node):
                    yield LostLeaf(step.step, step.method, step.is_sure, node, True)

    def _called(self, call: ast.Call, method: str, step: LostLeaf | None, depth: int) -> Iterator[LostLeaf]:
        if method in MOVES or method in CASTS:
            if method == "type" and not call.args:
                return
            if step is None and not does_nothing(call, method, self.data, self.context):
                step = self._step(call, method, sure=is_sure(method, self.data, self.context))
        elif method in _REMAKING:
            step = step or self._step(call, method, sure=True)
        elif method != "requires_grad_":
            return
        yield from self.follow(call, step, depth)

    def _step(self, node: ast.expr, method: str | None, *, sure: bool) -> LostLeaf | None:
        """Return a step that makes another tensor; where nothing is recorded, it makes another leaf."""
        if self.context.mode(node) == Mode.OFF:
            return None
        return LostLeaf(node, method, sure, node, False)

    def _named(self, name: ast.Name, step: LostLeaf | None, depth: int) -> Iterator[LostLeaf]:
        """Yield where what a name stands for is kept."""
        context = self.context
        around = context.function_around(name)
        uses = [
            each
            for each in context.names_by_word().get(name.id, [])
            if isinstance(each.ctx, ast.Load) and context.function_around(each) is around
        ]
        reached = [(each, places) for each in uses if name in (places := context.reaching(each))]
        for use, _ in reached:
            others = [places for each, places in reached if each is not use]
            is_alone = step is not None or all(len(places) > 1 for places in others)
            for each in self.follow(use, step, depth):
                if each.is_given_to_optimizer or is_alone:
                    yield each

    def _kept(self, target: ast.Attribute, step: LostLeaf) -> Iterator[LostLeaf]:
        """Yield what keeps a tensor in an attribute: a module, or an object that gives it to an optimizer."""
        if self.context.value(target.value).must(Kind.MODULE):
            if self.is_parameter:
                yield LostLeaf(step.step, step.method, step.is_sure, target, False)
        else:
            same = self._same_attribute(target)
            is_only = [each for each in same if isinstance(each.ctx, ast.Store)] == [target]
            given = (
                each for each in same if is_only and isinstance(each.ctx, ast.Load) and self._is_of_optimizer(each)
            )
            yield from (LostLeaf(step.step, step.method, step.is_sure, each, True) for each in given)

    def _same_attribute(self, target: ast.Attribute) -> list[ast.Attribute]:
        """Return where the methods of a class have the same words for an attribute."""
        context = self.context
        owner = next((each for each in context.ancestors(target) if isinstance(each, ast.ClassDef)), None)
        named = (each for each in context.attributes_by_word()[target.attr] if owner in list(context.ancestors(each)))
        return [each for each in named if ast.unparse(each) == ast.unparse(target)] if owner is not None else []

    def _is_of_optimizer(self, node: ast.expr) -> bool:
        """Whether an expression is one of the tensors that an optimizer is made for."""
        below: ast.AST = node
        for above in self.context.ancestors(node):
            match above:
                case ast.Call(func=function, args=[first, *_]) if first is below:
                    names = self.context.names(function)
                    return below is not node and bool(names) and all(each.startswith("torch.optim.") for each in names)
                case ast.List() | ast.Tuple() | ast.Dict():
                    below = above
                case _:
                    return False
        return False


def lost_leaf(leaf: ast.expr, data: ast.expr, context: FileContext, *, is_parameter: bool) -> LostLeaf | None:
    """Return what makes another tensor of a leaf that is kept in its place; None where nothing does."""
    return next(_Walk(data, is_parameter, context).follow(leaf, None, _DEEPEST), None)
