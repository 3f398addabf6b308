"""Whether a name or an attribute holds a number, a text or settings, none of which holds a module or a tensor."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.rule import FileContext, Function, Kind

PLAIN = Kind.INTEGER | Kind.SCALAR | Kind.STRING | Kind.NONE | Kind.SIZE | Kind.DEVICE | Kind.DTYPE | Kind.ARRAY
"""What holds no module and no tensor."""
_SETTINGS = re.compile(r"_?(?:\w+_)?(?:args?|cfg|conf|config|configuration|opts?|options?|hparams|settings)")
"""Names of records of settings, whose fields are numbers and texts."""
_SIZED = frozenset(f"torch.{word}" for word in ("empty", "ones", "rand", "randn", "zeros"))
"""Functions of torch that take sizes only."""
_LEGACY = frozenset({"torch.Tensor", "torch.FloatTensor"})


def is_settings(word: str) -> bool:
    """Whether a name is one of a record of settings."""
    return bool(_SETTINGS.fullmatch(word))


def has_plain_default(function: Function, word: str) -> bool:
    """Whether a parameter's default is a number, a text, or a literal of these: not ``None``."""
    return any(name == word and _is_plain(default) for name, default in defaults(function))


def defaults(function: Function) -> Iterator[tuple[str, ast.expr]]:
    """Give the parameters of a function that have a default, each with it."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    first = len(positional) - len(arguments.defaults)
    yield from ((each.arg, default) for each, default in zip(positional[first:], arguments.defaults, strict=True))
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            yield each.arg, default


def _is_plain(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=value):
            return value is not None
        case ast.UnaryOp(operand=inner):
            return _is_plain(inner)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return bool(parts) and all(map(_is_plain, parts))
    return False


def is_counted_with(code: str, around: ast.AST, context: FileContext) -> bool:
    """Whether code reckons with an expression as only a number allows: a layer's width, ``range(n)``."""
    return any(ast.unparse(each) == code for node in context.within(around) for each in _numbers(node, context))


def _numbers(node: ast.AST, context: FileContext) -> Iterator[ast.expr]:
    match node:
        case ast.Call(func=ast.Name(id="range"), args=args):
            for each in args:
                yield from _terms(each)
        case ast.Call(func=function, args=args) if _takes_numbers(context.names(function), len(args)):
            for each in args:
                yield from _terms(each)


def _takes_numbers(names: frozenset[str], count: int) -> bool:
    return names_layer(names) or (bool(names) and (names <= _SIZED or (count > 1 and names <= _LEGACY)))


def _terms(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp):
        yield from (*_terms(node.left), *_terms(node.right))
    elif isinstance(node, ast.Name | ast.Attribute):
        yield node


_KEEPING = frozenset(
    "Parameter Buffer Sequential ModuleList ModuleDict ParameterList ParameterDict DataParallel Module "
    "DistributedDataParallel TransformerEncoder TransformerDecoder Transformer UninitializedParameter".split()
)


def names_layer(names: frozenset[str]) -> bool:
    """Whether names are those of layers of torch, which take numbers and keep no module that they are given."""
    return bool(names) and all(
        re.fullmatch(r"torch\.nn\.(?:modules\.\w+\.)?[A-Z]\w*", each) and each.rpartition(".")[2] not in _KEEPING
        for each in names
    )
