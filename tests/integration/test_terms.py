"""Words are counted by corpus, so that no other corpus moves a ranking. On servers of its own: the statistics are those
of the whole database."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from at_server import settings_of
from graphs import comparable
from libraries import driven, empty, performing, remove, write
from naive import NaiveChunk, NaiveDocument, NaiveSentence, NaiveWindow
from neo4j import Driver, GraphDatabase

import e2g_neo4j
from e2g_neo4j import E2G, SourceDocument
from e2g_neo4j.documents.files import from_text, read
from e2g_neo4j.documents.reading import Limits
from e2g_neo4j.graph.schema import migrate
from e2g_neo4j.graph.writer import delete
from e2g_neo4j.models.words import terms
from e2g_neo4j.retrieval import retrieve
from e2g_neo4j.retrieval.lucene import WordStatistics
from e2g_neo4j.runtime import database
from e2g_neo4j.runtime.requests import Read
from e2g_neo4j.types.ids import corpus_key

pytestmark = [pytest.mark.timeout(900), pytest.mark.full, pytest.mark.by_turns(3)]

LIBRARY = Path(e2g_neo4j.__file__).parent / "sample" / "library"
QUESTION = "Who made the chronometer that Luke Farran saved?"

STRANGE = (
    "Mary’s geology possibly cost $1,234.50 at 3:30. _Emphasis_ and O'Neill's co-operation in the U.S.A.: 1990s. "
    "Ponies, İstanbul, ΣΟΦΟΣ, cafe\u0301, soft\u00adhyphens. 漢字 ひら カタカナ. Us, as is; abilities & archaeology's "
    f"relational hopefulness {'x' * 600} agreed."
)


@pytest.fixture(scope="module", params=["scratch", "scratch_5_26"])
def client(request: pytest.FixtureRequest) -> Iterator[E2G]:
    connection = request.getfixturevalue(request.param)
    settings = settings_of(connection, chunk_tokens=200, chunk_overlap=20, workers=1)
    with E2G(settings=settings) as client:
        client.migrate()
        yield client


SERVERS = ["scratch", pytest.param("scratch_5_26", marks=pytest.mark.long)]
on_both = pytest.mark.parametrize("client", SERVERS, indirect=True)
"""For tests of what the servers count, which `test_a_word_is_counted_as_often_as_the_index_finds_it` compares."""


@pytest.fixture
def driver(client: E2G) -> Iterator[Driver]:
    settings = client.models.settings
    assert settings.neo4j_uri
    assert settings.neo4j_password
    auth = (settings.neo4j_username, settings.neo4j_password.get_secret_value())
    with GraphDatabase.driver(settings.neo4j_uri, auth=auth, notifications_min_severity="OFF") as driver:
        migrate(driver, "neo4j", embedding_dimensions=384)
        yield driver
        remove(driver, list(client.corpora()))


def sample(corpus: str, *, instead: tuple[str, str] = ("", "")) -> list[SourceDocument]:
    """The sample library, in which a word may stand instead of another."""
    found = [read(path, corpus, Limits(2**20)) for path in sorted(LIBRARY.iterdir())]
    return [from_text(one.text.replace(*instead), corpus=corpus, source=Path(one.source).name) for one in found]


def counted(driver: Driver, corpus: str) -> dict[str, int]:
    query = "MATCH (t:Term {corpus: $corpus}) RETURN t.term AS term, t.windows AS windows"
    return {row["term"]: row["windows"] for row in driver.execute_query(query, corpus=corpus).records}


def of_windows(id: str, *texts: str) -> NaiveDocument:
    """A document of one chunk with these windows."""
    text, vector = " ".join(texts), (1.0, *[0.0] * 7)
    starts = [len(" ".join([*texts[:number], ""])) for number in range(len(texts))]
    windows = tuple(NaiveWindow(at, at + len(one), vector) for at, one in zip(starts, texts, strict=True))
    chunk = NaiveChunk(f"{id}-c", 0, 0, len(text), vector, windows)
    return NaiveDocument(id, text, (NaiveSentence(0, len(text), ()),), (chunk,), ())


def statistics(driver: Driver, corpus: str, *asked: str) -> Any:
    [row] = database.read(driver, "neo4j", Read("query/corpus", {"corpus": corpus, "terms": list(asked)}))
    found = {one["term"]: (one["windows"], one["index_windows"]) for one in row["words"]["terms"]}
    return row["words"]["windows"], row["words"]["index_windows"], found


# --- what is counted ---------------------------------------------------------------------------------


def test_windows_are_counted_as_by_hand(driver: Driver) -> None:
    one, other = uuid4().hex, uuid4().hex
    first = of_windows("a", "The ships sail, ships of the sea.", "A ship's captain sailed.")
    write(driver, one, [first, of_windows("b", "Captains sail.")])
    assert counted(driver, one) == {"ship": 2, "sail": 3, "sea": 1, "captain": 2}
    write(driver, other, [of_windows("a", "A ship."), of_windows("c", "Ships and whales.")])
    assert statistics(driver, one, "ship", "sea", "whale", "none") == (3, 5, {"ship": (2, 4), "sea": (1, 1)})
    assert statistics(driver, other, "ship", "whale") == (2, 5, {"ship": (2, 4), "whale": (1, 1)})

    write(driver, one, [of_windows("a", "A whale.", "The ship.")])
    assert counted(driver, one) == {"ship": 1, "whale": 1, "captain": 1, "sail": 1}
    assert statistics(driver, one, "ship", "sea") == (3, 5, {"ship": (1, 3)})
    driven(performing(driver), delete(one, ["b"]))
    assert counted(driver, one) == {"ship": 1, "whale": 1}
    driven(performing(driver), delete(one, ["a"]))
    assert counted(driver, one) == {}
    assert statistics(driver, other, "ship") == (2, 2, {"ship": (2, 2)})


def test_a_word_is_counted_as_often_as_the_index_finds_it(client: E2G, driver: Driver) -> None:
    """So the terms are those of the server's own analyzer."""
    texts = [*(one.text for one in sample("library")), STRANGE]
    client.index([from_text(text, corpus="library", source=str(n)) for n, text in enumerate(texts)], corpus="library")
    words = sorted({word for text in texts for word in re.findall(r"[\w'’\u0301]+", text)})
    by_word = {word: list(terms(word)) for word in words}
    by_word = {word: found for word, found in by_word.items() if len(found) == 1}
    rows = driver.execute_query(
        "UNWIND $words AS word CALL (word) { "
        "CALL db.index.fulltext.queryNodes('e2g_window_words', '+corpus_key:' + $key + ' +text:\"' + word + '\"') "
        "YIELD node RETURN count(node) AS n } RETURN word, n",
        words=list(by_word),
        key=corpus_key("library"),
    ).records
    found = counted(driver, "library")
    assert {row["word"]: row["n"] for row in rows} == {word: found.get(term, 0) for word, [term] in by_word.items()}
    assert {"mari", "geologi", "1,234.50", "_emphasis_", "o'neil", "u.s.a", "σοφοσ", "漢", "x" * 255} <= found.keys()
    assert len(by_word) > 1500


