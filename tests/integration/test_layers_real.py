"""Every layer of a corpus on the real server: what changes leave of it, runs that are interrupted, what is staged."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any

import pytest
from graphs import snapshot
from libraries import dangling, driven, performing, small_document, staging, write
from neo4j import Driver
from stated import Model, Models

from e2g_neo4j.errors import CorpusChangedError, CorpusNotFoundError
from e2g_neo4j.graph.writer import delete, purge
from e2g_neo4j.indexing import layers
from e2g_neo4j.indexing.clusters.layer import CLUSTERS
from e2g_neo4j.indexing.communities.layer import COMMUNITIES
from e2g_neo4j.indexing.layer import ATTEMPTS, Layer
from e2g_neo4j.indexing.layers import LAYERS
from e2g_neo4j.indexing.typed.layer import TYPED
from e2g_neo4j.models.chat.usage import UsageMeter
from e2g_neo4j.runtime import database
from e2g_neo4j.runtime.requests import Operation, Read, Write
from e2g_neo4j.types.reports import LayerReport

DOCUMENTS = [
    small_document("d0", ["ann", "bob"], ["bob", "cid"], ["ann", "cid"]),
    small_document("d1", ["dan", "eve"], ["eve", "fay"], ["dan", "fay"]),
]
NEW = small_document("d1", ["dan", "eve"], ["eve", "ann"], ["dan", "ann"])
MODELS: Any = Models(Model({"ann bob": "ann | knows | bob", "dan eve": "dan | knows | eve"}))

EVERY_LAYER = pytest.mark.parametrize(
    "layer", [layer for layer in LAYERS if layer is not TYPED], ids=lambda layer: layer.name
)
"""The typed graph is written in one transaction, from statements alone: see test_typed_real.py."""


def enrich(layer: Layer, corpus: str) -> Operation[LayerReport]:
    return layer.enrich(MODELS, corpus, None, UsageMeter())


def update(driver: Driver, layer: Layer, corpus: str) -> None:
    driven(performing(driver), layer.update(MODELS, corpus, None, UsageMeter()))


def fresh(driver: Driver, layer: Layer, corpus: str, *documents: Any) -> Any:
    """What a corpus holds that has the layer of these documents alone."""
    write(driver, corpus, documents)
    driven(performing(driver), enrich(layer, corpus))
    return snapshot(driver, corpus)


def behind(driver: Driver) -> list[str]:
    return [row["corpus"] for row in database.read(driver, "neo4j", Read("doctor/behind", {}))]


def seen(driver: Driver, corpus: str) -> list[str]:
    """The texts of nodes of layers that can be seen."""
    query = "MATCH (n:Community|Cluster|Statement {corpus: $corpus}) RETURN n.text AS text"
    return [row["text"] for row in driver.execute_query(query, corpus=corpus).records]


def last_statement(layer: Layer) -> str:
    """The statement that publishes a layer."""
    return f"{layer.name}/publish" if layer.staged else "layers/set_revision"


class KilledError(Exception):
    """The process that makes a layer has ended."""


class AtWrite:
    """Executes what the making of a layer requests, and does something before its write of a number."""

    def __init__(self, driver: Driver, layer: Layer, number: int, act: Callable[[], None]) -> None:
        self.perform, self.left, self.act = performing(driver), number, act
        self.last = last_statement(layer)
        self.published = False
        """Whether the layer was published before."""

    def __call__(self, request: Any) -> Any:
        if isinstance(request, Write):
            self.left -= 1
            if self.left == -1:
                self.act()
            self.published |= self.left >= 0 and request.statements[0][0] == self.last
        return self.perform(request)


@EVERY_LAYER
def test_a_corpus_without_documents_has_no_layer(driver: Driver, corpus: str, layer: Layer) -> None:
    with pytest.raises(CorpusNotFoundError):
        driven(performing(driver), enrich(layer, corpus))


@EVERY_LAYER
def test_a_layer_is_made_once_and_of_its_corpus_alone(
    driver: Driver, corpora: list[str], corpus: str, layer: Layer
) -> None:
    corpora += [corpus, other := f"{corpus}-other"]
    for one in (corpus, other):
        write(driver, one, DOCUMENTS)
    before = snapshot(driver, other, exact=True)
    update(driver, layer, corpus)
    assert snapshot(driver, corpus) == snapshot(driver, other), "nobody has asked for it"
    assert driven(performing(driver), enrich(layer, corpus)).made > 0
    assert snapshot(driver, corpus) != snapshot(driver, other)
    assert driven(performing(driver), enrich(layer, corpus)).made == 0
    assert snapshot(driver, other, exact=True) == before


@EVERY_LAYER
def test_a_deleted_document_leaves_nothing(driver: Driver, corpora: list[str], corpus: str, layer: Layer) -> None:
    """In the very transaction that hides the document, before anything is made again."""
    corpora += [corpus, other := f"{corpus}-other"]
    fresh(driver, layer, corpus, *DOCUMENTS)
    driven(performing(driver), delete(corpus, ["d0"]))
    assert not any("ann" in text for text in seen(driver, corpus))
    assert not dangling(driver, corpus)
    assert corpus in behind(driver)
    update(driver, layer, corpus)
    assert corpus not in behind(driver)
    assert snapshot(driver, corpus) == fresh(driver, layer, other, DOCUMENTS[1])
    driven(performing(driver), delete(corpus, ["d1"]))
    assert snapshot(driver, corpus) == ({}, {})


@EVERY_LAYER
def test_a_change_meanwhile_begins_again(driver: Driver, corpora: list[str], corpus: str, layer: Layer) -> None:
    """A document is replaced after so many writes of the run. What is left is as if nobody had come between."""
    corpora += [corpus, other := f"{corpus}-other"]
    expected = fresh(driver, layer, other, DOCUMENTS[0], NEW)

    def change() -> None:
        assert run.published or not seen(driver, corpus), "staged ones are not seen"
        write(driver, corpus, [NEW])

    for number in count():
        write(driver, corpus, DOCUMENTS)
        run = AtWrite(driver, layer, number, change)
        driven(run, enrich(layer, corpus))
        if run.left >= 0:
            break
        assert not dangling(driver, corpus)
        assert (corpus in behind(driver)) == run.published
        update(driver, layer, corpus)
        assert snapshot(driver, corpus) == expected, number
        driven(run.perform, delete(corpus, ["d0", "d1"]))
    assert number > 2


@EVERY_LAYER
def test_a_corpus_that_always_changes_is_an_error(
    driver: Driver, corpora: list[str], corpus: str, layer: Layer
) -> None:
    corpora.append(corpus)
    write(driver, corpus, DOCUMENTS)
    perform = performing(driver)
    changes = count()

    def changing(request: Any) -> Any:
        if isinstance(request, Write) and request.statements[0][0] == last_statement(layer):
            write(driver, corpus, [small_document("d1", ["dan", f"eve {next(changes)}"])])
        return perform(request)

    message = rf"was changed {ATTEMPTS} times while {layer.making}.* --with {layer.name}"
    with pytest.raises(CorpusChangedError, match=message):
        driven(changing, enrich(layer, corpus))
    assert not seen(driver, corpus)
    driven(perform, delete(corpus, ["d0", "d1"]))
    assert snapshot(driver, corpus) == ({}, {})


def test_a_layer_that_always_changes_holds_up_no_other(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    write(driver, corpus, DOCUMENTS)
    perform = performing(driver)
    for one in (COMMUNITIES, CLUSTERS):
        driven(perform, enrich(one, corpus))
    write(driver, corpus, DOCUMENTS)

    def changing(request: Any) -> Any:
        if request == Read("clusters/stored", {"corpus": corpus}):
            write(driver, corpus, DOCUMENTS)
        return perform(request)

    driven(changing, layers.update(MODELS, corpus))
    [state] = database.read(driver, "neo4j", Read("layers/state", {"corpus": corpus}))
    assert state["clusters"] != state["revision"] == state["communities"]


@EVERY_LAYER
def test_an_interrupted_run_shows_nothing_and_is_cleaned_up(
    driver: Driver, corpora: list[str], corpus: str, layer: Layer
) -> None:
    """Wherever it ends."""
    corpora += [corpus, other := f"{corpus}-other"]
    expected = fresh(driver, layer, other, *DOCUMENTS)

    def kill() -> None:
        raise KilledError

    for number in count():
        write(driver, corpus, DOCUMENTS)
        run = AtWrite(driver, layer, number, kill)
        with suppress(KilledError):
            driven(run, enrich(layer, corpus))
        if run.left >= 0:
            break
        assert run.published or not seen(driver, corpus)
        driven(run.perform, enrich(layer, corpus))
        assert snapshot(driver, corpus) == expected, number
        driven(run.perform, delete(corpus, ["d0", "d1"]))
    assert number > 2


@EVERY_LAYER
def test_the_next_update_finishes_one_that_was_killed(
    driver: Driver, corpora: list[str], corpus: str, layer: Layer
) -> None:
    corpora += [corpus, other := f"{corpus}-other"]
    expected = fresh(driver, layer, other, DOCUMENTS[0], NEW)

    def kill() -> None:
        raise KilledError

    for number in count():
        fresh(driver, layer, corpus, *DOCUMENTS)
        write(driver, corpus, [NEW])
        run = AtWrite(driver, layer, number, kill)
        with suppress(KilledError):
            driven(run, layer.update(MODELS, corpus, None, UsageMeter()))
        if run.left >= 0:
            break
        update(driver, layer, corpus)
        driven(run.perform, purge(corpus))
        assert snapshot(driver, corpus) == expected, number
        driven(run.perform, delete(corpus, ["d0", "d1"]))
    assert number > 2


@EVERY_LAYER
def test_a_staged_document_is_in_no_layer(driver: Driver, corpora: list[str], corpus: str, layer: Layer) -> None:
    corpora += [corpus, other := f"{corpus}-other"]
    fresh(driver, layer, other, DOCUMENTS[0])
    for request in staging(other, DOCUMENTS[1:], "a run"):
        database.write(driver, "neo4j", request)
    write(driver, corpus, DOCUMENTS[:1])
    for request in staging(corpus, DOCUMENTS[1:], "a run"):
        database.write(driver, "neo4j", request)
    driven(performing(driver), enrich(layer, corpus))
    assert snapshot(driver, corpus) == snapshot(driver, other)
