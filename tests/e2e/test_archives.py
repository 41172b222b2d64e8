"""A corpus into a file and out of it: exactly, or not at all."""

from __future__ import annotations

import hashlib
import io
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import crashes
import networkx
import pytest
from at_server import settings_of, variables_of
from graphs import evidence, snapshot
from langchain_core.language_models import FakeListChatModel
from libraries import REAL_DIMENSIONS, performing, remove, small_document, write
from neo4j import Driver

from e2g_neo4j import E2G, Settings
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import ArchiveError, DatabaseError, FingerprintError, InputError, NotFoundError
from e2g_neo4j.graph.archive import importing
from e2g_neo4j.graph.archive.format import MANIFEST, MEMBERS, NODES, RELATIONSHIPS, SUMMARIES, decode, encode
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.runtime.requests import Read
from e2g_neo4j.types.ids import cache_key, corpus_key

pytestmark = [pytest.mark.full, pytest.mark.by_turns(2)]

TEXT = 'Alice met Bob "the Rat" O\'Neil in Paris. Carol sold Bob a `{letter}` \U0001f98a. It rained.\n\n'


@pytest.fixture(scope="module")
def settings(neo4j_connection: Connection) -> Settings:
    return settings_of(neo4j_connection, chunk_tokens=64, chunk_overlap=8, group_size=2, workers=1)


@pytest.fixture(scope="module")
def client(settings: Settings) -> Iterator[E2G]:
    model = FakeListChatModel(responses=["Alice met Bob in Paris and bought a letter of him."])
    with E2G(settings=settings, chat_model=model) as client:
        yield client


