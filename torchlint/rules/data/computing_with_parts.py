"""Whether code that builds or initialises a module only makes parts, looks at them and writes: it computes nothing.

What is computed with a part may be kept by a graph, by whatever way it is kept: only known forms count as harmless.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torchlint.rules.api import (
    FUNCTIONS,
    GIVING_ITSELF,
    FileContext,
    Function,
    Kind,
    is_static,
    methods_of,
    operations,
    positional_parameters,
    remembered,
    root_of_place,
)
from torchlint.rules.data.building_methods import applied_to_parts, building_methods, given_module, lineage, own_name
from torchlint.rules.data.handed_definitions import classes_called, function_given
from torchlint.rules.data.kept_outside import is_outside, may_reach_outside
from torchlint.rules.data.known_calls import (
    ASKING,
    asks_operators,
    iterates,
    keeps_unchanged,
    only_inspects,
    passes_on,
    unbound_method,
)
from torchlint.rules.data.local_parts import is_list_of_its_own, is_made_locally, tensors_made_parts
from torchlint.rules.data.method_overrides import methods_named, overrides_of
from torchlint.rules.data.recorded_results import MEASURING, is_quiet, leaves_no_graph
from torchlint.rules.evidence.called_definitions import (
    PLAIN,
    Definitions,
    Frame,
    bind,
    constructor,
    is_counted_with,
    names_layer,
    stores,
)
from torchlint.rules.evidence.object_attributes import Setting, settings, takes_over

_NUMBERS = frozenset(
    "in_features out_features in_channels out_channels kernel_size stride padding dilation groups num_features "
    "num_embeddings embedding_dim hidden_size input_size num_layers eps padding_idx training shape ndim dtype device "
    "data __class__ __name__".split()
)
"""Attributes of a layer or a tensor that no graph reaches."""
_LISTING = frozenset(
    "modules children parameters buffers named_modules named_children named_parameters named_buffers items values "
    "keys".split()
)
"""Methods that hand out the parts."""
_STORING = frozenset(
    "append extend insert add_module update setdefault register_module register_parameter register_buffer "
    "load_state_dict zero_grad pop remove __init__ reset_parameters _reset_parameters __setattr__ flatten_parameters "
    "save_hyperparameters".split()
)
"""Methods of modules and containers that compute nothing with what they have or are given."""
_RESETTING = frozenset({"reset_parameters", "_reset_parameters"})
_OF_CONTAINERS = frozenset("append extend insert update setdefault pop remove".split())
"""Methods of lists and dicts whose names are also words for what an object of any class does."""
_GIVING_ITSELF = GIVING_ITSELF - {"apply"}
_ENDS = (ast.Compare, ast.Expr, ast.If, ast.While, ast.Assert, ast.FormattedValue, ast.Return)
_GOING_BACK = frozenset({"torch.autograd.grad", "torch.autograd.backward"})


@remembered
def computes_with_its_argument(function: Function, context: FileContext) -> bool:
    """Whether a function runs the module that it is given first, computes with its tensors, or hands them on."""
    given = given_module(function)
    return not given or _Code(context).computes([(function, given)])


@remembered
def computes_while_building(function: Function, context: FileContext) -> bool:
    """Whether a method, or what else runs while an object of its class is built, computes with the object's parts."""
    owner = context.parent(function)
    code = _Code(context, owner if isinstance(owner, ast.ClassDef) else None)
    return code.computes([(each, own_name(each)) for each in building_methods(function, context)])


def computes_when_made(call: ast.Call, context: FileContext) -> bool:
    """Whether the constructor of a class of the file computes with the parts of the object that a call makes."""
    owner = Definitions(context).class_here(call.func)
    start = constructor(owner) if owner is not None else None
    return start is not None and computes_while_building(start, context)


