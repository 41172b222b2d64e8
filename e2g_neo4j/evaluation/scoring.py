"""Score retrieval modes on a question file. No chat model is used.

    questions = read_questions(Path("questions.jsonl"))
    with E2G() as e2g:
        result = evaluate(e2g, questions, corpus="passages", modes=["e2g", "dense"], against="dense", k=25)
    print(result.modes["e2g"].overall.scores["R@5"].mean)

Scores are means over questions, with 95 % bootstrap intervals:
`R@n`                fraction of the gold documents among the first n documents
`MRR`                1 / rank of the first gold document, 0 if there is none
`evidence@5 chunks`  fraction of the gold evidence found with k = 5
`evidence@6k tokens` fraction of it found with tokens = 6000
A gold span is found if the retrieved text shows at least half of its characters. A statement is found if one retrieved
passage (merged from neighbouring chunks or windows) has at least 80 % of its content words.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from e2g_neo4j.client import E2G
from e2g_neo4j.errors import QueryError
from e2g_neo4j.evaluation.background_load import busy_processes
from e2g_neo4j.evaluation.gold import Gold, IndexedCorpus, Piece, Question, Span, content_words, read_questions
from e2g_neo4j.retrieval.options import WINDOW_MODES, Mode, RetrievalKeywords, Unit
from e2g_neo4j.retrieval.ranking import VERSION
from e2g_neo4j.runtime.requests import Embed, Operation, Read, Request, Rerank, Rows
from e2g_neo4j.types.reports import Progress
from e2g_neo4j.types.results import Evidence

__all__ = ["Evaluation", "Group", "Interval", "ModeResult", "Outcome", "Question", "evaluate", "read_questions"]

CUTOFFS = (2, 5, 10, 25)
BUDGETS: dict[str, RetrievalKeywords] = {
    "5 chunks": {"k": 5},
    "2k tokens": {"tokens": 2000},
    "6k tokens": {"tokens": 6000},
    "12k tokens": {"tokens": 12000},
}
"""The budgets for which evidence is scored. Every mode is asked for each of them."""

SPAN_SHOWN = 0.5
WORDS_HELD = 0.8
RESAMPLES = 1000
SEED = 20250
DOCUMENTS_AT_ONCE = 100

PARTS = ("reading", "embedding", "database", "ranking")
"""The parts of the time of a question: spaCy; the remaining wait for the vector, which is computed concurrently; the
database; everything else."""


# --- results -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over `questions` questions with its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float
    questions: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one mode for one question. `seconds` is the total time, `parts` has the time of each of PARTS;
    `tokens` is the length of the passages in tokens of the embedding model."""

    question: str
    type: str | None
    route: str
    scores: dict[str, float]
    seconds: float
    parts: dict[str, float]
    round_trips: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Group:
    """Scores of a group of questions by name, and their paired differences to the base mode."""

    questions: int
    scores: dict[str, Interval]
    differences: dict[str, Interval]


