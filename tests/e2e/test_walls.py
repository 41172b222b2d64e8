"""Corpora do not see each other: two full of the same names and texts, and every public call there is.

The calls are listed by the test itself: whoever adds one has to say here how it keeps to its corpus.
"""

from __future__ import annotations

import asyncio
import inspect
import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, is_dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import typer
from at_server import set_variables
from graphs import snapshot
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_neo4j.graphs.graph_document import GraphDocument, Node, Relationship
from libraries import remove
from neo4j import Driver
from stated import state
from tiers import few_of

from e2g_neo4j import E2G, AsyncE2G, Settings, from_text
from e2g_neo4j.browser.guide import GuideServer
from e2g_neo4j.cli.app import app
from e2g_neo4j.errors import ConfigurationError, InputError, NotFoundError
from e2g_neo4j.evaluation import Question, compare, evaluate
from e2g_neo4j.graph.catalog import describe_community, describe_neighbourhood, shared_entities
from e2g_neo4j.retrieval.strategies import STRATEGIES
from e2g_neo4j.service.connections import find_quotes
from e2g_neo4j.types.ids import corpus_key

TEXTS = {
    "ann.txt": "Ann Harper met Bob Miller in Paris. Bob Miller had a letter from Carol Dean. Miller read it.",
    "bob.txt": "Bob Miller sailed to Lisbon. In Lisbon he sold the letter to Dora Finch.",
}
SECRET = "Ann Harper and Dora Finch hid Zyxelia Quorn in the letter."
"""A sentence of the other corpus only: it joins two entities that both have, and says what nobody here may hear."""

QUESTIONS = (
    "What did Ann Harper do with Dora Finch and Zyxelia Quorn?",
    "Who is Zyxelia Quorn?",
    "letter",
    'Ann +corpus_key:{key} "OR" text:Quorn*',
)


@dataclass(frozen=True)
class Two:
    """A corpus, the other one, and what may not be seen of that."""

    mine: str
    other: str
    library: Path
    hidden: frozenset[str]
    label: str
    """Of two nodes of somebody else's, called like a person of both corpora and one of the other only. The first has a
    text."""


class Awaited:
    """The async client, called like the other one."""

    def __init__(self, client: AsyncE2G, runner: asyncio.Runner) -> None:
        self._client, self._runner = client, runner

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._client, name)

        async def gathered(stream: Any) -> list[Any]:
            return [item async for item in stream]

        def run(*arguments: Any, **options: Any) -> Any:
            made = call(*arguments, **options)
            return self._runner.run(gathered(made) if inspect.isasyncgen(made) else made)

        return run


@pytest.fixture(scope="module")
def clients(settings: Settings) -> Iterator[dict[type, Any]]:
    reply = {
        "points": [{"text": "Nothing is known of that.", "score": 9, "passages": [1], "reports": [1]}],
        "follow_ups": [{"question": QUESTIONS[1], "score": 9}],
    }
    model = FakeListChatModel(responses=[json.dumps(reply)])
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner())
        both = AsyncE2G(settings=settings, chat_model=model)
        stack.callback(lambda: runner.run(both.close()))
        sync = stack.enter_context(E2G(settings=settings, chat_model=model))
        yield {E2G: sync, AsyncE2G: Awaited(both, runner)}


