"""Record figures in results.json, from which the documentation takes its tables.

    python benchmarks/record.py SCORES.json --set musique [--results FILE] [--date 2026-11-25]

Reads what `e2g eval --json SCORES.json` wrote, with intervals. The other benchmarks call `record` themselves. A figure
replaces the one of the same set, mode, variant, metric and budget. The date is today's unless it is given.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("results.json")


@dataclass(frozen=True)
class Figure:
    """One measured number.

    Attributes:
        set: The questions or the text, a key of "sets" in the file.
        mode: The retrieval mode, or what was measured if it is no mode, such as "index".
        metric: What was measured, such as "R@5" or "median ms".
        value: The number.
        budget: How much evidence was read, such as "6k tokens".
        variant: What was changed in the mode, such as "without vectors".
        against: The mode that the value is the paired difference to.
        interval: Its 95 % bootstrap interval over the questions.
        spread: The least and the greatest value of several runs.
        difference: A variant's paired difference to the mode as it is.
        significant: Whether the 95 % interval of this difference excludes 0.
        date: The day of the run, or of the publication, in ISO 8601.
        model: The embedding model.
        chat_model: The language model, if one took part.
        source: The address of the paper, if the number was published and not measured here.
    """

    set: str
    mode: str
    metric: str
    value: float
    budget: str | None = None
    variant: str | None = None
    against: str | None = None
    interval: tuple[float, float] | None = None
    spread: tuple[float, float] | None = None
    difference: float | None = None
    significant: bool | None = None
    date: str | None = None
    model: str | None = None
    chat_model: str | None = None
    source: str | None = None

    @property
    def key(self) -> tuple[str | None, ...]:
        return self.set, self.mode, self.variant, self.metric, self.budget, self.against


def add_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the file."""
    parser.add_argument("--results", type=Path, default=RESULTS, help="file that the figures are recorded in")


def record(figures: Iterable[Figure], results: Path = RESULTS, *, today: str | None = None) -> None:
    """Write figures to the file. Those without a date get today's."""
    kept = json.loads(results.read_text(encoding="utf-8")) if results.exists() else {"sets": {}, "figures": []}
    entries = {figure_of(entry).key: entry for entry in kept["figures"]}
    for figure in figures:
        entry = {name: value for name, value in asdict(figure).items() if value is not None}
        entries[figure.key] = {"date": today or date.today().isoformat()} | entry
        kept["sets"].setdefault(figure.set, {"title": figure.set})
    results.write_text(_shown(kept["sets"], entries.values()), encoding="utf-8")


def figure_of(entry: dict[str, Any]) -> Figure:
    return Figure(**entry)


def _shown(sets: dict[str, Any], entries: Iterable[dict[str, Any]]) -> str:
    """Return the file with one figure a line, so that a diff shows what has changed."""
    order = list(Figure.__dataclass_fields__)
    lines = [
        json.dumps({name: entry[name] for name in order if name in entry}, ensure_ascii=False) for entry in entries
    ]
    described = json.dumps(sets, ensure_ascii=False, indent=1).replace("\n", "\n ")
    return f'{{\n "sets": {described},\n "figures": [\n  ' + ",\n  ".join(lines) + "\n ]\n}\n"


def scores(evaluation: dict[str, Any], name: str, model: str | None) -> list[Figure]:
    """Return the figures of an evaluation that `e2g eval --json` wrote.

    They are the means, of all questions and, as `NAME-TYPE`, of each type, and the paired differences to the mode that
    the others are compared with.
    """
    found = []
    for mode, result in evaluation["modes"].items():
        for kind, group in {"": result["overall"], **result["by_type"]}.items():
            set = f"{name}-{kind}" if kind else name
            for metric, score in group["scores"].items():
                measure, _, budget = metric.partition("@") if metric.startswith("evidence@") else (metric, "", "")
                change = group["differences"].get(metric)
                at = budget or None
                found.append(
                    Figure(set, mode, measure, round(score["mean"], 3), budget=at, interval=bounds(score), model=model)
                )
                if change and not kind:
                    found.append(
                        Figure(
                            set,
                            mode,
                            measure,
                            round(change["mean"], 3),
                            budget=at,
                            against=evaluation["against"],
                            interval=bounds(change),
                            model=model,
                        )
                    )
        found.append(Figure(name, mode, "median ms", round(result["median_ms"], 1), model=model))
    return found


def bounds(interval: dict[str, float]) -> tuple[float, float]:
    return round(interval["low"], 3), round(interval["high"], 3)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scores", type=Path, help="file of `e2g eval --json`")
    parser.add_argument("--set", required=True, help="name of the questions in the results")
    parser.add_argument("--date", help="day of the run")
    parser.add_argument("--model", help="embedding model")
    add_option(parser)
    given = parser.parse_args(argv)
    evaluation = json.loads(given.scores.read_text(encoding="utf-8"))
    record(scores(evaluation, given.set, given.model), given.results, today=given.date)


if __name__ == "__main__":
    main()
