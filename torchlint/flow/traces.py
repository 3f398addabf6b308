"""Whether a detached view of a tensor leaves a trace: it is written through, kept, or saved by a graph.

``x.data`` and ``x.detach()`` differ in one thing: what is written through the first is not counted by autograd, which
looks at the count of all that a graph has saved. So they are alike where nobody writes through the value, nobody has it
afterwards who might, and no graph saves it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final

from torchlint.evaluation.evaluator import Evaluator
from torchlint.facts.flow import NO, PERHAPS, WRITTEN_HERE, YES
from torchlint.facts.flow_specifications import BOUND, STORED
from torchlint.flow.answers import FlowAnswer
from torchlint.flow.call_frames import CallKnowledge
from torchlint.flow.forward_walk import ForwardWalk, Leaving, ValueUse
from torchlint.flow.memory_roots import MemoryRoots
from torchlint.flow.turned_edges import turned_edges
from torchlint.models.operation_sets import (
    FUNCTIONS,
    KEEPS_GRAD,
    METHODS,
    NO_TENSOR,
    SHARES_MEMORY,
    TAKES_INPLACE,
    WRITES,
)
from torchlint.semantic import graph as g
from torchlint.semantic.graph import FunctionGraph, Node
from torchlint.values import abstract as a
from torchlint.values.asking import ON
from torchlint.values.references import FunctionRef, LibraryRef

SAVED: Final = "saved by a graph"
KEPT: Final = "may be kept by what it meets"

_COUNTED: Final = a.TENSOR | a.ARRAY | a.NUMBER | a.NONE
_WITHOUT_GRAPH: Final = a.ARRAY | a.NUMBER | a.NONE | a.STRING | a.SIZE | a.DEVICE | a.DTYPE
_OF_PYTHON: Final = _COUNTED | _WITHOUT_GRAPH | a.SEQUENCE
"""What Python, torch and NumPy make: none of it keeps the other side of an operator."""
_ANSWERING: Final = frozenset(
    f"__{side}{word}__"
    for side in ("", "r", "i")
    for word in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
) | frozenset(f"__{word}__" for word in "eq ne lt gt le ge contains iter getitem torch_function".split())
"""The methods by which a class answers operators."""
_ENDS: Final = frozenset(
    "item tolist numpy __array__ storage untyped_storage size dim numel nelement ndimension is_contiguous stride "
    "storage_offset data_ptr element_size get_device is_floating_point is_complex is_signed is_pinned is_shared new "
    "new_zeros new_ones new_empty new_full new_tensor".split()
)
"""Methods whose result has no count of writes: through an array they are hidden either way."""
_FORM: Final = frozenset(
    "shape dtype device is_cuda ndim layout is_sparse itemsize nbytes is_meta is_quantized is_mps is_xpu requires_grad "
    "is_leaf grad_fn grad".split()
)
"""Attributes that both have alike."""
_TAKING_OVER: Final = frozenset({"new", "set_", "as_subclass", "module_load"})
"""Methods that give their argument's memory another owner."""
_SAVING_NOTHING: Final = frozenset("add add_ sub sub_ copy_ eq ne lt le gt ge view_as expand_as type_as type".split())
"""Methods whose derivative needs none of their operands."""
_READERS: Final = frozenset(
    f"builtins.{word}"
    for word in "print float int bool len str repr isinstance type id hash range round all any complex format".split()
) | frozenset("copy.deepcopy torchvision.utils.save_image torch.equal torch.allclose".split())
"""Functions that keep nothing of what they are given (`save_image` copies what it changes: torchvision 0.11)."""
_JOINING: Final = frozenset("torch.cat torch.stack torch.concat torch.add torch.sub".split()) | frozenset(
    f"torch.{word}_like" for word in "zeros ones empty full rand randn randint".split()
)
"""Functions that copy, and whose derivative needs none of their operands."""
_OF_NUMPY: Final = frozenset(
    f"numpy.{word}"
    for word in (
        "abs all allclose any argmax argmin argsort around array array_equal asarray asanyarray ascontiguousarray "
        "average ceil clip concatenate copy cos cumsum exp float32 float64 floor histogram int32 int64 isfinite isinf "
        "isnan linalg.norm log log10 max maximum mean median min nonzero percentile prod round save savetxt shape sign "
        "sin size sort sqrt square stack std sum uint8 unique var vstack where"
    ).split()
)
"""Functions of NumPy that only read their first argument."""
_PUTTING: Final = frozenset("append appendleft extend insert".split())
_CARRIED: Final = frozenset("list tuple iter enumerate zip reversed sorted set dict".split())
"""Functions of Python whose result holds what they are given: the walk goes on there."""


