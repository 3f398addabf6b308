"""Each row of the table of functions that take arrays, run with the real library and a real tensor."""

# torchlint: ignore-file[TNS105] the fault itself

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

os.environ.setdefault("MPLBACKEND", "Agg")
torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

from torchlint.rules.host.array_sinks import (  # noqa: E402
    DIVIDED_BY,
    FUNCTIONS,
    LEFT_OF_ARRAY,
    METHODS,
    RIGHT_OF_ARRAY,
    STORED_IN_ARRAY,
    ArraySink,
    Reception,
)
from torchlint.verify import simulated  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

LINE = [0.1, 0.9, 0.4, 0.7, 0.2, 0.6]
SQUARE = [[0.9, 0.1, 0.3], [0.4, 0.7, 0.2], [0.8, 0.5, 0.6]]
LABELS = [0.0, 1.0, 0.0, 1.0, 0.0, 1.0]

# ---------------------------------------------------------------------- how a row is called: `f` is it, `t` the tensor
_WITH_ARRAY = "f(t, np.asarray(x, dtype=np.float32))"
SCORES = "roc_auc_score average_precision_score log_loss roc_curve precision_recall_curve brier_score_loss".split()
CALLS: dict[str, str] = {
    **dict.fromkeys(
        "numpy.percentile numpy.nanpercentile numpy.roll numpy.tile numpy.repeat numpy.partition numpy.pad".split(),
        "f(t, 1)",
    ),
    "numpy.quantile": "f(t, 0.5)",
    "numpy.expand_dims": "f(t, 0)",
    "numpy.broadcast_to": "f(t, (2, 6))",
    "numpy.digitize": "f(t, [0.5])",
    "numpy.bincount": "f(t.long()) if not t.requires_grad else f(t)",
    "numpy.isin": "f(t, [0.1])",
    "numpy.intersect1d": "f(t, [0.1])",
    "numpy.reshape": "f(t, (2, 3))",
    "numpy.clip": "f(t, 0, 1)",
    "numpy.take": "f(t, [0])",
    "numpy.searchsorted": "f(t, 0.5)",
    "numpy.polyfit": "f(t, t, 1)",
    "numpy.tensordot": "f(t, np.asarray(x), 1)",
    "numpy.interp": "f(0.5, t, np.asarray(x))",
    "numpy.where": "f(np.asarray(x) > 0.5, t, 0)",
    "numpy.full": "f((2, 2), t[0])",
    "numpy.full_like": "f(np.ones(6), t)",
    "numpy.copyto": "f(np.ones(6), t)",
    "numpy.linalg.lstsq": "f(t, np.asarray(x))",
    "numpy.testing.assert_array_less": "f(t, np.asarray(x) + 1)",
    **{f"numpy.{word}": "f([t, t])" for word in "stack vstack hstack dstack column_stack concatenate".split()},
    **{f"numpy.{word}": "f(str(path / 'file'), t)" for word in "save savez savez_compressed savetxt".split()},
    "matplotlib.bar": "f(range(6), t)",
    "matplotlib.barh": "f(range(6), t)",
    "matplotlib.step": "f(range(6), t)",
    "matplotlib.stackplot": "f(range(6), t)",
    "matplotlib.scatter": "f(range(6), t)",
    "matplotlib.errorbar": "f(range(6), np.ones(6), yerr=t)",
    "matplotlib.fill_between": "f(range(6), t)",
    "matplotlib.hist2d": "f(t, t)",
    "matplotlib.hexbin": "f(t, t)",
    "matplotlib.hlines": "f(t, 0, 1)",
    "matplotlib.vlines": "f(t, 0, 1)",
    "matplotlib.axhline": "f(t[0])",
    "matplotlib.axvline": "f(t[0])",
    "matplotlib.quiver": "f(np.ones((3, 3)), np.ones((3, 3)), t, t)",
    "matplotlib.streamplot": "f(np.arange(3), np.arange(3), t, t)",
    "matplotlib.imsave": "f(str(path / 'file.png'), t)",
    "sklearn.metrics.silhouette_score": "f(t, [0, 0, 1])",
    "sklearn.metrics.auc": "f(range(6), t)",
    **{f"sklearn.metrics.{word}": "f([0, 1, 0, 1, 0, 1], t)" for word in SCORES},
    "scipy.linalg.sqrtm": "f(t @ t.T)",
    "scipy.linalg.eigh": "f(t @ t.T)",
    "scipy.ndimage.gaussian_filter": "f(t, 1)",
    "scipy.ndimage.zoom": "f(t, 2)",
    "scipy.ndimage.map_coordinates": "f(t, [[0], [0]])",
    "scipy.spatial.distance.pdist": "f(t)",
    "scipy.signal.savgol_filter": "f(t, 3, 1)",
    "scipy.signal.stft": "f(t, nperseg=4)",
    "PIL.Image.fromarray": "f(t)",
    "cv2.resize": "f(t, (2, 2))",
    "cv2.cvtColor": "f(t, 8)",
    "cv2.GaussianBlur": "f(t, (3, 3), 1)",
    "cv2.applyColorMap": "f(t, 2)",
    "cv2.normalize": "f(t, None)",
    "cv2.rectangle": "f(t, (0, 0), (1, 1), 1)",
    "cv2.imwrite": "f(str(path / 'file.png'), t)",
    "cv2.imshow": "f('window', t)",
    "json.dump": "f(t, open(path / 'file', 'w'))",
    "sklearn.fit": "f(t, range(len(t)))",
    "sklearn.score": "f(t, range(len(t)))",
    "sklearn.partial_fit": "f(t)",
}  # fmt: skip
SQUARES = frozenset(
    "numpy.fliplr numpy.flipud numpy.rot90 numpy.trace numpy.diagonal numpy.tril numpy.triu numpy.cross numpy.matrix "
    "numpy.linalg.lstsq matplotlib.imshow matplotlib.matshow matplotlib.spy matplotlib.contour matplotlib.contourf "
    "matplotlib.pcolor matplotlib.pcolormesh matplotlib.quiver matplotlib.streamplot matplotlib.imsave "
    "sklearn.metrics.silhouette_score sklearn.metrics.pairwise_distances sklearn.metrics.pairwise.cosine_similarity "
    "scipy.optimize.linear_sum_assignment scipy.spatial.distance.cdist scipy.spatial.distance.pdist "
    "scipy.sparse.csr_matrix scipy.sparse.coo_matrix".split()
)
RECEIVERS = {
    "fit": "linear_model.LinearRegression()",
    "predict": "linear_model.LinearRegression().fit(np.asarray(x), range(3))",
    "score": "linear_model.LinearRegression().fit(np.asarray(x), range(3))",
    "transform": "preprocessing.StandardScaler().fit(np.asarray(x))",
    "inverse_transform": "preprocessing.StandardScaler().fit(np.asarray(x))",
    "partial_fit": "preprocessing.StandardScaler()",
    "fit_transform": "preprocessing.StandardScaler()",
    "fit_predict": "cluster.KMeans(2, n_init=1)",
    "predict_proba": "linear_model.LogisticRegression().fit(np.asarray(x), [0, 1, 0])",
}
"""Whose methods of scikit-learn are called."""


