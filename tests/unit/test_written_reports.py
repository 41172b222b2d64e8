"""Reports of communities by a chat model: what it reads about a community, and what can be read of its replies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from operations import MODEL

from e2g_neo4j.indexing.communities.chat import (
    FINDINGS,
    HIGHEST_RATING,
    LONGEST_TEXT,
    LONGEST_TITLE,
    ReportWriter,
    WrittenReport,
    cite_sources,
    parse_report,
)
from e2g_neo4j.indexing.communities.elements import StatementElement, StoredStatement, statements_about
from e2g_neo4j.indexing.communities.hierarchy import Community
from e2g_neo4j.indexing.communities.merging import LONG, DescriptionMerger, long_groups, parse_description
from e2g_neo4j.indexing.communities.reports import Report, SentenceEntities, choose_covering_sentences
from e2g_neo4j.indexing.communities.writing import ReportInput, report_input, text_of
from e2g_neo4j.types.chat import ChatReply

CHILD = Report("0", Community(1, ("a", "b", "c"), 1), "Child", "It is. [1][2]", ("c0", "c1"), sources=("c0", "c1"))
WHOLE = WrittenReport("Ann and Bob", "Ann sails with Bob.\nAnn is the captain.\nBob steers.", 8)
GOLD = {
    "as asked": """{"title": "Ann and Bob", "summary": "Ann sails with Bob.",
 "findings": ["Ann is the captain.", "Bob steers."], "rating": 8}""",
    "in a fence, after words": """Here is the report:
