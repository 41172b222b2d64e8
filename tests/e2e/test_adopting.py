"""Text nodes that somebody else left in the database: adopted in place, asked, and let go without a trace."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import foreign
import pytest
import text_nodes
from at_server import connected, set_variables, settings_of
from langchain_core.language_models import FakeListChatModel
from langchain_neo4j import Neo4jVector
from neo4j import Driver
from neo4j.spatial import WGS84Point
from neo4j_graphrag.retrievers import VectorRetriever
from stated import state
from text_nodes import DOCUMENTS, Shape
from tiers import few_of

from e2g_neo4j import E2G, Passage, Settings, TextNode
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import E2GError, InputError, NotFoundError, QueryError
from e2g_neo4j.integrations.langchain import E2GEmbeddings, E2GRetriever
from e2g_neo4j.integrations.neo4j_graphrag import E2GEmbedder
from e2g_neo4j.integrations.passages import retrieval_query
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.retrieval.strategies import STRATEGIES
from e2g_neo4j.retrieval.where import Where

pytestmark = [pytest.mark.timeout(1200), pytest.mark.by_turns(2)]

MODES: tuple[str, ...] = (
    "auto",
    "e2g",
    "diffusion",
    "routes",
    "lightrag",
    "pagerank",
    "hipporag",
    "linear",
    "dense",
    "tree",
)
ASKED = {
    "What did Zyxelia Quorn bury under the old lighthouse of Hesk?": ("island.txt", 0, "silver lantern"),
    "What did Otto Vinge pay for the brass telescope?": ("harbour.txt", 2, "eleven crowns"),
}
"""Questions, the text node that has the answer, and the answer."""


@dataclass
class Place:
    """A server, and a client of ours."""

    connection: Connection
    driver: Driver
    settings: Settings
    client: E2G
    old: bool

    def rows(self, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        return [record.data() for record in self.driver.execute_query(statement, parameters).records]


@pytest.fixture(scope="module")
def old_place(scratch_5_26: Connection) -> Iterator[Place]:
    """On 5.26."""
    yield from opened(scratch_5_26, old=True)


@pytest.fixture(scope="module")
def place(scratch: Connection) -> Iterator[Place]:
    yield from opened(scratch, old=False)


def opened(connection: Connection, *, old: bool) -> Iterator[Place]:
    settings = settings_of(connection, group_size=2, workers=1)
    with connected(connection) as driver, E2G(settings=settings) as client:
        client.migrate()
        yield Place(connection, driver, settings, client, old)


@pytest.fixture
def plain(place: Place) -> Iterator[Shape]:
    """Text nodes in the shape of llm-graph-builder."""
    empty(place)
    yield text_nodes.llm_graph_builder(place.driver, place.settings, old=place.old)
    empty(place)


def empty(place: Place) -> None:
    place.driver.execute_query("MATCH (n) WHERE n.corpus IS NOT NULL DETACH DELETE n")
    text_nodes.wipe(place.driver)


def keys_of(place: Place, shape: Shape, file: str, number: int) -> str:
    """The element id of a text node."""
    [row] = place.rows(f"{shape.query} RETURN elementId(c) AS id", file=file, number=number)
    return str(row["id"])


def cited(passage: Passage) -> TextNode:
    assert passage.text_node is not None
    return passage.text_node


def ours_hold_no_text(place: Place) -> None:
    rows = place.rows(
        "MATCH (n) WHERE n.corpus = 'adopted' AND (n:Chunk OR n:Window) UNWIND keys(n) AS key "
        "RETURN labels(n) AS labels, key, n[key] AS value"
    )
    assert {row["labels"][0] for row in rows} == {"Chunk", "Window"}
    pieces = [
        text[at : at + 30] for texts in DOCUMENTS.values() for text in texts for at in range(0, len(text) - 30, 30)
    ]
    for row in rows:
        assert row["key"] != "text"
        assert (row["labels"][0], row["key"]) != ("Chunk", "embedding"), "a vector index of theirs would hold it"
        value = row["value"].decode("latin-1") if isinstance(row["value"], bytes) else str(row["value"])
        assert not any(piece in value for piece in pieces)


def found_by_them(place: Place, shape: Shape) -> list[Any]:
    """What their own retrievers find by their index."""
    if shape.vector_index is None:
        return []
    [question, *_] = ASKED
    theirs = VectorRetriever(place.driver, shape.vector_index, E2GEmbedder(place.settings), ["text"])
    found = [item.content for item in theirs.search(query_text=question, top_k=4).items]
    assert place.settings.neo4j_password
    store = Neo4jVector.from_existing_index(
        E2GEmbeddings(place.settings),
        shape.vector_index,
        url=place.settings.neo4j_uri,
        username=place.settings.neo4j_username,
        password=place.settings.neo4j_password.get_secret_value(),
    )
    found += [document.page_content for document in store.similarity_search(question, k=4)]
    store._driver.close()
    assert found
    return found


def nothing_of_ours_is_left(place: Place) -> None:
    assert place.rows("MATCH (n) WHERE n.corpus IS NOT NULL RETURN labels(n) AS labels") == []
    assert place.rows("MATCH ()-[r:STANDS_FOR|REFERS_TO]->() RETURN type(r) AS type") == []
    assert place.rows("MATCH (s:CachedSummary) RETURN s.key AS key") == []


@pytest.mark.full
@pytest.mark.parametrize(
    ("where", "build"),
    [
        *(
            pytest.param("place", build, marks=pytest.mark.long)
            for build in (text_nodes.neo4j_graphrag, text_nodes.langchain)
        ),
        pytest.param("place", text_nodes.llm_graph_builder),
        *(
            pytest.param("old_place", build, marks=[pytest.mark.long] if build is text_nodes.llm_graph_builder else [])
            for build in (text_nodes.langchain, text_nodes.llm_graph_builder)
        ),
    ],
)
def test_adopted_asked_changed_and_let_go(
    where: str, build: Callable[..., Shape], request: pytest.FixtureRequest
) -> None:
    place: Place = request.getfixturevalue(where)
    empty(place)
    modes = few_of(MODES, 4)
    shape = build(place.driver, place.settings, old=place.old)
    place.driver.execute_query("CREATE (:Someone {name: 'Luke Farran'})-[:SAILED]->(:Someone {name: 'Otto Vinge'})")
    before, found_before = foreign.dump(place.driver), found_by_them(place, shape)

    def unharmed(*, linked: bool = True) -> None:
        now = foreign.dump(place.driver)
        assert {kind: now[kind] == before[kind] for kind in before if kind != "degrees" or not linked} == {
            kind: True for kind in before if kind != "degrees" or not linked
        }

    # Adopted: a chunk for each of their nodes, and no text of theirs in any of ours.
    report = place.client.adopt(corpus="adopted", **shape.adoption)
    assert (report.nodes, report.without_text, report.without_key, report.without_document) == (6, 0, 0, 0)
    assert (report.index.documents, report.index.chunks) == (2, 6)
    place.client.enrich(corpus="adopted", layers=["sentences"])
    assert [one.title for one in place.client.documents("adopted")] == ["harbour.txt", "island.txt"]
    ours_hold_no_text(place)
    assert found_by_them(place, shape) == found_before
    unharmed()

    # Asked: passages are what their nodes say, and say which.
    for question, (file, number, answer) in ASKED.items():
        node, text = keys_of(place, shape, file, number), DOCUMENTS[file][number]
        for mode in modes:
            evidence = place.client.retrieve(question, corpus="adopted", mode=mode, k=3)
            whole = "\n\n".join(DOCUMENTS[file])
            shown = [one for one in evidence.passages if not one.level and cited(one).element_id == node]
            assert any(answer in one.text for one in shown), mode
            for one in shown:
                assert text[cited(one).start : cited(one).end] == one.text == whole[one.start : one.end]
                assert one.document == file
    for mode in ("fulltext", "hybrid"):
        with pytest.raises(QueryError, match="adopted"):
            place.client.retrieve(question, corpus="adopted", mode=mode)
    unharmed()

    # The full-text index has none of its words, so none are counted.
    assert place.rows("MATCH (t:Term {corpus: 'adopted'}) RETURN t") == []

    # The same call again changes nothing; a text that changed is read again, and only that.
    assert place.client.adopt(corpus="adopted", **shape.adoption).index.unchanged == 2
    vectors = "MATCH (w:Window {corpus: 'adopted'}) RETURN w.id AS id, w.embedding AS vector ORDER BY id"
    kept = {row["id"]: row["vector"] for row in place.rows(vectors)}
    place.rows(
        f"{shape.query} SET c.text = 'Otto Vinge gave the brass telescope to Ada Brandt of Uppsala.'",
        file="harbour.txt",
        number=2,
    )
    question = "To whom did Otto Vinge give the brass telescope?"
    for mode in modes:
        for one in place.client.retrieve(question, corpus="adopted", mode=mode).passages:
            assert one.text, "what is there now is shown, or nothing"
    again = place.client.adopt(corpus="adopted", **shape.adoption).index
    assert (again.documents, again.unchanged, again.chunks, again.kept) == (1, 1, 1, 2)
    now = {row["id"]: row["vector"] for row in place.rows(vectors)}
    assert len(kept.keys() - now.keys()) == 1
    assert all(now[id] == kept[id] for id in kept.keys() & now.keys())
    for mode in modes:
        best = next(
            one for one in place.client.retrieve(question, corpus="adopted", mode=mode).passages if not one.level
        )
        assert best.text == "Otto Vinge gave the brass telescope to Ada Brandt of Uppsala.", mode

    # A node that goes is shown no more, and adopting again forgets it; one that comes is found.
    place.rows(f"{shape.query} DETACH DELETE c", file="harbour.txt", number=2)
    for mode in modes:
        found = place.client.retrieve(question, corpus="adopted", mode=mode, k=100).passages
        assert found or mode == "e2g", "which shows chunks that name two entities of the question"
        assert not any("telescope" in one.text for one in found if not one.level)
    gone = place.client.adopt(corpus="adopted", **shape.adoption)
    assert (gone.nodes, gone.index.documents, gone.index.kept) == (5, 1, 2)
    assert not any("telescope" in one.text for one in place.client.retrieve(question, corpus="adopted", k=100).passages)

    # Linked and asked with their facts, and all of it let go: what is left of theirs is as they left it.
    left = foreign.dump(place.driver)
    place.client.unadopt(corpus="adopted")
    before = foreign.dump(place.driver)
    assert {kind: left[kind] for kind in left if kind != "degrees"} == {
        kind: before[kind] for kind in before if kind != "degrees"
    }
    place.client.adopt(corpus="adopted", **shape.adoption)
    assert [one.key for one in place.client.link(corpus="adopted", label="Someone", name="name").links] == [
        "luke farran"
    ]
    asked = place.client.retrieve("Who was Luke Farran?", corpus="adopted", relationship_types=["SAILED"])
    assert [fact.to_sentence() for fact in asked.facts] == ["Luke Farran SAILED Otto Vinge"]
    assert place.client.unlink(corpus="adopted") == 1
    assert len(place.client.unadopt(corpus="adopted")) == 2
    nothing_of_ours_is_left(place)
    unharmed(linked=False)
    with pytest.raises(NotFoundError):
        place.client.unadopt(corpus="adopted")


@pytest.mark.parametrize(
    ("build", "name"), [(text_nodes.simple_kg_pipeline, "name"), (text_nodes.graph_documents, "id")]
)
def test_what_others_found_in_a_text_is_linked_to_its_entities(
    place: Place, build: Callable[..., Shape], name: str
) -> None:
    """Each node is linked, one that only has a surname too, however many have the same name."""
    empty(place)
    shape = build(place.driver, place.settings)
    place.driver.execute_query("CREATE (:Person {id: 'Karl Quist', name: 'Karl Quist', born: 1999}), (:e2gNode)")
    before = foreign.dump(place.driver)
    place.client.adopt(corpus="adopted", **shape.adoption)
    rehearsed = place.client.link(corpus="adopted", label=["__Entity__", "Person"], name=name, dry_run=True)
    report = place.client.link(corpus="adopted", label=["__Entity__", "Person"], name=name)
    people = place.rows("MATCH (n:Person) RETURN elementId(n) AS node, n[$name] AS name", name=name)
    linked = {one.node: (one.node_name, one.key, one.method) for one in report.links}
    assert {(one.node, one.key) for one in rehearsed.links} == {(one.node, one.key) for one in report.links}
    assert {row["name"] for row in people if row["node"] not in linked} <= {"chronometer", "Karl Quist"}
    assert {row["node"] for row in people if row["name"] == "Luke Farran"} <= linked.keys()
    assert {one for one in linked.values() if one[0] == "Crail"} == {("Crail", "walter crail", "chunk")}
    assert {one for one in linked.values() if one[0] == "THEODORA QUILL"} == {
        ("THEODORA QUILL", "theodora quill", "folded")
    }
    [quist] = [one for one in linked if linked[one][0] == "Karl Quist"]
    assert not place.rows("MATCH (n {born: 1999}) WHERE elementId(n) = $node RETURN n", node=quist), (
        "not in these texts"
    )
    assert report.ambiguous == ()
    again = place.client.link(corpus="adopted", label=["__Entity__", "Person"], name=name)
    assert (again.added, again.removed) == (0, 0)
    asked = place.client.retrieve("Who met Otto Vinge?", corpus="adopted", relationship_types=["MET"])
    assert "Luke Farran MET Otto Vinge" in {fact.to_sentence() for fact in asked.facts}
    with pytest.raises(InputError, match="has the label 'e2gNode'"):
        place.client.link(corpus="adopted", label="e2gNode", name=name)
    place.client.unadopt(corpus="adopted")
    assert foreign.dump(place.driver) == before
    empty(place)


# --- one corpus, two kinds ---------------------------------------------------------------------------


def test_what_was_indexed_and_what_was_adopted_keep_apart(place: Place, plain: Shape, tmp_path: Path) -> None:
    client = place.client
    client.index([from_text("Luke Farran came home.", corpus="indexed", source="x")], corpus="indexed")
    client.adopt(corpus="adopted", **plain.adoption)
    refused: dict[str, Callable[[], object]] = {
        "another corpus": lambda: client.adopt(corpus="indexed", **plain.adoption),
        "position": lambda: client.adopt(corpus="adopted", label="Chunk"),
        "index into another": lambda: client.index([from_text("No.", corpus="adopted", source="x")], corpus="adopted"),
        "ask both": lambda: client.index(
            [from_text("No.", corpus="adopted", source="x")], corpus="adopted", dry_run=True
        ),
        "e2g unadopt": lambda: client.delete(corpus="adopted"),
        "adopt again": lambda: client.delete(["harbour.txt"], corpus="adopted"),
        "back up": lambda: client.export_corpus(tmp_path / "a.zip", corpus="adopted"),
        "e2g delete": lambda: client.unadopt(corpus="indexed"),
    }
    before = client.stats("adopted"), client.stats("indexed")
    for told, call in refused.items():
        with pytest.raises(InputError, match=told):
            call()
    assert (client.stats("adopted"), client.stats("indexed")) == before
    both = client.retrieve("Luke Farran", corpora=["adopted", "indexed"], k=100).passages
    assert {(one.corpus, one.text_node is None) for one in both if not one.level} == {
        ("adopted", False),
        ("indexed", True),
    }
    client.export_corpus(tmp_path / "a.zip", corpus="indexed")
    with pytest.raises(InputError):
        client.import_corpus(tmp_path / "a.zip", corpus="adopted")


def test_what_enrich_makes_is_neither_adopted_nor_linked(place: Place, plain: Shape) -> None:
    """Labels of this project that a user's own nodes may have too."""
    client = place.client
    client.index([from_text("Luke Farran came home.", corpus="indexed", source="x")], corpus="indexed")
    for label in ("Document", "Community", "Cluster", "Statement"):
        place.rows(f"CREATE (:{label} {{id: '1', title: 'Luke Farran', text: 'Theirs.'}})")
        place.rows(f"CREATE (:{label} {{corpus: 'another', id: '2', title: 'Luke Farran', text: 'Of another one.'}})")
        assert client.adopt(corpus=f"adopted-{label}", label=label, text="text", key="id").nodes == 1
        assert len(client.link(corpus="indexed", label=label, name="title").links) == 1


