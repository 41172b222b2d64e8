"""Which nodes of somebody else's graph the entities of a corpus refer to.

Nothing is written but relationships of our own, from our entities: (:Entity)-[:REFERS_TO {method, score}]->(theirs).
Their names are read page by page and compared here, so that no index on their nodes is needed, or made.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from e2g_neo4j.errors import InputError
from e2g_neo4j.extraction import entity_key
from e2g_neo4j.model import Ambiguity, Link, LinkReport, Method, Vectors
from e2g_neo4j.queries import Read, Rows, Story, Write

PAGE = 50_000
"""Nodes of theirs that are read at once."""

ROWS = 10_000
"""Relationships of a transaction."""

SCORES: Mapping[Method, float] = {"exact": 1.0, "folded": 0.95, "alias": 0.9}
"""Of the methods that match or do not; `words` scores the share of the words that both names have, `vector` the
cosine."""

WORDS = 0.6
"""Share of words that two names must have in common, all of the shorter one's among them."""

NEAR = 0.9
"""Cosine from which on two names may mean the same."""

MARGIN = 0.05
"""How much nearer than the second the nearest name must be."""

MOST_EMBEDDED = 20_000
"""Names of theirs that are embedded; of a label with more, vectors are left out."""

Embedding = Callable[[list[str]], Vectors]


@dataclass(slots=True)
class _Ours:
    """The entities of a corpus, by all that they are called."""

    names: dict[str, str]
    named: set[str]
    """Those that are names, not common nouns: written otherwise than their key at least once."""
    forms: dict[str, str]
    aliases: dict[str, str]
    """Key of another name to the only entity that it stands for."""
    with_word: dict[str, list[str]]
    """Names of several words, by word."""


@dataclass(slots=True)
class _Theirs:
    """Nodes that an entity may refer to, by method."""

    nodes: int = 0
    names: dict[str, str] = field(default_factory=dict)
    """Of each node that matches somehow; of all, as long as they are few enough to be embedded."""
    found: dict[Method, defaultdict[str, dict[str, float]]] = field(
        default_factory=lambda: {method: defaultdict(dict) for method in (*SCORES, "words", "vector")}
    )


def link(
    corpus: str, *, label: str, name: str, aliases: str | None, embed: Embedding, dry_run: bool
) -> Story[LinkReport]:
    """Join the entities of a corpus to the nodes with a label that have the same name, and to those only.

    What an earlier call joined to nodes of this label, and this one would not, is parted. Raises InputError where no
    node has the label and a text as `name`.
    """
    ours = _ours((yield Read("link/entities", {"corpus": corpus})))
    theirs = _Theirs()
    after = ""
    while True:
        parameters = {"label": label, "name": name, "aliases": aliases, "after": after, "limit": PAGE}
        rows: Rows = yield Read("link/nodes", parameters)
        for row in rows:
            _compare(ours, theirs, row)
        if len(rows) < PAGE:
            break
        after = rows[-1]["node"]
    if not theirs.nodes:
        raise InputError(
            f"No node has the label {label!r} and a text as its property {name!r}: name others, spelt as they are in "
            "the database."
        )
    links, ambiguous = _chosen(ours, theirs)
    if theirs.nodes <= MOST_EMBEDDED:
        decided = {one.key for one in links} | {one.key for one in ambiguous}
        _compare_vectors(ours, theirs, sorted(ours.named - decided), embed)
        links, ambiguous = _chosen(ours, theirs)

    before: Rows = yield Read("link/references", {"corpus": corpus, "label": label})
    known = {(row["key"], row["node"]): (row["method"], row["score"]) for row in before}
    wanted = {(one.key, one.node): (one.method, one.score) for one in links}
    new = [{"key": one.key, "node": one.node, "method": one.method, "score": one.score} for one in links]
    new = [row for row in new if known.get((row["key"], row["node"])) != (row["method"], row["score"])]
    gone = [{"key": key, "node": node} for key, node in known if (key, node) not in wanted]
    if not dry_run:
        yield from _released(corpus, gone)
        for rows in _batches(new):
            yield _locked(corpus, "link/refer", {"corpus": corpus, "label": label, "rows": rows})
    return LinkReport(
        corpus=corpus,
        label=label,
        entities=len(ours.names),
        nodes=theirs.nodes,
        methods=dict(Counter(one.method for one in links)),
        links=tuple(links),
        ambiguous=tuple(ambiguous),
        added=len(new),
        removed=len(gone),
        vectors=theirs.nodes <= MOST_EMBEDDED,
        dry_run=dry_run,
    )


def unlink(corpus: str, label: str | None) -> Story[int]:
    """Part the entities of a corpus from all nodes that they refer to, or those with a label; returns how many."""
    rows: Rows = yield Read("link/references", {"corpus": corpus, "label": label})
    yield from _released(corpus, [{"key": row["key"], "node": row["node"]} for row in rows])
    return len(rows)


