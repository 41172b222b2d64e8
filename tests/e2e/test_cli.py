"""The command line as a user meets it, on the sample library and a real Neo4j."""

from __future__ import annotations

import io
import json
import re
import shlex
import signal
import subprocess
import sys
from importlib.metadata import version
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from fpdf import FPDF

from e2g_neo4j import E2G
from e2g_neo4j.cli.options import choose_corpus
from e2g_neo4j.cli.setup import LIBRARY
from e2g_neo4j.settings import Settings

CORPUS = "cut-sample"


@pytest.fixture(scope="module")
def environment(environment):
    environment.setenv("E2G_CHUNK_TOKENS", "300")
    environment.setenv("E2G_CHUNK_OVERLAP", "50")
    return environment


@pytest.fixture(scope="module")
def sample(environment, cut_sample):
    """The corpus that the sample library is in."""
    return cut_sample


@pytest.fixture
def run(environment, run):
    return run


@pytest.fixture
def held(driver):
    """What the database holds of some corpora, and what its index is made with."""

    def held(*corpora: str) -> tuple[list, list]:
        nodes = driver.execute_query(
            "MATCH (n) WHERE n.corpus IN $corpora OPTIONAL MATCH (n)-[r]->() "
            "RETURN n.corpus AS corpus, labels(n) AS labels, coalesce(n.id, n.key, n.name) AS id, n.state AS state, "
            "n.sha256, count(r) AS relationships ORDER BY corpus, labels, id",
            corpora=list(corpora),
        ).records
        made_with = driver.execute_query("MATCH (i:E2GIndex) RETURN properties(i) AS made_with").records
        return [row.data() for row in nodes], [row.data() for row in made_with]

    return held


def assert_one_line(err: str) -> None:
    assert err.startswith("Error: ")
    assert err.count("\n") == 1


def test_indexing_again_changes_nothing_and_says_so(run, sample):
    before = run("corpora", sample, "--json")
    code, out, _ = run("index", str(LIBRARY), "-c", sample)
    assert code == 0
    assert "Nothing to do: 12 documents" in out
    assert run("corpora", sample, "--json") == before


def test_good_files_are_indexed_beside_bad_ones_which_are_all_named(run, tmp_path, corpus):
    (tmp_path / "good.txt").write_text("Ann Harper met Bob Miller in Lantry.")
    german = (
        "Als der alte Mann den Brief gelesen hatte, schenkte er ihn seiner Tochter und ging in den Garten, wo er war."
    )
    (tmp_path / "brief.txt").write_text(german)
    bad = {"empty.txt": b"", "odd.txt": bytes(range(128, 256)), "broken.pdf": b"%PDF-1.4 broken"}
    for name, content in bad.items():
        (tmp_path / name).write_bytes(content)
    only_bad = [str(tmp_path / name) for name in bad]
    for arguments in ([str(tmp_path), "--strict"], [*only_bad, "--dry-run"], only_bad):
        code, _, err = run("index", *arguments, "-c", corpus)
        assert code == 4
        assert_one_line(err)
        assert all(name in err for name in bad)
    assert corpus not in json.loads(run("corpora", "--json")[1])
    code, out, _ = run("index", str(tmp_path), "-c", corpus, "--language", "en", "--dry-run", "--json")
    planned = json.loads(out)
    assert (code, planned["documents"], sorted(planned["failed"])) == (14, 2, sorted(only_bad))
    assert "German" in planned["warnings"][str(tmp_path / "brief.txt")]
    code, out, _ = run("index", str(tmp_path), "-c", corpus, "--language", "en")
    assert code == 14
    assert all(f"Left out: {path}" in out for path in only_bad)
    assert f"Warning: {tmp_path}/brief.txt is in German, and the corpus '{corpus}' in English" in out
    code, _, err = run("index", str(tmp_path), "-c", corpus, "--language", "de")
    assert (code, "is in English" in err) == (4, True)
    code, out, _ = run("index", str(tmp_path), "-c", corpus, "--json", "--property", "year=1887")
    report = json.loads(out)
    assert (code, report["unchanged"], report["failed"].keys()) == (14, 2, planned["failed"].keys())
    assert report["properties_replaced"] == 2
    assert report["warnings"] == {}  # of what was indexed now
    _, out, _ = run("index", str(tmp_path / "good.txt"), "-c", corpus, "--property", "year=1888")
    assert "properties replaced of 1" in out
    assert "Nothing to do" not in out
    _, out, _ = run("index", str(tmp_path / "good.txt"), "-c", corpus, "--property", "year=1888")
    assert "Nothing to do: 1 document" in out


