"""Conversations of a key, and the ratings of its answers as questions for `e2g eval`.

Turns about corpora that the key may not see any more are not shown.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import PlainTextResponse

from e2g_neo4j.graph import catalog
from e2g_neo4j.graph import conversations as stored
from e2g_neo4j.service.access import Reader, VisibleCorpus, check_wall, hide_properties, link_of
from e2g_neo4j.service.problems import ProblemError, error_responses
from e2g_neo4j.service.schemas import CitedPlace, Conversation, KeptTurn, NewTitle, Rating
from e2g_neo4j.service.state import State, state_of
from e2g_neo4j.types.results import Citation, Passage
from e2g_neo4j.types.service import Caller, ConversationInfo

router = APIRouter(prefix="/v1", tags=["conversations"])

Id = Annotated[str, Path(min_length=1, max_length=64, description="An id that the client chooses, such as a UUID.")]
Number = Annotated[int, Path(ge=0, lt=stored.MOST_TURNS)]

MOST_RATED = 1000
"""Rated answers of an export."""

MOST_EXPORTED = 2**22
"""Characters of an export, beyond which no other conversation is read."""

_SENT = (5, 1000)
"""How many earlier turns a question is asked with, and how many characters of their answers, as on the page."""

_REFUSED = {
    "many": (
        f"This key has {stored.MOST} conversations already. Nothing was kept.",
        "Delete conversations that are not needed any more, then keep the turn again.",
    ),
    "full": (
        f"The conversation is full: it may have {stored.MOST_TURNS} turns and {stored.MOST_CHARACTERS:,} characters. "
        "The turn was not kept.",
        "Begin a new conversation.",
    ),
    "changed": (
        "The conversation has other turns than expected, because it went on elsewhere. The turn was not kept.",
        "Read the conversation again, and append to it.",
    ),
}


@router.get("/conversations", responses=error_responses())
async def list_conversations(
    request: Request, caller: Reader, limit: Annotated[int, Query(ge=1, le=stored.MOST)] = 50
) -> list[ConversationInfo]:
    """List the conversations of the key, the last changed first."""
    found = await state_of(request).client.runner.ask(stored.list_conversations(caller.key, limit))
    return [_visible(one, caller) for one in found]


@router.get("/conversations/{conversation}", responses=error_responses(404))
async def get_conversation(request: Request, conversation: Id, caller: Reader) -> Conversation:
    """Return a conversation with its turns."""
    info, turns = await _read(state_of(request), conversation, caller)
    return Conversation(info=info, turns=turns, hidden=info.turns - len(turns))


@router.put("/conversations/{conversation}/turns/{number}", responses=error_responses(404, 409))
async def keep_turn(request: Request, conversation: Id, number: Number, turn: KeptTurn, caller: Reader) -> KeptTurn:
    """Keep a turn: the first one begins a conversation, and a known one with the same question is replaced.

    Of what the answer cites, only the places are kept.
    """
    check_wall(caller, turn.corpora)
    ask = state_of(request).client.runner.ask
    versions = await ask(stored.read_cited({(one.corpus, one.document_id) for one in turn.citations}))
    for one in turn.citations:
        _, one.version = versions.get((one.corpus, one.document_id), ("", None))
    turn.number = number
    refused = await ask(stored.put_turn(caller.key, conversation, number, turn.model_dump()))
    if refused == "gone":
        raise _not_found(conversation)
    if refused:
        detail, next_step = _REFUSED[refused]
        raise ProblemError(409, f"conversation_{refused}", detail, next_step=next_step)
    return turn


@router.put("/conversations/{conversation}", responses=error_responses(404))
async def rename_conversation(request: Request, conversation: Id, new: NewTitle, caller: Reader) -> ConversationInfo:
    """Rename a conversation."""
    operation = stored.rename_conversation(caller.key, conversation, new.title)
    info = await state_of(request).client.runner.ask(operation)
    if info is None:
        raise _not_found(conversation)
    return _visible(info, caller)


@router.delete("/conversations/{conversation}", responses=error_responses(404))
async def delete_conversation(request: Request, conversation: Id, caller: Reader) -> dict[str, bool]:
    """Delete a conversation."""
    if not await state_of(request).client.runner.ask(stored.delete_conversation(caller.key, conversation)):
        raise _not_found(conversation)
    return {"deleted": True}


@router.get(
    "/conversations/{conversation}/markdown",
    response_class=PlainTextResponse,
    responses=error_responses(404) | {200: {"content": {"text/markdown": {}}, "description": "The conversation."}},
)
async def export_conversation(request: Request, conversation: Id, caller: Reader) -> PlainTextResponse:
    """Export a conversation as Markdown: questions, answers and their sources."""
    state = state_of(request)
    info, turns = await _read(state, conversation, caller)
    text = "\n".join([f"# {info.title or 'Conversation'}\n", *(_as_markdown(one, state.public_url) for one in turns)])
    return PlainTextResponse(text, media_type="text/markdown")


@router.get(
    "/corpora/{corpus}/ratings",
    response_class=PlainTextResponse,
    responses=error_responses(404)
    | {200: {"content": {"application/x-ndjson": {}}, "description": "A question in each line."}},
)
async def export_ratings(
    request: Request, corpus: VisibleCorpus, caller: Reader, rating: Rating = "up"
) -> PlainTextResponse:
    """Export the last answers that the key has rated as questions for `e2g eval`: 1,000, or 4 MiB.

    A question about this corpus alone has the answer with thumbs up as its gold, and as evidence the places that it
    cites, of documents that are still the same. One with thumbs down has no gold: its answer is in `rejected`.
    """
    ask, lines = state_of(request).client.runner.ask, list[str]()
    await ask(catalog.check_corpus(corpus))
    for info in await ask(stored.list_conversations(caller.key)):
        found = await ask(stored.read_conversation(caller.key, info.id)) if corpus in info.corpora else None
        turns = [KeptTurn.model_validate(one) for one in (found[1] if found else ()) if one["corpora"] == [corpus]]
        rated = [one for one in turns if one.rating == rating]
        versions = await ask(
            stored.read_cited({(corpus, cited.document_id) for one in rated for cited in one.citations})
        )
        sources = {
            (document, version): str(hide_properties({"source": source}, caller)["source"])
            for (_, document), (source, version) in versions.items()
        }
        lines += (json.dumps(_as_question(info.id, one, turns, sources), ensure_ascii=False) for one in rated)
        if len(lines) >= MOST_RATED or sum(map(len, lines)) > MOST_EXPORTED:
            break
    return PlainTextResponse("".join(f"{one}\n" for one in lines[:MOST_RATED]), media_type="application/x-ndjson")


async def _read(state: State, conversation: str, caller: Caller) -> tuple[ConversationInfo, list[KeptTurn]]:
    """Return a conversation and those of its turns that the caller may see."""
    found = await state.client.runner.ask(stored.read_conversation(caller.key, conversation))
    if found is None:
        raise _not_found(conversation)
    info, turns = found
    return _visible(info, caller), [
        KeptTurn.model_validate(one) for one in turns if all(map(caller.sees, one["corpora"]))
    ]


def _visible(info: ConversationInfo, caller: Caller) -> ConversationInfo:
    seen = tuple(caller.visible(info.corpora))
    return info if seen == info.corpora else replace(info, title=None, corpora=seen)


def _not_found(conversation: str) -> ProblemError:
    detail = f"This key has no conversation {conversation!r}, or not any more."
    return ProblemError(404, "conversation_not_found", detail, next_step="List the conversations, or begin one.")


def _as_markdown(turn: KeptTurn, base: str) -> str:
    sources = "".join(f"{one.number}. {_describe(one, base)}\n" for one in turn.citations)
    options = f"*{', '.join(turn.corpora)} · mode {turn.mode} · k {turn.k} · hops {turn.hops}*\n"
    answer = turn.answer or "(Evidence only: no chat model answered.)"
    return f"## {turn.question}\n\n{answer}\n\n{sources}{sources and chr(10)}{options}"


def _describe(cited: CitedPlace, base: str) -> str:
    values = cited.model_dump(exclude={"number", "version"})
    passage = Passage(**values, text="", source="", score=0)
    link = link_of(Citation(cited.number, passage), base) if base else None
    return f"{passage.place}, characters {cited.start}–{cited.end}" + (f" <{link}>" if link else "")


def _as_question(
    conversation: str, turn: KeptTurn, turns: Sequence[KeptTurn], sources: dict[tuple[str, str | None], str]
) -> dict[str, Any]:
    """Return a rated turn as a question of `evaluation/gold`.

    `turns` are those about the same corpus, `sources` those of documents by id and version. Places in other documents
    are left out, and so are the spans of summaries."""
    number, characters = _SENT
    before = [one for one in turns if one.number < turn.number][-number:]
    question: dict[str, Any] = {
        "id": f"{conversation}-{turn.number}",
        "question": turn.question,
        "history": [{"question": one.searched_as or one.question, "answer": one.answer[:characters]} for one in before],
    }
    if turn.searched_as:
        question["written_out"] = turn.searched_as
    if turn.rating == "down":
        return question | {"rejected": turn.answer}
    cited = [(sources.get((one.document_id, one.version)), one) for one in turn.citations]
    there = [(source, one) for source, one in cited if source]
    evidence = [{"document": source, "start": one.start, "end": one.end} for source, one in there if not one.level]
    documents = list(dict.fromkeys(source for source, _ in there))
    return question | {"answer": turn.answer, "gold_passages": documents, "evidence": evidence}
