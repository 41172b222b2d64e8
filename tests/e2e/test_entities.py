"""Names of people: what is joined, what a question finds by them, and how that is undone."""

from __future__ import annotations

import json
import shlex
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from random import Random
from typing import Any
from uuid import uuid4

import pytest
from graphs import comparable
from libraries import driven, performing, remove
from tiers import at_length

from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import InputError, NotFoundError
from e2g_neo4j.indexing import merge_overrides, pipeline
from e2g_neo4j.retrieval import linking
from e2g_neo4j.runtime.requests import Write
from e2g_neo4j.types.mentions import find_circle

DOCUMENTS = {
    "Castle": (
        "Jonathan Harker travelled to the castle in May. Harker met Count Dracula in the castle. "
        "Jonathan Harker wrote a letter. In the evening Harker heard the wolves. Mr. Harker slept badly."
    ),
    "London": (
        "Mina Harker waited in London. Jonathan Harker came back to London. Mina Harker met Harker at the station. "
        "Jonathan Harker was ill."
    ),
}


def library(corpus: str, *titles: str):
    return [from_text(DOCUMENTS[title], corpus=corpus, source=title, title=title) for title in titles or DOCUMENTS]


@pytest.fixture
def novels(client, corpus, driver):
    """The documents, indexed into a corpus and, by `fresh`, with names kept apart from the beginning into another."""
    other = f"{corpus}-fresh"
    client.index(library(corpus), corpus=corpus)

    def fresh(*apart: str, **into: str):
        remove(driver, [other])
        for key in apart:
            performing(driver)(Write((("index/set_override", {"corpus": other, "key": key, "into": None}),)))
        for key, full in into.items():
            performing(driver)(Write((("index/set_override", {"corpus": other, "key": key, "into": full}),)))
        client.index(library(other), corpus=other)
        return comparable(driver, other)

    yield fresh
    remove(driver, [corpus, other])


def test_a_surname_joins_where_it_is_clear_and_a_question_finds_it(client, novels, corpus):
    merged = {(one.key, one.title): one.entity for one in client.merges(corpus=corpus)}
    assert merged == {("harker", "Castle"): "jonathan harker", ("mr harker", "Castle"): "jonathan harker"}
    [found] = client.entities("jonathan", corpus=corpus)
    assert (found.name, found.aliases, found.documents) == ("Jonathan Harker", ("Harker", "Mr. Harker"), 2)
    assert found.mentions == 7
    evidence = client.retrieve("How did Harker meet Dracula?", corpus=corpus)
    assert set(evidence.entities) >= {"harker", "jonathan harker"}
    assert {"harker", "jonathan harker"} not in [{pair.a, pair.b} for pair in evidence.pairs], "one name, not a pair"
    evidence = client.retrieve("Who is Mr. Harker, and where is the castle?", corpus=corpus)
    assert set(evidence.entities) == {"jonathan harker", "castle"}
    assert evidence.route == "local"


def test_entities_are_listed_as_they_are_written_most_often(client, novels, corpus):
    listed = client.entities(corpus=corpus)
    assert listed == sorted(listed, key=lambda one: (one.type == "noun", -one.mentions, one.key)), "names first"
    assert listed[0].name == "Jonathan Harker"
    assert listed[0].forms == {"Jonathan Harker": 4}
    assert len(client.entities(corpus=corpus, limit=2)) == 2
    assert [one.name for one in client.entities("HARKER’S", corpus=corpus)] == [
        "Jonathan Harker",
        "Mina Harker",
        "Harker",
    ]


def test_what_is_split_is_as_if_it_had_never_been_joined_and_can_be_joined_again(client, novels, corpus, driver):
    before = comparable(driver, corpus)
    assert before == novels()
    assert {one.title for one in client.split("Harker", corpus=corpus)} == {"Castle"}
    assert comparable(driver, corpus) == novels("harker") != before
    assert [one.key for one in client.merges(corpus=corpus) if one.apart] == ["harker"]
    client.index(library(corpus, "Castle"), corpus=corpus)
    client.delete(["Castle"], corpus=corpus)
    client.index(library(corpus, "Castle"), corpus=corpus)
    assert comparable(driver, corpus) == novels("harker"), "it is remembered"
    assert [one.entity for one in client.join("Harker", corpus=corpus)] == ["jonathan harker"]
    assert comparable(driver, corpus) == before


