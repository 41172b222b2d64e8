"""Answer a question with a chat model, by one of the methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from e2g_neo4j.answering.calls import Calls, no_progress
from e2g_neo4j.answering.evidence import usage_of, with_round_trips
from e2g_neo4j.answering.methods import METHODS, AnswerOptions, Asked
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.retrieval.chat_calls import ChatCalls
from e2g_neo4j.retrieval.history import make_stand_alone
from e2g_neo4j.retrieval.retrieve import retrieve
from e2g_neo4j.runtime.requests import Emit, Operation
from e2g_neo4j.types.chat import StreamingChatModel
from e2g_neo4j.types.reports import Progress
from e2g_neo4j.types.results import Answer, Evidence


def answer(
    models: Models,
    question: str,
    corpora: Sequence[str],
    options: AnswerOptions,
    model: StreamingChatModel | None = None,
    progress: Progress | None = None,
) -> Operation[Answer]:
    """Emit the evidence for a question, or what is read for it, and answer. `E2G.answer` and `E2G.stream` execute this.

    Without a chat model, the answer has the evidence alone."""
    method, retrieval, settings = METHODS[options.method], options.retrieval, models.settings
    if options.max_tokens is not None and options.max_tokens < settings.answer_tokens:
        settings = settings.model_copy(update={"answer_tokens": options.max_tokens})
    model = model or models.chat_model
    if model is None or method.searches:
        retrieval = method.evidence_options(retrieval, settings)
        evidence = yield from retrieve(models, question, corpora, retrieval, model, rewriter=model)
        yield Emit(evidence)
        if model is None:
            return Answer(None, evidence)
        calls = Calls(model, settings, usage_of(evidence), progress=progress or no_progress)
        return (yield from method.run(Asked(evidence, models, calls, options, retrieval)))
    calls = Calls(model, settings, progress=progress or no_progress)
    asked = question
    if retrieval.history:
        rewriter = ChatCalls(model, settings.prompts, calls.used)
        asked = (yield from make_stand_alone(question, retrieval.history, models.nlp, rewriter)).question
    evidence = Evidence(asked, tuple(corpora), "global", "", (), (), 0, (), mode=method.name)
    found = yield from with_round_trips(method.run(Asked(evidence, models, calls, options, retrieval)))
    if asked == question:
        return found
    return replace(found, evidence=replace(found.evidence, question=question, searched_as=asked))
