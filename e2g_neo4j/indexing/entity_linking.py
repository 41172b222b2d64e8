"""Link the entities of a corpus to nodes of the user's graph that mean the same.

Only relationships from entities are written: (:Entity)-[:REFERS_TO {method, score}]->(node). The names of the nodes are
read page by page and compared here, so no index on the nodes is needed or created. A node that a relationship ties to
an adopted text node is linked to an entity of its chunk, if one has its name.
"""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isclose
from typing import Any, get_args

import numpy as np

from e2g_neo4j.errors import InputError
from e2g_neo4j.graph.lease import write_locked
from e2g_neo4j.models.entities.entity_key import entity_key
from e2g_neo4j.runtime.batched import split_batches
from e2g_neo4j.runtime.requests import Operation, Read, Rows
from e2g_neo4j.types.documents import Vectors
from e2g_neo4j.types.graph import Ambiguity, Link, Method
from e2g_neo4j.types.ids import check_users_label
from e2g_neo4j.types.reports import LinkReport

PAGE = 50_000
"""Nodes that one statement reads."""

ROWS = 10_000
"""Relationships per transaction."""

TIED = 1000
"""Nodes whose text nodes one statement looks for."""

SCORES: Mapping[Method, float] = {"exact": 1.0, "folded": 0.95, "alias": 0.9}
"""Scores of methods without degrees. The score of `words` is the share of common words, that of `vector` the cosine."""

WORDS = 0.6
"""Minimum share of common words of two names, if one contains all words of the other."""

NEAR = 0.9
"""Minimum cosine of two names that may mean the same."""

MARGIN = 0.05
"""Minimum difference of the cosines of the nearest and the second nearest name."""

SAME_SCORE = 1e-3
"""A link whose score changes by less is not updated: embedding a name again gives a slightly different vector."""

MOST_EMBEDDED = 20_000
"""Maximum number of nodes whose names are embedded. With more nodes, vectors are not compared."""

Embedding = Callable[[list[str]], Vectors]


@dataclass(slots=True)
class _Entities:
    """The entities of a corpus with their names."""

    names: dict[str, str]
    """Key to name."""
    named: set[str]
    """Keys of names. Common nouns are only spelled like their key."""
    forms: dict[str, str]
    """Spelling to key."""
    aliases: dict[str, str]
    """Key of an alias to the only entity that it resolves to."""
    with_word: dict[str, list[str]]
    """Names of several words, by word."""


@dataclass(slots=True)
class _Candidates:
    """Nodes that an entity may refer to, by method."""

    nodes: int = 0
    names: dict[str, str] = field(default_factory=dict)
    """The names of nodes that match an entity; of all nodes, if they are few enough to be embedded."""
    tied: defaultdict[str, dict[str, tuple[Method, float]]] = field(default_factory=lambda: defaultdict(dict))
    """The nodes that are tied to chunks of an entity and have its name, with their method and score."""
    found: dict[Method, defaultdict[str, dict[str, float]]] = field(
        default_factory=lambda: {method: defaultdict(dict) for method in (*SCORES, "words", "vector")}
    )


