"""How rare words are in the corpora that are searched, and the Lucene query that says so."""

from __future__ import annotations

from math import log
from typing import Any

import pytest

from e2g_neo4j.retrieval.lucene import WordStatistics, idf, lucene, terms_of, word_statistics, words_of
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.strategies.auto import auto
from e2g_neo4j.retrieval.strategies.fulltext import fulltext, fulltext_chunks


def row(windows: int, index_windows: int, **terms: tuple[int, int]) -> dict[str, Any]:
    listed = [{"term": term, "windows": n, "index_windows": of} for term, (n, of) in terms.items()]
    return {"words": {"windows": windows, "index_windows": index_windows, "terms": listed}}


def test_the_boost_turns_the_idf_of_the_index_into_that_of_the_corpus() -> None:
    statistics = word_statistics([row(100, 1000, ship=(5, 400))])
    here, everywhere = log(1 + 95.5 / 5.5), log(1 + 600.5 / 400.5)
    assert statistics.boost("Ships") == pytest.approx(here / everywhere)
    assert idf(1000, 400) * statistics.boost("ship's") == pytest.approx(idf(100, 5))


def test_a_word_of_several_terms_has_the_sum_of_their_weights() -> None:
    statistics = WordStatistics(10, 100, {"漢": (1, 50), "字": (2, 3)})
    expected = (idf(10, 1) + idf(10, 2)) / (idf(100, 50) + idf(100, 3))
    assert statistics.boost("漢字") == pytest.approx(expected)
    assert statistics.boost("漢語") == 1, "which no window contains"


@pytest.mark.parametrize("word", ["whale", "the", "_"])
def test_a_word_about_which_nothing_is_known_stays_as_it_is(word: str) -> None:
    assert WordStatistics(10, 100, {"ship": (1, 50)}).boost(word) == 1


def test_boosts_are_bounded() -> None:
    statistics = WordStatistics(1000, 100_000, {"all": (1000, 1000), "sky": (1, 99_000)})
    assert (statistics.boost("all"), statistics.boost("sky")) == (0.02, 50.0)


def test_corpora_that_are_searched_together_count_as_one() -> None:
    statistics = word_statistics([row(10, 90, ship=(1, 30), sea=(2, 9)), row(20, 90, ship=(4, 30))])
    assert statistics == WordStatistics(30, 90, {"ship": (5, 30), "sea": (2, 9)})
    assert word_statistics([]) == WordStatistics(0, 0, {})


def test_a_query_has_a_boost_for_each_word_that_weighs_other_than_in_the_index() -> None:
    statistics = WordStatistics(100, 1000, {"ship": (5, 400), "sea": (10, 104)})
    assert statistics.boost("sea") == pytest.approx(1, abs=5e-3)
    query = lucene("The ships at sea?", "novels", statistics)
    assert query.endswith(
        f'+text:("The" "ships"^{statistics.boost("ship"):.3f} "at" "sea"^{statistics.boost("sea"):.3f})'
    )
    assert lucene("The ships at sea?", "novels").endswith('+text:("The" "ships" "at" "sea")')
    alone = WordStatistics(100, 100, {"ship": (5, 5), "sea": (10, 10)})
    assert lucene("The ships at sea?", "novels", alone) == lucene("The ships at sea?", "novels")


@pytest.mark.parametrize("mode", [auto, fulltext, fulltext_chunks])
def test_modes_with_words_ask_with_the_boosts_of_the_question(mode: Any) -> None:
    query = Query("ships", ["a"], 5, {"a": []}, statistics=WordStatistics(100, 1000, {"ship": (5, 400)}))
    operation = mode(query)
    request = operation.send(None)
    if mode is auto:
        request = operation.send([1.0])
    assert request.parameters["words"] == lucene("ships", "a", query.statistics) != lucene("ships", "a")


def test_the_terms_of_a_question_are_those_of_its_words_in_both_spellings() -> None:
    assert terms_of(words_of("Ships, the ship of O'Neill")) == ["ship", "o'neil", "o’neil"]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ('谁建了"灯塔"?在 GPS 里!', "谁建了 灯塔 在 GPS 里"),
        ("L’île qu'on voit, AND aujourd'hui", "L'île qu'on voit and aujourd'hui"),
        ("हिन्दी में क्या है?", "हिन्दी में क्या है"),
        ("مَدِينَة؟ (x* OR y~2)", "مَدِينَة x or y 2"),
        ("ที่ไหน ไทย?", "ที่ไห ไหน ไทย"),
        ("IRMAK TO Irmak TO", "IRMAK to Irmak"),
    ],
)
def test_the_analyzer_of_other_languages_divides_what_has_no_spaces(question: str, words: str) -> None:
    """Marks belong to their letters, and nothing in a question is an operator."""
    query = lucene(question, "any", fulltext="_some")
    assert query.startswith("+fulltext_corpus_some:")
    assert query.endswith(f"^0 +fulltext_some:({words})")


def test_a_long_question_without_spaces_is_searched_for_in_part() -> None:
    assert len(lucene("".join(map(chr, range(0x4E00, 0x4E00 + 5000))), "any", fulltext="_cjk")) < 1100
