"""Names of a question that no entity is called by: what is looked for, and how it is told. No database."""

from __future__ import annotations

from typing import Any

from e2g_neo4j.models.entities.keywords import capital_runs
from e2g_neo4j.models.entities.pipeline import load_pipeline
from e2g_neo4j.retrieval.linking import MAX_ENTITIES, link, link_parameters
from e2g_neo4j.retrieval.lucene import name_queries
from e2g_neo4j.types.results import Evidence


def row(named: dict[str, list[str]], similar: list[tuple[str, str, str, int]], *terms: str) -> dict[str, Any]:
    """A row of `link.cypher`: the names that resolve to each entity, and which of them do because they are similar."""
    return {
        "corpus": "c",
        "named": [{"entity": key, "type": "person", "names": names} for key, names in named.items()],
        "left": [],
        "similar": [{"name": a, "entity": b, "called": c, "count": n} for a, b, c, n in similar],
        "pairs": [],
        "shared": [],
        "words": {"windows": 9, "index_windows": 9, "terms": [{"term": one} for one in terms]},
    }


def test_longer_words_may_differ_in_more_letters() -> None:
    assert name_queries("luke") == [["luke", "luke", "luke"]]
    assert name_queries("harker") == [["harker", "harker~1", "harker~1"]]
    assert name_queries("trelawney") == [["trelawney", "trelawney~1", "trelawney~2"]]
    assert name_queries("quen of") == [["quen", "quen~1", "quen~1"], ["of", "of", "of"]], "a longer name"
    assert name_queries("o'neill* (a)") == [[r"o\'neill\*", r"o\'neill\*~1", r"o\'neill\*~2"], *[[r"\(a\)"] * 3]]


def test_names_of_many_words_and_many_names_are_not_looked_for() -> None:
    given = link_parameters([], proper={"a b c d e f": (), "a b c d e f g": (), **{f"x{n}": () for n in range(99)}})
    assert [one["name"] for one in given["proper"]][:2] == ["a b c d e f", "x0"]
    assert len(given["proper"]) == MAX_ENTITIES


def test_it_is_told_how_a_name_is_read() -> None:
    similar = [("renfeild", "renfield", "Renfield", 1), ("luke", "luke farran", "Luke Farran", 2)]
    similar += [("luke", "luke hay", "Luke Hay", 2), ("tom", "tom a", "Tom A", 7), ("ann", "ann b", "Ann B", 1)]
    named = {"renfield": ["renfeild"], "luke farran": ["luke"], "luke hay": ["luke"], "tom a": ["tom"]}
    found = link([row(named, similar)], ["renfeild", "luke", "tom"], [], 3)
    assert found.resolved == {"renfeild": ("renfield",), "luke": ("luke farran", "luke hay"), "tom": ("tom a",)}
    assert found.readings == ["renfeild → Renfield", "luke → Luke Farran (of 2: also Luke Hay)", "tom → Tom A (of 7)"]
    assert found.unknown == ()


def test_several_corpora_count_one_entity_once() -> None:
    rows = [row({"luke hay": ["luke"]}, [("luke", "luke hay", "Luke Hay", 1)]) for _ in range(2)]
    assert link(rows, ["luke"], [], 3).readings == ["luke → Luke Hay"]


def test_a_name_is_not_denied_where_the_text_has_a_word_of_it() -> None:
    found = link([row({}, [], "ship")], ["ships company", "varney"], [], 3)
    assert (found.unknown, found.in_text) == (("ships company", "varney"), ("ships company",))
    evidence = Evidence("?", ("c",), "global", "", (), (), 0, (), found.unknown, in_text=found.in_text)
    assert evidence.unknown_stated == [
        "no entity named “ships company”, but its words occur in the text",
        "no entity named “varney”",
    ]


def test_runs_of_capital_words_are_names_that_the_pipeline_may_miss() -> None:
    nlp = load_pipeline()
    assert capital_runs(nlp("Describe what Lloyy and Thomsa Bilder did in May.")) == ["Lloyy", "Thomsa Bilder"]
