"""Make the communities of a corpus, and keep them up to date.

What is written depends on the visible graph alone, so communities after any updates are those of a fresh corpus. New
ones are staged in bounded transactions, and published in one transaction, if the corpus has not changed meanwhile. A
community whose members and report are the same is kept, with its vector.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from uuid import uuid4

from e2g_neo4j.errors import CorpusNotFoundError, InputError
from e2g_neo4j.graph.writer import ROWS, purge
from e2g_neo4j.indexing.communities.hierarchy import Community, communities
from e2g_neo4j.indexing.communities.reports import SentenceEntities, choose_sentences, titles
from e2g_neo4j.models.embedding.windows import embed_long
from e2g_neo4j.models.entities.extraction_codec import decode, own_sentences_before_list
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.batched import batched
from e2g_neo4j.runtime.requests import Operation, Read, Write
from e2g_neo4j.types.reports import EnrichReport, Progress

ENTITIES_READ = 500
"""Entities whose edges one statement reads."""

CHUNKS_READ = 200
"""Chunks whose mentions one statement reads."""

REPORTS = 100
"""Reports that are embedded, and written in one transaction."""

SENTENCES_READ = 1_000
"""Sentences that one statement reads."""

DIGITS = 6
"""Weights are rounded to as many digits: after updates, their last bits depend on the order of additions."""

ATTEMPTS = 5
"""How often communities are made again because the corpus has changed meanwhile."""


@dataclass(frozen=True, slots=True)
class Report:
    """A community with its report.

    Attributes:
        id: a hash of its level and members.
        community: the community.
        title: its title.
        text: its sentences.
        chunks: the ids of their chunks.
    """

    id: str
    community: Community
    title: str
    text: str
    chunks: tuple[str, ...]

    @property
    def embedded(self) -> str:
        """The text whose vector is stored."""
        return f"{self.title}\n{self.text}"

    @property
    def report_sha256(self) -> str:
        """A hash of the text whose vector is stored."""
        return _hash(self.embedded)

    @property
    def sha256(self) -> str:
        """A hash of everything that is stored."""
        return _hash(self.embedded, *self.chunks)


def enrich(models: Models, corpus: str, progress: Progress | None) -> Operation[EnrichReport]:
    """Make the communities of a corpus, or make those again that have changed.

    Raises:
        NotFoundError: the corpus has no documents.
        InputError: others change the corpus all the time.
    """
    for _ in range(ATTEMPTS):
        yield from purge(corpus)  # also counts edges
        [state] = yield Read("communities/state", {"corpus": corpus})
        if not state["found"]:
            raise CorpusNotFoundError(corpus)
        if (report := (yield from _made(models, corpus, state, progress))) is not None:
            yield from purge(corpus)
            return report
    raise InputError(
        f"The corpus {corpus!r} was changed {ATTEMPTS} times while its communities were made. Run `e2g enrich --corpus "
        f"{corpus}` when nothing is being indexed into it."
    )


def update(models: Models, corpus: str, progress: Progress | None = None) -> Operation[None]:
    """Bring the communities of a corpus up to date, if it has any."""
    [state] = yield Read("communities/state", {"corpus": corpus})
    if state["communities"] is not None and state["communities"] != state["revision"]:
        yield from enrich(models, corpus, progress)


def _made(
    models: Models, corpus: str, state: Mapping[str, Any], progress: Progress | None
) -> Operation[EnrichReport | None]:
    """Make communities of a revision. Return None if the corpus is not at this revision any more."""
    show = progress or (lambda stage, done, total: None)
    names, weights = yield from _graph(corpus)
    hierarchy = communities(weights)
    reports = yield from _reports(corpus, hierarchy, names, weights)
    [rows] = yield Read("communities/stored", {"corpus": corpus})
    stored = {row["id"]: row["sha256"] for row in rows["communities"]}
    new = [report for report in reports if stored.get(report.id) != report.sha256]
    kept = sorted(stored.keys() & {report.id for report in reports} - {report.id for report in new})
    written = set(rows["reports"])
    made = sum(report.report_sha256 not in written for report in new)
    run = uuid4().hex
    yield Write((("index/lock_corpus", {"corpus": corpus}), ("communities/discard", {"corpus": corpus})))
    held = {"corpus": corpus, "run": run, "revision": state["revision"], "made_from": state["communities"]}
    staged = 0
    for batch in batched(new, REPORTS):
        vectors = yield from _vectors(models, corpus, batch, written)
        parameters = {"corpus": corpus, "run": run, "rows": _rows(batch, vectors)}
        if not (yield Write((("communities/stage", parameters),), ("communities/hold", {**held, "staged": staged}))):
            return None
        staged += len(batch)
        show("communities", staged, len(new))
    held["staged"] = staged
    members = ({"id": report.id, "entity": entity} for report in new for entity in report.community.members)
    for batch_of_members in batched(members, ROWS):
        parameters = {"corpus": corpus, "run": run, "rows": batch_of_members}
        if not (yield Write((("communities/stage_members", parameters),), ("communities/hold", held))):
            return None
    parents = [{"id": one.id, "parent": _parent(one, reports)} for one in reports]
    published = yield Write(
        (
            ("communities/publish", {"corpus": corpus, "run": run, "revision": state["revision"], "kept": kept}),
            ("communities/set_parents", {"corpus": corpus, "rows": parents}),
        ),
        ("communities/hold", held),
    )
    if not published:
        return None
    levels = max((one.community.level for one in reports), default=0)
    return EnrichReport(corpus, communities=len(reports), levels=levels, made=made, kept=len(reports) - made)


def _graph(corpus: str) -> Operation[tuple[dict[str, str], dict[tuple[str, str], float]]]:
    """Read the names of the entities, by key, and the weights of their edges."""
    names: dict[str, str] = {}
    weights: dict[tuple[str, str], float] = {}
    after = ""
    while rows := (yield Read("communities/edges", {"corpus": corpus, "after": after, "limit": ENTITIES_READ})):
        for row in rows:
            names[row["key"]] = row["name"]
            weights |= {(row["key"], other): round(weight, DIGITS) for other, weight in row["edges"]}
        after = rows[-1]["key"]
    return names, {pair: weight for pair, weight in weights.items() if weight > 0}


def _reports(
    corpus: str, hierarchy: Sequence[Community], names: Mapping[str, str], weights: Mapping[tuple[str, str], float]
) -> Operation[list[Report]]:
    chosen = list(choose_sentences(hierarchy, (yield from _sentences(corpus)), weights))
    texts = yield from _texts(corpus, {(one.chunk, *one.span) for sentences in chosen for one in sentences})
    return [
        Report(
            _hash(str(community.level), *community.members),
            community,
            title,
            " ".join(texts[one.chunk, *one.span] for one in sentences),
            tuple(dict.fromkeys(one.chunk for one in sentences)),
        )
        for community, title, sentences in zip(hierarchy, titles(hierarchy, weights, names), chosen, strict=True)
    ]


def _sentences(corpus: str) -> Operation[list[SentenceEntities]]:
    """Read the sentences of a corpus that have entities."""
    found = []
    after = ""
    while rows := (yield Read("communities/mentions", {"corpus": corpus, "after": after, "limit": CHUNKS_READ})):
        for row in rows:
            entities: defaultdict[int, list[str]] = defaultdict(list)
            for entity, numbers in sorted(row["mentions"]):
                for number in numbers:
                    entities[number].append(entity)
            sentences = decode(row["notes"]).sentences
            for number, at in enumerate(own_sentences_before_list(sentences, tuple(row["own"]))):
                sentence = sentences[at]
                if keys := entities[number]:
                    span = sentence.start, sentence.end
                    found.append(SentenceEntities(row["document"], row["index"], row["chunk"], span, tuple(keys)))
        after = rows[-1]["chunk"]
    return found


def _texts(corpus: str, spans: set[tuple[str, int, int]]) -> Operation[dict[tuple[str, int, int], str]]:
    """Read the texts of sentences, by chunk and span, without line breaks."""
    texts: dict[tuple[str, int, int], str] = {}
    for batch in batched(sorted(spans), SENTENCES_READ):
        parameters = [{"chunk": chunk, "start": start, "end": end} for chunk, start, end in batch]
        rows = yield Read("query/sentences", {"corpus": corpus, "spans": parameters})
        by_start = {(row["chunk"], row["start"]): " ".join(row["text"].split()) for row in rows}
        texts |= {span: by_start.get(span[:2], "") for span in batch}
    return texts


def _vectors(
    models: Models, corpus: str, reports: Sequence[Report], written: Collection[str]
) -> Operation[list[list[float]]]:
    """Return the vectors of reports. Those that are stored are not computed again."""
    again = sorted({report.report_sha256 for report in reports if report.report_sha256 in written})
    rows = yield Read("communities/vectors", {"corpus": corpus, "reports": again})
    vectors: dict[str, list[float]] = {row["report"]: row["embedding"] for row in rows}
    new = {report.report_sha256: report.embedded for report in reports if report.report_sha256 not in vectors}
    vectors |= dict(zip(new, embed_long(models.embedder, new.values()).tolist(), strict=True))
    return [vectors[report.report_sha256] for report in reports]


def _rows(reports: Sequence[Report], vectors: Sequence[Sequence[float]]) -> list[dict[str, Any]]:
    return [
        {
            "id": report.id,
            "level": report.community.level,
            "title": report.title,
            "text": report.text,
            "entities": len(report.community.members),
            "sha256": report.sha256,
            "report_sha256": report.report_sha256,
            "chunks": list(report.chunks),
            "embedding": vector,
        }
        for report, vector in zip(reports, vectors, strict=True)
    ]


def _parent(report: Report, reports: Sequence[Report]) -> str | None:
    parent = report.community.parent
    return None if parent is None else reports[parent].id


def _hash(*parts: str) -> str:
    return sha256("\0".join(parts).encode()).hexdigest()
