"""`synonyms`: windows that mention entities of the question, under these or similar names, with their neighbours.

This is LlamaIndex' LLMSynonymRetriever for property graphs: there, a chat model writes keywords and synonyms, which
are looked up as ids of nodes; the relations of these nodes and their text are the result. Here the model writes them
with the option `llm`; without it, the keywords are the nouns, names and noun phrases of the question. They are matched
to entities by key, alias, another form of the words, and the vector of the name. As in mode `vector_context`,
relations are co-occurrences, their text is each window that mentions both ends, and windows are ranked by their own
vectors too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

from e2g_neo4j.models.chat.json_replies import TEXT, example_texts, list_schema, object_schema, objects_in, short_texts
from e2g_neo4j.models.chat.prompts import load_prompt
from e2g_neo4j.models.chat.until_usable import TRIES
from e2g_neo4j.models.entities.entity_key import entity_key
from e2g_neo4j.models.porter import stem
from e2g_neo4j.models.words import terms
from e2g_neo4j.retrieval.chat_calls import PROMPTS, ChatCalls
from e2g_neo4j.retrieval.query import Query, RankedWindows, Ranking
from e2g_neo4j.retrieval.sentences import HUB
from e2g_neo4j.retrieval.strategies.vector_context import rank_by_relations
from e2g_neo4j.retrieval.strategy import Strategy
from e2g_neo4j.runtime.requests import Embed, EmbedAll, Operation, read_each

MAX_KEYWORDS = 12
"""Maximum keywords of a question."""

CALLS = TRIES
"""Maximum calls of the chat model for a question: one writes all keywords."""

SCHEMA = object_schema(keywords=list_schema(TEXT, MAX_KEYWORDS))
"""The JSON schema of a reply with keywords."""

MEANINGS = 3
"""Maximum entities that a keyword resolves to as an alias."""

FORMS = 20
"""Maximum entities with the stem of a keyword that are compared with it."""

SIMILAR = 3
"""Maximum entities of a keyword by vector."""

CANDIDATES = 20
"""Entities that the index is asked for, because it is approximate. With 100, the same was found on MuSiQue."""

THRESHOLD = 0.9
"""Least score of an entity by vector, (1 + cosine) / 2. Of thirty pairs of names of one thing, such as physician and
doctor, all-MiniLM-L6-v2 puts 15 above it, and none of thirty pairs of different things, such as father and mother;
above .85 it puts 21 and 6."""

_SHORTEST_STEM = 3

NEIGHBOURS = 10
"""Relations of an entity: those with other entities of the question, then those with the greatest weight."""

LIMIT = 200
"""Windows by relations that are read, and at least as many by vector."""

RELATION = 0.03
"""Weight of the relations of a window, in relation to its own vector. With more, R@25 on MuSiQue rises and MRR falls:
.798 and .830 with .02, .814 and .824 with .03, .821 and .800 with .05, .831 and .778 with .1."""


By: TypeAlias = Literal["key", "alias", "form", "vector"]

_ORDER: Sequence[By] = ("key", "alias", "form", "vector")


def synonyms(query: Query) -> Ranking:
    """Match the keywords of the question to entities, and rank windows by their relations, best first."""
    given = query.keywords()
    if query.chat is not None:
        given = (yield from keywords_of(query.question, query.chat)) or given
    keywords = first_keywords(given)
    found = yield from match_keywords(keywords, query.corpora)
    told = query.explanation
    told.entities, told.unknown_entities = entities_of(found, keywords)
    told.ignored_entities = tuple(key for key in given if key not in keywords)
    told.reason = told.reason.replace("the question's entities", "pairs of entities")
    told.notes.append(matches_told(found))
    return (yield from by_relations(query, found))


def by_relations(query: Query, matches: Mapping[str, Sequence[Match]]) -> Ranking:
    """Rank windows by the relations of entities, best first.

    Args:
        matches: Per corpus, the entities that its keywords mean.
    """
    vector = yield Embed(query.question)
    constants = {"vector": vector, "neighbours": NEIGHBOURS, "hub": HUB, "limit": max(query.limit, LIMIT)}
    scores = {corpus: scores_of(matches.get(corpus, ())) for corpus in query.corpora}
    parameters = {corpus: {**constants, "keys": list(keys)} for corpus, keys in scores.items()}
    return rank_rows((yield from query.read_each("relations", parameters)), scores)[: query.limit]


@dataclass(frozen=True, slots=True)
class Match:
    """An entity that a keyword means.

    Attributes:
        by: How it was found. `form`: the words have the same stems.
        score: 1, or for `vector` (1 + cosine) / 2 of the two names.
    """

    keyword: str
    entity: str
    by: By
    score: float


def keywords_of(question: str, chat: ChatCalls) -> Operation[dict[str, str] | None]:
    """Have the chat model write keywords and synonyms: by key, how it spells them. None if its replies are not usable,
    which it is told."""
    examples = example_texts(load_prompt(PROMPTS / "synonyms.txt", chat.prompts))
    parse = partial(keywords_in, examples=examples)
    keywords = yield from chat.ask("synonyms", question, (), SCHEMA, parse, most=CALLS)
    if keywords is None:
        chat.fall_back("the keywords are those of the question")
        return None
    chat.told.append(f"Keywords of the chat model: {', '.join(keywords.values())}.")
    return keywords


def keywords_in(reply: str, examples: Collection[str] = ()) -> dict[str, str] | None:
    """Return the keywords of a reply such as {"keywords": ["clockmaker", "horologist"]} by key, or None. Those that are
    examples of the prompt are left out."""
    for found in reversed(objects_in(reply)):
        texts = [text for text in short_texts(found.get("keywords"), MAX_KEYWORDS) if text not in examples]
        if keywords := {key: text for text in texts if (key := entity_key(text))}:
            return keywords
    return None


def first_keywords(keywords: Mapping[str, str]) -> dict[str, str]:
    """Return the keywords that are looked up, by key: names before nouns and phrases, in the order of the question."""
    first = sorted(keywords, key=lambda key: keywords[key] == key)[:MAX_KEYWORDS]
    return {key: form for key, form in keywords.items() if key in first}


def match_keywords(keywords: Mapping[str, str], corpora: Sequence[str]) -> Operation[dict[str, tuple[Match, ...]]]:
    """Match keywords to entities, in one read per corpus.

    Returns:
        The matches per corpus, in the order of the keywords, the surest first.
    """
    vectors = yield EmbedAll(tuple(keywords.values()))
    given = [
        {"key": key, "stem": stem_of(key), "vector": vector} for key, vector in zip(keywords, vectors, strict=True)
    ]
    constants = {
        "keywords": given,
        "meanings": MEANINGS,
        "forms": FORMS,
        "similar": SIMILAR,
        "candidates": CANDIDATES,
        "threshold": THRESHOLD,
    }
    rows = yield from read_each("query/synonyms", dict.fromkeys(corpora, constants))
    order = [one["key"] for one in given]
    return {corpus: matches(order, [row for row in rows if row["corpus"] == corpus]) for corpus in corpora}


def stem_of(key: str) -> str | None:
    """Return what all forms of a keyword begin with: "compan" for "companies". None if that is too short."""
    *first, last = key.split(" ")
    beginning = " ".join([*first, stem(last).rstrip("i")])
    return beginning if len(beginning) >= _SHORTEST_STEM and key.startswith(beginning) else None


def matches(order: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> tuple[Match, ...]:
    """Return the matches in the rows of `synonyms.cypher`. A pair of keyword and entity counts once, as the surest.

    An entity by stem is a match if its words have the same stems as those of the keyword.

    Args:
        order: The keywords.
        rows: The rows of one corpus.
    """
    found = [
        Match(row["keyword"], row["entity"], row["by"], row["score"])
        for row in rows
        if row["by"] != "form" or list(terms(row["entity"])) == list(terms(row["keyword"]))
    ]
    found.sort(key=lambda one: (order.index(one.keyword), _ORDER.index(one.by), -round(one.score, 5), one.entity))
    first: dict[tuple[str, str], Match] = {}
    for one in found:
        first.setdefault((one.keyword, one.entity), one)
    return tuple(first.values())


def entities_of(
    matches: Mapping[str, Sequence[Match]], keywords: Iterable[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the entities that keywords were matched to, and the keywords that match none, in the order of keywords."""
    found = [one for of_corpus in matches.values() for one in of_corpus]
    order = list(keywords)
    entities = dict.fromkeys(one.entity for one in sorted(found, key=lambda one: order.index(one.keyword)))
    known = {one.keyword for one in found}
    return tuple(entities), tuple(key for key in order if key not in known)


