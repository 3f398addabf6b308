"""Libraries that change torch's default dtype or device while they build a project's modules, or run them.

Read off lightning 2.6, transformers 5.23, diffusers 0.42 and accelerate 1.15. A precision that a program is given from
outside counts as any: it may stand in a file that is not Python.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping

from torchlint.inference.program.device_makers import dotted, imported
from torchlint.syntax.ast_index import AstIndex

_CONTEXTS = (b"init_empty_weights", b"init_on_device", b"DeviceContext", b"init_module", b"zero.Init")
_CONTEXT = re.compile(rb"\b(?:%b)\b" % b"|".join(map(re.escape, _CONTEXTS)))
"""Contexts in which modules are made on another device, and by some with another dtype."""
_TENSORS_CONTEXT = re.compile(rb"(?:\bwith\b|\benter_context\()[^\n#]*\.init_tensor\(")
"""Lightning Fabric's for tensors: it enters the device that is meant, and the dtype of its precision."""
_PRECISION = re.compile(
    rb"\bprecision(?:[\"']?\s*[=:][^\n#),]{0,60}?|[\"'][^\n#)]*\bdefault\s*=\s*[\"']?)(?<![\w.])64\b"
    rb"|(?<!32)-true\b|[\"']transformer-engine|\b(?:Double|Half|TransformerEngine|Bitsandbytes)Precision"
)
"""With these, Lightning sets the default dtype while it builds a model, and while it runs one."""
_SETTINGS = re.compile(rb"\bLightningCLI\b|\bfrom_argparse_args\b|\binstantiate\([^\n)]*\btrainer\b")
"""Lightning's trainer is made by settings that are written elsewhere."""
_TRAINERS = frozenset({"Trainer", "Fabric"})
_BUILT = re.compile(rb"^[^\S\n]*class\s+\w+\s*\([^):]*(?:Model|ModelMixin|For[A-Z]\w*)\b", re.MULTILINE)
_ROOTS = frozenset({"PreTrainedModel", "ModelMixin"})
_MODEL = re.compile(r"Model$|ModelMixin$|For[A-Z]")
_MAKERS = ("transformers.", "diffusers.")
"""What derives from a model of these is built on the meta device, with the dtype that its weights have."""


def sets_dtype(text: bytes, parse: Callable[[], AstIndex | None]) -> bool:
    """Whether Lightning may run a text's modules with another default dtype.

    ``parse`` gives the text's tree, None where there is none; it is called only for text that needs it.
    """
    if not any(each in text for each in (b"ightning", b"Trainer", b"Fabric")):
        return False
    if b"recision" in text and _PRECISION.search(text) is not None:
        return True
    if b"ightning" not in text:
        return False
    return _SETTINGS.search(text) is not None or _has_open_precision(text, parse)


def _has_open_precision(text: bytes, parse: Callable[[], AstIndex | None]) -> bool:
    """Whether a trainer is made whose precision is not written where it is made."""
    if b"**" not in text and b"precision" not in text:
        return False
    index = parse()
    return index is None or any(_is_open(each) for each in index.nodes(ast.Call))


def _is_open(call: ast.Call) -> bool:
    if not _TRAINERS.intersection(dotted(call.func)[-1:]):
        return False
    return any(
        each.arg is None or (each.arg == "precision" and not isinstance(each.value, ast.Constant))
        for each in call.keywords
    )


def sets_dtype_and_device(text: bytes, parse: Callable[[], AstIndex | None]) -> bool:
    """Whether a library may build modules of a text with another default dtype, and on another default device."""
    if any(each in text for each in _CONTEXTS) and _CONTEXT.search(text) is not None:
        return True
    if b".init_tensor(" in text and _TENSORS_CONTEXT.search(text) is not None:
        return True
    if (b"transformers" not in text and b"diffusers" not in text) or _BUILT.search(text) is None:
        return False
    index = parse()
    if index is None:
        return True
    modules = dict(imported(index))
    return any(_is_model(base, modules) for each in index.nodes(ast.ClassDef) for base in each.bases)


def _is_model(base: ast.expr, modules: Mapping[str, str]) -> bool:
    """Whether a base class is a model of a library that builds what derives from it."""
    words = dotted(base) or [""]
    origin = ".".join([modules.get(words[0], words[0]), *words[1:]])
    return words[-1] in _ROOTS or (origin.startswith(_MAKERS) and _MODEL.search(words[-1]) is not None)