def test_what_cannot_be_adopted_leaves_nothing(place: Place, plain: Shape) -> None:
    give(place, berth=WGS84Point((8.0, 49.0)))
    before = foreign.dump(place.driver)
    refused: tuple[tuple[dict[str, Any], str], ...] = (
        ({"properties": ["autor"]}, ""),
        ({"properties": ["berth"]}, ""),
        ({"properties": "berth"}, ""),
        ({"label": "Chunc"}, "No node has the label 'Chunc'. Did you mean 'Chunk'?"),
        ({"text": "txt"}, "has the property 'txt' (`text`). Did you mean 'text'? They have: "),
        ({"key": "ids"}, "has the property 'ids' (`key`). Did you mean 'id'? They have: "),
        ({"key": "embedding"}, "a text or an integer as its 'embedding'"),
        ({"key": "fileName"}, ""),
        (
            {"part_of": "PART_OFF"},
            "No relationship of the type 'PART_OFF' (`part_of`) begins at a node labelled 'Chunk'",
        ),
        ({"document": "fileName"}, ""),
        ({"order": ""}, ""),
        ({"label": "`Chunk`) DETACH DELETE n //"}, ""),
    )
    for wrong, told in refused:
        with pytest.raises(InputError) as found:
            place.client.adopt(corpus="adopted", **{**plain.adoption, **wrong})
        assert told in str(found.value)
        assert not told or "Nothing was changed" in str(found.value)
        nothing_of_ours_is_left(place)
        assert foreign.dump(place.driver) == before, wrong


