"""Other embedding models and a reranker on a real server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
from graphs import comparable, evidence, snapshot
from libraries import clear, empty
from modes import MAY_FIND_NOTHING
from neo4j import Driver
from stated import state
from tiers import few_of
from tiny_models import MARKERS, write_cross_encoder, write_embedder

from e2g_neo4j import E2G, Settings
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import CorpusChangedError, FingerprintError, ModelError
from e2g_neo4j.indexing import reindexing
from e2g_neo4j.integrations.langchain import E2GEmbeddings
from e2g_neo4j.integrations.neo4j_graphrag import E2GEmbedder
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.retrieval.strategies import STRATEGIES
from e2g_neo4j.runtime.requests import Request, Write

pytestmark = pytest.mark.by_turns(3)

TEXTS = {
    "whale.txt": "The whale is blue. Ann Harper saw the whale.",
    "fish.txt": "The red fish swims in the cold sea. Bob Miller caught the fish.",
    "form.txt": "A query is a form. Ann Harper wrote a query to Bob Miller.",
    "ship.txt": "The ship came late. Ann Harper and Bob Miller were in the ship.",
}
WORDS = [*" ".join(TEXTS.values()).replace(".", "").split(), "what", "colour", "which"]
LONG = " ".join(f"The whale is blue. The red fish swims in the cold sea. The ship {i} came late." for i in range(55))
"""1145 tokens, which are one chunk."""

DIMENSIONS = 64  # of the models that `write_embedder` writes

Open = Callable[..., E2G]


@pytest.fixture
def settings_of(scratch: Connection) -> Callable[..., Settings]:
    def made(**settings: Any) -> Settings:
        server: dict[str, Any] = {
            "neo4j_uri": scratch.uri,
            "neo4j_username": scratch.username,
            "neo4j_password": scratch.password,
            "workers": 1,
        }
        return Settings(**(server | settings))

    return made


@pytest.fixture
def opened(database: Driver, settings_of: Callable[..., Settings]) -> Iterator[Open]:
    """Opens clients, the first of them in a database without data, whose indexes are for the models written here."""
    clear(database, DIMENSIONS)
    with ExitStack() as clients:
        yield lambda **settings: clients.enter_context(E2G(settings=settings_of(**settings)))


@pytest.fixture(scope="module")
def prompted(tmp_path_factory: pytest.TempPathFactory) -> str:
    prompts = {"query": "query: ", "document": "passage: "}
    folder = tmp_path_factory.mktemp("prompted")
    return str(write_embedder(folder, WORDS, prompts=prompts, max_tokens=1024))


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_cross_encoder(tmp_path_factory.mktemp("cross-encoder"), WORDS))


def index(client: E2G, texts: dict[str, str] = TEXTS) -> None:
    client.index([from_text(text, corpus="c", source=source) for source, text in texts.items()], corpus="c")
    client.enrich(corpus="c")
    state(client, "c")


def stored(database: Driver) -> dict[str, np.ndarray]:
    """The vectors of windows, chunks and summaries."""
    rows = database.execute_query(
        "UNWIND ['Window', 'Chunk', 'Summary'] AS kind MATCH (n:$(kind)) "
        "RETURN kind, collect(toFloatList(n.embedding)) AS vectors"
    ).records
    return {row["kind"]: np.array(row["vectors"]) for row in rows}


def sources(client: E2G, question: str, **options: Any) -> list[str]:
    return [passage.source for passage in client.retrieve(question, corpus="c", **options).passages]


# --- prefixes ----------------------------------------------------------------------------------------


def test_passages_and_questions_have_their_prefixes_in_the_database(
    opened: Open, database: Driver, prompted: str
) -> None:
    client = opened(embedding_model=prompted, chunk_tokens=40, chunk_overlap=4, group_size=2, summary_tokens=32)
    index(client, {"long.txt": LONG[:2000]})
    found = stored(database)
    assert set(found) == {"Window", "Chunk", "Summary"}
    query, passage = MARKERS.index("query"), MARKERS.index("passage")
    for kind, vectors in found.items():
        assert vectors[:, passage].min() > 0.01, kind
        assert np.abs(vectors[:, query]).max() < 0.005, kind


def test_the_prefix_of_a_question_decides_what_is_found(opened: Open, prompted: str) -> None:
    """A prefix that is about queries leads to the text about them: so it was embedded with the question."""
    index(opened(embedding_model=prompted, query_prefix=""))
    for mode in ("dense", "auto", "tree"):
        question = "Which blue?"
        assert sources(opened(embedding_model=prompted, query_prefix=""), question, mode=mode, k=1)[0] == "whale.txt"
        other = opened(embedding_model=prompted, query_prefix="a query is a form " * 5)
        assert sources(other, question, mode="dense", k=1)[0] == "form.txt"


def test_a_corpus_keeps_its_passage_prefix(opened: Open, database: Driver, prompted: str) -> None:
    index(opened(embedding_model=prompted, passage_prefix=""))
    client = opened(embedding_model=prompted)
    index(client, {"new.txt": "A ship."})
    assert sources(client, "Which ship?", k=2)
    assert np.abs(stored(database)["Window"][:, MARKERS.index("passage")]).max() < 0.005


def test_integrations_embed_questions_and_passages(
    opened: Open, settings_of: Callable[..., Settings], prompted: str
) -> None:
    settings = settings_of(embedding_model=prompted)
    query, passage = MARKERS.index("query"), MARKERS.index("passage")
    embeddings = E2GEmbeddings(settings)
    assert embeddings.embed_query("the whale")[query] > 0.1
    assert embeddings.embed_documents(["the whale"])[0][passage] > 0.1
    assert E2GEmbedder(settings).embed_query("the whale") == pytest.approx(embeddings.embed_query("the whale"))


# --- windows and dimensions --------------------------------------------------------------------------


@pytest.mark.parametrize(("configured", "windows"), [(256, 5), (600, 2), (2000, 2)])
def test_chunks_have_windows_of_the_configured_size(
    opened: Open, database: Driver, prompted: str, configured: int, windows: int
) -> None:
    """The model accepts 1024 tokens."""
    index(opened(embedding_model=prompted, window_tokens=configured), {"long.txt": LONG})
    rows = database.execute_query(
        "MATCH (w:Window)-[:PART_OF]->(c:Chunk) WITH c, count(w) AS windows RETURN max(windows) AS most"
    ).records
    assert rows[0]["most"] == windows


def test_a_truncated_model_has_an_index_of_that_length(opened: Open, database: Driver, prompted: str) -> None:
    empty(database)
    client = opened(embedding_model=prompted, embedding_dimensions=32)
    index(client)
    [[lengths]] = database.execute_query(
        "SHOW VECTOR INDEXES YIELD name, options WHERE name STARTS WITH 'e2g_' "
        "RETURN collect(DISTINCT options.indexConfig['vector.dimensions']) AS lengths"
    ).records
    assert lengths == [32] != [DIMENSIONS]
    assert all(vectors.shape[1] == 32 for vectors in stored(database).values())
    assert all(np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-4) for vectors in stored(database).values())
    assert sources(client, "Which red fish?", mode="dense", k=1) == ["fish.txt"]
    assert sources(opened(embedding_model=prompted), "Which red fish?", mode="dense", k=1) == ["fish.txt"]


# --- several models in one database -------------------------------------------------------------------


@pytest.fixture(scope="module")
def another(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model whose vectors have half as many dimensions."""
    return str(write_embedder(tmp_path_factory.mktemp("another"), WORDS, dimensions=DIMENSIONS // 2))


def indexed_with(client: E2G, corpus: str, texts: dict[str, str] = TEXTS) -> None:
    documents = [from_text(text, corpus=corpus, source=source) for source, text in texts.items()]
    client.index(documents, corpus=corpus, properties={"kind": "tale"})
    client.enrich(corpus=corpus)
    state(client, corpus)


def test_corpora_of_different_models_live_side_by_side(
    opened: Open, database: Driver, prompted: str, another: str, tmp_path: Path
) -> None:
    """Every client asks every corpus with the models of the corpus, in all modes, and finds the same."""
    first, second = opened(embedding_model=prompted), opened(embedding_model=another)
    indexed_with(first, "first")
    indexed_with(second, "second")
    made_with = {row["corpus"]: row for row in fingerprints(database)}
    assert made_with["first"]["vectors"] == ""
    suffix = made_with["second"]["vectors"]
    assert made_with["second"]["dimensions"] == DIMENSIONS // 2
    [[lengths]] = database.execute_query(
        "SHOW VECTOR INDEXES YIELD name, options WHERE name STARTS WITH 'e2g_' "
        "RETURN collect(DISTINCT [name ENDS WITH $suffix, options.indexConfig['vector.dimensions']])",
        suffix=suffix,
    ).records
    assert sorted(lengths) == [[False, DIMENSIONS], [True, DIMENSIONS // 2]]
    question = "Which red fish did Bob Miller catch?"
    for mode in few_of([*STRATEGIES], 10):
        for corpus in ("first", "second"):
            found = [client.retrieve(question, corpus=corpus, mode=mode) for client in (first, second)]
            assert [one.passages for one in found[:1]] == [one.passages for one in found[1:]], (mode, corpus)
            assert {passage.source for passage in found[0].passages} <= TEXTS.keys()
    filtered = first.retrieve(question, corpus="second", mode="dense", where={"kind": "tale"}, k=1)
    assert [passage.source for passage in filtered.passages] == ["fish.txt"]
    # changes of a corpus use its own models, whoever makes them
    first.index([from_text("The whale is red.", corpus="second", source="red.txt")], corpus="second")
    assert first.retrieve("Which whale is red?", corpus="second", mode="dense", k=1).passages[0].source == "red.txt"
    vectors = database.execute_query(
        f"MATCH (w:Window {{corpus: 'second'}}) RETURN w.embedding IS NULL AS none, size(w.embedding{suffix}) AS size"
    ).records
    assert {tuple(row) for row in vectors} == {(True, DIMENSIONS // 2)}
    # an archive has the models of its corpus
    second.export_corpus(tmp_path / "second.zip", corpus="second")
    second.import_corpus(tmp_path / "second.zip", corpus="third")
    assert sources_in(first, "third", "Which whale is red?") == sources_in(first, "second", "Which whale is red?")
    with pytest.raises(FingerprintError, match=r"This archive was made with the embedding model .*E2G_EMBEDDING_MODEL"):
        first.import_corpus(tmp_path / "second.zip", corpus="fourth")
    # a corpus that has become empty takes the models of the settings
    first.delete(corpus="second")
    assert "second" not in {row["corpus"] for row in fingerprints(database)}
    indexed_with(first, "second", {"ship.txt": TEXTS["ship.txt"]})
    suffixes = {row["corpus"]: row["vectors"] for row in fingerprints(database)}
    assert suffixes == {"first": "", "second": "", "third": suffix}
    assert sources_in(second, "second", "Which ship?") == ["ship.txt"], "it remembers other models of this corpus"


def test_a_question_to_corpora_of_different_models_takes_from_each(opened: Open, prompted: str, another: str) -> None:
    first, second = opened(embedding_model=prompted), opened(embedding_model=another)
    index(first)
    indexed_with(second, "second", {"red.txt": "The red fish is late. Ann Harper saw the red fish."})
    for mode in few_of([*STRATEGIES], 10):
        found = first.retrieve("Which red fish did Bob Miller catch?", corpora=["c", "second"], mode=mode, k=2)
        found_in = {passage.source for passage in found.passages}
        assert "red.txt" in found_in or mode in MAY_FIND_NOTHING, mode
        assert found_in & TEXTS.keys() or mode in MAY_FIND_NOTHING, mode
        assert "2 sets of models" in found.reason
        assert found.corpora == ("c", "second")


def sources_in(client: E2G, corpus: str, question: str) -> list[str]:
    return [passage.source for passage in client.retrieve(question, corpus=corpus, mode="dense").passages]


def fingerprints(database: Driver) -> list[dict[str, Any]]:
    rows = database.execute_query("MATCH (i:E2GIndex) WHERE i.corpus IS NOT NULL RETURN properties(i)").records
    return [row[0] for row in rows]


# --- reindexing ----------------------------------------------------------------------------------------

FISH = "Which red fish did Bob Miller catch?"


class Killed(BaseException):
    """Ends a call as a signal would."""


class Before:
    """An observer that calls a function once, before a write with some statement is sent, or before the n-th write."""

    def __init__(self, which: str | int, call: Callable[[], object]) -> None:
        self.which, self.call, self.writes, self.called = which, call, 0, False

    def on_request(self, request: Request) -> None:
        if isinstance(request, Write):
            self.writes += 1
            if not self.called and self.which in (self.writes, *(name for name, _ in request.statements)):
                self.called = True
                self.call()

    def on_result(self, request: Request, result: Any) -> None:
        pass


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No question is on its way: the former vectors are removed at once."""
    monkeypatch.setattr(reindexing, "SETTLE_SECONDS", 0.0)


def suffix_of(database: Driver, corpus: str) -> str:
    return next(row["vectors"] for row in fingerprints(database) if row["corpus"] == corpus)


def vectors_of(database: Driver, corpus: str) -> dict[str, set[str]]:
    """The properties with vectors that the nodes of a corpus have, by label. A node without one has none of them."""
    rows = database.execute_query(
        "MATCH (n:Window|Chunk|Summary|Entity|Community|Cluster|Statement {corpus: $corpus}) "
        "UNWIND [name IN keys(n) WHERE name STARTS WITH 'embed' OR name STARTS WITH 'sentence_vectors'] + "
        "CASE WHEN any(name IN keys(n) WHERE name STARTS WITH 'embed') THEN [] ELSE ['none'] END AS name "
        "RETURN labels(n)[0] AS label, collect(DISTINCT name) AS names",
        corpus=corpus,
    ).records
    return {row["label"]: set(row["names"]) for row in rows}


def found_in(client: E2G, corpus: str) -> dict[str, Any]:
    """What modes find that use the vectors of windows, sentences, names, reports and clusters."""
    modes = ("dense", "linear", "synonyms", "communities", "raptor")
    return {mode: evidence(client.retrieve(FISH, corpus=corpus, mode=mode).passages) for mode in modes}


def wrong(client: E2G) -> list[str]:
    """What `e2g doctor` finds that a reindexing could have left."""
    found = [one for one in client.doctor() if one.state == "problem" or one.check in ("models", "layers", "runs")]
    return [one.what for one in found if one.state != "ok"]


def index_texts(client: E2G, corpus: str, texts: dict[str, str]) -> None:
    client.index([from_text(text, corpus=corpus, source=source) for source, text in texts.items()], corpus=corpus)


def kill() -> None:
    raise Killed


def test_a_corpus_is_reindexed_while_it_answers(
    opened: Open, database: Driver, prompted: str, another: str, at_once: None
) -> None:
    """Killed anywhere, or asked at any step, it answers with the vectors before, until it has the new ones. In the end
    it is as one that the new model has indexed, and nothing else has changed."""
    first, second = opened(embedding_model=prompted), opened(embedding_model=another)
    indexed_with(first, "other")
    indexed_with(first, "mine")
    other, mine = snapshot(database, "other", exact=True), snapshot(database, "mine")
    before, stages = found_in(first, "mine"), set()

    def ask(stage: str, done: int, total: int) -> None:
        if suffix_of(database, "mine") == "":
            stages.add(stage)
            assert found_in(first, "mine") == before, stage

    points: list[str | int] = [*few_of(range(1, 7), 2), "reindex/switch"]
    for point in points:
        with second.runner.observe(Before(point, kill)), pytest.raises(Killed):
            second.reindex(corpus="mine", progress=ask)
        assert found_in(first, "mine") == before
        assert not [one for one in first.doctor() if one.state == "problem"]
    assert {"chunks", "summaries", "sentences", "entities"} == stages
    assert [what for what in wrong(first) if "e2g reindex" in what]
    with second.runner.observe(Before("reindex/remove_vectors", kill)), pytest.raises(Killed):
        second.reindex(corpus="mine", progress=ask)
    assert [what for what in wrong(first) if "e2g reindex" in what]
    report = second.reindex(corpus="mine")
    assert (report.before, report.embedding_model, report.vectors) == (another, another, 0)

    suffix = suffix_of(database, "mine")
    assert vectors_of(database, "mine") == {
        **{label: {f"embedding{suffix}"} for label in ("Window", "Community", "Cluster", "Statement")},
        "Chunk": {f"embedding{suffix}", f"sentence_vectors{suffix}"},
        "Entity": {f"embedding{suffix}", f"embedded_name{suffix}"},
    }
    assert first.stats("mine") == first.stats("other")
    assert wrong(first) == []
    reindexed, found = snapshot(database, "mine"), found_in(first, "mine")
    report = first.reindex(corpus="mine")
    assert (report.before, report.embedding_model) == (another, prompted)
    assert report.vectors > 20
    assert snapshot(database, "mine") == mine
    assert found_in(second, "mine") == before
    assert snapshot(database, "other", exact=True) == other
    first.delete(corpus="mine")
    indexed_with(second, "mine")
    assert suffix_of(database, "mine") == suffix
    assert snapshot(database, "mine") == reindexed
    assert found_in(first, "mine") == found
    second.reindex(corpus="other")
    index_texts(first, "other", {"red.txt": "The whale is red."})
    assert vectors_of(database, "other")["Window"] == {f"embedding{suffix}"}
    assert sources_in(first, "other", "Which whale is red?")[0] == "red.txt"


def test_what_others_change_meanwhile_has_the_new_vectors_too(
    opened: Open, database: Driver, prompted: str, another: str, at_once: None
) -> None:
    """A run that indexes documents is waited for: it publishes them with the model that it began with."""
    first, second = opened(embedding_model=prompted), opened(embedding_model=another)
    index_texts(first, "mine", {name: TEXTS[name] for name in ("whale.txt", "ship.txt")})
    waiting = Event()

    def call() -> None:
        second.reindex(corpus="mine", progress=lambda stage, *_: waiting.set() if stage == "waiting" else None)

    with ThreadPoolExecutor(1) as pool:
        running = []

        def reindex() -> None:
            running.append(pool.submit(call))
            assert waiting.wait(100)

        with first.runner.observe(Before("index/publish_documents", reindex)):
            index_texts(first, "mine", {"fish.txt": TEXTS["fish.txt"]})
        running[0].result()
    names = {f"embedding{suffix_of(database, 'mine')}"}
    assert vectors_of(database, "mine")["Window"] == names != {"embedding"}

    def change() -> None:
        index_texts(second, "mine", {"form.txt": TEXTS["form.txt"]})
        second.delete(["ship.txt"], corpus="mine")

    with first.runner.observe(Before("reindex/switch", change)):
        first.reindex(corpus="mine")
    assert vectors_of(database, "mine")["Window"] == {"embedding"}
    assert {*sources_in(first, "mine", FISH)} == TEXTS.keys() - {"ship.txt"}
    assert wrong(first) == []


def test_adopted_text_nodes_get_new_vectors(
    opened: Open, database: Driver, prompted: str, another: str, at_once: None
) -> None:
    """Their texts are in the nodes of the user alone, and only windows have vectors."""
    first, second = opened(embedding_model=prompted), opened(embedding_model=another)
    rows = [[name, f"\U0001f40b {text}"] for name, text in TEXTS.items()]
    database.execute_query("UNWIND $rows AS row CREATE (:Note {id: row[0], text: row[1]})", rows=rows)
    first.adopt(corpus="mine", label="Note", document="id")
    first.enrich(corpus="mine", layers=["sentences"])
    second.reindex(corpus="mine")
    suffix = suffix_of(database, "mine")
    assert vectors_of(database, "mine")["Window"] == {f"embedding{suffix}"} != {"embedding"}
    reindexed = snapshot(database, "mine")
    first.unadopt(corpus="mine")
    second.adopt(corpus="mine", label="Note", document="id")
    second.enrich(corpus="mine", layers=["sentences"])
    assert suffix_of(database, "mine") == suffix
    assert snapshot(database, "mine") == reindexed


def test_what_the_former_model_has_made_is_not_published(
    opened: Open, database: Driver, prompted: str, another: str, at_once: None
) -> None:
    """Neither a layer, nor the vectors of another reindexing."""
    first, second = opened(embedding_model=prompted), opened(embedding_model=another)
    third = opened(embedding_model=prompted, embedding_dimensions=DIMENSIONS // 4)
    index_texts(first, "mine", TEXTS)
    with (
        first.runner.observe(Before("communities/publish", lambda: second.reindex(corpus="mine"))),
        pytest.raises(CorpusChangedError),
    ):
        first.enrich(corpus="mine", layers=["communities"])
    assert "Community" not in vectors_of(database, "mine")
    with (
        third.runner.observe(Before("reindex/switch", lambda: first.reindex(corpus="mine"))),
        pytest.raises(FingerprintError, match=prompted),
    ):
        third.reindex(corpus="mine")
    assert vectors_of(database, "mine") == {"Window": {"embedding"}, "Chunk": {"embedding"}, "Entity": {"none"}}
    assert wrong(first) == []


def test_a_changed_document_gets_summaries_of_the_new_model(
    opened: Open, database: Driver, prompted: str, another: str, tmp_path: Path, at_once: None
) -> None:
    """Summaries stay, but the vectors of their sentences are of the former model: a change of the document makes them
    again. Until then, archives have none of them. Windows that do not fit the new model are told."""
    chunks: dict[str, Any] = {"chunk_tokens": 64, "chunk_overlap": 4, "group_size": 2, "summary_tokens": 32}
    first, second = opened(embedding_model=prompted, **chunks), opened(embedding_model=another, **chunks)
    index_texts(first, "mine", {"long.txt": LONG[:1500], "fish.txt": TEXTS["fish.txt"]})
    texts = "MATCH (s:Summary {corpus: 'mine'}) RETURN s.text AS text ORDER BY s.id"
    before = [row["text"] for row in database.execute_query(texts).records]
    report = second.reindex(corpus="mine")
    assert [row["text"] for row in database.execute_query(texts).records] == before
    assert report.long_windows == 0
    second.export_corpus(tmp_path / "mine.zip", corpus="mine")
    second.import_corpus(tmp_path / "mine.zip", corpus="copy")
    for corpus in ("mine", "copy", "fresh"):  # most summaries cover the same text as before
        index_texts(second, corpus, {"long.txt": f"{LONG[:1400]} The fish is red.", "fish.txt": TEXTS["fish.txt"]})
    for corpus in ("mine", "copy"):
        assert comparable(database, corpus) == comparable(database, "fresh"), corpus
    short = str(write_embedder(tmp_path, WORDS, dimensions=DIMENSIONS // 4, max_tokens=32))
    report = opened(embedding_model=short).reindex(corpus="mine")
    assert report.long_windows == first.stats("mine")["chunks"] - 1
    assert sources_in(first, "mine", FISH)[0] == "fish.txt"


# --- the reranker ------------------------------------------------------------------------------------

QUESTION = "What colour is the whale?"


def test_the_reranker_orders_the_passages_of_every_mode(opened: Open, prompted: str, cross_encoder: str) -> None:
    """The embedding leads astray here: the question's prefix is about the ship."""
    astray = {"embedding_model": prompted, "query_prefix": "the ship came late " * 9}
    plain = opened(**astray)
    index(plain)
    client = opened(**astray, reranker=cross_encoder)
    for mode in few_of([*STRATEGIES], 10):
        found = client.retrieve(QUESTION, corpus="c", mode=mode, k=4)
        assert found.passages[0].source == "whale.txt", mode
        scores = [passage.score for passage in found.passages]
        assert scores == sorted(scores, reverse=True), mode
        assert found.reason.endswith(f"The reranker {cross_encoder} has ordered the passages.")
        assert "reranker" not in plain.retrieve(QUESTION, corpus="c", mode=mode).reason
    assert sources(plain, QUESTION, mode="dense", k=4)[0] == "ship.txt"


def test_the_reranker_gets_more_candidates_than_are_returned(opened: Open, prompted: str, cross_encoder: str) -> None:
    astray = {"embedding_model": prompted, "query_prefix": "the ship came late " * 9}
    plain = opened(**astray)
    index(plain)
    for mode in ("dense", "tree"):  # in `auto`, words find it
        assert sources(plain, QUESTION, mode=mode, k=1) != ["whale.txt"], mode
        assert sources(opened(**astray, reranker=cross_encoder), QUESTION, mode=mode, k=1) == ["whale.txt"], mode


def test_a_model_that_is_no_reranker_is_an_error_with_the_next_step(opened: Open, prompted: str) -> None:
    client = opened(embedding_model=prompted, reranker=prompted)
    index(client)
    with pytest.raises(ModelError, match=r"not a cross-encoder.*E2G_RERANKER"):
        client.retrieve(QUESTION, corpus="c")
