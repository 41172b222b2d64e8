"""Terminal output of evidence and answers."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from rich.console import Console

from e2g_neo4j.browser.statements import params
from e2g_neo4j.cli.terminal import escape, plural, table
from e2g_neo4j.evaluation.comparison import Comparison
from e2g_neo4j.evaluation.tables import compare_tables
from e2g_neo4j.graph.catalog import evidence_parameters
from e2g_neo4j.runtime.cypher import load
from e2g_neo4j.settings import MAX_HOPS
from e2g_neo4j.types.reports import DocumentText
from e2g_neo4j.types.results import Answer, Evidence, Fact, Pair, Passage

BEFORE = 300
"""Characters that `read` shows before the offset."""

SCREENFUL = 5
"""Passages that are shown if the command does not say how many."""


def evidence(
    out: Console,
    found: Evidence,
    *,
    full: bool = False,
    explained: bool = False,
    shown: int | None = SCREENFUL,
    opened: bool = True,
) -> None:
    """Print route, reason, entities and pairs, then the passages with their citations: `shown` of them, or all. With
    `full`, print whole passages; with `explained`, also how they were found, and Cypher that shows it; with `opened`,
    the command that opens the first one."""
    out.print(f"[bold]{found.route}[/bold]: {escape(found.reason)}")
    types = found.entity_types if explained else {}
    if found.entities or explained:
        entities = ", ".join(f"{key} ({types[key]})" if key in types else key for key in found.entities)
        out.print(f"entities: {escape(entities or 'none known')}")
    if found.unknown_entities:
        out.print(escape("; ".join(found.unknown_stated)), style="dim")
    if found.ignored_entities:
        out.print(f"not considered: {escape(', '.join(found.ignored_entities))}", style="dim")
    if found.pairs:
        out.print(f"pairs: {escape('; '.join(_pair(pair) for pair in found.pairs))}")
    if explained:
        _steps(out, found)
    if not found.passages:
        out.print("No passages.")
    for number, passage in enumerate(found.passages[:shown], 1):
        cited = citation(passage, found.corpora, whole=full)
        out.print(f"\n{_number(number)} {escape(cited)}  [dim]score {passage.score:.3f}[/dim]")
        if explained and passage.signals:
            out.print(f"[dim]{', '.join(f'{name} {value:+.2f}' for name, value in passage.signals.items())}[/dim]")
        if why := _why(number, found):
            out.print(f"[dim]{escape(why)}[/dim]")
        out.print(escape(passage.text if full else passage.shown.text))
    for number, fact in enumerate(found.facts, len(found.passages) + 1):
        out.print(f"\n{_number(number)} {escape(fact.to_sentence())}  [dim]{escape(_nodes(fact))}[/dim]")
    if more := len(found.passages[shown:]) if shown else 0:
        options = "-k, --tokens, --full or --json" if opened else "-k or --tokens"
        out.print(f"\n[dim]And {plural(more, 'more passage')}: pass {options} to see more.[/dim]")
    for passage in found.passages[: int(opened)]:
        out.print(f"\n{_how_to_open(1, passage)}")
    if explained:
        _cypher(out, found)


def _steps(out: Console, found: Evidence) -> None:
    for entry in found.trace:
        out.print(f"h={entry.hops}: {plural(entry.pairs, 'pair')}, {plural(entry.candidates, 'shared chunk')}")
    out.print(f"mode {found.mode}, h={found.hops}, {found.round_trips} round trips")
    if found.calls:
        used = f"{found.prompt_tokens} tokens of prompts, {found.completion_tokens} of replies"
        out.print(f"chat model: {plural(found.calls, 'call')}, {used}")


def _cypher(out: Console, found: Evidence) -> None:
    """Print Cypher for Neo4j Browser: for the evidence, and for how two entities are connected that it does not."""
    out.print("\n[bold]In Neo4j Browser[/bold], run these two statements one after the other, or add --browser:")
    out.print(escape(params(evidence_parameters(found))))
    out.print()
    out.print(escape(load("explore/evidence")))
    for absence in found.absences[:1]:
        out.print(f"\n[bold]How {escape(absence.a)} and {escape(absence.b)} are connected[/bold]:")
        out.print(escape(params({"corpus": found.corpus, "a": absence.a, "b": absence.b, "hops": MAX_HOPS})))
        out.print()
        out.print(escape(load("explore/between")))


def comparison(out: Console, found: Comparison) -> None:
    """Print costs and overlap of the modes, and the passages of each."""
    modes, overlap = compare_tables(found)
    table(out, modes.columns, modes.rows)
    for mode, reason in found.failed.items():
        out.print(f"Left out: {mode}. {escape(reason)}")
    if len(found.modes) > 1:
        out.print(f"\n{overlap.note}\n")
        table(out, overlap.columns, overlap.rows)
        out.print("\nPassages marked with * have no character that another mode returns.")
    for mode, result in found.modes.items():
        out.print(f"\n[bold]{mode}[/bold]")
        if not result.evidence.passages:
            out.print("No passages.")
        for number, (passage, unique) in enumerate(zip(result.evidence.passages, result.unique, strict=True), 1):
            out.print(f"{_number(number, '*' * unique)} {escape(passage.place)}")
            out.print(f"    [dim]{escape(passage.shown.text)}[/dim]")


def comparison_object(found: Comparison) -> dict[str, Any]:
    """Return a comparison for JSON: the evidence of each mode, whose passages say whether no other mode has them."""
    modes: dict[str, Any] = {}
    for mode, result in found.modes.items():
        evidence = result.evidence.to_dict()
        passages = zip(evidence["passages"], result.unique, strict=True)
        modes[mode] = evidence | {
            "tokens": result.tokens,
            "milliseconds": result.milliseconds,
            "overlap": dict(result.overlap),
            "passages": [{**passage, "unique": unique} for passage, unique in passages],
        }
    return {"question": found.question, "corpus": found.corpus, "modes": modes, "failed": dict(found.failed)}


def print_searched_question(out: Console, found: Evidence) -> None:
    """Print the question that was searched for, if earlier turns changed it."""
    if found.searched_as:
        out.print(f"[dim]searched as: {escape(found.searched_as)}[/dim]")


def answer(out: Console, given: Answer, *, opened: bool = True) -> None:
    """Print the citations of an answer whose text has been streamed, or the letter of a choice. Without a
    chat model, print the evidence and how to configure one. `opened`: with the command that opens the first citation.
    """
    if given.text is None:
        evidence(out, given.evidence)
        out.print("\nNo chat model is configured: set E2G_CHAT_MODEL to get answers.", style="yellow")
        return
    if given.choice:
        out.print(f"[bold]{given.choice}[/bold]")
        for letter, probability in (given.distribution or {}).items():
            out.print(f"[dim]{letter} {probability:.3f}[/dim]")
    out.print(f"\n[dim]{given.evidence.route}: {escape(given.evidence.reason)}[/dim]")
    for citation_ in given.citations:
        fact, corpora = citation_.fact, given.evidence.corpora
        cited = f"{fact.to_sentence()} {_nodes(fact)}" if fact else citation(citation_.passage, corpora)
        out.print(f"[dim]\\[{citation_.number}] {escape(cited)}[/dim]")
    if reports := dict.fromkeys(report for point in given.points for report in point.reports):
        listed = "; ".join(f"{report.title} (level {report.level})" for report in reports)
        out.print(f"[dim]From the reports: {escape(listed)}[/dim]")
    for first in [one for one in given.citations if not one.fact][: int(opened)]:
        out.print(_how_to_open(first.number, first.passage))
    if given.dropped:
        numbers = ", ".join(map(str, given.dropped))
        out.print(f"Removed citations of passages that do not exist: {numbers}.", style="yellow")
    if not given.finished:
        out.print(
            "The answer is not complete: it reached E2G_ANSWER_TOKENS, or its server ended early.", style="yellow"
        )


def text(out: Console, found: DocumentText, preceding: str) -> None:
    """Print a part of a document after what precedes it."""
    place = [found.title, *([f"page {found.page}"] if found.page else []), *([found.heading] if found.heading else [])]
    span = f"characters {found.start}-{found.end} of {found.characters}"
    out.print(f"[bold]{escape(', '.join(place))}[/bold], {span} [dim]({escape(found.source)})[/dim]\n")
    dots = "… " if len(preceding) < found.start else ""
    more = " …" if found.end < found.characters else ""
    out.print(f"[dim]{dots}{escape(preceding)}[/dim]{escape(found.text)}{more}")


def _how_to_open(number: int, passage: Passage) -> str:
    """Return the command that opens a passage in its document. It shows how to open the others."""
    option = f" -c {shlex.quote(passage.corpus)}" if passage.corpus != "default" else ""
    start = passage.shown.start
    command = f"e2g read {passage.document_id} --at {start}{option}"
    return f"[dim]Open \\[{number}]: {escape(command)}[/dim]"


def _number(number: int, mark: str = "") -> str:
    return f"[bold cyan]\\[{number}]{mark}[/bold cyan]"


def citation(passage: Passage, corpora: Sequence[str], *, whole: bool = False) -> str:
    """Return document, position and file, such as `Dracula, chapter II, characters 1200-5300 (dracula.txt)`. If several
    corpora were searched, it begins with the corpus."""
    parts = [*([passage.corpus] if len(corpora) > 1 else []), passage.document]
    if passage.page:
        parts.append(f"page {passage.page}")
    if passage.heading and passage.heading != passage.document:
        parts.append(passage.heading)
    part = passage if whole else passage.shown
    start, end = part.start, part.end
    place = f"characters {start}-{end}"
    if node := passage.text_node:
        place = f"node {node.key}, characters {node.start}-{node.end}"
    parts.append(f"summary on level {passage.level} of {place}" if passage.level else place)
    return f"{', '.join(parts)} ({passage.source})"


def _why(number: int, found: Evidence) -> str:
    """Return why a passage is here besides its score: the pairs that it connects, and what refers to its document."""
    passage = found.passages[number - 1]
    reasons = [_pair(pair) for pair in passage.pairs]
    if one := passage.referred:
        by = next((n for n, other in enumerate(found.passages, 1) if one.chunk in other.nodes), None)
        reasons.append(f"{f'[{by}]' if by else 'another passage'} refers to it: “{one.text}”")
    return "; ".join(reasons)


def _nodes(fact: Fact) -> str:
    return f"(nodes {fact.subject_id}, {fact.object_id})"


def _pair(pair: Pair) -> str:
    return f"{pair.a} - {pair.b} ({plural(pair.hops, 'hop')})"
