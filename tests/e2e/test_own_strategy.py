"""A mode from outside the package: the one of docs/strategies/own.md, asked as it stands there."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from math import nan
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from at_server import variables_of
from libraries import remove
from neo4j import Driver

from e2g_neo4j import E2G, Settings, Strategy, from_text
from e2g_neo4j.errors import ConfigurationError, QueryError
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.retrieval.query import Query, Ranking
from e2g_neo4j.retrieval.strategies import STRATEGIES
from e2g_neo4j.testing import check_mode

PAGE = Path(__file__).parents[2] / "docs" / "strategies" / "own.md"
QUESTION = "Where did Ann Walker meet Bob Miller?"
TEXTS = {
    "both": "Ann Walker met Bob Miller in Whitby.",
    "one": "Ann Walker never went to London.",
    "none": "Carl Weber stayed in Vienna.",
}


@pytest.fixture(scope="module")
def corpora(driver: Driver, settings: Settings) -> Iterator[tuple[str, str]]:
    """Two corpora with the same texts but for a last sentence, because equal passages count once."""
    names = (f"own-{uuid4().hex}", f"own-{uuid4().hex}")
    with E2G(settings=settings) as client:
        for corpus, end in zip(names, ("So it was told.", "Nobody knows."), strict=True):
            documents = [
                from_text(f"{text} {end}", corpus=corpus, source=title, title=title, properties={"kind": title})
                for title, text in TEXTS.items()
            ]
            client.index(documents, corpus=corpus)
    yield names
    remove(driver, list(names))


@pytest.fixture
def named(tmp_path: Path) -> Strategy:
    """The mode of the page, from files in a folder of its own."""
    text = PAGE.read_text(encoding="utf-8")
    for language, file in (("cypher", "named.cypher"), ("python", "named.py")):
        block, *_ = re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        (tmp_path / file).write_text(block, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("named", tmp_path / "named.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    strategy: Strategy = module.NAMED
    return strategy


def test_a_mode_of_two_files_is_asked_like_the_others(
    settings: Settings, corpora: tuple[str, str], named: Strategy
) -> None:
    corpus, _ = corpora
    with E2G(settings=settings, strategies=[named]) as client:
        found = client.retrieve(QUESTION, corpus=corpus, mode="named")
        assert [(one.document, one.score) for one in found.passages] == [("both", 2), ("one", 1)]
        assert found.mode == "named"
        assert found.route == "local"
        assert "the number of entities that they mention rank the text." in found.reason
        whole = client.retrieve(QUESTION, corpus=corpus, mode="named", unit="chunk")
        assert [one.document for one in whole.passages] == ["both", "one"]
        fewer = client.retrieve(QUESTION, corpus=corpus, mode="named", where={"kind": ["one", "none"]})
        assert [one.document for one in fewer.passages] == ["one"]
        together = client.retrieve(QUESTION, corpora=corpora, mode="named")
        assert sorted((one.corpus, one.document) for one in together.passages) == sorted(
            (one, document) for one in corpora for document in ("both", "one")
        )
        assert client.retrieve("Why?", corpus=corpus, mode="named").passages == ()


def test_it_keeps_the_rules(settings: Settings, corpora: tuple[str, str], named: Strategy) -> None:
    with E2G(settings=settings, strategies=[named]) as client:
        found = check_mode(client, "named", QUESTION, corpora=corpora[:1], where={"kind": ["one", "none"]})
        assert (found.mode, found.corpora) == ("named", corpora[:1])


TURN = count()

RULES: dict[str, Callable[[Query, list[Any]], list[Any]]] = {
    "A score is nan": lambda query, ranked: [(unit, nan) for unit, _ in ranked],
    "finds nothing for": lambda query, ranked: [],
    "Asked again, of": lambda query, ranked: ranked[: 1 + next(TURN) % 2],
}


@pytest.mark.parametrize("rule", RULES)
def test_a_mode_that_breaks_a_rule_is_told_which(
    settings: Settings, corpora: tuple[str, str], named: Strategy, rule: str
) -> None:
    by_names = named.rank_windows
    assert by_names is not None

    def rank(query: Query) -> Ranking:
        return RULES[rule](query, (yield from by_names(query)))

    broken = replace(named, name="broken", rank_windows=rank)
    with E2G(settings=settings, strategies=[broken]) as client, pytest.raises(AssertionError, match=rule):
        check_mode(client, "broken", QUESTION, corpora=corpora[:1])


def test_a_statement_that_ignores_the_filter_is_found(
    settings: Settings, corpora: tuple[str, str], named: Strategy, tmp_path: Path
) -> None:
    statement = tmp_path / "named.cypher"
    text = statement.read_text(encoding="utf-8")
    statement.write_text(text.replace("$documents IS NULL OR", "$documents IS NOT NULL OR true OR"), encoding="utf-8")
    with (
        E2G(settings=settings, strategies=[named]) as client,
        pytest.raises(AssertionError, match=r"passages of \['both'.*do not meet"),
    ):
        check_mode(client, "named", QUESTION, corpora=corpora[:1], where={"kind": ["one", "none"]})


def test_modes_are_listed_with_what_a_corpus_lacks(
    settings: Settings, corpora: tuple[str, str], named: Strategy
) -> None:
    with E2G(settings=settings, strategies=[named]) as client:
        assert {one.available for one in client.modes()} == {None}
        modes = {one.name: one for one in client.modes(corpora)}
        own = modes["named"]
        assert (own.available, own.needs, own.ranks) == (True, ("entities",), "windows")
        assert modes["auto"].available
        lacking = {name for name, one in modes.items() if not one.available}
        layered = {"communities", "lazy", "vector_context", "synonyms", "graphrag_local", "raptor"}
        assert lacking == layered | {"linear", "hipporag"}
        for name in lacking:
            with pytest.raises(QueryError) as refused:
                client.retrieve(QUESTION, corpora=corpora, mode=name)
            assert str(refused.value) in str(modes[name].missing)


def test_only_its_client_knows_it(settings: Settings, corpora: tuple[str, str], named: Strategy) -> None:
    with E2G(settings=settings, strategies=[named]) as knows, E2G(settings=settings) as other:
        with pytest.raises(QueryError, match=r"There is no mode 'name'\. Did you mean 'named'\?"):
            knows.retrieve(QUESTION, corpus=corpora[0], mode="name")
        with pytest.raises(QueryError, match=r"There is no mode 'named'\. Modes: auto"):
            other.retrieve(QUESTION, corpus=corpora[0], mode="named")


def test_installed_packages_add_modes_to_the_command_line(
    neo4j_connection: Connection, corpora: tuple[str, str], named: Strategy, tmp_path: Path
) -> None:
    """As pip leaves them: the files, and what they declare. One of them is broken."""
    assert named
    for package, value in (("named", "named:NAMED"), ("broken", "nowhere:MODE")):
        info = tmp_path / f"{package}_mode-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}-mode\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[e2g_neo4j.modes]\n{package} = {value}\n")
    variables = {**os.environ, **variables_of(neo4j_connection), "PYTHONPATH": str(tmp_path)}
    e2g = [str(Path(sys.executable).with_name("e2g"))]

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*e2g, *arguments], cwd=tmp_path, env=variables, capture_output=True, text=True)

    done = run("query", QUESTION, "--corpus", corpora[0], "--mode", "named", "--json")
    assert done.returncode == 0, done.stderr
    assert [one["document"] for one in json.loads(done.stdout)["passages"]] == ["both", "one"]
    assert "The package broken-mode has the mode 'broken', which cannot be used: No module named" in done.stderr
    listed = json.loads(run("modes", "--json").stdout)["modes"]
    assert [one["name"] for one in listed] == [*STRATEGIES, "named"]


@pytest.mark.parametrize("parameter", ["$corpus", "$documents"])
def test_a_statement_that_searches_more_than_it_was_asked_to_is_refused(
    settings: Settings, corpora: tuple[str, str], named: Strategy, tmp_path: Path, parameter: str
) -> None:
    statement = tmp_path / "named.cypher"
    statement.write_text(statement.read_text(encoding="utf-8").replace(parameter, "$names"), encoding="utf-8")
    with (
        E2G(settings=settings, strategies=[named]) as client,
        pytest.raises(ConfigurationError, match=re.escape(f"does not use {parameter}")),
    ):
        client.retrieve(QUESTION, corpus=corpora[0], mode="named")


def test_a_missing_statement_is_named(
    settings: Settings, corpora: tuple[str, str], named: Strategy, tmp_path: Path
) -> None:
    (tmp_path / "named.cypher").unlink()
    with (
        E2G(settings=settings, strategies=[named]) as client,
        pytest.raises(ConfigurationError, match=r"The statement named\.cypher is missing in .*: add the file\."),
    ):
        client.retrieve(QUESTION, corpus=corpora[0], mode="named")
