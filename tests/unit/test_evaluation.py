"""Question files, the search for their gold, metrics against naive recounts, intervals, and the page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from e2g_neo4j.errors import InputError, NotFoundError, QueryError
from e2g_neo4j.evaluation.gold import (
    Gold,
    HistoryKind,
    IndexedCorpus,
    Piece,
    Question,
    count_covered,
    find_quote,
    quotations,
    read_questions,
)
from e2g_neo4j.evaluation.results import PARTS, Evaluation, ModeResult, Outcome, bootstrap, group_outcomes
from e2g_neo4j.evaluation.scoring import (
    BUDGETS,
    corpus_of,
    evaluate,
    fraction_found,
    recall,
    reciprocal_rank,
    score,
)
from e2g_neo4j.evaluation.tables import evaluation_page
from e2g_neo4j.evaluation.words import content_words
from e2g_neo4j.retrieval.ranking import VERSION
from e2g_neo4j.retrieval.strategies import STRATEGIES
from e2g_neo4j.types.results import Evidence, Passage, Turn

SAMPLE = Path(__file__).parents[2] / "e2g_neo4j" / "sample" / "questions.jsonl"
DATA = Path(__file__).parents[3] / "shared"

A = "/books/one.txt"
B = "/sets/passages.jsonl#7"
TEXT = "Alice met Bob.  They walked\nto Paris, and Bob sang. Carol stayed at home all day long."


def words(text: str) -> list[tuple[int, int]]:
    """Tokens of these tests: words."""
    return [found.span() for found in re.finditer(r"\S+", text)]


def corpus_with(*documents: tuple[str, str, list[tuple[int, int]]]) -> IndexedCorpus:
    """A corpus of (source, text, spans of its chunks); a chunk's id is `source:number`."""
    held = IndexedCorpus("c", words)
    held.add(
        {"source": source, "id": f"{source}:{number}", "start": start, "end": end, "text": text[start:end]}
        for source, text, spans in documents
        for number, (start, end) in enumerate(spans)
    )
    return held


def passage(source: str, text: str, start: int, end: int, *nodes: str, level: int = 0) -> Passage:
    shown = text if level else text[start:end]
    return Passage(shown, source, source, start, end, 1.0, level=level, nodes=nodes)


def evidence(*passages: Passage, route: str = "local") -> Evidence:
    return Evidence("Who?", ("c",), route, "", (), (), 3, passages)  # type: ignore[arg-type]


# --- question files ----------------------------------------------------------------------------------


def write(tmp_path: Path, *lines: object) -> Path:
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(one if isinstance(one, str) else json.dumps(one) for one in lines), encoding="utf-8")
    return file


def test_the_four_formats_are_told_apart(tmp_path):
    file = write(
        tmp_path,
        {"id": "p", "question": "Who?", "gold_passages": [6, "seven"]},
        "",
        {"id": "b", "question": "Who?", "type": "multi", "book": "one.txt", "evidence": [[1, 5], [9, 12]]},
        {"id": "q", "question": "Who?", "gold_passages": ["one.txt"], "evidence": [{"document": 3, "quote": "a b"}]},
        {"question": "Who?", "question_type": "Fact Retrieval", "evidence": ["Skin cancer is common."]},
    )
    assert read_questions(file) == [
        Question("p", "Who?", documents=("6", "seven")),
        Question("b", "Who?", "multi", "one.txt", spans=(("one.txt", 1, 5), ("one.txt", 9, 12))),
        Question("q", "Who?", documents=("one.txt",), quotes=(("3", "a b"),)),
        Question("5", "Who?", "Fact Retrieval", statements=("Skin cancer is common.",)),
    ]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "Expecting"),
        ("[1]", "not a JSON object"),
        ({"question": " ", "gold_passages": [1]}, "question"),
        ({"question": "Who?"}, "gold_passages, evidence and answer are all missing"),
        ({"question": "Who?", "gold_passages": "1"}, "list of ids"),
        ({"question": "Who?", "gold_passages": [None]}, "list of ids"),
        ({"question": "Who?", "evidence": [[1, 5]]}, "book"),
        ({"question": "Who?", "book": "b", "evidence": [[5, 1]]}, "[5, 1]"),
        ({"question": "Who?", "book": "b", "evidence": [[True, 5]]}, "[true, 5]"),
        ({"question": "Who?", "book": "b", "evidence": [[False, True]]}, "[false, true]"),
        ({"question": "Who?", "evidence": [{"document": "d"}]}, "neither"),
        ({"question": "Who?", "evidence": ["_ — …"]}, "neither"),
        ({"question": "Who?", "evidence": ["to be or not"]}, '"to be or not"'),
        ({"question": "Who?", "type": 3, "gold_passages": [1]}, "must be text"),
        ({"question": "Who?", "gold_passages": [1], "history": "Who?"}, "history must be a list"),
        ({"question": "Who?", "gold_passages": [1], "history": ["Who?"]}, "a turn of history"),
        ({"question": "Who?", "gold_passages": [1], "history": [{"answer": "Ann."}]}, "a turn of history"),
        ({"question": "Who?", "gold_passages": [1], "history": [{"question": "Who?", "answer": 1}]}, "a turn of"),
        ({"question": "Who?", "gold_passages": [1], "written_out": " "}, "written_out must be text"),
        ({"id": "good", "question": "Who?", "gold_passages": [1]}, "duplicate id"),
    ],
)
def test_a_malformed_line_is_named(tmp_path, line, says):
    file = write(tmp_path, {"id": "good", "question": "Who?", "gold_passages": [1]}, "", line)
    with pytest.raises(InputError, match="line 3: ") as raised:
        read_questions(file)
    assert says in str(raised.value)


