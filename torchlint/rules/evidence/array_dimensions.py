"""Whether an array has a dimension beyond doubt: without any, the legacy call takes integers as a size.

Measured on NumPy 2.4, see ``tests/test_array_dimensions.py``: some functions of NumPy's give a tensor where they are
given one, and what they give is an array only of what is no tensor.
"""

from __future__ import annotations

import ast

from torchlint.rules.api import FileContext, Kind, elements_of
from torchlint.rules.evidence.accepted_sizes import is_accepted_size
from torchlint.rules.evidence.container_members import doubt_of_taken
from torchlint.rules.evidence.local_bindings import bindings_of, names_of

DIMENSIONAL = frozenset(
    f"numpy.{word}"
    for word in (
        "concatenate stack vstack hstack dstack column_stack atleast_1d atleast_2d atleast_3d eye identity diag outer "
        "triu tril ravel arange unique flatnonzero random.permutation frombuffer append sort diff bincount"
    ).split()
)
"""Functions that give an array which has dimensions, or raise, whatever they are given."""
FOLLOWING = frozenset(f"numpy.{word}" for word in "linspace repeat cumsum cumprod argsort delete insert".split())
"""Functions that do so where they are given no tensor."""
_SHAPED = frozenset(f"numpy.{word}" for word in "zeros ones empty full".split())
"""Functions that are given a shape: 0-d only where that is ``()``, perhaps by a name."""
_RESHAPED = frozenset(f"numpy.{word}" for word in "broadcast_to tile expand_dims".split())
"""Functions that are given a shape or an axis in the second place."""
_SIZED = frozenset(
    f"numpy.random.{word}"
    for word in (
        "normal uniform randint random_integers choice random random_sample standard_normal binomial poisson beta gamma"
    ).split()
)
"""Functions that are given a shape by the keyword ``size``; without it they give one number."""
_DRAWN = frozenset({"numpy.random.rand", "numpy.random.randn"})
"""Functions that are given a shape as several numbers; without any they give one number."""
_CONVERTING = frozenset(f"numpy.{word}" for word in "array asarray ascontiguousarray asanyarray".split())
_MAKING = (
    DIMENSIONAL
    | _SHAPED
    | _CONVERTING
    | frozenset(
        f"numpy.{word}"
        for word in (
            "genfromtxt loadtxt load fromfile fromstring fromiter tile pad roll where histogram digitize interp "
            "bincount broadcast_to expand_dims zeros_like ones_like full_like empty_like meshgrid"
        ).split()
    )
    | {"librosa.load", "librosa.stft"}
)
"""Functions that make arrays of whatever they are given, or raise."""
_MAKERS = ("numpy.random.", "cv2.", "imageio.", "soundfile.", "h5py.")
"""What the names of others begin with."""
_ELEMENTWISE = frozenset(
    f"numpy.{word}"
    for word in (
        "sin cos tan exp expm1 log log1p log2 log10 sqrt abs clip power float32 float64 transpose flip nan_to_num "
        "round square tanh maximum minimum multiply add subtract mod floor ceil roll"
    ).split()
)
"""Functions whose result has the dimensions of their first argument, or more."""
_KEEPING = frozenset({"astype", "copy", "clip", "round", "view", "cumsum", "cumprod"})
_FLATTENING = frozenset({"flatten", "ravel", "repeat"})
_ENVIRONMENTS = frozenset({"gymnasium.vector.VectorEnv", "gym.vector.VectorEnv"})
"""The classes as which the inference knows several environments at once."""
_NUMBERS = Kind.ARRAY | Kind.SCALAR | Kind.INTEGER
_DEEPEST = 8


def has_dimensions(node: ast.expr, context: FileContext) -> bool:
    """Whether the code shows that something is an array that has a dimension; False where it does not tell."""
    return _has(node, context, _DEEPEST)


