"""Have a chat model write the reports of communities, from the finest level to the coarsest.

A report of a level may be made of reports of the levels below, so these are written before. All replies are cached by
what the model has read: a report is paid for again only if that has changed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from e2g_neo4j.indexing.communities.chat import parse_report
from e2g_neo4j.indexing.communities.elements import StatementElement
from e2g_neo4j.indexing.communities.inputs import Element, ReportInput, report_input
from e2g_neo4j.indexing.communities.nodes import Report, sentence_texts
from e2g_neo4j.indexing.communities.replies import CachedReplies
from e2g_neo4j.indexing.communities.reports import SentenceEntities
from e2g_neo4j.runtime.requests import Operation


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
    replies: CachedReplies,
) -> Operation[Written]:
    """Replace extractive reports by those that a chat model writes.

    Args:
        extractive: the communities with extractive reports, fine ones first.
        covers: what may be read about each community, best first.
        replies: the replies of a ReportWriter.
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
        replied, of_level = yield from replies.read(said)
        cached += of_level
        for number, reply in replied.items():
            written = parse_report(reply)
            unreadable += written is None
            chunks = [
                *(chunk for child in read[number].children for chunk in reports[child].chunks),
                *(chunk for one in read[number].elements for chunk in one.chunks),
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
