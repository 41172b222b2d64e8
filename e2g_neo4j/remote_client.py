"""The client of a service elsewhere. It has the calls of `E2G`.

with RemoteE2G("http://127.0.0.1:8000", key="e2g_…") as e2g:
    e2g.index(["dracula.txt"], corpus="novels")
    print(e2g.answer("How does Van Helsing know Dracula?", corpus="novels").text)
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import fields
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack
from urllib.parse import quote
from uuid import uuid4

import httpx
from pydantic import TypeAdapter

from e2g_neo4j import errors
from e2g_neo4j.errors import AccessError, E2GError, InputError, UnreachableError
from e2g_neo4j.graph.archive.format import Format
from e2g_neo4j.graph.catalog import choose_documents
from e2g_neo4j.indexing.sources.files import find
from e2g_neo4j.retrieval.options import RetrievalKeywords, RetrievalOptions
from e2g_neo4j.types.documents import SourceDocument
from e2g_neo4j.types.graph import Alias, EntityInfo
from e2g_neo4j.types.ids import corpora_to_ask
from e2g_neo4j.types.reports import (
    AdoptReport,
    ArchiveInfo,
    DocumentInfo,
    IndexPlan,
    IndexReport,
    LinkReport,
    Progress,
)
from e2g_neo4j.types.results import Answer, Citation, Evidence, Fact, Passage
from e2g_neo4j.types.service import ENDED, TaskInfo

T = TypeVar("T")

WAIT_SECONDS = 30
"""How long one request waits for the end of a task."""

LONGEST_PAUSE = 61.0
"""A call waits this many seconds at most when a limit of its key is reached, and then tries again."""

FILES_AT_ONCE, BYTES_AT_ONCE = 500, 64 * 2**20
"""Maximum number and size of files in one request."""


class RemoteE2G:
    """Index documents and ask them, at a service. A context manager. Thread-safe.

    The calls are those of `E2G`, with the same results. Those that look after the database itself are missing:
    `migrate`, `migrations`, `validate`, `doctor`, `paths` and `resume`. What changes a corpus waits for its end; if the
    service or its worker is restarted meanwhile, it goes on.

    Args:
        url: The address of the service, such as https://e2g.example.org.
        key: An API key; None: that of `E2G_API_KEY`, or none.
        timeout: Seconds without a reply after which a call fails.

    Raises:
        UnreachableError: every call, if the service cannot be reached.
        AccessError: every call, if the key is not valid, or lacks a scope.
    """

    def __init__(self, url: str, key: str | None = None, *, timeout: float = 600.0) -> None:
        key = key or os.environ.get("E2G_API_KEY")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            self._http = httpx.Client(base_url=url.rstrip("/"), headers=headers, timeout=timeout)
        except (httpx.InvalidURL, TypeError) as error:
            raise InputError(f"{url!r} is not an address ({error}): give one such as http://127.0.0.1:8000.") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    # --- documents -------------------------------------------------------------------------------------

    def index(
        self,
        sources: Iterable[str | Path | SourceDocument],
        *,
        corpus: str,
        progress: Progress | None = None,
        budget_tokens: int | None = None,
    ) -> IndexReport:
        """Upload files, folders, globs or documents, and wait until they are indexed; see `E2G.index`.

        A file is identified by its name, and in a folder by its path from there. Many files are sent in several
        requests, one task each.
        """
        reports = [
            self._finished(self._upload(batch, corpus, budget_tokens), IndexReport, progress)
            for batch in _batches(sources)
        ]
        report = reports[0]
        for one in reports[1:]:
            report = _added(report, one)
        return report

    def plan(self, sources: Iterable[str | Path | SourceDocument], *, corpus: str) -> IndexPlan:
        """See `E2G.plan`. The documents are uploaded for this, in one request."""
        [*batches] = _batches(sources)
        if len(batches) > 1:
            raise InputError(f"Plan at most {FILES_AT_ONCE} files and {BYTES_AT_ONCE // 2**20} MiB at once.")
        return TypeAdapter(IndexPlan).validate_python(self._upload(batches[0], corpus, None, dry_run=True))

    def delete(self, targets: Iterable[str | Path] | None = None, *, corpus: str) -> list[DocumentInfo]:
        """See `E2G.delete`. Targets are ids, sources or titles of documents."""
        listed = self.documents(corpus)
        if targets is None:
            self._finished(self._send("DELETE", _path("corpora", corpus)), dict, None)
            return listed
        chosen = choose_documents(list(targets), listed, corpus)
        for document in chosen:
            self._finished(self._send("DELETE", _path("corpora", corpus, "documents", document.id)), dict, None)
        return chosen

    def documents(self, corpus: str) -> list[DocumentInfo]:
        """See `E2G.documents`."""
        return list(self._documents(corpus))

    def _documents(self, corpus: str) -> Iterator[DocumentInfo]:
        cursor: str | None = None
        while True:
            page = self._get(_path("corpora", corpus, "documents"), limit=1000, cursor=cursor)
            yield from TypeAdapter(list[DocumentInfo]).validate_python(page["documents"])
            cursor = page["cursor"]
            if cursor is None:
                return

    def status(self, corpus: str | None = None) -> dict[str, list[DocumentInfo]]:
        """See `E2G.status`."""
        return {name: self.documents(name) for name in ([corpus] if corpus is not None else self.corpora())}

    def corpora(self) -> dict[str, int]:
        """The corpora that the key may see; see `E2G.corpora`."""
        return {row["corpus"]: row["documents"] for row in self._get("/v1/corpora")}

    def stats(self, corpus: str) -> dict[str, int]:
        """See `E2G.stats`."""
        return TypeAdapter(dict[str, int]).validate_python(self._get(_path("corpora", corpus)))

    # --- questions -------------------------------------------------------------------------------------

    def retrieve(
        self,
        question: str,
        *,
        corpus: str | None = None,
        corpora: Sequence[str] = (),
        **retrieval: Unpack[RetrievalKeywords],
    ) -> Evidence:
        """See `E2G.retrieve`."""
        body = _question(question, corpus, corpora, retrieval)
        return TypeAdapter(Evidence).validate_python(self._send("POST", "/v1/retrieve", json=body))

    def answer(
        self,
        question: str,
        *,
        corpus: str | None = None,
        corpora: Sequence[str] = (),
        options: Sequence[str] = (),
        **retrieval: Unpack[RetrievalKeywords],
    ) -> Answer:
        """See `E2G.answer`. Without a chat model at the service, the answer has no text."""
        body = {**_question(question, corpus, corpora, retrieval), "choices": list(options)}
        try:
            return _answer(self._send("POST", "/v1/ask", json=body))
        except NoChatModelError:
            return Answer(None, self.retrieve(question, corpus=corpus, corpora=corpora, **retrieval))

    def stream(
        self,
        question: str,
        *,
        corpus: str | None = None,
        corpora: Sequence[str] = (),
        **retrieval: Unpack[RetrievalKeywords],
    ) -> Iterator[str | Answer]:
        """See `E2G.stream`."""
        body = {**_question(question, corpus, corpora, retrieval), "stream": True}
        try:
            with self._http.stream("POST", "/v1/ask", json=body) as reply:
                if reply.is_error:
                    reply.read()
                    raise _error(reply)
                for name, data in _events(reply.iter_lines()):
                    if name == "delta":
                        yield data["text"]
                    elif name == "error":
                        raise _error_of(data)
                    elif name == "done":
                        yield _answer(data)
        except NoChatModelError:
            yield Answer(None, self.retrieve(question, corpus=corpus, corpora=corpora, **retrieval))
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error

    # --- entities and other graphs ---------------------------------------------------------------------

    def entities(self, query: str = "", *, corpus: str, type: str | None = None, limit: int = 50) -> list[EntityInfo]:
        """See `E2G.entities`."""
        found = self._get(_path("corpora", corpus, "entities"), q=query, type=type, limit=limit)
        return TypeAdapter(list[EntityInfo]).validate_python(found)

    def merges(self, query: str = "", *, corpus: str) -> list[Alias]:
        """See `E2G.merges`."""
        return TypeAdapter(list[Alias]).validate_python(self._get(_path("corpora", corpus, "merges"), q=query))

    def split(self, name: str, *, corpus: str) -> list[Alias]:
        """See `E2G.split`."""
        return TypeAdapter(list[Alias]).validate_python(self._send("PUT", _path("corpora", corpus, "splits", name)))

    def join(self, name: str, *, corpus: str) -> list[Alias]:
        """See `E2G.join`."""
        return TypeAdapter(list[Alias]).validate_python(self._send("DELETE", _path("corpora", corpus, "splits", name)))

    def link(
        self, *, corpus: str, label: str, name: str, aliases: str | None = None, type: str | None = None
    ) -> LinkReport:
        """See `E2G.link`."""
        body = {"label": label, "name": name, "aliases": aliases, "type": type}
        return self._finished(self._send("POST", _path("corpora", corpus, "links"), json=body), LinkReport, None)

    def links(self, *, corpus: str, label: str | None = None) -> dict[str, int]:
        """See `E2G.links`."""
        return TypeAdapter(dict[str, int]).validate_python(self._get(_path("corpora", corpus, "links"), label=label))

    def unlink(self, *, corpus: str, label: str | None = None) -> int:
        """See `E2G.unlink`."""
        parameters = {"label": label} if label else {}
        task = self._send("DELETE", _path("corpora", corpus, "links"), params=parameters)
        return int(self._finished(task, dict, None)["links"])

    def adopt(
        self,
        *,
        corpus: str,
        label: str,
        text: str = "text",
        key: str = "id",
        order: str | None = None,
        document: str | None = None,
        part_of: str | None = None,
        progress: Progress | None = None,
        budget_tokens: int | None = None,
    ) -> AdoptReport:
        """See `E2G.adopt`."""
        body = {
            "label": label,
            "text": text,
            "key": key,
            "order": order,
            "document": document,
            "part_of": part_of,
            "budget_tokens": budget_tokens,
        }
        task = self._send("POST", _path("corpora", corpus, "adoption"), json=body)
        return self._finished(task, AdoptReport, progress)

    def unadopt(self, *, corpus: str) -> list[DocumentInfo]:
        """See `E2G.unadopt`."""
        listed = self.documents(corpus)
        self._finished(self._send("DELETE", _path("corpora", corpus, "adoption")), dict, None)
        return listed

    def export_corpus(self, file: str | Path, *, corpus: str, format: Format = "archive") -> int:
        """Download a corpus to a file that does not exist yet. Returns its size in bytes; see `E2G.export_corpus`."""
        path = Path(file)
        partial = path.with_name(f"{path.name}.{uuid4().hex}.part")
        try:
            if path.exists():
                raise InputError(f"{path} exists already: choose another name.")
            with self._http.stream("GET", _path("corpora", corpus, "export"), params={"format": format}) as reply:
                if reply.is_error:
                    reply.read()
                    raise _error(reply)
                with partial.open("xb") as target:
                    for part in reply.iter_bytes():
                        target.write(part)
            shutil.move(partial, path)
            return path.stat().st_size
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        except OSError as error:
            raise InputError(f"{path} cannot be written: {error.strerror or error}.") from error
        finally:
            partial.unlink(missing_ok=True)

    def import_corpus(self, file: str | Path, *, corpus: str) -> ArchiveInfo:
        """Upload an archive of `export_corpus` and make a corpus of it; see `E2G.import_corpus`."""
        path = Path(file)
        try:
            with path.open("rb") as content:
                task = self._send("POST", "/v1/imports", data={"corpus": corpus}, files={"file": (path.name, content)})
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error
        return self._finished(task, ArchiveInfo, None)

    # --- tasks -----------------------------------------------------------------------------------------

    def task(self, id: str, *, wait: int = 0) -> TaskInfo:
        """A task of the service, at once or when it has ended, but after at most `wait` seconds."""
        return TypeAdapter(TaskInfo).validate_python(self._get(f"/v1/tasks/{quote(id, safe='')}", wait=wait))

    def _finished(self, task: Any, kind: type[T], progress: Progress | None) -> T:
        """Wait for the end of a task and return its result."""
        found = TypeAdapter(TaskInfo).validate_python(task)
        while found.state not in ENDED:
            found = self.task(found.id, wait=1 if progress else WAIT_SECONDS)
            if progress and found.stage:
                progress(found.stage, found.done, found.total)
        if found.state == "cancelled":
            raise E2GError(f"The task {found.id} was cancelled. What it finished is kept.")
        if found.error:
            raise _error_of(found.error)
        return TypeAdapter(kind).validate_python(found.result or {})

    # --- requests --------------------------------------------------------------------------------------

    def _get(self, path: str, **parameters: Any) -> Any:
        return self._send("GET", path, params={name: one for name, one in parameters.items() if one is not None})

    def _send(self, method: str, path: str, **content: Any) -> Any:
        headers = {"Idempotency-Key": uuid4().hex} if method != "GET" else {}
        try:
            for attempt in range(4):
                reply = self._http.request(method, path, headers=headers, **content)
                seconds = float(reply.headers.get("Retry-After", "1"))
                if reply.status_code != 429 or attempt == 3 or seconds > LONGEST_PAUSE:
                    break
                time.sleep(seconds)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        if reply.is_error:
            raise _error(reply)
        return reply.json()

    def _upload(
        self,
        batch: Sequence[tuple[str, Path] | SourceDocument],
        corpus: str,
        budget_tokens: int | None,
        *,
        dry_run: bool = False,
    ) -> Any:
        path = _path("corpora", corpus, "documents") + ("?dry_run=true" if dry_run else "")
        if isinstance(batch[0], SourceDocument):
            texts = [
                {"source": one.source, "title": one.title, "text": one.text}
                for one in batch
                if isinstance(one, SourceDocument)
            ]
            return self._send("POST", path, json={"documents": texts, "budget_tokens": budget_tokens})
        with ExitStack() as stack:
            files = [
                ("files", (one[0], stack.enter_context(one[1].open("rb"))))
                for one in batch
                if not isinstance(one, SourceDocument)
            ]
            budget = {} if budget_tokens is None else {"budget_tokens": str(budget_tokens)}
            return self._send("POST", path, files=files, data=budget)

    def _unreachable(self, error: Exception) -> UnreachableError:
        return UnreachableError(f"The service at {self._http.base_url} cannot be reached ({error}): check the address.")


class NoChatModelError(E2GError):
    """No chat model is configured at the service."""


def _path(*parts: str) -> str:
    return "/v1/" + "/".join(quote(part, safe="") for part in parts)


def _question(
    question: str, corpus: str | None, corpora: Sequence[str], retrieval: RetrievalKeywords
) -> dict[str, Any]:
    options = RetrievalOptions.of(retrieval).model_dump(exclude_defaults=True)
    return {"question": question, "corpora": corpora_to_ask(corpus, corpora), **options}


def _batches(
    sources: Iterable[str | Path | SourceDocument],
) -> Iterator[list[tuple[str, Path] | SourceDocument]]:
    """Return documents, and files with their names, in groups that fit into one request."""
    listed = list(sources)
    given: list[tuple[str, Path] | SourceDocument] = [one for one in listed if isinstance(one, SourceDocument)]
    for one in listed:
        if not isinstance(one, SourceDocument):
            root = Path(one).expanduser()
            given += [
                (str(file.relative_to(root.absolute())) if root.is_dir() else file.name, file) for file in find(one)
            ]
    if not given:
        find([])  # says that there is nothing to read
    batch: list[tuple[str, Path] | SourceDocument] = []
    size = 0
    for item in given:
        length = len(item.text.encode()) if isinstance(item, SourceDocument) else item[1].stat().st_size
        full = len(batch) == FILES_AT_ONCE or size + length > BYTES_AT_ONCE
        if batch and (full or isinstance(item, SourceDocument) != isinstance(batch[0], SourceDocument)):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += length
    yield batch


def _added(report: IndexReport, other: IndexReport) -> IndexReport:
    """Return the sum of two reports of one corpus. Of what the corpus has, the later counts."""
    for name in ("documents", "unchanged", "replaced", "chunks", "kept", "tokens", "cost"):
        setattr(report, name, getattr(report, name) + getattr(other, name))
    for name in ("entities", "co_occurrences", "mentions"):
        setattr(report, name, getattr(other, name))
    for name in ("summaries_by_level", "seconds"):
        sums = getattr(report, name)
        for key, value in getattr(other, name).items():
            sums[key] = sums.get(key, 0) + value
    for level, usage in other.spending.items():
        before = report.spending.setdefault(level, type(usage)())
        for field in fields(usage):
            setattr(before, field.name, getattr(before, field.name) + getattr(usage, field.name))
    return report


def _answer(body: Mapping[str, Any]) -> Answer:
    given = TypeAdapter(tuple[Passage, ...]).validate_python(body["given"])
    facts = TypeAdapter(Fact | None)
    citations = tuple(
        Citation(one["n"], given[one["n"] - 1], facts.validate_python(one["fact"])) for one in body["citations"]
    )
    return Answer(
        text=body["text"],
        evidence=TypeAdapter(Evidence).validate_python(body["evidence"]),
        given=given,
        citations=citations,
        dropped=tuple(body["dropped"]),
        found=body["found"],
        finished=body["finished"],
        choice=body["choice"],
        distribution=body["distribution"],
        **body["usage"],
    )


def _events(lines: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Return name and data of server-sent events."""
    name, data = "", ""
    for line in lines:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data += value
        elif not line and name:
            yield name, json.loads(data)
            name, data = "", ""


def _error(reply: httpx.Response) -> E2GError:
    try:
        body = reply.json()
        return _error_of(body, reply.status_code)
    except (ValueError, KeyError, TypeError):
        return E2GError(f"The service replied with status {reply.status_code}. Is this the address of e2g-neo4j?")


def _error_of(body: Mapping[str, Any], status: int = 0) -> E2GError:
    """Return the error that a problem stands for, of the class that `E2G` would raise."""
    code, detail = str(body["code"]), str(body["detail"])
    if status in (401, 403):
        return AccessError(f"{detail} {body.get('next', '')}".strip())
    if code == "no_chat_model":
        return NoChatModelError(detail)
    name = "".join(part.capitalize() for part in code.split("_")) + "Error"
    kind = getattr(errors, name, InputError if status == 422 else E2GError)
    error = kind.__new__(kind)  # some classes make their message from other arguments
    error.args = (detail,)
    return error if isinstance(error, E2GError) else E2GError(detail)
