"""Whether a class is a network of torch's layers that gives nothing which shares memory with its parameters."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

from torchlint.rules.api import FileContext, first_parameter, is_super_call, operations, remembered
from torchlint.rules.data.just_made import makes_its_own
from torchlint.rules.evidence.called_definitions import PLAIN, Definitions, bind, constructor, names_layer
from torchlint.rules.evidence.local_bindings import names_of
from torchlint.rules.evidence.method_calls import call_of
from torchlint.rules.evidence.own_results import forwarded

_REGISTERING = frozenset({"register_buffer", "register_parameter"})
_COMPUTING = ("torch.", "builtins.", "math.", "numpy.")
_GOING_BACK = ("torch.autograd", "torch.func", "torch.utils", "torch.nn.utils", "torch.vmap", "torch.jit")
"""Where torch keeps what goes backward, or runs what it is given in its own way."""
_OF_MODULES = frozenset(
    "parameters named_parameters buffers named_buffers modules named_modules children named_children apply to cuda cpu "
    "float double half bfloat16 eval train requires_grad_ zero_grad load_state_dict state_dict register_buffer "
    "register_parameter register_module add_module get_parameter get_submodule type to_empty set_extra_state".split()
)
"""Methods of torch's modules; a class with one of its own is no plain network."""
_UNTOLD = frozenset(f"builtins.{word}" for word in ("super", "eval", "exec", "getattr", "setattr", "vars"))

_FIRST_VALUES = frozenset(f"torch.nn.init.{word}_" for word in ("normal", "uniform", "zeros", "constant"))
"""The initialisers of which a project's texts are asked whether somebody rebinds them."""
_HOOKS = ("register_module_forward_hook", "register_module_forward_pre_hook")
_NOT_ALONE = re.compile(r"Lazy|Transformer|Loss$")
"""Layers that are given tensors or modules, or make their weights later."""


@dataclass(frozen=True)
class PlainNetwork:
    """What the objects of a class have, besides what every module has."""

    methods: frozenset[str]
    constants: frozenset[str]
    """Attributes with numbers and the like, and tensors that are no parameters."""


@remembered
def plain_network(name: ast.Name, context: FileContext) -> PlainNetwork | None:
    """Return what a class of the file has if it uses its parameters in torch's layers alone; None for others.

    No method hands out a parameter or computes with it, and none of torch's layers gives memory of its weights.
    """
    owner = Definitions(context).class_here(name) if forwarded(name, context) is not None else None
    first = constructor(owner) if owner is not None else None
    if owner is None or not isinstance(first, ast.FunctionDef) or first.decorator_list:
        return None
    if _is_changed(owner.name, context) or _is_hooked(context.tree, context):
        return None
    call = context.parent(name)
    network = _Network(owner, first, bind(call, first, method=True) if isinstance(call, ast.Call) else {}, context)
    others = [each for each in owner.body if each is not first and not isinstance(each, ast.Expr)]
    methods = [each for each in others if isinstance(each, ast.FunctionDef) and not each.decorator_list]
    words = frozenset(each.name for each in methods)
    if words & _OF_MODULES or any(each.startswith("_") for each in words):
        return None
    if (
        len(methods) < len(others)
        or not network.is_built
        or not all(network.is_run_by(each, words) for each in methods)
    ):
        return None
    return PlainNetwork(words, network.constants)


def _is_changed(word: str, context: FileContext) -> bool:
    """Whether a file of the project gives a class anything from outside: ``Net.best = best``."""
    for use in context.names_by_word().get(word, ()):
        match above := context.parent(use):
            case ast.Attribute(ctx=ast.Store() | ast.Del()):
                return True
            case ast.Call(func=ast.Name(id="setattr"), args=[first, *_]) if first is use:
                return True
            case ast.Assign(value=value) if value is use or above.targets == [use]:
                return True
    return False


@remembered
def _is_hooked(_: ast.Module, context: FileContext) -> bool:
    """Whether a file of the project may have every module hand out what it is made of, or what it is called with."""
    return any(context.other_texts.spelling(each) != [] for each in _HOOKS)


def _initialisers_may_be_other_ones() -> bool:
    return False


