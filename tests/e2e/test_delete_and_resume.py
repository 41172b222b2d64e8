"""Documents come, change, fail, are taken up again and go, through the command line and the client."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from e2g_neo4j import E2G, Settings
from e2g_neo4j.cli.setup import LIBRARY
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import INCOMPLETE, NotFoundError, QueryError, ReadingError
from e2g_neo4j.indexing import reading
from e2g_neo4j.indexing.summaries.extractive import ExtractiveSummariser
from e2g_neo4j.models.embedding.windows import embed_long, embed_with_parts
from e2g_neo4j.models.entities.extraction import extract_all

T = TypeVar("T")
NAMES = ["Anna", "Bertha", "Clara", "Dora", "Emma", "Frida", "Greta", "Hanna", "Ida", "Jonna", "Klara", "Lotta"] * 2
TEXTS = {
    "ann.txt": "Ann Harper met Bob Miller in Paris. Bob Miller had a letter from Carol Dean.",
    "bob.txt": "Bob Miller sailed to Lisbon. In Lisbon he sold the letter to Dora Finch.",
    "carol.txt": "Carol Dean waited in Paris for Ann Harper. Nobody came.",
}


@pytest.fixture
def run(environment, run):
    return run


@pytest.fixture
def library(tmp_path: Path) -> Path:
    folder = tmp_path / "library"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    return folder


def states(client: E2G, corpus: str) -> dict[str, str]:
    return {Path(one.source).name: one.state for one in client.documents(corpus)}


def test_files_that_are_gone_are_told_and_pruned(client, library, corpus, run):
    client.index([library], corpus=corpus)
    (library / "ann.txt").unlink()
    (library / "carol.txt").unlink()
    elsewhere = library.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "dora.txt").write_text("Dora Finch was never seen again.")
    gone = sorted(str(library / name) for name in ("ann.txt", "carol.txt"))
    told = client.index([elsewhere], corpus=corpus)
    assert (told.documents, told.gone) == (1, []), "in another folder"
    (elsewhere / "dora.txt").unlink()
    assert client.index([library], corpus=corpus, dry_run=True).gone == gone
    told = client.index([library / "bob.txt"], corpus=corpus)
    assert (told.unchanged, told.gone) == (1, []), "a file is no folder"
    told = client.index([library], corpus=corpus)
    assert (told.unchanged, told.gone, told.pruned) == (1, gone, 0)
    assert set(states(client, corpus)) == {*TEXTS, "dora.txt"}
    code, out, _ = run("index", str(library), "--corpus", corpus)
    assert (code, " ".join(out.split()).count("its document is kept. To delete it, run `e2g delete")) == (0, 2)
    code, out, _ = run("index", str(library), "--corpus", corpus, "--prune", "--json")
    assert (json.loads(out)["gone"], json.loads(out)["pruned"]) == (gone, 2)
    assert set(states(client, corpus)) == {"bob.txt", "dora.txt"}
    assert "carol dean" not in {one.key for one in client.entities(corpus=corpus)}
    assert client.index([library], corpus=corpus, prune=True).pruned == 0


def test_a_renamed_file_keeps_its_document(client, library, corpus, driver):
    vectors = "MATCH (w:Window {corpus: $corpus}) RETURN w.id AS id, w.embedding AS vector ORDER BY id"

    def held() -> list[tuple[str, list[float]]]:
        return [(row["id"], row["vector"]) for row in driver.execute_query(vectors, corpus=corpus).records]

    client.index([library], corpus=corpus)
    before, kept = {one.source: one.id for one in client.documents(corpus)}, held()
    (library / "below").mkdir()
    old, new = str(library / "ann.txt"), str(library / "below" / "harper.txt")
    Path(old).rename(new)
    planned = client.index([library], corpus=corpus, dry_run=True)
    assert (planned.renamed, planned.gone, planned.chunks, planned.documents) == ({old: new}, [], 0, 1)
    report = client.index([library], corpus=corpus, prune=True)
    assert (report.renamed, report.gone, report.pruned) == ({old: new}, [], 0)
    assert (report.documents, report.unchanged, report.chunks, report.kept) == (1, 2, 0, 1)
    [one] = [one for one in client.documents(corpus) if one.source == new]
    assert (one.id, one.title, held()) == (before[old], "Harper", kept)
    again = client.index([library], corpus=corpus)
    assert (again.unchanged, again.renamed, again.gone) == (3, {}, [])

    # A new file with the name that it had is another document; a file that is copied is, too.
    Path(old).write_text("Ann Harper came home.")
    (library / "copy.txt").write_text(TEXTS["bob.txt"])
    report = client.index([library], corpus=corpus)
    assert (report.documents, report.replaced, report.unchanged, report.renamed) == (2, 0, 3, {})
    Path(old).write_text("Ann Harper came home again.")
    report = client.index([old], corpus=corpus)
    assert (report.documents, report.replaced) == (1, 1)
    ids = {one.source: one.id for one in client.documents(corpus)}
    assert (len(ids), len(set(ids.values())), ids[new]) == (5, 5, before[old])
    assert client.resume(corpus=corpus).documents == 0


def test_delete_by_file_title_id_and_folder(client, library, corpus):
    client.index([library], corpus=corpus)
    ann, bob, carol = sorted(client.documents(corpus), key=lambda one: one.source)
    assert client.delete([library / "ann.txt"], corpus=corpus) == [ann]
    assert client.delete([bob.title], corpus=corpus) == [bob]
    assert client.delete([carol.id], corpus=corpus) == [carol]
    with pytest.raises(NotFoundError):
        client.stats(corpus)
    client.index([library], corpus=corpus)
    (library / "ann.txt").unlink()  # what the database holds can be deleted when the file is gone
    assert len(client.delete([library], corpus=corpus)) == 3
    assert corpus not in client.corpora()


def test_what_one_document_contributed_goes_with_it(client, library, corpus, driver):
    client.index([library], corpus=corpus)
    client.delete([library / "bob.txt"], corpus=corpus)
    client.index([library / "ann.txt", library / "carol.txt"], corpus=f"{corpus}-fresh")
    assert client.stats(corpus) == client.stats(f"{corpus}-fresh")
    names = driver.execute_query("MATCH (e:Entity {corpus: $corpus}) RETURN e.key AS name", corpus=corpus).records
    assert "lisbon" not in {row["name"] for row in names}
    client.delete(corpus=corpus)
    client.delete(corpus=f"{corpus}-fresh")
    left = driver.execute_query("MATCH (n) WHERE n.corpus STARTS WITH $corpus RETURN labels(n)", corpus=corpus)
    assert left.records == []


def test_nothing_is_deleted_where_one_target_is_unknown(client, library, corpus):
    client.index([library], corpus=corpus)
    with pytest.raises(NotFoundError, match="Nothing was deleted"):
        client.delete([library / "ann.txt", "no such"], corpus=corpus)
    with pytest.raises(NotFoundError):
        client.delete(["ann.txt"], corpus=f"{corpus}-none")
    client.index(
        [from_text(TEXTS["ann.txt"], corpus=corpus, source=place, title="Twice") for place in "xy"], corpus=corpus
    )
    with pytest.raises(QueryError, match="2 documents"):
        client.delete(["Twice", "x"], corpus=corpus)
    assert len(client.documents(corpus)) == 5
    client.delete(corpus=corpus)


def nodes(driver, corpus: str) -> dict[tuple[str, str], str]:
    """The database's own ids of chunks, windows, summaries and entities, by what they are called here."""
    found = driver.execute_query(
        "MATCH (n:Chunk|Window|Summary|Entity {corpus: $corpus}) "
        "RETURN labels(n)[0] AS label, coalesce(n.id, n.name) AS id, elementId(n) AS element",
        corpus=corpus,
    ).records
    return {(row["label"], row["id"]): row["element"] for row in found}


