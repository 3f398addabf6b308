"""Which functions of NumPy only read a tensor that they are given, and at which places.

Some write into their arguments (`random.shuffle`, `copyto`, `put`, `place`, `fill_diagonal`, `add.at`, whatever is
given `out`), and new ones may come: so these are the ones that are known to read.
"""

from __future__ import annotations

import ast

_ONE = (
    "abs absolute arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil conj conjugate cos cosh deg2rad "
    "degrees exp exp2 expm1 fabs floor invert isfinite isinf isnan log log10 log1p log2 logical_not "
    "negative positive rad2deg radians reciprocal rint sign signbit sin sinh spacing sqrt square tan tanh "
    "trunc"
)
"""Universal functions of one operand; behind it stands what they write into."""
_TWO = (
    "add arctan2 bitwise_and bitwise_or bitwise_xor copysign divide equal floor_divide float_power fmax "
    "fmin fmod gcd greater greater_equal heaviside hypot lcm ldexp left_shift less less_equal logaddexp "
    "logaddexp2 logical_and logical_or logical_xor matmul maximum minimum mod multiply nextafter "
    "not_equal power remainder right_shift subtract true_divide dot"
)
_OTHERS = (
    "all allclose amax amin any append argmax argmin argpartition argsort argwhere around array "
    "array2string array_equal array_equiv array_repr array_str asanyarray asarray ascontiguousarray "
    "asfortranarray atleast_1d atleast_2d atleast_3d average bincount bool_ broadcast_to ceil clip "
    "column_stack complex128 complex64 concatenate convolve copy corrcoef correlate count_nonzero cov "
    "cross cumprod cumsum delete diag diagonal diff digitize dstack ediff1d einsum expand_dims "
    "flatnonzero flip fliplr flipud float16 float32 float64 full full_like gradient histogram histogram2d "
    "hstack imag inner insert int16 int32 int64 int8 interp intersect1d iscomplex isclose isin isreal "
    "kron lexsort linspace max mean median meshgrid min moveaxis nanmax nanmean nanmedian nanmin nanstd "
    "nansum nanvar ndim nonzero ones_like outer pad percentile prod ptp quantile ravel repeat roll rot90 "
    "round save savetxt savez savez_compressed searchsorted setdiff1d shape sinc size sort stack std sum "
    "take take_along_axis tensordot tile trace trapezoid tril triu uint8 union1d unique unwrap var vdot "
    "vstack where zeros_like"
)
_OF_PARTS = (
    "linalg.cholesky linalg.cond linalg.det linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh "
    "linalg.inv linalg.lstsq linalg.matrix_power linalg.matrix_rank linalg.norm linalg.pinv linalg.qr "
    "linalg.slogdet linalg.solve linalg.svd fft.fft fft.fft2 fft.fftn fft.fftshift fft.ifft fft.ifft2 "
    "fft.ifftn fft.ifftshift fft.irfft fft.rfft random.binomial random.choice random.multivariate_normal "
    "random.normal random.permutation random.poisson random.uniform testing.assert_allclose "
    "testing.assert_almost_equal testing.assert_array_almost_equal testing.assert_array_equal "
    "testing.assert_equal"
)
_PLACES = (
    {f"numpy.{word}": 1 for word in _ONE.split()}
    | {f"numpy.{word}": 2 for words in (_TWO, _OTHERS, _OF_PARTS) for word in words.split()}
    | {"numpy.where": 3, "numpy.clip": 3, "numpy.interp": 3}
)
"""So many arguments are read; what stands behind them may be written into."""


def is_read_by_numpy(name: str, node: ast.expr, call: ast.Call) -> bool:
    """Whether a function of NumPy only reads an argument of a call."""
    most = _PLACES.get(name, 0)
    if any(each.value is node for each in call.keywords):
        return bool(most)  # `out` is no reading for any function
    before = call.args[:most]
    return node in before and not any(isinstance(each, ast.Starred) for each in before)