def test_what_is_merged_by_hand_is_kept_and_is_undone_as_a_split_is(client, novels, corpus, driver, tmp_path):
    before = comparable(driver, corpus)
    [one] = client.merge("Count Dracula", "Mr. Harker", corpus=corpus)
    assert (one.entity, one.title, one.why) == ("jonathan harker", "Castle", "by hand")
    merged = novels(**{"count dracula": "jonathan harker"})
    assert comparable(driver, corpus) == merged != before
    assert client.retrieve("Who is Count Dracula?", corpus=corpus).entities == ("jonathan harker",)
    client.merge("Count Dracula", "Jonathan Harker", corpus=corpus)
    client.delete(["Castle"], corpus=corpus)
    assert [(one.entity, one.document) for one in client.merges("dracula", corpus=corpus)] == [
        ("jonathan harker", None)
    ]
    client.index(library(corpus, "Castle"), corpus=corpus)
    assert comparable(driver, corpus) == merged, "it is remembered"
    client.export_corpus(tmp_path / "novels.zip", corpus=corpus)
    remove(driver, [corpus])
    client.import_corpus(tmp_path / "novels.zip")
    client.index(library(corpus, "London"), corpus=corpus)
    assert comparable(driver, corpus) == merged, "archives keep it"
    assert [one.entity for one in client.split("Count Dracula", corpus=corpus)] == ["jonathan harker"]
    assert comparable(driver, corpus) == novels("count dracula")
    client.merge("Count Dracula", "Harker", corpus=corpus)
    client.join("Count Dracula", corpus=corpus)
    assert comparable(driver, corpus) == before


def test_an_entity_may_get_a_name_that_is_nowhere_now(client, novels, corpus, driver):
    client.merge("Harker", "Mina Harker", corpus=corpus)
    client.delete(["London"], corpus=corpus)
    assert [(one.name, one.aliases) for one in client.entities("mina", corpus=corpus)] == [("mina harker", ("Harker",))]
    client.index(library(corpus, "London"), corpus=corpus)
    assert comparable(driver, corpus) == novels(harker="mina harker")


def test_names_that_cannot_be_merged_change_nothing(client, novels, corpus, driver):
    before = comparable(driver, corpus)
    for name, into in [("Varney", "Mina Harker"), ("Mina Harker", "Varney"), ("", "Mina Harker")]:
        with pytest.raises(NotFoundError, match="No entity of the corpus"):
            client.merge(name, into, corpus=corpus)
    for name, into in [("Mina Harker", "mina  harker"), ("Jonathan Harker", "Mr. Harker")]:
        with pytest.raises(InputError, match="--split"):
            client.merge(name, into, corpus=corpus)
    assert comparable(driver, corpus) == before


def test_two_merges_at_once_make_no_circle(client, novels, corpus, driver):
    """The second is checked before the first is written."""
    first: list[object] = []

    def perform(request):
        if isinstance(request, Write) and not first:
            first.append(client.merge("Mina Harker", "Count Dracula", corpus=corpus))
        return performing(driver)(request)

    with pytest.raises(InputError, match="--split"):
        driven(perform, merge_overrides.merge("Count Dracula", "Mina Harker", corpus=corpus))
    assert driven(perform, merge_overrides.read_overrides(corpus)).names == {"mina harker": "count dracula"}