def placed(driver, corpus: str) -> list[list[object]]:
    """Where chunks and windows are in their document, in order, and what the entities of each chunk are. Of ids what
    comes after that of the document, which depends on the corpus."""
    return driver.execute_query(
        "MATCH (c:Chunk {corpus: $corpus}) "
        "OPTIONAL MATCH (c)-[:NEXT_CHUNK]->(n) "
        "WITH c, n ORDER BY c.index "
        "RETURN substring(c.id, size(c.document)) AS id, c.index, c.start, c.end, "
        "  substring(n.id, size(c.document)) AS next, COLLECT { "
        "  MATCH (w:Window)-[:PART_OF]->(c) WITH w ORDER BY w.index RETURN [w.start, w.end, w.text] "
        "} AS windows, COLLECT { "
        "  MATCH (e:Entity)-[m:FROM_CHUNK]->(c) WITH e, m ORDER BY e.name RETURN [e.name, m.count, m.sentences] "
        "} AS mentions",
        corpus=corpus,
    ).records


@pytest.mark.full
def test_a_word_more_in_a_long_text_reads_and_summarises_what_it_touches_only(environment, corpus, driver, monkeypatch):
    text = "\n\n".join(path.read_text(encoding="utf-8") for path in sorted(LIBRARY.glob("*.md")))
    settings = Settings(chunk_tokens=100, chunk_overlap=20, summary_tokens=60, group_size=3)
    place = text.index(" ", len(text) // 2)
    edited = f"{text[:place]} splendid{text[place:]}"
    asked: Counter[str] = Counter()

    def counting(name: str, texts: Iterable[T]) -> Iterator[T]:
        for one in texts:
            asked[name] += 1
            yield one

    summarise = ExtractiveSummariser.summarise
    monkeypatch.setattr(
        reading, "extract_all", lambda nlp, texts, workers: extract_all(nlp, counting("extracted", texts), workers)
    )
    monkeypatch.setattr(
        reading, "embed_with_parts", lambda model, texts: embed_with_parts(model, counting("embedded", texts))
    )
    monkeypatch.setattr(
        "e2g_neo4j.indexing.run.embed_long",
        lambda model, texts: embed_long(model, counting("summaries embedded", texts)),
    )
    monkeypatch.setattr(
        ExtractiveSummariser, "summarise", lambda self, prose: (asked.update(["summarised"]), summarise(self, prose))[1]
    )
    with E2G(settings=settings) as e2g:
        first = e2g.index([from_text(text, corpus=corpus, source="x", title="Long")], corpus=corpus)
        whole, before = Counter(asked), nodes(driver, corpus)
        asked.clear()
        second = e2g.index([from_text(edited, corpus=corpus, source="x", title="Long")], corpus=corpus)
        fresh = f"{corpus}-fresh"
        after, edit = nodes(driver, corpus), Counter(asked)
        e2g.index([from_text(edited, corpus=fresh, source="x", title="Long")], corpus=fresh)
        levels = len(first.summaries_by_level)
        assert first.chunks == whole["extracted"] == whole["embedded"] >= 60
        assert levels >= 3
        assert 1 <= second.chunks <= 4
        assert second.chunks + second.kept == len(placed(driver, corpus))
        assert edit["extracted"] == edit["embedded"] <= 5 * second.chunks, "also what the same summary stands on"
        assert edit["summarised"] <= second.chunks * levels < whole["summarised"] / 2
        assert edit["summaries embedded"] <= edit["summarised"] < whole["summaries embedded"]
        made, all_made = (sum(one.summaries_by_level.values()) for one in (second, first))
        assert edit["summarised"] <= made < all_made / 2
        assert made + second.summaries_kept == sum(label == "Summary" for label, _ in after)
        stayed = before.keys() & after.keys()
        assert {name: before[name] for name in stayed} == {name: after[name] for name in stayed}
        assert len([one for one in stayed if one[0] == "Chunk"]) == second.kept
        assert placed(driver, corpus) == placed(driver, fresh)
        for one in (corpus, fresh):
            e2g.delete(corpus=one)


def test_a_document_that_was_cut_by_other_rules_is_indexed_again(environment, library, corpus, driver):
    with E2G() as e2g:
        e2g.index([library / "ann.txt"], corpus=corpus)
        driver.execute_query("MATCH (d:Document {corpus: $corpus}) SET d.chunker = 'another'", corpus=corpus)
        assert e2g.index([library / "ann.txt"], corpus=corpus).replaced == 1
        assert e2g.index([library / "ann.txt"], corpus=corpus).unchanged == 1
        e2g.delete(corpus=corpus)


def test_the_command_says_what_was_kept(run, client, library, corpus, monkeypatch):
    monkeypatch.setenv("E2G_CHUNK_TOKENS", "40")
    monkeypatch.setenv("E2G_CHUNK_OVERLAP", "10")
    lines = [f"On day {number} the {name} sailed to the harbour of {name}ton." for number, name in enumerate(NAMES)]
    (library / "log.txt").write_text(" ".join(lines))
    run("index", str(library / "log.txt"), "--corpus", corpus)
    (library / "log.txt").write_text(" ".join([*lines, "Then it was over."]))
    _, out, _ = run("index", str(library / "log.txt"), "--corpus", corpus)
    assert " reused" in out
    client.delete(corpus=corpus)


def test_the_command_asks_before_it_deletes(run, client, library, corpus, monkeypatch):
    client.index([library], corpus=corpus)
    asked: list[str] = []

    def confirmed(question: str, **options: object) -> bool:
        asked.append(question)
        return True

    monkeypatch.setattr("typer.confirm", confirmed)
    code, out, _ = run("delete", str(library / "ann.txt"), "--corpus", corpus)
    assert (code, out) == (0, f"Deleted 1 document of the corpus {corpus}.\n")
    assert str(library / "ann.txt") in asked[0]
    assert run("delete", "--corpus", corpus, "--yes")[1] == f"Deleted 2 documents of the corpus {corpus}.\n"
    assert len(asked) == 1


def test_without_an_answer_nothing_is_deleted(client, library, corpus):
    client.index([library], corpus=corpus)
    command = [str(Path(sys.executable).parent / "e2g"), "delete", "--corpus", corpus]
    done = subprocess.run(command, input="n\n", capture_output=True, text=True, env=os.environ)
    assert done.returncode == 1
    assert "3 documents" in done.stdout + done.stderr
    assert len(client.documents(corpus)) == 3


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["delete", "--corpus", "no-such", "--yes"], 5, "e2g corpora"),
        (["delete", "x.txt", "--yes"], 4, "--corpus NAME"),
        (["index", "--resume", "--corpus", "no-such"], 5, "e2g corpora"),
        (["index", "--corpus", "no-such"], 4, "--resume"),
        (["index", "--resume", "x.txt"], 4, "--resume"),
        (["index", "--resume", "--prune"], 4, "--resume reads the documents as before"),
    ],
)
def test_errors_are_one_line_with_the_next_step(run, arguments, code, says):
    got, _, err = run(*arguments)
    assert got == code
    assert err.startswith("Error: ")
    assert err.count("\n") == 1
    assert says in err


