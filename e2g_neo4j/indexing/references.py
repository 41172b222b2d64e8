"""Which documents a chunk refers to: those whose titles are in its text, and those that its hyperlinks lead to.

(:Chunk)-[:REFERS_TO {kind, text, windows}]->(:Document). They depend on the titles and texts of all documents of a
corpus, so they are found after every change, by `update_references`: in the chunks of new documents, in chunks with a
new title, which the full-text index finds, and in those that referred to a document that is gone. So what is stored is
what a fresh index would have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, Literal, TypeAlias

from e2g_neo4j.models.titles import Word, find_titles, title_key
from e2g_neo4j.models.words import tokens
from e2g_neo4j.runtime.batched import split_batches
from e2g_neo4j.runtime.requests import Operation, Read, Write
from e2g_neo4j.types.documents import WIKI
from e2g_neo4j.types.ids import corpus_key

Kind: TypeAlias = Literal["title", "link"]
"""How a chunk refers to a document: by its title, or by a hyperlink."""

MOST_BEARERS = 20
"""Documents that a chunk refers to by one title, which may be that of all documents: the first by their ids."""

MOST_REFERENCES = 200
"""Documents that a chunk refers to, so that a transaction writes a bounded number of references, and a question reads
one. They are the first that it names, by hyperlinks and then by titles: what it names after them counts for nothing, so
that it does not have to be read again when that goes."""

DOCUMENTS = 1_000
"""Documents whose titles one transaction makes known."""

DOCUMENTS_READ = 10_000
"""Documents that are read for it at a time: to find them, all documents of the corpus are read."""

CHUNKS = 200
"""Chunks that are read at a time, and written in one transaction."""

TARGETS = 5_000
"""Targets of hyperlinks that are looked up at a time. One chunk may have 10,000."""


@dataclass(slots=True)
class Titles:
    """The titles of a corpus that may be in some texts.

    Attributes:
        documents: the ids of the documents with a title, by its key.
        words: the first words whose titles have been read.
        longest: the number of words of the longest title with each first word.
    """

    corpus: str
    documents: dict[str, list[str]] = field(default_factory=dict)
    words: set[str] = field(default_factory=set)
    longest: dict[str, int] = field(default_factory=dict)

    def read(self, words: Iterable[str]) -> Operation[None]:
        """Read the titles that begin with one of the words."""
        if new := sorted(set(words) - self.words):
            parameters = {"corpus": self.corpus, "words": new, "most": MOST_BEARERS + 1}
            for row in (yield Read("references/titles", parameters)):
                key = row["title_key"]
                self.documents[key] = row["documents"]
                first, length = key.split(" ", 1)[0], key.count(" ") + 1
                self.longest[first] = max(length, self.longest.get(first, 0))
            self.words.update(new)


def update_references(corpus: str) -> Operation[int]:
    """Find what chunks refer to after documents have changed. Return how many of those read name more than is kept.

    Every change of documents ends with this. If it is killed before, the next change does it. If others change the
    corpus meanwhile, it begins again.
    """
    cut: set[str] = set()
    others: bool | None = None
    while states := (yield Read("references/state", {"corpus": corpus, "limit": DOCUMENTS_READ})):
        [state] = states
        others = state["others"] if others is None else others
        hold = ("references/hold", {"corpus": corpus, "revision": state["revision"]})
        if state["documents"]:
            for batch in split_batches(state["documents"], DOCUMENTS):
                if not (yield Write(tuple(_add_titles(corpus, batch, others=others)), hold)):
                    break
        elif state["outdated"]:
            cut |= yield from _read_again(corpus, hold)
        else:
            break
    return len(cut)


def _add_titles(
    corpus: str, documents: Sequence[Mapping[str, Any]], *, others: bool
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the statements that make titles known. `others`: whether chunks may name them that were read before."""
    rows = [{"id": one["id"], "title_key": title_key(one["title"])} for one in documents]
    yield "references/set_titles", {"corpus": corpus, "rows": rows}
    if others:
        key = corpus_key(corpus)
        first = {row["title_key"]: row["id"] for row in sorted(rows, key=itemgetter("id"), reverse=True)}
        titles = [
            {"title_key": title, "id": id, "query": f'+corpus_key:{key} +text:"{title}"'}
            for title, id in sorted(first.items())
            if title
        ]
        yield "references/outdate_by_title", {"corpus": corpus, "titles": titles, "most": MOST_BEARERS}
        targets = {one["source"]: True for one in documents} | {WIKI + row["title_key"]: True for row in rows}
        yield "references/outdate_by_link", {"corpus": corpus, "targets": targets}


