"""In-place methods of tensors by what `x.data.foo_()` and `x.foo_()` under `no_grad` do to `x`.

Found by calling each method of torch 2.13 on leaves, results and plain tensors of floating point, integer and bool
dtype with 35 sets of arguments; ``tests/test_inplace_methods.py`` does it again with the torch at hand.
"""

from __future__ import annotations

ALIKE = frozenset(
    "abs_ absolute_ acos_ acosh_ add_ addcdiv_ addcmul_ addmm_ addr_ arccos_ arccosh_ arcsin_ arcsinh_ arctan2_ "
    "arctan_ arctanh_ asin_ asinh_ atan2_ atan_ atanh_ bernoulli_ bitwise_and_ bitwise_left_shift_ bitwise_not_ "
    "bitwise_or_ bitwise_right_shift_ bitwise_xor_ cauchy_ ceil_ clamp_ clamp_max_ clamp_min_ clip_ conj_physical_ "
    "copy_ copysign_ cos_ cosh_ cumprod_ cumsum_ deg2rad_ digamma_ div_ divide_ eq_ erf_ erfc_ erfinv_ exp2_ exp_ "
    "expm1_ exponential_ fill_ fill_diagonal_ fix_ floor_ floor_divide_ fmod_ frac_ gcd_ ge_ geometric_ greater_ "
    "greater_equal_ gt_ heaviside_ hypot_ i0_ igamma_ igammac_ index_add_ index_copy_ index_fill_ index_put_ lcm_ "
    "ldexp_ le_ lerp_ less_ less_equal_ lgamma_ log10_ log1p_ log2_ log_ log_normal_ logical_and_ logical_not_ "
    "logical_or_ logical_xor_ logit_ lt_ masked_fill_ masked_scatter_ mul_ multiply_ mvlgamma_ nan_to_num_ ne_ neg_ "
    "negative_ nextafter_ normal_ not_equal_ polygamma_ pow_ put_ rad2deg_ random_ reciprocal_ relu_ remainder_ "
    "renorm_ round_ rsqrt_ scatter_ scatter_add_ scatter_reduce_ sgn_ sigmoid_ sign_ sin_ sinc_ sinh_ sqrt_ square_ "
    "sub_ subtract_ tan_ tanh_ tril_ triu_ true_divide_ trunc_ uniform_ xlogy_ zero_".split()
)
"""The methods that do the same to ``x`` in both spellings; what they return differs for all of them."""

REFORMING = frozenset(
    "as_strided_ set_ squeeze_ swapaxes_ swapdims_ t_ transpose_ unsqueeze_ resize_ resize_as_ resize_as_sparse_ "
    "sparse_resize_ sparse_resize_and_clear_".split()
)
"""Methods that change shape, strides or storage: on ``x.data`` they change the new object only, ``x`` keeps its own."""

RESIZING = frozenset({"resize_", "resize_as_"})
"""Of these, the ones that torch refuses on a tensor that requires grad."""

CALLING_BACK = frozenset({"apply_", "map_", "map2_"})
"""Methods that torch refuses on a tensor that requires grad, also under ``no_grad``."""
