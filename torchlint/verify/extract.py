"""Copying a user's code into a fragment: what is on the list is copied, what is not becomes a name to be bound.

The copy is made of new nodes only, so nothing gets into a fragment that was not looked at here.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterable
from dataclasses import dataclass

from torchlint.diagnostics.model import Edit
from torchlint.facts.value import OWN, Kind, Value
from torchlint.verify import allowed
from torchlint.verify.reading import FileText, RefusedError, form

_RESERVED = allowed.BUILTINS | allowed.ERRORS | {"torch", "numpy", "math", "case", "locals"}
_SURE = frozenset({"data", "shape", "dtype", "device", "grad", "T", "is_cuda", "requires_grad", "ndim", "is_leaf"})
"""Attributes that speak for a tensor where nothing is known of the object."""
_OF_MODULES = frozenset(
    {"parameters", "named_parameters", "state_dict", "to", "cuda", "cpu", "eval", "train", "zero_grad"}
    | {"float", "double", "half", "type", "requires_grad_"}
)
_CONTEXTS = frozenset({"torch.no_grad", "torch.enable_grad", "torch.inference_mode", "torch.set_grad_enabled"})
_NOTHING = Kind.OTHER | Kind.NONE


@dataclass(frozen=True)
class Hole:
    """A free name of a fragment: what it stands for in the user's code, what is known of it, and how it is used."""

    name: str
    code: str
    value: Value
    use: str
    row: int = 0
    new: bool = False
    """Whether the rule found that no graph can hold it: it belongs to a module that is being built."""


