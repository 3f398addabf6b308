"""Names and uses by which code says that something is a network or a data loader: never more than a presumption."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from torchlint.semantic.graph import ATTR, CALL, FormalParameter, FunctionGraph, Node
from torchlint.semantic.lowering import lower

_NETWORK: Final = re.compile(
    r"_?([a-z]+_)?(model|net|network|encoder|decoder|generator|discriminator|critic|actor|policy|backbone|classifier|"
    r"netg|netd|vae|gan|unet|resnet|vgg|bert|transformer|q_net|qnet|q_network|embedder|extractor)"
    r"(_?[0-9]+|_?[a-z]|_ema|_old|_target)?$",
    re.IGNORECASE,
)
_LOADER: Final = re.compile(r"(^|_)(data_?)?(loader|dataloader|iter|iterator|dl)s?$|loader|dataset$", re.IGNORECASE)
_ASKED_OF_NETWORKS: Final = frozenset(
    {"eval", "train", "parameters", "named_parameters", "state_dict", "load_state_dict", "zero_grad"}
)
_PASSING_ON: Final = frozenset({"tqdm", "enumerate", "iter", "track", "islice", "prefetch"})


NetworksOf = Callable[[FunctionGraph], frozenset[str]]


def seems_network(call: Node, networks: NetworksOf) -> bool:
    """Whether what a call calls, or the object of its method, is named or used like a network.

    ``networks`` tells which names a function asks for what only networks have: see :func:`networks_of`.
    """
    spelled = call.arguments.spelled
    owner = spelled.rpartition(".")[0] or spelled
    return any(_is_network(each, call.fn, networks) for each in {spelled, owner} if each)


def is_named_network(word: str) -> bool:
    """Whether a word is a name for a network."""
    return _NETWORK.match(word) is not None


def _is_network(spelled: str, function: FunctionGraph, networks: NetworksOf) -> bool:
    if is_named_network(spelled.rpartition(".")[2]):
        return True
    here: FunctionGraph | None = function
    while here is not None:
        if spelled in networks(here):
            return True
        if here.cls is not None and spelled.startswith("self."):
            return any(spelled in networks(each) for each in here.cls.methods.values())
        here = here.parent
    return False


def networks_of(function: FunctionGraph) -> frozenset[str]:
    """Return the names of which a function asks what only networks have, such as parameters."""
    found = set()
    for call in lower(function).calls:
        owner, _, word = call.arguments.spelled.rpartition(".")
        if word in _ASKED_OF_NETWORKS and owner:
            found.add(owner)
    return frozenset(found)


def seems_loader(node: Node) -> bool:
    """Whether what is iterated over is named like a data loader."""
    while node.op == CALL and node.arguments.positional and _word(node) in _PASSING_ON:
        node = node.arguments.positional[0]
    word = _word(node)
    return bool(word) and _LOADER.search(word) is not None


def _word(node: Node) -> str:
    if isinstance(node.data, FormalParameter):
        return node.data.word
    if node.op == ATTR or (node.op in ("global", "export") and isinstance(node.data, str)):
        return str(node.data)
    return node.arguments.spelled.rpartition(".")[2] if node.op == CALL else ""