@pytest.mark.timeout(300)
def test_two_people_change_names_while_their_document_is_updated(client, novels, corpus, driver):
    """Whatever the order is: all calls end, nothing is a circle, and the graph is that of indexing again."""
    until, ended = time.monotonic() + at_length(60, 8), Counter[str]()

    def change(seed: int) -> None:
        chance = Random(seed)
        while time.monotonic() < until:
            name, other = chance.sample(["Harker", "Jonathan Harker", "Mina Harker", "Count Dracula"], 2)
            calls: dict[Any, dict[str, Any]] = {
                client.merge: {"name": name, "into": other},
                client.split: {"name": name, "document": chance.choice([None, *DOCUMENTS])},
                client.join: {"name": name},
            }
            call = chance.choice([client.merge, *calls])
            try:
                call(**calls[call], corpus=corpus)
                ended["done"] += 1
            except (InputError, NotFoundError):
                ended["refused"] += 1

    def update() -> None:
        for number in count():
            if time.monotonic() > until:
                return
            text = f"{DOCUMENTS['Castle']} Count Dracula saw Harker {number} times."
            client.index([from_text(text, corpus=corpus, source="Castle", title="Castle")], corpus=corpus)

    with ThreadPoolExecutor(3) as pool:
        for one in [pool.submit(change, 1), pool.submit(change, 2), pool.submit(update)]:
            one.result(timeout=200)
    assert ended["done"]
    decided = driven(performing(driver), merge_overrides.read_overrides(corpus)).names
    assert find_circle(decided) == []
    client.index(library(corpus), corpus=corpus)
    found = comparable(driver, corpus)
    for title in DOCUMENTS:
        client.delete([title], corpus=corpus)
        client.index(library(corpus, title), corpus=corpus)
    assert comparable(driver, corpus) == found


def test_a_stored_circle_has_no_effect_and_is_mended_as_the_doctor_says(client, novels, corpus, driver, run):
    circle = {"count dracula": "mina harker", "mina harker": "count dracula"}
    for key, into in circle.items():
        performing(driver)(Write((("index/set_override", {"corpus": corpus, "key": key, "into": into}),)))
    client.merge("Jonathan Harker", "Count Dracula", corpus=corpus)
    client.delete(["London"], corpus=corpus)
    client.index(library(corpus, "London"), corpus=corpus)
    assert comparable(driver, corpus) == novels(**circle, **{"jonathan harker": "count dracula"})
    assert client.entities("mina", corpus=corpus)[0].name == "Mina Harker"
    remove(driver, [f"{corpus}-fresh"])
    [found] = [one for one in client.doctor() if one.check == "merges" and corpus in one.what]
    assert found.state == "problem"
    command = shlex.split(found.next_step.split("`")[1])
    assert command[:3] == ["e2g", "entities", "--split"]
    code, _, error = run(*command[1:])
    assert code == 0, error
    assert not any(one.check == "merges" and corpus in one.what for one in client.doctor())
    assert client.merges("dracula", corpus=corpus)


PRYCES = {
    "Letters": "Alan Pryce sailed to Malta with Ida Marsh. Pryce wrote to Ida Marsh. Alan Pryce was a sailor.",
    "Minutes": "Alan Pryce chaired the board with Hugo Thorne. Mr. Pryce thanked Hugo Thorne. Alan Pryce left.",
}


def test_two_people_of_one_name_are_told_apart_by_document_and_no_path_leads_through_both(client, corpus, driver, run):
    def index(*titles: str) -> None:
        texts = [from_text(PRYCES[one], corpus=corpus, source=one, title=one) for one in titles]
        client.index(texts, corpus=corpus)

    index(*PRYCES)
    before = comparable(driver, corpus)
    question = "How does Ida Marsh know Hugo Thorne?"
    assert client.retrieve(question, corpus=corpus).pairs, "through Alan Pryce"
    code, out, error = run("entities", "--split", "Pryce", "--document", "Minutes", "--corpus", corpus)
    assert code == 5, "there, he is Mr. Pryce"
    assert "does not mention" in error
    code, out, error = run("entities", "--split", "Alan Pryce", "--document", "Minutes", "--corpus", corpus)
    assert code == 0, error
    assert "Alan Pryce, Minutes" in out
    assert not client.retrieve(question, corpus=corpus).pairs
    people = {one.name: (one.mentions, one.documents, one.aliases) for one in client.entities("pryce", corpus=corpus)}
    assert people == {
        "Alan Pryce": (3, 1, ("Pryce",)),
        "Alan Pryce, Minutes": (3, 1, ("Alan Pryce", "Mr. Pryce")),
    }
    apart = comparable(driver, corpus)
    asked = client.retrieve("Who is Alan Pryce?", corpus=corpus)
    assert set(asked.entities) == {"alan pryce", "alan pryce, minutes"}
    assert client.split("Mr. Pryce", corpus=corpus, document="Minutes"), "again"
    assert comparable(driver, corpus) == apart
    index("Letters")
    client.delete(["Minutes"], corpus=corpus)
    assert [one.name for one in client.entities("pryce", corpus=corpus)] == ["Alan Pryce"]
    assert not [one for one in client.merges(corpus=corpus) if one.why == "by hand"]
    index("Minutes")
    assert comparable(driver, corpus) == apart, "it is remembered"
    client.join("Alan Pryce", corpus=corpus)
    assert comparable(driver, corpus) == before
    with pytest.raises(NotFoundError, match="Minutes"):
        client.split("Ida Marsh", corpus=corpus, document="Minutes")


