"""A corpus into a file and out of it: exactly, or not at all."""

from __future__ import annotations

import base64
import hashlib
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
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import crashes
import networkx
import numpy as np
import pytest
import stated
from at_server import settings_of, variables_of
from graphs import evidence, snapshot
from langchain_core.language_models import FakeListChatModel
from libraries import REAL_DIMENSIONS, remove, small_document, write
from neo4j import Driver
from tiers import at_length

from e2g_neo4j import E2G, Settings
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import ArchiveError, DatabaseError, FingerprintError, InputError, NotFoundError
from e2g_neo4j.indexing import pipeline
from e2g_neo4j.indexing.archive.contents import MANIFEST, MEMBERS, pack_vectors
from e2g_neo4j.indexing.archive.reading import Archive
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
    """Everything about a corpus, but the times that a run was let go of and that a document was published, with what is
    remembered for it."""
    rows = driver.execute_query(
        "MATCH (s:CachedSummary) WHERE $corpus IN s.corpora RETURN s {.*, corpora: null} AS s ORDER BY s.key",
        corpus=corpus,
    ).records
    first = cache_key(corpus)
    cached = [{**row["s"], "key": row["s"]["key"].removeprefix(first)} for row in rows]
    cached = cached if exact else [{**one, "created": None} for one in cached]
    nodes, relationships = snapshot(driver, corpus, exact=exact)
    return (
        {key: {name: value for name, value in one.items() if name != "changed"} for key, one in nodes.items()},
        relationships,
    ), cached


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
    documents = [replace(one, changed=None) for one in client.documents(corpus)]
    assert {one.state for one in documents} == {"ready", "failed"}
    found = evidence(client.retrieve("Did Alice meet Bob?", corpus=corpus, mode="e2g"))
    client.delete(corpus=corpus)
    assert left_behind(driver, corpus) == []
    info = client.import_corpus(file)
    assert (info.corpus, info.documents, info.summaries) == (corpus, 3, len(before[1]))
    assert held(driver, corpus) == before
    assert [replace(one, changed=None) for one in client.documents(corpus)] == documents
    assert evidence(client.retrieve("Did Alice meet Bob?", corpus=corpus, mode="e2g")) == found
    assert client.index([from_text(TEXT * 6 + "One", corpus=corpus, source="One.txt")], corpus=corpus).unchanged == 1
    assert not [one for one in held(driver, corpus)[0][0].values() if "importing" in one]


def test_layers_and_decisions_come_back(client, driver, corpus, tmp_path):
    text = "Alice Moss met Bob Reed in Paris. Carol Vane sold Bob Reed a letter. Reed smiled. It rained.\n\n" * 6
    texts = [from_text(text + end, corpus=corpus, source=end, properties={"n": [1, 2]}) for end in ("One", "Two")]
    client.index(texts, corpus=corpus)
    client.enrich(corpus=corpus, layers=["communities", "clusters", "entities", "sentences", "descriptions"])
    stated.state(client, corpus, forget=False)
    client.merge("Carol Vane", "Alice Moss", corpus=corpus)
    client.split("Reed", corpus=corpus)
    before = held(driver, corpus, exact=False)
    assert {"Community", "Cluster", "Statement", "Alias"} <= {key[0] for key in before[0][0]}
    client.export_corpus(tmp_path / "a.zip", corpus=corpus)
    client.delete(corpus=corpus)
    client.import_corpus(tmp_path / "a.zip")
    assert held(driver, corpus, exact=False) == before
    assert not [one for one in client.doctor() if one.state == "problem" and corpus in one.what]
    remove(driver, [corpus])


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


@pytest.mark.parametrize("value", [0.1, -0.0, 1e-30, 3.4e38], ids=repr)
def test_vectors_come_back_bit_for_bit(driver, value):
    """As the database has them: numbers of 32 bits."""
    query = (
        "CREATE (n) WITH n CALL db.create.setNodeVectorProperty(n, 'v', $v) WITH n, n.v AS v DETACH DELETE n RETURN v"
    )
    [row] = driver.execute_query(query, v=np.array([1.0, value], np.float32).tolist()).records
    assert repr(np.frombuffer(pack_vectors([row["v"]]), "<f4").tolist()) == repr(row["v"])


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


def line(text: bytes, member: str) -> Callable[[dict[str, bytes]], None]:
    """Adds a line to a member."""
    return lambda members: members.update({member: members[member] + text + b"\n"})


def changed(member: str, **fields: Any) -> Callable[[dict[str, bytes]], None]:
    """Changes the first line of a member, of documents the first that is ready. None removes a field."""

    def change(members: dict[str, bytes]) -> None:
        lines = members[member].splitlines(keepends=True)
        at = next(number for number, one in enumerate(lines) if b'"ready":false' not in one)
        row = {name: value for name, value in {**json.loads(lines[at]), **fields}.items() if value is not None}
        lines[at] = json.dumps(row).encode() + b"\n"
        members[member] = b"".join(lines)

    return change


