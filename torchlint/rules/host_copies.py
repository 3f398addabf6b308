"""Which calls copy a tensor to the host beyond doubt: ``x.cpu()``, ``x.to("cpu")``, ``x.to(torch.device("cpu"))``."""

from __future__ import annotations

import libcst as cst

from torchlint.rule import FileContext, Kind, Place


def is_host_copy(call: cst.Call, context: FileContext) -> bool:
    """Whether a call is ``.cpu()`` or ``.to`` with the host for its only argument."""
    match call:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="cpu")), args=[]):
            return True
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="to")), args=[target]):
            return not target.star and is_host(target, context)
    return False


def is_torch_tensor(node: cst.BaseExpression, used: cst.BaseExpression, context: FileContext) -> bool:
    """Whether a value is a torch tensor: by its facts, or by ``.detach()`` on it in a file that knows no other library.

    ``used`` is the call on the value, or one further on in the chain.
    """
    if context.value(node).is_tensor:
        return True
    known = not context.uses_other_frameworks
    return known and context.value(used).is_tensor


def is_host(argument: cst.Arg, context: FileContext) -> bool:
    """Whether an argument of ``.to`` is the host: ``"cpu"``, ``torch.device("cpu")``, or a name for one of them."""
    if argument.keyword is not None and argument.keyword.value != "device":
        return False
    if isinstance(argument.value, cst.SimpleString):
        return argument.value.evaluated_value in ("cpu", "cpu:0")
    known = context.value(argument.value)
    return known.must(Kind.DEVICE | Kind.STRING) and known.place == Place.HOST
