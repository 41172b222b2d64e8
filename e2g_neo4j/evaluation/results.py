"""The results of an evaluation: means over questions with 95 % bootstrap intervals, by mode, type and route."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from e2g_neo4j.errors import InputError
from e2g_neo4j.retrieval.options import Unit
from e2g_neo4j.retrieval.ranking import VERSION

RESAMPLES = 1000
SEED = 20250

PARTS = ("reading", "embedding", "database", "ranking")
"""The parts of the time of a question: spaCy; the remaining wait for the vector, which is computed concurrently; the
database; everything else."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over `questions` questions with its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float
    questions: int


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """The answer of the chat model to one question.

    Attributes:
        text: The reply. None: three replies were unusable.
        unreadable: Whether no reply was usable, or the reply to a question with options is not a letter. It scores 0.
        scores: The scores by name.
        evidence_tokens: Length of the passages that were retrieved, in tokens of the embedding model.
        calls: Number of calls of the chat model, with those that are repeated because the reply was unusable.
        prompt_tokens: Length of the prompts of all calls, in tokens of the chat model.
    """

    text: str | None
    unreadable: bool
    scores: dict[str, float]
    evidence_tokens: int
    calls: int
    prompt_tokens: int


@dataclass(frozen=True, slots=True)
class Judgement:
    """How an answer compares with that of the base mode.

    Attributes:
        wins: By criterion, 1 if the answer is better in both orders, .5 for a tie, 0 if that of the base mode is
            better; or the share that it has of the ratings of both. Empty if one of them has no text, or no reply of
            the judge was usable.
        calls: Number of calls of the judge, with those that are repeated because the reply was unusable.
        prompt_tokens: Length of the prompts of all calls, in tokens of the judge.
    """

    wins: dict[str, float]
    calls: int
    prompt_tokens: int


@dataclass(frozen=True, slots=True)
class CheckedCitations:
    """Which citations of an answer the judge found supported.

    Attributes:
        citations: Number of pairs of a claim and a passage that it cites.
        supported: Number of those that the passage supports.
        calls: Number of calls of the judge, with those that are repeated because the reply was unusable.
        prompt_tokens: Length of the prompts of all calls, in tokens of the judge.
    """

    citations: int
    supported: int
    calls: int
    prompt_tokens: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one mode for one question. `seconds` is the total time, `parts` has the time of each of PARTS;
    `tokens` is the length of the passages in tokens of the embedding model; `scores` include those of the answer;
    `entities` and `unknown_entities` are the numbers of names in the question that the corpus has and has not, `pairs`
    is the number of pairs of entities within h hops. All three are 0 in modes without the entity graph. `calls` and
    `prompt_tokens` are those of the chat model while it looked for evidence."""

    question: str
    type: str | None
    route: str
    scores: dict[str, float]
    seconds: float
    parts: dict[str, float]
    round_trips: int
    tokens: int
    answer: ScoredAnswer | None = None
    judgement: Judgement | None = None
    entities: int = 0
    unknown_entities: int = 0
    pairs: int = 0
    calls: int = 0
    prompt_tokens: int = 0
    checked: CheckedCitations | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Scores of a group of questions by name, and their paired differences to the base mode."""

    questions: int
    scores: dict[str, Interval]
    differences: dict[str, Interval]


@dataclass(frozen=True, slots=True)
class AnswerCosts:
    """What the answers of one mode cost: number of answers and of those that were unreadable, and the means per answer
    of `evidence_tokens`, `calls` and `prompt_tokens` of `ScoredAnswer`."""

    answers: int
    unreadable: int
    evidence_tokens: float
    calls: float
    prompt_tokens: float


@dataclass(frozen=True, slots=True)
class Judged:
    """How the answers of one mode compare with those of the base mode: number of answers, of those that could not be
    judged, the win rates by criterion, and the means per answer of `calls` and `prompt_tokens` of `Judgement`."""

    answers: int
    not_judged: int
    wins: dict[str, Interval]
    calls: float
    prompt_tokens: float


@dataclass(frozen=True, slots=True)
class CitationScores:
    """How well the citations of one mode's answers support them: number of answers, citations per answer and those that
    are supported, `accuracy`, the mean share of the supported ones in answers with citations (None: no answer has any),
    and the means per answer of `calls` and `prompt_tokens` of `CheckedCitations`."""

    answers: int
    citations: float
    effective: float
    accuracy: Interval | None
    calls: float
    prompt_tokens: float


