"""Schemas of the typed graph: both forms, what is refused in which line, and the names that statements get by them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from e2g_neo4j.errors import InputError
from e2g_neo4j.indexing import graph_schema
from e2g_neo4j.indexing.graph_schema import LARGEST, LONGEST, MOST_TYPES, GraphSchema, Type
from e2g_neo4j.indexing.typed import layer
from e2g_neo4j.indexing.typed.layer import build_graph
from e2g_neo4j.indexing.typed.names import Names, Said, split_period

OURS = """{
  "prefix": "X_",
  "entities": [
    {"type": "Person", "description": "Somebody.", "aliases": ["character"]},
    "Place"
  ],
  "relationships": [
    {"type": "MARRIED_TO", "from": ["Person"], "to": ["Person"], "aliases": ["husband of"]},
    {"type": "KILLED", "from": ["Person"]},
    {"type": "LIVES_IN", "from": ["Person"], "to": ["Place"]},
    "HAS_CHILD"
  ]
}"""
READ = GraphSchema(
    "X_",
    (Type("Person", "Somebody.", ("character",)), Type("Place")),
    (
        Type("MARRIED_TO", aliases=("husband of",), patterns=(("Person", "Person"),)),
        Type("KILLED", patterns=(("Person", ""),)),
        Type("LIVES_IN", patterns=(("Person", "Place"),)),
        Type("HAS_CHILD"),
    ),
)


def read(tmp_path: Path, text: str) -> GraphSchema:
    path = tmp_path / "schema.json"
    path.write_text(text, "utf-8")
    return GraphSchema.read(path)


def test_our_form(tmp_path: Path) -> None:
    assert read(tmp_path, OURS) == GraphSchema.read(json.loads(OURS)) == READ
    assert GraphSchema.load(READ.dump()) == READ
    assert GraphSchema.load(None) == GraphSchema.read({}) == GraphSchema()
    assert GraphSchema().dump() is None
    assert read(tmp_path, f"\ufeff{OURS}") == READ
    assert READ.with_prefix("").prefix == ""


def test_the_form_of_neo4j_graphrag(tmp_path: Path) -> None:
    schema = pytest.importorskip("neo4j_graphrag.components.schema")
    theirs = schema.GraphSchema(
        node_types=[schema.NodeType(label="Person", description="Somebody."), schema.NodeType(label="Place")],
        relationship_types=[schema.RelationshipType(label="LIVES_IN"), schema.RelationshipType(label="KNOWS")],
        patterns=[("Person", "LIVES_IN", "Place")],
    )
    theirs.save(path := tmp_path / "theirs.json")
    expected = GraphSchema(
        "",
        (Type("Person", "Somebody."), Type("Place")),
        (Type("LIVES_IN", patterns=(("Person", "Place"),)), Type("KNOWS")),
    )
    assert GraphSchema.read(path) == expected
    short: Any = {"node_types": ["Person", "Place"], "relationship_types": ["LIVES_IN", "KNOWS"]}
    short["patterns"] = [["Person", "LIVES_IN", "Place"]]
    assert [one.patterns for one in GraphSchema.read(short).relationships] == [(("Person", "Place"),), ()]


def lines(*entities: str, relationships: str = "") -> str:
    listed = ",\n".join(entities)
    return f'{{"entities": [\n{listed}\n],\n"relationships": [{relationships}]}}'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "line 1: this is no JSON"),
        ('{\n"entities": [,]}', "line 2: this is no JSON"),
        ("[]", "line 1: a schema is an object"),
        ("[" * 100_000, "cannot be read|no JSON"),
        ('{\n"entitys": []}', "line 2: 'entitys' is unknown"),
        (lines('{"type": "Person",\n"alias": []}'), "line 3: 'alias' is unknown"),
        (lines('{"aliases": []}'), "line 2: field required"),
        (lines('"Person"', "3"), "line 3: "),
        (lines('"Person"', '"Place"', '"person"'), "line 4: 'person' is there twice"),
        (lines('{"type": "Person",\n"type": "Place"}'), "line 2: 'type' is there for the second time in line 3"),
        (
            lines('"Person"', '{"type": "Place",\n"aliases": ["town",\n"person"]}'),
            "line 5: 'person' is a name or alias",
        ),
        (
            lines('{"type": "A", "aliases": ["b"]}', '{"type": "B",\n"aliases": ["a"]}'),
            "line 2: 'b' is a name or alias of B too, and they are aliases of each other",
        ),
        (lines('{"type": "A", "aliases": ["x"]}', '{"type": "B", "aliases": ["X"]}'), "line 3: 'X' is a name or alias"),
        (lines('{"type": "A", "aliases": ["--"]}'), "line 2: '--' has no letters"),
        *(
            (lines('"Person"', f'"{name}"'), f"line 3: '{name}' is a name of e2g-neo4j")
            for name in ("Entity", "Chunk", "Document", "Summary", "Community", "Cluster", "E2GRun", "__Entity__")
        ),
        (lines(relationships='\n"CO_OCCURS"'), "line 5: 'CO_OCCURS' is a name of e2g-neo4j"),
        *((lines(f'"{name}"'), "line 2: .* is no name for Cypher") for name in ("1st", "A B", "A-B", "A`B", "A)--(")),
        (lines(f'"{"A" * (LONGEST + 1)}"'), f"line 2: string should have at most {LONGEST} characters"),
        (f'{{"prefix": "{"A" * 30}", "entities": [\n"{"A" * 40}"]}}', f"line 2: .* has more than {LONGEST} characters"),
        ('{"prefix": "a b"}', "line 1: 'a b' cannot be a prefix"),
        (lines('"Person"', relationships='{"type": "KNOWS",\n"from": ["Persona"]}'), "no type of entities 'Persona'"),
        (f'{{"entities": {json.dumps([f"T{n}" for n in range(MOST_TYPES + 1)])}}}', "line 1: list should have at most"),
        (
            '{"node_types": ["Person"], "patterns": [\n["Person", "KNOWS", "Person"]]}',
            "line 2: there is no relationship",
        ),
        ('{"node_types": ["Person"],\n"relationship_types": ["KNOWS", "knows"]}', "line 2: 'knows' is there twice"),
        (" " * (LARGEST + 1), "more than 256 KiB"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read(tmp_path, text)


def test_other_places_of_faults(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        GraphSchema.read(tmp_path / "missing.json")
    with pytest.raises(InputError, match="The schema, entities, 1: 'Chunk'"):
        GraphSchema.read({"entities": ["Person", "Chunk"]})
    with pytest.raises(InputError, match="which JSON cannot have"):
        GraphSchema.read({"entities": object()})
    for prefix, says in (("a b", "begins with a letter"), ("E2G", "E2GRun")):
        with pytest.raises(InputError, match=says):
            GraphSchema("", (Type("Run"),)).with_prefix(prefix)
    assert GraphSchema("", (Type("Document"),)).with_prefix("E2G_").prefix == "E2G_"


BY_SCHEMA = Names(READ)
FREE = Names(GraphSchema())


@pytest.mark.parametrize(
    ("predicate", "said"),
    [
        ("MARRIED_TO", Said("MARRIED_TO")),
        ("marriedTo", Said("MARRIED_TO")),
        ("was married to in 1890", Said("MARRIED_TO", period="in 1890")),
        ("MARRIED_IN_1890", Said("MARRIED_TO", period="IN 1890")),
        ("is the husband of", Said("MARRIED_TO")),
        ("marries", Said("MARRIED_TO")),
        ("never married", Said("")),
        ("was not married to", Said("")),
        ("might marry", Said("")),
        ("was killed by", Said("KILLED", swapped=True)),
        ("kills", Said("KILLED")),
        ("living in from May 1890 to 1893", Said("LIVES_IN", period="from May 1890 to 1893")),
        ("lives near", Said("")),
        ("had a child", Said("HAS_CHILD")),
        ("is", Said("")),
        ("related to", Said("")),
        ("", Said("")),
    ],
)
def test_predicates_by_a_schema(predicate: str, said: Said) -> None:
    assert BY_SCHEMA.relationship(predicate) == said


@pytest.mark.parametrize(
    ("predicate", "said"),
    [
        ("was married to in 1890", Said("MARRIED_TO", period="in 1890")),
        ("MARRIED_TO", Said("MARRIED_TO")),
        ("was born on 12 May 1890 in", Said("BORN_IN", period="on 12 May 1890")),
        ("works for since May 3, 1890", Said("WORKS_FOR", period="since May 3, 1890")),
        ("is", Said("IS")),
        ("1890", Said("", period="1890")),
        ("part of", Said("")),
        ("related to", Said("")),
        ("विवाहित है", Said("विवाहित_है".upper())),
        ("x" * (LONGEST + 1), Said("")),
        ("--", Said("")),
    ],
)
def test_predicates_without_a_schema(predicate: str, said: Said) -> None:
    assert FREE.relationship(predicate) == said


@pytest.mark.parametrize(
    ("type", "label", "free"),
    [
        ("person", "Person", "Person"),
        ("PERSONS", "Person", "Persons"),
        ("character", "Person", "Character"),
        ("city", "", "City"),
        ("work of art", "", "WorkOfArt"),
        ("WorkOfArt", "", "WorkOfArt"),
        ("document", "", ""),
        ("other", "", ""),
        ("", "", ""),
    ],
)
def test_types(type: str, label: str, free: str) -> None:
    assert (BY_SCHEMA.label(type), FREE.label(type)) == (label, free)


@pytest.mark.parametrize(
    ("period", "dates"),
    [
        ("", (None, None)),
        ("1890", ("1890", None)),
        ("in June 1890", ("June 1890", None)),
        ("from May 1890 to 1893", ("May 1890", "1893")),
        ("between 1880 and 1890", ("1880", "1890")),
        ("1888-1891", ("1888", "1891")),
        ("1888–91", ("1888", "91")),
        ("1890-05-03", ("1890-05-03", None)),
        ("since 1890", ("1890", None)),
        ("until 1893", (None, "1893")),
        ("the night of the storm", ("the night of the storm", None)),
    ],
)
def test_periods_are_kept_as_they_are_said(period: str, dates: tuple[str | None, str | None]) -> None:
    assert split_period(period) == dates


def row(id: str, a: str, kind: str, predicate: str, b: str | None, other: str = "", **more: str) -> dict[str, Any]:
    names = ("id", "subject", "subject_type", "predicate", "object", "object_type")
    return {
        "status": None,
        "period": None,
        "text": "",
        **dict(zip(names, (id, a, kind, predicate, b, other), strict=True)),
        **more,
    }


def test_a_graph_by_hand() -> None:
    rows = [
        row("1", "ann", "Person", "married", "bob", period="in 1890"),
        row("2", "ann", "person", "MARRIED_TO", "bob", "Person"),
        row("3", "ann", "Person", "marries", "bob", period="1889"),
        row("4", "ann", "Place", "wed", "bob"),
        row("5", "rome", "Place", "lives in", "ann"),
        row("6", "rome", "Place", "married to", "ann"),
        row("7", "ann", "Person", "killed", "bob", status="suspected"),
        row("8", "eve", "Person", "is", None),
        row("9", "bob", "", "was killed by", "eve", text="Eve killed poor Bob."),
        row("10", "ann", "Person", "married", "eve", text="Eve was there."),
    ]
    graph = build_graph(reversed(rows), READ)
    assert graph.labels == {**dict.fromkeys(("ann", "bob", "eve"), "X_Person"), "rome": "X_Place"}
    assert graph.relationships == {
        ("ann", "X_MARRIED_TO", "bob"): {
            "statements": ["1", "2", "3"],
            "count": 3,
            "valid_from": "1889",
            "valid_to": None,
        },
        ("ann", "X_LIVES_IN", "rome"): {"statements": ["5"], "count": 1, "valid_from": None, "valid_to": None},
        ("eve", "X_KILLED", "bob"): {"statements": ["9"], "count": 1, "valid_from": None, "valid_to": None},
    }
    assert graph.outside == 4
    assert graph.patterns()[0] == "(:X_Person)-[:X_KILLED]->(:X_Person)"


def test_without_a_schema_the_number_of_names_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layer, "MOST_NAMES", 2)
    rows = [row(f"{n}", "a", f"Kind{n % 3}", f"verb {n % 3}", f"b{n}") for n in range(8)]
    graph = build_graph(rows, GraphSchema())
    assert {type for _, type, _ in graph.relationships} == {"VERB_0", "VERB_1"}
    assert (len(graph.relationships), graph.outside) == (6, 2)
    assert graph_schema.name_fault("VERB_0") == ""
