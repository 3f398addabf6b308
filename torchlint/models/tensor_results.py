"""What methods and attributes of tensors, and the functions of torch that compute, give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from torchlint.models import torch_functions
from torchlint.models.combined_operands import combined
from torchlint.models.descent import descend, gradient_of, truth_of
from torchlint.models.dtype_promotion import COMPLEX, divided, real_parts, reduced, under_autocast
from torchlint.models.inplace_changes import after_method
from torchlint.models.operation_sets import (
    FACTORY_METHODS,
    FUNCTIONS,
    KEEPS_GRAD,
    KEEPS_GRAD_INPLACE,
    KEEPS_GRAD_SOMETIMES,
    KEEPS_INTEGERS,
    METHODS,
    NEVER,
    NO_TENSOR,
    changes_in_place,
    scalar_arguments,
    words,
)
from torchlint.models.operator_results import arithmetic, comparison
from torchlint.models.rank_rules import LOSSES, higher, lower, multiplied, of_result
from torchlint.models.result_forms import gives_several, never_dtype, shaped
from torchlint.models.tensor_factories import factory, made_by_method
from torchlint.models.tensor_moves import MOVES, cast, dtype_of, moved, told_dtype
from torchlint.models.unknown_results import unknown_call
from torchlint.semantic.graph import SEQUENCE as SEQUENCE_NODE
from torchlint.semantic.graph import SLICE, CallArguments, Node
from torchlint.values import abstract as a
from torchlint.values.abstract import Abstract, join, join_all, of_kind, unknown
from torchlint.values.asking import ANY_ELEMENT, Asker, CallSite, Path, Presumption
from torchlint.values.contexts import Context

__all__ = [
    "arithmetic", "comparison", "subscripted", "tensor_attribute", "tensor_element", "tensor_method", "torch_function",
]  # fmt: skip

_NUMBERS_TOO: Final = words("""
    add sub subtract mul multiply div divide true_divide floor_divide remainder fmod pow float_power where masked_fill
    clamp clip clamp_min clamp_max lerp rsub xlogy fill copysign ldexp scatter index_fill index_put bitwise_and
    bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift eq ne lt le gt ge greater less greater_equal
    less_equal not_equal isin searchsorted bucketize quantile nanquantile normal full_like repeat_interleave
    special_zeta zeta heaviside
""")
"""Operations that take numbers where they take tensors: there an operand of which nothing is known may be one."""
_LIKE_FIRST_DTYPE: Final = words("""
    gather index_select take take_along_dim masked_select masked_fill scatter scatter_add scatter_reduce index_add
    index_copy index_fill index_put index_reduce repeat_interleave masked_scatter put select_scatter slice_scatter
    diagonal_scatter grid_sample batch_norm layer_norm group_norm instance_norm multi_head_attention_forward
    embedding_renorm fill normal bernoulli
""")
"""Operations whose further tensors say where, or are cast: the first one decides the dtype."""


# ---------------------------------------------------------------------- methods
def tensor_method(site: CallSite, owner: Abstract, word: str, path: Path) -> Abstract:
    """Return what a path leads to in the result of a tensor's method; ``owner`` is a value of kind TENSOR."""
    row = _METHOD_ROWS.get(word)
    if row is not None:
        return descend(row(site, owner), path)
    if word in MOVES:
        return moved(site, owner, word, path)
    if word in FACTORY_METHODS or word == "new":
        return made_by_method(site, owner, word, path)
    if word in NO_TENSOR:
        return descend(of_kind(NO_TENSOR[word]), path)
    if changes_in_place(word):
        return descend(after_method(site, owner, word), path)
    if word in METHODS:
        return _operation(site, word, word, path, owner)
    return unknown_call(site, path, (owner,))


def _detached(_: CallSite, owner: Abstract) -> Abstract:
    return owner.detached().plain()


def _array(_: CallSite, __: Abstract) -> Abstract:
    return a.AN_ARRAY


def _itself(_: CallSite, owner: Abstract) -> Abstract:
    return owner.plain()


def _item(_: CallSite, owner: Abstract) -> Abstract:
    return of_kind(_number_kinds(owner.dtype))


def _number_kinds(dtype: int) -> int:
    return (a.INTEGER if dtype & ~a.FLOATING & ~a.BOOL else 0) | (
        a.SCALAR if dtype & (a.FLOATING | a.BOOL) else 0
    ) or a.NUMBER