def test_what_lacks_something_is_told(place: Place, plain: Shape) -> None:
    place.rows("CREATE (:Chunk {id: 'a'}), (:Chunk {text: 'No key.'}), (:Chunk {id: 'b', text: 'No document.'})")
    place.rows("MATCH (d:Document {fileName: 'island.txt'}) CREATE (:Chunk {id: 'c', text: ' '})-[:PART_OF]->(d)")
    report = place.client.adopt(corpus="adopted", **plain.adoption)
    assert (report.nodes, report.without_key, report.without_text, report.without_document) == (6, 1, 1, 2)


# --- their properties --------------------------------------------------------------------------------


def properties_of(place: Place) -> dict[str, dict[str, Any]]:
    return {one.title: dict(one.properties) for one in place.client.documents("adopted")}


def give(place: Place, **properties: Any) -> None:
    """Give properties to the node of a document of llm-graph-builder; None takes them away."""
    place.rows("MATCH (d:Document {fileName: 'harbour.txt'}) WHERE d.corpus IS NULL SET d += $given", given=properties)


@pytest.mark.full
@pytest.mark.parametrize(
    ("where", "build"),
    [("place", text_nodes.llm_graph_builder), pytest.param("old_place", text_nodes.langchain, marks=pytest.mark.long)],
)
def test_questions_are_restricted_by_their_properties(
    where: str, build: Callable[..., Shape], request: pytest.FixtureRequest
) -> None:
    """Those of the documents' nodes, or those of the text nodes. In every mode, and in layers."""
    place: Place = request.getfixturevalue(where)
    empty(place)
    shape = build(place.driver, place.settings, old=place.old)
    nodes = "(:Document {fileName: $file})" if "part_of" in shape.adoption else "(:Page {source: $file})"
    for file, written in {"harbour.txt": 1908, "island.txt": 1897}.items():
        place.rows(
            f"MATCH (n {nodes[1:-1]}) WHERE n.corpus IS NULL "
            "SET n.written = date({year: $written, month: 2, day: 1}), n.year = $written, n.tags = ['sea', $file]",
            file=file,
            written=written,
        )
    before = foreign.dump(place.driver)
    report = place.client.adopt(corpus="adopted", **shape.adoption, properties=["written", "year", "tags"])
    assert report.adoption.properties == ("written", "year", "tags")
    assert report.several_values == {}
    assert properties_of(place)["harbour.txt"] == {
        "tags": ("sea", "harbour.txt"),
        "written": "1908-02-01",
        "year": 1908,
    }
    place.client.enrich(corpus="adopted")
    state(place.client, "adopted")
    now = foreign.dump(place.driver)
    assert {kind: now[kind] == before[kind] for kind in before} == {kind: kind != "degrees" for kind in before}

    question = "What did Luke Farran carry to the island of Hesk?"
    conditions: tuple[Where, ...] = (
        {"year": {">=": 1900}},
        ["written>1900-01-01"],
        {"tags": "harbour.txt", "year": 1908},
    )
    for mode in few_of(sorted(set(STRATEGIES) - {"fulltext", "hybrid"}), 10):
        for condition in conditions:
            found = place.client.retrieve(question, corpus="adopted", mode=mode, k=100, where=condition)
            assert {one.document for one in found.passages} == {"harbour.txt"}, mode
            assert "1 of 2 documents." in found.reason
    with pytest.raises(QueryError, match=r"'author'\. They have: tags, written, year"):
        place.client.retrieve(question, corpus="adopted", where={"author": "Stoker"})
    place.client.unadopt(corpus="adopted")
    nothing_of_ours_is_left(place)
    assert foreign.dump(place.driver) == before


