"""A second implementation of the entity graph and of retrieval, to test the first one against.

Written from the steps of E²GraphRAG alone: plain dictionaries, breadth-first search, cosines over all nodes. Slow
and obvious; it shares no code with the package.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise
from math import exp, log, sqrt
from statistics import fmean, pstdev
from typing import TypeVar
from zlib import crc32

import numpy as np

K = TypeVar("K")

# --- the library that is indexed ---------------------------------------------------------------------


@dataclass(frozen=True)
class NaiveSentence:
    """A sentence of a document, each occurrence of an entity in it: (name, first character), and a vector, if it is not
    to be as good as random."""

    start: int
    end: int
    occurrences: tuple[tuple[str, int], ...]
    vector: tuple[float, ...] | None = None


@dataclass(frozen=True)
class NaiveWindow:
    """A part of a chunk; characters of the document."""

    start: int
    end: int
    vector: tuple[float, ...]


@dataclass(frozen=True)
class NaiveChunk:
    id: str
    index: int
    start: int
    end: int
    vector: tuple[float, ...]
    windows: tuple[NaiveWindow, ...]


@dataclass(frozen=True)
class NaiveSummary:
    id: str
    level: int
    index: int
    text: str
    children: tuple[str, ...]
    vector: tuple[float, ...]


@dataclass(frozen=True)
class NaiveDocument:
    id: str
    text: str
    sentences: tuple[NaiveSentence, ...]
    chunks: tuple[NaiveChunk, ...]
    summaries: tuple[NaiveSummary, ...]
    sections: tuple[tuple[str, str, int], ...] = ()
    """Kind ("page" or "heading"), label and first character of each, in order."""

    def heading(self, start: int, end: int) -> str | None:
        """The one that most characters stand under, counted one by one; of equals the first."""
        return most([self._last_before("heading", place) for place in range(start, end)])

    def page(self, start: int, end: int) -> str | None:
        first, last = self._last_before("page", start), self._last_before("page", end - 1)
        return f"{first}–{last}" if first and last and first != last else first or last

    def _last_before(self, kind: str, place: int) -> str | None:
        return next((label for one, label, begin in self.sections[::-1] if one == kind and begin <= place), None)

    def nodes(self) -> list[NaiveChunk | NaiveSummary]:
        return [*self.chunks, *self.summaries]

    def chunk_text(self, chunk: NaiveChunk) -> str:
        return self.text[chunk.start : chunk.end]

    def drawn_vector(self, sentence: NaiveSentence) -> tuple[float, ...]:
        """As an embedding model returns it."""
        text = self.text[sentence.start : sentence.end]
        drawn = np.random.default_rng(crc32(text.encode())).standard_normal(8).tolist()
        return sentence.vector or tuple(drawn)

    def sentence_vector(self, sentence: NaiveSentence) -> tuple[float, ...]:
        """As it is stored: in whole numbers from -127 to 127."""
        vector = self.drawn_vector(sentence)
        length = sqrt(sum(x * x for x in vector))
        return tuple(float(round(127 * x / length)) for x in vector)

    def counts(self, chunk: NaiveChunk) -> dict[str, int]:
        """How often each entity occurs in the text of a chunk."""
        counts: dict[str, int] = {}
        for sentence in self.sentences:
            for name, place in sentence.occurrences:
                if chunk.start <= place and place + len(name) <= chunk.end:
                    counts[name] = counts.get(name, 0) + 1
        return counts

    def sentences_of(self, chunk: NaiveChunk) -> list[dict[str, int]]:
        """Window by window, in how many sentences each entity stands; a sentence is where its middle is.

        Of a sentence that the chunk cuts off, the part that is in the chunk is taken for a whole one.
        """
        found: list[dict[str, int]] = [{} for _ in chunk.windows]
        for sentence in self.sentences:
            start, end = max(sentence.start, chunk.start), min(sentence.end, chunk.end)
            if start < end:
                before = [n for n, window in enumerate(chunk.windows) if window.start <= (start + end) / 2]
                counts = found[before[-1]]
                for name in {n for n, place in sentence.occurrences if start <= place and place + len(n) <= end}:
                    counts[name] = counts.get(name, 0) + 1
        return found

    def leaves(self, node: str) -> list[NaiveChunk]:
        """The chunks below a node of the tree; a chunk is its own."""
        for chunk in self.chunks:
            if chunk.id == node:
                return [chunk]
        for summary in self.summaries:
            if summary.id == node:
                return [leaf for child in summary.children for leaf in self.leaves(child)]
        raise KeyError(node)


def most(labels: Sequence[str | None]) -> str | None:
    return max(dict.fromkeys(labels), key=labels.count)


# --- step 3 of indexing: the graph -------------------------------------------------------------------


def edges_of(documents: list[NaiveDocument]) -> dict[tuple[str, str], tuple[int, float]]:
    """(a, b), a < b → in how many sentences both occur, and the sum over these of 1 / entities in the sentence.

    Counted over whole documents: chunks play no part, so a sentence in an overlap cannot count twice.
    """
    edges: dict[tuple[str, str], tuple[int, float]] = {}
    for document in documents:
        for sentence in document.sentences:
            names = {name for name, _ in sentence.occurrences}
            for a in names:
                for b in names:
                    if a < b:
                        count, weight = edges.get((a, b), (0, 0.0))
                        edges[a, b] = (count + 1, weight + 1 / len(names))
    return edges


# --- query time --------------------------------------------------------------------------------------


@dataclass
class NaivePassage:
    document: str
    level: int
    start: int
    end: int
    text: str
    nodes: list[str]
    pairs: list[tuple[str, str, int]] = field(default_factory=list)
    heading: str | None = None
    """Of windows only."""


@dataclass
class NaiveAnswer:
    route: str
    entities: list[str]
    pairs: set[tuple[str, str, int]]
    hops: int
    trace: list[tuple[int, int, int]]
    chosen: list[str]
    passages: list[NaivePassage]


def ask(documents: list[NaiveDocument], names: list[str], vector: list[float], *, k: int, h: int) -> NaiveAnswer:
    """The six steps. `chosen` are the nodes before duplicates are dropped and neighbours merged, best first."""
    mentioned = {name for d in documents for chunk in d.chunks for name in d.counts(chunk)}
    entities = [name for number, name in enumerate(names) if name in mentioned and name not in names[:number]]
    graph: dict[str, set[str]] = {}
    for a, b in edges_of(documents):
        graph.setdefault(a, set()).add(b)
        graph.setdefault(b, set()).add(a)

    if not entities:
        chosen = different(documents, [node for node, _ in nearest(documents, vector)][: 2 * k])[:k]
        return NaiveAnswer("global", [], set(), h, [(h, 0, 0)], chosen, merged(documents, chosen, {}))

    distance: dict[tuple[str, str], int] = {}
    for a, b in combinations(sorted(entities), 2):
        found = hops_between(graph, a, b)
        if found is not None and found <= h:
            distance[a, b] = found

    trace = []
    last_with_chunks: tuple[int, list[str]] | None = None
    allowed = h
    while allowed >= 1:
        near = [pair for pair in distance if distance[pair] <= allowed]
        holding = [c for c in all_chunks(documents) if any(holds(documents, c, pair) for pair in near)]
        trace.append((allowed, len(near), len(holding)))
        if holding:
            last_with_chunks = allowed, holding
        if len(holding) <= k:
            break
        allowed -= 1

    if last_with_chunks is None:
        occurrences = {
            node: sum(d.counts(leaf).get(name, 0) for leaf in d.leaves(node) for name in entities)
            for node, d in nodes_of(documents).items()
        }
        candidates = different(documents, [node for node, _ in nearest(documents, vector)][: 2 * k])
        candidates.sort(key=lambda node: -occurrences[node])  # stable: among equals the nearer first
        chosen = candidates[:k]
        pairs = {(a, b, hops) for (a, b), hops in distance.items()}
        return NaiveAnswer("global", entities, pairs, h, trace, chosen, merged(documents, chosen, {}))

    used, holding = last_with_chunks

    def rank(chunk: str) -> tuple[int, int]:
        counts = counts_of(documents, chunk)
        return (
            -sum(1 for name in entities if name in counts),
            -sum(counts.get(name, 0) for name in entities),
        )

    chosen = sorted(holding, key=rank)[:k]  # stable: among equals in order of document and place
    pairs = {(a, b, hops) for (a, b), hops in distance.items() if hops <= used}
    behind = {c: [p for p in sorted(pairs) if holds(documents, c, (p[0], p[1]))] for c in chosen}
    return NaiveAnswer("local", entities, pairs, used, trace, chosen, merged(documents, chosen, behind))


def shares_of(documents: list[NaiveDocument], node: str, names: list[str]) -> dict[str, int | str]:
    """What `coverage` and `occurrence` of a node are made of. No text of these libraries is long without spaces."""
    document = nodes_of(documents)[node]
    leaves = document.leaves(node)
    counts: dict[str, int] = {}
    for leaf in leaves:
        for name, count in document.counts(leaf).items():
            counts[name] = counts.get(name, 0) + count
    return {
        "id": node,
        "entities": len(counts),
        "matched": len(counts.keys() & set(names)),
        "words": sum(len(re.findall(r"[^ \n\t\r]+", document.chunk_text(leaf))) for leaf in leaves),
        "mentions": sum(counts.get(name, 0) for name in set(names)),
    }


def hops_between(graph: dict[str, set[str]], start: str, goal: str) -> int | None:
    """Edges on the shortest path, by breadth-first search."""
    seen = {start: 0}
    queue = deque([start])
    while queue:
        name = queue.popleft()
        if name == goal:
            return seen[name]
        for neighbour in graph.get(name, ()):
            if neighbour not in seen:
                seen[neighbour] = seen[name] + 1
                queue.append(neighbour)
    return None


def nearest(documents: list[NaiveDocument], vector: list[float]) -> list[tuple[str, float]]:
    """All nodes of all trees with their cosine, nearest first."""
    found = []
    for document in documents:
        for node in document.nodes():
            found.append((node.id, cosine(node.vector, vector)))
    return sorted(found, key=lambda item: (-item[1], item[0]))


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    a, b = np.array(one, dtype=float), np.array(other, dtype=float)
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def merged(
    documents: list[NaiveDocument], chosen: list[str], behind: dict[str, list[tuple[str, str, int]]]
) -> list[NaivePassage]:
    """Nodes with a text that was there before dropped, then chunks that touch or overlap made one passage.

    A passage stands where the best of its nodes stood; its text is the slice of the document.
    """
    nodes = nodes_of(documents)
    kept = different(documents, chosen)
    passages: list[NaivePassage] = []
    done: set[str] = set()
    for node in kept:
        if node in done:
            continue
        document = nodes[node]
        run = [node]
        places = {chunk.id: (chunk.start, chunk.end) for chunk in document.chunks if chunk.id in kept}
        if node in places:
            while touching := [
                one
                for one in places
                if one not in run and any(distance(places[one], places[other]) <= 0 for other in run)
            ]:
                run += touching
            run.sort(key=lambda one: places[one])
        done.update(run)
        start, end = document.leaves(run[0])[0].start, document.leaves(run[-1])[-1].end
        level = next((s.level for s in document.summaries if s.id == node), 0)
        text = text_of(documents, node) if level else document.text[start:end]
        pairs = sorted({pair for one in run for pair in behind.get(one, [])})
        passages.append(NaivePassage(document.id, level, start, end, text, run, pairs))
    return passages


def different(documents: list[NaiveDocument], chosen: list[str]) -> list[str]:
    """Nodes without those whose text was there before."""
    kept: list[str] = []
    for node in chosen:
        if text_of(documents, node) not in [text_of(documents, other) for other in kept]:
            kept.append(node)
    return kept


def distance(one: tuple[int, int], other: tuple[int, int]) -> int:
    """Characters between two spans; 0 where they touch, less where they overlap."""
    return max(one[0], other[0]) - min(one[1], other[1])


def nodes_of(documents: list[NaiveDocument]) -> dict[str, NaiveDocument]:
    return {node.id: document for document in documents for node in document.nodes()}


def all_chunks(documents: list[NaiveDocument]) -> list[str]:
    return [chunk.id for document in sorted(documents, key=lambda d: d.id) for chunk in document.chunks]


def counts_of(documents: list[NaiveDocument], chunk: str) -> dict[str, int]:
    document = nodes_of(documents)[chunk]
    return next(document.counts(one) for one in document.chunks if one.id == chunk)


def holds(documents: list[NaiveDocument], chunk: str, pair: tuple[str, str]) -> bool:
    counts = counts_of(documents, chunk)
    return pair[0] in counts and pair[1] in counts


def text_of(documents: list[NaiveDocument], node: str) -> str:
    document = nodes_of(documents)[node]
    for chunk in document.chunks:
        if chunk.id == node:
            return document.chunk_text(chunk)
    return next(summary.text for summary in document.summaries if summary.id == node)


# --- retrieval without the entity graph --------------------------------------------------------------


def dense(documents: list[NaiveDocument], vector: Sequence[float]) -> list[str]:
    """All windows, nearest first. If two are equally near but for rounding, either may be the first."""
    nears = {id: cosine(place.vector, vector) for id, place in windows(documents).items()}
    order = sorted(nears, key=lambda id: -nears[id])
    if any(nears[a] - nears[b] < 4e-5 for a, b in pairwise(order)):
        raise AmbiguousError
    return order


def chunks_of(places: Mapping[str, NaivePlace], order: Sequence[str]) -> list[str]:
    """The chunks of windows, each where its first window stands."""
    return list(dict.fromkeys(places[id].chunk for id in order))


def tree(documents: list[NaiveDocument], vector: list[float], k: int) -> list[str]:
    """The k nearest nodes of all trees."""
    return different(documents, [node for node, _ in nearest(documents, vector)][: 2 * k])[:k]


STOP_WORDS = {"a", "an", "in"}
"""Words that the index leaves out, as far as borders leave them of a name."""


def containing(texts: Mapping[str, str], words: list[str]) -> dict[str, tuple[dict[str, int], int]]:
    """The texts with at least one of the words: how often each stands there, and how many words there are in all."""
    found = {}
    for id, text in texts.items():
        signs = "".join(sign if sign.isalnum() else " " for sign in text.lower())
        there = [word for word in signs.split() if word not in STOP_WORDS]
        counts = {word: there.count(word) for word in words if word in there}
        if counts:
            found[id] = counts, len(there)
    return found


def fused(*rankings: Sequence[str]) -> list[str]:
    """Reciprocal ranks of several lists added: 1 / (60 + rank)."""
    nodes = {node for ranking in rankings for node in ranking}
    total = {node: sum(1 / (60 + ranking.index(node) + 1) for ranking in rankings if node in ranking) for node in nodes}
    return sorted(nodes, key=lambda node: (-total[node], node))


# --- windows by what vectors, words and entities say -------------------------------------------------


@dataclass(frozen=True)
class NaivePlace:
    """A window, where it is in its document (0, 1, 2, … over all chunks), and its part of its chunk's characters."""

    document: NaiveDocument
    chunk: str
    position: int
    start: int
    end: int
    share: float
    vector: tuple[float, ...]
    sentences: Mapping[str, int]

    @property
    def text(self) -> str:
        return self.document.text[self.start : self.end]