def link(
    corpus: str,
    *,
    labels: Sequence[str],
    name: str,
    aliases: str | None,
    type: str | None,
    embed: Embedding,
    dry_run: bool,
) -> Operation[LinkReport]:
    """Link the entities of a corpus to nodes of labels that have the same name. Remove other links to these labels.

    Args:
        name: the property with the name.
        aliases: the property with other names, if any.
        type: the type of the entities; None for all.

    Raises:
        InputError: no node has a label and a text as `name`, a label is one of this project, or no entity has the type.
    """
    for label in labels:
        check_users_label(label)
    entities = _entities((yield Read("link/entities", {"corpus": corpus, "type": type})))
    if type is not None and not entities.names:
        raise InputError(
            f"No entity of the corpus {corpus!r} has the type {type!r}, so nothing was linked or unlinked. "
            f"`e2g entities --corpus {shlex.quote(corpus)}` lists the types."
        )
    candidates = _Candidates()
    [adopted] = yield Read("adopt/adopted", {"corpus": corpus})
    after = ""
    while True:
        parameters = {"labels": labels, "name": name, "aliases": aliases, "after": after, "limit": PAGE}
        rows: Rows = yield Read("link/nodes", parameters)
        beside: dict[str, list[str]] = {}
        for nodes in split_batches([row["node"] for row in rows], TIED) if adopted["adopts"] else ():
            tied: Rows = yield Read("link/tied_entities", {"corpus": corpus, "nodes": nodes})
            beside |= {row["node"]: row["keys"] for row in tied}
        for row in rows:
            _compare(entities, candidates, row, beside.get(row["node"], ()))
        if len(rows) < PAGE:
            break
        after = rows[-1]["node"]
    if not candidates.nodes:
        raise InputError(
            f"No node has the label {' or '.join(map(repr, labels))} and a text in its property {name!r}. Check their "
            "spelling in the database."
        )
    links, ambiguous = _decide(entities, candidates)
    if candidates.nodes <= MOST_EMBEDDED:
        decided = {one.key for one in links} | {one.key for one in ambiguous}
        _compare_vectors(entities, candidates, sorted(entities.named - decided), embed)
        links, ambiguous = _decide(entities, candidates)

    stored: Rows = yield Read("link/links", {"corpus": corpus, "labels": labels})
    known = {(row["key"], row["node"]): row for row in stored}
    wanted = {(one.key, one.node): (one.method, one.score) for one in links}
    new = [{"key": one.key, "node": one.node, "method": one.method, "score": one.score} for one in links]
    new = [row for row in new if not _is_known({**row, "property": name}, known.get((row["key"], row["node"])))]
    obsolete = [{"key": key, "node": node} for key, node in known if (key, node) not in wanted]
    if not dry_run:
        yield from _delete_links(corpus, obsolete)
        for rows in split_batches(new, ROWS):
            yield write_locked("link/create_links", corpus, labels=labels, name=name, rows=rows)
    return LinkReport(
        corpus=corpus,
        labels=tuple(labels),
        entities=len(entities.names),
        nodes=candidates.nodes,
        methods=dict(Counter(one.method for one in links)),
        links=tuple(links),
        ambiguous=tuple(ambiguous),
        added=len(new),
        removed=len(obsolete),
        vectors=candidates.nodes <= MOST_EMBEDDED,
        dry_run=dry_run,
    )


def _is_known(row: Mapping[str, Any], known: Mapping[str, Any] | None) -> bool:
    if known is None or any(row[name] != known[name] for name in ("method", "property")):
        return False
    return isclose(row["score"], known["score"], abs_tol=SAME_SCORE)


def links(corpus: str, label: str | None) -> Operation[dict[str, int]]:
    """Count the links of a corpus, by the labels of the nodes."""
    rows: Rows = yield Read("link/labels", {"corpus": corpus, "label": label})
    counted: Counter[str] = Counter()
    for row in rows:
        counted[":".join(sorted(row["labels"]))] += row["links"]
    return dict(counted)


def unlink(corpus: str, label: str | None) -> Operation[int]:
    """Remove the links of a corpus, to nodes of a label or all. Return how many there were."""
    rows: Rows = yield Read("link/links", {"corpus": corpus, "labels": label and [label]})
    yield from _delete_links(corpus, [{"key": row["key"], "node": row["node"]} for row in rows])
    return len(rows)


def _delete_links(corpus: str, links: Sequence[dict[str, Any]]) -> Operation[None]:
    for rows in split_batches(links, ROWS):
        yield write_locked("link/delete_links", corpus, rows=rows)


def _entities(rows: Iterable[dict[str, Any]]) -> _Entities:
    entities = _Entities({}, set(), {}, {}, defaultdict(list))
    resolved: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows:
        key, forms = row["key"], row["forms"] or [row["key"]]
        entities.names[key] = row["name"] or key
        entities.forms |= dict.fromkeys(forms, key)
        for alias in row["aliases"]:
            resolved[alias].add(key)
        if set(forms) != {key}:
            entities.named.add(key)
            words = set(key.split())
            for word in words if len(words) > 1 else ():
                entities.with_word[word].append(key)
    entities.aliases = {alias: next(iter(keys)) for alias, keys in resolved.items() if len(keys) == 1}
    return entities


