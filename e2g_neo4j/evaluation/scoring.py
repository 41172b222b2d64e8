"""How well the modes of retrieval find what a question file says should be found. No language model is asked.

    questions = read_questions(Path("questions.jsonl"))
    with E2G() as e2g:
        result = evaluate(e2g, questions, corpus="passages", modes=["e2g", "dense"], against="dense", k=25)
    print(result.modes["e2g"].overall.scores["R@5"].mean)

Scores are means over questions, with 95 % bootstrap intervals:
`R@n`               share of the gold documents among the first n documents
`MRR`               1 / rank of the first gold document, 0 where none came
`evidence@5 chunks` share of the gold evidence found when five chunks are asked for
`evidence@6k tokens` share of it found in the first 6000 tokens of the k chunks asked for, the last passage cut
A gold span is found when the retrieved text shows at least half of its characters, a statement when one retrieved
passage (neighbouring chunks or windows are one) holds at least 80 % of its content words.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from e2g_neo4j import database
from e2g_neo4j.client import E2G
from e2g_neo4j.errors import QueryError
from e2g_neo4j.evaluation.gold import Gold, IndexedCorpus, Piece, Question, Span, content_words, read_questions
from e2g_neo4j.model import Evidence, Progress
from e2g_neo4j.queries import Embed, Read
from e2g_neo4j.retrieval import Mode

__all__ = ["Evaluation", "Group", "Interval", "ModeResult", "Outcome", "Question", "evaluate", "read_questions"]

CUTOFFS = (2, 5, 10, 25)
FEW_CHUNKS = 5
BUDGETS = {"2k": 2000, "6k": 6000, "12k": 12000}
SPAN_SHOWN = 0.5
WORDS_HELD = 0.8
RESAMPLES = 1000
SEED = 20250
DOCUMENTS_AT_ONCE = 100


# --- results -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over `questions` questions and the 95 % bootstrap interval around it."""

    mean: float
    low: float
    high: float
    questions: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one mode did with one question. `seconds`: without embedding and reading the question."""

    question: str
    type: str | None
    route: str
    scores: dict[str, float]
    seconds: float
    round_trips: int


@dataclass(frozen=True, slots=True)
class Group:
    """Scores of some questions by name, and by how much they exceed those of the mode compared against."""

    questions: int
    scores: dict[str, Interval]
    differences: dict[str, Interval]


@dataclass(frozen=True, slots=True)
class ModeResult:
    """All of one mode. Latency in milliseconds, `round_trips` the most that a question took."""

    overall: Group
    by_type: dict[str, Group]
    by_route: dict[str, Group]
    median_ms: float
    p95_ms: float
    round_trips: int
    outcomes: list[Outcome]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The result of `evaluate`, the modes in the order given."""

    corpus: str
    questions: int
    k: int
    against: str | None
    modes: dict[str, ModeResult] = field(default_factory=dict)

    @property
    def types(self) -> list[str]:
        """The types of questions, in the order of the file."""
        return list(dict.fromkeys(kind for mode in self.modes.values() for kind in mode.by_type))


# --- running -----------------------------------------------------------------------------------------


