"""Our retrieval in LangChain and in neo4j-graphrag, and their retrievers on our index, all on a real server."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict
from typing import Any
from uuid import uuid4

import pytest
from at_server import set_variables
from graphs import Number, Vector, evidence
from langchain_core.documents import Document
from langchain_core.runnables import RunnablePassthrough
from langchain_neo4j import Neo4jVector
from langchain_tests.integration_tests import RetrieversIntegrationTests
from libraries import remove
from neo4j import Driver
from neo4j_graphrag.generation import GraphRAG
from neo4j_graphrag.llm import OllamaLLM
from neo4j_graphrag.llm.types import ToolCall, ToolCallResponse
from neo4j_graphrag.retrievers import (
    HybridCypherRetriever,
    HybridRetriever,
    ToolsRetriever,
    VectorCypherRetriever,
    VectorRetriever,
)
from pydantic import ValidationError
from real_ollama import RealOllama
from scripted_models import Says

from e2g_neo4j import E2G, AsyncE2G, Settings
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import ConfigurationError, NotFoundError, QueryError
from e2g_neo4j.integrations import langchain, neo4j_graphrag
from e2g_neo4j.integrations.passages import FULLTEXT_INDEX, VECTOR_INDEX, fulltext_query, retrieval_query
from e2g_neo4j.managed_neo4j import Connection

TEXTS = {
    "ann.txt": "Ann Harper met Bob Miller in Paris. Bob Miller had a letter from Carol Dean.",
    "bob.txt": "Bob Miller sailed to Lisbon. In Lisbon he sold the letter to Dora Finch.",
    "carol.txt": "Carol Dean wrote letters every day. Her clock was made in Geneva.",
    "dora.txt": "Dora Finch kept a shop by the harbour. She bought clocks, maps and letters.",
    "eve.txt": "Eve Stone painted the harbour of Lisbon. Nobody bought the picture.",
}
SECRET = "Ann Harper hid the letter of Zyxelia Quorn from Bob Miller."
QUESTION = "What did Bob Miller do with the letter of Ann Harper?"


@pytest.fixture(scope="module")
def asked(e2g: E2G, driver: Driver) -> Iterator[str]:
    """A corpus; another one has the same texts, and a secret besides."""
    name = f"integrations-{uuid4().hex[:8]}"
    for corpus, more in ((name, {}), (f"{name}-other", {"secret.txt": SECRET})):
        texts = TEXTS | more
        e2g.index([from_text(text, corpus=corpus, source=source) for source, text in texts.items()], corpus=corpus)
    yield name
    remove(driver, [name, f"{name}-other"])


@pytest.fixture
async def async_e2g(settings: Settings) -> AsyncIterator[AsyncE2G]:
    async with AsyncE2G(settings=settings) as e2g:
        yield e2g


@pytest.fixture
def at_the_server(neo4j_connection: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients that nobody gave anything find it in the environment."""
    set_variables(monkeypatch, neo4j_connection)


def assert_of_this_corpus(found: list[tuple[str, dict[str, Any]]], corpus: str) -> None:
    """Texts and what is said of them: exact slices of its documents, and nothing of the other corpus."""
    assert found
    for text, said in found:
        assert said["corpus"] == corpus
        assert TEXTS[said["source"]][said["start"] : said["end"]] == text
    assert "Zyxelia" not in json.dumps(found)


# --- LangChain ---------------------------------------------------------------------------------------


class TestLangChainsOwn(RetrieversIntegrationTests):
    """What LangChain asks of every retriever."""

    @pytest.fixture(autouse=True)
    def _lent(self, e2g: E2G, async_e2g: AsyncE2G, asked: str) -> None:
        self.lent = {"client": e2g, "async_client": async_e2g, "corpus": asked}

    @property
    def retriever_constructor(self) -> type[langchain.E2GRetriever]:
        return langchain.E2GRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return self.lent

    @property
    def retriever_query_example(self) -> str:
        return QUESTION


def said(documents: list[Document]) -> list[tuple[str, dict[str, Any]]]:
    return [(document.page_content, document.metadata) for document in documents]


