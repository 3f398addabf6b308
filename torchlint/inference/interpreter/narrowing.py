"""What a test says of the values it tests, where it holds and where it does not."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from torchlint.facts.value import ANY, Device, Dtype, Grad, Kind, Mode, Reason, Value
from torchlint.inference.interpreter.environment import Env
from torchlint.inference.lattice import join_all
from torchlint.inference.models.operations import CASTS, LEGACY_DTYPES, leaf
from torchlint.inference.models.tensors import dtype_bits, dtype_name
from torchlint.inference.program.imports import path_of
from torchlint.syntax.places import elements_of

_ASKED = "the test found that {code} requires grad"

_LEAVES_MORE = "the test leaves more open"
"""What is no list may be a tuple."""
_TENSOR_ONLY = frozenset(["detach", "cpu", "cuda", "requires_grad", "grad_fn", "is_cuda", "backward", "data_ptr"])

_ABSTRACT = ("typing.", "typing_extensions.", "collections.abc.", "types.")
"""Where classes are found that objects of any other class may pass for: ``isinstance(x, Callable)``."""

_KINDS: dict[str, Kind] = {
    "torch.Tensor": Kind.TENSOR,
    "torch.autograd.Variable": Kind.TENSOR,
    "torch.nn.Parameter": Kind.TENSOR,
    "numpy.ndarray": Kind.ARRAY,
    "torch.nn.Module": Kind.MODULE,
    "torch.device": Kind.DEVICE,
    "torch.dtype": Kind.DTYPE,
    "torch.Size": Kind.SIZE,
    "builtins.int": Kind.INTEGER,
    "builtins.float": Kind.SCALAR,
    "builtins.bool": Kind.SCALAR,
    "builtins.complex": Kind.SCALAR,
    "builtins.str": Kind.STRING,
    "builtins.bytes": Kind.STRING,
    "numbers.Number": Kind.SCALAR | Kind.INTEGER,
    **{f"builtins.{word}": Kind.SEQUENCE for word in ("list", "dict", "set", "range", "frozenset")},
    "builtins.tuple": Kind.SEQUENCE | Kind.SIZE,
    **{
        f"{package}.{word}": kind
        for package in ("collections.abc", "collections", "typing")
        for kind, words in (
            (Kind.SEQUENCE, ("Mapping", "MutableMapping", "OrderedDict", "List", "Dict")),
            (Kind.SEQUENCE | Kind.SIZE, ("Sequence", "Iterable", "Tuple")),
        )
        for word in words
    },
}
"""The kind of a class's objects; a ``torch.Size`` is a tuple."""
_PARTS_OF_KINDS = frozenset({"torch.nn.Parameter"})
"""Classes among these that have other objects of their kind beside them."""


class GuardedText(Protocol):
    """The file of which the tests are."""

    def meant(self, name: ast.Name, /) -> ast.expr | None:
        """Return the expression that a name was bound to, where that is a test and still holds."""

    @property
    def works_with_torch(self) -> bool:
        """Whether words that other libraries share with torch speak for a tensor: ``hasattr(x, "detach")``."""

    @property
    def knows_cuda_alone(self) -> bool:
        """Whether CUDA is the one accelerator that is named."""


