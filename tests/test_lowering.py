"""The graph of small texts: what names are bound to, joins, narrowing, exits, changes; and the form of every graph."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

import pytest

from torchlint.semantic import graph as g
from torchlint.semantic.lowering import lower
from torchlint.semantic.module_graph import ModuleGraph
from torchlint.semantic.program import Program

FIXTURES = Path(__file__).parent / "fixtures"


def module(text: str) -> ModuleGraph:
    file = Program("/nowhere").add("/nowhere/m.py", text.encode("utf-8", "surrogatepass"))
    lower(file.body)
    return file


def function(text: str, name: str = "f") -> g.FunctionGraph:
    [found] = [each for each in module(text).functions if each.qualified == name]
    return lower(found)


def spell(node: g.Node, above: tuple[g.Node, ...] = ()) -> str:
    """Spell what a node is made of, on one line; calls of effects are left out, circles are dots."""
    if node in above:
        return "..."
    ins = [spell(each, (*above, node)) for each in node.ins]
    inner = ", ".join(ins)
    match node.op:
        case g.CONST:
            return repr(node.data)
        case g.PARAM:
            assert isinstance(node.data, g.FormalParameter)
            return node.data.word
        case g.GLOBAL:
            return str(node.data)
        case g.FREE:
            assert isinstance(node.data, tuple)
            return f"free {node.data[1]}"
        case g.ATTR:
            return f"{ins[0]}.{node.data}"
        case g.CALL:
            given = [spell(each, (*above, node)) for each in node.arguments.positional]
            given += [f"{word}={spell(each, (*above, node))}" for word, each in node.arguments.keywords.items()]
            return f"{ins[0]}({', '.join(given)})"
        case g.PI:
            assert isinstance(node.data, g.Narrowing)
            asked = f" {spell(node.data.node, (*above, node))}" if node.data.node else ""
            return f"pi[{'' if node.data.positive else 'not '}{node.data.sort}{asked}]({inner})"
        case g.GAMMA:
            assert isinstance(node.data, g.Node)
            return f"({ins[0]} if {spell(node.data, (*above, node))} else {ins[1]})"
        case g.EFFECT | g.INPLACE:
            return f"{node.op}[{node.data}]({ins[0]})"
        case g.FUNCTION | g.CLASS:
            return f"{node.op} {node.data.name}"  # type: ignore[attr-defined]
        case g.PHI | g.SPREAD | g.ELEMENT | g.ENTER | g.OPAQUE | g.UNDEFINED | g.DECORATED:
            return f"{node.op}({inner})"
    return f"{node.op}[{node.data}]({inner})"


def returned(body: str, head: str = "def f(x, y):", before: str = "") -> list[str]:
    """Spell what each ``return`` of a function gives."""
    text = before + head + "\n" + "\n".join(f"    {line}" for line in body.splitlines())
    return [spell(each.value) for each in function(text).returns]


# ---------------------------------------------------------------------- names and joins
def test_a_name_is_the_node_that_it_is_bound_to() -> None:
    assert returned("a = x\nb = a\nreturn b.c") == ["x.c"]


def test_two_ways_meet_in_a_node_with_their_test() -> None:
    assert returned("if y.ok:\n    x = 1\nreturn x") == ["(1 if y.ok else x)"]


def test_a_name_that_a_test_only_narrowed_is_itself_again_behind() -> None:
    assert returned("if x is None:\n    g()\nreturn x") == ["x"]
    assert returned("if G is None:\n    g()\nreturn G") == ["G"]


def test_elif_is_lowered_without_recursion() -> None:
    text = "if x == 0:\n    y = 0\n" + "".join(f"elif x == {n}:\n    y = {n}\n" for n in range(1, 1500)) + "return y"
    [found] = function("def f(x, y):\n" + "".join(f"    {line}\n" for line in text.splitlines())).returns
    assert [found.value.op, *[each.op for each in found.value.ins]] == [g.GAMMA, g.CONST, g.GAMMA]


@pytest.mark.parametrize(
    "text",
    [
        "x = " + " + ".join(["a"] * 5000),
        "x = a" + ".b(1)" * 1500,
        "x = a" + "[0]" * 1500,
        "x = " + "(" * 10_000 + "1" + ")" * 10_000,
        "x = " + "not " * 3000 + "a",
        "x = " + "lambda: " * 2000 + "1",
        "x = " + "".join(f"{n} if a else " for n in range(3000)) + "1",
        "".join("  " * n + f"if a{n}:\n" for n in range(1000)) + "  " * 1000 + "x = 1\n",
        "x = 1\0",
        "x = = 1",
        "x = '\ud800'",
        "for _ in range(2):\n    total += one\n    total.x = 3\n",
        'def f(x: "' + "List[" * 150 + "]" * 150 + '"): pass',
    ],
    ids=lambda text: text[:12],
)
def test_no_text_makes_it_fail(text: str) -> None:
    for each in module(text).functions:
        lower(each)


def test_dotted_names_are_variables_until_their_object_is_another() -> None:
    assert returned("x.a = 1\nreturn x.a") == ["1"]
    assert returned("x.a.b = 1\nx.a = y\nreturn x.a.b") == ["y.b"]
    assert returned("x.a = 1\nx = y\nreturn x.a") == ["y.a"]


def test_deleted_names_are_undefined() -> None:
    assert returned("del x\nreturn x") == ["undefined()"]


# ---------------------------------------------------------------------- loops
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for i in y:\n    x = i\nreturn x", "phi(x, element(y))"),
        ("for i in y:\n    z = i\nreturn z", "phi(element(y))"),
        ("while y:\n    x = x.a\n    if x: continue\n    x = 2\nreturn x", "phi(x, 2, pi[truth](....a))"),
        ("while True:\n    x = x.a\n    if x: break\nreturn x", "pi[truth](phi(x, pi[not truth](...)).a)"),
        ("for i in y:\n    x.append(i)\nreturn x", "phi(x, grow[behind the last](..., element(y)))"),
        ("for i in y:\n    x[i] = 1\nreturn x", "phi(x, grow[any key](..., 1, element(y)))"),
        ("for i in y:\n    x[i].append(1)\nreturn x", "phi(x, grow[any key](..., grow[behind the last](index[any key]"),
        ("for i in y:\n    x.add_(i)\nreturn x", "phi(x, inplace[add_](...))"),
        ("for i in y:\n    x.cuda()\nreturn x", "phi(x, inplace[cuda](...))"),
        ("for i in y:\n    x.a = i\nreturn x.a", "phi(x.a, element(y))"),
        ("for i in y:\n    x.requires_grad = i\nreturn x", "phi(x, setter[requires_grad](..., element(y)))"),
        ("for i in y:\n    g(x)\nreturn x", "phi(x, effect[0](...))"),
        ("for i in y:\n    if (x := g()): pass\nreturn x", "phi(x, g())"),
        ("for i in y:\n    def x(): pass\nreturn x", "phi(x, function x)"),
        (
            "for i in y:\n    for p in x.parameters(): p.requires_grad = i\nreturn x",
            "phi(x, inplace[requires_grad_](...))",
        ),
    ],
)
def test_a_loop_joins_what_its_body_binds_or_changes(body: str, expected: str) -> None:
    assert returned(body)[0].startswith(expected)


def test_a_loop_knows_its_range() -> None:
    fn = function("def f(xs):\n    for x in xs:\n        g(x)\n    return h()")
    [(first, last)] = fn.loops
    assert [first <= call.index < last for call in fn.calls] == [True, False]


# ---------------------------------------------------------------------- ways that leave
def test_a_handler_meets_every_state_of_the_body() -> None:
    body = "try:\n    x = 1\n    x = g()\nexcept E as e:\n    return x\nreturn x"
    assert returned(body) == ["phi(x, 1, g())", "g()"]


def test_a_handler_that_goes_on_joins() -> None:
    assert returned("try:\n    x = g()\nexcept E:\n    x = 2\nreturn x") == ["phi(g(), 2)"]


def test_finally_runs_on_ways_that_leave_and_keeps_the_others_apart() -> None:
    fn = function(
        "def f(x):\n    try:\n        if x: return x\n        x = g()\n    finally:\n        h(x)\n"
        "        torch.set_grad_enabled(True)\n    return x"
    )
    [handed] = [spell(call) for call in fn.calls if call.arguments.spelled == "h"]
    assert handed == "h(phi(g(), phi(x, g()), pi[truth](x)))"
    assert [spell(each.value) for each in fn.returns] == [
        "pi[truth](x)",
        "effect[0](phi(g(), phi(x, g()), pi[truth](x)))",
    ]
    assert [each.state.grad.op for each in fn.returns] == [g.AFTER, g.AFTER]


def test_nothing_is_reached_behind_what_never_returns() -> None:
    assert returned("if x is None:\n    sys.exit(1)\nreturn x") == ["pi[not none](x)"]


def test_calls_know_what_is_caught_around_them() -> None:
    fn = function("def f():\n    try:\n        a()\n    except (E, F): b()\n    except G: c()\n    finally: d()")
    caught = {call.arguments.spelled: [spell(each) for each in fn.handlers.get(call, ()) if each] for call in fn.calls}
    assert caught == {"a": ["E", "F", "G"], "b": [], "c": [], "d": []}


def test_a_manager_that_suppresses_goes_on_from_any_state() -> None:
    assert returned("with suppress(E):\n    x = 1\n    raise E\nreturn x") == ["phi(x, 1)"]


def test_exits_and_calls_know_the_tests_on_the_way() -> None:
    fn = function("def f(x):\n    if x.a: return 1\n    assert x.b\n    if x.c: g()\n    return 2")
    spelled = [[(spell(test), answer) for test, answer in each.guards] for each in fn.returns]
    assert spelled == [[("x.a", True)], [("x.a", False), ("x.b", True)]]
    [guards] = fn.guards.values()
    assert [(test.data, answer) for test, answer in guards] == [("a", False), ("b", True), ("c", True)]


def test_the_end_is_an_exit_where_it_is_reached() -> None:
    end = function("def f(self):\n    self.x = 1").end
    assert end is not None
    assert {word: spell(each) for word, each in end.attributes.items()} == {"self.x": "1"}
    assert function("def f():\n    return 1").end is None


# ---------------------------------------------------------------------- the process
def test_with_sets_variables_of_the_process_and_restores_them_on_all_ways() -> None:
    fn = function(
        "import torch\ndef f(x):\n    with torch.no_grad():\n        if x: return a()\n        b()\n    return c()", "f"
    )
    modes = {call.arguments.spelled: call.state.grad for call in fn.calls if call.state}
    assert modes["a"].op == g.WITHIN
    assert spell(modes["a"].ins[1]) == "torch.no_grad()"
    assert [each.op for each in (modes["torch.no_grad"], modes["c"])] == [g.ENTRY, g.ENTRY]
    assert [each.state.grad.op for each in fn.returns] == [g.ENTRY, g.ENTRY]


def test_managers_that_set_nothing_make_no_nodes() -> None:
    fn = function("import torch\ndef f(x):\n    with open(x) as y, torch.autocast('cuda'):\n        return y")
    assert spell(fn.returns[0].value) == "enter(open(x))"
    assert g.WITHIN not in [each.op for each in fn.nodes]


def test_calls_that_are_statements_may_set_the_process() -> None:
    fn = function(
        "import torch\ndef f(x):\n    x.append(1)\n    print(x)\n    torch.manual_seed(0)\n    g()\n    y = g()"
    )
    assert [spell(each.ins[1]) for each in fn.nodes if each.op == g.AFTER] == ["g()"] * 3
    fn = function("import torch\ndef f():\n    old = torch.set_grad_enabled(False)")
    assert [each.data for each in fn.nodes if each.op == g.AFTER] == [g.GRAD]


def test_modes_meet_where_ways_meet() -> None:
    fn = function("def f(x):\n    if x: torch.set_grad_enabled(False)\n    return g()")
    assert fn.returns[0].state.grad.op == g.GAMMA
    fn = function("def f(x):\n    for y in x: g(torch.set_grad_enabled(False))\n    return g()")
    assert [each.op for each in fn.returns[0].state.grad.ins] == [g.ENTRY, g.AFTER]


# ---------------------------------------------------------------------- scopes
def test_a_comprehension_keeps_its_names_and_gives_out_others() -> None:
    body = "a = [x := y for y in x if (z := y.ok)]\nreturn x, y, z, a"
    [found] = returned(body)
    assert found.startswith("sequence[tuple](phi(x, element(x)), y, element(x).ok, comprehension[list](")


def test_a_comprehension_changes_what_is_outside() -> None:
    assert returned("[x.append(z) for z in y]\nreturn x") == ["phi(x, grow[behind the last](x, element(y)))"]


def test_class_bodies_are_seen_by_no_function_inside() -> None:
    file = module("a = 1\nclass C:\n    a = 2\n    b = a\n    def f(self): return a\n")
    [fn] = [each for each in file.functions if each.name == "f"]
    assert spell(lower(fn).returns[0].value) == "a"
    cls = fn.cls
    assert cls is not None
    assert {word: [spell(each) for each in values] for word, values in cls.attributes.items()} == {
        "a": ["2"],
        "b": ["2"],
        "f": ["function f"],
    }
    assert list(cls.methods) == ["f"]


def test_global_and_nonlocal_bind_where_they_say() -> None:
    file = module(
        "n = 0\ndef f():\n    m = 1\n    def h():\n        nonlocal m\n        global n\n        m = 2\n        n = 3\n"
        "        g()\n        return m, n\n    return m\n"
    )
    fn = file.functions[1]
    assert [spell(each) for each in file.body.definitions["n"]] == ["0", "3"]
    assert [spell(each) for each in lower(fn).definitions["m"]] == ["1", "2"]
    inner = lower(fn.bodies[0])
    assert spell(inner.returns[0].value) == "sequence[tuple](free m, n)"
    assert [spell(each) for each in inner.global_stores] == ["3"]


def test_names_of_functions_around_are_free() -> None:
    text = "def f(x):\n    y = 1\n    return lambda z: (x, y, z, w)"
    assert [spell(each.value) for each in function(text, "<lambda>").returns] == [
        "sequence[tuple](free x, free y, z, w)"
    ]
    text = "def f(xs):\n    return [lambda: x for x in xs]"
    assert [spell(each.value) for each in function(text, "<lambda>").returns] == ["free x"]


def test_a_call_of_the_body_knows_what_the_names_of_the_module_were() -> None:
    body = module("x = 1\nf()\ng()\nx = 2\nh()\nclass C:\n    x = 3\n    y = k()\n").body
    bound = {call.arguments.spelled: names for call, names in body.snapshots.items()}
    assert {word: spell(names["x"]) for word, names in bound.items()} == {"f": "1", "g": "1", "h": "2", "k": "2"}
    assert bound["f"] is bound["g"]


def test_what_a_function_puts_into_a_container_of_the_module_is_known_to_all() -> None:
    body = module("R = {}\ndef add(x):\n    R['k'] = x\ndef other(y):\n    R = []\n    R.append(y)\n").body
    assert [spell(each) for each in body.definitions["R"]] == ["dict[()]()", "grow[k](R, x)"]
    fn = function("def f(net):\n    seen = []\n    net.hook(lambda x: seen.append(x))\n    return seen")
    assert [spell(each) for each in fn.definitions["seen"]] == [
        "sequence[list]()",
        "grow[behind the last](free seen, x)",
    ]


# ---------------------------------------------------------------------- definitions
def test_decorators_are_signs_or_calls() -> None:
    fn = function("@property\n@d(1)\n@torch.no_grad()\ndef f(): pass")
    assert fn.signs == {"property", "d", "no_grad"}
    assert [spell(each) for each in fn.decorators] == ["property", "d(1)", "torch.no_grad()"]
    assert fn.decorated is not None
    assert spell(fn.decorated) == "decorated(d(1), function f)"
    assert spell(module("@d\nclass C: pass").body.definitions["C"][0]) == "decorated(d, class C)"


def test_a_setter_does_not_take_the_place_of_its_property() -> None:
    text = "class C:\n    @property\n    def f(self): pass\n    @f.setter\n    def f(self, x): pass\n"
    [first, second] = module(text).functions[1:]
    assert first.cls is not None
    assert first.cls.methods == {"f": first, "f.setter": second}


def test_defaults_and_annotations_belong_to_the_function_around() -> None:
    fn = function('def f(x: "Optional[a.B]" = d(), *y: int, z: Literal["q"] = 1, **w) -> "R": pass')
    body = fn.parent
    assert body is not None
    spelled = {
        each.sort + each.word: (
            each.position,
            each.annotation and spell(each.annotation),
            each.default and each.default.fn,
        )
        for each in fn.parameters
    }
    assert spelled == {
        "x": (0, "index[any key](Optional, a.B)", body),
        "*y": (1, "int", None),
        "z": (None, "index[q](Literal)", body),
        "**w": (None, None, None),
    }
    assert fn.returns_annotation is not None
    assert spell(fn.returns_annotation) == "R"
    [cls] = [each.data for each in module("class C:\n    x: 'T'\n    y: int = 1").body.nodes if each.op == g.CLASS]
    assert isinstance(cls, g.ClassGraph)
    assert {word: spell(each) for word, each in cls.annotations.items()} == {"x": "T", "y": "int"}


def test_generators_await_and_texts() -> None:
    fn = function("async def f(x):\n    async for y in x:\n        yield await y\n    z = yield\n    return f'{g(z)}'")
    assert fn.is_async
    assert [spell(each.value) for each in fn.yields] == ["element(x)", "None"]
    assert fn.returns[0].value.data is g.TEXT_OF_PARTS
    assert [spell(each) for each in fn.calls] == ["g(opaque())"]
    fn = function("def f(x):\n    yield from x")
    assert [spell(each.value) for each in fn.yields] == ["element(x)"]


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("case y:", "x"),
        ("case [y, *_]:", "item[0](x)"),
        ("case [*_, y]:", "item[-1](x)"),
        ("case {'k': y}:", "index[k](x)"),
        ("case C(a=y):", "pi[isinstance C](x).a"),
        ("case int() as y:", "pi[isinstance int](x)"),
        ("case int(y):", "pi[isinstance int](x)"),
        ("case [y] | {'k': y}:", "phi(item[0](x), index[k](x))"),
        ("case None if (y := x):", "pi[truth](pi[none](x))"),
    ],
)
def test_patterns_bind_and_narrow(case: str, expected: str) -> None:
    assert returned(f"match x:\n    {case}\n        return y")[0] == expected


# ---------------------------------------------------------------------- assignment
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("a, (b, *c, d) = x\nreturn a, c, d", "item[0](x), item[None](item[1](x)), item[-1](item[1](x))"),
        ("a, b = x, y\nb, a = a, b\nreturn a, b", "y, x"),
        ("x += y\nreturn x", "operation[+=](x, y)"),
        ("return [*x, y]", "grow[behind the last](spread(sequence[list](), x), y)"),
        ("return {'a': x, **y, 'b': 1}", "grow[b](spread(dict[('a',)](x), y), 1)"),
        ("return x[0], x[-1], x['k']", "index[0](x), index[-1](x), index[k](x)"),
        ("return x[1:], x[y]", "index[a slice](x), index[any key](x, y)"),
        ("x['k'] = y\nreturn x", "grow[k](x, y)"),
        ("x.setdefault('k', []).append(y)\nreturn x", "grow[k](grow[k](x, sequence[list]()), grow[behind the last]"),
        ("x.update(y, k=1)\nreturn x", "spread(x, y)"),
        ("x.update(k=1)\nreturn x", "grow[k](x, 1)"),
        ("x.insert(0, y)\nreturn x", "grow[any key](x, y)"),
        ("x.requires_grad = True\nreturn x, x.requires_grad", "setter[requires_grad](x, True), True"),
        ("x.b.data = y\nreturn x.b", "setter[data](x.b, y)"),
        ("z = x.add_(1)\nreturn x, z", "inplace[add_](x), x.add_(1)"),
        ("z = x.cuda()\nreturn x", "x"),
        ("x.half().to(y)\nreturn x", "inplace[to](inplace[half](x))"),
        ("torch.add(1, 2, out=x)\nreturn x", "effect[out](x)"),
        ("nn.init.normal_(x)\nreturn x", "effect[0](x)"),
        ("F.relu(x, inplace=True)\nreturn x", "effect[0](x)"),
    ],
)  # fmt: skip
def test_assignments_and_changes(body: str, expected: str) -> None:
    before = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
    assert returned(body, before=before)[0].removeprefix("sequence[tuple](").startswith(expected)


def test_attributes_that_are_set_by_word_are_stores() -> None:
    fn = function(
        "def f(self, v, w):\n    self.a = v\n    setattr(self, 'b', v)\n    self.register_buffer('c', tensor=v)\n"
        "    object.__setattr__(self, 'd', v)\n    setattr(self, w, v)\n    self.e.cuda()\n    return self.c"
    )
    assert [(spell(each.owner), each.word, spell(each.value)) for each in fn.stores] == [
        ("self", "a", "v"), ("self", "b", "v"), ("self", "c", "v"), ("self", "d", "v"), ("self", "*", "v"),
        ("self", "e", "inplace[cuda](self.e)"),
    ]  # fmt: skip
    assert spell(fn.returns[0].value) == "v"


def test_writes_into_memory_are_noted() -> None:
    fn = function("import torch\ndef f(x, y):\n    x[0] = y\n    x += y\n    x.mul_(y)\n    torch.exp(y, out=x)")
    assert [each.value and spell(each.value) for each in fn.writes] == [
        "y",
        "y",
        "y",
        "torch.exp(y, out=" + spell(fn.calls[-1].arguments.keywords["out"]) + ")",
    ]


# ---------------------------------------------------------------------- effects
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("g(x, k=y)\nreturn x, y", "effect[0](x), effect[k](y)"),
        ("x.fit(y)\nreturn x, y", "effect[the object of the method](x), effect[0](y)"),
        ("x.a = 1\ng(x)\nreturn x.a", "effect[0](grow[behind the last](x, 1)).a"),
        ("g(x.a)\nreturn x.a, x", "effect[0](x.a), x"),
        ("print(x)\nlen(y)\nreturn x, y", "x, y"),
        ("np.mean(x)\ntorch.optim.Adam(y)\nreturn x, y", "x, y"),
        ("x.detach().numpy()\ny.split(x)\nreturn x, y", "x, y"),
        ("y = G.step(x)\nreturn G", "effect[the object of the method](G)"),
        ("y = D(x)\nD.a(x)\nreturn D", "D"),
    ],
)
def test_calls_may_change_what_they_are_handed(body: str, expected: str) -> None:
    before = "import torch\nimport numpy as np\nG = C()\nclass D: pass\n"
    assert returned(body, before=before)[0].removeprefix("sequence[tuple](").startswith(expected)


def test_a_method_word_of_tensors_is_no_such_word_on_the_own_object() -> None:
    text = "class C:\n    def max(self): pass\n    def f(self):\n        self.max()\n        return self"
    assert spell(function(text, "C.f").returns[0].value) == "effect[the object of the method](self)"


def test_an_attribute_that_was_put_there_is_what_is_called() -> None:
    assert returned("x.a = y\nreturn x.a(1)") == ["y(1)"]
    assert returned("if x.a: return x.a(1)") == ["x.a(1)"]


# ---------------------------------------------------------------------- tests
@pytest.mark.parametrize(
    ("test", "yes", "no"),
    [
        ("x", "pi[truth](x)", "pi[not truth](x)"),
        ("not x", "pi[not truth](x)", "pi[truth](x)"),
        ("x is None", "pi[none](x)", "pi[not none](x)"),
        ("x != 1", "pi[not equals 1](x)", "pi[equals 1](x)"),
        ("x in ('a', 'b')", "pi[equals sequence[tuple]('a', 'b')](x)", "pi[not equals sequence[tuple]('a', 'b')](x)"),
        ("x in y", "x", "x"),
        ("isinstance(x, T)", "pi[isinstance T](x)", "pi[not isinstance T](x)"),
        ("isinstance(x, T) or isinstance(x, U)", "pi[isinstance sequence[tuple](T, U)](x)", "pi[not isinstance U](pi["),
        ("type(x) is T", "pi[type T](x)", "pi[not type T](x)"),
        ("torch.is_tensor(x)", "pi[tensor](x)", "pi[not tensor](x)"),
        ("hasattr(x, 'a')", "pi[hasattr a](x)", "pi[not hasattr a](x)"),
        ("callable(x)", "pi[hasattr __call__](x)", "pi[not hasattr __call__](x)"),
        ("x.is_cuda", "pi[is_cuda](x)", "pi[not is_cuda](x)"),
        ("x.requires_grad", "pi[requires_grad](x)", "pi[not requires_grad](x)"),
        ("x.device.type == 'cpu'", "pi[host](x)", "pi[not host](x)"),
        ("x is not None and y", "pi[not none](x)", "x"),
        ("x is None or y", "x", "pi[not none](x)"),
        ("all(isinstance(z, T) for z in x)", "pi[elements T](x)", "x"),
        ("(x := y) is None", "pi[none](y)", "pi[not none](y)"),
    ],
)  # fmt: skip
def test_tests_narrow(test: str, yes: str, no: str) -> None:
    found = returned(f"if {test}:\n    return x\nreturn x", before="import torch\n")
    assert found[0].startswith(yes)
    assert found[1].startswith(no)


def test_a_test_in_an_expression_narrows() -> None:
    assert returned("return x.a if x else y") == ["(pi[truth](x).a if x else y)"]
    assert returned("return x and x.a") == ["either[and](x, pi[truth](x).a)"]
    assert returned("return [z for z in y if z]")[0] == "comprehension[list](pi[truth](element(y)))"
    assert returned("assert x is not None\nreturn x") == ["pi[not none](x)"]


def test_a_name_that_holds_a_test_narrows_while_the_variable_is_the_same() -> None:
    assert returned("t = isinstance(x, T)\nif t: return x") == ["pi[isinstance T](x)"]
    assert returned("t = isinstance(x, T)\nx = y\nif t: return x") == ["y"]
    assert returned("t = x\nt = t and y\nif t: return x")[0] == "x"


# ---------------------------------------------------------------------- syntax
def test_every_expression_has_a_node() -> None:
    text = "def f(a):\n    b, c.d = a\n    e[b] = f'{a!r:>{b}}'\n    return {b: c for c in (yield)}"
    fn = function(text)
    assert isinstance(fn.tree, ast.FunctionDef)
    for statement in fn.tree.body:
        for each in ast.walk(statement):
            if isinstance(each, ast.expr) and not isinstance(each, ast.Tuple | ast.Subscript):
                assert each in fn.by_syntax, ast.dump(each)


def test_a_module_answers_for_any_expression_of_its_tree() -> None:
    file = module("x = 1\ndef f(y=x):\n    return lambda z: (y, z)\n    dead(y)\n")
    found = {}
    for each in ast.walk(file.tree):
        if isinstance(each, ast.Name):
            node = file.node_of(each)
            found[each.id, each.lineno] = node and spell(node)
    assert found == {("x", 1): "1", ("x", 2): "1", ("y", 3): "free y", ("z", 3): "z", ("dead", 4): None, ("y", 4): None}


def check_form(fn: g.FunctionGraph) -> None:
    """Check what all graphs have in common."""
    lower(fn)
    states = []
    for index, node in enumerate(fn.nodes):
        assert node.index == index
        assert node.fn is fn
        assert node.op in g.OPS
        states += [node.state] if node.state is not None else []
        for each in node.sources():
            assert each.fn is fn
            assert fn.nodes[each.index] is each
            assert each.index < index or node.op == g.PHI
    for state in dict.fromkeys(states):
        for each in (state.grad, state.device, state.dtype):
            assert fn.nodes[each.index] is each
    for call in fn.calls:
        assert fn.nodes[call.index] is call
    for at in [*fn.by_syntax.values(), *[each.value for each in (*fn.returns, *fn.yields)]]:
        assert fn.nodes[at.index] is at
    tree = fn.tree
    reached = [each.at for each in fn.calls if each.at is not None]
    assert all(each in fn.by_syntax for each in reached if isinstance(each, ast.AST)), tree


def sources() -> list[Path]:
    found = sorted(FIXTURES.rglob("*.py"))
    torch = importlib.util.find_spec("torch")
    if torch is not None and torch.origin is not None:
        found += sorted((Path(torch.origin).parent / "nn" / "modules").glob("*.py"))
    return found


def test_every_function_of_the_fixtures_and_of_torch_has_a_graph_of_this_form() -> None:
    count = 0
    for path in sources():
        file = Program(str(path.parent)).add(str(path), path.read_bytes())
        for each in file.functions:
            check_form(each)
            count += 1
    assert count > 1000


def form(fn: g.FunctionGraph) -> list[object]:
    """Return all that a graph holds, places in other functions by identity."""
    nodes = [(node.op, [each.index for each in node.sources()], node.at and node.at.lineno) for node in lower(fn).nodes]
    bound = {word: [(each.fn.identity, each.index) for each in values] for word, values in fn.definitions.items()}
    return [fn.qualified, nodes, bound, [(each.value.index, each.state.grad.index) for each in fn.returns]]


def test_a_graph_does_not_depend_on_what_was_lowered_before() -> None:
    for path in sources()[::4]:
        first = Program(str(path.parent)).add(str(path), path.read_bytes())
        second = Program(str(path.parent)).add(str(path), path.read_bytes())
        backward = [form(second.function_of(each)) for each in reversed(second.outline.functions)]
        assert [form(first.function_of(each)) for each in first.outline.functions] == backward[::-1], path
        assert form(first.body) == form(second.body), path
