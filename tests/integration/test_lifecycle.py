"""The life of documents on the real server: any history leaves the graph of a fresh index, whoever writes beside."""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from multiprocessing.context import ForkServerContext
from threading import Event
from typing import Any
from uuid import uuid4

import crashes
import libraries as libraries_
import pytest
from at_server import connected
from graphs import snapshot
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from libraries import (
    MODELS,
    NAMES,
    PEOPLE,
    REAL_DIMENSIONS,
    dangling,
    driven,
    indexed,
    libraries,
    long_document,
    name_for_title,
    padded,
    performing,
    remove,
    sentences_of_names,
    small_document,
    staging,
    visible,
    write,
    written,
)
from naive import NaiveDocument
from neo4j import Driver
from stated import Model, Models
from tiers import at_length, few_of

from e2g_neo4j.errors import InputError, NotFoundError
from e2g_neo4j.graph import lease, writer
from e2g_neo4j.graph.lease import Lease
from e2g_neo4j.graph.writer import claim, delete, purge
from e2g_neo4j.indexing import merge_overrides
from e2g_neo4j.indexing.clusters.layer import CLUSTERS
from e2g_neo4j.indexing.communities.layer import COMMUNITIES
from e2g_neo4j.indexing.descriptions import DESCRIPTIONS
from e2g_neo4j.indexing.references import update_references
from e2g_neo4j.indexing.statements.layer import STATEMENTS
from e2g_neo4j.indexing.vector_layers import ENTITIES
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.models.chat.usage import UsageMeter
from e2g_neo4j.runtime import database
from e2g_neo4j.runtime.requests import Read

TOLD = [*NAMES[:4], *PEOPLE]
STATING: Any = Models(Model({"": "\n".join(f"{a} | is near | {b} | {a} is near {b}." for a, b in pairwise(TOLD))}))
"""They state the same of every text. Which of it is kept depends on the entities."""

HISTORIES, STEPS = at_length(60, 4), 20


def listed(driver: Driver, corpus: str) -> dict[str, tuple[str, bool]]:
    """State and visibility of each document."""
    rows = database.read(driver, "neo4j", Read("query/documents", {"corpus": corpus}))
    return {row["id"]: (row["state"], row["visible"]) for row in rows}


def made_statements(driver: Driver, corpus: str) -> None:
    driven(performing(driver), STATEMENTS.enrich(STATING, corpus, None, UsageMeter()))


# --- any history -------------------------------------------------------------------------------------


