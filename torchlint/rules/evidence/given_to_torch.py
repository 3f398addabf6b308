"""Whether a value went into an operation of torch that refuses all but tensors, before it gets to a place.

`F.relu(x)` raises for an array, a record, and an object that has all the methods of a tensor. So where it was
evaluated and control goes on, `x` is a tensor, whatever a caller handed over. `F.softmax(x)` proves nothing: it calls
`x.softmax`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from torchlint.rules.api import GRAD_MODES, FileContext, Function, Loop, blocks_of, remembered
from torchlint.rules.evidence.local_bindings import names_of, places_of
from torchlint.rules.evidence.torch_layers import COMPUTING, constructed_layers

_OF_TORCH = frozenset(
    "abs addmm all allclose any argmax argmin argsort atan2 baddbmm bernoulli bincount bmm cdist ceil chunk clamp "
    "clone cos cosh cosine_similarity cumsum detach diag dist dot empty_like equal erf exp expm1 flatten flip floor "
    "frac full_like gather histc index_select isfinite isinf isnan kthvalue log log10 log1p log2 log_softmax logsumexp "
    "masked_fill masked_select matmul max maximum mean median min minimum mm multinomial mv narrow neg nonzero numel "
    "ones_like outer permute prod rand_like randn_like reciprocal relu repeat_interleave reshape roll round rsqrt "
    "scatter sigmoid sign sin sinh softmax sort sqrt square squeeze std std_mean sum t take tan tanh topk trace "
    "transpose tril triu trunc unbind unsqueeze var var_mean zeros_like".split()
)
_FUNCTIONAL = frozenset(
    "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d "
    "adaptive_max_pool3d avg_pool1d avg_pool2d avg_pool3d batch_norm binary_cross_entropy "
    "binary_cross_entropy_with_logits celu conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d "
    "cosine_similarity cross_entropy dropout dropout2d dropout3d elu embedding gelu glu grid_sample group_norm "
    "hardshrink hardsigmoid hardswish hardtanh huber_loss instance_norm interpolate kl_div l1_loss layer_norm "
    "leaky_relu linear logsigmoid max_pool1d max_pool2d max_pool3d mish mse_loss nll_loss one_hot pad pixel_shuffle "
    "prelu relu relu6 selu silu smooth_l1_loss softplus softshrink unfold".split()
)
REFUSING = frozenset([f"torch.{word}" for word in _OF_TORCH] + [f"torch.nn.functional.{word}" for word in _FUNCTIONAL])
"""Functions whose first argument must be a tensor: they hand it to code that is not Python (measured on torch 2.13)."""
REFUSING_TWICE = frozenset(
    [f"torch.{word}" for word in "allclose bmm cdist cosine_similarity dist dot equal matmul mm mv outer".split()]
    + [
        f"torch.nn.functional.{word}"
        for word in (
            "binary_cross_entropy binary_cross_entropy_with_logits cosine_similarity cross_entropy huber_loss kl_div "
            "l1_loss linear mse_loss nll_loss smooth_l1_loss"
        ).split()
    ]
)
"""Functions whose second argument must be a tensor, too."""
REFUSING_LAYERS = COMPUTING - frozenset(
    f"torch.nn.{word}" for word in "Softmax LogSoftmax Bilinear SyncBatchNorm CTCLoss".split()
)
"""Layers that refuse all but tensors."""
_SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign)
_LATER = (ast.Lambda, ast.GeneratorExp, ast.ClassDef)
_STRICT = (
    ast.Call,
    ast.Attribute,
    ast.Subscript,
    ast.BinOp,
    ast.UnaryOp,
    ast.keyword,
    ast.Tuple,
    ast.List,
    ast.Starred,
)
"""Expressions that evaluate all that stands in them."""


@remembered
def was_given_to_torch(name: ast.Name, context: FileContext) -> bool:
    """Whether what a name stands for has gone through an operation that refuses all but tensors."""
    named = context.names_by_word().get(name.id)
    uses = [each for each in _refused(named[0], context) if each is not name] if named else []
    if not uses or not places_of(name, context) or _is_open_to_others(context):
        return False
    return any(_comes_before(each, name, context) for each in uses)


@remembered
def _refused(first: ast.Name, context: FileContext) -> tuple[ast.Name, ...]:
    """Return the first uses of a file's name as an argument that must be a tensor, by the first one of the name."""
    uses = (each for each in context.names_by_word().get(first.id, ()) if _is_refused(each, context))
    return tuple(islice(uses, _MOST_USES))


