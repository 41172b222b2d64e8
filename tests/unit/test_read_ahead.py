"""Chunks that are read in a thread, by the real models, while something else is done."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence

import pytest
from spacy.language import Language

from e2g_neo4j.indexing.reading import AHEAD, Found, ReadAhead, read_texts
from e2g_neo4j.models.embedding.base import Embedder
from e2g_neo4j.models.embedding.load import load_embedder
from e2g_neo4j.models.embedding.windows import embed_long
from e2g_neo4j.models.entities.pipeline import load_pipeline
from e2g_neo4j.types.documents import Chunk


@pytest.fixture(scope="module")
def nlp() -> Language:
    return load_pipeline()


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return load_embedder()


def found_in(these: Sequence[Chunk], nlp: Language, embedder: Embedder) -> Iterator[Found]:
    return read_texts(nlp, embedder, [(one.text, True) for one in these], 1)


def chunks(count: int) -> list[Chunk]:
    texts = [f"Jonathan Harker wrote letter {number} to Mina. She kept it." for number in range(count)]
    return [Chunk(f"c{i}", i, text, 0, len(text), tokens=12, own=(0, len(text))) for i, text in enumerate(texts)]


def test_every_chunk_is_taken_with_what_was_found_in_it(nlp: Language, embedder: Embedder) -> None:
    these, read = chunks(40), []
    with ReadAhead(these, found_in(these, nlp, embedder), lambda: read.append(1)) as reader:
        found = [reader.take(one) for one in these]
    for chunk, (extraction, embedded) in zip(these, found, strict=True):
        assert {"jonathan harker", "mina"} <= extraction.counts.keys()
        assert len(extraction.sentences) == len(embedded.part_vectors) == 2
        assert embedded.vector @ embed_long(embedder, [chunk.text])[0] > 0.9999
    assert len(read) == 40
    assert reader.seconds > 0


def test_what_nobody_takes_is_left_out(nlp: Language, embedder: Embedder) -> None:
    these = chunks(3 * AHEAD)
    with ReadAhead(these, found_in(these, nlp, embedder), lambda: None) as reader:
        for chunk in (these[5], these[6], these[2 * AHEAD], these[-1]):
            assert reader.take(chunk)[1].vector @ embed_long(embedder, [chunk.text])[0] > 0.9999


def test_no_more_is_read_ahead_than_is_said_and_the_thread_ends_with_the_block(
    nlp: Language, embedder: Embedder
) -> None:
    read: list[int] = []
    these = chunks(5 * AHEAD)
    with ReadAhead(these, found_in(these, nlp, embedder), lambda: read.append(1)) as reader:
        while len(read) <= AHEAD:  # one is held until there is room
            time.sleep(0.1)
        time.sleep(1)
        assert len(read) == AHEAD + 1
    assert not reader._thread.is_alive()


def test_what_the_models_or_the_progress_raise_is_raised_by_take(nlp: Language, embedder: Embedder) -> None:
    these = chunks(9)

    def stop() -> None:
        raise KeyboardInterrupt

    with ReadAhead(these, found_in(these, nlp, embedder), stop) as reader, pytest.raises(KeyboardInterrupt):
        reader.take(these[0])

    class Broken:
        def __getattr__(self, name: str) -> object:
            return getattr(embedder, name)

        def embed_parts(self, texts: Sequence[str], parts: Sequence[object]) -> object:
            raise MemoryError("no more")

    with (
        ReadAhead(these, found_in(these, nlp, Broken()), lambda: None) as reader,  # type: ignore[arg-type]
        pytest.raises(MemoryError, match="no more"),
    ):
        reader.take(these[0])


def test_nothing_to_read_starts_no_thread(nlp: Language, embedder: Embedder) -> None:
    before = threading.active_count()
    with ReadAhead([], found_in([], nlp, embedder), lambda: None):
        assert threading.active_count() == before