def library(folder: Path, more: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in TEXTS.items():
        (folder / name).write_text(f"{text} {more}".strip())
    return folder


@pytest.fixture(scope="module")
def asked(clients, driver: Driver, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    """The same files, indexed into both; the other corpus has the secret in addition. Calls that only read share it."""
    name, folder = f"walls-{uuid4().hex[:8]}", tmp_path_factory.mktemp("walls") / "library"
    filled(clients[E2G], library(folder, SECRET), f"{name}-other")
    filled(clients[E2G], library(folder), name)
    found = pair(clients[E2G], driver, folder, name, f"{name}-other")
    before = [snapshot(driver, one, exact=True) for one in (found.mine, found.other)]
    yield found
    assert [snapshot(driver, one, exact=True) for one in (found.mine, found.other)] == before
    remove(driver, [found.mine, found.other])
    driver.execute_query("MATCH (n:$($label)) DETACH DELETE n", label=found.label)


@pytest.fixture
def two(clients, asked: Two, driver: Driver, tmp_path: Path) -> Iterator[Two]:
    """As `asked`, with a corpus for one call that writes. The name of the other one begins with its name."""
    name = f"{asked.mine}-o"
    filled(clients[E2G], library(tmp_path / "library"), name)
    found = pair(clients[E2G], driver, tmp_path / "library", name, asked.other)
    before = snapshot(driver, found.other, exact=True), remembered(driver, found.other)
    yield found
    assert (snapshot(driver, found.other, exact=True), remembered(driver, found.other)) == before, (
        "the other corpus has changed"
    )
    remove(driver, [found.mine])
    driver.execute_query("MATCH (n:$($label)) DETACH DELETE n", label=found.label)


def filled(client: E2G, folder: Path, corpus: str) -> None:
    client.index([folder], corpus=corpus, properties={"wall": 1})
    assert client.enrich(corpus=corpus).layers["communities"].total
    state(client, corpus)
    assert client.enrich(corpus=corpus, layers=["typed"]).layers["typed"].labelled


def pair(client: E2G, driver: Driver, folder: Path, mine: str, other: str) -> Two:
    rows = driver.execute_query(
        "MATCH (n:!Community {corpus: $corpus}) WHERE n.id IS NOT NULL AND n.level IS NOT NULL RETURN n.id AS id",
        corpus=other,
    ).records  # those of communities depend on the names of entities alone
    ids = {row["id"] for row in rows} | {one.id for one in client.documents(other)}
    driver.execute_query(
        "CREATE (:$($label) {name: 'Ann Harper', id: 1, text: 'Ann Harper met Bob Miller in Rome.'})"
        "-[:KNOWS]->(:$($label) {name: 'Quorn'})",
        label=f"People {mine}",
    )
    hidden = frozenset(ids | {"Zyxelia Quorn in", "hid Zyxelia", corpus_key(other)})
    return Two(mine, other, folder, hidden, f"People {mine}")


def remembered(driver: Driver, corpus: str) -> list[Any]:
    rows = driver.execute_query("MATCH (s:CachedSummary) WHERE $c IN s.corpora RETURN s.key AS key", c=corpus).records
    return sorted(row["key"] for row in rows)


def assert_nothing_of_the_other(two: Two, result: Any) -> None:
    """Neither text nor ids of the other corpus, nor its name."""
    told = json.dumps(plain(result), default=str, ensure_ascii=False)
    for hidden in (*two.hidden, two.other):
        assert hidden not in told, hidden


def plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return [plain(one) for one in value] if isinstance(value, (list, tuple)) else value


# --- what each call keeps to -------------------------------------------------------------------------


def index(client: Any, two: Two) -> None:
    assert client.index([two.library], corpus=two.mine, dry_run=True).unchanged == len(TEXTS)
    assert client.index([two.library], corpus=f"{two.mine}-new", dry_run=True).unchanged == 0
    (two.library / "ann.txt").write_text("Ann Harper left Paris.")
    report = client.index([two.library], corpus=two.mine)
    assert (report.documents, report.unchanged, report.replaced) == (1, 1, 1)


def resume(client: Any, two: Two) -> None:
    assert client.resume(corpus=two.mine).documents == 0
    with pytest.raises(NotFoundError):
        client.resume(corpus=f"{two.mine}-none")


def delete(client: Any, two: Two) -> None:
    for foreign in (one.id for one in client.documents(two.other)):
        with pytest.raises(NotFoundError):
            client.delete([foreign], corpus=two.mine)
    assert len(client.delete([two.library / "ann.txt"], corpus=two.mine)) == 1
    assert len(client.delete(corpus=two.mine)) == 1


def documents(client: Any, two: Two) -> None:
    found = client.documents(two.mine)
    assert len(found) == len(TEXTS)
    assert_nothing_of_the_other(two, found)


def corpora(client: Any, two: Two) -> None:
    found = client.corpora()
    assert (found[two.mine], found[two.other]) == (len(TEXTS), len(TEXTS))


def stats(client: Any, two: Two) -> None:
    """As where the other corpus never was: they share all texts but a sentence."""
    mine, other = client.stats(two.mine), client.stats(two.other)
    assert mine["documents"] == other["documents"] == len(TEXTS)
    assert mine["characters"] == sum(map(len, TEXTS.values()))
    assert mine["entities"] < other["entities"]
    assert mine["co_occurrences"] < other["co_occurrences"]


def modes(client: Any, two: Two) -> None:
    """What a corpus lacks for a mode says nothing of another one."""
    found = client.modes([two.mine])
    assert [one.name for one in found] == list(STRATEGIES)
    assert two.other not in json.dumps(plain(found), default=str)


def retrieve(client: Any, two: Two) -> None:
    for question in QUESTIONS:
        for mode in STRATEGIES:
            found = client.retrieve(question.replace("{key}", corpus_key(two.other)), corpus=two.mine, mode=mode, k=100)
            assert_nothing_of_the_other(two, found.passages)
            assert "zyxelia quorn" not in found.entities
            texts = [passage for passage in found.passages if not passage.level]  # others are summaries of clusters
            assert all(passage.text in TEXTS[Path(passage.source).name] for passage in texts)
            assert mode == "raptor" or len(texts) == len(found.passages)
            for pair in found.pairs:  # the secret would make them neighbours
                assert (pair.a, pair.b, pair.hops) != ("ann harper", "dora finch", 1)
    for mode in STRATEGIES:
        found = client.retrieve(QUESTIONS[0], corpus=two.mine, mode=mode, k=100, where={"wall": 1})
        assert_nothing_of_the_other(two, found.passages)
        assert all(passage.level or passage.text in TEXTS[Path(passage.source).name] for passage in found.passages)
    near = client.retrieve(QUESTIONS[0], corpus=two.other, mode="e2g")
    assert ("ann harper", "dora finch", 1) in {(pair.a, pair.b, pair.hops) for pair in near.pairs}, "there it does"


def paths(client: Any, two: Two) -> None:
    """Of evidence that was made up to name nodes of the other corpus, nothing is found."""
    evidence = client.retrieve(QUESTIONS[0], corpus=two.mine, k=100)
    foreign = client.retrieve(QUESTIONS[0], corpus=two.other, k=100)
    found = client.paths(replace(evidence, passages=evidence.passages + foreign.passages, entities=foreign.entities))
    nodes = [node for path in found for node in path.nodes]
    assert {node["corpus"] for node in nodes} == {two.mine}
    assert_nothing_of_the_other(two, [dict(node) for node in nodes])


def describe_entity(client: Any, two: Two) -> None:
    found = client.describe_entity("Ann Harper", corpus=two.mine)
    assert found.entity.description in " ".join(TEXTS.values())
    assert_nothing_of_the_other(two, found)
    with pytest.raises(NotFoundError):
        client.describe_entity("Zyxelia Quorn", corpus=two.mine)


def entities(client: Any, two: Two) -> None:
    mine = {one.key: one for one in client.entities(corpus=two.mine)}
    other = {one.key: one for one in client.entities(corpus=two.other)}
    assert mine.keys() < other.keys()
    assert (mine["ann harper"].mentions, mine["ann harper"].documents) == (1, 1)
    assert_nothing_of_the_other(two, list(mine.values()))


def merges(client: Any, two: Two) -> None:
    found = client.merges(corpus=two.mine)
    assert [(one.key, one.entity) for one in found] == [("miller", "bob miller")]
    assert {one.document for one in found} <= {one.id for one in client.documents(two.mine)}


def split(client: Any, two: Two) -> None:
    assert client.split("Miller", corpus=two.mine)
    assert [one.apart for one in client.merges(corpus=two.mine)] == [True]
    assert [one.apart for one in client.merges(corpus=two.other)] == [False]


def merge(client: Any, two: Two) -> None:
    with pytest.raises(NotFoundError):
        client.merge("Ann Harper", SECRET, corpus=two.mine)
    assert client.merge("Ann Harper", "Bob Miller", corpus=two.mine)
    assert "ann harper" not in [one.key for one in client.merges(corpus=two.other)]
    assert "ann harper" in [one.key for one in client.entities(corpus=two.other)]


def join(client: Any, two: Two) -> None:
    with pytest.raises(NotFoundError):
        client.join("Miller", corpus=two.mine)
    split(client, two)
    assert client.join("Miller", corpus=two.mine)


def enrich(client: Any, two: Two) -> None:
    """Indexing makes those again that have changed. Both corpora have a typed graph, with the same names."""
    schema = {"relationships": ["IS_NEAR"]}
    typed = client.enrich(corpus=two.mine, layers=["typed"], graph_schema=schema, prefix="Wall_").layers["typed"]
    assert typed.labelled, "what the text only suspects is no relationship"
    assert client.enrich(corpus=two.mine, without=["typed"]).layers["typed"].labelled == 0
    (two.library / "ann.txt").write_text("Ann Harper, Dan Hill and Eve Moss met in Paris.")
    client.index([two.library], corpus=two.mine)
    report = client.enrich(corpus=two.mine)
    assert report.layers["communities"].total > report.layers["communities"].made == 0
    with pytest.raises(NotFoundError):
        client.enrich(corpus=f"{two.mine}-none")


def reindex(client: Any, two: Two) -> None:
    """With the same model: what is written with another one is in test_same_ids.py."""
    assert client.reindex(corpus=two.mine).vectors == 0
    with pytest.raises(NotFoundError):
        client.reindex(corpus=f"{two.mine}-none")


def link(client: Any, two: Two) -> None:
    """Entities of the other corpus stay without links, and facts hang on this one's."""
    report = client.link(corpus=two.mine, label=two.label, name="name")
    assert [(one.key, one.method) for one in report.links] == [("ann harper", "exact")]
    facts = client.retrieve(QUESTIONS[0], corpus=two.mine, relationship_types=["KNOWS"]).facts
    assert [one.entities for one in facts] == [("ann harper",)]
    assert client.retrieve(QUESTIONS[0], corpus=two.other, relationship_types=["KNOWS"]).facts == ()


def links(client: Any, two: Two) -> None:
    assert client.links(corpus=two.mine) == {}
    client.link(corpus=two.other, label=two.label, name="name")
    client.link(corpus=two.mine, label=two.label, name="name")
    assert client.links(corpus=two.mine) == {two.label: 1}
    assert client.links(corpus=two.other) == {two.label: 2}
    client.unlink(corpus=two.other)


def unlink(client: Any, two: Two) -> None:
    client.link(corpus=two.mine, label=two.label, name="name")
    client.link(corpus=two.other, label=two.label, name="name")
    assert client.unlink(corpus=two.mine) == 1
    assert client.unlink(corpus=two.other) == 2


def adopt(client: Any, two: Two) -> None:
    """A text node makes up a corpus of its own; those that were indexed are not adopted into."""
    for taken in (two.mine, two.other):
        with pytest.raises(InputError):
            client.adopt(corpus=taken, label=two.label)
    report = client.adopt(corpus=f"{two.mine}-adopted", label=two.label)
    assert (report.nodes, report.without_key) == (1, 1)
    [passage] = client.retrieve(QUESTIONS[0], corpus=f"{two.mine}-adopted", k=100).passages
    assert passage.text_node.key == "1"
    assert_nothing_of_the_other(two, passage)
    client.unadopt(corpus=f"{two.mine}-adopted")


def unadopt(client: Any, two: Two) -> None:
    client.adopt(corpus=f"{two.mine}-adopted", label=two.label)
    for indexed in (two.mine, two.other):
        with pytest.raises(InputError):
            client.unadopt(corpus=indexed)
    assert len(client.unadopt(corpus=f"{two.mine}-adopted")) == 1
    assert f"{two.mine}-adopted" not in client.corpora()


def add_graph_documents(client: Any, two: Two) -> None:
    """A text that both corpora have, and one that only the other has."""
    ann, quorn = Node(id="Ann Harper"), Node(id="Zyxelia Quorn")
    graph = [
        GraphDocument(
            nodes=[ann, quorn],
            relationships=[Relationship(source=ann, target=quorn, type="HID")],
            source=Document(text),
        )
        for text in (TEXTS["ann.txt"], SECRET)
    ]
    client.enrich(corpus=two.mine, layers=["statements"])  # the replies of another model were forgotten
    report = client.add_graph_documents(graph, corpus=two.mine)
    assert (report.added, report.not_found, report.without_object) == (1, 1, 1)


def answer(client: Any, two: Two) -> None:
    found = client.answer(QUESTIONS[0], corpus=two.mine, k=100)
    assert_nothing_of_the_other(two, found.given)
    assert found.given
    found = client.answer(QUESTIONS[0], corpus=two.mine, k=100, method="drift")
    assert_nothing_of_the_other(two, (found.given, found.evidence.passages))
    assert f"Follow-up questions in mode graphrag_local: {QUESTIONS[1]}" in found.evidence.reason
    assert found.citations
    for method in ("global", "all_text"):
        found = client.answer(QUESTIONS[0], corpus=two.mine, method=method)
        assert_nothing_of_the_other(two, (found.given, found.evidence.passages, found.points))
        assert found.citations


def stream(client: Any, two: Two) -> None:
    *_, whole = client.stream(QUESTIONS[0], corpus=two.mine, k=100)
    assert_nothing_of_the_other(two, whole.given)
    assert whole.given


def run_template(client: Any, two: Two) -> None:
    found = client.run_template("neighbours_of", {"entity": "Ann Harper", "limit": 50}, corpus=two.mine)
    assert found.rows
    assert_nothing_of_the_other(two, found.rows)


def text_to_cypher(client: Any, two: Two) -> None:
    with pytest.raises(ConfigurationError, match="E2G_TEXT_TO_CYPHER=true if it may read all of your own graph"):
        client.text_to_cypher(QUESTIONS[0], corpus=two.mine)


def export_corpus(client: Any, two: Two) -> None:
    import zipfile

    for format in ("archive", "graphml"):
        file = two.library.parent / f"{uuid4().hex}.{format}"
        client.export_corpus(file, corpus=two.mine, format=format)
        written = file.read_bytes()
        if format == "archive":
            with zipfile.ZipFile(file) as archive:
                written = b"".join(archive.read(name) for name in archive.namelist())
        assert b"Ann Harper" in written
        for hidden in (*two.hidden, two.other):
            assert hidden.encode() not in written


def import_corpus(client: Any, two: Two) -> None:
    file = two.library.parent / f"{uuid4().hex}.zip"
    client.export_corpus(file, corpus=two.mine)
    with pytest.raises(InputError, match="exists already"):
        client.import_corpus(file, corpus=two.other)
    client.delete(corpus=two.mine)
    client.import_corpus(file)
    assert client.stats(two.mine)["documents"] == len(TEXTS)


def text(client: Any, two: Two) -> None:
    for document in client.documents(two.mine):
        found = client.text(document.id, corpus=two.mine)
        assert found.text
        assert_nothing_of_the_other(two, [found])
        with pytest.raises(NotFoundError):
            client.text(document.id, corpus=two.other)


def references(client: Any, two: Two) -> None:
    named = [("Mentions", "It was sold by the Guide to Lisbon."), ("Guide to Lisbon", "A text.")]
    client.index(
        [from_text(text, corpus=two.mine, source=title, title=title) for title, text in named], corpus=two.mine
    )
    found = client.references(corpus=two.mine)
    assert {(one.document, one.target) for one in found} == {("Mentions", "Guide to Lisbon")}
    assert client.references(corpus=two.other) == []
    foreign = client.documents(two.other)[0].id
    with pytest.raises(NotFoundError):
        client.references(foreign, corpus=two.mine)


CALLS: dict[str, Callable[[Any, Two], None]] = {
    call.__name__: call
    for call in (
        *(index, resume, delete, documents, corpora, stats, modes, retrieve, answer, stream, text),
        *(
            references,
            paths,
            entities,
            describe_entity,
            merges,
            merge,
            split,
            join,
            export_corpus,
            import_corpus,
            link,
            links,
            unlink,
        ),
        *(enrich, reindex, add_graph_documents, adopt, unadopt, run_template, text_to_cypher),
    )
}
WRITING = {"index", "delete", "resume", "merge", "split", "join", "import_corpus", "link", "links", "unlink"} | {
    "enrich",
    "reindex",
    "add_graph_documents",
    "adopt",
    "unadopt",
    "references",
}
WRITING_OFTEN = {"index", "delete", "merge", "import_corpus", "link"}
"""Checked in the fast tier too."""
BOTH = [pytest.param(E2G, id="sync"), pytest.param(AsyncE2G, id="async", marks=pytest.mark.full)]
OF_NO_CORPUS = {"close", "migrate", "doctor", "bookmark", "wait_for"}


def public(client: type) -> dict[str, Any]:
    return {name: call for name, call in inspect.getmembers(client, callable) if not name.startswith("_")}


@pytest.mark.parametrize("client", [E2G, AsyncE2G])
def test_every_call_of_the_clients_is_checked(client: type) -> None:
    assert public(client).keys() - OF_NO_CORPUS == CALLS.keys()
    for name in OF_NO_CORPUS:
        assert "corpus" not in inspect.signature(public(client)[name]).parameters


@pytest.mark.parametrize("client", BOTH)
@pytest.mark.parametrize("name", sorted(CALLS.keys() - WRITING))
def test_what_reads_sees_its_own_corpus(clients, asked: Two, client: type, name: str) -> None:
    CALLS[name](clients[client], asked)


@pytest.mark.parametrize("client", BOTH)
@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=[] if one in WRITING_OFTEN else pytest.mark.full) for one in sorted(WRITING)]
)
def test_what_writes_leaves_the_other_corpus_alone(clients, two: Two, client: type, name: str) -> None:
    CALLS[name](clients[client], two)


