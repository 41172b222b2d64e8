"""Have a chat model write the reports of communities, from the finest level to the coarsest.

A report of a level may be made of reports of the levels below, so these are written before. All replies are cached by
what the model has read: a report is paid for again only if that has changed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeAlias

from e2g_neo4j.indexing.asking import CachedReplies
from e2g_neo4j.indexing.communities.chat import cite_sources, parse_report, renumber_citations
from e2g_neo4j.indexing.communities.elements import StatementElement
from e2g_neo4j.indexing.communities.hierarchy import Community
from e2g_neo4j.indexing.communities.reports import Report, SentenceEntities, sentence_texts
from e2g_neo4j.runtime.requests import Operation

CHARACTERS = 16_000
"""Maximum length of what is read about a community, about 4,000 tokens."""

Element: TypeAlias = SentenceEntities | StatementElement
"""What is read about a community."""


@dataclass(frozen=True, slots=True)
class ReportInput:
    """What is read about a community.

    Attributes:
        children: the numbers of the communities within it whose reports are read, those with the longest elements
            first.
        elements: sentences in reading order, or statements, the most important first.
    """

    children: tuple[int, ...]
    elements: tuple[Element, ...]


def report_input(
    number: int,
    hierarchy: Sequence[Community],
    covers: Sequence[Sequence[Element]],
    reports: Mapping[int, str],
    characters: int = CHARACTERS,
) -> ReportInput:
    """Return what is read about a community: statements or sentences, and reports of the communities within it.

    As in the paper of GraphRAG (arXiv 2404.16130, section 3.1.4): where these elements of a community are too long
    together, those about the communities within it are replaced by their reports, those of the longest first, until the
    rest fits. In its code this never happens.

    Args:
        number: its number in the hierarchy.
        covers: the elements of each community, best first, of one kind.
        reports: the reports of the communities within it, by number.
        characters: the maximum length of all together.
    """
    members = frozenset(hierarchy[number].members)
    elements = list(covers[number])
    chosen: list[int] = []
    sizes = {child: _length(covers[child]) for child in reports}
    for child in sorted(reports, key=lambda child: (-sizes[child], hierarchy[child].members)):
        length = _length(elements) + sum(len(reports[one]) for one in chosen)
        if length <= characters:
            break
        within = frozenset(hierarchy[child].members)
        others = [one for one in elements if not members.intersection(one.entities) <= within]
        if reports[child] and len(reports[child]) < _length(elements) - _length(others):
            elements = others
            chosen.append(child)
    left = characters
    for child in list(chosen):
        if len(reports[child]) > left:
            chosen.remove(child)
        else:
            left -= len(reports[child])
    kept = []
    for element in elements:
        if element.length <= left:
            kept.append(element)
            left -= element.length
    return ReportInput(tuple(chosen), tuple(sorted(kept, key=lambda one: one.order)))


def _length(elements: Sequence[Element]) -> int:
    return sum(element.length for element in elements)


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
            number: text_of(extractive[number].title, [reports[one] for one in each.children], each, texts)
            for number, each in read.items()
            if each.children or each.elements
        }
        replied, of_level = yield from replies.read(said)
        cached += of_level
        for number, reply in replied.items():
            written = parse_report(reply)
            unreadable += written is None
            if written:
                of_parts = [reports[one] for one in read[number].children]
                shown = number_chunks(of_parts, read[number])
                text, sources = cite_sources(written.text, list(shown))
                chunks = [*(chunk for one in of_parts for chunk in one.chunks), *shown]
                reports[number] = replace(
                    extractive[number],
                    title=written.title or extractive[number].title,
                    text=text,
                    rating=written.rating,
                    chunks=tuple(dict.fromkeys(chunks)),
                    sentences=(),
                    sources=sources,
                )
    return Written(reports, unreadable, cached)


def number_chunks(of_parts: Iterable[Report], read: ReportInput) -> dict[str, int]:
    """Return the numbers by which a chat model may cite the chunks of what it reads about a community."""
    cited = (chunk for report in of_parts for chunk in report.sources)
    return {
        chunk: number
        for number, chunk in enumerate(
            dict.fromkeys(chain(cited, (chunk for one in read.elements for chunk in one.chunks))), 1
        )
    }


def text_of(
    title: str, of_parts: Sequence[Report], read: ReportInput, texts: Mapping[tuple[str, int, int], str]
) -> str:
    """Return what a chat model reads about a community: sentences and statements with the numbers of their chunks, and
    reports that cite chunks by the same numbers."""
    numbers = number_chunks(of_parts, read)

    def numbered(element: Element, text: str) -> str:
        return f"{text} {''.join(f'[{numbers[chunk]}]' for chunk in element.chunks)}"

    reports = [
        renumber_citations(one.shown, {old: numbers[chunk] for old, chunk in enumerate(one.sources, 1)})
        for one in of_parts
    ]
    sentences = [
        numbered(one, texts[one.chunk, *one.span]) for one in read.elements if isinstance(one, SentenceEntities)
    ]
    statements = [numbered(one, one.text) for one in read.elements if isinstance(one, StatementElement)]
    parts = [f"Names: {title}"]
    if reports:
        parts.append("\n\n".join(["Reports about parts of the group:", *reports]))
    if sentences:
        parts.append("\n".join(["Sentences:", *sentences]))
    if statements:
        parts.append("\n".join(["Statements:", *statements]))
    return "\n\n".join(parts)
