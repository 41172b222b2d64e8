"""Measure the memory of indexing one long document or many, and the time of publication and deletion.

    python benchmarks/memory.py BOOK.txt … [--tokens 1000000 10000000] [--documents 1]

The books are concatenated, and repeated with other names, to one text of `--tokens` tokens, which is split into
`--documents` documents. Each size is indexed in a separate process. Cheap fake models are used, so that it runs in
minutes: the bundled tokenizer with vectors derived from a hash of the text, and capitalised and long words as entities.
So memory excludes the weights of models, and the times say nothing about spaCy and embeddings. The exit code is 1 if
the largest text needs more than 1.5 times the memory of the smallest. The database must not have the corpora
`benchmark-memory-…`. Records its figures in results.json.
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

import spacy
from hash_embedder import HashEmbedder
from record import Figure, add_option, record
from spacy.language import Language
from spacy.tokens import Doc, Span

from e2g_neo4j import E2G, Settings, SourceDocument
from e2g_neo4j.documents.files import from_text


@Language.component("capitals")
def capitals(doc: Doc) -> Doc:
    """Label runs of capitalised words within a sentence as names, and other words of more than six letters as nouns."""
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
    """Repeat the books up to a number of tokens. In the first repetition, names end in b, then in c, and so on."""
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
    """Index one text in this process, delete it, and print memory and times."""
    embedder = HashEmbedder()
    with E2G(settings=Settings(workers=1, max_document_mb=1024), nlp=pipeline(), embedder=embedder) as e2g:
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
    """Return the peak memory of this process in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("books", nargs="+", type=Path)
    parser.add_argument("--tokens", nargs="+", type=int, default=[1_000_000, 10_000_000])
    parser.add_argument("--documents", type=int, default=1)
    parser.add_argument("--here", action="store_true", help="index one size in this process")
    add_option(parser)
    chosen = parser.parse_args(argv)
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
        record([Figure("memory", "index", f"MiB, {tokens} tokens, client", round(peaks[-1]))], chosen.results)
    print(f"the largest needs {peaks[-1] / peaks[0]:.2f} times the memory of the smallest")
    return int(peaks[-1] > 1.5 * peaks[0])


if __name__ == "__main__":
    sys.exit(main())
