"""The JSON schemas that chat models are held to: they fit the prompts, and each model gets them in its own way."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from langchain_core.language_models import BaseChatModel, FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable, RunnableLambda

import e2g_neo4j
from e2g_neo4j.answering.drift import FOLLOW_UPS_SCHEMA
from e2g_neo4j.answering.points import points_schema
from e2g_neo4j.evaluation import judging
from e2g_neo4j.evaluation.judging import support_schema
from e2g_neo4j.indexing.communities.chat import ReportWriter
from e2g_neo4j.indexing.communities.merging import DescriptionMerger
from e2g_neo4j.indexing.statements.chat import statements_schema
from e2g_neo4j.models.chat.json_replies import TEXT, number_schema, object_schema, objects_in
from e2g_neo4j.models.chat.langchain import LangChainChat
from e2g_neo4j.models.chat.ollama import OllamaChat
from e2g_neo4j.retrieval.chat_calls import relevant_schema
from e2g_neo4j.retrieval.strategies import lazy
from e2g_neo4j.retrieval.strategies.lightrag import SCHEMA
from e2g_neo4j.types.chat import ChatReply, ChatRequest

POINTS = points_schema(range(1, 9))
SCHEMAS: Mapping[str, Any] = {
    "answering/prompts/follow_up.txt": object_schema(points=POINTS, follow_ups=FOLLOW_UPS_SCHEMA),
    "answering/prompts/map.txt": object_schema(points=POINTS),
    "answering/prompts/map_reports.txt": object_schema(points=points_schema(range(1, 9), "reports")),
    "answering/prompts/primer.txt": object_schema(answer=TEXT, follow_ups=FOLLOW_UPS_SCHEMA),
    "evaluation/prompts/check_citations.txt": support_schema(9),
    "evaluation/prompts/judge.txt": judging.VERDICT,
    "evaluation/prompts/race.txt": judging.RATINGS,
    "evaluation/prompts/weights.txt": judging.WEIGHTS,
    "indexing/communities/prompts/description.txt": DescriptionMerger.schema,
    "indexing/communities/prompts/description_retry.txt": DescriptionMerger.schema,
    "indexing/communities/prompts/report.txt": ReportWriter.schema,
    "indexing/communities/prompts/report_retry.txt": ReportWriter.schema,
    "indexing/statements/prompts/statements.txt": statements_schema(1),
    "indexing/statements/prompts/statements_more.txt": statements_schema(0),
    "indexing/statements/prompts/statements_more_retry.txt": statements_schema(0),
    "indexing/statements/prompts/statements_retry.txt": statements_schema(1),
    "retrieval/prompts/filter_sentences.txt": relevant_schema(9),
    "retrieval/prompts/keywords.txt": SCHEMA,
    "retrieval/prompts/rate_reports.txt": object_schema(**{"1": number_schema(0, 5), "2": number_schema(0, 5)}),
    "retrieval/prompts/stand_alone.txt": object_schema(question=TEXT),
    "retrieval/prompts/sub_questions.txt": lazy.SCHEMA,
    "retrieval/prompts/test_relevance.txt": relevant_schema(9),
}
REQUEST = ChatRequest("Reply with JSON.", "Who?", 50, schema=SCHEMA)


@pytest.mark.parametrize("prompt", SCHEMAS)
def test_the_example_of_a_prompt_is_what_its_schema_allows(prompt: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[prompt])
    [example] = objects_in((Path(e2g_neo4j.__file__).parent / prompt).read_text(encoding="utf-8"))
    jsonschema.validate(example, SCHEMAS[prompt])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({}, SCHEMAS[prompt])


def test_ollama_gets_the_schema_as_its_format(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OllamaChat, "_info", type("Info", (), {"thinks": False}))
    chat = OllamaChat("m", "http://127.0.0.1:1")
    assert chat._arguments(REQUEST, {})["format"] == SCHEMA
    assert "format" not in chat._arguments(ChatRequest("", "Who?", 50), {})
    assert "format" not in OllamaChat("m", "http://127.0.0.1:1", schemas=False)._arguments(REQUEST, {})


class Structured(FakeListChatModel):
    """Replies with JSON if it is asked for a structured reply."""

    def with_structured_output(self, schema: Any, **given: Any) -> Runnable[Any, Any]:
        assert (schema, given) == (SCHEMA, {"method": "json_schema", "include_raw": True})
        return RunnableLambda(lambda _: {"raw": AIMessage('{"low_level": ["Ann"]}'), "parsed": None})


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (Structured(responses=["plain"]), '{"low_level": ["Ann"]}'),
        (FakeListChatModel(responses=["plain"]), "plain"),  # it has no structured replies
    ],
)
def test_a_model_of_langchain_is_held_to_the_schema_if_it_can_be(model: BaseChatModel, said: str) -> None:
    chat = LangChainChat(model)
    assert chat.ask(REQUEST).text == said
    assert [piece.text for piece in chat.stream(REQUEST) if isinstance(piece, ChatReply)] == [said]
    assert chat.ask(ChatRequest("", "Who?", 50)).text == "plain"
    assert LangChainChat(model, schemas=False).ask(REQUEST).text == "plain"


def test_a_text_of_a_reply_may_have_line_breaks() -> None:
    assert objects_in('{"text": "First.\nSecond.\tThird."}') == [{"text": "First.\nSecond.\tThird."}]
