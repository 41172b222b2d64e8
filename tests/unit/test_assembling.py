"""Text nodes of somebody else's put together as documents."""

from __future__ import annotations

from typing import Any

import pytest

from e2g_neo4j.errors import InputError
from e2g_neo4j.indexing.chunking import chunk_ids, whole_nodes
from e2g_neo4j.indexing.sources import text_nodes
from e2g_neo4j.indexing.sources.files import from_text
from e2g_neo4j.runtime.requests import Read
from e2g_neo4j.types.documents import ADOPTED, CHUNKER, cut_by
from e2g_neo4j.types.reports import Adoption


def node(id: str, key: Any, text: Any, *, order: Any = None, document: str | None = None) -> dict[str, Any]:
    return {"node": id, "key": key, "order": order, "document": document, "title": None, "text": text}


def read(rows: list[dict[str, Any]], **options: Any) -> text_nodes.TextNodes:
    """What is made of these nodes, given page by page."""
    operation = text_nodes.read("c", Adoption("Chunk", **options))
    reply: Any = None
    while True:
        try:
            request = operation.send(reply)
        except StopIteration as end:
            found: text_nodes.TextNodes = end.value
            return found
        assert isinstance(request, Read)
        if request.statement == "adopt/nodes":
            later = sorted(
                (row for row in rows if row["node"] > request.parameters["after"]), key=lambda row: row["node"]
            )
            reply = later[: request.parameters["limit"]]
        else:
            reply = [row for row in rows if row["node"] in request.parameters["nodes"]]


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