def test_properties_alone_are_updated(place: Place, plain: Shape) -> None:
    """Another list of properties, or other values, change the documents, and no text or vector is made anew."""
    old = '{"label": "Chunk", "text": "text", "key": "id", "order": "position", "document": null, "part_of": "PART_OF"}'
    options = "MATCH (c:Corpus {corpus: 'adopted'}) RETURN c.adopts AS options, c.adopted_properties AS properties"
    vectors = "MATCH (w:Window {corpus: 'adopted'}) RETURN elementId(w) AS id, w.embedding AS vector ORDER BY id"

    def adopt(*names: str) -> dict[str, dict[str, Any]]:
        report = place.client.adopt(corpus="adopted", **plain.adoption, properties=names).index
        assert (report.unchanged, report.documents, report.chunks) == (2, 0, 0)
        assert place.rows(options) == [{"options": old, "properties": list(names) or None}]
        assert place.rows(vectors) == made
        return properties_of(place)

    give(place, author="Stoker", year=1897)
    place.client.adopt(corpus="adopted", **plain.adoption)
    assert place.rows(options) == [{"options": old, "properties": None}]
    made = place.rows(vectors)
    assert adopt() == {"harbour.txt": {}, "island.txt": {}}
    assert adopt("year", "author") == {"harbour.txt": {"author": "Stoker", "year": 1897}, "island.txt": {}}
    give(place, year=1898)
    assert place.client.resume(corpus="adopted").unchanged == 2
    assert properties_of(place)["harbour.txt"] == {"author": "Stoker", "year": 1898}
    give(place, year=None, author="Shelley")
    assert adopt("author")["harbour.txt"] == {"author": "Shelley"}
    with pytest.raises(InputError, match="No node at the end of PART_OF has a property 'year'"):
        place.client.adopt(corpus="adopted", **plain.adoption, properties=["year"])
    with pytest.raises(InputError, match="adopted with other options"):
        place.client.adopt(corpus="adopted", label="Chunk", properties=["author"])
    assert properties_of(place)["harbour.txt"] == {"author": "Shelley"}
    assert adopt() == {"harbour.txt": {}, "island.txt": {}}