@on_both
def test_changes_and_archives_leave_the_counts_of_a_fresh_index(client: E2G, driver: Driver, tmp_path: Path) -> None:
    client.index(sample("edited"), corpus="edited")
    before = comparable(driver, "edited")
    client.index(sample("edited", instead=("the", "a gull and the"))[:4], corpus="edited")
    assert comparable(driver, "edited") != before
    client.index(sample("edited")[:4], corpus="edited")
    client.delete([sample("edited")[5].source], corpus="edited")
    client.index([sample("edited")[5]], corpus="edited")
    name = client.merges(corpus="edited")[0].name
    client.split(name, corpus="edited")
    client.join(name, corpus="edited")
    assert comparable(driver, "edited") == before
    client.export_corpus(tmp_path / "one.zip", corpus="edited")
    client.import_corpus(tmp_path / "one.zip", corpus="imported")
    assert counted(driver, "imported") == counted(driver, "edited") != {}


# --- what it is good for -----------------------------------------------------------------------------


def scores(client: E2G, mode: Any, *corpora: str) -> dict[tuple[Any, ...], float]:
    found = client.retrieve(QUESTION, corpora=corpora, mode=mode, k=10).passages
    return {(one.corpus, one.source, one.start): one.score for one in found}


@on_both
def test_another_corpus_does_not_move_the_ranking(client: E2G, driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the others, whose texts are as long, a rare word of the question is frequent.

    The index is a new one: Lucene counts what was deleted until it rewrites its files."""
    modes = ("fulltext", "auto", "hybrid")
    empty(driver)
    client.index(sample("mine"), corpus="mine")
    alone = {mode: scores(client, mode, "mine") for mode in modes}
    for number in range(2):
        client.index(sample(f"other {number}", instead=(" he ", " chronometer ")), corpus=f"other {number}")
    for mode in modes:
        beside = scores(client, mode, "mine")
        assert list(beside) == list(alone[mode]), mode
        assert beside == pytest.approx(alone[mode], rel=0.01), mode
    monkeypatch.setattr(retrieve, "word_statistics", lambda rows: WordStatistics(0, 0, {}))
    moved = scores(client, "fulltext", "mine")
    assert moved != pytest.approx(alone["fulltext"], rel=0.1), "as it was without the statistics"


@on_both
def test_corpora_that_are_asked_together_are_ranked_as_one(client: E2G, driver: Driver) -> None:
    """As if the database had no others: the statistics are those of both."""
    empty(driver)
    client.index(sample("mine")[:6], corpus="mine")
    client.index(sample("yours")[6:], corpus="yours")
    alone = scores(client, "fulltext", "mine", "yours")
    for number in range(2):
        client.index(sample(f"other {number}", instead=(" he ", " chronometer ")), corpus=f"other {number}")
    assert scores(client, "fulltext", "mine", "yours") == pytest.approx(alone, rel=0.01)


@on_both
def test_german_words_are_found_by_the_stems_of_their_language(client: E2G, driver: Driver, tmp_path: Path) -> None:
    """Beside an English corpus, whose index has other stems, and from an archive."""
    texts = {"houses": "Die Häuser am Hafen sind leer.", "fish": "Die Fischer loben das Licht."}
    documents = [from_text(text, corpus="german", source=name) for name, text in texts.items()]
    client.index(documents, corpus="german", language="de")
    client.index([from_text("The Hauses are empty.", corpus="mine", source="mine")], corpus="mine", language="en")
    client.export_corpus(tmp_path / "german.zip", corpus="german")
    client.import_corpus(tmp_path / "german.zip", corpus="imported")
    for corpus in ("german", "imported"):
        for question, expected in {
            "Haus": ["houses"],
            "des Hauses": ["houses"],
            "leeres Fischen": ["fish", "houses"],
        }.items():
            found = client.retrieve(question, corpora=[corpus], mode="fulltext").passages
            assert sorted(one.source for one in found) == expected, question
        assert client.retrieve("das und die", corpora=[corpus], mode="fulltext").passages == ()
    assert [one.source for one in client.retrieve("Hauses", corpora=["mine"], mode="fulltext").passages] == ["mine"]
