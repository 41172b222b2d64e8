"""The commands."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from e2g_neo4j.archive import Format
from e2g_neo4j.cli import show
from e2g_neo4j.cli.db import app as db_app
from e2g_neo4j.cli.evaluate import evaluate_command
from e2g_neo4j.cli.explore import draw, serve_guide, show_in_browser
from e2g_neo4j.cli.migrations import app as migrate_app
from e2g_neo4j.cli.terminal import escape
from e2g_neo4j.client import E2G
from e2g_neo4j.errors import QueryError, ReadingError
from e2g_neo4j.explore.guide import PORT
from e2g_neo4j.model import Answer, Evidence
from e2g_neo4j.retrieval import DEFAULT_MODE, Mode
from e2g_neo4j.settings import load_settings
from e2g_neo4j.stories import chosen

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="E²GraphRAG in Neo4j: index documents, ask them, see why. `--debug` adds the trace to an error.",
)
app.add_typer(db_app, name="db")
app.add_typer(migrate_app, name="migrate")

Corpus = Annotated[str, typer.Option("--corpus", "-c", help="The corpus: what you index and ask together.")]
Corpora = Annotated[
    list[str], typer.Option("--corpus", "-c", help="The corpus to ask; several: give the option several times.")
]
ASKED = ["default"]
Question = Annotated[str, typer.Argument(help="The question, in quotes.")]
K = Annotated[int | None, typer.Option("-k", help="Chunks wanted.  [default: E2G_TOP_K or 10]")]
Hops = Annotated[
    int | None, typer.Option("--hops", help="Longest path between two entities, in edges.  [default: E2G_HOPS or 3]")
]
ModeOption = Annotated[Mode, typer.Option("--mode", help="How to retrieve.")]
Through = Annotated[
    str,
    typer.Option(
        "--through", help="Types of relationships of a linked graph, such as ACTED_IN,DIRECTED: its facts too."
    ),
]
Budget = Annotated[
    int | None, typer.Option("--budget-tokens", min=1, help="Stop before the chat model costs more tokens.")
]
NoOpen = Annotated[bool, typer.Option("--no-open", help="Print the address only.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]

out = Console(highlight=False, soft_wrap=True)


@app.command()
def index(
    paths: Annotated[list[str], typer.Argument(help="Files, folders or globs.", show_default=False)],
    corpus: Corpus = "default",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done and what it costs.")] = False,
    budget_tokens: Budget = None,
    as_json: Json = False,
) -> None:
    """Index documents: text, Markdown, HTML, PDF, DOCX, EPUB."""
    if dry_run:
        with E2G() as e2g:
            plan = e2g.plan(paths, corpus=corpus)
        if as_json:
            _print_json(asdict(plan))
        else:
            show.plan(out, plan)
        return
    with E2G() as e2g, show.progress(quiet=as_json) as progress:
        report = e2g.index(paths, corpus=corpus, progress=progress, budget_tokens=budget_tokens)
    if as_json:
        _print_json({**asdict(report), "tokens_per_second": report.tokens_per_second})
    else:
        show.report(out, report)


@app.command()
def query(
    question: Question,
    corpora: Corpora = ASKED,
    k: K = None,
    hops: Hops = None,
    mode: ModeOption = DEFAULT_MODE,
    through: Through = "",
    as_json: Json = False,
    full: Annotated[bool, typer.Option("--full", help="Print passages whole, not their beginnings.")] = False,
) -> None:
    """Find the evidence for a question, with the route it took and why."""
    with E2G() as e2g:
        evidence = e2g.retrieve(question, corpora=corpora, k=k, hops=hops, mode=mode, through=_types(through))
    if as_json:
        _print_json(as_object(evidence))
    else:
        show.evidence(out, evidence, full=full)


@app.command()
def ask(
    question: Question,
    corpora: Corpora = ASKED,
    k: K = None,
    hops: Hops = None,
    mode: ModeOption = DEFAULT_MODE,
    options: Annotated[
        list[str] | None, typer.Option("--option", help="An option to choose from; give several for a letter.")
    ] = None,
    through: Through = "",
    as_json: Json = False,
) -> None:
    """Answer a question with the configured chat model; without one, show the evidence."""
    with E2G() as e2g:
        if options or as_json:
            answer = e2g.answer(
                question,
                corpora=corpora,
                k=k,
                hops=hops,
                mode=mode,
                options=options or (),
                through=_types(through),
            )
        else:
            for piece in e2g.stream(question, corpora=corpora, k=k, hops=hops, mode=mode, through=_types(through)):
                if isinstance(piece, Answer):
                    answer = piece
                else:
                    out.print(escape(piece), end="")
    if as_json:
        _print_json(as_answer(answer))
    else:
        show.answer(out, answer)


@app.command()
def explain(
    question: Question,
    corpora: Corpora = ASKED,
    k: K = None,
    hops: Hops = None,
    mode: ModeOption = DEFAULT_MODE,
    browser: Annotated[bool, typer.Option("--browser", help="Show the evidence in Neo4j Browser.")] = False,
    no_open: NoOpen = False,
) -> None:
    """Show the whole decision behind the evidence, with Cypher for Neo4j Browser."""
    with E2G() as e2g:
        evidence = e2g.retrieve(question, corpora=corpora, k=k, hops=hops, mode=mode)
    if browser:
        show_in_browser(out, evidence, load_settings(), no_open=no_open)
    else:
        show.explanation(out, evidence)


@app.command()
def viz(
    question: Question,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.", show_default=False)],
    corpora: Corpora = ASKED,
    k: K = None,
    hops: Hops = None,
    mode: ModeOption = DEFAULT_MODE,
) -> None:
    """Draw the evidence for a question in a page of its own."""
    draw(out, question, output, corpora=corpora, k=k, hops=hops, mode=mode)


@app.command()
def guide(
    corpus: Corpus = "default",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Where to serve it; 0: any that is free.")
    ] = PORT,
    no_open: NoOpen = False,
) -> None:
    """Serve a guide to the graph for Neo4j Browser, until Ctrl-C."""
    serve_guide(out, corpus, port, no_open=no_open)


@app.command()
def corpora(as_json: Json = False) -> None:
    """List the corpora."""
    with E2G() as e2g:
        found = e2g.corpora()
    if as_json:
        _print_json(found)
    else:
        show.table(out, ["corpus", "documents"], [[name, number] for name, number in found.items()], "No corpus yet.")


@app.command()
def documents(corpus: Corpus = "default", as_json: Json = False) -> None:
    """List the documents of a corpus."""
    with E2G() as e2g:
        found = e2g.documents(corpus)
    if as_json:
        _print_json([asdict(document) for document in found])
    else:
        columns = ["title", "state", "chunks", "tokens", "source"]
        show.table(out, columns, [[asdict(document)[column] for column in columns] for document in found], "")


@app.command()
def entities(
    query: Annotated[str, typer.Argument(help="A part of their name.", show_default=False)] = "",
    corpus: Corpus = "default",
    merges: Annotated[bool, typer.Option("--merges", help="List which names were joined, where and why.")] = False,
    split: Annotated[
        str | None, typer.Option("--split", help="Keep this name apart from what it was joined to.", metavar="NAME")
    ] = None,
    join: Annotated[str | None, typer.Option("--join", help="Undo --split.", metavar="NAME")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many to list.")] = 50,
    as_json: Json = False,
) -> None:
    """List entities, or which names were joined; keep names apart, or join them again."""
    with E2G() as e2g:
        if split or join:
            found = e2g.split(split, corpus=corpus) if split else e2g.join(join or "", corpus=corpus)
        elif merges:
            found = e2g.merges(query, corpus=corpus)
        else:
            listed = e2g.entities(query, corpus=corpus, limit=limit)
            if as_json:
                _print_json([asdict(one) for one in listed])
            else:
                show.entities(out, listed)
            return
    if as_json:
        _print_json([asdict(one) for one in found])
    elif split:
        show.parted(out, split, found)
    else:
        show.merges(out, found)


@app.command()
def status(
    corpus: Annotated[str | None, typer.Option("--corpus", "-c", help="One corpus.  [default: all]")] = None,
    as_json: Json = False,
) -> None:
    """List documents with their state: pending, indexing, ready, failed and why."""
    with E2G() as e2g:
        found = e2g.status(corpus)
    if as_json:
        _print_json({name: [asdict(document) for document in listed] for name, listed in found.items()})
    else:
        show.status(out, found)


@app.command()
def resume(corpus: Corpus = "default", budget_tokens: Budget = None, as_json: Json = False) -> None:
    """Index again what is not ready: what was interrupted, or failed."""
    with E2G() as e2g, show.progress(quiet=as_json) as progress:
        report = e2g.resume(corpus=corpus, progress=progress, budget_tokens=budget_tokens)
    if as_json:
        _print_json({**asdict(report), "tokens_per_second": report.tokens_per_second})
    else:
        show.report(out, report)
    if report.failed:
        raise typer.Exit(ReadingError.exit_code)


@app.command()
def delete(
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            help="Ids or titles of documents, their files, or folders of them.  [default: the whole corpus]",
            metavar="DOCUMENT_OR_PATH…",
            show_default=False,
        ),
    ] = None,
    corpus: Annotated[str | None, typer.Option("--corpus", "-c", help="The corpus to delete from.")] = None,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Delete documents, or a whole corpus, with all that they alone contributed."""
    if corpus is None:
        raise QueryError("Name the corpus to delete from: `e2g delete --corpus NAME`, or documents of it before that.")
    with E2G() as e2g:
        if not yes:
            going = chosen(targets, e2g.documents(corpus), corpus) if targets else e2g.documents(corpus)
            typer.confirm(show.to_be_deleted(going, None if targets else corpus), abort=True, err=True)
        deleted = e2g.delete(targets or None, corpus=corpus)
    if as_json:
        _print_json([asdict(document) for document in deleted])
    else:
        show.deleted(out, deleted, corpus)


