"""Properties of documents and conditions on them: what is accepted, and what is refused with which message."""

from __future__ import annotations

import math
import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from operations import outcome

from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import CorpusNotFoundError, InputError, QueryError
from e2g_neo4j.retrieval import filters
from e2g_neo4j.retrieval.filters import COMPARED, find_documents
from e2g_neo4j.retrieval.options import RetrievalOptions
from e2g_neo4j.retrieval.where import MAX_CONDITION, Condition, conditions, parse_condition
from e2g_neo4j.types.properties import from_stored, parse_property, same, to_stored

YEAR = Condition("year", ">=", (1890,))


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"year": 1890}, [("year", "=", (1890,))]),
        ({"author": ["a", "b"], "open": True}, [("author", "=", ("a", "b")), ("open", "=", (True,))]),
        ({"year": {">=": 1890, "<": 1900.5}}, [("year", ">=", (1890,)), ("year", "<", (1900.5,))]),
        (["year>=1890"], [YEAR]),
        (["year >= 1890", "year>=1890"], [YEAR]),
        (['author="Bram Stoker"'], [("author", "=", ("Bram Stoker",))]),
        (["author=Bram Stoker"], [("author", "=", ("Bram Stoker",))]),
        (["author==007"], [("author", "=", ("007",))]),
        (['tags=["a", 1]'], [("tags", "=", ("a", 1))]),
        (["open=true", "x=null", "y=NaN"], [("open", "=", (True,)), ("x", "=", ("null",)), ("y", "=", ("NaN",))]),
        (["a.b<=x<y"], [("a.b", "<=", ("x<y",))]),
        ([["year", ">=", 1890], YEAR], [YEAR]),
        ((), []),
    ],
    ids=str,
)
def test_conditions_are_written_in_these_ways(where: Any, expected: list[Any]) -> None:
    found = RetrievalOptions.of({"where": where})
    assert list(found.where) == expected
    assert [tuple(map(type, condition.values)) for condition in found.where] == [
        tuple(map(type, values)) for _, _, values in expected
    ]
    assert RetrievalOptions.of(found.keywords()) == found
    sent: Any = found.model_dump(mode="json", exclude_defaults=True)
    assert RetrievalOptions.of(sent) == found, "as the service gets it"
    assert isinstance(hash(found.where), int)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("year>=1890", "must be conditions by name"),
        (3, "must be conditions by name"),
        (["year"], "no condition"),
        (["=3"], "no condition"),
        ([3], "no condition"),
        (["year!=3"], "no operator '!='"),
        (["year=>3"], "no valid operator"),
        (["year<>3"], "no valid operator"),
        (["year===3"], "no valid operator"),
        (["year>!3"], "no valid operator"),
        ({"year": {"$gt": 3}}, "no operator '\\$gt'"),
        ({"year": {}}, "is empty"),
        ({"year": []}, "empty list"),
        ({"year": {"<": [1, 2]}}, "one number or text"),
        ({"open": {"<": True}}, "one number or text"),
        ({"year": None}, "type NoneType"),
        ({"year": math.nan}, "number nan"),
        ({"year": 2**63}, "64 bits"),
        ({"": 1}, "cannot be the name"),
        ({3: 1}, "cannot be the name"),
        ({"n" * 101: 1}, "more than 100 characters"),
        ({"a": "x" * 10_001}, "more than 10000 characters"),
        ({"a": "\ud800"}, "surrogate"),
        ({"a": list(range(1001))}, "1001 values"),
        ([f"a{number}=1" for number in range(51)], "more than 50 conditions"),
        ({"a": {"<": 1}, **{f"a{number}": 1 for number in range(50)}}, "more than 50 conditions"),
        (["a=" + "x" * MAX_CONDITION], f"the maximum is {MAX_CONDITION}"),
        (["x" * MAX_CONDITION], "no condition"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_other_conditions_are_refused(where: Any, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        RetrievalOptions.of({"where": where})


def test_messages_do_not_repeat_long_values() -> None:
    for where in (["x" * MAX_CONDITION], ["a=>" + "x" * 999], [["x" * 99_999]], [["a", "x" * 99_999, 1]]):
        with pytest.raises(QueryError) as refused:
            RetrievalOptions.of({"where": where})
        assert len(str(refused.value)) < 500


@given(st.text(alphabet="a \t<=>!", max_size=12))
def test_the_first_operator_after_a_name_counts(text: str) -> None:
    expected = re.fullmatch(r"(.+?)\s*(<=|>=|==?|<|>)\s*(.*)", text.strip(), re.DOTALL)
    if expected is None or expected[1].endswith("!") or expected[3].startswith(("<", ">", "=", "!")):
        with pytest.raises(InputError):
            parse_condition(text)
    else:
        assert parse_condition(text) == (expected[1], expected[2].replace("==", "="), (expected[3],))


def test_the_time_to_read_a_condition_grows_with_its_length_only() -> None:
    def seconds(length: int) -> float:
        began = time.process_time()
        for text in ("x" + " " * length + "y", "a=" + " " * length, " " * length, "a" + "<" * length, "[" * length):
            with pytest.raises(QueryError):
                RetrievalOptions.of({"where": [text, "x"]})
        return max(time.process_time() - began, 0.02)

    assert seconds(16_000) < 8 * seconds(4_000)


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ([], "type list"),
        ({"": 1}, "cannot be the name"),
        ({"a\0": 1}, "cannot be the name"),
        ({"a": None}, "type NoneType"),
        ({"a": {"b": 1}}, "type dict"),
        ({"a": b"x"}, "type bytes"),
        ({"a": [1, "x"]}, "several types"),
        ({"a": [True, 1]}, "several types"),
        ({"a": [[1]]}, "type list"),
        ({"a": math.inf}, "number inf"),
        ({str(number): 1 for number in range(101)}, "101 properties"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_invalid_properties_are_refused(properties: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        from_text("A text.", corpus="c", source="s", properties=properties)


def test_properties_are_checked_and_cannot_change() -> None:
    given: Any = {"year": 1897, "tags": ["b", "a"], "sizes": [1, 2.5], "none": []}
    document = from_text("A text.", corpus="c", source="s", properties=given)
    given["year"] = 1
    assert document.properties == {"none": (), "sizes": (1.0, 2.5), "tags": ("b", "a"), "year": 1897}
    with pytest.raises(TypeError):
        document.properties["year"] = 1  # type: ignore[index]
    assert isinstance(hash(document), int)
    node = {**to_stored(document.properties), "title": "A title"}
    assert node["meta_tags"] == ["b", "a"]
    assert from_stored(node) == document.properties
    assert same(from_stored(node), document.properties)
    assert not same({"a": 1}, {"a": True})
    assert not same({"a": 1}, {"a": 1.0})
    assert from_text("A text.", corpus="c", source="s").properties is None


def test_a_property_on_the_command_line_is_json_or_text() -> None:
    given = ['author="Bram Stoker"', "year=1897", "title = a = b", 'tags=["x"]', "empty="]
    assert dict(map(parse_property, given)) == {
        "author": "Bram Stoker",
        "year": 1897,
        "title": "a = b",
        "tags": ["x"],
        "empty": "",
    }
    for wrong in ("author", "=x"):
        with pytest.raises(InputError, match="write NAME=VALUE"):
            parse_property(wrong)


def row(**more: Any) -> dict[str, Any]:
    return {"documents": ["a", "b"], "of": 5, "windows": 100, "index_windows": 10 * COMPARED, **more}


def found(*replies: list[dict[str, Any]]) -> filters.Filter:
    left = iter(replies)
    result: filters.Filter = outcome(find_documents([YEAR], ["novels"]), lambda request: next(left))
    return result


def test_few_windows_are_compared_and_many_found_by_the_index() -> None:
    assert found([row()]).by_corpus["novels"].overfetch == 0
    assert found([row(windows=COMPARED)]).by_corpus["novels"].overfetch == 0
    assert found([row(windows=COMPARED + 1)]).by_corpus["novels"].overfetch == 20
    assert found([row()]).reason == "year >= 1890 leaves 2 of 5 documents."


def test_a_filter_that_leaves_nothing_tells_unknown_names() -> None:
    nothing = row(documents=[], windows=0)
    with pytest.raises(QueryError, match=r"property 'year'\. They have: author\."):
        found([nothing], [{"property": "meta_author"}])
    with pytest.raises(QueryError, match="They have none"):
        found([nothing], [])
    assert found([nothing], [{"property": "meta_year"}]).reason == "year >= 1890 leaves 0 of 5 documents."
    with pytest.raises(CorpusNotFoundError):
        found([row(of=0, documents=[])])


def test_conditions_are_one_immutable_value() -> None:
    assert conditions({"year": {">=": 1890}}) == (YEAR,)
    assert str(Condition("author", "=", ("a", "b"))) == 'author = "a" or "b"'
    assert str(Condition("n", "=", tuple(range(9)))) == "n = 0 or 1 or 2 or 3 or 4 or 4 other values"
    assert len(str(Condition("n", "=", ("x" * 1000,)))) < 100
