"""The commands that run statements: cypher, template."""

from __future__ import annotations

from itertools import takewhile
from typing import Annotated

import typer

from e2g_neo4j.cli.options import ExistingCorpus, Json, choose_corpus
from e2g_neo4j.cli.terminal import escape, out, plural, print_json, table
from e2g_neo4j.client import E2G
from e2g_neo4j.errors import InputError, did_you_mean
from e2g_neo4j.retrieval.templates import templates as all_templates
from e2g_neo4j.runtime.cypher import Variant, header, load, statement_names
from e2g_neo4j.settings import load_settings
from e2g_neo4j.types.statements import StatementResult

EXCERPT = 120
"""Characters of a value that are shown in a table."""


def cypher(
    question: Annotated[str | None, typer.Argument(help="The question, in quotes.", show_default=False)] = None,
    corpus: ExistingCorpus = None,
    show: Annotated[
        str | None, typer.Option("--show", help="Print a statement of ours, to paste into Browser.")
    ] = None,
    filtered: Annotated[bool, typer.Option("--filtered", help="Print it as questions with --where run it.")] = False,
    lts: Annotated[bool, typer.Option("--lts", help="Print it as Neo4j 5.26 gets it.")] = False,
    as_json: Json = False,
) -> None:
    """Let the chat model write a Cypher statement, and run it. Needs E2G_TEXT_TO_CYPHER=true.

    Without a question: list our own statements, or print one.
    """
    if question is None:
        _show_own(show, Variant.FILTERED if filtered else Variant.LTS if lts else Variant.SEARCH, as_json)
        return
    if show is not None or filtered or lts:
        raise InputError("--show, --filtered and --lts print a statement of ours: leave out the question.")
    with E2G() as e2g:
        result = e2g.text_to_cypher(question, corpus=choose_corpus(e2g, corpus))
    if as_json:
        print_json(result)
        return
    out.print(escape(result.statement))
    _show(result)
    tokens = f"{result.prompt_tokens} tokens of prompts and {result.completion_tokens} of replies"
    out.print(f"{result.calls} {'call' if result.calls == 1 else 'calls'} of the chat model, {tokens}.")


def template(
    name: Annotated[str | None, typer.Argument(help="The template. (default: list all)", show_default=False)] = None,
    values: Annotated[list[str] | None, typer.Argument(metavar="KEY=VALUE…", help="Its parameters.")] = None,
    corpus: ExistingCorpus = None,
    as_json: Json = False,
) -> None:
    """Run a Cypher template, or list them with their parameters."""
    if name is None:
        _show_templates(as_json=as_json)
        return
    parameters: dict[str, str] = {}
    for one in values or []:
        key, separator, value = one.partition("=")
        if not separator or key in parameters:
            raise InputError(f"{one!r} is not a new parameter: write KEY=VALUE, once for each parameter.")
        parameters[key] = value
    with E2G() as e2g:
        result = e2g.run_template(name, parameters, corpus=choose_corpus(e2g, corpus))
    if as_json:
        print_json(result)
        return
    _show(result)


def _show_templates(*, as_json: bool) -> None:
    found = all_templates(load_settings())
    if as_json:
        print_json({"templates": found})
        return
    for one in found:
        out.print(escape(f"{one.name}{'' if one.bundled else f' ({one.path})'}"))
        out.print(escape(f"  {one.description}"))
        for parameter in one.parameters:
            out.print(escape(f"  {parameter.name}: {parameter.type} - {parameter.description}"))


def _show_own(name: str | None, variant: Variant, as_json: bool) -> None:
    """List the statements in `cypher/`, or print one with its header."""
    names = statement_names()
    if name is None:
        purposes = {one: _purpose(one) for one in names}
        if as_json:
            print_json({"statements": [{"name": one, "purpose": purpose} for one, purpose in purposes.items()]})
            return
        for one, purpose in purposes.items():
            out.print(escape(f"{one}: {purpose}"))
        return
    if name not in names:
        raise InputError(f"There is no statement {name!r}.{did_you_mean(name, names)} `e2g cypher` lists them.")
    if as_json:
        print_json({"name": name, "header": header(name), "statement": load(name, variant)})
    else:
        out.print(escape(f"{header(name)}\n{load(name, variant)}"))


def _purpose(name: str) -> str:
    """Return the first sentence of a statement's header."""
    lines = (line.removeprefix("//").strip() for line in header(name).splitlines())
    text = " ".join(takewhile(lambda line: not line.startswith(("$", "→")), lines))
    return text.split(". ")[0].rstrip(".") + "."


def _show(result: StatementResult) -> None:
    table(out, result.columns, [[_excerpt(row[name]) for name in result.columns] for row in result.rows])
    rows = plural(len(result.rows), "row")
    out.print(f"The first {rows}; there are more." if result.more else f"{rows}.")


def _excerpt(value: object) -> str:
    text = " ".join(str("" if value is None else value).split())
    return text if len(text) <= EXCERPT else f"{text[: EXCERPT - 1]}…"
