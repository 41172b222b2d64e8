"""Communities with their reports, as they are stored, and what extractive reports say: the sentences that tell most
about their entities together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace
from itertools import combinations

from e2g_neo4j.indexing.communities.hierarchy import Community, Weights
from e2g_neo4j.indexing.layer import hash_of
from e2g_neo4j.runtime.batched import split_batches
from e2g_neo4j.runtime.requests import Operation, Read
from e2g_neo4j.types.documents import Span

CHARACTERS = 600
"""Maximum length of the sentences of a report."""

NAMES, TIES = 3, 2
"""Names, and nouns that tie them, of the title of a community at most. One without names has both numbers of nouns."""


@dataclass(frozen=True, slots=True)
class SentenceEntities:
    """A sentence with its entities.

    Attributes:
        document: the id of the document.
        index: the number of the chunk in the document.
        chunk: the id of the chunk.
        span: the sentence, relative to the start of the chunk.
        entities: the keys of its entities, sorted.
        number: its number among the own sentences of the chunk, whose vectors are stored.
    """

    document: str
    index: int
    chunk: str
    span: Span
    entities: tuple[str, ...]
    number: int

    @property
    def length(self) -> int:
        return self.span[1] - self.span[0]

    @property
    def chunks(self) -> tuple[str]:
        return (self.chunk,)

    @property
    def order(self) -> tuple[str, int, Span]:
        """Sorts sentences in reading order."""
        return self.document, self.index, self.span


def choose_sentences(
    hierarchy: Sequence[Community], sentences: Iterable[SentenceEntities], weights: Weights
) -> Iterator[list[SentenceEntities]]:
    """Yield the sentences of each community's extractive report, in reading order. See `choose_covering_sentences`."""
    for chosen in choose_covering_sentences(hierarchy, sentences, weights, CHARACTERS, longest=CHARACTERS):
        yield sorted(chosen, key=lambda sentence: sentence.order)


def choose_covering_sentences(
    hierarchy: Sequence[Community],
    sentences: Iterable[SentenceEntities],
    weights: Weights,
    characters: int,
    *,
    longest: int,
) -> Iterator[list[SentenceEntities]]:
    """Yield the sentences that say most about each community, best first.

    One after the other is the sentence whose pairs of the community's entities weigh most per character, without pairs
    that an earlier one has. That is the greedy algorithm for maximum coverage under a budget.

    Args:
        weights: (a, b) → weight of the edge, with a < b.
        characters: the maximum length of all sentences of a community.
        longest: the maximum length of a sentence.
    """
    candidates: defaultdict[int, list[tuple[SentenceEntities, list[tuple[str, str]]]]] = defaultdict(list)
    memberships = memberships_of(hierarchy)
    for sentence in sentences:
        together: defaultdict[int, list[str]] = defaultdict(list)
        for entity in sentence.entities:
            for number in memberships[entity]:
                together[number].append(entity)
        for number, entities in together.items():
            if len(entities) > 1 and sentence.length <= longest:
                candidates[number].append((sentence, list(combinations(entities, 2))))
    for number in range(len(hierarchy)):
        yield list(_greedy(candidates[number], weights, characters))


def _greedy(
    candidates: Iterable[tuple[SentenceEntities, list[tuple[str, str]]]], weights: Weights, characters: int
) -> Iterator[SentenceEntities]:
    """Yield sentences by what they add per character. What a sentence adds only becomes less, so only the first of the
    heap has to be computed again."""
    covered: set[tuple[str, str]] = set()

    def adds(sentence: SentenceEntities, pairs: list[tuple[str, str]]) -> float:
        return round(sum(weights.get(pair, 0.0) for pair in pairs if pair not in covered) / sentence.length, 9)

    ordered = sorted(candidates, key=lambda one: one[0].order)
    heap = [(-adds(*one), place, one) for place, one in enumerate(ordered)]
    heapify(heap)
    left = characters
    while heap:
        before, place, (sentence, pairs) = heap[0]
        now = -adds(sentence, pairs)
        if sentence.length > left or now == 0:
            heappop(heap)
        elif now > before:
            heapreplace(heap, (now, place, (sentence, pairs)))
        else:
            heappop(heap)
            covered.update(pairs)
            left -= sentence.length
            yield sentence


def titles(hierarchy: Sequence[Community], weights: Weights, names: Mapping[str, str]) -> list[str]:
    """Return the title of each community: the names that are linked most within it, and the nouns that most weight ties
    to these, such as "Lucy, Mina: diary".

    Args:
        weights: (a, b) → weight of the edge.
        names: the name of each entity, by key.
    """
    inner: list[defaultdict[str, dict[str, float]]] = [defaultdict(dict) for _ in hierarchy]
    memberships = memberships_of(hierarchy)
    for (a, b), weight in weights.items():
        for number in set(memberships[a]).intersection(memberships[b]):
            inner[number][a][b] = inner[number][b][a] = weight
    return [_title(community.members, each, names) for community, each in zip(hierarchy, inner, strict=True)]


def _title(members: Sequence[str], weights: Mapping[str, Mapping[str, float]], names: Mapping[str, str]) -> str:
    def linked_most(keys: Iterable[str], to: Iterable[str], most: int) -> list[str]:
        ends = set(to)
        degrees = {key: round(sum(w for other, w in weights.get(key, {}).items() if other in ends), 6) for key in keys}
        return sorted(degrees, key=lambda key: (-degrees[key], key))[:most]

    nouns = {key for key in members if names[key] == names[key].lower()}
    named = linked_most(set(members) - nouns, members, NAMES)
    if not named:
        return ", ".join(names[key] for key in linked_most(nouns, members, NAMES + TIES))
    tied = linked_most((key for key in nouns if not weights[key].keys().isdisjoint(named)), named, TIES)
    return ": ".join(", ".join(names[key] for key in some) for some in (named, tied) if some)


def memberships_of(hierarchy: Sequence[Community]) -> defaultdict[str, list[int]]:
    """Return the numbers of each entity's communities."""
    memberships: defaultdict[str, list[int]] = defaultdict(list)
    for number, community in enumerate(hierarchy):
        for entity in community.members:
            memberships[entity].append(number)
    return memberships


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
        sources: the ids of the chunks that its findings cite: number n in the text is the n-th.
    """

    id: str
    community: Community
    title: str
    text: str
    chunks: tuple[str, ...]
    rating: int | None = None
    sentences: tuple[SentenceEntities, ...] = ()
    sources: tuple[str, ...] = ()

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
        return hash_of(self.shown, *([] if self.rating is None else [str(self.rating)]), *self.chunks, *self.sources)


def sentence_texts(corpus: str, spans: set[tuple[str, int, int]]) -> Operation[dict[tuple[str, int, int], str]]:
    """Read the texts of sentences, by chunk and span, without line breaks."""
    texts: dict[tuple[str, int, int], str] = {}
    for batch in split_batches(sorted(spans), SENTENCES_READ):
        parameters = [{"chunk": chunk, "start": start, "end": end} for chunk, start, end in batch]
        rows = yield Read("query/sentences", {"corpus": corpus, "spans": parameters})
        by_start = {(row["chunk"], row["start"]): " ".join(row["text"].split()) for row in rows}
        texts |= {span: by_start.get(span[:2], "") for span in batch}
    return texts