def _read_again(corpus: str, hold: tuple[str, dict[str, Any]]) -> Operation[set[str]]:
    """Find what outdated chunks refer to, until there are none or the corpus has changed. Return those that name more
    than is kept."""
    titles = Titles(corpus)
    cut: set[str] = set()
    while chunks := (yield Read("references/chunks", {"corpus": corpus, "limit": CHUNKS})):
        words = [list(tokens(row["text"] or "")) for row in chunks]
        targets = sorted({target for row in chunks for _, _, target in row["links"]})
        pages = [target.removeprefix(WIKI) for target in targets if target.startswith(WIKI)]
        yield from titles.read(
            [*(word for found in words for _, _, word in found), *(page.split(" ")[0] for page in pages)]
        )
        sources = yield from _sources(corpus, targets, titles)
        rows = []
        for row, found in zip(chunks, words, strict=True):
            references, whole = _references(row, found, titles, sources)
            rows.append({"chunk": row["chunk"], "references": references})
            if not whole:
                cut.add(row["chunk"])
        if not (yield Write((("references/set_references", {"corpus": corpus, "rows": rows}),), hold)):
            break
    return cut


def _sources(corpus: str, targets: Sequence[str], titles: Titles) -> Operation[dict[str, list[str]]]:
    """Return the ids of the documents that targets of hyperlinks name."""
    found = {
        target: titles.documents[key]
        for target in targets
        if target.startswith(WIKI) and (key := target.removeprefix(WIKI)) in titles.documents
    }
    for batch in split_batches(targets, TARGETS):
        rows = yield Read("references/sources", {"corpus": corpus, "sources": batch})
        found |= {row["source"]: [row["document"]] for row in rows}
    return found


def _references(
    row: Mapping[str, Any], words: Sequence[Word], titles: Titles, sources: Mapping[str, list[str]]
) -> tuple[list[dict[str, Any]], bool]:
    """Return what a chunk refers to, a row of `references/chunks`: one reference a document; whether that is all."""
    text, found, whole = row["text"] or "", dict[str, dict[str, Any]](), True

    def find_mentions() -> Iterator[tuple[Kind, int, int, Sequence[str]]]:
        for start, end, target in row["links"]:
            yield "link", start - row["start"], end - row["start"], sources.get(target, ())
        for start, end, key in find_titles(text, words, titles.documents, titles.longest):
            if key != row["title_key"]:  # its own title is not that of another document with the same
                yield "title", start, end, titles.documents[key]

    for kind, start, end, bearers in find_mentions():
        documents = [one for one in bearers if one != row["document"]]
        if len(documents) > MOST_BEARERS:
            whole = False
        at = row["start"] + start
        windows = {number for number, (first, last) in enumerate(row["windows"]) if first <= at < last}
        for document in documents[:MOST_BEARERS]:
            if len(found) < MOST_REFERENCES:
                new: dict[str, Any] = {"document": document, "kind": kind, "text": text[start:end], "windows": []}
                one = found.setdefault(document, new)
                one["windows"] = sorted(windows.union(one["windows"]))
            elif document not in found:
                return [found[one] for one in sorted(found)], False
    return [found[one] for one in sorted(found)], whole