def windows(documents: list[NaiveDocument]) -> dict[str, NaivePlace]:
    """Every window by its id: that of its chunk, "-w" and its number."""
    found = {}
    for document in documents:
        position = 0
        for chunk in document.chunks:
            whole = sum(window.end - window.start for window in chunk.windows)
            for number, (window, counts) in enumerate(zip(chunk.windows, document.sentences_of(chunk), strict=True)):
                share = (window.end - window.start) / whole
                found[f"{chunk.id}-w{number}"] = NaivePlace(
                    document, chunk.id, position, window.start, window.end, share, window.vector, counts
                )
                position += 1
    return found


def persistence(rows: Sequence[Sequence[float]]) -> float:
    """How much more alike neighbours are than any two: (neighbours - pairs) / (1 - pairs), at least 0; divided by .01
    where 1 - pairs is less."""
    if len(rows) < 3:
        return 0.0
    neighbours = fmean(cosine(rows[i], rows[i + 1]) for i in range(len(rows) - 1))
    pairs = fmean(cosine(a, b) for a, b in combinations(rows, 2))
    return max(0.0, (neighbours - pairs) / max(1 - pairs, 0.01)) if pairs < 1 - 1e-6 else 0.0


def weight(sentences: Mapping[str, int]) -> float:
    """Of a window: the sum over its entities of 1 + ln(sentences)."""
    return sum(1 + log(count) for count in sentences.values())


