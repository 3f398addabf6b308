"""What the project's own callers hand to a function, wherever they stand, and what a finding says of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from torchlint.config import Config
from torchlint.diagnostics.model import Confidence, Finding, Severity
from torchlint.inference import query
from torchlint.texts.source_files import read_whole
from torchlint.knowledge import look_again
from torchlint.linter.engine import check_bytes

HEAD = "import torch\nfrom torch import nn\n\n\n"
HELPERS = HEAD + (
    "def show(x):\n    return x.cpu().numpy()\n\n\n"
    "class Writer:\n    def __init__(self, kept):\n        self.kept = kept.cpu().numpy()\n\n"
    "    def write(self, image):\n        return image.cpu().numpy()\n\n\n"
    "class Layer(nn.Module):\n    def forward(self, at):\n        return at.cpu().numpy()\n"
)
LINES = {"show": 6, "__init__": 11, "write": 14, "forward": 19}
BRINGS_NOTHING = "of the kind: only other callers would meet the error"

Check = Callable[..., dict[int, Finding]]


@pytest.fixture
def check(tmp_path: Path) -> Check:
    def checked(helpers: str = HELPERS, asked: str = "helpers", **others: str) -> dict[int, Finding]:
        (tmp_path / ".git").mkdir(exist_ok=True)
        for name, text in {asked: helpers, **others}.items():
            (tmp_path / f"{name}.py").write_text(text)
        look_again()
        path = tmp_path / f"{asked}.py"
        config = replace(Config(), select=("TNS1",), min_confidence=Confidence.UNPROVEN)
        result = check_bytes(str(path), path.read_bytes(), config)
        assert result.source is not None
        return {result.source.position(each.start)[0]: each for each in result.findings}

    return checked


def test_nobody_calls(check: Check) -> None:
    found = check()
    assert {line: each.confidence for line, each in found.items()} == dict.fromkeys(LINES.values(), Confidence.POSSIBLE)
    assert not any(BRINGS_NOTHING in step for each in found.values() for step in each.why)


def test_comments_in_an_import_are_read_in_one_way(check: Check) -> None:
    """A search that may end a comment anywhere tries all ends of all comments, and does not come back."""
    names = "".join(f"    name{each},  # what it is\n" for each in range(40))
    found = check(other=f"from elsewhere import (\n{names})\nshow = name1\n")
    assert BRINGS_NOTHING not in found[LINES["show"]].why[-1]


def test_an_argument_that_is_passed_on_to_a_private_function_is_direct(check: Check) -> None:
    found = check(
        HEAD + "def save(file, faces):\n    _save(file, faces.long())\n\n\n"
        "def _save(file, faces):\n    file.write(faces.numpy())\n\n\n"
        "class Mesh:\n    def __init__(self, faces):\n        self.faces = faces\n\n"
        "    def save(self, file):\n        file.write(self.faces.cpu().numpy())\n"
    )
    assert {line: str(each.confidence) for line, each in found.items()} == {10: "possible", 18: "unproven"}


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        ("show", "from helpers import show\n\nshow(torch.zeros(2))\n"),
        ("show", "import helpers as h\n\nh.show(torch.zeros(2))\n"),
        ("show", "from helpers import show as s\n\ns(x=torch.zeros(2))\n"),
        ("__init__", "from helpers import Writer\n\nWriter(torch.zeros(2))\n"),
        ("show", "from kit import Layer, \\\n    show\n\nshow(torch.zeros(2))\n"),
        ("show", "from kit import (\n    Layer,  # :)\n    show as s,\n)\n\ns(torch.zeros(2))\n"),
        ("write", "def f(writer):\n    writer.write(torch.zeros(2))\n"),
        ("write", "def f(writer):\n    (writer\n    .  # as it is\n    write(torch.zeros(2)))\n"),
        ("forward", "from helpers import Layer\n\nlayer = Layer()\nlayer(torch.tensor([1, 2]))\n"),
        ("show", "from helpers import show\n\n\ndef middle(t):\n    show(t)\n\n\nmiddle(torch.ones(2))\n"),
        ("show", "from helpers import show\n\n\ndef f(*a, **k):\n    show(torch.ones(2), *a, **k)\n"),
        ("show", "from helpers import show\n\nprint(map(show, [1]))\nshow(torch.zeros(2))\n"),
        ("show", "from helpers import show\n\n\ndef a(t):\n    show(t)\n    a(t)\n\n\na(torch.ones(2))\n"),
    ],
)
def test_a_call_elsewhere_brings_nothing_and_that_is_told(check: Check, function: str, calls: str) -> None:
    found = check(use=HEAD + calls)
    told = [line for line, each in found.items() if BRINGS_NOTHING in each.why[-1]]
    assert told == [LINES[function]]
    assert found[LINES[function]].confidence is Confidence.POSSIBLE


STEPS = HEAD + (
    "from base import Base\n\n\nclass Step(Base):\n    def finish(self, found):\n        return found.numpy()\n"
)
BASE = HEAD + (
    "class Base:\n    def finish(self, found):\n        raise NotImplementedError\n\n"
    "    def run(self, x, **more):\n        return self.finish(x.detach().cpu(), **more)\n"
)


def test_a_base_class_calls_what_is_defined_below_it(check: Check) -> None:
    others = "def f(anything, x):\n    return anything.finish(x)\n"
    (alone,) = check(STEPS, base="class Base:\n    pass\n", others=others).values()
    (called,) = check(STEPS, base=BASE, others=others).values()
    assert not any(BRINGS_NOTHING in each for each in alone.why)
    assert called.why[-1] == f"the project's only call brings nothing {BRINGS_NOTHING}"


def test_functions_that_call_each_other_are_asked_once(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    asking = query.Sample._brought_by

    def counted(*given: object) -> object:
        asked.append(given)
        return asking(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(query.Sample, "_brought_by", counted)
    names = "abcde"
    bodies = "".join(f"    {each}(t)\n" for each in names)
    calls = "".join(f"def {each}(t):\n    show(t)\n{bodies}\n\n" for each in names)
    check(use=HEAD + f"from helpers import show\n\n\n{calls}")
    assert len(asked) < 2 * len(names) ** 2


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ("show(torch.zeros(2))\nshow(torch.ones(2))\n", Severity.LEGACY),
        ("show(torch.zeros(2))\nshow(torch.load('x.pt'))\n", Severity.WARNING),
        ("show(torch.ones(2, device='cuda'))\n", Severity.WARNING),
        ("print(show)\n", Severity.WARNING),
    ],
)
def test_what_no_call_of_the_project_meets_is_no_hazard(check: Check, calls: str, expected: Severity) -> None:
    found = check(HEAD + "def show(x):\n    return x.numpy()\n", use=f"{HEAD}from helpers import show\n\n{calls}")
    assert {line: each.severity for line, each in found.items()} == {6: expected}


@pytest.mark.parametrize(
    ("call", "end", "expected"),
    [
        ("show(torch.load('x.pt'))", "", Confidence.UNPROVEN),
        ("show(torch.load('x.pt'))", "show(nn.Linear(2, 2)(torch.zeros(2)))", Confidence.LIKELY),
        ("print(show)", "", Confidence.POSSIBLE),
    ],
)
def test_the_calls_in_a_program_are_all(check: Check, call: str, end: str, expected: Confidence) -> None:
    body = f"{HEAD}def show(x):\n    return x.numpy()\n\n\ndef main(device='cuda'):\n    {call}\n    {end}\n\n\n"
    for program in (f"{body}if __name__ == '__main__':\n    main()\n", f"{body}main()\n"):
        assert check(program, use="")[6].confidence is expected
        imported = check(program, use="import helpers\n")[6].confidence
        assert imported is (Confidence.POSSIBLE if expected is Confidence.UNPROVEN else expected)


@pytest.mark.parametrize(
    ("last", "runs"),
    [
        ("main()", True),
        ("print(main())", True),
        ("for _ in range(2):\n    kept = main()", True),
        ("if not sys.argv[1:]:\n    main()", True),
        ("runner = Runner()\nrunner.run()", True),
        ("kept = main()", False),
        ("runner = Runner()", False),
        ("print(__doc__)", False),
        ("class Late:\n    kept = main()", False),
    ],
)
def test_a_script_runs_what_it_defines(check: Check, last: str, *, runs: bool) -> None:
    body = "def show(x):\n    return x.numpy()\n\n\ndef main(device='cuda'):\n    return show(torch.load('x.pt'))\n\n\n"
    found = check(f"{HEAD}{body}class Runner:\n    def run(self):\n        main()\n\n\n{last}\n")
    assert found[6].confidence is (Confidence.UNPROVEN if runs else Confidence.POSSIBLE)


RUNNER = HEAD + (
    "import use\n\n\nclass Runner:\n    def run(self, x):\n        return x.numpy()\n\n\n"
    "if __name__ == '__main__':\n    Runner().run(torch.load('x.pt'))\n"
)
LIVE = f"{HEAD}def f(runner):\n    runner.run(nn.Linear(2, 2)(torch.zeros(2)))\n"


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ({"use": "", "other": LIVE}, Confidence.UNPROVEN),
        ({"use": "", "other": "def f(runner, x):\n" + "    runner.run(x)\n" * 21}, Confidence.UNPROVEN),
        ({"use": LIVE}, Confidence.LIKELY),
        ({"use": "", "other": f"import helpers\n{LIVE}"}, Confidence.LIKELY),
    ],
)
def test_methods_of_a_program_are_called_by_it_and_by_what_it_imports(
    check: Check, others: dict[str, str], expected: Confidence
) -> None:
    assert check(RUNNER, **others)[10].confidence is expected


@pytest.mark.parametrize(
    ("name", "others", "expected"),
    [
        ("on_host", {}, Confidence.POSSIBLE),
        ("on-host", {}, Confidence.UNPROVEN),
        ("on-host", {"use": "import runpy\n\nrunpy.run_path('on-host.py')\n"}, Confidence.POSSIBLE),
    ],
)
def test_a_script_in_a_package_is_a_program_by_a_name_that_nobody_can_import(
    check: Check, name: str, others: dict[str, str], expected: Confidence
) -> None:
    assert check(RUNNER, name, __init__="", **others)[10].confidence is expected


@pytest.mark.parametrize("move", [".to('cuda')", ""])
def test_a_base_in_another_file_may_hand_over_what_is_on_its_device(check: Check, move: str) -> None:
    base = f"class Base:\n    def run(self, loader):\n        for x in loader:\n            self.step(x{move})\n"
    text = (
        f"{HEAD}from base import Base\n\n\nclass Trainer(Base):\n    def step(self, x):\n        print(x.numpy())\n\n\n"
    )
    found = check(f"{text}Trainer().run([])\n", base=base)
    assert any("on an accelerator" in each.message for each in found.values()) is bool(move)


def test_texts_that_hold_the_word_and_no_call_are_not_parsed(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr(query, "read_whole", lambda path: read.append(Path(path).stem) or read_whole(path))
    said = "import torch\n\nshow = 1\nprint(f'{show} {torch}', 'write')\n"
    check(said=said, calling="from kit import show\n\nshow(1)\n", writing="def f(w):\n    w.write(1)\n")
    assert sorted(set(read)) == ["calling", "writing"]


@pytest.mark.parametrize(
    "calls",
    [
        "def f(t):\n    show(t)\n",  # nobody calls `f`
        "kept = [show]\n",
        "def f(many):\n    show(*many)\n",
        "show(torch.zeros(2))\nshow(unknown())\n",
    ],
)
def test_what_is_not_known_of_a_call_is_not_told(check: Check, calls: str) -> None:
    found = check(use=HEAD + "from helpers import show\nfrom elsewhere import unknown\n\n" + calls)
    assert BRINGS_NOTHING not in found[LINES["show"]].why[-1]
    assert found[LINES["show"]].confidence is Confidence.POSSIBLE


def test_a_call_that_brings_the_fault_makes_it_likely(check: Check) -> None:
    live = "from helpers import show\n\nshow(nn.Linear(2, 2)(torch.ones(2)))\n"
    found = check(use=HEAD + live)[LINES["show"]]
    assert found.confidence is Confidence.LIKELY
    assert found.why[-1].startswith("`show(nn.Linear(2, 2)(torch.ones(2)))`, ")
    assert found.why[-1].endswith("use.py line 7 hands it over")


def test_a_place_that_is_reached_without_grad_only_is_unproven(check: Check) -> None:
    use = "from helpers import show\n\n\n@torch.no_grad()\ndef run(net, x):\n    show(net(x))\n"
    assert check(use=HEAD + use)[LINES["show"]].confidence is Confidence.UNPROVEN
    also = "from helpers import show\n\n\ndef train(net, x):\n    show(net(x))\n"
    assert check(use=HEAD + use, also=HEAD + also)[LINES["show"]].confidence is Confidence.POSSIBLE


def test_a_module_of_the_same_name_is_not_handed_on(check: Check) -> None:
    use = "from helpers import show\n\n\n@torch.no_grad()\ndef run(net, x):\n    show(net(x))\n"
    named = "from elsewhere import show\n\nshow.prepare()\n"
    handed = "from helpers import show\n\nprint(map(show, []))\n"
    assert check(use=HEAD + use, also=named)[LINES["show"]].confidence is Confidence.UNPROVEN
    assert check(use=HEAD + use, also=handed)[LINES["show"]].confidence is Confidence.POSSIBLE


def test_tests_are_no_sample(check: Check) -> None:
    found = check(test_helpers=HEAD + "from helpers import show\n\n\ndef test_it():\n    show(torch.zeros(2))\n")
    assert BRINGS_NOTHING not in found[LINES["show"]].why[-1]


def test_a_changed_caller_is_noticed(tmp_path: Path, torchlint: Callable[..., object]) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "helpers.py").write_text(HELPERS)
    use = tmp_path / "use.py"
    use.write_text(HEAD + "from helpers import show\n\nshow(torch.zeros(2))\n")
    run = ("--select", "TNS1", "--output-format", "concise", "--cache-dir", str(tmp_path / "kept"), "helpers.py")
    before, again = torchlint(*run), torchlint(*run)
    assert before.stdout == again.stdout  # type: ignore[attr-defined]
    assert ":6:20: TNS103" in before.stdout  # type: ignore[attr-defined]
    use.write_text(HEAD + "from helpers import show\n\nshow(nn.Linear(2, 2)(torch.ones(2)))\n")
    line = next(each for each in torchlint(*run).stdout.splitlines() if ":6:20:" in each)  # type: ignore[attr-defined]
    assert "likely" in line


@pytest.mark.parametrize(
    ("body", "confidence"),
    [
        ("paste(x, 1).cpu().numpy()", Confidence.UNPROVEN),
        ("kit.crop(x).cpu().numpy()", Confidence.UNPROVEN),
        ("kit.crop(x).numpy()", Confidence.UNPROVEN),
        ("x.numpy()", Confidence.POSSIBLE),
        ("agent.eval()\n    return agent.act(x).cpu().numpy()", Confidence.POSSIBLE),
        ("agent(x)\n    return agent.act(x).cpu().numpy()", Confidence.POSSIBLE),
        ("agent.reset()\n    return agent.act(x).cpu().numpy()", Confidence.UNPROVEN),
        ("kit.crop(x).long().numpy()", Confidence.UNPROVEN),
        ("kit.crop(x).detach().numpy()", Confidence.POSSIBLE),
        ("agent(x)\n    return agent.head.act(x).long().numpy()", Confidence.POSSIBLE),
    ],
)
def test_what_an_unknown_function_gives_is_unproven_unless_it_is_of_a_module(
    check: Check, body: str, confidence: Confidence
) -> None:
    body = body if "return" in body else f"return {body}"
    helpers = HEAD + f"import kit\nfrom kit import paste\n\n\ndef shown(x, agent):\n    {body}\n"
    (found,) = check(helpers=helpers).values()
    assert found.confidence is confidence


@pytest.mark.parametrize(("asked", "confidence"), [("parameters", Confidence.POSSIBLE), ("reset", Confidence.UNPROVEN)])
def test_what_an_object_holds_is_judged_by_all_methods_of_its_class(
    check: Check, asked: str, confidence: Confidence
) -> None:
    helpers = HEAD + (
        "class Agent:\n    def __init__(self, net):\n        self.net = net\n\n"
        f"    def start(self):\n        return self.net.{asked}()\n\n"
        "    def act(self, x):\n        return self.net.act(x).long().numpy()\n"
    )
    (found,) = check(helpers=helpers).values()
    assert found.confidence is confidence


def test_an_unknown_function_may_give_what_is_on_an_accelerator(check: Check) -> None:
    helpers = HEAD + "import kit\n\n\n@torch.no_grad()\ndef shown(x):\n    x.cuda()\n    return kit.crop(x).numpy()\n"
    (found,) = check(helpers=helpers).values()
    assert found.confidence is Confidence.POSSIBLE


@pytest.mark.parametrize(
    ("argument", "confidence"), [("x", Confidence.UNPROVEN), ("x: torch.Tensor", Confidence.POSSIBLE)]
)
@pytest.mark.parametrize("write", ["out[0] = x", "out.add_(x)", "out[0] += x\n    out[1] += x", "out += x"])
def test_what_may_be_a_number_is_written_beside_what_is_known(
    check: Check, argument: str, confidence: Confidence, write: str
) -> None:
    helpers = HEAD + f"def shown({argument}):\n    out = torch.zeros(2)\n    {write}\n    return out.cpu().numpy()\n"
    (found,) = check(helpers=helpers).values()
    assert found.confidence is confidence


@pytest.mark.parametrize(
    ("call", "confidence"),
    [
        ("torchaudio.functional.resample(torch.zeros(2), x, 16_000)", Confidence.UNPROVEN),
        ("torchvision.ops.box_convert(torch.zeros(1, 4), 'xyxy', x)", Confidence.UNPROVEN),
        ("torchaudio.functional.resample(x, 8_000, 16_000)", Confidence.POSSIBLE),
    ],
)
def test_a_number_is_given_to_a_library_beside_a_tensor(check: Check, call: str, confidence: Confidence) -> None:
    helpers = HEAD + f"import torchaudio\nimport torchvision\n\n\ndef shown(x):\n    return {call}.numpy()\n"
    (found,) = check(helpers=helpers).values()
    assert found.confidence is confidence


def test_what_runs_without_grad_only_is_not_certain(check: Check) -> None:
    runner = HEAD + (
        "class Runner:\n    def __init__(self):\n        self.net = nn.Linear(2, 2)\n\n    {}\n    def run(self):\n"
        "        return self.step()\n\n    def step(self):\n        return self.net(torch.zeros(2)).cpu().numpy()\n"
    )
    (without,) = check(helpers=runner.format("@torch.no_grad()")).values()
    (on,) = check(helpers=runner.format("# as it is")).values()
    assert (without.confidence, on.confidence) == (Confidence.UNPROVEN, Confidence.POSSIBLE)


NET = HEAD + (
    "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(2, 2)\n\n"
    "    def first_weight(self):\n        return self.fc.weight.detach().numpy()\n"
)


@pytest.mark.parametrize(
    ("calls", "wanted"),
    [
        ("net = Net()\nnet.first_weight()\n", Confidence.POSSIBLE),
        ("net = Net().cuda()\nnet.first_weight()\n", Confidence.LIKELY),
        ("net = Net()\nnet.to(device)\nnet.first_weight()\n", Confidence.LIKELY),
    ],
)
def test_the_object_of_a_method_is_what_its_calls_name(check: Check, calls: str, wanted: Confidence) -> None:
    (found,) = check(NET, use="import sys\n\nfrom helpers import Net\n\ndevice = sys.argv[1]\n" + calls).values()
    assert found.confidence is wanted
    assert ("hands it over" in found.why[-1]) is (wanted is Confidence.LIKELY)
    assert (BRINGS_NOTHING in found.why[-1]) is (wanted is Confidence.POSSIBLE)


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        ("Shown()", Confidence.LIKELY),
        ("Below()", Confidence.LIKELY),
        ("Above()", Confidence.LIKELY),  # it may be one of what derives from it
        ("Other()", Confidence.POSSIBLE),
        ("torch.load('o')", Confidence.LIKELY),
    ],
)
def test_the_object_of_a_call_is_one_of_the_class_of_the_method(check: Check, made: str, wanted: Confidence) -> None:
    shown = HEAD + "class Above:\n    pass\n\n\nclass Shown(Above):\n"
    shown += "    def show(self, x):\n        return x.detach().numpy()\n\n\nclass Below(Shown):\n    pass\n"
    other = "class Other:\n    def show(self, x):\n        return x\n\n\n"
    use = f"{HEAD}from helpers import Above, Below, Shown\n\n\n{other}def run():\n    given = {made}\n"
    (found,) = check(shown, use=use + "    given.show(torch.ones(2).cuda())\n").values()
    assert found.confidence is wanted


@pytest.mark.parametrize(
    ("other", "wanted"),
    [
        ("class Other:\n    def run(self):\n        self.show(torch.ones(2).cuda())\n", Confidence.LIKELY),
        (
            "class Other(nn.Module):\n    def __init__(self, show):\n        super().__init__()\n"
            "        self.show = show\n\n    def run(self):\n        self.show(torch.ones(2).cuda())\n",
            Confidence.POSSIBLE,
        ),
        (
            "class Base(nn.Module):\n    def __init__(self, show):\n        super().__init__()\n"
            "        self.show = show\n\n\nclass Other(Base):\n    def run(self):\n"
            "        self.show(torch.ones(2).cuda())\n",
            Confidence.POSSIBLE,
        ),
    ],
)
def test_what_an_object_keeps_under_the_name_of_a_method_is_its_own(
    check: Check, other: str, wanted: Confidence
) -> None:
    shown = HEAD + "class Shown:\n    def show(self, x):\n        return x.detach().numpy()\n"
    (found,) = check(shown, use=HEAD + other).values()
    assert found.confidence is wanted


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("torch.zeros(2)", Confidence.UNPROVEN),
        ("torch.tensor([1.0, 2.0]).unsqueeze(0)", Confidence.UNPROVEN),
        ("state", Confidence.POSSIBLE),
        ("torch.zeros(2), state", Confidence.POSSIBLE),
        ("torch.zeros(2, device=state.device)", Confidence.POSSIBLE),
    ],
)
def test_a_module_that_is_given_what_is_on_the_host_is_there(check: Check, given: str, wanted: Confidence) -> None:
    (found,) = check(
        HEAD + f"@torch.no_grad()\ndef act(policy, state):\n    return policy({given})[0].numpy()\n"
    ).values()
    assert found.confidence is wanted


# ---------------------------------------------------------------------- by ways around
METER = HEAD + (
    "class Meter:\n    def __init__(self):\n        self.kept, self.named = [], {}\n\n"
    "    def update(self, x):\n        self.kept.append(x)\n        self.named['x'] = x\n\n"
    "    def all(self):\n        return torch.cat(self.kept).cpu().numpy()\n\n"
    "    def one(self):\n        return self.named['x'].cpu().numpy()\n"
)
WITH_NET = HEAD + "from helpers import Meter\n\nnet, meter = nn.Linear(2, 2), Meter()\n"


@pytest.mark.parametrize(
    ("calls", "wanted"),
    [
        ("meter.update(net(torch.ones(2)))\n", "likely"),
        ("y = net(torch.ones(2))\nprint(y.mean().item())\nmeter.update(x=y)\n", "likely"),
        (
            "class T:\n    def __init__(self):\n        self.m = Meter()\n        self.m.update(net(torch.ones(2)))\n",
            "likely",
        ),
        ("with torch.no_grad():\n    meter.update(net(torch.ones(2)))\n", "unproven"),
        ("meter.update(net(torch.ones(2)).detach())\n", "unproven"),
        ("def f(other):\n    other.update(net(torch.ones(2)))\n", "unproven"),
        ("{}.update(a=net(torch.ones(2)))\n", "unproven"),
    ],
)
def test_what_an_object_was_given_to_keep_is_asked_of_who_gave_it(check: Check, calls: str, wanted: str) -> None:
    found = check(METER, train=WITH_NET + calls)
    assert {line: str(each.confidence) for line, each in found.items()} == {14: wanted, 17: wanted}
    assert all(any("hands it over" in step for step in each.why) is (wanted == "likely") for each in found.values())


def test_what_an_object_keeps_and_gives_without_grad_is_unproven(check: Check) -> None:
    asked = "\n\n@torch.no_grad()\ndef shown():\n    return meter.all(), meter.one()\n"
    found = check(METER, train=WITH_NET + "meter.update(net(torch.ones(2)))\n" + asked)
    assert {str(each.confidence) for each in found.values()} == {"unproven"}


CALLING = HEAD + (
    "def drawn(G, n):\n    return G(torch.randn(n, 4)).cpu().numpy()\n\n\n"
    "class Drawing:\n    def __init__(self, F_net):\n        self.f = F_net\n\n"
    "    def drawn(self, x):\n        return self.f(x).cpu().numpy()\n"
)


@pytest.mark.parametrize(
    ("calls", "wanted"),
    [
        ("drawn(nn.Linear(4, 4), 2)\nDrawing(nn.Linear(4, 4))\n", "likely"),
        ("def f():\n    net = nn.Sequential(nn.Linear(4, 4))\n    drawn(net, 2)\n    Drawing(F_net=net)\n", "likely"),
        ("drawn(nn.Linear(4, 4).requires_grad_(False), 2)\nDrawing(nn.ReLU())\n", "unproven"),
        ("with torch.no_grad():\n    drawn(nn.Linear(4, 4), 2)\n    Drawing(torch.sin)\n", "unproven"),
        ("drawn(load(), 2)\nDrawing(load())\n", "unproven"),
    ],
)
def test_a_function_that_is_given_a_network_calls_it(check: Check, calls: str, wanted: str) -> None:
    found = check(CALLING, train=HEAD + "from helpers import Drawing, drawn\n\n" + calls)
    assert {line: str(each.confidence) for line, each in found.items()} == {6: wanted, 14: wanted}


@pytest.mark.parametrize(
    "helpers",
    [
        CALLING.replace("    return G", "    G.requires_grad_(False)\n    return G"),
        CALLING.replace("def drawn(G", "@switched(torch)\ndef drawn(G"),
        CALLING.replace("\n\nclass", "\n\ndrawn = torch.no_grad()(drawn)\n\n\nclass"),
        CALLING.replace("G(torch", "G.drawn(torch"),
    ],
)
def test_a_network_that_is_not_called_as_it_was_given_tells_nothing(check: Check, helpers: str) -> None:
    found = check(helpers, train=HEAD + "from helpers import drawn\n\ndrawn(nn.Linear(4, 4), 2)\n")
    assert {str(each.confidence) for each in found.values()} == {"unproven"}


def test_a_buffer_whose_device_another_file_leaves_open_is_no_sure_fault(check: Check) -> None:
    found = check(
        "from layers import Grid\n\n\ndef show(grid: Grid):\n    return grid.points.numpy()\n",
        layers=HEAD
        + "class Grid(nn.Module):\n    def __init__(self, n, device=None):\n        super().__init__()\n"
        + "        self.register_buffer('points', torch.arange(n, device=device))\n",
    )
    assert {line: str(each.confidence) for line, each in found.items()} == {5: "possible"}
    assert "device=device" in found[5].why[0]
