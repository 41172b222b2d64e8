"""Reports of communities by a chat model, on the real server: what is read, written, paid for and kept."""

from __future__ import annotations

import json
from typing import Any

import pytest
from graphs import cached_replies, snapshot
from libraries import MODELS, driven, performing, small_document, write
from neo4j import Driver
from stated import MODEL, Model, Models

from e2g_neo4j.errors import BudgetError, ConfigurationError, ModelError
from e2g_neo4j.graph.writer import delete
from e2g_neo4j.indexing import layers
from e2g_neo4j.indexing.clusters.layer import CLUSTERS
from e2g_neo4j.indexing.communities import layer, merging, writing
from e2g_neo4j.indexing.communities.chat import LEVEL, REPLY_TOKENS
from e2g_neo4j.indexing.communities.hierarchy import Community
from e2g_neo4j.indexing.communities.layer import COMMUNITIES
from e2g_neo4j.indexing.statements.layer import STATEMENTS
from e2g_neo4j.models.chat.usage import UsageMeter
from e2g_neo4j.runtime import database
from e2g_neo4j.runtime.requests import Read
from e2g_neo4j.types.chat import ChatReply, ChatRequest
from e2g_neo4j.types.reports import LayerReport, ReportKind, TokenUsage

TWO_GROUPS = [
    small_document("d0", ["ann", "bob"], ["bob", "cid"], ["ann", "cid"]),
    small_document("d1", ["dan", "eve"], ["eve", "fay"], ["dan", "fay"]),
]


class Failing(Model):
    """A chat model that cannot be reached."""

    def ask(self, request: ChatRequest) -> ChatReply:
        raise ModelError("The server is gone.")


def report(title: str, rating: int = 5) -> str:
    return json.dumps({"title": title, "summary": f"{title} meet.", "findings": ["They talk."], "rating": rating})


REPLIES: dict[str, str | list[str]] = {
    "Names: ann, bob": report("The As", 7),
    "Names: dan": report("The Ds"),
    "Names: eve": report("The Ds"),
}


def enriched(
    driver: Driver,
    corpus: str,
    model: Model | None,
    reports: ReportKind | None = "llm",
    budget: int | None = None,
) -> LayerReport:
    models: Any = Models(model)
    return driven(performing(driver), COMMUNITIES.enrich(models, corpus, None, UsageMeter(budget), reports))


def updated(driver: Driver, corpus: str, model: Model | None, meter: UsageMeter | None = None) -> None:
    models: Any = Models(model)
    driven(performing(driver), COMMUNITIES.update(models, corpus, meter=meter))


def planned(driver: Driver, corpus: str, model: Model | None, reports: ReportKind | None = "llm") -> Any:
    models: Any = Models(model)
    return driven(performing(driver), layer.plan(models, corpus, reports))


def found(driver: Driver, corpus: str) -> dict[str, tuple[str, str, int | None, list[str]]]:
    """The reports by the first of their members."""
    records = driver.execute_query(
        "MATCH (c:Community {corpus: $corpus}) RETURN c.title AS title, c.text AS text, c.rating AS rating, "
        "COLLECT { MATCH (c)<-[:IN_COMMUNITY]-(e) RETURN e.key ORDER BY e.key } AS members, "
        "COLLECT { MATCH (c)-[:QUOTES]->(n) RETURN n.id ORDER BY n.id } AS quotes",
        corpus=corpus,
    ).records
    return {" ".join(one["members"]): (one["title"], one["text"], one["rating"], one["quotes"]) for one in records}


def behind(driver: Driver) -> list[str]:
    return [row["corpus"] for row in database.read(driver, "neo4j", Read("doctor/behind", {}))]


