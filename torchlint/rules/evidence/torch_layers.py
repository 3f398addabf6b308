"""Whether an expression is one of torch's own layers beyond doubt, and which of them give a tensor or fail."""

from __future__ import annotations

import ast

from torchlint.rules.api import GIVING_ITSELF, FileContext, remembered
from torchlint.rules.evidence.local_bindings import is_instance, names_of, values_of
from torchlint.rules.evidence.object_attributes import attribute_values

COMPUTING = frozenset(
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
_LAYERS = COMPUTING | _RECURRENT


def is_layer(node: ast.expr, context: FileContext) -> bool:
    """Whether an expression is one of torch's layers with parameters beyond doubt."""
    return bool(_made_as(node, context)) and _made_as(node, context) <= _LAYERS


def layer_gives_a_tensor(node: ast.expr, context: FileContext) -> bool:
    """Whether calling an expression gives a tensor because it is a layer of torch that gives nothing else."""
    return bool(_made_as(node, context)) and _made_as(node, context) <= COMPUTING


def constructed_layers(node: ast.expr, context: FileContext) -> frozenset[str]:
    """Return the layers of torch that an expression is by the calls that made it; no subclass can be meant."""
    if isinstance(node, ast.Name) and is_instance(node, lambda names: names <= _LAYERS, context):
        return frozenset()
    return _made_as(node, context)


@remembered
def _made_as(node: ast.expr, context: FileContext) -> frozenset[str]:
    """Return the classes of torch that an expression may be an object of; nothing where another may be meant."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Call() as inner, attr=word)) if word in GIVING_ITSELF:
            return _made_as(inner, context)
        case ast.Call(func=function):
            names = names_of(function, context)
            return names if names <= _LAYERS else frozenset()
        case ast.Name() if is_instance(node, lambda names: names <= _LAYERS, context):
            return context.value(node).instance & _LAYERS or _LAYERS
        case ast.Name():
            return _joined(values_of(node, context), context)
        case ast.Attribute():
            return _joined(attribute_values(node, context), context)
    return frozenset()


def _joined(values: list[ast.expr], context: FileContext) -> frozenset[str]:
    found = [_made_as(each, context) if isinstance(each, ast.Call) else frozenset[str]() for each in values]
    return frozenset().union(*found) if found and all(found) else frozenset()
