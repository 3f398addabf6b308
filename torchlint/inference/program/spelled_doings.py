"""What a text may do by the words in it: trace code, bind functions of `nn.init` anew, define a method."""

from __future__ import annotations

import re

_TRACING = (
    b"jit.script", b"jit.trace", b"from torch.jit", b"from torch.onnx", b"from torch.fx", b"onnx.export",
    b"onnx.dynamo_export", b"symbolic_trace", b"make_fx", b"ScriptModule", b"script_method", b"trace_module",
    b"to_torchscript",
)  # fmt: skip
_BINDING_INIT = re.compile(
    rb"\binit\.(?:normal|uniform|zeros|constant)_\s*=[^=]|attr\(\s*[\w.]*\binit\s*,|init\.__dict__|vars\([\w.]*init\)"
    rb"|patch(?:\.object)?\([^)]*\binit\b"
)
_METHOD = rb"(?m)\bdef\s+%(word)b\b|^[ \t]+(?:\w+\s*=\s*)*%(word)b\s*=[^=]"


def binds_initialisers(text: bytes) -> bool:
    """Whether a text may bind functions of ``nn.init`` anew: ``torch.nn.init.normal_ = skip``."""
    return b"init" in text and _BINDING_INIT.search(text) is not None


def defines(text: bytes, method: str) -> bool:
    """Whether a class of a text may have a method of a name: by ``def`` or by an assignment that is indented."""
    return re.search(_METHOD % {b"word": method.encode()}, text) is not None


def traces_or_scripts(text: bytes) -> bool:
    """Whether a text has torch record a function while it runs, or read its source."""
    return any(each in text for each in _TRACING)
