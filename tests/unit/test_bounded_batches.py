"""What is read and written at once is bounded in bytes where documents have properties, of up to 64 KiB each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from operations import outcome, unexpected

from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import InputError
from e2g_neo4j.graph.rows import EmbeddedChunk, StoredDocument
from e2g_neo4j.graph.writer import PROPERTY_ROWS, Staging, claim
from e2g_neo4j.indexing import pipeline
from e2g_neo4j.indexing.run import DocumentDraft
from e2g_neo4j.runtime.batched import LARGEST_BATCH, split_batches
from e2g_neo4j.runtime.requests import Read
from e2g_neo4j.service.task_handlers import check_copies
from e2g_neo4j.types.documents import Chunk, SourceDocument
from e2g_neo4j.types.reports import IndexReport

PROPERTIES = {"note": "x" * 9_000}


def documents(number: int, properties: dict[str, Any] | None = PROPERTIES) -> list[SourceDocument]:
    return [from_text("A text.", corpus="c", source=str(n), properties=properties) for n in range(number)]


class Run:
    corpus = "c"

    def __init__(self) -> None:
        self.report = IndexReport("c")


def test_batches_are_bounded_by_number_and_bytes() -> None:
    assert [*split_batches("abcde", 2)] == [["a", "b"], ["c", "d"], ["e"]]
    half = LARGEST_BATCH // 2
    assert [*split_batches([half, half, 1, 2 * LARGEST_BATCH, 1], 3, int)] == [
        [half, half],
        [1],
        [2 * LARGEST_BATCH],
        [1],
    ]
    assert [*split_batches([], 3)] == []


def test_chunks_of_long_words_are_staged_in_batches_of_bounded_bytes() -> None:
    """A word of 256 characters is a token, so a chunk of 1,200 may have 300,000 characters."""
    vector = np.ones((1, 4), np.float32)
    chunks = [
        EmbeddedChunk("d", Chunk(str(n), n, "x" * 300_000, 0, 300_000, 1_200), b"", [(0, 300_000)], vector, vector[0])
        for n in range(80)
    ]
    sent = [write.statements[0][1]["rows"] for write in Staging("c", "run", ["d"]).chunks(chunks)]
    assert [len(rows) for rows in sent] == [27, 27, 26]


def test_documents_are_claimed_some_at_a_time() -> None:
    sent = [len(write.statements[0][1]["rows"]) for write in claim("c", "run", documents(450))]
    assert sent == [PROPERTY_ROWS, PROPERTY_ROWS, 50]


def test_properties_are_compared_and_replaced_some_at_a_time() -> None:
    lengths: list[int] = []

    def reply(request: Any) -> Any:
        if isinstance(request, Read):
            lengths.append(len(request.parameters["ids"]))
            return [{"id": id, "properties": {"meta_note": "old"}} for id in request.parameters["ids"]]
        lengths.append(len(request.statements[0][1]["rows"]))
        return [{"open": True}]

    run: Any = Run()
    outcome(pipeline._set_properties(documents(450), [], run, False), reply)
    assert lengths == [PROPERTY_ROWS, PROPERTY_ROWS, PROPERTY_ROWS, PROPERTY_ROWS, 50, 50]
    assert run.report.properties_replaced == 450


def test_only_documents_without_properties_take_those_of_an_interrupted_run() -> None:
    without = documents(450, None)

    def reply(request: Read) -> Any:
        ids = request.parameters["ids"]
        assert len(ids) <= PROPERTY_ROWS
        return [
            {"id": id, "properties": {"claimed_properties": '{"year": 1}'} if id == without[0].id else {}} for id in ids
        ]

    found = outcome(pipeline._with_claimed_properties(without, "c"), reply)
    assert [one.properties for one in found] == [{"year": 1}, *[None] * 449]
    assert outcome(pipeline._with_claimed_properties(given := documents(3), "c"), unexpected) == given


def test_documents_without_new_chunks_are_not_all_published_at_once() -> None:
    """As after a change of all titles."""
    chunk = Chunk("a", 0, "A text.", 0, 7, 3)
    drafts = [DocumentDraft(n, one, [chunk], StoredDocument({"a": {}}), "") for n, one in enumerate(documents(600))]
    assert [len(batch) for batch in pipeline._group_drafts(drafts)] == [256, 256, 88]


def test_properties_of_a_form_are_not_copied_to_more_than_an_upload_may_have() -> None:
    check_copies(PROPERTIES, 10_000, 100)
    check_copies(None, 10**9, 100)
    with pytest.raises(InputError, match="20000 documents would get them; the maximum is 100 MiB"):
        check_copies(PROPERTIES, 20_000, 100)
