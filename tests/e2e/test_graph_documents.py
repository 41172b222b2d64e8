"""Graph documents of LangChain and neo4j-graphrag, added to a corpus of real text by both clients."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from at_server import settings_of
from graphs import evidence, snapshot
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_neo4j.graphs.graph_document import GraphDocument, Node, Relationship
from langchain_text_splitters import RecursiveCharacterTextSplitter
from neo4j import Driver
from neo4j_graphrag.components.entity_relation_extractor import LLMEntityRelationExtractor
from neo4j_graphrag.components.types import TextChunk, TextChunks
from neo4j_graphrag.llm import LLMInterface, LLMResponse

from e2g_neo4j import E2G, AsyncE2G, Settings
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import NotFoundError
from e2g_neo4j.integrations.langchain import E2GRetriever
from e2g_neo4j.integrations.neo4j_graphrag import graph_documents
from e2g_neo4j.managed_neo4j import Connection

DAYS = [
    f"On day {day} of the voyage Luke Farran wrote in the log of the Averil. The wind was in the north and the mate, "
    f"Josiah Quill, counted {day + 3} sails. They spoke of Port Hesk and of the gale."
    for day in range(9)
]
TEXT = "\n\n".join(DAYS)


@pytest.fixture
def settings(neo4j_connection: Connection) -> Settings:
    return settings_of(neo4j_connection, chunk_tokens=120, chunk_overlap=20, workers=1)


def graph(document: Document) -> GraphDocument:
    """What `LLMGraphTransformer` returns of a text."""
    farran, quill = Node(id="Luke Farran", type="Person"), Node(id="Josiah Quill", type="Person")
    said = Relationship(source=quill, target=farran, type="SERVES_UNDER", properties={"description": "He is his mate."})
    return GraphDocument(nodes=[farran, quill], relationships=[said], source=document)


def test_the_life_of_added_statements(settings: Settings, corpus: str, driver: Driver, tmp_path: Path) -> None:
    """The texts were cut by another splitter, in other places than the chunks."""
    log, copy = from_text(TEXT, corpus=corpus, source="log"), f"{corpus}-copy"
    cut = RecursiveCharacterTextSplitter(chunk_size=230, chunk_overlap=30).create_documents([TEXT])
    with E2G(settings=settings) as e2g:
        with pytest.raises(NotFoundError):
            e2g.add_graph_documents([], corpus=corpus)
        e2g.index([log], corpus=corpus)
        report = e2g.add_graph_documents(map(graph, cut), corpus=corpus)
        assert report.graph_documents == len(cut)
        assert report.added == report.statements == e2g.stats(corpus)["statements"] >= 5
        assert (report.not_found, report.invalid) == (0, 0)
        question = "Under whom does Josiah Quill serve?"
        found = e2g.retrieve(question, corpus=corpus, mode="graphrag_local")
        assert found.passages
        assert "out of date" not in found.reason
        file = tmp_path / "corpus.zip"
        e2g.export_corpus(file, corpus=corpus)
        e2g.import_corpus(file, corpus=copy)
        again = e2g.retrieve(question, corpus=copy, mode="graphrag_local")
        assert [one.text for one in evidence(again.passages)] == [one.text for one in evidence(found.passages)]
        for one in (copy, corpus):
            e2g.index([from_text(f"{TEXT}\n\nAll was well.", corpus=one, source="log")], corpus=one)
        assert e2g.stats(copy) == e2g.stats(corpus), "the copy has what was added, and its statements are of it"
        assert e2g.stats(corpus)["statements"] >= report.statements - 1
        assert not any(corpus in one.what for one in e2g.doctor() if one.check == "layers")
        e2g.delete(corpus=corpus)
        assert e2g.stats(copy)["statements"]
        e2g.delete(corpus=copy)
    assert snapshot(driver, copy) == ({}, {})
    left = "MATCH (s:CachedSummary) WHERE any(one IN s.corpora WHERE one STARTS WITH $corpus) RETURN s"
    assert not driver.execute_query(left, corpus=corpus).records


def test_passages_of_the_retriever_are_found(settings: Settings, corpus: str) -> None:
    """Whoever extracts from what the retriever returns has texts of several chunks."""
    with E2G(settings=settings) as e2g:
        e2g.index([from_text(TEXT, corpus=corpus, source="log")], corpus=corpus)
        passages = E2GRetriever(client=e2g, corpus=corpus, k=2).invoke("Who counted the sails?")
        report = e2g.add_graph_documents([graph(one) for one in passages], corpus=corpus)
        assert report.not_found == 0
        assert report.added >= len(passages) > 0
        e2g.delete(corpus=corpus)


class Scripted(LLMInterface):
    supports_structured_output = False

    def invoke(self, input: Any, *arguments: Any, **options: Any) -> LLMResponse:
        raise NotImplementedError

    async def ainvoke(self, input: Any, *arguments: Any, **options: Any) -> LLMResponse:
        return LLMResponse(
            content='{"nodes": [{"id": "0", "label": "Person", "properties": {"name": "Luke Farran"}},'
            '{"id": "1", "label": "Ship", "properties": {"name": "the Averil"}}],'
            '"relationships": [{"type": "SAILS", "start_node_id": "0", "end_node_id": "1", "properties": {}}]}'
        )


async def test_the_async_client_takes_the_graph_of_neo4j_graphrag(
    settings: Settings, corpus: str, driver: Driver
) -> None:
    """Once for each chunk. The chat model was never asked for statements: it is not asked now, nor by later changes."""
    chunks = TextChunks(chunks=[TextChunk(text=text, index=number) for number, text in enumerate(DAYS)])
    extracted = await LLMEntityRelationExtractor(Scripted("scripted")).run(chunks=chunks)
    model = FakeListChatModel(responses=["A summary of the log."])
    async with AsyncE2G(settings=settings, chat_model=model) as e2g:
        await e2g.index([from_text(TEXT, corpus=corpus, source="log")], corpus=corpus)
        report = await e2g.add_graph_documents(graph_documents(extracted), corpus=corpus)
        assert (report.graph_documents, report.added, report.unmatched) == (9, 5, 0)
        index = await e2g.index([from_text("Luke Farran slept.", corpus=corpus, source="note")], corpus=corpus)
        assert 0 not in index.spending
        assert (await e2g.stats(corpus))["statements"] == 5
        rows = driver.execute_query(
            "MATCH (o)<-[:OBJECT]-(s:Statement {corpus: $corpus})-[:SUBJECT]->(e) "
            "RETURN DISTINCT e.name, s.predicate, o.name",
            corpus=corpus,
        ).records
        assert [tuple(row) for row in rows] == [("Luke Farran", "sails", "Averil")]
        await e2g.delete(corpus=corpus)


def test_adding_can_be_cancelled(settings: Settings, corpus: str) -> None:
    async def cancelled(e2g: AsyncE2G) -> None:
        def progress(stage: str, done: int, total: int) -> None:
            loop.call_soon_threadsafe(task.cancel)

        loop = asyncio.get_running_loop()
        adding = e2g.add_graph_documents([graph(Document(TEXT))], corpus=corpus, progress=progress)
        task = asyncio.ensure_future(adding)
        with pytest.raises(asyncio.CancelledError):
            await task

    async def run() -> None:
        async with AsyncE2G(settings=settings) as e2g:
            await e2g.index([from_text(TEXT, corpus=corpus, source="log")], corpus=corpus)
            await cancelled(e2g)
            assert (await e2g.add_graph_documents([], corpus=corpus)).statements >= 1
            await e2g.delete(corpus=corpus)

    asyncio.run(run())