def _nested_list(_: CallSite, owner: Abstract) -> Abstract:
    return of_kind((_number_kinds(owner.dtype) if owner.rank & 1 else 0) | (a.SEQUENCE if owner.rank & ~1 else 0))


def _size(site: CallSite, _: Abstract) -> Abstract:
    dim = site.value(0, "dim")
    if dim is None:
        return of_kind(a.SIZE | a.INTEGER if site.given.starred or site.given.spread else a.SIZE)
    return a.AN_INTEGER if not dim.kind & a.NONE else of_kind(a.SIZE | a.INTEGER)


def _requiring_grad(site: CallSite, owner: Abstract) -> Abstract:
    return after_method(site, owner, "requires_grad_")


_METHOD_ROWS: Final[dict[str, Callable[[CallSite, Abstract], Abstract]]] = {
    "detach": _detached, "detach_": _detached, "numpy": _array, "__array__": _array, "item": _item,
    "tolist": _nested_list, "size": _size, "requires_grad_": _requiring_grad, "pin_memory": _itself,
    "share_memory_": _itself, "__deepcopy__": _itself, "as_subclass": _itself, "rename": _itself,
}  # fmt: skip
"""Methods of which more is known than what was measured."""


# ---------------------------------------------------------------------- functions
_COMPUTING: Final = (
    "torch.nn.functional.", "torch.fft.", "torch.linalg.", "torch.special.", "torch.sparse.", "torch.functional.",
    "torch.signal.", "torch.nn.attention.",
)  # fmt: skip
"""Modules of torch whose functions compute tensors of tensors, measured or not."""
_METHOD_OF_CLASS: Final = "torch.Tensor."


class _UnboundSite(CallSite):
    """A call of a method through its class, ``torch.Tensor.add(x, y)``: the arguments begin behind the tensor."""

    def __init__(self, site: CallSite) -> None:
        super().__init__(site.asker, site.node, site.context)
        given = site.given
        starred = frozenset(each - 1 for each in given.starred if each)
        self.given = CallArguments(given.positional[1:], given.keywords, starred, given.spread, given.spelled)


def torch_function(site: CallSite, name: str, path: Path) -> Abstract:
    """Return what a path leads to in the result of a function of torch, by its full name."""
    name = _CANONICAL.get(name, name).replace("torch.functional.", "torch.")
    if name.startswith(_METHOD_OF_CLASS):
        owner = site.value(0, "self")
        if owner is not None and owner.kind & a.TENSOR:
            return tensor_method(_UnboundSite(site), owner.but(kind=a.TENSOR), name[len(_METHOD_OF_CLASS) :], path)
    if site.is_waiting():
        return a.BOTTOM
    row = torch_functions.row(name)
    if row is not None:
        return row(site, path)
    made = factory(site, name, path)
    if made is not None:
        return made
    word = name.rpartition(".")[2]
    if name in NO_TENSOR:
        return descend(of_kind(NO_TENSOR[name]), path)
    if word.endswith("_") and (name in FUNCTIONS or name.startswith(_COMPUTING)):
        lead = site.value(0, "input")
        if lead is not None and lead.kind & a.TENSOR:
            return descend(after_method(_UnboundSite(site), lead.but(kind=a.TENSOR), word), path)
    if name in FUNCTIONS or name.startswith(_COMPUTING):
        return _operation(site, name, word, path, None)
    return unknown_call(site, path)


_CANONICAL: Final = {
    "torch._C._nn.gelu": "torch.nn.functional.gelu", "torch.detach": "torch.Tensor.detach",
    "torch.concatenate": "torch.cat", "torch.concat": "torch.cat",
}  # fmt: skip