def _released(corpus: str, gone: Sequence[dict[str, Any]]) -> Story[None]:
    for rows in _batches(gone):
        yield _locked(corpus, "link/release", {"corpus": corpus, "rows": rows})


def _locked(corpus: str, statement: str, parameters: dict[str, Any]) -> Write:
    return Write((("index/lock_corpus", {"corpus": corpus}), (statement, parameters)))


def _batches(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    rest = iter(rows)
    while batch := list(islice(rest, ROWS)):
        yield batch


def _ours(rows: Iterable[dict[str, Any]]) -> _Ours:
    ours = _Ours({}, set(), {}, {}, defaultdict(list))
    meant: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows:
        key, forms = row["key"], row["forms"] or [row["key"]]
        ours.names[key] = row["name"] or key
        ours.forms |= dict.fromkeys(forms, key)
        for alias in row["aliases"]:
            meant[alias].add(key)
        if set(forms) != {key}:
            ours.named.add(key)
            words = set(key.split())
            for word in words if len(words) > 1 else ():
                ours.with_word[word].append(key)
    ours.aliases = {alias: next(iter(keys)) for alias, keys in meant.items() if len(keys) == 1}
    return ours


def _compare(ours: _Ours, theirs: _Theirs, row: dict[str, Any]) -> None:
    """Note which entities a node may be, by all that it is called."""
    node, names, aliases = row["node"], _texts(row["name"]), _texts(row["aliases"])
    if not names:
        return
    theirs.nodes += 1
    found: list[tuple[Method, str, float]] = []
    for name in names:
        key = entity_key(name)
        if name in ours.forms:
            found.append(("exact", ours.forms[name], SCORES["exact"]))
        if key in ours.named or (key in ours.names and name.casefold() == key):
            found.append(("folded", key, SCORES["folded"]))
        if key in ours.aliases:
            found.append(("alias", ours.aliases[key], SCORES["alias"]))
        found += (("words", other, share) for other, share in _with_the_same_words(ours, key))
    for alias in aliases:
        key = entity_key(alias)
        if key in ours.named:
            found.append(("alias", key, SCORES["alias"]))
        elif key in ours.aliases:
            found.append(("alias", ours.aliases[key], SCORES["alias"]))
    for method, key, score in found:
        best = theirs.found[method][key]
        best[node] = max(score, best.get(node, 0.0))
    if found or theirs.nodes <= MOST_EMBEDDED:
        theirs.names[node] = names[0]


def _with_the_same_words(ours: _Ours, key: str) -> Iterator[tuple[str, float]]:
    """Names of ours that hold all words of another one, or the other way round, and at least two of them."""
    words = set(key.split())
    if len(words) < 2:
        return
    shared = Counter(other for word in words for other in ours.with_word.get(word, ()))
    for other, number in shared.items():
        others = len(set(other.split()))
        share = number / (len(words) + others - number)
        if number > 1 and number == min(len(words), others) and share >= WORDS:
            yield other, share


def _compare_vectors(ours: _Ours, theirs: _Theirs, keys: Sequence[str], embed: Embedding) -> None:
    """Note for each of these entities the node with the nearest name, or several that are about as near."""
    if not keys:
        return
    nodes = list(theirs.names)
    mine = embed([ours.names[key] for key in keys])
    others = embed([theirs.names[node] for node in nodes])
    for key, vector in zip(keys, mine, strict=True):
        cosines = others @ vector
        best = float(cosines.max())
        if best >= NEAR:
            for place in np.flatnonzero(cosines > best - MARGIN):
                theirs.found["vector"][key][nodes[place]] = round(min(float(cosines[place]), 1.0), 4)


def _chosen(ours: _Ours, theirs: _Theirs) -> tuple[list[Link], list[Ambiguity]]:
    """For each entity what the first method says that says anything: the one best node, or which several there are."""
    links: list[Link] = []
    ambiguous: list[Ambiguity] = []
    for key in sorted(ours.names):
        for method, found in theirs.found.items():
            if not (nodes := found.get(key)):
                continue
            best = max(nodes.values())
            equal = sorted(node for node, score in nodes.items() if method == "vector" or score == best)
            if len(equal) == 1:
                [node] = equal
                links.append(Link(key, ours.names[key], node, theirs.names[node], method, nodes[node]))
            else:
                told = tuple((node, theirs.names[node]) for node in equal)
                ambiguous.append(Ambiguity(key, ours.names[key], method, told))
            break
    return links, ambiguous


def _texts(value: Any) -> list[str]:
    """A property as the texts that it holds: one, a list of them, or none."""
    found = value if isinstance(value, list) else [value]
    return [text for text in found if isinstance(text, str) and text.strip()]
