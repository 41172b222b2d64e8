"""Text to Cypher as an operation: when it is allowed, what is sent, and when another statement is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from operations import outcome

from e2g_neo4j.answering.text_to_cypher import text_to_cypher
from e2g_neo4j.errors import ConfigurationError, CorpusNotFoundError, InputError, QueryError, UnusableReplyError
from e2g_neo4j.graph.read_only import RejectedStatementError, Rows
from e2g_neo4j.models.chat.until_usable import TRIES
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.requests import CallDriver, Chat
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.chat import ChatReply

GOOD = "MATCH (e:Entity {corpus: $corpus}) RETURN e.name AS name"
NAMES: dict[str, list[str] | None] = {
    "labels": ["Entity", "Statement", "E2GKey", "__Neo4jMigration", "Ship"],
    "types": ["CO_OCCURS", "STATED_IN", "IN_CLUSTER", "SAILED_TO"],
    "properties": ["name", "predicate", "mast"],
}


def models(*, allowed: bool = True, chat: bool = True) -> Models:
    model = FakeListChatModel(responses=["unused"]) if chat else None
    return Models(Settings(text_to_cypher=allowed), model)


def run(
    replies: list[str],
    *,
    state: dict[str, bool] | None = None,
    results: Iterator[Any] | None = None,
    question: str = "Who?",
) -> tuple[Any, list[Any]]:
    """The result of the operation and its requests; `results` answers those to the driver."""
    seen: list[Any] = []
    texts = iter(replies)

    def reply(request: Any) -> Any:
        seen.append(request)
        if isinstance(request, Chat):
            return ChatReply(next(texts), "stop", 100, 10)
        if isinstance(request, CallDriver):
            assert results, "the statement was run"
            return next(results)
        return [(state or {"found": True}) if request.statement == "query/has_documents" else NAMES]

    return outcome(text_to_cypher(models(), question, "novels"), reply), seen


def test_it_is_off_unless_a_setting_allows_it() -> None:
    assert Settings().text_to_cypher is False
    with pytest.raises(ConfigurationError, match="E2G_TEXT_TO_CYPHER"):
        next(text_to_cypher(models(allowed=False), "Who?", "novels"))
    with pytest.raises(ConfigurationError, match="E2G_CHAT_MODEL"):
        next(text_to_cypher(models(chat=False), "Who?", "novels"))
    with pytest.raises(QueryError):
        next(text_to_cypher(models(), " ", "novels"))


def test_a_corpus_that_is_not_there_is_told_before_the_model_is_asked() -> None:
    with pytest.raises(CorpusNotFoundError):
        run([], state={"found": False})


def test_the_statement_that_is_run_and_told_has_the_corpus() -> None:
    found, _ = run(["MATCH (e:Entity) RETURN e.name AS name"], results=iter([Rows(("name",), (), False)]))
    assert found.statement == GOOD


def test_the_result_has_statement_rows_calls_and_tokens() -> None:
    rows = Rows(("name",), ({"name": "Ann"},), False)
    found, seen = run([f"```cypher\n{GOOD};\n```"], results=iter([rows]))
    assert (found.statement, found.parameters, found.columns) == (GOOD, {"corpus": "novels"}, ("name",))
    assert (found.rows, found.more) == (({"name": "Ann"},), False)
    assert (found.calls, found.prompt_tokens, found.completion_tokens) == (1, 100, 10)
    [asked] = [one.request for one in seen if isinstance(one, Chat)]
    assert asked.user.endswith("Question: Who?")
    assert "Labels: Ship\nRelationship types: SAILED_TO\nProperties: mast\n" in asked.user
    assert "$corpus" in asked.system
    assert asked.user.split("\n")[0].strip("<>") in asked.system


def test_the_prompt_lists_the_typed_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    typed = {
        "labels": [*(NAMES["labels"] or ()), "Person"],
        "types": [*(NAMES["types"] or ()), "MARRIED_TO"],
        "typed_labels": ["Person"],
        "typed_types": ["MARRIED_TO"],
        "patterns": ["(:Person)-[:MARRIED_TO]->(:Person)"],
    }
    monkeypatch.setitem(globals(), "NAMES", NAMES | typed)
    _, seen = run([GOOD], results=iter([Rows(("name",), (), False)]))
    [asked] = [one.request.user for one in seen if isinstance(one, Chat)]
    pattern = "(:Person)-[:MARRIED_TO]->(:Person) {count, valid_from, valid_to}"
    assert f"Typed graph:\n(:Person): an entity\n{pattern}\n\nOther graphs:\nLabels: Ship\n" in asked


def test_a_rejected_statement_is_written_again_with_the_reason() -> None:
    rows = Rows(("name",), (), False)
    results = iter([RejectedStatementError("No variable `f`"), rows])
    found, seen = run(["MATCH (e:Entity) RETURN f", "", GOOD], results=results)
    assert (found.statement, found.calls, found.prompt_tokens) == (GOOD, 3, 300)
    asked = [one.request for one in seen if isinstance(one, Chat)]
    assert "No variable `f`" in asked[1].user
    assert "no statement" in asked[2].user
    assert [one.seed for one in asked] == [0, 1, 2]


def test_it_gives_up_after_some_statements() -> None:
    results = iter([RejectedStatementError("No.")] * TRIES)
    with pytest.raises(UnusableReplyError, match=r"No\."):
        run([GOOD] * TRIES, results=results)


@pytest.mark.parametrize("statement", ["CALL db.labels()", "MATCH (n:E2GKey) RETURN n", "DROP INDEX x"])
def test_a_refused_statement_is_not_run_but_may_be_written_again(statement: str) -> None:
    with pytest.raises(InputError, match="was not run"):
        run([statement] * TRIES)
    found, seen = run([statement, GOOD], results=iter([Rows(("name",), (), False)]))
    assert (found.statement, found.calls) == (GOOD, 2)
    assert "It was not run, because it" in next(one.request.user for one in reversed(seen) if isinstance(one, Chat))
