"""Graphs with text nodes, as tools that build them leave them in a database: who wrote them knows nothing of us."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

import pytest
from langchain_core.documents import Document
from langchain_neo4j import Neo4jGraph, Neo4jVector
from langchain_neo4j.graphs import neo4j_graph
from langchain_neo4j.graphs.graph_document import GraphDocument, Node, Relationship
from neo4j import Driver
from neo4j_graphrag.components.embedder import TextChunkEmbedder
from neo4j_graphrag.components.entity_relation_extractor import LLMEntityRelationExtractor
from neo4j_graphrag.components.kg_writer import Neo4jWriter
from neo4j_graphrag.components.lexical_graph import LexicalGraphBuilder
from neo4j_graphrag.components.schema import GraphSchema
from neo4j_graphrag.components.types import (
    DocumentInfo,
    Neo4jNode,
    Neo4jRelationship,
    TextChunk,
    TextChunks,
)
from neo4j_graphrag.components.types import Neo4jGraph as FoundGraph

from e2g_neo4j import Settings
from e2g_neo4j.integrations.langchain import E2GEmbeddings
from e2g_neo4j.integrations.neo4j_graphrag import E2GEmbedder

LOG = (
    "In the night of the third the wind went round to the north, and the glass fell. The light was lit before five. "
    "The keeper wrote down each ship that passed, what she carried, and where she was bound. "
)
DOCUMENTS = {
    "harbour.txt": [
        "😀😀 Luke Farran carried the chronometer to Theodora Quill. Luke Farran was the mate of the Mercury.",
        "Walter Crail saw Luke Farran in the harbour. The letter of Nora Vik was read by Theodora Quill.",
        "Otto Vinge sailed with Luke Farran to Hesk. Otto Vinge paid eleven crowns for the brass telescope.",
    ],
    "island.txt": [
        "🧭 " + 12 * LOG + "Zyxelia Quorn buried the silver lantern under the old lighthouse of Hesk. " + 12 * LOG,
        "Theodora Quill painted the island of Hesk. Walter Crail kept a garden on the island.",
        "Karl Quist and Walter Crail never met Luke Farran again.",
    ],
}
"""Documents and their text nodes; one is much longer than an embedding model reads at once."""


@dataclass(frozen=True)
class Shape:
    """How a tool leaves text nodes: how they are to be adopted, how the one of a $number of a $file is found, and by
    which index the tool itself searches them."""

    adoption: dict[str, Any]
    query: str
    vector_index: str | None


class Writer(Neo4jWriter):
    """Their writer, but for the statement that wants the plugin APOC: relationships are created by their type."""

    def _upsert_relationships(self, rels: list[Neo4jRelationship]) -> None:
        self.driver.execute_query(
            "UNWIND $rows AS row MATCH (a:__KGBuilder__ {__tmp_internal_id: row.start_node_id}) "
            "MATCH (b:__KGBuilder__ {__tmp_internal_id: row.end_node_id}) CREATE (a)-[r:$(row.type)]->(b) "
            "SET r = row.properties",
            rows=self._relationships_to_rows(rels),
        )


def neo4j_graphrag(driver: Driver, settings: Settings, *, old: bool) -> Shape:
    """As the components of its pipeline write documents, chunk by chunk. The chunks have no id, but an index."""

    async def written() -> None:
        for path, texts in DOCUMENTS.items():
            chunks = TextChunks(chunks=[TextChunk(text=text, index=index) for index, text in enumerate(texts)])
            embedded = await TextChunkEmbedder(E2GEmbedder(settings)).run(chunks)
            built = await LexicalGraphBuilder().run(embedded, DocumentInfo(path=path))
            await Writer(driver).run(built.graph, built.config)

    asyncio.run(written())
    index(driver, "Chunk", old)
    return Shape(
        {"label": "Chunk", "key": "index", "part_of": "FROM_DOCUMENT"},
        "MATCH (c:Chunk)-[:FROM_DOCUMENT]->(:Document {path: $file}) WHERE c.index = $number",
        None if old else "theirs",
    )


def langchain(driver: Driver, settings: Settings, *, old: bool) -> Shape:
    """As LangChain's Neo4jVector writes texts with their metadata."""
    assert settings.neo4j_password
    label = "Page" if old else "Chunk"
    found = [(file, number, text) for file, texts in DOCUMENTS.items() for number, text in enumerate(texts)]
    index(driver, label, old)  # made after ours, it would take ours for its own
    store = Neo4jVector.from_texts(
        [text for *_, text in found],
        E2GEmbeddings(settings),
        metadatas=[{"source": file, "page": number} for file, number, _ in found],
        ids=[f"{file}-{number}" for file, number, _ in found],
        url=settings.neo4j_uri,
        username=settings.neo4j_username,
        password=settings.neo4j_password.get_secret_value(),
        node_label=label,
        index_name="theirs",
    )
    store._driver.close()
    return Shape(
        {"label": label, "order": "page", "document": "source"},
        f"MATCH (c:{label} {{source: $file}}) WHERE c.page = $number",
        "theirs",
    )