@dataclass(frozen=True, slots=True)
class EntityStatistics:
    """The entities of the questions: the means per question of `entities`, `unknown_entities` and `pairs` of `Outcome`,
    and the numbers of questions with no, with one and with more known entities."""

    entities: float
    unknown_entities: float
    pairs: float
    without: int
    with_one: int
    with_more: int


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
        round_trips: Maximum number of round trips of a question.
        tokens: Median length of the passages of a question, in tokens of the embedding model.
        outcomes: The results per question.
        answers: What the answers cost, if there are any.
        judged: How the answers compare with those of the base mode, if they were judged.
        citations: How well citations support the answers, if they were checked.
        entities: The entities of the questions, in modes that use the entity graph.
        calls: Mean number of calls of the chat model per question, to find evidence.
        prompt_tokens: Mean length of their prompts together.
    """

    overall: Group
    by_type: dict[str, Group]
    by_route: dict[str, Group]
    median_ms: float
    p95_ms: float
    parts_ms: dict[str, float]
    round_trips: int
    tokens: int
    outcomes: list[Outcome]
    answers: AnswerCosts | None = None
    judged: Judged | None = None
    citations: CitationScores | None = None
    entities: EntityStatistics | None = None
    calls: float = 0.0
    prompt_tokens: float = 0.0


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The result of `evaluate`. Modes are in the order of the call. `ranking` is the version of the ranking of `auto`,
    `unit` what was ranked if not the default of the mode. `failed` has the reason by mode that cannot answer the
    questions from these corpora. `chat_model` is the model that answered, if answers were scored, `judge_model` the one
    that judged them, by `criteria`."""

    corpus: str
    questions: int
    k: int
    against: str | None
    unit: Unit | None = None
    ranking: int = VERSION
    modes: dict[str, ModeResult] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    chat_model: str | None = None
    judge_model: str | None = None
    criteria: Sequence[str] = ()

    @property
    def types(self) -> list[str]:
        """The types of questions in the order of the file."""
        return list(dict.fromkeys(kind for mode in self.modes.values() for kind in mode.by_type))


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


def group_outcomes(outcomes: Sequence[Outcome], base: Mapping[str, Outcome]) -> Group:
    """Aggregate the scores of outcomes, with paired differences to `base` for the questions that it has."""
    scores: dict[str, list[float]] = defaultdict(list)
    differences: dict[str, list[float]] = defaultdict(list)
    for outcome in outcomes:
        other = base.get(outcome.question)
        for name, value in outcome.scores.items():
            scores[name].append(value)
            if other and name in other.scores:
                differences[name].append(value - other.scores[name])
    return Group(
        len(outcomes),
        {name: bootstrap(values) for name, values in scores.items()},
        {name: bootstrap(values) for name, values in differences.items()},
    )


def mode_result(outcomes: list[Outcome], base: Mapping[str, Outcome], *, with_entities: bool = False) -> ModeResult:
    """Aggregate the outcomes of a mode, at least one, with paired differences to `base`, those of the base mode by
    question, or nothing. `with_entities`: the mode uses the entity graph."""
    milliseconds = [1000 * outcome.seconds for outcome in outcomes]
    return ModeResult(
        overall=group_outcomes(outcomes, base),
        by_type={name: group_outcomes(some, base) for name, some in _split(outcomes, lambda outcome: outcome.type)},
        by_route={name: group_outcomes(some, base) for name, some in _split(outcomes, lambda outcome: outcome.route)},
        median_ms=float(np.median(milliseconds)),
        p95_ms=float(np.percentile(milliseconds, 95)),
        parts_ms={part: 1000 * float(np.median([outcome.parts[part] for outcome in outcomes])) for part in PARTS},
        round_trips=max(outcome.round_trips for outcome in outcomes),
        tokens=int(np.median([outcome.tokens for outcome in outcomes])),
        outcomes=outcomes,
        answers=_answer_costs([outcome.answer for outcome in outcomes if outcome.answer]),
        judged=_sum_judgements([outcome.judgement for outcome in outcomes if outcome.judgement]),
        citations=_citation_scores([outcome.checked for outcome in outcomes if outcome.checked]),
        entities=_entity_statistics(outcomes) if with_entities else None,
        calls=float(np.mean([outcome.calls for outcome in outcomes])),
        prompt_tokens=float(np.mean([outcome.prompt_tokens for outcome in outcomes])),
    )


def _answer_costs(answers: Sequence[ScoredAnswer]) -> AnswerCosts | None:
    if not answers:
        return None
    return AnswerCosts(
        answers=len(answers),
        unreadable=sum(one.unreadable for one in answers),
        evidence_tokens=float(np.mean([one.evidence_tokens for one in answers])),
        calls=float(np.mean([one.calls for one in answers])),
        prompt_tokens=float(np.mean([one.prompt_tokens for one in answers])),
    )