# ---------------------------------------------------------------------- operations as they were measured
def _operation(site: CallSite, name: str, word: str, path: Path, owner: Abstract | None) -> Abstract:
    """Return what a path leads to in the result of an operation; ``owner`` is the tensor where it is a method."""
    if site.is_waiting():
        return a.BOTTOM
    first = 0 if owner is not None else 1
    is_numeric = word in _NUMBERS_TOO or (name not in FUNCTIONS and name not in METHODS)
    operands = [each for each in _operands(site, name, word, owner) if each.kind & (a.TENSOR | a.ARRAY) or is_numeric]
    if site.given.spread and not site.asker.presumes(Presumption.USAGE):
        operands.append(unknown(a.OF_CALL, site.node))
    if path and word in _EACH_ITS_OWN and gives_several(site, name, word, first):
        return _one_of_several(operands, path)
    tensors = [each for each in operands if each.kind & a.TENSOR]
    lead = tensors[0].but(kind=a.TENSOR, references=a.NO_REFERENCES) if tensors else a.BOTTOM
    made = combined(site.asker, operands, site.node, site.context, is_numeric)
    rank = of_result(site, name, lead.rank if tensors else a.ANY_RANK, made.rank, first)
    if word in ("matmul", "inner") and len(operands) == 2:
        rank = multiplied(operands[0].rank, operands[1].rank) if word == "matmul" else a.ANY_RANK
    if word in ("where", "nonzero") and path and (several := gives_several(site, name, word, first)) is not False:
        rank = a.RANKS[1] | (0 if several else rank)
    if name in NEVER:
        made = made.detached().but(dtype=never_dtype(name, word, made.dtype), rank=rank)
        return shaped(site, made, name, word, path, first)
    keeps = _keeps(site, name, word, tensors) if tensors else False
    computed = site.asker.under(made, site.node, site.context)
    computed = cast(computed, _result_dtype(site, name, word, operands, made.dtype))
    if keeps is not False:
        handed_on = _handed_on(site, word, lead)
        computed = handed_on if keeps else join(handed_on, computed)
    made = _told_dtype(site, word, computed).but(rank=rank)
    if word == "where" and len(site.given.positional) == 1:
        made = made.detached().but(dtype=a.INT64)
    if word == "hinge_embedding_loss":  # of the dtype, and with the gradient, of what the target chooses
        made = made.but(dtype=a.ANY_DTYPE, grad=made.grad | a.SAFE)
    return shaped(site, made, name, word, path, first)


def _one_of_several(operands: list[Abstract], path: Path) -> Abstract:
    """Return what a path leads to in results of which each is a view of one operand."""
    step = path[0]
    chosen = [operands[step]] if isinstance(step, int) and -len(operands) <= step < len(operands) else operands
    return descend(join_all(chosen).but(kind=a.TENSOR, rank=a.ANY_RANK, references=a.NO_REFERENCES), path[1:])


_EACH_ITS_OWN: Final = words("meshgrid broadcast_tensors atleast_1d atleast_2d atleast_3d")
"""Functions whose results belong to one argument each."""


_INDEX_POSITIONS: Final = {
    **dict.fromkeys(words("""
        gather index_select scatter scatter_add index_add index_copy index_fill scatter_reduce index_reduce
    """), 2),
    **dict.fromkeys(words("""
        take take_along_dim masked_select masked_fill index_put repeat_interleave masked_scatter put nll_loss ctc_loss
    """), 1),
    **dict.fromkeys(words("where embedding one_hot"), 0),
}  # fmt: skip
"""Where operations are given indices or a mask, which carry no gradient; the tensor has the position 0."""
_INDEX_WORDS: Final = words("index indices mask condition repeats attn_mask key_padding_mask")


def _operands(site: CallSite, name: str, word: str, owner: Abstract | None) -> list[Abstract]:
    """Return what an operation computes with: its tensors and numbers, those in lists one by one."""
    given, skipped = site.given, scalar_arguments(word)
    offset = 0 if owner is None else 1
    index = 1 if name in ("where", "torch.embedding") else _INDEX_POSITIONS.get(word, -1)
    found: list[Abstract] = []
    if owner is not None:
        found.append(owner if index != 0 else _as_index(owner))
    for position, node in enumerate(given.positional):
        if str(position + offset) not in skipped:
            each = _operand(site, node, position in given.starred)
            found += map(_as_index, each) if position + offset == index else each
    for keyword, node in given.keywords.items():
        if keyword not in skipped and keyword not in _NO_OPERANDS:
            each = _operand(site, node, False)
            found += map(_as_index, each) if keyword in _INDEX_WORDS else each
    return [each for each in found if each.kind]


_NO_OPERANDS: Final = words(
    "dtype device dim axis out requires_grad generator layout pin_memory memory_format keepdim inplace alpha beta"
)


def _as_index(value: Abstract) -> Abstract:
    """Return an index or a mask as an operand: it has a place, but nothing to learn from, and no part in the dtype."""
    return value.detached().but(kind=a.TENSOR, dtype=a.BOOL) if value.kind & a.TENSOR else value


