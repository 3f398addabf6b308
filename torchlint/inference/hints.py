"""What annotations, type comments and docstrings say of a value."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass

from torchlint.facts.value import (
    ANY_DEVICE,
    ANY_GRAD,
    OTHER,
    UNKNOWN,
    Device,
    Dtype,
    Grad,
    Kind,
    Value,
    of_kind,
    tensor,
)
from torchlint.inference.lattice import join, join_all
from torchlint.inference.models.libraries import TRAINER
from torchlint.inference.models.operations import LEGACY_DTYPES, leaf
from torchlint.inference.models.tables import words
from torchlint.inference.models.tensors import dtype_bits
from torchlint.inference.program.frameworks import OTHERS
from torchlint.syntax.ast_index import AstIndex, Function
from torchlint.syntax.places import elements_of, word_of

_FORMS = tuple(
    re.compile(form, re.MULTILINE)
    for form in (
        r"^(?=[^\S\n]*\**(?P<name>\w+)\s*\((?P<type>[^)\n]*)\))",  # Google: `x (torch.Tensor): the input`
        r"^(?=[^\S\n]*(?P<name>\w+)\s*:\s*(?P<type>[^\n]*)$)",  # NumPy: `x : torch.Tensor`
        r":type\s+(?P<name>\w+)\s*:\s*(?P<type>[^\n]*)$",  # Sphinx: `:type x: torch.Tensor`
        r":param\s+(?P<type>[\w.]+)\s+(?P<name>\w+)\s*:",  # Sphinx: `:param torch.Tensor x:`
    )
)
"""One line may begin within what another says, so the first two look ahead and take nothing."""
_TENSOR = re.compile(
    r"(?<![\w.])(?:torch\.(?:cuda\.)?|autograd\.)?"
    r"((?:Float|Long|Double|Byte|Int|Bool|Half|Short|Char|BFloat16)?Tensor|Variable)\b"
)
_ARRAY = re.compile(r"\b(ndarray|np\.array|numpy\.array|numpy array)\b", re.IGNORECASE)
_OTHER_TENSOR = re.compile(r"\b(tf|tensorflow|jax|paddle|mx|keras)\.", re.IGNORECASE)
_HOLDER = re.compile(r"\b(list|tuple|dict|sequence|iterable|optional\[list)\b", re.IGNORECASE)


def argument_types(_: AstIndex, function: Function) -> dict[str, Value]:
    """Return the values that a function's docstring describes, by argument; nothing for those that are no tensors."""
    text = ast.get_docstring(function, clean=False)
    if not text or not (_TENSOR.search(text) or _ARRAY.search(text)):
        return {}
    said: dict[str, Value] = {}
    for form in _FORMS:
        first: dict[str, str] = {}
        for found in form.finditer(text):
            first.setdefault(found["name"], found["type"])
        for name, described in first.items():
            if name not in said and (value := _described(described)) is not None:
                said[name] = value
    return said


def _described(text: str) -> Value | None:
    """Return the value of a type in words; a container of tensors is not told from a tensor and says nothing."""
    if _HOLDER.search(text) or _OTHER_TENSOR.search(text):
        return None
    said = [_tensor_in_words(word) for word in _TENSOR.findall(text)]
    if _ARRAY.search(text):
        said.append(of_kind(Kind.ARRAY))
    return join_all(said) if said else None


def _tensor_in_words(word: str) -> Value:
    """Return the tensor that a word of a docstring names: ``LongTensor`` says that it holds integers, of any width."""
    known = _legacy(word) if word in LEGACY_DTYPES else tensor(ANY_GRAD, ANY_DEVICE)
    return known.having(exact=None) if known.grad == Grad.DETACHED else tensor(ANY_GRAD, ANY_DEVICE)


@dataclass(frozen=True)
class Resolve:
    """How a file's annotations are read: the names that an expression stands for, and the project's own classes."""

    names: Callable[[ast.expr], frozenset[str]]
    own: Callable[[frozenset[str]], Value | None]

    def __call__(self, node: ast.expr) -> frozenset[str]:
        """Return the names that an expression stands for."""
        return self.names(node)


"""Gives what an expression is by name."""

_SCALARS = {"int": Kind.INTEGER, "float": Kind.SCALAR | Kind.INTEGER, "bool": Kind.SCALAR, "complex": Kind.SCALAR}
_CONTAINERS = words("""
    list List tuple Tuple Sequence Iterable Iterator Generator set Set dict Dict Mapping MutableMapping
    defaultdict OrderedDict DefaultDict deque Deque Collection MutableSequence FrozenSet frozenset AsyncIterator
""")
_WRAPPERS = words("Optional Annotated Final ClassVar Required NotRequired Union ReadOnly InitVar")
_FOREIGN = OTHERS | words("pandas PIL pathlib argparse logging")
"""Packages of whose objects neither the parts nor what their methods give is a tensor of torch."""
_JAXTYPING = {"Float": "float32", "Int": "int64", "Bool": "bool", "Integer": "int64", "Num": None, "Shaped": None}


def value_of(annotation: ast.expr | None, resolve: Resolve, depth: int = 6) -> Value | None:
    """Return the value that an annotation describes; None where it says nothing of the kind."""
    if annotation is None or depth == 0:
        return None
    match annotation:
        case ast.Constant(value=None):
            return of_kind(Kind.NONE)
        case ast.Constant(value=str(text)):
            return _text(text, resolve, depth)
        case ast.BinOp(left=one, op=ast.BitOr(), right=other):
            return _union([one, other], resolve, depth)
        case ast.Subscript(value=base, slice=inner):
            return _generic(base, inner, resolve, depth)
        case ast.Name() | ast.Attribute():
            names = resolve(annotation)
            said = _plain(names, annotation)
            return said if said is not None else resolve.own(names)
    return None


