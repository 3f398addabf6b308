"""Whether anyone can tell a tensor object from a second one with the same memory: who holds it, and what is done to it.

``Variable(x)`` makes a second object; to put ``x`` in its place is exact only where nothing sets ``requires_grad`` on
either, resizes it, writes a live value into it, or hands it to code that might.
"""

from __future__ import annotations

import ast

from torchlint.rules.api import FileContext, Kind, Loop, Value, parameters, root_of_place
from torchlint.rules.evidence.local_bindings import are_of_torch
from torchlint.rules.evidence.method_calls import call_of

COMPUTING_ANEW = frozenset(
    "sum mean prod std var norm exp log sqrt rsqrt square reciprocal abs sign neg sin cos round floor ceil trunc clamp "
    "pow add sub mul div fmod remainder lerp maximum minimum matmul mm bmm mv dot outer addmm cross cumsum cumprod "
    "eq ne gt ge lt le argmax argmin sigmoid tanh softmax log_softmax tril triu diag flip roll gather index_select "
    "masked_fill masked_select clone".split()
)
"""Methods, also functions of ``torch``, whose result is a new object and no view: measured on torch 2.13."""

_NEW_METHODS = COMPUTING_ANEW | frozenset("detach new new_tensor new_empty new_full new_ones new_zeros repeat".split())
"""Methods whose result is a new object and no view."""

SAME_OR_NEW_METHODS = frozenset(
    "cuda cpu to float double half bfloat16 long int short char byte bool type type_as contiguous pin_memory".split()
)
"""Methods whose result is the receiver itself or a new object, never a view."""

_NEW_FUNCTIONS = COMPUTING_ANEW | frozenset(
    "arange empty empty_like eye full full_like linspace logspace ones ones_like rand rand_like randn randn_like "
    "randint randint_like randperm zeros zeros_like tensor from_numpy normal bernoulli multinomial poisson cat "
    "stack Variable".split()
)
"""Functions of ``torch`` whose result is a new object and no view."""

_ARGUMENT_OR_VIEW = frozenset(
    "as_tensor asarray adjoint atleast_1d atleast_2d atleast_3d broadcast_tensors cartesian_prod conj conj_physical "
    "dequantize flatten positive real resolve_conj resolve_neg squeeze unsqueeze transpose t permute select narrow "
    "split chunk unbind reshape ravel movedim moveaxis swapaxes swapdims view_as_real view_as_complex diagonal imag "
    "as_strided broadcast_to load tensor_split hsplit vsplit dsplit unflatten compile einsum meshgrid alpha_dropout "
    "celu dropout dropout1d dropout2d dropout3d elu feature_alpha_dropout hardsigmoid hardswish hardtanh leaky_relu "
    "mish relu relu6 selu silu threshold rrelu".split()
)
"""Functions of ``torch`` and ``torch.nn.functional`` whose result may be, or may be a view of, an argument."""

_TAKING_OVER = frozenset({"as_tensor", "asarray"})
"""Of these, the ones that make a new object of all that is no tensor, over an array's memory."""

_COPIED = Kind.ARRAY | Kind.SEQUENCE | Kind.INTEGER | Kind.SCALAR
INTEGRAL = frozenset(f"{kind}Tensor" for kind in ("Long", "Int", "Short", "Char", "Byte", "Bool"))
_READERS = frozenset("print len float int bool str repr isinstance format abs".split())
_TOUCHY = frozenset(
    "grad grad_fn register_hook register_post_accumulate_grad_hook retain_grad backward volatile T mT H mH "
    "real imag names __array__ share_memory_ storage untyped_storage __dict__".split()
)
"""Attributes through which the object itself is changed, aliased or told apart."""

_CONVERTED = frozenset("tolist item numpy size dim numel nelement data_ptr stride element_size type_as".split())
Seen = frozenset[str] | None
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)


def held_alone(node: ast.expr, context: FileContext) -> bool:
    """Whether an expression makes a tensor object that nothing else refers to, and that is no view."""
    match node:
        case ast.Attribute(value=receiver, attr="data"):
            return _value(receiver, context).is_tensor
        case ast.Call(func=function):
            return _call_makes_new(node, function, context)
        case ast.BinOp() | ast.Compare() | ast.UnaryOp(op=ast.USub() | ast.Invert()):
            return _value(node, context).is_tensor
    return False


def view_held_alone(node: ast.expr, context: FileContext) -> bool:
    """Whether an expression is a chain of tensor methods and indexing on an object that nothing else refers to."""
    match node:
        case ast.Subscript(value=receiver) | ast.Call(func=ast.Attribute(value=receiver)):
            return held_alone(node, context) or (
                _value(receiver, context).is_tensor and view_held_alone(receiver, context)
            )
    return held_alone(node, context)


def _call_makes_new(call: ast.Call, function: ast.expr, context: FileContext) -> bool:
    names = _value(function, context).names
    if are_of_torch(names):
        return all(_is_maker(name, call, context) for name in names)
    if not isinstance(function, ast.Attribute) or not _value(function.value, context).is_tensor:
        return False
    if function.attr in SAME_OR_NEW_METHODS or (function.attr.endswith("_") and not function.attr.startswith("_")):
        return held_alone(function.value, context)
    if function.attr == "new" and len(call.args) == 1:
        return False
    return function.attr in _NEW_METHODS


