"""What is known of libraries, as rows: which hold no tensors, which hand on what they are given, what others give."""

from __future__ import annotations

import sys
from typing import Final

from torchlint.values.references import LibraryInstanceRef, LibraryRef, Reference

OTHER_FRAMEWORKS: Final = frozenset(
    """
    tensorflow tf jax jaxlib flax optax haiku paddle mxnet cupy keras oneflow mindspore chainer theano
    tensorflow_probability tensorflow_hub tensorflow_datasets megengine tinygrad mlx onnxruntime tensorrt
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


def package_of(name: str) -> str:
    """Return the package of a dotted name."""
    return name.partition(".")[0]


def is_foreign(reference: Reference) -> bool:
    """Whether a reference is to something of a library that has no tensors of torch."""
    return isinstance(reference, LibraryInstanceRef | LibraryRef) and package_of(reference.name) in FOREIGN
