"""Questions: evidence, explanations and answers."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing, nullcontext
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic_core import to_json

from e2g_neo4j.graph.catalog import evidence_parameters
from e2g_neo4j.runtime.cypher import load
from e2g_neo4j.service.access import (
    Asker,
    Reader,
    check_scope,
    check_wall,
    hide_in_answer,
    hide_in_evidence,
    hide_properties,
)
from e2g_neo4j.service.problems import error_responses, stream_response
from e2g_neo4j.service.schemas import AskedQuestion, Explanation, GraphNode, GraphRelationship, Question
from e2g_neo4j.service.state import State, state_of
from e2g_neo4j.service.streams import Event, event_stream, last_piece
from e2g_neo4j.types.results import Answer, Evidence
from e2g_neo4j.types.service import Caller

router = APIRouter(prefix="/v1", tags=["questions"])


@router.post("/retrieve", response_model=Evidence, responses=error_responses(404, 409, 502))
async def retrieve_evidence(request: Request, question: Question, caller: Reader) -> Response:
    """Return the evidence for a question."""
    check_wall(caller, question.corpora)
    evidence = await evidence_for(state_of(request), question, caller)
    return Response(to_json(hide_in_evidence(evidence, caller)), media_type="application/json")


@router.post("/explain", responses=error_responses(404, 409, 502))
async def explain(request: Request, question: Question, caller: Reader) -> Explanation:
    """Return the evidence for a question with the paths of the graph that led to it, and Cypher to see them."""
    check_wall(caller, question.corpora)
    state = state_of(request)
    evidence = await evidence_for(state, question, caller)
    nodes: dict[str, GraphNode] = {}
    relationships: dict[str, GraphRelationship] = {}
    for path in await state.client.paths(evidence):
        for node in path.nodes:
            nodes[node.element_id] = GraphNode(
                id=node.element_id,
                labels=sorted(node.labels),
                properties=hide_properties(_visible_properties(dict(node.items())), caller),
            )
        for one in path.relationships:
            start, end = one.start_node, one.end_node
            relationships[one.element_id] = GraphRelationship(
                id=one.element_id,
                type=one.type,
                start=start.element_id if start else "",
                end=end.element_id if end else "",
                properties=_visible_properties(dict(one.items())),
            )
    return Explanation(
        evidence=hide_in_evidence(evidence, caller),
        cypher=load("explore/evidence"),
        parameters=evidence_parameters(evidence),
        nodes=list(nodes.values()),
        relationships=list(relationships.values()),
    )


@router.post(
    "/ask",
    response_model=Answer,
    responses=error_responses(404, 409, 501, 502)
    | stream_response("The answer; with `stream`, the events `evidence`, `delta`, `citation`, `done` or `error`."),
)
async def ask(request: Request, question: AskedQuestion, caller: Asker) -> Response:
    """Return the chat model's answer, with citations, or stream it."""
    check_wall(caller, question.corpora)
    state = state_of(request)
    pieces = answer_pieces(state, question, caller)
    if question.stream:
        evidence: Any = await anext(pieces)  # what fails up to here has a status of its own
        return event_stream(request, _events(state, evidence, pieces, caller))
    answer: Any = await last_piece(request, pieces)
    return Response(to_json(hide_in_answer(answer, caller, state.public_url)), media_type="application/json")


async def answer_pieces(
    state: State, question: AskedQuestion, caller: Caller
) -> AsyncGenerator[Evidence | str | Answer, None]:
    """Answer a question as `E2G.stream` does: yield the evidence, the text in pieces, and the answer. Without a chat
    model, this raises a 501."""
    pieces = state.client.stream(
        question.question,
        corpora=question.corpora,
        choices=question.choices,
        method=question.method,
        level=question.level,
        max_tokens=question.max_tokens,
        options=question,
        chat_model=state.chat_model(caller),
    )
    async with aclosing(pieces):
        yield await _retrieve(state, anext(pieces), caller, calls_model=question.llm or bool(question.history))
        async for piece in pieces:
            yield piece


async def evidence_for(state: State, question: Question, caller: Caller) -> Evidence:
    """Return the evidence for a question. The option `llm` needs the scope `ask`."""
    chat_model = None
    if question.llm:
        check_scope(caller, "ask")
        chat_model = state.chat_model(caller)
    found = state.client.retrieve(question.question, corpora=question.corpora, options=question, chat_model=chat_model)
    return await _retrieve(state, found, caller, calls_model=question.llm)


async def _retrieve(state: State, found: Awaitable[Any], caller: Caller, *, calls_model: bool) -> Evidence:
    """Wait for the turn of a question and its evidence, and record how long that took.

    If the chat model is called before, the question takes no turn: others would be kept waiting.
    """
    async with nullcontext() if calls_model else state.limits.turn(caller):
        began = time.perf_counter()
        evidence: Evidence = await found
        state.metrics.record_retrieval(evidence, time.perf_counter() - began)
    return evidence


async def _events(
    state: State, evidence: Evidence, pieces: AsyncGenerator[Evidence | str | Answer, None], caller: Caller
) -> AsyncGenerator[Event, None]:
    async with aclosing(pieces):
        yield Event("evidence", hide_in_evidence(evidence, caller))
        async for piece in pieces:
            if isinstance(piece, str):
                yield Event("delta", {"text": piece})
            elif isinstance(piece, Answer):
                reply = hide_in_answer(piece, caller, state.public_url)
                for citation in reply.citations:
                    yield Event("citation", citation)
                yield Event("done", reply)


_HIDDEN = ("embedding", "notes", "text")


def _visible_properties(properties: dict[str, object]) -> dict[str, object]:
    """Return properties without vectors, texts and packed data."""
    return {
        name: value
        for name, value in properties.items()
        if name not in _HIDDEN and isinstance(value, str | int | float | bool)
    }
