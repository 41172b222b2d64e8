"""The worker: what each kind of task leaves behind, whatever the files are called, and whenever a worker is killed."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import crashes
import psutil
import pytest
from at_server import migrated, settings_of
from failing_ollama import END, HANGS, NAME, Failing, part
from graphs import forget_replies
from hostile_files import one_page_again_and_again
from neo4j import Driver
from queues import Queue, graph
from tiers import FULL, few_of

from e2g_neo4j import E2G, AsyncE2G, Settings
from e2g_neo4j.documents import parser_process
from e2g_neo4j.documents.files import file_of, from_text
from e2g_neo4j.errors import ReadingError
from e2g_neo4j.graph import keys, task_leases, tasks
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.runtime.requests import Operation, Read, Rows
from e2g_neo4j.service import worker as worker_module
from e2g_neo4j.service.task_handlers import TASK_HANDLERS, Run
from e2g_neo4j.service.worker import Worker, main
from e2g_neo4j.types.ids import document_id
from e2g_neo4j.types.service import TaskKind, TaskLease

SAMPLE = Path(__file__).parent.parent.parent / "e2g_neo4j" / "sample" / "library"
TEXT = "Alice Harper met Bob Miller in Paris. Miller sold her a letter. Carol Finch saw them at the harbour. " * 20
OTHER = "Dora Quill kept the log of the Averil. Josiah Quill counted the sails in the harbour of Hesk. " * 20


@pytest.fixture(scope="module")
def driver(scratch: Connection) -> Iterator[Driver]:
    """A server of our own: any worker takes any task that is in the database."""
    with migrated(scratch) as driver:
        yield driver


@pytest.fixture(scope="module")
def settings(scratch: Connection) -> Settings:
    return settings_of(scratch, chunk_tokens=64, chunk_overlap=8, group_size=2, workers=1)


@pytest.fixture(scope="module")
def client(settings: Settings, driver: Driver) -> Iterator[E2G]:
    with E2G(settings=settings) as client:
        yield client


@pytest.fixture
def queue(driver: Driver, settings: Settings) -> Queue:
    driver.execute_query("MATCH (n:E2GTask|E2GBlob|E2GTaskStep) DELETE n")
    return Queue(driver, settings)


def sources(client: E2G, corpus: str) -> dict[str, str]:
    return {one.source: one.title for one in client.documents(corpus)}


# --- kinds -------------------------------------------------------------------------------------------


def test_uploaded_files_are_indexed_as_files_are(queue: Queue, client: E2G, corpus: str) -> None:
    names = ["great-gales.md", "museum-catalogue.html", "court-of-inquiry.txt"]
    assert queue.result("index", corpus, *((name, (SAMPLE / name).read_bytes()) for name in names))["documents"] == 3
    assert queue.blobs() == 0
    fresh = f"{corpus}-fresh"
    client.index([SAMPLE / name for name in names], corpus=fresh)
    titles = {Path(source).name: title for source, title in sources(client, fresh).items()}
    assert sources(client, corpus) == {f"upload:{name}": title for name, title in titles.items()}
    assert client.stats(corpus) == client.stats(fresh)


def test_json_lines_texts_and_titles(queue: Queue, client: E2G, corpus: str) -> None:
    lines = '{"id": "a", "title": "One", "text": "Alice met Bob."}\n{"text": "Carol met Dora."}\n'
    assert queue.done("index", corpus, ("my_notes.jsonl", lines.encode())).state == "succeeded"
    given = [{"source": "x/y.txt", "title": "Given"}, {"source": "the_log"}]
    texts = [(one["source"], b"Luke met Josiah.") for one in given]
    assert queue.done("index", corpus, *texts, documents=given).state == "succeeded"
    assert queue.done("index", corpus, ("z.txt", b"Eve met Fay."), files=[{"title": "Z!"}]).state == "succeeded"
    assert sources(client, corpus) == {
        "upload:my_notes.jsonl#a": "One",
        "upload:my_notes.jsonl#2": "My notes 2",
        "upload:x/y.txt": "Given",
        "upload:the_log": "The log",
        "upload:z.txt": "Z!",
    }
    ids = {one.source: one.id for one in client.documents(corpus)}
    assert ids == {source: document_id(corpus, source) for source in ids}


def test_the_same_name_again_replaces_the_document(queue: Queue, client: E2G, corpus: str) -> None:
    queue.done("index", corpus, ("a.txt", TEXT.encode()))
    assert queue.result("index", corpus, ("a.txt", OTHER.encode()))["replaced"] == 1
    assert client.stats(corpus)["documents"] == 1
    code, detail = queue.failure("index", corpus, ("b.txt", b"One day."), ("b.txt", b"Two days."))
    assert (code, "b.txt" in detail) == ("reading", True)


def test_a_name_is_only_a_label(queue: Queue, client: E2G, corpus: str) -> None:
    names = [
        "../../etc/passwd.txt",
        "/etc/passwd.txt",
        "a/b*.txt",
        "~root.txt",
        "x" * 300 + ".txt",
        "[ab]?.txt",
        "C:\\secret\\a.txt",
        "new\nline.txt",
        "nul\0.txt",
        "#.txt",
        " .txt",
        "…🦊.TXT",
    ]
    queue.result("index", corpus, *((name, TEXT.encode()) for name in names))
    documents = client.documents(corpus)
    assert {one.source for one in documents} == {f"upload:{name}" for name in names}
    assert not any("e2gupload" in one.title.lower() for one in documents)
    code, detail = queue.failure("index", corpus, *((name, b"\x00\x01\x02" * 99) for name in names))
    assert code == "reading"
    for name in names:
        assert (name if name.isprintable() else repr(name)) in detail
    assert "e2g-task" not in detail
    assert "e2gupload" not in detail


def test_a_name_without_suffix_is_read_by_its_type(queue: Queue, client: E2G, corpus: str) -> None:
    name = "../../etc/passwd"
    _, refused = queue.failure("index", corpus, (name, TEXT.encode()))
    assert "../../etc/passwd has an unsupported file type" in refused
    assert queue.done("index", corpus, (name, TEXT.encode(), "text/plain; charset=utf-8")).state == "succeeded"
    assert sources(client, corpus) == {"upload:../../etc/passwd": "Passwd"}


def test_unreadable_files_are_left_out_and_named(queue: Queue, client: E2G, corpus: str, tmp_path: Path) -> None:
    lines = b'{"text": "Ann met Bob.", "author": "x"}\nnonsense\n'
    files = [("good.txt", TEXT.encode()), ("bad.pdf", b"%PDF-1.4 broken"), ("odd.zip", b"a"), ("rows.jsonl", lines)]
    result = queue.result("index", corpus, *files)
    assert (result["documents"], queue.blobs()) == (2, 0)
    failed = result["failed"]
    assert failed.keys() == {"upload:bad.pdf", "upload:odd.zip", "upload:rows.jsonl, line 2"}
    assert all(why.startswith(what.removeprefix("upload:").partition(",")[0]) for what, why in failed.items())
    [row] = [one for one in client.documents(corpus) if one.source == "upload:rows.jsonl#1"]
    assert row.properties == {"author": "x"}
    assert sources(client, corpus).keys() == {"upload:good.txt", "upload:rows.jsonl#1"}
    _, detail = queue.failure("index", corpus, *files[1:3])
    assert "bad.pdf" in detail
    assert "odd.zip" in detail


def test_with_strict_one_unreadable_file_fails_the_task_which_can_be_retried(queue: Queue, corpus: str) -> None:
    files = ("good.txt", TEXT.encode()), ("bad.pdf", b"%PDF-1.4 broken")
    task = queue.done("index", corpus, *files, strict=True)
    assert (task.state, task.result) == ("failed", None)
    assert task.error is not None
    assert task.error["code"] == "reading"
    assert task.error["detail"].startswith("bad.pdf ")
    assert queue.blobs() == 2
    assert queue.run(tasks.retry(task.id)) is not None
    queue.work()
    assert queue.get(task.id).state == "failed"


def test_uploads_are_not_looked_for_on_this_machine(
    queue: Queue, client: E2G, corpus: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "upload:a.txt").write_text(OTHER)
    monkeypatch.chdir(tmp_path)
    queue.done("index", corpus, ("a.txt", TEXT.encode()))
    queue.driver.execute_query("MATCH (d:Document {corpus: $corpus}) SET d.work = 'pending'", corpus=corpus)
    report = client.resume(corpus=corpus)
    assert report.documents == 0
    assert "was uploaded" in report.failed["upload:a.txt"]
    with pytest.raises(ReadingError, match="was uploaded"):
        file_of("upload:a.txt")
    assert [one.source for one in client.delete(["upload:a.txt"], corpus=corpus)] == ["upload:a.txt"]


def test_a_replaced_document_keeps_its_id_and_source(queue: Queue, client: E2G, corpus: str, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text(TEXT)
    client.index([file], corpus=corpus)
    [before] = client.documents(corpus)
    queue.result("replace", corpus, ("other.md", OTHER.encode()), document=before.id)
    [after] = client.documents(corpus)
    assert (after.id, after.source) == (before.id, str(file))
    assert after.characters == len(OTHER)
    queue.result("replace", corpus, ("", TEXT.encode()), document=before.id, documents=[{"title": "New"}])
    [after] = client.documents(corpus)
    assert (after.id, after.source, after.title, after.characters) == (before.id, str(file), "New", len(TEXT))
    assert queue.failure("replace", corpus, ("a.txt", b"One day."), document="0" * 16)[0] == "document_not_found"
    two = b'{"text": "One day."}\n{"text": "Two days."}'
    assert queue.failure("replace", corpus, ("a.jsonl", two), document=before.id)[0] == "reading"


def test_documents_and_corpora_are_deleted(queue: Queue, client: E2G, corpus: str) -> None:
    documents = [from_text(f"{TEXT} {name}", corpus=corpus, source=name) for name in ("a", "b", "c")]
    client.index(documents, corpus=corpus)
    queue.result("delete", corpus, documents=[documents[0].id, "0" * 16])
    assert sources(client, corpus).keys() == {"b", "c"}
    assert queue.result("delete_corpus", corpus) == {"documents": sorted(one.id for one in documents[1:])}
    assert corpus not in client.corpora()
    assert queue.done("delete_corpus", corpus).state == "succeeded"
    assert queue.blobs() == 0


def test_archives_are_imported(queue: Queue, client: E2G, corpus: str, tmp_path: Path) -> None:
    client.index([from_text(TEXT, corpus=corpus, source="a")], corpus=corpus)
    client.export_corpus(tmp_path / "a.zip", corpus=corpus)
    archive = (tmp_path / "a.zip").read_bytes()
    result = queue.result("import", f"{corpus}-2", ("../mine.zip", archive))
    assert (result["corpus"], result["file"], result["documents"]) == (f"{corpus}-2", "../mine.zip", 1)
    assert client.stats(f"{corpus}-2") == client.stats(corpus)
    assert queue.failure("import", f"{corpus}-2", ("mine.zip", archive))[0] == "input"
    code, detail = queue.failure("import", f"{corpus}-3", ("mine.zip", archive[:-100]))
    assert (code, detail[:9]) == ("archive", "mine.zip ")


def test_communities_are_made_and_kept_up_to_date(queue: Queue, client: E2G, corpus: str) -> None:
    assert queue.failure("enrich", corpus)[0] == "corpus_not_found"
    documents = [from_text(text, corpus=corpus, source=text[:5]) for text in (TEXT, OTHER)]
    client.index(documents, corpus=corpus)
    made = queue.result("enrich", corpus)
    layers = made["layers"]
    assert layers["communities"]["made"] == layers["communities"]["total"] > 0
    again = {name: one | {"made": 0} for name, one in layers.items()}
    assert queue.result("enrich", corpus) == {**made, "layers": again}
    queue.done("delete", corpus, documents=[documents[0].id])
    assert up_to_date(queue, corpus)
    titles = {row["title"] for row in communities(queue, corpus)}
    assert titles
    assert not any("Alice Harper" in title for title in titles)
    queue.done("delete_corpus", corpus)
    assert communities(queue, corpus) == []


def communities(queue: Queue, corpus: str) -> list[Any]:
    return queue.driver.execute_query(
        "MATCH (c:Community|OutdatedCommunity|StagedCommunity {corpus: $corpus}) RETURN c.title AS title", corpus=corpus
    ).records


def up_to_date(queue: Queue, corpus: str) -> bool:
    [row] = queue.run(state(corpus))
    return bool(row["communities"] == row["revision"])


def state(corpus: str) -> Operation[Rows]:
    return (yield Read("layers/state", {"corpus": corpus}))


def test_graphs_of_other_programs_are_adopted_and_linked(queue: Queue, client: E2G, corpus: str) -> None:
    label = f"Page{uuid4().hex}"
    queue.driver.execute_query(f"CREATE (:{label} {{id: 1, text: $text, name: 'Alice Harper'}})", text=TEXT)
    queue.result("adopt", corpus, label=label, properties=["name"])
    assert [one.properties for one in client.documents(corpus)] == [{"name": "Alice Harper"}]
    queue.result("link", corpus, label=label, name="name")
    assert sum(client.links(corpus=corpus).values()) == 1
    assert queue.result("unlink", corpus, label=label) == {"links": 1}
    assert queue.failure("delete_corpus", corpus)[0] == "adopted_corpus"
    assert len(queue.result("unadopt", corpus)["documents"]) == 1
    assert corpus not in client.corpora()
    assert queue.failure("unadopt", corpus)[0] == "corpus_not_found"


def test_the_service_is_no_part_of_a_corpus(
    queue: Queue, client: E2G, corpus: str, tmp_path: Path, driver: Driver
) -> None:
    client.index([from_text(TEXT, corpus=corpus, source="a")], corpus=corpus)

    def seen(name: str) -> Any:
        info = client.export_corpus(tmp_path / f"{name}.zip", corpus=corpus)
        problems = [one for one in client.doctor() if one.state == "problem"]
        return client.stats(corpus), client.corpora(), problems, info.nodes, graph(driver, corpus)

    before = seen("before")
    failed = queue.done("index", corpus, ("a.pdf", b"broken"))
    _, text = queue.run(keys.create("a", ["read"], [corpus]))
    queue.run(keys.add_usage([{"key": "a", "requests": 1}]))
    assert seen("after") == before
    client.delete(corpus=corpus)
    assert queue.get(failed.id).state == "failed"
    assert queue.blobs() == 1
    assert queue.run(keys.verify_key(text)) is not None
    assert client.import_corpus(tmp_path / "after.zip").documents == 1


# --- once --------------------------------------------------------------------------------------------


def half(queue: Queue, tmp_path: Path) -> dict[str, Any]:
    """Do the next task, and end before that is recorded."""
    lease = queue.run(task_leases.take_task())
    assert lease is not None

    async def attempt(lease: TaskLease) -> dict[str, Any]:
        folder = tmp_path / uuid4().hex
        folder.mkdir()
        async with AsyncE2G(settings=queue.settings) as client:
            return await TASK_HANDLERS[lease.task.kind](Run(client, lease, folder, lambda *_: None))

    result = asyncio.run(attempt(lease))
    queue.expire()
    return result


def test_a_second_attempt_leaves_what_was_changed_in_between(
    queue: Queue, client: E2G, corpus: str, tmp_path: Path
) -> None:
    task = queue.create("index", corpus, ("a.txt", TEXT.encode()), ("b.txt", TEXT.encode()))
    half(queue, tmp_path)
    client.index([from_text(OTHER, corpus=corpus, source="upload:a.txt")], corpus=corpus)
    queue.work()
    ended = queue.get(task)
    assert (ended.state, ended.attempt) == ("succeeded", 2)
    assert ended.result is not None
    assert (ended.result["superseded"], ended.result["unchanged"]) == (["upload:a.txt"], 1)
    lengths = {one.source: one.characters for one in client.documents(corpus)}
    assert lengths == {"upload:a.txt": len(OTHER), "upload:b.txt": len(TEXT)}


def test_a_deleted_document_leaves_nothing_with_others(queue: Queue, client: E2G, corpus: str) -> None:
    """Neither the full name of a person, nor a title, that other documents mention."""
    texts = {
        "The Gale of 1890": "Luke Farran kept the light. Luke Farran met Josiah Quill.",
        "Letters": "Farran wrote about The Gale of 1890. Farran met Quill.",
        "Diary": "Josiah Quill read The Gale of 1890 to Theodora Marsh.",
    }
    given = [from_text(text, corpus=corpus, source=title, title=title) for title, text in texts.items()]
    client.index(given, corpus=corpus)
    client.delete([given[0].id], corpus=corpus)
    expected = graph(queue.driver, corpus)
    client.index(given[:1], corpus=corpus)
    assert graph(queue.driver, corpus) != expected
    assert queue.done("delete", corpus, documents=[given[0].id]).state == "succeeded"
    assert graph(queue.driver, corpus) == expected


@pytest.mark.parametrize("kind", ["delete", "delete_corpus"])
def test_a_second_attempt_does_not_delete_what_came_in_between(
    queue: Queue, client: E2G, corpus: str, tmp_path: Path, kind: TaskKind
) -> None:
    documents = [from_text(TEXT, corpus=corpus, source=source) for source in "ab"]
    client.index(documents, corpus=corpus)
    more: dict[str, Any] = {"documents": [one.id for one in documents]} if kind == "delete" else {}
    task = queue.create(kind, corpus, **more)
    half(queue, tmp_path)
    assert corpus not in client.corpora()
    client.index(documents[:1], corpus=corpus)
    queue.work()
    assert (queue.get(task).state, queue.get(task).attempt) == ("succeeded", 2)
    assert sources(client, corpus).keys() == {"a"}


def test_a_second_attempt_brings_communities_up_to_date(
    queue: Queue, client: E2G, corpus: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = [from_text(text, corpus=corpus, source=text[:5]) for text in (TEXT, OTHER)]
    client.index(documents, corpus=corpus)
    client.enrich(corpus=corpus)
    task = queue.create("delete", corpus, documents=[documents[0].id])

    def killed(*_: object) -> None:
        raise KeyError

    with monkeypatch.context() as patch:
        patch.setattr("e2g_neo4j.indexing.operations.update_layers", killed)
        with pytest.raises(KeyError):
            half(queue, tmp_path)
    assert sources(client, corpus).keys() == {OTHER[:5]}
    assert not up_to_date(queue, corpus)
    queue.expire()
    queue.work()
    assert (queue.get(task).state, queue.get(task).attempt) == ("succeeded", 2)
    assert up_to_date(queue, corpus)


def test_a_second_attempt_finds_its_import_done(queue: Queue, client: E2G, corpus: str, tmp_path: Path) -> None:
    client.index([from_text(TEXT, corpus=corpus, source="a")], corpus=corpus)
    client.export_corpus(tmp_path / "a.zip", corpus=corpus)
    task = queue.create("import", f"{corpus}-2", ("a.zip", (tmp_path / "a.zip").read_bytes()))
    first = half(queue, tmp_path)
    queue.work()
    assert queue.get(task).result == first


# --- stopping ----------------------------------------------------------------------------------------


@pytest.fixture
def server() -> Iterator[Failing]:
    failing = Failing()
    yield failing
    failing.stop()


SUMMARY = part("Alice Harper met Bob Miller.") + END.replace(b": 5", b': "all"')


def with_chat(queue: Queue, server: Failing) -> Settings:
    forget_replies(queue.driver, f"ollama:{NAME}@")
    chat = {"ollama_host": server.host, "chat_model": f"ollama:{NAME}", "llm_concurrency": 1, "summary_tokens": 40}
    return queue.settings.model_copy(update=chat)


def hanging(queue: Queue, server: Failing, then: Callable[[Worker], Awaitable[Any]]) -> None:
    """Start a worker, do something once its task waits for a chat model, and wait for the worker to stop."""
    server.replies = [SUMMARY, HANGS]

    async def run() -> None:
        async with AsyncE2G(settings=with_chat(queue, server)) as client:
            worker = Worker(client)
            running = asyncio.create_task(worker.run())
            while not server.hanging.is_set():
                assert not running.done(), running
                await asyncio.sleep(0.05)
            await then(worker)
            worker.stopping.set()
            await running

    asyncio.run(run())


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "RENEW_SECONDS", 0.2)


async def until(condition: Callable[[], bool]) -> None:
    """Wait in a thread: the worker on this event loop may hold the lock that a question to the database waits for."""
    while not await asyncio.to_thread(condition):
        await asyncio.sleep(0.05)


def test_a_running_task_is_cancelled(queue: Queue, server: Failing, corpus: str, quick: None) -> None:
    task = queue.create("index", corpus, ("a.txt", TEXT.encode()))

    async def cancel(_: Worker) -> None:
        await until(lambda: queue.get(task).tokens > 0)
        assert queue.get(task).stage is not None
        await asyncio.to_thread(queue.run, tasks.cancel(task))
        await until(lambda: queue.get(task).state == "cancelled")

    hanging(queue, server, cancel)
    ended = queue.get(task)
    assert (ended.result, ended.error, ended.attempt) == (None, None, 1)
    assert queue.blobs() == 1


@pytest.mark.parametrize("limit", [10, 100_000])
def test_a_task_stops_where_its_key_may_use_no_more_tokens(
    queue: Queue, server: Failing, corpus: str, quick: None, limit: int
) -> None:
    """Before a call that might exceed the limit, and when others have used what was left meanwhile."""
    info, _ = queue.run(keys.create("small", ["write"], ["*"], tokens_per_day=limit))
    task = queue.create("index", corpus, ("a.txt", TEXT.encode()), key=info.id)

    async def spend(_: Worker) -> None:
        await until(lambda: queue.get(task).tokens > 0)
        await asyncio.to_thread(queue.run, keys.add_usage([{"key": info.id, "prompt_tokens": limit}]))
        await until(lambda: queue.get(task).state == "failed")

    if limit == 10:
        asyncio.run(crashes.work(with_chat(queue, server)))
        assert server.asked == []
    else:
        hanging(queue, server, spend)
    ended = queue.get(task)
    assert (ended.state, ended.error) == ("failed", {"code": task_leases.SPENT[0], "detail": task_leases.SPENT[1]})


@pytest.mark.parametrize("stopped", [False, True], ids=["cancelled", "stopped"])
def test_the_process_that_parses_a_file_ends_with_the_task(
    queue: Queue, corpus: str, quick: None, stopped: bool
) -> None:
    task = queue.create("index", corpus, ("endless.pdf", one_page_again_and_again(20_000)))

    async def run() -> None:
        async with AsyncE2G(settings=queue.settings.model_copy(update={"max_document_mb": 1024})) as client:
            worker = Worker(client)
            running = asyncio.create_task(worker.run())
            await until(lambda: bool(parsing()))
            if not stopped:
                await asyncio.to_thread(queue.run, tasks.cancel(task))
                await until(lambda: queue.get(task).state == "cancelled")
                await until(lambda: not parsing())
            worker.stopping.set()
            await running
            await until(lambda: not parsing())

    asyncio.run(run())
    assert queue.get(task).state == ("queued" if stopped else "cancelled")


def parsing() -> list[psutil.Process]:
    """The processes that parse files for this one; one that ended and was not waited for yet parses nothing."""
    return [one for one in psutil.Process().children() if parser_process.__file__ in command_of(one)]


def command_of(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:  # or its subclass for those that ended and were not waited for
        return []


def test_a_stopped_worker_puts_its_task_back(queue: Queue, client: E2G, server: Failing, corpus: str) -> None:
    task = queue.create("index", corpus, ("a.txt", TEXT.encode()))

    async def nothing(_: Worker) -> None:
        pass

    hanging(queue, server, nothing)
    assert (queue.get(task).state, queue.get(task).attempt) == ("queued", 0)
    queue.work()
    assert (queue.get(task).state, queue.get(task).attempt) == ("succeeded", 1)
    assert client.corpora()[corpus] == 1


def test_a_worker_that_lost_its_task_stops_and_changes_nothing(
    queue: Queue, server: Failing, corpus: str, quick: None, caplog: pytest.LogCaptureFixture
) -> None:
    task = queue.create("index", corpus, ("a.txt", TEXT.encode()))
    other: list[TaskLease] = []

    def take() -> None:
        while not other:  # it may be renewed between the two
            queue.driver.execute_query("MATCH (t:E2GTask) SET t.expires = 0")
            if lease := queue.run(task_leases.take_task()):
                other.append(lease)

    async def take_over(worker: Worker) -> None:
        await asyncio.to_thread(take)
        await until(lambda: "the lease was lost" in caplog.text)

    hanging(queue, server, take_over)
    assert (queue.get(task).state, queue.get(task).attempt) == ("running", 2)
    assert queue.run(task_leases.renew(other[0], None, 0, 0, 0)) == "go on"


def test_what_is_not_ours_is_named_only(
    queue: Queue, corpus: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError(f"secret of {TEXT}")

    monkeypatch.setattr("e2g_neo4j.indexing.run.embed_long", broken)
    code, detail = queue.failure("index", corpus, ("a.txt", TEXT.encode()))
    assert code == "internal"
    assert "RuntimeError" in detail
    assert "secret" not in detail + caplog.text
    assert "Unexpected RuntimeError at" in caplog.text


# --- killed ------------------------------------------------------------------------------------------


Prepare = Callable[[Queue, E2G, str, Path], Callable[[], str]]


def _index(queue: Queue, client: E2G, corpus: str, folder: Path) -> Callable[[], str]:
    return lambda: queue.create("index", corpus, ("a.txt", TEXT.encode()), ("b.txt", OTHER.encode()))


def _replace(queue: Queue, client: E2G, corpus: str, folder: Path) -> Callable[[], str]:
    before = from_text(TEXT + OTHER, corpus=corpus, source="a")
    client.index([before], corpus=corpus)
    return lambda: queue.create("replace", corpus, ("b.txt", (OTHER + TEXT).encode()), document=before.id)


def _delete(queue: Queue, client: E2G, corpus: str, folder: Path) -> Callable[[], str]:
    documents = [from_text(text, corpus=corpus, source=text[:5]) for text in (TEXT, OTHER, TEXT + OTHER)]
    client.index(documents, corpus=corpus)
    client.enrich(corpus=corpus)
    return lambda: queue.create("delete", corpus, documents=[one.id for one in documents[:2]])


def _enrich(queue: Queue, client: E2G, corpus: str, folder: Path) -> Callable[[], str]:
    client.index([from_text(text, corpus=corpus, source=text[:5]) for text in (TEXT, OTHER)], corpus=corpus)
    return lambda: queue.create("enrich", corpus)


def _import(queue: Queue, client: E2G, corpus: str, folder: Path) -> Callable[[], str]:
    archive = folder / "a.zip"
    if not archive.exists():
        client.index([from_text(TEXT, corpus="exported", source="a")], corpus="exported")
        client.export_corpus(archive, corpus="exported")
        client.delete(corpus="exported")
    return lambda: queue.create("import", corpus, ("a.zip", archive.read_bytes()))


POINTS = 8


@pytest.mark.by_turns(3)
@pytest.mark.full
@pytest.mark.timeout(900)
@pytest.mark.parametrize("prepare", [_index, _replace, _delete, _enrich, _import])
def test_a_task_is_done_once_wherever_its_worker_is_killed(
    queue: Queue, client: E2G, corpus: str, tmp_path: Path, prepare: Prepare
) -> None:
    """SIGKILL when the server has answered so many statements; then another worker. With all kinds, 40 points in the
    full tier, otherwise one of each kind, others from day to day."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["crashes"])
    sent = context.SimpleQueue()
    task = prepare(queue, client, corpus, tmp_path)()
    process = context.Process(target=crashes.work_and_die, args=(queue.settings, -1, sent))
    process.start()
    names = []
    while process.is_alive() or not sent.empty():
        if not sent.empty():
            names.append(sent.get())
        else:
            time.sleep(0.02)
    assert queue.get(task).state == "succeeded"
    whole = graph(queue.driver, corpus)
    last = names.index("service/end_task")
    attempts = []
    every = sorted({1 + round(n * last / (POINTS - 1)) for n in range(POINTS)})  # from the first statement to the last
    points = every if FULL else few_of(every[:-1], 1)
    for point in points:
        with suppress(Exception):
            client.delete(corpus=corpus)
        task = prepare(queue, client, corpus, tmp_path)()
        process = context.Process(target=crashes.work_and_die, args=(queue.settings, point))
        process.start()
        process.join()
        assert process.exitcode == -signal.SIGKILL
        queue.expire()
        queue.work()
        ended = queue.get(task)
        attempts.append(ended.attempt)
        assert (ended.state, ended.error) == ("succeeded", None), names[point]
        assert graph(queue.driver, corpus) == whole, names[point]
        assert queue.blobs() == 0
    assert 2 in attempts
    assert set(attempts) <= {1, 2}


async def test_the_command_ends_on_a_signal(queue: Queue) -> None:
    running = asyncio.create_task(main(queue.settings))
    await asyncio.sleep(1)
    os.kill(os.getpid(), signal.SIGTERM)
    await asyncio.wait_for(running, 120)
