"""Text nodes of somebody else's put together as documents."""

from __future__ import annotations

from datetime import UTC
from typing import Any

import pytest
from neo4j.spatial import WGS84Point
from neo4j.time import Date, DateTime, Duration, Time
from operations import outcome

from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import InputError
from e2g_neo4j.indexing.adopting import node_properties, text_nodes
from e2g_neo4j.indexing.adopting.text_nodes import TextNodes
from e2g_neo4j.indexing.chunking import chunk_ids, whole_nodes
from e2g_neo4j.types.documents import ADOPTED, CHUNKER, cut_by
from e2g_neo4j.types.properties import check_names
from e2g_neo4j.types.reports import Adoption


def node(
    id: str, key: Any, text: Any, *, order: Any = None, document: str | None = None, **properties: Any
) -> dict[str, Any]:
    found = {"node": id, "key": key, "order": order, "document": document, "title": None, "text": text}
    return {**found, "properties": properties}


def read(rows: list[dict[str, Any]], documents: dict[str, dict[str, Any]] | None = None, **options: Any) -> TextNodes:
    """What is made of these nodes, given page by page, and of the properties of the nodes of their documents."""
    operation = text_nodes.read("c", Adoption("Chunk", **options))

    def reply(request: Any) -> list[dict[str, Any]]:
        asked = request.parameters
        match request.statement:
            case "adopt/nodes":
                later = (row for row in rows if row["node"] > asked["after"])
                return sorted(later, key=lambda row: row["node"])[: asked["limit"]]
            case "adopt/known":
                return [{"nodes": len(rows), "properties": ["id", "text"], "types": [], "labels": ["Chunk"]}]
            case "adopt/properties":
                known = (documents or {}) | {row["node"]: row["properties"] for row in rows}
                names = asked["names"]
                return [{"node": id, "values": [known[id].get(name) for name in names]} for id in asked["nodes"][::-1]]
        return [
            {**row, "text": row["text"] if isinstance(row["text"], str) else "", "names": ["text"]}
            for row in rows
            if row["node"] in asked["nodes"]
        ]

    found: TextNodes = outcome(operation, reply)
    return found


def test_a_document_is_its_texts_in_order_and_knows_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_nodes, "PAGE", 2)
    monkeypatch.setattr(text_nodes, "TEXTS", 2)
    rows = [
        node("n3", "c", "Third. 😀 ", order=10, document="d1"),
        node("n1", "b", " First.", order=2, document="d1"),
        node("n4", "a", "Elsewhere.", order=1, document="d2"),
        node("n2", "a", "Second.", order=3.5, document="d1"),
        node("n5", "e", "Last.", order=None, document="d1"),
    ]
    first, second = read(rows, order="index", document="file").documents
    assert first.text == " First.\n\nSecond.\n\nThird. 😀 \n\nLast."
    texts = [(cut.stands_for.node, first.text[cut.start : cut.end]) for cut in first.cuts]
    assert texts == [("n1", " First."), ("n2", "Second."), ("n3", "Third. 😀 "), ("n5", "Last.")]
    assert (first.title, first.source, second.title, second.text) == ("d1", "Chunk: d1", "d2", "Elsewhere.")
    assert first.id != second.id


def test_without_an_order_keys_sort_numbers_as_numbers() -> None:
    [document] = read(
        [node("n1", 10, "Ten."), node("n2", 9, "Nine."), node("n3", "x", "X."), node("n4", "a", "A.")]
    ).documents
    assert document.text == "Nine.\n\nTen.\n\nA.\n\nX."
    assert document.title == "Chunk"


def test_what_lacks_something_is_counted_and_left_alone() -> None:
    rows = [
        node("n1", "a", "Text.", document="d"),
        *(node(f"n2{n}", f"b{n}", text, document="d") for n, text in enumerate([None, "", " \n", "\u200b", 7, ["x"]])),
        *(node(f"n3{n}", key, "Text.", document="d") for n, key in enumerate([None, "", True, 1.5, ["x"]])),
        node("n4", "c", "Text."),
    ]
    found = read(rows, document="file")
    assert (found.nodes, dict(found.without)) == (1, {"text": 6, "key": 5, "document": 1})


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [node("n1", "a", " ")],
        [node("n1", "a", "One."), node("n2", "a", "Two.")],
        [node("n1", 1, "One."), node("n2", "1", "Two.")],
        [node("n1", "a", "a" * 1_000_001)],
    ],
    ids=["nothing", "no text", "one key twice", "one key twice as text", "too long"],
)
def test_what_cannot_be_adopted_is_refused(rows: list[dict[str, Any]]) -> None:
    with pytest.raises(InputError, match=r"[nN]othing was changed"):
        read(rows)


def test_a_key_is_that_of_its_document() -> None:
    rows = [node("n1", 0, "One.", document="d1"), node("n2", 0, "Two.", document="d2")]
    assert read(rows, document="file").nodes == 2