def _has(node: ast.expr, context: FileContext, depth: int) -> bool:
    """Whether an expression is an array that has a dimension, its parts followed so deep."""
    if depth == 0:
        return False
    match node:
        case ast.Name():
            return _is_bound_to_one(node, context, depth - 1)
        case ast.Call():
            return _of_call(node, context, depth - 1)
        case ast.Attribute(value=inner, attr="T" | "real" | "imag"):
            return _has(inner, context, depth - 1)
        case ast.Subscript(value=inner, slice=index):
            return _keeps_a_dimension(index) and is_numbers(inner, context)
        case ast.UnaryOp(op=ast.USub() | ast.Invert(), operand=inner):
            return _has(inner, context, depth - 1)
        case ast.BinOp(op=ast.MatMult()):  # of two rows it is a number
            return False
        case ast.BinOp(left=left, right=right):
            one = _has(left, context, depth - 1) or _has(right, context, depth - 1)
            return one and is_numbers(left, context) and is_numbers(right, context)
    return False


def _is_bound_to_one(name: ast.Name, context: FileContext, depth: int) -> bool:
    bound = bindings_of(name, context)
    return bool(bound) and all(
        not each.is_augmented and _has(each.value, context, depth)
        if not each.depth
        else each.depth == 1 and _is_part_with_dimensions(each.value, context, depth)
        for each in bound
    )


def _is_part_with_dimensions(node: ast.expr, context: FileContext, depth: int) -> bool:
    """Whether each part of what a call gives has dimensions, or is none that a tensor can be made of."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="step")):
            return _are_environments(owner, context)
        case ast.Call(func=ast.Attribute(value=owner, attr="reset")):  # two of the old package's may be one row each
            return _are_environments(owner, context) and context.value(node).items is not None
    return _is_of_uniques(node, context, depth)


def _are_environments(node: ast.expr, context: FileContext) -> bool:
    """Whether an object is of a class that runs several environments at once: what it gives has a row for each."""
    known = context.value(node)
    return bool(known.kind and known.instance) and known.must(Kind.OTHER) and known.instance <= _ENVIRONMENTS


def _is_of_uniques(node: ast.expr, context: FileContext, depth: int) -> bool:
    """``values, places = np.unique(a, return_inverse=True)``: the places lie as the elements of ``a`` do."""
    match node:
        case ast.Call(func=function, args=[first], keywords=[_, *_] as words) if all(
            str(each.arg).startswith("return_") for each in words
        ):
            return names_of(function, context) == {"numpy.unique"} and _has(first, context, depth)
    return False


def _of_call(node: ast.Call, context: FileContext, depth: int) -> bool:
    names = names_of(node.func, context)
    if names:
        return len(names) == 1 and _of_function(next(iter(names)), node, context, depth)
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr=word)) if word in _KEEPING:
            return _has(inner, context, depth)
        case ast.Call(func=ast.Attribute(value=inner, attr=word)) if word in _FLATTENING:
            return is_numbers(inner, context)
        case ast.Call(func=ast.Attribute(value=owner, attr="reset")):
            return _are_environments(owner, context)
        case ast.Call(func=ast.Attribute(value=inner, attr="reshape")):
            return is_numbers(inner, context) and _is_shape(node.args, context)
    return False


def _of_function(name: str, node: ast.Call, context: FileContext, depth: int) -> bool:
    """Whether a function of NumPy's gives an array that has a dimension for what it is given."""
    words = {each.arg: each.value for each in node.keywords}
    if None in words or "out" in words or any(isinstance(each, ast.Starred) for each in node.args):
        return False
    if name in DIMENSIONAL:
        return not any(str(word).startswith("return_") for word in words)
    if name in FOLLOWING:
        return all(is_numbers(each, context) or _is_sequence(each, context) for each in node.args)
    if name in _SIZED:
        return "size" in words and _is_shape([words["size"]], context)
    if name in _DRAWN:
        return bool(node.args)
    if not node.args:
        return False
    first, *others = node.args
    if name in _SHAPED:
        return _is_shape([first], context)
    if name in _RESHAPED:
        return _is_shape([*others, *words.values()], context)
    if name == "numpy.reshape":
        return is_numbers(first, context) and _is_shape(others[:1], context)
    if name in _CONVERTING:
        return _is_sequence(first, context) or _has(first, context, depth) or _is_flat(first)
    if name in _ELEMENTWISE:
        return _has(first, context, depth) and all(is_numbers(each, context) for each in others)
    return False


