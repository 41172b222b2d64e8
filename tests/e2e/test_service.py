"""The service as its users meet it: a real `e2g serve` with its worker, a real Neo4j, HTTP and the remote client."""

from __future__ import annotations

import json
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from at_server import connected, settings_of
from hostile_files import one_page_again_and_again, runs_of_runs
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_neo4j.graphs.graph_document import GraphDocument, Node, Relationship
from running_service import RunningService, create_key, e2g, environment

from e2g_neo4j import E2G, Adoption, EnrichReport, LayerReport
from e2g_neo4j.documents import parser_process
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import (
    AccessError,
    ArchiveError,
    InputError,
    NotFoundError,
    QueryError,
    ReadingError,
    UnreachableError,
)
from e2g_neo4j.indexing.merge_overrides import split
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.remote_client import RemoteE2G
from e2g_neo4j.runtime.requests import Operation, Read

SAMPLE = Path(__file__).parents[2] / "e2g_neo4j" / "sample" / "library"
FILES = sorted(SAMPLE.glob("*.md"))[:4]
SCRIPT = parser_process.__file__
QUESTION = "Who kept the light on Gannet Head?"
JSON = {"Content-Type": "application/json"}
SECRET = "Zerubbabel keeps the third ledger under the floor of the north tower."


@pytest.fixture(scope="module")
def variables(scratch: Connection) -> dict[str, str]:
    return environment(scratch)