def _operand(site: CallSite, node: Node, is_starred: bool) -> list[Abstract]:
    asker, context = site.asker, site.context
    if node.op == SEQUENCE_NODE and not is_starred and node.ins:
        return [found for each in node.ins for found in _operand(site, each, False)]
    value = asker.value(node, (ANY_ELEMENT,) if is_starred else (), context)
    if value.kind & a.SEQUENCE and not value.kind & a.TENSOR:
        value = asker.value(node, (ANY_ELEMENT,), context)
        if value.kind == a.SEQUENCE:
            value = asker.value(node, (ANY_ELEMENT, ANY_ELEMENT), context)
    return [value]


_INPLACE_AT: Final = {**dict.fromkeys(("elu", "celu", "leaky_relu"), 2), "hardtanh": 3, "threshold": 3, "rrelu": 4}
_OFF_BY_DEFAULT: Final = words("alpha_dropout feature_alpha_dropout")


def _keeps(site: CallSite, name: str, word: str, tensors: list[Abstract]) -> bool | None:
    """Return whether an operation hands on its argument, or a view of it; None where that depends."""
    if name in KEEPS_GRAD_INPLACE:
        said = site.value(None, "inplace")
        said = site.value(_INPLACE_AT.get(word, 1)) if said is None else said
        return False if said is None else truth_of(said)
    if name not in KEEPS_GRAD:
        return False
    if word in ("einsum", "tensordot", "cartesian_prod"):
        return None if len(tensors) < 2 else False
    if "dropout" in word:
        rate = site.value(1, "p")
        if rate is not None and truth_of(rate) is not True:  # a rate of 0 leaves the argument as it is
            return None
        training = site.value(2, "training") or site.value(None, "train")
        if training is None:
            return None if word in _OFF_BY_DEFAULT else False
        drops = truth_of(training)
        return None if drops is None else not drops
    return None if name in KEEPS_GRAD_SOMETIMES and word != "view" else True


def _handed_on(site: CallSite, word: str, lead: Abstract) -> Abstract:
    """Return the tensor itself or a view of it, which requires grad whatever the mode."""
    if word in ("real", "imag", "view_as_real"):
        return lead.but(dtype=real_parts(lead.dtype))
    if word == "dequantize":
        return lead.but(dtype=lead.dtype | a.FLOAT32)
    if word == "view_as_complex":
        return lead.but(dtype=lead.dtype & ~a.FLOATING | a.FLOATING)
    given = site.value(0, "dtype") if word == "view" else None
    if given is not None and given.must(a.DTYPE):
        return cast(lead, dtype_of(given) or a.ANY_DTYPE).detached()
    return lead


_REAL: Final = words(
    "pairwise_distance dist abs absolute angle norm std var real imag view_as_real vector_norm matrix_norm"
)
_COMPLEX: Final = words("complex polar view_as_complex stft eig eigvals hfft")
_HALVED: Final = words("""
    matmul mm bmm mv addmm addmv addbmm baddbmm linear bilinear einsum conv1d conv2d conv3d conv_transpose1d
    conv_transpose2d conv_transpose3d conv_tbc chain_matmul multi_dot scaled_dot_product_attention prelu
    multi_head_attention_forward lstm gru lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell tensordot inner dot vdot
""")
"""Operations that autocast computes in a half precision, which a caller may have asked for."""


def _result_dtype(site: CallSite, name: str, word: str, operands: list[Abstract], given: int) -> int:
    """Return the dtypes of what is computed; ``given`` are those to which the operands are promoted."""
    if word in _LIKE_FIRST_DTYPE or name == "torch.embedding":
        return operands[0].dtype if operands[0].kind == a.TENSOR else a.ANY_DTYPE
    if word == "float_power":
        return (given & COMPLEX and a.COMPLEX128 | a.FLOAT64) or a.FLOAT64
    if word == "embedding":  # of indices, with a weight
        return operands[1].dtype if len(operands) > 1 else a.ANY_DTYPE
    if word in _REAL:
        given = real_parts(given)
    elif word in _COMPLEX or (name.startswith("torch.fft.") and not word.endswith("shift")):
        return a.FLOATING
    if word in LOSSES or word == "kron":  # of which some expand, and some cast
        floating = a.FLOATING if word in LOSSES else a.ANY_DTYPE
        for each in operands:
            given |= (each.dtype | (real_parts(each.dtype) if each.dtype & COMPLEX else 0)) & floating
    if word in _HALVED and not site.asker.presumes(Presumption.USAGE):
        given = under_autocast(given)
    if word in ("div", "divide", "true_divide") and "rounding_mode" not in site.given.keywords:
        return divided(given, site.asker.default_dtype(site.node, site.context))
    if name in KEEPS_INTEGERS or not given & ~a.FLOATING:
        return reduced(word, given)
    return given | site.asker.default_dtype(site.node, site.context)