@pytest.mark.full
def test_an_evaluation_sees_its_own_corpus(clients, asked: Two) -> None:
    questions = [Question("1", QUESTIONS[0], documents=("ann.txt",)), Question("2", "?", statements=(SECRET,))]
    found = evaluate(clients[E2G], questions, corpus=asked.mine, modes=few_of([*STRATEGIES], 8), k=5)
    for result in found.modes.values():
        assert result.outcomes[1].scores["evidence@5 chunks"] == 0
    there = evaluate(clients[E2G], questions, corpus=asked.other, modes=["dense"], k=5)
    assert there.modes["dense"].outcomes[1].scores["evidence@5 chunks"] == 1, "there it would be found"


@pytest.mark.full
def test_a_comparison_sees_its_own_corpus(clients, asked: Two) -> None:
    for question in QUESTIONS:
        found = compare(clients[E2G], question, corpus=asked.mine, modes=few_of([*STRATEGIES], 8), k=100)
        for result in found.modes.values():
            assert_nothing_of_the_other(asked, result)
    there = compare(clients[E2G], QUESTIONS[0], corpus=asked.other, modes=["dense"], k=100)
    assert SECRET in json.dumps(plain(there), default=str), "there it is found"


def test_a_summary_of_the_other_corpus_is_forgotten_with_it_and_not_before(clients, driver, two: Two) -> None:
    """What a chat model wrote of a text that both hold is kept for each."""
    client = clients[E2G]
    driver.execute_query("CREATE (:CachedSummary {key: $key, text: 's', corpora: $all})", key=two.mine, all=[two.mine])
    driver.execute_query(
        "CREATE (:CachedSummary {key: $key, text: 's', corpora: $all})", key=two.other, all=[two.mine, two.other]
    )
    client.delete(corpus=two.mine)
    rows = driver.execute_query(
        "MATCH (s:CachedSummary) WHERE s.key IN $keys RETURN s.key AS key, s.corpora AS corpora",
        keys=[two.mine, two.other],
    ).records
    assert [(row["key"], row["corpora"]) for row in rows] == [(two.other, [two.other])]
    driver.execute_query("MATCH (s:CachedSummary {key: $key}) DELETE s", key=two.other)