def said(**fields: Any) -> Callable[[dict[str, bytes]], None]:
    """Changes the manifest."""
    return lambda members: members.update({MANIFEST: json.dumps({**json.loads(members[MANIFEST]), **fields}).encode()})


def packed(*numbers: float) -> str:
    return base64.b64encode(pack_vectors([numbers])).decode()


DOCUMENTS, CHUNKS, SUMMARIES = "documents.jsonl", "chunks.jsonl", "summaries.jsonl"
NAMES, ENTITIES, VECTORS, REPLIES = "names.jsonl", "entities.jsonl", "vectors.jsonl", "replies.jsonl"

REFUSED: dict[str, Callable[[dict[str, bytes]], None]] = {
    "a member more": lambda members: members.update({"more.txt": b"x"}),
    "a path": lambda members: members.update({"../../evil.jsonl": b"x"}),
    "an absolute path": lambda members: members.update({"/tmp/evil.jsonl": b"x"}),
    "a member less": lambda members: members.__delitem__(NAMES),
    "no manifest": lambda members: members.__delitem__(MANIFEST),
    "zeros that are packed well": lambda members: members.update({CHUNKS: bytes(2**26)}),
    "a long line": lambda members: members.update({CHUNKS: os.urandom(2**20).hex().encode() * 17}),
    "no JSON": line(b"{", NAMES),
    "deep JSON": line(b"[" * 100_000, NAMES),
    "many lists": line(b'{"key": "x", "documents": [' + b"[]," * 2**17 + b"[]]}", NAMES),
    "no UTF-8": line(b"\xff", NAMES),
    "no object": line(b"[]", NAMES),
    "other fields": line(b'{"name": "x"}', NAMES),
    "half of a surrogate pair": line(b'{"key": "\\ud800", "apart": true}', NAMES),
    "a name that is merged with itself": line(b'{"key": "x", "into": "x"}', NAMES),
    "a document of the database's": changed(DOCUMENTS, run="x"),
    "a document of another corpus": changed(DOCUMENTS, corpus="other"),
    "a document without a hash": changed(DOCUMENTS, sha256=None),
    "a document that is not ready": changed(DOCUMENTS, ready=False),
    "a property without a name": changed(DOCUMENTS, properties={"": 1}),
    "a property that is an object": changed(DOCUMENTS, properties={"x": {"y": 1}}),
    "a number of 80 bits": changed(DOCUMENTS, properties={"x": 2**80}),
    "fewer chunks": changed(DOCUMENTS, chunks=1),
    "fewer characters": changed(DOCUMENTS, characters=1),
    "more characters than memory has": changed(DOCUMENTS, characters=2**39),
    "another tree": lambda members: members.update({DOCUMENTS: members[DOCUMENTS].replace(b'_size":2', b'_size":999')}),
    "a document more": lambda members: line(members[DOCUMENTS].split(b"\n")[0], DOCUMENTS)(members),
    "a chunk more": lambda members: line(members[CHUNKS].split(b"\n")[0], CHUNKS)(members),
    "a chunk before the one before": changed(CHUNKS, start=200),
    "own text outside of the chunk": changed(CHUNKS, own=[0, 2**20]),
    "a window outside of the chunk": changed(CHUNKS, windows=[[0, 2**20]]),
    "a window of nothing": changed(CHUNKS, windows=[[3, 3]]),
    "no window": changed(CHUNKS, windows=[], vectors=""),
    "another number of vectors": changed(CHUNKS, vectors=packed(*[0.5] * 2 * REAL_DIMENSIONS)),
    "a vector that is cut": changed(CHUNKS, vectors="AAA="),
    "a vector of nothing": changed(CHUNKS, vectors=packed(*[0.0] * REAL_DIMENSIONS)),
    "an infinite vector": changed(CHUNKS, vectors=packed(*[float("inf")] * REAL_DIMENSIONS)),
    "vectors of other sentences": changed(CHUNKS, sentence_vectors="AAAA"),
    "an extraction that is none": changed(CHUNKS, notes="AAAA"),
    "a summary more": lambda members: line(members[SUMMARIES].split(b"\n")[0], SUMMARIES)(members),
    "a summary of another level": changed(SUMMARIES, level=2),
    "a short vector": line(json.dumps({"key": "x", "name": "x", "vector": packed(1)}).encode(), ENTITIES),
    "a vector of no text": line(json.dumps({"sha256": "x", "vector": packed(1)}).encode(), VECTORS),
    "a reply under another key": line(b'{"key": "k", "text": "t", "created": "2026-01-01T00:00Z"}', REPLIES),
    "another reply": line(b'{"key": 5}', REPLIES),
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


@pytest.mark.parametrize("member", [MANIFEST, DOCUMENTS, CHUNKS, SUMMARIES, REPLIES])
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
            archive = Archive(spoilt)
        except ArchiveError:
            continue
        found = [row for kind in MEMBERS.values() for row in archive.rows(kind)]
        archive.close()
        archive = Archive(origin[1])
        assert found == [row for kind in MEMBERS.values() for row in archive.rows(kind)]
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
        ("archive/begin", 0),
        ("archive/add_replies", 0),
        ("index/stage_chunks", 0),
        ("index/publish_documents", 0),
        ("index/publish_documents", 1),
        ("references/set_titles", 0),
    ],
)
def test_a_failed_import_leaves_nothing(client, settings, driver, origin, corpus, monkeypatch, statement, times):
    """The database refuses a statement when it comes again."""
    monkeypatch.setattr(pipeline, "BATCH_CHUNKS", 1)
    real, left = client.runner.execute, times

    def failing(request: Any) -> Any:
        nonlocal left
        if not isinstance(request, Read) and statement in dict(request.statements):
            left -= 1
            if left < 0:
                raise DatabaseError("The disk is full.")
        return real(request)

    monkeypatch.setattr(client.runner, "execute", failing)
    with pytest.raises(DatabaseError, match="disk is full"):
        client.import_corpus(origin[1], corpus=corpus)
    assert left_behind(driver, corpus) == []


