"""`e2g eval`: measure how well each mode finds the gold of a question file, and how well a chat model answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, cast

import typer
from rich.console import Console
from rich.table import Table

from e2g_neo4j.answering.methods import MethodName
from e2g_neo4j.cli.files import check_file, write_file
from e2g_neo4j.cli.options import METHOD_NAMES, LlmWhereUsed, Overwrite, Where, choose_corpus, modes_named
from e2g_neo4j.cli.terminal import draw, escape, new_table, out
from e2g_neo4j.cli.waiting import progress as show_progress
from e2g_neo4j.client import E2G
from e2g_neo4j.errors import WORSE
from e2g_neo4j.evaluation import Evaluation, evaluate, read_questions
from e2g_neo4j.evaluation.gold import HistoryKind
from e2g_neo4j.evaluation.judging import Judging
from e2g_neo4j.evaluation.results import Change, Interval, changes_since, read_scores
from e2g_neo4j.evaluation.tables import Cell, describe, evaluation_page, tables_of
from e2g_neo4j.retrieval.options import Unit

BASE = "dense"
"""The default mode to compare with."""

LISTED = 20
"""Questions that are listed for a score that has changed."""


def evaluate_command(
    questions: Annotated[
        Path,
        typer.Argument(
            help="Questions with gold passages, evidence or answers, in JSON Lines.", metavar="QUESTIONS.jsonl"
        ),
    ],
    corpus: Annotated[
        str | None,
        typer.Option(
            "--corpus",
            "-c",
            help="The corpus to search. {book} is replaced with the question's book. (default: `default`, or the only "
            "one)",
            show_default=False,
        ),
    ] = None,
    modes: Annotated[str, typer.Option("--modes", help="Modes to compare, separated by commas, or `all`.")] = "all",
    methods: Annotated[
        str,
        typer.Option(
            "--methods",
            help="Methods of `e2g ask` whose answers are scored too: "
            f"{', '.join(name for name in METHOD_NAMES if name != 'direct')}.",
        ),
    ] = "",
    against: Annotated[
        str | None, typer.Option("--against", help="The mode to compare the others with. (default: dense)")
    ] = None,
    k: Annotated[int, typer.Option("-k", help="Number of chunks per question.")] = 25,
    unit: Annotated[
        Unit | None,
        typer.Option("--unit", help="What to rank: window or chunk. (default: that of each mode)"),
    ] = None,
    answers: Annotated[
        bool, typer.Option("--answers", help="Also answer the questions with the chat model, and score the answers.")
    ] = False,
    judge: Annotated[
        Judging | None,
        typer.Option(
            "--judge",
            help="Also have E2G_JUDGE_MODEL compare the answers with those of --against: by wins (graphrag), or by "
            "ratings, with a check of citations (race).",
        ),
    ] = None,
    llm: LlmWhereUsed = False,
    where: Where = None,
    history: Annotated[
        HistoryKind,
        typer.Option(
            "--history",
            help="Ask with the whole history of a question, its earlier questions, none, or the question written out.",
        ),
    ] = "full",
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Use only the first N questions.")] = None,
    before: Annotated[
        Path | None,
        typer.Option(
            "--before",
            help="Results that --json wrote before: print what each question has gained or lost. Exit code "
            f"{WORSE} if the mean of a score has fallen.",
        ),
    ] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write all results to this JSON file.")] = None,
    html_file: Annotated[
        Path | None, typer.Option("--html", help="Write an HTML page with the tables to this file.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Measure how well each mode finds the gold of a question file.

    Only `--answers`, `--judge` and `--llm` use chat models.
    """
    selected = modes_named(modes)
    base = against or (BASE if BASE in selected else None)
    for file, option in ((json_file, "--json"), (html_file, "--html")):
        if file is not None:
            check_file(file, option, overwrite=overwrite)
    scores_before = read_scores(before) if before else None
    gold_questions = [one.apply_history(history) for one in read_questions(questions, without_gold=bool(judge))[:limit]]
    with E2G() as e2g, show_progress(quiet=False) as progress:
        found = evaluate(
            e2g,
            gold_questions,
            corpus=choose_corpus(e2g, corpus),
            modes=selected,
            methods=[cast(MethodName, one.strip().replace("-", "_")) for one in methods.split(",") if one.strip()],
            against=base,
            k=k,
            unit=unit,
            answers=answers,
            judged=judge,
            llm=llm,
            where=where or (),
            progress=progress,
        )
    try:
        if json_file is not None:
            write_file(
                json_file, json.dumps(asdict(found), ensure_ascii=False, indent=1) + "\n", "--json", overwrite=overwrite
            )
        if html_file is not None:
            write_file(html_file, evaluation_page(found), "--html", overwrite=overwrite)
    finally:  # the evaluation may have taken hours
        print_tables(out, found)
    if scores_before is not None:
        changes = changes_since(found, scores_before)
        print_changes(out, changes)
        if any(one.is_worse for one in changes):
            raise typer.Exit(WORSE)


def print_tables(out: Console, found: Evaluation) -> None:
    out.print(f"[bold]{escape(found.corpus)}[/bold]: {describe(found)}")
    for table in tables_of(found):
        if table.rows:
            out.print(f"\n[bold]{escape(table.title)}[/bold]. {escape(table.note)}\n")
            drawn, previous = _table(list(table.columns[: table.names]), list(table.columns[table.names :])), None
            for name, *cells in table.rows:
                again = table.names > 1 and name == previous
                if previous is not None and table.names > 1 and not again:
                    drawn.add_section()
                drawn.add_row(*(_cell(one, signed=table.signed) for one in ("" if again else name, *cells)))
                previous = name
            draw(out, drawn)
    for mode, reason in found.failed.items():
        out.print(f"Left out: {mode}. {escape(reason)}")


def print_changes(out: Console, changes: Sequence[Change]) -> None:
    """Print how scores have changed, and the questions that have lost most."""
    out.print("\nChanges since the saved results; bold if the interval excludes 0.\n")
    table = _table(["mode", "score"], ["n", "change", "gained", "lost"])
    for one in changes:
        counts = (str(len(one.gained)), str(len(one.lost)))
        table.add_row(one.mode, one.score, str(one.difference.questions), _cell(one.difference, signed=True), *counts)
    draw(out, table)
    for one in changes:
        for word, questions in (("lost", one.lost), ("gained", one.gained)):
            if questions:
                ordered = sorted(questions, key=lambda id: (-abs(questions[id]), id))
                listed = ", ".join(f"{escape(id)} {questions[id]:+.3f}" for id in ordered[:LISTED])
                more = f" and {len(ordered) - LISTED} more" if len(ordered) > LISTED else ""
                out.print(f"{one.mode} {one.score} {word}: {listed}{more}")


def _table(left: list[str], right: list[str]) -> Table:
    columns = [*left, *(column.replace(" ", "\n") for column in right)]
    return new_table(columns, [False] * len(left) + [True] * len(right))


def _cell(value: Cell, *, signed: bool = False) -> str:
    """Format a text, or a mean and, below it, its interval."""
    if not isinstance(value, Interval):
        return "" if value is None else escape(str(value))
    sign = "+" if signed else ""
    mean = f"{value.mean:{sign}.3f}"
    if signed and (value.low > 0 or value.high < 0):
        mean = f"[bold]{mean}[/bold]"
    return f"{mean}\n[dim]{value.low:{sign}.2f}…{value.high:{sign}.2f}[/dim]"
