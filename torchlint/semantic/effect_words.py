"""Words by which the lowering knows, without evaluating anything, what a call may change."""

from __future__ import annotations

import builtins
import sys
from typing import Final

from torchlint.semantic.graph import DEVICE, DTYPE, GRAD

GROWING: Final = frozenset("append add insert appendleft put put_nowait push".split())
"""Methods that put one more member into a container; of ``add`` this is sure only where the result is dropped."""
SPREADING: Final = frozenset("extend update extendleft".split())
"""Methods that put all members of an iterable into a container."""
MOVING: Final = frozenset("cuda cpu to double half float bfloat16".split())
"""Methods that change a module itself, and of a tensor only what they return."""
SETTERS: Final = frozenset("requires_grad data grad training device".split())
"""Attributes whose assignment makes another tensor or module of an object."""
STORING: Final = {
    "register_buffer": ("tensor",), "register_parameter": ("param",), "add_module": ("module",),
    "register_module": ("module",), "__setattr__": (), "setattr": (),
}  # fmt: skip
"""Calls that set an attribute whose name is an argument, with the keyword of the value."""
PROCESS_SETTERS: Final = {
    "set_grad_enabled": (GRAD,), "_set_grad_enabled": (GRAD,), "set_default_device": (DEVICE,),
    "set_default_dtype": (DTYPE,),
    "set_default_tensor_type": (DEVICE, DTYPE),
}  # fmt: skip
"""Functions of torch that set a variable of the process."""
MODES: Final = frozenset(
    "no_grad inference_mode enable_grad set_grad_enabled device set_default_device ExitStack AsyncExitStack".split()
)
"""What of libraries is entered with ``with`` and sets a variable of the process; the rest does not."""
USING_UP: Final = frozenset(
    "list tuple set frozenset dict sorted sum max min any all next join extend update fromkeys Counter OrderedDict "
    "fromiter fsum prod Sequential ModuleList".split()
)
"""Functions and methods that go through a generator before they give anything back."""
SUPPRESSING: Final = frozenset("suppress raises assertRaises assertRaisesRegex".split())
"""Context managers after which the text goes on where their block was left by an exception."""
INERT_MANAGERS: Final = frozenset(
    "open autocast scale_loss trace_handler record_function profile Lock lock _lock RLock tqdm warns subTest Session "
    "Progress ThreadPoolExecutor ProcessPoolExecutor Pool no_sync".split()
)
"""Context managers of libraries that leave grad mode and the default device as they are."""
LIBRARIES: Final = frozenset(sys.stdlib_module_names) | frozenset(
    "torch torchvision torchaudio numpy scipy pandas cv2 PIL matplotlib sklearn einops tqdm yaml h5py wandb".split()
)
"""Packages whose functions change neither the arguments nor the process, but for the words above."""
BUILTINS: Final = frozenset(dir(builtins))

