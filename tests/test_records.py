"""What `records` makes is what `dataclasses` would have made, without its import."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle

import pytest

import torchlint
from torchlint.catalogue import Entry
from torchlint.config import Config
from torchlint.discover import Notice, Target
from torchlint.model import Applicability, Confidence, Edit, FileResult, Finding, Fix, FixResult, Settings, Trouble
from torchlint.notebook.module import Notebook
from torchlint.options import Options
from torchlint.records import record, replace
from torchlint.runner import Outcome
from torchlint.source import Source

EDIT = Edit(1, 2, "x")
FIX = Fix("Repair", (EDIT,), Applicability.SAFE)
FINDING = Finding("TNS101", "numpy-on-grad-tensor", 1, 2, "a message", Confidence.LIKELY, ("one",), FIX)
SOURCE = Source("a.py", b"x = 1\n", "x = 1\n")
RESULT = FileResult("a.py", SOURCE, (FINDING,))
RECORDS = (
    EDIT,
    FIX,
    FINDING,
    SOURCE,
    RESULT,
    Settings(strict=True),
    Trouble("a.py", "gone"),
    FixResult(b"", (FINDING,), RESULT),
    Options(strict=False),
    Config(unsafe_fixes=True),
    Entry("TNS1", "some-rule"),
    Notice("a", "b"),
    Target("a.py", "/a.py", Config()),
    Outcome(RESULT),
)
"""One of every kind that leaves its module."""


def twin(kind: type) -> type:
    """Make the class anew, as `dataclasses` makes it."""
    fields = [(each.name, each.type, dataclasses.field(default=each.default)) for each in dataclasses.fields(kind)]
    return dataclasses.make_dataclass(kind.__name__, fields, frozen=True, slots=hasattr(kind, "__slots__"))


@pytest.mark.parametrize("one", RECORDS, ids=lambda one: type(one).__name__)
def test_a_record_is_what_dataclasses_make(one: object) -> None:
    kind = type(one)
    values = {each.name: getattr(one, each.name) for each in dataclasses.fields(kind)}
    model = twin(kind)
    assert dataclasses.is_dataclass(kind)
    assert repr(one) == repr(model(**values))
    assert inspect.signature(kind).parameters.keys() == inspect.signature(model).parameters.keys()
    assert [each.default for each in inspect.signature(kind).parameters.values()] == [
        each.default for each in inspect.signature(model).parameters.values()
    ]
    assert kind.__match_args__ == model.__match_args__
    assert getattr(kind, "__slots__", None) == getattr(model, "__slots__", None)
    assert hasattr(one, "__dict__") is hasattr(model(**values), "__dict__")
    assert dataclasses.asdict(one) == dataclasses.asdict(model(**values))
    assert kind.__dataclass_params__.frozen


@pytest.mark.parametrize("one", RECORDS, ids=lambda one: type(one).__name__)
def test_a_record_travels_compares_and_stays_as_it_is(one: object) -> None:
    first = dataclasses.fields(type(one))[0].name
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(one, protocol)) == one
    assert copy.copy(one) == copy.deepcopy(one) == one
    assert hash(copy.copy(one)) == hash(one)
    for exchange in (replace, dataclasses.replace):
        other = exchange(one, **{first: "another"})
        assert other != one
        assert getattr(other, first) == "another"
        assert exchange(one) == one
    assert one != dataclasses.astuple(one)
    with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot assign to field '{first}'"):
        setattr(one, first, "another")
    with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot delete field '{first}'"):
        delattr(one, first)


def test_wrong_arguments_are_refused_by_name() -> None:
    with pytest.raises(TypeError, match=r"Edit\.__init__\(\) missing 1 required positional argument: 'text'"):
        Edit(1, 2)
    with pytest.raises(TypeError, match=r"Edit\.__init__\(\) got an unexpected keyword argument 'word'"):
        Edit(1, 2, word="")
    with pytest.raises(TypeError, match="unexpected keyword argument 'word'"):
        replace(EDIT, word="")


def test_a_dataclass_may_derive_from_a_record() -> None:
    names = [each.name for each in dataclasses.fields(Notebook)]
    assert names[: len(Source.__match_args__)] == list(Source.__match_args__)
    assert issubclass(Notebook, Source)


def test_records_of_one_value_are_records() -> None:
    @record(frozen=True, slots=True)
    class One:
        it: int = 3

    assert (One(), One(4), repr(One())) == (One(3), One(it=4), f"{One.__qualname__}(it=3)")
    assert len({One(), One(3), One(4)}) == 2


def test_the_public_names_are_dataclasses() -> None:
    assert {dataclasses.is_dataclass(getattr(torchlint, name)) for name in ("Finding", "Fix", "Edit")} == {True}
