"""The commands for existing graphs: link, adopt, doctor."""

from __future__ import annotations

from typing import Annotated

import typer

from e2g_neo4j.cli import show
from e2g_neo4j.cli.options import Budget, Corpus, ExistingCorpus, Json, Yes, choose_corpus
from e2g_neo4j.cli.terminal import escape, out, print_json, print_result
from e2g_neo4j.cli.waiting import progress as show_progress
from e2g_neo4j.client import E2G
from e2g_neo4j.errors import QueryError
from e2g_neo4j.graph.schema import ALL_PARTS


def link(
    label: Annotated[
        list[str], typer.Option("--label", help="Label of the nodes to link. Repeat for several.", show_default=False)
    ],
    name: Annotated[str, typer.Option("--name", help="Property with the name of a node.")] = "name",
    aliases: Annotated[
        str | None, typer.Option("--aliases", help="Property with other names of a node.", show_default=False)
    ] = None,
    type: Annotated[
        str | None, typer.Option("--type", help="Link only entities of this type, such as person.", show_default=False)
    ] = None,
    corpus: ExistingCorpus = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would be linked.")] = False,
    as_json: Json = False,
) -> None:
    """Link the entities of a corpus to existing nodes of your graph."""
    with E2G() as e2g:
        report = e2g.link(
            corpus=choose_corpus(e2g, corpus), label=label, name=name, aliases=aliases, type=type, dry_run=dry_run
        )
    print_result(report, show.links, as_json=as_json)


def unlink(
    corpus: Annotated[str | None, typer.Option("--corpus", "-c", help="The corpus to unlink.")] = None,
    label: Annotated[str | None, typer.Option("--label", help="Remove only links to nodes with this label.")] = None,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Remove the links that `link` created."""
    if corpus is None:
        raise QueryError("No corpus is named: run `e2g unlink --corpus NAME`.")
    with E2G() as e2g:
        if not yes and (links := e2g.links(corpus=corpus, label=label)):
            typer.confirm(show.to_be_unlinked(links, corpus), abort=True, err=True)
        removed = e2g.unlink(corpus=corpus, label=label)
    if as_json:
        print_json({"corpus": corpus, "label": label, "removed": removed})
    else:
        out.print(f"Removed {removed} links of the corpus {escape(corpus)}.")


def adopt(
    label: Annotated[str, typer.Option("--label", help="Label of the text nodes.", show_default=False)],
    text: Annotated[str, typer.Option("--text", help="Property with the text, or several: title,plot.")] = "text",
    key: Annotated[str, typer.Option("--key", help="Property that identifies a text node.")] = "id",
    order: Annotated[
        str | None,
        typer.Option("--order", help="Property that sorts the text nodes of a document. (default: the key)"),
    ] = None,
    document: Annotated[str | None, typer.Option("--document", help="Property that names the document.")] = None,
    part_of: Annotated[
        str | None, typer.Option("--part-of", help="Or: type of the relationship to the document's node.")
    ] = None,
    properties: Annotated[
        str,
        typer.Option(
            "--properties",
            help="Properties that the documents take over, to filter by them, such as author,year.",
        ),
    ] = "",
    corpus: Corpus = "default",
    budget_tokens: Budget = None,
    as_json: Json = False,
) -> None:
    """Index existing text nodes of your graph in place, as a corpus."""
    with E2G() as e2g, show_progress(quiet=as_json) as progress:
        report = e2g.adopt(
            corpus=corpus,
            label=label,
            text=text,
            key=key,
            order=order,
            document=document,
            part_of=part_of,
            properties=[name.strip() for name in properties.split(",") if name.strip()],
            progress=progress,
            budget_tokens=budget_tokens,
        )
    print_result(report, show.adopted, as_json=as_json)


def unadopt(
    corpus: Annotated[str | None, typer.Option("--corpus", "-c", help="The corpus to remove.")] = None,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Remove an adopted corpus. The text nodes are not changed."""
    if corpus is None:
        raise QueryError("No corpus is named: run `e2g unadopt --corpus NAME`.")
    with E2G() as e2g:
        if not yes:
            typer.confirm(show.to_be_unadopted(e2g.documents(corpus), corpus), abort=True, err=True)
        removed = e2g.unadopt(corpus=corpus)
    if as_json:
        print_json(removed)
    else:
        out.print(f"Removed the corpus {escape(corpus)} with {len(removed)} documents. The text nodes are unchanged.")


def doctor(
    migrate: Annotated[
        bool,
        typer.Option(
            "--migrate", help="Instead, apply pending migrations, and create what layers and the service need."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Check the database for problems, without changing it. Exit code 1 if there is a problem."""
    with E2G() as e2g:
        if migrate:
            print_result(e2g.migrate(ALL_PARTS), show.migrations, as_json=as_json)
            return
        findings = e2g.doctor()
    print_result(findings, show.findings, as_json=as_json)
    raise typer.Exit(int(any(one.state == "problem" for one in findings)))