_TENSOR_METHODS: Final = """
    abs absolute acos acosh add addbmm addcdiv addcmul addmm addmv addr adjoint all allclose amax amin aminmax angle
    any arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argsort argwhere as_strided
    as_strided_scatter as_subclass asin asinh atan atan2 atanh backward baddbmm bernoulli bfloat16 bincount
    bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor bmm bool broadcast_to byte
    ccol_indices cdouble ceil cfloat chalf char cholesky cholesky_inverse cholesky_solve chunk clamp clamp_max
    clamp_min clip clone coalesce col_indices conj conj_physical contiguous copysign corrcoef cos cosh count_nonzero
    cov cpu cross crow_indices cuda cummax cummin cumprod cumsum data_ptr deg2rad dense_dim dequantize det detach
    diag diag_embed diagflat diagonal diagonal_scatter diff digamma dim dim_order dist div divide dot double dsplit
    eig element_size eq equal erf erfc erfinv exp exp2 expand expand_as expm1 fix flatten flip fliplr flipud float
    float_power floor floor_divide fmax fmin fmod frac frexp gather gcd ge geqrf ger get_device greater
    greater_equal gt half hardshrink hash_tensor heaviside histc histogram hsplit hypot i0 igamma igammac index
    index_add index_copy index_fill index_put index_reduce index_select indices inner int int_repr inverse
    is_complex is_contiguous is_floating_point isclose isfinite isinf isnan isneginf isposinf isreal istft item kron
    kthvalue lcm ldexp le lerp less less_equal lgamma log log10 log1p log2 log_softmax logaddexp logaddexp2
    logcumsumexp logdet logical_and logical_not logical_or logical_xor logit logsumexp long lstsq lt lu lu_solve
    masked_fill masked_scatter masked_select matmul matrix_exp matrix_power max maximum mean median min minimum mm
    mode moveaxis movedim msort mul multinomial multiply mv mvlgamma nan_to_num nanmean nanmedian nanquantile nansum
    narrow narrow_copy ndimension ne neg negative nelement new new_empty new_empty_strided new_full new_ones
    new_tensor new_zeros nextafter nonzero nonzero_static norm not_equal numel numpy orgqr ormqr outer permute
    pin_memory pinverse polygamma positive pow prelu prod q_per_channel_axis q_per_channel_scales
    q_per_channel_zero_points q_scale q_zero_point qr qscheme quantile rad2deg ravel reciprocal record_stream
    register_hook register_post_accumulate_grad_hook reinforce relu remainder renorm repeat repeat_interleave
    reshape reshape_as resize resize_as resolve_conj resolve_neg retain_grad roll rot90 round row_indices rsqrt
    scatter scatter_add scatter_reduce select select_scatter sgn short sigmoid sign signbit sin sinc sinh size
    slice_inverse slice_scatter slogdet smm softmax solve sort sparse_dim sparse_mask split split_with_sizes sqrt
    square squeeze sspaddmm std stft storage storage_offset storage_type stride sub subtract sum sum_to_size svd
    swapaxes swapdims t take take_along_dim tan tanh tensor_split tile to to_dense to_mkldnn to_padded_tensor
    to_sparse to_sparse_bsc to_sparse_bsr to_sparse_coo to_sparse_csc to_sparse_csr tolist topk trace transpose
    triangular_solve tril triu true_divide trunc type type_as unbind unflatten unfold unique unique_consecutive
    unsafe_chunk unsafe_split unsafe_split_with_sizes unsqueeze untyped_storage values var vdot view view_as vsplit
    where xlogy
"""
_PYTHON_METHODS: Final = """
    as_integer_ratio bit_count bit_length capitalize casefold center clear conjugate copy count decode difference
    difference_update discard elements encode endswith expandtabs find format format_map from_bytes fromhex fromkeys
    get hex imag intersection intersection_update is_integer isalnum isalpha isascii isdecimal isdigit isdisjoint
    isidentifier islower isnumeric isprintable isspace issubset issuperset istitle isupper items join keys ljust
    lower lstrip maketrans most_common partition pop popitem popleft real remove removeprefix removesuffix replace
    reverse rfind rindex rjust rotate rpartition rsplit rstrip splitlines startswith strip swapcase
    symmetric_difference symmetric_difference_update title to_bytes total translate union upper zfill
"""
_MODULE_METHODS: Final = """
    buffers children extra_repr get_buffer get_parameter get_submodule load_state_dict modules named_buffers
    named_children named_modules named_parameters parameters register_backward_hook register_forward_hook
    register_forward_pre_hook register_full_backward_hook register_full_backward_pre_hook share_memory state_dict
"""
_OTHER_METHODS: Final = """
    add_argument add_argument_group add_figure add_histogram add_image add_scalar add_scalars add_text close critical
    debug error exception flush info log_metrics parse_args print read readline readlines seek set_description
    set_postfix set_postfix_str warning warn write writelines zero_grad
"""
INERT: Final = frozenset(f"{_TENSOR_METHODS} {_PYTHON_METHODS} {_MODULE_METHODS} {_OTHER_METHODS}".split())
"""Methods of tensors, Python's data, modules, optimizers, files and loggers that leave their object and
arguments as they are, as far as values are asked for."""