def test_documents_are_the_passages_in_their_order(e2g: E2G, asked: str) -> None:
    expected = e2g.retrieve(QUESTION, corpus=asked, k=4)
    documents = langchain.E2GRetriever(client=e2g, corpus=asked, k=4).invoke(QUESTION)
    assert_of_this_corpus(said(documents), asked)
    assert [document.page_content for document in documents] == [passage.text for passage in expected.passages[:4]]
    assert len({document.id for document in documents}) == len(documents)
    first = documents[0].metadata
    assert (first["document"], first["source"], first["score"]) == (
        expected.passages[0].document,
        expected.passages[0].source,
        Number(expected.passages[0].score),
    )
    assert (first["route"], first["reason"], first["mode"]) == ("local", expected.reason, "auto")
    assert first["excerpt"] == asdict(expected.passages[0].shown)
    assert {("ann harper", "bob miller")} <= {
        (pair["a"], pair["b"]) for one in documents for pair in one.metadata["pairs"]
    }
    assert json.loads(json.dumps(first)) == first


def test_k_hops_and_mode_are_fields_and_arguments(e2g: E2G, asked: str) -> None:
    retriever = langchain.E2GRetriever(client=e2g, corpus=asked, k=1, hops=1, mode="dense")
    assert len(retriever.invoke(QUESTION)) == 1
    assert [one.metadata["mode"] for one in retriever.invoke(QUESTION)] == ["dense"]
    assert [one.metadata["mode"] for one in retriever.invoke(QUESTION, mode="fulltext", k=2)] == ["fulltext"] * 2
    assert len(langchain.E2GRetriever(client=e2g, corpus=asked).invoke(QUESTION)) == len(TEXTS), "all that there is"
    e2g_mode = retriever.invoke(QUESTION, mode="e2g", hops=3, k=5)
    constructed = langchain.E2GRetriever(client=e2g, corpus=asked, k=5, hops=3, mode="e2g")
    assert evidence(e2g_mode) == evidence(constructed.invoke(QUESTION))


async def test_awaited_it_finds_the_same(e2g: E2G, async_e2g: AsyncE2G, asked: str) -> None:
    retriever = langchain.E2GRetriever(client=e2g, async_client=async_e2g, corpus=asked, k=3)
    assert evidence(await retriever.ainvoke(QUESTION)) == evidence(retriever.invoke(QUESTION))
    assert len(await retriever.ainvoke(QUESTION, k=1, mode="tree", hops=2)) == 1


async def test_awaited_it_speaks_to_the_async_client_alone(async_e2g: AsyncE2G, e2g: E2G, asked: str) -> None:
    """Never to the other one in a thread; and what it was not given for, it says."""
    awaited = langchain.E2GRetriever(async_client=async_e2g, corpus=asked)
    assert await awaited.ainvoke(QUESTION)
    with pytest.raises(ConfigurationError, match="client=E2G"):
        awaited.invoke(QUESTION)
    with pytest.raises(ConfigurationError, match="async_client=AsyncE2G"):
        await langchain.E2GRetriever(client=e2g, corpus=asked).ainvoke(QUESTION)


def test_a_client_of_its_own_for_each_event_loop(at_the_server, asked: str) -> None:
    async def ask() -> list[Document]:
        try:
            both = evidence(await asyncio.gather(retriever.ainvoke(QUESTION), retriever.ainvoke(QUESTION)))
            assert both[0] == both[1]
            return both[0]
        finally:
            await retriever.aclose()

    retriever = langchain.E2GRetriever(corpus=asked, k=2)
    try:
        found = evidence(retriever.batch([QUESTION, QUESTION]))
    finally:
        retriever.close()
    assert found[0] == found[1] == asyncio.run(ask()) == asyncio.run(ask())
    retriever.close()  # nothing is left to be closed


def test_in_a_chain(e2g: E2G, asked: str) -> None:
    retriever = langchain.E2GRetriever(client=e2g, corpus=asked, k=2)
    chain: Any = {"context": retriever, "question": RunnablePassthrough()} | RunnablePassthrough()
    expected = {"context": retriever.invoke(QUESTION), "question": QUESTION}
    assert evidence(chain.invoke(QUESTION)) == evidence(expected)


