"""What a fragment that is cut out of a user's code may call: every other name, method and attribute is refused.

The lists are explicit. Nothing in them opens a file, a socket or a process, imports, compiles, or takes a function.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TORCH = _words(
    """
    abs abs_ acos acos_ acosh acosh_ adaptive_avg_pool1d adaptive_max_pool1d add addbmm addcdiv addcmul addmm addmv
    addmv_ addr adjoint all allclose alpha_dropout amax amin aminmax angle any arange arccos arccos_ arccosh
    arccosh_ arcsin arcsin_ arcsinh arcsinh_ arctan arctan2 arctan_ arctanh arctanh_ argmax argmin argsort argwhere
    as_tensor asarray asin asin_ asinh asinh_ atan atan2 atan_ atanh atanh_ atleast_1d atleast_2d atleast_3d
    avg_pool1d baddbmm bartlett_window bernoulli bilinear binary_cross_entropy_with_logits bincount binomial
    bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor blackman_window block_diag
    bmm broadcast_shapes broadcast_tensors broadcast_to bucketize can_cast cartesian_prod cat cdist ceil ceil_ celu
    celu_ channel_shuffle cholesky cholesky_inverse cholesky_solve chunk clamp clamp_ clamp_max clamp_max_ clamp_min
    clamp_min_ clip clone column_stack combinations complex concat concatenate conj conj_physical conj_physical_
    conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d copysign corrcoef cos cos_ cosh cosh_
    cosine_embedding_loss cosine_similarity count_nonzero cov cross ctc_loss cummax cummin cumprod cumsum
    cumulative_trapezoid deg2rad deg2rad_ det detach detach_ diag diag_embed diagflat diagonal diff digamma dist div
    divide dot dropout dsplit dstack einsum embedding embedding_bag empty empty_like enable_grad eq equal erf erf_
    erfc erfc_ erfinv exp exp2 exp2_ exp_ expm1 expm1_ eye feature_alpha_dropout feature_dropout fill finfo fix
    flatten flip fliplr flipud float_power floor floor_ floor_divide fmax fmin fmod frac frac_ frexp frobenius_norm
    from_numpy full full_like gather gcd gcd_ ge ger get_default_dtype gradient greater greater_equal group_norm gt
    hamming_window hann_window hardshrink heaviside hinge_embedding_loss histc histogram hsplit hstack hypot i0 i0_
    igamma igammac iinfo imag index_add index_fill index_reduce index_select inference_mode inner instance_norm
    inverse is_complex is_conj is_floating_point is_grad_enabled is_neg is_nonzero is_same_size is_signed is_tensor
    isclose isfinite isin isinf isnan isneginf isposinf isreal kaiser_window kl_div kron kthvalue layer_norm lcm
    lcm_ ldexp ldexp_ le lerp less less_equal lgamma linspace log log10 log10_ log1p log1p_ log2 log2_ log_
    log_softmax logaddexp logaddexp2 logcumsumexp logdet logical_and logical_not logical_or logical_xor logit logit_
    logspace logsumexp lt lu lu_solve lu_unpack manual_seed margin_ranking_loss masked_fill masked_select matmul
    matrix_exp matrix_power max max_pool1d max_pool2d max_pool3d maximum mean median meshgrid min minimum mm mode
    moveaxis movedim msort mul multinomial multiply mv mvlgamma nan_to_num nan_to_num_ nanmean nanmedian nansum
    narrow ne neg neg_ negative negative_ nextafter no_grad nonzero norm normal not_equal nuclear_norm numel ones
    ones_like outer pairwise_distance pca_lowrank pdist permute pixel_shuffle pixel_unshuffle poisson
    poisson_nll_loss polar polygamma positive pow prelu prod promote_types qr rad2deg rad2deg_ rand rand_like
    randint randint_like randn randn_like randperm ravel real reciprocal reciprocal_ relu relu_ remainder renorm
    repeat_interleave reshape resolve_conj resolve_neg result_type rms_norm roll rot90 round round_ row_stack rrelu
    rrelu_ rsqrt rsqrt_ scatter scatter_add scatter_reduce searchsorted select select_scatter selu selu_
    set_default_device set_default_dtype set_default_tensor_type set_grad_enabled sigmoid sigmoid_ sign signbit sin
    sin_ sinc sinc_ sinh sinh_ slice_scatter slogdet softmax sort split split_with_sizes sqrt sqrt_ square square_
    squeeze stack std std_mean stft sub subtract sum svd swapaxes swapdims t take take_along_dim tan tan_ tanh tanh_
    tensor tensor_split tensordot threshold tile topk trace transpose trapezoid trapz tril tril_indices
    triplet_margin_loss triu triu_indices true_divide trunc trunc_ unbind unflatten unique unique_consecutive
    unsqueeze vander var var_mean vdot view_as_complex view_as_real vsplit vstack where xlogy xlogy_ zero_ zeros
    zeros_like
    """
)
"""Functions of ``torch``."""
FUNCTIONAL = _words(
    """
    adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d
    adaptive_max_pool3d affine_grid alpha_dropout avg_pool1d avg_pool2d avg_pool3d batch_norm bilinear
    binary_cross_entropy binary_cross_entropy_with_logits celu celu_ channel_shuffle conv1d conv2d conv3d
    conv_transpose1d conv_transpose2d conv_transpose3d cosine_embedding_loss cosine_similarity cross_entropy dropout
    dropout1d dropout2d dropout3d elu elu_ embedding feature_alpha_dropout fold fractional_max_pool2d
    fractional_max_pool3d gaussian_nll_loss gelu glu grid_sample group_norm hardshrink hardsigmoid hardswish
    hardtanh hardtanh_ hinge_embedding_loss huber_loss instance_norm interpolate kl_div l1_loss layer_norm
    leaky_relu leaky_relu_ linear local_response_norm log_softmax logsigmoid lp_pool1d lp_pool2d lp_pool3d
    margin_ranking_loss max_pool1d max_pool2d max_pool3d mish mse_loss multi_margin_loss multilabel_margin_loss
    multilabel_soft_margin_loss nll_loss normalize one_hot pad pairwise_distance pdist pixel_shuffle pixel_unshuffle
    poisson_nll_loss prelu relu relu6 relu_ rms_norm rrelu rrelu_ selu selu_ sigmoid silu smooth_l1_loss
    soft_margin_loss softmax softmin softplus softshrink softsign tanh tanhshrink threshold threshold_
    triplet_margin_loss unfold upsample upsample_bilinear upsample_nearest
    """
)
"""Functions of ``torch.nn.functional``."""
INIT = _words(
    """
    calculate_gain constant constant_ dirac dirac_ eye eye_ kaiming_normal kaiming_normal_ kaiming_uniform
    kaiming_uniform_ normal normal_ ones_ orthogonal orthogonal_ sparse sparse_ trunc_normal_ uniform uniform_
    xavier_normal xavier_normal_ xavier_uniform xavier_uniform_ zeros_
    """
)
"""Functions of ``torch.nn.init``."""
MODULES = _words(
    """
    AlphaDropout AvgPool1d AvgPool2d AvgPool3d BCELoss BCEWithLogitsLoss BatchNorm1d BatchNorm2d BatchNorm3d
    Bilinear CELU ChannelShuffle CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d
    Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d CosineEmbeddingLoss CosineSimilarity
    CrossEntropyLoss Dropout Dropout1d Dropout2d Dropout3d ELU Embedding EmbeddingBag FeatureAlphaDropout Flatten
    Fold GELU GLU GRU GRUCell GaussianNLLLoss GroupNorm Hardshrink Hardsigmoid Hardswish Hardtanh HingeEmbeddingLoss
    HuberLoss Identity InstanceNorm1d InstanceNorm2d InstanceNorm3d KLDivLoss L1Loss LPPool1d LPPool2d LPPool3d LSTM
    LSTMCell LayerNorm LeakyReLU Linear LocalResponseNorm LogSigmoid LogSoftmax MSELoss MarginRankingLoss MaxPool1d
    MaxPool2d MaxPool3d Mish MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss MultiheadAttention
    NLLLoss PReLU PairwiseDistance Parameter ParameterList PixelShuffle PixelUnshuffle PoissonNLLLoss RMSNorm RNN
    RNNCell RReLU ReLU ReLU6 ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d
    ReplicationPad3d SELU Sequential SiLU Sigmoid SmoothL1Loss SoftMarginLoss Softmax Softmax2d Softmin Softplus
    Softshrink Softsign Tanh Tanhshrink Threshold TripletMarginLoss Unflatten Unfold Upsample UpsamplingBilinear2d
    UpsamplingNearest2d ZeroPad1d ZeroPad2d ZeroPad3d
    """
)
"""Classes of ``torch.nn``."""
NUMPY = _words(
    """
    abs absolute add all allclose amax amin angle any append arange arccos arccosh arcsin arcsinh arctan arctan2
    arctanh argmax argmin argpartition argsort argwhere around array array_equal array_equiv array_split asarray
    ascontiguousarray atleast_1d atleast_2d atleast_3d average bincount bitwise_and bitwise_left_shift bitwise_not
    bitwise_or bitwise_right_shift bitwise_xor bool_ broadcast_arrays broadcast_shapes broadcast_to cbrt ceil clip
    column_stack complex128 complex64 concatenate conj conjugate copy copysign corrcoef cos cosh count_nonzero cov
    cross cumprod cumsum deg2rad degrees diag diag_indices diagonal diff divide divmod dot dsplit dstack ediff1d
    einsum empty empty_like equal exp exp2 expand_dims expm1 eye fabs fix flip fliplr flipud float16 float32 float64
    float_power floor floor_divide fmax fmin fmod full full_like gcd gradient greater greater_equal heaviside hsplit
    hstack hypot identity imag indices inner int16 int32 int64 int8 int_ intersect1d invert isclose iscomplex
    isfinite isin isinf isnan isneginf isposinf isreal isscalar kron lcm ldexp left_shift less less_equal linspace
    log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor logspace matmul max
    maximum mean median meshgrid min minimum mod modf moveaxis multiply nan_to_num nanargmax nanargmin nancumprod
    nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar ndim negative
    nextafter nonzero not_equal ones ones_like outer pad partition percentile positive power prod ptp quantile
    rad2deg radians ravel ravel_multi_index real remainder repeat reshape resize right_shift rint roll rot90 round
    searchsorted shape sign signbit sin sinc sinh size sort split sqrt square squeeze stack std subtract sum
    swapaxes take tan tanh tensordot tile trace transpose tri tril tril_indices triu triu_indices true_divide trunc
    uint16 uint32 uint64 uint8 unique unravel_index vander var vdot vsplit vstack where zeros zeros_like
    """
)
"""Functions and scalar types of ``numpy``."""
LEGACY = _words(
    """
    Tensor FloatTensor DoubleTensor HalfTensor BFloat16Tensor LongTensor IntTensor ShortTensor CharTensor ByteTensor
    BoolTensor
    """
)
"""The legacy constructors of ``torch`` and ``torch.cuda``."""
DTYPES = _words(
    """
    float float16 float32 float64 half double bfloat16 int int8 int16 int32 int64 long short uint8 bool complex64
    complex128 cfloat cdouble strided contiguous_format preserve_format channels_last inf nan pi e
    """
)
"""Values of ``torch`` that are no functions."""
NUMBERS = _words(
    """
    inf nan pi e newaxis
    """
)
"""Values of ``numpy`` that are no functions."""
MATHS = _words(
    """
    sqrt exp log log2 log10 log1p expm1 pow floor ceil trunc fabs sin cos tan asin acos atan atan2 sinh cosh tanh
    isnan isinf isfinite pi e inf nan degrees radians hypot erf gcd
    """
)
"""Functions and values of ``math``."""
BUILTINS = _words(
    """
    abs all any bool complex dict divmod enumerate float int isinstance len list max min pow print range reversed
    round set slice sorted str sum tuple zip frozenset
    """
)
"""Functions and types of Python."""
ERRORS = _words(
    """
    AssertionError ArithmeticError AttributeError Exception IndexError KeyError LookupError NotImplementedError
    RuntimeError TypeError ValueError
    """
)
"""Exceptions that a fragment may raise."""
METHODS = _words(
    """
    abs abs_ acos acos_ acosh acosh_ add add_ addbmm addbmm_ addcdiv addcdiv_ addcmul addcmul_ addmm addmm_ addmv
    addmv_ addr addr_ adjoint all allclose amax amin aminmax angle any append arccos arccos_ arccosh arccosh_ arcsin
    arcsin_ arcsinh arcsinh_ arctan arctan2 arctan2_ arctan_ arctanh arctanh_ argmax argmin argsort argwhere asin
    asin_ asinh asinh_ astype atan atan2 atan2_ atan_ atanh atanh_ baddbmm baddbmm_ bernoulli bernoulli_ bfloat16
    bincount bitwise_and bitwise_and_ bitwise_left_shift bitwise_left_shift_ bitwise_not bitwise_not_ bitwise_or
    bitwise_or_ bitwise_right_shift bitwise_right_shift_ bitwise_xor bitwise_xor_ bmm bool broadcast_to byte cauchy_
    cdouble ceil ceil_ cfloat chalf char cholesky cholesky_inverse chunk clamp clamp_ clamp_max clamp_max_ clamp_min
    clamp_min_ clip clip_ clone compress conj conj_physical conj_physical_ conjugate contiguous copy copy_ copysign
    copysign_ corrcoef cos cos_ cosh cosh_ count count_nonzero cov cpu cross cuda cummax cummin cumprod cumprod_
    cumsum cumsum_ deg2rad deg2rad_ det detach detach_ diag diag_embed diagflat diagonal diagonal_scatter diff
    digamma digamma_ dim dist div div_ divide divide_ dot double dsplit element_size endswith eq equal erf erf_ erfc
    erfc_ erfinv erfinv_ eval exp exp2 exp2_ exp_ expand expand_as expm1 expm1_ exponential_ extend fill fill_
    fill_diagonal_ fix fix_ flatten flip fliplr float float_power float_power_ floor floor_ floor_divide
    floor_divide_ fmax fmin fmod fmod_ frac frac_ frexp gather gcd gcd_ ge ge_ geometric_ ger greater greater_
    greater_equal greater_equal_ gt gt_ half hardshrink heaviside heaviside_ histc histogram hsplit hypot hypot_ i0
    i0_ igamma igamma_ igammac igammac_ index index_add index_add_ index_copy index_copy_ index_fill index_fill_
    index_put index_put_ index_reduce index_reduce_ index_select inner int inverse is_complex is_contiguous
    is_floating_point is_integer is_nonzero is_same_size is_signed isclose isfinite isinf isnan isneginf isposinf
    item items join keys kron kthvalue lcm lcm_ ldexp ldexp_ le le_ lerp lerp_ less less_ less_equal less_equal_
    lgamma lgamma_ log log10 log10_ log1p log1p_ log2 log2_ log_ log_normal_ log_softmax logaddexp logaddexp2
    logcumsumexp logdet logical_and logical_and_ logical_not logical_not_ logical_or logical_or_ logical_xor
    logical_xor_ logit logit_ logsumexp long lower lt lt_ lu masked_fill masked_fill_ masked_scatter masked_scatter_
    masked_select matmul matrix_exp matrix_power max maximum mean median min minimum mm mode moveaxis movedim msort
    mul mul_ multinomial multiply multiply_ mv mvlgamma mvlgamma_ named_parameters nan_to_num nan_to_num_ nanmean
    nanmedian nansum narrow ndimension ne ne_ neg neg_ negative negative_ nelement new new_empty new_full new_ones
    new_tensor new_zeros nextafter nextafter_ nonzero nonzero_static norm normal_ not_equal not_equal_ numel numpy
    outer parameters permute polygamma polygamma_ pop positive pow pow_ prelu prod put put_ qr rad2deg rad2deg_
    random_ ravel reciprocal reciprocal_ relu relu_ remainder remainder_ renorm renorm_ repeat repeat_interleave
    requires_grad_ reshape reshape_as resize resize_ resize_as_ roll rot90 round round_ rsqrt rsqrt_ scatter
    scatter_ scatter_add scatter_add_ scatter_reduce scatter_reduce_ searchsorted select select_scatter sgn sgn_
    short sigmoid sigmoid_ sign sign_ signbit sin sin_ sinc sinc_ sinh sinh_ size slice_scatter slogdet softmax sort
    split split_with_sizes sqrt sqrt_ square square_ squeeze squeeze_ startswith state_dict std stride strip sub
    sub_ subtract subtract_ sum sum_to_size svd swapaxes swapaxes_ swapdims swapdims_ t t_ take take_along_dim tan
    tan_ tanh tanh_ tensor_split tile to tolist topk trace train transpose transpose_ tril tril_ triu triu_
    true_divide true_divide_ trunc trunc_ type type_as unbind unflatten unfold uniform_ unique unique_consecutive
    unsqueeze unsqueeze_ upper values var vdot view view_as vsplit where xlogy xlogy_ zero_ zero_grad
    """
)
"""Methods of tensors, arrays, numbers, lists, dicts, texts and modules."""
ATTRIBUTES = _words(
    """
    H T data device dtype grad imag index is_cuda is_leaf itemsize mT nbytes ndim real requires_grad shape size
    strides type
    """
)
"""Attributes of tensors, arrays, sizes, devices and dtypes."""
WRITABLE = _words(
    """
    data grad requires_grad
    """
)
"""Attributes that a fragment may set."""

ROOTS: dict[str, frozenset[str]] = {
    "torch": TORCH | LEGACY | DTYPES | {"Size", "device", "dtype"},
    "torch.cuda": LEGACY - {"Tensor"} | {"is_available", "device_count"},
    "torch.nn": MODULES,
    "torch.nn.parameter": frozenset({"Parameter"}),
    "torch.nn.functional": FUNCTIONAL,
    "torch.nn.init": INIT,
    "torch.autograd": frozenset({"Variable"}),
    "numpy": NUMPY | NUMBERS | {"ndarray"},
    "math": MATHS,
    "builtins": BUILTINS | ERRORS,
}
"""What may be named, by the module that it stands in."""


LISTS: dict[str, frozenset[str]] = {
    **{f"Of `{module}`": words for module, words in ROOTS.items() if module != "builtins"},
    "Of Python": BUILTINS | ERRORS,
    "Methods of tensors, arrays, numbers, lists, dicts, texts and modules": METHODS,
    "Attributes": ATTRIBUTES,
    "Attributes that may be set": WRITABLE,
}
"""All of it, by the title under which the documentation shows it."""


def callable_name(name: str) -> bool:
    """Whether a fragment may name this: a dotted name, imports and aliases followed."""
    module, _, word = name.rpartition(".")
    return word in ROOTS.get(module, ())