def seeds_of(
    places: Mapping[str, NaivePlace],
    vector: Sequence[float],
    by_words: Sequence[tuple[str, float]],
    *,
    depth: int,
    worth: float,
) -> dict[str, float]:
    """The windows that activate, with how well they fit: three of the `depth` nearest and of the first `depth` by
    words, the best by cosine / scale + worth * BM25 / the best BM25, where the scale is the range of the `depth` best
    cosines, at least .01. BM25 of windows that are not among these first is 0."""
    nears = {id: cosine(place.vector, vector) for id, place in places.items()}
    nearest, words = cut(nears, depth), dict(by_words[:depth])
    scale = max(nears[nearest[0]] - nears[nearest[-1]], 0.01)
    fits = {
        id: nears[id] / scale + (worth * words[id] / max(words.values()) if id in words else 0.0)
        for id in {*nearest, *words}
    }
    return {id: fits[id] for id in cut(fits, 3)}


def spread(
    documents: list[NaiveDocument],
    entities: Sequence[str],
    seeds: Mapping[str, float],
    *,
    active: int,
    reach: int,
    hub: int,
) -> dict[str, float]:
    """Activation that reaches each window.

    The seeds share it by the softmax of their fit / 0.25, and hand it to their entities by idf * (1 + ln(sentences));
    the question's entities, where there are any, get 0.3 of all by idf. The `active` entities that have most of
    activation * idf / sqrt(chunks) give it to windows by (1 + ln(sentences)) / sqrt(weight), until those before are in
    `reach` chunks together; those in more than `hub` chunks give nothing.
    """
    places = windows(documents)
    chunks = all_chunks(documents)
    mentioning: dict[str, int] = {}
    for chunk in chunks:
        for name in counts_of(documents, chunk):
            mentioning[name] = mentioning.get(name, 0) + 1
    idf = {name: log(1 + len(chunks) / number) for name, number in mentioning.items()}

    own = 0.3 if entities else 0.0
    activation = {name: own * idf[name] / sum(idf[other] for other in entities) for name in entities}
    best = max(seeds.values(), default=0.0)
    for seed, fit in seeds.items():
        share = exp((fit - best) / 0.25) / sum(exp((other - best) / 0.25) for other in seeds.values())
        masses = {name: idf[name] * (1 + log(count)) for name, count in places[seed].sentences.items()}
        for name, mass in masses.items():
            activation[name] = activation.get(name, 0.0) + (1 - own) * share * mass / sum(masses.values())

    near = {name: given for name, given in activation.items() if mentioning[name] <= hub}
    strength = {name: given * idf[name] / sqrt(mentioning[name]) for name, given in near.items()}
    strongest, before = list[str](), 0
    for tied in ties(strength, cut(strength, active)):
        sizes = [mentioning[name] for name in tied]
        if before >= reach:
            break
        if before + sum(sizes) - min(sizes) >= reach and len(tied) > 1:
            raise AmbiguousError
        strongest += tied
        before += sum(sizes)
    reached = {}
    for id, place in places.items():
        given = sum(strength[name] * (1 + log(n)) for name, n in place.sentences.items() if name in strongest)
        if given:
            reached[id] = given / sqrt(weight(place.sentences))
    return reached