def test_a_question_is_asked_with_its_history_or_without(tmp_path):
    line = {"id": "t", "question": "And she?", "written_out": "And Ann?", "gold_passages": [1]}
    [talk] = read_questions(write(tmp_path, line | {"history": [{"question": "Who is Bob?", "answer": "A cook."}]}))
    assert talk.history == (Turn("Who is Bob?", "A cook."),)
    asked = {kind: talk.apply_history(kind) for kind in get_args(HistoryKind)}
    assert {kind: (one.question, one.history) for kind, one in asked.items()} == {
        "full": ("And she?", talk.history),
        "questions": ("And she?", (Turn("Who is Bob?"),)),
        "none": ("And she?", ()),
        "written-out": ("And Ann?", ()),
    }
    assert {one.documents for one in asked.values()} == {("1",)}


def test_an_id_that_is_null_is_absent(tmp_path):
    file = write(tmp_path, *[{"id": None, "question": "Who?", "gold_passages": [1]}] * 2)
    assert [question.id for question in read_questions(file)] == ["1", "2"]


def test_a_file_without_questions_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no question"):
        read_questions(write(tmp_path, "", ""))
    with pytest.raises(InputError, match="absent"):
        read_questions(tmp_path / "absent.jsonl")


def test_the_sample_is_read_whole():
    questions = read_questions(SAMPLE)
    assert len(questions) == 50
    assert {question.type for question in questions} == {"multi", "fact", "global"}
    assert all(question.documents and question.quotes for question in questions)


@pytest.mark.needs_data
@pytest.mark.skipif(not DATA.is_dir(), reason="the question sets are not beside the checkout")
@pytest.mark.parametrize(
    ("name", "count", "fields"),
    [("musique", 100, {"documents"}), ("medical", 1027, {"statements", "type"}), ("novels", 100, {"spans", "type"})],
)
def test_the_large_sets_are_read_whole(name, count, fields):
    questions = read_questions(DATA / "eval" / name / "questions.jsonl")
    assert len(questions) == count
    for question in questions:
        filled = {field for field in ("documents", "spans", "quotes", "statements", "type") if getattr(question, field)}
        assert filled == fields


def test_content_words_are_six_letters_without_stop_words():
    assert content_words("The Treatments of sun-exposed skin may include B12, treatment") == {
        "treatm", "sun", "expose", "skin", "b12"
    }  # fmt: skip
    assert content_words("one_two, the_skin's __x__") == {"one", "two", "skin", "s", "x"}
    assert content_words("Кто звонил в колокол?") == {"кто", "звонил", "в", "колоко"}
    assert content_words("Die STRASSE, die Straße") == {"die", "strass"} == content_words("die Strasse")
    assert content_words("Café Müller") == content_words("CAFÉ MÜLLER") == {"café", "müller"}


