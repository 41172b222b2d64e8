"""The overlap of modes by hand, what each mode alone returns, modes that fail, and the page."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from e2g_neo4j.errors import NotFoundError, QueryError
from e2g_neo4j.evaluation import Comparison, ModeEvidence, compare
from e2g_neo4j.evaluation.comparison import jaccard, shares_text, spans
from e2g_neo4j.evaluation.tables import comparison_page
from e2g_neo4j.retrieval.strategies import STRATEGIES
from e2g_neo4j.types.results import Evidence, Excerpt, Passage

SCRIPT = "<script>alert('hacked')</script>"


def passage(start: int, end: int, source: str = "a", **more: Any) -> Passage:
    return Passage(
        **{"text": "x" * (end - start), "document": source, **more}, source=source, start=start, end=end, score=1
    )


def summary(node: str, text: str = "x" * 40) -> Passage:
    return passage(0, 1000, text=text, level=1, nodes=(node,))


def evidence(mode: str, *passages: Passage) -> Evidence:
    return Evidence(
        question="Who?",
        corpora=("c",),
        route="global",
        reason="Because.",
        entities=(),
        pairs=(),
        hops=0,
        passages=passages,
        round_trips=2,
        mode=mode,
    )


def overlap(a: list[Passage], b: list[Passage]) -> float:
    assert jaccard(spans(a), spans(b)) == jaccard(spans(b), spans(a))
    return jaccard(spans(a), spans(b))


def test_half_of_two_spans_is_a_third_of_both() -> None:
    assert overlap([passage(0, 100)], [passage(50, 150)]) == pytest.approx(1 / 3)


def test_characters_of_two_documents_are_different() -> None:
    assert overlap([passage(0, 100)], [passage(0, 100, "b")]) == 0
    both = [passage(0, 100), passage(0, 100, "b")]
    assert overlap(both, [passage(0, 100, "b")]) == 0.5
    assert overlap(both, [passage(50, 100), passage(90, 190, "b")]) == pytest.approx(60 / 290)


def test_how_a_text_is_cut_makes_no_difference() -> None:
    assert overlap([passage(0, 100)], [passage(60, 100), passage(0, 30), passage(30, 60)]) == 1
    assert overlap([passage(0, 60), passage(40, 100)], [passage(0, 100)]) == 1


def test_a_summary_has_its_own_characters() -> None:
    assert overlap([summary("s")], [passage(0, 1000)]) == 0
    assert overlap([summary("s"), passage(0, 60)], [summary("s"), passage(900, 1000)]) == 40 / 200
    assert overlap([summary("s")], [summary("t")]) == 0
    assert overlap([summary("s")], [summary("s", "x" * 10)]) == 0.25


def test_no_passages_have_nothing_in_common() -> None:
    assert overlap([], []) == 0
    assert overlap([], [passage(0, 10)]) == 0


def test_one_character_is_enough_to_be_shared() -> None:
    others = [spans([passage(0, 10)]), spans([passage(100, 110, "b")])]
    assert shares_text(passage(9, 20), others)
    assert not shares_text(passage(10, 20), others)
    assert not shares_text(passage(100, 110), others)


class Client:
    """Returns the evidence of each mode, or raises its error, and notes what it is asked."""

    def __init__(self, found: dict[str, Evidence | Exception]) -> None:
        self.found = found
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.models = self.embedder = self
        self.strategies = STRATEGIES

    def retrieve(self, question: str, *, mode: str, **options: Any) -> Evidence:
        self.asked.append((mode, options))
        found = self.found[mode]
        if isinstance(found, Exception):
            raise found
        return found

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return [(at, at + 1) for at in range(0, len(text), 10)]


def compared(client: Any, *modes: Any, **options: Any) -> Comparison:
    return compare(client, "Who?", corpus="c", modes=modes, **options)


def test_every_mode_is_asked_twice_with_the_same_options() -> None:
    client = Client(
        {"auto": evidence("auto", passage(0, 100), passage(300, 350)), "dense": evidence("dense", passage(50, 150))}
    )
    found = compared(client, "auto", "dense", "auto", tokens=500)
    options = {"corpus": "c", "tokens": 500, "llm": False}
    assert client.asked == [("auto", options)] * 2 + [("dense", options)] * 2
    assert list(found.modes) == ["auto", "dense"]
    auto, dense = found.modes.values()
    assert (auto.tokens, dense.tokens) == (15, 10)
    assert auto.overlap == {"dense": pytest.approx(50 / 200)}
    assert dense.overlap == {"auto": auto.overlap["dense"]}
    assert (auto.unique, dense.unique) == ((False, True), (False,))
    assert auto.milliseconds > 0
    assert found.failed == {}


def test_a_mode_that_cannot_run_is_listed_and_the_others_run() -> None:
    client = Client({"fulltext": QueryError("no words"), "dense": evidence("dense", passage(0, 10))})
    found = compared(client, "fulltext", "dense")
    assert found.failed == {"fulltext": "no words"}
    assert list(found.modes) == ["dense"]
    assert found.modes["dense"].overlap == {}
    assert found.modes["dense"].unique == (False,), "there is no other mode"


def test_if_no_mode_can_run_the_first_error_is_raised() -> None:
    client = Client({"fulltext": QueryError("first"), "hybrid": QueryError("second")})
    with pytest.raises(QueryError, match="first"):
        compared(client, "fulltext", "hybrid")


def test_other_errors_are_raised() -> None:
    client = Client({"auto": evidence("auto"), "dense": NotFoundError("no corpus")})
    with pytest.raises(NotFoundError, match="no corpus"):
        compared(client, "auto", "dense")


def test_modes_are_checked_before_anything_is_asked() -> None:
    client = Client({"auto": evidence("auto")})
    with pytest.raises(QueryError, match=r"There is no mode 'autp'\. Did you mean 'auto'\? Modes: auto, e2g"):
        compared(client, "auto", "autp")
    with pytest.raises(QueryError, match="at least one mode"):
        compared(client)
    assert client.asked == []


def test_only_modes_that_can_call_a_chat_model_are_told_to() -> None:
    client = Client({"lazy": evidence("lazy"), "dense": evidence("dense")})
    compared(client, "lazy", "dense", llm=True)
    assert [(mode, options["llm"]) for mode, options in client.asked] == [("lazy", True)] * 2 + [("dense", False)] * 2
    with pytest.raises(QueryError, match="None of these modes calls a chat model: add one of lightrag, l"):
        compared(client, "dense", llm=True)


def test_the_place_of_a_passage() -> None:
    assert passage(0, 9, document="Log", page="3–4", heading="March").place == "Log, page 3–4, March"
    assert passage(0, 9, document="Log", heading="Log").place == "Log"
    assert passage(0, 9, document="Log", level=2).place == "Log, summary on level 2"


def test_the_page_escapes_every_text() -> None:
    excerpt = Excerpt(SCRIPT, 0, 9)
    texts: dict[str, Any] = {"document": SCRIPT, "heading": SCRIPT, "page": SCRIPT, "text": SCRIPT, "excerpt": excerpt}
    found = Comparison(
        SCRIPT,
        SCRIPT,
        {
            "auto": ModeEvidence(evidence("auto", passage(0, 9, **texts)), 7, 12.4, {"dense": 1 / 3}, (True,)),
            "dense": ModeEvidence(replace(evidence("dense"), calls=3, prompt_tokens=90), 0, 3.6, {"auto": 1 / 3}, ()),
        },
        {"fulltext": SCRIPT},
    )
    html = comparison_page(found)
    assert "<script" not in html
    tree = ElementTree.fromstring(html)
    shown = "".join(tree.itertext())
    assert shown.count(SCRIPT) == 9, "twice in the title; question, corpus, reason; two in a place; excerpt, text"
    assert tree.findtext("head/title") == f"{SCRIPT} – modes compared in {SCRIPT}"
    rows = [[cell.text for cell in row] for row in tree.iter("tr")]
    assert rows == [
        ["mode", "route", "passages", "tokens", "ms", "round trips", "calls", "prompt tokens"],
        ["auto", "global", "1", "7", "12", "2", "0", "0"],
        ["dense", "global", "0", "0", "4", "2", "3", "90"],
        ["mode", "auto", "dense"],
        ["auto", "100", "33"],
        ["dense", "33", "100"],
    ]
    assert [one.text for one in tree.iter("span")] == ["only here"]
    assert [one.tag for one in tree.iter() if one.tag in ("h1", "h2", "h3")] == ["h1", "h2", "h2", "h2", "h3", "h3"]
    assert {one.get("scope") for one in tree.iter("th")} == {"col", "row"}
    assert "No passages." in shown
    assert "prefers-color-scheme: dark" in html
    assert not any(one in html for one in ("src=", "href=", "url(", "@import"))
