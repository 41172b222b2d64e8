"""Comparing an evaluation with a saved one."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from e2g_neo4j.errors import InputError
from e2g_neo4j.evaluation.results import PARTS, Evaluation, Outcome, changes_since, mode_result, read_scores


def evaluation(**scores: float) -> Evaluation:
    """An evaluation of one mode with the R@5 of each question."""
    parts = dict.fromkeys(PARTS, 0.0)
    outcomes = [Outcome(id, None, "global", {"R@5": score}, 0.1, parts, 2, 100) for id, score in scores.items()]
    return Evaluation("c", len(outcomes), 5, None, modes={"auto": mode_result(outcomes, {})})


def saved(folder: Path, found: Evaluation) -> Path:
    file = folder / "saved.json"
    file.write_text(json.dumps(asdict(found)), encoding="utf-8")
    return file


def test_what_questions_gain_and_lose_is_listed(tmp_path: Path) -> None:
    """Only q1 to q4 are in both: .5 lost, .25 gained, 2 as before."""
    before = read_scores(saved(tmp_path, evaluation(q1=1.0, q2=0.5, q3=0.5, q4=0.0, old=1.0)))
    [change] = changes_since(evaluation(q1=0.5, q2=0.75, q3=0.5, q4=0.0, new=0.0), before)
    assert (change.mode, change.score, change.gained, change.lost) == ("auto", "R@5", {"q2": 0.25}, {"q1": -0.5})
    assert change.difference.mean == pytest.approx(-0.0625)
    assert change.difference.questions == 4
    assert change.is_worse


@pytest.mark.parametrize("now", [1.0, 0.5])
def test_equal_or_better_means_are_not_worse(tmp_path: Path, now: float) -> None:
    [change] = changes_since(evaluation(q=now), read_scores(saved(tmp_path, evaluation(q=0.5))))
    assert not change.is_worse


def test_results_without_common_questions_are_refused(tmp_path: Path) -> None:
    before = read_scores(saved(tmp_path, evaluation(old=1.0)))
    with pytest.raises(InputError, match="none of these modes, questions and scores"):
        changes_since(evaluation(new=1.0), before)


@pytest.mark.parametrize(
    "text", ["", "[]", '{"modes": []}', '{"modes": {"auto": {}}}', '{"modes": {"auto": {"outcomes": 1}}}']
)
def test_a_file_without_results_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "saved.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="no results of an evaluation"):
        read_scores(file)
    with pytest.raises(InputError, match="cannot be read"):
        read_scores(tmp_path / "missing.json")
