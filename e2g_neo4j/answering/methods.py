"""Answer a question with a chat model by one of the methods, each one object. A new one is added to `METHODS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from e2g_neo4j.answering.direct import answer_from
from e2g_neo4j.answering.drift import drift
from e2g_neo4j.answering.evidence import Calls, usage_of, with_round_trips
from e2g_neo4j.answering.global_search import Level, global_search
from e2g_neo4j.answering.map_reduce import BATCHES, all_text, map_reduce
from e2g_neo4j.errors import QueryError
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.retrieval.chat_calls import ChatCalls
from e2g_neo4j.retrieval.history import make_stand_alone
from e2g_neo4j.retrieval.options import MAX_TOKENS, RetrievalOptions
from e2g_neo4j.retrieval.retrieve import retrieve
from e2g_neo4j.runtime.requests import Emit, Operation
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.chat import StreamingChatModel
from e2g_neo4j.types.reports import Progress
from e2g_neo4j.types.results import Answer, Evidence

MethodName: TypeAlias = Literal["direct", "map_reduce", "all_text", "global", "drift"]
"""The names of METHODS, for annotations."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question to a method.

    Attributes:
        evidence: The question with what was found for it: nothing yet if the method does not search.
        calls: The calls of the chat model so far.
        options: The options of the answer.
        retrieval: The retrieval options with which the evidence was found.
    """

    evidence: Evidence
    models: Models
    calls: Calls
    options: AnswerOptions
    retrieval: RetrievalOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A way to answer.

    Attributes:
        name: The name that the option `method` takes.
        title: Its name in messages.
        summary: From what it makes the answer, as a phrase.
        run: Answers a question.
        searches: Whether it gets evidence. Others emit what they read.
        takes: The retrieval options that it takes.
        takes_level: Whether it reads reports of a level.
        needs_chat_model: Whether evidence without an answer is less than it promises.
        batches: The prompts that the evidence fills without `k` and `tokens`, about.
    """

    name: MethodName
    title: str
    summary: str
    run: Callable[[Asked], Operation[Answer]]
    searches: bool = True
    takes: Set[str] = frozenset(RetrievalOptions.model_fields)
    takes_choices: bool = False
    takes_level: bool = False
    needs_chat_model: bool = True
    batches: int = 1

    def evidence_options(self, retrieval: RetrievalOptions, settings: Settings) -> RetrievalOptions:
        """Return the options to retrieve the evidence with: without `k` and `tokens`, as much as the method reads."""
        if retrieval.k is None and retrieval.tokens is None:
            tokens = min(settings.evidence_tokens * self.batches, MAX_TOKENS)
            return retrieval.model_copy(update={"tokens": tokens})
        return retrieval


METHODS: Mapping[str, Method] = {
    one.name: one
    for one in (
        Method(
            name="direct",
            title="The direct method",
            summary="the evidence, in one prompt",
            run=lambda asked: answer_from(asked.evidence, asked.calls, asked.options.choices),
            takes_choices=True,
            needs_chat_model=False,
        ),
        Method(
            name="map_reduce",
            title="Map-reduce",
            summary="points of more evidence, which is read in batches",
            run=lambda asked: map_reduce(asked.evidence, asked.calls),
            batches=BATCHES,
        ),
        Method(
            name="all_text",
            title="Map-reduce over all text",
            summary="points of all text, which is read in batches in document order",
            run=lambda asked: all_text(asked.evidence, asked.retrieval.where, asked.calls),
            searches=False,
            takes={"where", "history"},
        ),
        Method(
            name="global",
            title="Global search",
            summary="points of the reports of communities, which are read in batches",
            run=lambda asked: global_search(asked.evidence, asked.models, asked.calls, asked.options.level),
            searches=False,
            takes={"history"},
            takes_level=True,
        ),
        Method(
            name="drift",
            title="DRIFT",
            summary="points of the evidence for the question and for follow-up questions",
            run=lambda asked: drift(asked.evidence, asked.models, asked.calls, asked.retrieval),
        ),
    )
}
"""The methods, in the order of lists."""


def tell_methods(spelled: Callable[[str], str]) -> str:
    """Tell from what each method makes the answer, with the names as the reader writes them."""
    return f"What to answer from. {'; '.join(f'{spelled(one.name)}: {one.summary}' for one in METHODS.values())}."


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """The options of an answer. The attributes are arguments of `E2G.answer`.

    Raises:
        QueryError: A value is out of range, or the method does not use it.
    """

    retrieval: RetrievalOptions = field(default_factory=RetrievalOptions)
    choices: Sequence[str] = ()
    method: MethodName = "direct"
    level: Level | None = None
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise QueryError(f"There is no method {self.method!r}: choose among {', '.join(METHODS)}.")
        method, level = METHODS[self.method], self.level
        if not method.takes_choices and self.choices:
            raise QueryError(f"{method.title} writes an answer in words: leave out the choices, or the method.")
        if level is not None and not method.takes_level:
            [reading] = (one.name for one in METHODS.values() if one.takes_level)
            raise QueryError(
                f"Only the method {reading} reads reports of a level: leave out the level, or choose this method."
            )
        if level not in (None, "dynamic") and not (isinstance(level, int) and level >= 1):
            raise QueryError(f"The level of reports is {level!r}: choose a number from 1, the finest, or dynamic.")
        unused = {name: one for name, one in RetrievalOptions.model_fields.items() if name not in method.takes}
        given = [name for name, one in unused.items() if getattr(self.retrieval, name) != one.default]
        if "where" in given:
            raise QueryError(
                f"{method.title} reads reports, which may quote documents that the conditions exclude: leave out the "
                "conditions, or choose the method all_text."
            )
        if given:
            raise QueryError(f"{method.title} does not search for passages: leave out {', '.join(given)}.")


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
        calls = Calls(model, settings, usage_of(evidence), progress=progress)
        return (yield from method.run(Asked(evidence, models, calls, options, retrieval)))
    calls = Calls(model, settings, progress=progress)
    asked = question
    if retrieval.history:
        rewriter = ChatCalls(model, settings.prompts, calls.used)
        asked = (yield from make_stand_alone(question, retrieval.history, models.nlp, rewriter)).question
    evidence = Evidence(asked, tuple(corpora), "global", "", (), (), 0, (), mode=method.name)
    found = yield from with_round_trips(method.run(Asked(evidence, models, calls, options, retrieval)))
    if asked == question:
        return found
    return replace(found, evidence=replace(found.evidence, question=question, searched_as=asked))