# --- where the gold lies -----------------------------------------------------------------------------


def test_gold_is_matched_by_file_name_id_and_quote():
    held = corpus_with((A, TEXT, [(0, 40), (30, len(TEXT))]), (B, "Short.", [(0, 6)]))
    assert held.texts[A] == TEXT
    gold = held.gold(
        Question(
            "q",
            "Who?",
            documents=("one.txt", "7"),
            spans=(("one.txt", 0, 5),),
            quotes=(("one.txt", "They walked to  Paris"),),
            statements=("Skin cancer",),
        )
    )
    start = TEXT.index("They")
    assert gold.sources == {A, B}
    assert gold.spans == ((A, 0, 5), (A, start, TEXT.index(", and")))
    assert gold.statements == (frozenset({"skin", "cancer"}),)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"documents": ("absent",)}, "'absent'"),
        ({"spans": (("two.txt", 0, 3),)}, "'two.txt'"),
        ({"spans": (("one.txt", 80, 900),)}, "80-900"),
        ({"quotes": (("one.txt", "They flew"),)}, "They flew"),
        ({"documents": ("twice.txt",)}, "2 documents"),
    ],
)
def test_gold_that_the_corpus_does_not_hold_is_an_error(fields, says):
    twice = [(f"/{folder}/twice.txt", "x", [(0, 1)]) for folder in "ab"]
    with pytest.raises(NotFoundError, match=r"[Qq]uestion q9 ") as raised:
        corpus_with((A, TEXT, [(0, len(TEXT))]), *twice).gold(Question("q9", "Who?", **fields))
    assert says in str(raised.value)


def test_a_corpus_name_may_stand_for_the_book():
    assert corpus_of(Question("q", "Who?", book="a.b.txt"), "novel-{book}") == "novel-a.b"
    assert corpus_of(Question("q", "Who?"), "plain") == "plain"
    with pytest.raises(QueryError, match="no book"):
        corpus_of(Question("q", "Who?"), "novel-{book}")


# --- what was retrieved ------------------------------------------------------------------------------


def test_a_merged_passage_is_one_piece():
    held = corpus_with((A, TEXT, [(0, 40), (30, 60), (60, len(TEXT))]))
    pieces = held.pieces([passage(A, TEXT, 0, 60, f"{A}:0", f"{A}:1"), passage(A, TEXT, 61, 80, f"{A}:2")])
    assert [(piece.text, piece.shows) for piece in pieces] == [
        (TEXT[0:60], ((0, 60),)),
        (TEXT[61:80], ((61, 80),)),
    ]


@given(st.integers(1, 60), st.permutations(range(4)))
def test_a_budget_is_spent_on_the_best_passages_first(budget, order):
    """Against a recount word by word: the passages' words in their order, as many as the budget."""
    texts = [f"w{number} " * (3 + 5 * number) for number in range(4)]
    held = corpus_with(*((f"/{n}.txt", text, [(0, len(text))]) for n, text in enumerate(texts)))
    pieces = held.pieces([passage(f"/{n}.txt", texts[n], 0, len(texts[n]), f"/{n}.txt:0") for n in order], budget)
    expected = [word for n in order for word in texts[n].split()][:budget]
    assert [word for piece in pieces for word in piece.text.split()] == expected
    assert all(held.texts[piece.source][first:last] == piece.text for piece in pieces for first, last in piece.shows)


def test_the_budget_of_a_passage_inside_a_document_counts_its_own_tokens():
    start = TEXT.index("They")
    held = corpus_with((A, TEXT, [(0, start), (start, len(TEXT))]))
    [piece] = held.pieces([passage(A, TEXT, start, len(TEXT), f"{A}:1")], 4)
    assert piece.text == "They walked\nto Paris,"


def test_a_summary_shows_what_it_quotes_and_not_what_it_stands_for():
    summary = "Bob is a singer of songs. Carol stayed at home all day long."
    held = corpus_with((A, TEXT, [(0, len(TEXT))]))
    [piece] = held.pieces([passage(A, summary, 0, len(TEXT), "s", level=1)])
    start = TEXT.index("Carol")
    assert piece.shows == ((start, len(TEXT)),)
    [piece] = held.pieces([passage(A, summary, 0, len(TEXT), "s", level=1)], 8)
    assert (piece.text, piece.shows) == ("Bob is a singer of songs. Carol stayed", ())


