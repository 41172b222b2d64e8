"""What a chat model reads about a community: statements or sentences, and reports of the communities within it.

As in the paper of GraphRAG (arXiv 2404.16130, section 3.1.4): where these elements of a community are too long
together, those about the communities within it are replaced by their reports, those of the longest first, until the
rest fits. In its code this never happens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from e2g_neo4j.indexing.communities.elements import StatementElement
from e2g_neo4j.indexing.communities.hierarchy import Community
from e2g_neo4j.indexing.communities.reports import SentenceEntities

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
    """Return what is read about a community.

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