@pytest.fixture(scope="module")
def origin(client: E2G, driver: Driver, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A corpus with trees that a chat model wrote, a document that failed, and its archive."""
    corpus = f"archive-{os.getpid()}"
    documents = [from_text(TEXT * 6 + end, corpus=corpus, source=f"{end}.txt") for end in ("One", "Two")]
    client.index(documents, corpus=corpus)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("e2g_neo4j.indexing.run.embed_long", broken)
        with pytest.raises(MemoryError):
            client.index([from_text("Dora.", corpus=corpus, source="failed.txt")], corpus=corpus)
    file = tmp_path_factory.mktemp("archives") / "corpus.zip"
    client.export_corpus(file, corpus=corpus)
    yield corpus, file
    remove(driver, [corpus])


def broken(*arguments: object) -> None:
    raise MemoryError("The model broke down.")


def held(driver: Driver, corpus: str, *, exact: bool = True) -> Any:
    """Everything about a corpus, but the time that a run was let go of, with what is remembered for it."""
    rows = driver.execute_query(
        "MATCH (s:CachedSummary) WHERE $corpus IN s.corpora RETURN s {.*, corpora: null} AS s ORDER BY s.key",
        corpus=corpus,
    ).records
    first = cache_key(corpus)
    cached = [{**row["s"], "key": row["s"]["key"].removeprefix(first)} for row in rows]
    cached = cached if exact else [{**one, "created": None} for one in cached]
    return snapshot(driver, corpus, exact=exact), cached


def archived(found: Any) -> Any:
    """What of it an archive has: all but what a run that failed had staged, and entities that only this mentions."""
    (nodes, relationships), summaries = found
    nodes = {
        key: one
        for key, one in nodes.items()
        if not key[0].startswith("Staged") and (key[0] != "Entity" or len(one) > 1)
    }
    relationships = {key: one for key, one in relationships.items() if not any("Staged" in part for part in key)}
    return (nodes, relationships), summaries


def left_behind(driver: Driver, corpus: str) -> list[Any]:
    """Nodes of any kind that know a corpus."""
    query = "MATCH (n) WHERE n.corpus = $corpus OR $corpus IN n.corpora RETURN labels(n) AS labels"
    return [row["labels"] for row in driver.execute_query(query, corpus=corpus).records]


# --- there and back ----------------------------------------------------------------------------------


def test_a_corpus_comes_back_exactly(client, driver, origin):
    corpus, file = origin
    before = archived(held(driver, corpus))
    assert before[1], "a chat model wrote summaries"
    documents = client.documents(corpus)
    assert {one.state for one in documents} == {"ready", "failed"}
    found = evidence(client.retrieve("Did Alice meet Bob?", corpus=corpus, mode="e2g"))
    client.delete(corpus=corpus)
    assert left_behind(driver, corpus) == []
    info = client.import_corpus(file)
    assert (info.corpus, info.documents, info.summaries) == (corpus, 3, len(before[1]))
    assert held(driver, corpus) == before
    assert client.documents(corpus) == documents
    assert evidence(client.retrieve("Did Alice meet Bob?", corpus=corpus, mode="e2g")) == found
    assert client.index([from_text(TEXT * 6 + "One", corpus=corpus, source="One.txt")], corpus=corpus).unchanged == 1
    marks = driver.execute_query("MATCH (n:E2GImported|E2GImport) RETURN count(n) AS n").records
    assert marks[0]["n"] == 0


def test_under_another_name_it_is_as_indexed_there(client, driver, origin, corpus, tmp_path):
    """Ids too, so that indexing goes on where it was."""
    client.index([from_text(TEXT * 6, corpus=corpus, source="x.txt")], corpus=corpus)
    client.export_corpus(tmp_path / "one.zip", corpus=corpus)
    other, fresh = f"{corpus}-other", f"{corpus}-fresh"
    client.import_corpus(tmp_path / "one.zip", corpus=other)
    assert client.index([from_text(TEXT * 6, corpus=other, source="x.txt")], corpus=other).unchanged == 1
    copied = held(driver, other, exact=False)
    client.delete(corpus=other)
    client.index([from_text(TEXT * 6, corpus=other, source="x.txt")], corpus=other)
    assert copied == held(driver, other, exact=False)
    keys = driver.execute_query("MATCH (c:Chunk {corpus: $c}) RETURN DISTINCT c.corpus_key AS key", c=other).records
    assert [row["key"] for row in keys] == [corpus_key(other)]
    remove(driver, [corpus, other, fresh])


def contents(file: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_commands(settings, origin, corpus, tmp_path, driver):
    name, _ = origin
    environment = {**os.environ, **variables_of(settings)}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(Path(sys.executable).parent / "e2g"), *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)

    done = run("export", "--corpus", name, "-o", "a.zip")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"Exported corpus {name} to a.zip: 3 documents,")
    assert run("export", "--corpus", name, "-o", "a.zip").returncode == InputError.exit_code
    assert run("export", "--corpus", f"{corpus}-none", "-o", "b.zip").returncode == NotFoundError.exit_code
    assert not (tmp_path / "b.zip").exists()
    done = run("import", "a.zip", "--corpus", corpus, "--json")
    assert json.loads(done.stdout)["documents"] == 3, done.stderr
    assert run("import", "a.zip", "--corpus", corpus).returncode == InputError.exit_code
    assert run("import", "missing.zip").returncode == InputError.exit_code
    remove(driver, [corpus])


@pytest.mark.parametrize(
    "value",
    [
        *("text", "", "\x00\u202e\U0001f98a", True, 0, -(2**63), 2**63 - 1, 0.1, -0.0, 5e-324, 1.7976931348623157e308),
        *(float("nan"), float("inf"), [], [1, 2], ["a"], [0.1] * 20, [0.5] * 20, [-0.0] * 20, [1e300] * 20, b"\x00"),
    ],
    ids=repr,
)  # fmt: skip
def test_values_come_back_bit_for_bit(driver, value):
    stored = driver.execute_query("RETURN $value AS value", value=value).records[0]["value"]
    restored = decode(json.loads(json.dumps(encode(stored))))
    assert repr(restored) == repr(stored)


@pytest.mark.parametrize(
    "expression",
    [
        "datetime()",
        "datetime('2026-11-21T15:00:00.123456789+02:00')",
        "date()",
        "time('12:00Z')",
        "duration('P1YT3.5S')",
    ],
)
def test_times_come_back(driver, expression):
    stored = driver.execute_query(f"RETURN {expression} AS value").records[0]["value"]
    restored = decode(json.loads(json.dumps(encode(stored))))
    assert driver.execute_query("RETURN $a = $b AS same", a=restored, b=stored).records[0]["same"]


@pytest.mark.full
def test_memory_is_bounded(client, driver, corpus, tmp_path):
    """Ten times as many documents take no more than a little more of it, on the way out and in."""
    peaks = []
    for number, count in enumerate((40, 400)):
        name = f"{corpus}-{number}"
        names = [f"d{n}" for n in range(count)]
        write(driver, name, [small_document(one, ["ann", one], ["bob " * 40, one]) for one in names])
        tracemalloc.start()
        client.export_corpus(tmp_path / f"{number}.zip", corpus=name)
        client.import_corpus(tmp_path / f"{number}.zip", corpus=f"{name}-copy")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        remove(driver, [name, f"{name}-copy"])
    assert peaks[1] < 4 * peaks[0] + 2**23


# --- other tools -------------------------------------------------------------------------------------


def test_networkx_reads_the_graphml(client, driver, origin, tmp_path):
    corpus, _ = origin
    info = client.export_corpus(tmp_path / "a.graphml", corpus=corpus, format="graphml")
    graph = networkx.read_graphml(tmp_path / "a.graphml")
    (nodes, relationships), _ = archived((snapshot(driver, corpus), None))
    nodes = {key: properties for key, properties in nodes.items() if key[0] != "Term"}
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (len(nodes), len(relationships))
    assert (info.nodes, info.relationships) == (len(nodes), len(relationships))
    assert {one["labels"] for _, one in graph.nodes(data=True)} == {f":{':'.join(key[:-1])}" for key in nodes}
    chunks = {one["id"]: one for _, one in graph.nodes(data=True) if one["labels"] == ":Chunk"}
    for key, properties in nodes.items():
        if key[0] == "Chunk":
            assert chunks[key[1]]["text"] == properties["text"]
            assert (chunks[key[1]]["start"], chunks[key[1]]["level"]) == (properties["start"], 0)
            assert not {"embedding", "terms", "term_windows"} & chunks[key[1]].keys()
            assert json.loads(chunks[key[1]]["window_shares"]) == properties["window_shares"]
    weights = sorted(one["weight"] for *_, one in graph.edges(data=True) if one["label"] == "CO_OCCURS")
    assert weights == pytest.approx(sorted(one["weight"] for key, one in relationships.items() if "CO_OCCURS" in key))


def test_graphml_holds_what_xml_can(client, driver, corpus, tmp_path):
    write(driver, corpus, [small_document("d", ["a\x01\ufffe<&>\"']]>", "b"])])
    client.export_corpus(tmp_path / "a.graphml", corpus=corpus, format="graphml")
    graph = networkx.read_graphml(tmp_path / "a.graphml")
    names = {one.get("name") for _, one in graph.nodes(data=True)}
    assert "a\ufffd\ufffd<&>\"']]>" in names
    remove(driver, [corpus])


# --- refused -----------------------------------------------------------------------------------------


def rewritten(file: Path, target: Path, change: Callable[[dict[str, bytes]], None], *, sign: bool = True) -> Path:
    """An archive with other members; `sign` makes its manifest agree."""
    members = contents(file)
    change(members)
    if sign and MANIFEST in members:
        manifest = json.loads(members[MANIFEST])
        for name in MEMBERS:
            data = members.get(name, b"")
            digest = hashlib.sha256(data).hexdigest()
            manifest["members"][name] = {"lines": data.count(b"\n"), "bytes": len(data), "sha256": digest}
        members[MANIFEST] = json.dumps(manifest).encode()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return target


EVE = {"key": "eve", "name": "Eve", "chunks": 1}


def node(**fields: Any) -> Callable[[dict[str, bytes]], None]:
    """Adds a node."""
    row = {"key": "new", "labels": ["Entity"], "properties": EVE, **fields}
    return lambda members: members.update({NODES: members[NODES] + json.dumps(row).encode() + b"\n"})


def line(text: bytes, member: str = NODES) -> Callable[[dict[str, bytes]], None]:
    return lambda members: members.update({member: members[member] + text + b"\n"})


def said(**fields: Any) -> Callable[[dict[str, bytes]], None]:
    """Changes the manifest."""
    return lambda members: members.update({MANIFEST: json.dumps({**json.loads(members[MANIFEST]), **fields}).encode()})


REFUSED: dict[str, Callable[[dict[str, bytes]], None]] = {
    "a member more": lambda members: members.update({"more.txt": b"x"}),
    "a path": lambda members: members.update({"../../evil.jsonl": b"x"}),
    "an absolute path": lambda members: members.update({"/tmp/evil.jsonl": b"x"}),
    "a member less": lambda members: members.__delitem__(RELATIONSHIPS),
    "no manifest": lambda members: members.__delitem__(MANIFEST),
    "zeros that are packed well": lambda members: members.update({NODES: bytes(2**26)}),
    "a long line": lambda members: members.update({NODES: os.urandom(2**20).hex().encode() * 17}),
    "no JSON": line(b"{"),
    "deep JSON": line(b"[" * 100_000),
    "no UTF-8": line(b"\xff"),
    "no object": line(b"[]"),
    "other fields": line(b'{"key": "x"}'),
    "a label of ours": node(labels=["E2GIndex"]),
    "a remembered summary": node(labels=["CachedSummary"], properties={"key": "k", "text": "t"}),
    "no label": node(labels=[]),
    "a label of the user's": node(labels=["Person"]),
    "a second label": node(labels=["Entity", "Person"]),
    "a migration": node(labels=["__Neo4jMigration"], properties={"version": "BASELINE"}),
    "who is at work": node(properties={**EVE, "run": "x"}),
    "another corpus": node(properties={**EVE, "corpus": "other"}),
    "another property": node(properties={**EVE, "x": 1}),
    "a large number": node(properties={**EVE, "chunks": 2**70}),
    "an object": node(properties={**EVE, "name": {"y": 1}}),
    "half of a surrogate pair": node(properties={**EVE, "name": "\ud800"}),
    "a short vector": node(properties={**EVE, "embedded_name": "Eve", "embedding": [0.5]}),
    "a vector of text": node(properties={**EVE, "embedded_name": "Eve", "embedding": ["a"] * REAL_DIMENSIONS}),
    "a vector that is cut": node(properties={**EVE, "embedded_name": "Eve", "embedding": {"float32": "AAA="}}),
    "a vector of nothing": node(properties={**EVE, "embedded_name": "Eve", "embedding": [0.0] * REAL_DIMENSIONS}),
    "another type": line(b'{"a": "x", "type": "KNOWS", "b": "y", "properties": {}}', RELATIONSHIPS),
    "a reply under another key": line(b'{"properties": {"key": "k", "text": "t"}}', SUMMARIES),
    "other summaries": line(b'{"properties": {"key": 5}}', "summaries.jsonl"),
    "another format": said(format="something"),
    "a later version": said(version=2),
    "a field more": said(more=1),
    "other documents": said(documents=7),
}


@pytest.mark.parametrize("change", REFUSED.values(), ids=REFUSED)
def test_what_is_none_of_ours_is_refused_before_anything_is_written(
    client, driver, origin, corpus, tmp_path, monkeypatch, change
):
    bad = rewritten(origin[1], tmp_path / "bad.zip", change)
    monkeypatch.setattr(client.runner, "execute", lambda request: pytest.fail("something was asked of the database"))
    with pytest.raises(ArchiveError, match="Nothing was imported"):
        client.import_corpus(bad, corpus=corpus)
    assert left_behind(driver, corpus) == []


@pytest.mark.parametrize("member", [MANIFEST, *MEMBERS])
def test_a_checksum_that_is_wrong_is_found(client, driver, origin, corpus, tmp_path, member):
    def change(members: dict[str, bytes]) -> None:
        data = members[member]
        place = data.index(b"Bob") if b"Bob" in data else data.index(b":") - 2
        members[member] = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]

    bad = rewritten(origin[1], tmp_path / "bad.zip", change, sign=False)
    with pytest.raises((ArchiveError, FingerprintError)):
        client.import_corpus(bad, corpus=corpus)
    assert left_behind(driver, corpus) == []


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.9, 0.999])
def test_a_file_that_is_cut_off_is_refused(client, driver, origin, corpus, tmp_path, share):
    whole = origin[1].read_bytes()
    cut = tmp_path / "cut.zip"
    cut.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(ArchiveError):
        client.import_corpus(cut, corpus=corpus)
    assert left_behind(driver, corpus) == []


def test_a_file_that_is_spoilt_anywhere_is_refused_or_the_same(client, driver, origin, tmp_path):
    """One byte in forty places. What a ZIP does not need, such as its dates, may change."""
    whole = origin[1].read_bytes()
    for place in range(0, len(whole), len(whole) // 40):
        spoilt = tmp_path / "spoilt.zip"
        spoilt.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            archive = importing.Archive(spoilt)
        except ArchiveError:
            continue
        found = [row for member in MEMBERS for row in archive.rows(member, origin[0])]
        archive.close()
        archive = importing.Archive(origin[1])
        assert found == [row for member in MEMBERS for row in archive.rows(member, origin[0])]
        archive.close()


def test_an_archive_made_with_other_models_is_refused(client, driver, origin, corpus, tmp_path):
    other = json.loads(contents(origin[1])[MANIFEST])["fingerprint"] | {"embedding_model": "another"}
    bad = rewritten(origin[1], tmp_path / "bad.zip", said(fingerprint=other))
    with pytest.raises(FingerprintError, match="This archive was made with the embedding model another"):
        client.import_corpus(bad, corpus=corpus)
    assert left_behind(driver, corpus) == []


def test_a_corpus_that_is_there_stays_as_it_is(client, driver, origin):
    corpus, file = origin
    before = held(driver, corpus)
    with pytest.raises(InputError, match="exists already"):
        client.import_corpus(file)
    assert held(driver, corpus) == before


@pytest.mark.parametrize("corpus_name", ["", "\ud800", "x" * 2000])
def test_a_name_that_cannot_be_is_refused(client, origin, corpus_name):
    with pytest.raises(InputError, match="name of the corpus"):
        client.import_corpus(origin[1], corpus=corpus_name)


def test_a_file_that_is_there_is_not_overwritten(client, origin, tmp_path):
    file = tmp_path / "mine.zip"
    file.write_text("mine")
    with pytest.raises(InputError, match="exists already"):
        client.export_corpus(file, corpus=origin[0])
    with pytest.raises(InputError, match="cannot be written"):
        client.export_corpus(tmp_path / "no" / "such.zip", corpus=origin[0])
    with pytest.raises(NotFoundError):
        client.export_corpus(tmp_path / "none.zip", corpus="no-such")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.zip"]
    assert file.read_text() == "mine"


# --- interrupted -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "times"),
    [
        ("archive/reserve", 0),
        ("archive/create_nodes", 0),
        ("archive/create_nodes", 2),
        ("archive/create_relationships", 0),
        ("archive/cache_summaries", 0),
        ("archive/publish", 0),
    ],
)
def test_a_failed_import_leaves_nothing_and_was_never_seen(
    client, settings, driver, origin, corpus, monkeypatch, statement, times
):
    """The database refuses a statement when it comes again; until then queries find nothing."""
    monkeypatch.setattr(importing, "NODE_ROWS", 10)
    real, left = client.runner.execute, times

    def failing(request: Any) -> Any:
        nonlocal left
        assert corpus not in same.corpora()
        with pytest.raises(NotFoundError):
            same.retrieve("Did Alice meet Bob?", corpus=corpus, mode="dense")
        if not isinstance(request, Read) and statement in dict(request.statements):
            left -= 1
            if left < 0:
                raise DatabaseError("The disk is full.")
        return real(request)

    monkeypatch.setattr(client.runner, "execute", failing)
    with E2G(settings=settings) as same, pytest.raises(DatabaseError, match="disk is full"):
        client.import_corpus(origin[1], corpus=corpus)
    assert left_behind(driver, corpus) == []


def test_relationships_to_nowhere_are_refused(client, driver, origin, corpus, tmp_path):
    row = {"a": "nobody", "type": "PART_OF", "b": "nowhere", "properties": {}}
    bad = rewritten(origin[1], tmp_path / "bad.zip", line(json.dumps(row).encode(), RELATIONSHIPS))
    with pytest.raises(ArchiveError, match=r"relationships.jsonl, line \d+: PART_OF .* does not contain"):
        client.import_corpus(bad, corpus=corpus)
    bad = rewritten(
        origin[1],
        tmp_path / "bad.zip",
        lambda m: m.update({RELATIONSHIPS: m[RELATIONSHIPS].replace(b"PART_OF", b"QUOTES")}),
    )
    with pytest.raises(ArchiveError, match=r"relationships.jsonl, line \d+: QUOTES connects Window with Chunk"):
        client.import_corpus(bad, corpus=corpus)
    assert left_behind(driver, corpus) == []


def test_two_nodes_of_one_key_are_refused(client, driver, origin, corpus, tmp_path):
    bad = rewritten(origin[1], tmp_path / "bad.zip", node(properties={**EVE, "key": "alice"}))
    with pytest.raises(ArchiveError, match="two nodes have the same id or key"):
        client.import_corpus(bad, corpus=corpus)
    assert left_behind(driver, corpus) == []


@pytest.mark.timeout(900)
def test_a_killed_import_is_invisible_and_ended_by_whoever_writes_next(
    client, neo4j_connection, driver, origin, corpus, tmp_path
):
    name, file = origin
    whole = archived(held(driver, name))
    fresh = multiprocessing.get_context("forkserver")
    fresh.set_forkserver_preload(["crashes"])
    ends = []
    for number, statements in enumerate(range(1, 200, 4)):
        run = f"{corpus}-{number}"
        process = fresh.Process(target=crashes.import_and_die, args=(neo4j_connection, file, run, statements))
        process.start()
        process.join()
        driver.execute_query("MATCH (r:E2GRun {corpus: $corpus}) SET r.expires = 0", corpus=run)  # the lease is over
        visible = run in client.corpora()
        ends.append((process.exitcode, visible))
        if not visible:
            with pytest.raises(NotFoundError):
                client.stats(run)
            if number % 2:
                client.import_corpus(file, corpus=run)
            else:
                client.index([from_text("Dora.", corpus=run, source="new.txt")], corpus=run)
                assert len(client.documents(run)) == 1
                client.delete(corpus=run)
                client.import_corpus(file, corpus=run)
        else:
            importing.recover_abandoned_imports(performing(driver))
        assert shape(held(driver, run)) == shape(whole)
        assert "E2GImported" not in str(left_behind(driver, run))
        remove(driver, [run])
        if process.exitcode == 0:
            break
    assert ends[0] == (-signal.SIGKILL, False)
    assert (-signal.SIGKILL, True) in ends, "killed after it was published"
    assert ends[-1] == (0, True)


def shape(found: Any) -> Any:
    """What stays under another name."""
    (nodes, relationships), summaries = found
    kept = [one for key, one in nodes.items() if key[0] != "E2GRun"]  # the next run of the corpus removes it
    texts = sorted(str(one.get("text") or one.get("name") or one.get("source")) for one in kept)
    return texts, sorted(str(sorted(one.items())) for one in relationships.values()), summaries


def test_an_export_is_of_one_state(client, driver, corpus, tmp_path):
    """While versions of a document come and go, each archive holds one of them, whole."""
    versions = [[small_document("d", ["ann", f"v{n}"], [f"v{n}", "cid"])] for n in range(2)]
    states: list[object] = []
    for version in versions:
        write(driver, corpus, version)
        client.export_corpus(tmp_path / f"{len(states)}.zip", corpus=corpus)
        states.append(lines_of(tmp_path / f"{len(states)}.zip"))
    with ThreadPoolExecutor(1) as pool:

        def come_and_go() -> None:
            for n in range(6):
                write(driver, corpus, versions[n % 2])

        writer = pool.submit(come_and_go)
        number = 0
        while not writer.done():
            number += 1
            client.export_corpus(tmp_path / f"while-{number}.zip", corpus=corpus)
            assert lines_of(tmp_path / f"while-{number}.zip") in states
        writer.result()
    assert number > 1
    remove(driver, [corpus])


def lines_of(file: Path) -> Any:
    """Texts of visible nodes, and the types of relationships between visible ones."""
    archive = contents(file)
    rows = [json.loads(one) for one in io.BytesIO(archive[NODES])]
    shown = {one["key"] for one in rows if not one["labels"][0].startswith("Staged")}
    texts = [one["properties"]["text"] for one in rows if one["key"] in shown and "text" in one["properties"]]
    kinds = [json.loads(one) for one in io.BytesIO(archive[RELATIONSHIPS])]
    return sorted(texts), sorted(one["type"] for one in kinds if {one["a"], one["b"]} <= shown)
