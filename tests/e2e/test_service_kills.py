"""The service is killed at steps of requests, its database at steps of tasks: every task is there once, and ends."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psutil
import pytest
from at_server import connected, migrated, settings_of
from neo4j import Driver
from queues import Queue, graph
from real_ollama import RealOllama
from running_service import STARTING_SECONDS, RunningService, environment
from scripted_models import Says
from tiers import at_length

from e2g_neo4j import AsyncE2G, Settings
from e2g_neo4j.graph import task_leases
from e2g_neo4j.managed_neo4j import Connection, LocalServer
from e2g_neo4j.runtime import database
from e2g_neo4j.runtime.cypher import Variant, load
from e2g_neo4j.service import worker as worker_module
from e2g_neo4j.service.worker import Worker

TEXT = "Alice Harper met Bob Miller in Paris. Miller sold her a letter. Carol Finch saw them at the harbour. " * 15
OTHER = "Dora Quill kept the log of the Averil. Josiah Quill counted the sails in the harbour of Hesk. " * 15
DOCUMENTS = {"documents": [{"source": "a", "text": TEXT}, {"source": "b", "text": OTHER}]}
BODY = json.dumps(DOCUMENTS).encode() + b" " * 400_000  # more than one message, and little to index
MANY = json.dumps({"documents": [{"source": f"s{n}", "text": TEXT + OTHER + str(n)} for n in range(12)]}).encode()
REQUEST_POINTS = 12
STREAMS = at_length(50, 12)
QUESTION = {"question": "Who kept the log of the Averil?", "corpora": ["ships"]}
SMALL = {"E2G_CHUNK_TOKENS": "64", "E2G_CHUNK_OVERLAP": "8", "E2G_GROUP_SIZE": "2"}
TESTS = Path(__file__).parents[1]


def settings_for(connection: Connection) -> Settings:
    return settings_of(connection, chunk_tokens=64, chunk_overlap=8, group_size=2, workers=1)


@pytest.fixture(scope="module")
def driver(scratch: Connection) -> Iterator[Driver]:
    with migrated(scratch) as driver:
        yield driver


@pytest.fixture
def queue(driver: Driver, scratch: Connection) -> Queue:
    driver.execute_query("MATCH (n) WHERE NOT n:`__Neo4jMigration` AND NOT n:E2GQueue DETACH DELETE n")
    return Queue(driver, settings_for(scratch))


class Mortal:
    """A service that requests may kill. It listens on the same port when it is started again."""

    def __init__(self, connection: Connection, log: Path, *, worker: bool) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.log, self.worker = log, worker
        self.variables = {**environment(connection, **SMALL), "PYTHONPATH": str(TESTS)}
        self.start()

    def start(self) -> None:
        command = f"import crashes; crashes.serve_and_die({self.port}, {self.worker})"
        with self.log.open("ab") as target:
            self.process = subprocess.Popen(
                [sys.executable, "-c", command], env=self.variables, stdout=target, stderr=target
            )
        until = time.monotonic() + STARTING_SECONDS
        while time.monotonic() < until:
            assert self.process.poll() is None, self.log.read_text()[-2000:]
            with suppress(httpx.TransportError):
                if self.http().get("/livez").status_code == 200:
                    return
            time.sleep(0.1)
        self.stop()
        raise AssertionError("The service did not start.")

    def http(self) -> httpx.Client:
        return httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=60)

    def post(self, corpus: str, key: str, kill_at: str = "", body: bytes = BODY) -> httpx.Response:
        headers = {"Content-Type": "application/json", "Idempotency-Key": key, "X-Kill-At": kill_at}
        with self.http() as http:
            return http.post(f"/v1/corpora/{corpus}/documents", content=body, headers=headers)

    def steps(self) -> list[str]:
        """The steps of all requests so far."""
        return [line[5:].strip() for line in self.log.read_text().splitlines() if line.startswith("step ")]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)


def tasks_and_orphans(driver: Driver) -> tuple[int, int]:
    """Tasks, and blobs without one."""
    [row] = driver.execute_query(
        "RETURN COUNT { (:E2GTask) } AS tasks, "
        "COUNT { MATCH (b:E2GBlob) WHERE NOT EXISTS { (:E2GTask {id: b.task}) } } AS orphans"
    ).records
    return row["tasks"], row["orphans"]


def reset(queue: Queue) -> None:
    queue.driver.execute_query("MATCH (n) WHERE NOT n:`__Neo4jMigration` AND NOT n:E2GQueue DETACH DELETE n")


@pytest.mark.by_turns(2)
@pytest.mark.full
@pytest.mark.timeout(600)
def test_a_service_killed_at_any_step_of_a_request_has_one_task_or_none(
    queue: Queue, scratch: Connection, corpus: str, tmp_path: Path
) -> None:
    """From the first bytes of the body to the end of the reply. The client sends the request again."""
    service = Mortal(scratch, tmp_path / "log", worker=False)
    try:
        assert service.post(corpus, "whole").status_code == 202
        steps = [one for one in service.steps() if not one.startswith("http.disconnect")]
        assert "http.request#3" in steps
        assert "service/add_blobs#5" in steps
        created = steps.index("service/create_task#1")
        replied = steps.index("http.response.start#1")
        last = steps.index("http.response.body#1")
        assert 0 < created < replied < last
        queue.work()
        whole = graph(queue.driver, corpus)
        assert queue.blobs() == 0
        steps = [one for one in steps[: last + 1] if not one.startswith("http.request") or one[-2:] in ("#1", "#2")]
        every = {steps[round(n * (len(steps) - 1) / (REQUEST_POINTS - 1))] for n in range(REQUEST_POINTS)}
        every |= {"service/create_task#1", "http.response.start#1"}
        points = at_length(sorted(every, key=steps.index), ["service/add_blobs#4", "http.response.start#1"])
        found = []
        for point in points:
            reset(queue)
            key = uuid4().hex
            with pytest.raises(httpx.TransportError):
                service.post(corpus, key, point)
            assert service.process.wait(60) == -signal.SIGKILL
            found.append(tasks_and_orphans(queue.driver))
            service.start()
            with service.http() as http:
                listed = http.get("/v1/tasks").json()["tasks"]
                assert len(listed) == found[-1][0], point
                assert http.get("/v1/corpora").json() == [], point
            repeated = [service.post(corpus, key) for _ in range(2)]
            assert [one.status_code for one in repeated] == [202, 202], point
            assert {one.json()["id"] for one in repeated} | {one["id"] for one in listed} == {repeated[0].json()["id"]}
            queue.work()
            ended = queue.get(repeated[0].json()["id"])
            assert (ended.state, ended.attempt, ended.error) == ("succeeded", 1, None), point
            assert graph(queue.driver, corpus) == whole, point
            assert tasks_and_orphans(queue.driver) == (1, found[-1][1] if not listed else 0), point
            queue.driver.execute_query("MATCH (b:E2GBlob) SET b.created = 0")
            queue.run(task_leases.clean_up())
            assert queue.blobs() == 0, point
        assert {tasks for tasks, _ in found} == {0, 1}
        assert max(orphans for _, orphans in found) > 1
    finally:
        service.stop()


Point = Callable[[httpx.Client, str, Callable[[], None]], None]
"""Waits for something, then kills the service."""


def _accepted(http: httpx.Client, task: str, kill: Callable[[], None]) -> None:
    kill()


def _running(http: httpx.Client, task: str, kill: Callable[[], None]) -> None:
    _until(lambda: http.get(f"/v1/tasks/{task}").json()["state"] == "running")
    kill()


def _waiting(http: httpx.Client, task: str, kill: Callable[[], None]) -> None:
    """A request waits for the running task."""
    _until(lambda: http.get(f"/v1/tasks/{task}").json()["state"] == "running")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(http.get, f"/v1/tasks/{task}?wait=60")
        _until(lambda: "e2g_requests_in_flight 2.0" in http.get("/metrics").text or waiting.done())
        assert not waiting.done()
        kill()
        assert isinstance(waiting.exception(60), httpx.TransportError)


def _streaming(http: httpx.Client, task: str, kill: Callable[[], None]) -> None:
    """Events of the running task have come; the stream breaks, and does not end as if the task had."""
    events: list[str] = []

    def read() -> None:
        with http.stream("GET", f"/v1/tasks/{task}/events") as reply:
            for line in reply.iter_lines():
                events.append(line)
                if line.startswith("data: ") and json.loads(line[6:])["state"] == "running":
                    kill()

    with pytest.raises(httpx.TransportError):
        read()
    assert "event: done" not in events


def _until(condition: Callable[[], bool], seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.by_turns(2)
@pytest.mark.full
@pytest.mark.timeout(600)
def test_tasks_of_a_killed_service_are_ended_by_the_next_one(
    queue: Queue, scratch: Connection, corpus: str, tmp_path: Path
) -> None:
    """Its worker ends with it, and puts its task back."""
    service = Mortal(scratch, tmp_path / "log", worker=True)
    try:
        whole: Any = None
        points: list[Point | None] = [None]
        for point in points + at_length([_accepted, _running, _waiting, _streaming], [_streaming]):
            reset(queue)
            task = service.post(corpus, uuid4().hex, body=MANY).json()["id"]
            if point is not None:
                others = psutil.Process(service.process.pid).children(recursive=True)
                assert others
                with service.http() as http:
                    point(http, task, service.kill)
                _, alive = psutil.wait_procs(others, 60)
                assert not alive, point
                assert queue.get(task).state in ("queued", "succeeded"), point
                assert point is not _streaming or queue.get(task).state == "queued"
                service.start()
            with service.http() as http:
                while (ended := http.get(f"/v1/tasks/{task}?wait=30").json())["state"] in ("queued", "running"):
                    pass
            assert (ended["state"], ended["attempt"]) == ("succeeded", 1), point
            whole = whole or graph(queue.driver, corpus)
            assert graph(queue.driver, corpus) == whole, point
            assert tasks_and_orphans(queue.driver) == (1, 0)
            _until(lambda: queue.blobs() == 0)  # a task ends, then its files are deleted
    finally:
        service.stop()


# --- stopped -----------------------------------------------------------------------------------------


def last_event(http: httpx.Client, begun: list[int], number: int) -> tuple[str, str]:
    """Ask until the service has a place for it; the name and the code of the event that ends the stream."""
    while True:
        with http.stream("POST", "/v1/ask", json={**QUESTION, "stream": True}) as reply:
            if reply.status_code == 200:
                begun.append(number)
                lines = list(reply.iter_lines())
                names = [line[7:] for line in lines if line.startswith("event: ")]
                data = [line[6:] for line in lines if line.startswith("data: ")]
                return names[-1], json.loads(data[-1]).get("code", "")
            assert reply.status_code == 429
        time.sleep(0.5)


@pytest.mark.by_turns(2)
@pytest.mark.full
def test_a_stopped_service_ends_streams_and_puts_its_task_back(
    queue: Queue, scratch: Connection, ollama_server: RealOllama, corpus: str, tmp_path: Path
) -> None:
    # A reply that repeats itself within 300 characters would be ended.
    waves = "".join(f"At {hour} o'clock another wave came over the rail. " for hour in range(12))
    ollama_server.create("endless", Says(waves, endless=True))
    models = {"E2G_CHAT_MODEL": "ollama:endless", "E2G_ANSWER_TOKENS": "20000", "E2G_OLLAMA_HOST": ollama_server.host}
    variables = environment(scratch, **SMALL, **models)
    ships = queue.create("index", "ships", ("log.txt", OTHER.encode()))
    queue.work()
    assert queue.get(ships).state == "succeeded"
    service = RunningService(variables, tmp_path / "log")
    try:
        limits = httpx.Limits(max_connections=STREAMS)
        with (
            httpx.Client(base_url=service.url, timeout=120, limits=limits) as http,
            ThreadPoolExecutor(STREAMS) as pool,
        ):
            begun: list[int] = []
            streams = [pool.submit(last_event, http, begun, number) for number in range(STREAMS)]
            _until(lambda: len(begun) == STREAMS)
            files = [(f"{n}.txt", f"{n}: {TEXT}{OTHER}".encode()) for n in range(24)]
            task = queue.create("index", corpus, *files)
            _until(lambda: queue.get(task).stage is not None)
            began = time.monotonic()
            assert service.stop() == 0
            assert time.monotonic() - began < 20, "promised in docs/service.md"
            assert {one.result(timeout=5) for one in streams} == {("error", "stopping")}
        assert (queue.get(task).state, queue.get(task).attempt) == ("queued", 0)
    finally:
        service.kill()
    queue.work()
    assert (queue.get(task).state, queue.get(task).attempt, queue.blobs()) == ("succeeded", 1, 0)


# --- the database ------------------------------------------------------------------------------------


@pytest.fixture
def own(tmp_path: Path) -> Iterator[LocalServer]:
    """A server for this test alone."""
    server = LocalServer(Settings(home=tmp_path / "home", db_heap_mb=512))
    yield server
    server.stop()


def kill(server: LocalServer) -> None:
    process = psutil.Process(server.status().pid)
    process.kill()
    with suppress(psutil.NoSuchProcess):
        process.wait(60)


def is_away(service: Mortal, task: str) -> None:
    """Every request says that the database is away, and when to try again."""
    with service.http() as http:
        assert http.get("/livez").status_code == 200
        assert http.get("/readyz").status_code == 503
        question = {"question": "Who kept the log?", "corpora": ["any"]}
        for reply in (
            http.get("/v1/corpora"),
            http.get(f"/v1/tasks/{task}"),
            http.post("/v1/retrieve", json=question),
            http.post("/v1/corpora/other/documents", json=DOCUMENTS),
        ):
            assert (reply.status_code, reply.json()["code"]) == (503, "unreachable"), reply.text
            assert int(reply.headers["retry-after"]) > 0


@pytest.mark.by_turns(2)
@pytest.mark.full
@pytest.mark.timeout(900)
def test_tasks_end_once_wherever_the_database_is_killed(
    own: LocalServer, corpus: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At statements of a task, from its lease to its end. Worker and service go on by themselves."""
    monkeypatch.setattr(worker_module, "LONGEST_WAIT_SECONDS", 1.0)
    monkeypatch.setattr(database, "RETRY_SECONDS", 1.0)
    connection = own.start()
    service: Mortal | None = None
    names: list[str] = []
    at = -1

    def counting(name: str, *variant: Variant) -> Any:
        if names or name == "service/take_task":
            if name in ("index/renew_run", "service/renew"):  # how often they come depends on the clock
                return load(name, *variant)
            if len(names) == at:
                kill(own)
            names.append(name)
        return load(name, *variant)

    monkeypatch.setattr(database, "load", counting)
    try:
        with migrated(connection, max_transaction_retry_time=5) as driver:
            service = Mortal(connection, tmp_path / "log", worker=False)
            queue = Queue(driver, settings_for(connection))
            service.post(corpus, "whole")
            queue.work()
            whole, last = graph(driver, corpus), names.index("service/end_task")
        every = [round(n * (last + 1) / 7) for n in range(8)]
        for at in at_length(every, [last // 2]):
            with connected(connection, max_transaction_retry_time=5) as driver:
                queue = Queue(driver, settings_for(connection))
                reset(queue)
                names.clear()
                task = service.post(corpus, uuid4().hex).json()["id"]
                asyncio.run(asyncio.wait_for(_outlived(queue, own, service, task, connection), 200))
                ended = queue.get(task)
                assert (ended.state, ended.error) == ("succeeded", None), at
                assert ended.attempt in (1, 2)
                assert graph(driver, corpus) == whole, at
                assert tasks_and_orphans(driver) == (1, 0)
                queue.run(task_leases.clean_up())  # the database may have been killed between the end and the deletion
                assert queue.blobs() == 0
                with service.http() as http:
                    assert http.get(f"/v1/tasks/{task}").json()["state"] == "succeeded"
                    assert [one["corpus"] for one in http.get("/v1/corpora").json()] == [corpus]
    finally:
        if service is not None:
            service.stop()


async def _outlived(queue: Queue, own: LocalServer, service: Mortal, task: str, connection: Connection) -> None:
    """Run a worker, until it has ended the task in spite of the database."""
    async with AsyncE2G(settings=queue.settings) as client:
        worker = Worker(client)
        running = asyncio.create_task(worker.run())
        while own.status().running:
            await asyncio.sleep(0.05)
        await asyncio.to_thread(is_away, service, task)
        assert (await asyncio.to_thread(own.start)).uri == connection.uri
        await asyncio.to_thread(queue.expire)
        while (await asyncio.to_thread(queue.get, task)).state != "succeeded":
            assert not running.done()
            await asyncio.sleep(0.1)
        worker.stopping.set()
        await running
