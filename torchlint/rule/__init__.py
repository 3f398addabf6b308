"""The whole vocabulary of rules: a rule imports from here, from :mod:`torchlint.model` and from other rules' modules.

:class:`FileContext` answers what a rule asks of a file. The other words are those in which it answers (:class:`Value`
and what it is made of), what is known of torch (:func:`operations`), and what a node's shape alone tells.
"""

from torchlint.inference.default_setters import DEVICE, DTYPE, TENSOR_TYPE
from torchlint.inference.facts import UNKNOWN, Dtype, Grad, Kind, Mode, Place, Reason, Value
from torchlint.inference.handled_errors import UNRELATED
from torchlint.inference.lexical import SCOPES, Loop
from torchlint.inference.models.devices import last_word
from torchlint.inference.models.grad_mode import DECORATING as GRAD_MODE_DECORATORS
from torchlint.inference.models.grad_mode import NAMES as GRAD_MODES
from torchlint.inference.models.nn import MODEL_WORD
from torchlint.inference.models.operations import (
    CASTS,
    DISTINCTIVE,
    FULL_REDUCTIONS,
    LEGACY_DTYPES,
    LOSSES,
    PAIRS,
    PAIRS_WITH_DIM,
    UNLIKE,
    leaf,
    operations,
)
from torchlint.inference.names import bindings, canonical
from torchlint.inference.project_texts import (
    SETS_DEFAULT_DEVICE,
    SETS_DEFAULT_DTYPE,
    SETS_TENSOR_TYPE,
    traces_or_scripts,
)
from torchlint.rule.check import Check, Draft, Rule, load
from torchlint.rule.context import FileContext, remembered
from torchlint.rule_metadata import Triggers
from torchlint.syntax.definition import semantic_children
from torchlint.syntax.outline import Function, children, parameters

__all__ = [
    "CASTS",
    "DEVICE",
    "DISTINCTIVE",
    "DTYPE",
    "FULL_REDUCTIONS",
    "GRAD_MODES",
    "GRAD_MODE_DECORATORS",
    "LEGACY_DTYPES",
    "LOSSES",
    "MODEL_WORD",
    "PAIRS",
    "PAIRS_WITH_DIM",
    "SCOPES",
    "SETS_DEFAULT_DEVICE",
    "SETS_DEFAULT_DTYPE",
    "SETS_TENSOR_TYPE",
    "TENSOR_TYPE",
    "UNKNOWN",
    "UNLIKE",
    "UNRELATED",
    "Check",
    "Draft",
    "Dtype",
    "FileContext",
    "Function",
    "Grad",
    "Kind",
    "Loop",
    "Mode",
    "Place",
    "Reason",
    "Rule",
    "Triggers",
    "Value",
    "bindings",
    "canonical",
    "children",
    "last_word",
    "leaf",
    "load",
    "operations",
    "parameters",
    "remembered",
    "semantic_children",
    "traces_or_scripts",
]