class AmbiguousError(Exception):
    """Two are equal but for rounding, so that the order, or the end of a list, may be one way or the other."""


def cut(scores: Mapping[K, float], length: int) -> list[K]:
    """The first so many of the best."""
    order = sorted(scores, key=lambda one: -scores[one])
    if length < len(order) and scores[order[length - 1]] - scores[order[length]] < 1e-9:
        raise AmbiguousError
    return order[:length]


def ties(scores: Mapping[K, float], order: list[K]) -> list[list[K]]:
    """A sorted list, in runs of those that are equal but for rounding."""
    runs: list[list[K]] = []
    for one in order:
        if runs and scores[runs[-1][-1]] - scores[one] < 1e-9:
            runs[-1].append(one)
        else:
            runs.append([one])
    return runs


def signalled(
    documents: list[NaiveDocument],
    entities: Sequence[str],
    vector: Sequence[float],
    by_words: list[tuple[str, float]],
    chunks_by_words: list[tuple[str, float]],
    *,
    weight_of_words: float,
    depth: int = 20,
    matches: int = 200,
    active: int = 50,
    reach: int = 2000,
    hub: int = 1000,
) -> dict[str, float]:
    """The score of each candidate window; BM25 of windows and chunks is given, best first. If words have no weight,
    they choose no seeds.

    1.5 * z(cosine) + 0.5 * (1 - share) * z(best cosine in the chunk) + 0.7 * z(spread)
    + weight of words * (z(words) + (1 - share) * z(words of the chunk)),
    where spread is compared with all windows and the others with the candidates; and what the neighbours lend.
    """
    places = windows(documents)
    seeds = seeds_of(places, vector, by_words, depth=depth, worth=0.5 if weight_of_words else 0.0)
    reached = spread(documents, entities, seeds, active=active, reach=reach, hub=hub)
    nears = {id: cosine(place.vector, vector) for id, place in places.items()}
    chosen = {places[id].chunk for id in [*cut(nears, depth), *cut(reached, depth)]}
    chosen |= {places[id].chunk for id, _ in by_words[:depth]} | {chunk for chunk, _ in chunks_by_words[:depth]}
    candidates = [id for id, place in places.items() if place.chunk in chosen]

    told = {id: reached[id] for id in cut(reached, matches)}
    everywhere = [reached.get(id, 0.0) for id in places]
    mean, deviation = fmean(everywhere), pstdev(everywhere)
    near = z([nears[id] for id in candidates])
    words = z([dict(by_words).get(id, 0.0) for id in candidates])
    around = z([dict(chunks_by_words).get(places[id].chunk, 0.0) for id in candidates])
    nearest = z([max(nears[one] for one in candidates if places[one].chunk == places[id].chunk) for id in candidates])
    alone = {}
    for number, id in enumerate(candidates):
        far = (told.get(id, 0.0) - mean) / deviation if deviation > 1e-6 * mean else 0.0
        rest = 1 - places[id].share
        by_vectors = 1.5 * near[number] + 0.5 * rest * nearest[number]
        alone[id] = by_vectors + 0.7 * far + weight_of_words * (words[number] + rest * around[number])
    return {id: alone[id] + lent(id, alone, places) for id in candidates}