def test_what_cannot_be_asked_is_an_error(e2g: E2G, asked: str) -> None:
    with pytest.raises(NotFoundError, match="holds no document"):
        langchain.E2GRetriever(client=e2g, corpus=f"{asked}-none").invoke(QUESTION)
    with pytest.raises(QueryError, match="k is 0"):
        langchain.E2GRetriever(client=e2g, corpus=asked).invoke(QUESTION, k=0)
    with pytest.raises(QueryError, match="empty"):
        langchain.E2GRetriever(client=e2g, corpus=asked).invoke(" ")
    for wrong in ({"k": 0}, {"hops": 7}, {"mode": "best"}, {"client": "bolt://localhost"}):
        with pytest.raises(ValidationError, match=next(iter(wrong))):
            langchain.E2GRetriever(**({"client": e2g, "corpus": asked} | wrong))
    with pytest.raises(TypeError, match="top_k"):
        langchain.E2GRetriever(client=e2g, corpus=asked).invoke(QUESTION, top_k=3)


def test_several_corpora(e2g: E2G, asked: str) -> None:
    both = [asked, f"{asked}-other"]
    documents = langchain.E2GRetriever(client=e2g, corpora=both, k=10).invoke(QUESTION)
    assert {document.metadata["corpus"] for document in documents} == set(both)
    assert len({document.id for document in documents}) == len(documents)
    found = neo4j_graphrag.E2GRetriever(client=e2g, corpora=both, k=10).search(QUESTION)
    assert [item.metadata["id"] for item in found.items if item.metadata] == [document.id for document in documents]
    assert found.metadata
    assert found.metadata["corpora"] == both
    both_ways: list[dict[str, Any]] = [{}, {"corpus": asked, "corpora": both}]
    for names in both_ways:
        for retriever in (langchain.E2GRetriever, neo4j_graphrag.E2GRetriever):
            with pytest.raises(QueryError, match="Name one corpus"):
                retriever(client=e2g, **names)


# --- neo4j-graphrag ----------------------------------------------------------------------------------


def test_items_are_the_passages_with_their_pairs(e2g: E2G, driver: Driver, asked: str) -> None:
    expected = e2g.retrieve(QUESTION, corpus=asked, k=3)
    found = neo4j_graphrag.E2GRetriever(client=e2g, corpus=asked, k=3).search(QUESTION)
    assert [item.content for item in found.items] == [passage.to_labelled_text() for passage in expected.passages[:3]]
    assert "ann harper - bob miller" in found.items[0].content.split(": ")[0]
    texts = [
        TEXTS[one.metadata["source"]][one.metadata["start"] : one.metadata["end"]]
        for one in found.items
        if one.metadata
    ]
    assert texts == [passage.text for passage in expected.passages[:3]]
    assert found.metadata
    assert (found.metadata["route"], found.metadata["reason"]) == ("local", expected.reason)
    assert found.metadata["__retriever"] == "E2GRetriever"
    assert json.loads(json.dumps(found.metadata)) == found.metadata
    assert len(neo4j_graphrag.E2GRetriever(client=e2g, corpus=asked).search(query_text=QUESTION, top_k=1).items) == 1


def test_a_driver_or_a_client_or_its_own(e2g: E2G, driver: Driver, at_the_server, asked: str) -> None:
    found = neo4j_graphrag.E2GRetriever(client=e2g, corpus=asked, k=2, mode="dense").search(QUESTION)
    for retriever in (
        neo4j_graphrag.E2GRetriever(driver, corpus=asked, k=2, mode="dense"),
        neo4j_graphrag.E2GRetriever(corpus=asked, k=2, mode="dense"),
    ):
        assert evidence(retriever.search(QUESTION)) == evidence(found)
        retriever.close()
    driver.verify_connectivity()
    neo4j_graphrag.E2GRetriever(client=e2g, corpus=asked).close()
    assert e2g.corpora(), "what is borrowed stays open"
    with pytest.raises(ConfigurationError, match="not both"):
        neo4j_graphrag.E2GRetriever(driver, client=e2g, corpus=asked)
    with pytest.raises(NotFoundError):
        neo4j_graphrag.E2GRetriever(client=e2g, corpus=f"{asked}-none").search(QUESTION)


def test_their_graphrag_answers_from_it(e2g: E2G, asked: str, ollama_server: RealOllama) -> None:
    ollama_server.create("graphrag-teller", Says("He sold it."))
    llm = OllamaLLM("graphrag-teller", host=ollama_server.host)
    retriever = neo4j_graphrag.E2GRetriever(client=e2g, corpus=asked)
    found = GraphRAG(retriever, llm).search(QUESTION, retriever_config={"top_k": 2}, return_context=True)
    assert found.answer == "He sold it."
    assert evidence(found.retriever_result) == evidence(retriever.search(QUESTION, top_k=2))