```json
{"Title": "Ann and Bob", "Summary": "Ann sails\\nwith Bob.", "Findings": ["Ann is the captain.", "Bob steers."],
 "Rating": "8/10"}
```""",
    "with GraphRAG's findings": """{"title": "Ann and Bob", "summary": "Ann sails with Bob.", "rating": 8.5,
"findings": [{"summary": "Ann is", "explanation": "the captain."}, {"explanation": "Bob steers."}, 7, ""]}""",
    "with commas too many": """{"title": "Ann and Bob", "summary": "Ann sails with Bob.",
 "findings": ["Ann is the captain.", "Bob steers.", ], "rating": 8,}""",
    "after an example": """{"title": "..."} {"title": "Ann and Bob", "summary": "Ann sails with Bob.",
 "findings": ["Ann is the captain.", "Bob steers.", "Bob steers."], "rating": 8}""",
}


def reply(text: str, finish: str = "stop") -> ChatReply:
    return ChatReply(text, finish, 1, 9)  # type: ignore[arg-type]


@pytest.mark.parametrize("form", GOLD)
def test_reports_are_read_in_all_forms_that_models_write(form: str) -> None:
    assert parse_report(GOLD[form]) == WHOLE


def test_a_broken_reply_is_read_as_far_as_it_goes() -> None:
    cut = GOLD["as asked"][:-30]
    assert parse_report(cut) == WrittenReport("Ann and Bob", "Ann sails with Bob.", None)
    broken = '{"title": "A \\"B\\"", "summary": "Ann \\u00e9', '{"summary": "Ann \\"sails\\".", "findings": [Bob]}'
    assert [parse_report(one) for one in broken] == [None, WrittenReport("", 'Ann "sails".', None)]
    assert parse_report('{"findings": "Bob steers.", "rating": true}') == WrittenReport("", "Bob steers.", None)


def test_a_finding_is_not_taken_for_the_report() -> None:
    broken = """{"title": "T", "summary": "Overall", "findings": [{"summary": "f1", "explanation": "e1"}, 7 8]}"""
    assert parse_report(broken) == WrittenReport("T", "Overall", None)
    judged = ReportWriter(MODEL).judge(reply(broken))
    assert (judged.value, judged.fault) == (len("Overall"), "its JSON cannot be read as a whole")
    assert not ReportWriter(MODEL).judge(reply('{"findings": [{"summary": "f1"}]}')).fault


@pytest.mark.parametrize(
    "text", ["", "Ann sails.", "{}", "[1]", '{"title": "Ann"}', '{"summary": 7}', '{"summary": "", "findings": []}']
)
def test_other_replies_are_no_reports(text: str) -> None:
    assert parse_report(text) is None
    assert ReportWriter(MODEL).judge(reply(text)).fault


@pytest.mark.parametrize(
    ("said", "rating"),
    [("0", 1), ("99", HIGHEST_RATING), ('"7 of 10"', 7), ("null", None), ('"high"', None), ("9.9", 9), ("1e400", None)],
)
def test_ratings(said: str, rating: int | None) -> None:
    found = parse_report(f'{{"summary": "Ann.", "rating": {said}}}')
    assert found
    assert found.rating == rating


def test_what_is_too_long_or_no_text_is_left_out() -> None:
    found = parse_report(f'{{"title": "{"t" * 300}", "summary": "a\\u0000b\\ud800 {"s" * 9_000}"}}')
    assert found
    assert (len(found.title), len(found.text), found.text[:3]) == (LONGEST_TITLE, LONGEST_TEXT, "ab ")


def test_of_replies_that_cannot_be_used_the_one_that_says_most_is_kept() -> None:
    writer = ReportWriter(MODEL)
    whole, cut, nothing = (
        writer.judge(one) for one in (reply(GOLD["as asked"]), reply(GOLD["as asked"][:-30], "length"), reply("No."))
    )
    assert (whole.fault, cut.fault) == ("", "it was not finished after 9 tokens")
    assert "JSON" in nothing.fault
    assert whole.value > cut.value > nothing.value == 0
    assert "refused" in writer.judge(reply("", "refusal")).fault
    assert "only its thinking" in writer.judge(reply("<think>Ann?</think>")).fault
    assert "no text" in writer.judge(reply("")).fault


def test_the_request_and_the_name_follow_the_prompt(tmp_path: Path) -> None:
    writer = ReportWriter(MODEL)
    first, again = writer.request("Sentences."), writer.request("Sentences.", 2, "it was empty")
    assert f"one to {FINDINGS} sentences" in first.system
    assert "Sentences." in first.user
    assert (first.temperature, first.seed, again.seed) == (0.0, 0, 2)
    assert "it was empty" in again.user
    (tmp_path / "report.txt").write_text("Write, $fence.")
    own = ReportWriter(MODEL, prompts=tmp_path)
    assert own.request("Text.").system.startswith("Write, text-")
    assert own.name != writer.name == ReportWriter(MODEL).name


# --- what is read ------------------------------------------------------------------------------------

HIERARCHY = [
    Community(1, ("a", "b", "c"), 2),
    Community(1, ("d", "e", "f"), 2),
    Community(2, ("a", "b", "c", "d", "e", "f", "g"), None),
]


def sentence(number: int, entities: str, length: int) -> SentenceEntities:
    return SentenceEntities("d", 0, f"c{number}", (1000 * number, 1000 * number + length), tuple(entities), 0)


AB, BC, DE, CD, FG = (
    sentence(1, "abx", 100),
    sentence(2, "bc", 60),
    sentence(3, "de", 130),
    sentence(4, "cd", 50),
    sentence(5, "fg", 40),
)
COVERS = [[BC, AB], [DE], [CD, BC, FG, AB, DE]]
"""The sentences of the first child have 160 characters, those of the second 130, those of the parent 380 in all."""


@pytest.mark.parametrize(
    ("reports", "characters", "children", "sentences"),
    [
        # All sentences fit, in reading order.
        ({0: "r" * 70, 1: "s" * 80}, 380, (), [AB, BC, DE, CD, FG]),
        # 380 > 379: the first child has more sentences; 380 - 160 + 70 = 290 fit.
        ({0: "r" * 70, 1: "s" * 80}, 379, (0,), [DE, CD, FG]),
        ({0: "r" * 70, 1: "s" * 80}, 290, (0,), [DE, CD, FG]),
        # 290 > 289: the second too, 290 - 130 + 80 = 240. What connects both stays.
        ({0: "r" * 70, 1: "s" * 80}, 289, (0, 1), [CD, FG]),
        # 240 > 239: the reports come first (150), then the best sentences that fit: 89 - 50 = 39 < 40.
        ({0: "r" * 70, 1: "s" * 80}, 239, (0, 1), [CD]),
        # The report of the first child leaves 29 characters.
        ({0: "r" * 70, 1: "s" * 80}, 99, (0,), []),
        # Neither fits; a sentence does.
        ({0: "r" * 70, 1: "s" * 80}, 60, (), [CD]),
        # A report that is not shorter than its sentences does not replace them.
        ({0: "r" * 160, 1: "s" * 80}, 379, (1,), [AB, BC, CD, FG]),
        ({0: "", 1: "s" * 80}, 379, (1,), [AB, BC, CD, FG]),
    ],
)
def test_reports_replace_the_sentences_that_do_not_fit(
    reports: dict[int, str], characters: int, children: tuple[int, ...], sentences: list[SentenceEntities]
) -> None:
    found = report_input(2, HIERARCHY, COVERS, reports, characters)
    assert found == ReportInput(children, tuple(sentences))


def test_a_finest_community_has_its_best_sentences() -> None:
    assert report_input(0, HIERARCHY, COVERS, {}, 159) == ReportInput((), (BC,))
    assert report_input(0, HIERARCHY, COVERS, {}, 160) == ReportInput((), (AB, BC))


def test_sentences_cover_all_pairs() -> None:
    weights = {("a", "b"): 1.0, ("b", "c"): 1.0, ("c", "d"): 5.0, ("d", "e"): 1.0, ("f", "g"): 1.0}
    covers = list(choose_covering_sentences(HIERARCHY, [FG, DE, CD, BC, AB], weights, 10_000, longest=120))
    assert covers == [[BC, AB], [], [CD, FG, BC, AB]], "one is too long"


def test_the_text_names_what_is_what() -> None:
    texts = {(one.chunk, *one.span): f"Sentence {one.chunk}." for one in (AB, CD)}
    read = ReportInput((0,), (AB, CD))
    assert text_of("A, B", [CHILD], read, texts) == (
        "Names: A, B\n\nReports about parts of the group:\n\nChild\nIt is. [1][2]\n\n"
        "Sentences:\nSentence c1. [2]\nSentence c4. [3]"
    ), "chunks have one number, in reports of parts too"
    assert text_of("A, B", [], read, texts) == "Names: A, B\n\nSentences:\nSentence c1. [1]\nSentence c4. [2]"


def test_findings_cite_the_chunks_that_they_are_made_from() -> None:
    """What was not read is no source."""
    text, sources = cite_sources("All.\nX [3]. [1, 9]\nY [9] [0]\nZ [3][1]", ["c1", "c2", "c4"])
    assert text == "All.\nX [1]. [2]\nY\nZ [1][2]"
    assert sources == ("c4", "c1")


# --- statements --------------------------------------------------------------------------------------


def stated(id: str, subject: str, object: str | None, text: str, strength: int = 5) -> StoredStatement:
    return StoredStatement(id, (f"c-{id}",), subject, object, text, strength)


STATED = [
    stated("1", "a", None, "A is old."),
    stated("2", "b", None, "B is weak.", 1),
    stated("3", "b", None, "B is strong.", 9),
    stated("4", "c", "a", "C calls A."),
    stated("5", "b", "c", "B knows C."),
    stated("6", "b", "c", "B marries C.", 8),
    stated("7", "b", "d", "B sees D."),
    StoredStatement("8", ("c-8",), "d", "b", "D sees B.", 5, "suspected", "1890"),
    stated("9", "b", "z", "B meets Z."),
    stated("91", "e", None, "E is rich."),
    stated("92", "b", "c", "B knows C.", 2),
    stated("93", "g", None, "G is last."),
]
"""B is related to three (c, d, z), C to two (a, b), A and D to one."""


def lines(elements: list[StatementElement]) -> list[str]:
    return [one.text for one in elements]


def test_relations_come_by_degree_and_after_the_descriptions_of_their_ends() -> None:
    names = {key: key.upper() for key in "abcdefgz"}
    first, second, top = statements_about(HIERARCHY, reversed(STATED), names)
    inner = ["B: B is strong.", "B: B is weak.", "B, C: B marries C.", "B, C: B knows C.", "A: A is old."]
    assert lines(first) == [*inner, "C, A: C calls A."], "degrees 3 + 2, then 2 + 1"
    assert lines(second) == ["E: E is rich."], "no relation of two members"
    between = ["B, D: B sees D.", "D, B: D sees B. [suspected, 1890]"]
    assert lines(top) == [*inner[:4], *between, inner[4], "C, A: C calls A.", "E: E is rich.", "G: G is last."]
    assert [one.order for one in top] == list(range(10))
    assert [(one.chunks, one.entities) for one in first[2:4]] == [(("c-6",), ("b", "c")), (("c-5",), ("b", "c"))]


def test_reports_replace_the_statements_about_their_members() -> None:
    names = {key: key.upper() for key in "abcdefgz"}
    covers = list(statements_about(HIERARCHY, STATED, names))
    length = sum(one.length for one in covers[2])
    assert report_input(2, HIERARCHY, covers, {0: "r", 1: "s"}, length) == ReportInput((), tuple(covers[2]))
    replaced = report_input(2, HIERARCHY, covers, {0: "r", 1: "s"}, length - 1)
    assert replaced.children == (0,)
    assert text_of("A, B", [replace(CHILD, sources=(), text="It is.")], replaced, {}) == (
        "Names: A, B\n\nReports about parts of the group:\n\nChild\nIt is.\n\n"
        "Statements:\nB, D: B sees D. [1]\nD, B: D sees B. [suspected, 1890] [2]\nE: E is rich. [3]\nG: G is last. [4]"
    )


# --- merged descriptions -----------------------------------------------------------------------------


def test_what_is_long_together_is_merged_by_its_entities() -> None:
    half = "x" * (LONG // 2)
    statements = [
        stated("1", "a", None, half, 2),
        stated("2", "a", None, f"{half}y", 9),
        stated("3", "b", None, half),
        stated("4", "b", None, half),
        stated("5", "a", "b", half),
        stated("6", "b", "a", f"{half}y"),
        stated("7", "c", None, 3 * half),
        replace(stated("8", "d", None, half), status="suspected"),
        replace(stated("9", "d", None, 2 * half), period="in May"),
        stated("91", "d", None, half),
    ]
    assert {key: [one.id for one in group] for key, group in long_groups(statements).items()} == {("a",): ["2", "1"]}
    many = [stated(f"{n:02}", "a", "b", "z" * 1_000, n % 10) for n in range(17)]
    [(entities, group)] = long_groups(many).items()
    assert entities == ("a", "b")
    assert [one.strength for one in group] == sorted((one.strength for one in group), reverse=True)
    assert {one.id for one in many} - {one.id for one in group} == {"10"}, "the weakest does not fit"


@pytest.mark.parametrize(
    ("text", "description"),
    [
        ('{"description": " A is  old.\\n"}', "A is old."),
        ('Here: {"description": "A\\u0000 is old."}', "A is old."),
        ('{"description": ""}', None),
        ('{"description": ["A is old."]}', None),
        ('{"description": "A is', None),
        ("A is old.", None),
    ],
)
def test_only_whole_descriptions_are_usable(text: str, description: str | None) -> None:
    assert parse_description(text) == description
    judged = DescriptionMerger(MODEL).judge(reply(text))
    assert (judged.value, bool(judged.fault)) == (int(description is not None), description is None)