def z(values: list[float]) -> list[float]:
    mean, deviation = fmean(values), pstdev(values)
    return [(value - mean) / deviation if deviation > 1e-6 * max(map(abs, values)) else 0.0 for value in values]


def lent(id: str, scores: Mapping[str, float], places: Mapping[str, NaivePlace]) -> float:
    """From up to four windows to either side, as far as all between are candidates: the share, its square, …"""
    here = places[id]
    of_document = {place.position: other for other, place in places.items() if place.document is here.document}
    vectors = [places[of_document[position]].vector for position in sorted(of_document)]
    share = min(0.9, 1.5 * max(0.0, persistence(vectors) - 0.35))
    total = 0.0
    for direction in (-1, 1):
        for step in range(1, 5):
            other = of_document.get(here.position + direction * step)
            if other is None or other not in scores:
                break
            total += share**step * scores[other]
    return total


# --- windows by several routes -----------------------------------------------------------------------


def routed(
    documents: list[NaiveDocument],
    entities: Sequence[str],
    vector: Sequence[float],
    *,
    hops: int,
    entry: int = 10,
    seeds: int = 10,
    neighbours: int = 10,
    compared: int = 100,
    hub: int = 1000,
    limit: int = 200,
    by_name: Mapping[str, float] | None = None,
) -> dict[str, tuple[float, float, str]]:
    """Of each window that is found: its score, its coverage and how it was found.

    Entities of the question count 1, of the `entry` nearest windows the part of these in which they stand, neighbours
    half of the most that one next to them counts; all by idf. Neighbours are chosen by weight and idf, and of the first
    `compared` by `by_name`. The nearest windows are found, and those with entities that count, at most `limit`. Scored
    by z(cosine) + z(coverage) + z(part of the nearest windows in the document).
    """
    places = windows(documents)
    chunks = all_chunks(documents)
    held = [set(counts_of(documents, chunk)) for chunk in chunks]
    mentioning = {name: sum(name in names for names in held) for name in set().union(*held)}
    idf = {name: log(1 + len(chunks) / number) for name, number in mentioning.items() if number <= hub}
    nears = {id: cosine(place.vector, vector) for id, place in places.items()}
    nearest = cut(nears, entry)

    def best(strengths: Mapping[str, float], number: int) -> list[str]:
        return sorted(strengths, key=lambda name: (-round(strengths[name], 6), name))[:number]

    counted = {name: 1.0 for name in entities if name in idf}
    origin = dict.fromkeys(counted, "question")
    standing = {name: sum(name in places[id].sentences for id in nearest) for name in idf}
    there = {name: number * idf[name] for name, number in standing.items() if number and name not in counted}
    for name in best(there, seeds):
        counted[name], origin[name] = standing[name] / len(nearest), "seed"

    edges = {
        (one, other): weight for (a, b), (_, weight) in edges_of(documents).items() for one, other in [(a, b), (b, a)]
    }
    frontier = list(counted)
    for _ in range(hops):
        around = {b for a, b in edges if a in frontier and b in idf and b not in counted}
        before = {b: [a for a in frontier if (a, b) in edges] for b in around}
        strengths = {b: idf[b] * sum(counted[a] * edges[a, b] for a in before[b]) for b in around}
        strengths = {b: strengths[b] * (by_name[b] if by_name else 1) for b in best(strengths, compared)}
        frontier = best(strengths, neighbours)
        found = {b: 0.5 * max(counted[a] for a in before[b]) for b in frontier}
        counted |= found
        origin |= dict.fromkeys(found, "neighbour")

    whole = sum(counted[name] * idf[name] for name in counted)
    active = {id: [name for name in place.sentences if name in counted] for id, place in places.items()}
    coverage = {id: sum(counted[name] * idf[name] for name in names) / whole for id, names in active.items() if names}
    number = {id: int(id.rsplit("-w", 1)[1]) for id in places}
    kept = sorted(coverage, key=lambda id: (id not in nearest, -round(coverage[id], 6), places[id].chunk, number[id]))
    coverage = dict.fromkeys(nearest, 0.0) | {id: coverage[id] for id in kept[:limit]}

    ids = list(coverage)
    in_document = [sum(places[one].document is places[id].document for one in nearest) / len(nearest) for id in ids]
    near, covered, by_document = z([nears[id] for id in ids]), z([coverage[id] for id in ids]), z(in_document)
    ways = ("question", "seed", "neighbour")
    return {
        id: (
            near[n] + covered[n] + by_document[n],
            coverage[id],
            "vector" if id in nearest else min((origin[name] for name in active[id]), key=ways.index),
        )
        for n, id in enumerate(ids)
    }


# --- windows in turn by vectors, entities and relations ----------------------------------------------


