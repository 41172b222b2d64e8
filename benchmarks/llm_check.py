"""Try every path that calls a chat model, with a real one on an Ollama server.

    E2G_CHAT_MODEL=ollama:NAME python benchmarks/llm_check.py [--questions N] [--papers N] [--without-schemas]

Indexes papers of the sample library with written summaries, extracts statements, writes reports, and asks in every way
that uses the chat model. Answers are scored on the whole library, without written summaries. For each kind of call, it
prints how many replies were usable at once and within two tries, and their tokens and seconds; for answers their scores
by mode; for each path, the error if it ended in one. `--without-schemas` does not hold replies to a JSON schema. The
database must not have the corpora `llm-check`, `llm-check-gleaned` and `library`. Records its figures in results.json.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

from record import Figure, add_option, record

import e2g_neo4j
from e2g_neo4j import E2G, E2GError
from e2g_neo4j.answering.drift import follow_ups_in, reply_in
from e2g_neo4j.answering.points import points_in
from e2g_neo4j.evaluation import Evaluation, evaluate, read_questions
from e2g_neo4j.evaluation.judging import EQUAL, parse_supported, shares_of_ratings, shares_of_wins, weights_in
from e2g_neo4j.indexing.communities.chat import parse_report
from e2g_neo4j.indexing.communities.merging import parse_description
from e2g_neo4j.indexing.statements.replies import parse
from e2g_neo4j.models.chat.ollama import OllamaChat
from e2g_neo4j.models.chat.thinking import without_thought
from e2g_neo4j.retrieval.chat_calls import relevant_numbers
from e2g_neo4j.retrieval.strategies.communities import ratings_in
from e2g_neo4j.retrieval.strategies.lazy import parts_in
from e2g_neo4j.retrieval.strategies.lightrag import keywords_in
from e2g_neo4j.retrieval.strategies.synonyms import keywords_in as synonyms_in
from e2g_neo4j.settings import load_settings
from e2g_neo4j.types.chat import ChatReply, ChatRequest

CORPUS, GLEANED, LIBRARY = "llm-check", "llm-check-gleaned", "library"
SET, ANSWERS = "chat-model", "chat-model-answers"
PACKAGE = Path(e2g_neo4j.__file__).parent
ANY = range(1, 1000)
SCORES = ("exact match", "F1", "support", "evidence cited")

PARSERS: dict[str, Callable[[str], Any]] = {
    "answer": str.strip,
    "check_citations": lambda text: parse_supported(text, len(ANY)),
    "choice": str.strip,
    "cypher": str.strip,
    "description": parse_description,
    "filter_sentences": lambda text: relevant_numbers(text, len(ANY)),
    "follow_up": lambda text: reply_in(text, (), ANY),
    "judge": shares_of_wins,
    "keywords": keywords_in,
    "map": lambda text: points_in(text, ANY),
    "map_reports": lambda text: points_in(text, ANY, of="reports"),
    "primer": follow_ups_in,
    "race": lambda text: shares_of_ratings(text, EQUAL),
    "rate_reports": lambda text: ratings_in(text, len(ANY)),
    "reduce": str.strip,
    "report": parse_report,
    "sub_questions": parts_in,
    "statements": lambda text: parse(text).usable or None,
    "statements_more": lambda text: parse(text).usable or None,
    "summary": str.strip,
    "synonyms": synonyms_in,
    "test_relevance": lambda text: relevant_numbers(text, len(ANY)),
    "weights": weights_in,
}
"""What reads the replies to each prompt. What it returns is false, or None where an empty list is a reply, if a reply
is not usable."""

LISTS = {"check_citations", "filter_sentences", "follow_up", "map", "map_reports", "primer", "test_relevance"}


@dataclass
class Call:
    """A call of the chat model: its request, its reply, and the seconds that it took."""

    request: ChatRequest
    reply: ChatReply
    seconds: float


@contextmanager
def recorded(calls: list[Call], *, schemas: bool) -> Iterator[None]:
    """Record all calls of Ollama's chat models."""
    pieces, arguments = OllamaChat._pieces, OllamaChat._arguments

    def timed(self: OllamaChat, request: ChatRequest, options: dict[str, Any]) -> Iterator[str | ChatReply]:
        began = time.perf_counter()
        for piece in pieces(self, request, options):
            if isinstance(piece, ChatReply):
                calls.append(Call(request, piece, time.perf_counter() - began))
            yield piece

    def without_format(self: OllamaChat, request: ChatRequest, options: dict[str, Any]) -> dict[str, Any]:
        given = arguments(self, request, options)
        if not schemas:
            given.pop("format", None)
        return given

    with patch.object(OllamaChat, "_pieces", timed), patch.object(OllamaChat, "_arguments", without_format):
        yield


def kind_of(request: ChatRequest, beginnings: dict[str, str]) -> str | None:
    """Return the name of the prompt of a request."""
    return next((kind for kind, begins in beginnings.items() if request.system.startswith(begins)), None)


def usable(kind: str, reply: ChatReply) -> bool:
    found = PARSERS[kind](without_thought(reply.text))
    return found is not None if kind in LISTS else bool(found)