def _compare(entities: _Entities, candidates: _Candidates, row: dict[str, Any], beside: Collection[str]) -> None:
    """Record which entities a node matches by one of its names: one of those that chunks have which it is tied to, or
    any."""
    node, names, aliases = row["node"], _texts(row["name"]), _texts(row["aliases"])
    if not names:
        return
    candidates.nodes += 1
    found: list[tuple[Method, str, float]] = []
    for name in names:
        key = entity_key(name)
        if name in entities.forms:
            found.append(("exact", entities.forms[name], SCORES["exact"]))
        if key in entities.named or (key in entities.names and name.casefold() == key):
            found.append(("folded", key, SCORES["folded"]))
        if key in entities.aliases:
            found.append(("alias", entities.aliases[key], SCORES["alias"]))
        found += (("words", other, share) for other, share in _with_the_same_words(entities, key))
    for alias in aliases:
        key = entity_key(alias)
        if key in entities.named:
            found.append(("alias", key, SCORES["alias"]))
        elif key in entities.aliases:
            found.append(("alias", entities.aliases[key], SCORES["alias"]))
    if tied := [one for one in found if one[1] in beside] or _with_part(entities, map(entity_key, names), beside):
        method, key, score = min(tied, key=lambda one: (get_args(Method).index(one[0]), -one[2], one[1]))
        candidates.tied[key][node] = method, score
    else:
        for method, key, score in found:
            best = candidates.found[method][key]
            best[node] = max(score, best.get(node, 0.0))
    if found or tied or candidates.nodes <= MOST_EMBEDDED:
        candidates.names[node] = names[0]


def _with_part(entities: _Entities, names: Iterable[str], beside: Iterable[str]) -> list[tuple[Method, str, float]]:
    """Return the only one of some entities whose name has all words of a name, or the other way round."""
    parts = {
        (key, len(words & others) / len(words | others))
        for words in map(_words, names)
        for key in entities.named.intersection(beside)
        if words and ((others := _words(key)) <= words or words <= others)
    }
    return [("chunk", *next(iter(parts)))] if len(parts) == 1 else []


def _words(name: str) -> set[str]:
    return set(name.split())


def _with_the_same_words(entities: _Entities, key: str) -> Iterator[tuple[str, float]]:
    """Yield entities whose name contains all words of a name, or the other way round, and at least two of them."""
    words = set(key.split())
    if len(words) < 2:
        return
    shared = Counter(other for word in words for other in entities.with_word.get(word, ()))
    for other, number in shared.items():
        others = len(set(other.split()))
        share = number / (len(words) + others - number)
        if number > 1 and number == min(len(words), others) and share >= WORDS:
            yield other, share


def _compare_vectors(entities: _Entities, candidates: _Candidates, keys: Sequence[str], embed: Embedding) -> None:
    """Record for each of these entities the node with the nearest name, or several that are about as near."""
    if not keys:
        return
    nodes = list(candidates.names)
    entity_vectors = embed([entities.names[key] for key in keys])
    node_vectors = embed([candidates.names[node] for node in nodes])
    for key, vector in zip(keys, entity_vectors, strict=True):
        cosines = node_vectors @ vector
        best = float(cosines.max())
        if best >= NEAR:
            for index in np.flatnonzero(cosines > best - MARGIN):
                candidates.found["vector"][key][nodes[index]] = round(min(float(cosines[index]), 1.0), 4)


def _decide(entities: _Entities, candidates: _Candidates) -> tuple[list[Link], list[Ambiguity]]:
    """Decide for each entity: links to the nodes that its chunks are tied to, or else, by the first method with a
    result, to the best node and all others of its name, or an ambiguity."""
    links: list[Link] = []
    ambiguous: list[Ambiguity] = []
    for key in sorted(entities.names):
        tied = candidates.tied.get(key, {})
        for node, (how, score) in sorted(tied.items()):
            links.append(Link(key, entities.names[key], node, candidates.names[node], how, score))
        for method, found in candidates.found.items() if all(how == "chunk" for how, _ in tied.values()) else ():
            if not (nodes := found.get(key)):
                continue
            best = max(nodes.values())
            equal = sorted(node for node, score in nodes.items() if method == "vector" or score == best)
            if len({entity_key(candidates.names[node]) for node in equal}) == 1:
                for node in equal:
                    links.append(Link(key, entities.names[key], node, candidates.names[node], method, nodes[node]))
            else:
                named_nodes = tuple((node, candidates.names[node]) for node in equal)
                ambiguous.append(Ambiguity(key, entities.names[key], method, named_nodes))
            break
    return links, ambiguous


def _texts(value: Any) -> list[str]:
    """Return the texts in the value of a property, which may be a text or a list."""
    values = value if isinstance(value, list) else [value]
    return [text for text in values if isinstance(text, str) and text.strip()]
