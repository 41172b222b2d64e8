"""Which questions are about mentions, and what is said of the rows. Without a database."""

from __future__ import annotations

from typing import Any

import pytest

from e2g_neo4j.answering.mention_questions import answer_from_template, read_question
from e2g_neo4j.retrieval.templates import templates
from e2g_neo4j.runtime.requests import Emit, Read
from e2g_neo4j.service.sources import shown_answer
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.results import Answer
from e2g_neo4j.types.service import Caller

ANN, BOTH, PEOPLE = {"entity": "Ann Lee"}, {"first": "Ann Lee", "second": "the clock"}, {"type": "person"}
PLACES = {"type": "place"}
TAKEN: dict[str, tuple[str, dict[str, Any]]] = {
    "How many documents mention Ann Lee?": ("count_mentions", ANN),
    "How often is Ann Lee mentioned?": ("count_mentions", ANN),
    "How many times is Ann Lee mentioned in the corpus?": ("count_mentions", ANN),
    "In how many documents does Ann Lee occur?": ("count_mentions", ANN),
    "In how many chunks is Ann Lee mentioned?": ("count_mentions", ANN),
    "How many mentions of Ann Lee are there?": ("count_mentions", ANN),
    "Count the mentions of Ann Lee.": ("count_mentions", ANN),
    "How often are Ann Lee and the clock mentioned together?": ("count_together", BOTH),
    "How often is Ann Lee mentioned together with the clock?": ("count_together", BOTH),
    "In how many chunks do Ann Lee and the clock occur together?": ("count_together", BOTH),
    "In how many sentences are Ann Lee and the clock mentioned together?": ("count_together", BOTH),
    "How many documents mention both Ann Lee and the clock?": ("count_together", BOTH),
    "Which people are mentioned most?": ("most_mentioned", PEOPLE | {"limit": 10}),
    "who is mentioned most often": ("most_mentioned", PEOPLE | {"limit": 10}),
    "Who is the most frequently mentioned person?": ("most_mentioned", PEOPLE | {"limit": 10}),
    "Which 5 places are mentioned the most?": ("most_mentioned", PLACES | {"limit": 5}),
    "What are the ten most mentioned organizations?": ("most_mentioned", {"type": "organisation", "limit": 10}),
    "Top 5 places": ("most_mentioned", PLACES | {"limit": 5}),
    "List the top three people.": ("most_mentioned", PEOPLE | {"limit": 3}),
    "List all persons by mentions": ("most_mentioned", PEOPLE | {"limit": 100}),
    "List the places by number of mentions": ("most_mentioned", PLACES | {"limit": 10}),
    "Who is mentioned most often with Ann Lee?": ("mentioned_with", ANN | PEOPLE | {"limit": 10}),
    "Who is most often mentioned together with Ann Lee?": ("mentioned_with", ANN | PEOPLE | {"limit": 10}),
    "Which places are mentioned most often with Ann Lee?": ("mentioned_with", ANN | PLACES | {"limit": 10}),
    "What is mentioned most often with Ann Lee?": ("neighbours_of", ANN | {"limit": 10}),
    "Where is Ann Lee first mentioned?": ("first_and_last_mention", ANN | {"limit": 10}),
    "Where is the last mention of Ann Lee?": ("first_and_last_mention", ANN | {"limit": 10}),
    "Which documents mention Ann Lee most often?": ("documents_about", ANN | {"limit": 10}),
    "List all documents that mention Ann Lee": ("documents_about", ANN | {"limit": 100}),
    "How many people are mentioned?": ("count_of_type", PEOPLE),
}

LEFT = (
    "How many children does Mrs. Bennet have?",
    "How many people were on board the Lady Averil?",
    "How often does the siren sound?",
    "How often does the ghost appear?",
    "How often does primary CNS lymphoma occur?",
    "How many documents did the lawyer sign?",
    "How many people are mentioned in the letter?",
    "Which chromosomes are specifically mentioned as being involved in CML?",
    "Which people are most often affected?",
    "Who is the most important person?",
    "Where is Ann Lee first mentioned as a thief?",
    "What are the top 5 products?",
    "Top places",
    "List three diagnostic tests for kidney cancer.",
    "List all persons who were saved",
    "How often is Ann Lee mentioned, and by whom?",
    "How often is " + "Ann Lee and " * 1000 + "the clock mentioned together?",
    "",
)


