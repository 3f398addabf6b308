"""Which texts set torch's defaults: legacy constructors and those that replace them follow them differently."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.syntax.ast_index import AstIndex
from torchlint.texts.frameworks import OTHERS
from torchlint.texts.word_index import ProjectFile, WordIndex

DTYPE, DEVICE, TENSOR_TYPE = "default dtype", "default device", "default tensor type"
SETTERS = {"set_default_dtype": DTYPE, "set_default_device": DEVICE, "set_default_tensor_type": TENSOR_TYPE}

_ENTERED = tuple(
    map(
        re.compile,
        (
            rb"with [^\n#]*(?<![\w.])(?:\w+\.)?\w*device\w*\(",
            rb"with (?:\w+\.)*\w*device\w*(?:[:,]| as\b)",
            rb"with \(\s*\n[^:]*device",
            rb"@[^\n#]*device\(",
            rb"enter_context\([^\n#]*device",
        ),
    )
)
"""What may enter a device, each with a beginning that is found fast."""
_BY_NAME = re.compile(rb"with ([\w.]+)(?:[:,]| as\b)")
_ONE_DEVICE = frozenset({"cuda", "xpu", "npu", "mps", "hpu", "mtia", "musa"})
"""``torch.cuda.device(1)`` says which GPU is meant, and leaves the default device alone."""


def setter(words: WordIndex, own: str, kind: str) -> str | None:
    """Return the clause about the first other file that sets a default."""
    setting = (each for each in words.holding_any((*SETTERS, "device")) if each.path != own and kind in each.told(_set))
    return next((f"`{each.shown}` sets the {kind}" for each in setting), None)


def _set(file: ProjectFile) -> frozenset[str]:
    named = [each for each in SETTERS if each.encode() in file.words]
    text = file.text if named or b"torch" in file.words else b""
    return defaults_set(text, file.tree) if named or _may_enter(text) else frozenset()


def _may_enter(text: bytes) -> bool:
    if b"device" not in text:
        return False
    return any(each.search(text) for each in _ENTERED) or any(
        re.search(rb"\b%b\s*=\s*[\w.]*device\(" % re.escape(each), text) for each in set(_BY_NAME.findall(text))
    )


def defaults_set(text: bytes, index: AstIndex | None) -> frozenset[str]:
    """Return which of torch's defaults a text sets; where it does not parse, those that it names."""
    if index is None:
        return frozenset(kind for word, kind in SETTERS.items() if word.encode() in text)
    found: set[str] = set()
    if b"set_default_" in text:
        names = {each.attr for each in index.nodes(ast.Attribute)} | {each.id for each in index.nodes(ast.Name)}
        names |= {each.name for node in index.nodes(ast.ImportFrom) for each in node.names}
        names |= {each.value for each in index.nodes(ast.Constant) if isinstance(each.value, str)}
        found |= {kind for word, kind in SETTERS.items() if word in names}
    if _may_enter(text):
        modules = dict(imported(index))
        made = (each for each in index.nodes(ast.Assign) if _is_device(each.value, modules))
        kept = {tuple(dotted(target)) for each in made for target in each.targets} - {()}
        found |= {DEVICE for each in _entered(index) if _is_device(each, modules) or tuple(dotted(each)) in kept}
    return frozenset(found)


def _entered(index: AstIndex) -> Iterator[ast.expr]:
    """Yield what blocks, decorators and stacks of contexts enter."""
    blocks: list[ast.With | ast.AsyncWith] = [*index.nodes(ast.With), *index.nodes(ast.AsyncWith)]
    for block in blocks:
        yield from (each.context_expr for each in block.items)
    for function in index.functions:
        yield from (each for each in function.decorator_list if isinstance(each, ast.Call))
    for call in index.nodes(ast.Call):
        if call.args and dotted(call.func)[-1:] == ["enter_context"]:
            yield call.args[0]


def _is_device(context: ast.expr, modules: dict[str, str]) -> bool:
    """Whether what is entered is a device by its words: ``torch.device("cpu")``, ``self.device``, ``pick_device()``."""
    if isinstance(context, ast.Call):
        return makes_device(context.func, modules)
    return "device" in "".join(dotted(context)[-1:]).lower()


def makes_device(function: ast.expr, modules: dict[str, str]) -> bool:
    """Whether what is called gives a ``torch.device``, by its words and by what the imports of the file say of them."""
    words = dotted(function)
    if not words or "device" not in words[-1].lower():
        return False
    above = modules.get(words[0], words[0]).split(".") + words[1:-1]
    return above[0] not in OTHERS and above[-1] not in _ONE_DEVICE


def imported(index: AstIndex) -> Iterator[tuple[str, str]]:
    """Yield each name that an import binds, with the dotted name of what it stands for."""
    for plain in index.nodes(ast.Import):
        for alias in plain.names:
            yield (alias.asname, alias.name) if alias.asname else (alias.name.partition(".")[0],) * 2
    for node in index.nodes(ast.ImportFrom):
        for alias in node.names:
            yield alias.asname or alias.name, f"{node.module or ''}.{alias.name}"


def dotted(node: ast.expr) -> list[str]:
    """Return the words of a dotted name; the first is empty where something else than a name stands there."""
    words: list[str] = []
    while isinstance(node, ast.Attribute):
        words.append(node.attr)
        node = node.value
    return [*([node.id] if isinstance(node, ast.Name) else [""] * bool(words)), *reversed(words)]