@pytest.mark.timeout(900)
def test_a_killed_import_is_continued_by_the_next_one(client, settings, driver, origin, corpus):
    """Whenever it is killed, each document is visible whole or not at all, and at last the corpus is the same."""
    name, file = origin
    whole = archived(held(driver, name, exact=False))
    fresh = multiprocessing.get_context("forkserver")
    fresh.set_forkserver_preload(["crashes"])
    ends = []
    for number, statements in enumerate(range(1, 400, at_length(7, 23))):
        run = f"{corpus}-{number}"
        process = fresh.Process(target=crashes.import_and_die, args=(settings, file, run, statements))
        process.start()
        process.join()
        driver.execute_query("MATCH (r:E2GRun {corpus: $corpus}) SET r.expires = 0", corpus=run)  # the lease is over
        visible = client.corpora().get(run, 0)
        ends.append((process.exitcode, visible))
        if visible:
            assert client.retrieve("Did Alice meet Bob?", corpus=run, mode="dense").passages
        if process.exitcode:
            client.import_corpus(file, corpus=run)
        assert shape(held(driver, run, exact=False)) == shape(whole)
        with pytest.raises(InputError, match="exists already"):
            client.import_corpus(file, corpus=run)
        remove(driver, [run])
        if process.exitcode == 0:
            break
    assert ends[0] == (-signal.SIGKILL, 0)
    assert (-signal.SIGKILL, 1) in ends, "killed after a document was published"
    assert ends[-1] == (0, 2)


def shape(found: Any) -> Any:
    """What stays under another name."""
    (nodes, relationships), summaries = found
    kept = [one for key, one in nodes.items() if key[0] != "E2GRun"]  # the next run of the corpus removes it
    texts = sorted(str(one.get("text") or one.get("name") or one.get("source")) for one in kept)
    return texts, sorted(str(sorted(one.items())) for one in relationships.values()), summaries


def test_a_second_import_of_an_archive_waits_for_the_first(
    client, settings, driver, origin, corpus, tmp_path, monkeypatch
):
    """Otherwise it would continue it, and remove its documents if it fails. Another archive is refused."""
    name, file = origin
    begun, waiting, go = Event(), Event(), Event()
    real = client.runner.execute

    def pause(request: Any) -> Any:
        if not isinstance(request, Read) and "index/stage_chunks" in dict(request.statements):
            begun.set()
            assert go.wait(120)
        return real(request)

    monkeypatch.setattr(client.runner, "execute", pause)
    another = rewritten(file, tmp_path / "another.zip", said(nodes=1))
    with E2G(settings=settings) as other, ThreadPoolExecutor(2) as pool:
        ask = other.runner.execute

        def tell(request: Any) -> Any:
            if isinstance(request, Read) and request.statement == "archive/is_begun":
                waiting.set()
            return ask(request)

        first = pool.submit(client.import_corpus, file, corpus=corpus)
        try:
            assert begun.wait(120)
            with pytest.raises(InputError, match="exists already"):
                other.import_corpus(another, corpus=corpus)
            monkeypatch.setattr(other.runner, "execute", tell)
            second = pool.submit(other.import_corpus, file, corpus=corpus)
            assert waiting.wait(120)
            assert not second.done()
        finally:
            go.set()
        first.result()
        with pytest.raises(InputError, match="exists already"):
            second.result()
    assert shape(held(driver, corpus, exact=False)) == shape(archived(held(driver, name, exact=False)))
    remove(driver, [corpus])


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
    """What an archive has, but for the manifest and what is begun with a document."""
    members = contents(file)
    documents = [{**json.loads(line), "work": None} for line in members.pop(DOCUMENTS).splitlines()]
    return documents, {name: data for name, data in members.items() if name != MANIFEST}
