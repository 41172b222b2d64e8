"""`e2g compare`: the evidence of several modes for one question, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from e2g_neo4j.cli import show
from e2g_neo4j.cli.files import check_file, write_file
from e2g_neo4j.cli.json_output import print_json
from e2g_neo4j.cli.options import (
    ExistingCorpus,
    Json,
    K,
    LlmWhereUsed,
    Overwrite,
    Question,
    Tokens,
    Where,
    choose_corpus,
    modes_named,
    out,
)
from e2g_neo4j.cli.terminal import escape
from e2g_neo4j.client import E2G
from e2g_neo4j.evaluation.comparison import Comparison, ModeEvidence, compare
from e2g_neo4j.evaluation.pages import comparison_page
from e2g_neo4j.evaluation.tables import compare_tables


def compare_command(
    question: Question,
    corpus: ExistingCorpus = None,
    modes: Annotated[
        str, typer.Option("--modes", help="Modes to compare, separated by commas, or `all`.")
    ] = "auto,dense,hybrid",
    k: K = None,
    tokens: Tokens = None,
    llm: LlmWhereUsed = False,
    where: Where = None,
    html_file: Annotated[Path | None, typer.Option("--html", help="Write an HTML page to this file.")] = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Compare the evidence of several modes for one question.

    Each mode runs twice. The time is that of the second run, because the first loads models and plans statements.
    """
    selected = modes_named(modes)
    if html_file is not None:
        check_file(html_file, "--html", overwrite=overwrite)
    with E2G() as e2g:
        found = compare(
            e2g,
            " ".join(question),
            corpus=choose_corpus(e2g, corpus),
            modes=selected,
            k=k,
            tokens=tokens,
            llm=llm,
            where=where or (),
        )
    try:
        if html_file is not None:
            write_file(html_file, comparison_page(found), "--html", overwrite=overwrite)
    finally:
        if as_json:
            print_json(_as_object(found))
        else:
            _show(out, found)
    if html_file is not None and not as_json:
        out.print(f"\nWritten to {escape(str(html_file))}: open it in any web browser.")


def _show(out: Console, found: Comparison) -> None:
    modes, overlap = compare_tables(found)
    show.table(out, modes.columns, modes.rows, "")
    for mode, reason in found.failed.items():
        out.print(f"Left out: {mode}. {escape(reason)}")
    if len(found.modes) > 1:
        out.print(f"\n{overlap.note}\n")
        show.table(out, overlap.columns, overlap.rows, "")
        out.print("\nPassages marked with * have no character that another mode returns.")
    for mode, result in found.modes.items():
        out.print(f"\n[bold]{mode}[/bold]")
        if not result.evidence.passages:
            out.print("No passages.")
        for number, (passage, unique) in enumerate(zip(result.evidence.passages, result.unique, strict=True), 1):
            out.print(f"[bold cyan]\\[{number}]{'*' * unique}[/bold cyan] {escape(passage.place)}")
            out.print(f"    [dim]{escape(passage.shown.text)}[/dim]")


def _as_object(found: Comparison) -> dict[str, Any]:
    return {
        "question": found.question,
        "corpus": found.corpus,
        "modes": {mode: _mode_as_object(result) for mode, result in found.modes.items()},
        "failed": dict(found.failed),
    }


def _mode_as_object(result: ModeEvidence) -> dict[str, Any]:
    evidence = result.evidence.to_dict()
    passages = [
        {**passage, "unique": unique} for passage, unique in zip(evidence["passages"], result.unique, strict=True)
    ]
    return {
        **evidence,
        "tokens": result.tokens,
        "milliseconds": result.milliseconds,
        "overlap": dict(result.overlap),
        "passages": passages,
    }