@dataclass(frozen=True)
class Guard:
    """Narrows an environment by tests; ``evaluate`` gives the value of an expression in it."""

    evaluate: Callable[[ast.expr, Env], Value]
    evaluated: Callable[[ast.expr], Value | None]
    """Gives the value that an expression had when it was evaluated: a call must not be made again."""
    decided: Callable[[ast.expr, Env], bool | None]
    """Tells whether a test holds, where what the walk knows decides that."""
    text: GuardedText

    def narrow(self, test: ast.expr, holds: bool, env: Env) -> None:
        """Refine what is known where the test holds, or where it does not."""
        if isinstance(test, ast.Name) and (spelled := self.text.meant(test)) is not None:
            self.narrow(spelled, holds, env)
            return
        match test:
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                self._compare(left, operator, right, holds, env)
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                self.narrow(inner, not holds, env)
            case ast.BoolOp(op=ast.And(), values=parts) if holds:
                for part in parts:
                    self.narrow(part, True, env)
            case ast.BoolOp(op=ast.Or(), values=parts) if not holds:
                for part in parts:
                    self.narrow(part, False, env)
            case ast.BoolOp(op=ast.Or(), values=parts):
                self._any_of(parts, True, env)
            case ast.BoolOp(op=ast.And(), values=parts):
                self._any_of(parts, False, env)
            case ast.Call():
                self._call(test, holds, env)
            case ast.Attribute(value=subject, attr=word):
                self._flag(subject, word, holds, env)
                self._availability(test, holds, env)
            case ast.NamedExpr(target=target):
                self.narrow(target, holds, env)
            case ast.Name() if holds:
                self._drop(test, Kind.NONE, env)
            case ast.Name():
                self._availability(test, holds, env)

    def _any_of(self, parts: list[ast.expr], holds: bool, env: Env) -> None:
        """One of the parts is the first that holds, or does not hold; those before it did not decide.

        It is none of those that are known to come out the other way, and none behind one that is known to decide.
        """
        branches = []
        known = [self.decided(part, env) for part in parts]
        reached = known.index(holds) + 1 if holds in known else len(parts)
        able = [at for at in range(reached) if known[at] is not (not holds)]
        for last in able or range(len(parts)):
            branch = env.layer()
            for part in parts[:last]:
                self.narrow(part, not holds, branch)
            self.narrow(parts[last], holds, branch)
            branches.append(branch)
        env.merge(branches)

    def _refine(self, subject: ast.expr, env: Env, known: Value | None = None, /, **facts: object) -> None:
        """Say more of what a path stands for; ``known`` is what is known of it, where that was asked for already."""
        path = path_of(subject)
        if path is not None:
            env.refine(path, (known or self.evaluate(subject, env)).having(**facts))

    def _drop(self, subject: ast.expr, kind: Kind, env: Env) -> None:
        """Take a kind away from what an expression may be: a test says that it is none of it."""
        value = self.evaluate(subject, env)
        left = value.kind & ~kind
        placed = left and value.must(kind | Kind.MODULE | Kind.DEVICE | Kind.STRING | Kind.NONE)
        if not left and kind & Kind.TENSOR:
            left = ANY & ~kind  # an annotation said what the test denies
        if not left or not value.kind & kind:
            return
        claimed = value.claimed or (_LEAVES_MORE if value.kind & kind & Kind.SEQUENCE else "")
        if left & Kind.TENSOR or placed:
            self._refine(subject, env, value, kind=left, claimed=claimed)
        else:  # grad and place spoke of the tensor that it is not
            none = {"grad": Grad(0), "device": Device(0), "dtype": Dtype(0)}
            self._refine(subject, env, value, kind=left, claimed=claimed, **none)

    def _keep(self, subject: ast.expr, kind: Kind, env: Env) -> None:
        """Leave nothing but some kinds of what an expression may be: a test says that it is one of them."""
        value = self.evaluate(subject, env)
        kept, claimed = _kept(value, kind)
        grad = value.grad or Grad.DETACHED | Grad.UNKNOWN
        if kind & ~Kind.SIZE == Kind.SEQUENCE and value.items is None and value.member is None and not value.unknown:
            # What a method that lists lack told of the value holds for its parts, where the test is ever true.
            part = value.having(kind=ANY, rank=None)
            self._refine(subject, env, value, kind=kept, member=part if value.kind else None, claimed=claimed)
            return
        device = value.device or Device.HOST | Device.UNKNOWN
        self._refine(subject, env, value, kind=kept, grad=grad, device=device, claimed=claimed)

    # ------------------------------------------------------------------ forms of tests
    def _flag(self, subject: ast.expr, word: str, holds: bool, env: Env) -> None:
        """Narrow by an attribute of a tensor that is true or false: ``x.requires_grad``, ``x.is_cuda``."""
        if word == "requires_grad":
            value = self.evaluate(subject, env)
            if holds:
                self._refine(
                    subject, env, value, grad=Grad.ATTACHED, why_grad=value.why_grad or Reason(_ASKED, subject)
                )
            else:
                self._refine(subject, env, grad=Grad.DETACHED)
        elif word in ("is_cuda", "is_mps", "is_xpu"):
            self._refine(subject, env, device=Device.ACCELERATOR if holds else Device.HOST)
        elif word == "is_cpu":
            self._refine(subject, env, device=Device.HOST if holds else Device.ACCELERATOR)

    def _availability(self, test: ast.expr, holds: bool, env: Env) -> None:
        """``torch.cuda.is_available()``, or what keeps its answer: where it does not hold no tensor is on a GPU."""
        if not holds and not env.without_cuda:
            value = self.evaluated(test)
            env.without_cuda = value is not None and value.tells_cuda and self.text.knows_cuda_alone

    def _call(self, test: ast.Call, holds: bool, env: Env) -> None:
        """Narrow by a call that tests something: ``isinstance``, ``hasattr``, ``torch.is_tensor``."""
        self._availability(test, holds, env)
        names = self.evaluate(test.func, env).names
        if "builtins.isinstance" in names and len(test.args) == 2:
            self.is_instance(test.args[0], test.args[1], holds, env)
        elif "torch.is_tensor" in names and test.args:
            self._kind(test.args[0], Kind.TENSOR, holds, env)
        elif "torch.is_grad_enabled" in names:
            env.mode = Mode.ON if holds else Mode.OFF
        elif "builtins.hasattr" in names and len(test.args) == 2:
            word = test.args[1].value if isinstance(test.args[1], ast.Constant) else None
            if word in _TENSOR_ONLY and self.text.works_with_torch:
                self._kind(
                    test.args[0], Kind.TENSOR | (Kind.MODULE if word in ("cpu", "cuda") else Kind(0)), holds, env
                )

    def is_instance(self, subject: ast.expr, wanted: ast.expr, holds: bool, env: Env) -> None:
        """Refine by ``isinstance(subject, wanted)``."""
        types = elements_of(wanted)
        values = [self.evaluate(each, env) for each in types]
        kinds = [kind_of_type(value) for value in values]
        known = Kind(0)
        for kind in kinds:
            known |= kind or Kind(0)
        if not holds:
            excluded = Kind(0)
            for value in values:
                excluded |= _excluded_kind(value)
            if excluded:
                self._drop(subject, excluded, env)
        elif all(kinds):
            self._keep(subject, known, env)
            if any(leaf(name) == "Iterable" for value in values for name in value.names):
                self._refine(subject, env, claimed=_LEAVES_MORE)  # arrays, tensors and texts are iterable, too
        else:
            self._object(subject, join_all(values), known, env)

    def _object(self, subject: ast.expr, types: Value, known: Kind, env: Env) -> None:
        """Keep an object of a class that is none of torch's: still a tensor's subclass may be meant."""
        value = self.evaluate(subject, env)
        if types.names and not any(name.startswith("torch.") for name in types.names):
            kind = (value.kind & (known | Kind.OTHER | Kind.MODULE)) or Kind.OTHER
            says_a_class = not any(name.startswith(_ABSTRACT) for name in types.names)
            self._refine(subject, env, kind=kind, instance=types.names if says_a_class else value.instance)

    def _kind(self, subject: ast.expr, kind: Kind, holds: bool, env: Env) -> None:
        if holds:
            self._keep(subject, kind, env)
        else:
            self._drop(subject, kind, env)

    def _compare(self, left: ast.expr, operator: ast.cmpop, right: ast.expr, holds: bool, env: Env) -> None:
        """Narrow by a comparison: with ``None``, with a class, with a dtype or with a device."""
        if isinstance(operator, ast.NotEq | ast.IsNot):
            operator, holds = ast.Eq(), not holds
        elif isinstance(operator, ast.Is):
            operator = ast.Eq()
        if isinstance(operator, ast.In) and holds and isinstance(right, ast.List | ast.Tuple | ast.Set):
            self._among(left, right.elts, env)
        if not isinstance(operator, ast.Eq):
            return
        if isinstance(right, ast.Constant) and right.value is None:
            self._kind(left, Kind.NONE, holds, env)
        elif isinstance(left, ast.Call) and "builtins.type" in self.evaluate(left.func, env).names and left.args:
            asked = self.evaluate(right, env)
            if (kind := kind_of_type(asked)) and holds:
                own = kind if "torch.Size" in asked.names else kind & ~Kind.SIZE  # a `torch.Size` is of no other class
                self._keep(left.args[0], own, env)
        elif isinstance(right, ast.Constant) and isinstance(right.value, bool):
            self.narrow(left, holds == right.value, env)
        elif isinstance(left, ast.Attribute) and left.attr == "dtype":
            self._dtype(left.value, self.evaluate(right, env), holds, env)
        else:
            self._device(left, right, holds, env)

    def _dtype(self, subject: ast.expr, wanted: Value, holds: bool, env: Env) -> None:
        """``x.dtype == torch.uint8``: a tensor of that dtype, or of any other."""
        value, name = self.evaluate(subject, env), dtype_name(wanted)
        if name is None or not value.may(Kind.TENSOR):
            return
        bits = dtype_bits(name)
        if holds and bits & value.dtype:
            self._refine(subject, env, value, dtype=bits, exact=CASTS.get(name, name))
        elif not holds and bits == Dtype.BOOL and value.dtype & ~bits:
            self._refine(subject, env, value, dtype=value.dtype & ~bits)

    def _among(self, asked: ast.expr, wanted: list[ast.expr], env: Env) -> None:
        """``x.dtype in (torch.int32, torch.int64)``: a tensor of one of these dtypes."""
        if not isinstance(asked, ast.Attribute) or asked.attr != "dtype":
            return
        value = self.evaluate(asked.value, env)
        names = [dtype_name(self.evaluate(each, env)) for each in wanted]
        bits = Dtype(0)
        for name in names:
            bits |= dtype_bits(name) if name is not None else value.dtype
        if value.may(Kind.TENSOR) and names and bits & value.dtype:
            self._refine(asked.value, env, value, dtype=bits & value.dtype)

    def _device(self, left: ast.expr, right: ast.expr, holds: bool, env: Env) -> None:
        """``x.device.type == "cpu"``, ``str(x.device) == "cpu"``, ``x.device == torch.device("cpu")``."""
        asked = self.text.meant(left) or left if isinstance(left, ast.Name) else left
        subject = _asked_for_device(asked)
        if subject is None:
            return
        wanted = self.evaluate(right, env).device
        if wanted == Device.HOST:
            self._refine(subject, env, device=Device.HOST if holds else Device.ACCELERATOR)
        elif wanted == Device.ACCELERATOR:
            self._refine(subject, env, device=Device.ACCELERATOR if holds else Device.HOST)