def test_what_explore_shows_is_of_its_own_corpus(clients, asked: Two) -> None:
    run = clients[E2G].runner.run
    for name in ("Ann Harper", "Dora Finch"):
        assert_nothing_of_the_other(asked, run(describe_neighbourhood(asked.mine, name, 100)))
    assert run(find_quotes(asked.mine, "Ann Harper", "Dora Finch", 100)) == []
    assert SECRET in [one.text for one in run(find_quotes(asked.other, "Ann Harper", "Dora Finch", 100))]
    with pytest.raises(NotFoundError):
        run(describe_neighbourhood(asked.mine, "Zyxelia Quorn", 100))
    documents = [one.id for one in clients[E2G].documents(asked.mine)]
    assert_nothing_of_the_other(asked, run(shared_entities(asked.mine, documents, True, 100)))
    [first, *_] = run(describe_neighbourhood(asked.mine, "Ann Harper", 100)).communities
    assert_nothing_of_the_other(asked, run(describe_community(asked.mine, first.id)))
    with pytest.raises(NotFoundError):
        run(shared_entities(asked.mine, [one.id for one in clients[E2G].documents(asked.other)], False, 100))


# --- the command line --------------------------------------------------------------------------------

QUESTION_FILE = {"id": "1", "question": QUESTIONS[0], "evidence": ["Ann Harper met Bob Miller in Paris."]}

