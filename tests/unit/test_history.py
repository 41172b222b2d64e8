"""Questions that refer to earlier turns: what is carried over, which replies rewrite them, and what is searched for."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from libraries import StubModels
from operations import WordModel, conversation
from spacy.language import Language

from e2g_neo4j.errors import QueryError
from e2g_neo4j.models.chat.until_usable import TRIES
from e2g_neo4j.models.entities.pipeline import load_pipeline
from e2g_neo4j.retrieval.chat_calls import LONGEST_REPLY, ChatCalls
from e2g_neo4j.retrieval.history import (
    CARRIED,
    LONGEST,
    find_earlier_names,
    make_stand_alone,
    refers_back,
    rewritten_in,
)
from e2g_neo4j.retrieval.options import MAX_HISTORY, TURN_CHARACTERS, TURNS, RetrievalOptions
from e2g_neo4j.retrieval.retrieve import retrieve
from e2g_neo4j.runtime.requests import Chat, Read
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.chat import ChatReply
from e2g_neo4j.types.results import Answer, Evidence, Turn

QUILL = Turn("Who was Theodora Quill?", "She was an engineer.")
CRAIL = Turn("Who kept back the coal?", "Walter Crail, the manager of Rask and Holloway.")


@pytest.fixture(scope="module")
def nlp() -> Language:
    return load_pipeline()


@pytest.mark.parametrize(
    ("question", "refers"),
    [
        ("And her sister?", True),
        ("and then?", True),
        ("What about Tobias Fenn?", True),
        ("How about Lantry?", True),
        ("But why?", True),
        ("When did she die?", True),
        ("What did they see at Gannet Head?", True),
        ("What did Luke Farran think of that?", True),
        ("Why was the whistle silent?", True),
        ("Who made the chronometer that Luke Farran saved?", False),
        ("Is that what Luke Farran said?", False),
        ("When did Theodora Quill die?", False),
        ("Andrew Holloway built what?", False),
    ],
)
def test_a_question_refers_back_by_its_words(nlp: Language, question: str, refers: bool) -> None:
    assert refers_back(nlp(question)) == refers


@pytest.mark.parametrize(
    ("question", "history", "names"),
    [
        ("When did she die?", [QUILL], ["Theodora Quill"]),
        ("When did she die?", [Turn(QUILL.question)], ["Theodora Quill"]),
        ("Where did he go?", [CRAIL], ["Walter Crail", "Rask"]),
        ("Where did he go?", [QUILL, Turn("And who was Luke Farran?")], ["Luke Farran", "Theodora Quill"]),
        (
            "Did she know Luke Farran?",
            [Turn("Who was Theodora Quill?"), Turn("Who is Luke Farran?")],
            ["Theodora Quill"],
        ),
        ("How much did it cost?", [Turn("How long is the breakwater?")], ["breakwater"]),
        ("And in Lantry?", [Turn("Which clocks did Josiah Quill make?")], ["Josiah Quill", "clock"]),
        ("When did Josiah Quill die?", [QUILL], []),
        ("When did she die?", [], []),
        ("Why?", [Turn("Why?", "Because.")], []),
    ],
)
def test_names_of_earlier_turns_are_carried_over(
    nlp: Language, question: str, history: list[Turn], names: list[str]
) -> None:
    assert find_earlier_names(nlp(question), history, nlp) == names


def test_few_names_are_carried_over(nlp: Language) -> None:
    people = ["Luke Farran", "Tobias Fenn", "Walter Crail", "Theodora Quill", "Hester Pendry", "Josiah Quill"]
    history = [Turn(f"Who was {one}?", f"A friend of {one}, {people[0]} and {people[1]}.") for one in people]
    names = find_earlier_names(nlp("Where did they live?"), history, nlp)
    assert len(names) == CARRIED
    assert names[:3] == ["Josiah Quill", "Luke Farran", "Hester Pendry"], "two of an answer, and the latest first"


# --- a chat model ------------------------------------------------------------------------------------

QUESTION = "Where did he live later?"
REWRITTEN = "Where did Walter Crail live later?"


def reply(question: Any) -> str:
    return json.dumps({"question": question})


@pytest.mark.parametrize(
    ("said", "question"),
    [
        (reply(REWRITTEN), REWRITTEN),
        (f"Of course:\n{reply('  Where did Walter  Crail live later? ')}", REWRITTEN),
        (reply(QUESTION), None),
        (reply("where did he live LATER"), None),
        (reply(CRAIL.question), None),
        (reply("Who taught Orla Venn to wind the clock of Tamsin Quay?"), None),
        (reply("Which manager of Rask was it who fed all those grey parrots on Fish Street?"), None),
        (reply("Walter Crail " * LONGEST), None),
        (reply(" "), None),
        (reply(["Where did Walter Crail live?"]), None),
        (REWRITTEN, None),
        ("", None),
    ],
)
def test_a_reply_is_used_only_if_it_rewrites_the_question(nlp: Language, said: str, question: str | None) -> None:
    found = rewritten_in(said, question=QUESTION, doc=nlp(QUESTION), history=[CRAIL])
    assert found == question


def test_a_question_that_stands_alone_may_be_repeated(nlp: Language) -> None:
    asked = "When did Theodora Quill make her clocks?"
    assert rewritten_in(reply(asked), question=asked, doc=nlp(asked), history=[CRAIL]) == asked


def drive(operation: Any, *replies: str) -> tuple[Any, list[str]]:
    """The result of an operation and the prompts. All replies are used."""
    result, asked = conversation(operation, replies)
    return result, [one.request.user for one in asked]


def chat_of(context: int | None = None) -> ChatCalls:
    model: Any = WordModel(context)
    return ChatCalls(model)


def test_the_model_rewrites_the_question(nlp: Language) -> None:
    found, [prompt] = drive(make_stand_alone(QUESTION, [QUILL, CRAIL], nlp, chat_of()), reply(REWRITTEN))
    assert found.question == REWRITTEN
    assert "rewrote" in found.note
    assert f"[1] {QUILL.question}\n{QUILL.answer}\n\n[2] {CRAIL.question}" in prompt
    assert prompt.endswith(f"Question: {QUESTION}")


def test_without_a_usable_reply_names_are_carried_over(nlp: Language) -> None:
    found, prompts = drive(make_stand_alone(QUESTION, [CRAIL], nlp, chat_of()), *[""] * TRIES)
    assert len(prompts) == TRIES
    assert found.question == f"{QUESTION} (Walter Crail, Rask)"
    assert "no usable reply" in found.note
    assert "Carried over from earlier turns: Walter Crail, Rask." in found.note


def test_the_first_question_is_searched_as_it_stands(nlp: Language) -> None:
    found, prompts = drive(make_stand_alone(QUESTION, [], nlp, chat_of()))
    assert (found.question, found.note, prompts) == (QUESTION, "", [])


def test_the_earliest_turns_are_left_out_of_a_small_context(nlp: Language) -> None:
    long = Turn("What did Luke Farran say?", "He said " + "nothing " * 400)
    room = LONGEST_REPLY + 600
    found, [prompt] = drive(make_stand_alone(QUESTION, [long, CRAIL], nlp, chat_of(room)), reply(REWRITTEN))
    assert found.question == REWRITTEN
    assert "nothing" not in prompt
    assert CRAIL.question in prompt


@pytest.mark.parametrize("with_llm", [False, True])
def test_only_answers_and_llm_have_a_question_rewritten(nlp: Language, with_llm: bool) -> None:
    """`answer` passes the model as `rewriter`, `retrieve` does with the option `llm`."""
    models: Any = StubModels(
        settings=Settings(chat_model=None),
        chat_model=WordModel(),
        nlp=nlp,
        vector=lambda embed: embed.text,
    )

    def first_request(llm: bool, **rewriter: Any) -> Any:
        options = RetrievalOptions.of({"history": [CRAIL], "llm": llm})
        return next(retrieve(models, QUESTION, ["c"], options, **rewriter))

    assert isinstance(first_request(with_llm), Chat if with_llm else Read)
    assert isinstance(first_request(False, rewriter=WordModel()), Chat)


def test_what_is_searched_for_is_the_rewritten_question(nlp: Language) -> None:
    vectors: list[str] = []
    models: Any = StubModels(
        settings=Settings(chat_model=None),
        chat_model=None,
        nlp=nlp,
        vector=lambda embed: vectors.append(embed.text),
    )
    options = RetrievalOptions.of({"history": [CRAIL]})
    rewriter: Any = WordModel()
    operation = retrieve(models, QUESTION, ["c"], options, rewriter=rewriter)
    assert isinstance(next(operation), Chat)
    read = operation.send(ChatReply(reply(REWRITTEN), "stop", 10, 3))
    assert isinstance(read, Read)
    assert "walter crail" in read.parameters["names"]
    assert vectors == [REWRITTEN]


# --- the option --------------------------------------------------------------------------------------


def test_only_the_latest_turns_count_and_the_beginning_of_their_texts() -> None:
    history = [{"question": f"Question {number}?", "answer": "x" * 5000} for number in range(MAX_HISTORY)]
    options = RetrievalOptions.of({"history": history})
    assert [turn.question for turn in options.history] == [
        f"Question {number}?" for number in range(MAX_HISTORY - TURNS, MAX_HISTORY)
    ]
    assert {len(turn.answer) for turn in options.history} == {TURN_CHARACTERS}
    [long] = RetrievalOptions.of({"history": [{"question": "x" * 5000}]}).history
    assert long == Turn("x" * TURN_CHARACTERS)
    again = RetrievalOptions.of({"history": [QUILL, Turn("Why\ud800?")]})
    assert again.history == (QUILL, Turn("Why??"))
    assert RetrievalOptions.model_validate(again.model_dump()) == again, "as it is sent to a service"


@pytest.mark.parametrize(
    ("history", "says"),
    [
        ("Who?", "must be a list of turns"),
        ({"question": "Who?"}, "must be a list of turns"),
        (["Who?"], "A turn of history is a mapping"),
        ([{"question": "Who?", "role": "user"}], "A turn of history is a mapping"),
        ([{"answer": "Nobody."}], "needs a question"),
        ([{"question": " "}], "needs a question"),
        ([{"question": "Who?", "answer": 3}], "must be texts"),
        ([{"question": "Who?"}] * (MAX_HISTORY + 1), "at most 1000"),
    ],
)
def test_another_history_is_refused(history: Any, says: str) -> None:
    with pytest.raises(QueryError, match=says):
        RetrievalOptions.of({"history": history})


def test_with_a_history_every_mode_may_call_the_model() -> None:
    assert RetrievalOptions.of({"llm": True, "history": [QUILL]}).llm
    with pytest.raises(QueryError, match="does not call a chat model"):
        RetrievalOptions.of({"llm": True, "history": []})


def test_an_answer_and_evidence_are_turns() -> None:
    evidence = Evidence("Where?", ("c",), "global", "", (), (), 0, (), searched_as="Where did Walter Crail live?")
    assert evidence.turn == Turn("Where did Walter Crail live?")
    assert Answer("At Sennet.", evidence).turn == Turn("Where did Walter Crail live?", "At Sennet.")
    assert Answer(None, SimpleNamespace(stand_alone="Where?")).turn == Turn("Where?")  # type: ignore[arg-type]
