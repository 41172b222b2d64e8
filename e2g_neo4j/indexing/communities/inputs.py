"""What a chat model reads about a community: sentences, and reports of the communities within it.

As in the paper of GraphRAG (arXiv 2404.16130, section 3.1.4): where the sentences of a community are too long together,
those about the communities within it are replaced by their reports, those of the longest first, until the rest fits.
In its code this never happens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from e2g_neo4j.indexing.communities.hierarchy import Community
from e2g_neo4j.indexing.communities.reports import SentenceEntities, reading_order

CHARACTERS = 16_000
"""Maximum length of what is read about a community, about 4,000 tokens."""


@dataclass(frozen=True, slots=True)
class ReportInput:
    """What is read about a community.

    Attributes:
        children: the numbers of the communities within it whose reports are read, those with the longest sentences
            first.
        sentences: the sentences, in reading order.
    """

    children: tuple[int, ...]
    sentences: tuple[SentenceEntities, ...]


def report_input(
    number: int,
    hierarchy: Sequence[Community],
    covers: Sequence[Sequence[SentenceEntities]],
    reports: Mapping[int, str],
    characters: int = CHARACTERS,
) -> ReportInput:
    """Return what is read about a community.

    Args:
        number: its number in the hierarchy.
        hierarchy: the communities.
        covers: the sentences of each community, best first.
        reports: the reports of the communities within it, by number.
        characters: the maximum length of all together.
    """
    members = frozenset(hierarchy[number].members)
    sentences = list(covers[number])
    chosen: list[int] = []
    sizes = {child: _length(covers[child]) for child in reports}
    for child in sorted(reports, key=lambda child: (-sizes[child], hierarchy[child].members)):
        length = _length(sentences) + sum(len(reports[one]) for one in chosen)
        if length <= characters:
            break
        within = frozenset(hierarchy[child].members)
        others = [one for one in sentences if not members.intersection(one.entities) <= within]
        if reports[child] and len(reports[child]) < _length(sentences) - _length(others):
            sentences = others
            chosen.append(child)
    left = characters
    for child in list(chosen):
        if len(reports[child]) > left:
            chosen.remove(child)
        else:
            left -= len(reports[child])
    kept = []
    for sentence in sentences:
        if sentence.length <= left:
            kept.append(sentence)
            left -= sentence.length
    return ReportInput(tuple(chosen), tuple(sorted(kept, key=reading_order)))


def _length(sentences: Sequence[SentenceEntities]) -> int:
    return sum(sentence.length for sentence in sentences)
