"""Retrieval as E²GraphRAG describes it (arXiv 2505.24226, "query time"): pairs of the question's entities
decide between the local and the global route.

Written once and without I/O: `retrieve` asks for what it needs, and the sync and async clients answer.
Where the published code differs from the paper, this follows the paper: hops are edges, not nodes; every
summary counts as often as the chunks below it mention an entity; summaries stay in the global evidence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from e2g_neo4j.errors import QueryError, no_corpus
from e2g_neo4j.evidence import Ranked, passages, passages_of_windows
from e2g_neo4j.model import Evidence, Fact, Fingerprint, Pair, Passage, Round, Route
from e2g_neo4j.modes.auto import auto
from e2g_neo4j.modes.dense import dense
from e2g_neo4j.modes.diffusion import diffusion
from e2g_neo4j.modes.fulltext import fulltext
from e2g_neo4j.modes.hybrid import hybrid
from e2g_neo4j.modes.tree import tree
from e2g_neo4j.queries import Embed, Story, read_each

MAX_HOPS = 6
"""The bound written into `link.cypher`: shortestPath takes a literal only."""

MAX_ENTITIES = 24
"""Entities of one question that are paired, the rarest first: 276 pairs at most, however long the question."""

MAX_MEANINGS = 3
"""Entities that a name is looked up as, besides the one that has this very name: John may be many."""

MAX_FACTS = 25
"""Facts of somebody else's graph that come with the evidence."""

LONGEST_VALUE = 200
"""Characters of a fact's property, or of a list of values."""

MAX_THROUGH = 50
"""Types of relationships that facts may be of."""

MAX_QUESTION = 100_000
"""Characters of a question."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that mentions at least two of the question's entities: how often it mentions each, and the surviving
    pairs of them, closest first."""

    chunk: str
    place: tuple[str, int]
    counts: dict[str, int]
    pairs: tuple[Pair, ...]

    def rank(self) -> tuple[int, int]:
        """Different entities of the question first, then their occurrences."""
        return len(self.counts), sum(self.counts.values())


Mode: TypeAlias = Literal["auto", "e2g", "diffusion", "dense", "fulltext", "hybrid", "tree"]
"""`auto` decides the route as the paper does and ranks by all signals (`e2g_neo4j.ranking`); `e2g` is the paper's way
throughout; `diffusion` ranks as `auto` does without words; the others leave the entity graph out, for comparison
(`e2g_neo4j.modes`)."""

DEFAULT_MODE: Mode = "auto"

_BASELINES = {
    "dense": (dense, "the chunks with the nearest windows"),
    "fulltext": (fulltext, "the chunks that the full-text index finds best"),
    "hybrid": (hybrid, "the chunks that rank best by vectors and full text together"),
    "tree": (tree, "the nearest nodes of the whole tree"),
}


def retrieve(
    question: str,
    *,
    corpora: Sequence[str],
    names: Sequence[str],
    made_with: Fingerprint,
    k: int,
    hops: int,
    mode: Mode,
    through: Sequence[str] = (),
) -> Story[Evidence]:
    """Find the evidence for a question: at most three reads a corpus, a fourth for facts, and one embedding.

    Several corpora are asked one by one: no path, pair or chunk joins two of them, and what is found in all is ranked
    together. `names` are the keys of the question's entities as `made_with` finds them, `k` the chunks wanted, `hops`
    the longest path in edges that lets a pair survive, `through` types of relationships of somebody else's graph that
    facts are taken from. Raises QueryError for a k, h, mode, type or question out of range, NotFoundError for a corpus
    without documents, FingerprintError for an index made with other models.
    """
    check(question, k, hops, mode, through)
    if mode not in ("auto", "diffusion", "e2g"):
        return (yield from _without_graph(question, corpora, made_with, k, mode))
    asked = {"names": sorted(set(names)), "limit": MAX_ENTITIES, "meanings": MAX_MEANINGS}
    links = yield from read_each("query/link", dict.fromkeys(corpora, asked))
    _check_indexes(links, made_with)
    entities, unknown = linked(names, links)
    entities_by_corpus = {link["corpus"]: linked(names, [link])[0] for link in links}
    distances = [pair for link in links for pair in link["pairs"]]
    pairs = surviving(distances, hops)
    shared = [candidate for link in links for candidate in candidates(link, hops)]

    route: Route
    used, trace = hops, tuple[Round, ...]()
    if mode != "e2g":
        behind = {one.chunk: one.pairs for one in shared if one.pairs}
        route = "local" if behind else "global"
        reason = _auto_reason(entities, distances, pairs, len(behind), hops)
        ranking = auto if mode == "auto" else diffusion
        windows = yield from ranking(question, entities=entities_by_corpus, k=k, behind=behind)
        found = passages_of_windows(windows)
    else:
        chosen, used, trace = choose(pairs, shared, k=k, hops=hops)
        if chosen:
            route, reason = "local", _local_reason(pairs, trace, used, len(chosen), k)
            ids = [candidate.chunk for candidate, _ in chosen]
            rows = yield from read_each("query/passages", {corpus: {"ids": ids} for corpus in corpora})
            found = local_passages(chosen, rows)
            pairs = tuple(pair for pair in pairs if pair.hops <= used)
        else:
            route, reason, used = "global", _global_reason(entities, distances, pairs, hops), hops
            vector = yield Embed(question)
            near = {
                corpus: {"vector": vector, "k": 2 * k if here else k, "names": list(here)}
                for corpus, here in entities_by_corpus.items()
            }
            rows = yield from read_each("query/nearest", near)
            found = global_passages(rows, k=k)

    facts: tuple[Fact, ...] = ()
    if through and entities:
        types = list(dict.fromkeys(through))
        around = {
            corpus: {"names": list(here), "types": types, "limit": MAX_FACTS}
            for corpus, here in entities_by_corpus.items()
        }
        rows = yield from read_each("query/facts", around)
        facts = tuple(dict.fromkeys(map(_fact, rows)))[:MAX_FACTS]

    return Evidence(
        question=question,
        corpora=tuple(corpora),
        route=route,
        reason=reason,
        entities=entities,
        unknown_entities=unknown,
        pairs=pairs,
        hops=used,
        passages=found,
        trace=trace,
        mode=mode,
        facts=facts,
    )