class Cutter:
    """Copies statements and expressions of one state of a file.

    ``holes`` are the names that the copy asks for; a cutter that is ``given`` them makes no others.
    """

    def __init__(self, reading: FileText, edits: tuple[Edit, ...], given: dict[str, Hole] | None = None) -> None:
        self._reading = reading
        self._edits = edits
        self._given = given
        self.holes: dict[str, Hole] = {}
        self.bound: dict[str, str] = {}
        """The names of the fragment by the code that was assigned: ``x``, ``self.weight``, ``state['step']``."""

    # ------------------------------------------------------------------ names
    def _named(self, code: str) -> str:
        word = code if code.isidentifier() else re.sub(r"\W+", "_", code).strip("_")[:40]
        if not word.isidentifier() or keyword.iskeyword(word) or word in _RESERVED or word.startswith("_"):
            word = f"v_{word}"
        taken = {each.name for each in self.holes.values()} | set(self.bound.values())
        while word in taken:
            word += "_"
        return word

    def _bind(self, code: str) -> ast.Name:
        if code in self.holes:
            self.bound[code] = self.holes[code].name
        elif code not in self.bound:
            self.bound[code] = self._named(code)
        return ast.Name(self.bound[code], ast.Store())

    def _hole(self, node: ast.expr, use: str, refusal: RefusedError) -> ast.expr:
        if isinstance(node, ast.Starred) or self._reading.touched(node, self._edits):
            raise refusal
        code = self._reading.code(node)
        if code not in self.holes:
            if self._given is not None:
                if code not in self._given:
                    raise RefusedError(
                        f"the new text needs `{self._reading.brief(node)}`, which the old one does not name"
                    )
                self.holes[code] = self._given[code]
            else:
                value = self._reading.value(node)
                if not _bindable(value):
                    raise refusal
                self.holes[code] = Hole(self._named(code), code, value, use, node.lineno)
        return ast.Name(self.holes[code].name, ast.Load())

    # ------------------------------------------------------------------ expressions
    def expression(self, node: ast.expr, use: str = "argument") -> ast.expr:
        """Copy an expression, or put a name in its place.

        :raises RefusedError: where neither can be done.
        """
        code = self._reading.code(node) if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) else ""
        if code in self.bound:
            return ast.Name(self.bound[code], ast.Load())
        kept = dict(self.holes)
        try:
            return self._copied(node, use)
        except RefusedError as refusal:
            self.holes = kept
            return self._hole(node, use, refusal)

    def _copied(self, node: ast.expr, use: str) -> ast.expr:
        match node:
            case ast.Constant():
                return ast.Constant(node.value)
            case ast.Name():
                return self._name(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call():
                return self._call(node)
            case ast.Subscript():
                return self._subscript(node)
            case ast.JoinedStr():
                return self._text(node)
            case ast.BinOp() | ast.UnaryOp() | ast.BoolOp() | ast.Compare() | ast.IfExp():
                return self._operation(node, use)
            case ast.List() | ast.Tuple() | ast.Set() | ast.Dict():
                return self._display(node)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node)
        raise RefusedError(f"it holds {form(node)}")

    def _name(self, node: ast.Name) -> ast.expr:
        value = self._reading.value(node)
        if value.names:
            return self._qualified(value)
        if isinstance(value.const, bool | int | float | str):
            return ast.Constant(value.const)
        raise RefusedError(f"nothing is known of `{node.id}`")

    def _qualified(self, value: Value) -> ast.expr:
        (name, *others) = sorted(value.names)
        unknown = [each for each in value.names if not allowed.callable_name(each)]
        if unknown or others:
            raise RefusedError(f"`{min(unknown or value.names).removeprefix(OWN)}` is not on the list")
        return dotted(name)

    def _attribute(self, node: ast.Attribute) -> ast.expr:
        value = self._reading.value(node)
        if value.names:
            return self._qualified(value)
        if node.attr not in allowed.ATTRIBUTES:
            raise RefusedError(f"`.{node.attr}` is not on the list")
        base = self._reading.value(node.value)
        if not base.may(~_NOTHING & ~Kind.MODULE) or (base.unknown and node.attr not in _SURE):
            raise RefusedError(f"`{self._reading.brief(node.value)}` is not a tensor")
        if node.attr == "grad" and not self._reading.touched(node, self._edits):
            raise RefusedError("a gradient is bound as a tensor of its own")
        return ast.Attribute(self.expression(node.value, "receiver"), node.attr, ast.Load())

    def _call(self, node: ast.Call) -> ast.expr:
        function = self._function(node)
        positional = [self._part(each, "argument") for each in node.args]
        named = []
        for each in node.keywords:
            if each.arg is None:
                raise RefusedError("keywords come from a dict")
            named.append(ast.keyword(each.arg, self.expression(each.value, f"{each.arg}=")))
        return ast.Call(function, positional, named)

    def _part(self, node: ast.expr, use: str) -> ast.expr:
        if isinstance(node, ast.Starred):
            return ast.Starred(self.expression(node.value, "loop"), ast.Load())
        return self.expression(node, use)

    def _function(self, node: ast.Call) -> ast.expr:
        function = node.func
        value = self._reading.value(function)
        if value.names:
            if len(value.names) > 1 and all(map(allowed.callable_name, value.names)):
                return self._hole(function, "function", RefusedError(f"`{self._reading.brief(function)}`"))
            return self._qualified(value)
        if not isinstance(function, ast.Attribute):
            raise RefusedError(f"`{self._reading.brief(function)}` is not on the list")
        if function.attr not in allowed.METHODS:
            raise RefusedError(f"`.{function.attr}()` is not on the list")
        base = self._reading.value(function.value)
        if base.must(_NOTHING | Kind.MODULE) and not (base.may(Kind.MODULE) and function.attr in _OF_MODULES):
            raise RefusedError(f"`{self._reading.brief(function)}` is your own code")
        return ast.Attribute(self.expression(function.value, "receiver"), function.attr, ast.Load())

    def _subscript(self, node: ast.Subscript) -> ast.expr:
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            raise RefusedError("an entry is bound as a value of its own")
        return ast.Subscript(self.expression(node.value, "receiver"), self._index(node.slice), ast.Load())

    def _index(self, node: ast.expr) -> ast.expr:
        match node:
            case ast.Slice():
                parts = [each and self.expression(each, "bound") for each in (node.lower, node.upper, node.step)]
                return ast.Slice(*parts)
            case ast.Tuple():
                return ast.Tuple([self._index(each) for each in node.elts], ast.Load())
        return self.expression(node, "index")

    def _operation(self, node: ast.expr, use: str) -> ast.expr:
        match node:
            case ast.BinOp():
                return ast.BinOp(self.expression(node.left, "operand"), node.op, self.expression(node.right, "operand"))
            case ast.UnaryOp():
                test = "test" if isinstance(node.op, ast.Not) else "operand"
                return ast.UnaryOp(node.op, self.expression(node.operand, test))
            case ast.BoolOp():
                inner = "test" if use == "test" else "operand"
                return ast.BoolOp(node.op, [self.expression(each, inner) for each in node.values])
            case ast.Compare():
                others = [self.expression(each, "operand") for each in node.comparators]
                return ast.Compare(self.expression(node.left, "operand"), node.ops, others)
            case ast.IfExp():
                one, other = self.expression(node.body, use), self.expression(node.orelse, use)
                return ast.IfExp(self.expression(node.test, "test"), one, other)
        raise AssertionError(node)

    def _display(self, node: ast.List | ast.Tuple | ast.Set | ast.Dict) -> ast.expr:
        match node:
            case ast.List() | ast.Tuple():
                return type(node)([self._part(each, "element") for each in node.elts], ast.Load())
            case ast.Set():
                return ast.Set([self._part(each, "element") for each in node.elts])
            case ast.Dict():
                if None in node.keys:
                    raise RefusedError("entries come from another dict")
                keys = [self.expression(each, "element") for each in node.keys if each is not None]
                return ast.Dict([*keys], [self.expression(each, "element") for each in node.values])

    def _text(self, node: ast.JoinedStr) -> ast.expr:
        parts: list[ast.expr] = []
        for each in node.values:
            if isinstance(each, ast.FormattedValue):
                spec = each.format_spec
                if spec is not None and not all(isinstance(part, ast.Constant) for part in _values(spec)):
                    raise RefusedError("a format is computed")
                parts.append(ast.FormattedValue(self.expression(each.value), each.conversion, spec))
            else:
                parts.append(self.expression(each))
        return ast.JoinedStr(parts)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> ast.expr:
        generators = []
        for each in node.generators:
            if each.is_async:
                raise RefusedError("it awaits")
            source = self.expression(each.iter, "loop")
            target = self.target(each.target)
            tests = [self.expression(test, "test") for test in each.ifs]
            generators.append(ast.comprehension(target, source, tests, 0))
        if isinstance(node, ast.DictComp):
            return ast.DictComp(
                self.expression(node.key, "element"), self.expression(node.value, "element"), generators
            )
        return type(node)(self.expression(node.elt, "element"), generators)

    # ------------------------------------------------------------------ targets
    def target(self, node: ast.expr) -> ast.expr:
        """Copy what is assigned to; an object's attribute becomes a name.

        :raises RefusedError: where it cannot be assigned to in a fragment.
        """
        match node:
            case ast.Name():
                return self._bind(node.id)
            case ast.Tuple() | ast.List():
                return ast.Tuple([self.target(each) for each in node.elts], ast.Store())
            case ast.Starred():
                return ast.Starred(self.target(node.value), ast.Store())
            case ast.Attribute() if node.attr in allowed.WRITABLE and self._holds_tensors(node.value):
                return ast.Attribute(self.expression(node.value, "receiver"), node.attr, ast.Store())
            case ast.Subscript() if not (isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)):
                return ast.Subscript(self.expression(node.value, "receiver"), self._index(node.slice), ast.Store())
            case ast.Attribute() | ast.Subscript() if not self._reading.touched(node, self._edits):
                return self._bind(self._reading.code(node))
        raise RefusedError(f"it assigns to `{self._reading.brief(node)}`")

    def _holds_tensors(self, node: ast.expr) -> bool:
        return self._reading.value(node).may(Kind.TENSOR)

    # ------------------------------------------------------------------ statements
    def statements(self, nodes: Iterable[ast.stmt]) -> list[ast.stmt]:
        """Copy statements.

        :raises RefusedError: where one of them may not be in a fragment.
        """
        return [self.statement(each) for each in nodes]

    def statement(self, node: ast.stmt) -> ast.stmt:
        """Copy a statement.

        :raises RefusedError: where it may not be in a fragment.
        """
        match node:
            case ast.Expr():
                return ast.Expr(self.expression(node.value, "statement"))
            case ast.Assign():
                value = self.expression(node.value)
                return ast.Assign([self.target(each) for each in node.targets], value, lineno=node.lineno)
            case ast.AnnAssign() if node.value is not None:
                value = self.expression(node.value)
                return ast.Assign([self.target(node.target)], value, lineno=node.lineno)
            case ast.AugAssign():
                return self._augmented(node)
            case ast.Return():
                return ast.Return(node.value and self.expression(node.value))
            case ast.Assert():
                return ast.Assert(self.expression(node.test, "test"), None)
            case ast.Pass() | ast.Break() | ast.Continue():
                return type(node)()
            case ast.If():
                test = self.expression(node.test, "test")
                return ast.If(test, self.statements(node.body), self.statements(node.orelse))
            case ast.For():
                source = self.expression(node.iter, "loop")
                target = self.target(node.target)
                body, orelse = self.statements(node.body), self.statements(node.orelse)
                return ast.For(target, source, body, orelse, lineno=node.lineno)
            case ast.With():
                return self._with(node)
            case ast.Raise() if node.exc is not None and node.cause is None:
                return ast.Raise(self._raised(node.exc), None)
        raise RefusedError(f"it holds {form(node)}")

    def _augmented(self, node: ast.AugAssign) -> ast.stmt:
        value = self.expression(node.value, "operand")
        if isinstance(node.target, ast.Name | ast.Attribute) and not self._reading.touched(node.target, self._edits):
            loaded = self.expression(_loading(node.target), "receiver")
            if isinstance(loaded, ast.Name):
                return ast.AugAssign(ast.Name(loaded.id, ast.Store()), node.op, value)
        target = self.target(node.target)
        if isinstance(target, ast.Tuple | ast.Starred):
            raise RefusedError("it assigns to several names")
        return ast.AugAssign(target, node.op, value)  # type: ignore[arg-type]  # `target` gives no other forms here

    def _with(self, node: ast.With) -> ast.stmt:
        items = []
        for each in node.items:
            value = self._reading.value(
                each.context_expr.func if isinstance(each.context_expr, ast.Call) else each.context_expr
            )
            if each.optional_vars is not None or not value.names or not value.names <= _CONTEXTS:
                raise RefusedError(f"`with {self._reading.brief(each.context_expr)}:` is not on the list")
            items.append(ast.withitem(self._copied(each.context_expr, "context"), None))
        return ast.With(items, self.statements(node.body), lineno=node.lineno)

    def _raised(self, node: ast.expr) -> ast.expr:
        function = node.func if isinstance(node, ast.Call) else node
        names = self._reading.value(function).names
        if len(names) != 1 or not names <= {f"builtins.{each}" for each in allowed.ERRORS}:
            raise RefusedError(f"it raises `{self._reading.brief(function)}`")
        return self._copied(node, "argument")


def dotted(name: str) -> ast.expr:
    """Spell a dotted name as code: ``builtins.len`` is ``len``."""
    first, *rest = name.removeprefix("builtins.").split(".")
    found: ast.expr = ast.Name(first, ast.Load())
    for word in rest:
        found = ast.Attribute(found, word, ast.Load())
    return found


def _bindable(value: Value) -> bool:
    if value.names:
        return all(map(allowed.callable_name, value.names))
    if value.must(Kind.MODULE):
        return all(each.startswith("torch.nn.") for each in value.instance)
    return value.may(~Kind.OTHER) and bool(value.kind)


def _loading(node: ast.Name | ast.Attribute) -> ast.expr:
    made = (
        ast.Name(node.id, ast.Load())
        if isinstance(node, ast.Name)
        else ast.Attribute(node.value, node.attr, ast.Load())
    )
    return ast.copy_location(made, node)


def _values(spec: ast.expr) -> list[ast.expr]:
    return spec.values if isinstance(spec, ast.JoinedStr) else [spec]
