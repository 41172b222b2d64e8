"""`lightrag` and its variants: windows by vectors, by entities and by relations, as in LightRAG (arXiv 2410.05779).

LightRAG has a chat model name specific and general keywords of a question. It finds entities by the specific ones and
relations by the general ones, takes the text units of both, and mixes them with those found by vector. Here the
specific keywords are the entities of the question, and the question itself is used for the general ones. With the
option `llm`, a chat model names both. As in the published code, text units are taken by their similarity to the
question, 2.5 for each entity, then of the others 2.5 for each relation; here, these are as many windows.

This is LightRAG's mode "mix", its default. "hybrid" leaves out the vectors; "local" has the entities of the question
with their relations only, "global" the others with their ends only; "naive" is a vector search. Each is a mode here.

If a corpus has statements, these are its relations: those of the entities, and those whose vectors are nearest to the
general keywords. LightRAG has one relation per pair of entities; here every statement is one. In other corpora,
relations are co-occurrences, and as these have no vectors, the windows nearest to the general keywords lead to them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from e2g_neo4j.models.chat.json_replies import TEXT, list_schema, object_schema, objects_in, short_texts
from e2g_neo4j.models.chat.until_usable import TRIES
from e2g_neo4j.models.entities.entity_key import entity_key
from e2g_neo4j.retrieval.chat_calls import ChatCalls
from e2g_neo4j.retrieval.linking import MAX_MEANINGS, link_parameters
from e2g_neo4j.retrieval.query import Query, RankedWindows, Ranking
from e2g_neo4j.retrieval.sentences import HUB
from e2g_neo4j.retrieval.strategy import Strategy
from e2g_neo4j.retrieval.windows import Window, by_score, round_robin, windows_in
from e2g_neo4j.runtime.requests import Embed, Operation, Rows, read_each

NEAREST = 20
"""Windows by vector: LightRAG's `chunk_top_k`."""

RELATIONS = 40
"""Relations that general keywords lead to, LightRAG's `top_k`; and as many of the question's entities, which it limits
to 8,000 tokens."""

CANDIDATES = 100
"""Statements that the index is asked for. It is approximate, and some statements only describe an entity."""

ENTRY = 5
"""The nearest windows whose relations are taken. In *Dracula*, a window has about 130, so the first gives all 40."""

WINDOWS_EACH = 12.5
"""Windows per entity and per relation, five for each of 2.5 chunks: half of LightRAG's `related_chunk_number` of 5."""

LIMIT = 200
"""Windows by entities that are read."""

CALLS = TRIES
"""Maximum calls of the chat model for a question: one names all keywords."""

KEYWORDS = 10
"""Keywords of a kind that are used, the first ones."""

SCHEMA = object_schema(high_level=list_schema(TEXT, KEYWORDS), low_level=list_schema(TEXT, KEYWORDS))
"""The JSON schema of a reply with keywords."""


@dataclass(frozen=True, slots=True)
class Sources:
    """What a mode of LightRAG takes windows from.

    Attributes:
        vectors: The windows nearest to the question.
        local: The entities of the question, with their relations.
        others: The relations that general keywords lead to, with their ends.
    """

    vectors: bool = False
    local: bool = False
    others: bool = False


MIX = Sources(vectors=True, local=True, others=True)
HYBRID = Sources(local=True, others=True)
LOCAL = Sources(local=True)
GLOBAL = Sources(others=True)


def lightrag(query: Query, sources: Sources = MIX) -> Ranking:
    """Rank windows, best first."""
    if query.layered:
        query.explanation.notes.append(relations_told(query.corpora, query.layered))
    vector = yield Embed(query.question)
    if query.chat is not None:
        keywords = yield from keywords_of(query.question, query.chat)
        if keywords is not None:
            return (yield from _by_keywords(query, query.chat, keywords, vector, sources))
    entities = _entities(query, sources)
    rows = yield from _rows(query, vector, entities, entry=ENTRY if sources.others else 0)
    rows += yield from _rows(query, vector, entities, statement_vector=vector)
    return mix_rows(rows, sources)


def _entities(query: Query, sources: Sources) -> Mapping[str, Sequence[str]]:
    """Return the entities of the question per corpus, without any if the mode does not begin with them."""
    return query.entities if sources.local else dict.fromkeys(query.corpora, ())