def test_standard_input_and_titles(run, tmp_path, monkeypatch, corpus):

    def titles() -> dict[str, str]:
        return {one["source"]: one["title"] for one in json.loads(run("documents", "-c", corpus, "--json")[1])[corpus]}

    for arguments, source, title in (
        ([], "stdin", "Stdin"),
        (["--source", "diary/1908", "--title", "The\ndiary"], "diary/1908", "The diary"),
    ):
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO("Ann Harper met Zoë in Lantry.".encode())))
        assert run("index", "-", "-c", corpus, *arguments)[0] == 0
        assert titles()[source] == title
    file = tmp_path / "log.txt"
    file.write_text("Bob Miller sailed to Hesk.")
    for title in ("The log", "Another log"):  # also of a text that is indexed already
        assert run("index", str(file), "-c", corpus, "--title", title)[0] == 0
        assert titles()[str(file)] == title
    (tmp_path / "other.txt").write_text("Carol Finch wrote a letter.")
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(bytes(range(128, 256)))))
    for arguments, words in (
        ([str(tmp_path), "--title", "x"], "there are 2"),
        ([str(file), "--title", " "], "title is empty"),
        ([str(file), "--source", "x"], "--source"),
        (["-", str(file)], "standard input"),
        (["-"], "standard input is"),
    ):
        code, _, err = run("index", *arguments, "-c", corpus)
        assert code == 4
        assert_one_line(err)
        assert words in err


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


def test_a_citation_opens_in_its_document(run, sample):
    """The command that `query` names opens the first passage; titles and names of files are found too."""
    question = "Who really made the chronometer that Luke Farran saved?"
    passage = json.loads(run("query", question, "-c", sample, "--json")[1])["passages"][0]
    hint = run("query", question, "-c", sample)[1].splitlines()[-1]
    command = shlex.split(hint.partition("Open [1]: e2g ")[2])
    assert command[0] == "read"
    length = str(passage["end"] - passage["start"])
    for name in (command[1], passage["document"], Path(passage["source"]).name, passage["source"]):
        opened = json.loads(run("read", name, *command[2:], "--json", "--chars", length)[1])
        for field in ("source", "start", "end", "text", "page", "heading"):
            assert opened[field] == passage[field]
    out = run(*command, "--chars", length)[1]
    assert passage["document"] in out.splitlines()[0]
    assert passage["text"] in out
    for name, says in (("No such title", "neither by id or file"), (command[1], "no part of it")):
        code, _, err = run("read", name, "-c", sample, "--at", "10000000")
        assert code in (4, 5)
        assert_one_line(err)
        assert says in err


@pytest.mark.parametrize("unit", ["window", "chunk"])
def test_query_keeps_to_a_budget_in_tokens(run, sample, unit):
    """No text of 60 tokens has more than 60 words. The whole chunks of the sample have more."""
    question = "Who really made the chronometer that Luke Farran saved?"
    code, out, _ = run("query", question, "-c", sample, "--json", "--tokens", "60", "--unit", unit)
    passages = json.loads(out)["passages"]
    assert code == 0
    assert 20 < sum(len(passage["text"].split()) for passage in passages) <= 60


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


def test_a_conversation_carries_names_over_and_opens_passages(run, sample, monkeypatch):
    """Read from a pipe. A question that cannot be searched for does not end it."""
    lines = [
        "",
        "Who was Theodora Quill?",
        "99",
        "x" * 10_001,
        "When did she die?",
        "2",
        "exit",
        "Who was Peter Lisle?",
    ]
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines)))
    code, out, _ = run("chat", "-c", sample, "-k", "3")
    assert code == 0
    assert "There is no chat model (E2G_CHAT_MODEL)" in out
    assert "> When did she die?\nsearched as: When did she die? (Theodora Quill)\n" in out
    assert "Carried over from earlier turns: Theodora Quill." in out
    assert "There is no passage 99: 1 to " in out
    assert "the maximum is 10000" in out
    found = out[out.index("> When did") :]
    [(title, start)] = re.findall(r"^\[2\] ([^,\n]+),.* characters (\d+)-", found, re.MULTILINE)
    opened = found[found.index("> 2\n") :]
    assert re.match(rf"> 2\n{re.escape(title)}.*, characters {start}-", opened)
    assert "Peter Lisle" not in opened


