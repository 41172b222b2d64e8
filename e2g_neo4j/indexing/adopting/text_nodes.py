"""Adopt text nodes of the user's graph as documents of a corpus.

For each node there is a chunk that stands for it: (:Chunk)-[:STANDS_FOR {text, key}]->(node). The chunk has no text;
the text is read from the node when it is needed. It has no vector either, so vector indexes of other programs on this
label do not contain it. Its windows have vectors. The nodes are not changed, except that the relationship ends there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from shlex import quote
from typing import Any, TypeAlias

from e2g_neo4j.documents.files import LONGEST_SOURCE
from e2g_neo4j.errors import CorpusNotFoundError, InputError, did_you_mean
from e2g_neo4j.graph.catalog import document_ids
from e2g_neo4j.graph.lease import write_locked
from e2g_neo4j.graph.writer import ROWS, delete
from e2g_neo4j.indexing.adopting.node_properties import NodeProperties, Owner, read_properties
from e2g_neo4j.indexing.chunking import chunk_ids
from e2g_neo4j.runtime.batched import split_batches
from e2g_neo4j.runtime.requests import Operation, Read, Rows, Write
from e2g_neo4j.types.documents import Cut, SourceDocument, StandsFor
from e2g_neo4j.types.ids import check_users_label, document_id, utf8
from e2g_neo4j.types.properties import Properties
from e2g_neo4j.types.reports import Adoption

PAGE = 50_000
"""Nodes that one statement reads, without their texts."""

TEXTS = 500
"""Texts that one statement reads."""

LONGEST = 1_000_000
"""Maximum characters of a text node, the limit of spaCy."""

SAMPLE = 1000
"""Nodes whose properties and relationships are listed if none of them can be adopted."""

BETWEEN = "\n\n"
"""The separator of the texts of two nodes of a document."""

SortKey: TypeAlias = tuple[int, float, str]
"""The sort key of a node in its document: numbers first, then texts, then nodes without a value."""


@dataclass(slots=True)
class TextNodes:
    """Text nodes as documents.

    Attributes:
        without: the number of skipped nodes, by what they lack.
        several_values: the number of documents whose text nodes have different values of a property, by property.
    """

    documents: list[SourceDocument] = field(default_factory=list)
    without: Counter[str] = field(default_factory=Counter)
    several_values: Counter[str] = field(default_factory=Counter)

    @property
    def nodes(self) -> int:
        return sum(len(document.cuts) for document in self.documents)


@dataclass(frozen=True, slots=True)
class _Node:
    id: str
    key: str
    document: str
    title: str
    sort_key: SortKey


def read_adoption(corpus: str) -> Operation[Adoption | None]:
    """Return the options that a corpus was adopted with; None if it was not adopted."""
    [row] = yield Read("adopt/adopted", {"corpus": corpus})
    if not row["adopts"]:
        return None
    return Adoption(**json.loads(row["adopts"]), properties=tuple(row["properties"] or ()))


def check(corpus: str, adoption: Adoption) -> Operation[None]:
    """Raise InputError if options are invalid, or the corpus was indexed, or adopted from other nodes."""
    for what, value in [*_selection(adoption).items(), *(("text", name) for name in adoption.texts)]:
        if value is not None and not utf8(value, f"`{what}`").strip():
            raise InputError(
                f"`{what}` is empty. Name the label and properties of the text nodes, such as Chunk and id."
            )
    check_users_label(adoption.label)
    if adoption.document is not None and adoption.part_of is not None:
        raise InputError(
            "`document` and `part_of` exclude each other. Name either the property with the document, or the type of "
            "the relationship to it."
        )
    [row] = yield Read("adopt/adopted", {"corpus": corpus})
    if row["adopts"] and row["adopts"] != _options(adoption):
        stored = ", ".join(f"{name} {value}" for name, value in json.loads(row["adopts"]).items() if value is not None)
        raise InputError(
            f"The corpus {corpus!r} was adopted with other options ({stored}). Use these, or another corpus, or run "
            f"`e2g unadopt --corpus {quote(corpus)}` first."
        )
    if row["documents"] and not row["adopts"]:
        raise InputError(f"The corpus {corpus!r} contains documents that were indexed. Adopt into another corpus.")


def mark(corpus: str, adoption: Adoption) -> Operation[None]:
    """Mark a corpus as adopted. Raises InputError if it cannot be adopted with these options."""
    parameters = {"corpus": corpus, "adopts": _options(adoption)}
    marked = {**parameters, "properties": list(adoption.properties) or None}
    if not (yield Write((("adopt/mark", marked),), condition=("adopt/may_adopt", parameters))):
        yield from check(corpus, adoption)
        raise InputError(f"The corpus {corpus!r} is being imported. Wait, or adopt into another corpus.")


def read(corpus: str, adoption: Adoption) -> Operation[TextNodes]:
    """Read the text nodes as documents.

    Raises:
        InputError: there are no text nodes, two nodes of a document have the same key, a text is too long, or documents
            cannot have the properties.
    """
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
        nodes += _parse_nodes(rows, adoption, found.without)
        if len(rows) < PAGE:
            break
        after = rows[-1]["node"]
    texts: dict[str, str] = {}
    absent = set(adoption.texts)
    for some in split_batches(nodes, TEXTS):
        for row in (yield Read("adopt/texts", {"nodes": [node.id for node in some], "texts": adoption.texts})):
            absent.difference_update(row["names"])
            if _has_text(row["text"]):
                texts[row["node"]] = row["text"]
    for node in nodes:
        if node.id not in texts:
            found.without["text"] += 1
            continue
        if (other := keys.setdefault((node.document, node.key), node.id)) != node.id:
            raise InputError(
                f"Two nodes labelled {adoption.label} of the document {node.title!r} have the {adoption.key} "
                f"{node.key!r} ({other} and {node.id}). Nothing was changed. Name another property as the key, or say "
                "how to find the document of a node."
            )
        if len(texts[node.id]) > LONGEST:
            raise InputError(
                f"The {adoption.text} of the node with the {adoption.key} {node.key!r} has {len(texts[node.id])} "
                f"characters, more than {LONGEST}. Nothing was changed. Split it."
            )
    if not keys or absent:
        raise InputError((yield from _why_none(adoption, absent if keys else ())))
    nodes = [node for node in nodes if node.id in texts]
    properties = NodeProperties()
    if adoption.properties:
        owners = {node.document if adoption.part_of else node.id: Owner(node.document, node.title) for node in nodes}
        kind = f"node at the end of {adoption.part_of}" if adoption.part_of else f"node labelled {adoption.label}"
        properties = yield from read_properties(owners, adoption.properties, kind)
    found.several_values = properties.several
    found.documents = assemble_documents(corpus, adoption, nodes, texts, properties.by_document)
    return found


def _why_none(adoption: Adoption, absent: Collection[str]) -> Operation[str]:
    """Return the message that says why there are no text nodes, with the names that exist.

    Args:
        absent: Properties that no node with a key and a document has.
    """
    [known] = yield Read("adopt/known", {"label": adoption.label, "sample": SAMPLE})
    if not known["nodes"]:
        return (
            f"No node has the label {adoption.label!r}.{did_you_mean(adoption.label, known['labels'])} Nothing was "
            "changed. Name the label of your text nodes."
        )
    names = [name for name in known["properties"] if name not in absent]
    texts = [(name, "text") for name in adoption.texts]
    others = [(adoption.key, "key"), (adoption.document, "document"), (adoption.order, "order")]
    for name, option in [*texts, *others]:
        if name is not None and name not in names:
            return (
                f"No node labelled {adoption.label!r} has the property {name!r} (`{option}`)."
                f"{did_you_mean(name, names)} They have: {', '.join(names)}. Nothing was changed."
            )
    if adoption.part_of is not None and adoption.part_of not in known["types"]:
        return (
            f"No relationship of the type {adoption.part_of!r} (`part_of`) begins at a node labelled "
            f"{adoption.label!r}.{did_you_mean(adoption.part_of, known['types'])} Nothing was changed."
        )
    return (
        f"No node labelled {adoption.label!r} has all of these: a text as its {adoption.text!r}, a text or an integer "
        f"as its {adoption.key!r}, and a document, if one is asked for. Nothing was changed. Check the values in the "
        "database."
    )


def _parse_nodes(rows: Rows, adoption: Adoption, without: Counter[str]) -> Iterator[_Node]:
    for row in rows:
        key, document = row["key"], row["document"]
        if isinstance(key, bool) or not isinstance(key, str | int) or key == "":
            without["key"] += 1
        elif not document and (adoption.document or adoption.part_of):
            without["document"] += 1
        else:
            sort_key = _sort_key(key if adoption.order is None else row["order"])
            document = document or ""
            yield _Node(row["node"], str(key), document, row["title"] or document or adoption.label, sort_key)


def _sort_key(value: Any) -> SortKey:
    if value is None:
        return 2, 0.0, ""
    if isinstance(value, int | float):
        return 0, value, ""
    return 1, 0.0, str(value)


def _has_text(value: Any) -> bool:
    """Return whether the value of a property is a text with at least one visible character."""
    return isinstance(value, str) and any(char.isprintable() and not char.isspace() for char in value)


def assemble_documents(
    corpus: str,
    adoption: Adoption,
    nodes: Sequence[_Node],
    texts: Mapping[str, str],
    properties: Mapping[str, Properties],
) -> list[SourceDocument]:
    """Group nodes into documents: their texts in order, separated by blank lines, and where each text is."""
    by_document: dict[str, list[_Node]] = {}
    for node in nodes:
        by_document.setdefault(node.document, []).append(node)
    documents = []
    for name, members in sorted(by_document.items()):
        members.sort(key=lambda node: (node.sort_key, _sort_key(node.key), node.id))
        at, cuts = 0, []
        for node in members:
            end = at + len(texts[node.id])
            cuts.append(Cut(node.key, at, end, StandsFor(node.id, adoption.texts, adoption.key)))
            at = end + len(BETWEEN)
        source = f"{adoption.label}: {name}" if name else adoption.label
        if len(source.encode()) > LONGEST_SOURCE:
            raise InputError(
                f"The document {name[:60]!r}… has a name of more than {LONGEST_SOURCE} bytes. Nothing was changed. "
                "Name another property."
            )
        content = json.dumps([[node.key, texts[node.id]] for node in members])
        documents.append(
            SourceDocument(
                id=document_id(corpus, source),
                corpus=corpus,
                title=" ".join(members[0].title.split()) or source,
                source=source,
                text=BETWEEN.join(texts[node.id] for node in members),
                sha256=sha256(content.encode()).hexdigest(),
                cuts=tuple(cuts),
                properties=properties.get(name, {}),
            )
        )
    return documents


def update_text_nodes(corpus: str, documents: Sequence[SourceDocument]) -> Operation[None]:
    """Connect kept chunks to the nodes that now have their key and text, if nodes were created again."""
    wanted = {
        id: cut.stands_for for document in documents for id, cut in zip(chunk_ids(document), document.cuts, strict=True)
    }
    current: Rows = yield Read("adopt/text_nodes", {"corpus": corpus})
    new = [
        {"chunk": row["chunk"], **asdict(wanted[row["chunk"]])}
        for row in current
        if row["chunk"] in wanted and row["node"] != wanted[row["chunk"]].node
    ]
    for rows in split_batches(new, ROWS):
        yield write_locked("adopt/set_text_nodes", corpus, rows=rows)


def remove_others(corpus: str, documents: Sequence[SourceDocument]) -> Operation[int]:
    """Delete the documents that have no text nodes any more, and return how many there were."""
    obsolete = {*(yield from document_ids(corpus))} - {document.id for document in documents}
    for document in sorted(obsolete):
        yield from delete(corpus, [document])
    return len(obsolete)


def unadopt(corpus: str) -> Operation[Rows]:
    """Remove an adopted corpus. Return its documents, rows of `query/documents`.

    Raises:
        InputError: the corpus was indexed, not adopted.
        NotFoundError: there is no such corpus.
    """
    [row] = yield Read("adopt/adopted", {"corpus": corpus})
    if not row["adopts"]:
        if not row["documents"]:
            raise CorpusNotFoundError(corpus)
        raise InputError(
            f"The corpus {corpus!r} was not adopted, but indexed. Remove it with `e2g delete --corpus {quote(corpus)}`."
        )
    removed: dict[str, Any] = {}
    delete_corpus = Write(
        (("adopt/delete_marker", {"corpus": corpus}), ("index/delete_empty_corpus", {"corpus": corpus})),
        condition=("adopt/is_left", {"corpus": corpus}),
    )
    while True:  # an active run may add documents
        stored: Rows = yield Read("query/documents", {"corpus": corpus})
        removed |= {document["id"]: document for document in stored}
        for document in stored:
            yield from delete(corpus, [document["id"]])
        if (yield delete_corpus):
            return list(removed.values())


def _selection(adoption: Adoption) -> dict[str, str | None]:
    """Return the options that select the nodes. Those of a corpus stay the same, and are stored."""
    return {name: value for name, value in asdict(adoption).items() if name != "properties"}


def _options(adoption: Adoption) -> str:
    return json.dumps(_selection(adoption), ensure_ascii=False)
