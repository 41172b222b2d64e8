"""Texts that are read on a real Dask cluster: a scheduler and two workers, one of which is killed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from at_server import settings_of
from graphs import snapshot
from neo4j import Driver

from e2g_neo4j import E2G, Settings
from e2g_neo4j.errors import ConfigurationError, ModelError
from e2g_neo4j.indexing import cluster
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.models.entities.pipeline import load_pipeline
from e2g_neo4j.models.loaded import Models

pytestmark = pytest.mark.full

SAMPLE = Path(cluster.__file__).parents[1] / "sample" / "library"
DASK = Path(sys.executable).with_name("dask")


@dataclass
class DaskCluster:
    """A scheduler, and its workers with one thread each."""

    folder: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def address(self) -> str:
        return (self.folder / "scheduler").read_text(encoding="ascii")

    def start_scheduler(self) -> None:
        script = "import sys, asyncio\nfrom distributed import Scheduler\n"
        script += "async def run():\n    async with Scheduler(host='127.0.0.1', port=0, dashboard=False) as one:\n"
        script += "        print(one.address, flush=True); await one.finished()\nasyncio.run(run())"
        process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.processes.append(process)
        assert process.stdout
        (self.folder / "scheduler").write_bytes(process.stdout.readline().strip())

    def start_worker(self) -> subprocess.Popen[bytes]:
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")
        log = (self.folder / f"worker-{len(self.processes)}").open("wb")
        process = subprocess.Popen([DASK, "worker", self.address, *options], stdout=log, stderr=log, cwd=self.folder)
        self.processes.append(process)
        return process

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    started = DaskCluster(tmp_path_factory.mktemp("dask"))
    started.start_scheduler()
    yield started
    started.stop()


@pytest.fixture
def settings(neo4j_connection: Connection, dask: DaskCluster) -> Settings:
    return settings_of(neo4j_connection, cluster=dask.address, chunk_tokens=400, chunk_overlap=40, workers=1)


@pytest.mark.timeout(300)
def test_the_graph_is_that_of_one_process_though_a_worker_is_killed(
    settings: Settings,
    dask: DaskCluster,
    driver: Driver,
    corpus: str,
    corpora: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster, "BATCH", 2)
    corpora.append(corpus)
    doomed, _ = dask.start_worker(), dask.start_worker()
    seen = []

    def kill(stage: str, done: int, total: int) -> None:
        seen.append((stage, done))
        if stage == "reading" and done == 5:
            doomed.kill()
            doomed.wait()

    with E2G(settings=settings) as e2g:
        report = e2g.index([SAMPLE], corpus=corpus, progress=kill)
    assert doomed.poll() is not None, "it was killed while texts were read"
    assert ("reading", report.chunks) in seen
    on_cluster = snapshot(driver, corpus)
    with E2G(settings=settings.model_copy(update={"cluster": None})) as e2g:
        e2g.delete(corpus=corpus)
        e2g.index([SAMPLE], corpus=corpus)
    assert snapshot(driver, corpus) == on_cluster


def test_a_cluster_without_workers_is_said_and_what_waits_can_go_on(
    settings: Settings, tmp_path: Path, corpora: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "WAIT_SECONDS", 2.0)
    corpora.append("lonely")
    lonely = DaskCluster(tmp_path)
    try:
        lonely.start_scheduler()
        alone = settings.model_copy(update={"cluster": lonely.address})
        with (
            E2G(settings=alone) as e2g,
            pytest.raises(ConfigurationError, match="has no workers: start some with `dask"),
        ):
            e2g.index([SAMPLE / "court-of-inquiry.txt"], corpus="lonely")
    finally:
        lonely.stop()
    with E2G(settings=alone) as e2g, pytest.raises(ConfigurationError, match="cannot be reached: start it with"):
        e2g.index([SAMPLE / "court-of-inquiry.txt"], corpus="lonely")
    with E2G(settings=settings.model_copy(update={"cluster": None})) as e2g:
        assert e2g.index([SAMPLE / "court-of-inquiry.txt"], corpus="lonely").documents == 1


@pytest.mark.parametrize("error", [ValueError("broken"), TimeoutError("broken")])
def test_a_task_that_fails_is_said(
    settings: Settings, dask: DaskCluster, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: object) -> None:
        raise error

    dask.start_worker()
    monkeypatch.setattr(cluster, "read_batch", fail)
    with pytest.raises(ModelError, match=r"could not read some texts: \w+Error\('broken'\)"):
        list(cluster.read_on_cluster(dask.address, Models(settings), [("a text", True)]))


def test_objects_are_not_sent(settings: Settings, corpora: list[str]) -> None:
    nlp = load_pipeline()
    corpora.append("given")
    with E2G(settings=settings, nlp=nlp) as e2g, pytest.raises(ConfigurationError, match="passed as objects"):
        e2g.index([SAMPLE / "court-of-inquiry.txt"], corpus="given")


def test_a_worker_with_other_models_refuses(settings: Settings) -> None:
    told = settings.model_dump(mode="json", include=set(cluster.MODEL_SETTINGS))
    assert not {"neo4j_password", "neo4j_uri"} & told.keys()
    other = Models(settings.model_copy(update={"embedding_dimensions": 100})).fingerprint
    with pytest.raises(ConfigurationError, match="install the same packages on the worker"):
        cluster.read_batch(told, other, [("Luke Farran wrote.", False)])
    [(extraction, embedded)] = cluster.read_batch(told, Models(settings).fingerprint, [("Luke Farran wrote.", False)])
    assert "luke farran" in extraction.counts
    assert embedded.window_vectors.shape == (1, 384)
