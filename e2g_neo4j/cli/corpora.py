"""The commands for corpora: index, list, delete, export and import; and for existing graphs: link, adopt, doctor."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from e2g_neo4j.cli import show
from e2g_neo4j.cli.files import choose_sources
from e2g_neo4j.cli.options import Budget, Corpus, ExistingCorpus, Json, Yes, choose_corpus
from e2g_neo4j.cli.terminal import escape, out, plural, print_json, print_result, table
from e2g_neo4j.cli.waiting import progress as show_progress
from e2g_neo4j.client import E2G
from e2g_neo4j.documents.files import ReadingReport
from e2g_neo4j.documents.formats import NAMES
from e2g_neo4j.errors import INCOMPLETE, InputError, QueryError
from e2g_neo4j.graph.catalog import choose_documents
from e2g_neo4j.graph.schema import ALL_PARTS
from e2g_neo4j.indexing.archive.contents import Format
from e2g_neo4j.settings import load_settings
from e2g_neo4j.types.properties import parse_property
from e2g_neo4j.types.reports import DEFAULT_LAYERS, Layer, Removable, ReportKind


def index(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            help="Files, folders, globs or web addresses; `-` for a text on standard input.", show_default=False
        ),
    ] = None,
    corpus: Corpus = "default",
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Instead of paths: the documents of the corpus that are not ready."),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would be done and its cost.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Index nothing unless everything can be read.")] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Delete the documents whose files are gone from the folders.")
    ] = False,
    fetch: Annotated[bool, typer.Option("--fetch", help="Download the web addresses among the paths.")] = False,
    whole_page: Annotated[
        bool, typer.Option("--whole-page", help="Read all of a web page, also menus and the like.")
    ] = False,
    ocr: Annotated[bool, typer.Option("--ocr", help="Recognise the text of scanned PDFs, with ocrmypdf.")] = False,
    title: Annotated[str | None, typer.Option("--title", help="The title of the document, if it is one.")] = None,
    source: Annotated[
        str | None,
        typer.Option("--source", help="With `-`: what identifies the text in the corpus. (default: stdin)"),
    ] = None,
    budget_tokens: Budget = None,
    properties: Annotated[
        list[str] | None,
        typer.Option("--property", metavar="NAME=VALUE", help="A property of all these documents. May be repeated."),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option("--language", metavar="CODE", help="Language of a new corpus, such as de. (default: detected)"),
    ] = None,
    as_json: Json = False,
) -> None:
    if bool(paths) == resume:
        raise InputError("Pass what to index, or --resume for the documents of the corpus that are not ready.")
    if resume and any((dry_run, strict, prune, fetch, title, source, properties, language)):
        raise InputError(
            "--resume reads the documents as before: pass it with --corpus, --budget-tokens and --json only."
        )
    given = dict(map(parse_property, properties)) if properties else None
    unread: dict[str, str] = {}
    asked = {name: True for name, wanted in (("whole_page", whole_page), ("ocr", ocr)) if wanted}
    settings = load_settings().model_copy(update=asked)
    sources = [] if resume else choose_sources(paths or [], corpus, title, source, settings, fetch=fetch, failed=unread)
    ReadingReport(unread).check(strict=strict, read=resume or bool(sources))
    with E2G(settings=settings) as e2g, show_progress(quiet=as_json or dry_run) as progress:
        how: dict[str, Any] = {"corpus": corpus, "progress": progress, "budget_tokens": budget_tokens}
        if resume:
            found = e2g.resume(**how)
        else:
            how |= {"properties": given, "language": language, "strict": strict, "prune": prune, "dry_run": dry_run}
            found = e2g.index(sources, **how)
    found.failed = unread | found.failed
    if as_json:
        print_json({**asdict(found), "tokens_per_second": found.tokens_per_second})
    else:
        show.report(out, found)
    if found.failed:
        raise typer.Exit(INCOMPLETE)


index.__doc__ = f"Index documents: {NAMES}."


def corpora(
    name: Annotated[
        str | None, typer.Argument(help="A corpus: print how much it holds, as numbers.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """List the corpora, or count the documents, chunks, entities and so on of one."""
    with E2G() as e2g:
        found = e2g.stats(name) if name else e2g.corpora()
    if as_json:
        print_json({"corpus": name, **found} if name else found)
    else:
        table(out, ["", name] if name else ["corpus", "documents"], list(found.items()), "No corpus yet.")


def documents(
    corpus: Annotated[str | None, typer.Option("--corpus", "-c", help="One corpus. (default: all)")] = None,
    not_ready: Annotated[bool, typer.Option("--not-ready", help="Only documents that are not ready.")] = False,
    as_json: Json = False,
) -> None:
    """List documents with their state (pending, indexing, ready or failed) and errors."""
    with E2G() as e2g:
        found = {name: e2g.documents(name) for name in ([corpus] if corpus else e2g.corpora())}
    if not_ready:
        found = {name: [one for one in listed if one.state != "ready"] for name, listed in found.items()}
    print_result(found, show.documents, as_json=as_json)


def references(
    document: Annotated[
        str | None, typer.Argument(help="A document: list those from it and to it.", show_default=False)
    ] = None,
    corpus: ExistingCorpus = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Maximum number of references.")] = 50,
    as_json: Json = False,
) -> None:
    """List which documents refer to which, by their titles or by hyperlinks."""
    with E2G() as e2g:
        corpus = choose_corpus(e2g, corpus)
        found = e2g.references(document, corpus=corpus, limit=limit)
    if as_json:
        print_json({"corpus": corpus, "references": found})
        return
    for one in found:
        times = f", {one.number} times" if one.number > 1 else ""
        out.print(f"{escape(one.document)} → {escape(one.target)} [dim]({one.kind}: {escape(one.text)}{times})[/dim]")
    if not found:
        out.print("No document refers to another.")


def entities(
    query: Annotated[
        str, typer.Argument(help="A part of the name, or words of the description.", show_default=False)
    ] = "",
    corpus: ExistingCorpus = None,
    card: Annotated[bool, typer.Option("--card", help="Show all about the entity with this name.")] = False,
    type: Annotated[
        str | None,
        typer.Option("--type", help="Only entities of this type: person, place, organisation, …, name or noun."),
    ] = None,
    merges: Annotated[bool, typer.Option("--merges", help="List the merged names, with document and reason.")] = False,
    merge: Annotated[
        tuple[str, str] | None,
        typer.Option("--merge", help="Merge the first name into the second. --split undoes this.", metavar="NAME NAME"),
    ] = None,
    split: Annotated[
        str | None, typer.Option("--split", help="Split this name from the entity it was merged with.", metavar="NAME")
    ] = None,
    document: Annotated[
        str | None,
        typer.Option("--document", help="With --split: only in this document, where it is somebody else's name."),
    ] = None,
    join: Annotated[
        str | None,
        typer.Option("--join", help="Undo --split or --merge: the rules decide about this name again.", metavar="NAME"),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Maximum number of entities or merged names.")] = 50,
    as_json: Json = False,
) -> None:
    """List entities or merged names, or show one of them; merge names, or split them."""
    if sum(map(bool, (card, merges, merge, split, join))) > 1:
        raise typer.BadParameter("Give only one of --card, --merges, --merge, --split and --join.")
    if document and not split:
        raise typer.BadParameter("--document belongs to --split: `--join NAME` undoes a split in all documents.")
    with E2G() as e2g:
        corpus = choose_corpus(e2g, corpus)
        if merge:
            found = e2g.merge(*merge, corpus=corpus)
        elif split:
            found = e2g.split(split, corpus=corpus, document=document)
        elif join:
            found = e2g.join(join, corpus=corpus)
        elif card:
            print_result(e2g.describe_entity(query, corpus=corpus), show.entity_card, as_json=as_json)
            return
        elif merges:
            found = e2g.merges(query, corpus=corpus, limit=limit)
        else:
            listed = e2g.entities(query, corpus=corpus, type=type, limit=limit)
            print_result(listed, show.entities, as_json=as_json)
            return
    shown = partial(show.split_name, name=split) if split and not document else show.merges
    print_result(found, shown, as_json=as_json)


def enrich(
    corpus: ExistingCorpus = None,
    layers: Annotated[
        str | None,
        typer.Option(
            "--with",
            help="What to make, separated by commas: sentences, communities, clusters, entities, descriptions, "
            f"statements, typed. (default: {','.join(DEFAULT_LAYERS)})",
            show_default=False,
        ),
    ] = None,
    typed: Annotated[
        bool, typer.Option("--typed", help="Also make the typed graph of statements, as `typed` in --with.")
    ] = False,
    graph_schema: Annotated[
        Path | None,
        typer.Option(
            "--schema",
            metavar="FILE",
            help="The types of entities and relationships, in JSON. (default: as before)",
            show_default=False,
        ),
    ] = None,
    prefix: Annotated[
        str | None,
        typer.Option(
            "--prefix",
            help="What labels and relationship types of the typed graph begin with. (default: as before)",
            show_default=False,
        ),
    ] = None,
    without: Annotated[
        Removable | None, typer.Option("--without", help="The layer to remove: typed.", show_default=False)
    ] = None,
    reports: Annotated[
        ReportKind | None,
        typer.Option(
            "--reports",
            help="Who writes the reports of communities: llm or extractive. (default: as before)",
            show_default=False,
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what the chat model would cost.")] = False,
    budget_tokens: Budget = None,
    as_json: Json = False,
) -> None:
    """Find communities of entities and clusters of chunks, embed sentences and the names of entities.

    Entities are also described, each by a sentence of the corpus. The chat model extracts statements, if they are
    named. With `--reports llm`, it writes the reports of communities. With `--typed`, statements become relationships
    between entities, whose types are their labels.

    Later changes keep all of them up to date.
    """
    named = None if layers is None else cast(list[Layer], [name.strip() for name in layers.split(",") if name.strip()])
    if typed:
        named = list(dict.fromkeys([*(DEFAULT_LAYERS if named is None else named), "typed"]))
    with E2G() as e2g, show_progress(quiet=as_json) as progress:
        report = e2g.enrich(
            corpus=choose_corpus(e2g, corpus),
            layers=named,
            progress=progress,
            budget_tokens=budget_tokens,
            reports=reports,
            graph_schema=graph_schema,
            prefix=prefix,
            without=[without] if without else [],
            dry_run=dry_run,
        )
    print_result(report, show.print_enrichment, as_json=as_json)


def reindex(
    corpus: ExistingCorpus = None,
    embedding_model: Annotated[
        str | None,
        typer.Option("--embedding-model", metavar="MODEL", help="The new model. (default: E2G_EMBEDDING_MODEL)"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Give a corpus the vectors of another embedding model. Those that it has answer meanwhile."""
    settings = load_settings()
    if embedding_model is not None:
        settings = settings.model_copy(update={"embedding_model": embedding_model})
    with E2G(settings=settings) as e2g, show_progress(quiet=as_json) as progress:
        report = e2g.reindex(corpus=choose_corpus(e2g, corpus), progress=progress)
    print_result(report, show.print_reindexing, as_json=as_json)


