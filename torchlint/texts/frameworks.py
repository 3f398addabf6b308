"""Which framework a piece of code works with, where a file works with several."""

from __future__ import annotations

import ast
import re

from torchlint.syntax.ast_index import AstIndex
from torchlint.texts.bindings import bound

OTHERS = frozenset(
    """
    tensorflow tf jax paddle mxnet cupy keras flax tensorflow_probability tensorflow_datasets tensorflow_hub
    tensorflow_addons oneflow mindspore chainer theano sympy cvxpy onnxruntime openvino polars pyspark tf_keras
    tensorflow_text megengine tinygrad mlx haiku optax sonnet onnx_ir onnxscript tvm jittor pytensor equinox
""".split()
)
"""Packages whose objects have a ``numpy`` method, ``data`` or ``Variable`` of their own, or none of a tensor's."""

_TORCH = frozenset(
    "accelerate allennlp apex bitsandbytes captum catalyst deepspeed detectron2 diffusers e3nn espnet espnet2 fairseq "
    "fastai flair flash_attn fvcore ignite kornia lightly lightning lightning_fabric lpips mmcv mmdet mmengine mmpose "
    "mmseg monai nemo nflows onmt opacus open_clip parlai peft pfrl poutyne pykeen pyro sbi schnetpack "
    "sentence_transformers skorch speechbrain stable_baselines3 stanza tianshou timm trl ultralytics vllm "
    "xformers".split()
)
"""Packages made for torch alone whose names do not say so; what has ``torch`` in its name is made for it."""

_OTHER_WORD = re.compile(
    r"(^|[^a-z0-9])(tf|tfp|tfd|tensorflow|jax|flax|keras|paddle|mxnet|mx|eager|np|numpy)\d*([^a-z0-9]|$)"
)
_TO_NUMPY = re.compile(r"(^|_)(numpy|np)(?=_|$)")
"""What a function's name says of its result, not of what it is given."""

_NAMED = ("tensorflow", "jax", "paddle", "mxnet", "flax", "keras")
_TORCH_ONLY = frozenset("detach cpu cuda permute contiguous".split())
_TORCH_WORD = re.compile(r"(^|[^a-z0-9])(pt|torch|pytorch)([^a-z0-9]|$)")


def packages(index: AstIndex) -> frozenset[str]:
    """Return the packages that a file imports from, by their first word."""
    found: set[str] = set()
    for plain in index.nodes(ast.Import):
        found.update(alias.name.partition(".")[0] for alias in plain.names)
    for node in index.nodes(ast.ImportFrom):
        if node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return frozenset(found)


def imports_torch(index: AstIndex) -> bool:
    """Whether a file imports torch, or a library made for torch alone, anywhere in its text."""
    if any(map(_is_for_torch, packages(index))):
        return True
    if any("torch" in words for words in index.imported.values()):  # `from compat import torch`
        return True
    return any(map(_imports_by_name, index.nodes(ast.Call)))


def _is_for_torch(package: str) -> bool:
    return package in _TORCH or ("torch" in package and package != "torchlint")


def _imports_by_name(call: ast.Call) -> bool:
    """Whether a call imports torch: ``importlib.import_module("torch")``, ``pytest.importorskip("torch")``."""
    match call:
        case ast.Call(func=ast.Name(id=word) | ast.Attribute(attr=word), args=[ast.Constant(value=str(module)), *_]):
            return "import" in word.lower() and _is_for_torch(module.partition(".")[0])
    return False


_IMPORTED = re.compile(rb"^[ \t]*(?:from[ \t]+(\w+)|import[ \t]+([\w., \t]+))", re.MULTILINE)


def text_imports_torch(text: bytes) -> bool:
    """Whether a text that the stdlib's parser refuses imports torch, or a library made for torch alone."""
    found = (one or more for one, more in _IMPORTED.findall(text))
    modules = (each.split()[:1] for group in found for each in group.decode("utf-8", "replace").split(","))
    return any(_is_for_torch(module.partition(".")[0]) for words in modules for module in words)