def _told_dtype(site: CallSite, word: str, made: Abstract) -> Abstract:
    """Return a result with the dtype that the call asks for, by keyword or by position."""
    given = site.value(None, "dtype")
    if given is None and (word == "to_dense" or "dtype" in scalar_arguments(word)):
        values = [site.asker.value(each, (), site.context) for each in site.given.positional]
        given = next((each for each in values if each.must(a.DTYPE)), None)
    return made if given is None or given.must(a.NONE) else cast(made, told_dtype(given, made.dtype))


# ---------------------------------------------------------------------- attributes and elements
_VIEWS: Final = words("T mT H mH")
_PROPERTIES: Final = words("""
    dtype grad_fn is_cpu is_cuda is_leaf is_meta is_mps is_nested is_quantized is_sparse is_sparse_csr is_xla is_xpu
    itemsize layout name nbytes ndim output_nr requires_grad retains_grad shape volatile is_mkldnn grad_dtype
""")


def tensor_attribute(owner: Abstract, word: str, at: Node | None) -> Abstract:
    """Return an attribute of a tensor; ``at`` is the node to name as the reason of what is not known."""
    own = owner.but(kind=a.TENSOR, references=a.NO_REFERENCES)
    if word == "data":
        return own.detached()
    if word == "grad":
        return gradient_of(own, at)
    if word == "device":
        return Abstract(a.DEVICE, 0, owner.device or a.SAFE, 0, 0, device_from=owner.device_from)
    if word == "dtype":
        return Abstract(a.DTYPE, 0, 0, owner.dtype, 0)
    if word in ("real", "imag"):
        return own.but(dtype=real_parts(owner.dtype))
    if word in _VIEWS:
        return own
    return of_kind(NO_TENSOR[word]) if word in _PROPERTIES else unknown(a.OF_ATTR, at)


def tensor_element(owner: Abstract, path: Path, key: object) -> Abstract:
    """Return what a path leads to from an element of a tensor, a view; ``key`` is the constant index, or a mark."""
    rank = owner.rank if key is SLICE else lower(owner.rank) if type(key) is int else a.ANY_RANK
    return descend(owner.but(kind=a.TENSOR, rank=rank, references=a.NO_REFERENCES), path)


def subscripted(asker: Asker, owner: Abstract, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return what a path leads to from ``owner[...]``, for a tensor, an array or a text."""
    if owner.kind != a.TENSOR:
        return descend(owner.plain(), path if node.data is SLICE else (ANY_ELEMENT, *path))
    if node.data is SLICE or (isinstance(node.data, int) and not isinstance(node.data, bool)):
        return tensor_element(owner, path, node.data)
    index = node.ins[1] if len(node.ins) > 1 else None
    view = owner.but(rank=a.ANY_RANK, references=a.NO_REFERENCES)
    if index is None:
        return descend(view, path)
    keys = index.ins if index.op == SEQUENCE_NODE and index.data == "tuple" else (index,)
    rank = owner.rank
    is_view: bool | None = True
    for each in keys:
        value = asker.value(each, (), context)
        if value.must(a.NONE):
            rank = higher(rank)
        elif value.must(a.INTEGER):
            rank = lower(rank)
        else:
            rank = rank if each.op == SEQUENCE_NODE and each.data == "tuple" and each is not index else a.ANY_RANK
            is_list = each.data == "list" if each.op == SEQUENCE_NODE else asker.presumes(Presumption.USAGE)
            is_copy = value.must(a.SEQUENCE) and is_list
            is_copy = is_copy or (value.must(a.TENSOR) and (not value.rank & 1 or not value.dtype & a.INTEGRAL))
            is_view = False if is_copy else is_view and None
    copied = asker.under(view, node, context)
    found = view if is_view else copied if is_view is False else join(view, copied)
    return descend(found.but(rank=rank), path)
