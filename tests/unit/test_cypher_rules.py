"""What a statement of a chat model may do, by its words and by the operators of its plan."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from e2g_neo4j.answering.cypher_parser import check_plan, check_words, wall_in
from e2g_neo4j.answering.text_to_cypher import statement_in
from e2g_neo4j.graph.read_only import Explained

WORDS = [
    *(
        "MATCH",
        "OPTIONAL",
        "WITH",
        "UNWIND",
        "RETURN",
        "WHERE",
        "AS",
        "IN",
        "UNION",
        "LIMIT",
        "AND",
        "NOT",
        "CASE",
        "END",
    ),
    *("CALL", "COLLECT", "EXISTS", "COUNT", "count", "n", "(n:Entity)", "(n)", "(n:E2GKey)", "--", "-->", "<-[r]-"),
    *(
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "|",
        ":",
        ",",
        ".",
        "..",
        "*",
        "$corpus",
        "1",
        "'a'",
        "=",
        "<",
        "-",
        "+",
        ".*",
        "[n IN",
    ),
]


@pytest.mark.parametrize(
    "statement",
    [
        "MATCH (e:Entity {corpus: $corpus}) RETURN e.name LIMIT 5",
        "match (e:Entity) where e.key = 'load csv; use x' return e.set, e.use, {use: e.key, call: 1} AS m",
        "CYPHER 25 MATCH (e:Entity) RETURN e.key",
        "WITH date.truncate('day', date()) AS day RETURN vector.similarity.cosine([1.0], [1.0]), day",
        "// MATCH (n:E2GKey); DELETE\nMATCH (e:Entity) /* CALL db.labels() */ RETURN e.key, 'E2GKey'",
        "UNWIND [1, 2.5e3] AS n RETURN count(n), count(*), count(DISTINCT n)",
        "MATCH (e:Entity {key: $all}) RETURN [1, 2, 3][0..1], [1, 2][..e.chunks], e['key'], -1 < -e.chunks",
        "MATCH (e:Entity) RETURN e {.key, .*, n: 1, e}, `count` {.key}",
        "MATCH (a:Entity {key: 'a'})-[r:CO_OCCURS|REFERS_TO*1..3]-(b:Entity&Noun) WITH * MATCH (a)<--(:Chunk) RETURN 1",
        "MATCH p = shortestPath((a:Entity)-[:CO_OCCURS*..6 {corpus: $corpus}]-(b:Entity WHERE b.chunks > 1)) RETURN p",
        "MATCH (e:Entity) OPTIONAL MATCH (e)-[:FROM_CHUNK]->(c:Chunk) WITH e AS f, collect(c)[..2] AS cs "
        "WHERE size(cs) > 1 AND NOT f.type IS NULL MATCH (f)--(:Film|`My Person`) RETURN DISTINCT f.key AS key "
        "ORDER BY toLower(key) DESC, f.chunks SKIP 1 LIMIT 5 UNION ALL MATCH (f:Film) RETURN f.title AS key",
        "MATCH (e:Entity) WHERE e:Noun AND any(x IN split(e.name, ' ') WHERE x STARTS WITH 'A') OR e.key IN ['a'] "
        "RETURN [x IN labels(e) WHERE x <> 'Entity' | x] AS l, CASE WHEN e.chunks > 1 THEN 'a' ELSE null END AS c",
        "MATCH (e:Entity)--(c:Chunk) WITH e, collect(c.id) AS ids, count(c) AS n WITH e {.key, ids: ids[..5]} AS m, n, "
        "ids WHERE 'a' IN ids RETURN collect(n), [x IN ids WHERE x <> 'a' AND x STARTS WITH 'b'], m, any(x IN ids "
        "WHERE x = 'b')",
        "UNWIND [[1, 2], [3]] AS pair UNWIND pair AS x RETURN collect(DISTINCT x), [y IN collect(x) | {x: y}]",
        "MATCH (e:Entity) RETURN [x IN split(e.name, ' ') WHERE x <> e.key | toLower(x)]",
        "MATCH (s:`Straße`) UNWIND range(1, 10, 2) AS n RETURN properties(s), n % 2 ^ 2 XOR true",
    ],
)
def test_reading_of_labelled_nodes_is_allowed(statement: str) -> None:
    assert check_words(statement) is None


BEGIN, HERE, LABEL, PATTERN = "begin", "where this is not allowed", "has no label", "pattern in an expression"


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("", BEGIN),
        ("I cannot do that.", "cannot be read|begin"),
        ("CREATE (n)", BEGIN),
        ("CYPHER runtime=parallel MATCH (n:Entity) RETURN n", HERE),
        ("CYPHER 25 SHOW DATABASES", BEGIN),
        ("EXPLAIN MATCH (n:Entity) RETURN n", BEGIN),
        ("LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line", BEGIN),
        ("MATCH (n:Entity) LOAD CSV FROM n.name AS line RETURN line", "LOAD"),
        ("MATCH (n:Entity) SET n.key = 1 RETURN n", "SET"),
        ("UNWIND [1] AS i CALL (i) { MATCH (n:Entity) RETURN n } IN TRANSACTIONS RETURN i", "CALL"),
        ("MATCH (e:Entity) CALL (e) { MATCH (e)-[:FROM_CHUNK]->(c:Chunk) RETURN c LIMIT 1 } RETURN c", "CALL"),
        ("MATCH (n:Entity) RETURN n.key UNION USE system MATCH (n:Entity) RETURN n.key", BEGIN),
        ("CALL { USE system MATCH (n:Entity) RETURN n } RETURN n", BEGIN),
        ("CALL db.labels()", BEGIN),
        ("MATCH (n:Entity) CALL/**/apoc.load.json(n.name) YIELD value RETURN value", "CALL"),
        ("CALL `db`.labels() YIELD label RETURN label", BEGIN),
        ("RETURN genai.vector.encode('x', 'OpenAI')", "genai.vector.encode"),
        ("RETURN `apoc` . `cypher`.runFirstColumnSingle('MATCH (n) RETURN n')", "apoc.cypher"),
        ("RETURN `db.nameFromElementId`('4:x:0')", "db.namefromelementid"),
        ("RETURN [1, 2, 3][0..apoc.cypher.runFirstColumnSingle('RETURN 1', {})]", "apoc.cypher"),
        ("MATCH (n:Entity) RETURN n; MATCH (n) DETACH DELETE n", "more than one"),
        ("MATCH (n:Entity) RETURN n NEXT MATCH (k:Entity) RETURN k", "NEXT"),
        # labels
        ("MATCH (n) RETURN n", LABEL),
        ("MATCH (n:Chunk)--(m) RETURN m", LABEL),
        ("MATCH (n:Chunk)-->() RETURN n", LABEL),
        ("MATCH (n:Chunk) WITH count(n) AS c MATCH (e:Entity)--(n) RETURN n", LABEL),
        ("MATCH (n:Chunk) UNWIND [1] AS n MATCH (n)--(e:Entity) RETURN n", LABEL),
        ("MATCH (n:Chunk) RETURN n.id AS x UNION MATCH (n) RETURN n.sha256 AS x", LABEL),
        ("MATCH (n:!Chunk) RETURN n", "cannot be read"),
        ("MATCH (n:Chunk|%) RETURN n", HERE),
        ("MATCH (n:$($corpus)) RETURN n", HERE),
        ("MATCH (n:$ /* */ ALL ($labels)) RETURN n", HERE),
        ("MATCH (n IS E2GKey) RETURN n", LABEL),
        ("MATCH (n:E2GKey) RETURN n", "E2GKey"),
        ("MATCH (n:Entity) //\rMATCH (k:E2GKey)\rRETURN k", "E2GKey"),
        ("MATCH (n:`E2GKey`) RETURN n", "E2GKey"),
        ("MATCH (n:Entity|StagedChunk) RETURN n", "StagedChunk"),
        ("MATCH (n:Entity&(Chunk|(E2GTask))) RETURN n", "E2GTask"),
        ("MATCH (n:Entity) WHERE n:CachedSummary RETURN n", "CachedSummary"),
        ("MATCH (n:`__Neo4jMigration`) RETURN n", "__Neo4jMigration"),
        ("MATCH (n:`a``b`) RETURN n", "cannot be read"),
        ("MATCH (n:E2G\u200dKey) RETURN n", "cannot be read"),
        ("MATCH (n:Entity) WHERE n.key = '\\u0027 RETURN n", "escaped"),
        ("\\u004dATCH (n:Entity) RETURN n", "escaped"),
        # sub-queries and patterns in expressions
        ("MATCH (c:Chunk) RETURN COLLECT { MATCH (k) RETURN k.sha256 }", "sub-query"),
        ("MATCH (c:Chunk) RETURN [x IN [1] | collect/**/{ MATCH (k) RETURN k }]", "sub-query"),
        ("MATCH (c:Chunk) WHERE EXISTS { (c)--(k) } RETURN c", "sub-query"),
        ("MATCH (c:Chunk) RETURN COUNT { (k) }", "sub-query"),
        ("MATCH (c:Chunk {id: COUNT { (k) }}) RETURN c", "sub-query"),
        ("MATCH (c:Chunk WHERE EXISTS { (c)--(k) }) RETURN c", "sub-query"),
        ("MATCH (c:Chunk) RETURN c.id ORDER BY COUNT { (k) }", "sub-query"),
        ("MATCH (c:Chunk) RETURN [(k)-[r]-(m) | labels(k)]", PATTERN),
        ("MATCH (c:Chunk) RETURN [p = (k)--(m) | p]", PATTERN),
        ("MATCH (c:Chunk) WHERE (c)<-[:X]-() RETURN c", PATTERN),
        ("MATCH (c:Chunk) WHERE (c)<--() RETURN c", PATTERN),
        ("MATCH (c:Chunk) WHERE (c) - - > () RETURN c", PATTERN),
        ("MATCH (c:Chunk) WHERE NOT (:E2GKey)-->(c) RETURN c", HERE),
        ("MATCH (c:Chunk) RETURN exists((c)--())", "exists"),
        ("MATCH (c:Chunk) RETURN size((c)--())", PATTERN),
        ("MATCH (c:Chunk) RETURN shortestPath((c)-[*]-(k))", "shortestpath"),
        ("MATCH (c:Chunk) RETURN [x IN labels(c) WHERE c:A|(k)--(m)]", PATTERN),
        ("MATCH (c:Chunk) RETURN c {x: [y IN [1] | COLLECT { MATCH (k) RETURN k }]}", "sub-query"),
        # cost
        ("MATCH (a:Chunk)-[*]-(b:Chunk) RETURN b", HERE),
        ("MATCH (a:Chunk)-[*1..2]-(b:Chunk) RETURN b", "needs a type"),
        ("MATCH (a:Entity)-[:CO_OCCURS*1..99]-(b:Entity) RETURN b", "at most 6"),
        ("MATCH (a:Entity)((x:Entity)--(y:Entity)){1,3}(b:Entity) RETURN b", HERE),
        ("MATCH (a:Entity)-[:CO_OCCURS]->{1,9}(b:Entity) RETURN b", HERE),
        ("MATCH (e:Entity) WHERE e.key =~ '(a+)+b' RETURN e", "regular expression"),
        ("RETURN size(range(1, 1000000000))", "range"),
        ("RETURN range(1, 10 * 1000)", HERE),
        ("UNWIND range(1, 1000000000) AS i RETURN count(i)", "range"),
        ("RETURN [x IN range(1, 9) | [y IN range(1, 9) | [z IN range(1, 9) | x]]]", "list expression in another"),
        ("RETURN [x IN [y IN range(1, 9) | y] | x]", "list expression in another"),
        ("RETURN [x IN range(1, 9) WHERE any(y IN range(1, 9) WHERE y > 1) | x]", "list expression in another"),
        ("RETURN none(x IN range(1, 9) WHERE single(y IN range(1, 9) WHERE y > 1))", "list expression in another"),
        ("RETURN [x IN [1] | {a: [y IN [1] | y]}]", "list expression in another"),
        ("RETURN [x IN [1] | reduce(s = 0, y IN [1] | s + y)]", "reduce"),
        ("MATCH (e:Entity) WITH collect(e.key) AS l RETURN [x IN l WHERE x IN l]", "it has l in"),
        ("MATCH (e:Entity) WITH {l: collect(e.key)} AS m RETURN [x IN m.l WHERE x IN m.l]", "it has m in"),
        ("MATCH (e:Entity) WITH collect(e.key) AS l UNWIND range(1, 9) AS i RETURN collect(l)", "collects lists"),
        ("MATCH (e:Entity) WITH collect(e.key) AS l UNWIND range(1, 9) AS i RETURN collect({a: l})", "collects lists"),
        ("WITH [1, 1] AS a " + "WITH [a, a, a] AS a " * 3 + "RETURN a", "names of lists"),
        ("WITH {a: 1} AS a " + "WITH {a: a, b: a} AS a " * 5 + "RETURN a", "names of lists"),
        ("CYPHER 25 SHOW TRANSACTIONS YIELD *", BEGIN),
        ("USE neo4j MATCH (n:Entity) RETURN n", BEGIN),
        ("MATCH (a:Entity)-[:CO_OCCURS*]->(b:Entity) RETURN b", HERE),
        ("MATCH (a:Entity)-[:CO_OCCURS*2..]->(b:Entity) RETURN b", HERE),
        ("MATCH (a:Entity) ((x:Entity)-[:CO_OCCURS]->(y:Entity))+ (b:Entity) RETURN b", HERE),
        ("MATCH SHORTEST 1 (a:Entity)-[:CO_OCCURS]-+(b:Entity) RETURN b", HERE),
        ("MATCH (e:Entity) CALL { WITH e RETURN 1 AS x } RETURN x", "CALL"),
        ("RETURN [x IN COLLECT { MATCH (k:Entity) RETURN k.key } | x]", "sub-query"),
        ("RETURN reduce(s = 'x', i IN range(1, 30) | s + s)", "reduce"),
        ("RETURN replace('xxxx', 'x', 'xxxx')", "replace"),
        ("WITH 'x' AS x " + "WITH x + x AS x " * 9 + "RETURN x", "times +"),
        ("RETURN " + "(" * 40 + "1" + ")" * 40, "nested"),
        ("RETURN '" + "x" * 5000 + "'", "more than 5000"),
    ],
)
def test_everything_else_is_refused(statement: str, why: str) -> None:
    found = check_words(statement)
    assert found is not None
    assert any(one in found for one in why.split("|")), found


@given(st.text("(){}[]<>-:|.,$`'\"/*\\=+ \n\u00e4") | st.lists(st.sampled_from(WORDS)).map(" ".join))
def test_whatever_is_read_has_no_pattern_in_an_expression(statement: str) -> None:
    """Of words in any order, what is accepted has no brace but those of maps, and no node without a label."""
    if check_words(statement) is None:
        assert not re.search(r"(?i)\b(?:call|collect|count|exists)\s*(?:\([^)]*\))?\s*\{|%|!|=~", statement)


WALL = [
    ("MATCH (e:Entity) RETURN e", "MATCH (e:Entity {corpus: $corpus}) RETURN e", ""),
    ("MATCH (e:Entity{}) RETURN e", "MATCH (e:Entity{corpus: $corpus}) RETURN e", ""),
    ("MATCH (:Entity {key: 'a'}) RETURN 1", "MATCH (:Entity {corpus: $corpus, key: 'a'}) RETURN 1", ""),
    ("MATCH (e:Entity WHERE true) RETURN e", "MATCH (e:Entity  {corpus: $corpus}WHERE true) RETURN e", ""),
    ("MATCH (e:Entity {corpus: $corpus})--(e) RETURN e", None, ""),
    ("MATCH (e:Entity:Ship) RETURN e", "MATCH (e:Entity:Ship {corpus: $corpus}) RETURN e", ""),
    ("MATCH (e:Entity|Chunk) RETURN e", "MATCH (e:Entity|Chunk {corpus: $corpus}) RETURN e", ""),
    ("MATCH (s:Ship|Port {name: '}'})--(t:Film) RETURN s", None, "Film Port Ship"),
    ("MATCH (s:Ship|Entity {corpus: $corpus}) RETURN s", None, ""),
    ("MATCH (e:Entity {corpus: $corpus})-[:CO_OCCURS|SAILED*..2 {n: 1}]-(e) RETURN e", None, "SAILED"),
    ("MATCH (e:Entity {corpus: $corpus})-[:REFERS_TO*1..2]-(s:Ship) RETURN s", None, "REFERS_TO Ship"),
]
"""A statement; with the corpus, None: the same; labels and relationship types of which the database is asked."""


@pytest.mark.parametrize(("statement", "expected", "asked"), WALL)
def test_the_corpus_is_added_to_the_nodes_of_a_corpus(statement: str, expected: str | None, asked: str) -> None:
    found = wall_in(statement)
    assert found.statement == (expected or statement)
    assert sorted(found.labels | found.types) == asked.split()
    assert wall_in(found.statement) == found


@pytest.mark.parametrize(
    "statement",
    [
        "MATCH (e:Entity {corpus: 'other'}) RETURN e",
        "MATCH (e:Entity {corpus: $corpus + ''}) RETURN e",
        "MATCH (e:Entity {corpus: $other}) RETURN e",
        "MATCH (e:Entity {corpus: ($corpus)}) RETURN e",
        "MATCH (e:Entity {corpus: $corpus, `corpus`: 'other'}) RETURN e",
        "MATCH (s:Ship {corpus: 'other'}) RETURN s",
        "MATCH (e:Entity {corpus: $corpus}) MATCH (e {corpus: 'other'}) RETURN e",
        "MATCH (e:Entity|Ship) RETURN e",
        "MATCH (e:Ship&(Port|Entity)) RETURN e",
        "MATCH (e:Entity $all) RETURN e",
    ],
)
def test_what_cannot_be_walled_in_is_refused_with_what_to_write(statement: str) -> None:
    found = check_words(statement)
    assert found is not None
    assert "write" in found or "two properties" in found


def explained(*operators: str, leaves: tuple[str, ...] = ("NodeByLabelScan",), reads: bool = True) -> Explained:
    return Explained(reads, frozenset([*operators, *leaves]), frozenset(leaves))


def test_a_plan_that_reads_labelled_nodes_is_allowed() -> None:
    assert check_plan(explained("ProduceResults", "Expand(All)", "Filter")) is None
    assert check_plan(explained(leaves=("Argument", "NodeUniqueIndexSeek", "DirectedRelationshipTypeScan"))) is None
    assert check_plan(explained(leaves=("UnionNodeByLabelsScan", "NodeCountFromCountStore", "Unwind"))) is None


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
    assert check_plan(plan)


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