def test_quotes_are_found_whatever_the_white_space():
    assert find_quote("walked   to Paris", TEXT, 0, len(TEXT)) == (TEXT.index("walked"), TEXT.index(", and"))
    assert find_quote("walked to Rome", TEXT, 0, len(TEXT)) is None
    assert find_quote("Alice met", TEXT, 5, len(TEXT)) is None
    assert quotations("Yes. They walked to Paris, and Bob sang.", TEXT, 0, len(TEXT)) == [
        (40, (TEXT.index("They"), TEXT.index(" Carol")))
    ]


# --- metrics -----------------------------------------------------------------------------------------


def test_ranks_by_hand():
    ranked, gold = ["a", "b", "c", "d"], frozenset({"b", "d", "z"})
    assert recall(ranked, gold, 1) == 0
    assert recall(ranked, gold, 2) == pytest.approx(1 / 3)
    assert recall(ranked, gold, 25) == pytest.approx(2 / 3)
    assert reciprocal_rank(ranked, gold) == 0.5
    assert reciprocal_rank(ranked, frozenset({"z"})) == 0


@given(st.lists(st.sampled_from("abcdefgh"), unique=True), st.sets(st.sampled_from("abcdefgh"), min_size=1))
def test_ranks_against_a_recount(ranked, gold):
    hits = [position for position, name in enumerate(ranked, 1) if name in gold]
    for n in (1, 2, 5):
        assert recall(ranked, frozenset(gold), n) == sum(position <= n for position in hits) / len(gold)
    assert reciprocal_rank(ranked, frozenset(gold)) == (1 / hits[0] if hits else 0)


@given(
    st.integers(0, 30),
    st.integers(1, 30),
    st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)).map(lambda s: (s[0], s[0] + s[1])), max_size=6),
)
def test_covered_characters_against_a_recount(start, length, spans):
    characters = {at for first, last in spans for at in range(first, last)}
    assert count_covered(start, start + length, spans) == len(characters & set(range(start, start + length)))


def test_half_of_a_span_is_enough_and_other_documents_do_not_count():
    gold = Gold(frozenset(), ((A, 10, 20), (A, 100, 110)), ())
    assert fraction_found([Piece(A, "", ((0, 14),))], gold) == 0
    assert fraction_found([Piece(A, "", ((0, 13),)), Piece(A, "", ((11, 15),))], gold) == 0.5
    assert fraction_found([Piece(B, "", ((0, 200),))], gold) == 0
    assert fraction_found([Piece(A, "", ((0, 200),))], gold) == 1


def test_a_statement_wants_four_fifths_of_its_words_in_one_chunk():
    gold = Gold(frozenset(), (), (content_words("Basal carcinoma affects exposed skin"),))
    assert fraction_found([Piece(A, "Basal carcinomas: skin, if exposed.", ())], gold) == 1
    assert fraction_found([Piece(A, "Basal carcinoma, skin", ()), Piece(A, "exposed, affects", ())], gold) == 0


def test_scores_are_those_that_the_gold_allows():
    held = corpus_with((A, TEXT, [(0, 40), (40, len(TEXT))]), (B, "Short.", [(0, 6)]))
    found = evidence(passage(B, "Short.", 0, 6, f"{B}:0"), passage(A, TEXT, 0, 40, f"{A}:0"))
    scores = score(found, {}, Gold(frozenset({A}), (), ()), held, 10)
    assert scores == {"R@2": 1, "R@5": 1, "R@10": 1, "MRR": 0.5}
    within = dict.fromkeys(BUDGETS, found) | {"5 chunks": evidence(found.passages[0])}
    scores = score(found, within, Gold(frozenset(), ((A, 0, 20), (A, 60, 70)), ()), held, 10)
    assert scores == {
        "evidence@5 chunks": 0, "evidence@2k tokens": 0.5, "evidence@6k tokens": 0.5, "evidence@12k tokens": 0.5
    }  # fmt: skip


