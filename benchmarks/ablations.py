"""Ablations of retrieval: those of the paper, and mode auto with each signal removed in turn.

    python benchmarks/ablations.py QUESTIONS.jsonl [--corpus NAME] [--limit N] [--groups BOOK] [--lengths BOOK]

Asks the same questions of the corpus in every variant and prints one table, with paired differences to the unchanged
mode and their 95 % bootstrap intervals; then how many known entities the questions have. `--groups BOOK` indexes a book
with group sizes g = 2, 3, 5 and 10 into the corpora `ablation-g2` …, and asks there, in modes e2g and tree. `--lengths
BOOK` indexes an eighth, a quarter, half and the whole of it. Both print the time that each takes, of one run.
Records its figures in results.json, under `--set`, or the name of the corpus; those of BOOK under its name.

The graph filter, entity-aware ranking (local route) and occurrence ranking (global route) are removed one by one, in
pairs, and all together. The paper also removes the dense retrieval: then the chunks and summaries that mention the
entities most are left of the global route. Without occurrence ranking too, it finds nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Annotated, Any
from unittest.mock import patch

import typer
from record import RESULTS, Figure, record

from e2g_neo4j import E2G, IndexReport
from e2g_neo4j.evaluation import Evaluation, Question, evaluate, read_questions
from e2g_neo4j.evaluation.results import bootstrap
from e2g_neo4j.retrieval import linking, ranking, windows
from e2g_neo4j.retrieval.options import Unit
from e2g_neo4j.retrieval.passages import ScoredNode, top_k
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.strategies import auto
from e2g_neo4j.retrieval.strategies import e2g as e2g_mode
from e2g_neo4j.retrieval.strategies.e2g import nearest_nodes
from e2g_neo4j.runtime.requests import Operation, Rows
from e2g_neo4j.settings import load_settings
from e2g_neo4j.types.results import Pair

GROUP_SIZES = (5, 2, 3, 10)
"""The default first: differences are to it."""

PARTS_OF_BOOK = (8, 4, 2, 1)
"""An eighth, a quarter …"""

ALL_NODES = 5000
"""Half of the nodes that are read if all are."""

SHOWN = ("R@5", "R@25", "MRR", "evidence@5 chunks", "evidence@6k tokens")


@dataclass(frozen=True)
class Variant:
    """A mode, what it ranks if not its default, and parts that are replaced: (object, attribute, replacement)."""

    name: str
    mode: str = "e2g"
    unit: Unit | None = None
    changes: Sequence[tuple[Any, str, Any]] = ()
    settings: dict[str, int] = field(default_factory=dict)


def without_hop_limit(pairs: Any, _hops: int) -> tuple[Pair, ...]:
    """Keep every pair."""
    return tuple(Pair(pair["a"], pair["b"], 1) for pair in pairs)


def nearest_first(rows: Sequence[dict[str, Any]], *, k: int) -> list[ScoredNode]:
    """Rank the global route by vector only, without the question's entities."""
    return top_k(rows, k)


def unranked(_candidate: Any, _pairs: Any) -> float:
    """Do not rank the chunks of the local route: the first of the corpus count."""
    return 0.0


def without_vectors(query: Query, entities: Mapping[str, Sequence[str]]) -> Operation[Rows]:
    """Read all chunks and summaries that mention the question's entities, in the order of their ids."""
    rows = yield from nearest_nodes(replace(query, limit=ALL_NODES), entities)
    return [{**row, "score": 0.0} for row in rows if row["occurrences"]]


def nothing(_rows: Any, *, k: int) -> list[ScoredNode]:
    """Find no nodes."""
    return []


AS_IT_IS = "as it is"

PARTS: Mapping[str, tuple[Any, str, Any]] = {
    "the graph filter": (linking, "pairs_within_hops", without_hop_limit),
    "entity-aware ranking (local)": (e2g_mode, "by_mentions", unranked),
    "occurrence ranking (global)": (e2g_mode, "global_nodes", nearest_first),
}
"""What is removed, alone and together."""

PAPER = [
    Variant(AS_IT_IS),
    *(
        Variant(f"without {' and '.join(removed)}", changes=[PARTS[part] for part in removed])
        for number in (1, 2, 3)
        for removed in combinations(PARTS, number)
    ),
    Variant("without dense", changes=[(e2g_mode, "nearest_nodes", without_vectors)]),
    Variant("without dense and occurrence ranking (global)", changes=[(e2g_mode, "global_nodes", nothing)]),
    Variant("dense only", "dense", "chunk"),
    *(Variant(f"h = {hops}", settings={"hops": hops}) for hops in range(1, 6)),
]