_MOST_USES = 50


def _is_open_to_others(context: FileContext) -> bool:
    """Whether a class of the project may have torch's functions take its objects, or a hook what a layer is given."""
    if context.attributes_by_word().keys() & {"register_forward_pre_hook", "register_module_forward_pre_hook"}:
        return True
    return context.is_defined(_PROTOCOL)


_PROTOCOL = "__torch_function__"


def _is_refused(use: ast.Name, context: FileContext) -> bool:
    """Whether a name is an argument that must be a tensor."""
    call = context.parent(use)
    if not isinstance(call, ast.Call) or use not in call.args[:2] or not isinstance(use.ctx, ast.Load):
        return False
    at = call.args.index(use)
    if any(isinstance(each, ast.Starred) for each in call.args[:at]):
        return False
    names = names_of(call.func, context)
    if names:
        return names <= (REFUSING_TWICE if at else REFUSING)
    layers = constructed_layers(call.func, context)
    is_loss = all(each.endswith("Loss") for each in layers)
    return bool(layers) and layers <= REFUSING_LAYERS and (is_loss or not at)


def _comes_before(use: ast.Name, name: ast.Name, context: FileContext) -> bool:
    """Whether control has passed one use of a name wherever it gets to another one, and nothing bound it in between."""
    scope = context.scope_that_binds(name)
    if scope is None or context.scope_that_binds(use) is not scope:
        return False
    if context.function_around(use) is not context.function_around(name):
        return False
    if set(places_of(use, context)) != set(places_of(name, context)):
        return False
    around = [name, *context.ancestors(name)]
    statement = _evaluating(use, context)
    if statement is None or any(isinstance(each, _LATER) for each in _below(around, scope)):
        return False
    for first in (statement, *_grad_blocks(statement, context)):
        for block in blocks_of(context.parent(first)):
            begin = next((at for at, each in enumerate(block) if each is first), None)
            end = next((at for at, each in enumerate(block) if each in around), None)
            if begin is not None and end is not None and begin < end:
                return not _is_bound_between(name, block[begin : end + 1], scope, context)
    return False


def _below(around: list[ast.AST], scope: ast.AST) -> Iterator[ast.AST]:
    """Yield what stands around a name inside the function that evaluates it."""
    for each in around:
        if each is scope or isinstance(each, Function):
            return
        yield each


def _evaluating(use: ast.Name, context: FileContext) -> ast.stmt | None:
    """Return the statement that always evaluates a use; None where it may be passed over."""
    for above in context.ancestors(use):
        if isinstance(above, _SIMPLE):
            return above
        if not isinstance(above, _STRICT):
            return None
    return None


def _grad_blocks(statement: ast.stmt, context: FileContext) -> Iterator[ast.With]:
    """Yield the blocks under a grad mode around a statement: no error ends one of them and lets control go on."""
    for above in context.ancestors(statement):
        if not isinstance(above, ast.With):
            return
        for item in above.items:
            manager = item.context_expr
            names = names_of(manager.func if isinstance(manager, ast.Call) else manager, context)
            if not names or not names <= GRAD_MODES:
                return
        yield above


def _is_bound_between(
    name: ast.Name, statements: list[ast.stmt], scope: Function | ast.Module, context: FileContext
) -> bool:
    """Whether a name may be rebound in statements of which the last one holds it."""
    last = statements[-1]
    inside = context.within(last)
    loops = [each for each in (name, *context.ancestors(name)) if isinstance(each, Loop) and each in inside]
    for store in context.stores(scope).get(name.id, ()):
        if any(store in context.within(each) for each in statements[:-1]):
            return True
        if store not in inside:
            continue
        if any(store in context.within(each) for each in loops):
            return True
        if context.span(store)[0] < context.span(name)[0] and not _reads_first(store, name, context):
            return True
    return False


def _reads_first(store: ast.Name, name: ast.Name, context: FileContext) -> bool:
    """Whether the assignment that binds a name evaluates it before: ``x = x.data``."""
    match context.parent(store):
        case ast.Assign(value=value):
            return name in context.within(value)
    return False