def test_evidence_counts_up_to_its_budget_of_tokens():
    """Even where a passage has more."""
    text = " ".join(["word"] * 2000 + ["gold"])
    held = corpus_with((A, text, [(0, len(text))]))
    whole = evidence(passage(A, text, 0, len(text), f"{A}:0"))
    gold = Gold(frozenset(), ((A, len(text) - 4, len(text)),), ())
    scores = score(whole, dict.fromkeys(BUDGETS, whole), gold, held, 10)
    assert scores == {
        "evidence@5 chunks": 1, "evidence@2k tokens": 0, "evidence@6k tokens": 1, "evidence@12k tokens": 1
    }  # fmt: skip


# --- intervals and results ---------------------------------------------------------------------------


@given(st.lists(st.sampled_from([0, 0.25, 1 / 3, 0.5, 1]), min_size=1, max_size=60))
def test_intervals_hold_the_mean_and_are_the_same_again(values):
    found = bootstrap(values)
    assert found == bootstrap(values)
    assert found.mean == pytest.approx(sum(values) / len(values))
    assert min(values) - 1e-9 <= found.low <= found.mean + 1e-9
    assert found.mean - 1e-9 <= found.high <= max(values) + 1e-9


def test_intervals_are_as_wide_as_they_should_be():
    """200 coin tosses: the mean's standard error is .035, so the interval reaches some .069 to both sides."""
    found = bootstrap([0, 1] * 100)
    assert found.low == pytest.approx(0.5 - 0.069, abs=0.01)
    assert found.high == pytest.approx(0.5 + 0.069, abs=0.01)


def outcome(question: str, value: float, *, kind: str | None = "fact", route: str = "local") -> Outcome:
    return Outcome(question, kind, route, {"R@5": value}, 0.01, dict.fromkeys(PARTS, 0.0025), 2, 640)


def test_differences_are_paired():
    mine = [outcome("a", 1), outcome("b", 0.5), outcome("c", 0)]
    base = {"c": outcome("c", 0), "a": outcome("a", 0.5), "b": outcome("b", 0)}
    group = group_outcomes(mine, base)
    assert group.scores["R@5"].mean == pytest.approx(0.5)
    assert group.differences["R@5"].mean == pytest.approx(1 / 3)
    assert (group.differences["R@5"].low, group.differences["R@5"].high) == (0, 0.5)
    assert group_outcomes(mine, {}).differences == {}


@pytest.mark.parametrize(
    ("questions", "modes", "says"),
    [
        ([Question("q", "Who?", documents=("a",))], ["no-such"], "no mode 'no-such'"),
        ([], ["auto"], "at least one question"),
        ([Question("q", "Who?", documents=("a",))] * 2, ["auto"], "same id"),
    ],
)
def test_what_cannot_be_evaluated_is_refused_before_anything_is_asked(questions, modes, says):
    client: Any = SimpleNamespace(strategies=STRATEGIES)
    with pytest.raises(QueryError, match=says):
        evaluate(client, questions, corpus="c", modes=modes)


def test_the_page_is_well_formed_and_shows_every_mode_and_type():
    results = {}
    base = {name: outcome(name, 0.5) for name in "abc"}
    for mode in ("tree", "a<b&c", "dense"):
        group = group_outcomes([outcome(name, 1.0) for name in "abc"], {} if mode == "dense" else base)
        parts = {"reading": 3.25, "embedding": 0.5, "database": 4.75, "ranking": 1.0}
        types, routes = {"fact & more": group}, {"local": group, "global": group}
        results[mode] = ModeResult(group, types, routes, 9.5, 12.25, parts, 2, 640, [])
    failed = {"communities": "No communities: <none>."}
    html = evaluation_page(Evaluation('x"<y', 3, 25, "dense", "chunk", modes=results, failed=failed))
    tree = ElementTree.fromstring(html)
    assert tree.tag == "html"
    shown = "".join(tree.itertext())
    for text in (
        "tree",
        "a<b&c",
        "dense",
        "fact & more",
        "local route",
        'x"<y',
        f"k=25, unit chunk, ranking version {VERSION}",
        "R@5",
        "12.2",
        "4.8",
        "+0.500",
        "640",
        "communities: No communities: <none>.",
    ):
        assert text in shown
    assert not list(tree.iter("script"))
    assert not re.search(r"(?:src|href)=|url\(|@import", html)