def _fact(row: dict[str, Any]) -> Fact:
    return Fact(
        subject=row["subject"],
        subject_id=row["subject_id"],
        relationship=row["relationship"],
        object=row["object"],
        object_id=row["object_id"],
        properties=tuple((name, _told(value)) for name, value in sorted(row["properties"].items())),
        entities=tuple(sorted(set(row["entities"]))),
    )


def _told(value: Any) -> str:
    told = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return told[:LONGEST_VALUE]


def _without_graph(
    question: str, corpora: Sequence[str], made_with: Fingerprint, k: int, mode: Mode
) -> Story[Evidence]:
    rows = yield from read_each("query/corpus", {corpus: {} for corpus in corpora})
    _check_indexes(rows, made_with)
    for row in rows:
        if row["adopts"] and mode in ("fulltext", "hybrid"):
            raise QueryError(
                f"The texts of the corpus {row['corpus']!r} are those of nodes that it adopted, and in no full-text "
                f"index of ours, which mode {mode} asks: choose auto, e2g, diffusion, dense or tree."
            )
    ranking, what = _BASELINES[mode]
    ranked = yield from ranking(question, corpora=corpora, k=k)
    return Evidence(
        question=question,
        corpora=tuple(corpora),
        route="global",
        reason=f"Mode {mode} does not look at entities: {what} answer.",
        entities=(),
        pairs=(),
        hops=0,
        passages=passages(ranked),
        mode=mode,
    )


def _check_indexes(rows: Iterable[Mapping[str, Any]], made_with: Fingerprint) -> None:
    for row in rows:
        if not row["found"]:
            raise no_corpus(row["corpus"])
        made_with.check(row["made_with"] and Fingerprint(**row["made_with"]))


def check(question: str, k: int, hops: int, mode: str, through: Sequence[str] = ()) -> None:
    """Raise QueryError unless the question is text, k and h are in range, and facts can be had where they are asked."""
    if not question.strip():
        raise QueryError('The question is empty: ask something, for example `e2g query "Who is …?"`.')
    if not _is_unicode(question):
        raise QueryError("The question holds half of a surrogate pair, which is no character: correct it first.")
    if len(question) > MAX_QUESTION:
        raise QueryError(
            f"The question has {len(question)} characters, more than {MAX_QUESTION}: shorten it, or index the text "
            "and ask about it."
        )
    if mode not in get_args(Mode):
        raise QueryError(f"There is no mode {mode!r}: choose one of {', '.join(get_args(Mode))}.")
    if not 1 <= k <= 1000:
        raise QueryError(f"k is {k}: choose a number of chunks from 1 to 1000.")
    if not 1 <= hops <= MAX_HOPS:
        raise QueryError(f"h is {hops}: choose a number of edges from 1 to {MAX_HOPS}.")
    if through and mode in _BASELINES:
        raise QueryError(f"Mode {mode} does not look at entities, which facts hang on: choose auto, e2g or diffusion.")
    if isinstance(through, str) or not all(isinstance(one, str) and one.strip() for one in through):
        raise QueryError("`through` is a list of types of relationships, such as ACTED_IN: none may be empty.")
    if len(through) > MAX_THROUGH:
        raise QueryError(f"`through` names {len(through)} types of relationships: choose at most {MAX_THROUGH}.")