@app.command()
def link(
    label: Annotated[str, typer.Option("--label", help="The label of the nodes to join.", show_default=False)],
    name: Annotated[str, typer.Option("--name", help="Their property with the name.")] = "name",
    aliases: Annotated[
        str | None, typer.Option("--aliases", help="Their property with other names.", show_default=False)
    ] = None,
    corpus: Corpus = "default",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be joined.")] = False,
    as_json: Json = False,
) -> None:
    """Join the entities of a corpus to nodes that are in the database already."""
    with E2G() as e2g:
        report = e2g.link(corpus=corpus, label=label, name=name, aliases=aliases, dry_run=dry_run)
    if as_json:
        _print_json(asdict(report))
    else:
        show.links(out, report)


@app.command()
def unlink(
    corpus: Annotated[str | None, typer.Option("--corpus", "-c", help="The corpus to part.")] = None,
    label: Annotated[str | None, typer.Option("--label", help="Only from nodes with this label.")] = None,
    as_json: Json = False,
) -> None:
    """Remove what `link` wrote."""
    if corpus is None:
        raise QueryError("Name the corpus to part: `e2g unlink --corpus NAME`.")
    with E2G() as e2g:
        removed = e2g.unlink(corpus=corpus, label=label)
    if as_json:
        _print_json({"corpus": corpus, "label": label, "removed": removed})
    else:
        out.print(f"Removed {removed} links of the corpus {escape(corpus)}.")