def test_a_failure_is_recorded_and_resumed(run, client, library, corpus, monkeypatch):
    client.index([library / "ann.txt"], corpus=corpus)

    def broken(*arguments: object) -> None:
        raise MemoryError("The model broke down.")

    (library / "ann.txt").write_text(TEXTS["ann.txt"] + " Dora Finch came too.")
    monkeypatch.setattr("e2g_neo4j.indexing.run.embed_long", broken)
    with pytest.raises(MemoryError):
        client.index([library / "ann.txt", library / "bob.txt"], corpus=corpus)
    monkeypatch.setattr("e2g_neo4j.indexing.run.embed_long", embed_long)
    assert states(client, corpus) == {"ann.txt": "failed", "bob.txt": "failed"}
    assert [one.visible for one in sorted(client.documents(corpus), key=lambda one: one.source)] == [True, False]
    assert "dora finch" not in client.retrieve("Who is Dora Finch?", corpus=corpus).entities
    _, out, _ = run("documents", "--corpus", corpus)
    assert "The model broke down." in out
    assert f"e2g index --resume --corpus {corpus}" in out
    (library / "bob.txt").rename(library / "moved.txt")
    code, out, _ = run("index", "--resume", "--corpus", corpus)
    assert code == INCOMPLETE
    assert "bob.txt" in out
    assert states(client, corpus) == {"ann.txt": "ready", "bob.txt": "failed"}
    assert "dora finch" in client.retrieve("Who is Dora Finch?", corpus=corpus).entities
    (library / "moved.txt").rename(library / "bob.txt")
    assert run("index", "--resume", "--corpus", corpus)[0] == 0
    assert states(client, corpus) == {"ann.txt": "ready", "bob.txt": "ready"}
    assert "--resume" not in run("documents", "--corpus", corpus)[1]
    client.delete(corpus=corpus)


