"""The text of the guide for Neo4j Browser, and addresses of it."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from urllib.parse import unquote

from e2g_neo4j.browser.guide import HERE, asciidoc, html
from e2g_neo4j.browser.statements import evidence_address, literal
from e2g_neo4j.runtime.cypher import folder, load
from e2g_neo4j.types.results import Evidence, Pair, Passage

PARAMETERS = {
    "corpus": 'a "b" <c> & d',
    **{"title": "One", "index": 3, "first": "One", "second": "Two", "referred": "Two"},
    **{"name": "Ann", "limit": 12, "a": "Ann", "b": "Bob", "hops": 3},
}


def statements(text: str) -> list[str]:
    return re.findall(r"(?ms)^\[source,cypher\]\n----\n(.*?)\n----$", text)


def test_the_guide_has_every_saved_query_but_that_of_a_question() -> None:
    saved = {load(f"explore/{path.stem}") for path in folder("cypher").glob("explore/*.cypher")}
    listed = statements(asciidoc(PARAMETERS, "http://localhost:1/e2g.grass"))
    assert saved - set(listed) == {load("explore/evidence")}
    assert [one for one in listed if one.startswith(":")] == [
        ":style http://localhost:1/e2g.grass",
        ":config autoComplete: false",
        f":params {literal(PARAMETERS)}",
    ]


def test_the_slides_say_what_the_guide_says() -> None:
    text = asciidoc(PARAMETERS, "http://localhost:1/e2g.grass")
    slides = html(text)
    blocks = re.findall(r'(?s)<pre class="pre-scrollable code runnable">(.*?)</pre>', slides)
    assert [unescape(block) for block in blocks] == statements(text)
    assert re.findall("<h3>(.*?)</h3>", slides) == re.findall(r"(?m)^== (.*)$", text)
    assert slides.count("<slide") == slides.count("</slide>") == len(re.findall(r"(?m)^== ", text))
    told = re.sub("<.*?>", "", re.sub("(?s)<pre.*?</pre>", "", slides))
    prose = re.sub(r"(?ms)^\[source,cypher\]\n----\n.*?\n----$", "", text.split("\n", 1)[1])
    assert unescape(told).split() == re.sub(r"[`*]|(?m:^== )", "", prose).split()
    assert "<c>" not in slides


def test_what_a_corpus_does_not_have_is_not_asked_for() -> None:
    alone = asciidoc({"corpus": "c", "title": "One", "index": 0}, "")
    assert "== The tree" in alone
    for section in ("What two documents share", "Neighbourhood", "Between two entities"):
        assert f"== {section}" not in alone
    assert "== Why this evidence" in alone


def test_the_style_knows_every_label_and_type() -> None:
    written = "".join(path.read_text(encoding="utf-8") for path in folder("cypher").rglob("*.cypher"))
    style = (HERE / "e2g.grass").read_text(encoding="utf-8")
    types = set(re.findall(r"\[\w*:([A-Z_]+)", written)) - {"MIGRATED_TO", "REPEATED"}
    labels = set(re.findall(r"[(|\w]:([A-Z][a-z]+)\b", written)) - {"Staged"}
    assert set(re.findall(r"(?m)^node\.(\w+)", style)) == labels
    assert set(re.findall(r"(?m)^relationship\.(\w+)", style)) == types


def test_an_address_holds_the_statement_whatever_the_names_are() -> None:
    """As Browser takes it apart: all of it is decoded first."""
    name = 'Q&A #1? "100 %" + \\ ü ${x} $corpus'
    passage = Passage("", "d", "s", 0, 1, 1.0, nodes=("c1", "c2"))
    evidence = Evidence("?", (name,), "local", "", (name,), (Pair(name, "b", 1),), 3, (passage, passage))
    address = evidence_address("http://localhost:7474/browser/", evidence)
    assert re.fullmatch(r"http://localhost:7474/browser/\?cmd=edit&arg=[\w%.~-]+", address)
    [statement] = re.findall(r"[?&]arg=([^&#]*)", unquote(address.replace("+", " ")))
    harmless = literal(name).replace("&", "\\u0026").replace("#", "\\u0023").replace("?", "\\u003f")
    wanted = load("explore/evidence").replace("$pairs", f'[{{a: {harmless}, b: "b"}}]')
    for parameter, value in (("$corpora", f"[{harmless}]"), ("$nodes", '["c1", "c2"]'), ("$names", f"[{harmless}]")):
        wanted = wanted.replace(parameter, value)
    assert statement == wanted


def test_literals_are_cypher() -> None:
    value: dict[str, Any] = {"a": ['"x"', "\\"], "b": {"c": 1}}
    assert literal(value) == '{a: ["\\"x\\"", "\\\\"], b: {c: 1}}'
