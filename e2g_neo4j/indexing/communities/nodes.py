"""Communities with their reports, as they are stored."""

from __future__ import annotations

from dataclasses import dataclass

from e2g_neo4j.indexing.communities.hierarchy import Community
from e2g_neo4j.indexing.communities.reports import SentenceEntities
from e2g_neo4j.indexing.layer import hash_of
from e2g_neo4j.runtime.batched import batched
from e2g_neo4j.runtime.requests import Operation, Read

SENTENCES_READ = 1_000
"""Sentences that one statement reads."""


@dataclass(frozen=True, slots=True)
class Report:
    """A community with its report.

    Attributes:
        id: a hash of its level and members.
        text: its sentences, or what a chat model has written.
        chunks: the ids of the chunks that it is made from.
        rating: how much it matters, as a chat model says.
        sentences: the sentences that it quotes, if it is extractive.
    """

    id: str
    community: Community
    title: str
    text: str
    chunks: tuple[str, ...]
    rating: int | None = None
    sentences: tuple[SentenceEntities, ...] = ()

    @property
    def shown(self) -> str:
        """Title and text."""
        return f"{self.title}\n{self.text}"

    @property
    def report_sha256(self) -> str:
        """A hash of title and text."""
        return hash_of(self.shown)

    @property
    def sha256(self) -> str:
        """A hash of everything that is stored."""
        return hash_of(self.shown, *([] if self.rating is None else [str(self.rating)]), *self.chunks)


def sentence_texts(corpus: str, spans: set[tuple[str, int, int]]) -> Operation[dict[tuple[str, int, int], str]]:
    """Read the texts of sentences, by chunk and span, without line breaks."""
    texts: dict[tuple[str, int, int], str] = {}
    for batch in batched(sorted(spans), SENTENCES_READ):
        parameters = [{"chunk": chunk, "start": start, "end": end} for chunk, start, end in batch]
        rows = yield Read("query/sentences", {"corpus": corpus, "spans": parameters})
        by_start = {(row["chunk"], row["start"]): " ".join(row["text"].split()) for row in rows}
        texts |= {span: by_start.get(span[:2], "") for span in batch}
    return texts