def llm_graph_builder(driver: Driver, settings: Settings, *, old: bool) -> Shape:
    """In the shape of llm-graph-builder: files, chunks that follow each other, and entities that they mention."""
    driver.execute_query("CREATE CONSTRAINT their_files FOR (d:Document) REQUIRE d.fileName IS UNIQUE")
    driver.execute_query("CREATE CONSTRAINT their_chunks FOR (c:Chunk) REQUIRE c.id IS UNIQUE")
    driver.execute_query("CREATE FULLTEXT INDEX their_words FOR (c:Chunk) ON EACH [c.text]")
    for file, texts in DOCUMENTS.items():
        rows = [
            {"id": f"{file}:{number}", "text": text, "position": number + 1, "length": len(text), "fileName": file}
            for number, text in enumerate(texts)
        ]
        vectors = E2GEmbeddings(settings).embed_documents(texts)
        driver.execute_query(
            "CREATE (d:Document {fileName: $file, status: 'Completed'}) WITH d "
            "UNWIND range(0, size($rows) - 1) AS i CREATE (c:Chunk)-[:PART_OF]->(d) "
            "SET c = $rows[i] SET c.embedding = $vectors[i] "
            "CREATE (c)-[:HAS_ENTITY]->(:__Entity__:Person {id: 'Luke Farran ' + $file + i})",
            file=file,
            rows=rows,
            vectors=vectors,
        )
        driver.execute_query(
            "MATCH (d:Document {fileName: $file})<-[:PART_OF]-(c:Chunk) "
            "FOREACH (_ IN CASE c.position WHEN 1 THEN [1] END | CREATE (d)-[:FIRST_CHUNK]->(c)) "
            "WITH c MATCH (n:Chunk {fileName: c.fileName, position: c.position + 1}) CREATE (c)-[:NEXT_CHUNK]->(n)",
            file=file,
        )
    index(driver, "Chunk", old)
    return Shape(
        {"label": "Chunk", "order": "position", "part_of": "PART_OF"},
        "MATCH (c:Chunk {fileName: $file}) WHERE c.position = $number + 1",
        None if old else "theirs",
    )


FOUND = {
    ("harbour.txt", 0): ["Luke Farran", "Theodora Quill", "chronometer"],
    ("harbour.txt", 1): ["Luke Farran", "Crail", "Nora Vik"],
    ("harbour.txt", 2): ["Luke Farran", "Otto Vinge"],
    ("island.txt", 1): ["THEODORA QUILL", "Hesk", "Crail"],
    ("island.txt", 2): ["Luke Farran", "Karl Quist"],
}
"""What a chat model has found in some of the texts: each person anew, or by a surname."""