def _is_maker(name: str, call: ast.Call, context: FileContext) -> bool:
    owner, _, word = name.rpartition(".")
    if any(each.arg in (None, "out") for each in call.keywords):  # **options may say requires_grad=True
        return False
    if owner in ("torch", "torch.cuda") and word.endswith("Tensor"):
        # of a tensor a legacy constructor makes a view, with its graph; integers can have none, and two are sizes
        given = [each for each in call.args if not isinstance(each, ast.Starred)]
        return word in INTEGRAL or len(given) > 1 or not any(_value(each, context).may(Kind.TENSOR) for each in given)
    if owner == "torch" and word in _TAKING_OVER:
        return bool(call.args) and _value(call.args[0], context).must(_COPIED)
    return owner in ("torch", "torch.autograd") and word in _NEW_FUNCTIONS


def has_no_other_reference(name: ast.Name, wrapping: ast.stmt, context: FileContext) -> bool:
    """Whether a local name holds a new object that no other name or container reaches when a statement rebinds it.

    Every other binding of it must be a new object or a ``DataLoader``'s batch, and what stands between must not store
    it, or a view of it, under another name or anywhere else: who holds it would see what is done to the name later.
    """
    scope = _scope(name, context)
    if scope is None or isinstance(scope, ast.Module) or name.id in parameters(scope):
        return False
    others = [use for use in names_within(name.id, scope, context) if not _within(use, wrapping, context)]
    bindings = [use for use in others if isinstance(use.ctx, ast.Store)]
    if not all(_bound_to_new(use, context) for use in bindings) or not _anew(bindings, wrapping, context):
        return False
    start = context.span(wrapping)[0]
    earlier = (use for use in others if isinstance(use.ctx, ast.Load) and context.span(use)[0] < start)
    if not all(is_read(use, context, None) for use in earlier):
        return False
    return not _shared_scope(name.id, scope, context) and not any(map(_gives_all_names, ast.walk(scope)))


def _gives_all_names(node: ast.AST) -> bool:
    """Whether a name is one of the functions that give what other names stand for."""
    return isinstance(node, ast.Name) and node.id in ("locals", "vars", "eval", "exec", "dir")


def never_changed(made: ast.expr, source: ast.expr, context: FileContext) -> bool:
    """Whether what an expression makes, and the local name or chain that it wraps, are only read in their function."""
    scope = _scope(made, context)
    if scope is None or isinstance(scope, ast.Module) or not is_read(made, context):
        return False
    if not isinstance(source, ast.Name):
        return view_held_alone(source, context)
    if _augmented(source.id, scope, context):
        return False
    inside = set(ast.walk(made))
    others = (
        use for use in names_within(source.id, scope, context) if isinstance(use.ctx, ast.Load) and use not in inside
    )
    return not _shared_scope(source.id, scope, context) and all(is_read(use, context) for use in others)


def is_read(node: ast.expr, context: FileContext, seen: Seen = frozenset()) -> bool:
    """Whether all that is done with the object an expression gives is reading its elements or its metadata.

    :param seen: the names that were followed to here; None where it is to have no other name at all
    """
    above = context.parent(node)
    match above:
        case ast.BinOp() | ast.UnaryOp(op=ast.USub() | ast.Invert() | ast.Not()) | ast.FormattedValue() | ast.Expr():
            return True
        case ast.Compare(ops=ops):
            return not any(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in ops)
        case ast.If(test=test) | ast.While(test=test) if test is node:
            return True
        case ast.Attribute(attr=word, ctx=ast.Load()):
            return _attribute_reads(above, word, context, seen)
        case ast.Subscript(ctx=ast.Load(), slice=index) if index is node:
            return True
        case ast.Subscript(ctx=ast.Load()):
            return is_read(above, context, seen)
        case ast.Call(func=function) if function is not node:
            return _only_reads_arguments(function, context)
        case ast.AugAssign(value=value) if value is node:
            return True
        case ast.keyword(arg=word) if word != "out":
            call = context.parent(above)
            return isinstance(call, ast.Call) and _only_reads_arguments(call.func, context)
        case ast.Assign(targets=[ast.Name() as target]):
            return _name_is_read(target, context, seen)
        case ast.Tuple(ctx=ast.Load(), elts=members):
            return _member_is_read(above, members.index(node), context, seen)
    return False


def _attribute_reads(above: ast.Attribute, word: str, context: FileContext, seen: Seen) -> bool:
    call = call_of(above, context)
    if word in _TOUCHY or word.endswith("_"):
        return False
    if call is None:
        return True  # x.shape, x.dtype, x.device, x.requires_grad
    if word in _NEW_METHODS or word in _CONVERTED:
        return True
    return is_read(call, context, seen)  # x.view(-1), x.cuda(): the same memory or the object itself


