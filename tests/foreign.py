"""A knowledge base that is somebody else's: people, films and companies, and a dump to see whether it was touched."""

from __future__ import annotations

import json
import random
from typing import Any

from neo4j import Driver

FIRST = (
    "Ada",
    "Bela",
    "Cora",
    "Dina",
    "Edna",
    "Flora",
    "Greta",
    "Hanna",
    "Karl",
    "Lars",
    "Mats",
    "Nils",
    "Olaf",
    "Sven",
)
LAST = (
    "Abel",
    "Brandt",
    "Clausen",
    "Dahl",
    "Eriksen",
    "Falk",
    "Gran",
    "Holm",
    "Iversen",
    "Juhl",
    "Krog",
    "Lund",
    "Moen",
)
NOUNS = ("Harbour", "Winter", "Letter", "Lantern", "Mirror", "Orchard", "Signal", "Voyage", "Bridge", "Tower", "Comet")
PLACES = ("North", "South", "Silver", "Golden", "Last", "Quiet", "Broken", "Distant", "Hidden", "Seventh", "Sunken")

KNOWN: dict[str, list[dict[str, Any]]] = {
    "Person": [
        {"name": "Luke Farran", "aliases": ["Old Luke"], "born": 1841},
        {"name": "THEODORA QUILL", "aliases": [], "born": 1849},
        {"name": "Walter Crail", "aliases": [], "born": 1830},
        {"name": "Walter Crail", "aliases": [], "born": 1901},
        {"name": "Professor Nora Vik of Uppsala", "aliases": ["The Wren", "Nora Vik"], "born": 1822},
        {"name": "Captain Otto Vinge", "aliases": [], "born": 1820},
    ],
    "Film": [{"title": "The Chronometer", "year": 1921}, {"title": "Storm over Hesk", "year": 1934}],
    "Company": [{"name": "Rask and Sons"}, {"name": "Holloway Lines"}],
}
"""What the texts of the tests name too, by label."""

STATED: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("Luke Farran", "ACTED_IN", "The Chronometer", {"roles": ["Himself", "the mate"]}),
    ("THEODORA QUILL", "DIRECTED", "The Chronometer", {}),
    ("Luke Farran", "OWNS", "Holloway Lines", {"since": 1870}),
)


def fill(driver: Driver, people: int = 120, films: int = 2000, companies: int = 600) -> None:
    """Some 2900 nodes and 9100 relationships, with indexes and constraints of their own; also nodes under names of
    ours, as other tools for retrieval leave them."""
    for label in KNOWN:
        driver.execute_query(f"CREATE INDEX {label.lower()}_id IF NOT EXISTS FOR (n:{label}) ON (n.id)")
    driver.execute_query("CALL db.awaitIndexes()")
    chance = random.Random(7)
    rows: list[dict[str, Any]] = [
        {
            "id": n,
            "name": f"{chance.choice(FIRST)} {chance.choice(LAST)} {n}",
            "aliases": [f"P{n}"],
            "born": 1900 + n % 90,
        }
        for n in range(people)
    ]
    driver.execute_query("UNWIND $rows AS row CREATE (n:Person) SET n = row", rows=rows + KNOWN["Person"])
    rows = [
        {"id": n, "title": f"{chance.choice(PLACES)} {chance.choice(NOUNS)} {n}", "year": 1920 + n % 100}
        for n in range(films)
    ]
    driver.execute_query("UNWIND $rows AS row CREATE (n:Film) SET n = row", rows=rows + KNOWN["Film"])
    rows = [{"id": n, "name": f"{chance.choice(PLACES)} Pictures {n}"} for n in range(companies)]
    driver.execute_query("UNWIND $rows AS row CREATE (n:Company) SET n = row", rows=rows + KNOWN["Company"])
    rows = [{"a": chance.randrange(people), "b": chance.randrange(films)} for _ in range(6000)]
    driver.execute_query(
        "UNWIND $rows AS row MATCH (a:Person {id: row.a}), (b:Film {id: row.b}) "
        "CREATE (a)-[:ACTED_IN {fee: row.a}]->(b)",
        rows=rows,
    )
    rows = [{"a": chance.randrange(films), "b": chance.randrange(companies)} for _ in range(3000)]
    driver.execute_query(
        "UNWIND $rows AS row MATCH (a:Film {id: row.a}), (b:Company {id: row.b}) CREATE (a)-[:MADE_BY]->(b)", rows=rows
    )
    for subject, kind, object, properties in STATED:
        driver.execute_query(
            "MATCH (a:Person {name: $subject}) MATCH (b) WHERE b.title = $object OR b.name = $object "
            f"CREATE (a)-[r:{kind}]->(b) SET r = $properties",
            subject=subject,
            object=object,
            properties=properties,
        )
    driver.execute_query(
        "UNWIND range(1, 40) AS n CREATE (d:Document {path: 'doc' + n}) "
        "CREATE (c:Chunk {text: 'Luke Farran and Theodora Quill, chunk ' + n}) "
        "SET c.embedding = [x IN range(1, 384) | 0.1 * n] "
        "CREATE (e:Entity {name: 'Luke Farran ' + n}) CREATE (s:Summary {text: 'A summary of Luke Farran.'}) "
        "CREATE (e)<-[:MENTIONS]-(c)-[:FROM_DOCUMENT]->(d)"
    )
    driver.execute_query("CREATE INDEX person_name IF NOT EXISTS FOR (p:Person) ON (p.name)")
    driver.execute_query("CREATE CONSTRAINT document_path IF NOT EXISTS FOR (d:Document) REQUIRE d.path IS UNIQUE")
    driver.execute_query("CREATE FULLTEXT INDEX titles IF NOT EXISTS FOR (f:Film) ON EACH [f.title]")
    driver.execute_query("CALL db.awaitIndexes()")