def test_archives_keep_what_a_name_means_in_a_document(client, corpus, driver, tmp_path):
    texts = [from_text(text, corpus=corpus, source=one, title=one) for one, text in PRYCES.items()]
    client.index(texts, corpus=corpus)
    client.split("Alan Pryce", corpus=corpus, document="Minutes")
    apart = comparable(driver, corpus)
    client.export_corpus(tmp_path / "pryces.zip", corpus=corpus)
    client.delete(corpus=corpus)
    client.import_corpus(tmp_path / "pryces.zip")
    assert comparable(driver, corpus) == apart
    client.index(texts[1:], corpus=corpus)
    assert comparable(driver, corpus) == apart


LETTERS = {
    "Log": "Theodora Quill sailed in May. Theodora Quill met Hugo Thorne. Everybody liked Miss Quill.",
    "Letter": "Dear Miss Quill, come to London. Hugo Thorne wrote the letter. Miss Quill answered from London.",
    "Note": "The chronometer of Hugo Thorne was signed by T. Quill in London.",
    "Stranger": "Captain Quill built bridges in Ohio with Miss Barlow. Nobody liked Captain Quill.",
    "Rival": "Thomas Quill came. Nobody liked Thomas Quill.",
}


def test_a_name_means_the_same_whatever_other_documents_there_are(client, corpus, driver):
    """After each change, the graph is that of a fresh index of the documents that are there. Names of different
    documents are merged by hand only."""
    fresh = f"{corpus}-fresh"

    def of(corpus: str, titles):
        return [from_text(LETTERS[title], corpus=corpus, source=title, title=title) for title in titles]

    def merges():
        return {(one.title, one.key): one.entity for one in client.merges(corpus=corpus)}

    try:
        steps = [
            "Letter",
            "Letter Note",
            "Letter Note Log",
            "Letter Note Log Stranger",
            "Letter Note Log Stranger Rival",
        ]
        for there in (*steps, steps[3], "Letter Note"):
            titles = there.split()
            gone = {one.title for one in client.documents(corpus)} - set(titles) if there != "Letter" else set()
            if gone:
                client.delete(sorted(gone), corpus=corpus)
            else:
                client.index(of(corpus, titles), corpus=corpus)
            remove(driver, [fresh])
            client.index(of(fresh, sorted(titles)), corpus=fresh)
            assert comparable(driver, corpus) == comparable(driver, fresh)
            assert merges() == ({("Log", "miss quill"): "theodora quill"} if "Log" in titles else {})
        client.index(of(corpus, ["Log"]), corpus=corpus)
        client.merge("Miss Quill", "Theodora Quill", corpus=corpus)
        client.merge("T. Quill", "Theodora Quill", corpus=corpus)
        assert merges() == dict.fromkeys(
            [("Log", "miss quill"), ("Letter", "miss quill"), ("Note", "t quill")], "theodora quill"
        )
        [found] = client.entities("theodora quill", corpus=corpus)
        assert (found.documents, found.aliases) == (3, ("Miss Quill", "T. Quill"))
    finally:
        remove(driver, [corpus, fresh])


