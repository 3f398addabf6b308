"""What a text may do, by patterns in it: trace code, rebind functions of `nn.init`, define a method or a tensor."""

from __future__ import annotations

import re

_RECORDING = (
    b"jit.trace", b"trace_module", b"get_trace_graph", b"from torch.jit", b"from torch.onnx", b"onnx.export",
    b"onnx._export", b"onnx.dynamo_export", b"torch.export.", b"from torch.export", b"_dynamo.export", b"make_fx",
    b"to_torchscript", b"to_onnx", b"log_graph=True", b"FlopCountAnalysis", b"onnx.utils.", b"torch_neuron",
    b"torch.neuron.", b"import hiddenlayer", b"example_input=",
)  # fmt: skip
"""What torch's own ways to record are called by, and ways of libraries."""
_GRAPH_SHOWN = re.compile(rb"^[^#\n]*\badd_graph\(", re.MULTILINE)
"""What TensorBoard shows of a module is a trace of it; the call is often there as a comment alone."""
_TRACERS = (b"jit", b"onnx", b"export", b"fx")
_UNDER_ANOTHER_NAME = re.compile(
    rb"(?:[.,(]|\bfrom\s+torch\s+import\b)\s*%(m)s\s+as\s+\w|[=(,\[]\s*torch\.%(m)s\s*(?:[,)\]\n;#]|\Z)"
    rb"|\bfrom\s+torch\s+import[ \t]+(?:\w+[ \t]*,[ \t]*)*export\b" % {b"m": rb"(?:%b)" % b"|".join(_TRACERS)}
)
"""A module that traces, bound to a name of the text's own or handed on: its functions are not found by its words."""
_TRACING = (
    *_RECORDING, b"jit.script", b"from torch.fx", b"symbolic_trace", b"ScriptModule", b"script_method",
)  # fmt: skip
_INITIALISER = rb"(?:normal|uniform|zeros|constant)_"
_BINDING_INIT = re.compile(
    rb"\.%(name)s\s*(?::[^=\n]*)?=[^=]|[\"']%(name)s[\"']|TorchFunctionMode|init\.__dict__|vars\([\w.]*init\)"
    rb"|attr\(\s*[\w.]*\binit\s*,|patch(?:\.(?:object|multiple|dict))?\([^)]*\binit\b" % {b"name": _INITIALISER}
)
_NAMING_INIT = re.compile(rb"\bnn\.init\b|\bimport\b[^\n;]*\binit\b")
_BINDING_ANY = re.compile(
    rb"setattr\(\s*(?!self\s*,)[^,\n]+,\s*(?![\"'])|(?:vars\(|(?<!self)\.__dict__)[\w.]*\)?\s*(?:\[|\.update)"
)
_BASE = rb"\bclass\s+\w+\s*\((?:[^()\[\]]*[,\s.])?%b\s*[,)]"
_OF_TENSORS = re.compile(
    _BASE % b"Tensor" + rb"|\btype\([^,()\n]+,\s*\([^()\n]*\bTensor\s*,|\bas_subclass\(|\b_make_(?:wrapper_)?subclass\("
)
"""A class below ``Tensor``, or code that makes objects of one."""
_CALLED_OTHERWISE = re.compile(
    rb"\bTensor[^\S\n]+as[^\S\n]+(\w+)|^(\w+)[^\S\n]*=[^\S\n]*(?:\w+\.)*Tensor[^\S\n]*$", re.MULTILINE
)
"""Other names that a text gives to ``Tensor``."""
_WITH_TENSORS = (
    b"monai", b"geoopt", b"pypose", b"torchhd", b"colossalai", b"fastai2", b"optimum.quanto", b"torch.masked",
    b"torch.distributed.tensor", b"torch.distributed._tensor", b"torchvision.tv_tensors", b"torchvision.datapoints",
    b"torchvision.transforms.v2",
)  # fmt: skip
_OF_LIBRARIES = re.compile(
    rb"\b(?:from|import)[^\S\n]+(?:[\w.]+[^\S\n]*,[^\S\n]*)*(?:%b|fastai\.(?:\w+\.)*(?:all|basics|torch_core))\b"
    rb"|\bfrom[^\S\n]+torchvision[\w.]*[^\S\n]+import\b[^\n#]*\b(?:tv_tensors|datapoints|v2)\b"
    rb"|\btorchvision\.(?:tv_tensors|datapoints|transforms\.v2)\b|\btransforms\.v2\b|\bimport\b[^\n#]*\bEdgeIndex\b"
    % b"|".join(map(re.escape, _WITH_TENSORS))
)
"""Imports of libraries whose functions give objects of classes below ``Tensor``, read off their sources."""
_WORDS_OF_LIBRARIES = (*(each.rpartition(b".")[2] for each in _WITH_TENSORS), b"fastai", b"EdgeIndex")
_IMPORTING = (
    rb"(?:^|[;:\"'(>\r]|\\n)[ \t]*(?:import[ \t]+[^\n#\"']*\b%(word)b\b"
    rb"|from(?:[ \t]+|(?=\.))[^\n#\"':/]*(?:\b%(word)b\b[^\n#\"':/]*\bimport\b|\bimport\b[^\n#]*\b%(word)b\b))"
    rb"|\bimport\s*\([^)]*\b%(word)b\b"
    rb"|(?:import_module|__import__|run_path|run_module|execfile|open)\([^\n]*\b%(word)b\b"
)
"""How a statement imports a module, at the beginning of a line, behind another or in a text, or code runs its file."""
_CONTINUED = re.compile(rb"\\\r?\n")
_DEFINED = re.compile(rb"\bdef\s+\Z")
_BOUND_IN_CLASS = re.compile(rb"[ \t]+(?:\w+\s*=\s*)*\Z")
_BOUND = re.compile(rb"\s*=[^=]")
_COMPUTED = re.compile(rb"\s*=\s*[\w.]*[pP]roperty\b")