def test_a_document_has_all_values_of_its_text_nodes(place: Place, plain: Shape) -> None:
    adoption: dict[str, Any] = {"label": "Chunk", "order": "position", "document": "fileName"}
    place.rows("MATCH (c:Chunk {position: 2}) WHERE c.corpus IS NULL SET c.hand = 'Otto', c.fair = true")
    place.rows("MATCH (c:Chunk {position: 3, fileName: 'island.txt'}) WHERE c.corpus IS NULL SET c.hand = 'Ada'")
    report = place.client.adopt(corpus="adopted", **adoption, properties=["hand", "fair"])
    assert report.several_values == {"hand": 1}
    assert properties_of(place) == {
        "harbour.txt": {"fair": True, "hand": "Otto"},
        "island.txt": {"fair": True, "hand": ("Ada", "Otto")},
    }
    found = place.client.retrieve("Who sailed?", corpus="adopted", k=100, where={"hand": "Ada"})
    assert {one.document for one in found.passages} == {"island.txt"}


@pytest.mark.full
@pytest.mark.parametrize("where", ["place", "old_place"])
def test_several_properties_are_one_text(where: str, request: pytest.FixtureRequest) -> None:
    place: Place = request.getfixturevalue(where)
    place.rows(
        "CREATE (:Film {id: 1, title: 'The Log', plot: 'Josiah Quill sails to Hesk.'}), (:Film {id: 2, title: 'Fog', "
        "plot: ''}), (:Film {id: 3, plot: 'Luke Farran finds the chronometer.'}), (:Film {id: 4, title: 5})"
    )
    try:
        with pytest.raises(InputError, match=r"property 'plott' \(`text`\)\. Did you mean 'plot'\?"):
            place.client.adopt(corpus="adopted", label="Film", text="title,plott")
        report = place.client.adopt(corpus="adopted", label="Film", text="title, plot", document="id")
        assert (report.index.documents, report.without_text) == (3, 1)
        texts = [one.text for one in place.client.retrieve("Who sails?", corpus="adopted").passages]
        assert sorted(texts) == [
            "Fog",
            "Luke Farran finds the chronometer.",
            "The Log\n\nJosiah Quill sails to Hesk.",
        ]
        place.rows("MATCH (f:Film {id: 1}) SET f.title = 'The Lost Log'")
        again = place.client.adopt(corpus="adopted", label="Film", text="title, plot", document="id").index
        assert (again.replaced, again.unchanged) == (1, 2)
        [film] = [one for one in place.client.documents("adopted") if one.title == "1"]
        assert place.client.text(film.id, corpus="adopted").text.startswith("The Lost Log\n\nJosiah")
    finally:
        place.client.unadopt(corpus="adopted")
        place.rows("MATCH (f:Film) DETACH DELETE f")