class _Code:
    """Follows objects, their parts, and the names that are bound to them, through functions of a file."""

    def __init__(self, context: FileContext, owner: ast.ClassDef | None = None) -> None:
        self._context = context
        self._definitions = Definitions(context)
        self._line = lineage(owner, context) if owner is not None else ()
        self._methods = {each.name: each for one in reversed(self._line) for each in methods_of(one)}
        self._is_of_layer = any(names_layer(context.names(base)) for one in self._line for base in one.bases)
        self._followed: list[tuple[Function, str]] = []
        self._looked_into: set[Function] = set()
        self._is_kept_outside = False
        self._plain: dict[str, bool] = {}

    def computes(self, starts: Iterable[tuple[Function, str]]) -> bool:
        """Whether something is computed with what names hold, or with what is made beside them."""
        for function, word in starts:
            self._follow(function, word)
        for function, word in self._followed:  # which grows meanwhile
            names = (each for each in self._context.inside(function, ast.Name) if each.id == word)
            if not all(self._is_plain(each, function) for each in names if isinstance(each.ctx, ast.Load)):
                return True
            if function not in self._looked_into and not self._makes_only(function):
                return True
        return self._is_kept_outside and any(may_reach_outside(each, self._context) for each in self._looked_into)

    def _follow(self, function: Function, word: str) -> bool:
        if (function, word) not in self._followed:
            self._followed.append((function, word))
        return True

    def _makes_only(self, function: Function) -> bool:
        """Whether a function computes nothing with the modules that it makes, and goes backward nowhere."""
        self._looked_into.add(function)
        for name in tensors_made_parts(function, self._context):
            self._follow(self._context.function_around(name) or function, name.id)
        calls = self._context.inside(function, ast.Call)
        if any(self._goes_back(each) for each in calls):
            return False
        return all(self._is_plain(each, function) for each in calls if self._makes(each))

    def _goes_back(self, call: ast.Call) -> bool:
        is_method = isinstance(call.func, ast.Attribute) and call.func.attr == "backward"
        return is_method or bool(self._context.names(call.func) & _GOING_BACK)

    def _makes(self, call: ast.Call) -> bool:
        """Whether a call makes a module or a parameter."""
        if self._definitions.class_here(call.func) is not None:
            return True
        names = self._context.names(call.func)
        return bool(names) and all(
            each.startswith("torch.nn.") and each.rpartition(".")[2][0].isupper() for each in names
        )

    # ------------------------------------------------------------------ what is done with an expression
    def _is_plain(self, use: ast.expr, function: Function) -> bool:
        """Whether nothing is computed with an expression; names that it is bound to are followed."""
        return self._is_known_plain(use) or self._is_left(use, use, function)

    def _result(self, node: ast.expr, function: Function) -> bool:
        """Whether nothing keeps a part by what an operation with it gives."""
        found = leaves_no_graph(node, self._context)
        return found if isinstance(found, bool) else self._is_left(found, found, function)

    def _quietly(self, call: ast.Call, function: Function) -> bool:
        """Whether grad mode is off where something unknown is done to a part, and nothing keeps what that gives."""
        return is_quiet(call, self._context) and self._is_left(call, call, function)

    def _is_left(self, node: ast.expr, use: ast.expr, function: Function) -> bool:
        """Whether nothing is computed with what an expression around a use gives."""
        while True:
            match above := self._context.parent(node):
                case ast.Attribute(attr=word, ctx=context):
                    if word in _NUMBERS:
                        return True
                    if node is use and self._is_own(use, function) and self._is_plain_attribute(word):
                        return True
                    if not isinstance(context, ast.Load):
                        return self._may_be_set(above, use, function)
                    node = above
                case ast.Subscript(value=value) if value is not node:
                    return self._indexes(above, function)
                case ast.Subscript(ctx=context):
                    if not isinstance(context, ast.Load):
                        return self._may_be_set(above, use, function)
                    if self._is_tensor(node):
                        return self._result(above, function)
                    node = above
                case ast.Call():
                    end = self._call(node, above, function)
                    if end is not None:
                        return end
                    node = above
                case ast.keyword(arg=word):
                    call = self._context.parent(above)
                    if not isinstance(call, ast.Call):
                        return False
                    end = self._call(node, call, function)
                    if end is not None:
                        return end
                    node = call
                case (
                    ast.Tuple() | ast.List() | ast.Set() | ast.Dict() | ast.Starred() | ast.BoolOp() | ast.IfExp()
                    | ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp() | ast.NamedExpr()
                ):  # fmt: skip
                    if isinstance(above, ast.NamedExpr):
                        self._bind(above.target, function)
                    if isinstance(above, ast.IfExp) and above.test is node:
                        return True
                    node = above
                case _:
                    return self._ends(node, above, function)

    def _may_be_set(self, target: ast.Attribute | ast.Subscript, use: ast.expr, function: Function) -> bool:
        """Whether a part is set to nothing that may be in use; what the object is given by its name is judged there."""
        match self._context.parent(target):
            case ast.AugAssign():
                is_list = self._context.value(target).must(Kind.SEQUENCE)
                return self._is_number(target) or (is_list and not self._is_another_name(use, function))
            case ast.Assign(value=value):
                is_named = isinstance(root_of_place(target), ast.Name)  # not found: `getattr(self, "fc").weight = w`
                return (is_named and not self._is_another_name(use, function)) or self._is_fresh(value)
        return not self._is_another_name(use, function)

    def _indexes(self, asked: ast.Subscript, function: Function) -> bool:
        """Whether a part that stands between brackets is only looked at: a graph keeps the index of a tensor."""
        if not self._context.value(asked.value).may(Kind.TENSOR):
            return True
        return self._result(asked, function) if isinstance(asked.ctx, ast.Load) else is_quiet(asked, self._context)

    def _is_fresh(self, value: ast.expr) -> bool:
        makes = isinstance(value, ast.Call) and self._makes(value)
        return makes or isinstance(value, ast.Constant) or self._is_number(value)

    def _is_another_name(self, use: ast.expr, function: Function) -> bool:
        """Whether a name stands for a part of something that has another name: of an argument, or of the object."""
        own = own_name(function)
        if not isinstance(use, ast.Name) or (
            use.id == own and (self._is_own(use, function) or function.name == "__init__")
        ):
            return False
        bound = stores(use.id, self._context.function_around(use) or function, self._context)
        return not bound or any(each is None or self._gives_a_part(each, own) for each in bound)

    def _gives_a_part(self, node: ast.expr, own: str) -> bool:
        """Whether an expression may give a part of an object as it is: ``self.net``, ``zip(self.layers, others)``."""
        match node:
            case ast.Name(id=word):
                return word == own
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Starred(value=inner):
                return self._gives_a_part(inner, own)
            case ast.Call(func=function, args=args):
                names = self._context.names(function)
                passed = args if passes_on(names) else [function]
                return any(self._gives_a_part(each, own) for each in passed)
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.BoolOp(values=parts):
                return any(self._gives_a_part(each, own) for each in parts)
            case ast.IfExp(body=one, orelse=other):
                return self._gives_a_part(one, own) or self._gives_a_part(other, own)
        return False

    def _is_own(self, node: ast.expr, function: Function) -> bool:
        """Whether a name is that of the object whose class is looked at."""
        is_method = function in self._methods.values() or self._context.parent(function) in self._line
        return isinstance(node, ast.Name) and is_method and node.id == own_name(function)

    def _call(self, node: ast.expr, call: ast.Call, function: Function) -> bool | None:
        """Whether a call computes nothing with an expression; None where its result is the matter."""
        if call.func is node:
            return self._called(node, call, function)
        names = self._context.names(call.func)
        if names == {"builtins.setattr"}:
            return self._may_take(call.args[0], call, function) and self._bind(call.args[0], function)
        if names and (names <= ASKING or only_inspects(names)):
            return True
        if asks_operators(names) or (iterates(names) and self._is_tensor(node)):
            return self._result(call, function)
        if passes_on(names) or keeps_unchanged(names):
            return None if self._asks_members_plainly(call, names, function) else False
        if (word := unbound_method(names)) is not None:
            return None if word in _LISTING | _STORING | _GIVING_ITSELF else self._quietly(call, function)
        match call.func:
            case ast.Attribute(attr="apply") if isinstance(node, ast.Attribute) and self._is_own(node.value, function):
                return node.attr in self._methods or self._quietly(call, function)
            case ast.Attribute(value=ast.Name() as this, attr=word) if self._is_own(this, function):
                if word in self._methods:
                    return self._handed(node, call, self._methods[word], True)
                if word in _STORING:
                    return True
            case ast.Attribute(value=receiver, attr=word) if word in _STORING:
                return self._is_stored(node, call, receiver, word, function)
        here = self._definitions.function(call.func, Frame(function))
        if here is not None:
            return self._handed(node, call, here[0], False)
        classes = classes_called(call.func, function, self._context)
        if classes is not None:
            return all(self._is_kept_by(each, node, call) for each in classes) and self._has_result(call)
        if self._is_itself(node, function):
            return True
        is_operation = bool(names) and names <= operations().functions
        return self._result(call, function) if is_operation else self._quietly(call, function)

    def _is_stored(self, node: ast.expr, call: ast.Call, receiver: ast.expr, word: str, function: Function) -> bool:
        """Whether a method that is called like a container's computes nothing with what it is given.

        Where it may be that of an own class, it is followed.
        """
        if word in _OF_CONTAINERS and not self._is_container(receiver):
            here = methods_named(frozenset({word}), self._context)
            if any(self._handed(node, call, each, True) is False for each in here):
                return False
        return self._bind(receiver, function)

    def _is_container(self, receiver: ast.expr) -> bool:
        known = self._context.value(receiver)
        is_own_list = isinstance(receiver, ast.Name) and is_list_of_its_own(receiver, self._context)
        return is_own_list or known.must(Kind.SEQUENCE | Kind.MODULE)

    def _asks_members_plainly(self, call: ast.Call, names: frozenset[str], function: Function) -> bool:
        """Whether what a builtin calls with each member computes nothing: ``sorted(parts, key=size)``."""
        asked = [each.value for each in call.keywords if each.arg == "key" and iterates(names)]
        asked += call.args[:1] if names == {"builtins.filter"} else []
        return all(self._is_followed(each, function) for each in asked)

    def _is_followed(self, given: ast.expr | None, function: Function) -> bool:
        """Whether a function that is to be called with each of some parts is known; then it is followed."""
        match given:
            case ast.Lambda(args=ast.arguments(args=[first, *_])):
                return self._follow(function, first.arg)
            case ast.Constant(value=None):
                return True
            case ast.Attribute(value=this, attr=word) if self._is_own(this, function):
                method = self._methods.get(word)
                return self._is_run_with(method, 1) if method is not None else not self._is_run(given)
            case ast.Name() | ast.Call() if (names := self._context.names(given)) and names <= ASKING:
                return True
        here = function_given(given, self._context) if given is not None else None
        return here is not None and self._is_run_with(here, 0)

    def _is_run_with(self, function: Function, place: int) -> bool:
        """Follow a parameter of a function that is called with a part."""
        given = positional_parameters(function)[0 if is_static(function) else place :]
        return bool(given) and self._follow(function, given[0].arg)

    def _is_itself(self, node: ast.expr, function: Function) -> bool:
        """Whether the object as a whole is handed on: what that puts into it is looked at where its parts are."""
        return bool(self._line) and self._is_own(node, function)

    def _called(self, node: ast.expr, call: ast.Call, function: Function) -> bool | None:
        if not isinstance(node, ast.Attribute):
            return self._quietly(call, function)
        word = node.attr
        if takes_over(call):
            return False
        if word == "apply":
            for applied, part in applied_to_parts(call, function, self._methods, self._context):
                self._follow(applied, part)
            if word not in self._methods:
                return None if self._is_followed(call.args[0] if call.args else None, function) else False
        if word in _GIVING_ITSELF or word in _RESETTING:
            for each in overrides_of(word, self._context):
                self._follow(each, own_name(each))
        if self._is_own(node.value, function) and (word in self._methods or not self._is_run(node)):
            return None if word not in self._methods or word in GIVING_ITSELF else self._has_result(call)
        if word in _LISTING or word in GIVING_ITSELF or word in ("get", "copy"):
            return None
        is_operation = word in operations().methods and self._is_tensor(node.value)
        if is_operation and leaves_no_graph(call, self._context):
            return self._result(call, function)
        if word in _STORING:
            return self._may_take(node.value, call, function)
        if word in ("detach", "state_dict"):  # which counts the writes together with the part
            return None
        return word in MEASURING or self._quietly(call, function)

    def _is_kept_by(self, owner: ast.ClassDef, node: ast.expr, call: ast.Call) -> bool:
        """Whether a constructor of the file computes nothing with an argument."""
        starts = (constructor(each) for each in lineage(owner, self._context))
        start = next((each for each in starts if each is not None), None)
        return start is None or self._handed(node, call, start, True) is not False

    def _may_take(self, node: ast.expr, call: ast.Call, function: Function) -> bool:
        """Whether a part is given nothing that may be in use; what the object is given by its name is judged there."""
        root = root_of_place(node)
        given = call.args[-1:] if node in call.args else call.args  # `setattr(m, name, value)`
        if not self._is_another_name(root, function) or all(map(self._is_fresh, given)):
            return True
        return isinstance(node, ast.Name) and is_list_of_its_own(node, self._context)

    def _has_result(self, call: ast.Call) -> bool | None:
        return True if isinstance(self._context.parent(call), ast.Expr) or self._is_number(call) else None

    def _is_run(self, node: ast.Attribute) -> bool:
        """Whether calling an attribute of the object runs a network, rather than a method that a base class has."""
        if node.attr in ("forward", "backward", "__call__") or self._context.value(node).must(Kind.MODULE):
            return True
        return any(each.word == node.attr and self._holds(each.value) for each in self._settings())

    def _handed(self, node: ast.expr, call: ast.Call, function: Function, is_method: bool) -> bool | None:
        """Follow an argument into a function of the file."""
        method = is_method and not is_static(function)
        words = [word for word, each in bind(call, function, method).items() if each is node]
        if len(words) != 1 or self._is_declared_plain(words[0], function):
            return False
        self._follow(function, words[0])
        return self._has_result(call)

    def _is_declared_plain(self, word: str, function: Function) -> bool:
        """Whether an annotation says of a parameter that it is a number or a text, which a part of a module is not."""
        names = (each for each in self._context.inside(function, ast.Name) if each.id == word)
        return any(isinstance(each.ctx, ast.Load) and self._is_known_plain(each) for each in names)

    def _ends(self, node: ast.expr, above: ast.AST | None, function: Function) -> bool:
        match above:
            case ast.Assign(targets=targets, value=value) if value is node:
                return all(self._unpacks(each, node) and self._bind(each, function) for each in targets)
            case ast.AnnAssign(target=target):
                return self._bind(target, function)
            case ast.For(target=target) | ast.comprehension(target=target):
                return not self._is_tensor(node) and self._bind(target, function)
            case ast.UnaryOp(op=ast.Not()):
                return True
            case ast.Lambda():  # it hands the part out when it is called
                return True
        if isinstance(above, _ENDS) or self._is_number(node):
            return True
        return isinstance(above, ast.expr) and self._result(above, function)

    def _unpacks(self, target: ast.expr, node: ast.expr) -> bool:
        """Whether a target takes what it is given whole, or the members of what is no tensor: those were views."""
        return not (isinstance(target, ast.Tuple | ast.List) and self._is_tensor(node))

    def _bind(self, target: ast.expr, function: Function) -> bool:
        """Follow the names that a target binds, and what a part is put into; attributes go with the object."""
        root = root_of_place(target)
        self._is_kept_outside |= is_outside(root, self._context)
        for each in ast.walk(target if isinstance(target, ast.Tuple | ast.List | ast.Starred) else root):
            if isinstance(each, ast.Name) and (root is not target or isinstance(each.ctx, ast.Store)):
                self._follow(function, each.id)
        return True

    # ------------------------------------------------------------------ what expressions are
    def _is_tensor(self, node: ast.expr) -> bool:
        known = self._context.value(node)
        return known.may(Kind.TENSOR) and not known.unknown

    def _is_known_plain(self, node: ast.expr) -> bool:
        known = self._context.value(node)
        return bool(known.kind) and known.must(PLAIN)

    def _is_number(self, node: ast.expr) -> bool:
        if self._is_known_plain(node):
            return True
        around = self._line[0] if self._line else self._context.function_around(node)
        is_named = isinstance(node, ast.Name | ast.Attribute)
        return is_named and around is not None and is_counted_with(ast.unparse(node), around, self._context)

    def _is_plain_attribute(self, word: str) -> bool:
        """Whether an attribute of the object holds nothing that was made for it: a number, or what it was given."""
        if word not in self._plain:
            self._plain[word] = True  # while it is asked
            values = [each for each in self._settings() if each.word == word]
            other = word not in self._methods and not (self._is_of_layer and word in ("weight", "bias"))
            self._plain[word] = bool(values) and other and not any(self._holds(each.value) for each in values)
        return self._plain[word]

    def _settings(self) -> Iterator[Setting]:
        for one in self._line:
            for each in one.body:
                if isinstance(each, FUNCTIONS):
                    yield from settings(each, self._context)

    def _holds(self, value: ast.expr | None) -> bool:
        """Whether what an attribute is set to may hold what was made for the object."""
        if value is None:
            return True
        if self._is_known_plain(value):
            return False
        if self._is_tensor(value):
            return True
        for each in self._context.within(value):
            match each:
                case ast.Call() if self._makes(each) or self._definitions.function(each.func, Frame(self._line[0])):
                    return True
                case ast.Attribute(value=ast.Name(id="self"), attr=word) if not self._gives_a_number(each):
                    if word in self._methods or not self._is_plain_attribute(word):
                        return True
                case ast.Name(ctx=ast.Load()) if each.id != "self" and is_made_locally(each, self._context):
                    return True
        return False

    def _gives_a_number(self, node: ast.AST) -> bool:
        """Whether only a number of a part is taken: ``self.net[0].in_features``."""
        above = self._context.parent(node)
        while isinstance(above, ast.Attribute | ast.Subscript):
            if isinstance(above, ast.Attribute) and above.attr in _NUMBERS:
                return above.attr != "data"
            above = self._context.parent(above)
        return False
