"""What a function's parameters are: by what a call gives, by annotations and docstrings, and by all calls of it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.facts.value import UNKNOWN, Device, Dtype, Grad, Kind, Reason, Value, of_kind
from torchlint.inference.hints import argument_types
from torchlint.inference.interpreter.dataset_samples import as_sample
from torchlint.inference.interpreter.environment import Env
from torchlint.inference.interpreter.heuristics import NO_TENSOR, is_command, is_plain, without_graph
from torchlint.inference.interpreter.index_arguments import indices
from torchlint.inference.interpreter.pytest_fixtures import handed
from torchlint.inference.lattice import annotated, join_all, with_facts_throughout
from torchlint.inference.models.call_arguments import Arguments
from torchlint.inference.program.forward_hooks import is_output
from torchlint.syntax.ast_index import Function
from torchlint.syntax.signatures import defaults_of, positional_parameters

if TYPE_CHECKING:
    from torchlint.inference.interpreter.file_scope import File
    from torchlint.inference.interpreter.statements import Flow


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
        args, defaults = self.function.args, defaults_of(self.function)
        positional = positional_parameters(self.function)
        bound = 0
        if first is not None:
            self.env.assign(first, receiver or self.file.classes.self_value(self.function))
            bound = 1
        for index, argument in enumerate(positional[bound:]):
            self.env.assign(argument.arg, self._argument(argument, defaults.get(argument), index))
        for argument in args.kwonlyargs:
            self.env.assign(argument.arg, self._argument(argument, defaults.get(argument), -1))
        if args.vararg:
            given = self.given
            rest = given.positional[len(positional) - bound :] if given and not given.starred else None
            member = self._each(args.vararg) if rest is None else None
            items = tuple(rest) if rest is not None else None
            self.env.assign(args.vararg.arg, of_kind(Kind.SEQUENCE, items=items, member=member))
        if args.kwarg:
            self.env.assign(args.kwarg.arg, self._rest(args.kwarg))

    def _each(self, argument: ast.arg) -> Value:
        """Return one of the values of ``*args`` or ``**kwargs``."""
        said = self.file.annotated(argument.annotation, self.env, self.flow) or UNKNOWN
        return self._explained(said, argument)

    def _rest(self, argument: ast.arg) -> Value:
        """Return ``**kwargs``: the keywords that no other argument takes."""
        if self.given is None or self.given.starred:
            return of_kind(Kind.SEQUENCE, member=self._each(argument))
        taken = {each.arg for each in (*self.function.args.args, *self.function.args.kwonlyargs)}
        rest = {word: value for word, value in self.given.keywords.items() if word not in taken}
        if not rest:
            return of_kind(Kind.SEQUENCE, items=())
        return of_kind(Kind.SEQUENCE, keys=tuple(rest.items()), member=join_all(rest.values()))

    def _argument(self, argument: ast.arg, default: ast.expr | None, index: int) -> Value:
        said = self.file.annotated(argument.annotation, self.env, self.flow) or self._commented(argument)
        if said is not None and isinstance(default, ast.Constant):  # `x: Tensor = None` is `Optional[Tensor]`
            said = said.having(kind=said.kind | self.flow.evaluate(default, self.env).kind)
        if self.given is not None:
            value = self.given.find(index, argument.arg)
            if value is not None:
                if said is None or not value.vague:
                    return value
                self.flow.presumed.append(said)
                return said
            if default is not None and not self.given.starred:
                return self.flow.evaluate(default, self.env)
        value = said if said is not None else self._presumed(default)
        known = handed(self.file, self.function, argument.arg) if self.given is None else None
        if known is not None and (value.vague or not known.vague):
            return known
        if known is not None:
            value = _with_grad_of(value, known)
        if self.file.project.presuming and argument.arg in without_graph(self.file, self.function):
            value = with_facts_throughout(value, grad=Grad.DETACHED)
        if self.file.project.presuming:
            value = as_sample(self.file, self.function, argument.arg, value)
        if self.file.project.presuming and argument.arg in self.file.index.told(indices, self.function):
            value = value.having(dtype=value.dtype & (Dtype.INTEGRAL | Dtype.BOOL))
        value = self._explained(value, argument)
        self.flow.presumed.append(value)
        return value

    def _explained(self, value: Value, argument: ast.arg) -> Value:
        """Return a value that says that it came as this argument, and so do its members.

        What has no graph, or is on the host, has no part in what it is computed with being otherwise.
        """
        member = value.member
        is_detached, is_on_host = value.grad == Grad.DETACHED, value.device == Device.HOST
        return value.having(
            why_grad=value.why_grad or (None if is_detached else self._why(argument, "requires grad")),
            why_device=value.why_device or (None if is_on_host else self._why(argument, "is on an accelerator")),
            member=member if member is None else self._explained(member, argument),
        )

    def _presumed(self, default: ast.expr | None) -> Value:
        """Return what an argument is taken to be of which nothing is said."""
        if not self.file.project.presuming:
            return UNKNOWN
        if is_command(self.function):
            return NO_TENSOR
        if default is not None and is_plain(default):
            return self.flow.evaluate(default, self.env).having(const=None)
        return UNKNOWN

    def _commented(self, argument: ast.arg) -> Value | None:
        """Return what a type comment or the docstring says of an argument."""
        text = argument.type_comment or _in_signature(self.function, argument)
        if text is not None:
            return self.file.annotated(ast.Constant(text), self.env, self.flow)
        told = self.file.index.told(argument_types, self.function) if self.file.works_with_torch else {}
        described = told.get(argument.arg)
        return None if described is None else annotated(described)

    def _why(self, argument: ast.arg, fault: str) -> Reason:
        of_hook = is_output(self.file.index, argument)
        what = "{code} is what a module gives to its hook" if of_hook else "{code} is an argument of"
        text = f"{what} `{self.function.name}`: nothing excludes a tensor that {fault}"
        return Reason(text, argument, weak=True, of_module=of_hook)


def _with_grad_of(said: Value, known: Value) -> Value:
    """Return what an annotation says, with the grad of what is given, which is of unknown kind."""
    member = said.member
    return said.having(
        grad=known.grad if said.grad else said.grad,
        why_grad=known.why_grad,
        member=member if member is None else _with_grad_of(member, known),
    )


def _in_signature(function: Function, argument: ast.arg) -> str | None:
    """Find an argument's type in ``# type: (Tensor, int) -> Tensor``."""
    if function.type_comment is None:
        return None
    try:
        types = ast.parse(function.type_comment, mode="func_type").argtypes
    except SyntaxError:
        return None
    positional = positional_parameters(function)
    missing = len(positional) - len(types)  # the comment leaves `self` out
    if argument not in positional[missing:] or missing not in (0, 1):
        return None
    return ast.unparse(types[positional.index(argument) - missing])