def taking_turns(
    documents: list[NaiveDocument],
    entities: Sequence[str],
    vector: Sequence[float],
    *,
    nearest: int = 20,
    entry: int = 5,
    relations: int = 40,
    hub: int = 1000,
    limit: int = 200,
    windows_each: float = 12.5,
) -> list[str]:
    """Windows: nearest, of entities and of relations in turn, then all others that were found. No list has ties.

    A window of several relations belongs to the first; relations without a window of their own do not count.
    """
    order = dense(documents, vector)
    places = windows(documents)
    held = [set(counts_of(documents, chunk)) for chunk in all_chunks(documents)]
    usual = {name for name in set().union(*held) if sum(name in names for names in held) <= hub}
    edges = {pair: weight for pair, (_, weight) in edges_of(documents).items()}

    def degrees(pair: tuple[str, str]) -> int:
        return sum((name in other) for name in pair for other in edges)

    named = {name for name in entities if name in usual}
    local = sorted(
        (pair for pair in edges if named & set(pair) and set(pair) <= usual),
        key=lambda pair: (-degrees(pair), -round(edges[pair], 6), pair),
    )[:relations]
    first: dict[tuple[str, str], int] = {}
    for rank, id in enumerate(order[: min(entry, nearest)]):
        for pair in edges:
            if set(pair) <= usual & set(places[id].sentences):
                first.setdefault(pair, rank)
    near = sorted(first, key=lambda pair: (first[pair], -round(edges[pair], 6), pair))[:relations]

    active = named.union(*local, *near)
    mentioned = {id: active & set(place.sentences) for id, place in places.items() if active & set(place.sentences)}
    number = {id: int(id.rsplit("-w", 1)[1]) for id in places}
    kept = sorted(mentioned, key=lambda id: (-len(mentioned[id]), places[id].chunk, number[id]))[:limit]
    found = [id for id in order if id in kept or id in order[:nearest]]
    ends = named.union(*near)
    by_entity = [id for id in found if id in kept and mentioned[id] & ends][: int(windows_each * len(ends))]
    owners: dict[str, tuple[str, str]] = {}
    in_turn = [one[turn] for turn in range(len(edges)) for one in (local, near) if turn < len(one)]
    for pair in in_turn:
        for id in kept:
            if id not in by_entity and set(pair) <= mentioned[id]:
                owners.setdefault(id, pair)
    by_relation = [id for id in found if id in owners][: int(windows_each * len({*owners.values()}))]
    lists = [order[:nearest], by_entity, by_relation]
    turns = [one[turn] for turn in range(len(found)) for one in lists if turn < len(one)]
    return list(dict.fromkeys([*turns, *found]))


# --- windows by PageRank ------------------------------------------------------------------------------


def pageranked(
    documents: list[NaiveDocument],
    entities: Sequence[str],
    vector: Sequence[float],
    *,
    limit: int,
    entry: int = 10,
    seeds: int = 10,
    around: int = 200,
    hub: int = 1000,
    relations: int = 64,
    similar: Mapping[str, float] | None = None,
) -> dict[str, float]:
    """Of each window that is found: its score, 0 if it is found by its vector alone.

    Seeds are entities of the question, by 1 / the chunks with them, `similar` ones, by their cosine likewise, and those
    of the `entry` nearest windows, by the part of these in which they stand / the chunks with them. PageRank runs on
    the edges between seeds and the `around` entities next to them.
    """
    places = windows(documents)
    chunks = all_chunks(documents)
    held = [set(counts_of(documents, chunk)) for chunk in chunks]
    mentioning = {name: sum(name in names for names in held) for name in set().union(*held)}
    known = [name for name, number in mentioning.items() if number <= hub]
    nears = {id: cosine(place.vector, vector) for id, place in places.items()}
    nearest = cut(nears, entry)

    counted = {**(similar or {}), **dict.fromkeys(entities, 1.0)}
    weights = {name: value / mentioning[name] for name, value in counted.items() if name in known}
    standing = {name: sum(name in places[id].sentences for id in nearest) for name in known if name not in weights}
    rare = {name: number * log(1 + len(chunks) / mentioning[name]) for name, number in standing.items() if number}
    for name in sorted(rare, key=lambda name: (-round(rare[name], 6), name))[:seeds]:
        weights[name] = standing[name] / len(nearest) / mentioning[name]

    edges = [(a, b) for a, b in edges_of(documents) if a in known and b in known]
    beside = {name: [a if b == name else b for a, b in edges if name in (a, b)] for name in known}
    given: dict[str, float] = {}
    for seed, weight in weights.items():
        for name in beside[seed]:
            if name not in weights:
                given[name] = given.get(name, 0.0) + weight / len(beside[seed])
    kept = {*weights, *sorted(given, key=lambda name: (-round(given[name], 9), name))[:around]}
    edges = [(a, b) for a, b in edges if a in kept and b in kept]

    ranks = walked(weights, edges, kept)
    scores = {(a, b): ranks[a] + ranks[b] for a, b in edges}
    best = sorted(scores, key=lambda pair: (-round(scores[pair], 9), pair))[:relations]
    stated = {id: [scores[a, b] for a, b in best if {a, b} <= set(place.sentences)] for id, place in places.items()}
    number = {id: int(id.rsplit("-w", 1)[1]) for id in places}
    found = {id: sum(ones) for id, ones in stated.items() if ones}
    order = sorted(found, key=lambda id: (-round(found[id], 9), places[id].chunk, number[id]))
    return dict.fromkeys(cut(nears, limit), 0.0) | {id: found[id] for id in order[:limit]}


def walked(weights: Mapping[str, float], edges: Sequence[tuple[str, str]], names: set[str]) -> dict[str, float]:
    """Where a walker is who starts at a seed, and at each step goes on to a neighbour, or with .15 back to a seed."""
    beside = {name: [a if b == name else b for a, b in edges if name in (a, b)] for name in names}
    whole = sum(weights.values())
    start = {name: weights.get(name, 0.0) / whole for name in names}
    here = start
    for _ in range(300):
        there = {name: 0.85 * sum(here[other] / len(beside[other]) for other in beside[name]) for name in names}
        returning = 1 - sum(there.values())
        here = {name: there[name] + returning * start[name] for name in names}
    return here


# --- windows by PageRank over entities and windows ---------------------------------------------------


@dataclass(frozen=True)
class NaiveTold:
    """A sentence with its chunk, the entities in it, and how near it is."""

    chunk: str
    names: frozenset[str]
    near: float


