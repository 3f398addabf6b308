"""What functions of NumPy and its friends do with a tensor: a table, each row of which a test runs with the library."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from itertools import chain
from typing import Final

Place = int | str
"""A position, a keyword, or ``**`` for all that is handed over by keywords."""


class Reception(Enum):
    """What becomes of a tensor that a function is given."""

    CONVERTS = "it makes an array of it, as `.numpy()` does"
    WARNS = "so it does, and NumPy 2 warns that the tensor refuses to be copied"
    GIVES_TENSOR = "it makes an array of it, reckons, and gives a tensor"
    RAISES = "it raises, wherever the tensor is"


@dataclass(frozen=True, slots=True)
class ArraySink:
    """One row: where a function takes arrays, and what it does with a tensor there."""

    reception: Reception
    places: frozenset[Place]
    of_members: Reception | None
    """What it does with a tensor that a list or dictionary holds; None where that works."""
    wants: str = ""
    """What is to be handed over, by the method of a tensor that gives it; empty for anything that becomes an array."""
    unless: frozenset[str] = frozenset()
    """Keywords with which the caller says what to do with other objects."""


_FIRST: Final[tuple[Place, ...]] = (0,)
_TWO: Final[tuple[Place, ...]] = (0, 1)
_THREE: Final[tuple[Place, ...]] = (0, 1, 2)
_CONVERTS = Reception.CONVERTS


def _rows(
    package: str,
    words: str,
    places: tuple[Place, ...] = _FIRST,
    reception: Reception = _CONVERTS,
    of_members: Reception | None = _CONVERTS,
    wants: str = "",
    unless: tuple[str, ...] = (),
) -> dict[str, ArraySink]:
    row = ArraySink(reception, frozenset(places), of_members, wants, frozenset(unless))
    return {f"{package}.{word}": row for word in words.split()}


def _numpy(
    words: str, places: tuple[Place, ...] = _FIRST, reception: Reception = _CONVERTS, package: str = "numpy"
) -> dict[str, ArraySink]:
    return _rows(package, words, places, reception, wants=".numpy()")


_ARRAYS: Final = {
    **_numpy(
        "asarray asanyarray ascontiguousarray asfortranarray atleast_1d atleast_2d float32 int64 median nanmean nansum "
        "nanmax nanstd nanmedian nanargmax average count_nonzero sort percentile quantile nanpercentile stack vstack "
        "hstack dstack column_stack concatenate unique flatnonzero ravel fliplr flipud rot90 diff gradient trace diag "
        "diagonal tril triu angle cov corrcoef sinc trapezoid unwrap histogram expand_dims tile roll pad broadcast_to "
        "digitize isin intersect1d partition bincount nan_to_num zeros_like ones_like empty_like random.choice "
        "random.permutation random.normal linalg.norm linalg.det linalg.eigvals linalg.matrix_rank linalg.cond fft.fft"
    ),
    **_numpy(
        "append allclose isclose outer cross kron tensordot convolve correlate dot inner vdot polyfit histogram2d "
        "meshgrid linalg.lstsq testing.assert_allclose testing.assert_array_equal testing.assert_array_almost_equal "
        "testing.assert_array_less testing.assert_equal testing.assert_almost_equal",
        _TWO,
    ),
    **_numpy("interp where", _THREE),
    **_numpy("full full_like save savetxt copyto", (1,)),
    **_numpy("savez savez_compressed", (1, "**")),
    **_numpy("array copy matrix", reception=Reception.WARNS),
    **_numpy("mean sum std var max min amax amin prod any all", reception=Reception.RAISES),
    **_numpy(
        "abs absolute arccos arcsin arctan cbrt ceil conj cos cosh deg2rad degrees exp exp2 expm1 fabs floor isfinite "
        "isinf isnan log log10 log1p log2 logical_not negative rad2deg radians reciprocal rint sign sin sinh sqrt "
        "square tan tanh trunc argmax argmin cumsum cumprod ptp argsort transpose round clip reshape repeat take "
        "searchsorted linalg.inv linalg.svd linalg.pinv linalg.eig linalg.eigh linalg.qr",
        reception=Reception.GIVES_TENSOR,
    ),
    **_numpy(
        "add subtract multiply divide true_divide floor_divide mod power matmul maximum minimum fmax fmin arctan2 "
        "hypot equal not_equal greater greater_equal less less_equal logical_and logical_or logaddexp",
        _TWO,
        Reception.GIVES_TENSOR,
    ),
}
_PLOTS: Final = (
    ("plot semilogx semilogy loglog", _THREE),
    ("hist boxplot violinplot pie imshow matshow spy stem eventplot specgram axhline axvline hlines vlines", _FIRST),
    ("scatter", (*_TWO, "x", "y", "c", "s")),
    ("bar barh step hist2d hexbin", _TWO),
    ("fill_between contour contourf pcolor pcolormesh", _THREE),
    ("quiver streamplot", (2, 3)),
    ("errorbar", (*_TWO, "yerr", "xerr")),
    ("stackplot", (1,)),
)
_LEARNERS: Final = (
    ("fit score partial_fit", (*_TWO, "X", "y")),
    ("predict transform fit_transform fit_predict predict_proba inverse_transform", (0, "X")),
)
_SCORES: Final[tuple[Place, ...]] = (*_TWO, "y_true", "y_pred", "y_score")
_REFUSED: Final = Reception.RAISES

FUNCTIONS: Final[dict[str, ArraySink]] = {
    **_ARRAYS,
    **dict(chain.from_iterable(_rows("matplotlib.pyplot", *each).items() for each in _PLOTS)),
    **_rows("matplotlib.pyplot", "imsave", (1,)),
    **_rows("pandas", "Series", (0, "data"), of_members=None),
    **_rows("pandas", "DataFrame", (0, "data")),
    **_rows(
        "sklearn.metrics",
        "accuracy_score average_precision_score balanced_accuracy_score brier_score_loss classification_report "
        "cohen_kappa_score confusion_matrix explained_variance_score f1_score jaccard_score log_loss "
        "matthews_corrcoef mean_absolute_error mean_squared_error precision_recall_curve precision_score r2_score "
        "recall_score roc_auc_score roc_curve adjusted_rand_score normalized_mutual_info_score auc",
        _SCORES,
    ),
    **_rows("sklearn.metrics", "silhouette_score pairwise_distances"),
    **_rows("sklearn.metrics.pairwise", "cosine_similarity", _TWO),
    **_numpy("svd inv pinv det norm expm sqrtm eigh", package="scipy.linalg"),
    **_numpy("gaussian_filter zoom label distance_transform_edt map_coordinates", package="scipy.ndimage"),
    **_numpy("cdist pdist cosine", _TWO, package="scipy.spatial.distance"),
    **_numpy("softmax logsumexp", package="scipy.special"),
    **_numpy("find_peaks savgol_filter stft", package="scipy.signal"),
    **_numpy("linear_sum_assignment", package="scipy.optimize"),
    **_numpy("coo_matrix", package="scipy.sparse"),
    **_numpy(
        "pearsonr spearmanr kendalltau linregress ttest_ind ks_2samp wasserstein_distance", _TWO, package="scipy.stats"
    ),
    **_numpy("entropy gaussian_kde mode skew zscore", package="scipy.stats"),
    **_rows("PIL.Image", "fromarray", (0, "obj"), _REFUSED, None, ".numpy()"),
    **_rows("cv2", "resize cvtColor GaussianBlur applyColorMap normalize rectangle", (0,), _REFUSED, None, ".numpy()"),
    **_rows("cv2", "imwrite imshow", (1,), _REFUSED, None, ".numpy()"),
    **_rows("json", "dump dumps", (0, "obj"), _REFUSED, _REFUSED, ".tolist()", ("default", "cls")),
}
"""By the qualified name of the function."""

METHODS: Final[dict[str, ArraySink]] = {
    **dict(chain.from_iterable(_rows("matplotlib", *each).items() for each in _PLOTS)),
    **dict(chain.from_iterable(_rows("sklearn", *each).items() for each in _LEARNERS)),
}
"""By the package of whose objects it is a method, and its word."""

LEFT_OF_ARRAY: Final = ArraySink(Reception.GIVES_TENSOR, frozenset(_FIRST), None, ".numpy()")
"""A tensor to the left of an array and an operator."""
RIGHT_OF_ARRAY: Final = ArraySink(Reception.RAISES, frozenset(_FIRST), None, ".numpy()")
"""A tensor to the right of one."""
DIVIDED_BY: Final = LEFT_OF_ARRAY
"""A tensor that an array is divided by."""
STORED_IN_ARRAY: Final = ArraySink(Reception.CONVERTS, frozenset(_FIRST), None)
"""A tensor that a part of an array is set to."""

PACKAGES: Final = tuple(sorted({name.partition(".")[0] for name in FUNCTIONS}))
FUNCTION_WORDS: Final = tuple(sorted({name.rpartition(".")[2] for name in FUNCTIONS}))
METHOD_WORDS: Final = tuple(sorted({name.rpartition(".")[2] for name in METHODS}))
