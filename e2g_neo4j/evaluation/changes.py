"""Compare an evaluation with one that was saved before: what each question has gained or lost.

So an update of documents, a model or a setting is tested like code: `e2g eval questions.jsonl --before saved.json`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from e2g_neo4j.errors import InputError
from e2g_neo4j.evaluation.results import Evaluation, Interval, bootstrap

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