# --- what happens on the way -------------------------------------------------------------------------


def test_a_run_that_failed_is_resumed_with_its_options(
    place: Place, plain: Shape, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object) -> None:
        raise MemoryError("The model broke down.")

    with monkeypatch.context() as patch:
        patch.setattr("e2g_neo4j.indexing.run.embed_long", broken)
        with pytest.raises(MemoryError):
            place.client.adopt(corpus="adopted", **plain.adoption)
    assert {one.state for one in place.client.documents("adopted")} == {"failed"}
    with pytest.raises(InputError):
        place.client.index([from_text("No.", corpus="adopted", source="x")], corpus="adopted")
    assert place.client.resume(corpus="adopted").documents == 2
    assert place.client.resume(corpus="adopted").unchanged == 2
    place.client.unadopt(corpus="adopted")
    nothing_of_ours_is_left(place)


def test_nodes_that_were_made_anew_are_stood_for_again(place: Place, plain: Shape) -> None:
    """Their tool writes the same nodes again: nothing is read again, and they are cited by their new ids."""
    place.client.adopt(corpus="adopted", **plain.adoption)
    place.rows(
        "MATCH (c:Chunk {fileName: 'harbour.txt'})-[:PART_OF]->(d) WITH c, d, properties(c) AS held "
        "DETACH DELETE c WITH d, collect(held) AS all UNWIND all AS held CREATE (n:Chunk)-[:PART_OF]->(d) SET n = held"
    )
    again = place.client.adopt(corpus="adopted", **plain.adoption).index
    assert (again.unchanged, again.chunks) == (2, 0)
    question, (file, number, answer) = list(ASKED.items())[1]
    found = place.client.retrieve(question, corpus="adopted", k=2).passages
    assert keys_of(place, plain, file, number) in {cited(one).element_id for one in found if answer in one.text}


