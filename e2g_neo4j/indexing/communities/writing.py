"""Have a chat model write the reports of communities, from the finest level to the coarsest.

A report of a level may be made of reports of the levels below, so these are written before. All replies are cached by
what the model has read: a report is paid for again only if that has changed.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from e2g_neo4j.indexing.asking import ask_about, key_of, read_replies
from e2g_neo4j.indexing.communities.chat import REPLY_TOKENS, ReportWriter, parse_report
from e2g_neo4j.indexing.communities.elements import StatementElement
from e2g_neo4j.indexing.communities.inputs import Element, ReportInput, report_input
from e2g_neo4j.indexing.communities.nodes import Report, sentence_texts
from e2g_neo4j.indexing.communities.reports import SentenceEntities
from e2g_neo4j.indexing.layer import RepliesMissingError
from e2g_neo4j.indexing.summaries.cache import SummaryCache
from e2g_neo4j.models.chat.usage import UsageMeter
from e2g_neo4j.runtime.requests import GetExecutor, Operation
from e2g_neo4j.types.documents import TokenSpans
from e2g_neo4j.types.reports import Progress, TokenUsage

Replies: TypeAlias = Callable[[Mapping[str, str]], Operation[Mapping[str, str]]]
"""Returns replies to texts, by the keys of the cache."""


@dataclass(frozen=True, slots=True)
class Written:
    """Reports.

    Attributes:
        reports: the reports, in the order of the communities.
        unreadable: how many of them are extractive because no reply could be read.
        cached: how many replies were cached.
    """

    reports: Sequence[Report]
    unreadable: int = 0
    cached: int = 0


def write_reports(
    corpus: str,
    extractive: Sequence[Report],
    covers: Sequence[Sequence[Element]],
    names: Sequence[str],
    ask: Replies,
) -> Operation[Written]:
    """Replace extractive reports by those that a chat model writes.

    Args:
        corpus: the corpus.
        extractive: the communities with extractive reports, fine ones first.
        covers: what may be read about each community, best first.
        names: the names of the writers whose cached reports count, the one to ask last.
        ask: returns replies that are not cached.
    """
    hierarchy = [report.community for report in extractive]
    children: defaultdict[int, list[int]] = defaultdict(list)
    for number, community in enumerate(hierarchy):
        if community.parent is not None:
            children[community.parent].append(number)
    reports = list(extractive)
    unreadable = cached = 0
    for level in sorted({community.level for community in hierarchy}):
        numbers = [number for number, community in enumerate(hierarchy) if community.level == level]
        read = {
            number: report_input(number, hierarchy, covers, {one: reports[one].shown for one in children[number]})
            for number in numbers
        }
        elements = (one for each in read.values() for one in each.elements)
        spans = {(one.chunk, *one.span) for one in elements if isinstance(one, SentenceEntities)}
        texts = yield from sentence_texts(corpus, spans)
        said = {
            number: text_of(extractive[number].title, [reports[one].shown for one in each.children], each, texts)
            for number, each in read.items()
            if each.children or each.elements
        }
        keys = {number: [key_of(name, text) for name in names] for number, text in said.items()}
        wanted = dict.fromkeys(key for each in keys.values() for key in each)
        replies = yield from read_replies(corpus, wanted)
        missing = {keys[n][-1]: text for n, text in said.items() if replies.keys().isdisjoint(keys[n])}
        cached += len({tuple(each) for each in keys.values()}) - len(missing)
        if missing:
            replies |= yield from ask(missing)
        for number in said:
            written = parse_report(next(replies[key] for key in keys[number] if key in replies))
            unreadable += written is None
            chunks = [
                *(chunk for child in read[number].children for chunk in reports[child].chunks),
                *(one.chunk for one in read[number].elements),
            ]
            if written:
                reports[number] = replace(
                    extractive[number],
                    title=written.title or extractive[number].title,
                    text=written.text,
                    rating=written.rating,
                    chunks=tuple(dict.fromkeys(chunks)),
                    sentences=(),
                )
    return Written(reports, unreadable, cached)


def asking(corpus: str, writer: ReportWriter | None, meter: UsageMeter, progress: Progress) -> Replies:
    """Return a function that asks a chat model. Without a writer, it raises RepliesMissingError."""

    def ask(missing: Mapping[str, str]) -> Operation[Mapping[str, str]]:
        if writer is None:
            raise RepliesMissingError(
                f"A chat model writes the reports of the corpus {corpus!r}, and none is configured: set "
                "E2G_CHAT_MODEL, such as ollama:NAME, or run `e2g enrich --with communities --reports extractive "
                f"--corpus {corpus}`."
            )
        execute = (yield GetExecutor()).execute
        ask_about(writer, list(missing.items()), SummaryCache(execute, corpus), meter, progress)
        return (yield from read_replies(corpus, missing))

    return ask


def estimating(writer: ReportWriter, token_spans: TokenSpans, usage: TokenUsage) -> Replies:
    """Return a function that asks nothing, but adds to the usage what it would cost. Its replies have the expected
    length, and differ, as those that are made of them must."""

    def ask(missing: Mapping[str, str]) -> Operation[Mapping[str, str]]:
        writer.estimate(missing.values(), token_spans, usage)
        return {key: json.dumps({"summary": " ".join([key[:12], *["word"] * REPLY_TOKENS])}) for key in missing}
        yield

    return ask


def text_of(title: str, reports: Sequence[str], read: ReportInput, texts: Mapping[tuple[str, int, int], str]) -> str:
    """Return what a chat model reads about a community."""
    sentences = [texts[one.chunk, *one.span] for one in read.elements if isinstance(one, SentenceEntities)]
    statements = [one.text for one in read.elements if isinstance(one, StatementElement)]
    parts = [f"Names: {title}"]
    if reports:
        parts.append("\n\n".join(["Reports about parts of the group:", *reports]))
    if sentences:
        parts.append("\n".join(["Sentences:", *sentences]))
    if statements:
        parts.append("\n".join(["Statements:", *statements]))
    return "\n\n".join(parts)