def matches_told(matches: Mapping[str, Sequence[Match]]) -> str:
    """Tell which entities keywords were matched to, and how."""
    told: dict[str, dict[str, str]] = {}
    for one in (one for corpus in matches.values() for one in corpus):
        how = f"vector, {one.score:.2f}" if one.by == "vector" else one.by
        told.setdefault(one.keyword, {}).setdefault(one.entity, f"{one.entity} ({how})")
    if not told:
        return "No entity matches a keyword of the question."
    return "; ".join(f"“{keyword}” matches {', '.join(found.values())}" for keyword, found in told.items()) + "."


def scores_of(matches: Iterable[Match]) -> dict[str, float]:
    """Return the entities of matches with the scores of their best ones."""
    scores: dict[str, float] = {}
    for one in matches:
        scores[one.entity] = max(one.score, scores.get(one.entity, 0.0))
    return scores


def rank_rows(rows: Iterable[Mapping[str, Any]], scores: Mapping[str, Mapping[str, float]]) -> RankedWindows:
    """Rank the windows of rows of `relations.cypher`.

    The score of a relation is the mean of its two ends, 0 for an end that the question does not mean. The score of a
    window is its own, (1 + cosine) / 2, plus RELATION times that of its best relation, if it mentions any.

    Args:
        scores: Per corpus, the scores of the entities of the question.
    """
    relations = []
    for row in rows:
        of_entities = scores[row["corpus"]]
        relations.append((row, [sum(of_entities.get(key, 0.0) for key in pair) / 2 for pair in row["relations"]]))
    return rank_by_relations(relations, RELATION)


SYNONYMS = Strategy(
    name="synonyms",
    summary="Windows by relations of the entities that keywords of the question mean.",
    source="LlamaIndex, LLMSynonymRetriever",
    ranked_by="relations of the entities that keywords match and by vector",
    needs={"vector", "entity_vectors"},
    calls_model=True,
    rank_windows=synonyms,
)