def linked(names: Sequence[str], links: Iterable[Mapping[str, Any]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The entities that a question's names mean, in its order, and the names that mean none."""
    meant: defaultdict[str, list[str]] = defaultdict(list)
    for link in links:
        for row in link["named"]:
            for name in row["names"]:
                meant[name].append(row["entity"])
    found = (entity for name in names for entity in sorted(meant[name], key=lambda entity: (entity != name, entity)))
    entities = tuple(dict.fromkeys(found))
    return entities, tuple(name for name in dict.fromkeys(names) if not meant[name])


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def surviving(pairs: Iterable[dict[str, Any]], hops: int) -> tuple[Pair, ...]:
    """The pairs at most `hops` edges apart, closest first."""
    found = {Pair(pair["a"], pair["b"], pair["hops"]) for pair in pairs if pair["hops"] <= hops}
    return tuple(sorted(found, key=lambda pair: (pair.hops, pair.a, pair.b)))


def candidates(link: Mapping[str, Any], hops: int) -> list[Candidate]:
    """The chunks that mention several of the question's entities in one corpus."""
    pairs = surviving(link["pairs"], hops)
    found = []
    for row in link["shared"]:
        counts = {count["entity"]: count["count"] for count in row["counts"]}
        held = tuple(pair for pair in pairs if pair.a in counts and pair.b in counts)
        found.append(Candidate(row["chunk"], (row["document"], row["index"]), counts, held))
    return found


def choose(
    pairs: Sequence[Pair], shared: Sequence[Candidate], *, k: int, hops: int
) -> tuple[list[tuple[Candidate, tuple[Pair, ...]]], int, tuple[Round, ...]]:
    """The local route's chunks with the pairs behind each, best first, the h used in the end, and the trace.

    While more than k chunks are left, h shrinks by one. When that leaves none, the last h that left some
    counts, and its best k chunks by (different entities, occurrences) are kept.
    """
    trace: list[Round] = []
    kept: list[Candidate] = []
    used = hops
    for h in range(hops, 0, -1):
        near = [pair for pair in pairs if pair.hops <= h]
        left = [candidate for candidate in shared if any(pair.hops <= h for pair in candidate.pairs)]
        trace.append(Round(h, len(near), len(left)))
        if left:
            kept, used = left, h
        if len(left) <= k:
            break
    kept.sort(key=lambda candidate: candidate.place)
    kept.sort(key=Candidate.rank, reverse=True)
    chosen = [(c, tuple(pair for pair in c.pairs if pair.hops <= used)) for c in kept[:k]]
    return chosen, used, tuple(trace)


def local_passages(
    chosen: Sequence[tuple[Candidate, tuple[Pair, ...]]], rows: Iterable[dict[str, Any]]
) -> tuple[Passage, ...]:
    """Score = different entities + a fraction that grows with their occurrences, so that it sorts as `rank`."""
    by_id = {row["id"]: row for row in rows}
    ranked = []
    for candidate, behind in chosen:
        if candidate.chunk in by_id:  # gone if its document was replaced between the two reads
            entities, occurrences = candidate.rank()
            ranked.append(Ranked(by_id[candidate.chunk], entities + occurrences / (1 + occurrences), behind))
    return passages(ranked)


def global_passages(rows: Sequence[dict[str, Any]], *, k: int) -> tuple[Passage, ...]:
    """The nearest nodes, those first that mention the question's entities most; among equals the nearer."""
    ranked = sorted(rows, key=lambda row: (-row["occurrences"], -row["score"], row["id"]))
    return passages([Ranked(row, row["score"]) for row in ranked[:k]])


def _local_reason(pairs: Sequence[Pair], trace: Sequence[Round], used: int, kept: int, k: int) -> str:
    near = [pair for pair in pairs if pair.hops <= used]
    counted = {entry.hops: entry.candidates for entry in trace}[used]
    reason = f"{_count(len(near), 'pair')} of entities within {_count(used, 'hop')} share {_count(counted, 'chunk')}"
    if counted > kept:
        reason += f"; the best {kept} by entities and occurrences are kept (k={k})"
    return reason + "."


def _auto_reason(
    entities: Sequence[str],
    linked: Sequence[dict[str, Any]],
    pairs: Sequence[Pair],
    shared: int,
    hops: int,
) -> str:
    if shared:
        joined = f"{_count(len(pairs), 'pair')} of entities within {_count(hops, 'hop')}"
        return f"{joined} share {_count(shared, 'chunk')}; vectors, words and entities rank the text."
    return f"{_why_global(entities, linked, pairs, hops)}: vectors, words and entities rank the text."


def _global_reason(entities: Sequence[str], linked: Sequence[dict[str, Any]], pairs: Sequence[Pair], hops: int) -> str:
    why = f"{_why_global(entities, linked, pairs, hops)}: the nearest nodes of the whole tree answer"
    return f"{why}, those first that mention the entities most." if entities else f"{why}."


def _why_global(entities: Sequence[str], linked: Sequence[dict[str, Any]], pairs: Sequence[Pair], hops: int) -> str:
    if not entities:
        return "The question names no entity of this corpus"
    if len(entities) == 1:
        return f"One known entity ({entities[0]}) makes no pair"
    if pairs:
        return f"{_count(len(pairs), 'pair')} of entities within {_count(hops, 'hop')} share no chunk"
    closest = min((pair["hops"] for pair in linked), default=None)
    distance = f"the closest two are {closest} apart" if closest else "no path joins any two"
    return f"No pair of the {len(entities)} known entities is within {_count(hops, 'hop')} ({distance})"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