def test_a_conversation_about_no_corpus_ends_with_an_error(run, sample, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("Who?\nWho else?\n"))
    code, out, err = run("chat", "-c", "no-such-corpus")
    assert code
    assert_one_line(err)
    assert "Who else?" not in out


def test_explain_prints_cypher_that_runs(run, sample, driver):
    _, out, _ = run("query", "Who really made the chronometer that Luke Farran saved?", "-c", sample, "--explain")
    assert "h=3" in out
    assert ':params {corpora: ["cut-sample"], ' in out
    statement = out[out.index("UNWIND $corpora") :]
    pairs = [{"a": "chronometer", "b": "luke farran"}]
    rows, _, _ = driver.execute_query(statement, corpora=[sample], pairs=pairs, nodes=[], names=[], database_="neo4j")
    assert rows


def test_names_that_never_meet_are_told_with_cypher_that_connects_them(run, sample, driver):
    _, out, _ = run("query", "Did Ivo Marsh know Cornelius Bright?", "-c", sample, "--explain")
    assert re.search(
        r"No passage of \d+ mentions cornelius bright with ivo marsh; the shortest path .* has \d edges\.", out
    )
    _, out = out.split("How cornelius bright and ivo marsh are connected:\n")
    given, statement = out.split("\n", 1)
    assert given.startswith(f':params {{corpus: "{sample}", a: "cornelius bright", b: "ivo marsh"')
    values = {"corpus": sample, "a": "cornelius bright", "b": "ivo marsh", "hops": 6}
    assert driver.execute_query(statement, values, database_="neo4j").records


def test_lists_and_counts(run, sample):
    _, out, _ = run("corpora", "--json")
    assert json.loads(out)[sample] == 12
    _, out, _ = run("documents", "-c", sample, "--json")
    documents = json.loads(out)[sample]
    assert len(documents) == 12
    assert {document["state"] for document in documents} == {"ready"}
    _, out, _ = run("corpora", sample, "--json")
    numbers = json.loads(out)
    assert numbers["documents"] == 12
    assert numbers["chunks"] == sum(document["chunks"] for document in documents)
    for name in ("summaries", "entities", "co_occurrences", "mentions"):
        assert numbers[name] > 0