def _kept(value: Value, kind: Kind) -> tuple[Kind, str]:
    """Return what a value is that passed a test for some kinds, and why that is only claimed, if it is."""
    kept = value.kind & kind or kind
    claimed = value.claimed if kind & ~value.kind else ""  # else the test alone says as much
    if kept & Kind.SIZE and kept & Kind.SEQUENCE and kept != value.kind:
        return kept & ~Kind.SIZE, claimed or "a `torch.Size` is a tuple, too"
    return kept, claimed


def _asked_for_device(node: ast.expr) -> ast.expr | None:
    match node:
        case ast.Attribute(value=subject, attr="device"):
            return subject
        case ast.Attribute(value=inner, attr="type") | ast.Call(func=ast.Name(id="str"), args=[inner]):
            return _asked_for_device(inner)
    return None


def kind_of_type(value: Value) -> Kind | None:
    """Return the kind that objects of a class have; None where that is not known."""
    kinds = Kind(0)
    for name in value.names:
        if name in _KINDS:
            kinds |= _KINDS[name]
        elif name.startswith("torch.") and leaf(name) in LEGACY_DTYPES:
            kinds |= Kind.TENSOR
        elif name.startswith("torch.nn.") and leaf(name)[:1].isupper():
            kinds |= Kind.MODULE
        elif name.startswith("numpy."):
            kinds |= Kind.ARRAY | Kind.SCALAR
        elif name.startswith(("tensorflow.", "jax.", "PIL.", "pandas.")):
            kinds |= Kind.OTHER
        else:
            return None
    return kinds & ANY or None


def _excluded_kind(value: Value) -> Kind:
    """Return the kind of which nothing is that is no object of a class: a tensor that is no parameter is one still."""
    if not value.names or not all(name in _KINDS and name not in _PARTS_OF_KINDS for name in value.names):
        return Kind(0)
    return kind_of_type(value) or Kind(0)