def plain_name(name: str) -> str:
    return name.replace("matplotlib.pyplot.", "matplotlib.")


def is_square(name: str) -> bool:
    return plain_name(name) in SQUARES or name.startswith(
        ("numpy.linalg.", "scipy.linalg.", "scipy.ndimage.", "cv2.", "PIL.")
    )


def numbers(name: str, row: ArraySink) -> list[Any]:
    if (name in METHODS and name.startswith("sklearn.")) or is_square(name):
        return SQUARE
    is_of_labels = name.startswith("sklearn.metrics.") and CALLS.get(name) is None
    return LABELS if is_of_labels else LINE


def function(name: str, x: Any) -> Any:
    """Import what a row names, or make an object whose method it is."""
    if name in METHODS and name.startswith("matplotlib."):
        return getattr(pytest.importorskip("matplotlib.pyplot").subplots()[1], name.rpartition(".")[2])
    if name in METHODS:
        word = name.rpartition(".")[2]
        made = RECEIVERS[word]
        module = importlib.import_module("sklearn." + made.partition(".")[0])
        return getattr(eval(made, {made.partition(".")[0]: module, "np": np, "x": x}), word)
    module, _, word = name.rpartition(".")
    pytest.importorskip(module)
    return getattr(importlib.import_module(module), word)


