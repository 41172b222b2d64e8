"""Other embedding models and a reranker on a real server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from libraries import clear, empty
from modes import MAY_FIND_NOTHING
from neo4j import Driver, GraphDatabase
from stated import state
from tiny_models import MARKERS, write_cross_encoder, write_embedder

from e2g_neo4j import E2G, AsyncE2G, Settings
from e2g_neo4j.errors import FingerprintError, ModelError
from e2g_neo4j.indexing.sources.files import from_text
from e2g_neo4j.integrations.langchain import E2GEmbeddings
from e2g_neo4j.integrations.neo4j_graphrag import E2GEmbedder
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.retrieval.strategies import MODES

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


@pytest.fixture(scope="module")
def database(scratch: Connection) -> Iterator[Driver]:
    auth = (scratch.username, scratch.password.get_secret_value())
    with GraphDatabase.driver(scratch.uri, auth=auth, notifications_min_severity="OFF") as driver:
        yield driver


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
    for mode in MODES:
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
    for mode in MODES:
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


# --- the reranker ------------------------------------------------------------------------------------

QUESTION = "What colour is the whale?"


def test_the_reranker_orders_the_passages_of_every_mode(opened: Open, prompted: str, cross_encoder: str) -> None:
    """The embedding leads astray here: the question's prefix is about the ship."""
    astray = {"embedding_model": prompted, "query_prefix": "the ship came late " * 9}
    plain = opened(**astray)
    index(plain)
    client = opened(**astray, reranker=cross_encoder)
    for mode in MODES:
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


def test_the_async_client_reranks_the_same(
    opened: Open, settings_of: Callable[..., Settings], prompted: str, cross_encoder: str
) -> None:
    client = opened(embedding_model=prompted, reranker=cross_encoder)
    index(client)

    async def ask() -> list[str]:
        async with AsyncE2G(settings=settings_of(embedding_model=prompted, reranker=cross_encoder)) as e2g:
            return [passage.source for passage in (await e2g.retrieve(QUESTION, corpus="c")).passages]

    assert asyncio.run(ask()) == sources(client, QUESTION)


def test_a_model_that_is_no_reranker_is_an_error_with_the_next_step(opened: Open, prompted: str) -> None:
    client = opened(embedding_model=prompted, reranker=prompted)
    index(client)
    with pytest.raises(ModelError, match=r"not a cross-encoder.*E2G_RERANKER"):
        client.retrieve(QUESTION, corpus="c")
