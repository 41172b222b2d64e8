"""Properties of documents, and questions that are restricted by them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from graphs import comparable
from libraries import remove
from modes import WINDOW_MODES
from stated import state

from e2g_neo4j import AsyncE2G
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import InputError, NotFoundError, QueryError
from e2g_neo4j.retrieval.strategies import STRATEGIES

CORPUS, OTHER, ALL = "filters-novels", "filters-others", "filters-all"

TEXT = (
    "Captain {name} sailed the Cormorant to Lantry. The Cormorant carried coal for the lighthouse of {place}. "
    "Doctor Vale wrote to Captain {name} about the lighthouse. {name} answered Doctor Vale from {place}. "
)
NAMES = ("Farran", "Pendry", "Harker", "Morris", "Seward", "Holmwood")
PROPERTIES: tuple[Any, ...] = (
    {"author": "Stoker", "year": 1897, "tags": ["sea", "letters"], "checked": True},
    {"author": "Stoker", "year": 1890.5, "tags": ["sea"], "checked": False},
    {"author": "Shelley", "year": "1818", "tags": ["ice"]},
    {"a.b": 1, "`x` = 'y'": "back`tick", "corpus": "mine", "id": 7, "state": "none", "n" * 100: "long"},
    {},
    None,
)
QUESTION = "What did Doctor Vale write to Captain Farran about the lighthouse?"


def text_of(number):
    name = NAMES[number]
    return "".join(TEXT.format(name=name, place=f"Port {name}") + f"It was day {day}. " for day in range(6))


def documents(corpus, properties=PROPERTIES):
    return [
        from_text(text_of(number), corpus=corpus, source=f"d{number}", properties=given)
        for number, given in enumerate(properties)
    ]


@pytest.fixture(scope="module")
def environment(environment):
    environment.setenv("E2G_CHUNK_TOKENS", "64")
    environment.setenv("E2G_CHUNK_OVERLAP", "8")
    return environment


@pytest.fixture(scope="module", autouse=True)
def _corpora(client, driver):
    remove(driver, [CORPUS, OTHER, ALL])
    given = {CORPUS: PROPERTIES, OTHER: PROPERTIES[:1], ALL: [{"all": number} for number in range(3)]}
    for corpus, properties in given.items():
        client.index(documents(corpus, properties), corpus=corpus)
    for corpus in (CORPUS, ALL):
        client.enrich(corpus=corpus)
        state(client, corpus)
    yield
    remove(driver, [CORPUS, OTHER, ALL])


def sources(found):
    return {passage.source for passage in found.passages}


@pytest.mark.parametrize("mode", STRATEGIES)
def test_every_mode_finds_all_and_only_what_the_filter_leaves(client, mode):
    wanted = client.retrieve(QUESTION, corpus=CORPUS, mode=mode, k=100, where={"author": "Stoker"})
    assert sources(wanted) == {"d0", "d1"}
    assert {passage.corpus for passage in wanted.passages} == {CORPUS}
    assert 'author = "Stoker" leaves 2 of 6 documents.' in wanted.reason
    alone = client.retrieve(QUESTION, corpus=CORPUS, mode=mode, k=1, where={"id": 7})
    assert sources(alone) == {"d3"}, "however far below the others"
    if mode in WINDOW_MODES - {"fulltext"}:
        found = sum(passage.end - passage.start for passage in wanted.passages)
        assert found >= len(text_of(0)), "neighbouring windows are one passage, and all windows are candidates"


@pytest.mark.full
@pytest.mark.parametrize("mode", STRATEGIES)
def test_a_filter_that_leaves_all_changes_nothing(client, mode):
    """So the fragments in cypher/fragments/filtered/ do not differ in anything else."""
    for question, k in ((QUESTION, 1), (QUESTION, 3), ("What burned in the night?", 3)):
        free = client.retrieve(question, corpus=ALL, mode=mode, k=k)
        restricted = client.retrieve(question, corpus=ALL, mode=mode, k=k, where=["all>=0"])
        assert told(restricted) == told(free)
        assert restricted.round_trips == free.round_trips + 1
        assert restricted.route == free.route


def told(found):
    return [(passage.source, passage.level, passage.start, passage.end) for passage in found.passages]


@pytest.mark.parametrize(
    ("where", "left"),
    [
        ({"year": 1897.0}, {"d0"}),
        (["year>=1890.5", "year<1897"], {"d1"}),
        ({"year": {">": 0, "<=": 1900}}, {"d0", "d1"}),
        ({"year": "1818"}, {"d2"}),
        ({"year": {">": "1"}}, {"d2"}),
        ({"author": ["Stoker", "Shelley", 3]}, {"d0", "d1", "d2"}),
        ({"tags": "sea"}, {"d0", "d1"}),
        (["tags=sea", "tags=letters"], {"d0"}),
        ({"checked": True}, {"d0"}),
        ({"checked": 1}, set()),
        ({"author": 3}, set()),
        ({"author": {">": 3}}, set()),
        ({"tags": {"<": 3}}, set()),
        ({"a.b": 1}, {"d3"}),
        ({"`x` = 'y'": "back`tick"}, {"d3"}),
        ({"corpus": "mine"}, {"d3"}),
        ({"id": 7}, {"d3"}),
        ({"n" * 100: "long"}, {"d3"}),
    ],
    ids=lambda value: str(sorted(value)) if isinstance(value, set) else str(value),
)
def test_conditions(client, where, left):
    found = client.retrieve(QUESTION, corpus=CORPUS, mode="dense", k=100, where=where)
    assert sources(found) == left
    assert found.reason.endswith(f"{len(left)} of 6 documents.")


def test_unknown_properties_are_named_with_those_that_exist(client):
    with pytest.raises(QueryError, match=r"has a property 'yaer'\. They have: .*author, checked, corpus, id"):
        client.retrieve(QUESTION, corpus=CORPUS, where={"author": "Stoker", "yaer": 1897})
    with pytest.raises(NotFoundError):
        client.retrieve(QUESTION, corpus="filters-none", where={"year": 1})


def test_a_filter_never_reaches_another_corpus(client, driver):
    own = "filters-wall"
    remove(driver, [own])
    try:
        client.index(documents(own, [{"wall": 1}, None]), corpus=own)
        with pytest.raises(QueryError, match="No document of filters-novels has a property 'wall'"):
            client.retrieve(QUESTION, corpus=CORPUS, where={"wall": 1})
        both = client.retrieve(QUESTION, corpora=[CORPUS, own], mode="auto", k=100, where={"wall": 1})
        assert {(passage.corpus, passage.source) for passage in both.passages} == {(own, "d0")}
        assert "leaves 1 of 8 documents" in both.reason
    finally:
        remove(driver, [own])


def test_the_async_client_and_the_command_line(client, output):
    async def ask():
        async with AsyncE2G() as e2g:
            return await e2g.retrieve(QUESTION, corpus=CORPUS, where={"year": {">=": 1897}})

    assert sources(asyncio.run(ask())) == {"d0"}
    where = ("--where", "year>=1890", "--where", 'author="Stoker"')
    found = json.loads(output("query", QUESTION, "-c", CORPUS, *where, "--json", "-k", "100"))
    assert {passage["source"] for passage in found["passages"]} == {"d0", "d1"}


def properties_of(client, corpus):
    return {document.source: dict(document.properties) for document in client.documents(corpus)}


def test_properties_alone_are_updated_without_the_text(client, driver):
    corpus, fresh = "filters-updated", "filters-fresh"
    remove(driver, [corpus, fresh])
    try:
        client.index(documents(corpus), corpus=corpus)
        assert properties_of(client, corpus)["d0"] == {**PROPERTIES[0], "tags": ("sea", "letters")}
        new = [{"year": 1}, None, {}, {"a.b": [True]}, {"new": "x"}, {"new": 1.0}]
        report = client.index(documents(corpus, new), corpus=corpus)
        assert (report.unchanged, report.documents, report.chunks) == (6, 0, 0)
        expected = [{"year": 1}, {**PROPERTIES[1], "tags": ("sea",)}, {}, {"a.b": (True,)}, {"new": "x"}, {"new": 1.0}]
        assert properties_of(client, corpus) == {f"d{number}": given for number, given in enumerate(expected)}
        client.index(documents(fresh, expected), corpus=fresh)
        assert comparable(driver, corpus) == comparable(driver, fresh)

        changed = from_text(text_of(0) + "The end.", corpus=corpus, source="d0", properties={"year": 2})
        client.index([changed], corpus=corpus)
        kept = from_text(text_of(4) + "The end.", corpus=corpus, source="d4")
        client.index([kept], corpus=corpus)
        assert properties_of(client, corpus)["d0"] == {"year": 2}
        assert properties_of(client, corpus)["d4"] == {"new": "x"}
        assert sources(client.retrieve(QUESTION, corpus=corpus, where={"year": 2})) == {"d0"}
    finally:
        remove(driver, [corpus, fresh])


def test_properties_of_an_interrupted_run_appear_with_its_text(client, driver):
    corpus = "filters-interrupted"
    remove(driver, [corpus])
    try:
        client.index([from_text(text_of(0), corpus=corpus, source="d0", properties={"year": 1})], corpus=corpus)

        def interrupt(stage, done, total):
            if stage == "reading":
                raise KeyboardInterrupt

        changed = from_text(text_of(1), corpus=corpus, source="d0", properties={"year": 2})
        with pytest.raises(KeyboardInterrupt):
            client.index([changed], corpus=corpus, progress=interrupt)
        assert properties_of(client, corpus) == {"d0": {"year": 1}}
        with pytest.raises(QueryError, match="property 'only'"):
            client.retrieve(QUESTION, corpus=corpus, where={"only": 2})
        client.index([from_text(text_of(1), corpus=corpus, source="d0")], corpus=corpus)
        assert properties_of(client, corpus) == {"d0": {"year": 2}}
        [node] = driver.execute_query("MATCH (d:Document {corpus: $c}) RETURN properties(d) AS p", c=corpus).records
        assert "claimed_properties" not in node["p"]
    finally:
        remove(driver, [corpus])


def test_properties_survive_export_and_import(client, driver, tmp_path):
    copy = "filters-copy"
    remove(driver, [copy])
    try:
        client.export_corpus(tmp_path / "corpus.zip", corpus=CORPUS)
        client.import_corpus(tmp_path / "corpus.zip", corpus=copy)
        assert properties_of(client, copy) == properties_of(client, CORPUS)
        assert sources(client.retrieve(QUESTION, corpus=copy, k=100, where={"tags": "sea"})) == {"d0", "d1"}
    finally:
        remove(driver, [copy])


def test_json_lines_and_the_command_line_give_properties(client, driver, tmp_path, output):
    corpus = "filters-lines"
    remove(driver, [corpus])
    file = tmp_path / "novels.jsonl"
    lines = [{"id": 0, "text": text_of(0), "properties": {"year": 1, "own": "x"}}, {"id": 1, "text": text_of(1)}]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    try:
        command = ["index", str(file), "-c", corpus, "--property", 'author="Bram Stoker"']
        output(*command, "--property", "year=1897", "--property", "kind=a novel")
        given = {"author": "Bram Stoker", "year": 1897, "kind": "a novel"}
        assert sorted(map(str, properties_of(client, corpus).values())) == sorted(
            map(str, [dict(sorted(given.items())), dict(sorted({**given, "own": "x"}.items()))])
        )
        file.write_text(json.dumps({"text": "A text.", "properties": {"year": {"of": 1}}}))
        client.index([file], corpus=corpus)
        assert {"year.of": 1} in properties_of(client, corpus).values()
    finally:
        remove(driver, [corpus])


def test_an_invalid_property_changes_nothing(client):
    before = properties_of(client, CORPUS)
    with pytest.raises(InputError, match="values of several types"):
        client.index(documents(CORPUS, [{"year": 3}]), corpus=CORPUS, properties={"tags": ["a", 1]})
    assert properties_of(client, CORPUS) == before