def run(name: str, row: ArraySink, tensor: Any, path: Any) -> Any:
    x = numbers(name, row)
    default = (
        _WITH_ARRAY
        if {0, 1} <= row.places and 2 not in row.places and name.startswith(("numpy.", "scipy.", "sklearn.m"))
        else "f(t)"
    )
    call = CALLS.get(plain_name(name), default)
    return eval(call, {"f": function(name, x), "t": tensor, "np": np, "x": x, "path": path})


@pytest.fixture(autouse=True)
def _no_figures() -> Iterator[None]:
    yield
    plots = __import__("sys").modules.get("matplotlib.pyplot")
    if plots is not None:
        plots.close("all")


ROWS = sorted({**FUNCTIONS, **METHODS}.items())
IDS = [name for name, _ in ROWS]
NO_GRAD, NO_DEVICE = "Can't call numpy\\(\\) on Tensor that requires grad", "can't convert cuda:0 device type tensor"


@pytest.mark.parametrize(("name", "row"), ROWS, ids=IDS)
def test_a_tensor_of_the_host_does_what_the_row_says(name: str, row: ArraySink, tmp_path: Any) -> None:
    tensor = torch.tensor(numbers(name, row))
    if row.reception is Reception.RAISES:
        with pytest.raises(Exception):  # noqa: B017 - each library has its own
            run(name, row, tensor, tmp_path)
        return
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        given = run(name, row, tensor, tmp_path)
    assert isinstance(given, torch.Tensor) == (row.reception is Reception.GIVES_TENSOR) or isinstance(given, tuple)
    if row.reception is Reception.WARNS:
        assert any(issubclass(each.category, DeprecationWarning) for each in told)


@pytest.mark.parametrize(
    ("name", "row"),
    [each for each in ROWS if each[1].reception is not Reception.RAISES],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_gradient_and_a_device_stand_in_the_way(name: str, row: ArraySink, tmp_path: Any) -> None:
    with pytest.raises(RuntimeError, match=NO_GRAD):
        run(name, row, torch.tensor(numbers(name, row), requires_grad=True) * 1, tmp_path)
    if simulated.missing() is None:
        with simulated.simulated(), pytest.raises(TypeError, match=NO_DEVICE):
            run(name, row, torch.tensor(numbers(name, row)).cuda(), tmp_path)


@pytest.mark.parametrize("operator", ["+", "-", "*", "@", "**", "//", "%"])
def test_an_operator_tells_left_from_right(operator: str) -> None:
    array, host, live = np.ones(3, dtype=np.float32), torch.ones(3), torch.ones(3, requires_grad=True)
    assert (RIGHT_OF_ARRAY.reception, LEFT_OF_ARRAY.reception) == (Reception.RAISES, Reception.GIVES_TENSOR)
    with pytest.raises(TypeError):
        eval(f"a {operator} t", {"a": array, "t": host})
    assert isinstance(eval(f"t {operator} a", {"a": array, "t": host}), torch.Tensor)
    with pytest.raises(RuntimeError, match=NO_GRAD):
        eval(f"t {operator} a", {"a": array, "t": live})


def test_an_array_divided_by_a_tensor_is_a_tensor() -> None:
    assert DIVIDED_BY.reception is Reception.GIVES_TENSOR
    assert isinstance(np.ones(3, dtype=np.float32) / torch.ones(3), torch.Tensor)
    with pytest.raises(RuntimeError, match=NO_GRAD):
        np.ones(3, dtype=np.float32) / torch.ones(3, requires_grad=True)


def test_elements_of_an_array_are_set_to_a_converted_tensor() -> None:
    array = np.ones((2, 3))
    assert STORED_IN_ARRAY.reception is Reception.CONVERTS
    array[0] = torch.zeros(3)
    assert array[0].sum() == 0
    with pytest.raises(RuntimeError, match=NO_GRAD):
        array[1] = torch.zeros(3, requires_grad=True)