def test_a_chunk_is_a_node_and_keeps_its_id_as_long_as_key_and_text_stay() -> None:
    def tokens(text: str) -> list[tuple[int, int]]:
        return [(place, place + 1) for place, sign in enumerate(text) if sign.isalpha()]

    before, after = (
        read([node("n1", 1, "One."), node("n2", 2, text), node(new, 3, "Three.")]).documents[0]
        for text, new in (("Two.", "n3"), ("Second.", "n9"))
    )
    chunks = whole_nodes(before, tokens)
    assert [one.text for one in chunks] == ["One.", "Two.", "Three."]
    assert [one.tokens for one in chunks] == [3, 3, 5]
    assert [before.text[slice(*one.own)] for one in chunks] == [one.text for one in chunks]
    assert [one.id for one in chunks] == chunk_ids(before)
    assert before.sha256 != after.sha256
    assert [a == b for a, b in zip(chunk_ids(before), chunk_ids(after), strict=True)] == [True, False, True]
    assert (cut_by(before), cut_by(from_text("Text.", corpus="c", source="x"))) == (ADOPTED, CHUNKER)


def test_the_properties_of_a_document_are_those_of_its_text_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_properties, "NODES", 2)
    rows = [
        node("n1", 1, "One.", document="d1", author="Stoker", year=1897, page=2, tags=["sea", "ice"], own=1),
        node("n2", 2, "Two.", document="d1", author="Stoker", page=1, tags=["sea", "ice"]),
        node("n3", 3, "Three.", document="d1", page=1.5, tags="coal"),
        node("n4", 4, " ", document="d1", author="nobody"),
        node("n5", 1, "Other.", document="d2", year="1818"),
    ]
    names = ("author", "year", "page", "tags")
    found = read(rows, document="file", properties=names)
    assert [one.properties for one in found.documents] == [
        {"author": "Stoker", "page": (1.0, 1.5, 2.0), "tags": ("coal", "ice", "sea"), "year": 1897},
        {"year": "1818"},
    ]
    assert found.several_values == {"page": 1, "tags": 1}
    assert [one.properties for one in read(rows, document="file").documents] == [{}, {}]
    [alone] = read(rows[:2], properties=("tags",)).documents
    assert alone.properties == {"tags": ("sea", "ice")}, "as the nodes have it"


def test_the_properties_of_a_document_are_those_of_its_node() -> None:
    rows = [
        node("n1", 1, "One.", document="4:d:1", year=1),
        node("n2", 2, "Two.", document="4:d:1", year=2),
        node("n3", 1, "Three.", document="4:d:2", year=3),
    ]
    found = read(rows, {"4:d:1": {"year": 1897}, "4:d:2": {}}, part_of="PART_OF", properties=("year",))
    assert [one.properties for one in found.documents] == [{"year": 1897}, {}]
    assert not found.several_values


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Date(1908, 2, 1), "1908-02-01"),
        (DateTime(1908, 2, 1, 10, 30), "1908-02-01T10:30:00"),
        (DateTime(1908, 2, 1, 10, 30, 0, 5_000_000, tzinfo=UTC), "1908-02-01T10:30:00.005000000+00:00"),
        (Time(10, 30), "10:30:00"),
        (Duration(days=2), "P2D"),
        ([Date(1908, 2, 1), Date(1909, 2, 1)], ("1908-02-01", "1909-02-01")),
        ([1, 2.5], (1.0, 2.5)),
        ([], ()),
        (True, True),
    ],
)
def test_values_become_those_of_documents(value: Any, expected: Any) -> None:
    [document] = read([node("n1", 1, "One.", value=value)], properties=("value",)).documents
    assert repr(dict(document.properties or {})) == repr({"value": expected})


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ([WGS84Point((8.0, 49.0))], "The property 'value' of the node n0 of the document 'Chunk' .*type WGS84Point"),
        ([[WGS84Point((8.0, 49.0))]], "node n0 .*type WGS84Point"),
        ([1, b"bytes"], "node n1 .*type bytes"),
        ([[0.5] * 1536], "node n0 .*has 1536 values; the maximum is 1000"),
        (["x" * 10_001], "node n0 .*more than 10000 characters"),
        ([float("nan")], "node n0 .*nan"),
        (["1897", 1897], "'value' of the text nodes of the document 'Chunk' has values of several types"),
        ([[str(number)] for number in range(1001)], "text nodes of the document 'Chunk' has 1001 values"),
        ([None], "No node labelled Chunk has a property 'value'"),
    ],
)
def test_a_value_that_a_document_cannot_have_is_refused(values: list[Any], told: str) -> None:
    rows = [node(f"n{number}", number, "Text.", value=value) for number, value in enumerate(values)]
    with pytest.raises(InputError, match=f"{told}.*Nothing was changed"):
        read(rows, properties=("value",))


def test_a_property_that_no_node_of_a_document_has_is_refused() -> None:
    rows = [node("n1", 1, "One.", document="4:d:1", year=1, author="Stoker")]
    with pytest.raises(InputError, match=r"No node at the end of PART_OF has a property 'author'"):
        read(rows, {"4:d:1": {"year": 1}}, part_of="PART_OF", properties=("year", "author"))


@pytest.mark.parametrize("names", ["author", 7, [""], ["a\0"], ["x" * 101], [7], [str(n) for n in range(101)]])
def test_names_of_properties_are_checked(names: Any) -> None:
    with pytest.raises(InputError):
        check_names(names)
    assert check_names(["year", "author", "year"]) == ("year", "author")