def is_numbers(node: ast.expr, context: FileContext) -> bool:
    """Whether an expression is a number or an array, and no tensor."""
    return _is_numbers(node, context, _DEEPEST)


def _is_numbers(node: ast.expr, context: FileContext, depth: int) -> bool:
    """Believe what is known of a value where no function stands behind it that may have been given a tensor."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float)
    known = context.value(node)
    if not (known.kind and known.must(_NUMBERS)) or known.claimed or depth == 0:
        return False
    match node:
        case ast.Name():
            return all(_is_made_of_numbers(each.value, context, depth - 1) for each in bindings_of(node, context))
        case ast.Call() | ast.Subscript() | ast.Attribute() | ast.BinOp() | ast.UnaryOp() | ast.IfExp():
            return _is_made_of_numbers(node, context, depth - 1)
    return True


def _is_made_of_numbers(node: ast.expr, context: FileContext, depth: int) -> bool:
    """Whether what a value is made of holds no tensor that NumPy would hand back as one."""
    match node:
        case ast.Call(func=function, args=arguments, keywords=words):
            names = names_of(function, context)
            if names:
                given = (*arguments, *(each.value for each in words))
                return _makes_arrays(names) or all(_is_no_tensor(each, context, depth) for each in given)
            return not isinstance(function, ast.Attribute) or _gives_numbers(function.value, context, depth)
        case ast.Subscript(value=inner) | ast.Attribute(value=inner) | ast.UnaryOp(operand=inner):
            return _is_made_of_numbers(inner, context, depth - 1) if depth else False
        case ast.BinOp(left=left, right=right) | ast.IfExp(body=left, orelse=right):
            return _is_no_tensor(left, context, depth) and _is_no_tensor(right, context, depth)
    return True


def _gives_numbers(receiver: ast.expr, context: FileContext, depth: int) -> bool:
    """Whether a method that gives numbers does so of a tensor, too, or there is none: ``t.numpy()``."""
    return context.value(receiver).must(Kind.TENSOR) or _is_no_tensor(receiver, context, depth)


def _is_no_tensor(node: ast.expr, context: FileContext, depth: int) -> bool:
    """Whether an argument is no tensor: what is one of numbers is looked into, and NumPy makes an array of others."""
    known = context.value(node)
    if not known.kind or known.may(Kind.TENSOR) or known.claimed or doubt_of_taken(node, context):
        return False
    return not known.may(Kind.ARRAY) or _is_numbers(node, context, depth - 1)


def _makes_arrays(names: frozenset[str]) -> bool:
    """Whether functions give arrays and numbers of whatever they are given."""
    return all(each in _MAKING or each.startswith(_MAKERS) for each in names)


def _is_sequence(node: ast.expr, context: FileContext) -> bool:
    if isinstance(node, ast.List | ast.Tuple | ast.ListComp):
        return True
    known = context.value(node)
    is_one = bool(known.kind) and known.must(Kind.SEQUENCE) and not known.claimed
    return is_one and not doubt_of_taken(node, context)


def _is_flat(node: ast.expr) -> bool:
    """Whether a method makes one dimension of anything: of a tensor, too, which is converted afterwards."""
    match node:
        case ast.Call(func=ast.Attribute(attr="flatten" | "ravel"), args=[], keywords=[]):
            return True
    return False


def _is_shape(given: list[ast.expr], context: FileContext) -> bool:
    """Whether arguments are a shape that has something in it: several numbers, one, or a tuple of some."""
    match given:
        case [ast.Tuple(elts=parts) | ast.List(elts=parts)]:
            return any(not isinstance(each, ast.Starred) for each in parts)
        case [ast.UnaryOp(op=ast.USub(), operand=ast.Constant())]:
            return True
        case [one]:
            return not isinstance(one, ast.Starred) and is_accepted_size(one, context)
    return len([each for each in given if not isinstance(each, ast.Starred)]) > 1


def _keeps_a_dimension(index: ast.expr) -> bool:
    """Whether an index holds a slice: ``a[:, 0]`` is never a number."""
    parts = elements_of(index)
    return any(isinstance(each, ast.Slice) or _is_none(each) for each in parts)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
