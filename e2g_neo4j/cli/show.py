"""Terminal output of the commands."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from rich.console import Console

from e2g_neo4j.cli.terminal import escape, neutral, plural, table
from e2g_neo4j.graph.schema import Applied
from e2g_neo4j.models.embedding.load import EmbeddingModelInfo
from e2g_neo4j.types.graph import Alias, EntityCard, EntityInfo
from e2g_neo4j.types.reports import (
    AdoptReport,
    ArchiveInfo,
    DocumentInfo,
    EnrichReport,
    Finding,
    IndexReport,
    Layer,
    LayerReport,
    LinkReport,
    ReindexReport,
    TokenUsage,
)

MAX_WARNINGS = 20
"""Warnings, and suffixes of files that were passed over, that are printed. The others are counted."""

BAR = 30
"""Length of the longest bar of a histogram, in characters."""


def report(out: Console, done: IndexReport) -> None:
    """Print the result of an index run, or what it would do."""
    remarks(out, done)
    if done.dry_run:
        _plan(out, done)
        return
    if not done.documents:
        corpus = f"corpus [bold]{escape(done.corpus)}[/bold]"
        replaced = f"; properties replaced of {done.properties_replaced}" if done.properties_replaced else ""
        if done.unchanged:
            nothing = "No text to index" if replaced else "Nothing to do"
            out.print(f"{nothing}: {plural(done.unchanged, 'document')} of {corpus} unchanged{replaced}.")
        elif not done.failed:
            out.print(f"Nothing to resume: every document of {corpus} is ready.")
        return
    levels = ", ".join(f"{number} on level {level}" for level, number in sorted(done.summaries_by_level.items()))
    seconds = ", ".join(f"{stage} {value:.1f}" for stage, value in done.seconds.items() if stage != "total")
    replaced = f", {done.replaced} of them replaced" if done.replaced else ""
    kept = f"; {done.kept} reused" if done.kept else ""
    unchanged = f"; {done.unchanged} unchanged" if done.unchanged else ""
    unchanged += f"; properties replaced of {done.properties_replaced}" if done.properties_replaced else ""
    reused = f"; {done.summaries_kept} reused" if done.summaries_kept else ""
    rows = [
        ("documents", f"{done.documents}{replaced}{unchanged}"),
        ("chunks", f"{done.chunks} ({done.tokens} tokens){kept}"),
        ("summaries", f"{levels or 'none'}{reused}"),
        ("corpus now", f"{done.entities} entities, {done.co_occurrences} co-occurrences, {done.mentions} mentions"),
        ("seconds", f"{done.seconds['total']:.1f} ({seconds}; they overlap)"),
        ("speed", f"{done.tokens_per_second:.0f} tokens/s"),
    ]
    out.print(f"Indexed into corpus [bold]{escape(done.corpus)}[/bold]:")
    for name, value in rows:
        out.print(f"  {name:<11}{value}")
    if done.spending:
        print_spending(out, done.spending, done.cost)


def remarks(out: Console, done: IndexReport) -> None:
    """Print what could not be read, all of it, what looks wrong, what is not in the texts, and what was passed over."""
    lost = {source: "; ".join(what) for source, what in done.losses.items()}
    what = (
        "its document was deleted"
        if done.pruned
        else "its document is kept. To delete it, run `{}`, or index with --prune."
    )
    gone = {one: what.format(shlex.join(["e2g", "delete", one, "--corpus", done.corpus])) for one in done.gone}
    for verb, reasons, noun in (
        ("Left out", done.failed, ""),
        ("Warning", done.warnings, "more warning"),
        ("Not in the text", lost, "more document"),
        ("Passed over", done.passed_over, "more ending"),
        ("Renamed", done.renamed, "more file"),
        ("Gone", gone, "more file"),
    ):
        for number, (source, why) in enumerate(reasons.items()):
            if number == MAX_WARNINGS and noun:
                out.print(f"And {plural(len(reasons) - number, noun)}: --json lists all.")
                break
            out.print(f"{verb}: {escape(why if source in why else f'{source}: {why}')}")


def _plan(out: Console, found: IndexReport) -> None:
    if not found.documents:
        number = plural(found.unchanged, "document")
        out.print(f"Nothing to do: {number} of corpus [bold]{escape(found.corpus)}[/bold] unchanged.")
        return
    unchanged = f"; {found.unchanged} unchanged" if found.unchanged else ""
    out.print(f"Would index into corpus [bold]{escape(found.corpus)}[/bold]:")
    out.print(f"  documents  {found.documents}{unchanged}")
    out.print(f"  chunks     {found.chunks} ({found.tokens} tokens)")
    if found.embedded_tokens:
        out.print(f"  vectors    about {found.embedded_tokens} tokens for the server of the embedding model")
    if found.spending or found.cost:
        print_spending(out, found.spending, found.cost)
    else:
        why = "no document is longer than a chunk" if found.chunks == found.documents else "none is configured"
        out.print(f"No chat model calls: {why}.")


def archive(out: Console, done: ArchiveInfo, *, verb: str) -> None:
    counts = (
        plural(done.documents, "document"),
        plural(done.nodes, "node"),
        plural(done.relationships, "relationship"),
    )
    where = "to" if verb == "Exported" else "from"
    out.print(f"{verb} corpus [bold]{escape(done.corpus)}[/bold] {where} {escape(done.file)}: {', '.join(counts)};")
    out.print(f"cached summaries: {done.summaries}; {done.bytes / 2**20:.1f} MiB.")


def print_spending(out: Console, levels: dict[int, TokenUsage], cost: float) -> None:
    """Print calls and tokens per level of the tree and in total, and the cost if prices are set."""
    rows = [
        [
            {0: "statements", -1: "reports"}.get(level, f"level {level}"),
            one.calls,
            one.remembered,
            one.prompt_tokens,
            one.completion_tokens,
        ]
        for level, one in sorted(levels.items())
    ]
    rows.append(["total", *(sum(column) for column in list(zip(*rows, strict=True))[1:])])
    table(out, ["", "calls", "cached", "prompt tokens", "completion tokens"], rows, "")
    if cost:
        out.print(f"cost {cost:.4f}")


def print_enrichment(out: Console, report: EnrichReport) -> None:
    """Print what was made, or what it would cost."""
    if report.dry_run:
        if report.layers:
            print_spending(out, *usage_of(report.layers))
        else:
            out.print("No chat model calls: only statements and reports by a chat model need them.")
        return
    for name, one in report.layers.items():
        layer(out, report.corpus, name, one)


def layer(out: Console, corpus: str, name: Layer, report: LayerReport) -> None:
    """Print what was made of a layer, what could not be used, and what it cost."""
    has = f"Corpus [bold]{escape(corpus)}[/bold] has "
    levels, made = plural(report.levels, "level"), f"{report.made} made, {report.total - report.made} kept."
    match name:
        case "sentences":
            line = f"The sentences of {plural(report.made, 'chunk')} were embedded."
            out.print(line if report.made else "All sentences had already been embedded.")
        case "entities":
            line = f"The names of {plural(report.made, 'entity', 'entities')} were embedded."
            out.print(line if report.made else "All names of entities had already been embedded.")
        case "descriptions":
            out.print(f"{has}descriptions of {plural(report.total, 'entity', 'entities')}: {report.made} new.")
        case "communities":
            out.print(f"{has}{plural(report.total, 'community', 'communities')} on {levels}: {made}")
        case "clusters":
            out.print(f"{has}{plural(report.total, 'cluster')} on {levels}: {made}")
        case "statements":
            out.print(f"{has}{plural(report.total, 'statement')}, {report.made} new.")
        case "typed":
            labelled = plural(report.labelled, "labelled entity", "labelled entities")
            out.print(f"{has}{plural(report.total, 'typed relationship')}, {report.made} new, and {labelled}.")
    if report.unmatched:
        out.print(f"Left out, because they are about no entity of the text: {plural(report.unmatched, 'statement')}.")
    if report.outside:
        out.print(f"Not typed, because they fit no relationship of the schema: {plural(report.outside, 'statement')}.")
    if report.unreadable:
        what = "Reports that are extractive, because replies" if name == "communities" else "Replies that"
        out.print(
            f"{what} could not be read: {report.unreadable}. Choose another chat model, or change the prompt.",
            style="yellow",
        )
    if name == "statements" or report.usage != TokenUsage():
        print_spending(out, *usage_of({name: report}))


def print_reindexing(out: Console, done: ReindexReport) -> None:
    """Print which model a corpus has, and what was embedded."""
    has = f"Corpus [bold]{escape(done.corpus)}[/bold] has the vectors of {escape(done.embedding_model)}"
    if done.before == done.embedding_model and not done.vectors:
        out.print(f"{has} already.")
        return
    vectors = f"{plural(done.vectors, 'vector')} made in {done.seconds:.1f} s"
    out.print(f"{has} now, instead of those of {escape(done.before)}: {vectors}.")
    if done.long_windows:
        out.print(
            f"Windows that do not fit the model: {done.long_windows}. Their vectors are means of several. To cut all "
            "windows anew, delete the corpus and index it again.",
            style="yellow",
        )


def usage_of(reports: Mapping[Layer, LayerReport]) -> tuple[dict[int, TokenUsage], float]:
    """Return the use of the chat model by level, as `print_spending` prints it, and its price."""
    levels = {-1 if name == "communities" else 0: one.usage for name, one in reports.items()}
    return levels, sum(one.cost for one in reports.values())


def links(out: Console, report: LinkReport) -> None:
    """Print the links by method, and the ambiguous entities."""
    verb = "Would link" if report.dry_run else "Linked"
    linked = len({one.key for one in report.links})
    out.print(
        f"{verb} {plural(linked, 'entity', 'entities')} of {report.entities} of corpus "
        f"[bold]{escape(report.corpus)}[/bold] to {len({one.node for one in report.links})} of {report.nodes} "
        f"nodes labelled {escape(' or '.join(report.labels))}: "
        f"{report.added} added, {report.removed} removed."
    )
    table(out, ["method", "links"], [[method, number] for method, number in report.methods.items()], "")
    if report.dry_run:
        rows = [[one.name, one.node_name, one.method, f"{one.score:.2f}", one.node] for one in report.links]
        table(out, ["entity", "node", "method", "score", "element id"], rows, "")
    if report.ambiguous:
        out.print(
            f"Not linked, because nodes of different names match: {plural(len(report.ambiguous), 'entity', 'entities')}"
        )
        several = [
            [one.name, one.method, ", ".join(f"{name} ({node})" for node, name in one.nodes)]
            for one in report.ambiguous
        ]
        table(out, ["entity", "method", "nodes"], several, "")
    if not report.dry_run:
        out.print(
            f"The corpus knows {plural(report.names, 'name')} of these nodes. Mentions of "
            f"{plural(report.documents, 'document')} were updated."
        )
    if not report.vectors:
        out.print("Names were not compared by vector, because there are too many nodes with this label.")


def print_adoption(out: Console, done: AdoptReport) -> None:
    """Print the number of text nodes, what was skipped and why, and the result of the index run."""
    adoption = done.adoption
    nodes = plural(done.nodes, "text node")
    out.print(f"Corpus [bold]{escape(done.corpus)}[/bold] has {nodes} labelled {escape(adoption.label)}.")
    for number, lacks in (
        (done.without_text, f"a text as {adoption.text}"),
        (done.without_key, f"a key as {adoption.key}"),
        (done.without_document, f"a document by {adoption.document or adoption.part_of}"),
    ):
        if number:
            out.print(f"Skipped: {plural(number, 'node')} without {escape(lacks)}.")
    if done.removed:
        out.print(f"Removed: {plural(done.removed, 'document')} without text nodes.")
    for name, number in done.several_values.items():
        out.print(f"Several values of {escape(name)}: {plural(number, 'document')}, whose text nodes differ.")
    report(out, done.index)


def findings(out: Console, found: Sequence[Finding]) -> None:
    for one in found:
        colour = {"ok": "green", "note": "yellow", "problem": "red"}[one.state]
        out.print(f"[{colour}]{one.state:<8}[/{colour}] [bold]{one.check}[/bold]: {escape(one.what)}")
        if one.next_step:
            out.print(f"         {escape(one.next_step)}")


def migrations(out: Console, applied: Sequence[Applied]) -> None:
    for one in applied:
        out.print(f"applied {one.version} {one.description} ({one.seconds:.2f} s)")
    if not applied:
        out.print("The schema is up to date.")


def documents(out: Console, found: Mapping[str, Sequence[DocumentInfo]]) -> None:
    """Print the documents by corpus, with errors and losses, and the next step for those that are not ready."""
    columns, several = ["title", "state", "chunks", "tokens", "source"], len(found) > 1
    rows = [
        [*([corpus] if several else []), *(getattr(one, column) for column in columns)]
        for corpus, listed in found.items()
        for one in listed
    ]
    table(out, [*(["corpus"] if several else []), *columns], rows, "No documents to show.")
    for corpus, listed in found.items():
        for one in listed:
            replaced = "the previous version is visible" if one.visible and one.state != "ready" else ""
            if remark := one.why or replaced:
                out.print(f"{escape(one.title)}: {escape(remark)}")
            if one.losses:
                out.print(f"Not in the text of {escape(one.title)}: {escape('; '.join(one.losses))}")
        if any(one.state in ("pending", "failed") for one in listed):
            command = f"e2g index --resume --corpus {shlex.quote(corpus)}"
            out.print(f"Run `{escape(command)}` to index the documents that are not ready.")


def embedding_models(out: Console, found: Sequence[EmbeddingModelInfo]) -> None:
    rows = [[one.name, one.languages, ", ".join(one.state)] for one in found]
    table(out, ["model", "languages", "state"], rows, "")


def entities(out: Console, found: Sequence[EntityInfo]) -> None:
    rows = []
    for one in found:
        also = ", ".join([*list(one.forms)[1:], *one.aliases])
        rows.append([one.name, one.type or "", one.mentions, one.chunks, one.documents, also])
    table(out, ["entity", "type", "mentions", "chunks", "documents", "also written"], rows, "No entities.")


def entity_card(out: Console, card: EntityCard) -> None:
    """Print what an entity is, and where it occurs."""
    one = card.entity
    out.print(f"[bold]{escape(one.name)}[/bold]{f' ({escape(one.type)})' if one.type else ''}")
    if one.description:
        out.print(escape(one.description))
    if card.source:
        out.print(f"[dim]{escape(card.source.title)}, characters {card.source.start} to {card.source.end}[/dim]")
    if also := ", ".join([*list(one.forms)[1:], *one.aliases]):
        out.print(f"Also written: {escape(also)}")
    if card.community:
        out.print(f"Community: {escape(card.community)}")
    out.print(f"{plural(one.mentions, 'mention')} in {plural(one.documents, 'document')}")
    most = max(document.mentions for document in card.documents)
    bars = [[each.title, each.mentions, "█" * max(1, BAR * each.mentions // most)] for each in card.documents]
    table(out, ["document", "mentions", ""], bars)
    near = [[each.name, each.type or "", f"{each.weight:.2f}", each.sentences] for each in card.neighbours]
    table(out, ["neighbour", "type", "weight", "shared sentences"], near, "It shares no sentence with another entity.")
    for node in card.linked:
        out.print(f"Linked to {escape(':'.join(node.labels))} {escape(node.name)} ({node.method}, {node.score:.2f})")


def merges(out: Console, found: Sequence[Alias]) -> None:
    """Print the merged names with document and reason. Split names come last."""
    rows = [
        [one.name, one.entity_name or "", one.count, one.title or "", one.why or "not merged"]
        for one in sorted(found, key=lambda one: one.apart)
    ]
    table(out, ["name", "resolves to", "mentions", "document", "why"], rows, "No merged names.")
    if any(not one.apart for one in found):
        out.print(
            "`e2g entities --split NAME` splits a name, `--join NAME` undoes this, `--merge NAME NAME` merges two."
        )


def split_name(out: Console, found: Sequence[Alias], *, name: str) -> None:
    documents = len({one.document for one in found})
    out.print(f"Split {escape(name)}: {plural(documents, 'document')} changed.")


def to_be_deleted(selected: Sequence[DocumentInfo], corpus: str | None) -> str:
    """Return the confirmation question for a deletion. `corpus` is set if the whole corpus is deleted."""
    number = plural(len(selected), "document")
    if corpus is not None:
        return neutral(f"Delete the corpus {corpus!r} with its {number}?")
    listed = "\n".join(f"  {one.title} ({one.source})" for one in selected)
    return neutral(f"{listed}\nDelete {'this' if len(selected) == 1 else 'these'} {number}?")


def to_be_unadopted(selected: Sequence[DocumentInfo], corpus: str) -> str:
    number = plural(len(selected), "document")
    return neutral(f"Remove the corpus {corpus!r} with its {number}? The text nodes are kept.")


def to_be_unlinked(links: Mapping[str, int], corpus: str) -> str:
    of_labels = ", ".join(f"{label}: {number}" for label, number in sorted(links.items()))
    count = plural(sum(links.values()), "link")
    return neutral(f"Remove {count} of the corpus {corpus!r} ({of_labels})? The nodes are kept.")


def print_deletion(out: Console, documents: Sequence[DocumentInfo], *, corpus: str) -> None:
    out.print(f"Deleted {plural(len(documents), 'document')} of the corpus {escape(corpus)}.")
