"""What a statement of a chat model may do, by its words and by the operators of its plan."""

from __future__ import annotations

import pytest

from e2g_neo4j.answering.statement_rules import refused_plan, refused_words
from e2g_neo4j.answering.text_to_cypher import statement_in
from e2g_neo4j.graph.read_only import Explained


@pytest.mark.parametrize(
    "statement",
    [
        "MATCH (e:Entity {corpus: $corpus}) RETURN e.name LIMIT 5",
        "match (e:Entity) where e.key = 'load csv; use x' return e.set, e.use, {use: e.key, call: 1} AS m",
        "CYPHER 25 MATCH (e:Entity) RETURN e.key",
        "MATCH (e:Entity) CALL (e) { MATCH (e)-[:FROM_CHUNK]->(c:Chunk) RETURN c LIMIT 1 } RETURN c",
        "WITH date.truncate('day', date()) AS day RETURN vector.similarity.cosine([1.0], [1.0]), day",
        "// MATCH (n:E2GKey); DELETE\nMATCH (e:Entity) /* CALL db.labels() */ RETURN e.key, 'E2GKey'",
        "UNWIND [1, 2.5] AS n RETURN count(n)",
        "MATCH (e:Entity {key: $all}) RETURN [1, 2, 3][0..1], [1, 2][..e.chunks]",
    ],
)
def test_reading_of_labelled_nodes_is_allowed(statement: str) -> None:
    assert refused_words(statement) is None


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("", "begin"),
        ("I cannot do that.", "begin"),
        ("CREATE (n)", "begin"),
        ("CYPHER runtime=parallel MATCH (n:Entity) RETURN n", "begin"),
        ("CYPHER 25 SHOW DATABASES", "begin"),
        ("EXPLAIN MATCH (n:Entity) RETURN n", "begin"),
        ("LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line", "begin"),
        ("MATCH (n:Entity) LOAD CSV FROM n.name AS line RETURN line", "LOAD"),
        ("UNWIND [1] AS i CALL (i) { MATCH (n:Entity) RETURN n } IN TRANSACTIONS RETURN i", "TRANSACTIONS"),
        ("MATCH (n:Entity) RETURN n.key UNION USE system MATCH (n:Entity) RETURN n.key", "USE"),
        ("CALL { USE system MATCH (n:Entity) RETURN n } RETURN n", "USE"),
        ("CALL db.labels()", "procedure"),
        ("MATCH (n:Entity) CALL/**/apoc.load.json(n.name) YIELD value RETURN value", "procedure"),
        ("CALL `db`.labels() YIELD label RETURN label", "procedure"),
        ("RETURN genai.vector.encode('x', 'OpenAI')", "genai.vector.encode"),
        ("RETURN `apoc` . `cypher`.runFirstColumnSingle('MATCH (n) RETURN n')", "apoc.cypher"),
        ("MATCH (n:Entity) RETURN n; MATCH (n) DETACH DELETE n", "more than one"),
        ("MATCH (n:$($corpus)) RETURN n", "computes"),
        ("MATCH (n:$ ('E2GKey')) RETURN n", "computes"),
        ("MATCH (n:$any($labels)) RETURN n", "computes"),
        ("MATCH (n:$ /* */ ALL ($labels)) RETURN n", "computes"),
        ("MATCH (n:E2GKey) RETURN n", "E2GKey"),
        ("MATCH (n:Entity) //\rMATCH (k:E2GKey)\rRETURN k", "E2GKey"),
        ("RETURN [1, 2, 3][0..apoc.cypher.runFirstColumnSingle('RETURN 1', {})]", "apoc.cypher"),
        ("MATCH (n:`E2GKey`) RETURN n", "E2GKey"),
        ("MATCH (n:Entity|StagedChunk) RETURN n", "StagedChunk"),
        ("MATCH (n:Entity) WHERE n IS LABELED CachedSummary RETURN n", "CachedSummary"),
        ("MATCH (n:Entity) WHERE n.key = '\\u0027 RETURN n", "escaped"),
    ],
)
def test_everything_else_is_refused(statement: str, why: str) -> None:
    assert why in (refused_words(statement) or "")


def explained(*operators: str, leaves: tuple[str, ...] = ("NodeByLabelScan",), reads: bool = True) -> Explained:
    return Explained(reads, frozenset([*operators, *leaves]), frozenset(leaves))


def test_a_plan_that_reads_labelled_nodes_is_allowed() -> None:
    assert refused_plan(explained("ProduceResults", "Expand(All)", "Filter")) is None
    assert refused_plan(explained(leaves=("Argument", "NodeUniqueIndexSeek", "DirectedRelationshipTypeScan"))) is None
    assert refused_plan(explained(leaves=("UnionNodeByLabelsScan", "NodeCountFromCountStore", "Unwind"))) is None


@pytest.mark.parametrize(
    "plan",
    [
        explained(reads=False),
        explained("ProcedureCall"),
        explained("LoadCSV"),
        explained("TransactionApply"),
        explained(leaves=("NodeByLabelScan", "AllNodesScan")),
        explained(leaves=("NodeByElementIdSeek",)),
        explained(leaves=("NodeByIdSeek",)),
        explained(leaves=("DirectedAllRelationshipsScan",)),
        explained(leaves=("DirectedRelationshipByElementIdSeek",)),
        explained(leaves=("DynamicLabelNodeLookup",)),
        explained(leaves=("AdministrationCommand",)),
    ],
)
def test_every_other_plan_is_refused(plan: Explained) -> None:
    assert refused_plan(plan)


@pytest.mark.parametrize(
    ("reply", "statement"),
    [
        ("RETURN 1;", "RETURN 1"),
        ("Here it is:\n```cypher\nRETURN 1\n```\nIt returns 1.", "RETURN 1"),
        ("<think>MATCH (n) DELETE n</think>RETURN 1", "RETURN 1"),
        ("MATCH (f:Film) RETURN f.`release year`", "MATCH (f:Film) RETURN f.`release year`"),
        ("```\nMATCH (f:Film) RETURN f.`release year`;\n```", "MATCH (f:Film) RETURN f.`release year`"),
        ("`RETURN 1`", "RETURN 1"),
        (" ", ""),
    ],
)
def test_the_statement_of_a_reply(reply: str, statement: str) -> None:
    assert statement_in(reply) == statement