def sentences_told(
    documents: list[NaiveDocument], vector: Sequence[float], own: Mapping[str, list[int]]
) -> dict[tuple[str, int], NaiveTold]:
    """Every sentence by its chunk and number. `own`: by document, where the own sentences of each chunk begin."""
    found = {}
    for document in documents:
        borders = own[document.id]
        for chunk, first, last in zip(document.chunks, borders, borders[1:], strict=False):
            mine = [one for one in document.sentences if first <= max(one.start, chunk.start) < last]
            for number, one in enumerate(mine):
                names = frozenset(name for name, _ in one.occurrences)
                near = cosine(document.sentence_vector(one), vector)
                found[chunk.id, number] = NaiveTold(chunk.id, names, near)
    return found


def flowed(
    documents: list[NaiveDocument],
    vector: Sequence[float],
    seeds: Mapping[str, float],
    counting: Mapping[str, float],
    passages: Callable[[str, float], float],
    limit: int,
) -> dict[str, float]:
    """Where a walker is, of each window that is looked at, who starts at an entity or a window, and at each step stays
    with a half chance on the way: from an entity to a window, by 1 + ln(sentences), and back.

    Looked at are the `limit` nearest windows, and as many of those that count most by `counting`. Who leaves them
    starts again. `passages`: what a window weighs as a start, by its id and its cosine, from 0 for the
    last of the nearest to 1 for the first.
    """
    places = windows(documents)
    nears = {id: cosine(place.vector, vector) for id, place in places.items()}
    count = {
        id: sum(counting[name] * log(1 + times) for name, times in place.sentences.items() if name in counting)
        for id, place in places.items()
    }
    mentioning = {id: value for id, value in count.items() if set(places[id].sentences) & set(counting)}
    number = {id: int(id.rsplit("-w", 1)[1]) for id in places}
    most = sorted(mentioning, key=lambda id: (-round(mentioning[id], 9), places[id].chunk, number[id]))
    nearest = cut(nears, limit)
    seen = {*nearest, *most[:limit]}
    high, low = nears[nearest[0]], nears[nearest[-1]]
    scaled = {id: (nears[id] - low) / (high - low) if high > low else 1.0 for id in nearest}
    starts = {id: passages(id, scaled.get(id, 0.0)) for id in seen}

    def flow(id: str, name: str) -> float:
        return 1 + log(places[id].sentences[name]) if name in places[id].sentences else 0.0

    degree = {name: sum(flow(id, name) for id in places) for name in seeds}
    width = {id: sum(flow(id, name) for name in places[id].sentences) for id in seen}
    whole = sum(seeds.values()) + sum(starts.values())
    if not whole:
        return dict.fromkeys(seen, 0.0)
    at_names, at_windows = dict.fromkeys(seeds, 0.0), dict.fromkeys(seen, 0.0)
    for _ in range(80):
        to_names = {
            name: 0.5 * sum(at_windows[id] * flow(id, name) / width[id] for id in seen if width[id]) for name in seeds
        }
        to_windows = {id: 0.5 * sum(at_names[name] * flow(id, name) / degree[name] for name in seeds) for id in seen}
        again = 1 - sum(to_names.values()) - sum(to_windows.values())
        at_names = {name: to_names[name] + again * seeds[name] / whole for name in seeds}
        at_windows = {id: to_windows[id] + again * starts[id] / whole for id in seen}
    return at_windows


def connected(
    documents: list[NaiveDocument],
    entities: Sequence[str],
    vector: Sequence[float],
    own: Mapping[str, list[int]],
    *,
    limit: int = 200,
    steps: int = 3,
    sentences: int = 3,
    threshold: float = 0.3,
    prior: int = 10,
    chunks: int = 10,
    hub: int = 1000,
) -> dict[str, float]:
    """Mode `linear`: active entities activate those that stand in a near sentence with them."""
    told, places = sentences_told(documents, vector, own), windows(documents)
    held = {chunk: set(counts_of(documents, chunk)) for chunk in all_chunks(documents)}
    mentioning = {name: sum(name in names for names in held.values()) for name in set().union(*held.values())}
    known = {name for name, number in mentioning.items() if number <= hub}
    active = {name: (1.0, 1) for name in entities if name in known}
    reading, used = set(active), set[tuple[str, int]]()
    nearest = base = 0.0
    for step in range(2, steps + 2):
        choices: dict[str, list[tuple[str, int]]] = {}
        for name in reading:
            near_chunks = {
                chunk: max(
                    cosine(place.vector, vector)
                    for place in places.values()
                    if place.chunk == chunk and name in place.sentences
                )
                for chunk in {one.chunk for one in told.values() if name in one.names}
            }
            kept = set(cut(near_chunks, chunks))
            choices[name] = [key for key, one in told.items() if name in one.names and one.chunk in kept]
        read = {one.chunk for name in reading for one in map(told.__getitem__, choices[name])}
        nears = [one.near for one in told.values() if one.chunk in read]
        base = max(0.0, sum(nears) / (len(nears) + prior)) if step == 2 else base
        nearest = max([nearest, *((near - base) / (1 - base) for near in nears)])
        passed: dict[tuple[str, int], float] = {}
        for name in sorted(reading, key=lambda name: (-round(active[name][0], 5), name)):
            free = {key: (told[key].near - base) / (1 - base) for key in choices[name] if key not in used}
            for key in cut(free, sentences):
                used.add(key)
                if (score := active[name][0] * free[key]) >= threshold:
                    passed[key] = score
        new: dict[str, float] = {}
        reading = set()
        for key, score in passed.items():
            for name in told[key].names & known - set(active):
                new[name] = max(score, new.get(name, 0.0))
                if step <= steps and score * nearest >= threshold:
                    reading.add(name)
        active |= {name: (score, step) for name, score in new.items()}
        if not new:
            break

    def passages(id: str, near: float) -> float:
        found = [(active[name], times) for name, times in places[id].sentences.items() if name in active]
        return 0.05 * (5 * near + log(1 + sum(score * log(1 + times) / step for (score, step), times in found)))

    seeds = {name: score for name, (score, _) in active.items()}
    counting = {name: score / step for name, (score, step) in active.items()}
    return flowed(documents, vector, seeds, counting, passages, limit)