def speaks_of_another(index: AstIndex, receiver: ast.expr, mixed: bool) -> bool:
    """Whether names in an expression say that it is no torch tensor, or in a mixed file the code around it does.

    ``tf_output.numpy()``, code under ``if framework == "tf":``, a method of ``class TFModel``.
    """
    said = _words(receiver)
    if any(map(_is_other, said)) or _comes_from_another(index, receiver):
        return True
    if not mixed:
        return _is_under_another(index, receiver)
    if any(_TORCH_WORD.search(word.lower().replace("_", " ")) or word in _TORCH_ONLY for word in said):
        return False
    if _is_handed_over(index, receiver) or _has_torch_beside(index, receiver):
        return False
    below: ast.AST = receiver
    for above in index.ancestors(receiver):
        if _says_another(above, below):
            return True
        below = above
    return False


def _has_torch_beside(index: AstIndex, receiver: ast.expr) -> bool:
    """Whether the same statement does what only torch does to another part of the same object."""
    root = _root(receiver)
    statement = index.nearest(receiver, ast.stmt)
    if not isinstance(root, ast.Name) or not isinstance(statement, ast.Assign | ast.Return | ast.Expr):
        return False
    words = (each for each in index.inside(statement, ast.Attribute) if each.attr in _TORCH_ONLY)
    return any(isinstance(other := _root(each), ast.Name) and other.id == root.id for each in words)


def _root(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node


def _is_handed_over(index: AstIndex, receiver: ast.expr) -> bool:
    """Whether another framework's function is given ``x.numpy()`` as it is: an ``x`` of its own needs no such way."""
    attribute = index.parents.get(receiver)
    if not isinstance(attribute, ast.Attribute) or attribute.attr != "numpy":
        return False
    call = index.parents.get(attribute)
    above = index.parents.get(call) if isinstance(call, ast.Call) else None
    taker = index.parents.get(above) if isinstance(above, ast.keyword) else above
    return isinstance(taker, ast.Call) and call is not taker.func and any(map(_is_other_alone, _words(taker.func)))


def _says_another(above: ast.AST, below: ast.AST) -> bool:
    """Whether what stands around ``below`` says that another framework is at work in it."""
    match above:
        case ast.If(test=test, body=body) | ast.IfExp(test=test, body=body):
            holds = below is body or (isinstance(body, list) and below in body)
            return below is not test and _chosen(test, holds)
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            return any(_is_other(word) for each in above.generators for word in _words(each.iter))
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return _is_other(_TO_NUMPY.sub("", name)) and not _TORCH_WORD.search(name.lower().replace("_", " "))
    return False


def _comes_from_another(index: AstIndex, receiver: ast.expr) -> bool:
    """Whether all that the function binds a name to is what another library's function gives: ``tfp.minimize(...)``."""
    root = receiver
    while isinstance(root, ast.Attribute | ast.Subscript):
        root = root.value
    if not isinstance(root, ast.Name):
        return False
    stored = index.told(bound, index.owner(root) or index.tree).get(root.id, ())
    places = [index.parents[each] for each in stored]
    calls = [each.value.func for each in places if isinstance(each, ast.Assign) and isinstance(each.value, ast.Call)]
    return 0 < len(calls) == len(places) and all(any(map(_is_other_alone, _words(each))) for each in calls)


def _is_under_another(index: AstIndex, receiver: ast.expr) -> bool:
    """Whether code stands under ``if backend == "tensorflow":``, in a file that imports only torch by name."""
    below: ast.AST = receiver
    for above in index.ancestors(receiver):
        if isinstance(above, ast.If) and below in above.body:
            constants = (each.value for each in ast.walk(above.test) if isinstance(each, ast.Constant))
            if any(str(each).lower().startswith(_NAMED) for each in constants):
                return True
        below = above
    return False


def _chosen(test: ast.expr, holds: bool) -> bool:
    text = ast.unparse(test).lower()
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        holds = not holds
    return bool(_OTHER_WORD.search(text)) if holds else bool(_TORCH_WORD.search(text))


def _words(node: ast.expr) -> list[str]:
    found = []
    for each in ast.walk(node):
        match each:
            case ast.Name(id=word) | ast.Attribute(attr=word):
                found.append(word)
    return found


def _is_other_alone(word: str) -> bool:
    """``tfp``, but not ``tf_to_torch``."""
    return _is_other(word) and not _TORCH_WORD.search(word.lower().replace("_", " "))


def _is_other(word: str) -> bool:
    """``tf_out``, ``out_tf``, ``TFBertModel``; ``np_images`` holds arrays."""
    if re.match(r"(TF|Flax|Jax|Keras)[A-Z]", word):
        return True
    return bool(_OTHER_WORD.search(word.lower().replace("_", " "))) and not word.startswith("numpy")