def _rows(
    query: Query,
    vector: Sequence[float],
    entities: Mapping[str, Sequence[str]],
    *,
    entry: int = 0,
    statement_vector: Sequence[float] | None = None,
) -> Operation[Rows]:
    """Read windows, entities and relations, of the corpora with statements or of those without.

    Args:
        vector: The vector of the question or of keywords.
        entities: Per corpus, the entities whose relations are the local ones.
        entry: The nearest windows whose relations are the global ones.
        statement_vector: The vector to which the global statements are nearest. None: corpora without statements.
    """
    constants = {"vector": vector, "nearest": NEAREST, "relations": RELATIONS, "hub": HUB, "limit": LIMIT}
    stated = statement_vector is not None
    if stated:
        constants |= {"statement_vector": statement_vector, "candidates": CANDIDATES}
    else:
        constants |= {"entry": entry}
    parameters = {
        corpus: {"names": list(names), **constants}
        for corpus, names in entities.items()
        if (corpus in query.layered) == stated
    }
    return (yield from query.read_each("lightrag_statements" if stated else "lightrag", parameters))


@dataclass(frozen=True, slots=True)
class Keywords:
    """The keywords of a question, general and specific ones. There is at least one."""

    general: tuple[str, ...]
    specific: tuple[str, ...]


def keywords_of(question: str, chat: ChatCalls) -> Operation[Keywords | None]:
    """Have the chat model name keywords. None if its replies are not usable, which it is told."""
    keywords = yield from chat.ask("keywords", question, (), SCHEMA, keywords_in, most=CALLS)
    if keywords is None:
        chat.fall_back("there are no keywords")
        return None
    general, specific = ", ".join(keywords.general) or "none", ", ".join(keywords.specific) or "none"
    chat.told.append(f"Keywords of the chat model: general {general}; specific {specific}.")
    return keywords


def keywords_in(reply: str) -> Keywords | None:
    """Return the keywords of a reply such as {"high_level": ["navigation"], "low_level": ["Luke Farran"]}, or None."""
    for found in reversed(objects_in(reply)):
        keywords = Keywords(*(short_texts(found.get(name), KEYWORDS) for name in ("high_level", "low_level")))
        if keywords.general or keywords.specific:
            return keywords
    return None


def _by_keywords(
    query: Query, chat: ChatCalls, keywords: Keywords, vector: Sequence[float], sources: Sources
) -> Ranking:
    """Rank windows by the entities that specific keywords name, or otherwise by those of the question, and by the
    relations to which the general keywords lead."""
    entities = _entities(query, sources)
    if keywords.specific and sources.local:
        named = yield from entities_named(keywords.specific, list(query.entities))
        entities = {corpus: list(of_corpus) for corpus, of_corpus in named.items()}
        if not any(entities.values()):
            entities = query.entities
            chat.told.append("No specific keyword names an entity: those of the question are used.")
    rows = yield from _rows(query, vector, entities)
    general = vector
    if keywords.general and sources.others:
        general = yield Embed(", ".join(keywords.general))
        related = yield from _rows(query, general, dict.fromkeys(query.corpora, ()), entry=ENTRY)
        others = {row["corpus"]: row for row in (yield from _score_by_question(related, vector))}
        rows = [_join_rows(row, others[row["corpus"]]) for row in rows]
    rows += yield from _rows(query, vector, entities, statement_vector=general)
    return mix_rows(rows, sources)


def entities_named(keywords: Iterable[str], corpora: Iterable[str]) -> Operation[dict[str, dict[str, set[str]]]]:
    """Look keywords up like names in a question. Return, per corpus, entities with the keys that name them."""
    names = sorted({key for one in keywords if (key := entity_key(one))})
    parameters = link_parameters(names, limit=MAX_MEANINGS * KEYWORDS)
    links = yield from read_each("query/link", dict.fromkeys(corpora, parameters))
    return {link["corpus"]: {row["entity"]: set(row["names"]) for row in link["named"]} for link in links}


def _score_by_question(rows: Iterable[dict[str, Any]], vector: Sequence[float]) -> Operation[Rows]:
    """Return rows of `lightrag.cypher` of another vector with the scores of this one. Windows are left out that were
    only near to the other vector, and mention no entity."""

    def id_of(candidate: Mapping[str, Any], window: Mapping[str, Any]) -> str:
        return f"{candidate['chunk']}-w{window['number']}"

    found = list(rows)
    parameters = {}
    for row in found:
        ids = [id_of(one, window) for one in row["candidates"] for window in one["windows"] if window["mentioned"]]
        parameters[row["corpus"]] = {"ids": ids, "vector": vector}
    scored = yield from read_each("query/window_scores", parameters)
    scores = {(row["corpus"], row["id"]): row["score"] for row in scored}
    rescored: Rows = []
    for row in found:
        candidates = []
        for one in row["candidates"]:
            known = [window for window in one["windows"] if (row["corpus"], id_of(one, window)) in scores]
            windows = [{**window, "score": scores[row["corpus"], id_of(one, window)]} for window in known]
            candidates.append({**one, "windows": windows})
        rescored.append({**row, "nearest": [], "candidates": candidates})
    return rescored