class _Network:
    """What a constructor keeps in its object, and what is done with it."""

    def __init__(
        self, owner: ast.ClassDef, first: ast.FunctionDef, given: dict[str, ast.expr], context: FileContext
    ) -> None:
        self._owner, self._given, self._context = owner, given, context
        self._own = _own_names(first, context)
        self._values: dict[str, list[ast.expr | None]] = defaultdict(list)
        is_set = bool(self._own) and all(self._is_set(each) for each in self._own)
        self.is_built = is_set and all(map(self._is_kept, self._values)) and all(map(self._is_filled, self._own))
        """Whether the constructor does no more with its object than to give it layers of its own, and constants."""

    # ------------------------------------------------------------------ the constructor
    def _is_set(self, use: ast.Name) -> bool:
        """Take notice of what an attribute is set to; whether nothing else may be set here."""
        above = self._context.parent(use)
        if not isinstance(above, ast.Attribute):
            return is_super_call(above)
        match outer := self._context.parent(above):
            case ast.Assign(targets=[target], value=value) if target is above:
                self._values[above.attr].append(value)
            case ast.Call(func=function, args=[ast.Constant(value=str(word)), value]) if (
                function is above and above.attr in _REGISTERING
            ):
                self._values[word].append(value)
                return isinstance(self._context.parent(outer), ast.Expr)
            case _:
                return isinstance(above.ctx, ast.Load) and above.attr not in _REGISTERING
        return True

    def _is_filled(self, use: ast.Name) -> bool:
        """Whether a constructor's use of its object sets something, reads a number, or gives a layer first values."""
        above = self._context.parent(use)
        if not isinstance(above, ast.Attribute) or not isinstance(above.ctx, ast.Load) or above.attr in _REGISTERING:
            return True
        return above.attr in self.constants or self._is_initialised(above)

    def _is_initialised(self, node: ast.AST) -> bool:
        above = self._context.parent(node)
        while isinstance(above, ast.Attribute):
            node, above = above, self._context.parent(above)
        if not isinstance(above, ast.Call) or not isinstance(self._context.parent(above), ast.Expr):
            return False
        names = names_of(above.func, self._context)
        return (
            bool(names)
            and names <= _FIRST_VALUES
            and above.args[:1] == [node]
            and not _initialisers_may_be_other_ones()
        )

    # ------------------------------------------------------------------ the other methods
    def is_run_by(self, method: ast.FunctionDef, methods: frozenset[str]) -> bool:
        """Whether a method only runs layers and other methods, reads numbers and buffers, and calls torch."""
        own = _own_names(method, self._context)
        calls = self._context.inside(method, ast.Call)
        known = (each.func in own or self._is_known(each) for each in calls)
        return first_parameter(method) is not None and all(known) and all(self._is_run(each, methods) for each in own)

    def _is_known(self, call: ast.Call) -> bool:
        """Whether a call is one of torch's, of the object's, or of a method of something that was given."""
        names = names_of(call.func, self._context)
        if not names:
            return isinstance(call.func, ast.Attribute)
        is_plain = all(each.startswith(_COMPUTING) and not each.startswith(_GOING_BACK) for each in names)
        return is_plain and not names & _UNTOLD

    def _is_run(self, use: ast.Name, methods: frozenset[str]) -> bool:
        above = self._context.parent(use)
        if isinstance(above, ast.Call):
            return above.func is use
        if not isinstance(above, ast.Attribute) or not isinstance(above.ctx, ast.Load):
            return False
        call = call_of(above, self._context)
        if call is not None:
            return above.attr in methods or self._is_layer(above.attr)
        return above.attr == "training" or above.attr in self.constants

    # ------------------------------------------------------------------ what attributes hold
    def _is_layer(self, word: str) -> bool:
        values = self._values.get(word, [])
        return bool(values) and all(map(self._makes_a_layer, values))

    def _is_kept(self, word: str) -> bool:
        return word in self.constants or self._is_layer(word)

    @cached_property
    def constants(self) -> frozenset[str]:
        """The attributes that hold neither a module nor a parameter."""
        given = self._values.items()
        return frozenset(word for word, values in given if all(map(self._makes_a_constant, values)))

    def _makes_a_layer(self, node: ast.expr | None) -> bool:
        """Whether an expression makes a layer with weights of its own: of torch, several in a row, or of the file."""
        if not isinstance(node, ast.Call):
            return False
        names = names_of(node.func, self._context)
        if names == {"torch.nn.Sequential"}:
            return not node.keywords and all(map(self._makes_a_layer, node.args))
        if names:
            plain = names_layer(names) and not any(_NOT_ALONE.search(each) for each in names)
            return plain and makes_its_own(node, self._context)
        inner = Definitions(self._context).class_here(node.func)
        is_above = inner is not None and inner.lineno < self._owner.lineno  # so that none is made of itself
        return is_above and isinstance(node.func, ast.Name) and plain_network(node.func, self._context) is not None

    def _is_given(self, name: ast.Name) -> bool:
        places = self._context.reaching(name)
        return bool(places) and all(isinstance(each, ast.arg) for each in places)

    def _makes_a_constant(self, node: ast.expr | None) -> bool:
        """Whether an expression gives a number or the like, or a tensor that is made of such."""
        if isinstance(node, ast.Name) and self._is_given(node):
            node = self._given.get(node.id, node)
        known = self._context.value(node)
        if isinstance(node, ast.Constant) or (known.kind and known.must(PLAIN)):
            return True
        names = names_of(node.func, self._context) if isinstance(node, ast.Call) else frozenset[str]()
        return bool(names) and names <= operations().factories


def _own_names(method: ast.FunctionDef, context: FileContext) -> list[ast.Name]:
    """Return where a method names its object."""
    first = first_parameter(method)
    return [each for each in context.inside(method, ast.Name) if each.id == first]
