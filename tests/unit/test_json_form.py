"""The JSON form of results is complete: what `to_dict` makes, `from_dict` reads."""

from __future__ import annotations

import json

from pydantic_core import to_json

from e2g_neo4j.types.results import (
    Answer,
    Citation,
    CitedReport,
    Evidence,
    Excerpt,
    Fact,
    Pair,
    Passage,
    Point,
    Reference,
    Round,
    TextNode,
)

PASSAGE = Passage(
    "Ann met Bob.",
    "The log",
    "log.txt",
    10,
    22,
    0.5,
    nodes=("d-1", "d-2"),
    path=("d-9",),
    pairs=(Pair("ann", "bob", 1),),
    page="3–4",
    corpus="log",
    text_node=TextNode("4:1", "k", 0, 12),
    document_id="d",
    excerpt=Excerpt("met Bob.", 14, 22),
    referred=Reference("the log", "e-1"),
)
FACT = Fact("Ann", "4:1", "KNOWS", "Bob", "4:2", {"since": "1870"}, ("ann",))
EVIDENCE = Evidence(
    "Who?",
    ("log",),
    "local",
    "Because.",
    ("ann", "bob"),
    (Pair("ann", "bob", 1),),
    2,
    (PASSAGE,),
    trace=(Round(2, 1, 1),),
    facts=(FACT,),
    entity_types={"ann": "person"},
)
ANSWER = Answer(
    "Ann [1].",
    EVIDENCE,
    given=(PASSAGE,),
    citations=(Citation(1, PASSAGE, FACT, url="http://localhost/ui/"),),
    dropped=(7,),
    distribution={"A": 0.5},
    calls=2,
    points=(Point("Ann met Bob.", 80, (1,), (CitedReport("log", "c1", 2, "Ann, Bob"),)),),
)


def test_results_are_read_as_they_were_written() -> None:
    for result in (PASSAGE, FACT, EVIDENCE, ANSWER, ANSWER.citations[0], Answer(None, EVIDENCE)):
        written = json.loads(json.dumps(result.to_dict()))
        assert type(result).from_dict({**written, "unknown": 1}) == result
        assert json.loads(to_json(result)) == written, "the service has the same form"
    read = Answer.from_dict(ANSWER.to_dict())
    assert read.citations[0].url == "http://localhost/ui/"
    for passage in (*read.given, *read.evidence.passages, read.citations[0].passage):
        assert (passage.excerpt, passage.referred) == (PASSAGE.excerpt, PASSAGE.referred)


def test_the_form_has_the_names_of_the_fields() -> None:
    written = ANSWER.to_dict()
    assert {"text", "found", "finished", "citations", "given", "evidence", "calls", "prompt_tokens"} <= written.keys()
    [citation] = written["citations"]
    assert citation.keys() == {"number", "passage", "fact", "url"}
    assert (citation["passage"]["document_id"], citation["fact"]["properties"]) == ("d", {"since": "1870"})
