"""What a fragment that is cut out of a user's code may call: every other name, method and attribute is refused.

The list is explicit. Nothing in it opens a file, a socket or a process, imports, compiles, or takes a function.
"""

from __future__ import annotations

_WORDS = """
torch, numpy, math, methods: ceil cos cosh exp expm1 floor gcd hypot isfinite isinf isnan log log10 log1p log2 sin
 sinh sqrt tan tanh trunc
torch, numpy, methods: abs add all allclose amax amin angle any arccos arccosh arcsin arcsinh arctan arctan2 arctanh
 argmax argmin argsort argwhere bincount bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift
 bitwise_xor broadcast_to clip conj copysign corrcoef count_nonzero cov cross cumprod cumsum deg2rad diag diagonal
 diff divide dot dsplit equal exp2 fix flip fliplr float_power floor_divide fmax fmin fmod greater greater_equal
 heaviside hsplit inner isclose isneginf isposinf kron lcm ldexp less less_equal logaddexp logaddexp2 logical_and
 logical_not logical_or logical_xor matmul max maximum mean median min minimum moveaxis multiply nan_to_num nanmean
 nanmedian nansum negative nextafter nonzero not_equal outer positive prod rad2deg ravel remainder reshape roll rot90
 round searchsorted sign signbit sinc sort split square squeeze std subtract sum swapaxes take tile trace transpose
 tril triu true_divide unique var vdot vsplit where
torch, torch.cuda: BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor
 LongTensor ShortTensor
torch, torch.nn.functional: adaptive_avg_pool1d adaptive_max_pool1d alpha_dropout avg_pool1d bilinear
 binary_cross_entropy_with_logits celu celu_ channel_shuffle conv1d conv2d conv3d conv_transpose1d conv_transpose2d
 conv_transpose3d cosine_embedding_loss cosine_similarity dropout embedding feature_alpha_dropout group_norm
 hinge_embedding_loss instance_norm kl_div layer_norm margin_ranking_loss max_pool1d max_pool2d max_pool3d
 pairwise_distance pdist pixel_shuffle pixel_unshuffle poisson_nll_loss rms_norm rrelu rrelu_ selu selu_ threshold
 triplet_margin_loss
torch, numpy: arange asarray atleast_1d atleast_2d atleast_3d broadcast_shapes column_stack complex128 complex64
 concatenate dstack e einsum empty empty_like eye flipud float16 float32 float64 full full_like gradient hstack imag
 inf int16 int32 int64 int8 isin isreal linspace logspace meshgrid nan ones ones_like pi real stack tensordot
 tril_indices triu_indices uint8 vander vstack zeros zeros_like
torch, methods: abs_ acos acos_ acosh acosh_ addbmm addcdiv addcmul addmm addmv addmv_ addr adjoint aminmax arccos_
 arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ asin asin_ asinh asinh_ atan atan2 atan_ atanh atanh_ baddbmm bernoulli
 bfloat16 bmm bool cdouble ceil_ cfloat cholesky cholesky_inverse chunk clamp clamp_ clamp_max clamp_max_ clamp_min
 clamp_min_ clone conj_physical conj_physical_ cos_ cosh_ cummax cummin deg2rad_ det detach detach_ diag_embed
 diagflat digamma dist div double eq erf erf_ erfc erfc_ erfinv exp2_ exp_ expm1_ fill flatten float floor_ frac frac_
 frexp gather gcd_ ge ger gt half hardshrink histc histogram i0 i0_ igamma igammac index_add index_fill index_reduce
 index_select int inverse is_complex is_floating_point is_nonzero is_same_size is_signed kthvalue lcm_ ldexp_ le lerp
 lgamma log10_ log1p_ log2_ log_ log_softmax logcumsumexp logdet logit logit_ logsumexp long lt lu masked_fill
 masked_select matrix_exp matrix_power mm mode movedim msort mul multinomial mv mvlgamma nan_to_num_ narrow ne neg
 neg_ negative_ norm numel permute polygamma pow prelu qr rad2deg_ reciprocal reciprocal_ relu relu_ renorm
 repeat_interleave round_ rsqrt rsqrt_ scatter scatter_add scatter_reduce select select_scatter short sigmoid sigmoid_
 sin_ sinc_ sinh_ slice_scatter slogdet softmax split_with_sizes sqrt_ square_ sub svd swapdims t take_along_dim tan_
 tanh_ tensor_split topk trunc_ unbind unflatten unique_consecutive unsqueeze xlogy xlogy_ zero_
torch: Size Tensor as_tensor bartlett_window binomial blackman_window block_diag broadcast_tensors bucketize can_cast
 cartesian_prod cat cdist channels_last cholesky_solve combinations complex concat contiguous_format ctc_loss
 cumulative_trapezoid device dtype embedding_bag enable_grad feature_dropout finfo frobenius_norm from_numpy
 get_default_dtype hamming_window hann_window iinfo inference_mode is_conj is_grad_enabled is_neg is_tensor
 kaiser_window lu_solve lu_unpack manual_seed no_grad normal nuclear_norm pca_lowrank poisson polar preserve_format
 promote_types rand rand_like randint randint_like randn randn_like randperm resolve_conj resolve_neg result_type
 row_stack set_default_device set_default_dtype set_default_tensor_type set_grad_enabled std_mean stft strided tensor
 trapezoid trapz var_mean view_as_complex view_as_real
torch.cuda: device_count is_available
torch.nn: AlphaDropout AvgPool1d AvgPool2d AvgPool3d BCELoss BCEWithLogitsLoss BatchNorm1d BatchNorm2d BatchNorm3d
 Bilinear CELU ChannelShuffle CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d
 Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d CosineEmbeddingLoss CosineSimilarity
 CrossEntropyLoss Dropout Dropout1d Dropout2d Dropout3d ELU Embedding EmbeddingBag FeatureAlphaDropout Flatten Fold
 GELU GLU GRU GRUCell GaussianNLLLoss GroupNorm Hardshrink Hardsigmoid Hardswish Hardtanh HingeEmbeddingLoss HuberLoss
 Identity InstanceNorm1d InstanceNorm2d InstanceNorm3d KLDivLoss L1Loss LPPool1d LPPool2d LPPool3d LSTM LSTMCell
 LayerNorm LeakyReLU Linear LocalResponseNorm LogSigmoid LogSoftmax MSELoss MarginRankingLoss MaxPool1d MaxPool2d
 MaxPool3d Mish MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss MultiheadAttention NLLLoss PReLU
 PairwiseDistance Parameter ParameterList PixelShuffle PixelUnshuffle PoissonNLLLoss RMSNorm RNN RNNCell RReLU ReLU
 ReLU6 ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d SELU
 Sequential SiLU Sigmoid SmoothL1Loss SoftMarginLoss Softmax Softmax2d Softmin Softplus Softshrink Softsign Tanh
 Tanhshrink Threshold TripletMarginLoss Unflatten Unfold Upsample UpsamplingBilinear2d UpsamplingNearest2d ZeroPad1d
 ZeroPad2d ZeroPad3d
torch.nn.parameter: Parameter
torch.nn.functional: adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d affine_grid
 avg_pool2d avg_pool3d batch_norm binary_cross_entropy cross_entropy dropout1d dropout2d dropout3d elu elu_ fold
 fractional_max_pool2d fractional_max_pool3d gaussian_nll_loss gelu glu grid_sample hardshrink hardsigmoid hardswish
 hardtanh hardtanh_ huber_loss interpolate l1_loss leaky_relu leaky_relu_ linear local_response_norm log_softmax
 logsigmoid lp_pool1d lp_pool2d lp_pool3d mish mse_loss multi_margin_loss multilabel_margin_loss
 multilabel_soft_margin_loss nll_loss normalize one_hot pad prelu relu relu6 relu_ sigmoid silu smooth_l1_loss
 soft_margin_loss softmax softmin softplus softshrink softsign tanh tanhshrink threshold_ unfold upsample
 upsample_bilinear upsample_nearest
torch.nn.init: calculate_gain constant constant_ dirac dirac_ eye eye_ kaiming_normal kaiming_normal_ kaiming_uniform
 kaiming_uniform_ normal normal_ ones_ orthogonal orthogonal_ sparse sparse_ trunc_normal_ uniform uniform_
 xavier_normal xavier_normal_ xavier_uniform xavier_uniform_ zeros_
torch.autograd: Variable
numpy: absolute append argpartition around array array_equal array_equiv array_split ascontiguousarray average bool_
 broadcast_arrays cbrt conjugate copy degrees diag_indices divmod ediff1d expand_dims fabs identity indices int_
 intersect1d invert iscomplex isscalar left_shift mod modf nanargmax nanargmin nancumprod nancumsum nanmax nanmin
 nanpercentile nanprod nanquantile nanstd nanvar ndarray ndim newaxis pad partition percentile power ptp quantile
 radians ravel_multi_index repeat resize right_shift rint shape size tri uint16 uint32 uint64 unravel_index
math: acos asin atan atan2 degrees e erf fabs inf nan pi pow radians
builtins: abs all any bool complex dict divmod enumerate float frozenset int isinstance len list max min pow print
 range reversed round set slice sorted str sum tuple zip
errors: ArithmeticError AssertionError AttributeError Exception IndexError KeyError LookupError NotImplementedError
 RuntimeError TypeError ValueError
methods: add_ addbmm_ addcdiv_ addcmul_ addmm_ addr_ append arctan2_ astype atan2_ baddbmm_ bernoulli_ bitwise_and_
 bitwise_left_shift_ bitwise_not_ bitwise_or_ bitwise_right_shift_ bitwise_xor_ byte cauchy_ chalf char clip_ compress
 conjugate contiguous copy copy_ copysign_ count cpu cuda cumprod_ cumsum_ diagonal_scatter digamma_ dim div_ divide_
 element_size endswith erfinv_ eval expand expand_as exponential_ extend fill_ fill_diagonal_ fix_ float_power_
 floor_divide_ fmod_ ge_ geometric_ greater_ greater_equal_ gt_ heaviside_ hypot_ igamma_ igammac_ index index_add_
 index_copy index_copy_ index_fill_ index_put index_put_ index_reduce_ is_contiguous is_integer item items join keys
 le_ lerp_ less_ less_equal_ lgamma_ log_normal_ logical_and_ logical_not_ logical_or_ logical_xor_ lower lt_
 masked_fill_ masked_scatter masked_scatter_ mul_ multiply_ mvlgamma_ named_parameters ndimension ne_ nelement new
 new_empty new_full new_ones new_tensor new_zeros nextafter_ nonzero_static normal_ not_equal_ numpy parameters
 polygamma_ pop pow_ put put_ random_ remainder_ renorm_ repeat requires_grad_ reshape_as resize resize_ resize_as_
 scatter_ scatter_add_ scatter_reduce_ sgn sgn_ sign_ size squeeze_ startswith state_dict stride strip sub_ subtract_
 sum_to_size swapaxes_ swapdims_ t_ to tolist train transpose_ tril_ triu_ true_divide_ type type_as unfold uniform_
 unsqueeze_ upper values view view_as zero_grad
attributes: H T data device dtype grad imag index is_cuda is_leaf itemsize mT nbytes ndim real requires_grad shape
 size strides type
set: data grad requires_grad
"""
"""Words after the places at which they may stand; a line that begins with a blank goes on with the words before it.

Places are modules, ``methods`` of tensors, arrays, numbers, lists, dicts, texts and modules, ``attributes`` of tensors,
arrays, sizes, devices and dtypes, ``set`` for attributes that may be set, and ``errors`` that may be raised.
"""


def _at(place: str) -> frozenset[str]:
    entries = (each.partition(": ") for each in _WORDS.replace("\n ", " ").splitlines())
    return frozenset(word for places, _, words in entries if place in places.split(", ") for word in words.split())


BUILTINS, ERRORS, METHODS, ATTRIBUTES, WRITABLE = map(_at, ("builtins", "errors", "methods", "attributes", "set"))
_MODULES = (
    "torch torch.cuda torch.nn torch.nn.parameter torch.nn.functional torch.nn.init torch.autograd numpy math".split()
)
ROOTS: dict[str, frozenset[str]] = {**{each: _at(each) for each in _MODULES}, "builtins": BUILTINS | ERRORS}
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