def test_no_name_of_an_upload_is_taken_for_a_file(client, corpus, monkeypatch, tmp_path):
    """Files of these names, a link and a glob lie in the working directory, and are neither read nor followed."""
    monkeypatch.chdir(tmp_path)
    secret = tmp_path / "secret.txt"
    secret.write_text("Zyxelia Quorn hid the key.")
    for name in ("upload:ann.txt", "upload:*.txt", "upload:lines.jsonl"):
        (tmp_path / name).write_text("Zyxelia Quorn hid the letter.")
    (tmp_path / "upload:link.txt").symlink_to(secret)
    names = ["ann.txt", "*.txt", "link.txt", "lines.jsonl#1", "../up.txt", "~/home.txt"]
    uploads = [from_text(TEXTS["ann.txt"], corpus=corpus, source=f"upload:{name}") for name in names]
    client.index([secret], corpus=corpus)

    def broken(*arguments: object) -> None:
        raise MemoryError("The model broke down.")

    with monkeypatch.context() as patch:
        patch.setattr("e2g_neo4j.indexing.run.embed_long", broken)
        with pytest.raises(MemoryError):
            client.index(uploads, corpus=corpus)
    failed = client.resume(corpus=corpus).failed
    assert failed.keys() == {one.source for one in uploads}
    assert all("Upload it again" in why for why in failed.values())
    assert {one.why for one in client.documents(corpus) if one.state == "failed"} == set(failed.values())
    for source in failed:
        with pytest.raises(ReadingError, match="names an upload"):
            client.index([source], corpus=corpus)
    assert [one.source for one in client.delete(["upload:link.txt"], corpus=corpus)] == ["upload:link.txt"]
    with pytest.raises(NotFoundError):
        client.delete(["upload:link.txt"], corpus=corpus)  # the link leads to a document of this corpus
    client.index(uploads, corpus=corpus)
    assert client.resume(corpus=corpus).failed == {}
    assert {one.state for one in client.documents(corpus)} == {"ready"}
    deleted = client.delete(["upload:*.txt", "upload:lines.jsonl"], corpus=corpus)
    assert [one.source for one in deleted] == ["upload:*.txt", "upload:lines.jsonl#1"]
    client.delete(corpus=corpus)