def _text(text: str, resolve: Resolve, depth: int) -> Value | None:
    try:
        parsed = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    return value_of(parsed, resolve, depth - 1)


def _union(parts: list[ast.expr], resolve: Resolve, depth: int) -> Value | None:
    values = [value_of(part, resolve, depth - 1) for part in parts]
    if any(value is None for value in values):
        return None
    return join_all(value for value in values if value is not None)


def _generic(base: ast.expr, inner: ast.expr, resolve: Resolve, depth: int) -> Value | None:
    """Return the value that ``base[inner]`` describes: a choice, a container, or an array of jaxtyping's."""
    names = resolve(base)
    word = leaf(next(iter(names), "")) or word_of(base)
    parts = elements_of(inner)
    if any(name.startswith("jaxtyping.") for name in names) and word in _JAXTYPING:
        made = value_of(parts[0], resolve, depth - 1)
        return made.having(dtype=dtype_bits(_JAXTYPING[word] or "")) if made else None
    if word in _WRAPPERS:
        wanted = parts[:1] if word != "Union" else parts
        made = _union(wanted, resolve, depth)
        return join(made, of_kind(Kind.NONE)) if made and word == "Optional" else made
    if word in _CONTAINERS:
        members = [value_of(part, resolve, depth - 1) or UNKNOWN for part in parts if not _is_ellipsis(part)]
        if word in ("tuple", "Tuple") and len(members) == len(parts):
            return of_kind(Kind.SEQUENCE, items=tuple(members))
        return of_kind(Kind.SEQUENCE, member=members[-1] if members else UNKNOWN)
    return _plain(names, base)


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def _plain(names: frozenset[str], node: ast.expr) -> Value | None:
    """Return the value that a class describes, by its full name or else by its last word; None for others."""
    for name in names or frozenset({word_of(node)}):
        word = leaf(name)
        if name in ("torch.Tensor", "torch.cuda.Tensor") or name == "torch.autograd.Variable":
            return tensor(ANY_GRAD, ANY_DEVICE)
        if name == "torch.nn.Parameter":
            return tensor(Grad.ATTACHED, ANY_DEVICE, Dtype.FLOATING, instance=frozenset({name}))
        if word in LEGACY_DTYPES and name.startswith("torch."):
            return _legacy(word)
        if name.startswith("numpy.") or word in ("ndarray", "NDArray", "ArrayLike"):
            return of_kind(Kind.ARRAY)
        if name in ("torch.device", "torch.dtype"):
            if word == "dtype":
                return of_kind(Kind.DTYPE)
            return of_kind(Kind.DEVICE, device=Device.HOST | Device.ACCELERATOR)
        if name.startswith("builtins."):
            return _builtin(word)
        if name == "torch.nn.utils.rnn.PackedSequence":
            return OTHER
        if name.startswith("torch.distributions.") and word[:1].isupper():
            return of_kind(Kind.OTHER, instance=frozenset({name}), member=tensor(ANY_GRAD, ANY_DEVICE))
        if name.startswith("torch.nn.") and word[:1].isupper():
            own = frozenset({name}) if word != "Module" else frozenset[str]()
            return Value(Kind.MODULE, Grad.ATTACHED, ANY_DEVICE, instance=own)
        if name == TRAINER:
            return of_kind(Kind.OTHER, instance=frozenset({name}))
        if name.startswith("lightning.LightningModule"):
            return Value(Kind.MODULE, Grad.ATTACHED, ANY_DEVICE)
        if name == "torch.utils.data.DataLoader":
            return None
        if name.partition(".")[0] in _FOREIGN:
            return OTHER
        if name == "torch.Size":
            return of_kind(Kind.SIZE, member=of_kind(Kind.INTEGER))
    return None


def _legacy(word: str) -> Value:
    dtype = LEGACY_DTYPES[word]
    grad = ANY_GRAD if dtype_bits(dtype) & Dtype.FLOATING else Grad.DETACHED
    return tensor(grad, ANY_DEVICE, dtype_bits(dtype), exact=dtype)


def _builtin(word: str) -> Value | None:
    if word in _SCALARS:
        return of_kind(_SCALARS[word])
    if word in ("str", "bytes"):
        return of_kind(Kind.STRING)
    if word in _CONTAINERS:
        return of_kind(Kind.SEQUENCE, member=UNKNOWN)
    return OTHER if word == "type" else None


_MAY_BE_TENSOR = re.compile(
    r"(Tensors?|Array|Variable|Types?|Like|Any|Inputs?|Outputs?|Parameter|Module|Net|Network|Model|T|Data|Value)\d*$"
)
"""How a class's name ends under which a tensor, a module or an alias of several types may hide."""

_FAMILIAR = ("here.", "builtins.", "typing", "collections", "torch.", "torchvision.", "lightning", "jaxtyping", "numpy")


def foreign_object(names: frozenset[str]) -> Value | None:
    """Return an object of an imported class that is none of torch's; None where the name may stand for a tensor."""
    if len(names) != 1:
        return None
    name = next(iter(names))
    word = leaf(name)
    if name.startswith(_FAMILIAR) or not word[:1].isupper() or _MAY_BE_TENSOR.search(word):
        return None
    return of_kind(Kind.OTHER, instance=names)