@pytest.mark.timeout(1500)
def test_any_sequence_of_changes_leaves_the_graph_of_a_fresh_index(driver: Driver) -> None:
    class Histories(RuleBasedStateMachine):
        """Adds, updates, deletes and interrupted runs, of up to four documents, whose edges are counted at once, or
        later where there are more than so many chunks."""

        def __init__(self) -> None:
            super().__init__()
            self.corpus, self.fresh = uuid4().hex, uuid4().hex
            self.there: dict[str, NaiveDocument] = {}
            self.told: list[list[str]] = []
            self.enriched = False
            self.embedded = False
            self.clustered = False
            self.stated = False
            self.described = False

        @initialize(library=libraries((*NAMES, *PEOPLE)), at_once=st.sampled_from([0, 2, 1_000]))
        def begin(self, library: list[NaiveDocument], at_once: int) -> None:
            self.patch, self.naming = pytest.MonkeyPatch(), pytest.MonkeyPatch()
            self.naming.setattr(libraries_, "title_of", name_for_title)
            self.patch.setattr(writer, "CHUNKS_AT_ONCE", at_once)
            self.patch.setattr(writer, "CHUNKS_READ", 2 if at_once == 2 else writer.CHUNKS_READ)
            self.put(library)

        @rule(library=libraries((*NAMES, *PEOPLE)))
        def put(self, library: list[NaiveDocument]) -> None:
            write(driver, self.corpus, library)
            self.there |= {document.id: document for document in library}

        @rule(sentences=sentences_of_names(0, 60))
        def put_long(self, sentences: list[list[str]]) -> None:
            self.told = [*sentences, []]
            self.put([long_document("long", self.told)])

        @rule(data=st.data(), inserted=sentences_of_names(0, 3))
        def edit(self, data: st.DataObject, inserted: list[list[str]]) -> None:
            """A few sentences of a long document are replaced by others; what is elsewhere stays."""
            first = data.draw(st.integers(0, len(self.told)))
            last = data.draw(st.integers(first, min(first + 3, len(self.told))))
            self.put_long([*self.told[:first], *inserted, *self.told[last:]])

        @rule()
        def enrich(self) -> None:
            """Make communities, or bring them up to date after some of the other changes."""
            if self.there:
                driven(performing(driver), COMMUNITIES.enrich(MODELS, self.corpus, None))
                self.enriched = True

        @rule()
        def embed_names(self) -> None:
            """Embed the names of entities, or those that are new after some of the other changes."""
            if self.there:
                driven(performing(driver), ENTITIES.enrich(MODELS, self.corpus, None))
                self.embedded = True

        @rule()
        def cluster(self) -> None:
            """Make clusters, or bring them up to date after some of the other changes."""
            if self.there:
                driven(performing(driver), CLUSTERS.enrich(MODELS, self.corpus, None))
                self.clustered = True

        @rule()
        def state(self) -> None:
            """Make statements, or bring them up to date after some of the other changes."""
            if self.there:
                made_statements(driver, self.corpus)
                self.stated = True

        @rule()
        def describe(self) -> None:
            """Describe entities, or bring descriptions up to date after some of the other changes."""
            if self.there:
                if self.stated:
                    self.state()
                driven(performing(driver), DESCRIPTIONS.enrich(MODELS, self.corpus, None))
                self.described = True

        @rule(library=libraries((*NAMES, *PEOPLE)), steps=st.integers(1, 8))
        def interrupt(self, library: list[NaiveDocument], steps: int) -> None:
            """A run ends after so many writes; its documents are indexed as they were, or deleted."""
            for request, _ in zip(staging(self.corpus, library, uuid4().hex), range(steps), strict=False):
                database.write(driver, "neo4j", request)
            begun = {document.id for document in library}
            write(driver, self.corpus, [one for id, one in self.there.items() if id in begun] or library[:1])
            if not begun & self.there.keys():
                self.there[library[0].id] = library[0]
            self.take(begun - self.there.keys())

        @rule(data=st.data())
        def some_go(self, data: st.DataObject) -> None:
            if self.there:
                self.take(data.draw(st.sets(st.sampled_from(sorted(self.there)), min_size=1)))

        @rule(name=st.sampled_from([*PEOPLE, "count dracula"]), into=st.sampled_from(PEOPLE), data=st.data())
        def decide(self, name: str, into: str, data: st.DataObject) -> None:
            """Merge or split a name by hand, or undo this. What cannot be done changes nothing."""
            merge, split, join = merge_overrides.merge, merge_overrides.split, merge_overrides.join
            merged = partial(merge, into=into)
            split_in = partial(split, document=data.draw(st.sampled_from(["d0", "d1", "d2"])))
            operation: Any = data.draw(st.sampled_from([merged, merged, split, split_in, join]))
            before = driven(performing(driver), merge_overrides.read_overrides(self.corpus))
            try:
                driven(performing(driver), operation(name, corpus=self.corpus))
            except (NotFoundError, InputError):
                assert driven(performing(driver), merge_overrides.read_overrides(self.corpus)) == before

        def take(self, ids: set[str]) -> None:
            if ids:
                driven(performing(driver), delete(self.corpus, sorted(ids)))
                driven(performing(driver), merge_overrides.update_linked_names(self.corpus))
                driven(performing(driver), update_references(self.corpus))
            self.there = {id: document for id, document in self.there.items() if id not in ids}
            self.enriched = self.enriched and bool(self.there)
            self.embedded = self.embedded and bool(self.there)
            self.clustered = self.clustered and bool(self.there)
            self.stated = self.stated and bool(self.there)
            self.described = self.described and bool(self.there)

        @invariant()
        def layers_have_only_what_is_visible(self) -> None:
            assert not dangling(driver, self.corpus)

        def teardown(self) -> None:
            self.patch.undo()  # the fresh one is counted at once
            try:
                driver.execute_query(
                    "MATCH (a:Alias {corpus: $corpus}) WHERE a.apart OR a.into IS NOT NULL OR a.documents IS NOT NULL "
                    "MERGE (b:Alias {corpus: $fresh, key: a.key}) "
                    "SET b.apart = a.apart, b.into = a.into, b.documents = a.documents, b.senses = a.senses",
                    corpus=self.corpus,
                    fresh=self.fresh,
                )
                if self.there:
                    write(driver, self.fresh, list(self.there.values()))
                if self.stated:  # before communities, which are made from them
                    driven(performing(driver), STATEMENTS.update(STATING, self.corpus, meter=UsageMeter()))
                    made_statements(driver, self.fresh)
                if self.enriched:
                    driven(performing(driver), COMMUNITIES.update(MODELS, self.corpus))
                    driven(performing(driver), COMMUNITIES.enrich(MODELS, self.fresh, None))
                if self.embedded:
                    driven(performing(driver), ENTITIES.update(MODELS, self.corpus))
                    driven(performing(driver), ENTITIES.enrich(MODELS, self.fresh, None))
                if self.clustered:
                    driven(performing(driver), CLUSTERS.update(MODELS, self.corpus))
                    driven(performing(driver), CLUSTERS.enrich(MODELS, self.fresh, None))
                if self.described:
                    driven(performing(driver), DESCRIPTIONS.update(MODELS, self.corpus))
                    driven(performing(driver), DESCRIPTIONS.enrich(MODELS, self.fresh, None))
                assert snapshot(driver, self.corpus) == snapshot(driver, self.fresh)
                states = listed(driver, self.corpus)
                assert states == dict.fromkeys(self.there, ("ready", True))
            finally:
                self.naming.undo()
                remove(driver, [self.corpus, self.fresh])

    run_state_machine_as_test(
        Histories,
        settings=settings(
            max_examples=HISTORIES,
            stateful_step_count=STEPS,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )


def test_the_last_document_takes_everything_with_it(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora += [corpus, other := f"{corpus}-other"]
    library = [small_document("d0", ["ann", "bob"]), small_document("d1", ["ann", "cid"])]
    write(driver, corpus, library)
    write(driver, other, library)
    before = snapshot(driver, other, exact=True)
    driven(performing(driver), delete(corpus, ["d0", "d1"]))
    assert snapshot(driver, corpus) == ({}, {})
    assert snapshot(driver, other, exact=True) == before


# --- several at once ---------------------------------------------------------------------------------


def version(number: int, of: str) -> NaiveDocument:
    """A document whose entities are partly its own, partly of all."""
    return small_document(of, ["ann", "bob", of], ["ann", "cid", f"{of} {number}"], ["bob", "cid"], [f"{of} {number}"])


def indexing(driver: Driver, corpus: str, library: Sequence[NaiveDocument]) -> None:
    """Write documents, again and again where another run is at them."""
    perform = performing(driver)
    with Lease(perform, corpus) as lease:
        left = [indexed(one, corpus, dimensions=REAL_DIMENSIONS) for one in library]
        while left:
            for request in claim(corpus, lease.run, [one.document for one in left]):
                perform(request)
            left = [one for one in left if not driven(perform, written(corpus, lease.run, [one]))]
    driven(perform, purge(corpus))
    driven(perform, update_references(corpus))


def work(connection: Connection, corpus: str, names: Sequence[str], versions: int) -> None:
    """One writer of several versions of each document, the last of which is left."""
    with connected(connection) as driver:
        for number in range(versions):
            indexing(driver, corpus, [version(number, name) for name in names])


@contextmanager
def readers(driver: Driver, corpus: str) -> Iterator[list[Any]]:
    """Two that read all the while; what they saw of the first document, which is always whole."""
    ended = Event()
    seen: list[Any] = []

    def read() -> None:
        unit = padded([[1.0] * 8], REAL_DIMENSIONS)[0].tolist()
        while not ended.is_set():
            names = ["ann", "bob", "cid"]
            [link] = database.read(
                driver,
                "neo4j",
                Read(
                    "query/link",
                    {
                        "corpus": corpus,
                        "names": names,
                        "other_names": [],
                        "proper": [],
                        "limit": 9,
                        "meanings": 3,
                        "terms": [],
                    },
                ),
            )
            parameters = {"corpus": corpus, "vector": unit, "k": 100, "names": names}
            nearest = database.read(driver, "neo4j", Read("query/nearest", parameters))
            seen.append(([one["entity"] for one in link["named"]], len(link["pairs"]), len(nearest)))

    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(read) for _ in range(2)]
        try:
            yield seen
        finally:
            ended.set()
        for one in running:
            one.result()


# Six writers of documents of their own, and two of the same two documents.
WRITERS = [*([f"d{number}", f"e{number}"] for number in range(6)), ["same", "both"], ["both", "same"]]


def assert_as_fresh(driver: Driver, corpus: str, versions: int) -> None:
    names = sorted({name for writer in WRITERS for name in writer})
    write(driver, f"{corpus}-fresh", [version(0, "first"), *(version(versions - 1, name) for name in names)])
    assert snapshot(driver, corpus) == snapshot(driver, f"{corpus}-fresh")


@pytest.mark.full
def test_eight_threads_write_one_corpus_while_others_read(
    neo4j_connection: Connection, driver: Driver, corpora: list[str], corpus: str
) -> None:
    corpora += [corpus, f"{corpus}-fresh"]
    write(driver, corpus, [version(0, "first")])
    with readers(driver, corpus) as seen, ThreadPoolExecutor(8) as pool:
        for writer in [pool.submit(work, neo4j_connection, corpus, names, 3) for names in WRITERS]:
            writer.result()
    assert seen
    assert all(entities == ["ann", "bob", "cid"] or set(entities) == {"ann", "bob", "cid"} for entities, _, _ in seen)
    assert {pairs for _, pairs, _ in seen} == {3}
    assert_as_fresh(driver, corpus, 3)


@pytest.mark.full
def test_eight_processes_write_one_corpus(
    neo4j_connection: Connection, driver: Driver, corpora: list[str], corpus: str
) -> None:
    corpora += [corpus, f"{corpus}-fresh"]
    write(driver, corpus, [version(0, "first")])
    fresh = multiprocessing.get_context("forkserver")
    processes = [fresh.Process(target=work, args=(neo4j_connection, corpus, names, 2)) for names in WRITERS]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 8
    assert_as_fresh(driver, corpus, 2)


# --- leases ------------------------------------------------------------------------------------------


def test_a_run_that_lost_its_documents_writes_nothing_more(driver: Driver, corpora: list[str], corpus: str) -> None:
    """A run stops, its lease ends, another one takes over; then the first goes on."""
    corpora.append(corpus)
    perform = performing(driver)
    old, new = (indexed(version(n, "d"), corpus, dimensions=REAL_DIMENSIONS) for n in range(2))
    for request in claim(corpus, "stopped", [old.document]):
        perform(request)
    operation: Any = written(corpus, "stopped", [old])
    reply: Any = None
    for _ in range(4):
        reply = perform(operation.send(reply))
    write(driver, corpus, [version(1, "d")])
    before = snapshot(driver, corpus, exact=True)
    with pytest.raises(StopIteration) as end:
        operation.send(perform(operation.send(reply)))
    assert end.value.value is False
    assert snapshot(driver, corpus, exact=True) == before
    assert new.document.id in listed(driver, corpus)


def test_documents_of_a_run_at_work_stay_its_own(
    driver: Driver, corpora: list[str], corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as the lease is renewed, however short it is."""
    corpora.append(corpus)
    monkeypatch.setattr(lease, "SECONDS", 0.9)
    perform = performing(driver)
    one = indexed(version(0, "d"), corpus, dimensions=REAL_DIMENSIONS)
    with Lease(perform, corpus) as first:
        for request in claim(corpus, first.run, [one.document]):
            perform(request)
        assert not Event().wait(2)
        for request in claim(corpus, "another", [one.document]):
            perform(request)
        assert not driven(perform, written(corpus, "another", [one]))
        assert driven(perform, written(corpus, first.run, [one]))
    assert listed(driver, corpus) == {"d": ("ready", True)}


def test_a_deletion_ends_the_work_on_a_document(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    perform = performing(driver)
    one = indexed(version(0, "d"), corpus, dimensions=REAL_DIMENSIONS)
    with Lease(perform, corpus) as lease:
        for request in claim(corpus, lease.run, [one.document]):
            perform(request)
        operation: Any = written(corpus, lease.run, [one])
        perform(operation.send(None))
        driven(perform, delete(corpus, ["d"]))
        with pytest.raises(StopIteration) as end:
            operation.send(perform(operation.send([{"held": 1}])))
        assert end.value.value is False
    assert snapshot(driver, corpus) == ({}, {})


def test_states_of_documents(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    perform = performing(driver)
    write(driver, corpus, [version(0, "old")])
    documents = [
        indexed(version(1, name), corpus, dimensions=REAL_DIMENSIONS).document for name in ("old", "new", "bad")
    ]
    with Lease(perform, corpus) as lease:
        for request in claim(corpus, lease.run, documents):
            perform(request)
        lease.record_failure(["bad"], ValueError("Too bad."))
        assert listed(driver, corpus) == {
            "old": ("pending", True),
            "new": ("pending", False),
            "bad": ("failed", False),
        }
    rows = database.read(driver, "neo4j", Read("query/documents", {"corpus": corpus}))
    assert {row["id"]: row["why"] for row in rows} == {"old": None, "new": None, "bad": "Too bad."}


# --- killed ------------------------------------------------------------------------------------------


@pytest.mark.timeout(900)
@pytest.mark.parametrize("chunks_at_once", [writer.CHUNKS_AT_ONCE, pytest.param(0, marks=pytest.mark.full)])
def test_a_client_killed_anywhere_leaves_the_old_state_or_the_new_and_the_next_run_finishes(
    neo4j_connection: Connection, driver: Driver, corpora: list[str], chunks_at_once: int
) -> None:
    """After each statement that it sends, within a transaction and between two. Where edges are counted later, paths
    may be those of neither. Tiers below the full one kill it before some statements, others from day to day, and before
    the first and the last."""
    corpora += [run := uuid4().hex, f"{run}-old", f"{run}-new", f"{run}-whole"]
    write(driver, f"{run}-old", crashes.BEFORE)
    write(driver, f"{run}-new", crashes.BEFORE)
    write(driver, f"{run}-new", crashes.AFTER)
    edges = chunks_at_once > 0
    old, new = (visible(driver, f"{run}-{version}", edges=edges) for version in ("old", "new"))
    assert old != new
    fresh = multiprocessing.get_context("forkserver")
    fresh.set_forkserver_preload(["crashes"])
    names = statements_of_a_run(fresh, neo4j_connection, f"{run}-whole", chunks_at_once)
    assert len(names) >= 30
    assert snapshot(driver, f"{run}-whole") == snapshot(driver, f"{run}-new")
    seen = []
    ends = {0, len(names) - 1}
    for statements in sorted(ends.union(few_of(range(len(names)), 4 if chunks_at_once == 0 else 1))):
        corpora.append(corpus := f"{run}-{statements}")
        write(driver, corpus, crashes.BEFORE)
        client = fresh.Process(
            target=crashes.index_and_die, args=(neo4j_connection, corpus, statements, chunks_at_once)
        )
        client.start()
        client.join()
        assert client.exitcode == -signal.SIGKILL
        seen.append(visible(driver, corpus, edges=edges))
        assert seen[-1] in (old, new)
        time.sleep(crashes.LEASE_SECONDS)
        indexing(driver, corpus, crashes.AFTER)
        assert snapshot(driver, corpus) == snapshot(driver, f"{run}-new")
        remove(driver, [corpus])
    assert seen[0] == old
    assert seen[-1] == new
    assert seen.index(new) == len(seen) - seen.count(new), "once it is new, it stays so"


def statements_of_a_run(
    context: ForkServerContext, connection: Connection, corpus: str, chunks_at_once: int
) -> list[str]:
    """What a client sends that nobody kills."""
    with connected(connection) as driver:
        write(driver, corpus, crashes.BEFORE)
    sent = context.SimpleQueue()
    client = context.Process(target=crashes.index_and_die, args=(connection, corpus, -1, chunks_at_once, sent))
    client.start()
    client.join()
    assert client.exitcode == 0
    names = []
    while not sent.empty():
        names.append(sent.get())
    return names
