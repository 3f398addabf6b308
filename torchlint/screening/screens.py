"""The screens by rule, and the question that they answer together: whether any rule may speak about a node."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence

from torchlint.rule_metadata import RuleMetadata
from torchlint.screening.constructors import may_be_legacy, may_be_new, may_convert, may_copy_a_tensor
from torchlint.screening.conversions import is_detour, may_fail
from torchlint.screening.copies import may_go_to_the_host
from torchlint.screening.data import may_be_read
from torchlint.screening.sight import Screen, Sight

BY_RULE: Mapping[str, Screen] = {
    **dict.fromkeys(("TNS101", "TNS102", "TNS103"), may_fail),
    "TNS107": is_detour,
    "TNS108": may_go_to_the_host,
    **dict.fromkeys(("TNS201", "TNS202", "TNS203", "TNS204", "TNS205"), may_be_read),
    **dict.fromkeys(("TNS301", "TNS302", "TNS303", "TNS304", "TNS305"), may_be_legacy),
    "TNS306": may_be_new,
    "TNS307": may_convert,
    "TNS308": may_copy_a_tensor,
}
"""By code. A rule without one may speak wherever its words stand."""


ABOUT_TENSORS = ("TNS1", "TNS2", "TNS3")
"""Families of rules that have nothing to say where no tensor is met."""


def speaking_of(entries: Sequence[RuleMetadata], sight: Sight) -> Sequence[RuleMetadata]:
    """Give the rules that may speak about a file: those about tensors only where one may be met at all."""
    others = [each for each in entries if not each.code.startswith(ABOUT_TENSORS)]
    return entries if len(others) == len(entries) or sight.may_hold_tensors else others


class Screens:
    """The screens of the rules that look at a file."""

    def __init__(self, sight: Sight, entries: Iterable[RuleMetadata]) -> None:
        self._sight = sight
        self._entries = tuple(entries)
        self._by_word: dict[str, tuple[Screen, ...]] = {}

    def may_be_at_fault(self, node: ast.AST, word: str) -> bool:
        """Whether a rule may speak about a node that bears a word: one of the rules' words, or a name for one."""
        if word not in self._by_word:
            own = [entry for entry in self._entries if word in entry.words] or self._entries
            self._by_word[word] = tuple(dict.fromkeys(BY_RULE.get(entry.code, _always) for entry in own))
        return any(self._ask(screen, node) for screen in self._by_word[word])

    def _ask(self, screen: Screen, node: ast.AST) -> bool:
        """Ask a screen; where one fails, the rule is left to fail too, and to be named for it."""
        try:
            return screen(node, self._sight)
        except RecursionError:
            raise
        except Exception:  # noqa: BLE001 - see above
            return True


def _always(node: ast.AST, sight: Sight) -> bool:
    del node, sight
    return True
