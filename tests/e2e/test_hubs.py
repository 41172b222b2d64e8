"""What is much commoner or longer than anything else: it is indexed, found and deleted like the rest.

Nothing waits for ever: the server ends a read after 30 seconds, and each request has at most as many rows as a batch.
"""

from __future__ import annotations

import pytest
from libraries import documents_of, small_document, stage, text_of, write_with_sentences
from modes import GRAPH_MODES
from naive import NaiveChunk, NaiveDocument, NaiveWindow
from tiers import few_of

from e2g_neo4j.documents.files import from_text
from e2g_neo4j.graph.fingerprint import confirm_models
from e2g_neo4j.graph.writer import ROWS
from e2g_neo4j.models.entities.extraction_codec import MOST_ENTITIES

pytestmark = [pytest.mark.full, pytest.mark.by_turns(3)]

SENTENCES, TOWNS, CHUNKS = 15_000, 4_000, 150
SYLLABLES = ["ba", "do", "fe", "gi", "ku", "la", "mo", "ne", "pi", "ru", "sa", "to", "ve", "wi", "zu"]


def of_a_hub() -> NaiveDocument:
    """Every sentence names Ann Harper and one of some towns."""
    towns = [*(f"town {number}" for number in range(TOWNS - 1)), "london"]
    told = [["ann harper", towns[number % TOWNS]] for number in range(SENTENCES)]
    text, sentences = text_of(told, [" "] * SENTENCES)
    borders = [*(one.start for one in sentences[:: SENTENCES // CHUNKS]), len(text)]
    chunks = []
    for number in range(CHUNKS):
        start, end = borders[number : number + 2]
        vector = tuple(1.0 if place == number % 8 else 0.1 for place in range(8))
        chunks.append(NaiveChunk(f"hub-c{number}", number, start, end, vector, (NaiveWindow(start, end, vector),)))
    return NaiveDocument("hub", text, sentences, tuple(chunks), ())


def test_an_entity_in_15_000_sentences_is_indexed_found_and_deleted(client, driver, corpus):
    document = of_a_hub()
    for request in stage(corpus, "a run", documents_of(corpus, [document])):
        assert all(len(parameters.get("rows", ())) <= ROWS for _, parameters in request.statements)
    client.runner.run(confirm_models(client.models, corpus, ""))
    write_with_sentences(
        driver, corpus, [document, small_document("other", ["ann harper", "london"], ["london", "paris"])]
    )
    assert client.stats(corpus=corpus)["co_occurrences"] == TOWNS + 1
    [hub] = client.entities("ann harper", corpus=corpus)
    assert (hub.mentions, hub.chunks) == (SENTENCES + 1, CHUNKS + 1)
    for mode in few_of(sorted(GRAPH_MODES), 6):
        evidence = client.retrieve("What has Ann Harper to do with London?", corpus=corpus, mode=mode)
        assert {"ann harper", "london"} <= set(evidence.entities)
        if mode == "e2g_code":  # its terms depend on types, which are drawn here
            assert evidence.passages
            continue
        assert [(pair.a, pair.b, pair.hops) for pair in evidence.pairs] == [("ann harper", "london", 1)]
        assert any("ann harper" in passage.text for passage in evidence.passages)
    client.delete(["hub"], corpus=corpus)
    stats = client.stats(corpus=corpus)
    assert (stats["entities"], stats["co_occurrences"], stats["mentions"]) == (3, 2, 3)
    client.delete(corpus=corpus)


def test_a_sentence_of_10_000_words_is_indexed_and_found(client, corpus):
    names = [f"{a}{b}{c}".title() for a in SYLLABLES for b in SYLLABLES for c in SYLLABLES]
    words = [name for number, name in enumerate(names * 2) for name in (name, "and")][:10_000]
    text = f"Ann Harper met {' '.join(words)} in London."
    report = client.index([from_text(text, corpus=corpus, source="long", title="Long")], corpus=corpus)
    stats = client.stats(corpus=corpus)
    assert stats["mentions"] > 1000, "names are found in it"
    assert stats["co_occurrences"] <= stats["mentions"] * MOST_ENTITIES / 2
    assert report.chunks > 5
    evidence = client.retrieve("Whom did Ann Harper meet?", corpus=corpus)
    assert any("Ann Harper met" in passage.text for passage in evidence.passages)
    client.delete(corpus=corpus)