def _join_rows(row: Mapping[str, Any], related: Mapping[str, Any]) -> dict[str, Any]:
    """Return two rows of a corpus as one, the second with the global relations."""
    chunks: dict[str, dict[str, Any]] = {}
    windows: dict[tuple[str, int], dict[str, Any]] = {}
    for one in (*row["candidates"], *related["candidates"]):
        chunk = chunks.setdefault(one["chunk"], {**one, "windows": []})
        for window in one["windows"]:
            place = one["chunk"], window["number"]
            if place not in windows:
                windows[place] = {**window, "mentioned": []}
                chunk["windows"].append(windows[place])
            windows[place]["mentioned"] += window["mentioned"]
    return {**row, "global": related["global"], "candidates": list(chunks.values())}


def mix_rows(rows: Iterable[Mapping[str, Any]], sources: Sources = MIX) -> RankedWindows:
    """Return the windows of rows of `lightrag.cypher` or `lightrag_statements.cypher`: by vector, by entity and by
    relation in turn, then all others. Without vectors, these mention an entity or an end of a relation.

    The windows of a relation mention both of its ends. Of a statement, they are in its chunk; if none of this chunk
    mentions both ends, they mention one. Each list has the windows nearest to the question first. The score of a window
    is (1 + cosine) / 2, so scores may rise down the list.
    """
    found: list[tuple[Window, float]] = []
    by_vector, by_entity = set[str](), set[str]()
    by_relation: list[set[str]] = []
    entities = 0
    for row in rows:
        local, others = row["local"] if sources.local else [], row["global"] if sources.others else []
        of_entity = {*(row["named"] if sources.local else []), *(key for relation in others for key in relation[:2])}
        known = of_entity | {key for relation in local for key in relation[:2]}
        entities += len(of_entity)
        by_vector.update(row["nearest"] if sources.vectors else [])
        mentioning, of_chunk = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
        for window, one in windows_in(row["candidates"]):
            if not sources.vectors and known.isdisjoint(one["mentioned"]):
                continue
            found.append((window, one["score"]))
            of_chunk[window.chunk].add(window.id)
            for key in one["mentioned"]:
                mentioning[key].add(window.id)
        by_entity.update(*(mentioning[key] for key in of_entity))
        for a, b, *chunk in round_robin([[*map(tuple, local)], [*map(tuple, others)]]):
            both = mentioning[a] & mentioning[b]
            if chunk:
                stating = of_chunk[chunk[0]]
                both = both & stating or (mentioning[a] | mentioning[b]) & stating
            by_relation.append(both)
    nearest = {window.id: (window, score) for window, score in by_score(found)}
    of_entities = [id for id in nearest if id in by_entity][: int(WINDOWS_EACH * entities)]
    further, relations = _further(by_relation, of_entities)
    lists = [
        [id for id in nearest if id in by_vector][:NEAREST],
        of_entities,
        [id for id in nearest if id in further][: int(WINDOWS_EACH * relations)],
    ]
    return [nearest[id] for id in dict.fromkeys([*round_robin(lists), *nearest])]


def _further(by_relation: Iterable[Collection[str]], taken: Collection[str]) -> tuple[set[str], int]:
    """Return the windows of relations that are not taken yet, and how many relations have one that no relation before
    them has. As in the published code, only these count."""
    further: set[str] = set()
    relations = 0
    for windows in by_relation:
        new = {*windows}.difference(taken, further)
        relations += bool(new)
        further |= new
    return further, relations


def relations_told(corpora: Sequence[str], with_statements: Collection[str]) -> str:
    """Tell in which corpora statements are the relations."""
    where = f" of {', '.join(with_statements)}" if len(with_statements) < len(corpora) else ""
    return f"Relations are the statements{where}."


def _mode(variant: str, summary: str, ranked_by: str, sources: Sources) -> Strategy:
    """Return the mode that is a mode of LightRAG."""
    return Strategy(
        name="lightrag" if sources == MIX else f"lightrag_{variant}",
        summary=summary,
        source=f"LightRAG (arXiv 2410.05779), mode {variant}",
        ranked_by=ranked_by,
        needs={"vector", "entities"} if sources.local else {"vector"},
        uses={"statements"},
        calls_model=True,
        rank_windows=partial(lightrag, sources=sources),
    )


LIGHTRAG = _mode(
    "mix", "Windows by vectors, by entities and by relations, in turn.", "turns of vectors, entities and relations", MIX
)

LIGHTRAG_HYBRID = _mode("hybrid", "Like lightrag, without vectors.", "turns of entities and relations", HYBRID)

LIGHTRAG_LOCAL = _mode(
    "local",
    "Like lightrag, only by the entities of the question and their relations.",
    "turns of the question's entities and their relations",
    LOCAL,
)

LIGHTRAG_GLOBAL = _mode(
    "global",
    "Like lightrag, only by relations near to the question and their ends.",
    "turns of relations and their ends",
    GLOBAL,
)