COMMANDS: dict[str, list[str]] = {
    "index": ["{library}", "--corpus", "{mine}"],
    "enrich": ["--corpus", "{mine}"],
    "reindex": ["--corpus", "{mine}"],
    "query": [QUESTIONS[0], "--corpus", "{mine}", "-k", "100", "--full"],
    "ask": [QUESTIONS[0], "--corpus", "{mine}", "-k", "100"],
    "chat": ["--corpus", "{mine}"],
    "query --explain": [QUESTIONS[0], "--corpus", "{mine}", "--html", "{page}"],
    "query --compare all": [QUESTIONS[0], "--corpus", "{mine}", "-k", "100", "--html", "{comparison}"],
    "template": ["neighbours_of", "entity=Bob Miller", "limit=100", "--corpus", "{mine}"],
    "guide": ["--corpus", "{mine}", "--port", "0"],
    "documents": ["--corpus", "{mine}"],
    "documents --not-ready": ["--corpus", "{mine}", "--json"],
    "corpora": ["{mine}"],
    "references": ["--corpus", "{mine}"],
    "read": ["{document}", "--corpus", "{mine}"],
    "entities": ["--corpus", "{mine}"],
    "entities --card": ["Ann Harper", "--corpus", "{mine}"],
    "index --resume": ["--corpus", "{mine}"],
    "modes": ["--corpus", "{mine}"],
    "link": ["--label", "{label}", "--corpus", "{mine}", "--json"],
    "unlink": ["--corpus", "{mine}", "--yes"],
    "eval": ["{questions}", "--corpus", "{mine}", "--modes", "e2g,dense"],
    "export": ["--corpus", "{mine}", "-o", "{archive}"],
    "delete": ["--corpus", "{mine}", "--yes"],
    "adopt": ["--label", "{label}", "--corpus", "{mine}"],
    "unadopt": ["--corpus", "{mine}", "--yes"],
    "import": ["{archive}"],
}
"""In this order. Several calls of a command have different options."""