@dataclass(frozen=True, slots=True)
class ModeResult:
    """The results of one mode.

    Attributes:
        overall: Scores of all questions.
        by_type: Scores by type of question.
        by_route: Scores by route.
        median_ms: Median time of a question in milliseconds.
        p95_ms: 95th percentile of the time of a question.
        parts_ms: Median time of each of PARTS.
        busy_median_ms: Median time of a question while another process uses all cores, if measured.
        round_trips: Maximum number of round trips of a question.
        tokens: Median length of the passages of a question, in tokens of the embedding model.
        outcomes: The results per question.
    """

    overall: Group
    by_type: dict[str, Group]
    by_route: dict[str, Group]
    median_ms: float
    p95_ms: float
    parts_ms: dict[str, float]
    busy_median_ms: float | None
    round_trips: int
    tokens: int
    outcomes: list[Outcome]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The result of `evaluate`. Modes are in the order of the call. `ranking` is the version of the ranking of `auto`,
    `unit` what was ranked if not the default of the mode. `failed` has the reason by mode that cannot answer the
    questions from these corpora."""

    corpus: str
    questions: int
    k: int
    against: str | None
    unit: Unit | None = None
    ranking: int = VERSION
    modes: dict[str, ModeResult] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def types(self) -> list[str]:
        """The types of questions in the order of the file."""
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
    unit: Unit | None = None,
    busy: bool = False,
    progress: Progress | None = None,
) -> Evaluation:
    """Ask every question in every mode and compare the evidence with the gold.

    Args:
        e2g: The client.
        questions: The questions.
        corpus: The corpus to search. `{book}` is replaced with the question's book without its suffix.
        modes: The modes to evaluate.
        against: The base mode to compare with. It is evaluated too. None: no comparison.
        k: Number of chunks per question.
        unit: What to rank: windows or whole chunks. Default: that of each mode. Modes that rank whole chunks only are
            asked without it.
        busy: Measure times again while another process uses all cores.
        progress: Called with (stage, done, total).

    Raises:
        QueryError: A mode is unknown, there are no questions or modes, two questions have the same id, or the base mode
            or all modes cannot answer from these corpora, for example because `enrich` has not made communities.
        NotFoundError: The corpus does not have the gold of a question.
        E2GError: Any error of `E2G.retrieve`.
    """
    selected = list(dict.fromkeys([*modes, *([against] if against else [])]))
    for mode in selected:
        if mode not in get_args(Mode):
            raise QueryError(f"There is no mode {mode!r}: choose among {', '.join(get_args(Mode))}.")
    if not questions or not selected:
        raise QueryError("An evaluation needs at least one question and one mode.")
    if len({question.id for question in questions}) < len(questions):
        raise QueryError("Two questions have the same id. Ids must be unique.")

    def retrieval(mode: Mode, limits: RetrievalKeywords) -> RetrievalKeywords:
        return {**limits, "mode": mode, "unit": unit if mode in WINDOW_MODES else None}

    report = progress or (lambda stage, done, total: None)
    names = [corpus_of(question, corpus) for question in questions]
    indexed = {name: load(e2g, name) for name in dict.fromkeys(names)}
    golds = [indexed[name].gold(question) for name, question in zip(names, questions, strict=True)]
    failed: dict[str, str] = {}
    for mode in list(selected):  # warm up: load models, and let the database plan each statement
        try:
            for name in indexed:
                ask(e2g, questions[0].question, corpus=name, **retrieval(mode, {"k": k}))
        except QueryError as error:
            if mode == against or selected == [mode]:
                raise
            selected.remove(mode)
            failed[mode] = str(error)

    outcomes: dict[str, list[Outcome]] = {mode: [] for mode in selected}
    for number, (question, name, gold) in enumerate(zip(questions, names, golds, strict=True)):
        first = number % len(selected)  # each mode comes first equally often
        for mode in selected[first:] + selected[:first]:
            evidence, parts = ask(e2g, question.question, corpus=name, **retrieval(mode, {"k": k}))
            within: dict[str, Evidence] = {}
            if gold.spans or gold.statements:
                for budget, limits in BUDGETS.items():
                    within[budget] = e2g.retrieve(question.question, corpus=name, **retrieval(mode, limits))
            scores = score(evidence, within, gold, indexed[name], k)
            seconds, tokens = sum(parts.values()), tokens_of(e2g, evidence)
            outcomes[mode].append(
                Outcome(
                    question.id, question.type, evidence.route, scores, seconds, parts, evidence.round_trips, tokens
                )
            )
        report("asking", number + 1, len(questions))
    busy_seconds: dict[str, list[float]] = defaultdict(list)
    if busy:
        with busy_processes():
            for number, (question, name) in enumerate(zip(questions, names, strict=True)):
                for mode in selected:
                    _, parts = ask(e2g, question.question, corpus=name, **retrieval(mode, {"k": k}))
                    busy_seconds[mode].append(sum(parts.values()))
                report("asking beside a busy process", number + 1, len(questions))
    base = {outcome.question: outcome for outcome in outcomes[against]} if against else {}
    results = {
        mode: _mode_result(found, {} if mode == against else base, busy_seconds[mode])
        for mode, found in outcomes.items()
    }
    return Evaluation(corpus, len(questions), k, against, unit, modes=results, failed=failed)


def corpus_of(question: Question, corpus: str) -> str:
    """Return the corpus in which to ask a question."""
    if "{book}" not in corpus:
        return corpus
    if question.book is None:
        raise QueryError(
            f"Question {question.id} has no book for the corpus name {corpus!r}: use one without {{book}}."
        )
    return corpus.replace("{book}", question.book.rpartition("/")[2].rsplit(".", 1)[0])


def load(e2g: E2G, corpus: str) -> IndexedCorpus:
    """Load the texts of a corpus from the database."""
    indexed = IndexedCorpus(corpus, e2g.models.embedder.token_spans)
    for rows in e2g.runner.run(_chunks(corpus, [document.id for document in e2g.documents(corpus)])):
        indexed.add(rows)
    return indexed


def _chunks(corpus: str, documents: Sequence[str]) -> Operation[list[Rows]]:
    found = []
    for at in range(0, len(documents), DOCUMENTS_AT_ONCE):
        batch = list(documents[at : at + DOCUMENTS_AT_ONCE])
        found.append((yield Read("evaluate/chunks", {"corpus": corpus, "documents": batch})))
    return found


class _Parts:
    """Measures the seconds of each of PARTS of one question. Their sum is the time of `E2G.retrieve`."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PARTS, 0.0)
        self._part = "reading"  # spaCy processes the question before the first request
        self._began = time.perf_counter()

    def requested(self, request: Request) -> None:
        self.ended(self._part)

    def executed(self, request: Request) -> None:
        kinds = {Embed: "embedding", Rerank: "ranking"}
        self.ended(kinds.get(type(request), "database"))
        self._part = "ranking"

    def ended(self, part: str | None = None) -> None:
        now = time.perf_counter()
        self.seconds[part or self._part] += now - self._began
        self._began = now