FUSION = [
    Variant(AS_IT_IS, "auto"),
    Variant("without vectors", "auto", changes=[(ranking, "NEAR", 0.0)]),
    Variant("without diffusion", "auto", changes=[(ranking, "ACTIVATION", 0.0)]),
    Variant("without words (= diffusion)", "diffusion"),
    Variant("without the chunk around the window", "auto", changes=[(ranking, "CHUNK_CONTEXT", 0.0)]),
    Variant("without neighbours", "auto", changes=[(ranking, "MAX_SMOOTHING", 0.0)]),
    Variant("diffusion from the question alone", "auto", changes=[(auto, "OWN", 1.0)]),
    Variant("diffusion from the seeds alone", "auto", changes=[(auto, "OWN", 0.0)]),
    Variant("nearest windows as seeds", "auto", changes=[(auto, "SEED_WORDS", 0.0)]),
    Variant("every window alone", "auto", changes=[(windows, "POOL", 0.0)]),
]


def main(
    questions: Annotated[Path, typer.Argument(metavar="QUESTIONS.jsonl")],
    corpus: Annotated[str | None, typer.Option()] = None,
    limit: Annotated[int | None, typer.Option()] = None,
    groups: Annotated[Path | None, typer.Option(metavar="BOOK")] = None,
    lengths: Annotated[Path | None, typer.Option(metavar="BOOK")] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE.md")] = None,
    name: Annotated[str | None, typer.Option("--set", help="name of the questions in the results")] = None,
    results: Annotated[Path, typer.Option(help="file that the figures are recorded in")] = RESULTS,
) -> None:
    asked = read_questions(questions)[:limit]
    sections = []
    if corpus is not None:
        with E2G() as e2g:
            for title, variants in (("Mode e2g", PAPER), ("Mode auto", FUSION)):
                found = [(variant.name, measured(e2g, variant, asked, corpus)) for variant in variants]
                sections.append(table(title, found))
                record(figures(name or corpus, found), results)
                print(sections[-1], flush=True)
                if title == "Mode e2g":
                    counts = [outcome.entities for outcome in next(iter(found[0][1].modes.values())).outcomes]
                    sections.append(entity_table(counts))
                    record(entity_figures(name or corpus, counts), results)
                    print(sections[-1], flush=True)
    if lengths is not None:
        reports = index_by_length(lengths)
        sections.append(index_table(f"Index time, {lengths.name}", reports))
        record(index_figures(lengths.stem, reports), results)
        print(sections[-1], flush=True)
    if groups is not None:
        about = [question for question in asked if question.book in (None, groups.name)]
        reports = index_by_group_size(groups)
        sections.append(index_table(f"Index time, {groups.name}", reports))
        record(index_figures(groups.stem, reports), results)
        print(sections[-1], flush=True)
        for mode in ("e2g", "tree"):
            found = list(by_group_size(about, mode))
            sections.append(table(f"Group size, {groups.name}, {mode}", found))
            record(figures(groups.stem, found), results)
            print(sections[-1], flush=True)
    if out is not None:
        out.write_text("\n".join(sections), encoding="utf-8")


def measured(e2g: E2G, variant: Variant, asked: list[Question], corpus: str) -> Evaluation:
    with changed(variant), patched_settings(e2g, variant.settings):
        return evaluate(e2g, asked, corpus=corpus, modes=[variant.mode], k=25, unit=variant.unit)


@contextmanager
def changed(variant: Variant) -> Iterator[None]:
    with ExitStack() as stack:
        for where, name, replacement in variant.changes:
            stack.enter_context(patch.object(where, name, replacement))
        yield


@contextmanager
def patched_settings(e2g: E2G, values: dict[str, int]) -> Iterator[None]:
    with ExitStack() as stack:
        for name, value in values.items():
            stack.enter_context(patch.object(e2g.settings, name, value))
        yield


def with_group_size(size: int) -> E2G:
    return E2G(settings=load_settings().model_copy(update={"group_size": size}))