def _entity_statistics(outcomes: Sequence[Outcome]) -> EntityStatistics:
    known = [outcome.entities for outcome in outcomes]
    return EntityStatistics(
        entities=float(np.mean(known)),
        unknown_entities=float(np.mean([outcome.unknown_entities for outcome in outcomes])),
        pairs=float(np.mean([outcome.pairs for outcome in outcomes])),
        without=known.count(0),
        with_one=known.count(1),
        with_more=sum(number > 1 for number in known),
    )


def _sum_judgements(judgements: Sequence[Judgement]) -> Judged | None:
    if not judgements:
        return None
    wins: dict[str, list[float]] = defaultdict(list)
    for one in judgements:
        for criterion, value in one.wins.items():
            wins[criterion].append(value)
    return Judged(
        answers=len(judgements),
        not_judged=sum(not one.wins for one in judgements),
        wins={criterion: bootstrap(values) for criterion, values in wins.items()},
        calls=float(np.mean([one.calls for one in judgements])),
        prompt_tokens=float(np.mean([one.prompt_tokens for one in judgements])),
    )


def _citation_scores(checked: Sequence[CheckedCitations]) -> CitationScores | None:
    if not checked:
        return None
    shares = [one.supported / one.citations for one in checked if one.citations]
    return CitationScores(
        answers=len(checked),
        citations=float(np.mean([one.citations for one in checked])),
        effective=float(np.mean([one.supported for one in checked])),
        accuracy=bootstrap(shares) if shares else None,
        calls=float(np.mean([one.calls for one in checked])),
        prompt_tokens=float(np.mean([one.prompt_tokens for one in checked])),
    )


def _split(outcomes: Iterable[Outcome], key: Callable[[Outcome], str | None]) -> Iterator[tuple[str, list[Outcome]]]:
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        name = key(outcome)
        if name is not None:
            groups.setdefault(name, []).append(outcome)
    yield from groups.items()


# --- changes since an evaluation that was saved ------------------------------------------------------
# So an update of documents, a model or a setting is tested like code: `e2g eval questions.jsonl --before saved.json`.

SAME = 1e-9
"""Scores that differ by at most this are equal."""

Scores: TypeAlias = Mapping[str, Mapping[str, Mapping[str, float]]]
"""By mode, by id of a question and by name: the scores."""


@dataclass(frozen=True, slots=True)
class Change:
    """How a score of a mode has changed: the mean over the questions that both evaluations have, with its 95 %
    interval, and by id the changes of questions that score more now, and of those that score less."""

    mode: str
    score: str
    difference: Interval
    gained: dict[str, float]
    lost: dict[str, float]

    @property
    def is_worse(self) -> bool:
        """Whether the mean has fallen."""
        return self.difference.mean < -SAME


_HOW_TO_WRITE = "Write it with `e2g eval QUESTIONS.jsonl --json SCORES.json`"


def read_scores(file: Path) -> Scores:
    """Read the scores of an evaluation that `e2g eval` wrote. Raises InputError if the file is none such."""
    try:
        saved = json.loads(file.read_text(encoding="utf-8"))
        return {
            mode: {one["question"]: {name: float(score) for name, score in one["scores"].items()} for one in outcomes}
            for mode, outcomes in ((mode, result["outcomes"]) for mode, result in saved["modes"].items())
        }
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}. {_HOW_TO_WRITE}.") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"{file} has no results of an evaluation. {_HOW_TO_WRITE}.") from None


def changes_since(found: Evaluation, before: Scores) -> list[Change]:
    """Return how the scores of an evaluation have changed. Raises InputError if both have no mode and question in
    common."""
    changes = []
    for mode, result in found.modes.items():
        by_score: dict[str, dict[str, float]] = {}
        for outcome in result.outcomes:
            saved = before.get(mode, {}).get(outcome.question, {})
            for name in outcome.scores.keys() & saved.keys():
                by_score.setdefault(name, {})[outcome.question] = outcome.scores[name] - saved[name]
        changes += [_change(mode, name, by_score[name]) for name in result.overall.scores if name in by_score]
    if not changes:
        raise InputError(
            "The saved results have none of these modes, questions and scores: compare evaluations of the same file "
            "and modes."
        )
    return changes


def _change(mode: str, score: str, differences: dict[str, float]) -> Change:
    return Change(
        mode,
        score,
        bootstrap([*differences.values()]),
        {question: value for question, value in differences.items() if value > SAME},
        {question: value for question, value in differences.items() if value < -SAME},
    )
