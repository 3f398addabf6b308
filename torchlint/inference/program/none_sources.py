"""What gives `None` without saying so: layers that are built without a part, and what torch and Python leave out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.inference.program.spelled_calls import last_word

_PROJECTIONS = ("q_proj_weight", "k_proj_weight", "v_proj_weight")
LACKED = frozenset(_PROJECTIONS).union(
    "bias running_mean running_var num_batches_tracked bias_k bias_v in_proj_bias in_proj_weight pos_weight".split()
)
"""Parts of layers that may be left out."""
_BEFORE_SIZES = 6
"""So many arguments of an attention stand before the sizes of its keys and values."""
_STATISTICS = ("running_mean", "running_var", "num_batches_tracked")
_PARTS = {
    "bias": ("bias", "in_proj_bias"),
    "affine": ("weight", "bias"),
    "elementwise_affine": ("weight", "bias"),
    "track_running_stats": _STATISTICS,
}
"""The parts that a layer lacks where an argument of its constructor says no."""
_PLACES = {
    "Linear": {2: "bias"},
    "Bilinear": {3: "bias"},
    "LayerNorm": {2: "elementwise_affine", 3: "bias"},
    "GroupNorm": {3: "affine"},
    "MultiheadAttention": {3: "bias"},
    **{f"Conv{n}d": {7: "bias"} for n in (1, 2, 3)},
    **{f"ConvTranspose{n}d": {7: "bias"} for n in (1, 2, 3)},
    **{f"{kind}Norm{n}d": {3: "affine", 4: "track_running_stats"} for kind in ("Batch", "Instance") for n in (1, 2, 3)},
}
"""At which places these arguments are given."""
_WEIGHED = frozenset("CrossEntropyLoss NLLLoss NLLLoss2d BCELoss BCEWithLogitsLoss MultiLabelSoftMarginLoss".split())
"""Losses that have no weights unless they are given some, and may be given `None`."""
_HOOKS = frozenset(
    "register_backward_hook register_full_backward_hook register_full_backward_pre_hook "
    "register_module_backward_hook register_module_full_backward_hook register_module_full_backward_pre_hook".split()
)
_OF_TENSORS = frozenset(
    "abs add all amax amin any argmax argmin backward bfloat16 bmm bool byte char chunk clamp clone contiguous cpu "
    "cuda cumsum detach detach_ dim div double eq exp expand expand_as flatten float gather ge gt half index_select "
    "int item le log log_softmax long lt masked_fill matmul max mean min mm mul narrow ndimension ne neg norm numel "
    "numpy permute pow prod relu repeat requires_grad_ reshape resize_ round scatter select short sigmoid sign size "
    "softmax split sqrt squeeze std storage sub sum t tanh to tolist topk transpose type type_as unbind unfold "
    "unsqueeze var view view_as new new_zeros new_ones new_empty new_full new_tensor".split()
)
"""Methods of tensors: of `None` they fail, and what they are given is a size, a place or a number."""


def words_that_set(attribute: str) -> tuple[str, ...]:
    """Return the words by which a text may set an attribute of layers: its own, and those that leave it out."""
    more = ("affine", "elementwise_affine", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", *sorted(_WEIGHED))
    return (attribute, *more) if attribute == "weight" else (attribute,)


def parts_left_out(call: ast.Call) -> Iterator[str]:
    """Yield the attributes that may be `None` in what a call makes, by its arguments."""
    word = last_word(call.func) or ""
    if not word[:1].isupper():
        return
    if word in _WEIGHED:
        yield from ("weight", "pos_weight")
    if word == "MultiheadAttention":
        is_apart = any(each.arg in ("kdim", "vdim", None) for each in call.keywords) or len(call.args) > _BEFORE_SIZES
        yield from ("in_proj_weight", *_PROJECTIONS) if is_apart else _PROJECTIONS
    places = _PLACES.get(word, {})
    if places and (any(isinstance(each, ast.Starred) for each in call.args) or _has_more_keywords(call)):
        yield from (part for parts in _PARTS.values() for part in parts)
    given = {each.arg: each.value for each in call.keywords if each.arg in _PARTS}
    given |= {places[at]: value for at, value in enumerate(call.args) if at in places}
    if word.startswith("InstanceNorm"):  # it has none of them unless it is asked for
        given = {"affine": ast.Constant(False), "track_running_stats": ast.Constant(False), **given}
    for argument, value in given.items():
        if not _says_yes(value):
            yield from _PARTS[str(argument)]


def _has_more_keywords(call: ast.Call) -> bool:
    return any(each.arg is None for each in call.keywords)


def _says_yes(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is True


def is_layer(call: ast.expr) -> bool:
    """Whether an expression makes a layer of torch, by its name, of which is known which parts may be left out."""
    return isinstance(call, ast.Call) and (last_word(call.func) or "") in {*_PLACES, *_WEIGHED}


def hooks_backward(word: str | None) -> bool:
    """Whether a function takes a hook that is given gradients, `None` for those that there are not."""
    return word in _HOOKS


def leaves_weights_out(call: ast.Call) -> bool:
    """Whether an attention is asked for no weights: then it gives `None` beside its result."""
    return any(each.arg == "need_weights" and not _says_yes(each.value) for each in call.keywords)


def keeps_missing_gradients(call: ast.Call) -> bool:
    """Whether a call has the gradients that a function of autograd is not given be `None`."""
    return last_word(call.func) == "set_materialize_grads" and not all(map(_says_yes, call.args))


def is_of_tensors(method: str) -> bool:
    """Whether a method is one of tensors; those that write in place end in an underscore."""
    return method in _OF_TENSORS or (method.endswith("_") and not method.startswith("_"))


def gives_some_none(call: ast.Call, word: str) -> bool:
    """Whether a function of torch gives a tuple in which some may be `None`: indices without an order, gradients."""
    if word == "grad":
        return any(each.arg in ("allow_unused", "materialize_grads", None) for each in call.keywords)
    return word.startswith("pack_") or word == "PackedSequence"