COMMANDS_OF_ONE_CORPUS = {"cypher"}
"""A chat model writes the statement: see test_cypher_by_model.py and test_read_only_real.py."""
COMMANDS_OF_NO_CORPUS = {
    *("demo", "doctor"),
    *("db start", "db stop", "db status", "db logs", "db reset"),
    *(
        "init",
        "models",
        "serve",
        "worker",
        "mcp",
        "keys",
        "keys create",
        "keys revoke",
    ),
}


def commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    for name, command in getattr(group, "commands", {}).items():
        inner = list(commands(command, f"{before}{name} "))
        if not inner or getattr(command, "invoke_without_command", False):
            yield f"{before}{name}", command
        yield from inner


def test_every_command_is_checked() -> None:
    found = dict(commands(typer.main.get_command(app)))
    of_a_corpus = {call.partition(" ")[0] for call in COMMANDS} | COMMANDS_OF_ONE_CORPUS
    assert found.keys() == of_a_corpus | COMMANDS_OF_NO_CORPUS
    for name in COMMANDS_OF_NO_CORPUS:
        assert "corpus" not in {parameter.name for parameter in found[name].params}


@pytest.mark.full
def test_commands_see_their_own_corpus(two: Two, neo4j_connection, monkeypatch, run, tmp_path) -> None:
    monkeypatch.chdir(tmp_path)
    set_variables(monkeypatch, neo4j_connection)
    (tmp_path / "questions.jsonl").write_text(json.dumps(QUESTION_FILE))
    places = {
        "library": str(two.library),
        "mine": two.mine,
        "label": two.label,
        "questions": str(tmp_path / "questions.jsonl"),
        "archive": str(tmp_path / "a.zip"),
        "page": str(tmp_path / "a.html"),
        "comparison": str(tmp_path / "b.html"),
    }
    with E2G() as client:
        places["document"] = client.documents(two.mine)[0].id
    served: list[bytes] = []
    monkeypatch.setattr(
        GuideServer, "serve_forever", lambda self: served.extend(content for _, content in self.pages.values())
    )
    for name, arguments in COMMANDS.items():
        filled_in = [places[one[1:-1]] if one[:1] == "{" else one for one in arguments]
        monkeypatch.setattr(sys, "stdin", io.StringIO(QUESTIONS[0]))
        code, *printed = run(*name.split(), *filled_in)
        assert code == 0, (name, printed)
        assert_nothing_of_the_other(two, printed)
    assert_nothing_of_the_other(two, [(tmp_path / "b.html").read_text(encoding="utf-8")])
    drawn = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert_nothing_of_the_other(two, [drawn[drawn.index("neo4j-viz-data") :], *(page.decode() for page in served)])
    assert "Bob Miller" in drawn
    assert served