class Traces:
    """The query over one evaluator; ``claims`` says what annotations and methods take the things beside a value for."""

    def __init__(self, knowledge: CallKnowledge, roots: MemoryRoots, claims: Evaluator) -> None:
        """Begin with nothing known."""
        self._knowledge, self._roots, self._claims = knowledge, roots, CallKnowledge(claims)
        self._out_of_sight: dict[FunctionGraph, frozenset[Node]] = {}

    def leaves_trace(self, node: Node, takes: Callable[[str], bool]) -> FlowAnswer:
        """Whether a value is written through, kept by others, or saved by a graph.

        ``takes`` says which names others take. Reasons: WRITTEN_HERE, SAVED, KEPT, and the ways out of its function.
        """
        found: list[FlowAnswer] = []

        def look(use: ValueUse) -> bool:
            reason, goes_on = self._judged(use)
            if any(map(takes, _names_in_module(use.position.node))):
                reason = BOUND
            if reason:
                found.append(FlowAnswer(YES if reason == WRITTEN_HERE else PERHAPS, use.node, reason))
            return goes_on and not reason

        for each in ForwardWalk(self._knowledge, self._roots, look).run(node):
            if not self._is_other_object(each):
                found.append(FlowAnswer(PERHAPS, each.node, each.way))
            if found:
                break
        return found[0] if found else FlowAnswer(NO)

    def _is_other_object(self, leaving: Leaving) -> bool:
        """Whether a value becomes the memory of a tensor, which counts its own writes: ``p.data = value``."""
        node = leaving.position.node
        stores = [each for each in node.fn.stores if each.value is node]
        return leaving.way == STORED and any(
            each.word == "data" and each.owner is leaving.node and self._knowledge.value(each.owner).must(a.TENSOR)
            for each in stores
        )

    # ------------------------------------------------------------------ one use of a value
    def _judged(self, use: ValueUse) -> tuple[str, bool]:
        """Return the reason for which a use leaves a trace, or none, and whether the value goes on from there."""
        here, user = use.position.node, use.node
        if not use.position.held and turned_edges(here.fn).writes.get(here):
            return WRITTEN_HERE, False
        if here.fn not in self._out_of_sight:
            self._out_of_sight[here.fn] = _out_of_sight(here.fn)
        if here in self._out_of_sight[here.fn] or isinstance(user.at, ast.Slice):
            return KEPT, False
        if user.op in (g.OPERATION, g.TRUTH):
            return self._operator(here, user, bool(use.position.held))
        if user.op == g.ATTR:
            return self._attribute(use)
        if user.op in (g.INDEX, g.GROW) and here in user.ins[1:]:
            return self._key_or_member(here, user)
        if user.op == g.SETTER:
            return (WRITTEN_HERE, False) if user.ins[0] is here and not use.position.held else ("", user.data != "data")
        if user.op == g.CALL:
            return self._call(use)
        return "", True

    def _operator(self, here: Node, user: Node, is_held: bool) -> tuple[str, bool]:
        word, others = str(user.data), [each for each in user.ins if each is not here]
        if word in ("is", "is not", "not") or (word == "%" and user.ins[0].op == g.CONST):
            return "", False
        if not others:
            return (KEPT, False) if word == "+" else ("", False)
        is_target = word.endswith("=") and user.op == g.OPERATION
        if is_held or (is_target and not self._claimed(others[0]).must(_COUNTED)):
            return ("", True) if is_held and not is_target else (KEPT, False)
        if not all(self._keeps_nothing(each) for each in others):
            return KEPT, False
        is_saved = user.op == g.OPERATION and word.rstrip("=") not in ("+", "-")
        if is_saved and not self._are_quiet(user, others) and not self._is_let_go(user):
            return SAVED, False
        return "", False

    def _attribute(self, use: ValueUse) -> tuple[str, bool]:
        user, word = use.node, str(use.node.data)
        users = turned_edges(user.fn).users.get(user, ())
        if use.position.held or (users and all(each.op == g.CALL and each.ins[0] is user for each in users)):
            return "", True
        if word in _FORM:
            return "", False
        return ("", True) if word in SHARES_MEMORY - {"data"} else (KEPT, False)

    def _key_or_member(self, here: Node, user: Node) -> tuple[str, bool]:
        """Judge what is put into a container or a tensor, which copies it, and what is an index, which is saved."""
        container = self._claimed(user.ins[0])
        is_indexed = container.must(a.TENSOR | a.ARRAY)
        if user.op == g.GROW and user.ins[1] is here and here not in user.ins[2:]:
            return "", not is_indexed
        others = [each for each in user.ins if each is not here]
        return ("", False) if is_indexed and self._are_quiet(user, others) else (KEPT, False)

    # ------------------------------------------------------------------ calls
    def _call(self, use: ValueUse) -> tuple[str, bool]:
        here, call = use.position.node, use.node
        function, given = call.ins[0], list(call.arguments.all())
        if function is here:
            return KEPT, False
        if self._knowledge.callees(call):
            return ("", True) if self._runs_one(call) else (KEPT, False)
        names = [each.name for each in self._knowledge.value(function).references if isinstance(each, LibraryRef)]
        if names:
            judged = [self._function(name, use) for name in names]
            return next((each for each in judged if each[0]), judged[0])
        if function.op != g.ATTR:
            return KEPT, False
        word, owner = str(function.data), function.ins[0]
        if use.position.held and owner is here:
            return "", True
        if owner is here:
            return self._method(call, word, given)
        value = self._claimed(owner)
        if word in _PUTTING and value.must(a.SEQUENCE):
            users = turned_edges(call.fn).users.get(here, ())
            is_seen = any(each.op in (g.GROW, g.SPREAD) and each.at is call.at for each in users)
            return ("", True) if is_seen else (KEPT, False)
        if value.must(a.STRING):
            return "", False
        if use.position.held or not value.must(a.TENSOR) or word not in METHODS or word in _TAKING_OVER:
            return KEPT, False
        others = [owner, *(each for each in given if each is not here)]
        return ("", False) if word in _SAVING_NOTHING or self._are_quiet(call, others) else (SAVED, False)

    def _runs_one(self, call: Node) -> bool:
        """Whether a call runs the one function that its name stands for, to its end."""
        value, callees = self._knowledge.value(call.ins[0]), self._knowledge.callees(call)
        function = callees[0].function
        is_plain = call.ins[0].op != g.ATTR and function.decorated is None and not function.is_async
        return (
            is_plain
            and len(callees) == len(value.references) == 1
            and value.must(a.OTHER)
            and all(isinstance(each, FunctionRef) for each in value.references)
            and not function.yields
        )

    def _method(self, call: Node, word: str, given: list[Node]) -> tuple[str, bool]:
        """Judge a method of the value."""
        if word in _ENDS or (word == "type" and not given):
            return "", False
        if word.endswith("_") or word not in METHODS or "out" in call.arguments.keywords:
            return WRITTEN_HERE if word.endswith("_") else KEPT, False
        if word in SHARES_MEMORY or word in KEEPS_GRAD or word in _SAVING_NOTHING:
            return "", True
        is_number = word in NO_TENSOR and not NO_TENSOR[word] & ~a.NUMBER
        return ("", True) if is_number or self._are_quiet(call, given) else (SAVED, False)

    def _function(self, name: str, use: ValueUse) -> tuple[str, bool]:
        """Judge a function of a library that is given the value."""
        here, call = use.position.node, use.node
        given, last = call.arguments, name.rpartition(".")[2]
        if name in _READERS or (name in _OF_NUMPY and given.positional[:1] == (here,)):
            return "", False
        if name.removeprefix("builtins.") in _CARRIED:
            return "", True
        if "out" in given.keywords or given.spread:
            return KEPT, False
        if name in _JOINING:
            return "", False
        is_inplace = name in TAKES_INPLACE and (len(given.positional) > 1 or "inplace" in given.keywords)
        is_writing = name in WRITES or last.endswith(("_", "bag")) or "batch_norm" in last
        if use.position.held or name not in FUNCTIONS or is_writing or is_inplace:
            return KEPT, False
        others = [each for each in given.all() if each is not here]
        return ("", True) if self._are_quiet(call, others) else (SAVED, False)

    # ------------------------------------------------------------------ what stands beside a value
    def _claimed(self, node: Node) -> a.Abstract:
        return self._claims.value(node)

    def _keeps_nothing(self, node: Node) -> bool:
        """Whether what stands beside a value in an operator keeps nothing of it.

        Of what is no tensor beyond doubt it is believed where no class of the file answers operators.
        """
        if self._knowledge.value(node).must(_OF_PYTHON):
            return True
        claimed = self._claimed(node)
        is_unknown = claimed.may(a.TENSOR) and not claimed.references
        return (is_unknown or claimed.must(_OF_PYTHON)) and not any(
            each.cls is not None and each.name in _ANSWERING for each in node.fn.file.functions
        )

    def _are_quiet(self, user: Node, others: list[Node]) -> bool:
        """Whether no graph is recorded at a node: grad mode is off, or nothing beside the value may require grad."""
        return not self._knowledge.mode(user) & ON or all(map(self._is_quiet, others))

    def _is_quiet(self, node: Node) -> bool:
        if node.op == g.SEQUENCE:
            return all(map(self._is_quiet, node.ins))
        value = self._knowledge.value(node)
        return value.must(_WITHOUT_GRAPH | a.TENSOR) and not (value.may(a.TENSOR) and value.may_require_grad)

    def _is_let_go(self, node: Node) -> bool:
        """Whether the graph of a result ends with its statement: only its numbers go behind some tensor's ``.data``."""
        edges = turned_edges(node.fn)
        if node in edges.returned or node in edges.yielded or node in edges.captured or node in edges.global_stores:
            return False
        users = edges.users.get(node, ())
        return bool(users) and all(self._takes_numbers(node, each) for each in users)

    def _takes_numbers(self, node: Node, user: Node) -> bool:
        if user.op == g.OPERATION and not str(user.data).endswith("="):
            return self._is_let_go(user)
        function = user.ins[0] if user.ins else user
        if user.op == g.CALL and function.op == g.ATTR and function.ins[0] is not node:
            is_unused = all(each.op in (g.INPLACE, g.EFFECT) for each in turned_edges(user.fn).users.get(user, ()))
            return is_unused and str(function.data).endswith("_") and self._is_data_of_tensor(function.ins[0])
        if user.op == g.SETTER:
            return user.data == "data" and self._knowledge.value(user.ins[0]).must(a.TENSOR)
        return user.op in (g.OPERATION, g.GROW, g.INPLACE) and (
            user.op == g.INPLACE or self._is_data_of_tensor(user.ins[0])
        )

    def _is_data_of_tensor(self, node: Node) -> bool:
        return node.op == g.ATTR and node.data == "data" and self._knowledge.value(node.ins[0]).must(a.TENSOR)


def _names_in_module(node: Node) -> list[str]:
    """Return the names by which a module's body binds a value: other files may take them."""
    definitions = node.fn.definitions if node.fn.is_module else {}
    return [word for word, nodes in definitions.items() if node in nodes]


def _out_of_sight(fn: FunctionGraph) -> frozenset[Node]:
    """Return what a function puts where no edge leads: keys, defaults, bodies of classes."""
    found: list[ast.expr | None] = []
    for each in ast.walk(fn.tree) if fn.tree is not None else ():
        match each:
            case ast.Dict(keys=keys):
                found += keys
            case ast.DictComp(key=key):
                found.append(key)
            case ast.arguments(defaults=defaults, kw_defaults=others):
                found += [*defaults, *others]
            case ast.ClassDef(body=body):
                found += [each.value for each in body if isinstance(each, ast.Assign | ast.AnnAssign)]
    nodes = (fn.by_syntax.get(each) for each in found if each is not None)
    return frozenset(each for each in nodes if each is not None and each.op != g.CONST)
