"""The value of a call: of a library's function, of a class, of the file's own functions, of a method."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from torchlint.facts.value import (
    ANY,
    ANY_DEVICE,
    UNKNOWN,
    Device,
    Dtype,
    Grad,
    Kind,
    Mode,
    Reason,
    Value,
    of_kind,
    tensor,
)
from torchlint.inference.interpreter import heuristics
from torchlint.inference.interpreter.changes import Changes
from torchlint.inference.interpreter.classes import object_of
from torchlint.inference.interpreter.environment import Env
from torchlint.inference.lattice import join, join_all
from torchlint.inference.models import (
    builtins,
    claims,
    containers,
    data_parallel,
    factories,
    functions,
    grad_mode,
    libraries,
    nn,
    tensors,
)
from torchlint.inference.models.call_arguments import Arguments
from torchlint.inference.models.containers import FOREIGN
from torchlint.inference.models.devices import last_word_of_name, seems_device
from torchlint.inference.models.distributions import distribution
from torchlint.inference.models.named_tuples import NAMED_TUPLE, filled
from torchlint.inference.models.operations import DISTINCTIVE
from torchlint.inference.models.tables import Call, words
from torchlint.inference.program.grad_requests import frozen_attributes
from torchlint.inference.program.imports import path_of

if TYPE_CHECKING:
    from torchlint.inference.interpreter.expressions import Expressions

_CHAINING = words("cuda cpu to type float half double long int")
"""Methods that tensors, modules and many holders of tensors share, each giving its own kind back."""

_LOSS_WORD = words("criterion loss_fn loss_func loss_function lossfn criterion_fn")

_MOVING = re.compile(r"(gpu|cuda|rank|(to|move|put|send|copy|push|transfer|upload)_\w+)\d*$", re.IGNORECASE)
"""Names of functions that put a tensor on a device, and give none: ``move_to_cuda(batch)``, ``gpu(x)``."""

_FOLDS = 4
"""What ``reduce`` gives is known if it is the same after so many steps."""

_SAMPLING = words("sample sample_n")
"""What draws from a distribution: nothing drawn so requires grad."""

_GOING_THROUGH = frozenset(
    f"builtins.{word}"
    for word in words("enumerate zip list tuple iter next sorted reversed set frozenset map filter sum max min")
)
"""Functions of Python that go through what they are given."""

_MAKING = libraries.LOADING | {"load_from_checkpoint"}


class Calls(Changes):
    """Evaluates calls for one scope."""

    def __init__(self, expressions: Expressions) -> None:
        super().__init__(expressions)
        self._file = expressions.file
        self._lambdas: set[ast.Lambda] = set()
        """The lambdas that are being called at this moment."""

    def call(self, node: ast.Call, env: Env) -> Value:
        """Return a call's value; what it changes in place is changed in ``env``."""
        if isinstance(node.func, ast.Attribute):
            receiver = self._of.evaluate(node.func.value, env)
            callee = self._of.attribute_on(node.func, receiver, env)
            self._of.values[node.func] = callee
            if not _is_import(receiver):
                return self._method_call(node, node.func, receiver, callee, env)
        else:
            callee = self._of.evaluate(node.func, env)
        given = self._arguments(node, env)
        return self._called(callee, given, env)

    def _arguments(self, node: ast.Call, env: Env) -> Arguments:
        """Return what a call is given; what it unpacks stands one by one where its parts are known."""
        positional: list[Value] = []
        spread: list[Value] = []
        for each in node.args:
            value = self._of.evaluate(each, env)
            if not isinstance(each, ast.Starred):
                positional.append(value)
            elif value.items is not None and not spread:
                positional.extend(value.items)
            else:
                spread.append(value)
        keywords: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self._of.evaluate(keyword.value, env)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            elif value.keys and value.member is not None:
                keywords.update(value.keys)
            elif value.items != ():
                spread.append(value)
        starred, dropped = bool(spread), self._is_statement(node) and self._has_no_parts(node.func, env)
        return Arguments(node, tuple(positional), keywords, starred, tuple(spread), dropped)

    def _has_no_parts(self, function: ast.expr, env: Env) -> bool:
        """Whether no attribute of the object whose method is called is known here, which it may set anew."""
        if not isinstance(function, ast.Attribute):
            return True
        path = path_of(function.value)
        return path is not None and len(env.about(frozenset((path,)))) <= 1

    # ------------------------------------------------------------------ functions
    def _called(self, callee: Value, given: Arguments, env: Env) -> Value:
        """Return the result of calling a value, by what is known of it."""
        if callee.must(Kind.MODULE) or (callee.instance and callee.may(Kind.MODULE)):
            return self._module(callee, given, env)
        if callee.instance == {libraries.PARTIAL} and callee.must(Kind.OTHER):
            return self._partial(callee, given, env)
        if callee.instance == {NAMED_TUPLE} and callee.must(Kind.OTHER):
            return filled(callee, given) or self._unknown(given, env, callee)
        if callee.instance == {functions.MAPPED} and callee.items:
            result = self._called(callee.items[0], given, env)
            return result.having(rank=None) if result.is_tensor else UNKNOWN
        if callee.names and callee.must(Kind.OTHER):
            return join_all(self._named(name, callee, given, env) for name in sorted(callee.names))
        if isinstance(callee.node, ast.Lambda):
            return self.call_lambda(callee.node, given, env)
        if callee.instance:
            return self._object(callee, given, env)
        if callee.kind and callee.must(FOREIGN) and callee.may(Kind.OTHER):
            return of_kind(FOREIGN)
        return self._unknown(given, env, callee)

    def _named(self, name: str, callee: Value, given: Arguments, env: Env) -> Value:
        """Return the result of calling a function or a class by its full name, a library's or the project's."""
        if name == "builtins.super":
            return self._super(given.node, env)
        if name in _GOING_THROUGH and any(each.instance for each in given.positional):
            each_one = tuple(self._of.iterated(each, given.node) for each in given.positional)
            given = replace(given, positional=each_one)
        if (handed := self._handing(name, given, env)) is not None:
            return handed
        if self._is_statement(given.node):
            env.mode = grad_mode.after(Call(name, given, env.mode))
        known = functions.call(name, given, env.mode)
        if self._file.project.presuming:
            known = heuristics.of_constructor(name, given, env.mode) or known
        if known is not None and factories.follows_default_device(name, given):
            return self._placed_by_default(known, given)
        if known is None:
            known = self._file.call(name, callee, given, env.mode)
            self.carry_out(given, env)
            if (mode := self._file.mode_after(name)) is not None:
                env.mode = mode
        if known is None and self._file.project.presuming:
            known = heuristics.of_library(name, given)
        if known is not None:
            return claims.of_function(name, given, known)
        return self._unknown(given, env, is_function=heuristics.is_library_function(name) and not name.startswith("."))

    def _placed_by_default(self, made: Value, given: Arguments) -> Value:
        """Put what a factory without ``device=`` makes on the default device, where the file changes that."""
        if made.device != Device.HOST or not self._file.changes_default_device(given.node):
            return made
        why = Reason("{code} follows the default device, which this file changes", given.node, weak=True)
        return made.having(device=Device.HOST | Device.ACCELERATOR, why_device=why)

    def _super(self, node: ast.AST, env: Env) -> Value:
        """Return ``super()``: the object as the base classes of the class around see it."""
        known, function = self._file.classes.around(node), self._file.owner(node)
        if known is None or function is None:
            return UNKNOWN
        word = self.self_name(node)
        owner = env.find(word) if word is not None else None
        owner = owner if owner is not None and owner.instance else self._file.classes.self_value(function)
        seen = {"instance": frozenset(known.bases), "self_value": owner, "node": known.node}
        if not known.is_module:
            return of_kind(Kind.OTHER, **seen)
        place = owner.device if owner.must(Kind.MODULE) else ANY_DEVICE
        return Value(Kind.MODULE, Grad.ATTACHED, place, Dtype(0), **seen)  # type: ignore[arg-type]

    # ------------------------------------------------------------------ functions that are handed on
    def _handing(self, name: str, given: Arguments, env: Env) -> Value | None:
        """Return what a function of Python's gives that calls its argument; None for others."""
        if name in _GOING_THROUGH and given.positional and isinstance(given.node, ast.Call):
            self._of.freezing.handed(given.positional[0], given.node.args[1:], env)
        function, values = given.find(0, "function"), given.find(1, "iterable", "sequence")
        match name:
            case "builtins.map" | "itertools.starmap":
                outside, env.mode = env.mode, self._of.comprehensions.mode_when_asked(given.node, env)
                mapped = self._mapped(given, env, spread=name != "builtins.map")
                env.mode = outside
                return mapped
            case "functools.reduce" if function is not None and values is not None:
                return self._folded(function, values, given.find(2, "initial"), given, env)
            case "itertools.accumulate" if function is not None and values is not None:
                folded = self._folded(values, function, given.keywords.get("initial"), given, env)
                return of_kind(Kind.SEQUENCE, member=folded)
            case "builtins.filter" if function is not None and values is not None:
                self._handed(function, (containers.part(values),), given, env)
            case "builtins.sorted" | "builtins.max" | "builtins.min" if (key := given.keywords.get("key")) is not None:
                held = given.positional if len(given.positional) > 1 else map(containers.part, given.positional)
                self._handed(key, (join_all(held),), given, env)
            case "torch.utils.data.DataLoader":
                return self._loader(given, env)
            case "torch.load" | "torch.jit.load" if (where := given.find(1, "map_location")) is not None:
                return self._loaded(name, where, given, env)
        return None

    def _mapped(self, given: Arguments, env: Env, spread: bool) -> Value:
        """Return what ``map(function, values)`` gives, one by one where they are known so; ``spread``: ``starmap``."""
        if len(given.positional) < 2 or given.starred:
            return of_kind(Kind.SEQUENCE, member=UNKNOWN)
        function, *sources = given.positional
        lines = [source.items for source in sources if source.items is not None]
        if lines and len(lines) == len(sources) and max(map(len, lines)) <= _MOST_MAPPED:
            rows = zip(*lines, strict=False)
            items = tuple(self._mapped_one(function, each, given, env, spread) for each in rows)
            return of_kind(Kind.SEQUENCE, items=items)
        each = tuple(containers.part(source) for source in sources)
        return of_kind(Kind.SEQUENCE, member=self._mapped_one(function, each, given, env, spread))

    def _mapped_one(self, function: Value, each: tuple[Value, ...], given: Arguments, env: Env, spread: bool) -> Value:
        if spread and each[0].items is None:
            return self._handed(function, (), given, env, spread=each)
        return self._handed(function, each[0].items or () if spread else each, given, env)

    def _handed(
        self, function: Value, inputs: tuple[Value, ...], given: Arguments, env: Env, spread: tuple[Value, ...] = ()
    ) -> Value:
        """Return what a function gives that is called by what it is handed to."""
        node = given.node.func if isinstance(given.node, ast.Call) else given.node  # it writes out no such call
        return self._called(function, Arguments(node, inputs, {}, bool(spread), spread), env)

    def _folded(self, function: Value, values: Value, initial: Value | None, given: Arguments, env: Env) -> Value:
        """Return what a function of two arguments makes of values, one after the other."""
        each = containers.part(values)
        total = each if initial is None else initial
        for _ in range(_FOLDS):
            before, total = total, join(total, self._handed(function, (total, each), given, env))
            if total.same(before):
                return total
        return UNKNOWN

    def _loader(self, given: Arguments, env: Env) -> Value | None:
        """Return a loader of what a data set, or the function that makes batches of its samples, shows of them."""
        dataset, collate = given.find(0, "dataset"), given.find(6, "collate_fn")
        node = given.node.func if isinstance(given.node, ast.Call) else given.node
        held = self._of.iterated(dataset, node) if dataset is not None else UNKNOWN
        batch = nn.batch_of(containers.part(held))
        if collate is not None and not collate.must(Kind.NONE):
            batch = nn.batch_of(self._handed(collate, (of_kind(Kind.SEQUENCE, member=batch),), given, env))
        made = functions.call("torch.utils.data.DataLoader", given, env.mode)
        return made.having(member=batch) if made is not None else None

    def _loaded(self, name: str, where: Value, given: Arguments, env: Env) -> Value | None:
        """Return what is loaded to where a function puts each storage; None where no function says that."""
        if not where.must(Kind.OTHER) or where.instance:
            return None
        storage = tensor(Grad.DETACHED, Device.HOST)
        placed = self._handed(where, (storage, of_kind(Kind.STRING)), given, env)
        device = of_kind(Kind.DEVICE, device=placed.device or Device.HOST, why_device=placed.why_device)
        rest = {word: value for word, value in given.keywords.items() if word != "map_location"}
        told = Arguments(given.node, given.positional[:1], {**rest, "map_location": device})
        return functions.call(name, told, env.mode)

    def _partial(self, callee: Value, given: Arguments, env: Env) -> Value:
        """Return the result of calling what ``functools.partial`` made."""
        count, parts = callee.const, callee.items
        if parts is None or type(count) is not int or len(parts) != 1 + count + len(callee.keys):
            return UNKNOWN  # one of several
        keywords = {**dict(callee.keys), **given.keywords}
        node = given.node.func if count and isinstance(given.node, ast.Call) else given.node
        positional = (*parts[1 : 1 + count], *given.positional)
        return self._called(parts[0], Arguments(node, positional, keywords, given.starred, given.spread), env)

    def call_lambda(self, node: ast.Lambda, given: Arguments, env: Env) -> Value:
        """Return what a lambda returns for some arguments; its own nodes keep what is known for any."""
        if node in self._lambdas or given.starred:
            return UNKNOWN
        if node not in self._file.index.parents:
            home = next((file for file in self._file.project.files() if node in file.index.parents), None)
            return home.summaries.of_lambda(node, given, env.mode) if home is not None else UNKNOWN
        self._lambdas.add(node)
        inner = env.layer()
        for word, value in given.bound_to(node).items():
            inner.assign(word, value)
        try:
            return self._of.evaluate(node.body, inner)
        finally:
            if isinstance(given.node, ast.Call) or not self._is_written_there(node, given.node):
                self._of.evaluate(node, env)
            self._lambdas.discard(node)

    def _is_written_there(self, node: ast.Lambda, function: ast.AST) -> bool:
        """Whether a lambda is an argument of the call of a function: nobody else can call it."""
        above = self._file.index.parents.get(node)
        call = self._file.index.parents.get(above) if isinstance(above, ast.keyword) else above
        return isinstance(call, ast.Call) and call.func is function

    def _module(self, callee: Value, given: Arguments, env: Env) -> Value:
        """Return what calling a module gives: a `__call__` of its class comes before the one of `nn.Module`."""
        known = self._file.call_method(callee, "__call__", given, env.mode)
        return known if known is not None else self._forward(callee, given, env)

    def _forward(self, callee: Value, given: Arguments, env: Env) -> Value:
        if (inner := data_parallel.wrapped(callee)) is not None:
            return data_parallel.gathered(self._module(inner, data_parallel.handed_on(callee, given), env))
        if parts := nn.run_in_turn(callee):
            return self._in_turn(parts, given, env)
        known = self._file.call_method(callee, "forward", given, env.mode)
        found = nn.placed(known, callee, given) if known is not None else nn.called(callee, given, env.mode)
        return claims.of_call(callee, found)

    def _in_turn(self, parts: tuple[Value, ...], given: Arguments, env: Env) -> Value:
        """Return what modules give of which each gets what the one before it gives."""
        result = self._called(parts[0], given, env)
        for each in parts[1:]:
            result = self._handed(each, (result,), given, env)
        return result

    def _object(self, callee: Value, given: Arguments, env: Env) -> Value:
        if libraries.is_transform(callee):
            return self._transformed(callee, given, env)
        known = self._of_object(callee, "__call__", given, env)
        return known if known is not None else self._unknown(given, env)

    def _transformed(self, transform: Value, given: Arguments, env: Env) -> Value:
        if transform.items is None or len(given.positional) != 1 or given.starred:
            return libraries.transformed_by(transform, given, env.mode)
        image = given.positional[0]
        for each in transform.items:
            image = self._handed(each, (image,), given, env)
        return image

    def _unknown(self, given: Arguments, env: Env, of: Value = UNKNOWN, is_function: bool = False) -> Value:
        """Return the result of a function of which little is known but its name; ``of`` is it, or its object.

        What is named like a network is taken for one, unless it is known to be a function.
        """
        function = given.node.func if isinstance(given.node, ast.Call) else None
        word = last_word_of_name(function)
        by_name = self._file.works_with_torch
        if by_name and isinstance(given.node, ast.Call):
            self._of.freezing.called_so(given.node, env)
        if by_name and word in _LOSS_WORD:
            return tensors.computed(given.operands(), env.mode).having(rank=0, claimed=claims.BY_NAME)
        makes = word[:1].isupper() or nn.MAKER_WORD.search(word)  # `Net()` makes one, `net()` calls it
        if by_name and not makes and not is_function and nn.MODEL_WORD.search(word):
            place = of.device if of.device == Device.HOST else ANY_DEVICE
            grad = nn.MAYBE_FROZEN if self._is_frozen_somewhere(function) else Grad.ATTACHED
            return nn.called(Value(Kind.MODULE, grad, place, why_device=of.why_device), given, env.mode)
        if "return_tensors" in given.keywords:  # a tokenizer's or processor's word
            place = ANY_DEVICE if "device" in given.keywords else Device.HOST
            return UNKNOWN.having(grad=Grad.DETACHED, device=place)
        place = Device.HOST if of.device == Device.HOST or self._stays_on_host(word, given) else ANY_DEVICE
        unplaced = Reason("nothing shows that {code} is on the host", given.node)
        if not env.mode & Mode.ON or word in _SAMPLING:
            return UNKNOWN.having(grad=Grad.DETACHED, device=place, why_device=unplaced)
        if seems_device(function) and not (given.tensors().kind and _MOVING.match(word)):
            return of_kind(Kind.DEVICE, device=Device.HOST | Device.ACCELERATOR)
        why_grad = Reason("nothing shows that {code} is detached", given.node)
        return UNKNOWN.having(why_grad=why_grad, why_device=unplaced, device=place)

    def _is_frozen_somewhere(self, function: ast.expr | None) -> bool:
        """Whether the file asks the parameters of an attribute not to require grad."""
        path = path_of(function) if isinstance(function, ast.Attribute) else None
        return path is not None and path in self._file.index.told(frozen_attributes, self._file.index.tree)

    def _stays_on_host(self, word: str, given: Arguments) -> bool:
        """Whether a call makes an object that is on the host: any in a file that never speaks of an accelerator."""
        if word in libraries.LOADING and libraries.loads_on_host(given):
            return not self._file.changes_default_device(given.node)
        return (word[:1].isupper() or word in _MAKING) and not self._file.mentions_accelerators

    # ------------------------------------------------------------------ methods
    def _method_call(self, node: ast.Call, function: ast.Attribute, receiver: Value, callee: Value, env: Env) -> Value:
        """Return the result of ``receiver.word(...)``, and do to the receiver what the method does to it."""
        given = self._arguments(node, env)
        word = function.attr
        if word == "enter_context" and given.positional:
            env.mode = self._file.entered(given.positional[0], None, env.mode)
        if word in ("__enter__", "__exit__") and grad_mode.switches(receiver):
            env.mode = self._file.entered(receiver, None, env.mode) if word == "__enter__" else Mode.ON
        if word in _REGISTERING:
            self._register(function.value, word, given)
        self.change(function.value, receiver, word, given, env)
        is_held = (path := path_of(function)) is not None and env.find(path) is not None
        is_known = callee.node is not None or callee.must(Kind.MODULE) or (callee.names and callee.must(Kind.OTHER))
        if is_held or is_known:
            return self._called(callee, given, env)
        is_object = bool(callee.instance) and callee.must(Kind.OTHER)  # an attribute that holds what can be called
        result = self._called(callee, given, env) if is_object else self.method(receiver, word, given, env)
        self.carry_out(given, env)
        return result

    def method(self, receiver: Value, word: str, given: Arguments, env: Env) -> Value:
        """Return ``receiver.word(...)``."""
        if (text := builtins.string_method(receiver, word, given)) is not None:
            return text
        if receiver.instance and (known := self._of_object(receiver, word, given, env)) is not None:
            return known
        if receiver.must(Kind.MODULE) and word in ("forward", "__call__"):
            return self._forward(object_of(receiver), given, env)
        by_name = word in _MODULE_METHODS and self._file.works_with_torch
        if receiver.must(Kind.MODULE) or (receiver.may(Kind.MODULE | Kind.OTHER) and by_name):
            found = nn.method(receiver, word, given, env.mode)
            if found is None and self._file.project.presuming and receiver.grad == Grad.DETACHED:
                return nn.called(receiver, given, env.mode)  # of a frozen module nothing else has a graph either
            return claims.of_module(receiver, found) if found is not None else self._unknown(given, env)
        if self._file.project.presuming and receiver.may(Kind.MODULE) and word in ("eval", "train"):
            return receiver.having(kind=Kind.MODULE)
        if word in ("next", "__next__") and receiver.member is not None:
            return receiver.member
        if receiver.must(Kind.SEQUENCE) and (found := containers.method(receiver, word, given)) is not None:
            return found
        if receiver.may(Kind.TENSOR):
            return self._of_tensor(receiver, word, given, env)
        if receiver.may(Kind.ARRAY) and receiver.must(Kind.ARRAY | Kind.SCALAR | Kind.INTEGER | Kind.NONE):
            return libraries.array_method(word)
        if receiver.may(Kind.MODULE) or receiver.instance or not receiver.kind:
            return self._unknown(given, env)
        return of_kind(Kind.OTHER | Kind.ARRAY | Kind.SCALAR | Kind.STRING | Kind.SEQUENCE)

    def _of_object(self, receiver: Value, word: str, given: Arguments, env: Env) -> Value | None:
        """Return the result of a method of an object whose class is known; None where that says nothing of it."""
        if any(name.startswith("torch.distributions.") for name in receiver.instance):
            return distribution(receiver, word, given, env.mode) or UNKNOWN
        if any(name.startswith("torch.quasirandom.") for name in receiver.instance) and word == "draw":
            return tensor(Grad.DETACHED, Device.HOST, Dtype.FLOATING)
        if (known := libraries.method(receiver, word, given)) is not None:
            return known
        return self._file.call_method(receiver, word, given, env.mode)

    def _of_tensor(self, receiver: Value, word: str, given: Arguments, env: Env) -> Value:
        """Return the result of a method that tensors have, of a receiver that is a tensor or may be one."""
        if not receiver.is_tensor and receiver.may(Kind.SEQUENCE):
            held = receiver if receiver.member is not None else receiver.having(member=containers.part(receiver))
            if (found := containers.method(held, word, given)) is not None and word not in ("copy", "index"):
                return found
        found = tensors.method(receiver, word, given, env.mode)
        if found is None:
            return self._unknown(given, env, receiver)
        if receiver.is_tensor:
            return claims.of_method(receiver, word, given, found)
        if not self._file.works_with_torch and claims.holds_tensors(found):
            return found.having(kind=ANY, rank=None, items=None, member=None, keys=())
        if not found.may(Kind.TENSOR):
            return claims.of_method(receiver, word, given, found)
        if word in _CHAINING:  # no list and no number has such a method
            return found.having(kind=receiver.kind & (Kind.TENSOR | Kind.MODULE | Kind.OTHER))
        if word in DISTINCTIVE:
            return claims.of_method(receiver, word, given, found)
        return found.having(kind=ANY, rank=None)

    def _register(self, owner: ast.expr, word: str, given: Arguments) -> None:
        """``self.register_buffer("mean", x)`` sets an attribute."""
        name, value = given.find(0, "name"), given.find(1, "tensor", "param", "module")
        path = path_of(owner)
        if path is None or name is None or value is None or not isinstance(name.const, str):
            return
        if word == "register_buffer":
            value = value.having(instance=value.instance | {"buffer"})
        self._of.note_attribute(f"{path}.{name.const}", value)


_MOST_MAPPED = 16
"""Longer literals are mapped by the join of their members."""

_REGISTERING = words("register_buffer register_parameter add_module")

_MODULE_METHODS = words("parameters named_parameters buffers named_buffers state_dict modules named_modules")


def _is_import(value: Value) -> bool:
    return bool(value.names) and value.must(Kind.OTHER) and not value.instance