class Found(LLMEntityRelationExtractor):
    """Their extractor, but for the call of a chat model: it has replied with `FOUND`."""

    async def extract_for_chunk(self, schema: GraphSchema, examples: str, chunk: TextChunk) -> FoundGraph:
        names = next(
            (FOUND.get((file, chunk.index), []) for file, texts in DOCUMENTS.items() if chunk.text in texts), []
        )
        nodes = [Neo4jNode(id=name, label="Person", properties={"name": name}) for name in names]
        pairs = pairwise(names)
        ties = [Neo4jRelationship(type="MET", start_node_id=one, end_node_id=other) for one, other in pairs]
        return FoundGraph(nodes=nodes, relationships=ties)


def simple_kg_pipeline(driver: Driver, settings: Settings) -> Shape:
    """As the components of its SimpleKGPipeline write documents and what was found in each, without a resolver."""

    async def written() -> None:
        for path, texts in DOCUMENTS.items():
            chunks = TextChunks(chunks=[TextChunk(text=text, index=index) for index, text in enumerate(texts)])
            graph = await Found(cast(Any, None)).run(chunks, document_info=DocumentInfo(path=path))
            await Writer(driver).run(graph)

    asyncio.run(written())
    return Shape({"label": "Chunk", "key": "index", "part_of": "FROM_DOCUMENT"}, "", None)


def graph_documents(driver: Driver, settings: Settings) -> Shape:
    """As LangChain's Neo4jGraph writes graph documents; its statement for relationships wants APOC."""
    assert settings.neo4j_password
    uri, user, password = settings.neo4j_uri, settings.neo4j_username, settings.neo4j_password.get_secret_value()
    found = []
    for (file, number), names in FOUND.items():
        source = Document(DOCUMENTS[file][number], metadata={"source": file, "page": number})
        nodes = [Node(id=name, type="Person") for name in names]
        ties = [Relationship(source=one, target=other, type="MET") for one, other in pairwise(nodes)]
        found.append(GraphDocument(nodes=nodes, relationships=ties, source=source))
    with pytest.MonkeyPatch.context() as patch, Neo4jGraph(uri, user, password, refresh_schema=False) as graph:
        patch.setattr(Neo4jGraph, "refresh_schema", lambda graph: None)
        patch.setattr(
            neo4j_graph,
            "_get_rel_import_query",
            lambda _: (
                "UNWIND $data AS row MATCH (a:__Entity__ {id: row.source}), (b:__Entity__ {id: row.target}) "
                "MERGE (a)-[:$(row.type)]->(b)"
            ),
        )
        graph.add_graph_documents(found, include_source=True, baseEntityLabel=True)
    return Shape({"label": "Document", "order": "page", "document": "source"}, "", None)


def index(driver: Driver, label: str, old: bool) -> None:
    """A vector index as they make it. On 5.26 it would stand where ours must; `e2g doctor` says so."""
    if not old:
        driver.execute_query(
            f"CREATE VECTOR INDEX theirs IF NOT EXISTS FOR (c:{label}) ON c.embedding "
            "OPTIONS {indexConfig: {`vector.dimensions`: 384, `vector.similarity_function`: 'cosine'}}"
        )
    driver.execute_query("CALL db.awaitIndexes()")


def wipe(driver: Driver) -> None:
    """Remove all of it, and what indexes and constraints it left."""
    driver.execute_query("MATCH (n) WHERE n.corpus IS NULL AND NOT (n:E2GIndex OR n:__Neo4jMigration) DETACH DELETE n")
    for what in ("CONSTRAINT", "INDEX"):
        rows = driver.execute_query(
            f"SHOW {what}{'S' if what == 'CONSTRAINT' else 'ES'} YIELD name, labelsOrTypes "
            "WHERE NOT name STARTS WITH 'e2g_' AND labelsOrTypes IS NOT NULL "
            "AND none(label IN labelsOrTypes WHERE label STARTS WITH '__Neo4jMigration') RETURN name"
        ).records
        for row in rows:
            driver.execute_query(f"DROP {what} `{row['name']}`")