def index_by_length(book: Path) -> dict[str, IndexReport]:
    """Index the beginning of a book, longer each time. The first is indexed and deleted once before, so that it does
    not pay for the start."""
    reports = {}
    text = book.read_text(encoding="utf-8")
    with TemporaryDirectory() as folder, E2G() as e2g:
        for part in (PARTS_OF_BOOK[0], *PARTS_OF_BOOK):
            beginning = Path(folder) / f"{book.stem}-{part}{book.suffix}"
            beginning.write_text(text[: len(text) // part], encoding="utf-8")
            reports[f"1/{part} of the text" if part > 1 else "the whole text"] = indexed(
                e2g, beginning, "ablation-length"
            )
        e2g.delete(corpus="ablation-length")
    return reports


def index_by_group_size(book: Path) -> dict[str, IndexReport]:
    """Index a book with each group size."""
    reports = {}
    for size in GROUP_SIZES:
        with with_group_size(size) as e2g:
            reports[f"g = {size}"] = indexed(e2g, book, f"ablation-g{size}")
    return reports


def indexed(e2g: E2G, file: Path, corpus: str) -> IndexReport:
    """Index a file into an empty corpus."""
    if corpus in e2g.corpora():
        e2g.delete(corpus=corpus)
    return e2g.index([file], corpus=corpus)


def by_group_size(asked: list[Question], mode: str) -> Iterator[tuple[str, Evaluation]]:
    for size in GROUP_SIZES:
        with with_group_size(size) as e2g:
            yield f"g = {size}", measured(e2g, Variant("", mode), asked, f"ablation-g{size}")


def index_table(title: str, reports: Mapping[str, IndexReport]) -> str:
    """Return a table of what was indexed in what time."""
    lines = [f"### {title}", "", "| | tokens | chunks | summaries | seconds | tokens/s |", "|---|---|---|---|---|---|"]
    for what, report in reports.items():
        cells = (
            report.tokens,
            report.chunks,
            sum(report.summaries_by_level.values()),
            f"{report.seconds['total']:.1f}",
            f"{report.tokens_per_second:.0f}",
        )
        lines.append(f"| indexed, {what} | " + " | ".join(map(str, cells)) + " |")
    return "\n".join([*lines, ""])


def index_figures(name: str, reports: Mapping[str, IndexReport]) -> Iterator[Figure]:
    for what, report in reports.items():
        summaries = sum(report.summaries_by_level.values())
        values = {"tokens": report.tokens, "summaries": summaries, "seconds": round(report.seconds["total"], 1)}
        for metric, value in {**values, "tokens/s": round(report.tokens_per_second)}.items():
            yield Figure(name, "index", metric, value, variant=what)


def entity_table(counts: Sequence[int]) -> str:
    """Return a table of the known entities of the questions, and how many questions have how many."""
    mean, least, most = fmean(counts), min(counts), max(counts)
    lines = ["### Known entities per question", "", f"mean {mean:.2f}, least {least}, most {most}", ""]
    lines += ["| entities | questions |", "|---|---|"]
    return "\n".join([*lines, *(f"| {number} | {of} |" for number, of in sorted(Counter(counts).items())), ""])


def entity_figures(name: str, counts: Sequence[int]) -> Iterator[Figure]:
    """Yield mean, least and greatest number of known entities of a question, and the histogram."""
    values = {"mean": round(fmean(counts), 2), "least": min(counts), "most": max(counts)}
    for metric, value in values.items():
        yield Figure(name, "entities", metric, value)
    for number, of in sorted(Counter(counts).items()):
        yield Figure(name, "entities", "questions", of, variant=str(number))


def table(title: str, found: Sequence[tuple[str, Evaluation]]) -> str:
    """Return a table of means, with the paired difference to the first row and its 95 % interval in brackets."""
    overall = [(name, next(iter(one.modes.values()))) for name, one in found]
    metrics = [metric for metric in SHOWN if metric in overall[0][1].overall.scores]
    lines = [f"### {title}", "", "| | " + " | ".join(metrics) + " |", "|---|" + "---|" * len(metrics)]
    first = {outcome.question: outcome.scores for outcome in overall[0][1].outcomes}
    for name, mode in overall:
        cells = []
        for metric in metrics:
            cell = f"{mode.overall.scores[metric].mean:.3f}"
            if mode is not overall[0][1]:
                cell += difference(metric, {o.question: o.scores for o in mode.outcomes}, first)
            cells.append(cell)
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def figures(name: str, found: Sequence[tuple[str, Evaluation]]) -> Iterator[Figure]:
    """Yield the means of every variant, with whether its paired difference to the first row is certain."""
    base, first = next(iter(found[0][1].modes.items()))
    before = {outcome.question: outcome.scores for outcome in first.outcomes}
    for variant, evaluation in found:
        mode = next(iter(evaluation.modes.values()))
        for metric in SHOWN:
            if metric in mode.overall.scores:
                measure, _, budget = metric.partition("@") if metric.startswith("evidence@") else (metric, "", "")
                change = bootstrap([one.scores[metric] - before[one.question][metric] for one in mode.outcomes])
                yield Figure(
                    name,
                    base,
                    measure,
                    round(mode.overall.scores[metric].mean, 3),
                    budget=budget or None,
                    variant=variant,
                    difference=None if mode is first else round(change.mean, 3),
                    significant=mode is not first and not change.low <= 0 <= change.high,
                )


def difference(metric: str, ours: dict[str, dict[str, float]], theirs: dict[str, dict[str, float]]) -> str:
    interval = bootstrap([scores[metric] - theirs[question][metric] for question, scores in ours.items()])
    return f" ({interval.mean:+.3f}, {interval.low:+.2f}…{interval.high:+.2f})"


if __name__ == "__main__":
    typer.run(main)