def binds_initialisers(text: bytes) -> bool:
    """Whether a text may rebind functions of ``nn.init``: ``torch.nn.init.normal_ = skip``.

    By whatever name it knows the module: each of the functions' names that is written to or stands in quotes counts,
    and each attribute of which the name is made at run time, where the text names the module at all.
    """
    if b"init" not in text and b"TorchFunctionMode" not in text:
        return False
    return _BINDING_INIT.search(text) is not None or (
        _NAMING_INIT.search(text) is not None and _BINDING_ANY.search(text) is not None
    )


def imports(text: bytes, module: str) -> bool:
    """Whether a text may import a module by its last name, or run it by its name or the path of its file.

    A sentence that only has the words, "adapted from .../blob/main/nets.py", does not.
    """
    pattern = _IMPORTING % {b"word": re.escape(module.encode())}
    return re.search(pattern, _CONTINUED.sub(b" ", text), re.MULTILINE) is not None


def longest_word(module: str) -> bytes:
    """Return the longest of the words that a module's name consists of: ``streaming`` of ``run-streaming``."""
    return max(re.findall(r"\w+", module), key=len, default=module).encode()


def defines(text: bytes, method: str, is_read: bool = False) -> bool:
    """Whether a class of a text may have a method of a name: by ``def`` or by an assignment that is indented.

    ``is_read`` asks whether code may run where an attribute of the name is read: then only the assignments of
    properties count.
    """
    binding = _COMPUTED if is_read else _BOUND
    for found in re.finditer(rb"\b%b\b" % method.encode(), text):
        line = text[text.rfind(b"\n", 0, found.start()) + 1 : found.start()]
        if _DEFINED.search(line) is not None:
            return True
        if binding.match(text, found.end()) is not None and _BOUND_IN_CLASS.match(line) is not None:
            return True
    return False


def subclasses_tensors(text: bytes) -> bool:
    """Whether a text has a class below ``Tensor``, makes objects of one, or imports a library that does."""
    if any(each in text for each in _WORDS_OF_LIBRARIES) and _OF_LIBRARIES.search(text) is not None:
        return True
    if b"Tensor" not in text:
        return b"subclass" in text and _OF_TENSORS.search(text) is not None
    names = {b"Tensor", *(word for pair in _CALLED_OTHERWISE.findall(text) for word in pair if word)}
    return _OF_TENSORS.search(text) is not None or any(re.search(_BASE % re.escape(each), text) for each in names)


def records_traces(text: bytes) -> bool:
    """Whether a text has torch record what a function does while it runs: that warns of constants, and a script not."""
    return any(each in text for each in _RECORDING) or _shows_a_graph(text) or _holds_a_tracer(text)


def traces_or_scripts(text: bytes) -> bool:
    """Whether a text has torch record a function while it runs, or read its source."""
    return any(each in text for each in _TRACING) or _shows_a_graph(text) or _holds_a_tracer(text)


def _shows_a_graph(text: bytes) -> bool:
    return b"add_graph(" in text and _GRAPH_SHOWN.search(text) is not None


def _holds_a_tracer(text: bytes) -> bool:
    """Whether a text may trace by a name that only it knows: ``import torch.jit as tj``, ``jit = torch.jit``."""
    is_named = b"torch" in text and any(each in text for each in _TRACERS)
    return is_named and _UNDER_ANOTHER_NAME.search(text) is not None