class Caller:
    """In place of a language model that calls tools: calls each with what its schema asks for."""

    def __init__(self, **arguments: Any) -> None:
        self._arguments = arguments
        self.schemas: dict[str, dict[str, Any]] = {}

    def invoke_with_tools(self, input: str, tools: Any, **others: Any) -> ToolCallResponse:
        self.schemas = {tool.get_name(): tool.get_parameters() for tool in tools}
        calls = [ToolCall(name=name, arguments={"query_text": input} | self._arguments) for name in self.schemas]
        return ToolCallResponse(tool_calls=calls)


def test_their_tools_are_made_of_it(e2g: E2G, driver: Driver, asked: str) -> None:
    tools = [
        neo4j_graphrag.E2GRetriever(client=e2g, corpus=corpus).convert_to_tool(
            name, f"Asks about {name}.", {"query_text": "The question."}
        )
        for name, corpus in (("travels", asked), ("secrets", f"{asked}-other"))
    ]
    llm: Any = Caller(top_k=2)
    found = ToolsRetriever(driver, llm, tools).search(QUESTION)
    schema = llm.schemas["travels"]
    assert schema["properties"] == {
        "query_text": {"type": "string", "description": "The question."},
        "top_k": {"type": "integer", "description": "Parameter top_k", "minimum": 1},
    }
    assert schema["required"] == ["query_text"]
    assert schema["additionalProperties"] is False
    assert [item.metadata["tool"] for item in found.items if item.metadata] == ["travels"] * 2 + ["secrets"] * 2
    assert [item.metadata["corpus"] for item in found.items if item.metadata] == [asked] * 2 + [f"{asked}-other"] * 2
    unasked: Any = Caller(top_k=None)
    assert len(ToolsRetriever(driver, unasked, tools[:1]).search(QUESTION).items) == len(TEXTS)


WITHOUT = """
import sys
sys.modules["neo4j_graphrag"] = None
try:
    import e2g_neo4j.integrations.neo4j_graphrag
except Exception as error:
    print(type(error).__name__, error)
import e2g_neo4j.integrations.langchain
"""


def test_without_the_package_the_error_names_the_extra() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(
        "ConfigurationError The retriever for neo4j-graphrag needs neo4j_graphrag, which is not installed"
    )
    assert "[neo4j-graphrag]" in done.stdout


# --- their retrievers on our index -------------------------------------------------------------------


@pytest.fixture(scope="module")
def embedder(settings: Settings) -> neo4j_graphrag.E2GEmbedder:
    return neo4j_graphrag.E2GEmbedder(settings)


def items(found: Any) -> list[tuple[str, dict[str, Any]]]:
    return [(item.content, item.metadata) for item in found.items]


def test_embedders_give_the_vectors_of_the_index(e2g: E2G, driver: Driver, embedder, settings, asked: str) -> None:
    rows = driver.execute_query(
        "MATCH (c:Chunk {corpus: $c}) RETURN c.text AS text, c.embedding AS v ORDER BY c.id", c=asked
    ).records
    embeddings = langchain.E2GEmbeddings(settings)
    vectors = embeddings.embed_documents([row["text"] for row in rows])
    for row, vector in zip(rows, vectors, strict=True):
        assert vector == pytest.approx(row["v"], abs=1e-5)
    text = "Who met Bob Miller?"
    [expected] = embeddings.embed_documents([f"Represent this sentence for searching relevant passages: {text}"])
    assert embeddings.embed_query(text) == pytest.approx(expected, abs=1e-5)
    assert embedder.embed_query(text) == pytest.approx(expected, abs=1e-5)
    assert asyncio.run(embedder.async_embed_query(text)) == Vector(embedder.embed_query(text))


def test_vector_retriever(driver: Driver, embedder, asked: str) -> None:
    """It returns whole nodes; the corpus is a filter."""
    retriever = VectorRetriever(driver, VECTOR_INDEX, embedder, return_properties=["text", "corpus", "document"])
    found = retriever.search(query_text=QUESTION, top_k=3, filters={"corpus": asked})
    assert len(found.items) == 3
    assert all(asked in item.content and f"{asked}-other" not in item.content for item in found.items)