def test_names_are_kept_apart_and_joined_again(place: Place, plain: Shape) -> None:
    place.rows("MATCH (c:Chunk {fileName: 'harbour.txt', position: 3}) SET c.text = c.text + ' Vinge went home.'")
    place.client.adopt(corpus="adopted", **plain.adoption)
    before = place.client.stats("adopted")
    assert place.client.split("Vinge", corpus="adopted")
    assert place.client.join("Vinge", corpus="adopted")
    assert place.client.stats("adopted") == before
    ours_hold_no_text(place)


# --- what others see of it ---------------------------------------------------------------------------


def test_answers_pictures_and_other_frameworks_show_their_texts(place: Place, plain: Shape) -> None:
    place.client.adopt(corpus="adopted", **plain.adoption)
    [(question, (file, number, answer)), *_] = ASKED.items()
    node = keys_of(place, plain, file, number)
    with E2G(settings=place.settings, chat_model=FakeListChatModel(responses=["The silver lantern. [1]"])) as client:
        [citation] = client.answer(question, corpus="adopted", k=2).citations
    assert citation.passage.text_node is not None

    documents = E2GRetriever(client=place.client, corpus="adopted", k=3).invoke(question)
    assert any(one.metadata["text_node"]["element_id"] == node and answer in one.page_content for one in documents)

    vector = E2GEmbedder(place.settings).embed_query(question)
    rows = place.rows(
        "CALL db.index.vector.queryNodes('e2g_window_embedding', 5, $vector) YIELD node, score " + retrieval_query(),
        vector=vector,
        corpus="adopted",
        limit=5,
    )
    assert any(answer in row["text"] and row["metadata"]["text_node"]["element_id"] == node for row in rows)
    for row in rows:
        told = row["metadata"]
        assert "\n\n".join(DOCUMENTS[told["document"]])[told["start"] : told["end"]] == row["text"]

    evidence = place.client.retrieve(question, corpus="adopted")
    from e2g_neo4j.browser.drawing import page

    assert "neo4j-viz-data" in page(place.client.paths(evidence))