@pytest.fixture(scope="module")
def without_keys(variables: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> None:
    """What holds before there is a key; then there is one for good."""
    refused = e2g(variables, "serve", "--host", "0.0.0.0", "--port", "0")
    assert refused.returncode == 3
    assert "e2g keys create" in refused.stderr
    assert "0.0.0.0" in refused.stderr
    behind_a_proxy = e2g({**variables, "E2G_PUBLIC_URL": "https://e2g.example.org"}, "serve", "--port", "0")
    assert behind_a_proxy.returncode == 3
    assert "https://e2g.example.org" in behind_a_proxy.stderr
    service = RunningService(variables, tmp_path_factory.mktemp("open") / "log")
    with service.client() as http:
        assert http.get("/v1/corpora").json() == []
        assert http.get("/v1/corpora", headers={"Host": "elsewhere.example"}).status_code == 400
        for health in ("/livez", "/readyz", "/metrics"):  # probes of a container use its address
            assert http.get(health, headers={"Host": "10.1.2.3:8000"}).status_code == 200
        for header in ({"X-API-Key": "e2g_nonsense"}, {"Authorization": "Bearer any"}, {"Authorization": "Basic x"}):
            assert http.get("/v1/models", headers=header).status_code == 200, "OpenAI's clients cannot but send one"
    assert service.stop() == 0


@pytest.fixture(scope="module")
def keys(variables: dict[str, str], without_keys: None) -> dict[str, str]:
    return {
        "all": create_key(variables, scopes="read,ask,write,admin", corpora="*"),
        "team": create_key(variables, scopes="read,ask,write,admin", corpora="team-*"),
        "reader": create_key(variables, scopes="read", corpora="*"),
    }


@pytest.fixture(scope="module")
def service(
    variables: dict[str, str], keys: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    running = RunningService(variables, tmp_path_factory.mktemp("service") / "log")
    yield running
    started = psutil.Process(running.process.pid).children(recursive=True)
    running.stop()
    _, left = psutil.wait_procs(started, timeout=20)
    assert left == []


@pytest.fixture(scope="module")
def remote(service: RunningService, keys: dict[str, str]) -> Iterator[RemoteE2G]:
    with RemoteE2G(service.url, keys["all"]) as client:
        client.index(FILES, corpus="library")
        client.index([from_text(SECRET, corpus="vault", source="ledger")], corpus="vault")
        yield client


@pytest.fixture(scope="module")
def local(scratch: Connection) -> Iterator[E2G]:
    settings = settings_of(scratch, workers=1)
    with E2G(settings=settings) as client:
        yield client


# --- the remote client -------------------------------------------------------------------------------


def test_questions_are_restricted_by_properties(remote: RemoteE2G, local: E2G, service: RunningService) -> None:
    given: dict[str, Any] = {"Halcyon": {"year": 1890, "tags": ["a", "b"]}, "Petrel": {"year": 1.5}, "Tern": None}
    texts = [
        from_text(f"The brig {name} left the harbour.", corpus="fleet", source=name, properties=properties)
        for name, properties in given.items()
    ]
    remote.index(texts, corpus="fleet")
    assert remote.documents("fleet") == local.documents("fleet")
    assert [document.properties for document in remote.documents("fleet")] == [
        {"tags": ("a", "b"), "year": 1890},
        {"year": 1.5},
        {},
    ]
    conditions: tuple[Any, ...] = ({"year": {">": 2}}, ["year>2"], {"tags": ["b", "c"]})
    for where in conditions:
        found = remote.retrieve("Which brig left?", corpus="fleet", where=where)
        assert [passage.source for passage in found.passages] == ["upload:Halcyon"]
        assert found == local.retrieve("Which brig left?", corpus="fleet", where=where)
    with pytest.raises(QueryError, match="They have: tags, year"):
        remote.retrieve("Which brig left?", corpus="fleet", where={"port": "x"})
    with pytest.raises(InputError, match="has a value of type dict"):
        remote._send(  # the client refuses it before
            "POST",
            "/v1/corpora/fleet/documents",
            json={"documents": [{"source": "Auk", "text": "An auk.", "properties": {"year": {"of": 1}}}]},
        )


def test_files_are_uploaded_with_properties(
    remote: RemoteE2G, local: E2G, service: RunningService, tmp_path: Path
) -> None:
    """They have the same properties as documents that the local client indexes."""
    log, lines = tmp_path / "log.txt", tmp_path / "lines.jsonl"
    log.write_text("The brig Averil left Port Hesk.")
    lines.write_text(json.dumps({"text": "The brig Lantry sank.", "id": 1, "properties": {"year": 1, "own": "x"}}))
    files = [log, lines]

    def properties() -> list[dict[str, Any]]:
        found = [one.properties for one in remote.documents("logs")]
        assert found == [one.properties for one in local.documents("logs-local")]
        return [dict(one) for one in found]

    def both(**options: Any) -> tuple[int, int]:
        report = remote.index(files, corpus="logs", **options)
        assert local.index(files, corpus="logs-local", **options).unchanged == report.unchanged
        return report.documents, report.unchanged

    assert both(properties={"year": 1908, "tags": ["sea", "é"], "part": 1.0}) == (2, 0)
    given = {"year": 1908, "tags": ("sea", "é"), "part": 1.0}
    assert sorted(properties(), key=len) == [given, {**given, "own": "x"}]
    found = remote.retrieve("Which brig?", corpus="logs", where={"year": 1908, "own": "x"})
    assert [passage.text for passage in found.passages] == ["The brig Lantry sank."]
    files = [log]
    assert both(properties={"year": 1909}) == (0, 1), "the text is the same"
    assert {"year": 1909} in properties()
    assert both() == (0, 1)
    assert {"year": 1909} in properties(), "those that are stored are kept"
    assert both(properties={}) == (0, 1)
    assert {} in properties()

    text = from_text("The brig Auk came.", corpus="logs", source="Auk", properties={"year": 1, "own": "y"})
    remote.index([text, log], corpus="logs", properties={"year": 2})
    before = {one.source: dict(one.properties) for one in remote.documents("logs")}
    assert (before["upload:Auk"], before["upload:log.txt"]) == ({"year": 2, "own": "y"}, {"year": 2})
    mixed: Any = [1, "x"]
    with pytest.raises(InputError, match="has values of several types"):
        remote.index([text, log], corpus="logs", properties={"year": mixed})

    path = "/v1/corpora/logs/documents"
    [document] = [one.id for one in remote.documents("logs") if one.source == "upload:log.txt"]
    for properties_field, message in {
        '{"year": {"of": 1}}': r"properties: .*The property 'year' has a value of type dict",
        '{"year": NaN}': "properties: ",
        "[1]": "properties: ",
        "year=1": "properties: Invalid JSON",
    }.items():
        for method, address, field in (("POST", path, "files"), ("PUT", f"{path}/{document}", "file")):
            content = {field: ("log.txt", b"Another text.")}
            with pytest.raises(InputError, match=message):
                remote._send(method, address, files=content, data={"properties": properties_field})
    others: list[dict[str, Any]] = [{"properties": ["{}", "{}"]}, {"title": "x"}]
    for more in others:
        with pytest.raises(InputError, match="nothing else"):
            remote._send("POST", path, files={"files": ("log.txt", b"Another text.")}, data=more)
    as_file = {"files": ("log.txt", b"Another text."), "properties": ("p.json", b"{}")}
    with pytest.raises(InputError, match="in a field"):
        remote._send("POST", path, files=as_file)
    assert {one.source: dict(one.properties) for one in remote.documents("logs")} == before
    task = remote._send(
        "PUT", f"{path}/{document}", files={"file": ("new.txt", b"Another text.")}, data={"properties": '{"year": 3}'}
    )
    remote.task(task["id"], wait=30)
    assert {one.source: dict(one.properties) for one in remote.documents("logs")} == {
        **before,
        "upload:log.txt": {"year": 3},
    }


def test_a_program_moves_to_the_service_by_one_line(remote: RemoteE2G, local: E2G) -> None:
    assert remote.corpora() == local.corpora()
    assert remote.documents("library") == local.documents("library")
    assert remote.stats("library") == local.stats("library")
    assert remote.entities("light", corpus="library") == local.entities("light", corpus="library")
    assert remote.merges(corpus="library") == local.merges(corpus="library")
    for mode in ("auto", "e2g", "tree"):
        there, here = (one.retrieve(QUESTION, corpus="library", k=3, mode=mode) for one in (remote, local))
        assert [replace(one, score=0.0) for one in there.passages] == [replace(one, score=0.0) for one in here.passages]
        shown = [[(one.excerpt, one.referred) for one in found.passages] for found in (there, here)]
        assert shown[0] == shown[1]
        assert None not in [excerpt for excerpt, _ in shown[0]]
        assert (there.route, there.reason, there.entities, there.pairs) == (
            here.route,
            here.reason,
            here.entities,
            here.pairs,
        )
    made = remote.stats("library")
    estimates = [one.enrich(corpus="library", layers=["communities"], dry_run=True) for one in (remote, local)]
    assert estimates[0] == estimates[1]
    assert remote.stats("library") == made
    own: Any = FakeListChatModel(responses=["no"])
    with pytest.raises(InputError, match="leave `chat_model` out"):
        remote.answer(QUESTION, corpus="library", chat_model=own)
    history = [{"question": "Who was Theodora Quill?"}]
    talk = [one.retrieve("When did she die?", corpus="library", history=history) for one in (remote, local)]
    assert [one.searched_as for one in talk] == ["When did she die? (Theodora Quill)"] * 2
    assert [one.question for one in talk] == ["When did she die?"] * 2
    assert remote.answer(QUESTION, corpus="library", k=3).text is None, "no chat model is configured"
    assert sorted(one.source for one in remote.documents("library")) == [f"upload:{file.name}" for file in FILES]


def test_documents_are_added_replaced_and_deleted(remote: RemoteE2G) -> None:
    report = remote.index(
        [from_text(f"The brig {name} left Port Hesk.", corpus="ships", source=name) for name in ("Averil", "Lantry")],
        corpus="ships",
    )
    assert (report.documents, report.unchanged, report.replaced) == (2, 0, 0)
    again = remote.index([from_text("The brig Averil came back.", corpus="ships", source="Averil")], corpus="ships")
    assert (again.documents, again.replaced) == (1, 1)
    plan = remote.index([from_text("Another.", corpus="ships", source="Other")], corpus="ships", dry_run=True)
    assert (plan.documents, plan.chunks) == (1, 1)
    [deleted] = remote.delete(["upload:Lantry"], corpus="ships")
    assert deleted.source == "upload:Lantry"
    [left] = remote.documents("ships")
    assert left.source == "upload:Averil"
    assert "came back" in remote.retrieve("What did the Averil do?", corpus="ships").passages[0].text
    remote.delete(corpus="ships")
    assert "ships" not in remote.corpora()


def test_texts_are_those_of_the_local_client(remote: RemoteE2G, local: E2G) -> None:
    [first, *_] = remote.documents("library")
    for name in (first.id, first.source, first.title, first.source.removeprefix("upload:")):
        found = remote.text(name, corpus="library", start=7, end=90)
        assert found == local.text(name, corpus="library", start=7, end=90)
        assert (found.document, len(found.text)) == (first.id, 83)
    for name in ("a/b", "", "0" * 16):
        for client in (remote, local):
            with pytest.raises(NotFoundError, match="holds no document"):
                client.text(name, corpus="library")
    remote.index([from_text("Ann.", corpus="twice", source=name, title="Log") for name in "ab"], corpus="twice")
    with pytest.raises(QueryError, match="Several documents of the corpus 'twice' are called 'Log'"):
        remote.text("Log", corpus="twice")


def test_bad_files_are_left_out(remote: RemoteE2G, tmp_path: Path) -> None:
    for name, content in {"good.txt": b"Ann met Bob.", "empty.txt": b"", "odd.txt": bytes(range(128, 256))}.items():
        (tmp_path / name).write_bytes(content)
    bad = {"upload:empty.txt", "upload:odd.txt"}
    with pytest.raises(ReadingError, match=r"empty\.txt.*odd\.txt"):
        remote.index([tmp_path], corpus="mixed", strict=True)
    with pytest.raises(ReadingError, match=r"empty\.txt.*odd\.txt"):
        remote.index([tmp_path], corpus="mixed", strict=True, dry_run=True)
    assert "mixed" not in remote.corpora()
    assert remote.index([tmp_path], corpus="mixed", dry_run=True).failed.keys() == bad
    report = remote.index([tmp_path, tmp_path / "gone.txt"], corpus="mixed")
    assert report.documents == 1
    assert report.failed.keys() == bad | {str(tmp_path / "gone.txt")}


def test_a_dry_run_parses_in_another_process(service: RunningService, keys: dict[str, str]) -> None:
    def parsing() -> list[str]:
        return [one.name() for one in psutil.Process(service.process.pid).children() if SCRIPT in one.cmdline()]

    assert parsing() == []
    page = ("page.html", b"<html><body><h1>Fog</h1><p>Ada wrote.</p></body></html>")
    with service.client(keys["all"]) as http:
        plan = http.post("/v1/corpora/drafts/documents?dry_run=true", files=[("files", page)])
        assert (plan.status_code, plan.json()["documents"]) == (200, 1)
        assert len(parsing()) == 1
        endless = [("files", ("endless.pdf", one_page_again_and_again(20_000)))]
        with pytest.raises(httpx.ReadTimeout):
            http.post("/v1/corpora/drafts/documents?dry_run=true", files=endless, timeout=2)
        assert http.get("/livez", timeout=5).status_code == 200
        refused = http.post("/v1/corpora/drafts/documents?dry_run=true", files=[("files", ("a.pdf", runs_of_runs(4)))])
        assert (refused.status_code, "a.pdf is a PDF without text" in refused.text) == (422, True)


def test_dry_runs_of_one_key_leave_room_and_end_with_their_client(
    service: RunningService, keys: dict[str, str]
) -> None:
    def used() -> dict[psutil.Process, float]:
        """The processor time of each parser."""
        parsers = [one for one in psutil.Process(service.process.pid).children() if SCRIPT in one.cmdline()]
        return {one: one.cpu_times().user for one in parsers}

    endless = [("files", (f"{number}.pdf", one_page_again_and_again(20_000))) for number in range(20)]
    path, before = "/v1/corpora/team-drafts/documents?dry_run=true", used()

    def occupy(refused: list[int]) -> None:
        with service.client(keys["team"]) as http, suppress(httpx.ReadTimeout):
            refused.append(http.post(path, files=endless, timeout=20).status_code)

    refused = list[int]()
    threads = [threading.Thread(target=occupy, args=(refused,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    while not (busy := [one for one, seconds in used().items() if seconds > before.get(one, 0) + 1]):
        time.sleep(0.1)
    with service.client(keys["all"]) as http:
        plan = http.post(path, files={"files": ("page.html", b"<p>Ada wrote.</p>")}, timeout=60)
        assert (plan.status_code, plan.json()["documents"]) == (200, 1)
    for thread in threads:
        thread.join()
    assert refused == [429]
    _, left = psutil.wait_procs(busy, timeout=60)
    assert left == []


def test_documents_are_listed_page_by_page(service: RunningService, remote: RemoteE2G, keys: dict[str, str]) -> None:
    ids = [one.id for one in remote.documents("library")]
    assert len(ids) == len(FILES) == 4
    path = "/v1/corpora/library/documents"
    with service.client(keys["reader"]) as http:
        for limit, sizes in ((1, [1, 1, 1, 1]), (2, [2, 2]), (3, [3, 1]), (4, [4]), (5, [4])):
            pages = [http.get(path, params={"limit": limit}).json()]
            while pages[-1]["cursor"]:
                pages.append(http.get(path, params={"limit": limit, "cursor": pages[-1]["cursor"]}).json())
            assert [len(page["documents"]) for page in pages] == sizes
            assert [one["id"] for page in pages for one in page["documents"]] == ids
        assert http.get(path, params={"cursor": "0" * 16}).status_code == 422
        assert http.get(path, params={"state": "failed"}).json() == {"documents": [], "cursor": None}


def test_a_page_of_documents_has_bounded_bytes(service: RunningService, local: E2G, keys: dict[str, str]) -> None:
    """However large their properties are: the database sends a page, not the corpus."""
    notes = {"notes": ["x" * 60] * 1000}
    documents = [
        from_text(f"Note {number}.", corpus="noted", source=f"{number}", title="Note", properties=notes)
        for number in range(40)
    ]
    local.index(documents, corpus="noted")
    path, found = "/v1/corpora/noted/documents", list[str]()
    with service.client(keys["reader"]) as http:
        page: dict[str, Any] = {"cursor": None}
        while page["cursor"] or not found:
            reply = http.get(path, params={"limit": 1000, **({"cursor": page["cursor"]} if found else {})})
            page = reply.json()
            found += [one["id"] for one in page["documents"]]
            assert len(reply.content) < 2.2 * 2**20
        assert found == [one.id for one in local.documents("noted")]
        assert http.get(f"{path}/{found[7]}").json()["properties"] == notes
        assert http.get(f"{path}/{'0' * 16}").status_code == 404
    local.delete(corpus="noted")


def test_properties_beyond_the_bound_are_refused(remote: RemoteE2G, tmp_path: Path) -> None:
    """In every form, with the bound, and before anything is indexed."""
    bound, half = "the maximum is 65536", {"a": ["x" * 40] * 1000}
    most = {"a": ["x" * 61] * 1000}
    large = {**half, "b": ["y" * 40] * 1000}
    for send in (
        lambda: remote._send("POST", PATH, json={"documents": [{"source": "a", "text": "A.", "properties": large}]}),
        lambda: remote._send("POST", PATH, files={"files": ("a.txt", b"A.")}, data={"properties": json.dumps(large)}),
    ):
        with pytest.raises(InputError, match=bound):
            send()
    lines = [{"text": "Small."}, {"text": "Large.", "properties": large}, {"text": "Half.", "properties": half}]
    content = "\n".join(map(json.dumps, lines)).encode()
    added = {"properties": json.dumps({"b": large["b"]})}
    task = remote._send("POST", PATH, files={"files": ("lines.jsonl", content)}, data=added)
    failed = remote.task(task["id"], wait=30)
    assert failed.state == "failed"
    assert bound in str(failed.error)
    assert "bounded" not in remote.corpora()
    task = remote._send("POST", PATH, files={"files": ("lines.jsonl", content)})
    assert (done := remote.task(task["id"], wait=30)).state == "succeeded"
    assert done.result is not None
    assert done.result["failed"] == {}
    assert any("for lack of space ('b')" in why for lost in done.result["losses"].values() for why in lost)
    assert sorted(len(one.properties) for one in remote.documents("bounded")) == [0, 1, 1]
    with pytest.raises(InputError, match=bound):
        remote.index([tmp_path / "a.txt"], corpus="bounded", properties=large)
    remote.index([from_text("Most.", corpus="bounded", source="most", properties=most)], corpus="bounded")
    remote.delete(corpus="bounded")


PATH = "/v1/corpora/bounded/documents"

NAMES = "Luke Farran met Josiah Quill. Farran spoke. Quill and Farran agreed that Luke Farran was right."


def test_names_are_split_and_joined(remote: RemoteE2G) -> None:
    remote.index([from_text(NAMES, corpus="names", source="log")], corpus="names")
    merged = remote.merges(corpus="names")
    assert "farran" in [one.key for one in merged]
    assert [one.entity for one in remote.split("Farran", corpus="names")] == ["luke farran"]
    assert [one.apart for one in remote.merges("Farran", corpus="names")] == [True]
    assert [one.entity for one in remote.join("Farran", corpus="names")] == ["luke farran"]
    assert remote.merges(corpus="names") == merged
    assert [one.why for one in remote.merge("Quill", "Luke Farran", corpus="names")] == ["by hand"]
    assert remote.split("Quill", corpus="names")
    assert [one.title for one in remote.split("Luke Farran", corpus="names", document="log")] == ["Log"]
    assert [one.name for one in remote.entities("farran", corpus="names")] == ["Luke Farran, Log"]
    assert remote.join("Luke Farran", corpus="names") == []
    texts = {"The log of Luke": "It was cold.", "Note": "See the log of Luke."}
    documents = [from_text(text, corpus="names", source=title, title=title) for title, text in texts.items()]
    remote.index(documents, corpus="names")
    assert [(one.document, one.target) for one in remote.references(corpus="names")] == [("Note", "The log of Luke")]


def test_properties_of_text_nodes_are_adopted(
    remote: RemoteE2G, local: E2G, service: RunningService, keys: dict[str, str], scratch: Connection
) -> None:
    rows = [{"id": "Auk", "year": 1890}, {"id": "Tern", "year": 1908}]
    with connected(scratch) as driver:
        driver.execute_query(
            "UNWIND $rows AS row CREATE (n:Sheet) SET n = row, n.text = 'The brig ' + row.id + ' left.'", rows=rows
        )
    options: Any = {"corpus": "sheets", "label": "Sheet", "document": "id", "properties": ["year"]}
    report = remote.adopt(**options)
    assert report.adoption == Adoption("Sheet", document="id", properties=("year",))
    assert {one.title: one.properties for one in remote.documents("sheets")} == {
        "Auk": {"year": 1890},
        "Tern": {"year": 1908},
    }
    found = remote.retrieve("Which brig left?", corpus="sheets", where=["year>1900"])
    assert [passage.document for passage in found.passages if not passage.level] == ["Tern"]
    again = local.adopt(**options)
    assert (again.adoption, again.index.unchanged) == (report.adoption, 2)
    with pytest.raises(InputError, match="No node labelled Sheet has a property 'port'"):
        remote.adopt(**{**options, "properties": ["port"]})
    with pytest.raises(InputError, match="valid list"):
        remote.adopt(**{**options, "properties": "year"})
    for wrong in ("year", [""], [1], ["x" * 101]):
        with service.client(keys["all"]) as http:
            reply = http.post("/v1/corpora/sheets/adoption", json={"label": "Sheet", "properties": wrong})
            assert (reply.status_code, reply.json()["code"]) == (422, "invalid"), wrong
    with service.client(keys["all"]) as http:  # as earlier clients ask
        reply = http.post("/v1/corpora/sheets/adoption", json={"label": "Sheet", "document": "id"})
        assert _ended(http, reply.json()["id"])["state"] == "succeeded"
    assert {tuple(one.properties) for one in remote.documents("sheets")} == {()}
    remote.unadopt(corpus="sheets")


def test_communities_are_made(remote: RemoteE2G, local: E2G) -> None:
    assert not local.stats("library")["communities"]
    report = remote.enrich(corpus="library").layers["communities"]
    assert report.made == report.total > 0
    assert local.enrich(corpus="library").layers["communities"].made == 0
    assert remote.stats("library")["communities"] == report.total
    assert remote.enrich(corpus="library", layers=["sentences"]) == EnrichReport(
        "library", {"sentences": LayerReport()}
    )
    with pytest.raises(NotFoundError, match="nowhere"):
        remote.enrich(corpus="nowhere")


def test_layers_that_cannot_be_made_are_refused_at_once(
    remote: RemoteE2G, local: E2G, service: RunningService, keys: dict[str, str]
) -> None:
    with service.client(keys["all"]) as http:
        newest = http.get("/v1/tasks").json()["tasks"][0]
        for body in (
            {"layers": ["sentences"], "reports": "llm"},
            {"layers": ["statements"], "reports": "extractive"},
        ):
            reply = http.post("/v1/corpora/library/enrich", json=body)
            assert (reply.status_code, reply.json()["code"]) == (422, "invalid"), body
            assert "Reports are those of communities" in reply.json()["detail"]
        assert http.get("/v1/tasks").json()["tasks"][0] == newest
    for client in (remote, local):
        with pytest.raises(InputError, match="Reports are those of communities"):
            client.enrich(corpus="library", layers=["sentences"], reports="llm")


def test_added_statements_need_no_chat_model(remote: RemoteE2G, local: E2G) -> None:
    text = "Luke Farran met Josiah Quill."
    remote.index([from_text(text, corpus="added", source="log")], corpus="added")
    luke, josiah = Node(id="Luke Farran"), Node(id="Josiah Quill")
    found = GraphDocument(
        nodes=[luke, josiah],
        relationships=[Relationship(source=luke, target=josiah, type="MET")],
        source=Document(page_content=text),
    )
    assert local.add_graph_documents([found], corpus="added").statements == 1
    report = remote.enrich(corpus="added", layers=["statements"])
    assert report.layers["statements"].total == 1


def communities_behind() -> Operation[Any]:
    return (yield Read("doctor/behind", {}))


def test_a_split_that_was_broken_off_is_completed_when_it_is_repeated(remote: RemoteE2G, local: E2G) -> None:
    remote.index([from_text(NAMES, corpus="broken-off", source="log")], corpus="broken-off")
    remote.enrich(corpus="broken-off")
    local.runner.run(split("Farran", corpus="broken-off"))  # without what follows in the client
    for behind in (True, False):
        assert ({"corpus": "broken-off"} in local.runner.run(communities_behind())) == behind
        assert remote.split("Farran", corpus="broken-off") == []


def test_a_corpus_is_exported_and_imported(remote: RemoteE2G, tmp_path: Path) -> None:
    exported = remote.export_corpus(tmp_path / "library.zip", corpus="library")
    assert exported.file == str(tmp_path / "library.zip")
    assert exported.bytes == (tmp_path / "library.zip").stat().st_size
    imported = remote.import_corpus(tmp_path / "library.zip", corpus="copy")
    assert imported.corpus == "copy"
    assert (imported.documents, imported.nodes, imported.relationships) == (
        exported.documents,
        exported.nodes,
        exported.relationships,
    )
    assert imported.nodes > imported.documents > 0
    assert remote.stats("copy") == remote.stats("library")
    with pytest.raises(InputError, match="exists"):
        remote.import_corpus(tmp_path / "library.zip", corpus="copy")
    with pytest.raises(InputError, match="'library' exists"):
        remote.import_corpus(tmp_path / "library.zip")
    remote.delete(corpus="copy")


FORGED: dict[str, tuple[str, str]] = {  # what is replaced in the lines of chunks
    "numbers of a corpus": ('"windows":', '"windows":"boom","x":'),
    "a migration": ('"tokens":', '"labels":["__Neo4jMigration"],"tokens":'),
    "another corpus": ('"tokens":', '"corpus":"library","tokens":'),
}


@pytest.mark.parametrize(("old", "new"), FORGED.values(), ids=FORGED)
def test_a_forged_archive_is_refused_and_harms_nobody(
    service: RunningService, remote: RemoteE2G, keys: dict[str, str], tmp_path: Path, old: str, new: str
) -> None:
    """Its checksums are right. The key may write some corpora only."""
    remote.export_corpus(tmp_path / "library.zip", corpus="library")
    with zipfile.ZipFile(tmp_path / "library.zip") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    chunks = members["chunks.jsonl"].replace(old.encode(), new.encode())
    assert chunks != members["chunks.jsonl"]
    manifest = json.loads(members["manifest.json"])
    manifest["members"]["chunks.jsonl"] |= {"bytes": len(chunks), "sha256": sha256(chunks).hexdigest()}
    with zipfile.ZipFile(tmp_path / "forged.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in (members | {"chunks.jsonl": chunks, "manifest.json": json.dumps(manifest).encode()}).items():
            archive.writestr(name, data)
    with RemoteE2G(service.url, keys["team"]) as team, pytest.raises(ArchiveError, match=r"chunks.jsonl, line \d+: "):
        team.import_corpus(tmp_path / "forged.zip", corpus="team-forged")
    with service.client(keys["all"]) as http:
        assert http.get("/readyz").status_code == 200
        assert "team-forged" not in [one["corpus"] for one in http.get("/v1/corpora").json()]
    for mode in ("auto", "fulltext"):
        assert remote.retrieve(QUESTION, corpus="library", mode=mode).passages


def test_errors_are_those_of_the_client(remote: RemoteE2G, service: RunningService, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="nowhere"):
        remote.retrieve(QUESTION, corpus="nowhere")
    with pytest.raises(QueryError, match="k is 0"):
        remote.retrieve(QUESTION, corpus="library", k=0)
    with pytest.raises(NotFoundError):
        remote.delete(["nothing"], corpus="library")
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.4 nothing")
    with pytest.raises(ReadingError, match=r"broken\.pdf") as failed:
        remote.index([broken], corpus="broken")
    assert str(tmp_path) not in str(failed.value)
    with RemoteE2G(service.url, "e2g_" + "0" * 12 + "_" + "A" * 43) as stranger, pytest.raises(AccessError):
        stranger.corpora()
    with RemoteE2G("http://127.0.0.1:9") as nobody, pytest.raises(UnreachableError):
        nobody.corpora()


# --- keys, scopes and walls --------------------------------------------------------------------------


def test_every_bad_key_gets_the_same_reply(
    service: RunningService, variables: dict[str, str], keys: dict[str, str]
) -> None:
    expired = create_key(variables, scopes="read")
    with service.client(keys["all"]) as admin:
        assert admin.delete(f"/v1/keys/{expired.split('_')[1]}").status_code == 200
    wrong = keys["all"][:-1] + ("A" if keys["all"][-1] != "A" else "B")
    bodies = set()
    for key in (None, "", "nonsense", wrong, expired, "e2g_" + "0" * 12 + "_" + "A" * 43, "x" * 5000):
        with service.client(key) as http:
            for path in ("/v1/corpora", "/v1/corpora/vault", "/v1/keys", "/v1/nothing"):
                reply = http.get(path)
                assert reply.status_code == 401
                assert reply.headers["www-authenticate"] == "Bearer"
                bodies.add(json.dumps({**reply.json(), "request_id": ""}))
    assert len(bodies) == 1


def test_a_revoked_key_is_refused_at_once(
    service: RunningService, remote: RemoteE2G, variables: dict[str, str], keys: dict[str, str]
) -> None:
    """A question is worked on while its key is looked up, but not one byte of evidence may be sent before."""
    question = {"question": "Who keeps the ledger?", "corpora": ["vault"]}
    key = create_key(variables, scopes="read", corpora="vault")
    with service.client(keys["all"]) as admin, service.client(key) as http:
        for _ in range(3):
            reply = http.post("/v1/retrieve", json=question)
            assert reply.status_code == 200
            assert "ledger" in reply.text
        assert admin.delete(f"/v1/keys/{key.split('_')[1]}").status_code == 200
        for _ in range(2):
            refused = http.post("/v1/retrieve", json=question)
            assert refused.status_code == 401
            assert refused.json()["code"] == "unauthenticated"
            assert "ledger" not in refused.text


def test_a_scope_is_needed(service: RunningService, remote: RemoteE2G, keys: dict[str, str]) -> None:
    with service.client(keys["reader"]) as http:
        assert http.get("/v1/corpora/vault").status_code == 200
        for method, path in _routes(http):
            reads = path in ("/v1/retrieve", "/v1/explain") or "/conversations/" in path
            if path.startswith("/v1") and method != "GET" and not reads:
                reply = _sent(http, method, path, "vault")
                assert reply.status_code == 403, (method, path)
                assert reply.json()["code"] == "scope"
        assert http.get("/v1/keys").status_code == http.get("/v1/usage").status_code == 403


def test_a_key_makes_none_that_may_do_more(service: RunningService, variables: dict[str, str]) -> None:
    expires = int(1000 * (time.time() + 3600))
    limits = {"requests_per_minute": 50, "requests_per_day": 500, "tokens_per_minute": 70, "tokens_per_day": 700}
    given = {name.replace("_", "-"): str(value) for name, value in limits.items()}
    key = create_key(variables, scopes="admin,read", corpora="team-*", days="1", **given)
    least = {"name": "child", "scopes": ["read"], "corpora": ["team-a"]}
    with service.client(key) as http:
        attempts: tuple[dict[str, Any], ...] = (
            *({"scopes": [one]} for one in ("ask", "write")),
            *({"corpora": [one]} for one in ("*", "team*", "library")),
            *({name: value + 1} for name, value in limits.items()),
            {"expires": expires + 90_000_000},
        )
        for more in attempts:
            refused = http.post("/v1/keys", json={**least, **more})
            assert (refused.status_code, refused.json()["code"]) == (403, "scope"), more
        made = http.post("/v1/keys", json=least).json()["info"]
        assert {name: made[name] for name in limits} == limits
        assert made["expires"] <= expires + 90_000_000
        narrow = http.post("/v1/keys", json={**least, **dict.fromkeys(limits, 1), "expires": expires}).json()["info"]
        assert [narrow[name] for name in (*limits, "expires")] == [1, 1, 1, 1, expires]


def test_only_an_administrator_sees_paths_of_the_server(
    service: RunningService, remote: RemoteE2G, local: E2G, keys: dict[str, str], tmp_path: Path
) -> None:
    """Files that the library has indexed have their path as the source. Ids and links stay those of the document."""
    path = tmp_path / "petrel.txt"
    path.write_text("Hester Pendry sailed the Petrel. Luke Farran stayed at home with Hester Pendry's dog.")
    local.index([path], corpus="paths")
    [document] = local.documents("paths")
    question = {"question": "What did Hester Pendry sail with Luke Farran?", "corpora": ["paths"]}
    address = f"/v1/corpora/paths/documents/{document.id}"
    for name, source in (("all", str(path)), ("reader", "petrel.txt")):
        with service.client(keys[name]) as http:
            replies = [
                http.post("/v1/retrieve", json=question),
                http.post("/v1/explain", json=question),
                http.get("/v1/corpora/paths/documents"),
                http.get(address),
                http.get(f"{address}/text"),
            ]
        for reply in replies:
            assert reply.status_code == 200, reply.text
            assert f'"source":"{source}"' in reply.text.replace('": "', '":"')
            assert (str(tmp_path) in reply.text) == (name == "all")
    local.delete(corpus="paths")


def test_a_reader_sees_nothing_of_the_owners_graph_in_tasks(
    service: RunningService, remote: RemoteE2G, keys: dict[str, str], variables: dict[str, str], scratch: Connection
) -> None:
    """Nor may a key that writes repeat what an administrator did with it."""
    writer = create_key(variables, scopes="read,write", corpora="*")
    with connected(scratch) as driver:
        driver.execute_query("CREATE (:Keeper {name: 'Hester Pendry'}), (:Keeper {name: 'Hester Pendry'})")
    with service.client(keys["all"]) as admin, service.client(writer) as http:
        for label in ("E2GKey", "__Neo4jMigration", "CachedSummary", "StagedChunk"):
            for path, body in (("links", {"name": "name"}), ("adoption", {"text": "text", "key": "id"})):
                corpus = "vault" if path == "links" else "adopted"
                task = admin.post(f"/v1/corpora/{corpus}/{path}", json={"label": label, **body}).json()
                ended = admin.get(f"/v1/tasks/{task['id']}?wait=30").json()
                assert ended["state"] == "failed"
                assert "of your own graph" in ended["error"]["detail"], ended
                for action in ("retry", "cancel"):
                    refused = http.post(f"/v1/tasks/{task['id']}/{action}")
                    assert (refused.status_code, refused.json()["code"]) == (403, "scope")
                assert http.get(f"/v1/tasks/{task['id']}").json()["error"] is None
        task = admin.post("/v1/corpora/library/links", json={"label": "Keeper", "name": "name"}).json()
        ended = admin.get(f"/v1/tasks/{task['id']}?wait=30").json()
        assert ended["state"] == "succeeded"
        assert "Hester Pendry" in json.dumps(ended["result"])
        for path in (f"/v1/tasks/{task['id']}", f"/v1/tasks/{task['id']}/events", "/v1/tasks?limit=200"):
            shown = http.get(path)
            assert task["id"] in shown.text
            assert "Hester Pendry" not in shown.text
        admin.delete("/v1/corpora/library/links?label=Keeper")


def test_no_route_shows_a_foreign_corpus(service: RunningService, remote: RemoteE2G, keys: dict[str, str]) -> None:
    """What a key may not see is answered exactly as what does not exist, on every route there is."""
    document = remote.documents("vault")[0].id
    with service.client(keys["team"]) as http:
        routes = _routes(http)
        assert len(routes) > 25
        for method, path in routes:
            foreign, missing = (_sent(http, method, path, name, document) for name in ("vault", "nobody"))
            for reply in (foreign, missing):
                assert "ledger" not in reply.text
                assert "Zerubbabel" not in reply.text
            assert foreign.status_code == missing.status_code, (method, path)
            if "{corpus}" in path or path in ("/v1/retrieve", "/v1/explain", "/v1/imports"):
                assert foreign.status_code in (403, 404), (method, path)
                told = [{**one.json(), "request_id": ""} for one in (foreign, missing)]
                assert json.dumps(told[0]).replace("vault", "nobody") == json.dumps(told[1])
        assert http.get("/v1/corpora").json() == []
        children = {one["id"] for one in http.get("/v1/keys").json()}  # of this key, from other tests
        assert keys["all"].split("_")[1] not in children
        refused = http.post("/v1/keys", json={"name": "more", "scopes": ["read"], "corpora": ["*"]})
        assert refused.status_code == 403
        made = http.post("/v1/keys", json={"name": "less", "scopes": ["read"], "corpora": ["team-a"]})
        assert made.status_code == 201
        assert made.json()["key"].startswith(f"e2g_{made.json()['info']['id']}_")
        listed = http.get("/v1/keys").json()
        assert made.json()["info"] in listed
        assert all(one.startswith("team-") for key in listed for one in key["corpora"])


def _routes(http: httpx.Client) -> list[tuple[str, str]]:
    paths = http.get("/openapi.json").json()["paths"]
    return [(method.upper(), path) for path, methods in paths.items() for method in methods if path.startswith("/v1")]


BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("POST", "/v1/imports"): {"files": {"file": b"nothing"}, "data": {"corpus": "CORPUS"}},
    ("POST", "/v1/corpora/{corpus}/documents"): {"json": {"documents": [{"source": "a", "text": "b"}]}},
    ("PUT", "/v1/corpora/{corpus}/documents/{document}"): {"json": {"text": "b"}},
    ("POST", "/v1/corpora/{corpus}/documents/fetch"): {"json": {"url": "https://example.com/"}},
    ("POST", "/v1/corpora/{corpus}/links"): {"json": {"label": "Person", "name": "name"}},
    ("POST", "/v1/corpora/{corpus}/adoption"): {"json": {"label": "Chunk"}},
    ("POST", "/v1/chat/completions"): {
        "json": {"model": "e2g/CORPUS", "messages": [{"role": "user", "content": "Who?"}]}
    },
    ("PUT", "/v1/conversations/{conversation}"): {"json": {"title": "a"}},
    ("PUT", "/v1/conversations/{conversation}/turns/{number}"): {
        "json": {"question": "Who?", "corpora": ["CORPUS"], "mode": "auto", "k": 5, "hops": 3}
    },
    ("POST", "/v1/keys"): {"json": {"name": "a", "scopes": ["read"], "corpora": ["CORPUS"]}},
}


def _sent(http: httpx.Client, method: str, path: str, corpus: str, document: str = "0" * 16) -> httpx.Response:
    """A request that could succeed, about a corpus."""
    values = {
        "corpus": corpus,
        "document": document,
        "name": "Nobody",
        "community": "none",
        "task": "0" * 32,
        "key": "0" * 12,
        "conversation": "none",
        "number": "0",
        "model": f"e2g/{corpus}",
    }
    question = {"json": {"question": "Who keeps the ledger?", "corpora": [corpus]}}
    known = BODIES.get((method, path), question if method == "POST" and path.count("/") == 2 else {})
    body = json.loads(json.dumps(known, default=bytes.decode).replace("CORPUS", corpus))
    return http.request(method, path.format(**values), **body)


# --- tasks -------------------------------------------------------------------------------------------


def test_repeating_a_request_has_no_effect(service: RunningService, keys: dict[str, str]) -> None:
    texts = {"documents": [{"source": "log", "text": "The brig Averil left Port Hesk at dawn."}]}
    with service.client(keys["all"]) as http:
        first, again = (
            http.post("/v1/corpora/twice/documents", json=texts, headers={"Idempotency-Key": "one"}) for _ in range(2)
        )
        assert first.status_code == again.status_code == 202
        assert first.json()["id"] == again.json()["id"]
        assert first.headers["location"] == f"/v1/tasks/{first.json()['id']}"
        other = {"documents": [{"source": "log", "text": "Another text."}]}
        refused = http.post("/v1/corpora/twice/documents", json=other, headers={"Idempotency-Key": "one"})
        assert (refused.status_code, refused.json()["code"]) == (422, "idempotency")
        task = _ended(http, first.json()["id"])
        assert (task["state"], task["attempt"], task["result"]["documents"]) == ("succeeded", 1, 1)
        events = http.get(f"/v1/tasks/{task['id']}/events").text
        assert "event: done" in events
        assert task["id"] in [one["id"] for one in http.get("/v1/tasks").json()["tasks"]]


def test_a_foreign_task_is_as_if_it_were_not_there(
    service: RunningService, remote: RemoteE2G, keys: dict[str, str]
) -> None:
    with service.client(keys["all"]) as http:
        [foreign, *_] = [one["id"] for one in http.get("/v1/tasks").json()["tasks"] if one["corpus"] == "vault"]
    with service.client(keys["team"]) as http:
        assert "vault" not in {one["corpus"] for one in http.get("/v1/tasks").json()["tasks"]}
        for method, path in (("GET", ""), ("GET", "/events"), ("POST", "/cancel"), ("POST", "/retry")):
            there, missing = (http.request(method, f"/v1/tasks/{task}{path}") for task in (foreign, "0" * 32))
            assert there.status_code == missing.status_code == 404
            told = [json.dumps({**one.json(), "request_id": ""}) for one in (there, missing)]
            assert told[0].replace(foreign, "0" * 32) == told[1]


def test_a_task_is_cancelled_and_put_back(service: RunningService, keys: dict[str, str]) -> None:
    """One that is too long to end before."""
    texts = {"documents": [{"source": f"s{n}", "text": f"The brig Averil left Port {n}. " * 200} for n in range(60)]}
    with service.client(keys["all"]) as http:
        task = http.post("/v1/corpora/cancelled/documents", json=texts).json()["id"]
        path = f"/v1/tasks/{task}"
        assert http.post(f"{path}/retry").status_code == 409
        assert http.post(f"{path}/cancel").status_code == 200
        assert _ended(http, task)["state"] == "cancelled"
        assert http.post(f"{path}/retry").json()["state"] in ("queued", "running")
        http.post(f"{path}/cancel")
        assert _ended(http, task)["state"] == "cancelled"


def test_uploads_have_a_limit(variables: dict[str, str], keys: dict[str, str], tmp_path: Path) -> None:
    service = RunningService({**variables, "E2G_UPLOAD_MB": "2"}, tmp_path / "log", "--no-worker")
    try:
        with service.client(keys["all"]) as http:
            for route, field in (("/v1/corpora/large/documents", "files"), ("/v1/imports", "file")):
                reply = http.post(route, files={field: ("a.txt", b"x" * 2**21)}, data={"corpus": "large"})
                assert (reply.status_code, reply.json()["code"]) == (413, "too_large")
            tasks = http.get("/v1/tasks").json()["tasks"]
            assert "large" not in [one["corpus"] for one in tasks]
    finally:
        service.stop()


def test_a_file_keeps_the_name_that_its_owner_gave_it(
    service: RunningService, keys: dict[str, str], tmp_path: Path
) -> None:
    """Names of uploads are never paths, whatever they look like."""
    names = ["../../../etc/passwd.txt", "/etc/*.txt", "~/notes.md", "ü" * 200 + ".txt"]
    with service.client(keys["all"]) as http:
        files = [("files", (name, f"Port Hesk number {n}".encode())) for n, name in enumerate(names)]
        task = _ended(http, http.post("/v1/corpora/names-of-files/documents", files=files).json()["id"])
        assert task["state"] == "succeeded", task["error"]
        listed = http.get("/v1/corpora/names-of-files/documents").json()["documents"]
        assert sorted(one["source"] for one in listed) == sorted(f"upload:{name}" for name in names)
        for one in listed:
            text = http.get(f"/v1/corpora/names-of-files/documents/{one['id']}/text").json()["text"]
            assert text.startswith("Port Hesk number")
        put = http.put(f"/v1/corpora/names-of-files/documents/{listed[0]['id']}", json={"text": "Quite another."})
        assert _ended(http, put.json()["id"])["state"] == "succeeded"
        [now] = [
            one
            for one in http.get("/v1/corpora/names-of-files/documents").json()["documents"]
            if one["id"] == listed[0]["id"]
        ]
        assert now["source"] == listed[0]["source"]
        assert http.get(f"/v1/corpora/names-of-files/documents/{now['id']}/text").json()["text"] == "Quite another."


def _ended(http: httpx.Client, task: str) -> dict[str, Any]:
    until = time.monotonic() + 200
    while time.monotonic() < until:
        found: dict[str, Any] = http.get(f"/v1/tasks/{task}", params={"wait": 30}).json()
        if found["state"] in ("succeeded", "failed", "cancelled"):
            return found
    raise AssertionError(f"The task has not ended: {found}")


# --- limits, errors and logs -------------------------------------------------------------------------


def test_limits_of_a_key_hold(service: RunningService, variables: dict[str, str]) -> None:
    key = create_key(variables, scopes="read", requests_per_minute="3")
    with service.client(key) as http:
        assert [http.get("/v1/corpora").status_code for _ in range(3)] == [200] * 3
        refused = http.get("/v1/corpora")
    assert (refused.status_code, refused.json()["code"]) == (429, "quota")
    assert 0 < int(refused.headers["retry-after"]) <= 61


def test_large_and_strange_bodies_are_problems(service: RunningService, keys: dict[str, str]) -> None:
    with service.client(keys["all"]) as http:
        large = b"x" * (2**20 + 1)
        replies = [
            (413, http.post("/v1/retrieve", content=large, headers=JSON)),
            (413, http.post("/v1/retrieve", content=iter([large]), headers=JSON)),
            (422, http.post("/v1/retrieve", content=b"{", headers=JSON)),
            (422, http.post("/v1/retrieve", content=b'{"question": "\\ud800", "corpora": ["library"]}', headers=JSON)),
            (415, http.post("/v1/corpora/a/documents", content=b"x", headers={"Content-Type": "text/plain"})),
            (405, http.patch("/v1/corpora")),
            (404, http.get("/v1/elsewhere")),
        ]
        for status, reply in replies:
            assert reply.status_code == status, reply.text
            assert reply.headers["content-type"] == "application/problem+json"
            assert set(reply.json()) == {"type", "title", "status", "detail", "code", "next", "request_id"}
            assert reply.headers["x-request-id"] == reply.json()["request_id"]


def test_the_log_and_metrics_have_nothing_secret(
    service: RunningService, remote: RemoteE2G, keys: dict[str, str], variables: dict[str, str]
) -> None:
    remote.retrieve("Who keeps the third ledger?", corpus="vault")
    with service.client() as http:
        metrics = http.get("/metrics").text
        assert http.get("/livez").status_code == 200
        assert http.get("/readyz").json() == {"status": "ok", "problems": []}
    assert 'route="/v1/retrieve"' in metrics
    log = service.log()
    assert all(line["request_id"] for line in service.lines() if line["logger"] == "e2g_neo4j.access")
    secrets = [*keys.values(), *(key.split("_", 2)[2] for key in keys.values()), variables["NEO4J_PASSWORD"]]
    for text in (log, metrics):
        for secret in (*secrets, "Zerubbabel", "third ledger"):
            assert secret not in text
    assert "vault" not in metrics


def test_the_log_says_who_changed_or_exported_what_and_who_was_refused(
    service: RunningService, remote: RemoteE2G, keys: dict[str, str]
) -> None:
    wrong = f"e2g_{'a' * 12}_{'B' * 43}"
    with service.client(keys["all"]) as http:
        made = http.post("/v1/keys", json={"name": "logged", "scopes": ["read"], "corpora": ["x"]}).json()
        assert http.get("/v1/corpora/vault/export").status_code == 200
        assert http.get("/v1/corpora/library").status_code == 200
        http.delete(f"/v1/keys/{made['info']['id']}")
        for one in (wrong, "nonsense"):
            reply = http.get("/v1/keys", headers={"Authorization": f"Bearer {one}"})
        until = time.monotonic() + 30
        while reply.headers["x-request-id"] not in service.log() and time.monotonic() < until:
            time.sleep(0.05)  # a reply may come before its line
        names = ("method", "route", "corpus", "target", "status", "refused_key", "address")
        key = keys["all"].split("_")[1]
        lines = [line for line in service.lines() if line["message"] == "request"]
        mine = [[line.get(name) for name in names] for line in lines if line.get("key") == key]
        assert ["POST", "/v1/keys", None, None, 201, None, None] in mine
        assert ["GET", "/v1/corpora/{corpus}/export", "vault", None, 200, None, None] in mine
        assert ["GET", "/v1/corpora/{corpus}", None, None, 200, None, None] in mine
        assert ["DELETE", "/v1/keys/{key}", None, made["info"]["id"], 200, None, None] in mine
        refused = [[line.get(name) for name in names[-2:]] for line in lines if line["status"] == 401]
        assert refused[-2:] == [["a" * 12, "127.0.0.1"], [None, "127.0.0.1"]]
        assert "B" * 43 not in service.log()
        today = [one for one in http.get("/v1/usage?days=1").json() if one["key"] == keys["all"].split("_")[1]]
        done = [line for line in lines if line.get("key") == key and line["status"] < 400]
        assert sum(one["requests"] for one in today) > len(done) >= 4
