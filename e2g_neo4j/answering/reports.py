"""The reports of communities that answers are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from e2g_neo4j.errors import QueryError
from e2g_neo4j.retrieval.requirements import missing_layer
from e2g_neo4j.runtime.requests import Operation, read_each
from e2g_neo4j.types.results import CitedReport, Passage

ALL_LEVELS = 1_000
"""More than any hierarchy has levels. The reports of this level are those of the communities without a parent."""


@dataclass(frozen=True, slots=True)
class Report:
    """The report of a community.

    Attributes:
        cited: What an answer says about it.
        text: The report.
        parent: The id of the community above, if it was asked for.
    """

    cited: CitedReport
    text: str
    parent: str | None = None

    @property
    def place(self) -> tuple[str, str]:
        """Its corpus and id."""
        return self.cited.corpus, self.cited.id

    @property
    def whole(self) -> str:
        """Its title and text."""
        return f"{self.cited.title}\n{self.text}"

    def as_passage(self) -> Passage:
        """Return it as a prompt shows it, with its title as heading."""
        corpus, id = self.place
        return Passage(self.text, self.cited.title, id, 0, len(self.text), 0.0, corpus=corpus)


def check_communities(rows: Iterable[Mapping[str, Any]], what: str) -> None:
    """Raise QueryError if a corpus has no communities.

    Args:
        rows: Rows of `corpus.cypher`.
        what: What needs them.
    """
    for row in rows:
        if message := missing_layer("communities", row, what):
            raise QueryError(message)


def finest_level(corpora: Sequence[str], characters: int) -> Operation[int]:
    """Return the finest level whose reports have at most so many characters together, or else the coarsest.

    The reports of a level are those of its communities, and of finer ones that no community of the level contains.
    """
    rows = yield from read_each("query/report_levels", {corpus: {} for corpus in corpora})
    top = max((row["level"] for row in rows), default=1)
    for level in range(1, top):
        those = (row for row in rows if row["level"] <= level and (row["above"] is None or row["above"] > level))
        if sum(row["characters"] for row in those) <= characters:
            return level
    return top


def reports_of_level(corpora: Sequence[str], level: int, most: int) -> Operation[list[Report]]:
    """Return the reports of a level, at most so many in each corpus, the most important first."""
    parameters = {"level": level, "limit": most}
    rows = yield from read_each("query/reports_of_level", dict.fromkeys(corpora, parameters))
    return list(map(_report, sorted(rows, key=lambda row: (-(row["rating"] or 0), -row["entities"]))))


def reports_below(reports: Sequence[Report]) -> Operation[list[Report]]:
    """Return the reports of the communities directly within others, in the order of these."""
    places = {report.place: number for number, report in enumerate(reports)}
    parameters = {corpus: {"ids": [id for one, id in places if one == corpus]} for corpus, _ in places}
    rows = yield from read_each("query/reports_below", parameters)
    return list(map(_report, sorted(rows, key=lambda row: places[row["corpus"], row["parent"]])))


def _report(row: Mapping[str, Any]) -> Report:
    cited = CitedReport(row["corpus"], row["id"], row["level"], row["title"])
    return Report(cited, row["text"], row.get("parent"))