def summarised(calls: Sequence[Call]) -> Iterator[Figure]:
    """Yield the figures of each kind of call. Calls for the same text are tries of one."""
    beginnings = {
        path.stem: path.read_text(encoding="utf-8").partition("$")[0].strip()
        for path in PACKAGE.rglob("prompts/*.txt")
        if path.stem in PARSERS
    }
    tries: dict[tuple[str, str], list[Call]] = defaultdict(list)
    for call in calls:
        if kind := kind_of(call.request, beginnings):
            tries[kind, call.request.user[:2000]].append(call)
    kinds: dict[str, list[list[Call]]] = defaultdict(list)
    for (kind, _), some in tries.items():
        kinds[kind].append(some)
    for kind, asked in sorted(kinds.items()):
        every = [call for some in asked for call in some]
        first = [usable(kind, some[0].reply) for some in asked]
        second = [any(usable(kind, call.reply) for call in some[:2]) for some in asked]
        yield Figure(SET, kind, "questions", len(asked))
        yield Figure(SET, kind, "usable at once", round(sum(first) / len(first), 3))
        yield Figure(SET, kind, "usable within two tries", round(sum(second) / len(second), 3))
        yield Figure(SET, kind, "tokens a reply", round(sum(one.reply.completion_tokens for one in every) / len(every)))
        yield Figure(SET, kind, "seconds a reply", round(sum(one.seconds for one in every) / len(every), 1))


def paths(e2g: E2G, papers: Sequence[Path], questions: Path, most: int) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield every path that calls the chat model: its name, and what takes it."""
    asked = [one for one in read_questions(questions) if one.answer][:most]
    texts = [one.question for one in asked]
    choices = ["Walter Crail", "Hester Pendry", "Theodora Quill", "Luke Farran"]

    def answers(number: int, *, k: int | None = 3, **how: Any) -> Callable[[], object]:
        return lambda: [e2g.answer(text, corpus=CORPUS, k=k, **how) for text in texts[:number]]

    def scores(number: int, **how: Any) -> Callable[[], object]:
        def score() -> Evaluation:
            with E2G(settings=e2g.settings.model_copy(update={"chat_model": None})) as plain:
                plain.index([questions.with_name("library")], corpus=LIBRARY)
            return evaluate(e2g, asked[:number], corpus=LIBRARY, modes=["auto", "dense"], k=5, answers=True, **how)

        return score

    def gleaned() -> None:
        with E2G(settings=e2g.settings.model_copy(update={"claims": True, "gleanings": 1})) as thorough:
            thorough.index(papers[:1], corpus=GLEANED)
            thorough.enrich(corpus=GLEANED, layers=["statements"])

    yield "summaries", lambda: e2g.index(papers, corpus=CORPUS)
    yield "statements", lambda: e2g.enrich(corpus=CORPUS, layers=["statements"])
    yield "gleaning", gleaned
    yield "reports", lambda: e2g.enrich(corpus=CORPUS, layers=["communities", "entities", "sentences"], reports="llm")
    yield "answers", scores(most)
    for mode in ("lightrag", "hipporag", "communities", "lazy", "synonyms"):
        yield mode, answers(3, mode=mode, llm=True)
    for method in ("map_reduce", "drift"):
        yield method, answers(2, method=method)
    for method in ("all_text", "global"):
        yield method, answers(1, k=None, method=method)
    yield "choices", answers(3, choices=choices)
    yield "judge", scores(3, against="dense", judged="graphrag")
    yield "race", scores(1, against="dense", judged="race")

    yield "Cypher", lambda: e2g.text_to_cypher("Which ten entities are in the most chunks?", corpus=CORPUS)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=10, help="questions that are answered in two modes")
    parser.add_argument("--papers", type=int, default=4, help="papers of the sample library that are indexed")
    parser.add_argument("--without-schemas", action="store_true")
    parser.add_argument("--only", help="paths to take, separated by commas; `summaries` makes the corpus")
    add_option(parser)
    chosen = parser.parse_args(argv)
    sample = PACKAGE / "sample"
    papers = list(islice(sorted((sample / "library").iterdir()), chosen.papers))
    calls: list[Call] = []
    answered: list[Figure] = []
    # Papers of several chunks have summaries.
    small = {"chunk_tokens": 400, "chunk_overlap": 40}
    # One call at a time, so that no reply's seconds include the wait for another.
    settings = load_settings().model_copy(update={"text_to_cypher": True, "llm_concurrency": 1} | small)
    with recorded(calls, schemas=not chosen.without_schemas), E2G(settings=settings) as e2g:
        for name, take in paths(e2g, papers, sample / "questions.jsonl", chosen.questions):
            if chosen.only and name not in chosen.only.split(","):
                continue
            began, before, outcome = time.perf_counter(), len(calls), "ok"
            try:
                found = take()
                if isinstance(found, Evaluation):
                    means = {
                        mode: {key: result.overall.scores[key].mean for key in SCORES if key in result.overall.scores}
                        for mode, result in found.modes.items()
                    }
                    outcome = "; ".join(
                        f"{mode} {', '.join(f'{key} {mean:.2f}' for key, mean in scores.items())}"
                        for mode, scores in means.items()
                    )
                    if name == "answers":
                        answered = [
                            Figure(ANSWERS, mode, key, round(mean, 3))
                            for mode, scores in means.items()
                            for key, mean in scores.items()
                        ]
            except E2GError as error:
                outcome = f"{type(error).__name__}: {error}"
            print(
                f"{name:12} {len(calls) - before:3} calls {time.perf_counter() - began:6.0f} s  {outcome}", flush=True
            )
    figures = [*summarised(calls), *answered]
    for kind in sorted({one.mode for one in figures}):
        print(f"{kind:18}", *(f"{one.metric} {one.value:g}" for one in figures if one.mode == kind), sep="  ")
    record(figures, chosen.results)


if __name__ == "__main__":
    main()
