"""Which texts have torch trace, script or compile code, and which of them import a module."""

from __future__ import annotations

import re

from torchlint.texts.name_takers import importers, takes_through
from torchlint.texts.word_index import ProjectFile, WordIndex

_TRACING = (
    b"jit.trace", b"trace_module", b"get_trace_graph", b"from torch.jit", b"from torch.onnx", b"onnx.export",
    b"onnx._export", b"onnx.dynamo_export", b"torch.export.", b"from torch.export", b"_dynamo.export", b"make_fx",
    b"to_torchscript", b"to_onnx", b"log_graph=True", b"jit.script", b"from torch.fx", b"symbolic_trace",
    b"ScriptModule", b"script_method", b"torch.compile", b"FlopCountAnalysis", b"onnx.utils.", b"torch_neuron",
    b"torch.neuron.", b"example_input=",
)  # fmt: skip
_OTHERWISE = re.compile(
    rb"from torch import(?:\s*\([^)]*|[^\n#]*)\b(?:jit|onnx|export|fx|compile)\b|import torch\.(?:jit|onnx|export|fx)\b"
    rb"|^[^#\n]*(?:\btorch\.(?:jit|onnx|export|fx)\s*(?:[,)\]]|$)|\badd_graph\()",
    re.MULTILINE,
)
"""A module that traces, by a name that only the text knows, and the trace that TensorBoard shows of a module."""


def traces(text: bytes) -> bool:
    """Whether a text has torch record a function while it runs, or read its source."""
    return any(each in text for each in _TRACING) or _OTHERWISE.search(text) is not None


def tracer(words: WordIndex, own: str) -> str | None:
    """Return the clause about the first file that traces code and imports a module, or what a package has of it."""
    found = importers(words, own)
    handed = (taker for each in found for taker in takes_through(words, own, each))
    tracing = (each for each in (*found, *handed) if each.told(_traces))
    return next((f"`{each.shown}` traces code and imports this module" for each in tracing), None)


def _traces(file: ProjectFile) -> bool:
    return traces(file.text)
