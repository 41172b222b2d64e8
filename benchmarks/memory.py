"""How much memory indexing a long document takes, or many, and how long its publication and deletion.

    python benchmarks/memory.py BOOK.txt … [--tokens 1000000 10000000] [--documents 1]

The books, one after the other and over again with other names, make one text of so many tokens, which is cut into so
many documents; each size is indexed by a process of its own. Instead of the models cheap ones stand in, so that it runs
in minutes: the bundled tokenizer, with vectors that a hash of the text decides; and capitalised and long words for
entities. So what is measured is the program without the weights of models, and the times say nothing about reading.
Exits with 1 where the largest text takes more than 1.5 times the memory of the smallest. Needs a database without the
corpora `benchmark-memory-…`.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span
from tokenizers import Tokenizer

from e2g_neo4j import E2G, Settings, SourceDocument
from e2g_neo4j.embedding.embedder import bundled_folder, normalised, spans_of
from e2g_neo4j.model import Vectors
from e2g_neo4j.reading import from_text

Spans = Sequence[tuple[int, int]]


class HashEmbedder:
    """The bundled model's tokenizer, and a random vector for each text, always the same."""

    name = "hash"
    dimensions = 384
    window_tokens = 254

    def __init__(self) -> None:
        self._tokenizer = Tokenizer.from_file(str(Path(bundled_folder()) / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def token_spans(self, text: str) -> Spans:
        return spans_of(self._tokenizer, text)

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = [np.random.default_rng(crc32(text.encode())).standard_normal(self.dimensions) for text in texts]
        return normalised(np.array(rows, np.float32).reshape(len(texts), self.dimensions))

    def embed_parts(self, texts: Sequence[str], parts: Sequence[Spans]) -> tuple[Vectors, list[Vectors]]:
        pieces = [[text[start:end] for start, end in spans] for text, spans in zip(texts, parts, strict=True)]
        return self.embed(texts), [self.embed(one) for one in pieces]


@Language.component("capitals")
def capitals(doc: Doc) -> Doc:
    """Runs of capitalised words within a sentence are names, other words of more than six letters nouns."""
    names, start = [], 0
    while start < len(doc):
        end = start
        while end < len(doc) and doc[end].is_title and not doc[end].is_sent_start and not doc[end].is_stop:
            end += 1
        if end > start:
            names.append(Span(doc, start, end, label="PERSON"))
        elif doc[start].is_alpha and len(doc[start]) > 6 and not doc[start].is_stop:
            doc[start].pos_ = "NOUN"
        start = max(end, start + 1)
    doc.set_ents(names)
    return doc


def pipeline() -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("capitals")
    nlp.meta["name"], nlp.meta["version"] = "capitals", "1"
    return nlp


def long_text(books: Sequence[Path], tokens: int, embedder: HashEmbedder) -> str:
    """The second time that a book comes its names end in a, then in b, and so on."""
    parts: list[str] = []
    while tokens > 0:
        turn, number = divmod(len(parts), len(books))
        text = books[number].read_text(encoding="utf-8")
        if turn:
            ending = "".join(chr(ord("a") + int(digit)) for digit in str(turn))
            text = re.sub(r"(?<=[a-z,;] )([A-Z][a-z]+)", rf"\1{ending}", text)
        counted = len(embedder.token_spans(text[:20_000])) * len(text) / min(len(text), 20_000)
        parts.append(text[: int(len(text) * min(1, tokens / counted))])
        tokens -= int(counted)
    return "\n\n".join(parts)


def one(books: Sequence[Path], tokens: int, documents: int) -> None:
    """Index one text in this process, delete it again, and say what that took."""
    embedder = HashEmbedder()
    with E2G(settings=Settings(workers=1, max_document_mb=1024)) as e2g:
        e2g._stories.__dict__.update(_nlp=pipeline(), _embedder=embedder)
        corpus = f"benchmark-memory-{tokens}"
        text = long_text(books, tokens, embedder)
        size = -(-len(text) // documents)
        parts: list[SourceDocument] = [
            from_text(text[number * size : (number + 1) * size], corpus=corpus, source=f"part {number}", title="Memory")
            for number in range(documents)
        ]
        del text
        before = peak()
        report = e2g.index(parts, corpus=corpus)
        after = peak()
        began = time.perf_counter()
        e2g.delete(corpus=corpus)
        deleting = time.perf_counter() - began
    print(
        f"{report.tokens} tokens, {report.chunks} chunks, {report.co_occurrences} edges, {report.mentions} mentions: "
        f"peak {after:.0f} MiB ({before:.0f} before); "
        + ", ".join(f"{stage} {seconds:.0f} s" for stage, seconds in report.seconds.items())
        + f"; deleting {deleting:.0f} s",
        flush=True,
    )
    print(after)


def peak() -> float:
    """The most memory that this process had so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("books", nargs="+", type=Path)
    parser.add_argument("--tokens", nargs="+", type=int, default=[1_000_000, 10_000_000])
    parser.add_argument("--documents", type=int, default=1)
    parser.add_argument("--here", action="store_true", help="index one size in this process")
    chosen = parser.parse_args()
    if chosen.here:
        one(chosen.books, chosen.tokens[0], chosen.documents)
        return 0
    peaks = []
    for tokens in sorted(chosen.tokens):
        sizes = ["--tokens", str(tokens), "--documents", str(chosen.documents)]
        command = [sys.executable, __file__, *map(str, chosen.books), *sizes, "--here"]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip().splitlines()
        print(done[0], flush=True)
        peaks.append(float(done[-1]))
    print(f"the largest takes {peaks[-1] / peaks[0]:.2f} times the memory of the smallest")
    return int(peaks[-1] > 1.5 * peaks[0])


if __name__ == "__main__":
    sys.exit(main())
