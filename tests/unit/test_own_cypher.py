"""`e2g cypher` without a question: the statements of the package, as people paste them into Browser."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from e2g_neo4j.cli import main
from e2g_neo4j.runtime.cypher import Variant, header, load, statement_names
from e2g_neo4j.types.ids import HIDDEN_LABELS, check_users_label


def command(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["e2g", "cypher", *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    return int(left.value.code or 0)


def test_all_statements_are_listed_with_their_purpose(monkeypatch, capsys) -> None:
    assert not command(monkeypatch)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[0] for line in lines] == statement_names()
    assert "query/dense: The $limit windows nearest to a vector." in lines
    assert not command(monkeypatch, "--json")
    listed = json.loads(capsys.readouterr().out)["statements"]
    assert [f"{one['name']}: {one['purpose']}" for one in listed] == lines
    assert not [line for line in lines if "fragments/" in line.split(": ")[0]]


@pytest.mark.parametrize(
    ("flags", "variant"),
    [((), Variant.SEARCH), (("--filtered",), Variant.FILTERED), (("--lts",), Variant.LTS)],
)
def test_a_statement_is_printed_composed_with_its_header(monkeypatch, capsys, flags, variant) -> None:
    assert not command(monkeypatch, "--show", "query/nearest", *flags)
    printed = capsys.readouterr().out
    assert printed == f"{header('query/nearest')}\n{load('query/nearest', variant)}\n"
    assert "include:" not in printed
    assert not command(monkeypatch, "--show", "query/nearest", *flags, "--json")
    told = json.loads(capsys.readouterr().out)
    assert told == {
        "name": "query/nearest",
        "header": header("query/nearest"),
        "statement": load("query/nearest", variant),
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--show", "query/neares"), "Did you mean 'query/nearest'?"),
        (("Who?", "--show", "query/nearest"), "leave out the question"),
        (("Who?", "--lts"), "leave out the question"),
    ],
)
def test_what_is_refused(monkeypatch, capsys, arguments, message) -> None:
    assert command(monkeypatch, *arguments) == 4
    assert message in capsys.readouterr().err


def test_hidden_labels_are_those_of_the_statements_and_no_others() -> None:
    folder = Path(__file__).parents[2]
    texts = [file.read_text() for part in ("cypher", "migrations") for file in (folder / part).rglob("*.cypher")]
    hidden = r":((?:E2G|Staged|Outdated|Uncounted|Unlinked|Cached|__)\w*)"
    assert {label for text in texts for label in re.findall(hidden, text)} == HIDDEN_LABELS
    for label in ("__Entity__", "__KGBuilder__", "__Node__", "CachedArticle", "StagedPlay", "e2gNode"):
        check_users_label(label)
