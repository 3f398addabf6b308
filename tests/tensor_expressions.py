"""Expressions over tensors as graph nodes, and an asker that evaluates them by the models of torch alone.

What the models say can so be held against what torch does with the same text.
"""

from __future__ import annotations

import ast
from typing import Any, Final

from torchlint.models import operator_results, tensor_results
from torchlint.models.descent import constant, descend
from torchlint.semantic import graph as g
from torchlint.values import abstract as a
from torchlint.values.abstract import Abstract
from torchlint.values.asking import OFF, ON, CallSite, Oracle, Path
from torchlint.values.references import LibraryRef

FN: Final = g.FunctionGraph("f", None, None, None, None, 0)  # type: ignore[arg-type]  # it has no file


def node_of(tree: ast.expr, names: dict[str, Abstract]) -> g.Node:
    """Return the node of an expression; a name is a node whose data is its value."""

    def made(op: str, ins: tuple[g.Node, ...], data: object) -> g.Node:
        return g.Node(op, ins, data, tree, FN, None)

    def sub(each: ast.expr) -> g.Node:
        return node_of(each, names)

    match tree:
        case ast.Constant(value=value):
            return made(g.CONST, (), value)
        case ast.Name(id=word):
            known = names.get(word)
            return made(g.GLOBAL, (), word if known is None else known)
        case ast.Attribute(value=owner, attr=word):
            return made(g.ATTR, (sub(owner),), word)
        case ast.Tuple(elts=members) | ast.List(elts=members):
            return made(g.SEQUENCE, tuple(map(sub, members)), "tuple" if isinstance(tree, ast.Tuple) else "list")
        case ast.UnaryOp(op=op, operand=operand):
            return made(g.OPERATION, (sub(operand),), _UNARY[type(op)])
        case ast.BinOp(left=left, op=binary, right=right):
            return made(g.OPERATION, (sub(left), sub(right)), _BINARY[type(binary)])
        case ast.Compare(left=left, ops=[comparison], comparators=[right]):
            return made(g.TRUTH, (sub(left), sub(right)), _COMPARED[type(comparison)])
        case ast.Subscript(value=owner, slice=index):
            try:
                return made(g.INDEX, (sub(owner), sub(index)), ast.literal_eval(index))
            except (ValueError, TypeError):
                pass
            slices = index.elts if isinstance(index, ast.Tuple) else [index]
            if any(isinstance(each, ast.Slice) for each in slices):
                return made(g.INDEX, (sub(owner),), g.SLICE)
            return made(g.INDEX, (sub(owner), sub(index)), g.ANYKEY)
        case ast.Call(func=function, args=positional, keywords=keywords):
            given = g.CallArguments(
                tuple(map(sub, positional)),
                {str(each.arg): sub(each.value) for each in keywords},
                spelled=ast.unparse(function),
            )
            return made(g.CALL, (sub(function),), given)
    raise AssertionError(ast.dump(tree))


_UNARY: Final[dict[type, str]] = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}
_BINARY: Final[dict[type, str]] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
_COMPARED: Final[dict[type, str]] = {
    ast.Lt: "<",
    ast.Gt: ">",
    ast.LtE: "<=",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


class FakeAsker:
    """Evaluates the nodes of an expression; grad mode, oracle and default device are as the test says."""

    def __init__(self, mode: int = ON, oracle: Oracle = Oracle.STRICT, device: int = a.SAFE) -> None:
        self.grad_mode, self.oracle, self.device = mode, oracle, device

    def presumes(self, presumption: object) -> bool:
        return self.oracle is not Oracle.PROOF

    def value(self, node: g.Node, path: Path = (), context: object = None) -> Abstract:
        if isinstance(node.data, Abstract):
            return descend(node.data, path)
        if node.op == g.CONST:
            return descend(constant(node.data), path)
        if node.op == g.GLOBAL:
            name = "torch" if node.data == "torch" else f"builtins.{node.data}"
            return a.of_kind(a.OTHER, frozenset({LibraryRef(name)}))
        if node.op == g.SEQUENCE:
            if not path:
                return a.A_SEQUENCE
            chosen = [node.ins[path[0]]] if isinstance(path[0], int) else node.ins
            return a.join_all(self.value(each, path[1:]) for each in chosen)
        if node.op == g.ATTR:
            return self._attribute(node, path)
        if node.op == g.INDEX:
            owner = self.value(node.ins[0])
            if owner.kind == a.TENSOR:
                return tensor_results.subscripted(self, owner, node, path, None)
            return self.value(node.ins[0], (node.data if isinstance(node.data, int) else "*", *path))
        values = [self.value(each) for each in node.ins]
        if node.op == g.OPERATION:
            return descend(operator_results.arithmetic(self, values, str(node.data), node, None), path)
        if node.op == g.TRUTH:
            return descend(operator_results.comparison(self, values, node, None), path)
        assert node.op == g.CALL
        return self._call(node, path)

    def _attribute(self, node: g.Node, path: Path) -> Abstract:
        owner = self.value(node.ins[0])
        for each in owner.references:
            if isinstance(each, LibraryRef):
                bit = a.DTYPE_NAMES.get(str(node.data)) if each.name == "torch" else None
                if bit is not None:
                    return Abstract(a.DTYPE, 0, 0, bit, 0)
                return a.of_kind(a.OTHER, frozenset({LibraryRef(f"{each.name}.{node.data}")}))
        if owner.kind == a.SEQUENCE:
            return self.value(node.ins[0], (f".{node.data}", *path))
        return descend(tensor_results.tensor_attribute(owner, str(node.data), node), path)

    def _call(self, node: g.Node, path: Path) -> Abstract:
        site = CallSite(self, node, None)
        function = node.ins[0]
        if function.op == g.ATTR:
            owner = self.value(function.ins[0])
            if owner.kind == a.TENSOR:
                return tensor_results.tensor_method(site, owner, str(function.data), path)
        for each in self.value(function).references:
            if isinstance(each, LibraryRef):
                return tensor_results.torch_function(site, each.name, path)
        raise AssertionError(node.arguments.spelled)

    def mode(self, node: g.Node, context: object) -> int:
        return self.grad_mode

    def under(self, value: Abstract, node: g.Node, context: object) -> Abstract:
        if value.grad <= a.SAFE or self.grad_mode == ON:
            return value
        return value.detached() if self.grad_mode == OFF else value.but(grad=value.grad | a.SAFE)

    def default_device(self, node: g.Node, context: object) -> Abstract:
        return Abstract(a.DEVICE, 0, self.device, 0, 0)

    def default_dtype(self, node: g.Node, context: object) -> int:
        return a.FLOAT32

    def __getattr__(self, word: str) -> Any:
        raise AssertionError(f"the models of tensors asked for {word}")


def told(text: str, names: dict[str, Abstract], asker: FakeAsker, path: Path = ()) -> Abstract:
    """Return what the models say of an expression."""
    return asker.value(node_of(ast.parse(text, mode="eval").body, names), path)
