"""Retrieval without a database: the requests that it makes, and what it makes of the answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest
from libraries import find_evidence
from modes import WINDOW_MODES
from operations import outcome

from e2g_neo4j.errors import ConfigurationError, FingerprintError, NotFoundError, QueryError
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.retrieval.linking import MAX_ABSENCES, MAX_ENTITIES, MAX_MEANINGS
from e2g_neo4j.retrieval.options import MAX_K, MAX_QUESTION, MAX_TOKENS, MIN_TOKENS, FilledOptions, RetrievalOptions
from e2g_neo4j.retrieval.requirements import merge_by_rank
from e2g_neo4j.retrieval.retrieve import retrieve
from e2g_neo4j.retrieval.strategies import STRATEGIES, with_strategies
from e2g_neo4j.retrieval.strategies.dense import dense
from e2g_neo4j.retrieval.strategy import Strategy
from e2g_neo4j.runtime.requests import Embed, Read
from e2g_neo4j.settings import MAX_HOPS, Settings
from e2g_neo4j.types.documents import Span
from e2g_neo4j.types.fingerprint import Fingerprint
from e2g_neo4j.types.results import Absence, Evidence, Pair

MODELS = Fingerprint("MiniLM", 8, "max", "en_test-1")
CORPUS = "novels"


def named(entities: list[str]) -> list[dict[str, Any]]:
    """Names that mean the entities of these very names."""
    return [{"entity": name, "names": [name]} for name in entities]


class Scripted:
    """Answers retrieval's requests as a database would with given pairs, and chunks that mention given entities so many
    times."""

    def __init__(
        self,
        hops: dict[tuple[str, str], int],
        chunks: dict[str, dict[str, int]],
        nearest: list[dict[str, Any]] | None = None,
        *,
        entities: list[str] | None = None,
        found: bool = True,
        made_with: dict[str, Any] | None = None,
    ) -> None:
        self.asked: list[str] = []
        self.vector = [1.0]
        self.requests: list[dict[str, Any]] = []
        self.places = {id: index for index, id in enumerate(chunks)}
        self.link: dict[str, Any] = {
            "found": found,
            "made_with": made_with or {field: getattr(MODELS, field) for field in MODELS.__slots__},
            "named": named(sorted({name for pair in hops for name in pair}) if entities is None else entities),
            "left": [],
            "similar": [],
            "pairs": [{"a": a, "b": b, "hops": n} for (a, b), n in hops.items()],
            "shared": [
                {
                    "chunk": id,
                    "document": "d",
                    "index": self.places[id],
                    "counts": [{"entity": name, "count": count} for name, count in counts.items()],
                }
                for id, counts in chunks.items()
            ],
            "words": {"windows": 1_234, "index_windows": 1_234, "terms": []},
        }
        self.near = nearest or []

    def reply(self, request: Any) -> Any:
        if isinstance(request, Embed):
            self.asked.append("embed")
            return self.vector
        assert isinstance(request, Read)
        self.asked.append(request.statement)
        answer: Callable[..., Any] = getattr(self, request.statement.replace("query/", "_"))
        return answer(**request.parameters)

    def _link(self, *arguments: Any, **parameters: Any) -> list[dict[str, Any]]:
        self.requests.append(parameters)
        return [self.link]

    def _passages(self, corpus: str, ids: list[str]) -> list[dict[str, Any]]:
        return [node(id, index=self.places[id]) for id in ids]

    def _nearest(self, *arguments: Any, **parameters: Any) -> list[dict[str, Any]]:
        self.requests.append(parameters)
        return self.near[: parameters["k"]]


def answer(
    database: Scripted,
    names: list[str],
    *,
    k: int = 10,
    tokens: int | None = None,
    h: int = 3,
    made_with: Fingerprint = MODELS,
    without: Sequence[str] = (),
) -> Evidence:
    operation = find_evidence(
        "Who?",
        corpora=[CORPUS],
        names=names,
        made_with=made_with,
        options=FilledOptions(k=k, tokens=tokens, hops=h, mode="e2g", unit="chunk", without=tuple(without)),
        token_spans=no_tokens if tokens is None else fifteen_each,
    )
    evidence: Evidence = outcome(operation, database.reply)
    return evidence


def fifteen_each(text: str) -> list[Span]:
    """Tokens of these tests: fifteen for every sign."""
    return [(place, place + 1) for place in range(len(text)) for _ in range(15)]


def no_tokens(text: str) -> list[Span]:
    raise AssertionError("the embedding model is loaded for a budget in tokens only")


def pairs(evidence: Evidence) -> set[tuple[str, str, int]]:
    return {(pair.a, pair.b, pair.hops) for pair in evidence.pairs}


def node(id: str, *, index: int = 0, level: int = 0, occurrences: int = 0, score: float = 0.5) -> dict[str, Any]:
    """A node of a document of its own, so that none touches another."""
    return {
        "id": id,
        "level": level,
        "index": index,
        "text": f"Text of {id}.",
        "start": 0,
        "end": 10,
        "page": None,
        "heading": None,
        "document_id": f"d of {id}",
        "document": "D",
        "source": "d.txt",
        "path": [],
        "score": score,
        "occurrences": occurrences,
    }


def ids(evidence: Evidence) -> list[str]:
    return [id for passage in evidence.passages for id in passage.nodes]


# --- the local route ---------------------------------------------------------------------------------


def test_hops_are_edges_not_nodes() -> None:
    """Three edges have four nodes: a bound of 3 lets them pass, a bound of 2 does not."""
    database = Scripted({("a", "b"): 3}, {"c": {"a": 1, "b": 1}}, [node("n")])
    assert answer(database, ["a", "b"], h=3).route == "local"
    assert answer(database, ["a", "b"], h=2).route == "global"


def test_h_shrinks_until_at_most_k_chunks_are_left() -> None:
    hops = {("a", "b"): 1, ("a", "c"): 2, ("b", "c"): 3}
    near = {"near1": {"a": 1, "b": 1}, "near2": {"a": 1, "b": 1}}
    further = {"mid": {"a": 9, "c": 9}, "far1": {"b": 9, "c": 9}, "far2": {"b": 9, "c": 9}}
    evidence = answer(Scripted(hops, {**further, **near}), ["a", "b", "c"], k=3, h=4)
    assert [(r.hops, r.pairs, r.candidates) for r in evidence.trace] == [(4, 3, 5), (3, 3, 5), (2, 2, 3)]
    assert evidence.hops == 2
    assert sorted(ids(evidence)) == ["mid", "near1", "near2"]
    assert pairs(evidence) == {("a", "b", 1), ("a", "c", 2)}, "the pair that was dropped is no reason any more"


def test_when_shrinking_leaves_nothing_the_last_non_empty_set_is_ranked() -> None:
    hops = {("a", "b"): 3, ("b", "c"): 3}
    chunks = {
        "often": {"a": 50, "b": 50},
        "all three": {"a": 1, "b": 1, "c": 1},
        "once": {"a": 1, "b": 1},
        "twice": {"b": 2, "c": 2},
    }
    evidence = answer(Scripted(hops, chunks), ["a", "b", "c"], k=3, h=3)
    assert [(r.hops, r.candidates) for r in evidence.trace] == [(3, 4), (2, 0)]
    assert evidence.hops == 3
    assert ids(evidence) == ["all three", "often", "twice"], "different entities first, then occurrences"
    assert "k=3" in evidence.reason


def test_more_than_k_at_one_hop_keeps_the_best_k() -> None:
    chunks = {f"c{n}": {"a": n + 1, "b": 1} for n in range(5)}
    evidence = answer(Scripted({("a", "b"): 1}, chunks), ["a", "b"], k=2, h=3)
    assert [r.hops for r in evidence.trace] == [3, 2, 1]
    assert ids(evidence) == ["c4", "c3"]


def test_exactly_k_chunks_do_not_shrink_h() -> None:
    chunks = {"c0": {"a": 1, "b": 1}, "c1": {"a": 1, "b": 1}}
    evidence = answer(Scripted({("a", "b"): 2}, chunks), ["a", "b"], k=2, h=3)
    assert (evidence.hops, len(evidence.trace)) == (3, 1)


def test_scores_sort_as_the_passages_do() -> None:
    chunks = {"many": {"a": 900, "b": 99}, "three": {"a": 1, "b": 1, "c": 1}, "few": {"a": 1, "b": 1}}
    evidence = answer(Scripted({("a", "b"): 1, ("a", "c"): 1}, chunks), ["a", "b", "c"])
    scores = [passage.score for passage in evidence.passages]
    assert ids(evidence) == ["three", "many", "few"]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 3


def test_a_chunk_names_only_the_pairs_that_led_to_it() -> None:
    chunks = {"ab": {"a": 1, "b": 1}, "abc": {"a": 1, "b": 1, "c": 1}}
    evidence = answer(Scripted({("a", "b"): 1, ("a", "c"): 2}, chunks), ["a", "b", "c"])
    assert {p.nodes[0]: p.pairs for p in evidence.passages} == {
        "abc": (Pair("a", "b", 1), Pair("a", "c", 2)),
        "ab": (Pair("a", "b", 1),),
    }


def test_a_chunk_that_was_replaced_between_the_two_reads_is_left_out() -> None:
    database = Scripted({("a", "b"): 1}, {"gone": {"a": 2, "b": 2}, "here": {"a": 1, "b": 1}})
    database._passages = lambda corpus, ids: [node("here")]  # type: ignore[method-assign]
    assert ids(answer(database, ["a", "b"])) == ["here"]


def test_names_are_never_joined_or_split() -> None:
    """Read as "a" + "b_c" or as "a_b" + "c", a key joined by "_" would be the same."""
    hops = {("a", "b_c"): 1, ("a_b", "c"): 5, ('"quoted"', "`tick`"): 1, ("o'neill", "x - y"): 1}
    chunks = {
        "left": {"a": 1, "b_c": 1},
        "right": {"a_b": 9, "c": 9},
        "quotes": {'"quoted"': 1, "`tick`": 1},
        "dash": {"o'neill": 1, "x - y": 1},
    }
    evidence = answer(Scripted(hops, chunks), [name for pair in hops for name in pair], h=3)
    assert sorted(ids(evidence)) == ["dash", "left", "quotes"]
    assert {p.nodes[0]: (p.pairs[0].a, p.pairs[0].b) for p in evidence.passages} == {
        "left": ("a", "b_c"),
        "quotes": ('"quoted"', "`tick`"),
        "dash": ("o'neill", "x - y"),
    }


# --- the global route --------------------------------------------------------------------------------


def test_pairs_without_a_shared_chunk_go_the_global_route_and_are_told() -> None:
    evidence = answer(Scripted({("a", "b"): 2}, {}, [node("n")]), ["a", "b"])
    assert evidence.route == "global"
    assert pairs(evidence) == {("a", "b", 2)}
    assert evidence.hops == 3
    assert "share no chunk" in evidence.reason


def test_names_that_no_passage_mentions_together_are_told_closest_first() -> None:
    """A and b share a chunk, b and c have a path, a and c have none. Common nouns do not count."""
    database = Scripted({("a", "b"): 1, ("b", "c"): 4}, {"x": {"a": 1, "b": 1}}, entities=["a", "b", "c", "n"])
    database.link["named"][3]["type"] = "noun"
    evidence = answer(database, ["a", "b", "c", "n"])
    assert evidence.absences == (Absence("b", "c", 4, 1_234), Absence("a", "c", None, 1_234))
    assert evidence.reason.endswith(
        "No passage of 1,234 mentions b with c; the shortest path between them has 4 edges. "
        "No passage of 1,234 mentions a with c; no path is shorter than 7 edges."
    )
    database.link["named"][2]["names"] = ["b"]  # two meanings of one name
    assert answer(database, ["a", "b", "n"]).absences == (Absence("a", "c", None, 1_234),)
    many = answer(Scripted({}, {}, [node("n")], entities=[*"abcdef"]), [*"abcdef"])
    assert len(many.absences) == MAX_ABSENCES < 15


def test_an_entity_that_is_left_out_counts_as_not_named() -> None:
    database = Scripted({("a", "b"): 1, ("a", "c"): 1}, {"x": {"a": 1, "b": 1}, "y": {"a": 1, "c": 1, "b": 1}})
    assert [one.nodes for one in answer(database, ["a", "b", "c"]).passages] == [("y",), ("x",)]
    without = answer(database, ["a", "b", "c"], without=["B"])
    assert (without.entities, without.unknown_entities) == (("a", "c"), ())
    assert [one.nodes for one in without.passages] == [("y",)]
    assert [(one.a, one.b) for one in without.pairs] == [("a", "c")]


def test_chunks_shared_by_pairs_that_are_too_far_apart_do_not_count() -> None:
    evidence = answer(Scripted({("a", "b"): 4}, {"c": {"a": 1, "b": 1}}, [node("n")]), ["a", "b"], h=3)
    assert (evidence.route, ids(evidence), evidence.pairs) == ("global", ["n"], ())
    assert "4 apart" in evidence.reason


def test_entities_that_no_path_joins_go_the_global_route() -> None:
    evidence = answer(Scripted({}, {"c": {"a": 1, "b": 1}}, [node("n")], entities=["a", "b"]), ["a", "b"])
    assert (evidence.route, ids(evidence)) == ("global", ["n"])
    assert "no path" in evidence.reason


def test_one_known_entity_is_global_among_the_2k_nearest() -> None:
    near = [node("far but named", occurrences=3, score=0.1), node("near", occurrences=1, score=0.9)]
    database = Scripted({}, {}, near, entities=["a"])
    evidence = answer(database, ["a", "nobody"], k=1)
    assert evidence.route == "global"
    assert (database.requests[1]["k"], database.requests[1]["names"]) == (2, ["a"])
    assert ids(evidence) == ["far but named"]
    assert (evidence.entities, evidence.unknown_entities) == (("a",), ("nobody",))
    assert "a" in evidence.reason


def test_no_known_entity_is_the_k_nearest_nodes() -> None:
    near = [node(f"n{i}", score=1 - i / 10) for i in range(9)]
    database = Scripted({}, {}, near, entities=[])
    evidence = answer(database, ["nobody"], k=4)
    assert evidence.route == "global"
    assert (database.requests[1]["k"], database.requests[1]["names"]) == (8, []), "some may be duplicates"
    assert ids(evidence) == ["n0", "n1", "n2", "n3"]
    assert evidence.unknown_entities == ("nobody",)


def test_copies_do_not_take_up_places() -> None:
    """The nearest nodes are k that differ, if there are so many among twice as many."""
    near = [node(f"n{i}", score=1 - i / 10) | {"text": f"Text {i // 2}."} for i in range(9)]
    evidence = answer(Scripted({}, {}, near, entities=[]), [], k=3)
    assert ids(evidence) == ["n0", "n2", "n4"]


def test_summaries_stay_in_the_global_evidence() -> None:
    near = [
        node("chunk", occurrences=2, score=0.9),
        node("root", level=2, occurrences=7, score=0.2),
        node("section", level=1, occurrences=5, score=0.3),
    ]
    evidence = answer(Scripted({}, {}, near, entities=["a"]), ["a"], k=2)
    assert [(passage.nodes, passage.level) for passage in evidence.passages] == [(("root",), 2), (("section",), 1)]


def test_among_equal_occurrences_the_nearer_comes_first() -> None:
    near = [node("b", occurrences=1, score=0.7), node("a", occurrences=1, score=0.8), node("c", occurrences=1)]
    assert ids(answer(Scripted({}, {}, near, entities=["a"]), ["a"])) == ["a", "b", "c"]


# --- what cannot be asked ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"k": 0}, "k is 0"),
        ({"k": -3}, "k is -3"),
        ({"k": 1001}, "k is 1001"),
        ({"tokens": MIN_TOKENS - 1}, f"tokens is {MIN_TOKENS - 1}: choose a number of tokens from {MIN_TOKENS} to"),
        ({"tokens": MAX_TOKENS + 1}, f"tokens is {MAX_TOKENS + 1}"),
        ({"unit": "page"}, "There is no unit 'page': choose window or chunk"),
        ({"unit": "window"}, "Mode e2g ranks whole chunks"),
        ({"unit": "window", "mode": "tree"}, "Mode tree ranks whole chunks"),
        ({"hops": 0}, "hops is 0"),
        ({"hops": MAX_HOPS + 1}, f"hops is {MAX_HOPS + 1}"),
        ({"mode": "magic"}, "magic"),
        ({"question": ""}, "empty"),
        ({"question": " \n\t"}, "empty"),
        ({"question": "x" * (MAX_QUESTION + 1)}, str(MAX_QUESTION + 1)),
    ],
)
def test_a_request_out_of_range_is_refused_before_anything_is_read(change: dict[str, Any], told: str) -> None:
    question = change.pop("question", "Who?")
    with pytest.raises(QueryError, match=told):
        next(
            retrieve(Models(Settings()), question, [CORPUS], RetrievalOptions.of(cast(Any, {"mode": "e2g", **change})))
        )


@pytest.mark.parametrize("k", [1, 1000])
@pytest.mark.parametrize("h", [1, MAX_HOPS])
def test_the_ends_of_the_ranges_are_allowed(k: int, h: int) -> None:
    evidence = answer(Scripted({("a", "b"): 1}, {"c": {"a": 1, "b": 1}}), ["a", "b"], k=k, h=h)
    assert ids(evidence) == ["c"]


@pytest.mark.parametrize("tokens", [MIN_TOKENS, MAX_TOKENS])
@pytest.mark.parametrize("mode", STRATEGIES)
def test_the_ends_of_a_budget_in_tokens_are_allowed_in_every_mode(mode: str, tokens: int) -> None:
    """k has no limit then; chunks are what every mode can rank, windows what most rank unless told otherwise."""
    settings = Settings(top_k=7)
    filled = RetrievalOptions(mode=mode, tokens=tokens, unit="chunk").fill(settings)
    assert (filled.k, filled.tokens, filled.unit) == (MAX_K, tokens, "chunk")
    assert RetrievalOptions(mode=mode, tokens=tokens, k=3).fill(settings).k == 3
    without = RetrievalOptions(mode=mode).fill(settings)
    assert (without.k, without.tokens) == (STRATEGIES[mode].top_k or 7, None)
    assert (without.k == 7) is (mode != "e2g_code"), "the published code's own default"
    assert without.unit == ("window" if mode in WINDOW_MODES else "chunk")
    of_nodes = ("e2g", "e2g_code", "e2g_normalised", "tree", "raptor")
    assert ("chunk" if mode in of_nodes else "window") == without.unit


def test_a_budget_in_tokens_bounds_the_chunks_of_the_paper() -> None:
    """Three are asked for, one per 200 tokens. Each has 165, so that the last is cut at a word."""
    chunks = {f"c{n}": {"a": 9 - n, "b": 1} for n in range(5)}
    evidence = answer(Scripted({("a", "b"): 1}, chunks), ["a", "b"], k=1000, tokens=450)
    assert [passage.text for passage in evidence.passages] == ["Text of c0.", "Text of c1.", "Text of"]
    assert [(passage.start, passage.end) for passage in evidence.passages] == [(0, 10), (0, 10), (0, 7)]
    fewer = answer(Scripted({("a", "b"): 1}, chunks), ["a", "b"], k=1, tokens=450)
    assert [passage.text for passage in fewer.passages] == ["Text of c0."], "k is a limit too"


def test_a_budget_in_tokens_bounds_the_nearest_nodes() -> None:
    near = [node(f"n{i}", score=1 - i / 10) for i in range(9)]
    database = Scripted({}, {}, near, entities=[])
    evidence = answer(database, [], k=1000, tokens=450)
    assert database.requests[1]["k"] == 6
    assert [passage.text for passage in evidence.passages] == ["Text of n0.", "Text of n1.", "Text of"]


def test_a_corpus_without_documents_is_named() -> None:
    with pytest.raises(NotFoundError, match=CORPUS):
        answer(Scripted({}, {}, found=False), ["a"])


def test_rankings_of_different_models_are_merged_by_rank() -> None:
    first, second = [("a", 9.0), ("b", 8.0), ("c", 7.0)], [("x", 0.2)]
    assert merge_by_rank([first]) is first
    merged = merge_by_rank([first, second])
    assert [id for id, _ in merged] == ["a", "x", "b", "c"]
    assert [score for _, score in merged] == [1 / 61, 1 / 61, 1 / 62, 1 / 63]


@pytest.mark.parametrize("field", ["embedding_model", "dimensions", "pooling", "spacy_model"])
def test_an_index_made_with_other_models_is_refused(field: str) -> None:
    made_with = {name: getattr(MODELS, name) for name in MODELS.__slots__}
    made_with[field] = 999 if field == "dimensions" else "another"
    database = Scripted({("a", "b"): 1}, {"c": {"a": 1, "b": 1}}, made_with=made_with)
    with pytest.raises(FingerprintError, match=str(made_with[field])):
        answer(database, ["a", "b"])
    assert database.asked == ["query/link"]


def test_an_index_that_does_not_say_what_made_it_is_refused() -> None:
    database = Scripted({}, {}, [node("n")])
    database.link["made_with"] = None
    with pytest.raises(FingerprintError, match="E2GIndex"):
        answer(database, [])


def test_names_are_asked_for_once_and_answered_in_the_order_of_the_question() -> None:
    database = Scripted({("a", "b"): 1}, {"c": {"a": 1, "b": 1}})
    evidence = answer(database, ["b", "x", "a", "b", "x"])
    limits = {"limit": MAX_ENTITIES, "meanings": MAX_MEANINGS, "terms": ["who"]}
    assert database.requests[0] == {
        "corpus": CORPUS,
        "names": ["a", "b", "x"],
        "other_names": [],
        "proper": [],
        **limits,
    }
    assert evidence.entities == ("b", "a")
    assert evidence.unknown_entities == ("x",)


def strategy(**changed: Any) -> Strategy:
    given = {"name": "own", "summary": "Nothing.", "source": "a test", "ranked_by": "chance", "rank_windows": dense}
    return Strategy(**{**given, **changed})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"name": "My mode"}, "the name 'My mode'"),
        ({"needs": {"luck"}}, "needs 'luck', which is unknown: choose among vector, full_text"),
        ({"rank_windows": None}, "must have one of rank_windows and rank_nodes"),
        ({"rank_nodes": dense}, "must have one of rank_windows and rank_nodes"),
    ],
)
def test_a_strategy_that_is_not_one_is_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        strategy(**changed)


def test_two_strategies_of_one_name_are_refused() -> None:
    assert [*with_strategies([strategy()])] == [*STRATEGIES, "own"]
    with pytest.raises(ConfigurationError, match="two strategies with the name 'auto'"):
        with_strategies([strategy(name="auto")])


def test_options_choose_among_the_strategies_of_their_client() -> None:
    own = strategy(name="own_mode", needs={"entities"}, calls_model=True)
    known = with_strategies([own])
    options = RetrievalOptions.of({"mode": "own_mode", "llm": True, "relationship_types": ["KNOWS"]}, strategies=known)
    assert options.strategy is own
    assert options.model_copy(update={"k": 3}).fill(Settings()).strategy is own
    with pytest.raises(QueryError, match=r"There is no mode 'own_mode'\. Modes: auto, e2g"):
        RetrievalOptions.of({"mode": "own_mode"}, strategies=STRATEGIES)
    with pytest.raises(QueryError, match=r"There is no mode 'own_mod'\. Did you mean 'own_mode'\?"):
        RetrievalOptions.of({"mode": "own_mod"}, strategies=known)
