"""What is known of a rule before it is loaded: its code, its name, and the words without which it is silent."""

from __future__ import annotations

from dataclasses import dataclass

from torchlint.diagnostics.model import Severity


@dataclass(frozen=True, slots=True)
class Triggers:
    """Identifiers by how they must stand in a text that a rule may have something to say about."""

    names: tuple[str, ...] = ()
    """Wherever they stand: ``Variable``."""
    attributes: tuple[str, ...] = ()
    """Behind a dot: ``x.data``."""
    functions: tuple[str, ...] = ()
    """As what is called, under their own or another name: ``tensor(x)``, ``import tensor as t``."""
    methods: tuple[str, ...] = ()
    """As what is called, and behind a dot: ``x.numpy()``."""
    builtins: tuple[str, ...] = ()
    """As what is called, not behind a dot, with something else than a literal: ``float(x)``, no ``float("inf")``."""
    packages: tuple[str, ...] = ()
    """Where there are some, ``functions`` count only as what an import takes from one of them, ``methods`` only in a
    text that imports one, and both only where tensors are spoken of."""


@dataclass(frozen=True)
class RuleMetadata:
    """One rule: its code, its name (the fault) and its triggers."""

    code: str
    name: str
    triggers: Triggers = Triggers()
    default: bool = True
    """Whether it is on unless deselected."""
    family: str = ""
    """The package below ``torchlint.rules`` that holds the rule; the registry says it."""
    follows: tuple[str, ...] = ()
    """Rules after whose fixes this one's is applied too, selected or not: it removes what they leave behind."""

    assumes: tuple[str, ...] = ()
    """What its fixes may rest on, by the names in :mod:`torchlint.diagnostics.assumptions`."""

    severity: Severity = Severity.LEGACY
    """What a finding of it means, unless the facts at the place say more or less."""

    @property
    def module(self) -> str:
        """The module below ``torchlint.rules`` that holds the rule."""
        return f"{self.family}.{self.name.replace('-', '_')}"

    @property
    def words(self) -> frozenset[str]:
        """All of its triggers; none where the rule is not about code."""
        triggers = self.triggers
        return frozenset((*triggers.names, *triggers.attributes, *self.called_words))

    @property
    def called_words(self) -> frozenset[str]:
        """Those of its triggers that count only as what is called."""
        return frozenset((*self.triggers.functions, *self.triggers.methods, *self.triggers.builtins))
