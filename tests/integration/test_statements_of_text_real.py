"""Statements on the real server: what is written of a model's replies, what queries see of it, and mode
`graphrag_local`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from at_server import migrated
from graphs import cached_replies, snapshot
from libraries import (
    MODELS,
    dangling,
    driven,
    performing,
    remove,
    small_document,
    staging,
    write,
)
from naive import NaiveDocument
from neo4j import Driver
from stated import MODEL, Model, Models

from e2g_neo4j.errors import BudgetError, ConfigurationError, CorpusNotFoundError, ModelError
from e2g_neo4j.graph import catalog
from e2g_neo4j.graph.writer import delete
from e2g_neo4j.indexing import merge_overrides
from e2g_neo4j.indexing.statements import layer
from e2g_neo4j.indexing.statements.chat import REPLY_TOKENS
from e2g_neo4j.indexing.statements.layer import STATEMENTS
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.models.chat.usage import UsageMeter
from e2g_neo4j.retrieval.filters import FilteredDocuments
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.strategies import graphrag_local
from e2g_neo4j.runtime import database
from e2g_neo4j.runtime.requests import Read, Write
from e2g_neo4j.types.chat import ChatReply, ChatRequest
from e2g_neo4j.types.reports import LayerReport

DOCUMENTS = [
    small_document("d0", ["ann", "bob"], ["bob", "cid"]),
    small_document("d1", ["dan", "eve"], ["ann", "cid"]),
]


REPLIES: dict[str, str | list[str]] = {
    "ann bob": "ann | knows | bob | Ann knows Bob. | people | 8\nbob | is | - | Bob is here.||3\nzed | is | ann | No",
    "dan eve": "dan | meets | old eve | Dan meets Eve.\nann | is kin of | nobody | Ann is kin. | kin | 2",
}

ANOTHER = f"{MODEL}-another"


def made(
    driver: Driver, corpus: str, model: Model | None, budget: int | None = None, show: Callable[..., None] | None = None
) -> LayerReport:
    models: Any = Models(model)
    show = show or (lambda *_: None)
    return driven(performing(driver), STATEMENTS.enrich(models, corpus, show, UsageMeter(budget)))


def updated(driver: Driver, corpus: str, model: Model | None, meter: UsageMeter | None = None) -> None:
    models: Any = Models(model)
    driven(performing(driver), STATEMENTS.update(models, corpus, meter=meter))


def statements(driver: Driver, corpus: str) -> list[tuple[str, str, str, str | None, str, list[str], int]]:
    records = driver.execute_query(
        "MATCH (s:Statement {corpus: $corpus})-[:STATED_IN]->(c:Chunk), (s)-[:SUBJECT]->(a:Entity) "
        "RETURN c.id, a.key, s.predicate, [(s)-[:OBJECT]->(b:Entity) | b.key][0], s.text, s.keywords, s.strength "
        "ORDER BY c.id, a.key, s.predicate",
        corpus=corpus,
    ).records
    return [tuple(record) for record in records]


def behind(driver: Driver) -> list[str]:
    return [row["corpus"] for row in database.read(driver, "neo4j", Read("doctor/behind", {}))]


def ask(driver: Driver, corpora: Sequence[str], vector: Sequence[float], limit: int = 200) -> list[str]:
    operation = graphrag_local.graphrag_local(Query("Who?", corpora, limit))
    return [window.id for window, _ in driven(performing(driver), operation, vector)]


def test_replies_become_statements_about_entities(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora += [corpus, other := f"{corpus}-other"]
    write(driver, corpus, DOCUMENTS)
    write(driver, other, DOCUMENTS)
    before = snapshot(driver, other, exact=True)
    report = made(driver, corpus, model := Model(REPLIES))
    assert statements(driver, corpus) == [
        ("d0-c0", "ann", "knows", "bob", "Ann knows Bob.", ["people"], 8),
        ("d0-c0", "bob", "is", None, "Bob is here.", [], 3),
        ("d1-c0", "ann", "is kin of", None, "Ann is kin.", ["kin"], 2),
        ("d1-c0", "dan", "meets", "eve", "Dan meets Eve.", [], 5),
    ]
    assert (report.total, report.made, report.unmatched, report.unreadable) == (4, 4, 1, 0)
    assert (report.usage.calls, report.usage.remembered) == (2, 0)
    sent = sum(model.count(request.text) for request in model.requests)
    assert report.usage.prompt_tokens == sent
    assert report.cost == pytest.approx((sent + 2 * report.usage.completion_tokens) / 1e6)
    vectors = driver.execute_query("MATCH (s:Statement {corpus: $corpus}) RETURN s.text, s.embedding", corpus=corpus)
    for text, embedding in vectors.records:
        assert embedding == pytest.approx(MODELS.embedder.embed([text])[0].tolist(), abs=1e-6)
    assert snapshot(driver, other, exact=True) == before
    [row] = database.read(driver, "neo4j", Read("query/stats", {"corpus": corpus}))
    assert row["statements"] == 4


def test_nothing_is_paid_for_twice(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora += [corpus, other := f"{corpus}-other"]
    write(driver, corpus, DOCUMENTS)
    made(driver, corpus, model := Model(REPLIES))
    again = made(driver, corpus, model)
    assert (again.usage.calls, again.usage.remembered, again.total, again.made) == (0, 2, 4, 0)
    write(driver, other, [*DOCUMENTS, small_document("copy", ["ann", "bob"], ["bob", "cid"])])
    paid = made(driver, other, model).usage
    assert (paid.calls, paid.remembered) == (2, 0), "a reply serves its own corpus alone"
    assert len(model.requests) == 4
    driven(performing(driver), delete(corpus, ["d0", "d1"]))
    assert made(driver, other, model).usage.calls == 0, "the other corpus keeps the replies that it uses"
    made(driver, other, Model(REPLIES, ANOTHER))
    assert len(statements(driver, other)) == 6
    driven(performing(driver), delete(other, ["d0", "d1", "copy"]))
    assert snapshot(driver, corpus) == snapshot(driver, other) == ({}, {})
    assert not cached_replies(driver, MODEL, corpora=[corpus, other])


def test_a_plan_asks_nothing_and_writes_nothing(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    write(driver, corpus, DOCUMENTS)
    before = snapshot(driver, corpus, exact=True)
    models: Any = Models(model := Model(REPLIES))
    planned = driven(performing(driver), layer.plan(models, corpus))
    assert (planned.usage.calls, planned.usage.remembered, planned.total) == (2, 0, 0)
    assert planned.cost > 0
    assert not model.requests
    assert snapshot(driver, corpus, exact=True) == before
    assert made(driver, corpus, model).usage.prompt_tokens == planned.usage.prompt_tokens
    again = driven(performing(driver), layer.plan(models, corpus)).usage
    assert (again.calls, again.remembered, again.prompt_tokens, again.completion_tokens) == (0, 2, 0, 0)


def test_without_a_chat_model_or_documents_there_are_no_statements(driver: Driver, corpus: str) -> None:
    models: Any = Models(None)
    for operation in (STATEMENTS.enrich(models, corpus, None, UsageMeter()), layer.plan(models, corpus)):
        with pytest.raises((ConfigurationError, CorpusNotFoundError)):
            driven(performing(driver), operation)
    with pytest.raises(ConfigurationError, match="E2G_CHAT_MODEL"):
        made(driver, corpus, None)
    with pytest.raises(CorpusNotFoundError):
        made(driver, corpus, Model(REPLIES))


def test_unusable_replies_are_asked_for_again_and_counted(driver: Driver, corpora: list[str], corpus: str) -> None:
    """The second reply about d0 is usable; none about d1 is, and it is not asked about again later."""
    corpora.append(corpus)
    write(driver, corpus, DOCUMENTS)
    model = Model({"ann bob": ["What?", str(REPLIES["ann bob"])], "dan eve": "I list nothing."})
    report = made(driver, corpus, model)
    assert (report.usage.calls, report.total, report.unreadable) == (5, 2, 1)
    wrong = [request.user for request in model.requests if request.seed]
    assert len(wrong) == 3
    assert all("it has no JSON object with statements that have a subject" in one for one in wrong)
    again = made(driver, corpus, model)
    assert (again.usage.calls, again.unreadable) == (0, 1)


GLEANED: dict[str, str | list[str]] = {
    "- bob | likes": "ann | knows | bob | Ann knows Bob. | people | 8",
    "Listed:": "bob | likes | cid | Bob likes Cid.",
    **REPLIES,
}
"""What is missed at first, then nothing new."""


def gleaned(driver: Driver, corpus: str, model: Model, gleanings: int, budget: int | None = None) -> LayerReport:
    models: Any = Models(model, gleanings=gleanings)
    return driven(performing(driver), STATEMENTS.enrich(models, corpus, None, UsageMeter(budget)))


def test_gleanings_add_what_was_missed(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    write(driver, corpus, DOCUMENTS[:1])
    models: Any = Models(model := Model(GLEANED), gleanings=2)
    planned = driven(performing(driver), layer.plan(models, corpus)).usage
    assert (planned.calls, planned.completion_tokens) == (3, 3 * REPLY_TOKENS)
    once: Any = Models(model)
    first = driven(performing(driver), layer.plan(once, corpus)).usage
    assert planned.prompt_tokens > 3 * first.prompt_tokens + 3 * REPLY_TOKENS, "it would read the replies before"
    with pytest.raises(BudgetError):
        gleaned(driver, corpus, model, 2, first.prompt_tokens + 2 * REPLY_TOKENS + 20)
    assert len(model.requests) == 1
    done = gleaned(driver, corpus, model, 2)
    assert (done.usage.calls, done.total) == (2, 3), "the first reply is cached"
    said = [("ann", "knows", "bob"), ("bob", "is", None), ("bob", "likes", "cid")]
    assert [one[1:4] for one in statements(driver, corpus)] == said
    again = gleaned(driver, corpus, model, 2)
    assert (again.usage.calls, again.usage.remembered, again.made) == (0, 1, 0)
    updating: Any = Models(model, gleanings=2)
    write(driver, corpus, DOCUMENTS[1:])
    driven(performing(driver), STATEMENTS.update(updating, corpus, meter=UsageMeter()))
    assert [one[1:4] for one in statements(driver, corpus) if one[0] == "d0-c0"] == said, "what was gleaned stays"


def test_gleanings_go_on_from_replies_that_are_cached(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    write(driver, corpus, DOCUMENTS[:1])
    model = Model(GLEANED)
    assert gleaned(driver, corpus, model, 0).total == 2
    done = gleaned(driver, corpus, model, 1)
    assert (done.usage.calls, done.total) == (1, 3)
    unusable = Model({"Listed:": "I list nothing.", **REPLIES}, ANOTHER)
    done = gleaned(driver, corpus, unusable, 1)
    assert (done.usage.calls, done.total, done.unreadable) == (4, 2, 0), "the first reply is left"


def test_types_and_claims_are_stored(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    write(driver, corpus, DOCUMENTS[:1])
    model = Model(
        {"ann bob": "ann | robs | bob | No. | x | 5 | person | poet | suspected | in May\nann | is | - | Yes."}
    )
    models: Any = Models(model, claims=True)
    driven(performing(driver), STATEMENTS.enrich(models, corpus, None, UsageMeter()))
    [request] = model.requests
    assert "suspected" in request.system
    assert "status" in str(request.schema)
    made(driver, corpus, other := Model(model.replies, ANOTHER))
    assert "suspected" not in other.requests[0].system
    assert "status" not in str(other.requests[0].schema)
    records = driver.execute_query(
        "MATCH (s:Statement {corpus: $corpus}) "
        "RETURN s.subject_type, s.object_type, s.status, s.period ORDER BY s.predicate DESC",
        corpus=corpus,
    ).records
    assert [tuple(one) for one in records] == [("person", "poet", "suspected", "in May"), (None,) * 4]


def test_a_budget_stops_and_another_run_goes_on(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    write(driver, corpus, DOCUMENTS)
    models: Any = Models(model := Model(REPLIES))
    planned = driven(performing(driver), layer.plan(models, corpus))
    budget = planned.usage.prompt_tokens // 2 + 2 * REPLY_TOKENS + 20  # for a prompt and its longest reply
    before = snapshot(driver, corpus, exact=True)
    with pytest.raises(BudgetError, match="replies are cached"):
        made(driver, corpus, model, budget=budget)
    assert len(model.requests) == 1
    assert snapshot(driver, corpus, exact=True) == before
    report = made(driver, corpus, model, budget=budget)
    assert (report.usage.calls, report.usage.remembered, report.total) == (1, 1, 4)


def test_what_was_running_at_an_error_is_cached(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    write(driver, corpus, DOCUMENTS)

    class Failing(Model):
        def ask(self, request: ChatRequest) -> ChatReply:
            if "dan eve" in request.user:
                raise ModelError("The server is gone.")
            return super().ask(request)

    with pytest.raises(ModelError, match="gone"):
        made(driver, corpus, Failing(REPLIES))
    assert made(driver, corpus, Model(REPLIES)).usage.calls == 1
    small = Model(REPLIES, ANOTHER)
    small.context = 1_000
    with pytest.raises(ModelError, match="E2G_LLM_CONTEXT"):
        made(driver, corpus, small)

    def cancelled(stage: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made(driver, corpus, Model(REPLIES, ANOTHER), show=cancelled)


def test_updates_ask_about_new_text_alone(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora += [corpus, fresh := f"{corpus}-fresh"]
    write(driver, corpus, DOCUMENTS)
    model = Model({**REPLIES, "fay": "fay | likes | gil | Fay likes Gil. | | 4"})
    updated(driver, corpus, model, UsageMeter())
    assert not model.requests, "nobody has asked for statements"
    made(driver, corpus, model)
    changed = [small_document("d1", ["dan", "fay"], ["gil", "cid"])]
    write(driver, corpus, changed)
    assert [row[0] for row in statements(driver, corpus)] == ["d0-c0", "d0-c0"], "at once, before any update"
    assert not dangling(driver, corpus)
    assert corpus in behind(driver)
    updated(driver, corpus, None, UsageMeter())  # no chat model is configured
    updated(driver, corpus, model)  # nobody pays
    assert len(model.requests) == 2
    assert corpus in behind(driver)
    updated(driver, corpus, model, meter := UsageMeter())
    assert (meter.levels[0].calls, meter.levels[0].remembered) == (1, 1)
    assert corpus not in behind(driver)
    write(driver, fresh, [DOCUMENTS[0], *changed])
    made(driver, fresh, model)
    assert snapshot(driver, corpus) == snapshot(driver, fresh)
    driven(performing(driver), delete(corpus, ["d1"]))
    updated(driver, corpus, None)  # all replies are cached
    assert corpus not in behind(driver)
    assert [row[0] for row in statements(driver, corpus)] == ["d0-c0", "d0-c0"]


def test_another_model_pays_for_new_text_alone_until_it_is_asked_for_all(
    driver: Driver, corpora: list[str], corpus: str
) -> None:
    corpora.append(corpus)
    write(driver, corpus, DOCUMENTS[:1])
    made(driver, corpus, first := Model(REPLIES))
    write(driver, corpus, DOCUMENTS[1:])
    second = Model({"ann bob": "ann | greets | bob | Hello.", "dan eve": "dan | greets | eve | Hello."}, ANOTHER)
    updated(driver, corpus, second, UsageMeter())
    assert [row[2] for row in statements(driver, corpus)] == ["knows", "is", "greets"]
    made(driver, corpus, second)
    assert [row[2] for row in statements(driver, corpus)] == ["greets", "greets"]
    assert (len(first.requests), len(second.requests)) == (1, 2)
    write(driver, corpus, [small_document("d2", ["ann", "bob"], ["eve"])])
    updated(driver, corpus, first, UsageMeter())
    updated(driver, corpus, first, UsageMeter())
    assert (len(first.requests), len(second.requests)) == (2, 2)


def test_subjects_and_objects_follow_split_and_joined_names(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    people = [small_document("d0", ["jonathan harker"], ["mr harker"], ["lucy westenra", "mr harker"])]
    model = Model({"jonathan harker": "Mr Harker | writes to | Lucy Westenra | Mr Harker writes to Lucy Westenra."})
    write(driver, corpus, people)
    perform = performing(driver)
    assert [one.entity for one in driven(perform, catalog.aliases(corpus, "mr harker"))] == ["jonathan harker"]
    made(driver, corpus, model)
    joined = snapshot(driver, corpus)
    assert [row[1] for row in statements(driver, corpus)] == ["jonathan harker"]
    driven(perform, merge_overrides.split("mr harker", corpus=corpus))
    updated(driver, corpus, None)
    assert [row[1] for row in statements(driver, corpus)] == ["mr harker"]
    driven(perform, merge_overrides.join("mr harker", corpus=corpus))
    assert statements(driver, corpus) == [], "at once: no entity is left that is called so"
    updated(driver, corpus, None)
    assert snapshot(driver, corpus) == joined
    assert len(model.requests) == 1


def test_a_run_that_another_discards_begins_again(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    write(driver, corpus, DOCUMENTS)
    perform = performing(driver)
    model = Model(REPLIES)
    others = [1]

    def beside(request: Read | Write) -> Any:
        if isinstance(request, Write) and request.statements[0][0] == "statements/publish" and others:
            others.pop()
            made(driver, corpus, model)
        return perform(request)

    models: Any = Models(model)
    report = driven(beside, STATEMENTS.enrich(models, corpus, None, UsageMeter()))
    assert (report.total, report.made) == (4, 0)
    assert len(statements(driver, corpus)) == 4
    assert not driver.execute_query("MATCH (n:StagedStatement|E2GRetired {corpus: $corpus}) RETURN n", corpus=corpus)[0]


# --- mode graphrag_local -----------------------------------------------------------------------------

LIBRARY = [
    small_document("d0", ["dan", "eve"]),
    small_document("d1", ["ann", "cid"]),
    small_document("d2", ["ann", "bob"]),
    small_document("d3", ["bob", "cid"]),
    small_document("d4", ["ann", "bob", "eve"]),
    small_document("d5", ["ann"]),
]
TOLD: dict[str, str | list[str]] = {
    "ann cid": "ann | is | - | NEAR",
    "ann bob eve": "ann | knows | bob | far one\nann | knows | eve | far two",
    "ann bob": "ann | knows | bob | far three",
    "bob cid": "bob | knows | cid | NEAR TOO",
    "dan eve": "dan | is | eve | far four",
}
"""Ann's description and Bob's relation to Cid are near. Ann is the nearest entity, then come Bob and Cid. In the order
of the entities: d4 has two relations of Ann, d2 one, d1 a description of her; d3 is Bob's. All windows have one
vector."""


def question(*texts: str) -> list[float]:
    """The vector of the first text, a little towards the others."""
    first, *others = MODELS.embedder.embed(texts)
    return (first + 0.5 * sum(others)).tolist()


def told(driver: Driver, corpus: str, library: Sequence[NaiveDocument] = LIBRARY) -> None:
    write(driver, corpus, library)
    made(driver, corpus, Model(TOLD))


def test_windows_come_by_entities_then_by_their_relations(
    driver: Driver, corpora: list[str], corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpora.append(corpus)
    told(driver, corpus)
    near = question("NEAR", "NEAR TOO")
    monkeypatch.setattr(graphrag_local, "CANDIDATES", 2)
    assert ask(driver, [corpus], near) == [f"d{number}-c0-w0" for number in (4, 2, 1, 3, 0, 5)]
    # Of the relations to other entities, none is selected: that of Ann and Eve is one.
    monkeypatch.setattr(graphrag_local, "AROUND", 0)
    assert ask(driver, [corpus], near) == [f"d{number}-c0-w0" for number in (2, 4, 1, 3, 0, 5)]
    monkeypatch.setattr(graphrag_local, "ENTRY", 1)  # Ann has no relations within
    assert ask(driver, [corpus], near) == [f"d{number}-c0-w0" for number in (1, 0, 2, 3, 4, 5)]
    assert ask(driver, [corpus], near, limit=2) == ["d1-c0-w0", "d0-c0-w0"]


def test_every_corpus_has_its_own_statements(driver: Driver, corpora: list[str], corpus: str) -> None:
    """The other corpus has the same ids and texts, but other statements."""
    corpora += [corpus, other := f"{corpus}-other"]
    told(driver, corpus)
    near = question("NEAR", "NEAR TOO")
    before = ask(driver, [corpus], near)
    write(driver, other, LIBRARY)
    made(driver, other, Model({"dan eve": "dan | is | eve | NEAR"}, ANOTHER))
    assert ask(driver, [corpus], near) == before
    assert ask(driver, [other], near)[0] == "d0-c0-w0"
    assert len(ask(driver, [corpus, other], near)) == 12


def test_an_older_server_finds_the_same(
    scratch_5_26: Connection, driver: Driver, corpora: list[str], corpus: str
) -> None:
    with migrated(scratch_5_26) as older:
        corpora += [corpus, other := f"{corpus}-other"]
        for one in (older, driver):
            told(one, corpus)
            told(one, other, LIBRARY[:3])
        near = question("NEAR", "NEAR TOO")
        assert ask(older, [corpus], near) == ask(driver, [corpus], near)
        assert ask(older, [other], near) == ask(driver, [other], near)
        driven(performing(older), delete(corpus, [one.id for one in LIBRARY]))
        assert snapshot(older, corpus) == ({}, {})


FAMOUS = [
    small_document("d0", ["ann", "bob"]),
    small_document("d1", ["ann", "cid"]),
    small_document("d2", ["bob", "dan"], ["bob"]),
    small_document("d3", ["cid", "dan"]),
]
FAME: dict[str, str | list[str]] = {
    "ann bob": "ann | knows | bob | NEAR",
    "ann cid": "ann | knows | cid | far one",
    "bob dan": "bob | knows | dan | far two\nbob | is | - | far three",
    "cid dan": "cid | knows | dan | far four",
}
"""Bob has more statements than Cid, but not without d2."""


def check_filtered(driver: Driver, corpus: str, famous: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told(driver, corpus)
    write(driver, famous, FAMOUS)
    made(driver, famous, Model(FAME, ANOTHER))
    staged = [small_document("d0", ["ann", "bob"]), small_document("d9", ["dan", "eve"])]
    for request in [*staging(corpus, staged), *staging(famous, staged)]:
        database.write(driver, "neo4j", request)

    def found(corpus: str, vector: list[float], numbers: Sequence[int], limit: int = 200) -> list[str]:
        results = []
        for overfetch in (0, 1, 1000):
            documents = {corpus: FilteredDocuments([f"d{number}" for number in numbers], overfetch)}
            operation = graphrag_local.graphrag_local(Query("Who?", [corpus], limit, documents=documents))
            results.append([window.document for window, _ in driven(performing(driver), operation, vector)])
        assert results[0] == results[1] == results[2]
        return results[0]

    monkeypatch.setattr(graphrag_local, "CANDIDATES", 1)
    near = question("NEAR", "far four")
    assert found(corpus, near, range(6)) == [f"d{number}" for number in (4, 2, 1, 0, 3, 5)], "first those of Ann"
    # Without d1, the nearest statement is that of d0, about Dan and Eve. d4 has another relation of Eve.
    assert found(corpus, near, [0, 2, 4, 5, 9]) == ["d0", "d4", "d2", "d5"]
    assert found(corpus, near, [4, 5]) == ["d4", "d5"]
    assert found(corpus, near, [9]) == []

    monkeypatch.setattr(graphrag_local, "ENTRY", 1)
    monkeypatch.setattr(graphrag_local, "AROUND", 1)
    near = question("NEAR")
    # Ann's relation to the one who has more statements: to Bob, of whom d2 has two.
    assert found(famous, near, range(4)) == ["d0", "d1", "d2", "d3"]
    assert found(famous, near, [0, 1, 3]) == ["d1", "d0", "d3"]


def test_only_statements_of_the_filtered_documents_choose_text(
    driver: Driver, corpora: list[str], corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpora += [corpus, famous := f"{corpus}-famous"]
    check_filtered(driver, corpus, famous, monkeypatch)


def test_an_older_server_filters_the_same(
    scratch_5_26: Connection, corpora: list[str], corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with migrated(scratch_5_26) as older:
        check_filtered(older, corpus, f"{corpus}-famous", monkeypatch)
        remove(older, [corpus, f"{corpus}-famous"])
