"""`lightrag`: windows by vectors, by entities and by relations, in turn, as in LightRAG (arXiv 2410.05779, mode "mix").

LightRAG has a chat model name specific and general keywords of a question. It finds entities by the specific ones and
relations by the general ones, takes the text units of both, and mixes them with those found by vector. Here the
specific keywords are the entities of the question, and the question itself is used for the general ones. With the
option `llm`, a chat model names both. As in the published code, text units are taken by their similarity to the
question, 2.5 for each entity or relation.

If a corpus has statements, these are its relations: those of the entities, and those whose vectors are nearest to the
general keywords. LightRAG has one relation per pair of entities; here every statement is one. In other corpora,
relations are co-occurrences, and as these have no vectors, the windows nearest to the general keywords lead to them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from e2g_neo4j.models.chat.json_replies import TEXT, list_schema, object_schema, objects_in, short_texts
from e2g_neo4j.models.chat.until_usable import TRIES
from e2g_neo4j.models.entities.entity_key import entity_key
from e2g_neo4j.retrieval.chat_calls import ChatCalls
from e2g_neo4j.retrieval.passages import TIE
from e2g_neo4j.retrieval.query import Query, RankedWindows, Ranking
from e2g_neo4j.retrieval.strategies.auto import HUB
from e2g_neo4j.retrieval.strategy import Strategy
from e2g_neo4j.retrieval.windows import Window, round_robin, windows_of
from e2g_neo4j.runtime.requests import Embed, Operation, Rows, read_each
from e2g_neo4j.types.ties import best_first

NEAREST = 20
"""Windows by vector: LightRAG's `chunk_top_k`."""

RELATIONS = 40
"""Relations of the question's entities, and as many others: LightRAG's `top_k`."""

CANDIDATES = 100
"""Statements that the index is asked for. It is approximate, and some statements only describe an entity."""

ENTRY = 5
"""The nearest windows whose relations are taken. In *Dracula*, a window has about 130, so the first gives all 40."""

WINDOWS_EACH = 2.5
"""Windows per entity and per relation: half of LightRAG's `related_chunk_number` of 5."""

LIMIT = 200
"""Windows by entities that are read."""

CALLS = TRIES
"""Maximum calls of the chat model for a question: one names all keywords."""

KEYWORDS = 10
"""Keywords of a kind that are used, the first ones."""

SCHEMA = object_schema(high_level=list_schema(TEXT, KEYWORDS), low_level=list_schema(TEXT, KEYWORDS))
"""The JSON schema of a reply with keywords."""

MEANINGS = 3
"""Maximum number of entities that a keyword may resolve to as an alias, as for names in the question."""


def lightrag(query: Query) -> Ranking:
    """Rank windows, best first."""
    if query.layered:
        query.explanation.notes.append(relations_told(query.corpora, query.layered))
    vector = yield Embed(query.question)
    if query.chat is not None:
        keywords = yield from keywords_of(query.question, query.chat)
        if keywords is not None:
            return (yield from _by_keywords(query, query.chat, keywords, vector))
    rows = yield from _rows(query, vector, query.entities)
    rows += yield from _rows_of_statements(query, vector, query.entities, vector)
    return mixed(rows)


def _rows(
    query: Query, vector: Sequence[float], entities: Mapping[str, Sequence[str]], entry: int | None = None
) -> Operation[Rows]:
    """Read windows, entities and relations of the corpora without statements.

    Args:
        query: The question.
        vector: The vector of the question or of keywords.
        entities: Per corpus, the entities whose relations are the local ones.
        entry: The nearest windows whose relations are the global ones. Default: ENTRY.
    """
    constants = {
        "vector": vector,
        "nearest": NEAREST,
        "entry": ENTRY if entry is None else entry,
        "relations": RELATIONS,
        "hub": HUB,
        "limit": LIMIT,
    }
    parameters = {
        corpus: {"names": list(names), **constants} for corpus, names in entities.items() if corpus not in query.layered
    }
    return (yield from query.read_each("lightrag", parameters))


def _rows_of_statements(
    query: Query, vector: Sequence[float], entities: Mapping[str, Sequence[str]], statement_vector: Sequence[float]
) -> Operation[Rows]:
    """Read windows, entities and relations of the corpora with statements.

    Args:
        query: The question.
        vector: The vector of the question.
        entities: Per corpus, the entities whose relations are the local ones.
        statement_vector: The vector to which the global relations are nearest.
    """
    constants = {
        "vector": vector,
        "statement_vector": statement_vector,
        "nearest": NEAREST,
        "candidates": CANDIDATES,
        "relations": RELATIONS,
        "hub": HUB,
        "limit": LIMIT,
    }
    parameters = {
        corpus: {"names": list(names), **constants} for corpus, names in entities.items() if corpus in query.layered
    }
    return (yield from query.read_each("lightrag_statements", parameters))


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


