"""What a function's arguments are: what a call gives, or what annotations, comments and docstrings say."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.inference.arguments import Arguments
from torchlint.inference.docstrings import argument_types
from torchlint.inference.env import Env
from torchlint.inference.facts import UNKNOWN, Grad, Kind, Reason, Value, join_all, of_kind
from torchlint.inference.presumptions import NO_TENSOR, drawn, is_command, is_plain
from torchlint.inference.testing import handed
from torchlint.syntax.outline import Function

if TYPE_CHECKING:
    from torchlint.inference.flow import Flow
    from torchlint.inference.scope import File


@dataclass(frozen=True)
class Binding:
    """Binds the arguments of one function in an environment; ``given`` is None where no call is known."""

    file: File
    function: Function
    flow: Flow
    env: Env
    given: Arguments | None

    def bind(self, receiver: Value | None, first: str | None) -> None:
        """Bind all arguments; ``first`` is the name of ``self``, which is ``receiver`` where that is known."""
        args = self.function.args
        positional = [*args.posonlyargs, *args.args]
        bound = 0
        if first is not None:
            self.env.assign(first, receiver or self.file.classes.self_value(self.function))
            bound = 1
        defaults = [None] * (len(positional) - len(args.defaults)) + list(args.defaults)
        for index, argument in enumerate(positional[bound:]):
            self.env.assign(argument.arg, self._argument(argument, defaults[bound + index], index))
        for argument, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            self.env.assign(argument.arg, self._argument(argument, default, -1))
        if args.vararg:
            given = self.given
            rest = given.positional[len(positional) - bound :] if given and not given.starred else None
            member = self._each(args.vararg) if rest is None else None
            items = tuple(rest) if rest is not None else None
            self.env.assign(args.vararg.arg, of_kind(Kind.SEQUENCE, items=items, member=member))
        if args.kwarg:
            self.env.assign(args.kwarg.arg, self._rest(args.kwarg))

    def _each(self, argument: ast.arg) -> Value:
        """Give one of the values of ``*args`` or ``**kwargs``."""
        return self.file.annotated(argument.annotation, self.env, self.flow) or UNKNOWN

    def _rest(self, argument: ast.arg) -> Value:
        """Give ``**kwargs``: the keywords that no other argument takes."""
        if self.given is None or self.given.starred:
            return of_kind(Kind.SEQUENCE, member=self._each(argument))
        taken = {each.arg for each in (*self.function.args.args, *self.function.args.kwonlyargs)}
        rest = {word: value for word, value in self.given.keywords.items() if word not in taken}
        if not rest:
            return of_kind(Kind.SEQUENCE, items=())
        return of_kind(Kind.SEQUENCE, keys=tuple(rest.items()), member=join_all(rest.values()))

    def _argument(self, argument: ast.arg, default: ast.expr | None, index: int) -> Value:
        said = self.file.annotated(argument.annotation, self.env, self.flow) or self._commented(argument)
        if self.given is not None:
            value = self.given.find(index, argument.arg)
            if value is not None:
                return said if said is not None and value.vague else value
            if default is not None and not self.given.starred:
                return self.flow.evaluate(default, self.env)
        value = said if said is not None else self._presumed(argument, default)
        if self.given is None and (known := self._called_with(argument, default, index)) is not None:
            return known if value.vague or not known.vague else value
        return value.having(
            why_grad=value.why_grad or self._why(argument, "requires grad"),
            why_place=value.why_place or self._why(argument, "is on an accelerator"),
        )

    def _presumed(self, argument: ast.arg, default: ast.expr | None) -> Value:
        """Give what an argument is taken to be of which nothing is said."""
        if not self.file.project.presuming:
            return UNKNOWN
        if is_command(self.function):
            return NO_TENSOR
        if default is not None and is_plain(default):
            return self.flow.evaluate(default, self.env).having(const=None)
        return UNKNOWN.having(grad=Grad.DETACHED) if argument.arg in drawn(self.file, self.function) else UNKNOWN

    def _called_with(self, argument: ast.arg, default: ast.expr | None, index: int) -> Value | None:
        """Give what all calls of a private function give for an argument, or what pytest hands to a test."""
        callers = self.file.callers
        if callers.of(self.function) is None:
            return handed(self.file, self.function, argument.arg)
        otherwise = self.flow.evaluate(default, self.env) if default is not None else None
        return callers.argument(self.function, index, argument.arg, otherwise)

    def _commented(self, argument: ast.arg) -> Value | None:
        """Give what a type comment or the docstring says of an argument."""
        text = argument.type_comment or _in_signature(self.function, argument)
        if text is not None:
            return self.file.annotated(ast.Constant(text), self.env, self.flow)
        told = self.file.outline.told(argument_types, self.function) if self.file.works_with_torch else {}
        return told.get(argument.arg)

    def _why(self, argument: ast.arg, fault: str) -> Reason:
        text = "{code} is an argument of `" + self.function.name + "`: nothing excludes a tensor that " + fault
        return Reason(text, argument, weak=True)


def _in_signature(function: Function, argument: ast.arg) -> str | None:
    """Find an argument's type in ``# type: (Tensor, int) -> Tensor``."""
    if function.type_comment is None:
        return None
    try:
        types = ast.parse(function.type_comment, mode="func_type").argtypes
    except SyntaxError:
        return None
    positional = [*function.args.posonlyargs, *function.args.args]
    missing = len(positional) - len(types)  # the comment leaves `self` out
    if argument not in positional[missing:] or missing not in (0, 1):
        return None
    return ast.unparse(types[positional.index(argument) - missing])


def is_static(function: Function) -> bool:
    """Whether a method is a ``staticmethod``: it has no ``self``."""
    return any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in function.decorator_list)
