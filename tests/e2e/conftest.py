"""End-to-end tests load every model once a process, not once a command, and extract in that process."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import TypeAlias

import pytest
from at_server import set_variables, settings_of
from libraries import remove
from neo4j import Driver
from playwright.sync_api import Playwright, expect, sync_playwright
from real_browser import MILLISECONDS
from running_service import RunningService
from stated import state

from e2g_neo4j import E2G, cli
from e2g_neo4j.cli import waiting
from e2g_neo4j.cli.setup import LIBRARY
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.models.embedding import load
from e2g_neo4j.models.entities import pipeline
from e2g_neo4j.settings import Settings

Ended: TypeAlias = tuple[int, str, str]

CUT_SAMPLE = "cut-sample"


@pytest.fixture(scope="session", autouse=True)
def _models_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(load, "load_embedder", cache(load.load_embedder))
        patch.setattr(pipeline, "load_pipeline", cache(pipeline.load_pipeline))
        patch.setenv("E2G_WORKERS", "1")  # starting other processes takes longer than a small library
        yield


@pytest.fixture(scope="session")
def sample(neo4j_connection: Connection, driver: Driver, _models_once: None) -> Iterator[str]:
    """A corpus of the sample library with all layers, for tests that only ask it."""
    corpus = "sample-of-all"
    settings = settings_of(neo4j_connection)
    with E2G(settings=settings) as e2g:
        e2g.index([LIBRARY], corpus=corpus)
        e2g.enrich(corpus=corpus)
        state(e2g, corpus)
    yield corpus
    remove(driver, [corpus])


@pytest.fixture(scope="session")
def cut_sample(neo4j_connection: Connection, driver: Driver, _models_once: None) -> Iterator[str]:
    """A corpus of the sample library in chunks so small that its papers have trees, for tests that only ask it."""
    with E2G(settings=settings_of(neo4j_connection, chunk_tokens=300, chunk_overlap=50)) as e2g:
        e2g.index([LIBRARY], corpus=CUT_SAMPLE)
    yield CUT_SAMPLE
    remove(driver, [CUT_SAMPLE])


@pytest.fixture(scope="module")
def environment(neo4j_connection: Connection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[pytest.MonkeyPatch]:
    """Commands, and clients that nobody gave settings, find the server, and work in an empty folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("cwd"))
        set_variables(patch, neo4j_connection)
        yield patch


@pytest.fixture(scope="module")
def settings(neo4j_connection: Connection) -> Settings:
    """Of the server that tests share; some files have others."""
    return settings_of(neo4j_connection, workers=1)


@pytest.fixture(scope="module")
def e2g(settings: Settings) -> Iterator[E2G]:
    with E2G(settings=settings) as e2g:
        yield e2g


@pytest.fixture(scope="module")
def client(environment: pytest.MonkeyPatch) -> Iterator[E2G]:
    with E2G() as e2g:
        yield e2g


@pytest.fixture(scope="module")
def service(
    client: E2G, variables: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """A service with the `variables` of a module, whose corpora its `client` has made."""
    running = RunningService(variables, tmp_path_factory.mktemp("service") / "log", "--no-worker")
    yield running
    running.stop()


@pytest.fixture(scope="module")
def playwright() -> Iterator[Playwright]:
    expect.set_options(timeout=MILLISECONDS)
    with sync_playwright() as playwright:
        yield playwright
    expect.set_options()


@pytest.fixture
def keep(tmp_path: Path) -> Callable[[str], Path]:
    """Where a screenshot goes."""
    folder = Path(os.environ.get("E2G_SCREENSHOTS", tmp_path))
    return lambda name: folder / f"{name}.png"


def in_this_process(patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str) -> Ended:
    patch.setattr(sys, "argv", ["e2g", *arguments])
    patch.setattr(waiting, "SECONDS", float("inf"))  # test_waiting.py has what is shown while a command waits
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        cli.main()
    printed = capsys.readouterr()
    return int(end.value.code or 0), printed.out, printed.err


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    """Run `e2g ARGUMENTS…` in this process and give back its exit code, standard output and standard error."""
    return partial(in_this_process, monkeypatch, capsys)


@pytest.fixture
def output(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run `e2g ARGUMENTS…`, which must end with `code`, and give back its standard output."""

    def output(*arguments: str, code: int = 0) -> str:
        ended, out, err = in_this_process(monkeypatch, capsys, *arguments)
        assert ended == code, err
        return out

    return output