@pytest.mark.full
def test_a_killed_command_is_resumed(client, library, corpus, driver):
    for number in range(8):
        (library / f"{number}.txt").write_text(f"Visitor {number} met Ann Harper. " * 150)
    command = [str(Path(sys.executable).parent / "e2g"), "index", str(library), "--corpus", corpus]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ)
    while "indexing" not in states_of(client, corpus).values():
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    at_once = {one.state for one in client.documents(corpus)}
    assert at_once <= {"pending", "indexing", "ready"}
    driver.execute_query("MATCH (r:E2GRun {corpus: $corpus}) SET r.expires = 0", corpus=corpus)  # the lease is over
    later = [one for one in client.documents(corpus) if one.state == "failed"]
    assert later
    assert all("was ended" in (one.why or "") for one in later)
    client.resume(corpus=corpus)
    assert set(states(client, corpus).values()) == {"ready"}
    client.index([library], corpus=f"{corpus}-fresh")
    assert client.stats(corpus) == client.stats(f"{corpus}-fresh")
    client.delete(corpus=corpus)
    client.delete(corpus=f"{corpus}-fresh")


def states_of(client: E2G, corpus: str) -> dict[str, str]:
    """As `states`; none where nothing is there yet."""
    try:
        return states(client, corpus)
    except NotFoundError:
        return {}


def test_json(run, client, library, corpus):
    client.index([library], corpus=corpus)
    listed = json.loads(run("documents", "--corpus", corpus, "--json")[1])[corpus]
    assert {one["state"] for one in listed} == {"ready"}
    deleted = json.loads(run("delete", "--corpus", corpus, "--yes", "--json")[1])
    assert [one["id"] for one in deleted] == [one["id"] for one in listed]