def test_commands(
    place: Place, plain: Shape, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    set_variables(monkeypatch, place.connection, E2G_WORKERS="1")

    def output(*arguments: str, code: int = 0) -> str:
        ended, *printed = run(*arguments)
        assert ended == code, printed
        return "".join(printed)

    place.rows("CREATE (:Chunk {text: 'No key.'})")
    give(place, author="Bram Stoker", year=1897)
    options = ("--label", "Chunk", "--order", "position", "--part-of", "PART_OF", "--properties", "author, year")
    adopt = ("adopt", "--corpus", "adopted", *options)
    told = output(*adopt)
    assert "6 text nodes labelled Chunk" in told
    assert "1 node without a key as id" in told
    assert json.loads(output(*adopt, "--json"))["index"]["unchanged"] == 2
    [question, *_] = ASKED
    found = json.loads(output("query", question, "--corpus", "adopted", "--json", "-k", "2"))["passages"][0]
    assert found["text_node"]["key"] == "island.txt:0"
    assert "node island.txt:0, characters " in output("query", question, "--corpus", "adopted")
    where = ("--where", "year>=1890", "--where", "author=Bram Stoker")
    found = json.loads(output("query", question, "--corpus", "adopted", "--json", "-k", "100", *where))["passages"]
    assert {one["document"] for one in found} == {"harbour.txt"}
    by_node = ("adopt", "--corpus", "by-node", "--label", "Chunk", "--order", "position", "--document", "fileName")
    assert "Several values of position: 2 documents" in output(*by_node, "--properties", "position")
    output("unadopt", "--corpus", "by-node", "--yes")
    assert "harbour.txt" in output("documents", "--corpus", "adopted")
    assert "e2g unadopt" in output("delete", "--corpus", "adopted", "--yes", code=InputError.exit_code)
    assert "adopted with other options" in output("adopt", "--corpus", "adopted", "--label", "X", code=4)
    assert "No corpus is named" in output("unadopt", code=QueryError.exit_code)
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n"))
    assert "The text nodes are kept." in output("unadopt", "--corpus", "adopted", code=1)
    assert "harbour.txt" in output("documents", "--corpus", "adopted")
    assert "2 documents" in output("unadopt", "--corpus", "adopted", "--yes")
    assert "no document" in output("unadopt", "--corpus", "adopted", "--yes", code=E2GError.exit_code + 4)
    nothing_of_ours_is_left(place)
