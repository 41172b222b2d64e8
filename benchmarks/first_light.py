"""One book, indexed and asked twice in one run: by e2g-neo4j, and by a plain script that keeps everything in memory.

    python benchmarks/first_light.py BOOK.txt QUESTIONS.jsonl

Both use the same reader, chunks, spaCy pipeline, embedding model and summariser; the plain script puts its graph into
networkx and its vectors into one matrix. Times are wall time on one machine in one run: read the ratios. A line of
QUESTIONS.jsonl needs a "question"; where it has a "book", only those of this book are asked, four times each, the
first not counted. Query times leave the reading and embedding of the question out, for all. The plain script answers
as mode e2g does.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections import defaultdict
from itertools import combinations
from pathlib import Path
from typing import Any

import networkx
import numpy as np

from e2g_neo4j import E2G, database
from e2g_neo4j.chunking import chunk
from e2g_neo4j.cooccurrence import edges, mentions
from e2g_neo4j.embedding.embedder import embed_long, embed_with_parts
from e2g_neo4j.extraction import extract, extract_all
from e2g_neo4j.queries import Embed, Read
from e2g_neo4j.reading import read
from e2g_neo4j.retrieval import Mode, retrieve
from e2g_neo4j.summarising.extractive import ExtractiveSummariser
from e2g_neo4j.summarising.tree import grow_tree

CORPUS = "benchmark-first-light"
MODES: tuple[Mode, ...] = ("e2g", "dense", "auto")
TURNS = 4


class Plain:
    """The yardstick: the same steps one after the other, everything in memory."""

    def __init__(self, book: Path, e2g: E2G) -> None:
        tools, settings = e2g._stories.tools, e2g.settings
        document = read(book, CORPUS, settings.max_document_mb * 2**20)
        self.chunks = chunk(
            document, tools.embedder.token_spans, size=settings.chunk_tokens, overlap=settings.chunk_overlap
        )
        texts = [one.text for one in self.chunks]
        extractions = list(extract_all(tools.nlp, texts))
        sentences = ([(one.start, one.end) for one in found.sentences] for found in extractions)
        embedded = list(embed_with_parts(tools.embedder, zip(texts, sentences, strict=True)))
        self.graph = networkx.Graph()
        found = edges([mentions(self.chunks, extractions, [one.windows for one in embedded])])
        self.graph.add_weighted_edges_from((a, b, weight) for (a, b), (_, weight) in found.items())
        self.places: dict[str, dict[int, int]] = defaultdict(dict)
        for number, extraction in enumerate(extractions):
            for name, count in extraction.counts.items():
                self.places[name][number] = count
        summaries = grow_tree(
            document,
            self.chunks,
            ExtractiveSummariser(tools.embedder.token_spans, budget=settings.summary_tokens),
            group_size=settings.group_size,
            token_spans=tools.embedder.token_spans,
            extractions=extractions,
            sentence_vectors=[one.part_vectors for one in embedded],
        )
        above = embed_long(tools.embedder, [one.text for one in summaries])
        self.vectors = np.vstack([one.vector for one in embedded] + list(above))

    def ask(self, names: list[str], vector: np.ndarray, k: int, hops: int) -> list[int]:
        known = [name for name in names if name in self.places]
        pairs = [pair for pair in combinations(known, 2) if self._apart(*pair) <= hops]
        shared = {number for a, b in pairs for number in self.places[a].keys() & self.places[b].keys()}
        if shared:
            return sorted(shared, key=lambda number: -sum(self.places[name].get(number, 0) for name in known))[:k]
        return list(np.argsort(-(self.vectors @ vector))[:k])

    def _apart(self, a: str, b: str) -> float:
        try:
            return float(networkx.shortest_path_length(self.graph, a, b))
        except (networkx.NetworkXNoPath, networkx.NodeNotFound):
            return float("inf")


def main(book: Path, questions: Path) -> None:
    lines = [json.loads(line) for line in questions.read_text(encoding="utf-8").splitlines()]
    asked = [line["question"] for line in lines if line.get("book", book.name) == book.name]
    with E2G() as e2g:
        tools, k, hops = e2g._stories.tools, e2g.settings.top_k, e2g.settings.hops
        tools.embedder.embed(["warm up"])

        began = time.perf_counter()
        plain = Plain(book, e2g)
        plain_seconds = time.perf_counter() - began

        if CORPUS in e2g.corpora():
            sys.exit(f"The corpus {CORPUS} is there already: run against an empty database.")
        report = e2g.index([book], corpus=CORPUS)

        read = [(q, list(extract(tools.nlp(q)).counts), tools.embedder.embed([q])[0]) for q in asked]
        theirs: list[float] = []
        ours: dict[Mode, list[float]] = {mode: [] for mode in MODES}
        trips = dict.fromkeys(MODES, 0)
        for turn in range(TURNS):
            for question, names, vector in read:
                began = time.perf_counter()
                plain.ask(names, vector, k, hops)
                took = {"plain": 1000 * (time.perf_counter() - began)}
                for mode in MODES:
                    began = time.perf_counter()
                    reads = ask(e2g, question, names, vector, k, hops, mode)
                    took[mode] = 1000 * (time.perf_counter() - began)
                    trips[mode] = max(trips[mode], reads)
                if turn:  # in the first turn the server makes its plans
                    theirs.append(took["plain"])
                    for mode in MODES:
                        ours[mode].append(took[mode])

    print(f"{book.name}: {report.chunks} chunks, {report.tokens} tokens, {len(asked)} questions")
    print(
        f"index   ours {report.seconds['total']:7.1f} s    plain {plain_seconds:7.1f} s    "
        f"ratio {report.seconds['total'] / plain_seconds:.2f}"
    )
    print("        " + ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in report.seconds.items()))
    print(f"query   plain {statistics.median(theirs):6.1f} ms (medians)")
    dense = statistics.median(ours["dense"])
    for mode, times in ours.items():
        median = statistics.median(times)
        print(
            f"        {mode:5} {median:6.1f} ms, 95th percentile {statistics.quantiles(times, n=20)[-1]:6.1f} ms, "
            f"{median / dense:.2f} x dense, at most {trips[mode]} round trips"
        )


def ask(e2g: E2G, question: str, names: list[str], vector: np.ndarray, k: int, hops: int, mode: Mode) -> int:
    """Retrieve without reading and embedding the question, and return how many round trips that took."""
    story = retrieve(
        question, corpus=CORPUS, names=names, made_with=e2g._stories.fingerprint, k=k, hops=hops, mode=mode
    )
    step: Any = next(story)
    reads = 0
    while True:
        reads += isinstance(step, Read)
        where = e2g.settings.neo4j_database
        reply = vector.tolist() if isinstance(step, Embed) else database.read(e2g._driver, where, step)
        try:
            step = story.send(reply)
        except StopIteration:
            return reads


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