def test_the_reports_are_those_of_the_model(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora += [corpus, other := f"{corpus}-other"]
    for one in (corpus, other):
        write(driver, one, TWO_GROUPS)
    before = snapshot(driver, other, exact=True)
    done = enriched(driver, corpus, model := Model(REPLIES))
    assert found(driver, corpus) == {
        "ann bob cid": ("The As", "The As meet.\nThey talk.", 7, ["d0-c0"]),
        "dan eve fay": ("The Ds", "The Ds meet.\nThey talk.", 5, ["d1-c0"]),
    }
    assert (done.total, done.made) == (2, 2)
    assert (done.usage.calls, done.usage.remembered, done.unreadable) == (2, 0, 0)
    sent = sum(model.count(request.text) for request in model.requests)
    assert done.usage.prompt_tokens == sent
    assert done.cost == pytest.approx((sent + 2 * done.usage.completion_tokens) / 1e6)
    read = next(one.user for one in model.requests if "Names: ann, bob" in one.user)
    assert read.split("Sentences:\n")[1].splitlines()[:3] == ["So ann bob. [1]", "So bob cid. [1]", "So ann cid. [1]"]
    vectors = driver.execute_query(
        "MATCH (c:Community {corpus: $corpus}) RETURN c.title, c.text, c.embedding", corpus=corpus
    )
    for title, text, embedding in vectors.records:
        assert embedding == pytest.approx(MODELS.embedder.embed([f"{title}\n{text}"])[0].tolist(), abs=1e-6)
    assert snapshot(driver, other, exact=True) == before
    again = enriched(driver, corpus, model)
    assert (again.made, again.usage.calls, again.usage.remembered) == (0, 0, 2)
    copied = enriched(driver, other, model)
    assert copied.usage.calls == 2, "a reply serves its own corpus alone"
    driven(performing(driver), delete(corpus, ["d0", "d1"]))
    assert snapshot(driver, corpus) == ({}, {})
    kept = enriched(driver, other, model)
    assert (kept.usage.calls, kept.usage.remembered) == (0, 2), "the other corpus keeps its replies"
    driven(performing(driver), delete(other, ["d0", "d1"]))
    assert not cached_replies(driver, MODEL, corpora=[corpus, other])


def test_the_kind_is_kept_and_can_be_changed(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora += [corpus, fresh := f"{corpus}-fresh"]
    for one in (corpus, fresh):
        write(driver, one, TWO_GROUPS)
    model = Model(REPLIES)
    assert enriched(driver, fresh, model, None).usage == TokenUsage()
    assert not model.requests, "nobody has asked for them"
    assert planned(driver, fresh, model, None) == LayerReport()
    enriched(driver, corpus, model)
    kept = enriched(driver, corpus, model, None)
    assert kept.usage.remembered == 2
    assert enriched(driver, corpus, None, None).made == 0, "all of them are cached"
    assert enriched(driver, corpus, model, "extractive").usage == TokenUsage()
    assert snapshot(driver, corpus) == snapshot(driver, fresh)
    kinds: tuple[ReportKind | None, ...] = ("llm", None)
    for reports in kinds:
        write(driver, corpus, [small_document("d2", ["gil", "hal"], ["hal", "ida"], ["gil", "ida"])])
        if reports is None:
            enriched(driver, corpus, model)
            write(driver, corpus, [small_document("d2", ["gil", "hal"], ["hal", "ida"], ["gil", "ida", "jim"])])
        with pytest.raises(ConfigurationError, match="E2G_CHAT_MODEL"):
            enriched(driver, corpus, None, reports)
    with pytest.raises(ConfigurationError, match="E2G_CHAT_MODEL"):
        planned(driver, corpus, None)


def test_updates_ask_about_what_has_changed_alone(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora += [corpus, fresh := f"{corpus}-fresh"]
    write(driver, corpus, TWO_GROUPS)
    enriched(driver, corpus, model := Model(REPLIES))
    changed = small_document("d1", ["dan", "eve"], ["eve", "fay"], ["dan", "fay", "gil"])
    write(driver, corpus, [changed])
    assert found(driver, corpus).keys() == {"ann bob cid"}, "at once, before any update"
    updated(driver, corpus, None, UsageMeter())  # no chat model is configured
    updated(driver, corpus, model)  # nobody pays
    assert len(model.requests) == 2
    assert corpus in behind(driver)
    updated(driver, corpus, model, meter := UsageMeter())
    assert (meter.levels[LEVEL].calls, meter.levels[LEVEL].remembered) == (1, 1)
    assert corpus not in behind(driver)
    write(driver, fresh, [TWO_GROUPS[0], changed])
    enriched(driver, fresh, model)
    assert snapshot(driver, corpus) == snapshot(driver, fresh)
    driven(performing(driver), delete(corpus, ["d1"]))
    updated(driver, corpus, None)  # what is left is cached
    assert corpus not in behind(driver)
    assert found(driver, corpus).keys() == {"ann bob cid"}


def test_another_model_writes_what_is_new_until_it_is_asked_for_all(
    driver: Driver, corpora: list[str], corpus: str
) -> None:
    corpora.append(corpus)
    write(driver, corpus, TWO_GROUPS[:1])
    enriched(driver, corpus, Model(REPLIES))
    write(driver, corpus, TWO_GROUPS[1:])
    second = Model({"Names: ann, bob": report("Other As"), "Names: dan": report("Other Ds")}, f"{MODEL}-second")
    updated(driver, corpus, second, UsageMeter())
    assert sorted(one[0] for one in found(driver, corpus).values()) == ["Other Ds", "The As"]
    enriched(driver, corpus, second)
    assert sorted(one[0] for one in found(driver, corpus).values()) == ["Other As", "Other Ds"]
    assert len(second.requests) == 2
    third = Model({"Names: ann, bob": report("Other As", 9), "Names: dan": report("Other Ds")}, f"{MODEL}-third")
    assert enriched(driver, corpus, third).made == 0, "no vector is made again"
    assert sorted(one[2] or 0 for one in found(driver, corpus).values()) == [5, 9]


def test_a_parent_reads_the_reports_of_its_parts(
    driver: Driver, corpora: list[str], corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own sentences are too long together. It quotes the chunks that its parts quote."""
    corpora.append(corpus)
    between = small_document("d2", ["cid", "dan"])
    write(driver, corpus, [*TWO_GROUPS, between])
    hierarchy = [
        Community(1, ("ann", "bob", "cid"), 2),
        Community(1, ("dan", "eve", "fay"), 2),
        Community(2, ("ann", "bob", "cid", "dan", "eve", "fay"), None),
    ]
    monkeypatch.setattr(layer, "communities", lambda weights, groups: hierarchy)
    length = len(between.text)
    monkeypatch.setattr(writing.report_input, "__defaults__", (length + 6,))
    short = {"Reports about": '{"summary": "All"}', "ann bob": '{"title": "A", "summary": "1"}'}
    model = Model({**short, "dan eve": '{"title": "D", "summary": "2"}'})
    enriched(driver, corpus, model)
    whole = model.requests[-1].user
    assert "A\n1\n\nD\n2" in whole
    assert whole.count("Sentences:") == 1
    assert whole.split("Sentences:")[1].splitlines()[1] == f"{between.text.strip()} [1]"
    assert len(model.requests) == 3
    assert planned(driver, corpus, Model({}, "another")).usage.calls == 3
    title, text, _, quotes = found(driver, corpus)["ann bob cid dan eve fay"]
    assert (text, quotes) == ("All", ["d0-c0", "d1-c0", "d2-c0"])
    assert title.count(",") == 4, "it names entities, because the model gave it no title"
    driven(performing(driver), delete(corpus, ["d0"]))
    assert found(driver, corpus).keys() == {"dan eve fay"}, "nothing is left that was made of the document"


def test_a_plan_asks_nothing_and_writes_nothing(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    write(driver, corpus, TWO_GROUPS)
    before = snapshot(driver, corpus, exact=True)
    plan = planned(driver, corpus, model := Model(REPLIES))
    assert (plan.usage.calls, plan.usage.remembered, plan.usage.completion_tokens) == (2, 0, 2 * REPLY_TOKENS)
    assert plan.cost > 0
    assert not model.requests
    assert snapshot(driver, corpus, exact=True) == before
    done = enriched(driver, corpus, model)
    assert done.usage.prompt_tokens == plan.usage.prompt_tokens
    again = planned(driver, corpus, model).usage
    assert (again.calls, again.remembered, again.prompt_tokens) == (0, 2, 0)


def test_unusable_replies_are_asked_for_again_then_the_report_is_extractive(
    driver: Driver, corpora: list[str], corpus: str
) -> None:
    corpora.append(corpus)
    write(driver, corpus, TWO_GROUPS)
    model = Model({"Names: ann, bob": ["What?", str(REPLIES["Names: ann, bob"])], "Names: dan": "I write nothing."})
    done = enriched(driver, corpus, model)
    assert (done.usage.calls, done.unreadable) == (5, 1)
    assert all("no JSON object" in one.user for one in model.requests if one.seed)
    there = found(driver, corpus)
    assert there["ann bob cid"][0] == "The As"
    assert there["dan eve fay"] == ("dan, eve, fay", " ".join(TWO_GROUPS[1].text.split()), None, ["d1-c0"])
    again = enriched(driver, corpus, model)
    assert (again.usage.calls, again.unreadable) == (0, 1)


def test_a_budget_or_an_error_stops_and_another_run_goes_on(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    write(driver, corpus, TWO_GROUPS)
    model = Model(REPLIES)
    plan = planned(driver, corpus, model)
    before = snapshot(driver, corpus, exact=True)
    with pytest.raises(BudgetError, match="replies are cached"):
        enriched(driver, corpus, model, budget=plan.usage.prompt_tokens // 2 + 2 * REPLY_TOKENS + 20)
    assert len(model.requests) == 1
    assert snapshot(driver, corpus, exact=True) == before

    with pytest.raises(ModelError, match="gone"):
        enriched(driver, corpus, Failing(REPLIES))
    done = enriched(driver, corpus, model)
    assert (done.usage.calls, done.usage.remembered) == (1, 1)


def test_clusters_are_updated_though_the_chat_model_fails(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    write(driver, corpus, TWO_GROUPS)
    enriched(driver, corpus, Model(REPLIES))
    driven(performing(driver), CLUSTERS.enrich(MODELS, corpus, None))
    write(driver, corpus, [small_document("d1", ["dan", "eve"], ["eve", "gil"], ["dan", "gil"])])
    models: Any = Models(Failing(REPLIES))
    with pytest.raises(ModelError, match="gone"):
        driven(performing(driver), layers.update(models, corpus, meter=UsageMeter()))
    assert state(driver, corpus)["clusters"] == state(driver, corpus)["revision"]


# --- from statements ---------------------------------------------------------------------------------

STATED: dict[str, str | list[str]] = {
    "Names: ann, bob": report("The As", 7),
    "Names: dan": report("The Ds"),
    "Names: eve": report("The Ds"),
    "ann bob": "bob | is | - | Bob is tall.\nann | knows | bob | Ann knows Bob.|||person|person|suspected|in May\n"
    "ann | meets | bob | Ann meets Bob.",
    "dan eve": "dan | knows | eve | Dan knows Eve.",
}


def state(driver: Driver, corpus: str) -> Any:
    [row] = database.read(driver, "neo4j", Read("layers/state", {"corpus": corpus}))
    return row


def states(driver: Driver, corpus: str, model: Model | None) -> LayerReport:
    models: Any = Models(model)
    return driven(performing(driver), STATEMENTS.enrich(models, corpus, None, UsageMeter()))


def all_updated(driver: Driver, corpus: str, model: Model | None) -> None:
    models: Any = Models(model)
    driven(performing(driver), layers.update(models, corpus, meter=UsageMeter()))


def test_reports_are_made_from_statements_and_follow_them(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora += [corpus, fresh := f"{corpus}-fresh"]
    write(driver, corpus, TWO_GROUPS)
    enriched(driver, corpus, model := Model(dict(STATED)))
    states(driver, corpus, model)
    assert corpus in behind(driver), "its reports were made from sentences"
    planned_usage = planned(driver, corpus, model).usage
    del model.requests[:]
    done = enriched(driver, corpus, model, None)
    assert (planned_usage.calls, done.usage.calls) == (2, 2)
    assert planned_usage.prompt_tokens == done.usage.prompt_tokens
    read = next(one.user for one in model.requests if "Names: ann, bob" in one.user)
    assert (
        "\n\nStatements:\nbob: Bob is tall. [1]\nann, bob: Ann knows Bob. [suspected, in May] [1]\n"
        "ann, bob: Ann meets Bob. [1]\n<" in read
    )
    assert "Sentences:" not in read
    assert found(driver, corpus)["dan eve fay"] == ("The Ds", "The Ds meet.\nThey talk.", 5, ["d1-c0"])
    again = enriched(driver, corpus, model)
    assert (again.made, again.usage.calls, again.usage.remembered) == (0, 0, 2)

    changed = small_document("d1", ["dan", "eve"], ["eve", "fay"], ["dan", "fay"], ["fay"])
    write(driver, corpus, [changed])
    assert found(driver, corpus).keys() == {"ann bob cid"}, "at once, before any update"
    all_updated(driver, corpus, None)
    assert corpus in behind(driver)
    with pytest.raises(ConfigurationError, match="--with statements,communities"):
        enriched(driver, corpus, model)
    model.replies["dan eve"] = "fay | knows | eve | Fay knows Eve."
    del model.requests[:]
    all_updated(driver, corpus, model)
    assert corpus not in behind(driver)
    assert ["Fay knows Eve." in one.user for one in model.requests] == [False, True], "the other report is kept"
    write(driver, fresh, [TWO_GROUPS[0], changed])
    states(driver, fresh, model)
    enriched(driver, fresh, model)
    assert snapshot(driver, corpus) == snapshot(driver, fresh)
    driven(performing(driver), delete(corpus, ["d1"]))
    all_updated(driver, corpus, None)  # what is left is cached
    assert corpus not in behind(driver)
    assert found(driver, corpus).keys() == {"ann bob cid"}


LONG = "who keeps the light and writes letters to the harbour " * 11
MERGED: dict[str, str | list[str]] = {
    "Names: bob\n": '{"description": "Bob keeps the light."}',
    "Names: ann, bob\nAnn": "I write nothing.",
    "Names: ann, bob": report("The As", 7),
    "Names: dan": report("The Ds"),
    "ann bob": f"bob | is | - | Bob, {LONG}.\nbob | is | - | Bob, {LONG}too.\nbob | is | - | A claim.|||||suspected|\n"
    f"ann | knows | bob | Ann, {LONG}.\nann | knows | bob | Ann, {LONG}too.",
}


def test_long_descriptions_are_merged_before_the_reports(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora += [corpus, fresh := f"{corpus}-fresh"]
    write(driver, corpus, TWO_GROUPS)
    states(driver, corpus, model := Model(MERGED))
    plan = planned(driver, corpus, model)
    del model.requests[:]
    done = enriched(driver, corpus, model)
    assert (plan.usage.calls, plan.usage.completion_tokens) == (4, 2 * REPLY_TOKENS + 2 * merging.REPLY_TOKENS)
    assert (done.usage.calls, done.unreadable) == (6, 0), "three for the relation, which is not merged"
    read = next(one.user for one in model.requests if "Names: ann, bob, cid" in one.user)
    said = read.split("Statements:\n")[1].splitlines()
    assert [line[:24] for line in said[:4]] == ["bob: A claim. [suspected", "bob: Bob keeps the light"] + 2 * [
        "ann, bob: Ann, who keeps"
    ]
    again = enriched(driver, corpus, model)
    assert (again.made, again.usage.calls, again.usage.remembered) == (0, 0, 4)
    assert enriched(driver, corpus, None, None).made == 0, "all of them are cached"
    write(driver, fresh, TWO_GROUPS)
    states(driver, fresh, model)
    enriched(driver, fresh, model)
    assert snapshot(driver, corpus) == snapshot(driver, fresh)
    driven(performing(driver), delete(corpus, ["d1"]))
    all_updated(driver, corpus, None)  # what is left is cached
    assert corpus not in behind(driver)
    driven(performing(driver), delete(corpus, ["d0"]))
    driven(performing(driver), delete(fresh, ["d0", "d1"]))
    assert not cached_replies(driver, MODEL, corpora=[corpus, fresh])


def test_other_statements_make_communities_outdated(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora += [corpus, extractive := f"{corpus}-extractive"]
    model, other = Model(STATED), Model({**STATED, "dan eve": "NONE"}, f"{MODEL}-other")
    for one, reports in ((corpus, "llm"), (extractive, None)):
        write(driver, one, TWO_GROUPS)
        states(driver, one, model)
        enriched(driver, one, model, reports)  # type: ignore[arg-type]
        states(driver, one, model)
        assert one not in behind(driver), "they are the same"
        states(driver, one, other)
    assert {corpus, extractive} <= set(behind(driver))
    del other.requests[:]
    enriched(driver, corpus, other)
    [read] = [one.user for one in other.requests if "Names: dan" in one.user]
    assert "Sentences:" in read, "nothing is stated about its members"


def test_statements_that_change_meanwhile_begin_again(
    driver: Driver, corpora: list[str], corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpora.append(corpus)
    write(driver, corpus, TWO_GROUPS)
    states(driver, corpus, Model(STATED))
    other = Model({**STATED, "dan eve": "dan | trusts | eve | Dan trusts Eve."}, f"{MODEL}-other")
    written = writing.write_reports

    def write_meanwhile(*arguments: Any) -> Any:
        monkeypatch.setattr(layer, "write_reports", written)
        states(driver, corpus, other)
        return (yield from written(*arguments))

    monkeypatch.setattr(layer, "write_reports", write_meanwhile)
    enriched(driver, corpus, model := Model(STATED))
    assert [one for one in ("knows", "trusts") for asked in model.requests if f"Dan {one} Eve." in asked.user] == [
        "knows",
        "trusts",
    ]
    assert corpus not in behind(driver)


def test_extractive_reports_are_updated_though_the_statements_fail(
    driver: Driver, corpora: list[str], corpus: str
) -> None:
    corpora.append(corpus)
    write(driver, corpus, TWO_GROUPS)
    states(driver, corpus, Model(STATED))
    enriched(driver, corpus, None, None)
    write(driver, corpus, [small_document("d1", ["dan", "eve"], ["eve", "gil"], ["dan", "gil"])])
    with pytest.raises(ModelError, match="gone"):
        all_updated(driver, corpus, Failing(STATED))
    assert state(driver, corpus)["communities"] == state(driver, corpus)["revision"]
