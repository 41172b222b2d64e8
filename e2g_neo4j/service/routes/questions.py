"""Questions: evidence, explanations and answers."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing, nullcontext

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import TypeAdapter

from e2g_neo4j.answering.answer import answer_by_method, answer_options, check_method
from e2g_neo4j.graph.catalog import evidence_parameters
from e2g_neo4j.retrieval.options import RetrievalOptions
from e2g_neo4j.retrieval.retrieve import retrieve
from e2g_neo4j.runtime.statements import load
from e2g_neo4j.service.access import Asker, Reader, check_scope, check_wall
from e2g_neo4j.service.problems import ProblemError, documented
from e2g_neo4j.service.schemas import (
    AnswerReply,
    AskedQuestion,
    Explanation,
    GraphNode,
    GraphRelationship,
    Question,
)
from e2g_neo4j.service.sources import shown_answer, shown_evidence, shown_properties
from e2g_neo4j.service.state import State, state_of
from e2g_neo4j.service.streams import Event, event_stream
from e2g_neo4j.types.results import Answer, Evidence
from e2g_neo4j.types.service import Caller

router = APIRouter(prefix="/v1", tags=["questions"])

_EVIDENCE: TypeAdapter[Evidence] = TypeAdapter(Evidence)


@router.post("/retrieve", response_model=Evidence, responses=documented(404, 409, 502))
async def retrieve_evidence(request: Request, question: Question, caller: Reader) -> Response:
    """Return the evidence for a question."""
    check_wall(caller, question.corpora)
    evidence = await evidence_for(state_of(request), question, question.options(), caller)
    return Response(_EVIDENCE.dump_json(shown_evidence(evidence, caller)), media_type="application/json")


@router.post("/explain", responses=documented(404, 409, 502))
async def explain(request: Request, question: Question, caller: Reader) -> Explanation:
    """Return the evidence for a question with the paths of the graph that led to it, and Cypher to see them."""
    check_wall(caller, question.corpora)
    state = state_of(request)
    evidence = await evidence_for(state, question, question.options(), caller)
    nodes: dict[str, GraphNode] = {}
    relationships: dict[str, GraphRelationship] = {}
    for path in await state.client.paths(evidence):
        for node in path.nodes:
            nodes[node.element_id] = GraphNode(
                id=node.element_id,
                labels=sorted(node.labels),
                properties=shown_properties(_shown(dict(node.items())), caller),
            )
        for one in path.relationships:
            start, end = one.start_node, one.end_node
            relationships[one.element_id] = GraphRelationship(
                id=one.element_id,
                type=one.type,
                start=start.element_id if start else "",
                end=end.element_id if end else "",
                properties=_shown(dict(one.items())),
            )
    return Explanation(
        evidence=shown_evidence(evidence, caller),
        cypher=load("explore/evidence"),
        parameters=evidence_parameters(evidence),
        nodes=list(nodes.values()),
        relationships=list(relationships.values()),
    )


@router.post(
    "/ask",
    response_model=AnswerReply,
    responses={
        **documented(404, 409, 501, 502),
        200: {
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
            "description": "The answer; with `stream`, the events `evidence`, `delta`, `citation`, `done` or `error`.",
        },
    },
)
async def ask(request: Request, question: AskedQuestion, caller: Asker) -> Response:
    """Return the chat model's answer, with citations, or stream it."""
    check_wall(caller, question.corpora)
    state = state_of(request)
    state.chat_model(caller)
    if question.stream:
        return event_stream(request, await begun(answer_events(state, question, caller)))
    reply: AnswerReply | None = None
    async with aclosing(answer_events(state, question, caller)) as events:
        async for event in events:
            if isinstance(event.data, AnswerReply):
                reply = event.data
    if reply is None:
        raise ProblemError(502, "model", "The chat model returned no answer.")
    return Response(reply.model_dump_json(), media_type="application/json")


async def answer_events(
    state: State, question: AskedQuestion, caller: Caller, max_tokens: int | None = None
) -> AsyncGenerator[Event, None]:
    """Answer a question. Yield the evidence, the text in pieces, the citations and the whole answer.

    Args:
        state: What the routes share.
        question: The question.
        caller: Whose usage it is.
        max_tokens: Maximum tokens of the answer, if it is less than the configured one.
    """
    settings = state.settings_for(max_tokens)
    check_method(question.method, question.choices, question.samples)
    options = answer_options(question.options(), settings, question.method)
    evidence = await evidence_for(state, question, options, caller)
    yield Event("evidence", shown_evidence(evidence, caller))
    model = state.chat_model(caller)
    asked = model, settings, question.choices, question.samples, question.method
    answering = answer_by_method(evidence, state.client.models, options, *asked)
    streamed = False
    async with aclosing(state.client.runner.stream(answering)) as pieces:
        async for piece in pieces:
            if isinstance(piece, Answer):
                if piece.text and not streamed:  # without evidence, the model is not asked
                    yield Event("delta", {"text": piece.text})
                reply = shown_answer(AnswerReply.of(piece, state.public_url), caller)
                for citation in reply.citations:
                    yield Event("citation", citation)
                yield Event("done", reply)
            elif question.samples == 1:  # of several, only the chosen one is shown
                streamed = True
                yield Event("delta", {"text": piece})


async def begun(events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
    """Wait for the first event, so that what fails before it is replied with a status of its own."""
    first = await anext(events)

    async def all_events() -> AsyncGenerator[Event, None]:
        async with aclosing(events):
            yield first
            async for event in events:
                yield event

    return all_events()


async def evidence_for(state: State, question: Question, options: RetrievalOptions, caller: Caller) -> Evidence:
    """Return the evidence for a question, and record how long it took.

    The option `llm` needs the scope `ask`. Such a question takes no turn: the calls of the chat model would keep others
    waiting.
    """
    chat_model = None
    if options.llm:
        check_scope(caller, "ask")
        chat_model = state.chat_model(caller)
    corpora = tuple(dict.fromkeys(question.corpora))
    async with nullcontext() if options.llm else state.limits.turn():
        began = time.perf_counter()
        operation = retrieve(state.client.models, question.question, corpora, options, chat_model)
        evidence = await state.client.runner.ask(operation)
        state.metrics.retrieved(evidence, time.perf_counter() - began)
    return evidence


_HIDDEN = ("embedding", "notes", "text")


def _shown(properties: dict[str, object]) -> dict[str, object]:
    """Return properties without vectors, texts and packed data."""
    return {
        name: value
        for name, value in properties.items()
        if name not in _HIDDEN and isinstance(value, str | int | float | bool)
    }