@pytest.mark.parametrize("before", ["publish", "rewrite_mentions"])
def test_a_name_is_split_while_a_run_is_at_work(client, novels, corpus, driver, monkeypatch, before):
    """Between its reading and its writing; the write finds out, and is made again."""
    module = pipeline if before == "publish" else merge_overrides
    original = getattr(module, before)
    done: list[object] = []

    def meanwhile(*arguments, **options):
        request = original(*arguments, **options)
        if not done:
            apart = {"corpus": corpus, "key": "harker", "into": None}
            done.append(performing(driver)(Write((("index/set_override", apart),))))
        return request

    monkeypatch.setattr(module, before, meanwhile)
    if before == "publish":
        client.delete(["Castle"], corpus=corpus)
        client.index(library(corpus, "Castle"), corpus=corpus)
        assert comparable(driver, corpus) == novels("harker")
    else:
        client.split("Mr. Harker", corpus=corpus)
        assert comparable(driver, corpus) == novels("harker", "mr harker")
    assert done


def test_what_was_not_joined_cannot_be_split(client, novels, corpus, driver):
    before = comparable(driver, corpus)
    for call in (client.split, client.join):
        with pytest.raises(NotFoundError, match=r"'Dracula' resolves to no other.*--merges"):
            call("Dracula", corpus=corpus)
        with pytest.raises(NotFoundError, match="holds no document"):
            call("Harker", corpus=f"{corpus}-none")
    assert comparable(driver, corpus) == before


def test_the_commands_list_split_and_join(environment, novels, corpus, output):
    def run(*arguments: str) -> str:
        return output("entities", *arguments, "--corpus", corpus)

    assert "Jonathan Harker" in run()
    assert "Harker, Mr. Harker" in run("jonathan")
    assert "the only full name with the surname harker" in run("--merges")
    assert json.loads(run("--merges", "--json"))[0]["entity"] == "jonathan harker"
    assert "1 document changed" in run("--split", "Harker")
    assert "not merged" in run("--merges")
    assert "Jonathan Harker" in run("--join", "Harker")
    assert "not merged" not in run("--merges")
    assert "by hand" in run("--merge", "Harker", "Mina Harker")
    assert "2 documents changed" in run("--split", "Harker")
    assert {one["name"] for one in json.loads(run("--json"))} >= {"Jonathan Harker", "Mina Harker"}


def test_names_come_before_nouns_where_a_question_has_too_many(client, novels, corpus, monkeypatch):
    """Those that are left out are in the corpus: they are not unknown."""
    monkeypatch.setattr(linking, "MAX_ENTITIES", 2)
    question = "At which castle and which station did Jonathan Harker and Mina Harker write to Varney about the wolves?"
    for mode in ("auto", "e2g"):
        evidence = client.retrieve(question, corpus=corpus, mode=mode)
        assert evidence.entities == ("jonathan harker", "mina harker")
        assert set(evidence.ignored_entities) == {"castle", "station", "wolf"}
        assert evidence.unknown_entities == ("varney",)


@pytest.mark.parametrize(
    ("question", "known"),
    [
        ("Did Greta and Hugo Thorne quarrel?", {"hugo thorne"}),
        ("Was Captain Hugo Thorne ill?", {"hugo thorne"}),
        ("Could Will May wait in London?", {"london"}),
    ],
)
def test_a_question_finds_names_that_the_pipeline_misses(client, letters, question, known):
    """Known ones are found by their words, and no others."""
    evidence = client.retrieve(question, corpus=letters)
    assert set(evidence.entities) - {"hugo"} == known
    assert not [name for name in evidence.unknown_entities if "thorne" in name]


@pytest.fixture(scope="module")
def letters(client, driver):
    corpus = uuid4().hex
    client.index([from_text(text, corpus=corpus, source=title) for title, text in LETTERS.items()], corpus=corpus)
    yield corpus
    remove(driver, [corpus])