def _member_is_read(pair: ast.Tuple, at: int, context: FileContext, seen: Seen) -> bool:
    match context.parent(pair):
        case ast.Assign(targets=[ast.Tuple(elts=targets)]) if len(targets) == len(pair.elts):
            target = targets[at]
            return isinstance(target, ast.Name) and _name_is_read(target, context, seen)
    return False


def _name_is_read(target: ast.Name, context: FileContext, seen: Seen) -> bool:
    if seen is None:
        return False
    if target.id in seen:
        return True
    scope = _scope(target, context)
    if scope is None or isinstance(scope, ast.Module) or _shared_scope(target.id, scope, context):
        return False
    loads = [use for use in names_within(target.id, scope, context) if isinstance(use.ctx, ast.Load)]
    return not _augmented(target.id, scope, context) and all(is_read(use, context, seen | {target.id}) for use in loads)


def _only_reads_arguments(function: ast.expr, context: FileContext) -> bool:
    """Whether a function is one of torch's or a builtin: they leave the metadata of their arguments alone."""
    known = _value(function, context)
    if isinstance(function, ast.Name) and function.id in _READERS and not known.names:
        return True
    if known.names:
        readers = ("torch.nn.functional.", "torch.")
        return all(name in _READERS or (name.startswith(readers) and _plain_function(name)) for name in known.names)
    if isinstance(function, ast.Attribute) and _value(function.value, context).is_tensor:
        if function.attr == "new":  # of a tensor it makes a view
            return False
        return not function.attr.endswith("_") or function.attr in ("copy_", "add_", "mul_", "sub_", "div_")
    return known.must(Kind.MODULE) and bool(known.instance) and all(_is_builtin(each) for each in known.instance)


def _plain_function(name: str) -> bool:
    owner, _, word = name.rpartition(".")
    if word in _ARGUMENT_OR_VIEW or word.endswith(("_", "Tensor")):  # a legacy constructor gives a view of a tensor
        return False
    return owner in ("torch", "torch.nn.functional")


def _is_builtin(name: str) -> bool:
    return name.startswith("torch.nn.") and (name.endswith("Loss") or name in ("torch.nn.Linear", "torch.nn.Embedding"))


def _anew(bindings: list[ast.Name], wrapping: ast.stmt, context: FileContext) -> bool:
    """Whether one of some bindings runs again each time before a statement does, in the innermost loop around it."""
    around = list(context.ancestors(wrapping))
    loop = next((each for each in around if isinstance(each, Loop)), None)
    if loop is None:
        return True
    blocks = around[: around.index(loop) + 1]
    return any(_stands_before(each, wrapping, blocks, context) for each in bindings)


def _stands_before(binding: ast.Name, wrapping: ast.stmt, blocks: list[ast.AST], context: FileContext) -> bool:
    """Whether a binding is a statement of one of the blocks around another statement, and stands before it."""
    if context.span(binding)[0] > context.span(wrapping)[0]:
        return False
    statement = next(each for each in context.ancestors(binding) if isinstance(each, ast.stmt))
    return statement in blocks or (context.parent(statement) in blocks and isinstance(statement, ast.Assign))


def _bound_to_new(target: ast.Name, context: FileContext) -> bool:
    above: ast.AST = target
    for above in context.ancestors(target):
        if not isinstance(above, ast.Tuple | ast.List):
            break
    match above:
        case ast.Assign(value=value, targets=[single]) if single is target:
            return held_alone(value, context)
        case ast.For(iter=source) | ast.AsyncFor(iter=source):
            return _gives_batches(source, context)
    return False


def _gives_batches(source: ast.expr, context: FileContext) -> bool:
    match source:
        case ast.Call(func=ast.Name(id="enumerate" | "tqdm"), args=[inner, *_]):
            return _gives_batches(inner, context)
    return _value(source, context).instance == frozenset({"torch.utils.data.DataLoader"})


def _value(node: ast.expr, context: FileContext) -> Value:
    return context.value(node)


def _scope(node: ast.AST, context: FileContext) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.Module | None:
    for above in context.ancestors(node):
        if isinstance(above, _SCOPES):
            return above
        if isinstance(above, ast.Lambda | ast.ClassDef | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            return None
    return None


def names_within(name: str, scope: ast.AST, context: FileContext) -> list[ast.Name]:
    """Return where a name stands in a function or module, those of functions inside it counted."""
    return [each for each in context.inside(scope, ast.Name) if each.id == name]


def _augmented(name: str, scope: ast.AST, context: FileContext) -> bool:
    """``v += w`` and ``v[0] = w`` write into the object."""
    statements: list[ast.Assign | ast.AugAssign] = context.inside(scope, ast.Assign, ast.AugAssign)
    for node in statements:
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            root = root_of_place(target)
            if (
                isinstance(root, ast.Name)
                and root.id == name
                and (root is not target or isinstance(node, ast.AugAssign))
            ):
                return True
    return False


def _shared_scope(name: str, scope: ast.AST, context: FileContext) -> bool:
    statements: list[ast.Global | ast.Nonlocal] = context.inside(scope, ast.Global, ast.Nonlocal)
    return any(name in each.names for each in statements)


def _within(node: ast.AST, statement: ast.stmt, context: FileContext) -> bool:
    return node is statement or statement in context.ancestors(node)
