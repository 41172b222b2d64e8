"""The commands that run statements: cypher, template, templates."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from e2g_neo4j.cli.json_output import print_json
from e2g_neo4j.cli.options import ExistingCorpus, Json, Question, choose_corpus, out
from e2g_neo4j.cli.terminal import escape
from e2g_neo4j.client import E2G
from e2g_neo4j.errors import InputError
from e2g_neo4j.retrieval.templates import CORPUS
from e2g_neo4j.retrieval.templates import templates as all_templates
from e2g_neo4j.settings import load_settings
from e2g_neo4j.types.statements import StatementResult

EXCERPT = 120
"""Characters of a value that are shown in a table."""


def cypher(question: Question, corpus: ExistingCorpus = None, as_json: Json = False) -> None:
    """Let the chat model write a Cypher statement, and run it. Needs E2G_TEXT_TO_CYPHER=true."""
    with E2G() as e2g:
        result = e2g.text_to_cypher(question, corpus=choose_corpus(e2g, corpus))
    if as_json:
        print_json(as_object(result))
        return
    out.print(escape(result.statement))
    _show(result)
    _show_usage(result)


def template(
    name: Annotated[str, typer.Argument(help="The name of the template.", show_default=False)],
    values: Annotated[list[str] | None, typer.Argument(metavar="KEY=VALUE…", help="Its parameters.")] = None,
    question: Annotated[
        str | None, typer.Option("--question", help="Let the chat model take the other parameters from a question.")
    ] = None,
    corpus: ExistingCorpus = None,
    as_json: Json = False,
) -> None:
    """Run a Cypher template. `e2g templates` lists them."""
    parameters: dict[str, str] = {}
    for one in values or []:
        key, separator, value = one.partition("=")
        if not separator or key in parameters:
            raise InputError(f"{one!r} is not a new parameter: write KEY=VALUE, once for each parameter.")
        parameters[key] = value
    with E2G() as e2g:
        result = e2g.run_template(name, parameters, corpus=choose_corpus(e2g, corpus), question=question)
    if as_json:
        print_json(as_object(result))
        return
    if question is not None:
        used = (f"{key}={value}" for key, value in result.parameters.items() if key != CORPUS)
        out.print(escape(f"Parameters: {', '.join(used)}"))
    _show(result)
    if result.calls:
        _show_usage(result)


def templates(as_json: Json = False) -> None:
    """List the Cypher templates with their parameters."""
    found = all_templates(load_settings())
    if as_json:
        print_json({"templates": [{**asdict(one), "path": str(one.path)} for one in found]})
        return
    for one in found:
        out.print(escape(f"{one.name}{'' if one.bundled else f' ({one.path})'}"))
        out.print(escape(f"  {one.description}"))
        for parameter in one.parameters:
            out.print(escape(f"  {parameter.name}: {parameter.type} - {parameter.description}"))


def as_object(result: StatementResult) -> dict[str, object]:
    """Convert the result of a statement to JSON types."""
    return {
        **asdict(result),
        "parameters": dict(result.parameters),
        "columns": list(result.columns),
        "rows": [dict(row) for row in result.rows],
    }


def _show(result: StatementResult) -> None:
    table = Table(*map(escape, result.columns))
    for row in result.rows:
        table.add_row(*(escape(_excerpt(row[name])) for name in result.columns))
    out.print(table)
    rows = f"{len(result.rows)} {'row' if len(result.rows) == 1 else 'rows'}"
    out.print(f"The first {rows}; there are more." if result.more else f"{rows}.")


def _show_usage(result: StatementResult) -> None:
    tokens = f"{result.prompt_tokens} tokens of prompts and {result.completion_tokens} of replies"
    out.print(f"{result.calls} {'call' if result.calls == 1 else 'calls'} of the chat model, {tokens}.")


def _excerpt(value: object) -> str:
    text = " ".join(str("" if value is None else value).split())
    return text if len(text) <= EXCERPT else f"{text[: EXCERPT - 1]}…"
