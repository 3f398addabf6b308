"""What is known of libraries, as rows: which hold no tensors, which hand on what they are given, what others give."""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Final

from torchlint.values.references import LibraryInstanceRef, LibraryRef, Reference

OTHER_FRAMEWORKS: Final = frozenset(
    """
    tensorflow tf jax jaxlib flax optax haiku paddle mxnet cupy keras oneflow mindspore chainer theano
    tensorflow_probability tensorflow_hub tensorflow_datasets tensorflow_addons tensorflow_text tf_keras megengine
    tinygrad mlx onnxruntime tensorrt onnx_ir onnxscript tvm jittor openvino sonnet equinox pytensor sympy cvxpy pyspark
    """.split()
)
"""Frameworks with tensors of their own: none of torch's, though they have methods of the same names."""

ARRAY_LIBRARIES: Final = frozenset("numpy scipy cv2 skimage librosa soundfile h5py imageio np zarr".split())
"""Libraries that work on NumPy's arrays."""

_PASSING_MODULES = frozenset(
    """
    copy functools itertools collections random pickle contextlib multiprocessing queue asyncio concurrent operator
    dataclasses types typing threading weakref heapq contextvars gc builtins importlib abc enum unittest
    """.split()
)
"""Modules of the standard library that hand on what they are given."""

WITHOUT_TENSORS: Final = frozenset(
    """
        pandas PIL matplotlib sklearn requests yaml tqdm click absl argparse seaborn plotly wandb networkx nltk mock
        pathlib logging polars cloudpickle omegaconf gym gymnasium pettingzoo trimesh shapely pycocotools tensorboardX
        tensorboard mlflow rich tabulate termcolor psutil joblib numba regex sentencepiece tokenizers spacy sacrebleu
        rouge_score optuna hydra fire typer pydantic attr attrs ruamel toml ujson boto3 redis flask fastapi gradio
        streamlit IPython ipywidgets bs4 selenium pyarrow lmdb pydub ffmpeg moviepy av decord openai tiktoken
        """.split()
) | (frozenset(sys.stdlib_module_names) - _PASSING_MODULES)
"""Packages of whose objects no part, and nothing that their methods give, is a tensor of torch."""

MODULE_CONTAINERS: Final = frozenset(
    f"torch.nn.{word}" for word in "Sequential ModuleList ModuleDict ParameterList ParameterDict".split()
)
"""Modules that hold others under positions or keys; one that holds nothing is false."""

FOREIGN: Final = OTHER_FRAMEWORKS | WITHOUT_TENSORS


_CANONICAL = {
    "torch.autograd.variable.Variable": "torch.autograd.Variable",
    "torch.Variable": "torch.autograd.Variable",
    "torch.nn.parameter.Parameter": "torch.nn.Parameter",
    "torch.tensor.Tensor": "torch.Tensor",
    "torch._tensor.Tensor": "torch.Tensor",
    "torch.functional.F": "torch.nn.functional",
    "torch.utils.data.dataloader.DataLoader": "torch.utils.data.DataLoader",
    "torch.utils.data.dataset.Dataset": "torch.utils.data.Dataset",
    "torch.utils.data.dataset.TensorDataset": "torch.utils.data.TensorDataset",
    "torch.optim.optimizer.Optimizer": "torch.optim.Optimizer",
    "numpy.typing.NDArray": "numpy.ndarray",
    "typing_extensions.cast": "typing.cast",
    "torch.functional.einsum": "torch.einsum",
    "np": "numpy",
}
_PREFIXES = (
    ("torch.nn.modules.", "torch.nn."),
    ("torch.nn.parallel.distributed.", "torch.nn.parallel."),
    ("torch.nn.parallel.data_parallel.", "torch.nn."),
    ("torch.nn.utils.clip_grad.", "torch.nn.utils."),
    ("torch.autograd.grad_mode.", "torch."),
    ("pytorch_lightning.", "lightning."),
    ("lightning.pytorch.", "lightning."),
    ("torchvision.transforms.v2.", "torchvision.transforms."),
    ("torchvision.transforms.transforms.", "torchvision.transforms."),
    ("collections.abc.", "typing."),
    ("typing_extensions.", "typing."),
    ("np.", "numpy."),
)
_OF_GRAD_MODE = frozenset("no_grad enable_grad set_grad_enabled inference_mode".split())


@lru_cache(maxsize=8192)
def canonical(name: str) -> str:
    """Return the one spelling of a dotted name: ``torch.autograd.variable.Variable`` is ``torch.autograd.Variable``."""
    if name in _CANONICAL:
        return _CANONICAL[name]
    for prefix, short in _PREFIXES:
        if name.startswith(prefix):
            rest = name[len(prefix) :]
            if short == "torch.nn.":  # torch.nn.modules.linear.Linear
                return short + next((name[at:] for at in _capitals(name)), rest)
            return short + rest
    if name.startswith("torch.autograd.") and name[15:] in _OF_GRAD_MODE:
        return f"torch.{name[15:]}"
    return name


def _capitals(name: str) -> list[int]:
    """Return where the words of a dotted name begin that are written with a capital, as classes are."""
    starts = [0, *(at + 1 for at, each in enumerate(name) if each == ".")]
    return [at for at in starts if name[at : at + 1].isupper()]


MADE_TUPLE: Final = "a tuple of collections.namedtuple"
"""The class of what a class of ``collections.namedtuple`` makes, or ``_replace`` of such."""


def package_of(name: str) -> str:
    """Return the package of a dotted name."""
    return name.partition(".")[0]


def is_foreign(reference: Reference) -> bool:
    """Whether a reference is to something of a library that has no tensors of torch."""
    return isinstance(reference, LibraryInstanceRef | LibraryRef) and package_of(reference.name) in FOREIGN
