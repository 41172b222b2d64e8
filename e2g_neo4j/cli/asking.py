"""The commands for questions: query, ask, modes, read; and chat, a conversation, which also reads from a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Annotated, Any, Unpack

import typer

from e2g_neo4j.answering.methods import METHODS, MethodName, tell_methods
from e2g_neo4j.browser.drawing import page as draw_page
from e2g_neo4j.cli import show_evidence
from e2g_neo4j.cli.browser import show_in_browser
from e2g_neo4j.cli.files import check_file, write_file
from e2g_neo4j.cli.options import (
    METHOD_NAMES,
    Corpora,
    CorporaToCheck,
    ExistingCorpus,
    Json,
    NoOpen,
    Overwrite,
    choose_corpora,
    choose_corpus,
    modes_named,
    parse_method,
    spell_method,
    with_retrieval_options,
)
from e2g_neo4j.cli.terminal import draw, escape, new_table, out, print_json
from e2g_neo4j.cli.waiting import progress as show_progress
from e2g_neo4j.client import E2G
from e2g_neo4j.errors import InputError, ModelError, NotFoundError, QueryError
from e2g_neo4j.evaluation.comparison import Comparison, compare
from e2g_neo4j.evaluation.tables import comparison_page
from e2g_neo4j.graph.catalog import MAX_TEXT
from e2g_neo4j.retrieval.options import TURNS, RetrievalKeywords
from e2g_neo4j.retrieval.requirements import mode_info
from e2g_neo4j.retrieval.strategies import load_strategies
from e2g_neo4j.settings import load_settings
from e2g_neo4j.types.reports import DocumentText
from e2g_neo4j.types.results import Answer, Evidence, Passage, Turn

READING = " and ".join(spell_method(one.name) for one in METHODS.values() if not one.searches)
"""The methods that tell beforehand what they will read."""


@with_retrieval_options
def query(
    question: str,
    corpora: Corpora = None,
    as_json: Json = False,
    full: Annotated[bool, typer.Option("--full", help="Print complete passages, not excerpts.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Explain step by step how it was found, with Cypher for Neo4j Browser.")
    ] = False,
    browser: Annotated[bool, typer.Option("--browser", help="Show the evidence in Neo4j Browser.")] = False,
    no_open: NoOpen = False,
    modes: Annotated[
        str,
        typer.Option("--compare", metavar="MODES", help="Compare these modes, separated by commas, or `all`."),
    ] = "",
    html_file: Annotated[
        Path | None, typer.Option("--html", help="Draw the evidence, or write the comparison, in this HTML page.")
    ] = None,
    overwrite: Overwrite = False,
    **retrieval: Unpack[RetrievalKeywords],
) -> None:
    """Find the evidence for a question, with the route and the reason for it.

    With --compare, each mode runs twice; the time is that of the second run.
    """
    if modes and (explain or browser or len(corpora or ()) > 1):
        raise InputError("--compare is for one --corpus, without --explain and --browser.")
    if html_file is not None:
        check_file(html_file, "--html", overwrite=overwrite)
    with E2G() as e2g:
        chosen = choose_corpora(e2g, corpora)
        found: Evidence | Comparison
        if modes:
            found = compare(e2g, question, corpus=chosen[0], modes=modes_named(modes), **retrieval)
            page = comparison_page(found)
        else:
            found = e2g.retrieve(question, corpora=chosen, **retrieval)
            page = draw_page(e2g.paths(found)) if html_file else ""
    try:
        if html_file is not None:
            write_file(html_file, page, "--html", overwrite=overwrite)
    finally:
        if as_json:
            print_json(show_evidence.comparison_object(found) if isinstance(found, Comparison) else found)
        elif isinstance(found, Comparison):
            show_evidence.comparison(out, found)
        elif browser:
            show_in_browser(found, load_settings(), no_open=no_open)
        else:
            everything = full or explain or retrieval.get("tokens")
            shown = retrieval.get("k") or (None if everything else show_evidence.SCREENFUL)
            show_evidence.evidence(out, found, full=full, explained=explain, shown=shown)
    if html_file is not None and not as_json:
        out.print(f"\nWritten to {escape(str(html_file))}: open it in any web browser.")


def modes(corpora: CorporaToCheck = None, as_json: Json = False) -> None:
    """List the retrieval modes: what each does and needs, and with --corpus, whether the corpora have it."""
    found = [mode_info(one) for one in load_strategies().values()]
    if corpora:
        with E2G() as e2g:
            found = e2g.modes(corpora)
    if as_json:
        print_json({"modes": found})
        return
    table = new_table(("mode", "ranks", "of", "needs"), (False,) * 4)
    for one in found:
        needs = "; uses ".join(", ".join(some) for some in (one.needs, one.uses) if some)
        lack = f"\n[red]{escape(one.missing)}[/red]" if one.missing else ""
        table.add_row(one.name, f"{escape(one.summary)}{lack}", escape(one.source), needs)
    draw(out, table)


@with_retrieval_options
def ask(
    question: str,
    corpora: Corpora = None,
    choices: Annotated[
        list[str] | None,
        typer.Option("--choice", help="A choice of a multiple-choice question. Repeat for each choice."),
    ] = None,
    method: Annotated[
        MethodName,
        typer.Option(
            "--method",
            metavar=f"<{'|'.join(METHOD_NAMES)}>",
            parser=parse_method,
            autocompletion=lambda: list(METHOD_NAMES),
            help=tell_methods(spell_method),
        ),
    ] = "direct",
    level: Annotated[
        str | None,
        typer.Option(
            "--level",
            metavar="<number|dynamic>",
            help="Level of the reports for --method global, from 1, the finest; dynamic: those that the chat model "
            "chooses. (default: the finest with about eight batches)",
            show_default=False,
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help=f"With {READING}: only tell how much is read, in how many calls.")
    ] = False,
    as_json: Json = False,
    **retrieval: Unpack[RetrievalKeywords],
) -> None:
    """Answer a question with the configured chat model, or print the evidence if there is none."""
    if dry_run and METHODS[method].searches:
        raise typer.BadParameter(f"Only the methods {READING} have a --dry-run.")
    chosen: Any = int(level) if level and level.isdecimal() else level
    with E2G() as e2g, ExitStack() as shown:
        progress = shown.enter_context(show_progress(quiet=as_json))
        asked = choose_corpora(e2g, corpora)
        options: dict[str, Any] = {"choices": choices or (), "method": method, "level": chosen}
        for piece in e2g.stream(question, corpora=asked, progress=progress, **options, **retrieval):
            if isinstance(piece, Answer):
                answer = piece
            elif isinstance(piece, Evidence):
                if dry_run and piece.mode == method:  # without a chat model, nothing is read
                    answer = Answer(None, piece)
                    break
            else:
                shown.close()
                if not (choices or as_json):
                    out.print(escape(piece), end="")
    if dry_run and answer.evidence.mode == method and not as_json:
        out.print(escape(answer.evidence.reason))
        return
    if answer.text is None and METHODS[method].needs_chat_model:
        lacks = f"The method {spell_method(method)} needs a chat model: set E2G_CHAT_MODEL, such as ollama:NAME."
        typer.secho(f"{lacks} This is evidence only.", fg="yellow", err=True)
    if as_json:
        print_json(answer)
    else:
        show_evidence.answer(out, answer)


def read(
    document: Annotated[
        str, typer.Argument(help="Its id, file or title, such as a citation names.", show_default=False)
    ],
    at: Annotated[int, typer.Option("--at", min=0, help="The character to show, as in a citation.")] = 0,
    characters: Annotated[
        int, typer.Option("--chars", min=1, max=MAX_TEXT, help="How many characters to show from there.")
    ] = 1500,
    corpus: ExistingCorpus = None,
    as_json: Json = False,
) -> None:
    """Read the text of a document at an offset, with what precedes it."""
    with E2G() as e2g:
        corpus = choose_corpus(e2g, corpus)
        found = e2g.text(document, corpus=corpus, start=at, end=at + characters)
        if as_json:
            print_json(found)
            return
        _show_text(e2g, found)


def _show_text(e2g: E2G, found: DocumentText) -> None:
    """Print a part of a document, after what precedes it."""
    span = {"start": max(0, found.start - show_evidence.BEFORE), "end": found.start}
    preceding = e2g.text(found.document, corpus=found.corpus, **span).text if found.start else ""
    show_evidence.text(out, found, preceding)


# --- chat --------------------------------------------------------------------------------------------

ENDS = ("exit", "quit")
"""What ends a conversation, besides the end of the input."""

CHARACTERS = 1500
"""Minimum characters that are shown of a passage and what follows it."""


@with_retrieval_options
def chat(corpora: Corpora = None, **retrieval: Unpack[RetrievalKeywords]) -> None:
    """Ask questions that refer to those before. A number opens that passage; exit or Ctrl-D ends."""
    turns: list[Turn] = []
    passages: Sequence[Passage] = ()
    with E2G() as e2g:
        chosen = choose_corpora(e2g, corpora)
        out.print(f"[dim]{_introduction(e2g, chosen)}[/dim]")
        for line in _lines():
            try:
                if line.isdecimal():
                    _open(e2g, int(line), passages)
                    continue
                retrieval["history"] = turns[-TURNS:]
                answer = _ask(e2g, line, chosen, retrieval)
            except (ModelError, NotFoundError, QueryError) as error:
                if not turns and isinstance(error, NotFoundError):
                    raise
                out.print(f"[red]{escape(str(error))}[/red]")
                continue
            turns.append(answer.turn)
            passages = answer.evidence.passages if answer.text is None else answer.given


def _introduction(e2g: E2G, corpora: Sequence[str]) -> str:
    what = "Ask" if e2g.models.chat_model else "There is no chat model (E2G_CHAT_MODEL), so you see evidence. Ask"
    return f"{what} about {escape(', '.join(corpora))}. A number opens that passage; exit or Ctrl-D ends."


def _lines() -> Iterator[str]:
    """Yield what is typed, or read from a pipe and then repeated, without empty lines."""
    typed = sys.stdin.isatty()
    if typed:
        with suppress(ImportError):
            import readline  # noqa: F401  (lines can be edited)
    while True:
        try:
            line = input("\n> " if typed else "").strip()
        except EOFError:
            return
        if line in ENDS:
            return
        if line:
            if not typed:
                out.print(f"\n> {escape(line)}")
            yield line


def _ask(e2g: E2G, question: str, corpora: Sequence[str], retrieval: RetrievalKeywords) -> Answer:
    """Answer a question and print the answer as it is made; without a chat model, the evidence."""
    for piece in e2g.stream(question, corpora=corpora, **retrieval):
        match piece:
            case Evidence():
                show_evidence.print_searched_question(out, piece)
            case str():
                out.print(escape(piece), end="")
            case Answer():
                answer = piece
    if answer.text is None:
        shown = retrieval.get("k") or (None if retrieval.get("tokens") else show_evidence.SCREENFUL)
        show_evidence.evidence(out, answer.evidence, shown=shown, opened=False)
    else:
        show_evidence.answer(out, answer, opened=False)
    return answer


def _open(e2g: E2G, number: int, passages: Sequence[Passage]) -> None:
    """Print the text of a passage in its document."""
    if not 1 <= number <= len(passages):
        last = f"1 to {len(passages)} are" if passages else "none is"
        raise QueryError(f"There is no passage {number}: {last} there. To ask about a number, write a question.")
    passage = passages[number - 1]
    if not passage.document_id:
        out.print(escape(passage.text))  # a relationship of a linked graph
        return
    end = max(passage.end, passage.start + CHARACTERS)
    found = e2g.text(passage.document_id, corpus=passage.corpus, start=passage.start, end=end)
    _show_text(e2g, found)