@pytest.mark.parametrize(("question", "expected"), TAKEN.items())
def test_a_question_about_mentions_is_recognised(question: str, expected: tuple[str, dict[str, Any]]) -> None:
    first = next(read_question(question))
    assert (first.template, {**first.names, **first.values}) == expected
    [template] = [one for one in templates(Settings()) if one.name == first.template]
    assert {one.name for one in template.parameters} == expected[1].keys()
    assert {one.name for one in template.parameters if one.type == "entity"} == first.names.keys()


@pytest.mark.parametrize("question", LEFT)
def test_other_questions_are_not(question: str) -> None:
    assert list(read_question(question)) == []


def answered(question: str, rows: list[dict[str, Any]], *known: str) -> tuple[Answer | None, list[Any]]:
    """The answer if these are the entities and these the rows of the template, and what was requested."""
    operation, requests, reply = answer_from_template(question, "novels"), list[Any](), None
    while True:
        try:
            requests.append(operation.send(reply))
        except StopIteration as end:
            return end.value, requests
        last = requests[-1]
        if isinstance(last, Read) and last.statement == "query/resolve":
            reply = [{"name": name, "entity": name if name in known else None} for name in last.parameters["names"]]
        else:
            reply = rows


def test_the_answer_tells_the_rows_and_the_statement() -> None:
    row = {"entity": "Ann Lee", "mentions": 1200, "chunks": 1, "documents": 3}
    answer, requests = answered("How often is Ann Lee mentioned?", [row], "ann lee")
    assert [type(one) for one in requests] == [Read, Read, Emit]
    assert answer
    assert answer.result
    assert (answer.text or "").startswith("Ann Lee: 1,200 mentions, in 1 chunk of 3 documents.\n\n```cypher\n:params {")
    assert answer.result.statement in (answer.text or "")
    assert (answer.result.parameters, answer.result.rows) == ({"entity": "ann lee", "corpus": "novels"}, (row,))
    assert (answer.evidence.entities, answer.evidence.round_trips) == (("ann lee",), 2)
    assert Answer.from_dict(answer.to_dict()) == answer


def test_the_place_of_a_mention_is_quoted_where_the_text_has_the_name() -> None:
    row = {
        "document": "Log",
        "first_chunk": 0,
        "first_text": "Then ann\nlee came.",
        "last_chunk": 7,
        "last_text": "She",
    }
    first, _ = answered("Where is Ann Lee first mentioned?", [row], "ann lee")
    last, _ = answered("Where is Ann Lee last mentioned?", [row], "ann lee")
    assert first
    assert last
    assert (first.text or "").startswith("1. Log, chunk 0: “Then ann lee came.”\n")
    assert (last.text or "").startswith("1. Log, chunk 7\n")


def test_a_name_with_and_is_one_entity_if_the_corpus_has_it() -> None:
    row = {"entity": "Rask and Holloway", "mentions": 2, "chunks": 2, "documents": 1}
    answer, _ = answered("How many documents mention Rask and Holloway?", [row], "rask and holloway")
    assert answer
    assert answer.result
    assert answer.result.template == "count_mentions"


@pytest.mark.parametrize(
    ("question", "known"),
    [
        ("How often is Bob mentioned?", "ann lee"),
        ("How often is Ann Lee's brother mentioned?", "ann lee"),
        ("How often are Ann Lee and Bob mentioned together?", "ann lee"),
        ("How often are Ann Lee and Ann Lee mentioned together?", "ann lee"),
        ("How many people are mentioned?", ""),
    ],
)
def test_without_entity_or_rows_there_is_no_answer(question: str, known: str) -> None:
    assert answered(question, [], known)[0] is None


def test_paths_in_rows_are_shown_only_to_an_admin() -> None:
    row = {"document": "Log", "source": "/srv/texts/log.txt", "mentions": 2, "chunks": 1}
    answer, _ = answered("Which documents mention Ann Lee?", [row], "ann lee")
    assert answer
    for scope, source in (("read", "log.txt"), ("admin", "/srv/texts/log.txt")):
        shown = shown_answer(answer, Caller("a", frozenset([scope]), ("*",)), "")  # type: ignore[list-item]
        assert shown.result
        assert shown.result.rows == ({**row, "source": source},)
    assert "/srv" not in (answer.text or "")