def remembered(
    documents: list[NaiveDocument],
    entities: Sequence[str],
    vector: Sequence[float],
    own: Mapping[str, list[int]],
    *,
    limit: int = 200,
    entry: int = 20,
    sentences: int = 20,
    facts: int = 5,
    hub: int = 1000,
) -> dict[str, float]:
    """Mode `hipporag`: from the entities of the question and of the nearest sentences."""
    told, places = sentences_told(documents, vector, own), windows(documents)
    held = {chunk: set(counts_of(documents, chunk)) for chunk in all_chunks(documents)}
    mentioning = {name: sum(name in names for names in held.values()) for name in set().union(*held.values())}
    known = {name for name, number in mentioning.items() if number <= hub}
    near_windows = cut({id: cosine(place.vector, vector) for id, place in places.items()}, entry)
    near_chunks = {places[id].chunk for id in near_windows}
    near = cut({key: one.near for key, one in told.items() if one.chunk in near_chunks}, sentences)
    stated = [told[key] for key in near if told[key].names & known][:facts]
    seeds: dict[str, float] = {}
    for name in known:
        nears = [one.near for one in stated if name in one.names]
        weight = (fmean(nears) if nears else 0.0) + (name in entities)
        if weight > 0:
            seeds[name] = weight / mentioning[name]
    return flowed(documents, vector, seeds, seeds, lambda id, near: 0.1 * near, limit)


# --- a budget of text --------------------------------------------------------------------------------


def packed(
    places: Mapping[str, NaivePlace],
    order: Sequence[str],
    staying: Mapping[str, float],
    *,
    chunks: int,
    tokens: int | None = None,
) -> list[str]:
    """The windows that fit a budget of chunks' worth and of tokens, of which a chunk has one per character.

    With the topic persistence p of its document, a window takes up 1 / (1 + 30 (p - 0.45)) of its size in the pool,
    and all of it up to p = 0.45. The pool is filled from the best on; what does not fit is passed over. Then windows
    of the pool that follow each other stay together: from the best on, a window, then always the better of those on
    either side of what there is already, as long as one of them fits.

    Args:
        places: All windows.
        order: Windows, best first.
        staying: The topic persistence of each document.
        chunks: How many chunks' worth.
        tokens: How many tokens, and 120 more, since the last window is cut.
    """

    def size(id: str) -> float:
        whole = places[id].share / chunks
        if tokens is not None:
            characters = places[id].share * chunk_length(places[id])
            whole = max(whole, characters / (tokens + 120))
        return min(whole, 1.0)

    pool: list[str] = []
    used = 0.0
    for id in order:
        small = size(id) / (1 + 30 * max(0.0, staying[places[id].document.id] - 0.45))
        if used + small <= 1 + 1e-9:
            pool.append(id)
            used += small

    found: list[str] = []
    done: set[str] = set()
    for best in pool:
        if best in done:
            continue
        run = {best}
        while more := {id for id in pool if id not in run and any(beside(places[id], places[o]) for o in run)}:
            run |= more
        done |= run
        kept: list[str] = []
        sides = [best]
        while fitting := [id for id in sides if sum(map(size, [*found, *kept, id])) <= 1 + 1e-9]:
            kept.append(min(fitting, key=pool.index))
            sides = [id for id in run if id not in kept and any(beside(places[id], places[o]) for o in kept)]
        found += kept
    return found


def chunk_length(place: NaivePlace) -> int:
    [chunk] = [one for one in place.document.chunks if one.id == place.chunk]
    return chunk.end - chunk.start


def beside(one: NaivePlace, other: NaivePlace) -> bool:
    return one.document is other.document and abs(one.position - other.position) == 1


def fitted(places: Mapping[str, NaivePlace], order: Sequence[str], tokens: int) -> dict[str, NaivePlace]:
    """The first windows that fit, of equal texts the first, where each character is a token. The first that does not
    fit is cut at the end of a word."""
    found: dict[str, NaivePlace] = {}
    for id in order:
        text = places[id].text
        if text in [places[other].text for other in found]:
            continue
        if len(text) <= tokens:
            found[id] = places[id]
            tokens -= len(text)
            continue
        end = tokens
        while end > 0 and is_letter(text[end - 1]) and is_letter(text[end]):
            end -= 1
        if text[:end].strip():
            found[id] = replace(places[id], end=places[id].start + len(text[:end].rstrip()))
        break
    return found


def is_letter(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


def window_passages(places: Mapping[str, NaivePlace], order: Sequence[str]) -> list[NaivePassage]:
    """Windows, of equal texts the first; those that touch or overlap are one passage, where the best of them stands."""
    kept: list[str] = []
    for id in order:
        if places[id].text not in [places[other].text for other in kept]:
            kept.append(id)
    return joined(places, kept)


def joined(places: Mapping[str, NaivePlace], order: list[str]) -> list[NaivePassage]:
    found: list[NaivePassage] = []
    left = list(order)
    while left:
        run = [left.pop(0)]
        while touching := [id for id in left if any(touch(places[id], places[other]) for other in run)]:
            run += touching
            left = [id for id in left if id not in touching]
        run.sort(key=lambda id: (places[id].start, order.index(id)))
        start, end = min(places[id].start for id in run), max(places[id].end for id in run)
        document = places[run[0]].document
        chunks = list(dict.fromkeys(places[id].chunk for id in run))
        best = places[min(run, key=order.index)]
        heading = document.heading(best.start, best.end)
        found.append(NaivePassage(document.id, 0, start, end, document.text[start:end], chunks, heading=heading))
    return found


def touch(one: NaivePlace, other: NaivePlace) -> bool:
    return one.document is other.document and distance((one.start, one.end), (other.start, other.end)) <= 0