def test_vector_cypher_retriever(driver: Driver, embedder, asked: str) -> None:
    retriever = VectorCypherRetriever(
        driver, VECTOR_INDEX, retrieval_query(), embedder, result_formatter=neo4j_graphrag.format_record
    )
    found = items(retriever.search(query_text=QUESTION, top_k=400, query_params={"corpus": asked, "limit": 3}))
    assert len(found) == 3
    assert_of_this_corpus(found, asked)
    scores = [said["score"] for _, said in found]
    assert scores == sorted(scores, reverse=True)
    assert "Bob Miller" in found[0][1]["entities"]
    every = items(retriever.search(query_text=QUESTION, top_k=400, query_params={"corpus": asked, "limit": 40}))
    assert_of_this_corpus(every, asked)
    assert evidence(every[:3]) == evidence(found)


def test_hybrid_cypher_retriever(driver: Driver, embedder, asked: str) -> None:
    """The wall is in the end of the statement, and for words in the query of the full-text index too."""
    retriever = HybridCypherRetriever(
        driver, VECTOR_INDEX, FULLTEXT_INDEX, retrieval_query(), embedder, result_formatter=neo4j_graphrag.format_record
    )
    for question in (QUESTION, "Who painted? (Lisbon: the harbour)"):
        found = items(
            retriever.search(
                query_text=fulltext_query(question, asked),
                query_vector=embedder.embed_query(question),
                top_k=40,
                query_params={"corpus": asked, "limit": 5},
            )
        )
        assert_of_this_corpus(found, asked)
        assert found[0][1]["score"] == pytest.approx(1.0), "the best by words or by vector"
    assert found[0][1]["source"] == "eve.txt"


def test_hybrid_retriever(driver: Driver, embedder, asked: str) -> None:
    """It has no place for a corpus: for a database with a single one."""
    retriever = HybridRetriever(driver, VECTOR_INDEX, FULLTEXT_INDEX, embedder, return_properties=["text", "corpus"])
    found = retriever.search(
        query_text=fulltext_query("painted the harbour of Lisbon", asked),
        query_vector=embedder.embed_query("painted the harbour of Lisbon"),
        top_k=40,
    )
    assert any(TEXTS["eve.txt"] in item.content and asked in item.content for item in found.items)


@pytest.fixture
def store(settings: Settings):
    def make(**options: Any) -> Neo4jVector:
        assert settings.neo4j_password
        return Neo4jVector.from_existing_index(
            langchain.E2GEmbeddings(settings),
            VECTOR_INDEX,
            url=settings.neo4j_uri,
            username=settings.neo4j_username,
            password=settings.neo4j_password.get_secret_value(),
            **options,
        )

    made: list[Neo4jVector] = []

    def kept(**options):
        made.append(make(**options))
        return made[-1]

    yield kept
    for one in made:
        one._driver.close()


def test_langchains_vector_store(store, asked: str) -> None:
    plain = store().similarity_search(QUESTION, k=3, filter={"corpus": asked})
    assert [one.metadata["corpus"] for one in plain] == [asked] * 3
    whole = store(retrieval_query=retrieval_query())
    retriever = whole.as_retriever(
        search_kwargs={"k": 3, "filter": {"corpus": asked}, "params": {"corpus": asked, "limit": 3}}
    )
    found = retriever.invoke(QUESTION)
    assert [one.page_content for one in found] == [one.page_content for one in plain]
    assert_of_this_corpus(said(found), asked)


def test_langchains_hybrid_vector_store(store, asked: str) -> None:
    hybrid = store(search_type="hybrid", keyword_index_name=FULLTEXT_INDEX, retrieval_query=retrieval_query())
    words = {"query_text": fulltext_query(QUESTION, asked), "corpus": asked, "limit": 5}
    found = hybrid.similarity_search(QUESTION, k=40, params=words)
    assert_of_this_corpus(said(found), asked)
    assert found[0].metadata["score"] == pytest.approx(1.0)


def test_none_in_a_call_leaves_what_the_retriever_has() -> None:
    retriever: Any = langchain.E2GRetriever(corpus="novels", k=7, mode="dense")
    found = retriever._options({"k": None, "mode": None, "hops": 2})
    assert (found.k, found.mode, found.hops) == (7, "dense", 2)