@app.command()
def adopt(
    label: Annotated[str, typer.Option("--label", help="The label of the text nodes.", show_default=False)],
    text: Annotated[str, typer.Option("--text", help="Their property with the text.")] = "text",
    key: Annotated[str, typer.Option("--key", help="Their property that identifies them.")] = "id",
    order: Annotated[
        str | None, typer.Option("--order", help="Their property that sorts those of a document.  [default: the key]")
    ] = None,
    document: Annotated[
        str | None, typer.Option("--document", help="Their property that says of which document they are.")
    ] = None,
    part_of: Annotated[
        str | None, typer.Option("--part-of", help="Or the type of the relationship to their document.")
    ] = None,
    corpus: Corpus = "default",
    budget_tokens: Budget = None,
    as_json: Json = False,
) -> None:
    """Make a corpus of text nodes that are in the database already, in place."""
    with E2G() as e2g, show.progress(quiet=as_json) as progress:
        report = e2g.adopt(
            corpus=corpus,
            label=label,
            text=text,
            key=key,
            order=order,
            document=document,
            part_of=part_of,
            progress=progress,
            budget_tokens=budget_tokens,
        )
    if as_json:
        _print_json(asdict(report))
    else:
        show.adopted(out, report)


@app.command()
def unadopt(
    corpus: Annotated[str | None, typer.Option("--corpus", "-c", help="The corpus to remove.")] = None,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Remove what `adopt` wrote; the text nodes stay as they are."""
    if corpus is None:
        raise QueryError("Name the corpus to remove: `e2g unadopt --corpus NAME`.")
    with E2G() as e2g:
        if not yes:
            typer.confirm(show.to_be_unadopted(e2g.documents(corpus), corpus), abort=True, err=True)
        gone = e2g.unadopt(corpus=corpus)
    if as_json:
        _print_json([asdict(document) for document in gone])
    else:
        out.print(f"Removed the corpus {escape(corpus)}, of {len(gone)} documents. The text nodes are as they were.")


@app.command()
def doctor(as_json: Json = False) -> None:
    """Look at the database without changing it: is it fit, and what is in the way. Exit code 1 for a problem."""
    with E2G() as e2g:
        findings = e2g.doctor()
    if as_json:
        _print_json([asdict(one) for one in findings])
    else:
        show.findings(out, findings)
    raise typer.Exit(int(any(one.state == "problem" for one in findings)))


@app.command()
def stats(
    corpus: Annotated[str | None, typer.Option("--corpus", "-c", help="One corpus.  [default: all]")] = None,
    as_json: Json = False,
) -> None:
    """Count what a corpus holds."""
    with E2G() as e2g:
        found = {name: e2g.stats(name) for name in ([corpus] if corpus else e2g.corpora())}
    if as_json:
        _print_json({"corpus": corpus, **found[corpus]} if corpus else found)
        return
    columns = list(next(iter(found.values()), {}))
    show.table(
        out,
        ["", *found],
        [[column, *(each[column] for each in found.values())] for column in columns],
        "No corpus yet.",
    )


@app.command("export")
def export_command(
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.", show_default=False)],
    corpus: Corpus = "default",
    format: Annotated[
        Format, typer.Option("--format", help="An archive for `e2g import`, or for other tools.")
    ] = "archive",
    as_json: Json = False,
) -> None:
    """Write a corpus to a file."""
    with E2G() as e2g:
        done = e2g.export_corpus(output, corpus=corpus, format=format)
    if as_json:
        _print_json(asdict(done))
    else:
        show.archive(out, "Exported", done)


@app.command("import")
def import_command(
    file: Annotated[Path, typer.Argument(help="What `e2g export` wrote.", show_default=False)],
    corpus: Annotated[
        str | None, typer.Option("--corpus", "-c", help="Another name for the corpus.  [default: its own]")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a corpus out of an archive: all of it, or nothing."""
    with E2G() as e2g:
        done = e2g.import_corpus(file, corpus=corpus)
    if as_json:
        _print_json(asdict(done))
    else:
        show.archive(out, "Imported", done)


app.command("eval")(evaluate_command)


@app.command()
def demo() -> None:
    """Index the sample library and ask it three questions."""
    from e2g_neo4j.cli.demo import run

    run(out)


def as_answer(answer: Answer) -> dict[str, Any]:
    """The answer as `--json` prints it: what it cites, then the evidence."""
    told = asdict(replace(answer, given=(), citations=()))
    del told["evidence"], told["text"], told["given"]
    return {
        "answer": answer.text,
        **told,
        "citations": [
            {"number": one.number, **asdict(one.passage)} | ({"fact": asdict(one.fact)} if one.fact else {})
            for one in answer.citations
        ],
        **as_object(answer.evidence),
    }


def as_object(evidence: Evidence) -> dict[str, Any]:
    """The evidence as `--json` prints it; offsets count characters of the source's text."""
    return {
        "question": evidence.question,
        "corpora": list(evidence.corpora),
        "mode": evidence.mode,
        "route": evidence.route,
        "reason": evidence.reason,
        "entities": list(evidence.entities),
        "unknown_entities": list(evidence.unknown_entities),
        "pairs": [asdict(pair) for pair in evidence.pairs],
        "hops": evidence.hops,
        "trace": [asdict(entry) for entry in evidence.trace],
        "round_trips": evidence.round_trips,
        "passages": [
            {**asdict(passage), "pairs": [asdict(pair) for pair in passage.pairs]} for passage in evidence.passages
        ],
        "facts": [{**asdict(fact), "properties": dict(fact.properties)} for fact in evidence.facts],
    }


def _types(through: str) -> list[str]:
    return [one.strip() for one in through.split(",")] if through else []


def _print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=2))
