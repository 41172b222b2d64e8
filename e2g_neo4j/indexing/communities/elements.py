"""Statements as a chat model reads them about a community."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from e2g_neo4j.indexing.communities.hierarchy import Community
from e2g_neo4j.indexing.communities.reports import memberships_of
from e2g_neo4j.runtime.requests import Operation, Read

STATEMENTS_READ = 1_000
"""Statements that one statement of Cypher reads."""


@dataclass(frozen=True, slots=True)
class StoredStatement:
    """A statement of a corpus.

    Attributes:
        chunks: the ids of the chunks that state it.
        subject: the key of the entity that it is about.
        object: the key of the entity that the subject is related to; None if the subject is described.
        text: the sentence that says it.
        strength: how much it matters, 1 to 10.
        status: what the text says of it, such as "suspected"; None if that is not known.
        period: when it is so; None if that is not known.
    """

    id: str
    chunks: tuple[str, ...]
    subject: str
    object: str | None
    text: str
    strength: int
    status: str | None = None
    period: str | None = None

    @property
    def entities(self) -> tuple[str, ...]:
        return (self.subject,) if self.object is None else (self.subject, self.object)


@dataclass(frozen=True, slots=True)
class StatementElement:
    """A statement as it is read about a community.

    Attributes:
        order: sorts the statements about the community, the most important first.
        entities: the keys of its entities.
        chunks: the ids of the chunks that state it.
        text: the names of its entities, and its text.
    """

    order: int
    entities: tuple[str, ...]
    chunks: tuple[str, ...]
    text: str

    @property
    def length(self) -> int:
        return len(self.text)


def read_statements(corpus: str) -> Operation[list[StoredStatement]]:
    """Read the statements of a corpus."""
    found: list[StoredStatement] = []
    after = ""
    while rows := (yield Read("communities/statements", {"corpus": corpus, "after": after, "limit": STATEMENTS_READ})):
        found += [StoredStatement(chunks=(row["chunk"],), **{k: row[k] for k in row if k != "chunk"}) for row in rows]
        after = rows[-1]["id"]
    return found


def statements_about(
    hierarchy: Sequence[Community], statements: Iterable[StoredStatement], names: Mapping[str, str]
) -> Iterator[list[StatementElement]]:
    """Yield the statements about each community, in the order of GraphRAG (arXiv 2404.16130, section 3.1.4).

    Relations between two members come in the order of how many entities both ends are related to, all in all. Before
    each come the descriptions of its ends, unless they came earlier. Descriptions of members that are related to no
    other come last. Of statements that say the same, the first counts.

    Args:
        names: the name of each entity, by key.
    """
    related: defaultdict[str, set[str]] = defaultdict(set)
    descriptions: defaultdict[str, list[StoredStatement]] = defaultdict(list)
    relations = list[StoredStatement]()
    for one in sorted(statements, key=lambda one: (-one.strength, one.text, one.id)):
        if one.object is None:
            descriptions[one.subject].append(one)
        else:
            relations.append(one)
            related[one.subject].add(one.object)
            related[one.object].add(one.subject)
    relations.sort(key=lambda one: (-sum(len(related[end]) for end in one.entities), one.entities))
    memberships = memberships_of(hierarchy)
    inner: defaultdict[int, list[StoredStatement]] = defaultdict(list)
    for one in relations:
        for number in set.intersection(*(set(memberships[end]) for end in one.entities)):
            inner[number].append(one)

    def in_order(number: int) -> Iterator[StoredStatement]:
        left = {entity: descriptions[entity] for entity in hierarchy[number].members if entity in descriptions}
        for relation in inner[number]:
            for end in relation.entities:
                yield from left.pop(end, ())
            yield relation
        for entity in sorted(left, key=lambda entity: (-len(related[entity]), entity)):
            yield from left[entity]

    for number in range(len(hierarchy)):
        said: dict[str, StoredStatement] = {}
        for one in in_order(number):
            about = ", ".join(names[end] for end in one.entities)
            claim = ", ".join(filter(None, (one.status, one.period)))
            said.setdefault(f"{about}: {one.text}" + (f" [{claim}]" if claim else ""), one)
        yield [
            StatementElement(order, one.entities, one.chunks, text) for order, (text, one) in enumerate(said.items())
        ]