def ask(
    e2g: E2G, question: str, *, corpus: str, **retrieval: Unpack[RetrievalKeywords]
) -> tuple[Evidence, dict[str, float]]:
    """Retrieve the evidence and measure the seconds of each of PARTS."""
    parts = _Parts()
    with e2g.runner.observed(parts):
        evidence = e2g.retrieve(question, corpus=corpus, **retrieval)
    parts.ended()
    return evidence, parts.seconds


def tokens_of(e2g: E2G, evidence: Evidence) -> int:
    """Return the length of all passages together, in tokens of the embedding model."""
    return sum(len(e2g.models.embedder.token_spans(passage.text)) for passage in evidence.passages)


# --- metrics -----------------------------------------------------------------------------------------


def score(
    evidence: Evidence, within: Mapping[str, Evidence], gold: Gold, corpus: IndexedCorpus, k: int
) -> dict[str, float]:
    """Compute the scores of one question.

    Args:
        evidence: The evidence for k chunks.
        within: The evidence for each of BUDGETS.
        gold: The gold of the question, which determines the scores.
        corpus: The indexed corpus.
        k: Number of chunks.
    """
    scores: dict[str, float] = {}
    if gold.sources:
        ranked = list(dict.fromkeys(passage.source for passage in evidence.passages))
        scores |= {f"R@{n}": recall(ranked, gold.sources, n) for n in CUTOFFS if n <= k}
        scores["MRR"] = reciprocal_rank(ranked, gold.sources)
    if gold.spans or gold.statements:
        for budget, found in within.items():
            pieces = corpus.pieces(found.passages, BUDGETS[budget].get("tokens"))
            scores[f"evidence@{budget}"] = fraction_found(pieces, gold)
    return scores


def recall(ranked: Sequence[str], gold: frozenset[str], n: int) -> float:
    """Return the fraction of the gold among the first n."""
    return len(gold.intersection(ranked[:n])) / len(gold)


def reciprocal_rank(ranked: Sequence[str], gold: frozenset[str]) -> float:
    """Return 1 / rank of the first gold source, or 0."""
    return next((1 / rank for rank, source in enumerate(ranked, 1) if source in gold), 0.0)


def fraction_found(pieces: Sequence[Piece], gold: Gold) -> float:
    """Return the fraction of the gold spans and statements that the pieces show."""
    shown: dict[str, list[Span]] = defaultdict(list)
    for piece in pieces:
        shown[piece.source] += piece.shows
    found = sum(covered(start, end, shown[source]) >= SPAN_SHOWN * (end - start) for source, start, end in gold.spans)
    if gold.statements:
        held = [content_words(piece.text) for piece in pieces]
        found += sum(any(len(words & one) >= WORDS_HELD * len(words) for one in held) for words in gold.statements)
    return found / (len(gold.spans) + len(gold.statements))


def covered(start: int, end: int, spans: Iterable[Span]) -> int:
    """Count the characters from start to end that are in at least one of the spans."""
    total, at = 0, start
    for first, last in sorted(spans):
        first, last = max(first, at), min(last, end)
        if first < last:
            total += last - first
            at = last
    return total


# --- means and intervals -----------------------------------------------------------------------------


def bootstrap(values: Sequence[float]) -> Interval:
    """Return the mean and its 95 % bootstrap interval. The random seed is fixed."""
    sample = np.asarray(values, dtype=np.float64)
    means = sample[_draws(len(sample))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return Interval(float(sample.mean()), float(low), float(high), len(sample))


@lru_cache(maxsize=8)
def _draws(size: int) -> NDArray[np.int64]:
    return np.random.default_rng(SEED).integers(size, size=(RESAMPLES, size))


def grouped(outcomes: Sequence[Outcome], base: Mapping[str, Outcome]) -> Group:
    """Aggregate the scores of outcomes, with paired differences to `base` for the questions that it has."""
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


def _mode_result(outcomes: list[Outcome], base: Mapping[str, Outcome], busy_seconds: Sequence[float]) -> ModeResult:
    milliseconds = [1000 * outcome.seconds for outcome in outcomes]
    return ModeResult(
        overall=grouped(outcomes, base),
        by_type={name: grouped(some, base) for name, some in _split(outcomes, lambda outcome: outcome.type)},
        by_route={name: grouped(some, base) for name, some in _split(outcomes, lambda outcome: outcome.route)},
        median_ms=float(np.median(milliseconds)),
        p95_ms=float(np.percentile(milliseconds, 95)),
        parts_ms={part: 1000 * float(np.median([outcome.parts[part] for outcome in outcomes])) for part in PARTS},
        busy_median_ms=1000 * float(np.median(busy_seconds)) if busy_seconds else None,
        round_trips=max(outcome.round_trips for outcome in outcomes),
        tokens=int(np.median([outcome.tokens for outcome in outcomes])),
        outcomes=outcomes,
    )


def _split(outcomes: Iterable[Outcome], key: Callable[[Outcome], str | None]) -> Iterator[tuple[str, list[Outcome]]]:
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        name = key(outcome)
        if name is not None:
            groups.setdefault(name, []).append(outcome)
    yield from groups.items()