def evaluate(
    e2g: E2G,
    questions: Sequence[Question],
    *,
    corpus: str,
    modes: Sequence[Mode],
    against: Mode | None = None,
    k: int = 25,
    progress: Progress | None = None,
) -> Evaluation:
    """Ask every question in every mode and compare what comes back with the gold.

    Args:
        corpus: where to ask; `{book}` in it stands for the question's book without its suffix.
        against: the mode that differences are taken to, asked too where it is not among `modes`; None: none.
        k: chunks to ask for.
        progress: called with (stage, done, total).

    Raises QueryError for an unknown mode or no question, NotFoundError for gold that no document of the corpus
    holds, and what `E2G.retrieve` raises.
    """
    asked = list(dict.fromkeys([*modes, *([against] if against else [])]))
    for mode in asked:
        if mode not in get_args(Mode):
            raise QueryError(f"There is no mode {mode!r}: choose among {', '.join(get_args(Mode))}.")
    if not questions or not asked:
        raise QueryError("An evaluation wants at least one question and one mode.")
    if len({question.id for question in questions}) < len(questions):
        raise QueryError("Two questions have the same id: give each its own.")
    report = progress or (lambda stage, done, total: None)
    names = [corpus_of(question, corpus) for question in questions]
    held = {name: load(e2g, name) for name in dict.fromkeys(names)}
    golds = [held[name].gold(question) for name, question in zip(names, questions, strict=True)]
    vectors: dict[str, list[float]] = {}
    for done, question in enumerate(questions, 1):
        vectors[question.question] = e2g._stories.vector(Embed(question.question))
        report("embedding", done, len(questions))
    for mode in asked:  # the database plans each statement once; that is no question's time
        ask(e2g, questions[0].question, corpus=names[0], k=k, mode=mode, vectors=vectors)

    outcomes: dict[str, list[Outcome]] = {mode: [] for mode in asked}
    for number, (question, name, gold) in enumerate(zip(questions, names, golds, strict=True)):
        first = number % len(asked)  # each mode is the first to ask equally often
        for mode in asked[first:] + asked[:first]:
            evidence, seconds = ask(e2g, question.question, corpus=name, k=k, mode=mode, vectors=vectors)
            few = evidence
            if (gold.spans or gold.statements) and k != FEW_CHUNKS:
                few, _ = ask(e2g, question.question, corpus=name, k=FEW_CHUNKS, mode=mode, vectors=vectors)
            scores = score(evidence, few, gold, held[name], k)
            outcomes[mode].append(
                Outcome(question.id, question.type, evidence.route, scores, seconds, evidence.round_trips)
            )
        report("asking", number + 1, len(questions))
    base = {outcome.question: outcome for outcome in outcomes[against]} if against else {}
    results = {mode: _summarised(found, {} if mode == against else base) for mode, found in outcomes.items()}
    return Evaluation(corpus, len(questions), k, against, results)


def corpus_of(question: Question, corpus: str) -> str:
    """The corpus to ask a question in."""
    if "{book}" not in corpus:
        return corpus
    if question.book is None:
        raise QueryError(f"Question {question.id} has no book to put into the corpus name {corpus!r}: name one corpus.")
    return corpus.replace("{book}", question.book.rpartition("/")[2].rsplit(".", 1)[0])


def load(e2g: E2G, corpus: str) -> IndexedCorpus:
    """The texts of a corpus out of the database."""
    ids = [document.id for document in e2g.documents(corpus)]
    held = IndexedCorpus(corpus, e2g._stories.tools.embedder.token_spans)
    for at in range(0, len(ids), DOCUMENTS_AT_ONCE):
        request = Read("evaluate/chunks", {"corpus": corpus, "documents": ids[at : at + DOCUMENTS_AT_ONCE]})
        held.add(database.read(e2g._driver, e2g.settings.neo4j_database, request))
    return held


def ask(
    e2g: E2G, question: str, *, corpus: str, k: int, mode: Mode, vectors: dict[str, list[float]]
) -> tuple[Evidence, float]:
    """The evidence and the seconds it took without reading and embedding the question; embeddings are kept."""
    story = e2g._stories.retrieve(question, [corpus], k, None, mode)
    request: Any = next(story)  # the question was read by spaCy before the first request
    began = time.perf_counter()
    while True:
        if isinstance(request, Embed):
            if request.text not in vectors:
                paused = time.perf_counter()
                vectors[request.text] = e2g._stories.vector(request)
                began += time.perf_counter() - paused
            reply: Any = vectors[request.text]
        else:
            reply = database.read(e2g._driver, e2g.settings.neo4j_database, request)
        try:
            request = story.send(reply)
        except StopIteration as end:
            return end.value, time.perf_counter() - began


# --- metrics -----------------------------------------------------------------------------------------


