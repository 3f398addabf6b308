"""Where a value goes first: what is done with it before anything else, by whatever name."""

from __future__ import annotations

from heapq import heappop, heappush

from torchlint.flow.turned_edges import turned_edges
from torchlint.semantic.graph import PHI, Node


def first_use(node: Node) -> Node | None:
    """Return the first node that a value goes into, joins left out; None where there is none, or others have it."""
    edges = turned_edges(node.fn)
    found, seen = [(node.index, node)], {node}
    while found:
        _, here = heappop(found)
        if here is not node and here.op != PHI:
            return here
        if here in edges.captured or here in edges.global_stores or here in edges.yielded:
            return None
        for each in edges.users.get(here, ()):
            if each not in seen and each.index > here.index:  # else another round of a loop leads there
                seen.add(each)
                heappush(found, (each.index, each))
    return None
