"""The vectors of sentences, with the real model: `enrich` makes them, and updates keep them up to date."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from at_server import set_variables, settings_of
from graphs import snapshot
from libraries import remove
from neo4j import Driver

from e2g_neo4j import E2G, LayerReport, Settings
from e2g_neo4j.cli.setup import LIBRARY
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import InputError, QueryError
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.models.embedding.base import dequantise
from e2g_neo4j.models.entities.extraction_codec import decode, own_sentences_before_list
from e2g_neo4j.retrieval.strategies import linear

pytestmark = [pytest.mark.full, pytest.mark.by_turns(2)]

QUESTION = "Who really made the chronometer that Luke Farran saved?"
FORGET = "MATCH (c:Chunk {corpus: $corpus}) WHERE c.id IS NOT NULL AND c.index % $of = 0 REMOVE c.sentence_vectors"


@pytest.fixture(scope="module")
def settings(neo4j_connection: Connection) -> Settings:
    return settings_of(neo4j_connection, chunk_tokens=200, chunk_overlap=40)


@pytest.fixture
def library(e2g: E2G, driver: Driver, corpus: str) -> Iterator[str]:
    """With the vectors of sentences."""
    e2g.index([LIBRARY], corpus=corpus)
    e2g.enrich(corpus=corpus, layers=["sentences"])
    yield corpus
    remove(driver, [corpus])


def test_every_own_sentence_has_the_vector_of_its_text(e2g: E2G, driver: Driver, library: str) -> None:
    rows = driver.execute_query(
        "MATCH (c:Chunk {corpus: $corpus}) RETURN c.text AS text, c.own AS own, c.notes AS notes, "
        "c.sentence_vectors AS vectors, COLLECT { MATCH (c)<-[m:FROM_CHUNK]-() RETURN m.sentences } AS mentions",
        corpus=library,
    ).records
    assert len(rows) > 20
    texts, vectors = list[str](), list[np.ndarray]()
    for row in rows:
        sentences = decode(row["notes"]).sentences
        own = [sentences[at] for at in own_sentences_before_list(sentences, tuple(row["own"]))]
        found = dequantise(row["vectors"], e2g.models.embedder.dimensions)
        assert len(found) == len(own) > max(number for numbers in row["mentions"] for number in [-1, *numbers])
        texts += [row["text"][one.start : one.end] for one in own]
        vectors += list(found)
    long = [at for at, text in enumerate(texts) if len(text) > 60]
    alone = e2g.models.embedder.embed([texts[at] for at in long])
    cosines = np.stack([vectors[at] for at in long]) @ alone.T
    assert np.diag(cosines).min() > 0.99  # in one byte per dimension


def test_missing_vectors_are_made_as_if_indexed_now(e2g: E2G, driver: Driver, library: str) -> None:
    """Of all chunks, and of some, as after a run that was interrupted."""
    e2g.enrich(corpus=library)
    before = snapshot(driver, library)
    chunks = e2g.stats(corpus=library)["chunks"]
    shown: list[tuple[str, int, int | None]] = []
    for of in (1, 3):
        driver.execute_query(FORGET, corpus=library, of=of)
        with pytest.raises(QueryError, match=f"have no vectors.*e2g enrich --with sentences --corpus {library}"):
            e2g.retrieve(QUESTION, corpus=library, mode="linear")
        assert e2g.retrieve(QUESTION, corpus=library).passages, "other modes do not need them"
        made = e2g.enrich(corpus=library, progress=lambda *one: shown.append(one)).layers["sentences"].made
        assert (made == chunks) == (of == 1)
        assert 0 < made <= chunks
        assert snapshot(driver, library) == before
        assert e2g.retrieve(QUESTION, corpus=library, mode="linear").passages
    assert ("sentences", chunks, chunks) in shown
    assert e2g.enrich(corpus=library).layers["sentences"].made == 0


def test_one_layer_is_made_without_the_other(e2g: E2G, driver: Driver, library: str) -> None:
    """But clusters need the vectors of sentences, and make those that are missing."""
    chunks = e2g.stats(corpus=library)["chunks"]
    driver.execute_query(FORGET, corpus=library, of=1)
    report = e2g.enrich(corpus=library, layers=["entities"])
    assert list(report.layers) == ["entities"]
    assert report.layers["entities"].made > 0
    report = e2g.enrich(corpus=library, layers=["sentences"])
    assert report.layers == {"sentences": LayerReport(made=chunks)}
    assert e2g.stats(corpus=library)["communities"] == 0
    report = e2g.enrich(corpus=library, layers=["communities"])
    assert list(report.layers) == ["communities"]
    assert report.layers["communities"].total > 0
    driver.execute_query(FORGET, corpus=library, of=1)
    report = e2g.enrich(corpus=library, layers=["clusters"])
    assert list(report.layers) == ["sentences", "clusters"]
    assert report.layers["sentences"].made == chunks
    assert report.layers["clusters"].total > 0
    with pytest.raises(InputError, match="no layer 'topics': choose among sentences, communities"):
        e2g.enrich(corpus=library, layers=["topics"])  # type: ignore[list-item]
    with pytest.raises(InputError, match="No layer is named"):
        e2g.enrich(corpus=library, layers=[])


def test_the_command_names_layers_and_says_what_was_made(
    library: str, neo4j_connection: Connection, driver: Driver, monkeypatch: pytest.MonkeyPatch, run: Callable[..., Any]
) -> None:
    set_variables(monkeypatch, neo4j_connection, E2G_CHUNK_TOKENS="200", E2G_CHUNK_OVERLAP="40")

    def enrich(*options: str) -> tuple[int, str, str]:
        return run("enrich", "--corpus", library, *options)

    assert enrich("--with", "sentences")[:2] == (0, "All sentences had already been embedded.\n")
    driver.execute_query(FORGET, corpus=library, of=1)
    code, out, _ = enrich("--with", "sentences, communities")
    assert code == 0
    assert re.match(r"The sentences of \d\d chunks were embedded\.\nCorpus test-\w+ has \d+ communities", out)
    code, out, error = enrich("--with", "summaries")
    assert code != 0
    assert "There is no layer 'summaries'" in error


def test_a_corpus_has_no_vectors_of_sentences_until_they_are_asked_for(e2g: E2G, driver: Driver, corpus: str) -> None:
    """From then on, every change makes those of new chunks, and of chunks that other names make be written again."""
    text = "\n\n".join(
        f"Harper came to port {number} with a cargo of salt. Nobody asked him where it came from, or why. " * 9
        for number in range(12)
    )
    changed = f"{text}\n\nEleanor Harper, they said, and Eleanor Harper it was who signed the book."
    question = "Who came with a cargo of salt?"
    try:
        e2g.index([from_text(text, corpus=corpus, source="x")], corpus=corpus)
        stored = "MATCH (c:Chunk {corpus: $corpus}) WHERE c.id IS NOT NULL RETURN count(c.sentence_vectors) AS vectors"
        assert driver.execute_query(stored, corpus=corpus).records[0]["vectors"] == 0
        [hipporag] = [one for one in e2g.modes([corpus]) if one.name == "hipporag"]
        assert hipporag.available is False
        with pytest.raises(QueryError, match=f"no vectors of sentences.*e2g enrich --with sentences --corpus {corpus}"):
            e2g.retrieve(question, corpus=corpus, mode="hipporag")
        assert e2g.enrich(corpus=corpus, layers=["sentences"]).layers["sentences"].made > 0
        e2g.index([from_text(changed, corpus=corpus, source="x")], corpus=corpus)
        found = e2g.retrieve(question, corpus=corpus, mode="hipporag")
        assert found.passages
        assert "out of date" not in found.reason
        before = snapshot(driver, corpus)
        driver.execute_query(FORGET, corpus=corpus, of=1)
        e2g.enrich(corpus=corpus, layers=["sentences"])
        assert snapshot(driver, corpus) == before
    finally:
        remove(driver, [corpus])


def test_vectors_of_another_model_are_refused(
    e2g: E2G, settings: Settings, driver: Driver, library: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """They are made by the model of the corpus, whatever the settings name."""
    from tiny_models import write_embedder

    folder = tmp_path_factory.mktemp("other")
    other = settings.model_copy(update={"embedding_model": str(write_embedder(folder, ["sea", "ship"]))})
    with E2G(settings=other) as client:
        assert client.enrich(corpus=library).layers["sentences"].made == 0


def test_a_sentence_leads_where_a_window_does_not(e2g: E2G, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The entities that sentences activate are others than the question's."""
    seen: list[set[str]] = []
    activate = linear.activate

    def watched(*arguments: Any) -> Any:
        active, degrees = yield from activate(*arguments)
        seen.append({key for _, key in active})
        return active, degrees

    monkeypatch.setattr(linear, "activate", watched)
    found = e2g.retrieve(QUESTION, corpus=library, mode="linear")
    assert seen[0] > set(found.entities) - {"maker"}
    assert found.round_trips <= 7
    assert any("chronometer" in passage.text for passage in found.passages)