def delete(
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            help="Ids, titles, files or folders of documents. (default: the whole corpus)",
            metavar="DOCUMENT_OR_PATH…",
            show_default=False,
        ),
    ] = None,
    corpus: Annotated[str | None, typer.Option("--corpus", "-c", help="The corpus to delete from.")] = None,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Delete documents or a whole corpus, with all graph data that only they contributed."""
    if corpus is None:
        raise QueryError("No corpus is named: run `e2g delete [DOCUMENT…] --corpus NAME`.")
    with E2G() as e2g:
        if not yes:
            selected = choose_documents(targets, e2g.documents(corpus), corpus) if targets else e2g.documents(corpus)
            typer.confirm(show.to_be_deleted(selected, None if targets else corpus), abort=True, err=True)
        deleted = e2g.delete(targets or None, corpus=corpus)
    print_result(deleted, partial(show.print_deletion, corpus=corpus), as_json=as_json)


def export_command(
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.", show_default=False)],
    corpus: ExistingCorpus = None,
    format: Annotated[
        Format, typer.Option("--format", help="`archive` for `e2g import`; the others are for other tools.")
    ] = "archive",
    as_json: Json = False,
) -> None:
    """Export a corpus to a file."""
    with E2G() as e2g:
        done = e2g.export_corpus(output, corpus=choose_corpus(e2g, corpus), format=format)
    print_result(done, partial(show.archive, verb="Exported"), as_json=as_json)


def import_command(
    file: Annotated[Path, typer.Argument(help="An archive from `e2g export`.", show_default=False)],
    corpus: Annotated[
        str | None, typer.Option("--corpus", "-c", help="New name of the corpus. (default: the name in the archive)")
    ] = None,
    as_json: Json = False,
) -> None:
    """Import a corpus from an archive, or continue an import that was killed."""
    with E2G() as e2g:
        done = e2g.import_corpus(file, corpus=corpus)
    print_result(done, partial(show.archive, verb="Imported"), as_json=as_json)


# --- existing graphs ---------------------------------------------------------------------------------


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
    print_result(report, show.print_adoption, as_json=as_json)


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
        documents = plural(len(removed), "document")
        out.print(f"Removed the corpus {escape(corpus)} with {documents}. The text nodes are unchanged.")


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
