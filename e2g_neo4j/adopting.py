"""Text nodes of somebody else's as documents of a corpus, in place.

Of each node there is a chunk that stands for it: (:Chunk)-[:STANDS_FOR {text, key}]->(theirs). It has no text of its
own, what it says is read from their node whenever it is asked for; and no vector, so that no vector index of theirs on
such a label holds it. Its windows have the vectors. Nothing of theirs is written but the end of that relationship.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any, TypeAlias

from e2g_neo4j.chunking import chunk_ids
from e2g_neo4j.errors import InputError, no_corpus
from e2g_neo4j.formats import utf8
from e2g_neo4j.model import Adoption, Cut, SourceDocument, StandsFor
from e2g_neo4j.queries import Read, Rows, Story, Write
from e2g_neo4j.reading import LONGEST_SOURCE, document_id
from e2g_neo4j.writing import ROWS, batches, delete

PAGE = 50_000
"""Nodes of theirs that are read at once, without their texts."""

TEXTS = 500
"""Texts that are read at once."""

LONGEST = 1_000_000
"""Characters of a text node: spaCy reads no more at once."""

BETWEEN = "\n\n"
"""What stands between the texts of two nodes of a document."""

Place: TypeAlias = tuple[int, float, str]
"""Where a node stands among those of its document: numbers before texts before nothing."""


@dataclass(slots=True)
class TextNodes:
    """The text nodes that are to be adopted as documents, and how many were left alone, by what they lack."""

    documents: list[SourceDocument] = field(default_factory=list)
    without: Counter[str] = field(default_factory=Counter)

    @property
    def nodes(self) -> int:
        return sum(len(document.cuts) for document in self.documents)


@dataclass(frozen=True, slots=True)
class _Node:
    id: str
    key: str
    document: str
    title: str
    place: Place


def adopted(corpus: str) -> Story[Adoption | None]:
    """What a corpus was adopted with, if it was."""
    [row] = yield Read("adopt/adopted", {"corpus": corpus})
    return Adoption(**json.loads(row["adopts"])) if row["adopts"] else None


def check(corpus: str, adoption: Adoption) -> Story[None]:
    """Raise InputError for options that cannot be, and for a corpus that was indexed, or adopted with others."""
    for what, value in asdict(adoption).items():
        if value is not None and not utf8(value, f"`{what}`").strip():
            raise InputError(f"`{what}` is empty: name what the text nodes have, such as Chunk, text and id.")
    if adoption.document is not None and adoption.part_of is not None:
        raise InputError(
            "A text node is of one document: name either the property that says which, or the relationship to it."
        )
    [row] = yield Read("adopt/adopted", {"corpus": corpus})
    if row["adopts"] and row["adopts"] != _options(adoption):
        told = ", ".join(f"{name} {value}" for name, value in json.loads(row["adopts"]).items() if value is not None)
        raise InputError(
            f"The corpus {corpus!r} was adopted with other options ({told}): use these, or another corpus, or "
            f"`e2g unadopt --corpus {corpus}` first."
        )
    if row["documents"] and not row["adopts"]:
        raise InputError(f"The corpus {corpus!r} holds documents that were indexed: adopt into another corpus.")


def mark(corpus: str, adoption: Adoption) -> Story[None]:
    """Mark a corpus as adopted, unless it is. Raises InputError where it is something else."""
    parameters = {"corpus": corpus, "adopts": _options(adoption)}
    if not (yield Write((("adopt/mark", parameters),), condition=("adopt/may_adopt", parameters))):
        yield from check(corpus, adoption)
        raise InputError(f"The corpus {corpus!r} is being imported: wait, or adopt into another corpus.")


def read(corpus: str, adoption: Adoption) -> Story[TextNodes]:
    """The text nodes, document by document. Raises InputError where there is none, and where two of a document have one
    key."""
    found = TextNodes()
    nodes: list[_Node] = []
    keys: dict[tuple[str, str], str] = {}
    after = ""
    while True:
        parameters = {
            "label": adoption.label,
            "key": adoption.key,
            "order": adoption.order,
            "document": adoption.document,
            "part_of": adoption.part_of,
            "after": after,
            "limit": PAGE,
        }
        rows: Rows = yield Read("adopt/nodes", parameters)
        nodes += _told(rows, adoption, found.without)
        if len(rows) < PAGE:
            break
        after = rows[-1]["node"]
    texts: dict[str, str] = {}
    for some in batches(nodes, TEXTS):
        for row in (yield Read("adopt/texts", {"nodes": [node.id for node in some], "text": adoption.text})):
            if _says(row["text"]):
                texts[row["node"]] = row["text"]
    for node in nodes:
        if node.id not in texts:
            found.without["text"] += 1
            continue
        if (other := keys.setdefault((node.document, node.key), node.id)) != node.id:
            raise InputError(
                f"Two nodes labelled {adoption.label} of the document {node.title!r} have the {adoption.key} "
                f"{node.key!r} ({other} and {node.id}): name a property that tells them apart, or what tells of which "
                "documents they are. Nothing was changed."
            )
        if len(texts[node.id]) > LONGEST:
            raise InputError(
                f"The {adoption.text} of the node with the {adoption.key} {node.key!r} has {len(texts[node.id])} "
                f"characters, more than {LONGEST}: split it. Nothing was changed."
            )
    if not keys:
        raise InputError(
            f"No node labelled {adoption.label!r} has a text as its {adoption.text!r}, a key as its {adoption.key!r} "
            "and a document, if that was asked for: name them as they are spelt in the database. Nothing was changed."
        )
    found.documents = assembled(corpus, adoption, [node for node in nodes if node.id in texts], texts)
    return found


def _told(rows: Rows, adoption: Adoption, without: Counter[str]) -> Iterator[_Node]:
    for row in rows:
        key, document = row["key"], row["document"]
        if isinstance(key, bool) or not isinstance(key, str | int) or key == "":
            without["key"] += 1
        elif not document and (adoption.document or adoption.part_of):
            without["document"] += 1
        else:
            place = _place(key if adoption.order is None else row["order"])
            document = document or ""
            yield _Node(row["node"], str(key), document, row["title"] or document or adoption.label, place)


def _place(value: Any) -> Place:
    if value is None:
        return 2, 0.0, ""
    if isinstance(value, int | float):
        return 0, value, ""
    return 1, 0.0, str(value)


def _says(text: Any) -> bool:
    """Whether a property is a text with at least one sign that can be seen."""
    return isinstance(text, str) and any(sign.isprintable() and not sign.isspace() for sign in text)


def assembled(corpus: str, adoption: Adoption, nodes: Sequence[_Node], texts: dict[str, str]) -> list[SourceDocument]:
    """A document for each that nodes are of: their texts in order, with a blank line between, and where they are."""
    by_document: dict[str, list[_Node]] = {}
    for node in nodes:
        by_document.setdefault(node.document, []).append(node)
    documents = []
    for name, held in sorted(by_document.items()):
        held.sort(key=lambda node: (node.place, _place(node.key), node.id))
        at, cuts = 0, []
        for node in held:
            end = at + len(texts[node.id])
            cuts.append(Cut(node.key, at, end, StandsFor(node.id, adoption.text, adoption.key)))
            at = end + len(BETWEEN)
        source = f"{adoption.label}: {name}" if name else adoption.label
        if len(source.encode()) > LONGEST_SOURCE:
            raise InputError(
                f"The document {name[:60]!r}… has a name of more than {LONGEST_SOURCE} bytes: name another property. "
                "Nothing was changed."
            )
        content = json.dumps([[node.key, texts[node.id]] for node in held])
        documents.append(
            SourceDocument(
                id=document_id(corpus, source),
                corpus=corpus,
                title=" ".join(held[0].title.split()) or source,
                source=source,
                text=BETWEEN.join(texts[node.id] for node in held),
                sha256=sha256(content.encode()).hexdigest(),
                cuts=tuple(cuts),
            )
        )
    return documents


def stand(corpus: str, documents: Sequence[SourceDocument]) -> Story[None]:
    """Let chunks that stayed stand for the nodes that have their key and text now, where those were made anew."""
    wanted = {
        id: cut.stands_for for document in documents for id, cut in zip(chunk_ids(document), document.cuts, strict=True)
    }
    standing: Rows = yield Read("adopt/standing", {"corpus": corpus})
    new = [
        {"chunk": row["chunk"], **asdict(wanted[row["chunk"]])}
        for row in standing
        if row["chunk"] in wanted and row["node"] != wanted[row["chunk"]].node
    ]
    for rows in batches(new, ROWS):
        lock = ("index/lock_corpus", {"corpus": corpus})
        yield Write((lock, ("adopt/stand_for", {"corpus": corpus, "rows": rows})))


def remove_others(corpus: str, documents: Sequence[SourceDocument]) -> Story[int]:
    """Delete the documents that have no text node any more, and return how many there were."""
    there: Rows = yield Read("query/documents", {"corpus": corpus})
    gone = {row["id"] for row in there} - {document.id for document in documents}
    for document in sorted(gone):
        yield from delete(corpus, [document])
    return len(gone)


def unadopt(corpus: str) -> Story[Rows]:
    """Remove all that there is of an adopted corpus, and return what documents it had: rows of `query/documents`.

    Raises InputError where it was indexed, NotFoundError where there is none.
    """
    [row] = yield Read("adopt/adopted", {"corpus": corpus})
    if not row["adopts"]:
        if not row["documents"]:
            raise no_corpus(corpus)
        raise InputError(
            f"The corpus {corpus!r} was not adopted, but indexed: `e2g delete --corpus {corpus}` removes it."
        )
    gone: dict[str, Any] = {}
    forget = Write(
        (("adopt/forget", {"corpus": corpus}), ("index/forget_corpus", {"corpus": corpus})),
        condition=("adopt/is_left", {"corpus": corpus}),
    )
    while True:  # a run that is at work may bring documents meanwhile
        there: Rows = yield Read("query/documents", {"corpus": corpus})
        gone |= {document["id"]: document for document in there}
        for document in there:
            yield from delete(corpus, [document["id"]])
        if (yield forget):
            return list(gone.values())


def _options(adoption: Adoption) -> str:
    return json.dumps(asdict(adoption), ensure_ascii=False)