def test_migrations_are_applied_and_valid(run, sample):
    run("doctor", "--migrate")
    assert run("doctor", "--migrate")[:2] == (0, "The schema is up to date.\n")
    assert "schema: The schema is that of" in run("doctor")[1]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["query", "Who?", "-c", "no-such"], 5, "e2g index"),
        (["query", "  ", "-c", CORPUS], 4, "empty"),
        (["query", "Who?", "-c", CORPUS, "-k", "0"], 4, "from 1 to 1000"),
        (["query", "Who?", "-c", CORPUS, "-k", "1001"], 4, "from 1 to 1000"),
        (["query", "Who?", "-c", CORPUS, "--tokens", "49"], 4, "from 50 to 1000000"),
        (["query", "Who?", "-c", CORPUS, "--unit", "window", "--mode", "tree"], 4, "ranks whole chunks"),
        (["query", "Who?", "-c", CORPUS, "--hops", "0"], 4, "from 1 to 6"),
        (["query", "Who?", "-c", CORPUS, "--hops", "9"], 4, "from 1 to 6"),
        (["index", "no/such/file.txt", "-c", "bad"], 4, "no/such/file.txt"),
        (["documents", "-c", "no-such"], 5, "e2g corpora"),
        (["documents", "-c", "CUT-sampel"], 5, "Did you mean 'cut-sample'?"),
        (["entities", "-c", CORPUS, "--type", "perso"], 4, "Did you mean 'person'?"),
        (["query", "Who was Walter Crail?", "-c", CORPUS, "--relationship-types", "ACTED_INN"], 4, "'ACTED_INN'"),
    ],
)
def test_bad_input_is_one_line_with_the_next_step(run, sample, arguments, code, says):
    got, _, err = run(*arguments)
    assert got == code
    assert_one_line(err)
    assert says in err


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("empty.txt", b"", "no text"),
        ("blank.md", b" \n\n ", "no text"),
        ("binary.txt", b"\x00\x01\x02" * 100, "binary"),
        ("odd.txt", bytes(range(128, 256)), "UTF-8"),
        ("broken.pdf", b"%PDF-1.4 nothing", "PDF"),
        ("scanned.pdf", b"", "OCR"),
        ("large.txt", b"It was the best of times. " * (50 * 2**20 // 26), "E2G_MAX_DOCUMENT_MB"),
        ("missing.txt", None, "does not exist"),
        ("archive.zip", b"PK", ".pdf"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_bad_file_leaves_the_database_as_it_was(run, sample, held, tmp_path, name, content, says):
    good, bad = tmp_path / "good.txt", tmp_path / name
    good.write_text("Alice met Bob in Paris. They spoke of the weather.")
    if name == "scanned.pdf":
        without_text = FPDF()
        without_text.add_page()
        without_text.rect(10, 10, 50, 50)
        content = bytes(without_text.output())
    if content is not None:
        bad.write_bytes(content)
    before = held("bad-files", sample)
    code, _, err = run("index", str(good), str(bad), "-c", "bad-files", "--strict")
    assert code == 4
    assert_one_line(err)
    assert name in err
    assert says in err
    assert held("bad-files", sample) == before


def test_names_full_of_quotes_and_backticks(run, sample, tmp_path):
    corpus = "quotes and-back_ticks."
    file = tmp_path / "we`ird 'name\".txt"
    file.write_text("Alice met Bob \"the `Rat`\" O'Neil in Paris. Bob O'Neil lived there.")
    assert run("index", str(file.parent), "-c", "`'\"; DROP\\ {x} $y")[0] == 4
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
        ({"NEO4J_URI": "http://127.0.0.1:7474"}, 3, "bolt://HOST:7687"),
        ({"NEO4J_DATABASE": "absent"}, 6, "NEO4J_DATABASE"),
        ({"E2G_TOP_K": "many"}, 3, "E2G_TOP_K"),
    ],
)
def test_a_database_that_cannot_be_used_is_explained(run, sample, held, tmp_path, monkeypatch, change, code, says):
    note = tmp_path / "note.txt"
    note.write_text("Alice met Bob in Paris.")
    before = held(sample)
    for name, value in change.items():
        monkeypatch.setenv(name, value)
    for command in (["corpora", CORPUS], ["index", str(note), "-c", CORPUS]):  # a third wrong password locks out
        got, _, err = run(*command)
        assert (got, says in err) == (code, True), err
        assert_one_line(err)
    assert held(sample) == before


@pytest.mark.parametrize("other", ["folder", "nobody/no-such-model"])
def test_a_corpus_keeps_its_embedding_model(run, sample, held, monkeypatch, tmp_path, other):
    """That of the settings is not loaded, so that nothing is downloaded."""
    if other == "folder":
        (tmp_path / other).mkdir()
        other = str(tmp_path / other)
    monkeypatch.setenv("E2G_EMBEDDING_MODEL", other)
    before = held(sample)
    assert run("query", "What became of Walter Crail?", "-c", CORPUS)[0] == 0
    code, out, _ = run("index", str(LIBRARY), "-c", CORPUS)
    assert (code, "Nothing to do" in out) == (0, True)
    assert held(sample) == before


def test_debug_shows_the_trace(run, sample):
    _, _, err = run("documents", "-c", "no-such", "--debug")
    assert "Traceback" in err
    assert err.rstrip().splitlines()[-1].startswith("Error: ")


def test_an_interrupt_is_one_line_that_says_what_stays(run, monkeypatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("e2g_neo4j.client.E2G.corpora", interrupted)
    code, out, err = run("corpora")
    assert (code, out) == (130, "")
    assert err == "Error: Stopped. Finished work is kept; run the same command again for the rest.\n"


@pytest.mark.full
def test_ctrl_c_is_answered_at_once(environment, tmp_path):
    """A real signal to a real process."""
    command = [
        sys.executable,
        "-c",
        "import time; from e2g_neo4j import cli; import e2g_neo4j.cli.app as app\n"
        "app.app.command('wait')(lambda: (print('ready', flush=True), time.sleep(60)))\ncli.main()",
        "wait",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == "\nStopping …\nError: Stopped. Finished work is kept; run the same command again for the rest.\n"


def test_a_mistyped_mode_is_suggested(run, sample):
    code, _, err = run("query", "Who was Walter Crail?", "-c", sample, "--mode", "atuo")
    assert code == 2
    assert "Did you mean 'auto'?" in " ".join(err.replace("│", " ").split())


@pytest.mark.parametrize(
    "options", ["--join Crail --document Minutes", "--split Crail --merges", "--card --join Crail"]
)
def test_options_of_entities_that_exclude_each_other_are_refused(run, sample, options):
    code, _, err = run("entities", *options.split(), "-c", sample)
    assert code == 2
    assert "--split" in err


def test_a_mistyped_setting_is_a_warning(run, sample, monkeypatch, caplog):
    monkeypatch.setenv("E2G_TOPK", "3")
    assert run("corpora", sample)[0] == 0
    assert "E2G_TOPK is not a setting and has no effect. Did you mean 'E2G_TOP_K'?" in caplog.text


def test_a_file_is_replaced_only_on_request(run, sample, tmp_path):
    file = tmp_path / "drawn.html"
    draw = ["query", "Who really made the chronometer that Luke Farran saved?", "-c", sample, "--html", str(file)]
    file.write_text("mine")
    code, _, err = run(*draw)
    assert code == 4
    assert "--overwrite" in err
    assert file.read_text() == "mine"
    assert run(*draw, "--overwrite")[0] == 0
    assert "<html" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize(("names", "chosen"), [(["novels"], "novels"), (["a", "b"], "default"), ([], "default")])
def test_the_only_corpus_is_the_one_that_is_meant(run, monkeypatch, names, chosen):
    monkeypatch.setattr("e2g_neo4j.client.E2G.corpora", lambda self: dict.fromkeys(names, 1))
    with E2G() as client:
        assert choose_corpus(client, None) == chosen
        assert choose_corpus(client, "other") == "other"


def test_the_version_is_printed(run):
    code, out, _ = run("--version")
    assert (code, out) == (0, f"e2g-neo4j {version('e2g-neo4j')}\n")


def test_init_writes_every_setting_with_its_default(run, tmp_path, monkeypatch):
    file = tmp_path / "settings.env"
    assert run("init", str(file))[0] == 0
    assert run("init", str(file))[0] == 4
    lines = file.read_text(encoding="utf-8").splitlines()
    assert all(line.startswith("#") for line in lines if line)
    chosen = [line[2:] for line in lines if "=" in line and line.startswith("# E2G_") and not line.endswith("=")]
    file.write_text("\n".join(chosen), encoding="utf-8")
    monkeypatch.delenv("E2G_CHUNK_TOKENS")
    monkeypatch.delenv("E2G_CHUNK_OVERLAP")
    monkeypatch.delenv("E2G_WORKERS")
    assert len(chosen) > 15
    assert Settings(_env_file=file) == Settings(_env_file=None)


def test_a_question_needs_no_quotes_and_a_method_without_a_model_says_so(run, sample) -> None:
    words = ("Who", "made", "the", "chronometer")
    for options in ([], ["--compare", "auto,dense"]):
        code, out, err = run("query", *words, "--corpus", sample, "--json", *options)
        assert code == 0, err
        assert json.loads(out)["question"] == "Who made the chronometer"
    for method in ("global", "map-reduce", "drift"):
        code, out, err = run("ask", *words, "--corpus", sample, "--method", method)
        assert code == 0, err
        assert f"The method {method} needs a chat model: set E2G_CHAT_MODEL" in err
    assert "needs a chat model" not in run("ask", *words, "--corpus", sample)[2]