def _by_keywords(query: Query, chat: ChatCalls, keywords: Keywords, vector: Sequence[float]) -> Ranking:
    """Rank windows by the entities that specific keywords name, or otherwise by those of the question, and by the
    relations to which the general keywords lead."""
    names = sorted({key for one in keywords.specific if (key := entity_key(one))})
    entities = query.entities
    if names:
        limits = {"limit": MEANINGS * KEYWORDS, "meanings": MEANINGS}
        parameters = {"names": names, "other_names": [], **limits, "terms": []}
        links = yield from read_each("query/link", dict.fromkeys(query.entities, parameters))
        named = {link["corpus"]: [row["entity"] for row in link["named"]] for link in links}
        if any(named.values()):
            entities = named
        else:
            chat.told.append("No specific keyword names an entity: those of the question are used.")
    rows = yield from _rows(query, vector, entities, entry=0)
    general = vector
    if keywords.general:
        general = yield Embed(", ".join(keywords.general))
        related = yield from _rows(query, general, dict.fromkeys(query.entities, ()))
        rows += yield from _scored_by_question(related, vector)
    rows += yield from _rows_of_statements(query, vector, entities, general)
    return mixed(rows)


def _scored_by_question(rows: Iterable[dict[str, Any]], vector: Sequence[float]) -> Operation[Rows]:
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


def mixed(rows: Iterable[Mapping[str, Any]]) -> RankedWindows:
    """Return the windows of rows of `lightrag.cypher` or `lightrag_statements.cypher`: by vector, by entity and by
    relation in turn, then all others.

    The windows of a relation mention both of its ends. Of a statement, they are in its chunk; if none of this chunk
    mentions both ends, they mention one. Each list has the windows nearest to the question first. The score of a window
    is (1 + cosine) / 2, so scores may rise down the list.
    """
    found: list[tuple[Window, float]] = []
    by_vector, by_entity, by_relation = set[str](), set[str](), set[str]()
    entities = relations = 0
    for row in rows:
        of_entity = {*row["named"], *(key for relation in row["global"] for key in relation[:2])}
        different = {tuple(relation) for relation in (*row["local"], *row["global"])}
        entities, relations = entities + len(of_entity), relations + len(different)
        by_vector.update(row["nearest"])
        mentioning, of_chunk = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
        for candidate in sorted(row["candidates"], key=lambda one: (one["document"], one["index"])):
            windows = windows_of(candidate)
            for one in sorted(candidate["windows"], key=lambda one: one["number"]):
                window = windows[one["number"]]
                found.append((window, one["score"]))
                of_chunk[window.chunk].add(window.id)
                for key in one["mentioned"]:
                    mentioning[key].add(window.id)
        by_entity.update(*(mentioning[key] for key in of_entity))
        for a, b, *chunk in different:
            both = mentioning[a] & mentioning[b]
            if chunk:
                stating = of_chunk[chunk[0]]
                both = both & stating or (mentioning[a] | mentioning[b]) & stating
            by_relation |= both
    nearest = {found[at][0].id: found[at] for at in best_first([score for _, score in found], TIE)}
    lists = [
        [id for id in nearest if id in by_vector][:NEAREST],
        [id for id in nearest if id in by_entity][: int(WINDOWS_EACH * entities)],
        [id for id in nearest if id in by_relation][: int(WINDOWS_EACH * relations)],
    ]
    return [nearest[id] for id in dict.fromkeys([*round_robin(lists), *nearest])]


def relations_told(corpora: Sequence[str], with_statements: Collection[str]) -> str:
    """Tell in which corpora statements are the relations."""
    where = f" of {', '.join(with_statements)}" if len(with_statements) < len(corpora) else ""
    return f"Relations are the statements{where}."


LIGHTRAG = Strategy(
    name="lightrag",
    summary="Windows by vectors, by entities and by relations, in turn.",
    source="LightRAG (arXiv 2410.05779), mode mix",
    ranked_by="turns of vectors, entities and relations",
    needs={"vector", "entities"},
    uses={"statements"},
    calls_model=True,
    rank_windows=lightrag,
)
