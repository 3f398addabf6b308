"""Where it is only claimed that a tensor comes out: the object may be another, or a flag may ask for several."""

from __future__ import annotations

from torchlint.facts.value import ABSENT, Kind, Value
from torchlint.inference.lattice import claimed_like, claimed_throughout
from torchlint.inference.models.call_arguments import Arguments
from torchlint.inference.models.operations import leaf, operations

BY_NAME = "nothing but its name says what it is"
BY_ATTRIBUTE = "another object may have an attribute of that name"
_BY_METHOD = "another object may have a method of that name"
_OF_SEVERAL = "several tensors may come out"
_ASKING_FOR_MORE = ("return_indices", "return_inverse", "return_counts", "as_tuple", "need_weights")
_PLAIN_ARGUMENTS = (("unique", 1), ("adaptive_max_pool", 2), ("fractional_max_pool", 2), ("max_pool", 6))
"""How many arguments functions may be given before one of these flags: by how their names begin."""
_OF_SEVERAL_SORTS = frozenset(
    "gradient cholesky_ex inv_ex ldl_factor ldl_factor_ex lu_factor_ex solve_ex native_batch_norm native_group_norm "
    "native_layer_norm multi_head_attention_forward split_with_sizes_copy unbind_copy unravel_index unsafe_chunk "
    "unsafe_split unsafe_split_with_sizes lstm gru rnn_tanh rnn_relu".split()
)
"""Operations that may give a tuple where no more is known than that tensors come out (measured on torch 2.13)."""


def of_function(name: str, given: Arguments, result: Value) -> Value:
    """Return what a library's function gives: of torch's a tensor, whatever they are given, or several."""
    if not result.is_tensor or not name.startswith("torch."):
        return result
    is_maker = name in operations().factories or name.endswith("Tensor")
    claim = _OF_SEVERAL if not is_maker and _may_ask_for_several(leaf(name), given) else ""
    return result if result.claimed == claim else result.having(claimed=claim)


def of_method(receiver: Value, word: str, given: Arguments, result: Value) -> Value:
    """Return what a method gives that tensors have: no tensor for sure where the object may be none."""
    if not holds_tensors(result):
        return result
    if not receiver.is_tensor:
        return claimed_throughout(result, _BY_METHOD)
    if receiver.claimed not in ("", ABSENT):
        return claimed_throughout(result, receiver.claimed)
    several = result.is_tensor and _may_ask_for_several(word, given)
    return result.having(claimed=_OF_SEVERAL) if several else result


def of_call(module: Value, result: Value) -> Value:
    """Return what calling a module gives: one that takes the largest elements may give their places, too."""
    several = any("MaxPool" in each for each in module.instance)
    return result.having(claimed=_OF_SEVERAL) if several else claimed_like(module, result)


def of_module(receiver: Value, result: Value) -> Value:
    """Return what a method gives that modules have: nothing for sure where the object may be none."""
    if receiver.must(Kind.MODULE) and not receiver.claimed:
        return result
    return claimed_throughout(result, receiver.claimed or _BY_METHOD)


def holds_tensors(value: Value) -> bool:
    """Whether a value may be a tensor or hold some."""
    return any(each.may(Kind.TENSOR) for each in (value, value.member, *(value.items or ())) if each is not None)


def _may_ask_for_several(word: str, given: Arguments) -> bool:
    """Whether an operation of a name may give several tensors where one is usual, as a flag may ask it to."""
    flags = (given.keywords[each] for each in _ASKING_FOR_MORE if each in given.keywords)
    if given.starred or word in _OF_SEVERAL_SORTS or any(each.const is not False for each in flags):
        return True
    return len(given.positional) > next((most for start, most in _PLAIN_ARGUMENTS if word.startswith(start)), 100)