def dump(driver: Driver) -> dict[str, Any]:
    """All that is not ours, in full: nodes with labels and properties, relationships between them, the schema."""
    theirs = (
        "MATCH (n) WHERE n.corpus IS NULL AND NOT n:E2GIndex AND NOT n:CachedSummary AND NOT n:E2GRun "
        "AND NOT n:E2GTask|E2GBlob|E2GTaskStep|E2GQueue|E2GKey|E2GUsage|E2GConversation "
        "AND NOT n:__Neo4jMigration AND NOT n:__Neo4jMigrationsLock WITH n "
    )
    nodes = driver.execute_query(
        theirs + "RETURN elementId(n) AS id, labels(n) AS labels, properties(n) AS held"
    ).records
    edges = driver.execute_query(
        theirs + "MATCH (n)-[r]->(m) WHERE m.corpus IS NULL RETURN elementId(r) AS id, elementId(n) AS a, "
        "elementId(m) AS b, type(r) AS type, properties(r) AS held"
    ).records
    degrees = driver.execute_query(theirs + "RETURN elementId(n) AS id, COUNT { (n)--() } AS degree").records
    indexes = driver.execute_query(
        "SHOW INDEXES YIELD name, type, state, entityType, labelsOrTypes, properties, options, owningConstraint "
        "WHERE NOT name STARTS WITH 'e2g_' AND NOT name CONTAINS '__Neo4j' RETURN *"
    ).records
    constraints = driver.execute_query(
        "SHOW CONSTRAINTS YIELD name, type, entityType, labelsOrTypes, properties "
        "WHERE NOT name STARTS WITH 'e2g_' AND NOT name CONTAINS '__Neo4j' RETURN *"
    ).records
    found = {"nodes": nodes, "edges": edges, "degrees": degrees, "indexes": indexes, "constraints": constraints}
    return {
        kind: sorted(json.dumps(record.data(), sort_keys=True, default=str) for record in records)
        for kind, records in found.items()
    }


TEXTS = {
    "harbour.txt": (
        "Luke Farran carried the chronometer to Theodora Quill. Luke Farran was the mate of the Mercury. "
        "Walter Crail saw Luke Farran in the harbour. The letter of Nora Vik was read by Theodora Quill. "
        "Otto Vinge sailed with Luke Farran to Hesk. Otto Vinge wrote a letter to Theodora Quill."
    ),
    "island.txt": (
        "Theodora Quill painted the island of Hesk. Walter Crail kept a garden on the island. "
        "Karl Quist and Walter Crail never met Luke Farran again."
    ),
}
