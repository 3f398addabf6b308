"""Whether an expression is a module beyond doubt, and one of torch's own layers, whose parameters are tensors."""

from __future__ import annotations

import ast

from torchlint.rule import FileContext, Kind, remembered
from torchlint.rules.class_attributes import attribute_values
from torchlint.rules.imported_names import names_of
from torchlint.rules.type_guards import is_instance
from torchlint.rules.value_bindings import bindings_of

_COMPUTING = frozenset(
    f"torch.nn.{word}"
    for word in (
        "Linear Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d BatchNorm1d BatchNorm2d "
        "BatchNorm3d SyncBatchNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d LayerNorm GroupNorm Embedding "
        "EmbeddingBag PReLU ReLU ReLU6 LeakyReLU ELU SELU CELU GELU SiLU Mish Hardtanh Hardswish Hardsigmoid Sigmoid "
        "Tanh Softplus LogSigmoid Softmax LogSoftmax Dropout Dropout1d Dropout2d Dropout3d AvgPool1d AvgPool2d "
        "AvgPool3d AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d CrossEntropyLoss NLLLoss MSELoss L1Loss "
        "SmoothL1Loss HuberLoss BCELoss BCEWithLogitsLoss KLDivLoss CTCLoss PixelShuffle Upsample"
    ).split()
)
"""Layers that give a tensor or fail, and whose parameters and buffers are tensors or left out."""
_RECURRENT = frozenset(f"torch.nn.{word}" for word in ("RNN LSTM GRU RNNCell LSTMCell GRUCell".split()))
_GIVING_ITSELF = frozenset("requires_grad_ to cuda cpu float double half eval train apply".split())
"""Methods of a module that give the module itself."""
_LAYERS = _COMPUTING | _RECURRENT


def is_layer(node: ast.expr, context: FileContext) -> bool:
    """Whether an expression is one of torch's layers with parameters beyond doubt."""
    return bool(_made_as(node, context)) and _made_as(node, context) <= _LAYERS


def layer_gives_a_tensor(node: ast.expr, context: FileContext) -> bool:
    """Whether calling an expression gives a tensor because it is a layer of torch that gives nothing else."""
    return bool(_made_as(node, context)) and _made_as(node, context) <= _COMPUTING


def is_module(node: ast.expr, context: FileContext) -> bool:
    """Whether an expression is a module beyond doubt, whose ``parameters()`` are those of ``nn.Module``."""
    if any(each.name in ("parameters", "buffers") for each in context.nodes(ast.FunctionDef)):
        return False
    if not context.value(node).must(Kind.MODULE):
        return False
    own = context.value_of_self(node)
    return (own is not None and own.must(Kind.MODULE)) or _is_constructed(node, context)


def _is_constructed(node: ast.expr, context: FileContext) -> bool:
    """Whether all that an expression may be is made by calling a class of modules, as far as its text shows."""
    match node:
        case ast.Call(func=function):
            names, made = context.value(function).names, context.value(node)
            return made.must(Kind.MODULE) and bool(names) and names == made.instance
        case ast.Name():
            bound = bindings_of(node, context)
            return bool(bound) and all(
                isinstance(each.value, ast.Call) and not each.depth and _is_constructed(each.value, context)
                for each in bound
            )
        case ast.Attribute():
            values = attribute_values(node, context)
            calls = [each for each in values if isinstance(each, ast.Call) and _is_constructed(each, context)]
            return bool(values) and len(calls) == len(values)
    return False


@remembered
def _made_as(node: ast.expr, context: FileContext) -> frozenset[str]:
    """Return the classes of torch that an expression may be an object of; nothing where another may be meant."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Call() as inner, attr=word)) if word in _GIVING_ITSELF:
            return _made_as(inner, context)
        case ast.Call(func=function):
            names = names_of(function, context)
            return names if names <= _LAYERS else frozenset()
        case ast.Name() if is_instance(node, lambda names: names <= _LAYERS, context):
            return context.value(node).instance & _LAYERS or _LAYERS
        case ast.Name():
            bound = bindings_of(node, context)
            values = [each.value for each in bound if not each.depth and not each.is_augmented]
            return _joined(values, context) if len(values) == len(bound) else frozenset()
        case ast.Attribute():
            return _joined(attribute_values(node, context), context)
    return frozenset()


def _joined(values: list[ast.expr], context: FileContext) -> frozenset[str]:
    found = [_made_as(each, context) if isinstance(each, ast.Call) else frozenset[str]() for each in values]
    return frozenset().union(*found) if found and all(found) else frozenset()
