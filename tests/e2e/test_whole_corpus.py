"""Answers about everything: global search and map-reduce over all text, of the sample library, with a real Neo4j.

The chat model is a script that reads: a point of each batch is the first sentence of its second item, and the answer
repeats the points.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from at_server import settings_of
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field
from waiting_ollama import ITEM, read_items

from e2g_neo4j import E2G, Answer, AsyncE2G, Evidence, Settings
from e2g_neo4j.errors import QueryError
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.models.words import terms

pytestmark = pytest.mark.full

QUESTION = "What are the main subjects of the library?"


class Reading(BaseChatModel):
    """Replies as `read_items`."""

    prompts: list[str] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "reading"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        system, user = (str(message.content) for message in messages)
        self.prompts.append(user)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(read_items(system, user)))])


@pytest.fixture(scope="module")
def settings(neo4j_connection: Connection) -> Settings:
    return settings_of(neo4j_connection, evidence_tokens=2000)


def texts_of(e2g: E2G, corpus: str) -> dict[str, str]:
    return {one.id: e2g.text(one.id, corpus=corpus).text for one in e2g.documents(corpus)}


def assert_cited(answer: Answer, texts: dict[str, str]) -> None:
    """Every citation ends at characters of a document, and every point has one."""
    assert answer.citations
    for citation in answer.citations:
        passage = citation.passage
        assert texts[passage.document_id][passage.start : passage.end] == passage.text
    assert answer.points
    assert all(point.passages for point in answer.points)
    assert {one.number for one in answer.citations} == {number for point in answer.points for number in point.passages}


def test_global_search_reads_the_reports_of_a_level(settings: Settings, sample: str) -> None:
    model = Reading()
    with E2G(settings=settings, chat_model=model) as e2g:
        found, *pieces, answer = e2g.stream(QUESTION, corpus=sample, method="global", level=1)
        texts = texts_of(e2g, sample)
    assert isinstance(found, Evidence)
    assert isinstance(answer, Answer)
    assert found.reason.startswith("Global search: reports of level 1: ")
    batches = int(re.findall(r"(\d+) batch", found.reason)[0])
    assert 1 < batches == len(answer.points) == answer.calls - 1
    assert "".join(map(str, pieces)) == answer.text
    assert_cited(answer, texts)
    for point in answer.points:
        [report], [number] = point.reports, point.passages
        assert (report.corpus, report.level) == (sample, 1)
        said = set(terms(point.text))
        shared = said & set(terms(answer.given[number - 1].text))
        assert len(shared) > len(said) / 2, "of the quoted sentence, which may follow a heading that stands elsewhere"

    async def again() -> Answer:
        async with AsyncE2G(settings=settings, chat_model=Reading()) as client:
            return await client.answer(QUESTION, corpus=sample, method="global", level=1)

    assert asyncio.run(again()).text == answer.text


def test_global_search_descends_to_the_reports_that_the_model_chooses(settings: Settings, sample: str) -> None:
    model = Reading()
    with E2G(settings=settings, chat_model=model) as e2g:
        answer = e2g.answer(QUESTION, corpus=sample, method="global", level="dynamic")
        texts = texts_of(e2g, sample)
    [chosen] = re.findall(r"The chat model chose (\d+) of", answer.evidence.reason)
    assert int(chosen) <= 3, "the last one of each call"
    assert answer.points
    for point in answer.points:
        assert point.reports[0].level == 1, "the last one of each level was relevant, down to the finest"
    assert_cited(answer, texts)


def test_all_text_is_read(settings: Settings, sample: str) -> None:
    model = Reading()
    with E2G(settings=settings, chat_model=model) as e2g:
        answer = e2g.answer(QUESTION, corpus=sample, method="all_text")
        texts = texts_of(e2g, sample)
        few = E2G(e2g.driver, settings=settings.model_copy(update={"map_calls": 2}), chat_model=model)
        with pytest.raises(QueryError, match="E2G_MAP_CALLS allows 2"):
            few.answer(QUESTION, corpus=sample, method="all_text")
    *batches, last = model.prompts
    batches.sort(key=lambda prompt: int(ITEM.findall(prompt)[0][0]))
    assert answer.calls == len(model.prompts)
    assert "(11) " in last
    read = "\n".join("\n".join(prompt.splitlines()[1:-3]) for prompt in batches)
    read = re.sub(r"^\[\d+\] .*$", "", read, flags=re.MULTILINE)
    assert "".join(read.split()) == "".join("".join(text for text in texts.values()).split())
    assert_cited(answer, texts)
    assert all(not point.reports for point in answer.points)