def score(evidence: Evidence, few: Evidence, gold: Gold, corpus: IndexedCorpus, k: int) -> dict[str, float]:
    """The scores of one question that its gold allows. `few` is what came when five chunks were asked for."""
    scores: dict[str, float] = {}
    if gold.sources:
        ranked = list(dict.fromkeys(passage.source for passage in evidence.passages))
        scores |= {f"R@{n}": recall(ranked, gold.sources, n) for n in CUTOFFS if n <= k}
        scores["MRR"] = reciprocal_rank(ranked, gold.sources)
    if gold.spans or gold.statements:
        scores[f"evidence@{FEW_CHUNKS} chunks"] = share_found(corpus.pieces(few.passages), gold)
        for name, budget in BUDGETS.items():
            scores[f"evidence@{name} tokens"] = share_found(corpus.pieces(evidence.passages, budget), gold)
    return scores


def recall(ranked: Sequence[str], gold: frozenset[str], n: int) -> float:
    """The share of the gold among the first n."""
    return len(gold.intersection(ranked[:n])) / len(gold)


def reciprocal_rank(ranked: Sequence[str], gold: frozenset[str]) -> float:
    """1 / rank of the first that is gold, 0 where none is."""
    return next((1 / rank for rank, source in enumerate(ranked, 1) if source in gold), 0.0)


def share_found(pieces: Sequence[Piece], gold: Gold) -> float:
    """The share of the gold spans and statements that pieces show."""
    shown: dict[str, list[Span]] = defaultdict(list)
    for piece in pieces:
        shown[piece.source] += piece.shows
    found = sum(covered(start, end, shown[source]) >= SPAN_SHOWN * (end - start) for source, start, end in gold.spans)
    if gold.statements:
        held = [content_words(piece.text) for piece in pieces]
        found += sum(any(len(words & one) >= WORDS_HELD * len(words) for one in held) for words in gold.statements)
    return found / (len(gold.spans) + len(gold.statements))


def covered(start: int, end: int, spans: Iterable[Span]) -> int:
    """How many of the characters from start to end lie in spans, none counted twice."""
    total, at = 0, start
    for first, last in sorted(spans):
        first, last = max(first, at), min(last, end)
        if first < last:
            total += last - first
            at = last
    return total


# --- means and intervals -----------------------------------------------------------------------------


def bootstrap(values: Sequence[float]) -> Interval:
    """The mean of values and the interval in which 95 % of the means of resampled values lie; seeded."""
    sample = np.asarray(values, dtype=np.float64)
    means = sample[_draws(len(sample))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return Interval(float(sample.mean()), float(low), float(high), len(sample))


@lru_cache(maxsize=8)
def _draws(size: int) -> NDArray[np.int64]:
    return np.random.default_rng(SEED).integers(size, size=(RESAMPLES, size))


def grouped(outcomes: Sequence[Outcome], base: Mapping[str, Outcome]) -> Group:
    """Scores of outcomes, and paired differences to those of `base` where it has the same question."""
    scores: dict[str, list[float]] = defaultdict(list)
    differences: dict[str, list[float]] = defaultdict(list)
    for outcome in outcomes:
        other = base.get(outcome.question)
        for name, value in outcome.scores.items():
            scores[name].append(value)
            if other:
                differences[name].append(value - other.scores[name])
    return Group(
        len(outcomes),
        {name: bootstrap(values) for name, values in scores.items()},
        {name: bootstrap(values) for name, values in differences.items()},
    )


def _summarised(outcomes: list[Outcome], base: Mapping[str, Outcome]) -> ModeResult:
    milliseconds = [1000 * outcome.seconds for outcome in outcomes]
    return ModeResult(
        overall=grouped(outcomes, base),
        by_type={name: grouped(some, base) for name, some in _split(outcomes, lambda outcome: outcome.type)},
        by_route={name: grouped(some, base) for name, some in _split(outcomes, lambda outcome: outcome.route)},
        median_ms=float(np.median(milliseconds)),
        p95_ms=float(np.percentile(milliseconds, 95)),
        round_trips=max(outcome.round_trips for outcome in outcomes),
        outcomes=outcomes,
    )


def _split(outcomes: Iterable[Outcome], key: Callable[[Outcome], str | None]) -> Iterator[tuple[str, list[Outcome]]]:
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        name = key(outcome)
        if name is not None:
            groups.setdefault(name, []).append(outcome)
    yield from groups.items()
