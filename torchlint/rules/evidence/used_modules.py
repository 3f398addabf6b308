"""Which expressions of a file are used as modules, whatever is known of what they are."""

from __future__ import annotations

import ast

from torchlint.rules.api import FileContext, remembered


@remembered
def used_as_modules(_: ast.Module, context: FileContext) -> frozenset[str]:
    """Return the code of what is used as a module: it is called with parameters about, or switched to training."""
    found = set()
    for word in ("parameters", "named_parameters", "train", "eval", "load_state_dict", "modules"):
        uses = context.attributes_by_word().get(word, [])
        called = (each for each in uses if isinstance(context.parent(each), ast.Call))
        found |= {ast.unparse(each.value) for each in called}
    optimizers = {ast.unparse(each.value) for each in context.attributes_by_word().get("zero_grad", [])}
    steps = {ast.unparse(each.value) for each in context.attributes_by_word().get("step", [])}
    return frozenset(found - (optimizers & steps) - steps)
